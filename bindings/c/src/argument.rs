//! What a C caller passes: every pointer, length and text is checked here before it is used.

use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use crate::error_handles::{jsf_error, jsf_status};

/// The length of a text that ends with a NUL (`JSF_NUL_TERMINATED` in the header).
pub const NUL_TERMINATED: usize = usize::MAX;

fn check<T>(pointer: *const T, name: &str) -> Result<(), jsf_error> {
    if pointer.is_null() {
        return Err(jsf_error::argument(format!("`{name}` is null")));
    }
    if !pointer.is_aligned() {
        let needed = align_of::<T>();
        return Err(jsf_error::argument(format!(
            "`{name}` is misaligned, expected a multiple of {needed} bytes"
        )));
    }
    Ok(())
}

/// A value behind a pointer.
///
/// # Safety
/// `pointer` is null, misaligned, or points to a `T` that lives for `'a` and is not changed
/// meanwhile.
pub unsafe fn borrow<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, jsf_error> {
    check(pointer, name)?;
    // SAFETY: it is neither null nor misaligned, so it points to a `T`
    Ok(unsafe { &*pointer })
}

/// A value behind a pointer, to be changed.
///
/// # Safety
/// `pointer` is null, misaligned, or points to a `T` that lives for `'a` and that nobody else uses
/// meanwhile.
pub unsafe fn borrow_mut<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, jsf_error> {
    check(pointer, name)?;
    // SAFETY: it is neither null nor misaligned, so it points to a `T`
    Ok(unsafe { &mut *pointer })
}

/// The name at an index; null beyond the last one.
pub fn name_at(names: &[CString], index: usize) -> *const c_char {
    match names.get(index) {
        Some(name) => name.as_ptr(),
        None => ptr::null(),
    }
}

/// Memory of the caller for a result. It may never have been written, so it is not read.
#[derive(Debug)]
#[repr(transparent)]
pub struct Unwritten<T>(MaybeUninit<T>);

impl<T> Unwritten<T> {
    /// Writes the result.
    pub fn write(&mut self, result: T) {
        self.0.write(result);
    }
}

/// For [`score_columns`](job_sort_formula::Program::score_columns).
impl From<f64> for Unwritten<f64> {
    fn from(score: f64) -> Self {
        Self(MaybeUninit::new(score))
    }
}

/// A place for a result.
///
/// # Safety
/// `pointer` is null, misaligned, or points to memory for a `T` that nobody else uses for `'a`.
pub unsafe fn out<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut Unwritten<T>, jsf_error> {
    check(pointer, name)?;
    // SAFETY: it is neither null nor misaligned, so it points to memory for a `T`, which may have
    // any content
    Ok(unsafe { &mut *pointer.cast() })
}

/// A place for a result that is not wanted if the pointer is null.
///
/// # Safety
/// As for [`out`].
pub unsafe fn optional_out<'a, T>(
    pointer: *mut T,
    name: &str,
) -> Result<Option<&'a mut Unwritten<T>>, jsf_error> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller of this function promises
    Ok(Some(unsafe { out(pointer, name) }?))
}

/// The number of bytes of an array.
fn check_array<T>(pointer: *const T, length: usize, name: &str) -> Result<(), jsf_error> {
    check(pointer, name)?;
    // a slice of Rust has at most so many bytes
    if length.saturating_mul(size_of::<T>()) > isize::MAX as usize {
        return Err(jsf_error::argument(format!(
            "`{name}` has {length} elements, more than fit into memory"
        )));
    }
    Ok(())
}

/// An array that is read. Its pointer may be null if it is empty.
///
/// # Safety
/// `pointer` is null, misaligned, or points to `length` values that live for `'a` and are not
/// changed meanwhile.
pub unsafe fn array<'a, T>(
    pointer: *const T,
    length: usize,
    name: &str,
) -> Result<&'a [T], jsf_error> {
    // a slice of Rust needs an address even then, which C may leave null
    if length == 0 {
        return Ok(&[]);
    }
    check_array(pointer, length, name)?;
    // SAFETY: it is neither null nor misaligned, so there are `length` values, and their size fits
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// An array that is written. Its pointer may be null if it is empty.
///
/// # Safety
/// `pointer` is null, misaligned, or points to memory for `length` values that nobody else uses for
/// `'a`.
pub unsafe fn array_out<'a, T>(
    pointer: *mut T,
    length: usize,
    name: &str,
) -> Result<&'a mut [Unwritten<T>], jsf_error> {
    if length == 0 {
        return Ok(&mut []);
    }
    check_array(pointer, length, name)?;
    // SAFETY: it is neither null nor misaligned, so there is memory for `length` values, which may
    // have any content, and its size fits
    Ok(unsafe { slice::from_raw_parts_mut(pointer.cast(), length) })
}

/// The addresses of an array.
pub fn addresses<T>(array: &[T]) -> Range<usize> {
    let start = array.as_ptr().addr();
    start..start + size_of_val(array)
}

/// Whether an array has a byte in common with one of these.
pub fn overlaps<T>(arrays: &[Range<usize>], array: &[T]) -> bool {
    overlaps_range(arrays, &addresses(array))
}

fn overlaps_range(arrays: &[Range<usize>], array: &Range<usize>) -> bool {
    let mut arrays = arrays.iter();
    arrays.any(|other| other.start < array.end && array.start < other.end)
}

/// Whether two of several arrays have a byte in common.
pub fn any_overlap(mut arrays: &[Range<usize>]) -> bool {
    while let [array, rest @ ..] = arrays {
        if overlaps_range(rest, array) {
            return true;
        }
        arrays = rest;
    }
    false
}

/// Bytes, whose pointer may be null if there are none.
///
/// # Safety
/// `pointer` is null or points to `length` bytes, or to bytes up to a NUL if `length` is
/// [`NUL_TERMINATED`]; they live for `'a` and are not changed meanwhile.
pub unsafe fn bytes<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<&'a [u8], jsf_error> {
    if length == NUL_TERMINATED {
        check(pointer, name)?;
        // SAFETY: it is not null, so it points to bytes up to a NUL
        return Ok(unsafe { CStr::from_ptr(pointer) }.to_bytes());
    }
    // SAFETY: as the caller of this function promises; any byte is a valid `u8`
    unsafe { array(pointer.cast(), length, name) }
}

/// A text in UTF-8.
///
/// # Safety
/// As for [`bytes`].
pub unsafe fn text<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<&'a str, jsf_error> {
    // SAFETY: as the caller of this function promises
    std::str::from_utf8(unsafe { bytes(pointer, length, name) }?).map_err(|error| {
        jsf_error::new(
            jsf_status::Utf8,
            format!("`{name}` is not UTF-8 at byte {}", error.valid_up_to()),
        )
    })
}

/// A text in UTF-8 that must be given, even if it is empty.
///
/// # Safety
/// As for [`bytes`].
pub unsafe fn required_text<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<&'a str, jsf_error> {
    check(pointer, name)?;
    // SAFETY: as the caller of this function promises
    unsafe { text(pointer, length, name) }
}

/// Frees a handle; null and a misaligned pointer are ignored.
///
/// # Safety
/// `handle` is null, misaligned, or from `Box::into_raw`, and is not used afterwards.
pub unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() && handle.is_aligned() {
        // SAFETY: it is neither null nor misaligned, so it is from `Box::into_raw`
        let handle = unsafe { Box::from_raw(handle) };
        // a destructor does not panic; if it does, the memory is lost
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
}
