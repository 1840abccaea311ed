//! `jsf cycle`: who starts next, when a job will start, and what is said if that cannot be told.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{command, jsf, json, stderr, stdout, success};

/// One job of 6 of 8 processors runs until 4600; at 2000 one waits for all 8, and two for the 2
/// that are free.
const JOBS: &str = r#"{"id":"1.vm","entity":"ada","queue":"workq","state":"R","stime":1000,"accrue_type":3,"resources":{"ncpus":6,"walltime":"01:00:00"}}
{"id":"2.vm","entity":"bob","queue":"workq","accrue_type":2,"resources":{"ncpus":8,"walltime":"00:10:00"}}
{"id":"3.vm","entity":"cy","queue":"workq","accrue_type":2,"resources":{"ncpus":2,"walltime":"00:10:00"}}
{"id":"4.vm","entity":"dot","queue":"workq","accrue_type":2,"resources":{"ncpus":2,"walltime":"02:00:00"}}
{"id":"5.vm","entity":"eve","queue":"workq","state":"H","accrue_type":1,"resources":{"ncpus":1,"walltime":"00:10:00"}}
"#;
pub(super) const STRICT: &str =
    "strict_ordering: True ALL\nby_queue: False ALL\npreemptive_sched: False ALL\n";

/// The files of a queue.
pub(super) struct Queue(TempDir);

impl Queue {
    pub(super) fn new(jobs: &str, sched_config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("jobs"), jobs).expect("a file");
        fs::write(folder.path().join("sched_config"), sched_config).expect("a file");
        Self(folder)
    }

    /// Writes a further file. Returns its path.
    pub(super) fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, content).expect("a file");
        path.display().to_string()
    }

    /// `jsf cycle` with these files and options.
    pub(super) fn run(&self, options: &[&str]) -> std::process::Output {
        let [jobs, config] =
            ["jobs", "sched_config"].map(|name| self.0.path().join(name).display().to_string());
        jsf(&[
            &["cycle", "--queue", &jobs, "--sched-config", &config],
            options,
        ]
        .concat())
    }

    fn cycle(&self, options: &[&str]) -> Value {
        let output = self.run(
            &[
                &["--processors", "8", "--at", "2000", "--format", "json"],
                options,
            ]
            .concat(),
        );
        success(&output);
        json(&output)
    }

    /// The first paragraph.
    fn headline(&self, options: &[&str]) -> String {
        let output = self.run(&[&["--processors", "8", "--at", "2000"], options].concat());
        success(&output)
            .split("\n\n")
            .next()
            .expect("a headline")
            .replace('\n', " ")
    }
}

#[test]
fn json_has_the_keys_of_the_contract() {
    let document = Queue::new(JOBS, STRICT).cycle(&["eligible_time"]);
    let expected = json!({
        "formula": "eligible_time",
        "at": 2000,
        "processors": {"total": 8, "free": 2},
        "started": ["3.vm"],
        "reserved": [{"id": "2.vm", "start": 4600}],
        "waiting": [
            {"id": "2.vm", "reason": "not enough processors"},
            {"id": "4.vm", "reason": "not enough processors"},
            {"id": "5.vm", "reason": "it is held"},
        ],
        "accrue_types": {"1.vm": 3, "2.vm": 2, "3.vm": 3, "4.vm": 2, "5.vm": 1},
        "rules": {
            "order": "value of the formula, then order of submission",
            "starts": "strict_ordering True, backfill_depth 1",
        },
        "without": [],
    });
    assert_eq!(document, expected);
}

#[test]
fn the_rules_are_those_of_sched_config() {
    let started =
        |config: &str, formula: &str| Queue::new(JOBS, config).cycle(&[formula])["started"].clone();
    assert_eq!(started(STRICT, "-ncpus"), json!(["3.vm"]));
    assert_eq!(started(STRICT, "walltime"), json!(["4.vm"]));
    // as shipped, nothing is promised a start, and the long job takes what the one before it left
    let shipped = Queue::new(JOBS, "strict_ordering: False ALL\n").cycle(&["walltime"]);
    assert_eq!(
        (&shipped["started"], &shipped["reserved"]),
        (&json!(["4.vm"]), &json!([]))
    );
    let nothing = Queue::new(JOBS, "").cycle(&[]);
    assert_eq!(
        nothing["rules"]["starts"],
        "strict_ordering False: whatever fits starts"
    );
}

#[test]
fn without_a_formula_the_order_is_that_of_the_site() {
    let in_order = Queue::new(JOBS, STRICT).cycle(&[]);
    assert_eq!(
        (&in_order["formula"], &in_order["rules"]["order"]),
        (&Value::Null, &json!("order of submission"))
    );
    assert_eq!(in_order["started"], json!(["3.vm"]));
    let by_key = Queue::new(
        JOBS,
        &format!("{STRICT}job_sort_key: \"walltime HIGH\" ALL\n"),
    );
    let document = by_key.cycle(&[]);
    assert_eq!(document["started"], json!(["4.vm"]));
    assert_eq!(
        document["rules"]["order"],
        "job_sort_key walltime HIGH, then order of submission"
    );
    assert!(!success(&by_key.run(&["--processors", "8", "--at", "2000"])).contains("formula:"));
}

#[test]
fn the_headline_says_when_a_job_starts() {
    let queue = Queue::new(JOBS, STRICT);
    let of_job = |job: &str| queue.headline(&["--job", job]);
    assert_eq!(
        queue.headline(&[]),
        "Starting now: 1 job, 3.vm first. Waiting: 3 jobs, 1 of them promised a start, 2.vm in 43 min 20 s."
    );
    assert_eq!(of_job("1"), "1.vm does not wait: it runs.");
    assert_eq!(
        of_job("2"),
        "2.vm waits: not enough processors; it is promised a start in 43 min 20 s, at 1970-01-01 01:16:40 UTC, earlier if jobs \
         end before their walltimes, or later if jobs are submitted that precede it."
    );
    assert_eq!(of_job("3.vm"), "3.vm starts in this cycle.");
    // it runs for two hours, so it cannot start before the reserved job, which takes all processors
    // from 4600 to 5200
    assert_eq!(
        of_job("4"),
        "4.vm waits: not enough processors; without further submissions, and if every job takes its walltime, it starts in \
         about 53 min 20 s, at 1970-01-01 01:26:40 UTC."
    );
    assert_eq!(of_job("5"), "5.vm waits: it is held.");
    assert_eq!(
        queue.cycle(&["--job", "4"])["estimates"],
        json!([{"id": "4.vm", "start": 5200}])
    );
    assert_eq!(queue.cycle(&["--job", "2"]).get("estimates"), None);
}

#[test]
fn the_moment_is_given_in_seconds_or_as_iso_8601() {
    let queue = Queue::new(JOBS, STRICT);
    let at = |time: &str| {
        let output = queue.run(&["--processors", "8", "--format", "json", "--at", time]);
        success(&output);
        json(&output)
    };
    let expected = at("2000");
    for time in [
        "1970-01-01T00:33:20Z",
        "1970-01-01T00:33:20",
        "1970-01-01T02:33:20+02:00",
        "1970-01-01 00:33:20",
    ] {
        assert_eq!(at(time), expected, "{time}");
    }
    // beyond the walltime of the running job, which is taken to end with the next second
    assert_eq!(
        at("5000")["reserved"],
        json!([{"id": "2.vm", "start": 5001}])
    );
    for time in ["yesterday", "12:00", ""] {
        let output = queue.run(&["--processors", "8", "--at", time]);
        assert_eq!(output.status.code(), Some(2), "{time}");
        assert!(
            stderr(&output)
                .contains("expected seconds since 1970 or a time such as 2026-11-23T04:29:58Z")
        );
    }
}

#[test]
fn moments_and_walltimes_may_be_the_largest_numbers() {
    let largest = JOBS.replace("\"01:00:00\"", "9223372036854775807");
    for jobs in [JOBS, &largest] {
        let queue = Queue::new(&jobs.replace("\"02:00:00\"", "9223372036854775807"), STRICT);
        for moment in [i64::MIN, 2000, i64::MAX] {
            let at = format!("--at={moment}");
            for format in ["--format=human", "--format=json"] {
                success(&queue.run(&["--processors", "8", &at, "--job", "4.vm", format]));
            }
        }
    }
}

#[test]
fn what_is_missing_is_said_with_what_gives_it() {
    let queue = Queue::new(JOBS, STRICT);
    let refused = |options: &[&str]| {
        let output = queue.run(options);
        assert_eq!(
            (output.status.code(), &*stdout(&output)),
            (Some(2), ""),
            "{options:?}"
        );
        stderr(&output)
    };
    assert_eq!(
        refused(&["--at", "2000"]),
        "jsf: the nodes are not known: give the output of `pbsnodes -av -F json`, or the number of processors (--nodes FILE, \
         --processors N)\n"
    );
    assert_eq!(
        refused(&["--processors", "8"]),
        "jsf: the document of jobs does not say when it was written: give the moment of the cycle (--at TIME)\n"
    );
    let unknown = refused(&[
        "--processors",
        "8",
        "--at",
        "2000",
        "--job",
        "7",
        "--job",
        "9",
    ]);
    assert!(
        unknown.contains("`7`") && unknown.contains("`9`"),
        "{unknown}"
    );
    assert!(refused(&["--processors", "0", "--at", "2000"]).contains("at least 1"));
    let without_jobs = jsf(&["cycle", "ncpus", "--processors", "8", "--at", "2000"]);
    assert_eq!(without_jobs.status.code(), Some(2));
    assert!(
        stderr(&without_jobs).contains("--queue"),
        "{}",
        stderr(&without_jobs)
    );
}

#[test]
fn of_several_jobs_those_that_do_not_exist_are_named() {
    let queue = Queue::new(JOBS, STRICT);
    let output = queue.run(&["--processors", "8", "--at", "2000", "--job", "4,7"]);
    assert!(
        success(&output).starts_with("4.vm waits: not enough processors;"),
        "{}",
        stdout(&output)
    );
    assert!(
        stderr(&output).contains("warning") && stderr(&output).contains("`7`"),
        "{}",
        stderr(&output)
    );
}

/// The ids in a list of JSON, each an id or an object with one.
fn ids(list: &Value) -> Vec<&str> {
    let ids = list.as_array().expect("a list").iter();
    ids.map(|one| one.get("id").unwrap_or(one).as_str().expect("an id"))
        .collect()
}

#[test]
fn entities_select_jobs_as_in_a_ranking() {
    let site = |command: &str, options: &[&str]| {
        let output = jsf(&[
            &[command, "--site", "examples/site", "--format", "json"],
            options,
        ]
        .concat());
        success(&output);
        json(&output)
    };
    let whole = site("cycle", &[]);
    for names in ["ida", "nkapoor", "ida,lnovak"] {
        let ranked = site("rank", &["--user", names]);
        let of_names = ids(&ranked["jobs"]);
        let cycle = site("cycle", &["--user", names]);
        let explained = site("explain", &["--user", names]);
        assert_eq!(ids(&explained["jobs"]), of_names, "{names}");
        for list in ["started", "reserved", "waiting"] {
            let is_of_names = |id: &&str| {
                of_names.iter().any(|of| {
                    of == id
                        || of
                            .split_once("[]")
                            .is_some_and(|(array, _)| id.starts_with(&format!("{array}[")))
                })
            };
            let expected: Vec<&str> = ids(&whole[list]).into_iter().filter(is_of_names).collect();
            assert_eq!(ids(&cycle[list]), expected, "{names} {list}");
        }
        assert!(
            !ids(&cycle["waiting"]).is_empty()
                && ids(&cycle["waiting"]).len() < ids(&whole["waiting"]).len()
        );
    }
}

#[test]
fn the_headline_is_about_the_entities_that_are_asked_for() {
    let queue = Queue::new(JOBS, STRICT);
    assert_eq!(
        queue.headline(&["--user", "dot"]),
        "Starting now: 0 jobs of dot. Waiting: 1 job."
    );
    assert_eq!(
        queue.headline(&["--user", "cy,dot"]),
        "Starting now: 1 job of cy or dot, 3.vm first. Waiting: 1 job."
    );
    assert_eq!(
        queue.headline(&["--user", "ada"]),
        "Starting now: 0 jobs of ada. Waiting: 0 jobs."
    );
    assert!(
        queue
            .headline(&["--user", "dot", "--job", "4,2"])
            .starts_with("4.vm waits: not enough processors;")
    );
    let output = queue.run(&[
        "--processors",
        "8",
        "--at",
        "2000",
        "--user",
        "dot",
        "--job",
        "2",
    ]);
    assert!(
        success(&output).starts_with("Starting now: 0 jobs of dot. Waiting: 0 jobs."),
        "{}",
        stdout(&output)
    );
    assert!(
        stderr(&output).contains("no job matches all of the filters"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_moment_is_also_on_the_clock_of_qstat() {
    // 1795197902 is 18:05:02 in UTC: the clock is ahead by five hours and a half
    let sample = r#"{"id":"1.vm","entity":"ada","queue":"workq","qtime":"Fri Nov 20 23:35:02 2026","queue_rank":1795197902290033}"#;
    let at = |jobs: &str, time: &str| {
        let output =
            Queue::new(jobs, STRICT).run(&["--processors", "8", "--format", "json", "--at", time]);
        success(&output);
        (json(&output)["at"].clone(), stderr(&output))
    };
    for time in [
        "Fri Nov 20 23:36:02 2026",
        "1795197962",
        "2026-11-20T18:06:02Z",
        "Fri Nov 20 18:06:02 UTC 2026",
    ] {
        let (moment, messages) = at(sample, time);
        assert_eq!(
            (moment, messages.contains("time zone")),
            (json!(1_795_197_962), false),
            "{time}: {messages}"
        );
    }
    let (moment, messages) = at(JOBS, "Fri Nov 20 18:06:02 2026");
    assert_eq!(moment, json!(1_795_197_962));
    assert!(
        messages.contains("the time zone is not known and taken to be UTC"),
        "{messages}"
    );
    let refused =
        Queue::new(JOBS, STRICT).run(&["--processors", "8", "--at", "Fri Nov 31 18:06:02 2026"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("or `qstat -f`"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn a_formula_that_does_not_work_ends_with_1() {
    let queue = Queue::new(JOBS, STRICT);
    for (formula, code) in [("ncpus +", "JSF101"), ("ncpus ++ (", "JSF101")] {
        let output = queue.run(&["--processors", "8", "--at", "2000", formula]);
        assert_eq!(
            (output.status.code(), &*stdout(&output)),
            (Some(1), ""),
            "{formula}"
        );
        assert!(stderr(&output).contains(code), "{}", stderr(&output));
    }
}

#[test]
fn a_screen_of_80_columns_has_the_answer() {
    for options in [&[][..], &["--job", "184208"], &["--job", "184905"]] {
        let arguments = [&["cycle", "--site", "examples/site"], options].concat();
        let output = command()
            .args(arguments)
            .env("JSF_LINES", "24")
            .env("COLUMNS", "80")
            .output()
            .expect("an output");
        let screen = success(&output);
        assert!(
            screen.lines().count() <= 24 && screen.lines().all(|line| line.chars().count() <= 80),
            "{screen}"
        );
        assert!(
            screen.contains("waiting") && screen.contains("processors: 382 of 4288 free"),
            "{screen}"
        );
    }
}

#[test]
fn markdown_is_the_same_document() {
    let queue = Queue::new(JOBS, STRICT);
    let markdown =
        success(&queue.run(&["--processors", "8", "--at", "2000", "--format", "markdown"]));
    assert!(
        markdown.starts_with(
            "### The scheduler's next cycle\n\n**Starting now: 1 job, 3.vm first. Waiting: 3 jobs,"
        ),
        "{markdown}"
    );
    assert!(
        markdown.contains("| job | promised at | in | why |\n")
            && markdown.contains(
                "| 2.vm | 1970-01-01 01:16:40 UTC | 43 min 20 s | not enough processors |\n"
            ),
        "{markdown}"
    );
}

/// The processors of the running jobs that have no start time would count as free.
#[test]
fn a_running_job_without_a_start_time_is_named() {
    let jobs = JOBS.replace(r#""stime":1000,"#, "");
    let output = Queue::new(&jobs, STRICT).run(&["--processors", "8", "--at", "2000"]);
    assert!(
        stderr(&output).contains("no `stime` of 1 running job (first `1.vm`)"),
        "{}",
        stderr(&output)
    );
}

/// A job of an express queue needs more processors than are free, and one of two running jobs of
/// another queue. `order` is `preempt_order`.
fn express_queue(order: &str) -> (Queue, String) {
    let job = |id: u32, queue: &str, more: &str| {
        format!(
            "{{\"id\":\"{id}.vm\",\"entity\":\"ada\",\"queue\":\"{queue}\",\"resources\":{{\"ncpus\":4,\"walltime\":3600}}{more}}}\n"
        )
    };
    let running = |start: u32| format!(",\"state\":\"R\",\"accrue_type\":3,\"stime\":{start}");
    let jobs = job(1, "workq", &running(1000))
        + &job(2, "workq", &running(1500))
        + &job(3, "fast", ",\"accrue_type\":2");
    let config = "preemptive_sched: True ALL\npreempt_queue_prio: 150\n";
    let queue = Queue::new(&jobs, config);
    let queues = queue.file(
        "queues",
        &format!(
            "create queue workq\nset queue workq Priority = 0\ncreate queue fast\nset queue fast Priority = 200\n\
             set sched preempt_order = {order}\n"
        ),
    );
    (queue, queues)
}

#[test]
fn what_the_cycle_does_without_is_in_the_headline_where_it_concerns_a_tenth_of_the_jobs() {
    let (queue, queues) = express_queue("CS");
    let options = ["--queues", &*queues];
    let what = "checkpoints of preempt_order CS";
    assert_eq!(
        queue.cycle(&options)["without"],
        json!([{"what": what, "jobs": 1}])
    );
    assert!(
        queue
            .headline(&options)
            .ends_with(&format!(" (without {what}).")),
        "{}",
        queue.headline(&options)
    );
}

/// A job that gives way in this cycle waits in the later ones, by which starts are estimated.
#[test]
fn the_start_of_a_job_is_estimated_behind_one_that_gives_way() {
    let (queue, queues) = express_queue("S");
    let jobs = fs::read_to_string(queue.0.path().join("jobs")).expect("jobs");
    let last =
        r#"{"id":"4.vm","entity":"ada","queue":"workq","resources":{"ncpus":8,"walltime":60}}"#;
    queue.file("jobs", &(jobs + last));
    let cycle = queue.cycle(&["--queues", &*queues, "--job", "2,4"]);
    assert_eq!(cycle["preempted"][0]["id"], "2.vm");
    // 1.vm ends at 4600, when 2.vm goes on for as long as it may run
    assert_eq!(
        cycle["estimates"],
        json!([{"id": "2.vm", "start": 4600}, {"id": "4.vm", "start": 8200}])
    );
}

/// The job that started last gives way, and the earlier one goes on.
#[test]
fn the_latest_job_of_a_lower_level_gives_way() {
    let (queue, queues) = express_queue("SR");
    let options = ["--queues", &*queues];
    let cycle = queue.cycle(&options);
    assert_eq!(cycle["started"], json!(["3.vm"]));
    assert_eq!(
        cycle["preempted"],
        json!([{"id": "2.vm", "method": "suspended", "by": "3.vm"}])
    );
    assert_eq!(cycle["accrue_types"]["2.vm"], 2);
    // it is followed, so that nothing is named
    assert_eq!(cycle["without"], json!([]));
    assert_eq!(
        queue.headline(&["--queues", &*queues, "--job", "3"]),
        "3.vm starts in this cycle and preempts 1 job: 2.vm (suspended)."
    );
    let waiting = &cycle["waiting"][0];
    assert_eq!(waiting["id"], "2.vm");
    assert_eq!(
        waiting["reason"],
        "suspended for 3.vm: not enough processors"
    );
}

/// Two subjobs of an array run and are not in the document, as `qstat -f` lists subjobs only with
/// `-t`.
const ARRAY: &str = r#"{"id":"1[].vm","entity":"ada","queue":"workq","state":"B","accrue_type":2,"array_state_count":"Queued:2 Running:2 Exiting:0 Expired:1","array_indices_submitted":"0-4","array_indices_remaining":"3-4","resources":{"ncpus":4,"walltime":"01:00:00"}}
{"id":"2.vm","entity":"bob","queue":"workq","accrue_type":2,"resources":{"ncpus":8,"walltime":"00:10:00"}}
"#;

/// Nodes of 8 processors each, with as many in use as given.
fn nodes(in_use: &[i64]) -> String {
    let nodes = in_use.iter().enumerate().map(|(index, in_use)| {
        let node = json!({"state": "free", "resources_available": {"host": format!("n{index}"), "ncpus": 8},
            "resources_assigned": {"ncpus": in_use}});
        (format!("n{index}"), node)
    });
    json!({"nodes": nodes.collect::<serde_json::Map<_, _>>()}).to_string()
}

#[test]
fn running_subjobs_that_are_not_listed_hold_their_processors() {
    let queue = Queue::new(ARRAY, STRICT);
    let output = queue.run(&["--processors", "8", "--at", "2000", "--format", "json"]);
    let document = json(&output);
    assert_eq!(
        (&document["processors"]["free"], &document["started"]),
        (&json!(0), &json!([]))
    );
    // when they began is not known, so they may run for their whole walltime
    assert_eq!(
        document["reserved"],
        json!([{"id": "1[3].vm", "start": 5600}])
    );
    let warnings = stderr(&output);
    assert!(
        warnings.contains("the document does not list 2 running subjobs (first of `1[].vm`)"),
        "{warnings}"
    );
    // one of the two is listed
    let listed = r#"{"id":"1[2].vm","entity":"ada","queue":"workq","state":"R","stime":1000,"accrue_type":3,"resources":{"ncpus":4,"walltime":"01:00:00"}}"#;
    let output = Queue::new(&format!("{ARRAY}{listed}\n"), STRICT).run(&[
        "--processors",
        "8",
        "--at",
        "2000",
    ]);
    assert!(
        stdout(&output).contains("processors: 0 of 8 free"),
        "{}",
        stdout(&output)
    );
    assert!(
        stderr(&output).contains("1 running subjob (first of"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_nodes_say_where_they_run_and_what_else_is_in_use() {
    let free = |jobs: &str, in_use: &[i64]| {
        let queue = Queue::new(jobs, STRICT);
        let path = queue.file("nodes", &nodes(in_use));
        let output = queue.run(&["--nodes", &path, "--at", "2000", "--format", "json"]);
        success(&output);
        (json(&output), stderr(&output))
    };
    // the whole first node is free for the job of 8 processors
    let (document, warnings) = free(ARRAY, &[0, 8]);
    assert_eq!(document["processors"], json!({"total": 16, "free": 8}));
    assert_eq!(document["started"], json!(["1[3].vm", "1[4].vm"]));
    assert!(!warnings.contains("resources_assigned"), "{warnings}");
    let waiting = ARRAY.lines().nth(1).expect("a job");
    let (document, warnings) = free(waiting, &[1, 4]);
    assert_eq!(document["processors"], json!({"total": 16, "free": 11}));
    assert_eq!(
        (&document["started"], &document["reserved"]),
        (&json!([]), &json!([]))
    );
    assert!(
        warnings.contains("by `resources_assigned` of the nodes, 5 processors more are in use"),
        "{warnings}"
    );
}

#[test]
fn a_running_job_whose_place_or_start_is_not_known_holds_its_processors() {
    let without_start = Queue::new(&JOBS.replace(r#""stime":1000,"#, ""), STRICT).cycle(&[]);
    assert_eq!(without_start["processors"]["free"], 2);
    assert_eq!(
        without_start["reserved"],
        json!([{"id": "2.vm", "start": 5600}])
    );
    let queue = Queue::new(JOBS, STRICT);
    let path = queue.file("nodes", &nodes(&[0, 0]));
    let output = queue.run(&["--nodes", &path, "--at", "2000", "--format", "json"]);
    assert_eq!(
        json(&output)["processors"],
        json!({"total": 16, "free": 10})
    );
    assert!(
        stderr(&output).contains("no `exec_vnode` of 1 running job (first `1.vm`)"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_subjob_has_an_answer_of_its_own() {
    let queue = Queue::new(ARRAY, STRICT);
    let of_job = |job: &str| queue.headline(&["--job", job]);
    assert_eq!(
        of_job("1[3]"),
        "1[3].vm waits: not enough processors; it is promised a start in 1 h, at 1970-01-01 01:33:20 UTC, earlier if jobs end \
         before their walltimes, or later if jobs are submitted that precede it."
    );
    assert_eq!(
        of_job("1[4].vm"),
        "1[4].vm waits: not enough processors; without further submissions, and if every job takes its walltime, it starts in \
         about 1 h, at 1970-01-01 01:33:20 UTC."
    );
    assert_eq!(
        queue.cycle(&["--job", "1[4]"])["estimates"],
        json!([{"id": "1[4].vm", "start": 5600}])
    );
    let more = Queue::new(&ARRAY.replace("Running:2", "Running:1"), STRICT);
    assert_eq!(
        more.headline(&["--job", "1[3]"]),
        "1[3].vm starts in this cycle."
    );
    assert!(
        more.headline(&["--job", "1[4]"])
            .starts_with("1[4].vm waits: not enough processors; it is promised")
    );
    let refused = |jobs: &str, job: &str| {
        let output =
            Queue::new(jobs, STRICT).run(&["--processors", "8", "--at", "2000", "--job", job]);
        assert_eq!(
            (output.status.code(), &*stdout(&output)),
            (Some(2), ""),
            "{job}"
        );
        stderr(&output)
    };
    assert!(refused(ARRAY, "1[9]").contains("the array `1[].vm` has no subjob 9"));
    assert!(
        refused(ARRAY, "1[0]")
            .contains("the subjob 0 of `1[].vm` does not wait: it runs or has ended")
    );
    let none_ended = ARRAY.replace("Running:2 Exiting:0 Expired:1", "Running:3 Exiting:0");
    assert!(refused(&none_ended, "1[0]").contains("the subjob 0 of `1[].vm` runs"));
    let unnamed = ARRAY.replace("array_indices_submitted", "comment");
    assert!(refused(&unnamed, "1[0]").contains("no subjob 0 of `1[].vm` waits"));
    // two wait, but which ones is not said
    let unlisted = none_ended.replace("array_indices_remaining", "comment");
    assert!(refused(&unlisted, "1[4]").contains("no subjob 4 of `1[].vm` waits"));
    assert!(refused(ARRAY, "7[0]").contains("no job is called `7[0]`"));
}

#[test]
fn processors_of_torque_may_be_procs() {
    let job = |id: u32, resources: &str| {
        let resources = resources
            .split(' ')
            .map(|one| format!("    Resource_List.{}\n", one.replacen('=', " = ", 1)));
        let resources: String = resources.collect();
        format!(
            "Job Id: {id}.vm\n    Job_Name = a\n    euser = bob\n    job_state = Q\n    queue = batch\n{resources}\n"
        )
    };
    let jobs = job(1, "procs=12") + &job(2, "nodes=2") + &job(3, "nodes=1:ppn=4 procs=12");
    let queue = Queue::new(&jobs, STRICT);
    let output = queue.run(&[
        "ncpus",
        "--processors",
        "10",
        "--at",
        "2000",
        "--format",
        "json",
    ]);
    assert_eq!(json(&output)["started"], json!(["2.vm"]));
    let note = "jobs without `ncpus` have that of `nodes` (the nodes times `ppn`) or `procs`, whichever is larger";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
}

#[test]
fn the_verdict_on_the_formula_comes_first() {
    let queue = Queue::new(JOBS, STRICT);
    let run = |formula: &str, options: &[&str]| {
        let output =
            queue.run(&[&["--processors", "8", "--at", "2000", formula], options].concat());
        (
            output.status.code(),
            stdout(&output).replace('\n', " "),
            stderr(&output),
        )
    };
    let (code, text, _) = run("1/(ncpus-8)", &[]);
    assert!(
        code == Some(0) && text.starts_with("The formula fails for 1 of 5 jobs (division by zero)"),
        "{text}"
    );
    assert!(text.contains("Starting now: "), "{text}");
    for (formula, verdict) in [
        ("nosuchname", "qmgr refuses the formula:"),
        ("log(ncpus*0)", "The formula fails for all 5 jobs"),
        ("(0-ncpus)**0.5", "The formula crashes the scheduler"),
    ] {
        let (code, text, _) = run(formula, &[]);
        assert!(
            text.starts_with(verdict) && !text.contains("Starting now"),
            "{formula}: {text}"
        );
        assert_eq!(code, Some(1), "{formula}");
        assert!(
            run(formula, &["--job", "2"]).1.starts_with(verdict),
            "{formula}"
        );
    }
    let (code, _, warnings) = run("1/(ncpus-8)", &["--format", "json"]);
    assert!(
        code == Some(0) && warnings.contains("the formula fails for 1 job, first for `2.vm`"),
        "{warnings}"
    );
}

#[test]
fn the_moment_is_that_of_the_capture_if_the_jobs_have_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "Job Id: 1.vm\n    Job_Name = a\n    euser = bob\n    job_state = Q\n    queue = workq\n    \
        Resource_List.ncpus = 2\n\n";
    fs::write(folder.path().join("qstat.txt"), text).expect("a file");
    let site = folder.path().display().to_string();
    let at = |options: &[&str]| {
        jsf(&[
            &[
                "cycle",
                "--site",
                &site,
                "--processors",
                "8",
                "--format",
                "json",
            ],
            options,
        ]
        .concat())
    };
    assert_eq!(at(&[]).status.code(), Some(2));
    for taken in [
        "Wed Nov 25 22:53:32 UTC 2026\n",
        "Wed Nov 25 10:53:32 PM UTC 2026\n",
    ] {
        fs::write(folder.path().join("ctime"), taken).expect("a file");
        assert_eq!(json(&at(&[]))["at"], 1_795_647_212, "{taken}");
        assert_eq!(
            json(&at(&["--at", taken.trim()]))["at"],
            1_795_647_212,
            "{taken}"
        );
    }
    // nobody knows how far that is from UTC
    fs::write(
        folder.path().join("ctime"),
        "Wed Nov 25 22:53:32 CET 2026\n",
    )
    .expect("a file");
    assert_eq!(at(&[]).status.code(), Some(2));
}

#[test]
fn a_moment_that_is_far_from_the_jobs_is_told() {
    let queue = Queue::new(JOBS, STRICT);
    let warnings = |at: &str| stderr(&queue.run(&["--processors", "8", "--at", at]));
    assert!(
        warnings("2030-01-01T00:00:00Z").contains("days from every time in the document of jobs")
    );
    assert!(!warnings("2000").contains("years from"));
}

#[test]
fn the_job_that_would_be_delayed_is_named() {
    let jobs = JOBS
        .lines()
        .filter(|line| !line.contains("3.vm"))
        .collect::<Vec<_>>()
        .join("\n");
    let waiting = &Queue::new(&jobs, STRICT).cycle(&[])["waiting"];
    assert_eq!(
        waiting[1],
        json!({"id": "4.vm", "reason": "would delay 2.vm, which is promised a start"})
    );
}

#[test]
fn a_threshold_may_be_tried() {
    let document = Queue::new(JOBS, STRICT).cycle(&["ncpus", "--threshold", "2"]);
    assert_eq!(document["started"], json!([]));
    assert_eq!(document["waiting"].as_array().expect("jobs").len(), 4);
}

#[test]
fn subjobs_that_give_way_wait_beside_those_of_their_array_that_are_queued() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site");
    let copied = Command::new("cp")
        .args(["-r", "examples/site"])
        .arg(&site)
        .current_dir(jsf_testing::ROOT)
        .status();
    assert!(copied.is_ok_and(|status| status.success()));
    let config = site.join("sched_priv/sched_config");
    let text = fs::read_to_string(&config).expect("the settings");
    let text = text.replace("preemptive_sched: false\tALL", "preemptive_sched: true ALL");
    fs::write(&config, text + "\npreempt_queue_prio: 100\n").expect("a file");
    let answer = json(&jsf(&[
        "cycle",
        "fairshare_factor + queue_priority",
        "--site",
        site.to_str().expect("a path"),
        "--processors",
        "2000",
        "--format",
        "json",
    ]));
    let of_array = |list: &Value| {
        let list = list.as_array().expect("a list").iter();
        let names = list.map(|one| one["id"].as_str().or(one.as_str()).expect("an id"));
        names.filter(|id| id.starts_with("184562[")).count()
    };
    // `Queued:48`, and those that gave way and start again
    let gave_way = of_array(&answer["preempted"]);
    assert!(gave_way > 0);
    assert_eq!(of_array(&answer["started"]), 48 + gave_way);
}

#[test]
fn jobs_whose_values_are_not_numbers_start_in_the_order_of_the_ranking() {
    let folder = tempfile::tempdir().expect("a folder");
    let jobs: Vec<String> = [4, 1, 4, 8]
        .iter()
        .zip(1..)
        .map(|(ncpus, id)| {
            format!(
                "\"{id}.s\":{{\"job_state\":\"Q\",\"queue\":\"workq\",\"euser\":\"u\",\"qtime\":{id},\
                 \"Resource_List\":{{\"ncpus\":{ncpus},\"select\":\"1:ncpus={ncpus}\",\"walltime\":\"01:00:00\"}}}}"
            )
        })
        .collect();
    let text = format!("{{\"timestamp\":5000,\"Jobs\":{{{}}}}}", jobs.join(","));
    fs::write(folder.path().join("qstat.json"), text).expect("a file");
    let private = folder.path().join("sched_priv");
    fs::create_dir(&private).expect("a folder");
    let config = "round_robin: False ALL\nby_queue: False ALL\nstrict_ordering: False ALL\n";
    fs::write(private.join("sched_config"), config).expect("a file");
    let formula = "nan if ncpus < 4 else ncpus";
    let site = ["--site", folder.path().to_str().expect("a path")];
    let format = ["--format", "json"];
    let ranking = json(&jsf(&[&["rank", formula], &site[..], &format].concat()));
    let ranked = ids(&ranking["jobs"]);
    let cycle = ["cycle", formula, "--processors", "1000"];
    let answer = json(&jsf(&[&cycle[..], &site, &format].concat()));
    let started = answer["started"].as_array().expect("a list").iter();
    let started: Vec<&str> = started.filter_map(Value::as_str).collect();
    assert_eq!(started, ranked);
}
