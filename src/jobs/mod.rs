//! The jobs of a queue as a table: one row per job, one column per input that a formula needs.
//!
//! Enters: one [`Job`] after another, with its inputs. Leaves: a [`JobTable`] whose [`Column`]s
//! hold these inputs, with the ids, entities, queues and states of the jobs. The crate `jsf-ingest`
//! reads them from documents.

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

pub use batch::{Batch, BatchRow, InputPrecedence};
pub use column::Column;
pub use live::TableError;
pub use lookup::FoundJobs;
pub use origin::InputOrigin;
pub use problem::{JobProblem, Problem, Problems};
pub use state::{Exclusion, JobState};
pub use table::MAX_COLUMNS;
pub use table::{Job, JobTable, MAX_JOBS, MAX_NAME, TruncatedToZero};
