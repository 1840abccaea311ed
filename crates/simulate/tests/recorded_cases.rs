//! The cases in `tests/golden/simulate`, whose rules are in `SPEC.md` there.

use std::collections::BTreeMap;

use jsf_testing::golden;
use serde::Deserialize;
use serde_json::Value;

use super::{Case, read, starts};

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
