//! The charts of a fit: goals against their limits, and how well each constant does.

use std::iter;

use job_sort_formula::formula::TemplateConstant;
use jsf_fit::FittedConstant;
use jsf_fit::goals::FittedGoal;

use crate::commands::fit::goals_view::{ends_in_words, limit_in_words};
use crate::view::charts::intervals::{Intervals, Row};
use crate::view::charts::plot::place_between;
use crate::view::document::{Chart, ChartSvg};
use crate::view::goals::value_in_words;
use crate::view::words::significant;

/// Each goal on an axis of its own from 0.
pub(crate) fn goals(goals: &[FittedGoal]) -> Chart {
    let legend = [
        ("same", "limit"),
        ("old", "in force"),
        ("hollow new", "fitted, on the days searched"),
        ("new", "fitted, on the days held out"),
    ];
    Chart::new(
        figure("The goals", "limit", goals.iter().map(goal_row).collect()),
        &legend,
    )
}

fn goal_row(goal: &FittedGoal) -> Row<'_> {
    let values = [
        goal.held_out.limit,
        goal.held_out_current.value,
        goal.train.value,
        goal.held_out.value,
    ];
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
pub(crate) fn constants(constants: &[FittedConstant]) -> Chart {
    let rows = constants.iter().map(constant_row).collect();
    Chart::new(
        figure("The constants", "range", rows),
        &[("new", "fitted"), ("old", "start")],
    )
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
fn figure(name: &str, column: &'static str, rows: Vec<Row<'_>>) -> ChartSvg {
    let columns = vec![column];
    let intervals = Intervals {
        place: Box::new(|place| place),
        ticks: Vec::new(),
        directions: ["", ""],
        columns,
        rows,
    };
    intervals.chart(name)
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
