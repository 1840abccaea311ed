//! The `qmgr` command that sets a formula, quoted for the shell and for `qmgr`.
//!
//! `qmgr -c` takes one directive as one argument. A value may be quoted with `"` or `'`; the other
//! quote is then an ordinary character, and neither can be escaped. Every character must be
//! printable ASCII or white space (C's `isspace`); `&` is not accepted, quoted or not.
//!
//! Source: the recorded directives in `tests/golden/openpbs/evaluate/extra.jsonl` (the records with
//! `"phase": "D_qmgr_syntax"`) and `validate.jsonl` (field `qmgr`).

use job_sort_formula::diagnostic::{Span, is_control};

/// The object whose formula is set by default.
const SERVER: &str = "server";

/// The longest single argument that Linux passes to a command, in bytes.
const MAX_ARGUMENT_BYTES: usize = 128 * 1024 - 1;

/// Why a formula cannot be set with `qmgr`: a character that it accepts in no value, both kinds of
/// quotes, a second line, or more than an argument may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotSettable {
    message: String,
    /// Where it is.
    pub span: Span,
    /// What to write instead.
    pub help: &'static str,
}

impl NotSettable {
    fn new(message: impl Into<String>, start: usize, length: usize, help: &'static str) -> Self {
        Self {
            message: message.into(),
            span: Span::new(start, start + length),
            help,
        }
    }
}

/// The character in backticks; with its number if it is beyond ASCII, and escaped if it cannot be
/// seen.
fn shown(character: char) -> String {
    match character {
        _ if is_control(character) || character.is_whitespace() => {
            format!("`{}`", character.escape_default())
        }
        _ if character.is_ascii() => format!("`{character}`"),
        _ => format!("`{character}` (U+{:04X})", character as u32),
    }
}

/// Makes the command that sets the formula of an object, such as `server` or `sched NAME`, as it is
/// typed in a shell. Newlines after the formula are removed.
///
/// ```
/// use jsf_openpbs::qmgr::set_command_for;
///
/// assert_eq!(set_command_for("server", "ncpus * 2").unwrap(), r#"qmgr -c 'set server job_sort_formula="ncpus * 2"'"#);
/// assert!(set_command_for("server", "ncpus & 1").is_err());
/// ```
///
/// # Errors
/// [`NotSettable`] if `qmgr` cannot be given the formula.
pub fn set_command_for(object: &str, formula: &str) -> Result<String, NotSettable> {
    let directive = set_directive(object, formula)?;
    // single quotes protect everything but single quotes
    Ok(format!("qmgr -c '{}'", directive.replace('\'', r"'\''")))
}

/// Like [`set_command_for`], for the object that `before` names, the text before the formula in its
/// document: `set sched NAME`, `set server NAME`, or the heading `Sched NAME` of a listing. Without
/// one, the object is the server.
///
/// # Errors
/// [`NotSettable`] if `qmgr` cannot be given the formula.
pub fn set_command_after(before: &str, formula: &str) -> Result<String, NotSettable> {
    set_command_for(&object_or_server(before), formula)
}

/// Makes the command that sets `job_sort_formula_threshold`, as it is typed in a shell: of the
/// scheduler that `before` names, the text before the formula in its document, else of the default
/// one. The attribute is a scheduler's, not the server's.
///
/// ```
/// use jsf_openpbs::qmgr::set_threshold_command;
///
/// assert_eq!(set_threshold_command("", 0.5), "qmgr -c 'set sched job_sort_formula_threshold = 0.5'");
/// ```
pub fn set_threshold_command(before: &str, threshold: f64) -> String {
    let scheduler = match object_named_in(before) {
        Some(object) if object.starts_with("sched") => object,
        _ => "sched".to_owned(),
    };
    format!("qmgr -c 'set {scheduler} job_sort_formula_threshold = {threshold}'")
}

/// The object that the text before a formula names, else the server.
pub fn object_or_server(before: &str) -> String {
    object_named_in(before).unwrap_or_else(|| SERVER.to_owned())
}

/// The object that the directive or the listing before a formula names.
fn object_named_in(before: &str) -> Option<String> {
    let before = before.strip_suffix(['"', '\'']).unwrap_or(before);
    let before = before.trim_end_matches(['\\', ' ', '=']);
    let (preceding_lines, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let mut words: Vec<&str> = line.split_whitespace().collect();
    for word in &mut words {
        *word = word.trim_start_matches(['"', '\'']);
    }
    match words.as_slice() {
        [
            ..,
            "set" | "s",
            object @ ("sched" | "server"),
            name,
            "job_sort_formula",
        ] if is_name(name) => Some(format!("{object} {name}")),
        // as `qmgr` prints the default scheduler: the server refuses another formula beside its own
        [.., "set" | "s", "sched", "job_sort_formula"] => Some("sched".to_owned()),
        ["job_sort_formula"] => {
            let mut above = preceding_lines.lines().rev();
            let heading = above.find(|line| line.starts_with(|c: char| !c.is_whitespace()))?;
            let name = heading.strip_prefix("Sched ")?.trim();
            if is_name(name) {
                Some(format!("sched {name}"))
            } else {
                None
            }
        }
        _ => None,
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_of_name)
}

/// Whether the name of an object or of an attribute may contain the character.
pub fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// Makes the directive `set OBJECT job_sort_formula=…`, not quoted for the shell.
///
/// # Errors
/// [`NotSettable`] if `qmgr` cannot be given the formula.
pub fn set_directive(object: &str, formula: &str) -> Result<String, NotSettable> {
    let formula = formula.trim_end_matches('\n');
    if let Some(start) = formula.find('\n') {
        let message = "OpenPBS keeps only the first line of a formula";
        return Err(NotSettable::new(message, start, 1, "write one line"));
    }
    for (start, character) in formula.char_indices() {
        if !is_accepted(character) {
            let character_shown = shown(character);
            let message =
                format!("qmgr does not accept {character_shown} in a value, quoted or not");
            let help = match character {
                '&' => "in arithmetic, write `%` or `//`; in a comment, `and`",
                _ => "write printable ASCII only, also in a comment",
            };
            let length = character.len_utf8();
            return Err(NotSettable::new(message, start, length, help));
        }
    }
    let mut quote = '"';
    if formula.contains('"') {
        quote = '\'';
        if let Some(single) = formula.find('\'') {
            // it can quote a value only with a quote that does not occur in it
            let message = "qmgr accepts a value with `\"` or with `'`, not with both";
            let help = "write one kind of quotes, also in a comment";
            return Err(NotSettable::new(message, single, 1, help));
        }
    }
    let directive = format!("set {object} job_sort_formula={quote}{formula}{quote}");
    if directive.len() > MAX_ARGUMENT_BYTES {
        let message = format!(
            "the directive is longer than {MAX_ARGUMENT_BYTES} bytes, the most that Linux accepts as one argument"
        );
        let length = formula.len();
        return Err(NotSettable::new(
            message,
            0,
            length,
            "write a shorter formula",
        ));
    }
    Ok(directive)
}

/// Why `qmgr` rejects the first line of a formula, which is all that OpenPBS keeps.
pub fn refusal(formula: &str) -> Option<NotSettable> {
    let line = formula.split(['\n', '\0']).next().unwrap_or("");
    set_directive(SERVER, line).err()
}

/// Whether the character is printable ASCII other than `&`, or white space by C's `isspace`.
fn is_accepted(character: char) -> bool {
    let is_white_space = matches!(character, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r');
    (character.is_ascii_graphic() || is_white_space) && character != '&'
}

#[cfg(test)]
mod tests;
