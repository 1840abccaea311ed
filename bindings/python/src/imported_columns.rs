//! The columns of a Python caller as columns of the library.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, downcast_run_array};
use arrow_buffer::{ArrowNativeType, NullBuffer, NullBufferBuilder, ScalarBuffer};
use arrow_schema::DataType;
use job_sort_formula::Value;
use job_sort_formula::rank::InputColumn;
use pyo3::exceptions::{PyImportError, PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PySequence, PyString};

use crate::arrow_and_numpy;

/// The most rows of a column.
pub const MAX_ROWS: usize = i32::MAX as usize;

/// The integers up to here are also doubles.
const MAX_EXACT_INT: u64 = 1 << 53;

/// One input of the formula.
pub enum Input {
    /// The same value for every job.
    Same(Value),
    /// A value for each job.
    Column(Column),
}

/// Columns with their names.
pub type Inputs = Vec<(String, Input)>;

/// A value for each job.
pub struct Column {
    /// The values; 0 in a row that is null.
    values: Values,
    /// The rows that are null; `None` if there are none.
    pub nulls: Option<NullBuffer>,
}

impl Column {
    pub fn new(values: Values, nulls: Option<NullBuffer>) -> Self {
        if nulls.as_ref().is_none_or(|nulls| nulls.null_count() == 0) {
            return Self {
                values,
                nulls: None,
            };
        }
        let rows: Vec<usize> = (0..values.len()).collect();
        // what is in a null row may be anything, and would take any time to compute with
        let column = Self {
            values,
            nulls: None,
        };
        column.at(&rows, nulls.as_ref())
    }

    /// A column in which every row is null.
    fn null(rows: usize) -> Self {
        let values = Values::F64(vec![0.0; rows].into());
        Self::new(values, Some(NullBuffer::new_null(rows)))
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.values.len()
    }

    /// A column with these rows of this one, null where `nulls` is too.
    fn at(&self, rows: &[usize], nulls: Option<&NullBuffer>) -> Self {
        let mut known = Vec::with_capacity(rows.len());
        for (place, &row) in rows.iter().enumerate() {
            let is_known = nulls.is_none_or(|nulls| nulls.is_valid(place))
                && self.nulls.as_ref().is_none_or(|own| own.is_valid(row));
            known.push(if is_known { Some(row) } else { None });
        }
        let nulls = NullBuffer::from_iter(known.iter().map(Option::is_some));
        Self {
            values: self.values.picked(&known),
            nulls: Some(nulls).filter(|nulls| nulls.null_count() > 0),
        }
    }

    /// The parts of a column, of the same type, one after the other.
    fn joined(name: &str, mut parts: Vec<Self>) -> PyResult<Self> {
        let mut rows: usize = 0;
        for part in &parts {
            rows = rows.saturating_add(part.rows());
        }
        check_rows(name, rows)?;
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        let mut nulls = NullBufferBuilder::new(rows);
        for part in &parts {
            match &part.nulls {
                Some(nulls_of_part) => nulls.append_buffer(nulls_of_part),
                None => nulls.append_n_non_nulls(part.rows()),
            }
        }
        let (mut i32s, mut i64s, mut f64s) = (Vec::new(), Vec::new(), Vec::new());
        for part in &parts {
            match &part.values {
                Values::I32(values) => i32s.extend_from_slice(values),
                Values::I64(values) => i64s.extend_from_slice(values),
                Values::F64(values) => f64s.extend_from_slice(values),
                // Arrow's columns have one type
                Values::Mixed { values, .. } => f64s.extend_from_slice(values),
            }
        }
        let values = if !i32s.is_empty() {
            Values::I32(i32s.into())
        } else if !i64s.is_empty() {
            Values::I64(i64s.into())
        } else {
            Values::F64(f64s.into())
        };
        Ok(Self {
            values,
            nulls: nulls.finish(),
        })
    }
}

/// The values of a column, in the types that the library reads.
pub enum Values {
    I32(ScalarBuffer<i32>),
    I64(ScalarBuffer<i64>),
    F64(ScalarBuffer<f64>),
    /// Numbers of which some are integers and the others floats.
    Mixed {
        values: ScalarBuffer<f64>,
        /// Whether the number of each row is an integer.
        is_int: Vec<bool>,
    },
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) | Self::Mixed { values, .. } => values.len(),
        }
    }

    /// The values of these rows, and 0 for none.
    fn picked(&self, rows: &[Option<usize>]) -> Self {
        fn of<T: Copy + Default>(values: &[T], rows: &[Option<usize>]) -> Vec<T> {
            let mut picked = Vec::with_capacity(rows.len());
            for row in rows {
                picked.push(match row {
                    Some(row) => values[*row],
                    None => T::default(),
                });
            }
            picked
        }
        match self {
            Self::I32(values) => Self::I32(of(values, rows).into()),
            Self::I64(values) => Self::I64(of(values, rows).into()),
            Self::F64(values) => Self::F64(of(values, rows).into()),
            Self::Mixed { values, is_int } => Self::Mixed {
                values: of(values, rows).into(),
                is_int: of(is_int, rows),
            },
        }
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
    /// Some rows of the column.
    pub fn slice(&self, rows: Range<usize>) -> InputColumn<'_> {
        let values = match self {
            Self::Same(value) => return InputColumn::Same(value.clone()),
            Self::Column(column) => &column.values,
        };
        match values {
            Values::I32(values) => InputColumn::I32(&values[rows]),
            Values::I64(values) => InputColumn::I64(&values[rows]),
            Values::F64(values) => InputColumn::F64(&values[rows]),
            Values::Mixed { values, is_int } => InputColumn::Mixed {
                values: &values[rows.clone()],
                is_int: &is_int[rows],
            },
        }
    }

    /// The column that a Python object is.
    pub fn import(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // in this order because asking for an attribute that is missing takes longer than a small
        // column
        if !arrow_and_numpy::is_numpy_array(object)? {
            if object.hasattr(intern!(object.py(), "__arrow_c_array__"))? {
                return Self::from_arrays(name, &[arrow_and_numpy::import_array(object)?]);
            }
            if let Some(value) = number(name, object)? {
                return Ok(Self::Same(value));
            }
            if object.hasattr(intern!(object.py(), "__arrow_c_stream__"))? && !has_objects(object) {
                match Self::from_stream(name, object) {
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
        if !arrow_and_numpy::is_numpy_array(&object)? && object.hasattr("__array__")? {
            if let Some(column) = Self::with_missing(name, &object)? {
                return Ok(column);
            }
            object = object.call_method0("__array__")?;
        }
        if arrow_and_numpy::is_numpy_array(&object)? {
            // an array without dimensions is a number, which every job has
            if object.getattr("ndim")?.extract::<usize>()? == 0 {
                object = object.call_method0("item")?;
                return match number(name, &object)? {
                    Some(value) => Ok(Self::Same(value)),
                    None => Err(wrong_kind(name, &object)),
                };
            }
            match arrow_and_numpy::numpy_column(name, &object)? {
                Some(column) => return Ok(Self::Column(column)),
                // an array of Python objects has their addresses, not numbers
                None => object = object.call_method0("tolist")?,
            }
        }
        match object.cast::<PySequence>() {
            Ok(sequence) if !is_text(&object) => Ok(Self::Column(from_sequence(name, sequence)?)),
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
        let Some(missing) = arrow_and_numpy::numpy_column(name, &missing)? else {
            return Ok(None);
        };
        let Values::I32(missing) = missing.values else {
            return Ok(None);
        };
        if missing.iter().all(|&missing| missing == 0) {
            return Ok(None);
        }
        let nulls = NullBuffer::from_iter(missing.iter().map(|&missing| missing == 0));
        let known = object.call_method0("dropna")?.call_method0("__array__")?;
        let mut values = None;
        if arrow_and_numpy::is_numpy_array(&known)?
            && let Self::Column(known) = Self::import(name, &known)?
            // an object may contradict its `isna()`, and the rows below would be out of range
            && known.rows() + nulls.null_count() == nulls.len()
        {
            values = Some(known.values);
        }
        let Some(values) = values else {
            return Err(PyValueError::new_err(format!(
                "the column `{name}` contradicts its `isna()`"
            )));
        };
        let mut next = 0..;
        let mut rows = Vec::new();
        for is_known in &nulls {
            rows.push(if is_known { next.next() } else { None });
        }
        Ok(Some(Self::Column(Column {
            values: values.picked(&rows),
            nulls: Some(nulls),
        })))
    }

    fn from_stream(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (_, arrays) = arrow_and_numpy::import_stream(object)?;
        Self::from_arrays(name, &arrays)
    }

    /// The column in the parts of an Arrow column.
    pub fn from_arrays(name: &str, arrays: &[ArrayRef]) -> PyResult<Self> {
        let mut parts = Vec::new();
        for array in arrays {
            parts.push(from_array(name, array)?);
        }
        Ok(Self::Column(Column::joined(name, parts)?))
    }
}

/// Whether a column has Python's objects, of which Arrow would make all integers floats where some
/// are floats.
fn has_objects(column: &Bound<'_, PyAny>) -> bool {
    let Ok(data_type) = column.getattr(intern!(column.py(), "dtype")) else {
        return false;
    };
    data_type.str().is_ok_and(|name| name == "object")
}

/// Whether an object is a text or bytes, and no column although it is a sequence.
pub fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
}

fn kind(object: &Bound<'_, PyAny>) -> String {
    match object.get_type().name() {
        Ok(name) => name.to_string(),
        Err(_) => "object".to_owned(),
    }
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
    // before `int`, from which `bool` is derived in Python
    if object.is_instance_of::<PyBool>() {
        return Ok(Some(Value::Bool(object.is_truthy()?)));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract() {
            Ok(integer) => Ok(Some(Value::Int(integer))),
            Err(_) => Err(PyValueError::new_err(format!(
                "the column `{name}` has an integer of more than 64 bits; convert it to a float"
            ))),
        };
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Some(Value::Float(float.value())));
    }
    if arrow_and_numpy::is_numpy_scalar(object)? {
        let item = object.call_method0("item")?;
        return if arrow_and_numpy::is_numpy_scalar(&item)? {
            Ok(None)
        } else {
            number(name, &item)
        };
    }
    Ok(None)
}

/// The numbers of a list; `None` in it is null.
fn from_sequence(name: &str, sequence: &Bound<'_, PySequence>) -> PyResult<Column> {
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
    let mut all = values.iter();
    let has_floats = all.any(|value| matches!(value, Some(Value::Float(_))));
    let (mut integers, mut doubles, mut is_int) = (Vec::new(), Vec::new(), Vec::new());
    for value in &values {
        let integer = match value {
            Some(Value::Int(integer)) => *integer,
            Some(Value::Bool(truth)) => (*truth).into(),
            _ => 0,
        };
        // beside floats, a column holds its integers as doubles
        if has_floats && integer.unsigned_abs() > MAX_EXACT_INT {
            return Err(PyValueError::new_err(format!(
                "the column `{name}` has floats, and the integer {integer}, which is not a float"
            )));
        }
        integers.push(integer);
        doubles.push(value.as_ref().and_then(Value::to_f64).unwrap_or(0.0));
        is_int.push(matches!(value, Some(Value::Int(_) | Value::Bool(_))));
    }
    let nulls = NullBuffer::from_iter(values.iter().map(Option::is_some));
    let values = if !has_floats {
        Values::I64(integers.into())
    } else if is_int.contains(&true) {
        let values = doubles.into();
        Values::Mixed { values, is_int }
    } else {
        Values::F64(doubles.into())
    };
    Ok(Column::new(values, Some(nulls)))
}

/// The values of an Arrow array: in place, if they are of 32 or 64 bits.
fn from_array(name: &str, array: &ArrayRef) -> PyResult<Column> {
    fn converted<T: ArrowPrimitiveType, U: ArrowNativeType>(
        array: &ArrayRef,
        convert: impl Fn(T::Native) -> U,
    ) -> ScalarBuffer<U> {
        let mut converted = Vec::with_capacity(array.len());
        for value in array.as_primitive::<T>().values() {
            converted.push(convert(*value));
        }
        converted.into()
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
        DataType::Boolean => {
            let truths = array.as_boolean().values().iter().map(i32::from);
            Values::I32(truths.collect::<Vec<i32>>().into())
        }
        DataType::Null => return Ok(Column::null(array.len())),
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            let dictionary = from_array(name, array.values())?;
            // an empty dictionary has no keys
            if dictionary.rows() == 0 {
                return Ok(Column::null(array.len()));
            }
            return Ok(dictionary.at(&array.normalized_keys(), array.keys().nulls()));
        }
        DataType::RunEndEncoded(..) => {
            let (values, rows) = downcast_run_array!(
                array => {
                    let rows = (0..array.len()).map(|row| array.get_physical_index(row));
                    (array.values().clone(), rows.collect::<Vec<usize>>())
                },
                _ => return Ok(Column::null(array.len()))
            );
            return Ok(from_array(name, &values)?.at(&rows, None));
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
    Ok(Column::new(values, array.nulls().cloned()))
}

/// Unsigned integers as signed ones.
pub fn unsigned(
    name: &str,
    values: &[u64],
    nulls: Option<&NullBuffer>,
) -> PyResult<ScalarBuffer<i64>> {
    let mut signed = Vec::with_capacity(values.len());
    for (row, &value) in values.iter().enumerate() {
        // what is in a null row may be anything
        if value > i64::MAX as u64 && !nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return Err(PyValueError::new_err(format!(
                "the column `{name}` has {value} in row {row}, which is more than int64 holds"
            )));
        }
        signed.push(value as i64);
    }
    Ok(signed.into())
}
