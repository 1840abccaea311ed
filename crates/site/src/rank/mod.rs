//! The jobs of a site in the scheduler's order, why each has its place, and when or by what it has
//! another one.
//!
//! In: one formula, two, or one after another. Out: the jobs with what the formula needs, and their
//! ranking; its comparison with another one; the reasons for places, and places over time.

mod causes;
mod compared_queue;
mod explanation;
mod race;
mod ranked_queue;
mod rules;
mod smallest_changes;
mod sweep;
mod trajectory;

pub use causes::{Against, Cause, Influence, OtherValues};
pub use compared_queue::{ComparedQueue, WhatIf};
pub use explanation::{
    ExplainOptions, ExplainedInput, Explanation, Explanations, Neighbour, RankReached,
    TermDifference,
};
pub use ranked_queue::{JobsToRank, RankRequest, RankedQueue};
pub use rules::{Rule, by_heading};
pub use smallest_changes::{Means, SmallestChange, SmallestChanges};
pub use trajectory::{JobTrajectory, Overtaking, Reached, Trajectory, TrajectoryPoint, Wait};
