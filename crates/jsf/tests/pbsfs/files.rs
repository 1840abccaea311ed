//! `jsf pbsfs` with files that are missing, damaged or read-only.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Output;

use jsf_openpbs::files::usage::UsageFile;
use jsf_testing::skipped;
use tempfile::TempDir;

use super::names_in;
use crate::command::command;

pub(super) fn pbsfs(folder: &Path, arguments: &[&str]) -> Output {
    command().args(["pbsfs", "--sched-priv"]).arg(folder).args(arguments).output().expect("jsf runs")
}

fn code_and_stderr(output: &Output) -> (i32, String) {
    (output.status.code().expect("a code"), String::from_utf8(output.stderr.clone()).expect("UTF-8"))
}

/// A usage file of version 2.
pub(super) fn usage(records: &[(&str, f64)]) -> Vec<u8> {
    let mut file = [&b"PBS_MAG!\0"[..], &[0; 7], &2f64.to_le_bytes(), &1_700_000_000i64.to_le_bytes()].concat();
    for (name, usage) in records {
        let mut field = name.as_bytes().to_vec();
        field.resize(56, 0);
        file.extend([&field[..], &usage.to_le_bytes()].concat());
    }
    file
}

pub(super) fn sched_priv(usage: Option<&[u8]>) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("resource_group"), "Bob 10 root 5\nSuzy 11 root 5\n").expect("a file");
    fs::write(folder.path().join("sched_config"), "fairshare_usage_res: cput\n").expect("a file");
    if let Some(usage) = usage {
        fs::write(folder.path().join("usage"), usage).expect("a file");
    }
    folder
}

pub(super) fn records(path: &Path) -> Vec<(String, f64)> {
    let file = UsageFile::parse(&fs::read(path).expect("a file")).expect("small enough");
    file.records.into_iter().map(|record| (record.entity, record.usage)).collect()
}

#[test]
fn a_missing_usage_file_is_created() {
    let folder = sched_priv(None);
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-s", "Bob", "7"]));
    let missing = "Could not backup usage database.: No such file or directory\n";
    assert_eq!((code, stderr), (0, format!("Creating usage database for fairshare.\n{missing}")));
    assert_eq!(records(&folder.path().join("usage")), [("Bob".to_owned(), 7.0)]);
    assert_eq!(names_in(folder.path()), ["resource_group", "sched_config", "usage", "usage.touch"]);
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-s", "Bob", "8"]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(records(&folder.path().join("usage.bak")), [("Bob".to_owned(), 7.0)]);
}

#[test]
fn permissions_are_kept_and_the_old_file_is_replaced() {
    let folder = sched_priv(Some(&usage(&[("Bob", 4.0)])));
    let path = folder.path().join("usage");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
    let before = fs::metadata(&path).expect("a file");
    for _ in 0..2 {
        assert_eq!(code_and_stderr(&pbsfs(folder.path(), &["-d"])), (0, String::new()));
    }
    let after = fs::metadata(&path).expect("a file");
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino());
    assert_eq!(records(&path), []);
    assert_eq!(records(&folder.path().join("usage.bak")), [("Bob".to_owned(), 2.0)]);
    let names = ["resource_group", "sched_config", "usage", "usage.bak", "usage.touch"];
    assert_eq!(names_in(folder.path()), names);
}

#[test]
fn a_file_that_was_not_read_completely_is_kept() {
    let broken = [usage(&[("Bob", 4.0), ("Suzy", -1.0), ("x", 3.0)]), b"cut".to_vec()].concat();
    let folder = sched_priv(Some(&broken));
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-p"]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    for time in 1..=3 {
        let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-e"]));
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains("usage.unread-"), "{stderr}");
        let kept: Vec<_> =
            names_in(folder.path()).into_iter().filter(|name| name.starts_with("usage.unread-")).collect();
        assert_eq!(kept.len(), time);
        for name in kept {
            assert_eq!(fs::read(folder.path().join(name)).expect("a file"), broken);
        }
        assert_eq!(records(&folder.path().join("usage")), [("Bob".to_owned(), 4.0)]);
        fs::write(folder.path().join("usage"), &broken).expect("a file");
    }
}

#[test]
fn a_file_of_version_1_is_not_trimmed() {
    let record = [&b"stranger"[..], &[0; 8], &9f64.to_le_bytes()].concat();
    let folder = sched_priv(Some(&record));
    assert_eq!(code_and_stderr(&pbsfs(folder.path(), &["-e"])), (0, String::new()));
    assert_eq!(records(&folder.path().join("usage")), [("stranger".to_owned(), 9.0)]);
    assert_eq!(code_and_stderr(&pbsfs(folder.path(), &["-e"])), (0, String::new()));
    assert_eq!(records(&folder.path().join("usage")), []);
}

#[test]
fn setting_usage_does_not_invent_a_time_of_the_last_decay() {
    let folder = sched_priv(Some(b"PBS_MAG!"));
    assert_eq!(code_and_stderr(&pbsfs(folder.path(), &["-s", "Suzy", "0x10"])).0, 0);
    let written = fs::read(folder.path().join("usage")).expect("a file");
    assert_eq!(written[24..32], [0; 8]);
    assert_eq!(records(&folder.path().join("usage")), [("Suzy".to_owned(), 16.0)]);
}

#[test]
fn unreadable_folders_and_files_are_reported() {
    let folder = sched_priv(Some(&usage(&[])));
    let nowhere = folder.path().join("nowhere");
    let no_folder = "Unable to access fairshare data: No such file or directory\njsf: cannot read `";
    let (code, stderr) = code_and_stderr(&pbsfs(&nowhere, &["-p"]));
    assert!(code == 2 && stderr.starts_with(no_folder), "{stderr}");
    let no_folder = "Unable to access fairshare data: Not a directory\njsf: cannot read `";
    let (code, stderr) = code_and_stderr(&pbsfs(&folder.path().join("usage"), &["-t"]));
    assert!(code == 2 && stderr.starts_with(no_folder), "{stderr}");
    fs::remove_file(folder.path().join("sched_config")).expect("removed");
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-t"]));
    assert!(code == 0 && stderr.contains("sched_config") && stderr.contains("defaults"), "{stderr}");
    fs::remove_file(folder.path().join("resource_group")).expect("removed");
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-t"]));
    assert!(code == 2 && stderr.contains("resource_group"), "{stderr}");
}

#[test]
fn a_usage_that_does_not_count_is_named() {
    for (entity, value, expected) in [
        ("Bob", "x", "`x` is not a number: the usage of `Bob` is not changed"),
        ("Bob", "nan", "`nan` is not a number of at least 0"),
        ("Bob", "1e400", "`1e400` is infinite: it is written"),
        ("Bob", "-5", "`-5` is not a number of at least 0"),
        ("unknown", "5", "`unknown` is a group"),
    ] {
        let folder = sched_priv(Some(&usage(&[("Bob", 4.0)])));
        let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-s", "--", entity, value]));
        assert!(code == 0 && stderr.starts_with("jsf: warning: ") && stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn a_folder_in_the_place_of_the_usage_file_is_kept() {
    let folder = sched_priv(None);
    fs::create_dir(folder.path().join("usage")).expect("a folder");
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-d"]));
    assert!(code == 2 && stderr.contains("is not a file"), "{stderr}");
    assert_eq!(names_in(folder.path()), ["resource_group", "sched_config", "usage"]);
}

/// The tests may run as root, who can write everywhere; so the failure is a folder in the place of a file. One that would
/// show only after the replacement is found before it.
#[test]
fn a_failed_write_changes_nothing() {
    for (name, expected) in [("usage.bak", "cannot replace"), ("usage.touch", "usage.touch` is a folder")] {
        let before = usage(&[("Bob", 4.0)]);
        let folder = sched_priv(Some(&before));
        fs::create_dir(folder.path().join(name)).expect("a folder");
        let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-d"]));
        assert!(code == 2 && stderr.contains(expected), "{stderr}");
        assert_eq!(fs::read(folder.path().join("usage")).expect("a file"), before);
        assert_eq!(names_in(folder.path()), ["resource_group", "sched_config", "usage", name]);
    }
}

#[test]
fn a_link_is_never_followed_to_a_file_that_is_truncated() {
    let folder = sched_priv(Some(&usage(&[("Bob", 4.0)])));
    let elsewhere = tempfile::tempdir().expect("a folder");
    for name in ["usage.touch", "usage.bak", "usage.lock"] {
        let target = elsewhere.path().join(name);
        fs::write(&target, "precious").expect("a file");
        symlink(&target, folder.path().join(name)).expect("a link");
    }
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-d"]));
    assert!(code == 2 && stderr.contains("usage.lock` cannot be opened"), "{stderr}");
    fs::remove_file(folder.path().join("usage.lock")).expect("removed");
    assert_eq!(code_and_stderr(&pbsfs(folder.path(), &["-d"])), (0, String::new()));
    for name in ["usage.touch", "usage.bak", "usage.lock"] {
        assert_eq!(fs::read(elsewhere.path().join(name)).expect("a file"), b"precious", "{name}");
    }
    assert!(!folder.path().join("usage.touch").is_symlink());
    assert_eq!(records(&folder.path().join("usage.bak")), [("Bob".to_owned(), 4.0)]);
}

#[test]
fn a_linked_usage_file_is_replaced_behind_the_link() {
    let folder = sched_priv(None);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let target = elsewhere.path().join("fairshare");
    let link = folder.path().join("usage");
    symlink(&target, &link).expect("a link");
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-d"]));
    assert!(code == 2 && stderr.contains("is a symbolic link to"), "{stderr}");
    fs::write(&target, usage(&[("Bob", 4.0)])).expect("a file");
    assert_eq!(code_and_stderr(&pbsfs(folder.path(), &["-d"])), (0, String::new()));
    assert!(link.is_symlink());
    assert_eq!(records(&target), [("Bob".to_owned(), 2.0)]);
    assert_eq!(records(&folder.path().join("usage.bak")), [("Bob".to_owned(), 4.0)]);
    assert_eq!(names_in(folder.path()), ["resource_group", "sched_config", "usage", "usage.bak", "usage.touch"]);
    assert_eq!(names_in(elsewhere.path()), ["fairshare"]);
}

/// Only root can make a link that belongs to somebody else.
#[test]
fn a_link_of_another_user_is_not_followed() {
    let folder = sched_priv(None);
    let target = folder.path().join("secret");
    fs::write(&target, "precious").expect("a file");
    for (name, arguments) in [("usage", &["-d"][..]), ("usage", &["-s", "Bob", "5"]), ("usage", &["-e"])] {
        let link = folder.path().join(name);
        symlink(&target, &link).expect("a link");
        if std::os::unix::fs::lchown(&link, Some(65_534), Some(65_534)).is_err() {
            return skipped::on_this_system("the right to give a link to another user");
        }
        let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), arguments));
        assert!(code == 2 && stderr.contains("that another user made"), "{stderr}");
        assert_eq!(fs::read(&target).expect("a file"), b"precious");
        assert_eq!(names_in(folder.path()), ["resource_group", "sched_config", "secret", "usage"]);
        fs::remove_file(link).expect("removed");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_are_kept() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};

    let folder = sched_priv(Some(&usage(&[("Bob", 4.0)])));
    let path = folder.path().join("usage");
    if let Err(error) = setxattr(&path, "user.origin", b"site", XattrFlags::CREATE) {
        return skipped::on_this_system(&format!("file system with extended attributes ({error})"));
    }
    for _ in 0..2 {
        assert_eq!(code_and_stderr(&pbsfs(folder.path(), &["-d"])), (0, String::new()));
    }
    for name in ["usage", "usage.bak"] {
        let mut value = [0; 16];
        let bytes = getxattr(folder.path().join(name), "user.origin", &mut value[..]).expect("the attribute");
        assert_eq!(&value[..bytes], b"site", "{name}");
    }
}

/// The tests may run as root, who can read everything; so each file is a folder.
#[test]
fn a_file_that_cannot_be_read_is_not_taken_for_missing() {
    for name in ["sched_config", "resource_group", "usage"] {
        let before = usage(&[("Bob", 4.0)]);
        let folder = sched_priv(Some(&before));
        let path = folder.path().join(name);
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("a folder");
        for arguments in [&["-d"][..], &["-e"], &["-s", "Bob", "3"], &["-p"]] {
            let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), arguments));
            assert!(code == 2 && stderr.contains(name), "{arguments:?}: {code} {stderr}");
            assert_eq!(names_in(folder.path()), ["resource_group", "sched_config", "usage"]);
        }
        if name != "usage" {
            assert_eq!(fs::read(folder.path().join("usage")).expect("a file"), before);
        }
    }
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let folder = sched_priv(Some(&usage(&[("Bob", 4.0)])));
    let mut ended = std::process::Command::new("true").spawn().expect("a process");
    ended.wait().expect("it ends");
    let (ended, running) = (ended.id(), std::process::id());
    for name in [&*format!("new-{ended}"), &format!("new-{ended}-1"), "old-2024", "new-notes"] {
        fs::write(folder.path().join(format!("usage.{name}")), "").expect("a file");
    }
    fs::write(folder.path().join(format!("usage.touch.new-{ended}")), "").expect("a file");
    fs::write(folder.path().join(format!("usage.new-{running}")), "").expect("a file");
    assert_eq!(code_and_stderr(&pbsfs(folder.path(), &["-d"])), (0, String::new()));
    let left = names_in(folder.path());
    let kept = format!("usage.new-{running}");
    let expected = [
        "resource_group",
        "sched_config",
        "usage",
        "usage.bak",
        &kept,
        "usage.new-notes",
        "usage.old-2024",
        "usage.touch",
    ];
    assert_eq!(left, expected);
}

#[test]
fn a_read_only_folder_is_reported() {
    let before = usage(&[("Bob", 4.0)]);
    let folder = sched_priv(Some(&before));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).expect("permissions");
    let writes_anywhere = fs::write(folder.path().join("probe"), "").is_ok();
    let output = pbsfs(folder.path(), &["-d"]);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
    if !writes_anywhere {
        let (code, stderr) = code_and_stderr(&output);
        assert!(code == 2 && stderr.contains("cannot replace") && stderr.contains("ermission"), "{stderr}");
        assert_eq!(fs::read(folder.path().join("usage")).expect("a file"), before);
        assert_eq!(names_in(folder.path()), ["resource_group", "sched_config", "usage"]);
    }
}

#[test]
fn invalid_arguments_give_the_messages_of_pbsfs() {
    let folder = sched_priv(Some(&usage(&[])));
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-g"]));
    assert_eq!((code, stderr.as_str()), (1, "Usage: pbsfs [-I sched_name] -g <fairshare_entity>\n"));
    let (code, stderr) = code_and_stderr(&pbsfs(folder.path(), &["-z", "-c", "Bob", "nobody"]));
    let expected = "pbsfs: invalid option -- 'z'\nFairshare Entity nobody does not exist.\n";
    assert_eq!((code, stderr.as_str()), (1, expected));
    let output = command().args(["pbsfs", "-I", "other", "-p"]).output();
    let (code, stderr) = code_and_stderr(&output.expect("jsf runs"));
    assert!(code == 1 && stderr.starts_with("Can't connect to the server\n"), "{stderr}");
    let output = command().args(["pbsfs", "-p", "--sched-priv"]).output();
    assert_eq!(code_and_stderr(&output.expect("jsf runs")).0, 2);
}

#[test]
fn invalid_lines_give_the_messages_of_pbsfs() {
    let folder = sched_priv(Some(&usage(&[])));
    let lines = b"a 10 root 5\na 11 root 6\nb x nobody 5\nroot 12 root 1\n\xe9t\xe9 13 root 1\nunknown 14 root 1\n";
    fs::write(folder.path().join("resource_group"), lines).expect("a file");
    let output = pbsfs(folder.path(), &["-t"]);
    let expected: &[u8] = b" TREEROOT(0)\n     \xe9t\xe9(13)\n     root(12)\n     a(10)\n     unknown(1)\n";
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
    fs::write(folder.path().join("resource_group"), "a 10 root 3\nb 11 root 5\nc 12 root -9\n").expect("a file");
    let output = pbsfs(folder.path(), &["-p"]);
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let percentages: Vec<_> = stdout.lines().skip(2).filter_map(|line| line.split("Perc:").nth(1)).collect();
    assert_eq!(percentages, [" 900.000%", " 62.500%", " 37.500%", "  0.000%"]);
}
