//! Two schedules of one workload side by side: who waits longer under the new one, who shorter, by
//! how much, and how sure that is.
//!
//! Jobs are compared one by one, so that what differs between jobs cancels out. What remains is
//! that jobs which wait at the same time wait for the same reason: one busy week is one event,
//! however many jobs saw it, and a queue that was long stays so for days. So the log is divided
//! into blocks of time. The jobs of one user are not independent either: they are alike, come
//! together, and a formula that has something of the user in it moves all of them in one direction.
//! A change is the quotient of two sums, the changes of the jobs and their number. Its interval is
//! that of a ratio estimator: the variance of the residuals from the quotient, which are summed
//! over blocks and over users, and the quantile of Student's t-distribution. What both sums
//! contain, the residuals of each user in each block, is subtracted once.
//!
//! The degrees of freedom are those of the smaller number, of blocks or of users. Users count as
//! many as would have equal parts of the jobs. Below six of them, what a formula does to a class
//! cannot be told from what it does to these users by chance: such a class has the interval of its
//! blocks, and no claim is made about it.
//!
//! A block lasts a week, or as many times the backlog, which is the wait of the mean core hour, as
//! a queue needs to forget how long it was: in heavy traffic the relaxation time of a queue is
//! `4 / (1 - load)` times its mean wait, 24 times at a load of five sixths. But a log of six
//! weeks or more always has six blocks, and a longer one more of them, in proportion to the power
//! 2/3 of its length: with few blocks, the t-distribution makes up for most of the correlation that
//! is left between neighbours.
//!
//! Of many changes some are by chance beyond what one would be. So the level at which a change
//! counts is that of the procedure that bounds the rate of false discoveries, among the three means
//! of all jobs and among all groups of a comparison.
//!
//! Sources: W. G. Cochran, "Sampling Techniques", 1977, section 6.3 (the ratio estimator); A. C.
//! Cameron, J. B. Gelbach, D. L. Miller, "Robust Inference With Multiway Clustering", 2011 (blocks
//! and users together); L. Kish, "Survey Sampling", 1965 (the effective number); B. Schmeiser,
//! "Batch Size Effects in the Analysis of Simulation Output", 1982 (few long batches); W. Whitt,
//! "Planning Queueing Simulations", 1989 (the relaxation time); E. Lazarus, D. J. Lewis, J. H.
//! Stock, M. W. Watson, "HAR Inference: Recommendations for Practice", 2018 (the power 2/3); Y.
//! Benjamini, Y. Hochberg, "Controlling the False Discovery Rate", 1995; M. Abramowitz, I. A.
//! Stegun, "Handbook of Mathematical Functions", 1964, formulas 26.7.3 and 26.7.4 (Student's
//! t-distribution with a whole number of degrees of freedom).

use std::collections::BTreeMap;
use std::f64::consts::FRAC_2_PI;

use jsf_json::object;
use serde::{Serialize, Serializer};

use super::job_classes::{ByKind, Class, KINDS, Kind};
use crate::schedule::Schedule;
use crate::workload::{Workload, WorkloadJob};

/// The rate of false discoveries, and what is left of the confidence of an interval.
const LEVEL: f64 = 0.05;

/// The shortest block, in seconds: the course of a week is alike in every block.
const WEEK: i64 = 7 * 86_400;

/// The backlogs in a block.
const BACKLOGS: f64 = 24.0;

/// An interval of fewer jobs, or of jobs from fewer blocks, says nothing.
const MIN_JOBS: usize = 20;

const MIN_BLOCKS: usize = 6;

/// Of jobs of fewer users, nothing is claimed.
const MIN_USERS: usize = 6;

/// The weeks of a log beyond which it has more blocks than these, however long its backlog is.
const WEEKS_OF_MIN_BLOCKS: f64 = 12.0;

/// How much a mean changes, with an interval that contains the change with a confidence of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeanChange {
    /// The mean under the old formula.
    pub old: f64,
    /// The mean under the new formula.
    pub new: f64,
    /// The lower end of the interval of `new - old`.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of jobs.
    pub jobs: usize,
    /// The number of blocks in which they are submitted.
    pub blocks: usize,
    /// How many users would submit them if each had an equal part; the number of jobs where the log
    /// does not say whose they are.
    pub users: usize,
    /// The greatest p-value of a change that is more than chance: at most 0.05, as it is one of
    /// several that are tested.
    pub level: f64,
}

impl MeanChange {
    /// The change between two means of some jobs in some blocks and of some users, by its standard
    /// error.
    pub(crate) fn new(
        [old, new]: [f64; 2],
        standard_error: f64,
        jobs: usize,
        [blocks, users]: [usize; 2],
    ) -> Self {
        let change = Self {
            old,
            new,
            low: 0.0,
            high: 0.0,
            jobs,
            blocks,
            users,
            level: LEVEL,
        };
        // no interval is shown of fewer, and none could be computed without a degree of freedom
        let half = if blocks < MIN_BLOCKS {
            0.0
        } else {
            change.quantile() * standard_error
        };
        Self {
            low: new - old - half,
            high: new - old + half,
            ..change
        }
    }

    fn degrees(&self) -> usize {
        let users = if self.has_users() {
            self.users
        } else {
            usize::MAX
        };
        self.blocks.min(users) - 1
    }

    fn quantile(&self) -> f64 {
        quantile(LEVEL, self.degrees())
    }

    /// Whether the jobs are of so many users that something can be claimed.
    pub fn has_users(&self) -> bool {
        self.users >= MIN_USERS
    }

    /// The change.
    pub fn difference(&self) -> f64 {
        self.new - self.old
    }

    /// The interval; `None` for too few jobs, or if they are submitted in too few blocks.
    pub fn interval(&self) -> Option<[f64; 2]> {
        (self.jobs >= MIN_JOBS && self.blocks >= MIN_BLOCKS).then_some([self.low, self.high])
    }

    /// The probability that chance alone shows such a change or a greater one; `None` without an
    /// interval, and for too few users.
    fn p_value(&self) -> Option<f64> {
        let standard_error = self.standard_error()?;
        if !self.has_users() {
            return None;
        }
        let change = self.difference();
        // also where the standard error is 0, by which the change would be divided
        if change == 0.0 {
            return Some(1.0);
        }
        Some(two_sided_p(change / standard_error, self.degrees()))
    }

    /// The standard error of the change; `None` without an interval.
    pub fn standard_error(&self) -> Option<f64> {
        let [low, high] = self.interval()?;
        Some((high - low) / 2.0 / self.quantile())
    }

    /// Whether chance alone would hardly show this change, also as one of several that are tested.
    pub fn is_significant(&self) -> bool {
        matches!(self.interval(), Some([low, high]) if low > 0.0 || high < 0.0)
            && matches!(self.p_value(), Some(p_value) if p_value <= self.level)
    }

    /// Whether the mean grows by more than chance would explain.
    pub fn is_increase(&self) -> bool {
        self.is_significant() && self.low > 0.0
    }

    /// Whether the mean falls by more than chance would explain.
    pub fn is_decrease(&self) -> bool {
        self.is_significant() && self.high < 0.0
    }
}

impl Serialize for MeanChange {
    /// The interval has no ends where there are too few jobs for one, and without a job there are
    /// no means.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let if_any = |mean: f64| (self.jobs > 0).then_some(mean);
        let interval = self.interval();
        let members = object! {
            old: if_any(self.old),
            new: if_any(self.new),
            difference: if_any(self.difference()),
            low: interval.map(|[low, _]| low),
            high: interval.map(|[_, high]| high),
            significant: self.is_significant(),
        };
        members.serialize(serializer)
    }
}

/// How the waits of some jobs change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupDifference {
    /// The name of the entity, the group, the queue or the class.
    pub name: String,
    /// The number of jobs.
    pub jobs: usize,
    /// The processors times seconds that they hold.
    pub core_seconds: u128,
    /// Their mean wait, in seconds.
    #[serde(rename = "mean_wait")]
    pub wait: MeanChange,
}

/// Two schedules of one workload, compared job by job.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Difference {
    /// The number of jobs that start in both.
    pub jobs: usize,
    /// How many of them wait longer under the new formula.
    pub longer: usize,
    /// How many wait shorter.
    pub shorter: usize,
    /// The number of jobs that start under the old formula and never under the new one.
    pub only_old: usize,
    /// The number of those that start only under the new one.
    pub only_new: usize,
    /// The mean wait, in seconds.
    #[serde(rename = "mean_wait")]
    pub wait: MeanChange,
    /// The processors times seconds that the jobs hold.
    #[serde(skip)]
    pub core_seconds: u128,
    /// The mean wait of a core hour, in seconds.
    #[serde(rename = "mean_wait_per_core_hour")]
    pub wait_per_core_hour: MeanChange,
    /// The mean bounded slowdown.
    #[serde(rename = "mean_bounded_slowdown")]
    pub bounded_slowdown: MeanChange,
    /// The classes of jobs; entities, groups and queues from the one whose waits grow most.
    #[serde(skip)]
    pub classes: ByKind<Vec<GroupDifference>>,
    /// The length of a block, in seconds.
    pub block_seconds: i64,
    /// The number of blocks with jobs.
    pub blocks: usize,
}

/// A quantity of a job under both formulas, and how much it counts.
#[derive(Debug, Clone, Copy, Default)]
struct Weighted {
    weight: f64,
    old: f64,
    new: f64,
}

/// A job that starts in both.
#[derive(Debug, Clone, Copy)]
struct PairedJob {
    job: WorkloadJob,
    /// The block of its submission.
    block: i64,
    /// The index of its user, or of its entity where the log has no users; one of its own where it
    /// has neither.
    user: u32,
    waits: [i64; 2],
    slowdowns: [f64; 2],
}

impl Difference {
    /// Compares two schedules of a workload. Left out are jobs that do not start in both, and those
    /// that are submitted less than `warm_up` seconds after the first one.
    pub fn new(workload: &Workload, old: &Schedule, new: &Schedule, warm_up: i64) -> Self {
        let mut paired = paired_jobs(workload, old, new, warm_up);
        let block_seconds = block_length(&paired);
        let mut difference = Self {
            jobs: paired.len(),
            block_seconds,
            only_old: only(old, new),
            only_new: only(new, old),
            ..Self::default()
        };
        let begin = paired.first().map_or(0, |job| job.job.submit);
        for job in &mut paired {
            job.block = (job.job.submit - begin) / block_seconds;
            let [old, new] = job.waits;
            difference.longer += usize::from(new > old);
            difference.shorter += usize::from(new < old);
            difference.core_seconds += job.job.core_seconds();
        }
        let mut means = [
            mean_change(&paired, PairedJob::wait),
            mean_change(&paired, PairedJob::wait_of_core_hours),
            mean_change(&paired, PairedJob::slowdown),
        ];
        let level = level_of_all(&means);
        for mean in &mut means {
            mean.level = level;
        }
        let [wait, wait_per_core_hour, bounded_slowdown] = means;
        let mut kinds = KINDS.map(|kind| group_differences(kind, workload, &paired));
        // a class of all jobs is tested among the means
        let mut tested = Vec::new();
        for group in kinds.iter().flatten() {
            if group.jobs < paired.len() {
                tested.push(group.wait);
            }
        }
        let level_of_classes = level_of_all(&tested);
        for group in kinds.iter_mut().flatten() {
            let is_of_all = group.jobs == paired.len();
            group.wait.level = if is_of_all { level } else { level_of_classes };
        }
        Self {
            wait,
            wait_per_core_hour,
            bounded_slowdown,
            classes: kinds.into(),
            blocks: wait.blocks,
            ..difference
        }
    }

    /// How the means of all jobs change, with their names.
    pub fn means(&self) -> [(&'static str, &MeanChange); 3] {
        [
            ("mean wait", &self.wait),
            ("mean wait per core hour", &self.wait_per_core_hour),
            ("mean bounded slowdown", &self.bounded_slowdown),
        ]
    }

    /// Whether both formulas start the same jobs; if not, their means are of different jobs.
    pub fn is_of_same_jobs(&self) -> bool {
        self.only_old == 0 && self.only_new == 0
    }
}

/// The jobs that start in both schedules, without those of the first `warm_up` seconds.
fn paired_jobs(
    workload: &Workload,
    old: &Schedule,
    new: &Schedule,
    warm_up: i64,
) -> Vec<PairedJob> {
    let has_names = |names: &[Box<str>]| names.iter().any(|name| !name.is_empty());
    let has_users = has_names(&workload.names_in_log().users);
    let has_entities = has_names(&workload.names_in_log().entities);
    let mut paired = Vec::new();
    for index in workload.after_warm_up(warm_up) {
        let job = workload.jobs()[index];
        if let (Some(old), Some(new)) = (old.started(workload, index), new.started(workload, index))
        {
            paired.push(PairedJob {
                job,
                block: 0,
                user: if has_users {
                    job.user
                } else if has_entities {
                    job.entity
                } else {
                    index as u32
                },
                waits: [old.wait(), new.wait()],
                slowdowns: [old.slowdown(), new.slowdown()],
            });
        }
    }
    paired
}

/// The number of jobs that start in one schedule and never in the other one.
fn only(one: &Schedule, other: &Schedule) -> usize {
    let never = other.never_start();
    never.filter(|&job| one.start(job).is_some()).count()
}

/// The length of the blocks, of which as many as fit into the time of the submissions cover it. A
/// log of less than six weeks has fewer than six.
fn block_length(jobs: &[PairedJob]) -> i64 {
    let [Some(first), Some(last)] = [jobs.first(), jobs.last()] else {
        return WEEK;
    };
    let seconds = last.job.submit - first.job.submit + 1;
    let weeks = seconds as f64 / WEEK as f64;
    let fewest = MIN_BLOCKS as f64 * libm::pow(weeks / WEEKS_OF_MIN_BLOCKS, 2.0 / 3.0).max(1.0);
    let longest = seconds as f64 / fewest.floor();
    // the mean wait of a core hour under the formula where that is longer, in seconds
    let change = mean_change(jobs, PairedJob::wait_of_core_hours);
    let backlog = change.old.max(change.new);
    let least = ((BACKLOGS * backlog).min(longest) as i64).max(WEEK);
    let blocks = (seconds / least).max(1);
    // rounded up, so that the last job is in the last block
    (seconds + blocks - 1) / blocks
}

/// The greatest p-value that is more than chance where all these changes are tested, so that of
/// those that are called so at most 5 % are chance.
fn level_of_all(changes: &[MeanChange]) -> f64 {
    let mut p_values: Vec<f64> = changes.iter().filter_map(MeanChange::p_value).collect();
    p_values.sort_unstable_by(f64::total_cmp);
    let tested = p_values.len().max(1) as f64;
    let mut level_of_all = LEVEL / tested;
    for (index, p_value) in p_values.into_iter().enumerate() {
        let level = LEVEL * ((index + 1) as f64 / tested);
        // a greater p-value within its level counts, even if one before it is not (Benjamini and
        // Hochberg)
        if p_value <= level {
            level_of_all = level;
        }
    }
    level_of_all
}

fn group_differences(
    kind: Kind,
    workload: &Workload,
    paired: &[PairedJob],
) -> Vec<GroupDifference> {
    let mut groups = Vec::new();
    for Class { name, jobs } in kind.classes(workload, paired, |job| &job.job) {
        groups.push(GroupDifference {
            name,
            jobs: jobs.len(),
            core_seconds: jobs.iter().map(|job| job.job.core_seconds()).sum(),
            wait: mean_change(jobs, PairedJob::wait),
        });
    }
    if !kind.is_ordered {
        // of equal changes the group that submits first comes first, whatever its name
        groups.sort_by(|one, other| other.wait.difference().total_cmp(&one.wait.difference()));
    }
    groups
}

impl PairedJob {
    fn wait(&self) -> Weighted {
        weighted(1.0, self.waits.map(|wait| wait as f64))
    }

    fn wait_of_core_hours(&self) -> Weighted {
        let weight = self.job.core_seconds() as f64;
        weighted(weight, self.waits.map(|wait| wait as f64))
    }

    fn slowdown(&self) -> Weighted {
        weighted(1.0, self.slowdowns)
    }
}

fn weighted(weight: f64, [old, new]: [f64; 2]) -> Weighted {
    Weighted {
        weight,
        old: weight * old,
        new: weight * new,
    }
}

/// The change of a mean and its interval.
fn mean_change<'j>(
    jobs: impl IntoIterator<Item = &'j PairedJob>,
    quantity: fn(&PairedJob) -> Weighted,
) -> MeanChange {
    // in a fixed order, on which the last bits of a sum depend
    let mut cells: BTreeMap<(i64, u32), Weighted> = BTreeMap::new();
    let mut count = 0;
    for job in jobs {
        count += 1;
        cells
            .entry((job.block, job.user))
            .or_default()
            .add(quantity(job));
    }
    let mut all = Weighted::default();
    let mut by_block: BTreeMap<i64, Weighted> = BTreeMap::new();
    let mut by_user: BTreeMap<u32, Weighted> = BTreeMap::new();
    for (&(block, user), cell) in &cells {
        all.add(*cell);
        by_block.entry(block).or_default().add(*cell);
        by_user.entry(user).or_default().add(*cell);
    }
    let mean = |sum: f64| {
        if all.weight > 0.0 {
            sum / all.weight
        } else {
            0.0
        }
    };
    let means = [mean(all.old), mean(all.new)];
    let change = means[1] - means[0];
    let by_block = Squares::new(by_block.into_values(), change);
    let by_user = Squares::new(by_user.into_values(), change);
    let cell_squares = Squares::new(cells.into_values(), change);
    let users = by_user.effective_count();
    // an estimate of two-way clusters can be less than that of either
    let with_users =
        (by_block.variance() + by_user.variance() - cell_squares.residuals).max(by_user.variance());
    let is_of_few = users < MIN_USERS;
    let variance = if is_of_few {
        by_block.variance()
    } else {
        with_users.max(by_block.variance())
    };
    MeanChange::new(
        means,
        mean(libm::sqrt(variance)),
        count,
        [by_block.count, users],
    )
}

/// The residuals of blocks or of users from the mean change of all, where all weights are as they
/// are.
#[derive(Debug, Default)]
struct Squares {
    count: usize,
    residuals: f64,
    weight: f64,
    weights: f64,
}

impl Squares {
    fn new(clusters: impl Iterator<Item = Weighted>, change: f64) -> Self {
        let mut squares = Self::default();
        for sums in clusters {
            squares.count += 1;
            squares.residuals += sums.residual(change).powi(2);
            squares.weight += sums.weight;
            squares.weights += sums.weight.powi(2);
        }
        squares
    }

    /// The variance of the sum of the changes.
    fn variance(&self) -> f64 {
        if self.count < 2 {
            0.0
        } else {
            self.count as f64 / (self.count - 1) as f64 * self.residuals
        }
    }

    /// How many clusters of equal weight have this weight and the same sum of squares.
    fn effective_count(&self) -> usize {
        // equal weights may give a little less than their number
        if self.weights > 0.0 {
            (self.weight * self.weight / self.weights + 1e-9) as usize
        } else {
            0
        }
    }
}

impl Weighted {
    fn add(&mut self, other: Self) {
        self.weight += other.weight;
        self.old += other.old;
        self.new += other.new;
    }

    fn residual(&self, change: f64) -> f64 {
        self.new - self.old - change * self.weight
    }
}

/// A bisection ends after so many steps.
// more than the 53 bits of a double
const BISECTIONS: usize = 64;

/// The probability that `t` is at least so far from 0, on either side. Below 1e-12 it is a rounding
/// error.
fn two_sided_p(t: f64, degrees: usize) -> f64 {
    let angle = libm::atan(t.abs() / libm::sqrt(degrees as f64));
    let sine = libm::sin(angle);
    let cosine = libm::cos(angle);
    let is_odd = degrees % 2 == 1;
    let first = if is_odd { cosine } else { 1.0 };
    let terms = degrees / 2;
    let mut term = first;
    let mut sum = 0.0;
    for index in 1..=terms {
        sum += term;
        let even = 2.0 * index as f64;
        let ratio = if is_odd {
            even / (even + 1.0)
        } else {
            (even - 1.0) / even
        };
        term *= cosine * cosine * ratio;
    }
    let within = if is_odd {
        FRAC_2_PI * (angle + sine * sum)
    } else {
        sine * sum
    };
    (1.0 - within).clamp(0.0, 1.0)
}

/// The distance from 0 that `t` exceeds, on either side, with this probability.
fn quantile(two_sided: f64, degrees: usize) -> f64 {
    let mut low = 0.0;
    let mut high = 1.0;
    while two_sided_p(high, degrees) > two_sided {
        high *= 2.0;
    }
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        if two_sided_p(middle, degrees) > two_sided {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of 1 that may differ by so much.
    fn change(within: f64) -> MeanChange {
        MeanChange {
            old: 1.0,
            new: 2.0,
            low: 1.0 - within,
            high: 1.0 + within,
            jobs: 20,
            blocks: 6,
            users: 6,
            level: LEVEL,
        }
    }

    #[test]
    fn p_values_are_those_of_the_t_distribution() {
        // six blocks: five degrees of freedom
        let cases = [(1.0, 0.05), (0.5, 3.642e-3), (2.0, 0.2550), (0.0, 0.0)];
        for (within, expected) in cases {
            let p_value = change(within).p_value().expect("an interval");
            assert!(
                (p_value - expected).abs() <= 1e-3 * expected,
                "{within}: {p_value}"
            );
        }
        assert_eq!(
            MeanChange {
                new: 1.0,
                ..change(1.0)
            }
            .p_value(),
            Some(1.0)
        );
        assert_eq!(
            MeanChange {
                jobs: 19,
                ..change(1.0)
            }
            .p_value(),
            None
        );
    }

    /// Two users in two blocks, whose changes from the mean of 0 are 3 and -1, then -1 and -1.
    #[test]
    fn residuals_are_squared_for_whole_blocks_and_users() {
        let cell = |new: f64| Weighted {
            weight: 1.0,
            old: 0.0,
            new,
        };
        let mut blocks = [Weighted::default(); 2];
        for (block, new) in [(0, 3.0), (0, -1.0), (1, -1.0), (1, -1.0)] {
            blocks[block].add(cell(new));
        }
        let by_block = Squares::new(blocks.into_iter(), 0.0);
        assert_eq!(
            (
                by_block.count,
                by_block.variance(),
                by_block.effective_count()
            ),
            (2, 2.0 * (4.0 + 4.0), 2)
        );
        // one user with 3 of 4 jobs counts for little more than one
        let uneven = [
            Weighted {
                weight: 3.0,
                ..cell(0.0)
            },
            cell(0.0),
        ];
        assert_eq!(Squares::new(uneven.into_iter(), 0.0).effective_count(), 1);
        assert_eq!(Squares::new(std::iter::empty(), 0.0).effective_count(), 0);
    }

    #[test]
    fn few_users_have_an_interval_and_no_star() {
        let few = MeanChange {
            users: 5,
            ..change(0.1)
        };
        assert!(
            few.interval().is_some_and(|[low, _]| low > 0.0)
                && !few.is_significant()
                && change(0.1).is_significant()
        );
        assert_eq!(few.p_value(), None);
        // of more users than blocks, the blocks decide
        let many = |users| MeanChange::new([0.0, 1.0], 0.1, 100, [9, users]);
        assert_eq!(
            many(9),
            MeanChange {
                users: 9,
                ..many(100)
            }
        );
        assert!(many(6).low < many(9).low);
    }

    #[test]
    fn a_change_that_is_barely_significant_alone_is_not_so_among_others() {
        let barely = change(0.99);
        assert!(barely.is_significant());
        let level = |others: &[MeanChange]| level_of_all(&[others, &[barely]].concat());
        assert_eq!(level(&[]), 0.05);
        assert_eq!(level(&[change(9.0)]), 0.025);
        assert!(
            !MeanChange {
                level: level(&[change(9.0)]),
                ..barely
            }
            .is_significant()
        );
        // with others that are significant it is
        assert_eq!(level(&[change(0.1), change(0.2)]), 0.05);
        assert_eq!(level(&[change(0.1), change(9.0), change(9.0)]), 0.0125);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // the handbook's table 26.10, and the normal distribution for many degrees
        let cases = [
            (1, 12.706),
            (2, 4.303),
            (5, 2.571),
            (6, 2.447),
            (29, 2.045),
            (120, 1.980),
            (100_000, 1.960),
        ];
        for (degrees, expected) in cases {
            let found = quantile(0.05, degrees);
            assert!((found - expected).abs() < 6e-4, "{degrees}: {found}");
        }
        assert!((quantile(0.001, 5) - 6.869).abs() < 6e-4);
    }

    #[test]
    fn probabilities_are_those_of_the_quantiles() {
        for degrees in [1, 2, 3, 8, 51] {
            for p in [0.9, 0.05, 1e-6] {
                let found = two_sided_p(quantile(p, degrees), degrees);
                assert!((found - p).abs() < 1e-10, "{degrees}: {found}");
            }
        }
        assert_eq!(two_sided_p(0.0, 4), 1.0);
        assert_eq!(two_sided_p(f64::INFINITY, 4), 0.0);
    }
}
