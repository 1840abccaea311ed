//! `jsf replay`: its arguments, and what it does.

use std::io::Write;
use std::path::PathBuf;

use crate::cli::args::{AnswerArgs, FormulaArgs};
use crate::cli::formula::{GivenFormula, check_and_report, read_formula};
use crate::cli::messages::{print_message, warn_all};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::site::{SiteArgs, require_one_reader};
use crate::commands::replay::ReplayAnswer;
use clap::Args;

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
    let formula = ("the formula", arguments.formula.file());
    let log = ("the log", Some(&*arguments.log));
    require_one_reader(&[], &arguments.site, &[formula, log])?;
    let site = arguments.site.open(arguments.formula.file(), None)?;
    let source = read_formula(&arguments.formula, Some(&site))?;
    let given = GivenFormula::new(source, arguments.site.numbers);
    let formula = given.parsed()?;
    let is_document = arguments.answer.format.is_document();
    arguments.site.show(&site, is_document);
    warn_all(&site.warnings());
    let outcome = check_and_report(&site, &given)?;
    let compared = site.replay(&arguments.log, formula)?;
    warn_all(&compared.warnings);
    let answer = ReplayAnswer {
        formula: given.text(),
        python: site.python().0,
        python_in_words: &site.python_in_words(),
        replay: &compared.replay,
    };
    Output::new(arguments.answer, &[]).write(&answer, out)?;
    if compared.replay.is_empty() {
        print_message(
            "error",
            format_args!(
                "nothing was compared, so nothing is proved: no job of `{}` is in the queue; give with --queue the jobs \
                 that were waiting when the log was written",
                arguments.log.display()
            ),
        );
    }
    if compared.replay.unexplained > 0 || compared.replay.is_empty() {
        return Ok(Outcome::Findings);
    }
    Ok(outcome)
}
