//! Slurm's files: reading what recorded daemons and their tools wrote.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use job_sort_formula::fairshare::tree_document::{TreeDocument, TreeNode};
use job_sort_formula::fairshare::{NodeId, NodeKind, ShareTree, Shares};
use jsf_slurm::associations::TreeFormat;
use jsf_slurm::slurm_jobs::SlurmJobs;
use jsf_slurm::{Cluster, SlurmDocument, SlurmTree, read_tree};
use jsf_testing::golden::{self, field as text, number, slurm_trees};
use serde_json::Value;

const PIPED: &str = "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare";

fn trees() -> Vec<Value> {
    slurm_trees().into_values().collect()
}

/// The recorded files of a tree by name. Some trees have none.
fn files(tree: &Value) -> Vec<(String, Vec<u8>)> {
    let folder = golden::path("slurm/files").join(text(tree, "name"));
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                fs::read(entry.path()).expect("a file"),
            )
        })
        .filter(|(name, _)| !name.contains("sprio"))
        .collect();
    files.sort();
    files
}

fn read(name: &str, bytes: &[u8]) -> SlurmTree {
    read_tree(name, bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// An association as text, for comparisons: kind, parent, name, shares and own usage.
fn shown(kind: NodeKind, parent: &str, name: &str, shares: Shares, usage: f64) -> String {
    let shares = match shares {
        Shares::Parent => "parent".to_owned(),
        Shares::Count(count) => count.to_string(),
    };
    format!("{kind:?} {parent}/{name} {shares} {usage}")
}

#[derive(Clone, Copy, PartialEq)]
struct Compared {
    usage: bool,
    parents: bool,
}

/// The nodes from which the tree was made. Account names are stored in lower case.
fn recorded(tree: &Value, compared: Compared) -> BTreeSet<String> {
    let mut nodes = BTreeSet::new();
    for node in tree["nodes"].as_array().expect("nodes") {
        let (kind, parent) = match text(node, "kind") {
            "user" => (NodeKind::Entity, text(node, "account").to_lowercase()),
            _ => match node["parent"].as_str() {
                Some(parent) => (NodeKind::Group, parent.to_lowercase()),
                None => continue,
            },
        };
        let shares = match node["shares"].as_i64() {
            Some(count) => Shares::Count(count),
            None => Shares::Parent,
        };
        let usage = if compared.usage {
            number(&node["usage"]).expect("a usage")
        } else {
            0.0
        };
        let parent = if compared.parents || kind == NodeKind::Entity {
            parent
        } else {
            "root".to_owned()
        };
        nodes.insert(shown(
            kind,
            &parent,
            &text(node, "name").to_lowercase(),
            shares,
            usage,
        ));
    }
    match text(tree, "root_user") {
        "default" => nodes.insert(shown(
            NodeKind::Entity,
            "root",
            "root",
            Shares::Count(1),
            0.0,
        )),
        "zero" => nodes.insert(shown(
            NodeKind::Entity,
            "root",
            "root",
            Shares::Count(0),
            0.0,
        )),
        _ => false,
    };
    nodes
}

fn ours(tree: &TreeDocument, compared: Compared) -> BTreeSet<String> {
    let shown = |node: &TreeNode| {
        let usage = if compared.usage {
            node.usage.unwrap_or(0.0)
        } else {
            0.0
        };
        shown(
            node.kind,
            tree.parent_name(node),
            &node.name,
            node.shares,
            usage,
        )
    };
    tree.nodes.iter().map(shown).collect()
}

/// The usage of the root itself, which jobs of deleted users leave there.
fn recorded_root_usage(tree: &Value) -> f64 {
    let nodes = tree["nodes"].as_array().expect("nodes");
    nodes
        .iter()
        .find(|node| node["parent"].is_null() && text(node, "kind") == "account")
        .map_or(0.0, |node| number(&node["usage"]).expect("a usage"))
}

/// The output of a run with `-P`.
fn printed(rows: &[Value]) -> String {
    let lines: Vec<&str> = rows.iter().map(|row| text(row, "printed")).collect();
    let level_fs = if lines[0].split('|').count() == 11 {
        "|LevelFS"
    } else {
        ""
    };
    format!(
        "{PIPED}{level_fs}|GrpTRESMins|TRESRunMins\n{}\n",
        lines.join("\n")
    )
}

/// The runs of a tree that recorded rows.
fn runs(tree: &Value) -> impl Iterator<Item = (&str, &[Value])> {
    let runs = tree["results"].as_object().expect("runs").iter();
    runs.filter_map(|(name, run)| Some((name.as_str(), run["rows"].as_array()?.as_slice())))
}

#[test]
fn every_file_gives_the_recorded_nodes() {
    let mut seen: HashMap<TreeFormat, usize> = HashMap::new();
    for tree in trees() {
        for (name, bytes) in files(&tree) {
            let read = read(&name, &bytes);
            let format = read.format;
            *seen.entry(format).or_default() += 1;
            let compared = Compared {
                usage: matches!(format, TreeFormat::Sshare | TreeFormat::SshareJson),
                parents: format != TreeFormat::ShowAssoc,
            };
            let mut ours = ours(&read.document, compared);
            if name == "load.cfg" && text(&tree, "root_user") == "deleted" {
                // the user was deleted after the file had been loaded
                ours.remove("Entity root/root 1 0");
            }
            let place = format!("{} {name}", text(&tree, "name"));
            assert_eq!(ours, recorded(&tree, compared), "{place}");
            assert_eq!(
                read.document.nodes.len(),
                read.document.share_tree().expect("a valid tree").len() - 1,
                "{place}"
            );
            assert_eq!(read.usage_known, compared.usage, "{place}");
            if compared.usage {
                assert_eq!(read.document.usage, recorded_root_usage(&tree), "{place}");
            }
            if format != TreeFormat::Sshare {
                assert_eq!(
                    read.cluster.as_deref(),
                    Some(text(&tree, "name")),
                    "{place}"
                );
            }
            let flat = if compared.parents {
                Vec::new()
            } else {
                vec![
                    "the table does not give the parents of accounts, so all are put below the root",
                ]
            };
            let warned: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
            let told = warned
                .iter()
                .map(|text| text.split(':').next().unwrap_or(""));
            assert_eq!(told.collect::<Vec<_>>(), flat, "{place}");
        }
    }
    let count = |format| seen.get(&format).copied().unwrap_or(0);
    assert_eq!(count(TreeFormat::Sshare), 50);
    assert_eq!(count(TreeFormat::SshareJson), 10);
    assert_eq!(count(TreeFormat::SacctmgrFile), 15);
    assert_eq!(count(TreeFormat::ShowAssoc), 5);
}

#[test]
fn a_file_for_loading_keeps_the_order_of_siblings() {
    let of_kind = |kind: &str| {
        if kind == "user" {
            NodeKind::Entity
        } else {
            NodeKind::Group
        }
    };
    for tree in trees() {
        let Some((name, bytes)) = files(&tree)
            .into_iter()
            .find(|(name, _)| name == "load.cfg")
        else {
            continue;
        };
        let read = read(&name, &bytes);
        let mut siblings: HashMap<(NodeKind, String), Vec<String>> = HashMap::new();
        for node in tree["nodes"].as_array().expect("nodes") {
            let Some(parent) = node["account"].as_str().or(node["parent"].as_str()) else {
                continue;
            };
            let key = (of_kind(text(node, "kind")), parent.to_lowercase());
            siblings
                .entry(key)
                .or_default()
                .push(text(node, "name").to_lowercase());
        }
        for ((kind, parent), names) in siblings {
            let document = &read.document;
            let ours = document.nodes.iter();
            let ours = ours
                .filter(|node| (node.kind, document.parent_name(node)) == (kind, parent.as_str()));
            let ours: Vec<&str> = ours
                .map(|node| node.name.as_str())
                .filter(|name| *name != "root")
                .collect();
            assert_eq!(ours, names, "{} {parent}", text(&tree, "name"));
        }
    }
}

#[test]
fn every_printed_run_gives_the_recorded_nodes_and_usage() {
    let (mut read_runs, mut read_rows) = (0, 0);
    for tree in trees() {
        // the usage of this tree has fractions, which `sshare` does not print
        let is_whole = text(&tree, "name") != "t16_extremes";
        let compared = Compared {
            usage: is_whole,
            parents: true,
        };
        for (run, rows) in runs(&tree) {
            let place = format!("{} {run}", text(&tree, "name"));
            let read = read(&place, printed(rows).as_bytes());
            let mut recorded = recorded(&tree, compared);
            if text(&tree, "root_user") == "zero" && run.starts_with("v2611") {
                // in 26.11, loading a file does not change the shares of root/root
                recorded.remove("Entity root/root 0 0");
                recorded.insert("Entity root/root 1 0".to_owned());
            }
            assert_eq!(ours(&read.document, compared), recorded, "{place}");
            let shares = read.document.share_tree().expect("a valid tree");
            for (node, row) in by_node(&shares, rows) {
                assert_eq!(
                    Some(shares.usage(node)),
                    number(&row["raw_usage"]),
                    "{place} {}",
                    shares.name(node)
                );
                read_rows += 1;
            }
            read_runs += 1;
        }
    }
    assert_eq!((read_runs, read_rows), (119, 2715));
}

/// Every node and its row.
fn by_node<'r>(tree: &ShareTree, rows: &'r [Value]) -> Vec<(NodeId, &'r Value)> {
    let by_name: HashMap<(&str, &str), &Value> = rows
        .iter()
        .map(|row| ((text(row, "account"), text(row, "user")), row))
        .collect();
    let row = |node| {
        let key = match tree.parent(node) {
            Some(parent) if tree.kind(node) == NodeKind::Entity => {
                (tree.name(parent), tree.name(node))
            }
            _ => (tree.name(node), ""),
        };
        by_name[&key]
    };
    tree.nodes().map(|node| (node, row(node))).collect()
}

#[test]
fn share_values_are_read_as_the_daemon_stored_them() {
    let stored = golden::text("slurm/fairshare_values_2205.txt");
    let mut typed: Vec<(String, String)> = Vec::new();
    for line in stored
        .lines()
        .filter(|line| line.starts_with("$ sacctmgr -i add account "))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let value = line.split_once("fairshare=").expect("a value").1;
        typed.push((words[5].to_lowercase(), value.to_owned()));
    }
    assert_eq!(typed.len(), 10);
    for (name, value) in typed {
        let file = format!("Cluster - c\nAccount - {name}:Fairshare={value}\n");
        let read = read_tree("hand.cfg", file.as_bytes());
        let row = stored
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}||")));
        match (row, read) {
            (Some("parent"), Ok(tree)) => assert_eq!(
                tree.document.nodes[0].shares,
                Shares::Parent,
                "{name}={value}"
            ),
            (Some(count), Ok(tree)) => {
                let count: i64 = count.parse().expect("a number");
                assert_eq!(
                    tree.document.nodes[0].shares,
                    Shares::Count(count),
                    "{name}={value}"
                );
                assert_eq!(
                    tree.warnings.is_empty(),
                    value == count.to_string(),
                    "{name}={value}"
                );
            }
            (None, read) => assert!(
                read.expect_err("refused")
                    .to_string()
                    .contains("which Slurm rejects"),
                "{value}"
            ),
            (Some(row), Err(error)) => panic!("{name}={value}: stored as {row}, {error}"),
        }
    }
}

#[test]
fn a_truncated_file_gives_no_more_nodes_or_an_error_with_its_name() {
    let mut truncated = 0;
    for tree in trees() {
        for (name, bytes) in files(&tree) {
            let step = if name.ends_with(".json") { 997 } else { 53 };
            let whole = read(&name, &bytes);
            for end in (0..bytes.len()).step_by(step) {
                match read_tree(&name, &bytes[..end]) {
                    Ok(part) => assert!(
                        part.document.nodes.len() <= whole.document.nodes.len(),
                        "{name} up to {end}"
                    ),
                    Err(error) => assert!(error.to_string().contains(&name), "{error}"),
                }
                truncated += 1;
            }
        }
    }
    assert!(truncated > 3000, "{truncated}");
}

#[test]
fn a_table_of_qos_without_their_names_is_refused() {
    let text = "  Priority   GraceTime    Preempt\n---------- ---------- ----------\n        10   00:00:00\n";
    let refused = Cluster::default().add(SlurmDocument::Qos, text);
    assert_eq!(
        refused.expect_err("no names"),
        "expected the output of `sacctmgr -P show qos` with the columns Name and Priority"
    );
}

#[test]
fn a_value_is_named_by_the_key_that_its_document_has() {
    let json = r#"{"jobs":[{"job_id":7,"job_state":"PENDING","cpus":"many"}]}"#;
    let records = "JobId=7 JobState=PENDING NumCPUs=many\n";
    let table = "JOBID|STATE|PRIORITY|TRES_ALLOC|CPUS\n7|PENDING|1|cpu=1|many\n";
    for (document, key) in [(json, "cpus"), (records, "NumCPUs"), (table, "CPUS")] {
        let read = SlurmJobs::read("queue", document).expect("jobs");
        let expected = format!("`{key}` of job `7` is `many`, expected");
        assert!(
            read.warnings
                .iter()
                .any(|warning| warning.contains(&expected)),
            "{:?}",
            read.warnings
        );
    }
}
