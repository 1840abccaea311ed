//! `jsf shares`: its arguments, and what it does.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::answers::GivenFormula;
use crate::cli::args::{AnswerArgs, FormulaArgs, FormulaOptions, ReportArgs, read_formula};
use crate::cli::messages::answered;
use crate::cli::output::{CliError, Outcome, Output};
use crate::cli::site::{PolicyArg, SiteArgs};
use crate::commands::shares::{SharesAnswer, SharesQuestion};

/// `jsf shares`
#[derive(Debug, Args)]
#[command(after_help = "\
Columns under pbs: shares among the siblings; perc, the part of the machine that they give; usage, in the unit of \
fairshare_usage_res, with that of all members; tree_usage, the part of all usage that is charged to the node; factor, \
2^-(tree_usage/perc), 0.5 on target.
Columns under a policy of Slurm, as in `sshare -l`: shares; norm_shares; raw_usage, in TRES-seconds (billing); norm_usage, its \
part of all usage; effective_usage, the part that is charged to the node; level_fs, shares divided by usage among the \
siblings, from 0 to inf, 1 on target; fairshare, the factor, 0 to 1; tickets, a count.

With --charge or --decay, in the order in which they are given, the output shows each number before and after; with --queue \
also the places that jobs gain. In JSON, `nodes` has the numbers after, `changes` has `before`, `after` and `difference` of \
each node that changes, and `places` has the formula, the jobs and the entities. JSON also has the settings in force: `release`, \
`half_life` in seconds and `dampening_factor` (Slurm), `decay_factor` and `decay_time` in seconds (pbs).

Examples:
  jsf shares --sched-priv examples/site/sched_priv
  jsf shares --tree examples/site/tree.json --policy all
  jsf shares --tree examples/site/tree.json --policy fair-tree \\
      --charge Bob=500 --format json
  jsf shares --sched-priv examples/site/sched_priv --decay 2w \\
      --charge ocean/tmorita=1e8 --queue examples/site/qstat.json")]
pub struct SharesArgs {
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// The entities to show, and the usage to assume.
    #[command(flatten)]
    question: SharesQuestion,
    /// The formula that gives the jobs their places
    ///
    /// With --charge or --decay, and --queue [default: the site's, else fairshare_factor]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    formula: Option<String>,
    /// The file that contains this formula
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "formula")]
    formula_file: Option<PathBuf>,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

pub(crate) fn run(arguments: &SharesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let format = arguments.answer.format;
    let options = FormulaOptions {
        text: "--formula",
        file: "-f",
    };
    let formula = FormulaArgs::new(options, &arguments.formula, &arguments.formula_file);
    let site = arguments.site.open_without_formula()?;
    arguments.site.show(&site, format.is_document());
    let mut given = None;
    if formula.is_given() {
        let source = read_formula(&formula, None)?;
        given = Some(GivenFormula::new(source, site.numbers()));
    }
    let question = SharesQuestion {
        has_all_policies: arguments.site.policy == Some(PolicyArg(None)),
        ..arguments.question.clone()
    };
    let (answer, warnings) = answered(
        "computing the shares",
        format.is_document(),
        |warnings, _| SharesAnswer::new(&site, given, question, warnings),
    )?;
    let read_files = arguments.formula_file.iter().collect();
    Output {
        page_file: arguments.report.page_file(vec![&site], read_files),
        ..Output::new(arguments.answer, &warnings)
    }
    .write_ranking(&answer, arguments.site.on_error, out)
}
