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

use job_sort_formula::diagnostic::Need;
use job_sort_formula::rank::OldNew;
use jsf_site::{FileSource, FormulaText, Site, SiteFiles, SiteOptions};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::STACK_SIZE;
use crate::answers::{Answer, AnswerError, Warnings, write_json};
use crate::asked_formula::AskedFormula;
use crate::commands::compare::CompareAnswer;
use crate::commands::cycle::CycleAnswer;
use crate::commands::explain::ExplainAnswer;
use crate::commands::fit::FitAnswer;
use crate::commands::rank::RankAnswer;
use crate::commands::replay::ReplayAnswer;
use crate::commands::shares::SharesAnswer;
use crate::commands::simulate::SimulationAnswer;
use crate::commands::trajectory::TrajectoryAnswer;
use crate::questions::log::{Watch, log_counts};

/// The time between two questions whether the caller wants an end.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(50);

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
    let mut request: Map<String, Value> = serde_json::from_str(request)?;
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

fn read<T: DeserializeOwned>(request: impl Into<Value>) -> Result<T, AnswerError> {
    Ok(serde_json::from_value(request.into())?)
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

/// Takes the text that a member of a request has.
fn take(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, AnswerError> {
    read(members.remove(name).unwrap_or_default())
}

impl AskedSite<'_> {
    /// Answers a question about this site.
    ///
    /// # Errors
    /// The request is wrong, or the formula cannot be ranked.
    pub fn answer(&self, command: &str, request: Value) -> Result<String, AnswerError> {
        let site = self.site;
        let mut members: Map<String, Value> = read(request)?;
        match command {
            "rank" => self.ranked(members, |given, question, warnings| {
                let answer = RankAnswer::new(site, given, question, warnings)?;
                warnings.doubt(answer.checked().failures());
                Ok(answer)
            }),
            "check" => {
                // of a text that does not parse the answer says why
                let source = self.source(take(&mut members, "formula")?)?;
                let CheckQuestion {} = read(members)?;
                let mut checked = site.check(&source.submitted(site.numbers()))?;
                for found in &mut checked.findings {
                    *found = found.clone().worded(self.worded);
                }
                Ok(serde_json::to_string(&checked)?)
            }
            "explain" => self.ranked(members, |given, question, warnings| {
                ExplainAnswer::new(site, given, question, warnings)
            }),
            "trajectory" => self.ranked(members, |given, question, warnings| {
                TrajectoryAnswer::new(site, given, &question, warnings)
            }),
            "replay" => self.ranked(members, |given, ReplayQuestion { log }, warnings| {
                ReplayAnswer::new(site, given, FileSource::Path(log), warnings)
            }),
            "compare" => {
                let [old, new] = ["old", "new"].map(|side| take(&mut members, side));
                let given = OldNew::new(self.formula(old?)?, self.formula(new?)?);
                let question = read(members)?;
                let sites = OldNew::new(site, site);
                self.answered(|warnings| {
                    let answer = CompareAnswer::new(sites, given, question, warnings)?;
                    let OldNew { old, new } = answer.checked();
                    warnings.doubt(old.failures().chain(new.failures()));
                    Ok(answer)
                })
            }
            "shares" => {
                let question = read(members)?;
                self.answered(|warnings| SharesAnswer::new(site, None, question, warnings))
            }
            "cycle" => {
                let formula = take(&mut members, "formula")?;
                let mut given = None;
                // a scheduler without a formula has cycles too
                if formula.is_some() || site.formula_text().is_ok() {
                    given = Some(self.formula(formula)?);
                }
                let question = read(members)?;
                let mut warnings = Warnings::default();
                let answer = CycleAnswer::new(site, given, &question, &mut warnings)?;
                for (given, queue) in answer.rankings() {
                    warnings.doubt(&given.findings_in(queue));
                }
                json_of(&answer, &self.worded(warnings))
            }
            "simulate" => {
                let (given, question) = self.about_formula(members)?;
                let mut warnings = Warnings::default();
                let mut answer = self.until_interrupted(|watch| {
                    SimulationAnswer::new(site, given, None, &question, &mut warnings, watch)
                })?;
                warnings.add(log_counts(&answer.log.workload));
                warnings.doubt(&answer.new.findings);
                warnings.add(answer.warnings());
                warnings.add(answer.failing_clause(&answer.new));
                // the JSON of a simulation has `warnings` among its own keys
                answer.new.simulated.warnings = self.worded(warnings);
                json_of(&answer, &[])
            }
            "fit" => {
                let Some(template) = take(&mut members, "template")? else {
                    return Err(AnswerError::question("missing field `template`"));
                };
                let (source, question) = (FormulaText::new(&template)?, read(members)?);
                let mut warnings = Warnings::default();
                let mut answer = self.until_interrupted(|watch| {
                    FitAnswer::new(site, source, &question, &mut warnings, watch)
                })?;
                warnings.add(answer.warnings);
                warnings.add(answer.to_set.warning());
                answer.warnings = self.worded(warnings);
                json_of(&answer, &[])
            }
            _ => Err(AnswerError::question(format!(
                "no command `{command}` answers a program"
            ))),
        }
    }

    /// The formula that is asked about, else the one in force, as the site has it.
    fn source(&self, formula: Option<String>) -> Result<FormulaText, AnswerError> {
        Ok(match formula {
            Some(text) => FormulaText::new(&text)?,
            None => self.site.formula_text()?,
        })
    }

    fn formula(&self, formula: Option<String>) -> Result<AskedFormula, AnswerError> {
        let given = AskedFormula::new(self.source(formula)?, self.site.numbers());
        given.parsed()?;
        Ok(given)
    }

    /// The formula, and what is asked about it.
    fn about_formula<T: DeserializeOwned>(
        &self,
        mut members: Map<String, Value>,
    ) -> Result<(AskedFormula, T), AnswerError> {
        let given = self.formula(take(&mut members, "formula")?)?;
        Ok((given, read(members)?))
    }

    /// The answer to what is asked about a formula.
    fn ranked<Q: DeserializeOwned, A: Answer>(
        &self,
        members: Map<String, Value>,
        answer: impl FnOnce(AskedFormula, Q, &mut Warnings) -> Result<A, AnswerError>,
    ) -> Result<String, AnswerError> {
        let (given, question) = self.about_formula(members)?;
        self.answered(|warnings| answer(given, question, warnings))
    }

    /// The JSON of an answer with all warnings, among them what its rankings give reason to doubt.
    fn answered<A: Answer>(
        &self,
        answer: impl FnOnce(&mut Warnings) -> Result<A, AnswerError>,
    ) -> Result<String, AnswerError> {
        let mut warnings = Warnings::default();
        let answer = answer(&mut warnings)?;
        for (given, queue) in answer.rankings() {
            queue.require_values()?;
            warnings.doubt(&given.findings_in(queue));
        }
        json_of(&answer, &self.worded(warnings))
    }

    /// Works on another thread, while this one asks the caller whether to end.
    fn until_interrupted<T: Send>(
        &self,
        work: impl FnOnce(&Watch<'_>) -> Result<T, AnswerError> + Send,
    ) -> Result<T, AnswerError> {
        let is_ended = AtomicBool::new(false);
        let watch = &|_| {
            if is_ended.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            // Python notices Ctrl-C only on the thread that called
            let worker = thread::Builder::new().stack_size(STACK_SIZE);
            worker
                .spawn_scoped(scope, move || sender.send(work(watch)))
                .map_err(failed)?;
            loop {
                match receiver.recv_timeout(BETWEEN_QUESTIONS) {
                    // what was done until then answers another question
                    Ok(_) if is_ended.load(Ordering::Relaxed) => {
                        return Err(AnswerError::Interrupted);
                    }
                    Ok(result) => return result,
                    Err(RecvTimeoutError::Timeout) => {
                        // Python tells of a signal once: a second answer would take the end back
                        if (self.is_interrupted)() {
                            is_ended.store(true, Ordering::Relaxed);
                        }
                    }
                    // only a panic ends the work without a result, and the scope goes on with it
                    Err(RecvTimeoutError::Disconnected) => return Err(AnswerError::Interrupted),
                }
            }
        })
    }

    /// The warnings about the site and these, each once.
    fn worded(&self, warnings: Warnings) -> Vec<String> {
        let mut sentences: Vec<String> = Vec::new();
        for warning in (self.site.warnings().into_iter())
            .chain(warnings.beside)
            .chain(warnings.of_answer)
        {
            let warning = warning.worded(self.worded);
            if !sentences.contains(&warning) {
                sentences.push(warning);
            }
        }
        sentences
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
