//! One input of many jobs, as a caller or a table holds it.

use crate::python::Value;

/// One input of every job, borrowed from the caller. The rows of all columns are the same jobs in
/// the same order. Infinities and NaN are taken as Python floats; a score that is NaN is no error,
/// and equals every other in an order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum InputColumn<'a> {
    /// Python integers.
    I32(&'a [i32]),
    /// Python integers.
    I64(&'a [i64]),
    /// Python floats.
    F64(&'a [f64]),
    /// Python integers of less than 2^53, each as a double.
    Whole(&'a [f64]),
    /// Python integers in the rows that are set in `is_int`, else floats.
    Mixed {
        /// The number of each row; that of an integer is whole.
        values: &'a [f64],
        /// Whether the number of each row is an integer.
        is_int: &'a [bool],
    },
    /// Amounts of a resource as OpenPBS's scheduler holds them. The input is the number of
    /// [`openpbs_digits`](crate::rank::openpbs_digits): an integer for one job, a float for the next.
    PbsAmount(&'a [f64]),
    /// The same value for every job.
    Same(Value),
    /// A Python float for each entity: `values[index[row]]` is the input of a row.
    ByEntity {
        /// The entity of each row.
        index: &'a [u32],
        /// The number of each entity.
        values: &'a [f64],
    },
}
