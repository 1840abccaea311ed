//! The bad example of every page has its finding, and the good example has none.

use std::fs;
use std::path::Path;

use job_sort_formula::diagnostic::{Code, Severity};
use serde_json::Value;

use crate::command::command;

/// The other findings of a bad example, which report the same error in another way.
const OTHER_FINDINGS: &[(&str, &[&str])] = &[
    ("JSF103", &["JSF209"]),
    ("JSF205", &["JSF308"]),
    ("JSF307", &["JSF308"]),
    ("JSF301", &["JSF303", "JSF402"]),
    ("JSF311", &["JSF306"]),
    ("JSF302", &["JSF305", "JSF309", "JSF405"]),
    ("JSF308", &["JSF304"]),
    ("JSF309", &["JSF305", "JSF405"]),
    ("JSF402", &["JSF301", "JSF303"]),
    ("JSF403", &["JSF209"]),
    ("JSF405", &["JSF309"]),
    ("JSF608", &["JSF609"]),
    ("JSF609", &["JSF608"]),
    ("JSF610", &["JSF401"]),
    ("JSF612", &["JSF307", "JSF309"]),
    ("JSF613", &["JSF307", "JSF308"]),
];

/// A fenced block of a page, as its language and its text.
type Block<'p> = (&'p str, String);

/// The blocks below a heading.
fn blocks<'p>(page: &'p str, heading: &str) -> Vec<Block<'p>> {
    let below = page.split_once(heading).map_or("", |(_, below)| below);
    let section = below.split("\n## ").next().unwrap_or("");
    let mut blocks = Vec::new();
    let mut lines = section.lines();
    while let Some(language) = lines.find_map(|line| line.strip_prefix("```")) {
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push((language, text.join("\n")));
    }
    blocks
}

/// The text of an expression such as `"(" * 201 + "ncpus"`.
fn generated(text: &str) -> String {
    let part = |part: &str| {
        let (quoted, count) = part.rsplit_once("\" * ").unwrap_or((part, "1"));
        quoted
            .trim_matches('"')
            .repeat(count.parse().expect("a count"))
    };
    text.split(" + \"").map(part).collect()
}

/// The block with the formula.
fn formula(blocks: &[Block<'_>]) -> String {
    let formulas: Vec<_> = blocks
        .iter()
        .filter(|(language, _)| matches!(*language, "python" | "generated"))
        .collect();
    assert_eq!(formulas.len(), 1, "{blocks:?}");
    let (language, text) = formulas[0];
    if *language == "generated" {
        generated(text)
    } else {
        text.clone()
    }
}

/// Writes the other blocks into files, and returns the options that name them.
fn write_files(blocks: &[Block<'_>], folder: &Path) -> Vec<String> {
    let mut arguments = Vec::new();
    for (language, text) in blocks {
        let option = match *language {
            "python" | "generated" => continue,
            "json" if text.starts_with("{\"jobs\"") => "--queue",
            "json" => "--tree",
            "resourcedef" => "--resources",
            "sched_config" => "--sched-config",
            "qmgr" => "--server",
            other => panic!("unknown language `{other}`"),
        };
        let path = folder.join(&option[2..]);
        fs::write(&path, text).expect("written");
        arguments.extend([option.to_owned(), path.display().to_string()]);
    }
    arguments
}

fn check(formula: &str, arguments: &[String]) -> Vec<(String, Severity)> {
    let output = command()
        .args(["check", formula, "--format", "json"])
        .args(arguments)
        .output()
        .expect("jsf runs");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{formula}: {error}: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    assert_eq!(
        output.stderr,
        b"",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let severity = |found: &Value| match found["severity"].as_str() {
        Some("error") => Severity::Error,
        Some("warning") => Severity::Warning,
        _ => Severity::Note,
    };
    let findings = document["findings"].as_array().expect("findings").iter();
    findings
        .map(|found| {
            (
                found["code"].as_str().expect("a code").to_owned(),
                severity(found),
            )
        })
        .collect()
}

/// The errors in the examples of a page.
fn faults(code: &Code) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = blocks(code.page(), "## Example");
    let mut good = blocks(code.page(), "## Use instead");
    let mut faults = Vec::new();
    let found = check(&formula(&bad), &write_files(&bad, folder.path()));
    let severities = code.severity()..=code.most_severe();
    if !found
        .iter()
        .any(|(found, severity)| found == code.name() && severities.contains(severity))
    {
        faults.push(format!("{code}: the example has {found:?}"));
    }
    let expected = OTHER_FINDINGS
        .iter()
        .find(|(name, _)| *name == code.name())
        .map_or(&[][..], |(_, others)| others);
    let unexpected: Vec<_> = found
        .iter()
        .filter(|(found, _)| found != code.name() && !expected.contains(&&**found))
        .collect();
    if !unexpected.is_empty() {
        faults.push(format!("{code}: the example has {unexpected:?} too"));
    }
    // the good example has the files of the bad one, unless its section has others
    let is_queue = |text: &str| text.starts_with("{\"jobs\"");
    for block in bad {
        let same =
            |other: &Block<'_>| other.0 == block.0 && is_queue(&other.1) == is_queue(&block.1);
        if !matches!(block.0, "python" | "generated") && !good.iter().any(same) {
            good.push(block);
        }
    }
    let found = check(&formula(&good), &write_files(&good, folder.path()));
    if !found.is_empty() {
        faults.push(format!("{code}: what to use instead has {found:?}"));
    }
    faults
}

#[test]
fn examples_have_the_findings_of_their_page() {
    let faults: Vec<String> = Code::ALL.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
