//! A job of Slurm as native JSON, with the inputs of the priority: one of the queue, or one that is
//! only described; and when slurmctld computed the priorities, which decides the ages of the jobs.

use std::collections::{BTreeMap, HashMap};

use job_sort_formula::schema::suggestions::did_you_mean;
use jsf_json::clipped;
use jsf_openpbs::amounts::{kilobytes, parse_duration};
use jsf_slurm::conf::SlurmConf;
use jsf_slurm::jobs::{SlurmJob, TimeLimit, TresAmounts};
use jsf_slurm::priority::{PriorityInputs, Sprio};
use serde::Serialize;
use serde_json::{Map, Value};

use super::slurm_queue::{SlurmQueue, is_direct, number};
use crate::{DescribedJob, SiteError, SiteFiles};

/// A job as native JSON.
#[derive(Serialize)]
pub struct NativeJob<'a> {
    id: &'a str,
    entity: String,
    queue: &'a str,
    state: &'static str,
    queued_at: Option<u64>,
    eligible_time: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    walltime: Option<u64>,
    queue_priority: i64,
    ncpus: u32,
    nodect: f64,
    mem: String,
    inputs: BTreeMap<String, f64>,
}

impl SlurmQueue {
    pub fn native_job<'a>(&self, job: &'a SlurmJob, clock: &Clock) -> NativeJob<'a> {
        let now = clock.of(job);
        let mut inputs = PriorityInputs::new(job, &self.settings, &self.cluster, now);
        if let Some(row) = self.sprio.row(&job.id) {
            inputs.site_factor = row.site as f64;
        }
        let direct = if is_direct(job, &self.sprio) {
            job.priority
        } else {
            None
        };
        if direct.is_some() {
            inputs = PriorityInputs {
                tres: vec![0.0; inputs.tres.len()],
                ..PriorityInputs::default()
            };
        }
        let mut named = BTreeMap::from_iter(inputs.named(&self.settings));
        named.insert("direct_priority".to_owned(), direct.map_or(0.0, f64::from));
        if direct.is_some() {
            named.insert("fairshare_factor".to_owned(), 0.0);
        }
        named.insert("ngpus".to_owned(), job.gpus());
        let unweighted = PriorityInputs::unweighted(job, &self.cluster);
        for (name, number) in unweighted {
            named.insert(name.to_owned(), number);
        }
        let state = if job.is_held() {
            "H"
        } else if job.is_pending() {
            "Q"
        } else {
            "R"
        };
        NativeJob {
            id: &job.id,
            entity: format!("{}/{}", job.account, job.user),
            queue: job.first_partition(),
            state,
            // of equal priorities, the smaller number is first
            queued_at: number(job),
            eligible_time: job.accrues_from.map_or(0, |from| (now - from).max(0)),
            walltime: match job.time_limit {
                TimeLimit::Minutes(minutes) => Some(u64::from(minutes) * 60),
                _ => None,
            },
            queue_priority: unweighted[2].1 as i64,
            ncpus: job.cpus,
            nodect: job.nodes(),
            mem: format!("{}mb", job.memory().round()),
            inputs: named,
        }
    }

    /// A job that would be submitted now, as native JSON, by what its user asks for. What is no
    /// request, such as a factor, replaces the number that follows from the requests.
    ///
    /// # Errors
    /// There is no such partition or QOS, or a value is not an amount.
    pub fn described(
        &self,
        described: &DescribedJob,
        partition: &str,
    ) -> Result<Map<String, Value>, SiteError> {
        require_known("partition", partition, &self.cluster.job_factors())?;
        let entity = &described.entity;
        let (account, user) = entity.split_once('/').unwrap_or(("", entity));
        let now = self.at.unwrap_or_default();
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
            let wrong = SiteError::content(format!("`{name}` cannot be `{}`", clipped(value)));
            match name.as_str() {
                "qos" => {
                    require_known("QOS", value, &self.cluster.qos_priorities())?;
                    job.qos.clone_from(value);
                }
                "ncpus" => job.cpus = value.parse().or(Err(wrong))?,
                "nodect" => tres[0] = format!("node={value}"),
                "ngpus" => tres.push(format!("gres/gpu={value}")),
                "nice" => job.nice = value.parse().or(Err(wrong))?,
                "mem" => {
                    let expected = "a size with `b`, `kb`, `mb`, `gb` or `tb`, such as `4gb`";
                    let Some(kilobytes) = kilobytes(value) else {
                        let message = format!("`{}` is not {expected}", clipped(value));
                        return Err(SiteError::content(message));
                    };
                    tres.push(format!("mem={kilobytes}K"));
                }
                "walltime" => {
                    let seconds = parse_duration(value)?;
                    let minutes = u32::try_from(seconds.div_ceil(60)).or(Err(wrong))?;
                    job.time_limit = TimeLimit::Minutes(minutes);
                }
                "eligible_time" => {
                    let waited = parse_duration(value)?;
                    let waited = i64::try_from(waited).or(Err(wrong))?;
                    job.accrues_from = Some(now.saturating_sub(waited));
                }
                _ => others.push((name.clone(), value)),
            }
        }
        tres.push(format!("cpu={}", job.cpus));
        job.tres = TresAmounts::parse(&tres.join(","));
        let mut native = self.native_job(&job, &Clock::known(now));
        for (name, value) in others {
            let Ok(number) = value.parse() else {
                let value = clipped(value);
                let message = format!("`{name}` is `{value}`, expected a number");
                return Err(SiteError::content(message));
            };
            native.inputs.insert(name, number);
        }
        match serde_json::to_value(native)? {
            Value::Object(job) => Ok(job),
            _ => Ok(Map::new()),
        }
    }
}

/// Refuses a name that the site does not list, if it lists any.
fn require_known(what: &str, name: &str, known: &BTreeMap<String, u32>) -> Result<(), SiteError> {
    if known.is_empty() || known.contains_key(name) {
        return Ok(());
    }
    let similar = did_you_mean(name, known.keys().map(String::as_str));
    Err(SiteError::content(format!(
        "no {what} is called `{}`{similar}",
        clipped(name)
    )))
}

/// When the priorities are computed.
#[derive(Default)]
pub struct Clock {
    pub now: i64,
    pub is_guessed: bool,
    /// Whether the ages in `sprio` are not those by `PriorityMaxAge`.
    pub ages_are_of_others: bool,
    /// The times of single jobs that the daemon computed at another time.
    of_jobs: HashMap<String, i64>,
}

impl Clock {
    pub fn known(now: i64) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// The time that was asked for; else that of the daemon's calculation, which follows from the
    /// ages in `sprio`; else that of the collected files; else the latest one of the jobs.
    pub fn new(
        at: Option<i64>,
        jobs: &[SlurmJob],
        conf: &SlurmConf,
        sprio: &Sprio,
        files: &SiteFiles,
    ) -> Self {
        if let Some(at) = at {
            return Self::known(at);
        }
        let mut clock = Self::known(0);
        let mut ages: Vec<(&SlurmJob, (i64, i64))> = Vec::new();
        for job in jobs {
            if job.is_pending()
                && let Some(from) = job.accrues_from
                && let Some(between) = sprio.calculated_between(&job.id, from, &conf.priority)
            {
                ages.push((job, between));
            }
        }
        let common = most_common(&ages);
        let (mut agreeing, mut differing) = (0, 0);
        for (job, (first, last)) in ages {
            let agrees = matches!(common, Some(now) if (first..=last).contains(&now));
            if !agrees {
                clock.of_jobs.insert(job.id.clone(), middle(first, last));
            }
            // what is open at one end says little
            if first > i64::MIN && last < i64::MAX {
                agreeing += usize::from(agrees);
                differing += usize::from(!agrees);
            }
        }
        // under another PriorityMaxAge nearly each job has a time of its own
        clock.ages_are_of_others = differing > 1 && differing > agreeing;
        if clock.ages_are_of_others {
            clock.of_jobs.clear();
        }
        if let Some(now) = common
            && !clock.ages_are_of_others
        {
            clock.now = now;
        } else if let Some(now) = files.jobs_taken_at() {
            clock.now = now;
        } else {
            let mut latest = None;
            for job in jobs {
                latest = latest.max(job.submitted).max(job.accrues_from);
            }
            clock.now = latest.unwrap_or(0);
            clock.is_guessed = true;
        }
        clock
    }

    pub fn of(&self, job: &SlurmJob) -> i64 {
        self.of_jobs.get(&job.id).copied().unwrap_or(self.now)
    }
}

/// The middle of the times that most intervals contain.
fn most_common(intervals: &[(&SlurmJob, (i64, i64))]) -> Option<i64> {
    let mut ends: Vec<(i64, i32)> = Vec::new();
    for &(_, (first, last)) in intervals {
        ends.extend([(first, -1), (last, 1)]);
    }
    // of equal times, beginnings come first
    ends.sort_unstable();
    let (mut count, mut most, mut best) = (0, 0, None);
    for pair in 0..ends.len() {
        let (time, end) = ends[pair];
        count -= end;
        if count > most {
            let until = ends.get(pair + 1).map_or(time, |(next, _)| *next);
            (most, best) = (count, Some(middle(time, until)));
        }
    }
    best
}

/// A time of an interval that may be open at one end.
fn middle(first: i64, last: i64) -> i64 {
    match (first, last) {
        (i64::MIN, last) => last,
        (first, i64::MAX) => first,
        (first, last) => first + (last - first) / 2,
    }
}
