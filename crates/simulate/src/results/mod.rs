//! What a simulated workload says of waits, of the use of the machine and of goals.

mod difference;
mod fairness;
mod goal_changes;
mod goals;
mod job_classes;
mod statistics;
mod validation;

pub use difference::{Difference, GroupDifference, MeanChange};
pub use fairness::{EntityUse, Fairness};
pub use goals::{
    Goal, GoalState, Goals, GoalsError, JudgedGoal, JudgedRun, MAX_GOALS_BYTES, Measure, Member,
    Objective, in_one_line,
};
pub use job_classes::ByKind;
pub use statistics::{
    Distribution, GroupStatistics, Period, StartValues, Statistics, Summary, WarmUp, Whole, wait_of,
};
pub use validation::Validation;
