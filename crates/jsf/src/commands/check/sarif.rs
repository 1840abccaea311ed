//! SARIF 2.1.0 (OASIS), with which CI services show findings beside the source lines.

use std::io::{self, Write};
use std::ops::Range;

use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Fix, Label, Span};
use jsf_site::FormulaText;
use serde_json::{Map, Value, json};

use crate::commands::check::view::CheckReport;
use crate::view::finding::range_in_written;
use crate::view::verdict::severity_word;

/// The published JSON schema of the standard.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes one run of one tool, for code scanning.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write_sarif(report: &CheckReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(report))?;
    writeln!(out)
}

fn document(report: &CheckReport<'_>) -> Value {
    let findings = &report.checked.findings;
    let rules: Vec<Code> = Code::ALL
        .iter()
        .copied()
        .filter(|code| findings.iter().any(|found| found.code == *code))
        .collect();
    let source = Source::new(report.source);
    let results: Vec<Value> = findings
        .iter()
        .map(|found| source.result(found, &rules))
        .collect();
    let validation = &report.checked.validation;
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "jsf",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().copied().map(rule).collect::<Vec<_>>(),
            }},
            "artifacts": [{ "location": { "uri": source.uri }, "contents": { "text": source.whole } }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "accepted": validation.accepted,
                "pbsCode": validation.code,
                "crashesScheduler": report.checked.crashes_scheduler,
            },
        }],
    })
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.name(),
        "shortDescription": { "text": code.title() },
        "help": { "text": code.page(), "markdown": code.page() },
        "defaultConfiguration": { "level": severity_word(code.severity()) },
    })
}

/// The artifact that contains all locations.
struct Source<'a> {
    uri: String,
    formula: &'a FormulaText,
    /// The text of the document.
    whole: String,
    /// Where the formula begins.
    start: Position,
}

impl<'a> Source<'a> {
    fn new(formula: &'a FormulaText) -> Self {
        let mut start = Position {
            line: 1,
            column: 1,
            characters: 0,
        };
        start.pass(&formula.before);
        Self {
            uri: uri(&formula.origin),
            formula,
            whole: format!("{}{}", formula.before, formula.written),
            start,
        }
    }

    fn result(&self, found: &Diagnostic, rules: &[Code]) -> Value {
        let mut result = Map::new();
        result.insert("ruleId".into(), found.code.name().into());
        if let Some(index) = rules.iter().position(|code| *code == found.code) {
            result.insert("ruleIndex".into(), index.into());
        }
        result.insert("level".into(), severity_word(found.severity).into());
        let help = found
            .help
            .as_ref()
            .map(|help| format!("\n{help}"))
            .unwrap_or_default();
        result.insert(
            "message".into(),
            json!({ "text": format!("{}{help}", found.message) }),
        );
        result.insert(
            "locations".into(),
            json!([{ "physicalLocation": self.location(found.span) }]),
        );
        if !found.labels.is_empty() {
            let related: Vec<Value> = found
                .labels
                .iter()
                .map(|label| self.related(label))
                .collect();
            result.insert("relatedLocations".into(), related.into());
        }
        if let Some(fix) = found
            .fix
            .as_ref()
            .filter(|fix| fix.applicability != Applicability::DisplayOnly)
        {
            result.insert("fixes".into(), json!([self.fix(fix)]));
        }
        result.into()
    }

    fn related(&self, label: &Label) -> Value {
        json!({ "physicalLocation": self.location(label.span), "message": { "text": label.text } })
    }

    fn fix(&self, fix: &Fix) -> Value {
        let safe = fix.applicability == Applicability::Safe;
        json!({
            "description": { "text": if safe { "safe: means the same" } else { "probably what was meant" } },
            "artifactChanges": [{
                "artifactLocation": { "uri": self.uri, "index": 0 },
                "replacements": [{
                    "deletedRegion": self.region(fix.span),
                    "insertedContent": { "text": fix.replacement },
                }],
            }],
        })
    }

    fn location(&self, span: Span) -> Value {
        json!({ "artifactLocation": { "uri": self.uri, "index": 0 }, "region": self.region(span) })
    }

    /// Lines and columns count from 1, columns and characters in code points, bytes and characters
    /// from 0.
    fn region(&self, span: Span) -> Value {
        let Range { start, end } = range_in_written(self.formula, span);
        let [first, last] = [start, end].map(|at| self.position(at));
        json!({
            "startLine": first.line,
            "startColumn": first.column,
            "endLine": last.line,
            "endColumn": last.column,
            "charOffset": first.characters,
            "charLength": last.characters - first.characters,
            "byteOffset": self.formula.before.len() + start,
            "byteLength": end - start,
        })
    }

    /// The position of a byte of the formula as the document has it.
    fn position(&self, at: usize) -> Position {
        let mut position = self.start;
        position.pass(self.formula.written.get(..at).unwrap_or_default());
        position
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    line: usize,
    column: usize,
    characters: usize,
}

impl Position {
    /// Moves behind a text.
    fn pass(&mut self, text: &str) {
        for character in text.chars() {
            self.characters += 1;
            self.column += 1;
            if character == '\n' {
                self.line += 1;
                self.column = 1;
            }
        }
    }
}

/// A path as a relative URI: the characters that RFC 3986 reserves are percent-encoded.
fn uri(path: &str) -> String {
    let characters = path.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    });
    characters.collect()
}
