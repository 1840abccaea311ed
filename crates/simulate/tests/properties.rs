//! What holds for every schedule.

use std::collections::BTreeSet;

use jsf_openpbs::cycle::{CycleEvent, Machine};
use jsf_simulate::{Observer, Schedule, Workload};
use jsf_testing::random::Generator;

use super::random_workloads::random_case;
use super::{Case, read, starts};

const CASES: usize = 400;

fn cases() -> impl Iterator<Item = Case> {
    let mut generator = Generator(7);
    (0..CASES).map(move |_| random_case(&mut generator))
}

/// The start and the end of each job that starts, and its processors.
fn intervals(workload: &Workload, schedule: &Schedule) -> Vec<(i64, i64, u32)> {
    let jobs = workload.jobs().iter().enumerate();
    jobs.filter_map(|(index, job)| {
        let start = schedule.start(index)?;
        Some((start, start + job.duration(), job.processors))
    })
    .collect()
}

#[test]
fn no_more_processors_are_in_use_than_there_are() {
    for case in cases() {
        let workload = read(&case.workload);
        let intervals = intervals(&workload, &case.run(&workload, &mut ()));
        for &(time, ..) in &intervals {
            let in_use = intervals
                .iter()
                .filter(|(start, end, _)| *start <= time && time < *end);
            assert!(
                in_use.map(|(.., processors)| processors).sum::<u32>() <= case.processors,
                "{case:?}"
            );
        }
    }
}

#[test]
fn every_job_that_fits_starts_once_and_not_before_its_submission() {
    for case in cases() {
        let workload = read(&case.workload);
        let schedule = case.run(&workload, &mut ());
        assert!(schedule.is_complete);
        for (index, job) in workload.jobs().iter().enumerate() {
            let start = schedule.start(index);
            assert_eq!(start.is_some(), job.processors <= case.processors);
            assert_eq!(start.is_none(), schedule.too_large.contains(&index));
            assert!(start.is_none_or(|start| start >= job.submit));
        }
    }
}

#[test]
fn the_order_of_the_lines_does_not_matter() {
    for (case, seed) in cases().zip(1..) {
        let mut lines: Vec<&str> = case.workload.lines().collect();
        let mut generator = Generator(seed);
        for last in (1..lines.len()).rev() {
            lines.swap(last, generator.below(last as u64 + 1) as usize);
        }
        let (one, other) = (read(&case.workload), read(&lines.join("\n")));
        let ids = |workload: &Workload| {
            (0..workload.jobs().len())
                .map(|job| workload.id(job).to_owned())
                .collect()
        };
        let (ids, other_ids): (Vec<String>, Vec<String>) = (ids(&one), ids(&other));
        assert_eq!(ids, other_ids);
        assert_eq!(
            (one.entities(), one.queues()),
            (other.entities(), other.queues())
        );
        assert_eq!(
            starts(&one, &case.run(&one, &mut ())),
            starts(&other, &case.run(&other, &mut ()))
        );
    }
}

/// The reservations of the first job that does not fit.
#[derive(Default)]
struct Reservations(Vec<(i64, usize, i64)>);

impl Observer for Reservations {
    fn happened(&mut self, now: i64, event: CycleEvent, _machine: &Machine) {
        if let CycleEvent::Reserved { job, start } = event {
            self.0.push((now, job as usize, start));
        }
    }
}

/// A reservation holds as long as no other job comes before the reserved one. Under a formula by
/// which jobs that arrive later never do, that is always.
#[test]
fn under_easy_the_first_job_starts_no_later_than_reserved() {
    let mut reservations = 0;
    for case in cases() {
        let case = Case {
            formula: "eligible_time".into(),
            tree: None,
            backfill: "easy".into(),
            ..case
        };
        let workload = read(&case.workload);
        let mut observer = Reservations::default();
        let schedule = case.run(&workload, &mut observer);
        for &(now, job, shadow_time) in &observer.0 {
            let start = schedule.start(job).expect("it starts");
            // jobs with a run time of 0 may end within the same second
            assert!(now <= start && start <= shadow_time, "{case:?}");
            reservations += 1;
        }
    }
    println!("{reservations} reservations");
    assert!(reservations > 500, "{reservations}");
}

#[test]
fn under_greedy_no_waiting_job_would_fit() {
    for case in cases() {
        let case = Case {
            backfill: "greedy".into(),
            ..case
        };
        let workload = read(&case.workload);
        let schedule = case.run(&workload, &mut ());
        let intervals = intervals(&workload, &schedule);
        let times = intervals.iter().flat_map(|(start, end, _)| [*start, *end]);
        let times: BTreeSet<i64> = times
            .chain(workload.jobs().iter().map(|job| job.submit))
            .collect();
        for now in times {
            let in_use = intervals
                .iter()
                .filter(|(start, end, _)| *start <= now && now < *end);
            let free = case.processors - in_use.map(|(.., processors)| processors).sum::<u32>();
            for (index, job) in workload.jobs().iter().enumerate() {
                let waits =
                    job.submit <= now && schedule.start(index).is_some_and(|start| start > now);
                assert!(!waits || job.processors > free, "{case:?}");
            }
        }
    }
}

/// From the same queue, greedy backfilling uses at least as many processors as none, but over a
/// whole workload it may use the machine less: a small job that starts early can keep a large one
/// waiting, which then runs alone at the end. Such anomalies are in the nature of scheduling from a
/// list (R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", 1969), so the cases are
/// counted.
#[test]
fn greedy_backfilling_seldom_uses_the_machine_less_than_none() {
    let (mut better, mut worse) = (0, 0);
    for case in cases() {
        let workload = read(&case.workload);
        let last_end = |backfill: &str| {
            let case = Case {
                backfill: backfill.into(),
                ..case.clone()
            };
            intervals(&workload, &case.run(&workload, &mut ()))
                .iter()
                .map(|(_, end, _)| *end)
                .max()
        };
        let (greedy, none) = (last_end("greedy"), last_end("none"));
        better += usize::from(greedy < none);
        worse += usize::from(greedy > none);
    }
    println!("greedy ends earlier in {better} of {CASES} cases, later in {worse}");
    assert!(worse * 5 < better, "{worse} against {better}");
}
