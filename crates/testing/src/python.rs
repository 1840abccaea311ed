//! The Python interpreters of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use job_sort_formula::PythonVersion;

use crate::skipped;

/// The interpreter of the version that the recorded OpenPBS embeds; the running test is skipped
/// without one.
#[track_caller]
pub fn referee() -> Option<PathBuf> {
    let found = installed()
        .iter()
        .find(|(version, _)| *version == PythonVersion::default());
    if found.is_none() {
        skipped::without_tool(&format!("Python {}", PythonVersion::default()));
    }
    found.map(|(_, python)| python.clone())
}

/// The interpreters of all versions that this machine has, with whose results the engine's are
/// compared. The running test counts as skipped for each of the others.
#[track_caller]
pub fn referees() -> &'static [(PythonVersion, PathBuf)] {
    referee();
    for version in PythonVersion::all().filter(|version| *version != PythonVersion::default()) {
        if installed().iter().all(|(known, _)| *known != version) {
            skipped::on_this_system(&format!("Python {version}"));
        }
    }
    installed()
}

fn installed() -> &'static [(PythonVersion, PathBuf)] {
    static FOUND: OnceLock<Vec<(PythonVersion, PathBuf)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        PythonVersion::all()
            .filter_map(|version| Some((version, interpreter(&version.to_string())?)))
            .collect()
    })
}

/// Any interpreter of Python 3, for scripts that depend on no version; the running test is skipped
/// without one.
#[track_caller]
pub fn any() -> Option<PathBuf> {
    let python = PathBuf::from("python3");
    let found = Some(python).filter(|python| has_version(python, "3"));
    if found.is_none() {
        skipped::without_tool("Python 3");
    }
    found
}

/// The interpreter of a version such as `3.11`: `python3`, `python3.11`, or one that pyenv has
/// installed.
fn interpreter(version: &str) -> Option<PathBuf> {
    let named = ["python3".to_owned(), format!("python{version}")].map(PathBuf::from);
    named
        .into_iter()
        .chain(of_pyenv(version))
        .find(|python| has_version(python, version))
}

fn of_pyenv(version: &str) -> Vec<PathBuf> {
    let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let Some(root) = root.or_else(|| Some(std::env::home_dir()?.join(".pyenv"))) else {
        return Vec::new();
    };
    let folders = root
        .join("versions")
        .read_dir()
        .into_iter()
        .flatten()
        .flatten();
    let prefix = format!("{version}.");
    let mut found: Vec<PathBuf> = folders
        .filter(|folder| {
            folder
                .file_name()
                .to_str()
                .is_some_and(|name| name.starts_with(&prefix))
        })
        .map(|folder| folder.path().join("bin/python3"))
        .collect();
    found.sort();
    found
}

/// Whether a program is Python of this version.
fn has_version(program: &Path, version: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| {
        output
            .stdout
            .starts_with(format!("Python {version}.").as_bytes())
    })
}
