//! `jsf fit`: its arguments, and what it does.

use std::io::Write;

use clap::{Arg, Args};

use crate::cli::args::{AnswerArgs, FormulaArgs, FormulaOptions, ReportArgs, read_formula};
use crate::cli::messages::{answered, watched};
use crate::cli::output::{CliError, Outcome, Output};
use crate::cli::site::{SiteArgs, argument_of_log, readers_of_log, require_one_reader};
use crate::commands::fit::{FitAnswer, FitQuestion, WishedOrder};

/// How the formula in force is given. A file of it has no option: the shell reads it.
const OLD: FormulaOptions = FormulaOptions {
    text: "--old",
    file: "--old \"$(cat FILE)\"",
};

/// `jsf fit`
#[derive(Debug, Args)]
#[command(after_help = "\
A constant to find is written {NAME=START:LOW..HIGH}, with :log behind it where factors matter and not differences, and :int \
where it must be whole:
  '{fs=100:0..500}*fairshare_factor + {age=1:0.01..50:log}*eligible_time/3600'

It meets either a wished order of the jobs that wait now (--prefer, --wishes), or goals about the waits of a log (--goals \
with --workload). A file of wishes has an id in each line, the best job first; blank lines separate groups of equals, and # \
begins a comment. With `id,score` in each line the values of the formula come as near to the scores as they can.

Of the log the first part is searched, then the longest walltime is left out; the last part (--held-out) is never searched. \
The advice is to use the formula only if it gains more there than chance, by the intervals of `jsf simulate`. A log needs \
eight weeks and 2000 jobs, or --force. docs/admin-guide.md says how far to trust the answer.

Exit codes: 0 success, 1 a wish or a goal is not met, or the template or the answer has an error, 2 usage error, or a file that cannot be read.

Examples:
  jsf fit '{fs=9:0..99}*fairshare_factor + {age=1:0..9}*eligible_time/3600' \\
      --site examples/site --prefer 184208 185046
  jsf fit '{fs=9:0..99}*fairshare_factor + {age=1:0..9}*eligible_time/3600' \\
      --site examples/site --workload examples/site/accounting.gz \\
      --processors 256 --goals examples/goals.toml --evaluations 4")]
#[command(mut_args(of_fit))]
pub struct FitArgs {
    /// The template.
    #[command(flatten)]
    formula: FormulaArgs,
    /// What is wanted, and how constants are searched.
    #[command(flatten)]
    question: FitQuestion,
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

/// An argument of several commands as a fit has it.
fn of_fit(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "formula" => argument
            .value_name("TEMPLATE")
            .help("The formula with the constants to find; - is standard input"),
        "formula_file" => argument.help("The file that contains the template"),
        "workload" | "processors" => argument.requires("goals"),
        "backfill" | "warm_up" => argument.requires("goals").hide_short_help(true),
        _ => argument_of_log(argument),
    }
}

impl FitArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let FitArgs {
            formula,
            question,
            site: given_site,
            ..
        } = self;
        let is_document = self.answer.format.is_document();
        let wishes_file = match &question.wishes {
            Some(WishedOrder::File(path)) => Some(path),
            _ => None,
        };
        // standard input can be only one of the files
        let before = [
            ("the template", formula.file()),
            ("--wishes", wishes_file.map(|path| &**path)),
            ("--goals", question.goals.as_deref()),
        ];
        require_one_reader(&before, given_site, &readers_of_log(&question.log))?;
        if !formula.is_given() {
            return Err(CliError::usage(
                "no template: give its text, such as '{a=1:0..50}*ncpus + eligible_time', or -f FILE",
            ));
        }
        if question.goals.is_none() && question.wishes.is_none() && question.prefer.is_empty() {
            return Err(CliError::usage(
                "nothing is wanted: give --prefer or --wishes for the queue, or --goals and --workload for a log",
            ));
        }
        let source = read_formula(formula, None)?;
        let mut question = question.clone();
        let site = if question.goals.is_some() {
            given_site.open_for_log(None)?
        } else {
            given_site.open(None, None)?
        };
        given_site.show(&site, is_document);
        question.usage = given_site.starting_usage();
        if question.old.is_some() {
            let given = FormulaArgs::new(OLD, &question.old, &None);
            question.old = Some(read_formula(&given, None)?.text);
        }
        let (answer, warnings) = answered("fitting", is_document, |warnings, progress| {
            let answer = FitAnswer::new(&site, source, &question, warnings, &watched(progress))?;
            // a document has them
            if !is_document {
                warnings.add(answer.warnings.clone());
            }
            Ok(answer)
        })?;
        let files = formula.formula_file.iter().chain(wishes_file);
        let files = files.chain(&question.goals).chain(&question.log.workload);
        Output {
            page_file: self.report.page_file(vec![&site], files.collect()),
            ..Output::new(self.answer, &warnings)
        }
        .write(&answer, out)?;
        Ok(Outcome::fine_if(answer.is_fine()))
    }
}
