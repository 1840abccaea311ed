//! `jsf codes`: the kinds of findings, and what each means.

use std::io::Write;

use clap::Args;
use job_sort_formula::diagnostic::{Code, Severity};
use serde::Serialize;

use crate::answer::{Answer, Format};
use crate::cli::args::TextArgs;
use crate::cli::output::{Output, format};
use crate::cli::{CliError, Outcome};
use crate::view::document::{Cell, Column, Document, Section, Table, cells};
use crate::view::verdict::severity_word;

/// `jsf codes`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  jsf codes\n  jsf codes JSF301")]
pub struct CodesArgs {
    /// The finding whose page to print
    pub code: Option<String>,
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format of the list
    #[arg(long, value_parser = format(&[Format::Human, Format::Markdown, Format::Json]), default_value = "human", conflicts_with = "code")]
    pub format: Format,
}

pub(crate) fn run(arguments: &CodesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    match &arguments.code {
        Some(name) => {
            let Some(code) = Code::find(name) else {
                return Err(CliError::usage(format!(
                    "`{name}` is not a known code; `jsf codes` lists all codes"
                )));
            };
            write!(out, "{}", code.page())?;
        }
        None => Output::new(arguments.format, arguments.text, &[]).write(&Codes::all(), out)?,
    }
    Ok(Outcome::Fine)
}

/// All kinds of findings.
#[derive(Serialize)]
struct Codes {
    codes: Vec<FindingKind>,
}

/// A kind of findings.
#[derive(Serialize)]
struct FindingKind {
    code: Code,
    severity: Severity,
    /// The severity where it is worst.
    most_severe: Severity,
    title: &'static str,
}

impl Codes {
    /// Every kind of findings that `jsf` knows.
    fn all() -> Self {
        let mut codes = Vec::new();
        for &code in Code::ALL {
            codes.push(FindingKind {
                code,
                severity: code.severity(),
                most_severe: code.most_severe(),
                title: code.title(),
            });
        }
        Self { codes }
    }
}

impl Answer for Codes {
    fn document(&self) -> Document<'_> {
        let columns = [
            Column::text("code", 9),
            Column::text("severity", 7),
            Column::wrapped("what it finds", 8),
        ];
        let mut rows = Vec::new();
        for kind in &self.codes {
            let title = Cell::prose(kind.title);
            rows.push(cells![kind.code.name(), severities(kind), title]);
        }
        Document {
            command: "jsf codes",
            title: "Kinds of findings".to_owned(),
            headline: format!(
                "There are {} kinds of findings; jsf codes CODE explains one.",
                self.codes.len()
            ),
            facts: Vec::new(),
            sections: vec![Section::new("kinds").table(Table::from_rows(columns, rows))],
            read_on: "",
        }
    }
}

/// How severe a kind of findings is.
fn severities(kind: &FindingKind) -> String {
    let least = severity_word(kind.severity);
    if kind.severity == kind.most_severe {
        return least.to_owned();
    }
    format!("{least} or {}", severity_word(kind.most_severe))
}
