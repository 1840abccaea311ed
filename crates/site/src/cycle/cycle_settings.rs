//! The settings of a scheduling cycle, as the server, its queues and `sched_config` have them: how
//! many jobs are promised a start, which limits there are, and the levels of jobs in preemption.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use job_sort_formula::schema::InputType;
use jsf_openpbs::cycle::{CycleRules, Limit, Limits, PreemptionLevels, status};
use jsf_openpbs::files::run_limits::{LimitKind, LimitsByQueue, RunLimit};
use jsf_openpbs::files::server::DEFAULT_BACKFILL_FUZZY;

use crate::Site;

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
            // to `queues` the empty name of a job without a queue is the server
            let depth = self.queues.backfill_depth(queue);
            depth.filter(|_| !queue.is_empty())
        });
        let mut queue_depths: Vec<Option<u32>> = depths.collect();
        // with a list any queue may promise a start, so that a cycle leaves out fewer jobs early
        // (`may_reserve`)
        if queue_depths.iter().all(Option::is_none) {
            queue_depths.clear();
        }
        CycleRules {
            strict_ordering: self.config.strict_ordering.prime,
            // of the server, which promises one start if it does not set the depth (SPEC.md, 4)
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
                    // a limit of somebody without jobs here cannot matter
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
