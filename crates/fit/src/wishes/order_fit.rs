//! The constants of an affine template that meet the wishes with the largest margin.

use job_sort_formula::formula::{Template, TemplateConstant};

use super::Wish;
use super::affine::AffineValues;
use super::conflict::smallest_conflict;
use super::halfspace::{Condition, Halfspace};
use super::linear_program::{Bounds, NO_DISTANCE, deepest, is_feasible, least_violation};
use super::wished_queue::{WishedQueue, count};

/// What two float32 numbers that are next to each other differ by, as a part of themselves.
const FLOAT32_STEP: f64 = 1.0 / (1 << 23) as f64;
/// How often the constants are found again, with differences between jobs that the scheduler can tell apart.
const ROUNDS: usize = 4;
/// How many of the wishes that are not met are tried again one by one.
const RETRIED: usize = 100;

/// The constants, and a smallest set of wishes that exclude each other.
pub(super) struct OrderFit {
    pub(super) values: Vec<f64>,
    pub(super) conflict: Vec<usize>,
}

/// Finds the constants with the largest margin, which is the distance of the constants, in parts of their ranges, from those
/// for which a wish fails. If not all wishes can hold, the largest margin of those that can.
pub(super) fn fit_order(queue: &mut WishedQueue<'_>, values: &AffineValues) -> OrderFit {
    let constants = queue.template.constants();
    let pairs = queue.wishes().iter().zip(&queue.dependences);
    let mut conditions: Vec<Condition> = pairs
        .map(|(wish, dependence)| Condition::new(*wish, *dependence, values, queue.threshold, constants))
        .collect();
    let bounds = bounds(constants, &conditions);
    let mut best: Option<(usize, Vec<f64>)> = None;
    for _ in 0..ROUNDS {
        let found = numbers(queue.template, &conditions, bounds.clone());
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
    OrderFit { values, conflict }
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
fn numbers(template: &Template, conditions: &[Condition], mut bounds: Vec<(f64, f64)>) -> Vec<f64> {
    let conditions: Vec<&Halfspace> = conditions.iter().flat_map(Condition::halfspaces).collect();
    let constants = template.constants();
    let mut found = Compromise::new(&conditions, &bounds);
    for (index, constant) in constants.iter().enumerate().filter(|(_, constant)| constant.is_int) {
        let value = value_at(constant, found.point[index]);
        let candidates = [value.floor(), value.ceil()].map(|integer| {
            let place = place_of(constant, integer.clamp(constant.low, constant.high));
            let mut fixed = bounds.clone();
            fixed[index] = (place, place);
            (Compromise::new(&conditions, &fixed), fixed)
        });
        let [low, high] = candidates;
        (found, bounds) = if high.0.is_better_than(&low.0) { high } else { low };
    }
    constants.iter().zip(&found.point).map(|(constant, place)| value_at(constant, *place)).collect()
}

pub(super) fn value_at(constant: &TemplateConstant, place: f64) -> f64 {
    (constant.low + place * (constant.high - constant.low)).clamp(constant.low, constant.high)
}

pub(super) fn place_of(constant: &TemplateConstant, value: f64) -> f64 {
    (value - constant.low) / (constant.high - constant.low)
}

/// A point that satisfies as many conditions as could be found.
struct Compromise {
    point: Vec<f64>,
    satisfied: usize,
    distance: f64,
}

impl Compromise {
    fn new(conditions: &[&Halfspace], bounds: &Bounds) -> Self {
        if let Some(deepest) = inside(conditions, bounds) {
            return deepest;
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
        inside(&kept, bounds).unwrap_or(Self { point, satisfied: kept.len(), distance: 0.0 })
    }

    fn is_better_than(&self, other: &Self) -> bool {
        (self.satisfied, self.distance) > (other.satisfied, other.distance)
    }
}

/// The deepest point inside of all planes; on those that need not be strict, if there is no other.
fn inside(conditions: &[&Halfspace], bounds: &Bounds) -> Option<Compromise> {
    let found = [false, true].into_iter().find_map(|on_planes| {
        deepest(conditions, bounds, on_planes).filter(|deepest| deepest.distance > NO_DISTANCE)
    })?;
    Some(Compromise { point: found.point, satisfied: conditions.len(), distance: found.distance })
}
