//! Exit codes, output streams and error messages of the commands.

use std::fs;
use std::process::{Output, Stdio};

use clap::CommandFactory;
use jsf::process::Cli;
use serde_json::Value;

use crate::cli::help;
use crate::command::{command, jsf, jsf_with_input, json, said, stderr, stdout};

const QSTAT: &str = "tests/golden/openpbs/qstat";

/// The arguments of the recorded site.
fn site() -> Vec<String> {
    let file = |name: &str| format!("{QSTAT}/{name}");
    [
        "--queue",
        &file("qstat_f.json"),
        "--sched-priv",
        QSTAT,
        "--queues",
        &file("qstat_Qf.json"),
        "--resources",
        &file("resourcedef"),
    ]
    .map(str::to_owned)
    .to_vec()
}

fn on_the_site(command: &str, formula: &str, more: &[&str]) -> Output {
    let site = site();
    let mut arguments = vec![command, formula];
    arguments.extend(site.iter().map(String::as_str));
    arguments.extend(more);
    jsf(&arguments)
}

#[test]
fn rank_as_json_has_jobs_errors_and_a_summary() {
    let output = on_the_site(
        "rank",
        "pow(2, -(fairshare_tree_usage/fairshare_perc))",
        &["--format", "json"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let jobs = document["jobs"].as_array().expect("jobs");
    assert_eq!(document["summary"]["jobs"], 59);
    assert_eq!(document["summary"]["errors_by_kind"]["division by zero"], 2);
    assert_eq!(
        (&jobs[0]["rank"], &jobs[0]["id"], &jobs[0]["logged"]),
        (&1.into(), &"8.vm".into(), &"0.9853".into())
    );
    let nil = jobs.iter().find(|job| job["id"] == "4.vm").expect("4.vm");
    assert_eq!(nil["error"]["message"], "float division by zero");
    assert_eq!(
        (
            nil["error"]["span"]["start"].as_u64(),
            nil["error"]["span"]["end"].as_u64()
        ),
        (Some(9), Some(44))
    );
    assert_eq!((&nil["score"], &nil["exact"]), (&0.0.into(), &Value::Null));
    let held = jobs.iter().find(|job| job["id"] == "51.vm").expect("51.vm");
    assert_eq!(
        (&held["rank"], &held["considered"]),
        (&Value::Null, &false.into())
    );
    let invalid = jobs.iter().find(|job| job["id"] == "17.vm").expect("17.vm");
    assert_eq!(
        (&held["excluded"], &nil["excluded"], &invalid["excluded"]),
        (&"state".into(), &Value::Null, &"invalid".into())
    );
    assert!(
        invalid["reason"]
            .as_str()
            .expect("a reason")
            .contains("`3pb` of `mem`")
    );
}

#[test]
fn on_error_decides_what_a_failing_job_gets() {
    let formula = "eligible_time / (ncpus - 1)";
    let zero = on_the_site("rank", formula, &["--format", "json"]);
    assert_eq!(
        (
            zero.status.code(),
            json(&zero)["summary"]["errors"].as_u64()
        ),
        (Some(0), Some(40))
    );
    let fail = on_the_site("rank", formula, &["--format", "json", "--on-error", "fail"]);
    assert_eq!(fail.status.code(), Some(1));
    let null = on_the_site("rank", formula, &["--format", "json", "--on-error", "null"]);
    let document = json(&null);
    let last = document["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .rfind(|job| !job["rank"].is_null())
        .expect("a job");
    assert_eq!(
        (&last["score"], last["error"].is_null()),
        (&Value::Null, false)
    );
}

#[test]
fn selected_jobs_keep_their_ranks() {
    let output = on_the_site(
        "rank",
        "ncpus",
        &[
            "--format", "csv", "--entity", "Bob", "--top", "3", "--inputs",
        ],
    );
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[0],
        "rank,id,entity,queue,state,score,exact,logged,error,considered,excluded,reason,ncpus"
    );
    assert_eq!(
        (lines.len(), lines[1]),
        (4, "6,12.vm,Bob,workq,Q,8.0,8,8,,true,,,8")
    );
    let output = on_the_site(
        "rank",
        "ncpus",
        &["--format", "ndjson", "--queue-name", "alcf"],
    );
    assert_eq!(stdout(&output).lines().count(), 3);
}

#[test]
fn the_example_of_pp718_has_its_factors_under_both_rules() {
    let queue = r#"{"id":"1","entity":"Bob"}
{"id":"2","entity":"Suzy"}"#;
    let factors = |rules: &str| {
        let arguments = [
            "rank",
            "fairshare_factor",
            "--queue",
            "-",
            "--tree",
            "tests/data/pp718.json",
            "--format",
            "json",
        ];
        let output = jsf_with_input(&[&arguments[..], &["--rules", rules]].concat(), queue);
        let document = json(&output);
        let jobs = document["jobs"].as_array().expect("jobs");
        jobs.iter()
            .map(|job| job["exact"].as_str().expect("a value").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(factors("documented"), ["0.64842", "0.381859"]);
    assert_eq!(factors("scheduler"), ["0.647718", "0.381798"]);
}

#[test]
fn findings_give_exit_code_1() {
    let output = jsf(&["check", "ncpus && walltme"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("`&&` is not a Python operator; write `and`"));
    let output = jsf(&["check", "ncpus * walltme", "--format", "json"]);
    let document = json(&output);
    assert_eq!(document["verdict"]["code"], 15124);
    assert_eq!(document["findings"][0]["fix"]["replacement"], "walltime");
    let output = jsf(&["check", "ncpus"]);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(0), "qmgr: accepts the formula\n".to_owned())
    );
}

#[test]
fn check_prints_a_quoted_qmgr_command() {
    let output = jsf(&["check", "max(ncpus, 1) * 10", "--qmgr"]);
    assert_eq!(
        stdout(&output),
        "qmgr -c 'set server job_sort_formula=\"max(ncpus, 1) * 10\"'\n"
    );
    for options in [&["--qmgr"][..], &["--qmgr", "--force"]] {
        let output = jsf(&[&["check", "ncpus & 1"], options].concat());
        assert_eq!(
            (output.status.code(), stdout(&output)),
            (Some(1), String::new())
        );
        assert!(
            stderr(&output).contains("qmgr does not accept `&`"),
            "{}",
            stderr(&output)
        );
    }
    assert!(stdout(&jsf(&["check", "ncpus & 1"])).contains("qmgr: does not pass the formula on"));
}

#[test]
fn check_evaluates_every_job() {
    let document = json(&on_the_site("check", "log(mem)", &["--format", "json"]));
    assert_eq!(
        (
            document["jobs"]["total"].as_u64(),
            document["jobs"]["errors"].as_u64()
        ),
        (Some(59), Some(42))
    );
    assert_eq!(document["crashes_scheduler"], false);
    let document = json(&on_the_site("check", "ncpus, mem", &["--format", "json"]));
    assert_eq!(document["crashes_scheduler"], true);
}

#[test]
fn fix_applies_safe_fixes_and_reports_the_rest() {
    let output = jsf(&[
        "check",
        "--fix",
        "math.LOG(NCPUS + 1) + 10 * fair_share_perc",
    ]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(0), "log(ncpus + 1) + 10 * fairshare_perc\n")
    );
    let fixes = stderr(&output);
    assert!(
        fixes.contains("jsf: fixed: JSF206: replaced `NCPUS` by `ncpus`\n"),
        "{fixes}"
    );
    assert!(
        fixes.contains("jsf: fixed: JSF203: replaced `fair_share_perc` by `fairshare_perc`\n"),
        "{fixes}"
    );
    let output = jsf(&["check", "--fix", "NCPUS + walltme"]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(1), "ncpus + walltme\n")
    );
    assert!(stderr(&output).contains("JSF201"), "{}", stderr(&output));
    let queue = "{\"id\":\"1.vm\",\"resources\":{\"ncpus\":1}}";
    let output = jsf_with_input(
        &["check", "--fix", "1 / (NCPUS - 1)", "--queue", "-"],
        queue,
    );
    assert_eq!(stdout(&output), "1 / (ncpus - 1)\n");
    assert!(stderr(&output).contains("JSF301"), "{}", stderr(&output));
}

#[test]
fn deny_and_allow_change_the_severity_of_findings() {
    let formula = "10 * fair_share_perc";
    assert_eq!(jsf(&["check", formula]).status.code(), Some(0));
    let output = jsf(&[
        "check",
        formula,
        "--deny",
        "JSF203,JSF504",
        "--deny",
        "jsf604",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("error[JSF203]"));
    let output = jsf(&["check", "walltme", "--allow", "JSF201", "--format", "json"]);
    assert_eq!(
        (
            output.status.code(),
            json(&output)["findings"].as_array().map(Vec::len)
        ),
        (Some(0), Some(0))
    );
    assert!(
        stderr(&output).contains("JSF201: an error that is not shown"),
        "{}",
        stderr(&output)
    );
    refused(&["check", formula, "--deny", "JSF999"], "", &["`JSF999`"]);
    refused(
        &["check", formula, "--deny", "JSF203", "--allow", "JSF203"],
        "",
        &["`JSF203`", "both"],
    );
}

#[test]
fn codes_lists_all_findings_and_prints_their_pages() {
    let list = stdout(&jsf(&["codes", "--full"]));
    assert!(list.starts_with("There are 63 kinds of findings"), "{list}");
    assert_eq!(
        list.lines().filter(|line| line.starts_with("JSF")).count(),
        63,
        "{list}"
    );
    assert!(list.contains("JSF203  warning           a deprecated name\n"));
    assert!(
        stdout(&jsf(&["codes", "jsf301"]))
            .starts_with("# JSF301: jobs in the queue for which the formula fails\n")
    );
    refused(&["codes", "JSF999"], "", &["`JSF999`", "jsf codes"]);
}

#[test]
fn a_threshold_is_compared_with_the_values_of_the_queue() {
    let codes = |more: &[&str]| {
        let document = json(&on_the_site(
            "check",
            "10 * ncpus",
            &[&["--format", "json"], more].concat(),
        ));
        let findings = document["findings"].as_array().expect("findings").clone();
        findings
            .iter()
            .map(|found| found["code"].as_str().expect("a code").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(&[]), [""; 0]);
    assert_eq!(codes(&["--threshold", "10"]), [""; 0]);
    assert_eq!(codes(&["--threshold", "1e9"]), ["JSF605"]);
    assert_eq!(codes(&["--threshold", "-1"]), ["JSF605"]);
}

#[test]
fn lines_after_the_first_are_reported() {
    for (formula, code) in [
        ("ncpus\n+ mem", 0),
        ("ncpus +\\\n mem", 1),
        ("ncpus +\nmem", 1),
    ] {
        let output = jsf(&["check", formula]);
        assert_eq!(output.status.code(), Some(code), "{formula}");
        assert!(
            stdout(&output).contains("PBS keeps only the first line"),
            "{}",
            stdout(&output)
        );
    }
    assert_eq!(
        jsf(&["check", "ncpus\n\n# the cores\n"]).status.code(),
        Some(0)
    );
}

/// The server refuses a text whose first line is empty, and one with a carriage return, which
/// belongs to the end of a line only in a file (`n` 501 and 503 of the recorded answers).
#[test]
fn an_empty_first_line_and_a_carriage_return_are_refused() {
    let value = |output: &Output| serde_json::from_slice::<Value>(&output.stdout).expect("JSON");
    for (formula, is_refused) in [
        ("\n1", true),
        ("\n# c\n1", true),
        ("1\r\n", true),
        ("1\n", false),
    ] {
        let given = jsf(&["check", "--format", "json", formula]);
        let code = if is_refused { 15011 } else { 0 };
        assert_eq!(value(&given)["verdict"]["code"], code, "{formula:?}");
        let code = if is_refused && !formula.starts_with('1') {
            15011
        } else {
            0
        };
        let read = jsf_with_input(&["check", "--format", "json", "-"], formula);
        assert_eq!(value(&read)["verdict"]["code"], code, "{formula:?}");
    }
}

/// A formula that the server wrote down has only names that the server knows.
#[test]
fn the_names_of_a_formula_that_the_server_wrote_are_known() {
    let formula = "weird_res + ncpus";
    let written = format!("### PBS INTERNAL FILE DO NOT MODIFY ###\n{formula}\n");
    for (text, code) in [(&*written, 0), (formula, 1)] {
        let output = jsf_with_input(&["check", "-"], text);
        assert_eq!(output.status.code(), Some(code), "{}", stdout(&output));
    }
}

/// A file of directives may be what the server has, or what it shall get: a name that nothing else
/// declares is told. The last directive counts, as `qmgr` runs all of them.
#[test]
fn directives_may_still_have_to_be_run() {
    let set = |formula: &str| format!("set server job_sort_formula = \"{formula}\"\n");
    let printed = format!("#\n# Set server attributes.\n#\n{}", set("nonsense * 2"));
    for (text, is_told) in [
        (set("nonsense * 2"), true),
        (set("ncpus * 2"), false),
        (printed, false),
    ] {
        let warnings = stderr(&jsf_with_input(&["check", "-"], &text));
        assert_eq!(
            warnings.contains("`nonsense`, which nothing else declares"),
            is_told,
            "{text}: {warnings}"
        );
    }
    let twice = jsf_with_input(
        &["check", "-", "--qmgr"],
        &(set("ncpus * 2") + &set("ncpus * 3")),
    );
    assert!(stdout(&twice).contains("ncpus * 3"), "{}", stdout(&twice));
    assert!(
        stderr(&twice).contains("`server.job_sort_formula` is given more than once"),
        "{}",
        stderr(&twice)
    );
    let unset = jsf_with_input(
        &["check", "-"],
        &(set("ncpus") + "unset server job_sort_formula\n"),
    );
    assert_eq!(unset.status.code(), Some(2), "{}", stdout(&unset));
}

/// The scheduler never gets a formula that the server refuses, so the help does not say what it
/// would do with it.
#[test]
fn the_help_of_a_refused_formula_is_not_about_the_scheduler() {
    let text = stdout(&jsf(&["check", "ncpus + 1\\"]));
    assert!(
        text.contains("15011") && text.contains("the scheduler never gets it"),
        "{text}"
    );
    assert!(
        !text.contains("may accept") && !text.contains("crashes"),
        "{text}"
    );
    let untold = stdout(&jsf(&["check", "ncpus = 3"]));
    assert!(
        untold.contains("the server may accept it") && untold.contains("cannot tell"),
        "{untold}"
    );
}

#[test]
fn the_formula_is_read_from_files_of_the_server() {
    for (option, file) in [
        ("--formula-file", "sched_formula"),
        ("--server", "qstat_Bf.json"),
        ("--server", "qmgr_print_server.txt"),
    ] {
        let path = format!("{QSTAT}/{file}");
        let output = jsf_with_input(
            &["rank", "--queue", "-", option, &path, "--format", "json"],
            r#"{"id":"1","resources":{"ncpus":3}}"#,
        );
        let document = json(&output);
        assert_eq!(
            (&document["formula"], &document["jobs"][0]["exact"]),
            (&"ncpus".into(), &"3".into())
        );
    }
}

/// Checks that the command ends with exit code 2, no standard output and an error message that
/// contains these words.
#[track_caller]
fn refused(arguments: &[&str], input: &str, words: &[&str]) {
    let output = jsf_with_input(arguments, input);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(stdout(&output), "");
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

#[test]
fn invalid_input_is_reported_with_its_location() {
    let rank = ["rank", "ncpus", "--queue", "-"];
    refused(&rank, "", &["standard input", "empty"]);
    refused(
        &rank,
        "{\"jobs\":[{\"id\":\"1.vm\"},",
        &["line 1, column ", "1 job was read", "cut off"],
    );
    refused(&rank, "[1, 2]", &["standard input", "expected"]);
    refused(&rank, "\u{1}\u{2}\u{3}", &["standard input"]);
    refused(
        &["rank", "ncpus", "--queue", "no/such/file"],
        "",
        &["`no/such/file`"],
    );
    refused(&["rank", "ncpus"], "", &["--queue"]);
    refused(&["rank", "--queue", "-"], "", &["no formula"]);
    refused(
        &["rank", "fairshare_factor", "--queue", "-"],
        "{\"id\":\"7.vm\"}",
        &["`fairshare_factor`", "`7.vm`", "--sched-priv"],
    );
    refused(
        &[
            "rank",
            "fairshare_factor",
            "--queue",
            "-",
            "--tree",
            "Cargo.toml",
        ],
        "{\"id\":\"7.vm\"}",
        &["Cargo.toml"],
    );
}

#[test]
fn an_invalid_line_does_not_affect_the_others() {
    let input = "{\"id\":\"1.vm\",\"resources\":{\"ncpus\":1}}\nnonsense\n{\"id\":\"2.vm\",\"resources\":{\"ncpus\":\"many\"}}\n{\"id\":\"3.vm\",\"resources\":{\"ncpus\":3}}\n";
    let output = jsf_with_input(&["rank", "ncpus", "--queue", "-", "--format", "csv"], input);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(
        text.contains("1,3.vm,") && text.contains("2,1.vm,"),
        "{text}"
    );
    assert!(stderr(&output).contains("line 2"), "{}", stderr(&output));
    assert!(text.contains(",2.vm,"), "{text}");
}

#[test]
fn an_empty_queue_is_not_an_error() {
    let output = jsf_with_input(
        &["rank", "ncpus", "--queue", "-", "--format", "json"],
        "{\"jobs\":[]}",
    );
    assert_eq!(
        (
            output.status.code(),
            json(&output)["summary"]["jobs"].as_u64()
        ),
        (Some(0), Some(0))
    );
}

#[test]
fn an_invalid_usage_file_is_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let usage = folder.path().join("usage");
    std::fs::write(&usage, [0xfb_u8; 1000]).expect("written");
    let site = site();
    let mut arguments = vec![
        "rank",
        "fairshare_perc",
        "--usage",
        usage.to_str().expect("UTF-8"),
    ];
    arguments.extend(site.iter().map(String::as_str));
    let output = jsf(&arguments);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        said(&output).contains("usage") && said(&output).contains("byte"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_closed_pipe_is_success() {
    let site = site();
    let mut command = command();
    command.arg("rank").arg("ncpus").args(&site);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("jsf starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("jsf ends");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// Examples in roff must reach the reader line by line, as they are typed: the renderer otherwise
/// joins and hyphenates them.
#[test]
fn man_pages_keep_the_lines_of_examples() {
    for command in help::commands() {
        let (page, help) = (
            stdout(&jsf(&["man", &command])),
            stdout(&jsf(&[&command, "--help"])),
        );
        let (_, examples) = page
            .split_once(".SH EXAMPLES\n.nf\n")
            .unwrap_or_else(|| panic!("{command}: {page}"));
        let (examples, _) = examples
            .split_once(".fi\n")
            .unwrap_or_else(|| panic!("{command}: {examples}"));
        assert!(!page.contains(".SH EXTRA"), "{command}");
        let plain = |line: &str| {
            let line = line.strip_prefix("\\&").unwrap_or(line);
            [
                ("\\-", "-"),
                ("\\(aq", "'"),
                ("\\(ga", "`"),
                ("\\(ha", "^"),
                ("\\(ti", "~"),
                ("\\e", "\\"),
            ]
            .iter()
            .fold(line.to_owned(), |line, (roff, typed)| {
                line.replace(roff, typed)
            })
        };
        let shown: Vec<String> = examples.lines().map(plain).collect();
        assert!(
            !shown.is_empty() && help.contains(&shown.join("\n")),
            "{command}: {shown:#?}\n{help}"
        );
    }
}

#[test]
fn help_fmt_completions_and_man_print_text() {
    for arguments in [
        &["--help"][..],
        &["rank", "--help"],
        &["check", "--help"],
        &["fmt", "--help"],
        &["codes", "--help"],
    ] {
        assert!(stdout(&jsf(arguments)).contains("Example"), "{arguments:?}");
    }
    assert_eq!(
        stdout(&jsf(&["fmt", "a+b*( c-1 )**2"])),
        "a + b * (c - 1)**2\n"
    );
    assert!(stdout(&jsf(&["completions", "bash"])).contains("_jsf"));
    assert!(stdout(&jsf(&["man"])).contains(".TH"));
}

/// What a simulation of three users writes, with and without their names.
fn simulated(folder: &std::path::Path, tree: &str, more: &[&str]) -> Output {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a path").to_owned()
    };
    let job = |id: usize| {
        let user = ["zqanna", "zqben", "zqcleo"][id % 3];
        format!(
            "{{\"id\":\"{id}.vm\",\"entity\":\"{user}\",\"group\":\"zqgroup\",\"queue\":\"workq\",\"submit\":{},\"run\":300,\
             \"resources\":{{\"ncpus\":4,\"walltime\":400}}}}\n",
            id * 10
        )
    };
    let log = write(
        "log.ndjson",
        &((0..60).map(job).collect::<String>() + "{\"id\":\"zqanna\"}\nzqben\n"),
    );
    let tree = write("tree.json", tree);
    let queues = write(
        "queues",
        "Queue: workq\n    queue_type = Execution\n    max_run = [u:zqben=1],[u:zqdan=1],[u:PBS_GENERIC=2]\n",
    );
    let formula = "fairshare_factor * 1000 + eligible_time / 3600 / (queue_priority + 1)";
    let given = [
        "simulate",
        formula,
        "--workload",
        &log,
        "--processors",
        "16",
        "--tree",
        &tree,
        "--queues",
        &queues,
    ];
    jsf(&[&given[..], more].concat())
}

/// A result without what --anonymise changes.
fn without_names(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(without_names).collect(),
        Value::Object(entries) => {
            let entries = entries
                .into_iter()
                .filter(|(key, _)| !["name", "entity", "warnings"].contains(&key.as_str()));
            entries
                .map(|(key, value)| (key, without_names(value)))
                .collect()
        }
        value => value,
    }
}

#[test]
fn an_anonymous_simulation_shows_no_name_and_has_the_same_result() {
    let trees = [
        r#"{"children":[{"name":"zqphys","shares":10,"children":[
            {"name":"zqanna","shares":90,"usage":5},{"name":"zqben","shares":1,"usage":9e9}]},{"name":"zqdan"}]}"#,
        r#"{"children":[{"name":"zqphys","shares":"parent","children":[{"name":"zqanna","shares":"parent","kk":1}]}]}"#,
        r#"{"children":[{"name":"zqanna","shares":1},{"name":"zqanna","shares":2}]}"#,
        r#"{"children":[{"name":"zqanna","shares":"x"}]}"#,
        "Cluster - 'zq'\nParent - 'root'\nAccount - 'zqphys':Fairshare=parent\nParent - 'zqnone'\nUser - 'zqben':Fairshare=x\n",
        "Account|User|RawShares|RawUsage\nzqphys|zqanna|1|2\nzqphys|zqanna|1|2\nzqx|zqben|y|2\n",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let goals = folder.path().join("goals.toml");
    let goal = |name: &str, entity: &str| {
        format!(
            "[[goal]]\nname = \"{name}\"\nentity = \"{entity}\"\nmeasure = \"wait\"\nstatistic = \"mean\"\nat_most = \"900h\"\n"
        )
    };
    std::fs::write(&goals, goal("one", "zqanna") + &goal("two", "zqann")).expect("written");
    let goals = goals.to_str().expect("UTF-8");
    let (mut named, mut compared) = (0, 0);
    for tree in trees {
        for more in [
            &[][..],
            &["--format", "json"],
            &["--format", "csv"],
            &["--rules", "scheduler"],
            &["--old", "ncpus", "--new", "0-ncpus"],
            &["--format", "json", "--goals", goals],
        ] {
            let known = simulated(folder.path(), tree, more);
            let hidden = simulated(folder.path(), tree, &[more, &["--anonymise"]].concat());
            assert_eq!(
                known.status.code(),
                hidden.status.code(),
                "{tree} {more:?}: {}",
                stderr(&hidden)
            );
            for text in [stdout(&hidden), stderr(&hidden)] {
                assert!(!text.contains("zq"), "{tree} {more:?}: {text}");
            }
            named += usize::from(stderr(&known).contains("zq"));
            if more.starts_with(&["--format", "json"]) && known.status.code() == Some(0) {
                assert_eq!(
                    without_names(json(&known)),
                    without_names(json(&hidden)),
                    "{tree}"
                );
                compared += 1;
            }
        }
    }
    assert!(
        named > 10 && compared > 0,
        "{named} warnings with names, {compared} results"
    );
}

/// A formula that cannot work, fails for every job, or fails for one under `--on-error fail` is a
/// finding, whatever the command.
#[test]
fn a_formula_that_cannot_work_is_a_finding_of_every_command() {
    const SITE: &[&str] = &["--site", "examples/site"];
    let of_jobs: &[&[&str]] = &[
        &["rank"],
        &["explain", "--job", "184598"],
        &["trajectory", "--job", "184598"],
        &["cycle"],
        &["shares", "--charge", "jsolberg=5", "--formula"],
    ];
    let exit_code = |call: &[&str], more: &[&str]| jsf(&[call, more, SITE].concat()).status.code();
    for call in of_jobs {
        assert_eq!(exit_code(call, &["nosuch"]), Some(1), "{call:?}");
        assert_eq!(exit_code(call, &["1/(ncpus-ncpus)"]), Some(1), "{call:?}");
        assert_eq!(exit_code(call, &["1/fairshare_perc"]), Some(0), "{call:?}");
        assert_eq!(
            exit_code(call, &["1/fairshare_perc", "--on-error", "fail"]),
            Some(1),
            "{call:?}"
        );
    }
    assert_eq!(
        exit_code(&["replay", "examples/site/sched.log"], &["nosuch"]),
        Some(1)
    );
    for call in [
        &["trajectory", "--job", "184598"][..],
        &["explain", "--job", "184598"],
        of_jobs[4],
    ] {
        let output = jsf(&[call, &["1/fairshare_perc"], SITE].concat());
        assert!(
            stderr(&output).contains("fails for 1 job, first for `184127.kestrel`"),
            "{}",
            stderr(&output)
        );
    }
}

/// `by_queue` changes the order of the jobs, and no value.
#[test]
fn an_order_that_a_setting_changes_is_not_called_the_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let config =
        std::fs::read_to_string(jsf_testing::path("examples/site/sched_priv/sched_config"))
            .expect("the example");
    let by_queue: String = config
        .lines()
        .filter(|line| !line.starts_with("by_queue:"))
        .map(|line| format!("{line}\n"))
        .collect();
    let path = folder.path().join("sched_config");
    std::fs::write(&path, by_queue + "by_queue: true ALL\n").expect("written");
    let path = path.to_str().expect("UTF-8");
    let formula = "fairshare_factor";
    let call = [
        "compare",
        "--old",
        formula,
        "--new",
        formula,
        "--new-sched-config",
        path,
        "--site",
        "examples/site",
    ];
    let output = stdout(&jsf(&call));
    let first = output.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("By value the new order is nearly the old one (tau-b 1.00): ")
            && first.contains(" of 33 jobs moved"),
        "{first}"
    );
}

/// The commands with what they do and their formats, as their arguments say it.
fn table_of_commands(page: &str) -> String {
    let mut text = String::from("| command | what it does | formats |\n|---|---|---|\n");
    let mut all = Cli::command();
    all.build();
    for command in all
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
    {
        let name = command.get_name();
        let about = command.get_about().expect("a sentence");
        let format = command
            .get_arguments()
            .find(|argument| argument.get_long() == Some("format"));
        let values = format
            .map(|format| format.get_possible_values())
            .unwrap_or_default();
        let values: Vec<String> = values
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let has_section = page.contains(&format!("\n## {name}\n"));
        let linked = if has_section {
            format!("[`jsf {name}`](#{name})")
        } else {
            format!("`jsf {name}`")
        };
        text += &format!("| {linked} | {about} | {} |\n", values.join(", "));
    }
    text
}

#[test]
fn the_page_lists_the_commands() {
    let path = jsf_testing::path("docs/commands.md");
    let page = fs::read_to_string(&path).expect("a page");
    let (before, rest) = page
        .split_once("<!-- commands -->\n")
        .expect("the place of the table");
    let (listed, after) = rest.split_once("<!-- end -->\n").expect("its end");
    let table = table_of_commands(&page);
    if std::env::var_os("JSF_WRITE_DOCS").is_some() {
        let written = format!("{before}<!-- commands -->\n{table}<!-- end -->\n{after}");
        fs::write(&path, written).expect("written");
        return;
    }
    assert_eq!(listed, table, "JSF_WRITE_DOCS=1 writes it anew");
}
