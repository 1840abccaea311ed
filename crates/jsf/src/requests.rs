//! Whole questions about a site, for programs: the name of a command and its request as JSON enter,
//! the command's answer as JSON leaves.
//!
//! A library prints nothing, so `warnings` of an answer also has what the command writes to
//! standard error.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Diagnostic, Message, Need, Severity};
use job_sort_formula::formula::Template;
use job_sort_formula::rank::{OldNew, OnError};
use jsf_fit::goals::{FitError, fit_goals, formulas_read};
use jsf_fit::wishes::{WishError, Wishes, fit_wishes};
use jsf_lint::lint;
use jsf_openpbs::amounts::NumberMode;
use jsf_simulate::{Goals, WarmUp, Workload};
use jsf_site::{
    FileSource, FormulaText, Site, SiteError, SiteFiles, SiteOptions, StartingUsage, check_warm_up,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::STACK_SIZE;
use crate::answer::{Answer, write_json};
use crate::commands::compare::CompareAnswer;
use crate::commands::cycle::CycleAnswer;
use crate::commands::explain::ExplainAnswer;
use crate::commands::fit::search_options::{MAX_EVALUATIONS, SearchOptions};
use crate::commands::fit::{GoalFitAnswer, WishFitAnswer};
use crate::commands::rank::RankAnswer;
use crate::commands::replay::ReplayAnswer;
use crate::commands::shares::answer::AssessedShares;
use crate::commands::simulate::SimulationAnswer;
use crate::commands::simulate::log_facts::log_messages;
use crate::commands::simulate::view::FailingJobs;
use crate::commands::trajectory::TrajectoryAnswer;
use crate::found::{AnswerError, Warnings, advice, failures};
use crate::given_formula::GivenFormula;
use crate::log_options::{LogOptions, MAX_WISHES_BYTES, read_goals, read_text};
use crate::view::words::too_short;

/// The time between two questions whether the caller wants an end.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(50);

impl From<serde_json::Error> for AnswerError {
    fn from(error: serde_json::Error) -> Self {
        Self::question(error.to_string())
    }
}

/// A request that has no answer, and why.
fn refused<T>(why: impl Into<Message>) -> Result<T, AnswerError> {
    Err(AnswerError::question(why))
}

/// A site of which questions are asked.
#[derive(Debug, Clone, Copy)]
pub struct AskedSite<'a> {
    /// The site.
    pub site: &'a Site,
    /// How the caller gives what a message asks for.
    pub worded: fn(Need) -> String,
    /// Whether the caller wants an end; it is asked on the calling thread.
    pub is_interrupted: fn() -> bool,
}

/// What is asked for, and how a caller without options gives it: in words of its own, or as a file
/// of the site.
pub fn in_program(need: Need, own: Option<String>) -> String {
    let file = match need {
        Need::ActiveEntities => {
            return format!("{need} (which only the command `jsf shares` takes)");
        }
        Need::Entity => return format!("{need} (which only the command `jsf explain` takes)"),
        Need::CommandOutput | Need::Formula | Need::ServerSettings | Need::Threshold => {
            "qmgr_print_server.txt"
        }
        Need::Processors => "pbsnodes.json",
        Need::Python => "python_version.txt",
        Need::Queue => "qstat.json",
        Need::Queues => "queues.txt",
        Need::Resources => "qmgr_print_resource.txt",
        Need::SchedConfig => "sched_priv/sched_config",
        Need::SlurmConf => "slurm.conf",
        Need::Sshare => "sshare.txt",
        Need::Tree => "sched_priv` or `sshare.json",
        Need::PolicyOfRelease(..) => "scontrol_show_config.txt",
        // no file has them: each caller has words for them
        Need::Moment
        | Need::OpenPbsNumbers
        | Need::Policy(_)
        | Need::PythonNumbers
        | Need::ResourceType
        | Need::Site => "",
    };
    match (need, own) {
        (Need::PolicyOfRelease(..), Some(own)) => {
            format!("{need} ({own}; the release is that of `{file}` in the site's folder)")
        }
        (_, Some(own)) => format!("{need} ({own})"),
        (_, None) => format!("{need} (as `{file}` in the site's folder)"),
    }
}

/// Answers a question about the site that the request names: `site` is its path, and `options`, if
/// they are there, are [`SiteOptions`]. Without `site` there are no files. The other members are
/// those of the command.
///
/// # Errors
/// The request is wrong, the site cannot be used, or the formula cannot be ranked.
pub fn run(
    command: &str,
    request: &str,
    worded: fn(Need) -> String,
    is_interrupted: fn() -> bool,
) -> Result<String, AnswerError> {
    let request: Value = serde_json::from_str(request)?;
    let mut request: Map<String, Value> = read(request)?;
    // what is left are the members of the command, which refuses those that it does not know
    let files = match request.remove("site") {
        Some(path) => SiteFiles::open(Path::new(&read::<String>(path)?))?,
        None => SiteFiles::default(),
    };
    let options = match request.remove("options") {
        Some(options) => read(options)?,
        None => SiteOptions::default(),
    };
    let site = Site::from_files(files, options)?;
    AskedSite {
        site: &site,
        worded,
        is_interrupted,
    }
    .answer(command, request.into())
}

/// What is asked about a formula: its text, and the other members.
fn with_formula<T: DeserializeOwned>(request: Value) -> Result<(Option<String>, T), AnswerError> {
    let mut members: Map<String, Value> = read(request)?;
    let formula = read(members.remove("formula").unwrap_or_default())?;
    Ok((formula, read(members.into())?))
}

fn read<T: DeserializeOwned>(request: Value) -> Result<T, AnswerError> {
    Ok(serde_json::from_value(request)?)
}

/// Nothing but the formula is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckQuestion {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplayQuestion {
    /// The scheduler's log.
    log: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SimulateAsked {
    formula: Option<String>,
    /// A file in TOML.
    goals: Option<PathBuf>,
    #[serde(default)]
    usage: StartingUsage,
    #[serde(flatten)]
    log: LogOptions,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FitAsked {
    template: String,
    /// Pairs of jobs, the first of which is to be before the second.
    #[serde(default)]
    prefer: Vec<[String; 2]>,
    /// Ids of jobs, best first, or a file with them.
    wishes: Option<Value>,
    /// The formula that the answer is compared with; absent: the one in force.
    old: Option<String>,
    /// A file in TOML.
    goals: Option<PathBuf>,
    #[serde(default)]
    usage: StartingUsage,
    #[serde(flatten)]
    search: SearchOptions,
    #[serde(flatten)]
    log: LogOptions,
}

/// A log that was read, and by what it is judged.
struct ReadLog {
    workload: Workload,
    goals: Option<Goals>,
    /// What is doubtful about both.
    warnings: Vec<String>,
}

/// Whether work on another thread is to end.
#[derive(Default)]
struct End(AtomicBool);

impl End {
    fn poll(&self) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl AskedSite<'_> {
    /// Answers a question about this site.
    ///
    /// # Errors
    /// The request is wrong, or the formula cannot be ranked.
    pub fn answer(&self, command: &str, request: Value) -> Result<String, AnswerError> {
        let site = self.site;
        match command {
            "rank" => {
                let (given, question) = self.about_formula(request)?;
                self.answered(|warnings| {
                    let answer = RankAnswer::new(site, given, question, warnings)?;
                    warnings.doubt(failures(answer.checked()));
                    Ok(answer)
                })
            }
            "check" => self.check(request),
            "explain" => {
                let (given, question) = self.about_formula(request)?;
                self.answered(|warnings| ExplainAnswer::new(site, given, question, warnings))
            }
            "trajectory" => {
                let (given, question) = self.about_formula(request)?;
                self.answered(|warnings| TrajectoryAnswer::new(site, given, &question, warnings))
            }
            "compare" => {
                let mut members: Map<String, Value> = read(request)?;
                let [old, new] =
                    ["old", "new"].map(|side| members.remove(side).unwrap_or_default());
                let given = OldNew::new(self.formula(read(old)?)?, self.formula(read(new)?)?);
                let question = read(members.into())?;
                self.answered(|warnings| {
                    let sites = OldNew::new(site, site);
                    let answer = CompareAnswer::new(sites, given, question, warnings)?;
                    let OldNew { old, new } = answer.checked();
                    warnings.doubt(failures(old).chain(failures(new)));
                    Ok(answer)
                })
            }
            "shares" => {
                let mut warnings = Warnings::default();
                let shares = AssessedShares::new(site, None, read(request)?, &mut warnings)?;
                self.warned(&shares.answer(false), warnings)
            }
            "cycle" => {
                let (formula, question) = with_formula(request)?;
                let mut given = None;
                // a scheduler without a formula has cycles too
                if formula.is_some() || site.formula_text().is_ok() {
                    given = Some(self.formula(formula)?);
                }
                let mut warnings = Warnings::default();
                let answer = CycleAnswer::new(site, given, &question, &mut warnings)?;
                warnings.doubt(&answer.cycle.ranked.findings);
                self.warned(&answer, warnings)
            }
            "replay" => {
                let (given, ReplayQuestion { log }) = self.about_formula(request)?;
                let log = FileSource::Path(log);
                self.answered(|warnings| ReplayAnswer::new(site, given, log, warnings))
            }
            "simulate" => self.simulate(&read(request)?),
            "fit" => self.fit(&read(request)?),
            _ => refused(format!("no command `{command}` answers a program")),
        }
    }

    /// The JSON of an answer with all warnings, among them what its rankings give reason to doubt.
    fn answered<A: Answer>(
        &self,
        answer: impl FnOnce(&mut Warnings) -> Result<A, AnswerError>,
    ) -> Result<String, AnswerError> {
        let mut warnings = Warnings::default();
        let answer = answer(&mut warnings)?;
        for (_, queue) in answer.rankings() {
            queue.require_values()?;
            warnings.doubt(&queue.findings);
        }
        self.warned(&answer, warnings)
    }

    fn check(&self, request: Value) -> Result<String, AnswerError> {
        let (formula, CheckQuestion {}) = with_formula(request)?;
        // of a text that does not parse the answer says why
        let source = self.text(formula)?;
        let mut checked = self.site.check(&source.submitted(self.site.numbers()))?;
        for found in &mut checked.findings {
            *found = found.clone().worded(self.worded);
        }
        Ok(serde_json::to_string(&checked)?)
    }

    fn simulate(&self, asked: &SimulateAsked) -> Result<String, AnswerError> {
        let formula = self.formula(asked.formula.clone())?;
        let log = self.log(&asked.log, asked.goals.as_deref(), &[formula.parsed()?])?;
        let options = asked.log.simulation(asked.usage);
        let given = asked.log.warm_up_seconds();
        let default = match given {
            // nobody has to be told that the log is too short for a warm-up that was given
            Some(_) => WarmUp::None,
            None => self.site.warm_up(&log.workload, &options)?,
        };
        let warm_up = given.unwrap_or(default.seconds());
        check_warm_up(&log.workload, warm_up)?;
        let parsed = formula.parsed()?;
        let simulated = self.until_interrupted(|end| {
            self.site
                .simulate(parsed, &log.workload, options, &mut |_| end.poll())
        })?;
        let simulated = self.arithmetic(simulated, [&formula])?;
        let errors = &simulated.schedule.errors;
        let failing = FailingJobs::new(&log.workload, errors, OnError::default());
        let mut answer = SimulationAnswer::new(
            formula.text(),
            &log.workload,
            simulated,
            warm_up,
            log.goals.as_ref(),
            None,
        );
        let mut found: Vec<Message> = log.warnings.into_iter().map(Message::from).collect();
        found.extend(too_short(default).map(Message::from));
        found.extend(doubts(&self.site.lint(formula.parsed()?, &log.workload)));
        let warnings = &mut answer.simulated.warnings;
        found.extend(warnings.drain(..).map(Message::from));
        found.extend(failing.map(|failing| failing.clause("the formula").into()));
        // the JSON of a simulation has `warnings` among its own keys
        answer.simulated.warnings = self.warnings(found);
        json_of(&answer, &[])
    }

    fn fit(&self, asked: &FitAsked) -> Result<String, AnswerError> {
        let source = FormulaText::new(&asked.template)?;
        let template = match Template::parse(&source.text) {
            Ok(template) => template,
            Err(error) => {
                let finding = Box::new(error.diagnostic());
                return Err(AnswerError::Syntax(Box::new(source), finding));
            }
        };
        // absent, it is the default of the search, which is another one for wishes and for goals
        if !(1..=MAX_EVALUATIONS).contains(&asked.search.evaluations.unwrap_or(1)) {
            return refused(format!("`evaluations` is not from 1 to {MAX_EVALUATIONS}"));
        }
        let has_wishes = asked.wishes.is_some() || !asked.prefer.is_empty();
        match (has_wishes, &asked.goals) {
            (true, None) => self.fit_queue(asked, &template),
            (false, Some(goals)) => self.fit_log(asked, &template, goals),
            _ => refused(
                "give either `wishes` or `prefer`, about the jobs that wait, or `goals` and a `workload`",
            ),
        }
    }

    /// Finds the constants that meet wishes about the jobs that wait.
    fn fit_queue(&self, asked: &FitAsked, template: &Template) -> Result<String, AnswerError> {
        let refused = |error| match error {
            WishError::Site(error) => AnswerError::Site(error),
            error => AnswerError::Question(error.message()),
        };
        let mut wishes = Wishes::default();
        for [above, below] in &asked.prefer {
            wishes.prefer(above, below);
        }
        match &asked.wishes {
            None => {}
            Some(Value::String(path)) => {
                let (name, text) = read_text(Path::new(path), MAX_WISHES_BYTES).map_err(content)?;
                wishes.read(&name, &text).map_err(refused)?;
            }
            Some(ids) => {
                let ids: Vec<String> = read(ids.clone())?;
                // a file of wishes has an id in each line
                wishes.read("wishes", &ids.join("\n")).map_err(refused)?;
            }
        }
        let options = asked.search.for_wishes();
        let fit = self.until_interrupted(|end| {
            fit_wishes(self.site, template, &wishes, &options, &mut |_| end.poll())
        })?;
        let fit = fit.map_err(refused)?;
        let mut answer = WishFitAnswer::new(self.site, template, fit);
        let found = answer.to_set.warning();
        answer.warnings = self.warnings(found.map(Message::from));
        json_of(&answer, &[])
    }

    /// Finds the constants that meet goals about the waits of a log.
    fn fit_log(
        &self,
        asked: &FitAsked,
        template: &Template,
        goals: &Path,
    ) -> Result<String, AnswerError> {
        let held_out = asked.search.held_out;
        // the parser of the option refuses these on a command line
        if !(0.1..=0.8).contains(&held_out) {
            return refused(format!(
                "`held_out` is {held_out}, expected a part of the log from 0.1 to 0.8"
            ));
        }
        let in_force = match asked.old.clone() {
            None => self.site.formula_text().ok().map(|formula| formula.text),
            old => Some(self.formula(old)?.source.text),
        };
        let formulas = formulas_read(template, in_force.as_deref());
        let formulas: Vec<&Formula> = formulas.iter().collect();
        let log = self.log(&asked.log, Some(goals), &formulas)?;
        let Some(goals) = &log.goals else {
            return refused("`goals` are missing");
        };
        let simulation = asked.log.simulation(asked.usage);
        let search = &asked.search;
        let options = search.for_goals(in_force, &asked.log, simulation);
        let fit = self.until_interrupted(|end| {
            let observer = |_| end.poll();
            fit_goals(
                self.site,
                template,
                &log.workload,
                goals,
                &options,
                &observer,
            )
        })?;
        let fit = match fit {
            Ok(fit) => fit,
            Err(FitError::Site(error)) => return Err(AnswerError::Site(error)),
            Err(error @ FitError::TooShort { .. }) => {
                return refused(format!("{error}; `force` fits it all the same"));
            }
            Err(error) => return refused(error.to_string()),
        };
        let mut answer = GoalFitAnswer::new(self.site, template, fit);
        let warnings = &mut answer.fit.held_out.warnings;
        let mut found = log.warnings;
        found.append(warnings);
        found.extend(answer.to_set.warning());
        *warnings = self.warnings(found.into_iter().map(Message::from));
        json_of(&answer, &[])
    }

    /// Reads a log with what the formulas and the conditions of the goals need.
    fn log(
        &self,
        asked: &LogOptions,
        goals: Option<&Path>,
        formulas: &[&Formula],
    ) -> Result<ReadLog, AnswerError> {
        if self.site.numbers() == NumberMode::Decimal {
            return refused("a simulation computes with doubles, not with decimals");
        }
        if asked.workload.is_empty() {
            return refused("`workload` is missing, expected the path of a log");
        }
        // on a command line the parsers of the options refuse these
        if asked.decay == Some(0) {
            return refused("`decay` is 0, expected at least a second");
        }
        if let Some(factor) = asked.decay_factor
            && !(0.0..=1.0).contains(&factor)
        {
            return refused(format!(
                "`decay_factor` is {factor}, expected a number from 0 to 1"
            ));
        }
        let goals = match goals {
            Some(path) => Some(read_goals(path, self.site).map_err(content)?),
            None => None,
        };
        let (workload, of_goals) =
            asked.open(asked.rules(), self.site, formulas, goals.as_ref())?;
        let mut warnings = log_messages(&workload, true);
        warnings.extend(of_goals);
        Ok(ReadLog {
            workload,
            goals,
            warnings,
        })
    }

    /// Works on another thread, while this one asks the caller whether to end.
    fn until_interrupted<T: Send>(
        &self,
        work: impl FnOnce(&End) -> T + Send,
    ) -> Result<T, AnswerError> {
        let end = End::default();
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let end = &end;
            // Python notices Ctrl-C only on the thread that called
            let worker = thread::Builder::new().stack_size(STACK_SIZE);
            worker
                .spawn_scoped(scope, move || sender.send(work(end)))
                .map_err(failed)?;
            let mut is_interrupted = false;
            loop {
                match receiver.recv_timeout(BETWEEN_QUESTIONS) {
                    // what was done until then answers another question
                    Ok(_) if is_interrupted => return Err(AnswerError::Interrupted),
                    Ok(result) => return Ok(result),
                    // Python tells of a signal once: a second answer would take the end back
                    Err(RecvTimeoutError::Timeout) if !is_interrupted => {
                        is_interrupted = (self.is_interrupted)();
                        end.0.store(is_interrupted, Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    // only a panic ends the work without a result, and the scope goes on with it
                    Err(RecvTimeoutError::Disconnected) => return Err(AnswerError::Interrupted),
                }
            }
        })
    }

    /// The formula that is asked about, else the one in force, as the site has it.
    fn text(&self, formula: Option<String>) -> Result<FormulaText, AnswerError> {
        Ok(match formula {
            Some(text) => FormulaText::new(&text)?,
            None => self.site.formula_text()?,
        })
    }

    /// What is asked about a formula, and the formula.
    fn about_formula<T: DeserializeOwned>(
        &self,
        request: Value,
    ) -> Result<(GivenFormula, T), AnswerError> {
        let (formula, question) = with_formula(request)?;
        Ok((self.formula(formula)?, question))
    }

    fn formula(&self, formula: Option<String>) -> Result<GivenFormula, AnswerError> {
        let given = GivenFormula::new(self.text(formula)?, self.site.numbers());
        given.parsed()?;
        Ok(given)
    }

    /// The result, or which of the formulas cannot be compiled for the site.
    fn arithmetic<'f, T>(
        &self,
        result: Result<T, SiteError>,
        formulas: impl IntoIterator<Item = &'f GivenFormula>,
    ) -> Result<T, AnswerError> {
        // the error does not say of which formula it is
        if let Err(SiteError::NotArithmetic) = &result {
            for given in formulas {
                let (expr, schema) = (given.parsed()?, self.site.schema());
                if expr.compile(schema).is_err() {
                    let findings = lint(expr.expr(), schema);
                    let given = Box::new(given.clone());
                    return Err(AnswerError::NotArithmetic(given, findings));
                }
            }
        }
        Ok(result?)
    }

    /// The JSON of an answer, with the warnings about the site and these.
    fn written(
        &self,
        answer: &impl Answer,
        others: impl IntoIterator<Item = Message>,
    ) -> Result<String, AnswerError> {
        json_of(answer, &self.warnings(others))
    }

    /// The JSON of an answer with all warnings.
    fn warned(&self, answer: &impl Answer, warnings: Warnings) -> Result<String, AnswerError> {
        let Warnings { beside, of_answer } = warnings;
        self.written(answer, beside.into_iter().chain(of_answer))
    }

    /// The warnings about the site and these, each once.
    fn warnings(&self, others: impl IntoIterator<Item = Message>) -> Vec<String> {
        let mut warnings: Vec<String> = Vec::new();
        for warning in self.site.warnings().into_iter().chain(others) {
            let warning = warning.worded(self.worded);
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}

fn json_of(answer: &impl Answer, warnings: &[String]) -> Result<String, AnswerError> {
    let mut json = Vec::new();
    write_json(answer, warnings, &mut json).map_err(failed)?;
    String::from_utf8(json).map_err(failed)
}

fn failed(error: impl ToString) -> AnswerError {
    AnswerError::question(error.to_string())
}

/// What a file of the request says is a part of the request.
fn content(error: SiteError) -> AnswerError {
    match error {
        SiteError::Content(message) => AnswerError::question(message.to_string()),
        error => AnswerError::Site(error),
    }
}

/// What findings give reason to doubt, one sentence each.
fn doubts<'f>(findings: impl IntoIterator<Item = &'f Diagnostic>) -> Vec<Message> {
    let mut doubts = Vec::new();
    for found in findings {
        if found.severity != Severity::Note {
            doubts.push(advice(found).after(format!("{}: {}", found.code, found.message)));
        }
    }
    doubts
}
