//! Constants that were found, as JSON.

use jsf_fit::goals::{
    FittedConstant, FittedGoal, FittedObjective, GoalFit, GoalValue, HeldOutFormula, Reason, Recommendation,
};
use jsf_fit::wishes::{WishFit, WishesMet};
use jsf_simulate::MeanChange;
use jsf_site::ProcessorsSource;
use serde::{Serialize, Serializer};

use crate::commands::fit::formula_to_set::FormulaToSet;
use crate::commands::fit::goals_view::GoalFitReport;
use crate::commands::fit::wishes_view::WishFitReport;

/// What a fit answers.
#[derive(Serialize)]
struct Json<'a> {
    formula: &'a str,
    qmgr: Option<&'a str>,
    /// Why there is no command.
    qmgr_obstacle: Option<String>,
    /// The errors that a check of the formula finds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<JsonError<'a>>,
    feasible: bool,
    recommendation: &'static str,
    reason: &'static str,
    parameters: Vec<JsonParameter<'a>>,
    wishes: Option<JsonWishes<'a>>,
    goals: Vec<JsonGoal<'a>>,
    objective: Option<JsonObjective<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_out_waits: Option<JsonWaits>,
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<JsonLog>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exclusions: Vec<JsonExclusion<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    points: Vec<JsonPoint<'a>>,
    evaluations: usize,
    seed: u64,
    complete: bool,
}

#[derive(Serialize)]
struct JsonError<'a> {
    code: &'a str,
    message: &'a str,
}

/// The waits of the jobs of the held-out part, in seconds.
#[derive(Serialize)]
struct JsonWaits {
    jobs: usize,
    mean: JsonWait,
    longest: JsonWait,
}

#[derive(Serialize)]
struct JsonWait {
    current: Option<f64>,
    fitted: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    significant: Option<bool>,
}

#[derive(Serialize)]
struct JsonParameter<'a> {
    name: &'a str,
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hardly_matters: bool,
}

#[derive(Serialize)]
struct JsonWishes<'a> {
    total: usize,
    met: usize,
    violated: Vec<[&'a str; 2]>,
    conflict: Vec<[&'a str; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_deviation: Option<f64>,
}

#[derive(Serialize)]
struct JsonGoal<'a> {
    name: &'a str,
    measure: String,
    current: JsonValue,
    train: JsonValue,
    held_out_current: JsonValue,
    held_out: JsonValue,
}

#[derive(Serialize)]
struct JsonValue {
    jobs: usize,
    value: Option<f64>,
    limit: Option<f64>,
    met: Option<bool>,
}

#[derive(Serialize)]
struct JsonObjective<'a> {
    name: &'a str,
    current: Option<f64>,
    fitted: Option<f64>,
    optimism: Option<f64>,
    held_out: JsonHeldOut,
    baselines: Vec<JsonBaseline<'a>>,
}

#[derive(Serialize)]
struct JsonHeldOut {
    current: Option<f64>,
    fitted: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct JsonBaseline<'a> {
    name: &'static str,
    formula: &'a str,
    held_out: Option<f64>,
}

#[derive(Serialize)]
struct JsonLog {
    processors: JsonProcessors,
    searched_days: f64,
    held_out_days: f64,
    tau_b: Option<f64>,
}

#[derive(Serialize)]
struct JsonProcessors {
    total: u32,
    from: ProcessorsSource,
}

#[derive(Serialize)]
struct JsonExclusion<'a> {
    met: &'a str,
    other: &'a str,
    best: f64,
}

#[derive(Serialize)]
struct JsonPoint<'a> {
    values: &'a [f64],
    missed: f64,
    objective: Option<f64>,
}

fn errors(to_set: &FormulaToSet) -> Vec<JsonError<'_>> {
    to_set.errors().into_iter().map(|found| JsonError { code: found.code.name(), message: &found.message }).collect()
}

impl Serialize for WishFitReport<'_> {
    /// The command that sets the formula is there if all wishes are met.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { fit, to_set, .. } = *self;
        let parameters = fit.parameters.iter().map(|parameter| JsonParameter {
            name: &parameter.name,
            value: parameter.value,
            low: Some(parameter.low),
            high: Some(parameter.high),
            hardly_matters: false,
        });
        let json = Json {
            formula: &fit.formula,
            qmgr: to_set.command.as_deref().filter(|_| fit.is_feasible),
            qmgr_obstacle: unmet_wishes(fit).or_else(|| to_set.obstacle.clone()),
            errors: errors(to_set),
            feasible: fit.is_feasible,
            recommendation: if fit.is_feasible { "use" } else { "none" },
            reason: if fit.is_feasible { "wishes met" } else { "wishes missed" },
            parameters: parameters.collect(),
            wishes: Some(JsonWishes {
                total: fit.wishes.total,
                met: fit.wishes.met,
                violated: pairs(&fit.wishes.violated),
                conflict: pairs(&fit.wishes.conflict),
                mean_deviation: fit.mean_deviation,
            }),
            goals: Vec::new(),
            objective: None,
            held_out_waits: None,
            warnings: &[],
            log: None,
            exclusions: Vec::new(),
            points: Vec::new(),
            evaluations: fit.evaluations,
            seed: fit.seed,
            complete: fit.is_complete,
        };
        json.serialize(serializer)
    }
}

fn pairs(pairs: &[(String, String)]) -> Vec<[&str; 2]> {
    pairs.iter().map(|(above, below)| [&**above, &**below]).collect()
}

impl Serialize for GoalFitReport<'_> {
    /// The command that sets the formula is there if the advice is to use it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { fit, to_set, .. } = *self;
        let recommendation = fit.reason.recommendation();
        let exclusions = fit.exclusions.iter().map(|exclusion| JsonExclusion {
            met: &fit.goals[exclusion.met].name,
            other: &fit.goals[exclusion.other].name,
            best: exclusion.best,
        });
        let points = fit.points.iter().map(|point| JsonPoint {
            values: &point.values,
            missed: point.score.missed,
            objective: point.objective,
        });
        let json = Json {
            formula: &fit.formula,
            qmgr: to_set.command.as_deref().filter(|_| recommendation == Recommendation::Use),
            qmgr_obstacle: not_advised(recommendation).map(str::to_owned).or_else(|| to_set.obstacle.clone()),
            errors: errors(to_set),
            feasible: recommendation != Recommendation::None,
            recommendation: match recommendation {
                Recommendation::Use => "use",
                Recommendation::Keep => "keep",
                Recommendation::None => "none",
            },
            reason: reason_name(fit.reason),
            parameters: fit.constants.iter().map(parameter).collect(),
            wishes: None,
            goals: fit.goals.iter().map(goal).collect(),
            objective: fit.objective.as_ref().map(|of| objective(of, &fit.baselines)),
            held_out_waits: Some(held_out_waits(fit)),
            warnings: &fit.warnings,
            log: Some(JsonLog {
                processors: JsonProcessors { total: fit.processors, from: fit.processors_source },
                searched_days: fit.split.searched_days(),
                held_out_days: fit.split.held_out_days(),
                tau_b: fit.validation.as_ref().and_then(|validation| validation.rank_correlation),
            }),
            exclusions: exclusions.collect(),
            points: points.collect(),
            evaluations: fit.evaluations,
            seed: fit.seed,
            complete: !fit.is_interrupted,
        };
        json.serialize(serializer)
    }
}

/// Why no command sets a formula that does not meet all wishes.
pub(crate) fn unmet_wishes(fit: &WishFit) -> Option<String> {
    let WishesMet { total, met, .. } = fit.wishes;
    let are = if total - met.min(total) == 1 { "is" } else { "are" };
    (!fit.is_feasible).then(|| format!("{} of {total} wishes {are} not met", total - met.min(total)))
}

fn not_advised(recommendation: Recommendation) -> Option<&'static str> {
    match recommendation {
        Recommendation::Use => None,
        Recommendation::Keep => Some("the advice is to keep the formula in force"),
        Recommendation::None => Some("no numbers meet all goals"),
    }
}

fn held_out_waits(fit: &GoalFit) -> JsonWaits {
    let MeanChange { old, new, jobs, .. } = fit.difference.wait;
    let interval = fit.difference.wait.interval();
    let [current, fitted] = fit.longest_waits.map(|wait| wait.map(|seconds| seconds as f64));
    let mean = |value: f64| Some(value).filter(|_| jobs > 0);
    JsonWaits {
        jobs,
        mean: JsonWait {
            current: mean(old),
            fitted: mean(new),
            low: interval.map(|[low, _]| low),
            high: interval.map(|[_, high]| high),
            significant: interval.map(|_| fit.difference.wait.is_significant()),
        },
        longest: JsonWait { current, fitted, low: None, high: None, significant: None },
    }
}

fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Better => "better",
        Reason::GoalGained => "goal gained",
        Reason::GoalsMissed => "goals missed",
        Reason::InForce => "in force",
        Reason::GoalsMetInForce => "goals met in force",
        Reason::GoalLost => "goal lost",
        Reason::WithinChance => "within chance",
        Reason::TooShortToJudge => "too short to judge",
    }
}

fn parameter(constant: &FittedConstant) -> JsonParameter<'_> {
    JsonParameter {
        name: &constant.name,
        value: constant.value,
        low: constant.within.map(|[low, _]| low),
        high: constant.within.map(|[_, high]| high),
        hardly_matters: constant.hardly_matters,
    }
}

fn goal(goal: &FittedGoal) -> JsonGoal<'_> {
    JsonGoal {
        name: &goal.name,
        measure: goal.measure.to_string(),
        current: goal.current.into(),
        train: goal.train.into(),
        held_out_current: goal.held_out_current.into(),
        held_out: goal.held_out.into(),
    }
}

impl From<GoalValue> for JsonValue {
    fn from(value: GoalValue) -> Self {
        let GoalValue { value, limit, jobs, state, .. } = value;
        Self { jobs, value, limit, met: state.met() }
    }
}

fn objective<'a>(objective: &'a FittedObjective, baselines: &'a [HeldOutFormula]) -> JsonObjective<'a> {
    let interval = objective.change.and_then(|change| change.interval());
    let baselines = baselines.iter().map(|baseline| JsonBaseline {
        name: baseline.name,
        formula: &baseline.formula,
        held_out: baseline.objective,
    });
    JsonObjective {
        name: &objective.name,
        current: objective.current,
        fitted: objective.fitted,
        optimism: objective.optimism(),
        held_out: JsonHeldOut {
            current: objective.held_out_current,
            fitted: objective.held_out,
            low: interval.map(|[low, _]| low),
            high: interval.map(|[_, high]| high),
        },
        baselines: baselines.collect(),
    }
}
