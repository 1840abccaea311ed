//! The score of one job while one of its inputs varies.
//!
//! In: a program, the inputs of a job, and the name of the input that varies. Out: the scores at a
//! range of steps, or an [`Enclosure`] of all of them.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use job_sort_formula::formula::program::{ColumnarExecutor, LANES, Program};
use job_sort_formula::python::limits::FREE_WORK;
use job_sort_formula::python::{InputColumn, MAX_EXACT_FLOAT, Python, Value};
use job_sort_formula::rank::{OnError, RowScorer, ScorePrecision, WorkBudget, row_work};
use job_sort_formula::schema::{Range, Schema};
use jsf_lint::{Facts, Interval, Ranges, Slope, analyze_ranges, slope};
use jsf_openpbs::order::NotConsidered;

/// The greatest relative distance between the bounds of a slope that is constant except for the
/// margins of its analysis.
// each operation widens a slope by a few 1e-9, so that this allows hundreds of them
const SLOPE_MARGIN: f64 = 1e-6;
/// The relative distance between neighbours among C's floats, and the distance between the smallest
/// ones.
const FLOAT_SPACING: f64 = f32::EPSILON as f64;
const LEAST_FLOAT: f64 = 1.401_298_464_324_817e-45;

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
    scoring: Scoring<'p>,
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
    /// No score is less.
    pub least: f64,
    /// None is more.
    pub most: f64,
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
    pub fn new(scoring: Scoring<'p>, inputs: Vec<Value>, name: &str, steps_per_unit: f64) -> Self {
        let slot = scoring.program.slot(name);
        let mut sweep = Self::constant(scoring, inputs);
        match slot.map(|slot| &sweep.inputs[slot]) {
            Some(Value::Float(_)) => sweep.steps_per_unit = steps_per_unit,
            Some(Value::Int(_)) => {}
            _ => return sweep,
        }
        sweep.slot = slot;
        sweep
    }

    /// A job whose score does not vary.
    pub fn constant(scoring: Scoring<'p>, inputs: Vec<Value>) -> Self {
        Self {
            scoring,
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
        self.scoring.precision
    }

    /// Whether the threshold holds a job with this value back. A job without a value, which is
    /// minus infinity here, is ranked last.
    pub fn is_held_back(&self, value: f64, threshold: f64) -> bool {
        let ranks_errors_last = self.scoring.on_error == OnError::Null;
        NotConsidered::by_threshold(value, threshold, ranks_errors_last).is_some()
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
        let program = self.scoring.program;
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
        } = self.scoring;
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
        let program = self.scoring.program;
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
        Some(analyze_ranges(program.expr(), self.scoring.schema, &ranges))
    }

    /// The slope per step; `None` if it is not known, or an evaluation may fail.
    fn slope(&self, facts: &Facts) -> Option<Slope> {
        facts.result().number()?;
        let name = match self.slot {
            Some(slot) => &self.scoring.program.inputs()[slot],
            None => "",
        };
        let slope = slope(self.scoring.program.expr(), facts, name)?;
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
        budget.take(row_work(self.scoring.program) + FREE_WORK)?;
        self.scoring
            .program
            .interpreter(Python::with_work_limit(FREE_WORK))
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

/// The work of the analysis of a formula over a range of one input.
fn analysis_work(program: &Program) -> u64 {
    program.expr().nodes().len() as u64 * ANALYSED_NODE
}

#[cfg(test)]
mod tests {
    use job_sort_formula::rank::{OnError, ScorePrecision, WorkBudget};
    use job_sort_formula::{Formula, Schema, Value};

    use super::*;

    fn unlimited() -> WorkBudget {
        WorkBudget::new(u64::MAX)
    }

    #[test]
    fn scores_of_steps_equal_those_of_the_interpreter() {
        let schema = Schema::openpbs();
        let program = Formula::parse("fairshare_factor * 100 + ncpus")
            .unwrap()
            .compile(&schema)
            .unwrap();
        let scoring = Scoring {
            program: &program,
            schema: &schema,
            precision: ScorePrecision::Float32,
            on_error: OnError::ZeroLikePbs,
        };
        let sweep = Sweep::new(
            scoring,
            vec![Value::Float(0.123_456), Value::Int(4)],
            "fairshare_factor",
            1e6,
        );
        assert_eq!(sweep.input(1).unwrap().repr(), "0.123457");
        for (step, score) in (-500..=5000).zip(sweep.scores(-500..=5000, &mut unlimited()).unwrap())
        {
            let value = program
                .evaluate(&[sweep.input(step).unwrap(), Value::Int(4)])
                .unwrap();
            let Value::Float(value) = value else {
                panic!("{value:?}")
            };
            assert_eq!(f64::from(value as f32), score);
        }
    }

    #[test]
    fn an_integer_of_more_than_64_bits_does_not_vary() {
        let schema = Schema::openpbs();
        let formula = Formula::parse("eligible_time - 2 ** 70").unwrap();
        let program = formula.compile(&schema).unwrap();
        let scoring = Scoring {
            program: &program,
            schema: &schema,
            precision: ScorePrecision::Double,
            on_error: OnError::ZeroLikePbs,
        };
        let large = Value::from(num_bigint::BigInt::from(1) << 70);
        let sweep = Sweep::new(scoring, vec![large], "eligible_time", 1.0);
        assert_eq!(
            (sweep.steps_until(0.0, 1e30), sweep.input(5).is_none()),
            (0, true)
        );
        assert_eq!(sweep.scores(0..=2, &mut unlimited()), Some(vec![0.0; 3]));
    }

    #[test]
    fn a_formula_that_fails_for_every_job_has_the_value_of_the_error() {
        let schema = Schema::openpbs();
        let bounds = |text: &str, on_error| {
            let formula = Formula::parse(text).expect("a formula");
            let program = formula.compile(&schema).expect("a program");
            let scoring = Scoring {
                program: &program,
                schema: &schema,
                precision: ScorePrecision::Float32,
                on_error,
            };
            let inputs = vec![Value::Int(60); program.inputs().len()];
            let sweep = Sweep::new(scoring, inputs, "eligible_time", 1.0);
            let found = sweep.enclosure(0..=1_000_000, &mut WorkBudget::new(1 << 20));
            found.map(|found| (found.least, found.most))
        };
        let zero = Some((0.0, 0.0));
        assert_eq!(bounds("a * eligible_time", OnError::ZeroLikePbs), zero);
        assert_eq!(bounds("eligible_time / 0", OnError::ZeroLikePbs), zero);
        let last = Some((f64::NEG_INFINITY, f64::NEG_INFINITY));
        assert_eq!(bounds("a * eligible_time", OnError::Null), last);
        // it may fail, and a complex number is no exception
        assert_eq!(
            bounds("1 / (eligible_time - 70)", OnError::ZeroLikePbs),
            None
        );
        assert_eq!(
            bounds("(-1) ** 0.5 + 0 * eligible_time", OnError::ZeroLikePbs),
            None
        );
    }
}
