//! Slurm's files and policies.

mod files;
mod policies;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::golden;

/// Every recorded tree by name.
fn recorded_trees() -> BTreeMap<String, Value> {
    let entries = std::fs::read_dir(golden::path("slurm")).expect("the folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let read = |file: String| {
        let name = file.strip_suffix(".json")?.to_owned();
        Some((name, serde_json::from_slice(&golden::bytes(&format!("slurm/{file}"))).expect("JSON")))
    };
    let trees: BTreeMap<String, Value> = names.filter_map(read).collect();
    assert_eq!(trees.len(), 13);
    trees
}
