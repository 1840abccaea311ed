//! Each option refuses the files of the others, and says what they seem to be.

use std::fs;

use jsf_testing::golden;

use crate::command::{jsf, jsf_with_bytes, jsf_with_input, json, said, stderr, stdout};

fn recorded(name: &str) -> String {
    golden::path(&format!("openpbs/qstat/{name}"))
        .display()
        .to_string()
}

#[track_caller]
fn assert_refused(arguments: &[&str], expected: &str) {
    let output = jsf(arguments);
    let message = stderr(&output);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(2), String::new()),
        "{arguments:?}: {message}"
    );
    assert!(
        message.contains(expected),
        "{arguments:?}: `{expected}` is not in: {message}"
    );
    assert!(message.lines().count() < 5, "{arguments:?}: {message}");
}

#[test]
fn a_file_of_another_option_is_refused() {
    let (jobs, queues, server) = (
        recorded("qstat_f.json"),
        recorded("qstat_Qf.txt"),
        recorded("qstat_Bf.json"),
    );
    let (group, usage, config) = (
        recorded("resource_group"),
        recorded("usage"),
        recorded("sched_config"),
    );
    let (table, nodes, text) = (
        recorded("qstat.txt"),
        recorded("pbsnodes_a.json"),
        recorded("qstat_f.txt"),
    );
    let sshare = golden::path("slurm/files/t01a_doc_defaultroot/classic_d1.sshare_a_l_P.txt")
        .display()
        .to_string();
    for (option, file, expected) in [
        (
            "--usage",
            &jobs,
            "is a document of jobs, such as `qstat -f` prints, expected the scheduler's binary file `usage`",
        ),
        ("--usage", &group, "is a `resource_group`"),
        ("--usage", &config, "is a `sched_config`"),
        ("--resource-group", &jobs, "is a document of jobs"),
        (
            "--resource-group",
            &usage,
            "is a binary usage file of the scheduler",
        ),
        (
            "--sched-config",
            &group,
            "is a `resource_group`, which gives shares, expected `sched_config`",
        ),
        ("--sched-config", &jobs, "is a document of jobs"),
        ("--server", &text, "is a document of jobs"),
        ("--server", &usage, "is a binary usage file"),
        (
            "--queues",
            &nodes,
            "describes nodes, as `pbsnodes` prints them",
        ),
        ("--queues", &config, "is a `sched_config`"),
        ("--resources", &jobs, "is a document of jobs"),
        (
            "--resources",
            &table,
            "is the table that `qstat` prints without `-f`",
        ),
        ("--tree", &jobs, "is a document of jobs"),
        ("--tree", &group, "is a `resource_group`"),
        ("--slurm-conf", &server, "describes a server"),
        ("--slurm-conf", &sshare, "is a tree of Slurm"),
        (
            "--formula-file",
            &jobs,
            "is a document of jobs, such as `qstat -f` prints, expected a formula as text",
        ),
        ("--formula-file", &queues, "describes queues"),
        ("--formula-file", &usage, "is a binary usage file"),
    ] {
        let group = ["--resource-group", group.as_str()];
        let with_group = if option == "--usage" { &group[..] } else { &[] };
        let formula = if option == "--formula-file" {
            &[][..]
        } else {
            &["ncpus"][..]
        };
        assert_refused(
            &[
                &["rank"],
                formula,
                &["--queue", &jobs, option, file],
                with_group,
            ]
            .concat(),
            expected,
        );
    }
    for (file, expected) in [
        (&table, "is the table that `qstat` prints without `-f`"),
        (&sshare, "is a tree of Slurm"),
        (&group, "is a `resource_group`"),
        (&usage, "is a binary usage file"),
        (&server, "server"),
    ] {
        assert_refused(&["rank", "ncpus", "--queue", file], expected);
    }
}

#[test]
fn a_wrong_file_of_nodes_is_said_where_no_node_is_needed() {
    let output = jsf(&[
        "rank",
        "ncpus",
        "--queue",
        &recorded("qstat_f.json"),
        "--nodes",
        &recorded("qstat_Qf.txt"),
    ]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(
        message.contains("the nodes are not used: ") && message.contains("describes queues"),
        "{message}"
    );
}

#[test]
fn junk_is_refused() {
    let temporary = tempfile::tempdir().expect("a folder");
    let junk = temporary.path().join("junk");
    fs::write(&junk, "nothing of the kind\nat all\n").expect("a file");
    let junk = junk.to_str().expect("a path");
    let (jobs, group) = (recorded("qstat_f.json"), recorded("resource_group"));
    for option in [
        "--server",
        "--queues",
        "--resources",
        "--sched-config",
        "--resource-group",
        "--usage",
        "--slurm-conf",
    ] {
        let mut arguments = vec!["rank", "ncpus", "--queue", &jobs, option, junk];
        if option == "--usage" {
            arguments.extend(["--resource-group", &group]);
        }
        assert_refused(
            &arguments,
            "is another text and begins with `nothing of the kind`, expected",
        );
    }
    assert_refused(
        &[
            "rank",
            "ncpus",
            "--queue",
            &jobs,
            "--sched-priv",
            "examples/formulas",
        ],
        "is not a scheduler's folder",
    );
}

/// The first bytes of files that are compressed by methods that are not read.
#[test]
fn a_file_of_another_compression_is_refused_with_the_command_that_unpacks_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes, expected) in [
        (
            "a.bz2",
            &b"BZh91AY&SY\x01\x02"[..],
            "it is compressed by a method that is not read: unpack it, `bzip2 -dk FILE`, and give",
        ),
        (
            "a.xz",
            b"\xfd7zXZ\0\0\x04",
            "it is compressed by a method that is not read: unpack it, `xz -dk FILE`, and give",
        ),
        (
            "a.Z",
            b"\x1f\x9d\x90abc",
            "it is compressed by a method that is not read: unpack it, `uncompress FILE`, and give",
        ),
        (
            "a.zip",
            b"PK\x03\x04\x14\0\0\0",
            "it is compressed by a method that is not read: unpack it, `unzip FILE`, and give",
        ),
        (
            "a.7z",
            b"7z\xbc\xaf\x27\x1c\0\x04",
            "it is compressed by a method that is not read: unpack it, `7z x FILE`, and give",
        ),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        let file = path.to_str().expect("UTF-8");
        let message = format!("cannot read `{file}`: {expected}");
        for option in [
            "--queue",
            "--site",
            "--tree",
            "--server",
            "--queues",
            "--resources",
            "--slurm-conf",
        ] {
            assert_refused(&["check", "ncpus", option, file], &message);
        }
        assert_refused(&["shares", "--resource-group", file], &message);
        assert_refused(&["check", "-f", file], &message);
        assert_refused(
            &[
                "replay",
                file,
                "ncpus",
                "--queue",
                "examples/site/qstat.json",
            ],
            &message,
        );
        let output = jsf_with_bytes(&["rank", "ncpus", "--queue", "-"], bytes);
        assert!(
            stderr(&output).contains(expected),
            "{name}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn every_document_declares_what_it_lists_under_every_option() {
    let formula = "r_long + queue_priority";
    for (option, file) in [
        ("--server", "qmgr_print_server.txt"),
        ("--queues", "qmgr_print_server.txt"),
        ("--resources", "qmgr_print_server.txt"),
        ("--server", "resourcedef"),
        ("--queues", "qmgr_list_resource.txt"),
    ] {
        let output = jsf(&[
            "check",
            formula,
            option,
            &recorded(file),
            "--format",
            "json",
        ]);
        assert_eq!(
            json(&output)["findings"].as_array().map(Vec::len),
            Some(0),
            "{option} {file}: {}",
            stdout(&output)
        );
    }
    let output = jsf(&["check", formula, "--format", "json"]);
    assert_eq!(json(&output)["findings"][0]["code"], "JSF201");
    let output = jsf(&[
        "check",
        formula,
        "--resource",
        "r_long=long",
        "--format",
        "json",
    ]);
    assert_eq!(
        json(&output)["findings"].as_array().map(Vec::len),
        Some(0),
        "{}",
        stdout(&output)
    );
    assert_eq!(
        jsf(&["check", formula, "--resource", "r_long=lnog"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn queues_and_server_are_read_as_dsv() {
    let jobs = recorded("qstat_f.json");
    let rank = |queues: &str| {
        let queues = recorded(queues);
        json(&jsf(&[
            "rank",
            "queue_priority",
            "--queue",
            &jobs,
            "--queues",
            &queues,
            "--format",
            "json",
        ]))
    };
    assert_eq!(rank("qstat_Qf.dsv"), rank("qstat_Qf.json"));
}

#[test]
fn a_default_of_the_server_makes_a_division_safe() {
    let codes = |server: &str| {
        let arguments = [
            "check",
            "walltime / ncpus",
            "--server",
            "-",
            "--format",
            "json",
        ];
        let output = jsf_with_input(&arguments[..if server.is_empty() { 2 } else { 4 }], server);
        stdout(&output).contains("JSF303") || stdout(&output).contains("divides by 0")
    };
    assert!(codes(""));
    assert!(codes("Server: vm\n    resources_default.mem = 1gb\n"));
    assert!(!codes("Server: vm\n    resources_default.ncpus = 1\n"));
}

#[test]
fn names_in_the_formula_in_force_are_known() {
    let server = "Server: vm\n    job_sort_formula = ncpus * site_weight\n";
    let output = jsf_with_input(&["check", "--server", "-"], server);
    // standard input cannot be read twice
    assert_ne!(output.status.code(), Some(101), "{}", stderr(&output));
    let temporary = tempfile::tempdir().expect("a folder");
    let path = temporary.path().join("server.txt");
    fs::write(&path, server).expect("a file");
    let path = path.to_str().expect("a path");
    let output = jsf(&["check", "--server", path, "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let other = jsf(&["check", "ncpus * other_weight", "--server", path]);
    assert_eq!(other.status.code(), Some(1));
}

#[test]
fn unknown_names_are_one_finding_that_says_how_to_declare_them() {
    let output = jsf(&[
        "check",
        "ngpus * 3 + site_weight + ngpus",
        "--format",
        "json",
    ]);
    let document = json(&output);
    let unknown: Vec<_> = document["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|found| found["code"] == "JSF201")
        .collect();
    assert_eq!(unknown.len(), 1, "{document}");
    assert_eq!(
        unknown[0]["message"],
        "`ngpus` and `site_weight` are not known resources, functions or constants"
    );
    let help = unknown[0]["help"].as_str().expect("help");
    assert!(
        help.contains("declare its type (--resource NAME=TYPE)"),
        "{help}"
    );
    assert!(unknown[0]["fix"].is_null(), "{document}");
}

#[test]
fn a_queue_priority_without_queues_is_a_warning() {
    let jobs = recorded("qstat_f.json");
    let output = jsf(&["rank", "queue_priority", "--queue", &jobs, "--top", "1"]);
    assert!(
        stderr(&output).contains("`queue_priority` is 0 for 59 of 59 jobs"),
        "{}",
        stderr(&output)
    );
    let queues = recorded("qstat_Qf.txt");
    let output = jsf(&[
        "rank",
        "queue_priority",
        "--queue",
        &jobs,
        "--queues",
        &queues,
        "--top",
        "1",
    ]);
    assert!(
        !stderr(&output).contains("`queue_priority` is 0"),
        "{}",
        stderr(&output)
    );
}

/// What is doubtful about a file is said although another one, which is read after it, is refused.
#[test]
fn a_warning_is_said_beside_the_error_of_a_later_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("sched_config");
    fs::write(&empty, "").expect("a file");
    let config = empty.display().to_string();
    let jobs = recorded("qstat_f.json");
    assert_refused(
        &["shares", "--sched-config", &config, "--tree", &jobs],
        &format!("warning: `{config}` has no setting"),
    );
}

/// A file of the right kind that says nothing is not used in silence.
#[test]
fn a_file_that_does_not_serve_its_option_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty");
    fs::write(&empty, "# nothing\n").expect("a file");
    let empty = empty.display().to_string();
    let (queues, server, jobs) = (
        recorded("qstat_Qf.json"),
        recorded("qstat_Bf.json"),
        recorded("qstat_f.json"),
    );
    for (option, file, expected) in [
        (
            "--sched-config",
            &empty,
            "has no setting: the defaults apply",
        ),
        ("--resources", &empty, "declares no resource"),
        ("--server", &queues, "describes no server"),
        ("--queues", &server, "describes no queue"),
    ] {
        let output = jsf(&["rank", "ncpus", "--queue", &jobs, option, file]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let expected = format!("`{file}` {expected}");
        assert!(
            said(&output).contains(&expected),
            "`{expected}` is not in: {}",
            said(&output)
        );
    }
    let listing = recorded("qmgr_print_server.txt");
    let output = jsf(&[
        "check",
        "ncpus",
        "--server",
        &listing,
        "--queues",
        &listing,
        "--resources",
        &listing,
    ]);
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_file_that_is_not_needed_is_refused_all_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (missing, table, tree) = (path("missing"), recorded("qstat.txt"), path("tree.json"));
    fs::write(&tree, r#"{"children":[{"name":"Bob","shares":1}]}"#).expect("a file");
    for formula in ["1 +", "ncpus", "x.y", "1"] {
        assert_refused(&["check", formula, "--queue", &missing], "No such file");
        assert_refused(
            &["check", formula, "--queue", &table],
            "is the table that `qstat` prints",
        );
        assert_refused(
            &["rank", formula, "--queue", &table],
            "is the table that `qstat` prints",
        );
        assert_refused(
            &[
                "compare", "--old", formula, "--new", "2", "--queue", &missing,
            ],
            "No such file",
        );
    }
    assert_refused(
        &[
            "shares",
            "--tree",
            &tree,
            "--queue",
            &folder.path().display().to_string(),
        ],
        "it is a folder",
    );
    let site = path("sched_priv");
    fs::create_dir(&site).expect("a folder");
    for (name, expected) in [
        ("resource_group", "is a document of jobs"),
        ("usage", "is a document of jobs"),
    ] {
        let file = folder.path().join("sched_priv").join(name);
        fs::copy(recorded("qstat_f.json"), &file).expect("a copy");
        let group = folder.path().join("sched_priv/sched_config");
        fs::write(&group, "fair_share: true\n").expect("a file");
        let output = jsf(&["check", "1", "--tree", &tree, "--sched-priv", &site]);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(expected),
            "{name}: {}",
            stderr(&output)
        );
        fs::remove_file(&file).expect("removed");
    }
}

#[test]
fn a_document_without_a_job_that_can_be_read_is_refused() {
    let broken = "{\"id\":\"1.vm\",\"inputs\":{\"ncpus\":\n{\"id\":\"2.vm\" x}\n";
    let wrong = "{\"id\":\"1.vm\",\"resources\":5}\n{\"x\":2}\n";
    for command in ["rank", "check"] {
        for document in [broken, wrong] {
            let output = jsf_with_input(&[command, "ncpus", "--queue", "-"], document);
            let message = stderr(&output);
            assert_eq!(
                (output.status.code(), stdout(&output)),
                (Some(2), String::new()),
                "{message}"
            );
            assert!(
                message.contains("none of its 2 jobs can be read"),
                "{message}"
            );
        }
        let partly = format!("{broken}{{\"id\":\"3.vm\"}}\n");
        assert_eq!(
            jsf_with_input(&[command, "ncpus", "--queue", "-"], &partly)
                .status
                .code(),
            Some(0)
        );
        assert_eq!(
            jsf_with_input(&[command, "ncpus", "--queue", "-"], "{\"jobs\":[]}")
                .status
                .code(),
            Some(0)
        );
    }
}

/// What a file gives twice is named, and refused with `--strict`.
#[test]
fn what_a_file_gives_twice_is_named_and_refused_if_strict() {
    let temporary = tempfile::tempdir().expect("a folder");
    let path = |name: &str| temporary.path().join(name).display().to_string();
    let jobs = path("jobs.json");
    fs::write(
        &jobs,
        r#"{"jobs":[{"id":"1","entity":"Bob","queue":"q","resources":{"ncpus":4}}]}"#,
    )
    .expect("a file");
    let usage = jsf_testing::recorded::encode_usage_file(
        1_700_000_000,
        [("Bob", 5.0), ("Bob", 6.0)].into_iter(),
    );
    fs::write(path("usage"), usage).expect("a file");
    fs::write(path("group"), "Bob 10 root 5\n").expect("a file");
    let sshare =
        "Account|User|RawShares|NormShares|RawUsage\nroot|||1.0|70\n a||40|1.0|50\n a||40|1.0|50\n";
    for (option, text, expected) in [
        (
            "--tree",
            r#"{"children":[{"name":"Bob","shares":1,"shares":2}]}"#,
            "`Bob` has `shares` more than once",
        ),
        ("--tree", sshare, "`a`"),
        (
            "--queues",
            r#"{"Queue":{"q":{"Priority":1,"Priority":2}}}"#,
            "`queue q.Priority` is given more than once",
        ),
        (
            "--queues",
            "Queue: q\n    Priority = 1\n    Priority = 2\n",
            "`queue q.Priority` is given more than once",
        ),
        (
            "--server",
            r#"{"Server":{"vm":{"job_sort_formula":"mem","job_sort_formula":"ncpus"}}}"#,
            "`server vm.job_sort_formula` is given more than once",
        ),
        (
            "--resources",
            "foo type=long\nfoo type=float\n",
            "`foo` is given more than once",
        ),
        (
            "--sched-config",
            "fair_share: True\nfair_share: False\n",
            "line 2: `fair_share` is set on line 1 too",
        ),
        (
            "--resource-group",
            "Bob 10 root 5\nBob 11 root 6\n",
            "line 2: `Bob` is already in the tree",
        ),
    ] {
        let file = path("file");
        fs::write(&file, text).expect("a file");
        let arguments = ["rank", "ncpus", "--queue", &jobs, option, &file];
        let output = jsf(&arguments);
        let message = said(&output);
        assert!(
            output.status.success() && message.contains(expected),
            "{option}: `{expected}` is not in: {message}"
        );
        assert_refused(&[&arguments[..], &["--strict"]].concat(), expected);
    }
    let arguments = [
        "rank",
        "ncpus",
        "--queue",
        &jobs,
        "--resource-group",
        &path("group"),
        "--usage",
        &path("usage"),
    ];
    let expected = "`Bob` has more than one record; the last one counts for it, and all of them for its groups";
    assert!(said(&jsf(&arguments)).contains(expected));
    assert_refused(&[&arguments[..], &["--strict"]].concat(), expected);
}

#[test]
fn a_job_that_is_cut_off_or_given_twice_is_refused_if_strict() {
    let line = |id: &str| {
        format!("{{\"id\":\"{id}\",\"entity\":\"Bob\",\"resources\":{{\"ncpus\":4}}}}\n")
    };
    let entry = |id: &str| {
        format!(
            "    \"{id}\":{{\n      \"Job_Owner\":\"a@b\",\n      \"Resource_List\":{{\n        \"ncpus\":4\n      }}\n    }}"
        )
    };
    let cut = line("1") + &line("2") + "{\"id\":\"3\",\"ent";
    let twice = line("1") + &line("1");
    let qstat = format!(
        "{{\n  \"timestamp\":1,\n  \"Jobs\":{{\n{},\n{}\n  }}\n}}\n",
        entry("1.vm"),
        entry("1.vm")
    );
    for (document, expected) in [
        (
            &cut,
            "is ambiguous or damaged: line 3, job `3`: the job is not valid JSON",
        ),
        (&twice, "is ambiguous or damaged: line 2, job `1`"),
        (&qstat, "is ambiguous or damaged: job `1.vm`"),
    ] {
        let output = jsf_with_input(&["rank", "ncpus", "--queue", "-"], document);
        assert!(
            output.status.success() && stderr(&output).contains("the job is skipped")
                || stderr(&output).contains("this job is skipped"),
            "{}",
            stderr(&output)
        );
        let output = jsf_with_input(&["rank", "ncpus", "--queue", "-", "--strict"], document);
        assert!(
            output.status.code() == Some(2)
                && stderr(&output).contains(expected)
                && !stderr(&output).contains("skipped"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn what_is_wrong_with_a_document_is_said_with_what_was_found_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let utf16: Vec<u8> = "\u{feff}{\"Jobs\":{}}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let empty = "is empty, expected";
    let failed = "; check whether the command that wrote it failed";
    let cut = "; the document is cut off, write it again";
    let site = fs::read(jsf_testing::ROOT.to_owned() + "/examples/site/qstat.json");
    let first_lines = &site.expect("jobs")[..900];
    let found = "column 36: expected `,` or `}`, found `]}`";
    let converted = "; convert it: `iconv -f UTF-16 -t UTF-8`";
    for (option, document, expected) in [
        ("--queue", &b""[..], [empty, failed]),
        (
            "--queue",
            first_lines,
            ["none of its 1 jobs can be read", cut],
        ),
        ("--tree", b"", [empty, failed]),
        (
            "--queue",
            &utf16,
            ["is text in UTF-16, expected", converted],
        ),
        ("--tree", &utf16, ["is text in UTF-16, expected", converted]),
        (
            "--queue",
            b"{\"Jobs\":",
            ["is not valid JSON at line 1", cut],
        ),
        (
            "--tree",
            b"{\"children\":",
            ["is not valid JSON at line 1", cut],
        ),
        (
            "--tree",
            b"{\"shares\":{\"shares\":[",
            ["is invalid JSON (at line 1", cut],
        ),
        (
            "--server",
            b"{\"Server\":{",
            ["is not valid JSON at line 1", cut],
        ),
        (
            "--queues",
            b"{\"Queue\":{",
            ["is not valid JSON at line 1", cut],
        ),
        (
            "--tree",
            br#"{"children":[{"name":"a","shares":1]}"#,
            ["is not valid JSON at line 1", found],
        ),
    ] {
        let path = folder.path().join("document");
        fs::write(&path, document).expect("a file");
        let path = path.display().to_string();
        for expected in expected {
            let command = ["rank", "fairshare_factor", "--site", "examples/site"];
            assert_refused(&[&command[..], &[option, &path]].concat(), expected);
        }
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_and_a_second_output_of_qstat_are_named() {
    let temporary = tempfile::tempdir().expect("a folder");
    let job = "Job Id: 1.vm\n    Job_Owner = Bob@vm\n    Resource_List.ncpus = 4\n\n";
    fs::write(temporary.path().join("qstat.txt"), job).expect("a file");
    fs::write(temporary.path().join("qstat_f.txt"), job).expect("a file");
    fs::create_dir_all(temporary.path().join("sched_priv/usage")).expect("a folder");
    fs::create_dir(temporary.path().join("qstat.json")).expect("a folder");
    let output = jsf(&[
        "rank",
        "ncpus",
        "--site",
        &temporary.path().display().to_string(),
    ]);
    let message = stderr(&output);
    for expected in [
        "`qstat.json` is a folder, expected a file, and is not used",
        "`sched_priv/usage` is a folder, expected a file, and is not used",
        "`qstat_f.txt` is not read, because `qstat.txt` is there",
    ] {
        assert!(
            output.status.success() && message.matches(expected).count() == 1,
            "{expected}: {message}"
        );
    }
}

#[test]
fn a_page_is_not_written_to_standard_output() {
    assert_refused(
        &[
            "rank",
            "ncpus",
            "--queue",
            "examples/site/qstat.json",
            "--report",
            "-",
        ],
        "expected the name of a file: standard output has the results of the command",
    );
}

#[test]
fn the_usage_and_the_queues_of_another_site_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let group = folder.path().join("resource_group");
    fs::write(&group, "chem 10 root 50\nada 11 chem -5\n").expect("written");
    let group = group.to_str().expect("UTF-8");
    let told = |arguments: &[&str]| said(&jsf(arguments));
    let shares = told(&[
        "shares",
        "--resource-group",
        group,
        "--usage",
        &recorded("usage"),
    ]);
    assert!(shares.contains("entities of the usage (first"), "{shares}");
    assert!(shares.contains("line 2: `ada` has -5 shares"), "{shares}");
    let own = told(&[
        "shares",
        "--resource-group",
        &recorded("resource_group"),
        "--usage",
        &recorded("usage"),
    ]);
    assert!(
        !own.contains("entities of the usage") && !own.contains("has -"),
        "{own}"
    );
    let jobs = "examples/site/qstat.json";
    let queues = told(&[
        "rank",
        "queue_priority",
        "--queue",
        jobs,
        "--queues",
        &recorded("qstat_Qf.json"),
    ]);
    assert!(
        queues.contains("no document lists their queues"),
        "{queues}"
    );
    let without = told(&[
        "rank",
        "ncpus",
        "--queue",
        jobs,
        "--queues",
        &recorded("qstat_Qf.json"),
    ]);
    assert!(!without.contains("lists their queues"), "{without}");
}

#[test]
fn a_hole_at_the_start_of_a_file_loses_no_job_behind_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.ndjson");
    let mut bytes = vec![0; 70_000];
    bytes.extend_from_slice(b"\n{\"id\":\"1.vm\",\"resources\":{\"ncpus\":4}}\n");
    fs::write(&path, bytes).expect("a file");
    let path = path.to_str().expect("a path");
    let output = jsf(&["rank", "ncpus", "--queue", path, "--format", "csv"]);
    assert!(stdout(&output).contains("1.vm"), "{}", stderr(&output));
    assert_refused(&["rank", "ncpus", "--queue", "/dev/zero"], "binary data");
}
