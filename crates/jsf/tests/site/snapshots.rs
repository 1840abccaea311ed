//! A snapshot gives the same ranking as its files given one by one, in whichever form it comes.

use std::fs;
use std::path::Path;

use jsf_testing::golden;
use serde_json::Value;

use super::support::{gzip, tar_of, write_snapshot, zstd};
use crate::command::{jsf, jsf_with_input, json, said, stderr, stdout};

const FORMULA: &str = "eligible_time * fairshare_perc + ncpus + queue_priority";

/// The ranking of a site as JSON.
#[track_caller]
fn ranking(site: &Path, more: &[&str]) -> Value {
    let site = site.to_str().expect("a path");
    let output = jsf(&[&["rank", FORMULA, "--format", "json", "--site", site], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    json(&output)
}

fn of_single_files() -> Value {
    let file = |name: &str| {
        golden::path(&format!("openpbs/qstat/{name}"))
            .display()
            .to_string()
    };
    let (queue, queues, server) = (
        file("qstat_f.json"),
        file("qstat_Qf.txt"),
        file("qstat_Bf.txt"),
    );
    let (resources, folder) = (file("resourcedef"), file(""));
    let arguments = [
        "rank", FORMULA, "--format", "json", "--queue", &queue, "--queues", &queues, "--server",
        &server,
    ];
    let output = jsf(&[
        &arguments[..],
        &["--resources", &resources, "--sched-priv", &folder],
    ]
    .concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    json(&output)
}

#[test]
fn a_snapshot_ranks_as_its_files_do_in_every_form() {
    let temporary = tempfile::tempdir().expect("a folder");
    let snapshot = temporary.path().join("made/snapshot_20261122");
    write_snapshot(&snapshot, |_| true);
    let expected = of_single_files();
    assert_eq!(expected["summary"]["jobs"], 59);
    assert_eq!(ranking(&snapshot, &[]), expected);
    assert_eq!(
        ranking(snapshot.parent().expect("a folder"), &[]),
        expected,
        "a folder that contains the snapshot"
    );
    for (name, bytes) in [
        ("plain.tar", tar_of(&snapshot, "snapshot_20261122")),
        ("at_top.tar", tar_of(&snapshot, ".")),
        ("gzip.tgz", gzip(&tar_of(&snapshot, "snapshot_20261122"))),
        (
            "zstd.tar.zst",
            zstd(&tar_of(&snapshot, "snapshot_20261122")),
        ),
    ] {
        let archive = temporary.path().join(name);
        fs::write(&archive, bytes).expect("an archive");
        assert_eq!(ranking(&archive, &[]), expected, "{name}");
    }
}

#[test]
fn a_single_option_replaces_the_file_of_the_site() {
    let temporary = tempfile::tempdir().expect("a folder");
    write_snapshot(temporary.path(), |_| true);
    let site = temporary.path().to_str().expect("a path");
    let one_job = r#"{"id":"1.vm","entity":"Bob","queue":"workq","resources":{"ncpus":4}}"#;
    let output = jsf_with_input(
        &[
            "rank", "ncpus", "--site", site, "--queue", "-", "--format", "json",
        ],
        one_job,
    );
    assert_eq!(json(&output)["summary"]["jobs"], 1, "{}", stderr(&output));
}

#[test]
fn a_partial_snapshot_says_what_is_missing() {
    let temporary = tempfile::tempdir().expect("a folder");
    write_snapshot(temporary.path(), |name| {
        name == "job/qstat_f.out" || name == "sched_priv/resource_group"
    });
    let site = temporary.path().to_str().expect("a path");
    let output = jsf(&[
        "rank",
        "ncpus + fairshare_factor",
        "--site",
        site,
        "--top",
        "3",
        "-v",
    ]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for expected in [
        "taken 20261122_10_15_00:",
        "missing: the queues (`qstat -Qf`): `queue_priority` is 0 for every job",
        "missing: `sched_priv/sched_config`",
        "is given without the file `usage`: the usage of every entity is 1",
    ] {
        assert!(text.contains(expected), "{expected} is not in: {text}");
    }
    let short = said(&jsf(&["rank", "ncpus", "--site", site, "--top", "3"]));
    assert!(
        short.contains(
            "; missing: the server (`qstat -Bf`), the queues (`qstat -Qf`), the resources"
        ),
        "{short}"
    );
    assert_eq!(short.matches("jsf: site: ").count(), 1, "{short}");
    let quiet = jsf(&["rank", "ncpus", "--site", site, "--format", "json"]);
    assert!(!said(&quiet).contains("found in"), "{}", said(&quiet));
}

#[test]
fn the_formula_in_force_is_that_of_the_snapshot() {
    let temporary = tempfile::tempdir().expect("a folder");
    write_snapshot(temporary.path(), |name| name != "sched_priv/sched_formula");
    let formula = "ncpus * 7";
    let listing = format!("Sched default\n    job_sort_formula = {formula}\n");
    fs::write(temporary.path().join("scheduler/qmgr_lsched.out"), listing).expect("a file");
    for name in ["server/qstat_Bf.out", "server/qmgr_ps.out"] {
        let path = temporary.path().join(name);
        let text = fs::read_to_string(&path).expect("a file");
        let without: Vec<&str> = text
            .lines()
            .filter(|line| !line.contains("job_sort_formula ="))
            .collect();
        fs::write(path, without.join("\n")).expect("a file");
    }
    let output = jsf(&[
        "rank",
        "--site",
        temporary.path().to_str().expect("a path"),
        "--format",
        "json",
    ]);
    assert_eq!(json(&output)["formula"], formula, "{}", stderr(&output));
}

#[test]
fn compressed_files_are_read_for_every_option() {
    let temporary = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: Vec<u8>| {
        let path = temporary.path().join(name);
        fs::write(&path, bytes).expect("a file");
        path.to_str().expect("a path").to_owned()
    };
    let recorded = |name: &str| golden::bytes(&format!("openpbs/qstat/{name}"));
    let queue = write("q.json.gz", gzip(&recorded("qstat_f.json")));
    let queues = write("queues.zst", zstd(&recorded("qstat_Qf.txt")));
    let (group, usage) = (
        write("g.gz", gzip(&recorded("resource_group"))),
        write("u.zst", zstd(&recorded("usage"))),
    );
    let config = write("c.gz", gzip(&recorded("sched_config")));
    let resources = write("r.gz", gzip(&recorded("resourcedef")));
    let server = write("s.gz", gzip(&recorded("qstat_Bf.txt")));
    let formula = write("f.gz", gzip(FORMULA.as_bytes()));
    let files = [
        "--queue",
        &queue,
        "--queues",
        &queues,
        "--resource-group",
        &group,
        "--usage",
        &usage,
    ];
    let more = [
        "--sched-config",
        &config,
        "--resources",
        &resources,
        "--server",
        &server,
        "--formula-file",
        &formula,
    ];
    let output = jsf(&[&["rank", "--format", "json"][..], &files, &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut found = json(&output);
    found["formula"] = FORMULA.into();
    assert_eq!(found, of_single_files());
    let cut = write(
        "cut.json.gz",
        gzip(&recorded("qstat_f.json"))[..5000].to_vec(),
    );
    let output = jsf(&["rank", "ncpus", "--queue", &cut]);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(2), String::new())
    );
}

#[test]
fn a_folder_without_a_site_and_one_with_two_are_refused() {
    let temporary = tempfile::tempdir().expect("a folder");
    let refusal = |expected: &str| {
        let output = jsf(&[
            "rank",
            "ncpus",
            "--site",
            temporary.path().to_str().expect("a path"),
        ]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    };
    refusal("contains no file of a site");
    write_snapshot(&temporary.path().join("one"), |_| true);
    write_snapshot(&temporary.path().join("two"), |_| true);
    refusal("it contains several sites: `one`, `two`; give one of them");
}

#[test]
#[cfg(unix)]
fn a_file_of_a_site_that_cannot_be_used_is_named() {
    let temporary = tempfile::tempdir().expect("a folder");
    let at = |name: &str| temporary.path().join(name);
    let ranked = |site: &Path| {
        let output = jsf(&[
            "rank",
            "ncpus",
            "--format",
            "json",
            "--site",
            site.to_str().expect("a path"),
        ]);
        (output.status.code(), stderr(&output))
    };
    fs::write(at("jobs.json"), r#"{"jobs":[{"id":"1","ncpus":2}]}"#).expect("a file");
    fs::write(at("resourcedef"), "").expect("a file");
    assert_eq!(ranked(temporary.path()), (Some(0), String::new()));
    fs::write(at("qstat.json"), "").expect("a file");
    let archive = temporary.path().with_extension("tar");
    fs::write(&archive, tar_of(temporary.path(), "site")).expect("an archive");
    for site in [temporary.path(), &archive] {
        let (code, message) = ranked(site);
        assert!(
            code == Some(0) && message.contains("`qstat.json` is empty and is not used"),
            "{message}"
        );
    }
    fs::remove_file(&archive).expect("it exists");
    for target in ["gone", "qstat.json"] {
        fs::remove_file(at("qstat.json")).expect("it exists");
        std::os::unix::fs::symlink(target, at("qstat.json")).expect("a link");
        let (code, message) = ranked(temporary.path());
        assert!(
            code == Some(2) && message.contains("qstat.json: "),
            "{message}"
        );
    }
}

#[test]
fn a_file_with_two_purposes_is_not_there_twice() {
    let site = golden::path("openpbs/qstat");
    let output = jsf(&[
        "rank",
        FORMULA,
        "--format",
        "json",
        "--strict",
        "--site",
        site.to_str().expect("a path"),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        !stderr(&output).contains("more than once"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn each_file_may_come_from_standard_input() {
    let file = |name: &str| {
        golden::path(&format!("openpbs/qstat/{name}"))
            .display()
            .to_string()
    };
    for (option, name) in [
        ("--server", "qstat_Bf.json"),
        ("--server", "qmgr_print_server.txt"),
        ("--queues", "qstat_Qf.txt"),
        ("--resources", "resourcedef"),
        ("--sched-config", "sched_config"),
        ("--resource-group", "resource_group"),
    ] {
        let (queue, folder) = (file("qstat_f.json"), file(""));
        let arguments = [
            "rank",
            FORMULA,
            "--format",
            "json",
            "--queue",
            &queue,
            "--sched-priv",
            &folder,
        ];
        let from_file = jsf(&[&arguments[..], &[option, &file(name)]].concat());
        let content = fs::read_to_string(file(name)).expect("a text");
        let from_input = jsf_with_input(&[&arguments[..], &[option, "-"]].concat(), &content);
        assert_eq!(
            from_input.status.code(),
            Some(0),
            "{option}: {}",
            stderr(&from_input)
        );
        assert_eq!(stdout(&from_input), stdout(&from_file), "{option} {name}");
    }
}
