//! Goals that a simulation is judged by, as a table.

use job_sort_formula::rank::OldNew;
use jsf_simulate::{GoalState, JudgedGoal, Measure};

use crate::view::document::{Cell, Column, Section, Table, cells};
use crate::view::unit::Unit;
use crate::view::words::{count, first_names, grouped_count};

/// The most goals that a sentence names.
const MAX_NAMES: usize = 2;

/// The table of the goals of one formula, or of two; `None` without goals.
pub(crate) fn goals_section<'a>(sides: OldNew<&'a [JudgedGoal]>) -> Option<Section<'a>> {
    let OldNew { old, new } = sides;
    let has_old = !std::ptr::eq(old, new);
    if new.is_empty() {
        return None;
    }
    // those that are missed first: there may be no room for all
    let mut order: Vec<usize> = (0..new.len()).collect();
    order.sort_by_key(|&index| new[index].state);
    let mut rows = Vec::new();
    for index in order {
        let goal = &new[index];
        let old = match old.get(index) {
            Some(old) => value_in_words(old.measure, old.value),
            None => String::new(),
        };
        rows.push(cells![
            &*goal.name,
            goal.jobs,
            goal.measure.to_string(),
            Cell::prose(old),
            value_in_words(goal.measure, goal.value),
            bound_in_words(goal.measure, goal.is_most, goal.limit),
            met_in_words(goal),
        ]);
    }
    let columns = [
        Column::name("goal", 9),
        Column::number("jobs", 4),
        Column::text("measure", 3),
        Column::number("old", 6).shown_if(has_old),
        Column::number(if has_old { "new" } else { "value" }, 8),
        Column::number("limit", 7),
        Column::text("met", 8),
    ];
    Some(
        Section::new("goals, each without an interval")
            .in_brief(unmet(new).unwrap_or("all goals are met".to_owned()))
            .table(Table::from_rows(columns, rows)),
    )
}

/// What of the goals is not met, for the headline: those that are missed, else those that cannot be
/// judged. `None` if all are met.
pub(crate) fn unmet(goals: &[JudgedGoal]) -> Option<String> {
    for (state, what) in [
        (GoalState::Missed, "missed"),
        (GoalState::NoJobs, "about no job"),
        (
            GoalState::NoOldSide,
            "not judged, which needs a comparison (--old F --new F)",
        ),
    ] {
        let mut names = Vec::new();
        for goal in goals {
            if goal.state == state {
                names.push(format!("`{}`", goal.name));
            }
        }
        if !names.is_empty() {
            let (number, all) = (names.len(), count(goals.len(), "goal"));
            let names = first_names(names.into_iter(), MAX_NAMES);
            return Some(format!("{number} of {all} {what}: {names}"));
        }
    }
    None
}

/// Whether a goal is met, and with how many jobs that never start it is missed.
fn met_in_words(goal: &JudgedGoal) -> String {
    if goal.state == GoalState::Missed && goal.never_start > 0 {
        let jobs = grouped_count(goal.never_start, "job");
        return format!("no ({jobs} never started)");
    }
    state_in_words(goal.state).to_owned()
}

/// Whether a goal is met: a dash where it cannot be judged.
pub(crate) fn state_in_words(state: GoalState) -> &'static str {
    match state {
        GoalState::Missed => "no",
        GoalState::NoJobs | GoalState::NoOldSide => "–",
        GoalState::Met => "yes",
    }
}

/// `at most 4 h`.
pub(crate) fn bound_in_words(measure: Measure, is_most: bool, limit: Option<f64>) -> String {
    let bound = if is_most { "at most" } else { "at least" };
    format!("{bound} {}", value_in_words(measure, limit))
}

pub(crate) fn value_in_words(measure: Measure, value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        // jobs that never start
        Some(value) if value.is_infinite() => "∞".to_owned(),
        Some(value) => Unit::of(measure).words(value),
    }
}
