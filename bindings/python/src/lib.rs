//! The extension module `job_sort_formula._native`, of which the Python package is made. Columns of
//! numpy, pandas, polars, pyarrow or anything else that speaks Arrow's PyCapsule interface enter;
//! the library scores them without a copy; scores and tables leave by the same interface. Questions
//! about a site enter and leave as JSON.
//!
//! Unsafe code is in [`capsule`], for Arrow's C data interface, and in [`numpy`], for the memory of
//! arrays.

mod capsule;
mod column;
mod error;
mod evaluate;
mod formula;
mod numpy;
mod scores;
mod site;
mod table;
mod tree;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    use crate::error::FormulaError;
    #[pymodule_export]
    use crate::formula::Formula;
    #[pymodule_export]
    use crate::scores::{RowError, Scores};
    #[pymodule_export]
    use crate::site::Site;
    #[pymodule_export]
    use crate::table::exported;
    #[pymodule_export]
    use crate::tree::ShareTree;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("FormulaError", module.py().get_type::<FormulaError>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
