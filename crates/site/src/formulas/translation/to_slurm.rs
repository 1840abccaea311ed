//! A formula of PBS as weights of Slurm. Each summand is evaluated at many points: what it is made
//! of follows from its values, however it is written.

use job_sort_formula::formula::program::{Program, Summand};
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::nearest_double;

use crate::Translation;
use crate::shares::policy_selection::days_and_clock;

/// The greatest priority of Slurm.
const MOST: f64 = 4_294_967_295.0;
/// `PriorityMaxAge` of a formula that does not end the gain by waiting: a year, in seconds.
const UNLIMITED_AGE: f64 = 365.0 * 86_400.0;
/// The largest amount of a resource for which there must be room below the greatest priority.
const LARGEST_AMOUNT: f64 = 1e6;
/// The largest priority of a queue of PBS.
const LARGEST_QUEUE_PRIORITY: f64 = 1024.0;
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

/// The priorities of a job that a site of PBS may have as resources, with the weights and the flags
/// with which Slurm takes them as they are.
const PRIORITIES: [(&str, &str, &str); 2] = [
    ("qos_priority", "PriorityWeightQOS", "NO_NORMAL_QOS"),
    ("assoc_priority", "PriorityWeightAssoc", "NO_NORMAL_ASSOC"),
];
/// The weight of fair share.
pub const FAIRSHARE: &str = "PriorityWeightFairshare";

/// The inputs of the formula at one point.
type Point = Vec<f64>;

/// What the summands amount to.
#[derive(Debug, Default)]
struct Weights {
    /// The gain by a second of waiting, and the age in seconds at which it ends.
    age: Option<(f64, f64)>,
    fairshare: f64,
    queue_priority: f64,
    /// In the order of [`PRIORITIES`].
    priorities: [f64; PRIORITIES.len()],
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
pub fn translate(program: &Program, queues: &[(&str, i64)]) -> Translation {
    let mut weights = Weights::default();
    let mut translation = Translation::default();
    let base: Point = program.inputs().iter().map(|name| typical(name)).collect();
    for summand in program.summands() {
        let probe = Probe {
            program,
            summand: &summand,
            base: base.clone(),
        };
        let text = summand.text.clone();
        match probe.split() {
            Err(why) => translation.add(text, Err(why)),
            Ok(inputs) => match inputs.as_slice() {
                [] => {
                    let becomes = "nothing: it is the same for every job".to_owned();
                    translation.add(text, Ok((becomes, String::new())));
                }
                [input] => translation.add(text, weights.add(&probe, *input)),
                several => {
                    for &input in several {
                        let part = format!("{} in {text}", probe.name(input));
                        translation.add(part, weights.add(&probe, input));
                    }
                }
            },
        }
    }
    weights.write(queues, &mut translation);
    translation
}

/// An amount of an input as jobs have it.
fn typical(name: &str) -> f64 {
    match name {
        "eligible_time" => 600.0,
        // few jobs have another
        "job_priority" => 0.0,
        "walltime" => 7200.0,
        "mem" => 1_048_576.0,
        "ncpus" => 24.0,
        "fairshare_factor" | "fairshare_tree_usage" | "fairshare_perc" | "fair_share_perc" => 0.4,
        _ => 3.0,
    }
}

/// Amounts at which an input is tried.
fn tried(name: &str) -> &'static [f64] {
    match name {
        "eligible_time" => &[0.0, 60.0, 3600.0, 90_000.0, 1e6],
        "fairshare_factor" | "fairshare_tree_usage" | "fairshare_perc" | "fair_share_perc" => {
            &[0.05, 0.2, 0.5, 0.7, 1.0]
        }
        "walltime" => &[60.0, 1800.0, 86_400.0, 604_800.0, 1e6],
        "mem" => &[1024.0, 4e6, 1e8, 1e9, 5e9],
        _ => &[0.0, 1.0, 7.0, 200.0, 5000.0],
    }
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

    fn slot(&self, name: &str) -> Option<usize> {
        let mut inputs = self.program.inputs().iter();
        inputs.position(|input| **input == *name)
    }

    fn share_slot(&self) -> Option<usize> {
        self.slot("fairshare_perc").or(self.slot("fair_share_perc"))
    }

    /// The inputs of the fair share of a tree, of which the summand may be a function.
    fn fairshare_slots(&self) -> Vec<usize> {
        let mut slots = Vec::from_iter(self.slot("fairshare_tree_usage"));
        slots.extend(self.share_slot());
        slots
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
            return Ok(inputs[..1].to_vec());
        }
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

    /// The factor before `2 ** -(fairshare_tree_usage / fairshare_perc)`, if the summand is that.
    fn fairshare_of_tree(&self, inputs: &[usize]) -> Option<f64> {
        let usage = self.slot("fairshare_tree_usage")?;
        let share = self.share_slot()?;
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
    /// Adds the function of one input: what it becomes, and what differs.
    fn add(&mut self, probe: &Probe<'_>, slot: usize) -> Result<(String, String), String> {
        let name = probe.name(slot);
        let becomes = |becomes: &str| Ok((becomes.to_owned(), String::new()));
        let classic =
            "classic fair share is 2^(-usage/shares), as PBS's, of the usage that Slurm bills";
        if let Some(factor) = probe.fairshare_of_tree(&probe.fairshare_slots()) {
            self.fairshare += positive(factor, "the factor of fair share")?;
            return Ok((FAIRSHARE.to_owned(), classic.to_owned()));
        }
        let slope = probe.slope(slot);
        if name == "eligible_time" {
            let (slope, end, note) = if let Some(slope) = slope {
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
            let becomes = "PriorityWeightAge and PriorityMaxAge";
            return Ok((becomes.to_owned(), note.to_owned()));
        }
        if name == "fairshare_factor" {
            self.fairshare += positive(multiple(slope, name)?, "the factor of fair share")?;
            return Ok((FAIRSHARE.to_owned(), classic.to_owned()));
        }
        if name == "queue_priority" {
            self.queue_priority +=
                positive(multiple(slope, name)?, "the factor of `queue_priority`")?;
            return becomes(
                "PriorityWeightPartition, with the queues' priorities as PriorityJobFactor",
            );
        }
        if let Some(place) = PRIORITIES.iter().position(|(known, ..)| *known == name) {
            let weight = positive(multiple(slope, name)?, "the factor of a priority")?;
            self.priorities[place] += weight;
            return becomes(PRIORITIES[place].1);
        }
        if let Some(place) = RESOURCES
            .iter()
            .position(|(resource, ..)| *resource == name)
        {
            self.resources[place] += multiple(slope, name)?;
            return becomes(&format!("PriorityWeightTRES, {}", RESOURCES[place].1));
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
        let lowest = priorities.min().unwrap_or(0).min(0);
        let scale = self.scale();
        let whole = |weight: f64| (weight * scale).round();
        let mut flags = vec!["NO_FAIR_TREE"];
        let mut sum = Vec::new();
        let mut lines = Vec::new();
        if let Some((slope, end)) = self.age {
            let end = end.round();
            let weight = whole(slope * end);
            lines.push(format!("PriorityMaxAge={}", days_and_clock(end as u64)));
            lines.push(format!("PriorityWeightAge={weight}"));
            sum.push(format!("{weight}*min(1, eligible_time/{end})"));
        }
        if self.fairshare > 0.0 {
            let weight = whole(self.fairshare);
            lines.push(format!("PriorityWeightFairshare={weight}"));
            sum.push(format!("{weight}*fairshare_factor"));
        }
        if self.queue_priority > 0.0 {
            let weight = whole(self.queue_priority);
            flags.push("NO_NORMAL_PART");
            lines.push(format!("PriorityWeightPartition={weight}"));
            sum.push(format!("{weight}*(queue_priority + {})", -lowest));
        }
        for ((name, setting, flag), weight) in PRIORITIES.into_iter().zip(self.priorities) {
            if weight > 0.0 {
                let weight = whole(weight);
                flags.push(flag);
                lines.push(format!("{setting}={weight}"));
                sum.push(format!("{weight}*{name}"));
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
        if self.queue_priority > 0.0 {
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
        let of_age = self.age.map_or(0.0, |(slope, end)| slope * end);
        let mut of_resources = 0.0_f64;
        for weight in self.resources {
            of_resources = of_resources.max(weight.abs() * LARGEST_AMOUNT);
        }
        let of_priorities = self.priorities.iter().sum::<f64>() * LARGEST_AMOUNT;
        let most = of_age
            + self.fairshare
            + of_priorities
            + self.queue_priority * LARGEST_QUEUE_PRIORITY
            + of_resources;
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
