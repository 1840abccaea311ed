//! The help of every command, and its examples, which run unchanged from the root of the
//! repository.

use std::fs;
use std::process::Command;

use crate::cli::calls::{OF_EVERY_COMMAND, WITH_HOSTILE_ARGUMENTS, WITH_HOSTILE_FILES, WITH_SITE};
use crate::command::{command, jsf, stderr, stdout, success, words};

/// The names of all commands.
pub(super) fn commands() -> Vec<String> {
    let help = success(&jsf(&["--help"]));
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// The examples at the end of a help text, each on one line.
fn examples(help: &str) -> Vec<String> {
    let (_, rest) = help.split_once("Example").expect("an example");
    let lines = rest
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("  "));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    assert!(
        help.lines()
            .filter(|line| line.starts_with("  jsf "))
            .all(|line| line.len() < 80),
        "{help}"
    );
    joined.lines().map(|line| line.trim().to_owned()).collect()
}

/// The command lines of `tests/faults.py`.
fn calls_of_faults() -> Vec<&'static str> {
    let script = include_str!("../../../../tests/faults.py");
    let (_, rest) = script.split_once("CALLS = \"\"\"\n").expect("the calls");
    let (calls, _) = rest.split_once("\"\"\"").expect("their end");
    calls.lines().collect()
}

/// The command lines whose output is frozen.
fn frozen_lines() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frozen");
    let mut lines = String::new();
    for entry in fs::read_dir(folder).expect("the lists") {
        let path = entry.expect("a list").path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            lines += &fs::read_to_string(path).expect("a list");
        }
    }
    lines
}

/// The lists of calls that hold for every command, each with the commands that it does not need.
#[test]
fn every_command_is_in_each_list_of_calls() {
    // they read no file
    let without_files = ["capture", "codes", "completions", "man"];
    // `page` needs a module that the tests do not build
    let without_site = [&without_files[..], &["fmt", "page", "pbsfs"]].concat();
    let frozen = frozen_lines();
    let lists: [(&str, Vec<&str>, &[&str]); 6] = [
        ("OF_EVERY_COMMAND", OF_EVERY_COMMAND.to_vec(), &[]),
        (
            "WITH_HOSTILE_FILES",
            WITH_HOSTILE_FILES.to_vec(),
            &without_files,
        ),
        (
            "WITH_HOSTILE_ARGUMENTS",
            WITH_HOSTILE_ARGUMENTS.to_vec(),
            &[],
        ),
        ("WITH_SITE", WITH_SITE.to_vec(), &without_site),
        ("CALLS of faults.py", calls_of_faults(), &[]),
        ("frozen", frozen.lines().collect(), &[]),
    ];
    for (list, calls, without) in lists {
        for name in commands() {
            let is_called = calls
                .iter()
                .any(|call| words(call).first() == Some(&&*name));
            assert_ne!(
                is_called,
                without.contains(&&*name),
                "`jsf {name}` in {list}"
            );
        }
    }
}

#[test]
fn every_command_has_help_and_a_manual_page() {
    let commands = commands();
    assert!(commands.len() >= 9, "{commands:?}");
    let all = success(&jsf(&["man"]));
    for name in &commands {
        let help = success(&jsf(&[name, "--help"]));
        assert!(!examples(&help).is_empty(), "{name}");
        assert!(all.contains(&format!("jsf\\-{name}(1)")), "{name}: {all}");
        let page = success(&jsf(&["man", name]));
        assert!(
            page.contains(&format!(".TH jsf-{name} 1")) && page.contains("\\fBjsf "),
            "{page}"
        );
    }
    assert_eq!(jsf(&["man", "nothing"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn the_examples_run_as_they_stand() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_jsf"))
        .parent()
        .expect("a folder")
        .to_owned();
    std::os::unix::fs::symlink(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"),
        folder.path().join("examples"),
    )
    .expect("a link");
    let path = std::env::join_paths([program, "/usr/bin".into(), "/bin".into()]).expect("a path");
    let own = |name: String| examples(&success(&jsf(&[&name, "--help"])));
    let all = examples(&success(&jsf(&["--help"])))
        .into_iter()
        .chain(commands().into_iter().flat_map(own));
    for example in all.collect::<Vec<_>>() {
        let output = Command::new("sh")
            .args(["-c", &example])
            .env("PATH", &path)
            .current_dir(folder.path())
            .output()
            .expect("sh");
        let message = String::from_utf8_lossy(&output.stderr);
        let lacks_module = example.starts_with("jsf page") && message.contains("this build of jsf");
        assert!(
            matches!(output.status.code(), Some(0 | 1)) || lacks_module,
            "{example}: {message}"
        );
        let is_silent =
            example.contains('>') || example.contains("--check") || example.contains("--out");
        assert!(
            is_silent || !stdout(&output).is_empty(),
            "{example}: {message}"
        );
    }
}

#[test]
fn the_version_lists_the_page_if_this_build_can_write_it() {
    let has_page = success(&jsf(&["--version"])).contains("features: page");
    let output = jsf(&["page", "ncpus", "--site", "examples/site", "--out", "-"]);
    let says_how = stderr(&output).contains("bindings/wasm/build.sh");
    assert_eq!(
        (output.status.code() == Some(0), says_how),
        (has_page, !has_page),
        "{}",
        stderr(&output)
    );
}

/// The lines of `-h` where a line has so many characters.
fn short_help(arguments: &[&str], columns: &str) -> Vec<String> {
    let output = command()
        .args(arguments)
        .arg("-h")
        .env("COLUMNS", columns)
        .output()
        .expect("jsf starts");
    success(&output).lines().map(str::to_owned).collect()
}

#[test]
fn short_help_is_one_screen_with_examples_and_a_line_for_each_option() {
    for name in commands() {
        let help = success(&jsf(&[&name, "--help"]));
        for columns in ["80", "100"] {
            let lines = short_help(&[&name], columns);
            assert!(
                lines.len() <= 40,
                "{name} in {columns} columns: {}",
                lines.join("\n")
            );
            let shown = examples(&lines.join("\n"));
            assert!((1..=3).contains(&shown.len()), "{name}: {shown:?}");
            assert_eq!(shown, examples(&help)[..shown.len()], "{name}");
            // only an option begins a line of the options: none goes on in a second one
            let sections = lines.split(|line| line.is_empty());
            let options = sections
                .filter(|section| section[0].ends_with("ptions:") || section[0] == "Two formulas:");
            for line in options.flat_map(|section| &section[1..]) {
                assert!(
                    line.trim_start().starts_with('-') && line.len() <= 80,
                    "{name}: {line}"
                );
            }
        }
        let has_context = help.contains("\nContext:\n");
        let context = short_help(&[&name], "80")
            .into_iter()
            .filter(|line| line.starts_with("context: --s"));
        assert_eq!(context.count(), usize::from(has_context), "{name}");
        assert!(
            !short_help(&[&name], "80")
                .iter()
                .any(|line| line.contains("--slurm-conf")),
            "{name}"
        );
    }
    let all = short_help(&[], "80");
    assert!(
        all.len() <= 40,
        "{} lines, of 40:\n{}",
        all.len(),
        all.join("\n")
    );
}

#[test]
fn long_help_keeps_the_values_of_options_and_the_notes() {
    let help = success(&jsf(&["rank", "--help"]));
    for text in [
        "Possible values:",
        "One JSON object per job",
        "--slurm-conf",
        "Columns of CSV, and keys of JSON",
    ] {
        assert!(help.contains(text), "{text}: {help}");
    }
    assert!(success(&jsf(&["pbsfs", "-h"])).contains("-c ENTITY1 ENTITY2"));
    let context = "context: --site PATH, --queue FILE, --sched-priv DIR, …";
    assert!(success(&jsf(&["rank", "-h"])).contains(context));
}
