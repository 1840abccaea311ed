//! The help of commands: `-h` is one screen, with the usage, examples and the command's own
//! options; `--help` has everything.

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, ArgAction, Command};

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

/// A command whose help is arranged, and that of its subcommands.
pub(crate) fn arranged(command: Command) -> Command {
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
    let mut lines = Vec::new();
    for line in examples.lines() {
        if ended == MOST_EXAMPLES {
            break;
        }
        ended += usize::from(line.starts_with("  ") && !line.ends_with('\\'));
        lines.push(line);
    }
    lines.join("\n")
}

/// A line that names options of the site, which `-h` does not list.
fn context_line(command: &Command) -> Option<String> {
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
    let longest = values.iter().map(|value| value.get_name().len()).max();
    let width = longest.unwrap_or(0) + 1;
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
