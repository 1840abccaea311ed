//! OpenPBS's fair-share tree, compared with what the scheduler and `pbsfs` computed from the same
//! files.

use std::collections::BTreeMap;
use std::fs;

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::tree_document::TreeDocument;
use job_sort_formula::fairshare::{
    AssessedTree, FairShare, Member, NodeId, OpenPbs, PolicyRules, TreeBuilder,
};
use jsf_openpbs::amounts::{fairshare, printed_fairshare};
use jsf_openpbs::files::fairshare_files::TREE_ROOT;
use jsf_openpbs::{PbsTree, ResourceGroup, SchedConfig, UsageFile};
use jsf_testing::golden::{self, field as text};
use serde_json::Value;

/// The three files of a recorded case.
struct Files {
    lines: ResourceGroup,
    config: SchedConfig,
    usage: UsageFile,
}

impl Files {
    fn read(folder: &str, usage: &str) -> Self {
        Self {
            lines: ResourceGroup::parse(&golden::bytes(&format!("{folder}/resource_group"))),
            config: SchedConfig::parse(&golden::bytes(&format!("{folder}/sched_config"))),
            usage: UsageFile::parse(&golden::bytes(&format!("{folder}/{usage}"))),
        }
    }

    fn tree<'a>(&self, entities: impl IntoIterator<Item = &'a str>) -> PbsTree {
        let document = self.document();
        PbsTree::build(&document, PolicyRules::Scheduler, entities).expect("small enough")
    }

    fn document(&self) -> TreeDocument {
        let unknown_shares = self.config.unknown_shares;
        self.lines.document(Some(&self.usage), unknown_shares)
    }
}

/// Compares the fair-share inputs of a job or an entity bit by bit.
fn check_inputs(tree: &PbsTree, entity: &str, inputs: &Value, place: &str) {
    let shares = tree
        .shares_of(entity)
        .unwrap_or_else(|| panic!("{place}: {entity} is not in the tree"));
    for (name, ours) in [
        ("fairshare_perc", shares.fairshare_perc),
        ("fair_share_perc", shares.fairshare_perc),
        ("fairshare_tree_usage", shares.fairshare_tree_usage),
        ("fairshare_factor", shares.fairshare_factor),
    ] {
        let recorded: f64 = text(inputs, name).parse().expect("a Python float");
        let seen = fairshare(ours);
        let same = seen.to_bits() == recorded.to_bits() || (seen.is_nan() && recorded.is_nan());
        assert!(
            same,
            "{place}: {name} of {entity} is {ours} for us, {recorded} for the scheduler"
        );
    }
}

#[test]
fn recorded_trees_give_the_inputs_of_the_scheduler() {
    let mut rows = 0;
    for case in golden::lines::<Value>("openpbs/trees/trees.jsonl") {
        let name = text(&case, "case");
        let files = Files::read(&format!("openpbs/pbsfs/{name}"), "usage.initial");
        let unknown = case["unknown_entities_present"].as_array().expect("a list");
        let tree = files.tree(
            unknown
                .iter()
                .map(|entity| entity.as_str().expect("a name")),
        );
        for row in case["rows"].as_array().expect("a list") {
            check_inputs(&tree, text(row, "entity"), &row["inputs"], name);
            rows += 1;
        }
    }
    assert!(rows >= 104, "only {rows} rows");
}

/// The recorded cases that a program can build: each entity has one record, none of 0, and a line.
const BUILT: [&str; 6] = [
    "01_pp718",
    "06_deep8",
    "09_single",
    "11_bigshares",
    "16_decay_factor",
    "18_float_precision",
];

/// The numbers of a tree that a program builds from the lines and records of a recorded case.
fn built(name: &str) -> AssessedTree {
    let Files { lines, usage, .. } = Files::read(&format!("openpbs/pbsfs/{name}"), "usage.initial");
    let mut builder = TreeBuilder::new(TREE_ROOT);
    for line in &lines.nodes[1..] {
        let record = usage
            .records
            .iter()
            .find(|record| record.entity == line.name);
        let member = if line.kind == job_sort_formula::fairshare::NodeKind::Group {
            Member::group(&*line.name)
        } else {
            Member::entity(&*line.name)
        };
        let member = member
            .shares(line.shares.count())
            .usage(record.map_or(0.0, |record| record.usage));
        let parent = line
            .parent
            .map_or(TREE_ROOT, |parent| &lines.nodes[parent].name);
        builder.add_under(parent, member).expect("sound");
    }
    let mut tree = builder.finish();
    OpenPbs::start_usage(&mut tree);
    AssessedTree::new(tree, &OpenPbs)
}

#[test]
fn a_tree_that_a_program_builds_gives_the_inputs_of_the_scheduler() {
    let mut rows = 0;
    for case in golden::lines::<Value>("openpbs/trees/trees.jsonl") {
        let name = text(&case, "case");
        if !BUILT.contains(&name) {
            continue;
        }
        let assessed = built(name);
        for row in case["rows"].as_array().expect("a list") {
            // the entities that no file names
            let Some(shares) = assessed.shares_of(text(row, "entity")) else {
                continue;
            };
            let printed = shares.printed();
            let ours = [
                printed.fairshare_perc,
                printed.fairshare_tree_usage,
                printed.fairshare_factor,
            ];
            let names = ["fairshare_perc", "fairshare_tree_usage", "fairshare_factor"];
            let theirs =
                names.map(|input| text(&row["inputs"], input).parse().expect("a Python float"));
            assert_eq!(
                ours.map(f64::to_bits),
                theirs.map(f64::to_bits),
                "{name}: {row}: {ours:?}"
            );
            rows += 1;
        }
    }
    assert_eq!(rows, 41);
}

/// The tests of the C library and of the Python package compare with the same file.
#[test]
fn every_binding_gives_the_same_numbers_for_a_recorded_tree() {
    #[derive(serde::Deserialize)]
    struct Numbers {
        case: String,
        shares: BTreeMap<String, [String; 3]>,
    }
    let text = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/openpbs_shares.json"
    ));
    let Numbers { case, shares } = serde_json::from_str(&text.expect("the file")).expect("JSON");
    let assessed = built(&case);
    for (entity, expected) in &shares {
        let ours = assessed.shares_of(entity).expect("in the tree");
        let ours = [
            ours.fairshare_perc,
            ours.fairshare_tree_usage,
            ours.fairshare_factor,
        ];
        let expected: [f64; 3] = expected
            .each_ref()
            .map(|digits| digits.parse().expect("a number"));
        assert_eq!(
            ours.map(f64::to_bits),
            expected.map(f64::to_bits),
            "{entity}: {ours:?}"
        );
    }
    assert_eq!(shares.len(), 14);
}

#[test]
fn recorded_jobs_get_the_inputs_of_the_scheduler() {
    let jobs: Vec<Value> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let files = Files::read("openpbs/evaluate", "usage");
    let tree = files.tree(jobs.iter().map(|job| text(job, "entity")));
    for job in jobs.iter().filter(|job| !job["scheduler_inputs"].is_null()) {
        check_inputs(
            &tree,
            text(job, "entity"),
            &job["scheduler_inputs"],
            text(job, "job"),
        );
    }
}

/// `pbsfs` knows only the entities of the files, not those of the jobs.
#[test]
fn recorded_jobs_get_the_numbers_of_pbsfs() {
    let tree = Files::read("openpbs/evaluate", "usage").tree([]);
    for job in golden::lines::<Value>("openpbs/evaluate/jobs.jsonl") {
        check_pbsfs_g(
            &tree,
            text(&job, "entity"),
            &job["pbsfs_g"],
            text(&job, "job"),
        );
    }
}

#[test]
fn recorded_pbsfs_calls_print_the_same_tree() {
    let mut shown = 0;
    for case in golden::lines::<Value>("openpbs/pbsfs/cases.jsonl") {
        let name = text(&case, "case");
        let folder = format!("openpbs/pbsfs/{name}");
        let mut usage = "usage.initial".to_owned();
        for step in case["steps"].as_array().expect("a list") {
            let files = Files::read(&folder, &usage);
            let tree = files.tree([]);
            let args: Vec<&str> = step["args"]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(Value::as_str)
                .collect();
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
    assert!(shown >= 654, "only {shown} steps");
}

fn check_rejected_lines(lines: &ResourceGroup, stderr: &str, place: &str) {
    let reported: Vec<&str> = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("resgroup: error on line "))
        .collect();
    if !stderr.contains("Usage: ") && !stderr.contains("does not exist") {
        let ours: Vec<String> = lines
            .rejected
            .iter()
            .map(|bad| format!("{}.", bad.daemon_line))
            .collect();
        assert_eq!(ours, reported, "{place}");
    }
}

/// The lines `%-10s: Grp: …`, in the daemon's order.
fn check_pbsfs_p(tree: &PbsTree, step: &Value, place: &str) {
    let shown: Vec<String> = text(step, "stdout")
        .lines()
        .skip(1)
        .map(without_blanks)
        .collect();
    let ours: Vec<String> = tree
        .daemon_order()
        .map(|node| without_blanks(&pbsfs_p_line(tree, node)))
        .collect();
    assert_eq!(ours, shown, "{place}");
}

fn pbsfs_p_line(tree: &PbsTree, node: NodeId) -> String {
    let shares = tree.shares().get(node).expect("every node has its numbers");
    let group = tree
        .tree()
        .parent(node)
        .map_or(-1, |parent| tree.cgroup(parent));
    let count = if node == tree.tree().root() {
        -1
    } else {
        tree.tree().shares(node).count()
    };
    format!(
        "{}: Grp: {group} cgrp: {} Shares: {count} Usage: {:.0} Perc: {:.3}%",
        bytes_as_recorded(tree.tree().name(node)),
        tree.cgroup(node),
        tree.tree().usage(node),
        shares.fairshare_perc as f32 * 100.0,
    )
}

/// The recording has one character for each byte of the standard output.
fn bytes_as_recorded(name: &str) -> String {
    name.bytes().map(char::from).collect()
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

fn check_pbsfs_t(tree: &PbsTree, step: &Value, place: &str) {
    let shown: Vec<String> = text(step, "stdout").lines().map(without_blanks).collect();
    let line = |node| {
        format!(
            "{}({})",
            bytes_as_recorded(tree.tree().name(node)),
            tree.cgroup(node)
        )
    };
    let ours: Vec<String> = tree
        .daemon_order()
        .map(|node| without_blanks(&line(node)))
        .collect();
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
    let percentage = printed_fairshare(f64::from(shares.fairshare_perc as f32 * 100.0));
    assert_eq!(
        field("Percentage"),
        format!("{percentage}%"),
        "{place}: {entity}"
    );
    assert_eq!(
        field("fairshare_tree_usage"),
        printed_fairshare(shares.fairshare_tree_usage),
        "{place}: {entity}"
    );
    let usage = field("usage\t");
    assert_eq!(
        usage.split(' ').next(),
        Some(format!("{:.0}", tree.tree().usage(node)).as_str()),
        "{place}: {entity}"
    );
    let over_perc = field("usage/perc");
    assert_eq!(over_perc, usage_over_perc(tree, node), "{place}: {entity}");
}

/// The usage divided by the percentage; -1 if the percentage is 0.
fn usage_over_perc(tree: &PbsTree, node: NodeId) -> String {
    let perc = tree
        .shares()
        .get(node)
        .expect("every node has its numbers")
        .fairshare_perc;
    if perc == 0.0 {
        "-1".to_owned()
    } else {
        format!("{:.0}", tree.tree().usage(node) / perc)
    }
}

/// The files that `pbsfs -d` wrote, twice in a row.
#[test]
fn usage_decays_as_pbsfs_wrote_it() {
    let mut compared = 0;
    for case in golden::lines::<Value>("openpbs/pbsfs/cases.jsonl") {
        let folder = format!("openpbs/pbsfs/{}", text(&case, "case"));
        for (from, to) in [
            ("usage.initial", "usage.after_d"),
            ("usage.after_d", "usage.after_d2"),
        ] {
            let [before, after] = [from, to].map(|usage| Files::read(&folder, usage));
            let decay = IntervalDecay::new(before.config.fairshare_decay_factor, 1);
            let [before, after] = [before.tree([]), after.tree([])];
            for node in before
                .tree()
                .nodes()
                .filter(|&node| before.tree().children(node).is_empty())
            {
                let name = before.tree().name(node);
                // an entity that is on no line is not written once its usage is 1
                let left = after
                    .tree()
                    .find(name)
                    .map_or(1.0, |node| after.tree().usage(node));
                assert_eq!(
                    decay.step(before.tree().usage(node)),
                    left,
                    "{folder}/{to}: {name}"
                );
                compared += 1;
            }
        }
    }
    println!("{compared} usages");
    assert!(compared >= 378, "only {compared} usages");
}

/// The worked example of PP-718: under the documented rules the usage of an entity may be 0.
#[test]
fn the_documented_rules_read_the_same_files() {
    let files = Files::read("openpbs/pbsfs/01_pp718", "usage.initial");
    let tree = PbsTree::build(&files.document(), PolicyRules::Documented, [""; 0]);
    let tree = tree.expect("small enough");
    let factor = |entity| {
        format!(
            "{:.3}",
            tree.shares_of(entity)
                .expect("in the tree")
                .fairshare_factor
        )
    };
    assert_eq!(
        (factor("Bob"), factor("Suzy")),
        ("0.648".to_owned(), "0.382".to_owned())
    );
    assert_eq!(tree.tree().usage(tree.tree().root()), 1200.0);
}
