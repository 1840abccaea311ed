//! The charts of a simulation: how waits change, how they spread, and what happens over time.

use std::iter;

use jsf_simulate::{GroupDifference, GroupStatistics, MeanChange, Period};

use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change_answer::ComparedGroup;
use crate::view::charts::plot::{Axis, Plot, StepLine};
use crate::view::charts::waits;
use crate::view::charts::waits::{FOREST_LEGEND, SPREAD_LEGEND, SPREAD_LEGEND_OF_ONE};
use crate::view::document::{Chart, RowLimit, Section};

/// The most groups of a chart, half of them from either end.
const DRAWN: RowLimit = RowLimit::Ends(20);

/// The section with a chart of how the mean wait of all jobs and of some groups changes.
pub(crate) fn forest_chart<'a>(
    section: Section<'a>,
    what: &'a str,
    all: MeanChange,
    groups: impl IntoIterator<Item = &'a GroupDifference>,
) -> Section<'a> {
    let groups = Vec::from_iter(groups);
    let mut changes = vec![("all jobs", all)];
    for index in DRAWN.rows(groups.len()) {
        changes.push((shown_name(&groups[index].name), groups[index].wait));
    }
    section.chart(move || Chart::new(waits::forest(what, &changes), &FOREST_LEGEND))
}

/// The section with charts of how the waits of all jobs and of some groups change: the mean, and
/// the waits of half and of 95 % of the jobs.
pub(crate) fn with_changes<'a>(
    section: Section<'a>,
    what: &'a str,
    all: MeanChange,
    groups: &'a [ComparedGroup],
) -> Section<'a> {
    let mut spreads = Vec::new();
    for index in DRAWN.rows(groups.len()) {
        let group = &groups[index];
        let (half, most) = (group.median_wait, group.p95_wait);
        let sides = vec![[half.old.0, most.old.0], [half.new.0, most.new.0]];
        spreads.push((shown_name(&group.change.name), sides));
    }
    let changes = groups.iter().map(|group| &group.change);
    forest_chart(section, what, all, changes).chart(move || Chart {
        summary: "How long half, and 95 % of the jobs wait at most, as a chart",
        ..Chart::new(waits::spreads(what, &spreads), &SPREAD_LEGEND)
    })
}

/// The section with a chart of the waits of half and of 95 % of the jobs of the first groups.
pub(crate) fn with_spreads<'a>(
    section: Section<'a>,
    what: &'a str,
    groups: &[&'a GroupStatistics],
) -> Section<'a> {
    let mut spreads = Vec::new();
    for index in DRAWN.rows(groups.len()) {
        let GroupStatistics { name, wait, .. } = groups[index];
        spreads.push((shown_name(name), vec![[wait.median, wait.p95]]));
    }
    section.chart(move || Chart::new(waits::spreads(what, &spreads), &SPREAD_LEGEND_OF_ONE))
}

/// The section with charts of how much of the machine is in use over time, and how many jobs wait,
/// under one formula or under the old and the new one.
pub(crate) fn with_course<'a>(
    mut section: Section<'a>,
    sides: &[&SimulationReport<'_>],
) -> Section<'a> {
    let mut longest: f64 = 1.0;
    let (mut begin, mut end) = (i64::MAX, i64::MIN);
    for side in sides {
        for period in &side.results.statistics.periods {
            longest = longest.max(period.mean_queue);
            begin = begin.min(period.start);
            end = end.max(period.start + period.seconds);
        }
    }
    let span = (end.saturating_sub(begin) as f64).max(1.0);
    let (time, second) = Axis::time(span, "since the first submission");
    let (names, legend): (&[_], &[_]) = match sides {
        [_] => (&[("new", "")], &[]),
        _ => (&SPREAD_LEGEND, &SPREAD_LEGEND),
    };
    let used: fn(&Period) -> f64 = |period| period.utilisation * 100.0;
    let waiting: fn(&Period) -> f64 = |period| period.mean_queue;
    for (name, unit, most, value) in [
        (
            "How many per cent of the processors are in use over time",
            "%",
            100.0,
            used,
        ),
        ("How many jobs wait over time", "jobs", longest, waiting),
    ] {
        let mut lines = Vec::new();
        for (side, (class, name)) in iter::zip(sides, names) {
            let mut steps = Vec::new();
            for period in &side.results.statistics.periods {
                let from = (period.start - begin) as f64 / second;
                let to = from + period.seconds as f64 / second;
                if period.seconds > 0 {
                    steps.push([from, to, value(period)]);
                }
            }
            lines.push(StepLine {
                class: (*class).to_owned(),
                name: (*name).to_owned(),
                is_named: false,
                steps,
            });
        }
        let plot = Plot {
            x: time.clone(),
            y: Axis::whole([0.0, most], unit),
            lines,
        };
        section = section.chart(move || Chart::new(plot.chart(name), legend));
    }
    section
}

fn shown_name(name: &str) -> &str {
    if name.is_empty() { "–" } else { name }
}
