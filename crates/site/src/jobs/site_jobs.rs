//! Reads the jobs of a site, with a column for each name that is asked for, from a document that
//! may be read more than once.

use std::sync::{Mutex, OnceLock};

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::jobs::{Exclusion, JobTable};
use job_sort_formula::schema::Schema;
use jsf_ingest::{CycleJobs, ParsedJobs, ReadOptions, read_jobs};
use jsf_openpbs::check::CHECKED_COLUMNS;
use jsf_openpbs::job_attributes::FairshareEntity;
use jsf_openpbs::order::Order;
use jsf_slurm::priority::AGE;

use crate::jobs::job_warnings::{invalid_jobs, job_problems, missing_eligible_time};
use crate::opening::compression::decompressed;
use crate::opening::in_file;
use crate::{FileSource, Role, Site, SiteError};

/// The jobs of a site, with a column for each name that was asked for.
#[derive(Debug, Clone)]
pub struct SiteJobs {
    /// The jobs.
    pub table: JobTable,
    /// The names that a formula may use: the site's, and those that only its jobs contain.
    pub schema: Schema,
    /// The problems of single jobs, one sentence each.
    pub warnings: Vec<Message>,
    /// The jobs as a scheduling cycle sees them, if that was asked for.
    pub(crate) cycle: Option<CycleJobs>,
}

/// What is read of the jobs.
#[derive(Debug, Clone, Copy)]
pub struct ColumnsRequest<'a> {
    /// The document of the jobs.
    pub document: Option<&'a FileSource>,
    /// The names, each of which gets a column.
    pub names: &'a [&'a str],
    /// The types of the names, if they are not those that the site declares.
    pub schema: Option<&'a Schema>,
    /// What names the entity of a job.
    pub entity: FairshareEntity,
    /// Whether the jobs may be read once more.
    pub again: bool,
    /// Whether to record where the inputs come from.
    pub record_origins: bool,
    /// Whether to read the jobs also as a scheduling cycle sees them.
    pub cycle: bool,
}

impl ColumnsRequest<'_> {
    /// The same for jobs that may be read once more.
    pub fn again(self) -> Self {
        Self {
            again: true,
            ..self
        }
    }
}

impl Site {
    /// Reads the jobs, with a column for each of these names and for every key that orders the
    /// queue.
    ///
    /// # Errors
    /// The site has no job document, or it cannot be read. A problem of a single job is a warning.
    pub fn jobs(&self, names: &[&str]) -> Result<SiteJobs, SiteError> {
        self.read_columns(&self.request(names))
    }

    /// A request for a column for each of these names, as the site declares them.
    pub(crate) fn request<'a>(&'a self, names: &'a [&'a str]) -> ColumnsRequest<'a> {
        let mut document = self.files.first(Role::Queue);
        if let Some(slurm) = &self.slurm
            && slurm.jobs.is_some()
        {
            document = slurm.jobs.as_ref();
        }
        ColumnsRequest {
            document,
            names,
            schema: None,
            entity: self.config.fairshare_entity,
            again: false,
            record_origins: false,
            cycle: false,
        }
    }

    /// Reads the jobs with the columns of a request, and those for every key that orders the queue
    /// and for what is found in the jobs under any formula. Jobs that may be read again are kept
    /// for a request for no other columns, as a formula that was mended makes it.
    pub(crate) fn read_columns(&self, request: &ColumnsRequest<'_>) -> Result<SiteJobs, SiteError> {
        let Some(document) = request.document else {
            let missing = "no jobs (`qstat -f` as JSON, dsv or text, `squeue --json`, `scontrol show job`, native JSON or NDJSON): ";
            return Err(SiteError::missing(missing, Need::Queue));
        };
        self.require_start_of_slurm()?;
        let mut jobs = match self.jobs.kept(document, request) {
            Some(kept) => kept,
            None => {
                let jobs = self.parse_jobs(document, request)?;
                self.jobs.keep(document, request, &jobs);
                jobs
            }
        };
        let table = &jobs.table;
        if request.names.contains(&"queue_priority") {
            jobs.warnings.extend(self.unknown_queue_priority(table));
            jobs.warnings.extend(self.jobs_of_unlisted_queues(table));
        }
        if request.names.contains(&"eligible_time") {
            let missing = missing_eligible_time(table, &document.name());
            jobs.warnings.extend(missing);
        }
        Ok(jobs)
    }

    fn parse_jobs(
        &self,
        document: &FileSource,
        request: &ColumnsRequest<'_>,
    ) -> Result<SiteJobs, SiteError> {
        let mut schema = request.schema.unwrap_or(&self.schema).clone();
        let source_name = document.name();
        let mut needed = request.names.to_vec();
        needed.extend(self.order_columns());
        needed.extend(CHECKED_COLUMNS);
        if needed.contains(&AGE) {
            needed.push("eligible_time");
        }
        let options = ReadOptions {
            source_name: &source_name,
            numbers: self.rules.numbers,
            entity: request.entity,
            queue_priorities: &self.queues.priorities(),
            strict: self.rules.strict,
            cycle_jobs: request.cycle,
            record_origins: request.record_origins,
            ..ReadOptions::new(&schema, &needed)
        };
        let mut read = self.jobs.read(document, &options, request.again)?;
        let mut problems = read.problems.listed().iter();
        if read.table.is_empty()
            && let Some(first) = problems.find(|one| one.problem.skips_the_job())
        {
            let skipped = read.problems.skipped();
            return Err(SiteError::content(format!(
                "`{source_name}`: none of its {skipped} jobs can be read: {first}"
            )));
        }
        for (name, kind) in read.table.undeclared() {
            schema.add_seen(name, kind);
        }
        let mut warnings = Vec::from_iter(in_file(&source_name, &read.notes));
        warnings.extend(job_problems(&read.problems, &source_name));
        warnings.extend(self.exclude_by_queue(&mut read.table));
        warnings.extend(self.unknown_sort_keys(&read.table));
        warnings.extend(invalid_jobs(&read.table, &source_name));
        Ok(SiteJobs {
            table: read.table,
            schema,
            warnings,
            cycle: read.cycle_jobs,
        })
    }

    /// Excludes the jobs in routing queues and those of other schedulers, and says how many there
    /// are.
    fn exclude_by_queue(&self, table: &mut JobTable) -> Vec<Message> {
        let mut reasons = Vec::new();
        for queue in table.queues() {
            reasons.push(self.queue_excludes(queue));
        }
        let mut in_routing = Vec::new();
        let mut of_others = Vec::new();
        for row in 0..table.len() {
            let Some(reason) = &reasons[table.queue_index(row)] else {
                continue;
            };
            match reason {
                Exclusion::RoutingQueue => in_routing.push(row),
                _ => of_others.push(row),
            }
            table.exclude(row, reason.clone());
        }
        let mut warnings = Vec::from_iter(routed_jobs(&in_routing, table));
        warnings.extend(jobs_of_others(&of_others, table));
        warnings
    }

    /// Why the scheduler does not get the jobs of a queue.
    fn queue_excludes(&self, queue: &str) -> Option<Exclusion> {
        if self.queues.is_route(queue) {
            return Some(Exclusion::RoutingQueue);
        }
        let partition = self.queues.partition(queue);
        if partition == self.partition.as_deref() {
            return None;
        }
        Some(Exclusion::Partition {
            partition: partition.map(str::to_owned),
        })
    }

    /// The columns for the keys that order the queue.
    pub(crate) fn order_columns(&self) -> Vec<&str> {
        Order::new(&self.config, &self.queues).columns()
    }
}

/// A warning about jobs in routing queues.
fn routed_jobs(rows: &[usize], table: &JobTable) -> Option<Message> {
    let queue = table.queue(*rows.first()?);
    let found = match rows.len() {
        1 => format!(
            "1 job is in a routing queue (`{queue}`), which the scheduler does not read, and is not ranked"
        ),
        count => format!(
            "{count} jobs are in routing queues (first `{queue}`), which the scheduler does not read, and are not ranked"
        ),
    };
    Some(found.into())
}

/// A warning about jobs of other schedulers.
fn jobs_of_others(rows: &[usize], table: &JobTable) -> Option<Message> {
    let queue = table.queue(*rows.first()?);
    let (jobs, are) = match rows.len() {
        1 => ("1 job belongs".to_owned(), "is"),
        count => (format!("{count} jobs belong"), "are"),
    };
    let found = format!(
        "{jobs} to another scheduler, because of the partition of the queue (first `{queue}`), and {are} not ranked"
    );
    Some(found.into())
}

/// The largest job document on standard input that is kept in memory to be read again, in bytes.
const MAX_KEPT_JOBS: u64 = 4 << 30;

/// The job document of a site. Standard input can be read only once, so its bytes are kept for a
/// second reading.
#[derive(Debug, Default)]
pub struct JobDocument {
    stdin: OnceLock<Vec<u8>>,
    /// The jobs that were read last, if they may be read again.
    last: Mutex<Option<KeptJobs>>,
}

/// Jobs that were read, and for which request.
#[derive(Debug)]
struct KeptJobs {
    source: FileSource,
    names: Vec<String>,
    entity: FairshareEntity,
    jobs: SiteJobs,
}

impl JobDocument {
    /// The jobs that were read last, if they have all that is asked for.
    pub fn kept(&self, source: &FileSource, request: &ColumnsRequest<'_>) -> Option<SiteJobs> {
        let last = self.last.lock().ok()?;
        let last = last.as_ref()?;
        if !is_kept(request) || last.source != *source || last.entity != request.entity {
            return None;
        }
        for name in request.names {
            if !last.names.iter().any(|known| known == name) {
                return None;
            }
        }
        Some(last.jobs.clone())
    }

    /// Keeps jobs in place of those that were read last, if they may be read once more.
    pub fn keep(&self, source: &FileSource, request: &ColumnsRequest<'_>, jobs: &SiteJobs) {
        if is_kept(request)
            && let Ok(mut last) = self.last.lock()
        {
            *last = Some(KeptJobs {
                source: source.clone(),
                names: request.names.iter().map(|&name| name.into()).collect(),
                entity: request.entity,
                jobs: jobs.clone(),
            });
        }
    }

    /// Reads the jobs while the document arrives; `again` means that the site may read them once
    /// more.
    pub fn read(
        &self,
        source: &FileSource,
        options: &ReadOptions<'_>,
        again: bool,
    ) -> Result<ParsedJobs, SiteError> {
        let is_kept = source.is_stdin() && (again || self.stdin.get().is_some());
        let read = if is_kept {
            read_jobs(self.kept_stdin(source)?, options)
        } else {
            let failed = SiteError::reading(options.source_name.as_ref());
            let content = decompressed(source.open()?).map_err(failed)?;
            read_jobs(content, options)
        };
        read.map_err(|error| match source.check(Role::Queue) {
            Err(refusal @ SiteError::Content(_)) => refusal,
            _ => SiteError::content(error),
        })
    }

    fn kept_stdin(&self, source: &FileSource) -> Result<&[u8], SiteError> {
        if self.stdin.get().is_none() {
            let _ = self.stdin.set(source.read_up_to(MAX_KEPT_JOBS)?);
        }
        Ok(self.stdin.get().map_or(&[], Vec::as_slice))
    }
}

/// Whether the jobs of a request are kept: those with other types, or with more than columns, are
/// asked for once.
fn is_kept(request: &ColumnsRequest<'_>) -> bool {
    request.again && request.schema.is_none() && !request.record_origins && !request.cycle
}
