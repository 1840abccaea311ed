//! The cases in `tests/golden/simulate`, whose rules are in `SPEC.md` there.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Case, read, starts};
use crate::support::golden;

/// The options for the rules of the cases, which are not those of OpenPBS's scheduler.
#[cfg(feature = "cli")]
const TEXTBOOK: [&str; 4] = ["--rules", "documented", "--numbers", "exact"];

#[derive(Deserialize)]
struct RecordedCase {
    #[serde(flatten)]
    case: Case,
    start: BTreeMap<String, i64>,
}

#[test]
fn every_recorded_job_starts_at_its_second() {
    let cases: Vec<RecordedCase> = golden::lines("simulate/cases.jsonl");
    let mut jobs = 0;
    for RecordedCase { mut case, start } in cases {
        let file = |name: &str| golden::text(&format!("simulate/{name}"));
        case.workload = file(&case.workload);
        if let Some(Value::String(name)) = &case.tree {
            case.tree = Some(serde_json::from_str(&file(name)).expect("JSON"));
        }
        let workload = read(&case.workload);
        let schedule = case.run(&workload, &mut ());
        let found: BTreeMap<String, i64> = starts(&workload, &schedule).into_iter().collect();
        assert!(found == start, "{} with {}", case.formula, case.backfill);
        assert!(schedule.is_complete && schedule.too_large.is_empty());
        jobs += start.len();
    }
    println!("{jobs} starts compared");
    assert!(jobs >= 23_400, "{jobs}");
}

/// One case of each way of backfilling, with and without a tree, through the command.
#[cfg(feature = "cli")]
#[test]
fn the_command_starts_every_recorded_job_at_its_second_with_the_options_of_the_textbook() {
    use crate::support::command::{jsf, success};

    let cases: Vec<RecordedCase> = golden::lines("simulate/cases.jsonl");
    let mut compared = std::collections::BTreeSet::new();
    for RecordedCase { case, start } in cases {
        let Case { workload, processors, formula, backfill, tree, decay, decay_factor } = case;
        if !compared.insert((backfill.clone(), tree.is_some())) {
            continue;
        }
        let file = |name: &str| golden::path(&format!("simulate/{name}")).display().to_string();
        let (workload, processors) = (file(&workload), processors.to_string());
        let mut arguments = vec!["simulate", &formula, "--format", "json", "--backfill", &backfill];
        arguments.extend(["--workload", &workload, "--processors", &processors]);
        arguments.extend(TEXTBOOK);
        let tree = tree.map(|tree| file(tree.as_str().expect("a name")));
        let decays = [decay.map(|decay| decay.to_string()), decay_factor.map(|factor| factor.to_string())];
        for (option, value) in ["--tree", "--decay", "--decay-factor"].into_iter().zip([&tree, &decays[0], &decays[1]])
        {
            arguments.extend(value.iter().flat_map(|value| [option, value]));
        }
        let document: Value = serde_json::from_str(&success(&jsf(&arguments))).expect("JSON");
        let jobs = document["jobs"].as_array().expect("jobs").iter();
        let found: BTreeMap<String, i64> = jobs
            .map(|job| (job["id"].as_str().expect("an id").to_owned(), job["start"].as_i64().expect("a start")))
            .collect();
        assert!(found == start, "{formula} with {backfill}");
    }
    assert_eq!(compared.len(), 4, "{compared:?}");
}
