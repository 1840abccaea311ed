//! The Python module `job_sort_formula`. Columns of numpy, pandas, polars, pyarrow or anything else
//! that speaks Arrow's PyCapsule interface enter; the library scores them without a copy; scores
//! and tables leave by the same interface.
//!
//! Unsafe code is in [`capsule`], for Arrow's C data interface, and in [`numpy`], for the memory of
//! arrays.

mod answer;
mod argument;
mod capsule;
mod column;
mod digits;
mod error;
mod evaluate;
mod fit;
mod formula;
mod goals;
mod need;
mod numpy;
mod ranked;
mod scores;
mod simulation;
mod site;
mod source;
mod table;
mod template;
mod tree;
mod watch;
mod workload;

use pyo3::prelude::*;

/// Parses, evaluates and explains PBS job_sort_formula expressions exactly as the scheduler does.
#[pymodule(gil_used = false)]
mod job_sort_formula {
    #[pymodule_export]
    use crate::digits::openpbs_digits;
    use crate::error::FormulaError;
    #[pymodule_export]
    use crate::fit::Objective;
    #[pymodule_export]
    use crate::formula::Formula;
    #[pymodule_export]
    use crate::scores::{RowError, Scores};
    #[pymodule_export]
    use crate::simulation::simulate;
    #[pymodule_export]
    use crate::site::{Queue, Site};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::template::{Constant, Template};
    #[pymodule_export]
    use crate::tree::ShareTree;
    #[pymodule_export]
    use crate::workload::Workload;
    use pyo3::prelude::*;
    use std::ffi::CString;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let source = CString::new(include_str!("results.py"))?;
        let results = PyModule::from_code(
            module.py(),
            &source,
            c"results.py",
            c"job_sort_formula._results",
        )?;
        for class in [
            "Check",
            "Explanation",
            "Fit",
            "Replay",
            "Simulation",
            "Trajectory",
        ] {
            module.add(class, results.getattr(class)?)?;
        }
        module.add("FormulaError", module.py().get_type::<FormulaError>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
