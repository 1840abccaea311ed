//! SARIF 2.1.0 (OASIS), with which CI services show findings beside the source lines.

use std::io::{self, Write};
use std::ops::Range;

use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Span};
use jsf_site::FormulaText;
use serde_json::{Value, json};

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
    let mut codes = Code::ALL.to_vec();
    codes.retain(|code| findings.iter().any(|found| found.code == *code));
    let source = Source::new(report.source);
    let mut results = Vec::new();
    for found in findings {
        results.push(source.result(found, &codes));
    }
    let mut rules = Vec::new();
    for code in codes {
        rules.push(json!({
            "id": code.name(),
            "shortDescription": { "text": code.title() },
            "help": { "text": code.page(), "markdown": code.page() },
            "defaultConfiguration": { "level": severity_word(code.severity()) },
        }));
    }
    let validation = &report.checked.validation;
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "jsf",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
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

/// The artifact that contains all locations.
struct Source<'a> {
    uri: String,
    formula: &'a FormulaText,
    /// The text of the document.
    whole: String,
}

impl<'a> Source<'a> {
    fn new(formula: &'a FormulaText) -> Self {
        Self {
            uri: uri(&formula.origin),
            formula,
            whole: format!("{}{}", formula.before, formula.written),
        }
    }

    fn result(&self, found: &Diagnostic, codes: &[Code]) -> Value {
        let mut message = found.message.clone();
        if let Some(help) = &found.help {
            message += &format!("\n{help}");
        }
        let mut result = json!({
            "ruleId": found.code.name(),
            "ruleIndex": codes.iter().position(|code| *code == found.code),
            "level": severity_word(found.severity),
            "message": { "text": message },
            "locations": [{ "physicalLocation": self.location(found.span) }],
        });
        let mut related = Vec::new();
        for label in &found.labels {
            let location = self.location(label.span);
            related
                .push(json!({ "physicalLocation": location, "message": { "text": label.text } }));
        }
        if !related.is_empty() {
            result["relatedLocations"] = related.into();
        }
        if let Some(fix) = &found.fix
            && fix.applicability != Applicability::DisplayOnly
        {
            let is_safe = fix.applicability == Applicability::Safe;
            let meaning = if is_safe {
                "safe: means the same"
            } else {
                "probably what was meant"
            };
            result["fixes"] = json!([{
                "description": { "text": meaning },
                "artifactChanges": [{
                    "artifactLocation": { "uri": self.uri, "index": 0 },
                    "replacements": [{
                        "deletedRegion": self.region(fix.span),
                        "insertedContent": { "text": fix.replacement },
                    }],
                }],
            }]);
        }
        result
    }

    fn location(&self, span: Span) -> Value {
        json!({ "artifactLocation": { "uri": self.uri, "index": 0 }, "region": self.region(span) })
    }

    /// Lines and columns count from 1, columns and characters in code points, bytes and characters
    /// from 0.
    fn region(&self, span: Span) -> Value {
        let Range { start, end } = range_in_written(self.formula, span);
        let [first, last] = [start, end].map(|at| self.place(at));
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

    /// The place of a byte of the formula as the document has it.
    fn place(&self, at: usize) -> Place {
        let at = self.formula.before.len() + at;
        let before = self.whole.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        Place {
            line: 1 + before.matches('\n').count(),
            column: 1 + line.chars().count(),
            characters: before.chars().count(),
        }
    }
}

struct Place {
    line: usize,
    column: usize,
    characters: usize,
}

/// A path as a relative URI: the characters that RFC 3986 reserves are percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}
