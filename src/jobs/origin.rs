//! Where the inputs of jobs come from.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::jobs::InputPrecedence;

/// Where an input of a job comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputOrigin {
    /// The resources that the job requests.
    ResourceList,
    /// Another attribute of the job.
    Job,
    /// The priority of the job's queue.
    Queue,
    /// The fair-share tree.
    FairShareTree,
    /// A ready-made input of a native document.
    Inputs,
    /// The job does not have it, so the formula gets 0.
    Unset,
}

impl InputOrigin {
    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ResourceList => "Resource_List",
            Self::Job => "job",
            Self::Queue => "queue",
            Self::FairShareTree => "fair-share tree",
            Self::Inputs => "inputs",
            Self::Unset => "unset",
        }
    }
}

impl Serialize for InputOrigin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for InputOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl InputOrigin {
    /// The origin of an input that the job itself has by `by`; `own` is that of what it requests
    /// or says itself.
    pub(super) fn new(by: Option<InputPrecedence>, own: Self) -> Self {
        match by {
            None => Self::Unset,
            Some(InputPrecedence::Queue) => Self::Queue,
            Some(InputPrecedence::Job) => own,
            Some(InputPrecedence::AliasedInput | InputPrecedence::Input) => Self::Inputs,
        }
    }
}
