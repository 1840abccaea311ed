//! Names, and the order and the files of the lines, decide nothing: no number of a result changes
//! with them, nor its place.

use jsf_simulate::{Difference, LogRules, Statistics, Workload};
use jsf_testing::random::Generator;
use serde_json::Value;

use super::random_workloads::random_case;
use super::{Case, bytes, open_workload, read, read_by, starts};

const CASES: usize = 150;
/// The place of the user in a line in the Standard Workload Format.
const USER: usize = 11;

/// All that a simulation says, without names.
#[derive(Debug, PartialEq)]
struct Numbers {
    starts: Vec<(String, i64)>,
    statistics: Statistics,
    /// Against the order of submission.
    difference: Difference,
}

impl Numbers {
    fn new(case: &Case, workload: &Workload) -> Self {
        let simulated = case.simulate(workload, &mut ());
        let by_submission = Case {
            formula: "eligible_time".into(),
            ..case.clone()
        }
        .run(workload, &mut ());
        let statistics = simulated.statistics(workload, 0);
        let mut numbers = Self {
            starts: starts(workload, &simulated.schedule),
            statistics,
            difference: Difference::new(workload, &by_submission, &simulated.schedule, 0),
        };
        let groups = [
            &mut numbers.statistics.classes.entities,
            &mut numbers.statistics.classes.groups,
            &mut numbers.statistics.classes.queues,
        ];
        for group in groups.into_iter().flatten() {
            group.name.clear();
            group.used.iter_mut().for_each(|used| used.name.clear());
        }
        let uses = numbers
            .statistics
            .fairness
            .iter_mut()
            .flat_map(|fairness| &mut fairness.entities);
        uses.for_each(|entity| entity.name.clear());
        let classes = &mut numbers.difference.classes;
        for group in classes.entities.iter_mut().chain(&mut classes.groups) {
            group.name.clear();
        }
        numbers
    }
}

fn cases() -> impl Iterator<Item = (Case, Generator)> {
    let mut generator = Generator(11);
    (1..=CASES as u64).map(move |seed| (random_case(&mut generator), Generator(seed)))
}

fn shuffle<T>(items: &mut [T], generator: &mut Generator) {
    for last in (1..items.len()).rev() {
        items.swap(last, generator.below(last as u64 + 1) as usize);
    }
}

/// The case with other names of its users, in the log and in the tree.
fn renamed(case: &Case, names: &[u64]) -> Case {
    let renamed = |name: &str| {
        name.parse()
            .map_or(name.to_owned(), |user: usize| names[user].to_string())
    };
    let line = |line: &str| {
        let mut fields: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if let Some(user) = fields.get_mut(USER) {
            *user = renamed(user);
        }
        fields.join(" ") + "\n"
    };
    let mut tree = case.tree.clone();
    tree.iter_mut()
        .for_each(|tree| rename_nodes(tree, &renamed));
    Case {
        workload: case.workload.lines().map(line).collect(),
        tree,
        ..case.clone()
    }
}

fn rename_nodes(node: &mut Value, renamed: &dyn Fn(&str) -> String) {
    if let Some(name) = node.get("name").and_then(Value::as_str).map(renamed) {
        node["name"] = name.into();
    }
    node.get_mut("children")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .for_each(|child| rename_nodes(child, renamed));
}

#[test]
fn renamed_entities_change_no_number() {
    let mut with_tree = 0;
    for (case, mut generator) in cases() {
        let mut names: Vec<u64> = (10..16).collect();
        shuffle(&mut names, &mut generator);
        let other = renamed(&case, &names);
        assert_eq!(
            Numbers::new(&case, &read(&case.workload)),
            Numbers::new(&other, &read(&other.workload)),
            "{case:?}"
        );
        with_tree += usize::from(case.tree.is_some());
    }
    assert!(with_tree > CASES / 5, "{with_tree}");
}

#[test]
fn an_anonymous_log_has_the_same_numbers() {
    for (case, _) in cases() {
        let anonymous = read_by(
            &case.workload,
            LogRules {
                anonymise: true,
                ..LogRules::default()
            },
        );
        assert!(
            anonymous
                .entities()
                .iter()
                .all(|name| name.starts_with('u')),
            "{:?}",
            anonymous.entities()
        );
        assert_eq!(
            Numbers::new(&case, &read(&case.workload)),
            Numbers::new(&case, &anonymous),
            "{case:?}"
        );
    }
}

#[test]
fn the_order_and_the_files_of_the_lines_change_no_number() {
    for (case, mut generator) in cases() {
        let mut lines: Vec<&str> = case.workload.lines().collect();
        shuffle(&mut lines, &mut generator);
        let (one, other) = lines.split_at(generator.below(lines.len() as u64) as usize);
        let files = [one, other].map(|lines| bytes("log", &(lines.join("\n") + "\n; no job\n")));
        // a file without a job is no log
        let Ok(split) = open_workload(&files) else {
            continue;
        };
        assert_eq!(
            Numbers::new(&case, &read(&case.workload)),
            Numbers::new(&case, &split),
            "{case:?}"
        );
    }
}
