//! What every reader of job documents takes and returns: [`ReadOptions`] and [`ParsedJobs`].

use std::collections::BTreeMap;

use job_sort_formula::jobs::{JobTable, Problems};
use job_sort_formula::schema::Schema;
use jsf_openpbs::entity::FairshareEntity;
use jsf_openpbs::resource_amount::NumberMode;

use crate::cycle_jobs::CycleJobs;

static NO_PRIORITIES: BTreeMap<String, i64> = BTreeMap::new();

/// What a reader needs to know besides the document.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The name of the document in messages.
    pub source_name: &'a str,
    /// The names in the formula: the table gets a column for each. Other values are skipped, except
    /// that the amounts of numeric resources are checked, since the scheduler ignores a job with
    /// one that it cannot read.
    pub needed: &'a [&'a str],
    /// The names that a formula may use.
    pub schema: &'a Schema,
    /// How amounts become numbers.
    pub numbers: NumberMode,
    /// Which attribute of a job names its fair-share entity.
    pub entity: FairshareEntity,
    /// The priorities of the queues; a queue without one has priority 0.
    pub queue_priorities: &'a BTreeMap<String, i64>,
    /// Whether a document of qstat that is not valid JSON is an error, one with a line or an entry
    /// that is not a job, and one that has a job, or a job a key, twice. Else what is repaired or
    /// rejected is reported; of a repeated key the last value counts, of a repeated job the first.
    pub strict: bool,
    /// Whether the jobs are also read as a scheduling cycle sees them.
    pub cycle_jobs: bool,
    /// Whether the table records where each input comes from, which an explanation needs and a
    /// ranking does not.
    pub record_origins: bool,
    /// About how many bytes of a document with a job per line are parsed at a time.
    pub chunk_size: usize,
}

impl<'a> ReadOptions<'a> {
    /// Options for OpenPBS with its defaults: the entity is the user, and no queue has a priority.
    pub fn new(schema: &'a Schema, needed: &'a [&'a str]) -> Self {
        Self {
            source_name: "jobs",
            needed,
            schema,
            numbers: NumberMode::OpenPbs,
            entity: FairshareEntity::User,
            queue_priorities: &NO_PRIORITIES,
            strict: false,
            cycle_jobs: false,
            record_origins: false,
            chunk_size: 512 << 10,
        }
    }
}

/// The jobs of a document, and what is wrong with some of them.
#[derive(Debug, Clone, Default)]
pub struct ParsedJobs {
    /// The jobs.
    pub table: JobTable,
    /// The jobs of the table as a scheduling cycle sees them, if the options ask for them.
    pub cycle_jobs: Option<CycleJobs>,
    /// What is wrong with single jobs. The other jobs are read nevertheless.
    pub problems: Problems,
    /// Remarks on the document as a whole, one sentence each.
    pub notes: Vec<String>,
}
