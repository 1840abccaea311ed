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
        let mut meeting = points.to_vec();
        meeting.retain(|point| meets(point, met));
        for other in places.clone() {
            if other != met
                && !meeting.iter().any(|point| meets(point, other))
                && points.iter().any(|point| meets(point, other))
                && let Some(best) = best_value(goals, other, &meeting)
            {
                excluded.push(Exclusion { met, other, best });
            }
        }
    }
    excluded
}

/// The best value that a goal has at some points.
pub(super) fn best_value(goals: &Goals, goal: usize, points: &[EvaluatedPoint]) -> Option<f64> {
    let is_most = goals.goals[goal].limit.is_most;
    let mut best: Option<f64> = None;
    for point in points {
        let Some(value) = point.goals[goal].value else {
            continue;
        };
        best = Some(match best {
            Some(best) if is_most => best.min(value),
            Some(best) => best.max(value),
            None => value,
        });
    }
    best
}
