//! The arrays of others, without a copy where that can be: Arrow's PyCapsule interface, the C structures
//! of Arrow in Python capsules, imported and exported; the columns of a `Table` as Arrow columns; and
//! the memory of numpy's arrays, read in place where the library can, else converted.
//!
//! A capsule with one of Arrow's names contains the structure that Arrow specifies; that is the
//! promise of whoever makes such a capsule, and with the memory of numpy's arrays all that the unsafe
//! code here relies on.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, ListBuilder};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayReader, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray,
    NullArray, PrimitiveArray, RecordBatch, RecordBatchIterator, make_array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict};

use crate::imported_columns::{Column, check_rows, unsigned, wrong_type};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The two capsules of an array: its type and its data.
pub type ArrayCapsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

fn wrong(error: &ArrowError) -> PyErr {
    // polars's own types
    if let ArrowError::CDataInterface(message) = error
        && ["_pli128", "_plu128"]
            .iter()
            .any(|format| message.contains(format))
    {
        let message =
            "integers of 128 bits are not read: convert them, as with `.cast(polars.Int64)`";
        return PyTypeError::new_err(message);
    }
    PyValueError::new_err(format!("the Arrow data cannot be read: {error}"))
}

/// Runs code of Arrow that panics on data that breaks its rules.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| wrong(&error)),
        Err(_) => Err(PyValueError::new_err(
            "the Arrow data cannot be read: it breaks the rules of Arrow's C data interface",
        )),
    }
}

/// The array that `object.__arrow_c_array__()` exports.
pub fn import_array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let (schema, array): ArrayCapsules<'_> = object
        .call_method0(intern!(object.py(), "__arrow_c_array__"))?
        .extract()?;
    let schema = schema
        .pointer_checked(Some(SCHEMA))?
        .cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: by its name the capsule contains an `ArrowSchema`, and it lives until the end of this
    // function
    let schema = unsafe { schema.as_ref() };
    // SAFETY: by its name the capsule contains an `ArrowArray`; the capsule keeps a released one
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    if schema.release().is_none() || array.is_released() {
        return Err(PyValueError::new_err(
            "the Arrow array was already consumed",
        ));
    }
    // SAFETY: whoever exports an array promises that it agrees with its schema
    guarded(|| unsafe { from_ffi(array, schema) }.map(make_array))
}

/// The arrays that `object.__arrow_c_stream__()` exports, and their type.
pub fn import_stream(object: &Bound<'_, PyAny>) -> PyResult<(DataType, Vec<ArrayRef>)> {
    let capsule: Bound<'_, PyCapsule> = object.call_method0("__arrow_c_stream__")?.extract()?;
    let stream = capsule
        .pointer_checked(Some(STREAM))?
        .cast::<FFI_ArrowArrayStream>();
    // SAFETY: by its name the capsule contains an `ArrowArrayStream`; the capsule keeps a released
    // one
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let reader = guarded(|| ArrayStreamReader::try_new(stream))?;
    let data_type = reader.field().data_type().clone();
    if data_type == DataType::Null {
        // polars gives such arrays a buffer, which they must not have
        return Ok((data_type, vec![Arc::new(NullArray::new(object.len()?))]));
    }
    Ok((data_type, guarded(|| reader.collect::<Result<_, _>>())?))
}

/// The capsules of an array.
pub fn export_array<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<ArrayCapsules<'py>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(|error| wrong(&error))?;
    Ok((
        PyCapsule::new_with_value(py, schema, SCHEMA)?,
        PyCapsule::new_with_value(py, array, ARRAY)?,
    ))
}

/// The capsule of a stream with one record batch.
pub fn export_stream<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// The stream of Arrow that a dict of lists is: of integers, floats, truth values, texts, or lists
/// of texts, in which None is null.
#[pyfunction]
pub fn exported<'py>(columns: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyCapsule>> {
    let mut named = Vec::new();
    for (name, values) in columns {
        named.push((name.extract::<String>()?, array(&values)?, true));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(named)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    export_stream(columns.py(), &batch)
}

fn array(values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let mut is_unknown = true;
    for value in values.try_iter()? {
        is_unknown &= value?.is_none();
    }
    if is_unknown {
        return Ok(Arc::new(LargeStringArray::new_null(values.len()?)));
    }
    // in this order, as a truth value is an integer in Python, and an integer is taken for a float
    if let Ok(truths) = values.extract::<Vec<Option<bool>>>() {
        return Ok(Arc::new(BooleanArray::from(truths)));
    }
    if let Ok(integers) = values.extract::<Vec<Option<i64>>>() {
        return Ok(Arc::new(Int64Array::from(integers)));
    }
    if let Ok(floats) = values.extract::<Vec<Option<f64>>>() {
        return Ok(Arc::new(Float64Array::from(floats)));
    }
    if let Ok(paths) = values.extract::<Vec<Vec<String>>>() {
        let mut lists = ListBuilder::new(LargeStringBuilder::new());
        for path in paths {
            lists.append_value(path.into_iter().map(Some));
        }
        return Ok(Arc::new(lists.finish()));
    }
    let texts: Vec<Option<String>> = values.extract()?;
    Ok(Arc::new(LargeStringArray::from(texts)))
}

/// An array that keeps its memory alive.
struct Owner(#[allow(dead_code, reason = "it is kept, not read")] Py<PyAny>);

impl UnwindSafe for Owner {}
impl RefUnwindSafe for Owner {}

/// The classes of numpy, once it is imported: `ndarray`, and `generic`, of which its scalars are.
static CLASSES: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();

/// Whether the object is a `numpy.ndarray`. Does not import numpy: without it there is no such
/// object.
pub fn is_numpy_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    match classes(object.py())? {
        Some([ndarray, _]) => object.is_instance(ndarray.bind(object.py())),
        None => Ok(false),
    }
}

/// Whether the object is one of numpy's scalars.
pub fn is_numpy_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    match classes(object.py())? {
        Some([_, generic]) => object.is_instance(generic.bind(object.py())),
        None => Ok(false),
    }
}

fn classes(py: Python<'_>) -> PyResult<Option<&[Py<PyAny>; 2]>> {
    if let Some(classes) = CLASSES.get(py) {
        return Ok(Some(classes));
    }
    let modules = py
        .import("sys")?
        .getattr("modules")?
        .cast_into::<PyDict>()?;
    let Some(numpy) = modules.get_item("numpy")? else {
        return Ok(None);
    };
    let classes = [
        numpy.getattr("ndarray")?.unbind(),
        numpy.getattr("generic")?.unbind(),
    ];
    Ok(Some(CLASSES.get_or_init(py, || classes)))
}

/// The values of an array; `None` if its elements are Python objects.
pub fn numpy_column(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Option<Column>> {
    if array.hasattr("mask")? {
        let message = format!(
            "the column `{name}` is a masked array: pass a pyarrow array, or its `filled(…)`"
        );
        return Err(PyTypeError::new_err(message));
    }
    // of the class `ndarray`, because a class derived from it could say anything
    let Some([ndarray, _]) = classes(array.py())? else {
        return Err(PyTypeError::new_err("numpy is not imported"));
    };
    let interface = ndarray
        .bind(array.py())
        .getattr("__array_interface__")?
        .call_method1("__get__", (array,))?;
    let code: String = interface.get_item("typestr")?.extract()?;
    let shape: Vec<usize> = interface.get_item("shape")?.extract()?;
    let &[rows] = shape.as_slice() else {
        let dimensions = shape.len();
        return Err(PyValueError::new_err(format!(
            "the column `{name}` has {dimensions} dimensions, expected 1"
        )));
    };
    check_rows(name, rows)?;
    let (order, kind) = code.split_at(1.min(code.len()));
    if kind.starts_with('O') {
        return Ok(None);
    }
    let (address, _): (usize, bool) = interface.get_item("data")?.extract()?;
    let strides: Option<(isize,)> = interface.get_item("strides")?.extract()?;
    let size: usize = kind.get(1..).unwrap_or_default().parse().unwrap_or(0);
    let native = if cfg!(target_endian = "little") {
        "<"
    } else {
        ">"
    };
    let is_in_order = match strides {
        Some((stride,)) => stride == size as isize,
        None => true,
    };
    let is_dense = is_in_order && address.is_multiple_of(size.max(1));
    // what numpy converts to a type that the library reads, or to one whose numbers follow each
    // other
    let converted = match kind {
        "b1" | "i1" | "i2" | "u1" | "u2" => Some("i4"),
        "u4" => Some("i8"),
        "f2" | "f4" => Some("f8"),
        "i4" | "i8" | "u8" | "f8" if order != native || (rows > 0 && !is_dense) => Some(kind),
        _ => None,
    };
    if let Some(converted) = converted {
        let as_type = ndarray.bind(array.py()).getattr("astype")?;
        return numpy_column(
            name,
            &as_type.call1((array, format!("{native}{converted}"), "C", "unsafe", false))?,
        );
    }
    let column = match kind {
        "i4" => Column::new(borrowed::<Int32Type>(array, address, rows)),
        "i8" => Column::new(borrowed::<Int64Type>(array, address, rows)),
        "u8" => Column::new(unsigned(name, &borrowed(array, address, rows))?),
        "f8" => Column::new(borrowed::<Float64Type>(array, address, rows)),
        _ => {
            let dtype = match array.getattr("dtype") {
                Ok(dtype) => dtype.to_string(),
                Err(_) => code.clone(),
            };
            let is_text = kind.starts_with(['S', 'U']);
            let is_time = kind.starts_with(['m', 'M']);
            return Err(wrong_type(name, &dtype, is_text, is_time));
        }
    };
    Ok(Some(column))
}

/// The elements of a one-dimensional array where they are.
fn borrowed<T: ArrowPrimitiveType>(
    array: &Bound<'_, PyAny>,
    address: usize,
    rows: usize,
) -> PrimitiveArray<T> {
    let start = match NonNull::new(address as *mut u8) {
        Some(start) if rows > 0 => start,
        _ => return PrimitiveArray::new_null(0),
    };
    let owner = Arc::new(Owner(array.clone().unbind()));
    let bytes = rows * size_of::<T::Native>();
    // SAFETY: numpy says that the array has its elements here, next to each other and aligned, and
    // `owner` keeps it alive. If another thread writes to it meanwhile, the scores of these rows
    // mean nothing, as with numpy's own functions.
    let buffer = unsafe { Buffer::from_custom_allocation(start, bytes, owner) };
    PrimitiveArray::new(ScalarBuffer::new(buffer, 0, rows), None)
}
