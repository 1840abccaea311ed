//! What people see of a fit. Of wishes: how many are met, and by which constants. Of goals on a log:
//! the advice, the goals on the days that were searched and on those that were not, what else was
//! tried, who pays, and charts of goals against their limits and of how well each constant does.

use std::iter;

use job_sort_formula::formula::TemplateConstant;
use jsf_fit::FittedConstant;
use jsf_fit::goals::{
    FittedGoal, FittedObjective, GoalFit, HeldOut, HeldOutFormula, Reason, Recommendation,
};
use jsf_fit::wishes::WishFit;
use jsf_simulate::{MeanChange, Measure};

use crate::commands::fit::{Fit, FitAnswer, FormulaToSet};
use crate::commands::simulate::view::{DOUBT, effect, interval_in_brackets, validation_fact};
use crate::view::charts::{self, Intervals, Row, place_between};
use crate::view::document::{
    Cell, Chart, Column, Document, Fact, Legend, RowLimit, Section, Table, cells,
};
use crate::view::goals::{state_in_words, value_in_words};
use crate::view::words::{
    count, quoted_and_list, signed_points, signed_rough_duration, signed_significant, significant,
};

/// The most groups of a chart.
const MAX_GROUPS: usize = 20;

impl FitAnswer {
    /// What people see of it.
    pub(super) fn shown(&self) -> Document<'_> {
        let (headline, facts, sections) = match &self.fit {
            Fit::Wishes(fit) => wishes_view(self, fit),
            Fit::Goals(fit) => goals_view(self, fit),
        };
        Document {
            command: "jsf fit",
            title: "Weights for a job_sort_formula".to_owned(),
            headline,
            facts,
            sections,
            read_on: "jsf compare --new F --site DIR",
        }
    }
}

/// The headline, the facts and the sections of constants that meet wishes.
fn wishes_view<'a>(
    answer: &'a FitAnswer,
    fit: &'a WishFit,
) -> (String, Vec<Fact>, Vec<Section<'a>>) {
    let search = format!("a search (seed {}, {} rankings)", fit.seed, fit.evaluations);
    let mut facts = vec![
        Fact::new("template", answer.template.trim_end()).in_full(),
        Fact::new("formula", fit.formula.trim_end()),
        Fact::new("found by", search).in_full(),
    ];
    if !fit.is_complete {
        facts.push(Fact::new("interrupted", "the best so far"));
    }
    let within = "the same wishes are met from";
    let mut sections = vec![
        constants_section(&fit.parameters, within),
        answer.to_set.section(),
    ];
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
    let mut sentences = vec![wishes_headline(fit)];
    sentences.extend(answer.to_set.warning());
    (sentences.join(" "), facts, sections)
}

/// How many wishes are met, and how far the values are from the scores.
fn wishes_headline(fit: &WishFit) -> String {
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

/// The headline, the facts and the sections of constants that meet goals.
fn goals_view<'a>(
    answer: &'a FitAnswer,
    fit: &'a GoalFit,
) -> (String, Vec<Fact>, Vec<Section<'a>>) {
    let old = &fit.held_out.current.formula;
    let mut sections = vec![Section::formulas(old, &fit.formula)];
    if !answer.warnings.is_empty() {
        sections.push(Section::new("warnings").list(answer.warnings.clone()));
    }
    sections.push(goals_section(fit));
    if fit.reason.recommendation() == Recommendation::Use {
        sections.push(answer.to_set.section());
    }
    sections.extend([
        baselines_section(fit),
        constants_section(&fit.constants, "within the error").in_full(),
        who_pays(fit),
    ]);
    let headline = headline(fit, &answer.to_set);
    (headline, facts(&answer.template, fit), sections)
}

fn facts(template: &str, fit: &GoalFit) -> Vec<Fact> {
    let mut old = fit.held_out.current.formula.to_string();
    if !fit.is_in_force_known {
        old += " (first come, first served: no formula is known, --old gives one)";
    }
    let formulas = [old, fit.formula.clone()].map(|formula| [Fact::new("formula", formula)]);
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
    let mut facts = vec![Fact::new("template", template.trim_end()).in_full()];
    facts.extend(Fact::of_sides(&formulas[0], &formulas[1]));
    facts.extend([Fact::new("held out", held_out), machine]);
    if !fit.is_complete {
        let text = "the best so far; the ranges of the constants are not known";
        facts.push(Fact::new("interrupted", text));
    }
    facts.extend(fit.held_out.validation.as_ref().map(validation_fact));
    facts
}

/// The advice, and what is to be known before one follows it.
fn headline(fit: &GoalFit, to_set: &FormulaToSet) -> String {
    let mut sentences = vec![advice(fit)];
    match fit.reason.recommendation() {
        Recommendation::Keep => {
            if let Some(names) = names(fit, is_gained) {
                sentences.push(format!(
                    "But it misses {names}, which the new formula meets."
                ));
            }
        }
        Recommendation::Use => {
            if let Some(names) = names(fit, is_missed) {
                sentences.push(format!("But it misses {names}."));
            }
            sentences.extend(worse(fit));
            sentences.extend(to_set.warning());
        }
        Recommendation::None => {}
    }
    if let Some(validation) = &fit.held_out.validation
        && validation.is_doubtful()
    {
        sentences.push(DOUBT.to_owned());
    }
    sentences.join(" ")
}

/// The names of some goals; `None` without one.
fn names(fit: &GoalFit, is_named: fn(&FittedGoal) -> bool) -> Option<String> {
    let mut names = Vec::new();
    for goal in &fit.goals {
        if is_named(goal) {
            names.push(&*goal.name);
        }
    }
    (!names.is_empty()).then(|| quoted_and_list(names))
}

/// Which means of all jobs get worse on the held-out days by more than chance.
fn worse(fit: &GoalFit) -> Option<String> {
    let mut worse = Vec::new();
    for (name, change) in fit.held_out.difference.means() {
        if change.is_increase() {
            worse.push(name);
        }
    }
    if worse.is_empty() {
        return None;
    }
    let worse = worse.join(", ");
    Some(format!("But worse there by more than chance: {worse}."))
}

fn advice(fit: &GoalFit) -> String {
    let chosen = chosen_values(&fit.constants);
    let unseen = "on the days that were not searched";
    let keep = match fit.reason {
        Reason::Better => {
            return format!(
                "Use {chosen}: {unseen} it is better than the old formula by more than chance."
            );
        }
        Reason::GoalGained => {
            // a goal about a mean may be met by chance, one about each job is not
            let gained = names(fit, |goal| goal.measure.is_of_each_job() && is_gained(goal));
            return format!(
                "Use {chosen}: it meets {}, which the old formula misses.",
                gained.unwrap_or_default()
            );
        }
        Reason::GoalsMissed => return infeasible(fit),
        Reason::InForce => "nothing that was tried is better".to_owned(),
        Reason::GoalsMetInForce => "it meets all goals already".to_owned(),
        Reason::GoalLost => {
            let lost = match (names(fit, is_lost), &fit.objective) {
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
        // six blocks of a week are the fewest that have an interval
        Reason::TooShortToJudge => format!(
            "on the {} d held out, {chosen} cannot be told from chance, for which it takes six weeks and a mean",
            fit.split.held_out_days() as usize
        ),
    };
    format!("Keep the old formula: {keep}.")
}

/// Which goals are missed, and which of them exclude each other.
fn infeasible(fit: &GoalFit) -> String {
    let missed = names(fit, |goal| goal.train.is_missed());
    let mut excluded = String::new();
    if let Some(exclusion) = fit.exclusions.first() {
        let [met, other] = [exclusion.met, exclusion.other].map(|goal| &fit.goals[goal]);
        let best = value_in_words(other.measure, Some(exclusion.best));
        let (met, other) = (&met.name, &other.name);
        excluded = format!(" Where `{met}` is met, the best of `{other}` is {best}.");
    }
    format!(
        "No weights that were tried meet all goals; these miss {}.{excluded} Relax a goal, or add a term.",
        missed.unwrap_or_default()
    )
}

/// `fs = 120, age = 2`.
fn chosen_values(constants: &[FittedConstant]) -> String {
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
    // on the days searched the fitted formula meets it: else the reason were `GoalsMissed`
    (goal.held_out_current.is_missed() || goal.current.is_missed()) && goal.held_out.is_met()
}

/// Whether only the formula in force meets a goal.
fn is_lost(goal: &FittedGoal) -> bool {
    goal.held_out_current.is_met() && !goal.held_out.is_met()
}

/// `4 of 5`.
fn goals_met(formula: &HeldOutFormula) -> String {
    let met = formula.goals.iter().filter(|goal| goal.is_met()).count();
    format!("{met} of {}", formula.goals.len())
}

/// The values of a constant that do as well; a dash where that is not known.
fn within_in_words(constant: &FittedConstant) -> String {
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

/// The goals, the objective and the waits of all jobs, under the old formula and the new one.
fn goals_section(fit: &GoalFit) -> Section<'_> {
    let has_other_limits = fit
        .goals
        .iter()
        .any(|goal| goal.train.limit != goal.held_out.limit);
    let mut rows = Vec::new();
    for goal in &fit.goals {
        let measure = goal.measure;
        // first what the search did not see, as a formula is better on the days it is fitted to
        rows.push(cells![
            &*goal.name,
            limit_in_words(goal, goal.held_out.limit),
            value_in_words(measure, goal.held_out_current.value),
            value_in_words(measure, goal.held_out.value),
            Cell::prose(state_in_words(goal.held_out.state)),
            value_in_words(measure, goal.train.value),
            change_cell(measure, goal.change),
            limit_in_words(goal, goal.train.limit),
            value_in_words(measure, goal.best),
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
            value_in_words(measure, held_out.fitted),
            Cell::prose(""),
            value_in_words(measure, objective.fitted),
            change_cell(measure, held_out.change),
            Cell::Missing,
            Cell::Missing,
        ]);
    }
    let wait = &fit.held_out.difference.wait;
    let interval = interval_in_brackets(wait, signed_rough_duration);
    let change = signed_rough_duration(wait.difference()) + &interval;
    for (name, [old, new], change) in [
        ("mean wait", [wait.old, wait.new].map(Some), Some(change)),
        ("longest wait", fit.held_out.longest_waits, None),
    ] {
        rows.push(cells![
            name,
            Cell::Missing,
            old.map(Cell::Duration),
            new.map(Cell::Duration),
            Cell::prose(""),
            Cell::Missing,
            change,
            Cell::Missing,
            Cell::Missing,
        ]);
    }
    let is_missed = fit.reason == Reason::GoalsMissed;
    let columns = [
        Column::id("goal", 12),
        Column::text("limit", 6),
        Column::number("old", 7),
        Column::number("new", 8),
        Column::text("met", 9),
        Column::number("new, days searched", 5),
        Column::text("new - old (95 %)", 2),
        Column::text("limit, days searched", 1).shown_if(has_other_limits),
        Column::number("best tried there", 4).shown_if(is_missed),
    ];
    let mut section = Section::new("goals, on the days held out");
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

/// The constants; `within` is what those do that do as well.
fn constants_section<'a>(constants: &'a [FittedConstant], within: &'a str) -> Section<'a> {
    let columns = [
        Column::text("constant", 8),
        Column::number("value", 5),
        Column::text(within, 10),
        Column::text("searched", 8),
    ];
    let table = Table::new(columns, Vec::from_iter(constants), |constant| {
        cells![
            &*constant.name,
            constant.value.to_string(),
            within_in_words(constant),
            ends_in_words([constant.range.low, constant.range.high]),
        ]
    });
    Section::new("constants")
        .chart(|| constants_chart(constants, within))
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
    let mut named = vec![("old", current)];
    named.extend(baselines.iter().map(|formula| (formula.name, formula)));
    named.push(("new", fitted));
    for (name, formula) in named {
        let mut cells = cells![name, Cell::Code((*formula.formula).into())];
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
        ("old", "old formula"),
        ("hollow new", "new formula, on the days searched"),
        ("new", "new formula, on the days held out"),
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
    let [_, old, searched, held_out] = values.map(|value| value_in_words(goal.measure, value));
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
            "{}: {limit}; old {old}, new {held_out}, on the days searched {searched}",
            goal.name
        ),
        words: vec![limit],
    }
}

/// Each constant between the ends of its range, with the values that do as well.
fn constants_chart(constants: &[FittedConstant], within: &str) -> Chart {
    let mut rows = Vec::new();
    for constant in constants {
        rows.push(constant_row(constant, within));
    }
    let legend = &[("new", "fitted"), ("old", "start")];
    figure("The constants", "range", rows, legend)
}

fn constant_row<'a>(constant: &'a FittedConstant, as_well_words: &str) -> Row<'a> {
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
            "{name} = {value}, {as_well_words} {}, start {start}",
            ends_in_words(as_well)
        ),
        words: vec![ends_in_words([range.low, range.high])],
    }
}

/// Rows whose values are places on an axis of their own.
fn figure(name: &str, column: &'static str, rows: Vec<Row<'_>>, legend: Legend) -> Chart {
    let intervals = Intervals {
        place: Box::new(|place| place),
        // the axes of the rows differ, so that one scale would be wrong for most
        ticks: Vec::new(),
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
