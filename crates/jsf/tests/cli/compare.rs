//! `jsf compare`: each side has the ranks and scores of `jsf rank`.

use std::collections::HashMap;
use std::fs;

use serde_json::Value;

use crate::command::{jsf, jsf_with_input, json, stderr, stdout, success};

const QUEUE: &[&str] = &["--queue", "examples/site/qstat.json"];

/// The options of `jsf compare` for both sides and for either, and those of `jsf rank` for either
/// side.
struct Case<'a> {
    shared: &'a [&'a str],
    compared: &'a [&'a str],
    old: &'a [&'a str],
    new: &'a [&'a str],
}

/// The rank and the score of each considered job, by its id.
fn ranked(arguments: &[&str]) -> HashMap<String, (u64, Value)> {
    let document = json(&jsf(&[&["rank"], arguments, &["--format", "json"]].concat()));
    let jobs = document["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .filter(|job| !job["rank"].is_null());
    jobs.map(|job| {
        (
            job["id"].as_str().unwrap().to_owned(),
            (job["rank"].as_u64().unwrap(), job["score"].clone()),
        )
    })
    .collect()
}

/// Compares both sides with `jsf rank`, and returns the comparison.
#[track_caller]
fn check(case: &Case) -> Value {
    let compared = json(&jsf(&[
        &["compare"],
        case.shared,
        case.compared,
        &["--format", "json"],
    ]
    .concat()));
    let sides = [("old", case.old), ("new", case.new)]
        .map(|(side, own)| (side, ranked(&[case.shared, own].concat())));
    let jobs = compared["jobs"].as_array().expect("jobs");
    for (side, ranked) in &sides {
        let listed = jobs
            .iter()
            .filter(|job| !job[format!("{side}_rank")].is_null())
            .count();
        assert_eq!(listed, ranked.len(), "{:?}", case.compared);
        assert_eq!(compared["summary"]["considered"][side], ranked.len());
        for job in jobs {
            if let Some((rank, score)) = ranked.get(job["id"].as_str().unwrap()) {
                assert_eq!(
                    (&job[format!("{side}_rank")], &job[format!("{side}_score")]),
                    (&(*rank).into(), score)
                );
            }
        }
    }
    assert!(!jobs.is_empty());
    compared
}

#[test]
fn each_side_has_the_ranks_and_scores_of_a_ranking() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = |name: &str, changes: &str| {
        let path = folder.path().join(name);
        let lines = fs::read_to_string(jsf_testing::path("examples/site/sched_priv/sched_config"))
            .expect("a file");
        fs::write(&path, lines + "\n" + changes).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let by_group = config("by_group", "fairshare_entity: egroup\n");
    let by_queue = config(
        "by_queue",
        "by_queue: True ALL\njob_sort_key: \"mem LOW\" ALL\n",
    );
    let site = ["--site", "examples/site"];
    let formula = ["--old", "fairshare_factor"];
    let moved = |case: Case| check(&case)["summary"]["moved"].as_u64().expect("a number");
    let (old, new) = ("eligible_time / 3600 + ncpus", "-mem * fairshare_perc");
    assert!(
        moved(Case {
            shared: &site,
            compared: &["--old", old, "--new", new],
            old: &[old],
            new: &[new]
        }) > 0
    );
    assert!(
        moved(Case {
            shared: &site,
            compared: &["--new", new],
            old: &[],
            new: &[new]
        }) > 0
    );
    assert!(
        moved(Case {
            shared: &site,
            compared: &["--old", new],
            old: &[new],
            new: &[]
        }) > 0
    );
    let numbers = [
        "--site",
        "examples/site",
        "--numbers",
        "decimal",
        "--on-error",
        "null",
    ];
    let failing = "1 / (ncpus - 48)";
    let case = Case {
        shared: &numbers,
        compared: &["--old", old, "--new", failing],
        old: &[old],
        new: &[failing],
    };
    let compared = check(&case);
    let failing = compared["changes"]["failing"]["start"]
        .as_array()
        .expect("ids");
    assert_eq!(compared["summary"]["errors"]["new"], failing.len());
    assert!(!failing.is_empty());
    let trees = ["examples/site/tree.json", "tests/data/pp718.json"];
    let jobs = ["--queue", "examples/site/jobs.ndjson", "--numbers", "exact"];
    let compared = check(&Case {
        shared: &jobs,
        compared: &[
            "--old",
            "fairshare_factor",
            "--old-tree",
            trees[0],
            "--new-tree",
            trees[1],
            "--new-policy",
            "classic",
        ],
        old: &["fairshare_factor", "--tree", trees[0]],
        new: &[
            "fairshare_factor",
            "--tree",
            trees[1],
            "--policy",
            "classic",
        ],
    });
    assert!(
        compared["old"]["rules"]["policy"]
            .as_str()
            .unwrap()
            .starts_with("pbs")
    );
    assert!(
        compared["new"]["rules"]["policy"]
            .as_str()
            .unwrap()
            .starts_with("classic")
    );
    for changed in [&by_group, &by_queue] {
        let compared = &[&formula[..], &["--new-sched-config", changed]].concat();
        let new = ["fairshare_factor", "--sched-config", changed];
        assert!(
            moved(Case {
                shared: &site,
                compared,
                old: &["fairshare_factor"],
                new: &new
            }) > 0,
            "{changed}"
        );
        let compared = &[&formula[..], &["--old-sched-config", changed]].concat();
        assert!(
            moved(Case {
                shared: &site,
                compared,
                old: &new,
                new: &["fairshare_factor"]
            }) > 0,
            "{changed}"
        );
    }
    let compared = check(&Case {
        shared: &site,
        compared: &[
            &formula[..],
            &["--old-threshold", "0.5", "--new-threshold", "0.3"],
        ]
        .concat(),
        old: &["fairshare_factor", "--threshold", "0.5"],
        new: &["fairshare_factor", "--threshold", "0.3"],
    });
    let started = |what: &str| {
        compared["changes"][what]["start"]
            .as_array()
            .expect("ids")
            .len()
    };
    assert!(started("passing") > 0);
    assert_eq!(started("passing"), started("considered"));
}

#[test]
fn the_former_names_of_the_thresholds_are_accepted_and_not_shown() {
    let compared = |old: &str, new: &str| {
        success(&jsf(&[
            "compare", "--old", "ncpus", old, "0.5", new, "9", "--format", "json", QUEUE[0],
            QUEUE[1],
        ]))
    };
    let expected = compared("--old-threshold", "--new-threshold");
    assert_eq!(compared("--threshold-old", "--threshold-new"), expected);
    let help = success(&jsf(&["compare", "--help"]));
    assert!(
        help.contains("--old-threshold <X>") && !help.contains("threshold-old"),
        "{help}"
    );
}

#[test]
fn a_side_that_is_not_given_equals_the_other_where_something_else_differs() {
    let old_rank = |arguments: &[&str]| {
        let document = json(&jsf(
            &[&["compare", "--format", "json"], QUEUE, arguments].concat()
        ));
        (
            document["old"]["formula"].clone(),
            document["new"]["formula"].clone(),
            document["summary"]["moved"].clone(),
        )
    };
    let both = ("ncpus".into(), "ncpus".into(), 0.into());
    assert_eq!(old_rank(&["--old", "ncpus", "--new-threshold", "0"]), both);
    assert_eq!(old_rank(&["--new", "ncpus", "--new-threshold", "0"]), both);
    let tree = [
        "--old",
        "fairshare_factor",
        "--new",
        "fairshare_factor",
        "--tree",
        "tests/data/pp718.json",
    ];
    let own = [
        "--new",
        "fairshare_factor",
        "--new-tree",
        "tests/data/pp718.json",
    ];
    assert_eq!(old_rank(&tree), old_rank(&own));
    let arguments = ["--new-threshold", "0", "--format", "csv"];
    let standard_input = jsf_with_input(
        &[&["compare", "--old-file", "-"], &arguments[..], QUEUE].concat(),
        "ncpus\n",
    );
    assert_eq!(
        success(&standard_input),
        success(&jsf(&[
            &["compare", "--old", "ncpus"],
            &arguments[..],
            QUEUE
        ]
        .concat()))
    );
}

#[test]
fn nothing_is_compared_with_itself() {
    for (arguments, expected) in [
        (
            &["--old", "ncpus", QUEUE[0], QUEUE[1]][..],
            "no formula to compare --old with: give --new FORMULA, or the one",
        ),
        (
            &["--new", "ncpus", QUEUE[0], QUEUE[1]],
            "no formula to compare --new with: give --old FORMULA, or the one",
        ),
        (
            &["--old-file", "-", QUEUE[0], QUEUE[1]],
            "no formula to compare --old with",
        ),
        (
            &["--site", "examples/site"],
            "nothing differs between the two sides: give --new FORMULA, --new-tree FILE",
        ),
    ] {
        let output = jsf_with_input(&[&["compare"], arguments].concat(), "ncpus\n");
        assert_eq!(
            (output.status.code(), stdout(&output)),
            (Some(2), String::new()),
            "{arguments:?}"
        );
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
    let of_site = |side: &str| {
        let document = json(&jsf(&[
            "compare",
            side,
            "ncpus",
            "--site",
            "examples/site",
            "--format",
            "json",
        ]));
        (
            document["old"]["formula"].clone(),
            document["new"]["formula"].clone(),
        )
    };
    let (of_old, of_new) = (of_site("--old"), of_site("--new"));
    assert_eq!((&of_old.0, &of_new.1), (&"ncpus".into(), &"ncpus".into()));
    assert!(
        of_old.1 == of_new.0 && of_old.1 != "ncpus",
        "{of_old:?} {of_new:?}"
    );
}

#[test]
fn the_first_jobs_that_change_decide_the_exit_code() {
    // the first 8 jobs of either order keep their places
    let formulas = ["--old", "ncpus", "--new", "ncpus if ncpus >= 257 else 0"];
    let code = |first: &str| {
        let output = jsf(&[
            &["compare", "--fail-on-change", first],
            &formulas[..],
            QUEUE,
        ]
        .concat());
        output
            .status
            .code()
            .unwrap_or_else(|| panic!("{}", stderr(&output)))
    };
    let document = json(&jsf(&[
        &["compare", "--format", "json"],
        &formulas[..],
        QUEUE,
    ]
    .concat()));
    let jobs = document["jobs"].as_array().expect("jobs");
    let first = jobs
        .iter()
        .filter(|job| job["moved"] != 0)
        .flat_map(|job| [job["old_rank"].as_u64(), job["new_rank"].as_u64()])
        .flatten()
        .min()
        .expect("a job that moves");
    assert!(first > 1);
    assert_eq!(
        (
            code("0"),
            code(&(first - 1).to_string()),
            code(&first.to_string()),
            code("1000")
        ),
        (0, 0, 1, 1)
    );
    // where no job is compared, no change can be ruled out
    let options = ["compare", "--fail-on-change", "5", "--queue", "-"];
    let output = jsf_with_input(&[&options[..], &formulas[..]].concat(), r#"{"jobs":[]}"#);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("--fail-on-change cannot be answered"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn filters_choose_the_listed_jobs_and_leave_the_numbers() {
    let all = [
        "compare",
        "--old",
        "ncpus",
        "--new",
        "mem",
        "--site",
        "examples/site",
        "--format",
        "json",
    ];
    let summary = |more: &[&str]| {
        let document = json(&jsf(&[&all[..], more].concat()));
        let ids: Vec<String> = document["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["id"].as_str().unwrap().to_owned())
            .collect();
        (document["summary"].clone(), ids)
    };
    let (whole, ids) = summary(&[]);
    assert_eq!(ids.len(), 33);
    for (filter, count) in [
        (&["--top", "4"][..], 4),
        (&["--user", "ocean"], 7),
        (&["--queue-name", "gpu", "--top", "2"], 2),
    ] {
        let (part, listed) = summary(filter);
        assert_eq!((&part, listed.len()), (&whole, count), "{filter:?}");
        assert!(ids.iter().filter(|id| listed.contains(id)).eq(&listed));
    }
    let output = jsf(&[&all[..], &["--user", "nobody"]].concat());
    assert!(stderr(&output).contains("no job belongs to an entity or a group `nobody`"));
}

#[test]
fn a_tree_may_be_a_resource_group_and_come_from_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("resource_group");
    let groups = fs::read_to_string(jsf_testing::path("examples/site/sched_priv/resource_group"))
        .expect("a file");
    let more_shares: Vec<String> = groups
        .lines()
        .map(
            |line| match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["jsolberg", id, parent, _] => format!("jsolberg {id} {parent} 500"),
                _ => line.to_owned(),
            },
        )
        .collect();
    assert_ne!(more_shares, groups.lines().collect::<Vec<_>>());
    fs::write(&path, more_shares.join("\n") + "\n").expect("written");
    let changed = path.to_str().expect("UTF-8");
    let compared = check(&Case {
        shared: &[
            "--queue",
            "examples/site/qstat.json",
            "--sched-priv",
            "examples/site/sched_priv",
        ],
        compared: &["--old", "fairshare_factor", "--new-tree", changed],
        old: &["fairshare_factor"],
        new: &["fairshare_factor", "--resource-group", changed],
    });
    let won = compared["entities"][0]["won"].as_i64().expect("a number");
    assert!(
        compared["entities"][0]["name"] == "jsolberg" && won > 0,
        "{}",
        compared["entities"][0]
    );
    let tree = fs::read_to_string(jsf_testing::path("examples/site/tree.json")).expect("a file");
    let base = [
        "compare",
        "--old",
        "fairshare_factor",
        "--new-policy",
        "classic",
        "--format",
        "json",
    ];
    let queue = ["--queue", "examples/site/jobs.ndjson"];
    let from_file = json(&jsf(&[
        &base[..],
        &queue,
        &["--tree", "examples/site/tree.json"],
    ]
    .concat()));
    for option in ["--tree", "--new-tree"] {
        let from_input = jsf_with_input(&[&base[..], &queue, &[option, "-"]].concat(), &tree);
        assert_eq!(json(&from_input), from_file, "{option}");
    }
}

#[test]
fn jobs_without_a_tree_may_have_their_shares() {
    let job = |id: u32, entity: &str, perc: f64| {
        format!(
            "{{\"id\":\"{id}.vm\",\"entity\":\"{entity}\",\"fairshare_perc\":{perc},\"job_priority\":{id}}}\n"
        )
    };
    let jobs: String = (0..20)
        .map(|id| match id {
            0..11 => job(
                id,
                if id == 10 { "Ann" } else { "Bob" },
                if id == 10 { 0.75 } else { 0.25 },
            ),
            _ => job(id, "Ann", 0.75),
        })
        .collect();
    // Ann has the first 10 jobs under the old formula, Bob under the new one
    let arguments = [
        "compare",
        "--old",
        "job_priority",
        "--new",
        "-job_priority",
        "--queue",
        "-",
        "--format",
        "json",
    ];
    let compared = json(&jsf_with_input(&arguments, &jobs));
    let jain = |quotients: [f64; 2]| {
        let (sum, squares) = (
            quotients[0] + quotients[1],
            quotients[0].powi(2) + quotients[1].powi(2),
        );
        sum * sum / (2.0 * squares)
    };
    let close =
        |value: &Value, expected: f64| (value.as_f64().expect("a number") - expected).abs() < 1e-12;
    assert!(
        close(
            &compared["fairness"]["old"]["jain"],
            jain([1.0 / 0.75, 0.0])
        ),
        "{}",
        compared["fairness"]
    );
    assert!(
        close(
            &compared["fairness"]["new"]["jain"],
            jain([0.0, 1.0 / 0.25])
        ),
        "{}",
        compared["fairness"]
    );
    assert_eq!(compared["entities"][0]["perc"], 0.25);
}

/// What is said beside a heading.
fn fact<'t>(text: &'t str, heading: &str) -> &'t str {
    let found = text
        .lines()
        .find_map(|line| line.strip_prefix(heading)?.strip_prefix(':'));
    found
        .unwrap_or_else(|| panic!("no {heading}: {text}"))
        .trim_start()
}

#[test]
fn fairness_is_compared_if_both_sides_order_jobs() {
    let site = ["--site", "examples/site"];
    let compared = |old: &str, new: &str| {
        stdout(&jsf(&[
            &["compare", "--full", "--old", old, "--new", new],
            &site[..],
        ]
        .concat()))
    };
    let (works, fails) = ("fairshare_factor", "eligible_tme");
    for (old, new, is_compared) in [
        (works, fails, false),
        (fails, works, false),
        (fails, fails, false),
        (works, "fairshare_factor * 2", true),
    ] {
        let text = compared(old, new);
        assert_eq!(text.contains("Jain"), is_compared, "{text}");
    }
    // the job of bwallace, who has no shares, is among the first
    let text = compared(works, "eligible_time");
    assert!(
        text.contains("of the first 10 jobs without shares 0 → 1\n"),
        "{text}"
    );
    let arguments = [
        "compare",
        "--old",
        works,
        "--new",
        "eligible_time",
        "--format",
        "json",
    ];
    let document = json(&jsf(&[&arguments, &site[..]].concat()));
    let first = document["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .filter(|job| job["new_rank"].as_u64().is_some_and(|rank| rank <= 10));
    let without_shares = first.filter(|job| job["entity"] == "bwallace").count();
    assert_eq!(
        document["fairness"]["new"]["without_shares"],
        without_shares
    );
    assert_eq!(document["fairness"]["old"]["without_shares"], 0);
}

#[test]
fn errors_and_ties_are_counted() {
    let arguments = [
        "compare",
        "--old",
        "1 / (ncpus - 48)",
        "--new",
        "5",
        "--site",
        "examples/site",
    ];
    let text = success(&jsf(&[&arguments[..], &["--full"]].concat()));
    let document = json(&jsf(&[&arguments[..], &["--format", "json"]].concat()));
    let summary = &document["summary"];
    let evaluated = summary["evaluated"]["new"].as_u64().expect("a number");
    let waiting = summary["considered"]["new"].as_u64().expect("a number");
    assert!(evaluated > waiting && waiting > 0);
    // under a constant, each job ties with the next one
    assert_eq!(summary["ties"]["new"], waiting - 1);
    let mut scores: Vec<f64> = document["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| job["old_score"].as_f64().unwrap())
        .collect();
    scores.sort_by(f64::total_cmp);
    let ties = scores.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!(ties > 0 && summary["ties"]["old"] == ties, "{summary}");
    let ties = format!("; ties {ties} → {}", waiting - 1);
    assert!(fact(&text, "moves").ends_with(&ties), "{text}");
    assert!(summary["errors"]["old"].as_u64() > Some(0) && summary["errors"]["new"] == 0);
}

#[test]
fn the_findings_say_whose_they_are() {
    let findings = |old: &str, new: &str| {
        stdout(&jsf(&[
            "compare",
            "--full",
            "--old",
            old,
            "--new",
            new,
            "--site",
            "examples/site",
            "--color",
            "never",
        ]))
    };
    // the old formula fails for some jobs, the new one has a name that nothing has
    let text = findings("1 / (ncpus - 48)", "eligible_tme");
    let place = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("`{part}` is missing: {text}"))
    };
    let places = [
        "findings: old formula",
        "--> --old:",
        "findings: new formula",
    ];
    let places = [
        place(places[0]),
        place(places[1]),
        place(places[2]),
        place("--> --new:"),
    ];
    assert!(places.is_sorted(), "{text}");
    assert!(text.rfind("--> --old:") < Some(places[2]), "{text}");
    // a formula without findings has no heading, and one formula has no sides
    assert!(!findings("1 / (ncpus - 48)", "ncpus").contains("findings: new formula"));
    let same = findings("1 / (ncpus - 48)", "1 / (ncpus - 48)");
    assert!(
        same.contains("-->") && !same.contains("findings: "),
        "{same}"
    );
}

/// A formula for each verdict, the worst last, with words that its sentence contains.
const VERDICTS: [(&str, &str); 6] = [
    ("fairshare_factor", ""),
    ("5", "orders nothing: all 33 jobs have the same value."),
    (
        "1 / (ncpus - 48)",
        "fails for 1 of 44 jobs (division by zero), which counts 0, and can crash the scheduler at its next start.",
    ),
    (
        "1 / 0",
        "fails for all 44 jobs (division by zero) and would crash the scheduler at its next start.",
    ),
    ("(0 - ncpus)**0.5", "crashes the scheduler: "),
    (
        "eligible_tme",
        "`eligible_tme` is not a known resource, function or constant.",
    ),
];

#[test]
fn the_headline_has_the_worst_of_each_side() {
    let headline = |old: &str, new: &str| {
        let text = stdout(&jsf(&[
            "compare",
            "--old",
            old,
            "--new",
            new,
            "--site",
            "examples/site",
        ]));
        text.lines().next().expect("a headline").to_owned()
    };
    for (old, (old_formula, of_old)) in VERDICTS.iter().enumerate() {
        for (new, (new_formula, of_new)) in
            VERDICTS.iter().enumerate().filter(|(new, _)| *new != old)
        {
            let text = headline(old_formula, new_formula);
            let begins = match new {
                0 => "",
                5 => "qmgr refuses the new formula: ",
                _ => "The new formula ",
            };
            assert!(
                text.starts_with(begins) && text.contains(of_new),
                "{old_formula}, {new_formula}: {text}"
            );
            // the new formula is what is asked about; of the old one it counts only if it orders
            // nothing at all
            let has_old = text.contains("the old formula") || text.contains("The old formula");
            assert_eq!(has_old, old >= 3, "{old_formula}, {new_formula}: {text}");
            assert!(
                old < 3 || text.contains(of_old),
                "{old_formula}, {new_formula}: {text}"
            );
            let has_effect = text.contains(" of 33 jobs moved");
            assert_eq!(
                has_effect,
                old < 3 && new < 3,
                "{old_formula}, {new_formula}: {text}"
            );
        }
    }
}

#[test]
fn check_rank_and_compare_say_the_same_verdict() {
    for (formula, words) in VERDICTS {
        for arguments in [
            &["check", formula][..],
            &["rank", formula],
            &["compare", "--new", formula],
        ] {
            let text = stdout(&jsf(&[arguments, &["--site", "examples/site"]].concat()));
            let headline = text.lines().next().expect("a headline");
            // qmgr's answer to an unknown name is the server's
            let is_answer = arguments[0] == "check" && formula == "eligible_tme";
            assert!(
                is_answer || headline.contains(words),
                "{arguments:?}: {headline}"
            );
        }
    }
}

#[test]
fn what_decides_each_side_is_what_decides_its_ranking() {
    let old = "fairshare_factor * 100 + ncpus / 10";
    let site = ["--site", "examples/site"];
    let flat = r#"{"children":[{"name":"jsolberg","shares":1,"usage":5},{"name":"lnovak","shares":3,"usage":1}]}"#;
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree.json");
    std::fs::write(&tree, flat).expect("written");
    let tree = tree.to_str().expect("UTF-8");
    for (new, more) in [
        ("ncpus", &[][..]),
        ("ncpus", &["--new-tree", tree]),
        (old, &["--new-tree", tree]),
    ] {
        let arguments = [
            &["compare", "--old", old, "--new", new, "--format", "json"],
            &site[..],
            more,
        ]
        .concat();
        let compared = json(&jsf(&arguments));
        let ranked = |formula: &str, more: &[&str]| {
            json(&jsf(&[
                &["rank", formula, "--format", "json"],
                &site[..],
                more,
            ]
            .concat()))["decides"]
                .clone()
        };
        assert_eq!(compared["decides"]["old"], ranked(old, &[]), "{more:?}");
        assert_eq!(compared["decides"]["old"].as_array().map(Vec::len), Some(2));
        let tree = if more.is_empty() {
            vec![]
        } else {
            vec!["--tree", tree]
        };
        assert_eq!(compared["decides"]["new"], ranked(new, &tree), "{more:?}");
    }
}

#[test]
fn the_headline_names_those_with_three_jobs() {
    // the old order is that of the letters, the new one that of the numbers
    let compared = |jobs: &[(&str, i32)], format: &str| {
        let line = |(row, (entity, new)): (usize, &(&str, i32))| {
            let old = 100 - row;
            format!(
                "{{\"id\":\"{row}\",\"entity\":\"{entity}\",\"inputs\":{{\"x\":{old},\"y\":{new}}}}}\n"
            )
        };
        let jobs: String = jobs.iter().enumerate().map(line).collect();
        let arguments = [
            "compare", "--old", "x", "--new", "y", "--queue", "-", "--format", format,
        ];
        let output = jsf_with_input(&arguments, &jobs);
        success(&output).replace('\n', " ")
    };
    let three = [
        ("ada", 50),
        ("ada", 49),
        ("ada", 48),
        ("bob", 60),
        ("bob", 59),
        ("bob", 58),
    ];
    let of_three = "Of those with 3 jobs or more `bob` gains most (mean place 5 → 2), `ada` loses most (mean place 2 → 5).";
    for format in ["human", "markdown"] {
        assert!(compared(&three, format).contains(of_three), "{format}");
    }
    // `cy` loses 7 places, `dot` gains 7
    let text = compared(
        &[&[("cy", 1)][..], &three, &[("dot", 99)]].concat(),
        "human",
    );
    let of_three = "Of those with 3 jobs or more `bob` gains most (mean place 6 → 3), `ada` loses most (mean place 3 → 6).";
    assert!(text.contains(of_three), "{text}");
    let text = compared(&[("ada", 1), ("bob", 2)], "human");
    assert!(
        text.contains("2 of 2 jobs moved.") && !text.contains("most ("),
        "{text}"
    );
}
