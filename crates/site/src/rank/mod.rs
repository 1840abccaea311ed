//! The jobs of a site in the scheduler's order, why each has its place, and when or by what it has
//! another one.
//!
//! In: one formula, two, or one after another. Out: the jobs with what the formula needs, and their
//! ranking; its comparison with another one; the reasons for places, and places over time.

mod compared_queue;
mod contest;
mod explanation;
mod places_over_time;
mod ranked_queue;
mod reach_rank;
mod sweep;

pub use compared_queue::{CompareRequest, ComparedQueue, WhatIf};
pub use explanation::{
    Against, Cause, ExplainOptions, ExplainedInput, Explanation, Explanations, Influence,
    Neighbour, OtherValues, RankReached, TermDifference,
};
pub use places_over_time::{JobTrajectory, Overtaking, Trajectory, TrajectoryPoint};
pub(crate) use ranked_queue::by_heading;
pub use ranked_queue::{JobsToRank, RankRequest, RankedQueue, Rule};
pub use reach_rank::{Means, Reached, SmallestChange, SmallestChanges, Wait};
