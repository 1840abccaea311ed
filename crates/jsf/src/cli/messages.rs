//! Messages on standard error.

use std::io::{self, Write};

use job_sort_formula::diagnostic::{Diagnostic, Message, limit_each_kind};
use jsf_site::{FormulaText, Site};

use crate::cli::args::site::SiteArgs;
use crate::cli::{in_options, with_options};
use crate::view::finding::{draw_finding, limit_each_code, more_findings};
use crate::view::printable::printable;

/// Writes a message to standard error.
pub(crate) fn report(kind: &str, message: impl std::fmt::Display) {
    let _ = writeln!(
        anstream::stderr(),
        "jsf: {kind}: {}",
        printable(&message.to_string())
    );
}

/// Writes a warning to standard error.
pub(crate) fn warn(message: impl std::fmt::Display) {
    report("warning", message);
}

/// Writes what was found in `--site` or in the site of the environment, and what is missing, to
/// standard error: for people a line, with -v every file.
pub(crate) fn show_site(arguments: &SiteArgs, site: &Site, is_human: bool) {
    let Some(given) = arguments.given_site() else {
        return;
    };
    let prefix = given.prefix();
    if arguments.verbose {
        for (index, line) in site.summary().iter().enumerate() {
            let prefix = if index == 0 { &*prefix } else { "" };
            report("site", format_args!("{prefix}{line}"));
        }
    } else if is_human {
        let headline = site.files().headline();
        report(
            "site",
            format_args!("{prefix}{headline} (-v lists the files)"),
        );
    }
}

/// Writes warnings to standard error: of each kind the first ten, then how many more there are.
pub(crate) fn warn_all<M: Clone + Into<Message>>(messages: &[M]) {
    let messages = messages
        .iter()
        .map(|message| with_options(&message.clone().into()));
    limit_each_kind(messages).iter().for_each(warn);
}

/// Draws findings on standard error: of each code the first ten, then how many more there are.
pub(crate) fn draw_all(source: &FormulaText, findings: &[Diagnostic]) {
    let (few, others) = limit_each_code(findings);
    for found in few {
        draw(source, found);
    }
    for (code, count) in others {
        warn(more_findings(count, code));
    }
}

/// Draws a finding under the formula on standard error.
pub(crate) fn draw(source: &FormulaText, found: &Diagnostic) {
    let coloured = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let width =
        terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
    let drawn = draw_finding(source, &found.clone().worded(in_options), coloured, width);
    let _ = writeln!(anstream::stderr(), "{drawn}\n");
}
