//! Workloads that are drawn: for a site without a log, and of a log the same jobs, submitted a little
//! earlier or later.
//!
//! Sizes, run times and the daily cycle of a generated workload follow U. Lublin and D. G. Feitelson,
//! "The workload on parallel supercomputers: modeling the characteristics of rigid jobs", Journal of
//! Parallel and Distributed Computing 63(11), 2003, with the parameters that it gives for jobs of all
//! kinds. The model has neither users nor estimates of run times: here a few users submit most jobs, in
//! groups, and ask for one to several times what their jobs need, rounded up as people do, except
//! that some jobs are ended by their limit.
//!
//! A schedule of a loaded machine is chaotic: a job that comes ten seconds later can change the
//! order of starts for days. A change that such moves alone make is no effect of a formula. Two
//! formulas are compared on the same moves. Source: D. Tsafrir, K. Ouaknine, D. G. Feitelson, "Reducing
//! Performance Evaluation Sensitivity and Variability by Input Shaking", 2007.

use serde::Serialize;

use super::builder::{LoggedJob, MAX_JOBS, WorkloadBuilder};
use super::{Workload, compare_submitted};

/// The probability of a job with one processor, and that of a job whose number of processors is a
/// power of two.
const SERIAL: f64 = 0.244;
const POWER_OF_TWO: f64 = 0.576;
/// The logarithm of the number of processors of parallel jobs is uniform in two ranges: the lower
/// one, with a probability, ends this far below the logarithm of the machine's processors.
const LOWEST_SIZE: f64 = 0.8;
const UPPER_RANGE: f64 = 2.5;
const LOWER_PROBABILITY: f64 = 0.86;
/// The natural logarithm of the run time has one of two gamma distributions; the first one with a
/// probability that falls with the number of processors.
const SHORT: Gamma = Gamma {
    shape: 4.2,
    scale: 0.94,
};
const LONG: Gamma = Gamma {
    shape: 312.0,
    scale: 0.03,
};
const SHORT_PROBABILITY: (f64, f64) = (-0.0054, 0.78);
/// Longer run times, as natural logarithms, are drawn again.
const MAX_LOG_RUN: f64 = 12.0;
/// The binary logarithm of the time between two submissions.
const BETWEEN: Gamma = Gamma {
    shape: 10.2303,
    scale: 0.4871,
};
/// The submissions over the half hours of a day, which begins at 5:30.
const CYCLE: Gamma = Gamma {
    shape: 8.1737,
    scale: 3.9631,
};
const HALF_HOURS: usize = 48;
const FIRST_HALF_HOUR: usize = 11;
/// The seconds of a half hour.
const HALF_HOUR: f64 = 1800.0;

/// The limits that people ask for, in minutes.
const LIMITS: [i64; 16] = [
    1, 5, 10, 15, 30, 60, 120, 240, 360, 480, 720, 1440, 2160, 2880, 4320, 7200,
];
/// The number of users in a group.
const USERS_IN_GROUP: usize = 5;

/// What is generated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkloadModel {
    /// The number of jobs.
    pub jobs: usize,
    /// The number of processors of the machine.
    pub processors: u32,
    /// The fraction of the machine that the jobs would hold if none waited.
    pub load: f64,
    /// The number of users.
    pub users: usize,
    /// Another seed gives another workload.
    pub seed: u64,
}

impl Default for WorkloadModel {
    /// 10,000 jobs of 40 users with a load of 0.9 on 128 processors.
    fn default() -> Self {
        Self {
            jobs: 10_000,
            processors: 128,
            load: 0.9,
            users: 40,
            seed: 1,
        }
    }
}

/// A gamma distribution with a shape above 1.
#[derive(Debug, Clone, Copy)]
struct Gamma {
    shape: f64,
    scale: f64,
}

impl Gamma {
    /// Source: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables",
    /// 2000.
    fn draw(self, random: &mut Random) -> f64 {
        let d = self.shape - 1.0 / 3.0;
        // `libm` and not the platform's functions, so that a seed gives the same jobs everywhere
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let normal = random.normal();
            let root = 1.0 + c * normal;
            let cube = root * root * root;
            if root > 0.0
                && libm::log(random.uniform())
                    < 0.5 * normal * normal + d * (1.0 - cube + libm::log(cube))
            {
                return d * cube * self.scale;
            }
        }
    }
}

/// Random numbers that are the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// 64 random bits, by the generator splitmix64.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number between 0 and 1, neither of them.
    pub fn uniform(&mut self) -> f64 {
        // in the middle of a step, because 0 has no logarithm
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A number of the standard normal distribution.
    pub fn normal(&mut self) -> f64 {
        libm::sqrt(-2.0 * libm::log(self.uniform()))
            * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

/// Generates a workload.
///
/// ```
/// use jsf_simulate::{WorkloadModel, generate};
///
/// let model = WorkloadModel { jobs: 1000, ..WorkloadModel::default() };
/// let workload = generate(&model);
/// let used: u128 = workload.jobs().iter().map(|job| job.core_seconds()).sum();
/// let span = workload.jobs()[999].submit - workload.jobs()[0].submit;
/// let load = used as f64 / 128.0 / span as f64;
/// assert!((0.85..0.95).contains(&load));
/// ```
pub fn generate(model: &WorkloadModel) -> Workload {
    let mut random = Random(model.seed);
    let users = model.users.max(1);
    let jobs = model.jobs.min(MAX_JOBS);
    let mut sizes = Vec::new();
    let mut held = 0.0;
    for _ in 0..jobs {
        let processors = draw_processors(model.processors.max(1), &mut random);
        let run = draw_run(processors, &mut random);
        held += f64::from(processors) * run as f64;
        sizes.push((processors, run));
    }
    let span = held / f64::from(model.processors.max(1)) / model.load.max(1e-3);
    let mut builder = WorkloadBuilder::new();
    let submissions = submissions(jobs, span, &mut random);
    for (index, (processors, run)) in sizes.into_iter().enumerate() {
        // a few users submit most jobs
        let user = (libm::pow(users as f64 + 1.0, random.uniform()) as usize).min(users);
        let walltime = draw_limit(run, &mut random);
        // all amounts are in range
        let _ = builder.push(&LoggedJob {
            id: &(index + 1).to_string(),
            entity: &format!("u{user}"),
            group: &format!("g{}", (user - 1) / USERS_IN_GROUP + 1),
            queue: if walltime <= 3600 { "short" } else { "workq" },
            submit: submissions[index],
            run,
            walltime: Some(walltime),
            processors: processors.into(),
            ..LoggedJob::default()
        });
    }
    builder.finish()
}

fn draw_processors(most: u32, random: &mut Random) -> u32 {
    let highest = libm::log2(most.into());
    let kind = random.uniform();
    if kind <= SERIAL || highest < 1.0 {
        return 1;
    }
    let middle = (highest - UPPER_RANGE).max(LOWEST_SIZE);
    let (low, high) = if random.uniform() <= LOWER_PROBABILITY {
        (LOWEST_SIZE, middle)
    } else {
        (middle, highest)
    };
    let exponent = low + random.uniform() * (high - low);
    let exponent = if kind <= SERIAL + POWER_OF_TWO {
        libm::round(exponent)
    } else {
        exponent
    };
    (libm::round(libm::exp2(exponent)) as u32).clamp(1, most)
}

fn draw_run(processors: u32, random: &mut Random) -> i64 {
    let (slope, intercept) = SHORT_PROBABILITY;
    let short = (slope * f64::from(processors) + intercept).clamp(0.0, 1.0);
    loop {
        let gamma = if random.uniform() <= short {
            SHORT
        } else {
            LONG
        };
        let logarithm = gamma.draw(random);
        if logarithm <= MAX_LOG_RUN {
            return (libm::round(libm::exp(logarithm)) as i64).max(1);
        }
    }
}

/// A limit that people ask for: sometimes the run time itself, which then was ended by it.
fn draw_limit(run: i64, random: &mut Random) -> i64 {
    let wanted = match random.below(10) {
        0 | 1 => return run,
        2..=5 => run as f64 * (1.0 + random.uniform()),
        _ => run as f64 * (1.0 + 9.0 * random.uniform()),
    };
    for minutes in LIMITS {
        let limit = minutes * 60;
        if limit as f64 >= wanted {
            return limit;
        }
    }
    wanted as i64
}

/// The times of the submissions, which cover `span` seconds: the model's times between submissions,
/// run through at the speed of the daily cycle.
fn submissions(jobs: usize, span: f64, random: &mut Random) -> Vec<i64> {
    // nothing is before the first one
    let mut between = vec![0.0; jobs];
    let mut sum = 0.0;
    for between in between.iter_mut().skip(1) {
        *between = libm::exp2(BETWEEN.draw(random));
        sum += *between;
    }
    let mut weights = [0.0; HALF_HOURS];
    for half_hour in FIRST_HALF_HOUR..FIRST_HALF_HOUR + HALF_HOURS {
        let time = half_hour as f64 + 0.5;
        weights[half_hour % HALF_HOURS] =
            libm::exp((CYCLE.shape - 1.0) * libm::log(time) - time / CYCLE.scale);
    }
    let mean = weights.iter().sum::<f64>() / HALF_HOURS as f64;
    // the cycle adds up to whole days only; the rest of the last day makes the load a little
    // different
    let (mut half_hour, mut left, mut time) = (0_usize, weights[0] / mean * HALF_HOUR, 0.0);
    let mut submissions = Vec::new();
    for between in between {
        let mut amount = if sum > 0.0 { between / sum * span } else { 0.0 };
        while amount > left {
            amount -= left;
            half_hour += 1;
            left = weights[half_hour % HALF_HOURS] / mean * HALF_HOUR;
            time = half_hour as f64 * HALF_HOUR;
        }
        left -= amount;
        time += amount / (weights[half_hour % HALF_HOURS] / mean);
        submissions.push(time as i64);
    }
    submissions
}

/// The most seconds by which a submission is moved, either way.
pub const SHAKE_SECONDS: i64 = 30;

/// The least and the greatest of some results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
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
        let ids = &shaken.ids;
        shaken
            .jobs
            .sort_by(|one, other| compare_submitted(ids, one, other));
        shaken
    }
}

impl Spread {
    fn new(results: impl Iterator<Item = f64>) -> Self {
        let mut spread = Self {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        };
        for result in results {
            spread.low = spread.low.min(result);
            spread.high = spread.high.max(result);
        }
        spread
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
    use super::{WorkloadModel, generate, *};

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
            }
        );
        assert!(spread.is_larger_than(-3.9) && !spread.is_larger_than(4.0));
        assert_eq!(Shake::new(&[]), None);
    }
}
