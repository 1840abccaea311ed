//! The file `sched_priv/sched_config`: one setting `name: value [PRIME|NON_PRIME|ALL]` per line.
//!
//! Only the settings that bear on the order of jobs are kept; a name that the scheduler does not know, and a value
//! that it cannot use, are [`ConfigWarning`]s, and the setting stays as it was. Defaults are those of the man page
//! `pbs_sched`. How odd values read is recorded in `tests/golden/openpbs/pbsfs`, cases 90 to 96.

mod line;
mod value;

use crate::pbs::files::sched_config::line::{Line, split_line};
use crate::pbs::files::sched_config::value::{decay_factor, duration, number_or_unspecified, sort_key, truth};

use crate::pbs::c_string::{is_blank_or_comment, name_text};
use crate::pbs::entity::FairshareEntity;

/// A setting that may differ between prime time and the rest of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByTime<T> {
    /// In prime time.
    pub prime: T,
    /// Outside prime time.
    pub non_prime: T,
}

impl<T: Clone> ByTime<T> {
    /// The same at all times.
    pub fn always(value: T) -> Self {
        Self { prime: value.clone(), non_prime: value }
    }

    /// Changes the value at the times that a line names.
    fn change(&mut self, times: Times, mut change: impl FnMut(&mut T)) {
        if times.prime {
            change(&mut self.prime);
        }
        if times.non_prime {
            change(&mut self.non_prime);
        }
    }
}

/// The times that a line speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Times {
    prime: bool,
    non_prime: bool,
}

/// A key of `job_sort_key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    /// A resource, or one of `fair_share_perc`, `job_priority`, `preempt_priority`, `sort_priority`.
    pub name: String,
    /// Which values come first.
    pub first: SortFirst,
}

/// Which values a [`SortKey`] puts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortFirst {
    /// `HIGH`
    High,
    /// `LOW`
    Low,
}

/// Something in the file that has no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct ConfigWarning {
    /// The line in the file, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: ConfigFault,
}

/// Why a line of `sched_config` has no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFault {
    /// No colon, no name or no value.
    #[error("a line is `name: value`, this is `{0}`")]
    NotASetting(String),
    /// A setting that the scheduler does not have.
    #[error("`{0}` is not a setting of the scheduler")]
    UnknownName(String),
    /// The word after the value is none of the times: the setting is in force at all of them.
    #[error("`{0}` is not `PRIME`, `NON_PRIME` or `ALL`")]
    UnknownTime(String),
    /// A value that the setting cannot have.
    #[error("`{name}` cannot be `{value}`: {expected}")]
    BadValue {
        /// The setting.
        name: String,
        /// Its value in the file.
        value: String,
        /// What would do.
        expected: &'static str,
    },
}

/// The settings that bear on the order of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct SchedConfig {
    /// Whether fair share decides between jobs that the formula ties. Default: false.
    pub fair_share: ByTime<bool>,
    /// The shares of the group `unknown`; -1 where the file has no number. Default: 0.
    pub unknown_shares: i32,
    /// Whose usage a job's is. Default: `euser`.
    pub fairshare_entity: FairshareEntity,
    /// The formula for a job's usage, over the resources it has used. Default: `cput`.
    pub fairshare_usage_res: String,
    /// The time between two decays, in seconds. Default: 86,400.
    pub fairshare_decay_time: u64,
    /// What usage is multiplied with at each decay, between 0 and 1, in the daemon's precision. Default: 0.5.
    pub fairshare_decay_factor: f32,
    /// Whether the queues take their turns in order of priority. Default: true.
    pub by_queue: ByTime<bool>,
    /// Whether queues of the same priority give a job each in turn. Default: false.
    pub round_robin: ByTime<bool>,
    /// Whether a job that cannot run holds up those behind it. Default: false.
    pub strict_ordering: ByTime<bool>,
    /// Whether jobs of an express queue may preempt others, and therefore come first. Default: true.
    pub preemptive_sched: ByTime<bool>,
    /// The priority from which a queue is an express queue. Default: 150.
    pub preempt_queue_prio: i32,
    /// What decides between jobs that all else ties, in order. Default: nothing.
    pub job_sort_key: ByTime<Vec<SortKey>>,
    /// The lines without effect, in file order.
    pub warnings: Vec<ConfigWarning>,
}

impl Default for SchedConfig {
    fn default() -> Self {
        Self {
            fair_share: ByTime::always(false),
            unknown_shares: 0,
            fairshare_entity: FairshareEntity::default(),
            fairshare_usage_res: "cput".to_owned(),
            fairshare_decay_time: 24 * 60 * 60,
            fairshare_decay_factor: 0.5,
            by_queue: ByTime::always(true),
            round_robin: ByTime::always(false),
            strict_ordering: ByTime::always(false),
            preemptive_sched: ByTime::always(true),
            preempt_queue_prio: 150,
            job_sort_key: ByTime::always(Vec::new()),
            warnings: Vec::new(),
        }
    }
}

impl SchedConfig {
    /// Reads the file. No file is wrong as a whole; what has no effect is in [`warnings`](Self::warnings).
    pub fn parse(file: &[u8]) -> Self {
        let mut config = Self::default();
        for (index, text) in file.split(|&byte| byte == b'\n').enumerate() {
            if is_blank_or_comment(crate::pbs::c_string::c_string(text)) {
                continue;
            }
            let faults = match split_line(&name_text(crate::pbs::c_string::c_string(text))) {
                Ok((line, unknown_time)) => [unknown_time, config.apply(&line).err()],
                Err(fault) => [Some(fault), None],
            };
            let warning = |fault| ConfigWarning { line: index + 1, fault };
            config.warnings.extend(faults.into_iter().flatten().map(warning));
        }
        config
    }

    fn apply(&mut self, line: &Line<'_>) -> Result<(), ConfigFault> {
        let Line { name, value, times } = *line;
        match name {
            "fair_share" => set(&mut self.fair_share, times, truth(line)?),
            "by_queue" => set(&mut self.by_queue, times, truth(line)?),
            "round_robin" => set(&mut self.round_robin, times, truth(line)?),
            "strict_ordering" => set(&mut self.strict_ordering, times, truth(line)?),
            "preemptive_sched" => set(&mut self.preemptive_sched, times, truth(line)?),
            "job_sort_key" => {
                let key = sort_key(line)?;
                self.job_sort_key.change(times, |keys| keys.push(key.clone()));
            }
            "unknown_shares" => return self.apply_unknown_shares(line),
            "preempt_queue_prio" => self.preempt_queue_prio = value::number(line)?,
            "fairshare_usage_res" => self.fairshare_usage_res = value.to_owned(),
            "fairshare_decay_time" => self.fairshare_decay_time = duration(line)?,
            "fairshare_decay_factor" => self.fairshare_decay_factor = decay_factor(line)?,
            "fairshare_entity" => {
                let expected = "it is `euser`, `egroup`, `Account_Name`, `queue` or `egroup:euser`";
                self.fairshare_entity = value.parse().map_err(|_| line.bad_value(expected))?;
            }
            _ if WITHOUT_BEARING.contains(&name) => {}
            _ => return Err(ConfigFault::UnknownName(name.to_owned())),
        }
        Ok(())
    }

    /// The one setting that a bad value changes: it becomes -1, and so a negative share of the tree.
    fn apply_unknown_shares(&mut self, line: &Line<'_>) -> Result<(), ConfigFault> {
        self.unknown_shares = number_or_unspecified(line.value);
        let is_whole = !line.value.is_empty() && line.value.bytes().all(|byte| byte.is_ascii_digit());
        let expected = "it is a whole number; what does not start with a digit reads as -1";
        if is_whole { Ok(()) } else { Err(line.bad_value(expected)) }
    }
}

fn set(setting: &mut ByTime<bool>, times: Times, value: bool) {
    setting.change(times, |at| *at = value);
}

/// The scheduler's other settings, past and present.
const WITHOUT_BEARING: &[&str] = &[
    "allow_aoe_calendar",
    "assign_ssinodes",
    "backfill",
    "backfill_depth",
    "backfill_prime",
    "cpus_per_ssinode",
    "dedicated_prefix",
    "fairshare_enforce_no_shares",
    "half_life",
    "help_starving_jobs",
    "load_balancing",
    "load_balancing_rr",
    "log_filter",
    "max_starve",
    "mem_per_ssinode",
    "node_sort_key",
    "nonprimetime_prefix",
    "peer_queue",
    "peer_translation",
    "preempt_order",
    "preempt_prio",
    "preempt_sort",
    "prime_exempt_anytime_queues",
    "prime_spill",
    "primetime_prefix",
    "provision_policy",
    "resources",
    "server_dyn_res",
    "smp_cluster_dist",
    "sort_by",
    "sort_priority",
    "sort_queues",
    "strict_fifo",
    "sync_time",
    "throughput_mode",
];

#[cfg(test)]
mod tests;
