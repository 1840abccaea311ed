//! Which goals exclude each other, from the points that were evaluated.

use jsf_simulate::Goals;

use super::constant_search::EvaluatedPoint;

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

/// Whether a point meets a goal.
fn meets(point: &EvaluatedPoint, goal: usize) -> bool {
    point.goals[goal].missed == 0.0
}

/// Which goals exclude each other, if no point meets all. The best value of each goal beside each
/// other one that can be met.
pub(super) fn exclusions(goals: &Goals, points: &[EvaluatedPoint]) -> Vec<Exclusion> {
    let mut excluded = Vec::new();
    let places = 0..goals.goals.len();
    for met in places.clone() {
        let mut meeting = Vec::from_iter(points);
        meeting.retain(|point| meets(point, met));
        for other in places.clone() {
            if other != met
                && !meeting.iter().any(|point| meets(point, other))
                && points.iter().any(|point| meets(point, other))
                && let Some(best) = best_value(goals, other, meeting.iter().copied())
            {
                excluded.push(Exclusion { met, other, best });
            }
        }
    }
    excluded
}

/// The best value that a goal has at some points.
pub(super) fn best_value<'p>(
    goals: &Goals,
    goal: usize,
    points: impl IntoIterator<Item = &'p EvaluatedPoint>,
) -> Option<f64> {
    let values = points
        .into_iter()
        .filter_map(|point| point.goals[goal].value);
    let is_most = goals.goals[goal].limit.is_most;
    values.reduce(if is_most { f64::min } else { f64::max })
}
