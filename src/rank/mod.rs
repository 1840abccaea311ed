//! The queue under a formula: every job's value, and the order in which the jobs are considered.
//!
//! Enters: a [`Program`], a [`JobTable`] and, through [`supply`], a fair-share backend. Leaves: a [`Ranking`].

mod errors;
mod order;
mod score;
mod shares;

use std::cmp::Ordering;

pub use errors::ErrorGroup;
pub use order::{higher_first, merge_sort};
pub use score::{Exact, Keep, OnError, Score, ScoreError, errors_by_kind, score};
pub use shares::{FAIRSHARE_NAMES, first_without_shares, supply};

use crate::formula::program::Program;
use crate::jobs::JobTable;

/// The scores of a queue and its order.
///
/// ```
/// use job_sort_formula::jobs::{Job, JobTable};
/// use job_sort_formula::rank::{Keep, OnError, Ranking};
/// use job_sort_formula::{Formula, Schema, Value};
///
/// let program = Formula::parse("ncpus * 10")?.compile(&Schema::openpbs())?;
/// let mut table = JobTable::new(["ncpus"]);
/// for (id, ncpus) in [("1.vm", 4), ("2.vm", 64)] {
///     table.push(&Job { id, ..Job::default() }, &[Ok(Value::Int(ncpus))])?;
/// }
/// let ranking = Ranking::new(&program, &table, Keep::Float32, OnError::ZeroLikePbs);
/// assert_eq!(ranking.order().iter().map(|&row| table.id(row)).collect::<Vec<_>>(), ["2.vm", "1.vm"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ranking {
    scores: Vec<Option<Score>>,
    order: Vec<usize>,
}

impl Ranking {
    /// Scores every job and orders those that the scheduler considers: the higher value first, then the earlier
    /// submission.
    pub fn new(program: &Program, table: &JobTable, keep: Keep, on_error: OnError) -> Self {
        Self::of_scores(score(program, table, keep, on_error), table)
    }

    /// Orders scored jobs: the higher value first, then the earlier submission.
    pub fn of_scores(scores: Vec<Option<Score>>, table: &JobTable) -> Self {
        let scored = |row: &usize| scores.get(*row).is_some_and(Option::is_some);
        let mut order: Vec<_> = (0..table.len()).filter(|&row| table.is_considered(row)).filter(scored).collect();
        order.sort_by_key(|&row| table.submission(row));
        merge_sort(&mut order, &mut |left: usize, right: usize| {
            let submitted = || table.submission(left).cmp(&table.submission(right));
            compare(scores[left].as_ref(), scores[right].as_ref()).then_with(submitted)
        });
        Self { scores, order }
    }

    /// Scored jobs in an order that a scheduler's own rules gave: rows, best first.
    pub fn from_order(scores: Vec<Option<Score>>, order: Vec<usize>) -> Self {
        Self { scores, order }
    }

    /// The score of a row; `None` for a job that was set aside.
    pub fn score(&self, row: usize) -> Option<&Score> {
        self.scores.get(row).and_then(Option::as_ref)
    }

    /// All scores, row by row.
    pub fn scores(&self) -> &[Option<Score>] {
        &self.scores
    }

    /// The rows that the scheduler considers, best first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// How many neighbours in the order have the same value, so that something else decides between them.
    pub fn ties(&self) -> usize {
        let same = |pair: &&[usize]| compare(self.score(pair[0]), self.score(pair[1])).is_eq();
        self.order.windows(2).filter(same).count()
    }

    /// How many jobs have an error.
    pub fn error_count(&self) -> usize {
        self.scores.iter().flatten().filter(|score| score.exact.is_err()).count()
    }
}

/// By what is kept; in base ten by all digits.
fn compare(left: Option<&Score>, right: Option<&Score>) -> Ordering {
    let (Some(left), Some(right)) = (left, right) else { return Ordering::Equal };
    match (&left.exact, &right.exact) {
        (Ok(Exact::Decimal(left)), Ok(Exact::Decimal(right))) => right.cmp(left),
        _ => higher_first(left.kept, right.kept),
    }
}
