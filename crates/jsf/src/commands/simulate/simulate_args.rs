//! The arguments of `jsf simulate`.

use std::path::PathBuf;

use clap::{Arg, Args};
use job_sort_formula::rank::OldNew;
use jsf_simulate::MAX_JOBS;

use crate::answer::Format;
use crate::cli::args::{AnswerArgs, CsvArgs, FormulaArgs, ReportArgs, format, number_within, seed};
use crate::cli::site::{SiteArgs, argument_of_log};
use crate::log_options::LogOptions;

const FORMATS: [Format; 5] = [
    Format::Human,
    Format::Markdown,
    Format::Json,
    Format::Csv,
    Format::Swf,
];

/// `jsf simulate`
#[derive(Debug, Args)]
#[command(after_help = "\
Jobs are submitted as in the log, and one cycle of OpenPBS's scheduler, by the rules of the site, follows each submission and each \
end. Without a site the higher value of the formula comes first, then the earlier submission, then the lower id. \
docs/simulation.md says what is modelled, how far to trust an interval, what --shake shows and how goals are judged; \
docs/input.md has the formats of logs, which are recognised by their content, and docs/commands.md the keys of the JSON.

The formula gets ncpus (the processors), walltime, eligible_time (the time since the submission, without that for which a limit or \
the threshold stops it), the fair-share numbers, and the job's other resources where the log has them. queue_priority is that of \
--queues. What the log does not have is 0, with a warning.

--backfill says, in place of the site's rules, what happens behind the first job that does not start:
  easy    later jobs start if, as far as walltimes tell, they do not delay it
  greedy  later jobs start wherever they fit
  none    later jobs wait

With --old and --new, each difference of waits has an interval that contains it with a confidence of 95 %; a star (`significant` \
in JSON) marks what is more than chance.

Exit codes: 0 success, 1 the formula is invalid or crashes the scheduler (of two, the new one), or fails for a job under \
--on-error fail, or a goal is missed, 2 usage error, or a file that cannot be read.

Examples:
  jsf simulate --old eligible_time --new ncpus --generate 900 --processors 64
  jsf simulate --new 'fairshare_factor * 100 + eligible_time / 3600' \\
      --site examples/site --workload examples/site/accounting.gz \\
      --processors 256")]
#[command(mut_args(of_simulation))]
pub struct SimulateArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// Two formulas.
    #[command(flatten, next_help_heading = "Two formulas")]
    pub sides: TwoFormulas,
    /// The log.
    #[command(flatten, next_help_heading = None::<&str>)]
    pub log: LogOptions,
    /// Instead of a log, generate this many jobs
    ///
    /// They are plausible for the machine, after the model of Lublin and Feitelson (2003)
    #[arg(long, value_name = "JOBS", requires = "processors", value_parser = generated_jobs)]
    pub generate: Option<usize>,
    /// With --generate: the load
    ///
    /// The fraction of the machine that the jobs would hold if none waited
    #[arg(long, value_name = "F", default_value_t = 0.9, requires = "generate", value_parser = load, hide_short_help = true)]
    pub load: f64,
    /// With --generate: the seed
    ///
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1, requires = "generate", value_parser = seed, hide_short_help = true)]
    pub seed: u64,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Fill values into the formula, a run each
    ///
    /// `a=1,2,5` or `a=1:10:4` (four values from 1 to 10) in the place of `{a}`; repeat the option
    /// for several: every combination is simulated, and has a row
    #[arg(long, value_name = "NAME=VALUES", value_parser = param, conflicts_with_all = ["old", "new", "old_file", "new_file", "report", "validate"])]
    pub param: Vec<Param>,
    /// Judge the waits by the goals in this file
    ///
    /// TOML with a `[[goal]]` each: name, jobs (a condition such as `walltime <= 3600`), queue,
    /// entity or group, measure, statistic, at_most or at_least; exit code 1 if the (new) formula
    /// misses one
    #[arg(long, value_name = "FILE")]
    pub goals: Option<PathBuf>,
    /// Simulate N times more, with moved submissions
    ///
    /// By up to 30 s, and tell how far the results differ; two formulas are compared on the same
    /// moves
    #[arg(long, value_name = "N", value_parser = runs, hide_short_help = true)]
    pub shake: Option<u64>,
    /// Replace the names of entities and groups
    ///
    /// By u1, u2 … and g1, g2 … in everything that is written; warnings and errors about the files
    /// of the site, which may quote their names, are hidden
    #[arg(long)]
    pub anonymise: bool,
    /// Compare the waits with those in the log
    ///
    /// Report how far the simulated waits differ from those in the log, to judge the simulation
    /// under the formula that was in force
    #[arg(long, conflicts_with_all = ["old", "new", "old_file", "new_file", "generate"])]
    pub validate: bool,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// How CSV is written.
    #[command(flatten)]
    pub csv: CsvArgs,
    /// A page.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// The formulas before and after a change.
#[derive(Debug, Args)]
pub struct TwoFormulas {
    /// The formula before a change
    ///
    /// The log is simulated under it and under --new [default: FORMULA, or the site's]
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    old: Option<String>,
    /// The formula after a change
    ///
    /// [default: FORMULA, or the site's]
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    new: Option<String>,
    /// The file that contains the old formula
    ///
    /// As for -f
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    pub old_file: Option<PathBuf>,
    /// The file that contains the new formula
    #[arg(long, value_name = "FILE", conflicts_with = "new")]
    pub new_file: Option<PathBuf>,
}

/// An argument of several commands as a simulation has it.
fn of_simulation(argument: Arg) -> Arg {
    // a simulation reads other things of these files than a ranking
    let help = match argument.get_id().as_str() {
        "format" => return argument.value_parser(format(&FORMATS)),
        "site" => {
            "The site, as for `jsf rank` [default: the environment variable JSF_SITE]; its formula, resources, queues with their \
             limits, and fair-share tree with its decay are used"
        }
        "sched-priv" => {
            "The scheduler's folder sched_priv: its shares, its usage and its sched_config"
        }
        "sched-config" => {
            "The sched_config, instead of the one in --sched-priv: its order of jobs, backfilling, usage and decay"
        }
        "server" => {
            "The server: `qstat -Bf` as text or JSON, `qmgr -c 'print server'`; its formula (if none is given), its limits \
             and its backfill_depth are used"
        }
        "queues" => {
            "The queues with their priorities, limits and backfill_depth: `qstat -Qf` as text or JSON, `qmgr -c 'print server'`"
        }
        "numbers" => {
            "The numbers of the formula: openpbs, inputs as OpenPBS prints them and the value as float32; exact, doubles; \
             decimal is not available here"
        }
        "on_error" => {
            "The value of a job whose evaluation fails: 0, 0 with exit code 1, or no value, so that the job ranks last"
        }
        "queue" => return argument.hide(true),
        "workload" => {
            return argument
                .required_unless_present("generate")
                .conflicts_with("generate");
        }
        // what is said of a log is not said of generated jobs
        "cancelled" | "overrun" | "processors_of" | "from" | "to" => {
            return argument.conflicts_with("generate");
        }
        _ => return argument_of_log(argument),
    };
    argument.help(help)
}

impl TwoFormulas {
    /// The formula of either side.
    pub(crate) fn formulas(&self) -> OldNew<FormulaArgs> {
        let files = [&self.old_file, &self.new_file];
        FormulaArgs::of_sides([&self.old, &self.new], files)
    }
}

/// The values that are filled into a formula for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// The name in braces.
    pub name: String,
    /// The values, as they are written into the formula.
    pub values: Vec<String>,
}

/// The most values of a parameter.
const MAX_VALUES: usize = 10_000;

/// Parses `a=1,2,5` or `a=1:10:4`.
fn param(text: &str) -> Result<Param, String> {
    let expected = "expected NAME=1,2,5 or NAME=LOW:HIGH:COUNT, such as a=1:10:4";
    let (name, values) = text.split_once('=').ok_or(expected)?;
    let name = name.trim().to_owned();
    if !is_name(&name) {
        return Err(expected.to_owned());
    }
    let mut listed = Vec::new();
    match values.split(':').collect::<Vec<_>>()[..] {
        [low, high, count] => {
            let count = number_within(count.trim(), 2..=MAX_VALUES, "").map_err(|_| expected)?;
            let low = finite(low).ok_or(expected)?;
            let high = finite(high).ok_or(expected)?;
            let step = (high - low) / (count - 1) as f64;
            for index in 0..count {
                listed.push((low + step * index as f64).to_string());
            }
        }
        [list] => {
            for value in list.split(',') {
                listed.push(value.trim().to_owned());
            }
        }
        _ => return Err(expected.to_owned()),
    }
    for value in &listed {
        if finite(value).is_none() {
            return Err(format!("`{value}` is not a number; {expected}"));
        }
    }
    Ok(Param {
        name,
        values: listed,
    })
}

/// Whether a text in braces is the name of a parameter.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.contains(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

fn finite(text: &str) -> Option<f64> {
    // `inf` and `nan` are numbers for Rust, and names in a formula
    let value: f64 = text.trim().parse().ok()?;
    value.is_finite().then_some(value)
}

fn generated_jobs(text: &str) -> Result<usize, String> {
    let expected = format!("a number of jobs from 1 to {MAX_JOBS}");
    number_within(text, 1..=MAX_JOBS, expected)
}

fn runs(text: &str) -> Result<u64, String> {
    number_within(text, 1..=u64::MAX, "a number of runs from 1 on, such as 20")
}

fn load(text: &str) -> Result<f64, String> {
    number_within(
        text,
        0.001..=100.0,
        "a fraction of the machine, such as 0.9",
    )
}

impl SimulateArgs {
    /// Whether two formulas are to be compared.
    pub(crate) fn is_change(&self) -> bool {
        let OldNew { old, new } = self.sides.formulas();
        old.is_given() || new.is_given()
    }
}
