//! The charts of a fit: goals against their limits, and how well each constant does.

use std::iter;

use job_sort_formula::formula::TemplateConstant;
use jsf_fit::FittedConstant;
use jsf_fit::goals::FittedGoal;

use crate::commands::fit::goals_view::{ends_in_words, limit_in_words};
use crate::view::charts::intervals::{Intervals, Row};
use crate::view::charts::plot::place_between;
use crate::view::document::Chart;
use crate::view::goals::value_in_words;
use crate::view::words::significant;

/// The marks of a goal, and their meanings.
const GOAL_MARKS: [(&str, &str); 4] = [
    ("same", "limit"),
    ("old", "in force"),
    ("hollow new", "fitted, on the days searched"),
    ("new", "fitted, on the days held out"),
];
/// The marks of a constant, and their meanings.
const CONSTANT_MARKS: [(&str, &str); 2] = [("new", "fitted"), ("old", "start")];

/// Each goal on an axis of its own from 0.
pub(crate) fn goals(goals: &[FittedGoal]) -> Chart {
    let mut rows = Vec::new();
    for goal in goals {
        let values = [
            goal.held_out.limit,
            goal.held_out_current.value,
            goal.train.value,
            goal.held_out.value,
        ];
        let mut most: f64 = 0.0;
        for value in values.into_iter().flatten() {
            most = most.max(value);
        }
        let place = |value: f64| place_between([0.0, most], value);
        let mut title = goal.name.clone();
        let mut marks = Vec::new();
        for (value, (class, meaning)) in iter::zip(values, GOAL_MARKS) {
            title += &format!("; {meaning} {}", value_in_words(goal.measure, value));
            marks.extend(value.map(|value| (place(value), class)));
        }
        let line = match values {
            [.., Some(searched), Some(held_out)] => Some([searched, held_out].map(place)),
            _ => None,
        };
        rows.push(Row {
            name: goal.name.as_str().into(),
            line: line.map(|ends| (ends, "between")),
            marks,
            title,
            words: vec![limit_in_words(goal)],
        });
    }
    chart("The goals", "limit", rows, &GOAL_MARKS)
}

/// Each constant between the ends of its range, with the values that do as well.
pub(crate) fn constants(constants: &[FittedConstant]) -> Chart {
    let mut rows = Vec::new();
    for constant in constants {
        let FittedConstant {
            name, value, range, ..
        } = constant;
        let as_well = constant.within.unwrap_or([*value; 2]);
        let place = |value: f64| place_in(range, value);
        rows.push(Row {
            name: name.as_str().into(),
            line: Some((as_well.map(place), "same")),
            marks: vec![(place(range.start), "old"), (place(*value), "new")],
            title: format!(
                "{name} = {value}, within the error {}, start {}",
                ends_in_words(as_well),
                significant(range.start)
            ),
            words: vec![ends_in_words([range.low, range.high])],
        });
    }
    chart("The constants", "range", rows, &CONSTANT_MARKS)
}

/// Rows whose values are places on an axis of their own.
fn chart(
    name: &str,
    column: &'static str,
    rows: Vec<Row<'_>>,
    legend: &[(&'static str, &'static str)],
) -> Chart {
    let intervals = Intervals {
        place: Box::new(|place| place),
        ticks: Vec::new(),
        directions: ["", ""],
        columns: vec![column],
        rows,
    };
    Chart::new(intervals.chart(name), legend)
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
