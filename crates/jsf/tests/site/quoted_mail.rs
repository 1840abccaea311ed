//! Files that a mail quotes: each line begins with `>`.

use std::fs;
use std::path::Path;

use jsf_testing::ROOT;
use tempfile::TempDir;

use super::support::{gzip, tar_of};
use crate::command::{jsf, jsf_with_bytes, stdout, success};

/// What is read, by the option that takes it, with what else the command needs.
const READ: &[(&str, &str)] = &[
    (
        "rank ncpus --queue",
        "tests/golden/openpbs/qstat/qstat_f.json",
    ),
    (
        "rank ncpus --queue",
        "tests/golden/openpbs/qstat/qstat_f.txt",
    ),
    (
        "rank ncpus --queue",
        "tests/golden/openpbs/qstat/qstat_f_w.txt",
    ),
    (
        "rank ncpus --queue",
        "tests/golden/openpbs/qstat/qstat_f.dsv",
    ),
    ("rank eligible_time --queue", "examples/site/jobs.ndjson"),
    (
        "rank queue_priority --queue tests/golden/openpbs/qstat/qstat_f.txt --queues",
        "tests/golden/openpbs/qstat/qstat_Qf.txt",
    ),
    (
        "rank queue_priority --queue tests/golden/openpbs/qstat/qstat_f.txt --queues",
        "tests/golden/openpbs/qstat/qstat_Qf.json",
    ),
    (
        "rank queue_priority --queue tests/golden/openpbs/qstat/qstat_f.txt --queues",
        "tests/golden/openpbs/qstat/qmgr_print_server.txt",
    ),
    (
        "rank ncpus --queue tests/golden/openpbs/qstat/qstat_f.txt --server",
        "tests/golden/openpbs/qstat/qstat_Bf.txt",
    ),
    (
        "rank ncpus --queue tests/golden/openpbs/qstat/qstat_f.txt --server",
        "tests/golden/openpbs/qstat/qmgr_list_server.txt",
    ),
    (
        "names --resources",
        "tests/golden/openpbs/qstat/resourcedef",
    ),
    (
        "names --resources",
        "tests/golden/openpbs/qstat/qmgr_print_resource.txt",
    ),
    ("fmt -f", "examples/formulas/alcf.txt"),
    ("fmt -f", "tests/golden/openpbs/qstat/qmgr_print_server.txt"),
    ("fmt -f", "tests/golden/openpbs/qstat/qstat_Bf.json"),
    (
        "shares --slurm-conf examples/slurm/slurm.conf --tree",
        "examples/slurm/sshare.txt",
    ),
    (
        "shares --tree examples/slurm/sshare.txt --slurm-conf",
        "examples/slurm/slurm.conf",
    ),
    (
        "shares --resource-group",
        "examples/site/sched_priv/resource_group",
    ),
    (
        "simulate ncpus --processors 64 --workload",
        "tests/golden/simulate/w1.swf",
    ),
];

fn quoted(text: &[u8], mark: &str) -> Vec<u8> {
    let text = String::from_utf8(text.to_vec()).expect("text");
    text.lines()
        .flat_map(|line| [mark, line, "\n"])
        .collect::<String>()
        .into_bytes()
}

/// The standard output of a command with a file.
fn output(command: &str, file: &str) -> String {
    let mut arguments: Vec<&str> = command.split(' ').chain([file]).collect();
    if !command.starts_with("fmt") {
        arguments.extend(["--format", "json"]);
    }
    success(&jsf(&arguments))
}

#[test]
fn a_quoted_file_is_read_as_the_file_itself() {
    for (command, path) in READ {
        let original = fs::read(Path::new(ROOT).join(path)).expect("a file");
        let expected = output(command, path);
        let folder = TempDir::new().expect("a folder");
        let file = folder
            .path()
            .join(Path::new(path).file_name().expect("a name"));
        for mark in ["> ", "> > ", ">> "] {
            fs::write(&file, quoted(&original, mark)).expect("a file");
            let name = file.display().to_string();
            assert_eq!(
                output(command, &name).replace(&name, path),
                expected,
                "{command} {path}: {mark:?}"
            );
        }
        fs::write(&file, gzip(&quoted(&original, "> "))).expect("a file");
        let name = file.display().to_string();
        assert_eq!(
            output(command, &name).replace(&name, path),
            expected,
            "{command} {path}: gzip"
        );
    }
}

#[test]
fn quoted_text_is_read_from_standard_input_an_archive_and_the_command_line() {
    let document =
        fs::read(Path::new(ROOT).join("tests/golden/openpbs/qstat/qstat_f.txt")).expect("a file");
    let expected = success(&jsf_with_bytes(
        &["rank", "ncpus", "--queue", "-"],
        &document,
    ));
    let marked = quoted(&document, "> ");
    assert_eq!(
        success(&jsf_with_bytes(&["rank", "ncpus", "--queue", "-"], &marked)),
        expected
    );
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("site")).expect("a folder");
    fs::write(folder.path().join("site/qstat_f.txt"), &marked).expect("a file");
    fs::write(
        folder.path().join("site.tar"),
        tar_of(&folder.path().join("site"), "site"),
    )
    .expect("a file");
    let [site, archive] =
        ["site", "site.tar"].map(|name| folder.path().join(name).display().to_string());
    for place in [site, archive] {
        assert_eq!(
            success(&jsf(&["rank", "ncpus", "--site", &place])),
            expected,
            "{place}"
        );
    }
    let formula = "> set server job_sort_formula = \"ncpus  + 2\"\n";
    assert_eq!(success(&jsf(&["fmt", formula])), "ncpus + 2\n");
    assert_eq!(
        success(&jsf_with_bytes(&["fmt", "-"], formula.as_bytes())),
        "ncpus + 2\n"
    );
}

#[test]
fn a_text_of_which_a_line_has_no_mark_is_left_alone() {
    let output = jsf_with_bytes(
        &["rank", "ncpus", "--queue", "-"],
        b"> Job Id: 1.vm\n    job_state = Q\n",
    );
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""));
}
