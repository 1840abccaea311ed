//! `jsf fit`: constants that meet wishes about a queue or goals on a log, how they are searched,
//! and the command that sets the formula with them.

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::formula::Template;
use jsf_fit::goals::{GoalFit, Recommendation};
use jsf_fit::wishes::{WishFit, WishesMet};
use jsf_openpbs::check::Checked;
use jsf_openpbs::submission::{object_or_server, set_command_for};
use jsf_site::Site;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, object};
use crate::commands::fit::goals_view::{chosen_values, within_in_words};
use crate::view::document::{Column, Document, Fact, Section, Table, cells};
use crate::view::findings::{NO_FORMULA_IN_SLURM, brief_finding, is_refused, verdict_sentence};
use crate::view::words::{printable_lines, significant};

pub mod goals_view;
#[cfg(feature = "command")]
pub mod run;
pub mod search_options;

/// A fit to wishes, and the command that sets its formula.
#[derive(Debug)]
pub struct WishFitAnswer<'a> {
    /// The template.
    template: &'a str,
    /// The fit.
    pub fit: WishFit,
    /// The command that sets the formula.
    pub to_set: FormulaToSet,
    /// What is doubtful about the answer.
    pub warnings: Vec<String>,
}

impl<'a> WishFitAnswer<'a> {
    /// The answer, without warnings.
    pub fn new(site: &Site, template: &'a Template, fit: WishFit) -> Self {
        Self {
            template: template.text(),
            to_set: FormulaToSet::new(site, &fit.formula, unmet_wishes(&fit)),
            fit,
            warnings: Vec::new(),
        }
    }
}

impl Serialize for WishFitAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fit = &self.fit;
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
}

impl Answer for WishFitAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let fit = &self.fit;
        let search = format!("a search (seed {}, {} rankings)", fit.seed, fit.evaluations);
        let mut facts = vec![
            Fact::new("template", self.template.trim_end()).in_full(),
            Fact::new("formula", fit.formula.trim_end()),
            Fact::new("found by", search).in_full(),
        ];
        if !fit.is_complete {
            facts.push(Fact::new("interrupted", "the best so far"));
        }
        let mut sections = vec![constants_section(fit), self.to_set.section()];
        for (heading, pairs) in [
            ("wishes that contradict each other", &fit.wishes.conflict),
            (
                "wishes not met together with the others",
                &fit.wishes.violated,
            ),
        ] {
            if !pairs.is_empty() {
                let columns = [Column::id("job", 9), Column::id("before", 9)];
                let table = Table::new(columns, Vec::from_iter(pairs), |(above, below)| {
                    cells![&**above, &**below]
                });
                sections.push(Section::new(heading).table(table));
            }
        }
        let mut sentences = vec![headline(fit)];
        sentences.extend(self.to_set.warning());
        Document {
            command: "jsf fit",
            title: "Weights for a job_sort_formula".to_owned(),
            headline: sentences.join(" "),
            facts,
            sections,
            read_on: "jsf compare --new F --site DIR",
        }
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

/// A fit to goals, and the command that sets its formula.
#[derive(Debug)]
pub struct GoalFitAnswer<'a> {
    /// The template.
    template: &'a str,
    /// The fit.
    pub fit: GoalFit,
    /// The command that sets the formula.
    pub to_set: FormulaToSet,
}

impl<'a> GoalFitAnswer<'a> {
    /// The answer.
    pub fn new(site: &Site, template: &'a Template, fit: GoalFit) -> Self {
        Self {
            template: template.text(),
            to_set: FormulaToSet::new(site, &fit.formula, not_advised(&fit)),
            fit,
        }
    }
}

impl Serialize for GoalFitAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fit = &self.fit;
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

/// Why no command sets a formula that is not better; `None` if it is.
fn not_advised(fit: &GoalFit) -> Option<String> {
    match fit.reason.recommendation() {
        Recommendation::Use => None,
        Recommendation::Keep => Some("the advice is to keep the formula in force".to_owned()),
        Recommendation::None => Some("no numbers meet all goals".to_owned()),
    }
}

fn headline(fit: &WishFit) -> String {
    let wishes = &fit.wishes;
    let conflict = match wishes.conflict.len() {
        0 => String::new(),
        pairs => format!(" {pairs} of them exclude each other."),
    };
    let deviation = match wishes.mean_deviation {
        Some(deviation) => format!(
            " The values differ from the scores by {} on average.",
            significant(deviation)
        ),
        None => String::new(),
    };
    format!(
        "{} meets {} of {} wishes.{conflict}{deviation}",
        chosen_values(&fit.parameters),
        wishes.met,
        wishes.total
    )
}

fn constants_section(fit: &WishFit) -> Section<'_> {
    let columns = [
        Column::text("constant", 8),
        Column::number("value", 5),
        Column::text("the same wishes are met from", 10),
    ];
    let table = Table::new(columns, Vec::from_iter(&fit.parameters), |parameter| {
        let value = parameter.value.to_string();
        cells![&*parameter.name, value, within_in_words(parameter)]
    });
    Section::new("constants").table(table)
}

/// The most errors of a formula that are listed.
const MAX_ERRORS: usize = 3;

/// What is known of a formula that may be set.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FormulaToSet {
    /// The command that sets it.
    #[serde(rename = "qmgr")]
    command: Option<String>,
    /// Why there is no command.
    #[serde(rename = "qmgr_obstacle")]
    obstacle: Option<String>,
    /// Its errors, such as jobs for which it fails.
    #[serde(
        serialize_with = "serialize_errors",
        skip_serializing_if = "Vec::is_empty"
    )]
    errors: Vec<Diagnostic>,
    /// The result of checking it, also on the jobs of the queue if the site has them.
    #[serde(skip)]
    checked: Option<Checked>,
}

impl FormulaToSet {
    /// Checks a formula as `jsf check --qmgr` does, which prints no command for a formula with an
    /// error. `not_advised` says why it is not to be set in any case.
    fn new(site: &Site, formula: &str, not_advised: Option<String>) -> Self {
        let mut to_set = Self::default();
        let command = match site.check_text(formula) {
            Ok(checked) => {
                let errors = checked.findings.iter();
                let errors = errors.filter(|found| found.severity == Severity::Error);
                to_set.errors = errors.cloned().collect();
                let command = checked_command(site, formula, &checked, &to_set.errors);
                to_set.checked = Some(checked);
                command
            }
            Err(error) => Err(format!("the formula cannot be checked: {error}")),
        };
        // that a formula is not advised counts more than how it could be set
        match (command, not_advised) {
            (_, Some(obstacle)) | (Err(obstacle), None) => to_set.obstacle = Some(obstacle),
            (Ok(command), None) => to_set.command = Some(command),
        }
        to_set
    }

    /// Whether the formula has an error, or the server refuses it.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty() || self.checked.as_ref().is_some_and(is_refused)
    }

    /// The command on a line that can be copied, or why it is missing.
    fn section(&self) -> Section<'_> {
        if let Some(command) = &self.command {
            return Section::new("to set it").draw(move |_| command.clone());
        }
        let obstacle = self.obstacle.as_deref().unwrap_or_default();
        let mut errors = Vec::new();
        for found in self.errors.iter().take(MAX_ERRORS) {
            errors.push(brief_finding(found, ""));
        }
        Section::new("not to be set")
            .prose(format!("No command is given: {obstacle}."))
            .list(errors)
    }

    /// What is wrong with the formula on the queue, as a sentence: it fails for jobs, is refused,
    /// or orders none.
    pub fn warning(&self) -> Option<String> {
        if let Some(sentence) = verdict_sentence(self.checked.as_ref()?, "the formula") {
            return Some(sentence);
        }
        let message = &self.errors.first()?.message;
        Some(format!("The formula has an error: {message}."))
    }
}

/// The command that sets a formula; the error is the reason why it cannot be set.
fn checked_command(
    site: &Site,
    formula: &str,
    checked: &Checked,
    errors: &[Diagnostic],
) -> Result<String, String> {
    if !errors.is_empty() {
        let mut codes: Vec<&str> = errors.iter().map(|found| found.code.name()).collect();
        codes.sort_unstable();
        codes.dedup();
        let codes = codes.join(", ");
        return Err(format!(
            "`jsf check` finds an error in the formula ({codes})"
        ));
    }
    if is_refused(checked) {
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
    let object = object_or_server(&before);
    let command = set_command_for(&object, formula).map_err(|refusal| refusal.message)?;
    // escaped it would set another formula, and as it is it would reach the terminal
    if printable_lines(&command) != command {
        return Err("the formula has control characters".to_owned());
    }
    Ok(command)
}

fn serialize_errors<S: Serializer>(
    errors: &[Diagnostic],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(|found| {
        object! { code: found.code, message: &found.message }
    }))
}
