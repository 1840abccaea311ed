//! The recipes in `examples/ci`, by the commands that a CI service would run, with a `qmgr` that
//! keeps its server in a file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{stderr, stdout};

/// Prints and takes a formula as the server does. `QMGR` says how it fails: `down`, `refuses` or
/// `forgets`.
const QMGR: &str = r##"#!/bin/sh
[ "$QMGR" != down ] || { echo "qmgr: cannot connect to server" >&2; exit 2; }
case $2 in
'print server')
    printf '%s\n' '#' '# Set server attributes.' '#' 'set server scheduling = True'
    [ ! -e formula ] || printf 'set server job_sort_formula = "%s"\n' "$(cat formula)"
    ;;
'print sched')
    [ ! -e threshold ] || printf 'set sched job_sort_formula_threshold = %s\n' "$(cat threshold)"
    ;;
'set sched job_sort_formula_threshold = '*)
    echo "$2" >>calls
    printf '%s' "${2##* }" >threshold
    ;;
'set server job_sort_formula='*)
    echo "$2" >>calls
    [ "$QMGR" != refuses ] || { echo "qmgr obj= svr=default: Invalid Formula Format" >&2; exit 1; }
    [ "$QMGR" != forgets ] || exit 0
    text=${2#*=\"}
    printf '%s' "${text%\"}" >formula
    ;;
*) exit 3 ;;
esac
"##;

/// A repository with a formula that is fine and one that is not, and programs on its PATH.
struct Repository(TempDir);

impl Repository {
    fn new() -> Repository {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Path::new(jsf_testing::ROOT);
        fs::write(
            folder.path().join("fine.txt"),
            "100 * fairshare_factor + eligible_time / 3600\n",
        )
        .expect("written");
        fs::write(folder.path().join("wrong.txt"), "100 * fairshare_facto\n").expect("written");
        let programs = folder.path().join("bin");
        fs::create_dir(&programs).expect("a folder");
        fs::write(programs.join("qmgr"), QMGR).expect("written");
        fs::set_permissions(programs.join("qmgr"), fs::Permissions::from_mode(0o755))
            .expect("executable");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_jsf"), programs.join("jsf"))
            .expect("a link");
        std::os::unix::fs::symlink(root.join("examples/site"), folder.path().join("site"))
            .expect("a link");
        Repository(folder)
    }

    /// Runs a script as CI services do: with `sh`, in the folder of the repository.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let programs = [self.0.path().join("bin"), "/usr/bin".into(), "/bin".into()];
        let mut command = Command::new("sh");
        command
            .args(["-e", "-c", script])
            .current_dir(&self.0)
            .envs(variables.iter().copied());
        command
            .env("PATH", std::env::join_paths(programs).expect("a path"))
            .output()
            .expect("sh")
    }

    fn set_formula(&self, arguments: &str, failure: &str) -> (Option<i32>, String, String) {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/ci/set-formula.sh"
        );
        let output = self.run(&format!("sh '{script}' {arguments}"), &[("QMGR", failure)]);
        (output.status.code(), stdout(&output), stderr(&output))
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.0.path().join(name)).ok()
    }
}

fn recipe(name: &str) -> String {
    fs::read_to_string(Path::new(jsf_testing::ROOT).join(name)).expect("a recipe")
}

/// The blocks of YAML after lines that end in `|`.
fn blocks(yaml: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = yaml.lines().collect();
    let starts = (0..lines.len())
        .filter(|&start| lines[start].ends_with(": |") || lines[start].trim() == "- |");
    let block = |start: usize| {
        let inside = lines[start + 1..]
            .iter()
            .take_while(|line| indent(line) > indent(lines[start]));
        inside.map(|line| format!("{line}\n")).collect()
    };
    starts.map(block).collect()
}

#[test]
fn github_and_gitlab_report_the_findings_as_sarif() {
    for name in ["examples/ci/action.yml", "examples/ci/gitlab-ci.yml"] {
        let blocks = blocks(&recipe(name));
        let check = blocks.last().expect("a block");
        assert!(check.contains("--format sarif"), "{name}: {check}");
        for (file, options, code) in [
            ("fine.txt", "", 0),
            ("fine.txt", "--site site --deny warnings", 0),
            ("wrong.txt", "--site site", 1),
            ("missing.txt", "", 2),
        ] {
            let repository = Repository::new();
            let output = repository.run(check, &[("FORMULA_FILE", file), ("JSF_OPTIONS", options)]);
            assert_eq!(
                output.status.code(),
                Some(code),
                "{name}: {file}: {}",
                stderr(&output)
            );
            let Some(sarif) = repository.read("jsf.sarif") else {
                assert_eq!(code, 2, "{name}: {file}: no findings");
                continue;
            };
            let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
            let run = &sarif["runs"][0];
            assert_eq!(run["artifacts"][0]["location"]["uri"], file, "{name}");
            assert_eq!(
                run["results"][0]["level"] == "error",
                code == 1,
                "{name}: {file}: {sarif}"
            );
        }
    }
}

#[test]
fn what_the_recipes_install_is_the_package_with_the_command() {
    for name in [
        "examples/ci/action.yml",
        "examples/ci/gitlab-ci.yml",
        "packaging/pre-commit.sh",
        "README.md",
    ] {
        let recipe = recipe(name);
        let lines = recipe
            .lines()
            .filter_map(|line| line.split_once("cargo install"))
            .map(|(_, arguments)| arguments);
        for arguments in lines {
            let words: Vec<&str> = arguments
                .split('#')
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .collect();
            let package = match words.iter().find(|word| word.contains("crates/")) {
                Some(path) => path.trim_matches('"').rsplit('/').next(),
                None => words.last().copied(),
            };
            assert_eq!(package, Some(env!("CARGO_PKG_NAME")), "{name}: {arguments}");
        }
    }
}

#[test]
fn jsf_on_the_path_is_not_built_again() {
    let repository = Repository::new();
    let install = &blocks(&recipe("examples/ci/action.yml"))[0];
    let output = repository.run(install, &[]);
    assert!(
        install.contains("cargo install") && output.status.success(),
        "{install}: {}",
        stderr(&output)
    );
    assert!(
        stdout(&output).ends_with("bin/jsf\n"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn the_hooks_of_pre_commit_check_the_file_of_their_arguments() {
    let hooks = recipe(".pre-commit-hooks.yaml");
    let entries: Vec<&str> = hooks
        .lines()
        .filter_map(|line| line.trim().strip_prefix("entry: "))
        .collect();
    assert_eq!(entries.len(), hooks.matches("- id: ").count());
    for entry in entries {
        let repository = Repository::new();
        // pre-commit runs a script of the hook's own repository, where it is built once
        let clone = tempfile::tempdir().expect("a folder");
        let entry = match entry.strip_suffix(".sh") {
            Some(_) => built_clone(clone.path(), entry),
            None => entry.to_owned(),
        };
        let code = |arguments: &str| {
            repository
                .run(&format!("{entry} {arguments}"), &[])
                .status
                .code()
        };
        assert_eq!(code("--formula-file fine.txt --site site"), Some(0));
        assert_eq!(code("--formula-file wrong.txt --site site"), Some(1));
    }
}

/// A clone of this repository in `folder` with nothing but a script and the built command; the path
/// of the script.
fn built_clone(folder: &Path, script: &str) -> String {
    let copy = folder.join(script);
    fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
    fs::copy(jsf_testing::path(script), &copy).expect("a script");
    let built = folder.join("target/release");
    fs::create_dir_all(&built).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_jsf"), built.join("jsf")).expect("a link");
    copy.display().to_string()
}

#[test]
fn a_formula_is_set_once() {
    let repository = Repository::new();
    let changed = (Some(0), "changed\n".to_owned());
    let run = |arguments: &str| {
        let (code, printed, messages) = repository.set_formula(arguments, "");
        assert!(code == Some(0), "{arguments}: {messages}");
        (code, printed)
    };
    assert_eq!(run("--check fine.txt --site site"), changed);
    assert_eq!(repository.read("calls"), None, "--check sets nothing");
    assert_eq!(run("fine.txt --site site"), changed);
    let set = "set server job_sort_formula=\"100 * fairshare_factor + eligible_time / 3600\"\n";
    assert_eq!(repository.read("calls").as_deref(), Some(set));
    for arguments in ["fine.txt --site site", "--check fine.txt --force"] {
        assert_eq!(run(arguments), (Some(0), "unchanged\n".to_owned()));
    }
    assert_eq!(
        repository.read("calls").as_deref(),
        Some(set),
        "the formula in force is not set again"
    );
    fs::write(repository.0.path().join("formula"), "eligible_time").expect("written");
    assert_eq!(run("fine.txt --force"), changed);
}

#[test]
fn a_threshold_is_set_with_its_formula() {
    let repository = Repository::new();
    let run = |arguments: &str| repository.set_formula(arguments, "").1;
    assert_eq!(run("fine.txt --site site"), "changed\n");
    assert_eq!(run("fine.txt --site site --threshold 40"), "changed\n");
    assert_eq!(run("fine.txt --site site --threshold 40.0"), "unchanged\n");
    assert_eq!(
        run("--check fine.txt --site site --threshold 30"),
        "changed\n"
    );
    let calls = repository.read("calls").expect("calls");
    assert!(
        calls.ends_with("set sched job_sort_formula_threshold = 40\n"),
        "{calls}"
    );
}

/// The command for goals, in a repository with a log beside the site, after a commit that changes
/// the formula.
#[test]
fn a_commit_that_misses_a_goal_fails() {
    let readme = recipe("examples/ci/README.md");
    let script = readme
        .split("```sh\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a command");
    for (formula, code) in [
        (
            "100*fairshare_factor + eligible_time/3600 + 100/(1 + walltime/3600)",
            0,
        ),
        ("fairshare_factor * 100 + eligible_time / 3600", 1),
    ] {
        let repository = Repository::new();
        let folder = repository.0.path();
        fs::create_dir(folder.join("my-site")).expect("a folder");
        for entry in fs::read_dir(jsf_testing::path("examples/site"))
            .expect("a site")
            .flatten()
        {
            std::os::unix::fs::symlink(
                entry.path(),
                folder.join("my-site").join(entry.file_name()),
            )
            .expect("a link");
        }
        fs::rename(
            folder.join("my-site/accounting.gz"),
            folder.join("my-site/accounting"),
        )
        .expect("the log");
        fs::copy(
            jsf_testing::path("examples/goals.toml"),
            folder.join("goals.toml"),
        )
        .expect("the goals");
        let commit = "git -c user.name=a -c user.email=a@b commit -qm change formula.txt";
        let before = "echo 'pow(2, -(fairshare_tree_usage/fairshare_perc))' >formula.txt";
        let history = format!(
            "{before}; git init -q .; git add formula.txt; {commit}; echo '{formula}' >formula.txt; {commit}"
        );
        let output = repository.run(&history, &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        let judged = repository.run(script.trim_end(), &[]);
        assert_eq!(
            judged.status.code(),
            Some(code),
            "{}{}",
            stdout(&judged),
            stderr(&judged)
        );
        assert_eq!(
            stdout(&judged).contains("goals missed"),
            code == 1,
            "{}",
            stdout(&judged)
        );
    }
}

#[test]
fn a_formula_with_an_error_never_reaches_qmgr() {
    let repository = Repository::new();
    for (arguments, code) in [
        ("wrong.txt", 1),
        ("--check wrong.txt", 1),
        ("fine.txt --site nowhere", 2),
        ("missing.txt", 2),
        ("", 2),
        ("--check", 2),
        ("--force fine.txt", 2),
        // tried on no job
        ("fine.txt", 1),
    ] {
        let (found, printed, messages) = repository.set_formula(arguments, "");
        assert_eq!(
            (found, printed.as_str()),
            (Some(code), ""),
            "{arguments}: {messages}"
        );
        assert!(!messages.is_empty(), "{arguments}");
    }
    assert_eq!(repository.read("calls"), None);
}

#[test]
fn what_qmgr_does_not_take_is_no_change() {
    for (failure, code) in [("down", 2), ("refuses", 1), ("forgets", 1)] {
        let (found, printed, messages) =
            Repository::new().set_formula("fine.txt --site site", failure);
        assert_eq!(
            (found, printed.as_str()),
            (Some(code), ""),
            "{failure}: {messages}"
        );
        assert!(!messages.is_empty(), "{failure}");
    }
}
