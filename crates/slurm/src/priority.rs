//! The multifactor priority: the formula that follows from the settings, and the numbers that it
//! gets for each job. The rules are those of Slurm 22.05, as recorded in
//! `tests/golden/slurm-priority`.
//!
//! What the priority of a job depends on beside the job are partitions, nodes, qualities of service and
//! associations ([`Cluster`]).
//!
//! What `sprio` prints of pending jobs is not an input of the priority, but for two things that
//! nothing else prints: the site's factor, and which jobs have a priority that was set directly.
//! From the age that it prints follows when the daemon computed the priorities.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;

use jsf_json::clipped;

use crate::conf::{PrioritySettings, SlurmConf, TresWeight};
use crate::jobs::SlurmJob;
use crate::records::{Form, Record, Row, Table, TresAmounts, whole_records};
use crate::times::TimeLimit;

/// The input that grows while a job waits.
pub const AGE: &str = "age_factor";

/// The minutes that Slurm keeps for a job without a limit.
const UNLIMITED_MINUTES: u32 = u32::MAX;

/// A summand of the priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorityTerm {
    /// The column of `sprio -l`.
    pub column: String,
    /// The summand as a formula.
    pub formula: String,
}

impl PriorityTerm {
    fn new(column: &str, formula: impl Into<String>) -> Self {
        Self {
            column: column.to_owned(),
            formula: formula.into(),
        }
    }
}

/// An input of the priority that a job names and a file of the site gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedInput {
    Partition,
    Qos,
    Association,
}

impl fmt::Display for NamedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Partition => "partition",
            Self::Qos => "QOS",
            Self::Association => "association",
        })
    }
}

impl PrioritySettings {
    /// The name that a job gives to an input that has a weight, if the cluster does not know it.
    pub fn unknown_input(
        &self,
        input: NamedInput,
        job: &SlurmJob,
        cluster: &Cluster,
    ) -> Option<String> {
        match input {
            NamedInput::Partition => {
                let name = job.first_partition();
                let partitions = &cluster.partitions;
                let has_weight = self.weight_partition > 0 || !self.weight_tres.is_empty();
                let is_known = partitions.is_empty() || partitions.contains_key(name);
                (has_weight && !is_known).then(|| name.to_owned())
            }
            NamedInput::Qos => {
                let is_known = job.qos.is_empty() || cluster.qos.as_ref()?.of(&job.qos).is_some();
                (self.weight_qos > 0 && !is_known).then(|| job.qos.clone())
            }
            NamedInput::Association => {
                let associations = cluster.associations.as_ref()?;
                let is_known = association_priority(job, associations).is_some();
                (self.weight_assoc > 0 && !is_known)
                    .then(|| format!("{}/{}", job.account, job.user))
            }
        }
    }

    /// Whether nothing but the site's factor and `nice` decides the priority.
    pub fn is_without_weights(&self) -> bool {
        let has_weight = self.weighted().iter().any(|(_, weight, _)| *weight > 0);
        !has_weight && self.weight_tres.is_empty()
    }

    /// The weighted factors without the resources, in the order in which Slurm adds them.
    fn weighted(&self) -> [(&'static str, u32, &'static str); 6] {
        [
            ("AGE", self.weight_age, AGE),
            ("ASSOC", self.weight_assoc, "assoc_factor"),
            ("FAIRSHARE", self.weight_fairshare, "fairshare_factor"),
            ("JOBSIZE", self.weight_job_size, "size_factor"),
            ("PARTITION", self.weight_partition, "partition_factor"),
            ("QOS", self.weight_qos, "qos_factor"),
        ]
    }

    /// The priority as a formula, with the weights of this site; what has the weight 0 is left out.
    /// Slurm adds doubles in this order and cuts the sum off once. With `has_direct`, jobs whose
    /// priority was set directly have it as `direct_priority`, and 0 for all else.
    ///
    /// ```
    /// use jsf_slurm::conf::SlurmConf;
    ///
    /// let conf = SlurmConf::parse("slurm.conf", b"PriorityWeightAge=1000\nPriorityWeightTRES=cpu=5\n");
    /// let formula = "min(4294967295, max(1, floor(1000*age_factor + tres_points + site_factor - nice)))";
    /// assert_eq!(conf.priority.formula(false), formula);
    /// ```
    pub fn formula(&self, has_direct: bool) -> String {
        let mut sum = Vec::new();
        for (_, weight, factor) in self.weighted() {
            if weight > 0 {
                sum.push(format!("{weight}*{factor}"));
            }
        }
        if !self.weight_tres.is_empty() {
            sum.push("tres_points".to_owned());
        }
        sum.push("site_factor - nice".to_owned());
        if has_direct {
            sum.push("direct_priority".to_owned());
        }
        format!("min(4294967295, max(1, floor({})))", sum.join(" + "))
    }

    /// The summands with the columns in which `sprio -l` prints them, each rounded to a whole
    /// number.
    pub fn terms(&self) -> Vec<PriorityTerm> {
        let mut terms = vec![PriorityTerm::new("SITE", "site_factor")];
        for (column, weight, factor) in self.weighted() {
            if weight > 0 {
                terms.push(PriorityTerm::new(column, format!("{weight}*{factor}")));
            }
        }
        terms.push(PriorityTerm::new("NICE", "nice"));
        for tres in &self.weight_tres {
            terms.push(PriorityTerm::new(&tres.name, tres.input()));
        }
        terms
    }

    /// The components that `sprio -l` prints, but for the site's factor: the column, the weight and
    /// the input of the formula.
    pub fn components(&self) -> Vec<(&'static str, f64, &'static str)> {
        let mut components = Vec::new();
        for (column, weight, input) in self.weighted() {
            components.push((column, f64::from(weight), input));
        }
        components.push(("NICE", 1.0, "nice"));
        components.push(("TRES", 1.0, "tres_points"));
        components
    }

    /// What the cluster does not say although its weight is not 0: the setting, and the command
    /// that prints it.
    pub fn missing(&self, cluster: &Cluster) -> Vec<(&'static str, &'static str)> {
        let partitions = &cluster.partitions;
        let has_tres = !partitions.is_empty() && partitions.values().all(|one| one.tres.is_some());
        let needs_tres = !self.weight_tres.is_empty() && !self.raw_tres;
        let inputs = [
            (
                needs_tres && !has_tres || self.weight_partition > 0 && partitions.is_empty(),
                "PriorityWeightPartition or PriorityWeightTRES",
                "scontrol show partition -a",
            ),
            (
                self.weight_job_size > 0 && cluster.nodes.is_none(),
                "PriorityWeightJobSize",
                "scontrol show node -a",
            ),
            (
                self.weight_qos > 0 && cluster.qos.is_none(),
                "PriorityWeightQOS",
                "sacctmgr -P show qos",
            ),
            (
                self.weight_assoc > 0 && cluster.associations.is_none(),
                "PriorityWeightAssoc",
                "sacctmgr -P show assoc",
            ),
        ];
        let mut missing = Vec::new();
        for (is_missing, setting, command) in inputs {
            if is_missing {
                missing.push((setting, command));
            }
        }
        missing
    }
}

impl TresWeight {
    /// The name of the weighted resource as an input of a formula: `tres_gres_gpu` for `gres/gpu`.
    pub fn input(&self) -> String {
        let name = self.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        format!("tres_{name}")
    }
}

/// What a formula gets for a job.
impl Cluster {
    /// The numbers behind the factors of a job, in the names that a formula of PBS has for them: the
    /// priority of the QOS, that of the association and the `PriorityJobFactor` of the first
    /// partition.
    pub fn priorities_of(&self, job: &SlurmJob) -> [(&'static str, f64); 3] {
        let qos = self.qos.as_ref().and_then(|qos| qos.of(&job.qos));
        let associations = self.associations.as_ref();
        let association = associations.and_then(|known| association_priority(job, known));
        let partition = self.partitions.get(job.first_partition());
        let job_factor = partition.map(|partition| partition.job_factor);
        [
            ("qos_priority", f64::from(qos.unwrap_or(0))),
            ("assoc_priority", f64::from(association.unwrap_or(0))),
            ("job_factor", f64::from(job_factor.unwrap_or(0))),
        ]
    }

    /// The inputs of the priority by their names, but for the site's factor, which is 0. The age is
    /// computed at `now`, in seconds since 1970 on the clock of the job.
    pub fn priority_inputs(
        &self,
        job: &SlurmJob,
        settings: &PrioritySettings,
        now: i64,
    ) -> Vec<(String, f64)> {
        let age = match job.accrues_from {
            Some(from) => age_factor(now.saturating_sub(from), settings.max_age),
            None => 0.0,
        };
        let [(_, qos), (_, association), (_, job_factor)] = self.priorities_of(job);
        // of all in the database, also of a QOS and an association that no job has
        let [largest_qos, largest_association] = [&self.qos, &self.associations].map(largest);
        let association = part_of_largest(association, largest_association, settings.raw_assoc);
        let job_factor =
            part_of_largest(job_factor, self.largest_job_factor, settings.raw_partition);
        let points = self.points(job, settings);
        let mut inputs = Vec::new();
        for (name, number) in [
            (AGE, age),
            ("assoc_factor", association),
            ("size_factor", size_factor(job, settings, self)),
            ("partition_factor", job_factor),
            (
                "qos_factor",
                part_of_largest(qos, largest_qos, settings.raw_qos),
            ),
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
    fn points(&self, job: &SlurmJob, settings: &PrioritySettings) -> Vec<(String, f64)> {
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
}

/// The factor of an age in seconds.
pub fn age_factor(age: i64, max_age: u32) -> f64 {
    // slurmctld has 32 bits without a sign for it; an age that begins later is 0
    match u32::try_from(age.max(0)) {
        Ok(age) if age < max_age => f64::from(age) / f64::from(max_age),
        _ => 1.0,
    }
}

/// The priority of the association with the partition of the job, else of that without one.
fn association_priority(job: &SlurmJob, associations: &Priorities) -> Option<u32> {
    for partition in [job.first_partition(), ""] {
        let key = association_key(&job.account, &job.user, partition);
        if let Some(priority) = associations.of(&key) {
            return Some(priority);
        }
    }
    None
}

fn size_factor(job: &SlurmJob, settings: &PrioritySettings, cluster: &Cluster) -> f64 {
    let Some(totals) = cluster.nodes else {
        return 0.0;
    };
    if totals.nodes == 0 || totals.cpus == 0 {
        return 0.0;
    }
    let nodes = job.nodes() as u32;
    let factor = if settings.relative_to_time {
        let (all_nodes, all_cpus) = (f64::from(totals.nodes), f64::from(totals.cpus));
        let equivalent = (f64::from(nodes) * all_cpus / all_nodes).max(f64::from(job.cpus));
        let factor = equivalent / f64::from(minutes(job, cluster)) / all_cpus;
        // whatever the names say: without `PriorityFavorSmall`, large and short jobs are first
        if settings.favor_small {
            1.0 - factor
        } else {
            factor
        }
    } else if settings.favor_small {
        // unsigned numbers: a job that is larger than the cluster has the factor 1
        let (nodes, cpus) = (
            totals.nodes.wrapping_sub(nodes),
            totals.cpus.wrapping_sub(job.cpus),
        );
        mean_part(nodes, cpus, totals, job)
    } else {
        mean_part(nodes, job.cpus, totals, job)
    };
    factor.clamp(0.0, 1.0)
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

/// The limit of a job, else that of its partition.
fn minutes(job: &SlurmJob, cluster: &Cluster) -> u32 {
    let mut limit = job.time_limit;
    if limit == TimeLimit::OfPartition
        && let Some(partition) = cluster.partitions.get(job.first_partition())
    {
        limit = partition.max_time;
    }
    match limit {
        TimeLimit::Minutes(minutes) => minutes.max(1),
        TimeLimit::Unlimited | TimeLimit::OfPartition => UNLIMITED_MINUTES,
    }
}

/// A row of `sprio`, the first of a job with several partitions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SprioRow {
    /// The site's factor.
    pub site: i64,
    /// Whether the priority was set directly (`scontrol update priority=`): all factors are 0.
    pub is_direct: bool,
    /// The age as a part of `PriorityMaxAge`, with seven decimals (`sprio -n`).
    pub age_factor: Option<f64>,
    /// What the long forms print of the job in each partition, whole numbers by their columns;
    /// `TRES` is the sum of those of the resources.
    components: Vec<(String, HashMap<&'static str, f64>)>,
}

impl SprioRow {
    /// A component of the priority in a partition; `None` if it is not printed.
    pub fn component(&self, partition: &str, column: &str) -> Option<f64> {
        let mut rows = self.components.iter();
        let (_, components) = rows.find(|(name, _)| name == partition)?;
        components.get(column).copied()
    }

    /// The weighted age, a whole number.
    fn age(&self) -> Option<f64> {
        let mut rows = self.components.iter();
        rows.find_map(|(_, components)| components.get("AGE").copied())
    }

    /// Adds what a row of a table says of the job.
    fn add(&mut self, cells: &Cells<'_>) {
        // only `sprio -n` prints a part of the largest priority, and parts as components
        if let Some(priority) = cells.get("PRIORITY")
            && priority.contains('.')
        {
            self.age_factor = self.age_factor.or(cells.number("AGE"));
            return;
        }
        let mut components = HashMap::new();
        for column in COLUMNS {
            if let Some(points) = cells.number(column) {
                components.insert(column, points);
            }
        }
        if let Some(points) = cells.partition_points()
            && let Ok(points) = points.parse()
        {
            components.insert("PARTITION", points);
        }
        if cells.columns.contains(&"TRES") {
            components.insert("TRES", sum_of_points(cells.get("TRES").unwrap_or_default()));
        }
        // only the long forms have the site's factor, which a column of fixed width may cut
        if (self.components.is_empty() || cells.has_bars)
            && let Some(site) = cells.number("SITE")
        {
            self.is_direct = cells.are_direct(site);
            self.site = if self.is_direct { 0 } else { site };
        }
        let partition = cells.get("PARTITION").unwrap_or_default().to_owned();
        self.components.push((partition, components));
    }
}

/// The rows of the tables of `sprio`, by the job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sprio(HashMap<String, SprioRow>);

/// The smallest number that `nice` and the site's factor are stored with, which is printed for jobs
/// with a direct priority and several partitions.
const UNSET: i64 = -(1 << 31);

/// The columns with numbers, of which the second `PARTITION` has the same name as the first.
const COLUMNS: [&str; 7] = [
    "SITE",
    "AGE",
    "ASSOC",
    "FAIRSHARE",
    "JOBSIZE",
    "QOS",
    "NICE",
];

/// Whether a line is the header of such a table.
pub(crate) fn is_header(line: &str) -> bool {
    let names = cells(line);
    names.first() == Some(&"JOBID") && names.contains(&"PRIORITY") && names.contains(&"FAIRSHARE")
}

fn cells(line: &str) -> Vec<&str> {
    if line.contains('|') {
        line.split('|').map(str::trim).collect()
    } else {
        line.split_ascii_whitespace().collect()
    }
}

/// The cells of a row, and the names of their columns.
struct Cells<'t> {
    columns: &'t [&'t str],
    cells: Vec<&'t str>,
    /// Whether `|` separates them.
    has_bars: bool,
}

impl<'t> Cells<'t> {
    /// The first cell with a name: of two columns `PARTITION`, the first is the name.
    fn get(&self, column: &str) -> Option<&'t str> {
        let index = self.columns.iter().position(|name| *name == column)?;
        self.cells.get(index).copied()
    }

    /// The last cell `PARTITION`: of two, the points.
    fn partition_points(&self) -> Option<&'t str> {
        let index = self.columns.iter().rposition(|name| *name == "PARTITION")?;
        self.cells.get(index).copied()
    }

    fn number<N: FromStr>(&self, column: &str) -> Option<N> {
        self.get(column)?.parse().ok()
    }

    /// Whether the row of `sprio -l` is one of a job with a direct priority: it has no factors, no
    /// list of resources, and more priority than the least. `nice` and the site's factor are not
    /// counted, or not stored.
    fn are_direct(&self, site: i64) -> bool {
        if site == UNSET || self.cells.contains(&UNSET.to_string().as_str()) {
            return true;
        }
        for column in COLUMNS {
            if !matches!(self.get(column), None | Some("0")) {
                return false;
            }
        }
        let has_partition = !matches!(self.partition_points(), None | Some("0"));
        let has_tres = self.cells.len() == self.columns.len() && self.cells.last() != Some(&"");
        // each of six components that are printed as 0 may be almost half a point
        let priority: Option<u64> = self.number("PRIORITY");
        priority > Some(3) && !has_partition && !has_tres
    }
}

impl Sprio {
    /// The first row of a job.
    pub fn row(&self, job: &str) -> Option<&SprioRow> {
        self.0.get(job)
    }

    /// Adds a table of `sprio -l`, `sprio -n` or `sprio -o` with a header. Returns what cannot be
    /// read, one sentence each.
    pub fn add(&mut self, text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let all = text.lines().enumerate();
        let mut lines = all.filter(|(_, line)| !line.trim().is_empty()).peekable();
        let Some((_, header)) = lines.next() else {
            return problems;
        };
        let columns = cells(header);
        while let Some((index, line)) = lines.next() {
            let number = index + 1;
            let is_cut = lines.peek().is_none() && !text.ends_with('\n');
            let cells = Cells {
                columns: &columns,
                cells: cells(line),
                has_bars: line.contains('|'),
            };
            let job = cells.get("JOBID").unwrap_or_default();
            if !job.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            // the last column of a table with a fixed width may be blank
            if is_cut || cells.has_bars && cells.cells.len() != columns.len() {
                problems.push(format!(
                    "line {number}: the row of job `{job}` is not whole and is left out; was the file cut off?"
                ));
                continue;
            }
            let of = format!("job `{job}`");
            for column in COLUMNS {
                let form = if column == "SITE" {
                    Form::Whole
                } else {
                    Form::Number
                };
                if let Some(text) = cells.get(column)
                    && let Some(fault) = form.fault(column, &of, text)
                {
                    problems.push(format!("line {number}: {fault}"));
                }
            }
            self.0.entry(job.to_owned()).or_default().add(&cells);
        }
        problems
    }

    /// Between which two times the daemon computed the priority of a job whose age counts from
    /// `accrues_from`, as far as its row says: both ends belong to it.
    pub fn calculated_between(
        &self,
        job: &str,
        accrues_from: i64,
        settings: &PrioritySettings,
    ) -> Option<(i64, i64)> {
        let row = self.row(job)?;
        let (factor, precision) = match (row.age_factor, row.age()) {
            // seven decimals are printed of a factor, and none of points
            (Some(factor), _) => (factor, 0.5e-7),
            (None, Some(age)) => {
                let weight = f64::from(settings.weight_age);
                (age / weight, 0.5 / weight)
            }
            (None, None) => return None,
        };
        let max_age = f64::from(settings.max_age);
        if row.is_direct || !factor.is_finite() || max_age == 0.0 {
            return None;
        }
        let first = ((factor - precision) * max_age).ceil();
        let last = ((factor + precision) * max_age).floor();
        // a damaged factor may be any number
        let after = |seconds: f64| accrues_from.saturating_add(seconds as i64);
        if last >= max_age {
            return Some((after(first), i64::MAX));
        }
        // an age of 0 is also that of a job whose age begins to count later
        let earliest = if first <= 0.0 { i64::MIN } else { after(first) };
        Some((earliest, after(last.max(first))))
    }
}

/// The sum of the points of resources, `cpu=5,mem=3`.
fn sum_of_points(list: &str) -> f64 {
    let mut sum = 0.0;
    for part in list.split(',') {
        if let Some((_, points)) = part.split_once('=')
            && let Ok(points) = points.parse::<f64>()
        {
            sum += points;
        }
    }
    sum
}

/// A partition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Partition {
    pub job_factor: u32,
    max_time: TimeLimit,
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
}

/// The largest of the priorities; 0 if they are not known.
fn largest(known: &Option<Priorities>) -> u32 {
    known.as_ref().map_or(0, |known| known.largest)
}

/// A number as a part of the largest one, or as it is.
fn part_of_largest(number: f64, largest: u32, is_raw: bool) -> f64 {
    if is_raw {
        number
    } else {
        number / f64::from(largest.max(1))
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
        (self.node_records, problems) =
            checked_records(name, text, ("node", "NodeName"), &NODE_FORMS);
        self.nodes = totals(&conf.objects.nodes, &self.node_records);
        problems
    }

    /// Adds what `scontrol show partition -a` prints, which replaces what `slurm.conf` says. Give
    /// the nodes before, from which the exact memory of the partitions follows.
    pub fn add_partitions(&mut self, name: &str, text: &str) -> Vec<String> {
        self.partitions.clear();
        let (records, problems) =
            checked_records(name, text, ("partition", "PartitionName"), &PARTITION_FORMS);
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
            // the old key sets the tier, which is not read, and the factor
            let priority = record.number("Priority");
            let partition = Partition {
                job_factor: record.number("PriorityJobFactor").or(priority).unwrap_or(1),
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
            let cluster_column = table.column("Cluster");
            let partition = table.column("Partition");
            let clusters = &mut self.clusters_of_associations;
            let (priorities, problems) =
                read_priorities(name, &table, priority, "an association", |row| {
                    if cluster_column.is_some() {
                        let found = row.cell(cluster_column);
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
            // `sacctmgr` prints the priority that an association inherits: no account is looked up
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

const NODE_FORMS: [(&str, Form); 3] = [
    ("CPUEfctv", Form::Count),
    ("CPUTot", Form::Count),
    ("RealMemory", Form::Number),
];
const PARTITION_FORMS: [(&str, Form); 4] = [
    ("PriorityJobFactor", Form::Count),
    ("PriorityTier", Form::Count),
    ("MaxTime", Form::Limit),
    ("TRES", Form::Amounts),
];

/// The records of a file that `scontrol show WHAT -a` prints, each of which begins with the key
/// `first`, and what is wrong with it.
fn checked_records(
    name: &str,
    text: &str,
    (what, first): (&str, &str),
    forms: &[(&str, Form)],
) -> (Vec<Record>, Vec<String>) {
    let command = format!("scontrol show {what} -a");
    let (records, cut) = whole_records(text, first, what, &command);
    let mut problems = Vec::from_iter(cut);
    for record in &records {
        let of = format!("{what} `{}`", record.get(first).unwrap_or_default());
        problems.extend(record.faults(forms, &of));
    }
    for problem in &mut problems {
        *problem = format!("`{name}`: {problem}");
    }
    (records, problems)
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
        by_name.extend(node.get("NodeName").map(|name| (name, node)));
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
        let printed = by_name.get(node.get("NodeName").unwrap_or_default());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_that_no_job_can_have_is_no_overflow() {
        let settings = PrioritySettings {
            max_age: 604_800,
            ..PrioritySettings::default()
        };
        for factor in ["12345678901234567890.5", "1e300", "-1e300"] {
            let mut sprio = Sprio::default();
            let text = format!("JOBID PRIORITY AGE FAIRSHARE\n7 0.5 {factor} 0.1\n");
            assert_eq!(sprio.add(&text), [""; 0], "{factor}");
            let between = sprio.calculated_between("7", 1_700_000_000, &settings);
            assert!(
                between.is_some_and(|(first, last)| first <= last),
                "{factor}"
            );
        }
    }
}
