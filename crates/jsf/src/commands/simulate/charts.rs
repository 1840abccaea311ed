//! The charts of a simulation: how waits change, how they spread, and what happens over time.

use std::iter;

use jsf_simulate::{Distribution, GroupStatistics, MeanChange, Whole};

use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change_answer::ComparedGroup;
use crate::view::charts::plot::{Axis, Plot, StepLine};
use crate::view::charts::waits;
use crate::view::charts::waits::{FOREST_LEGEND, SPREAD_LEGEND, SPREAD_LEGEND_OF_ONE};
use crate::view::document::{Chart, RowLimit, Section};

/// The most groups of a chart.
const MAX_DRAWN: usize = 20;

/// The section with charts of how the waits of all jobs and of some groups change: the mean, and
/// the waits of half and of 95 % of the jobs.
pub(crate) fn with_changes<'a>(
    section: Section<'a>,
    what: &'a str,
    all: MeanChange,
    groups: &'a [ComparedGroup],
) -> Section<'a> {
    let (first, last) = RowLimit::Ends(MAX_DRAWN).shown_ends(groups.len());
    let mut changes = vec![("all jobs", all)];
    let mut spreads = Vec::new();
    for group in groups[..first].iter().chain(&groups[last..]) {
        let (median, p95) = (group.median_wait, group.p95_wait);
        let spread = vec![
            distribution(median.old, p95.old),
            distribution(median.new, p95.new),
        ];
        let name = shown_name(&group.change.name);
        changes.push((name, group.change.wait));
        spreads.push((name, spread));
    }
    section
        .chart(move || Chart::new(waits::forest(what, &changes), &FOREST_LEGEND))
        .chart(move || Chart {
            summary: "How long half, and 95 % of the jobs wait at most, as a chart",
            ..Chart::new(waits::spreads(what, &spreads), &SPREAD_LEGEND)
        })
}

fn distribution(median: Whole, p95: Whole) -> Distribution {
    Distribution {
        median: median.0,
        p95: p95.0,
        ..Distribution::default()
    }
}

/// The section with a chart of the waits of half and of 95 % of the jobs of the first groups.
pub(crate) fn with_spreads<'a>(
    section: Section<'a>,
    what: &'a str,
    groups: &[&'a GroupStatistics],
) -> Section<'a> {
    let mut rows = Vec::new();
    for group in groups.iter().take(MAX_DRAWN) {
        rows.push((shown_name(&group.name), vec![group.wait]));
    }
    section.chart(move || Chart::new(waits::spreads(what, &rows), &SPREAD_LEGEND_OF_ONE))
}

/// The section with charts of how much of the machine is in use over time, and how many jobs wait,
/// under one formula or under the old and the new one.
pub(crate) fn with_course<'a>(
    section: Section<'a>,
    sides: &[&SimulationReport<'_>],
) -> Section<'a> {
    let mut longest: f64 = 1.0;
    let (mut begin, mut end) = (i64::MAX, i64::MIN);
    for side in sides {
        for period in &side.statistics.periods {
            longest = longest.max(period.mean_queue);
            begin = begin.min(period.start);
            end = end.max(period.start + period.seconds);
        }
    }
    let (x, second) = Axis::time(
        (end.saturating_sub(begin) as f64).max(1.0),
        "since the first submission",
    );
    let (names, legend): (_, &[_]) = if sides.len() == 1 {
        (&[("new", "")][..], &[])
    } else {
        let names = &[("old", "old formula"), ("new", "new formula")];
        (names, &SPREAD_LEGEND)
    };
    let (mut used, mut waiting) = (Vec::new(), Vec::new());
    for (side, (class, name)) in iter::zip(sides, names) {
        let (mut used_steps, mut waiting_steps) = (Vec::new(), Vec::new());
        for period in &side.statistics.periods {
            if period.seconds > 0 {
                let from = (period.start - begin) as f64 / second;
                let to = (period.start + period.seconds - begin) as f64 / second;
                used_steps.push([from, to, period.utilisation * 100.0]);
                waiting_steps.push([from, to, period.mean_queue]);
            }
        }
        used.push(step_line(class, name, used_steps));
        waiting.push(step_line(class, name, waiting_steps));
    }
    let used = Plot {
        x: x.clone(),
        y: Axis::whole([0.0, 100.0], "%"),
        lines: used,
    };
    let waiting = Plot {
        x,
        y: Axis::whole([0.0, longest], "jobs"),
        lines: waiting,
    };
    let used_name = "How many per cent of the processors are in use over time";
    section
        .chart(move || Chart::new(used.chart(used_name), legend))
        .chart(move || Chart::new(waiting.chart("How many jobs wait over time"), legend))
}

fn step_line(class: &str, name: &str, steps: Vec<[f64; 3]>) -> StepLine {
    StepLine {
        class: class.to_owned(),
        name: name.to_owned(),
        is_named: false,
        steps,
    }
}

fn shown_name(name: &str) -> &str {
    if name.is_empty() { "–" } else { name }
}
