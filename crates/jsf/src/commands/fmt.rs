//! `jsf fmt`: prints a formula with normalised spaces.

use std::io::Write;

use clap::Args;
use job_sort_formula::Formula;
use jsf_openpbs::NumberMode;

use crate::asked_formula::AskedFormula;
use crate::cli::formula::{FormulaArgs, printable_formula, read_formula};
use crate::cli::messages::print_message;
use crate::cli::outcome::{CliError, Outcome};

/// `jsf fmt`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf fmt 'a+b*( c-1 )'
  jsf fmt --check -f examples/formulas/nas.txt")]
pub struct FmtArgs {
    /// The formula.
    #[command(flatten)]
    formula: FormulaArgs,
    /// Exit with 1 if the formula is not formatted
    ///
    /// The formula is not printed
    #[arg(long)]
    check: bool,
}

impl FmtArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let given = AskedFormula::new(read_formula(&self.formula, None)?, NumberMode::Exact);
        // the lines below the first, which PBS leaves out, may be comments or the rest of the formula
        let whole = Formula::parse(&given.source.all_lines()).ok();
        let first_line = given.parsed();
        if first_line.is_err()
            && let Some(whole) = &whole
        {
            print_message(
                "help",
                format_args!("all lines together are the formula `{whole}`"),
            );
        }
        let first_line = first_line?;
        // the lines below may be comments, which are kept
        let formula = whole.as_ref().unwrap_or(first_line);
        let formatted = printable_formula(
            &given.source,
            &formula.with_comments(),
            formula,
            NumberMode::Exact,
        )?;
        if !self.check {
            writeln!(out, "{formatted}")?;
        } else if formatted != formula.text().trim_end_matches(['\r', '\n']) {
            print_message(
                "error",
                format_args!(
                    "`{}` is not formatted; `jsf fmt` prints: {formatted}",
                    given.source.origin
                ),
            );
            return Ok(Outcome::Findings);
        }
        Ok(Outcome::Fine)
    }
}
