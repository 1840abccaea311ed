//! The queue as columns: what a formula needs of each job, and who the job belongs to.
//!
//! Enters: one [`Job`] after another, with the inputs that a formula needs. Leaves: a [`JobTable`] whose
//! [`Column`]s hold those inputs alone. How a file spells them is the readers' matter.

mod batch;
mod column;
mod ids;
mod names;
mod problem;
mod state;
mod table;

pub(crate) use batch::{Batch, BatchRow, InputPrecedence};
pub use column::{BLOCK_ROWS, Column};
pub(crate) use names::same;
pub use problem::{JobProblem, Problem, Problems, ReadError};
pub use state::{Exclusion, JobState};
pub use table::{Job, JobTable, MAX_JOBS, MAX_NAME, TruncatedToZero};
