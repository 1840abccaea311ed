//! Which inputs put a job where it is: how much each contributes to its value, and the places that it
//! gains or loses with the values of other jobs.

use std::cmp::Reverse;

use job_sort_formula::rank::explain::{self, evaluate, nearest_double};
use job_sort_formula::rank::{WorkBudget, higher_first};
use job_sort_formula::schema::FairshareInput;
use job_sort_formula::{Program, Value};
use jsf_openpbs::order::Competition;
use serde::Serialize;

use crate::rank::explanation::{Evaluation, Explainer};
use crate::rank::race::Race;

/// With which jobs the inputs of a job are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// The jobs just ahead.
    Ahead,
    /// The median of the considered jobs.
    Median,
    /// The jobs just behind.
    Behind,
}

/// An input that moves a job if it has the value of other jobs instead of its own, while nothing
/// else changes.
#[derive(Debug, Clone, Serialize)]
pub struct Cause {
    /// The inputs: one, or all fair-share inputs of the formula together.
    pub inputs: Vec<String>,
    /// The values of the job.
    pub values: Vec<Value>,
    /// With which jobs it is compared.
    pub against: Against,
    /// The places that it gains with their values, added up over these jobs; negative if it loses
    /// places.
    pub gained: i64,
    /// The values of these jobs, each with the row of the job, if it is one, and the rank that it
    /// gives.
    pub others: Vec<OtherValues>,
}

/// The inputs of another job, and what they would do to a job.
#[derive(Debug, Clone, Serialize)]
pub struct OtherValues {
    /// The row of the other job; `None` for the medians.
    #[serde(skip)]
    pub row: Option<usize>,
    /// Its id.
    pub job: Option<String>,
    /// The values.
    pub values: Vec<Value>,
    /// The value of the formula with them minus that of the job.
    #[serde(skip)]
    pub effect: f64,
    /// The rank that the job would have with them.
    pub rank: usize,
}

/// How much an input contributes to the value of a job, against the median of the queue.
#[derive(Debug, Clone, Serialize)]
pub struct Influence {
    /// The inputs: one, or all fair-share inputs of the formula together.
    pub inputs: Vec<String>,
    /// The values of the job.
    pub values: Vec<Value>,
    /// The medians of the considered jobs.
    pub medians: Vec<Value>,
    /// The value of the job minus what it would be with the medians.
    pub effect: f64,
}

impl Explainer<'_> {
    /// How much each input contributes to the value of a job, the largest contribution first, as far
    /// as the budget goes. `value` is that of the job.
    pub fn influences(
        &self,
        own: &Evaluation,
        value: f64,
        budget: &mut WorkBudget,
    ) -> Vec<Influence> {
        let program = &self.ranked.program;
        let mut influences = Vec::new();
        for group in groups(program) {
            // an evaluation with the medians that fails says nothing about the input, and neither
            // does the difference of two infinities
            if let Some(other) = exchanged(program, &own.inputs, &self.medians, &group, budget)
                && !(value - other).is_nan()
            {
                influences.push(Influence {
                    inputs: names_of(program, &group),
                    values: of_group(&own.inputs, &group),
                    medians: of_group(&self.medians, &group),
                    effect: value - other,
                });
            }
        }
        influences.sort_by(|left, right| right.effect.abs().total_cmp(&left.effect.abs()));
        influences
    }

    /// The inputs that move the job if it has the values of the jobs just ahead, of the jobs just
    /// behind, or the medians.
    pub fn causes(
        &self,
        race: &Race<'_>,
        own: &Evaluation,
        value: f64,
        budget: &mut WorkBudget,
    ) -> Vec<Cause> {
        let program = &self.ranked.program;
        let mut causes = Vec::new();
        let Some(rank) = self.rank(race.row) else {
            return causes;
        };
        let [ahead, behind] = self.near(rank);
        for (against, compared) in [
            (Against::Ahead, self.compared_inputs(&ahead)),
            (Against::Median, vec![(None, self.medians.clone())]),
            (Against::Behind, self.compared_inputs(&behind)),
        ] {
            for group in groups(program) {
                let mut others = Vec::new();
                let mut gained = 0;
                for (row, values) in &compared {
                    let changed = exchanged(program, &own.inputs, values, &group, budget);
                    if let Some(changed) = changed
                        && let Some(new_rank) = self.rank_with(changed, &race.competition)
                    {
                        gained += rank as i64 - new_rank as i64;
                        others.push(OtherValues {
                            row: *row,
                            job: row.map(|row| self.ranked.table.id(row).to_owned()),
                            values: of_group(values, &group),
                            effect: changed - value,
                            rank: new_rank,
                        });
                    }
                }
                if budget.is_spent() {
                    // some of the others are missing
                    break;
                }
                if gained != 0 {
                    causes.push(Cause {
                        inputs: names_of(program, &group),
                        values: of_group(&own.inputs, &group),
                        against,
                        gained,
                        others,
                    });
                }
            }
        }
        causes.sort_by_key(|cause| Reverse(cause.gained.abs()));
        causes
    }

    /// The inputs of jobs, each with its row.
    fn compared_inputs(&self, rows: &[usize]) -> Vec<(Option<usize>, Vec<Value>)> {
        let mut compared = Vec::new();
        for &row in rows {
            if let Some(inputs) = explain::inputs(&self.ranked.program, &self.ranked.table, row) {
                compared.push((Some(row), inputs));
            }
        }
        compared
    }

    /// The rank of a job with another value; `None` if it has none.
    fn rank_with(&self, value: f64, competition: &Competition) -> Option<usize> {
        let value = self.site.precision().round(value);
        let competitors = &competition.competitors;
        let mut ahead = competitors.len();
        if value > competition.threshold {
            let scores = self.ranked.ranking.scores();
            ahead = competitors.partition_point(|&(other, wins_ties)| {
                let order = scores
                    .get(other)
                    .map(|other| higher_first(other.value, value));
                order.is_some_and(|order| order.is_lt() || order.is_eq() && wins_ties)
            });
        }
        competition.rank(ahead)
    }
}

/// The inputs, by index: each alone, but all fair-share inputs together, since they change
/// together.
fn groups(program: &Program) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    let mut fairshare = Vec::new();
    for (index, name) in program.inputs().iter().enumerate() {
        match FairshareInput::from_name(name) {
            Some(_) => fairshare.push(index),
            None => groups.push(vec![index]),
        }
    }
    if !fairshare.is_empty() {
        groups.push(fairshare);
    }
    groups
}

/// The value of a job with some inputs, given by index, of another one; `None` if the evaluation
/// fails or the budget is spent.
fn exchanged(
    program: &Program,
    own: &[Value],
    other: &[Value],
    inputs: &[usize],
    budget: &mut WorkBudget,
) -> Option<f64> {
    let mut changed = own.to_vec();
    for &index in inputs {
        changed[index] = other[index].clone();
    }
    nearest_double(&evaluate(program, &changed, budget)?.ok()?)
}

/// The values of a group of inputs.
fn of_group(values: &[Value], group: &[usize]) -> Vec<Value> {
    group.iter().map(|&index| values[index].clone()).collect()
}

/// The names of a group of inputs.
fn names_of(program: &Program, group: &[usize]) -> Vec<String> {
    let names = group
        .iter()
        .map(|&index| program.inputs()[index].to_string());
    names.collect()
}
