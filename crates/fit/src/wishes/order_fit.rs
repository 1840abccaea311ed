//! The constants of an affine template that meet the wishes with the largest margin.

use job_sort_formula::formula::TemplateConstant;

use super::Wish;
use super::affine::AffineValues;
use super::conflict::smallest_conflict;
use super::halfspace::{Condition, Halfspace};
use super::linear_program::{Bounds, Deepest, NO_DISTANCE, StartPlace, deepest, is_feasible, least_violation, nearest};
use super::wished_queue::{WishedQueue, count};
use crate::is_scale_free;

/// What two float32 numbers that are next to each other differ by, as a part of themselves.
const FLOAT32_STEP: f64 = 1.0 / (1 << 23) as f64;
/// How often the constants are found again, with differences between jobs that the scheduler can tell apart.
const ROUNDS: usize = 4;
/// How many of the wishes that are not met are tried again one by one.
const RETRIED: usize = 100;

/// The margin that is enough: numbers that may vary by this part of their ranges before a wish fails stay near to where they begin.
const ENOUGH: f64 = 0.002;
/// Where the largest margin is less, the part of it that is kept.
const KEPT: f64 = 0.9;
/// The part of the margin that is kept where another common factor is chosen.
const SCALED: f64 = 0.5;

/// The constants, and a smallest set of wishes that exclude each other.
pub(super) struct OrderFit {
    pub(super) values: Vec<f64>,
    pub(super) conflict: Vec<usize>,
    /// Whether that is proved, and not only that a search cannot meet them.
    pub(super) is_proved: bool,
}

/// Finds the constants with the largest margin, which is the distance of the constants, in parts of their ranges, from those
/// for which a wish fails; of those whose margin is enough, the ones nearest to where they begin. If not all wishes can hold, the same for
/// those that can.
pub(super) fn fit_order(queue: &mut WishedQueue<'_>, values: &AffineValues) -> OrderFit {
    let constants = queue.template.constants();
    let pairs = queue.wishes().iter().zip(&queue.dependences);
    let mut conditions: Vec<Condition> = pairs
        .map(|(wish, dependence)| Condition::new(*wish, *dependence, values, queue.threshold, constants))
        .collect();
    let bounds = bounds(constants, &conditions);
    let mut best: Option<(usize, Vec<f64>)> = None;
    for _ in 0..ROUNDS {
        let found = numbers(queue, &conditions, bounds.clone());
        let met = queue.met(&found);
        let is_fixed = |condition: &Condition| condition.halfspaces().is_empty();
        let is_done = conditions.iter().zip(&met).all(|(condition, is_met)| *is_met || is_fixed(condition));
        if best.as_ref().is_none_or(|(most, _)| count(&met) > *most) {
            best = Some((count(&met), found));
        }
        if is_done || queue.is_interrupted {
            break;
        }
        demand_float32(&mut conditions, queue);
    }
    let (met, values) = best.unwrap_or_default();
    let conflict = match met == queue.wishes().len() {
        true => Vec::new(),
        false => smallest_conflict(queue.wishes(), &conditions, &bounds),
    };
    OrderFit { values, conflict, is_proved: true }
}

/// The ranges of the constants. A constant that no wish depends on stays as it is.
fn bounds(constants: &[TemplateConstant], conditions: &[Condition]) -> Vec<(f64, f64)> {
    let matters =
        |index: usize| conditions.iter().flat_map(Condition::halfspaces).any(|one| one.direction[index] != 0.0);
    let bounds = constants.iter().enumerate().map(|(index, constant)| match matters(index) {
        true => (0.0, 1.0),
        false => (place_of(constant, constant.start), place_of(constant, constant.start)),
    });
    bounds.collect()
}

/// Demands that jobs differ by what float32 keeps of values as large as they are now.
fn demand_float32(conditions: &mut [Condition], queue: &WishedQueue<'_>) {
    for (condition, Wish { above, below }) in conditions.iter_mut().zip(queue.wishes()) {
        let step = FLOAT32_STEP * queue.value(*above).abs().max(queue.value(*below).abs());
        if let Condition::Inside(halfspaces) = condition {
            halfspaces.iter_mut().for_each(|halfspace| halfspace.demand(step));
        }
    }
}

/// The constants, of which the integers are fixed one after the other.
fn numbers(queue: &WishedQueue<'_>, conditions: &[Condition], mut bounds: Vec<(f64, f64)>) -> Vec<f64> {
    let conditions: Vec<&Halfspace> = conditions.iter().flat_map(Condition::halfspaces).collect();
    let constants = queue.template.constants();
    let starts = constants.iter().map(start_place).collect::<Vec<StartPlace>>();
    let mut found = Compromise::new(&conditions, &bounds, &starts);
    for (index, constant) in constants.iter().enumerate().filter(|(_, constant)| constant.is_int) {
        let near = value_at(constant, found.point[index]);
        let deep = value_at(constant, found.deepest[index]);
        let mut integers = vec![near.floor(), near.ceil(), deep.floor(), deep.ceil()];
        integers.dedup();
        let candidates = integers.into_iter().map(|integer| {
            let place = place_of(constant, integer.clamp(constant.low, constant.high));
            let mut fixed = bounds.clone();
            fixed[index] = (place, place);
            (Compromise::new(&conditions, &fixed, &starts), fixed)
        });
        let best = candidates.reduce(|best, other| if other.0.is_better_than(&best.0) { other } else { best });
        if let Some(best) = best {
            (found, bounds) = best;
        }
    }
    let has_scale = constants.iter().any(|constant| constant.is_int) || queue.has_threshold();
    if !has_scale && is_scale_free(queue.template) {
        found = found.rescaled(constants, &bounds, &starts);
    }
    constants.iter().zip(&found.point).map(|(constant, place)| number_at(constant, *place)).collect()
}

/// The value at a place, which is the value to begin with if it differs from that by rounding alone.
fn number_at(constant: &TemplateConstant, place: f64) -> f64 {
    let value = value_at(constant, place);
    let is_start = (value - constant.start).abs() <= NO_DISTANCE * (constant.high - constant.low);
    if is_start { constant.start } else { value }
}

pub(super) fn value_at(constant: &TemplateConstant, place: f64) -> f64 {
    (constant.low + place * (constant.high - constant.low)).clamp(constant.low, constant.high)
}

pub(super) fn place_of(constant: &TemplateConstant, value: f64) -> f64 {
    (value - constant.low) / (constant.high - constant.low)
}

/// How far a point is from where the constants begin.
fn deviation(starts: &[StartPlace], point: &[f64]) -> f64 {
    starts.iter().zip(point).map(|(start, place)| start.weight * (place - start.place).abs()).sum()
}

/// Distances are parts of the range; where factors matter, parts of the value to begin with.
fn start_place(constant: &TemplateConstant) -> StartPlace {
    let width = constant.high - constant.low;
    let weight = match constant.is_log {
        true => width / (constant.start * libm::log(constant.high / constant.low)),
        false => 1.0,
    };
    StartPlace { place: place_of(constant, constant.start), weight }
}

/// A point that satisfies as many conditions as could be found.
struct Compromise<'c> {
    point: Vec<f64>,
    /// The point that is farthest inside.
    deepest: Vec<f64>,
    /// The conditions that it satisfies.
    satisfied: Vec<&'c Halfspace>,
    /// The largest distance of a point that satisfies them.
    distance: f64,
    /// How far it is from where the constants begin.
    deviation: f64,
}

impl<'c> Compromise<'c> {
    fn new(conditions: &[&'c Halfspace], bounds: &Bounds, starts: &[StartPlace]) -> Self {
        if let Some(inside) = Self::inside(conditions, bounds, starts) {
            return inside;
        }
        let center: Vec<f64> = bounds.iter().map(|(low, high)| (low + high) / 2.0).collect();
        let point = least_violation(conditions, bounds).unwrap_or(center);
        let margin = |condition: &&&Halfspace| condition.margin(&point);
        let mut by_margin: Vec<&Halfspace> = conditions.to_vec();
        by_margin.sort_by(|left, right| margin(&right).total_cmp(&margin(&left)));
        let is_inside = |condition: &&Halfspace| {
            condition.margin(&point) > if condition.is_strict { NO_DISTANCE } else { -NO_DISTANCE }
        };
        let (mut kept, others): (Vec<&Halfspace>, Vec<&Halfspace>) = by_margin.into_iter().partition(is_inside);
        for other in others.into_iter().take(RETRIED) {
            kept.push(other);
            if !is_feasible(&kept, bounds) {
                kept.pop();
            }
        }
        Self::inside(&kept, bounds, starts).unwrap_or_else(|| Self {
            deviation: deviation(starts, &point),
            deepest: point.clone(),
            point,
            satisfied: kept,
            distance: 0.0,
        })
    }

    /// The point nearest to where the constants begin, of those that are far enough inside of all planes; on those that need not be
    /// strict, if there is no other.
    fn inside(conditions: &[&'c Halfspace], bounds: &Bounds, starts: &[StartPlace]) -> Option<Self> {
        let (on_planes, deepest) = [false, true].into_iter().find_map(|on_planes| {
            let found = deepest(conditions, bounds, on_planes).filter(|deepest| deepest.distance > NO_DISTANCE)?;
            Some((on_planes, found))
        })?;
        let margin = ENOUGH.min(KEPT * deepest.distance);
        let point = nearest(conditions, bounds, on_planes, margin, starts).unwrap_or_else(|| deepest.point.clone());
        let deviation = deviation(starts, &point);
        let Deepest { point: deepest, distance, .. } = deepest;
        Some(Self { point, deepest, satisfied: conditions.to_vec(), distance, deviation })
    }

    fn is_better_than(&self, other: &Self) -> bool {
        let quality = |one: &Self| (one.satisfied.len(), one.distance.min(ENOUGH), -one.deviation);
        quality(self) > quality(other)
    }

    /// The same order of the jobs with constants that are nearest to those to begin with. A common factor of all constants does not
    /// change the order, so that one of them keeps the value that it begins with: the one with which the others are nearest to theirs.
    fn rescaled(self, constants: &[TemplateConstant], bounds: &Bounds, starts: &[StartPlace]) -> Self {
        let moves = |index: &usize| constants[*index].start != 0.0 && bounds[*index].0 < bounds[*index].1;
        let candidates = (0..constants.len()).filter(moves).filter_map(|index| {
            let start = starts[index].place;
            let mut fixed = bounds.to_vec();
            fixed[index] = (start, start);
            Self::inside(&self.satisfied, &fixed, starts)
        });
        // beside a fixed constant the ranges of the others may leave little room
        let margin = |one: &Self| one.distance * largest_factor(constants, &one.point);
        let is_as_deep = |one: &Self| margin(one) >= SCALED * self.distance.min(ENOUGH);
        let nearest = candidates.filter(is_as_deep).min_by(|one, other| one.deviation.total_cmp(&other.deviation));
        nearest.unwrap_or(self)
    }
}

/// By what all constants can be multiplied within their ranges.
fn largest_factor(constants: &[TemplateConstant], point: &[f64]) -> f64 {
    let values = constants.iter().zip(point).map(|(constant, place)| (constant, value_at(constant, *place)));
    let factors = values.filter(|(_, value)| *value != 0.0).map(|(constant, value)| {
        let end = if value > 0.0 { constant.high } else { constant.low };
        end / value
    });
    factors.fold(f64::INFINITY, f64::min)
}
