//! The commands of `qmgr` that set a formula or its threshold, and what `qmgr` accepts as a value.
//!
//! `qmgr -c` takes one directive as one argument. A value may be quoted with `"` or `'`; the other
//! quote is then an ordinary character, and neither can be escaped. Every character must be
//! printable ASCII or white space (C's `isspace`); `&` is not accepted, quoted or not.
//!
//! Source: the directives recorded in `tests/golden/openpbs/evaluate/extra.jsonl` (the records with
//! `"phase": "D_qmgr_syntax"`).

use job_sort_formula::diagnostic::{Code, Diagnostic, Span, is_control};

use crate::submission::before_line_end;

/// The object whose formula is set by default.
const SERVER: &str = "server";

/// The longest single argument that Linux passes to a command, in bytes.
const MAX_ARGUMENT_BYTES: usize = 128 * 1024 - 1;

/// The finding that a formula cannot be set with `qmgr`.
fn not_settable(
    message: impl Into<String>,
    start: usize,
    length: usize,
    help: &str,
) -> Box<Diagnostic> {
    let span = Span::new(start, start + length);
    Box::new(Diagnostic::new(Code::NotPassedOn, message, span).with_help(help))
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
/// use jsf_openpbs::qmgr_command::set_command_for;
///
/// assert_eq!(set_command_for("server", "ncpus * 2").unwrap(), r#"qmgr -c 'set server job_sort_formula="ncpus * 2"'"#);
/// assert!(set_command_for("server", "ncpus & 1").is_err());
/// ```
///
/// # Errors
/// The finding that says why `qmgr` cannot be given the formula: a character that it accepts in no
/// value, both kinds of quotes, a second line, or more than an argument may have.
pub fn set_command_for(object: &str, formula: &str) -> Result<String, Box<Diagnostic>> {
    let directive = set_directive(object, formula)?;
    // single quotes protect everything but single quotes
    Ok(format!("qmgr -c '{}'", directive.replace('\'', r"'\''")))
}

/// Makes the command that sets `job_sort_formula_threshold`, as it is typed in a shell: of the
/// scheduler that `before` names, the text before the formula in its document, else of the default
/// one. The attribute is a scheduler's, not the server's.
///
/// ```
/// use jsf_openpbs::qmgr_command::set_threshold_command;
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

/// The object that the text before a formula in its document names: `set sched NAME`, `set server
/// NAME`, or the heading `Sched NAME` of a listing; else the server.
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
/// The finding that says why `qmgr` cannot be given the formula: a character that it accepts in no
/// value, both kinds of quotes, a second line, or more than an argument may have.
pub fn set_directive(object: &str, formula: &str) -> Result<String, Box<Diagnostic>> {
    let formula = formula.trim_end_matches('\n');
    if let Some(start) = formula.find('\n') {
        let message = "OpenPBS keeps only the first line of a formula";
        return Err(not_settable(message, start, 1, "write one line"));
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
            return Err(not_settable(message, start, length, help));
        }
    }
    let mut quote = '"';
    if formula.contains('"') {
        quote = '\'';
        if let Some(single) = formula.find('\'') {
            // it can quote a value only with a quote that does not occur in it
            let message = "qmgr accepts a value with `\"` or with `'`, not with both";
            let help = "write one kind of quotes, also in a comment";
            return Err(not_settable(message, single, 1, help));
        }
    }
    let directive = format!("set {object} job_sort_formula={quote}{formula}{quote}");
    if directive.len() > MAX_ARGUMENT_BYTES {
        let message = format!(
            "the directive is longer than {MAX_ARGUMENT_BYTES} bytes, the most that Linux accepts as one argument"
        );
        let length = formula.len();
        return Err(not_settable(message, 0, length, "write a shorter formula"));
    }
    Ok(directive)
}

/// Why `qmgr` rejects the first line of a formula, which is all that OpenPBS keeps.
pub fn refused_by_qmgr(formula: &str) -> Option<Box<Diagnostic>> {
    set_directive(SERVER, before_line_end(formula)).err()
}

/// Whether the character is printable ASCII other than `&`, or white space by C's `isspace`.
fn is_accepted(character: char) -> bool {
    let is_white_space = matches!(character, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r');
    (character.is_ascii_graphic() || is_white_space) && character != '&'
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIRECTIVE: &str = "set server job_sort_formula=";

    /// The value that `qmgr` reads from a directive, by the recorded rules.
    fn read_back(value: &str) -> Option<String> {
        let mut read = String::new();
        let mut quote = None;
        let mut quoting = false;
        for character in value.trim_start().chars() {
            if !is_accepted(character) {
                return None;
            }
            match character {
                _ if quoting && quote == Some(character) => quoting = false,
                _ if quoting => read.push(character),
                '"' | '\'' if quote.is_none_or(|quote| quote == character) => {
                    quote = Some(character);
                    quoting = true;
                }
                ',' => return None,
                blank if blank.is_ascii_whitespace() || blank == '\u{b}' => return None,
                _ => read.push(character),
            }
        }
        (!quoting).then_some(read)
    }

    fn value_of(directive: &str) -> &str {
        directive.strip_prefix(DIRECTIVE).unwrap()
    }

    #[test]
    fn qmgr_reads_back_the_quoted_value() {
        let blanks = "\t1\u{c}+\u{b}1\r ";
        for formula in [
            "ncpus",
            "",
            "a, b # c; d",
            "len(\"abc\")",
            "len('abc')",
            r"1\t+'\'",
            "x!=1 and $y `z`",
            blanks,
        ] {
            let directive = set_directive("server", formula).unwrap();
            assert_eq!(
                read_back(value_of(&directive)).as_deref(),
                Some(formula),
                "{directive}"
            );
        }
    }

    #[test]
    fn values_that_qmgr_rejects() {
        let long = "1".repeat(MAX_ARGUMENT_BYTES);
        for (formula, message, start, end) in [
            ("ncpus & 1", "qmgr does not accept `&`", 6, 7),
            ("ncpus \u{2013} 1", "qmgr does not accept `\u{2013}`", 6, 9),
            ("1\u{7f}", r"qmgr does not accept `\u{7f}`", 1, 2),
            ("1\0", r"qmgr does not accept `\u{0}`", 1, 2),
            ("\"a\"'b'", "qmgr accepts a value with", 3, 4),
            ("1\n+1", "OpenPBS keeps only the first line", 1, 2),
            (&long, "the directive is longer", 0, MAX_ARGUMENT_BYTES),
        ] {
            let refused = set_command_for("server", formula).unwrap_err();
            assert_eq!(refused.span, Span::new(start, end), "{formula:.80?}");
            assert!(refused.message.starts_with(message), "{refused:?}");
        }
        assert_eq!(
            set_command_for("server", "ncpus\n"),
            set_command_for("server", "ncpus")
        );
        for (formula, shown) in [
            ("é", "`é` (U+00E9)"),
            ("1\u{7f}", r"`\u{7f}`"),
            ("1\u{a0}", r"`\u{a0}`"),
            ("1 & 2", "`&`"),
        ] {
            let refused = set_command_for("server", formula).unwrap_err();
            assert_eq!(
                refused.message,
                format!("qmgr does not accept {shown} in a value, quoted or not")
            );
        }
    }

    #[test]
    fn the_shell_does_not_change_the_directive() {
        assert_eq!(
            set_command_for("server", "a'b").unwrap(),
            r#"qmgr -c 'set server job_sort_formula="a'\''b"'"#
        );
        assert_eq!(
            set_command_for("server", "a\"b").unwrap(),
            r#"qmgr -c 'set server job_sort_formula='\''a"b'\'''"#
        );
    }
}
