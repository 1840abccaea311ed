//! The jobs of a queue as a table: one row per job, one column per input that a formula needs.
//!
//! Enters: one [`Job`] after another, with its inputs. Leaves: a [`JobTable`] whose [`Column`]s hold these inputs, with
//! the ids, entities, queues and states of the jobs. [`ingest`](crate::ingest) reads them
//! from documents.

mod batch;
mod column;
mod dictionary;
mod ids;
mod kept_rows;
mod live;
mod lookup;
mod origin;
mod problem;
mod state;
mod table;

pub(crate) use batch::{Batch, BatchRow, InputPrecedence};
#[doc(hidden)]
pub use column::BLOCK_ROWS;
pub use column::Column;
pub(crate) use dictionary::is_same_name;
pub use live::TableError;
#[doc(hidden)]
pub use lookup::FoundJobs;
#[doc(hidden)]
pub use origin::InputOrigin;
pub use problem::{JobProblem, Problem, Problems};
pub use state::{Exclusion, JobState};
pub(crate) use table::MAX_COLUMNS;
pub use table::{Job, JobTable, MAX_JOBS, MAX_NAME, TruncatedToZero};
