//! `jsf check`: its arguments, and what it does.

use std::io::Write;

use clap::Args;
use job_sort_formula::diagnostic::Levels;

use crate::answer::Format;
use crate::cli::formula::printable_formula;
use crate::cli::{
    AnswerArgs, CliError, Outcome, Output, QueueArgs, Warnings, draw_all, format, in_options,
    read_formula, show_site,
};
use crate::commands::check::checked_formula::{CheckedFormula, apply_fixes, names};
use crate::commands::check::qmgr::write_qmgr_commands;
use crate::commands::check::view::CheckReport;

const FORMATS: [Format; 4] = [Format::Human, Format::Markdown, Format::Json, Format::Sarif];

/// `jsf check`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf check '2^-(fairshare_tree_usage/fairshare_perc)'
  jsf check -f examples/formulas/alcf.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv
  jsf check --deny warnings --allow JSF6 --format sarif 'fair_share_perc * 100'
  jsf check --fix --qmgr 'math.log(NCPUS + 1)'",
mut_arg("format", |given| given.value_parser(format(&FORMATS))))]
pub struct CheckArgs {
    /// The formula, and the queue on which it is tried.
    #[command(flatten)]
    pub queue: QueueArgs,
    /// Print the formula with all safe fixes applied
    ///
    /// The fixes and the remaining findings go to standard error; a text that is no formula with
    /// them is not printed
    #[arg(long, conflicts_with = "format")]
    pub fix: bool,
    /// Like --fix, but also apply fixes that may be wrong
    #[arg(long, conflicts_with = "format")]
    pub unsafe_fixes: bool,
    /// Print the qmgr command that sets the formula
    ///
    /// It is quoted for the shell and for qmgr, and printed if no finding is an error and, with
    /// jobs, the formula was tried on one or is that of the site; with --threshold, the command
    /// that sets the threshold follows; findings go to standard error
    #[arg(long, conflicts_with = "format")]
    pub qmgr: bool,
    /// With --qmgr: print the command in any case
    ///
    /// Even if a finding is an error or the formula was tried on no job
    #[arg(long, requires = "qmgr")]
    pub force: bool,
    /// Treat these findings as errors
    ///
    /// A code such as JSF203, a prefix such as JSF5, or `warnings`; separate several by commas, or
    /// repeat the option
    #[arg(long, value_name = "CODE")]
    pub deny: Vec<String>,
    /// Do not show these findings
    ///
    /// Given as for --deny; of --deny and --allow, the longer code or prefix wins. A hidden error
    /// still keeps --qmgr from printing the command
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// Report only these findings, and syntax errors
    ///
    /// Given as for --deny
    #[arg(long, value_name = "CODE")]
    pub select: Vec<String>,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(arguments: &CheckArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let levels = Levels::new(&arguments.deny, &arguments.allow, &arguments.select)
        .map_err(CliError::usage)?;
    let QueueArgs {
        formula,
        site: site_given,
        ..
    } = &arguments.queue;
    let site = arguments.queue.open()?;
    let source = read_formula(formula, Some(&site))?;
    let is_document = arguments.answer.format.is_document();
    show_site(site_given, &site, is_document);
    let is_fixed = arguments.fix || arguments.unsafe_fixes;
    let mut warnings = Warnings::new(arguments.qmgr || is_document && !is_fixed);
    let numbers = site.numbers();
    warnings.add_site(&site, &site.warnings_for(&names(&source, &site)));
    let mut formula = CheckedFormula::new(&site, source, &levels)?;
    warnings.show(&formula.checked.warnings);
    if is_fixed {
        formula = apply_fixes(formula, &site, &levels, arguments.unsafe_fixes)?;
    }
    if is_fixed || arguments.qmgr {
        draw_all(&formula.source, &formula.checked.findings);
    }
    formula.note_hidden();
    if arguments.qmgr {
        return write_qmgr_commands(arguments, &site, &formula, warnings, out);
    }
    if is_fixed {
        let submitted = formula.source.submitted(numbers);
        let Ok(parsed) = submitted.formula() else {
            return Ok(Outcome::Findings);
        };
        let text = formula.source.text.trim();
        let fixed = printable_formula(&formula.source, text, parsed, numbers)?;
        writeln!(out, "{fixed}")?;
    } else {
        for found in &mut formula.checked.findings {
            *found = found.clone().worded(in_options);
        }
        let report = CheckReport {
            source: &formula.source,
            checked: &formula.checked,
        };
        Output::of(arguments.answer, &warnings.into_answer()).write(&report, out)?;
    }
    // a hidden error counts only if it prevents the command from being printed
    let is_fine = !formula.checked.has_errors() && formula.reaches_server();
    Ok(Outcome::fine_if(is_fine))
}
