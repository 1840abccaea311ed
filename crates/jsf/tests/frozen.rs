//! What each command prints on recorded sites, damaged files and wrong options, in each format:
//! `frozen/NAME.txt` has the command lines, and a compressed snapshot their standard output,
//! standard error and exit code. `INSTA_UPDATE=always cargo test -p jsf frozen::` rewrites the
//! snapshots; a commit that changes one says which lines change, and why.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use job_sort_formula::parallel;

use crate::command::{command, words};

/// The placeholder in a command line for a file that it writes, whose content is part of the snapshot.
const REPORT: &str = "{report}";
/// The lines of a difference that are shown.
const SHOWN: usize = 12;

#[test]
fn every_command_prints_what_it_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen");
    let lists = fs::read_dir(&folder)
        .expect("the lists")
        .map(|entry| entry.expect("a list").path());
    let mut lists: Vec<PathBuf> = lists
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    lists.sort();
    let mut compared = 0;
    let mut printed = Vec::new();
    for list in lists {
        let name = list
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name")
            .to_owned();
        let text = fs::read_to_string(&list).expect("a list");
        let lines: Vec<&str> = text.lines().collect();
        compared += lines.len();
        let transcripts = parallel::map(lines, transcript).concat();
        let (stored, bytes) = stored(&folder, &name);
        show_difference(&stored, &transcripts);
        // releases of the encoder, and processors, give other bytes to the same text
        let is_equal = stored == transcripts;
        printed.push((
            name,
            if is_equal {
                bytes
            } else {
                compressed(&transcripts)
            },
        ));
    }
    println!("{compared} command lines compared");
    assert!(compared > 900, "{compared}");
    // only now, so that one run shows all differences
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("frozen");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, bytes) in printed {
            insta::assert_binary_snapshot!(&format!("{name}.gz"), bytes);
        }
    });
}

/// A command line with its standard output, standard error and exit code.
fn transcript(line: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.html");
    let path = report.display().to_string();
    let arguments = words(line)
        .into_iter()
        .map(|word| word.replace(REPORT, &path));
    let output = command()
        .args(arguments)
        .stdin(Stdio::null())
        .env("NO_COLOR", "1")
        .env("TZ", "UTC")
        .env_remove("COLUMNS")
        .output()
        .expect("jsf runs");
    let [out, error] = [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).replace(&path, REPORT));
    let mut text = format!(
        "$ jsf {line}\n{out}--- standard error\n{error}--- exit code {:?}\n",
        output.status.code()
    );
    if let Ok(page) = fs::read_to_string(&report) {
        // the page names the command line that wrote it
        let page = page.replace(&path.replace('/', "&#x2f;"), REPORT);
        writeln!(text, "--- report\n{page}").expect("a string");
    }
    text
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

/// The snapshot of this name, and its file; empty if there is none.
fn stored(folder: &Path, name: &str) -> (String, Vec<u8>) {
    let mut text = String::new();
    let bytes = fs::read(folder.join(format!("{name}.snap.gz"))).unwrap_or_default();
    if !bytes.is_empty() {
        GzDecoder::new(&*bytes)
            .read_to_string(&mut text)
            .expect("a snapshot");
    }
    (text, bytes)
}

/// Prints the command lines whose output differs, each with its first lines that do: insta shows no
/// difference of compressed files.
fn show_difference(old: &str, new: &str) {
    let blocks = |text: &str| {
        text.split("\n$ jsf ")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let [old, new] = [blocks(old), blocks(new)];
    let named = |block: &str| block.lines().next().unwrap_or_default().to_owned();
    for block in new.iter().filter(|block| !old.contains(block)) {
        println!("$ jsf {}", named(block));
        let before = old
            .iter()
            .find(|before| named(before) == named(block))
            .map_or("", String::as_str);
        let different = before
            .lines()
            .zip(block.lines())
            .filter(|(before, after)| before != after);
        for (before, after) in different.take(SHOWN) {
            println!("- {before}\n+ {after}");
        }
    }
    for block in old
        .iter()
        .filter(|block| !new.iter().any(|after| named(after) == named(block)))
    {
        println!("gone: jsf {}", named(block));
    }
}
