//! The columns of a C caller as columns of the library.

use std::ffi::{c_char, c_void};
use std::ops::Range;

use job_sort_formula::rank::InputColumn;
use job_sort_formula::{Program, Value};

use crate::argument::{NUL_TERMINATED, addresses, array, overlap, text};
use crate::error::{jsf_error, jsf_status};
use crate::version::JSF_MAX_ROWS;

/// The type of the values of a column.
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
    /// `uint32_t` for each row: the index of the job's entity, such as a user, in `entity_values`. The value of a row is a
    /// Python float, `entity_values[values[row]]`.
    ByEntity = 6,
}

/// One input of every job. The arrays belong to the caller; they are read during the call and never kept. The rows of all
/// columns are the same jobs in the same order.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy)]
pub struct jsf_column {
    /// The name of the input, in UTF-8, ended by a NUL. Null: the input at the index that the column has in the array, see
    /// `jsf_program_input`.
    pub name: *const c_char,
    /// A `jsf_kind`.
    pub kind: u32,
    /// The values, aligned as their type; may be null if there are no rows.
    pub values: *const c_void,
    /// The number of rows, which must be that of the call; not read for `JSF_KIND_SAME_I64` and `JSF_KIND_SAME_F64`.
    pub rows: usize,
    /// For `JSF_KIND_BY_ENTITY`: the number of each entity. Not read for the other kinds.
    pub entity_values: *const f64,
    /// For `JSF_KIND_BY_ENTITY`: the number of entities. Not read for the other kinds.
    pub entities: usize,
}

/// A named column of the library.
pub(crate) type NamedColumn<'a> = (&'a str, InputColumn<'a>);

/// Checks the number of rows of a call.
pub(crate) fn check_rows(rows: usize) -> Result<(), jsf_error> {
    if rows > JSF_MAX_ROWS {
        return Err(jsf_error::argument(format!("{rows} rows, more than {JSF_MAX_ROWS}: score them in several calls")));
    }
    Ok(())
}

/// The memory that is written, which no column may share.
pub(crate) struct Written<'w>(pub &'w [Range<usize>]);

impl Written<'_> {
    /// An array of the column `name`, unless it cannot be read or is written.
    fn unshared<'a, T>(&self, values: Result<&'a [T], jsf_error>, name: &str) -> Result<&'a [T], jsf_error> {
        let values = values.map_err(|error| error.in_column(name))?;
        match self.0.iter().any(|written| overlap(written, &addresses(values))) {
            true => Err(jsf_error::argument(format!("the column `{name}` overlaps memory that is written"))),
            false => Ok(values),
        }
    }
}

impl jsf_column {
    /// The column at `index` of the array of columns.
    ///
    /// # Safety
    /// The pointers are null, misaligned, or as the documentation of the fields says, for `'a`.
    pub(crate) unsafe fn input<'a>(
        self,
        program: &'a Program,
        index: usize,
        written: &Written<'_>,
    ) -> Result<NamedColumn<'a>, jsf_error> {
        let name = if self.name.is_null() {
            program.inputs().get(index).map(|name| &**name).ok_or_else(|| {
                let inputs = program.inputs().len();
                jsf_error::new(
                    jsf_status::Column,
                    format!("column {index} has no name, and the formula reads {inputs} inputs only"),
                )
            })?
        } else {
            // SAFETY: the name ends with a NUL
            unsafe { text(self.name, NUL_TERMINATED, "name of a column") }?
        };
        // SAFETY: as the caller of this function promises
        let column = unsafe { self.values(name, written) }?;
        Ok((name, column))
    }

    /// # Safety
    /// As for [`input`](Self::input).
    unsafe fn values<'a>(&self, name: &str, written: &Written<'_>) -> Result<InputColumn<'a>, jsf_error> {
        const KINDS: [jsf_kind; 6] = {
            use jsf_kind as K;
            [K::I32, K::I64, K::F64, K::SameI64, K::SameF64, K::ByEntity]
        };
        let Some(kind) = KINDS.into_iter().find(|kind| *kind as u32 == self.kind) else {
            return Err(jsf_error::argument(format!(
                "the kind of the column `{name}` is {}, expected 1 to 6",
                self.kind
            )));
        };
        let is_same = matches!(kind, jsf_kind::SameI64 | jsf_kind::SameF64);
        if !is_same {
            check_rows(self.rows)?;
        }
        // SAFETY: as the caller of this function promises: there are as many values of the kind's type
        Ok(unsafe {
            match kind {
                jsf_kind::I32 => InputColumn::I32(self.values_array(self.rows, name, written)?),
                jsf_kind::I64 => InputColumn::I64(self.values_array(self.rows, name, written)?),
                jsf_kind::F64 => InputColumn::F64(self.values_array(self.rows, name, written)?),
                jsf_kind::SameI64 => InputColumn::Same(Value::Int(self.values_array(1, name, written)?[0])),
                jsf_kind::SameF64 => InputColumn::Same(Value::Float(self.values_array(1, name, written)?[0])),
                jsf_kind::ByEntity => InputColumn::ByEntity {
                    index: self.values_array(self.rows, name, written)?,
                    values: written.unshared(array(self.entity_values, self.entities, "entity_values"), name)?,
                },
            }
        })
    }

    /// The array `values`.
    ///
    /// # Safety
    /// `self.values` is null, misaligned, or points to `length` values that live for `'a`.
    unsafe fn values_array<'a, T>(
        &self,
        length: usize,
        name: &str,
        written: &Written<'_>,
    ) -> Result<&'a [T], jsf_error> {
        // SAFETY: as the caller of this function promises
        written.unshared(unsafe { array(self.values.cast(), length, "values") }, name)
    }
}

/// The column of a single row.
pub(crate) fn single_row<'a>(column: &InputColumn<'a>, row: usize) -> Option<InputColumn<'a>> {
    let rows = row..row.checked_add(1)?;
    Some(match column {
        InputColumn::I32(values) => InputColumn::I32(values.get(rows)?),
        InputColumn::I64(values) => InputColumn::I64(values.get(rows)?),
        InputColumn::F64(values) => InputColumn::F64(values.get(rows)?),
        InputColumn::ByEntity { index, values } => InputColumn::ByEntity { index: index.get(rows)?, values },
        same => same.clone(),
    })
}
