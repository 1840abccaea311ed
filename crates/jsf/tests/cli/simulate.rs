//! `jsf simulate` on the cases in `tests/golden/simulate`, whose rules are in `SPEC.md` there.

use std::collections::{BTreeMap, BTreeSet};

use jsf_testing::golden;
use serde::Deserialize;
use serde_json::Value;

use crate::command::{command, jsf, json, stderr, stdout, success};

/// The options for the rules of the cases, which are not those of OpenPBS's scheduler.
const TEXTBOOK: [&str; 4] = ["--rules", "documented", "--numbers", "exact"];

#[derive(Deserialize)]
struct RecordedCase {
    workload: String,
    processors: u32,
    formula: String,
    backfill: String,
    tree: Option<Value>,
    decay: Option<u64>,
    decay_factor: Option<f64>,
    start: BTreeMap<String, i64>,
}

/// One case of each way of backfilling, with and without a tree, through the command.
#[test]
fn the_command_starts_every_recorded_job_at_its_second_with_the_options_of_the_textbook() {
    let cases: Vec<RecordedCase> = golden::lines("simulate/cases.jsonl");
    let mut compared = BTreeSet::new();
    for case in cases {
        let RecordedCase {
            workload,
            processors,
            formula,
            backfill,
            tree,
            decay,
            decay_factor,
            start,
        } = case;
        if !compared.insert((backfill.clone(), tree.is_some())) {
            continue;
        }
        let file = |name: &str| {
            golden::path(&format!("simulate/{name}"))
                .display()
                .to_string()
        };
        let (workload, processors) = (file(&workload), processors.to_string());
        let mut arguments = vec![
            "simulate",
            &formula,
            "--format",
            "json",
            "--backfill",
            &backfill,
        ];
        arguments.extend(["--workload", &workload, "--processors", &processors]);
        arguments.extend(TEXTBOOK);
        let tree = tree.map(|tree| file(tree.as_str().expect("a name")));
        let decays = [
            decay.map(|decay| decay.to_string()),
            decay_factor.map(|factor| factor.to_string()),
        ];
        for (option, value) in ["--tree", "--decay", "--decay-factor"]
            .into_iter()
            .zip([&tree, &decays[0], &decays[1]])
        {
            arguments.extend(value.iter().flat_map(|value| [option, value]));
        }
        let document: Value = serde_json::from_str(&success(&jsf(&arguments))).expect("JSON");
        let jobs = document["jobs"].as_array().expect("jobs").iter();
        let found: BTreeMap<String, i64> = jobs
            .map(|job| {
                (
                    job["id"].as_str().expect("an id").to_owned(),
                    job["start"].as_i64().expect("a start"),
                )
            })
            .collect();
        assert!(found == start, "{formula} with {backfill}");
    }
    assert_eq!(compared.len(), 4, "{compared:?}");
}

#[test]
fn a_file_that_gives_something_twice_is_refused_with_strict_and_a_queue_always() {
    let folder = tempfile::tempdir().expect("a folder");
    let twice = folder.path().join("tree.json").display().to_string();
    std::fs::write(
        &twice,
        r#"{"children":[{"name":"u1","shares":1,"shares":2}]}"#,
    )
    .expect("written");
    let simulate = |options: &[&str]| {
        let jobs = [
            "simulate",
            "fairshare_factor + 0.5",
            "--generate",
            "20",
            "--processors",
            "8",
            "--format",
            "json",
        ];
        jsf(&[&jobs[..], options].concat())
    };
    let strict = simulate(&["--tree", &twice, "--strict"]);
    assert_eq!(
        (
            strict.status.code(),
            simulate(&["--tree", &twice]).status.code()
        ),
        (Some(2), Some(0))
    );
    assert!(
        stderr(&strict).contains("has `shares` more than once"),
        "{}",
        stderr(&strict)
    );
    let queue = simulate(&["--queue", "examples/site/qstat.json"]);
    assert_eq!(
        stderr(&queue),
        "jsf: --queue has no effect in a simulation, whose jobs are those of --workload\n"
    );
}

/// The findings are drawn as by `rank` and `compare`, wherever the formula is given: the exit code
/// 1 alone would look like a goal that is missed.
#[test]
fn a_formula_that_is_not_arithmetic_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = [
        "simulate",
        "--workload",
        "tests/golden/simulate/w1.swf",
        "--processors",
        "64",
    ];
    let file = folder.path().join("formula.txt").display().to_string();
    for (formula, code) in [
        ("math.log(ncpus)", "JSF208"),
        ("Resource_List.ncpus", "JSF201"),
        ("ncpus.x + 1", "JSF104"),
        ("lambda: 1", "JSF401"),
        ("new.txt", "JSF104"),
    ] {
        std::fs::write(&file, formula).expect("written");
        for (given, origin) in [
            (&[formula][..], "FORMULA"),
            (&["-f", &file], &file),
            (&["--old", "ncpus", "--new", formula], "--new"),
            (&["--old", formula, "--new", "ncpus"], "--old"),
            (&["--old", "ncpus", "--new-file", &file], &file),
            (&["--old-file", &file, "--new", "ncpus"], &file),
        ] {
            for format in ["human", "json"] {
                let output = jsf(&[&log[..], given, &["--format", format]].concat());
                assert_eq!(
                    (output.status.code(), stdout(&output)),
                    (Some(1), String::new()),
                    "{given:?}"
                );
                let drawn = stderr(&output);
                assert!(
                    drawn.contains(&format!("error[{code}]: ")),
                    "{given:?}: {drawn}"
                );
                assert_eq!(
                    drawn.matches(&format!("error[{code}]: ")).count(),
                    1,
                    "{given:?}: {drawn}"
                );
                assert!(
                    drawn.contains(&format!(" --> {origin}:1:1\n")),
                    "{given:?}: {drawn}"
                );
            }
        }
    }
}

#[test]
fn messages_about_one_of_two_formulas_name_its_option() {
    let log = [
        "--workload",
        "tests/golden/simulate/w1.swf",
        "--processors",
        "64",
    ];
    let message = |arguments: &[&str]| {
        let output = jsf(&[arguments, &log[..]].concat());
        (output.status.code(), stderr(&output))
    };
    let in_force = ", or the one in force with --server FILE, --sched-priv DIR or --site PATH\n";
    let no_old = format!("jsf: no formula to compare --new with: give --old FORMULA{in_force}");
    assert_eq!(message(&["simulate", "--new", "ncpus"]), (Some(2), no_old));
    let no_new = format!("jsf: no formula to compare --old with: give --new FORMULA{in_force}");
    assert_eq!(message(&["simulate", "--old", "ncpus"]), (Some(2), no_new));
    for (option, other) in [("--old", "--new"), ("--new", "--old")] {
        let empty = (
            Some(2),
            format!("jsf: the formula of {option} is empty: give its text\n"),
        );
        assert_eq!(message(&["simulate", option, "", other, "ncpus"]), empty);
        assert_eq!(message(&["simulate", option, " \n", other, "ncpus"]), empty);
        let compared = jsf(&[
            "compare",
            option,
            "",
            other,
            "ncpus",
            "--site",
            "examples/site",
        ]);
        assert_eq!((compared.status.code(), stderr(&compared)), empty);
    }
    let compared = jsf(&["compare", "--new", "README.md", "--site", "examples/site"]);
    let hint =
        "jsf: help: a file `README.md` exists; to read the formula from it, use --new-file\n";
    assert!(stderr(&compared).starts_with(hint), "{}", stderr(&compared));
}

/// The jobs of an association that has used more of its shares come later under the policy of
/// `slurm.conf`.
#[test]
fn the_policy_is_that_of_slurm_conf() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("slurm.conf").display().to_string();
    std::fs::write(
        &conf,
        "PriorityType=priority/multifactor\nPriorityFlags=NO_FAIR_TREE\n",
    )
    .expect("written");
    let no_decay = folder.path().join("no-decay.conf").display().to_string();
    let text = "PriorityType=priority/multifactor\nPriorityFlags=NO_FAIR_TREE\nPriorityDecayHalfLife=0\n                PriorityUsageResetPeriod=YEARLY\n";
    std::fs::write(&no_decay, text).expect("written");
    let no_flags = folder.path().join("no-flags.conf").display().to_string();
    let text = text.replace("PriorityFlags=NO_FAIR_TREE\n", "");
    std::fs::write(&no_flags, text).expect("written");
    let job = |(index, user): (usize, &str)| {
        format!(
            r#"{{"id":{index},"entity":"{user}","submit":{index},"run":100,"resources":{{"ncpus":1}}}}"#
        )
    };
    let users = ["mara", "ines", "lise", "otto"];
    let log: Vec<String> = users
        .iter()
        .cycle()
        .take(40)
        .copied()
        .enumerate()
        .map(job)
        .collect();
    let log_file = folder.path().join("log.ndjson").display().to_string();
    std::fs::write(&log_file, log.join("\n")).expect("written");
    let simulate = |options: &[&str]| {
        let jobs = [
            "simulate",
            "fairshare_factor",
            "--workload",
            &log_file,
            "--processors",
            "1",
            "--format",
            "json",
        ];
        // the recorded usage would outweigh that of a few jobs
        let tree = ["--tree", "examples/slurm/sshare.txt", "--usage", "fresh"];
        success(&jsf(&[&jobs[..], &tree, options].concat()))
    };
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let by_conf = simulate(&["--slurm-conf", &no_decay]);
    let by_option = simulate(&["--policy", "classic", "--slurm-conf", &no_flags]);
    assert_eq!(by_conf, by_option);
    assert_ne!(by_conf, simulate(&["--slurm-conf", &no_flags]));
    let decay = |options: &[&str]| read(&simulate(options))["decay"].clone();
    assert_eq!(decay(&["--slurm-conf", &no_decay]), Value::Null);
    let half_life = decay(&["--slurm-conf", &conf]);
    assert_eq!(half_life["seconds"], 300);
    // 7 days have 2016 steps of 5 minutes
    assert!(
        (half_life["factor"].as_f64().expect("a factor").powi(2016) - 0.5).abs() < 1e-3,
        "{half_life}"
    );
    let given = decay(&["--slurm-conf", &conf, "--decay", "1d"]);
    assert_eq!(given, serde_json::json!({"seconds": 86400, "factor": 0.5}));
    let given = decay(&["--slurm-conf", &conf, "--decay-factor", "0.25"]);
    assert_eq!(
        given,
        serde_json::json!({"seconds": 7 * 86400, "factor": 0.25})
    );
    let by_users = [
        "simulate",
        "fairshare_factor",
        "--workload",
        &log_file,
        "--processors",
        "1",
        "--full",
    ];
    let by_users = [
        &by_users[..],
        &[
            "--tree",
            "examples/slurm/sshare.txt",
            "--usage",
            "fresh",
            "--slurm-conf",
            &conf,
        ],
    ]
    .concat();
    let text = success(&jsf(&by_users));
    let rule = "policy classic by the rules of the daemon (--rules); half-life 7 d";
    assert!(text.contains(rule), "{text}");
    // tickets are of the entities with waiting jobs
    let by_tickets = read(&simulate(&["--policy", "ticket-based"]));
    assert_eq!(by_tickets["policy"], "ticket-based");
    let jobs = by_tickets["jobs"].as_array().expect("jobs");
    assert!(
        !jobs.is_sorted_by_key(|job| job["start"].as_i64()),
        "in the order of submission: {by_tickets}"
    );
}

#[test]
fn a_number_that_is_out_of_range_is_refused_in_plain_words() {
    for (option, value, expected) in [
        ("--processors", "0", "`--processors` must be at least 1"),
        ("--processors", "-3", "`--processors` must be at least 1"),
        (
            "--processors",
            "4294967296",
            "`--processors` must be at most 4294967295",
        ),
        (
            "--processors",
            "many",
            "expected a number of processors, such as 128",
        ),
        (
            "--seed",
            "x",
            "expected a whole number from 0 to 18446744073709551615, such as 1",
        ),
    ] {
        let output = jsf(&["simulate", "ncpus", "--generate", "10", option, value]);
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        assert!(
            stderr(&output).contains(expected),
            "{option} {value}: {}",
            stderr(&output)
        );
    }
}

/// A log in which the jobs of one of two users, who has no share, wait for each other, and those of
/// the other one never.
fn log_of_two_users(folder: &std::path::Path) -> [String; 2] {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let job = |index: usize| {
        let user = if index.is_multiple_of(3) {
            "nora"
        } else {
            "olaf"
        };
        let submit = index * 50;
        format!(
            r#"{{"id":{index},"entity":"{user}","submit":{submit},"run":100,"resources":{{"ncpus":2}}}}"#
        )
    };
    let log: Vec<String> = (0..90).map(job).collect();
    [
        write("log.ndjson", &log.join("\n")),
        write(
            "tree.json",
            r#"{"children":[{"name":"olaf","shares":1},{"name":"nora","shares":0}]}"#,
        ),
    ]
}

#[test]
fn a_formula_that_fails_for_jobs_says_so_before_its_effect_and_names_whose_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let [log, tree] = log_of_two_users(folder.path());
    let simulate = |options: &[&str]| {
        let context = [
            "simulate",
            "--workload",
            &log,
            "--tree",
            &tree,
            "--processors",
            "2",
        ];
        jsf(&[&context[..], options].concat())
    };
    let failing = "fairshare_tree_usage / fairshare_perc";
    let headline = |options: &[&str]| {
        stdout(&simulate(options))
            .split("\n\n")
            .next()
            .map(str::to_owned)
            .expect("a headline")
    };
    let new = headline(&["--old", "eligible_time", "--new", failing]);
    let sentence =
        "fails for 30 of 90 jobs, of `nora` (float division by zero, first for `0`); they count 0.";
    assert!(
        new.starts_with(&format!("The new formula {sentence} ")),
        "{new}"
    );
    let old = simulate(&["--old", failing, "--new", "eligible_time"]);
    // what fails of the old formula is below the answer
    let warning = format!("\nthe old formula {}\n", sentence.trim_end_matches('.'));
    assert!(
        success(&old).contains(&warning) && !stderr(&old).contains("fails"),
        "{}",
        success(&old)
    );
    assert!(!headline(&["--old", failing, "--new", "eligible_time"]).contains("fails"));
    let old = simulate(&[
        "--old",
        failing,
        "--new",
        "eligible_time",
        "--format",
        "csv",
    ]);
    let warning = format!("jsf: warning: {}", warning.trim_start());
    assert!(stderr(&old).ends_with(&warning), "{}", stderr(&old));
    assert!(
        headline(&[failing])
            .starts_with(&format!("The formula {sentence} The mean wait of 90 jobs "))
    );
    let all = headline(&["--old", "ncpus", "--new", "1 / (ncpus - 2)"]);
    let crash = "The new formula fails for all 90 jobs (division by zero, first for `0`); they count 0, and OpenPBS's scheduler would crash at its next start.";
    assert_eq!(all, crash);
    let without_waits = stdout(&simulate(&[
        "--old",
        "ncpus",
        "--new",
        "nosuch + ncpus",
        "--full",
    ]));
    assert!(!without_waits.contains("mean wait"), "{without_waits}");
    let constant = headline(&["--old", "ncpus", "--new", "5"]);
    assert!(
        constant.starts_with("The new formula orders nothing: this is the order of submission. "),
        "{constant}"
    );
    let refused = headline(&["--old", "ncpus", "--new", "nosuch + ncpus"]);
    assert_eq!(
        refused,
        "qmgr refuses the new formula: `nosuch` is not a known resource, function or constant."
    );
}

#[test]
fn all_formats_have_the_measures_of_all_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let [log, _] = log_of_two_users(folder.path());
    let simulate = |format: &str| {
        let formulas = [
            "simulate",
            "--old",
            "eligible_time",
            "--new",
            "-eligible_time",
        ];
        success(&jsf(&[
            &formulas[..],
            &["--workload", &log, "--processors", "2", "--format", format],
        ]
        .concat()))
    };
    let document: Value = serde_json::from_str(&simulate("json")).expect("JSON");
    for side in ["old", "new"] {
        let summary = &document[side]["summary"];
        let jobs = document[side]["jobs"].as_array().expect("jobs").iter();
        let waits: Vec<i64> = jobs
            .map(|job| {
                job["start"].as_i64().expect("a time") - job["submit"].as_i64().expect("a time")
            })
            .collect();
        let count = |holds: fn(i64) -> bool| waits.iter().filter(|wait| holds(**wait)).count();
        assert_eq!(summary["started_within_a_minute"], count(|wait| wait <= 60));
        assert_eq!(
            summary["started_within_an_hour"],
            count(|wait| wait <= 3600)
        );
        assert_eq!(
            (&summary["waited_over_1_d"], &summary["waited_over_7_d"]),
            (&Value::from(0), &Value::from(0))
        );
        // all jobs hold as many core hours
        assert_eq!(summary["mean_wait_per_core_hour"], summary["wait"]["mean"]);
    }
    for format in ["human", "markdown"] {
        let text = simulate(format);
        for measure in ["mean wait per core hour", "waited over 7 d", "longest wait"] {
            assert!(text.contains(measure), "{measure}: {text}");
        }
    }
}

#[test]
fn a_screen_of_80_columns_has_the_answer_the_formulas_and_two_tables() {
    let simulate = |formulas: &[&str]| {
        let site = [
            "--site",
            "examples/site",
            "--workload",
            "examples/site/accounting.gz",
            "--processors",
            "256",
        ];
        let arguments = [&["simulate"], &site[..], formulas].concat();
        success(
            &command()
                .args(arguments)
                .env("JSF_LINES", "24")
                .env("COLUMNS", "80")
                .output()
                .expect("an output"),
        )
    };
    for formulas in [
        &["--new", "fairshare_factor * 100 + eligible_time / 3600"][..],
        &[],
    ] {
        let screen = simulate(formulas);
        assert!(
            screen.lines().count() <= 24 && screen.lines().all(|line| line.chars().count() <= 80),
            "{screen}"
        );
        for part in [
            "formula:",
            "all jobs",
            "mean wait per core hour",
            "processors  jobs",
            "65-256",
            "--report",
        ] {
            assert!(screen.contains(part), "{part}: {screen}");
        }
    }
}

#[test]
fn a_formula_that_crashes_on_the_queue_of_the_site_says_so_and_shows_no_waits() {
    let site = [
        "--site",
        "examples/site",
        "--workload",
        "examples/site/accounting.gz",
        "--processors",
        "256",
    ];
    let simulate = |more: &[&str]| stdout(&jsf(&[&["simulate"], &site[..], more].concat()));
    for (formulas, subject) in [
        (&["--new", "10 ** ncpus"][..], "The new formula"),
        (&["10 ** ncpus"], "The formula"),
    ] {
        for format in ["human", "markdown"] {
            let text = simulate(&[formulas, &["--format", format]].concat());
            assert!(
                text.contains(&format!(
                    "{subject} crashes the scheduler: the result is an integer too large"
                )),
                "{text}"
            );
            assert!(
                !text.contains("mean wait") && text.contains("JSF302"),
                "{text}"
            );
        }
    }
}

/// What a log has that is left out or cut is told in every format.
#[test]
fn what_is_left_out_and_cut_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.swf").display().to_string();
    let lines = "\
; MaxProcs: 8
; UnixStartTime: 870
1 0 0 100 4 -1 -1 4 60 -1 1 7 3 -1 2 -1 -1 -1
2 1 9 0 0 -1 -1 4 60 -1 5 7 3 -1 2 -1 -1 -1
3 2 9 50 16 -1 -1 16 60 -1 1 7 3 -1 2 -1 -1 -1
4 3 9 50 -1 -1 -1 -1 60 -1 1 7 3 -1 2 -1 -1 -1
5 4 9 50 8 -1 -1 8 -1 -1 1 7 3 -1 2 -1 -1 -1
";
    std::fs::write(&log, lines).expect("a log");
    let simulated =
        |more: &[&str]| jsf(&[&["simulate", "eligible_time", "--workload", &log], more].concat());
    let json = |more: &[&str]| -> Value {
        let output = simulated(&[&["--format", "json"], more].concat());
        serde_json::from_str(&success(&output)).expect("JSON")
    };
    let document = json(&[]);
    let left_out = document["left_out"].as_object().expect("an object");
    let counted: BTreeMap<&str, u64> = left_out
        .iter()
        .map(|(reason, count)| (&**reason, count.as_u64().expect("a count")))
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(
        counted,
        BTreeMap::from([("cancelled", 1), ("no_processors", 1), ("too_large", 1)])
    );
    assert!(
        ["damaged", "rerun", "reservation", "running", "waiting"]
            .iter()
            .all(|reason| left_out[*reason] == 0)
    );
    assert_eq!(
        document["cut"],
        serde_json::json!({"jobs": 1, "core_seconds": 160})
    );
    let kept = json(&["--cancelled", "keep", "--overrun", "keep"]);
    assert_eq!(
        (&kept["left_out"]["cancelled"], &kept["cut"]["jobs"]),
        (&Value::from(0), &Value::from(0))
    );
    let ends = |document: &Value| -> Vec<i64> {
        document["jobs"]
            .as_array()
            .expect("jobs")
            .iter()
            .map(|job| job["end"].as_i64().expect("an end"))
            .collect()
    };
    assert_eq!(
        (ends(&document), ends(&kept)),
        (vec![60, 110], vec![100, 1, 150])
    );
    let text = success(&simulated(&[]));
    for line in [
        "left out: 1 cancelled before they ran, 1 without processors, 1 larger than the machine",
        "cut:      1 run at the requested time, by 0.0444 core hours (20.0 %)",
        "walltime: the run time for 1 job, so that backfilling sees the future",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let swf = simulated(&["--format", "swf"]);
    assert!(
        stdout(&swf).contains("\n1 0 0 60 4 -1 -1 4 60 "),
        "{}",
        stdout(&swf)
    );
    assert!(
        stdout(&swf).starts_with("; Version: 2.2\n; MaxProcs: 8\n; UnixStartTime: 870\n; Note: "),
        "{}",
        stdout(&swf)
    );
    let written = folder.path().join("simulated.swf").display().to_string();
    std::fs::write(&written, stdout(&swf)).expect("a log");
    let again = success(&jsf(&[
        "simulate",
        "eligible_time",
        "--workload",
        &written,
        "--format",
        "swf",
    ]));
    assert_eq!(again, stdout(&swf));
    let csv = |more: &[&str]| success(&simulated(&[&["--format", "csv"], more].concat()));
    let expected = "id,entity,queue,processors,submit,start,end,wait,warm_up\n1,7,2,4,0,0,60,0,true\n5,7,2,8,4,60,110,56,false\n";
    assert_eq!(csv(&["--warm-up", "3"]), expected);
    let beyond = simulated(&["--warm-up", "5"]);
    let message = "the warm-up of 5 s leaves no job: the last one is submitted 4 s after the first";
    assert!(
        beyond.status.code() == Some(2) && stderr(&beyond).contains(message),
        "{}",
        stderr(&beyond)
    );
    assert!(stderr(&swf).contains("left out: 1 cancelled before they ran, 1 without processors"));
    // the compressed log in a folder
    let folder = tempfile::tempdir().expect("a folder");
    let status = std::process::Command::new("sh")
        .args([
            "-c",
            "gzip -c \"$0\" > \"$1/a.gz\" && tail -n 1 \"$0\" | sed 's/^5/6/' > \"$1/b\"",
            &log,
        ])
        .arg(folder.path())
        .status();
    assert!(status.expect("sh").success());
    let folder = folder.path().display().to_string();
    let output = jsf(&[
        "simulate",
        "eligible_time",
        "--workload",
        &folder,
        "--format",
        "json",
    ]);
    let document: Value = serde_json::from_str(&success(&output)).expect("JSON");
    assert_eq!(
        (ends(&document).len(), &document["left_out"]["cancelled"]),
        (3, &Value::from(1))
    );
}

/// A log of 40 jobs of 1 to 4 processors in two queues, of which the site has one, an express
/// queue.
fn log_of_two_queues(folder: &std::path::Path) -> [String; 3] {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let job = |index: usize| {
        let queue = if index.is_multiple_of(4) {
            "gone"
        } else {
            "express"
        };
        let (submit, ncpus) = (index * 10, 1 + index % 4);
        format!(
            r#"{{"id":{index},"queue":"{queue}","submit":{submit},"run":100,"resources":{{"ncpus":{ncpus}}}}}"#
        )
    };
    let log: Vec<String> = (0..40).map(job).collect();
    [
        write("log.ndjson", &log.join("\n")),
        write(
            "queues",
            "create queue express\nset queue express Priority = 200\n",
        ),
        write(
            "sched_config",
            "preemptive_sched: True ALL\nstrict_ordering: True ALL\n",
        ),
    ]
}

/// `jsf simulate` of [`log_of_two_queues`] on four processors.
fn simulate_two_queues(options: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    let [log, queues, config] = log_of_two_queues(folder.path());
    let context = [
        "simulate",
        "--workload",
        &log,
        "--queues",
        &queues,
        "--sched-config",
        &config,
        "--processors",
        "4",
    ];
    jsf(&[&context[..], options].concat())
}

#[test]
fn what_the_simulation_does_without_is_named_once() {
    let simulate = |options: &[&str]| success(&simulate_two_queues(options));
    let what = "targets and checkpoints of preemption";
    for formulas in [
        &["eligible_time"][..],
        &["--old", "ncpus", "--new", "eligible_time"],
    ] {
        let screen = simulate(formulas);
        let headline = screen
            .split("\n\n")
            .next()
            .expect("a headline")
            .replace('\n', " ");
        assert!(
            headline.ends_with(&format!(" The simulation does without {what}.")),
            "{headline}"
        );
        assert_eq!(screen.matches("without").count(), 1, "{screen}");
    }
    let full = simulate(&["eligible_time", "--full"]);
    assert!(full.contains(&format!("{what} (40 jobs)")), "{full}");
    let document: Value =
        serde_json::from_str(&simulate(&["eligible_time", "--format", "json"])).expect("JSON");
    assert_eq!(
        document["without"],
        serde_json::json!([{"what": what, "jobs": 40}])
    );
}

#[test]
fn the_ends_of_a_comparison_are_those_of_each_formula_alone() {
    let lines = |formulas: &[&str]| -> Vec<Vec<String>> {
        let csv = success(&simulate_two_queues(
            &[formulas, &["--format", "csv"]].concat(),
        ));
        let lines = csv.lines().skip(1);
        lines
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect()
    };
    let ends = |formula: &str| -> BTreeMap<String, [i64; 2]> {
        let lines = lines(&[formula]).into_iter();
        lines
            .map(|line| {
                let times = [&line[5], &line[6]].map(|time| time.parse().expect("a time"));
                (line[0].clone(), times)
            })
            .collect()
    };
    let [old, new] = ["ncpus", "-ncpus"].map(ends);
    let mut differ = 0;
    for line in lines(&["--old", "ncpus", "--new", "-ncpus"]) {
        let [[old_start, old_end], [new_start, new_end]] = [old[&line[0]], new[&line[0]]];
        assert_eq!(
            [&line[10], &line[11]],
            [&old_end.to_string(), &new_end.to_string()],
            "{line:?}"
        );
        differ += usize::from(old_end - old_start != new_end - new_start);
    }
    assert!(differ > 0, "no run is suspended under one formula alone");
}

#[test]
fn what_never_acts_on_the_jobs_of_the_log_is_found() {
    let formula = "100 * (ncpus >= 512) + (eligible_time if walltime < 100000 else 0)";
    let simulate = |options: &[&str]| {
        let output = simulate_two_queues(&[&[formula], options].concat());
        (success(&output), stderr(&output))
    };
    for options in [&["--full"][..], &["--format", "markdown", "--full"]] {
        let (screen, _) = simulate(options);
        let text = screen.replace("\n         ", " ");
        for found in ["JSF608", "JSF609", "for the jobs of the log"] {
            assert!(text.contains(found), "{options:?} {found}: {screen}");
        }
    }
    let (_, drawn) = simulate(&["--format", "json"]);
    for found in [
        "`ncpus >= 512` is always false for the jobs of the log",
        "`ncpus` is an int from 1 to 4",
        "`0` is never evaluated for the jobs of the log",
        "queues of the log that the site does not have: `gone` (10 of 40 jobs); they have no limits here",
    ] {
        assert!(drawn.contains(found), "{found}: {drawn}");
    }
    // a condition that divides the jobs is not named
    let divides = simulate_two_queues(&["100 * (ncpus >= 4) + eligible_time", "--full"]);
    assert!(!success(&divides).contains("JSF609"));
}

/// The usage of OpenPBS's own files, which the scheduler keeps as running totals, decays and grows
/// like any other.
#[test]
fn the_usage_to_begin_with_is_that_of_the_files_or_none() {
    let starts = |usage: &str| {
        let site = [
            "simulate",
            "fairshare_factor",
            "--site",
            "examples/site",
            "--processors",
            "256",
            "--warm-up",
            "0",
        ];
        let log = [
            "--workload",
            "examples/site/accounting.gz",
            "--format",
            "csv",
            "--usage",
            usage,
        ];
        success(&jsf(&[&site[..], &log].concat()))
    };
    assert_ne!(starts("start"), starts("fresh"));
    assert_eq!(starts("start"), starts("examples/site/sched_priv/usage"));
}

/// Usage decays at the multiples of the period, wherever the log begins.
#[test]
fn jobs_before_the_first_decay_are_left_out_by_default() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [log, tree] = log_of_two_users(folder.path());
    let text: Vec<String> = [900, 950, 1100, 3000, 3300]
        .iter()
        .map(|submit| {
            format!(r#"{{"id":"{submit}","entity":"ada","submit":{submit},"run":10,"resources":{{"ncpus":1,"walltime":60}}}}"#)
        })
        .collect();
    std::fs::write(path("decay.ndjson"), text.join("\n")).expect("written");
    assert_ne!(log, path("decay.ndjson"));
    let log = path("decay.ndjson");
    let simulate = [
        "simulate",
        "fairshare_factor",
        "--workload",
        &log,
        "--processors",
        "4",
        "--tree",
        &tree,
    ];
    let output = jsf(&[
        &simulate[..],
        &["--usage", "fresh", "--decay", "1000", "--format", "json"],
    ]
    .concat());
    let document = json(&output);
    assert_eq!(
        (&document["warm_up"], &document["summary"]["jobs"]),
        (&100.into(), &3.into()),
        "{}",
        stderr(&output)
    );
    // one job and a warm-up: as for several
    std::fs::write(&log, &text[0]).expect("written");
    let output = jsf(&[&simulate[..], &["--warm-up", "1d"]].concat());
    let message =
        "the warm-up of 86400 s leaves no job: the last one is submitted 0 s after the first";
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains(message),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_log_without_a_job_that_starts_has_no_table_of_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.swf");
    std::fs::write(&log, "1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n").expect("written");
    for (processors, has_sizes) in [("4", true), ("2", false)] {
        // `--log` is what many would write
        let log = log.to_str().expect("UTF-8");
        let text = success(&jsf(&[
            "simulate",
            "ncpus",
            "--log",
            log,
            "--processors",
            processors,
        ]));
        assert_eq!(text.contains("processors  jobs"), has_sizes, "{text}");
        assert_eq!(text.starts_with("No job starts."), !has_sizes, "{text}");
    }
}

#[test]
fn the_jobs_of_the_warm_up_are_counted() {
    let call = [
        "simulate",
        "eligible_time",
        "--generate",
        "200",
        "--processors",
        "32",
        "--warm-up",
        "6h",
        "--format",
    ];
    let document: Value =
        serde_json::from_str(&success(&jsf(&[&call[..], &["json"]].concat()))).expect("JSON");
    let count = success(&jsf(&[&call[..], &["csv"]].concat()))
        .lines()
        .filter(|line| line.ends_with(",true"))
        .count();
    assert!(count > 0);
    assert_eq!(document["warm_up_jobs"], count);
    let text = success(&jsf(&[&call[..], &["human"]].concat()));
    assert!(
        text.contains(&format!(
            "{count} jobs of the first 6 h are left out (--warm-up)"
        )),
        "{text}"
    );
}
