//! `jsf cycle`: who starts next, when a job will start, and what is said if that cannot be told.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{command, jsf, json, stderr, stdout, success};

/// One job of 6 of 8 processors runs until 4600; at 2000 one waits for all 8, and two for the 2 that are free.
const JOBS: &str = r#"{"id":"1.vm","entity":"ada","queue":"workq","state":"R","stime":1000,"accrue_type":3,"resources":{"ncpus":6,"walltime":"01:00:00"}}
{"id":"2.vm","entity":"bob","queue":"workq","accrue_type":2,"resources":{"ncpus":8,"walltime":"00:10:00"}}
{"id":"3.vm","entity":"cy","queue":"workq","accrue_type":2,"resources":{"ncpus":2,"walltime":"00:10:00"}}
{"id":"4.vm","entity":"dot","queue":"workq","accrue_type":2,"resources":{"ncpus":2,"walltime":"02:00:00"}}
{"id":"5.vm","entity":"eve","queue":"workq","state":"H","accrue_type":1,"resources":{"ncpus":1,"walltime":"00:10:00"}}
"#;
const STRICT: &str = "strict_ordering: True ALL\nby_queue: False ALL\npreemptive_sched: False ALL\n";

/// The files of a queue.
struct Queue(TempDir);

impl Queue {
    fn new(jobs: &str, sched_config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("jobs"), jobs).expect("a file");
        fs::write(folder.path().join("sched_config"), sched_config).expect("a file");
        Self(folder)
    }

    /// `jsf cycle` with these files and options.
    fn run(&self, options: &[&str]) -> std::process::Output {
        let [jobs, config] = ["jobs", "sched_config"].map(|name| self.0.path().join(name).display().to_string());
        jsf(&[&["cycle", "--queue", &jobs, "--sched-config", &config], options].concat())
    }

    fn cycle(&self, options: &[&str]) -> Value {
        let output = self.run(&[&["--processors", "8", "--at", "2000", "--format", "json"], options].concat());
        success(&output);
        json(&output)
    }

    /// The first paragraph.
    fn headline(&self, options: &[&str]) -> String {
        let output = self.run(&[&["--processors", "8", "--at", "2000"], options].concat());
        success(&output).split("\n\n").next().expect("a headline").replace('\n', " ")
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
    let started = |config: &str, formula: &str| Queue::new(JOBS, config).cycle(&[formula])["started"].clone();
    assert_eq!(started(STRICT, "-ncpus"), json!(["3.vm"]));
    assert_eq!(started(STRICT, "walltime"), json!(["4.vm"]));
    // as shipped, nothing is promised a start, and the long job takes what the one before it left
    let shipped = Queue::new(JOBS, "strict_ordering: False ALL\n").cycle(&["walltime"]);
    assert_eq!((&shipped["started"], &shipped["reserved"]), (&json!(["4.vm"]), &json!([])));
    let nothing = Queue::new(JOBS, "").cycle(&[]);
    assert_eq!(nothing["rules"]["starts"], "strict_ordering False: whatever fits starts");
}

#[test]
fn without_a_formula_the_order_is_that_of_the_site() {
    let in_order = Queue::new(JOBS, STRICT).cycle(&[]);
    assert_eq!((&in_order["formula"], &in_order["rules"]["order"]), (&Value::Null, &json!("order of submission")));
    assert_eq!(in_order["started"], json!(["3.vm"]));
    let by_key = Queue::new(JOBS, &format!("{STRICT}job_sort_key: \"walltime HIGH\" ALL\n"));
    let document = by_key.cycle(&[]);
    assert_eq!(document["started"], json!(["4.vm"]));
    assert_eq!(document["rules"]["order"], "job_sort_key walltime HIGH, then order of submission");
    assert!(!success(&by_key.run(&["--processors", "8", "--at", "2000"])).contains("formula:"));
}

#[test]
fn the_headline_says_when_a_job_starts() {
    let queue = Queue::new(JOBS, STRICT);
    let of_job = |job: &str| queue.headline(&["--job", job]);
    assert_eq!(
        queue.headline(&[]),
        "3.vm starts now; 3 jobs wait, of which 2.vm is promised a start, the earliest in 43 min 20 s."
    );
    assert_eq!(of_job("1"), "1.vm does not wait: it runs.");
    assert_eq!(
        of_job("2"),
        "2.vm waits: not enough processors; it is promised a start in 43 min 20 s, at 1970-01-01 01:16:40 UTC, or earlier if \
         jobs end before their walltimes."
    );
    assert_eq!(of_job("3.vm"), "3.vm starts in this cycle.");
    // it runs for two hours, so it cannot start before the reserved job, which takes all processors from 4600 to 5200
    assert_eq!(
        of_job("4"),
        "4.vm waits: not enough processors; without further submissions, and if every job takes its walltime, it starts in \
         about 53 min 20 s, at 1970-01-01 01:26:40 UTC."
    );
    assert_eq!(of_job("5"), "5.vm waits: it is held.");
    assert_eq!(queue.cycle(&["--job", "4"])["estimates"], json!([{"id": "4.vm", "start": 5200}]));
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
    for time in ["1970-01-01T00:33:20Z", "1970-01-01T00:33:20", "1970-01-01T02:33:20+02:00", "1970-01-01 00:33:20"] {
        assert_eq!(at(time), expected, "{time}");
    }
    // beyond the walltime of the running job, which is taken to end with the next second
    assert_eq!(at("5000")["reserved"], json!([{"id": "2.vm", "start": 5001}]));
    for time in ["yesterday", "12:00", ""] {
        let output = queue.run(&["--processors", "8", "--at", time]);
        assert_eq!(output.status.code(), Some(2), "{time}");
        assert!(stderr(&output).contains("expected seconds since 1970 or a time such as 2026-11-23T04:29:58Z"));
    }
}

#[test]
fn what_is_missing_is_said_with_what_gives_it() {
    let queue = Queue::new(JOBS, STRICT);
    let refused = |options: &[&str]| {
        let output = queue.run(options);
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""), "{options:?}");
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
    let unknown = refused(&["--processors", "8", "--at", "2000", "--job", "7", "--job", "9"]);
    assert!(unknown.contains("`7`") && unknown.contains("`9`"), "{unknown}");
    assert!(refused(&["--processors", "0", "--at", "2000"]).contains("at least 1"));
    let without_jobs = jsf(&["cycle", "ncpus", "--processors", "8", "--at", "2000"]);
    assert_eq!(without_jobs.status.code(), Some(2));
    assert!(stderr(&without_jobs).contains("--queue"), "{}", stderr(&without_jobs));
}

#[test]
fn of_several_jobs_those_that_do_not_exist_are_named() {
    let queue = Queue::new(JOBS, STRICT);
    let output = queue.run(&["--processors", "8", "--at", "2000", "--job", "4,7"]);
    assert!(success(&output).starts_with("4.vm waits: not enough processors;"), "{}", stdout(&output));
    assert!(stderr(&output).contains("warning") && stderr(&output).contains("`7`"), "{}", stderr(&output));
}

#[test]
fn a_formula_that_does_not_work_ends_with_1() {
    let queue = Queue::new(JOBS, STRICT);
    for (formula, code) in [("ncpus +", "JSF101"), ("ncpus ++ (", "JSF101")] {
        let output = queue.run(&["--processors", "8", "--at", "2000", formula]);
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(1), ""), "{formula}");
        assert!(stderr(&output).contains(code), "{}", stderr(&output));
    }
}

#[test]
fn a_screen_of_80_columns_has_the_answer() {
    for options in [&[][..], &["--job", "184208"], &["--job", "184905"]] {
        let arguments = [&["cycle", "--site", "examples/site"], options].concat();
        let output = command().args(arguments).env("COLUMNS", "80").output().expect("an output");
        let screen = success(&output);
        assert!(screen.lines().count() <= 24 && screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        assert!(screen.contains("waiting") && screen.contains("processors: 446 of 4288 free"), "{screen}");
    }
}

#[test]
fn markdown_is_the_same_document() {
    let queue = Queue::new(JOBS, STRICT);
    let markdown = success(&queue.run(&["--processors", "8", "--at", "2000", "--format", "markdown"]));
    assert!(markdown.starts_with("### The scheduler's next cycle\n\n**3.vm starts now; 3 jobs wait,"), "{markdown}");
    assert!(
        markdown.contains("| job | promised at | in | why |\n")
            && markdown.contains("| 2.vm | 1970-01-01 01:16:40 UTC | 43 min 20 s | not enough processors |\n"),
        "{markdown}"
    );
}

/// The processors of the running jobs that have no start time would count as free.
#[test]
fn a_running_job_without_a_start_time_is_named() {
    let jobs = JOBS.replace(r#""stime":1000,"#, "");
    let output = Queue::new(&jobs, STRICT).run(&["--processors", "8", "--at", "2000"]);
    assert!(stderr(&output).contains("no `stime` (first `1.vm`)"), "{}", stderr(&output));
}

#[test]
fn what_the_cycle_does_without_is_in_the_headline_where_it_concerns_a_tenth_of_the_jobs() {
    let config = "strict_ordering: True ALL\npreemptive_sched: True ALL\npreempt_queue_prio: 150\n";
    let queue = Queue::new(JOBS, config);
    let queues = queue.0.path().join("queues").display().to_string();
    fs::write(&queues, "create queue workq\nset queue workq Priority = 200\n").expect("a file");
    let options = ["--queues", &*queues];
    let what = "preemption by the jobs of express queues";
    assert_eq!(queue.cycle(&options)["without"], json!([{"what": what, "jobs": 3}]));
    assert!(queue.headline(&options).ends_with(&format!(" (without {what}).")), "{}", queue.headline(&options));
}
