//! Replays the inputs that once made a fuzz target fail, and the recorded files as the targets take
//! them.

use std::fs;
use std::path::{Path, PathBuf};

use jsf_testing::fuzz_targets::{self, TARGETS};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// A failure shows the name of the file in the captured output of the test.
#[test]
fn inputs_that_once_failed_pass() {
    let crashes = Path::new(jsf_testing::ROOT).join("tests/corpus/crashes");
    let mut known: Vec<PathBuf> = fs::read_dir(&crashes)
        .map(|entries| {
            entries
                .map(|entry| entry.expect("an entry").path())
                .filter(|path| path.is_dir())
                .collect()
        })
        .unwrap_or_default();
    known.retain(|folder| !folder.ends_with("c_interface"));
    for (name, run) in TARGETS {
        let inputs = files(&crashes.join(name));
        for input in &inputs {
            println!("{}", input.display());
            run(&fs::read(input).expect("a file"));
        }
        println!("{name}: {} inputs", inputs.len());
        known.retain(|folder| !folder.ends_with(name));
    }
    assert!(known.is_empty(), "no target has the name of {known:?}");
}

const SWF: &[u8] =
    b"; MaxProcs: 64\n1 0 5 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1\n2 -9 5 50 65 -1 -1 99 60 -1 1 2 1 1 2 1 -1 -1\n";

/// So that the targets keep doing what they should while the crate changes.
#[test]
fn every_target_takes_recorded_files() {
    let golden = Path::new(jsf_testing::ROOT).join("tests/golden");
    let (qstat, pbsfs) = (
        golden.join("openpbs/qstat"),
        golden.join("openpbs/pbsfs/01_pp718"),
    );
    let mut inputs = [files(&qstat), files(&pbsfs)].concat();
    inputs.extend(files(&golden.join("slurm/files/t01a_doc_defaultroot")));
    let mut runs = 0;
    for input in inputs {
        let bytes = fs::read(&input).expect("a file");
        let bytes = &bytes[..bytes.len().min(20_000)];
        for (name, run) in TARGETS {
            println!("{name} {}", input.display());
            run(bytes);
            runs += 1;
        }
    }
    for formula in [
        "ncpus * 2",
        "pow(2, -(fairshare_tree_usage/fairshare_perc)) * walltime",
        "1/ncpus if mem else x",
    ] {
        fuzz_targets::formula(formula.as_bytes());
        fuzz_targets::verdict(formula.as_bytes());
        fuzz_targets::page(formula.as_bytes());
    }
    let examples = Path::new(jsf_testing::ROOT).join("examples");
    fuzz_targets::goals(&fs::read(examples.join("goals.toml")).expect("a file"));
    fuzz_targets::logs(SWF);
    println!("{runs} runs");
    assert!(runs > 100, "{runs}");
}
