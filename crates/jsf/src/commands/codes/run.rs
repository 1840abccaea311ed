//! `jsf codes`

use std::io::Write;

use job_sort_formula::diagnostic::{Code, Severity};

use crate::cli::document::write_text;
use crate::cli::{CliError, Outcome};
use crate::commands::codes::request::CodesArgs;
use crate::view::document::{Cell, Column, Document, Section, Table};

pub(crate) fn run(arguments: &CodesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    match &arguments.code {
        Some(name) => {
            let code = Code::find(name)
                .ok_or_else(|| CliError::usage(format!("`{name}` is not a known code; `jsf codes` lists all codes")))?;
            write!(out, "{}", code.page())?;
        }
        None => write_text(&codes_document(), arguments.text, out)?,
    }
    Ok(Outcome::Fine)
}

/// All kinds of findings.
fn codes_document() -> Document<'static> {
    let codes = Code::ALL;
    let columns = vec![Column::text("code", 9), Column::text("severity", 7), Column::wrapped("what it finds", 8)];
    let headline = format!("There are {} kinds of findings; jsf codes CODE explains one.", codes.len());
    let table = Table::new(columns, codes.len(), move |index| {
        let code = codes[index];
        let severity = match (word(code.severity()), word(code.most_severe())) {
            (one, other) if one == other => one.to_owned(),
            (least, most) => format!("{least} or {most}"),
        };
        vec![Cell::text(code.name()), Cell::text(severity), Cell::text(code.title())]
    });
    Document {
        command: "jsf codes",
        title: "Kinds of findings".to_owned(),
        headline,
        facts: Vec::new(),
        sections: vec![Section::new("kinds").table(table)],
        read_on: "",
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
