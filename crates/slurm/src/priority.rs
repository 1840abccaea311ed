//! The multifactor priority: the formula that follows from the settings, and the numbers that it
//! gets for each job. The rules are those of Slurm 22.05, as recorded in
//! `tests/golden/slurm-priority`.

use std::fmt;

use crate::cluster::{Cluster, NodeTotals, Priorities, association_key, part_of_largest};
use crate::conf::{PrioritySettings, TresWeight};
use crate::jobs::{SlurmJob, TimeLimit};

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

/// The numbers that the formula gets for a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriorityInputs {
    /// The age as a part of `PriorityMaxAge`, from 0 to 1.
    pub age_factor: f64,
    /// The priority of the association as a part of the largest one, or as it is.
    pub assoc_factor: f64,
    /// The size of the job as a part of the cluster, from 0 to 1.
    pub size_factor: f64,
    /// The `PriorityJobFactor` of the first partition as a part of the largest one, or as it is.
    pub partition_factor: f64,
    /// The priority of the QOS as a part of the largest one, or as it is.
    pub qos_factor: f64,
    /// The weighted parts of the resources of the partition, in the order of the weights.
    pub tres: Vec<f64>,
    /// The site's factor.
    pub site_factor: f64,
    /// `nice`, which is subtracted.
    pub nice: f64,
}

impl PriorityInputs {
    /// The numbers for a job whose age is computed at `now`, in seconds since 1970 on the clock of
    /// the job.
    pub fn new(job: &SlurmJob, settings: &PrioritySettings, cluster: &Cluster, now: i64) -> Self {
        let mut inputs = Self {
            size_factor: size_factor(job, settings, cluster),
            nice: job.nice as f64,
            ..Self::default()
        };
        if let Some(from) = job.accrues_from {
            inputs.age_factor = age_factor(now.saturating_sub(from), settings.max_age);
        }
        let mut total_tres = None;
        if let Some(partition) = cluster.partitions.get(job.first_partition()) {
            let largest = cluster.largest_job_factor;
            inputs.partition_factor =
                part_of_largest(partition.job_factor, largest, settings.raw_partition);
            total_tres = partition.tres.as_ref();
        }
        if let Some(qos) = &cluster.qos {
            inputs.qos_factor = qos.factor(qos.of(&job.qos), settings.raw_qos);
        }
        if let Some(associations) = &cluster.associations {
            let priority = association_priority(job, associations);
            inputs.assoc_factor = associations.factor(priority, settings.raw_assoc);
        }
        for TresWeight { name, weight } in &settings.weight_tres {
            let requested = job.tres.get(name).unwrap_or(0.0);
            let factor = if settings.raw_tres {
                requested
            } else if let Some(total) = total_tres
                && let Some(total) = total.get(name)
                && total > 0.0
            {
                requested / total
            } else {
                0.0
            };
            inputs.tres.push(weight * factor);
        }
        inputs
    }

    /// The numbers behind the factors, in the names that a formula of PBS has for them: the priority
    /// of the QOS, that of the association and the `PriorityJobFactor` of the first partition.
    pub fn unweighted(job: &SlurmJob, cluster: &Cluster) -> [(&'static str, f64); 3] {
        let raw = PrioritySettings {
            raw_assoc: true,
            raw_partition: true,
            raw_qos: true,
            ..PrioritySettings::default()
        };
        let inputs = Self::new(job, &raw, cluster, 0);
        [
            ("qos_priority", inputs.qos_factor),
            ("assoc_priority", inputs.assoc_factor),
            ("job_factor", inputs.partition_factor),
        ]
    }

    /// The numbers by their names in formulas.
    pub fn named(&self, settings: &PrioritySettings) -> Vec<(String, f64)> {
        let mut named = vec![
            (AGE.to_owned(), self.age_factor),
            ("assoc_factor".to_owned(), self.assoc_factor),
            ("size_factor".to_owned(), self.size_factor),
            ("partition_factor".to_owned(), self.partition_factor),
            ("qos_factor".to_owned(), self.qos_factor),
            ("site_factor".to_owned(), self.site_factor),
            ("nice".to_owned(), self.nice),
            ("tres_points".to_owned(), self.tres.iter().sum()),
        ];
        for (tres, points) in settings.weight_tres.iter().zip(&self.tres) {
            named.push((tres.input(), *points));
        }
        named
    }
}

/// The factor of an age in seconds.
pub fn age_factor(age: i64, max_age: u32) -> f64 {
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
    let of_nodes = f64::from(nodes) / f64::from(totals.nodes);
    if job.cpus == 0 {
        return of_nodes;
    }
    (of_nodes + f64::from(cpus) / f64::from(totals.cpus)) / 2.0
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
