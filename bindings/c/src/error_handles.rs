//! Errors as values: the status that a function returns, the handle with the message, and the guard
//! against panics; and the arguments and files that give what a message asks for.

use std::any::Any;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use job_sort_formula::ErrorKind;
use job_sort_formula::diagnostic::{Message, Need, Span};
use job_sort_formula::rank::ScoreError;
use jsf::requests::in_program;
use jsf::view::words::printable;
use jsf_site::SiteError;

use crate::argument::{borrow, free, optional_out, out};

/// What a function returns: 0 for success, else the kind of the error.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum jsf_status {
    /// Success.
    Ok = 0,
    /// An argument is null, misaligned, of a wrong length or out of its range, or two arguments do
    /// not fit together.
    Argument = 1,
    /// A text is not UTF-8.
    Utf8 = 2,
    /// The formula is not valid Python. The error has the place.
    Syntax = 3,
    /// The formula is valid Python but not arithmetic, such as a text or an attribute. The error
    /// has the place.
    NotArithmetic = 4,
    /// A column is missing, unknown, given twice, or of a wrong length, or an index of an entity is
    /// too large.
    Column = 5,
    /// The formula raises an error for a job, such as a division by zero. The error has the place.
    Evaluation = 6,
    /// There is no entity of that name, or there are several.
    NotFound = 7,
    /// A document or a file cannot be read, or contains something else.
    Document = 8,
    /// A defect of the library. The arguments are unchanged; free the handles that were passed.
    Internal = 9,
    /// The name is one that OpenPBS defines, and the schema has it already, so that it cannot be
    /// declared again.
    BuiltIn = 10,
}

/// Why there is no score: 0 for none of these reasons. There are three groups, in this order: what
/// Python raises, what the scheduler cannot use, and what only Python can tell.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum jsf_failure {
    /// The job did not fail, or the error is about something else than a formula.
    None = 0,
    /// Python raises `ZeroDivisionError`. For this and the next five OpenPBS logs the exception,
    /// and the job has the value 0.
    ZeroDivision = 1,
    /// `ValueError`, such as `log(0)`.
    Value = 2,
    /// `OverflowError`.
    Overflow = 3,
    /// `TypeError`.
    Type = 4,
    /// `NameError`: the formula uses a name that is not defined.
    Name = 5,
    /// `SyntaxError`.
    Syntax = 7,
    /// Python raises nothing, but its result is no real number: a complex number, `None`, a
    /// function, ... OpenPBS gives the job -1, and its scheduler crashes at the next job.
    NotANumber = 8,
    /// The same for an integer too large for a double.
    TooLarge = 9,
    /// A complex number occurs, and this library does not tell whether the result is one. For this
    /// and the next one Python may compute a value; the job has the value 0 here. A caller that has
    /// Python leaves the job, or the formula, to it.
    Complex = 10,
    /// A limit of this library, or a formula that is not arithmetic.
    Limit = 11,
}

impl jsf_failure {
    pub(crate) fn from_score_error(error: &ScoreError) -> Self {
        match error.kind() {
            ErrorKind::ZeroDivision => Self::ZeroDivision,
            ErrorKind::Value => Self::Value,
            ErrorKind::Overflow => Self::Overflow,
            ErrorKind::Type => Self::Type,
            ErrorKind::Name => Self::Name,
            ErrorKind::Syntax => Self::Syntax,
            ErrorKind::ComplexResult | ErrorKind::NotANumber => Self::NotANumber,
            ErrorKind::TooLarge => Self::TooLarge,
            ErrorKind::Complex => Self::Complex,
            _ => Self::Limit,
        }
    }
}

/// Why a call failed: a status, a message, and perhaps a place in the formula. It is immutable and
/// may be read by several threads. Free it with `jsf_error_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_error {
    status: jsf_status,
    failure: jsf_failure,
    message: CString,
    span: Option<Span>,
}

impl jsf_error {
    pub(crate) fn new(status: jsf_status, message: impl Into<String>) -> Self {
        // a name from outside may have what a terminal or a log would follow
        let message = c_text(printable(&message.into()).into_owned());
        Self {
            status,
            failure: jsf_failure::None,
            message,
            span: None,
        }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(jsf_status::Argument, message)
    }

    pub(crate) fn because(self, failure: jsf_failure) -> Self {
        Self { failure, ..self }
    }

    pub(crate) fn at(self, span: Span) -> Self {
        Self {
            span: Some(span),
            ..self
        }
    }

    /// The same error in a column, which the message names.
    pub(crate) fn in_column(self, name: &str) -> Self {
        let message = format!(
            "column `{}`: {}",
            printable(name),
            self.message.to_string_lossy()
        );
        Self {
            message: c_text(message),
            ..self
        }
    }

    /// A handle for the caller.
    pub(crate) fn into_handle(self) -> *mut Self {
        Box::into_raw(Box::new(self))
    }

    fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = match payload.downcast_ref::<String>() {
            Some(text) => text,
            None => payload.downcast_ref::<&str>().copied().unwrap_or_default(),
        };
        Self::new(
            jsf_status::Internal,
            format!("a defect of the library: {text}"),
        )
    }
}

/// A text for C; a NUL in it becomes U+FFFD.
pub(crate) fn c_text(text: impl Into<String>) -> CString {
    let text: String = text.into();
    // without a NUL this cannot fail
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Sentences for C, each ended by a newline.
pub(crate) fn lines<'a>(sentences: impl IntoIterator<Item = &'a Message>) -> CString {
    let mut text = String::new();
    for sentence in sentences {
        text += &sentence.worded(in_c);
        text.push('\n');
    }
    c_text(text)
}

/// A site whose files cannot be used, or a formula that cannot be ranked.
impl From<SiteError> for jsf_error {
    fn from(error: SiteError) -> Self {
        let (status, failure) = match error {
            SiteError::NotArithmetic => (jsf_status::NotArithmetic, jsf_failure::Limit),
            _ => (jsf_status::Document, jsf_failure::None),
        };
        Self::new(status, error.message().worded(in_c)).because(failure)
    }
}

/// Runs the work of a function. Writes null or its error to `error`, if that is not null, and
/// returns the status.
///
/// # Safety
/// `error` is null, or can be written.
pub(crate) unsafe fn guarded(
    error: *mut *mut jsf_error,
    work: impl FnOnce() -> Result<(), jsf_error>,
) -> jsf_status {
    // SAFETY: `error` is null or can be written
    let Ok(out) = (unsafe { optional_out(error, "error") }) else {
        return jsf_status::Argument;
    };
    // a panic that leaves a function of C aborts the process of the caller
    let failed = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.err(),
        Err(panic) => Some(jsf_error::panicked(&*panic)),
    };
    let mut status = jsf_status::Ok;
    if let Some(failed) = &failed {
        status = failed.status;
    }
    if let Some(out) = out {
        out.write(match failed {
            Some(failed) => failed.into_handle(),
            None => ptr::null_mut(),
        });
    }
    status
}

/// The same for a function that makes a handle: writes it to `place`, or null.
///
/// # Safety
/// `place` and `error` are null, misaligned, or can be written.
pub(crate) unsafe fn created<T>(
    place: *mut *mut T,
    name: &str,
    error: *mut *mut jsf_error,
    make: impl FnOnce() -> Result<T, jsf_error>,
) -> jsf_status {
    let make = || Ok(Box::into_raw(Box::new(make()?)));
    // SAFETY: as the caller promises
    unsafe { pointed(place, name, error, make) }
}

/// The same for a text that is to be freed with `jsf_string_free`.
///
/// # Safety
/// As for [`created`].
pub(crate) unsafe fn created_text(
    place: *mut *mut c_char,
    name: &str,
    error: *mut *mut jsf_error,
    make: impl FnOnce() -> Result<String, jsf_error>,
) -> jsf_status {
    let make = || Ok(c_text(make()?).into_raw());
    // SAFETY: as the caller promises
    unsafe { pointed(place, name, error, make) }
}

/// Writes the pointer that `make` returns to `place`, or null.
///
/// # Safety
/// As for [`created`].
unsafe fn pointed<T>(
    place: *mut *mut T,
    name: &str,
    error: *mut *mut jsf_error,
    make: impl FnOnce() -> Result<*mut T, jsf_error>,
) -> jsf_status {
    let work = || {
        // SAFETY: as the caller promises
        let place = unsafe { out(place, name) }?;
        // so that a caller that frees it without a look at the status frees nothing
        place.write(ptr::null_mut());
        place.write(make()?);
        Ok(())
    };
    // SAFETY: as the caller promises
    unsafe { guarded(error, work) }
}

/// Runs the work of a function that has no status. Returns `otherwise` if it fails.
pub(crate) fn answered<T>(otherwise: T, work: impl FnOnce() -> Result<T, jsf_error>) -> T {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(answer)) => answer,
        _ => otherwise,
    }
}

/// The status that the failed call returned; `JSF_STATUS_ARGUMENT` if `error` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_status(error: *const jsf_error) -> jsf_status {
    answered(jsf_status::Argument, || {
        // SAFETY: the caller passes null or an error of this library
        Ok(unsafe { borrow(error, "error") }?.status)
    })
}

/// The message in one line, without a full stop, ended by a NUL; control characters of names are
/// escaped. Empty for a `MemoryError`, which has no text in Python either. It belongs to the error
/// and lives as long. Null if `error` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_message(error: *const jsf_error) -> *const c_char {
    answered(ptr::null(), || {
        // SAFETY: the caller passes null or an error of this library
        Ok(unsafe { borrow(error, "error") }?.message.as_ptr())
    })
}

/// Why there is no score, for `JSF_STATUS_EVALUATION`. A formula that cannot be compiled has
/// `JSF_FAILURE_SYNTAX` where Python refuses it too, and `JSF_FAILURE_LIMIT` where Python may
/// evaluate it. `JSF_FAILURE_NONE` for all other errors, and if `error` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_failure(error: *const jsf_error) -> jsf_failure {
    answered(jsf_failure::None, || {
        // SAFETY: the caller passes null or an error of this library
        Ok(unsafe { borrow(error, "error") }?.failure)
    })
}

/// The part of the formula that is wrong: the bytes from `*start` up to `*end`, not included, of
/// the text that was compiled. Both are equal where something is missing, at the end of the text,
/// say. Returns false, and writes nothing, if the error has no place. Null pointers are not written
/// to; if both are the same, it gets the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_span(
    error: *const jsf_error,
    start: *mut u32,
    end: *mut u32,
) -> bool {
    answered(false, || {
        // SAFETY: the caller passes null or an error of this library
        let Some(span) = unsafe { borrow(error, "error") }?.span else {
            return Ok(false);
        };
        for (place, name, offset) in [(start, "start", span.start), (end, "end", span.end)] {
            // SAFETY: the caller passes null or a pointer to a number
            if let Some(place) = unsafe { optional_out(place, name) }? {
                place.write(offset);
            }
        }
        Ok(true)
    })
}

/// Frees an error. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_error_free(error: *mut jsf_error) {
    // SAFETY: the caller passes null or an error of this library that was not freed
    unsafe { free(error) }
}

/// What is asked for, and how this library takes it.
pub(crate) fn in_c(need: Need) -> String {
    let argument = match need {
        Need::Formula => "`formula`, or `qmgr_print_server.txt` in the site's folder",
        Need::Moment => "with a document of jobs that has a `timestamp`",
        Need::OpenPbsNumbers | Need::PythonNumbers => "this library has OpenPBS's numbers only",
        Need::Policy(name) | Need::PolicyOfRelease(name, _) => {
            return in_program(need, Some(format!("`policy` of `jsf_tree_read`: `{name}`")));
        }
        Need::Python => "`jsf_schema_set_python`, or `python_version.txt` in the site's folder",
        Need::ResourceType => "`jsf_schema_add_resource`",
        Need::Resources => {
            "as `qmgr_print_resource.txt` in the site's folder, for `jsf_schema_read_site`"
        }
        Need::SchedConfig => {
            "as `sched_priv/sched_config` in the site's folder, or `sched_config` of `jsf_tree_read_pbs`"
        }
        Need::Site => "`jsf_run`",
        Need::Threshold => "which the server has, in `qmgr_print_server.txt` in the site's folder",
        _ => return in_program(need, None),
    };
    in_program(need, Some(argument.to_owned()))
}
