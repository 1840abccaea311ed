//! Arrow's PyCapsule interface: the C structures of Arrow in Python capsules, imported and exported
//! without a copy.
//!
//! A capsule with one of Arrow's names contains the structure that Arrow specifies; that is the
//! promise of whoever makes such a capsule, and all that the unsafe code here relies on.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayReader, ArrayRef, NullArray, RecordBatch, RecordBatchIterator, make_array,
};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

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
fn guarded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> PyResult<T> {
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
