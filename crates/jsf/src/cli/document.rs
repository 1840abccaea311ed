//! What a command shows to people: the document on standard output, or as a page in a file.

use std::io::{self, IsTerminal, Write};

use jsf_report::document::{Document, TerminalStyle, write_markdown};

use super::CliError;

/// The width of a table whose cells may be very long, if standard output is not a terminal.
pub(super) const PIPED_WIDTH: usize = 120;

/// Writes a document as text that fits the terminal, or in full with `is_wide`. `piped_width` is that of tables if there is
/// no terminal.
pub(super) fn write_text(
    document: &Document<'_>,
    is_wide: bool,
    piped_width: Option<usize>,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let width = if is_wide { None } else { terminal_width() };
    let style = TerminalStyle {
        table_width: if is_wide { None } else { width.or(piped_width) },
        prose_width: width,
        coloured: anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
    };
    Ok(style.write(document, out)?)
}

/// Writes a document for a mail or a ticket.
pub(super) fn write_as_markdown(document: &Document<'_>, out: &mut impl Write) -> Result<(), CliError> {
    Ok(write_markdown(document, &command_line(), out)?)
}

/// The command line of this process as a shell takes it.
pub(super) fn command_line() -> String {
    let arguments = std::env::args_os().skip(1).map(quoted);
    std::iter::once("jsf".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// An argument as a shell takes it.
fn quoted(argument: std::ffi::OsString) -> String {
    /// The most characters of an argument; the document shows a formula anyway.
    const MAX_ARGUMENT: usize = 200;
    let argument = argument.to_string_lossy();
    let is_plain = argument.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c));
    match argument.char_indices().nth(MAX_ARGUMENT) {
        Some((end, _)) => format!("'{}…'", argument[..end].replace('\'', r"'\''")),
        None if is_plain && !argument.is_empty() => argument.into_owned(),
        None => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// The number of characters in a line of the terminal; `None` if standard output is not a terminal.
fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    columns.or_else(|| terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0)))
}
