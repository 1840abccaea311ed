//! The options of `jsf check` and `jsf fmt`, the sources of a formula, and what reaches a terminal.

use crate::command::{jsf, jsf_with_input, json, said, stderr, stdout};

#[track_caller]
fn check(arguments: &[&str], code: i32, out: &str) -> String {
    let output = jsf(&[&["check"], arguments].concat());
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(code), out),
        "{}",
        stderr(&output)
    );
    stderr(&output)
}

#[test]
fn no_qmgr_command_is_printed_for_a_formula_with_an_error() {
    let message = check(&["--qmgr", "walltme"], 1, "");
    assert!(
        message.contains("JSF201") && message.contains("--force"),
        "{message}"
    );
    check(
        &["--qmgr", "--force", "walltme"],
        1,
        "qmgr -c 'set server job_sort_formula=\"walltme\"'\n",
    );
    check(
        &["--qmgr", "ncpus", "--deny", "JSF6"],
        0,
        "qmgr -c 'set server job_sort_formula=\"ncpus\"'\n",
    );
    assert_eq!(jsf(&["check", "--force", "ncpus"]).status.code(), Some(2));
}

#[test]
fn a_quote_in_a_comment_is_an_error() {
    let message = check(&["--qmgr", "ncpus  # it's"], 1, "");
    assert!(
        message.contains("JSF106") && message.contains("FORMULA:1:12"),
        "{message}"
    );
    check(
        &["--qmgr", "ncpus  # it is"],
        0,
        "qmgr -c 'set server job_sort_formula=\"ncpus  # it is\"'\n",
    );
}

#[test]
fn fixes_are_applied_before_the_qmgr_command_is_printed() {
    let message = check(
        &["--fix", "--qmgr", "math.log(NCPUS + 1)"],
        0,
        "qmgr -c 'set server job_sort_formula=\"log(ncpus + 1)\"'\n",
    );
    assert!(
        message.contains("fixed: JSF206: replaced `NCPUS` by `ncpus`"),
        "{message}"
    );
    check(&["--fix", "--qmgr", "NCPUS + walltme"], 1, "");
}

#[test]
fn unsafe_fixes_are_applied_only_on_request() {
    check(&["--fix", "NCPUS + walltme"], 1, "ncpus + walltme\n");
    let message = check(
        &["--unsafe-fixes", "NCPUS + walltme"],
        0,
        "ncpus + walltime\n",
    );
    assert!(
        message.contains("fixed: JSF201: replaced `walltme` by `walltime`"),
        "{message}"
    );
    check(
        &["--fix", "--unsafe-fixes", "--qmgr", "walltme"],
        0,
        "qmgr -c 'set server job_sort_formula=\"walltime\"'\n",
    );
}

#[test]
fn warnings_prefixes_and_a_selection_set_the_exit_code() {
    let code = |arguments: &[&str]| {
        jsf(&[&["check", "10 * fair_share_perc"], arguments].concat())
            .status
            .code()
    };
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--deny", "warnings"]), Some(1));
    assert_eq!(code(&["--deny", "JSF2"]), Some(1));
    assert_eq!(code(&["--deny", "JSF3"]), Some(0));
    assert_eq!(code(&["--deny", "warnings", "--allow", "JSF203"]), Some(0));
    assert_eq!(code(&["--deny", "JSF203", "--allow", "JSF2"]), Some(1));
    assert_eq!(code(&["--deny", "warnings", "--select", "JSF3"]), Some(0));
    assert_eq!(code(&["--deny", "JSF9"]), Some(2));
    assert_eq!(
        jsf(&["check", "ncpus +", "--select", "JSF6"]).status.code(),
        Some(1)
    );
}

#[test]
fn no_command_is_printed_for_an_error_that_is_hidden() {
    for hiding in [["--select", "JSF5"], ["--allow", "JSF201"]] {
        let message = check(&[&["ncpuss", "--qmgr"], &hiding[..]].concat(), 1, "");
        assert!(
            message.contains("JSF201: an error that is not shown") && message.contains("--force"),
            "{message}"
        );
        let output = jsf(&[&["check", "ncpuss"], &hiding[..]].concat());
        assert_eq!(output.status.code(), Some(0));
        assert!(stderr(&output).contains("JSF201: an error that is not shown"));
        assert_eq!(
            stdout(&output),
            "qmgr: refuses the formula (15124: Formula contains invalid keyword)\n"
        );
    }
    check(
        &["ncpuss", "--qmgr", "--force", "--select", "JSF5"],
        1,
        "qmgr -c 'set server job_sort_formula=\"ncpuss\"'\n",
    );
    check(&["place", "--qmgr", "--select", "JSF5"], 1, "");
}

#[test]
fn the_object_of_a_pasted_directive_is_kept() {
    let kept = |text: &str, object: &str| {
        check(
            &[text, "--qmgr"],
            0,
            &format!("qmgr -c 'set {object} job_sort_formula=\"ncpus\"'\n"),
        );
    };
    kept(
        "set sched multi1 job_sort_formula=\"ncpus\"",
        "sched multi1",
    );
    kept(
        "set sched multi1 job_sort_formula = 'ncpus'",
        "sched multi1",
    );
    kept(
        "qmgr -c \"set sched multi1 job_sort_formula = \\\"ncpus\\\"\"",
        "sched multi1",
    );
    kept("set server vm job_sort_formula = ncpus", "server vm");
    kept("set server job_sort_formula = ncpus", "server");
    kept("job_sort_formula = ncpus", "server");
    let listing = "Sched multi1\n    partition = a\n    job_sort_formula = ncpus\n";
    let output = jsf_with_input(&["check", "-", "--qmgr"], listing);
    assert_eq!(
        stdout(&output),
        "qmgr -c 'set sched multi1 job_sort_formula=\"ncpus\"'\n"
    );
    let output = jsf_with_input(&["check", "-", "--qmgr", "--threshold", "-0.5"], listing);
    let threshold = "qmgr -c 'set sched multi1 job_sort_formula_threshold = -0.5'\n";
    assert!(
        stdout(&output).ends_with(&format!("\n{threshold}")),
        "{}",
        stdout(&output)
    );
    check(
        &["--fix", "--qmgr", "set sched m job_sort_formula=\"NCPUS\""],
        0,
        "qmgr -c 'set sched m job_sort_formula=\"ncpus\"'\n",
    );
}

#[test]
fn options_that_cannot_be_meant_are_refused() {
    let refused = |arguments: &[&str], expected: &str| {
        let output = jsf(arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
    };
    let queue = ["--queue", "examples/site/qstat.json"];
    refused(
        &[&["check", "ncpus", "--slurm-conf", "README.md"], &queue[..]].concat(),
        "expected `slurm.conf`",
    );
    refused(
        &[&["rank", "ncpus", "--usage", "README.md"], &queue[..]].concat(),
        "give --resource-group FILE too",
    );
    refused(
        &[&["rank", "ncpus", "--threshold", "nan"], &queue[..]].concat(),
        "`nan` is not a threshold",
    );
    refused(
        &[
            "compare",
            "--site",
            "examples/site",
            "--new-threshold",
            "NaN",
        ],
        "`NaN` is not a threshold",
    );
    refused(
        &[&["rank", "--formula", "ncpus"], &queue[..]].concat(),
        "tip: the formula has no option: give it by itself",
    );
    refused(
        &[&["rank", "--formula=ncpus"], &queue[..]].concat(),
        "no such option; give the formula by itself",
    );
    refused(
        &["shares", "--site", "examples/site", "--decay", "-1h"],
        "invalid value '-1h' for '--decay <DURATION>'",
    );
    refused(
        &["rank", "--quee", "examples/site/qstat.json", "ncpus"],
        "tip: there is no option --quee",
    );
    refused(
        &[
            "rank",
            "--top=3",
            "--color=never",
            "--user=ada",
            "ncpus",
            "*",
            "2",
        ],
        "tip: a formula is one argument",
    );
    refused(
        &[&["rank", "ncpus", "--job", "184598,"], &queue[..]].concat(),
        "expected a name before and after each comma",
    );
    refused(
        &["shares", "--tree", "examples/site/sched_priv"],
        "it is a folder; give a file of it",
    );
    refused(
        &[
            &["explain", "ncpus", "--job", "184598", "--within", "3d"],
            &queue[..],
        ]
        .concat(),
        "--to <N>",
    );
    for release in ["24", "24.5", "x", "1.2.3"] {
        refused(
            &[
                "shares",
                "--site",
                "examples/site",
                "--slurm-release",
                release,
            ],
            "expected its year and month such as",
        );
    }
    refused(
        &[
            "shares",
            "--site",
            "examples/site",
            "--slurm-release",
            "99.01",
        ],
        "`99.01` is newer than 26.11, the newest release whose rules are known",
    );
}

#[test]
fn options_without_effect_are_named() {
    let (queue, tree) = (
        ["--queue", "examples/site/qstat.json"],
        ["--tree", "examples/site/tree.json"],
    );
    let sched_priv = ["--sched-priv", "examples/site/sched_priv"];
    for (arguments, expected) in [
        (
            [&["rank", "ncpus"], &queue[..], &tree, &sched_priv].concat(),
            "--tree gives the fair-share tree: resource_group and usage in --sched-priv have no effect",
        ),
        (
            [
                &["compare", "--old", "ncpus", "--new", "mem"],
                &queue[..],
                &tree,
                &sched_priv,
            ]
            .concat(),
            "--tree gives the fair-share tree",
        ),
    ] {
        let output = jsf(&arguments);
        let notes = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {notes}");
        assert_eq!(
            notes.matches(&format!("jsf: note: {expected}")).count(),
            1,
            "{arguments:?}: {notes}"
        );
    }
    for arguments in [
        [&["rank", "ncpus", "--wide"], &queue[..], &tree].concat(),
        [
            &[
                "shares",
                "--policy",
                "all",
                "--active",
                "Bob",
                "--slurm-release",
                "22.05",
            ],
            &tree[..],
        ]
        .concat(),
        [
            &[
                "compare",
                "--old",
                "ncpus",
                "--new-tree",
                "tests/data/pp718.json",
            ],
            &queue[..],
            &sched_priv,
        ]
        .concat(),
    ] {
        let output = jsf(&arguments);
        assert!(
            !stderr(&output).contains("no effect"),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_release_of_slurm_follows_the_rules_of_the_release_that_is_known() {
    let described = |release: &str| {
        let tree = [
            "shares",
            "--tree",
            "examples/site/tree.json",
            "--policy",
            "fair-tree",
            "--slurm-release",
            release,
        ];
        stdout(&jsf(&tree))
    };
    assert!(
        described("24.05").contains("26.11") && described("24.05.3") == described("26.11"),
        "{}",
        described("24.05")
    );
    assert!(
        described("23.02").contains("22.05") && described("23.02") == described("22.05"),
        "{}",
        described("23.02")
    );
}

#[test]
fn a_declaration_that_a_document_or_openpbs_contradicts_has_a_warning() {
    let warned = |arguments: &[&str]| stderr(&jsf(&[&["check", "ncpus"], arguments].concat()));
    let message = warned(&["--resource", "ncpus=string"]);
    assert!(
        message.contains(
            "`ncpus` was declared as string, but OpenPBS or a file of the site has it as long, which is used"
        ),
        "{message}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("resourcedef");
    std::fs::write(&file, "score type=float\n").expect("written");
    let file = file.to_str().expect("UTF-8");
    let message = warned(&["--resource", "score=string", "--resources", file]);
    assert!(
        message.contains("a file of the site has it as float"),
        "{message}"
    );
    assert_eq!(
        warned(&["--resource", "score=float", "--resources", file]),
        ""
    );
    assert_eq!(warned(&["--resource", "ncpus"]), "");
}

#[test]
fn settings_that_are_assumed_without_sched_config_are_named_once() {
    let site = "examples/site/sched_priv";
    let (group, usage) = (format!("{site}/resource_group"), format!("{site}/usage"));
    let folder = tempfile::tempdir().expect("a folder");
    for file in [&group, &usage] {
        let name = file.rsplit('/').next().expect("a name");
        std::fs::copy(jsf_testing::path(file), folder.path().join(name)).expect("copied");
    }
    let folder = folder.path().to_str().expect("UTF-8");
    let queue = [
        "rank",
        "fairshare_factor",
        "--queue",
        "examples/site/qstat.json",
    ];
    for context in [
        &["--sched-priv", folder][..],
        &["--resource-group", &group, "--usage", &usage],
    ] {
        let message = said(&jsf(&[&queue, context].concat()));
        assert_eq!(
            message.matches("there is no `sched_config`").count(),
            1,
            "{message}"
        );
        for setting in [
            "unknown_shares 0",
            "fairshare_usage_res cput",
            "fairshare_entity euser",
            "0.5 every",
        ] {
            assert!(message.contains(setting), "{message}");
        }
    }
    let message = said(&jsf(&[&queue[..], &["--sched-priv", site]].concat()));
    assert!(!message.contains("there is no `sched_config`"), "{message}");
    let message = said(&jsf(&["check", "ncpus", "--site", folder, "-v"]));
    let missing = message
        .lines()
        .find(|line| line.contains("missing: `sched_priv/sched_config`"))
        .expect("a line");
    assert!(
        missing.contains("unknown_shares") && missing.contains("fairshare_usage_res"),
        "{missing}"
    );
}

#[test]
fn values_beyond_the_range_of_a_float_tie_for_that_reason() {
    let text = stdout(&jsf(&["check", "ncpus*1e40", "--site", "examples/site"]));
    assert!(
        text.contains("exceed the range of float32 (3.4e38)") && !text.contains("24 bits"),
        "{text}"
    );
}

#[test]
fn a_misspelled_entity_and_an_empty_queue_are_noticed() {
    let output = jsf(&[
        "shares",
        "--site",
        "examples/site",
        "--charge",
        "jsolbreg=5",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("did you mean `jsolberg`"),
        "{}",
        stderr(&output)
    );
    let output = jsf_with_input(&["check", "ncpus", "--queue", "-"], "{\"Jobs\":{}}");
    assert!(
        stdout(&output).contains("the formula was tried on no job: `"),
        "{}",
        stdout(&output)
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_slurm_conf_without_flags_says_nothing_of_the_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("slurm.conf");
    std::fs::write(&conf, "ClusterName=c\n").expect("written");
    let tree = "tests/golden/slurm/files/t08_parent_users/classic_d1.sshare_a_l_P.txt";
    let output = jsf(&[
        "shares",
        "--tree",
        tree,
        "--slurm-conf",
        conf.to_str().expect("UTF-8"),
    ]);
    let expected =
        "not printed under fair-tree, which `slurm.conf` says or has by default, and which is used";
    assert!(said(&output).contains(expected), "{}", said(&output));
}

#[test]
fn a_type_that_only_the_amounts_show_is_not_taken_for_granted() {
    let job = |amount: &str| {
        format!(
            r#"{{"Jobs":{{"1.vm":{{"euser":"a","job_state":"Q","Resource_List":{{"r_str":{amount}}}}}}}}}"#
        )
    };
    let warned = |amount: &str, more: &[&str]| {
        let output = jsf_with_input(
            &[&["check", "r_str", "--queue", "-"], more].concat(),
            &job(amount),
        );
        (
            output.status.code(),
            stderr(&output).contains("no document declares `r_str`, whose amounts are numbers"),
        )
    };
    assert_eq!(warned("5", &[]), (Some(0), true));
    assert_eq!(warned("5", &["--resource", "r_str"]), (Some(0), false));
    assert_eq!(
        warned("5", &["--resource", "r_str=string"]),
        (Some(1), false)
    );
    assert_eq!(warned("\"5\"", &[]), (Some(1), false));
    assert_eq!(warned("\"x\"", &[]), (Some(1), false));
    let verdict = |more: &[&str]| {
        let check = |format| {
            jsf_with_input(
                &[
                    &["check", "r_str", "--queue", "-", "--format", format],
                    more,
                ]
                .concat(),
                &job("5"),
            )
        };
        let json: serde_json::Value = serde_json::from_slice(&check("json").stdout).expect("JSON");
        (
            stdout(&check("human"))
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
            json["guessed_types"].clone(),
        )
    };
    let guessed = "qmgr: accepts the formula if these are numeric resources, which is guessed from the jobs: `r_str`; --resource \
                   NAME=TYPE declares one";
    assert_eq!(
        verdict(&[]),
        (guessed.to_owned(), serde_json::json!(["r_str"]))
    );
    assert_eq!(
        verdict(&["--resource", "r_str"]),
        (
            "qmgr: accepts the formula".to_owned(),
            serde_json::Value::Null
        )
    );
}

#[test]
fn a_formula_that_cannot_work_is_ranked_with_exit_code_1() {
    let rank = |formula: &str| {
        let queue = r#"{"id":"1.vm","resources":{"ncpus":1}}"#;
        jsf_with_input(&["rank", formula, "--queue", "-", "--format", "csv"], queue)
    };
    assert_eq!(rank("ncpus").status.code(), Some(0));
    for formula in [
        "walltme",
        "ncpus +",
        "1 / (ncpus - 1)",
        "ncpus if ncpus else walltme",
        "[1, 2]",
        "__import__('os')",
    ] {
        let output = rank(formula);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{formula}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let is_clean = |text: &str| {
        !text
            .chars()
            .any(|character| character.is_control() && character != '\n')
    };
    let output = jsf(&["check", "ncpus * x\u{1b}[2J\u{9b}31m", "--format", "human"]);
    assert!(is_clean(&stdout(&output)), "{:?}", stdout(&output));
    let output = jsf(&["rank", "ncpus", "--queue", "no\u{1b}[2Jfile"]);
    assert!(
        is_clean(&stderr(&output)) && stderr(&output).contains(r"no\x1b[2Jfile"),
        "{:?}",
        stderr(&output)
    );
}

#[test]
fn findings_of_one_kind_are_shown_ten_times() {
    let text = stdout(&jsf(&[
        "check",
        &["fair_share_perc"; 14].join(" + "),
        "--full",
    ]));
    assert_eq!(text.matches("warning[JSF203]").count(), 10, "{text}");
    assert!(text.contains("and 4 more findings JSF203"), "{text}");
}

#[test]
fn fmt_reports_a_formula_that_is_formatted_differently() {
    let output = jsf(&["fmt", "--check", "a+b"]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(1), "")
    );
    assert!(
        stderr(&output).contains("`jsf fmt` prints: a + b"),
        "{}",
        stderr(&output)
    );
    assert_eq!(jsf(&["fmt", "--check", "a + b"]).status.code(), Some(0));
    assert_eq!(jsf(&["fmt", "--check", "a +"]).status.code(), Some(1));
}

#[test]
fn warnings_of_one_kind_are_shown_ten_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = (0..14).map(|number| format!("bob{number} many root 10\n"));
    let lines: String = std::iter::once("ann 20 root 10\n".to_owned())
        .chain(bad)
        .collect();
    std::fs::write(folder.path().join("resource_group"), lines).expect("written");
    let folder = folder.path().to_str().expect("UTF-8");
    let output = jsf_with_input(
        &["rank", "ncpus", "--queue", "-", "--sched-priv", folder],
        "{\"jobs\":[]}",
    );
    let message = stderr(&output);
    assert_eq!(
        message
            .lines()
            .filter(|line| line.contains("resource_group`: line "))
            .count(),
        10,
        "{message}"
    );
    assert!(
        message.contains("resource_group`: and 4 more of these kinds\n"),
        "{message}"
    );
}

#[test]
fn a_formula_that_qmgr_does_not_pass_on_has_exit_code_1() {
    let output = jsf(&["check", "ncpus & 1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("qmgr: does not pass the formula on"),
        "{}",
        stdout(&output)
    );
    for (formula, start) in [
        ("ncpus & 1", 6),
        ("(ncpus & 1,)", 7),
        ("ncpus # größer", 10),
        ("ncpus # \"a\" or 'b'", 15),
    ] {
        let document = json(&jsf(&["check", formula, "--format", "json"]));
        let findings = document["findings"].as_array().unwrap();
        let found: Vec<_> = findings
            .iter()
            .map(|found| (found["code"].as_str(), &found["span"]["start"]))
            .collect();
        assert!(
            found.contains(&(Some("JSF108"), &start.into())),
            "{formula}: {found:?}"
        );
    }
    // what the server would refuse at the same place is told once
    let document = json(&jsf(&["check", "größe + 1", "--format", "json"]));
    assert_eq!(
        document["findings"].as_array().map(Vec::len),
        Some(1),
        "{document}"
    );
}

#[test]
fn what_is_found_of_a_formula_is_said_though_it_ranks_no_job() {
    let queue = "tests/data/four_jobs.json";
    let output = jsf(&["rank", "fairshare_perc + walltme", "--queue", queue]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("[JSF201]: `walltme`"), "{said}");
    // under its place
    assert!(said.contains("1 | fairshare_perc + walltme\n"), "{said}");
    assert!(said.contains("^^^^^^^"), "{said}");
    let twice = "walltme + fairshare_perc + walltme";
    let said = stderr(&jsf(&["rank", twice, "--queue", queue]));
    assert_eq!(said.matches("JSF201").count(), 1, "{said}");
}

#[test]
fn fmt_and_check_agree_on_what_a_formula_file_is() {
    for (text, printed, warning) in [
        ("ncpus+1\n", "ncpus + 1\n", None),
        ("\tncpus+1\r\n", "ncpus + 1\n", None),
        ("ncpus # c\n", "ncpus  # c\n", None),
        ("ncpus\n# c\n", "ncpus\n# c\n", None),
        (
            "(ncpus\n+ 1)\n",
            "",
            Some("all lines together are the formula `(ncpus + 1)`"),
        ),
        (
            "(ncpus\r\n+ 1)\r\n",
            "",
            Some("all lines together are the formula `(ncpus + 1)`"),
        ),
        (
            "ncpus \\\n+ 1\n",
            "",
            Some("all lines together are the formula `ncpus + 1`"),
        ),
        (
            "\n\nncpus\n",
            "",
            Some("all lines together are the formula `ncpus`"),
        ),
        (
            "# c\nncpus\n",
            "",
            Some("all lines together are the formula `ncpus`"),
        ),
        (
            "(ncpus # c\n+ 1)\n",
            "",
            Some("all lines together are the formula `(ncpus + 1)`"),
        ),
        ("mem if\n600\n", "", Some("found the end of the formula")),
        (
            "ncpus\n+ 1\n",
            "ncpus\n",
            Some("1 line below it is left out"),
        ),
        (
            "ncpus\n\nmem\n",
            "ncpus\n",
            Some("1 line below it is left out"),
        ),
        (
            "ncpus\r\nnote\r\n# c\r\nmore\r\n",
            "ncpus\n",
            Some("2 lines below it are left out"),
        ),
        ("ncpus \\\n", "", Some("`\\` (U+005C)")),
    ] {
        let formatted = jsf_with_input(&["fmt", "-"], text);
        assert_eq!(stdout(&formatted), printed, "{text:?}");
        match warning {
            Some(warning) => assert!(
                stderr(&formatted).contains(warning),
                "{text:?}: {}",
                stderr(&formatted)
            ),
            None => assert_eq!(stderr(&formatted), "", "{text:?}"),
        }
        let checked = jsf_with_input(&["check", "-"], text);
        let is_formula = !printed.is_empty();
        assert_eq!(
            (formatted.status.success(), checked.status.success()),
            (is_formula, is_formula),
            "{text:?}"
        );
        let fixed = jsf_with_input(&["check", "--fix", "-"], text);
        assert_eq!(
            (fixed.status.success(), !stdout(&fixed).is_empty()),
            (is_formula, is_formula),
            "{text:?}"
        );
        let is_note = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        let has_notes = text.lines().skip(1).any(is_note);
        assert_eq!(
            stdout(&checked).contains("JSF107"),
            has_notes,
            "{text:?}: {}",
            stdout(&checked)
        );
    }
}

#[test]
fn fmt_keeps_comments() {
    let output = jsf(&["fmt", "a+b # of both\n# the sum"]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(0), "a + b  # of both\n# the sum\n")
    );
    assert_eq!(
        jsf(&["fmt", "--check", "a + b  # of both\n# the sum"])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn a_printed_formula_is_the_same_formula_or_refused() {
    let print = |arguments: &[&str], text: &str| {
        let output = jsf_with_input(&[arguments, &["-"]].concat(), text);
        (output.status.code(), stdout(&output))
    };
    let exact_fix = ["check", "--fix", "--numbers", "exact"];
    for (text, formatted, fixed) in [
        ("NCPUS\x0c*\x0c2", "NCPUS * 2\n", "ncpus * 2\n"),
        (
            "max(1,\x0c2,) # a\x0cb\x1b",
            "max(1, 2,) # a b\\x1b\n",
            "max(1, 2,) # a b\\x1b\n",
        ),
        ("(NCPUS\r+ 2)", "(NCPUS + 2)\n", "(ncpus + 2)\n"),
        ("NCPUS \t\x0c\n# a", "NCPUS\n# a\n", "ncpus\n"),
    ] {
        assert_eq!(
            print(&["fmt"], text),
            (Some(0), formatted.to_owned()),
            "{text:?}"
        );
        assert_eq!(print(&exact_fix, text).1, fixed, "{text:?}");
    }
    let long = "1+".repeat(30_000) + "1";
    for text in ["x\u{fe0f} + 1", "len('\x0c')", "(1 # a\r+ 2)", &long] {
        assert_eq!(print(&["fmt"], text), (Some(2), String::new()), "{text:?}");
    }
    for text in ["x\u{fe0f} + 1", "len('\x0c')", "(1 # a\r+ 2)"] {
        assert_eq!(
            print(&exact_fix, text),
            (Some(2), String::new()),
            "{text:?}"
        );
    }
}

#[test]
fn every_fix_is_applied_or_nothing_is_printed() {
    let units = vec!["4gb"; 120];
    let fixed = check(
        &["--fix", "--numbers", "exact", &units.join("+")],
        0,
        &(vec!["4194304"; 120].join("+") + "\n"),
    );
    assert!(fixed.contains("JSF614"), "{fixed}");
    for text in [
        "NCPUS +",
        "mem if\nNCPUS",
        "\n600",
        "# NCPUS\nNCPUS",
        "x = NCPUS",
    ] {
        let message = check(&["--fix", text], 1, "");
        assert!(message.contains("error[JSF"), "{text:?}: {message}");
    }
}

#[test]
fn a_formula_comes_from_standard_input_a_file_or_pasted_text() {
    let formatted = |arguments: &[&str], input: &str| {
        let output = jsf_with_input(&[&["fmt"], arguments].concat(), input);
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let expected = (Some(0), "a + b\n".to_owned(), String::new());
    assert_eq!(formatted(&["-"], "a+b\n"), expected);
    assert_eq!(formatted(&["-f", "-"], "a+b"), expected);
    assert_eq!(
        formatted(&["-"], "set server job_sort_formula = \"a+b\"\n"),
        expected
    );
    assert_eq!(formatted(&["job_sort_formula = a+b"], ""), expected);
    assert_eq!(
        formatted(&["qmgr -c 'set server job_sort_formula=\"a+b\"'"], ""),
        expected
    );
    let (code, _, message) = formatted(&["examples/formulas/nas.txt"], "");
    assert!(
        code.is_some() && message.contains("a file `examples/formulas/nas.txt` exists"),
        "{message}"
    );
    let output = jsf(&["rank", "-", "--queue", "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("cannot be both --queue and the formula"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_pasted_directive_without_a_formula_is_named() {
    for (text, expected) in [
        (
            "set server job_sort_formula_threshold = 5",
            "give the formula, and apart from it the threshold (--threshold X)",
        ),
        (
            "job_sort_formula_threshold = 5",
            "give the formula, and apart from it the threshold (--threshold X)",
        ),
        ("unset server job_sort_formula", "sets no formula"),
        (
            "set server job_sort_formula = \"ncpus",
            "a quote that is never closed",
        ),
        (
            "qmgr -c 'set server job_sort_formula = ncpus",
            "a quote that is never closed",
        ),
        (
            r"qmgr -c 'set server job_sort_formula = ncpus'\",
            "ends with a backslash",
        ),
        (
            r#"qmgr -c "set server job_sort_formula = ncpus\"#,
            "a quote that is never closed",
        ),
    ] {
        for arguments in [&["check", text][..], &["fmt", text]] {
            let output = jsf(arguments);
            assert_eq!(
                (output.status.code(), stdout(&output)),
                (Some(2), String::new()),
                "{text}"
            );
            assert!(
                stderr(&output).contains(expected),
                "{text}: {}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn jobs_that_the_scheduler_ignores_are_named_and_not_counted_as_fine() {
    const JOBS: &str = r#"{"Jobs":{
        "1.vm":{"euser":"u","eligible_time":"00:01:00","Resource_List":{"ncpus":1,"walltime":"48:0x:00"}},
        "2.vm":{"euser":"u","eligible_time":"00:01:00","Resource_List":{"ncpus":1}}}}"#;
    let output = jsf_with_input(&["check", "ncpus + eligible_time", "--queue", "-"], JOBS);
    let last = "queue: 1 job tried, 1 fine, 0 with an error; 1 ignored by the scheduler\n";
    assert!(stdout(&output).contains(last), "{}", stdout(&output));
    let named = "job `1.vm`: the scheduler ignores the job as invalid: it cannot read the amount `48:0x:00` of `walltime`";
    assert!(stderr(&output).contains(named), "{}", stderr(&output));
    let output = jsf_with_input(
        &["check", "ncpus", "--queue", "-", "--format", "json"],
        JOBS,
    );
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(
        (&document["jobs"]["total"], &document["jobs"]["ignored"]),
        (&2.into(), &1.into())
    );
}

#[test]
fn an_eligible_time_that_jobs_lack_is_counted() {
    let jobs = |first: &str| {
        format!(
            r#"{{"Jobs":{{"1.vm":{{"euser":"u",{first}"Resource_List":{{"ncpus":1}}}},
            "2.vm":{{"euser":"u","job_state":"Q","Resource_List":{{"ncpus":2}}}},
            "3.vm":{{"euser":"u","job_state":"H","Resource_List":{{"ncpus":2}}}}}}}}"#
        )
    };
    let none = "2 of 2 jobs that wait have no `eligible_time`, so it is 0 for them";
    let some = "1 of 2 jobs that wait have no `eligible_time`, so it is 0 for them";
    for command in ["check", "rank"] {
        for (document, expected) in [
            (jobs(""), none),
            (jobs(r#""eligible_time":"01:00:00","#), some),
        ] {
            let output = jsf_with_input(
                &[command, "ncpus + eligible_time", "--queue", "-"],
                &document,
            );
            assert!(
                stderr(&output).contains(expected),
                "{command}: {}",
                stderr(&output)
            );
            let output = jsf_with_input(&[command, "ncpus", "--queue", "-"], &document);
            assert!(
                !stderr(&output).contains("eligible_time"),
                "{command}: {}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn what_a_careless_paste_leaves_in_a_formula_is_explained() {
    for (text, expected, fix) in [
        (
            "\"ncpus * 2\"",
            "the quotes of a shell command are not part of the formula",
            "ncpus * 2",
        ),
        (
            "ncpus * \"2\"",
            "the scheduler does not detect the error",
            "",
        ),
        ("$ncpus * 2", "write `ncpus`, not `$ncpus`", ""),
        ("ncpus\\ * 2", "the backslash that protects", ""),
        (
            "if ncpus > 4: 10",
            "write `value if condition else other_value`",
            "",
        ),
        (
            "1,000 * ncpus",
            "write the thousands as `1000`, or the decimal number as `1.000`",
            "1,000 * ncpus",
        ),
        (
            "1,000,000 * ncpus",
            "write the thousands as `1000`",
            "1,000,000 * ncpus",
        ),
        (
            "0,500 * ncpus",
            "the decimal separator is `.`",
            "0.500 * ncpus",
        ),
        (
            "formulas/nope.txt",
            "but no such file exists",
            "formulas/nope.txt",
        ),
    ] {
        let output = jsf(&["check", text]);
        let shown = stdout(&output) + &stderr(&output);
        assert!(
            output.status.code() == Some(1) && shown.contains(expected),
            "{text}: {shown}"
        );
        let fixed = stdout(&jsf(&["check", "--unsafe-fixes", text]));
        assert_eq!(fixed.trim_end(), fix, "{text}");
    }
}

#[test]
fn a_folder_that_is_given_for_a_file_is_named() {
    let output = jsf(&["rank", "ncpus", "--queue", "examples/site"]);
    let expected = "jsf: cannot read `examples/site`: it is a folder; give a file of it, or open it as a site (--site PATH)\n";
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(2), expected.to_owned())
    );
}

#[test]
fn an_infinite_threshold_is_refused() {
    for threshold in ["1e999", "inf", "nan", ""] {
        let output = jsf(&[
            "rank",
            "ncpus",
            "--queue",
            "examples/site/jobs.json",
            "--threshold",
            threshold,
        ]);
        assert_eq!(output.status.code(), Some(2), "{threshold}");
    }
}

#[test]
fn a_usage_without_records_and_shares_beyond_32_bits_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path.display().to_string()
    };
    let group = file("group", b"a 10 root 4294967298\nb 11 root 2\n");
    let header = [
        &b"PBS_MAG!\0\0\0\0\0\0\0\0"[..],
        &2f64.to_le_bytes(),
        &0i64.to_le_bytes(),
    ]
    .concat();
    let usage = file("usage", &header);
    let output = jsf(&[
        "shares",
        "--resource-group",
        &group,
        "--usage",
        &usage,
        "--format",
        "json",
    ]);
    let message = stderr(&output);
    assert!(
        message.contains("has no record: the usage of every entity is 1"),
        "{message}"
    );
    assert!(
        message.contains("line 1: the shares are beyond 32 bits, and the daemon takes 2"),
        "{message}"
    );
    let nodes = json(&output)["nodes"].as_array().expect("nodes").clone();
    assert!(
        nodes.iter().filter(|node| node["shares"] == 2).count() == 2,
        "{nodes:?}"
    );
    let tree = file(
        "tree",
        br#"{"children":[{"name":"a","usage":1e308},{"name":"b","usage":1e308}]}"#,
    );
    for policy in ["pbs", "fair-tree"] {
        let output = jsf(&["shares", "--tree", &tree, "--policy", policy]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("the sum of all usage is beyond the range"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_first_evaluation_that_never_comes_is_a_note() {
    let found = |formula: &str, site: &str| {
        let document = json(&jsf(&[
            "check", formula, "--site", site, "--format", "json",
        ]));
        let findings = document["findings"].as_array().expect("findings").clone();
        let found = findings
            .into_iter()
            .find(|found| found["code"] == "JSF402")
            .expect("JSF402");
        (
            found["severity"].as_str().expect("a severity").to_owned(),
            found["message"].as_str().expect("text").to_owned(),
        )
    };
    let (severity, message) = found("1/(ncpus-ncpus)", "examples/site");
    assert_eq!(
        (&*severity, &*message),
        (
            "error",
            "every job has an error, so the scheduler crashes when it is next started"
        )
    );
    for refused in [
        "nosuch + ncpus",
        "nosuch if ncpus else 1",
        "nosuch + 1/(ncpus-ncpus)",
    ] {
        let (severity, message) = found(refused, "examples/site");
        assert_eq!(severity, "note", "{refused}");
        assert_eq!(
            message, "the server refuses the formula, so the scheduler never evaluates it",
            "{refused}"
        );
    }
    // not reached in the validation, where every name is 1
    let (severity, _) = found("1 if ncpus == 1 else nosuch", "examples/site");
    assert_eq!(severity, "warning");
    let tree = tempfile::tempdir().expect("a folder");
    std::fs::copy(
        jsf_testing::path("examples/slurm/sshare.txt"),
        tree.path().join("sshare.txt"),
    )
    .expect("a tree");
    std::fs::write(
        tree.path().join("jobs.ndjson"),
        "{\"id\":\"1\",\"entity\":\"mara\",\"ncpus\":1}\n",
    )
    .expect("a job");
    let tree = tree.path().display().to_string();
    let (severity, message) = found("1/(fairshare_perc-fairshare_perc)", &tree);
    assert_eq!(
        (&*severity, &*message),
        (
            "note",
            "the site runs Slurm, whose scheduler evaluates no formula"
        )
    );
}

#[test]
fn a_formula_from_a_file_of_the_server_may_use_names_that_nothing_else_lists() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("formula");
    for (text, is_of_server) in [
        (
            "Server: vm\n    job_sort_formula = ncpus + listed_nowhere\n",
            true,
        ),
        (
            "set server job_sort_formula = \"ncpus + listed_nowhere\"\n",
            true,
        ),
        (
            "{\"Server\":{\"vm\":{\"job_sort_formula\":\"ncpus + listed_nowhere\"}}}",
            true,
        ),
        ("ncpus + listed_nowhere\n", false),
    ] {
        std::fs::write(&file, text).expect("a file");
        let output = jsf(&["check", "-f", file.to_str().expect("UTF-8")]);
        assert_eq!(
            output.status.code(),
            Some(i32::from(!is_of_server)),
            "{text}: {}",
            stdout(&output)
        );
        let rank = [
            "rank",
            "--queue",
            "examples/site/qstat.json",
            "-f",
            file.to_str().expect("UTF-8"),
        ];
        assert_eq!(
            jsf(&rank).status.code(),
            Some(i32::from(!is_of_server)),
            "{text}"
        );
    }
}

/// Every command evaluates the first line of a formula, which is all that PBS keeps, whatever the
/// numbers are.
#[test]
fn the_first_line_is_the_formula_in_every_command() {
    const JOBS: &str = r#"{"jobs":[{"id":"1.vm","resources":{"ncpus":3}}]}"#;
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (formula, queue) = (path("formula"), path("jobs.json"));
    std::fs::write(&queue, JOBS).expect("written");
    for (text, value, left_out) in [
        ("ncpus\n+ 1\n", Some("3"), true),
        ("ncpus\r\n+ 1\r\n", Some("3"), true),
        ("ncpus # c\n# note\n\n", Some("3"), false),
        (
            "### PBS INTERNAL FILE DO NOT MODIFY ###\nncpus\nmem\n",
            Some("3"),
            true,
        ),
        (
            "set server scheduling = True\nset server job_sort_formula = \"ncpus\"\nset server x = 1\n",
            Some("3"),
            false,
        ),
        ("# c\nncpus\n", None, true),
        ("\n\nncpus\n", None, true),
        ("(ncpus\n+ 1)\n", None, true),
        ("ncpus \\\n+ 1\n", None, true),
    ] {
        std::fs::write(&formula, text).expect("written");
        for numbers in ["openpbs", "exact", "decimal"] {
            let run = |command: &[&str]| {
                jsf(&[
                    command,
                    &["-f", &formula, "--queue", &queue, "--numbers", numbers],
                ]
                .concat())
            };
            let place = format!("{text:?} {numbers}");
            let ranked = run(&["rank", "--format", "csv"]);
            // there is no explanation in base ten
            let explained = (numbers != "decimal").then(|| run(&["explain", "--job", "1.vm"]));
            let checked = run(&["check"]);
            let code = if value.is_some() { 0 } else { 1 };
            for output in [Some(&ranked), explained.as_ref(), Some(&checked)]
                .into_iter()
                .flatten()
            {
                assert_eq!(
                    output.status.code(),
                    Some(code),
                    "{place}: {}",
                    stderr(output)
                );
                let shown = stdout(output) + &stderr(output);
                assert_eq!(
                    shown.contains("warning[JSF107]"),
                    left_out,
                    "{place}: {shown}"
                );
            }
            if let Some(value) = value {
                let score = stdout(&ranked)
                    .lines()
                    .nth(1)
                    .and_then(|line| line.split(',').nth(7).map(str::to_owned));
                assert_eq!(score.as_deref(), Some(value), "{place}");
                let command = stdout(&run(&["check", "--qmgr"]));
                assert!(
                    command.contains("job_sort_formula=\"ncpus"),
                    "{place}: {command}"
                );
            }
        }
    }
}

#[test]
fn a_formula_that_was_tried_on_no_job_needs_force_for_its_command() {
    const JOBS: &str = r#"{"jobs":[{"id":"1.vm","entity":"Bob","resources":{"ncpus":1}}]}"#;
    const COMMAND: &str = "qmgr -c 'set server job_sort_formula=\"fairshare_factor * 2\"'\n";
    let check = |more: &[&str]| {
        let output = jsf_with_input(
            &[
                &["check", "fairshare_factor * 2", "--queue", "-", "--qmgr"],
                more,
            ]
            .concat(),
            JOBS,
        );
        (output.status.code(), stdout(&output), stderr(&output))
    };
    for hidden in [&[][..], &["--allow", "JSF617"]] {
        let (code, printed, message) = check(hidden);
        assert_eq!((code, printed.as_str()), (Some(1), ""), "{message}");
        assert!(
            message.contains("tried on no job") && message.contains("--force"),
            "{message}"
        );
    }
    let (code, printed, _) = check(&["--force"]);
    assert_eq!((code, printed.as_str()), (Some(0), COMMAND));
    let (code, printed, _) = check(&["--sched-priv", "examples/site/sched_priv"]);
    assert_eq!((code, printed.as_str()), (Some(0), COMMAND));
}

/// The formula of the site, the way back, may have an error; the jobs to try it on may be missing.
#[test]
fn the_formula_in_force_needs_force_for_an_error_only() {
    const IN_FORCE: &str = "pow(2, -(fairshare_tree_usage/fairshare_perc))";
    let command = format!("qmgr -c 'set server job_sort_formula=\"{IN_FORCE}\"'\n");
    let check = |more: &[&str]| {
        let output = jsf(&[&["check", "--site", "examples/site", "--qmgr"], more].concat());
        (output.status.code(), stdout(&output))
    };
    for formula in [&[][..], &[IN_FORCE]] {
        assert_eq!(check(formula), (Some(1), String::new()));
        assert_eq!(
            check(&[formula, &["--force"]].concat()),
            (Some(1), command.clone())
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().to_str().expect("UTF-8");
    let server = "Server: vm\n    server_state = Active\n    job_sort_formula = fairshare_factor\n";
    std::fs::write(folder.path().join("qstat_Bf.txt"), server).expect("written");
    std::fs::write(folder.path().join("qstat.json"), r#"{"jobs":[]}"#).expect("written");
    let output = jsf(&["check", "--site", site, "--qmgr"]);
    assert_eq!(
        stdout(&output),
        "qmgr -c 'set server job_sort_formula=\"fairshare_factor\"'\n",
        "{}",
        stderr(&output)
    );
}

#[test]
fn defects_of_the_servers_version_are_reported() {
    for (version, is_affected) in [
        ("pbs_version = 20.0.0", true),
        ("pbs_version = 20.0.0.20211203", true),
        ("pbs_version = 20.0.1", false),
        ("pbs_version = 19.1.3", false),
        ("pbs_version = 22.05.11", false),
        ("pbs_version = 23.06.06", false),
        ("pbs_version = 2021.1.2", false),
        ("pbs_version = unknown", false),
        ("server_state = Active", false),
    ] {
        let document =
            format!("Server: vm\n    server_host = vm\n    {version}\n    scheduling = True\n");
        let output = jsf_with_input(
            &["check", "ncpus", "--server", "-", "--format", "json"],
            &document,
        );
        let findings = json(&output)["findings"].to_string();
        assert_eq!(
            findings.contains("JSF406") && findings.contains("2475"),
            is_affected,
            "{version}: {findings}"
        );
    }
    let document =
        r#"{"pbs_version":"20.0.0","Server":{"vm":{"pbs_version":"20.0.0","scheduling":"True"}}}"#;
    let output = jsf_with_input(
        &["check", "ncpus", "--server", "-", "--format", "json"],
        document,
    );
    assert!(json(&output)["findings"].to_string().contains("JSF406"));
}

/// What a command says of a job without a numeric result: the value, and whether the scheduler
/// crashes.
#[test]
fn the_consequence_of_an_error_is_the_same_everywhere() {
    const JOBS: &str =
        r#"{"jobs":[{"id":"1.vm","resources":{"ncpus":8}},{"id":"2.vm","resources":{"ncpus":0}}]}"#;
    let zero = (
        "0",
        "division by zero",
        "counted as 0, as in OpenPBS",
        "JSF301",
        "so its value is 0",
        false,
    );
    let crash = |kind| {
        (
            "-1",
            kind,
            "counted as -1",
            "JSF302",
            "so its value is -1, and OpenPBS's scheduler crashes",
            true,
        )
    };
    let unknown = |kind| {
        (
            "0",
            kind,
            "counted as 0 here",
            "JSF311",
            "jsf gives it the value 0",
            false,
        )
    };
    for (formula, (value, kind, counted, code, explained, crashes)) in [
        ("1/(ncpus-8)", zero),
        ("(0-ncpus)**0.5", crash("complex number")),
        ("(0-ncpus)**0.5*2", crash("complex number")),
        ("(ncpus,1) if ncpus else 0", crash("not a number")),
        ("2**(ncpus*200)", crash("too large")),
        ("abs((0-ncpus)**0.5)", unknown("complex intermediate value")),
        (
            "1 if (0-ncpus)**0.5 else 2",
            unknown("complex intermediate value"),
        ),
        ("2**(ncpus*20000)", unknown("beyond the limits")),
    ] {
        let run =
            |arguments: &[&str]| jsf_with_input(&[arguments, &["--queue", "-"]].concat(), JOBS);
        let ranked = json(&run(&["rank", formula, "--format", "json"]));
        let jobs = ranked["jobs"].as_array().expect("jobs");
        let job = jobs
            .iter()
            .find(|job| job["id"] == "1.vm")
            .expect("the job");
        assert_eq!(
            (job["logged"].as_str(), job["error"]["kind"].as_str()),
            (Some(value), Some(kind)),
            "{formula}"
        );
        assert_eq!(ranked["summary"]["errors_by_kind"][kind], 1, "{formula}");
        let csv = stderr(&run(&["rank", formula, "--format", "csv"]));
        assert!(csv.contains(counted), "{formula}: {csv}");
        assert_eq!(
            csv.contains("as in OpenPBS"),
            code == "JSF301",
            "{formula}: {csv}"
        );
        let checked = json(&run(&["check", formula, "--format", "json"]));
        assert_eq!(checked["crashes_scheduler"], crashes, "{formula}");
        assert!(
            checked["findings"].to_string().contains(code),
            "{formula}: {checked}"
        );
        let sentence = stdout(&run(&["explain", formula, "--job", "1.vm"]));
        assert!(sentence.contains(explained), "{formula}: {sentence}");
    }
}

/// A queue of as many jobs, whose `fairshare_factor` is between 0 and 1 and whose `eligible_time`
/// is in seconds.
fn queue_with_factors(jobs: u64) -> String {
    let job = |number: u64| {
        let factor = (number * number * 7919 % 997) as f64 / 997.0;
        format!(
            "{{\"id\":\"{number}.vm\",\"eligible_time\":{},\"inputs\":{{\"fairshare_factor\":{factor}}}}}\n",
            number * 60
        )
    };
    (1..=jobs).map(job).collect()
}

/// The messages of the finding on summands that decide nothing.
fn idle_summands(formula: &str, queue: &str) -> Vec<String> {
    let output = jsf_with_input(
        &["check", formula, "--queue", "-", "--format", "json"],
        queue,
    );
    let document = json(&output);
    let findings = document["findings"].as_array().expect("findings").iter();
    let idle = findings.filter(|found| found["code"] == "JSF618");
    idle.map(|found| found["message"].as_str().expect("a message").to_owned())
        .collect()
}

#[test]
fn a_summand_that_decides_nothing_is_found() {
    let site = [
        "check",
        "fairshare_factor + eligible_time",
        "--site",
        "examples/site",
    ];
    let message = stdout(&jsf(&site));
    let expected = "JSF618]: `fairshare_factor` decides none of 32 pairs of neighbours: it ranges from 0 to 0.9957, \
                    `eligible_time` from 192 to 1484275";
    assert!(message.contains(expected), "{message}");
    // as long as nothing has run, fair share says nothing about later
    let unused = [
        "check",
        "100 * fairshare_factor + eligible_time",
        "--site",
        "examples/captured",
    ];
    let message = stdout(&jsf(&unused));
    assert!(
        message.contains("JSF501") && !message.contains("JSF618"),
        "{message}"
    );
    // shares are the same later
    let shares = [
        "check",
        "100 * fairshare_perc + eligible_time",
        "--site",
        "examples/captured",
    ];
    let message = stdout(&jsf(&shares));
    assert!(
        message.contains("JSF618]: `100 * fairshare_perc` decides"),
        "{message}"
    );
    let queue = queue_with_factors(300);
    for (formula, expected) in [
        (
            "fairshare_factor + eligible_time",
            Some("`fairshare_factor` decides none of 299 pairs"),
        ),
        (
            "eligible_time - fairshare_factor",
            Some("`-fairshare_factor` decides none of 299 pairs"),
        ),
        (
            "70 * fairshare_factor + eligible_time",
            Some("`70 * fairshare_factor` decides 2 of 299 pairs"),
        ),
        ("300 * fairshare_factor + eligible_time", None),
        ("1000 * fairshare_factor + eligible_time / 60", None),
        // of the same value for every job, or the only summand
        ("eligible_time + 5", None),
        ("(fairshare_factor + eligible_time) * 2", None),
        // the smaller one decides where the greater ones are equal
        (
            "fairshare_factor + floor(eligible_time / 1800) * 1800",
            None,
        ),
        // the two agree, and neither is small
        ("eligible_time + 2 * eligible_time", None),
    ] {
        let found = idle_summands(formula, &queue);
        assert_eq!(
            found.len(),
            usize::from(expected.is_some()),
            "{formula}: {found:?}"
        );
        assert!(
            found
                .iter()
                .all(|message| message.starts_with(expected.unwrap_or(""))),
            "{formula}: {found:?}"
        );
    }
    // a few jobs show nothing
    assert!(idle_summands("fairshare_factor + eligible_time", &queue_with_factors(10)).is_empty());
    assert_eq!(
        idle_summands("fairshare_factor + eligible_time", &queue_with_factors(11)).len(),
        1
    );
}

#[test]
fn a_call_that_no_argument_makes_valid_is_an_error() {
    for formula in [
        "round(a=1)",
        "round(ncpus, 1, ndigits=2)",
        "ncpus + sum(start=ncpus)",
        "max(ncpus, 1, base=2)",
    ] {
        let output = jsf(&["check", formula]);
        let message = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{formula}: {message}");
        assert!(
            message.contains("error[JSF307]") && !message.contains("some jobs"),
            "{formula}: {message}"
        );
    }
    check(
        &["round(ncpus / 3, ndigits=1)"],
        0,
        "qmgr: accepts the formula\n",
    );
}

#[test]
fn an_unknown_name_that_begins_others_suggests_them() {
    for name in ["fairshare", "fair_share", "FairShare"] {
        let message = stdout(&jsf(&["check", &format!("{name} + nosuchname")]));
        let expected =
            "did you mean `fairshare_factor` or `fairshare_perc` or `fairshare_tree_usage`?";
        assert!(
            message.contains(expected) && message.contains("`nosuchname` is not a known"),
            "{message}"
        );
    }
    let message = stdout(&jsf(&["check", "eligible"]));
    assert!(
        message.contains("did you mean `eligible_time`?") && message.contains("1 | eligible_time"),
        "{message}"
    );
}

#[test]
fn a_check_says_how_many_jobs_the_threshold_stops() {
    let arguments = [
        "check",
        "fairshare_factor*200",
        "--site",
        "examples/site",
        "--threshold",
        "199",
    ];
    let told = "32 of 33 waiting jobs do not pass the threshold 199";
    let text = stdout(&jsf(&arguments));
    assert!(text.contains(told), "{text}");
    let jobs = &json(&jsf(&[&arguments[..], &["--format", "json"]].concat()))["jobs"];
    assert_eq!(
        (&jobs["under_threshold"], &jobs["over_threshold"]),
        (&32.into(), &1.into())
    );
    let with_command = jsf(&[&arguments[..], &["--qmgr"]].concat());
    assert!(
        stderr(&with_command).contains(told),
        "{}",
        stderr(&with_command)
    );
    assert!(!stdout(&jsf(&arguments[..4])).contains("threshold"));
}

#[test]
fn the_way_back_takes_the_threshold_in_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let file =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    file(
        "qstat_Bf.txt",
        "Server: vm\n    server_state = Active\n    job_sort_formula = ncpus\n",
    );
    file(
        "qmgr_print_sched.txt",
        "create sched default\nset sched default job_sort_formula_threshold = 0.3\n",
    );
    let site = folder.path().to_str().expect("UTF-8");
    let formula = "qmgr -c 'set server job_sort_formula=\"ncpus\"'\n";
    let threshold = "qmgr -c 'set sched job_sort_formula_threshold = 0.3'\n";
    check(
        &["--site", site, "--qmgr"],
        0,
        &format!("{formula}{threshold}"),
    );
    check(
        &["2*ncpus", "--site", site, "--qmgr"],
        0,
        "qmgr -c 'set server job_sort_formula=\"2*ncpus\"'\n",
    );
}

#[test]
fn no_name_replaces_one_that_is_compared_with_a_text() {
    let output = jsf(&["check", "ncpus * 10 if queue == 'large' else 0"]);
    let text = stdout(&output);
    assert!(text.contains("JSF201") && text.contains("JSF106"), "{text}");
    assert!(
        !text.contains("did you mean") && !text.contains("comment"),
        "{text}"
    );
    assert!(stdout(&jsf(&["check", "queue == 1"])).contains("did you mean"));
}

#[test]
fn a_string_that_jobs_have_is_not_called_unused() {
    let folder = tempfile::tempdir().expect("a folder");
    let queue = folder.path().join("qstat.txt");
    let text = "Job Id: 1.vm\n    job_state = Q\n    Resource_List.nodes = 2:ppn=4\n    Resource_List.ncpus = 8\n";
    std::fs::write(&queue, text).expect("written");
    let output = jsf(&[
        "check",
        "nodes*2 + ncpus",
        "--queue",
        queue.to_str().expect("UTF-8"),
    ]);
    let text = stdout(&output);
    assert!(
        text.contains("JSF202") && !text.contains("JSF615"),
        "{text}"
    );
}

#[test]
fn warnings_of_a_site_name_the_file_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let sched_priv = folder.path().join("sched_priv");
    std::fs::create_dir(&sched_priv).expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write(
        "server.txt",
        "Server: vm\n    server_state = Active\n    job_sort_formula = ncpus\n",
    );
    write(
        "sched_priv/sched_config",
        "round_robin: False all\nfoo bar\n",
    );
    // without the line that the server writes above it
    write("sched_priv/sched_formula", "mem\n");
    write("sched_priv/resource_group", "alice 10 root 40\r\n");
    let output = jsf(&["check", "--site", &folder.path().display().to_string()]);
    let message = said(&output);
    for expected in [
        "/sched_priv/sched_config`: line 2: `foo` is not a setting of the scheduler",
        "/sched_priv/sched_formula` contain different formulas, `ncpus` and `mem`",
        "/sched_priv/resource_group` has Windows line ends",
    ] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn a_character_that_cannot_be_seen_is_to_be_removed() {
    for (formula, advice) in [
        ("ncpus\u{200b}*2", "remove it"),
        ("ncpus\u{a0}*2", "write an ordinary space"),
    ] {
        let text = stdout(&jsf(&["check", formula]));
        assert!(text.contains("JSF101") && text.contains(advice), "{text}");
    }
}

#[test]
fn the_value_of_all_jobs_is_that_of_the_first() {
    let queue = "{\"id\": \"1.a\", \"entity\": \"ada\", \"queue\": \"workq\", \"resources\": {\"ncpus\": 3, \"walltime\": 3600}}\n\
                 {\"id\": \"2.a\", \"entity\": \"ada\", \"queue\": \"workq\", \"resources\": {\"ncpus\": 1, \"walltime\": 3600}}\n";
    // 0.0 and -0.0 are equal
    let formula = "(ncpus-2.0)*(walltime%3600)";
    let output = jsf_with_input(&["check", formula, "--queue", "-"], queue);
    let text = stdout(&output);
    assert!(text.contains("get the same value, 0\n"), "{text}");
}
