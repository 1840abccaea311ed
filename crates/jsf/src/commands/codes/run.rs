//! `jsf codes`

use std::io::Write;

use job_sort_formula::diagnostic::Code;

use crate::cli::output::Output;
use crate::cli::{CliError, Outcome};
use crate::commands::codes::answer::Codes;
use crate::commands::codes::request::CodesArgs;

pub(crate) fn run(arguments: &CodesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    match &arguments.code {
        Some(name) => {
            let code = Code::find(name).ok_or_else(|| {
                CliError::usage(format!(
                    "`{name}` is not a known code; `jsf codes` lists all codes"
                ))
            })?;
            write!(out, "{}", code.page())?;
        }
        None => Output::new(arguments.format, arguments.text, &[]).write(&Codes::all(), out)?,
    }
    Ok(Outcome::Fine)
}
