//! What a site adds to a simulation: the resources of its jobs, limits of running jobs, and shares
//! to compare the use with.

use job_sort_formula::Formula;
use job_sort_formula::schema::InputType;
use jsf_openpbs::NumberMode;
use jsf_simulate::{Fairness, LogRules, Schedule, Workload};
use jsf_site::{LeftOut, Role, SimulatedQueue, SimulationOptions, Site, SiteFiles, SiteOptions};

use super::bytes;

fn site(files: SiteFiles) -> Site {
    Site::from_files(
        files,
        SiteOptions {
            numbers: NumberMode::Exact,
            ..SiteOptions::default()
        },
    )
    .expect("a site")
}

/// The workload, the schedule, the start of each job, and the warnings.
fn run(
    site: &Site,
    log: &str,
    formula: &str,
    processors: u32,
) -> (Workload, Schedule, Vec<Option<i64>>, Vec<String>) {
    let (workload, simulated) = simulated(site, log, formula, processors);
    let starts = (0..workload.jobs().len())
        .map(|job| simulated.schedule.start(job))
        .collect();
    (workload, simulated.schedule, starts, simulated.warnings)
}

fn simulated(site: &Site, log: &str, formula: &str, processors: u32) -> (Workload, SimulatedQueue) {
    let formula = &Formula::parse(formula).expect("a formula");
    let workload = site
        .open_workload(&[bytes("log", log)], &[formula], LogRules::default())
        .expect("a log");
    let options = SimulationOptions {
        processors: Some(processors),
        ..SimulationOptions::default()
    };
    let simulated = site.simulate(formula, &workload, options, &mut ());
    let simulated = simulated.expect("a schedule");
    (workload, simulated)
}

fn record(id: u32, resources: &str) -> String {
    format!(
        "11/02/2026 10:00:00;E;{id}.vm;user=u group=g queue=q ctime=100 qtime=100 etime=100 start=100 Resource_List.ncpus=1 \
         {resources} Resource_List.walltime=10 end=110\n"
    )
}

#[test]
fn a_formula_gets_the_resources_of_a_job() {
    let declared = [("bias", InputType::Float), ("color", InputType::Text)];
    let declared = declared.map(|(name, kind)| (name.to_owned(), kind)).into();
    let site = site(SiteFiles::default().declaring(declared));
    let records = [
        record(1, "Resource_List.mem=1gb"),
        record(2, "Resource_List.mem=2097153kb"),
        record(3, ""),
        record(4, "Resource_List.bias=2.5 Resource_List.mem=512mb"),
    ];
    let log = records.concat();
    let order = |formula: &str| {
        let (_, _, starts, warnings) = run(&site, &log, formula, 1);
        assert_eq!(warnings, [""; 0], "{formula}");
        starts
            .into_iter()
            .map(|start| (start.expect("a start") - 100) / 10 + 1)
            .collect::<Vec<_>>()
    };
    assert_eq!(order("mem"), [2, 1, 4, 3]);
    assert_eq!(order("-mem"), [3, 4, 1, 2]);
    assert_eq!(order("bias"), [2, 3, 4, 1]);
    // amounts without decimals are Python's integers: `1 << x` fails for a float, and counts 0
    assert_eq!(order("1 << (bias + mem // 1048576)"), [2, 1, 3, 4]);
    let (_, schedule, ..) = run(&site, &log, "1 << (bias + mem // 1048576)", 1);
    assert_eq!(schedule.errors.jobs(), 1);
}

#[test]
fn what_no_job_has_is_0_with_a_warning() {
    let site = site(SiteFiles::default());
    let (.., warnings) = run(
        &site,
        &record(1, "Resource_List.mem=1gb"),
        "cput + mem + job_priority",
        1,
    );
    assert_eq!(
        warnings,
        ["no job of the log has `cput` and `job_priority`, so every job has 0"]
    );
    let swf = "1 0 -1 60 1 -1 -1 1 90 -1 1 7 1 -1 1 -1 -1 -1\n";
    let (.., warnings) = run(&site, swf, "mem", 1);
    assert_eq!(
        warnings,
        ["no job of the log has `mem`, so every job has 0"]
    );
}

#[test]
fn an_amount_that_cannot_be_read_is_a_fault() {
    let site = site(SiteFiles::default());
    let log = record(1, "Resource_List.mem=1gb") + &record(2, "Resource_List.mem=much");
    let (workload, ..) = run(&site, &log, "mem", 1);
    assert_eq!(workload.jobs().len(), 1);
    assert_eq!(
        workload.faults().messages(),
        ["`log`, line 2: an amount that the formula needs cannot be read, found `mem=much`"]
    );
    // a formula that does not need it
    assert_eq!(run(&site, &log, "ncpus", 1).0.jobs().len(), 2);
}

#[test]
fn priorities_come_from_the_log_or_the_queues() {
    let queues = bytes(
        "queues",
        "create queue a\nset queue a Priority = 10\ncreate queue b\nset queue b Priority = 20\n",
    );
    let site = site(SiteFiles::default().with(Role::Queues, queues));
    let log = r#"{"id":1,"queue":"a","submit":0,"run":10,"resources":{"ncpus":1}}
{"id":2,"queue":"b","submit":0,"run":10,"resources":{"ncpus":1}}
{"id":3,"queue":"a","queue_priority":30,"submit":0,"run":10,"resources":{"ncpus":1}}
{"id":4,"queue":"a","submit":0,"run":10,"resources":{"ncpus":1},"inputs":{"queue_priority":15.5},"job_priority":3}"#;
    let (_, _, starts, warnings) = run(&site, log, "queue_priority", 1);
    assert_eq!(
        (starts, warnings.len()),
        (vec![Some(30), Some(10), Some(0), Some(20)], 0)
    );
}

/// A job of one second's submission distance, which runs for 100 s on one processor.
fn native(jobs: &[(&str, &str)]) -> String {
    let line = |(index, (user, queue)): (usize, &(&str, &str))| {
        format!(
            r#"{{"id":{},"entity":"{user}","queue":"{queue}","submit":0,"run":100,"resources":{{"ncpus":1}}}}"#,
            index + 1
        )
    };
    jobs.iter()
        .enumerate()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn limited(server: &str) -> Site {
    site(SiteFiles::default().with(Role::Server, bytes("server", server)))
}

#[test]
fn limits_of_running_jobs_are_kept() {
    let log = native(&[
        ("ada", "q"),
        ("ada", "q"),
        ("ada", "q"),
        ("bob", "q"),
        ("ada", "other"),
        ("cy", "q"),
    ]);
    let starts = |limits: &str| {
        let server = format!(
            "create queue q\ncreate queue other\nset server eligible_time_enable = True\n{limits}\n"
        );
        let (workload, simulated) = simulated(&limited(&server), &log, "eligible_time", 8);
        assert_eq!(simulated.warnings, [""; 0]);
        assert_eq!(simulated.limits.is_empty(), limits.is_empty());
        let starts = (0..workload.jobs().len()).map(|job| simulated.schedule.start(job));
        starts
            .map(|start| start.expect("a start"))
            .collect::<Vec<_>>()
    };
    assert_eq!(starts(""), [0; 6]);
    assert_eq!(
        starts("set queue q max_run = [u:PBS_GENERIC=1]"),
        [0, 100, 200, 0, 0, 0]
    );
    assert_eq!(
        starts("set queue q max_run = [u:PBS_GENERIC=1]\nset queue q max_run += [u:ada=2]"),
        [0, 0, 100, 0, 0, 0]
    );
    assert_eq!(
        starts("set server max_run = [u:PBS_GENERIC=2]"),
        [0, 0, 100, 0, 100, 0]
    );
    assert_eq!(
        starts("set queue q max_run = [o:PBS_ALL=2]"),
        [0, 0, 100, 100, 0, 200]
    );
    assert_eq!(
        starts("set queue q max_user_run = 2\nset server max_running = 3"),
        [0, 0, 100, 0, 100, 100]
    );
}

/// The scheduler reads the threshold as the server prints it, with at most four decimals.
#[test]
fn a_threshold_holds_back_the_same_jobs_as_in_a_cycle() {
    let log = native(&[("ada", "q")]);
    for (threshold, expected) in [("1.5", Some(0)), ("1.99999", None), ("2", None)] {
        let server =
            format!("create queue q\nset server job_sort_formula_threshold = {threshold}\n");
        let (_, _, starts, _) = run(&limited(&server), &log, "2", 8);
        assert_eq!(starts, [expected], "{threshold}");
    }
}

#[test]
fn a_job_at_its_limit_holds_back_no_other() {
    // the first job in the order is at its limit, so that it gets no reservation
    let log = native(&[("ada", "q"), ("ada", "q"), ("bob", "q"), ("bob", "q")]);
    let server =
        "create queue q\nset server eligible_time_enable = True\nset queue q max_run = [u:ada=1]\n";
    let (_, _, starts, _) = run(&limited(server), &log, "eligible_time", 2);
    assert_eq!(starts, [Some(0), Some(100), Some(0), Some(100)]);
    let server =
        "create queue q\nset server eligible_time_enable = True\nset queue q max_run = [u:ada=0]\n";
    let (_, schedule, starts, warnings) = run(&limited(server), &log, "eligible_time", 2);
    assert_eq!(starts, [None, None, Some(0), Some(0)]);
    assert!(schedule.is_complete);
    assert_eq!(
        warnings,
        [
            "jobs that never start, because a limit, a threshold or a stopped queue lets none run: `1` and `2`"
        ]
    );
}

#[test]
fn amounts_are_limited_too() {
    let log = native(&[("ada", "q"), ("ada", "q"), ("bob", "q")]);
    let server = "create queue q\nset server eligible_time_enable = True\nset queue q max_run_res.ncpus = [u:PBS_GENERIC=1]\n";
    let (_, _, starts, warnings) = run(&limited(server), &log, "eligible_time", 3);
    assert_eq!(
        (starts, warnings.len()),
        (vec![Some(0), Some(100), Some(0)], 0)
    );
}

#[test]
fn what_is_not_simulated_is_named() {
    let server = "create queue q\nset server eligible_time_enable = True\nset queue q max_run_soft = [u:PBS_GENERIC=4]\n";
    let (_, simulated) = simulated(
        &limited(server),
        &native(&[("ada", "q")]),
        "eligible_time",
        2,
    );
    assert_eq!(
        simulated.left_out,
        [LeftOut {
            what: "`max_run_soft`".to_owned(),
            jobs: 1
        }]
    );
}

#[test]
fn the_use_is_compared_with_the_shares() {
    let tree = r#"{"children":[{"name":"ada","shares":50},{"name":"bob","shares":50}]}"#;
    let site = site(SiteFiles::default().with(Role::Tree, bytes("tree", tree)));
    // both want the only processor at once, and ada is served first
    let log = native(&[("ada", "q"), ("bob", "q")]);
    let (
        workload,
        SimulatedQueue {
            schedule, shares, ..
        },
    ) = simulated(&site, &log, "eligible_time", 1);
    assert_eq!([0, 1].map(|job| schedule.start(job)), [Some(0), Some(100)]);
    let shares = shares.expect("a tree");
    assert_eq!(shares, [Some(0.5), Some(0.5)]);
    let fairness = Fairness::new(&workload, &schedule, &shares, 0);
    // in the five blocks of 21 s in which both ask for the processor, half of it is promised to
    // each, and then all to bob
    let promised: Vec<f64> = fairness
        .entities
        .iter()
        .map(|entity| entity.promised)
        .collect();
    let used: Vec<f64> = fairness.entities.iter().map(|entity| entity.used).collect();
    assert_eq!((promised, used), (vec![52.5, 147.5], vec![100.0, 100.0]));
    assert_eq!((fairness.hoover, fairness.block_seconds), (0.2375, 21));
    let (ada, bob) = (100.0 / 52.5, 100.0 / 147.5);
    assert_eq!(
        fairness.jain,
        Some((ada + bob) * (ada + bob) / (2.0 * (ada * ada + bob * bob)))
    );
    // with two processors nobody waits
    let (workload, schedule, ..) = run(&site, &log, "eligible_time", 2);
    let fairness = Fairness::new(&workload, &schedule, &shares, 0);
    assert_eq!((fairness.hoover, fairness.jain), (0.0, Some(1.0)));
}

#[test]
fn equal_values_are_ordered_by_a_resource_of_job_sort_key() {
    let config = bytes("sched_config", "job_sort_key: \"mem HIGH ALL\"\n");
    let site = site(SiteFiles::default().with(Role::SchedConfig, config));
    let log = [
        record(1, "Resource_List.mem=1gb"),
        record(2, "Resource_List.mem=3gb"),
        record(3, ""),
    ]
    .concat();
    let (_, _, starts, _) = run(&site, &log, "0*ncpus", 1);
    assert_eq!(starts, [Some(110), Some(100), Some(120)]);
}

#[test]
fn jobs_wait_for_what_the_server_and_their_queue_have() {
    let server = bytes(
        "server",
        "create queue q\nset queue q resources_available.qlic = 1\nset server resources_available.lic = 5\n",
    );
    let config = bytes("sched_config", "resources: \"ncpus, lic, qlic\"\n");
    let files = SiteFiles::default()
        .with(Role::Server, server)
        .with(Role::SchedConfig, config);
    let declared = ["lic", "qlic"]
        .map(|name| (name.to_owned(), InputType::Count))
        .into();
    let site = site(files.declaring(declared));
    let log = [
        record(1, "Resource_List.lic=3"),
        record(2, "Resource_List.lic=3"),
        record(3, "Resource_List.qlic=1"),
        record(4, "Resource_List.qlic=1"),
        record(5, "Resource_List.lic=6"),
        record(6, ""),
    ];
    let (_, _, starts, warnings) = run(&site, &log.concat(), "0", 64);
    assert_eq!(
        starts,
        [Some(100), Some(110), Some(100), Some(110), None, Some(100)]
    );
    assert!(
        warnings.iter().any(|warning| warning.contains("`5.vm`")),
        "{warnings:?}"
    );
}

#[test]
fn at_most_max_run_subjobs_of_an_array_run() {
    let native = |array: u32, index: u32, more: &str| {
        format!(
            "{{\"id\":\"{array}[{index}].vm\",\"entity\":\"u\",\"submit\":100,\"run\":10,\
             \"resources\":{{\"ncpus\":1,\"walltime\":10}}{more}}}\n"
        )
    };
    let of_array = |array: u32, more: &str| {
        (0..4)
            .map(|index| native(array, index, more))
            .collect::<String>()
    };
    let site = site(SiteFiles::default());
    let starts = |log: &str| run(&site, log, "0", 64).2;
    let at_once = [Some(100); 4];
    assert_eq!(starts(&of_array(1, "")), at_once);
    let two_at_a_time = [Some(100), Some(100), Some(110), Some(110)];
    assert_eq!(
        starts(&of_array(1, ",\"max_run_subjobs\":2")),
        two_at_a_time
    );
    // each array has a limit of its own
    let both = of_array(1, ",\"max_run_subjobs\":2")
        + &of_array(2, "")
        + &of_array(3, ",\"max_run_subjobs\":\"3\"");
    let three_at_a_time = [Some(100), Some(100), Some(100), Some(110)];
    assert_eq!(
        starts(&both),
        [two_at_a_time, at_once, three_at_a_time].concat()
    );
    let records: String = (0..4)
        .map(|index| record(7, "max_run_subjobs=2").replace("7.vm", &format!("7[{index}].vm")))
        .collect();
    assert_eq!(starts(&records), two_at_a_time);
    let time = "Fri Nov 20 18:05:02 2026";
    let finished = (0..4).map(|index| {
        format!(
            "\"7[{index}].vm\":{{\"job_state\":\"X\",\"euser\":\"u\",\"qtime\":\"{time}\",\"etime\":\"{time}\",\"stime\":\"{time}\",\
             \"resources_used\":{{\"walltime\":\"00:00:10\"}},\"Resource_List\":{{\"ncpus\":1,\"walltime\":\"00:00:10\"}}}}"
        )
    });
    let finished = finished.collect::<Vec<_>>().join(",");
    let qstat = format!(
        "{{\"Jobs\":{{\"7[].vm\":{{\"job_state\":\"F\",\"max_run_subjobs\":2}},{finished}}}}}"
    );
    let of_qstat = starts(&qstat);
    let waits: Vec<i64> = of_qstat
        .iter()
        .map(|start| start.expect("a start") - of_qstat[0].expect("a start"))
        .collect();
    assert_eq!(waits, [0, 0, 10, 10]);
}
