//! `jsf shares`, on recorded trees and on small ones.

use std::collections::HashMap;

use jsf_testing::golden;
use serde_json::{Value, json};

use crate::command::{jsf, jsf_with_input, stderr, success as stdout};

/// A recorded tree as native JSON, with children in load order.
fn native_json(recorded: &Value) -> Value {
    let nodes = recorded["nodes"].as_array().expect("nodes");
    fn children(nodes: &[Value], parent: &str) -> Vec<Value> {
        let of = nodes
            .iter()
            .filter(|node| node["parent"] == parent || node["account"] == parent);
        of.map(|node| {
            let mut entry =
                json!({"name": node["name"], "shares": node["shares"], "usage": node["usage"], "kind": node["kind"]});
            if node["kind"] == "account" {
                entry["children"] = children(nodes, node["name"].as_str().expect("a name")).into();
            }
            entry
        })
        .collect()
    }
    let root = nodes
        .iter()
        .find(|node| node["name"] == "root" && node["kind"] == "account");
    let usage = root.map_or(json!(0), |root| root["usage"].clone());
    json!({"usage": usage, "children": children(nodes, "root")})
}

/// The rows of a run by account and user, in lower case as in Slurm.
fn recorded_rows(run: &Value) -> HashMap<(String, String), Value> {
    let rows = run["rows"].as_array().expect("rows");
    let key = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or("").trim().to_lowercase();
        (text("account"), text("user"))
    };
    rows.iter().map(|row| (key(row), row.clone())).collect()
}

#[test]
fn shares_are_those_of_the_daemon() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut compared = 0;
    for tree in ["t01d_doc_exact", "t04_irregular", "t05_zero_shares"] {
        let text = golden::text(&format!("slurm/{tree}.json"));
        let recorded: Value = serde_json::from_str(&text).expect("JSON");
        let path = folder.path().join(format!("{tree}.json"));
        std::fs::write(&path, native_json(&recorded).to_string()).expect("written");
        for (policy, run) in [
            ("classic", "classic_d1"),
            ("fair-tree", "ft"),
            ("depth-oblivious", "do_d1_settled"),
        ] {
            let file = path.to_str().expect("UTF-8");
            let output = jsf(&[
                "shares",
                "--tree",
                file,
                "--policy",
                policy,
                "--slurm-release",
                "22.05",
                "--format",
                "json",
            ]);
            let document: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
            let rows = recorded_rows(&recorded["results"][run]);
            for node in document["nodes"].as_array().expect("nodes") {
                compared += compare(node, &rows, &format!("{tree} {run}"));
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

fn compare(node: &Value, rows: &HashMap<(String, String), Value>, place: &str) -> usize {
    let path: Vec<String> = node["path"]
        .as_array()
        .expect("a path")
        .iter()
        .map(|name| name.as_str().expect("a name").to_lowercase())
        .collect();
    let key = match (node["kind"].as_str(), path.as_slice()) {
        (_, []) => return 0,
        (Some("user"), [user]) => ("root".to_owned(), user.clone()),
        (Some("user"), [.., account, user]) => (account.clone(), user.clone()),
        (_, [.., account]) => (account.clone(), String::new()),
    };
    let Some(row) = rows.get(&key) else {
        panic!("{place}: no row for {key:?}")
    };
    let mut compared = 0;
    for (ours, theirs) in [
        ("norm_shares", "norm_shares"),
        ("effective_usage", "eff_usage"),
        ("fairshare", "fairshare"),
    ] {
        let (Some(ours), Some(theirs)) = (node[ours].as_f64(), row[theirs].as_str()) else {
            continue;
        };
        let Ok(theirs) = theirs.parse::<f64>() else {
            continue;
        };
        assert!(
            (ours - theirs).abs() <= 1e-6 + 1e-9 * theirs.abs(),
            "{place} {key:?}: {ours} for {theirs}"
        );
        compared += 1;
    }
    compared
}

/// The factors of the users of a tree under fair tree.
fn factors(tree: &str, more: &[&str]) -> HashMap<String, f64> {
    let arguments = [
        &[
            "shares",
            "--tree",
            tree,
            "--policy",
            "fair-tree",
            "--format",
            "json",
        ],
        more,
    ]
    .concat();
    let document: Value = serde_json::from_str(&stdout(&jsf(&arguments))).expect("JSON");
    let users = document["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter(|node| node["kind"] == "user");
    let factor = |node: &Value| {
        (
            node["path"].to_string(),
            node["fairshare"].as_f64().expect("a factor"),
        )
    };
    users.map(factor).collect()
}

/// `z` and `a` are tied; which is ranked first depends on the release.
#[test]
fn the_release_comes_from_the_option_or_the_document_or_is_the_newest() {
    let tied = r#"{"children":[{"name":"z","children":[{"name":"last","usage":1},{"name":"idle"}]},
        {"name":"a","children":[{"name":"first","usage":1}]}]}"#;
    let rows: Vec<Value> = [("root", "", "ASSOCIATION", 2), ("z", "root", "ASSOCIATION", 1), ("last", "z", "USER", 1)]
        .into_iter()
        .chain([("a", "root", "ASSOCIATION", 1), ("first", "a", "USER", 1), ("second", "a", "USER", 0)])
        .map(|(name, parent, kind, usage)| {
            json!({"name": name, "parent": parent, "shares": 1, "usage": usage, "type": [kind]})
        })
        .collect();
    let written_by = |release: &str| json!({"shares": {"shares": rows}, "meta": {"slurm": {"release": release}}});
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let own = put("own.json", tied.to_owned());
    let (newest, old) = (
        factors(&own, &["--slurm-release", "26.11"]),
        factors(&own, &["--slurm-release", "22.05"]),
    );
    assert_ne!(newest, old);
    assert_eq!(factors(&own, &[]), newest);
    let [old_json, new_json, odd_json] = ["22.05.8", "26.11.0-0rc1", "x"]
        .map(|release| put(release, written_by(release).to_string()));
    let (newest, old) = (factors(&new_json, &[]), factors(&old_json, &[]));
    assert_ne!(newest, old);
    assert_eq!(factors(&old_json, &["--slurm-release", "26.11"]), newest);
    assert_eq!(factors(&odd_json, &[]), newest);
    assert_eq!(factors(&new_json, &["--slurm-release", "22.05"]), old);
}

#[test]
fn a_tree_is_drawn_or_printed_as_json() {
    let drawn = stdout(&jsf(&[
        "shares",
        "--tree",
        "tests/data/pp718.json",
        "--rules",
        "documented",
    ]));
    assert!(
        drawn.contains("│  ├─ Bob           8.33 %      50   0.2    100       0.125   0.648"),
        "{drawn}"
    );
    let one = stdout(&jsf(&[
        "shares",
        "--tree",
        "tests/data/pp718.json",
        "--entity",
        "Bob",
        "--format",
        "json",
        "--rules",
        "documented",
    ]));
    let one: Value = serde_json::from_str(&one).expect("JSON");
    let bob = &one["nodes"][0];
    assert_eq!(
        (&bob["path"], &bob["kind"], &bob["perc"], &bob["tree_usage"]),
        (
            &json!(["group1", "Bob"]),
            &json!("entity"),
            &json!(0.2),
            &json!(0.125)
        )
    );
    let all = stdout(&jsf(&[
        "shares",
        "--tree",
        "tests/data/pp718.json",
        "--policy",
        "all",
        "--format",
        "json",
    ]));
    let all: Value = serde_json::from_str(&all).expect("JSON");
    assert_eq!(all["policies"].as_array().map(Vec::len), Some(6));
}

#[test]
fn charge_and_decay_change_the_shares() {
    let factor = |more: &[&str]| {
        let arguments = [
            "shares",
            "--tree",
            "tests/data/pp718.json",
            "--policy",
            "classic",
            "--entity",
            "Bob",
            "--format",
            "json",
        ];
        let document: Value =
            serde_json::from_str(&stdout(&jsf(&[&arguments[..], more].concat()))).expect("JSON");
        document["nodes"][0]["fairshare"]
            .as_f64()
            .expect("a factor")
    };
    assert!(factor(&["--charge", "Bob=1000"]) < factor(&[]));
    assert!(
        (factor(&["--decay", "7d"]) - factor(&[])).abs() < 1e-9,
        "all usage decays alike"
    );
}

#[test]
fn charges_and_decays_act_in_their_order() {
    let usage = |changes: &[&str]| {
        let arguments = [
            "shares",
            "--tree",
            "tests/data/pp718.json",
            "--policy",
            "pbs",
            "--entity",
            "Bob",
        ];
        let arguments = [&arguments[..], &["--format", "json"], changes].concat();
        let document: Value = serde_json::from_str(&stdout(&jsf(&arguments))).expect("JSON");
        document["nodes"][0]["usage"].as_f64().expect("a usage")
    };
    // the default decay: half in each 24 hours
    assert_eq!(usage(&[]), 100.0);
    assert_eq!(usage(&["--charge", "Bob=1000", "--decay", "24h"]), 550.0);
    assert_eq!(usage(&["--decay", "24h", "--charge", "Bob=1000"]), 1050.0);
    assert_eq!(
        usage(&[
            "--decay=24h",
            "--charge=Bob=1000",
            "--decay",
            "24h",
            "--charge",
            "Bob=1"
        ]),
        526.0
    );
    let human = jsf(&[
        "shares",
        "--tree",
        "tests/data/pp718.json",
        "--policy",
        "pbs",
        "--charge",
        "Bob=1",
        "--decay",
        "2d",
    ]);
    let described = "Bob is charged 1, then usage decays by 2 periods of 24:00:00";
    assert!(stdout(&human).contains(described), "{}", stdout(&human));
}

#[test]
fn tickets_go_to_active_users() {
    let arguments = [
        "shares",
        "--tree",
        "tests/data/pp718.json",
        "--policy",
        "ticket-based",
        "--format",
        "json",
    ];
    let document: Value = serde_json::from_str(&stdout(&jsf(&[
        &arguments[..],
        &["--active", "group1/Bob,Suzy"],
    ]
    .concat())))
    .expect("JSON");
    let tickets = |name: &str| {
        document["nodes"]
            .as_array()
            .expect("nodes")
            .iter()
            .find(|node| node["name"] == name)
            .expect(name)["tickets"]
            .clone()
    };
    assert!(tickets("Bob").as_f64().expect("tickets") > 0.0 && tickets("Cathy").is_null());
    let unknown = jsf(&[&arguments[..], &["--active", "nobody"]].concat());
    assert_eq!(unknown.status.code(), Some(2));
}

/// `ann` has associations on two partitions only; `bob` is in both accounts, in `chem` twice.
const BY_PARTITION: &str = "\
Cluster - 'c':Fairshare=1
Parent - 'root'
Account - 'phys':Fairshare=40
Account - 'chem':Fairshare=60
Parent - 'phys'
User - 'ann':Partition='gpu':Fairshare=3
User - 'ann':Partition='cpu':Fairshare=1
User - 'bob':Fairshare=1
Parent - 'chem'
User - 'bob':Fairshare=1
User - 'bob':Partition='gpu':Fairshare=2
";

#[test]
fn options_accept_associations_of_partitions() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("dump.cfg");
    std::fs::write(&tree, BY_PARTITION).expect("written");
    let tree = tree.to_str().expect("UTF-8");
    let shares = |more: &[&str]| {
        jsf(&[
            &["shares", "--tree", tree, "--policy", "ticket-based"],
            more,
        ]
        .concat())
    };
    let one = |more: &[&str]| -> Value {
        let output = shares(&[&["--format", "json"], more].concat());
        serde_json::from_str::<Value>(&stdout(&output)).expect("JSON")["nodes"][0].clone()
    };
    let on_gpus = one(&[
        "--entity",
        "phys/ann:gpu",
        "--charge",
        "ann:gpu=7",
        "--active",
        "ann:gpu,chem/bob:gpu",
    ]);
    assert_eq!(
        (&on_gpus["name"], &on_gpus["path"]),
        (&json!("ann:gpu"), &json!(["phys", "ann:gpu"]))
    );
    assert_eq!(
        (&on_gpus["user"], &on_gpus["partition"]),
        (&json!("ann"), &json!("gpu"))
    );
    assert_eq!(
        (&on_gpus["raw_usage"], &on_gpus["raw_shares"]),
        (&json!(7.0), &json!(3))
    );
    assert!(
        on_gpus["tickets"]
            .as_f64()
            .is_some_and(|tickets| tickets > 0.0)
    );
    assert_eq!(one(&["--entity", "chem/bob"])["raw_shares"], json!(1));
    for (name, expected) in [
        (
            "ann",
            "the tree has several `ann`, write one of `phys/ann:gpu`, `phys/ann:cpu`",
        ),
        (
            "phys/ann",
            "the tree has several `phys/ann`, write one of `phys/ann:gpu`",
        ),
        ("chem/ann", "the tree has no `chem/ann`"),
        (
            "bob",
            "the tree has several `bob`, write one of `phys/bob`, `chem/bob`",
        ),
    ] {
        let output = shares(&["--entity", name]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn jobs_with_an_ambiguous_association_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tree, queue) = (
        folder.path().join("dump.cfg"),
        folder.path().join("jobs.json"),
    );
    std::fs::write(&tree, BY_PARTITION).expect("written");
    let jobs: Vec<Value> = ["ann", "phys/ann:gpu", "bob"]
        .iter()
        .map(|entity| json!({"id": entity, "entity": entity}))
        .collect();
    std::fs::write(&queue, json!({ "jobs": jobs }).to_string()).expect("written");
    let (tree, queue) = (
        tree.to_str().expect("UTF-8"),
        queue.to_str().expect("UTF-8"),
    );
    let output = jsf(&[
        "rank",
        "fairshare_factor",
        "--queue",
        queue,
        "--tree",
        tree,
        "--policy",
        "fair-tree",
        "--format",
        "csv",
    ]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("the jobs of `ann` get 0: the tree has several `ann`, write one of `phys/ann:gpu`, `phys/ann:cpu`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("the jobs of `bob` get 0: the tree has several `bob`, write one of `phys/bob`, `chem/bob`"),
        "{stderr}"
    );
    assert!(!stderr.contains("the jobs of `phys/ann:gpu`"), "{stderr}");
    assert!(
        stdout(&output)
            .lines()
            .nth(1)
            .is_some_and(|first| first.contains("phys/ann:gpu"))
    );
}

#[test]
fn an_invalid_tree_is_reported_with_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tree");
    let file = path.to_str().expect("UTF-8");
    for (text, policy, expected) in [
        (
            r#"{"children":[{"name":"x","shares":-1}]}"#,
            "classic",
            "`x` has negative shares, -1",
        ),
        (
            r#"{"children":[{"name":"x"},{"name":"x"}]}"#,
            "classic",
            "`x` is already in the tree, under `root`",
        ),
        (
            r#"{"children":[{"name":"x"},{"name":"x"}]}"#,
            "pbs",
            "rename one, or choose another policy",
        ),
        ("hello", "classic", "expected `sshare -a -l`"),
        ("hello", "classic", "or native JSON"),
    ] {
        std::fs::write(&path, text).expect("written");
        let output = jsf(&["shares", "--tree", file, "--policy", policy]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            stderr.contains(file) && stderr.contains(expected),
            "{stderr}"
        );
    }
}

/// The document that `jsf shares` writes as JSON.
fn shares_json(arguments: &[&str]) -> Value {
    let output = jsf(&[&["shares", "--format", "json"], arguments].concat());
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

#[test]
fn a_charge_is_shown_before_and_after() {
    let tree = ["--tree", "tests/data/pp718.json"];
    let (before, after) = (
        shares_json(&tree),
        shares_json(&[&tree[..], &["--charge", "Bob=500"]].concat()),
    );
    assert!(before.get("changes").is_none() && before.get("assumed").is_none());
    assert_eq!(
        after["assumed"],
        json!({"decay": null, "charges": [{"name": "Bob", "amount": 500.0}]})
    );
    assert_eq!(
        (&after["decay_factor"], &after["decay_time"]),
        (&json!(0.5), &json!(86_400))
    );
    let node = |document: &Value, list: &str| {
        let nodes = document[list].as_array().expect("a list");
        nodes
            .iter()
            .find(|node| node["name"] == "Bob")
            .expect("Bob")
            .clone()
    };
    let change = node(&after, "changes");
    assert_eq!(
        (&change["path"], &change["kind"]),
        (&json!(["group1", "Bob"]), &json!("entity"))
    );
    for quantity in ["usage", "tree_usage", "factor"] {
        let (first, second) = (
            &node(&before, "nodes")[quantity],
            &node(&after, "nodes")[quantity],
        );
        assert_eq!(
            (&change["before"][quantity], &change["after"][quantity]),
            (first, second),
            "{quantity}"
        );
        let difference = second.as_f64().expect("a number") - first.as_f64().expect("a number");
        let shown = change["difference"][quantity].as_f64().expect("a number");
        assert!(
            (shown - difference).abs() < 1e-12,
            "{quantity}: {shown} for {difference}"
        );
        assert_ne!(difference, 0.0, "{quantity}");
    }
}

/// A job of each user of `examples/site/tree.json`.
const JOBS_OF_THE_TREE: &str = r#"{"jobs":[{"id":"1.vm","entity":"Bob"},{"id":"2.vm","entity":"Cathy"},
    {"id":"3.vm","entity":"Suzy"},{"id":"4.vm","entity":"Scott"},{"id":"5.vm"}]}"#;

/// The places are those that `jsf rank` gives with the charged usage in the tree's file.
#[test]
fn places_won_are_those_of_a_charged_tree() {
    let tree = "examples/site/tree.json";
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(jsf_testing::path(tree)).expect("a tree"))
            .expect("JSON");
    let text = document.to_string().replacen(
        r#""name":"Bob","shares":50,"usage":100"#,
        r#""name":"Bob","shares":50,"usage":600"#,
        1,
    );
    assert_ne!(text, document.to_string());
    let folder = tempfile::tempdir().expect("a folder");
    let charged = folder.path().join("tree.json");
    std::fs::write(&charged, text).expect("written");
    let jobs = folder.path().join("jobs.json");
    std::fs::write(&jobs, JOBS_OF_THE_TREE).expect("written");
    let jobs = jobs.to_str().expect("UTF-8");
    let order = |tree: &str| {
        let output = jsf(&[
            "rank",
            "fairshare_factor",
            "--queue",
            jobs,
            "--tree",
            tree,
            "--format",
            "json",
        ]);
        let document: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        let jobs = document["jobs"].as_array().expect("jobs").clone();
        jobs.into_iter()
            .map(|job| {
                (
                    job["id"].as_str().expect("an id").to_owned(),
                    job["rank"].clone(),
                )
            })
            .collect()
    };
    let (before, after): (HashMap<_, _>, HashMap<_, _>) =
        (order(tree), order(charged.to_str().expect("UTF-8")));
    let document = shares_json(&["--tree", tree, "--queue", jobs, "--charge", "Bob=500"]);
    let places = &document["places"];
    assert_eq!(places["formula"], "fairshare_factor");
    let listed = places["jobs"].as_array().expect("jobs");
    assert!(!listed.is_empty() && before != after);
    for job in listed {
        let id = job["id"].as_str().expect("an id");
        assert_eq!(
            (&job["before"], &job["after"]),
            (&before[id], &after[id]),
            "{id}"
        );
        let won =
            job["before"].as_i64().expect("a place") - job["after"].as_i64().expect("a place");
        assert_eq!(job["won"], json!(won), "{id}");
    }
    let won: i64 = places["entities"]
        .as_array()
        .expect("entities")
        .iter()
        .filter_map(|one| one["won"].as_i64())
        .sum();
    assert_eq!(won, 0, "{places}");
}

#[test]
fn the_settings_in_force_are_in_the_document() {
    let tree = ["--tree", "tests/data/pp718.json", "--policy"];
    let document =
        |policy: &str, more: &[&str]| shares_json(&[&tree[..], &[policy], more].concat());
    let classic = document("classic", &["--slurm-release", "22.05"]);
    let settings = [
        &classic["release"],
        &classic["half_life"],
        &classic["dampening_factor"],
    ];
    assert_eq!(settings, [&json!("22.05"), &json!(604_800), &json!(1)]);
    assert_eq!(document("fair-tree", &[])["release"], "26.11");
    assert_eq!(
        document("ticket-based", &["--active", "Bob"])["release"],
        "14.11"
    );
    let documented = document("fair-tree", &["--rules", "documented"]);
    assert_eq!(
        (documented.get("release"), &documented["half_life"]),
        (None, &json!(604_800))
    );
}

#[test]
fn a_formula_without_assumed_usage_is_refused() {
    let output = jsf(&[
        "shares",
        "--tree",
        "tests/data/pp718.json",
        "--formula",
        "ncpus",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("a formula is used only with --charge or --decay"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn jobs_may_come_from_standard_input() {
    let arguments = [
        "shares",
        "--tree",
        "examples/site/tree.json",
        "--charge",
        "Bob=500",
        "--queue",
        "-",
        "--full",
    ];
    let text =
        String::from_utf8(jsf_with_input(&arguments, JOBS_OF_THE_TREE).stdout).expect("UTF-8");
    assert!(
        text.contains(", 2 of 5 jobs moved.") && text.contains("\nby `fairshare_factor`\n"),
        "{text}"
    );
    let has_row = |start: &str, end: &str| {
        text.lines()
            .any(|line| line.starts_with(start) && line.ends_with(end))
    };
    assert!(has_row("1.vm  Bob ", " -2"), "{text}");
    // a job without an entity
    assert!(has_row("-  ", " 0"), "{text}");
}

#[test]
fn entities_are_a_list_and_a_group_shows_all_below_it() {
    for (given, expected) in [
        (&["--entity", "Bob"][..], &["Bob"][..]),
        (&["--entity", "group2"], &["group2", "Suzy", "Scott"]),
        (
            &["--entity", "Scott,group1"],
            &["group1", "Bob", "Cathy", "Scott"],
        ),
        (
            &["--entity", "Scott", "--entity", "Suzy"],
            &["Suzy", "Scott"],
        ),
    ] {
        let tree = ["--tree", "tests/data/pp718.json", "--policy", "pbs"];
        let document = shares_json(&[&tree, given].concat());
        let names: Vec<&str> = document["nodes"]
            .as_array()
            .expect("nodes")
            .iter()
            .map(name)
            .collect();
        assert_eq!(names, expected, "{given:?}");
    }
    let output = jsf(&[
        "shares",
        "--tree",
        "tests/data/pp718.json",
        "--policy",
        "pbs",
        "--entity",
        "Suzy,Bob",
    ]);
    let table = stdout(&output);
    let rows: Vec<&str> = table
        .lines()
        .skip_while(|line| !line.starts_with("TREEROOT"))
        .collect();
    let names: Vec<_> = rows
        .iter()
        .map_while(|row| row.split_whitespace().find(|word| word.is_ascii()))
        .collect();
    assert_eq!(
        names,
        ["TREEROOT", "group1", "Bob", "group2", "Suzy"],
        "{table}"
    );
    let output = jsf(&[
        "shares",
        "--tree",
        "tests/data/pp718.json",
        "--entity",
        "Bob,nobody",
    ]);
    assert!(
        stdout(&output).contains("Bob") && stderr(&output).contains("`nobody`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn jobs_without_an_entity_are_named_in_the_tree() {
    let site = [
        "--sched-priv",
        "tests/golden/openpbs/qstat",
        "--queue",
        "tests/golden/openpbs/qstat/qstat_f.json",
    ];
    let output = jsf(&[&["shares", "--full"], &site[..]].concat());
    assert!(
        stdout(&output).contains("│  └─ (no entity)         0.0072 %       1   0.0225"),
        "{}",
        stdout(&output)
    );
    assert!(
        stderr(&output).contains("is missing in 1 of 59 jobs"),
        "{}",
        stderr(&output)
    );
    let output = jsf(&[&["shares", "--decay", "1w"], &site[..]].concat());
    let message = stderr(&output);
    assert_eq!(
        message
            .matches("job `17.vm`: the scheduler ignores the job as invalid")
            .count(),
        1,
        "{message}"
    );
}

fn name(node: &Value) -> &str {
    node["name"].as_str().expect("a name")
}

#[test]
fn usage_beside_several_policies_is_that_of_a_tree_of_slurm() {
    let text = [
        "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare",
        "root|||1.000000|0|1.000000|",
        " X||1|0.500000|0|0.000000|",
        "  X|x1|1|1.000000|0|0.000000|1.000000",
        " Y||1|0.500000|0|0.000000|",
        "  Y|y1|1|1.000000|0|0.000000|1.000000\n",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("sshare.txt");
    std::fs::write(&tree, text.join("\n")).expect("written");
    let tree = tree.to_str().expect("UTF-8");
    let all = stdout(&jsf(&["shares", "--tree", tree, "--policy", "all"]));
    assert!(all.starts_with("No entity has any usage."), "{all}");
    assert!(
        !all.contains("unknown") && !all.contains("TREEROOT"),
        "{all}"
    );
    let pbs = stdout(&jsf(&["shares", "--tree", tree, "--policy", "pbs"]));
    assert!(pbs.starts_with("No entity has any usage."), "{pbs}");
}

/// What flux-accounting exports is read as its own policy reads it. The tree is that of the manual
/// of `flux account export-db --fairshare-emulate`; the ranks follow from shares divided by usage
/// among the siblings.
#[test]
fn a_tree_of_flux_accounting_has_its_policy() {
    let user = |name: &str, shares: i64, usage: i64| json!({"username": name, "shares": shares, "usage": usage});
    let exported = |usage_of_bank: i64| {
        let one = [
            user("user1", 10_000, 100),
            user("user2", 1000, 11),
            user("user3", 100_000, 10),
        ];
        let two = [user("user4", 100_000, 8), user("user5", 10_000, 3)];
        let bank = |name: &str, shares: i64, usage: i64, children: &[Value]| json!({"bank": name, "shares": shares, "usage": usage, "children": children});
        let banks = [
            bank("bank1", 1000, usage_of_bank, &one),
            bank("bank2", 100, 11, &two),
        ];
        json!({"root": bank("root", 1000, 132, &banks)}).to_string()
    };
    let shares = |text: &str| {
        let output = jsf_with_input(&["shares", "--tree", "-", "--format", "json"], text);
        let document: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        (document, stderr(&output))
    };
    let (document, warnings) = shares(&exported(121));
    assert_eq!(warnings, "");
    assert_eq!(document["policy"], "weighted-walk");
    let nodes = document["nodes"].as_array().expect("nodes");
    let users = nodes.iter().filter(|node| node["kind"] == "user");
    let factors: HashMap<&str, f64> = users
        .map(|node| {
            let path = node["path"].as_array().expect("a path");
            (
                path.last().and_then(Value::as_str).expect("a name"),
                node["fairshare"].as_f64().expect("a factor"),
            )
        })
        .collect();
    let expected = [
        ("user4", 1.0),
        ("user5", 0.8),
        ("user3", 0.6),
        ("user1", 0.4),
        ("user2", 0.2),
    ];
    assert_eq!(factors, HashMap::from(expected));
    let (other, warnings) = shares(&exported(200));
    assert!(
        warnings.contains(
            "the bank `bank1` has the usage 200, but those below it have 121, which counts"
        ),
        "{warnings}"
    );
    assert_eq!(other["nodes"], document["nodes"]);
}
