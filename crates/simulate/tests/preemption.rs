//! Running jobs of a simulation give way to those of a higher level, as in a single cycle.

use std::collections::BTreeSet;
use std::fmt::Write;

use jsf_openpbs::cycle::{CycleEvent, Machine, Placement, PreemptionMethod};
use jsf_simulate::{LogRules, Observer, Preemptions, Workload};
use jsf_site::{
    CycleRequest, Role, SimulatedQueue, SimulationOptions, Site, SiteFiles, SiteOptions,
};
use jsf_testing::random::Generator;
use jsf_testing::setting;
use serde_json::{Value, json};

use super::bytes;
use super::placement::{nodes, simulated};

/// The queue `high` is an express queue.
const QUEUES: &str = "create queue low\nset queue low queue_type = Execution\nset queue low started = True\nset queue low Priority = 10\n\
     create queue high\nset queue high queue_type = Execution\nset queue high started = True\nset queue high Priority = 200\n";

fn site(processors: &[u32], config: &str, server: &str, sched: &str) -> SiteFiles {
    let config = format!("preemptive_sched: true ALL\n{config}");
    let sched = format!("Sched default\n    scheduling = True\n{sched}");
    SiteFiles::default()
        .with(Role::Nodes, bytes("nodes", &nodes(processors)))
        .with(Role::SchedConfig, bytes("sched_config", &config))
        .with(Role::Queues, bytes("queues", &format!("{QUEUES}{server}")))
        .with(Role::Server, bytes("sched", &sched))
}

fn job(id: u32, queue: &str, submit: i64, [run, walltime]: [i64; 2], select: &str) -> String {
    let resources = json!({"select": select, "walltime": walltime});
    json!({"id": id, "entity": "u", "queue": queue, "submit": submit, "run": run, "resources": resources}).to_string() + "\n"
}

/// The starts, the ends, and what preemption does.
fn outcome(order: &str, log: &str) -> (Vec<i64>, Vec<i64>, Preemptions, SimulatedQueue) {
    let files = site(&[4], "", "", &format!("    preempt_order = {order}\n"));
    let (starts, simulated) = simulated(files, log, "0");
    let workload = super::read(log);
    let jobs = 0..workload.jobs().len();
    let ends = jobs.map(|job| simulated.schedule.end(&workload, job).unwrap_or(-1));
    let counts = simulated.schedule.preemptions.expect("preemption");
    (starts, ends.collect(), counts, simulated)
}

#[test]
fn a_suspended_job_goes_on_and_a_requeued_one_starts_anew() {
    let log =
        job(1, "low", 0, [100, 200], "1:ncpus=4") + &job(2, "high", 40, [30, 50], "1:ncpus=4");
    let (starts, ends, counts, site) = outcome("S", &log);
    assert_eq!((starts, ends), (vec![0, 40], vec![130, 70]));
    let none = Preemptions::default();
    assert_eq!(
        counts,
        Preemptions {
            suspended: 1,
            ..none
        }
    );
    let workload = super::read(&log);
    let summary = site.statistics(&workload, 0).summary;
    // the machine is full all the time, and the first job takes 130 s instead of 100 s
    assert_eq!(
        (summary.utilisation, summary.bounded_slowdown.mean),
        (1.0, 1.15)
    );

    let (starts, ends, counts, site) = outcome("R", &log);
    assert_eq!((starts, ends), (vec![70, 40], vec![170, 70]));
    let lost_core_seconds = 4 * 40;
    assert_eq!(
        counts,
        Preemptions {
            requeued: 1,
            lost_core_seconds,
            ..none
        }
    );
    let summary = site.statistics(&workload, 0).summary;
    assert_eq!(summary.utilisation, 520.0 / (4.0 * 170.0));

    let (starts, ends, counts, site) = outcome("D", &log);
    assert_eq!((starts, ends), (vec![-1, 40], vec![-1, 70]));
    assert_eq!(
        counts,
        Preemptions {
            deleted: 1,
            lost_core_seconds,
            ..none
        }
    );
    assert_eq!(site.schedule.deleted, [0]);
    assert!(
        site.warnings
            .iter()
            .any(|warning| warning.contains("deleted")),
        "{:?}",
        site.warnings
    );
}

#[test]
fn of_jobs_that_started_at_once_the_first_in_the_order_of_a_chosen_queue_gives_way() {
    let log = job(1, "low", 0, [100, 200], "1:ncpus=1")
        + &job(2, "low", 0, [100, 200], "1:ncpus=2")
        + &job(3, "high", 40, [30, 50], "1:ncpus=2");
    for (by_queue, suspended) in [(true, 1), (false, 0)] {
        let config = format!("by_queue: {by_queue} ALL\n");
        let files = site(&[4], &config, "", "    preempt_order = S\n");
        let (_, simulated) = simulated(files, &log, "ncpus");
        let workload = super::read(&log);
        let paused = (0..2).filter(|&job| simulated.schedule.end(&workload, job) != Some(100));
        assert_eq!(paused.collect::<Vec<_>>(), [suspended], "{by_queue}");
    }
}

#[test]
fn how_a_job_gives_way_depends_on_what_is_left_of_its_walltime() {
    // 80 % are left at 40; it goes on at 70, and 45 % are left at 140
    let log = job(1, "low", 0, [180, 200], "1:ncpus=4")
        + &job(2, "high", 40, [30, 50], "1:ncpus=4")
        + &job(3, "high", 140, [30, 50], "1:ncpus=4");
    let (starts, ends, counts, _) = outcome("\"S 50 R\"", &log);
    assert_eq!((starts, ends), (vec![170, 40, 140], vec![350, 70, 170]));
    let expected = Preemptions {
        suspended: 1,
        requeued: 1,
        deleted: 0,
        lost_core_seconds: 4 * (40 + 70),
    };
    assert_eq!(counts, expected);
}

#[test]
fn usage_does_not_grow_and_jobs_do_not_age_while_they_are_suspended_or_run() {
    // at 130 the suspended job has waited for 30 s in all, and the third job for 20 s
    let log = job(1, "low", 0, [100, 200], "1:ncpus=4")
        + &job(2, "high", 40, [30, 50], "1:ncpus=4")
        + &job(3, "low", 50, [10, 10], "1:ncpus=1");
    let files = site(&[4], "", "", "    preempt_order = S\n");
    let (starts, simulated) = simulated(files, &log, "eligible_time");
    assert_eq!(starts, [0, 40, 130]);
    assert_eq!(simulated.schedule.start_value(2), Some(80.0));
}

/// The state of a job of the log.
#[derive(Clone, Debug)]
enum State {
    Waits,
    Runs {
        since: i64,
        end: i64,
        planned_end: i64,
        place: String,
    },
    IsSuspended {
        since: i64,
        left: i64,
        left_of_walltime: i64,
        place: String,
    },
    IsOver,
}

/// What a simulation does, in order.
#[derive(Default)]
struct Recorded {
    events: Vec<(i64, usize, Event)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Event {
    Starts(String),
    GivesWay(PreemptionMethod),
}

impl Observer for Recorded {
    fn happened(&mut self, now: i64, event: CycleEvent, machine: &Machine) {
        let (job, event) = match event {
            CycleEvent::Starts(job) => {
                let place = machine.placement(job).map(in_words);
                (job, Event::Starts(place.unwrap_or_default()))
            }
            CycleEvent::GivesWay(job, method) => (job, Event::GivesWay(method)),
            CycleEvent::Waits { .. } | CycleEvent::Reserved { .. } => return,
        };
        self.events.push((now, job as usize, event));
    }
}

/// `exec_vnode`
fn in_words(placement: &Placement) -> String {
    let parts = placement.0.iter().filter(|part| part.amounts[0] > 0);
    let parts = parts.map(|part| format!("(n{}:ncpus={})", part.pool, part.amounts[0]));
    parts.collect::<Vec<_>>().join("+")
}

/// A random log, job by job: what its line has.
struct Case {
    files: SiteFiles,
    lines: Vec<Value>,
    formula: &'static str,
    settings: String,
}

fn random_case(generator: &mut Generator) -> Case {
    let hosts: Vec<u32> = (0..1 + generator.below(3))
        .map(|_| 2 + generator.below(3) as u32)
        .collect();
    let largest = hosts.iter().copied().max().unwrap_or(1);
    let order = generator.pick(&["S", "R", "D", "SR", "SCR"]);
    let prio = generator.pick(&[
        "express_queue, normal_jobs",
        "express_queue, normal_jobs, server_softlimits",
        "express_queue, normal_jobs, queue_softlimits, server_softlimits+queue_softlimits",
    ]);
    let mut server = String::new();
    if prio.contains("soft") {
        _ = writeln!(
            server,
            "set server max_run_soft = [u:PBS_GENERIC={}]",
            1 + generator.below(2)
        );
        _ = writeln!(
            server,
            "set queue low max_run_res_soft.ncpus = [u:PBS_GENERIC={}]",
            1 + generator.below(4)
        );
    }
    if generator.below(3) == 0 {
        _ = writeln!(
            server,
            "set server max_run = [u:PBS_GENERIC={}]",
            1 + generator.below(3)
        );
    }
    _ = writeln!(server, "set server backfill_depth = {}", generator.below(3));
    let config = format!(
        "strict_ordering: {} ALL\nby_queue: {} ALL\nround_robin: {} ALL\n",
        generator.below(2) == 0,
        generator.below(2) == 0,
        generator.below(4) == 0
    );
    let sched = format!("    preempt_order = {order}\n    preempt_prio = \"{prio}\"\n");
    let lines = (1..=2 + generator.below(16)).map(|id| {
        let chunks = 1 + generator.below(2);
        let select = format!("{chunks}:ncpus={}", 1 + generator.below(largest.into()));
        let queue = generator.pick(&["low", "low", "high"]);
        let walltime = 1 + generator.below(40);
        let place = generator.pick(&["free", "free", "pack", "scatter", "excl"]);
        json!({
            "id": id, "entity": format!("u{}", generator.below(3)), "queue": queue, "submit": 1000 + generator.below(60),
            "run": 1 + generator.below(walltime), "resources": {"select": select, "place": place, "walltime": walltime},
        })
    });
    Case {
        lines: lines.collect(),
        formula: generator.pick(&["0", "ncpus", "-ncpus"]),
        settings: format!("{config}{server}{sched}"),
        files: site(&hosts, &config, &server, &sched),
    }
}

fn open(files: &SiteFiles) -> Site {
    Site::from_files(files.clone(), SiteOptions::default()).expect("a site")
}

impl Case {
    fn line(&self, workload: &Workload, job: usize) -> &Value {
        let id: usize = workload.id(job).parse().expect("a number");
        &self.lines[id - 1]
    }

    /// The jobs in the system as `qstat -f -F json` prints them.
    fn document(&self, workload: &Workload, states: &[State], now: i64) -> String {
        // in the order of the log
        let mut jobs: Vec<String> = Vec::new();
        for (index, state) in states.iter().enumerate() {
            let of = &workload.jobs()[index];
            let line = self.line(workload, index);
            if matches!(state, State::IsOver) || of.submit > now {
                continue;
            }
            let mut resources = line["resources"].clone();
            resources["ncpus"] = of.processors.into();
            let mut job = json!({
                "euser": line["entity"], "egroup": "", "project": "", "queue": line["queue"], "job_state": "Q",
                "qtime": of.submit, "etime": of.submit, "queue_rank": index, "Resource_List": resources,
            });
            match state {
                State::Runs {
                    since,
                    planned_end,
                    place,
                    ..
                } => {
                    job["job_state"] = "R".into();
                    job["stime"] = (*since).into();
                    job["Resource_List"]["walltime"] = (planned_end - since).into();
                    job["exec_vnode"] = place.as_str().into();
                }
                State::IsSuspended {
                    left_of_walltime,
                    place,
                    ..
                } => {
                    job["job_state"] = "S".into();
                    job["exec_vnode"] = place.as_str().into();
                    job["Resource_List"]["walltime"] = (*left_of_walltime).into();
                }
                _ => {}
            }
            jobs.push(format!("\"{}\":{job}", workload.id(index)));
        }
        // the queues of the log have jobs at all times
        for queue in workload.queues() {
            let held = json!({"euser": "u", "queue": queue, "job_state": "H", "Hold_Types": "u", "Resource_List": {"ncpus": 1}});
            jobs.push(format!("\"held-{queue}\":{held}"));
        }
        format!("{{\"timestamp\":{now},\"Jobs\":{{{}}}}}", jobs.join(","))
    }

    /// Compares each cycle of a simulation with the one that the site's documents lead to. Returns
    /// the number of cycles and of jobs that give way.
    fn compare(&self) -> (usize, usize) {
        let log: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        let formula = &self.formula.parse().expect("a formula");
        let site = open(&self.files);
        let workload = site
            .open_workload(&[bytes("log", &log)], &[formula], LogRules::default())
            .expect("a log");
        let mut recorded = Recorded::default();
        let options = SimulationOptions::default();
        let simulated = site.simulate(formula, &workload, options, &mut recorded);
        let schedule = simulated.expect("a schedule").schedule;
        let mut states = vec![State::Waits; workload.jobs().len()];
        for &job in &schedule.too_large {
            states[job] = State::IsOver;
        }
        let mut times: BTreeSet<i64> = workload.jobs().iter().map(|job| job.submit).collect();
        let mut events = recorded.events.as_slice();
        let (mut cycles, mut preemptions) = (0, 0);
        while let Some(now) = times.pop_first() {
            let mut ended = 0;
            for state in &mut states {
                if matches!(state, State::Runs { end, .. } if *end == now) {
                    *state = State::IsOver;
                    ended += 1;
                }
            }
            let is_submission = |job: &usize| {
                workload.jobs()[*job].submit == now
                    && schedule.too_large.binary_search(job).is_err()
            };
            if ended == 0 && !(0..states.len()).any(|job| is_submission(&job)) {
                continue;
            }
            let document = self.document(&workload, &states, now);
            let of_now = events.iter().take_while(|(time, ..)| *time == now).count();
            let (found, rest) = events.split_at(of_now);
            events = rest;
            let queue = open(
                &self
                    .files
                    .clone()
                    .with(Role::Queue, bytes("qstat.json", &document)),
            );
            let cycle = queue.cycle(&CycleRequest {
                formula: Some(formula),
                ..CycleRequest::default()
            });
            let cycle = cycle.expect("a cycle");
            let [started, preempted] = [true, false].map(|starts| {
                let events = found
                    .iter()
                    .filter(|(_, _, event)| matches!(event, Event::Starts(_)) == starts);
                let ids = events.map(|(_, job, _)| workload.id(*job).to_owned());
                ids.collect::<Vec<_>>()
            });
            let of_cycle: Vec<String> = cycle.preempted.iter().map(|one| one.id.clone()).collect();
            assert_eq!(
                (&started, &preempted),
                (&cycle.started, &of_cycle),
                "{now}\n{}\n{document}\n{log}",
                self.settings
            );
            cycles += 1;
            preemptions += preempted.len();
            for (_, job, event) in found {
                let of = &workload.jobs()[*job];
                let (since, left, left_of_walltime) = match &states[*job] {
                    State::IsSuspended {
                        since,
                        left,
                        left_of_walltime,
                        ..
                    } => (*since, *left, *left_of_walltime),
                    _ => (now, of.duration(), of.walltime),
                };
                states[*job] = match (event, &states[*job]) {
                    (Event::Starts(place), _) => {
                        times.insert(now + left);
                        State::Runs {
                            since,
                            end: now + left,
                            planned_end: now + left_of_walltime,
                            place: place.clone(),
                        }
                    }
                    (
                        Event::GivesWay(PreemptionMethod::Suspend),
                        State::Runs {
                            since,
                            end,
                            planned_end,
                            place,
                        },
                    ) => State::IsSuspended {
                        since: *since,
                        left: end - now,
                        left_of_walltime: planned_end - now,
                        place: place.clone(),
                    },
                    (Event::GivesWay(PreemptionMethod::Delete), _) => State::IsOver,
                    (Event::GivesWay(_), _) => State::Waits,
                };
            }
        }
        assert!(events.is_empty(), "{events:?}");
        (cycles, preemptions)
    }
}

#[test]
fn each_cycle_of_a_simulation_is_that_of_the_same_queue() {
    let mut generator = Generator(setting("JSF_SIMULATE_SEED", 3));
    let (mut cycles, mut preemptions) = (0, 0);
    for _ in 0..setting("JSF_SIMULATE_CASES", 400) {
        let (compared, preempted) = random_case(&mut generator).compare();
        cycles += compared;
        preemptions += preempted;
    }
    println!("{cycles} cycles, {preemptions} jobs that give way");
    assert!(cycles > 1000 && preemptions > 100, "{cycles} {preemptions}");
}
