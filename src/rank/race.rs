//! When a job overtakes others while an input varies: exactly, at whole steps.
//!
//! In: the [`Sweep`]s of the jobs. Out: the first step at which a job reaches a place, or the steps
//! at which two jobs change their order. Where bounds of the scores decide the order over a range
//! of steps, the range is not evaluated step by step; any other range is halved until it is short.

use std::cmp::Ordering;
use std::mem;
use std::ops::RangeInclusive;

use crate::parallel;
use crate::rank::ScorePrecision;
use crate::rank::sweep::{Enclosure, Sweep};
use crate::rank::work_budget::WorkBudget;

/// The number of steps that are evaluated one by one.
const SHORT_RANGE: i64 = 1024;
/// The number of competitors that a thread compares with a job at a time.
const COMPETITORS_PER_THREAD: usize = 64;
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

    /// Whether it is ahead of a job at each of these steps; `None` if that is not known.
    fn decide(
        &self,
        job: &Sweep<'_>,
        steps: &RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> Option<bool> {
        let own = self.sweep.enclosure(steps.clone(), budget)?;
        let job_enclosure = job.enclosure(steps.clone(), budget)?;
        let order = own.compare(&job_enclosure, job.precision())?;
        Some(self.is_ahead_if(order))
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
    let Goal {
        job,
        places,
        threshold,
        ..
    } = *goal;
    let all: Vec<&Competitor<'_>> = goal.competitors.iter().collect();
    let mut ranges = vec![Undecided {
        steps,
        ahead: 0,
        competitors: all,
    }];
    while let Some(range) = ranges.pop() {
        match range.decide(job, places, threshold, budget) {
            None => return FirstStep::Unknown,
            Some(Decision::Never) => {}
            Some(Decision::First(step)) => return FirstStep::At(step),
            // the earlier half on top, so that the first step found is the first of all
            Some(Decision::Halves([earlier, later])) => ranges.extend([later, earlier]),
        }
    }
    FirstStep::Never
}

/// A range of steps in which it is not known which competitors are ahead.
struct Undecided<'c, 'p> {
    steps: RangeInclusive<i64>,
    /// The number of competitors that are ahead in the whole range.
    ahead: usize,
    /// The competitors that may be ahead in a part of it.
    competitors: Vec<&'c Competitor<'p>>,
}

enum Decision<'c, 'p> {
    Never,
    First(i64),
    Halves([Undecided<'c, 'p>; 2]),
}

impl<'c, 'p> Undecided<'c, 'p> {
    /// `None` if the budget is spent.
    fn decide(
        mut self,
        job: &Sweep<'p>,
        places: usize,
        threshold: f64,
        budget: &mut WorkBudget,
    ) -> Option<Decision<'c, 'p>> {
        let mut passes = false;
        if let Some(enclosure) = job.enclosure(self.steps.clone(), budget) {
            let (least, most) = enclosure.bounds();
            if most <= threshold {
                return Some(Decision::Never);
            }
            passes = least > threshold;
            self.exclude_decided(&enclosure, job.precision(), places, budget);
        }
        // bounds may be missing for lack of work, which says nothing about the range
        if budget.is_spent() {
            return None;
        }
        if self.ahead >= places {
            return Some(Decision::Never);
        }
        if passes && self.ahead + self.competitors.len() < places {
            return Some(Decision::First(*self.steps.start()));
        }
        let first = *self.steps.start();
        let last = *self.steps.end();
        if last - first < SHORT_RANGE {
            return self.decide_step_by_step(job, places, threshold, budget);
        }
        // the sum of both could overflow
        let middle = first + (last - first) / 2;
        let later = Undecided {
            steps: middle + 1..=last,
            ahead: self.ahead,
            competitors: self.competitors.clone(),
        };
        self.steps = first..=middle;
        Some(Decision::Halves([self, later]))
    }

    /// Counts and removes the competitors that are ahead or behind in the whole range, until no
    /// place is left.
    fn exclude_decided(
        &mut self,
        job: &Enclosure,
        precision: ScorePrecision,
        places: usize,
        budget: &mut WorkBudget,
    ) {
        for competitor in mem::take(&mut self.competitors) {
            let mut order = None;
            if self.ahead < places
                && let Some(own) = competitor.sweep.enclosure(self.steps.clone(), budget)
            {
                order = own.compare(job, precision);
            }
            match order {
                Some(order) => self.ahead += usize::from(competitor.is_ahead_if(order)),
                None => self.competitors.push(competitor),
            }
        }
    }

    /// Evaluates the steps one by one; `None` if that takes more than the work that is left.
    fn decide_step_by_step(
        &self,
        job: &Sweep<'_>,
        places: usize,
        threshold: f64,
        budget: &mut WorkBudget,
    ) -> Option<Decision<'c, 'p>> {
        let scores = job.scores(self.steps.clone(), budget)?;
        let mut ahead = vec![self.ahead; scores.len()];
        for competitor in &self.competitors {
            let own = competitor.sweep.scores(self.steps.clone(), budget)?;
            for (index, ahead) in ahead.iter_mut().enumerate() {
                *ahead += usize::from(competitor.is_ahead(own[index], scores[index]));
            }
        }
        for (step, (ahead, score)) in self.steps.clone().zip(ahead.into_iter().zip(scores)) {
            // OpenPBS holds back a value `<=` the threshold, which NaN is not
            if ahead < places && (score.is_nan() || score > threshold) {
                return Some(Decision::First(step));
            }
        }
        Some(Decision::Never)
    }
}

/// The steps at which a competitor gets ahead of a job or falls behind it: first whether it is
/// ahead at the first step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossings {
    /// The steps, ascending, each with whether the competitor is ahead from it on.
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
    let unknown = Crossings {
        changes: Vec::new(),
        known_until: steps.start() - 1,
    };
    let mut all = vec![unknown; competitors.len()];
    for _ in 0..ROUNDS {
        let mut open: Vec<usize> = (0..competitors.len()).collect();
        open.retain(|&index| all[index].known_until < *steps.end());
        if open.is_empty() {
            break;
        }
        let part = budget.left() / open.len() as u64;
        let found = parallel::map(open.chunks(COMPETITORS_PER_THREAD).collect(), |some| {
            let mut continued = Vec::new();
            for &index in some {
                let known: &Crossings = &all[index];
                continued.push(known.continued(job, &competitors[index], *steps.end(), part));
            }
            continued
        });
        for (index, (crossings, used)) in open.into_iter().zip(found.concat()) {
            budget.charge(used);
            all[index] = crossings;
        }
    }
    all
}

impl Crossings {
    /// The crossings up to the last step, or as far as this much work goes, and the work that it
    /// took.
    fn continued(
        &self,
        job: &Sweep<'_>,
        competitor: &Competitor<'_>,
        last_step: i64,
        work: u64,
    ) -> (Self, u64) {
        let mut budget = WorkBudget::new(work);
        let mut crossings = self.clone();
        let mut ranges = vec![self.known_until + 1..=last_step];
        while let Some(steps) = ranges.pop() {
            let first = *steps.start();
            let last = *steps.end();
            let decided = competitor.decide(job, &steps, &mut budget);
            // `None` may also mean that the work was cut short
            if budget.is_spent() {
                break;
            }
            if let Some(is_ahead) = decided {
                crossings.push(first, is_ahead);
            } else if last - first >= SHORT_RANGE {
                let middle = first + (last - first) / 2;
                // the earlier half on top, because changes are added in order
                ranges.extend([middle + 1..=last, first..=middle]);
                continue;
            } else if crossings
                .push_all(job, competitor, &steps, &mut budget)
                .is_none()
            {
                break;
            }
            crossings.known_until = last;
        }
        (crossings, work - budget.left())
    }

    /// Adds the changes at steps that are evaluated one by one; adds none, and returns `None`, if
    /// the budget is spent.
    fn push_all(
        &mut self,
        job: &Sweep<'_>,
        competitor: &Competitor<'_>,
        steps: &RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> Option<()> {
        let own = competitor.sweep.scores(steps.clone(), budget)?;
        let scores = job.scores(steps.clone(), budget)?;
        let known = self.changes.len();
        for (step, (own, score)) in steps.clone().zip(own.into_iter().zip(scores)) {
            self.push(step, competitor.is_ahead(own, score));
        }
        let kept = (self.changes.len() - known) as u64;
        let taken = budget.take(kept * KEPT_CHANGE);
        if taken.is_none() {
            self.changes.truncate(known);
        }
        taken
    }

    fn push(&mut self, step: i64, is_ahead: bool) {
        if self.changes.last().map(|&(_, last)| last) != Some(is_ahead) {
            self.changes.push((step, is_ahead));
        }
    }
}
