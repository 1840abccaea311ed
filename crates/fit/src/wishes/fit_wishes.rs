//! From wishes to a formula.

use std::ops::ControlFlow;

use job_sort_formula::JobTable;
use job_sort_formula::formula::Template;
use jsf_site::Site;

use super::circle::shortest_circle;
use super::shorten::{inside, range_of, shortened, with_starts};
use super::wish_fit::{WishFit, WishesMet};
use super::wish_list::Wishes;
use super::wish_search::search;
use super::wished_queue::{WishedQueue, count};
use super::{Wish, WishError};
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
        is_feasible: met.iter().all(|is_met| *is_met),
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
    let median = deviations
        .get(deviations.len() / 2)
        .copied()
        .unwrap_or_default();
    let largest = queue
        .wished
        .scores
        .iter()
        .map(|(_, score)| score.abs())
        .fold(0.0, f64::max);
    let most = queue
        .mean_deviation()
        .map(|mean| mean + PART_OF_MEDIAN * median + PART_OF_SCORES * largest);
    let constants = queue.template.constants();
    let is_good = &mut |values: &[f64]| keeps(queue, values, &met, most);
    let mut found = with_starts(values, constants, is_good);
    if most.is_none() {
        found = inside(&found, constants, is_good);
    }
    shortened(&found, constants, is_good)
}

/// Whether constants meet these wishes at least, and deviate from the scores by at most this much.
/// Nothing is tried after an interruption.
fn keeps(queue: &mut WishedQueue<'_>, values: &[f64], met: &[bool], most: Option<f64>) -> bool {
    if queue.is_interrupted {
        return false;
    }
    let is_met = queue
        .met(values)
        .into_iter()
        .zip(met)
        .all(|(is_met, was_met)| is_met || !was_met);
    is_met
        && most.is_none_or(|most| {
            queue
                .mean_deviation()
                .is_some_and(|deviation| deviation <= most)
        })
}

fn parameters(queue: &mut WishedQueue<'_>, values: &[f64]) -> Vec<FittedConstant> {
    let met = queue.met(values);
    let constants = queue.template.constants();
    let mut is_good = |values: &[f64]| keeps(queue, values, &met, None);
    let parameter = |index: usize| {
        let (low, high) = range_of(index, values, &constants[index], &mut is_good);
        FittedConstant::new(&constants[index], values[index], Some([low, high]))
    };
    (0..constants.len()).map(parameter).collect()
}

fn wishes_met(queue: &WishedQueue<'_>, met: &[bool], conflict: &[usize]) -> WishesMet {
    let table: &JobTable = &queue.queue.table;
    let ids = |wish: &Wish| {
        (
            table.id(wish.above).to_owned(),
            table.id(wish.below).to_owned(),
        )
    };
    let violated = queue
        .wishes()
        .iter()
        .zip(met)
        .filter(|(_, is_met)| !**is_met);
    WishesMet {
        total: met.len(),
        met: count(met),
        violated: violated.map(|(wish, _)| ids(wish)).collect(),
        conflict: conflict
            .iter()
            .map(|index| ids(&queue.wishes()[*index]))
            .collect(),
        mean_deviation: queue.mean_deviation(),
    }
}
