//! Constants that meet goals on a log, for people: the advice, the goals on the days that were
//! searched and on those that were not, what else was tried, who pays, and charts of goals against
//! their limits and of how well each constant does.

use std::iter;

use job_sort_formula::formula::TemplateConstant;
use jsf_fit::FittedConstant;
use jsf_fit::goals::{
    FittedGoal, FittedObjective, GoalFit, HeldOut, HeldOutFormula, Reason, Recommendation,
};
use jsf_simulate::{GoalState, MeanChange, Measure};

use crate::answer::Answer;
use crate::commands::fit::GoalFitAnswer;
use crate::commands::simulate::view::{
    DOUBT, effect, interval_in_brackets, validation_fact, warning_lines, warning_sections,
};
use crate::view::charts::{self, Intervals, Row, place_between};
use crate::view::document::{
    Cell, Chart, Column, Document, Fact, Legend, RowLimit, Section, Table, cells,
};
use crate::view::sections::{state_in_words, value_in_words};
use crate::view::words::{
    count, duration, quoted_and_list, signed_rough_duration, signed_significant, significant,
};

/// Intervals take six blocks of a week.
const DAYS_TO_JUDGE: f64 = 42.0;
/// The most groups of a chart.
const MAX_GROUPS: usize = 20;

impl Answer for GoalFitAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let fit = &self.fit;
        let mut sections = vec![Section::formulas(
            &fit.held_out.current.formula,
            &fit.formula,
        )];
        sections.extend(warning_sections(warning_lines(&fit.held_out.warnings)));
        sections.push(goals_section(fit));
        if self.fit.reason.recommendation() == Recommendation::Use {
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
}

impl GoalFitAnswer<'_> {
    fn facts(&self) -> Vec<Fact> {
        let fit = &self.fit;
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
        let wait = &fit.held_out.difference.wait;
        let [longest_old, longest_new] = fit.held_out.longest_waits;
        let waits = format!(
            "held out: mean {} → {}, longest {} → {}",
            duration(wait.old),
            duration(wait.new),
            duration(longest_old.unwrap_or_default()),
            duration(longest_new.unwrap_or_default())
        );
        let mut facts = vec![
            Fact::new("template", self.template.trim_end()).in_full(),
            in_force,
            Fact::new("formula", fit.formula.trim_end()),
            Fact::new("held out", held_out),
            machine,
            Fact::new("waits", waits),
        ];
        facts.extend(fit.objective.as_ref().and_then(optimism));
        let mut within = Vec::new();
        for constant in &fit.constants {
            if constant.within.is_some() {
                within.push(format!("{} {}", constant.name, within_in_words(constant)));
            }
        }
        if !within.is_empty() && fit.reason != Reason::GoalsMissed {
            facts.push(Fact::new("within the error", within.join(", ")));
        }
        facts.extend(simpler(fit));
        if !fit.is_complete {
            let text = "the best so far; the ranges of the constants are not known";
            facts.push(Fact::new("interrupted", text));
        }
        if let Some(validation) = &fit.held_out.validation
            && validation.is_doubtful()
        {
            facts.push(validation_fact(validation, "the formula in force"));
            facts.push(Fact::new("a hypothesis", DOUBT));
        }
        facts
    }

    /// The advice, and what is to be known before one follows it.
    fn headline(&self) -> String {
        let mut sentences = vec![self.advice()];
        match self.fit.reason.recommendation() {
            Recommendation::Keep => {
                if let Some(names) = self.names(is_gained) {
                    sentences.push(format!(
                        "But the formula in force misses {names}, which the other one meets."
                    ));
                }
            }
            Recommendation::Use => {
                if let Some(names) = self.names(is_missed) {
                    sentences.push(format!("But it misses {names}."));
                }
                sentences.extend(self.worse());
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
        (!names.is_empty()).then(|| quoted_and_list(names))
    }

    /// Which means of all jobs get worse on the held-out days by more than chance.
    fn worse(&self) -> Option<String> {
        let mut worse = Vec::new();
        for (name, change) in self.fit.held_out.difference.means() {
            let is_wait = name.starts_with("mean wait");
            let words = if is_wait { duration } else { significant };
            if change.is_increase() {
                let (old, new) = (words(change.old), words(change.new));
                worse.push(format!("{name} {old} → {new}"));
            }
        }
        if worse.is_empty() {
            return None;
        }
        let worse = worse.join(", ");
        Some(format!("But worse there by more than chance: {worse}."))
    }

    fn advice(&self) -> String {
        let fit = &self.fit;
        let chosen = chosen_values(&fit.constants);
        let unseen = "on the days that were not searched";
        let days = fit.split.held_out_days();
        let keep = match fit.reason {
            Reason::Better => {
                let met = goals_met(&fit.held_out.fitted);
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
                // a goal about a mean may be met by chance, one about each job is not
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
                    (None, Some(FittedObjective { name, .. })) => {
                        format!("in `{name}` by more than chance")
                    }
                    (lost, _) => lost.unwrap_or_default(),
                };
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
        let fit = &self.fit;
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
            // the sentence about the exclusion has named the other goal
            if goal.train.is_missed() && excluded.is_none_or(|exclusion| exclusion.other != at) {
                let [best, limit] = distinct_words(goal.measure, [goal.best, goal.train.limit]);
                let bound = if goal.is_most { "at most" } else { "at least" };
                reasons.push(format!(
                    "the best of `{}` that was tried is {best}, {bound} {limit} is asked for",
                    goal.name
                ));
            }
        }
        let early = if fit.is_complete {
            ""
        } else {
            "Interrupted, and so far: "
        };
        let reasons = reasons.join("; ");
        format!("{early}No weights meet all goals: {reasons}. Relax a goal, or add a term.")
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

fn number_met(formula: &HeldOutFormula) -> usize {
    formula.goals.iter().filter(|goal| goal.is_met()).count()
}

/// `4 of 5`.
fn goals_met(formula: &HeldOutFormula) -> String {
    format!("{} of {}", number_met(formula), formula.goals.len())
}

/// Two values in words, with all their digits where they would look alike.
fn distinct_words(measure: Measure, [one, other]: [Option<f64>; 2]) -> [String; 2] {
    let words = [value_in_words(measure, one), value_in_words(measure, other)];
    let unit = if measure.is_duration() { " s" } else { "" };
    match (one, other) {
        (Some(one), Some(other)) if words[0] == words[1] && one != other => {
            [format!("{one}{unit}"), format!("{other}{unit}")]
        }
        _ => words,
    }
}

/// How much of what was gained on the searched days is not gained on the others.
fn optimism(objective: &FittedObjective) -> Option<Fact> {
    let lost = objective.optimism?;
    let is_less = lost > 0.0 && objective.gain() > 0.0;
    let words = value_in_words(objective.measure, Some(lost));
    let text = format!(
        "the gain is smaller by {words} on the days held out than on those searched ({})",
        objective.name
    );
    is_less.then(|| Fact::new("optimism", text))
}

/// The best of the known formulas on the held-out days: it meets the most goals, or of several that
/// do is the best in the objective.
fn simpler(fit: &GoalFit) -> Option<Fact> {
    let mut best = fit.held_out.baselines.first()?;
    for other in &fit.held_out.baselines {
        let order = number_met(best).cmp(&number_met(other));
        let by_loss = loss(fit, other).total_cmp(&loss(fit, best));
        if order.then(by_loss).is_lt() {
            best = other;
        }
    }
    // one that meets fewer goals than the formula in force is no way out
    if number_met(best) < number_met(&fit.held_out.current) {
        return None;
    }
    let mut words = Vec::new();
    if !fit.goals.is_empty() {
        words.push(format!("meets {} goals", goals_met(best)));
    }
    if let Some(objective) = &fit.objective {
        let value = value_in_words(objective.measure, best.objective);
        words.push(format!("{} {value}", objective.name));
    }
    let text = format!("{}: {}", best.name, words.join(", "));
    Some(Fact::new("simpler", text))
}

/// The objective of a formula, smaller for a better one.
fn loss(fit: &GoalFit, formula: &HeldOutFormula) -> f64 {
    match (&fit.objective, formula.objective) {
        (Some(objective), Some(value)) if objective.is_minimised => value,
        (Some(_), Some(value)) => -value,
        _ => f64::INFINITY,
    }
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
fn ends_in_words(ends: [f64; 2]) -> String {
    match ends.map(significant) {
        [low, high] if low == high => format!("{low} alone"),
        [low, high] => format!("{low} to {high}"),
    }
}

/// The limit in few characters.
fn limit_in_words(goal: &FittedGoal, limit: Option<f64>) -> String {
    let sign = if goal.is_most { '≤' } else { '≥' };
    format!("{sign} {}", value_in_words(goal.measure, limit))
}

/// The goals and the objective, under the formula in force and the fitted one.
fn goals_section(fit: &GoalFit) -> Section<'_> {
    let mut rows = Vec::new();
    let mut has_other_limits = false;
    for goal in &fit.goals {
        let measure = goal.measure;
        // on the days searched it is another one if it refers to the formula in force
        let mut searched_limit = String::new();
        if goal.train.limit != goal.held_out.limit {
            has_other_limits = true;
            searched_limit = limit_in_words(goal, goal.train.limit);
        }
        let met = match goal.held_out.state {
            GoalState::NoJobs => "no jobs",
            state => state_in_words(state),
        };
        rows.push(cells![
            &*goal.name,
            limit_in_words(goal, goal.held_out.limit),
            value_in_words(measure, goal.held_out_current.value),
            value_in_words(measure, goal.train.value),
            value_in_words(measure, goal.held_out.value),
            change_cell(measure, goal.change),
            Cell::prose(searched_limit),
            Cell::prose(met),
        ]);
    }
    if let Some(objective) = &fit.objective {
        let (measure, held_out) = (objective.measure, &objective.held_out);
        let aim = if objective.is_minimised {
            "small"
        } else {
            "large"
        };
        rows.push(cells![
            &*objective.name,
            aim,
            value_in_words(measure, held_out.current),
            value_in_words(measure, objective.fitted),
            value_in_words(measure, held_out.fitted),
            change_cell(measure, held_out.change),
            Cell::prose(""),
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
        Column::text("limit searched", 1).shown_if(has_other_limits),
        Column::text("met", 3),
    ];
    let mut section = Section::new("goals");
    if !fit.goals.is_empty() {
        section = section.chart(|| goals(&fit.goals));
    }
    section.table(Table::from_rows(columns, rows))
}

/// How what is wanted changes on the held-out days; what few jobs decide has no interval.
fn change_cell<'a>(measure: Measure, change: Option<MeanChange>) -> Cell<'a> {
    let Some(change) = change else {
        return Cell::Missing;
    };
    let words = match measure {
        _ if measure.is_duration() => signed_rough_duration,
        _ if measure.is_fraction() => signed_points,
        _ => signed_significant,
    };
    let interval = interval_in_brackets(&change, words);
    (words(change.difference()) + &interval).into()
}

fn signed_points(change: f64) -> String {
    format!("{} points", signed_significant(change * 100.0))
}

fn constants_section(fit: &GoalFit) -> Section<'_> {
    let columns = [
        Column::text("constant", 8),
        Column::number("value", 5),
        Column::text("within the error", 10),
        Column::text("searched", 8),
    ];
    let table = Table::new(columns, Vec::from_iter(&fit.constants), |constant| {
        cells![
            &*constant.name,
            constant.value.to_string(),
            within_in_words(constant),
            ends_in_words([constant.range.low, constant.range.high]),
        ]
    });
    let meaning = "Within the error are the values with which the objective is worse by at most one standard error of what is gained over \
                   the formula in force, the other numbers being fixed: not as good as the answer, if that gain is large.";
    Section::new("constants")
        .in_full()
        .prose(meaning)
        .chart(|| constants(&fit.constants))
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
            section = section.chart(move || charts::forest(what, &rows));
        }
    }
    section
}

/// The formulas that the answer is compared with.
fn baselines_section(fit: &GoalFit) -> Section<'_> {
    let HeldOut {
        current,
        fitted,
        baselines,
        ..
    } = &fit.held_out;
    let mut columns = vec![Column::text("formula", 12), Column::code("text", 20)];
    if let Some(objective) = &fit.objective {
        columns.push(Column::text(&*objective.name, 8));
    }
    columns.push(Column::text("goals met", 8).shown_if(!fit.goals.is_empty()));
    let mut rows = Vec::new();
    for formula in [current].into_iter().chain(baselines).chain([fitted]) {
        let mut cells = cells![formula.name, Cell::Code((*formula.formula).into())];
        if let Some(objective) = &fit.objective {
            cells.push(value_in_words(objective.measure, formula.objective).into());
        }
        cells.push(goals_met(formula).into());
        rows.push(cells);
    }
    Section::new("other formulas, on the days held out")
        .in_full()
        .table(Table::from_rows(columns, rows))
}

/// Each goal on an axis of its own from 0.
fn goals(goals: &[FittedGoal]) -> Chart {
    let legend = &[
        ("same", "limit"),
        ("old", "in force"),
        ("hollow new", "fitted, on the days searched"),
        ("new", "fitted, on the days held out"),
    ];
    figure(
        "The goals",
        "limit",
        goals.iter().map(goal_row).collect(),
        legend,
    )
}

fn goal_row(goal: &FittedGoal) -> Row<'_> {
    let values = [
        goal.held_out.limit,
        goal.held_out_current.value,
        goal.train.value,
        goal.held_out.value,
    ];
    // values that are all 0 are at the left end, and not nowhere
    let mut most = f64::MIN_POSITIVE;
    for value in values.into_iter().flatten() {
        most = most.max(value);
    }
    let place = |value: f64| (value / most).clamp(0.0, 1.0);
    let [_, in_force, searched, held_out] = values.map(|value| value_in_words(goal.measure, value));
    let limit = limit_in_words(goal, goal.held_out.limit);
    let mut marks = Vec::new();
    for (value, class) in iter::zip(values, ["same", "old", "hollow new", "new"]) {
        if let Some(value) = value {
            marks.push((place(value), class));
        }
    }
    let line = match (goal.train.value, goal.held_out.value) {
        (Some(from), Some(to)) => Some(([place(from), place(to)], "between")),
        _ => None,
    };
    Row {
        name: goal.name.as_str().into(),
        line,
        marks,
        title: format!(
            "{}: {limit}; in force {in_force}, searched {searched}, held out {held_out}",
            goal.name
        ),
        words: vec![limit],
    }
}

/// Each constant between the ends of its range, with the values that do as well.
fn constants(constants: &[FittedConstant]) -> Chart {
    let rows = constants.iter().map(constant_row).collect();
    let legend = &[("new", "fitted"), ("old", "start")];
    figure("The constants", "range", rows, legend)
}

fn constant_row(constant: &FittedConstant) -> Row<'_> {
    let FittedConstant {
        name,
        value,
        range,
        within,
        ..
    } = constant;
    let place = |value: f64| place_in(range, value);
    let as_well = within.unwrap_or([*value; 2]);
    let start = significant(range.start);
    Row {
        name: name.as_str().into(),
        line: Some((as_well.map(place), "same")),
        marks: vec![(place(range.start), "old"), (place(*value), "new")],
        title: format!(
            "{name} = {value}, within the error {}, start {start}",
            ends_in_words(as_well)
        ),
        words: vec![ends_in_words([range.low, range.high])],
    }
}

/// Rows whose values are places on an axis of their own.
fn figure(name: &str, column: &'static str, rows: Vec<Row<'_>>, legend: Legend) -> Chart {
    let intervals = Intervals {
        place: Box::new(|place| place),
        ticks: Vec::new(),
        directions: ["", ""],
        columns: vec![column],
        rows,
    };
    intervals.chart(name, legend)
}

/// Where a value is in a range, 0..=1.
fn place_in(range: &TemplateConstant, value: f64) -> f64 {
    let ends = [range.low, range.high];
    if range.is_log {
        place_between(ends.map(f64::ln), value.ln())
    } else {
        place_between(ends, value)
    }
}

#[cfg(test)]
mod tests {
    use job_sort_formula::formula::Template;

    use super::*;

    #[test]
    fn places_are_between_the_ends_of_the_range() {
        for (range, value, expected) in [
            ("1:0..10", 5.0, 0.5),
            ("1:1..100:log", 10.0, 0.5),
            ("1:0..10", 20.0, 1.0),
        ] {
            let template = Template::parse(&format!("{{a={range}}}")).expect("a template");
            let place = place_in(&template.constants()[0], value);
            assert!((place - expected).abs() < 1e-12, "{range}");
        }
    }
}
