//! The jobs of a site, with a column for each name that is asked for, and what of their amounts the site
//! alone decides.
//!
//! In: a document that may be read more than once. Out: the table of jobs, and the warnings about single
//! jobs, a few of each kind, then how many more there are.

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::jobs::{Exclusion, Problems};
use job_sort_formula::rank::explain::nearest_double;
use job_sort_formula::schema::{InputType, Origin};
use job_sort_formula::{JobTable, Schema, Value};
use jsf_ingest::{CycleJobs, ReadOptions, read_jobs};
use jsf_json::clipped;
use jsf_openpbs::check::CHECKED_COLUMNS;
use jsf_openpbs::order::Order;
use jsf_openpbs::{AmountSource, FairshareEntity, PbsTree};
use jsf_slurm::AGE;
use jsf_words::{count, counted};

use crate::files::decompression::decompressed;
use crate::warnings::in_file;
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

/// The jobs that were read last.
#[derive(Debug)]
pub struct LastJobs {
    document: FileSource,
    entity: FairshareEntity,
    jobs: SiteJobs,
}

impl LastJobs {
    /// The jobs, if they have all that is asked for.
    fn for_request(&self, request: &ColumnsRequest<'_>) -> Option<SiteJobs> {
        let mut names = request.names.iter();
        let has_all = names.all(|name| self.jobs.table.column(name).is_some());
        let is_same = request.document == Some(&self.document) && request.entity == self.entity;
        (request.is_repeatable() && is_same && has_all).then(|| self.jobs.clone())
    }
}

impl ColumnsRequest<'_> {
    /// Whether the same jobs may be asked for again: those with other types, or with more than columns,
    /// are asked for once.
    fn is_repeatable(&self) -> bool {
        self.again && self.schema.is_none() && !self.record_origins && !self.cycle
    }

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
        let last = self.last_jobs.lock().ok();
        let known = last.and_then(|last| last.as_ref()?.for_request(request));
        let mut jobs = match known {
            Some(jobs) => jobs,
            None => {
                let jobs = self.parse_jobs(document, request)?;
                if request.is_repeatable()
                    && let Ok(mut last) = self.last_jobs.lock()
                {
                    *last = Some(LastJobs {
                        document: document.clone(),
                        entity: request.entity,
                        jobs: jobs.clone(),
                    });
                }
                jobs
            }
        };
        let table = &jobs.table;
        if request.names.contains(&"queue_priority") {
            jobs.warnings.extend(self.unknown_queue_priority(table));
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
            // trajectories and `explain --to` let the age of Slurm's jobs grow from there
            needed.push("eligible_time");
        }
        let options = ReadOptions {
            source_name: &source_name,
            numbers: self.options.numbers,
            entity: request.entity,
            queue_priorities: &self.queues.priorities(),
            strict: self.options.strict,
            cycle_jobs: request.cycle,
            record_origins: request.record_origins,
            ..ReadOptions::new(&schema, &needed)
        };
        let is_read_once = request.again && !document.can_be_opened_again();
        let read = if is_read_once || self.job_document.get().is_some() {
            read_jobs(self.job_document(document)?, &options)
        } else {
            let failed = SiteError::reading(source_name.as_ref());
            let content = decompressed(document.open()?).map_err(failed)?;
            read_jobs(content, &options)
        };
        // what another document is says more than where it is no list of jobs
        let mut read = read.map_err(|error| match document.check(Role::Queue) {
            Err(refusal @ SiteError::Content(_)) => refusal,
            _ => SiteError::content(error),
        })?;
        let mut problems = read.problems.listed().iter();
        if read.table.is_empty()
            && let Some(first) = problems.find(|one| one.problem.skips_the_job())
        {
            let skipped = read.problems.skipped();
            let mut reasons = vec![first.to_string()];
            // such as that the document is cut off
            reasons.extend(read.notes);
            return Err(format!(
                "`{source_name}`: none of its {skipped} jobs can be read: {}",
                reasons.join("; ")
            )
            .into());
        }
        for (name, kind) in read.table.undeclared() {
            schema.add_seen(name, kind);
        }
        let mut warnings = in_file(&source_name, &read.notes);
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

    /// The jobs on standard input or in a pipe, which can be read only once, so that they are kept.
    fn job_document(&self, document: &FileSource) -> Result<&[u8], SiteError> {
        if self.job_document.get().is_none() {
            let _ = self.job_document.set(document.read_up_to(MAX_DOCUMENT)?);
        }
        Ok(self.job_document.get().map_or(&[], Vec::as_slice))
    }

    /// Excludes the jobs in routing queues and those of other schedulers, and says how many there
    /// are of either.
    fn exclude_by_queue(&self, table: &mut JobTable) -> Vec<Message> {
        let mut reasons = Vec::new();
        for queue in table.queues().iter() {
            reasons.push(self.queue_excludes(queue));
        }
        let [mut routed, mut of_others] = [const { Vec::new() }; 2];
        for row in 0..table.len() {
            if let Some(reason) = &reasons[table.queue_index(row)] {
                table.exclude(row, reason.clone());
                match reason {
                    Exclusion::RoutingQueue => routed.push(row),
                    _ => of_others.push(row),
                }
            }
        }
        let mut messages = Vec::new();
        for rows in [routed, of_others] {
            let Some(&first) = rows.first() else { continue };
            if let Some(reason) = &reasons[table.queue_index(first)] {
                let jobs = counted(rows.len(), "job is", "jobs are");
                let queue = table.queue(first);
                messages.push(Message::from(format!(
                    "{jobs} not ranked because of the queue (first `{queue}`): {reason}"
                )));
            }
        }
        messages
    }

    /// Why the scheduler does not get the jobs of a queue.
    pub(crate) fn queue_excludes(&self, queue: &str) -> Option<Exclusion> {
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

    /// A warning for each `job_sort_key` by which nothing is sorted.
    fn unknown_sort_keys(&self, table: &JobTable) -> Vec<Message> {
        let mut warnings = Vec::new();
        for key in &self.config.job_sort_key.prime {
            if self.is_known_key(key, table) {
                continue;
            }
            let name = clipped(&key.name);
            let reason = match self.schema.entry(&key.name) {
                Some(_) => format!("`{name}` is for formulas and is not a resource"),
                None => format!("no document declares a resource `{name}`, and no job has it"),
            };
            let warning = format!(
                "`job_sort_key` `{name}` decides nothing: {reason}, and the scheduler takes 0 for every job"
            );
            warnings.push(warning.into());
        }
        warnings
    }

    /// A warning if jobs have no `queue_priority` because no document lists their queues.
    fn unknown_queue_priority(&self, table: &JobTable) -> Option<Message> {
        let column = table.column("queue_priority")?;
        let mut jobs = 0;
        let mut first = None;
        for row in 0..table.len() {
            let queue = table.queue(row);
            // the job itself may say the priority of its queue
            if column.nearest_double(row) != 0.0 {
                if self.queues.is_empty() {
                    return None;
                }
            } else if !(queue.is_empty() || self.queues.contains(queue)) {
                jobs += 1;
                first.get_or_insert(queue);
            }
        }
        let all = table.len();
        let message = format!(
            "`queue_priority` is 0 for {jobs} of {all} jobs, because no document lists their queues (first `{}`): ",
            first?
        );
        if !self.queues.is_empty() {
            return Some(format!("{message}are the queues those of this site?").into());
        }
        Some(Message::asking(message, [Need::Queues]))
    }
}

impl Site {
    /// An amount in a document of the server, as a number.
    pub(crate) fn amount(&self, text: &str, kind: Option<InputType>) -> Option<f64> {
        let numbers = self.options.numbers;
        numbers.amount(text, kind, AmountSource::Server)?.to_f64()
    }

    /// The amounts that the site gives to jobs of a resource that none of them requests, as far as
    /// they are known; `None` if jobs may request it.
    ///
    /// No user can request what the flags of a resource withhold. Of another resource of the site,
    /// every job must have what `resources_default` gives to it. What OpenPBS itself defines, such
    /// as `walltime`, is there to be requested.
    pub(crate) fn site_constant(
        &self,
        name: &str,
        schema: &Schema,
        table: Option<&JobTable>,
    ) -> Option<Vec<Value>> {
        let entry = schema.entry(name)?;
        if !matches!(entry.origin, Origin::Site | Origin::Seen) {
            return None;
        }
        let mut defaults = Vec::new();
        for queue in self.queues.execution_queues() {
            defaults.push(self.default_value(queue, name, schema));
        }
        if self.queues.is_empty() {
            defaults.push(self.default_value("", name, schema));
        }
        let has_default = defaults.iter().any(Option::is_some);
        let is_given = has_default
            && matches!(table, Some(table) if self.all_have_default(name, schema, table));
        if !(entry.is_withheld || is_given) {
            return None;
        }
        let mut amounts: Vec<Value> = Vec::new();
        if has_default {
            for default in defaults {
                amounts.push(default.unwrap_or(Value::Int(0)));
            }
        }
        if let Some(table) = table
            && let Some(column) = table.column(name)
        {
            for row in 0..column.len() {
                amounts.push(column.value(row));
            }
        }
        Some(amounts)
    }

    /// Whether there are jobs, and each of them either lacks the resource or has the default amount
    /// of its queue.
    fn all_have_default(&self, name: &str, schema: &Schema, table: &JobTable) -> bool {
        let Some(column) = table.column(name) else {
            return false;
        };
        let mut defaults = Vec::new();
        for queue in table.queues() {
            let default = self.default_value(queue, name, schema);
            defaults.push(default.as_ref().and_then(nearest_double));
        }
        for row in 0..table.len() {
            let own = Some(column.nearest_double(row));
            if column.is_set(row) && defaults[table.queue_index(row)] != own {
                return false;
            }
        }
        !column.is_empty()
    }

    /// What the formula sees of the default amount of a resource in a queue, or in the server.
    fn default_value(&self, queue: &str, name: &str, schema: &Schema) -> Option<Value> {
        let kind = schema.input_type(name);
        let text = self.queues.resources_default(queue, name)?;
        let numbers = self.options.numbers;
        let amount = numbers.amount(text, kind, AmountSource::Server)?;
        Some(numbers.resource(amount))
    }
}

/// The largest job document that is kept in memory to be read again, in bytes.
const MAX_DOCUMENT: u64 = 4 << 30;

/// The problems of jobs, and how many jobs are skipped.
fn job_problems(problems: &Problems, source_name: &str) -> Vec<Message> {
    let mut warnings = in_file(source_name, problems.listed());
    let not_listed = problems.total() - problems.listed().len();
    if not_listed > 0 {
        let more = count(not_listed, "more problem");
        warnings.push(format!("`{source_name}`: and {more}").into());
    }
    if problems.skipped() > 0 {
        let jobs = counted(problems.skipped(), "job is", "jobs are");
        warnings.push(format!("`{source_name}`: {jobs} skipped").into());
    }
    warnings
}

/// Says which jobs the scheduler ignores because it cannot read an amount of theirs.
fn invalid_jobs(table: &JobTable, source_name: &str) -> Vec<Message> {
    let mut warnings = Vec::new();
    for row in table.excluded_rows() {
        let row = row as usize;
        if let Some(exclusion @ Exclusion::Invalid { .. }) = table.exclusion(row) {
            warnings.push(format!("job `{}`: {exclusion}", table.id(row)));
        }
    }
    in_file(source_name, warnings)
}

/// Says how many of the jobs that wait lack the `eligible_time` that the formula reads.
fn missing_eligible_time(table: &JobTable, source_name: &str) -> Option<Message> {
    let column = table.column("eligible_time")?;
    if column.are_all_set() {
        return None;
    }
    let (mut count, mut missing) = (0, 0);
    for row in table.considered_rows() {
        count += 1;
        missing += usize::from(!column.is_set(row));
    }
    if missing == 0 {
        return None;
    }
    let mut message = format!(
        "`{source_name}`: {missing} of {count} jobs that wait have no `eligible_time`, so it is 0 for them"
    );
    // a server that records it for one job does so for all: the others were printed without it
    if missing == count {
        message += ": the server records it only with `eligible_time_enable = True`";
    }
    Some(message.into())
}

/// Says how many jobs lack what `fairshare_entity` asks for.
pub fn jobs_without_entity(table: &JobTable, entity: FairshareEntity) -> Option<Message> {
    let mut count = 0;
    for row in 0..table.len() {
        let name = table.entity(row);
        let lacks_group = entity == FairshareEntity::GroupUser && name.starts_with(':');
        count += usize::from(name.is_empty() || lacks_group);
    }
    if count == 0 {
        return None;
    }
    let message = format!(
        "`{entity}`, the fair-share entity (`fairshare_entity` in `sched_config`), is missing in {count} of {} jobs, \
         which count as unknown entities",
        table.len()
    );
    Some(message.into())
}

/// Says that the tree has a line for no entity of the queue.
pub fn unknown_entities(table: &JobTable, tree: &PbsTree) -> Option<Message> {
    let mut named = Vec::new();
    for entity in table.entities() {
        if entity.is_empty() {
            continue;
        }
        named.push(entity);
        if let Some(node) = tree.tree().find(entity)
            && tree.tree().parent(node) != Some(tree.unknown)
        {
            return None;
        }
    }
    let first = named.first()?;
    let message = format!(
        "the tree has none of the {} entities of the queue (first `{first}`), which are all in the group `unknown`: is \
         `fairshare_entity` right, and is the `resource_group` of this site?",
        named.len()
    );
    Some(message.into())
}
