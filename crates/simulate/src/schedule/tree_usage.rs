//! The usage of a fair-share tree along a simulation: what running jobs are charged, how it decays,
//! and the numbers that a formula gets of it.

use job_sort_formula::fairshare::{
    DocumentedOpenPbs, NodeId, NodeKind, Policy, PolicyRules, ShareTree, TicketBased,
};
use job_sort_formula::rank::fairshare_number;
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::amounts;
use jsf_openpbs::pbs_tree::{SharePath, SharePaths};
use serde::Serialize;

use crate::workload::WorkloadJob;

/// How usage decays.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Decay {
    /// The time between two decays, in seconds: usage decays at every multiple of it.
    #[serde(rename = "seconds")]
    pub period: u64,
    /// The factor by which usage is multiplied, 0..=1.
    pub factor: f64,
}

/// What a running job is charged (`fairshare_usage_res`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsageMeasure {
    /// The processor time, taken to be that of all its processors all the time (`cput`); no job
    /// asks for an amount of it.
    CpuTime,
    /// Processors times seconds (`ncpus*walltime`).
    #[default]
    ProcessorSeconds,
    /// Seconds (`walltime`).
    Seconds,
}

impl UsageMeasure {
    /// The measure that a `fairshare_usage_res` denotes; `None` for any other formula.
    pub fn from_formula(formula: &str) -> Option<Self> {
        match formula.replace(char::is_whitespace, "").as_str() {
            "cput" => Some(Self::CpuTime),
            "ncpus*walltime" | "walltime*ncpus" => Some(Self::ProcessorSeconds),
            "walltime" => Some(Self::Seconds),
            _ => None,
        }
    }

    /// What a job is charged for a time.
    fn charge(self, processors: u32, seconds: i64) -> f64 {
        match self {
            // a product of integers may be beyond 64 bits; that of floats is rounded as it would be
            Self::CpuTime | Self::ProcessorSeconds => f64::from(processors) * seconds as f64,
            Self::Seconds => seconds as f64,
        }
    }

    /// What a job is charged in a cycle in which it starts or is promised a start.
    pub(super) fn requested(self, job: &WorkloadJob) -> f64 {
        match self {
            Self::CpuTime => 0.0,
            Self::ProcessorSeconds | Self::Seconds => self.charge(job.processors, job.walltime),
        }
    }
}

/// The policy that turns usage into numbers.
pub enum FairsharePolicy {
    /// Slurm's ticket-based one, which gives tickets to the entities with waiting jobs.
    TicketBased(PolicyRules),
    /// Any other one.
    Other(Box<dyn Policy>),
}

/// A fair-share tree whose usage follows a simulation.
pub struct Fairshare {
    tree: ShareTree,
    policy: FairsharePolicy,
    decay: Option<Decay>,
    /// What a running job is charged.
    pub measure: UsageMeasure,
    /// The node of every entity of the workload; `None` if the tree does not have it.
    pub nodes: Vec<Option<NodeId>>,
    /// The usage that is charged to each node itself.
    own_usage: Vec<f64>,
    /// The fraction of the whole machine that each node has by its shares.
    percs: Vec<f64>,
    /// The usage that every entity starts with, and below which no decay brings it.
    least_usage: f64,
    pub(super) time: i64,
    /// Whether the numbers reach a formula with the decimals that OpenPBS prints.
    pub is_printed: bool,
    /// The numbers of every entity of the workload, by its index, in the order of [`INPUTS`].
    pub(super) numbers: Vec<[f64; INPUTS.len()]>,
}

impl Fairshare {
    /// A tree in which every entity has at least a usage, and more if the usage of the tree is what
    /// it begins with. `entities` are those of the workload.
    pub fn new(
        tree: ShareTree,
        policy: FairsharePolicy,
        decay: Option<Decay>,
        entities: &[Box<str>],
        least_usage: f64,
        begins_as_in_tree: bool,
    ) -> Self {
        let mut own_usage = Vec::new();
        for node in tree.nodes() {
            let mut usage = 0.0;
            if begins_as_in_tree {
                // OpenPBS's scheduler keeps the usage of a leaf as a running total
                usage = if tree.children(node).is_empty() {
                    tree.usage(node)
                } else {
                    tree.own_usage(node)
                };
            }
            if tree.kind(node) == NodeKind::Entity {
                usage = least_usage.max(usage);
            }
            own_usage.push(usage);
        }
        let tree = without_running_totals(tree);
        let assessed = DocumentedOpenPbs.assess(&tree);
        let of_node = |node| assessed.get(node).unwrap_or_default().fairshare_perc;
        Self {
            // a decay by 1 changes nothing, at however many multiples of its period
            decay: decay.filter(|decay| decay.period > 0 && decay.factor < 1.0),
            measure: UsageMeasure::default(),
            nodes: entities.iter().map(|entity| tree.resolve(entity)).collect(),
            percs: tree.nodes().map(of_node).collect(),
            tree,
            policy,
            own_usage,
            least_usage,
            time: 0,
            is_printed: false,
            numbers: Vec::new(),
        }
    }

    /// The path of each entity of the workload from the root, as OpenPBS compares two of them.
    pub(super) fn paths(&self) -> SharePaths {
        let mut usage = self.own_usage.clone();
        for node in self.tree.nodes().rev() {
            let mut below = 0.0;
            for child in self.tree.children(node) {
                below += usage[child.index()];
            }
            usage[node.index()] += below;
        }
        let numbers = |node: NodeId| (self.percs[node.index()], usage[node.index()]);
        let mut paths = Vec::new();
        for node in &self.nodes {
            paths.push(match node {
                Some(node) => SharePath::from_root(&self.tree, *node, numbers),
                None => SharePath::default(),
            });
        }
        SharePaths(paths)
    }

    /// Charges the running jobs up to a time, and decays usage at every multiple of the period up
    /// to it.
    pub(super) fn advance(&mut self, time: i64, jobs: &[WorkloadJob], running: &[u32]) {
        if let Some(Decay { period, factor }) = self.decay {
            let period = i64::try_from(period).unwrap_or(i64::MAX);
            let mut next = self
                .time
                .div_euclid(period)
                .saturating_add(1)
                .saturating_mul(period);
            let mut before = Vec::new();
            while next <= time {
                self.charge(next, jobs, running);
                self.decay_once(factor);
                let left = (time - next) / period;
                if left > 1 {
                    // a whole period that changes nothing is followed by others that change nothing
                    if before == self.own_usage {
                        next += left * period;
                        self.time = next;
                    } else {
                        before.clone_from(&self.own_usage);
                    }
                }
                next = next.saturating_add(period);
            }
        }
        self.charge(time, jobs, running);
    }

    fn charge(&mut self, time: i64, jobs: &[WorkloadJob], running: &[u32]) {
        let seconds = time - self.time;
        let measure = self.measure;
        if seconds > 0 {
            for &job in running {
                let job = &jobs[job as usize];
                // job by job, since floats that are added in another order may differ in their last
                // bit
                if let Some(node) = self.nodes[job.entity as usize] {
                    self.own_usage[node.index()] += measure.charge(job.processors, seconds);
                }
            }
        }
        self.time = time;
    }

    fn decay_once(&mut self, factor: f64) {
        for (usage, node) in self.own_usage.iter_mut().zip(self.tree.nodes()) {
            *usage *= factor;
            if self.tree.kind(node) == NodeKind::Entity {
                *usage = self.least_usage.max(*usage);
            }
        }
    }

    /// Computes the numbers of the entities. It is said of each whether it has waiting jobs.
    pub(super) fn assess(&mut self, has_waiting: &[bool]) {
        // only differences are added: each addition goes through all groups above the node
        for (index, node) in self.tree.nodes().enumerate() {
            let change = self.own_usage[index] - self.tree.own_usage(node);
            if change != 0.0 {
                self.tree.add_usage(node, change);
            }
        }
        let shares = match &self.policy {
            FairsharePolicy::TicketBased(rules) => {
                let mut nodes = Vec::new();
                for (node, has_waiting) in self.nodes.iter().zip(has_waiting) {
                    if *has_waiting {
                        nodes.extend(*node);
                    }
                }
                TicketBased::new(*rules, nodes).assess(&self.tree)
            }
            FairsharePolicy::Other(policy) => policy.assess(&self.tree),
        };
        self.numbers.clear();
        for node in &self.nodes {
            let node_shares = node.and_then(|node| shares.get(node)).unwrap_or_default();
            let mut numbers = INPUTS.map(|input| fairshare_number(input, &node_shares));
            if self.is_printed {
                numbers = numbers.map(amounts::fairshare);
            }
            self.numbers.push(numbers);
        }
    }
}

/// The fair-share numbers of an entity, in the order of their enum.
const INPUTS: [FairshareInput; 3] = [
    FairshareInput::Perc,
    FairshareInput::TreeUsage,
    FairshareInput::Factor,
];

/// A tree whose usage is the sum of what is charged to its nodes: running totals would not decay.
fn without_running_totals(mut tree: ShareTree) -> ShareTree {
    if tree.is_summed() {
        return tree;
    }
    let nodes: Vec<NodeId> = tree.nodes().collect();
    for &node in &nodes {
        tree.add_usage(node, -tree.own_usage(node));
    }
    for node in nodes {
        tree.set_usage(node, 0.0);
    }
    tree
}

#[cfg(test)]
mod tests {
    use jsf_ingest::native_tree::read_tree;

    use super::*;
    use crate::workload::generate::{WorkloadModel, generate};

    const TREE: &str = r#"{"children":[{"name":"g","shares":40,"children":[{"name":"a","shares":5},{"name":"b","shares":0},
        {"name":"h","shares":7,"children":[{"name":"c","shares":1},{"name":"d","shares":2}]}]},{"name":"e","shares":60}]}"#;

    fn fairshare(policy: FairsharePolicy, decay: Option<Decay>) -> Fairshare {
        let tree = read_tree("tree", TREE.as_bytes())
            .unwrap()
            .share_tree()
            .unwrap();
        Fairshare::new(
            tree,
            policy,
            decay,
            &["a", "b", "c", "d", "e", "nobody"].map(Box::from),
            1.0,
            false,
        )
    }

    fn documented(decay: Option<Decay>) -> Fairshare {
        fairshare(FairsharePolicy::Other(Box::new(DocumentedOpenPbs)), decay)
    }

    /// A job of each of these entities.
    fn jobs(entities: &[u32]) -> Vec<WorkloadJob> {
        let mut jobs = generate(&WorkloadModel::default()).jobs()[..entities.len()].to_vec();
        for (job, &entity) in jobs.iter_mut().zip(entities) {
            job.entity = entity;
            job.processors = entity + 1;
        }
        jobs
    }

    fn factors(fairshare: &Fairshare) -> Vec<f64> {
        let numbers = fairshare.numbers.iter();
        numbers
            .map(|numbers| numbers[FairshareInput::Factor as usize])
            .collect()
    }

    #[test]
    fn entities_with_waiting_jobs_get_tickets() {
        let mut fairshare = fairshare(FairsharePolicy::TicketBased(PolicyRules::Scheduler), None);
        fairshare.assess(&[true, false, false, false, true, false]);
        let factors = self::factors(&fairshare);
        assert_eq!(
            factors
                .iter()
                .map(|factor| *factor > 0.0)
                .collect::<Vec<_>>(),
            [true, false, false, false, true, false]
        );
        assert_eq!(
            factors
                .iter()
                .fold(0.0, |most: f64, factor| most.max(*factor)),
            1.0
        );
        fairshare.assess(&[false, false, true, false, false, false]);
        assert_eq!(self::factors(&fairshare), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn printed_numbers_have_six_decimals() {
        let mut exact = documented(None);
        let mut printed = documented(None);
        printed.is_printed = true;
        for fairshare in [&mut exact, &mut printed] {
            fairshare.advance(1000, &jobs(&[0, 2]), &[0, 1]);
            // twice, since the fractions stay and the others are computed again
            fairshare.assess(&[true; 6]);
            fairshare.assess(&[true; 6]);
        }
        let (exact, printed) = (exact.numbers.concat(), printed.numbers.concat());
        let parsed: Vec<f64> = exact
            .iter()
            .map(|number| format!("{number:.6}").parse().unwrap())
            .collect();
        assert_eq!(printed, parsed);
        assert_ne!(printed, exact);
    }

    #[test]
    fn a_charge_may_be_beyond_64_bits() {
        let mut job = generate(&WorkloadModel::default()).jobs()[0];
        job.processors = 1_000_000_000;
        job.walltime = 100_000_000_000;
        assert_eq!(UsageMeasure::ProcessorSeconds.requested(&job), 1e20);
        // odd products beyond 2^53 are rounded once
        let charge = UsageMeasure::CpuTime.charge(4_294_967_295, 99_999_999);
        assert_eq!(charge, (4_294_967_295_i64 * 99_999_999) as f64);
    }

    #[test]
    fn a_long_time_is_as_many_periods() {
        let decay = Some(Decay {
            period: 7,
            factor: 0.5,
        });
        let (mut at_once, mut stepwise) = (documented(decay), documented(decay));
        let jobs = jobs(&[0, 1, 2, 0]);
        let running = [0, 1, 2, 3];
        at_once.advance(7_000_003, &jobs, &running);
        (1..1_000_001).for_each(|period| stepwise.advance(7 * period, &jobs, &running));
        stepwise.advance(7_000_003, &jobs, &running);
        assert_eq!(
            (at_once.own_usage, at_once.time),
            (stepwise.own_usage, stepwise.time)
        );
    }
}
