//! Extracts the text of a formula from the files and listings in which sites keep it.

use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

/// The first line of `sched_priv/sched_formula`.
const INTERNAL_FILE: &str = "### PBS INTERNAL FILE DO NOT MODIFY ###";

/// A document without a formula.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoFormula {
    /// The document is empty.
    #[error("`{0}` is empty, expected a formula")]
    Empty(String),
    /// The server that the document describes has no formula.
    #[error("`{0}` describes a server without `job_sort_formula`")]
    Unset(String),
}

/// The output of `qstat -Bf -F json`, as far as it is read.
#[derive(Deserialize)]
struct ServerDocument {
    #[serde(rename = "Server")]
    servers: BTreeMap<String, Server>,
}

#[derive(Deserialize)]
struct Server {
    job_sort_formula: Option<String>,
}

/// Extracts the formula from a document: `qstat -Bf` as JSON or text, `qmgr -c 'print server'` or `'list server'`, the
/// scheduler's `sched_formula`, or a file with nothing but the formula. The format is detected from the content.
///
/// ```
/// use job_sort_formula::pbs::files::formula_source::formula_in;
///
/// let text = "Server: vm\n    job_sort_formula = max(ncpus,\n\t1) * 10\n    eligible_time_enable = True\n";
/// assert_eq!(formula_in("server.txt", text).as_deref(), Ok("max(ncpus,1) * 10"));
/// ```
///
/// # Errors
/// The document is empty, or it describes a server without a formula.
pub fn formula_in(source_name: &str, document: &str) -> Result<String, NoFormula> {
    let document = document.trim_start_matches('\u{feff}');
    if document.trim().is_empty() {
        return Err(NoFormula::Empty(source_name.to_owned()));
    }
    if let Ok(ServerDocument { servers }) = serde_json::from_str(document) {
        let formula = servers.into_values().find_map(|server| server.job_sort_formula);
        return formula.ok_or_else(|| NoFormula::Unset(source_name.to_owned()));
    }
    if let Some(formula) = document.strip_prefix(INTERNAL_FILE) {
        return Ok(formula.trim_start_matches(['\r', '\n']).trim_end().to_owned());
    }
    let is_listing = document.lines().any(|line| {
        line.starts_with("Server")
            || line.starts_with("set server ")
            || line.starts_with("set sched ")
            || line.starts_with("Sched ")
    });
    if is_listing {
        return in_listing(document).ok_or_else(|| NoFormula::Unset(source_name.to_owned()));
    }
    Ok(pasted(document).unwrap_or_else(|| document.trim_end().to_owned()))
}

/// Extracts the formula from text that was pasted with its surroundings: `job_sort_formula = …` as `qstat -Bf` prints it,
/// the directive `set server job_sort_formula = "…"`, or the whole command `qmgr -c '…'`. `None` for any other text.
///
/// ```
/// use job_sort_formula::pbs::files::formula_source::pasted;
///
/// assert_eq!(pasted("job_sort_formula = a + b").as_deref(), Some("a + b"));
/// assert_eq!(pasted(r#"qmgr -c 'set server job_sort_formula = "a + b"'"#).as_deref(), Some("a + b"));
/// assert_eq!(pasted("a + b"), None);
/// ```
pub fn pasted(text: &str) -> Option<String> {
    let text = text.trim_start();
    let command = ["$ ", "# ", "Qmgr: "].iter().find_map(|prompt| text.strip_prefix(prompt)).unwrap_or(text);
    let command = command.trim_start();
    let command = command.strip_prefix("sudo ").unwrap_or(command).trim_start();
    let (program, arguments) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    if program == "qmgr" || program.ends_with("/qmgr") {
        let argument = arguments.trim_start().strip_prefix("-c")?.trim_start();
        return in_directive(&shell_word(argument)?);
    }
    in_directive(command)
}

/// The value of `[set server] job_sort_formula = …`.
fn in_directive(directive: &str) -> Option<String> {
    let directive = directive.trim_start();
    let mut words = directive.split_whitespace();
    let is_set = matches!(words.next(), Some("set" | "s"))
        && words.next().is_some_and(|object| matches!(object, "server" | "s" | "sched"));
    let is_attribute = directive.starts_with("job_sort_formula");
    if is_set || is_attribute { in_listing(directive) } else { None }
}

/// The first word of a shell command, without its quotes; `None` if a quote is not closed.
fn shell_word(command: &str) -> Option<String> {
    let (mut word, mut characters) = (String::new(), command.chars());
    while let Some(character) = characters.next() {
        match character {
            '\'' => loop {
                match characters.next()? {
                    '\'' => break,
                    quoted => word.push(quoted),
                }
            },
            '"' => loop {
                match characters.next()? {
                    '"' => break,
                    '\\' => match characters.next()? {
                        escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                        other => word.extend(['\\', other]),
                    },
                    quoted => word.push(quoted),
                }
            },
            '\\' => word.extend(characters.next()),
            blank if blank.is_whitespace() => break,
            unquoted => word.push(unquoted),
        }
    }
    Some(word)
}

/// The value of `job_sort_formula` in a listing. A long value continues after a line break and one tab, which are not
/// part of it.
fn in_listing(document: &str) -> Option<String> {
    let mut lines = document.lines();
    let first = lines.find_map(|line| {
        let line = line.trim_start();
        let directives = ["set server ", "set sched ", "s s "];
        let line = directives.iter().find_map(|directive| line.strip_prefix(directive)).unwrap_or(line);
        let (before, after) = line.split_once("job_sort_formula")?;
        let is_attribute = before.split_whitespace().count() <= 1;
        let value = after.trim_start().strip_prefix('=')?;
        is_attribute.then(|| value.trim_start())
    })?;
    let mut formula = first.to_owned();
    for line in lines.map_while(|line| line.strip_prefix('\t')) {
        formula.push_str(line);
    }
    let formula = formula.trim_end();
    let quoted = |quote| formula.len() > 1 && formula.starts_with(quote) && formula.ends_with(quote);
    Some(if quoted('"') || quoted('\'') { formula[1..formula.len() - 1].to_owned() } else { formula.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_gives_the_same_formula() {
        for document in [
            "a + b",
            "a + b\n",
            "### PBS INTERNAL FILE DO NOT MODIFY ###\na + b\n",
            "{\"Server\":{\"vm\":{\"job_sort_formula\":\"a + b\"}}}",
            "#\n# Set server attributes.\n#\nset server scheduling = True\nset server job_sort_formula = \"a + b\"\n",
            "set sched default job_sort_formula = \"a + b\"\n",
            "Server vm\n    job_sort_formula = a + b\n    x = y\n",
            "Server: vm\n    job_sort_formula = a +\n\t b\n",
        ] {
            assert_eq!(formula_in("f", document).as_deref(), Ok("a + b"), "{document}");
        }
    }

    #[test]
    fn pasted_text_is_recognised() {
        for text in [
            "job_sort_formula = a + b",
            "    job_sort_formula = a +\n\t b\n",
            "job_sort_formula=\"a + b\"",
            "set server job_sort_formula = \"a + b\"",
            "s s job_sort_formula='a + b'",
            "Qmgr: set server job_sort_formula = 'a + b'",
            "qmgr -c 'set server job_sort_formula=\"a + b\"'",
            "# qmgr -c \"set server job_sort_formula = \\\"a + b\\\"\"",
            "$ sudo /opt/pbs/bin/qmgr -c \"set server job_sort_formula = 'a + b'\" \n",
            "qmgr -c 'set server job_sort_formula='\\''a + b'\\'''",
        ] {
            assert_eq!(pasted(text).as_deref(), Some("a + b"), "{text}");
            assert_eq!(formula_in("f", text).as_deref(), Ok("a + b"), "{text}");
        }
        for text in
            ["", "a + b", "qmgr", "qmgr -c 'set", "qmgr - c", "set server scheduling = True", "job_sort_formula"]
        {
            assert_eq!(pasted(text), None, "{text}");
        }
    }

    #[test]
    fn a_missing_formula_is_an_error() {
        assert_eq!(formula_in("f", " \n"), Err(NoFormula::Empty("f".into())));
        assert_eq!(formula_in("f", "Server: vm\n    x = 1\n"), Err(NoFormula::Unset("f".into())));
        assert_eq!(formula_in("f", "{\"Server\":{\"vm\":{}}}"), Err(NoFormula::Unset("f".into())));
    }
}
