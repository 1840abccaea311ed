//! What the priority of a job depends on beside the job: settings, partitions, nodes, qualities of
//! service and associations; and the inputs of the priority's formula that follow for a job.
//!
//! In: `slurm.conf`, and what `scontrol` and `sacctmgr` print.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::SlurmDocument;
use crate::priority::{AGE, Factor, age_factor};
use crate::records::{Record, RecordKind};
use crate::slurm_conf::SlurmConf;
use crate::slurm_jobs::SlurmJob;
use crate::tables::Table;
use crate::values::{Form, TimeLimit, TresAmounts};

/// The minutes that Slurm keeps for a job without a limit.
const UNLIMITED_MINUTES: u32 = u32::MAX;

/// A partition.
#[derive(Debug, Clone, PartialEq)]
struct Partition {
    max_time: TimeLimit,
    /// `None` if only `slurm.conf` describes the partition.
    tres: Option<TresAmounts>,
}

/// All nodes of the cluster and their processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NodeTotals {
    nodes: u32,
    cpus: u32,
}

/// The numbers behind a factor by the names that have them, and the largest of them.
#[derive(Debug, Clone, Default, PartialEq)]
struct Priorities {
    of: BTreeMap<String, u32>,
    /// Kept, as the priority of each job takes it.
    largest: u32,
}

impl Priorities {
    /// A name without a number has the priority 0.
    fn insert(&mut self, name: String, priority: Option<u32>) {
        let priority = priority.unwrap_or(0);
        self.largest = self.largest.max(priority);
        self.of.insert(name, priority);
    }
}

/// The parts of a cluster that were read; one that is `None` was not given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cluster {
    pub conf: SlurmConf,
    partitions: HashMap<String, Partition>,
    /// The `PriorityJobFactor` of each partition.
    job_factors: Option<Priorities>,
    nodes: Option<NodeTotals>,
    qos: Option<Priorities>,
    associations: Option<Priorities>,
    /// The clusters that the table of the associations names.
    pub clusters_of_associations: BTreeSet<String>,
    /// The records of `scontrol show node`.
    node_records: Vec<Record>,
}

const NODE: RecordKind = RecordKind {
    what: "node",
    name: "NodeName",
    command: "scontrol show node -a",
    forms: &[
        ("CPUEfctv", Form::Count),
        ("CPUTot", Form::Count),
        ("RealMemory", Form::Number),
    ],
};
const PARTITION: RecordKind = RecordKind {
    what: "partition",
    name: "PartitionName",
    command: "scontrol show partition -a",
    forms: &[
        ("PriorityJobFactor", Form::Count),
        ("PriorityTier", Form::Count),
        ("MaxTime", Form::Limit),
        ("TRES", Form::Amounts),
    ],
};
const QOS: RecordKind = RecordKind {
    what: "QOS",
    name: "Name",
    command: "sacctmgr -P show qos",
    forms: &[("Priority", Form::Count)],
};
const ASSOCIATION: RecordKind = RecordKind {
    what: "association",
    name: "Account",
    command: "sacctmgr -P show assoc",
    forms: &[("Priority", Form::Count)],
};

impl Cluster {
    /// The settings, nodes and partitions of `slurm.conf`.
    pub fn new(conf: SlurmConf) -> Self {
        let mut cluster = Self {
            nodes: totals(&conf.nodes, &[]),
            ..Self::default()
        };
        cluster.add_partitions(&conf.partitions);
        Self { conf, ..cluster }
    }

    /// Adds what a document says, and returns what is wrong with it, one sentence each. Give the
    /// nodes before the partitions, whose exact memory follows from them.
    ///
    /// # Errors
    /// It is a table of something else.
    pub fn add(&mut self, document: SlurmDocument, text: &str) -> Result<Vec<String>, String> {
        match document {
            SlurmDocument::Nodes => {
                let problems;
                (self.node_records, problems) = NODE.read(text);
                self.nodes = totals(&self.conf.nodes, &self.node_records);
                Ok(problems)
            }
            SlurmDocument::Partitions => {
                let (records, mut problems) = PARTITION.read(text);
                let configured = self.job_factors.take().unwrap_or_default();
                self.partitions.clear();
                self.add_partitions(&records);
                for (name, factor) in configured.of {
                    if let Some(used) = self.priorities(Factor::Partition).get(&name)
                        && *used != factor
                    {
                        problems.push(format!(
                            "`PriorityJobFactor` of partition `{name}` is {used}, which counts, and {factor} in the settings"
                        ));
                    }
                }
                Ok(problems)
            }
            SlurmDocument::Qos => {
                let (records, problems) = priorities_in(&QOS, text, &[])?;
                let mut qos = Priorities::default();
                for record in records {
                    qos.insert(record.text(QOS.name).to_owned(), record.number("Priority"));
                }
                self.qos = Some(qos);
                Ok(problems)
            }
            SlurmDocument::Associations => {
                let columns = ["User", "Partition", "Cluster"];
                let (records, problems) = priorities_in(&ASSOCIATION, text, &columns)?;
                self.add_associations(&records);
                Ok(problems)
            }
            // these have readers of their own
            SlurmDocument::Jobs | SlurmDocument::Sprio => Ok(Vec::new()),
        }
    }

    fn add_partitions(&mut self, records: &[Record]) {
        let mut job_factors = BTreeMap::new();
        for record in records {
            let Some(name) = record.get(PARTITION.name) else {
                continue;
            };
            let mut tres = record.get("TRES").map(TresAmounts::parse);
            if let Some(tres) = &mut tres {
                tres.refine_memory(self.memory_of_partition(name));
            }
            // the old key sets the tier, which is not read, and the factor
            let priority = record.number("Priority");
            let job_factor = record.number("PriorityJobFactor").or(priority);
            job_factors.insert(name.to_owned(), job_factor.unwrap_or(1));
            let max_time = record.get("MaxTime");
            let max_time = max_time.map_or(TimeLimit::Unlimited, TimeLimit::parse);
            let partition = Partition { max_time, tres };
            self.partitions.insert(name.to_owned(), partition);
        }
        let largest = job_factors.values().copied().max();
        self.job_factors = largest.map(|largest| Priorities {
            of: job_factors,
            largest,
        });
    }

    /// Adds the associations, those of one cluster if it is named.
    fn add_associations(&mut self, records: &[Record]) {
        let cluster = self.conf.value("ClusterName");
        let mut associations = Priorities::default();
        for record in records {
            if let Some(found) = record.get("Cluster") {
                self.clusters_of_associations.insert(found.to_owned());
                if let Some(cluster) = cluster
                    && !found.eq_ignore_ascii_case(cluster)
                {
                    continue;
                }
            }
            let [account, user, partition] =
                ["Account", "User", "Partition"].map(|column| record.text(column));
            // `sacctmgr` prints the priority that an association inherits: no account is looked up
            let key = association_key(account, user, partition);
            associations.insert(key, record.number("Priority"));
        }
        self.associations = Some(associations);
    }

    /// The processors of the nodes that `scontrol show node` prints and that are not down or
    /// drained; without its output those of `slurm.conf`. `None` if no node is known.
    pub fn usable_processors(&self) -> Option<u32> {
        if self.node_records.is_empty() {
            return Some(self.nodes?.cpus);
        }
        let mut usable = 0_u32;
        for node in &self.node_records {
            let state = node.text("State").to_uppercase();
            let mut unusable = ["DOWN", "DRAIN", "FAIL"].iter();
            if !unusable.any(|word| state.contains(word)) {
                usable = usable.saturating_add(processors(node));
            }
        }
        Some(usable)
    }

    /// The nodes and processors of the cluster.
    pub fn size(&self) -> Option<(f64, f64)> {
        let totals = self.nodes?;
        Some((f64::from(totals.nodes), f64::from(totals.cpus)))
    }

    /// What is known of the numbers behind the factor of partitions, of the QOS or of associations.
    fn known(&self, factor: Factor) -> Option<&Priorities> {
        match factor {
            Factor::Partition => self.job_factors.as_ref(),
            Factor::Qos => self.qos.as_ref(),
            Factor::Assoc => self.associations.as_ref(),
            Factor::Age | Factor::Fairshare | Factor::JobSize => None,
        }
    }

    /// The `PriorityJobFactor` of each partition, or the priority of each QOS or association.
    pub fn priorities(&self, factor: Factor) -> &BTreeMap<String, u32> {
        static NONE: BTreeMap<String, u32> = BTreeMap::new();
        self.known(factor).map_or(&NONE, |known| &known.of)
    }

    /// The totals of a resource that partitions have.
    pub fn totals_of(&self, tres: &str) -> Vec<f64> {
        let mut totals = Vec::new();
        for partition in self.partitions.values() {
            if let Some(amounts) = &partition.tres {
                totals.extend(amounts.get(tres));
            }
        }
        totals
    }

    /// The memory of the nodes of a partition in MB.
    fn memory_of_partition(&self, partition: &str) -> f64 {
        let mut memory = 0.0;
        for node in &self.node_records {
            let mut partitions = node.text("Partitions").split(',');
            if partitions.any(|name| name.trim() == partition) {
                memory += node.number("RealMemory").unwrap_or(0.0);
            }
        }
        memory
    }
}

/// The records of a table with priorities, and what is wrong with it.
fn priorities_in(
    kind: &RecordKind,
    text: &str,
    columns: &[&'static str],
) -> Result<(Vec<Record>, Vec<String>), String> {
    let mut keys = vec![(kind.name, kind.name), ("Priority", "Priority")];
    keys.extend(columns.iter().map(|column| (*column, *column)));
    match Table::parse(text) {
        Some(table) if table.has(kind.name) && table.has("Priority") => {
            let mut records = Vec::new();
            let problems = kind.read_table(&table, &keys, |record| records.push(record));
            Ok((records, problems))
        }
        _ => Err(format!(
            "expected the output of `{}` with the columns {} and Priority",
            kind.command, kind.name
        )),
    }
}

/// The name of an association among the priorities.
fn association_key(account: &str, user: &str, partition: &str) -> String {
    format!("{account}/{user}/{partition}").to_lowercase()
}

/// The nodes of `slurm.conf` and their processors, as `scontrol show node` prints those that it
/// prints. `None` if there are none.
fn totals(of_conf: &[Record], printed: &[Record]) -> Option<NodeTotals> {
    let mut by_name: HashMap<&str, &Record> = HashMap::new();
    for node in printed {
        by_name.insert(node.text(NODE.name), node);
    }
    // slurmctld divides by all nodes of its file, also by those that `scontrol` does not print, with
    // the state FUTURE or in a cloud and switched off
    let listed: Vec<&Record> = if of_conf.is_empty() {
        by_name.values().copied().collect()
    } else {
        of_conf.iter().collect()
    };
    if listed.is_empty() {
        return None;
    }
    let mut cpus = 0_u32;
    for node in &listed {
        let printed = by_name.get(node.text(NODE.name));
        cpus = cpus.saturating_add(processors(printed.unwrap_or(node)));
    }
    let nodes = u32::try_from(listed.len()).unwrap_or(u32::MAX);
    Some(NodeTotals { nodes, cpus })
}

/// The processors of a node that jobs can use.
fn processors(node: &Record) -> u32 {
    // `CPUEfctv` lacks the cores that `CoreSpecCount` reserves, as the number in the priority does
    let printed = node.number("CPUEfctv").or(node.number("CPUTot"));
    printed.unwrap_or(configured_cpus(node))
}

/// The processors of a node that jobs can use, as its line in `slurm.conf` says.
fn configured_cpus(node: &Record) -> u32 {
    let count = |key| node.number::<u32>(key);
    let threads = count("ThreadsPerCore").unwrap_or(1);
    let per_board = count("SocketsPerBoard");
    let boards = per_board.and(count("Boards")).unwrap_or(1);
    let sockets = count("Sockets").or(per_board).unwrap_or(1);
    let cores = count("CoresPerSocket").unwrap_or(1);
    let product = boards
        .saturating_mul(sockets)
        .saturating_mul(cores)
        .saturating_mul(threads);
    let cpus = count("CPUs").or(count("Procs")).unwrap_or(product);
    let reserved = count("CoreSpecCount").unwrap_or(0).saturating_mul(threads);
    cpus.saturating_sub(reserved)
}

/// What a formula gets for a job.
impl Cluster {
    /// The numbers behind the factors of a job, in the names that a formula of PBS has for them: the
    /// priority of the QOS, that of the association and the `PriorityJobFactor` of the first
    /// partition.
    pub fn priorities_of(&self, job: &SlurmJob) -> [(&'static str, f64); 3] {
        [
            ("qos_priority", Factor::Qos),
            ("assoc_priority", Factor::Assoc),
            ("job_factor", Factor::Partition),
        ]
        .map(|(name, factor)| (name, self.priority(factor, job).unwrap_or(0).into()))
    }

    /// The number behind a factor of a job; `None` for a name that is not known.
    fn priority(&self, factor: Factor, job: &SlurmJob) -> Option<u32> {
        let partition = job.first_partition();
        let of = self.priorities(factor);
        match factor {
            Factor::Partition => of.get(partition),
            Factor::Qos => of.get(&job.qos),
            _ => {
                // that of the association with the partition, else of the one without
                let key = |partition| association_key(&job.account, &job.user, partition);
                of.get(&key(partition)).or_else(|| of.get(&key("")))
            }
        }
        .copied()
    }

    /// A factor that is a part of the largest number of all in the database, also of a QOS and an
    /// association that no job has.
    fn part_of_largest(&self, factor: Factor, job: &SlurmJob) -> f64 {
        let number = f64::from(self.priority(factor, job).unwrap_or(0));
        match self.known(factor) {
            Some(known) if !self.conf.priority.is_raw(factor) => {
                number / f64::from(known.largest.max(1))
            }
            _ => number,
        }
    }

    /// The inputs of the priority by their names, but for the site's factor, which is 0. The age is
    /// computed at `now`, in seconds since 1970 on the clock of the job.
    pub fn priority_inputs(&self, job: &SlurmJob, now: i64) -> Vec<(String, f64)> {
        let settings = &self.conf.priority;
        let age = match job.accrues_from {
            Some(from) => age_factor(now.saturating_sub(from), settings.max_age),
            None => 0.0,
        };
        let points = self.points(job);
        let part = |factor| self.part_of_largest(factor, job);
        let mut inputs = Vec::new();
        for (name, number) in [
            (AGE, age),
            (Factor::Assoc.input(), part(Factor::Assoc)),
            (Factor::JobSize.input(), self.size_factor(job)),
            (Factor::Partition.input(), part(Factor::Partition)),
            (Factor::Qos.input(), part(Factor::Qos)),
            ("site_factor", 0.0),
            ("nice", job.nice as f64),
            ("tres_points", points.iter().map(|(_, points)| points).sum()),
        ] {
            inputs.push((name.to_owned(), number));
        }
        inputs.extend(points);
        inputs
    }

    /// The weighted parts of the resources of the partition, in the order of the weights.
    fn points(&self, job: &SlurmJob) -> Vec<(String, f64)> {
        let settings = &self.conf.priority;
        // of several partitions slurmctld keeps the priority in the first one that it prints
        let partition = self.partitions.get(job.first_partition());
        let total_tres = partition.and_then(|partition| partition.tres.as_ref());
        let mut points = Vec::new();
        for tres in &settings.weight_tres {
            let requested = job.tres.get(&tres.name).unwrap_or(0.0);
            let factor = if settings.raw_tres {
                requested
            } else if let Some(total) = total_tres
                && let Some(total) = total.get(&tres.name)
                && total > 0.0
            {
                requested / total
            } else {
                // such as a licence, which a partition does not list
                0.0
            };
            points.push((tres.input(), tres.weight * factor));
        }
        points
    }

    fn size_factor(&self, job: &SlurmJob) -> f64 {
        let settings = &self.conf.priority;
        let Some(totals) = self.nodes else {
            return 0.0;
        };
        if totals.nodes == 0 || totals.cpus == 0 {
            return 0.0;
        }
        let nodes = job.nodes() as u32;
        let factor = if settings.relative_to_time {
            let (all_nodes, all_cpus) = (f64::from(totals.nodes), f64::from(totals.cpus));
            let equivalent = (f64::from(nodes) * all_cpus / all_nodes).max(f64::from(job.cpus));
            let factor = equivalent / f64::from(self.minutes(job)) / all_cpus;
            // whatever the names say: without `PriorityFavorSmall`, large and short jobs are first
            if settings.favor_small {
                1.0 - factor
            } else {
                factor
            }
        } else if settings.favor_small {
            // unsigned numbers: a job that is larger than the cluster has the factor 1
            let nodes = totals.nodes.wrapping_sub(nodes);
            let cpus = totals.cpus.wrapping_sub(job.cpus);
            mean_part(nodes, cpus, totals, job)
        } else {
            mean_part(nodes, job.cpus, totals, job)
        };
        factor.clamp(0.0, 1.0)
    }

    /// The limit of a job, else that of its partition.
    fn minutes(&self, job: &SlurmJob) -> u32 {
        let mut limit = job.time_limit;
        if limit == TimeLimit::OfPartition
            && let Some(partition) = self.partitions.get(job.first_partition())
        {
            limit = partition.max_time;
        }
        match limit {
            TimeLimit::Minutes(minutes) => minutes.max(1),
            TimeLimit::Unlimited | TimeLimit::OfPartition => UNLIMITED_MINUTES,
        }
    }
}

/// The mean of the parts of all nodes and of all processors; the first alone if the job has no
/// processors.
fn mean_part(nodes: u32, cpus: u32, totals: NodeTotals, job: &SlurmJob) -> f64 {
    let node_part = f64::from(nodes) / f64::from(totals.nodes);
    if job.cpus == 0 {
        return node_part;
    }
    (node_part + f64::from(cpus) / f64::from(totals.cpus)) / 2.0
}

/// What the cluster does not say.
impl Cluster {
    /// The settings of weights that are not 0 although what they weigh is not known, each with the
    /// command that prints it.
    pub fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let settings = &self.conf.priority;
        let has_weight = |factor| settings.weight(factor) > 0;
        let partitions = &self.partitions;
        let has_tres = !partitions.is_empty() && partitions.values().all(|one| one.tres.is_some());
        let needs_tres = !settings.weight_tres.is_empty() && !settings.raw_tres;
        let mut missing = Vec::new();
        if needs_tres && !has_tres || has_weight(Factor::Partition) && partitions.is_empty() {
            let setting = "PriorityWeightPartition or PriorityWeightTRES";
            missing.push((setting, PARTITION.command));
        }
        for (factor, is_known, kind) in [
            (Factor::JobSize, self.nodes.is_some(), NODE),
            (Factor::Qos, self.qos.is_some(), QOS),
            (Factor::Assoc, self.associations.is_some(), ASSOCIATION),
        ] {
            if has_weight(factor) && !is_known {
                missing.push((factor.setting(), kind.command));
            }
        }
        missing
    }

    /// The name of the partition, the QOS or the association of a job, if its factor has a weight
    /// and the cluster does not know the name.
    pub fn unknown_name(&self, factor: Factor, job: &SlurmJob) -> Option<String> {
        let settings = &self.conf.priority;
        let mut has_weight = settings.weight(factor) > 0;
        let name = match factor {
            Factor::Partition => {
                has_weight |= !settings.weight_tres.is_empty();
                job.first_partition().to_owned()
            }
            Factor::Qos if job.qos.is_empty() => return None,
            Factor::Qos => job.qos.clone(),
            _ => job.entity(),
        };
        let is_unknown = self.known(factor).is_some() && self.priority(factor, job).is_none();
        (has_weight && is_unknown).then_some(name)
    }
}
