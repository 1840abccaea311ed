//! What may explain the values of a cycle that differ: another formula, another moment of
//! `eligible_time`, or of all usage.

use std::collections::HashMap;

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{EntityShares, NodeId, ShareTree};
use job_sort_formula::python::Value;
use job_sort_formula::rank::{OnError, RowScorer, ScorePrecision, fairshare_number};
use job_sort_formula::schema::FairshareInput;

use super::{Explanation, NotCaptured, OtherFormula, ReplayedQueue};
use crate::number_format::logged;
use crate::resource_amount::NumberMode;
use crate::share_tree::PbsTree;

/// The most additional decays that are tried.
const MAX_MORE_DECAYS: i32 = 32;
/// The most missing decays that are tried.
const MAX_FEWER_DECAYS: i32 = 8;
/// The most lines of a cycle to which a hypothesis is fitted; it is then tried for all of them.
const SAMPLE: usize = 16;
/// The longest change of `eligible_time`, in seconds.
const MAX_SHIFT: i64 = 1 << 31;
/// After so many cycles that nothing explains, only the formulas are tried: the log is of something
/// else.
const MAX_UNEXPLAINED: usize = 4096;
/// The work of all evaluations beyond that which is free, in words: some seconds.
const WORK: u64 = 1 << 30;
const ELIGIBLE_TIME: &str = "eligible_time";
const QUEUE_PRIORITY: &str = "queue_priority";

/// What may explain the lines of a cycle.
#[derive(Debug, Clone, Copy)]
pub enum Hypothesis<'a> {
    /// The formula is this one.
    Formula(&'a OtherFormula),
    /// `eligible_time` is that of so many seconds later.
    EligibleTime(i64),
    /// The usage is that of one of the trees that [`Hypotheses::decayed`] has.
    Decayed(usize),
}

/// A logged value that is compared: the row of its job, and its digits.
pub type Digits<'l> = (usize, &'l str);

/// Tries what may explain the values of a log.
pub struct Hypotheses<'a> {
    queue: ReplayedQueue<'a>,
    scorer: RowScorer<'a>,
    /// The number of decays, and the shares of the entities after them; filled when first needed.
    decayed: Vec<(i32, HashMap<NodeId, EntityShares>)>,
    /// The time in the log at which `eligible_time` was that of the queue, from the latest cycle
    /// that shows it.
    same_moment: Option<i64>,
    unexplained: usize,
}

impl<'a> Hypotheses<'a> {
    pub fn new(queue: &ReplayedQueue<'a>) -> Self {
        let (precision, on_error) = (ScorePrecision::Float32, OnError::ZeroLikePbs);
        Self {
            queue: *queue,
            scorer: RowScorer::with_work(queue.program, precision, on_error, WORK),
            decayed: Vec::new(),
            same_moment: None,
            unexplained: 0,
        }
    }

    /// What explains more than half of the lines of a cycle that differ, the best first. `time` is
    /// that of the cycle; all lines are those of jobs with a score.
    pub fn of_cycle(
        &mut self,
        time: Option<i64>,
        all: &[Digits<'_>],
        different: &[Digits<'_>],
    ) -> Vec<Hypothesis<'a>> {
        if different.is_empty() {
            return Vec::new();
        }
        if let Some(other) = self.other_formula(all, different) {
            return vec![Hypothesis::Formula(other)];
        }
        if self.unexplained >= MAX_UNEXPLAINED {
            return Vec::new();
        }
        let sample = &different[..different.len().min(SAMPLE)];
        let mut found = Vec::new();
        if let Some((given, seconds)) = self.shift(time, different) {
            self.same_moment = time.map(|time| time.saturating_sub(seconds));
            found.push((given, Hypothesis::EligibleTime(seconds)));
        }
        self.fill_decayed();
        let decayed = self.best_of(0..self.decayed.len(), sample, Hypothesis::Decayed);
        if let Some((given, index)) = decayed {
            found.push((given, Hypothesis::Decayed(index)));
        }
        self.unexplained += usize::from(found.is_empty());
        found.sort_by_key(|(given, _)| std::cmp::Reverse(*given));
        found.into_iter().map(|(_, found)| found).collect()
    }

    /// What explains the digits of a job by a hypothesis; `None` if it does not give them. For
    /// `eligible_time`, the exact number of seconds with which it does, as the server computes the
    /// times of a cycle's jobs one after the other.
    pub fn explain(
        &mut self,
        hypothesis: Hypothesis<'a>,
        (row, digits): Digits<'_>,
    ) -> Option<Explanation> {
        match hypothesis {
            Hypothesis::Formula(other) if other.gives(row, digits) => {
                return Some(Explanation::Formula {
                    origin: other.origin.clone(),
                    text: other.text.clone(),
                });
            }
            Hypothesis::Formula(_) => {}
            Hypothesis::EligibleTime(seconds) => {
                for more in [0, 1, -1] {
                    let seconds = seconds.saturating_add(more);
                    if let Some(value) = self.value_after(row, seconds)
                        && logged(value) == digits
                    {
                        return Some(Explanation::EligibleTime(seconds));
                    }
                }
            }
            Hypothesis::Decayed(index) => {
                let entity = self.queue.tree?.tree().find(self.queue.table.entity(row))?;
                let (times, of_entities) = &self.decayed[index];
                let (times, shares) = (*times, *of_entities.get(&entity)?);
                let value = self.value_with(row, |name| {
                    let input = FairshareInput::from_name(name)?;
                    Some(NumberMode::OpenPbs.fairshare(fairshare_number(input, &shares)))
                })?;
                if logged(value) == digits {
                    return Some(Explanation::Decayed(times));
                }
            }
        }
        None
    }

    /// A file that the site lacks, so that an input of this job is not known.
    pub fn not_captured(&self, row: usize) -> Option<NotCaptured> {
        if self.queue.tree.is_some() && !self.queue.has_usage && self.uses_fairshare() {
            Some(NotCaptured::Usage)
        } else if !self.queue.has_queues && self.lacks(QUEUE_PRIORITY, row) {
            Some(NotCaptured::Queues)
        } else if self.lacks(ELIGIBLE_TIME, row) {
            Some(NotCaptured::EligibleTime)
        } else {
            None
        }
    }

    /// Whether the formula reads an input that a job does not have.
    fn lacks(&self, name: &str, row: usize) -> bool {
        let column = self.queue.table.column(name);
        self.reads(name) && !column.is_some_and(|column| column.is_set(row))
    }

    fn reads(&self, name: &str) -> bool {
        let mut inputs = self.queue.program.inputs().iter();
        inputs.any(|input| **input == *name)
    }

    /// The other formula that gives most values of a cycle, and more than the one that is compared.
    fn other_formula(
        &self,
        all: &[Digits<'_>],
        different: &[Digits<'_>],
    ) -> Option<&'a OtherFormula> {
        self.queue.others.iter().find(|other| {
            let mut given = 0;
            for (row, digits) in all {
                given += usize::from(other.gives(*row, digits));
            }
            2 * given > all.len() && given > all.len() - different.len()
        })
    }

    /// The change of `eligible_time` of a cycle, and how many of some lines it gives.
    fn shift(&mut self, time: Option<i64>, different: &[Digits<'_>]) -> Option<(usize, i64)> {
        if !self.reads(ELIGIBLE_TIME) {
            return None;
        }
        let mut counted = different[..different.len().min(SAMPLE)].to_vec();
        let mut found = None;
        if let (Some(time), Some(same)) = (time, self.same_moment) {
            found = self.best_shift(vec![time.saturating_sub(same)], &counted);
        }
        if found.is_none() {
            let mut nearest = Vec::new();
            for line in &counted {
                nearest.extend(self.nearest_shift(*line));
            }
            found = self.best_shift(nearest, &counted);
        }
        // where digits allow several moments, a line has the nearest one, and the farthest of them
        // is that of all
        let (_, seconds) = found?;
        let mut candidates = vec![seconds];
        let hypothesis = Hypothesis::EligibleTime(seconds);
        for &line in different {
            if candidates.len() <= SAMPLE && self.explain(hypothesis, line).is_none() {
                counted.push(line);
                candidates.extend(self.nearest_shift(line));
            }
        }
        self.best_shift(candidates, &counted).or(found)
    }

    fn best_shift(
        &mut self,
        mut candidates: Vec<i64>,
        lines: &[Digits<'_>],
    ) -> Option<(usize, i64)> {
        candidates.sort_unstable_by_key(|seconds| (seconds.unsigned_abs(), *seconds));
        candidates.dedup();
        self.best_of(candidates, lines, Hypothesis::EligibleTime)
    }

    /// The first candidate whose hypothesis gives the most lines, if those are more than half, and
    /// their number.
    fn best_of<T: Copy>(
        &mut self,
        candidates: impl IntoIterator<Item = T>,
        lines: &[Digits<'_>],
        hypothesis: fn(T) -> Hypothesis<'a>,
    ) -> Option<(usize, T)> {
        let mut best: Option<(usize, T)> = None;
        for candidate in candidates {
            let mut given = 0;
            for line in lines {
                given += usize::from(self.explain(hypothesis(candidate), *line).is_some());
            }
            if 2 * given > lines.len() && best.is_none_or(|(most, _)| given > most) {
                best = Some((given, candidate));
            }
        }
        best
    }

    /// The smallest change of `eligible_time` that gives the digits of a job, at distances that
    /// double and then halve: values rise or fall with the time.
    fn nearest_shift(&mut self, (row, digits): Digits<'_>) -> Option<i64> {
        let target: f64 = digits.parse().ok()?;
        let is_below = self.value_after(row, 0)? < target;
        let mut found: Vec<i64> = Vec::new();
        for direction in [1, -1] {
            let mut is_reached = |seconds: i64| match self.value_after(row, direction * seconds) {
                Some(value) => (value < target) != is_below || logged(value) == digits,
                // a time that cannot be is beyond the one that is looked for
                None => true,
            };
            let (mut near, mut far) = (0, 1);
            while far < MAX_SHIFT && !is_reached(far) {
                (near, far) = (far, 2 * far);
            }
            while far - near > 1 {
                let middle = i64::midpoint(near, far);
                if is_reached(middle) {
                    far = middle
                } else {
                    near = middle
                }
            }
            if let Some(value) = self.value_after(row, direction * far)
                && logged(value) == digits
            {
                found.push(direction * far);
            }
        }
        let found = found.into_iter();
        found.min_by_key(|seconds| seconds.unsigned_abs())
    }

    /// The value of a job so many seconds later; `None` if its `eligible_time` is not known, or
    /// would be negative.
    fn value_after(&mut self, row: usize, seconds: i64) -> Option<f64> {
        let column = self.queue.table.column(ELIGIBLE_TIME)?;
        let Value::Int(now) = column.value(row) else {
            return None;
        };
        if !column.is_set(row) {
            return None;
        }
        let then = now.checked_add(seconds)?;
        if then < 0 {
            return None;
        }
        self.value_with(row, |name| match name {
            ELIGIBLE_TIME => Some(Value::Int(then)),
            _ => None,
        })
    }

    /// The value of a job of which some inputs are replaced; `None` if the work is spent.
    fn value_with(&mut self, row: usize, replaced: impl Fn(&str) -> Option<Value>) -> Option<f64> {
        let mut inputs = Vec::new();
        for name in self.queue.program.inputs() {
            let column = self.queue.table.column(name);
            inputs.push(match (replaced(name), column) {
                (Some(value), _) => value,
                (None, Some(column)) => column.value(row),
                (None, None) => Value::Int(0),
            });
        }
        self.scorer.score(&inputs)
    }

    fn uses_fairshare(&self) -> bool {
        let mut inputs = self.queue.program.inputs().iter();
        inputs.any(|name| FairshareInput::from_name(name).is_some())
    }

    /// Computes the shares of the entities of jobs after each number of decays: in a daemon that
    /// has read the decayed usage of the entities from its file and summed it up, and in one that
    /// has decayed the usage of every node itself.
    fn fill_decayed(&mut self) {
        let Some(tree) = self.queue.tree else { return };
        if !self.uses_fairshare() || !self.queue.has_usage || !self.decayed.is_empty() {
            return;
        }
        for times in (1..=MAX_MORE_DECAYS).chain((-MAX_FEWER_DECAYS..0).rev()) {
            let decayed = |usage| after_decays(&self.queue.decay, usage, times);
            let mut trees = Vec::new();
            trees.extend((self.queue.reread)(&decayed).map(PbsTree::into_tree));
            if times > 0 {
                let mut every_node = tree.tree().clone();
                every_node.decay_with(decayed);
                trees.push(every_node);
            }
            for changed in &trees {
                let shares = shares_of_entities(&self.queue, tree, changed);
                self.decayed.push((times, shares));
            }
        }
    }
}

/// The shares that a changed tree gives to the entities of the jobs, by their nodes in the tree of
/// the queue.
fn shares_of_entities(
    queue: &ReplayedQueue<'_>,
    tree: &PbsTree,
    changed: &ShareTree,
) -> HashMap<NodeId, EntityShares> {
    let shares = queue.policy.assess(changed);
    let mut of_entities = HashMap::new();
    for entity in queue.table.entities() {
        if let Some(node) = tree.tree().find(entity)
            && let Some(same) = changed.find(tree.tree().name(node))
            && let Some(shares) = shares.get(same)
        {
            of_entities.insert(node, shares);
        }
    }
    of_entities
}

fn after_decays(decay: &IntervalDecay, usage: f64, times: i32) -> f64 {
    match times {
        0.. => (0..times).fold(usage, |usage, _| decay.step(usage)),
        _ if usage <= IntervalDecay::FLOOR => usage,
        _ => usage / (decay.step(1e15) / 1e15).powi(-times),
    }
}
