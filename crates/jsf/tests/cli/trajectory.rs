//! `jsf trajectory`: the ranks against those of JSON, and what is said if no job can be followed.

use jsf::answers::{Answer, Format, Warnings, write_json};
use jsf::asked_formula::AskedFormula;
use jsf::commands::trajectory::TrajectoryAnswer;
use jsf::commands::trajectory::TrajectoryQuestion;
use jsf::csv::CsvText;
use jsf::questions::named_jobs::NamedJobs;
use jsf::view::document::terminal::TerminalStyle;
use jsf_site::{FileSource, FormulaText, Role, Site, SiteFiles, SiteOptions};
use serde_json::Value;

use crate::command::{jsf, json, stderr, stdout, success};

const SITE: [&str; 2] = ["--site", "examples/site"];

#[test]
fn the_ranks_over_time_are_those_of_json() {
    let formula = "eligible_time / 3600 + ncpus * eligible_time / 1e5";
    let command = [
        "trajectory",
        formula,
        "--job",
        "184598,184127",
        "--hours",
        "168",
    ];
    let text = success(&jsf(&[&command[..], &SITE, &["--full"]].concat()));
    let document = json(&jsf(&[&command[..], &SITE, &["--format", "json"]].concat()));
    let (_, table) = text.split_once("\nranks over time\n").expect("a table");
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(rows.len(), 13, "{text}");
    for (row, point) in rows.iter().zip((0..).step_by(5)) {
        let ranks = document["jobs"].as_array().expect("jobs").iter();
        let ranks = ranks.map(|job| job["points"][point]["rank"].to_string());
        let shown = row.split_whitespace().rev().take(2).collect::<Vec<_>>();
        assert!(ranks.rev().eq(shown), "{row}");
    }
}

#[test]
fn what_is_not_searched_is_told_from_what_is_not_considered() {
    let jobs: String = (1..=60)
        .map(|id| {
            format!(
                "{{\"id\":\"{id}\",\"eligible_time\":{},\"resources\":{{\"ncpus\":{id}}}}}\n",
                id * 977
            )
        })
        .collect();
    let formula = "sin(eligible_time * eligible_time * ncpus) * (eligible_time * 7919 % 10007)";
    let queue = FileSource::Bytes {
        name: "jobs".into(),
        bytes: jobs.into_bytes().into(),
    };
    let site = Site::from_files(
        SiteFiles::default().with(Role::Queue, queue),
        SiteOptions::default(),
    )
    .unwrap();
    let given = AskedFormula::new(FormulaText::new(formula).unwrap(), site.numbers());
    // enough for a part of the time
    let question = TrajectoryQuestion {
        jobs: NamedJobs {
            job: vec!["30".to_owned()],
        },
        hours: 8784 * 3600,
        work: Some(1 << 26),
    };
    let report = TrajectoryAnswer::new(&site, given, &question, &mut Warnings::default()).unwrap();
    let of = |format: &str| {
        let mut text = Vec::new();
        match format {
            "human" => TerminalStyle::default().write(&report.document(), &mut text),
            "json" => write_json(&report, &[], &mut text),
            "csv" => report.write_as(Format::Csv, CsvText::Plain, &mut text),
            _ => report.write_as(Format::Svg, CsvText::Plain, &mut text),
        }
        .unwrap();
        String::from_utf8(text).unwrap()
    };
    let human = of("human");
    assert!(!human.contains("not considered"), "{human}");
    assert!(
        human.contains("`30`: 9th of 60 now, ") && human.contains("takes more work than"),
        "{human}"
    );
    let document: Value = serde_json::from_str(&of("json")).expect("JSON");
    let job = &document["jobs"][0];
    let known_until = job["known_until"].as_i64().expect("a time");
    assert!(
        job["is_complete"] == false && known_until < 8784 * 3600,
        "{job}"
    );
    for point in job["points"].as_array().expect("points") {
        let is_known = point["wait"].as_i64().expect("a time") <= known_until;
        assert!(
            point["known"] == is_known && point["rank"].is_number() == is_known,
            "{point}"
        );
    }
    assert_eq!(job["points"].as_array().map(Vec::len), Some(61));
    let csv = of("csv");
    let unknown = csv.lines().filter(|line| line.ends_with(",,false")).count();
    let known = csv.lines().filter(|line| line.ends_with(",true")).count();
    assert!(unknown > 0 && known > 0 && unknown + known == 61, "{csv}");
    assert!(of("svg").contains(">30, known for "));
}

#[test]
fn nothing_is_printed_about_jobs_that_do_not_wait() {
    for format in ["human", "svg"] {
        let output = jsf(&[
            &["trajectory", "--job", "184769", "--format", format],
            &SITE[..],
        ]
        .concat());
        assert_eq!(
            (output.status.code(), &*stdout(&output)),
            (Some(0), ""),
            "{format}"
        );
        let warnings = stderr(&output);
        assert!(
            warnings.contains("`184769.kestrel` does not wait for the scheduler"),
            "{warnings}"
        );
        assert!(
            !warnings.contains("no wait changes the order"),
            "{warnings}"
        );
    }
    let output = jsf(&[
        &["trajectory", "--job", "184769", "--format", "json"],
        &SITE[..],
    ]
    .concat());
    assert_eq!(
        (output.status.code(), &json(&output)["jobs"]),
        (Some(0), &Value::Array(Vec::new()))
    );
}

#[test]
fn decimals_are_refused_as_in_an_explanation() {
    for command in ["trajectory", "explain"] {
        let output = jsf(&[
            &[command, "ncpus", "--job", "184598", "--numbers", "decimal"],
            &SITE[..],
        ]
        .concat());
        assert_eq!(
            (output.status.code(), &*stdout(&output)),
            (Some(2), ""),
            "{command}"
        );
        assert!(
            stderr(&output).contains("do not choose decimal numbers"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn hours_are_a_number_or_a_duration() {
    let seconds = |hours: &str| {
        let output = jsf(&[
            &[
                "trajectory",
                "ncpus",
                "--job",
                "184598",
                "--format",
                "json",
                "--hours",
                hours,
            ],
            &SITE[..],
        ]
        .concat());
        json(&output)["seconds"].as_i64()
    };
    assert_eq!(
        (seconds("168"), seconds("7d"), seconds("0.5")),
        (Some(604_800), Some(604_800), Some(1800))
    );
    for hours in ["soon", "-1", "10000"] {
        let output = jsf(&[
            &["trajectory", "ncpus", "--job", "184598", "--hours", hours],
            &SITE[..],
        ]
        .concat());
        assert_eq!(output.status.code(), Some(2), "{hours}");
        assert!(stderr(&output).contains("expected "), "{}", stderr(&output));
    }
}

#[test]
fn a_job_without_a_value_is_ranked_last_and_not_held_back() {
    let formula = "(1/0 if eligible_time < 200000 or ncpus == 64 else ncpus)";
    let command = ["trajectory", formula, "--job", "184598", "--hours", "48"];
    let options = ["--on-error", "null", "--format", "json"];
    let document = json(&jsf(&[&command[..], &SITE, &options].concat()));
    let ranks = &document["jobs"][0]["ranks"];
    assert!(!ranks.to_string().contains("null"), "{ranks}");
    assert_eq!(ranks[0]["rank"], 17);
}
