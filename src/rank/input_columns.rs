//! Scores of jobs whose inputs the caller holds in columns of its own, or of one such job.

use std::ops::Range;

use crate::formula::program::{
    ColumnarExecutor, EvalError, Interpreter, InterpreterBuffers, LANES, Program,
};
use crate::printing::{read_resource, resource};
use crate::python::{InputColumn, Value, float_to_int};
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
    /// The rows are one queue: as in [`score`](crate::rank::score), all evaluations together
    /// are limited to about a second, and the jobs beyond it get an error of the kind
    /// [`ErrorKind::Limit`](crate::python::ErrorKind::Limit) without being tried.
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
    /// the kind [`ErrorKind::Limit`](crate::python::ErrorKind::Limit). Only
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
