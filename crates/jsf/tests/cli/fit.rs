//! `jsf fit`: the constants of a formula, from wishes about the queue or from goals on a log.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::command::{command, jsf, json, stderr, stdout, success};

const TEMPLATE: &str = "{fs=100:0..500}*fairshare_factor + {age=1:0..50}*eligible_time/3600";
const SITE: [&str; 2] = ["--site", "examples/site"];

fn wished(options: &[&str]) -> Output {
    jsf(&[&["fit", TEMPLATE], &SITE[..], options].concat())
}

#[test]
fn wishes_that_can_be_met_are_met_by_the_ranking() {
    let prefer = [
        "--prefer", "184208", "185046", "--prefer", "184794", "184103",
    ];
    let fit = json(&wished(&[&prefer[..], &["--format", "json"]].concat()));
    assert_eq!(
        (fit["feasible"].as_bool(), fit["recommendation"].as_str()),
        (Some(true), Some("use")),
        "{fit}"
    );
    assert_eq!(
        (
            fit["wishes"]["total"].as_u64(),
            fit["wishes"]["met"].as_u64()
        ),
        (Some(2), Some(2))
    );
    let formula = fit["formula"].as_str().expect("a formula");
    assert!(
        fit["qmgr"]
            .as_str()
            .is_some_and(|qmgr| qmgr.contains(formula)),
        "{fit}"
    );
    let ranked = json(&jsf(
        &[&["rank", formula, "--format", "json"], &SITE[..]].concat()
    ));
    let jobs = ranked["jobs"].as_array().expect("jobs");
    let rank = |id: &str| {
        jobs.iter()
            .find(|job| job["id"] == format!("{id}.kestrel"))
            .expect("a job")["rank"]
            .as_u64()
    };
    assert!(
        rank("184208") < rank("185046") && rank("184794") < rank("184103"),
        "{formula}"
    );
}

#[test]
fn a_circle_of_wishes_is_named() {
    let circle = ["184208", "185046", "184103", "184208"];
    let prefer: Vec<&str> = circle
        .windows(2)
        .flat_map(|pair| ["--prefer", pair[0], pair[1]])
        .collect();
    let output = wished(&prefer);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("exclude each other"),
        "{}",
        stdout(&output)
    );
    let fit: serde_json::Value = serde_json::from_str(&stdout(&wished(
        &[&prefer[..], &["--format", "json"]].concat(),
    )))
    .expect("JSON");
    assert_eq!(
        (fit["feasible"].as_bool(), fit["recommendation"].as_str()),
        (Some(false), Some("none"))
    );
    assert!(
        fit["wishes"]["conflict"]
            .as_array()
            .is_some_and(|conflict| !conflict.is_empty()),
        "{fit}"
    );
}

#[test]
fn what_is_wrong_with_a_template_or_a_wish_is_said_at_its_place() {
    for (template, text) in [
        ("100*ncpus", "the template has no constant to find"),
        ("{a=1:2..0}*ncpus", "the range `2..0` does not ascend"),
        ("{a=5:0..2}*ncpus", "FORMULA:1:4"),
        (
            "{ncpus=1:0..2}*ncpus",
            "`ncpus` is both a constant and an input",
        ),
        ("{a=1:0..2:log}*ncpus", ":log"),
        ("{a=1:0..2}*eligible_tme", "JSF201"),
    ] {
        let output = jsf(&[
            &["fit", template, "--prefer", "184208", "185046"],
            &SITE[..],
        ]
        .concat());
        assert_eq!(
            output.status.code(),
            Some(1),
            "{template}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(text),
            "{template}: {}",
            stderr(&output)
        );
    }
    let unknown = wished(&["--prefer", "184208", "1"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains("no job is called `1`"),
        "{}",
        stderr(&unknown)
    );
    let nothing = wished(&[]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(
        stderr(&nothing).contains("--prefer"),
        "{}",
        stderr(&nothing)
    );
    let folder = tempfile::tempdir().expect("a folder");
    let wishes = written(folder.path(), "wishes.txt", "184208\n184103\n184208\n");
    let twice = wished(&["--wishes", &wishes]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(
        stderr(&twice).contains("wishes.txt:3: "),
        "{}",
        stderr(&twice)
    );
    let ranked = jsf(&[&["rank", TEMPLATE], &SITE[..]].concat());
    assert_eq!(ranked.status.code(), Some(1));
    assert!(
        stderr(&ranked).contains("`jsf fit` finds the constants"),
        "{}",
        stderr(&ranked)
    );
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// A log of 14 weeks on one processor: each hour a job of 10 minutes, and each fifth hour one of 4
/// hours.
fn log(folder: &Path) -> String {
    let lines = (0..14 * 7 * 24).flat_map(|hour| {
        let job = |id: String, run: usize| {
            let submit = hour * 3600;
            format!(
                r#"{{"id":"{id}","entity":"e","submit":{submit},"run":{run},"resources":{{"ncpus":1,"walltime":{run}}}}}"#
            ) + "\n"
        };
        let short = job(format!("s{hour}"), 600);
        let long = (hour % 5 == 0).then(|| job(format!("l{hour}"), 13_200));
        std::iter::once(short).chain(long)
    });
    written(folder, "log.ndjson", &lines.collect::<String>())
}

const GOALS: &str = "[[goal]]\nname = \"short jobs start soon\"\njobs = \"walltime <= 600\"\nmeasure = \"wait\"\n\
                     statistic = \"p95\"\nat_most = \"4h\"\n[objective]\nminimise = \"mean bounded_slowdown\"\n";

/// The arguments of a fit of a bonus for short jobs to a log.
fn fitted(folder: &Path, goals: &str) -> Vec<String> {
    let (log, goals) = (log(folder), written(folder, "goals.toml", goals));
    let arguments = [
        "fit",
        "{bonus=0:0..100}/walltime + {age=1:0.5..2}*eligible_time/3600",
        "--workload",
        &log,
        "--goals",
        &goals,
        "--processors",
        "1",
        "--evaluations",
        "10",
    ];
    arguments.map(str::to_owned).into()
}

fn run(arguments: &[String], options: &[&str]) -> Output {
    command()
        .args(arguments)
        .args(options)
        .output()
        .expect("jsf")
}

#[test]
fn the_answer_is_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = fitted(folder.path(), GOALS);
    let format = ["--format", "json"];
    let one = stdout(&run(&arguments, &format));
    assert_eq!(stdout(&run(&arguments, &format)), one);
    // there are as many threads as processors on which the process may run
    let status = fs::read_to_string("/proc/self/status").expect("of Linux");
    let (_, allowed) = status.split_once("Cpus_allowed_list:").expect("a list");
    let first: String = allowed
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let alone = Command::new("taskset")
        .args(["-c", &first])
        .arg(command().get_program())
        .args(&arguments)
        .args(format)
        .current_dir(jsf_testing::ROOT)
        .output()
        .expect("taskset");
    assert_eq!(stdout(&alone), one);
    let fit: serde_json::Value = serde_json::from_str(&one).expect("JSON");
    assert_eq!(fit["goals"][0]["name"], "short jobs start soon");
    for key in ["value", "met", "limit"] {
        assert!(
            !fit["goals"][0]["train"][key].is_null() && !fit["goals"][0]["held_out"][key].is_null(),
            "{fit}"
        );
    }
    let objective = &fit["objective"];
    assert_eq!(objective["name"], "mean bounded_slowdown");
    assert!(
        objective["current"].is_f64() && objective["fitted"].is_f64(),
        "{fit}"
    );
    assert!(
        objective["held_out"]["current"].is_f64() && objective["held_out"]["fitted"].is_f64(),
        "{fit}"
    );
    assert!(
        objective["baselines"]
            .as_array()
            .is_some_and(|baselines| baselines.len() >= 2),
        "{fit}"
    );
    assert!(
        ["use", "keep", "none"]
            .iter()
            .any(|advice| fit["recommendation"] == *advice)
    );
}

#[test]
fn a_fit_has_one_document_for_a_terminal_markdown_and_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = fitted(folder.path(), GOALS);
    let page = folder.path().join("page.html");
    let report = ["--report", page.to_str().expect("UTF-8")];
    let output = run(&arguments, &report);
    let headline = stdout(&output)
        .lines()
        .next()
        .expect("a headline")
        .to_owned();
    let text = std::fs::read_to_string(&page).expect("a page");
    assert!(text.contains("<svg") && text.contains("The goals") && text.contains("The constants"));
    let markdown = run(&arguments, &["--format", "markdown"]);
    let markdown = stdout(&markdown).replace('\n', " ");
    let start: String = headline.chars().take(40).collect();
    assert!(markdown.contains(&start), "{headline}\n{markdown}");
    assert!(markdown.contains("short jobs start soon"), "{markdown}");
}

#[test]
fn goals_that_no_constant_meets_end_with_1_and_no_advice() {
    let folder = tempfile::tempdir().expect("a folder");
    let impossible = GOALS.replace("\"4h\"", "1").replace("p95", "max");
    let fraction = GOALS
        .replace("\"p95\"", "{ within = \"1h\" }")
        .replace("at_most = \"4h\"", "at_least = 70");
    let refused = run(&fitted(folder.path(), &fraction), &[]);
    assert!(
        stderr(&refused).contains("expected a number from 0 to 1"),
        "{}",
        stderr(&refused)
    );
    let output = run(&fitted(folder.path(), &impossible), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stdout(&output).starts_with("No weights that were tried meet all goals; these miss "),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_short_log_is_refused_without_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut arguments = fitted(folder.path(), GOALS);
    let text = std::fs::read_to_string(&arguments[3]).expect("a log");
    let few: String = text
        .lines()
        .take(300)
        .map(|line| format!("{line}\n"))
        .collect();
    arguments[3] = written(folder.path(), "short.ndjson", &few);
    let refused = run(&arguments, &[]);
    assert_eq!(refused.status.code(), Some(2), "{}", stdout(&refused));
    assert!(
        stderr(&refused).contains("the log has 300 jobs in 1."),
        "{}",
        stderr(&refused)
    );
    assert!(stderr(&refused).contains("--force"), "{}", stderr(&refused));
    let forced = run(&arguments, &["--force"]);
    assert!(
        matches!(forced.status.code(), Some(0 | 1)),
        "{}",
        stderr(&forced)
    );
    assert!(
        stdout(&forced).contains("Keep the old formula") || stdout(&forced).contains("No weights")
    );
    success(&jsf(&["fit", "--help"]));
}

#[test]
fn rules_that_no_simulation_follows_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = fitted(folder.path(), GOALS);
    for (options, message) in [
        (
            ["--numbers", "decimal"],
            "a simulation computes with doubles, not with decimals",
        ),
        (
            ["--policy", "all"],
            "a simulation needs one policy, not `all` of them",
        ),
    ] {
        let refused = run(&arguments, &options);
        assert_eq!(refused.status.code(), Some(2), "{}", stdout(&refused));
        assert!(stderr(&refused).contains(message), "{}", stderr(&refused));
    }
}

#[test]
fn no_command_sets_a_formula_that_fails_or_misses_its_wishes() {
    let failing = "{a=1:1..10}*log(fairshare_factor) + {b=1:0..5}*eligible_time/3600";
    let asked = |template: &str, prefer: [&str; 2], options: &[&str]| {
        let wish = ["fit", template, "--prefer", prefer[0], prefer[1]];
        jsf(&[&wish, &SITE[..], options].concat())
    };
    let text = asked(failing, ["185046", "184208"], &[]);
    assert_eq!(text.status.code(), Some(1), "{}", stderr(&text));
    let text = stdout(&text);
    assert!(
        !text.contains("qmgr -c")
            && text.contains("error[JSF301]")
            && text.contains("fails for 1 of"),
        "{text}"
    );
    let fit = json(&asked(failing, ["185046", "184208"], &["--format", "json"]));
    assert!(
        fit["qmgr"].is_null() && fit["errors"][0]["code"] == "JSF301",
        "{fit}"
    );
    assert!(
        fit["qmgr_obstacle"]
            .as_str()
            .is_some_and(|reason| reason.contains("JSF301")),
        "{fit}"
    );
    let missed = "{fs=100:0..500}*fairshare_factor";
    let text = stdout(&asked(missed, ["184737", "184730"], &[]));
    assert!(
        !text.contains("qmgr -c") && text.contains("1 of 1 wishes is not met"),
        "{text}"
    );
    assert!(json(&asked(missed, ["184737", "184730"], &["--format", "json"]))["qmgr"].is_null());
}

#[test]
fn the_range_of_a_number_ends_where_a_wish_fails() {
    let template = "{a=1:1..10}**ncpus";
    let arguments = [
        "fit", template, "--prefer", "184103", "184208", "--format", "json",
    ];
    let fit = json(&jsf(&[&arguments, &SITE[..]].concat()));
    assert_eq!(fit["parameters"][0]["low"], 1.0);
    // 1.5**4096 is infinite, and first
    assert!(
        fit["parameters"][0]["high"]
            .as_f64()
            .is_some_and(|high| high < 1.5),
        "{fit}"
    );
    let text = stdout(&jsf(&[&arguments[..5], &SITE[..]].concat()));
    assert!(
        text.contains("have the same value") && text.contains("the same wishes are met from"),
        "{text}"
    );
}

#[test]
fn the_waits_of_all_jobs_are_told_beside_the_advice() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = fitted(folder.path(), GOALS);
    let text = stdout(&run(&arguments, &[]));
    assert!(
        text.contains("mean wait") && text.contains("longest wait"),
        "{text}"
    );
    assert!(
        text.contains("first come, first served: no formula is known"),
        "{text}"
    );
    let fit = run(&arguments, &["--format", "json"]);
    let fit: serde_json::Value = serde_json::from_str(&stdout(&fit)).expect("JSON");
    for key in ["mean", "longest"] {
        assert!(
            fit["held_out_waits"][key]["current"].is_f64()
                && fit["held_out_waits"][key]["fitted"].is_f64(),
            "{fit}"
        );
    }
    assert_eq!(
        fit["qmgr"].is_null(),
        fit["recommendation"] != "use",
        "{fit}"
    );
    let given = stdout(&run(&arguments, &["--old", "eligible_time"]));
    assert!(!given.contains("no formula is known"), "{given}");
}
