//! The names that a formula may use.

use std::ffi::c_char;
use std::ptr;

use job_sort_formula::Schema;
use job_sort_formula::schema::{InputType, NameError};
use jsf_site::Site;

use crate::argument::{NUL_TERMINATED, borrow, borrow_mut, free, required_text, text};
use crate::error::{answered, created, guarded, jsf_error, jsf_status};

/// The names that a formula may use: those of OpenPBS, and the resources of a site. Any number of
/// threads may read it at the same time; a call that adds to it or sets its Python needs it alone.
/// Programs do not depend on it after they are compiled. Free it with `jsf_schema_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_schema(Schema);

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
        Ok(unsafe { borrow(schema, "schema") }?.0.clone())
    }
}

impl From<NameError> for jsf_error {
    fn from(error: NameError) -> Self {
        let status = match error {
            NameError::DefinedByOpenPbs(_) => jsf_status::BuiltIn,
            _ => jsf_status::Argument,
        };
        Self::new(status, error.to_string())
    }
}

/// OpenPBS's names: the eight values that its scheduler computes,
///
/// - `eligible_time`, seconds; `accrue_type`, 0 to 4; `job_priority` and `queue_priority`, -1024 to
///   1023,
/// - `fairshare_perc` (or `fair_share_perc`, its deprecated name), `fairshare_tree_usage` and
///   `fairshare_factor`, 0 to 1,
///
/// and the resources that every server has, such as `ncpus`, `walltime` (seconds) and `mem` (kb),
/// which `jsf names` lists. Free it with `jsf_schema_free`.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_schema_new() -> *mut jsf_schema {
    answered(ptr::null_mut(), || {
        Ok(Box::into_raw(Box::new(jsf_schema(Schema::openpbs()))))
    })
}

/// A schema without names, for a caller that adds every name that its server has: those of OpenPBS
/// too, with the type that this server gives them. What is not added is undefined. Python's
/// functions are not names of a schema. Free it with `jsf_schema_free`.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_schema_new_empty() -> *mut jsf_schema {
    answered(ptr::null_mut(), || {
        Ok(Box::into_raw(Box::new(jsf_schema(Schema::empty()))))
    })
}

/// Reads the names that a formula may use at a site: OpenPBS's, and the resources that the
/// documents of the site declare. `path` is a folder or a tar archive as for `jsf_run`; the jobs
/// are not read. On success `*schema` is to be freed with `jsf_schema_free`.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8`; `*schema` is null then.
/// Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_schema_read_site(
    path: *const c_char,
    path_length: usize,
    schema: *mut *mut jsf_schema,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a text of this length
        let path = unsafe { required_text(path, path_length, "path") }?;
        Ok(jsf_schema(Site::open(path)?.schema().clone()))
    };
    // SAFETY: the caller passes null or pointers to handles
    unsafe { created(schema, "schema", error, work) }
}

/// Adds a name that a formula may use, such as a resource that the site defines. `type` is PBS's
/// name of its type, ended by a NUL: `long` (integers), `size` (kb), `float`, `duration` (seconds),
/// or `boolean`, `string`, `string_array`, which no formula may use. A name of length
/// `JSF_NUL_TERMINATED` ends with a NUL. A name that was added before gets the new type. The type
/// decides whether a formula may use the name; whether Python computes with integers or floats is decided by the values, see `jsf_kind`.
///
/// Errors: `JSF_STATUS_BUILT_IN` if the name is one of OpenPBS's that `jsf_schema_new` or the
/// site's documents brought; `JSF_STATUS_ARGUMENT` if the type is unknown, or if no formula could
/// use the name: it is not one that Python can read, such as `a-b`, or Python's `math` has it, such
/// as `sin`; `JSF_STATUS_UTF8`.
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
        let schema = unsafe { borrow_mut(schema, "schema") }?;
        // SAFETY: the caller passes null or texts of these lengths
        let (name, type_name) = unsafe {
            (
                text(name, name_length, "name")?,
                text(r#type, NUL_TERMINATED, "type")?,
            )
        };
        let input_type = match InputType::from_pbs_type(type_name) {
            Some(input_type) if type_name.to_ascii_lowercase() == type_name => input_type,
            _ => {
                let expected = "expected `long`, `size`, `float`, `duration`, `boolean`, `string` or `string_array`";
                return Err(jsf_error::argument(format!(
                    "`{type_name}` is not a type of a resource, {expected}"
                )));
            }
        };
        Ok(schema.0.add(name, input_type)?)
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Says which version of Python the server embeds, such as `3.9`: programs that are compiled with
/// the schema from then on have its functions and compute as it does. A new schema has 3.11, and
/// one that was read from a site what the site's files say, else 3.11. A version of length
/// `JSF_NUL_TERMINATED` ends with a NUL; a third number, as in `3.9.18`, is left out.
///
/// Errors: `JSF_STATUS_ARGUMENT` if the version is not from 3.6 to 3.14; `JSF_STATUS_UTF8`. The
/// schema is then unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_schema_set_python(
    schema: *mut jsf_schema,
    version: *const c_char,
    version_length: usize,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a schema of this library
        let schema = unsafe { borrow_mut(schema, "schema") }?;
        // SAFETY: the caller passes null or a text of this length
        let version = unsafe { text(version, version_length, "version") }?;
        let python = version.parse().map_err(|expected| {
            jsf_error::argument(format!(
                "`{version}` is not a known version of Python, {expected}"
            ))
        })?;
        schema.0 = std::mem::take(&mut schema.0).with_python(python);
        Ok(())
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
