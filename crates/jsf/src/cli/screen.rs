//! The terminal that shows standard output: its size.

use std::io::{self, IsTerminal};

use terminal_size::{Height, terminal_size_of};

/// The lines of a screen, of which a terminal may have fewer.
const SCREEN_LINES: usize = 24;
/// The lines of a screen that the answer leaves free: for the note about the site, and for the
/// prompt.
const FREE_LINES: usize = 2;

/// Whether a terminal shows standard output.
pub(crate) fn is_on_screen() -> bool {
    screen_height().is_some()
}

/// The lines that the answer may have: by the environment variable JSF_LINES, else those of a
/// screen; `None` if standard output is not a terminal. LINES does not count, since shells export
/// it to what is piped too.
pub(crate) fn screen_height() -> Option<usize> {
    let lines = match (
        positive_variable("JSF_LINES"),
        terminal_size_of(io::stdout()),
    ) {
        (Some(lines), _) => lines,
        _ if !io::stdout().is_terminal() => return None,
        (None, Some((_, Height(lines)))) => SCREEN_LINES.min(lines.into()),
        (None, None) => SCREEN_LINES,
    };
    Some(lines.saturating_sub(FREE_LINES).max(1))
}

/// The number of characters in a line: what the environment variable COLUMNS says, else the
/// terminal's; `None` if standard output is not a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    positive_variable("COLUMNS").or_else(|| Some(terminal_size_of(io::stdout())?.0.0.into()))
}

/// The value of an environment variable that is a positive number.
fn positive_variable(name: &str) -> Option<usize> {
    match std::env::var(name).ok()?.parse() {
        Ok(value @ 1..) => Some(value),
        _ => None,
    }
}
