//! SARIF output follows the standard: every object has its required properties and only those of
//! the schema, each with its type. The table is the part of the OASIS schema 2.1.0 that this crate
//! writes.

use serde_json::Value;

use crate::command::{jsf, json};

/// The name of a property, its type and whether it is required. The type is `text`, `count` (from
/// 0), `one` (from 1), `uri`, `any`, a choice of words separated by `|`, an object of the table, or
/// a list of such objects.
type Property = (&'static str, &'static str, bool);

const OBJECTS: &[(&str, &[Property])] = &[
    (
        "log",
        &[
            ("$schema", "uri", false),
            ("version", "2.1.0|", true),
            ("runs", "[run]", true),
        ],
    ),
    (
        "run",
        &[
            ("tool", "tool", true),
            ("artifacts", "[artifact]", false),
            ("columnKind", "utf16CodeUnits|unicodeCodePoints", false),
            ("results", "[result]", false),
            ("properties", "any", false),
        ],
    ),
    ("tool", &[("driver", "driver", true)]),
    (
        "driver",
        &[
            ("name", "text", true),
            ("version", "text", false),
            ("rules", "[rule]", false),
        ],
    ),
    (
        "rule",
        &[
            ("id", "text", true),
            ("shortDescription", "message", false),
            ("help", "message", false),
            ("defaultConfiguration", "configuration", false),
        ],
    ),
    (
        "configuration",
        &[("level", "none|note|warning|error", false)],
    ),
    (
        "message",
        &[("text", "text", true), ("markdown", "text", false)],
    ),
    (
        "artifact",
        &[
            ("location", "location", false),
            ("contents", "content", false),
        ],
    ),
    ("content", &[("text", "text", false)]),
    (
        "location",
        &[("uri", "uri", false), ("index", "count", false)],
    ),
    (
        "result",
        &[
            ("ruleId", "text", false),
            ("ruleIndex", "count", false),
            ("level", "none|note|warning|error", false),
            ("message", "message", true),
            ("locations", "[place]", false),
            ("relatedLocations", "[place]", false),
            ("fixes", "[fix]", false),
        ],
    ),
    (
        "place",
        &[
            ("physicalLocation", "physical", false),
            ("message", "message", false),
        ],
    ),
    (
        "physical",
        &[
            ("artifactLocation", "location", true),
            ("region", "region", true),
        ],
    ),
    (
        "region",
        &[
            ("startLine", "one", true),
            ("startColumn", "one", true),
            ("endLine", "one", true),
            ("endColumn", "one", true),
            ("charOffset", "count", true),
            ("charLength", "count", true),
            ("byteOffset", "count", true),
            ("byteLength", "count", true),
        ],
    ),
    (
        "fix",
        &[
            ("description", "message", false),
            ("artifactChanges", "[change]", true),
        ],
    ),
    (
        "change",
        &[
            ("artifactLocation", "location", true),
            ("replacements", "[replacement]", true),
        ],
    ),
    (
        "replacement",
        &[
            ("deletedRegion", "region", true),
            ("insertedContent", "content", false),
        ],
    ),
];

fn validate(value: &Value, kind: &str, place: &str, wrong: &mut Vec<String>) {
    let mut expect = |holds: bool| {
        if !holds {
            wrong.push(format!("{place}: {value} is not of type {kind}"));
        }
    };
    match kind {
        "any" => {}
        "text" => expect(value.is_string()),
        "count" => expect(value.as_u64().is_some()),
        "one" => expect(value.as_u64().is_some_and(|number| number >= 1)),
        "uri" => {
            let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
            expect(
                value
                    .as_str()
                    .is_some_and(|text| !text.is_empty() && text.bytes().all(is_plain)),
            );
        }
        _ if kind.contains('|') => expect(
            value
                .as_str()
                .is_some_and(|text| kind.split('|').any(|word| word == text)),
        ),
        _ if kind.starts_with('[') => match value.as_array() {
            Some(items) => {
                for (index, item) in items.iter().enumerate() {
                    validate(
                        item,
                        kind.trim_matches(['[', ']']),
                        &format!("{place}[{index}]"),
                        wrong,
                    );
                }
            }
            None => expect(false),
        },
        _ => match value.as_object() {
            Some(object) => {
                let (_, properties) = OBJECTS
                    .iter()
                    .find(|(name, _)| *name == kind)
                    .expect("an object of the table");
                for (name, _, _) in properties
                    .iter()
                    .filter(|(name, _, needed)| *needed && !object.contains_key(*name))
                {
                    wrong.push(format!("{place}: `{name}` is missing"));
                }
                for (key, inner) in object {
                    match properties.iter().find(|(name, _, _)| name == key) {
                        Some((_, kind, _)) => {
                            validate(inner, kind, &format!("{place}.{key}"), wrong)
                        }
                        None => wrong.push(format!("{place}: `{key}` is not in the schema")),
                    }
                }
            }
            None => expect(false),
        },
    }
}

fn sarif(arguments: &[&str]) -> Value {
    let document = json(&jsf(&[&["check", "--format", "sarif"], arguments].concat()));
    let mut wrong = Vec::new();
    validate(&document, "log", "$", &mut wrong);
    assert!(wrong.is_empty(), "{arguments:?}: {wrong:#?}");
    let run = &document["runs"][0];
    for result in run["results"].as_array().expect("results") {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(
            run["tool"]["driver"]["rules"][index]["id"],
            result["ruleId"]
        );
        assert_regions_fit(
            result,
            run["artifacts"][0]["contents"]["text"]
                .as_str()
                .expect("the text"),
        );
    }
    document
}

/// Checks that bytes, characters, lines and columns give the same region.
fn assert_regions_fit(result: &Value, text: &str) {
    let region = &result["locations"][0]["physicalLocation"]["region"];
    let number = |name: &str| region[name].as_u64().expect("a number") as usize;
    let (start, end) = (
        number("byteOffset"),
        number("byteOffset") + number("byteLength"),
    );
    let (before, inside) = (&text[..start], &text[start..end]);
    assert_eq!(
        (before.chars().count(), inside.chars().count()),
        (number("charOffset"), number("charLength"))
    );
    assert_eq!(before.matches('\n').count() + 1, number("startLine"));
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    assert_eq!(column, number("startColumn"));
}

#[test]
fn documents_follow_the_schema() {
    const QSTAT: &str = "tests/golden/openpbs/qstat";
    for formula in [
        "ncpus",
        "",
        "(ncpus]",
        "\"x\"",
        "é && NCPUS",
        "math.log(NCPUS) + walltme",
        "0,5 * fair_share_perc",
    ] {
        sarif(&[formula]);
    }
    let queue = format!("{QSTAT}/qstat_f.json");
    let document = sarif(&[
        "log(mem) / fairshare_perc",
        "--queue",
        &queue,
        "--sched-priv",
        QSTAT,
    ]);
    let results = document["runs"][0]["results"].as_array().expect("results");
    assert!(
        results
            .iter()
            .any(|result| result["ruleId"] == "JSF301" && result["relatedLocations"].is_array())
    );
}

#[test]
fn regions_are_those_of_the_formula_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sched formula");
    std::fs::write(
        &path,
        "### PBS INTERNAL FILE DO NOT MODIFY ###\n10 * fair_share_perc\n",
    )
    .expect("written");
    let document = sarif(&["--formula-file", path.to_str().expect("UTF-8")]);
    let result = &document["runs"][0]["results"][0];
    let location = &result["locations"][0]["physicalLocation"];
    assert!(
        location["artifactLocation"]["uri"]
            .as_str()
            .expect("a URI")
            .ends_with("/sched%20formula")
    );
    assert_eq!(
        (
            &location["region"]["startLine"],
            &location["region"]["startColumn"]
        ),
        (&2.into(), &6.into())
    );
    assert_eq!(
        result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"],
        "fairshare_perc"
    );
    let rule = &document["runs"][0]["tool"]["driver"]["rules"][0];
    assert!(
        rule["help"]["markdown"]
            .as_str()
            .expect("a page")
            .contains("## Use instead")
    );
}

#[test]
fn regions_count_the_line_breaks_and_escapes_of_the_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = [
        (
            "server.json",
            r#"{"Server":{"vm":{"job_sort_formula":"1 \u002b mem\/ncpus"}}}"#,
        ),
        (
            "server.txt",
            "Server: vm\r\n    job_sort_formula = 1 + \r\n\tmem/ncpus\r\n",
        ),
    ];
    for (name, text) in documents {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        let document = sarif(&["--formula-file", path.to_str().expect("UTF-8")]);
        let results = document["runs"][0]["results"].as_array().expect("results");
        let region = |result: &Value| {
            let region = &result["locations"][0]["physicalLocation"]["region"];
            let [start, length] = ["byteOffset", "byteLength"]
                .map(|key| region[key].as_u64().expect("a number") as usize);
            text[start..start + length].to_owned()
        };
        assert!(
            results.iter().any(|result| region(result) == "ncpus"),
            "{name}: {results:#?}"
        );
    }
}
