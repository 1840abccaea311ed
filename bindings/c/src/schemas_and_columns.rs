//! The names that a formula may use, and the columns of a C caller as columns of the library.

use std::ffi::{c_char, c_void};
use std::ops::Range;
use std::ptr;

use job_sort_formula::rank::InputColumn;
use job_sort_formula::schema::{InputType, NameError};
use job_sort_formula::{Program, Schema, Value};
use jsf_openpbs::amounts::{read_resource, resource};
use jsf_site::Site;

use crate::abi_version::JSF_MAX_ROWS;
use crate::argument::{
    NUL_TERMINATED, array, borrow, borrow_mut, free, optional_out, overlaps, required_text, text,
};
use crate::error_handles::{answered, created, guarded, jsf_error, jsf_status};

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
            // in lower case alone, as the header documents them
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
        // `with_python` takes the schema; nothing can fail while the default is in its place
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

/// The type of the values of a column. It decides alone whether the formula computes with integers
/// or floats, which differ as in Python: `//` and `%` of large numbers, or the text of an error.
/// The type that a schema declares for a name decides only whether a formula may use it.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum jsf_kind {
    /// `int32_t` for each row: Python integers.
    I32 = 1,
    /// `int64_t` for each row: Python integers, exact in all bits.
    I64 = 2,
    /// `double` for each row: Python floats.
    F64 = 3,
    /// One `int64_t`, which every row has.
    SameI64 = 4,
    /// One `double`, which every row has.
    SameF64 = 5,
    /// `uint32_t` for each row: the index of the job's entity, such as a user, in `entity_values`.
    /// The value of a row is a Python float, `entity_values[values[row]]`.
    ByEntity = 6,
    /// `double` for each row: an amount of a resource as OpenPBS's scheduler holds it. The value is
    /// what Python reads after the scheduler has printed it, see `jsf_round_amount`: an integer of
    /// any size for one job, a float for the next.
    PbsAmount = 7,
}

const KINDS: [jsf_kind; 7] = [
    jsf_kind::I32,
    jsf_kind::I64,
    jsf_kind::F64,
    jsf_kind::SameI64,
    jsf_kind::SameF64,
    jsf_kind::ByEntity,
    jsf_kind::PbsAmount,
];

/// One input of every job. The arrays belong to the caller; they are read during the call and never
/// kept. The rows of all columns are the same jobs in the same order.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy)]
pub struct jsf_column {
    /// The name of the input, in UTF-8, ended by a NUL. Null: the input at the index that the
    /// column has in the array, see `jsf_program_input`.
    pub name: *const c_char,
    /// A `jsf_kind`.
    // not the enum: C may write any number there, and in Rust one that is no variant is undefined
    pub kind: u32,
    /// The values, aligned as their type; may be null if there are no rows.
    pub values: *const c_void,
    /// The number of rows, which must be that of the call; not read for `JSF_KIND_SAME_I64` and
    /// `JSF_KIND_SAME_F64`.
    pub rows: usize,
    /// For `JSF_KIND_BY_ENTITY`: the number of each entity. Not read for the other kinds.
    pub entity_values: *const f64,
    /// For `JSF_KIND_BY_ENTITY`: the number of entities. Not read for the other kinds.
    pub entities: usize,
}

/// One input of one job.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy)]
pub struct jsf_value {
    /// `JSF_KIND_I64`, `JSF_KIND_F64` or `JSF_KIND_PBS_AMOUNT`.
    pub kind: u32,
    /// The value of the kind `JSF_KIND_I64`. Not read for the other kinds.
    pub integer: i64,
    /// The value of the kinds `JSF_KIND_F64` and `JSF_KIND_PBS_AMOUNT`. Not read for the other
    /// kind.
    pub real: f64,
}

/// A named column of the library.
pub(crate) type NamedColumn<'a> = (&'a str, InputColumn<'a>);

/// Checks the number of rows of a call.
pub(crate) fn check_rows(rows: usize) -> Result<(), jsf_error> {
    if rows > JSF_MAX_ROWS {
        return Err(jsf_error::argument(format!(
            "{rows} rows, more than {JSF_MAX_ROWS}: score them in several calls"
        )));
    }
    Ok(())
}

/// An array of the column `name`, unless it cannot be read or shares memory that is written.
fn unshared<'a, T>(
    values: Result<&'a [T], jsf_error>,
    name: &str,
    written: &[Range<usize>],
) -> Result<&'a [T], jsf_error> {
    let values = values.map_err(|error| error.in_column(name))?;
    if overlaps(written, values) {
        return Err(jsf_error::argument(format!(
            "the column `{name}` overlaps memory that is written"
        )));
    }
    Ok(values)
}

impl jsf_column {
    /// The column at `index` of the array of columns; it may not share the memory that is written.
    ///
    /// # Safety
    /// The pointers are null, misaligned, or as the documentation of the fields says, for `'a`.
    pub(crate) unsafe fn input<'a>(
        self,
        program: &'a Program,
        index: usize,
        written: &[Range<usize>],
    ) -> Result<NamedColumn<'a>, jsf_error> {
        let inputs = program.inputs();
        // the name first, so that each error of the column has it
        let name = if !self.name.is_null() {
            // SAFETY: the name ends with a NUL
            unsafe { text(self.name, NUL_TERMINATED, "name of a column") }?
        } else if let Some(name) = inputs.get(index) {
            name
        } else {
            let message = format!(
                "column {index} has no name, and the formula reads {} inputs only",
                inputs.len()
            );
            return Err(jsf_error::new(jsf_status::Column, message));
        };
        // SAFETY: as the caller of this function promises
        let column = unsafe { self.values(name, written) }?;
        Ok((name, column))
    }

    /// # Safety
    /// As for [`input`](Self::input).
    unsafe fn values<'a>(
        &self,
        name: &str,
        written: &[Range<usize>],
    ) -> Result<InputColumn<'a>, jsf_error> {
        let Some(kind) = KINDS.into_iter().find(|kind| *kind as u32 == self.kind) else {
            return Err(jsf_error::argument(format!(
                "the kind of the column `{name}` is {}, expected 1 to 7",
                self.kind
            )));
        };
        // SAFETY: as the caller of this function promises: there are as many values of the kind's
        // type
        Ok(unsafe {
            match kind {
                jsf_kind::I32 => InputColumn::I32(self.of_rows(name, written)?),
                jsf_kind::I64 => InputColumn::I64(self.of_rows(name, written)?),
                jsf_kind::F64 => InputColumn::F64(self.of_rows(name, written)?),
                jsf_kind::SameI64 => InputColumn::Same(Value::Int(*self.same(name, written)?)),
                jsf_kind::SameF64 => InputColumn::Same(Value::Float(*self.same(name, written)?)),
                jsf_kind::ByEntity => {
                    let values = array(self.entity_values, self.entities, "entity_values");
                    InputColumn::ByEntity {
                        index: self.of_rows(name, written)?,
                        values: unshared(values, name, written)?,
                    }
                }
                jsf_kind::PbsAmount => InputColumn::PbsAmount(self.of_rows(name, written)?),
            }
        })
    }

    /// The array `values`, one for each row.
    ///
    /// # Safety
    /// `self.values` is null, misaligned, or points to `self.rows` values that live for `'a`.
    unsafe fn of_rows<'a, T>(
        &self,
        name: &str,
        written: &[Range<usize>],
    ) -> Result<&'a [T], jsf_error> {
        check_rows(self.rows)?;
        // SAFETY: as the caller of this function promises
        let values = unsafe { array(self.values.cast(), self.rows, "values") };
        unshared(values, name, written)
    }

    /// The only value.
    ///
    /// # Safety
    /// `self.values` is null, misaligned, or points to a value that lives for `'a`.
    unsafe fn same<'a, T>(&self, name: &str, written: &[Range<usize>]) -> Result<&'a T, jsf_error> {
        // SAFETY: as the caller of this function promises
        let value = unsafe { array(self.values.cast(), 1, "values") };
        Ok(&unshared(value, name, written)?[0])
    }
}

impl jsf_value {
    /// The value of the input at `index`.
    pub(crate) fn value(&self, index: usize) -> Result<Value, jsf_error> {
        match self.kind {
            kind if kind == jsf_kind::I64 as u32 => Ok(Value::Int(self.integer)),
            kind if kind == jsf_kind::F64 as u32 => Ok(Value::Float(self.real)),
            kind if kind == jsf_kind::PbsAmount as u32 => Ok(resource(self.real)),
            kind => Err(jsf_error::argument(format!(
                "the kind of value {index} is {kind}, expected `JSF_KIND_I64`, `JSF_KIND_F64` or `JSF_KIND_PBS_AMOUNT`"
            ))),
        }
    }
}

/// A resource amount as OpenPBS passes it to the formula: printed with at most four decimals, fewer
/// where the following three digits are zeros or nines, and read again. `*is_integer` becomes
/// whether Python reads an integer, because no decimals are printed, and else a float; it may be
/// null. The returned double is exact also for an integer beyond 64 bits. A `JSF_KIND_PBS_AMOUNT`
/// is converted like this; do not convert twice. Infinities and NaN are returned as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_round_amount(amount: f64, is_integer: *mut bool) -> f64 {
    answered(amount, || {
        let (value, is_int) = read_resource(amount);
        // SAFETY: the caller passes null or a pointer to a truth value
        if let Some(is_integer) = unsafe { optional_out(is_integer, "is_integer") }? {
            is_integer.write(is_int);
        }
        Ok(value)
    })
}
