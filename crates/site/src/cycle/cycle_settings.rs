//! The settings of a scheduling cycle, as the server, its queues and `sched_config` have them: how
//! many jobs are promised a start, which limits there are, and the levels of jobs in preemption; prime
//! time and dedicated time, at the moment of a cycle, after it and along a log; and what a site has
//! and a cycle or a simulation does without.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use job_sort_formula::diagnostic::Message;
use job_sort_formula::schema::InputType;
use jsf_ingest::Clock;
use jsf_openpbs::cycle::{CycleRules, Limit, Limits, PreemptionLevels, QueueTime, Times, status};
use jsf_openpbs::files::holidays::{Holidays, dedicated_times};
use jsf_openpbs::files::run_limits::{LimitKind, LimitsByQueue, RunLimit};
use jsf_openpbs::files::sched_priv::ByTime;
use jsf_openpbs::files::server::DEFAULT_BACKFILL_FUZZY;
use jsf_simulate::{UsageMeasure, Workload};
use serde::Serialize;

use crate::cycle::node_pools::Reservations;
use crate::files::in_file;
use crate::{Role, Site, SiteError};

/// The names that limits are about, each with its index.
pub struct LimitedNames<'n> {
    pub queues: &'n [Box<str>],
    pub users: &'n [Box<str>],
    pub groups: &'n [Box<str>],
    pub projects: &'n [Box<str>],
    /// The resources that are counted, in the order of the machine's amounts.
    pub amounts: &'n [Box<str>],
}

impl Site {
    /// What a cycle of this site's scheduler starts. The queues are those of the jobs, by their
    /// indices.
    pub(crate) fn cycle_rules(&self, queues: &[Box<str>]) -> CycleRules {
        let depths = queues.iter().map(|queue| {
            let depth = self.queues.backfill_depth(queue);
            depth.filter(|_| !queue.is_empty())
        });
        let mut queue_depths: Vec<Option<u32>> = depths.collect();
        if queue_depths.iter().all(Option::is_none) {
            queue_depths.clear();
        }
        CycleRules {
            strict_ordering: self.config.strict_ordering.prime,
            backfill_depth: self.queues.backfill_depth("").unwrap_or(1),
            queue_depths,
            window: self.server.backfill_fuzzy().into(),
            ..CycleRules::default()
        }
    }

    /// Whether the scheduler looks at a resource (`resources` in `sched_config`).
    pub(crate) fn is_checked(&self, resource: &str) -> bool {
        let mut checked = self.config.checked_resources.iter();
        checked.any(|name| name == resource)
    }

    /// The resources of which the server or a queue has an amount as a whole, or that `max_run_res`
    /// limits.
    pub(crate) fn limited_resources(&self, queues: &[Box<str>]) -> BTreeSet<Box<str>> {
        let available = self.queues.available_resources();
        let mut limited = BTreeSet::new();
        let mut owners = vec![""];
        for queue in queues {
            owners.push(queue);
        }
        for queue in owners {
            let LimitsByQueue { hard, soft, .. } = &self.queues.limits;
            let limits = [hard.get(queue), soft.get(queue)];
            for limit in limits.into_iter().flatten().flat_map(BTreeMap::keys) {
                limited.extend(limit.resource.clone());
            }
            for name in &available {
                if self.available(queue, name).is_some() {
                    limited.insert((*name).into());
                }
            }
        }
        limited
    }

    /// The amounts of a machine, then the resources that only limits count.
    pub(crate) fn with_limited(
        &self,
        mut amounts: Vec<Box<str>>,
        queues: &[Box<str>],
    ) -> Vec<Box<str>> {
        for name in self.limited_resources(queues) {
            if !amounts.contains(&name) {
                amounts.push(name);
            }
        }
        amounts
    }

    /// What the jobs of a queue, or with an empty name of the server, may hold together of a
    /// resource. Without an amount there is no bound; a time is not held.
    pub(crate) fn available(&self, queue: &str, resource: &str) -> Option<i64> {
        let kind = self.schema.input_type(resource);
        if !self.is_checked(resource) || kind == Some(InputType::Duration) {
            return None;
        }
        self.queues.available(queue, resource, kind)
    }

    /// The levels of jobs in preemption, and the limits of running jobs: of the server, of these
    /// queues and of arrays, by their numbers, how many of their subjobs run at a time. Unless jobs
    /// can have different levels, these are the default; soft limits count for them, and in a cycle
    /// without preemption for who is eligible.
    pub(crate) fn levels_and_limits(
        &self,
        names: &LimitedNames<'_>,
        of_arrays: HashMap<u32, i64>,
        is_preemptive: bool,
        is_simulated: bool,
    ) -> (PreemptionLevels, Limits) {
        let queues = names.queues.iter();
        let released = self.queues.released_on_suspend().map(|listed| {
            let mut amounts: Vec<usize> = (0..names.amounts.len()).collect();
            let is_listed = |name: &str| listed.split(',').any(|one| one.trim() == name);
            amounts.retain(|amount| is_listed(&names.amounts[*amount]));
            amounts
        });
        let mut levels = PreemptionLevels {
            is_preemptive,
            levels: PreemptionLevels::read_levels(self.server.preempt_prio()),
            express_priority: self.config.preempt_queue_prio.into(),
            queue_priorities: queues
                .map(|queue| self.queues.priority(queue).unwrap_or(0))
                .collect(),
            methods: PreemptionLevels::read_order(self.server.preempt_order()),
            enforces_resumption: self.server.is_true("sched_preempt_enforce_resumption"),
            released,
            knows_ends: false,
        };
        let mut limits = limits_of_jobs(names, &self.queues.limits.soft);
        for limit in &mut limits {
            limit.is_soft = true;
        }
        let has_soft_limits = !limits.is_empty()
            && levels.has_level_of(status::SERVER_SOFT_LIMITS | status::QUEUE_SOFT_LIMITS);
        let mut priorities = levels.queue_priorities.iter();
        let has_levels = has_soft_limits
            || priorities.any(|priority| *priority >= levels.express_priority)
            || self.config.fair_share.prime && levels.has_level_of(status::FAIRSHARE);
        if !(levels.is_preemptive && has_levels || has_soft_limits && !is_simulated) {
            levels = PreemptionLevels::default();
            limits.clear();
        }
        limits.extend(limits_of_jobs(names, &self.queues.limits.hard));
        for (name, queue) in owners(names) {
            for (amount, resource) in names.amounts.iter().enumerate() {
                let generic = self.available(name, resource);
                if generic.is_some() {
                    let limit = Limit::new(queue, LimitKind::Available, Some(amount));
                    limits.push(Limit { generic, ..limit });
                }
            }
        }
        if !of_arrays.is_empty() {
            let mut of_subjobs = Limit::new(None, LimitKind::Subjobs, None);
            of_subjobs.named = of_arrays;
            limits.push(of_subjobs);
        }
        (levels, Limits::new(limits))
    }
}

/// The limits of the jobs of the server and of the queues. An amount that is not counted has no
/// limit.
fn limits_of_jobs(
    names: &LimitedNames<'_>,
    by_queue: &BTreeMap<Box<str>, BTreeMap<RunLimit, i64>>,
) -> Vec<Limit> {
    let mut limits: Vec<Limit> = Vec::new();
    for (name, queue) in owners(names) {
        for (entry, &most) in by_queue.get(name).into_iter().flatten() {
            let (kind, resource) = (entry.kind, entry.resource.as_ref());
            let amount = resource.map(|name| names.amounts.iter().position(|one| one == name));
            if amount == Some(None) {
                continue;
            }
            let amount = amount.flatten();
            // the entries of one limit follow each other
            let last = limits
                .last()
                .map(|last| (last.queue, last.kind, last.amount));
            if last != Some((queue, kind, amount)) {
                limits.push(Limit::new(queue, kind, amount));
            }
            let Some(limit) = limits.last_mut() else {
                continue;
            };
            let subjects = match kind {
                LimitKind::Group => names.groups,
                LimitKind::Project => names.projects,
                _ => names.users,
            };
            match &entry.name {
                None => limit.generic = Some(most),
                Some(name) => {
                    if let Some(index) = subjects.iter().position(|other| other == name) {
                        limit.named.insert(index as u32, most);
                    }
                }
            }
        }
    }
    limits
}

/// The server and the queues, with the names by which their limits are found.
fn owners<'n>(names: &LimitedNames<'n>) -> Vec<(&'n str, Option<u32>)> {
    let mut owners = vec![("", None)];
    for (queue, index) in names.queues.iter().zip(0..) {
        if !queue.is_empty() {
            owners.push((&**queue, Some(index)));
        }
    }
    owners
}

/// What a cycle starts by these rules, in words.
pub fn starts_in_words(rules: &CycleRules) -> String {
    let queues = rules.queue_depths.iter().flatten().count();
    match (rules.strict_ordering, rules.backfill_depth) {
        (false, _) => "strict_ordering False: whatever fits starts".to_owned(),
        (true, 0) if queues == 0 => {
            "strict_ordering True, backfill_depth 0: no backfilling".to_owned()
        }
        (true, depth) => {
            let mut words = format!("strict_ordering True, backfill_depth {depth}");
            if queues > 0 {
                words += " and that of queues";
            }
            if rules.window != i64::from(DEFAULT_BACKFILL_FUZZY) {
                words += &format!(", opt_backfill_fuzzy {} s", rules.window);
            }
            words
        }
    }
}

/// How many dedicated times are looked at, the first ones that are not over.
const MAX_DEDICATED: usize = 500;

/// Times before this one, of 1973, are those of a clock that begins with its log.
const LEAST_EPOCH: i64 = 100_000_000;
/// For how long after the last submission prime time is known, in days.
const DAYS_AFTER: i64 = 366;

impl Site {
    /// The times from a moment on, without those of the queues, with so many changes between prime
    /// time and the time outside it.
    pub(crate) fn times(
        &self,
        clock: &Clock,
        at: i64,
        changes: usize,
        warnings: &mut Vec<Message>,
    ) -> Result<Times, SiteError> {
        let holidays = self.read_times(Role::Holidays, Holidays::read, warnings)?;
        let mut dedicated: Vec<Range<i64>> =
            self.read_times(Role::DedicatedTime, dedicated_times, warnings)?;
        for time in &mut dedicated {
            *time = clock.utc_of_wall(time.start)..clock.utc_of_wall(time.end);
        }
        dedicated.retain(|time| time.end > at);
        dedicated.truncate(MAX_DEDICATED);
        let wall = clock.wall_of_utc(at);
        let mut prime_changes = Vec::new();
        let mut last = wall;
        while prime_changes.len() < changes
            && let Some(next) = holidays.next_change(last)
        {
            prime_changes.push(clock.utc_of_wall(next));
            last = next;
        }
        let config = &self.config;
        let spill = config.prime_spill;
        Ok(Times {
            begins_in_prime: holidays.is_prime_at(wall),
            prime_changes,
            dedicated,
            queues: Vec::new(),
            backfill_prime: config.backfill_prime,
            prime_spill: ByTime {
                prime: i64::try_from(spill.prime).unwrap_or(i64::MAX),
                non_prime: i64::try_from(spill.non_prime).unwrap_or(i64::MAX),
            },
            are_ordinary_exempt: config.prime_exempt_anytime_queues,
        })
    }

    /// Reads one of the files of times; without it, the default.
    fn read_times<T: Default>(
        &self,
        role: Role,
        read: impl Fn(&[u8]) -> (T, Vec<String>),
        warnings: &mut Vec<Message>,
    ) -> Result<T, SiteError> {
        let Some(source) = self.files.first(role) else {
            return Ok(T::default());
        };
        let (times, unused) = read(&source.read_expected(role)?.bytes);
        let name = source.name();
        warnings.extend(in_file(&name, unused));
        Ok(times)
    }

    /// When the jobs of each queue run.
    pub(crate) fn queue_times(
        &self,
        queues: &[impl AsRef<str>],
        reservations: &Reservations,
    ) -> Vec<QueueTime> {
        let mut times = Vec::new();
        for queue in queues {
            let queue = queue.as_ref();
            let mut prefixes = self.prefixes().into_iter();
            times.push(if reservations.has_queue(queue) {
                QueueTime::Reservation
            } else if let Some((_, time, ..)) =
                prefixes.find(|(prefix, ..)| has_prefix(queue, prefix))
            {
                time
            } else {
                QueueTime::Ordinary
            });
        }
        times
    }

    /// The prefixes of the names of queues that have a time, with the file that says when this is, and
    /// its name.
    fn prefixes(&self) -> [(&str, QueueTime, Role, &str); 3] {
        let config = &self.config;
        [
            (
                &*config.primetime_prefix,
                QueueTime::Prime,
                Role::Holidays,
                "prime",
            ),
            (
                &*config.nonprimetime_prefix,
                QueueTime::NonPrime,
                Role::Holidays,
                "non-prime",
            ),
            (
                &*config.dedicated_prefix,
                QueueTime::Dedicated,
                Role::DedicatedTime,
                "dedicated",
            ),
        ]
    }

    /// What of the site depends on prime time and dedicated time, each with the file that says when
    /// these are. The queues are those with jobs, each with their number.
    pub(crate) fn uses_of_times(&self, queues: &[(&str, usize)]) -> Vec<(Role, LeftOut)> {
        let mut uses = Vec::new();
        for (prefix, _, role, of) in self.prefixes() {
            let mut jobs = 0;
            for (queue, count) in queues {
                if has_prefix(queue, prefix) {
                    jobs += count;
                }
            }
            let what = format!("queues of {of} time (`{prefix}`)");
            uses.push((role, LeftOut { what, jobs }));
        }
        let ByTime { prime, non_prime } = self.config.backfill_prime;
        if prime || non_prime {
            let what = "backfill_prime".to_owned();
            let jobs = queues.iter().map(|(_, jobs)| jobs).sum();
            uses.push((Role::Holidays, LeftOut { what, jobs }));
        }
        uses.retain(|(_, left_out)| left_out.jobs > 0);
        uses
    }

    /// Prime time and dedicated time along a workload, if its jobs depend on them, and what of them
    /// is left out because it is not known when these are.
    pub(crate) fn simulated_times(
        &self,
        workload: &Workload,
        queues: &[(&str, usize)],
        warnings: &mut Vec<String>,
    ) -> Result<(Times, Vec<LeftOut>), SiteError> {
        let (first, last) = match (workload.jobs().first(), workload.jobs().last()) {
            (Some(first), Some(last)) => (first.submit, last.submit),
            _ => (0, 0),
        };
        let is_known = first >= LEAST_EPOCH;
        let mut depends_on_prime = self.config.in_non_prime_time().is_some();
        let mut left_out = Vec::new();
        for (role, of_times) in self.uses_of_times(queues) {
            depends_on_prime |= role == Role::Holidays;
            if !is_known || !self.files.has(role) {
                left_out.push(of_times);
            }
        }
        let all = |what: &str| LeftOut {
            what: what.to_owned(),
            jobs: workload.jobs().len(),
        };
        let clock = Clock::from_samples(workload.clock_samples());
        if is_known {
            let reservations = Reservations::read(self, &clock, first)?;
            let mut confirmed = reservations.confirmed.iter();
            if confirmed.any(|reservation| reservation.start <= last) {
                left_out.push(all("reservations (`pbs_rstat -f`)"));
            }
        }
        let has_times = self.files.has(Role::DedicatedTime)
            || self.files.has(Role::Holidays) && depends_on_prime;
        if !is_known || !has_times {
            return Ok((Times::default(), left_out));
        }
        let config = &self.config;
        if config.node_sort_key.prime != config.node_sort_key.non_prime {
            left_out.push(all("node_sort_key outside prime time"));
        }
        let mut messages: Vec<Message> = Vec::new();
        let days = (last - first) / 86400 + DAYS_AFTER;
        let times = self.times(&clock, first, 2 * days as usize, &mut messages)?;
        warnings.extend(messages.iter().map(ToString::to_string));
        if !clock.is_known() {
            warnings.push(
                "the time zone of the log is not known and taken to be UTC: prime time and dedicated time may be off by hours"
                    .to_owned(),
            );
        }
        let queues = workload.queues();
        let times = Times {
            queues: self.queue_times(queues, &Reservations::default()),
            ..times
        };
        Ok((times, left_out))
    }
}

fn has_prefix(queue: &str, prefix: &str) -> bool {
    !prefix.is_empty() && queue.starts_with(prefix)
}

/// What of Slurm's scheduling is not simulated.
const LEFT_OUT_OF_SLURM: &str = "the interval and the depth of Slurm's backfill, the limits of QOS, associations and partitions, \
     PriorityTier, preemption, reservations";

/// Something that the site has and a cycle or a simulation does without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What it is, in words.
    pub what: String,
    /// The number of jobs that it concerns.
    pub jobs: usize,
}

impl LeftOut {
    /// Those of what was found that concern jobs.
    pub(crate) fn of_some_jobs(
        found: impl IntoIterator<Item = (impl Into<String>, usize)>,
    ) -> Vec<Self> {
        let mut left_out = Vec::new();
        for (what, jobs) in found {
            if jobs > 0 {
                let what = what.into();
                left_out.push(Self { what, jobs });
            }
        }
        left_out
    }

    /// What was found concerns all jobs.
    pub(crate) fn of_all_jobs(found: Vec<impl Into<String>>, jobs: usize) -> Vec<Self> {
        Self::of_some_jobs(found.into_iter().map(|what| (what, jobs)))
    }
}

impl Site {
    /// What the site has and a simulation or a cycle does without. The queues are those with jobs,
    /// each with their number.
    pub(crate) fn left_out(&self, queues: &[(&str, usize)]) -> Vec<LeftOut> {
        let all: usize = queues.iter().map(|(_, jobs)| jobs).sum();
        let config = &self.config;
        let mut found: Vec<String> = Vec::new();
        if self.slurm.is_some() {
            found.push(LEFT_OUT_OF_SLURM.to_owned());
            if self.tree.is_some() {
                found.push("billing TRES in usage".to_owned());
            }
        }
        for attribute in &self.queues.limits.unread {
            found.push(format!("`{attribute}`"));
        }
        // those of placement sets and of preemption are named where they are not followed
        let named_elsewhere = [
            "node_group_enable",
            "do_not_span_psets",
            "only_explicit_psets",
        ];
        for (attribute, value) in self.server.others() {
            if !named_elsewhere.contains(&attribute) && !attribute.contains("preempt_") {
                found.push(format!("{attribute} = {value}"));
            }
        }
        let is_charged = config.fair_share.prime || self.tree.is_some();
        let has_measure = UsageMeasure::from_formula(&config.fairshare_usage_res).is_some();
        if self.files.has(Role::SchedConfig) && is_charged && !has_measure {
            let formula = &config.fairshare_usage_res;
            found.push(format!(
                "fairshare_usage_res `{formula}` (usage is processors times seconds)"
            ));
        }
        LeftOut::of_all_jobs(found, all)
    }

    /// What of preemption a simulation does without.
    pub(crate) fn left_out_of_preemption(&self, preempts: bool, jobs: usize) -> Vec<LeftOut> {
        let mut found = Vec::new();
        // without a `sched_config` it is not known what they do
        if !self.files.has(Role::SchedConfig) {
            for attribute in &self.queues.limits.soft_attributes {
                found.push(format!("`{attribute}`"));
            }
        }
        if preempts {
            found.push("targets and checkpoints of preemption".to_owned());
        }
        LeftOut::of_all_jobs(found, jobs)
    }
}
