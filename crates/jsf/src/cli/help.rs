//! The help of commands: `-h` is one screen, with the usage, examples and the command's own
//! options; `--help` has everything.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::{PossibleValue, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, CommandFactory, Parser};

use crate::cli::args::{Cli, ColorArgs};
use crate::cli::formula::looks_like_an_option;
use crate::view::printable::{printable, printable_lines};

/// The examples after the usage, as `-h` shows them.
const MOST_EXAMPLES: usize = 3;
/// The options of the site that `-h` names: the first of these that a command has.
const CONTEXT_OPTIONS: [&str; 5] = ["site", "queue", "sched-priv", "tree", "server"];
const MOST_CONTEXT_OPTIONS: usize = 3;
/// The headings of the options that only `--help` shows.
const CONTEXT_HEADINGS: [&str; 3] = ["Context", "Rules", "The log"];
/// The usage comes first, then the examples, then the options.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// Parses the arguments of this process.
///
/// # Errors
/// They are not valid, or ask for help or the version.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let arguments: Vec<OsString> = arguments.collect();
    let parsed = Cli::try_parse_from(&arguments);
    let asks_for_help = parsed
        .as_ref()
        .is_err_and(|error| error.kind() == ErrorKind::DisplayHelp);
    if asks_for_help {
        arranged(Cli::command()).try_get_matches_from(&arguments)?;
    }
    parsed.map_err(|error| with_tip(error, &arguments))
}

/// Prints what `clap` answers instead of a command: the help or the version to standard output, and
/// an error in the arguments to standard error. What it repeats of the arguments is escaped, as
/// everywhere.
pub fn print_answer(mut answer: clap::Error) -> io::Result<ExitCode> {
    if let Some(color) = ColorArgs::find(std::env::args_os()) {
        color.write_global();
    }
    let given: Vec<_> = answer
        .context()
        .map(|(kind, value)| (kind, value.clone()))
        .collect();
    for (kind, value) in given {
        let escaped = match value {
            ContextValue::String(text) => ContextValue::String(printable(&text).into_owned()),
            ContextValue::Strings(texts) => ContextValue::Strings(
                texts
                    .iter()
                    .map(|text| printable(text).into_owned())
                    .collect(),
            ),
            _ => continue,
        };
        answer.insert(kind, escaped);
    }
    if !answer.use_stderr() {
        answer.print()?;
        io::stdout().flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rendered = answer.render().ansi().to_string();
    // the reason why a value is refused may repeat it
    if let Some(reason) = std::error::Error::source(&answer).map(ToString::to_string)
        && let Cow::Owned(escaped) = printable_lines(&reason)
    {
        rendered = rendered.replace(&reason, &escaped);
    }
    // there is no other place to say that nothing can be written
    let _ = write!(anstream::stderr(), "{rendered}");
    Ok(ExitCode::from(2))
}

/// The error, with a tip if an argument is probably a formula, or a part of one that the shell has
/// split.
fn with_tip(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let is_of_formula = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => !argument.starts_with("--"),
        _ => false,
    };
    let has_tip = error.get(ContextKind::Suggested).is_some();
    if error.kind() == ErrorKind::UnknownArgument
        && is_of_formula
        && !has_tip
        && let Some(tip) = tip_for(arguments)
    {
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// How the command takes a formula; `None` if it takes none, or if there is no command.
fn tip_for(arguments: &[OsString]) -> Option<String> {
    let mut cli = Cli::command();
    // the options of every command
    cli.build();
    let mut words = arguments.iter().filter_map(|argument| argument.to_str());
    let command = words.find_map(|word| cli.find_subcommand(word))?;
    if command
        .get_positionals()
        .any(|known| known.get_id() == "formula")
    {
        // what begins with a hyphen may be a formula, so clap takes the first unknown option for it
        let known: Vec<&str> = command
            .get_arguments()
            .filter_map(Arg::get_long_and_visible_aliases)
            .flatten()
            .collect();
        let mut options = words
            .filter(|word| looks_like_an_option(word))
            .map(|word| word.trim_start_matches('-'));
        let unknown = options.find(|option| {
            option
                .split('=')
                .next()
                .is_some_and(|name| !known.contains(&name))
        });
        match unknown {
            Some("formula") => {
                Some("the formula has no option: give it by itself, in single quotes".to_owned())
            }
            Some(option) => Some(format!("there is no option --{option}")),
            None => Some("a formula is one argument: put it into single quotes".to_owned()),
        }
    } else if command.get_opts().any(|known| known.get_id() == "new") {
        Some("give the new formula with --new, in single quotes".to_owned())
    } else {
        None
    }
}

/// A command whose help is arranged, and that of its subcommands.
fn arranged(command: Command) -> Command {
    let command = with_notes(command)
        .help_template(TEMPLATE)
        .mut_args(arranged_argument);
    command.mut_subcommands(arranged)
}

/// The command with its examples after the usage, and what else it says after the options in
/// `--help` only.
fn with_notes(command: Command) -> Command {
    let text = command
        .get_after_long_help()
        .or(command.get_after_help())
        .map(StyledStr::to_string)
        .unwrap_or_default();
    let (examples, notes): (Vec<&str>, Vec<&str>) = text
        .split("\n\n")
        .partition(|text| text.starts_with("Example"));
    let examples = examples.join("\n\n");
    // such as the requests of pbsfs
    let lists_of_options = notes
        .iter()
        .filter(|text| text.contains("\n  -"))
        .map(|text| (*text).to_owned());
    let short_notes: Vec<String> = lists_of_options.chain(context_line(&command)).collect();
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
    let lines = examples.lines().take_while(|line| {
        let is_shown = ended < MOST_EXAMPLES;
        ended += usize::from(line.starts_with("  ") && !line.ends_with('\\'));
        is_shown
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A line that names options of the site, which `-h` does not list.
fn context_line(command: &Command) -> Option<String> {
    let of_command = |name: &&str| {
        command
            .get_arguments()
            .find(|argument| argument.get_long() == Some(*name))
    };
    let options = CONTEXT_OPTIONS
        .iter()
        .filter_map(of_command)
        .filter(|argument| is_context(argument));
    let shown = options
        .filter(|argument| !argument.is_hide_set())
        .take(MOST_CONTEXT_OPTIONS);
    let named = shown.filter_map(|argument| {
        let value = argument.get_value_names()?.first()?;
        Some(format!("--{} {value}", argument.get_long()?))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| format!("context: {}, … (all: --help)", named.join(", ")))
}

fn is_context(argument: &Arg) -> bool {
    argument
        .get_help_heading()
        .is_some_and(|heading| CONTEXT_HEADINGS.contains(&heading))
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
    let width = values
        .iter()
        .map(|value| value.get_name().len())
        .max()
        .unwrap_or(0)
        + 1;
    let values: Vec<String> = values
        .iter()
        .map(|value| line_of_value(value, width))
        .collect();
    argument
        .hide_possible_values(true)
        .long_help(format!("{help}\n\nPossible values:\n{}", values.join("\n")))
}

/// A value of an option, as clap lists it.
fn line_of_value(value: &PossibleValue, width: usize) -> String {
    match value.get_help() {
        Some(help) => format!("- {:width$} {help}", format!("{}:", value.get_name())),
        None => format!("- {}", value.get_name()),
    }
}
