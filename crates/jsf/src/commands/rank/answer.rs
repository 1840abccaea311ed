//! A ranking, and its jobs one by one.

use std::collections::HashMap;
use std::io::{self, Write};

use job_sort_formula::diagnostic::Span;
use job_sort_formula::formula::program::{Program, Summand};
use job_sort_formula::jobs::{Exclusion, JobState, JobTable};
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::{inputs, nearest_double};
use job_sort_formula::rank::{FormulaResult, Ranking, Score, ScoreError, SummandAgreement};
use job_sort_formula::schema::Schema;
use jsf_openpbs::check::Checked;
use jsf_openpbs::order::NotConsidered;
use jsf_site::RankedQueue;

use crate::answer::{Answer, Format};
use crate::commands::rank::csv::write_csv;
use crate::commands::rank::json::write_ndjson;
use crate::commands::rank::view::{RankPageParts, rank_document};
use crate::ranked_row::RankedRow;
use crate::view::csv_writer::Cells;
use crate::view::document::Document;

/// A ranking, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct RankReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The jobs.
    pub table: &'a JobTable,
    /// The scores and the order of the jobs.
    pub ranking: &'a Ranking,
    /// The waiting rows that the scheduler does not consider, and why.
    pub not_considered: &'a [(usize, NotConsidered)],
    /// The rows to show, in the order in which they are shown.
    pub rows: &'a [RankedRow],
    /// The inputs to show with each job.
    pub inputs: &'a [&'a str],
    /// The summands of the formula to show with each job, if they are shown.
    pub terms: Option<&'a TermColumns<'a>>,
    /// Whether the formula is Slurm's priority.
    pub is_slurm_priority: bool,
    /// What the names of the inputs measure.
    pub schema: &'a Schema,
    /// What is shown above a table, such as the policy: a heading and a text each.
    pub rules: &'a [(&'static str, String)],
    /// What each summand decides of the order.
    pub decides: &'a [SummandAgreement],
    /// The result of checking the formula, for people.
    pub checked: Option<&'a Checked>,
    /// What only a page shows; `None` if none is written.
    pub page: Option<&'a RankPageParts>,
}

/// The summands of a formula, with their values for each job.
#[derive(Debug)]
pub struct TermColumns<'a> {
    program: &'a Program,
    summands: Vec<Summand>,
    /// The columns of `sprio`, which take the place of the summands of Slurm's priority.
    sprio: &'a [(String, Program)],
}

impl<'a> TermColumns<'a> {
    /// The summands at the top of a formula.
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            summands: program.summands(),
            sprio: &[],
        }
    }

    /// The columns of `sprio` for Slurm's priority, each a whole number; else the summands.
    pub fn of(queue: &'a RankedQueue) -> Self {
        let terms = Self::new(&queue.program);
        match queue.sprio_columns.as_slice() {
            [] => terms,
            sprio => Self {
                summands: Vec::new(),
                sprio,
                ..terms
            },
        }
    }

    /// The text of each summand with its sign.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts().map(|(_, text)| text)
    }

    /// Where each summand is, and its text. A column of `sprio` is no part of the formula's text.
    pub fn parts(&self) -> impl Iterator<Item = (Span, &str)> {
        let summands = self.summands.iter();
        let columns = self.sprio.iter();
        summands
            .map(|summand| (summand.span, &*summand.text))
            .chain(columns.map(|(name, _)| (Span::new(0, 0), name.as_str())))
    }

    /// The value of each summand for a job, with its sign; `None` where the formula fails.
    pub fn values(&self, table: &JobTable, row: usize) -> Vec<Option<Value>> {
        if !self.sprio.is_empty() {
            let columns = self.sprio.iter();
            return columns
                .map(|(_, program)| sprio_value(program, table, row))
                .collect();
        }
        let inputs = inputs(self.program, table, row);
        let trace = inputs
            .map(|inputs| self.program.trace(&inputs))
            .filter(|trace| trace.result.is_ok());
        self.summands
            .iter()
            .map(|summand| trace.as_ref()?.summand(summand))
            .collect()
    }
}

/// The value of a column as `sprio` prints it: the nearest whole number, an even one in the middle.
fn sprio_value(program: &Program, table: &JobTable, row: usize) -> Option<Value> {
    let inputs = inputs(program, table, row)?;
    let value = nearest_double(&program.evaluate(&inputs).ok()?)?;
    Some(Value::Int(value.round_ties_even() as i64))
}

impl Answer for RankReport<'_> {
    fn document(&self) -> Document<'_> {
        rank_document(*self, None)
    }

    fn page(&self) -> Document<'_> {
        rank_document(*self, self.page)
    }

    fn write_as(&self, format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Ndjson => write_ndjson(self, out),
            _ => write_csv(self, cells, out),
        }
    }
}

/// One job of a report.
pub struct Line<'a> {
    pub row: usize,
    pub rank: Option<usize>,
    pub score: Option<Score<'a>>,
    pub not_considered: Option<NotConsidered>,
}

impl<'a> RankReport<'a> {
    /// The lines to show, each with its rank in the whole order.
    pub fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let maker = self.line_maker();
        self.rows.iter().map(move |&row| maker.line(row))
    }

    /// Makes the line of any row.
    pub fn line_maker(&self) -> LineMaker<'a> {
        LineMaker {
            ranking: self.ranking,
            not_considered: self.not_considered.iter().copied().collect(),
        }
    }

    /// The texts of the summands that are shown.
    pub fn term_texts(&self) -> impl Iterator<Item = &str> {
        self.terms.into_iter().flat_map(TermColumns::texts)
    }

    /// The values of the summands that are shown.
    pub fn term_values(&self, row: usize) -> Vec<Option<Value>> {
        self.terms
            .map_or_else(Vec::new, |terms| terms.values(self.table, row))
    }

    /// The value of an input; `None` if the scheduler ignores the job and the value was not read.
    pub fn input(&self, name: &str, row: usize) -> Option<Value> {
        let column = self.table.column(name)?;
        (self.table.exclusion(row).is_none() || column.is_set(row)).then(|| column.value(row))
    }

    /// Why the scheduler does not consider a job: `state`, `threshold`, `no shares`, `partition`,
    /// `routing queue` or `invalid`, and in words.
    pub fn excluded(&self, line: &Line<'_>) -> Option<(&'static str, String)> {
        excluded(self.table, line.row, line.rank, line.not_considered)
    }
}

/// Why the scheduler does not consider a job: `state`, `threshold`, `no shares`, `partition`,
/// `routing queue` or `invalid`, and in words.
pub fn excluded(
    table: &JobTable,
    row: usize,
    rank: Option<usize>,
    not_considered: Option<NotConsidered>,
) -> Option<(&'static str, String)> {
    match (table.exclusion(row), not_considered) {
        (Some(exclusion @ Exclusion::Invalid { .. }), _) => {
            Some(("invalid", exclusion.to_string()))
        }
        (Some(exclusion @ Exclusion::Partition { .. }), _) => {
            Some(("partition", exclusion.to_string()))
        }
        (Some(exclusion @ Exclusion::RoutingQueue), _) => {
            Some(("routing queue", exclusion.to_string()))
        }
        (Some(exclusion), _) => Some(("state", exclusion.to_string())),
        (None, Some(reason @ NotConsidered::NoShares)) => Some(("no shares", reason.to_string())),
        (None, Some(reason @ NotConsidered::UnderThreshold { .. })) => {
            Some(("threshold", reason.to_string()))
        }
        (None, None) if rank.is_some() => None,
        (None, None) => Some((
            "state",
            format!("not considered (state {})", table.state(row).letter()),
        )),
    }
}

/// Makes lines from rows.
pub struct LineMaker<'a> {
    ranking: &'a Ranking,
    not_considered: HashMap<usize, NotConsidered>,
}

impl<'a> LineMaker<'a> {
    pub fn line(&self, ranked: RankedRow) -> Line<'a> {
        let row = ranked.row();
        let not_considered = self.not_considered.get(&row).copied();
        Line {
            row,
            rank: ranked.rank(),
            score: self.ranking.score(row),
            not_considered,
        }
    }
}

impl Line<'_> {
    /// Whether the scheduler considers the job.
    pub fn is_considered(&self) -> bool {
        self.rank.is_some()
    }

    /// The value as Slurm's priority: 0 for a job that is held.
    pub fn slurm_priority(&self, table: &JobTable) -> Option<u32> {
        match table.state(self.row) {
            JobState::Held => Some(0),
            _ => self.score.as_ref().map(|score| score.value as u32),
        }
    }

    /// The value of the formula.
    pub fn unrounded(&self) -> Option<&FormulaResult> {
        self.score.as_ref()?.unrounded.as_ref().ok()
    }

    /// Appends the value of the formula, as Python or decimal arithmetic prints it.
    pub fn write_exact(&self, text: &mut String) {
        match self.unrounded() {
            Some(FormulaResult::Python(value)) => value.write_repr(text),
            Some(FormulaResult::Decimal(decimal)) => text.push_str(&decimal.to_string()),
            None => {}
        }
    }

    /// Why the formula has no value.
    pub fn error(&self) -> Option<&ScoreError> {
        self.score.as_ref()?.unrounded.as_ref().err().copied()
    }
}
