//! `sched_config`, which says how the scheduler runs jobs.
//!
//! It has one setting `name: value [PRIME|NON_PRIME|ALL]` per line. Out: a [`SchedConfig`] with the
//! settings that affect the order of jobs. An unknown setting and a value that the scheduler cannot use
//! are [`ConfigWarning`]s, and the setting keeps its value. The defaults are those of the man page
//! `pbs_sched`. How the daemon reads invalid values is recorded in `tests/golden/openpbs/pbsfs`, cases 90
//! to 96.

use std::collections::HashMap;

use crate::c_text::{
    c_string, is_blank_or_comment, leading_int, name_text, whole_double, whole_int,
};
use crate::job_attributes::FairshareEntity;
use crate::times::seconds;

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
        Self {
            prime: value.clone(),
            non_prime: value,
        }
    }

    /// The value in prime time or outside it.
    pub fn at(&self, is_prime: bool) -> &T {
        if is_prime {
            &self.prime
        } else {
            &self.non_prime
        }
    }

    /// Makes the value outside prime time that of all times. Returns whether it differed.
    fn keep_non_prime(&mut self) -> bool
    where
        T: PartialEq,
    {
        let differs = self.prime != self.non_prime;
        self.prime = self.non_prime.clone();
        differs
    }

    /// The values at the given times.
    fn at_times(&mut self, times: Times) -> Vec<&mut T> {
        let mut values = Vec::new();
        if times.prime {
            values.push(&mut self.prime);
        }
        if times.non_prime {
            values.push(&mut self.non_prime);
        }
        values
    }
}

/// The times that a line applies to.
type Times = ByTime<bool>;

/// A key of `job_sort_key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    /// A resource, or one of `fair_share_perc`, `job_priority`, `preempt_priority`,
    /// `sort_priority`.
    pub name: String,
    /// Which values come first.
    pub first: SortFirst,
}

/// A key of `node_sort_key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSortKey {
    /// `sort_priority`, which is the `Priority` of a node, or a resource.
    pub key: SortKey,
    /// Which of a node's amounts it is.
    pub amount: NodeAmount,
}

/// Which amount of a resource of a node a key is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeAmount {
    /// `total`: what the node has.
    Total,
    /// `unused`: what no job holds.
    Unused,
    /// `assigned`: what jobs hold.
    Assigned,
}

impl SortKey {
    /// Whether the name is one of the four that are not resources. By any other name that is not a
    /// resource the scheduler sorts nothing: it takes 0 for every job, and logs no message.
    pub fn is_special(&self) -> bool {
        matches!(
            &*self.name,
            "fair_share_perc" | "job_priority" | "preempt_priority" | "sort_priority"
        )
    }
}

/// The most keys that are used at one time, as many as PBS's manual allows in `node_sort_key`.
const MAX_SORT_KEYS: usize = 20;

/// Which values a [`SortKey`] puts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortFirst {
    /// `HIGH`
    High,
    /// `LOW`
    Low,
}

/// A line of the file that has no effect, or not the intended one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct ConfigWarning {
    /// The line in the file, from 1.
    pub line: usize,
    /// What is wrong with the line.
    pub fault: String,
    /// Whether an earlier line sets the setting at the same time. The last line counts.
    pub is_repeated: bool,
}

/// The settings that affect the order of jobs and which of them run.
#[derive(Debug, Clone, PartialEq)]
pub struct SchedConfig {
    /// Whether fair share decides between jobs with the same value. Default: false.
    pub fair_share: ByTime<bool>,
    /// The shares of the group `unknown`; -1 if the value is not a number. Default: 0.
    pub unknown_shares: i32,
    /// The attribute that names the fair-share entity of a job. Default: `euser`.
    pub fairshare_entity: FairshareEntity,
    /// The formula for the usage of a job, over its used resources. Default: `cput`.
    pub fairshare_usage_res: String,
    /// Whether jobs whose entity has no shares never run while fair share decides. Default: true.
    pub fairshare_enforce_no_shares: bool,
    /// The time between two decays, in seconds. Default: 86,400.
    pub fairshare_decay_time: u64,
    /// The factor by which each decay multiplies usage, between 0 and 1, as a C `float`. Default:
    /// 0.5.
    pub fairshare_decay_factor: f32,
    /// Whether all jobs of a queue are considered before those of the next queue. Default: true.
    pub by_queue: ByTime<bool>,
    /// Whether one job of each queue of the same priority is considered in turn. Default: false.
    pub round_robin: ByTime<bool>,
    /// Whether a job that cannot run blocks the jobs after it. Default: false.
    pub strict_ordering: ByTime<bool>,
    /// Whether no job may run across the border between prime time and the rest of the week.
    /// Default: false.
    pub backfill_prime: ByTime<bool>,
    /// By how many seconds a job may run across that border all the same. Default: 0.
    pub prime_spill: ByTime<u64>,
    /// Whether `backfill_prime` concerns only the queues of prime time and of the time outside it.
    /// Default: false.
    pub prime_exempt_anytime_queues: bool,
    /// What the name of a queue begins with whose jobs run in prime time only. Default: `p_`.
    pub primetime_prefix: String,
    /// What the name of a queue begins with whose jobs run outside prime time only. Default: `np_`.
    pub nonprimetime_prefix: String,
    /// What the name of a queue begins with whose jobs run in dedicated time only. Default: `ded`.
    pub dedicated_prefix: String,
    /// Whether jobs of an express queue may preempt others, and therefore sort first. Default:
    /// true.
    pub preemptive_sched: ByTime<bool>,
    /// The least priority of an express queue. Default: 150.
    pub preempt_queue_prio: i32,
    /// The keys that decide between jobs that tie in all else, in order. Default: none.
    pub job_sort_key: ByTime<Vec<SortKey>>,
    /// The keys that order the nodes, in order. Default: none.
    pub node_sort_key: ByTime<Vec<NodeSortKey>>,
    /// The resources that a job waits for (`resources`). Default:
    /// `ncpus, mem, arch, host, vnode, aoe, eoe`.
    pub checked_resources: Vec<String>,
    /// The warnings, in file order.
    pub warnings: Vec<ConfigWarning>,
}

impl Default for SchedConfig {
    fn default() -> Self {
        Self {
            fair_share: ByTime::always(false),
            unknown_shares: 0,
            fairshare_entity: FairshareEntity::default(),
            fairshare_usage_res: "cput".to_owned(),
            fairshare_enforce_no_shares: true,
            fairshare_decay_time: 24 * 60 * 60,
            fairshare_decay_factor: 0.5,
            by_queue: ByTime::always(true),
            round_robin: ByTime::always(false),
            strict_ordering: ByTime::always(false),
            backfill_prime: ByTime::always(false),
            prime_spill: ByTime::always(0),
            prime_exempt_anytime_queues: false,
            primetime_prefix: "p_".to_owned(),
            nonprimetime_prefix: "np_".to_owned(),
            dedicated_prefix: "ded".to_owned(),
            preemptive_sched: ByTime::always(true),
            preempt_queue_prio: 150,
            checked_resources: list_of("ncpus, mem, arch, host, vnode, aoe, eoe"),
            job_sort_key: ByTime::always(Vec::new()),
            node_sort_key: ByTime::always(Vec::new()),
            warnings: Vec::new(),
        }
    }
}

impl SchedConfig {
    /// Reads the file. No file is invalid as a whole; invalid lines are in
    /// [`warnings`](Self::warnings).
    pub fn parse(file: &[u8]) -> Self {
        let mut config = Self::default();
        let mut first_lines: HashMap<String, ByTime<Option<usize>>> = HashMap::new();
        for (number, text) in extended_lines(file) {
            if is_blank_or_comment(&text) {
                continue;
            }
            let text = name_text(&text);
            let Some((line, unknown_time)) = split_line(&text) else {
                let fault = format!("a line is `name: value`, this is `{}`", text.trim());
                config.warn(number, fault);
                continue;
            };
            if let Some(fault) = unknown_time {
                config.warn(number, fault);
            }
            let first_lines = first_lines.entry(line.name.to_owned()).or_default();
            if let Err(fault) = config.apply(&line) {
                config.warn(number, fault);
            } else if let Some(earlier) = earlier_line(&line, number, first_lines) {
                let name = line.name;
                config.warnings.push(ConfigWarning {
                    line: number,
                    fault: format!("`{name}` is set on line {earlier} too; the last one counts"),
                    is_repeated: true,
                });
            }
        }
        config
    }

    fn warn(&mut self, line: usize, fault: String) {
        self.warnings.push(ConfigWarning {
            line,
            fault,
            is_repeated: false,
        });
    }

    /// The settings with those outside prime time at all times, except what says which jobs cross
    /// the border; `None` if these are the same.
    pub fn in_non_prime_time(&self) -> Option<Self> {
        let mut config = self.clone();
        let differ = [
            config.fair_share.keep_non_prime(),
            config.by_queue.keep_non_prime(),
            config.round_robin.keep_non_prime(),
            config.strict_ordering.keep_non_prime(),
            config.preemptive_sched.keep_non_prime(),
            config.job_sort_key.keep_non_prime(),
            config.node_sort_key.keep_non_prime(),
        ];
        differ.contains(&true).then_some(config)
    }

    fn apply(&mut self, line: &Line<'_>) -> Result<(), String> {
        let Line { name, value, times } = *line;
        match name {
            "fair_share" => return line.set_boolean(&mut self.fair_share),
            "by_queue" => return line.set_boolean(&mut self.by_queue),
            "round_robin" => return line.set_boolean(&mut self.round_robin),
            "strict_ordering" => return line.set_boolean(&mut self.strict_ordering),
            "backfill_prime" => return line.set_boolean(&mut self.backfill_prime),
            "preemptive_sched" => return line.set_boolean(&mut self.preemptive_sched),
            "prime_spill" => set(&mut self.prime_spill, times, line.duration()?),
            "prime_exempt_anytime_queues" => {
                self.prime_exempt_anytime_queues = line.boolean();
                return line.check_boolean();
            }
            "fairshare_enforce_no_shares" => {
                self.fairshare_enforce_no_shares = line.boolean();
                return line.check_boolean();
            }
            "primetime_prefix" => self.primetime_prefix = value.to_owned(),
            "nonprimetime_prefix" => self.nonprimetime_prefix = value.to_owned(),
            "dedicated_prefix" => self.dedicated_prefix = value.to_owned(),
            "job_sort_key" => {
                let key = line.sort_key()?;
                for keys in self.job_sort_key.at_times(times) {
                    if keys.len() >= MAX_SORT_KEYS {
                        return Err(format!(
                            "the `job_sort_key` `{}` is not used: there are {MAX_SORT_KEYS} before it, the most that are",
                            key.name
                        ));
                    }
                }
                for keys in self.job_sort_key.at_times(times) {
                    keys.push(key.clone());
                }
            }
            "node_sort_key" => {
                let key = line.node_sort_key()?;
                for keys in self.node_sort_key.at_times(times) {
                    keys.push(key.clone());
                }
            }
            "unknown_shares" => return self.apply_unknown_shares(line),
            // before version 20; since then it is an attribute of the scheduler, which replaces this
            "preempt_queue_prio" => self.preempt_queue_prio = line.number()?,
            "resources" => self.checked_resources = list_of(value),
            "fairshare_usage_res" => self.fairshare_usage_res = value.to_owned(),
            "fairshare_decay_time" => match line.duration()? {
                0 => return Err(line.bad_value("it is more than 0 seconds")),
                seconds => self.fairshare_decay_time = seconds,
            },
            "fairshare_decay_factor" => self.fairshare_decay_factor = line.decay_factor()?,
            "fairshare_entity" => {
                let expected = "it is `euser`, `egroup`, `Account_Name`, `queue` or `egroup:euser`";
                self.fairshare_entity =
                    FairshareEntity::from_name(value).ok_or_else(|| line.bad_value(expected))?;
            }
            _ if UNUSED_SETTINGS.contains(&name) => {}
            _ if UNREAD_SETTINGS.contains(&name) => {
                return Err(format!("`{name}` is not taken into account"));
            }
            _ => return Err(format!("`{name}` is not a setting of the scheduler")),
        }
        Ok(())
    }

    /// An invalid value changes this setting alone: it becomes -1, and so a negative number of
    /// shares.
    fn apply_unknown_shares(&mut self, line: &Line<'_>) -> Result<(), String> {
        self.unknown_shares = number_or_unspecified(line.value);
        let is_whole =
            !line.value.is_empty() && line.value.bytes().all(|byte| byte.is_ascii_digit());
        let expected = "it is a whole number; what does not start with a digit reads as -1";
        if is_whole {
            Ok(())
        } else {
            Err(line.bad_value(expected))
        }
    }
}

/// The lines of a file, with the number of each. One that ends in a backslash goes on with the next
/// one, a comment too, so that the setting after it is a part of the comment (`pbs_fgets_extend` of
/// OpenPBS).
fn extended_lines(file: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut lines: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut goes_on = false;
    for (number, part) in (1..).zip(file.split(|&byte| byte == b'\n')) {
        match lines.last_mut() {
            Some((_, line)) if goes_on => line.extend_from_slice(c_string(part)),
            _ => lines.push((number, c_string(part).to_vec())),
        }
        goes_on = false;
        if let Some((_, line)) = lines.last_mut()
            && let Some(before) = line.trim_ascii_end().strip_suffix(b"\\")
        {
            line.truncate(before.len());
            goes_on = true;
        }
    }
    lines
}

/// The earlier line that sets the setting of a line at the same time, unless it may be set several
/// times.
fn earlier_line(
    line: &Line<'_>,
    number: usize,
    first_lines: &mut ByTime<Option<usize>>,
) -> Option<usize> {
    // the daemon has a list of these, to which each line adds
    if let "job_sort_key" | "node_sort_key" | "peer_queue" | "server_dyn_res" = line.name {
        return None;
    }
    let mut earlier = None;
    for first in first_lines.at_times(line.times) {
        earlier = earlier.or(*first);
        first.get_or_insert(number);
    }
    earlier
}

/// The words of a list such as `"ncpus, mem"`.
fn list_of(value: &str) -> Vec<String> {
    let words = value.trim_matches('"').split(',').map(str::trim);
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.retain(|word| !word.is_empty());
    words
}

fn set<T: Copy>(setting: &mut ByTime<T>, times: Times, value: T) {
    for at in setting.at_times(times) {
        *at = value;
    }
}

/// The scheduler's other settings, including those of earlier releases.
// such as `help_starving_jobs`, which the daemon skips without a message
const UNUSED_SETTINGS: &[&str] = &[
    "allow_aoe_calendar",
    "assign_ssinodes",
    "backfill",
    "backfill_depth",
    "cpus_per_ssinode",
    "dont_preempt_starving",
    "half_life",
    "help_starving_jobs",
    "load_balancing",
    "load_balancing_rr",
    "log_filter",
    "max_starve",
    "mem_per_ssinode",
    "node_group_key",
    "peer_queue",
    "peer_translation",
    "preempt_attempts",
    "preempt_fairshare",
    "preempt_order",
    "preempt_prio",
    "preempt_sort",
    "preempt_starving",
    "provision_policy",
    "resv_confirm_ignore",
    "server_dyn_res",
    "smp_cluster_dist",
    "sort_by",
    "sort_priority",
    "sort_queues",
    "strict_fifo",
    "sync_time",
    "throughput_mode",
    "update_comments",
];

/// Settings of the scheduler that decide which jobs run, and that are not read.
const UNREAD_SETTINGS: [&str; 2] = ["max_job_check", "resource_unset_infinite"];

/// The daemon's value for a number that it cannot read.
const UNSPECIFIED: i32 = -1;

/// A line, split into its parts.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    name: &'a str,
    /// The value, without its quotes.
    value: &'a str,
    times: Times,
}

impl Line<'_> {
    fn bad_value(&self, expected: &str) -> String {
        let Self { name, value, .. } = self;
        format!("`{name}` cannot be `{value}`: {expected}")
    }

    /// Sets a boolean. An invalid value changes the setting too.
    fn set_boolean(&self, setting: &mut ByTime<bool>) -> Result<(), String> {
        set(setting, self.times, self.boolean());
        self.check_boolean()
    }

    /// `true` or `false` in any case, or a number, of which only 0 is false.
    fn boolean(&self) -> bool {
        // the daemon has one number for any value, -1 for a word, and asks whether it is not 0: `no`
        // is true
        number_or_unspecified(self.value) != 0
    }

    fn check_boolean(&self) -> Result<(), String> {
        if boolean(self.value).is_some() || whole_int(self.value.as_bytes()).is_some() {
            return Ok(());
        }
        let read = self.boolean();
        Err(self.bad_value(&format!(
            "it is `true` or `false`; the scheduler takes it for `{read}`"
        )))
    }

    /// A whole number.
    fn number(&self) -> Result<i32, String> {
        whole_int(self.value.as_bytes()).ok_or_else(|| self.bad_value("it is a whole number"))
    }

    /// `HH:MM:SS`, `MM:SS` or seconds, in seconds.
    fn duration(&self) -> Result<u64, String> {
        // the daemon's `is_num` skips one sign, and `strtod` reads it; of other numbers with a sign,
        // whose first character is no digit, it makes -1
        match seconds(self.value.strip_prefix('+').unwrap_or(self.value)) {
            Some(seconds) if !self.value.contains('.') => Ok(seconds as u64),
            _ => Err(self.bad_value("it is a time, `HH:MM:SS`")),
        }
    }

    /// A number between 0 and 1, exclusive, as a C `float`; or NaN, which the daemon's comparisons
    /// let through.
    fn decay_factor(&self) -> Result<f32, String> {
        if let Some(factor) = whole_double(self.value.as_bytes()) {
            let factor = factor as f32;
            if factor.is_nan() || (factor > 0.0 && factor < 1.0) {
                return Ok(factor);
            }
        }
        Err(self.bad_value("it is a number between 0 and 1, neither included"))
    }

    /// `"name HIGH"` or `"name LOW"`. The daemon reads two words and ignores the rest.
    fn sort_key(&self) -> Result<SortKey, String> {
        let words: Vec<&str> = self.value.split_ascii_whitespace().collect();
        let first = match words[..] {
            [_, "HIGH" | "High" | "high", ..] => SortFirst::High,
            [_, "LOW" | "Low" | "low", ..] => SortFirst::Low,
            _ => return Err(self.bad_value("it is a name and `HIGH` or `LOW`, in double quotes")),
        };
        Ok(SortKey {
            name: words[0].to_owned(),
            first,
        })
    }

    /// The same for nodes, with `total`, `assigned` or `unused` as a third word, and no other.
    fn node_sort_key(&self) -> Result<NodeSortKey, String> {
        let key = self.sort_key()?;
        let amount = match self.value.split_ascii_whitespace().nth(2) {
            Some("unused") => NodeAmount::Unused,
            Some("assigned") => NodeAmount::Assigned,
            Some("total") | None => NodeAmount::Total,
            Some(_) => {
                return Err(self.bad_value("its third word is `total`, `assigned` or `unused`"));
            }
        };
        Ok(NodeSortKey { key, amount })
    }
}

/// The leading digits as a number, 1 for `true`, 0 for `false`, and -1 for any other value: `2.9`
/// is 2, `-5` is -1.
fn number_or_unspecified(value: &str) -> i32 {
    match boolean(value) {
        Some(boolean) => i32::from(boolean),
        None => leading_int(value.as_bytes()).unwrap_or(UNSPECIFIED),
    }
}

fn boolean(value: &str) -> Option<bool> {
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Splits a line `name: value [time]`. An unknown time is returned as a fault, and the setting then
/// applies at all times. `None` for a line without a name or a value.
fn split_line(text: &str) -> Option<(Line<'_>, Option<String>)> {
    // as the daemon does: a blank ends the name too, so that the value of `name : value` is `:`
    let (name, rest) = split_word(text, ':')?;
    let (value, rest) = split_word(rest, ' ')?;
    let (word, _) = split_word(rest, ' ').unwrap_or_default();
    let (times, unknown_time) = parse_times(word);
    Some((Line { name, value, times }, unknown_time))
}

/// The first word, which a blank or another character ends unless it is in quotes, and what follows
/// that.
fn split_word(text: &str, end: char) -> Option<(&str, &str)> {
    let is_end = |character: char| character.is_ascii_whitespace() || character == end;
    let text = text.trim_start_matches(is_end);
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return Some(quoted.split_once(quote).unwrap_or((quoted, "")));
        }
    }
    let word = text.split_once(is_end).unwrap_or((text, ""));
    Some(word).filter(|(word, _)| !word.is_empty())
}

/// The times at which a setting applies, and the fault if they are unknown.
fn parse_times(word: &str) -> (Times, Option<String>) {
    let mut unknown = None;
    let (prime, non_prime) = match word {
        "" | "all" | "ALL" => (true, true),
        "prime" | "PRIME" => (true, false),
        "non_prime" | "NON_PRIME" => (false, true),
        "none" | "NONE" => (false, false),
        _ => {
            // the daemon logs an error for such a word, and applies the line all the same
            if !word.starts_with('#') {
                unknown = Some(format!("`{word}` is not `PRIME`, `NON_PRIME` or `ALL`"));
            }
            (true, true)
        }
    };
    (Times { prime, non_prime }, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(text: &str) -> Vec<String> {
        SchedConfig::parse(text.as_bytes())
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn the_shipped_file_has_no_warning() {
        let text = "# c\nround_robin: False\tall\nby_queue: True\t\tprime\nby_queue: False\t\tnon_prime\n\
            node_sort_key: \"sort_priority HIGH\"\tALL\nfair_share: true\tALL\nfairshare_entity: Account_Name\n\
            fairshare_decay_time: 12:00:00\nfairshare_decay_factor: 0.7\njob_sort_key: \"ncpus HIGH\" PRIME\n\
            job_sort_key: \"mem LOW\"\nunknown_shares: 10\nfairshare_usage_res: ncpus*walltime\n";
        let config = SchedConfig::parse(text.as_bytes());
        assert_eq!(config.warnings, []);
        assert_eq!(
            config.by_queue,
            ByTime {
                prime: true,
                non_prime: false
            }
        );
        assert_eq!(config.fair_share, ByTime::always(true));
        assert_eq!(config.fairshare_entity, FairshareEntity::Account);
        assert_eq!(
            (config.fairshare_decay_time, config.fairshare_decay_factor),
            (43_200, 0.7)
        );
        assert_eq!(config.unknown_shares, 10);
        assert_eq!(config.fairshare_usage_res, "ncpus*walltime");
        assert_eq!(
            config.job_sort_key.prime,
            [key("ncpus", SortFirst::High), key("mem", SortFirst::Low)]
        );
        assert_eq!(config.job_sort_key.non_prime, [key("mem", SortFirst::Low)]);
    }

    fn key(name: &str, first: SortFirst) -> SortKey {
        SortKey {
            name: name.into(),
            first,
        }
    }

    #[test]
    fn settings_of_a_cycle() {
        let shipped = SchedConfig::parse(
            b"backfill_prime:\tfalse\tALL\nprime_spill: 0 ALL\nprime_exempt_anytime_queues:\tfalse\nprimetime_prefix: p_\n\
            nonprimetime_prefix: np_\ndedicated_prefix: ded\nhelp_starving_jobs: true ALL\nmax_starve: 24:00:00\n",
        );
        assert_eq!(shipped, SchedConfig::default());
        let changed = SchedConfig::parse(
            b"backfill_prime: true prime\nprime_spill: 1:00:00 prime\nprime_exempt_anytime_queues: true\nprimetime_prefix: day_\n\
            nonprimetime_prefix: night_\ndedicated_prefix: maint\nfairshare_enforce_no_shares: false\n",
        );
        let expected = SchedConfig {
            backfill_prime: ByTime {
                prime: true,
                non_prime: false,
            },
            prime_spill: ByTime {
                prime: 3600,
                non_prime: 0,
            },
            prime_exempt_anytime_queues: true,
            primetime_prefix: "day_".to_owned(),
            nonprimetime_prefix: "night_".to_owned(),
            dedicated_prefix: "maint".to_owned(),
            fairshare_enforce_no_shares: false,
            ..SchedConfig::default()
        };
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_plus_sign_is_read_as_the_daemon_does() {
        let text = b"fairshare_decay_time: +1:00:00\nprime_spill: +60\nunknown_shares: +5\n";
        let config = SchedConfig::parse(text);
        assert_eq!(
            (config.fairshare_decay_time, config.prime_spill.prime),
            (3600, 60)
        );
        assert_eq!((config.unknown_shares, config.warnings.len()), (-1, 1));
        assert_eq!(warned("prime_spill: ++60\nprime_spill: 1:+2\n").len(), 2);
    }

    #[test]
    fn a_setting_that_is_set_again_at_the_same_time_is_named_and_the_last_line_counts() {
        let text = "by_queue: True prime\nby_queue: False non_prime\nunknown_shares: 1\njob_sort_key: \"ncpus LOW\"\n\
            job_sort_key: \"mem LOW\"\nunknown_shares: 10\nby_queue: True\n";
        let config = SchedConfig::parse(text.as_bytes());
        assert_eq!(
            (config.unknown_shares, config.by_queue),
            (10, ByTime::always(true))
        );
        assert_eq!(
            warned(text),
            [
                "line 6: `unknown_shares` is set on line 3 too; the last one counts",
                "line 7: `by_queue` is set on line 1 too; the last one counts"
            ]
        );
    }

    #[test]
    fn unknown_shares_is_read_as_by_the_daemon() {
        for (value, shares) in [
            ("10", 10),
            ("abc", -1),
            ("-5", -1),
            ("2.9", 2),
            ("0x10", 0),
            ("4294967297", 1),
        ] {
            let config = SchedConfig::parse(format!("unknown_shares: {value}").as_bytes());
            assert_eq!(config.unknown_shares, shares, "{value}");
            assert_eq!(
                config.warnings.is_empty(),
                value.bytes().all(|byte| byte.is_ascii_digit()),
                "{value}"
            );
        }
    }

    #[test]
    fn an_invalid_value_does_not_change_the_setting() {
        let text = "fairshare_decay_factor: 1.5\nfairshare_decay_time: soon\nby_queue: perhaps\nfairshare_entity: me\n\
            job_sort_key: ncpus\nby_queue: true sometimes\ncolon:\nunknown_share: 3\n";
        let config = SchedConfig::parse(text.as_bytes());
        assert_eq!(
            SchedConfig {
                warnings: Vec::new(),
                ..config.clone()
            },
            SchedConfig::default()
        );
        let warnings = warned(text);
        assert_eq!(warnings.len(), 8);
        assert_eq!(
            warnings[0],
            "line 1: `fairshare_decay_factor` cannot be `1.5`: it is a number between 0 and 1, neither included"
        );
        assert_eq!(
            warnings[5],
            "line 6: `sometimes` is not `PRIME`, `NON_PRIME` or `ALL`"
        );
        assert_eq!(
            warnings[6],
            "line 7: a line is `name: value`, this is `colon:`"
        );
        assert_eq!(
            warnings[7],
            "line 8: `unknown_share` is not a setting of the scheduler"
        );
    }

    #[test]
    fn a_word_that_is_no_boolean_is_true_to_the_daemon() {
        for (value, read, is_valid) in [
            ("no", true, false),
            ("-1", true, true),
            ("0", false, true),
            ("0 shares", false, true),
            ("00x", false, false),
            ("2", true, true),
            ("FALSE", false, true),
        ] {
            let text = format!("fair_share: {value}\nprime_exempt_anytime_queues: {value}\n");
            let config = SchedConfig::parse(text.as_bytes());
            assert_eq!(config.fair_share, ByTime::always(read), "{value}");
            assert_eq!(config.prime_exempt_anytime_queues, read, "{value}");
            let of_values = warned(&text)
                .iter()
                .filter(|warning| warning.contains("cannot be"))
                .count();
            assert_eq!(of_values, if is_valid { 0 } else { 2 }, "{value}");
        }
        assert_eq!(
            warned("fair_share: no\nresource_unset_infinite: ngpus\nupdate_comments: 1\n"),
            [
                "line 1: `fair_share` cannot be `no`: it is `true` or `false`; the scheduler takes it for `true`",
                "line 2: `resource_unset_infinite` is not taken into account",
            ]
        );
    }

    #[test]
    fn a_blank_ends_a_name_as_a_colon_does() {
        let config = SchedConfig::parse(b"by_queue False\n  round_robin:True\n");
        assert_eq!(config.warnings, []);
        assert_eq!(
            (config.by_queue, config.round_robin),
            (ByTime::always(false), ByTime::always(true))
        );
        assert_eq!(
            warned("by_queue : False\n"),
            [
                "line 1: `False` is not `PRIME`, `NON_PRIME` or `ALL`",
                "line 1: `by_queue` cannot be `:`: it is `true` or `false`; the scheduler takes it for `true`",
            ]
        );
    }

    #[test]
    fn a_backslash_at_the_end_of_a_line_adds_the_next_one() {
        let text =
            b"by_queue: \\ \n  false\n# off \\\nround_robin: true\nstrict_ordering: tr\\\nue\\";
        let config = SchedConfig::parse(text);
        assert_eq!(config.warnings, []);
        assert_eq!(
            [config.by_queue, config.round_robin, config.strict_ordering],
            [false, false, true].map(ByTime::always)
        );
        assert_eq!(
            warned("by_queue: true\n\\\nround_robin\n"),
            ["line 2: a line is `name: value`, this is `round_robin`"]
        );
    }

    #[test]
    fn times_and_quotes() {
        let text =
            "by_queue: false Prime\nround_robin: true none\nfairshare_usage_res: 'a * b' all\n";
        let config = SchedConfig::parse(text.as_bytes());
        assert_eq!(
            (config.by_queue, config.round_robin),
            (ByTime::always(false), ByTime::always(false))
        );
        assert_eq!(config.fairshare_usage_res, "a * b");
        assert_eq!(
            warned(text),
            ["line 1: `Prime` is not `PRIME`, `NON_PRIME` or `ALL`"]
        );
        let config = SchedConfig::parse(
            b"fairshare_usage_res: ncpus * walltime\nunknown_shares: 10 shares\n",
        );
        assert_eq!(
            (config.fairshare_usage_res.as_str(), config.unknown_shares),
            ("ncpus", 10)
        );
        assert_eq!(config.warnings.len(), 2);
    }

    #[test]
    fn sort_keys_beyond_the_most_are_warned_of() {
        let text = "job_sort_key: \"ncpus HIGH\" prime\n".repeat(MAX_SORT_KEYS + 5)
            + "job_sort_key: \"mem LOW\" non_prime\n";
        let config = SchedConfig::parse(text.as_bytes());
        assert_eq!(
            (
                config.job_sort_key.prime.len(),
                config.job_sort_key.non_prime.len()
            ),
            (MAX_SORT_KEYS, 1)
        );
        let warnings = warned(&text);
        assert_eq!(warnings.len(), 5);
        assert_eq!(
            warnings[0],
            "line 21: the `job_sort_key` `ncpus` is not used: there are 20 before it, the most that are"
        );
    }

    #[test]
    fn a_sort_key_ignores_further_words() {
        let config = SchedConfig::parse(
            b"job_sort_key: \"job_priority HIGH ALL\"\njob_sort_key: \"ncpus low x y\" prime\n",
        );
        assert_eq!(config.warnings, []);
        assert_eq!(
            config.job_sort_key.non_prime,
            [key("job_priority", SortFirst::High)]
        );
        assert_eq!(
            config.job_sort_key.prime,
            [
                key("job_priority", SortFirst::High),
                key("ncpus", SortFirst::Low)
            ]
        );
    }

    #[test]
    fn a_key_of_nodes_with_another_amount_is_not_used() {
        let text = "node_sort_key: \"ncpus HIGH unused\"\nnode_sort_key: \"mem LOW free\"\n";
        let config = SchedConfig::parse(text.as_bytes());
        assert_eq!(
            config.node_sort_key.prime,
            [NodeSortKey {
                key: key("ncpus", SortFirst::High),
                amount: NodeAmount::Unused
            }]
        );
        assert_eq!(
            warned(text),
            [
                "line 2: `node_sort_key` cannot be `mem LOW free`: its third word is `total`, `assigned` or `unused`"
            ]
        );
    }
}
