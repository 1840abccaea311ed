//! What was found.

use serde::Serialize;

use crate::constant::FittedConstant;

/// The constants that were found, and the wishes that they meet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WishFit {
    /// The formula with the constants.
    pub formula: String,
    /// Whether all wishes are met.
    #[serde(rename = "feasible")]
    pub is_feasible: bool,
    /// The constants, in the order of the template; between the ends of each, the same wishes are met
    /// by all that were tried, the other constants being as they are.
    pub parameters: Vec<FittedConstant>,
    /// The wishes that are met and that are not.
    #[serde(skip)]
    pub wishes: WishesMet,
    /// How often the jobs were ranked.
    pub evaluations: usize,
    /// The seed of the search.
    pub seed: u64,
    /// Whether the search came to its end and was not interrupted.
    #[serde(rename = "complete")]
    pub is_complete: bool,
}

/// Which wishes the jobs' order meets.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WishesMet {
    /// The number of wishes: pairs of jobs of which one is wished before the other one.
    pub total: usize,
    /// How many of them are met.
    pub met: usize,
    /// The others: the ids of the two jobs.
    pub violated: Vec<(String, String)>,
    /// The fewest wishes that contradict each other, in a circle of jobs; empty if none do.
    pub conflict: Vec<(String, String)>,
    /// The mean absolute deviation of the values from the wished scores, if there are scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_deviation: Option<f64>,
}
