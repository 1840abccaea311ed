//! The commands that print built-in texts: `jsf codes`, `jsf capture`, `jsf completions` and `jsf man`.

use std::io::Write;

use clap::CommandFactory;
use job_sort_formula::diagnostic::{Code, Severity};
use jsf_report::document::{Cell, Column, Document, Section, Table};

use super::args::{Cli, CodesArgs};
use super::document::write_text;
use super::{CliError, Outcome};

/// `jsf codes`
pub(super) fn codes(arguments: &CodesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    match &arguments.code {
        Some(name) => {
            let code = Code::find(name)
                .ok_or_else(|| CliError::usage(format!("`{name}` is not a known code; `jsf codes` lists all codes")))?;
            write!(out, "{}", code.page)?;
        }
        None => write_text(&codes_document(), arguments.text, out)?,
    }
    Ok(Outcome::Fine)
}

/// `jsf capture`
pub(super) fn capture(without_environment: bool, out: &mut impl Write) -> Result<Outcome, CliError> {
    const SETTING: &str = "\nwithout_environment=";
    let script = include_str!("capture.sh");
    let value = if without_environment { "1" } else { "" };
    out.write_all(script.replacen(SETTING, &format!("{SETTING}{value}"), 1).as_bytes())?;
    Ok(Outcome::Fine)
}

/// All kinds of findings.
fn codes_document() -> Document<'static> {
    let codes = Code::all();
    let columns = vec![Column::text("code", 9), Column::text("severity", 7), Column::wrapped("what it finds", 8)];
    let headline = format!("There are {} kinds of findings; jsf codes CODE explains one.", codes.len());
    let table = Table::new(columns, codes.len(), move |index| {
        let code = &codes[index];
        let severity = match (word(code.severity), word(code.most_severe)) {
            (one, other) if one == other => one.to_owned(),
            (least, most) => format!("{least} or {most}"),
        };
        vec![Cell::text(code.to_string()), Cell::text(severity), Cell::text(code.title)]
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

/// `jsf completions`
pub(super) fn completions(shell: clap_complete::Shell, out: &mut impl Write) -> Result<Outcome, CliError> {
    // `generate` panics if it cannot write
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "jsf", &mut script);
    out.write_all(&script)?;
    Ok(Outcome::Fine)
}

/// `jsf man`
pub(super) fn man(name: Option<&str>, out: &mut impl Write) -> Result<Outcome, CliError> {
    // the pages are the same for all machines, and `help` has none
    let mut all = Cli::command().long_version(None::<&str>).disable_help_subcommand(true);
    all.build();
    let page = match name {
        None => all,
        Some(name) => match all.get_subcommands().find(|command| command.get_name() == name) {
            Some(command) => command.clone(),
            None => {
                let message = format!("`{name}` is not a command; `jsf --help` lists all commands");
                return Err(CliError::usage(message));
            }
        },
    };
    let after_help = page.get_after_long_help().or(page.get_after_help()).map(ToString::to_string).unwrap_or_default();
    // clap_mangen writes this text as paragraphs to be filled, which joins the lines of its examples and tables
    let page = page.after_help(None::<&str>).after_long_help(None::<&str>);
    clap_mangen::Man::new(page).source(concat!("jsf ", env!("CARGO_PKG_VERSION"))).render(out)?;
    out.write_all(after_help_in_roff(&after_help).as_bytes())?;
    Ok(Outcome::Fine)
}

/// The text after the options as roff: the line `Examples:` begins a section, and indented lines are printed as they are,
/// neither filled nor hyphenated.
fn after_help_in_roff(text: &str) -> String {
    let mut roff = String::from(".SH NOTES\n");
    let mut is_filled = true;
    // a paragraph is ended by the section after it
    let text = text.replace("\n\nExample", "\nExample");
    for line in text.lines().map(str::trim_end) {
        let is_heading = matches!(line, "Example:" | "Examples:");
        let fills = !line.starts_with(' ');
        if fills != is_filled {
            roff.push_str(if fills { ".fi\n" } else { ".nf\n" });
            is_filled = fills;
        }
        match line {
            "" => roff.push_str(".PP\n"),
            _ if is_heading => roff.push_str(".SH EXAMPLES\n"),
            _ => {
                roff.push_str(&escaped(line));
                roff.push('\n');
            }
        }
    }
    if !is_filled {
        roff.push_str(".fi\n");
    }
    roff.replace(".SH NOTES\n.SH EXAMPLES\n", ".SH EXAMPLES\n")
}

/// A line as roff prints it unchanged: without escapes, requests, or quotes and hyphens that it replaces by others.
fn escaped(line: &str) -> String {
    let mut escaped = String::from(r"\&");
    for character in line.chars() {
        match character {
            '\\' => escaped.push_str(r"\e"),
            '-' => escaped.push_str(r"\-"),
            '\'' => escaped.push_str(r"\(aq"),
            '`' => escaped.push_str(r"\(ga"),
            '^' => escaped.push_str(r"\(ha"),
            '~' => escaped.push_str(r"\(ti"),
            other => escaped.push(other),
        }
    }
    escaped
}
