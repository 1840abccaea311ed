//! Prime time and dedicated time in a simulation, by the files of the site and the log's clock.

use jsf_site::{Role, SiteFiles};

use super::bytes;
use super::placement::simulated;

/// Monday, 2026-11-02 00:00 UTC, in seconds since 1970.
const MONDAY: i64 = 1_793_577_600;
const HOUR: i64 = 3600;

/// A job that is submitted at an hour of the Monday in UTC, and ends an hour later. The server's
/// clock is an hour ahead.
fn record(id: u32, queue: &str, hour: i64, [ncpus, walltime]: [i64; 2]) -> String {
    let submit = MONDAY + hour * HOUR;
    let end = submit + HOUR;
    let wall = hour + 2;
    format!(
        "11/02/2026 {wall:02}:00:01;E;{id}.vm;user=u group=g queue={queue} ctime={submit} qtime={submit} etime={submit} \
         start={submit} Resource_List.ncpus={ncpus} Resource_List.walltime={walltime}:00:00 end={end}\n"
    )
}

/// The starts in hours of the Monday in UTC, and what is left out.
fn starts(files: SiteFiles, log: &str) -> (Vec<i64>, Vec<String>) {
    let nodes = bytes("nodes", &super::placement::nodes(&[4]));
    let (starts, simulated) = simulated(files.with(Role::Nodes, nodes), log, "0");
    let hours = starts.iter().map(|start| (start - MONDAY) / HOUR);
    let left_out = simulated.left_out.into_iter().map(|one| one.what);
    assert_eq!(simulated.warnings, [""; 0]);
    (hours.collect(), left_out.collect())
}

fn holidays() -> SiteFiles {
    let holidays = "YEAR 2026\nweekday 0800 1800\nsaturday none all\nsunday none all\n";
    SiteFiles::default().with(Role::Holidays, bytes("holidays", holidays))
}

fn config(files: SiteFiles, config: &str) -> SiteFiles {
    files.with(Role::SchedConfig, bytes("sched_config", config))
}

#[test]
fn jobs_of_queues_of_prime_time_wait_for_it() {
    let prefixes = "primetime_prefix: p_\nnonprimetime_prefix: np_\n";
    let log = record(1, "p_day", 5, [1, 1])
        + &record(2, "np_night", 6, [1, 1])
        + &record(3, "np_night", 8, [1, 1]);
    // 08:00 and 18:00 of the server are 07:00 and 17:00 in UTC
    let (found, left_out) = starts(config(holidays(), prefixes), &log);
    assert_eq!((found, left_out), (vec![7, 6, 17], vec![]));
    let (found, left_out) = starts(config(SiteFiles::default(), prefixes), &log);
    let names = [
        "queues of prime time (`p_`)",
        "queues of non-prime time (`np_`)",
    ];
    assert_eq!(
        (found, left_out),
        (vec![5, 6, 8], names.map(str::to_owned).to_vec())
    );
}

#[test]
fn no_job_runs_into_dedicated_time() {
    let dedicated = bytes("dedicated_time", "11/02/2026 10:00 11/02/2026 13:00\n");
    let files = SiteFiles::default().with(Role::DedicatedTime, dedicated);
    let log =
        record(1, "q", 7, [1, 2]) + &record(2, "q", 8, [1, 2]) + &record(3, "ded_q", 8, [1, 1]);
    let (found, left_out) = starts(config(files, "dedicated_prefix: ded\n"), &log);
    // from 09:00 to 12:00 in UTC
    assert_eq!((found, left_out), (vec![7, 12, 9], vec![]));
}

#[test]
fn other_settings_hold_outside_prime_time() {
    // one processor is free behind the second job, and the third job would delay it
    let jobs = |hour: i64| {
        record(1, "q", hour, [3, 2]) + &record(2, "q", hour, [4, 1]) + &record(3, "q", hour, [1, 8])
    };
    let settings = "strict_ordering: True prime\nstrict_ordering: False non_prime\n";
    let (found, left_out) = starts(config(holidays(), settings), &jobs(8));
    assert_eq!((found, left_out), (vec![8, 9, 10], vec![]));
    let (found, _) = starts(config(holidays(), settings), &jobs(1));
    assert_eq!(found, [1, 2, 1]);
}

#[test]
fn express_queues_come_first_when_jobs_preempt() {
    let jobs = |hour: i64| {
        record(1, "q", hour, [4, 1])
            + &record(2, "q", hour, [4, 1])
            + &record(3, "express", hour, [4, 1])
    };
    let files = |preemptive: &str| {
        let queues = "Queue: express\n    Priority = 200\nQueue: q\n    Priority = 1\n";
        config(
            holidays().with(Role::Queues, bytes("queues", queues)),
            &format!("by_queue: False\npreemptive_sched: {preemptive}\n"),
        )
    };
    for (preemptive, hour, hours) in [
        (
            "True non_prime\npreemptive_sched: False prime",
            1,
            [2, 3, 1],
        ),
        (
            "True non_prime\npreemptive_sched: False prime",
            8,
            [8, 9, 10],
        ),
        (
            "True prime\npreemptive_sched: False non_prime",
            1,
            [1, 2, 3],
        ),
        (
            "True prime\npreemptive_sched: False non_prime",
            8,
            [9, 10, 8],
        ),
    ] {
        let (found, left_out) = starts(files(preemptive), &jobs(hour));
        let targets = "targets and checkpoints of preemption".to_owned();
        assert_eq!(
            (&found[..], left_out),
            (&hours[..], vec![targets]),
            "{preemptive} {hour}"
        );
    }
}

#[test]
fn fair_share_may_order_jobs_outside_prime_time_only() {
    let jobs = |hour: i64| {
        record(1, "q", hour, [4, 1]).replace("user=u", "user=a")
            + &record(2, "q", hour, [4, 1]).replace("user=u", "user=b")
    };
    let groups = bytes("resource_group", "a 10 root 10\nb 11 root 90\n");
    let files = holidays().with(Role::ResourceGroup, groups);
    let files = config(
        files,
        "fair_share: False prime\nfair_share: True non_prime\n",
    );
    assert_eq!(starts(files.clone(), &jobs(1)).0, [2, 1]);
    assert_eq!(starts(files, &jobs(8)).0, [8, 9]);
}

#[test]
fn a_key_of_other_times_is_taken_from_the_log() {
    let jobs = |hour: i64| {
        let memory = |job: String, memory: &str| {
            job.replace(
                "Resource_List.ncpus",
                &format!("Resource_List.mem={memory} Resource_List.ncpus"),
            )
        };
        memory(record(1, "q", hour, [4, 1]), "1gb") + &memory(record(2, "q", hour, [4, 1]), "2gb")
    };
    let key = "job_sort_key: \"mem HIGH\" non_prime\n";
    assert_eq!(starts(config(holidays(), key), &jobs(1)).0, [2, 1]);
    assert_eq!(starts(config(holidays(), key), &jobs(8)).0, [8, 9]);
}
