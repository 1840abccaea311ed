//! `jsf replay`: its arguments, and what it does.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use jsf_site::FileSource;

use crate::answers::GivenFormula;
use crate::cli::args::{AnswerArgs, FormulaArgs, check_and_report, read_formula};
use crate::cli::messages::answered;
use crate::cli::output::{CliError, Outcome, Output};
use crate::cli::site::{SiteArgs, require_one_reader};
use crate::commands::replay::ReplayAnswer;

/// `jsf replay`
#[derive(Debug, Args)]
#[command(after_help = "\
Lines such as `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` have the value that the scheduler computed for a job. Its \
digits are compared with those that OpenPBS would log for the value of this job of --queue. For the differences of a cycle, \
jsf tries three explanations: another formula of the site's files, or of the server's log in LOG; another eligible_time, because \
the queue was captured at another moment; usage that has decayed more or less often. Each must give more than half of the \
differing values.

Exit code 1: a difference is unexplained, or no job of the log is in the queue.

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
    log: PathBuf,
    /// The formula.
    #[command(flatten)]
    formula: FormulaArgs,
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(arguments: &ReplayArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let format = arguments.answer.format;
    let formula = ("the formula", arguments.formula.file());
    let log = ("the log", Some(&*arguments.log));
    require_one_reader(&[], &arguments.site, &[formula, log])?;
    let site = arguments.site.open(arguments.formula.file(), None)?;
    arguments.site.show(&site, format.is_document());
    let source = read_formula(&arguments.formula, Some(&site))?;
    let given = GivenFormula::new(source, site.numbers());
    given.parsed()?;
    let outcome = check_and_report(&site, &given)?;
    let log = FileSource::from(&*arguments.log);
    let (answer, warnings) = answered(
        "comparing the values",
        format.is_document(),
        |warnings, _| ReplayAnswer::new(&site, given, log, warnings),
    )?;
    Output::new(arguments.answer, &warnings).write(&answer, out)?;
    if answer.replay.unexplained > 0 || answer.replay.is_empty() {
        return Ok(Outcome::Findings);
    }
    Ok(outcome)
}
