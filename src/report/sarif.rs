//! SARIF 2.1.0 (OASIS), with which CI services show findings beside the source lines.

use std::io::{self, Write};
use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::diagnostic::{Applicability, Code, Diagnostic, Fix, Label, Severity, Span};
use crate::report::check::{CheckFormat, CheckReport, FormulaSource};

/// The published JSON schema of the standard.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// One run of one tool, for code scanning.
#[derive(Debug, Clone, Copy)]
pub struct Sarif;

impl CheckFormat for Sarif {
    fn write(&self, report: &CheckReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &document(report))?;
        writeln!(out)
    }
}

fn document(report: &CheckReport<'_>) -> Value {
    let findings = &report.checked.findings;
    let rules: Vec<&Code> =
        Code::all().iter().filter(|code| findings.iter().any(|found| found.code == code.name)).collect();
    let source = Source { uri: uri(report.source.origin), formula: report.source };
    let results: Vec<Value> = findings.iter().map(|found| source.result(found, &rules)).collect();
    let validation = &report.checked.validation;
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "jsf",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            }},
            "artifacts": [{ "location": { "uri": source.uri }, "contents": { "text": source.whole() } }],
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

fn rule(code: &Code) -> Value {
    json!({
        "id": code.name,
        "shortDescription": { "text": code.title },
        "help": { "text": code.page, "markdown": code.page },
        "defaultConfiguration": { "level": level(code.severity) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// The artifact that contains all locations.
struct Source<'a> {
    uri: String,
    formula: FormulaSource<'a>,
}

impl Source<'_> {
    fn whole(&self) -> String {
        format!("{}{}", self.formula.before, self.formula.written())
    }

    fn result(&self, found: &Diagnostic, rules: &[&Code]) -> Value {
        let mut result = Map::new();
        result.insert("ruleId".into(), found.code.into());
        if let Some(index) = rules.iter().position(|code| code.name == found.code) {
            result.insert("ruleIndex".into(), index.into());
        }
        result.insert("level".into(), level(found.severity).into());
        let help = found.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
        result.insert("message".into(), json!({ "text": format!("{}{help}", found.message) }));
        result.insert("locations".into(), json!([{ "physicalLocation": self.location(found.span) }]));
        if !found.labels.is_empty() {
            let related: Vec<Value> = found.labels.iter().map(|label| self.related(label)).collect();
            result.insert("relatedLocations".into(), related.into());
        }
        if let Some(fix) = found.fix.as_ref().filter(|fix| fix.applicability != Applicability::DisplayOnly) {
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

    /// Lines and columns count from 1, columns and characters in code points, bytes and characters from 0.
    fn region(&self, span: Span) -> Value {
        let Range { start, end } = self.formula.range_in_written(span);
        let (first, last) = (self.position(start), self.position(end));
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

    fn position(&self, at: usize) -> Position {
        let mut position = Position { line: 1, column: 1, characters: 0 };
        let written = self.formula.written();
        for character in self.formula.before.chars().chain(written[..at].chars()) {
            position.characters += 1;
            position.column += 1;
            if character == '\n' {
                position.line += 1;
                position.column = 1;
            }
        }
        position
    }
}

struct Position {
    line: usize,
    column: usize,
    characters: usize,
}

/// A path as a relative URI: the characters that RFC 3986 reserves are percent-encoded.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
