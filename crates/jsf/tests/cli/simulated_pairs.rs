//! A formula has the same results alone, beside another formula, as a value of `--param` and as the
//! formula in force of `jsf fit`.

use jsf_testing::random::Generator;
use jsf_testing::setting;
use serde_json::{Value, json};

use crate::command::{jsf, json as read, stderr};

/// With and without fair share, and with inputs of the log that no other one reads.
const FORMULAS: [&str; 9] = [
    "100*fairshare_factor + eligible_time/3600",
    "fairshare_perc - fairshare_tree_usage",
    "fairshare_factor + mem/1e9",
    "ncpus*walltime",
    "ncpus",
    "eligible_time/(walltime + 1)",
    "eligible_time",
    "mem/1e3 - walltime",
    "job_priority",
];
const GOALS: &str =
    "[[goal]]\nname = \"waits\"\nmeasure = \"wait\"\nstatistic = \"mean\"\nat_most = 60\n";

/// A log of eight users, of whom the last is not in the tree.
fn random_log(generator: &mut Generator) -> String {
    let mut submit = 1_790_000_000 + generator.below(7200);
    let gap = generator.pick(&[60, 300, 900]);
    let mut job = |id: u64| {
        submit += generator.below(2 * gap);
        let longest = generator.pick(&[100, 2000, 20_000]);
        let run = 1 + generator.below(longest);
        let resources = json!({
            "ncpus": 1 << generator.below(6),
            "walltime": run * (1 + generator.below(4)),
            "mem": format!("{}mb", generator.below(4000)),
        });
        let entity = generator.pick(&["a", "b", "c", "d", "e", "f", "g", "h"]);
        json!({"id": id, "entity": entity, "submit": submit, "run": run, "job_priority": id % 7, "resources": resources})
    };
    (0..120).map(|id| job(id).to_string() + "\n").collect()
}

fn random_tree(generator: &mut Generator) -> Value {
    let mut users = |names: &[&str]| -> Vec<Value> {
        names
            .iter()
            .map(|name| json!({"name": name, "shares": 1 + generator.below(20)}))
            .collect()
    };
    let groups = [users(&["a", "b", "c"]), users(&["d", "e", "f", "g"])];
    let [one, other] =
        groups.map(|users| json!({"name": users[0]["name"].to_string() + "s", "shares": 10, "children": users}));
    json!({"unknown_shares": 2, "children": [one, other]})
}

#[test]
fn the_results_of_a_formula_do_not_depend_on_what_is_simulated_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [log, tree, goals] = ["log.ndjson", "tree.json", "goals.toml"].map(path);
    std::fs::write(&goals, GOALS).expect("written");
    let mut generator = Generator(setting("JSF_PAIRS_SEED", 1));
    let mut left_out = 0;
    for _ in 0..setting("JSF_PAIRS", 12) {
        std::fs::write(&log, random_log(&mut generator)).expect("written");
        std::fs::write(&tree, random_tree(&mut generator).to_string()).expect("written");
        let decay = [
            generator.pick(&["10m", "1h", "1d"]),
            generator.pick(&["0.1", "0.5", "0.9"]),
        ];
        let shake = generator.pick(&[&[][..], &["--shake", "2"]]);
        let rest = [
            "--workload",
            &log,
            "--tree",
            &tree,
            "--decay",
            decay[0],
            "--decay-factor",
            decay[1],
        ];
        let rest = [&rest[..], &["--processors", "40", "--format", "json"]].concat();
        let run = |command: &str, options: &[&str]| {
            let output = jsf(&[&[command], options, &rest].concat());
            assert!(
                !output.stdout.is_empty(),
                "{options:?}: {}",
                stderr(&output)
            );
            read(&output)
        };
        let [old, new] = [(); 2].map(|()| generator.pick(&FORMULAS));
        let pair = run("simulate", &[&["--old", old, "--new", new], shake].concat());
        for (side, formula) in [("old", old), ("new", new)] {
            let alone = run("simulate", &[&[formula], shake].concat());
            left_out += usize::from(alone["warm_up"] != 0);
            for (key, value) in alone
                .as_object()
                .expect("an object")
                .iter()
                .filter(|(key, _)| *key != "shake")
            {
                assert_eq!(
                    &pair[side][key], value,
                    "{key} of `{formula}` beside the other of `{old}` and `{new}`, {rest:?}"
                );
            }
            let filled = run(
                "simulate",
                &[&format!("{{a}}*({formula})"), "--param", "a=0,1"],
            );
            for measure in ["wait", "bounded_slowdown", "makespan"] {
                assert_eq!(
                    filled["runs"][1][measure], alone["summary"][measure],
                    "{measure} of `{formula}`, {rest:?}"
                );
            }
        }
        let in_force = [old, new].map(|term| {
            let template = format!("{{a=1:0..9}}*({term})");
            let fit = [
                "--old",
                "ncpus",
                "--force",
                "--evaluations",
                "2",
                "--goals",
                &goals,
            ];
            let fitted = run("fit", &[&[&*template], &fit[..]].concat());
            ["current", "held_out_current"].map(|part| fitted["goals"][0][part].clone())
        });
        assert_eq!(
            in_force[0], in_force[1],
            "`ncpus` in force beside `{old}` and beside `{new}`, {rest:?}"
        );
    }
    assert!(left_out > 0, "no case has jobs that are left out");
}
