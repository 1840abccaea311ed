//! Which Python the server embeds: as the option says, as the files of the site do, or as the
//! script of `jsf capture` finds it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::support::{tar_of, write_snapshot};
use crate::command::{jsf, json, stderr, stdout, success};

const SYSTEM: &str = "Linux-5.14.0-el9.x86_64\n\n/etc/os-release:\nNAME=\"Rocky Linux\"\nID=\"rocky\"\nVERSION_ID=\"9.3\"\nPRETTY_NAME=\"Rocky Linux 9.3\"\n";

/// The version that `jsf check` answers for.
#[track_caller]
fn python(site: &Path, more: &[&str]) -> String {
    let site = site.to_str().expect("a path");
    let output = jsf(&[
        &["check", "ncpus", "--format", "json", "--site", site],
        more,
    ]
    .concat());
    json(&output)["python"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", stderr(&output)))
        .to_owned()
}

#[test]
fn the_version_is_the_one_given_else_that_of_the_files() {
    let temporary = tempfile::tempdir().expect("a folder");
    let site = temporary.path().join("snapshot");
    write_snapshot(&site, |_| true);
    assert_eq!(python(&site, &[]), "3.11");
    fs::create_dir(site.join("system")).expect("a folder");
    fs::write(site.join("system/os_info"), SYSTEM).expect("a file");
    assert_eq!(python(&site, &[]), "3.9");
    let archive = temporary.path().join("snapshot.tar");
    fs::write(&archive, tar_of(&site, "snapshot")).expect("an archive");
    assert_eq!(python(&archive, &[]), "3.9");
    fs::write(site.join("python_version.txt"), "Python 3.12.1\n").expect("a file");
    assert_eq!(python(&site, &[]), "3.12");
    assert_eq!(python(&site, &["--python", "3.6.8"]), "3.6");
    for (text, expected) in [
        (
            "Python 2.7.5\n",
            "contains `Python 2.7.5`, expected a version",
        ),
        ("", "is empty"),
    ] {
        fs::write(site.join("python_version.txt"), text).expect("a file");
        let output = jsf(&[
            "check",
            "ncpus",
            "--format",
            "json",
            "--site",
            site.to_str().expect("a path"),
        ]);
        assert_eq!(json(&output)["python"], "3.9");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

/// PBS Professional brings its own Python, whatever the system has.
#[test]
fn the_system_says_nothing_without_the_version_of_openpbs() {
    let temporary = tempfile::tempdir().expect("a folder");
    let site = temporary.path();
    write_snapshot(site, |_| true);
    fs::create_dir(site.join("system")).expect("a folder");
    fs::write(site.join("system/os_info"), SYSTEM).expect("a file");
    for (version, expected) in [
        ("pbs_version = 2022.1.1", "3.11"),
        ("a = b", "3.11"),
        ("pbs_version = 20.0.1", "3.9"),
    ] {
        for file in ["server/qstat_Bf.out", "server/qmgr_ps.out"] {
            let text = fs::read_to_string(site.join(file)).expect("text");
            let lines = text.lines().map(|line| {
                if line.contains("pbs_version") {
                    "    NOTED"
                } else {
                    line
                }
            });
            let text = lines.collect::<Vec<_>>().join("\n") + "\n";
            let text = if text.contains("NOTED") {
                text
            } else {
                text.replace("    server_state", "    NOTED\n    server_state")
            };
            fs::write(site.join(file), text.replace("NOTED", version)).expect("a file");
        }
        assert_eq!(python(site, &[]), expected, "{version}");
        for file in ["server/qstat_Bf.out", "server/qmgr_ps.out"] {
            let text = fs::read_to_string(site.join(file)).expect("text");
            fs::write(site.join(file), text.replace(version, "pbs_version = 1")).expect("a file");
        }
    }
}

#[test]
fn people_are_told_which_python_it_is() {
    let temporary = tempfile::tempdir().expect("a folder");
    let site = temporary.path();
    write_snapshot(site, |_| true);
    fs::write(site.join("python_version.txt"), "Python 3.9.18\n").expect("a file");
    let site = site.to_str().expect("a path");
    let ranked = jsf(&["rank", "ncpus", "--site", site, "--full", "-v"]);
    assert!(
        stderr(&ranked).contains("  python     3.9 (python_version.txt)\n"),
        "{}",
        stderr(&ranked)
    );
    let line = stdout(&ranked)
        .lines()
        .find(|line| line.starts_with("python:"))
        .map(str::to_owned);
    let line = line.unwrap_or_else(|| panic!("{}", stdout(&ranked)));
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>(),
        ["python:", "3.9", "(python_version.txt)"]
    );
    for arguments in [
        &["check", "ncpus"][..],
        &["explain", "ncpus", "--job", "1"],
        &["compare", "--old", "ncpus", "--new", "ncpus * 2"],
        &["trajectory", "ncpus", "--job", "1"],
    ] {
        let output = jsf(&[arguments, &["--site", site, "--full", "--python", "3.8"]].concat());
        assert!(
            stdout(&output).contains("3.8 (given)"),
            "{arguments:?}: {}{}",
            stdout(&output),
            stderr(&output)
        );
    }
    let assumed = jsf(&["check", "ncpus", "--site", "examples/site", "-v"]);
    assert!(
        stderr(&assumed).contains("  python     3.11 (assumed, as no file says it)\n"),
        "{}",
        stderr(&assumed)
    );
    assert!(!stdout(&assumed).contains("3.11"));
}

#[test]
fn another_text_is_no_version() {
    for command in [
        &["check", "ncpus"][..],
        &["rank", "ncpus"],
        &["compare", "--old", "ncpus", "--new", "mem"],
        &["explain", "ncpus", "--job", "1"],
        &["page", "--out", "-"],
        &["trajectory", "ncpus", "--job", "1"],
        &["simulate", "ncpus", "--workload", "-", "--processors", "1"],
        &["replay", "log"],
        &["shares"],
        &["names"],
    ] {
        for text in ["2.7", "3.5", "3.99", "3", "latest", ""] {
            let output = jsf(&[command, &["--python", text]].concat());
            assert_eq!(output.status.code(), Some(2), "{command:?} {text}");
            let expected = format!(
                "`{text}` is not a known version of Python, expected a version of Python from 3.6 to 3.14, such as 3.9"
            );
            assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
        }
    }
}

/// Writes a command of `sh`.
fn write_command(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, format!("#!/bin/sh\n{script}\n")).expect("a command");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a command");
}

/// What the script writes into `python_version.txt` and `missing.txt`, with these commands below
/// PBS's folder.
fn captured(commands: &[(&str, &str)]) -> (Option<String>, String) {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    let (bin, pbs) = (folder.join("bin"), folder.join("pbs"));
    write_command(
        &bin.join("qstat"),
        "[ \"$1\" = -Bf ] || exit 1; echo 'Server: pbs'; echo '    pbs_version = 23.06.06'",
    );
    write_command(&bin.join("ldd"), "cat \"$1.libraries\"");
    fs::create_dir(&pbs).expect("a folder");
    for (path, script) in commands {
        write_command(&pbs.join(path), script);
    }
    fs::write(
        folder.join("os-release"),
        "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian 12\"\n",
    )
    .expect("a file");
    fs::write(
        folder.join("pbs.conf"),
        format!("PBS_EXEC={}\n", pbs.display()),
    )
    .expect("a file");
    fs::write(folder.join("capture.sh"), success(&jsf(&["capture"]))).expect("a script");
    let output = Command::new("sh")
        .args(["capture.sh", "site"])
        .current_dir(folder)
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("PBS_CONF_FILE", folder.join("pbs.conf"))
        .env("PBS_HOME", folder.join("home"))
        .env("OS_RELEASE", folder.join("os-release"))
        .env_remove("PBS_EXEC")
        .output()
        .expect("sh");
    assert!(output.status.success(), "{}", stderr(&output));
    let read = |name: &str| fs::read_to_string(folder.join("site").join(name)).ok();
    let is_on_server = commands.iter().any(|(path, _)| *path == "sbin/pbs_sched");
    assert_eq!(read("os_release.txt").is_some(), is_on_server);
    let version = read("python_version.txt");
    if version.is_none() && is_on_server {
        assert_eq!(python(&folder.join("site"), &[]), "3.11", "Debian 12");
    }
    (version, read("missing.txt").unwrap_or_default())
}

#[test]
fn the_script_records_the_python_of_the_server() {
    let own = ("python/bin/python", "echo Python 3.12.1");
    let sched = ("sbin/pbs_sched", "");
    let linked = (
        "sbin/pbs_sched.libraries",
        "\tlibpython3.6m.so.1.0 => /lib64/libpython3.6m.so.1.0 (0x7f)",
    );
    let of_python = (
        "bin/pbs_python",
        "[ \"$1\" = --version ] && echo pbs_version = 23.06.06 || echo Python 3.9.18",
    );
    let of_version = (
        "bin/pbs_python",
        "[ \"$1\" = --version ] && echo Python 3.10.2",
    );
    for (commands, expected) in [
        (
            &[own, sched, linked, of_python][..],
            Some("Python 3.12.1\n"),
        ),
        (
            &[("python/bin/python3", "echo Python 3.8.2"), sched],
            Some("Python 3.8.2\n"),
        ),
        (&[sched, linked, of_python], Some("Python 3.6\n")),
        (&[sched, of_python], Some("Python 3.9.18\n")),
        (&[of_version], Some("Python 3.10.2\n")),
        (&[sched], None),
        (&[], None),
    ] {
        let (version, missing) = captured(commands);
        assert_eq!(version.as_deref(), expected, "{commands:?}");
        assert_eq!(
            missing.contains("python_version.txt: no Python of PBS was found in "),
            expected.is_none(),
            "{missing}"
        );
        assert_eq!(
            missing.contains("os_release.txt: this host has no "),
            !commands.contains(&sched),
            "{missing}"
        );
    }
}
