//! Usage files with a usage that no job causes: infinite, not a number, subnormal, or with a sum
//! beyond the doubles.
//!
//! Recorded: a usage of NaN is ignored (case 75), and `pbsfs -s` writes an infinite one (case 01).
//! That an infinite one counts follows from OpenPBS's published source, which takes a usage that is
//! at least 0, and so does what becomes of it: an infinite usage divided by an infinite sum is the
//! NaN of x86, whose sign bit is set, and `%f` prints `-nan`, which Python reads as `-math.nan`,
//! since the scheduler's `__main__` has all names of `math`.

use std::fs;
use std::path::Path;

use job_sort_formula::fairshare::{FairShare, PolicyRules};
use jsf_openpbs::amounts::printed_fairshare;
use jsf_openpbs::{PbsTree, ResourceGroup, UsageFile};
use jsf_testing::golden;
use serde_json::{Value, json};

use crate::command::{jsf, json, said, stderr, stdout};

const FORMULA: &str = "1000*fairshare_factor + eligible_time/3600";

/// What the usage file of the example says of each entity, with one usage replaced, and one more
/// record.
fn usage_of_the_example(changed: &[(&str, f64)]) -> Vec<u8> {
    let read = UsageFile::parse(
        &fs::read(jsf_testing::path("examples/site/sched_priv/usage")).expect("a file"),
    );
    let usage = |entity: &str, usage| {
        changed
            .iter()
            .find(|(name, _)| *name == entity)
            .map_or(usage, |(_, replaced)| *replaced)
    };
    let records = read
        .records
        .iter()
        .map(|record| (&*record.entity, usage(&record.entity, record.usage)));
    jsf_testing::recorded::encode_usage_file(1_790_000_000, records)
}

/// The example with another usage file, and the path of that.
fn example_with(changed: &[(&str, f64)]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let usage = folder.path().join("usage");
    fs::write(&usage, usage_of_the_example(changed)).expect("a file");
    let usage = usage.to_str().expect("UTF-8").to_owned();
    (folder, usage)
}

#[test]
fn a_recorded_file_with_an_infinite_usage() {
    let folder = "openpbs/pbsfs/01_pp718";
    let lines = ResourceGroup::parse(&golden::bytes(&format!("{folder}/resource_group")));
    let usage = UsageFile::parse(&golden::bytes(&format!("{folder}/usage.after_s11")));
    assert_eq!(
        (
            usage.records.len(),
            usage.faults.len(),
            usage.implausible.len()
        ),
        (4, 0, 1)
    );
    let document = lines.document(Some(&usage), 0);
    let tree = PbsTree::build(&document, PolicyRules::Scheduler, [""; 0]).expect("sound");
    let printed = |entity: &str| {
        let shares = tree.shares_of(entity).expect("an entity");
        [
            shares.fairshare_perc,
            shares.fairshare_tree_usage,
            shares.fairshare_factor,
        ]
        .map(printed_fairshare)
    };
    for entity in ["Bob", "Cathy"] {
        assert_eq!(printed(entity), ["0.200000", "-nan", "nan"], "{entity}");
    }
    assert_eq!(printed("Suzy"), ["0.360000", "0.000000", "1.000000"]);
    assert_eq!(printed("Scott"), ["0.240000", "0.000000", "1.000000"]);
}

#[test]
fn every_command_computes_as_the_scheduler_does_and_names_the_record() {
    for (changed, expected) in [
        (
            &[("rvasquez", f64::INFINITY)][..],
            "of `rvasquez` the sum of all usage is infinite",
        ),
        (
            &[("rvasquez", f64::NAN)],
            "the usage NaN of `rvasquez` is not a number of at least 0",
        ),
        (
            &[("rvasquez", 5e-324)],
            "the usage 5e-324 of `rvasquez` is smaller than any that a job causes",
        ),
        (
            &[("rvasquez", 1.5e308), ("yarslan", 1.5e308)],
            "of `yarslan` the sum of all usage is infinite",
        ),
    ] {
        let (_folder, usage) = example_with(changed);
        let context = ["--site", "examples/site", "--usage", &usage];
        for command in [
            &["rank", FORMULA][..],
            &["explain", FORMULA, "--job", "184261.kestrel", "--to", "1"],
            &["compare", "--old", FORMULA, "--new", "fairshare_factor"],
            &["check", FORMULA],
            &["trajectory", FORMULA, "--job", "184277.kestrel"],
            &["shares"],
            &["shares", "--policy", "all"],
            &["shares", "--decay", "14d", "--charge", "rvasquez=100"],
        ] {
            let arguments = [command, &context].concat();
            let output = jsf(&arguments);
            let warnings = said(&output);
            assert_eq!(output.status.code(), Some(0), "{arguments:?}: {warnings}");
            assert_eq!(
                warnings.matches(expected).count(),
                1,
                "{arguments:?}: {warnings}"
            );
            let strict = jsf(&[&arguments[..], &["--strict"]].concat());
            assert_eq!(
                (strict.status.code(), stdout(&strict).as_str()),
                (Some(2), ""),
                "{arguments:?}"
            );
            assert!(said(&strict).contains(expected), "{}", said(&strict));
        }
    }
}

#[test]
fn an_infinite_usage_reaches_the_formula_as_nan() {
    let (_folder, usage) = example_with(&[("rvasquez", f64::INFINITY)]);
    let context = [
        "--site",
        "examples/site",
        "--usage",
        &usage,
        "--format",
        "json",
    ];
    let explained = json(&jsf(&[
        &["explain", FORMULA, "--job", "184261.kestrel"][..],
        &context,
    ]
    .concat()));
    let job = &explained["jobs"][0];
    assert_eq!(
        (&job["entity"], &job["exact"], &job["score"]),
        (&json!("rvasquez"), &json!("nan"), &Value::Null)
    );
    let factor = job["inputs"]
        .as_array()
        .expect("inputs")
        .iter()
        .find(|input| input["name"] == "fairshare_factor");
    assert_eq!(factor.expect("the factor")["value"], "nan");
    let people = stdout(&jsf(&[
        &["explain", FORMULA, "--job", "184261.kestrel"][..],
        &context[..4],
    ]
    .concat()));
    let first = people.lines().next().expect("a sentence");
    assert!(
        first.contains("its value is not a number, as its `fairshare_factor` is"),
        "{first}"
    );
    // the search for another usage ends, since none changes an infinite sum
    let replayed = jsf(&[
        &["replay", "examples/site/sched.log", FORMULA][..],
        &context[..4],
    ]
    .concat());
    assert_eq!(replayed.status.code(), Some(1), "{}", stderr(&replayed));
    assert!(
        !stdout(&replayed).contains("the usage of"),
        "{}",
        stdout(&replayed)
    );
    // a comparison with NaN is false for Python, whatever the other side is
    let bounded = "fairshare_factor if fairshare_factor >= 0 else -1";
    let ranked = json(&jsf(&[
        &["rank", bounded, "--entity", "rvasquez"][..],
        &context,
    ]
    .concat()));
    let scores: Vec<&Value> = ranked["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| &job["score"])
        .collect();
    assert!(
        !scores.is_empty() && scores.iter().all(|score| **score == json!(-1.0)),
        "{scores:?}"
    );
}

#[test]
fn what_the_scheduler_does_not_define_is_refused() {
    let (folder, usage) = example_with(&[("rvasquez", f64::INFINITY)]);
    let context = ["--site", "examples/site", "--usage", &usage];
    for arguments in [
        &["shares", "--policy", "fair-tree"][..],
        &["shares", "--rules", "documented"],
    ] {
        let output = jsf(&[arguments, &context].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains("only OpenPBS's scheduler computes"),
            "{}",
            stderr(&output)
        );
    }
    let tree = folder.path().join("tree.json");
    fs::write(&tree, r#"{"children":[{"name":"a","shares":1,"usage":1e308},{"name":"b","shares":1,"usage":1e308}]}"#)
        .expect("a file");
    let native = jsf(&["shares", "--tree", path_text(&tree), "--policy", "pbs"]);
    assert_eq!(native.status.code(), Some(2));
    assert!(
        stderr(&native)
            .contains("tree.json`: the sum of all usage is beyond the range of a double\n"),
        "{}",
        stderr(&native)
    );
}

/// In a simulation by the documented rules every entity begins with the same usage, whatever the
/// file says.
#[test]
fn a_simulation_by_the_documented_rules_does_not_depend_on_the_usage() {
    let (folder, usage) = example_with(&[("rvasquez", f64::INFINITY)]);
    let simulated = |folder: &Path, rules: &str| {
        let mut arguments = vec![
            "simulate",
            FORMULA,
            "--workload",
            "examples/site/accounting.gz",
            "--processors",
            "256",
        ];
        arguments.extend([
            "--format",
            "json",
            "--rules",
            rules,
            "--site",
            path_text(folder),
        ]);
        // the copy has no server, and so neither decides anything else
        arguments.extend(["--backfill", "easy", "--usage", "fresh", "--warm-up", "0"]);
        let output = jsf(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    // nothing but the usage differs
    let site_with = |name: &str, usage: &Path| {
        let site = folder.path().join(name);
        fs::create_dir_all(site.join("sched_priv")).expect("a folder");
        for name in ["resource_group", "sched_config"] {
            let copy = site.join("sched_priv").join(name);
            fs::copy(
                jsf_testing::path("examples/site/sched_priv").join(name),
                copy,
            )
            .expect("a copy");
        }
        fs::copy(usage, site.join("sched_priv/usage")).expect("a copy");
        site
    };
    let finite = site_with(
        "finite",
        &jsf_testing::path("examples/site/sched_priv/usage"),
    );
    let infinite = site_with("infinite", usage.as_ref());
    assert!(
        simulated(&finite, "documented") == simulated(&infinite, "documented"),
        "another simulation"
    );
    // the scheduler's rules compute with it
    simulated(&infinite, "scheduler");
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
