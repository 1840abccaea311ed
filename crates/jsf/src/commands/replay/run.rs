//! `jsf replay`: its arguments, and what it does.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use jsf_site::is_stdin;

use crate::cli::args::site::{SiteArgs, require_one_reader};
use crate::cli::args::{AnswerArgs, FormulaArgs};
use crate::cli::output::Output;
use crate::cli::queue::check_and_report;
use crate::cli::{CliError, Outcome, parsed_formula, read_formula, report, show_site, warn_all};
use crate::commands::replay::answer::ReplayReport;

/// `jsf replay`
#[derive(Debug, Args)]
#[command(after_help = "\
Lines such as `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` give the value that the scheduler computed for \
a job. Its digits are compared with those that OpenPBS would log for the value that the formula gives to this job of \
--queue; other lines are skipped. For the differences of a cycle, jsf tries three explanations: another formula of the \
site's files, or of lines of the server's log in LOG; an eligible_time that is later or earlier by the same time, \
because the queue was captured at another moment; usage that has decayed more or less often. Each must give more than \
half of the differing values.

The first line is the answer, then one line for each cause that differences have in common, then the first ten \
differences, and the counts.

Exit codes: 0 all compared values are equal or explained, 1 a difference is unexplained, or no job of the log is in \
the queue, 2 usage error, or a file that cannot be read.

Examples:
  jsf replay examples/site/sched.log --sched-priv examples/site/sched_priv \\
      --queue examples/site/qstat.json
  jsf replay examples/site/sched.log --site examples/site
  jsf replay examples/site/sched.log --site examples/site --format json")]
pub struct ReplayArgs {
    /// The log of pbs_sched; - is standard input
    ///
    /// Plain or compressed (.gz, .zst)
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

pub(crate) fn run(arguments: &ReplayArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let formula = ("the formula", arguments.formula.is_from_stdin());
    let log = ("the log", is_stdin(&arguments.log));
    require_one_reader(&[], &arguments.site, &[formula, log])?;
    let site = arguments.site.open(&arguments.formula, None)?;
    let source = read_formula(&arguments.formula, Some(&site))?;
    let submitted = source.submitted(arguments.site.numbers);
    let formula = parsed_formula(&source, &submitted)?;
    show_site(
        &arguments.site,
        &site,
        arguments.answer.format.is_document(),
    );
    warn_all(&site.warnings());
    let outcome = check_and_report(&site, &source, &submitted)?;
    let compared = site.replay(&arguments.log, formula)?;
    warn_all(&compared.warnings);
    let python_in_words = site.python_in_words();
    let answer = ReplayReport::new(
        &source.text,
        site.python().0,
        &python_in_words,
        &compared.replay,
    );
    Output::of(arguments.answer, &[]).write(&answer, out)?;
    if compared.replay.is_empty() {
        report(
            "error",
            format_args!(
                "nothing was compared, so nothing is proved: no job of `{}` is in the queue; give with --queue the jobs \
                 that were waiting when the log was written",
                arguments.log.display()
            ),
        );
    }
    Ok(
        if compared.replay.unexplained > 0 || compared.replay.is_empty() {
            Outcome::Findings
        } else {
            outcome
        },
    )
}
