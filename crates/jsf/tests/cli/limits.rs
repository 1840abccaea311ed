//! What a command does with a large or endless input: output and memory grow with the input, not
//! faster, and an input without an end is refused. `docs/limits.md` has the limits.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::command::{json, said, stderr, stdout};

/// The address space of a command, in KiB.
const MAX_MEMORY: u32 = 1_500_000;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), content).expect("a file");
    }

    /// Runs the words of a line in the folder, with little memory, and ends it after a minute.
    fn run(&self, line: &str) -> Output {
        self.run_in(MAX_MEMORY, line)
    }

    /// The same with this many KiB of address space.
    fn run_in(&self, memory: u32, line: &str) -> Output {
        let script = format!("ulimit -v {memory}; exec timeout 60 \"$@\"");
        let mut command = Command::new("sh");
        command
            .current_dir(self.0.path())
            .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_jsf")]);
        command
            .args(line.split_whitespace())
            .output()
            .expect("a shell")
    }

    #[track_caller]
    fn run_with_code(&self, code: i32, line: &str) -> Output {
        let output = self.run(line);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{line}: {}",
            stderr(&output)
        );
        output
    }

    /// The lengths of what a line prints for an input of a size, and of twice the size.
    #[track_caller]
    fn assert_linear(&self, line: &str, write: impl Fn(&Self, usize), size: usize) {
        let length = |size: usize| {
            write(self, size);
            self.run_with_code(0, line).stdout.len()
        };
        let (one, two) = (length(size), length(2 * size));
        assert!(
            two < one * 5 / 2,
            "{line}: {one} bytes for {size}, {two} for twice as many"
        );
    }
}

fn write_chain(folder: &Folder, nodes: usize) {
    let mut lines = String::new();
    for node in 0..nodes {
        let parent = node
            .checked_sub(1)
            .map_or("root".to_owned(), |parent| format!("g{parent:06}"));
        let _ = writeln!(lines, "g{node:06} {} {parent} 10", 100 + node);
    }
    folder.write("chain", lines);
}

fn jobs(count: usize) -> String {
    (0..count)
        .map(|job| {
            format!(
                "{{\"id\":\"{job}.vm\",\"entity\":\"u{}\",\"resources\":{{\"ncpus\":{job}}}}}\n",
                job % 9
            )
        })
        .collect()
}

#[test]
fn a_chain_of_groups_is_shown_in_linear_space() {
    let folder = Folder::new();
    for line in [
        "shares --resource-group chain --format json",
        "shares --resource-group chain --full",
        "shares --resource-group chain --charge g000003=5 --format json",
        "shares --resource-group chain --charge g000003=5 --full",
        "shares --resource-group chain --policy all --full",
    ] {
        folder.assert_linear(line, write_chain, 500);
    }
    let shown = json(&folder.run_with_code(0, "shares --resource-group chain --format json"));
    let nodes = shown["nodes"].as_array().expect("nodes");
    let deepest = nodes
        .iter()
        .find(|node| node["name"] == "g000999")
        .expect("the last node");
    assert_eq!(
        (
            deepest["path"].as_array().map(Vec::len),
            &deepest["path_omitted"]
        ),
        (Some(100), &900.into())
    );
    assert_eq!(deepest["path"][99], "g000999");
}

#[test]
fn sort_keys_have_a_limit() {
    let folder = Folder::new();
    folder.write("jobs", jobs(2000));
    folder.write("group", "u0 10 root 10\n");
    folder.write(
        "config",
        "job_sort_key: \"ncpus HIGH\" ALL\n".repeat(10_000),
    );
    let output = folder.run_with_code(
        0,
        "rank 0 --queue jobs --resource-group group --sched-config config --top 3",
    );
    let message = said(&output);
    assert!(
        message.contains("line 21: the `job_sort_key` `ncpus` is not used"),
        "{message}"
    );
    assert!(
        message.contains("and 9970 more of these kinds") && message.lines().count() < 40,
        "{message}"
    );
    assert!(
        stdout(&output).contains("   1  1999.vm"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn findings_on_a_long_formula_are_drawn_around_their_places() {
    let folder = Folder::new();
    let keywords: Vec<String> = (0..1500).map(|number| format!("k{number}=1")).collect();
    let unknown: Vec<String> = (0..1500).map(|number| format!("zz{number}")).collect();
    let similar: Vec<String> = (0..1500).map(|number| format!("ncpu{number}")).collect();
    let deep = format!("NCPUS{}", "+1".repeat(5_000));
    let lines = unknown.join("\n+ ");
    let (keywords, unknown, similar) = (keywords.join(","), unknown.join("+"), similar.join("+"));
    for formula in [
        format!("round({keywords})"),
        format!("max({keywords})"),
        unknown,
        similar,
        deep,
        format!("({lines})"),
    ] {
        folder.write("formula", &formula);
        folder.write("jobs", jobs(20));
        for line in ["check -f formula", "check -f formula --queue jobs"] {
            let output = folder.run(line);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{line}: {}",
                stderr(&output)
            );
            let text = stdout(&output);
            assert!(
                text.len() < 30_000,
                "{line}: {} bytes for {}",
                text.len(),
                &formula[..40]
            );
            let drawn = text.lines().filter(|line| line.contains(" | "));
            let widest = drawn.map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(
                widest <= 200,
                "{line}: {widest} characters for {}",
                &formula[..40]
            );
        }
    }
}

#[test]
fn the_column_of_a_place_in_a_cut_line_is_that_of_the_whole_line() {
    let folder = Folder::new();
    folder.write("formula", format!("{}NCPUS + 1", "ncpus + ".repeat(100)));
    let text = stdout(&folder.run_with_code(1, "check -f formula"));
    assert!(text.contains("--> formula:1:801\n"), "{text}");
    let line = text
        .lines()
        .find(|line| line.contains("NCPUS + 1"))
        .expect("the line");
    assert!(
        line.starts_with("1 | ...") && line.chars().count() <= 140,
        "{text}"
    );
}

#[test]
fn warnings_about_a_file_are_shown_ten_times() {
    let folder = Folder::new();
    let mut usage = b"PBS_MAG!\0\0\0\0\0\0\0\0".to_vec();
    usage.extend(2f64.to_le_bytes());
    usage.extend(0i64.to_le_bytes());
    usage.extend(
        (0..20_000 * 64_u32).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 24) as u8 | 1),
    );
    folder.write("usage", usage);
    let many = |line: fn(usize) -> String| (0..20_000).map(line).collect::<String>();
    folder.write(
        "group",
        "u0 10 root 10\n".to_owned() + &many(|line| format!("x{line} nope root z\n")),
    );
    folder.write(
        "config",
        "by_queue: true\n".to_owned() + &many(|line| format!("x{line}: {line}\n")),
    );
    folder.write(
        "conf",
        "ClusterName=x\n".to_owned() + &many(|line| format!("Priority{line}=x\n")),
    );
    folder.write(
        "defs",
        "r type=long\n".to_owned() + &many(|line| format!("x{line} type=what{line}\n")),
    );
    folder.write(
        "tree",
        format!(
            "{{\"children\":[{{\"name\":\"a\",{}\"shares\":1}}]}}",
            many(|n| format!("\"k{n}\":1,"))
        ),
    );
    folder.write(
        "jobs",
        many(|line| {
            format!(
                "{{\"id\":\"{line}\",\"k{line}\":1,\"resources\":{{\"ncpus\":1,\"mem\":\"x\"}}}}\n"
            )
        }),
    );
    for line in [
        "shares --resource-group group --usage usage --sched-config config",
        "shares --tree tree --slurm-conf conf",
        "check ncpus --resources defs",
        "rank mem --queue jobs --top 3",
    ] {
        let output = folder.run_with_code(0, line);
        let message = said(&output);
        assert!(
            message.lines().count() <= 80 && message.len() < 30_000,
            "{line}: {} bytes\n{message}",
            message.len()
        );
        assert!(
            message.contains(" more") || message.contains("skipped"),
            "{line}: {message}"
        );
    }
}

#[test]
fn a_long_name_does_not_widen_every_row() {
    let folder = Folder::new();
    let long = "x".repeat(4000);
    folder.write(
        "jobs",
        jobs(500)
            + &format!(
                "{{\"id\":\"{long}\",\"entity\":\"{long}\",\"resources\":{{\"ncpus\":1}}}}\n"
            ),
    );
    let nodes: Vec<String> = (0..500)
        .map(|node| format!("{{\"name\":\"a{node}\"}}"))
        .collect();
    folder.write(
        "tree",
        format!(
            "{{\"children\":[{{\"name\":\"{long}\"}},{}]}}",
            nodes.join(",")
        ),
    );
    folder.write("defs", format!("r{} type=long\n", "x".repeat(400)));
    for line in [
        "rank -ncpus --queue jobs",
        "rank ncpus --queue jobs --wide",
        "shares --tree tree",
        "names --resources defs",
    ] {
        let text = stdout(&folder.run_with_code(0, line));
        assert!(
            text.len() < 501 * 460 + 20_000,
            "{line}: {} bytes",
            text.len()
        );
    }
}

#[test]
fn a_long_name_is_not_kept_with_the_error_of_every_job() {
    let folder = Folder::new();
    folder.write("jobs", jobs(500));
    folder.write("formula", "f".repeat(60_000));
    let text =
        stdout(&folder.run_with_code(1, "rank --formula-file formula --queue jobs --format csv"));
    assert!(text.len() < 501 * 460, "{} bytes", text.len());
}

#[test]
fn an_endless_file_is_refused_early() {
    let folder = Folder::new();
    folder.write("group", "u0 10 root 10\n");
    folder.write("tree", "{\"children\":[{\"name\":\"a\"}]}");
    folder.write("jobs", jobs(3));
    for line in [
        "rank ncpus --queue /dev/zero",
        "rank ncpus --queue /dev/urandom",
        "check -f /dev/zero",
        "check ncpus --server /dev/zero",
        "check ncpus --queues /dev/zero",
        "check ncpus --resources /dev/zero",
        "check ncpus --site /dev/zero",
        "shares --resource-group /dev/zero",
        "shares --resource-group group --usage /dev/zero",
        "shares --resource-group group --sched-config /dev/zero",
        "shares --tree /dev/zero",
        "shares --tree tree --slurm-conf /dev/zero",
        "compare --old ncpus --new ncpus --queue jobs --tree tree --new-tree /dev/zero",
        "replay /dev/zero ncpus --queue jobs",
        "replay /dev/urandom ncpus --queue jobs",
    ] {
        let output = folder.run_with_code(2, line);
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{line}"
        );
    }
}

#[test]
#[cfg(unix)]
fn a_named_pipe_is_not_waited_for() {
    let folder = Folder::new();
    folder.write("group", "u0 10 root 10\n");
    folder.write("jobs", jobs(2));
    let made = Command::new("mkfifo")
        .current_dir(folder.0.path())
        .arg("pipe")
        .status();
    assert!(made.expect("mkfifo").success());
    for line in [
        "shares --resource-group pipe",
        "shares --resource-group group --sched-config pipe",
        "shares --resource-group group --usage pipe",
        "shares --tree pipe",
        "rank ncpus --queue pipe",
        "check -f pipe",
        "check ncpus --server pipe",
        "simulate ncpus --generate 1 --processors 1 --goals pipe",
        "fit {a=1:0..5}*ncpus --queue jobs --wishes pipe",
    ] {
        let message = stderr(&folder.run_with_code(2, line));
        assert!(message.contains("it is a named pipe"), "{line}: {message}");
    }
    // what a shell passes for `<(…)` is a pipe too
    if !Path::new("/dev/fd").exists() {
        return;
    }
    folder.write("queue", "{\"id\":\"7.vm\",\"ncpus\":2}\n");
    for (file, arguments, shown) in [
        ("group", "shares --resource-group /dev/fd/3", "u0"),
        ("queue", "rank ncpus --queue /dev/fd/3", "7.vm"),
    ] {
        let cat = Command::new("cat")
            .current_dir(folder.0.path())
            .arg(file)
            .stdout(std::process::Stdio::piped())
            .spawn();
        let source = cat.expect("cat").stdout.expect("a pipe");
        let output = Command::new("sh")
            .current_dir(folder.0.path())
            .args(["-c", "exec 3<&0; exec \"$@\"", "sh"])
            .arg(env!("CARGO_BIN_EXE_jsf"))
            .args(arguments.split(' '))
            .stdin(source)
            .output()
            .expect("a shell");
        assert!(
            output.status.success() && stdout(&output).contains(shown),
            "{arguments}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn ten_fixes_in_a_row_are_applied() {
    let folder = Folder::new();
    let nested = (0..12).fold("NCPUS".to_owned(), |inner, _| format!("math.fabs({inner})"));
    folder.write("formula", &nested);
    let output = folder.run_with_code(0, "check -f formula --fix");
    assert_eq!(
        stdout(&output).trim_end(),
        (0..12).fold("ncpus".to_owned(), |inner, _| format!("fabs({inner})"))
    );
}

#[test]
fn names_that_differ_in_invalid_bytes_stay_different() {
    let folder = Folder::new();
    let job = |byte: u8| {
        [
            b"{\"id\":\"1",
            &[byte][..],
            b".vm\",\"resources\":{\"ncpus\":1}}\n",
        ]
        .concat()
    };
    folder.write("jobs", [job(0xff), job(0xfe)].concat());
    let ranked = json(&folder.run_with_code(0, "rank ncpus --queue jobs --format json"));
    assert_eq!(ranked["jobs"].as_array().map(Vec::len), Some(2), "{ranked}");
    let account = |byte: u8| [b"Account - 'a", &[byte][..], b"':Fairshare=1\n"].concat();
    folder.write(
        "dump",
        [
            b"Cluster - 'c'\nParent - 'root'\n".to_vec(),
            account(0xff),
            account(0xfe),
        ]
        .concat(),
    );
    let shares = json(&folder.run_with_code(0, "shares --tree dump --format json"));
    assert_eq!(
        shares["nodes"].as_array().map(Vec::len),
        Some(3),
        "{shares}"
    );
}

#[test]
#[cfg(unix)]
fn the_folder_of_pbsfs_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().expect("a folder");
    let name = OsStr::from_bytes(b"sched\xff");
    fs::create_dir(folder.path().join(name)).expect("a folder");
    fs::write(
        folder.path().join(name).join("resource_group"),
        "u0 10 root 10\n",
    )
    .expect("a file");
    fs::write(
        folder.path().join(name).join("sched_config"),
        "by_queue: true\n",
    )
    .expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_jsf"));
    command
        .current_dir(folder.path())
        .args(["pbsfs", "-p"])
        .arg(OsStr::from_bytes(b"--sched-priv=sched\xff"));
    let output = command.output().expect("jsf starts");
    assert!(
        output.status.success() && stdout(&output).contains("u0"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn fmt_keeps_a_name_that_python_normalises_to_a_keyword() {
    let folder = Folder::new();
    folder.write("formula", "ncpus*aſ");
    assert_eq!(
        stdout(&folder.run_with_code(0, "fmt -f formula")),
        "ncpus * aſ\n"
    );
}

fn gzip(pieces: &[(&str, usize)]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    for (piece, count) in pieces {
        (0..*count).for_each(|_| encoder.write_all(piece.as_bytes()).expect("memory"));
    }
    encoder.finish().expect("memory")
}

#[test]
fn what_a_small_file_expands_to_takes_bounded_memory() {
    let folder = Folder::new();
    let entries = "\"a\":1,".repeat(1000);
    folder.write(
        "job.gz",
        gzip(&[
            ("{\"jobs\":[{\"id\":\"1\",\"resources\":{", 1),
            (&entries, 500),
            ("\"b\":1}}]}", 1),
        ]),
    );
    folder.write(
        "keys.gz",
        gzip(&[
            ("{\"jobs\":[{\"id\":\"1\",", 1),
            (&entries, 500),
            ("\"b\":1}]}", 1),
        ]),
    );
    folder.write(
        "tree.gz",
        gzip(&[
            ("{\"children\":[", 1),
            (&"0,".repeat(1000), 5000),
            ("0]}", 1),
        ]),
    );
    folder.write(
        "types.gz",
        gzip(&[("r type=long\n", 1), (&"q type=x\n".repeat(1000), 700)]),
    );
    folder.write("spaces.gz", gzip(&[(&" ".repeat(1 << 20), 65)]));
    for (line, reason) in [
        (
            "rank ncpus --queue job.gz",
            "more than 10000 resources or inputs",
        ),
        ("check ncpus --resources types.gz", "more of these kinds"),
        ("shares --tree tree.gz", "more than 1000000 nodes"),
        (
            "rank ncpus --queue spaces.gz",
            "more than 200 times its compressed size",
        ),
        (
            "shares --resource-group spaces.gz",
            "more than 200 times its compressed size",
        ),
    ] {
        let message = stderr(&folder.run_in(450_000, line));
        assert!(message.contains(reason), "{line}: {message}");
    }
    let output = folder.run_in(450_000, "rank ncpus --queue keys.gz");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn simulations_beside_each_other_need_no_thread() {
    let folder = Folder::new();
    folder.write(
        "log.swf",
        "; MaxProcs: 4\n1 0 -1 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n".repeat(50),
    );
    folder.write(
        "goals",
        "[[goal]]\nmeasure = \"wait\"\nstatistic = \"max\"\nat_most = \"1h\"\n",
    );
    let starts = |memory: &u32| folder.run_in(*memory, "--version").status.success();
    let least = (20_000..MAX_MEMORY)
        .step_by(1000)
        .find(starts)
        .expect("a limit with which jsf starts");
    // with some of these limits the process starts, and a thread does not
    for memory in (least..least + 10_000).step_by(500) {
        for line in [
            "simulate ncpus*{a} --param a=1,2 --workload log.swf",
            "fit {a=1:0..5}*ncpus --evaluations 3 --goals goals --workload log.swf",
        ] {
            let output = folder.run_in(memory, line);
            assert!(
                matches!(output.status.code(), Some(0..=2)),
                "{line}, {memory} KiB: {output:?}"
            );
        }
    }
}

#[test]
fn the_resources_of_all_jobs_have_a_limit() {
    let folder = Folder::new();
    folder.write(
        "jobs",
        (0..100_001)
            .map(|n| format!("{{\"id\":\"{n}\",\"resources\":{{\"r{n}\":1}}}}\n"))
            .collect::<String>(),
    );
    let message = stderr(&folder.run_with_code(2, "rank ncpus --queue jobs"));
    assert!(
        message.contains("more than 100000 different resources"),
        "{message}"
    );
}

#[test]
fn the_name_of_a_resource_has_a_limit_on_the_process_as_in_files() {
    let folder = Folder::new();
    let long = "n".repeat(255);
    folder.run_with_code(0, &format!("check {long} --resource {long}"));
    let message = stderr(&folder.run_with_code(2, &format!("check {long}n --resource {long}n")));
    assert!(message.contains("expected at most 255 bytes"), "{message}");
    folder.write(
        "resourcedef",
        format!("{long} type=long\n{long}n type=long\n"),
    );
    folder.run_with_code(0, &format!("check {long} --resources resourcedef"));
    folder.run_with_code(1, &format!("check {long}n --resources resourcedef"));
}

#[test]
fn a_tree_takes_a_bounded_multiple_of_its_text() {
    let folder = Folder::new();
    let lines: String = (0..15_000)
        .map(|node| format!("g{node} {node} root 1\n"))
        .collect();
    folder.write("wide", &lines);
    write_chain(&folder, 10_000);
    for line in [
        "shares --resource-group wide",
        "shares --resource-group wide --policy all",
        "shares --resource-group chain --format json",
        "shares --resource-group chain",
    ] {
        let output = folder.run_in(250_000, line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
    }
}

#[test]
fn a_formula_with_more_names_than_columns_is_refused_for_jobs() {
    let folder = Folder::new();
    folder.write(
        "formula",
        (0..9000)
            .map(|name| format!("n{name}"))
            .collect::<Vec<_>>()
            .join("+"),
    );
    folder.write("jobs", jobs(3));
    let message = stderr(&folder.run_with_code(2, "rank -f formula --queue jobs"));
    assert!(
        message.contains("names, more than the 2000 that a table can have"),
        "{message}"
    );
}
