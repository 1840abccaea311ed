//! The score of every job under a formula, and the order in which the scheduler considers the jobs.
//!
//! In: a [`Program`], a [`JobTable`] and, through [`fill_fairshare`], a fair-share backend. Out: a
//! [`Ranking`].

mod compare;
mod evaluate;
pub mod explain;
mod input_columns;
pub mod measures;
mod openpbs_digits;
mod order;
mod race;
mod score;
mod scores;
mod summand_agreement;
pub mod summands;
mod sweep;
pub mod trajectory;
mod work_budget;

pub use crate::python::InputColumn;
pub use compare::SIZES;
pub use compare::{
    ComparedRanking, Comparison, Fairness, GroupChange, JobMove, OldNew, Transitions,
};
pub use evaluate::{RowScorer, python_result};
pub use evaluate::{rescore, score};
pub use input_columns::QueueWork;
pub use input_columns::{ColumnError, ColumnScratch};
pub use openpbs_digits::{decimals, fixed, printed, read_amount};
pub use openpbs_digits::{openpbs_digits, openpbs_logged};
pub use order::top_rows;
pub use order::{double_key, higher_first, merge_sort, sort_by_value, sort_listed_by_value};
pub use race::{Competitor, Crossings, FirstStep, Goal, crossings, first_step};
pub use score::Consequence;
pub use score::{OnError, Score, ScoreError, ScorePrecision};
pub use scores::Scores;
pub use summand_agreement::{SummandAgreement, summand_agreements};
pub use sweep::{Enclosure, Scoring, Sweep};
pub use work_budget::{SEARCH_WORK, WorkBudget, row_work};

use std::fmt;

use crate::fairshare::{EntityShares, FairShare};
use crate::formula::program::Program;
use crate::jobs::JobTable;
use crate::python::Value;
use crate::schema::FairshareInput;

/// The scores of a queue, and the order of its jobs.
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
    /// Scores every job and orders those that the scheduler considers: the higher value first, then
    /// the earlier submission.
    pub fn new(
        program: &Program,
        table: &JobTable,
        precision: ScorePrecision,
        on_error: OnError,
    ) -> Self {
        Self::from_scores(score(program, table, precision, on_error), table)
    }

    /// Orders scored jobs: the higher value first, then the earlier submission. Decimal results are
    /// compared exactly. The scores are those of the table as it is: score it again after rows were
    /// added or removed.
    pub fn from_scores(scores: Scores, table: &JobTable) -> Self {
        Self::top(scores, table, usize::MAX)
    }

    /// Orders the first `limit` of scored jobs, as [`Ranking::from_scores`] does. This takes less
    /// time than to order all.
    ///
    /// ```
    /// use job_sort_formula::jobs::{Job, JobTable};
    /// use job_sort_formula::rank::{OnError, Ranking, ScorePrecision, rescore, score};
    /// use job_sort_formula::{Formula, Schema, Value};
    ///
    /// let program = Formula::parse("ncpus")?.compile(&Schema::openpbs())?;
    /// let mut table = JobTable::new(["ncpus"]);
    /// for (id, ncpus) in [("1.vm", 4), ("2.vm", 64), ("3.vm", 16)] {
    ///     table.push(&Job { id, ..Job::default() }, &[Ok(Value::Int(ncpus))])?;
    /// }
    /// let ranking = Ranking::top(score(&program, &table, ScorePrecision::Float32, OnError::Null), &table, 2);
    /// assert_eq!(ranking.order().iter().map(|&row| table.id(row)).collect::<Vec<_>>(), ["2.vm", "3.vm"]);
    /// table.remove(["2.vm"])?;
    /// let scores = rescore(&program, &table, ScorePrecision::Float32, OnError::Null, ranking.into_scores());
    /// assert_eq!(Ranking::top(scores, &table, 2).order(), [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn top(scores: Scores, table: &JobTable, limit: usize) -> Self {
        // the order of the rows breaks ties, without sorting by time
        let decimals = scores.decimals();
        if decimals.is_none() && table.is_in_submit_order() {
            let order = sort_by_value(&scores.values(), |row| table.is_considered(row), limit);
            return Self { scores, order };
        }
        let mut rows: Vec<usize> = table
            .considered_rows()
            // rows that were pushed after the scoring have no score
            .take_while(|&row| row < scores.len())
            .collect();
        table.sort_by_submit_order(&mut rows);
        let values = scores.values();
        let order = match decimals {
            Some(decimals) => {
                // stable, so that equal values keep the order of submission
                rows.sort_by(
                    |&left, &right| match scores.error(left).or(scores.error(right)) {
                        Some(_) => higher_first(values[left], values[right]),
                        None => decimals[right].cmp(&decimals[left]),
                    },
                );
                rows.truncate(limit);
                rows
            }
            None => sort_listed_by_value(&rows, &values, limit),
        };
        Self { scores, order }
    }

    /// Makes a ranking of scores and an order that the caller computed: rows, best first. Rows
    /// without a score are left out.
    pub fn from_order(scores: Scores, mut order: Vec<usize>) -> Self {
        order.retain(|&row| row < scores.len());
        Self { scores, order }
    }

    /// Keeps the ranks of those rows only that `is_kept` accepts.
    pub fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        self.order.retain(|&row| is_kept(row));
    }

    /// Keeps the first ranks only.
    pub fn truncate(&mut self, limit: usize) {
        self.order.truncate(limit);
    }

    /// The scores alone, whose memory [`rescore`] reuses.
    pub fn into_scores(self) -> Scores {
        self.scores
    }

    /// The score of a row; `None` if its job is excluded.
    pub fn score(&self, row: usize) -> Option<Score<'_>> {
        self.scores.get(row)
    }

    /// All scores, by row.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// The rows that the scheduler considers, best first; at most as many as were asked for.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The number of adjacent pairs in the order whose values are equal, so that the formula does
    /// not order them.
    pub fn ties(&self) -> usize {
        let values = self.scores.values();
        let decimals = self.scores.decimals();
        let ties = self.order.windows(2).filter(|pair| match &decimals {
            Some(decimals) if pair.iter().all(|&row| self.scores.error(row).is_none()) => {
                decimals[pair[0]] == decimals[pair[1]]
            }
            _ => higher_first(values[pair[0]], values[pair[1]]).is_eq(),
        });
        ties.count()
    }

    /// Values that compare as the scores do: those of [`Scores::values`], or ordinals where the
    /// scores are decimals.
    pub(super) fn comparable_values(&self) -> Vec<f64> {
        let values = self.scores.values();
        let Some(decimals) = self.scores.decimals() else {
            return values;
        };
        let mut rows: Vec<usize> = (0..values.len()).collect();
        rows.sort_unstable_by(|&left, &right| {
            values[left]
                .total_cmp(&values[right])
                .then_with(|| decimals[left].cmp(&decimals[right]))
        });
        let mut ordinals = vec![0.0; values.len()];
        let tied = rows.chunk_by(|&left, &right| {
            values[left].to_bits() == values[right].to_bits() && decimals[left] == decimals[right]
        });
        for (ordinal, tied) in tied.enumerate() {
            tied.iter().for_each(|&row| ordinals[row] = ordinal as f64);
        }
        ordinals
    }

    /// The first job with an error, and its error, if the scores use [`OnError::Fail`].
    pub fn failure(&self) -> Option<(usize, &ScoreError)> {
        self.scores
            .errors()
            .next()
            .filter(|_| self.scores.on_error() == OnError::Fail)
    }

    /// The number of jobs with an error.
    pub fn error_count(&self) -> usize {
        self.scores.errors().len()
    }

    /// The errors, grouped by kind and place; the largest group first.
    pub fn error_groups(&self) -> Vec<ErrorGroup<'_>> {
        self.error_groups_of(|_| true)
    }

    /// The errors of some rows, grouped as by [`error_groups`](Self::error_groups).
    pub fn error_groups_of(&self, is_asked_for: impl Fn(usize) -> bool) -> Vec<ErrorGroup<'_>> {
        let mut groups: Vec<ErrorGroup<'_>> = Vec::new();
        for (row, error) in self.scores.errors().filter(|(row, _)| is_asked_for(*row)) {
            let mut known = groups.iter_mut();
            match known.find(|group| {
                group.error.kind() == error.kind() && group.error.span() == error.span()
            }) {
                Some(group) => group.rows.push(row),
                None => groups.push(ErrorGroup {
                    error,
                    rows: vec![row],
                }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
        groups
    }
}

/// Jobs whose errors have the same kind and come from the same part of the formula.
#[derive(Clone)]
pub struct ErrorGroup<'r> {
    /// The error of the first of these jobs.
    pub error: &'r ScoreError,
    /// The rows of the jobs.
    pub rows: Vec<usize>,
}

/// Writes the first rows and the number of all: a formula may fail for every job.
impl fmt::Debug for ErrorGroup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_ROWS: usize = 8;
        let first = &self.rows[..self.rows.len().min(MAX_ROWS)];
        let group = &mut f.debug_struct("ErrorGroup");
        group
            .field("error", self.error)
            .field("jobs", &self.rows.len())
            .field("first_rows", &first)
            .finish()
    }
}

/// Fills the fair-share columns of a table from a backend, for every job that does not carry the
/// number itself. `to_value` converts a number to the value that the formula gets. Returns the
/// entities that the backend does not know, `""` among them if there are jobs without an entity.
///
/// Fill the table of a live queue in each cycle: a later call replaces what an earlier one has
/// filled in. An entity whose jobs have all left is neither asked for nor returned.
pub fn fill_fairshare(
    table: &mut JobTable,
    backend: &dyn FairShare,
    to_value: impl Fn(f64) -> Value,
) -> Vec<String> {
    let have_jobs = table.entities_have_jobs();
    let entities = table.entities().iter().zip(&have_jobs);
    let shares: Vec<_> = entities
        .map(|(entity, &has_jobs)| {
            if has_jobs {
                backend.shares_of(entity)
            } else {
                None
            }
        })
        .collect();
    for (name, input) in FairshareInput::NAMES {
        if table.column(name).is_some() {
            let numbers = shares
                .iter()
                .map(|shares| Some(fairshare_number(input, shares.as_ref()?)));
            table.fill(
                name,
                &numbers
                    .map(|number| number.map(&to_value))
                    .collect::<Vec<_>>(),
            );
        }
    }
    let entities = table.entities().iter().zip(&shares).zip(have_jobs);
    let unknown = entities.filter(|((_, shares), has_jobs)| shares.is_none() && *has_jobs);
    unknown.map(|((entity, _), _)| entity.to_string()).collect()
}

/// The number of an entity that a formula gets as `input`.
pub fn fairshare_number(input: FairshareInput, shares: &EntityShares) -> f64 {
    match input {
        FairshareInput::Perc => shares.fairshare_perc,
        FairshareInput::TreeUsage => shares.fairshare_tree_usage,
        FairshareInput::Factor => shares.fairshare_factor,
    }
}

/// Finds a fair-share input in `inputs` for which a job has no number. Returns the id of the job
/// and the name of the input.
pub fn missing_fairshare_input<'t>(
    table: &'t JobTable,
    inputs: &[Box<str>],
) -> Option<(&'t str, &'static str)> {
    let names = FairshareInput::NAMES.into_iter().map(|(name, _)| name);
    let mut needed = names.filter(|name| inputs.iter().any(|input| **input == **name));
    needed.find_map(|name| {
        let column = table.column(name)?;
        let row =
            (0..table.len()).find(|&row| table.exclusion(row).is_none() && !column.is_set(row))?;
        Some((table.id(row), name))
    })
}
