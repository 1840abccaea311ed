//! `jsf shares` and `jsf rank` on the files of a Slurm site: which policy is in force, and what the
//! files lack.

use std::path::{Path, PathBuf};

use jsf_testing::golden;
use serde_json::Value;

use crate::command::{jsf, json, said, stderr, stdout, success};

fn file(name: &str) -> String {
    golden::path("slurm/files/t04_irregular")
        .join(name)
        .to_str()
        .expect("UTF-8")
        .to_owned()
}

fn put(folder: &Path, name: &str, text: &str) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// The line that names the policy, without the blanks that align it with others.
fn policy(arguments: &[&str]) -> String {
    let text = success(&jsf(&[&["shares"], arguments].concat()));
    let line = text
        .lines()
        .find(|line| line.starts_with("policy:"))
        .expect("a line");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_policy_comes_from_the_files() {
    let [fair_tree, classic] = ["ft.sshare_a_l_P.txt", "v2611_classic_d1.sshare.json"].map(file);
    let default = "policy: fair-tree (from the tree's file), as in Slurm 26.11 (default), half-life 7-00:00:00 (default)";
    assert_eq!(policy(&["--tree", &fair_tree]), default);
    let output = jsf(&["shares", "--tree", &classic]);
    let text = success(&output);
    assert!(
        text.contains(
            "policy: classic (from the tree's file), as in Slurm 26.11, dampening factor 1 (default), half-life 7-00:00:00 \
             (default)"
        ),
        "{text}"
    );
    assert!(
        said(&output).contains("classic is assumed; give the `slurm.conf` (--slurm-conf FILE)"),
        "{}",
        said(&output)
    );
    let folder = tempfile::tempdir().expect("a folder");
    let scontrol = put(
        folder.path(),
        "scontrol.txt",
        "Configuration data as of 2023-02-28T10:11:12\nFairShareDampeningFactor = 5\nPriorityDecayHalfLife   = 14-00:00:00\n\
         PriorityFlags           = NO_FAIR_TREE\nPriorityType            = priority/multifactor\nSLURM_VERSION = 22.05.8\n",
    );
    let output = jsf(&[
        "shares",
        "--tree",
        &file("classic_d1.sshare_a_l.txt"),
        "--slurm-conf",
        &scontrol,
    ]);
    // the tree was printed under another dampening factor, and that is the only warning
    assert_eq!(stderr(&output), "");
    assert!(
        said(&output).contains("the column FairShare differs"),
        "{}",
        said(&output)
    );
    let head = "policy: classic (from slurm.conf), as in Slurm 22.05, dampening factor 5, half-life 14-00:00:00\n";
    assert!(stdout(&output).contains(head), "{}", stdout(&output));
    let without_flags = put(
        folder.path(),
        "slurm.conf",
        "PriorityType=priority/multifactor\n",
    );
    let head = policy(&["--tree", &fair_tree, "--slurm-conf", &without_flags]);
    let source = "policy: fair-tree (slurm.conf sets no PriorityFlags: the default since Slurm 19.05), as in Slurm 26.11";
    assert!(head.starts_with(source), "{head}");
    let output = jsf(&["shares", "--tree", &fair_tree, "--slurm-conf", &scontrol]);
    assert!(
        said(&output).contains("not printed under classic, which `slurm.conf` says"),
        "{}",
        said(&output)
    );
    let chosen = policy(&[
        "--tree",
        &fair_tree,
        "--slurm-conf",
        &scontrol,
        "--policy",
        "depth-oblivious",
    ]);
    assert!(
        chosen
            .starts_with("policy: depth-oblivious (given), as in Slurm 22.05, dampening factor 5"),
        "{chosen}"
    );
    let own = policy(&["--sched-priv", "examples/site/sched_priv"]);
    assert!(
        own.starts_with("policy: pbs (default), as OpenPBS's scheduler computes it, usage is multiplied by 0.5 every"),
        "{own}"
    );
}

#[test]
fn a_file_of_sacctmgr_has_no_usage() {
    let output = jsf(&["shares", "--tree", &file("dump.cfg")]);
    let head = "policy: fair-tree (default for a tree of Slurm), as in Slurm 26.11 (default), half-life 7-00:00:00 \
                (default)\n";
    assert!(stdout(&output).contains(head), "{}", stdout(&output));
    assert!(
        said(&output).contains("has no usage, so every usage is 0"),
        "{}",
        said(&output)
    );
}

#[test]
fn without_a_priority_type_old_releases_have_no_fair_share() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = put(folder.path(), "slurm.conf", "ClusterName=x\n");
    let tree = file("ft.sshare_a_l_P.txt");
    let warned = |more: &[&str]| {
        let output = jsf(&[&["shares", "--tree", &tree, "--slurm-conf", &conf], more].concat());
        assert!(output.status.success());
        said(&output).contains(
            "`slurm.conf` has no `PriorityType`: before 23.11 that means `priority/basic`",
        )
    };
    assert_eq!(
        [
            warned(&[]),
            warned(&["--slurm-release", "22.05"]),
            warned(&["--slurm-release", "26.11"])
        ],
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
    assert!(
        nodes
            .iter()
            .all(|node| node["fairshare"] == Value::Null && node["tickets"] == Value::Null),
        "{document}"
    );
    assert!(
        stderr(&output)
            .contains("give a queue (--queue FILE), or name the active entities (--active NAME,…)"),
        "{}",
        stderr(&output)
    );
    let text = success(&jsf(&[&arguments[..], &["--full"]].concat()));
    let (_, tree) = text.split_once("\nshares\n").expect("the tree");
    assert!(
        tree.lines()
            .filter(|line| line.contains("u1"))
            .all(|line| line.ends_with("-")),
        "{text}"
    );
    let output = jsf(&[&arguments[..], &["--active", "root/u1", "--format", "json"]].concat());
    assert_eq!(stderr(&output), "");
    let document = json(&output);
    let nodes = document["nodes"].as_array().expect("nodes");
    assert!(
        nodes.iter().any(|node| node["fairshare"] == 1.0),
        "{document}"
    );
}

#[test]
fn the_weighted_walk_says_whom_it_leaves_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = r#"{"children":[{"name":"bank","children":[{"name":"within","usage":5}]},{"name":"beside","usage":7}]}"#;
    let tree = put(folder.path(), "tree.json", tree);
    let output = jsf(&["shares", "--tree", &tree, "--policy", "weighted-walk"]);
    assert!(
        stderr(&output)
            .contains("weighted-walk leaves out 1 user beside a group, such as `beside` of `root`"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        stderr(&jsf(&["shares", "--tree", &tree, "--policy", "fair-tree"])),
        ""
    );
}

#[test]
fn durations_have_three_notations() {
    let usage = |duration: &str| {
        let arguments = [
            "shares",
            "--sched-priv",
            "examples/site/sched_priv",
            "--format",
            "json",
            "--decay",
            duration,
        ];
        let document = json(&jsf(&arguments));
        document["nodes"][0]["usage"]
            .as_f64()
            .unwrap_or_else(|| panic!("{document}"))
    };
    let week = usage("7d");
    assert!(week < usage("6d"));
    assert_eq!(
        [
            "1w",
            "168h",
            "10080m",
            "604800s",
            "604800",
            "168:00:00",
            "7-0",
            "7-00:00:00"
        ]
        .map(usage),
        [week; 8]
    );
    let output = jsf(&[
        "shares",
        "--sched-priv",
        "examples/site/sched_priv",
        "--decay",
        "soon",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("`soon` is not a duration, expected"),
        "{}",
        stderr(&output)
    );
}

/// The warning about the column `FairShare`, if there is one.
fn fairshare_warning(arguments: &[&str]) -> Option<String> {
    let output = jsf(&[&["shares"], arguments].concat());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        said(&output)
    );
    said(&output)
        .lines()
        .find(|line| line.contains("the column FairShare differs"))
        .map(str::to_owned)
}

/// Every recorded `sshare`, with the policy and the release of its daemon.
fn recorded_sshares() -> Vec<(String, Vec<&'static str>)> {
    let mut found = Vec::new();
    for folder in
        std::fs::read_dir(jsf_testing::path("tests/golden/slurm/files")).expect("a folder")
    {
        for file in std::fs::read_dir(folder.expect("an entry").path()).expect("a folder") {
            let path = file
                .expect("an entry")
                .path()
                .to_str()
                .expect("UTF-8")
                .to_owned();
            let name = path.rsplit(['/', '\\']).next().expect("a name").to_owned();
            if !name.contains("sshare") {
                continue;
            }
            let policy = match () {
                () if name.contains("ft.") => "fair-tree",
                () if name.contains("classic") => "classic",
                () => "depth-oblivious",
            };
            let release = if name.starts_with("v2611") {
                "26.11"
            } else {
                "22.05"
            };
            found.push((path, vec!["--policy", policy, "--slurm-release", release]));
        }
    }
    assert!(found.len() > 50, "{}", found.len());
    found
}

#[test]
fn the_recorded_factors_are_those_computed() {
    for (path, daemon) in recorded_sshares() {
        assert_eq!(
            fairshare_warning(&[&["--tree", &path], &daemon[..]].concat()),
            None,
            "{path}"
        );
    }
}

#[test]
fn the_policy_or_release_that_computes_the_printed_factors_is_named() {
    let parents = "tests/golden/slurm/files/t08_parent_users";
    let warning = |file: &str| {
        fairshare_warning(&["--tree", &format!("{parents}/{file}")]).expect("a warning")
    };
    let classic = warning("classic_d1.sshare_a_l_P.txt");
    let expected = "computes for 1 of 11 associations, such as `root/u6`: printed 0.974310, computed 0.500000; \
                    classic of Slurm 22.05 gives the printed numbers (--policy NAME, --slurm-release NAME)";
    assert!(classic.ends_with(expected), "{classic}");
    let oblivious = warning("do_d1_settled.sshare_a_l_P.txt");
    assert!(
        oblivious.ends_with(
            "; depth-oblivious of Slurm 22.05 gives the printed numbers (--policy NAME, --slurm-release NAME)"
        ),
        "{oblivious}"
    );
    // another policy was asked for
    let path = format!("{parents}/classic_d1.sshare_a_l_P.txt");
    assert_eq!(
        fairshare_warning(&["--tree", &path, "--policy", "fair-tree"]),
        None
    );
}

/// The usages were 10.9 each, so the factor was 0.5; from the printed ones it is 0.5168.
#[test]
fn usage_without_decimals_is_no_difference() {
    let table = |factor: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare\n\
             root|||1.000000|21||1.000000|\n root|ann|1|0.500000|10|0.500000|0.500000|{factor}\n \
             root|bob|1|0.500000|10|0.500000|0.500000|0.500000\n"
        )
    };
    let folder = tempfile::tempdir().expect("a folder");
    let warning = |factor: &str| {
        let path = folder.path().join("sshare.txt");
        std::fs::write(&path, table(factor)).expect("written");
        fairshare_warning(&[
            "--tree",
            path.to_str().expect("UTF-8"),
            "--policy",
            "classic",
        ])
    };
    assert_eq!(warning("0.500000"), None);
    let other = warning("0.900000").expect("a warning");
    assert!(
        other.contains(
            "for 1 of 2 associations, such as `root/ann`: printed 0.900000, computed 0.5"
        ),
        "{other}"
    );
    assert!(
        other.contains("other settings of Slurm, such as"),
        "{other}"
    );
}

/// Slurm's policy decides what `fairshare_factor` is, so the first screen of every command that
/// ranks names it, with its release and half-life; two policies are both named.
#[test]
fn a_policy_of_slurm_is_on_the_first_screen() {
    let site = [
        ["--queue", "examples/slurm/squeue_o.txt"],
        ["--tree", "examples/slurm/sshare.txt"],
        ["--slurm-conf", "examples/slurm/slurm.conf"],
    ]
    .concat();
    let fair_tree = "fair-tree (slurm.conf sets no PriorityFlags: the default since Slurm 19.05), as in Slurm 26.11";
    for command in [
        &["rank", "fairshare_factor"][..],
        &["explain", "fairshare_factor", "--job", "8106"],
        &["trajectory", "fairshare_factor", "--job", "8106"],
        &["compare", "--old", "1", "--new", "fairshare_factor"],
        &[
            "compare",
            "--old",
            "fairshare_factor",
            "--new",
            "fairshare_factor",
            "--new-policy",
            "classic",
        ],
    ] {
        let text = success(&jsf(&[command, &site].concat()));
        assert!(
            text.contains(fair_tree) && text.contains("half-life 14-00:00:00"),
            "{command:?}: {text}"
        );
        assert_eq!(
            command.contains(&"classic"),
            text.contains("new: classic (given)"),
            "{text}"
        );
    }
    let openpbs = success(&jsf(&["rank", "--site", "examples/site"]));
    assert!(!openpbs.contains("policy:"), "{openpbs}");
}
