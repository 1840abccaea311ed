//! `jsf explain`, on the example site.

use jsf::answers::{Answer, Warnings, write_json};
use jsf::asked_formula::AskedFormula;
use jsf::commands::explain::ExplainAnswer;
use jsf::commands::explain::ExplainQuestion;
use jsf::questions::named_jobs::NamedJobs;
use jsf::view::document::terminal::TerminalStyle;
use jsf_site::{FormulaText, Site, SiteFiles, SiteOptions};
use serde_json::{Value, json};

use crate::command::{jsf, jsf_with_input, json, stderr, stdout, success};

const SITE: [&str; 2] = ["--site", "examples/site"];

fn explained(arguments: &[&str]) -> Value {
    let output = jsf(&[&["explain"], arguments, &SITE, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    json(&output)
}

#[test]
fn a_job_is_explained_as_json() {
    let document = explained(&["2*eligible_time/3600 - mem/1048576", "--job", "184598"]);
    let job = &document["jobs"][0];
    assert_eq!(document["formula"], "2*eligible_time/3600 - mem/1048576");
    assert_eq!(
        job["inputs"],
        json!([
            {"name": "eligible_time", "value": "93133", "unit": "s", "origin": "job"},
            {"name": "mem", "value": "251658240", "unit": "kb", "origin": "Resource_List"}
        ])
    );
    let texts: Vec<&str> = job["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "2",
            "2*eligible_time",
            "2*eligible_time/3600",
            "2*eligible_time/3600 - mem/1048576",
            "eligible_time",
            "3600",
            "mem",
            "mem/1048576",
            "1048576"
        ]
    );
    assert_eq!(
        job["terms"],
        json!([
            {"span": {"start": 0, "end": 20}, "text": "2*eligible_time/3600", "value": "51.74055555555555"},
            {"span": {"start": 23, "end": 34}, "text": "-(mem/1048576)", "value": "-240.0"}
        ])
    );
}

#[test]
fn jobs_without_a_value_are_not_equal_by_rounding() {
    let arguments = [
        "explain",
        "(ncpus, mem)",
        "--job",
        "184598",
        "--format",
        "json",
    ];
    let document = json(&jsf(&[&arguments, &SITE[..]].concat()));
    let near = document["jobs"][0]["above"].as_array().expect("jobs ahead");
    assert!(!near.is_empty());
    for job in near {
        assert_eq!(job["rounding"], Value::Null, "{job}");
    }
}

#[test]
fn an_unknown_job_is_a_usage_error() {
    let output = jsf(&[&["explain", "ncpus", "--job", "18459"], &SITE[..]].concat());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(
        stderr(&output).contains("no job is called `18459`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_origins_are_true_for_each_job() {
    let jobs = r#"{"jobs":[
        {"id":"1","entity":"Bob","queue":"workq","resources":{"ncpus":4},"queue_priority":7,"fairshare_factor":0.5},
        {"id":"2","entity":"Bob","queue":"express","inputs":{"ncpus":8,"fairshare_factor":0.25},"eligible_time":9},
        {"id":"3","entity":"Bob","queue":"express","resources":{"ncpus":1}}]}"#;
    let tree = r#"{"children":[{"name":"Bob","shares":50,"usage":100}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree.json");
    std::fs::write(&path, tree).unwrap();
    let formula = "ncpus + queue_priority + fairshare_factor + eligible_time";
    let output = jsf_with_input(
        &[
            "explain",
            formula,
            "--queue",
            "-",
            "--job",
            "1,2",
            "--job",
            "3",
            "--format",
            "json",
            "--queues",
            "examples/site/queues.json",
            "--tree",
            path.to_str().unwrap(),
        ],
        jobs,
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let origins: Vec<Vec<&str>> = document["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| {
            job["inputs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|input| input["origin"].as_str().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(
        origins,
        [
            ["Resource_List", "job", "job", "unset"],
            ["inputs", "queue", "inputs", "job"],
            ["Resource_List", "queue", "fair-share tree", "unset"]
        ]
    );
}

#[test]
fn a_failing_job_shows_the_guilty_part_and_the_others() {
    let document = explained(&["1/(ncpus - 1)", "--job", "184598"]);
    let ranked = success(&jsf(&[
        &["rank", "1/(ncpus - 1)", "--format", "json"],
        &SITE[..],
    ]
    .concat()));
    let ranked: Value = serde_json::from_str(&ranked).unwrap();
    let failing: Vec<&str> = ranked["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|job| !job["error"].is_null())
        .map(|job| job["id"].as_str().unwrap())
        .collect();
    let is_failing = failing.contains(&"184598.kestrel");
    assert_eq!(document["jobs"][0]["error"].is_null(), !is_failing);
    let failed = explained(&["1/(ncpus - 1)", "--job", failing[0]]);
    let job = &failed["jobs"][0];
    assert_eq!(
        (&job["error"]["kind"], &job["exact"]),
        (&json!("division by zero"), &Value::Null)
    );
    assert_eq!(job["same_error"]["count"], json!(failing.len() - 1));
    let text = success(&jsf(&[
        &["explain", "1/(ncpus - 1)", "--full", "--job", failing[0]],
        &SITE[..],
    ]
    .concat()));
    assert!(
        text.contains("`1/(ncpus - 1)` fails with \"division by zero\""),
        "{text}"
    );
}

/// The first line of an explanation.
fn answer(formula: &str, job: &str) -> String {
    let text = success(&jsf(
        &[&["explain", formula, "--job", job], &SITE[..]].concat()
    ));
    text.lines()
        .next()
        .and_then(|line| line.strip_suffix('.'))
        .unwrap()
        .to_owned()
}

#[test]
fn the_sentence_names_what_decides_against_the_jobs_just_ahead() {
    let priority = answer("queue_priority*10 - walltime/3600", "184434");
    assert!(
        priority.contains(
            "21st of 33: its `queue_priority` of 0 costs places against 1 of the 5 jobs just ahead"
        ),
        "{priority}"
    );
    let shares = answer(
        "fairshare_factor * 100 + eligible_time / 3600 + ncpus * 0.1",
        "184927",
    );
    assert!(
        shares
            .contains("the usage that counts for `rvasquez` is 2.51 times its share) costs places"),
        "{shares}"
    );
    assert!(answer("5", "184434").ends_with("is just behind by order of submission"));
    assert!(
        answer("5", "184769")
            .contains("is not considered: its state is W (waiting for its start time)")
    );
}

#[test]
fn a_rank_that_does_not_exist_is_a_usage_error() {
    let output = jsf(&[
        &["explain", "ncpus", "--job", "184598", "--to", "34"],
        &SITE[..],
    ]
    .concat());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(
        stderr(&output).ends_with("there is no rank 34, the last is 33\n"),
        "{}",
        stderr(&output)
    );
    for rank in ["0", "-1", "x", "4294967296"] {
        let output = jsf(&[
            &["explain", "ncpus", "--job", "184598", "--to", rank],
            &SITE[..],
        ]
        .concat());
        assert_eq!(output.status.code(), Some(2), "{rank}");
        let expected = "expected a rank of 1 or more, such as 5";
        assert!(
            stderr(&output).contains(expected),
            "{rank}: {}",
            stderr(&output)
        );
    }
    let never = success(&jsf(&[
        &["explain", "ncpus", "--job", "184598", "--to", "5"],
        &SITE[..],
    ]
    .concat()));
    let expected = "Waiting overtakes nobody, as the formula does not read `eligible_time`; it moves up when one of the 16 jobs ahead";
    assert!(never.contains(expected), "{never}");
}

#[test]
fn what_a_job_lacks_is_shown_where_no_single_input_gives_it() {
    let formula = "fairshare_factor * 100 + eligible_time / 3600";
    for (job, lacking, ahead) in [("184277", "310.7192", 6), ("184905", "368.1506", 23)] {
        let text = success(&jsf(&[
            &["explain", formula, "--job", job, "--to", "1"],
            &SITE[..],
        ]
        .concat()));
        let expected = format!(
            "\nrank 1 is `184103.kestrel` with 420.9681: {lacking} more are needed; no single input gives that \
             (more than is requested is not considered)\n"
        );
        assert!(text.contains(&expected), "{text}");
        let waiting = format!(
            "all jobs gain alike; it moves up when one of the {ahead} jobs ahead starts.\n"
        );
        assert!(text.contains(&waiting), "{text}");
    }
    let squared = "fairshare_factor * 100 + eligible_time * eligible_time";
    let text = success(&jsf(&[
        &["explain", squared, "--job", "184905", "--to", "1"],
        &SITE[..],
    ]
    .concat()));
    assert!(
        text.contains("\nit does not reach rank 1 by waiting, at least not within 30 d"),
        "{text}"
    );
}

#[test]
fn changes_to_values_that_no_job_can_have_are_left_out() {
    let formula = "(eligible_time / max(walltime, 1)) ** 3 * ncpus";
    let text = success(&jsf(&[
        &["explain", formula, "--job", "185055", "--to", "5"],
        &SITE[..],
    ]
    .concat()));
    assert!(
        text.contains("\nwalltime  1200               167  s     the user: ask for less, if the job needs no more\n"),
        "{text}"
    );
    assert!(!text.contains("\nncpus  "), "{text}");
    let text = success(&jsf(&[
        &["explain", "walltime", "--job", "185043", "--to", "1"],
        &SITE[..],
    ]
    .concat()));
    assert!(
        text.contains("; no single input gives that (more than is requested is not considered)\n"),
        "{text}"
    );
}

#[test]
fn fair_share_is_explained_by_usage_and_shares() {
    let formula = "fairshare_factor * 100 + eligible_time / 3600";
    let both = answer(formula, "184277");
    assert!(
        both.contains("its `eligible_time` of 3 d 19 h 27 min gains ")
            && both.contains("but its `fairshare_factor` of 0.188 (the usage that counts for `hlindqvist` is 2.41 times its share) costs "),
        "{both}"
    );
    let none = answer("fairshare_factor", "184127");
    assert!(none.contains("33rd of 33: its `fairshare_factor` of 0 (`bwallace` has no share) costs places against 5 of the 5"), "{none}");
    let site = ["explain", "--site", "examples/captured", "--job", "184927"];
    let captured = success(&jsf(&site));
    assert!(
        captured.contains("(the usage of `rvasquez` is unknown)"),
        "{captured}"
    );
}

/// Five users of three accounts, of which the best one has the worst account.
const TREE: &str = r#"{"children":[
    {"name":"phys","shares":50,"children":[{"name":"anna","shares":2,"usage":100},{"name":"ben","shares":1,"usage":600}]},
    {"name":"geo","shares":30,"children":[{"name":"cleo","shares":1,"usage":200},{"name":"dan","shares":1,"usage":50}]},
    {"name":"edu","shares":20,"children":[{"name":"eve","shares":1,"usage":50}]}]}"#;

/// The sentences about a job of each user of [`TREE`].
fn sentences(policy: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree.json");
    std::fs::write(&tree, TREE).unwrap();
    let users = ["anna", "ben", "cleo", "dan", "eve"];
    let jobs: String = users
        .iter()
        .map(|user| format!("{{\"id\":\"{user}\",\"entity\":\"{user}\"}}\n"))
        .collect();
    let arguments = [
        "explain",
        "fairshare_factor",
        "--queue",
        "-",
        "--tree",
        tree.to_str().unwrap(),
        "--policy",
        policy,
    ];
    let of_all = users
        .iter()
        .flat_map(|user| ["--job", user])
        .collect::<Vec<_>>();
    let output = jsf_with_input(
        &[&arguments[..], &of_all, &["--format", "json"]].concat(),
        &jobs,
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let sentence = |job: &Value| {
        job["sentence"]
            .as_str()
            .unwrap()
            .split_once(": ")
            .unwrap()
            .1
            .to_owned()
    };
    json(&output)["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(sentence)
        .collect()
}

#[test]
fn fair_tree_is_explained_by_the_levels_of_the_path() {
    let told = sentences("fair-tree");
    assert_eq!(
        told[0],
        "its `fairshare_factor` of 0.4 (level_fs 0.714 of `phys` and 4.67 of `anna`) costs places against 3 of the 3 jobs \
         just ahead (with that of `eve` it would be 1st)"
    );
    let geo = "its `fairshare_factor` of 0.6 (level_fs 1.2 of `geo` and 0.625 of `cleo`) costs ";
    assert!(told[2].starts_with(geo), "{}", told[2]);
}

/// `anna` has 10 % of the usage and two thirds of half of the shares, her account 70 % of the usage
/// and half of the shares.
#[test]
fn usage_and_shares_are_parts_of_the_same_whole() {
    let anna = |policy: &str| sentences(policy).swap_remove(0);
    assert!(
        anna("classic").contains("(the usage that counts for `anna` is 1.5 times its share)"),
        "{}",
        anna("classic")
    );
}

/// The formulas of the example files that the example site can rank.
fn example_formulas() -> Vec<String> {
    let files = std::fs::read_dir(jsf_testing::path("examples/formulas"))
        .expect("a folder")
        .map(|file| file.expect("a file").path());
    let texts = files.filter(|file| file.extension().is_some_and(|extension| extension == "txt"));
    texts
        .map(|file| {
            std::fs::read_to_string(file)
                .expect("a text")
                .trim()
                .to_owned()
        })
        .collect()
}

/// Calls `write` with the explanations of jobs of the example site, whose searches end soon.
fn with_report<T>(
    formula: &str,
    ids: &[&str],
    to: Option<usize>,
    work: u64,
    write: impl FnOnce(&ExplainAnswer<'_>) -> T,
) -> T {
    let site = Site::from_files(
        SiteFiles::open(&jsf_testing::path("examples/site")).unwrap(),
        SiteOptions::default(),
    )
    .unwrap();
    let given = AskedFormula::new(FormulaText::new(formula).unwrap(), site.numbers());
    let question = ExplainQuestion {
        jobs: NamedJobs {
            job: ids.iter().map(|&id| id.to_owned()).collect(),
        },
        to,
        work: Some(work),
        ..ExplainQuestion::default()
    };
    let answer = ExplainAnswer::new(&site, given, question, &mut Warnings::default());
    write(&answer.unwrap())
}

fn human(report: &ExplainAnswer<'_>, style: TerminalStyle) -> String {
    let mut text = Vec::new();
    style.write(&report.document(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn as_json(report: &ExplainAnswer<'_>) -> Value {
    let mut text = Vec::new();
    write_json(report, &[], &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Enough for the searches under most formulas.
const LITTLE_WORK: u64 = 1 << 24;

#[test]
fn no_line_is_wider_than_the_terminal() {
    let ids = ["184688", "184927", "184103", "184562[]"];
    let mut cut = 0;
    for formula in
        example_formulas()
            .iter()
            .chain([&vec!["(ncpus + eligible_time / 3600) * 2"; 60].join(" + ")])
    {
        let texts = with_report(formula, &ids, Some(3), LITTLE_WORK, |report| {
            let of = |width| {
                human(
                    report,
                    TerminalStyle {
                        table_width: width,
                        prose_width: width,
                        ..TerminalStyle::default()
                    },
                )
            };
            (
                [80, 100, 120].map(|width| (width, of(width))),
                human(report, TerminalStyle::default()),
            )
        });
        let (fitted, wide) = texts;
        for (width, text) in fitted {
            let widest = text
                .lines()
                .max_by_key(|line| line.chars().count())
                .unwrap();
            assert!(
                widest.chars().count() <= width,
                "{width}: {formula}\n{widest}"
            );
            cut += usize::from(text.contains(" … "));
        }
        assert!(
            formula.len() <= 400 || wide.contains(" … "),
            "{formula}: {wide}"
        );
    }
    assert!(cut > 3, "{cut}");
}

#[test]
fn what_a_user_can_honestly_change_comes_first_and_asking_for_more_is_not_among_it() {
    let (mut less, mut what_if) = (0, 0);
    let extra = [
        "100 / (1 + ncpus) + job_priority",
        "queue_priority - walltime / 3600 + fairshare_factor",
    ];
    for formula in example_formulas().iter().map(String::as_str).chain(extra) {
        let document = with_report(
            formula,
            &["184688", "184927", "185055", "184434"],
            None,
            LITTLE_WORK,
            as_json,
        );
        for job in document["jobs"].as_array().unwrap() {
            let changes = job["changes"].as_array().unwrap();
            let is_honest = |change: &&Value| change["means"] == "ask for less";
            let honest: Vec<&Value> = changes.iter().take_while(is_honest).collect();
            assert_eq!(
                honest.len(),
                changes.iter().filter(is_honest).count(),
                "{formula}: {changes:?}"
            );
            for change in &honest {
                let number = |key: &str| change[key].as_str().unwrap().parse::<f64>().unwrap();
                assert!(number("to") < number("from"), "{formula}: {change}");
            }
            for change in &changes[honest.len()..] {
                let name = change["name"].as_str().unwrap();
                let origin = job["inputs"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|input| input["name"] == *name)
                    .unwrap();
                assert_ne!(origin["origin"], "Resource_List", "{formula}: {change}");
                what_if += 1;
            }
            less += honest.len();
        }
    }
    assert!(
        less > 3 && what_if > 3,
        "{less} smaller requests, {what_if} others"
    );
}

#[test]
fn a_search_that_ended_early_is_told() {
    let (text, document) = with_report(
        "sin(eligible_time) ** 2 + cos(eligible_time) ** 2 + ncpus / 20000",
        &["184927"],
        Some(1),
        1 << 20,
        |report| (human(report, TerminalStyle::default()), as_json(report)),
    );
    assert!(
        text.contains("\nwhen it reaches rank 1 takes too long to find out"),
        "{text}"
    );
    assert!(
        text.contains("the searches for this job ended early"),
        "{text}"
    );
    let job = &document["jobs"][0];
    assert_eq!(
        (&job["is_complete"], &job["to"], &job["to_is_known"]),
        (&json!(false), &Value::Null, &json!(false))
    );
    let known = explained(&[
        "eligible_time / 3600 + ncpus",
        "--job",
        "184927",
        "--to",
        "1",
    ]);
    assert_eq!(known["jobs"][0]["is_complete"], json!(true));
}

/// The lengths of an explanation for people and as JSON.
fn lengths(formula: &str) -> [usize; 2] {
    with_report(formula, &["184927"], Some(1), 1 << 20, |report| {
        [
            human(report, TerminalStyle::default()).len(),
            as_json(report).to_string().len(),
        ]
    })
}

#[test]
fn an_explanation_grows_with_its_formula() {
    let sum = |terms: usize| {
        (0..terms)
            .map(|term| format!("(ncpus + {term}) * mem"))
            .collect::<Vec<_>>()
            .join(" + ")
    };
    let signs = |signs: usize| "-".repeat(signs) + "ncpus";
    let powers = |terms: usize| vec!["(3 + ncpus) ** 20000 % 7"; terms].join(" + ");
    let shapes: [(&dyn Fn(usize) -> String, usize); 3] =
        [(&sum, 300), (&signs, 1400), (&powers, 60)];
    for (formula, size) in shapes {
        let (one, two) = (lengths(&formula(size)), lengths(&formula(2 * size)));
        for (one, two) in one.into_iter().zip(two) {
            assert!(two < one * 5 / 2, "{}: {one} and {two} bytes", formula(2));
        }
    }
}

#[test]
fn what_was_not_considered_is_told_where_no_change_gives_a_rank() {
    let formula = "fairshare_factor*200 + eligible_time/3600 + 50*ncpus/4096 + 2*ngpus";
    let text = stdout(&jsf(&[
        "explain",
        formula,
        "--site",
        "examples/site",
        "--job",
        "184208",
    ]));
    assert!(
        text.contains("(more than is requested is not considered)"),
        "{text}"
    );
    let failed = stdout(&jsf(&[
        "explain",
        "--site",
        "examples/site",
        "--job",
        "184127",
    ]));
    assert!(
        failed.contains("fails with \"float division by zero\", so its value is 0"),
        "{failed}"
    );
}

#[test]
fn only_queues_whose_priority_gives_the_rank_are_advised() {
    let call = |formula: &str, job: &str| {
        let arguments = [
            "explain",
            formula,
            "--site",
            "examples/site",
            "--job",
            job,
            "--format",
            "json",
        ];
        let explained = json(&jsf(&arguments));
        let changes = explained["jobs"][0]["changes"]
            .as_array()
            .expect("changes")
            .clone();
        changes
            .into_iter()
            .find(|change| change["name"] == "queue_priority")
            .expect("a change")
    };
    let reached = call("queue_priority + fairshare_factor*10", "184277");
    assert_eq!(reached["means"], "another queue");
    assert_eq!(
        reached["queues"],
        json!(["debug", "express", "gpu", "large"])
    );
    // no queue has as much as the formula asks for
    let out_of_reach = call("queue_priority/1000 + fairshare_factor*10", "184277");
    assert_eq!(
        (&out_of_reach["means"], &out_of_reach["queues"]),
        (&json!("what if"), &json!([]))
    );
}

#[test]
fn effects_that_are_no_numbers_count_as_gains() {
    let mut queue = String::new();
    for index in 0..12 {
        let ncpus = if index < 7 { index + 1 } else { 0 };
        queue += &format!(
            "{{\"id\": \"{}.demo\", \"entity\": \"ada\", \"queue\": \"workq\", \"resources\": {{\"ncpus\": {ncpus}}}}}\n",
            100 + index
        );
    }
    let arguments = ["explain", "ncpus*1e308*10", "--queue", "-", "--job", "104"];
    let output = jsf_with_input(&arguments, &queue);
    let text = stdout(&output);
    assert!(
        text.contains("against 5 of the 5 jobs just behind"),
        "{text}"
    );
}
