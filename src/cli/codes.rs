//! `jsf codes`

use std::io::Write;

use job_sort_formula::diagnostic::{Code, Severity};

use super::args::CodesArgs;
use super::{CliError, Outcome};

pub(super) fn run(arguments: &CodesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    match &arguments.code {
        Some(name) => {
            let unknown = || CliError::usage(format!("`{name}` is not a known code; `jsf codes` lists all codes"));
            write!(out, "{}", Code::find(name).ok_or_else(unknown)?.page)?;
        }
        None => {
            for code in Code::all() {
                let severity = match code.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Note => "note",
                };
                writeln!(out, "{code}  {severity:7}  {}", code.title)?;
            }
        }
    }
    Ok(Outcome::Fine)
}
