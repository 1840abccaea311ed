//! The charts of a simulation: how waits change, how they spread, and what happens over time.

use std::cmp::Reverse;

use jsf_simulate::{GroupStatistics, MeanChange, Period};

use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change::ComparedGroup;
use crate::commands::simulate::tables::period_table;
use crate::view::charts::plot::{Axis, Plot, StepLine};
use crate::view::charts::waits;
use crate::view::charts::waits::{FOREST_LEGEND, SPREAD_LEGEND, SPREAD_LEGEND_OF_ONE};
use crate::view::document::{Chart, ChartSvg, RowLimit, Section};

/// The most groups of a chart: those whose waits change most, or with most processor time.
const MAX_DRAWN: usize = 20;

/// The section with a chart of how the mean waits of all jobs and of some groups change.
pub(crate) fn with_forest<'a>(
    section: Section<'a>,
    what: &'a str,
    all: MeanChange,
    groups: &[ComparedGroup<'a>],
) -> Section<'a> {
    let of_groups =
        most_changed(groups).map(|group| (shown_name(&group.change.name), group.change.wait));
    let rows: Vec<_> = std::iter::once(("all jobs", all))
        .chain(of_groups)
        .collect();
    section.chart(move || Chart::new(waits::forest(what, &rows), &FOREST_LEGEND))
}

/// The section with a chart of the waits of half and of 95 % of the jobs under both formulas.
pub(crate) fn with_spreads_of_sides<'a>(
    section: Section<'a>,
    what: &'a str,
    groups: &[ComparedGroup<'a>],
) -> Section<'a> {
    let rows: Vec<_> = most_changed(groups)
        .map(|group| {
            (
                shown_name(&group.change.name),
                vec![group.sides.old.wait, group.sides.new.wait],
            )
        })
        .collect();
    section.chart(move || Chart {
        summary: "How long half, and 95 % of the jobs wait at most, as a chart",
        ..Chart::new(waits::spreads(what, &rows), &SPREAD_LEGEND)
    })
}

/// The groups, or of many those at both ends, where the waits change most.
fn most_changed<'g, 'a>(
    groups: &'g [ComparedGroup<'a>],
) -> impl Iterator<Item = &'g ComparedGroup<'a>> {
    let (first, last) = RowLimit::Ends(MAX_DRAWN).shown_ends(groups.len());
    groups[..first].iter().chain(&groups[last..])
}

/// The section with a chart of the waits of half and of 95 % of the jobs of the groups with most
/// processor time.
pub(crate) fn with_spreads<'a>(
    section: Section<'a>,
    what: &'a str,
    groups: Vec<&'a GroupStatistics>,
) -> Section<'a> {
    section.chart(move || {
        let order = by_processor_time(&groups).into_iter().take(MAX_DRAWN);
        let rows: Vec<_> = order
            .map(|group| (shown_name(&group.name), vec![group.wait]))
            .collect();
        Chart::new(waits::spreads(what, &rows), &SPREAD_LEGEND_OF_ONE)
    })
}

/// The groups, those with the most processor time first if there are many.
fn by_processor_time<'a>(groups: &[&'a GroupStatistics]) -> Vec<&'a GroupStatistics> {
    let mut order = groups.to_vec();
    if order.len() > MAX_DRAWN {
        order.sort_by_key(|group| Reverse(group.core_seconds));
    }
    order
}

/// A side of a chart: its class, its name, and its report.
pub(crate) type ChartSide<'a> = (&'static str, &'static str, SimulationReport<'a>);

/// How much of the machine is in use over time, and how many jobs wait.
pub(crate) fn over_time<'a>(sides: &[ChartSide<'a>]) -> Option<Section<'a>> {
    let periods = sides
        .iter()
        .flat_map(|(.., report)| &report.statistics.periods)
        .filter(|period| period.seconds > 0);
    let longest = periods.map(|period| period.mean_queue).reduce(f64::max)?;
    let legend: &[_] = if sides.len() == 1 {
        &[]
    } else {
        &SPREAD_LEGEND
    };
    let used = course(
        sides,
        "How many per cent of the processors are in use over time",
        "%",
        100.0,
        |period| period.utilisation * 100.0,
    );
    let queue = course(
        sides,
        "How many jobs wait over time",
        "jobs",
        longest,
        |period| period.mean_queue,
    );
    let [used, queue] = [used, queue].map(|chart| Chart::new(chart, legend));
    let section = Section::new("use of the machine and waiting jobs over time").on_page();
    let section = section
        .chart(move || used.clone())
        .chart(move || queue.clone());
    let names = [
        "The periods under the old formula as a table",
        "The periods under the new formula as a table",
    ];
    let names = if sides.len() == 1 {
        &["The periods as a table"][..]
    } else {
        &names
    };
    let tables = sides
        .iter()
        .zip(names)
        .map(|((.., report), name)| period_table(*report).folded(name));
    Some(tables.fold(section, Section::table))
}

/// A quantity of each period on each side, with its greatest value.
fn course(
    sides: &[ChartSide<'_>],
    name: &str,
    unit: &str,
    most: f64,
    value: fn(&Period) -> f64,
) -> ChartSvg {
    let periods = sides
        .iter()
        .flat_map(|(.., report)| &report.statistics.periods);
    let begin = periods
        .clone()
        .map(|period| period.start)
        .min()
        .unwrap_or(0);
    let end = periods
        .map(|period| period.start + period.seconds)
        .max()
        .unwrap_or(begin);
    let (x, second) = Axis::time(
        ((end - begin) as f64).max(1.0),
        "since the first submission",
    );
    let at = |time: i64| (time - begin) as f64 / second;
    let step = |period: &Period| {
        [
            at(period.start),
            at(period.start + period.seconds),
            value(period),
        ]
    };
    let lines = sides.iter().map(|(class, side, report)| StepLine {
        class: (*class).to_owned(),
        name: (*side).to_owned(),
        is_named: false,
        steps: report
            .statistics
            .periods
            .iter()
            .filter(|period| period.seconds > 0)
            .map(step)
            .collect(),
    });
    let y = Axis::whole([0.0, most.max(1.0)], unit);
    let lines = lines.collect();
    Plot { x, y, lines }.chart(name)
}

fn shown_name(name: &str) -> &str {
    if name.is_empty() { "–" } else { name }
}
