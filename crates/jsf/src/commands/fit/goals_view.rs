//! Constants that meet goals on a log, for people: the advice, the goals on the days that were
//! searched and on those that were not, what else was tried, and who pays.

use std::iter;

use jsf_fit::FittedConstant;
use jsf_fit::goals::{FittedGoal, GoalFit, HeldOutFormula, Reason, Recommendation};
use jsf_simulate::{MeanChange, Measure, Validation};

use crate::commands::fit::answer::GoalFitReport;
use crate::commands::fit::chart;
use crate::commands::simulate::charts::forest_chart;
use crate::commands::simulate::effect_in_words::effect;
use crate::commands::simulate::view::{DOUBT, validation_fact, warning_lines, warning_sections};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table, cells};
use crate::view::goals::{bound_in_words, state_in_words, value_in_words};
use crate::view::unit::Unit;
use crate::view::words::{count, duration, quoted, significant};

const WITHIN: &str = "Within the error, the other constants being fixed, the objective is worse by at most one standard error of what is \
                      gained over the formula in force.";

impl GoalFitReport<'_> {
    pub(super) fn goals_document(&self) -> Document<'_> {
        let fit = &self.fit;
        let mut sections = vec![Section::formulas(
            &fit.held_out.current.formula,
            &fit.formula,
        )];
        sections.extend(warning_sections(warning_lines(&fit.held_out.warnings)));
        sections.push(goals_section(fit));
        if fit.reason.recommendation() == Recommendation::Use {
            sections.push(self.to_set.section());
        }
        let constants = Section::new("constants").in_full().prose(WITHIN);
        let constants = constants.chart(|| chart::constants(&fit.constants));
        sections.push(constants.table(constants_table(&fit.constants, "within the error")));
        sections.push(who_pays(fit));
        let held_out = &fit.held_out;
        let mut formulas = Vec::new();
        for formula in iter::once(&held_out.current).chain(&held_out.baselines) {
            formulas.push(format!("{}: `{}`", merits(fit, formula), formula.formula));
        }
        let others = Section::new("other formulas, on the days held out").in_full();
        sections.push(others.list(formulas));
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
        let fit = &self.fit;
        let held_out = &fit.held_out;
        let formula = &held_out.current.formula;
        let in_force = if fit.is_in_force_known {
            Fact::new("in force", formula).in_full()
        } else {
            let assumed = "first come, first served: no formula is known, --old gives one";
            Fact::new("in force", format!("{formula} ({assumed})"))
        };
        let days = format!(
            "the last {} d of the log; fitted on {} d; {} simulated",
            fit.split.held_out_days().round(),
            fit.split.searched_days().round(),
            count(fit.evaluations, "formula")
        );
        let machine = format!(
            "{} {}",
            count(held_out.processors.total as usize, "processor"),
            held_out.processors.source_in_words()
        );
        let wait = &held_out.difference.wait;
        let longest = held_out.longest_waits;
        let [old_longest, new_longest] = longest.map(|wait| duration(wait.unwrap_or_default()));
        let waits = format!(
            "held out: mean {} → {}, longest {old_longest} → {new_longest}",
            duration(wait.old),
            duration(wait.new)
        );
        let mut facts = vec![
            Fact::new("template", self.template.trim_end()).in_full(),
            in_force,
            Fact::new("formula", fit.formula.trim_end()),
            Fact::new("held out", days),
            Fact::new("machine", machine).in_full_if(held_out.processors.are_given()),
            Fact::new("waits", waits),
        ];
        // how much of what was gained on the searched days is not gained on the others
        if let Some(objective) = &fit.objective
            && objective.gain() > 0.0
            && let Some(lost @ 0.0..) = objective.optimism
        {
            let lost = value_in_words(objective.measure, Some(lost));
            let text = format!(
                "the gain in {} is smaller by {lost} on the days held out",
                objective.name
            );
            facts.push(Fact::new("optimism", text));
        }
        let mut known = held_out.baselines.iter();
        if let Some(mut best) = known.next() {
            for other in known {
                if merit(fit, other) > merit(fit, best) {
                    best = other;
                }
            }
            facts.push(Fact::new("simpler", merits(fit, best)));
        }
        let mut within = Vec::new();
        for constant in &fit.constants {
            if let Some(ends) = constant.within {
                within.push(format!("{} {}", constant.name, ends_in_words(ends)));
            }
        }
        if !within.is_empty() {
            facts.push(Fact::new("within the error", within.join(", ")));
        }
        if !fit.is_complete {
            let text = "the best so far; the ranges of the constants are not known";
            facts.push(Fact::new("interrupted", text));
        }
        let validation = held_out.validation.as_ref();
        if validation.is_some_and(Validation::is_doubtful) {
            facts.extend(validation_fact(validation, "the formula in force"));
            facts.push(Fact::new("a hypothesis", DOUBT));
        }
        facts
    }

    /// The advice, and what is to be known before one follows it.
    fn headline(&self) -> String {
        let fit = &self.fit;
        let mut sentences = vec![self.advice()];
        match fit.reason.recommendation() {
            Recommendation::Keep => {
                if let Some(names) = self.names(is_gained) {
                    sentences.push(format!("But it misses {names}, which the other one meets."));
                }
            }
            Recommendation::Use => {
                if let Some(names) = self.names(is_missed) {
                    sentences.push(format!("But it misses {names}."));
                }
                let mut worse = Vec::new();
                for (name, change) in fit.held_out.difference.means() {
                    if change.is_increase() {
                        worse.push(name);
                    }
                }
                if !worse.is_empty() {
                    let worse = worse.join(", ");
                    sentences.push(format!("But worse there by more than chance: {worse}."));
                }
                sentences.extend(self.to_set.warning());
            }
            Recommendation::None => {}
        }
        sentences.join(" ")
    }

    /// The names of some goals; `None` without one.
    fn names(&self, is_named: fn(&FittedGoal) -> bool) -> Option<String> {
        let mut names = Vec::new();
        for goal in &self.fit.goals {
            if is_named(goal) {
                names.push(&*goal.name);
            }
        }
        (!names.is_empty()).then(|| quoted(names))
    }

    fn advice(&self) -> String {
        let fit = &self.fit;
        let chosen = chosen_values(&fit.constants);
        let unseen = "on the days that were not searched";
        let keep = match fit.reason {
            Reason::Better => {
                return format!(
                    "Use {chosen}: {unseen} it is better than the formula in force by more than chance."
                );
            }
            Reason::GoalGained => {
                let gained = self.names(|goal| goal.measure.is_of_each_job() && is_gained(goal));
                return format!(
                    "Use {chosen}: it meets {}, which the formula in force misses.",
                    gained.unwrap_or_default()
                );
            }
            Reason::GoalsMissed => return self.infeasible(),
            Reason::InForce => "nothing that was tried is better".to_owned(),
            Reason::GoalsMetInForce => "it meets all goals already".to_owned(),
            Reason::GoalLost => {
                let lost = match (self.names(is_lost), &fit.objective) {
                    (None, Some(objective)) => quoted([&*objective.name]),
                    (lost, _) => lost.unwrap_or_default(),
                };
                format!("{unseen}, {chosen} loses {lost}")
            }
            Reason::WithinChance => {
                format!("{unseen}, {chosen} is not better by more than chance")
            }
            Reason::TooShortToJudge => format!(
                "the {} d held out cannot tell {chosen} from chance, which takes six weeks and something with an interval",
                fit.split.held_out_days() as usize
            ),
        };
        format!("Keep the formula in force: {keep}.")
    }

    /// Which goals exclude each other, or else which are missed.
    fn infeasible(&self) -> String {
        let fit = &self.fit;
        let mut reasons = Vec::new();
        if let Some(exclusion) = fit.exclusions.first() {
            let [met, other] = [exclusion.met, exclusion.other].map(|goal| &fit.goals[goal]);
            let best = value_in_words(other.measure, Some(exclusion.best));
            reasons.push(format!(
                "where `{}` is met, the best of `{}` that was tried is {best}",
                met.name, other.name
            ));
        } else {
            for goal in fit.goals.iter().filter(|goal| goal.train.is_missed()) {
                let best = value_in_words(goal.measure, goal.best);
                let bound = bound_in_words(goal.measure, goal.is_most, goal.train.limit);
                reasons.push(format!(
                    "the best of `{}` that was tried is {best}, {bound} is asked for",
                    goal.name
                ));
            }
        }
        let reasons = reasons.join("; ");
        format!("No weights meet all goals: {reasons}. Relax a goal, or add a term.")
    }
}

/// `fs = 120, age = 2`.
pub(crate) fn chosen_values(constants: &[FittedConstant]) -> String {
    let mut values = Vec::new();
    for constant in constants {
        values.push(format!("{} = {}", constant.name, constant.value));
    }
    values.join(", ")
}

/// Whether a formula misses a goal on either part of the log.
pub(crate) fn is_missed(goal: &FittedGoal) -> bool {
    goal.held_out.is_missed() || goal.train.is_missed()
}

/// Whether a formula meets a goal that the formula in force misses on either part of the log.
fn is_gained(goal: &FittedGoal) -> bool {
    (goal.held_out_current.is_missed() || goal.current.is_missed()) && goal.held_out.is_met()
}

/// Whether only the formula in force meets a goal.
fn is_lost(goal: &FittedGoal) -> bool {
    goal.held_out_current.is_met() && !goal.held_out.is_met()
}

/// By what formulas are compared: how many goals one meets, then its objective, where more is better.
fn merit(fit: &GoalFit, formula: &HeldOutFormula) -> (usize, f64) {
    let met = formula.goals.iter().filter(|goal| goal.is_met()).count();
    let objective = match (&fit.objective, formula.objective) {
        (Some(objective), Some(value)) if objective.is_minimised => -value,
        (Some(_), Some(value)) => value,
        _ => f64::NEG_INFINITY,
    };
    (met, objective)
}

/// `shortest first: meets 4 of 5 goals, mean bounded_slowdown 25.7`.
fn merits(fit: &GoalFit, formula: &HeldOutFormula) -> String {
    let mut words = Vec::new();
    if !fit.goals.is_empty() {
        let (met, _) = merit(fit, formula);
        words.push(format!("meets {met} of {}", count(fit.goals.len(), "goal")));
    }
    if let Some(objective) = &fit.objective {
        let value = value_in_words(objective.measure, formula.objective);
        words.push(format!("{} {value}", objective.name));
    }
    format!("{}: {}", formula.name, words.join(", "))
}

/// `25 to 70`; `100 alone` if no other value that was tried does as well.
pub(crate) fn ends_in_words(ends: [f64; 2]) -> String {
    match ends.map(significant) {
        [low, high] if low == high => format!("{low} alone"),
        [low, high] => format!("{low} to {high}"),
    }
}

/// The limit in few characters.
pub(crate) fn limit_in_words(goal: &FittedGoal) -> String {
    let sign = if goal.is_most { '≤' } else { '≥' };
    format!(
        "{sign} {}",
        value_in_words(goal.measure, goal.held_out.limit)
    )
}

/// The goals and the objective, under the formula in force and the fitted one.
fn goals_section(fit: &GoalFit) -> Section<'_> {
    let mut rows = Vec::new();
    for goal in &fit.goals {
        let measure = goal.measure;
        rows.push(cells![
            &*goal.name,
            limit_in_words(goal),
            value_in_words(measure, goal.held_out_current.value),
            value_in_words(measure, goal.train.value),
            value_in_words(measure, goal.held_out.value),
            change_in_words(measure, goal.change),
            state_in_words(goal.held_out.state),
        ]);
    }
    if let Some(objective) = &fit.objective {
        let (measure, held_out) = (objective.measure, &objective.held_out);
        rows.push(cells![
            &*objective.name,
            if objective.is_minimised {
                "small"
            } else {
                "large"
            },
            value_in_words(measure, held_out.current),
            value_in_words(measure, objective.fitted),
            value_in_words(measure, held_out.fitted),
            change_in_words(measure, held_out.change),
            Cell::prose(""),
        ]);
    }
    let columns = [
        Column::id("goal", 12),
        Column::text("limit", 6),
        Column::number("in force", 7),
        Column::number("searched", 7),
        Column::number("held out", 8),
        Column::text("held out - in force (95 %)", 2),
        Column::text("met", 3),
    ];
    let mut section = Section::new("goals");
    if !fit.goals.is_empty() {
        section = section.chart(|| chart::goals(&fit.goals));
    }
    section.table(Table::from_rows(columns, rows))
}

/// How what is wanted changes on the held-out days; what few jobs decide has no interval.
fn change_in_words(measure: Measure, change: Option<MeanChange>) -> Option<String> {
    let change = change?;
    let unit = Unit::of(measure);
    Some(unit.change(change.difference()) + &unit.interval_in_brackets(&change))
}

/// The constants with their values, and the values that do as well under the heading `within`.
pub(super) fn constants_table<'a>(constants: &'a [FittedConstant], within: &str) -> Table<'a> {
    let columns = [
        Column::text("constant", 8),
        Column::number("value", 5),
        Column::text(within, 10),
        Column::text("searched", 8),
    ];
    let mut rows = Vec::new();
    for constant in constants {
        rows.push(cells![
            &*constant.name,
            constant.value.to_string(),
            constant.within.map(ends_in_words),
            ends_in_words([constant.range.low, constant.range.high]),
        ]);
    }
    Table::from_rows(columns, rows)
}

/// Who wins and who pays on the held-out days.
fn who_pays(fit: &GoalFit) -> Section<'_> {
    let difference = &fit.held_out.difference;
    let mut section = Section::new("who pays, on the days held out")
        .prose(effect(difference))
        .in_full();
    for (what, groups) in [
        ("processors", &difference.classes.sizes),
        ("entity", &difference.classes.entities),
    ] {
        if groups.len() > 1 {
            section = forest_chart(section, what, difference.wait, groups);
        }
    }
    section
}
