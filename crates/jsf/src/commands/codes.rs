//! `jsf codes`: the kinds of findings, and what each means.

use std::io::Write;

use clap::Args;
use job_sort_formula::diagnostic::Code;
use serde::{Serialize, Serializer};

use crate::answers::{Answer, object};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::{AnswerArgs, Output};
use crate::view::document::{Cell, Column, Document, Section, Table, cells};
use crate::view::findings::severity_word;

/// `jsf codes`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  jsf codes\n  jsf codes JSF301",
    // the page of a code has one form
    mut_arg("format", |format| format.conflicts_with("code"))
)]
pub struct CodesArgs {
    /// The finding whose page to print
    code: Option<String>,
    /// How the list is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

impl CodesArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let Some(name) = &self.code else {
            Output::new(self.answer, AllCodes, Vec::new()).write(out)?;
            return Ok(Outcome::Fine);
        };
        let Some(code) = Code::find(name) else {
            return Err(CliError::usage(format!(
                "`{name}` is not a known code; `jsf codes` lists all codes"
            )));
        };
        write!(out, "{}", code.page())?;
        Ok(Outcome::Fine)
    }
}

/// All kinds of findings.
struct AllCodes;

impl Serialize for AllCodes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut codes = Vec::new();
        for code in Code::ALL {
            codes.push(object! {
                code,
                severity: code.severity(),
                // the severity where it is worst
                most_severe: code.most_severe(),
                title: code.title(),
            });
        }
        object! { codes }.serialize(serializer)
    }
}

impl Answer for AllCodes {
    fn document(&self) -> Document<'_> {
        let columns = [
            Column::text("code", 9),
            Column::text("severity", 7),
            Column::wrapped("what it finds", 8),
        ];
        let table = Table::new(columns, Code::ALL.to_vec(), |code| {
            let mut severity = severity_word(code.severity()).to_owned();
            if code.severity() != code.most_severe() {
                severity += &format!(" or {}", severity_word(code.most_severe()));
            }
            cells![code.name(), severity, Cell::prose(code.title())]
        });
        Document {
            command: "jsf codes",
            title: "Kinds of findings".to_owned(),
            headline: format!(
                "There are {} kinds of findings; jsf codes CODE explains one.",
                Code::ALL.len()
            ),
            facts: Vec::new(),
            sections: vec![Section::new("kinds").table(table)],
            read_on: "",
        }
    }
}
