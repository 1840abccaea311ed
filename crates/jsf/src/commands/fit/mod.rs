//! `jsf fit`: constants that meet wishes about a queue or goals on a log, how they are searched,
//! and the command that sets the formula with them.

mod view;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Arg, Args};
use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::formula::Template;
use jsf_fit::FitError;
use jsf_fit::goals::{FitOptions, GoalFit, Recommendation, fit_goals, formulas_read};
use jsf_fit::wishes::{WishFit, WishOptions, Wishes, WishesMet, fit_wishes};
use jsf_openpbs::check::{Checked, Verdict};
use jsf_openpbs::qmgr_command::object_or_server;
use jsf_site::{FormulaText, Site, StartingUsage};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::answers::{Answer, AnswerError, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::{FormulaArgs, FormulaOptions, read_formula},
    outcome::{CliError, Outcome},
    output::{AnswerArgs, Output},
    page_file::ReportArgs,
    progress::watched,
    site::{SiteArgs, argument_of_log, readers_of_log, require_one_reader},
};
use crate::commands::check::set_command;
use crate::commands::fit::view::is_missed;
use crate::questions::log::{LogOptions, Watch, log_counts, read_text};
use crate::questions::values::{number_within, seed};
use crate::view::document::{Document, Section};
use crate::view::findings::brief_finding;
use crate::view::verdict::{NO_FORMULA_IN_SLURM, verdict_sentence};

/// The most formulas that a fit tries.
const MAX_EVALUATIONS: usize = 1_000_000;

/// The longest file of wishes, in bytes. The number of pairs has a limit of its own in `jsf_fit`.
const MAX_WISHES_BYTES: usize = 4 << 20;

/// What is wanted of a formula: either an order of the jobs that wait, or goals about a log.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct FitQuestion {
    /// Job A before job B; repeat it for several
    // the jobs of all pairs, one behind the other
    #[serde(deserialize_with = "pairs")]
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with = "goals")]
    prefer: Vec<String>,
    /// The wanted order
    ///
    /// Ids of jobs, a line each, best first; blank lines between groups of equals; or `id,score` as
    /// CSV; - is standard input
    #[serde(deserialize_with = "wished_order")]
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(WishedOrder::File), value_hint = clap::ValueHint::FilePath, conflicts_with = "goals")]
    wishes: Option<WishedOrder>,
    /// The goals for the waits of a log
    ///
    /// TOML as for `jsf simulate --goals`, with `[objective] minimise = "mean bounded_slowdown"`
    /// for what is to be as small as possible once the goals are met
    #[arg(long, value_name = "FILE", requires = "workload")]
    goals: Option<PathBuf>,
    /// The log.
    #[serde(flatten)]
    #[command(flatten)]
    log: LogOptions,
    /// The formula in force
    ///
    /// With which the answer is compared [default: the site's, else first come, first served]
    #[arg(
        long,
        value_name = "FORMULA",
        allow_hyphen_values = true,
        requires = "goals"
    )]
    old: Option<String>,
    /// How constants are searched.
    #[serde(flatten)]
    #[command(flatten)]
    search: SearchOptions,
    /// The usage that the entities of the log begin with; on a command line it is one of the site.
    #[arg(skip)]
    usage: StartingUsage,
}

/// Where the order that is wanted is.
#[derive(Debug, Clone)]
enum WishedOrder {
    /// In a file.
    File(PathBuf),
    /// In the question: the ids of jobs, best first.
    Ids(Vec<String>),
}

impl FitQuestion {
    /// The wishes about the jobs that wait.
    ///
    /// # Errors
    /// Their file cannot be read, or does not have wishes.
    fn wishes(&self) -> Result<Wishes, AnswerError> {
        let mut wishes = Wishes::default();
        for pair in self.prefer.chunks_exact(2) {
            wishes.prefer(&pair[0], &pair[1]);
        }
        let (name, text) = match &self.wishes {
            None => return Ok(wishes),
            Some(WishedOrder::File(path)) => read_text(path, MAX_WISHES_BYTES)?,
            // a file of wishes has an id in each line
            Some(WishedOrder::Ids(ids)) => ("wishes".to_owned(), ids.join("\n")),
        };
        wishes.read(&name, &text)?;
        Ok(wishes)
    }
}

/// Pairs of jobs, the first of which is to be before the second.
fn pairs<'de, D: Deserializer<'de>>(given: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::<[String; 2]>::deserialize(given)?.concat())
}

/// Ids of jobs, or the path of a file with them.
fn wished_order<'de, D: Deserializer<'de>>(given: D) -> Result<Option<WishedOrder>, D::Error> {
    Ok(match Value::deserialize(given)? {
        Value::Null => None,
        Value::String(path) => Some(WishedOrder::File(path.into())),
        ids => Some(WishedOrder::Ids(
            serde_json::from_value(ids).map_err(D::Error::custom)?,
        )),
    })
}

/// How constants are searched.
#[derive(Debug, Clone, Copy, Deserialize, clap::Args)]
#[serde(default)]
pub struct SearchOptions {
    /// The part of the log that is not searched
    #[serde(deserialize_with = "part")]
    #[arg(long, value_name = "F", default_value_t = 0.33, value_parser = held_out, requires = "goals", hide_short_help = true)]
    pub held_out: f64,
    /// How many formulas are tried at most
    ///
    /// [default: 240 simulations, or 4000 rankings]
    #[serde(deserialize_with = "number_of_formulas")]
    #[arg(long, value_name = "N", value_parser = evaluations)]
    pub evaluations: Option<usize>,
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, hide_short_help = true)]
    seed: u64,
    /// Fit to a short log
    ///
    /// Of less than eight weeks or 2000 jobs, though little can be learnt from it
    #[arg(long, requires = "goals")]
    force: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            // as by default on the command line, whose defaults a request does not have
            held_out: 0.33,
            evaluations: None,
            seed: 1,
            force: false,
        }
    }
}

/// The part of the log that is not searched.
fn part<'de, D: Deserializer<'de>>(given: D) -> Result<f64, D::Error> {
    let part = f64::deserialize(given)?;
    if (0.1..=0.8).contains(&part) {
        return Ok(part);
    }
    let why = format!("`held_out` is {part}, expected a part of the log from 0.1 to 0.8");
    Err(D::Error::custom(why))
}

/// How many formulas are tried.
fn number_of_formulas<'de, D: Deserializer<'de>>(given: D) -> Result<Option<usize>, D::Error> {
    let number = Option::deserialize(given)?;
    // absent, it is the default of the search, which is another one for wishes and for goals
    if (1..=MAX_EVALUATIONS).contains(&number.unwrap_or(1)) {
        return Ok(number);
    }
    let why = format!("`evaluations` is not from 1 to {MAX_EVALUATIONS}");
    Err(D::Error::custom(why))
}

/// Parses the part of the log that is not searched.
fn held_out(text: &str) -> Result<f64, String> {
    let expected = "a part of the log from 0.1 to 0.8, such as 0.33";
    number_within(text, 0.1..=0.8, expected)
}

/// Parses how many formulas are tried.
fn evaluations(text: &str) -> Result<usize, String> {
    let expected = format!("a number of formulas from 1 to {MAX_EVALUATIONS}, such as 200");
    number_within(text, 1..=MAX_EVALUATIONS, expected)
}

/// How the formula in force is given. A file of it has no option: the shell reads it.
#[cfg(feature = "command")]
const OLD: FormulaOptions = FormulaOptions {
    text: "--old",
    file: "--old \"$(cat FILE)\"",
};

/// `jsf fit`
#[cfg(feature = "command")]
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

Exit code 1: a wish or a goal is not met, or the template or the answer has an error.

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
#[cfg(feature = "command")]
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

#[cfg(feature = "command")]
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
        let fitted = self.answer.answered("fitting", |warnings, progress| {
            let answer = FitAnswer::new(&site, source, &question, warnings, &watched(progress))?;
            // a document has them
            if !is_document {
                warnings.add(answer.warnings.clone());
            }
            Ok(answer)
        })?;
        let files = formula.formula_file.iter().chain(wishes_file);
        let files = files.chain(&question.goals).chain(&question.log.workload);
        let output = Output {
            page_file: self.report.page_file(vec![&site], files.collect()),
            ..fitted
        };
        output.write(out)?;
        Ok(Outcome::fine_if(output.answer.is_fine()))
    }
}

impl From<FitError> for AnswerError {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Site(error) => error.into(),
            FitError::TooShort(why) => {
                Self::question(format!("{why}; `force` (--force) fits it all the same"))
            }
            FitError::Unusable(why) => Self::question(why),
        }
    }
}

/// With what the codes of findings about names begin.
const OF_NAMES: &str = "JSF2";

/// A fit, and the command that sets its formula.
#[derive(Debug)]
pub struct FitAnswer {
    /// The template.
    template: String,
    /// The fit.
    fit: Fit,
    /// The command that sets the formula.
    pub to_set: FormulaToSet,
    /// What is doubtful about the fit, which its JSON has.
    pub warnings: Vec<String>,
}

/// Constants that meet what is wanted.
#[derive(Debug)]
enum Fit {
    /// An order of the jobs that wait.
    Wishes(WishFit),
    /// Goals about the waits of a log.
    Goals(Box<GoalFit>),
}

impl FitAnswer {
    /// Finds the constants of a template.
    ///
    /// # Errors
    /// The template does not parse, or the server would not take it; nothing is wanted, or what is
    /// wanted or the log cannot be read; or as for [`fit_wishes`] and [`fit_goals`].
    pub fn new(
        site: &Site,
        source: FormulaText,
        question: &FitQuestion,
        warnings: &mut Warnings,
        watch: &Watch<'_>,
    ) -> Result<Self, AnswerError> {
        let template = match Template::parse(&source.text) {
            Ok(template) => template,
            Err(error) => {
                let finding = Box::new(error.diagnostic());
                return Err(AnswerError::Syntax(Box::new(source), finding));
            }
        };
        let has_wishes = question.wishes.is_some() || !question.prefer.is_empty();
        if has_wishes == question.goals.is_some() {
            return Err(AnswerError::question(
                "give either `wishes` or `prefer`, about the jobs that wait, or `goals` and a `workload`",
            ));
        }
        warnings.add(site.warnings());
        require_working(site, &template)?;
        let answer = if has_wishes {
            Self::of_queue(site, &template, question, watch)?
        } else {
            Self::of_log(site, &template, question, warnings, watch)?
        };
        let is_complete = match &answer.fit {
            Fit::Wishes(fit) => fit.is_complete,
            Fit::Goals(fit) => fit.is_complete,
        };
        if !is_complete {
            warnings.add(["interrupted: this is the best so far"]);
        }
        Ok(answer)
    }

    /// Finds the constants that meet wishes about the jobs that wait.
    fn of_queue(
        site: &Site,
        template: &Template,
        question: &FitQuestion,
        watch: &Watch<'_>,
    ) -> Result<Self, AnswerError> {
        let wishes = question.wishes()?;
        let search = &question.search;
        let default = WishOptions::default();
        let options = WishOptions {
            seed: search.seed,
            evaluations: search.evaluations.unwrap_or(default.evaluations),
        };
        let fit = fit_wishes(site, template, &wishes, &options, watch)?;
        Ok(Self {
            template: template.text().to_owned(),
            to_set: FormulaToSet::new(site, &fit.formula, unmet_wishes(&fit)),
            fit: Fit::Wishes(fit),
            warnings: Vec::new(),
        })
    }

    /// Finds the constants that meet goals about the waits of a log.
    fn of_log(
        site: &Site,
        template: &Template,
        question: &FitQuestion,
        warnings: &mut Warnings,
        watch: &Watch<'_>,
    ) -> Result<Self, AnswerError> {
        let in_force = match &question.old {
            Some(text) => {
                let given = AskedFormula::new(FormulaText::new(text)?, site.numbers());
                given.parsed()?;
                Some(given.source.text)
            }
            None => site.formula_text().ok().map(|formula| formula.text),
        };
        let formulas = formulas_read(template, in_force.as_deref());
        let formulas: Vec<&Formula> = formulas.iter().collect();
        let log = &question.log;
        let goals = question.goals.as_deref();
        let (workload, goals) = log.open(log.rules(), site, &formulas, goals, warnings)?;
        warnings.add(log_counts(&workload));
        let Some(goals) = &goals else {
            return Err(AnswerError::question("`goals` are missing"));
        };
        let search = &question.search;
        let default = FitOptions::default();
        let options = FitOptions {
            in_force,
            seed: search.seed,
            evaluations: search.evaluations.unwrap_or(default.evaluations),
            held_out: search.held_out,
            force: search.force,
            warm_up: log.warm_up_seconds(),
            simulation: log.simulation(question.usage),
        };
        let mut fit = fit_goals(site, template, &workload, goals, &options, watch)?;
        Ok(Self {
            template: template.text().to_owned(),
            to_set: FormulaToSet::new(site, &fit.formula, not_advised(&fit)),
            warnings: std::mem::take(&mut fit.held_out.warnings),
            fit: Fit::Goals(Box::new(fit)),
        })
    }

    /// Whether what is wanted is met, by a formula without an error.
    pub fn is_fine(&self) -> bool {
        let works = !self.to_set.has_errors();
        match &self.fit {
            Fit::Wishes(fit) => fit.is_feasible && works,
            Fit::Goals(fit) => {
                let is_advised = match fit.reason.recommendation() {
                    Recommendation::Use => works,
                    Recommendation::Keep => true,
                    Recommendation::None => false,
                };
                is_advised && !fit.goals.iter().any(is_missed)
            }
        }
    }
}

/// The server must take the template with its start values, and know its names.
fn require_working(site: &Site, template: &Template) -> Result<(), AnswerError> {
    let source = FormulaText::new(template.fill(&template.starts()))?;
    // the check takes formulas, and which names exist does not depend on the numbers
    let checked = site.check(&source.submitted(site.numbers()))?;
    let mut fatal = checked.findings;
    // other errors may be those of the start values, which the search leaves
    fatal.retain(|found| {
        found.severity == Severity::Error
            && (checked.verdict == Verdict::Refused || found.code.name().starts_with(OF_NAMES))
    });
    if fatal.is_empty() {
        return Ok(());
    }
    Err(AnswerError::Unusable(Box::new(source), fatal))
}

impl Serialize for FitAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.fit {
            Fit::Wishes(fit) => self.serialize_wishes(fit, serializer),
            Fit::Goals(fit) => self.serialize_goals(fit, serializer),
        }
    }
}

impl Answer for FitAnswer {
    fn document(&self) -> Document<'_> {
        self.shown()
    }
}

impl FitAnswer {
    fn serialize_wishes<S: Serializer>(
        &self,
        fit: &WishFit,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let (recommendation, reason) = if fit.is_feasible {
            (Recommendation::Use, "wishes met")
        } else {
            (Recommendation::None, "wishes missed")
        };
        let answer = object! {
            #[serde(flatten)]
            fit,
            #[serde(flatten)]
            to_set: &self.to_set,
            recommendation,
            reason,
            wishes: &fit.wishes,
            // only a log has goals and an objective
            goals: [(); 0],
            objective: (),
            warnings: &self.warnings,
        };
        answer.serialize(serializer)
    }

    fn serialize_goals<S: Serializer>(
        &self,
        fit: &GoalFit,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let held_out = &fit.held_out;
        let recommendation = fit.reason.recommendation();
        let wait = &held_out.difference.wait;
        let interval = wait.interval().map(|[low, high]| {
            object! { low, high, significant: wait.is_significant() }
        });
        let (mut old_mean, mut new_mean) = (None, None);
        if wait.jobs > 0 {
            (old_mean, new_mean) = (Some(wait.old), Some(wait.new));
        }
        let [old_longest, new_longest] = held_out.longest_waits;
        let validation = held_out.validation.as_ref();
        let tau_b = validation.and_then(|validation| validation.rank_correlation);
        let mut exclusions = Vec::new();
        for exclusion in &fit.exclusions {
            exclusions.push(object! {
                met: &fit.goals[exclusion.met].name,
                other: &fit.goals[exclusion.other].name,
                best: exclusion.best,
            });
        }
        let answer = object! {
            #[serde(flatten)]
            fit,
            warnings: &self.warnings,
            #[serde(flatten)]
            to_set: &self.to_set,
            feasible: recommendation != Recommendation::None,
            recommendation,
            // a queue alone has wishes
            wishes: (),
            objective: fit.objective.as_ref().map(|objective| object! {
                #[serde(flatten)]
                objective,
                baselines: &held_out.baselines,
            }),
            // in seconds
            held_out_waits: object! {
                jobs: wait.jobs,
                mean: object! {
                    current: old_mean,
                    fitted: new_mean,
                    #[serde(flatten)]
                    interval,
                },
                longest: object! { current: old_longest, fitted: new_longest },
            },
            log: object! {
                processors: held_out.processors,
                searched_days: fit.split.searched_days(),
                held_out_days: fit.split.held_out_days(),
                tau_b,
            },
            #[serde(flatten)]
            exclusions: (!exclusions.is_empty()).then_some(object! { exclusions }),
        };
        answer.serialize(serializer)
    }
}

/// Why no command sets a formula that does not meet all wishes; `None` if it does.
fn unmet_wishes(fit: &WishFit) -> Option<String> {
    if fit.is_feasible {
        return None;
    }
    let WishesMet { total, met, .. } = fit.wishes;
    let unmet = total.saturating_sub(met);
    let are = if unmet == 1 { "is" } else { "are" };
    Some(format!("{unmet} of {total} wishes {are} not met"))
}

/// Why no command sets a formula that is not better; `None` if it is.
fn not_advised(fit: &GoalFit) -> Option<String> {
    match fit.reason.recommendation() {
        Recommendation::Use => None,
        Recommendation::Keep => Some("the advice is to keep the formula in force".to_owned()),
        Recommendation::None => Some("no numbers meet all goals".to_owned()),
    }
}

/// The most errors of a formula that are listed.
const MAX_ERRORS: usize = 3;

/// What is known of a formula that may be set.
#[derive(Debug)]
pub struct FormulaToSet {
    /// The command that sets it, or why there is none.
    command: Result<String, String>,
    /// The result of checking it, also on the jobs of the queue if the site has them.
    checked: Option<Checked>,
}

impl FormulaToSet {
    /// Checks a formula as `jsf check --qmgr` does, which prints no command for a formula with an
    /// error. `not_advised` says why it is not to be set in any case.
    fn new(site: &Site, formula: &str, not_advised: Option<String>) -> Self {
        let checked = site.check_text(formula);
        let command = match (not_advised, &checked) {
            // that a formula is not advised counts more than how it could be set
            (Some(obstacle), _) => Err(obstacle),
            (None, Ok(checked)) => checked_command(site, formula, checked),
            (None, Err(error)) => Err(format!("the formula cannot be checked: {error}")),
        };
        Self {
            command,
            checked: checked.ok(),
        }
    }

    /// The errors, such as jobs for which the formula fails.
    fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.checked.iter().flat_map(Checked::errors)
    }

    /// Whether the formula has an error, or the server refuses it.
    fn has_errors(&self) -> bool {
        self.errors().next().is_some() || self.checked.as_ref().is_some_and(Checked::is_refused)
    }

    /// The command on a line that can be copied, or why it is missing.
    fn section(&self) -> Section<'_> {
        let obstacle = match &self.command {
            Ok(command) => return Section::new("to set it").draw(move |_| command.clone()),
            Err(obstacle) => obstacle,
        };
        let errors = self.errors().take(MAX_ERRORS);
        Section::new("not to be set")
            .prose(format!("No command is given: {obstacle}."))
            .list(errors.map(|found| brief_finding(found, "")).collect())
    }

    /// What is wrong with the formula on the queue, as a sentence: it fails for jobs, is refused,
    /// or orders none.
    pub fn warning(&self) -> Option<String> {
        if let Some(sentence) = verdict_sentence(self.checked.as_ref()?, "the formula") {
            return Some(sentence);
        }
        let message = &self.errors().next()?.message;
        Some(format!("The formula has an error: {message}."))
    }
}

impl Serialize for FormulaToSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut errors = Vec::new();
        for found in self.errors() {
            errors.push(object! { code: found.code, message: &found.message });
        }
        let to_set = object! {
            qmgr: self.command.as_ref().ok(),
            qmgr_obstacle: self.command.as_ref().err(),
            #[serde(flatten)]
            errors: (!errors.is_empty()).then_some(object! { errors }),
        };
        to_set.serialize(serializer)
    }
}

/// The command that sets a formula; the error is the reason why it cannot be set.
fn checked_command(site: &Site, formula: &str, checked: &Checked) -> Result<String, String> {
    let codes: BTreeSet<&str> = checked.errors().map(|found| found.code.name()).collect();
    if !codes.is_empty() {
        let codes = Vec::from_iter(codes).join(", ");
        return Err(format!(
            "`jsf check` finds an error in the formula ({codes})"
        ));
    }
    if checked.is_refused() {
        let message = &checked.validation.message;
        return Err(format!("the server refuses the formula: {message}"));
    }
    if checked.runs_slurm {
        return Err(NO_FORMULA_IN_SLURM.to_owned());
    }
    let before = match site.formula_text() {
        Ok(in_force) => in_force.before,
        Err(_) => String::new(),
    };
    set_command(&object_or_server(&before), formula)
}
