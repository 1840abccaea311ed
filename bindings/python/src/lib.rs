//! The extension module `job_sort_formula._native`, of which the Python package is made. Columns of
//! numpy, pandas, polars, pyarrow or anything else that speaks Arrow's PyCapsule interface enter;
//! the library scores them without a copy; scores and tables leave by the same interface. Questions
//! about a site enter and leave as JSON.
//!
//! Unsafe code is in [`arrow_and_numpy`] only: for Arrow's C data interface, and for the memory of numpy's
//! arrays.

mod arrow_and_numpy;
mod exceptions;
mod formula_class;
mod imported_columns;
mod scores_class;
mod share_tree_class;
mod site_class;

use pyo3::prelude::*;

// every class is frozen, and the only one that changes has a lock
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::arrow_and_numpy::exported;
    use crate::exceptions::FormulaError;
    #[pymodule_export]
    use crate::formula_class::Formula;
    #[pymodule_export]
    use crate::scores_class::{RowError, Scores};
    #[pymodule_export]
    use crate::share_tree_class::ShareTree;
    #[pymodule_export]
    use crate::site_class::Site;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("FormulaError", module.py().get_type::<FormulaError>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
