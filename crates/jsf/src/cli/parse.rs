//! Parses the arguments of the process, and prints what `clap` answers instead of a command.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::cli::args::{Cli, ColorArgs};
use crate::cli::formula::looks_like_an_option;
use crate::cli::help::arranged;
use crate::view::printable::{printable, printable_lines};

/// Parses the arguments of this process.
///
/// # Errors
/// They are not valid, or ask for help or the version.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let arguments: Vec<OsString> = arguments.collect();
    let error = match Cli::try_parse_from(&arguments) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    if error.kind() == ErrorKind::DisplayHelp {
        arranged(Cli::command()).try_get_matches_from(&arguments)?;
    }
    Err(with_tip(error, &arguments))
}

/// Prints what `clap` answers instead of a command: the help or the version to standard output, and
/// an error in the arguments to standard error. What it repeats of the arguments is escaped, as
/// everywhere.
pub fn print_answer(mut answer: clap::Error) -> io::Result<ExitCode> {
    if let Some(color) = ColorArgs::find(std::env::args_os()) {
        color.write_global();
    }
    let mut escaped = Vec::new();
    for (kind, value) in answer.context() {
        let mut value = value.clone();
        match &mut value {
            ContextValue::String(text) => *text = printable(text).into_owned(),
            ContextValue::Strings(texts) => {
                for text in texts {
                    *text = printable(text).into_owned();
                }
            }
            _ => continue,
        }
        escaped.push((kind, value));
    }
    for (kind, value) in escaped {
        answer.insert(kind, value);
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
    if error.kind() == ErrorKind::UnknownArgument
        && error.get(ContextKind::Suggested).is_none()
        && let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg)
        && !argument.starts_with("--")
        && let Some(tip) = tip_for(arguments)
    {
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
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
