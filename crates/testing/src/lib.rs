//! What the tests of several crates share: recorded data, generators of random input, what each fuzz
//! target does, and the tests that cannot run on this machine: each is counted, and the test target
//! `skipped` prints them at the end of `cargo test`. Where the environment variable `CI` is true, a tool
//! that is missing is a failure.
//!
//! INVARIANT: only tests, benchmarks and fuzz targets depend on this crate, so that its panics are
//! failures of theirs.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::panic::Location;
use std::path::PathBuf;

#[cfg(feature = "sites")]
pub mod fuzz_targets;
pub mod golden;
pub mod public_items;
pub mod python;
pub mod random;
#[cfg(feature = "sites")]
pub mod recorded;

/// The root of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A file of the repository.
pub fn path(name: &str) -> std::path::PathBuf {
    std::path::Path::new(ROOT).join(name)
}

/// A number from the environment, by which a run can be made longer or started from another seed.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// The running test needs a program that this machine does not have, or does not allow.
#[track_caller]
pub fn without_tool(tool: &str) {
    let is_ci = std::env::var("CI").is_ok_and(|value| matches!(&*value, "true" | "1"));
    assert!(!is_ci, "{tool} is needed where CI is true");
    note(tool);
}

/// The running test needs what this system does not have, such as the rights of root.
#[track_caller]
pub fn on_this_system(lacks: &str) {
    note(lacks);
}

#[track_caller]
fn note(lacks: &str) {
    let thread = std::thread::current();
    let test = match thread.name() {
        // without other threads all tests run on this one
        None | Some("main") => Location::caller().to_string(),
        Some(name) => name.to_owned(),
    };
    eprintln!("{test} is skipped: there is no {lacks}");
    let line = format!("{lacks}\t{test}\n");
    let file = OpenOptions::new().create(true).append(true).open(list());
    // a single write, since tests run at the same time
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .expect("the list of skipped tests");
}

/// The first part of the name of a list, before the number of the process whose children write it.
pub const LIST: &str = "skipped-";

/// The list of this run: all test programs of a `cargo test` are children of the same process and
/// in the same folder.
fn list() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    program.with_file_name(format!("{LIST}{}", parent()))
}

#[cfg(unix)]
fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// Where a process does not know its parent, the list is that of all runs since the last summary.
#[cfg(not(unix))]
fn parent() -> u32 {
    0
}

/// What was skipped in this run, one line, and forgets it.
pub fn summary() -> String {
    let text = fs::read_to_string(list()).unwrap_or_default();
    let _ = fs::remove_file(list());
    let mut skipped: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect();
    skipped.sort_unstable();
    // a test that asks for a tool twice is one
    skipped.dedup();
    if skipped.is_empty() {
        return "no test was skipped".to_owned();
    }
    let reasons: Vec<String> = skipped
        .chunk_by(|left, right| left.0 == right.0)
        .map(|tests| format!("{} without {}", tests.len(), tests[0].0))
        .collect();
    let noun = if skipped.len() == 1 {
        "test was"
    } else {
        "tests were"
    };
    format!("{} {noun} skipped: {}", skipped.len(), reasons.join(", "))
}
