//! The commands that print built-in texts: `jsf codes`, `jsf completions` and `jsf man`.

use std::io::Write;

use clap::CommandFactory;
use job_sort_formula::diagnostic::{Code, Severity};

use super::args::{Cli, CodesArgs};
use super::{CliError, Outcome};

/// `jsf codes`
pub(super) fn codes(arguments: &CodesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    match &arguments.code {
        Some(name) => {
            let unknown = || CliError::usage(format!("`{name}` is not a known code; `jsf codes` lists all codes"));
            write!(out, "{}", Code::find(name).ok_or_else(unknown)?.page)?;
        }
        None => {
            for code in Code::all() {
                let severity = match (word(code.severity), word(code.most_severe)) {
                    (one, other) if one == other => one.to_owned(),
                    (least, most) => format!("{least} or {most}"),
                };
                writeln!(out, "{code}  {severity:16}  {}", code.title)?;
            }
        }
    }
    Ok(Outcome::Fine)
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// `jsf completions`
pub(super) fn completions(shell: clap_complete::Shell, out: &mut impl Write) -> Result<Outcome, CliError> {
    // `generate` panics where it cannot write
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "jsf", &mut script);
    out.write_all(&script)?;
    Ok(Outcome::Fine)
}

/// `jsf man`
pub(super) fn man(name: Option<&str>, out: &mut impl Write) -> Result<Outcome, CliError> {
    let mut all = Cli::command();
    all.build();
    let page = match name {
        None => all,
        Some(name) => {
            let unknown = || CliError::usage(format!("`{name}` is not a command; `jsf --help` lists all commands"));
            let found = all.get_subcommands().find(|command| command.get_name() == name && name != "help");
            found.ok_or_else(unknown)?.clone()
        }
    };
    clap_mangen::Man::new(page).render(out)?;
    Ok(Outcome::Fine)
}
