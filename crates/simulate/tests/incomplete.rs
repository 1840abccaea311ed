//! Logs that have each job at its end, as accounting files of some days do, and logs of all jobs
//! from some time on.

use std::fmt::Write;

use jsf_simulate::{LeftOutReason, LogRules};
use jsf_testing::random::Generator;

use super::{read, read_by};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// A job: its submission, start and end, and its user.
type Job = (i64, i64, i64, u64);

/// The jobs that are submitted in so many days, in bursts, to a machine that is empty when the
/// first one is.
fn random_jobs(generator: &mut Generator, days: i64, users: u64) -> Vec<Job> {
    let mut submit = 0;
    let mut jobs = Vec::new();
    while submit < days * DAY {
        submit += generator.below(HOUR as u64 * 2) as i64;
        let user = generator.below(users);
        for _ in 0..=generator.below(4) {
            let longest = generator.pick(&[HOUR, 4 * HOUR, DAY, 3 * DAY]);
            let start = submit + generator.pick(&[0, 0, HOUR, 8 * HOUR]);
            jobs.push((
                submit,
                start,
                start + 1 + generator.below(longest as u64) as i64,
                user,
            ));
        }
    }
    jobs
}

fn swf(jobs: &[Job]) -> String {
    jobs.iter().zip(1..).fold(
        String::new(),
        |mut log, ((submit, start, end, user), id)| {
            let (wait, run) = (start - submit, end - start);
            writeln!(
                log,
                "{id} {submit} {wait} {run} 1 -1 -1 1 {run} -1 1 {user} 1 -1 1 -1 -1 -1"
            )
            .expect("a line");
            log
        },
    )
}

#[test]
fn a_log_that_is_cut_by_the_ends_of_its_jobs_begins_at_its_first_end() {
    for seed in 1..=20 {
        let mut generator = Generator(seed);
        let users = generator.pick(&[2, 10, 100]);
        let all = random_jobs(&mut generator, 90, users);
        assert_eq!(read(&swf(&all)).complete_from, None, "seed {seed}");
        let cut: Vec<Job> = all
            .iter()
            .copied()
            .filter(|(_, _, end, _)| (60 * DAY..).contains(end))
            .collect();
        let first_end = cut.iter().map(|(_, _, end, _)| *end).min();
        let workload = read(&swf(&cut));
        assert_eq!(workload.complete_from, first_end, "seed {seed}");
        assert!(
            workload
                .jobs()
                .iter()
                .all(|job| Some(job.submit) >= first_end)
        );
        let left_out = workload.faults().of(LeftOutReason::Incomplete);
        assert_eq!(left_out + workload.jobs().len(), cut.len());
        assert!(left_out > 0);
    }
}

/// One that was held for months is enough.
#[test]
fn a_job_that_was_submitted_long_before_all_others_does_not_stretch_the_log() {
    let mut generator = Generator(3);
    let mut jobs = random_jobs(&mut generator, 28, 20);
    jobs.iter_mut().for_each(|(submit, start, end, _)| {
        for time in [submit, start, end] {
            *time += 100 * DAY;
        }
    });
    jobs.push((0, 110 * DAY, 110 * DAY + HOUR, 1));
    let workload = read(&swf(&jobs));
    assert!(workload.jobs().iter().all(|job| job.submit >= 100 * DAY));
    assert!(workload.complete_from.is_some());
}

#[test]
fn a_time_that_is_asked_for_is_that_of_the_submissions() {
    let mut generator = Generator(5);
    let all = random_jobs(&mut generator, 40, 5);
    let cut: Vec<Job> = all
        .into_iter()
        .filter(|(_, _, end, _)| *end >= 20 * DAY)
        .collect();
    for (from, to) in [
        (Some(0), None),
        (Some(25 * DAY), Some(30 * DAY)),
        (Some(cut[1].0), Some(cut[1].0 + 1)),
    ] {
        let workload = read_by(
            &swf(&cut),
            LogRules {
                from,
                to,
                ..LogRules::default()
            },
        );
        let is_asked_for =
            |submit: i64| from.is_none_or(|from| submit >= from) && to.is_none_or(|to| submit < to);
        let asked_for = cut
            .iter()
            .filter(|(submit, ..)| is_asked_for(*submit))
            .count();
        assert_eq!(workload.jobs().len(), asked_for);
        assert_eq!(
            workload.faults().of(LeftOutReason::Outside),
            cut.len() - asked_for
        );
        assert_eq!(
            (
                workload.complete_from,
                workload.faults().of(LeftOutReason::Incomplete)
            ),
            (None, 0)
        );
    }
}
