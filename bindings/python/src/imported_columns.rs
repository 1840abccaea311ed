//! The columns of a Python caller as columns of the library.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, PrimitiveArray, UInt32Array,
    UInt64Array, downcast_run_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;
use job_sort_formula::Value;
use job_sort_formula::rank::InputColumn;
use pyo3::exceptions::{PyImportError, PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PySequence, PyString};

use crate::arrow_and_numpy::{self, guarded};

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
    /// Integers of 32 or 64 bits, or doubles.
    values: ArrayRef,
    /// Whether the number of each row is an integer, if only some are.
    is_int: Option<Vec<bool>>,
}

impl Column {
    pub fn new<T: ArrowPrimitiveType>(mut values: PrimitiveArray<T>) -> Self {
        // what is in a null row may be anything, and would take any time to compute with; of these,
        // 0 is made
        if values.null_count() > 0 {
            values = values.iter().collect();
        }
        Self::of(Arc::new(values))
    }

    fn of(values: ArrayRef) -> Self {
        Self {
            values,
            is_int: None,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.values.len()
    }

    /// The rows that are null; `None` if there are none.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        self.values.nulls().filter(|nulls| nulls.null_count() > 0)
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
        let Column { values, is_int } = match self {
            Self::Same(value) => return InputColumn::Same(value.clone()),
            Self::Column(column) => column,
        };
        match (values.data_type(), is_int) {
            (DataType::Int32, _) => InputColumn::I32(&numbers::<Int32Type>(values)[rows]),
            (DataType::Int64, _) => InputColumn::I64(&numbers::<Int64Type>(values)[rows]),
            (_, None) => InputColumn::F64(&numbers::<Float64Type>(values)[rows]),
            (_, Some(is_int)) => InputColumn::Mixed {
                values: &numbers::<Float64Type>(values)[rows.clone()],
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
        let Some(missing) = missing.values.as_primitive_opt::<Int32Type>() else {
            return Ok(None);
        };
        let is_known = missing.values().iter().map(|missing| *missing == 0);
        let mut known_rows = 0..;
        let rows: UInt32Array = is_known
            .map(|is_known| if is_known { known_rows.next() } else { None })
            .collect();
        if rows.null_count() == 0 {
            return Ok(None);
        }
        let known = object.call_method0("dropna")?.call_method0("__array__")?;
        if arrow_and_numpy::is_numpy_array(&known)?
            && let Self::Column(known) = Self::import(name, &known)?
            // an object may contradict its `isna()`, and the rows below would be out of range
            && known.rows() + rows.null_count() == rows.len()
        {
            let values = guarded(|| take(&known.values, &rows, None))?;
            let is_int_at = |is_int: Vec<bool>| {
                let rows = rows.iter();
                rows.map(|row| row.is_some_and(|row| is_int[row as usize]))
                    .collect()
            };
            return Ok(Some(Self::Column(Column {
                values,
                is_int: known.is_int.map(is_int_at),
            })));
        }
        Err(PyValueError::new_err(format!(
            "the column `{name}` contradicts its `isna()`"
        )))
    }

    fn from_stream(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (_, arrays) = arrow_and_numpy::import_stream(object)?;
        Self::from_arrays(name, &arrays)
    }

    /// The column in the parts of an Arrow column.
    pub fn from_arrays(name: &str, arrays: &[ArrayRef]) -> PyResult<Self> {
        let mut parts = Vec::new();
        let mut rows: usize = 0;
        for array in arrays {
            parts.push(from_array(name, array)?);
            rows = rows.saturating_add(array.len());
        }
        check_rows(name, rows)?;
        let parts: Vec<&dyn Array> = parts.iter().map(|part| &**part).collect();
        Ok(Self::Column(Column::of(match parts.as_slice() {
            [] => Arc::new(Float64Array::new_null(0)),
            parts => guarded(|| concat(parts))?,
        })))
    }
}

fn numbers<T: ArrowPrimitiveType>(values: &ArrayRef) -> &[T::Native] {
    values.as_primitive::<T>().values()
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
            Some(Value::Int(integer)) => Some(*integer),
            Some(Value::Bool(truth)) => Some((*truth).into()),
            _ => None,
        };
        // beside floats, a column holds its integers as doubles
        if has_floats
            && let Some(integer) = integer
            && integer.unsigned_abs() > MAX_EXACT_INT
        {
            return Err(PyValueError::new_err(format!(
                "the column `{name}` has floats, and the integer {integer}, which is not a float"
            )));
        }
        integers.push(integer);
        doubles.push(value.as_ref().and_then(Value::to_f64));
        is_int.push(integer.is_some());
    }
    if !has_floats {
        return Ok(Column::new(Int64Array::from(integers)));
    }
    Ok(Column {
        is_int: Some(is_int).filter(|is_int| is_int.contains(&true)),
        ..Column::new(Float64Array::from(doubles))
    })
}

/// The values of an Arrow array: in place, if they are of 32 or 64 bits.
fn from_array(name: &str, array: &ArrayRef) -> PyResult<ArrayRef> {
    fn same<T: ArrowPrimitiveType>(array: &ArrayRef) -> Column {
        Column::new(array.as_primitive::<T>().clone())
    }
    fn converted<T: ArrowPrimitiveType, U: ArrowPrimitiveType>(
        array: &ArrayRef,
        convert: impl Fn(T::Native) -> U::Native,
    ) -> Column {
        Column::new(array.as_primitive::<T>().unary::<_, U>(convert))
    }
    check_rows(name, array.len())?;
    let column = match array.data_type() {
        DataType::Int8 => converted::<Int8Type, Int32Type>(array, i32::from),
        DataType::Int16 => converted::<Int16Type, Int32Type>(array, i32::from),
        DataType::Int32 => same::<Int32Type>(array),
        DataType::Int64 => same::<Int64Type>(array),
        DataType::UInt8 => converted::<UInt8Type, Int32Type>(array, i32::from),
        DataType::UInt16 => converted::<UInt16Type, Int32Type>(array, i32::from),
        DataType::UInt32 => converted::<UInt32Type, Int64Type>(array, i64::from),
        DataType::UInt64 => Column::new(unsigned(name, array.as_primitive())?),
        DataType::Float16 => converted::<Float16Type, Float64Type>(array, |half| half.to_f64()),
        DataType::Float32 => converted::<Float32Type, Float64Type>(array, f64::from),
        DataType::Float64 => same::<Float64Type>(array),
        DataType::Boolean => {
            let truths = array.as_boolean().iter();
            Column::new(Int32Array::from_iter(
                truths.map(|truth| truth.map(i32::from)),
            ))
        }
        DataType::Null => Column::new(Float64Array::new_null(array.len())),
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            let dictionary = from_array(name, array.values())?;
            return guarded(|| take(&dictionary, array.keys(), None));
        }
        DataType::RunEndEncoded(..) => {
            let (values, rows) = downcast_run_array!(
                array => {
                    let rows = (0..array.len()).map(|row| array.get_physical_index(row) as u32);
                    (array.values().clone(), rows.collect::<UInt32Array>())
                },
                _ => return Ok(Arc::new(Float64Array::new_null(array.len())))
            );
            let values = from_array(name, &values)?;
            return guarded(|| take(&values, &rows, None));
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
    Ok(column.values)
}

/// Unsigned integers as signed ones.
pub fn unsigned(name: &str, values: &UInt64Array) -> PyResult<Int64Array> {
    let mut signed = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        // what is in a null row may be anything
        signed.push(match value.map(i64::try_from) {
            None => None,
            Some(Ok(value)) => Some(value),
            Some(Err(_)) => {
                return Err(PyValueError::new_err(format!(
                    "the column `{name}` has {} in row {row}, which is more than int64 holds",
                    values.value(row)
                )));
            }
        });
    }
    Ok(signed.into())
}
