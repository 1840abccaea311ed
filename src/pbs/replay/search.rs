//! Searches the inputs of a job, one at a time, for a value that gives the digits in the log.

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;

use crate::fairshare::decay::IntervalDecay;
use crate::fairshare::{EntityShares, NodeId, ShareTree};
use crate::formula::program::Program;
use crate::jobs::Column;
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
/// The most records to whose digits one change is fitted in turn.
const MAX_ROUNDS: usize = 64;

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

/// The logged value of a job.
pub(super) struct Record {
    /// The line in the log, counted from 1.
    pub(super) line: usize,
    pub(super) row: usize,
    pub(super) digits: String,
}

/// The values of one cycle whose jobs have the same entity.
pub(super) type Records = Vec<Record>;

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

    /// Whether the formula uses fair-share numbers.
    pub(super) fn uses_fairshare(&self) -> bool {
        let names = self.program.iter().flat_map(Program::inputs);
        names.into_iter().any(|name| FairshareInput::from_name(name).is_some())
    }

    /// Searches everything that explains the digits by one change, the most plausible first. A change of fair-share numbers
    /// must explain all `records`; if nothing explains the digits, the second result is the record that contradicts it.
    pub(super) fn explanations(
        &mut self,
        row: usize,
        digits: &str,
        records: &Records,
    ) -> (Vec<Explanation>, Option<String>) {
        let Some(program) = self.program.take() else { return (Vec::new(), None) };
        let mut job = JobInputs::new(&program, &self.queue, row, records);
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
        let remark = job.contradiction.map(|line| {
            let entity = self.queue.table.entity(row);
            format!(
                "another usage of `{entity}` would give it, but contradicts line {line}, of the same cycle and entity"
            )
        });
        self.program = Some(program);
        (found, remark)
    }

    /// Tries what explained many other lines.
    pub(super) fn try_common(&mut self, key: &Key, row: usize, digits: &str, records: &Records) -> Option<Explanation> {
        let program = self.program.take()?;
        let mut job = JobInputs::new(&program, &self.queue, row, records);
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
        let matches = shares.any(|shares| {
            let changes = job.changes_to(shares);
            logged(job.value_with(job.row, &changes)) == digits && job.contradicting(&changes).is_none()
        });
        matches.then_some(Explanation::Decayed(times))
    }

    /// Searches another usage of the job's entity, which changes the whole tree.
    fn search_usage(&self, job: &mut JobInputs<'_, '_>, digits: &str) -> Option<Explanation> {
        let tree = self.queue.tree.filter(|tree| job.uses_fairshare() && tree.tree().len() <= MAX_TREE)?;
        let entity = self.queue.table.entity(job.row);
        let node = tree.tree().find(entity)?;
        let ours = tree.tree().usage(node);
        let start = ours.round() as i64;
        let found = job.nearest_for_all(start, 1..=MAX_WHOLE, digits, &|job, usage| {
            let mut changed = tree.tree().clone();
            changed.add_usage(node, usage as f64 - ours);
            let shares = self.queue.policy.assess(&changed).get(node).unwrap_or_default();
            job.changes_to(&shares)
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
    /// The columns of the inputs; `None` where no job has an amount.
    columns: Vec<Option<&'a Column>>,
    row: usize,
    /// The logged values that a change of fair-share numbers must give too.
    records: &'p Records,
    /// The line of the first record that contradicted a change.
    contradiction: Option<usize>,
}

/// Inputs to replace, by their positions among those of the program.
type Changes = Vec<(usize, Value)>;

impl<'p, 'a> JobInputs<'p, 'a> {
    fn new(program: &'p Program, queue: &ReplayedQueue<'a>, row: usize, records: &'p Records) -> Self {
        Self {
            scorer: RowScorer::new(program, ScorePrecision::Float32, OnError::ZeroLikePbs),
            program,
            queue: *queue,
            columns: program.inputs().iter().map(|name| queue.table.column(name)).collect(),
            row,
            records,
            contradiction: None,
        }
    }

    fn input(&self, slot: usize, row: usize) -> Value {
        self.columns[slot].map_or(Value::Int(0), |column| column.value(row))
    }

    fn slot(&self, name: &str) -> Option<usize> {
        self.program.inputs().iter().position(|input| **input == *name)
    }

    fn uses_fairshare(&self) -> bool {
        self.program.inputs().iter().any(|name| FairshareInput::from_name(name).is_some())
    }

    /// The value of a job with some inputs replaced.
    fn value_with(&mut self, row: usize, changes: &Changes) -> f64 {
        let mut inputs: Vec<Value> = (0..self.columns.len()).map(|slot| self.input(slot, row)).collect();
        for (slot, input) in changes {
            inputs[*slot] = input.clone();
        }
        self.scorer.score(&inputs)
    }

    /// The changes that give an entity these fair-share numbers.
    fn changes_to(&self, shares: &EntityShares) -> Changes {
        let names = self.program.inputs().iter().enumerate();
        let numbers = names.filter_map(|(slot, name)| Some((slot, FairshareInput::from_name(name)?)));
        numbers.map(|(slot, number)| (slot, NumberMode::OpenPbs.fairshare(fairshare_number(number, shares)))).collect()
    }

    /// The first record that the changes contradict.
    fn contradicting(&mut self, changes: &Changes) -> Option<&'p Record> {
        let records = self.records;
        records.iter().find(|record| logged(self.value_with(record.row, changes)) != record.digits)
    }

    /// The number nearest to `start` whose changes give the digits of the job and those of all records.
    ///
    /// The numbers that give the digits of one record are an interval. Where all intervals have a number in common, going to
    /// the nearest number of one after the other approaches it from one side; a turn shows that they have none.
    fn nearest_for_all(
        &mut self,
        start: i64,
        range: RangeInclusive<i64>,
        digits: &str,
        changes: &dyn Fn(&Self, i64) -> Changes,
    ) -> Option<i64> {
        let row = self.row;
        let mut found = nearest(start, range.clone(), digits, |number| {
            let changes = changes(self, number);
            self.value_with(row, &changes)
        })?;
        let mut upwards = None;
        for _ in 0..MAX_ROUNDS {
            let changed = changes(self, found);
            let Some(record) = self.contradicting(&changed) else { return Some(found) };
            if record.row != row {
                self.contradiction.get_or_insert(record.line);
            }
            let next = nearest(found, range.clone(), &record.digits, |number| {
                let changes = changes(self, number);
                self.value_with(record.row, &changes)
            })?;
            if upwards.replace(next > found).is_some_and(|upwards| upwards != (next > found)) {
                return None;
            }
            found = next;
        }
        None
    }

    /// Tries 0 for a resource that no file declares: the job may have an amount of it, but the formula gets 0.
    fn try_undeclared(&mut self, name: &str, digits: &str) -> Option<Explanation> {
        let slot = self.slot(name)?;
        let value = self.value_with(self.row, &vec![(slot, Value::Int(0))]);
        (logged(value) == digits).then(|| Explanation::Undeclared(name.to_owned()))
    }

    fn try_eligible_time(&mut self, seconds: i64, digits: &str) -> Option<Explanation> {
        let slot = self.slot(ELIGIBLE_TIME)?;
        let Value::Int(ours) = self.input(slot, self.row) else { return None };
        let then = ours.checked_add(seconds).filter(|&then| then >= 0)?;
        let value = self.value_with(self.row, &vec![(slot, Value::Int(then))]);
        (logged(value) == digits).then_some(Explanation::EligibleTime(seconds))
    }

    fn search_eligible_time(&mut self, digits: &str) -> Option<Explanation> {
        let slot = self.slot(ELIGIBLE_TIME)?;
        let row = self.row;
        let Value::Int(ours) = self.input(slot, row) else { return None };
        let found = nearest(ours, 0..=MAX_WHOLE, digits, |then| self.value_with(row, &vec![(slot, Value::Int(then))]))?;
        Some(Explanation::EligibleTime(found - ours))
    }

    fn search_input(&mut self, name: &str, digits: &str) -> Option<Explanation> {
        let slot = self.slot(name)?;
        let (row, ours) = (self.row, self.input(slot, self.row));
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
        let found = if FairshareInput::from_name(name).is_some() {
            self.nearest_for_all(start, range, digits, &|_, number| vec![(slot, scale.value(number))])?
        } else {
            nearest(start, range, digits, |number| self.value_with(row, &vec![(slot, scale.value(number))]))?
        };
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
