//! The columns of a Python caller as columns of the library.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, RunEndIndexType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use job_sort_formula::Value;
use job_sort_formula::rank::InputColumn;
use pyo3::exceptions::{PyImportError, PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PySequence, PyString};

use crate::{capsule, numpy};

/// The most rows of a column.
pub const MAX_ROWS: usize = i32::MAX as usize;

/// The integers up to here are also doubles.
const MAX_EXACT_INT: u64 = 1 << 53;

/// One input of the formula.
pub enum Input {
    /// The same value for every job.
    Same(Value),
    /// A value for each job.
    Chunks(Chunks),
}

/// Columns with their names.
pub type Inputs = Vec<(String, Input)>;

/// The parts of a column, none of which is empty.
pub struct Chunks {
    chunks: Vec<Chunk>,
    /// The first row after each chunk.
    ends: Vec<usize>,
}

/// Values that are together in memory.
pub struct Chunk {
    /// The values; 0 in a row that is null.
    values: Values,
    /// The rows that are null; `None` if there are none.
    nulls: Option<NullBuffer>,
}

impl Chunk {
    pub fn new(values: Values, nulls: Option<NullBuffer>) -> Self {
        match nulls.filter(|nulls| nulls.null_count() > 0) {
            None => Self {
                values,
                nulls: None,
            },
            // what is there may be anything, and would take any time to compute with
            Some(nulls) => {
                let known = (0..nulls.len()).map(|row| nulls.is_valid(row).then_some(row));
                Self {
                    values: values.picked(known),
                    nulls: Some(nulls),
                }
            }
        }
    }

    /// A chunk in which every row is null.
    fn null(rows: usize) -> Self {
        Self {
            values: Values::F64(vec![0.0; rows].into()),
            nulls: Some(NullBuffer::new_null(rows)).filter(|_| rows > 0),
        }
    }

    pub fn values(&self) -> &Values {
        &self.values
    }

    pub fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// A chunk with these rows of this one.
    fn at(&self, rows: &[usize]) -> Self {
        let nulls = self
            .nulls
            .as_ref()
            .map(|nulls| NullBuffer::from_iter(rows.iter().map(|&row| nulls.is_valid(row))));
        Self::new(self.values.picked(rows.iter().copied().map(Some)), nulls)
    }
}

/// The values of a chunk, in the types that the library reads.
pub enum Values {
    I32(ScalarBuffer<i32>),
    I64(ScalarBuffer<i64>),
    F64(ScalarBuffer<f64>),
    Mixed(Mixed),
}

/// Numbers of which some are integers and the others floats.
pub struct Mixed {
    values: ScalarBuffer<f64>,
    /// Whether the number of each row is an integer.
    is_int: Vec<bool>,
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Mixed(Mixed { values, .. }) => values.len(),
        }
    }

    pub fn slice(&self, start: usize, rows: usize) -> InputColumn<'_> {
        match self {
            Self::I32(values) => InputColumn::I32(&values[start..start + rows]),
            Self::I64(values) => InputColumn::I64(&values[start..start + rows]),
            Self::F64(values) => InputColumn::F64(&values[start..start + rows]),
            Self::Mixed(Mixed { values, is_int }) => InputColumn::Mixed {
                values: &values[start..start + rows],
                is_int: &is_int[start..start + rows],
            },
        }
    }

    /// The values of these rows, and 0 for none.
    fn picked(&self, rows: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        fn of<T: ArrowNativeType>(
            values: &[T],
            rows: impl Iterator<Item = Option<usize>>,
        ) -> ScalarBuffer<T> {
            rows.map(|row| row.map_or_else(T::default, |row| values[row]))
                .collect::<Vec<T>>()
                .into()
        }
        match self {
            Self::I32(values) => Self::I32(of(values, rows)),
            Self::I64(values) => Self::I64(of(values, rows)),
            Self::F64(values) => Self::F64(of(values, rows)),
            Self::Mixed(Mixed { values, is_int }) => {
                let is_int = rows
                    .clone()
                    .map(|row| row.is_some_and(|row| is_int[row]))
                    .collect();
                Self::Mixed(Mixed {
                    values: of(values, rows),
                    is_int,
                })
            }
        }
    }
}

impl Chunks {
    fn new(name: &str, chunks: impl IntoIterator<Item = Chunk>) -> PyResult<Self> {
        let chunks: Vec<Chunk> = chunks
            .into_iter()
            .filter(|chunk| chunk.values.len() > 0)
            .collect();
        let mut rows = 0_usize;
        let ends = chunks.iter().map(|chunk| {
            rows = rows.saturating_add(chunk.values.len());
            check_rows(name, rows).map(|()| rows)
        });
        Ok(Self {
            ends: ends.collect::<PyResult<_>>()?,
            chunks,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The chunk with a row, the row in it, and the number of rows from there to its end.
    pub fn at(&self, row: usize) -> (&Chunk, usize, usize) {
        let index = self.ends.partition_point(|&end| end <= row);
        let chunk = &self.chunks[index];
        let left = self.ends[index] - row;
        (chunk, chunk.values.len() - left, left)
    }
}

/// Checks the number of rows of a column.
pub fn check_rows(name: &str, rows: usize) -> PyResult<()> {
    if rows > MAX_ROWS {
        let message = format!(
            "the column `{name}` has {rows} rows, more than {MAX_ROWS}: evaluate it in parts"
        );
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}

impl Input {
    /// The column that a Python object is.
    pub fn import(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // in this order because asking for an attribute that is missing takes longer than a small
        // column
        if !numpy::is_array(object)? {
            if object.hasattr(intern!(object.py(), "__arrow_c_array__"))? {
                return Self::from_arrays(name, &[capsule::import_array(object)?]);
            }
            if let Some(value) = number(name, object)? {
                return Ok(Self::Same(value));
            }
            if object.hasattr(intern!(object.py(), "__arrow_c_stream__"))? && !has_objects(object) {
                match capsule::import_stream(object)
                    .and_then(|(_, arrays)| Self::from_arrays(name, &arrays))
                {
                    Ok(column) => return Ok(column),
                    // pandas exports Arrow only where pyarrow is installed, and pyarrow no numbers
                    // with swapped bytes
                    Err(error) if error.is_instance_of::<PyImportError>(object.py()) => {}
                    Err(error) if error.is_instance_of::<PyNotImplementedError>(object.py()) => {}
                    // nor columns of several types and sparse ones; what is wrong is said alike
                    // where pyarrow is not installed
                    Err(_) if object.hasattr("isna")? && object.hasattr("__array__")? => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let mut object = object.clone();
        if !numpy::is_array(&object)? && object.hasattr("__array__")? {
            if let Some(column) = Self::with_missing(name, &object)? {
                return Ok(column);
            }
            object = object.call_method0("__array__")?;
        }
        if numpy::is_array(&object)? {
            if object.getattr("ndim")?.extract::<usize>()? == 0 {
                object = object.call_method0("item")?;
                return match number(name, &object)? {
                    Some(value) => Ok(Self::Same(value)),
                    None => Err(wrong_kind(name, &object)),
                };
            }
            match numpy::chunk(name, &object)? {
                Some(chunk) => return Ok(Self::Chunks(Chunks::new(name, [chunk])?)),
                None => object = object.call_method0("tolist")?,
            }
        }
        let is_text = object.is_instance_of::<PyString>()
            || object.is_instance_of::<PyBytes>()
            || object.is_instance_of::<PyByteArray>();
        match object.cast::<PySequence>() {
            Ok(sequence) if !is_text => Ok(Self::Chunks(Chunks::new(
                name,
                [from_sequence(name, sequence)?],
            )?)),
            _ => Err(wrong_kind(name, &object)),
        }
    }

    /// The column that an object of pandas is; `None` if it has no missing values. Its `__array__`
    /// makes them NaN and its integers floats, so that the other values are read alone.
    fn with_missing(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if !object.hasattr("isna")? || !object.hasattr("dropna")? {
            return Ok(None);
        }
        let missing = object.call_method0("isna")?.call_method0("__array__")?;
        let Some(missing) = numpy::chunk(name, &missing)? else {
            return Ok(None);
        };
        let missing = missing.values.slice(0, missing.values.len());
        let InputColumn::I32(missing) = missing else {
            return Ok(None);
        };
        if missing.iter().all(|&missing| missing == 0) {
            return Ok(None);
        }
        let nulls = NullBuffer::from_iter(missing.iter().map(|&missing| missing == 0));
        let known = object.call_method0("dropna")?.call_method0("__array__")?;
        let known = if numpy::is_array(&known)? {
            Self::import(name, &known)?
        } else {
            Self::Same(Value::Bool(false))
        };
        let known = match known {
            Self::Chunks(known) if known.rows() + nulls.null_count() == nulls.len() => known,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "the column `{name}` contradicts its `isna()`"
                )));
            }
        };
        let Some(known) = known.chunks.first() else {
            return Ok(Some(Self::Chunks(Chunks::new(
                name,
                [Chunk::null(nulls.len())],
            )?)));
        };
        let mut next = 0..;
        let rows: Vec<Option<usize>> = nulls
            .iter()
            .map(|is_known| if is_known { next.next() } else { None })
            .collect();
        let values = known.values.picked(rows.into_iter());
        Ok(Some(Self::Chunks(Chunks::new(
            name,
            [Chunk {
                values,
                nulls: Some(nulls),
            }],
        )?)))
    }

    /// The column in the parts of an Arrow column.
    pub fn from_arrays(name: &str, arrays: &[ArrayRef]) -> PyResult<Self> {
        let chunks = arrays
            .iter()
            .map(|array| from_array(name, array))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(Self::Chunks(Chunks::new(name, chunks)?))
    }
}

/// Whether a column has Python's objects, of which Arrow would make all integers floats where some
/// are floats.
fn has_objects(column: &Bound<'_, PyAny>) -> bool {
    let data_type = column
        .getattr(intern!(column.py(), "dtype"))
        .and_then(|data_type| data_type.str());
    data_type.is_ok_and(|name| name == "object")
}

fn kind(object: &Bound<'_, PyAny>) -> String {
    object
        .get_type()
        .name()
        .map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

fn wrong_kind(name: &str, object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "the column `{name}` is of type `{}`, expected a number, a list of numbers or a column of numpy, \
         pandas, polars, pyarrow or anything else that exports Arrow",
        kind(object)
    ))
}

/// The error for something in a list that is no number.
fn wrong_item(name: &str, row: usize, item: &Bound<'_, PyAny>) -> PyErr {
    let kind = kind(item);
    let advice = match kind.as_str() {
        "NAType" | "NaTType" => "expected a number; use None for a missing value",
        "timedelta" | "Timedelta" => "expected a number, such as its `.total_seconds()`",
        "Decimal" => "expected a number or None: convert it with `float`",
        "str" => "that is text, expected a number or None",
        _ => "expected a number or None",
    };
    PyTypeError::new_err(format!(
        "row {row} of the column `{name}` is of type `{kind}`, {advice}"
    ))
}

/// The error for a column whose values are no numbers that the library reads.
pub fn wrong_type(name: &str, data_type: &str, is_text: bool, is_time: bool) -> PyErr {
    let advice = match (is_text, is_time) {
        (true, _) => "that is text, expected numbers",
        (_, true) => {
            "expected seconds, such as the `.dt.total_seconds()` of a difference of times in pandas and polars"
        }
        _ => {
            "convert it to float64 or int64, as with `.astype(\"float64\")` or `.cast(\"float64\")`"
        }
    };
    PyTypeError::new_err(format!(
        "the column `{name}` has the type {data_type}: {advice}"
    ))
}

/// The value of a Python number, or of a scalar of numpy; `None` if the object is neither.
fn number(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if object.is_instance_of::<PyBool>() {
        return Ok(Some(Value::Bool(object.is_truthy()?)));
    }
    if object.is_instance_of::<PyInt>() {
        let integer: Result<i64, PyErr> = object.extract();
        let message = || {
            format!(
                "the column `{name}` has an integer of more than 64 bits; convert it to a float"
            )
        };
        return integer
            .map(|integer| Some(Value::Int(integer)))
            .map_err(|_| PyValueError::new_err(message()));
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Some(Value::Float(float.value())));
    }
    if numpy::is_scalar(object)? {
        let item = object.call_method0("item")?;
        return if numpy::is_scalar(&item)? {
            Ok(None)
        } else {
            number(name, &item)
        };
    }
    Ok(None)
}

/// The numbers of a list; `None` in it is null.
fn from_sequence(name: &str, sequence: &Bound<'_, PySequence>) -> PyResult<Chunk> {
    let mut values = Vec::new();
    for item in sequence.try_iter()? {
        let item = item?;
        values.push(match number(name, &item)? {
            Some(value) => Some(value),
            None if item.is_none() => None,
            None => return Err(wrong_item(name, values.len(), &item)),
        });
        check_rows(name, values.len())?;
    }
    let nulls = Some(NullBuffer::from_iter(values.iter().map(Option::is_some)));
    if values
        .iter()
        .flatten()
        .any(|value| matches!(value, Value::Float(_)))
    {
        let double = |value: &Option<Value>| match value {
            Some(Value::Int(integer)) if integer.unsigned_abs() > MAX_EXACT_INT => {
                Err(PyValueError::new_err(format!(
                    "the column `{name}` has floats, and the integer {integer}, which is not a float"
                )))
            }
            value => Ok(value.as_ref().and_then(Value::to_f64).unwrap_or(0.0)),
        };
        let doubles: ScalarBuffer<f64> = values
            .iter()
            .map(double)
            .collect::<PyResult<Vec<f64>>>()?
            .into();
        let is_int = |value: &Option<Value>| matches!(value, Some(Value::Int(_) | Value::Bool(_)));
        let values = if values.iter().any(is_int) {
            Values::Mixed(Mixed {
                values: doubles,
                is_int: values.iter().map(is_int).collect(),
            })
        } else {
            Values::F64(doubles)
        };
        return Ok(Chunk::new(values, nulls));
    }
    let integer = |value: &Option<Value>| match value {
        Some(Value::Int(integer)) => *integer,
        Some(Value::Bool(truth)) => (*truth).into(),
        _ => 0,
    };
    Ok(Chunk::new(
        Values::I64(values.iter().map(integer).collect::<Vec<i64>>().into()),
        nulls,
    ))
}

/// The values of an Arrow array: in place, if they are of 32 or 64 bits.
fn from_array(name: &str, array: &ArrayRef) -> PyResult<Chunk> {
    fn converted<T: ArrowPrimitiveType, U: ArrowNativeType>(
        array: &ArrayRef,
        convert: impl Fn(T::Native) -> U,
    ) -> ScalarBuffer<U> {
        array
            .as_primitive::<T>()
            .values()
            .iter()
            .map(|&value| convert(value))
            .collect::<Vec<U>>()
            .into()
    }
    check_rows(name, array.len())?;
    let values = match array.data_type() {
        DataType::Int8 => Values::I32(converted::<Int8Type, _>(array, i32::from)),
        DataType::Int16 => Values::I32(converted::<Int16Type, _>(array, i32::from)),
        DataType::Int32 => Values::I32(array.as_primitive::<Int32Type>().values().clone()),
        DataType::Int64 => Values::I64(array.as_primitive::<Int64Type>().values().clone()),
        DataType::UInt8 => Values::I32(converted::<UInt8Type, _>(array, i32::from)),
        DataType::UInt16 => Values::I32(converted::<UInt16Type, _>(array, i32::from)),
        DataType::UInt32 => Values::I64(converted::<UInt32Type, _>(array, i64::from)),
        DataType::UInt64 => Values::I64(unsigned(
            name,
            array.as_primitive::<UInt64Type>().values(),
            array.nulls(),
        )?),
        DataType::Float16 => Values::F64(converted::<Float16Type, _>(array, |half| half.to_f64())),
        DataType::Float32 => Values::F64(converted::<Float32Type, _>(array, f64::from)),
        DataType::Float64 => Values::F64(array.as_primitive::<Float64Type>().values().clone()),
        DataType::Boolean => Values::I32(
            array
                .as_boolean()
                .values()
                .iter()
                .map(i32::from)
                .collect::<Vec<i32>>()
                .into(),
        ),
        DataType::Null => return Ok(Chunk::null(array.len())),
        DataType::Dictionary(..) => return from_dictionary(name, array.as_any_dictionary()),
        DataType::RunEndEncoded(ends, _) => {
            return match ends.data_type() {
                DataType::Int16 => from_runs::<Int16Type>(name, array),
                DataType::Int32 => from_runs::<Int32Type>(name, array),
                _ => from_runs::<Int64Type>(name, array),
            };
        }
        other => {
            let is_text = matches!(
                other,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
            );
            return Err(wrong_type(
                name,
                &other.to_string(),
                is_text,
                other.is_temporal(),
            ));
        }
    };
    Ok(Chunk::new(values, array.nulls().cloned()))
}

/// The values of a dictionary-encoded array, one for each row.
fn from_dictionary(name: &str, array: &dyn AnyDictionaryArray) -> PyResult<Chunk> {
    let dictionary = from_array(name, array.values())?;
    if array.values().is_empty() {
        return Ok(Chunk::null(array.len()));
    }
    let Chunk { values, nulls } = dictionary.at(&array.normalized_keys());
    Ok(Chunk::new(
        values,
        NullBuffer::union(array.keys().nulls(), nulls.as_ref()),
    ))
}

/// The values of a run-end encoded array, one for each row.
fn from_runs<R: RunEndIndexType>(name: &str, array: &ArrayRef) -> PyResult<Chunk> {
    let array = array.as_run::<R>();
    let runs = from_array(name, array.values())?;
    let rows: Vec<usize> = (0..array.len())
        .map(|row| array.run_ends().get_physical_index(row))
        .collect();
    Ok(runs.at(&rows))
}

/// Unsigned integers as signed ones.
pub fn unsigned(
    name: &str,
    values: &[u64],
    nulls: Option<&NullBuffer>,
) -> PyResult<ScalarBuffer<i64>> {
    let is_null = |row: usize| nulls.is_some_and(|nulls| nulls.is_null(row));
    if let Some(row) = (0..values.len()).find(|&row| values[row] > i64::MAX as u64 && !is_null(row))
    {
        let message = format!(
            "the column `{name}` has {} in row {row}, which is more than int64 holds",
            values[row]
        );
        return Err(PyValueError::new_err(message));
    }
    Ok(values
        .iter()
        .map(|&value| value as i64)
        .collect::<Vec<i64>>()
        .into())
}
