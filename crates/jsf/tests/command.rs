//! Runs the command `jsf` in the folder of the package.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The command, to which arguments can be added.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jsf"));
    command
        .current_dir(jsf_testing::ROOT)
        .env_remove("JSF_SITE");
    command
}

/// The words of a line, of which some are quoted as in a shell.
pub fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '\'' | '"' => rest[1..]
                .split_once(first)
                .expect("a closed quotation mark"),
            _ => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

pub fn jsf(arguments: &[&str]) -> Output {
    jsf_with_input(arguments, "")
}

pub fn jsf_with_input(arguments: &[&str], input: &str) -> Output {
    jsf_with_bytes(arguments, input.as_bytes())
}

/// Runs the binary with bytes on standard input.
pub fn jsf_with_bytes(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("jsf starts");
    // a command that does not read its input closes the pipe, which is no error
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("jsf ends")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// All that people read: the answer, and the messages beside it.
pub fn said(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

/// Standard output of a call that succeeds.
#[track_caller]
pub fn success(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

/// Standard output as JSON.
#[track_caller]
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}
