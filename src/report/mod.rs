//! Words, tables and documents for people and programs: one trait, one file per output format.

mod blocks;
mod check;
pub mod finding;
mod rank_csv;
mod rank_human;
mod rank_json;
mod sarif;
pub mod shares;

use std::collections::HashMap;
use std::io::{self, Write};

pub use check::{CheckFormat, CheckHuman, CheckJson, CheckReport};
pub use rank_csv::Csv;
pub use rank_human::Human;
pub use rank_json::{Json, Ndjson};
pub use sarif::Sarif;

use crate::jobs::JobTable;
use crate::pbs::order::PassedOver;
use crate::rank::{Exact, Ranking, Score, ScoreError};

/// A ranking, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct RankReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The jobs.
    pub table: &'a JobTable,
    /// Their scores and order.
    pub ranking: &'a Ranking,
    /// The rows that wait but are passed over, and why.
    pub passed_over: &'a [(usize, PassedOver)],
    /// The rows to show, in the order in which they are shown.
    pub rows: &'a [usize],
    /// The inputs to show with each job.
    pub inputs: &'a [&'a str],
}

/// A format that a ranking can be written in.
pub trait RankFormat {
    /// Writes the whole report.
    ///
    /// # Errors
    /// What `out` answers.
    fn write(&self, report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()>;
}

/// One job of a report.
pub(crate) struct Line<'a> {
    pub row: usize,
    pub rank: Option<usize>,
    pub score: Option<Score<'a>>,
    pub passed_over: Option<PassedOver>,
}

impl<'a> RankReport<'a> {
    /// The lines to show, with the place of each in the whole order.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let maker = self.line_maker();
        self.rows.iter().map(move |&row| maker.line(row))
    }

    /// What makes the line of any row.
    pub(crate) fn line_maker(&self) -> LineMaker<'a> {
        let mut places = vec![0; self.table.len()];
        for (&row, place) in self.ranking.order().iter().zip(1..) {
            places[row] = place;
        }
        LineMaker { ranking: self.ranking, places, passed_over: self.passed_over.iter().copied().collect() }
    }
}

/// What is known of all rows.
pub(crate) struct LineMaker<'a> {
    ranking: &'a Ranking,
    /// The place of each row in the order, 0 if it has none.
    places: Vec<u32>,
    passed_over: HashMap<usize, PassedOver>,
}

impl<'a> LineMaker<'a> {
    pub(crate) fn line(&self, row: usize) -> Line<'a> {
        let rank = self.places.get(row).filter(|place| **place > 0).map(|&place| place as usize);
        Line { row, rank, score: self.ranking.score(row), passed_over: self.passed_over.get(&row).copied() }
    }
}

impl Line<'_> {
    /// Whether the scheduler looks for a place to run the job.
    pub(crate) fn is_considered(&self) -> bool {
        self.rank.is_some()
    }

    /// What the formula gave.
    pub(crate) fn exact(&self) -> Option<&Exact> {
        self.score.as_ref()?.exact.as_ref().ok()
    }

    /// Appends what the formula gave, as Python or base ten writes it.
    pub(crate) fn write_exact(&self, text: &mut String) {
        match self.exact() {
            Some(Exact::Python(value)) => value.write_repr(text),
            Some(Exact::Decimal(decimal)) => text.push_str(&decimal.to_string()),
            None => {}
        }
    }

    /// Why it gave nothing.
    pub(crate) fn error(&self) -> Option<&ScoreError> {
        self.score.as_ref()?.exact.as_ref().err().copied()
    }
}
