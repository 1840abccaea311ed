//! The charts of a simulation: how waits change, how they spread, and what happens over time.

use std::cmp::Reverse;

use jsf_simulate::{GroupStatistics, MeanChange, Period};

use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change::ComparedGroup;
use crate::commands::simulate::tables::period_table;
use crate::view::charts::waits;
use crate::view::charts::waits::{Course, FOREST_LEGEND, SPREAD_LEGEND, SPREAD_LEGEND_OF_ONE};
use crate::view::document::{Chart, RowLimit, Section};

/// The most groups of a chart: those whose waits change most, or with most processor time.
const MAX_DRAWN: usize = 20;

/// The section with a chart of how the mean waits of all jobs and of some groups change.
pub(crate) fn with_forest<'a>(
    section: Section<'a>,
    what: &'a str,
    all: MeanChange,
    groups: &[ComparedGroup<'a>],
) -> Section<'a> {
    let of_groups = most_changed(groups).map(|group| (shown_name(&group.change.name), group.change.wait));
    let rows: Vec<_> = std::iter::once(("all jobs", all)).chain(of_groups).collect();
    section.chart(move || Chart::new(waits::forest(what, &rows), &FOREST_LEGEND))
}

/// The section with a chart of the waits of half and of 95 % of the jobs under both formulas.
pub(crate) fn with_spreads_of_sides<'a>(
    section: Section<'a>,
    what: &'a str,
    groups: &[ComparedGroup<'a>],
) -> Section<'a> {
    let rows: Vec<_> = most_changed(groups)
        .map(|group| (shown_name(&group.change.name), vec![group.sides.old.wait, group.sides.new.wait]))
        .collect();
    section.chart(move || Chart {
        summary: "How long half, and 95 % of the jobs wait at most, as a chart",
        ..Chart::new(waits::spreads(what, &rows), &SPREAD_LEGEND)
    })
}

/// The groups, or of many those at both ends, where the waits change most.
fn most_changed<'g, 'a>(groups: &'g [ComparedGroup<'a>]) -> impl Iterator<Item = &'g ComparedGroup<'a>> {
    let (first, last) = RowLimit::Ends(MAX_DRAWN).shown(groups.len());
    groups[..first].iter().chain(&groups[last..])
}

/// The section with a chart of the waits of half and of 95 % of the jobs of the groups with most processor time.
pub(crate) fn with_spreads<'a>(section: Section<'a>, what: &'a str, groups: Vec<&'a GroupStatistics>) -> Section<'a> {
    section.chart(move || {
        let order = by_processor_time(&groups).into_iter().take(MAX_DRAWN);
        let rows: Vec<_> = order.map(|group| (shown_name(&group.name), vec![group.wait])).collect();
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
    let used = course(sides, |period| period.utilisation * 100.0);
    let queue = course(sides, |period| period.mean_queue);
    if used.iter().all(|(.., periods)| periods.is_empty()) {
        return None;
    }
    let legend: &[_] = if sides.len() == 1 { &[] } else { &SPREAD_LEGEND };
    let longest = queue.iter().flat_map(|(.., periods)| periods).map(|(.., jobs)| *jobs).fold(0.0, f64::max);
    let of_use = waits::course(&used, "%", 100.0, "How many per cent of the processors are in use over time");
    let of_queue = waits::course(&queue, "jobs", longest, "How many jobs wait over time");
    let [of_use, of_queue] = [of_use, of_queue].map(|svg| Chart::new(svg, legend));
    let section = Section::new("use of the machine and waiting jobs over time").on_page();
    let section = section.chart(move || of_use.clone()).chart(move || of_queue.clone());
    let names = ["The periods under the old formula as a table", "The periods under the new formula as a table"];
    let names = if sides.len() == 1 { &["The periods as a table"][..] } else { &names };
    let tables = sides.iter().zip(names).map(|((.., report), name)| period_table(*report).folded(name));
    Some(tables.fold(section, Section::table))
}

/// A quantity of each period on each side.
fn course(sides: &[ChartSide<'_>], value: fn(&Period) -> f64) -> Vec<Course> {
    let courses = sides.iter().map(|(class, name, report)| {
        let periods = report.statistics.periods.iter().filter(|period| period.seconds > 0);
        (*class, *name, periods.map(|period| (period.start, period.seconds, value(period))).collect())
    });
    courses.collect()
}

fn shown_name(name: &str) -> &str {
    if name.is_empty() { "–" } else { name }
}
