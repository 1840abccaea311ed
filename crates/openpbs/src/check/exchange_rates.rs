//! What the inputs of a formula are worth in time of waiting, at the inputs of one job.

use job_sort_formula::rank::WorkBudget;
use job_sort_formula::rank::explain::{evaluate, nearest_double};
use job_sort_formula::schema::InputType;
use job_sort_formula::{Program, Schema, Value};
use serde::Serialize;

/// The input by which a job waits.
const WAITING: &str = "eligible_time";
/// The times over which the gain of a job by waiting is measured, in seconds: the first in which
/// there is one counts.
const WAITS: [f64; 2] = [3600.0, 86_400.0];
/// The relative difference between rates that are equal but for rounding.
const TOLERANCE: f64 = 1e-6;
/// The most inputs of a formula that has rates: each rate is compared at jobs that differ in each
/// input.
const MAX_INPUTS: usize = 64;

/// What an amount of an input is worth in time of waiting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExchangeRate {
    /// The name of the input.
    #[serde(rename = "input")]
    pub name: Box<str>,
    /// The amount, in the unit of the input: 1, an hour, a gibibyte, or a tenth of a ratio.
    pub amount: f64,
    /// The unit of the input.
    pub unit: Option<&'static str>,
    /// The time of waiting that raises the value as much, in seconds; negative if the amount lowers
    /// the value.
    pub wait: f64,
    /// Whether the rate is the same for jobs that differ in any one input, as far as that was
    /// tried.
    pub is_constant: bool,
}

/// The exchange rates of the inputs of a job, in the order of the program; none if its value does
/// not grow with waiting, or if the budget is spent.
pub fn exchange_rates(
    program: &Program,
    schema: &Schema,
    inputs: &[Value],
    budget: &mut WorkBudget,
) -> Vec<ExchangeRate> {
    let names = program.inputs();
    let Some(waiting) = program.slot(WAITING) else {
        return Vec::new();
    };
    if names.len() > MAX_INPUTS {
        return Vec::new();
    }
    let mut amounts = Vec::new();
    for name in names {
        amounts.push(amount(schema.input_type(name)));
    }
    let mut varied = VariedJob {
        program,
        amounts,
        waiting,
        budget,
    };
    let mut rates = Vec::new();
    for (slot, name) in names.iter().enumerate() {
        // the numbers of `accrue_type` are kinds, of which none is worth more than another
        if slot == waiting || **name == *"accrue_type" {
            continue;
        }
        if let Some(wait) = varied.worth(slot, inputs)
            && wait != 0.0
        {
            rates.push(ExchangeRate {
                name: name.clone(),
                amount: varied.amounts[slot],
                unit: schema.input_type(name).and_then(InputType::unit),
                wait,
                is_constant: varied.is_constant(slot, wait, inputs),
            });
        }
    }
    if budget.is_spent() { Vec::new() } else { rates }
}

/// The amount of an input whose worth is told.
fn amount(kind: Option<InputType>) -> f64 {
    match kind {
        Some(InputType::Ratio) => 0.1,
        Some(InputType::Duration) => 3600.0,
        // kilobytes
        Some(InputType::Size) => 1_048_576.0,
        _ => 1.0,
    }
}

/// A job of which one input at a time is varied.
struct VariedJob<'p, 'b> {
    program: &'p Program,
    /// By input.
    amounts: Vec<f64>,
    waiting: usize,
    budget: &'b mut WorkBudget,
}

impl VariedJob<'_, '_> {
    /// The time of waiting that the amount of an input is worth at these inputs; `None` if waiting
    /// gains nothing.
    fn worth(&mut self, slot: usize, inputs: &[Value]) -> Option<f64> {
        let value = self.value(inputs)?;
        let gained = WAITS.into_iter().find_map(|wait| {
            let waited = self.value(&changed(inputs, self.waiting, wait))?;
            Some((waited - value) / wait).filter(|gained| *gained > 0.0)
        })?;
        let amount = self.amounts[slot];
        // a ratio ends at 1
        let step = if amount < 1.0 && nearest_double(&inputs[slot])? + amount > 1.0 {
            -amount
        } else {
            amount
        };
        let difference = self.value(&changed(inputs, slot, step))? - value;
        finite(difference * step.signum() / gained)
    }

    /// Whether the worth is the same at jobs that differ in one input, by one amount and by many.
    fn is_constant(&mut self, slot: usize, worth: f64, inputs: &[Value]) -> bool {
        for other in 0..inputs.len() {
            let amount = self.amounts[other];
            let steps = if amount < 1.0 {
                [amount / 2.0, -amount / 2.0]
            } else {
                [amount, 100.0 * amount]
            };
            for step in steps {
                match self.worth(slot, &changed(inputs, other, step)) {
                    Some(there) if (there - worth).abs() <= TOLERANCE * worth.abs() => {}
                    _ => return false,
                }
            }
        }
        true
    }

    fn value(&mut self, inputs: &[Value]) -> Option<f64> {
        let value = evaluate(self.program, inputs, self.budget)?.ok()?;
        finite(nearest_double(&value)?)
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// The inputs with one of them increased.
fn changed(inputs: &[Value], slot: usize, by: f64) -> Vec<Value> {
    let mut changed = inputs.to_vec();
    changed[slot] = match &inputs[slot] {
        Value::Int(integer) if by.fract() == 0.0 => Value::Int(integer.saturating_add(by as i64)),
        other => Value::Float(nearest_double(other).unwrap_or(f64::NAN) + by),
    };
    changed
}
