//! Slurm's files against what real daemons and their tools wrote.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use job_sort_formula::fairshare::tree_document::{TreeDocument, TreeNode};
use job_sort_formula::fairshare::{NodeId, NodeKind, ShareTree, Shares};
use job_sort_formula::pbs::files::resource_group::ResourceGroup;
use job_sort_formula::pbs::files::resource_group_written::{GroupLoss, resource_group_written};
use job_sort_formula::slurm::load_file::{LoadLoss, load_file};
use job_sort_formula::slurm::sshare_text::{Layout, RowOrder, SshareRow, SshareStyle, sshare_text};
use job_sort_formula::slurm::tree::{TreeFormat, TreeWarning};
use job_sort_formula::slurm::{SlurmTree, read_tree};
use serde_json::Value;

const PIPED: &str = "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare";
const RUN_MINS: &str = "cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0";

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/slurm")
}

fn trees() -> Vec<Value> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(golden()).expect("golden data").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    assert_eq!(paths.len(), 13);
    paths.iter().map(|path| serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")).collect()
}

/// The recorded texts of a tree by file name; not every tree has them.
fn files(tree: &Value) -> Vec<(String, Vec<u8>)> {
    let folder = golden().join("files").join(text(tree, "name"));
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.expect("an entry"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file")))
        .filter(|(name, _)| !name.contains("sprio"))
        .collect();
    files.sort();
    files
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value}"))
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn read(name: &str, bytes: &[u8]) -> SlurmTree {
    read_tree(name, bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// An association as a line of text that can be compared: kind, parent, name, shares and own usage.
fn shown(kind: NodeKind, parent: &str, name: &str, shares: Shares, usage: f64) -> String {
    let shares = match shares {
        Shares::Parent => "parent".to_owned(),
        Shares::Count(count) => count.to_string(),
    };
    format!("{kind:?} {parent}/{name} {shares} {usage}")
}

#[derive(Clone, Copy, PartialEq)]
struct Wanted {
    usage: bool,
    parents: bool,
}

/// The nodes that the tree was made of; account names are stored in lower case.
fn recorded(tree: &Value, wanted: Wanted) -> BTreeSet<String> {
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
        let usage = if wanted.usage { number(&node["usage"]).expect("a usage") } else { 0.0 };
        let parent = if wanted.parents || kind == NodeKind::Entity { parent } else { "root".to_owned() };
        nodes.insert(shown(kind, &parent, &text(node, "name").to_lowercase(), shares, usage));
    }
    match text(tree, "root_user") {
        "default" => nodes.insert(shown(NodeKind::Entity, "root", "root", Shares::Count(1), 0.0)),
        "zero" => nodes.insert(shown(NodeKind::Entity, "root", "root", Shares::Count(0), 0.0)),
        _ => false,
    };
    nodes
}

fn ours(tree: &TreeDocument, wanted: Wanted) -> BTreeSet<String> {
    let shown = |node: &TreeNode| {
        let usage = if wanted.usage { node.usage.unwrap_or(0.0) } else { 0.0 };
        shown(node.kind, tree.parent_name(node), &node.name, node.shares, usage)
    };
    tree.nodes.iter().map(shown).collect()
}

/// The usage of the top itself, which jobs of deleted users leave behind.
fn recorded_root_usage(tree: &Value) -> f64 {
    let nodes = tree["nodes"].as_array().expect("nodes");
    nodes
        .iter()
        .find(|node| node["parent"].is_null() && text(node, "kind") == "account")
        .map_or(0.0, |node| number(&node["usage"]).expect("a usage"))
}

/// What a run of a tree printed with `-P`.
fn printed(rows: &[Value]) -> String {
    let lines: Vec<&str> = rows.iter().map(|row| text(row, "printed")).collect();
    let level_fs = if lines[0].split('|').count() == 11 { "|LevelFS" } else { "" };
    format!("{PIPED}{level_fs}|GrpTRESMins|TRESRunMins\n{}\n", lines.join("\n"))
}

/// The runs of a tree that have rows.
fn runs(tree: &Value) -> impl Iterator<Item = (&str, &[Value])> {
    let runs = tree["results"].as_object().expect("runs").iter();
    runs.filter_map(|(name, run)| Some((name.as_str(), run["rows"].as_array()?.as_slice())))
}

#[test]
fn every_file_reads_to_the_recorded_nodes() {
    let mut seen: HashMap<TreeFormat, usize> = HashMap::new();
    for tree in trees() {
        for (name, bytes) in files(&tree) {
            let read = read(&name, &bytes);
            let format = read.format;
            *seen.entry(format).or_default() += 1;
            let wanted = Wanted {
                usage: matches!(format, TreeFormat::Sshare | TreeFormat::SshareJson),
                parents: format != TreeFormat::ShowAssoc,
            };
            let mut ours = ours(&read.document, wanted);
            if name == "load.cfg" && text(&tree, "root_user") == "deleted" {
                // the user was deleted after the file was loaded
                ours.remove("Entity root/root 1 0");
            }
            let place = format!("{} {name}", text(&tree, "name"));
            assert_eq!(ours, recorded(&tree, wanted), "{place}");
            assert_eq!(
                read.document.nodes.len(),
                read.document.share_tree().expect("a sound tree").len() - 1,
                "{place}"
            );
            assert_eq!(read.usage_known, wanted.usage, "{place}");
            if wanted.usage {
                assert_eq!(read.document.usage, recorded_root_usage(&tree), "{place}");
            }
            if format != TreeFormat::Sshare {
                assert_eq!(read.cluster.as_deref(), Some(text(&tree, "name")), "{place}");
            }
            let flat = if wanted.parents { Vec::new() } else { vec![TreeWarning::NoParents] };
            assert_eq!(read.warnings, flat, "{place}");
        }
    }
    let count = |format| seen.get(&format).copied().unwrap_or(0);
    assert_eq!(count(TreeFormat::Sshare), 50);
    assert_eq!(count(TreeFormat::SshareJson), 10);
    assert_eq!(count(TreeFormat::SacctmgrFile), 15);
    assert_eq!(count(TreeFormat::ShowAssoc), 5);
}

#[test]
fn a_file_written_for_loading_keeps_its_order() {
    let of_kind = |kind: &str| if kind == "user" { NodeKind::Entity } else { NodeKind::Group };
    for tree in trees() {
        let Some((name, bytes)) = files(&tree).into_iter().find(|(name, _)| name == "load.cfg") else { continue };
        let read = read(&name, &bytes);
        let mut siblings: HashMap<(NodeKind, String), Vec<String>> = HashMap::new();
        for node in tree["nodes"].as_array().expect("nodes") {
            let Some(parent) = node["account"].as_str().or(node["parent"].as_str()) else { continue };
            let key = (of_kind(text(node, "kind")), parent.to_lowercase());
            siblings.entry(key).or_default().push(text(node, "name").to_lowercase());
        }
        for ((kind, parent), names) in siblings {
            let document = &read.document;
            let ours = document.nodes.iter();
            let ours = ours.filter(|node| (node.kind, document.parent_name(node)) == (kind, parent.as_str()));
            let ours: Vec<&str> = ours.map(|node| node.name.as_str()).filter(|name| *name != "root").collect();
            assert_eq!(ours, names, "{} {parent}", text(&tree, "name"));
        }
    }
}

#[test]
fn every_printed_run_reads_to_the_recorded_nodes_and_usage() {
    let (mut read_runs, mut read_rows) = (0, 0);
    for tree in trees() {
        // its usage has fractions, which are not printed
        let is_whole = text(&tree, "name") != "t16_extremes";
        let wanted = Wanted { usage: is_whole, parents: true };
        for (run, rows) in runs(&tree) {
            let place = format!("{} {run}", text(&tree, "name"));
            let read = read(&place, printed(rows).as_bytes());
            let mut recorded = recorded(&tree, wanted);
            if text(&tree, "root_user") == "zero" && run.starts_with("v2611") {
                // loading a file does not lower the shares of root/root there
                recorded.remove("Entity root/root 0 0");
                recorded.insert("Entity root/root 1 0".to_owned());
            }
            assert_eq!(ours(&read.document, wanted), recorded, "{place}");
            let shares = read.document.share_tree().expect("a sound tree");
            for (node, row) in by_node(&shares, rows) {
                assert_eq!(Some(shares.usage(node)), number(&row["raw_usage"]), "{place} {}", shares.name(node));
                read_rows += 1;
            }
            read_runs += 1;
        }
    }
    assert_eq!((read_runs, read_rows), (119, 2715));
}

/// Every node and its row.
fn by_node<'r>(tree: &ShareTree, rows: &'r [Value]) -> Vec<(NodeId, &'r Value)> {
    let by_name: HashMap<(&str, &str), &Value> =
        rows.iter().map(|row| ((text(row, "account"), text(row, "user")), row)).collect();
    let row = |node| {
        let key = match tree.parent(node) {
            Some(parent) if tree.kind(node) == NodeKind::Entity => (tree.name(parent), tree.name(node)),
            _ => (tree.name(node), ""),
        };
        by_name[&key]
    };
    tree.nodes().map(|node| (node, row(node))).collect()
}

fn sshare_rows(tree: &ShareTree, rows: &[Value]) -> Vec<SshareRow> {
    let row = |(_, row): (NodeId, &Value)| SshareRow {
        raw_shares: match text(row, "raw_shares") {
            "" => None,
            "parent" => Some(Shares::Parent),
            count => Some(Shares::Count(count.parse().expect("a number"))),
        },
        norm_shares: number(&row["norm_shares"]),
        raw_usage: number(&row["raw_usage"]),
        norm_usage: number(&row["norm_usage"]),
        effective_usage: number(&row["eff_usage"]),
        fairshare: number(&row["fairshare"]),
        level_fs: number(&row["level_fs"]),
    };
    by_node(tree, rows).into_iter().map(row).collect()
}

fn style(run: &str, rows: &[Value], layout: Layout) -> SshareStyle {
    SshareStyle {
        layout,
        partition: false,
        order: if run.starts_with("v2611") { RowOrder::Lineage } else { RowOrder::Name },
        level_fs: text(&rows[0], "printed").split('|').count() == 11,
        tres_run_mins: Some(RUN_MINS.to_owned()),
    }
}

#[test]
fn every_run_is_printed_as_sshare_printed_it() {
    let mut printed_rows = 0;
    for tree in trees() {
        for (run, rows) in runs(&tree) {
            let expected = printed(rows);
            let shares = read(run, expected.as_bytes()).document.share_tree().expect("a sound tree");
            let ours = sshare_text(&shares, &sshare_rows(&shares, rows), &style(run, rows, Layout::Piped));
            assert_eq!(ours, expected, "{} {run}", text(&tree, "name"));
            printed_rows += rows.len();
        }
    }
    assert_eq!(printed_rows, 2715);
}

#[test]
fn every_file_of_sshare_is_printed_byte_for_byte() {
    let mut printed_files = 0;
    for tree in trees() {
        let runs: HashMap<&str, &[Value]> = runs(&tree).collect();
        for (name, bytes) in files(&tree) {
            let layout = match name.split_once('.') {
                Some((_, "sshare_a_l_P.txt")) => Layout::Piped,
                Some((_, "sshare_a_l.txt")) => Layout::Columns,
                _ => continue,
            };
            let run = name.split('.').next().expect("a run");
            let rows = runs[run];
            let shares = read(&name, &bytes).document.share_tree().expect("a sound tree");
            let ours = sshare_text(&shares, &sshare_rows(&shares, rows), &style(run, rows, layout));
            assert_eq!(ours, String::from_utf8_lossy(&bytes), "{} {name}", text(&tree, "name"));
            let ending = SshareStyle { layout: Layout::PipedToEnd, ..style(run, rows, layout) };
            let again = read(&name, sshare_text(&shares, &sshare_rows(&shares, rows), &ending).as_bytes());
            assert_eq!(again.document.nodes, read(&name, &bytes).document.nodes);
            printed_files += 1;
        }
    }
    assert_eq!(printed_files, 50);
}

#[test]
fn what_sacctmgr_dumped_can_be_written_for_loading_and_read_again() {
    let mut round_trips = 0;
    for tree in trees() {
        for (name, bytes) in files(&tree) {
            let first = read(&name, &bytes);
            let written = load_file(&first.document, text(&tree, "name"));
            let again = read("written", written.text.as_bytes());
            let nodes = |tree: &SlurmTree| {
                let document = &tree.document;
                let node = |node: &TreeNode| {
                    let parent = document.parent_name(node).to_owned();
                    (parent, TreeNode { parent: None, usage: None, ..node.clone() })
                };
                let mut nodes: Vec<(String, TreeNode)> = document.nodes.iter().map(node).collect();
                nodes.sort_by(|a, b| a.0.cmp(&b.0));
                nodes
            };
            assert_eq!(nodes(&again), nodes(&first), "{name}: siblings keep their order");
            assert_eq!(again.cluster.as_deref(), Some(text(&tree, "name")));
            assert_eq!(again.warnings, []);
            let only_usage = |loss: &LoadLoss| matches!(loss, LoadLoss::Usage(_) | LoadLoss::RootUser);
            assert!(written.losses.iter().all(only_usage), "{name}: {:?}", written.losses);
            let from_shares = TreeDocument::from_tree(&first.document.share_tree().expect("a sound tree"));
            assert_eq!(load_file(&from_shares, text(&tree, "name")).text, written.text);
            round_trips += 1;
        }
    }
    assert_eq!(round_trips, 80);
}

#[test]
fn a_site_can_move_to_openpbs() {
    for tree in trees() {
        let Some((_, rows)) = runs(&tree).next() else { continue };
        let shares = read("sshare", printed(rows).as_bytes()).document.share_tree().expect("a sound tree");
        let written = resource_group_written(&shares);
        let read = ResourceGroup::parse(written.text.as_bytes());
        assert_eq!(read.rejected, [], "{}", text(&tree, "name"));
        assert_eq!(read.lines.len(), shares.len() - 1);
        for (line, node) in read.lines.iter().zip(shares.nodes().skip(1)) {
            let parent = shares.parent(node).expect("not the root");
            let expected = match shares.shares(node) {
                Shares::Parent => 1,
                Shares::Count(count) => count,
            };
            assert_eq!(i64::from(line.shares), expected);
            assert_eq!(line.parent == "TREEROOT", parent == shares.root());
        }
        let stand_ins = shares.nodes().filter(|&node| shares.shares(node) == Shares::Parent).count();
        let told = written.losses.iter().filter(|loss| matches!(loss, GroupLoss::SharesOfParent { .. })).count();
        assert_eq!(told, stand_ins, "{}", text(&tree, "name"));
    }
}

#[test]
fn share_values_are_taken_as_the_daemon_stored_them() {
    let stored = fs::read_to_string(golden().join("fairshare_values_2205.txt")).expect("golden data");
    let mut typed: Vec<(String, String)> = Vec::new();
    for line in stored.lines().filter(|line| line.starts_with("$ sacctmgr -i add account ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let value = line.split_once("fairshare=").expect("a value").1;
        typed.push((words[5].to_lowercase(), value.to_owned()));
    }
    assert_eq!(typed.len(), 10);
    for (name, value) in typed {
        let file = format!("Cluster - c\nAccount - {name}:Fairshare={value}\n");
        let read = read_tree("hand.cfg", file.as_bytes());
        let row = stored.lines().find_map(|line| line.strip_prefix(&format!("{name}||")));
        match (row, read) {
            (Some("parent"), Ok(tree)) => assert_eq!(tree.document.nodes[0].shares, Shares::Parent, "{name}={value}"),
            (Some(count), Ok(tree)) => {
                let count: i64 = count.parse().expect("a number");
                assert_eq!(tree.document.nodes[0].shares, Shares::Count(count), "{name}={value}");
                assert_eq!(tree.warnings.is_empty(), value == count.to_string(), "{name}={value}");
            }
            (None, read) => assert!(read.expect_err("refused").to_string().contains("which Slurm refuses"), "{value}"),
            (Some(row), Err(error)) => panic!("{name}={value}: stored as {row}, {error}"),
        }
    }
}

#[test]
fn a_file_that_was_cut_off_anywhere_does_no_harm() {
    let mut cut_off = 0;
    for tree in trees() {
        for (name, bytes) in files(&tree) {
            let step = if name.ends_with(".json") { 997 } else { 53 };
            let whole = read(&name, &bytes);
            for end in (0..bytes.len()).step_by(step) {
                match read_tree(&name, &bytes[..end]) {
                    Ok(part) => assert!(part.document.nodes.len() <= whole.document.nodes.len(), "{name} up to {end}"),
                    Err(error) => assert!(error.to_string().contains(&name), "{error}"),
                }
                cut_off += 1;
            }
        }
    }
    assert!(cut_off > 3000, "{cut_off}");
}
