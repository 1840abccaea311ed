//! Evaluates a program for all jobs of a table, or for jobs whose inputs the caller holds in columns
//! of its own: first in columns, then row by row where the columnar executor falls back.

use std::ops::Range;

use rust_decimal::Decimal;

use crate::diagnostic::Span;
use crate::formula::program::{
    ColumnarExecutor, EvalError, Interpreter, InterpreterBuffers, LANES, LaneResults, LaneType,
    Program,
};
use crate::jobs::{Column, JobTable};
use crate::parallel;
use crate::printing::{read_resource, resource};
use crate::python::limits::{EVALUATION_WORK, FREE_WORK, QUEUE_WORK};
use crate::python::{ErrorKind, InputColumn, Python, Raised, Value, float_to_int};
use crate::rank::{OnError, QueueWork, ScoreError, ScorePrecision, Scores};
use crate::schema::current_name;

/// The number of rows that one thread evaluates at a time, a multiple of [`LANES`]. A smaller table
/// starts no threads.
const PARTITION_ROWS: usize = 32 * LANES;

/// Evaluates a program for every job of a table, in parallel if there are more than 65,536 jobs. An
/// excluded job has no score.
///
/// The table has a column for every name in [`Program::inputs`]; without one every job has an error
/// that names it.
pub fn score(
    program: &Program,
    table: &JobTable,
    precision: ScorePrecision,
    on_error: OnError,
) -> Scores {
    score_within(program, table, precision, on_error, QUEUE_WORK)
}

fn score_within(
    program: &Program,
    table: &JobTable,
    precision: ScorePrecision,
    on_error: OnError,
    budget: u64,
) -> Scores {
    let scorer = TableScorer {
        program,
        table,
        columns: find_columns(program, table),
    };
    let (results, mut errors) = match precision {
        ScorePrecision::Decimal => scorer.decimal_results(),
        ScorePrecision::Float32 | ScorePrecision::Double => scorer.python_results(budget),
    };
    let excluded: Vec<u32> = table.excluded_rows().collect();
    // the lanes of excluded jobs are computed with their blocks, and do not count
    errors.retain(|(row, _)| excluded.binary_search(row).is_err());
    Scores {
        results,
        errors,
        excluded,
        precision,
        on_error,
    }
}

/// The column of each input; that of `fairshare_perc` has the values of the deprecated
/// `fair_share_perc` too.
///
/// # Errors
/// The table has none for an input.
fn find_columns<'t>(program: &Program, table: &'t JobTable) -> Result<Vec<&'t Column>, ScoreError> {
    let span = program.expr().span();
    let mut columns = Vec::with_capacity(program.inputs().len());
    for name in program.inputs() {
        let known = [name, current_name(name)];
        let Some(column) = known.into_iter().find_map(|name| table.column(name)) else {
            let raised = Raised::new(ErrorKind::Name, format!("the table has no column `{name}`"));
            return Err(ScoreError::Raised(EvalError::new(raised, span)));
        };
        columns.push(column);
    }
    Ok(columns)
}

/// The number that an evaluation with these inputs has given.
///
/// # Errors
/// The formula has no numeric result.
pub fn number_of(
    result: Result<Value, EvalError>,
    interpreter: &Interpreter<'_>,
    inputs: &[Value],
) -> Result<Value, ScoreError> {
    match result {
        Ok(value) => python_result(value, interpreter.program().expr().span()),
        Err(error) => Err(ScoreError::from_evaluation(error, interpreter, inputs)),
    }
}

/// Checks that a result is a number. `span` is the whole formula.
pub fn python_result(value: Value, span: Span) -> Result<Value, ScoreError> {
    match (value.to_f64(), &value) {
        (Some(_), _) => Ok(value),
        (None, Value::Big(_)) => Err(ScoreError::TooLarge { span }),
        (None, _) => Err(ScoreError::NotANumber {
            type_name: value.type_name(),
            span,
        }),
    }
}

/// Computes scores in Python's numbers, for one job at a time.
pub struct RowScorer<'p> {
    interpreter: Interpreter<'p>,
    precision: ScorePrecision,
    on_error: OnError,
    /// The work that the evaluations may still do beyond [`FREE_WORK`] for each, in words; `None`
    /// once one needed more.
    left: Option<u64>,
}

impl<'p> RowScorer<'p> {
    /// A scorer whose evaluations may do this much work beyond [`FREE_WORK`] for each, in words.
    pub fn with_work(
        program: &'p Program,
        precision: ScorePrecision,
        on_error: OnError,
        words: u64,
    ) -> Self {
        Self {
            interpreter: program.interpreter(Python::new()),
            precision,
            on_error,
            left: Some(words),
        }
    }

    /// The work of the last evaluation, in words.
    pub fn work(&self) -> u64 {
        self.interpreter.arithmetic().work()
    }

    /// The score of a job with these inputs, in the order of [`Program::inputs`]; `None` once an
    /// evaluation needs more work than is left.
    pub fn score(&mut self, inputs: &[Value]) -> Option<f64> {
        let left = self.left?;
        let granted = FREE_WORK.saturating_add(left);
        self.interpreter.grant(granted);
        let result = self.interpreter.evaluate(inputs);
        let arithmetic = self.interpreter.arithmetic();
        // with all of `EVALUATION_WORK`, the error is the formula's own
        if granted < EVALUATION_WORK && arithmetic.needed_more_work() {
            self.left = None;
            return None;
        }
        // an evaluation may need less than what is free
        self.left = Some(left.saturating_sub(arithmetic.work().saturating_sub(FREE_WORK)));
        Some(match number_of(result, &self.interpreter, inputs) {
            // never NaN for want of a number: `number_of` has refused it
            Ok(result) => self.precision.round(result.to_f64().unwrap_or(f64::NAN)),
            Err(error) => self.on_error.value(&error),
        })
    }
}

/// A program, and the table whose jobs it scores. Shared by the threads.
struct TableScorer<'t> {
    program: &'t Program,
    table: &'t JobTable,
    /// The column of each input of the program, unless the table lacks one.
    columns: Result<Vec<&'t Column>, ScoreError>,
}

/// Errors with their rows, ascending.
type RowErrors = Vec<(u32, ScoreError)>;

/// The results of consecutive rows, which one thread computes.
#[derive(Default)]
struct PartResults {
    numbers: Vec<f64>,
    is_int: Vec<bool>,
    /// The results that their doubles do not represent, with their rows, ascending.
    exceptions: Vec<(u32, Value)>,
    errors: RowErrors,
}

impl PartResults {
    fn with_capacity(rows: usize) -> Self {
        Self {
            numbers: Vec::with_capacity(rows),
            is_int: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    /// Adds a block of which the first row has this number. A truth value is an exception.
    fn push_block(&mut self, start: usize, results: &LaneResults<'_>) {
        let numbers = results.lanes();
        self.numbers.extend_from_slice(numbers);
        if let Some(kind @ (LaneType::Float | LaneType::Int)) = results.uniform_type() {
            self.is_int
                .resize(self.numbers.len(), kind == LaneType::Int);
            return;
        }
        for lane in 0..numbers.len() {
            self.is_int.push(results.lane_type(lane) != LaneType::Float);
            if results.lane_type(lane) == LaneType::Bool
                && let Some(truth) = results.value(lane)
            {
                self.exceptions.push(((start + lane) as u32, truth));
            }
        }
    }
}

impl<'t> TableScorer<'t> {
    /// The results in Python's numbers, and the errors. `budget` is the most work of all rows
    /// beyond [`FREE_WORK`] for each, in words.
    fn python_results(&self, budget: u64) -> (Column, RowErrors) {
        let work = QueueWork::of_budget(budget);
        let mut parts = parallel::map(self.starts(), |start| self.evaluate(start, &work));
        // the threads decide which rows were late; alone, it is those behind in the table
        if work.is_beyond_the_budget() && parts.len() > 1 {
            let work = QueueWork::of_budget(budget);
            let starts = self.starts().into_iter();
            parts = starts.map(|start| self.evaluate(start, &work)).collect();
        }
        let mut all = PartResults::with_capacity(self.table.len());
        for part in parts {
            all.numbers.extend(part.numbers);
            all.is_int.extend(part.is_int);
            all.exceptions.extend(part.exceptions);
            all.errors.extend(part.errors);
        }
        let column = Column::from_rows(all.numbers, all.is_int, all.exceptions);
        (column, all.errors)
    }

    /// The first rows of the parts that threads evaluate.
    fn starts(&self) -> Vec<usize> {
        (0..self.table.len()).step_by(PARTITION_ROWS).collect()
    }

    /// Evaluates the part that begins with a row in columns, and row by row the lanes that fall
    /// back.
    fn evaluate(&self, first: usize, work: &QueueWork) -> PartResults {
        let end = self.table.len().min(first + PARTITION_ROWS);
        let mut executor = ColumnarExecutor::default();
        let mut interpreter = self.program.interpreter(Python::new());
        let mut inputs = Vec::new();
        let mut found = PartResults::with_capacity(end - first);
        for start in (first..end).step_by(LANES) {
            let count = LANES.min(end - start);
            let input =
                // without a column, all lanes fall back, and `read_inputs` gives the error
                |slot: usize| Some(self.columns.as_ref().ok()?.get(slot)?.view(start, count));
            let results = executor.evaluate(self.program, &input, count);
            found.push_block(start, &results);
            for lane in results.fallback_lanes() {
                let row = start + lane;
                match self.interpreted(row, &mut interpreter, &mut inputs, work) {
                    Ok(value) => {
                        let (number, is_int, is_exact) = Column::number_of(&value);
                        found.numbers[row - first] = number;
                        found.is_int[row - first] = is_int;
                        if !is_exact {
                            found.exceptions.push((row as u32, value));
                        }
                    }
                    Err(error) => found.errors.push((row as u32, error)),
                }
            }
        }
        // those of each block come in two passes: truth values, then lanes that fall back
        found.exceptions.sort_by_key(|(row, _)| *row);
        found
    }

    /// The result of one row in Python's numbers. That of an excluded job is unspecified.
    fn interpreted(
        &self,
        row: usize,
        interpreter: &mut Interpreter<'_>,
        inputs: &mut Vec<Value>,
        work: &QueueWork,
    ) -> Result<Value, ScoreError> {
        self.read_inputs(row, inputs)?;
        number_of(work.evaluate(interpreter, inputs), interpreter, inputs)
    }

    /// Reads the inputs of a row.
    fn read_inputs(&self, row: usize, inputs: &mut Vec<Value>) -> Result<(), ScoreError> {
        inputs.clear();
        match &self.columns {
            Ok(columns) => inputs.extend(columns.iter().map(|column| column.value(row))),
            Err(missing) => return Err(missing.clone()),
        }
        Ok(())
    }

    /// The results in base ten, row by row, and the errors.
    fn decimal_results(&self) -> (Column, RowErrors) {
        let parts = parallel::map(self.starts(), |start| {
            let mut interpreter = self.program.interpreter(Python::new().with_decimals());
            let mut inputs = Vec::new();
            let rows = start..self.table.len().min(start + PARTITION_ROWS);
            rows.map(|row| self.interpreted_in_base_ten(row, &mut interpreter, &mut inputs))
                .collect::<Vec<_>>()
        });
        let mut column = Column::new();
        let mut errors = Vec::new();
        for (row, result) in parts.into_iter().flatten().enumerate() {
            match result {
                Ok(value) => column.push(Ok(&value)),
                Err(error) => {
                    errors.push((row as u32, error));
                    // `Scores::comparable_values` expects a decimal in each row
                    column.push(Ok(&Value::Decimal(Decimal::ZERO)));
                }
            }
        }
        (column, errors)
    }

    fn interpreted_in_base_ten(
        &self,
        row: usize,
        interpreter: &mut Interpreter<'_>,
        inputs: &mut Vec<Value>,
    ) -> Result<Value, ScoreError> {
        self.read_inputs(row, inputs)?;
        let span = self.program.expr().span();
        for input in &mut *inputs {
            match interpreter.arithmetic().number(input) {
                Ok(number) => *input = number,
                Err(raised) => return Err(ScoreError::Raised(EvalError::new(raised, span))),
            }
        }
        let result = interpreter.evaluate(inputs);
        let value = number_of(result, interpreter, inputs)?;
        // a truth value is a number
        Ok(value.decimal().map_or(value, Value::Decimal))
    }
}

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
    /// The rows are one queue: as in [`score`], all evaluations together are
    /// limited to about a second, and the jobs beyond it get an error of the kind
    /// [`ErrorKind::Limit`] without being tried.
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
            // also of lanes that fall back, whose scores are replaced below
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
                scores[lane] = S::from(match double_of(result, &interpreter, &scratch.row) {
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
    /// the kind [`ErrorKind::Limit`]. Only
    /// [`score_columns`](Self::score_columns) and [`score`] limit all jobs of a
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
        let result = interpreter.evaluate(inputs);
        let score = double_of(result, &interpreter, inputs);
        scratch.interpreter = interpreter.into_buffers();
        score
    }

    /// Finds the column of every input, and checks the columns.
    fn find_columns(
        &self,
        columns: &[(&str, InputColumn<'_>)],
        rows: usize,
        found: &mut Vec<usize>,
    ) -> Result<(), ColumnError> {
        for (index, (name, column)) in columns.iter().enumerate() {
            self.check_name(name, &columns[..index])?;
            column.check(name, rows)?;
        }
        found.clear();
        for input in self.inputs() {
            let place = place_of(input, columns);
            found.push(place.ok_or_else(|| ColumnError::Missing {
                name: input.to_string(),
            })?);
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
        for (other, _) in earlier {
            // a formula with both names of the share may have a column for each
            let are_two_inputs = *other != name && self.reads(other) && self.reads(name);
            if is_same(other, name) && !are_two_inputs {
                return Err(ColumnError::Repeated {
                    name: name.to_owned(),
                });
            }
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

    /// Whether the formula has this very name.
    fn reads(&self, name: &str) -> bool {
        self.inputs().iter().any(|input| **input == *name)
    }
}

/// The double nearest to the number that an evaluation with these inputs has given.
fn double_of(
    result: Result<Value, EvalError>,
    interpreter: &Interpreter<'_>,
    inputs: &[Value],
) -> Result<f64, ScoreError> {
    let value = number_of(result, interpreter, inputs)?;
    Ok(value.to_f64().unwrap_or(f64::NAN))
}

/// The index of the column of an input: the one of its name, else that of the other name of the
/// share.
fn place_of(input: &str, columns: &[(&str, InputColumn<'_>)]) -> Option<usize> {
    let same_name = columns.iter().position(|(name, _)| *name == input);
    same_name.or_else(|| columns.iter().position(|(name, _)| is_same(name, input)))
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
        if let Self::ByEntity { index, values } = self
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
                let (number, is_int) = read_resource(amount);
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
            // exact: the caller's integers are below 2^53
            Self::Whole(values) => Value::Int(values[row] as i64),
            Self::Mixed { values, is_int } if is_int[row] => {
                // an infinity or a NaN is no integer; `None` makes the evaluation fail
                float_to_int(values[row]).unwrap_or(Value::None)
            }
            Self::Mixed { values, .. } => Value::Float(values[row]),
            Self::PbsAmount(amounts) => resource(amounts[row]),
            Self::Same(value) => value.clone(),
            Self::ByEntity { index, values } => Value::Float(values[index[row] as usize]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formula;
    use crate::jobs::{Job, JobState};
    use crate::parallel::Threads;
    use crate::schema::Schema;

    /// The rows that fail under a budget, and their errors.
    fn failed(formula: &str, rows: i64, threads: usize, budget: u64) -> Vec<(usize, String)> {
        let program = Formula::parse(formula)
            .unwrap()
            .compile(&Schema::openpbs())
            .unwrap();
        let mut table = JobTable::new(["ncpus"]);
        for row in 0..rows {
            let id = row.to_string();
            let job = Job {
                id: &id,
                entity: "",
                queue: "",
                state: JobState::Queued,
                queued_at: None,
                exclusion: None,
            };
            table.push(&job, &[Ok(Value::Int(row))]).unwrap();
        }
        let scores = Threads::new(threads).run(|| {
            score_within(
                &program,
                &table,
                ScorePrecision::Double,
                OnError::ZeroLikePbs,
                budget,
            )
        });
        scores
            .errors()
            .map(|(row, error)| (row, error.to_string()))
            .collect()
    }

    #[test]
    fn the_budget_is_spent_in_the_order_of_the_rows() {
        // about 5,000 words for each row but the first ones
        let formula = "(3 + ncpus) ** 1500 % 7";
        let rows = 40 * LANES as i64;
        let one = failed(formula, rows, 1, 1 << 20);
        assert!(
            one.len() > 1000 && one.len() < rows as usize - 50,
            "{}",
            one.len()
        );
        assert!(
            one.iter()
                .all(|(_, error)| error.contains("after those of the jobs before it")),
            "{:?}",
            one[0]
        );
        // of the rows after the first that fails, only those that need little work do not fail
        assert_eq!(one.len(), rows as usize - one[0].0);
        for threads in [2, 3, 8] {
            assert_eq!(
                failed(formula, rows, threads, 1 << 20),
                one,
                "{threads} threads"
            );
        }
        assert_eq!(failed(formula, 40, 2, QUEUE_WORK), []);
    }

    #[test]
    fn rows_that_need_little_work_do_not_fail() {
        let formula = "(3 + ncpus) ** 1500 % 7 if ncpus % 2 else ncpus * 2";
        let failed = failed(formula, 2000, 2, 1 << 18);
        assert!(
            failed.len() > 800 && failed.iter().all(|(row, _)| row % 2 == 1),
            "{}",
            failed.len()
        );
        assert_eq!(self::failed("ncpus ** 2 + ncpus / 3", 5000, 2, 0), []);
    }
}
