//! Finds the constants of a template that put the jobs of a queue into a wished order.
//!
//! In: a site, a template and [`Wishes`]. Out: a [`WishFit`] with a formula whose constants have
//! few digits. What it calls met is met in the order in which [`Site::rank`](jsf_site::Site::rank)
//! puts the jobs, by float32 values, `job_sort_key`, threshold and submission.
//!
//! The constants are searched by CMA-ES with restarts, and then shortened as long as no wish is
//! lost.
//!
//! Scores are fitted by absolute deviations and not by squares, as they are given by people: one
//! wrong score changes the constants hardly at all, and where more than half of the scores follow
//! the formula exactly, its constants are found.

mod shorten;
mod wish_list;
mod wish_search;
mod wished_queue;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::ops::ControlFlow;

use job_sort_formula::diagnostic::Message;
use job_sort_formula::formula::Template;
use jsf_site::{Site, SiteError};
use serde::Serialize;
use thiserror::Error;

use crate::FittedConstant;
use shorten::Kept;
pub use wish_list::Wishes;
use wish_search::search;
use wished_queue::{WishedQueue, count};

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

/// The constants that were found, and the wishes that they meet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WishFit {
    /// The formula with the constants.
    pub formula: String,
    /// Whether all wishes are met.
    #[serde(rename = "feasible")]
    pub is_feasible: bool,
    /// The constants, in the order of the template; between the ends of each, the same wishes are met
    /// by all that were tried, the other constants being as they are.
    pub parameters: Vec<FittedConstant>,
    /// The wishes that are met and that are not.
    #[serde(skip)]
    pub wishes: WishesMet,
    /// How often the jobs were ranked.
    pub evaluations: usize,
    /// The seed of the search.
    pub seed: u64,
    /// Whether the search came to its end and was not interrupted.
    #[serde(rename = "complete")]
    pub is_complete: bool,
}

/// Which wishes the jobs' order meets.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WishesMet {
    /// The number of wishes: pairs of jobs of which one is wished before the other one.
    pub total: usize,
    /// How many of them are met.
    pub met: usize,
    /// The others: the ids of the two jobs.
    pub violated: Vec<(String, String)>,
    /// The fewest wishes that contradict each other, in a circle of jobs; empty if none do.
    pub conflict: Vec<(String, String)>,
    /// The mean absolute deviation of the values from the wished scores, if there are scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_deviation: Option<f64>,
}

/// Wishes that cannot be read, or that do not fit to the queue.
#[derive(Debug, Error)]
pub enum WishError {
    /// A wish is wrong.
    #[error("{place}{message}")]
    Wish {
        /// Where it is written.
        place: Place,
        /// What is wrong.
        message: String,
    },
    /// The queue cannot be ranked.
    #[error(transparent)]
    Site(#[from] SiteError),
}

impl WishError {
    fn at(place: &Place, message: impl Into<String>) -> Self {
        Self::Wish {
            place: place.clone(),
            message: message.into(),
        }
    }

    /// The error with what it asks for.
    pub fn message(&self) -> Message {
        match self {
            Self::Site(error) => error.message(),
            wish => wish.to_string().into(),
        }
    }
}

/// Where a wish is written. It is shown before a message, or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    document: String,
    /// The line, counted from 1; 0 for a wish that is not from a document.
    line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => Ok(()),
            line => write!(f, "{}:{line}: ", self.document),
        }
    }
}

/// A wish about two rows of a table: `above` is ranked before the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Wish {
    above: usize,
    below: usize,
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
    let conflict = shortest_circle(&queue.wished.wishes);
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
    let mut kept = Kept::new(queue, values);
    let mut deviations = kept.queue.deviations();
    deviations.sort_by(f64::total_cmp);
    if let Some(mean) = kept.queue.mean_deviation() {
        let median = deviations[deviations.len() / 2];
        let mut largest = 0.0_f64;
        for (_, score) in &kept.queue.wished.scores {
            largest = largest.max(score.abs());
        }
        kept.most_deviation = Some(mean + PART_OF_MEDIAN * median + PART_OF_SCORES * largest);
    }
    let mut found = values.to_vec();
    kept.take_starts(&mut found);
    if kept.most_deviation.is_none() {
        kept.move_inside(&mut found);
    }
    kept.shortened(&found)
}

fn parameters(queue: &mut WishedQueue<'_>, values: &[f64]) -> Vec<FittedConstant> {
    let mut kept = Kept::new(queue, values);
    let mut parameters = Vec::new();
    for (index, constant) in kept.constants.iter().enumerate() {
        let ends = kept.range_of(index, values);
        parameters.push(FittedConstant::new(constant, values[index], Some(ends)));
    }
    parameters
}

fn wishes_met(queue: &WishedQueue<'_>, met: &[bool], conflict: &[usize]) -> WishesMet {
    let mut wishes = WishesMet {
        total: met.len(),
        met: count(met),
        mean_deviation: queue.mean_deviation(),
        ..WishesMet::default()
    };
    for (index, is_met) in met.iter().enumerate() {
        if !is_met {
            wishes.violated.push(queue.ids_of_wish(index));
        }
    }
    for &index in conflict {
        wishes.conflict.push(queue.ids_of_wish(index));
    }
    wishes
}

/// Of how many wishes the shortest circle is looked for.
const MAX_TRIED: usize = 500;

/// The indices of the wishes of a shortest circle, ascending, such as job A before B, B before C,
/// and C before A: the lower job of each is the upper job of another one. Empty without a circle.
fn shortest_circle(wishes: &[Wish]) -> Vec<usize> {
    let mut by_above: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, wish) in wishes.iter().enumerate() {
        by_above.entry(wish.above).or_default().push(index);
    }
    let mut shortest: Vec<usize> = Vec::new();
    for first in near_circles(wishes).into_iter().take(MAX_TRIED) {
        if let Some(circle) = circle_through(first, wishes, &by_above)
            && (shortest.is_empty() || circle.len() < shortest.len())
        {
            shortest = circle;
        }
    }
    shortest.sort_unstable();
    shortest
}

/// The wishes on circles, and those between two circles: none of their jobs is only above or only
/// below others.
fn near_circles(wishes: &[Wish]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..wishes.len()).collect();
    loop {
        let mut above = HashSet::new();
        let mut below = HashSet::new();
        for &index in &kept {
            above.insert(wishes[index].above);
            below.insert(wishes[index].below);
        }
        let count = kept.len();
        kept.retain(|&index| {
            below.contains(&wishes[index].above) && above.contains(&wishes[index].below)
        });
        if kept.len() == count {
            return kept;
        }
    }
}

/// The shortest circle through a wish.
fn circle_through(
    first: usize,
    wishes: &[Wish],
    by_above: &HashMap<usize, Vec<usize>>,
) -> Option<Vec<usize>> {
    let mut reached_by: HashMap<usize, usize> = HashMap::from([(wishes[first].below, first)]);
    let mut jobs = VecDeque::from([wishes[first].below]);
    while let Some(job) = jobs.pop_front() {
        for &index in by_above.get(&job).into_iter().flatten() {
            let next = wishes[index].below;
            if next == wishes[first].above {
                let mut circle = vec![index];
                let mut last = index;
                while last != first {
                    last = reached_by[&wishes[last].above];
                    circle.push(last);
                }
                return Some(circle);
            }
            if let Entry::Vacant(entry) = reached_by.entry(next) {
                entry.insert(index);
                jobs.push_back(next);
            }
        }
    }
    None
}
