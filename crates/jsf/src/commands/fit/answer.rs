//! Constants that were found, and the command that sets the formula with them.

use jsf_fit::goals::{FittedObjective, GoalFit, GoalValue, HeldOutFormula, Recommendation};
use jsf_fit::wishes::{WishFit, WishesMet};
use jsf_site::Processors;
use serde::Serialize;

use crate::answer::Answer;
use crate::commands::fit::formula_to_set::FormulaToSet;
use crate::view::document::Document;

/// A fit to wishes, and the command that sets its formula.
#[derive(Debug, Serialize)]
pub struct WishFitReport<'a> {
    /// The template.
    #[serde(skip)]
    pub template: &'a str,
    /// The fit.
    #[serde(flatten)]
    pub fit: &'a WishFit,
    /// The command that sets the formula.
    #[serde(flatten)]
    pub to_set: &'a FormulaToSet,
    recommendation: Recommendation,
    reason: &'static str,
    wishes: &'a WishesMet,
    /// Only a log has goals and an objective.
    goals: [GoalValue; 0],
    objective: (),
    pub(crate) warnings: Vec<String>,
}

impl<'a> WishFitReport<'a> {
    /// The answer about a fit. `to_set` is made with [`unmet_wishes`].
    pub fn new(template: &'a str, fit: &'a WishFit, to_set: &'a FormulaToSet) -> Self {
        let (recommendation, reason) = if fit.is_feasible {
            (Recommendation::Use, "wishes met")
        } else {
            (Recommendation::None, "wishes missed")
        };
        Self {
            template,
            fit,
            to_set,
            recommendation,
            reason,
            wishes: &fit.wishes,
            goals: [],
            objective: (),
            warnings: Vec::new(),
        }
    }
}

impl Answer for WishFitReport<'_> {
    fn document(&self) -> Document<'_> {
        self.wishes_document()
    }
}

/// Why no command sets a formula that does not meet all wishes; `None` if it does.
pub fn unmet_wishes(fit: &WishFit) -> Option<String> {
    let WishesMet { total, met, .. } = fit.wishes;
    let unmet = total.saturating_sub(met);
    let are = if unmet == 1 { "is" } else { "are" };
    (!fit.is_feasible).then(|| format!("{unmet} of {total} wishes {are} not met"))
}

/// A fit to goals, and the command that sets its formula.
#[derive(Debug, Serialize)]
pub struct GoalFitReport<'a> {
    /// The template.
    #[serde(skip)]
    pub template: &'a str,
    /// The fit.
    #[serde(flatten)]
    pub fit: &'a GoalFit,
    /// The command that sets the formula.
    #[serde(flatten)]
    pub to_set: &'a FormulaToSet,
    feasible: bool,
    pub(super) recommendation: Recommendation,
    /// A queue alone has wishes.
    wishes: (),
    objective: Option<Objective<'a>>,
    held_out_waits: HeldOutWaits,
    log: FittedLog,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exclusions: Vec<ExcludedGoal<'a>>,
}

impl<'a> GoalFitReport<'a> {
    /// The answer about a fit. `to_set` is made with [`not_advised`].
    pub fn new(template: &'a str, fit: &'a GoalFit, to_set: &'a FormulaToSet) -> Self {
        let recommendation = fit.reason.recommendation();
        let exclusions = fit.exclusions.iter().map(|exclusion| ExcludedGoal {
            met: &fit.goals[exclusion.met].name,
            other: &fit.goals[exclusion.other].name,
            best: exclusion.best,
        });
        Self {
            template,
            fit,
            to_set,
            feasible: recommendation != Recommendation::None,
            recommendation,
            wishes: (),
            objective: fit.objective.as_ref().map(|objective| Objective {
                objective,
                baselines: &fit.held_out.baselines,
            }),
            held_out_waits: HeldOutWaits::new(fit),
            log: FittedLog {
                processors: fit.held_out.processors,
                searched_days: fit.split.searched_days(),
                held_out_days: fit.split.held_out_days(),
                tau_b: fit
                    .held_out
                    .validation
                    .as_ref()
                    .and_then(|validation| validation.rank_correlation),
            },
            exclusions: exclusions.collect(),
        }
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

/// An objective with what other formulas reach.
#[derive(Debug, Serialize)]
struct Objective<'a> {
    #[serde(flatten)]
    objective: &'a FittedObjective,
    baselines: &'a [HeldOutFormula],
}

/// The waits of the jobs of the held-out part, in seconds.
#[derive(Debug, Serialize)]
struct HeldOutWaits {
    jobs: usize,
    mean: Compared,
    longest: Compared,
}

/// A number under the formula in force and under the fitted one; of a mean also the interval of its
/// change, if it has one.
#[derive(Debug, Default, Serialize)]
struct Compared {
    current: Option<f64>,
    fitted: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    significant: Option<bool>,
}

impl HeldOutWaits {
    fn new(fit: &GoalFit) -> Self {
        let wait = &fit.held_out.difference.wait;
        let interval = wait.interval();
        let [current, fitted] = fit.held_out.longest_waits;
        Self {
            jobs: wait.jobs,
            mean: Compared {
                current: (wait.jobs > 0).then_some(wait.old),
                fitted: (wait.jobs > 0).then_some(wait.new),
                low: interval.map(|[low, _]| low),
                high: interval.map(|[_, high]| high),
                significant: interval.map(|_| wait.is_significant()),
            },
            longest: Compared {
                current,
                fitted,
                ..Compared::default()
            },
        }
    }
}

/// What was made of the log.
#[derive(Debug, Serialize)]
struct FittedLog {
    processors: Processors,
    searched_days: f64,
    held_out_days: f64,
    tau_b: Option<f64>,
}

/// A goal that cannot be met where another one is.
#[derive(Debug, Serialize)]
struct ExcludedGoal<'a> {
    met: &'a str,
    other: &'a str,
    best: f64,
}
