//! Two schedules side by side, and a schedule against the log that it replays.

use jsf_simulate::{Difference, Statistics, Validation, Workload, WorkloadModel, generate};

use super::{Case, read};

fn case(formula: &str, processors: u32) -> Case {
    let (formula, backfill) = (formula.to_owned(), "easy".to_owned());
    Case {
        workload: String::new(),
        processors,
        formula,
        backfill,
        tree: None,
        decay: None,
        decay_factor: None,
    }
}

fn month() -> Workload {
    generate(&WorkloadModel {
        jobs: 4000,
        processors: 64,
        load: 0.8,
        users: 20,
        seed: 3,
    })
}

/// A log of many blocks.
fn half_a_year() -> Workload {
    generate(&WorkloadModel {
        jobs: 15_000,
        processors: 64,
        load: 0.7,
        users: 20,
        seed: 3,
    })
}

#[test]
fn a_generated_workload_is_plausible_and_the_same_every_time() {
    let workload = month();
    let jobs = workload.jobs();
    let held: f64 = jobs.iter().map(|job| job.core_seconds() as f64).sum();
    let load = held / 64.0 / (jobs[jobs.len() - 1].submit - jobs[0].submit) as f64;
    assert!((0.76..0.84).contains(&load), "{load}");
    let fraction = |holds: fn(&jsf_simulate::WorkloadJob) -> bool| {
        jobs.iter().filter(|job| holds(job)).count() as f64 / jobs.len() as f64
    };
    assert!((0.21..0.28).contains(&fraction(|job| job.processors == 1)));
    assert!(fraction(|job| job.processors.is_power_of_two()) > 0.7);
    assert!(fraction(|job| job.processors <= 64 && job.walltime >= job.run) == 1.0);
    // more jobs are submitted by day than by night
    assert!(fraction(|job| (8..20).contains(&(job.submit / 3600 % 24))) > 0.6);
    assert_eq!(jobs, month().jobs());
    assert_ne!(
        jobs,
        generate(&WorkloadModel {
            jobs: 4000,
            processors: 64,
            load: 0.8,
            users: 20,
            seed: 4
        })
        .jobs()
    );
}

#[test]
fn equal_formulas_make_no_difference_and_a_strong_one_a_significant_one() {
    let workload = half_a_year();
    let run = |formula: &str| case(formula, 64).run(&workload, &mut ());
    let (first_come, same, short_first) = (
        run("eligible_time"),
        run("eligible_time * 2"),
        run("-walltime"),
    );
    let none = Difference::new(&workload, &first_come, &same, 0);
    assert_eq!((none.jobs, none.longer, none.shorter), (15_000, 0, 0));
    assert_eq!(
        (none.wait.difference(), none.wait.low, none.wait.high),
        (0.0, 0.0, 0.0)
    );
    assert!(!none.wait.is_significant());
    let difference = Difference::new(&workload, &first_come, &short_first, 0);
    let [old, new] = [&first_come, &short_first]
        .map(|schedule| Statistics::new(&workload, schedule, 64, 0).summary);
    assert_eq!(
        [difference.wait.old, difference.wait.new],
        [old.wait.mean, new.wait.mean]
    );
    let short = &difference.classes.lengths[1];
    assert!(
        short.name == "up to 10 min" && short.wait.high < 0.0,
        "{short:?}"
    );
    assert!(
        difference.wait.low <= difference.wait.difference()
            && difference.wait.difference() <= difference.wait.high
    );
    assert!(short.wait.is_decrease(), "{short:?}");
    let weighted = [old.wait_per_core_hour, new.wait_per_core_hour];
    let found = [
        difference.wait_per_core_hour.old,
        difference.wait_per_core_hour.new,
    ];
    assert!(
        found
            .iter()
            .zip(weighted)
            .all(|(found, weighted)| (found - weighted).abs() < 1e-6 * weighted)
    );
    let few = short_first_of_few(&workload);
    assert!(
        few.wait.interval().is_none() && !few.wait.is_significant(),
        "{few:?}"
    );
    let jobs: usize = difference
        .classes
        .entities
        .iter()
        .map(|entity| entity.jobs)
        .sum();
    assert_eq!(jobs, 15_000);
    assert_eq!(
        difference,
        Difference::new(&workload, &first_come, &short_first, 0)
    );
    let reversed = Difference::new(&workload, &short_first, &first_come, 0);
    assert_eq!(
        (reversed.longer, reversed.wait.low),
        (difference.shorter, -difference.wait.high)
    );
}

/// The difference of the last jobs, which are too few for an interval.
fn short_first_of_few(workload: &Workload) -> Difference {
    let jobs = workload.jobs();
    let warm_up = jobs[jobs.len() - 15].submit - jobs[0].submit;
    let [old, new] =
        ["eligible_time", "-walltime"].map(|formula| case(formula, 64).run(workload, &mut ()));
    Difference::new(workload, &old, &new, warm_up)
}

#[test]
fn a_log_of_a_simulated_run_is_replayed_to_the_second() {
    let workload = month();
    let formula = "ncpus * 100 + eligible_time / 60";
    let schedule = case(formula, 64).run(&workload, &mut ());
    let record = |index: usize| {
        let job = workload.jobs()[index];
        let (start, end) = (
            schedule.start(index).expect("a start"),
            schedule.start(index).expect("a start") + job.duration(),
        );
        let user = &workload.entities()[job.entity as usize];
        let epoch = 1_790_000_000;
        format!(
            "11/02/2026 10:01:10;E;{}.vm;user={user} group=users queue=workq ctime={submit} qtime={submit} etime={submit} \
             start={} Resource_List.ncpus={} Resource_List.walltime={:02}:{:02}:{:02} end={}\n",
            workload.id(index),
            epoch + start,
            job.processors,
            job.walltime / 3600,
            job.walltime / 60 % 60,
            job.walltime % 60,
            epoch + end,
            submit = epoch + job.submit,
        )
    };
    let log: String = (0..workload.jobs().len()).map(record).collect();
    let replayed = read(&log);
    let again = case(formula, 64).run(&replayed, &mut ());
    let validation = Validation::new(&replayed, &again, 0).expect("recorded starts");
    assert_eq!(
        (validation.jobs, validation.equal, validation.median_error),
        (4000, 4000, 0.0)
    );
    assert!(
        validation
            .rank_correlation
            .is_some_and(|tau| tau > 0.999_999)
    );
    let other = case("-ncpus", 64).run(&replayed, &mut ());
    let other = Validation::new(&replayed, &other, 0).expect("recorded starts");
    assert!(other.equal < 4000 && other.rank_correlation.is_some_and(|tau| tau < 1.0));
}

#[test]
fn a_recorded_start_before_the_submission_is_no_wait() {
    let job = |id: u32, submit: u32, start: i32| {
        format!(
            "{{\"id\":{id},\"submit\":{submit},\"start\":{start},\"run\":60,\"resources\":{{\"ncpus\":1}}}}\n"
        )
    };
    let validated = |log: &str| {
        let workload = read(log);
        let schedule = case("eligible_time", 4).run(&workload, &mut ());
        Validation::new(&workload, &schedule, 0)
    };
    let validation =
        validated(&[job(1, 0, 5), job(2, 0, -5), job(3, 0, 15)].concat()).expect("recorded waits");
    assert_eq!(
        (validation.jobs, validation.started_before_submission),
        (2, 1)
    );
    assert_eq!(
        (validation.recorded_mean, validation.ratio_of_means),
        (10.0, Some(0.0))
    );
    assert_eq!(validated(&job(1, 10, 5)), None);
}
