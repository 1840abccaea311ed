//! When a job overtakes others while an input varies: exactly, at whole steps.
//!
//! Enters: the [`Sweep`]s of the jobs. Leaves: the first step at which a job reaches a place, or the steps at which two
//! jobs change their order. Where bounds of the scores decide the order over a range of steps, the range is not evaluated
//! step by step; any other range is halved until it is short.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use crate::parallel;
use crate::python::limits::QUEUE_FUEL;
use crate::rank::ScorePrecision;
use crate::rank::sweep::{Enclosure, Sweep};

/// The number of steps that are evaluated one by one.
const SHORT_RANGE: i64 = 1024;
/// The number of competitors that a thread compares with a job at a time.
const COMPETITORS_PER_THREAD: usize = 64;

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

    /// Whether it is ahead at every step; `None` if that is not known.
    fn is_always_ahead(&self, own: &Enclosure, job: &Enclosure, precision: ScorePrecision) -> Option<bool> {
        own.compare(job, precision).map(|order| self.is_ahead_if(order))
    }
}

/// A job, and what it takes for it to have reached its goal.
#[derive(Debug)]
pub struct Goal<'c, 'p> {
    /// The job.
    pub job: &'c Sweep<'p>,
    /// The jobs that it competes with.
    pub competitors: &'c [Competitor<'p>],
    /// Fewer than so many of them must be ahead of it.
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

/// The first step at which a job has reached its goal. The search ends after this number of comparisons of two jobs over a
/// range of steps, or when the evaluations have done the work that those of a whole queue may do.
pub fn first_step(goal: &Goal<'_, '_>, steps: RangeInclusive<i64>, max_comparisons: usize) -> FirstStep {
    if steps.is_empty() {
        return FirstStep::Never;
    }
    let (mut comparisons, mut work) = (0, QUEUE_FUEL);
    let Goal { job, places, threshold, .. } = *goal;
    let all: Vec<&Competitor<'_>> = goal.competitors.iter().collect();
    let mut ranges = vec![Undecided { steps, ahead: 0, competitors: all }];
    while let Some(range) = ranges.pop() {
        comparisons += 1 + range.competitors.len();
        if comparisons > max_comparisons {
            return FirstStep::Unknown;
        }
        match range.decide(job, places, threshold, &mut work) {
            Decision::Unknown => return FirstStep::Unknown,
            Decision::Never => {}
            Decision::First(step) => return FirstStep::At(step),
            Decision::Halves([earlier, later]) => ranges.extend([later, earlier]),
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
    Unknown,
    Never,
    First(i64),
    Halves([Undecided<'c, 'p>; 2]),
}

impl<'c, 'p> Undecided<'c, 'p> {
    fn decide(mut self, job: &Sweep<'p>, places: usize, threshold: f64, work: &mut u64) -> Decision<'c, 'p> {
        let enclosure = job.enclosure(self.steps.clone());
        if enclosure.is_some_and(|enclosure| enclosure.bounds().1 <= threshold) {
            return Decision::Never;
        }
        if let Some(enclosure) = enclosure {
            self.exclude_decided(&enclosure, job.precision(), places);
        }
        if self.ahead >= places {
            return Decision::Never;
        }
        let passes = enclosure.is_some_and(|enclosure| enclosure.bounds().0 > threshold);
        if passes && self.ahead + self.competitors.len() < places {
            return Decision::First(*self.steps.start());
        }
        let (first, last) = (*self.steps.start(), *self.steps.end());
        if last - first < SHORT_RANGE {
            return match self.first_step(job, places, threshold, work) {
                Some(found) => found.map_or(Decision::Never, Decision::First),
                None => Decision::Unknown,
            };
        }
        let middle = first + (last - first) / 2;
        let half = |steps| Undecided { steps, ahead: self.ahead, competitors: self.competitors.clone() };
        Decision::Halves([half(first..=middle), half(middle + 1..=last)])
    }

    /// Counts and removes the competitors that are ahead or behind in the whole range, until no place is left.
    fn exclude_decided(&mut self, job: &Enclosure, precision: ScorePrecision, places: usize) {
        let mut ahead = self.ahead;
        let steps = self.steps.clone();
        self.competitors.retain(|competitor| {
            if ahead >= places {
                return true;
            }
            let own = competitor.sweep.enclosure(steps.clone());
            let decided = own.and_then(|own| competitor.is_always_ahead(&own, job, precision));
            ahead += usize::from(decided == Some(true));
            decided.is_none()
        });
        self.ahead = ahead;
    }

    /// Evaluates the steps one by one; the outer `None` if that takes more than the work that is left.
    fn first_step(&self, job: &Sweep<'_>, places: usize, threshold: f64, work: &mut u64) -> Option<Option<i64>> {
        let scores = job.scores_within(self.steps.clone(), work)?;
        let mut ahead = vec![self.ahead; scores.len()];
        for competitor in &self.competitors {
            let own = competitor.sweep.scores_within(self.steps.clone(), work)?;
            for (ahead, (own, score)) in ahead.iter_mut().zip(own.iter().zip(&scores)) {
                *ahead += usize::from(competitor.is_ahead(*own, *score));
            }
        }
        let fits = |(ahead, score): (&usize, &f64)| *ahead < places && (score.is_nan() || *score > threshold);
        let index = ahead.iter().zip(&scores).position(fits);
        Some(index.map(|index| self.steps.start() + index as i64))
    }
}

/// The steps at which a competitor gets ahead of a job or falls behind it: first whether it is ahead at the first step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossings {
    /// The steps, ascending, each with whether the competitor is ahead from it on.
    pub changes: Vec<(i64, bool)>,
    /// The last step up to which the changes are known.
    pub known_until: i64,
}

/// The [`Crossings`] of a job with each of its competitors. A search ends after `limit` ranges of steps, or when its
/// evaluations have done its part of the work that those of a whole queue may do.
pub fn crossings(
    job: &Sweep<'_>,
    competitors: &[Competitor<'_>],
    steps: RangeInclusive<i64>,
    limit: usize,
) -> Vec<Crossings> {
    let of_some = |some: &[Competitor<'_>]| -> Vec<Crossings> {
        let work = QUEUE_FUEL / competitors.len().max(1) as u64;
        some.iter().map(|competitor| crossings_with(job, competitor, steps.clone(), limit, work)).collect()
    };
    parallel::map(competitors.chunks(COMPETITORS_PER_THREAD).collect(), of_some).concat()
}

fn crossings_with(
    job: &Sweep<'_>,
    competitor: &Competitor<'_>,
    steps: RangeInclusive<i64>,
    limit: usize,
    mut work: u64,
) -> Crossings {
    let mut changes: Vec<(i64, bool)> = Vec::new();
    let (mut count, last_step) = (0, *steps.end());
    let mut ranges = vec![steps];
    while let Some(steps) = ranges.pop() {
        count += 1;
        if count > limit {
            return Crossings { changes, known_until: steps.start() - 1 };
        }
        let mut push = |step: i64, is_ahead: bool| {
            if changes.last().is_none_or(|(_, last)| *last != is_ahead) {
                changes.push((step, is_ahead));
            }
        };
        let (first, last) = (*steps.start(), *steps.end());
        let enclosures = competitor.sweep.enclosure(steps.clone()).zip(job.enclosure(steps.clone()));
        let decided = enclosures.and_then(|(own, of_job)| competitor.is_always_ahead(&own, &of_job, job.precision()));
        if let Some(is_ahead) = decided {
            push(first, is_ahead);
        } else if last - first < SHORT_RANGE {
            let mut scores = |sweep: &Sweep<'_>| sweep.scores_within(steps.clone(), &mut work);
            let Some((own, scores)) = scores(&competitor.sweep).zip(scores(job)) else {
                return Crossings { changes, known_until: first - 1 };
            };
            for (step, (own, score)) in steps.zip(own.into_iter().zip(scores)) {
                push(step, competitor.is_ahead(own, score));
            }
        } else {
            let middle = first + (last - first) / 2;
            ranges.extend([middle + 1..=last, first..=middle]);
        }
    }
    Crossings { changes, known_until: last_step }
}
