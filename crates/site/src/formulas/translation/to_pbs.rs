//! A formula with the names of Slurm's priority as one of PBS: each name is replaced by what PBS
//! has in its place.

use std::collections::BTreeMap;

use job_sort_formula::formula::Formula;
use job_sort_formula::formula::syntax::ExprKind;
use jsf_slurm::conf::{PrioritySettings, SlurmConf};
use jsf_slurm::priority::{AGE, Cluster};

use crate::Translation;
use crate::shares::policy_selection::clock;

/// The largest priority of a queue of PBS.
const LARGEST_QUEUE_PRIORITY: u32 = 1023;

/// The formula of PBS, and the resources and priorities of queues that it needs.
pub fn translate(formula: &Formula, conf: &SlurmConf, cluster: &Cluster) -> Translation {
    let mut translator = Translator {
        settings: &conf.priority,
        half_life: conf.decay_half_life,
        cluster,
        resources: BTreeMap::new(),
        translation: Translation::default(),
    };
    let expr = formula.expr();
    let mut names: Vec<(usize, usize, String)> = Vec::new();
    for (_, node) in expr.iter() {
        if let ExprKind::Name(name) = &node.kind
            && let Some(replacement) = translator.replacement(name)
        {
            let (start, end) = (node.span.start as usize, node.span.end as usize);
            names.push((start, end, replacement));
        }
    }
    names.sort_unstable();
    // PBS has no greatest priority, and its value need not be a whole number
    let sum = formula.sum_under_limits();
    let (start, end) = (sum.start as usize, sum.end as usize);
    names.retain(|(at, ..)| (start..end).contains(at));
    let mut text = expr.text()[..end].to_owned();
    for (first, last, replacement) in names.iter().rev() {
        text.replace_range(first..last, replacement);
    }
    text.drain(..start);
    let mut translation = translator.translation;
    let mut lines = Vec::new();
    for (name, kind) in &translator.resources {
        lines.push(format!("qmgr -c 'create resource {name} type={kind}'"));
    }
    lines.append(&mut translation.settings);
    lines.push(format!(
        "qmgr -c 'set server job_sort_formula = \"{text}\"'"
    ));
    translation.settings = lines;
    translation.formula = text;
    translation
}

struct Translator<'c> {
    settings: &'c PrioritySettings,
    /// In seconds; 0 for usage that does not decay.
    half_life: u32,
    cluster: &'c Cluster,
    /// The resources of the site by their names, with their types.
    resources: BTreeMap<String, &'static str>,
    translation: Translation,
}

impl Translator<'_> {
    /// What PBS has in place of a name; `None` for a name that stays.
    fn replacement(&mut self, name: &str) -> Option<String> {
        let known = self.translation.parts.iter().find(|part| part.text == name);
        if let Some(part) = known {
            return Some(part.becomes.clone());
        }
        let (becomes, note) = match name {
            AGE => self.age(),
            "fairshare_factor" => {
                let note = format!(
                    "PBS computes 2^(-usage/shares) with its own tree and usage, and no fair tree{}",
                    self.decay()
                );
                (name.to_owned(), note)
            }
            "size_factor" => self.size(),
            "partition_factor" => self.partition(),
            "qos_factor" => {
                let what = "the priority of the job's QOS";
                let priorities = self.cluster.qos_priorities();
                self.of_resource("qos_priority", self.settings.raw_qos, &priorities, what)
            }
            "assoc_factor" => {
                let what = "the priority of the user's association";
                let priorities = self.cluster.association_priorities();
                self.of_resource("assoc_priority", self.settings.raw_assoc, &priorities, what)
            }
            "tres_points" => self.resources(),
            "site_factor" => self.resource(name, "the site's factor, set by a hook"),
            "nice" => (
                name.to_owned(),
                "a resource that OpenPBS defines, requested per job as Slurm's nice is".to_owned(),
            ),
            "direct_priority" => self.resource(name, "a priority that replaces the others"),
            _ => return None,
        };
        self.translation
            .add(name.to_owned(), Ok((becomes.clone(), note)));
        Some(becomes)
    }

    /// The settings of PBS with the half-life of Slurm.
    fn decay(&self) -> String {
        match self.half_life {
            0 => String::new(),
            seconds => {
                let time = clock(seconds.into());
                format!(
                    "; `fairshare_decay_time: {time}` and `fairshare_decay_factor: 0.5` in sched_config have Slurm's half-life"
                )
            }
        }
    }

    fn age(&self) -> (String, String) {
        let note =
            "`eligible_time` counts while a job is eligible; the server needs eligible_time_enable";
        match self.settings.max_age {
            0 => ("1".to_owned(), String::new()),
            seconds => (format!("min(1, eligible_time/{seconds})"), note.to_owned()),
        }
    }

    fn size(&mut self) -> (String, String) {
        let Some((nodes, cpus)) = self.cluster.size() else {
            let why =
                "the nodes are not known: give slurm.conf or what `scontrol show node -a` prints";
            self.translation
                .add("size_factor".to_owned(), Err(why.to_owned()));
            return ("0".to_owned(), String::new());
        };
        let text = match (self.settings.relative_to_time, self.settings.favor_small) {
            (false, false) => format!("(nodect/{nodes} + ncpus/{cpus})/2"),
            (false, true) => format!("(({nodes} - nodect)/{nodes} + ({cpus} - ncpus)/{cpus})/2"),
            (true, false) => format!("max(nodect*{cpus}/{nodes}, ncpus)/(walltime/60)/{cpus}"),
            (true, true) => format!("(1 - max(nodect*{cpus}/{nodes}, ncpus)/(walltime/60)/{cpus})"),
        };
        (text, String::new())
    }

    fn partition(&mut self) -> (String, String) {
        let largest = self.cluster.largest_job_factor.max(1);
        if largest > LARGEST_QUEUE_PRIORITY {
            let what = "the PriorityJobFactor of the partition";
            let factors = self.cluster.job_factors();
            return self.of_resource("job_factor", self.settings.raw_partition, &factors, what);
        }
        for (partition, factor) in self.cluster.job_factors() {
            let line = format!("qmgr -c 'set queue {partition} priority = {factor}'");
            self.translation.settings.push(line);
        }
        let text = if self.settings.raw_partition {
            "queue_priority".to_owned()
        } else {
            format!("queue_priority/{largest}")
        };
        (
            text,
            "the priority of each queue is the PriorityJobFactor".to_owned(),
        )
    }

    /// A resource with a priority, as a part of the largest one unless it is taken as it is.
    fn of_resource(
        &mut self,
        name: &str,
        is_raw: bool,
        priorities: &BTreeMap<String, u32>,
        what: &str,
    ) -> (String, String) {
        let largest = priorities.values().copied().max().unwrap_or(0).max(1);
        let (text, mut note) = self.resource(name, what);
        if priorities.is_empty() && !is_raw {
            note += ", whose largest value the files do not say: 1 is taken";
        }
        if is_raw {
            (text, note)
        } else {
            (format!("{text}/{largest}"), note)
        }
    }

    fn resource(&mut self, name: &str, what: &str) -> (String, String) {
        self.resources.insert(name.to_owned(), "long");
        (name.to_owned(), format!("a resource of the site: {what}"))
    }

    fn resources(&mut self) -> (String, String) {
        let mut sum = Vec::new();
        let mut notes = Vec::new();
        for tres in &self.settings.weight_tres {
            let amount = match tres.name.as_str() {
                "cpu" => "ncpus".to_owned(),
                "node" => "nodect".to_owned(),
                "mem" => "mem/1024".to_owned(),
                "gres/gpu" => "ngpus".to_owned(),
                _ => {
                    let input = tres.input();
                    self.resources.insert(input.clone(), "float");
                    input
                }
            };
            if self.settings.raw_tres {
                sum.push(format!("{}*{amount}", tres.weight));
                continue;
            }
            let totals = self.cluster.totals_of(&tres.name);
            let largest = totals.iter().copied().fold(0.0, f64::max);
            if largest == 0.0 {
                notes.push(format!("no partition has a total of {}", tres.name));
                continue;
            }
            if totals.iter().any(|total| *total != largest) {
                notes.push(format!(
                    "partitions differ in {}, and the largest total is taken",
                    tres.name
                ));
            }
            sum.push(format!("{}*{amount}/{largest}", tres.weight));
        }
        let text = if sum.is_empty() {
            "0".to_owned()
        } else {
            format!("({})", sum.join(" + "))
        };
        (text, notes.join("; "))
    }
}
