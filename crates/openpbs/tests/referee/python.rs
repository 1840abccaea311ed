//! Runs the scripts of this folder with the Python that is the referee.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use job_sort_formula::PythonVersion;
use jsf_testing::{LIST, python, setting};

/// A script of this folder.
pub struct Script {
    pub version: PythonVersion,
    python: PathBuf,
    path: PathBuf,
}

impl Script {
    /// `None` on a machine without the referee; the running test then counts as skipped.
    #[track_caller]
    pub fn find(name: &str) -> Option<Self> {
        let python = python::referee()?;
        Some(Self::of(PythonVersion::default(), python, name))
    }

    /// The script with every Python of this machine; the running test counts as skipped for each
    /// one that is missing.
    #[track_caller]
    pub fn find_all(name: &str) -> Vec<Self> {
        python::referees()
            .iter()
            .map(|(version, python)| Self::of(*version, python.clone(), name))
            .collect()
    }

    fn of(version: PythonVersion, python: PathBuf, name: &str) -> Self {
        Self {
            version,
            python,
            path: [env!("CARGO_MANIFEST_DIR"), "tests", "referee", name]
                .iter()
                .collect(),
        }
    }

    /// How many cases a test tries: `JSF_REFEREE_CASES`, or so many, of which the other versions
    /// get a fifth.
    pub fn cases(&self, default: u64) -> u64 {
        let is_default = self.version == PythonVersion::default();
        setting(
            "JSF_REFEREE_CASES",
            if is_default { default } else { default / 5 },
        )
    }

    /// The lines that the script writes when it gets these arguments and this standard input.
    pub fn run(&self, arguments: &[&str], input: String) -> Vec<String> {
        let mut child = Command::new(&self.python)
            // no environment variables, no `site` (and so no `exit`), as in the scheduler; and no
            // cache of this folder
            .args(["-E", "-S", "-B"])
            .arg(&self.path)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
        let output = child.wait_with_output().expect("python3 ends");
        writer.join().expect("no panic").expect("python3 reads all");
        assert!(
            output.status.success(),
            "{}: {}",
            self.path.display(),
            output.status
        );
        String::from_utf8(output.stdout)
            .expect("UTF-8")
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

/// Any of the comparisons, run again without Python.
#[test]
fn without_python_a_comparison_is_skipped_or_fails_where_ci_is_true() {
    let this = std::env::current_exe().expect("this program");
    let run = |ci: &str| {
        let mut again = Command::new(&this);
        again.args([
            "--exact",
            "formulas::constructs_are_accepted_or_refused_as_by_python",
            "--nocapture",
        ]);
        again
            .env("PATH", "")
            .env_remove("PYENV_ROOT")
            .env("HOME", "/")
            .env("CI", ci)
            .output()
            .expect("the test runs")
    };
    let skipped = run("");
    let message = String::from_utf8_lossy(&skipped.stderr);
    assert!(
        skipped.status.success() && message.contains("is skipped: there is no Python 3.11"),
        "{message}"
    );
    // the list is that of the children of this process
    let list = this.with_file_name(format!("{LIST}{}", std::process::id()));
    let listed = std::fs::read_to_string(&list).expect("the list");
    std::fs::remove_file(&list).expect("removed");
    assert_eq!(
        listed.lines().count(),
        PythonVersion::all().count(),
        "{listed}"
    );
    assert!(
        listed.starts_with("Python 3.11\t") && listed.contains("constructs_are_accepted"),
        "{listed}"
    );
    let failed = run("true");
    assert!(!failed.status.success());
    assert!(
        String::from_utf8_lossy(&failed.stderr).contains("Python 3.11 is needed where CI is true")
    );
}
