//! `jsf shares` and `jsf rank` on the files of a Slurm site: which policy is in force, and what the files lack.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::command::{jsf, json, stderr, stdout, success};
use crate::support::golden;

fn file(name: &str) -> String {
    golden::path("slurm/files/t04_irregular").join(name).to_str().expect("UTF-8").to_owned()
}

fn put(folder: &Path, name: &str, text: &str) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// The line that names the policy.
fn policy(arguments: &[&str]) -> String {
    let text = success(&jsf(&[&["shares"], arguments].concat()));
    text.lines().next().expect("a line").to_owned()
}

#[test]
fn the_policy_comes_from_the_files() {
    let [fair_tree, classic] = ["ft.sshare_a_l_P.txt", "v2611_classic_d1.sshare.json"].map(file);
    let default = "policy:    fair-tree (from the tree's file), as in Slurm 26.11, half-life 7-00:00:00";
    assert_eq!(policy(&["--tree", &fair_tree]), default);
    let output = jsf(&["shares", "--tree", &classic]);
    let text = success(&output);
    assert!(
        text.starts_with(
            "policy:    classic (from the tree's file), as in Slurm 26.11, dampening factor 1, half-life 7-00:00:00"
        ),
        "{text}"
    );
    assert!(stderr(&output).contains("classic is assumed; give `--slurm-conf FILE`"), "{}", stderr(&output));
    let folder = tempfile::tempdir().expect("a folder");
    let scontrol = put(
        folder.path(),
        "scontrol.txt",
        "Configuration data as of 2023-02-28T10:11:12\nFairShareDampeningFactor = 5\nPriorityDecayHalfLife   = 14-00:00:00\n\
         PriorityFlags           = NO_FAIR_TREE\nPriorityType            = priority/multifactor\nSLURM_VERSION = 22.05.8\n",
    );
    let output = jsf(&["shares", "--tree", &file("classic_d1.sshare_a_l.txt"), "--slurm-conf", &scontrol]);
    assert_eq!(stderr(&output), "");
    let head = "policy:    classic (from slurm.conf), as in Slurm 22.05, dampening factor 5, half-life 14-00:00:00\n";
    assert!(stdout(&output).starts_with(head), "{}", stdout(&output));
    let output = jsf(&["shares", "--tree", &fair_tree, "--slurm-conf", &scontrol]);
    assert!(stderr(&output).contains("printed under fair-tree, but `slurm.conf` says classic"), "{}", stderr(&output));
    let chosen = policy(&["--tree", &fair_tree, "--slurm-conf", &scontrol, "--policy", "depth-oblivious"]);
    assert!(
        chosen.starts_with("policy:    depth-oblivious (given), as in Slurm 22.05, dampening factor 5"),
        "{chosen}"
    );
    let own = policy(&["--sched-priv", "examples/site/sched_priv"]);
    assert!(
        own.starts_with(
            "policy:    pbs (default), as OpenPBS's scheduler computes it, usage is multiplied by 0.5 every"
        ),
        "{own}"
    );
}

#[test]
fn a_file_of_sacctmgr_has_no_usage() {
    let output = jsf(&["shares", "--tree", &file("dump.cfg")]);
    let head = "policy:    fair-tree (default for a tree of Slurm), as in Slurm 26.11, half-life 7-00:00:00\n";
    assert!(stdout(&output).starts_with(head), "{}", stdout(&output));
    assert!(stderr(&output).contains("has no usage, so every usage is 0"), "{}", stderr(&output));
}

#[test]
fn without_a_priority_type_old_releases_have_no_fair_share() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = put(folder.path(), "slurm.conf", "ClusterName=x\n");
    let tree = file("ft.sshare_a_l_P.txt");
    let warned = |more: &[&str]| {
        let output = jsf(&[&["shares", "--tree", &tree, "--slurm-conf", &conf], more].concat());
        assert!(output.status.success());
        stderr(&output).contains("`slurm.conf` has no `PriorityType`: before 23.11 that means `priority/basic`")
    };
    assert_eq!(
        [warned(&[]), warned(&["--slurm-release", "22.05"]), warned(&["--slurm-release", "26.11"])],
        [true, true, false]
    );
}

#[test]
fn tickets_need_pending_jobs() {
    let tree = file("classic_d1.sshare_a_l_P.txt");
    let arguments = ["shares", "--tree", &tree, "--policy", "ticket-based"];
    let output = jsf(&[&arguments[..], &["--format", "json"]].concat());
    let document = json(&output);
    let nodes = document["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().all(|node| node["fairshare"] == Value::Null && node["tickets"] == Value::Null), "{document}");
    assert!(stderr(&output).contains("give `--queue FILE` or `--active NAME,…`"), "{}", stderr(&output));
    let text = success(&jsf(&arguments));
    assert!(text.lines().filter(|line| line.contains("u1")).all(|line| line.ends_with("-")), "{text}");
    let output = jsf(&[&arguments[..], &["--active", "root/u1", "--format", "json"]].concat());
    assert_eq!(stderr(&output), "");
    let document = json(&output);
    let nodes = document["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().any(|node| node["fairshare"] == 1.0), "{document}");
}

#[test]
fn the_weighted_walk_says_whom_it_leaves_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = r#"{"children":[{"name":"bank","children":[{"name":"within","usage":5}]},{"name":"beside","usage":7}]}"#;
    let tree = put(folder.path(), "tree.json", tree);
    let output = jsf(&["shares", "--tree", &tree, "--policy", "weighted-walk"]);
    assert!(
        stderr(&output).contains("weighted-walk leaves out `beside` of `root`: a user beside a group"),
        "{}",
        stderr(&output)
    );
    assert_eq!(stderr(&jsf(&["shares", "--tree", &tree, "--policy", "fair-tree"])), "");
}

#[test]
fn a_resource_group_keeps_its_cgroups() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "# a comment\nphysics 77 root 40\nann 501 physics 10\nbob 33 physics 5\n";
    let groups = put(folder.path(), "resource_group", text);
    let written = success(&jsf(&["shares", "--resource-group", &groups, "--format", "resource-group"]));
    assert_eq!(written, "physics\t77\troot\t40\nann\t501\tphysics\t10\nbob\t33\tphysics\t5\n");
}

#[test]
fn durations_have_three_notations() {
    let usage = |duration: &str| {
        let arguments = ["shares", "--sched-priv", "examples/site/sched_priv", "--format", "json", "--decay", duration];
        let document = json(&jsf(&arguments));
        document["nodes"][0]["usage"].as_f64().unwrap_or_else(|| panic!("{document}"))
    };
    let week = usage("7d");
    assert!(week < usage("6d"));
    assert_eq!(["1w", "168h", "10080m", "604800s", "604800", "168:00:00", "7-0", "7-00:00:00"].map(usage), [week; 8]);
    let output = jsf(&["shares", "--sched-priv", "examples/site/sched_priv", "--decay", "soon"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`soon` is not a duration, expected"), "{}", stderr(&output));
}
