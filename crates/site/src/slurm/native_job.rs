//! A job of Slurm as native JSON, with the inputs of the priority: one of the queue, or one that is
//! only described.

use std::collections::BTreeMap;

use job_sort_formula::schema::suggestions::did_you_mean;
use jsf_json::clipped;
use jsf_openpbs::duration_notation::parse_duration;
use jsf_openpbs::size::kilobytes;
use jsf_slurm::cluster::Cluster;
use jsf_slurm::conf::SlurmConf;
use jsf_slurm::jobs::{SlurmJob, TimeLimit, TresAmounts};
use jsf_slurm::priority::PriorityInputs;
use jsf_slurm::sprio::Sprio;
use serde::Serialize;

use super::priority_clock::Clock;
use super::slurm_queue::{SlurmQueue, is_direct, number};
use crate::{DescribedJob, SiteError};

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

pub fn native_job<'a>(
    job: &'a SlurmJob,
    conf: &SlurmConf,
    cluster: &Cluster,
    sprio: &Sprio,
    clock: &Clock,
) -> NativeJob<'a> {
    let now = clock.of(job);
    let mut inputs = PriorityInputs::new(job, &conf.priority, cluster, now);
    if let Some(row) = sprio.row(&job.id) {
        inputs.site_factor = row.site as f64;
    }
    let direct = if is_direct(job, sprio) {
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
    let mut named = BTreeMap::from_iter(inputs.named(&conf.priority));
    named.insert("direct_priority".to_owned(), direct.map_or(0.0, f64::from));
    if direct.is_some() {
        named.insert("fairshare_factor".to_owned(), 0.0);
    }
    named.insert("ngpus".to_owned(), job.gpus());
    let unweighted = PriorityInputs::unweighted(job, cluster);
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
        eligible_time: match job.accrues_from {
            Some(from) => (now - from).max(0),
            None => 0,
        },
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

impl SlurmQueue {
    /// A job that would be submitted now, as native JSON, by what its user asks for. What is no
    /// request, such as a factor, replaces the number that follows from the requests.
    ///
    /// # Errors
    /// There is no such partition or QOS, or a value is not an amount.
    pub fn described(
        &self,
        described: &DescribedJob,
        partition: &str,
        conf: &SlurmConf,
    ) -> Result<serde_json::Map<String, serde_json::Value>, SiteError> {
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
        let clock = Clock::known(now);
        let mut native = native_job(&job, conf, &self.cluster, &Sprio::default(), &clock);
        for (name, value) in others {
            let Ok(number) = value.parse() else {
                let value = clipped(value);
                let message = format!("`{name}` is `{value}`, expected a number");
                return Err(SiteError::content(message));
            };
            native.inputs.insert(name, number);
        }
        match serde_json::to_value(native)? {
            serde_json::Value::Object(job) => Ok(job),
            _ => Ok(serde_json::Map::new()),
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
