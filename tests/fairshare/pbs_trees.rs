//! The fair-share tree against what the real scheduler and the real `pbsfs` said.

use std::fs;
use std::path::{Path, PathBuf};

use job_sort_formula::fairshare::{FairShare, NodeId};
use job_sort_formula::pbs::fairshare_format::{as_formula_sees, printed};
use job_sort_formula::pbs::files::resource_group::ResourceGroup;
use job_sort_formula::pbs::files::sched_config::SchedConfig;
use job_sort_formula::pbs::files::usage::{UsageFile, decayed};
use job_sort_formula::pbs::files::usage_written::usage_written;
use job_sort_formula::pbs::share_tree::{PbsTree, PbsTreeBuilder, Rules};
use serde_json::Value;

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/openpbs").join(path)
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json_lines(path: &str) -> Vec<Value> {
    let text = String::from_utf8(bytes(&golden(path))).expect("UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(&line.replace("NaN", "null").replace("Infinity", "null")))
        .map(|row| row.expect("JSON"))
        .collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value}"))
}

/// The three files of a case, the usage file being the one named.
struct Files {
    lines: ResourceGroup,
    config: SchedConfig,
    usage: UsageFile,
}

impl Files {
    fn read(folder: &Path, usage: &str) -> Self {
        Self {
            lines: ResourceGroup::parse(&bytes(&folder.join("resource_group"))),
            config: SchedConfig::parse(&bytes(&folder.join("sched_config"))),
            usage: UsageFile::parse(&bytes(&folder.join(usage))).expect("small enough"),
        }
    }

    fn tree<'a>(&self, entities: impl IntoIterator<Item = &'a str>) -> PbsTree {
        PbsTreeBuilder::new(&self.lines)
            .usage(&self.usage)
            .unknown_shares(self.config.unknown_shares)
            .with_entities(entities)
            .build()
            .expect("small enough")
    }
}

/// The fair-share inputs of one job or entity, both bit by bit.
fn check_inputs(tree: &PbsTree, entity: &str, inputs: &Value, place: &str) {
    let shares = tree.shares_of(entity).unwrap_or_else(|| panic!("{place}: {entity} is not in the tree"));
    for (name, ours) in [
        ("fairshare_perc", shares.fairshare_perc),
        ("fair_share_perc", shares.fairshare_perc),
        ("fairshare_tree_usage", shares.fairshare_tree_usage),
        ("fairshare_factor", shares.fairshare_factor),
    ] {
        let recorded: f64 = text(inputs, name).parse().expect("a Python float");
        let seen = as_formula_sees(ours);
        let same = seen.to_bits() == recorded.to_bits() || (seen.is_nan() && recorded.is_nan());
        assert!(same, "{place}: {name} of {entity} is {ours} for us, {recorded} for the scheduler");
    }
}

#[test]
fn every_recorded_tree_gives_the_inputs_of_the_scheduler() {
    let mut rows = 0;
    for case in json_lines("trees/trees.jsonl") {
        let name = text(&case, "case");
        let files = Files::read(&golden("pbsfs").join(name), "usage.initial");
        let strangers = case["unknown_entities_present"].as_array().expect("a list");
        let tree = files.tree(strangers.iter().map(|entity| entity.as_str().expect("a name")));
        for row in case["rows"].as_array().expect("a list") {
            check_inputs(&tree, text(row, "entity"), &row["inputs"], name);
            rows += 1;
        }
    }
    assert!(rows >= 100, "only {rows} rows");
}

#[test]
fn every_recorded_job_gets_the_inputs_of_the_scheduler() {
    let jobs = json_lines("evaluate/jobs.jsonl");
    let files = Files::read(&golden("evaluate"), "usage");
    let tree = files.tree(jobs.iter().map(|job| text(job, "entity")));
    for job in jobs.iter().filter(|job| !job["scheduler_inputs"].is_null()) {
        check_inputs(&tree, text(job, "entity"), &job["scheduler_inputs"], text(job, "job"));
    }
}

/// `pbsfs` knows the entities of the files alone.
#[test]
fn every_recorded_job_gets_the_numbers_of_pbsfs() {
    let tree = Files::read(&golden("evaluate"), "usage").tree([]);
    for job in json_lines("evaluate/jobs.jsonl") {
        check_pbsfs_g(&tree, text(&job, "entity"), &job["pbsfs_g"], text(&job, "job"));
    }
}

#[test]
fn every_recorded_pbsfs_call_shows_our_tree() {
    let mut shown = 0;
    for case in json_lines("pbsfs/cases.jsonl") {
        let name = text(&case, "case");
        let folder = golden("pbsfs").join(name);
        let mut usage = "usage.initial".to_owned();
        for step in case["steps"].as_array().expect("a list") {
            let files = Files::read(&folder, &usage);
            let tree = files.tree([]);
            let args: Vec<&str> = step["args"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
            let place = format!("{name}, pbsfs {}", args.join(" "));
            match args[..] {
                ["-p"] => check_pbsfs_p(&tree, step, &place),
                ["-g", entity] => check_pbsfs_g(&tree, entity, step, &place),
                ["-t"] => check_pbsfs_t(&tree, step, &place),
                _ => {}
            }
            check_rejected_lines(&files.lines, text(step, "stderr"), &place);
            if let Some(written) = step["usage_after"]["file"].as_str() {
                usage = written.to_owned();
            }
            shown += 1;
        }
    }
    assert!(shown >= 500, "only {shown} steps");
}

fn check_rejected_lines(lines: &ResourceGroup, stderr: &str, place: &str) {
    let told: Vec<&str> = stderr.lines().filter_map(|line| line.strip_prefix("resgroup: error on line ")).collect();
    if !stderr.contains("Usage: ") && !stderr.contains("does not exist") {
        let ours: Vec<String> = lines.rejected.iter().map(|bad| format!("{}.", bad.daemon_line)).collect();
        assert_eq!(ours, told, "{place}");
    }
}

/// `%-10s: Grp: …`: the fields that the tree decides, in the daemon's order.
fn check_pbsfs_p(tree: &PbsTree, step: &Value, place: &str) {
    let shown: Vec<String> = text(step, "stdout").lines().skip(1).map(without_blanks).collect();
    let ours: Vec<String> = tree.daemon_order().map(|node| without_blanks(&pbsfs_p_line(tree, node))).collect();
    assert_eq!(ours, shown, "{place}");
}

fn pbsfs_p_line(tree: &PbsTree, node: NodeId) -> String {
    let shares = tree.shares().get(node).expect("every node has its numbers");
    let group = tree.tree().parent(node).map_or(-1, |parent| tree.cgroup(parent));
    let count = if node == tree.tree().root() { -1 } else { tree.tree().shares(node).count() };
    format!(
        "{}: Grp: {group} cgrp: {} Shares: {count} Usage: {:.0} Perc: {:.3}%",
        bytes_as_recorded(tree.tree().name(node)),
        tree.cgroup(node),
        tree.tree().usage(node),
        shares.fairshare_perc as f32 * 100.0,
    )
}

/// The recording took each byte of the standard output for a character.
fn bytes_as_recorded(name: &str) -> String {
    name.bytes().map(char::from).collect()
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

fn check_pbsfs_t(tree: &PbsTree, step: &Value, place: &str) {
    let shown: Vec<String> = text(step, "stdout").lines().map(without_blanks).collect();
    let line = |node| format!("{}({})", bytes_as_recorded(tree.tree().name(node)), tree.cgroup(node));
    let ours: Vec<String> = tree.daemon_order().map(|node| without_blanks(&line(node))).collect();
    assert_eq!(ours, shown, "{place}");
}

fn check_pbsfs_g(tree: &PbsTree, entity: &str, call: &Value, place: &str) {
    let found = tree.tree().find(entity);
    assert_eq!(found.is_some(), call["rc"] == 0, "{place}: {entity}");
    let Some(node) = found else { return };
    let shares = tree.shares().get(node).expect("every node has its numbers");
    let stdout = text(call, "stdout");
    let field = |label: &str| {
        let line = stdout.lines().find_map(|line| line.strip_prefix(label));
        line.unwrap_or_else(|| panic!("{place}: no {label} in {stdout}"))
            .trim_start_matches(['\t', ':', ' '])
            .to_owned()
    };
    let percentage = printed(f64::from(shares.fairshare_perc as f32 * 100.0));
    assert_eq!(field("Percentage"), format!("{percentage}%"), "{place}: {entity}");
    assert_eq!(field("fairshare_tree_usage"), printed(shares.fairshare_tree_usage), "{place}: {entity}");
    let usage = field("usage\t");
    assert_eq!(usage.split(' ').next(), Some(format!("{:.0}", tree.tree().usage(node)).as_str()), "{place}: {entity}");
    let over_perc = field("usage/perc");
    assert_eq!(over_perc, usage_over_perc(tree, node), "{place}: {entity}");
}

/// -1 where the percentage is 0.
fn usage_over_perc(tree: &PbsTree, node: NodeId) -> String {
    let perc = tree.shares().get(node).expect("every node has its numbers").fairshare_perc;
    if perc == 0.0 { "-1".to_owned() } else { format!("{:.0}", tree.tree().usage(node) / perc) }
}

/// `pbsfs -d`, twice, and `pbsfs -e`, which forgets whoever is on no line: the files that they wrote.
#[test]
fn every_usage_file_that_pbsfs_wrote_is_written_again() {
    for case in json_lines("pbsfs/cases.jsonl") {
        let folder = golden("pbsfs").join(text(&case, "case"));
        for (from, to) in [("usage.initial", "usage.after_d"), ("usage.after_d", "usage.after_d2")] {
            let files = Files::read(&folder, from);
            let factor = files.config.fairshare_decay_factor;
            check_written(&folder.join(to), &files.tree([]), |usage| decayed(usage, factor));
        }
        let mut files = Files::read(&folder, "usage.initial");
        let known = files.tree([]);
        let is_known = |name: &str| known.tree().find(name).is_some_and(|node| known.cgroup(node) != -1);
        files.usage.records.retain(|record| is_known(&record.entity));
        check_written(&folder.join("usage.after_e"), &files.tree([]), |usage| usage);
    }
}

fn check_written(recorded: &Path, tree: &PbsTree, keep: impl Fn(f64) -> f64) {
    let recorded_bytes = bytes(recorded);
    let time = UsageFile::parse(&recorded_bytes).expect("small enough").last_decay.expect("a time");
    assert_eq!(usage_written(tree, time, keep), recorded_bytes, "{}", recorded.display());
}

/// The worked example of PP-718, from the scheduler's files: whoever has used nothing has used nothing.
#[test]
fn the_documented_rules_read_the_same_files() {
    let files = Files::read(&golden("pbsfs/01_pp718"), "usage.initial");
    let tree = PbsTreeBuilder::new(&files.lines).usage(&files.usage).rules(Rules::Documented).build();
    let tree = tree.expect("small enough");
    let factor = |entity| format!("{:.3}", tree.shares_of(entity).expect("in the tree").fairshare_factor);
    assert_eq!((factor("Bob"), factor("Suzy")), ("0.648".to_owned(), "0.382".to_owned()));
    assert_eq!(tree.tree().usage(tree.tree().root()), 1200.0);
}
