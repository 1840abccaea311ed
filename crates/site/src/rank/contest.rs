//! When a job and others overtake each other while an input of each varies: exactly, at whole steps.
//!
//! In: the scores of the job and of its competitors, see [`Sweep`]. Out: the first step at which the
//! job has a place, or all steps at which the order changes. Where bounds of the scores decide the
//! order over a range of steps, the range is not evaluated step by step; any other range is halved
//! until it is short.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use job_sort_formula::rank::WorkBudget;

use crate::rank::sweep::Sweep;

#[cfg(test)]
mod tests;

/// The number of steps that are evaluated one by one.
const SHORT_RANGE: i64 = 1024;
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
    fn is_ahead(&self, order: Option<Ordering>) -> bool {
        // nan equals every score
        let order = order.unwrap_or(Ordering::Equal);
        order.is_gt() || order.is_eq() && self.wins_ties
    }
}

/// A job and those that it competes with.
#[derive(Debug, Clone, Copy)]
pub struct Contest<'c, 'p> {
    /// The job.
    pub job: &'c Sweep<'p>,
    /// The others.
    pub competitors: &'c [Competitor<'p>],
    /// The scheduler considers the job while its score exceeds this.
    pub threshold: f64,
}

/// When a job reaches a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstStep {
    /// At this step for the first time.
    At(i64),
    /// At none of the steps.
    Never,
    /// The search was ended before it was known.
    Unknown,
}

/// The order of a job and its competitors over a range of steps.
#[derive(Debug, Clone)]
pub struct Course {
    /// What holds at the first step, and each change, in the order of the steps.
    pub changes: Vec<Change>,
    /// The last step up to which the changes are known.
    pub known_until: i64,
}

/// From a step on, a competitor is ahead or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The step.
    pub step: i64,
    /// The index of the competitor; `None`: the threshold, which holds the job back.
    pub competitor: Option<usize>,
    /// Whether it is ahead, or holds the job back.
    pub is_ahead: bool,
}

impl Contest<'_, '_> {
    /// The first step at which fewer competitors than `places` are ahead of the job, and the
    /// threshold does not hold it back. The search ends when the budget is spent.
    pub fn first_step(
        &self,
        places: usize,
        steps: RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> FirstStep {
        self.walk(Some(places), steps, budget).1
    }

    /// Who is ahead of the job at each step, as far as the budget goes.
    pub fn course(&self, steps: RangeInclusive<i64>, budget: &mut WorkBudget) -> Course {
        let (mut course, _) = self.walk(None, steps, budget);
        let known_until = course.known_until;
        course.changes.retain(|change| change.step <= known_until);
        course
    }

    fn walk(
        &self,
        places: Option<usize>,
        steps: RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> (Course, FirstStep) {
        let mut walk = Walk {
            contest: *self,
            budget,
            places,
            latest: vec![None; self.competitors.len() + 1],
            course: Course {
                changes: Vec::new(),
                known_until: *steps.start() - 1,
            },
        };
        let mut found = FirstStep::Never;
        if !steps.is_empty() {
            let all: Vec<usize> = (0..self.competitors.len()).collect();
            found = walk.range(steps, 0, &all);
        }
        (walk.course, found)
    }
}

/// Goes through steps in their order.
// in their order, so that what is known when the budget is spent is a beginning without gaps
struct Walk<'w, 'c, 'p> {
    contest: Contest<'c, 'p>,
    budget: &'w mut WorkBudget,
    /// It ends where fewer competitors than this are ahead. `None`: it notes who is ahead, and goes to
    /// the end.
    places: Option<usize>,
    /// By competitor, then of the threshold: what was noted last.
    latest: Vec<Option<bool>>,
    course: Course,
}

impl Walk<'_, '_, '_> {
    /// Goes through a range. So many competitors are ahead in all of it, and some others may be in a
    /// part of it.
    fn range(
        &mut self,
        steps: RangeInclusive<i64>,
        mut ahead: usize,
        others: &[usize],
    ) -> FirstStep {
        let Contest {
            job,
            competitors,
            threshold,
        } = self.contest;
        let first = *steps.start();
        let last = *steps.end();
        let places = self.places.unwrap_or(usize::MAX);
        let mut is_held_back = None;
        let mut undecided = others.to_vec();
        if let Some(enclosure) = job.enclosure(steps.clone(), self.budget) {
            let is_under = enclosure.most <= threshold;
            if is_under && self.places.is_some() {
                return FirstStep::Never;
            }
            if is_under || enclosure.least > threshold {
                is_held_back = Some(is_under);
                self.note(first, None, is_under);
            }
            undecided.retain(|&index| {
                // once no place is left, the others do not matter
                if ahead >= places {
                    return true;
                }
                let competitor = &competitors[index];
                let own = competitor.sweep.enclosure(steps.clone(), self.budget);
                let order = own.and_then(|own| own.compare(&enclosure, job.precision()));
                if order.is_some() {
                    let is_ahead = competitor.is_ahead(order);
                    ahead += usize::from(is_ahead);
                    self.note(first, Some(index), is_ahead);
                }
                order.is_none()
            });
        }
        // bounds may be missing for lack of work, which says nothing about the range; those that are
        // known hold in all parts of it, which so need not ask again
        if self.budget.is_spent() {
            return FirstStep::Unknown;
        }
        if ahead >= places {
            return FirstStep::Never;
        }
        let may_be_ahead = ahead + undecided.len();
        if is_held_back == Some(false) && self.places.is_some_and(|places| may_be_ahead < places) {
            return FirstStep::At(first);
        }
        if is_held_back.is_some() && undecided.is_empty() {
            self.course.known_until = last;
            return FirstStep::Never;
        }
        if last - first < SHORT_RANGE {
            let found = self.each_step(steps, ahead, &undecided);
            return found.unwrap_or(FirstStep::Unknown);
        }
        // the sum of both could overflow
        let middle = first + (last - first) / 2;
        match self.range(first..=middle, ahead, &undecided) {
            FirstStep::Never => self.range(middle + 1..=last, ahead, &undecided),
            found => found,
        }
    }

    /// Evaluates the steps one by one; `None` if that takes more than the work that is left.
    fn each_step(
        &mut self,
        steps: RangeInclusive<i64>,
        ahead: usize,
        undecided: &[usize],
    ) -> Option<FirstStep> {
        let Contest {
            job,
            competitors,
            threshold,
        } = self.contest;
        let scores = job.scores(steps.clone(), self.budget)?;
        let mut others = Vec::new();
        for &index in undecided {
            let competitor = &competitors[index];
            let scores = competitor.sweep.scores(steps.clone(), self.budget)?;
            others.push((index, competitor, scores));
        }
        for (place, step) in steps.enumerate() {
            let score = scores[place];
            let mut ahead = ahead;
            for (index, competitor, scores) in &others {
                let is_ahead = competitor.is_ahead(scores[place].partial_cmp(&score));
                ahead += usize::from(is_ahead);
                self.note(step, Some(*index), is_ahead);
            }
            // OpenPBS holds back a value `<=` the threshold, which NaN is not
            let is_under = score <= threshold;
            self.note(step, None, is_under);
            if !is_under && self.places.is_some_and(|places| ahead < places) {
                return Some(FirstStep::At(step));
            }
            if self.budget.is_spent() {
                return None;
            }
            self.course.known_until = step;
        }
        Some(FirstStep::Never)
    }

    fn note(&mut self, step: i64, competitor: Option<usize>, is_ahead: bool) {
        if self.places.is_some() {
            return;
        }
        let latest = competitor.unwrap_or(self.latest.len() - 1);
        let is_change = self.latest[latest].replace(is_ahead) != Some(is_ahead);
        if is_change && self.budget.take(KEPT_CHANGE).is_some() {
            self.course.changes.push(Change {
                step,
                competitor,
                is_ahead,
            });
        }
    }
}
