//! Hostile archives are refused in bounded time and memory.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tar::{Builder, EntryType, Header};

use super::support::{gzip, tar_of, write_snapshot};
use crate::command::{command, stderr};

/// Runs a command that is killed, and so has no exit code, once it has worked for a minute of
/// processor time: far more than any of these archives takes in a build without optimization.
const LIMITED: &str = "ulimit -t 60; exec \"$@\"";

fn header(name: &str, size: u64, entry_type: EntryType) -> Header {
    let mut header = Header::new_gnu();
    // the builder would refuse a name outside the archive
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_size(size);
    header.set_mode(0o644);
    header.set_entry_type(entry_type);
    header.set_cksum();
    header
}

fn member(name: &str, entry_type: EntryType) -> Vec<u8> {
    [
        header(name, 0, entry_type).as_bytes().to_vec(),
        vec![0; 1024],
    ]
    .concat()
}

/// The exit code and the message for an archive as `--site`.
fn open(archive: &Path) -> (Option<i32>, String) {
    let mut limited = Command::new("sh");
    limited
        .args([
            "-c",
            LIMITED,
            "sh",
            env!("CARGO_BIN_EXE_jsf"),
            "check",
            "ncpus",
            "--site",
        ])
        .arg(archive);
    let output = limited
        .current_dir(jsf_testing::ROOT)
        .stdin(Stdio::null())
        .output()
        .expect("sh runs");
    (output.status.code(), stderr(&output))
}

#[track_caller]
fn assert_refused(archive: &Path, reason: &str) {
    let (code, message) = open(archive);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains(reason), "{message}");
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("an archive");
    path
}

#[test]
fn names_outside_the_archive_are_refused() {
    let temporary = tempfile::tempdir().expect("a folder");
    for name in [
        "../qstat.json",
        "a/../../qstat.json",
        "/etc/passwd",
        "/qstat.json",
        "server_logs/..",
    ] {
        for archive in [
            member(name, EntryType::Regular),
            gzip(&member(name, EntryType::Regular)),
        ] {
            let archive = written(temporary.path(), "a.tar", &archive);
            assert_refused(
                &archive,
                "has a name outside the archive, so none of its members is read",
            );
        }
    }
    let mut long = Vec::new();
    let name = format!("{}../../etc/passwd", "x/".repeat(60));
    long.extend(header("././@LongLink", name.len() as u64, EntryType::GNULongName).as_bytes());
    long.extend(name.as_bytes());
    long.resize(1024, 0);
    long.extend(member("short", EntryType::Regular));
    assert_refused(
        &written(temporary.path(), "l.tar", &long),
        "has a name outside the archive",
    );
}

#[test]
fn links_and_devices_in_place_of_files_are_refused() {
    let temporary = tempfile::tempdir().expect("a folder");
    let types = [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
    ];
    for entry_type in types {
        let archive = written(
            temporary.path(),
            "a.tar",
            &member("s/sched_priv/usage", entry_type),
        );
        assert_refused(
            &archive,
            "`s/sched_priv/usage` is a link or a device, expected a regular file",
        );
    }
}

#[test]
fn other_members_are_not_opened() {
    let temporary = tempfile::tempdir().expect("a folder");
    let snapshot = temporary.path().join("s");
    write_snapshot(&snapshot, |_| true);
    let mut archive = member("s/mom_priv/link", EntryType::Symlink);
    archive.truncate(512);
    archive.extend(tar_of(&snapshot, "s"));
    let (code, message) = open(&written(temporary.path(), "a.tar", &archive));
    assert_eq!(code, Some(0), "{message}");
}

#[test]
fn a_copy_of_a_disk_goes_on_with_zeros_after_the_archive() {
    let temporary = tempfile::tempdir().expect("a folder");
    let site = Path::new(jsf_testing::ROOT).join("examples/site");
    let path = written(temporary.path(), "padded.tar", &tar_of(&site, "site"));
    let file = File::options().write(true).open(&path).expect("a file");
    file.set_len(40 << 20).expect("a sparse file");
    let (code, message) = open(&path);
    assert_eq!(code, Some(0), "{message}");
}

/// A member of 10 GB of zeros: in a sparse file, and compressed, as a file of the site and as
/// another one.
#[test]
fn ten_gigabytes_of_zeros_take_bounded_time_and_memory() {
    const SIZE: u64 = 10 << 30;
    let temporary = tempfile::tempdir().expect("a folder");
    for (name, is_refused) in [
        ("s/job/qstat_f.out", true),
        ("s/server_logs/20261122", false),
    ] {
        let path = temporary.path().join("sparse.tar");
        let mut file = File::create(&path).expect("a file");
        file.write_all(header(name, SIZE, EntryType::Regular).as_bytes())
            .expect("a header");
        file.seek(SeekFrom::Current(SIZE as i64))
            .expect("a sparse file");
        file.write_all(&member("s/usage", EntryType::Regular))
            .expect("a member");
        drop(file);
        if is_refused {
            assert_refused(&path, "the files of the site have more than")
        } else {
            assert_eq!(open(&path).0, Some(0))
        }
        // half a gigabyte is enough for the limit of the expansion
        let head = header(name, SIZE, EntryType::Regular);
        let zeros = head.as_bytes().chain(io::repeat(0).take(512 << 20));
        let mut compressed = Vec::new();
        flate2::read::GzEncoder::new(zeros, flate2::Compression::default())
            .read_to_end(&mut compressed)
            .expect("gzip");
        let reason = if is_refused {
            "the files of the site have more than"
        } else {
            "more than 200 times"
        };
        assert_refused(&written(temporary.path(), "bomb.tgz", &compressed), reason);
    }
}

#[test]
fn a_million_members_are_refused() {
    let temporary = tempfile::tempdir().expect("a folder");
    let path = temporary.path().join("many.tar");
    let mut file = io::BufWriter::new(File::create(&path).expect("a file"));
    let one = header("s/server_logs/x", 0, EntryType::Regular);
    (0..1_000_000).for_each(|_| file.write_all(one.as_bytes()).expect("a header"));
    drop(file);
    assert_refused(&path, "more than 200000 members");
}

#[test]
fn a_long_name_is_not_read_to_its_end() {
    let temporary = tempfile::tempdir().expect("a folder");
    let path = temporary.path().join("name.tar");
    let mut file = File::create(&path).expect("a file");
    file.write_all(header("././@LongLink", 10 << 30, EntryType::GNULongName).as_bytes())
        .expect("a header");
    file.set_len(11 << 30).expect("a sparse file");
    assert_refused(&path, "the name of a member has more than 65536 bytes");
}

#[test]
fn what_is_no_archive_is_refused() {
    let temporary = tempfile::tempdir().expect("a folder");
    for bytes in [
        &b""[..],
        b"text",
        &gzip(b"text"),
        &[0x1f, 0x8b, 1, 2, 3],
        &[0; 2000],
    ] {
        let (code, message) = open(&written(temporary.path(), "x.tgz", bytes));
        assert_eq!(code, Some(2), "{message}");
    }
    let mut archive = Builder::new(Vec::new());
    archive
        .append(&header("readme", 0, EntryType::Regular), io::empty())
        .expect("an archive");
    let archive = written(
        temporary.path(),
        "other.tar",
        &archive.into_inner().expect("an archive"),
    );
    assert_refused(&archive, "contains no file of a site");
}

#[test]
fn a_cut_archive_is_not_read_as_a_whole_one() {
    let temporary = tempfile::tempdir().expect("a folder");
    let site = Path::new(jsf_testing::ROOT).join("examples/site");
    let whole = tar_of(&site, "site");
    let name = b"site/sched_priv/resource_group\0";
    let header_of_group = whole
        .windows(name.len())
        .position(|bytes| bytes == name)
        .expect("a member");
    let (code, message) = open(&written(temporary.path(), "whole.tar", &whole));
    assert!(
        code == Some(0) && !message.contains("blocks of zeros"),
        "{message}"
    );
    let inside = &whole[..header_of_group + 512 + 100];
    let reason = "the archive is cut: `site/sched_priv/resource_group` has 100 bytes, expected";
    let cut = written(temporary.path(), "cut.tar", inside);
    assert_refused(&cut, reason);
    let output = command()
        .args(["check", "ncpus", "--site", "-"])
        .stdin(File::open(&cut).expect("a file"))
        .output();
    let output = output.expect("jsf ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    // inside a member that is skipped
    let other = tar_of(&site, "other/folder");
    let cut = written(temporary.path(), "skipped.tar", &other[..600]);
    assert_refused(
        &cut,
        "the archive is cut: it ends inside a member; copy it again",
    );
    // between two members, of which the first is one of the site
    let (code, message) = open(&written(
        temporary.path(),
        "between.tar",
        &whole[..header_of_group],
    ));
    assert_eq!(code, Some(0), "{message}");
    assert!(
        message.contains("ends without the two blocks of zeros that end a tar archive"),
        "{message}"
    );
}

#[test]
fn an_archive_with_a_wrong_checksum_is_refused() {
    let temporary = tempfile::tempdir().expect("a folder");
    let good = gzip(&tar_of(
        &Path::new(jsf_testing::ROOT).join("examples/site"),
        "site",
    ));
    assert_eq!(
        open(&written(temporary.path(), "good.tgz", &good)).0,
        Some(0)
    );
    let mut bad = good.clone();
    let checksum = bad.len() - 8;
    bad[checksum] ^= 1;
    let (code, message) = open(&written(temporary.path(), "bad.tgz", &bad));
    assert!(code == Some(2), "{message}");
    let (code, message) = open(&written(temporary.path(), "cut.tgz", &good[..checksum]));
    assert!(code == Some(2), "{message}");
}
