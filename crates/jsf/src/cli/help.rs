//! The help of the commands, their manual pages and completions, and a tip where an argument is wrong.
//! `-h` is one screen, with the usage, examples and the command's own options; `--help` has
//! everything, and so have `jsf man` and `jsf completions`.

use std::ffi::OsString;
use std::io::Write;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction};

use crate::cli::formula::looks_like_an_option;
use crate::cli::outcome::{CliError, Outcome};

/// The examples after the usage that `-h` shows, which is one screen.
const MOST_EXAMPLES: usize = 3;
/// The options of the site that `-h` names: the first of these that a command has.
const CONTEXT_OPTIONS: [&str; 5] = ["site", "queue", "sched-priv", "tree", "server"];
const MOST_CONTEXT_OPTIONS: usize = 3;
/// The headings of the options that only `--help` shows.
const CONTEXT_HEADINGS: [&str; 3] = ["Context", "Rules", "The log"];
/// The usage comes first, then the examples, then the options.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// A command whose help is arranged, and that of its subcommands.
pub(crate) fn arranged(command: clap::Command) -> clap::Command {
    let command = with_notes(command)
        .help_template(TEMPLATE)
        .mut_args(arranged_argument);
    command.mut_subcommands(arranged)
}

/// The command with its examples after the usage, and what else it says after the options in
/// `--help` only.
fn with_notes(command: clap::Command) -> clap::Command {
    let text = command
        .get_after_long_help()
        .or(command.get_after_help())
        .map(StyledStr::to_string)
        .unwrap_or_default();
    let (mut examples, mut notes, mut short_notes) = (Vec::new(), Vec::new(), Vec::new());
    for paragraph in text.split("\n\n") {
        if paragraph.starts_with("Example") {
            examples.push(paragraph);
            continue;
        }
        notes.push(paragraph);
        // such as the requests of pbsfs
        if paragraph.contains("\n  -") {
            short_notes.push(paragraph.to_owned());
        }
    }
    short_notes.extend(context_line(&command));
    let examples = examples.join("\n\n");
    let command = match examples.as_str() {
        "" => command,
        all => command
            .before_help(first_examples(all))
            .before_long_help(all.to_owned()),
    };
    command
        .after_help(short_notes.join("\n\n"))
        .after_long_help(notes.join("\n\n"))
}

/// The heading of examples and the first of them.
fn first_examples(examples: &str) -> String {
    let mut ended = 0;
    let mut lines = Vec::new();
    for line in examples.lines() {
        if ended == MOST_EXAMPLES {
            break;
        }
        // an example goes on in the next line after a backslash
        ended += usize::from(line.starts_with("  ") && !line.ends_with('\\'));
        lines.push(line);
    }
    lines.join("\n")
}

/// A line that names options of the site, which `-h` does not list.
fn context_line(command: &clap::Command) -> Option<String> {
    let mut named = Vec::new();
    for name in CONTEXT_OPTIONS {
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|argument| argument.get_long() == Some(name));
        if let Some(argument) = argument
            && is_context(argument)
            && !argument.is_hide_set()
            && let Some([value, ..]) = argument.get_value_names()
            && named.len() < MOST_CONTEXT_OPTIONS
        {
            named.push(format!("--{name} {value}"));
        }
    }
    if named.is_empty() {
        return None;
    }
    Some(format!("context: {}, … (all: --help)", named.join(", ")))
}

fn is_context(argument: &Arg) -> bool {
    let heading = argument.get_help_heading();
    CONTEXT_HEADINGS.contains(&heading.unwrap_or_default())
}

/// An option of which `-h` has one line, or none if it is of the site.
fn arranged_argument(argument: Arg) -> Arg {
    if is_context(&argument) {
        return argument.hide_short_help(true);
    }
    let values = argument.get_possible_values();
    let takes_one = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    if values.is_empty() || !takes_one {
        return argument;
    }
    let help = argument
        .get_long_help()
        .or(argument.get_help())
        .map(StyledStr::to_string)
        .unwrap_or_default();
    let mut width = 0;
    for value in &values {
        width = width.max(value.get_name().len() + 1);
    }
    // as clap lists them
    let mut help = format!("{help}\n\nPossible values:");
    for value in &values {
        let name = value.get_name();
        help += &match value.get_help() {
            Some(help) => format!("\n- {:width$} {help}", format!("{name}:")),
            None => format!("\n- {name}"),
        };
    }
    argument.hide_possible_values(true).long_help(help)
}

/// The error, with a tip if an argument is probably a formula, or a part of one that the shell has
/// split.
pub(crate) fn with_tip(
    mut error: clap::Error,
    cli: clap::Command,
    arguments: &[OsString],
) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && error.get(ContextKind::Suggested).is_none()
        && let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg)
        && !argument.starts_with("--")
        && let Some(tip) = tip_for(cli, arguments)
    {
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// How the command takes a formula; `None` if it takes none, or if there is no command.
fn tip_for(mut cli: clap::Command, arguments: &[OsString]) -> Option<String> {
    // the options of every command
    cli.build();
    let mut words = arguments.iter().filter_map(|argument| argument.to_str());
    let command = words.find_map(|word| cli.find_subcommand(word))?;
    let mut takes_formula = false;
    let mut known = Vec::new();
    for argument in command.get_arguments() {
        takes_formula |= argument.is_positional() && argument.get_id() == "formula";
        known.extend(argument.get_long_and_visible_aliases().unwrap_or_default());
    }
    if !takes_formula {
        let takes_new = known.contains(&"new");
        return takes_new.then(|| "give the new formula with --new, in single quotes".to_owned());
    }
    // what begins with a hyphen may be a formula, so clap takes the first unknown option for it
    for word in words {
        let option = word.trim_start_matches('-');
        let name = option.split('=').next().unwrap_or_default();
        if looks_like_an_option(word) && !known.contains(&name) {
            return Some(if option == "formula" {
                "the formula has no option: give it by itself, in single quotes".to_owned()
            } else {
                format!("there is no option --{option}")
            });
        }
    }
    Some("a formula is one argument: put it into single quotes".to_owned())
}

pub(crate) fn write_manual(
    cli: clap::Command,
    name: Option<&str>,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    // the pages are the same for all machines, and `help` has none
    let mut all = cli.long_version(None::<&str>).disable_help_subcommand(true);
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
    // a line that begins with a full stop or a quote would be a request to roff
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

pub(crate) fn write_completions(
    mut cli: clap::Command,
    shell: clap_complete::Shell,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    // `generate` panics if it cannot write
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli, "jsf", &mut script);
    out.write_all(&script)?;
    Ok(Outcome::Fine)
}
