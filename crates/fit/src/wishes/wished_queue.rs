//! The jobs that wishes are about, ranked by one formula after another.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use job_sort_formula::formula::Template;
use job_sort_formula::{Formula, JobTable};
use jsf_openpbs::order::{Criterion, NotConsidered};
use jsf_site::{RankRequest, RankedQueue, Site};

use super::read::{WishedRows, Wishes};
use super::{Place, Wish, WishError, WishProgress};

/// The same value for every job, above every threshold: what is left are the criteria besides the value.
const EQUAL_VALUES: &str = "3e38";

/// The same value for every job, below every threshold.
const LOWEST_VALUES: &str = "-3e38";

/// The place of a job that is not ranked.
const NOT_RANKED: u32 = u32::MAX;

/// How a wish depends on the values of its jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dependence {
    /// It is met if the first job's value is greater.
    Greater,
    /// It is met if the first job's value is at least that of the second one.
    AtLeast,
    /// The queue decides before the values do; whether it is met.
    Fixed(bool),
}

/// The jobs that wishes are about, and how they are ranked at present. Jobs about which nothing is wished are left out.
pub(super) struct WishedQueue<'a> {
    pub(super) template: &'a Template,
    pub(super) queue: RankedQueue,
    pub(super) wished: WishedRows,
    pub(super) dependences: Vec<Dependence>,
    /// What the value of a job must exceed.
    pub(super) threshold: f64,
    pub(super) evaluations: usize,
    pub(super) is_interrupted: bool,
    site: &'a Site,
    progress: &'a mut dyn FnMut(WishProgress) -> ControlFlow<()>,
    /// The place of each row in the order.
    places: Vec<u32>,
    most_met: usize,
    /// All jobs, and the wishes about them, until they are [restored](Self::restore_all_jobs).
    all_jobs: JobTable,
    all_wished: WishedRows,
}

impl<'a> WishedQueue<'a> {
    /// Reads the queue, and keeps the jobs that the wishes name.
    pub(super) fn new(
        site: &'a Site,
        template: &'a Template,
        wishes: &Wishes,
        progress: &'a mut dyn FnMut(WishProgress) -> ControlFlow<()>,
    ) -> Result<Self, WishError> {
        let formula = filled(template, &starts(template));
        let jobs = site.read_for(&RankRequest::from(&formula))?;
        let mut queue = site.rank_read(jobs, usize::MAX)?;
        let equal = Formula::parse(EQUAL_VALUES).expect("a number is a formula");
        let threshold = threshold(site, &mut queue)?;
        site.rank_again(&mut queue, &equal)?;
        let wished = wishes.find(&queue)?;
        if wished.wishes.is_empty() {
            return Err(WishError::at(&Place::default(), "no job is wished before another one"));
        }
        let all_jobs = queue.table.clone();
        let all_wished = wished.clone();
        let wished = keep_wished(&mut queue, wished);
        site.rank_again(&mut queue, &equal)?;
        let dependences = dependences(site, &queue, &wished.wishes);
        Ok(Self {
            template,
            places: vec![NOT_RANKED; queue.table.len()],
            queue,
            wished,
            dependences,
            threshold,
            evaluations: 0,
            is_interrupted: false,
            site,
            progress,
            most_met: 0,
            all_jobs,
            all_wished,
        })
    }

    /// Whether there are values that a job must exceed to be considered.
    pub(super) fn has_threshold(&self) -> bool {
        self.site.threshold().is_some()
    }

    pub(super) fn wishes(&self) -> &[Wish] {
        &self.wished.wishes
    }

    /// Ranks the jobs with these constants, and returns which wishes are met.
    pub(super) fn met(&mut self, values: &[f64]) -> Vec<bool> {
        self.evaluations += 1;
        self.places.fill(NOT_RANKED);
        // a formula with other numbers is arithmetic as well
        if self.site.rank_again(&mut self.queue, &filled(self.template, values)).is_ok() {
            for (&row, place) in self.queue.ranking.order().iter().zip(0..) {
                self.places[row] = place;
            }
        }
        let met: Vec<bool> =
            self.wished.wishes.iter().map(|wish| self.places[wish.above] < self.places[wish.below]).collect();
        self.most_met = self.most_met.max(count(&met));
        let progress =
            WishProgress { evaluations: self.evaluations, met: self.most_met, total: self.wished.wishes.len() };
        self.is_interrupted |= (self.progress)(progress).is_break();
        met
    }

    /// Puts back the jobs about which nothing is wished, so that the next ranking is that of the scheduler.
    pub(super) fn restore_all_jobs(&mut self) {
        self.queue.table = std::mem::take(&mut self.all_jobs);
        self.wished = std::mem::take(&mut self.all_wished);
        self.places = vec![NOT_RANKED; self.queue.table.len()];
    }

    /// By how many places a row is below another one; `None` if it is above it.
    pub(super) fn places_apart(&self, above: usize, below: usize) -> Option<u32> {
        let (above, below) = (self.places[above], self.places[below]);
        let jobs = self.places.len() as u32;
        (above >= below).then(|| above.min(jobs).saturating_sub(below.min(jobs)))
    }

    /// The value of a row in the present ranking, before it is rounded; 0 where the formula fails.
    pub(super) fn value(&self, row: usize) -> f64 {
        let score = self.queue.ranking.score(row);
        let value = score.and_then(|score| score.unrounded.ok()).map_or(0.0, |result| result.to_f64());
        if value.is_finite() { value } else { 0.0 }
    }
}

/// The formula with these constants.
pub(super) fn filled(template: &Template, values: &[f64]) -> Formula {
    Formula::parse(&template.fill(values)).expect("a filled template is a formula")
}

/// The constants to begin with.
pub(super) fn starts(template: &Template) -> Vec<f64> {
    template.constants().iter().map(|constant| constant.start).collect()
}

pub(super) fn count(met: &[bool]) -> usize {
    met.iter().filter(|is_met| **is_met).count()
}

/// The rows that wishes are about, ascending.
fn rows_of(wished: &WishedRows) -> Vec<usize> {
    let of_wishes = wished.wishes.iter().flat_map(|wish| [wish.above, wish.below]);
    let rows: BTreeSet<usize> = of_wishes.chain(wished.scores.iter().map(|(row, _)| *row)).collect();
    rows.into_iter().collect()
}

/// What the value of a job must exceed, as the scheduler says of jobs that do not.
fn threshold(site: &Site, queue: &mut RankedQueue) -> Result<f64, WishError> {
    let lowest = Formula::parse(LOWEST_VALUES).expect("a number is a formula");
    site.rank_again(queue, &lowest)?;
    let thresholds = queue.not_considered.iter().filter_map(|(_, reason)| match reason {
        NotConsidered::UnderThreshold { threshold, .. } => Some(*threshold),
        NotConsidered::NoShares => None,
    });
    Ok(thresholds.fold(f64::NEG_INFINITY, f64::max).max(f64::from(f32::MIN)))
}

/// Removes the other jobs, and renumbers the rows of the wishes.
fn keep_wished(queue: &mut RankedQueue, wished: WishedRows) -> WishedRows {
    let rows = rows_of(&wished);
    queue.table.retain(|row| rows.binary_search(&row).is_ok());
    let new = |row: usize| rows.binary_search(&row).expect("a row of a wish is kept");
    WishedRows {
        wishes: wished.wishes.iter().map(|wish| Wish { above: new(wish.above), below: new(wish.below) }).collect(),
        scores: wished.scores.iter().map(|(row, score)| (new(*row), *score)).collect(),
        lists: wished
            .lists
            .iter()
            .map(|list| list.iter().map(|group| group.iter().map(|row| new(*row)).collect()).collect())
            .collect(),
    }
}

/// How each wish depends on the values, from a ranking in which all values are equal.
fn dependences(site: &Site, queue: &RankedQueue, wishes: &[Wish]) -> Vec<Dependence> {
    let pairs: Vec<(usize, usize)> = wishes.iter().map(|wish| (wish.above, wish.below)).collect();
    let decided = site.deciding_criteria(queue, &pairs).into_iter();
    let dependence = |(criterion, order): (Criterion, std::cmp::Ordering)| match criterion {
        Criterion::Queue | Criterion::ExpressQueue => Dependence::Fixed(order.is_lt()),
        _ if order.is_lt() => Dependence::AtLeast,
        _ => Dependence::Greater,
    };
    decided.map(dependence).collect()
}
