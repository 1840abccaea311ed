//! Jobs of a log are placed on the hosts of the site's nodes, as their `select` and `place` say.

use jsf_openpbs::NumberMode;
use jsf_simulate::LogRules;
use jsf_site::{LeftOut, Role, SimulatedQueue, SimulationOptions, Site, SiteFiles, SiteOptions};
use jsf_testing::random::Generator;

use super::bytes;

/// Vnodes of these processors, each on a host of its own.
pub(super) fn nodes(processors: &[u32]) -> String {
    let node = |(index, processors): (usize, &u32)| {
        format!(
            "n{index}\n     Mom = n{index}.vm\n     state = free\n     resources_available.host = n{index}\n     \
             resources_available.ncpus = {processors}\n     resources_available.vnode = n{index}\n     sharing = default_shared\n\n"
        )
    };
    processors.iter().enumerate().map(node).collect()
}

pub(super) fn simulated(files: SiteFiles, log: &str, formula: &str) -> (Vec<i64>, SimulatedQueue) {
    let options = SiteOptions {
        numbers: NumberMode::Exact,
        ..SiteOptions::default()
    };
    let site = Site::from_files(files, options).expect("a site");
    let formula = &formula.parse().expect("a formula");
    let workload = site
        .open_workload(&[bytes("log", log)], &[formula], LogRules::default())
        .expect("a log");
    let simulated = site.simulate(formula, &workload, SimulationOptions::default(), &mut ());
    let simulated = simulated.expect("a schedule");
    let starts = (0..workload.jobs().len()).map(|job| simulated.schedule.start(job).unwrap_or(-1));
    (starts.collect(), simulated)
}

/// A job of 10 s that is submitted at 100.
fn record(id: u32, ncpus: u32, resources: &str) -> String {
    format!(
        "11/02/2026 10:00:00;E;{id}.vm;user=u group=g queue=q ctime=100 qtime=100 etime=100 start=100 \
         Resource_List.ncpus={ncpus} {resources} Resource_List.walltime=10 end=110\n"
    )
}

fn on(processors: &[u32]) -> SiteFiles {
    SiteFiles::default().with(Role::Nodes, bytes("nodes", &nodes(processors)))
}

#[test]
fn each_chunk_is_on_one_host() {
    let selects = ["1:ncpus=3", "1:ncpus=3", "1:ncpus=2", "2:ncpus=1"];
    let records = selects.iter().zip([3, 3, 2, 2]).zip(1..);
    let log: String = records
        .map(|((select, ncpus), id)| record(id, ncpus, &format!("Resource_List.select={select}")))
        .collect();
    let (starts, site) = simulated(on(&[4, 4]), &log, "ncpus");
    assert_eq!(starts, [100, 100, 110, 100]);
    assert_eq!((site.processors.total, site.left_out), (8, vec![]));
    let (starts, site) = simulated(on(&[4, 4]), &log.replace("select", "chunks"), "ncpus");
    assert_eq!(starts, [100, 100, 100, 110]);
    let what = "the hosts of jobs without `select` in the log".to_owned();
    assert_eq!(site.left_out, [LeftOut { what, jobs: 4 }]);
}

#[test]
fn place_and_values_of_nodes_decide_where_a_chunk_may_be() {
    // four processors of eight are taken by the first job, on the first host
    for (select, place, starts_at) in [
        ("2:ncpus=1", "", 100),
        ("2:ncpus=2", "scatter", 110),
        ("1:ncpus=4", "excl", 100),
        ("2:ncpus=1", "scatter:excl", 110),
        ("1:ncpus=1:host=n1", "", 100),
        ("1:ncpus=1:vnode=n0", "", 110),
    ] {
        let first = record(1, 4, "Resource_List.select=1:ncpus=4:vnode=n0");
        let resources = format!("Resource_List.select={select} Resource_List.place={place}");
        let (starts, _) = simulated(on(&[4, 4]), &(first + &record(2, 4, &resources)), "0");
        assert_eq!(starts, [100, starts_at], "{select} {place}");
    }
}

#[test]
fn each_format_of_a_log_says_what_jobs_ask_for() {
    let select = "1:ncpus=3";
    let records: String = (1..=3)
        .map(|id| record(id, 3, &format!("Resource_List.select={select}")))
        .collect();
    let lines: String = (1..=3)
        .map(|id| format!("{{\"id\":{id},\"submit\":100,\"run\":10,\"resources\":{{\"select\":\"{select}\",\"walltime\":10}}}}\n"))
        .collect();
    let time = "Fri Nov 20 18:05:02 2026";
    let jobs: Vec<String> = (1..=3)
        .map(|id| {
            format!(
                "\"{id}.vm\":{{\"job_state\":\"F\",\"qtime\":\"{time}\",\"stime\":\"{time}\",\"schedselect\":\"{select}\",\
                 \"resources_used\":{{\"walltime\":\"00:00:10\"}},\"Resource_List\":{{\"ncpus\":3,\"select\":\"3\",\"walltime\":\"00:00:10\"}}}}"
            )
        })
        .collect();
    let document = format!("{{\"Jobs\":{{{}}}}}", jobs.join(","));
    for log in [records, lines, document] {
        // of nine processors, one host has room for two jobs, and the other one for none
        let (starts, site) = simulated(on(&[7, 2]), &log, "0");
        let waits: Vec<i64> = starts.iter().map(|start| start - starts[0]).collect();
        assert_eq!((waits, site.placed), (vec![0, 0, 10], 3), "{log}");
    }
}

#[test]
fn a_job_without_select_is_one_chunk_beside_those_that_have_one() {
    let log =
        record(1, 2, "Resource_List.select=2:ncpus=1") + &record(2, 5, "") + &record(3, 4, "");
    let (starts, site) = simulated(on(&[4, 4]), &log, "0");
    assert_eq!(
        (starts, site.schedule.too_large),
        (vec![100, -1, 100], vec![1])
    );
    let what = "chunks of jobs without `select` in the log (each is placed as one)".to_owned();
    assert_eq!(
        (site.placed, site.left_out),
        (1, vec![LeftOut { what, jobs: 2 }])
    );
}

/// Where hosts make no difference, the jobs start as on one count of processors.
#[test]
fn placing_changes_nothing_where_hosts_cannot_matter() {
    let mut generator = Generator(11);
    let mut waits = 0;
    for _ in 0..150 {
        let hosts: Vec<u32> = (0..1 + generator.below(3))
            .map(|_| 1 + generator.below(4) as u32)
            .collect();
        let processors: u32 = hosts.iter().sum();
        let rules = generator.pick(&["strict_ordering: false", "strict_ordering: true"]);
        // a promised start is one on certain hosts, so that it matters which ones others have
        let depth = if rules.ends_with("true") { 0 } else { 1 };
        let log = |chunks: &dyn Fn(u32) -> String, generator: &mut Generator| -> String {
            let jobs = 1..=1 + generator.below(30);
            let line = |id| {
                let ncpus = 1 + generator.below(processors.into()) as u32;
                format!(
                    "{{\"id\":{id},\"submit\":{},\"run\":{},\"resources\":{{\"ncpus\":{ncpus},\"walltime\":{}{}}}}}\n",
                    generator.below(60),
                    generator.below(40),
                    1 + generator.below(40),
                    chunks(ncpus)
                )
            };
            jobs.map(line).collect()
        };
        let formula = generator.pick(&["eligible_time", "-ncpus", "-walltime", "0"]);
        let mut compare = |files: SiteFiles, select: &dyn Fn(u32) -> String| {
            let seed = generator.below(1 << 30);
            let [placed, counted]: [Vec<i64>; 2] = [select, &|_| String::new()].map(|chunks| {
                let log = log(chunks, &mut Generator(seed));
                simulated(files.clone(), &log, formula).0
            });
            assert_eq!(placed, counted);
            waits += placed.len();
        };
        let config = |text: &str| bytes("sched_config", text);
        let backfilling = config(&format!("{rules}\n"));
        // one vnode, with promised starts
        compare(
            on(&[processors]).with(Role::SchedConfig, backfilling),
            &|ncpus| format!(",\"select\":\"1:ncpus={ncpus}\""),
        );
        // one processor in each chunk
        let server = format!("set server backfill_depth = {depth}\n");
        compare(
            on(&hosts)
                .with(Role::SchedConfig, config(&format!("{rules}\n")))
                .with(Role::Server, bytes("server", &server)),
            &|ncpus| format!(",\"select\":\"{ncpus}:ncpus=1\""),
        );
    }
    assert!(waits > 2000, "{waits}");
}
