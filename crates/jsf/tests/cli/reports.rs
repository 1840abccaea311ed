//! `--report`: pages whose numbers are those of the JSON format, and in which text from outside
//! stays text.

use std::fs;
use std::path::Path;

use jsf::view::document::page::GENERATOR;
use jsf::view::words::waiting_time;
use serde_json::{Value, json};

use crate::command::{jsf, jsf_with_input, json, stderr, success};

/// Runs a command, and returns its page and its JSON document.
#[track_caller]
fn page_and_json(arguments: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    let page = path.to_str().expect("UTF-8");
    let document = json(&jsf(
        &[arguments, &["--format", "json", "--report", page]].concat()
    ));
    (fs::read_to_string(path).expect("a page"), document)
}

/// The rows of the first table whose caption begins so: for each cell its number, if it has one,
/// else its text.
#[track_caller]
fn rows(page: &str, caption: &str) -> Vec<Vec<String>> {
    let table = page
        .split(&format!("<caption>{caption}"))
        .nth(1)
        .unwrap_or_else(|| panic!("no table {caption}"));
    let body = table
        .split("<tbody>")
        .nth(1)
        .expect("a table")
        .split("</tbody>")
        .next()
        .expect("rows");
    let cell = |cell: &str| match cell.split("data-value=\"").nth(1) {
        Some(rest) => rest.split('"').next().unwrap_or_default().to_owned(),
        None => cell
            .split("<bdi>")
            .nth(1)
            .unwrap_or("")
            .split("</bdi>")
            .next()
            .unwrap_or("")
            .to_owned(),
    };
    let cells = |row: &str| row.split("<td").skip(1).map(cell).collect();
    body.split("<tr>").skip(1).map(cells).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) if text.is_empty() => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Compares the rows of a table with the objects of a list: the columns in `names` have the values
/// of these keys.
#[track_caller]
fn assert_equal(rows: &[Vec<String>], objects: &Value, names: &[(usize, &str)]) {
    let objects = objects.as_array().expect("a list");
    assert_eq!(rows.len(), objects.len());
    for (row, object) in rows.iter().zip(objects) {
        for &(column, name) in names {
            // read as the document was, since the test's reader does not give the nearest double
            let cell: Value =
                serde_json::from_str(&row[column]).unwrap_or_else(|_| json!(row[column]));
            let is_equal = match (cell.as_f64(), object[name].as_f64()) {
                (Some(cell), Some(number)) => cell == number,
                _ => cell == object[name] || row[column] == shown(&object[name]),
            };
            assert!(is_equal, "{name} of {object}: {cell}");
        }
    }
}

const SITE: [&str; 2] = ["--site", "examples/site"];
const FORMULA: &str = "100 * fairshare_factor + eligible_time / 3600 - 3 * ncpus";

#[test]
fn the_numbers_of_a_ranking_are_those_of_json() {
    let (page, document) = page_and_json(&[&["rank", FORMULA], &SITE[..]].concat());
    let names = [
        (0, "rank"),
        (1, "id"),
        (2, "entity"),
        (3, "queue"),
        (4, "state"),
        (5, "score"),
    ];
    assert_equal(&rows(&page, "Jobs"), &document["jobs"], &names);
    let entities = rows(&page, "Entities");
    let of = |name: &str| {
        document["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|job| job["entity"] == *name)
            .collect::<Vec<_>>()
    };
    for row in entities {
        let ranks: Vec<f64> = of(&row[0])
            .iter()
            .filter_map(|job| job["rank"].as_f64())
            .collect();
        assert_eq!(row[1], ranks.len().to_string(), "{row:?}");
        if !ranks.is_empty() {
            assert_eq!(
                row[2].parse(),
                Ok(ranks.iter().sum::<f64>() / ranks.len() as f64),
                "{row:?}"
            );
        }
    }
}

/// The charts of a layout.
fn figures(page: &str, layout: &str) -> String {
    let charts = page
        .split("<figure ")
        .skip(1)
        .filter_map(|chart| chart.split("</figure>").next());
    charts
        .filter(|chart| chart.contains(&format!("class=\"{layout}\"")))
        .collect()
}

/// The number of charts; one that a narrow screen shows in another layout is counted once.
fn charts(page: &str) -> usize {
    page.matches("<figure ").count() - page.matches("class=\"narrow\"").count()
}

#[test]
fn the_numbers_of_a_comparison_are_those_of_json() {
    let (page, document) = page_and_json(&[&["compare", "--new", FORMULA], &SITE[..]].concat());
    let mut jobs = document["jobs"].as_array().expect("jobs").clone();
    let mut listed = rows(&page, "Jobs");
    jobs.sort_by_key(|job| job["id"].to_string());
    listed.sort_by_key(|row| json!(row[0]).to_string());
    let names = [
        (0, "id"),
        (1, "entity"),
        (3, "old_rank"),
        (4, "new_rank"),
        (5, "moved"),
        (6, "old_score"),
        (7, "new_score"),
    ];
    assert_equal(&listed, &json!(jobs), &names);
    let mut entities = document["entities"].as_array().expect("entities").clone();
    for entity in &mut entities {
        let [won, jobs] = ["won", "jobs"].map(|key| entity[key].as_f64().expect("a number"));
        entity["gained"] = json!(won / jobs);
    }
    assert!(entities.is_sorted_by_key(|entity| -entity["gained"].as_f64().expect("a number")));
    let names = [
        (0, "name"),
        (1, "jobs"),
        (2, "old_mean_rank"),
        (3, "new_mean_rank"),
        (4, "gained"),
        (7, "perc"),
    ];
    assert_equal(&rows(&page, "Entities"), &json!(entities), &names);
    // the slopes and the shares; the formulas share too little for marks
    assert!(charts(&page) == 2 && !page.contains("<del>") && !page.contains("<ins>"));
    let (page, _) = page_and_json(
        &[
            &[
                "compare",
                "--old",
                "ncpus + eligible_time",
                "--new",
                "ncpus",
            ],
            &SITE[..],
        ]
        .concat(),
    );
    assert!(page.contains("<del> + eligible_time</del>") && !page.contains("<ins>"));
}

#[test]
fn the_numbers_of_shares_are_those_of_json() {
    let (page, document) = page_and_json(&[&["shares"], &SITE[..]].concat());
    // the part of the usage is not in JSON
    let names = [
        (0, "name"),
        (2, "shares"),
        (3, "perc"),
        (4, "usage"),
        (5, "tree_usage"),
        (6, "factor"),
    ];
    assert_equal(&rows(&page, "Shares"), &document["nodes"], &names);
}

#[test]
fn the_numbers_of_an_explanation_are_those_of_json() {
    let (page, document) =
        page_and_json(&[&["explain", FORMULA, "--job", "184127"], &SITE[..]].concat());
    let job = &document["jobs"][0];
    let inputs = job["inputs"].as_array().expect("a list");
    for (row, object) in rows(&page, "Inputs").iter().zip(inputs) {
        assert_eq!(
            row[1].parse::<f64>().ok(),
            object["value"].as_str().unwrap().parse().ok(),
            "{object}"
        );
    }
    let sentence = job["sentence"].as_str().expect("a sentence");
    let headline = page
        .split("<h1>")
        .nth(1)
        .and_then(|rest| rest.split("</h1>").next())
        .expect("a headline");
    // names are marked in place of the back-ticks
    let headline = headline
        .replace("<code dir=\"auto\">", "`")
        .replace("</code>", "`");
    assert_eq!(headline, format!("{sentence}."));
}

const SIMULATION: [&str; 6] = [
    "--site",
    "examples/site",
    "--workload",
    "examples/site/accounting.gz",
    "--processors",
    "256",
];

/// Whether a cell has a number; the test's reader of JSON does not give the nearest double.
fn is_close(cell: &str, number: f64) -> bool {
    cell.parse::<f64>()
        .is_ok_and(|cell| (cell - number).abs() <= 1e-12 * number.abs().max(1.0))
}

/// Compares numbers of the rows of a table with those at pointers into the objects of a list.
#[track_caller]
fn assert_numbers<'v>(
    rows: &[Vec<String>],
    objects: impl Iterator<Item = &'v Value>,
    pointers: &[(usize, &str)],
) {
    let objects: Vec<&Value> = objects.collect();
    assert_eq!(rows.len(), objects.len());
    for (row, object) in rows.iter().zip(objects) {
        for &(column, pointer) in pointers {
            let value = object
                .pointer(pointer)
                .unwrap_or_else(|| panic!("{pointer} of {object}"));
            match value {
                Value::Number(number) => {
                    let is_equal = number
                        .as_f64()
                        .is_some_and(|number| is_close(&row[column], number));
                    assert!(is_equal, "{pointer} of {object}: {row:?}");
                }
                other => assert_eq!(row[column], shown(other), "{pointer} of {object}"),
            }
        }
    }
}

fn list<'v>(document: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    document
        .pointer(pointer)
        .and_then(Value::as_array)
        .unwrap_or_else(|| panic!("a list {pointer}"))
        .iter()
}

/// The interval of a change of waits; a dash without one. What is more than chance is beyond 0.
fn interval(change: &Value) -> String {
    let [Some(low), Some(high)] = ["low", "high"].map(|bound| change[bound].as_f64()) else {
        return "–".to_owned();
    };
    let is_beyond_chance = low > 0.0 || high < 0.0;
    assert!(
        change["significant"] == false || is_beyond_chance,
        "{change}"
    );
    format!("{} to {}", in_words(low), in_words(high))
}

/// The end of an interval of times, with its sign: two units if there are fewer than five of the
/// larger one, which is an hour or a day.
fn in_words(seconds: f64) -> String {
    let sign = match seconds.round() {
        0.0 => return "0".to_owned(),
        rounded if rounded > 0.0 => '+',
        _ => '-',
    };
    let unit = match seconds.abs() {
        ..60.0 => 1.0,
        ..18_000.0 => 60.0,
        ..432_000.0 => 3600.0,
        _ => 86_400.0,
    };
    format!(
        "{sign}{}",
        waiting_time(((seconds.abs() / unit).round() * unit) as i64)
    )
}

#[test]
fn the_numbers_of_two_simulations_are_those_of_json() {
    let (page, document) =
        page_and_json(&[&["simulate", "--new", FORMULA], &SIMULATION[..]].concat());
    let changes = [
        (0, "/name"),
        (1, "/jobs"),
        (2, "/core_seconds"),
        (3, "/mean_wait/old"),
        (4, "/mean_wait/new"),
        (5, "/mean_wait/difference"),
        (7, "/median_wait/new"),
        (8, "/p95_wait/new"),
        (9, "/within_hour/new"),
    ];
    let tables = [
        ("Entities", "entities"),
        ("Groups", "groups"),
        ("Queues", "queues"),
        ("Processors", "sizes"),
        ("Run times of the jobs", "lengths"),
    ];
    for (heading, key) in tables {
        let listed = rows(&page, heading);
        assert_numbers(
            &listed,
            list(&document, &format!("/difference/{key}")),
            &changes,
        );
        for (row, group) in listed
            .iter()
            .zip(list(&document, &format!("/difference/{key}")))
        {
            assert_eq!(row[6].trim_end(), interval(&group["mean_wait"]), "{row:?}");
        }
    }
    let summary = rows(&page, "All jobs");
    let keys = [
        "wait/mean",
        "mean_wait_per_core_hour",
        "waited_over_1_d",
        "waited_over_7_d",
        "wait/max",
        "started_within_a_minute",
        "started_within_an_hour",
        "wait/median",
        "wait/p95",
        "bounded_slowdown/mean",
        "utilisation",
        "mean_queue",
        "makespan",
        "jobs",
    ];
    for (row, key) in [
        (&summary[0], "mean_wait"),
        (&summary[1], "mean_wait_per_core_hour"),
    ] {
        assert_eq!(
            row[4].trim_end(),
            interval(&document["difference"][key]),
            "{row:?}"
        );
    }
    for (row, key) in summary.iter().zip(keys) {
        let [old, new] = ["old", "new"].map(|side| {
            document
                .pointer(&format!("/{side}/summary/{key}"))
                .unwrap()
                .as_f64()
                .unwrap()
        });
        assert!(
            is_close(&row[1], old) && is_close(&row[2], new) && is_close(&row[3], new - old),
            "{row:?} {key}"
        );
    }
    let shares = rows(&page, "Use against shares");
    let uses = [
        (0, "/name"),
        (1, "/perc"),
        (2, "/promised_core_seconds"),
        (3, "/core_seconds"),
        (4, "/used_of_promised"),
    ];
    let by_row = |side: &str| -> Vec<Value> {
        let entity = |row: &Vec<String>| {
            list(&document, side)
                .find(|entity| entity["name"] == row[0].as_str())
                .expect("an entity")
                .clone()
        };
        shares.iter().map(entity).collect()
    };
    assert_numbers(&shares, by_row("/old/entities").iter(), &uses);
    let uses = [
        (5, "/promised_core_seconds"),
        (6, "/core_seconds"),
        (7, "/used_of_promised"),
    ];
    assert_numbers(&shares, by_row("/new/entities").iter(), &uses);
    let starts = |side: &str| -> std::collections::HashMap<String, (f64, f64)> {
        let wait = |job: &Value| {
            let [submit, start] = ["submit", "start"].map(|key| job[key].as_f64().expect("a time"));
            (
                job["id"].as_str().expect("an id").to_owned(),
                (submit, start - submit),
            )
        };
        list(&document, &format!("/{side}/jobs"))
            .map(wait)
            .collect()
    };
    let (old, new) = (starts("old"), starts("new"));
    let jobs = rows(&page, "Jobs");
    assert!(jobs.len() == 1000 && page.contains("Left out: 7367 rows"));
    for row in &jobs {
        let ((submit, wait), (_, new_wait)) = (old[&row[0]], new[&row[0]]);
        let numbers: Vec<f64> = row[4..8]
            .iter()
            .map(|number| number.parse().unwrap())
            .collect();
        assert_eq!(
            numbers,
            [submit, wait, new_wait, new_wait - wait],
            "{row:?}"
        );
    }
    // a mark for all jobs and for each class, and where half and 95 % of the jobs of a class start
    // on either side
    let classes: Vec<usize> = tables
        .iter()
        .map(|(_, key)| list(&document, &format!("/difference/{key}")).count())
        .collect();
    let kinds = ["up\"><title>", "down\"><title>"];
    for layout in ["wide", "narrow"] {
        let drawn = figures(&page, layout);
        let marks: usize = kinds.iter().map(|kind| drawn.matches(kind).count()).sum();
        assert_eq!(
            marks,
            classes.iter().map(|count| count + 1).sum::<usize>(),
            "{layout}"
        );
        assert_eq!(
            drawn.matches(": half of the jobs wait up to ").count(),
            2 * classes.iter().sum::<usize>()
        );
    }
    assert_eq!(charts(&page), 2 * classes.len() + 2);
    for (_, key) in tables {
        for group in list(&document, &format!("/difference/{key}")) {
            for side in ["old", "new"] {
                let of_side = list(&document, &format!("/{side}/{key}"))
                    .find(|other| other["name"] == group["name"]);
                let of_side = of_side.expect("a group");
                assert_eq!(of_side["median_wait"], of_side["wait"]["median"]);
                for number in ["median_wait", "p95_wait", "within_hour"] {
                    assert_eq!(group[number][side], of_side[number], "{number}: {group}");
                }
            }
        }
    }
}

#[test]
fn the_numbers_of_a_simulation_are_those_of_json() {
    let (page, document) =
        page_and_json(&[&["simulate", FORMULA, "--validate"], &SIMULATION[..]].concat());
    let numbers = [
        (0, "/name"),
        (1, "/jobs"),
        (2, "/core_seconds"),
        (3, "/mean_wait"),
        (4, "/wait/median"),
        (5, "/wait/p95"),
        (6, "/within_hour"),
        (7, "/wait/max"),
        (8, "/mean_bounded_slowdown"),
    ];
    for (heading, key) in [
        ("Entities", "/entities"),
        ("Queues", "/queues"),
        ("Run times of the jobs", "/lengths"),
    ] {
        let mut groups: Vec<&Value> = list(&document, key).collect();
        if key != "/lengths" {
            groups.sort_by(|one, other| {
                other["mean_wait"]
                    .as_f64()
                    .partial_cmp(&one["mean_wait"].as_f64())
                    .expect("numbers")
            });
        }
        assert_numbers(&rows(&page, heading), groups.into_iter(), &numbers);
    }
    let mean = document["summary"]["wait"]["mean"]
        .as_f64()
        .expect("a number");
    assert!(is_close(&rows(&page, "All jobs")[0][1], mean));
    assert!(page.contains("against the log") && charts(&page) == 7);
}

#[test]
fn text_from_outside_stays_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let hostile = [
        "</script><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "</title></style><b>",
        "\u{202e}\u{1b}]0;title\u{7}",
        "{{ 7 * 7 }}{% raw %}",
    ];
    let long = "x".repeat(4096);
    let names: Vec<&str> = hostile.into_iter().chain([&*long]).collect();
    let job = |(index, name): (usize, &&str)| {
        json!({"id": format!("{index}{name}").chars().take(4000).collect::<String>(), "entity": name, "queue": name,
            "resources": {"ncpus": index}, "eligible_time": 60 * index})
    };
    let jobs: Vec<Value> = names.iter().enumerate().map(job).collect();
    let children: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "shares": 1, "usage": 10}))
        .collect();
    let write = |name: &str, document: &Value| {
        let path = folder.path().join(name);
        fs::write(&path, document.to_string()).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let queue = write("queue.json", &json!({"jobs": jobs}));
    let tree = write(
        "tree.json",
        &json!({"unknown_shares": 0, "children": children}),
    );
    let page_path = folder.path().join("page.html");
    let page_name = page_path.to_str().expect("UTF-8");
    let logged = |(index, name): (usize, &&str)| {
        json!({"id": format!("{index}{name}").chars().take(4000).collect::<String>(), "entity": name, "queue": name,
            "group": name, "submit": index, "run": 60, "resources": {"ncpus": 1}})
        .to_string()
            + "\n"
    };
    let log = folder.path().join("log.ndjson");
    fs::write(
        &log,
        names.iter().enumerate().map(logged).collect::<String>(),
    )
    .expect("written");
    let log = log.to_str().expect("UTF-8");
    let context = ["--queue", &queue, "--tree", &tree];
    let first_id = jobs[0]["id"].as_str().expect("an id");
    let simulated = ["--workload", log, "--processors", "2", "--tree", &tree];
    for (arguments, context) in [
        (
            &["rank", "ncpus + fairshare_factor", "--inputs"][..],
            &context[..],
        ),
        (
            &[
                "compare",
                "--old",
                "ncpus",
                "--new",
                "eligible_time / (ncpus - 1)",
            ],
            &context,
        ),
        (
            &["explain", "ncpus + fairshare_factor", "--job", first_id],
            &context,
        ),
        (&["shares"], &context),
        (&["simulate", "fairshare_factor"], &simulated),
        (
            &[
                "simulate",
                "--old",
                "fairshare_factor",
                "--new",
                "-eligible_time / (ncpus + 1)",
            ],
            &simulated,
        ),
    ] {
        success(&jsf(
            &[arguments, context, &["--report", page_name]].concat()
        ));
        let page = fs::read_to_string(&page_path).expect("a page");
        for (tag, count) in [
            ("<script", 1),
            ("</script", 1),
            ("<style", 1),
            ("<img", 0),
            ("<b>", 0),
            ("</style", 1),
        ] {
            assert_eq!(page.matches(tag).count(), count, "{tag} in {arguments:?}");
        }
        assert!(
            !page.contains(['\u{202e}', '\u{1b}', '\u{7}']) && !page.contains("onmouseover='"),
            "{arguments:?}"
        );
        assert!(
            page.contains("&lt;img src=x onerror=alert(1)&gt;"),
            "{arguments:?}"
        );
    }
}

/// Standard input can be read once, and the page shows the fair-share tree beside the jobs.
#[test]
fn a_page_is_made_of_jobs_from_standard_input() {
    let queue = fs::read_to_string(format!("{}/examples/site/qstat.json", jsf_testing::ROOT));
    let queue = queue.expect("the jobs");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    let page = path.to_str().expect("UTF-8");
    for command in [
        &["rank", "fairshare_factor"][..],
        &["compare", "--old", "ncpus", "--new", "eligible_time"],
    ] {
        let site = [
            "--queue",
            "-",
            "--sched-priv",
            "examples/site/sched_priv",
            "--report",
            page,
        ];
        success(&jsf_with_input(&[command, &site].concat(), &queue));
        let written = fs::read_to_string(&path).expect("a page");
        assert!(written.contains("The tree as a table"), "{command:?}");
    }
}

/// What is found by the values of the jobs is no finding about the text alone.
#[test]
fn the_page_of_a_ranking_has_all_findings() {
    let (page, _) = page_and_json(&[&["rank", "ncpus * 0"], &SITE[..]].concat());
    assert!(page.contains("JSF607"), "{page}");
}

#[test]
fn a_page_loads_nothing() {
    let (page, _) = page_and_json(&[&["compare", "--new", FORMULA], &SITE[..]].concat());
    assert!(
        page.contains("content=\"default-src &#x27;none&#x27;; style-src &#x27;sha256-")
            && !page.contains(" style=\"")
    );
    // the links are to its own sections
    assert_eq!(
        page.matches("href=").count(),
        page.matches("href=\"#section-").count()
    );
    for loader in [
        "src=",
        "url(",
        "@import",
        "http:",
        "https:",
        "fetch(",
        "XMLHttpRequest",
    ] {
        assert!(!page.contains(loader), "{loader}");
    }
}

/// The page replaces an older one as a whole, keeps a link, and an error of the file is one of the
/// command.
#[cfg(unix)]
#[test]
fn a_page_replaces_the_file_behind_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let [target, link] = ["target.html", "link.html"].map(|name| folder.path().join(name));
    fs::write(&target, GENERATOR).expect("written");
    std::os::unix::fs::symlink(&target, &link).expect("a link");
    let write = |path: &Path| {
        jsf(&[
            &["shares"],
            &SITE[..],
            &["--report", path.to_str().expect("UTF-8")],
        ]
        .concat())
    };
    success(&write(&link));
    assert!(
        link.is_symlink()
            && fs::read_to_string(&target)
                .expect("a page")
                .contains("</html>")
    );
    assert_eq!(
        write(&folder.path().join("missing/page.html"))
            .status
            .code(),
        Some(2)
    );
    let lost = folder.path().join("lost.html");
    std::os::unix::fs::symlink("nowhere.html", &lost).expect("a link");
    assert_eq!(
        (write(&lost).status.code(), lost.is_symlink()),
        (Some(2), true)
    );
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 3);
}

#[cfg(unix)]
#[test]
fn a_page_is_not_written_through_a_link_of_another_user_or_into_a_pipe() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};

    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str| {
        let page = path(name);
        jsf(&[
            "rank",
            "ncpus",
            "--site",
            "examples/site",
            "--report",
            page.to_str().expect("UTF-8"),
        ])
    };
    assert!(
        std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status()
            .is_ok_and(|status| status.success())
    );
    let output = write("pipe");
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("it is not a file"),
        "{}",
        stderr(&output)
    );
    let precious = format!("{GENERATOR}precious");
    fs::write(path("target"), &precious).expect("a file");
    symlink(path("target"), path("link")).expect("a link");
    fs::write(path("foreign"), "").expect("a file");
    fs::set_permissions(path("foreign"), fs::Permissions::from_mode(0o666)).expect("permissions");
    let given = lchown(path("link"), Some(65_534), None)
        .and_then(|()| lchown(path("foreign"), Some(65_534), None));
    if given.is_err() {
        return jsf_testing::on_this_system("the right to give a file to another user");
    }
    let output = write("link");
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("that another user made"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        fs::read_to_string(path("target")).expect("a file"),
        precious
    );
    success(&write("foreign"));
    let page = fs::metadata(path("foreign")).expect("a page");
    assert_eq!(
        (page.uid(), page.mode() & 0o022),
        (fs::metadata(folder.path()).expect("a folder").uid(), 0)
    );
}

#[test]
fn a_page_does_not_replace_what_the_command_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let (jobs, formula) = (
        file("jobs.json", r#"{"jobs":[{"id":"1","ncpus":2}]}"#),
        file("formula", "ncpus"),
    );
    let tree = file("tree.json", r#"{"children":[{"name":"a"}]}"#);
    let linked = folder.path().join("link.html");
    std::os::unix::fs::symlink("jobs.json", &linked).expect("a link");
    let (linked, site) = (
        linked.display().to_string(),
        folder.path().display().to_string(),
    );
    for (call, page) in [
        (vec!["rank", "-f", &formula, "--queue", &jobs], &jobs),
        (vec!["rank", "-f", &formula, "--queue", &jobs], &formula),
        (vec!["rank", "ncpus", "--queue", &jobs], &linked),
        (vec!["rank", "ncpus", "--site", &site], &jobs),
        (
            vec!["explain", "ncpus", "--job", "1", "--queue", &jobs],
            &jobs,
        ),
        (
            vec![
                "compare",
                "--old",
                "ncpus",
                "--new-file",
                &formula,
                "--queue",
                &jobs,
            ],
            &formula,
        ),
        (
            vec![
                "compare",
                "--old",
                "ncpus",
                "--new",
                "1",
                "--queue",
                &jobs,
                "--tree",
                &tree,
                "--new-tree",
                &tree,
            ],
            &tree,
        ),
        (vec!["shares", "--tree", &tree], &tree),
    ] {
        let before = fs::read(page).expect("a file");
        let output = jsf(&[&call[..], &["--report", page]].concat());
        assert_eq!(output.status.code(), Some(2), "{call:?}");
        assert!(
            stderr(&output).contains("which the command reads"),
            "{}",
            stderr(&output)
        );
        assert!(fs::read(page).expect("a file") == before, "{call:?}");
    }
    success(&jsf(&[
        "rank",
        "ncpus",
        "--site",
        &site,
        "--report",
        &format!("{site}/page.html"),
    ]));
    // a file that is read by way of a folder
    fs::create_dir(folder.path().join("logs")).expect("a folder");
    let (logs, log) = (format!("{site}/logs"), format!("{site}/logs/1.gz"));
    fs::copy(jsf_testing::path("examples/site/accounting.gz"), &log).expect("a log");
    let simulate = [
        "simulate",
        "eligible_time",
        "--processors",
        "256",
        "--workload",
        &logs,
        "--report",
        &log,
    ];
    let output = jsf(&simulate);
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("is not a page"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        fs::read(&log).expect("a log"),
        fs::read(jsf_testing::path("examples/site/accounting.gz")).expect("a log")
    );
}

#[test]
fn a_page_replaces_only_pages_of_jsf() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    let name = path.to_str().expect("UTF-8");
    let write = |name: &str| jsf(&[&["shares"], &SITE[..], &["--report", name]].concat());
    success(&write(name));
    let page = fs::read_to_string(&path).expect("a page");
    assert!(page.contains(GENERATOR), "{}", &page[..400]);
    // a browser that saves the page may write the declaration otherwise
    for own in [
        page.clone(),
        page.replace("<!DOCTYPE html>", "<!doctype HTML>"),
        String::new(),
    ] {
        fs::write(&path, own).expect("written");
        success(&write(name));
        assert_eq!(fs::read_to_string(&path).expect("a page"), page);
    }
    for other in [
        "<!DOCTYPE html><title>the site's own</title>",
        "<meta name=\"generator\" content=\"other\">",
        "text",
    ] {
        fs::write(&path, other).expect("written");
        let output = write(name);
        assert_eq!(output.status.code(), Some(2), "{other}");
        assert!(
            stderr(&output).contains("exists and is not a page of jsf"),
            "{}",
            stderr(&output)
        );
        assert_eq!(fs::read_to_string(&path).expect("the file"), other);
    }
}

#[test]
fn a_page_is_not_written_to_the_name_of_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| format!("{}/{name}", folder.path().display());
    for name in ["x/", "x/.", "x/..", ".", ""] {
        let output = jsf(&[&["rank", "ncpus"], &SITE[..], &["--report", &inside(name)]].concat());
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(
            stderr(&output).contains("is a folder"),
            "{}",
            stderr(&output)
        );
    }
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
}
