//! How the value of a goal or an objective changes from one run of a workload to another.
//!
//! A percentile and a fraction have no formula for the interval of their change, as a mean has
//! ([`difference`](super::difference)). So a change is computed again without each block of time in turn;
//! how far these changes are from each other says how far the next log may be from this one. For a
//! mean that gives the same interval, but for rounding and the second order. Source: B. Efron, R. J.
//! Tibshirani, "An Introduction to the Bootstrap", 1993, section 11.5 (the jackknife by blocks).

use super::difference::MeanChange;
use super::goals::{Goal, JudgedRun, Measure, RunMeasure, Statistic};
use super::statistics::TimeShares;
use crate::schedule::Schedule;
use crate::workload::Workload;

/// A percentile with fewer jobs beyond it has no interval, and so a maximum has none.
const MIN_BEYOND: usize = 20;

/// What a measure is about under both formulas.
#[derive(Debug, Clone, Copy)]
struct PairedValue {
    /// The block of the submission.
    block: i64,
    values: [f64; 2],
}

impl JudgedRun<'_> {
    /// How a measure of the jobs of a goal, or of all, changes from this run of a workload to
    /// another one, with an interval by blocks of so many seconds. `None` for a measure without an
    /// interval, or without a job.
    pub fn change_to(
        &self,
        new: &JudgedRun<'_>,
        measure: Measure,
        goal: Option<&Goal>,
        block_seconds: i64,
    ) -> Option<MeanChange> {
        let runs = [self, new];
        let workload = runs[0].workload;
        let begin = first_compared(runs)?;
        match measure {
            Measure::OfJobs(measure, statistic) => {
                let mut paired = Vec::new();
                for (index, job) in workload.jobs().iter().enumerate() {
                    if job.submit >= begin
                        && goal.is_none_or(|goal| goal.concerns(workload, job))
                        && let (Some(old), Some(new)) = (
                            runs[0].of_job(measure, index),
                            runs[1].of_job(measure, index),
                        )
                    {
                        paired.push(PairedValue {
                            block: (job.submit - begin) / block_seconds,
                            values: [old, new],
                        });
                    }
                }
                of_jobs(statistic, &paired)
            }
            Measure::OfRun(measure) => of_run(measure, runs, begin, block_seconds),
        }
    }
}

/// The first submission that a comparison counts, at which its first block begins.
fn first_compared(runs: [&JudgedRun<'_>; 2]) -> Option<i64> {
    let workload = runs[0].workload;
    for job in workload.after_warm_up(runs[0].statistics.warm_up) {
        if runs.iter().all(|run| run.schedule.start(job).is_some()) {
            return Some(workload.jobs()[job].submit);
        }
    }
    None
}

/// The change of a statistic over jobs.
fn of_jobs(statistic: Statistic, paired: &[PairedValue]) -> Option<MeanChange> {
    let sides = sides_without(None, statistic, paired)?;
    let mut blocks: Vec<i64> = paired.iter().map(|paired| paired.block).collect();
    // the jobs are in the order of their submission, so that those of a block follow each other
    blocks.dedup();
    let mut without = Vec::new();
    for block in blocks.into_iter().map(Some) {
        if let Some([old, new]) = sides_without(block, statistic, paired) {
            without.push(new - old);
        }
    }
    // what few jobs decide says nothing of other logs
    let blocks = if beyond(statistic, paired.len()) < MIN_BEYOND {
        0
    } else {
        without.len()
    };
    Some(MeanChange::new(
        sides,
        standard_error(&without),
        paired.len(),
        [blocks, usize::MAX],
    ))
}

/// The number of jobs on the smaller side of a percentile; all jobs for another statistic.
fn beyond(statistic: Statistic, jobs: usize) -> usize {
    match statistic {
        Statistic::Percentile(percentage) => {
            let part = usize::from(percentage.min(100 - percentage));
            jobs * part / 100
        }
        Statistic::Median => jobs / 2,
        Statistic::Mean | Statistic::Within(_) => jobs,
    }
}

/// The statistic of both sides, without the jobs of a block.
fn sides_without(
    block: Option<i64>,
    statistic: Statistic,
    paired: &[PairedValue],
) -> Option<[f64; 2]> {
    let mut sides = [0.0; 2];
    for (side, value) in sides.iter_mut().enumerate() {
        let mut values = Vec::new();
        for paired in paired {
            if Some(paired.block) != block {
                values.push(paired.values[side]);
            }
        }
        *value = if statistic == Statistic::Mean && !values.is_empty() {
            // needs no order
            values.iter().sum::<f64>() / values.len() as f64
        } else {
            statistic.of(&mut values)?
        };
    }
    Some(sides)
}

/// The standard error of a change that is computed without each of the blocks in turn.
fn standard_error(without: &[f64]) -> f64 {
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    let mut squares = 0.0;
    for change in without {
        squares += (change - mean).powi(2);
    }
    libm::sqrt((count - 1.0) / count * squares)
}

/// The change of a measure of the whole run: that of the use of the machine and of the queue is the
/// mean over time. The others are not a sum over blocks, and have no interval.
fn of_run(
    measure: RunMeasure,
    runs: [&JudgedRun<'_>; 2],
    begin: i64,
    block_seconds: i64,
) -> Option<MeanChange> {
    let workload = runs[0].workload;
    let end = workload.jobs().last()?.submit;
    // the last block may be a little shorter than the others
    let count = libm::round((end - begin) as f64 / block_seconds as f64) as usize;
    if count < 2 {
        return None;
    }
    let span = [begin, block_seconds];
    let old_sums = by_block(measure, workload, runs[0].schedule, span, count)?;
    let new_sums = by_block(measure, workload, runs[1].schedule, span, count)?;
    let old = runs[0].of_run(measure)?;
    let new = runs[1].of_run(measure)?;
    // what the mean of the blocks is worth in units of the measure
    let unit = old / old_sums.iter().sum::<f64>() * count as f64;
    if !unit.is_finite() {
        return None;
    }
    let mut changes = Vec::new();
    for (old, new) in old_sums.iter().zip(&new_sums) {
        changes.push((new - old) * unit);
    }
    let sum: f64 = changes.iter().sum();
    let without: Vec<f64> = changes
        .iter()
        .map(|change| (sum - change) / (count - 1) as f64)
        .collect();
    let jobs = runs[0].statistics.summary.jobs;
    Some(MeanChange::new(
        [old, new],
        standard_error(&without),
        jobs,
        [count, usize::MAX],
    ))
}

/// The processors that are held, or the jobs that wait, times seconds, in each block.
fn by_block(
    measure: RunMeasure,
    workload: &Workload,
    schedule: &Schedule,
    [begin, length]: [i64; 2],
    count: usize,
) -> Option<Vec<f64>> {
    // the end of the last block counts as the beginning of one more, which is cut off below
    let mut shares = TimeShares::new(begin, length, count + 1);
    let within = |time: i64| time.clamp(begin, begin + length * count as i64);
    for (index, job) in workload.jobs().iter().enumerate() {
        let Some(started) = schedule.started(workload, index) else {
            continue;
        };
        match measure {
            RunMeasure::Utilisation => {
                for (from, to) in started.runs() {
                    shares.add(within(from), within(to), job.processors.into());
                }
            }
            RunMeasure::MeanQueue => shares.add(within(job.submit), within(started.start), 1.0),
            RunMeasure::Jain | RunMeasure::Hoover | RunMeasure::Makespan => return None,
        }
    }
    let mut sums = shares.amounts;
    sums.truncate(count);
    Some(sums)
}

#[cfg(test)]
mod tests {
    use job_sort_formula::{Formula, Schema};

    use super::super::goals::JobMeasure;
    use super::*;
    use crate::identical_processors::identical_processors;
    use crate::results::{Difference, Statistics};
    use crate::schedule::{Backfill, simulate};
    use crate::workload::generate::{WorkloadModel, generate};

    const PROCESSORS: u32 = 16;

    fn schedule(workload: &Workload, formula: &str) -> Schedule {
        let program = Formula::parse(formula)
            .expect("a formula")
            .compile(&Schema::openpbs())
            .expect("arithmetic");
        let rules = identical_processors(workload, PROCESSORS, Backfill::Easy);
        simulate(&program, workload, rules, None, &mut ()).expect("a schedule")
    }

    #[test]
    fn a_mean_has_the_interval_of_a_comparison() {
        let model = WorkloadModel {
            jobs: 5000,
            processors: PROCESSORS,
            load: 0.7,
            ..WorkloadModel::default()
        };
        let workload = generate(&model);
        let schedules = ["eligible_time", "-walltime"].map(|formula| schedule(&workload, formula));
        // the first block begins with the first job that counts
        let warm_up = 1;
        let difference = Difference::new(&workload, &schedules[0], &schedules[1], warm_up);
        let statistics = schedules
            .each_ref()
            .map(|schedule| Statistics::new(&workload, schedule, PROCESSORS, warm_up));
        let run = |side: usize| JudgedRun {
            workload: &workload,
            schedule: &schedules[side],
            statistics: &statistics[side],
        };
        let change_of =
            |measure| run(0).change_to(&run(1), measure, None, difference.block_seconds);
        let expected = difference.bounded_slowdown;
        let found = change_of(Measure::OfJobs(
            JobMeasure::BoundedSlowdown,
            Statistic::Mean,
        ))
        .expect("a change");
        assert!(found.blocks == expected.blocks && found.jobs == expected.jobs);
        assert!((found.difference() - expected.difference()).abs() < 1e-9);
        let ratio = found.standard_error().expect("an error")
            / expected.standard_error().expect("an error");
        assert!((0.9..1.1).contains(&ratio), "{ratio}");

        let median =
            change_of(Measure::OfJobs(JobMeasure::Wait, Statistic::Median)).expect("a change");
        assert!(median.low <= median.difference() && median.difference() <= median.high);
        let longest = change_of(Measure::OfJobs(
            JobMeasure::Wait,
            Statistic::Percentile(100),
        ))
        .expect("a change");
        assert_eq!(longest.interval(), None);
        let queue = change_of(Measure::OfRun(RunMeasure::MeanQueue)).expect("a change");
        // by Little's law it changes as the mean wait does, which is not beyond chance in these few
        // weeks
        let [low, high] = queue.interval().expect("an interval");
        assert!(
            low < queue.difference() && queue.difference() < 0.0 && high > 0.0,
            "{queue:?}"
        );
        let used = change_of(Measure::OfRun(RunMeasure::Utilisation)).expect("a change");
        assert!(
            !used.is_increase() && used.high - used.low < 0.1,
            "{used:?}"
        );
        assert_eq!(change_of(Measure::OfRun(RunMeasure::Makespan)), None);
    }
}
