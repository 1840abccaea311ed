//! A comparison for people.

use std::io::{self, Write};

use super::compare::{CompareFormat, CompareReport};

/// Text and tables for people.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompareHuman {
    /// The number of characters in a line; `None`: as many as needed.
    pub width: Option<usize>,
    /// The number of jobs in a list; `None`: ten.
    pub top: Option<usize>,
}

impl CompareFormat for CompareHuman {
    fn write(&self, report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let comparison = report.comparison;
        writeln!(out, "{} of {} jobs change place", comparison.moved(), comparison.jobs)
    }
}
