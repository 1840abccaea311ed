//! Searches the inputs of a job, one at a time, for a value that gives the digits in the log.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{EntityShares, NodeId, ShareTree};
use job_sort_formula::formula::program::Program;
use job_sort_formula::jobs::Column;
use job_sort_formula::python::Value;
use job_sort_formula::rank::{OnError, RowScorer, ScorePrecision, fairshare_number};
use job_sort_formula::schema::{FairshareInput, InputType, Origin, Range};

use crate::number_format::{self, logged};
use crate::replay::nearest::nearest;
use crate::replay::{NotCaptured, Objection, ReplayedQueue};
use crate::resource_amount::NumberMode;
use crate::share_tree::PbsTree;

/// The most additional decays that are tried.
const MAX_MORE_DECAYS: i32 = 32;
/// The most missing decays that are tried.
const MAX_FEWER_DECAYS: i32 = 8;
/// The greatest whole input that is tried.
const MAX_WHOLE: i64 = 1 << 53;
/// The most inputs that are listed as explanations of one record.
const MAX_INPUTS: usize = 16;
/// The usual number of steps in the search of a usage. A search begins only if their work is granted.
const USAGE_STEPS: u64 = 128;
/// The most records to whose digits one change is fitted in turn.
const MAX_ROUNDS: usize = 64;
/// The work of an evaluation besides that for the nodes of the formula.
const EVALUATION: u64 = 512;
/// The work for a node of a formula in one evaluation.
const FORMULA_NODE: u64 = 16;
/// The work for a node of a tree whose shares are computed.
const TREE_NODE: u64 = 128;
/// One search may spend this part of the work of all.
const PARTS: u64 = 8;

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
    /// Another formula gives the logged value.
    Formula {
        /// The source of the formula.
        origin: String,
        /// The formula.
        text: String,
    },
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
            Self::Formula { origin, .. } => write!(f, "the formula of {origin} gives it"),
        }
    }
}

/// What an explanation has in common with the explanations of other lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    EligibleTime(i64),
    Decayed(i32),
    Undeclared(String),
}

impl Explanation {
    /// `None` for what is tried for one line only.
    pub(super) fn key(&self) -> Option<Key> {
        match self {
            Self::EligibleTime(seconds) => Some(Key::EligibleTime(*seconds)),
            Self::Decayed(times) => Some(Key::Decayed(*times)),
            Self::Undeclared(name) => Some(Key::Undeclared(name.clone())),
            Self::Digits | Self::Usage { .. } | Self::Input { .. } | Self::NotWaiting(_) | Self::Formula { .. } => None,
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
#[derive(Default)]
pub(super) struct Records {
    list: Vec<Record>,
    hash: OnceCell<u64>,
    /// What changes of the fair-share numbers of the entity give all its values, searched when first needed.
    found: OnceCell<FoundForEntity>,
}

impl Records {
    pub(super) fn push(&mut self, record: Record) {
        self.list.push(record);
    }

    /// A hash of the rows and digits, computed once: every job of the entity asks for it.
    pub(super) fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.list.iter().for_each(|record| (record.row, &record.digits).hash(&mut hasher));
            hasher.finish()
        })
    }
}

/// The changes of the fair-share numbers of an entity that give all its values.
#[derive(Default, Clone)]
struct FoundForEntity {
    explanations: Vec<Explanation>,
    /// The line that contradicts a change which gives the others.
    contradiction: Option<usize>,
    /// Whether the search ended because its work was spent.
    is_cut_short: bool,
}

/// The work that all searches of a replay may do, about a nanosecond each.
pub(super) struct Work {
    granted: u64,
    left: Cell<u64>,
    /// What the search in progress leaves for the others.
    reserved: Cell<u64>,
    was_refused: Cell<bool>,
}

impl Work {
    pub(super) fn new(granted: u64) -> Self {
        Self { granted, left: Cell::new(granted), reserved: Cell::new(0), was_refused: Cell::new(false) }
    }

    /// Begins a search in a formula; `None` if no work is left.
    fn begin(&self, program: &Program) -> Option<()> {
        self.reserved.set(self.left.get().saturating_sub(self.granted / PARTS));
        self.was_refused.set(false);
        self.take(work_of_evaluation(program))
    }

    /// Whether the search in progress asked for more than it is granted.
    fn was_refused(&self) -> bool {
        self.was_refused.get()
    }

    /// Takes this much work; `None` if the search in progress may not do it.
    fn take(&self, work: u64) -> Option<()> {
        match self.left.get().checked_sub(work).filter(|&left| left >= self.reserved.get()) {
            Some(left) => self.left.set(left),
            None => {
                self.was_refused.set(true);
                return None;
            }
        }
        Some(())
    }
}

fn work_of_evaluation(program: &Program) -> u64 {
    EVALUATION + FORMULA_NODE * program.expr().nodes().len() as u64
}

/// What a search has found.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// What would give the digits, the most plausible first.
    pub(super) explanations: Vec<Explanation>,
    /// What is known if nothing explains the digits.
    pub(super) remark: Option<String>,
    /// Whether the search ended because its work was spent.
    pub(super) is_cut_short: bool,
}

impl Found {
    pub(super) fn explained(explanation: Explanation) -> Self {
        Self { explanations: vec![explanation], ..Self::default() }
    }
}

/// Searches the inputs of the jobs of one queue.
pub(super) struct Search<'a> {
    queue: ReplayedQueue<'a>,
    work: &'a Work,
    /// The formula, compiled against a schema that also declares the names in `undeclared`.
    program: Option<Program>,
    /// The names in the formula that no file declares.
    undeclared: Vec<String>,
    /// The shares of the entities after each number of decays, see [`shares_after_decays`]; computed when first needed.
    decayed: HashMap<i32, Vec<HashMap<NodeId, EntityShares>>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(queue: &ReplayedQueue<'a>, work: &'a Work) -> Self {
        let mut schema = queue.schema.clone();
        let missing = queue.formula.compile(&schema).map_or(Vec::new(), |program| {
            program.undefined().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        });
        for name in &missing {
            schema.add_seen(name, InputType::Count);
        }
        let program = queue.formula.compile(&schema).ok();
        let inputs = program.iter().flat_map(Program::inputs);
        let undeclared = inputs.filter(|name| schema.entry(name).is_some_and(|entry| entry.origin == Origin::Seen));
        let undeclared = undeclared.map(|name| name.to_string()).collect();
        Self { queue: *queue, work, program, undeclared, decayed: HashMap::new() }
    }

    /// Whether the formula uses fair-share numbers.
    pub(super) fn uses_fairshare(&self) -> bool {
        let names = self.program.iter().flat_map(Program::inputs);
        names.into_iter().any(|name| is_fairshare(name))
    }

    /// Searches everything that gives the digits by one change, the most plausible first. A change of fair-share numbers
    /// must give the digits of all `records`; if nothing explains the digits, the remark names the record that contradicts it.
    pub(super) fn explanations(&mut self, row: usize, digits: &str, records: &Records) -> Found {
        let Some(program) = self.program.take() else { return Found::default() };
        let found = self.explanations_in(&program, row, digits, records);
        self.program = Some(program);
        found.unwrap_or(Found { is_cut_short: true, ..Found::default() })
    }

    fn explanations_in(&mut self, program: &Program, row: usize, digits: &str, records: &Records) -> Option<Found> {
        self.work.begin(program)?;
        let mut job = JobInputs::new(program, &self.queue, self.work, row, records);
        let mut explanations = Vec::new();
        if self.queue.scores.get(row).is_some_and(|score| is_rounding(score.value, digits)) {
            explanations.push(Explanation::Digits);
        }
        let undeclared = self.undeclared.iter().filter_map(|name| job.try_undeclared(name, digits));
        explanations.extend(undeclared.take(MAX_INPUTS));
        explanations.extend(job.search_eligible_time(digits));
        explanations.extend(job.search_inputs(|name| name != ELIGIBLE_TIME && !is_fairshare(name), digits));
        let of_entity = match records.found.get() {
            Some(found) => found.clone(),
            None => {
                let found = self.search_fairshare(&mut job, digits);
                if !records.list.is_empty() {
                    records.found.get_or_init(|| found.clone());
                }
                found
            }
        };
        explanations.extend(of_entity.explanations);
        let is_cut_short = of_entity.is_cut_short || self.work.was_refused();
        let remark = of_entity.contradiction.map(|line| {
            let entity = self.queue.table.entity(row);
            format!(
                "another usage of `{entity}` would give it, but contradicts line {line}, of the same cycle and entity"
            )
        });
        Some(Found { explanations, remark, is_cut_short })
    }

    /// Searches changes of the fair-share numbers of the entity of a job.
    fn search_fairshare(&mut self, job: &mut JobInputs<'_, '_>, digits: &str) -> FoundForEntity {
        let mut explanations = self.search_decay(job, digits);
        explanations.extend(self.search_usage(job, digits));
        // the shares change less often than the usage
        explanations.extend(job.search_inputs(|name| is_fairshare(name) && !is_perc(name), digits));
        explanations.extend(job.search_inputs(is_perc, digits));
        let is_cut_short = self.work.was_refused();
        FoundForEntity { explanations, contradiction: job.contradiction, is_cut_short }
    }

    /// Tries what explained other lines.
    pub(super) fn try_common(&mut self, key: &Key, row: usize, digits: &str, records: &Records) -> Option<Explanation> {
        let program = self.program.take()?;
        let found = self.work.begin(&program).and_then(|()| {
            let mut job = JobInputs::new(&program, &self.queue, self.work, row, records);
            match key {
                Key::EligibleTime(seconds) => job.try_eligible_time(*seconds, digits),
                Key::Decayed(times) => self.try_decay(&mut job, *times, digits),
                Key::Undeclared(name) => job.try_undeclared(name, digits),
            }
        });
        self.program = Some(program);
        found
    }

    /// Searches every number of decays that explains the digits. The explanations of other jobs show which one it is.
    fn search_decay(&mut self, job: &mut JobInputs<'_, '_>, digits: &str) -> Vec<Explanation> {
        let times = (1..=MAX_MORE_DECAYS).chain((-MAX_FEWER_DECAYS..0).rev());
        times.filter_map(|times| self.try_decay(job, times, digits)).collect()
    }

    fn try_decay(&mut self, job: &mut JobInputs<'_, '_>, times: i32, digits: &str) -> Option<Explanation> {
        let tree = self.queue.tree.filter(|_| job.uses_fairshare() && self.queue.sources.usage.is_some())?;
        let entity = tree.tree().find(self.queue.table.entity(job.row))?;
        let queue = self.queue;
        if !self.decayed.contains_key(&times) {
            // two trees are built and computed
            self.work.take(tree_work(tree).saturating_mul(4))?;
            self.decayed.insert(times, shares_after_decays(&queue, tree, times));
        }
        let by_daemon = self.decayed.get(&times).into_iter().flatten();
        for shares in by_daemon.filter_map(|shares| shares.get(&entity)) {
            let changes = job.changes_to(shares);
            if logged(job.value_with(job.row, &changes)?) == digits && job.contradicting(&changes)?.is_none() {
                return Some(Explanation::Decayed(times));
            }
        }
        None
    }

    /// Searches another usage of the job's entity, which changes the whole tree.
    fn search_usage(&self, job: &mut JobInputs<'_, '_>, digits: &str) -> Option<Explanation> {
        let tree = self.queue.tree.filter(|_| job.uses_fairshare())?;
        // in a large tree, the search of one entity would leave nothing for the other jobs
        if tree_work(tree).saturating_mul(USAGE_STEPS) > self.work.granted / PARTS {
            return None;
        }
        // an infinite usage makes every sum above it infinite, whatever is added to it or taken away
        if !tree.tree().usage(tree.tree().root()).is_finite() {
            return None;
        }
        let entity = self.queue.table.entity(job.row);
        let node = tree.tree().find(entity)?;
        let ours = tree.tree().usage(node);
        let found = job.nearest_for_all(ours.round() as i64, 1..=MAX_WHOLE, digits, &|job, usage| {
            job.work.take(tree_work(tree))?;
            let mut changed = tree.tree().clone();
            changed.add_usage(node, usage as f64 - ours);
            let shares = self.queue.policy.assess(&changed).get(node).unwrap_or_default();
            Some(job.changes_to(&shares))
        })?;
        Some(Explanation::Usage { entity: entity.to_owned(), ours, logged: found as f64 })
    }

    /// The objection to an explanation: a file contradicts it, or the file that would confirm it is missing. `None` for
    /// what changes between the log and the files.
    pub(super) fn objection(&self, explanation: &Explanation, row: usize) -> Option<Objection> {
        let sources = self.queue.sources;
        match explanation {
            Explanation::EligibleTime(_) if !self.is_stated(ELIGIBLE_TIME, row) => {
                Some(Objection::NotCaptured(NotCaptured::EligibleTime))
            }
            Explanation::Usage { .. } => Some(self.objection_to_usage()),
            Explanation::Input { name, .. } => match (FairshareInput::from_name(name), &**name) {
                (Some(_), _) if self.queue.tree.is_none() => Some(Objection::ContradictedBy(sources.jobs.clone())),
                _ if is_perc(name) => {
                    Some(Objection::ContradictedBy(sources.tree.clone().unwrap_or_else(|| sources.jobs.clone())))
                }
                (Some(_), _) => Some(self.objection_to_usage()),
                // it changes while a job waits
                (None, "accrue_type") => None,
                (None, "queue_priority") if !self.is_stated(name, row) => match &sources.queues {
                    Some(file) => Some(Objection::ContradictedBy(file.clone())),
                    None => Some(Objection::NotCaptured(NotCaptured::Queues)),
                },
                (None, _) => Some(Objection::ContradictedBy(sources.jobs.clone())),
            },
            _ => None,
        }
    }

    fn objection_to_usage(&self) -> Objection {
        match &self.queue.sources.usage {
            Some(file) => Objection::ContradictedBy(file.clone()),
            None => Objection::NotCaptured(NotCaptured::Usage),
        }
    }

    /// Whether the document of the jobs gives this input to a job.
    fn is_stated(&self, name: &str, row: usize) -> bool {
        self.queue.table.column(name).is_some_and(|column| column.is_set(row))
    }
}

/// The work of computing the shares of all nodes.
fn tree_work(tree: &PbsTree) -> u64 {
    tree.tree().len() as u64 * TREE_NODE
}

/// The shares of the entities of jobs after a number of decays, twice: in a daemon that has read the decayed usage of the
/// entities from its file and summed it up, and in one that has decayed the usage of every node itself. A negative number
/// undoes decays; only the first daemon is then considered.
fn shares_after_decays(queue: &ReplayedQueue<'_>, tree: &PbsTree, times: i32) -> Vec<HashMap<NodeId, EntityShares>> {
    let reread = (queue.reread)(&|usage| after_decays(queue, usage, times));
    let mut trees: Vec<ShareTree> = reread.map(|reread| reread.tree().clone()).into_iter().collect();
    if times > 0 {
        let mut every_node = tree.tree().clone();
        every_node.decay_with(|usage| after_decays(queue, usage, times));
        trees.push(every_node);
    }
    let entities: Vec<NodeId> = queue.table.entities().iter().filter_map(|entity| tree.tree().find(entity)).collect();
    let shares_of_trees = trees.iter().map(|changed| {
        let shares = queue.policy.assess(changed);
        let shares_by_node =
            entities.iter().filter_map(|&node| Some((node, shares.get(changed.find(tree.tree().name(node))?)?)));
        shares_by_node.collect()
    });
    shares_of_trees.collect()
}

fn after_decays(queue: &ReplayedQueue<'_>, usage: f64, times: i32) -> f64 {
    match times {
        0.. => (0..times).fold(usage, |usage, _| queue.decay.step(usage)),
        _ if usage <= IntervalDecay::FLOOR => usage,
        _ => usage / (queue.decay.step(1e15) / 1e15).powi(-times),
    }
}

const ELIGIBLE_TIME: &str = "eligible_time";

fn is_fairshare(name: &str) -> bool {
    FairshareInput::from_name(name).is_some()
}

fn is_perc(name: &str) -> bool {
    FairshareInput::from_name(name) == Some(FairshareInput::Perc)
}

/// The inputs of one job, which are replaced to see how its value changes: one at a time, or all fair-share numbers.
struct JobInputs<'p, 'a> {
    scorer: RowScorer<'p>,
    program: &'p Program,
    queue: ReplayedQueue<'a>,
    /// The columns of the inputs; `None` if no job has an amount.
    columns: Vec<Option<&'a Column>>,
    work: &'a Work,
    /// The work of one evaluation, besides that for long integers.
    work_of_evaluation: u64,
    row: usize,
    /// The logged values that a change of fair-share numbers must give too.
    records: &'p Records,
    /// The line of the first record that contradicted a change.
    contradiction: Option<usize>,
}

/// Inputs to replace, by their positions among those of the program.
type Changes = Vec<(usize, Value)>;

impl<'p, 'a> JobInputs<'p, 'a> {
    fn new(program: &'p Program, queue: &ReplayedQueue<'a>, work: &'a Work, row: usize, records: &'p Records) -> Self {
        Self {
            scorer: RowScorer::with_work(program, ScorePrecision::Float32, OnError::ZeroLikePbs, work.left.get()),
            work,
            work_of_evaluation: work_of_evaluation(program),
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
        self.program.inputs().iter().any(|name| is_fairshare(name))
    }

    /// The value of a job with some inputs replaced; `None` if the work is spent.
    fn value_with(&mut self, row: usize, changes: &Changes) -> Option<f64> {
        self.work.take(self.work_of_evaluation)?;
        let mut inputs: Vec<Value> = (0..self.columns.len()).map(|slot| self.input(slot, row)).collect();
        for (slot, input) in changes {
            inputs[*slot] = input.clone();
        }
        let before = self.scorer.left()?;
        let value = self.scorer.score(&inputs);
        self.work.take(before - self.scorer.left().unwrap_or(0))?;
        self.scorer.left().map(|_| value)
    }

    /// The changes that give an entity these fair-share numbers.
    fn changes_to(&self, shares: &EntityShares) -> Changes {
        let names = self.program.inputs().iter().enumerate();
        let numbers = names.filter_map(|(slot, name)| Some((slot, FairshareInput::from_name(name)?)));
        numbers.map(|(slot, number)| (slot, NumberMode::OpenPbs.fairshare(fairshare_number(number, shares)))).collect()
    }

    /// The first record that the changes contradict; the outer `None`: the work is spent.
    fn contradicting(&mut self, changes: &Changes) -> Option<Option<&'p Record>> {
        let records = self.records;
        for record in &records.list {
            if logged(self.value_with(record.row, changes)?) != record.digits {
                return Some(Some(record));
            }
        }
        Some(None)
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
        changes: &dyn Fn(&Self, i64) -> Option<Changes>,
    ) -> Option<i64> {
        let row = self.row;
        let mut found = nearest(start, range.clone(), digits, |number| {
            let changes = changes(self, number)?;
            self.value_with(row, &changes)
        })?;
        let mut upwards = None;
        for _ in 0..MAX_ROUNDS {
            let changed = changes(self, found)?;
            let Some(record) = self.contradicting(&changed)? else { return Some(found) };
            if record.row != row {
                self.contradiction.get_or_insert(record.line);
            }
            let next = nearest(found, range.clone(), &record.digits, |number| {
                let changes = changes(self, number)?;
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
        let value = self.value_with(self.row, &vec![(slot, Value::Int(0))])?;
        (logged(value) == digits).then(|| Explanation::Undeclared(name.to_owned()))
    }

    fn try_eligible_time(&mut self, seconds: i64, digits: &str) -> Option<Explanation> {
        let slot = self.slot(ELIGIBLE_TIME)?;
        let Value::Int(ours) = self.input(slot, self.row) else { return None };
        let then = ours.checked_add(seconds).filter(|&then| then >= 0)?;
        let value = self.value_with(self.row, &vec![(slot, Value::Int(then))])?;
        (logged(value) == digits).then_some(Explanation::EligibleTime(seconds))
    }

    fn search_eligible_time(&mut self, digits: &str) -> Option<Explanation> {
        let slot = self.slot(ELIGIBLE_TIME)?;
        let row = self.row;
        let Value::Int(ours) = self.input(slot, row) else { return None };
        let found = nearest(ours, 0..=MAX_WHOLE, digits, |then| self.value_with(row, &vec![(slot, Value::Int(then))]))?;
        found.checked_sub(ours).map(Explanation::EligibleTime)
    }

    /// Searches the inputs with such a name, one at a time.
    fn search_inputs(&mut self, is_searched: impl Fn(&str) -> bool, digits: &str) -> Vec<Explanation> {
        let program = self.program;
        let mut found = Vec::new();
        for (slot, name) in program.inputs().iter().enumerate().filter(|(_, name)| is_searched(name)) {
            if self.work.was_refused() || found.len() == MAX_INPUTS {
                break;
            }
            found.extend(self.search_input(slot, name, digits));
        }
        found
    }

    fn search_input(&mut self, slot: usize, name: &str, digits: &str) -> Option<Explanation> {
        let row = self.row;
        let ours = self.input(slot, row);
        let entry = self.queue.schema.entry(name);
        let (scale, range) = match (FairshareInput::from_name(name), entry.map(|entry| entry.input_type), &ours) {
            (Some(_), ..) => (Scale::Millionths, 0..=1_000_000),
            (_, Some(InputType::Float), _) | (.., Value::Float(_)) => (Scale::FloatResource, -MAX_WHOLE..=MAX_WHOLE),
            _ => (Scale::Whole, whole_range(entry.map_or(Range::ANY, |entry| entry.range))),
        };
        let start = match &ours {
            Value::Int(integer) if scale == Scale::Whole => *integer,
            // a number beyond the range of an i64 becomes its bound, NaN becomes 0
            number => scale.number(number.to_f64()?),
        };
        let found = if FairshareInput::from_name(name).is_some() {
            self.nearest_for_all(start, range, digits, &|_, number| Some(vec![(slot, scale.value(number))]))?
        } else {
            nearest(start, range, digits, |number| self.value_with(row, &vec![(slot, scale.value(number))]))?
        };
        Some(Explanation::Input { name: name.to_owned(), ours: ours.repr(), logged: scale.value(found).repr() })
    }
}

fn whole_range(range: Range) -> RangeInclusive<i64> {
    let [least, most] =
        [range.least, range.most].map(|bound| bound.clamp(-(MAX_WHOLE as f64), MAX_WHOLE as f64) as i64);
    least..=most
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
