//! The text of the formula, in whichever form a site keeps or pastes it.
//!
//! In: a document or listing of the server, `sched_formula`, a directive or a whole command. Out: a
//! [`SourceFormula`], or why the text has no formula.

use job_sort_formula::diagnostic::{Message, Need};
use jsf_words::quoted_list;
use shlex::Shlex;

use crate::files::objects::{Attribute, DEFAULT, ObjectKind, Objects, last};
use crate::files::server::listed_schedulers;

/// The first line of `sched_priv/sched_formula`.
const INTERNAL_FILE: &str = "### PBS INTERNAL FILE DO NOT MODIFY ###";

/// The most characters of a directive that a message repeats.
const MAX_SHOWN: usize = 80;

/// A formula, and where its document has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFormula {
    /// The formula.
    pub text: String,
    /// The byte of the document at which it begins, with its quotes.
    pub at: usize,
}

impl SourceFormula {
    /// The formula among the attributes of an object.
    pub(super) fn in_attributes<'a, 't: 'a>(
        attributes: impl IntoIterator<Item = &'a Attribute<'t>>,
    ) -> Option<Self> {
        let formula = last(attributes, "job_sort_formula")?;
        Some(Self {
            text: formula.value.text()?.to_owned(),
            at: formula.place.at,
        })
    }

    /// The formula of the server.
    pub fn of_server(objects: &Objects<'_>) -> Option<Self> {
        Self::in_attributes(objects.attributes_of(ObjectKind::Server))
    }
}

/// Extracts the formula from a document: `qstat -Bf` as JSON, text or dsv, `qmgr -c 'print server'`
/// or `'list server'`, the scheduler's `sched_formula`, or a file with nothing but the formula. Of
/// a document with several schedulers the formula is that of the server, else that of the default
/// scheduler, else with `takes_any` that of the only other one that has one.
///
/// ```
/// use jsf_openpbs::files::formula_text::formula_in;
/// use jsf_openpbs::files::objects::Objects;
///
/// let text = "Server: vm\n    job_sort_formula = max(ncpus,\n\t1) * 10\n    eligible_time_enable = True\n";
/// let formula = formula_in("server.txt", &Objects::read(text), false);
/// assert_eq!(formula.unwrap().text, "max(ncpus,1) * 10");
/// ```
///
/// # Errors
/// The document is empty, or it describes a server without a formula, or only schedulers whose
/// formula is not taken have one.
pub fn formula_in(
    source_name: &str,
    objects: &Objects<'_>,
    takes_any: bool,
) -> Result<SourceFormula, Message> {
    let document = objects.text.trim_start_matches('\u{feff}');
    if document.trim().is_empty() {
        return Err(format!("`{source_name}` is empty, expected a formula").into());
    }
    // a listing of several lines has the formula among other directives
    if document.trim().lines().nth(1).is_none()
        && let Some(directive) = other_directive(document)
    {
        return Err(directive);
    }
    if objects.json_error.is_none()
        && (objects.has(ObjectKind::Server) || objects.has(ObjectKind::Scheduler))
    {
        return formula_of_objects(source_name, objects, takes_any);
    }
    let text = if let Some(formula) = document.strip_prefix(INTERNAL_FILE) {
        let formula = formula.trim_start_matches(['\r', '\n']);
        formula.trim_end().to_owned()
    } else if let Some(pasted) = pasted(document) {
        pasted
    } else {
        document.trim_end().to_owned()
    };
    Ok(SourceFormula { text, at: 0 })
}

fn formula_of_objects(
    source_name: &str,
    objects: &Objects<'_>,
    takes_any: bool,
) -> Result<SourceFormula, Message> {
    let mut formula = SourceFormula::of_server(objects);
    let (mut names, mut others) = (Vec::new(), Vec::new());
    for scheduler in listed_schedulers(objects) {
        if scheduler.name == DEFAULT {
            formula = formula.or(scheduler.formula);
        } else if let Some(formula) = scheduler.formula {
            names.push(scheduler.name);
            others.push(formula);
        }
    }
    if takes_any && others.len() == 1 {
        formula = formula.or(others.pop());
    }
    formula.ok_or_else(|| {
        let missing = if names.is_empty() {
            format!(
                "`{source_name}` has no `job_sort_formula`; a server without one orders jobs as the formula `0` does"
            )
        } else {
            format!(
                "`{source_name}` has no formula of the default scheduler, only that of {}; to use it, give the formula itself",
                quoted_list(names)
            )
        };
        missing.into()
    })
}

/// Extracts the formula from text that was pasted with its surroundings: `job_sort_formula = …` as
/// `qstat -Bf` prints it, the directive `set server job_sort_formula = "…"`, or the whole command
/// `qmgr -c '…'`. `None` for any other text.
///
/// ```
/// use jsf_openpbs::files::formula_text::pasted;
///
/// assert_eq!(pasted("job_sort_formula = a + b").as_deref(), Some("a + b"));
/// assert_eq!(pasted(r#"qmgr -c 'set server job_sort_formula = "a + b"'"#).as_deref(), Some("a + b"));
/// assert_eq!(pasted("a + b"), None);
/// ```
pub fn pasted(text: &str) -> Option<String> {
    let directive = match command(text) {
        Command::Qmgr(argument) => argument.ok()?,
        Command::Other(text) => text.to_owned(),
    };
    let is_set = matches!(verb(&directive), Some(("set" | "s", _)));
    if !is_set && !directive.starts_with("job_sort_formula") {
        return None;
    }
    let objects = Objects::read(&directive);
    // `job_sort_formula = …` without a directive belongs to no object
    let object_attributes = objects.objects.iter().flat_map(|object| &object.attributes);
    let formula = SourceFormula::in_attributes(objects.attributes.iter().chain(object_attributes));
    Some(formula?.text)
}

/// What a text is that was given as a formula and is a directive of `qmgr`, or a line of
/// sched_config, without a formula; `None` for any other text.
pub fn other_directive(text: &str) -> Option<Message> {
    let problem = match command(text) {
        Command::Qmgr(Err(problem)) => problem.into(),
        Command::Qmgr(Ok(directive)) => problem_of(&directive)?,
        Command::Other(text) => problem_of(text)?,
    };
    let given: String = text.trim().chars().take(MAX_SHOWN).collect();
    Some(problem.after(format!("`{given}` ")))
}

/// Of what sets no formula.
const NO_FORMULA: &str =
    "sets no formula; write job_sort_formula = \"FORMULA\", or give the formula alone";
/// Of a directive in quotes, or a formula in quotes, that does not end.
const OPEN_QUOTE: &str = "has a quote that is never closed; add it, or give the formula alone";
/// Of a command whose last character joins the next line to it.
const OPEN_LINE: &str = "ends with a backslash, with which a shell goes on in the next line; remove it, or give the formula alone";

/// Why a directive sets no formula.
fn problem_of(directive: &str) -> Option<Message> {
    let assignment = match verb(directive) {
        Some(("unset" | "u", _)) => return Some(NO_FORMULA.into()),
        Some(("print" | "p" | "list" | "l", _)) => {
            return Some(Message::asking(
                "is a command, not a formula; ",
                [Need::CommandOutput],
            ));
        }
        Some((_, rest)) => rest,
        // sched_config is written so, but has no such setting
        None if directive.starts_with("job_sort_formula:") => return Some(NO_FORMULA.into()),
        None if directive.starts_with("job_sort_formula") => directive,
        None => {
            if !directive
                .strip_prefix("job_sort_key")?
                .starts_with([':', ' '])
            {
                return None;
            }
            let problem = "is a line of sched_config, not a formula; ";
            return Some(Message::asking(problem, [Need::SchedConfig]));
        }
    };
    let (target, value) = assignment.split_once('=').unwrap_or((assignment, ""));
    let attribute = target.split_whitespace().last().unwrap_or_default();
    let value = value.trim();
    let quote = value.chars().next().unwrap_or_default();
    let is_directive = verb(directive).is_some();
    Some(match attribute {
        "job_sort_formula" if !assignment.contains('=') && is_directive => NO_FORMULA.into(),
        "job_sort_formula" if matches!(quote, '"' | '\'') && !value[1..].contains(quote) => {
            OPEN_QUOTE.into()
        }
        "job_sort_formula" => return None,
        "job_sort_formula_threshold" => {
            let problem = "sets the value that a job must exceed to run, not a formula; ";
            Message::asking(problem, [Need::Threshold])
        }
        other if is_directive => {
            let problem = format!("sets `{other}`, not `job_sort_formula`; ");
            Message::asking(problem, [Need::ServerSettings])
        }
        _ => return None,
    })
}

/// A text as a shell command.
enum Command<'t> {
    /// `qmgr -c` with its directive, or why the shell finds no end of that.
    Qmgr(Result<String, &'static str>),
    /// Anything else, without a prompt before it.
    Other(&'t str),
}

fn command(text: &str) -> Command<'_> {
    let text = text.trim_start();
    let mut command = text;
    for prompt in ["$ ", "# ", "Qmgr: "] {
        command = text.strip_prefix(prompt).unwrap_or(command).trim_start();
    }
    let command = command.strip_prefix("sudo ").unwrap_or(command);
    let command = command.trim_start();
    if let Some((program, arguments)) = command.split_once(char::is_whitespace)
        && let Some(argument) = arguments.trim_start().strip_prefix("-c")
        && (program == "qmgr" || program.ends_with("/qmgr"))
    {
        let directive = shell_word(argument.trim_start());
        return Command::Qmgr(directive.map(|directive| directive.trim().to_owned()));
    }
    Command::Other(command)
}

/// The verb of a directive of `qmgr` about the server or a scheduler, and what follows the object.
fn verb(directive: &str) -> Option<(&str, &str)> {
    let (verb, rest) = directive.trim_start().split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let (object, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (verb, object) {
        ("set" | "s" | "unset" | "u" | "print" | "p" | "list" | "l", "server" | "s" | "sched") => {
            Some((verb, rest))
        }
        _ => None,
    }
}

/// The first word of a shell command, without its quotes, or why it has no end.
fn shell_word(command: &str) -> Result<String, &'static str> {
    let mut words = Shlex::new(command);
    let first = words.next();
    if !words.had_error {
        return Ok(first.unwrap_or_default());
    }
    // a character behind it ends an escape, and no quote
    let longer = format!("{command}.");
    let mut words = Shlex::new(&longer);
    words.next();
    Err(if words.had_error {
        OPEN_QUOTE
    } else {
        OPEN_LINE
    })
}

/// Whether a listing of `qmgr` has nothing but formulas and their thresholds, as directives that
/// are still to be run: `qmgr` prints a heading above what the server has.
pub fn sets_only_formulas(listing: &str) -> bool {
    for line in listing.lines().map(str::trim) {
        let is_directive = !line.is_empty() && !line.starts_with('#');
        if line.starts_with(PRINTED) || is_directive && !line.contains("job_sort_formula") {
            return false;
        }
    }
    true
}

/// The heading above the attributes of the server in what `qmgr` prints.
const PRINTED: &str = "# Set server attributes";

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(document: &str) -> Result<String, Message> {
        formula_in("f", &Objects::read(document), false).map(|formula| formula.text)
    }

    #[test]
    fn the_last_directive_counts() {
        let set = |formula: &str| format!("set server job_sort_formula = \"{formula}\"\n");
        let [a, b] = ["a + b", "b"].map(set);
        let formula = |document: &str| formula(document).ok();
        assert_eq!(formula(&format!("{b}{a}")).as_deref(), Some("a + b"));
        assert_eq!(
            formula(&format!("{b}unset server job_sort_formula\n{a}")).as_deref(),
            Some("a + b")
        );
        assert_eq!(
            formula(&format!("{a}set server scheduling = True\n")).as_deref(),
            Some("a + b")
        );
        assert_eq!(
            formula(&format!("{a}unset server scheduling, job_sort_formula\n")),
            None
        );
        assert_eq!(
            formula(&format!("{a}unset server job_sort_formula_threshold\n")).as_deref(),
            Some("a + b")
        );
    }

    #[test]
    fn directives_to_be_run_have_no_heading() {
        let directive = "set server job_sort_formula = \"a\"\n";
        assert!(sets_only_formulas(directive));
        assert!(sets_only_formulas(&format!(
            "# new\n{directive}set server job_sort_formula_threshold = 1\n"
        )));
        assert!(!sets_only_formulas(&format!(
            "#\n# Set server attributes.\n#\n{directive}"
        )));
        assert!(!sets_only_formulas(&format!(
            "set server scheduling = True\n{directive}"
        )));
    }

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
            "Server: vm|scheduling=True|job_sort_formula=a + b|x=y\n",
        ] {
            assert_eq!(formula(document).as_deref(), Ok("a + b"), "{document}");
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
            assert_eq!(formula(text).as_deref(), Ok("a + b"), "{text}");
        }
        for text in [
            "",
            "a + b",
            "qmgr",
            "qmgr -c 'set",
            "qmgr - c",
            "set server scheduling = True",
            "job_sort_formula",
        ] {
            assert_eq!(pasted(text), None, "{text}");
        }
    }

    #[test]
    fn a_directive_without_a_formula_is_named() {
        for (text, problem) in [
            (
                "set server job_sort_formula_threshold = 5",
                "apart from it the threshold",
            ),
            (
                "job_sort_formula_threshold=\"0.5\"",
                "apart from it the threshold",
            ),
            (
                "qmgr -c 's s job_sort_formula_threshold = 7'",
                "apart from it the threshold",
            ),
            (
                "set sched default job_sort_formula_threshold = 5\n",
                "apart from it the threshold",
            ),
            ("unset server job_sort_formula", "sets no formula"),
            ("Qmgr: unset server job_sort_formula", "sets no formula"),
            ("set server job_sort_formula = \"a + b", "never closed"),
            ("job_sort_formula = 'a + b", "never closed"),
            ("qmgr -c \"set server job_sort_formula = a", "never closed"),
            ("set server job_sort_formula", "sets no formula"),
            ("set server scheduling = true", "sets `scheduling`"),
            ("qmgr -c 'print server'", "give what it prints"),
            ("job_sort_key: \"ncpus HIGH\"", "sched_config"),
            ("job_sort_formula: a + b", "sets no formula"),
        ] {
            let Some(found) = other_directive(text) else {
                panic!("{text}")
            };
            assert!(found.to_string().contains(problem), "{text}: {found}");
            assert_eq!(formula(text), Err(found), "{text}");
        }
        for text in [
            "",
            "a + b",
            "s - s",
            "set + server",
            "job_sort_formula",
            "job_sort_formula = a",
            "# a",
            "qmgr - c",
        ] {
            assert_eq!(other_directive(text), None, "{text}");
        }
    }

    #[test]
    fn a_missing_formula_is_an_error() {
        for (document, expected) in [
            (" \n", "`f` is empty"),
            ("Server: vm\n    x = 1\n", "`f` has no `job_sort_formula`"),
            ("{\"Server\":{\"vm\":{}}}", "`f` has no `job_sort_formula`"),
        ] {
            let refusal = formula(document).expect_err(document).to_string();
            assert!(refusal.starts_with(expected), "{refusal}");
        }
    }
}
