//! The score of one job while one of its inputs varies, and when it overtakes others: exactly, at
//! whole steps.
//!
//! In: a program, the inputs of jobs, and the name of the input that varies. Out: the scores at a
//! range of steps, or an [`Enclosure`] of all of them; the first step at which a job reaches a place,
//! or the steps at which two jobs change their order. Where bounds of the scores decide the order
//! over a range of steps, the range is not evaluated step by step; any other range is halved until it
//! is short.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use job_sort_formula::formula::program::{ColumnarExecutor, LANES, Program};
use job_sort_formula::python::limits::FREE_FUEL;
use job_sort_formula::python::{InputColumn, MAX_EXACT_FLOAT, Python, Value};
use job_sort_formula::rank::{OnError, RowScorer, ScorePrecision, WorkBudget, row_work};
use job_sort_formula::schema::{Range, Schema};
use jsf_lint::{Facts, Interval, Ranges, Slope, analyze_ranges, slope};

/// The greatest relative distance between the bounds of a slope that is constant except for the
/// margins of its analysis.
// each operation widens a slope by a few 1e-9, so that this allows hundreds of them
const SLOPE_MARGIN: f64 = 1e-6;
/// The relative distance between neighbours among C's floats, and the distance between the smallest
/// ones.
const FLOAT_SPACING: f64 = f32::EPSILON as f64;
const LEAST_FLOAT: f64 = 1.401_298_464_324_817e-45;

#[cfg(test)]
mod tests;

/// The work of the range and slope analysis of one part of a formula.
const ANALYSED_NODE: u64 = 192;

/// What the scores of all jobs depend on.
#[derive(Debug, Clone, Copy)]
pub struct Scoring<'p> {
    /// The formula.
    pub program: &'p Program,
    /// The names of its inputs.
    pub schema: &'p Schema,
    /// The precision of the scores.
    pub precision: ScorePrecision,
    /// The score of a job whose evaluation fails.
    pub on_error: OnError,
}

/// A job with one input that varies in steps, from the value that it has; the other inputs keep
/// their values.
#[derive(Debug, Clone)]
pub struct Sweep<'p> {
    rules: Scoring<'p>,
    inputs: Vec<Value>,
    /// The index of the input that varies; `None` if the formula does not read it.
    slot: Option<usize>,
    /// The number of steps between two integers.
    steps_per_unit: f64,
    /// 1, or -1 if the input decreases with the steps.
    direction: i64,
}

/// Bounds of the scores at a range of steps.
#[derive(Debug, Clone, Copy)]
pub struct Enclosure {
    least: f64,
    most: f64,
    steps: (f64, f64),
    middle: f64,
    /// The value of the formula at the middle step, and its slope per step; `None` if no slope is
    /// known.
    line: Option<(f64, Slope)>,
}

impl<'p> Sweep<'p> {
    /// A job whose input `name` varies. `inputs` are in the order of [`Program::inputs`]. An
    /// integer varies in steps of 1, a double in steps of `1 / steps_per_unit`; an integer that does
    /// not fit into 64 bits does not vary.
    pub fn new(rules: Scoring<'p>, inputs: Vec<Value>, name: &str, steps_per_unit: f64) -> Self {
        let slot = rules.program.slot(name);
        let mut sweep = Self::constant(rules, inputs);
        match slot.map(|slot| &sweep.inputs[slot]) {
            Some(Value::Float(_)) => sweep.steps_per_unit = steps_per_unit,
            Some(Value::Int(_)) => {}
            _ => return sweep,
        }
        sweep.slot = slot;
        sweep
    }

    /// A job whose score does not vary.
    pub fn constant(rules: Scoring<'p>, inputs: Vec<Value>) -> Self {
        Self {
            rules,
            inputs,
            slot: None,
            steps_per_unit: 1.0,
            direction: 1,
        }
    }

    /// The same job, whose input varies in the opposite direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            direction: -self.direction,
            ..self
        }
    }

    /// The number of steps up to which the input stays between these bounds; 0 if it does not vary.
    pub fn steps_until(&self, least: f64, most: f64) -> i64 {
        let Some(slot) = self.slot else { return 0 };
        let first = number(&self.inputs[slot]);
        let distance = if self.direction > 0 {
            most - first
        } else {
            first - least
        };
        // a float beyond the range of an `i64` becomes its bound
        (distance * self.steps_per_unit).floor().max(0.0) as i64
    }

    /// The precision of the scores.
    pub fn precision(&self) -> ScorePrecision {
        self.rules.precision
    }

    /// The value of the varying input after this number of steps; `None` if none varies.
    pub fn input(&self, step: i64) -> Option<Value> {
        let step = step.saturating_mul(self.direction);
        Some(match &self.inputs[self.slot?] {
            Value::Int(first) => Value::Int(first.saturating_add(step)),
            Value::Float(first) => {
                // on the grid a value is one quotient of whole numbers, so errors do not add up
                let first_step = (first * self.steps_per_unit).round();
                let is_on_grid = first_step / self.steps_per_unit == *first;
                let change = step as f64;
                Value::Float(if is_on_grid {
                    (first_step + change) / self.steps_per_unit
                } else {
                    first + change / self.steps_per_unit
                })
            }
            other => other.clone(),
        })
    }

    /// The scores at these steps; `None` if the budget is spent before they are known.
    pub fn scores(&self, steps: RangeInclusive<i64>, budget: &mut WorkBudget) -> Option<Vec<f64>> {
        // made for the first step that needs it: most are evaluated in columns
        let mut scorer = None;
        let Some(slot) = self.slot else {
            let score = self.interpreted(*steps.start(), &mut scorer, budget)?;
            return Some(steps.map(|_| score).collect());
        };
        let mut scores = Vec::new();
        // the inputs as columns of one value each, if all are exact as doubles
        let constants: Option<Vec<_>> = self.inputs.iter().map(constant_view).collect();
        let Some(constants) = constants else {
            for step in steps {
                scores.push(self.interpreted(step, &mut scorer, budget)?);
            }
            return Some(scores);
        };
        let program = self.rules.program;
        let mut executor = ColumnarExecutor::default();
        let all: Vec<i64> = steps.collect();
        for block in all.chunks(LANES) {
            budget.take(block.len() as u64 * program.lane_work())?;
            let mut integers = Vec::new();
            let mut floats = Vec::new();
            for &step in block {
                match self.input(step) {
                    Some(Value::Int(integer)) => integers.push(integer),
                    Some(value) => floats.push(number(&value)),
                    None => floats.push(0.0),
                }
            }
            let varying = if floats.is_empty() {
                InputColumn::I64(&integers)
            } else {
                InputColumn::F64(&floats)
            };
            let input = |index: usize| {
                let column = if index == slot {
                    &varying
                } else {
                    constants.get(index)?
                };
                Some(column.clone())
            };
            let results = executor.evaluate(program, &input, block.len());
            let first = scores.len();
            for &lane in results.lanes() {
                scores.push(self.precision().round(lane));
            }
            for lane in results.fallback_lanes() {
                scores[first + lane] = self.interpreted(block[lane], &mut scorer, budget)?;
            }
        }
        Some(scores)
    }

    /// The score at a step; `None` if the budget is spent.
    fn interpreted(
        &self,
        step: i64,
        scorer: &mut Option<RowScorer<'p>>,
        budget: &mut WorkBudget,
    ) -> Option<f64> {
        let Scoring {
            program,
            precision,
            on_error,
            ..
        } = self.rules;
        budget.take(row_work(program))?;
        let scorer = scorer.get_or_insert_with(|| {
            RowScorer::with_work(program, precision, on_error, budget.left())
        });
        let score = scorer.score(&self.inputs_at(step));
        budget.charge(scorer.work());
        // an evaluation that was cut short needs more than was left
        budget.take(if score.is_some() { 0 } else { u64::MAX })?;
        score
    }

    /// All inputs after this number of steps.
    fn inputs_at(&self, step: i64) -> Vec<Value> {
        let mut inputs = self.inputs.clone();
        if let (Some(slot), Some(value)) = (self.slot, self.input(step)) {
            inputs[slot] = value;
        }
        inputs
    }

    /// Bounds of the scores at these steps; `None` if no bounds are known, for instance because an
    /// evaluation may fail or the budget is spent.
    pub fn enclosure(
        &self,
        steps: RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> Option<Enclosure> {
        let first = *steps.start();
        let last = *steps.end();
        if self.slot.is_none() {
            return self.constant_enclosure(first, budget);
        }
        let facts = self.facts(first, last, budget)?;
        if facts.always_raises() {
            return self.constant_enclosure(first, budget);
        }
        let values = facts.result().number()?;
        let middle = first + (last - first) / 2;
        let slope = self.slope(&facts);
        Some(Enclosure {
            least: self.precision().round(values.low),
            most: self.precision().round(values.high),
            steps: (first as f64, last as f64),
            middle: middle as f64,
            line: slope.and_then(|slope| Some((self.value(middle, budget)?, slope))),
        })
    }

    /// Bounds of a score that is that of this step at all steps.
    fn constant_enclosure(&self, step: i64, budget: &mut WorkBudget) -> Option<Enclosure> {
        let score = self.scores(step..=step, budget)?.pop()?;
        // a NaN equals every score, so that bounds do not order it
        if score.is_nan() {
            return None;
        }
        let value = self.value(step, budget);
        Some(Enclosure {
            least: score,
            most: score,
            steps: (0.0, 0.0),
            middle: 0.0,
            line: value.map(|value| (value, Slope::CONSTANT)),
        })
    }

    /// The change of the value per step before rounding, if it is the same at all these steps.
    pub fn constant_slope(
        &self,
        steps: RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> Option<f64> {
        let slope = self.slope(&self.facts(*steps.start(), *steps.end(), budget)?)?;
        let is_constant = slope.most - slope.least <= slope.most.abs() * SLOPE_MARGIN;
        is_constant.then_some(slope.least)
    }

    /// What is known about the formula while the input varies between two steps; `None` if the
    /// budget is spent, or an input is no finite number.
    fn facts(&self, first: i64, last: i64, budget: &mut WorkBudget) -> Option<Facts> {
        let program = self.rules.program;
        budget.take(analysis_work(program))?;
        let mut ranges = Ranges::default();
        for (slot, (name, value)) in program.inputs().iter().zip(&self.inputs).enumerate() {
            let now = Interval::from_value(value)?;
            let interval = match (self.input(first), self.input(last)) {
                (Some(first), Some(last)) if self.slot == Some(slot) => {
                    let first = number(&first);
                    let last = number(&last);
                    Interval::new(now.kind(), first.min(last), first.max(last))
                }
                _ => now,
            };
            ranges.set(name, interval);
        }
        Some(analyze_ranges(program.expr(), self.rules.schema, &ranges))
    }

    /// The slope per step; `None` if it is not known, or an evaluation may fail.
    fn slope(&self, facts: &Facts) -> Option<Slope> {
        facts.result().number()?;
        let name = match self.slot {
            Some(slot) => &self.rules.program.inputs()[slot],
            None => "",
        };
        let slope = slope(self.rules.program.expr(), facts, name)?;
        if !slope.is_finite() {
            return None;
        }
        let slope = if self.direction > 0 {
            slope
        } else {
            slope.negated()
        };
        // a rounded input moves the value by up to the steepest slope
        let size = slope.least.abs().max(slope.most.abs());
        let input_error = match self.input(0) {
            // the input after a step is rounded
            Some(Value::Float(first)) => size * (first.abs() + 1.0) * 4.0 * f64::EPSILON,
            _ => 0.0,
        };
        Some(Slope {
            least: slope.least / self.steps_per_unit,
            most: slope.most / self.steps_per_unit,
            error: slope.error + input_error,
        })
    }

    /// The unrounded value of the formula after this number of steps; `None` if the evaluation
    /// fails or takes long.
    fn value(&self, step: i64, budget: &mut WorkBudget) -> Option<f64> {
        // all that it may take, since it is not known before
        budget.take(row_work(self.rules.program) + FREE_FUEL)?;
        self.rules
            .program
            .interpreter(Python::with_fuel(FREE_FUEL))
            .evaluate(&self.inputs_at(step))
            .ok()?
            .to_f64()
    }
}

impl Enclosure {
    /// How the scores of two jobs compare at every step of the range; `None` if that is not known.
    /// Both enclosures must be of the same steps.
    pub fn compare(&self, other: &Self, precision: ScorePrecision) -> Option<Ordering> {
        if self.least > other.most {
            return Some(Ordering::Greater);
        }
        if self.most < other.least {
            return Some(Ordering::Less);
        }
        if self.least == self.most && other.least == other.most {
            return Some(Ordering::Equal);
        }
        let (value, slope) = self.line?;
        let (other_value, other_slope) = other.line?;
        // the slope of a job that does not vary is 0, whatever the steps are
        let steps = if self.steps == (0.0, 0.0) {
            other
        } else {
            self
        };
        let least_slope = slope.least - other_slope.most;
        let most_slope = slope.most - other_slope.least;
        let back = steps.steps.0 - steps.middle;
        let ahead = steps.steps.1 - steps.middle;
        let change = Range::hull([
            least_slope * back,
            least_slope * ahead,
            most_slope * back,
            most_slope * ahead,
        ]);
        let size = [self.least, self.most, other.least, other.most]
            .into_iter()
            .map(f64::abs)
            .fold(0.0, f64::max);
        // each of the two scores is rounded by at most half a spacing
        let spacing = match precision {
            ScorePrecision::Float32 => size * FLOAT_SPACING + LEAST_FLOAT,
            _ => 0.0,
        };
        // twice the errors, as `Slope` says; the other term covers the rounding in this function
        let uncertainty = 2.0 * (slope.error + other_slope.error)
            + 8.0 * f64::EPSILON * (size + change.least.abs() + change.most.abs());
        let difference = value - other_value;
        if difference + change.least > uncertainty + spacing {
            Some(Ordering::Greater)
        } else if difference + change.most < -(uncertainty + spacing) {
            Some(Ordering::Less)
        } else {
            None
        }
    }
}

/// An input that does not vary, as a column; `None` if a double does not represent it exactly.
fn constant_view(value: &Value) -> Option<InputColumn<'static>> {
    let is_exact = match value {
        Value::Int(integer) => (*integer as f64).abs() < MAX_EXACT_FLOAT / 2.0,
        Value::Float(float) => float.is_finite(),
        _ => false,
    };
    is_exact.then(|| InputColumn::Same(value.clone()))
}

/// The nearest double of an input that varies.
fn number(value: &Value) -> f64 {
    match value {
        Value::Int(integer) => *integer as f64,
        Value::Float(float) => *float,
        // does not vary
        _ => 0.0,
    }
}

/// The number of steps that are evaluated one by one.
const SHORT_RANGE: i64 = 1024;
/// How often the work that some competitors did not need is shared among the others.
const ROUNDS: usize = 6;
/// The work that counts for a change that is kept, so that not more are kept than fit into memory.
const KEPT_CHANGE: u64 = 2048;

/// A job that competes with another one for its place.
#[derive(Debug, Clone)]
pub struct Competitor<'p> {
    /// Its scores.
    pub sweep: Sweep<'p>,
    /// Whether it is ahead if the scores are equal.
    pub wins_ties: bool,
}

impl Competitor<'_> {
    /// Whether it is ahead of a job; NaN equals every score.
    fn is_ahead(&self, own: f64, other: f64) -> bool {
        self.is_ahead_if(own.partial_cmp(&other).unwrap_or(Ordering::Equal))
    }

    fn is_ahead_if(&self, order: Ordering) -> bool {
        order.is_gt() || order.is_eq() && self.wins_ties
    }
}

/// A job, and the conditions under which it has reached its goal.
#[derive(Debug)]
pub struct Goal<'c, 'p> {
    /// The job.
    pub job: &'c Sweep<'p>,
    /// The jobs that it competes with.
    pub competitors: &'c [Competitor<'p>],
    /// Fewer than this many of them must be ahead of it.
    pub places: usize,
    /// Its score must exceed this.
    pub threshold: f64,
}

/// When a job reaches its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstStep {
    /// At this step for the first time.
    At(i64),
    /// At none of the steps.
    Never,
    /// The search was ended before it was known.
    Unknown,
}

/// The first step at which a job has reached its goal. The search ends when the budget is spent.
pub fn first_step(
    goal: &Goal<'_, '_>,
    steps: RangeInclusive<i64>,
    budget: &mut WorkBudget,
) -> FirstStep {
    if steps.is_empty() {
        return FirstStep::Never;
    }
    let competitors: Vec<_> = goal.competitors.iter().collect();
    goal.first_step(steps, 0, &competitors, budget)
}

impl<'p> Goal<'_, 'p> {
    /// The first step of a range at which the goal is reached. So many competitors are ahead in the
    /// whole range, and the others may be ahead in a part of it.
    fn first_step(
        &self,
        steps: RangeInclusive<i64>,
        mut ahead: usize,
        others: &[&Competitor<'p>],
        budget: &mut WorkBudget,
    ) -> FirstStep {
        let mut passes = false;
        let mut undecided = others.to_vec();
        if let Some(enclosure) = self.job.enclosure(steps.clone(), budget) {
            if enclosure.most <= self.threshold {
                return FirstStep::Never;
            }
            passes = enclosure.least > self.threshold;
            undecided.retain(|competitor| {
                // once no place is left, the others do not matter
                if ahead >= self.places {
                    return true;
                }
                let own = competitor.sweep.enclosure(steps.clone(), budget);
                let order = own.and_then(|own| own.compare(&enclosure, self.job.precision()));
                ahead += usize::from(order.is_some_and(|order| competitor.is_ahead_if(order)));
                order.is_none()
            });
        }
        // bounds may be missing for lack of work, which says nothing about the range
        if budget.is_spent() {
            return FirstStep::Unknown;
        }
        if ahead >= self.places {
            return FirstStep::Never;
        }
        let first = *steps.start();
        let last = *steps.end();
        if passes && ahead + undecided.len() < self.places {
            return FirstStep::At(first);
        }
        if last - first < SHORT_RANGE {
            let found = self.first_of_all(steps, ahead, &undecided, budget);
            return found.unwrap_or(FirstStep::Unknown);
        }
        // the sum of both could overflow
        let middle = first + (last - first) / 2;
        match self.first_step(first..=middle, ahead, &undecided, budget) {
            FirstStep::Never => self.first_step(middle + 1..=last, ahead, &undecided, budget),
            found => found,
        }
    }

    /// Evaluates the steps one by one; `None` if that takes more than the work that is left.
    fn first_of_all(
        &self,
        steps: RangeInclusive<i64>,
        ahead: usize,
        undecided: &[&Competitor<'p>],
        budget: &mut WorkBudget,
    ) -> Option<FirstStep> {
        let scores = self.job.scores(steps.clone(), budget)?;
        let mut ahead = vec![ahead; scores.len()];
        for competitor in undecided {
            let own = competitor.sweep.scores(steps.clone(), budget)?;
            for (index, ahead) in ahead.iter_mut().enumerate() {
                *ahead += usize::from(competitor.is_ahead(own[index], scores[index]));
            }
        }
        for (step, (ahead, score)) in steps.zip(ahead.into_iter().zip(scores)) {
            // OpenPBS holds back a value `<=` the threshold, which NaN is not
            if ahead < self.places && (score.is_nan() || score > self.threshold) {
                return Some(FirstStep::At(step));
            }
        }
        Some(FirstStep::Never)
    }
}

/// What a job is held against at every step: whether a competitor is ahead of it, or its score does
/// not exceed a threshold.
#[derive(Debug, Clone, Copy)]
pub enum Bar<'c, 'p> {
    Competitor(&'c Competitor<'p>),
    Threshold(f64),
}

impl Bar<'_, '_> {
    /// Whether it holds at each of these steps; `None` if that is not known.
    fn decide(
        self,
        job: &Sweep<'_>,
        steps: &RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> Option<bool> {
        match self {
            Self::Competitor(competitor) => {
                let own = competitor.sweep.enclosure(steps.clone(), budget)?;
                let job_enclosure = job.enclosure(steps.clone(), budget)?;
                let order = own.compare(&job_enclosure, job.precision())?;
                Some(competitor.is_ahead_if(order))
            }
            Self::Threshold(threshold) => {
                let scores = job.enclosure(steps.clone(), budget)?;
                let is_under = scores.most <= threshold;
                (is_under || scores.least > threshold).then_some(is_under)
            }
        }
    }

    /// Whether it holds at each step; `None` if the budget is spent.
    fn at_each(
        self,
        job: &Sweep<'_>,
        steps: &RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> Option<Vec<bool>> {
        let scores = job.scores(steps.clone(), budget)?;
        Some(match self {
            Self::Competitor(competitor) => {
                let own = competitor.sweep.scores(steps.clone(), budget)?;
                let pairs = own.into_iter().zip(scores);
                pairs
                    .map(|(own, score)| competitor.is_ahead(own, score))
                    .collect()
            }
            Self::Threshold(threshold) => {
                let scores = scores.into_iter();
                scores.map(|score| score <= threshold).collect()
            }
        })
    }
}

/// The steps at which a [`Bar`] begins to hold or no longer holds: first whether it holds at the
/// first step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossings {
    /// The steps, ascending, each with whether the bar holds from it on.
    pub changes: Vec<(i64, bool)>,
    /// The last step up to which the changes are known.
    pub known_until: i64,
}

/// The [`Crossings`] of a job with each of its competitors. Each search may do an equal part of the
/// work that is left, and what some do not need is shared among those that need more.
pub fn crossings(
    job: &Sweep<'_>,
    competitors: &[Competitor<'_>],
    steps: RangeInclusive<i64>,
    budget: &mut WorkBudget,
) -> Vec<Crossings> {
    let mut all = vec![Crossings::unknown(*steps.start()); competitors.len()];
    for _ in 0..ROUNDS {
        let is_open = |crossings: &Crossings| crossings.known_until < *steps.end();
        let open = all.iter().filter(|crossings| is_open(crossings)).count();
        let part = budget.left() / open.max(1) as u64;
        for (crossings, competitor) in all.iter_mut().zip(competitors) {
            if is_open(crossings) {
                let bar = Bar::Competitor(competitor);
                let mut own_budget = WorkBudget::new(part);
                crossings.continue_to(*steps.end(), job, bar, &mut own_budget);
                budget.charge(part - own_budget.left());
            }
        }
    }
    all
}

impl Crossings {
    /// No crossing is known from this step on.
    pub fn unknown(from: i64) -> Self {
        Self {
            changes: Vec::new(),
            known_until: from - 1,
        }
    }

    /// Adds the crossings up to the last step, or as far as the budget goes.
    pub fn continue_to(
        &mut self,
        last_step: i64,
        job: &Sweep<'_>,
        bar: Bar<'_, '_>,
        budget: &mut WorkBudget,
    ) {
        let mut ranges = vec![self.known_until + 1..=last_step];
        while let Some(steps) = ranges.pop() {
            let first = *steps.start();
            let last = *steps.end();
            let decided = bar.decide(job, &steps, budget);
            // `None` may also mean that the work was cut short
            if budget.is_spent() {
                break;
            }
            if let Some(holds) = decided {
                self.push(first, holds);
            } else if last - first >= SHORT_RANGE {
                let middle = first + (last - first) / 2;
                // the earlier half on top, because changes are added in order
                ranges.extend([middle + 1..=last, first..=middle]);
                continue;
            } else {
                let Some(holds) = bar.at_each(job, &steps, budget) else {
                    break;
                };
                let known = self.changes.len();
                for (step, holds) in steps.zip(holds) {
                    self.push(step, holds);
                }
                let kept = (self.changes.len() - known) as u64;
                if budget.take(kept * KEPT_CHANGE).is_none() {
                    self.changes.truncate(known);
                    break;
                }
            }
            self.known_until = last;
        }
    }

    fn push(&mut self, step: i64, holds: bool) {
        if self.changes.last().map(|&(_, last)| last) != Some(holds) {
            self.changes.push((step, holds));
        }
    }

    /// Whether the bar holds at a step.
    pub fn at(&self, step: i64) -> bool {
        let known = self.changes.partition_point(|(from, _)| *from <= step);
        self.changes[..known]
            .last()
            .is_some_and(|&(_, holds)| holds)
    }
}

/// The work of the analysis of a formula over a range of one input.
fn analysis_work(program: &Program) -> u64 {
    program.expr().nodes().len() as u64 * ANALYSED_NODE
}
