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
mod summands;
mod sweep;
pub mod trajectory;
mod work_budget;

pub use crate::python::InputColumn;
pub use compare::SIZES;
pub use compare::{
    ComparedRanking, Comparison, Fairness, GroupChange, JobMove, OldNew, Transitions,
};
pub use evaluate::{RowScorer, python_result, score};
pub use input_columns::{ColumnError, ColumnScratch};
pub use openpbs_digits::{decimals, fixed, printed, read_amount};
pub use openpbs_digits::{openpbs_digits, openpbs_logged};
pub use order::top_rows;
pub use order::{double_key, higher_first, merge_sort, sort_by_value, sort_listed_by_value};
pub use race::{Competitor, Crossings, FirstStep, Goal, crossings, first_step};
pub use score::Consequence;
pub use score::{OnError, Score, ScoreError, ScorePrecision};
pub use scores::Scores;
pub use summands::{SummandAgreement, SummandColumns, SummandRange, summand_agreements};
pub use sweep::{Enclosure, Scoring, Sweep};
pub use work_budget::{QueueWork, SEARCH_WORK, WorkBudget, row_work};

use std::cmp::{Ordering, Reverse};
use std::fmt;

use rust_decimal::Decimal;

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
    /// use job_sort_formula::rank::{OnError, Ranking, ScorePrecision, score};
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
    /// let scores = score(&program, &table, ScorePrecision::Float32, OnError::Null);
    /// assert_eq!(Ranking::top(scores, &table, 2).order(), [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn top(scores: Scores, table: &JobTable, limit: usize) -> Self {
        // the order of the rows breaks ties, without sorting by time
        if !scores.are_decimals() && table.is_in_submit_order() {
            let order = sort_by_value(&scores.values(), |row| table.is_considered(row), limit);
            return Self { scores, order };
        }
        let mut rows = Vec::new();
        for row in table.considered_rows() {
            // rows that were pushed after the scoring have no score
            if row < scores.len() {
                rows.push(row);
            }
        }
        table.sort_by_submit_order(&mut rows);
        let comparable = ComparableScores::new(&scores);
        let order = if comparable.decimals.is_some() {
            // stable, so that equal values keep the order of submission
            rows.sort_by(|&left, &right| comparable.higher_first(left, right));
            rows.truncate(limit);
            rows
        } else {
            sort_listed_by_value(&rows, &comparable.values, limit)
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
        let comparable = ComparableScores::new(&self.scores);
        let mut ties = 0;
        for pair in self.order.windows(2) {
            ties += usize::from(comparable.higher_first(pair[0], pair[1]).is_eq());
        }
        ties
    }

    /// Values that compare as the scores do: those of [`Scores::values`], or ordinals where the
    /// scores are decimals.
    pub(super) fn comparable_values(&self) -> Vec<f64> {
        let values = self.scores.values();
        let Some(decimals) = self.scores.decimals() else {
            return values;
        };
        // different decimals may have the same double
        let mut rows: Vec<usize> = (0..values.len()).collect();
        let compare = |left: usize, right: usize| {
            // both zeros are one value
            let by_value = (values[left] + 0.0).total_cmp(&(values[right] + 0.0));
            by_value.then_with(|| decimals[left].cmp(&decimals[right]))
        };
        rows.sort_unstable_by(|&left, &right| compare(left, right));
        let mut ordinals = vec![0.0; values.len()];
        let mut ordinal = 0.0;
        for (place, &row) in rows.iter().enumerate() {
            if place > 0 && compare(rows[place - 1], row).is_ne() {
                ordinal += 1.0;
            }
            ordinals[row] = ordinal;
        }
        ordinals
    }

    /// The first job with an error, and its error, if the scores use [`OnError::Fail`].
    pub fn failure(&self) -> Option<(usize, &ScoreError)> {
        if self.scores.on_error() == OnError::Fail {
            self.scores.errors().next()
        } else {
            None
        }
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
        for (row, error) in self.scores.errors() {
            if !is_asked_for(row) {
                continue;
            }
            let known = groups.iter_mut().find(|group| group.has(error));
            match known {
                Some(group) => group.rows.push(row),
                None => groups.push(ErrorGroup {
                    error,
                    rows: vec![row],
                }),
            }
        }
        groups.sort_by_key(|group| Reverse(group.rows.len()));
        groups
    }
}

/// What jobs are compared by.
struct ComparableScores<'s> {
    scores: &'s Scores,
    values: Vec<f64>,
    /// The exact values of decimal scores.
    decimals: Option<Vec<Decimal>>,
}

impl<'s> ComparableScores<'s> {
    fn new(scores: &'s Scores) -> Self {
        Self {
            scores,
            values: scores.values(),
            decimals: scores.decimals(),
        }
    }

    /// Compares two rows, as [`higher_first`] does; decimals exactly, unless one has an error.
    fn higher_first(&self, left: usize, right: usize) -> Ordering {
        match &self.decimals {
            Some(decimals)
                if self.scores.error(left).is_none() && self.scores.error(right).is_none() =>
            {
                decimals[right].cmp(&decimals[left])
            }
            _ => higher_first(self.values[left], self.values[right]),
        }
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

impl ErrorGroup<'_> {
    fn has(&self, error: &ScoreError) -> bool {
        self.error.kind() == error.kind() && self.error.span() == error.span()
    }
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
    // asked for once per entity, which may have many jobs
    let mut shares = Vec::with_capacity(have_jobs.len());
    let mut unknown = Vec::new();
    for (entity, has_jobs) in table.entities().iter().zip(have_jobs) {
        let known = if has_jobs {
            backend.shares_of(entity)
        } else {
            None
        };
        if has_jobs && known.is_none() {
            unknown.push(entity.to_string());
        }
        shares.push(known);
    }
    for (name, input) in FairshareInput::NAMES {
        if table.column(name).is_none() {
            continue;
        }
        let mut numbers = Vec::with_capacity(shares.len());
        for shares in &shares {
            let number = shares.map(|shares| fairshare_number(input, &shares));
            numbers.push(number.map(&to_value));
        }
        table.fill(name, &numbers);
    }
    unknown
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
    for (name, _) in FairshareInput::NAMES {
        let Some(column) = table.column(name) else {
            continue;
        };
        if !inputs.iter().any(|input| **input == *name) {
            continue;
        }
        for row in 0..table.len() {
            if table.exclusion(row).is_none() && !column.is_set(row) {
                return Some((table.id(row), name));
            }
        }
    }
    None
}
