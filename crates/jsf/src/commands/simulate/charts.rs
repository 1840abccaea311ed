//! The charts of a simulation: how waits change, how they spread, and what happens over time.

use jsf_simulate::{Distribution, MeanChange, Period};

use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change_answer::ComparedGroup;
use crate::view::charts::plot::{Axis, Plot, StepLine};
use crate::view::charts::waits;
use crate::view::charts::waits::{FOREST_LEGEND, SPREAD_LEGEND, SPREAD_LEGEND_OF_ONE};
use crate::view::document::{Chart, ChartSvg, RowLimit, Section};

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
        let [old, new] = [
            (group.median_wait.old, group.p95_wait.old),
            (group.median_wait.new, group.p95_wait.new),
        ]
        .map(|(median, p95)| Distribution {
            median: median.0,
            p95: p95.0,
            ..Distribution::default()
        });
        let name = shown_name(&group.change.name);
        changes.push((name, group.change.wait));
        spreads.push((name, vec![old, new]));
    }
    section
        .chart(move || Chart::new(waits::forest(what, &changes), &FOREST_LEGEND))
        .chart(move || Chart {
            summary: "How long half, and 95 % of the jobs wait at most, as a chart",
            ..Chart::new(waits::spreads(what, &spreads), &SPREAD_LEGEND)
        })
}

/// The section with a chart of the waits of half and of 95 % of the jobs of the first groups.
pub(crate) fn with_spreads<'a>(
    section: Section<'a>,
    what: &'a str,
    groups: impl Iterator<Item = (&'a str, Distribution)>,
) -> Section<'a> {
    let rows: Vec<_> = groups
        .take(MAX_DRAWN)
        .map(|(name, wait)| (shown_name(name), vec![wait]))
        .collect();
    section.chart(move || Chart::new(waits::spreads(what, &rows), &SPREAD_LEGEND_OF_ONE))
}

/// The section with charts of how much of the machine is in use over time, and how many jobs wait,
/// under one formula or under the old and the new one.
pub(crate) fn with_course<'a>(
    section: Section<'a>,
    sides: &[&SimulationReport<'_>],
) -> Section<'a> {
    let queues = sides
        .iter()
        .flat_map(|side| &side.statistics.periods)
        .map(|period| period.mean_queue);
    let longest = queues.fold(1.0, f64::max);
    let used = "How many per cent of the processors are in use over time";
    let used = course(sides, used, [0.0, 100.0], "%", |period| {
        period.utilisation * 100.0
    });
    let waiting = "How many jobs wait over time";
    let waiting = course(sides, waiting, [0.0, longest], "jobs", |period| {
        period.mean_queue
    });
    let legend: &[_] = if sides.len() == 1 {
        &[]
    } else {
        &SPREAD_LEGEND
    };
    let [used, waiting] = [used, waiting].map(|chart| Chart::new(chart, legend));
    section
        .chart(move || used.clone())
        .chart(move || waiting.clone())
}

/// A quantity of each period on each side.
fn course(
    sides: &[&SimulationReport<'_>],
    name: &str,
    range: [f64; 2],
    unit: &str,
    value: fn(&Period) -> f64,
) -> ChartSvg {
    let periods = || sides.iter().flat_map(|side| &side.statistics.periods);
    let begin = periods().map(|period| period.start).min().unwrap_or(0);
    let end = periods()
        .map(|period| period.start + period.seconds)
        .max()
        .unwrap_or(begin);
    let length = ((end - begin) as f64).max(1.0);
    let (x, second) = Axis::time(length, "since the first submission");
    let at = |time: i64| (time - begin) as f64 / second;
    let names = if sides.len() == 1 {
        &[("new", "")][..]
    } else {
        &[("old", "old formula"), ("new", "new formula")]
    };
    let mut lines = Vec::new();
    for (side, (class, name)) in sides.iter().zip(names) {
        let mut steps = Vec::new();
        for period in side
            .statistics
            .periods
            .iter()
            .filter(|period| period.seconds > 0)
        {
            let end = period.start + period.seconds;
            steps.push([at(period.start), at(end), value(period)]);
        }
        lines.push(StepLine {
            class: (*class).to_owned(),
            name: (*name).to_owned(),
            is_named: false,
            steps,
        });
    }
    let y = Axis::whole(range, unit);
    Plot { x, y, lines }.chart(name)
}

fn shown_name(name: &str) -> &str {
    if name.is_empty() { "–" } else { name }
}
