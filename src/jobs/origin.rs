//! Where the inputs of jobs come from, recorded on request.

use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::jobs::batch::{Batch, InputPrecedence};
use crate::jobs::kept_rows::KeptRows;

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

/// The origin of every input of a table, column by column.
#[derive(Debug, Clone)]
pub(super) struct Origins {
    /// By column: the origin of what the job itself has.
    own: Vec<InputOrigin>,
    columns: Vec<Vec<InputOrigin>>,
}

impl Origins {
    pub(super) fn new(own: Vec<InputOrigin>) -> Self {
        Self {
            columns: vec![Vec::new(); own.len()],
            own,
        }
    }

    pub(super) fn get(&self, column: usize, row: usize) -> Option<InputOrigin> {
        self.columns.get(column)?.get(row).copied()
    }

    /// Removes rows.
    pub(super) fn remove_rows(&mut self, kept: &KeptRows<'_>) {
        self.columns
            .iter_mut()
            .for_each(|column| kept.retain_in(column));
    }

    /// Appends a row.
    pub(super) fn push(&mut self, sources: &[Option<InputPrecedence>]) {
        for ((column, own), source) in self.columns.iter_mut().zip(&self.own).zip(sources) {
            column.push(origin(*source, *own));
        }
    }

    /// Appends rows of a batch.
    pub(super) fn append(&mut self, batch: &Batch, rows: Range<usize>) {
        for ((column, own), input) in self.columns.iter_mut().zip(&self.own).zip(&batch.columns) {
            column.extend(rows.clone().map(|row| origin(input.source(row), *own)));
        }
    }
}

fn origin(source: Option<InputPrecedence>, own: InputOrigin) -> InputOrigin {
    match source {
        None => InputOrigin::Unset,
        Some(InputPrecedence::Queue) => InputOrigin::Queue,
        Some(InputPrecedence::Job) => own,
        Some(InputPrecedence::AliasedInput | InputPrecedence::Input) => InputOrigin::Inputs,
    }
}
