//! The arguments of `jsf fmt`.

use clap::Args;

use crate::cli::args::FormulaArgs;

/// `jsf fmt`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf fmt 'a+b*( c-1 )'
  jsf fmt --check -f examples/formulas/nas.txt")]
pub struct FmtArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// Exit with 1 if the formula is not formatted
    ///
    /// The formula is not printed
    #[arg(long)]
    pub check: bool,
}
