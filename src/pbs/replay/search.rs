//! Searches the inputs of a job, one at a time, for a value that gives the digits in the log.

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;

use crate::fairshare::decay::IntervalDecay;
use crate::fairshare::{EntityShares, NodeId, ShareTree};
use crate::formula::program::Program;
use crate::pbs::number_format::{self, logged};
use crate::pbs::replay::ReplayedQueue;
use crate::pbs::resource_amount::NumberMode;
use crate::pbs::share_tree::PbsTree;
use crate::python::Value;
use crate::rank::{OnError, RowScorer, ScorePrecision, fairshare_number};
use crate::schema::{FairshareInput, InputType, Origin, Range};

/// The numbers of decays that are tried: 1 to 32 more, then 1 to 8 fewer.
const DECAYS: [i32; 40] = {
    let mut decays = [0; 40];
    let mut index = 0;
    while index < 40 {
        decays[index] = if index < 32 { index as i32 + 1 } else { 31 - index as i32 };
        index += 1;
    }
    decays
};
/// How many inputs on either side of the queue's are tried one by one.
const NEAR: i64 = 32;
/// The greatest whole input that is tried.
const MAX_WHOLE: i64 = 1 << 53;
/// The most nodes of a tree in which the usage of an entity is searched: every step computes the shares of all nodes.
const MAX_TREE: usize = 20_000;

/// What would explain a difference.
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// The values are equal up to the last digit that the log has.
    Digits,
    /// A resource that no file declares counts as 0.
    Undeclared(String),
    /// `eligible_time` differs by this number of seconds.
    EligibleTime(i64),
    /// All usage has decayed this many times more, or less if the number is negative.
    Decayed(i32),
    /// The usage of the entity differs.
    Usage {
        /// The entity.
        entity: String,
        /// The usage in the tree.
        ours: f64,
        /// The usage that gives the logged value.
        logged: f64,
    },
    /// An input differs.
    Input {
        /// The input.
        name: String,
        /// The input of the queue, as Python prints it.
        ours: String,
        /// The input that gives the logged value.
        logged: String,
    },
    /// The job has finished since, or is considered through its array.
    NotWaiting(String),
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Digits => write!(f, "the last digit is rounded differently"),
            Self::Undeclared(name) => write!(f, "nothing declares `{name}`, which then counts as 0"),
            Self::EligibleTime(seconds) => {
                let direction = if *seconds > 0 { "later" } else { "earlier" };
                write!(f, "eligible_time is {} s {direction}", seconds.unsigned_abs())
            }
            Self::Decayed(1) => write!(f, "all usage has decayed once more"),
            Self::Decayed(times @ 2..) => write!(f, "all usage has decayed {times} times more"),
            Self::Decayed(-1) => write!(f, "all usage has decayed once less"),
            Self::Decayed(times) => write!(f, "all usage has decayed {} times less", times.unsigned_abs()),
            Self::Usage { entity, ours, logged } => write!(f, "the usage of `{entity}` is {logged} instead of {ours}"),
            Self::Input { name, ours, logged } => write!(f, "{name} is {logged} instead of {ours}"),
            Self::NotWaiting(reason) => write!(f, "the job is not evaluated now: {reason}"),
        }
    }
}

/// What an explanation has in common with the explanations of other lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    EligibleTime(i64),
    Decayed(i32),
    Undeclared(String),
    Other(String),
}

impl Explanation {
    pub(super) fn key(&self) -> Key {
        match self {
            Self::EligibleTime(seconds) => Key::EligibleTime(*seconds),
            Self::Decayed(times) => Key::Decayed(*times),
            Self::Undeclared(name) => Key::Undeclared(name.clone()),
            other => Key::Other(other.to_string()),
        }
    }
}

/// How the search represents the values of an input by whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// The number itself.
    Whole,
    /// Ten thousandths: an amount of a float resource.
    FloatResource,
    /// Millionths: a fair-share number.
    Millionths,
}

impl Scale {
    fn value(self, number: i64) -> Value {
        match self {
            Self::Whole => Value::Int(number),
            Self::FloatResource => number_format::resource(number as f64 / 1e4),
            Self::Millionths => NumberMode::OpenPbs.fairshare(number as f64 / 1e6),
        }
    }

    /// The number whose value is nearest to `value`.
    fn number(self, value: f64) -> i64 {
        let scale = match self {
            Self::Whole => 1.0,
            Self::FloatResource => 1e4,
            Self::Millionths => 1e6,
        };
        (value * scale).round() as i64
    }
}

/// Searches the inputs of the jobs of one queue.
pub(super) struct Search<'a> {
    queue: ReplayedQueue<'a>,
    /// The formula, compiled against a schema that also declares the names in `undeclared`.
    program: Option<Program>,
    /// The names in the formula that no file declares.
    undeclared: Vec<String>,
    /// The shares of the entities after each number of decays, see [`shares_after_decays`]; computed when first needed.
    decayed: HashMap<i32, Vec<HashMap<NodeId, EntityShares>>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(queue: &ReplayedQueue<'a>) -> Self {
        let mut schema = queue.schema.clone();
        let missing = queue.formula.compile(&schema).map_or(Vec::new(), |program| {
            program.undefined().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        });
        for name in &missing {
            schema.add_seen(name, InputType::Count);
        }
        let program = queue.formula.compile(&schema).ok();
        let inputs = program.iter().flat_map(Program::inputs);
        let is_seen = |name: &&str| schema.entry(name).is_some_and(|entry| entry.origin == Origin::Seen);
        let undeclared = inputs.map(|name| &**name).filter(is_seen).map(str::to_owned).collect();
        Self { queue: *queue, program, undeclared, decayed: HashMap::new() }
    }

    /// Searches everything that explains the digits by one change, the most plausible first.
    pub(super) fn explanations(&mut self, row: usize, digits: &str) -> Vec<Explanation> {
        let Some(program) = self.program.take() else { return Vec::new() };
        let mut job = JobInputs::new(&program, &self.queue, row);
        let mut found = Vec::new();
        if self.queue.scores.get(row).is_some_and(|score| is_rounding(score.value, digits)) {
            found.push(Explanation::Digits);
        }
        for name in &self.undeclared {
            found.extend(job.try_undeclared(name, digits));
        }
        found.extend(job.search_eligible_time(digits));
        found.extend(self.search_decay(&mut job, digits));
        found.extend(self.search_usage(&mut job, digits));
        let names = program.inputs().iter().filter(|name| ***name != *ELIGIBLE_TIME);
        for name in names {
            found.extend(job.search_input(name, digits));
        }
        self.program = Some(program);
        found
    }

    /// Tries what explained many other lines.
    pub(super) fn try_common(&mut self, key: &Key, row: usize, digits: &str) -> Option<Explanation> {
        let program = self.program.take()?;
        let mut job = JobInputs::new(&program, &self.queue, row);
        let found = match key {
            Key::EligibleTime(seconds) => job.try_eligible_time(*seconds, digits),
            Key::Decayed(times) => self.try_decay(&mut job, *times, digits),
            Key::Undeclared(name) => job.try_undeclared(name, digits),
            Key::Other(_) => None,
        };
        self.program = Some(program);
        found
    }

    /// Searches every number of decays that explains the digits. The explanations of other jobs show which one it is.
    fn search_decay(&mut self, job: &mut JobInputs<'_, '_>, digits: &str) -> Vec<Explanation> {
        DECAYS.into_iter().filter_map(|times| self.try_decay(job, times, digits)).collect()
    }

    fn try_decay(&mut self, job: &mut JobInputs<'_, '_>, times: i32, digits: &str) -> Option<Explanation> {
        let tree = self.queue.tree.filter(|_| job.uses_fairshare())?;
        let entity = tree.tree().find(self.queue.table.entity(job.row))?;
        let queue = self.queue;
        let by_daemon = self.decayed.entry(times).or_insert_with(|| shares_after_decays(&queue, tree, times));
        let mut shares = by_daemon.iter().filter_map(|shares| shares.get(&entity));
        let matches = shares.any(|shares| logged(job.value_with_shares(shares)) == digits);
        matches.then_some(Explanation::Decayed(times))
    }

    /// Searches another usage of the job's entity, which changes the whole tree.
    fn search_usage(&self, job: &mut JobInputs<'_, '_>, digits: &str) -> Option<Explanation> {
        let tree = self.queue.tree.filter(|tree| job.uses_fairshare() && tree.tree().len() <= MAX_TREE)?;
        let entity = self.queue.table.entity(job.row);
        let node = tree.tree().find(entity)?;
        let ours = tree.tree().usage(node);
        let start = ours.round() as i64;
        let found = nearest(start, 1..=MAX_WHOLE, digits, |usage| {
            let mut changed = tree.tree().clone();
            changed.charge(node, usage as f64 - ours);
            let shares = self.queue.policy.assess(&changed).get(node).unwrap_or_default();
            job.value_with_shares(&shares)
        })?;
        Some(Explanation::Usage { entity: entity.to_owned(), ours, logged: found as f64 })
    }
}

/// The shares of the entities of jobs after a number of decays, twice: in a daemon that has read the decayed usage of the
/// entities from its file and summed it up, and in one that has decayed the usage of every node itself. A negative number
/// undoes decays; only the first daemon is then considered.
fn shares_after_decays(queue: &ReplayedQueue<'_>, tree: &PbsTree, times: i32) -> Vec<HashMap<NodeId, EntityShares>> {
    let decay = |usage: f64| match times {
        0.. => (0..times).fold(usage, |usage, _| queue.decay.step(usage)),
        _ if usage <= IntervalDecay::FLOOR => usage,
        _ => usage / (queue.decay.step(1e15) / 1e15).powi(-times),
    };
    let mut trees: Vec<ShareTree> = (queue.reread)(&decay).map(|reread| reread.tree().clone()).into_iter().collect();
    if times > 0 {
        let mut every_node = tree.tree().clone();
        every_node.decay_with(decay);
        trees.push(every_node);
    }
    let entities: Vec<NodeId> = queue.table.entities().iter().filter_map(|entity| tree.tree().find(entity)).collect();
    let shares_of_entities = |changed: &ShareTree| {
        let shares = queue.policy.assess(changed);
        let by_name = |&node: &NodeId| Some((node, shares.get(changed.find(tree.tree().name(node))?)?));
        entities.iter().filter_map(by_name).collect()
    };
    trees.iter().map(shares_of_entities).collect()
}

const ELIGIBLE_TIME: &str = "eligible_time";

/// The inputs of one job, which are replaced to see how its value changes: one at a time, or all fair-share numbers.
struct JobInputs<'p, 'a> {
    scorer: RowScorer<'p>,
    program: &'p Program,
    queue: ReplayedQueue<'a>,
    row: usize,
    inputs: Vec<Value>,
}

impl<'p, 'a> JobInputs<'p, 'a> {
    fn new(program: &'p Program, queue: &ReplayedQueue<'a>, row: usize) -> Self {
        let input = |name: &str| queue.table.column(name).map_or(Value::Int(0), |column| column.value(row));
        let inputs = program.inputs().iter().map(|name| input(name)).collect();
        Self {
            scorer: RowScorer::new(program, ScorePrecision::Float32, OnError::ZeroLikePbs),
            program,
            queue: *queue,
            row,
            inputs,
        }
    }

    fn slot(&self, name: &str) -> Option<usize> {
        self.program.inputs().iter().position(|input| **input == *name)
    }

    fn uses_fairshare(&self) -> bool {
        self.program.inputs().iter().any(|name| FairshareInput::from_name(name).is_some())
    }

    /// The value of the job with one input replaced.
    fn value_with(&mut self, slot: usize, input: Value) -> f64 {
        let ours = std::mem::replace(&mut self.inputs[slot], input);
        let value = self.scorer.score(&self.inputs);
        self.inputs[slot] = ours;
        value
    }

    /// The value of the job when its entity has these fair-share numbers.
    fn value_with_shares(&mut self, shares: &EntityShares) -> f64 {
        let mut inputs = self.inputs.clone();
        for (input, name) in inputs.iter_mut().zip(self.program.inputs()) {
            if let Some(number) = FairshareInput::from_name(name) {
                *input = NumberMode::OpenPbs.fairshare(fairshare_number(number, shares));
            }
        }
        self.scorer.score(&inputs)
    }

    /// Tries 0 for a resource that no file declares: the job may have an amount of it, but the formula gets 0.
    fn try_undeclared(&mut self, name: &str, digits: &str) -> Option<Explanation> {
        let slot = self.slot(name)?;
        let value = self.value_with(slot, Value::Int(0));
        (logged(value) == digits).then(|| Explanation::Undeclared(name.to_owned()))
    }

    fn try_eligible_time(&mut self, seconds: i64, digits: &str) -> Option<Explanation> {
        let slot = self.slot(ELIGIBLE_TIME)?;
        let Value::Int(ours) = self.inputs[slot] else { return None };
        let then = ours.checked_add(seconds).filter(|&then| then >= 0)?;
        let value = self.value_with(slot, Value::Int(then));
        (logged(value) == digits).then_some(Explanation::EligibleTime(seconds))
    }

    fn search_eligible_time(&mut self, digits: &str) -> Option<Explanation> {
        let slot = self.slot(ELIGIBLE_TIME)?;
        let Value::Int(ours) = self.inputs[slot] else { return None };
        let found = nearest(ours, 0..=MAX_WHOLE, digits, |then| self.value_with(slot, Value::Int(then)))?;
        Some(Explanation::EligibleTime(found - ours))
    }

    fn search_input(&mut self, name: &str, digits: &str) -> Option<Explanation> {
        let slot = self.slot(name)?;
        let ours = self.inputs[slot].clone();
        let entry = self.queue.schema.entry(name);
        let (scale, range) = match (FairshareInput::from_name(name), entry.map(|entry| entry.input_type), &ours) {
            (Some(_), ..) => (Scale::Millionths, 0..=1_000_000),
            (_, Some(InputType::Float), _) | (.., Value::Float(_)) => (Scale::FloatResource, -MAX_WHOLE..=MAX_WHOLE),
            _ => (Scale::Whole, whole_range(entry.map_or(Range::ANY, |entry| entry.range))),
        };
        let start = match &ours {
            Value::Int(integer) => scale.number(*integer as f64),
            Value::Float(double) if double.is_finite() => scale.number(*double),
            _ => return None,
        };
        let found = nearest(start, range, digits, |number| self.value_with(slot, scale.value(number)))?;
        Some(Explanation::Input { name: name.to_owned(), ours: ours.repr(), logged: scale.value(found).repr() })
    }
}

fn whole_range(range: Range) -> RangeInclusive<i64> {
    let bound = |bound: f64| bound.clamp(-(MAX_WHOLE as f64), MAX_WHOLE as f64) as i64;
    bound(range.least)..=bound(range.most)
}

/// Whether the logged number is so near to the value that only the rounding may differ: at most a unit of its last decimal
/// away, or at most as far as a neighbouring C `float`.
fn is_rounding(value: f64, digits: &str) -> bool {
    let Ok(then) = digits.parse::<f64>() else { return false };
    let places = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len().min(9));
    let unit = 10f64.powi(-(places as i32));
    let kept = value as f32;
    let neighbours = [kept.next_down(), kept.next_up()].map(|near| (f64::from(near) - value).abs());
    // a number without decimals may be a whole number, of which no digit is left out
    let by_digits = places > 0 && (then - value).abs() <= unit;
    by_digits || (then.is_finite() && (then - value).abs() <= neighbours[0].max(neighbours[1]))
}

/// The whole number nearest to `start` whose value is logged with these digits. The values on either side of `start` are
/// tried one by one at first, then at growing distances; where the target lies between two of them, it is searched by
/// bisection.
fn nearest(start: i64, range: RangeInclusive<i64>, digits: &str, mut value: impl FnMut(i64) -> f64) -> Option<i64> {
    let target: f64 = digits.parse().ok()?;
    let mut matches = |number: i64| {
        let value = value(number);
        (logged(value) == digits, value)
    };
    for number in (1..=NEAR).flat_map(|near| [start.saturating_add(near), start.saturating_sub(near)]) {
        if range.contains(&number) && matches(number).0 {
            return Some(number);
        }
    }
    let up = search_beyond(start, NEAR, *range.end(), target, &mut matches);
    let down = search_beyond(start, -NEAR, *range.start(), target, &mut matches);
    up.into_iter().chain(down).min_by_key(|found| found.abs_diff(start))
}

/// Searches from `start` towards `end` in steps that double, beginning with `step`.
fn search_beyond(
    start: i64,
    step: i64,
    end: i64,
    target: f64,
    matches: &mut impl FnMut(i64) -> (bool, f64),
) -> Option<i64> {
    let mut near = start.saturating_add(step).clamp(start.min(end), start.max(end));
    let mut near_value = matches(near).1;
    let mut step = step;
    while near != end {
        step = step.saturating_mul(2);
        let far = start.saturating_add(step).clamp(start.min(end), start.max(end));
        let (found, far_value) = matches(far);
        if found {
            return Some(first_match(near, far, matches));
        }
        if (near_value < target) != (far_value < target)
            && let Some(found) = bisect(near, far, near_value < target, target, matches)
        {
            return Some(found);
        }
        (near, near_value) = (far, far_value);
    }
    None
}

/// Searches between two numbers whose values lie on either side of the target.
fn bisect(
    mut near: i64,
    mut far: i64,
    near_is_below: bool,
    target: f64,
    matches: &mut impl FnMut(i64) -> (bool, f64),
) -> Option<i64> {
    while near.abs_diff(far) > 1 {
        let middle = i64::midpoint(near, far);
        let (found, value) = matches(middle);
        if found {
            return Some(first_match(near, middle, matches));
        }
        if (value < target) == near_is_below { near = middle } else { far = middle }
    }
    None
}

/// The matching number that is nearest to `near`, which does not match itself. `far` matches, and all numbers between the
/// result and `far` are taken to match.
fn first_match(mut near: i64, mut far: i64, matches: &mut impl FnMut(i64) -> (bool, f64)) -> i64 {
    while near.abs_diff(far) > 1 {
        let middle = i64::midpoint(near, far);
        if matches(middle).0 { far = middle } else { near = middle }
    }
    far
}
