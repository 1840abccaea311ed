//! Whole processes on damaged files with two gigabytes of address space: none ends otherwise than
//! with exit code 0, 1 or 2.
//!
//! `JSF_PROCESSES` is their number, `JSF_REFEREE_SEED` the seed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jsf_testing::random::Xorshift;
use jsf_testing::setting;

use crate::cli::calls::WITH_DAMAGED_FILES;
use crate::command::words;

/// Runs a command with little memory; a process that works for a minute of processor time on one of
/// the small files here, as in an endless loop, is killed and so has no exit code.
const LIMITS: &str = "ulimit -v 2000000; ulimit -t 60; exec \"$@\"";
/// The largest file that is damaged, in bytes.
const MAX_BYTES: usize = 100_000;

/// The content of the files, and of those in the folders.
fn contents(paths: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(jsf_testing::ROOT);
    let files = paths
        .iter()
        .flat_map(|path| match fs::read_dir(root.join(path)) {
            Ok(entries) => entries
                .map(|entry| entry.expect("an entry").path())
                .filter(|path| path.is_file())
                .collect(),
            Err(_) => vec![root.join(path)],
        });
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let read = |path: PathBuf| {
        let mut bytes =
            fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        bytes.truncate(MAX_BYTES);
        bytes
    };
    files.into_iter().map(read).collect()
}

fn below(random: &mut Xorshift, end: usize) -> usize {
    (random.next() >> 33) as usize % end.max(1)
}

/// Changes, repeats and removes a few pieces.
fn damaged(random: &mut Xorshift, mut bytes: Vec<u8>) -> Vec<u8> {
    const BYTES: &[u8] =
        b"{}[],:\"\\ \n\t\x00\x01\x1b09-.+eE=|;#()'\x7f\x80\xc2\x9b\xe2\x80\xae\xff";
    for _ in 0..below(random, 12) {
        let at = below(random, bytes.len() + 1);
        let end = bytes.len().min(at + below(random, 200));
        match below(random, 7) {
            0 => {
                _ = bytes.splice(
                    at..at,
                    std::iter::repeat_n(BYTES[below(random, BYTES.len())], below(random, 3000)),
                )
            }
            1 => _ = bytes.drain(at..end),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = below(random, bytes.len() + 1);
                bytes.splice(to..to, piece.repeat(1 + below(random, 20)));
            }
            3 if below(random, 4) == 0 => bytes.truncate(at),
            4 => _ = bytes.splice(at..at, *b"99999999999999999999999"),
            5 if at < bytes.len() => bytes[at] ^= 1 << below(random, 8),
            _ if at < bytes.len() => bytes[at] = BYTES[below(random, BYTES.len())],
            _ => {}
        }
    }
    bytes
}

#[test]
fn damaged_files_end_no_process_otherwise_than_with_0_1_or_2() {
    let processes = setting("JSF_PROCESSES", 200);
    let mut random = Xorshift(setting("JSF_REFEREE_SEED", 0x5eed_0f0f_1234_5678) | 1);
    let kinds: Vec<_> = WITH_DAMAGED_FILES
        .iter()
        .map(|(paths, calls)| (contents(paths), *calls))
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("damaged");
    let mut codes: BTreeMap<Option<i32>, usize> = BTreeMap::new();
    for number in 0..processes {
        let (contents, calls) = &kinds[below(&mut random, kinds.len())];
        let content = contents[below(&mut random, contents.len())].clone();
        let content = damaged(&mut random, content);
        let call = calls[below(&mut random, calls.len())];
        let words = words(call).into_iter();
        let arguments = words.map(|word| match word {
            "@damaged" => file.as_os_str(),
            word => OsStr::new(word),
        });
        fs::write(&file, &content).expect("a file");
        let mut limited = Command::new("sh");
        limited.args(["-c", LIMITS, "sh", env!("CARGO_BIN_EXE_jsf")]);
        limited
            .args(arguments)
            .current_dir(jsf_testing::ROOT)
            .stdin(Stdio::null());
        let output = limited.output().expect("sh runs");
        let code = output.status.code();
        if !matches!(code, Some(0..=2)) {
            let kept = std::env::temp_dir().join(format!("jsf-process-{number}"));
            fs::write(&kept, &content).expect("a file");
            let text = String::from_utf8_lossy(&output.stderr);
            panic!(
                "{code:?}: jsf {call}, where @damaged is {}: {text:.2000}",
                kept.display()
            );
        }
        *codes.entry(code).or_default() += 1;
    }
    println!("{processes} processes, exit codes {codes:?}");
    assert!(codes.len() > 1, "{codes:?}");
}
