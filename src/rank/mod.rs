//! The score of every job under a formula, and the order in which the scheduler considers the jobs,
//! with the NaN semantics of OpenPBS.
//!
//! In: a [`Program`], a [`JobTable`] and, through [`fill_fairshare`], a fair-share backend. Out: the
//! [`Scores`], of which each is a value or an error that concerns its job alone, and a [`Ranking`].

mod compare;
mod evaluate;
pub mod explain;
pub mod measures;
mod summands;
mod work;

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use num_traits::FromPrimitive;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Span;
use crate::fairshare::{EntityShares, FairShare};
use crate::formula::program::{EvalError, Interpreter, Program};
use crate::jobs::{Column, JobTable};
use crate::python::limits::FREE_WORK;
use crate::python::{ErrorKind, Value};
use crate::schema::FairshareInput;

pub use crate::python::InputColumn;
pub use compare::{
    ComparedRanking, Comparison, Fairness, GroupChange, JobMove, OldNew, SIZES, Transitions,
};
pub use evaluate::{ColumnError, ColumnScratch, RowScorer, number_of, python_result, score};
pub use summands::{SummandAgreement, SummandColumns, SummandRange, summand_agreements};
pub use work::{QueueWork, SEARCH_WORK, WorkBudget, row_work};

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
        // rows that were pushed after the scoring have no score
        let scored = table
            .considered_rows()
            .take_while(|&row| row < scores.len());
        let mut rows: Vec<usize> = scored.collect();
        table.sort_by_submit_order(&mut rows);
        let order = sort_listed_by_value(&rows, &scores.comparable_values(), limit);
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

    /// By row the rank of its job, from 1; 0 for a row that is not in the order.
    pub fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.scores.len()];
        for (&row, rank) in self.order.iter().zip(1..) {
            ranks[row] = rank;
        }
        ranks
    }

    /// The number of adjacent pairs in the order whose values are equal, so that the formula does
    /// not order them.
    pub fn ties(&self) -> usize {
        let values = self.scores.comparable_values();
        let mut ties = 0;
        for pair in self.order.windows(2) {
            ties += usize::from(higher_first(values[pair[0]], values[pair[1]]).is_eq());
        }
        ties
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

    /// The errors of some rows, grouped by kind and place; the largest group first.
    pub fn error_groups_of(&self, is_asked_for: impl Fn(usize) -> bool) -> Vec<ErrorGroup<'_>> {
        let mut groups: Vec<ErrorGroup<'_>> = Vec::new();
        for (row, error) in self.scores.errors() {
            if !is_asked_for(row) {
                continue;
            }
            let known = groups.iter_mut().find(|group| {
                group.error.kind() == error.kind() && group.error.span() == error.span()
            });
            match known {
                Some(group) => group.rows.push(row),
                None => groups.push(ErrorGroup {
                    error,
                    rows: vec![row],
                }),
            }
        }
        // stable: of groups of one size, that of the earliest job comes first
        groups.sort_by_key(|group| Reverse(group.rows.len()));
        groups
    }
}

/// Jobs whose errors have the same kind and come from the same part of the formula.
#[derive(Debug, Clone)]
pub struct ErrorGroup<'r> {
    /// The error of the first of these jobs.
    pub error: &'r ScoreError,
    /// The rows of the jobs.
    pub rows: Vec<usize>,
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

/// Compares two values as OpenPBS does: the higher comes first, and NaN equals every value.
pub fn higher_first(left: f64, right: f64) -> Ordering {
    right.partial_cmp(&left).unwrap_or(Ordering::Equal)
}

/// The rows of the best `limit` scores, best first, as OpenPBS orders its jobs: the higher score
/// first, then the earlier submission, then the lower row. The scores are rounded to `precision`
/// first: [`ScorePrecision::Float32`] is the scheduler's. `submitted` has the time of each row, in
/// any unit that increases with time; without it, or from its end on, the rows are in the order of
/// submission. NaN equals every score, which is not an order: the result is then that of the sort
/// in glibc, which OpenPBS uses.
///
/// ```
/// use job_sort_formula::rank::{ScorePrecision, top_rows};
///
/// let scores = [0.5, 7.0, 0.500_000_001, 7.0];
/// assert_eq!(top_rows(&scores, None, ScorePrecision::Float32, usize::MAX), [1, 3, 0, 2]);
/// assert_eq!(top_rows(&scores, Some(&[40, 30, 20, 10]), ScorePrecision::Float32, 3), [3, 1, 2]);
/// ```
pub fn top_rows(
    scores: &[f64],
    submitted: Option<&[i64]>,
    precision: ScorePrecision,
    limit: usize,
) -> Vec<usize> {
    let values: Vec<f64> = scores.iter().map(|&score| precision.round(score)).collect();
    let times = submitted.unwrap_or_default();
    if times.is_sorted() {
        return sort_by_value(&values, limit);
    }
    let mut rows: Vec<usize> = (0..values.len()).collect();
    // stable: jobs of one time stay in the order of their rows
    rows.sort_by_key(|&row| times.get(row).copied().unwrap_or(i64::MAX));
    sort_listed_by_value(&rows, &values, limit)
}

/// Sorts rows by value, the higher first; rows of equal value keep their order. Returns at most the
/// first `limit` rows.
fn sort_by_value(values: &[f64], limit: usize) -> Vec<usize> {
    if values.iter().any(|value| value.is_nan()) {
        let mut rows: Vec<usize> = (0..values.len()).collect();
        merge_sort(&mut rows, &mut |left: usize, right: usize| {
            higher_first(values[left], values[right])
        });
        rows.truncate(limit);
        return rows;
    }
    // the keys alone are sorted, since looking up the value of a row for every comparison would
    // miss the cache
    let mut keys = Vec::with_capacity(values.len());
    for (row, &value) in values.iter().enumerate() {
        // the row, of 32 bits, breaks ties: an unstable sort then keeps their order
        keys.push(u128::from(double_key(value)) << 32 | row as u128);
    }
    // those behind the limit need not be sorted
    if limit < keys.len() {
        keys.select_nth_unstable(limit);
        keys.truncate(limit);
    }
    keys.sort_unstable();
    // the lower 32 bits are the row
    keys.into_iter().map(|key| key as u32 as usize).collect()
}

/// Sorts listed rows by value, the higher first; rows of equal value keep their order. Returns at
/// most the first `limit` rows.
pub fn sort_listed_by_value(rows: &[usize], values: &[f64], limit: usize) -> Vec<usize> {
    let values: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
    let mut order = sort_by_value(&values, limit);
    for row in &mut order {
        *row = rows[*row];
    }
    order
}

/// An integer that orders values as [`higher_first`] does: the higher the value, the lower the key.
/// Both zeros have the same key. The value must not be NaN.
pub fn double_key(value: f64) -> u64 {
    // -0 + 0 is 0
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 {
        bits
    } else {
        !(bits | 1 << 63)
    }
}

/// Sorts as the `qsort` of glibc does, which OpenPBS uses for its jobs: a top-down merge sort.
///
/// A comparison in which NaN equals every value is not a total order. The result then depends on
/// which pairs are compared, and the sort of the standard library may panic. With a total order
/// this is a stable sort.
pub fn merge_sort<T: Copy>(items: &mut [T], compare: &mut impl FnMut(T, T) -> Ordering) {
    let mut scratch = Vec::with_capacity(items.len());
    merge_sort_with(items, &mut scratch, compare);
}

/// Recurses to a depth of the logarithm of the length.
fn merge_sort_with<T: Copy>(
    items: &mut [T],
    scratch: &mut Vec<T>,
    compare: &mut impl FnMut(T, T) -> Ordering,
) {
    if items.len() <= 1 {
        return;
    }
    // the first half is the shorter one, as in glibc's `msort_with_tmp`
    let middle = items.len() / 2;
    merge_sort_with(&mut items[..middle], scratch, compare);
    merge_sort_with(&mut items[middle..], scratch, compare);
    scratch.clear();
    let mut left = 0;
    let mut right = middle;
    while left < middle && right < items.len() {
        // not `<`: items that are equal, as a NaN is to all, stay in place
        if compare(items[left], items[right]) != Ordering::Greater {
            scratch.push(items[left]);
            left += 1;
        } else {
            scratch.push(items[right]);
            right += 1;
        }
    }
    scratch.extend_from_slice(&items[left..middle]);
    let merged = scratch.len();
    items[..merged].copy_from_slice(scratch);
}

/// The value of a job whose formula raises an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// 0, as in OpenPBS; -1 if the result is not a real number; 0 if the value that OpenPBS gives
    /// is not known.
    #[default]
    #[cfg_attr(
        feature = "clap",
        value(name = "zero", help = "0, or -1 if OpenPBS's scheduler crashes")
    )]
    #[serde(rename = "zero")]
    ZeroLikePbs,
    /// 0; [`Ranking::failure`](super::Ranking::failure) returns the first such job, and
    /// `Site::rank` returns it as an error.
    #[cfg_attr(feature = "clap", value(help = "0, and exit code 1"))]
    Fail,
    /// Negative infinity: the job comes after all others.
    #[cfg_attr(feature = "clap", value(help = "No value: ranked last"))]
    Null,
}

/// The precision to which values are rounded before they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ScorePrecision {
    /// A C `float`, 24 bits: OpenPBS.
    #[default]
    Float32,
    /// A double: the result of the formula, unrounded.
    Double,
    /// 28 decimal digits: the formula is evaluated in base ten.
    Decimal,
}

/// The score of one job.
#[derive(Debug, Clone)]
pub struct Score<'s> {
    /// The result of the formula before it is rounded, or the error.
    pub unrounded: Result<Value, &'s ScoreError>,
    /// The value that jobs are compared by: the result rounded to the [`ScorePrecision`], or the
    /// value that [`OnError`] gives to an error.
    pub value: f64,
}

impl ScorePrecision {
    /// Rounds a double to the precision.
    #[inline]
    pub fn round(self, double: f64) -> f64 {
        if self == Self::Float32 {
            f64::from(double as f32)
        } else {
            double
        }
    }
}

/// Why a formula has no numeric result for a job. It displays the text of the Python exception
/// without the name of its type, as OpenPBS logs it: `division by zero`. The [`EvalError`] of
/// [`ScoreError::Raised`] displays the name too, as Python's traceback does:
/// `ZeroDivisionError: division by zero`.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The formula raised an error.
    #[error("{}{}", .0.text(), doubt(.0))]
    Raised(EvalError),
    /// The result is not a real number; the scheduler of OpenPBS crashes.
    #[error("the result has type `{type_name}`, expected a real number")]
    NotANumber {
        /// The Python name of its type.
        type_name: &'static str,
        /// The whole formula.
        span: Span,
    },
    /// The result is an integer too large for a double; the scheduler of OpenPBS crashes.
    #[error("the result is an integer too large for a double")]
    TooLarge {
        /// The whole formula.
        span: Span,
    },
}

/// What is added to an error after which Python may have a value.
fn doubt(error: &EvalError) -> &'static str {
    if error.kind() == ErrorKind::Complex {
        "; cannot tell what the scheduler makes of it"
    } else {
        ""
    }
}

/// What the scheduler of OpenPBS makes of a job for which the formula has no numeric result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Consequence {
    /// The job has the value 0.
    Zero,
    /// The job has the value -1, and the scheduler crashes.
    Crash,
    /// It is not known: the error is one of this crate, which computes no complex numbers and has
    /// limits.
    Unknown,
}

impl Consequence {
    /// The consequence as a clause; the subject is such a job or such a result.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Zero => "counted as 0, as in OpenPBS",
            Self::Crash => "counted as -1; OpenPBS's scheduler crashes on such a result",
            Self::Unknown => "counted as 0 here, but OpenPBS may compute another value",
        }
    }
}

impl ScoreError {
    /// The error of an evaluation with these inputs. Where it met a complex number, it is evaluated
    /// again to find out whether the result is one.
    fn from_evaluation(error: EvalError, interpreter: &Interpreter<'_>, inputs: &[Value]) -> Self {
        if error.raised.kind != ErrorKind::Complex {
            return Self::Raised(error);
        }
        let program = interpreter.program();
        let mut arithmetic = interpreter.arithmetic().clone().following_complex();
        // so little work needs no share of the budget of the queue
        arithmetic.grant(FREE_WORK);
        match program.interpreter(arithmetic).evaluate(inputs) {
            Ok(Value::OfType(type_name)) => Self::NotANumber {
                type_name,
                span: program.expr().span(),
            },
            // the operand that is a complex number has no value
            Err(later) if later.kind().is_raised_by_python() => Self::Raised(EvalError {
                operands: Vec::new(),
                ..later
            }),
            _ => Self::Raised(error),
        }
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Raised(error) => error.kind(),
            Self::NotANumber {
                type_name: "complex",
                ..
            } => ErrorKind::ComplexResult,
            Self::NotANumber { .. } => ErrorKind::NotANumber,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
        }
    }

    /// The part of the formula that failed.
    pub fn span(&self) -> Span {
        match self {
            Self::Raised(error) => error.span,
            Self::NotANumber { span, .. } | Self::TooLarge { span } => *span,
        }
    }

    /// What the scheduler of OpenPBS makes of such a job.
    pub fn consequence(&self) -> Consequence {
        match self {
            Self::Raised(error) if error.kind().is_raised_by_python() => Consequence::Zero,
            Self::Raised(_) => Consequence::Unknown,
            Self::NotANumber { .. } | Self::TooLarge { .. } => Consequence::Crash,
        }
    }

    /// Whether the scheduler of OpenPBS crashes instead of giving the job a value.
    pub fn crashes_the_scheduler(&self) -> bool {
        self.consequence() == Consequence::Crash
    }
}

impl OnError {
    /// The value of a job with this error. OpenPBS does not treat a result that is not a number as
    /// an error: the value of the job is -1, and the scheduler crashes when it evaluates the next
    /// job.
    pub fn value(self, error: &ScoreError) -> f64 {
        match (self, error.consequence()) {
            (Self::Null, _) => f64::NEG_INFINITY,
            (Self::ZeroLikePbs, Consequence::Crash) => -1.0,
            (Self::ZeroLikePbs | Self::Fail, _) => 0.0,
        }
    }
}

/// The scores of all jobs of a table, by row.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The unrounded results, as Python's numbers or in base ten. The result of a row that failed
    /// is unspecified.
    results: Column,
    /// The rows that failed, ascending; none of an excluded job.
    errors: Vec<(u32, ScoreError)>,
    /// The rows of the excluded jobs, ascending.
    excluded: Vec<u32>,
    precision: ScorePrecision,
    on_error: OnError,
}

impl Scores {
    /// The number of rows, including those of excluded jobs.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// The value of a job whose formula raises an error.
    pub fn on_error(&self) -> OnError {
        self.on_error
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the row has a score: it exists, and its job is not excluded.
    pub fn is_scored(&self, row: usize) -> bool {
        // the length first: a row beyond it may have more than 32 bits
        row < self.len() && self.excluded.binary_search(&(row as u32)).is_err()
    }

    /// The score of a row; `None` if its job is excluded.
    pub fn get(&self, row: usize) -> Option<Score<'_>> {
        if !self.is_scored(row) {
            return None;
        }
        if let Some(error) = self.error(row) {
            return Some(Score {
                unrounded: Err(error),
                value: self.on_error.value(error),
            });
        }
        let result = self.results.value(row);
        // never NaN for want of a number: `python_result` has refused such a result
        let value = self.precision.round(result.to_f64().unwrap_or(f64::NAN));
        Some(Score {
            unrounded: Ok(result),
            value,
        })
    }

    /// Every score with its row, by ascending row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Score<'_>)> {
        (0..self.len()).filter_map(|row| Some((row, self.get(row)?)))
    }

    /// The number of rows that have a score.
    pub fn count(&self) -> usize {
        self.len() - self.excluded.len()
    }

    /// The error of a row, if the formula raised one.
    pub fn error(&self, row: usize) -> Option<&ScoreError> {
        let index = self
            .errors
            .binary_search_by_key(&row, |(failed_row, _)| *failed_row as usize)
            .ok()?;
        Some(&self.errors[index].1)
    }

    /// Every error with its row, by ascending row.
    pub fn errors(&self) -> impl ExactSizeIterator<Item = (usize, &ScoreError)> {
        self.errors
            .iter()
            .map(|(row, error)| (*row as usize, error))
    }

    /// The number of jobs with an error, by the kind of the error.
    pub fn errors_by_kind(&self) -> BTreeMap<ErrorKind, usize> {
        let mut counts = BTreeMap::new();
        for (_, error) in self.errors() {
            *counts.entry(error.kind()).or_default() += 1;
        }
        counts
    }

    /// The values that jobs are compared by, or, in base ten, ordinals of them: different decimals
    /// may have the same double.
    fn comparable_values(&self) -> Vec<f64> {
        let values = self.values();
        if self.precision != ScorePrecision::Decimal {
            return values;
        }
        let mut decimals = Vec::with_capacity(self.len());
        // a double holds none of them, so that each row has one
        for (row, result) in self.results.exceptions() {
            let row = *row as usize;
            let decimal = match self.error(row) {
                Some(_) => Decimal::from_f64(values[row]),
                None => result.decimal(),
            };
            // an infinity, which an error may give, is told apart by its double
            decimals.push(decimal.unwrap_or_default());
        }
        let compare = |left: usize, right: usize| {
            // both zeros are one value
            let by_value = (values[left] + 0.0).total_cmp(&(values[right] + 0.0));
            by_value.then_with(|| decimals[left].cmp(&decimals[right]))
        };
        let mut rows: Vec<usize> = (0..values.len()).collect();
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

    /// The values that jobs are compared by, in the order of the rows; 0 for an excluded job.
    pub fn values(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.len());
        for row in 0..self.len() {
            values.push(self.precision.round(self.results.nearest_double(row)));
        }
        // in this order: an error overrules a result, and an exclusion both
        for (row, value) in self.results.exceptions() {
            values[*row as usize] = self.precision.round(value.to_f64().unwrap_or(f64::NAN));
        }
        for (row, error) in &self.errors {
            values[*row as usize] = self.on_error.value(error);
        }
        for &row in &self.excluded {
            values[row as usize] = 0.0;
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Job;

    #[test]
    fn merge_sort_is_stable() {
        let mut items: Vec<usize> = (0..1000).collect();
        merge_sort(&mut items, &mut |a: usize, b: usize| {
            ((a * 7919) % 10).cmp(&((b * 7919) % 10))
        });
        let mut expected: Vec<usize> = (0..1000).collect();
        expected.sort_by_key(|item| (item * 7919) % 10);
        assert_eq!(items, expected);
    }

    #[test]
    fn rows_of_equal_value_keep_their_order() {
        for count in [0, 5, 1000, 300_000] {
            for divisor in [4.0, 7.0] {
                let values: Vec<f64> = (0..count)
                    .map(|row| (((row * 7919) % 1009) as f64 - 500.0) / divisor)
                    .collect();
                let rows: Vec<usize> = (0..count).rev().collect();
                let mut expected = rows.clone();
                expected.sort_by(|&left, &right| higher_first(values[left], values[right]));
                for limit in [0, 1, 17, count / 2, usize::MAX] {
                    let first = &expected[..limit.min(count)];
                    assert_eq!(sort_listed_by_value(&rows, &values, limit), first);
                }
            }
        }
        let values = [
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -1.0,
            1e-310,
            1e300,
        ];
        assert_eq!(sort_by_value(&values, 7), [2, 6, 5, 0, 1, 4, 3]);
    }

    /// Three decimals whose doubles are -1, between two of which an error has the value -1.
    #[test]
    fn the_order_of_decimals_and_errors_is_total() {
        let mut table = JobTable::new([]);
        let mut results = Column::new();
        for (id, text) in [
            ("1", "-1.0000000000000000000001"),
            ("2", "0"),
            ("3", "-0.9999999999999999999999"),
            ("4", "-1"),
        ] {
            let job = Job {
                id,
                ..Job::default()
            };
            table.push(&job, &[]).unwrap();
            let decimal: Decimal = text.parse().unwrap();
            results.push(Ok(&Value::Decimal(decimal)));
        }
        let error = ScoreError::TooLarge {
            span: Span::default(),
        };
        let scores = Scores {
            results,
            errors: vec![(1, error)],
            excluded: Vec::new(),
            precision: ScorePrecision::Decimal,
            on_error: OnError::ZeroLikePbs,
        };
        let ranking = Ranking::from_scores(scores, &table);
        assert_eq!(ranking.order(), [2, 1, 3, 0]);
        assert_eq!(ranking.ties(), 1);
    }

    #[test]
    fn nan_equals_every_value() {
        let mut items = [f64::NAN, 1.0, f64::NAN];
        merge_sort(&mut items, &mut higher_first);
        assert!(items[0].is_nan() && items[1] == 1.0 && items[2].is_nan());
    }
}
