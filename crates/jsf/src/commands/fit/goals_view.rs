//! Constants that meet goals on a log, for people: the advice, the goals on the days that were
//! searched and on those that were not, what else was tried, and who pays.

use jsf_fit::FittedConstant;
use jsf_fit::goals::{
    FittedGoal, FittedObjective, GoalFit, HeldOutFormula, Reason, Recommendation,
};
use jsf_simulate::{GoalState, MeanChange, Measure};

use crate::commands::fit::answer::GoalFitReport;
use crate::commands::fit::chart;
use crate::commands::simulate::effect_in_words::{effect, interval_in_brackets};
use crate::commands::simulate::view::{DOUBT, validation_fact, warning_sections};
use crate::view::charts::waits;
use crate::view::charts::waits::FOREST_LEGEND;
use crate::view::document::{Cell, Chart, Document, Fact, RowLimit, Section, Table};
use crate::view::goals::{state_in_words, value_in_words};
use crate::view::words::{
    count, duration, quoted, signed_rough_duration, signed_significant, significant,
};

/// Intervals take six blocks of a week.
const DAYS_TO_JUDGE: f64 = 42.0;
/// The most groups of a chart.
const MAX_GROUPS: usize = 20;

impl<'a> GoalFitReport<'a> {
    pub(super) fn goals_document(&self) -> Document<'a> {
        let fit = self.fit;
        let warnings = fit
            .held_out
            .warnings
            .iter()
            .map(|text| format!("warning {text}"));
        let mut sections = vec![Section::formulas(
            &fit.held_out.current.formula,
            &fit.formula,
        )];
        sections.extend(warning_sections(warnings.collect()));
        sections.push(goals_section(fit));
        if self.recommendation == Recommendation::Use {
            sections.push(self.to_set.section());
        }
        sections.push(constants_section(fit));
        sections.push(who_pays(fit));
        sections.push(baselines_section(fit));
        Document {
            command: "jsf fit",
            title: "Weights for a job_sort_formula".to_owned(),
            headline: self.headline(),
            facts: self.facts(),
            sections,
            read_on: "jsf compare --new F --site DIR",
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let fit = self.fit;
        let formula = &fit.held_out.current.formula;
        let in_force = if fit.is_in_force_known {
            Fact::new("in force", formula).in_full()
        } else {
            let assumed = "first come, first served: no formula is known, --old gives one";
            Fact::new("in force", format!("{formula} ({assumed})"))
        };
        let held_out = format!(
            "the last {} d of the log; fitted on {} d; {} simulated",
            fit.split.held_out_days().round(),
            fit.split.searched_days().round(),
            count(fit.evaluations, "formula")
        );
        let machine = format!(
            "{} {}",
            count(fit.held_out.processors.total as usize, "processor"),
            fit.held_out.processors.source_in_words()
        );
        let machine = Fact::new("machine", machine).in_full_if(fit.held_out.processors.are_given());
        let MeanChange { old, new, .. } = fit.held_out.difference.wait;
        let [old, new] = [old, new].map(duration);
        let longest = fit.held_out.longest_waits.map(Option::unwrap_or_default);
        let [longest_old, longest_new] = longest.map(duration);
        let waits = format!("held out: mean {old} → {new}, longest {longest_old} → {longest_new}");
        let mut facts = vec![
            Fact::new("template", self.template.trim_end()).in_full(),
            in_force,
            Fact::new("formula", fit.formula.trim_end()),
            Fact::new("held out", held_out),
            machine,
            Fact::new("waits", waits),
        ];
        facts.extend(fit.objective.as_ref().and_then(optimism));
        let known = fit
            .constants
            .iter()
            .filter(|constant| constant.within.is_some());
        let within: Vec<String> = known
            .map(|constant| format!("{} {}", constant.name, within_in_words(constant)))
            .collect();
        if !within.is_empty() && fit.reason != Reason::GoalsMissed {
            facts.push(Fact::new("within the error", within.join(", ")));
        }
        facts.extend(simpler(fit));
        if fit.is_interrupted {
            let text = "the best so far; the ranges of the constants are not known";
            facts.push(Fact::new("interrupted", text));
        }
        let validation = fit.held_out.validation.as_ref();
        if let Some(doubtful) = validation.filter(|validation| validation.is_doubtful()) {
            facts.push(validation_fact(doubtful, "the formula in force"));
            facts.push(Fact::new("a hypothesis", DOUBT));
        }
        facts
    }

    /// The advice, and what is to be known before one follows it.
    fn headline(&self) -> String {
        let mut sentences = vec![self.advice()];
        match self.recommendation {
            Recommendation::Keep => {
                let gained = self.names(|goal| is_missed_in_force(goal) && goal.held_out.is_met());
                sentences.extend(gained.map(|names| {
                    format!("But the formula in force misses {names}, which the other one meets.")
                }));
            }
            Recommendation::Use => {
                let missed = self.names(|goal| goal.held_out.is_missed() || goal.train.is_missed());
                sentences.extend(missed.map(|names| format!("But it misses {names}.")));
                sentences.extend(self.worse());
                sentences.extend(self.to_set.warning());
            }
            Recommendation::None => {}
        }
        sentences.join(" ")
    }

    /// The names of some goals; `None` without one.
    fn names(&self, is_named: impl Fn(&FittedGoal) -> bool) -> Option<String> {
        let named = self.fit.goals.iter().filter(|goal| is_named(goal));
        let names = quoted(named.map(|goal| &*goal.name));
        (!names.is_empty()).then_some(names)
    }

    /// Which means of all jobs get worse on the held-out days by more than chance.
    fn worse(&self) -> Option<String> {
        let mut worse = Vec::new();
        for (name, change) in self.fit.held_out.difference.means() {
            let is_wait = name.starts_with("mean wait");
            let words = if is_wait { duration } else { significant };
            if change.is_increase() {
                let [old, new] = [change.old, change.new].map(words);
                worse.push(format!("{name} {old} → {new}"));
            }
        }
        (!worse.is_empty())
            .then(|| format!("But worse there by more than chance: {}.", worse.join(", ")))
    }

    fn advice(&self) -> String {
        let fit = self.fit;
        let chosen = chosen_values(&fit.constants);
        let unseen = "on the days that were not searched";
        let days = fit.split.held_out_days();
        let keep = match fit.reason {
            Reason::Better => {
                let met = goals_met(fit.goals.iter().map(|goal| goal.held_out.state));
                let goals = if fit.goals.is_empty() {
                    String::new()
                } else {
                    format!(" meets {met} goals and")
                };
                return format!(
                    "Use {chosen}: {unseen} it{goals} is better than the formula in force by more than chance."
                );
            }
            Reason::GoalGained => {
                let gained = self.names(|goal| {
                    goal.measure.is_of_each_job()
                        && is_missed_in_force(goal)
                        && goal.held_out.is_met()
                });
                return format!(
                    "Use {chosen}: it meets {}, which the formula in force misses.",
                    gained.unwrap_or_default()
                );
            }
            Reason::GoalsMissed => return self.infeasible(),
            Reason::InForce => "nothing that was tried is better".to_owned(),
            Reason::GoalsMetInForce => "it meets all goals already".to_owned(),
            Reason::GoalLost => {
                let lost =
                    self.names(|goal| goal.held_out_current.is_met() && !goal.held_out.is_met());
                let objective = fit.objective.iter().map(|objective| &*objective.name);
                let lost =
                    lost.unwrap_or_else(|| format!("in {} by more than chance", quoted(objective)));
                format!("{unseen}, {chosen} loses {lost}")
            }
            Reason::WithinChance => {
                format!("{unseen}, {chosen} is not better by more than chance")
            }
            Reason::TooShortToJudge if days < DAYS_TO_JUDGE => format!(
                "the {} d held out are too few to tell {chosen} from chance, which takes six weeks",
                days as usize
            ),
            Reason::TooShortToJudge => format!(
                "nothing that is wanted has an interval, so {chosen} cannot be told from chance"
            ),
        };
        format!("Keep the formula in force: {keep}.")
    }

    /// Which goals exclude each other, or else which one is missed.
    fn infeasible(&self) -> String {
        let fit = self.fit;
        let mut reasons = Vec::new();
        let excluded = fit.exclusions.first();
        if let Some(exclusion) = excluded {
            let [met, other] = [exclusion.met, exclusion.other].map(|goal| &fit.goals[goal]);
            let best = value_in_words(other.measure, Some(exclusion.best));
            reasons.push(format!(
                "where `{}` is met, the best of `{}` that was tried is {best}",
                met.name, other.name
            ));
        }
        for (at, goal) in fit.goals.iter().enumerate() {
            if goal.train.is_missed() && excluded.is_none_or(|exclusion| exclusion.other != at) {
                let [best, limit] = distinct_words(goal.measure, [goal.best, goal.train.limit]);
                let bound = if goal.is_most { "at most" } else { "at least" };
                reasons.push(format!(
                    "the best of `{}` that was tried is {best}, {bound} {limit} is asked for",
                    goal.name
                ));
            }
        }
        let early = if fit.is_interrupted {
            "Interrupted, and so far: "
        } else {
            ""
        };
        let reasons = reasons.join("; ");
        format!("{early}No weights meet all goals: {reasons}. Relax a goal, or add a term.")
    }
}

/// `fs = 120, age = 2`.
pub(crate) fn chosen_values(constants: &[FittedConstant]) -> String {
    let values = constants
        .iter()
        .map(|constant| format!("{} = {}", constant.name, constant.value));
    Vec::from_iter(values).join(", ")
}

/// Whether the formula in force misses a goal on either part of the log.
fn is_missed_in_force(goal: &FittedGoal) -> bool {
    goal.held_out_current.is_missed() || goal.current.is_missed()
}

/// `4 of 5`.
fn goals_met(states: impl ExactSizeIterator<Item = GoalState>) -> String {
    let all = states.len();
    let met = states.filter(|state| *state == GoalState::Met).count();
    format!("{met} of {all}")
}

/// Two values in words, with all their digits where they would look alike.
fn distinct_words(measure: Measure, values: [Option<f64>; 2]) -> [String; 2] {
    let words = values.map(|value| value_in_words(measure, value));
    let unit = if measure.is_duration() { " s" } else { "" };
    match values {
        [Some(one), Some(other)] if words[0] == words[1] && one != other => {
            [one, other].map(|value| format!("{value}{unit}"))
        }
        _ => words,
    }
}

/// How much of what was gained on the searched days is not gained on the others.
fn optimism(objective: &FittedObjective) -> Option<Fact> {
    let lost = objective
        .optimism
        .filter(|lost| *lost > 0.0 && objective.gain() > 0.0)?;
    let words = value_in_words(objective.measure, Some(lost));
    Some(Fact::new(
        "optimism",
        format!(
            "the gain is smaller by {words} on the days held out than on those searched ({})",
            objective.name
        ),
    ))
}

/// The best of the known formulas on the held-out days: it meets the most goals, or of several that
/// do is the best in the objective.
fn simpler(fit: &GoalFit) -> Option<Fact> {
    let met = |formula: &HeldOutFormula| formula.goals.iter().filter(|goal| goal.is_met()).count();
    let loss = |formula: &HeldOutFormula| match (&fit.objective, formula.objective) {
        (Some(objective), Some(value)) if objective.is_minimised => value,
        (Some(_), Some(value)) => -value,
        _ => f64::INFINITY,
    };
    let best = fit.held_out.baselines.iter().min_by(|one, other| {
        let by_goals = met(other).cmp(&met(one));
        by_goals.then(loss(one).total_cmp(&loss(other)))
    })?;
    if met(best) < met(&fit.held_out.current) {
        return None;
    }
    let mut words = Vec::new();
    if !fit.goals.is_empty() {
        let met = goals_met(best.goals.iter().map(|goal| goal.state));
        words.push(format!("meets {met} goals"));
    }
    if let Some(objective) = &fit.objective {
        let value = value_in_words(objective.measure, best.objective);
        words.push(format!("{} {value}", objective.name));
    }
    let text = format!("{}: {}", best.name, words.join(", "));
    Some(Fact::new("simpler", text))
}

/// The values of a constant that do as well; a dash where that is not known.
pub(crate) fn within_in_words(constant: &FittedConstant) -> String {
    let Some(ends) = constant.within else {
        return "–".to_owned();
    };
    let all = if constant.hardly_matters {
        " (all of the range)"
    } else {
        ""
    };
    format!("{}{all}", ends_in_words(ends))
}

/// `25 to 70`; `100 alone` if no other value that was tried does as well.
pub(crate) fn ends_in_words(ends: [f64; 2]) -> String {
    let [low, high] = ends.map(significant);
    if low == high {
        format!("{low} alone")
    } else {
        format!("{low} to {high}")
    }
}

/// The limit in few characters.
pub(crate) fn limit_in_words(goal: &FittedGoal, limit: Option<f64>) -> String {
    let sign = if goal.is_most { '≤' } else { '≥' };
    format!("{sign} {}", value_in_words(goal.measure, limit))
}

/// What is wanted, under the formula in force and the fitted one.
struct WantedRow<'a> {
    name: &'a str,
    limit: String,
    /// That on the days searched, if it is another one, as it refers to the formula in force.
    searched_limit: String,
    measure: Measure,
    /// In force on the days held out, fitted on the days searched, and on those held out.
    values: [Option<f64>; 3],
    change: Option<MeanChange>,
    met: &'static str,
}

fn goal_row(goal: &FittedGoal) -> WantedRow<'_> {
    WantedRow {
        name: &goal.name,
        searched_limit: if goal.train.limit == goal.held_out.limit {
            String::new()
        } else {
            limit_in_words(goal, goal.train.limit)
        },
        limit: limit_in_words(goal, goal.held_out.limit),
        measure: goal.measure,
        values: [&goal.held_out_current, &goal.train, &goal.held_out].map(|part| part.value),
        change: goal.change,
        met: match goal.held_out.state {
            GoalState::NoJobs => "no jobs",
            state => state_in_words(state),
        },
    }
}

fn objective_row(objective: &FittedObjective) -> WantedRow<'_> {
    let aim = if objective.is_minimised {
        "small"
    } else {
        "large"
    };
    WantedRow {
        name: &objective.name,
        limit: aim.to_owned(),
        searched_limit: String::new(),
        measure: objective.measure,
        values: [
            objective.held_out.current,
            objective.fitted,
            objective.held_out.fitted,
        ],
        change: objective.held_out.change,
        met: "",
    }
}

/// The goals and the objective, under the formula in force and the fitted one.
fn goals_section(fit: &GoalFit) -> Section<'_> {
    let mut rows: Vec<WantedRow<'_>> = fit.goals.iter().map(goal_row).collect();
    rows.extend(fit.objective.iter().map(objective_row));
    let has_other_limits = rows.iter().any(|row| !row.searched_limit.is_empty());
    let mut table = Table::of(rows)
        .id("goal", 12, |row| row.name)
        .text("limit", 6, |row| row.limit.clone());
    for (index, heading, importance) in [(0, "in force", 7), (1, "searched", 7), (2, "held out", 8)]
    {
        table = table.number(heading, importance, move |row| {
            value_in_words(row.measure, row.values[index])
        });
    }
    let table = table
        .text("held out - in force (95 %)", 2, change_cell)
        .text("limit searched", 1, |row| {
            Cell::prose(row.searched_limit.clone())
        })
        .shown_if(has_other_limits)
        .text("met", 3, |row| Cell::prose(row.met));
    let section = Section::new("goals");
    let section = if fit.goals.is_empty() {
        section
    } else {
        section.chart(move || chart::goals(&fit.goals))
    };
    section.table(table)
}

/// How what is wanted changes on the held-out days; what few jobs decide has no interval.
fn change_cell<'a>(row: &WantedRow<'_>) -> Cell<'a> {
    let Some(change) = &row.change else {
        return Cell::Missing;
    };
    let words = match row.measure {
        measure if measure.is_duration() => signed_rough_duration,
        measure if measure.is_fraction() => signed_points,
        _ => signed_significant,
    };
    let interval = interval_in_brackets(change, words);
    let by = words(change.difference());
    format!("{by}{interval}").into()
}

fn signed_points(change: f64) -> String {
    format!("{} points", signed_significant(change * 100.0))
}

fn constants_section(fit: &GoalFit) -> Section<'_> {
    let table = Table::of(&fit.constants)
        .text("constant", 8, |constant| &*constant.name)
        .number("value", 5, |constant| constant.value.to_string())
        .text("within the error", 10, |constant| within_in_words(constant))
        .text("searched", 8, |constant| {
            ends_in_words([constant.range.low, constant.range.high])
        });
    let meaning = "Within the error are the values with which the objective is worse by at most one standard error of what is gained over \
                   the formula in force, the other numbers being fixed: not as good as the answer, if that gain is large.";
    Section::new("constants")
        .in_full()
        .prose(meaning)
        .chart(move || chart::constants(&fit.constants))
        .table(table)
}

/// Who wins and who pays on the held-out days.
fn who_pays(fit: &GoalFit) -> Section<'_> {
    let mut section = Section::new("who pays, on the days held out")
        .prose(effect(&fit.held_out.difference))
        .in_full();
    let kinds = [
        ("processors", &fit.held_out.difference.classes.sizes),
        ("entity", &fit.held_out.difference.classes.entities),
    ];
    for (what, groups) in kinds {
        if groups.len() > 1 {
            let (first, last) = RowLimit::Ends(MAX_GROUPS).shown_ends(groups.len());
            let mut rows = vec![("all jobs", fit.held_out.difference.wait)];
            let shown = groups[..first].iter().chain(&groups[last..]);
            rows.extend(shown.map(|group| (&*group.name, group.wait)));
            section = section.chart(move || Chart::new(waits::forest(what, &rows), &FOREST_LEGEND));
        }
    }
    section
}

/// The formulas that the answer is compared with.
fn baselines_section(fit: &GoalFit) -> Section<'_> {
    let known = std::iter::once(&fit.held_out.current).chain(&fit.held_out.baselines);
    let mut table = Table::of(known.chain([&fit.held_out.fitted]))
        .text("formula", 12, |formula| formula.name)
        .code("text", 20, |formula| Cell::Code((*formula.formula).into()));
    if let Some(objective) = &fit.objective {
        table = table.text(&*objective.name, 8, |formula| {
            value_in_words(objective.measure, formula.objective)
        });
    }
    let has_goals = !fit.goals.is_empty();
    let table = table
        .text("goals met", 8, |formula| {
            goals_met(formula.goals.iter().map(|goal| goal.state))
        })
        .shown_if(has_goals);
    Section::new("other formulas, on the days held out")
        .in_full()
        .table(table)
}
