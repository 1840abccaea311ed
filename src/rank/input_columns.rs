//! Scores jobs whose inputs the caller holds in columns of its own, without a
//! [`JobTable`](crate::JobTable); and the digits of a resource amount that OpenPBS passes to Python.

use std::ops::Range;

use crate::fairshare::policy::openpbs::printed_and_read;
use crate::formula::program::{ColumnarExecutor, EvalError, InterpreterBuffers, LANES, Program};
use crate::python::{InputColumn, MAX_EXACT_FLOAT, Python, Value, float_to_int};
use crate::rank::evaluate::number_of;
use crate::rank::{OnError, QueueWork, ScoreError};
use crate::schema::current_name;

/// Why columns cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// The formula reads an input for which there is no column.
    #[error("the formula reads `{name}`, for which there is no column")]
    Missing {
        /// The input.
        name: String,
    },
    /// The formula does not read this column.
    #[error("the formula does not read `{name}`; it reads {inputs}")]
    Unknown {
        /// The column.
        name: String,
        /// What the formula reads, for a sentence.
        inputs: String,
    },
    /// Two columns have the same name, or a name and its deprecated form.
    #[error("the column `{name}` is given twice")]
    Repeated {
        /// The column.
        name: String,
    },
    /// A column has another number of rows than there are scores.
    #[error(
        "the column `{name}` has {found} rows, expected {expected}, which is the number of scores"
    )]
    Length {
        /// The column.
        name: String,
        /// Its number of rows.
        found: usize,
        /// The number of scores.
        expected: usize,
    },
    /// A row of a [`InputColumn::ByEntity`] has an entity without a value.
    #[error(
        "row {row} of the column `{name}` has the entity {index}, but there are values for {entities} entities"
    )]
    Entity {
        /// The column.
        name: String,
        /// The row, from 0.
        row: usize,
        /// Its index of an entity, from 0.
        index: u32,
        /// The number of values.
        entities: usize,
    },
}

/// The memory of [`Program::score_columns`], to be reused. It belongs to no program; each thread
/// needs its own.
#[derive(Debug, Default)]
pub struct ColumnScratch {
    columnar: ColumnarExecutor,
    interpreter: InterpreterBuffers,
    /// The index of each input's column.
    columns: Vec<usize>,
    /// By input: a block of amounts as Python reads them.
    amounts: Vec<Amounts>,
    /// The inputs of one row.
    row: Vec<Value>,
}

/// Amounts as Python reads them.
#[derive(Debug, Default)]
struct Amounts {
    numbers: Vec<f64>,
    is_int: Vec<bool>,
}

impl ColumnScratch {
    /// Memory that is allocated by its first use.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Program {
    /// Scores jobs whose inputs are in columns, on the calling thread. Writes a score for each job
    /// into `scores`: the double nearest to the result, not rounded to OpenPBS's `float`. A job
    /// whose formula raises an error gets the value of `on_error`, and is added to `errors`, which
    /// is cleared first (also where an error is returned), with its row.
    /// [`top_rows`](crate::rank::top_rows) orders the jobs. A score is anything that is made of a
    /// double, for memory that was never written.
    ///
    /// `columns` has a column for every name in [`Program::inputs`], in any order, each with as
    /// many rows as `scores`. Once `scratch` and `errors` have grown, only a row that raises an
    /// error allocates memory.
    ///
    /// The rows are one queue: as in [`score`](crate::rank::score), all evaluations together are
    /// limited to about a second, and the jobs beyond it get an error of the kind
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) without being tried.
    ///
    /// # Errors
    /// A column is missing, unknown, given twice, or has a wrong number of rows or an entity
    /// without a value. Nothing is written then.
    ///
    /// ```
    /// use job_sort_formula::rank::{ColumnScratch, InputColumn, OnError};
    /// use job_sort_formula::{Formula, Schema};
    ///
    /// let program = Formula::parse("100 * fairshare_factor + 300 / walltime")?.compile(&Schema::openpbs())?;
    /// let columns = [
    ///     ("walltime", InputColumn::I64(&[60, 0, 300])),
    ///     ("fairshare_factor", InputColumn::ByEntity { index: &[1, 0, 0], values: &[0.5, 0.25] }),
    /// ];
    /// let mut scores = [0.0; 3];
    /// let mut errors = Vec::new();
    /// program.score_columns(&columns, OnError::ZeroLikePbs, &mut ColumnScratch::new(), &mut scores, &mut errors)?;
    /// assert_eq!(scores, [30.0, 0.0, 51.0]);
    /// assert_eq!((errors[0].0, errors[0].1.to_string()), (1, "division by zero".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn score_columns<S: From<f64>>(
        &self,
        columns: &[(&str, InputColumn<'_>)],
        on_error: OnError,
        scratch: &mut ColumnScratch,
        scores: &mut [S],
        errors: &mut Vec<(usize, ScoreError)>,
    ) -> Result<(), ColumnError> {
        self.score_columns_within(
            &QueueWork::default(),
            columns,
            on_error,
            scratch,
            scores,
            errors,
        )
    }

    /// Scores a part of a queue as [`score_columns`](Self::score_columns) scores a whole one.
    pub fn score_columns_within<S: From<f64>>(
        &self,
        work: &QueueWork,
        columns: &[(&str, InputColumn<'_>)],
        on_error: OnError,
        scratch: &mut ColumnScratch,
        scores: &mut [S],
        errors: &mut Vec<(usize, ScoreError)>,
    ) -> Result<(), ColumnError> {
        errors.clear();
        self.find_columns(columns, scores.len(), &mut scratch.columns)?;
        let mut interpreter = self.interpreter_with(std::mem::take(&mut scratch.interpreter));
        // never shrinks, so that a shorter formula does not free what a longer one needs
        scratch.amounts.resize_with(
            self.inputs().len().max(scratch.amounts.len()),
            Amounts::default,
        );
        for (start, scores) in (0..).step_by(LANES).zip(scores.chunks_mut(LANES)) {
            let rows = start..start + scores.len();
            for (&column, amounts) in scratch.columns.iter().zip(&mut scratch.amounts) {
                columns[column].1.read_amounts(&rows, amounts);
            }
            let input = |slot: usize| {
                let (_, column) = &columns[*scratch.columns.get(slot)?];
                Some(column.view(&rows, &scratch.amounts[slot]))
            };
            let results = scratch.columnar.evaluate(self, &input, scores.len());
            for (score, &lane) in scores.iter_mut().zip(results.lanes()) {
                *score = S::from(lane);
            }
            for lane in results.fallback_lanes() {
                let row = start + lane;
                scratch.row.clear();
                for &column in &scratch.columns {
                    scratch.row.push(columns[column].1.value(row));
                }
                let result = work.evaluate(&mut interpreter, &scratch.row);
                scores[lane] = S::from(match self.double_of(result, &scratch.row) {
                    Ok(double) => double,
                    Err(error) => {
                        let value = on_error.value(&error);
                        errors.push((row, error));
                        value
                    }
                });
            }
        }
        scratch.interpreter = interpreter.into_buffers();
        Ok(())
    }

    /// Scores one job, whose inputs are in the order of [`Program::inputs`], as
    /// [`score_columns`](Self::score_columns) scores a row. Once `scratch` has grown, only an error
    /// and numbers beyond 64 bits allocate memory.
    ///
    /// One evaluation is limited to about a quarter of a second; beyond it the job gets an error of
    /// the kind [`ErrorKind::Limit`](crate::ErrorKind::Limit). Only
    /// [`score_columns`](Self::score_columns) and [`score`](crate::rank::score) limit all jobs of a
    /// queue together.
    ///
    /// # Errors
    /// The formula has no numeric result for the job, or `inputs` are not as many as
    /// [`Program::inputs`].
    ///
    /// ```
    /// use job_sort_formula::rank::ColumnScratch;
    /// use job_sort_formula::{Formula, Schema, Value};
    ///
    /// let program = Formula::parse("8 / ncpus")?.compile(&Schema::openpbs())?;
    /// let mut scratch = ColumnScratch::new();
    /// assert_eq!(program.score_row(&[Value::Int(16)], &mut scratch).ok(), Some(0.5));
    /// assert_eq!(program.score_row(&[Value::Int(0)], &mut scratch).unwrap_err().to_string(), "division by zero");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn score_row(
        &self,
        inputs: &[Value],
        scratch: &mut ColumnScratch,
    ) -> Result<f64, ScoreError> {
        let mut interpreter = self.interpreter_with(std::mem::take(&mut scratch.interpreter));
        let score = self.double_of(interpreter.evaluate(inputs), inputs);
        scratch.interpreter = interpreter.into_buffers();
        score
    }

    /// The double nearest to the result of an evaluation with these inputs.
    fn double_of(
        &self,
        result: Result<Value, EvalError>,
        inputs: &[Value],
    ) -> Result<f64, ScoreError> {
        let value = number_of::<Python>(result, self, inputs)?;
        Ok(value.to_f64().unwrap_or(f64::NAN))
    }

    /// Finds the column of every input, and checks the columns.
    fn find_columns(
        &self,
        columns: &[(&str, InputColumn<'_>)],
        rows: usize,
        found: &mut Vec<usize>,
    ) -> Result<(), ColumnError> {
        // a caller that scores again and again gives them in order
        let names = columns.iter().map(|(name, _)| *name);
        let are_in_order = names.eq(self.inputs().iter().map(AsRef::as_ref));
        for (index, (name, column)) in columns.iter().enumerate() {
            if !are_in_order {
                self.check_name(name, &columns[..index])?;
            }
            column.check(name, rows)?;
        }
        found.clear();
        for (slot, input) in self.inputs().iter().enumerate() {
            found.push(if are_in_order {
                slot
            } else {
                place_of(input, columns).ok_or_else(|| ColumnError::Missing {
                    name: input.to_string(),
                })?
            });
        }
        Ok(())
    }

    /// Checks that the formula reads a column, and that it is not among those before it.
    fn check_name(
        &self,
        name: &str,
        earlier: &[(&str, InputColumn<'_>)],
    ) -> Result<(), ColumnError> {
        // columns that are right, in whatever order, cost no memory
        if place_of(name, earlier).is_some() {
            return Err(ColumnError::Repeated {
                name: name.to_owned(),
            });
        }
        if self.inputs().iter().any(|input| is_same(input, name)) {
            return Ok(());
        }
        let inputs = if self.inputs().is_empty() {
            "no input".to_owned()
        } else {
            format!("`{}`", self.inputs().join("`, `"))
        };
        Err(ColumnError::Unknown {
            name: name.to_owned(),
            inputs,
        })
    }
}

/// The index of the column of an input.
fn place_of(input: &str, columns: &[(&str, InputColumn<'_>)]) -> Option<usize> {
    columns.iter().position(|(name, _)| is_same(name, input))
}

/// Whether two names are the same input; one of them may be a deprecated name.
fn is_same(left: &str, right: &str) -> bool {
    current_name(left) == current_name(right)
}

impl InputColumn<'_> {
    /// The number of rows; `None` if it fits any number.
    fn rows(&self) -> Option<usize> {
        match self {
            Self::I32(values) => Some(values.len()),
            Self::I64(values) => Some(values.len()),
            Self::F64(values) | Self::Whole(values) => Some(values.len()),
            Self::Mixed { values, is_int } => Some(values.len().min(is_int.len())),
            Self::PbsAmount(amounts) => Some(amounts.len()),
            Self::Same(_) => None,
            Self::ByEntity { index, .. } => Some(index.len()),
        }
    }

    /// Checks the number of rows, and that every row has an entity with a value.
    fn check(&self, name: &str, rows: usize) -> Result<(), ColumnError> {
        if let Some(found) = self.rows()
            && found != rows
        {
            return Err(ColumnError::Length {
                name: name.to_owned(),
                found,
                expected: rows,
            });
        }
        // a maximum is vectorized; only an error needs the row, for which `position` is slow
        if let Self::ByEntity { index, values } = self
            && index.iter().fold(0, |max, &index| index.max(max)) as usize >= values.len()
            && let Some(row) = index
                .iter()
                .position(|&index| index as usize >= values.len())
        {
            return Err(ColumnError::Entity {
                name: name.to_owned(),
                row,
                index: index[row],
                entities: values.len(),
            });
        }
        Ok(())
    }

    /// Reads a block of amounts as Python does.
    fn read_amounts(&self, rows: &Range<usize>, read: &mut Amounts) {
        if let Self::PbsAmount(amounts) = self {
            read.numbers.clear();
            read.is_int.clear();
            for &amount in &amounts[rows.clone()] {
                let (number, is_int) = read_amount(amount);
                read.numbers.push(number);
                read.is_int.push(is_int);
            }
        }
    }

    /// The values of a block of rows.
    fn view<'s>(&'s self, rows: &Range<usize>, amounts: &'s Amounts) -> InputColumn<'s> {
        let rows = rows.clone();
        match self {
            Self::I32(values) => InputColumn::I32(&values[rows]),
            Self::I64(values) => InputColumn::I64(&values[rows]),
            Self::F64(values) => InputColumn::F64(&values[rows]),
            Self::Whole(values) => InputColumn::Whole(&values[rows]),
            Self::Mixed { values, is_int } => InputColumn::Mixed {
                values: &values[rows.clone()],
                is_int: &is_int[rows],
            },
            Self::PbsAmount(_) => InputColumn::Mixed {
                values: &amounts.numbers,
                is_int: &amounts.is_int,
            },
            Self::Same(value) => InputColumn::Same(value.clone()),
            Self::ByEntity { index, values } => InputColumn::ByEntity {
                index: &index[rows],
                values,
            },
        }
    }

    /// The value of a row.
    fn value(&self, row: usize) -> Value {
        match self {
            Self::I32(values) => Value::Int(values[row].into()),
            Self::I64(values) => Value::Int(values[row]),
            Self::F64(values) => Value::Float(values[row]),
            Self::Whole(values) => Value::Int(values[row] as i64),
            Self::Mixed { values, is_int } if is_int[row] => {
                // an infinity or a NaN is no integer; `None` makes the evaluation fail
                float_to_int(values[row]).unwrap_or(Value::None)
            }
            Self::Mixed { values, .. } => Value::Float(values[row]),
            Self::PbsAmount(amounts) => openpbs_digits(amounts[row]),
            Self::Same(value) => value.clone(),
            Self::ByEntity { index, values } => Value::Float(values[index[row] as usize]),
        }
    }
}

/// The most decimals of a resource amount or a logged value.
// what the scheduler passes to its `float_digits`
const MAX_DECIMALS: usize = 4;

/// The number that Python reads after the scheduler prints the resource amount `v`: an integer if
/// it is printed without decimals, else a float. At most four decimals are printed, fewer where the
/// following three digits are zeros or nines. Infinities and NaN stay floats; the scheduler ignores
/// jobs with them. Fair-share numbers are printed with six decimals, see
/// [`EntityShares::printed`](crate::fairshare::EntityShares::printed).
///
/// ```
/// use job_sort_formula::rank::openpbs_digits;
///
/// let printed = [2.0, 0.00002, 1.0 / 3.0, 0.99999].map(|amount| openpbs_digits(amount).repr());
/// assert_eq!(printed, ["2", "0", "0.3333", "1"]);
/// ```
pub fn openpbs_digits(v: f64) -> Value {
    match read_amount(v) {
        (whole, true) => float_to_int(whole).unwrap_or(Value::Float(v)),
        (decimal, false) => Value::Float(decimal),
    }
}

/// The value of a formula as OpenPBS's scheduler logs it: rounded to a C `float`, then printed with
/// the decimals of [`openpbs_digits`], and with the sign of a negative zero; infinities and NaN as
/// C prints them.
///
/// ```
/// use job_sort_formula::rank::openpbs_logged;
///
/// let logged = [58_720_257.0, 50.878, 0.25, -0.00002, 1e39].map(openpbs_logged);
/// assert_eq!(logged, ["58720256", "50.8780", "0.25", "-0", "inf"]);
/// ```
pub fn openpbs_logged(value: f64) -> String {
    let rounded = f64::from(value as f32);
    let places = decimals(rounded);
    let scale = 10_u64.pow(places as u32);
    // a float has 24 bits, so the product is exact; `format!` of a double takes ten times as long,
    // a quarter of the time of a ranking
    let scaled = (rounded.abs() * scale as f64).round_ties_even();
    if scaled >= MAX_EXACT_FLOAT || value.is_nan() {
        // a NaN keeps the sign that C prints
        return printed(if value.is_nan() { value } else { rounded });
    }
    let sign = if rounded.is_sign_negative() { "-" } else { "" };
    let (whole, decimals) = (scaled as u64 / scale, scaled as u64 % scale);
    match places {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{decimals:0places$}"),
    }
}

/// `v` as OpenPBS prints it: at most four [`decimals`]; infinities and NaN as C prints them, `inf`,
/// `-nan`.
pub fn printed(v: f64) -> String {
    fixed(v, decimals(v))
}

/// `value` as C's `%.*f` prints it: rounded to `decimals` decimals, ties to even; `inf`, `nan` and
/// `-nan` as in glibc.
pub fn fixed(value: f64, decimals: usize) -> String {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, true) => "-nan".to_owned(),
        (true, false) => "nan".to_owned(),
        (false, _) => format!("{value:.decimals$}"),
    }
}

/// The number of [`openpbs_digits`] as a double, and whether it is an integer. The double is exact,
/// because a double without decimals is printed with all its digits.
pub fn read_amount(v: f64) -> (f64, bool) {
    match decimals(v) {
        _ if !v.is_finite() => (v, false),
        // the sum turns -0, which Python reads as 0
        0 => (v.round_ties_even() + 0.0, true),
        places => (printed_and_read(v, places), false),
    }
}

/// The number of decimals that OpenPBS prints for `v`: the smallest i ≤ 4 such that the three
/// digits after the i-th decimal are 000 or 999, else 4.
pub fn decimals(v: f64) -> usize {
    if !v.is_finite() {
        return 0;
    }
    let mut scale = 1.0;
    for decimals in 0..MAX_DECIMALS {
        if matches!(next_three_digits(v.abs() * scale), 0 | 999..) {
            return decimals;
        }
        scale *= 10.0;
    }
    MAX_DECIMALS
}

/// The first three digits after the point of a number that is not negative.
fn next_three_digits(x: f64) -> i64 {
    // from 2^53 on there is no fraction
    if x < MAX_EXACT_FLOAT {
        // truncated, not rounded, as the scheduler does: 0.00096 is printed as 0
        ((x - x as i64 as f64) * 1000.0) as i64
    } else {
        0
    }
}
