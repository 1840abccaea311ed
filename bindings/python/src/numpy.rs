//! The memory of numpy's arrays: read in place where the library can, else converted.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::column::{Chunk, Values, check_rows, unsigned, wrong_type};

/// An array that keeps its memory alive.
struct Owner(#[allow(dead_code, reason = "it is kept, not read")] Py<PyAny>);

impl UnwindSafe for Owner {}
impl RefUnwindSafe for Owner {}

/// The elements of a one-dimensional array.
struct Elements<'py> {
    array: Bound<'py, PyAny>,
    address: usize,
    rows: usize,
    /// From one element to the next, in bytes.
    stride: isize,
}

/// The classes of numpy, once it is imported: `ndarray`, and `generic`, of which its scalars are.
static CLASSES: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();

/// Whether the object is a `numpy.ndarray`. Does not import numpy: without it there is no such object.
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
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    let Some(numpy) = modules.get_item("numpy")? else { return Ok(None) };
    let class = |name| numpy.getattr(name).map(Bound::unbind);
    CLASSES.get_or_try_init(py, || Ok([class("ndarray")?, class("generic")?])).map(Some)
}

/// The values of an array; `None` if its elements are Python objects.
pub fn chunk(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Option<Chunk>> {
    if array.hasattr("mask")? {
        let message = format!("the column `{name}` is a masked array: pass a pyarrow array, or its `filled(…)`");
        return Err(PyTypeError::new_err(message));
    }
    // of the class `ndarray`, because a class derived from it could say anything
    let [ndarray, _] = classes(array.py())?.ok_or_else(|| PyTypeError::new_err("numpy is not imported"))?;
    let interface = ndarray.bind(array.py()).getattr("__array_interface__")?.call_method1("__get__", (array,))?;
    let code: String = interface.get_item("typestr")?.extract()?;
    let shape: Vec<usize> = interface.get_item("shape")?.extract()?;
    let &[rows] = shape.as_slice() else {
        let dimensions = shape.len();
        return Err(PyValueError::new_err(format!("the column `{name}` has {dimensions} dimensions, expected 1")));
    };
    check_rows(name, rows)?;
    let (address, _): (usize, bool) = interface.get_item("data")?.extract()?;
    let strides: Option<(isize,)> = interface.get_item("strides")?.extract()?;
    let (order, kind) = code.split_at(1.min(code.len()));
    let native = if cfg!(target_endian = "little") { "<" } else { ">" };
    if kind == "f2" {
        return chunk(name, &array.call_method1("astype", ("float32",))?);
    }
    if order != native && order != "|" && kind.starts_with(['i', 'u', 'f']) {
        let dtype = array.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
        return chunk(name, &array.call_method1("astype", (dtype,))?);
    }
    let size: usize = kind.get(1..).and_then(|size| size.parse().ok()).unwrap_or(0);
    let stride = strides.map_or(size as isize, |(stride,)| stride);
    let elements = Elements { array: array.clone(), address, rows, stride };
    if kind.starts_with('O') {
        return Ok(None);
    }
    let values = match kind {
        _ if order != native && order != "|" => None,
        "b1" => Some(Values::I32(elements.converted(|value: u8| i32::from(value != 0)))),
        "i1" => Some(Values::I32(elements.converted(|value: i8| value.into()))),
        "i2" => Some(Values::I32(elements.converted(|value: i16| value.into()))),
        "i4" => Some(Values::I32(elements.borrowed())),
        "i8" => Some(Values::I64(elements.borrowed())),
        "u1" => Some(Values::I32(elements.converted(|value: u8| value.into()))),
        "u2" => Some(Values::I32(elements.converted(|value: u16| value.into()))),
        "u4" => Some(Values::I64(elements.converted(|value: u32| value.into()))),
        "u8" => Some(Values::I64(unsigned(name, &elements.converted(|value: u64| value), None)?)),
        "f4" => Some(Values::F64(elements.converted(|value: f32| value.into()))),
        "f8" => Some(Values::F64(elements.borrowed())),
        _ => None,
    };
    let values = values.ok_or_else(|| {
        let dtype = array.getattr("dtype").map(|dtype| dtype.to_string()).unwrap_or_else(|_| code.clone());
        wrong_type(name, &dtype, kind.starts_with(['S', 'U']), kind.starts_with(['m', 'M']))
    })?;
    Ok(Some(Chunk { values, nulls: None }))
}

impl Elements<'_> {
    /// The elements where they are; a copy if they do not follow each other or are misaligned.
    fn borrowed<T: ArrowNativeType>(&self) -> ScalarBuffer<T> {
        let is_dense = self.stride == size_of::<T>() as isize && self.address.is_multiple_of(align_of::<T>());
        match NonNull::new(self.address as *mut u8) {
            Some(start) if is_dense && self.rows > 0 => {
                let owner = Arc::new(Owner(self.array.clone().unbind()));
                let bytes = self.rows * size_of::<T>();
                // SAFETY: numpy says that the array has its elements here, and `owner` keeps it alive. If another thread
                // writes to it meanwhile, the scores of these rows mean nothing, as with numpy's own functions.
                let buffer = unsafe { Buffer::from_custom_allocation(start, bytes, owner) };
                ScalarBuffer::new(buffer, 0, self.rows)
            }
            _ => self.converted(|value| value),
        }
    }

    fn converted<T: ArrowNativeType, U: ArrowNativeType>(&self, convert: impl Fn(T) -> U) -> ScalarBuffer<U> {
        let element = |row: usize| {
            let address = self.address.wrapping_add_signed(self.stride.wrapping_mul(row as isize));
            // SAFETY: numpy says that the array has an element in each row, which need not be aligned
            unsafe { (address as *const T).read_unaligned() }
        };
        (0..self.rows).map(|row| convert(element(row))).collect::<Vec<U>>().into()
    }
}
