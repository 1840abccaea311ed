//! Which goals exclude each other, from the points that were evaluated.

use jsf_simulate::Goals;

use super::goal_search::EvaluatedPoint;

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

/// Which goals exclude each other, if no point meets all. The best value of each goal beside each
/// other one that can be met.
pub(super) fn exclusions(goals: &Goals, points: &[EvaluatedPoint]) -> Vec<Exclusion> {
    let count = goals.goals.len();
    let pairs = (0..count).flat_map(|met| {
        (0..count)
            .filter(move |&other| other != met)
            .map(move |other| [met, other])
    });
    let excluded = pairs.filter_map(|[met, other]| {
        let meets = |goal: usize| {
            points
                .iter()
                .filter(move |point| point.goals[goal].missed == 0.0)
        };
        let is_excluded = meets(met).all(|point| point.goals[other].missed > 0.0)
            && meets(other).next().is_some();
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
