//! A job that a user would submit now, by its description such as `queue=gpu,ncpus=12,walltime=4h`.
//!
//! In: the description, and the jobs that were read. Out: one more row of their table, with what the
//! server and the queue give to a job when it is queued; or why the server would refuse it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::str::FromStr;

use job_sort_formula::diagnostic::Need;
use job_sort_formula::jobs::{InputOrigin, InputPrecedence, JobState};
use job_sort_formula::schema::suggestions::did_you_mean;
use job_sort_formula::schema::{FairshareInput, InputType, Origin};
use job_sort_formula::{Job, JobTable, Program};
use jsf_ingest::{NativeJob, ReadOptions, read_jobs};
use jsf_json::clipped;
use jsf_openpbs::amounts::kilobytes;
use jsf_openpbs::times::parse_duration;
use jsf_slurm::sprio::CalculationTime;
use jsf_slurm::{Factor, SlurmJob, TimeLimit, TresAmounts};
use serde_json::{Number, Value};

use crate::slurm_queue::SlurmQueue;
use crate::{Site, SiteError, SiteJobs};

/// The id of a described job.
const ID: &str = "described";
const CANNOT_WAIT: &str = "the described job cannot wait for the scheduler: ";
/// What the server makes of a job that requests no chunks: one, of one processor
/// (pbs_resources(7B)).
const ONE_WITHOUT_CHUNKS: [&str; 2] = ["nodect", "ncpus"];

/// A job as its user describes it: its queue, the amounts that it requests, and attributes that a
/// formula reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescribedJob {
    /// The queue; `None` for the server's default queue.
    pub queue: Option<String>,
    /// The fair-share entity; empty if none is named.
    pub entity: String,
    /// The names of inputs, each with its value as it is written.
    pub inputs: Vec<(String, String)>,
}

impl FromStr for DescribedJob {
    type Err = String;

    /// Reads `NAME=VALUE`, separated by commas, where `queue` names the queue.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut job = Self::default();
        for word in text.split(',') {
            let word = word.trim();
            if word.is_empty() {
                continue;
            }
            let (name, value) = word.split_once('=').unwrap_or_default();
            let (name, value) = (name.trim(), value.trim());
            if name.is_empty() || value.is_empty() {
                return Err(format!("`{word}` is not NAME=VALUE, such as `ncpus=12`"));
            }
            if job.inputs.iter().any(|(known, _)| known == name)
                || (name == "queue" && job.queue.is_some())
            {
                return Err(format!("`{name}` is given more than once"));
            }
            match name {
                "queue" => job.queue = Some(value.to_owned()),
                _ => job.inputs.push((name.to_owned(), value.to_owned())),
            }
        }
        if job == Self::default() {
            Err("the job is not described".to_owned())
        } else {
            Ok(job)
        }
    }
}

impl Site {
    /// Adds a described job to jobs that were read for a program, and returns its row: it waits,
    /// has waited no time, and was submitted after all others.
    ///
    /// # Errors
    /// The server would refuse it, a name or a value is wrong, or the formula needs the shares of
    /// an entity and none is named.
    pub fn add_described(
        &self,
        jobs: &mut SiteJobs,
        program: Option<&Program>,
        described: &DescribedJob,
    ) -> Result<usize, SiteError> {
        let queue = self.queue_of(described)?;
        let mut job = match &self.slurm {
            Some(slurm) => slurm.described(described, &queue)?,
            None => self.described_of_openpbs(jobs, described, &queue)?,
        };
        job.id = ID.into();
        job.entity = described.entity.as_str().into();
        job.queue = queue.as_str().into();
        // read as a document of jobs is, so that its amounts become numbers by the same rules
        let job = serde_json::to_vec(&job)?;
        let names: Vec<&str> = jobs.table.columns().map(|(name, _)| name).collect();
        let priorities = self.queues.priorities();
        let options = ReadOptions {
            source_name: "the described job",
            numbers: self.options.numbers,
            queue_priorities: &priorities,
            record_origins: true,
            ..ReadOptions::new(&jobs.schema, &names)
        };
        let read = read_jobs(&*job, &options).map_err(SiteError::content)?;
        if let Some(problem) = read.problems.listed().first() {
            return Err(SiteError::content(problem));
        }
        if let Some(exclusion) = read.table.exclusion(0) {
            return Err(format!("{CANNOT_WAIT}{exclusion}").into());
        }
        check_ranges(jobs, &read.table)?;
        check_shares(program, described)?;
        append(&mut jobs.table, &read.table)
    }

    /// A job with what the server and the queue give to it.
    fn described_of_openpbs<'j>(
        &'j self,
        jobs: &'j SiteJobs,
        described: &'j DescribedJob,
        queue: &str,
    ) -> Result<NativeJob<'j>, SiteError> {
        self.check_names(jobs, described)?;
        let mut job = NativeJob::default();
        for (name, value) in &described.inputs {
            let value = self.given_value(jobs, name, value)?;
            self.check_limits(jobs, queue, name, &value)?;
            if jobs.schema.origin(name) == Some(Origin::Special) {
                job.attributes.insert(name, value);
            } else {
                job.resources.insert(name.into(), value);
            }
        }
        // only what the formula, the order or a check reads has a column: no other default matters
        for (name, _) in jobs.table.columns() {
            let mut default = self.queues.default_amount(queue, name);
            if default.is_none() && ONE_WITHOUT_CHUNKS.contains(&name) {
                default = Some("1");
            }
            if let Some(default) = default {
                let resource = job.resources.entry(name.into());
                resource.or_insert_with(|| default.into());
            }
        }
        Ok(job)
    }

    /// The queue in which the job waits.
    fn queue_of(&self, described: &DescribedJob) -> Result<String, SiteError> {
        let Some(queue) = described.queue.as_deref().or(self.queues.default_queue()) else {
            return Err(SiteError::content(
                "the described job has no queue, and no default queue is known: add `queue=NAME`",
            ));
        };
        if !self.queues.is_empty() && !self.queues.contains(queue) {
            let similar = did_you_mean(queue, self.queues.iter().map(|(name, _)| name));
            let message = format!("no queue is called `{queue}`{similar}");
            return Err(message.into());
        }
        if let Some(exclusion) = self.queue_excludes(queue) {
            return Err(format!("{CANNOT_WAIT}{exclusion}").into());
        }
        if !self.queues.is_enabled(queue) {
            let message = format!("the queue `{queue}` accepts no jobs (`enabled` is false)");
            return Err(message.into());
        }
        Ok(queue.to_owned())
    }

    /// Each name must be known, or unlike those that the formula reads.
    fn check_names(&self, jobs: &SiteJobs, described: &DescribedJob) -> Result<(), SiteError> {
        for (name, _) in &described.inputs {
            let message = match jobs.schema.entry(name) {
                Some(entry) if entry.input_type.is_numeric() => continue,
                Some(_) => format!(
                    "`{name}` is not a number: describe the job by the amounts that it requests in all"
                ),
                None => {
                    let known = jobs.schema.iter().map(|(known, _)| known);
                    let similar = did_you_mean(name, known);
                    if similar.is_empty() {
                        continue;
                    }
                    format!("no resource is called `{name}`{similar}")
                }
            };
            return Err(message.into());
        }
        Ok(())
    }

    /// A value as a document of jobs has it: a number, or an amount with a unit.
    fn given_value(&self, jobs: &SiteJobs, name: &str, value: &str) -> Result<Value, SiteError> {
        let kind = jobs.schema.input_type(name);
        if kind == Some(InputType::Duration) {
            let seconds = parse_duration(value)
                .map_err(|error| SiteError::content(format!("`{name}`: {error}")))?;
            return Ok(seconds.into());
        }
        Ok(match value.parse::<Number>() {
            Ok(number) => number.into(),
            Err(_) => value.into(),
        })
    }

    /// The server refuses a job that requests more than `resources_max` or less than
    /// `resources_min`.
    fn check_limits(
        &self,
        jobs: &SiteJobs,
        queue: &str,
        name: &str,
        value: &Value,
    ) -> Result<(), SiteError> {
        let kind = jobs.schema.input_type(name);
        let text = match value.as_str() {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        };
        let given = self.amount(&text, kind);
        let bounds = [
            ("most", self.queues.maximum(queue, name), Ordering::Greater),
            ("least", self.queues.minimum(queue, name), Ordering::Less),
        ];
        for (bound, limit, beyond) in bounds {
            if let (Some(given), Some(limit)) = (given, limit)
                && let Some(amount) = self.amount(limit, kind)
                && given.partial_cmp(&amount) == Some(beyond)
            {
                return Err(format!(
                    "the server refuses such a job: `{name}` is {text}, and a job of `{queue}` has at {bound} {limit}"
                ).into());
            }
        }
        Ok(())
    }
}

impl SlurmQueue {
    /// A job that would be submitted now, by what its user asks for. What is no request, such as a
    /// factor, replaces the number that follows from the requests.
    ///
    /// # Errors
    /// There is no such partition or QOS, or a value is not an amount.
    fn described(
        &self,
        described: &DescribedJob,
        partition: &str,
    ) -> Result<NativeJob<'static>, SiteError> {
        require_known(
            "partition",
            partition,
            self.cluster.priorities(Factor::Partition),
        )?;
        let entity = &described.entity;
        let (account, user) = entity.split_once('/').unwrap_or(("", entity));
        let now = self.at.as_ref().map_or(0, |time| time.now);
        let mut job = SlurmJob {
            account: account.to_owned(),
            user: user.to_owned(),
            partition: partition.to_owned(),
            qos: "normal".to_owned(),
            state: "PENDING".to_owned(),
            submitted: Some(now),
            accrues_from: Some(now),
            cpus: 1,
            ..SlurmJob::default()
        };
        let mut tres = vec!["node=1".to_owned()];
        let mut others = Vec::new();
        for (name, value) in &described.inputs {
            let wrong = SiteError::content(format!(
                "`{name}` is `{}`, expected a number, or an amount such as `4gb`",
                clipped(value)
            ));
            match name.as_str() {
                "qos" => {
                    require_known("QOS", value, self.cluster.priorities(Factor::Qos))?;
                    job.qos.clone_from(value);
                }
                "ncpus" => job.cpus = value.parse().or(Err(wrong))?,
                "nodect" => tres[0] = format!("node={value}"),
                "ngpus" => tres.push(format!("gres/gpu={value}")),
                "nice" => job.nice = value.parse().or(Err(wrong))?,
                "mem" => tres.push(format!("mem={}K", kilobytes(value).ok_or(wrong)?)),
                "walltime" => {
                    let seconds = parse_duration(value)?;
                    // sbatch(1): seconds are rounded up to the next minute
                    let minutes = u32::try_from(seconds.div_ceil(60)).or(Err(wrong))?;
                    job.time_limit = TimeLimit::Minutes(minutes);
                }
                "eligible_time" => {
                    let waited = parse_duration(value)?;
                    let waited = i64::try_from(waited).or(Err(wrong))?;
                    job.accrues_from = Some(now.saturating_sub(waited));
                }
                _ => match value.parse::<f64>() {
                    Ok(number) if number.is_finite() => others.push((name, number)),
                    _ => return Err(wrong),
                },
            }
        }
        // after all words, as `ncpus` may be any of them
        tres.push(format!("cpu={}", job.cpus));
        job.tres = TresAmounts::parse(&tres.join(","));
        let mut native = self.native_job(&job, &CalculationTime::known(now));
        for (name, number) in others {
            native.add_input(name.clone(), &job_sort_formula::Value::Float(number));
        }
        Ok(native)
    }
}

/// Refuses a name that the site does not list, if it lists any.
fn require_known(what: &str, name: &str, known: &BTreeMap<String, u32>) -> Result<(), SiteError> {
    if known.is_empty() || known.contains_key(name) {
        return Ok(());
    }
    let similar = did_you_mean(name, known.keys().map(String::as_str));
    Err(format!("no {what} is called `{}`{similar}", clipped(name)).into())
}

/// A formula with fair-share numbers needs the job's own, or an entity.
fn check_shares(program: Option<&Program>, described: &DescribedJob) -> Result<(), SiteError> {
    let Some(program) = program else {
        return Ok(());
    };
    if !described.entity.is_empty() {
        return Ok(());
    }
    for name in program.inputs() {
        let Some(input) = FairshareInput::from_name(name) else {
            continue;
        };
        let mut given = described.inputs.iter();
        if !given.any(|(name, _)| FairshareInput::from_name(name) == Some(input)) {
            let message = format!(
                "the formula reads `{name}`, and the described job has no entity: add `{name}=…`, or "
            );
            return Err(SiteError::missing(message, Need::Entity));
        }
    }
    Ok(())
}

/// No value is outside the range of its name.
fn check_ranges(jobs: &SiteJobs, described: &JobTable) -> Result<(), SiteError> {
    for (name, column) in described.columns() {
        let Some(entry) = jobs.schema.entry(name) else {
            continue;
        };
        let value = column.nearest_double(0);
        if value < entry.range.least || value > entry.range.most {
            let value = column.value(0).repr();
            let (least, most) = (entry.range.least, entry.range.most);
            let message = format!("`{name}` is {value}, expected a number from {least} to {most}");
            return Err(message.into());
        }
    }
    Ok(())
}

/// Appends the job of another table with the same columns, and returns its new row.
fn append(table: &mut JobTable, other: &JobTable) -> Result<usize, SiteError> {
    let job = Job {
        id: ID,
        entity: other.entity(0),
        queue: other.queue(0),
        state: JobState::Queued,
        queued_at: None,
        exclusion: None,
    };
    let mut values = Vec::new();
    for (_, column) in other.columns() {
        let value = column.value(0);
        // for `push` an `Err` is a default: `explain` then says that the job does not set it
        values.push(if column.is_set(0) {
            Ok(value)
        } else {
            Err(value)
        });
    }
    table.push(&job, &values).map_err(SiteError::content)?;
    let mut sources = Vec::new();
    for (name, _) in other.columns() {
        sources.push(match other.origin(name, 0) {
            Some(InputOrigin::Queue) => Some(InputPrecedence::Queue),
            Some(InputOrigin::Inputs) => Some(InputPrecedence::Input),
            Some(InputOrigin::ResourceList | InputOrigin::Job) => Some(InputPrecedence::Job),
            Some(InputOrigin::FairShareTree | InputOrigin::Unset) | None => None,
        });
    }
    table.push_origins(&sources);
    Ok(table.len() - 1)
}
