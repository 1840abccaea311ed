//! Damaged documents of `qstat -f -F json`: what is repaired, what is rejected, and that nothing is
//! lost in silence.
//!
//! `tests/corpus/qstat` has a document for each defect, and beside it what is read from it.
//! `JSF_BLESS=1` writes the expected texts again. `JSF_MUTANTS` says how many random mutants are
//! tried.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use job_sort_formula::Schema;
use jsf_ingest::{ParsedJobs, ReadError, ReadOptions, read_jobs};
use jsf_testing::random::Xorshift;
use jsf_testing::{golden, setting};

const NEEDED: [&str; 4] = ["ncpus", "mem", "walltime", "eligible_time"];

fn read(document: &[u8]) -> Result<ParsedJobs, ReadError> {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::openpbs);
    let options = ReadOptions {
        source_name: "qstat.json",
        ..ReadOptions::new(&SCHEMA, &NEEDED)
    };
    read_jobs(document, &options)
}

/// Everything that is read from one job.
fn row(read: &ParsedJobs, row: usize) -> String {
    let table = &read.table;
    let values: Vec<_> = NEEDED
        .map(|name| {
            table
                .column(name)
                .map_or("-".to_owned(), |column| column.value(row).repr())
        })
        .into();
    let (queue, state) = (table.queue(row), table.state(row).letter());
    let excluded = table
        .exclusion(row)
        .map_or(String::new(), |reason| format!(" ({reason})"));
    format!(
        "{} of `{}` in {queue}, {state}: {}{excluded}",
        table.id(row),
        table.entity(row),
        values.join(" ")
    )
}

fn describe(read: Result<ParsedJobs, ReadError>) -> String {
    let mut text = String::new();
    match read {
        Err(error) => writeln!(text, "error: {error}").expect("a string"),
        Ok(read) => {
            (0..read.table.len())
                .for_each(|at| writeln!(text, "{}", row(&read, at)).expect("a string"));
            read.notes
                .iter()
                .for_each(|note| writeln!(text, "note: {note}").expect("a string"));
            read.problems
                .listed()
                .iter()
                .for_each(|problem| writeln!(text, "warning: {problem}").expect("a string"));
            writeln!(
                text,
                "{} jobs read, {} rejected",
                read.table.len(),
                read.problems.skipped()
            )
            .expect("a string");
        }
    }
    text
}

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(jsf_testing::ROOT).join("tests/corpus/qstat");
    let paths = fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end != "expected"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn each_defect_has_its_repairs() {
    let mut wrong = Vec::new();
    for path in documents() {
        let found = describe(read(&fs::read(&path).expect("a document")));
        let expected = path.with_extension("expected");
        if std::env::var_os("JSF_BLESS").is_some() {
            fs::write(&expected, &found).expect("a writable corpus");
        }
        if fs::read_to_string(&expected).ok().as_deref() != Some(&found) {
            wrong.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A document with one defect: some bytes of one job are removed, inserted or replaced. Returns the
/// lines of it that were touched.
fn mutant(lines: &[&[u8]], random: &mut Xorshift) -> (Vec<u8>, std::ops::RangeInclusive<usize>) {
    const PIECES: [&[u8]; 16] = [
        b"\"", b"\\", b"{", b"}", b",", b":", b"\n", b"\t", b"\0", b"\xff", b"},", b"\\x1b", b"]",
        b"0x", b"\r\n", b"\"\"",
    ];
    let mut below = |most: usize| (random.next() >> 33) as usize % most;
    let line = 5 + below(lines.len() - 7);
    let (mut text, mut last) = (lines[line].to_vec(), line);
    match below(6) {
        0 => text.clear(),
        1 => {
            let at = below(text.len() + 1);
            text.splice(at..at, PIECES[below(PIECES.len())].iter().copied());
        }
        2 => {
            let at = below(text.len());
            text[at] = below(256) as u8;
        }
        3 => {
            let (start, length) = (below(text.len()), 1 + below(8));
            text.drain(start..(start + length).min(text.len()));
        }
        4 => {
            // the end of the line and the start of the next one
            last = line + 1;
            let (keep, skip) = (below(text.len() + 1), below(lines[last].len() + 1));
            text.truncate(keep);
            text.extend_from_slice(&lines[last][skip..]);
        }
        _ => {
            // not a line with an id: the document would have two jobs of that id, and the first one
            // counts
            let other = lines[5 + below(lines.len() - 7)];
            text = if other.starts_with(b"\t\t\"") {
                b"\t\t\t{".to_vec()
            } else {
                other.to_vec()
            };
        }
    }
    let mut document = lines[..line].join(&b'\n');
    document.push(b'\n');
    document.extend_from_slice(&text);
    document.push(b'\n');
    document.extend(lines[last + 1..].join(&b'\n'));
    (document, line..=last)
}

/// The first and the last job of the recorded document, and an array.
fn a_few_jobs() -> Vec<u8> {
    let text = golden::text("openpbs/qstat/qstat_f.json");
    let (head, jobs) = text.split_once("\"Jobs\":\t{\n").expect("jobs");
    let jobs: Vec<&str> = jobs
        .trim_end()
        .trim_end_matches(['}', '\n', '\t'])
        .split("\n\t\t},\n")
        .collect();
    let is_array = |job: &&&str| job.contains("[].");
    let some: Vec<&str> = jobs[..1]
        .iter()
        .chain(jobs.iter().filter(is_array))
        .chain(&jobs[jobs.len() - 1..])
        .copied()
        .collect();
    assert_eq!(some.len(), 3);
    format!(
        "{head}\"Jobs\":\t{{\n{}\n\t\t}}\n\t}}\n}}\n",
        some.join("\n\t\t},\n")
    )
    .into_bytes()
}

#[test]
fn a_defect_in_one_job_changes_no_other() {
    let original = a_few_jobs();
    let lines: Vec<&[u8]> = original.split(|&byte| byte == b'\n').collect();
    let whole = read(&original).expect("the original");
    let rows: BTreeMap<&str, String> = (0..whole.table.len())
        .map(|at| (whole.table.id(at), row(&whole, at)))
        .collect();
    // the id of the job that each line belongs to
    let mut job_of = vec![""; lines.len()];
    let mut current = "";
    for (at, line) in lines.iter().enumerate() {
        let text = std::str::from_utf8(line).expect("UTF-8");
        if text.starts_with("\t\t\"") {
            current = text.trim().split('"').nth(1).expect("an id");
        }
        job_of[at] = current;
    }
    let mut random = Xorshift(setting("JSF_SEED", 1));
    for case in 0..setting("JSF_MUTANTS", 10_000) {
        let (document, touched) = mutant(&lines, &mut random);
        let said = |what: &str| {
            let at = *touched.start();
            let old: Vec<_> = lines[touched.clone()]
                .iter()
                .map(|line| String::from_utf8_lossy(line))
                .collect();
            let new = document
                .split(|&byte| byte == b'\n')
                .skip(at)
                .take(3)
                .map(String::from_utf8_lossy);
            format!(
                "case {case}: {what}\nline {}: {old:#?}\nnow {:#?}",
                at + 1,
                new.collect::<Vec<_>>()
            )
        };
        let read = match read(&document) {
            Ok(read) => read,
            Err(error) => panic!("{}", said(&error.to_string())),
        };
        let mut touched_jobs: Vec<&str> = job_of[touched.clone()].to_vec();
        // a line that ends a job also decides where the next one begins
        touched_jobs.extend(job_of.get(touched.end() + 1));
        let found: BTreeMap<&str, String> = (0..read.table.len())
            .map(|at| (read.table.id(at), row(&read, at)))
            .collect();
        for (id, expected) in &rows {
            if !touched_jobs.contains(id) {
                assert_eq!(
                    found.get(id),
                    Some(expected),
                    "{}",
                    said("an untouched job")
                );
            } else if found.get(id) != Some(expected) {
                let is_said = !read.problems.is_empty() || !read.notes.is_empty();
                // a valid document with another value, or with another name in place of a known
                // one, has no defect
                let is_valid = serde_json::from_slice::<serde::de::IgnoredAny>(&document).is_ok();
                assert!(
                    is_said || is_valid,
                    "{}",
                    said("a changed job without a word")
                );
            }
        }
    }
}

/// Cut off anywhere, a text has all its jobs, and every job that is read is as in the whole text.
/// Only a cut at the end of a line cannot be seen in general.
#[test]
fn a_text_that_is_cut_off_loses_no_job_and_changes_none() {
    for name in ["qstat_f.txt", "qstat_f_w.txt", "qstat_f.dsv"] {
        let text = golden::text(&format!("openpbs/qstat/{name}"));
        let whole = read(text.as_bytes()).expect("the whole text");
        let expected: BTreeMap<String, String> = (0..whole.table.len())
            .map(|at| (whole.table.id(at).to_owned(), row(&whole, at)))
            .collect();
        let mut random = Xorshift(7);
        for _ in 0..300 {
            let cut = 100 + (random.next() >> 33) as usize % (text.len() - 100);
            if !text.is_char_boundary(cut) {
                continue;
            }
            let document = &text[..cut];
            let read =
                read(document.as_bytes()).unwrap_or_else(|error| panic!("{name} {cut}: {error}"));
            let begun = document
                .lines()
                .filter(|line| line.starts_with("Job Id:"))
                .count();
            assert_eq!(
                read.table.len() + read.problems.skipped(),
                begun,
                "{name} {cut}"
            );
            if !document.ends_with('\n') {
                (0..read.table.len()).for_each(|at| {
                    assert_eq!(
                        Some(&row(&read, at)),
                        expected.get(read.table.id(at)),
                        "{name} {cut}"
                    );
                });
                let is_between_jobs = document.ends_with("\n\nJ") || read.problems.skipped() == 1;
                assert!(
                    is_between_jobs || read.notes.iter().any(|note| note.contains("cut off")),
                    "{name} {cut}"
                );
            }
        }
    }
}

#[test]
fn the_job_in_which_a_text_ends_is_rejected_by_name() {
    let job = |id: u32| {
        format!(
            "Job Id: {id}.vm\n    Job_Name = a\n    job_state = Q\n    Resource_List.ncpus = 16\n\n"
        )
    };
    let text = job(1) + &job(2);
    let found = |document: &str| describe(read(document.as_bytes()));
    let cut = found(text.trim_end_matches("6\n\n"));
    assert!(
        cut.contains("job `2.vm`: the document ends in the middle of the job"),
        "{cut}"
    );
    assert!(
        cut.contains("1 jobs read, 1 rejected")
            && cut.contains("the jobs after its end are missing"),
        "{cut}"
    );
    let at_line_end = found(text.strip_suffix('\n').expect("an empty line"));
    assert!(
        at_line_end.contains("2 jobs read") && at_line_end.contains("no empty line follows"),
        "{at_line_end}"
    );
    let before_a_job = found(&(text.clone() + "Job I"));
    assert!(
        before_a_job.contains("2 jobs read, 0 rejected") && before_a_job.contains("cut off"),
        "{before_a_job}"
    );
    let prompt = found(&(text.clone() + "user@login:~> "));
    assert!(
        prompt.contains("2 jobs read, 0 rejected") && !prompt.contains("note:"),
        "{prompt}"
    );
    let messages = job(1) + "qstat: Unknown Job Id 3.vm\nqstat: Unknown Job Id 4.vm\n" + &job(2);
    let read_of_messages = found(&messages);
    let note = "line 6 is the error message `qstat: Unknown Job Id 3.vm`: jobs may be missing";
    assert!(
        read_of_messages.contains("2 jobs read, 0 rejected"),
        "{read_of_messages}"
    );
    assert!(read_of_messages.contains(note), "{read_of_messages}");
    let dsv = "Job Id: 1.vm|Job_Name=a\nqstat: Unknown Job Id 3.vm\nJob Id: 2.vm|Job_Name=a\n";
    let read_of_messages = found(dsv);
    assert!(
        read_of_messages.contains("2 jobs read, 0 rejected"),
        "{read_of_messages}"
    );
    assert!(
        read_of_messages.contains("line 2 is the error message `qstat: Unknown Job Id 3.vm`"),
        "{read_of_messages}"
    );
    let dsv = "Job Id: 1.vm|Job_Name=a|Resource_List.ncpus=16\nJob Id: 2.vm|Job_Name=a|Resource_List.ncpus=1";
    let cut = found(dsv);
    assert!(
        cut.contains("1 jobs read, 1 rejected") && cut.contains("`2.vm`"),
        "{cut}"
    );
    let schema = Schema::openpbs();
    let strict = ReadOptions {
        strict: true,
        ..ReadOptions::new(&schema, &NEEDED)
    };
    // not the first word of a third job: attributes are indented
    let in_a_name = "Job Id: 1.vm\n    Job_Name = a\n\nJob Id: 2.vm\n    Job_Name = b\n    Job";
    for document in [dsv, text.trim_end(), in_a_name] {
        let error = read_jobs(document.as_bytes(), &strict)
            .expect_err("a cut-off text")
            .to_string();
        assert!(
            error.contains("ends in the middle of job `2.vm`"),
            "{error}"
        );
    }
    assert!(read_jobs(text.as_bytes(), &strict).is_ok());
}
