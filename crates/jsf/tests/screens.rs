//! What people see: the text of every command in terminals of 80 and 120 columns, and the Markdown,
//! as files in `screens/`, which `JSF_WRITE_SCREENS=1 cargo test -p jsf screens::` rewrites.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use unicode_width::UnicodeWidthStr;

/// The lines of a first screen.
const MAX_LINES: usize = 22;
const TEMPLATE: &str = "{fs=100:0..500}*fairshare_factor + {age=1:0..50}*eligible_time/3600";
const NEW: &str = "fairshare_factor * 100 + eligible_time / 3600";
const SITE: [&str; 2] = ["--site", "examples/site"];

/// The commands, each with the name of its files.
fn commands() -> Vec<(&'static str, Vec<&'static str>)> {
    let log = [
        "--workload",
        "examples/site/accounting.gz",
        "--processors",
        "256",
    ];
    let commands = [
        ("check", vec!["check"]),
        ("check-refused", vec!["check", "ncpus * (2"]),
        ("check-crash", vec!["check", "(0 - ncpus)**0.5"]),
        ("rank", vec!["rank"]),
        ("rank-sum", vec!["rank", NEW]),
        ("rank-constant", vec!["rank", "ncpus * 0"]),
        ("rank-crash-at-start", vec!["rank", "1 / 0"]),
        ("compare", vec!["compare", "--new", NEW]),
        (
            "compare-crash",
            vec!["compare", "--new", "(0 - ncpus)**0.5"],
        ),
        (
            "compare-unknown-name",
            vec!["compare", "--new", "eligible_tme"],
        ),
        ("compare-constant", vec!["compare", "--new", "1"]),
        (
            "compare-mended",
            vec!["compare", "--old", "1 / 0", "--new", NEW],
        ),
        (
            "explain",
            vec!["explain", NEW, "--job", "184127,184562[]", "--to", "1"],
        ),
        ("explain-one", vec!["explain", "--job", "184562[]"]),
        (
            "trajectory",
            vec!["trajectory", NEW, "--job", "184562[]", "--hours", "96"],
        ),
        ("shares", vec!["shares"]),
        (
            "shares-charge",
            vec!["shares", "--charge", "bwallace=1000000"],
        ),
        ("replay", vec!["replay", "examples/site/sched.log"]),
        ("names", vec!["names"]),
        (
            "fit-wishes",
            vec![
                "fit", TEMPLATE, "--prefer", "184208", "185046", "--prefer", "184794", "184103",
            ],
        ),
        (
            "fit-goals",
            [
                &[
                    "fit",
                    TEMPLATE,
                    "--goals",
                    "examples/goals.toml",
                    "--evaluations",
                    "6",
                ][..],
                &log,
            ]
            .concat(),
        ),
        ("cycle", vec!["cycle"]),
        ("cycle-job", vec!["cycle", "--job", "184208"]),
        ("simulate", [&["simulate", NEW][..], &log].concat()),
        (
            "simulate-change",
            [&["simulate", "--new", NEW][..], &log].concat(),
        ),
    ];
    commands
        .into_iter()
        .map(|(name, arguments)| (name, [&arguments[..], &SITE].concat()))
        .collect()
}

#[test]
fn every_screen_of_80_columns_is_that_of_its_file() {
    assert_screens("80.txt", 80, &[]);
}

#[test]
fn every_screen_of_120_columns_is_that_of_its_file() {
    assert_screens("120.txt", 120, &[]);
}

#[test]
fn every_markdown_is_that_of_its_file() {
    assert_screens("md", 100, &["--format", "markdown"]);
}

/// Compares what the commands print in a terminal of so many columns with the files that end with
/// `suffix`.
fn assert_screens(suffix: &str, columns: usize, more: &[&str]) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
    let is_written = std::env::var_os("JSF_WRITE_SCREENS").is_some();
    let mut different = Vec::new();
    for (name, arguments) in commands() {
        let text = output(&[&arguments[..], more].concat(), columns);
        if more.is_empty() {
            assert_fits(name, &text, columns);
        }
        let file = folder.join(format!("{name}.{suffix}"));
        if is_written {
            fs::write(&file, &text).expect("a file is written");
        } else if fs::read_to_string(&file).ok().as_deref() != Some(&text) {
            different.push(format!("{}:\n{text}", file.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// What a command prints on standard output.
fn output(arguments: &[&str], columns: usize) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jsf"));
    command
        .args(arguments)
        .current_dir(jsf_testing::ROOT)
        .env("NO_COLOR", "1")
        .env("JSF_LINES", "24")
        .env("COLUMNS", columns.to_string());
    let output = command.env_remove("JSF_SITE").output().expect("jsf runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Asserts that a first screen has at most so many lines of this width.
fn assert_fits(name: &str, text: &str, columns: usize) {
    assert!(
        text.lines().count() <= MAX_LINES,
        "{name} at {columns}: {} lines\n{text}",
        text.lines().count()
    );
    // the labels beside a formula end where they end
    let is_label = |line: &str| {
        line.trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
            .starts_with('|')
    };
    // a command is copied as it is
    let is_command = |line: &str| line.starts_with("qmgr -c ");
    let wide = text
        .lines()
        .find(|line| line.width() > columns && !is_label(line) && !is_command(line));
    assert!(wide.is_none(), "{name} at {columns}: {wide:?}");
}
