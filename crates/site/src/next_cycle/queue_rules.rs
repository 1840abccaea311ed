//! The rules of a scheduling cycle at a site: what orders the queues, which limits there are, how
//! many jobs are promised a start.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use job_sort_formula::schema::InputType;
use jsf_openpbs::cycle::{CycleRules, Limit, LimitKind, Limits, PreemptionLevels, status};
use jsf_openpbs::files::queues::{LimitsByQueue, RunLimit};
use jsf_openpbs::files::server::DEFAULT_BACKFILL_FUZZY;
use jsf_simulate::OrderRules;

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
        let mut queue_depths = Vec::new();
        for queue in queues {
            queue_depths.push(if queue.is_empty() {
                None
            } else {
                self.queues.backfill_depth(queue)
            });
        }
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

    /// What orders the jobs of queues: their places, by priority under `by_queue` and
    /// `round_robin`, else only express queues before the others.
    pub(crate) fn queue_order(&self, queues: &[Box<str>]) -> OrderRules {
        let config = &self.config;
        let (by_queue, takes_turns) = (config.by_queue.prime, config.round_robin.prime);
        let mut keys = Vec::new();
        let mut priorities = Vec::new();
        let mut positions = Vec::new();
        let mut rules = OrderRules {
            takes_turns,
            ..OrderRules::default()
        };
        for queue in queues {
            let priority = self.priority_of(queue);
            let position = self.queues.position(queue).unwrap_or(usize::MAX);
            let is_express =
                config.preemptive_sched.prime && priority >= config.preempt_queue_prio.into();
            keys.push(match (takes_turns, by_queue) {
                (true, _) => (Reverse(priority), 0),
                (false, true) => (Reverse(priority), position),
                (false, false) => (Reverse(is_express.into()), 0),
            });
            priorities.push(Reverse(priority));
            positions.push(position);
        }
        rules.turns = places_of(&positions);
        rules.places = places_of(&keys);
        if rules.places.iter().all(|&place| place == 0) {
            rules.places.clear();
        }
        if by_queue || takes_turns {
            rules.groups = places_of(&priorities);
        }
        rules
    }

    /// The priority of a queue, 0 if it has none.
    fn priority_of(&self, queue: &str) -> i64 {
        self.queues.priority(queue).unwrap_or(0)
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
            for limit in limits.into_iter().flatten().flatten() {
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

    /// The limits of running jobs, of the server and of these queues.
    pub(crate) fn cycle_limits(&self, names: &LimitedNames<'_>) -> Vec<Limit> {
        let mut limits = self.limits_of_jobs(names, false);
        for (name, queue) in owners(names) {
            for (amount, resource) in names.amounts.iter().enumerate() {
                let generic = self.available(name, resource);
                if generic.is_some() {
                    let limit = Limit::new(queue, LimitKind::Available, Some(amount));
                    limits.push(Limit { generic, ..limit });
                }
            }
        }
        limits
    }

    /// The levels of jobs in preemption, if jobs can have different ones or soft limits decide who
    /// is eligible.
    pub(crate) fn preemption_levels(&self, names: &LimitedNames<'_>) -> Option<PreemptionLevels> {
        let queues = names.queues.iter();
        let soft_limits = self.limits_of_jobs(names, true);
        let mut released = None;
        if let Some(listed) = self.queues.released_on_suspend() {
            let mut amounts = Vec::new();
            for (amount, name) in names.amounts.iter().enumerate() {
                if listed.split(',').any(|one| one.trim() == &**name) {
                    amounts.push(amount);
                }
            }
            released = Some(amounts);
        }
        let levels = PreemptionLevels {
            is_preemptive: self.config.preemptive_sched.prime,
            levels: PreemptionLevels::read_levels(self.server.preempt_prio()),
            express_priority: self.config.preempt_queue_prio.into(),
            queue_priorities: queues.map(|queue| self.priority_of(queue)).collect(),
            soft_limits: Limits::new(soft_limits),
            methods: PreemptionLevels::read_order(self.server.preempt_order()),
            enforces_resumption: self.server.is_true("sched_preempt_enforce_resumption"),
            released,
            ..PreemptionLevels::default()
        };
        let has_soft_limits = !levels.soft_limits.is_empty()
            && levels.has_level_of(status::SERVER_SOFT_LIMITS | status::QUEUE_SOFT_LIMITS);
        let mut priorities = levels.queue_priorities.iter();
        let is_used = priorities.any(|priority| *priority >= levels.express_priority)
            || self.config.fair_share.prime && levels.has_level_of(status::FAIRSHARE);
        let has_levels = has_soft_limits || is_used && levels.is_preemptive;
        has_levels.then_some(levels)
    }

    /// The limits of the jobs of the server and of the queues.
    fn limits_of_jobs(&self, names: &LimitedNames<'_>, are_soft: bool) -> Vec<Limit> {
        let mut limits = Vec::new();
        for (name, queue) in owners(names) {
            let limits_of = &self.queues.limits;
            let entries = if are_soft {
                limits_of.soft.get(name)
            } else {
                limits_of.hard.get(name)
            };
            for entry in entries.into_iter().flatten() {
                add_limit(&mut limits, queue, entry, names);
            }
        }
        limits
    }
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

/// The places of keys in their order; those that are equal have the same.
fn places_of<K: Ord + Copy>(keys: &[K]) -> Vec<u32> {
    let mut distinct = keys.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let mut places = Vec::new();
    for key in keys {
        places.push(distinct.binary_search(key).unwrap_or(0) as u32);
    }
    places
}

/// Adds an entry to the limit of its kind, or as a new one. An amount that is not counted has no
/// limit.
fn add_limit(
    limits: &mut Vec<Limit>,
    queue: Option<u32>,
    entry: &RunLimit,
    names: &LimitedNames<'_>,
) {
    let mut amount = None;
    if let Some(resource) = &entry.resource {
        amount = names.amounts.iter().position(|name| name == resource);
        if amount.is_none() {
            return;
        }
    }
    let kind = entry.kind;
    let is_same = |limit: &Limit| (limit.queue, limit.kind, limit.amount) == (queue, kind, amount);
    let index = limits.iter().position(is_same).unwrap_or(limits.len());
    if index == limits.len() {
        limits.push(Limit::new(queue, kind, amount));
    }
    let limit = &mut limits[index];
    let names = match kind {
        LimitKind::Group => names.groups,
        LimitKind::Project => names.projects,
        _ => names.users,
    };
    match &entry.name {
        None => limit.generic = Some(entry.most),
        Some(name) => {
            if let Some(index) = names.iter().position(|other| other == name) {
                limit.named.insert(index as u32, entry.most);
            }
        }
    }
}

/// The limit of the subjobs of some arrays that run at a time, if there are any.
pub fn limit_of_subjobs(named: HashMap<u32, i64>) -> Option<Limit> {
    if named.is_empty() {
        return None;
    }
    let limit = Limit::new(None, LimitKind::Subjobs, None);
    Some(Limit { named, ..limit })
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
