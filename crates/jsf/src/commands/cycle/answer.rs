//! A scheduling cycle, and what is shown of it.

use jsf_openpbs::check::Checked;
use jsf_site::CycledQueue;
use serde::Serialize;

use crate::answer::Answer;
use crate::view::document::Document;

/// A cycle, and what is shown of it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CycleReport<'a> {
    /// The formula; `None` if the scheduler has none.
    pub formula: Option<&'a str>,
    /// The cycle.
    #[serde(flatten)]
    pub cycle: &'a CycledQueue,
    /// The jobs that are asked for; empty: all.
    #[serde(skip)]
    pub jobs: &'a [String],
    /// The entities and groups whose jobs are left in the cycle; empty: all.
    #[serde(skip)]
    pub entities: &'a [String],
    /// What is to be said of the formula, if there is one.
    #[serde(skip)]
    pub checked: Option<&'a Checked>,
}

impl Answer for CycleReport<'_> {
    fn document(&self) -> Document<'_> {
        self.cycle_document()
    }
}
