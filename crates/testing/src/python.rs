//! The Python interpreters of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::skipped;

/// The version that the recorded OpenPBS embeds, and whose results the engine computes.
pub const REFEREE: &str = "3.11";

/// The interpreter with whose results the engine's are compared; the running test is skipped without one.
#[track_caller]
pub fn referee() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| interpreter(REFEREE)).clone();
    if found.is_none() {
        skipped::without_tool(&format!("Python {REFEREE}"));
    }
    found
}

/// Any interpreter of Python 3, for scripts that depend on no version; the running test is skipped without one.
#[track_caller]
pub fn any() -> Option<PathBuf> {
    let python = PathBuf::from("python3");
    let found = Some(python).filter(|python| has_version(python, "3"));
    if found.is_none() {
        skipped::without_tool("Python 3");
    }
    found
}

/// The interpreter of a version such as `3.11`: `python3`, `python3.11`, or one that pyenv has installed.
fn interpreter(version: &str) -> Option<PathBuf> {
    let named = ["python3".to_owned(), format!("python{version}")].map(PathBuf::from);
    named.into_iter().chain(of_pyenv(version)).find(|python| has_version(python, version))
}

fn of_pyenv(version: &str) -> Vec<PathBuf> {
    let Some(home) = std::env::home_dir() else { return Vec::new() };
    let folders = home.join(".pyenv/versions").read_dir().into_iter().flatten().flatten();
    let prefix = format!("{version}.");
    let mut found: Vec<PathBuf> = folders
        .filter(|folder| folder.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)))
        .map(|folder| folder.path().join("bin/python3"))
        .collect();
    found.sort();
    found
}

/// Whether a program is Python of this version.
fn has_version(program: &Path, version: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.stdout.starts_with(format!("Python {version}.").as_bytes()))
}
