//! The constants of any template, by a search without derivatives.
//!
//! What is minimised is a hinge loss over pairs of jobs: a pair in the wrong order costs the more, the farther its jobs are from
//! the right order. A list of jobs also gives pairs that are 2, 4, 8 … places apart, so that jobs which are far from their
//! places count for more than neighbours that are exchanged.

use std::ops::ControlFlow;

use super::conflict::{reduced, shortest_circle};
use super::fit::WishOptions;
use super::order_fit::OrderFit;
use super::score_fit::{mean_deviation, scale};
use super::wished_queue::{Dependence, WishedQueue, starts};
use crate::search::cma_es::{self, FIRST_SIGMA, Settings};
use crate::search::{Range, Space};

/// What a pair in the wrong order costs in any case, in parts of the length of the queue.
const WRONG_ORDER: f64 = 0.25;
/// A run of the search ends when its points differ by less than this part of the ranges.
const TOLERANCE: f64 = 1e-6;

/// The part of the rankings with which integers are tried after the search, and the most for one of them.
const OF_INTEGERS: f64 = 0.4;
const RANKINGS_PER_INTEGER: usize = 80;
/// How far from the best integers others are tried.
const STEPS: [f64; 6] = [1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
/// The standard deviation with which the other constants are searched again beside another integer.
const NARROW: f64 = 0.05;
/// The most wishes among which a smallest set that cannot be met is searched, and the most in such a set that is named.
const MAX_WISHES: usize = 200;
const MAX_CONFLICT: usize = 12;
/// How many times the rankings of the search it may take to find that set, and the part of them for one set.
const CONFLICT_RANKINGS: usize = 3;
const PART_OF_SET: usize = 4;

/// The best constants so far.
struct Best {
    met: usize,
    loss: f64,
    values: Vec<f64>,
}

/// A search, and what it has found so far.
struct Search<'q, 'a> {
    queue: &'q mut WishedQueue<'a>,
    space: Space,
    seed: u64,
    has_scores: bool,
    /// The wishes that are to be met, by their index, ascending.
    wanted: Vec<usize>,
    /// The pairs of rows that the loss is about.
    pairs: Vec<(usize, usize)>,
    best: Best,
    /// Which wishes each ranking has met.
    tried: Vec<Vec<bool>>,
}

/// Finds constants that meet as many wishes as possible, or whose values are nearest to the scores; and a smallest set of wishes
/// that exclude each other, or that the search cannot meet together.
pub(super) fn fit_by_search(queue: &mut WishedQueue<'_>, options: &WishOptions) -> OrderFit {
    let mut search = Search::new(queue, options.seed);
    search.run(options.evaluations);
    let values = search.best.values.clone();
    let is_open = !search.has_scores && search.best.met < search.wanted.len();
    let known = known_conflict(search.queue);
    let is_proved = !known.is_empty();
    let conflict = if is_open && !is_proved { search.conflict(options.evaluations) } else { known };
    OrderFit { values, conflict, is_proved }
}

/// Wishes that exclude each other whatever the values of the jobs are.
fn known_conflict(queue: &WishedQueue<'_>) -> Vec<usize> {
    let fixed = queue.dependences.iter().position(|dependence| *dependence == Dependence::Fixed(false));
    fixed.map_or_else(|| shortest_circle(queue.wishes()), |index| vec![index])
}

impl<'q, 'a> Search<'q, 'a> {
    fn new(queue: &'q mut WishedQueue<'a>, seed: u64) -> Self {
        Self {
            space: Space::new(queue.template.constants().iter().map(Range::from).collect(), false),
            seed,
            has_scores: !queue.wished.scores.is_empty(),
            wanted: (0..queue.wishes().len()).collect(),
            pairs: compared_pairs(queue),
            best: Best { met: 0, loss: f64::INFINITY, values: starts(queue.template) },
            tried: Vec::new(),
            queue,
        }
    }

    /// Searches with at most so many rankings.
    fn run(&mut self, evaluations: usize) {
        let start = self.space.start();
        let (integers, others): (Vec<usize>, Vec<usize>) =
            (0..start.len()).partition(|&index| self.space.ranges()[index].is_int);
        let of_integers = if integers.is_empty() { 0 } else { (evaluations as f64 * OF_INTEGERS) as usize };
        let all: Vec<usize> = (0..start.len()).collect();
        let settings = Settings {
            evaluations: evaluations - of_integers,
            tolerance: TOLERANCE,
            seed: self.seed,
            sigma: FIRST_SIGMA,
        };
        // the search ends early where `evaluate` says so
        if self.evaluate(start.clone()).is_continue() && self.explore(&start, &all, &settings).is_continue() {
            let _ = self.improve_integers(&integers, &others, of_integers);
        }
    }

    /// The loss of these constants; ends the search where nothing better can be found.
    fn evaluate(&mut self, values: Vec<f64>) -> ControlFlow<(), u64> {
        let is_met = self.queue.met(&values);
        let met = self.wanted.iter().filter(|&&index| is_met[index]).count();
        let loss = loss(self.queue, &self.pairs);
        if self.wanted.len() <= MAX_WISHES {
            self.tried.push(is_met);
        }
        let meets_more = !self.has_scores && met > self.best.met;
        if meets_more || (loss < self.best.loss && (self.has_scores || met == self.best.met)) {
            self.best = Best { met, loss, values };
        }
        let is_done = !self.has_scores && self.best.met == self.wanted.len();
        match is_done || self.queue.is_interrupted {
            true => ControlFlow::Break(()),
            // losses are not negative, so that their bits are ordered as they are
            false => ControlFlow::Continue(loss.to_bits()),
        }
    }

    /// Searches some of the constants, beginning at these values. The others keep theirs.
    fn explore(&mut self, from: &[f64], free: &[usize], settings: &Settings) -> ControlFlow<()> {
        let place = self.space.point(from);
        let start: Vec<f64> = free.iter().map(|&index| place[index]).collect();
        cma_es::search(&start, settings, &mut |points| {
            let mut losses = Vec::with_capacity(points.len());
            for point in points {
                let mut whole = place.clone();
                free.iter().zip(point).for_each(|(&index, place)| whole[index] = *place);
                let values = self.space.values(&whole);
                losses.push(self.evaluate(values)?);
            }
            ControlFlow::Continue(losses)
        })
    }

    /// Tries the neighbours of the best integers, beside which the other constants are searched again: a step of an integer may be a
    /// loss unless the others follow it.
    fn improve_integers(&mut self, integers: &[usize], others: &[usize], evaluations: usize) -> ControlFlow<()> {
        let until = self.queue.evaluations + evaluations;
        let mut is_better = true;
        while is_better && self.queue.evaluations < until {
            is_better = false;
            for (&index, step) in integers.iter().flat_map(|index| STEPS.map(|step| (index, step))) {
                while self.queue.evaluations < until && self.tries_integer(index, step, others)? {
                    is_better = true;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether another integer gives better constants.
    fn tries_integer(&mut self, index: usize, step: f64, others: &[usize]) -> ControlFlow<(), bool> {
        let range = self.space.ranges()[index];
        let mut values = self.best.values.clone();
        values[index] = (values[index] + step).clamp(range.low, range.high);
        if values == self.best.values {
            return ControlFlow::Continue(false);
        }
        let before = (self.best.met, self.best.loss);
        self.evaluate(values.clone())?;
        if !others.is_empty() {
            let evaluations = RANKINGS_PER_INTEGER;
            let settings = Settings { evaluations, tolerance: TOLERANCE, seed: self.seed, sigma: NARROW };
            self.explore(&values, others, &settings)?;
        }
        ControlFlow::Continue((self.best.met, self.best.loss) != before)
    }

    /// A smallest set of wishes that the search cannot meet together, with one that the best constants do not meet; empty if it is
    /// not found within the rankings, or if it is too large to say anything.
    fn conflict(&mut self, evaluations: usize) -> Vec<usize> {
        let is_met = self.queue.met(&self.best.values.clone());
        let Some(unmet) = is_met.iter().position(|is_met| !is_met).filter(|_| is_met.len() <= MAX_WISHES) else {
            return Vec::new();
        };
        let met: Vec<usize> = (0..is_met.len()).filter(|&index| is_met[index]).collect();
        let until = self.queue.evaluations + CONFLICT_RANKINGS * evaluations;
        let mut conflict =
            reduced(&[unmet], &met, &mut |wanted| !self.can_meet(wanted, evaluations / PART_OF_SET, until));
        conflict.push(unmet);
        conflict.sort_unstable();
        let is_over = self.queue.is_interrupted || self.queue.evaluations >= until;
        let is_found = !is_over && conflict.len() <= MAX_CONFLICT && !self.can_meet(&conflict, evaluations, usize::MAX);
        if is_found { conflict } else { Vec::new() }
    }

    /// Whether some of the wishes can be met together, as far as a search finds it.
    fn can_meet(&mut self, wanted: &[usize], evaluations: usize, until: usize) -> bool {
        let is_known = |tried: &Vec<bool>| wanted.iter().all(|&index| tried[index]);
        if self.tried.iter().any(is_known) {
            return true;
        }
        if self.queue.is_interrupted || self.queue.evaluations >= until {
            return false;
        }
        let wish = |index: usize| (self.queue.wishes()[index].above, self.queue.wishes()[index].below);
        self.pairs = wanted.iter().map(|&index| wish(index)).collect();
        self.wanted = wanted.to_vec();
        self.best = Best { met: 0, loss: f64::INFINITY, values: starts(self.queue.template) };
        self.run(evaluations);
        self.best.met == wanted.len()
    }
}

/// Pairs of rows of which the first one is wished above the second one.
fn compared_pairs(queue: &WishedQueue<'_>) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = queue.wishes().iter().map(|wish| (wish.above, wish.below)).collect();
    for list in &queue.wished.lists {
        let member = |group: usize, other: usize| list[group][other % list[group].len()];
        let distances = (1..usize::BITS).map(|power| 1 << power).take_while(|distance| *distance < list.len());
        for distance in distances {
            let starts = 0..list.len() - distance;
            pairs.extend(starts.map(|group| (member(group, group + distance), member(group + distance, group))));
        }
    }
    pairs
}

/// How far the present ranking is from the wishes.
fn loss(queue: &WishedQueue<'_>, pairs: &[(usize, usize)]) -> f64 {
    if let Some(deviation) = mean_deviation(queue) {
        return deviation / scale(queue);
    }
    let jobs = queue.queue.table.len() as f64;
    let wrong = pairs.iter().filter_map(|&(above, below)| queue.places_apart(above, below));
    wrong.map(|places| WRONG_ORDER + places as f64 / jobs).sum::<f64>() / pairs.len() as f64
}
