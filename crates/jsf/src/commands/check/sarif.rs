//! The findings of a check as SARIF 2.1.0, for CI.

use std::ops::Range;

use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Fix, Span};
use jsf_site::FormulaText;
use serde::Serialize;

use crate::answers::object;
use crate::commands::check::CheckAnswer;
use crate::view::findings::{range_in_written, severity_word};

/// The run as SARIF has it.
pub(super) fn run_of(answer: &CheckAnswer<'_>) -> impl Serialize {
    let findings = &answer.checked.findings;
    let mut codes = Code::ALL.to_vec();
    codes.retain(|code| findings.iter().any(|found| found.code == *code));
    let source = Source::new(answer.source);
    let mut results = Vec::new();
    for found in findings {
        results.push(source.result(found, &codes));
    }
    let mut rules = Vec::new();
    for code in codes {
        rules.push(object! {
            defaultConfiguration: object! { level: severity_word(code.severity()) },
            help: object! { markdown: code.page(), text: code.page() },
            id: code.name(),
            shortDescription: object! { text: code.title() },
        });
    }
    let validation = &answer.checked.validation;
    // the text too, as a formula of the command line is in no file
    let artifact = object! {
        contents: object! { text: source.whole },
        location: object! { uri: source.uri },
    };
    let run = object! {
        artifacts: [artifact],
        columnKind: "unicodeCodePoints",
        properties: object! {
            accepted: validation.accepted,
            crashesScheduler: answer.checked.crashes_scheduler,
            pbsCode: validation.code,
        },
        results,
        tool: object! {
            driver: object! { name: "jsf", rules, version: env!("CARGO_PKG_VERSION") },
        },
    };
    object! {
        #[serde(rename = "$schema")]
        schema: SCHEMA,
        runs: [run],
        version: "2.1.0",
    }
}

/// The published JSON schema of the standard.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

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

    fn result(&self, found: &Diagnostic, codes: &[Code]) -> impl Serialize + use<> {
        let mut message = found.message.clone();
        if let Some(help) = &found.help {
            message += &format!("\n{help}");
        }
        let mut related = Vec::new();
        for label in &found.labels {
            related.push(object! {
                message: object! { text: label.text.clone() },
                physicalLocation: self.location(label.span),
            });
        }
        object! {
            #[serde(flatten)]
            fixes: found.fix.as_ref().and_then(|fix| self.fixes(fix)),
            level: severity_word(found.severity),
            locations: [object! { physicalLocation: self.location(found.span) }],
            message: object! { text: message },
            #[serde(flatten)]
            related: (!related.is_empty()).then_some(object! { relatedLocations: related }),
            ruleId: found.code.name(),
            ruleIndex: codes.iter().position(|code| *code == found.code),
        }
    }

    /// A fix that may be applied.
    fn fixes(&self, fix: &Fix) -> Option<impl Serialize + use<>> {
        let meaning = match fix.applicability {
            Applicability::Safe => "safe: means the same",
            // a service may apply whatever is listed
            Applicability::DisplayOnly => return None,
            _ => "probably what was meant",
        };
        let replacement = object! {
            deletedRegion: self.region(fix.span),
            insertedContent: object! { text: fix.replacement.clone() },
        };
        let change = object! {
            artifactLocation: self.artifact_location(),
            replacements: [replacement],
        };
        let fix = object! {
            artifactChanges: [change],
            description: object! { text: meaning },
        };
        Some(object! { fixes: [fix] })
    }

    fn artifact_location(&self) -> impl Serialize + use<> {
        object! { index: 0, uri: self.uri.clone() }
    }

    fn location(&self, span: Span) -> impl Serialize + use<> {
        object! { artifactLocation: self.artifact_location(), region: self.region(span) }
    }

    /// Lines and columns count from 1, columns and characters in code points, bytes and characters
    /// from 0.
    fn region(&self, span: Span) -> impl Serialize + use<> {
        let Range { start, end } = range_in_written(self.formula, span);
        let [first, last] = [start, end].map(|at| self.place(at));
        object! {
            byteLength: end - start,
            byteOffset: self.formula.before.len() + start,
            charLength: last.characters - first.characters,
            charOffset: first.characters,
            endColumn: last.column,
            endLine: last.line,
            startColumn: first.column,
            startLine: first.line,
        }
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

/// A path as a relative URI: all but slashes and the unreserved characters of RFC 3986 is
/// percent-encoded.
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
