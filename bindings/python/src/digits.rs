//! The digits of resource amounts that a formula gets from OpenPBS.

use job_sort_formula::Value;
use job_sort_formula::rank::openpbs_digits as digits;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

use crate::ranked::{is_missing, list_of};

/// The numbers that OpenPBS passes to a formula for these amounts of a resource: with four decimals
/// at most, and ints where it prints none.
#[pyfunction]
pub fn openpbs_digits<'py>(amounts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let printed = PyList::empty(amounts.py());
    for amount in list_of("`amounts`: expected a column", amounts)? {
        if is_missing(&amount) {
            printed.append(amounts.py().None())?;
            continue;
        }
        match digits(amount.extract()?) {
            Value::Int(integer) => printed.append(integer)?,
            Value::Float(float) => printed.append(float)?,
            // an integer of more than 64 bits is printed with all its digits
            longer => printed.append(amounts.py().get_type::<PyInt>().call1((longer.repr(),))?)?,
        }
    }
    Ok(printed)
}
