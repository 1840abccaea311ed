//! The script of `jsf capture`, with commands that print recorded output, makes a folder that `--site` reads.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::command::{jsf, json, stderr, stdout, success};
use crate::support::golden;

/// Writes a command that prints the file of the first pattern that its arguments match.
fn fake(folder: &Path, name: &str, cases: &[(&str, &str)]) {
    let case = |(arguments, file): &(&str, &str)| match *file {
        "" => format!("'{arguments}') echo '{name}: Unauthorized Request' >&2; exit 1;;\n"),
        file => format!("'{arguments}') cat '{}';;\n", golden::path(file).display()),
    };
    let cases: String = cases.iter().map(case).collect();
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\ncase \"$*\" in\n{cases}*) exit 3;;\nesac\n")).expect("a command");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a command");
}

#[test]
fn the_script_makes_a_site_and_notes_what_is_missing() {
    let temporary = tempfile::tempdir().expect("a folder");
    let (bin, home) = (temporary.path().join("bin"), temporary.path().join("home"));
    fs::create_dir_all(&bin).expect("a folder");
    fs::create_dir_all(home.join("sched_priv")).expect("a folder");
    fs::copy(golden::path("openpbs/qstat/sched_config"), home.join("sched_priv/sched_config")).expect("a file");
    fake(
        &bin,
        "qstat",
        &[
            ("-f -F json", "openpbs/qstat/qstat_f.json"),
            ("-Bf -F json", ""),
            ("-Bf", "openpbs/qstat/qstat_Bf.txt"),
            ("-Qf -F json", "openpbs/qstat/qstat_Qf.json"),
        ],
    );
    fake(
        &bin,
        "qmgr",
        &[("-c print server", "openpbs/qstat/qmgr_print_server.txt"), ("-c print resource", ""), ("-c list sched", "")],
    );
    let script = success(&jsf(&["capture"]));
    let path = temporary.path().join("capture.sh");
    fs::write(&path, script).expect("a script");
    let output = Command::new("sh")
        .arg(&path)
        .arg("site")
        .current_dir(temporary.path())
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("PBS_HOME", &home)
        .output()
        .expect("sh");
    assert!(output.status.success(), "{}", stderr(&output));
    let site = temporary.path().join("site");
    let missing = fs::read_to_string(site.join("missing.txt")).expect("notes");
    assert!(missing.contains("server.json: qstat -Bf -F json failed: qstat: Unauthorized Request"), "{missing}");
    assert!(missing.contains("sched_priv/usage: ") && missing.contains("cannot be read by"), "{missing}");
    assert!(stdout(&output).contains("what could not be read"), "{}", stdout(&output));
    let site = site.to_str().expect("a path");
    let ranked = jsf(&["rank", "r_long + queue_priority", "--site", site, "--format", "json"]);
    assert_eq!(ranked.status.code(), Some(0), "{}", stderr(&ranked));
    assert_eq!(json(&ranked)["summary"]["jobs"], 59);
    let again = Command::new("sh").arg(&path).arg(site).output().expect("sh");
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn names_have_kind_unit_and_origin() {
    let resources = golden::path("openpbs/qstat/resourcedef");
    let resources = resources.to_str().expect("a path");
    let output = jsf(&["names", "--resources", resources, "--resource", "extra=size", "--format", "json"]);
    let document = json(&output);
    let name = |name: &str| {
        let names = document["names"].as_array().expect("names");
        names.iter().find(|found| found["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    assert_eq!(name("walltime")["unit"], "s");
    assert_eq!((&name("extra")["kind"], &name("extra")["unit"]), (&"size".into(), &"kb".into()));
    assert_eq!(name("r_long")["origin"], "declared by the site");
    assert_eq!(name("pow")["kind"], "function");
    assert_eq!(name("fairshare_perc")["origin"], "the scheduler");
    assert!(stdout(&jsf(&["names"])).contains("eligible_time"));
}

#[test]
fn the_captured_example_is_read_and_its_missing_file_is_named() {
    let output = jsf(&["rank", "--site", "examples/captured", "--top", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("is given without the file `usage`"), "{}", stderr(&output));
}
