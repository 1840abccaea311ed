//! From wishes to a formula.

use std::ops::ControlFlow;

use job_sort_formula::formula::Template;
use jsf_site::Site;

use super::WishError;
use super::circle::shortest_circle;
use super::shorten::Kept;
use super::wish_fit::{WishFit, WishesMet};
use super::wish_list::Wishes;
use super::wish_search::search;
use super::wished_queue::{WishedQueue, count};
use crate::FittedConstant;

/// By how much a mean deviation from scores may grow for the sake of few digits: a part of the
/// median, which wrong scores hardly change, and of the scores.
const PART_OF_MEDIAN: f64 = 0.1;
const PART_OF_SCORES: f64 = 1e-9;

/// How constants are searched.
#[derive(Debug, Clone)]
pub struct WishOptions {
    /// The seed of a search; equal seeds give equal constants.
    pub seed: u64,
    /// How often a search ranks the jobs at most. Rounding takes some more.
    pub evaluations: usize,
}

impl Default for WishOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            evaluations: 4000,
        }
    }
}

/// How far a search has come.
#[derive(Debug, Clone, Copy)]
pub struct WishProgress {
    /// How often the jobs were ranked.
    pub evaluations: usize,
    /// The most wishes that were met.
    pub met: usize,
    /// The number of wishes.
    pub total: usize,
}

/// Finds the constants of a template that put the jobs of a site into a wished order. `progress` is
/// called after each ranking of the jobs, and may end the search; what was found until then is
/// returned.
///
/// # Errors
/// A wish is about a job that is unknown or is not considered, nothing is wished, or the jobs
/// cannot be ranked.
pub fn fit_wishes(
    site: &Site,
    template: &Template,
    wishes: &Wishes,
    options: &WishOptions,
    progress: &mut dyn FnMut(WishProgress) -> ControlFlow<()>,
) -> Result<WishFit, WishError> {
    let mut queue = WishedQueue::new(site, template, wishes, progress)?;
    let found = search(&mut queue, options);
    let values = short(&mut queue, &found);
    let parameters = parameters(&mut queue, &values);
    let conflict = shortest_circle(queue.wishes());
    queue.restore_all_jobs();
    let met = queue.met(&values);
    Ok(WishFit {
        formula: template.fill(&values),
        is_feasible: !met.contains(&false),
        parameters,
        wishes: wishes_met(&queue, &met, &conflict),
        evaluations: queue.evaluations,
        seed: options.seed,
        is_complete: !queue.is_interrupted,
    })
}

/// The constants with few digits, which meet the same wishes, or give jobs nearly the same
/// deviation from their scores.
fn short(queue: &mut WishedQueue<'_>, values: &[f64]) -> Vec<f64> {
    let met = queue.met(values);
    let mut deviations = queue.deviations();
    deviations.sort_by(f64::total_cmp);
    let mut most_deviation = None;
    if let Some(mean) = queue.mean_deviation() {
        let median = deviations[deviations.len() / 2];
        let mut largest = 0.0_f64;
        for (_, score) in &queue.wished.scores {
            largest = largest.max(score.abs());
        }
        most_deviation = Some(mean + PART_OF_MEDIAN * median + PART_OF_SCORES * largest);
    }
    let constants = queue.template.constants();
    let mut kept = Kept {
        queue,
        met,
        most_deviation,
    };
    let mut found = kept.with_starts(values, constants);
    if most_deviation.is_none() {
        found = kept.inside(&found, constants);
    }
    kept.shortened(&found, constants)
}

fn parameters(queue: &mut WishedQueue<'_>, values: &[f64]) -> Vec<FittedConstant> {
    let met = queue.met(values);
    let constants = queue.template.constants();
    let mut kept = Kept {
        queue,
        met,
        most_deviation: None,
    };
    let mut parameters = Vec::new();
    for (index, constant) in constants.iter().enumerate() {
        let ends = kept.range_of(index, values, constant);
        parameters.push(FittedConstant::new(constant, values[index], Some(ends)));
    }
    parameters
}

fn wishes_met(queue: &WishedQueue<'_>, met: &[bool], conflict: &[usize]) -> WishesMet {
    let mut violated = Vec::new();
    for (index, is_met) in met.iter().enumerate() {
        if !is_met {
            violated.push(queue.ids_of_wish(index));
        }
    }
    WishesMet {
        total: met.len(),
        met: count(met),
        violated,
        conflict: conflict
            .iter()
            .map(|&index| queue.ids_of_wish(index))
            .collect(),
        mean_deviation: queue.mean_deviation(),
    }
}
