//! From wishes to a formula.

use std::ops::ControlFlow;

use job_sort_formula::JobTable;
use job_sort_formula::formula::Template;
use jsf_site::Site;

use super::affine::AffineValues;
use super::order_fit::{OrderFit, fit_order};
use super::read::Wishes;
use super::result::{FittedParameter, WishFit, WishesMet};
use super::rounding::{near_start, range_of, with_few_digits};
use super::score_fit::{Near, fit_scores, mean_deviation};
use super::search_fit::fit_by_search;
use super::wished_queue::{WishedQueue, count};
use super::{Wish, WishError};

/// How constants are searched.
#[derive(Debug, Clone)]
pub struct WishOptions {
    /// The seed of a search; equal seeds give equal constants.
    pub seed: u64,
    /// How often a search ranks the jobs at most. What is linear needs few, and rounding some more.
    pub evaluations: usize,
}

impl Default for WishOptions {
    fn default() -> Self {
        Self { seed: 1, evaluations: 2000 }
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

/// Finds the constants of a template that put the jobs of a site into a wished order. `progress` is called after each ranking of
/// the jobs, and may end the search; what was found until then is returned.
///
/// # Errors
/// A wish is about a job that is unknown or is not considered, nothing is wished, or the jobs cannot be ranked.
pub fn fit_wishes(
    site: &Site,
    template: &Template,
    wishes: &Wishes,
    options: &WishOptions,
    progress: &mut dyn FnMut(WishProgress) -> ControlFlow<()>,
) -> Result<WishFit, WishError> {
    let mut queue = WishedQueue::new(site, template, wishes, progress)?;
    let affine = AffineValues::new(template, &queue.queue);
    let found = found(&mut queue, affine.as_ref(), options);
    let values = rounded(&mut queue, found.values, affine.is_some());
    let parameters = parameters(&mut queue, &values);
    queue.restore_all_jobs();
    let met = queue.met(&values);
    Ok(WishFit {
        formula: template.fill(&values),
        is_feasible: met.iter().all(|is_met| *is_met),
        parameters,
        mean_deviation: mean_deviation(&queue),
        wishes: wishes_met(&queue, &met, &found.conflict),
        is_linear: affine.is_some(),
        is_conflict_proved: found.is_proved,
        evaluations: queue.evaluations,
        seed: options.seed,
        is_complete: !queue.is_interrupted,
    })
}

fn found(queue: &mut WishedQueue<'_>, affine: Option<&AffineValues>, options: &WishOptions) -> OrderFit {
    match affine {
        Some(affine) if queue.wished.scores.is_empty() => fit_order(queue, affine),
        Some(affine) => OrderFit { values: fit_scores(queue, affine), conflict: Vec::new(), is_proved: true },
        None => fit_by_search(queue, options),
    }
}

/// The constants with few digits, which meet the same wishes and give nearly the same values to jobs with scores.
fn rounded(queue: &mut WishedQueue<'_>, values: Vec<f64>, is_linear: bool) -> Vec<f64> {
    let met = queue.met(&values);
    let near = Near::new(queue);
    let constants = queue.template.constants();
    let has_scores = !queue.wished.scores.is_empty();
    let mut is_good = |values: &[f64]| keeps(queue, values, &met, Some(&near));
    // a linear program has begun with that
    let values = if is_linear { values } else { near_start(&values, constants, has_scores, &mut is_good) };
    with_few_digits(&values, constants, &mut is_good)
}

/// Whether constants meet these wishes at least and give near values. Nothing is tried after an interruption.
fn keeps(queue: &mut WishedQueue<'_>, values: &[f64], met: &[bool], near: Option<&Near>) -> bool {
    if queue.is_interrupted {
        return false;
    }
    let is_met = queue.met(values).into_iter().zip(met).all(|(is_met, was_met)| is_met || !was_met);
    is_met && near.is_none_or(|near| near.contains(queue))
}

fn parameters(queue: &mut WishedQueue<'_>, values: &[f64]) -> Vec<FittedParameter> {
    let met = queue.met(values);
    let constants = queue.template.constants();
    let mut is_good = |values: &[f64]| keeps(queue, values, &met, None);
    let parameter = |index: usize| {
        let (low, high) = range_of(index, values, constants, &mut is_good);
        FittedParameter { name: constants[index].name.to_string(), value: values[index], low, high }
    };
    (0..constants.len()).map(parameter).collect()
}

fn wishes_met(queue: &WishedQueue<'_>, met: &[bool], conflict: &[usize]) -> WishesMet {
    let table: &JobTable = &queue.queue.table;
    let ids = |wish: &Wish| (table.id(wish.above).to_owned(), table.id(wish.below).to_owned());
    let violated = queue.wishes().iter().zip(met).filter(|(_, is_met)| !**is_met);
    WishesMet {
        total: met.len(),
        met: count(met),
        violated: violated.map(|(wish, _)| ids(wish)).collect(),
        conflict: conflict.iter().map(|index| ids(&queue.wishes()[*index])).collect(),
    }
}
