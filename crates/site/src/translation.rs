//! A formula carried over between the schedulers: to the weights of Slurm's priority, or from them
//! to a formula of PBS.
//!
//! To Slurm, each summand is evaluated at many points: what it is made of follows from its values,
//! however it is written. To PBS, each name of Slurm's priority is replaced by what PBS has in its
//! place.

use std::collections::BTreeMap;

use job_sort_formula::formula::program::Summand;
use job_sort_formula::rank::explain::nearest_double;
use job_sort_formula::rank::{OldNew, SIZES, WorkBudget};
use job_sort_formula::schema::FairshareInput;
use job_sort_formula::{Formula, JobTable, Program, Schema, Value};
use jsf_openpbs::NumberMode;
use jsf_openpbs::check::{ExchangeRate, exchange_rates};
use jsf_slurm::{AGE, Cluster, Factor, PrioritySettings};
use serde::Serialize;

use crate::checks::RATES_WORK;
use crate::formulas::with_names;
use crate::policy::{clock, days_and_clock};
use crate::{Role, Site, SiteError};

/// A formula in the terms of the other scheduler.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Translation {
    /// The lines to set there: of `slurm.conf`, or commands of `qmgr`.
    pub settings: Vec<String>,
    /// The translated formula in the names of PBS, as which `settings` order the jobs.
    pub formula: String,
    /// The parts of the formula that are carried over.
    pub parts: Vec<TranslatedPart>,
    /// The parts that are not.
    pub not_expressed: Vec<UntranslatedPart>,
    /// What the inputs of the translated formula are worth in time of waiting.
    pub worth: Vec<ExchangeRate>,
    /// What the largest job is worth in time of waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_job: Option<LargestJob>,
    /// How far the orders of the jobs agree; `None` without jobs.
    pub agreement: Option<OrderAgreement>,
}

/// What a part becomes and what differs, or why it is not carried over.
type Carried = Result<(String, String), String>;

/// A part that is carried over.
fn becomes(becomes: impl Into<String>, note: impl Into<String>) -> Carried {
    Ok((becomes.into(), note.into()))
}

impl Translation {
    /// Adds a part.
    fn add(&mut self, text: &str, carried: Carried) {
        let text = text.to_owned();
        match carried {
            Ok((becomes, note)) => self.parts.push(TranslatedPart {
                text,
                becomes,
                note,
            }),
            Err(why) => self.not_expressed.push(UntranslatedPart { text, why }),
        }
    }
}

/// A part of a formula that is carried over.
#[derive(Debug, Clone, Serialize)]
pub struct TranslatedPart {
    /// The part, as its formula has it.
    pub text: String,
    /// What it becomes.
    pub becomes: String,
    /// What differs; empty if nothing does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A part of a formula that the other scheduler cannot express.
#[derive(Debug, Clone, Serialize)]
pub struct UntranslatedPart {
    /// The part, as its formula has it.
    pub text: String,
    /// Why.
    pub why: String,
}

/// The largest job, and the wait that is worth as much as its size.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LargestJob {
    /// Its nodes.
    pub nodes: f64,
    /// Its processors.
    pub cpus: f64,
    /// The time of waiting, in seconds.
    pub wait: f64,
}

/// How far two orders of the waiting jobs agree.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OrderAgreement {
    /// The number of jobs.
    pub jobs: usize,
    /// Kendall's tau-b, 1 for the same order and -1 for the reverse one; `None` if one of the two
    /// gives all jobs the same value.
    pub tau_b: Option<f64>,
}

/// The size of a machine or of its largest job: nodes and processors.
type Size = (f64, f64);

impl Site {
    /// The weights of Slurm that order the jobs as a formula of PBS does, as far as it is a sum of
    /// the time of waiting, the size of the job, the priority of its queue and its fair share.
    ///
    /// # Errors
    /// The formula is not arithmetic, or the jobs cannot be read.
    pub fn translate_to_slurm(&self, formula: &Formula) -> Result<Translation, SiteError> {
        let program = formula.compile(&self.schema)?;
        let mut priorities: Vec<(&str, i64)> = Vec::new();
        for queue in self.queues.execution_queues() {
            if let Some(priority) = self.queues.priority(queue) {
                priorities.push((queue, priority));
            }
        }
        let mut translation = to_slurm(&program, &priorities);
        let mut parts = translation.parts.iter();
        if self.files.has(Role::SchedConfig)
            && parts.any(|part| part.becomes == Factor::Fairshare.setting())
        {
            translation.settings.push(half_life(
                self.config.fairshare_decay_time,
                self.config.fairshare_decay_factor.into(),
            ));
        }
        self.compared(formula, translation, self.largest_job()?)
    }

    /// The formula of PBS that orders the jobs as one with the names of Slurm's priority does, such
    /// as this site's own.
    ///
    /// # Errors
    /// The site has no `slurm.conf`, or the jobs cannot be read.
    pub fn translate_to_pbs(&self, formula: &Formula) -> Result<Translation, SiteError> {
        let cluster = self.slurm_cluster()?;
        let translation = to_pbs(formula, &cluster);
        self.compared(formula, translation, cluster.size())
    }

    /// Adds what the translated formula is worth, and how far it agrees on the queue at hand.
    fn compared(
        &self,
        formula: &Formula,
        mut translation: Translation,
        largest: Option<Size>,
    ) -> Result<Translation, SiteError> {
        let translated = Formula::parse(&translation.formula)?;
        if let Ok(program) = translated.compile(&self.schema) {
            let inputs = vec![Value::Int(1); program.inputs().len()];
            let mut budget = WorkBudget::new(RATES_WORK);
            translation.worth = exchange_rates(&program, &self.schema, &inputs, &mut budget);
            if let Some(size) = largest {
                translation.largest_job = worth_of_size(&program, &self.schema, size);
            }
        }
        if self.files.has(Role::Queue) {
            // Slurm computes with doubles, which OpenPBS's numbers would round
            let mut options = self.options;
            options.numbers = NumberMode::Exact;
            let exact = Self::from_files(self.files.clone(), options)?;
            let compared = self.compare(OldNew::new(formula, &translated), &exact)?;
            translation.agreement = Some(OrderAgreement {
                jobs: compared.comparison.jobs,
                tau_b: compared.comparison.tau_b,
            });
        }
        Ok(translation)
    }

    /// The nodes and processors of the machine, else those of the largest job of the queue.
    fn largest_job(&self) -> Result<Option<Size>, SiteError> {
        if let Some(nodes) = self.nodes()? {
            return Ok(Some((
                nodes.nodes.len() as f64,
                nodes.total("ncpus") as f64,
            )));
        }
        if !self.files.has(Role::Queue) {
            return Ok(None);
        }
        let jobs = self.read_columns(&self.request(&SIZES).again())?.table;
        Ok(most(&jobs, "nodect").zip(most(&jobs, "ncpus")))
    }
}

/// The largest value of an input that jobs have.
fn most(jobs: &JobTable, name: &str) -> Option<f64> {
    let column = jobs.column(name)?;
    let values = (0..jobs.len()).filter_map(|row| nearest_double(&column.value(row)));
    values.reduce(f64::max)
}

/// The wait that is worth as much as the nodes and processors of a job; `None` if waiting gains
/// nothing.
fn worth_of_size(program: &Program, schema: &Schema, (nodes, cpus): Size) -> Option<LargestJob> {
    let value = |size: Size, waited: f64| {
        let inputs = program.inputs().iter().map(|name| match &**name {
            "nodect" => Value::Float(size.0),
            "ncpus" => Value::Float(size.1),
            "eligible_time" => Value::Float(waited),
            "walltime" => Value::Int(3600),
            _ => Value::Int(i64::from(schema.is_numeric(name))),
        });
        nearest_double(&program.evaluate(&inputs.collect::<Vec<_>>()).ok()?)
    };
    const HOUR: f64 = 3600.0;
    let per_second = (value((0.0, 0.0), HOUR)? - value((0.0, 0.0), 0.0)?) / HOUR;
    let size_term = value((nodes, cpus), 0.0)? - value((0.0, 0.0), 0.0)?;
    let wait = size_term / per_second;
    if per_second > 0.0 && size_term != 0.0 {
        Some(LargestJob { nodes, cpus, wait })
    } else {
        None
    }
}

/// The greatest priority of Slurm.
const MOST: f64 = 4_294_967_295.0;
/// `PriorityMaxAge` of a formula that does not end the gain by waiting: a year, in seconds.
const UNLIMITED_AGE: f64 = 365.0 * 86_400.0;
/// The largest amount of a resource for which there must be room below the greatest priority.
const LARGEST_AMOUNT: f64 = 1e6;
/// The relative error of sums that are equal but for rounding.
const TOLERANCE: f64 = 1e-9;

/// The resources of PBS with the names and units of Slurm: a unit of PBS is so many of Slurm's.
const RESOURCES: [(&str, &str, f64); 4] = [
    ("nodect", "node", 1.0),
    ("ncpus", "cpu", 1.0),
    // kilobytes and megabytes
    ("mem", "mem", 1.0 / 1024.0),
    ("ngpus", "gres/gpu", 1.0),
];

/// The factors of Slurm's priority by what PBS has for them, or a site of PBS may have as a resource,
/// with the flags with which Slurm takes that as it is, and bounds of it.
const FACTORS: [(&str, Factor, Option<&str>, f64); 4] = [
    ("fairshare_factor", Factor::Fairshare, None, 1.0),
    (
        QUEUE_PRIORITY,
        Factor::Partition,
        Some("NO_NORMAL_PART"),
        1024.0,
    ),
    (
        "qos_priority",
        Factor::Qos,
        Some("NO_NORMAL_QOS"),
        LARGEST_AMOUNT,
    ),
    (
        "assoc_priority",
        Factor::Assoc,
        Some("NO_NORMAL_ASSOC"),
        LARGEST_AMOUNT,
    ),
];
const QUEUE_PRIORITY: &str = "queue_priority";

/// The inputs of the formula at one point.
type Point = Vec<f64>;

/// What the summands amount to.
#[derive(Debug, Default)]
struct Weights {
    /// The gain by a second of waiting, and the age in seconds at which it ends.
    age: Option<(f64, f64)>,
    /// In the order of [`FACTORS`].
    factors: [f64; FACTORS.len()],
    /// In the order of [`RESOURCES`], for one unit of PBS.
    resources: [f64; RESOURCES.len()],
}

/// A summand as a function of the inputs.
struct Probe<'p> {
    program: &'p Program,
    summand: &'p Summand,
    base: Point,
}

/// The weights that order the jobs as the formula does; `queues` are the priorities of the queues.
fn to_slurm(program: &Program, queues: &[(&str, i64)]) -> Translation {
    let mut weights = Weights::default();
    let mut translation = Translation::default();
    let base: Point = program
        .inputs()
        .iter()
        .map(|name| amounts(name).0)
        .collect();
    for summand in program.summands() {
        let probe = Probe {
            program,
            summand: &summand,
            base: base.clone(),
        };
        let text = &*summand.text;
        let inputs = match probe.split() {
            Ok(inputs) => inputs,
            Err(why) => {
                translation.add(text, Err(why));
                continue;
            }
        };
        if inputs.is_empty() {
            translation.add(text, becomes("nothing: it is the same for every job", ""));
        } else if let Some(factor) = probe.fairshare_of_tree(&inputs) {
            translation.add(text, weights.add("fairshare_factor", Some(factor)));
        } else {
            for &input in &inputs {
                let name = probe.name(input);
                let carried = match name {
                    "eligible_time" => weights.add_age(&probe, input),
                    _ => weights.add(name, probe.slope(input)),
                };
                match inputs.len() {
                    1 => translation.add(text, carried),
                    _ => translation.add(&format!("{name} in {text}"), carried),
                }
            }
        }
    }
    weights.write(queues, &mut translation);
    translation
}

/// An amount of an input as jobs have it, and amounts at which it is tried.
fn amounts(name: &str) -> (f64, &'static [f64]) {
    const COUNTS: &[f64] = &[0.0, 1.0, 7.0, 200.0, 5000.0];
    match name {
        "eligible_time" => (600.0, &[0.0, 60.0, 3600.0, 90_000.0, 1e6]),
        "walltime" => (7200.0, &[60.0, 1800.0, 86_400.0, 604_800.0, 1e6]),
        "mem" => (1_048_576.0, &[1024.0, 4e6, 1e8, 1e9, 5e9]),
        "ncpus" => (24.0, COUNTS),
        // few jobs have another
        "job_priority" => (0.0, COUNTS),
        _ if FairshareInput::from_name(name).is_some() => (0.4, &[0.05, 0.2, 0.5, 0.7, 1.0]),
        _ => (3.0, COUNTS),
    }
}

fn tried(name: &str) -> &'static [f64] {
    amounts(name).1
}

impl Probe<'_> {
    fn value(&self, point: &Point) -> Option<f64> {
        let inputs: Vec<Value> = point.iter().map(|value| Value::Float(*value)).collect();
        let value = self.program.trace(&inputs).summand(self.summand)?;
        let value = nearest_double(&value)?;
        value.is_finite().then_some(value)
    }

    fn at(&self, slot: usize, amount: f64) -> Option<f64> {
        let mut point = self.base.clone();
        point[slot] = amount;
        self.value(&point)
    }

    fn name(&self, slot: usize) -> &str {
        &self.program.inputs()[slot]
    }

    /// The inputs whose functions the summand is the sum of; empty for a constant.
    fn split(&self) -> Result<Vec<usize>, String> {
        const NO_VALUE: &str = "it has no value for some jobs";
        let base = self.value(&self.base).ok_or(NO_VALUE)?;
        let mut inputs = Vec::new();
        for slot in 0..self.base.len() {
            for &amount in tried(self.name(slot)) {
                // a value that is missing is seen below, where it is needed
                if let Some(value) = self.at(slot, amount)
                    && !is_close(value, base, base)
                {
                    inputs.push(slot);
                    break;
                }
            }
        }
        if self.fairshare_of_tree(&inputs).is_some() {
            return Ok(inputs);
        }
        // where all inputs differ from the base at once, only a sum of their functions changes by the
        // sum of what each changes
        for round in 0..5 {
            let mut point = self.base.clone();
            let mut sum = base;
            for (place, &slot) in inputs.iter().enumerate() {
                let amounts = tried(self.name(slot));
                point[slot] = amounts[(round + 2 * place) % amounts.len()];
                sum += self.at(slot, point[slot]).ok_or(NO_VALUE)? - base;
            }
            let value = self.value(&point).ok_or(NO_VALUE)?;
            if !is_close(value, sum, base) {
                let mut names = Vec::new();
                for &slot in &inputs {
                    names.push(format!("`{}`", self.name(slot)));
                }
                return Err(format!(
                    "it is not a sum of functions of {}, and Slurm only adds",
                    names.join(" and ")
                ));
            }
        }
        Ok(inputs)
    }

    /// The factor before `2 ** -(fairshare_tree_usage / fairshare_perc)`, if the summand, which
    /// depends on these inputs, is that.
    fn fairshare_of_tree(&self, inputs: &[usize]) -> Option<f64> {
        let usage = self.program.slot("fairshare_tree_usage")?;
        let program = self.program;
        let share = program.slot("fairshare_perc");
        let share = share.or(program.slot("fair_share_perc"))?;
        // another summand has the same value whatever these two are
        if inputs.len() != 2 || !inputs.contains(&usage) || !inputs.contains(&share) {
            return None;
        }
        let factor = self.at(usage, 0.0)?;
        let shares = tried("fairshare_perc").iter();
        for (amount, used) in shares.zip([0.3, 0.9, 0.1, 0.6, 0.2]) {
            let mut point = self.base.clone();
            (point[usage], point[share]) = (used, *amount);
            let expected = factor * (-used / amount).exp2();
            if !is_close(self.value(&point)?, expected, factor) {
                return None;
            }
        }
        Some(factor)
    }

    /// The slope of the function of an input, if it is a straight line.
    fn slope(&self, slot: usize) -> Option<f64> {
        let amounts = tried(self.name(slot));
        let (first, last) = (amounts[0], amounts[amounts.len() - 1]);
        let start = self.at(slot, first)?;
        let slope = (self.at(slot, last)? - start) / (last - first);
        for amount in amounts {
            let expected = start + slope * (amount - first);
            if !is_close(self.at(slot, *amount)?, expected, start) {
                return None;
            }
        }
        Some(slope)
    }

    /// The slope of the gain by waiting, and the age at which it ends, if it is a line that ends.
    fn capped_slope(&self, slot: usize) -> Option<(f64, f64)> {
        let start = self.at(slot, 0.0)?;
        let most = self.at(slot, UNLIMITED_AGE)? - start;
        let slope = self.at(slot, 1.0)? - start;
        let end = most / slope;
        let is_capped = slope > 0.0 && end < UNLIMITED_AGE;
        if !is_capped {
            return None;
        }
        for step in 1..=8 {
            let age = end * f64::from(step) / 4.0;
            let expected = start + slope * age.min(end);
            if !is_close(self.at(slot, age)?, expected, most) {
                return None;
            }
        }
        Some((slope, end))
    }
}

/// Whether two numbers are equal but for rounding; `scale` is what they were computed from.
fn is_close(one: f64, other: f64, scale: f64) -> bool {
    (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()).max(scale.abs())
}

impl Weights {
    /// Adds the gain by waiting: what it becomes, and what differs.
    fn add_age(&mut self, probe: &Probe<'_>, slot: usize) -> Carried {
        let (slope, end, note) = if let Some(slope) = probe.slope(slot) {
            (slope, UNLIMITED_AGE, "the gain ends after a year")
        } else if let Some((slope, end)) = probe.capped_slope(slot) {
            (slope, end, "")
        } else {
            return Err("it is neither a multiple of `eligible_time` nor one that ends at a limit, as Slurm's age".to_owned());
        };
        let mut gain = positive(slope, "the gain by waiting")?;
        if let Some((before, end_before)) = self.age {
            if !is_close(end_before, end, end) {
                return Err(
                    "Slurm's age ends at one PriorityMaxAge, and another part has another"
                        .to_owned(),
                );
            }
            gain += before;
        }
        self.age = Some((gain, end));
        becomes("PriorityWeightAge and PriorityMaxAge", note)
    }

    /// Adds the function of another input.
    fn add(&mut self, name: &str, slope: Option<f64>) -> Carried {
        if let Some(place) = FACTORS.iter().position(|(input, ..)| *input == name) {
            let (weight, setting, note) = match name {
                "fairshare_factor" => (
                    "the factor of fair share",
                    Factor::Fairshare.setting(),
                    "classic fair share is 2^(-usage/shares), as PBS's, of the usage that Slurm bills",
                ),
                QUEUE_PRIORITY => (
                    "the factor of `queue_priority`",
                    "PriorityWeightPartition, with the queues' priorities as PriorityJobFactor",
                    "",
                ),
                _ => ("the factor of a priority", FACTORS[place].1.setting(), ""),
            };
            self.factors[place] += positive(multiple(slope, name)?, weight)?;
            return becomes(setting, note);
        }
        let mut resources = RESOURCES.iter();
        if let Some(place) = resources.position(|(resource, ..)| *resource == name) {
            self.resources[place] += multiple(slope, name)?;
            return becomes(format!("PriorityWeightTRES, {}", RESOURCES[place].1), "");
        }
        Err(match name {
            "job_priority" => "Slurm has `nice`, which a user can only raise".to_owned(),
            "nice" => "Slurm subtracts a job's `nice` with the weight 1, which no setting changes".to_owned(),
            "walltime" => "Slurm weighs no time limit by itself: PriorityFlags=SMALL_RELATIVE_TO_TIME divides the size by it".to_owned(),
            _ => format!("Slurm knows no `{name}`: a site factor can carry it (`scontrol update job sitefactor=`, PrioritySiteFactorPlugin)"),
        })
    }

    /// Writes the settings, and the formula that has the same order in the names of PBS.
    fn write(&self, queues: &[(&str, i64)], translation: &mut Translation) {
        let priorities = queues.iter().map(|(_, priority)| *priority);
        // PriorityJobFactor has no sign
        let lowest = priorities.min().unwrap_or(0).min(0);
        let scale = self.scale();
        let whole = |weight: f64| (weight * scale).round();
        // under fair tree the factor is a place among all users, which no formula of PBS gives
        let mut flags = vec!["NO_FAIR_TREE"];
        let mut sum = Vec::new();
        let mut lines = Vec::new();
        let mut has_queues = false;
        if let Some((slope, end)) = self.age {
            let end = end.round();
            let weight = whole(slope * end);
            lines.push(format!("PriorityMaxAge={}", days_and_clock(end as u64)));
            lines.push(format!("PriorityWeightAge={weight}"));
            sum.push(format!("{weight}*min(1, eligible_time/{end})"));
        }
        for ((name, factor, flag, _), weight) in FACTORS.into_iter().zip(self.factors) {
            if weight > 0.0 {
                let weight = whole(weight);
                flags.extend(flag);
                lines.push(format!("{}={weight}", factor.setting()));
                sum.push(if name == QUEUE_PRIORITY {
                    has_queues = true;
                    format!("{weight}*({name} + {})", -lowest)
                } else {
                    format!("{weight}*{name}")
                });
            }
        }
        let mut resources = Vec::new();
        for (&(resource, tres, units), weight) in RESOURCES.iter().zip(self.resources) {
            if weight != 0.0 {
                sum.push(format!("{}*{resource}", weight * scale));
                resources.push(format!("{tres}={}", weight * scale / units));
            }
        }
        if !resources.is_empty() {
            flags.push("NO_NORMAL_TRES");
            lines.push(format!("PriorityWeightTRES={}", resources.join(",")));
        }
        translation.settings = vec![
            "PriorityType=priority/multifactor".to_owned(),
            format!("PriorityFlags={}", flags.join(",")),
        ];
        translation.settings.extend(lines);
        if has_queues {
            for (queue, priority) in queues {
                let factor = priority - lowest;
                let line = format!("PartitionName={queue} PriorityJobFactor={factor}");
                translation.settings.push(line);
            }
        }
        if sum.is_empty() {
            sum.push("0".to_owned());
        }
        let sum = sum.join(" + ");
        translation.formula = format!("min(4294967295, max(1, floor({sum})))");
    }

    /// The power of ten by which the formula's numbers are multiplied: Slurm's weights are whole
    /// numbers, its priority too, and at most 4294967295.
    fn scale(&self) -> f64 {
        let age_term = self.age.map_or(0.0, |(slope, end)| slope * end);
        let mut resource_term = 0.0_f64;
        for weight in self.resources {
            resource_term = resource_term.max(weight.abs() * LARGEST_AMOUNT);
        }
        let mut most = age_term + resource_term;
        for ((.., bound), weight) in FACTORS.into_iter().zip(self.factors) {
            most += weight * bound;
        }
        if most > 0.0 {
            10_f64.powf((MOST / most).log10().floor())
        } else {
            1.0
        }
    }
}

/// The setting with the half-life of usage that is multiplied by a factor after each period.
pub fn half_life(period: u64, factor: f64) -> String {
    let seconds = period as f64 * 0.5_f64.ln() / factor.ln();
    format!(
        "PriorityDecayHalfLife={}",
        days_and_clock(seconds.round() as u64)
    )
}

/// The slope of an input that enters as a multiple.
fn multiple(slope: Option<f64>, name: &str) -> Result<f64, String> {
    slope.ok_or_else(|| format!("`{name}` does not enter as a multiple, and Slurm only weighs it"))
}

fn positive(weight: f64, what: &str) -> Result<f64, String> {
    if weight > 0.0 {
        Ok(weight)
    } else {
        Err(format!("{what} is negative, and Slurm's weight cannot be"))
    }
}

/// The largest of the priorities, by which Slurm divides each of them.
fn largest_of(priorities: &BTreeMap<String, u32>) -> u32 {
    priorities.values().copied().max().unwrap_or(0).max(1)
}

/// The largest priority of a queue of PBS.
const LARGEST_QUEUE_PRIORITY: u32 = 1023;

/// The formula of PBS, and the resources and priorities of queues that it needs.
fn to_pbs(formula: &Formula, cluster: &Cluster) -> Translation {
    let mut translator = Translator {
        settings: &cluster.conf.priority,
        cluster,
        resources: BTreeMap::new(),
        translation: Translation::default(),
    };
    // PBS has no greatest priority, and its value need not be a whole number
    let sum = formula.sum_under_limits();
    let text = with_names(formula.expr(), sum, |name| translator.replacement(name));
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
        let (text, note) = match name {
            AGE => match self.settings.max_age {
                // no wait is less than 0 seconds, so that Slurm's age is at its greatest at once
                0 => ("1".to_owned(), String::new()),
                seconds => (
                    format!("min(1, eligible_time/{seconds})"),
                    "`eligible_time` counts while a job is eligible; the server needs eligible_time_enable".to_owned(),
                ),
            },
            "fairshare_factor" => (name.to_owned(), self.note_of_fair_share()),
            "size_factor" => (self.size(), String::new()),
            "partition_factor" => self.partition(),
            "qos_factor" => {
                let what = "the priority of the job's QOS";
                self.of_resource("qos_priority", Factor::Qos, what)
            }
            "assoc_factor" => {
                let what = "the priority of the user's association";
                self.of_resource("assoc_priority", Factor::Assoc, what)
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
        self.translation.add(name, becomes(&*text, note));
        Some(text)
    }

    /// How the factors differ, and the settings of PBS with the half-life of Slurm.
    fn note_of_fair_share(&self) -> String {
        let mut note =
            "PBS computes 2^(-usage/shares) with its own tree and usage, and no fair tree"
                .to_owned();
        let seconds = self.cluster.conf.decay_half_life;
        if seconds > 0 {
            note += &format!(
                "; `fairshare_decay_time: {}` and `fairshare_decay_factor: 0.5` in sched_config have Slurm's half-life",
                clock(seconds.into())
            );
        }
        note
    }

    fn size(&mut self) -> String {
        let Some((nodes, cpus)) = self.cluster.size() else {
            let why =
                "the nodes are not known: give slurm.conf or what `scontrol show node -a` prints";
            self.translation.add("size_factor", Err(why.to_owned()));
            return "0".to_owned();
        };
        // as slurmctld computes it (tests/golden/slurm-priority/SPEC.md, Job size)
        let by_time = format!("max(nodect*{cpus}/{nodes}, ncpus)/(walltime/60)/{cpus}");
        match (self.settings.relative_to_time, self.settings.favor_small) {
            (false, false) => format!("(nodect/{nodes} + ncpus/{cpus})/2"),
            (false, true) => format!("(({nodes} - nodect)/{nodes} + ({cpus} - ncpus)/{cpus})/2"),
            (true, false) => by_time,
            (true, true) => format!("(1 - {by_time})"),
        }
    }

    fn partition(&mut self) -> (String, String) {
        let factors = self.cluster.priorities(Factor::Partition);
        let largest = largest_of(factors);
        if largest > LARGEST_QUEUE_PRIORITY {
            let what = "the PriorityJobFactor of the partition";
            return self.of_resource("job_factor", Factor::Partition, what);
        }
        for (partition, factor) in factors {
            let line = format!("qmgr -c 'set queue {partition} priority = {factor}'");
            self.translation.settings.push(line);
        }
        let text = if self.settings.is_raw(Factor::Partition) {
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
    fn of_resource(&mut self, name: &str, factor: Factor, what: &str) -> (String, String) {
        let (text, mut note) = self.resource(name, what);
        if self.settings.is_raw(factor) {
            return (text, note);
        }
        let priorities = self.cluster.priorities(factor);
        if priorities.is_empty() {
            note += ", whose largest value the files do not say: 1 is taken";
        }
        (format!("{text}/{}", largest_of(priorities)), note)
    }

    fn resource(&mut self, name: &str, what: &str) -> (String, String) {
        self.resources.insert(name.to_owned(), "long");
        (name.to_owned(), format!("a resource of the site: {what}"))
    }

    fn resources(&mut self) -> (String, String) {
        let mut sum = Vec::new();
        let mut notes = Vec::new();
        for tres in &self.settings.weight_tres {
            let mut known = RESOURCES.into_iter();
            let amount = match known.find(|(_, name, _)| *name == tres.name) {
                Some((resource, _, 1.0)) => resource.to_owned(),
                Some((resource, _, units)) => format!("{resource}/{}", 1.0 / units),
                None => {
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
