//! The memory of numpy's arrays: read in place where the library can, else converted.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::column::{Column, Values, check_rows, unsigned, wrong_type};

/// An array that keeps its memory alive.
struct Owner(#[allow(dead_code, reason = "it is kept, not read")] Py<PyAny>);

impl UnwindSafe for Owner {}
impl RefUnwindSafe for Owner {}

/// The classes of numpy, once it is imported: `ndarray`, and `generic`, of which its scalars are.
static CLASSES: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();

/// Whether the object is a `numpy.ndarray`. Does not import numpy: without it there is no such
/// object.
pub fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    match classes(object.py())? {
        Some([ndarray, _]) => object.is_instance(ndarray.bind(object.py())),
        None => Ok(false),
    }
}

/// Whether the object is one of numpy's scalars.
pub fn is_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
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
pub fn column(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Option<Column>> {
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
        return column(
            name,
            &as_type.call1((array, format!("{native}{converted}"), "C", "unsafe", false))?,
        );
    }
    let values = match kind {
        "i4" => Values::I32(borrowed(array, address, rows)),
        "i8" => Values::I64(borrowed(array, address, rows)),
        "u8" => Values::I64(unsigned(name, &borrowed(array, address, rows), None)?),
        "f8" => Values::F64(borrowed(array, address, rows)),
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
    Ok(Some(Column::new(values, None)))
}

/// The elements of a one-dimensional array where they are.
fn borrowed<T: ArrowNativeType>(
    array: &Bound<'_, PyAny>,
    address: usize,
    rows: usize,
) -> ScalarBuffer<T> {
    let start = match NonNull::new(address as *mut u8) {
        Some(start) if rows > 0 => start,
        _ => return Vec::new().into(),
    };
    let owner = Arc::new(Owner(array.clone().unbind()));
    let bytes = rows * size_of::<T>();
    // SAFETY: numpy says that the array has its elements here, next to each other and aligned, and
    // `owner` keeps it alive. If another thread writes to it meanwhile, the scores of these rows
    // mean nothing, as with numpy's own functions.
    let buffer = unsafe { Buffer::from_custom_allocation(start, bytes, owner) };
    ScalarBuffer::new(buffer, 0, rows)
}
