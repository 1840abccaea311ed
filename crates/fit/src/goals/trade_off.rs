//! Which goals pull against each other, from the points that were evaluated.

use jsf_simulate::Goals;

use super::search::EvaluatedPoint;

/// The fewest points of a front that are shown as one.
const MIN_POINTS: usize = 3;
/// What the best value of one must cost the other at least, as a fraction of its mean: less is chance.
const MIN_COST: f64 = 0.05;

/// What is traded: a goal or the objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traded {
    /// A goal, by its place.
    Goal(usize),
    /// The objective.
    Objective,
}

/// Two goals, or a goal and the objective, that pull against each other: constants that improve one worsen the other.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// The two.
    pub between: [Traded; 2],
    /// What each loses where the other has its best value, in units of its measure.
    pub costs: [f64; 2],
    /// The places of the points than which no other is better in both, from the best in the first to the best in the second.
    pub front: Vec<usize>,
}

/// Two goals that no evaluated constants meet together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exclusion {
    /// The place of the goal that is met.
    pub met: usize,
    /// The place of the other goal.
    pub other: usize,
    /// The best value of the other goal where the first one is met.
    pub best: f64,
}

/// The two that pull most against each other; `None` if none do.
pub(super) fn trade_off(goals: &Goals, points: &[EvaluatedPoint]) -> Option<TradeOff> {
    let all: Vec<Traded> =
        (0..goals.goals.len()).map(Traded::Goal).chain(goals.objective.iter().map(|_| Traded::Objective)).collect();
    let pairs =
        all.iter().enumerate().flat_map(|(place, &one)| all[place + 1..].iter().map(move |&other| [one, other]));
    let trade_offs = pairs.filter_map(|between| {
        let [first, second] = between.map(|traded| losses(goals, points, traded));
        let (first, second) = (first?, second?);
        let front = front(&first, &second);
        let [best_in_first, .., best_in_second] = *front else { return None };
        let costs = [first[best_in_second] - first[best_in_first], second[best_in_first] - second[best_in_second]];
        let relative = (costs[0] / mean_size(&first)).min(costs[1] / mean_size(&second));
        let is_one = front.len() >= MIN_POINTS && relative >= MIN_COST;
        is_one.then_some((relative, TradeOff { between, costs, front }))
    });
    trade_offs.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, trade_off)| trade_off)
}

fn mean_size(losses: &[f64]) -> f64 {
    losses.iter().map(|loss| loss.abs()).sum::<f64>() / losses.len() as f64
}

/// Which goals exclude each other, if no point meets all. The best value of each goal beside each other one that can be met.
pub(super) fn exclusions(goals: &Goals, points: &[EvaluatedPoint]) -> Vec<Exclusion> {
    let count = goals.goals.len();
    let pairs = (0..count).flat_map(|met| (0..count).filter(move |&other| other != met).map(move |other| [met, other]));
    let excluded = pairs.filter_map(|[met, other]| {
        let meets = |goal: usize| points.iter().filter(move |point| point.goals[goal].missed == 0.0);
        let is_excluded = meets(met).all(|point| point.goals[other].missed > 0.0) && meets(other).next().is_some();
        let best = best_value(goals, other, meets(met))?;
        is_excluded.then_some(Exclusion { met, other, best })
    });
    excluded.collect()
}

/// The best value that a goal has at some points.
pub(super) fn best_value<'p>(
    goals: &Goals,
    goal: usize,
    points: impl Iterator<Item = &'p EvaluatedPoint>,
) -> Option<f64> {
    let values = points.filter_map(|point| point.goals[goal].value);
    let is_most = goals.goals[goal].limit.is_most;
    values.reduce(if is_most { f64::min } else { f64::max })
}

/// What is traded at each point, less being better; `None` where a point has no value.
fn losses(goals: &Goals, points: &[EvaluatedPoint], traded: Traded) -> Option<Vec<f64>> {
    match traded {
        Traded::Goal(goal) => {
            let sign = if goals.goals[goal].limit.is_most { 1.0 } else { -1.0 };
            points.iter().map(|point| Some(sign * point.goals[goal].value?)).collect()
        }
        Traded::Objective => Some(points.iter().map(|point| point.score.objective).collect()),
    }
}

/// The places at which no other one is less in both, from the least of the first on.
fn front(first: &[f64], second: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..first.len()).collect();
    order.sort_by(|&one, &other| first[one].total_cmp(&first[other]).then(second[one].total_cmp(&second[other])));
    let mut least = f64::INFINITY;
    order.retain(|&place| {
        let is_less = second[place] < least;
        least = least.min(second[place]);
        is_less
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_has_no_point_that_another_one_beats() {
        assert_eq!(front(&[3.0, 1.0, 2.0, 2.0, 4.0], &[1.0, 5.0, 3.0, 4.0, 2.0]), [1, 2, 0]);
        assert_eq!(front(&[1.0, 1.0], &[2.0, 2.0]), [0]);
    }
}
