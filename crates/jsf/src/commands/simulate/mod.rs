//! `jsf simulate`: what is asked, and a log simulated under one formula, or under two side by side, as
//! JSON, CSV and in the Standard Workload Format.

mod simulated_log;
#[cfg(feature = "command")]
mod sweep;
pub(crate) mod view;
mod wait_tables;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Arg, Args};
use job_sort_formula::diagnostic::Severity;
use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::rank::{Consequence, OldNew, OnError};
use jsf_simulate::{Difference, MAX_JOBS, Shake, Validation, Workload, WorkloadJob};
use jsf_site::{Role, SimulatedQueue, SimulationOptions, Site, SiteError, StartingUsage};
use serde::{Deserialize, Serialize, Serializer};

use crate::answers::{Answer, AnswerError, Each, Format, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::{FormulaArgs, NO_NEW_FORMULA, NO_OLD_FORMULA, TwoFormulas, no_formula, read_formula},
    messages::print_message,
    outcome::{CliError, Outcome},
    output::{AnswerArgs, CsvArgs, Output, formats},
    page_file::ReportArgs,
    progress::{on_all_cores, until_interrupted, watched},
    site::{SiteArgs, argument_of_log, kept, readers_of_log, require_one_reader},
};
use crate::commands::simulate::simulated_log::{
    Compared, SimulatedLog, SimulatedSide, meets_goals,
};
use crate::commands::simulate::view::is_fatal;
use crate::csv::{CsvText, CsvWriter, guarded_names};
use crate::questions::log::{LogOptions, Watch, log_counts};
use crate::questions::values::{number_within, seed};
use crate::view::document::Document;
use crate::view::words::printable;

/// The log, how it is run through time, and what is told of it.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct SimulateQuestion {
    /// The log.
    #[serde(flatten)]
    #[command(flatten)]
    pub(crate) log: LogOptions,
    /// Instead of a log, generate this many jobs
    ///
    /// They are plausible for the machine, after the model of Lublin and Feitelson (2003)
    #[serde(skip)]
    #[arg(long, value_name = "JOBS", requires = "processors", value_parser = generated_jobs)]
    pub generate: Option<usize>,
    /// With --generate: the load
    ///
    /// The fraction of the machine that the jobs would hold if none waited
    #[serde(skip)]
    #[arg(long, value_name = "F", default_value_t = 0.9, requires = "generate", value_parser = load, hide_short_help = true)]
    pub load: f64,
    /// With --generate: the seed
    ///
    /// The seed of the random numbers
    #[serde(skip)]
    #[arg(long, value_name = "N", default_value_t = 1, requires = "generate", value_parser = seed, hide_short_help = true)]
    pub seed: u64,
    /// Judge the waits by the goals in this file
    ///
    /// TOML with a `[[goal]]` each: name, jobs (a condition such as `walltime <= 3600`), queue,
    /// entity or group, measure, statistic, at_most or at_least; exit code 1 if the (new) formula
    /// misses one
    #[arg(long, value_name = "FILE")]
    pub goals: Option<PathBuf>,
    /// Replace the names of entities and groups
    ///
    /// By u1, u2 … and g1, g2 … in everything that is written; warnings and errors about the files
    /// of the site, which may quote their names, are hidden
    #[serde(skip)]
    #[arg(long)]
    pub anonymise: bool,
    /// Compare the waits with those in the log
    ///
    /// Report how far the simulated waits differ from those in the log, to judge the simulation
    /// under the formula that was in force
    #[serde(skip)]
    #[arg(long, conflicts_with_all = ["old", "new", "old_file", "new_file", "generate"])]
    pub validate: bool,
    /// The usage that the entities begin with; on a command line it is one of the site.
    #[arg(skip)]
    pub(crate) usage: StartingUsage,
    /// What becomes of jobs for which the formula fails, as the site has it.
    #[serde(skip)]
    #[arg(skip)]
    pub(crate) on_error: OnError,
    /// Whose rules the policy of the site follows.
    #[serde(skip)]
    #[arg(skip)]
    pub(crate) rules: PolicyRules,
}

impl SimulateQuestion {
    /// How the log is run through time.
    pub(crate) fn simulation(&self) -> SimulationOptions {
        self.log.simulation(self.usage)
    }
}

fn generated_jobs(text: &str) -> Result<usize, String> {
    let expected = format!("a number of jobs from 1 to {MAX_JOBS}");
    number_within(text, 1..=MAX_JOBS, expected)
}

fn load(text: &str) -> Result<f64, String> {
    number_within(
        text,
        0.001..=100.0,
        "a fraction of the machine, such as 0.9",
    )
}

/// `jsf simulate`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(after_help = "\
Jobs are submitted as in the log. After each submission and each end, one cycle of OpenPBS's scheduler runs under the site's \
rules. Without a site the higher value of the formula comes first, then the earlier submission, then the lower id. \
docs/simulation.md says what is modelled, how far to trust an interval, what --shake shows and how goals are judged; \
docs/input.md has the formats of logs, and docs/commands.md the keys of the JSON.

The formula gets ncpus (the processors), walltime, eligible_time (the time since the submission, without that for which a limit or \
the threshold stops it), the fair-share numbers, and the job's other resources where the log has them. queue_priority is that of \
--queues. What the log does not have is 0, with a warning.

With --old and --new, each difference of waits has an interval that contains it with a confidence of 95 %; a star (`significant` \
in JSON) marks what is more than chance.

Exit code 1: the formula is invalid or crashes the scheduler (of two, the new one), or fails for a job under --on-error fail, \
or a goal is missed.

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
    /// The log, and by what it is judged.
    #[command(flatten, next_help_heading = None::<&str>)]
    pub question: SimulateQuestion,
    /// Fill values into the formula, a run each
    ///
    /// `a=1,2,5` or `a=1:10:4` (four values from 1 to 10) in the place of `{a}`; repeat the option
    /// for several: every combination is simulated, and has a row
    #[arg(long, value_name = "NAME=VALUES", value_parser = sweep::param, conflicts_with_all = ["old", "new", "old_file", "new_file", "report", "validate"])]
    pub param: Vec<sweep::Param>,
    /// Simulate N times more, with moved submissions
    ///
    /// By up to 30 s, and tell how far the results differ; two formulas are compared on the same
    /// moves
    #[arg(long, value_name = "N", value_parser = runs, hide_short_help = true)]
    pub shake: Option<u64>,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
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

/// An argument of several commands as a simulation has it.
#[cfg(feature = "command")]
fn of_simulation(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "format" => argument.value_parser(formats(&[Format::Csv, Format::Swf])),
        "old" => argument
            .help("The formula before a change")
            .long_help("The formula before a change [default: FORMULA, or the site's]"),
        "new" => argument
            .help("The formula after a change")
            .long_help("The formula after a change [default: FORMULA, or the site's]"),
        // a simulation takes no decimals, and no job is worth -1
        "numbers" => argument.help(
            "The numbers of the formula: openpbs, inputs as OpenPBS prints them and the value as float32; exact, doubles",
        ),
        "on_error" => argument.help(
            "The value of a job whose evaluation fails: 0, 0 with exit code 1, or no value, so that the job ranks last",
        ),
        "queue" => argument.hide(true),
        "workload" => argument
            .required_unless_present("generate")
            .conflicts_with("generate"),
        // what is said of a log is not said of generated jobs
        "cancelled" | "overrun" | "processors_of" | "from" | "to" => {
            argument.conflicts_with("generate")
        }
        _ => argument_of_log(argument),
    }
}

#[cfg(feature = "command")]
fn runs(text: &str) -> Result<u64, String> {
    number_within(text, 1..=u64::MAX, "a number of runs from 1 on, such as 20")
}

#[cfg(feature = "command")]
impl SimulateArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let format = self.answer.format;
        let is_document = format.is_document();
        let OldNew { old, new } = self.sides.formulas();
        let is_change = old.is_given() || new.is_given();
        self.require_one_file()?;
        if is_change && format == Format::Swf {
            return Err(CliError::usage(
                "--format swf writes one schedule: give one formula, without --old and --new",
            ));
        }
        let question = SimulateQuestion {
            usage: self.site.starting_usage(),
            on_error: self.site.on_error,
            rules: self.site.rules,
            ..self.question.clone()
        };
        let site = self.open_site()?;
        if !self.param.is_empty() {
            return self.sweep(&site, &question, out);
        }
        let (old, given) = if is_change {
            let OldNew { old, new } = self.read_formulas(&site)?;
            (Some(old), new)
        } else {
            let source = read_formula(&self.formula, Some(&site))?;
            (None, AskedFormula::new(source, site.numbers()))
        };
        let mut simulated = self.answer.answered("simulating", |warnings, progress| {
            let watch = watched(progress);
            let answer = SimulationAnswer::new(&site, given, old, &question, warnings, &watch)?;
            // a document has them
            if !is_document {
                warnings.add(log_counts(&answer.log.workload));
                warnings.add(answer.warnings());
            }
            Ok(answer)
        })?;
        if !is_document {
            show_sides(&simulated.answer);
        }
        simulated.answer.shake = self.shaken(&simulated.answer)?;
        let mut files = self.sides.files();
        files.extend(&self.formula.formula_file);
        files.extend(&question.log.workload);
        let output = Output {
            csv_texts: self.csv.texts(),
            page_file: self.report.page_file(vec![&site], files),
            ..simulated
        };
        output.write(out)?;
        Ok(Outcome::fine_if(output.answer.is_fine()))
    }

    /// Opens the site of a log, whose jobs are not those of its queue.
    fn open_site(&self) -> Result<Site, CliError> {
        if self.site.files.has(Role::Queue) {
            return Err(CliError::usage(
                "--queue has no effect in a simulation, whose jobs are those of --workload",
            ));
        }
        let formula = kept(self.formula.file())?;
        let site = self.site.open_for_log(formula);
        let site = site.map_err(|error| match error {
            CliError::Site(error) => without_names(&self.question, error).into(),
            error => error,
        })?;
        let is_document = self.answer.format.is_document();
        self.site.show(&site, is_document);
        Ok(site)
    }

    /// Both formulas; the one that is not given is the formula of the command or the site's.
    fn read_formulas(&self, site: &Site) -> Result<OldNew<AskedFormula>, CliError> {
        let OldNew { old, new } = self.sides.formulas();
        if old.is_given() && new.is_given() && self.formula.is_given() {
            return Err(CliError::usage(
                "give two formulas: a third one has no effect beside --old and --new",
            ));
        }
        let read = |given: &FormulaArgs| {
            if given.is_given() {
                read_formula(given, None)
            } else {
                read_formula(&self.formula, Some(site))
            }
        };
        match (read(&old), read(&new)) {
            (Err(CliError::Site(SiteError::Missing(_))), Ok(_)) => Err(no_formula(NO_OLD_FORMULA)),
            (Ok(_), Err(CliError::Site(SiteError::Missing(_)))) => Err(no_formula(NO_NEW_FORMULA)),
            (old, new) => {
                let sources = OldNew::new(old?, new?);
                Ok(sources.map(|source| AskedFormula::new(source, site.numbers())))
            }
        }
    }

    /// Standard input can be only one of the files.
    fn require_one_file(&self) -> Result<(), CliError> {
        let OldNew { old, new } = self.sides.formulas();
        let before = [
            ("the formula", self.formula.file()),
            ("--old", old.file()),
            ("--new", new.file()),
        ];
        let mut after = readers_of_log(&self.question.log);
        after.push(("--goals", self.question.goals.as_deref()));
        require_one_reader(&before, &self.site, &after)
    }

    /// What moved submissions make of the means under a formula, or of their changes from one formula to
    /// another, with the same moves for both; `None` if that is not asked for.
    fn shaken(&self, answer: &SimulationAnswer<'_>) -> Result<Option<Shake>, CliError> {
        let warm_up = answer.log.warm_up;
        let runs = self.shake.map_or(0, |runs| runs as usize);
        let runs = on_all_cores("shaking", runs, |index| {
            // the same seeds for all formulas and in each call: what differs is not the moves
            let workload = answer.log.workload.shaken(index as u64 + 1);
            let mut sides = Vec::new();
            for side in answer.sides() {
                let Some(side) = simulate_again(answer, &workload, side)? else {
                    return Ok(None);
                };
                sides.push(side);
            }
            Ok(match &sides[..] {
                [old, new] => {
                    let (old, new) = (&old.schedule, &new.schedule);
                    let difference = Difference::new(&workload, old, new, warm_up);
                    Some(difference.means().map(|(_, change)| change.difference()))
                }
                sides => sides.first().map(|side| {
                    let summary = side.statistics(&workload, warm_up).summary;
                    [
                        summary.wait.mean,
                        summary.wait_per_core_hour,
                        summary.bounded_slowdown.mean,
                    ]
                }),
            })
        });
        Ok(Shake::new(&runs?))
    }
}

/// Draws the findings about the formulas, and says for which jobs they fail.
#[cfg(feature = "command")]
fn show_sides(answer: &SimulationAnswer<'_>) {
    for side in answer.sides() {
        side.given.draw(side.findings.iter().cloned());
    }
    let is_error = answer.log.question.on_error == OnError::Fail;
    let kind = if is_error { "error" } else { "warning" };
    for side in answer.sides().into_iter().rev() {
        if let Some(clause) = answer.failing_clause(side) {
            print_message(kind, clause);
        }
    }
}

/// Simulates a workload once more, without messages; `None` after Ctrl-C.
#[cfg(feature = "command")]
fn simulate_again(
    answer: &SimulationAnswer<'_>,
    workload: &Workload,
    side: &SimulatedSide,
) -> Result<Option<SimulatedQueue>, CliError> {
    let formula = side.given.parsed()?;
    let simulated = answer
        .log
        .simulate(formula, workload, &mut |_| until_interrupted())?;
    Ok(Some(simulated).filter(|simulated| simulated.schedule.is_complete))
}

/// An error about the files of a site. --anonymise shows that there is one alone.
pub(crate) fn without_names(question: &SimulateQuestion, error: SiteError) -> SiteError {
    match error {
        SiteError::Content(_) if question.anonymise => {
            let text = "the files of the site cannot be used; the reason may contain names, which --anonymise hides";
            SiteError::Content(text.to_owned().into())
        }
        error => error,
    }
}

/// A log simulated under one formula, or under an old and a new one, ready to be written.
#[derive(Debug)]
pub struct SimulationAnswer<'a> {
    /// The log.
    pub log: SimulatedLog<'a>,
    /// Under the formula, or the new one.
    pub new: SimulatedSide,
    /// Under the old formula, and what differs.
    pub(crate) change: Option<(SimulatedSide, Compared)>,
    /// How far the waits under the formula, or the old one, are from those in the log.
    pub(crate) validation: Option<Validation>,
    /// What moved submissions make of the means or of their changes, if that was asked for.
    pub shake: Option<Shake>,
}

impl<'a> SimulationAnswer<'a> {
    /// Simulates a log under a formula, and under the one before it if there is one.
    ///
    /// # Errors
    /// As for `SimulatedLog::read`; a formula is not arithmetic, or the site cannot be simulated;
    /// or the log has no waits though they are to be compared.
    pub fn new(
        site: &'a Site,
        given: AskedFormula,
        old: Option<AskedFormula>,
        question: &'a SimulateQuestion,
        warnings: &mut Warnings,
        watch: &Watch<'_>,
    ) -> Result<Self, AnswerError> {
        let mut formulas = Vec::new();
        for given in old.iter().chain([&given]) {
            formulas.push(given.parsed()?);
        }
        let log = SimulatedLog::read(site, question, &formulas, warnings)?;
        let old = match old {
            Some(old) => Some(log.side(old, None, warnings, watch)?),
            None => None,
        };
        let new = log.side(given, old.as_ref(), warnings, watch)?;
        let mut validation = None;
        if old.is_some() || question.validate {
            let schedule = &old.as_ref().unwrap_or(&new).simulated.schedule;
            validation = Validation::new(&log.workload, schedule, log.warm_up);
        }
        if question.validate && validation.is_none() {
            return Err(SiteError::from(
                "the log does not say how long its jobs waited, so there is nothing to compare with".to_owned(),
            ).into());
        }
        let change = old.map(|old| {
            let compared = Compared::new(&log, &old, &new);
            (old, compared)
        });
        Ok(Self {
            log,
            new,
            change,
            validation,
            shake: None,
        })
    }

    /// The old side, if there is one, and the new one.
    pub(crate) fn sides(&self) -> Vec<&SimulatedSide> {
        let old = self.change.iter().map(|(old, _)| old);
        old.chain([&self.new]).collect()
    }

    /// The old side, or the only one.
    pub(crate) fn first(&self) -> &SimulatedSide {
        match &self.change {
            Some((old, _)) => old,
            None => &self.new,
        }
    }

    /// Whether the formulas work, the new one above all, and the goals are met.
    pub fn is_fine(&self) -> bool {
        let mut is_fine = meets_goals(&self.new.goals);
        for side in self.sides() {
            for found in &side.findings {
                is_fine &= found.severity != Severity::Error;
            }
            // for every job, or for one where that is not allowed
            if let Some(failing) = &side.failing {
                is_fine &= !failing.are_all && self.log.question.on_error != OnError::Fail;
            }
        }
        // the old formula of a comparison may be the one that is mended
        let mut errors = self.new.simulated.schedule.errors.kinds();
        let crashes = errors.any(|(_, error)| error.consequence == Consequence::Crash);
        let is_usable = match self.log.checked(&self.new) {
            Some(checked) => !checked.has_errors() && !is_fatal(checked),
            None => true,
        };
        is_fine && !crashes && is_usable
    }

    /// Whether hardly any job waits; the first warning of a side then says so.
    pub(crate) fn has_no_waits(&self, side: &SimulatedSide) -> bool {
        side.simulated.no_waits(&self.log.workload).is_some()
    }

    /// The jobs that start, with their indices. A list of them would take more memory than the
    /// schedule.
    pub(crate) fn started<'s>(
        &'s self,
        side: &'s SimulatedSide,
    ) -> impl Iterator<Item = (usize, JobLine<'s>)> + Clone {
        let workload = &self.log.workload;
        let jobs = workload.jobs().iter().enumerate();
        jobs.filter_map(move |(index, job)| {
            let start = side.simulated.schedule.start(index)?;
            let line = JobLine {
                id: workload.id(index),
                entity: &workload.entities()[job.entity as usize],
                queue: &workload.queues()[job.queue as usize],
                processors: job.processors,
                submit: job.submit,
                start,
                end: side.simulated.schedule.end(workload, index)?,
            };
            Some((index, line))
        })
    }

    /// Writes the jobs that start in the Standard Workload Format, with their simulated waits and
    /// run times. Ids and names that are not numbers are numbered.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write_swf(&self, out: &mut dyn Write) -> io::Result<()> {
        let workload = &self.log.workload;
        let processors = self.new.simulated.processors.total;
        writeln!(out, "; Version: 2.2\n; MaxProcs: {processors}")?;
        for line in &workload.clock {
            // a line end in it would begin a line of the log
            writeln!(out, "; {}", printable(line))?;
        }
        writeln!(
            out,
            "; Note: simulated by jsf under `{}`",
            printable(self.new.given.text().trim_end())
        )?;
        // all or none: the place of one job could be the id of another one
        let are_numbers = (0..workload.jobs().len()).all(|job| is_number(workload.id(job)));
        let [entities, groups, queues] =
            [workload.entities(), workload.groups(), workload.queues()].map(swf_numbers);
        for (index, line) in self.started(&self.new) {
            let job = &workload.jobs()[index];
            let id = if are_numbers {
                line.id.to_owned()
            } else {
                (index + 1).to_string()
            };
            let entity = &entities[job.entity as usize];
            let group = &groups[job.group as usize];
            let queue = &queues[job.queue as usize];
            let wait = line.start - job.submit;
            let WorkloadJob {
                submit,
                processors,
                walltime,
                ..
            } = job;
            let run = job.duration();
            // of the 18 fields -1 is not known, and 1 is the status of a job that was completed
            writeln!(
                out,
                "{id} {submit} {wait} {run} {processors} -1 -1 {processors} {walltime} -1 1 {entity} {group} -1 {queue} -1 -1 -1"
            )?;
        }
        Ok(())
    }

    /// Whether a job with this time of submission is left out of the statistics.
    fn is_warm_up(&self, submit: i64) -> bool {
        submit < self.log.workload.begin(self.log.warm_up)
    }

    /// The runs that end before they did in the log.
    pub(crate) fn cut(&self, side: &SimulatedSide) -> CutRuns {
        let mut cut = CutRuns::default();
        for (index, _) in self.started(side) {
            let job = &self.log.workload.jobs()[index];
            cut.jobs += usize::from(job.run > job.duration());
            cut.core_seconds += job.cut();
            cut.all_core_seconds += job.core_seconds() + job.cut();
        }
        cut
    }

    /// The JSON of a side. What is told of the only side is a part of it.
    fn side<'s>(
        &'s self,
        side: &'s SimulatedSide,
        validation: Option<&'s Validation>,
        shake: Option<&'s Shake>,
    ) -> impl Serialize + 's {
        let workload = &self.log.workload;
        let SimulatedQueue {
            schedule,
            processors,
            policy,
            decay,
            left_out,
            warnings,
            ..
        } = &side.simulated;
        let faults = workload.faults();
        let mut counts_left_out = faults.by_reason();
        counts_left_out.insert("too_large", schedule.too_large.len());
        let too_large = schedule.too_large.iter().map(|&job| workload.id(job));
        let mut errors = Vec::new();
        for (kind, error) in schedule.errors.kinds() {
            let (jobs, job) = (error.jobs, workload.id(error.job));
            errors.push(object! { kind, jobs, job, message: &error.message });
        }
        let preemptions = schedule.preemptions.as_ref();
        object! {
            formula: side.given.text(),
            jobs: Each(|| self.started(side).map(|(_, job)| job)),
            processors,
            policy,
            // without a tree nothing decays
            decay: decay.as_ref().filter(|_| policy.is_some()),
            warnings,
            complete_from: workload.complete_from,
            #[serde(flatten)]
            statistics: &side.statistics,
            goals: &side.goals,
            fairness: &side.statistics.fairness,
            too_large: Vec::from_iter(too_large),
            never_start: side.never_start(),
            #[serde(flatten)]
            preemptions: preemptions.map(|preemptions| object! { preemptions }),
            left_out: counts_left_out,
            without: left_out,
            cut: self.cut(side),
            errors,
            skipped_lines: faults.count(),
            complete: schedule.is_complete,
            #[serde(flatten)]
            validation: validation.map(|validation| object! { validation }),
            #[serde(flatten)]
            shake: shake.map(|shake| object! { shake }),
        }
    }
}

impl Serialize for SimulationAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let validation = self.validation.as_ref();
        let Some((old, difference)) = &self.change else {
            let only = self.side(&self.new, validation, self.shake.as_ref());
            return only.serialize(serializer);
        };
        // those that both sides have: those about the machine and the log
        let mut warnings = Vec::from_iter(&old.simulated.warnings);
        warnings.retain(|warning| self.new.simulated.warnings.contains(warning));
        let answer = object! {
            old: self.side(old, None, None),
            new: self.side(&self.new, None, None),
            warnings,
            #[serde(flatten)]
            validation: validation.map(|validation| object! { validation }),
            difference: object! {
                #[serde(flatten)]
                difference,
                shake: &self.shake,
            },
        };
        answer.serialize(serializer)
    }
}

impl Answer for SimulationAnswer<'_> {
    fn document(&self) -> Document<'_> {
        self.shown()
    }

    /// Writes the log with the simulated waits, or comma-separated values as in RFC 4180: a line for
    /// each job that starts, of two formulas in both.
    fn write_as(&self, format: Format, texts: CsvText, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Swf {
            return self.write_swf(out);
        }
        let Some((old, _)) = &self.change else {
            let header = "id,entity,queue,processors,submit,start,end,wait,warm_up";
            let mut csv = CsvWriter::new(header, out)?;
            for (_, job) in self.started(&self.new) {
                let names = guarded_names([job.id, job.entity, job.queue], texts);
                let times = [job.submit, job.start, job.end, job.start - job.submit];
                csv.write((names, job.processors, times, self.is_warm_up(job.submit)))?;
            }
            return csv.finish();
        };
        let mut csv = CsvWriter::new(CSV_HEADER, out)?;
        for (index, job) in self.started(old) {
            let schedule = &self.new.simulated.schedule;
            let (Some(new_start), Some(new_end)) = (
                schedule.start(index),
                schedule.end(&self.log.workload, index),
            ) else {
                continue;
            };
            let names = guarded_names([job.id, job.entity, job.queue], texts);
            let old_wait = job.start - job.submit;
            let new_wait = new_start - job.submit;
            let times = [
                job.submit,
                job.start,
                new_start,
                old_wait,
                new_wait,
                new_wait - old_wait,
            ];
            // a run that is suspended under one formula alone is longer there
            let ends = [job.end, new_end];
            csv.write((
                names,
                job.processors,
                times,
                ends,
                self.is_warm_up(job.submit),
            ))?;
        }
        csv.finish()
    }
}

/// The runs that end before they did in the log.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct CutRuns {
    /// Their number.
    pub(crate) jobs: usize,
    /// The processors times seconds that are cut, which can be beyond 64 bits in a log.
    pub(crate) core_seconds: u128,
    /// Those of all jobs in the log.
    #[serde(skip)]
    pub(crate) all_core_seconds: u128,
}

/// A job that starts.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct JobLine<'a> {
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    processors: u32,
    submit: i64,
    start: i64,
    end: i64,
}

fn is_number(name: &str) -> bool {
    name.parse::<u64>().is_ok()
}

/// The numbers of entities, groups or queues: their names if all are numbers, else their places
/// from 1.
fn swf_numbers(names: &[Box<str>]) -> Vec<String> {
    // all or none: the place of one name could be another name
    let are_numbers = names.iter().all(|name| name.is_empty() || is_number(name));
    let mut numbers = Vec::new();
    for name in names {
        numbers.push(match &**name {
            "" => "-1".to_owned(),
            name if are_numbers => name.to_owned(),
            _ => (numbers.len() + 1).to_string(),
        });
    }
    numbers
}

/// The header of the comma-separated values.
const CSV_HEADER: &str = "id,entity,queue,processors,submit,old_start,new_start,old_wait,new_wait,\
                          difference,old_end,new_end,warm_up";
