//! What a reader sees first: every command answers on one screen, and shows the rest with --full.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use jsf_testing::python;

use crate::command::{command, stderr, stdout};

/// A terminal has 24 lines, of which one is for the note about the site, and one for the prompt.
const SCREEN_LINES: usize = 22;
const WIDTH: usize = 80;
const SITE: [&str; 2] = ["--site", "examples/site"];
/// A formula that fails for every job.
const FAILS: &[&str] = &["check", "1 / (ncpus - ncpus)"];
const FORMULA: &str = "fairshare_factor * 100 + eligible_time / 3600 * ncpus";

/// Checks that a command prints at most one screen by default, whose first line is a sentence, and
/// more with --full.
#[track_caller]
fn assert_one_screen(arguments: &[&str]) {
    let screen = assert_few_lines(arguments);
    let full = lines(&[arguments, &["--full"]].concat());
    let widest = screen.iter().map(|line| line.chars().count()).max();
    assert!(
        widest <= Some(WIDTH),
        "{arguments:?}: {widest:?} characters\n{}",
        screen.join("\n")
    );
    let sentence = screen
        .iter()
        .take_while(|line| !line.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(sentence.ends_with('.'), "{arguments:?}: {sentence}");
    assert!(
        full.len() > screen.len(),
        "{arguments:?}: {} lines in full\n{}",
        full.len(),
        full.join("\n")
    );
    assert!(
        full.starts_with(&screen[..1]),
        "{arguments:?}: {}",
        full.join("\n")
    );
    assert!(
        screen.last().is_some_and(|line| line.contains("--full")),
        "{arguments:?}: {}",
        screen.join("\n")
    );
}

/// Checks that a command prints at most one screen by default.
#[track_caller]
fn assert_few_lines(arguments: &[&str]) -> Vec<String> {
    let screen = lines(arguments);
    assert!(
        (1..=SCREEN_LINES).contains(&screen.len()),
        "{arguments:?}: {} lines\n{}",
        screen.len(),
        screen.join("\n")
    );
    screen
}

fn lines(arguments: &[&str]) -> Vec<String> {
    let output = command()
        .args(arguments)
        .env("JSF_LINES", "24")
        .env("COLUMNS", WIDTH.to_string())
        .output()
        .expect("jsf starts");
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{arguments:?}: {}",
        stderr(&output)
    );
    stdout(&output).lines().map(str::to_owned).collect()
}

/// Writes 10,000 waiting jobs of the entities of the site, as NDJSON.
fn write_queue(path: &Path) {
    const ENTITIES: [&str; 8] = [
        "jsolberg", "mquispe", "tmorita", "rvasquez", "yarslan", "lnovak", "kpetrova", "bwallace",
    ];
    let mut jobs = String::new();
    for id in 1..=10_000_usize {
        let entity = ENTITIES[id * 7 % ENTITIES.len()];
        let (ncpus, waited) = (1 << (id % 8), id * 7919 % 864_000);
        let resources = format!(
            "{{\"ncpus\":{ncpus},\"walltime\":\"{:02}:00:00\"}}",
            1 + id % 48
        );
        let queue = ["short", "long"][id % 2];
        let _ = writeln!(
            jobs,
            "{{\"id\":\"{id}\",\"entity\":\"{entity}\",\"queue\":\"{queue}\",\"eligible_time\":{waited},\"resources\":{resources}}}"
        );
    }
    std::fs::write(path, jobs).expect("a file");
}

/// The rows that begin with a job of the site.
fn job_rows(text: &str) -> usize {
    text.lines()
        .filter(|line| line.contains(".kestrel"))
        .count()
}

#[test]
fn what_is_not_a_terminal_gets_all_rows() {
    // the lines of a shell's terminal are not those of a pipe
    for (arguments, rows) in [
        (&["rank", FORMULA][..], 33),
        (&["rank", FORMULA, "--terms", "--inputs"], 33),
    ] {
        let (piped, screen) = (
            with_lines(arguments, "LINES"),
            with_lines(arguments, "JSF_LINES"),
        );
        assert!(
            job_rows(&piped) >= rows && job_rows(&screen) < rows,
            "{piped}"
        );
        assert!(piped.contains("184127.kestrel"), "{piped}");
    }
    for arguments in [
        &["compare", "--new", FORMULA][..],
        &["shares"],
        &["cycle"],
        &["names"],
    ] {
        let (piped, screen) = (
            with_lines(arguments, "LINES"),
            with_lines(arguments, "JSF_LINES"),
        );
        let full = with_lines(&[arguments, &["--full"]].concat(), "LINES");
        assert!(piped.lines().count() >= screen.lines().count(), "{piped}");
        for text in [piped, full] {
            assert!(
                !text.contains("rows in the middle") && !text.contains(" rows of "),
                "{text}"
            );
            assert!(!text.contains("; --format json has all"), "{text}");
        }
    }
}

/// What a command prints to a pipe with an environment variable of 24 lines.
fn with_lines(arguments: &[&str], variable: &str) -> String {
    stdout(
        &command()
            .args(arguments)
            .args(SITE)
            .env(variable, "24")
            .output()
            .expect("jsf starts"),
    )
}

#[cfg(unix)]
#[test]
fn a_terminal_gets_a_screen_of_its_height_and_at_most_24_lines() {
    const SPAWN: &str = "import pty, sys; pty.spawn(['sh', '-c', 'stty rows $0 columns 80; \"$@\"', *sys.argv[1:]])";
    let Some(python) = python::any() else { return };
    // 0: a terminal that does not tell its size
    for (rows, most) in [("12", 10), ("24", 22), ("60", 22), ("0", 22)] {
        let mut terminal = Command::new(&python);
        terminal
            .args([
                "-c",
                SPAWN,
                rows,
                env!("CARGO_BIN_EXE_jsf"),
                "rank",
                FORMULA,
            ])
            .args(SITE)
            .args(["--color", "never"]);
        let output = terminal
            .current_dir(jsf_testing::ROOT)
            .env("LINES", "99")
            .output()
            .expect("Python runs");
        let shown = stdout(&output);
        let answer: Vec<&str> = shown
            .lines()
            .filter(|line| !line.starts_with("jsf: "))
            .collect();
        assert_eq!(answer.len(), most, "{rows}: {shown} {}", stderr(&output));
    }
}

#[test]
fn the_columns_that_decide_are_never_dropped() {
    let four = "ncpus*1000 + walltime/7 + eligible_time/3600 + fairshare_factor*100";
    let seven = format!("queue_priority + mem/1e6 + job_priority*3 + {four}");
    for arguments in [
        ["rank", &seven, "--terms", "--inputs"],
        ["rank", four, "--terms", "--full"],
        ["explain", four, "--job", "184127"],
    ] {
        let output = command()
            .args(arguments)
            .args(SITE)
            .env("JSF_LINES", "60")
            .env("COLUMNS", "80")
            .output();
        let text = stdout(&output.expect("jsf starts"));
        let headings = text
            .lines()
            .find(|line| line.starts_with("rank") && line.contains("job"))
            .expect(&text);
        assert!(
            headings.contains("value") && headings.contains("ncpus*1000"),
            "{text}"
        );
    }
}

#[test]
fn every_command_answers_on_one_screen() {
    let calls: [&[&str]; 12] = [
        &["rank", FORMULA],
        &["rank", FORMULA, "--terms", "--inputs"],
        &["compare", "--new", FORMULA],
        &["explain", FORMULA, "--job", "184598"],
        &["explain", FORMULA, "--job", "184598,184127"],
        &["trajectory", FORMULA, "--job", "184598"],
        &[
            "trajectory",
            FORMULA,
            "--job",
            "184598,184127,184299",
            "--hours",
            "30d",
        ],
        &["shares"],
        &["shares", "--policy", "all"],
        &["shares", "--charge", "jsolberg=1e9", "--decay", "2w"],
        &["replay", "examples/site/sched.log", "eligible_time"],
        &["names"],
    ];
    for call in calls {
        assert_one_screen(&[call, &SITE].concat());
    }
    assert_few_lines(&[FAILS, &SITE].concat());
    assert_one_screen(&["codes"]);
    assert_one_screen(&["names"]);
}

#[test]
fn a_simulation_is_one_screen() {
    let generated = ["simulate", "--generate", "300", "--processors", "128"];
    assert_one_screen(&[&generated[..], &["eligible_time"]].concat());
    assert_one_screen(
        &[
            &generated[..],
            &["--old", "eligible_time", "--new", "-walltime"],
        ]
        .concat(),
    );
}

#[test]
fn ten_thousand_jobs_are_answered_on_one_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("queue.ndjson");
    write_queue(&path);
    let queue = [
        "--queue",
        path.to_str().expect("UTF-8"),
        "--sched-priv",
        "examples/site/sched_priv",
    ];
    let calls: [&[&str]; 5] = [
        &["rank", FORMULA],
        &["compare", "--old", "eligible_time", "--new", FORMULA],
        &["explain", FORMULA, "--job", "77"],
        &["trajectory", FORMULA, "--job", "77,5000", "--hours", "7d"],
        &["shares", "--charge", "jsolberg=1e9", "--formula", FORMULA],
    ];
    for call in calls {
        assert_one_screen(&[call, &queue].concat());
    }
    assert_few_lines(&[FAILS, &queue].concat());
}
