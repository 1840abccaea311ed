//! What makes an answer wrong is a part of it, in each format: a site without the file `usage`, and
//! a machine without the GPUs that jobs ask for.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::command::{command, jsf, jsf_with_input, stderr, stdout, success};

/// A site with `resource_group` and without `usage`.
const SITE: &str = "examples/captured";
const JOB: &str = "184652";
const SENTENCE: &str = "the usage of every entity is 1, as if nothing had run";
/// A formula whose values depend on usage, and one whose values do not.
const DEPENDENT: &str = "fairshare_factor * 100 + ncpus";
const INDEPENDENT: &str = "ncpus";
/// Two of three jobs that wait ask for more than processors.
const JOBS: &str = r#"{"id":"1.vm","entity":"ada","queue":"workq","resources":{"ncpus":2,"ngpus":8,"walltime":"01:00:00"}}
{"id":"2.vm","entity":"bob","queue":"workq","select":"2:ncpus=1:licences=3:mpiprocs=2","walltime":3600}
{"id":"3.vm","entity":"cy","queue":"workq","resources":{"ncpus":2,"ngpus":0,"nodect":1}}
"#;
const NOT_COUNTED: &str = "waiting jobs ask for";

/// The arguments of each command whose values or order a formula decides, and the formats besides
/// those of all commands.
fn commands(formula: &str) -> [(Vec<&str>, &'static [&'static str]); 6] {
    [
        (vec!["rank", formula], &["csv", "ndjson"]),
        (vec!["explain", formula, "--job", JOB], &[]),
        (vec!["trajectory", formula, "--job", JOB], &["csv", "svg"]),
        (vec!["check", formula], &["sarif"]),
        (
            vec!["compare", "--old", INDEPENDENT, "--new", formula],
            &["csv"],
        ),
        (vec!["cycle", formula, "--processors", "64"], &[]),
    ]
}

fn run(arguments: &[&str], more: &[&str]) -> Output {
    jsf(&[arguments, &["--site", SITE], more].concat())
}

/// The warnings of an answer in JSON.
#[track_caller]
fn in_json(output: &Output) -> Vec<String> {
    let document: Value = serde_json::from_str(&success(output)).expect("JSON");
    assert!(
        document["warnings"]
            .as_array()
            .is_none_or(|warnings| !warnings.is_empty()),
        "the key is there for some only"
    );
    let warnings = document["warnings"].as_array().cloned().unwrap_or_default();
    warnings
        .iter()
        .map(|warning| warning.as_str().expect("a text").to_owned())
        .collect()
}

#[test]
fn a_missing_usage_is_named_in_each_answer_that_depends_on_it() {
    for (formula, is_expected) in [(DEPENDENT, true), (INDEPENDENT, false)] {
        for (arguments, others) in commands(formula) {
            for format in ["human", "markdown"] {
                let answer = success(&run(&arguments, &["--format", format]));
                assert_eq!(
                    answer.matches(SENTENCE).count(),
                    usize::from(is_expected),
                    "{arguments:?} {format}: {answer}"
                );
            }
            let output = run(&arguments, &["--format", "json"]);
            let warnings = in_json(&output);
            assert_eq!(
                warnings.iter().any(|warning| warning.ends_with(SENTENCE)),
                is_expected,
                "{arguments:?}"
            );
            // standard error names what is doubtful about the files, whatever the formula
            assert!(stderr(&output).contains(SENTENCE), "{arguments:?}");
            // these have no place for it
            for format in others {
                let output = run(&arguments, &["--format", format]);
                assert!(
                    !success(&output).contains(SENTENCE),
                    "{arguments:?} {format}"
                );
                assert!(stderr(&output).contains(SENTENCE), "{arguments:?} {format}");
            }
        }
    }
}

#[test]
fn shares_depend_on_usage_always() {
    for options in [&[][..], &["--policy", "all"], &["--charge", "jsolberg=100"]] {
        let arguments = [&["shares"], options].concat();
        for format in ["human", "markdown"] {
            let answer = success(&run(&arguments, &["--format", format]));
            assert_eq!(
                answer.matches(SENTENCE).count(),
                1,
                "{arguments:?} {format}: {answer}"
            );
        }
        let warnings = in_json(&run(&arguments, &["--format", "json"]));
        assert_eq!(
            warnings
                .iter()
                .filter(|warning| warning.ends_with(SENTENCE))
                .count(),
            1,
            "{warnings:?}"
        );
    }
}

#[test]
fn a_page_says_what_makes_it_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let shares = [(vec!["shares"], true)];
    let with = [(DEPENDENT, true), (INDEPENDENT, false)]
        .into_iter()
        .flat_map(|(formula, is_expected)| {
            let pages = commands(formula)
                .into_iter()
                .filter(|(command, _)| matches!(command[0], "rank" | "explain" | "compare"));
            pages.map(move |(command, _)| (command, is_expected))
        });
    for (number, (arguments, is_expected)) in shares.into_iter().chain(with).enumerate() {
        let path = folder.path().join(format!("{number}.html"));
        success(&run(
            &arguments,
            &["--report", path.to_str().expect("a path")],
        ));
        let page = fs::read_to_string(&path).expect("a page");
        assert_eq!(
            page.matches(SENTENCE).count(),
            usize::from(is_expected),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_command_to_paste_is_followed_by_what_makes_its_check_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("it's `date` $(date)");
    fs::create_dir(&site).expect("a folder");
    for file in [
        "qstat.json",
        "server.json",
        "queues.json",
        "resourcedef",
        "sched_priv/resource_group",
    ] {
        let path = site.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::copy(jsf_testing::path(&format!("{SITE}/{file}")), path).expect("a file");
    }
    let site = site.to_str().expect("a path");
    let answer = |formula: &str| success(&jsf(&["check", formula, "--qmgr", "--site", site]));
    assert_eq!(
        answer(INDEPENDENT),
        "qmgr -c 'set server job_sort_formula=\"ncpus\"'\n"
    );
    let dependent = answer(DEPENDENT);
    let (command, comments) = dependent.split_once('\n').expect("a line");
    assert_eq!(
        command,
        format!("qmgr -c 'set server job_sort_formula=\"{DEPENDENT}\"'")
    );
    let comment = comments
        .lines()
        .find(|line| line.contains(SENTENCE))
        .expect("the warning");
    // a shell without comments takes it as one text
    let text = comment.strip_prefix("# ").expect("a comment");
    let shell = std::process::Command::new("sh")
        .args(["-c", &format!("printf %s {text}")])
        .output()
        .expect("sh runs");
    let expected = format!(
        "warning: `{site}/sched_priv/resource_group` is given without the file `usage`: {SENTENCE}"
    );
    assert_eq!(stdout(&shell), expected);
}

#[test]
fn a_terminal_shows_a_warning_once() {
    let on_screen = |arguments: &[&str], more: &[&str]| {
        let arguments = [arguments, &["--site", SITE], more].concat();
        command()
            .args(arguments)
            .env("JSF_LINES", "24")
            .env("COLUMNS", "500")
            .output()
            .expect("an output")
    };
    let shares = [(vec!["shares"], &[][..])];
    for (arguments, others) in commands(DEPENDENT).into_iter().chain(shares) {
        for more in [&[][..], &["--full"], &["--format", "markdown"]] {
            let output = on_screen(&arguments, more);
            assert_eq!(
                success(&output).matches(SENTENCE).count(),
                1,
                "{arguments:?} {more:?}"
            );
            assert!(
                !stderr(&output).contains(SENTENCE),
                "{arguments:?} {more:?}"
            );
        }
        for format in others {
            let output = on_screen(&arguments, &["--format", format]);
            assert_eq!(
                stderr(&output).matches(SENTENCE).count(),
                1,
                "{arguments:?} {format}"
            );
        }
    }
    let output = on_screen(&["check", DEPENDENT, "--qmgr"], &[]);
    assert!(success(&output).contains(SENTENCE) && !stderr(&output).contains(SENTENCE));
    // without an answer
    let output = on_screen(&["explain", DEPENDENT, "--job", JOB, "--to", "99999"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output).matches(SENTENCE).count(),
        1,
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_cycle_on_processors_alone_names_what_it_does_not_count() {
    let cycle = |more: &[&str]| {
        let arguments = [
            "cycle",
            "ncpus",
            "--queue",
            "-",
            "--processors",
            "8",
            "--at",
            "2000",
        ];
        jsf_with_input(&[&arguments, more].concat(), JOBS)
    };
    for format in ["human", "markdown"] {
        let answer = success(&cycle(&["--format", format]));
        assert!(answer.contains(NOT_COUNTED), "{format}: {answer}");
        assert!(
            answer.contains("`licences` and `ngpus`"),
            "{format}: {answer}"
        );
    }
    let expected = "the machine is a number of processors: waiting jobs ask for `licences` and `ngpus` too, which is not \
                    counted, so none waits for it";
    assert_eq!(in_json(&cycle(&["--format", "json"])), [expected]);
    // what the scheduler does not look at, or what the server has as a whole, is not missing
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path.to_str().expect("a path").to_owned()
    };
    let server = file(
        "server",
        "create queue workq\nset server resources_available.licences = 5\n",
    );
    let resources = file(
        "resourcedef",
        "licences type=long flag=q\nngpus type=long flag=hn\n",
    );
    for (checked, expected) in [
        ("ncpus", None),
        ("ncpus, ngpus", Some("waiting jobs ask for `ngpus` too")),
        (
            "ncpus, ngpus, licences",
            Some("waiting jobs ask for `ngpus` too"),
        ),
        ("ncpus, licences", None),
    ] {
        let config = file(
            "sched_config",
            &format!("resources: \"{checked}\"\nfair_share: False ALL\n"),
        );
        let files = [
            "--sched-config",
            &config,
            "--queues",
            &server,
            "--resources",
            &resources,
            "--format",
            "json",
        ];
        let warnings = in_json(&cycle(&files));
        let found = warnings
            .iter()
            .find(|warning| warning.starts_with("the machine is a number"));
        assert_eq!(
            found.is_some(),
            expected.is_some(),
            "{checked}: {warnings:?}"
        );
        assert!(
            expected.is_none_or(|part| found.is_some_and(|warning| warning.contains(part))),
            "{checked}: {found:?}"
        );
    }
}

#[test]
fn a_warning_is_said_where_nothing_else_is_written() {
    let site = ["--site", SITE];
    for command in [
        // no command is printed for a formula with an error, and of a running job nothing is shown
        &["check", "--qmgr", "fairshare_factor+1/0"][..],
        &["trajectory", "fairshare_factor", "--job", "184148.kestrel"],
    ] {
        let said = stderr(&jsf(&[command, &site].concat()));
        assert!(said.contains(SENTENCE), "{command:?}: {said}");
    }
}
