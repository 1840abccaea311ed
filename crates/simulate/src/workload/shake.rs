//! Whether a result depends on seconds: the same jobs, submitted a little earlier or later.
//!
//! A schedule of a loaded machine is chaotic: a job that comes ten seconds later can change the
//! order of starts for days. A change that such moves alone make is no effect of a formula. Two
//! formulas are compared on the same moves.
//!
//! Source: D. Tsafrir, K. Ouaknine, D. G. Feitelson, "Reducing Performance Evaluation Sensitivity
//! and Variability by Input Shaking", 2007.

use serde::Serialize;

use super::Workload;
use super::generate::Random;

/// The most seconds by which a submission is moved, either way.
pub const SHAKE_SECONDS: i64 = 30;
/// The probability with which a sign may be chance.
const LEVEL: f64 = 0.05;

/// The least and the greatest of some results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// How many are negative.
    #[serde(skip)]
    pub decreases: usize,
    /// How many are positive.
    #[serde(skip)]
    pub increases: usize,
}

/// The spread of the results of several runs with moved submissions: of means under one formula, or
/// of their changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shake {
    /// The number of runs.
    pub runs: usize,
    /// The most seconds by which a submission is moved.
    pub seconds: i64,
    /// The mean wait, in seconds.
    #[serde(rename = "mean_wait")]
    pub wait: Spread,
    /// The mean wait of a core hour, in seconds.
    #[serde(rename = "mean_wait_per_core_hour")]
    pub wait_per_core_hour: Spread,
    /// The mean bounded slowdown.
    #[serde(rename = "mean_bounded_slowdown")]
    pub bounded_slowdown: Spread,
}

impl Workload {
    /// The same jobs, each submitted up to 30 s earlier or later. Another seed moves them
    /// otherwise.
    pub fn shaken(&self, seed: u64) -> Self {
        let mut random = Random(seed);
        let choices = 2 * SHAKE_SECONDS as usize + 1;
        let mut shaken = self.clone();
        for job in &mut shaken.jobs {
            job.submit += random.below(choices) as i64 - SHAKE_SECONDS;
        }
        shaken.sort();
        shaken
    }
}

impl Spread {
    fn new(results: impl Iterator<Item = f64>) -> Self {
        let mut spread = Self {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            decreases: 0,
            increases: 0,
        };
        for result in results {
            spread.low = spread.low.min(result);
            spread.high = spread.high.max(result);
            spread.decreases += usize::from(result < 0.0);
            spread.increases += usize::from(result > 0.0);
        }
        spread
    }

    /// Whether so many results have the same sign that chance would hardly show it: by the
    /// two-sided sign test, at 5 %. It takes six results at least.
    pub fn has_sign(&self) -> bool {
        let trials = self.decreases + self.increases;
        let fewer = self.decreases.min(self.increases);
        // the probability of so few of one sign, or fewer, where both are equally likely
        // as logarithms, since the probability of none among thousands is less than any double
        let mut term = -(trials as f64) * std::f64::consts::LN_2;
        let mut tail = libm::exp(term);
        for drawn in 0..fewer {
            term += libm::log((trials - drawn) as f64 / (drawn + 1) as f64);
            tail += libm::exp(term);
        }
        2.0 * tail <= LEVEL
    }

    /// Whether the results differ from each other by more than an effect is large.
    pub fn is_larger_than(&self, effect: f64) -> bool {
        self.high - self.low > effect.abs()
    }
}

impl Shake {
    /// The spread of what some runs have of each: the mean wait, the mean wait of a core hour and
    /// the mean bounded slowdown, or how these change; `None` without runs.
    pub fn new(runs: &[[f64; 3]]) -> Option<Self> {
        if runs.is_empty() {
            return None;
        }
        let spread = |mean: usize| Spread::new(runs.iter().map(|run| run[mean]));
        Some(Self {
            runs: runs.len(),
            seconds: SHAKE_SECONDS,
            wait: spread(0),
            wait_per_core_hour: spread(1),
            bounded_slowdown: spread(2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::generate::{WorkloadModel, generate};

    /// The tails of the binomial distribution with a probability of one half: 5 of 20 is 0.0414, 6
    /// of 20 is 0.1153.
    #[test]
    fn a_sign_takes_six_results_or_few_against_many() {
        let few = [
            (5, 0, false),
            (6, 0, true),
            (7, 1, false),
            (8, 1, true),
            (15, 5, true),
            (14, 6, false),
            (0, 0, false),
        ];
        let cases = few
            .into_iter()
            .chain([(1100, 900, true), (1000, 1000, false)]);
        for (decreases, increases, expected) in cases {
            let results = |sign: f64, count| std::iter::repeat_n(sign, count);
            let spread = Spread::new(
                results(-1.0, decreases)
                    .chain(results(1.0, increases))
                    .chain([0.0]),
            );
            assert_eq!(spread.has_sign(), expected, "{decreases} and {increases}");
            let reverse = Spread {
                decreases: increases,
                increases: decreases,
                ..spread
            };
            assert_eq!(reverse.has_sign(), expected);
        }
    }

    #[test]
    fn shaken_jobs_are_the_same_jobs_half_a_minute_apart_at_most() {
        let workload = generate(&WorkloadModel {
            jobs: 500,
            ..WorkloadModel::default()
        });
        let shaken = workload.shaken(1);
        assert!(shaken.jobs().is_sorted_by_key(|job| job.submit));
        let moves = (0..500).map(|index| {
            let of = (0..500)
                .find(|&other| shaken.id(other) == workload.id(index))
                .expect("the same job");
            let [before, after] = [workload.jobs()[index], shaken.jobs()[of]];
            assert_eq!(
                (before.run, before.processors),
                (after.run, after.processors)
            );
            after.submit - before.submit
        });
        let moves: Vec<i64> = moves.collect();
        assert_eq!(
            (moves.iter().min(), moves.iter().max()),
            (Some(&-SHAKE_SECONDS), Some(&SHAKE_SECONDS))
        );
        assert_eq!(shaken.jobs(), workload.shaken(1).jobs());
        assert_ne!(shaken.jobs(), workload.shaken(2).jobs());
    }

    #[test]
    fn a_spread_is_compared_with_an_effect() {
        let spread = Spread::new([3.0, -1.0, 2.0].into_iter());
        assert_eq!(
            spread,
            Spread {
                low: -1.0,
                high: 3.0,
                decreases: 1,
                increases: 2
            }
        );
        assert!(spread.is_larger_than(-3.9) && !spread.is_larger_than(4.0));
        assert_eq!(Shake::new(&[]), None);
    }
}
