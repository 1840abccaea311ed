//! `jsf pbsfs` with files that are missing or damaged, and with arguments that it refuses.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use super::names_in;
use crate::command::command;

fn pbsfs(folder: &Path, arguments: &[&str]) -> Output {
    command()
        .args(["pbsfs", "--sched-priv"])
        .arg(folder)
        .args(arguments)
        .output()
        .expect("jsf runs")
}

fn code_and_stderr(output: &Output) -> (i32, String) {
    (
        output.status.code().expect("a code"),
        String::from_utf8(output.stderr.clone()).expect("UTF-8"),
    )
}

/// A usage file of version 2.
fn usage(records: &[(&str, f64)]) -> Vec<u8> {
    let mut file = [
        &b"PBS_MAG!\0"[..],
        &[0; 7],
        &2f64.to_le_bytes(),
        &1_700_000_000i64.to_le_bytes(),
    ]
    .concat();
    for (name, usage) in records {
        let mut field = name.as_bytes().to_vec();
        field.resize(56, 0);
        file.extend([&field[..], &usage.to_le_bytes()].concat());
    }
    file
}

fn sched_priv(usage: Option<&[u8]>) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("resource_group"),
        "Bob 10 root 5\nSuzy 11 root 5\n",
    )
    .expect("a file");
    fs::write(
        folder.path().join("sched_config"),
        "fairshare_usage_res: cput\n",
    )
    .expect("a file");
    if let Some(usage) = usage {
        fs::write(folder.path().join("usage"), usage).expect("a file");
    }
    folder
}

#[test]
fn a_missing_usage_file_gives_the_message_of_pbsfs() {
    let folder = sched_priv(None);
    let output = pbsfs(folder.path(), &["-t"]);
    let message = "Creating usage database for fairshare.\n";
    assert_eq!(code_and_stderr(&output), (0, message.to_owned()));
    assert_eq!(names_in(folder.path()), ["resource_group", "sched_config"]);
}

/// The last of several options counts, as with `pbsfs`.
#[test]
fn what_changes_the_usage_is_refused_whatever_its_arguments_and_files() {
    for (arguments, letter) in [
        (&["-s"][..], 's'),
        (&["-s", "Bob"], 's'),
        (&["-I", "other", "-s", "nobody", "x"], 's'),
        (&["-p", "-d"], 'd'),
        (&["-de", "what", "ever"], 'e'),
    ] {
        let output = pbsfs(Path::new("missing"), arguments);
        let message = format!(
            "jsf: jsf does not write a scheduler's files: `pbsfs -{letter}` of OpenPBS changes the usage\n"
        );
        assert_eq!(code_and_stderr(&output), (2, message), "{arguments:?}");
    }
    let folder = sched_priv(Some(&usage(&[])));
    let printed = pbsfs(folder.path(), &["-s", "-d", "-p"]);
    assert_eq!(
        (printed.status.code(), printed.stdout),
        (Some(0), pbsfs(folder.path(), &["-p"]).stdout)
    );
}

#[test]
fn unreadable_folders_and_files_are_reported() {
    let folder = sched_priv(Some(&usage(&[])));
    let nowhere = folder.path().join("nowhere");
    let no_folder =
        "Unable to access fairshare data: No such file or directory\njsf: cannot read `";
    let (code, stderr) = code_and_stderr(&pbsfs(&nowhere, &["-p"]));
    assert!(code == 2 && stderr.starts_with(no_folder), "{stderr}");
    let no_folder = "Unable to access fairshare data: Not a directory\njsf: cannot read `";
    let (code, stderr) = code_and_stderr(&pbsfs(&folder.path().join("usage"), &["-t"]));
    assert!(code == 2 && stderr.starts_with(no_folder), "{stderr}");
    fs::remove_file(folder.path().join("sched_config")).expect("removed");
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-t"]));
    assert!(
        code == 0 && stderr.contains("sched_config") && stderr.contains("defaults"),
        "{stderr}"
    );
    fs::remove_file(folder.path().join("resource_group")).expect("removed");
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-t"]));
    assert!(code == 2 && stderr.contains("resource_group"), "{stderr}");
}

/// The tests may run as root, who can read everything; so each file is a folder.
#[test]
fn a_file_that_cannot_be_read_is_not_taken_for_missing() {
    for name in ["sched_config", "resource_group", "usage"] {
        let folder = sched_priv(Some(&usage(&[("Bob", 4.0)])));
        let path = folder.path().join(name);
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("a folder");
        let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-p"]));
        assert!(code == 2 && stderr.contains(name), "{code} {stderr}");
    }
}

#[test]
fn invalid_arguments_give_the_messages_of_pbsfs() {
    let folder = sched_priv(Some(&usage(&[])));
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-g"]));
    assert_eq!(
        (code, stderr.as_str()),
        (1, "Usage: pbsfs [-I sched_name] -g <fairshare_entity>\n")
    );
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-z", "-c", "Bob", "nobody"]));
    let expected = "pbsfs: invalid option -- 'z'\nFairshare Entity nobody does not exist.\n";
    assert_eq!((code, stderr.as_str()), (1, expected));
    let output = command().args(["pbsfs", "-I", "other", "-p"]).output();
    let (code, stderr) = code_and_stderr(&output.expect("jsf runs"));
    assert!(
        code == 1 && stderr.starts_with("Can't connect to the server\n"),
        "{stderr}"
    );
    let output = command().args(["pbsfs", "-p", "--sched-priv"]).output();
    assert_eq!(code_and_stderr(&output.expect("jsf runs")).0, 2);
}

#[test]
fn invalid_lines_give_the_messages_of_pbsfs() {
    let folder = sched_priv(Some(&usage(&[])));
    let lines = b"a 10 root 5\na 11 root 6\nb x nobody 5\nroot 12 root 1\n\xe9t\xe9 13 root 1\nunknown 14 root 1\n";
    fs::write(folder.path().join("resource_group"), lines).expect("a file");
    let output = pbsfs(folder.path(), &["-t"]);
    let expected: &[u8] =
        b" TREEROOT(0)\n     \xe9t\xe9(13)\n     root(12)\n     a(10)\n     unknown(1)\n";
    assert_eq!(output.stdout, expected, "{}", output.stdout.escape_ascii());
    let (code, stderr) = code_and_stderr(&output);
    let expected = "entity a is not unique\nresgroup: error on line 2.\nParent ginfo of b doesnt exist.\n\
        resgroup: error on line 3.\nentity unknown is not unique\nresgroup: error on line 6.\n";
    assert_eq!((code, stderr.as_str()), (0, expected));
}

/// -1 is the scheduler's mark for shares that it has not yet added up.
#[test]
fn shares_that_add_up_to_minus_one_count_as_not_added_up() {
    let folder = sched_priv(Some(&usage(&[])));
    fs::write(
        folder.path().join("resource_group"),
        "a 10 root 3\nb 11 root 5\nc 12 root -9\n",
    )
    .expect("a file");
    let output = pbsfs(folder.path(), &["-p"]);
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let percentages: Vec<_> = stdout
        .lines()
        .skip(2)
        .filter_map(|line| line.split("Perc:").nth(1))
        .collect();
    assert_eq!(
        percentages,
        [" 900.000%", " 62.500%", " 37.500%", "  0.000%"]
    );
}
