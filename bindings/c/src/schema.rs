//! The names that a formula may use.

use std::ffi::c_char;
use std::ptr;
use std::sync::{PoisonError, RwLock};

use job_sort_formula::Schema;
use job_sort_formula::schema::InputType;

use crate::argument::{borrow, free, text};
use crate::error::{answered, guarded, jsf_error, jsf_status};

/// The names that a formula may use: those of OpenPBS, and the resources of a site. Several threads may use it at the same
/// time. Programs do not depend on it after they are compiled. Free it with `jsf_schema_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_schema {
    names: RwLock<Schema>,
}

impl jsf_schema {
    /// A copy of a schema, or OpenPBS's names if the pointer is null.
    ///
    /// # Safety
    /// `schema` is null or a schema of this library.
    pub(crate) unsafe fn copied(schema: *const Self) -> Result<Schema, jsf_error> {
        if schema.is_null() {
            return Ok(Schema::openpbs());
        }
        // SAFETY: as the caller of this function promises
        let schema = unsafe { borrow(schema, "schema") }?;
        Ok(schema.names.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// The eight values that OpenPBS's scheduler computes, such as `eligible_time` (seconds) and `fairshare_factor` (0 to 1), and
/// the resources that every server has, such as `ncpus`, `walltime` (seconds) and `mem` (kb). `jsf names` lists them. Free it
/// with `jsf_schema_free`.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_schema_new() -> *mut jsf_schema {
    answered(ptr::null_mut(), || Ok(Box::into_raw(Box::new(jsf_schema { names: RwLock::new(Schema::openpbs()) }))))
}

/// Adds a resource that the site defines. `type` is PBS's name of its type, ended by a NUL: `long` (integers), `size` (kb),
/// `float`, `duration` (seconds), or `boolean`, `string`, `string_array`, which no formula may use. A name of length
/// `JSF_NUL_TERMINATED` ends with a NUL. A name that the site defined before gets the new type.
///
/// Errors: `JSF_STATUS_ARGUMENT` if the type is unknown, if the name is empty, or if OpenPBS itself defines it;
/// `JSF_STATUS_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_schema_add_resource(
    schema: *mut jsf_schema,
    name: *const c_char,
    name_length: usize,
    r#type: *const c_char,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a schema of this library
        let schema = unsafe { borrow(schema, "schema") }?;
        // SAFETY: the caller passes null or texts of these lengths
        let (name, type_name) =
            unsafe { (text(name, name_length, "name")?, text(r#type, crate::argument::NUL_TERMINATED, "type")?) };
        if name.is_empty() {
            return Err(jsf_error::argument("the name of a resource is empty"));
        }
        let Some(input_type) = InputType::from_pbs_type(type_name) else {
            let expected = "expected `long`, `size`, `float`, `duration`, `boolean`, `string` or `string_array`";
            return Err(jsf_error::argument(format!("`{type_name}` is not a type of a resource, {expected}")));
        };
        let mut names = schema.names.write().unwrap_or_else(PoisonError::into_inner);
        match names.add(name, input_type) {
            true => Ok(()),
            false => Err(jsf_error::argument(format!("`{name}` is defined by OpenPBS and cannot be redefined"))),
        }
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Frees a schema. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_schema_free(schema: *mut jsf_schema) {
    // SAFETY: the caller passes null or a schema of this library that was not freed
    unsafe { free(schema) }
}
