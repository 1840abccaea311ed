//! Errors as values: the status that a function returns, the handle with the message, and the guard against panics.

use std::any::Any;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use job_sort_formula::diagnostic::{Message, Span};
use jsf_site::SiteError;

use crate::argument::{borrow, free, optional_out};
use crate::need::in_c;

/// What a function returns: 0 for success, else the kind of the error.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum jsf_status {
    /// Success.
    Ok = 0,
    /// An argument is null, misaligned, of a wrong length or out of its range, or two arguments do not fit together.
    Argument = 1,
    /// A text is not UTF-8.
    Utf8 = 2,
    /// The formula is not valid Python. The error has the place.
    Syntax = 3,
    /// The formula is valid Python but not arithmetic, such as a text or an attribute. The error has the place.
    NotArithmetic = 4,
    /// A column is missing, unknown, given twice, or of a wrong length, or an index of an entity is too large.
    Column = 5,
    /// The formula raises an error for a job, such as a division by zero. The error has the place.
    Evaluation = 6,
    /// There is no entity of that name, or there are several.
    NotFound = 7,
    /// A document or a file cannot be read, or contains something else.
    Document = 8,
    /// A defect of the library. The arguments are unchanged; free the handles that were passed.
    Internal = 9,
}

/// Why a call failed: a status, a message, and perhaps a place in the formula. It is immutable and may be read by several
/// threads. Free it with `jsf_error_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_error {
    status: jsf_status,
    message: CString,
    span: Option<Span>,
}

impl jsf_error {
    pub(crate) fn new(status: jsf_status, message: impl Into<String>) -> Self {
        Self { status, message: c_text(message), span: None }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(jsf_status::Argument, message)
    }

    pub(crate) fn at(self, span: Span) -> Self {
        Self { span: Some(span), ..self }
    }

    /// The same error in a column, which the message names.
    pub(crate) fn in_column(self, name: &str) -> Self {
        let message = format!("column `{name}`: {}", self.message.to_string_lossy());
        Self { message: c_text(message), ..self }
    }

    fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        Self::new(jsf_status::Internal, format!("a defect of the library: {text}"))
    }
}

/// A text for C; a NUL in it becomes U+FFFD.
pub(crate) fn c_text(text: impl Into<String>) -> CString {
    let text: String = text.into();
    let text = if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text };
    CString::new(text).unwrap_or_default()
}

/// Sentences for C, each ended by a newline.
pub(crate) fn lines<'a>(sentences: impl IntoIterator<Item = &'a Message>) -> CString {
    c_text(sentences.into_iter().map(|sentence| sentence.worded(in_c) + "\n").collect::<String>())
}

/// A site whose files cannot be used, or a formula that cannot be ranked.
pub(crate) fn site_error(error: &SiteError) -> jsf_error {
    let status = match error {
        SiteError::NotArithmetic => jsf_status::NotArithmetic,
        _ => jsf_status::Document,
    };
    jsf_error::new(status, error.message().worded(in_c))
}

/// Runs the work of a function. Writes null or its error to `error`, if that is not null, and returns the status.
///
/// # Safety
/// `error` is null, or can be written.
pub(crate) unsafe fn guarded(error: *mut *mut jsf_error, work: impl FnOnce() -> Result<(), jsf_error>) -> jsf_status {
    // SAFETY: `error` is null or can be written
    let Ok(out) = (unsafe { optional_out(error, "error") }) else { return jsf_status::Argument };
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(jsf_error::panicked(&*panic)));
    let status = result.as_ref().map_or_else(|error| error.status, |()| jsf_status::Ok);
    if let Some(out) = out {
        *out = result.map_or_else(|error| Box::into_raw(Box::new(error)), |()| ptr::null_mut());
    }
    status
}

/// Runs the work of a function that has no status. Returns `otherwise` if it fails.
pub(crate) fn answered<T>(otherwise: T, work: impl FnOnce() -> Result<T, jsf_error>) -> T {
    catch_unwind(AssertUnwindSafe(work)).ok().and_then(Result::ok).unwrap_or(otherwise)
}

/// The status that the failed call returned; `JSF_STATUS_ARGUMENT` if `error` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_status(error: *const jsf_error) -> jsf_status {
    // SAFETY: the caller passes null or an error of this library
    answered(jsf_status::Argument, || Ok(unsafe { borrow(error, "error") }?.status))
}

/// The message, in lower case, without a full stop, ended by a NUL. It belongs to the error and lives as long. Null if `error`
/// is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_message(error: *const jsf_error) -> *const c_char {
    // SAFETY: the caller passes null or an error of this library
    answered(ptr::null(), || Ok(unsafe { borrow(error, "error") }?.message.as_ptr()))
}

/// The part of the formula that is wrong: the bytes from `*start` up to `*end`, not included, of the text that was compiled.
/// Returns false, and writes nothing, if the error has no place. Null pointers are not written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_span(error: *const jsf_error, start: *mut u32, end: *mut u32) -> bool {
    answered(false, || {
        // SAFETY: the caller passes null or an error of this library
        let Some(span) = unsafe { borrow(error, "error") }?.span else { return Ok(false) };
        // SAFETY: the caller passes null or a pointer to a number
        let (start, end) = unsafe { (optional_out(start, "start")?, optional_out(end, "end")?) };
        start.into_iter().for_each(|start| *start = span.start);
        end.into_iter().for_each(|end| *end = span.end);
        Ok(true)
    })
}

/// Frees an error. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_free(error: *mut jsf_error) {
    // SAFETY: the caller passes null or an error of this library that was not freed
    unsafe { free(error) }
}
