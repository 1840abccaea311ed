//! The linear programs: the point that is farthest from all planes, the one that violates the conditions least, and the one with
//! the least absolute deviations.
//!
//! Programs with many conditions begin with some of them, and those that the solution violates are added until all are satisfied.

use microlp::{ComparisonOp, OptimizationDirection, Problem, Solution, SolveOptions, Variable};

use super::halfspace::Halfspace;

/// Distances below this are 0 but for rounding.
pub(super) const NO_DISTANCE: f64 = 1e-9;
/// How many conditions a program begins with, and how many are added at once.
const CONDITIONS_AT_ONCE: usize = 200;
/// More than any distance within the unit cube.
const FAR: f64 = 100.0;

/// The least and the greatest place of each constant in its range.
pub(super) type Bounds = [(f64, f64)];

/// The point that is farthest from all planes.
#[derive(Debug)]
pub(super) struct Deepest {
    pub(super) point: Vec<f64>,
    /// The distance from the nearest plane; negative if no point is inside of all of them.
    pub(super) distance: f64,
    /// The conditions that keep it from being farther away, by their index.
    pub(super) binding: Vec<usize>,
}

/// Finds the point that is farthest inside. With `on_planes` it may lie on planes that are not strict, and the distance from them
/// does not count. `None` if there is no such point.
pub(super) fn deepest(conditions: &[&Halfspace], bounds: &Bounds, on_planes: bool) -> Option<Deepest> {
    let mut used: Vec<usize> = spread(conditions.len());
    loop {
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let point = coordinates(&mut problem, bounds);
        let distance = problem.add_var(1.0, (-FAR, FAR));
        for &index in &used {
            let condition = conditions[index];
            let mut terms = terms(condition, &point);
            if condition.is_strict || !on_planes {
                terms.push((distance, -1.0));
            }
            problem.add_constraint(terms, ComparisonOp::Ge, condition.least - condition.offset);
        }
        let solution = solved(&problem)?;
        let point = values(&solution, &point);
        let distance = solution.var_value(distance);
        let required = |condition: &Halfspace| if condition.is_strict || !on_planes { distance } else { 0.0 };
        let excess = |index: usize| conditions[index].margin(&point) - required(conditions[index]);
        if add_violated(&mut used, conditions.len(), excess) {
            continue;
        }
        let binding = used.into_iter().filter(|&index| excess(index).abs() < 1e-6).collect();
        return Some(Deepest { point, distance, binding });
    }
}

/// Where a constant begins, and what it costs to move it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartPlace {
    pub(super) place: f64,
    /// The cost of a distance of the whole range.
    pub(super) weight: f64,
}

/// Finds the point that is nearest to where the constants begin, by the weighted sum of absolute distances, among those that are
/// at least this far inside. In such a sum as many constants as possible stay exactly where they begin.
pub(super) fn nearest(
    conditions: &[&Halfspace],
    bounds: &Bounds,
    on_planes: bool,
    distance: f64,
    starts: &[StartPlace],
) -> Option<Vec<f64>> {
    let required = |condition: &Halfspace| if condition.is_strict || !on_planes { distance } else { 0.0 };
    let mut used: Vec<usize> = spread(conditions.len());
    loop {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let point = coordinates(&mut problem, bounds);
        for (&place, start) in point.iter().zip(starts) {
            let above = problem.add_var(start.weight, (0.0, f64::INFINITY));
            let below = problem.add_var(start.weight, (0.0, f64::INFINITY));
            problem.add_constraint([(place, 1.0), (above, -1.0), (below, 1.0)], ComparisonOp::Eq, start.place);
        }
        for condition in used.iter().map(|&index| conditions[index]) {
            let least = condition.least - condition.offset + required(condition);
            problem.add_constraint(terms(condition, &point), ComparisonOp::Ge, least);
        }
        let solution = solved(&problem)?;
        let point = values(&solution, &point);
        let excess = |index: usize| conditions[index].margin(&point) - required(conditions[index]);
        if !add_violated(&mut used, conditions.len(), excess) {
            return Some(point);
        }
    }
}

/// Whether some point is inside of all planes.
pub(super) fn is_feasible(conditions: &[&Halfspace], bounds: &Bounds) -> bool {
    deepest(conditions, bounds, true).is_some_and(|deepest| deepest.distance > NO_DISTANCE)
}

/// Finds the point at which the distances on the wrong sides are the smallest part of the distances on the right sides.
///
/// This part does not change with a common factor of all constants, as the order of the jobs does not, so that the scale of the
/// constants need not be fixed. Source: V. Srinivasan, A. D. Shocker, "Linear programming techniques for multidimensional
/// analysis of preferences", Psychometrika 38, 1973; the quotient becomes linear by A. Charnes and W. W. Cooper's transformation.
/// `None` if at each point the wrong sides prevail.
pub(super) fn least_violation(conditions: &[&Halfspace], bounds: &Bounds) -> Option<Vec<f64>> {
    let mut used: Vec<usize> = spread(conditions.len());
    let count = conditions.len() as f64;
    // without a distance that is demanded, constants that make most jobs equal would violate nothing
    let demanded = 1.0 / count;
    loop {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let scale = problem.add_var(0.0, (0.0, 1e6));
        let point: Vec<Variable> = bounds.iter().map(|_| problem.add_var(0.0, (0.0, f64::INFINITY))).collect();
        for (&place, &(low, high)) in point.iter().zip(bounds) {
            problem.add_constraint([(place, 1.0), (scale, -high)], ComparisonOp::Le, 0.0);
            problem.add_constraint([(place, 1.0), (scale, -low)], ComparisonOp::Ge, 0.0);
        }
        for &index in &used {
            let mut terms = terms(conditions[index], &point);
            terms.push((scale, conditions[index].offset - conditions[index].least - demanded));
            terms.push((problem.add_var(1.0, (0.0, f64::INFINITY)), 1.0));
            problem.add_constraint(terms, ComparisonOp::Ge, 0.0);
        }
        let mean = |part: &dyn Fn(&Halfspace) -> f64| conditions.iter().map(|one| part(one)).sum::<f64>() / count;
        let mut mean_terms: Vec<(Variable, f64)> =
            point.iter().enumerate().map(|(axis, &place)| (place, mean(&|one| one.direction[axis]))).collect();
        mean_terms.push((scale, mean(&|one| one.offset - one.least)));
        problem.add_constraint(mean_terms, ComparisonOp::Eq, 1.0);
        let solution = solved(&problem)?;
        let scale = solution.var_value(scale);
        let point: Vec<f64> = values(&solution, &point).into_iter().map(|place| place / scale).collect();
        if !point.iter().all(|place| place.is_finite()) {
            return None;
        }
        if !add_violated(&mut used, conditions.len(), |index| conditions[index].margin(&point) - demanded) {
            return Some(point);
        }
    }
}

/// A value that is wished: `coefficients · point + offset` is to be near to 0.
#[derive(Debug)]
pub(super) struct Deviation {
    pub(super) coefficients: Vec<f64>,
    pub(super) offset: f64,
}

/// Finds the point with the smallest sum of absolute deviations.
pub(super) fn least_deviation(deviations: &[Deviation], bounds: &Bounds) -> Option<Vec<f64>> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let point = coordinates(&mut problem, bounds);
    for Deviation { coefficients, offset } in deviations {
        let mut terms: Vec<(Variable, f64)> = point.iter().copied().zip(coefficients.iter().copied()).collect();
        terms.push((problem.add_var(1.0, (0.0, f64::INFINITY)), -1.0));
        terms.push((problem.add_var(1.0, (0.0, f64::INFINITY)), 1.0));
        problem.add_constraint(terms, ComparisonOp::Eq, -offset);
    }
    solved(&problem).map(|solution| values(&solution, &point))
}

/// Indices of conditions to begin with, evenly among all.
fn spread(count: usize) -> Vec<usize> {
    (0..count).step_by(count.div_ceil(CONDITIONS_AT_ONCE).max(1)).collect()
}

/// Adds the conditions with the least excess to those that are used, if the excess of any is negative.
fn add_violated(used: &mut Vec<usize>, count: usize, excess: impl Fn(usize) -> f64) -> bool {
    if used.len() == count {
        return false;
    }
    let mut violated: Vec<(f64, usize)> = (0..count)
        .filter(|index| used.binary_search(index).is_err())
        .map(|index| (excess(index), index))
        .filter(|(excess, _)| *excess < -NO_DISTANCE)
        .collect();
    violated.sort_by(|left, right| left.0.total_cmp(&right.0));
    violated.truncate(CONDITIONS_AT_ONCE);
    used.extend(violated.iter().map(|(_, index)| *index));
    used.sort_unstable();
    !violated.is_empty()
}

fn coordinates(problem: &mut Problem, bounds: &Bounds) -> Vec<Variable> {
    bounds.iter().map(|&bounds| problem.add_var(0.0, bounds)).collect()
}

fn terms(condition: &Halfspace, point: &[Variable]) -> Vec<(Variable, f64)> {
    let terms = point.iter().copied().zip(condition.direction.iter().copied());
    // the solver asks for coefficients of similar size
    terms.filter(|(_, part)| part.abs() > NO_DISTANCE).collect()
}

fn solved(problem: &Problem) -> Option<Solution> {
    let mut options = SolveOptions::default();
    options.tolerances.feasibility = NO_DISTANCE / 10.0;
    problem.solve_with(options).ok()?.into_solution().ok()
}

fn values(solution: &Solution, variables: &[Variable]) -> Vec<f64> {
    variables.iter().map(|&variable| solution.var_value(variable)).collect()
}
