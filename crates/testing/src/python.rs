//! The Python interpreters of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use job_sort_formula::PythonVersion;

/// The interpreter of the version that the recorded OpenPBS embeds; the running test is skipped
/// without one.
#[track_caller]
pub fn referee() -> Option<PathBuf> {
    let wanted = PythonVersion::default();
    for (version, python) in installed() {
        if *version == wanted {
            return Some(python.clone());
        }
    }
    crate::without_tool(&format!("Python {wanted}"));
    None
}

/// The interpreters of all versions that this machine has, with whose results the engine's are
/// compared. The running test counts as skipped for each of the others.
#[track_caller]
pub fn referees() -> &'static [(PythonVersion, PathBuf)] {
    referee();
    for version in PythonVersion::all().filter(|version| *version != PythonVersion::default()) {
        if installed().iter().all(|(known, _)| *known != version) {
            crate::on_this_system(&format!("Python {version}"));
        }
    }
    installed()
}

fn installed() -> &'static [(PythonVersion, PathBuf)] {
    static FOUND: OnceLock<Vec<(PythonVersion, PathBuf)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found = Vec::new();
        for version in PythonVersion::all() {
            if let Some(python) = interpreter(&version.to_string()) {
                found.push((version, python));
            }
        }
        found
    })
}

/// Any interpreter of Python 3, for scripts that depend on no version; the running test is skipped
/// without one.
#[track_caller]
pub fn any() -> Option<PathBuf> {
    let python = PathBuf::from("python3");
    if has_version(&python, "3") {
        return Some(python);
    }
    crate::without_tool("Python 3");
    None
}

/// The interpreter of a version such as `3.11`: `python3`, `python3.11`, or one that pyenv has
/// installed.
fn interpreter(version: &str) -> Option<PathBuf> {
    let named = ["python3".to_owned(), format!("python{version}")].map(PathBuf::from);
    let mut programs = named.into_iter().chain(of_pyenv(version));
    programs.find(|python| has_version(python, version))
}

fn of_pyenv(version: &str) -> Vec<PathBuf> {
    let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let Some(root) = root.or_else(|| Some(std::env::home_dir()?.join(".pyenv"))) else {
        return Vec::new();
    };
    let Ok(folders) = root.join("versions").read_dir() else {
        return Vec::new();
    };
    let prefix = format!("{version}.");
    let mut found = Vec::new();
    for folder in folders.flatten() {
        if folder.file_name().to_string_lossy().starts_with(&prefix) {
            found.push(folder.path().join("bin/python3"));
        }
    }
    found.sort();
    found
}

/// Whether a program is Python of this version.
fn has_version(program: &Path, version: &str) -> bool {
    let Ok(output) = Command::new(program).arg("--version").output() else {
        return false;
    };
    // with the full stop, as 3.1 is the beginning of 3.11
    let expected = format!("Python {version}.");
    output.stdout.starts_with(expected.as_bytes())
}
