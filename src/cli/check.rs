//! `jsf check` and `jsf fmt`, which report the findings of one formula.

use std::io::Write;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Levels, with_safe_fixes};
use job_sort_formula::pbs::check::Checked;
use job_sort_formula::pbs::qmgr::set_command;
use job_sort_formula::report::{CheckFormat, CheckHuman, CheckJson, CheckReport, Sarif};
use job_sort_formula::site::FormulaText;

use super::args::{CheckArgs, CheckFormatName, FmtArgs};
use super::{CliError, Outcome, draw, read_formula, warn_all};

/// The most rounds of fixes: one fix may uncover the next, as in `LOG(NCPUS)`.
const MAX_FIX_ROUNDS: usize = 8;

pub(super) fn run(arguments: &CheckArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let levels = Levels::new(&arguments.deny, &arguments.allow).map_err(|error| CliError::usage(error.to_string()))?;
    let site = arguments.site.open(arguments.threshold)?;
    let mut source = read_formula(&arguments.formula, Some(&site))?;
    warn_all(site.warnings());
    let check = |source: &FormulaText| -> Result<Checked, CliError> {
        let mut checked = site.check(&source.submitted(arguments.site.number_mode()))?;
        levels.apply(&mut checked.findings);
        Ok(checked)
    };
    let mut checked = check(&source)?;
    warn_all(&checked.warnings);
    if arguments.fix {
        for _ in 0..MAX_FIX_ROUNDS {
            let Some(fixed) = with_safe_fixes(&source.text, &checked.findings) else { break };
            source.text = fixed;
            checked = check(&source)?;
        }
        writeln!(out, "{}", source.text)?;
        checked.findings.iter().for_each(|found| draw(&source, found));
    } else if arguments.qmgr {
        checked.findings.iter().for_each(|found| draw(&source, found));
        let command = set_command(&source.text).map_err(|error| CliError::usage(error.to_string()))?;
        writeln!(out, "{command}")?;
    } else {
        let FormulaText { text, origin, before } = &source;
        let report = CheckReport { formula: text, origin, before, checked: &checked };
        format(arguments.format).write(&report, out)?;
    }
    Ok(if checked.has_errors() { Outcome::Findings } else { Outcome::Fine })
}

fn format(name: CheckFormatName) -> Box<dyn CheckFormat> {
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    match name {
        CheckFormatName::Human => Box::new(CheckHuman { coloured }),
        CheckFormatName::Json => Box::new(CheckJson),
        CheckFormatName::Sarif => Box::new(Sarif),
    }
}

/// `jsf fmt`
pub(super) fn format_formula(arguments: &FmtArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let source = read_formula(&arguments.formula, None)?;
    match Formula::parse(&source.text) {
        Ok(formula) => {
            writeln!(out, "{formula}")?;
            Ok(Outcome::Fine)
        }
        Err(error) => {
            draw(&source, &error.diagnostic());
            Ok(Outcome::Findings)
        }
    }
}
