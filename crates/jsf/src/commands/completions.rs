//! `jsf completions`

use std::io::Write;

use clap::CommandFactory;

use crate::cli::args::Cli;
use crate::cli::{CliError, Outcome};

pub(crate) fn run(shell: clap_complete::Shell, out: &mut impl Write) -> Result<Outcome, CliError> {
    // `generate` panics if it cannot write
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "jsf", &mut script);
    out.write_all(&script)?;
    Ok(Outcome::Fine)
}
