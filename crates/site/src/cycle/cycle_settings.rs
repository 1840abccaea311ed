//! The settings of a scheduling cycle, as the server, its queues and `sched_config` have them: how
//! many jobs are promised a start, which limits there are, and the levels of jobs in preemption.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use job_sort_formula::schema::InputType;
use jsf_openpbs::cycle::{CycleRules, CycleState, Limit, Limits, PreemptionLevels, status};
use jsf_openpbs::files::run_limits::{LimitKind, LimitsByQueue, RunLimit};
use jsf_openpbs::files::server::DEFAULT_BACKFILL_FUZZY;

use crate::Site;
use crate::cycle::node_pools::Pools;

/// The names that limits are about, by their indices.
pub struct LimitedNames<'n> {
    pub users: &'n [Box<str>],
    pub groups: &'n [Box<str>],
    pub projects: &'n [Box<str>],
}

impl Site {
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

    /// What the jobs of a queue, or with an empty name of the server, may hold together of a
    /// resource. Without an amount there is no bound; a time is not held.
    pub(crate) fn available(&self, queue: &str, resource: &str) -> Option<i64> {
        let kind = self.schema.input_type(resource);
        if !self.is_checked(resource) || kind == Some(InputType::Duration) {
            return None;
        }
        self.queues.available(queue, resource, kind)
    }
}

impl Pools<'_> {
    /// The machine, on which nothing runs yet, for the requests that were made, with the limits of
    /// running jobs, and what a cycle of this site's scheduler starts. Limits are those of the
    /// server, of the queues and of arrays, by their numbers, how many of their subjobs run at a
    /// time. Unless jobs can have different levels in preemption, these are the default; soft limits
    /// count for them, and in a cycle without preemption for who is eligible.
    pub fn cycle(
        &mut self,
        names: &LimitedNames<'_>,
        of_arrays: HashMap<u32, i64>,
        is_preemptive: bool,
        is_simulated: bool,
    ) -> (CycleState, CycleRules) {
        let Site {
            config,
            server,
            queues,
            ..
        } = self.site;
        let released = queues.released_on_suspend().map(|listed| {
            let mut amounts: Vec<usize> = (0..self.amounts.len()).collect();
            let is_listed = |name: &str| listed.split(',').any(|one| one.trim() == name);
            amounts.retain(|amount| is_listed(&self.amounts[*amount]));
            amounts
        });
        let mut queue_priorities = Vec::new();
        let mut queue_depths = Vec::new();
        for queue in &self.queue_names {
            queue_priorities.push(queues.priority(queue).unwrap_or(0));
            // to `queues` the empty name of a job without a queue is the server
            let depth = queues.backfill_depth(queue);
            queue_depths.push(depth.filter(|_| !queue.is_empty()));
        }
        // with a list any queue may promise a start, so that a cycle leaves out fewer jobs early
        // (`may_reserve`)
        if queue_depths.iter().all(Option::is_none) {
            queue_depths.clear();
        }
        let mut levels = PreemptionLevels {
            is_preemptive,
            levels: PreemptionLevels::read_levels(server.preempt_prio()),
            express_priority: config.preempt_queue_prio.into(),
            queue_priorities,
            methods: PreemptionLevels::read_order(server.preempt_order()),
            enforces_resumption: server.is_true("sched_preempt_enforce_resumption"),
            released,
            knows_ends: false,
        };
        let mut limits = self.limits_of_jobs(names, &queues.limits.soft);
        for limit in &mut limits {
            limit.is_soft = true;
        }
        let has_soft_limits = !limits.is_empty()
            && levels.has_level_of(status::SERVER_SOFT_LIMITS | status::QUEUE_SOFT_LIMITS);
        let mut priorities = levels.queue_priorities.iter();
        let has_levels = has_soft_limits
            || priorities.any(|priority| *priority >= levels.express_priority)
            || config.fair_share.prime && levels.has_level_of(status::FAIRSHARE);
        if !(is_preemptive && has_levels || has_soft_limits && !is_simulated) {
            levels = PreemptionLevels::default();
            limits.clear();
        }
        limits.extend(self.limits_of_jobs(names, &queues.limits.hard));
        for (name, queue) in self.owners() {
            for (amount, resource) in self.amounts.iter().enumerate() {
                let generic = self.site.available(name, resource);
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
        let state = CycleState {
            machine: self.machine(),
            limits: Limits::new(limits),
            ..CycleState::default()
        };
        let rules = CycleRules {
            strict_ordering: config.strict_ordering.prime,
            // of the server, which promises one start if it does not set the depth (SPEC.md, 4)
            backfill_depth: queues.backfill_depth("").unwrap_or(1),
            queue_depths,
            window: server.backfill_fuzzy().into(),
            levels,
            ..CycleRules::default()
        };
        (state, rules)
    }

    /// The limits of the jobs of the server and of the queues. An amount that is not counted has no
    /// limit.
    fn limits_of_jobs(
        &self,
        names: &LimitedNames<'_>,
        by_queue: &BTreeMap<Box<str>, BTreeMap<RunLimit, i64>>,
    ) -> Vec<Limit> {
        let mut limits: Vec<Limit> = Vec::new();
        for (name, queue) in self.owners() {
            for (entry, &most) in by_queue.get(name).into_iter().flatten() {
                let (kind, mut amount) = (entry.kind, None);
                if let Some(resource) = &entry.resource {
                    amount = self.amounts.iter().position(|one| one == resource);
                    if amount.is_none() {
                        continue;
                    }
                }
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
    fn owners(&self) -> Vec<(&str, Option<u32>)> {
        let mut owners = vec![("", None)];
        for (queue, index) in self.queue_names.iter().zip(0..) {
            if !queue.is_empty() {
                owners.push((&**queue, Some(index)));
            }
        }
        owners
    }
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
