//! Constants that meet goals on a log, for people: the advice, the goals on the days that were
//! searched and on those that were not, what else was tried, and who pays.

use jsf_fit::goals::{
    FittedConstant, FittedGoal, FittedObjective, GoalFit, GoalValue, HeldOutFormula, Reason,
    Recommendation,
};
use jsf_simulate::{Difference, MeanChange, Measure, Validation};
use jsf_site::ProcessorsSource;

use crate::commands::fit::answer::GoalFitReport;
use crate::commands::fit::chart;
use crate::commands::fit::formula_to_set::FormulaToSet;
use crate::commands::simulate::effect::effect;
use crate::commands::simulate::view::{doubt_sentence, warning_sections};
use crate::view::charts::waits;
use crate::view::charts::waits::FOREST_LEGEND;
use crate::view::document::{Cell, Chart, Column, Document, Fact, RowLimit, Section, Table};
use crate::view::goals::{state_in_words, value_in_words};
use crate::view::verdict::brief_finding;
use crate::view::words::{
    count, duration, quoted, signed_rough_duration, signed_significant, significant,
};

/// Intervals take six blocks of a week.
const DAYS_TO_JUDGE: f64 = 42.0;
/// The most errors of a formula that are listed.
const MAX_ERRORS: usize = 3;
/// The most groups of a chart.
const MAX_GROUPS: usize = 20;

impl<'a> GoalFitReport<'a> {
    pub(super) fn goals_document(&self) -> Document<'a> {
        let fit = self.fit;
        let mut sections = vec![Section::formulas(&fit.current.formula, &fit.formula)];
        sections.extend(warning_sections(
            fit.warnings
                .iter()
                .map(|text| format!("warning {text}"))
                .collect(),
            true,
        ));
        sections.push(goals_section(fit));
        let is_advised = fit.reason.recommendation() == Recommendation::Use;
        if is_advised {
            sections.push(match &self.to_set.obstacle {
                Some(obstacle) => obstacle_section(obstacle, self.to_set),
                None => qmgr_section(self.to_set.command.as_deref().unwrap_or_default()),
            });
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
        let mut facts = vec![
            Fact::new("template", self.template.trim_end()).in_full(),
            in_force(fit),
            Fact::new("formula", fit.formula.trim_end()),
        ];
        let [held_out, searched] =
            [fit.split.held_out_days(), fit.split.searched_days()].map(|days| days.round());
        let simulated = count(fit.evaluations, "formula");
        facts.push(Fact::new(
            "held out",
            format!(
                "the last {held_out} d of the log; fitted on {searched} d; {simulated} simulated"
            ),
        ));
        let machine = format!(
            "{} {}",
            count(fit.processors as usize, "processor"),
            fit.processors_source.in_words()
        );
        let machine = Fact::new("machine", machine);
        facts.push(if fit.processors_source == ProcessorsSource::Given {
            machine.in_full()
        } else {
            machine
        });
        facts.push(waits(fit));
        facts.extend(fit.objective.as_ref().and_then(optimism));
        let within: Vec<String> = fit.constants.iter().filter_map(range_in_words).collect();
        if !within.is_empty() && fit.reason != Reason::GoalsMissed {
            facts.push(Fact::new("within the error", within.join(", ")));
        }
        facts.extend(simpler(fit));
        if fit.is_interrupted {
            facts.push(Fact::new(
                "interrupted",
                "the best so far; the ranges of the constants are not known",
            ));
        }
        facts.extend(
            fit.validation
                .as_ref()
                .filter(|validation| validation.is_doubtful())
                .map(hypothesis),
        );
        facts
    }

    fn headline(&self) -> String {
        let advice = self.advice();
        let [missed, worse, error] = match self.fit.reason.recommendation() {
            Recommendation::Keep => [self.missed_in_force(), None, None],
            Recommendation::Use => [self.missed(), self.worse(), self.to_set.warning()],
            Recommendation::None => [None, None, None],
        };
        [Some(advice), missed, worse, error]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Which means of all jobs get worse on the held-out days by more than chance.
    fn worse(&self) -> Option<String> {
        let Difference {
            wait,
            wait_per_core_hour,
            bounded_slowdown,
            ..
        } = &self.fit.difference;
        let means = [
            ("mean wait", wait, duration as fn(f64) -> String),
            ("mean wait per core hour", wait_per_core_hour, duration),
            ("mean bounded slowdown", bounded_slowdown, significant),
        ];
        let worse = means
            .into_iter()
            .filter(|(_, change, _)| change.is_increase());
        let worse = worse.map(|(name, change, words)| {
            format!(
                "the {name} of all jobs rises there from {} to {}",
                words(change.old),
                words(change.new)
            )
        });
        let worse: Vec<String> = worse.collect();
        (!worse.is_empty())
            .then(|| format!("But {}, also by more than chance.", worse.join(", and ")))
    }

    /// The goals that the formula in force misses, and whether the fitted one meets them on the
    /// days that were not searched.
    fn missed_in_force(&self) -> Option<String> {
        let mut met = Vec::new();
        let mut others = Vec::new();
        for goal in &self.fit.goals {
            let Some(missed) = missed_value(goal, [&goal.held_out_current, &goal.current]) else {
                continue;
            };
            if goal.held_out.is_met() {
                met.push(missed)
            } else {
                others.push(missed)
            }
        }
        let parts = [
            all_of_which(&met, "the other one meets"),
            all_of_which(&others, "the other one misses, too"),
        ];
        let missed: Vec<String> = parts.into_iter().flatten().collect();
        (!missed.is_empty())
            .then(|| format!("But the formula in force misses {}.", missed.join("; and ")))
    }

    /// The goals that the advised formula misses.
    fn missed(&self) -> Option<String> {
        let missed = self
            .fit
            .goals
            .iter()
            .filter_map(|goal| missed_value(goal, [&goal.held_out, &goal.train]));
        let missed: Vec<String> = missed.collect();
        (!missed.is_empty()).then(|| format!("But it misses {}.", missed.join(" and ")))
    }

    fn advice(&self) -> String {
        let fit = self.fit;
        let chosen: Vec<String> = fit
            .constants
            .iter()
            .map(|constant| format!("{} = {}", constant.name, constant.value))
            .collect();
        let chosen = chosen.join(", ");
        let met = fit
            .goals
            .iter()
            .filter(|goal| goal.held_out.is_met())
            .count();
        let goals = match fit.goals.len() {
            0 => String::new(),
            1 if met == 1 => " meets the goal on the days that were not searched, and".to_owned(),
            all => format!(
                " meets {met} of {} on the days that were not searched, and",
                count(all, "goal")
            ),
        };
        match fit.reason {
            Reason::Better => {
                let better = self.better();
                format!(
                    "Use {chosen}: it{goals} is better there than the formula in force by more than chance{better}."
                )
            }
            Reason::GoalGained => {
                let gained = self.gained();
                format!(
                    "Use {chosen}: it{goals} meets {gained}, which the formula in force misses."
                )
            }
            Reason::GoalsMissed => self.infeasible(),
            Reason::InForce => {
                "Keep the formula in force: nothing that was tried is better.".to_owned()
            }
            Reason::GoalsMetInForce => {
                "Keep the formula in force: it meets all goals already.".to_owned()
            }
            Reason::GoalLost => {
                let lost = self.lost();
                format!(
                    "Keep the formula in force: on the days that were not searched, {chosen} loses {lost}."
                )
            }
            Reason::WithinChance => format!(
                "Keep the formula in force: on the days that were not searched, {chosen} is not better by more than chance."
            ),
            Reason::TooShortToJudge if fit.split.held_out_days() < DAYS_TO_JUDGE => format!(
                "Keep the formula in force: the {} held out are too few to tell {chosen} from chance, which takes six weeks.",
                count(fit.split.held_out_days() as usize, "day")
            ),
            Reason::TooShortToJudge => format!(
                "Keep the formula in force: nothing that is wanted has an interval, so {chosen} cannot be told from chance."
            ),
        }
    }

    /// In what the fitted formula is better on the held-out days by more than chance.
    fn better(&self) -> String {
        let is_better = |change: Option<MeanChange>, is_less: bool| {
            change.is_some_and(|change| {
                if is_less {
                    change.is_decrease()
                } else {
                    change.is_increase()
                }
            })
        };
        let goals = self
            .fit
            .goals
            .iter()
            .filter(|goal| is_better(goal.change, goal.is_most) && goal.current.is_missed());
        let objective = self
            .fit
            .objective
            .iter()
            .filter(|objective| is_better(objective.change, objective.is_minimised));
        let names = goals
            .map(|goal| &*goal.name)
            .chain(objective.map(|objective| &*objective.name));
        match quoted(names) {
            names if names.is_empty() => names,
            names => format!(" in {names}"),
        }
    }

    /// The goals about each job that the fitted formula meets and the one in force misses.
    fn gained(&self) -> String {
        let goals = self
            .fit
            .goals
            .iter()
            .filter(|goal| goal.measure.is_of_each_job() && goal.held_out.is_met());
        let gained =
            goals.filter_map(|goal| missed_value(goal, [&goal.held_out_current, &goal.current]));
        gained.collect::<Vec<_>>().join(" and ")
    }

    /// What the formula in force has on the held-out days and the fitted one does not.
    fn lost(&self) -> String {
        let goals = self
            .fit
            .goals
            .iter()
            .filter(|goal| goal.held_out_current.is_met() && !goal.held_out.is_met());
        let objective = self
            .fit
            .objective
            .as_ref()
            .map_or("", |objective| &objective.name);
        match quoted(goals.map(|goal| &*goal.name)) {
            names if names.is_empty() => format!("in `{objective}` by more than chance"),
            names => names,
        }
    }

    /// Which goals exclude each other, or else which one is missed.
    fn infeasible(&self) -> String {
        let fit = self.fit;
        let excluded = fit.exclusions.first().map(|exclusion| {
            let [met, other] = [exclusion.met, exclusion.other].map(|goal| &fit.goals[goal]);
            let best = value_in_words(other.measure, Some(exclusion.best));
            format!(
                "where `{}` is met, the best of `{}` that was tried is {best}",
                met.name, other.name
            )
        });
        let named = fit
            .exclusions
            .first()
            .map_or(usize::MAX, |exclusion| exclusion.other);
        let missed = fit
            .goals
            .iter()
            .enumerate()
            .filter(|(at, goal)| *at != named && goal.train.is_missed());
        let missed = missed.map(|(_, goal)| {
            let [best, limit] = distinct_words(goal.measure, [goal.best, goal.train.limit]);
            format!(
                "the best of `{}` that was tried is {best}, {} {limit} is asked for",
                goal.name,
                bound(goal)
            )
        });
        let reason = excluded
            .into_iter()
            .chain(missed)
            .collect::<Vec<_>>()
            .join("; ");
        let early = if fit.is_interrupted {
            "Interrupted, and so far: "
        } else {
            ""
        };
        format!("{early}No weights meet all goals: {reason}. Relax a goal, or add a term.")
    }
}

/// Some goals and what holds for each of them; `None` without one.
fn all_of_which(goals: &[String], holds: &str) -> Option<String> {
    let these = if goals.len() == 1 {
        "which"
    } else {
        "all of which"
    };
    (!goals.is_empty()).then(|| format!("{}, {these} {holds}", goals.join(" and ")))
}

/// A goal with its value and its limit, of the first of the parts (held out, searched) on which it
/// is missed.
fn missed_value(goal: &FittedGoal, parts: [&GoalValue; 2]) -> Option<String> {
    let part = parts.iter().position(|part| part.is_missed())?;
    let [value, limit] = distinct_words(goal.measure, [parts[part].value, parts[part].limit]);
    let days = ["", " on the days that were searched"][part];
    Some(format!(
        "`{}` ({value}{days}, {} {limit})",
        goal.name,
        bound(goal)
    ))
}

/// Two values in words, as exact as is needed to tell them apart.
fn distinct_words(measure: Measure, values: [Option<f64>; 2]) -> [String; 2] {
    let words = values.map(|value| value_in_words(measure, value));
    let [Some(one), Some(other)] = values else {
        return words;
    };
    if words[0] != words[1] || one == other {
        return words;
    }
    [one, other].map(|value| match measure {
        _ if measure.is_duration() => format!("{value:.1} s"),
        _ if measure.is_fraction() => format!("{} %", value * 100.0),
        _ => value.to_string(),
    })
}

/// The formula in force; without one, what is assumed.
fn in_force(fit: &GoalFit) -> Fact {
    let formula = &fit.current.formula;
    if fit.is_in_force_known {
        return Fact::new("in force", formula.clone()).in_full();
    }
    Fact::new(
        "in force",
        format!("{formula} (first come, first served: no formula is known, --old gives one)"),
    )
}

/// The mean and the longest wait on the held-out days under the formula in force and the fitted
/// one.
fn waits(fit: &GoalFit) -> Fact {
    let MeanChange { old, new, .. } = fit.difference.wait;
    let [longest_old, longest_new] = fit
        .longest_waits
        .map(|wait| duration(wait.unwrap_or_default() as f64));
    let [old, new] = [old, new].map(duration);
    Fact::new(
        "waits",
        format!("held out: mean {old} → {new}, longest {longest_old} → {longest_new}"),
    )
}

/// Why there is no command that sets a formula, and the errors of the formula.
pub(crate) fn obstacle_section<'a>(obstacle: &str, to_set: &FormulaToSet) -> Section<'a> {
    let section = Section::new("not to be set").prose(format!("No command is given: {obstacle}."));
    let errors: Vec<String> = to_set
        .errors()
        .into_iter()
        .take(MAX_ERRORS)
        .map(|found| brief_finding(found, ""))
        .collect();
    if errors.is_empty() {
        section
    } else {
        section.list(errors)
    }
}

/// The command that sets a formula, on a line that can be copied.
pub(crate) fn qmgr_section(command: &str) -> Section<'_> {
    Section::new("to set it").draw(move |_| command.to_owned())
}

/// How much of what was gained on the searched days is not gained on the others.
fn optimism(objective: &FittedObjective) -> Option<Fact> {
    let lost = objective
        .optimism()
        .filter(|lost| *lost > 0.0 && objective.gain() > 0.0)?;
    let words = if objective.measure.is_duration() {
        duration(lost)
    } else {
        significant(lost)
    };
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
    let order = |one: &&HeldOutFormula, other: &&HeldOutFormula| {
        met(other)
            .cmp(&met(one))
            .then(loss(one).total_cmp(&loss(other)))
    };
    let best = fit
        .baselines
        .iter()
        .min_by(order)
        .filter(|best| met(best) >= met(&fit.current))?;
    let goals = match fit.goals.len() {
        0 => Vec::new(),
        all => vec![format!("meets {} of {}", met(best), count(all, "goal"))],
    };
    let of_objective = fit.objective.as_ref().zip(best.objective);
    let value = of_objective.map(|(objective, value)| {
        format!(
            "{} {}",
            objective.name,
            value_in_words(objective.measure, Some(value))
        )
    });
    let words: Vec<String> = goals.into_iter().chain(value).collect();
    Some(Fact::new(
        "simpler",
        format!("{}: {}", best.name, words.join(", ")),
    ))
}

fn hypothesis(validation: &Validation) -> Fact {
    Fact::new("a hypothesis", doubt_sentence(validation))
}

/// `fs 25 to 70`, or that it is all of the range.
fn range_in_words(constant: &FittedConstant) -> Option<String> {
    let [low, high] = constant.within?;
    let name = &constant.name;
    let all = if constant.hardly_matters {
        " (all of the range)"
    } else {
        ""
    };
    Some(format!("{name} {}{all}", ends_in_words([low, high])))
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

fn bound(goal: &FittedGoal) -> &'static str {
    if goal.is_most { "at most" } else { "at least" }
}

/// The limit in few characters.
pub(crate) fn limit_in_words(goal: &FittedGoal) -> String {
    let sign = if goal.is_most { '≤' } else { '≥' };
    format!(
        "{sign} {}",
        value_in_words(goal.measure, goal.held_out.limit)
    )
}

/// The limits that refer to the formula in force, which are others on the days searched.
fn other_limits(fit: &GoalFit) -> Option<String> {
    let others = fit
        .goals
        .iter()
        .filter(|goal| goal.held_out.limit != goal.train.limit);
    let words = others.map(|goal| {
        format!(
            "{} for `{}`",
            value_in_words(goal.measure, goal.train.limit),
            goal.name
        )
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("The limit on the days searched is {}.", words.join(", ")))
}

/// The goals that the formula in force misses and that cannot be told from chance, as too few jobs
/// decide them.
fn untested(fit: &GoalFit) -> Option<String> {
    let has_interval = |goal: &&FittedGoal| {
        goal.change
            .is_some_and(|change| change.interval().is_some())
    };
    let missed = fit
        .goals
        .iter()
        .filter(|goal| goal.current.is_missed() && !has_interval(goal));
    let names: Vec<String> = missed.map(|goal| format!("`{}`", goal.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Without an interval, as few jobs decide it: {}; a goal with `within` often has one.",
            names.join(", ")
        )
    })
}

/// The goals that no job of a part of the log decides.
fn without_jobs(fit: &GoalFit) -> Option<String> {
    let without = fit
        .goals
        .iter()
        .filter(|goal| goal.train.jobs == 0 || goal.held_out.jobs == 0);
    let names = without.map(|goal| {
        let parts = match (goal.train.jobs, goal.held_out.jobs) {
            (0, 0) => "on any day",
            (0, _) => "on the days searched",
            _ => "on the days held out",
        };
        format!("`{}` {parts}", goal.name)
    });
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "About no job, so neither met nor missed: {}.",
            names.join(", ")
        )
    })
}

/// The goals and the objective, under the formula in force and the fitted one.
fn goals_section(fit: &GoalFit) -> Section<'_> {
    let columns = vec![
        Column::text("goal", 12),
        Column::text("limit", 6),
        Column::text("in force", 7),
        Column::text("searched", 7),
        Column::text("held out", 8),
        Column::text("met", 3),
    ];
    let section = Section::new("goals");
    let goals = fit.goals.iter().map(|goal| {
        let values = [&goal.held_out_current, &goal.train, &goal.held_out].map(|part| part.value);
        let [current, searched, held_out] =
            values.map(|value| Cell::prose(value_in_words(goal.measure, value)));
        let met = Cell::text(state_in_words(goal.held_out.state));
        vec![
            Cell::text(&*goal.name),
            Cell::prose(limit_in_words(goal)),
            current,
            searched,
            held_out,
            met,
        ]
    });
    let objective = fit.objective.iter().map(|objective| {
        let values = [
            objective.held_out_current,
            objective.fitted,
            objective.held_out,
        ];
        let [current, searched, held_out] =
            values.map(|value| Cell::prose(value_in_words(objective.measure, value)));
        let aim = Cell::prose(if objective.is_minimised {
            "small"
        } else {
            "large"
        });
        vec![
            Cell::text(&*objective.name),
            aim,
            current,
            searched,
            held_out,
            Cell::prose(""),
        ]
    });
    let table = Table::from_rows(columns, goals.chain(objective));
    let section = if fit.goals.is_empty() {
        section
    } else {
        section.chart(move || chart::goals(&fit.goals))
    };
    let of_objective = fit.objective.as_ref().and_then(held_out_change);
    let sentences = other_limits(fit)
        .into_iter()
        .chain(of_objective)
        .chain(untested(fit))
        .chain(without_jobs(fit));
    let sentences: Vec<String> = sentences.collect();
    section.table(table).prose(sentences.join(" "))
}

/// How the objective changes on the held-out days.
fn held_out_change(objective: &FittedObjective) -> Option<String> {
    let change = objective.change?;
    let words = if objective.measure.is_duration() {
        signed_rough_duration
    } else {
        signed_significant
    };
    let by = words(change.difference());
    Some(match change.interval() {
        Some([low, high]) => {
            format!(
                "{} on the days held out: {by} against the formula in force ({} to {}).",
                objective.name,
                words(low),
                words(high)
            )
        }
        None => format!(
            "{} on the days held out: {by} against the formula in force; too few weeks for an interval.",
            objective.name
        ),
    })
}

fn constants_section(fit: &GoalFit) -> Section<'_> {
    let table = Table::of(&fit.constants)
        .column(Column::text("constant", 8), |constant| {
            Cell::text(&*constant.name)
        })
        .column(Column::number("value", 5), |constant| {
            Cell::prose(constant.value.to_string())
        })
        .column(Column::text("within the error", 10), |constant| {
            Cell::prose(match constant.within {
                None => "–".to_owned(),
                Some(ends) if constant.hardly_matters => {
                    format!("{} (all of the range)", ends_in_words(ends))
                }
                Some(ends) => ends_in_words(ends),
            })
        })
        .column(Column::text("searched", 8), |constant| {
            Cell::prose(format!(
                "{} to {}",
                significant(constant.range.low),
                significant(constant.range.high)
            ))
        })
        .table();
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
    let section = Section::new("who pays, on the days held out")
        .prose(effect(&fit.difference))
        .in_full();
    let kinds = [
        ("processors", &fit.difference.sizes),
        ("entity", &fit.difference.entities),
    ];
    kinds
        .into_iter()
        .filter(|(_, classes)| classes.groups.len() > 1)
        .fold(section, |section, (what, classes)| {
            let all = std::iter::once(("all jobs", fit.difference.wait));
            let (first, last) = RowLimit::Ends(MAX_GROUPS).shown_ends(classes.groups.len());
            let shown = classes.groups[..first]
                .iter()
                .chain(&classes.groups[last..]);
            let rows: Vec<_> = all
                .chain(shown.map(|group| (&*group.name, group.wait)))
                .collect();
            section.chart(move || Chart::new(waits::forest(what, &rows), &FOREST_LEGEND))
        })
}

/// The formulas that the answer is compared with.
fn baselines_section(fit: &GoalFit) -> Section<'_> {
    let objective = fit.objective.as_ref();
    let known = std::iter::once(&fit.current)
        .chain(&fit.baselines)
        .map(|row| {
            let met = row.goals.iter().filter(|goal| goal.is_met()).count();
            (row.name, &*row.formula, row.objective, met)
        });
    let met = fit
        .goals
        .iter()
        .filter(|goal| goal.held_out.is_met())
        .count();
    let fitted = (
        "fitted",
        &*fit.formula,
        objective.and_then(|objective| objective.held_out),
        met,
    );
    let mut table = Table::of(known.chain([fitted]))
        .column(Column::text("formula", 12), |(name, ..)| Cell::text(*name))
        .column(Column::code("text", 20), |(_, text, ..)| {
            Cell::Code((*text).into())
        });
    if let Some(objective) = objective {
        table = table.column(Column::text(&*objective.name, 8), |(_, _, value, _)| {
            Cell::prose(value_in_words(objective.measure, *value))
        });
    }
    let table = table.column_if(
        !fit.goals.is_empty(),
        Column::text("goals met", 8),
        |(.., met)| Cell::prose(format!("{met} of {}", fit.goals.len())),
    );
    Section::new("other formulas, on the days held out")
        .in_full()
        .table(table.table())
}
