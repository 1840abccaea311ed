//! The queue under a formula: every job's value, and the order in which the jobs are considered.
//!
//! Enters: a [`Program`], a [`JobTable`] and, through [`fill_fairshare`], a fair-share backend. Leaves: a [`Ranking`].

mod errors;
mod evaluate;
mod order;
mod score;
mod scores;
mod shares;

pub use errors::ErrorGroup;
pub use evaluate::{rescore, score};
#[doc(hidden)]
pub use order::{by_value, higher_first, merge_sort};
pub use score::{Exact, OnError, Score, ScoreError, ScorePrecision};
pub use scores::Scores;
pub(crate) use shares::fairshare_number;
pub use shares::fill_fairshare;
#[doc(hidden)]
pub use shares::first_without_shares;

use crate::formula::program::Program;
use crate::jobs::JobTable;

/// The scores of a queue and its order.
///
/// ```
/// use job_sort_formula::jobs::{Job, JobTable};
/// use job_sort_formula::rank::{ScorePrecision, OnError, Ranking};
/// use job_sort_formula::{Formula, Schema, Value};
///
/// let program = Formula::parse("ncpus * 10")?.compile(&Schema::openpbs())?;
/// let mut table = JobTable::new(["ncpus"]);
/// for (id, ncpus) in [("1.vm", 4), ("2.vm", 64)] {
///     table.push(&Job { id, ..Job::default() }, &[Ok(Value::Int(ncpus))])?;
/// }
/// let ranking = Ranking::new(&program, &table, ScorePrecision::Float32, OnError::ZeroLikePbs);
/// assert_eq!(ranking.order().iter().map(|&row| table.id(row)).collect::<Vec<_>>(), ["2.vm", "1.vm"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ranking {
    scores: Scores,
    order: Vec<usize>,
}

impl Ranking {
    /// Scores every job and orders those that the scheduler considers: the higher value first, then the earlier
    /// submission.
    pub fn new(program: &Program, table: &JobTable, keep: ScorePrecision, on_error: OnError) -> Self {
        Self::of_scores(score(program, table, keep, on_error), table)
    }

    /// Orders scored jobs: the higher value first, then the earlier submission. In base ten all digits count.
    pub fn of_scores(scores: Scores, table: &JobTable) -> Self {
        let is_considered = |&row: &usize| table.is_considered(row) && row < scores.len();
        let mut rows: Vec<_> = (0..table.len()).filter(is_considered).collect();
        table.sort_by_submit_order(&mut rows);
        let order = match scores.decimals() {
            Some(decimals) => {
                let failed = |row: usize| scores.error(row).is_some();
                let kept = scores.kept();
                rows.sort_by(|&left, &right| match failed(left) || failed(right) {
                    true => higher_first(kept[left], kept[right]),
                    false => decimals[right].cmp(&decimals[left]),
                });
                rows
            }
            None => by_value(rows, &scores.kept(), usize::MAX),
        };
        Self { scores, order }
    }

    /// Scored jobs in an order that a scheduler's own rules gave: rows, best first.
    pub fn from_order(scores: Scores, order: Vec<usize>) -> Self {
        Self { scores, order }
    }

    /// The score of a row; `None` for a job that was set aside.
    pub fn score(&self, row: usize) -> Option<Score<'_>> {
        self.scores.get(row)
    }

    /// All scores, row by row.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// The rows that the scheduler considers, best first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// How many neighbours in the order have the same value, so that something else decides between them.
    pub fn ties(&self) -> usize {
        let kept = self.scores.kept();
        let decimals = self.scores.decimals();
        let same = |pair: &&[usize]| match decimals {
            Some(decimals) if pair.iter().all(|&row| self.scores.error(row).is_none()) => {
                decimals[pair[0]] == decimals[pair[1]]
            }
            _ => higher_first(kept[pair[0]], kept[pair[1]]).is_eq(),
        };
        self.order.windows(2).filter(same).count()
    }

    /// The first job with an error, and its error, where [`OnError::Fail`] asks for that.
    pub fn failure(&self) -> Option<(usize, &ScoreError)> {
        self.scores.errors().next().filter(|_| self.scores.on_error() == OnError::Fail)
    }

    /// How many jobs have an error.
    pub fn error_count(&self) -> usize {
        self.scores.errors().len()
    }
}
