//! The fair-share numbers of a recorded OpenPBS tree through C: those of the library and of the
//! Python package, to the bit, and rounded those that the scheduler passed to Python.

use std::collections::BTreeMap;
use std::{fs, ptr};

use job_sort_formula_c::*;
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(path: &str) -> Vec<u8> {
    fs::read(format!("{ROOT}/tests/{path}")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_numbers_are_those_of_the_other_bindings_and_rounded_those_of_the_scheduler() {
    let expected: Value = serde_json::from_slice(&read("data/openpbs_shares.json")).unwrap();
    let case = expected["case"].as_str().unwrap();
    let file = |name: &str| read(&format!("golden/openpbs/pbsfs/{case}/{name}"));
    let [groups, usage, config] = ["resource_group", "usage.initial", "sched_config"].map(file);
    let mut tree = ptr::null_mut();
    // SAFETY: the contents have the lengths that are passed
    let status = unsafe {
        jsf_tree_read_pbs(
            groups.as_ptr().cast(),
            groups.len(),
            usage.as_ptr().cast(),
            usage.len(),
            config.as_ptr().cast(),
            config.len(),
            &mut tree,
            ptr::null_mut(),
        )
    };
    assert!(status == jsf_status::Ok);
    let trees = String::from_utf8(read("golden/openpbs/trees/trees.jsonl")).unwrap();
    let recorded = trees
        .lines()
        .find(|tree| tree.contains(&format!("{{\"case\": \"{case}\"")))
        .unwrap();
    let recorded: Value = serde_json::from_str(recorded).unwrap();
    let inputs: BTreeMap<&str, &Value> = recorded["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["entity"].as_str().unwrap(), &row["inputs"]))
        .collect();
    for (name, numbers) in expected["shares"].as_object().unwrap() {
        let mut shares = jsf_shares::default();
        // SAFETY: the name has the length that is passed, and the tree is not freed yet
        let status = unsafe {
            jsf_tree_shares(
                tree,
                name.as_ptr().cast(),
                name.len(),
                &mut shares,
                ptr::null_mut(),
            )
        };
        assert!(status == jsf_status::Ok, "{name}");
        let ours = [shares.perc, shares.tree_usage, shares.factor];
        let expected: [String; 3] = serde_json::from_value(numbers.clone()).unwrap();
        let expected = expected.map(|digits| digits.parse::<f64>().unwrap());
        assert_eq!(
            ours.map(f64::to_bits),
            expected.map(f64::to_bits),
            "{name}: {ours:?}"
        );
        let names = ["fairshare_perc", "fairshare_tree_usage", "fairshare_factor"];
        let theirs = names.map(|input| {
            inputs[name.as_str()][input]
                .as_str()
                .unwrap()
                .parse::<f64>()
                .unwrap()
        });
        assert_eq!(
            ours.map(|share| jsf_round_share(share)).map(f64::to_bits),
            theirs.map(f64::to_bits),
            "{name}"
        );
    }
    // SAFETY: the tree is not used any more
    unsafe { jsf_tree_free(tree) };
}
