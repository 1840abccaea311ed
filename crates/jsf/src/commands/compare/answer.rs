//! A comparison of two rankings, and the formats that it can be written in.

use std::io::{self, Write};

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{Comparison, OldNew, Ranking, SummandAgreement};
use jsf_openpbs::check::Checked;

use crate::answer::{Answer, Format};
use crate::commands::compare::csv::write_csv;
use crate::commands::compare::view::{ComparePageParts, ListedJobs, compare_document};
use crate::commands::rank::answer::RankedRow;
use crate::view::csv_writer::Cells;
use crate::view::document::Document;

/// A comparison, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct CompareReport<'a> {
    /// The texts of the formulas.
    pub formulas: OldNew<&'a str>,
    /// The jobs.
    pub table: &'a JobTable,
    /// Either ranking.
    pub rankings: OldNew<&'a Ranking>,
    /// What changes.
    pub comparison: &'a Comparison,
    /// The rows to list, in the order in which they are listed.
    pub rows: &'a [RankedRow],
    /// The rules that either ranking follows, such as the policy: a heading and a text each.
    pub rules: OldNew<&'a [(&'static str, String)]>,
    /// What each summand of the formulas decides of its order.
    pub decides: OldNew<&'a [SummandAgreement]>,
    /// The result of checking the formulas, for people.
    pub checked: OldNew<Option<&'a Checked>>,
    /// Which jobs are listed.
    pub listed: ListedJobs,
    /// What only a page shows; `None` if none is written.
    pub page: Option<ComparePageParts<'a>>,
}

impl Answer for CompareReport<'_> {
    fn document(&self) -> Document<'_> {
        compare_document(*self, None)
    }

    fn page(&self) -> Document<'_> {
        compare_document(*self, self.page)
    }

    fn write_as(&self, _format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        write_csv(self, cells, out)
    }
}

impl CompareReport<'_> {
    /// The scores of a row; `None` for a side on which the job is excluded.
    pub(crate) fn scores(&self, row: usize) -> OldNew<Option<f64>> {
        self.rankings.map(|ranking| ranking.score(row).map(|score| score.value))
    }
}

/// The rows that a comparison lists: the new order, then the jobs that are considered only under the old ranking.
pub fn compared_rows(comparison: &Comparison) -> Vec<RankedRow> {
    comparison.moves().map(|job| RankedRow { row: job.row as u32, rank: job.new.unwrap_or(0) as u32 }).collect()
}
