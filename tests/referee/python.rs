//! The `python3` of this machine.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The version that the recorded OpenPBS uses.
const VERSION: &[u8] = b"Python 3.11.";

/// A script of this folder.
pub struct Script(PathBuf);

impl Script {
    /// `None`, with a message, on a machine that does not have [`VERSION`].
    pub fn find(name: &str) -> Option<Self> {
        let output = Command::new("python3").arg("--version").output();
        if !output.is_ok_and(|output| output.stdout.starts_with(VERSION)) {
            eprintln!("there is no Python 3.11 on this machine to compare with");
            return None;
        }
        Some(Self([env!("CARGO_MANIFEST_DIR"), "tests", "referee", name].iter().collect()))
    }

    /// The lines that the script writes when it gets these arguments and this standard input.
    pub fn run(&self, arguments: &[&str], input: String) -> Vec<String> {
        let mut child = Command::new("python3")
            // no environment variables, no `site` (and so no `exit`), as in the scheduler; and no cache of this folder
            .args(["-E", "-S", "-B"])
            .arg(&self.0)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
        let output = child.wait_with_output().expect("python3 ends");
        writer.join().expect("no panic").expect("python3 reads all");
        String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
    }
}
