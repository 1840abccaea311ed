//! Goals and how a simulation meets them: the table, and the sentences about those that it does not.

use job_sort_formula::rank::OldNew;
use jsf_simulate::{GoalState, JudgedGoal, Measure};

use crate::view::document::{Cell, Column, Section, Table, cells};
use crate::view::words::{count, duration, grouped_count, percent, significant};

/// The table of the goals of one formula, or of two; `None` without goals.
pub(crate) fn goals_section<'a>(sides: OldNew<&'a [JudgedGoal]>) -> Option<Section<'a>> {
    let OldNew { old, new } = sides;
    // a simulation of one formula gives its goals as both sides
    let has_old = !std::ptr::eq(old, new);
    if new.is_empty() {
        return None;
    }
    // those that are missed first: there may be no room for all
    let mut order: Vec<usize> = (0..new.len()).collect();
    order.sort_by_key(|&index| new[index].state);
    let columns = [
        Column::name("goal", 9),
        Column::number("jobs", 4),
        Column::text("measure", 3),
        Column::number("old", 6).shown_if(has_old),
        Column::number(if has_old { "new" } else { "value" }, 8),
        Column::number("limit", 7),
        Column::text("met", 8),
    ];
    let table = Table::new(columns, order, move |&index| {
        let goal = &new[index];
        let old = match old.get(index) {
            Some(old) => value_in_words(old.measure, old.value),
            None => String::new(),
        };
        let bound = if goal.is_most { "at most" } else { "at least" };
        let limit = value_in_words(goal.measure, goal.limit);
        cells![
            &*goal.name,
            goal.jobs,
            goal.measure.to_string(),
            Cell::prose(old),
            value_in_words(goal.measure, goal.value),
            format!("{bound} {limit}"),
            met_in_words(goal),
        ]
    });
    Some(Section::new("goals, each without an interval").table(table))
}

/// What of the goals is not met, for the headline: those that are missed, else those that cannot be
/// judged. `None` if all are met.
pub(crate) fn unmet(goals: &[JudgedGoal]) -> Option<String> {
    for (state, what) in [
        (GoalState::Missed, "missed"),
        (GoalState::NoJobs, "about no job"),
    ] {
        if let Some((number, names)) = names(goals, state) {
            let all = count(goals.len(), "goal");
            return Some(format!("{number} of {all} {what}: {names}"));
        }
    }
    not_judged(goals)
}

/// Which goals refer to an old formula that there is not; `None` if there are none.
pub(crate) fn not_judged(goals: &[JudgedGoal]) -> Option<String> {
    let (number, names) = names(goals, GoalState::NoOldSide)?;
    let all = count(goals.len(), "goal");
    Some(format!(
        "{number} of {all} not judged, which needs a comparison (--old F --new F): {names}"
    ))
}

/// How many goals are in a state, and their names; `None` if there are none.
fn names(goals: &[JudgedGoal], state: GoalState) -> Option<(usize, String)> {
    let mut found = Vec::new();
    for goal in goals {
        if goal.state == state {
            found.push(&*goal.name);
        }
    }
    let names = match &found[..] {
        [] => return None,
        [one] => format!("`{one}`"),
        [one, other] => format!("`{one}` and `{other}`"),
        [first, others @ ..] => format!("`{first}` and {}", count(others.len(), "other")),
    };
    Some((found.len(), names))
}

/// Whether a goal is met, in a cell, and how many jobs that never start it is missed with.
fn met_in_words(goal: &JudgedGoal) -> String {
    match (goal.state, goal.never_start) {
        (GoalState::Missed, 1) => "no (1 job never starts)".to_owned(),
        (GoalState::Missed, 2..) => format!(
            "no ({} never start)",
            grouped_count(goal.never_start, "job")
        ),
        (state, _) => state_in_words(state).to_owned(),
    }
}

/// Whether a goal is met, in a cell: a dash where it cannot be judged.
pub(crate) fn state_in_words(state: GoalState) -> &'static str {
    match state {
        GoalState::Missed => "no",
        GoalState::NoJobs | GoalState::NoOldSide => "–",
        GoalState::Met => "yes",
    }
}

pub(crate) fn value_in_words(measure: Measure, value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        // jobs that never start
        Some(value) if value.is_infinite() => "∞".to_owned(),
        Some(value) if measure.is_duration() => duration(value),
        Some(value) if measure.is_fraction() => percent(value),
        Some(value) => significant(value),
    }
}
