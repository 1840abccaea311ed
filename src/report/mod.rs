//! Words, tables and documents for people and programs: one trait, one file per output format.

pub mod finding;
mod rank_csv;
mod rank_human;
mod rank_json;

use std::io::{self, Write};

pub use rank_csv::Csv;
pub use rank_human::Human;
pub use rank_json::{Json, Ndjson};

use crate::jobs::JobTable;
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
    /// A job whose value is at most this does not run.
    pub threshold: Option<f64>,
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
    pub score: Option<&'a Score>,
    pub under_threshold: bool,
}

impl<'a> RankReport<'a> {
    /// The lines to show, with the place of each in the whole order.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let mut places = vec![None; self.table.len()];
        for (index, &row) in self.ranking.order().iter().enumerate() {
            places[row] = Some(index + 1);
        }
        let (ranking, threshold) = (self.ranking, self.threshold);
        self.rows.iter().map(move |&row| {
            let score = ranking.score(row);
            let under = |limit: f64| score.is_some_and(|score| score.kept <= limit);
            Line { row, rank: places.get(row).copied().flatten(), score, under_threshold: threshold.is_some_and(under) }
        })
    }
}

impl Line<'_> {
    /// Whether the scheduler looks for a place to run the job.
    pub(crate) fn is_considered(&self) -> bool {
        self.rank.is_some() && !self.under_threshold
    }

    /// What the formula gave.
    pub(crate) fn exact(&self) -> Option<&Exact> {
        self.score.and_then(|score| score.exact.as_ref().ok())
    }

    /// Why it gave nothing.
    pub(crate) fn error(&self) -> Option<&ScoreError> {
        self.score.and_then(|score| score.exact.as_ref().err())
    }
}
