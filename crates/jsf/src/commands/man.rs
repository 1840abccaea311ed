//! `jsf man`

use std::io::Write;

use clap::CommandFactory;

use crate::cli::args::Cli;
use crate::cli::{CliError, Outcome};

pub(crate) fn run(name: Option<&str>, out: &mut impl Write) -> Result<Outcome, CliError> {
    // the pages are the same for all machines, and `help` has none
    let mut all = Cli::command()
        .long_version(None::<&str>)
        .disable_help_subcommand(true);
    all.build();
    let page = match name {
        None => all,
        Some(name) => match all
            .get_subcommands()
            .find(|command| command.get_name() == name)
        {
            Some(command) => command.clone(),
            None => {
                let message = format!("`{name}` is not a command; `jsf --help` lists all commands");
                return Err(CliError::usage(message));
            }
        },
    };
    let after_help = page
        .get_after_long_help()
        .or(page.get_after_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    // clap_mangen writes this text as paragraphs to be filled, which joins the lines of its
    // examples and tables
    let page = page.after_help(None::<&str>).after_long_help(None::<&str>);
    clap_mangen::Man::new(page)
        .source(concat!("jsf ", env!("CARGO_PKG_VERSION")))
        .render(out)?;
    out.write_all(after_help_in_roff(&after_help).as_bytes())?;
    Ok(Outcome::Fine)
}

/// The text after the options as roff: the line `Examples:` begins a section, and indented lines
/// are printed as they are, neither filled nor hyphenated.
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

/// A line as roff prints it unchanged: without escapes, requests, or quotes and hyphens that it
/// replaces by others.
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
