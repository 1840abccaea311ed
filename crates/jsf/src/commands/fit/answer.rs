//! Constants that were found, and the command that sets the formula with them.

use jsf_fit::goals::{GoalFit, Recommendation};
use jsf_fit::wishes::{WishFit, WishesMet};
use serde::{Serialize, Serializer};

use crate::answer::{Answer, object};
use crate::commands::fit::formula_to_set::FormulaToSet;
use crate::view::document::Document;

/// A fit to wishes, and the command that sets its formula.
#[derive(Debug)]
pub struct WishFitReport<'a> {
    /// The template.
    pub template: &'a str,
    /// The fit.
    pub fit: &'a WishFit,
    /// The command that sets the formula, which is made with [`unmet_wishes`].
    pub to_set: &'a FormulaToSet,
    /// What is doubtful about the answer.
    pub warnings: Vec<String>,
}

impl Serialize for WishFitReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fit = self.fit;
        let (recommendation, reason) = if fit.is_feasible {
            (Recommendation::Use, "wishes met")
        } else {
            (Recommendation::None, "wishes missed")
        };
        let report = object! {
            #[serde(flatten)]
            fit,
            #[serde(flatten)]
            to_set: self.to_set,
            recommendation,
            reason,
            wishes: &fit.wishes,
            // only a log has goals and an objective
            goals: [(); 0],
            objective: (),
            warnings: &self.warnings,
        };
        report.serialize(serializer)
    }
}

impl Answer for WishFitReport<'_> {
    fn document(&self) -> Document<'_> {
        self.wishes_document()
    }
}

/// Why no command sets a formula that does not meet all wishes; `None` if it does.
pub fn unmet_wishes(fit: &WishFit) -> Option<String> {
    if fit.is_feasible {
        return None;
    }
    let WishesMet { total, met, .. } = fit.wishes;
    let unmet = total.saturating_sub(met);
    let are = if unmet == 1 { "is" } else { "are" };
    Some(format!("{unmet} of {total} wishes {are} not met"))
}

/// A fit to goals, and the command that sets its formula.
#[derive(Debug, Clone, Copy)]
pub struct GoalFitReport<'a> {
    /// The template.
    pub template: &'a str,
    /// The fit.
    pub fit: &'a GoalFit,
    /// The command that sets the formula, which is made with [`not_advised`].
    pub to_set: &'a FormulaToSet,
}

impl Serialize for GoalFitReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fit = self.fit;
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
        let tau_b = match &held_out.validation {
            Some(validation) => validation.rank_correlation,
            None => None,
        };
        let mut exclusions = Vec::new();
        for exclusion in &fit.exclusions {
            exclusions.push(object! {
                met: &fit.goals[exclusion.met].name,
                other: &fit.goals[exclusion.other].name,
                best: exclusion.best,
            });
        }
        let report = object! {
            #[serde(flatten)]
            fit,
            #[serde(flatten)]
            to_set: self.to_set,
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
        report.serialize(serializer)
    }
}

impl Answer for GoalFitReport<'_> {
    fn document(&self) -> Document<'_> {
        self.goals_document()
    }
}

/// Why no command sets a formula that is not better; `None` if it is.
pub fn not_advised(fit: &GoalFit) -> Option<String> {
    match fit.reason.recommendation() {
        Recommendation::Use => None,
        Recommendation::Keep => Some("the advice is to keep the formula in force".to_owned()),
        Recommendation::None => Some("no numbers meet all goals".to_owned()),
    }
}
