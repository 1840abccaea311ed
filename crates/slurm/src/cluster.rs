//! What the priority of a job depends on beside the job: partitions, nodes, qualities of service
//! and associations.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jsf_json::clipped;

use crate::conf::SlurmConf;
use crate::jobs::TimeLimit;
use crate::printed::{Form, Record, Row, Table, TresAmounts, whole_records};

/// A partition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Partition {
    pub job_factor: u32,
    tier: u32,
    pub max_time: TimeLimit,
    /// `None` if only `slurm.conf` describes the partition.
    pub tres: Option<TresAmounts>,
}

/// All nodes of the cluster and their processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeTotals {
    pub nodes: u32,
    pub cpus: u32,
}

/// The priorities that the database gives to names, and the largest of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Priorities {
    of: BTreeMap<String, u32>,
    largest: u32,
}

impl Priorities {
    pub fn of(&self, name: &str) -> Option<u32> {
        self.of.get(name).copied()
    }

    /// A priority as a part of the largest one, or as it is; 0 without a priority.
    pub fn factor(&self, priority: Option<u32>, is_raw: bool) -> f64 {
        part_of_largest(priority.unwrap_or(0), self.largest, is_raw)
    }
}

/// A number as a part of the largest one, or as it is.
pub(crate) fn part_of_largest(number: u32, largest: u32, is_raw: bool) -> f64 {
    match number {
        0 => 0.0,
        _ if is_raw => f64::from(number),
        _ => f64::from(number) / f64::from(largest.max(1)),
    }
}

/// The parts of a cluster that were read; one that is `None` was not given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cluster {
    pub(crate) partitions: HashMap<String, Partition>,
    /// The largest `PriorityJobFactor`; kept, as the priority of each job takes it.
    pub largest_job_factor: u32,
    pub(crate) nodes: Option<NodeTotals>,
    pub(crate) qos: Option<Priorities>,
    pub(crate) associations: Option<Priorities>,
    /// The clusters that the table of the associations names.
    pub clusters_of_associations: BTreeSet<String>,
    /// The records of `scontrol show node`.
    node_records: Vec<Record>,
}

impl Cluster {
    /// The nodes and partitions that `slurm.conf` describes.
    pub fn from_conf(conf: &SlurmConf) -> Self {
        let mut cluster = Self {
            nodes: totals(&conf.objects.nodes, &[]),
            ..Self::default()
        };
        cluster.add_partition_records(&conf.objects.partitions);
        cluster
    }

    /// Adds what `scontrol show node -a` prints. The nodes that it does not print, such as those
    /// with the state `FUTURE`, count as `slurm.conf` has them.
    pub fn add_nodes(&mut self, name: &str, text: &str, conf: &SlurmConf) -> Vec<String> {
        let problems;
        (self.node_records, problems) = checked_records(name, text, &NODES);
        self.nodes = totals(&conf.objects.nodes, &self.node_records);
        problems
    }

    /// Adds what `scontrol show partition -a` prints, which replaces what `slurm.conf` says. Give
    /// the nodes before, from which the exact memory of the partitions follows.
    pub fn add_partitions(&mut self, name: &str, text: &str) -> Vec<String> {
        self.partitions.clear();
        let (records, problems) = checked_records(name, text, &PARTITIONS);
        self.add_partition_records(&records);
        problems
    }

    /// The processors of the nodes that `scontrol show node` prints and that are not down or
    /// drained; without its output those of `slurm.conf`. `None` if no node is known.
    pub fn usable_processors(&self) -> Option<u32> {
        if self.node_records.is_empty() {
            return Some(self.nodes?.cpus);
        }
        let mut usable = 0_u32;
        for node in &self.node_records {
            let state = node.get("State").unwrap_or_default().to_uppercase();
            if !["DOWN", "DRAIN", "FAIL"]
                .iter()
                .any(|word| state.contains(word))
            {
                usable = usable.saturating_add(processors(node));
            }
        }
        Some(usable)
    }

    fn add_partition_records(&mut self, records: &[Record]) {
        for record in records {
            let Some(name) = record.get("PartitionName") else {
                continue;
            };
            let mut tres = record.get("TRES").map(TresAmounts::parse);
            if let Some(tres) = &mut tres {
                tres.refine_memory(self.memory_of_partition(name));
            }
            // the old key sets the factor and the tier
            let of_both = record.number("Priority");
            let partition = Partition {
                job_factor: record.number("PriorityJobFactor").or(of_both).unwrap_or(1),
                tier: record.number("PriorityTier").or(of_both).unwrap_or(1),
                max_time: record
                    .get("MaxTime")
                    .map_or(TimeLimit::Unlimited, TimeLimit::parse),
                tres,
            };
            self.partitions.insert(name.to_owned(), partition);
        }
        let partitions = self.partitions.values();
        let largest = partitions.map(|one| one.job_factor).max();
        self.largest_job_factor = largest.unwrap_or(0);
    }

    /// The nodes and processors of the cluster.
    pub fn size(&self) -> Option<(f64, f64)> {
        let totals = self.nodes?;
        Some((f64::from(totals.nodes), f64::from(totals.cpus)))
    }

    /// The `PriorityJobFactor` of each partition.
    pub fn job_factors(&self) -> BTreeMap<String, u32> {
        let mut factors = BTreeMap::new();
        for (name, partition) in &self.partitions {
            factors.insert(name.clone(), partition.job_factor);
        }
        factors
    }

    /// The priority of each QOS.
    pub fn qos_priorities(&self) -> BTreeMap<String, u32> {
        self.qos.clone().unwrap_or_default().of
    }

    /// The priority of each association.
    pub fn association_priorities(&self) -> BTreeMap<String, u32> {
        self.associations.clone().unwrap_or_default().of
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
            let mut partitions = node.get("Partitions").unwrap_or_default().split(',');
            if partitions.any(|name| name.trim() == partition) {
                memory += node.number("RealMemory").unwrap_or(0.0);
            }
        }
        memory
    }

    /// Adds what `sacctmgr -P show qos` prints.
    ///
    /// # Errors
    /// It is not such a table.
    pub fn add_qos(&mut self, name: &str, text: &str) -> Result<Vec<String>, String> {
        if let Some(table) = Table::parse_with(text, "Name")
            && let Some(qos) = table.column("Name")
            && let Some(priority) = table.column("Priority")
        {
            let (priorities, problems) = read_priorities(name, &table, priority, "a QOS", |row| {
                Some(row.cell(Some(qos)).to_owned())
            });
            self.qos = Some(priorities);
            return Ok(problems);
        }
        let name = clipped(name);
        Err(format!(
            "`{name}`: expected the output of `sacctmgr -P show qos`"
        ))
    }

    /// Adds what `sacctmgr -P show assoc` prints, of the cluster with a name if it has several.
    ///
    /// # Errors
    /// It is not such a table, or has no column `Priority`.
    pub fn add_associations(
        &mut self,
        name: &str,
        text: &str,
        cluster: Option<&str>,
    ) -> Result<Vec<String>, String> {
        if let Some(table) = Table::parse(text)
            && let Some(priority) = table.column("Priority")
        {
            let account = table.column("Account");
            let user = table.column("User");
            let of_cluster = table.column("Cluster");
            let partition = table.column("Partition");
            let clusters = &mut self.clusters_of_associations;
            let (priorities, problems) =
                read_priorities(name, &table, priority, "an association", |row| {
                    if of_cluster.is_some() {
                        let found = row.cell(of_cluster);
                        clusters.insert(found.to_owned());
                        if let Some(cluster) = cluster
                            && !found.eq_ignore_ascii_case(cluster)
                        {
                            return None;
                        }
                    }
                    Some(association_key(
                        row.cell(account),
                        row.cell(user),
                        row.cell(partition),
                    ))
                });
            self.associations = Some(priorities);
            return Ok(problems);
        }
        let name = clipped(name);
        Err(format!(
            "`{name}`: expected the output of `sacctmgr -P show assoc` with the column Priority"
        ))
    }
}

/// The priorities in a column of a document, by the names that its rows give, and what cannot be
/// read. A row without a number has the priority 0.
fn read_priorities(
    document: &str,
    table: &Table<'_>,
    column: usize,
    what: &str,
    mut name_of: impl FnMut(&Row<'_>) -> Option<String>,
) -> (Priorities, Vec<String>) {
    let mut priorities = Priorities::default();
    let mut problems = Vec::new();
    for row in table.rows() {
        let row = match row {
            Ok(row) => row,
            Err(fault) => {
                problems.push(format!("`{document}`: {what} is left out{fault}"));
                continue;
            }
        };
        let Some(name) = name_of(&row) else { continue };
        let text = row.cell(Some(column));
        let of = what.split(' ').next_back().unwrap_or_default();
        if !text.is_empty()
            && let Some(fault) = Form::Count.fault("Priority", &format!("{of} `{name}`"), text)
        {
            problems.push(format!("`{document}`, {}: {fault}", row.place));
        }
        let priority = text.parse().unwrap_or(0);
        priorities.largest = priorities.largest.max(priority);
        priorities.of.insert(name, priority);
    }
    if let Some(end) = table.unended() {
        problems.push(format!("`{document}`: {end}"));
    }
    (priorities, problems)
}

/// What the records of a kind begin with, what they describe, which command prints them, and the
/// forms of their values.
struct RecordKind<'a> {
    first: &'a str,
    what: &'a str,
    command: &'a str,
    forms: &'a [(&'a str, Form)],
}

const NODES: RecordKind<'_> = RecordKind {
    first: "NodeName",
    what: "node",
    command: "scontrol show node -a",
    forms: &[
        ("CPUEfctv", Form::Count),
        ("CPUTot", Form::Count),
        ("RealMemory", Form::Number),
    ],
};
const PARTITIONS: RecordKind<'_> = RecordKind {
    first: "PartitionName",
    what: "partition",
    command: "scontrol show partition -a",
    forms: &[
        ("PriorityJobFactor", Form::Count),
        ("PriorityTier", Form::Count),
        ("MaxTime", Form::Limit),
        ("TRES", Form::Amounts),
    ],
};

/// The records of a file that a command prints, and what is wrong with it.
fn checked_records(name: &str, text: &str, kind: &RecordKind<'_>) -> (Vec<Record>, Vec<String>) {
    let RecordKind { first, what, .. } = kind;
    let (records, cut) = whole_records(text, first, what, kind.command);
    let mut problems = Vec::from_iter(cut);
    for record in &records {
        let of = format!("{what} `{}`", record.get(first).unwrap_or_default());
        problems.extend(record.faults(kind.forms, &of));
    }
    for problem in &mut problems {
        *problem = format!("`{name}`: {problem}");
    }
    (records, problems)
}

/// The name of an association among the priorities.
pub(crate) fn association_key(account: &str, user: &str, partition: &str) -> String {
    format!("{account}/{user}/{partition}").to_lowercase()
}

/// The nodes of `slurm.conf` and their processors, as `scontrol show node` prints those that it
/// prints. `None` if there are none.
fn totals(of_conf: &[Record], printed: &[Record]) -> Option<NodeTotals> {
    let mut by_name: HashMap<&str, &Record> = HashMap::new();
    for node in printed {
        by_name.extend(node.get("NodeName").map(|name| (name, node)));
    }
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
        let printed = by_name.get(node.get("NodeName").unwrap_or_default());
        cpus = cpus.saturating_add(processors(printed.unwrap_or(node)));
    }
    let nodes = u32::try_from(listed.len()).unwrap_or(u32::MAX);
    Some(NodeTotals { nodes, cpus })
}

/// The processors of a node that jobs can use.
fn processors(node: &Record) -> u32 {
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
