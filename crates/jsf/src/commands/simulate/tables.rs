//! The tables of a simulation: the numbers of all jobs, those of the classes of jobs, of the
//! periods, of use against shares, and of single jobs.

use std::cmp::Reverse;

use job_sort_formula::rank::OldNew;
use jsf_simulate::{
    ByKind, Difference, EntityUse, GroupStatistics, MeanChange, Statistics, Summary,
};

use crate::commands::simulate::answer::{JobLine, SimulationReport};
use crate::commands::simulate::change_answer::{Compared, ComparedGroup};
use crate::commands::simulate::charts::{with_changes, with_course, with_spreads};
use crate::view::document::{Cell, Column, RowLimit, Section, Table, cells, star};
use crate::view::unit::Unit::{self, Number, Part, Time};
use crate::view::words::{count, duration, grouped_number, percent, significant, waiting_time};

/// The heading of a column of intervals.
const INTERVAL: &str = "new - old (95 %)";
/// Text shows at most so many groups: half as many that lose and that gain most.
const MAX_GROUPS: usize = 20;
/// Of which formula a table is that has room for one.
const UNDER_NEW: &str = "The table is that of the new formula.";
/// What opens a table below a chart of the same numbers.
const AS_TABLE: &str = "The numbers as a table";

/// A number of all jobs: its name, what it is of, and its value.
type Measure = (&'static str, Unit, fn(&Summary) -> f64);

/// The numbers of all jobs, those that the first screen has room for first.
const MEASURES: [Measure; 13] = [
    ("mean wait", Time, |all| all.wait.mean),
    ("mean wait per core hour", Time, |all| {
        all.wait_per_core_hour
    }),
    ("waited over 1 d", Number, |all| all.waited_over_day as f64),
    ("waited over 7 d", Number, |all| all.waited_over_week as f64),
    ("longest wait", Time, |all| all.wait.max),
    ("started within a minute", Number, |all| {
        all.started_within_minute as f64
    }),
    ("started within an hour", Number, |all| {
        all.started_within_hour as f64
    }),
    ("median wait", Time, |all| all.wait.median),
    ("95 % of the waits", Time, |all| all.wait.p95),
    ("mean bounded slowdown", Number, |all| {
        all.bounded_slowdown.mean
    }),
    ("utilisation", Part, |all| all.utilisation),
    ("jobs in the queue", Number, |all| all.mean_queue),
    ("first submission to last end", Time, |all| {
        all.makespan as f64
    }),
];

/// A row of the numbers of all jobs: the name, a value for each side, and of two sides the
/// difference and its interval. Where the sides start different jobs, no difference is one of the
/// formulas.
fn row(
    (name, unit): (&'static str, Unit),
    values: &[Option<f64>],
    difference: Option<&Difference>,
) -> Vec<Cell<'static>> {
    let mut cells = cells![name];
    for value in values {
        cells.push(
            value
                .map(|value| Cell::Written(unit.words(value), Some(value)))
                .into(),
        );
    }
    let Some(difference) = difference else {
        return cells;
    };
    match *values {
        [Some(old), Some(new)] if difference.is_of_same_jobs() => {
            // parts of the jobs have no interval
            let mut means = difference.means().into_iter();
            let change = means.find(|(mean, _)| *mean == name);
            let has_star = change.is_some_and(|(_, change)| change.is_significant());
            let text = unit.change(new - old) + star(has_star);
            cells.push(Cell::Written(text, Some(new - old)));
            cells.push(match change {
                Some((_, change)) => unit.interval(change).into(),
                None => Cell::prose(""),
            });
        }
        _ => cells.extend([Cell::Missing, Cell::Missing]),
    }
    cells
}

/// A number of jobs, with the digits of a long one in groups as those of every other number.
fn count_cell(count: usize) -> Cell<'static> {
    Cell::Written(grouped_number(count), Some(count as f64))
}

/// The numbers of all jobs, and how close the use is to the shares.
pub(crate) fn all_jobs_sections<'a>(
    sides: &[&SimulationReport<'_>],
    difference: Option<&Difference>,
) -> [Section<'a>; 2] {
    let mut started = Vec::new();
    let (mut jain, mut hoover) = (Vec::new(), Vec::new());
    for side in sides {
        started.push(grouped_number(side.summary().jobs));
        if let Some(fairness) = &side.results.fairness {
            jain.push(fairness.jain);
            hoover.push(Some(fairness.hoover));
        }
    }
    started.dedup();
    let mut heading = format!("all {} jobs", started.join(" → "));
    if difference.is_some_and(has_star) {
        heading += " (* more than chance)";
    }
    let mut columns = vec![
        Column::name(heading, 9),
        Column::number(if sides.len() == 1 { "value" } else { "old" }, 8),
        Column::number("new", 8),
        Column::number("difference", 7),
        Column::number(INTERVAL, 2),
    ];
    if sides.len() == 1 {
        columns.truncate(2);
    }
    let mut rows = Vec::new();
    for (name, unit, value) in MEASURES {
        let mut values = Vec::new();
        for side in sides {
            values.push(side.summary().if_any(value(side.summary())));
        }
        rows.push(row((name, unit), &values, difference));
    }
    if !hoover.is_empty() {
        rows.push(row(("Jain's index of shares", Number), &jain, difference));
        rows.push(row(("used by others (Hoover)", Part), &hoover, difference));
    }
    let table = Table::from_rows(columns, rows);
    [
        Section::new("").in_text().table(table.clone()),
        Section::new("all jobs").on_page().table(table),
    ]
}

/// Whether a change on the first screen is more than chance.
fn has_star(difference: &Difference) -> bool {
    let mut changes = vec![&difference.wait, &difference.wait_per_core_hour];
    for group in &difference.classes.sizes {
        changes.push(&group.wait);
    }
    difference.is_of_same_jobs() && changes.into_iter().any(MeanChange::is_significant)
}

/// The kinds of classes in the order in which they are shown, each with the headings of its section
/// and of the column of its names.
fn shown<T>(classes: ByKind<T>) -> [(&'static str, &'static str, T); 5] {
    [
        ("sizes of the jobs", SIZE, classes.sizes),
        ("entities", "entity", classes.entities),
        ("groups", "group", classes.groups),
        ("queues", "queue", classes.queues),
        ("run times of the jobs", LENGTH, classes.lengths),
    ]
}

/// The columns of the classes that have an order of their own.
const SIZE: &str = "processors";
const LENGTH: &str = "run time";

/// The classes of jobs of a simulation under one formula. Those without names are not shown.
pub(crate) fn class_sections<'a>(report: &'a SimulationReport<'a>) -> Vec<Section<'a>> {
    let Statistics {
        summary, classes, ..
    } = &report.results.statistics;
    let mut sections = Vec::new();
    for (heading, column, groups) in shown(classes.each_ref().into()) {
        if summary.jobs == 0 || groups.iter().all(|group| group.name.is_empty()) {
            continue;
        }
        let mut groups = Vec::from_iter(groups);
        if column != SIZE && column != LENGTH {
            // those that wait longest first
            groups.sort_by(|one, other| other.wait.mean.total_cmp(&one.wait.mean));
        }
        let section = Section::new(heading).in_full_if(column != SIZE);
        let section = with_spreads(section, column, &groups);
        sections.push(section.table(group_table(column, groups, summary.core_seconds)));
    }
    sections
}

/// The numbers of the entities, groups, queues or classes under one formula. `all` is the core
/// seconds of all jobs.
fn group_table<'a>(column: &str, groups: Vec<&'a GroupStatistics>, all: u128) -> Table<'a> {
    let columns = [
        Column::id(column, 9),
        Column::number("jobs", 7),
        Column::number("core hours", 6),
        Column::number("mean wait", 8),
        Column::number("median", 4),
        Column::number("p95", 8),
        Column::number("within 1 h", 5),
        Column::number("longest", 3),
        Column::number("mean bounded slowdown", 2),
    ];
    let table = Table::new(columns, groups.len(), move |index| {
        let group = groups[index];
        cells![
            &*group.name,
            count_cell(group.jobs),
            part_of_core_hours(group.core_seconds, all),
            Cell::Duration(group.wait.mean),
            Cell::Duration(group.wait.median),
            Cell::Duration(group.wait.p95),
            Cell::Share(group.within_hour),
            Cell::Duration(group.wait.max),
            Cell::significant(group.mean_bounded_slowdown),
        ]
    });
    table.limit(RowLimit::Ends(MAX_GROUPS)).folded(AS_TABLE)
}

/// The classes of jobs of a simulation under two formulas; those whose waits grow most first where
/// they have no order.
pub(crate) fn difference_sections(compared: &Compared) -> Vec<Section<'_>> {
    let all = &compared.schedules;
    let mut sections = Vec::new();
    for (heading, column, groups) in shown(compared.classes.each_ref().into()) {
        if groups.iter().all(|group| group.change.name.is_empty()) {
            continue;
        }
        let section = Section::new(heading).in_full_if(column != SIZE);
        let section = with_changes(section, column, all.wait, groups);
        sections.push(section.table(difference_table(column, groups, all.core_seconds)));
    }
    sections
}

/// What an interval and a star mean.
pub(crate) fn interval_note(difference: &Difference) -> String {
    format!(
        "The interval contains the difference, new - old, with a confidence of 95 %, by how much it varies between {} of {} and \
         between users. A star (*) marks what is more than chance. For fewer than 20 jobs or six blocks there is no interval, for \
         fewer than six users no star.",
        count(difference.blocks, "block"),
        duration(difference.block_seconds as f64)
    )
}

/// How the waits of the entities, groups, queues or classes change. `all` is the core seconds of
/// all jobs.
fn difference_table<'a>(column: &str, groups: &'a [ComparedGroup], all: u128) -> Table<'a> {
    let columns = [
        Column::id(column, 9),
        Column::number("jobs", 6),
        Column::number("core hours", 5),
        Column::number("old wait", 8),
        Column::number("new wait", 8),
        Column::number("difference", 7).with_bar(),
        Column::number(INTERVAL, 3),
        Column::number("median", 1),
        Column::number("p95", 2),
        Column::number("within 1 h", 4),
    ];
    // the headline is about those with a star
    let mut starred = Vec::from_iter(0..groups.len());
    starred.retain(|&index| groups[index].change.wait.is_significant());
    let table = Table::new(columns, groups.len(), move |index| {
        let group = &groups[index];
        let change = &group.change;
        let wait = &change.wait;
        cells![
            &*change.name,
            count_cell(change.jobs),
            part_of_core_hours(change.core_seconds, all),
            Cell::Duration(wait.old),
            Cell::Duration(wait.new),
            Cell::Longer(wait.difference(), wait.is_significant()),
            Time.interval(wait),
            old_to_new(Time, group.median_wait.map(|wait| wait.0)),
            old_to_new(Time, group.p95_wait.map(|wait| wait.0)),
            old_to_new(Part, group.within_hour),
        ]
    });
    let mut table = table.limit(RowLimit::Ends(MAX_GROUPS)).folded(AS_TABLE);
    table.kept = starred;
    table
}

/// The numbers of both sides in a cell, sorted by the new one.
fn old_to_new(unit: Unit, sides: OldNew<f64>) -> Cell<'static> {
    let OldNew { old, new } = sides.map(|side| unit.words(side));
    Cell::Written(format!("{old} → {new}"), Some(sides.new))
}

/// The part of all core hours, of core seconds.
fn part_of_core_hours(core_seconds: u128, all: u128) -> Cell<'static> {
    let part = core_seconds as f64 / all.max(1) as f64;
    Cell::Written(percent(part), Some(core_seconds as f64))
}

/// Core hours, from core seconds.
fn core_hours(core_seconds: f64) -> Cell<'static> {
    Cell::Written(significant(core_seconds / 3600.0), Some(core_seconds))
}

/// How waits, the use of the machine and the queue change over time: of all sides in the charts, of
/// the last one in the table.
pub(crate) fn periods_section<'a>(sides: &[&'a SimulationReport<'a>]) -> Section<'a> {
    let section = with_course(Section::new("over time").in_full(), sides);
    let Some(side) = sides.last() else {
        return section;
    };
    let periods = &side.results.statistics.coarse_periods;
    let Some(first) = periods.first().filter(|_| periods.len() > 1) else {
        return section;
    };
    let columns = [
        Column::number("from", 9),
        Column::number("jobs submitted", 5),
        Column::number("mean wait", 8),
        Column::number("utilisation", 7),
        Column::number("jobs waiting", 6),
    ];
    let mut rows = Vec::new();
    for period in periods {
        rows.push(cells![
            time_after(period.start, first.start),
            count_cell(period.submitted),
            period.mean_wait.map(Cell::Duration),
            Cell::Share(period.utilisation),
            Cell::significant(period.mean_queue),
        ]);
    }
    section
        .prose(if sides.len() == 2 { UNDER_NEW } else { "" })
        .table(Table::from_rows(columns, rows))
}

/// How long after the first submission something is.
fn time_after(time: i64, first: i64) -> Cell<'static> {
    Cell::Written(waiting_time(time - first), Some(time as f64))
}

/// What each entity uses of what its share promises, those that are farthest from it first, under
/// the last formula.
pub(crate) fn shares_section<'a>(sides: &[&'a SimulationReport<'a>]) -> Option<Section<'a>> {
    let mut entities = Vec::from_iter(&sides.last()?.results.fairness.as_ref()?.entities);
    entities.sort_by(|one, other| misplaced(other).total_cmp(&misplaced(one)));
    let columns = [
        Column::id("entity", 9),
        Column::number("share", 8),
        Column::number("core hours promised", 5),
        Column::number("used", 6),
        Column::number("used of promised", 7),
    ];
    let table = Table::new(columns, entities.len(), move |index| {
        let entity = entities[index];
        cells![
            &*entity.name,
            entity.perc.map(Cell::Share),
            core_hours(entity.promised),
            core_hours(entity.used),
            entity.ratio().map(Cell::Share),
        ]
    });
    Some(
        Section::new("use against shares")
            .in_full()
            .prose(FAIRNESS)
            .prose(if sides.len() == 2 { UNDER_NEW } else { "" })
            .table(table.limit(RowLimit::First(MAX_GROUPS))),
    )
}

/// How far an entity is from what is promised to it.
fn misplaced(entity: &EntityUse) -> f64 {
    (entity.used - entity.promised).abs()
}

/// What the numbers about shares mean.
const FAIRNESS: &str = "In each period, the processor time that is used is promised to the entities in proportion to their shares, but to none \
                        more than its jobs ask for. Jain's index is 1 if all use the same part of what they are promised; the Hoover \
                        index is the part that others use than those to whom it is promised.";

/// The jobs with their waits: those that wait longest first, of two formulas those whose waits
/// change most.
pub(crate) fn jobs_section<'a>(
    report: &'a SimulationReport<'a>,
    new: Option<&'a SimulationReport<'a>>,
) -> Section<'a> {
    let mut order: Vec<(JobLine<'a>, i64)> = Vec::new();
    for (index, job) in report.started() {
        match new {
            None => order.push((job, job.start)),
            Some(new) => order.extend(
                new.simulated
                    .schedule
                    .start(index)
                    .map(|start| (job, start)),
            ),
        }
    }
    order.sort_by_key(|(job, start)| {
        Reverse(match new {
            Some(_) => (start - job.start).abs(),
            None => start - job.submit,
        })
    });
    let first = report.workload.begin(0);
    let has_two = new.is_some();
    let (wait, what) = if has_two {
        ("new wait", "Those whose waits change most first.")
    } else {
        ("wait", "Those that wait longest first.")
    };
    let columns = [
        Column::id("job", 9),
        Column::text("entity", 6),
        Column::text("queue", 3),
        Column::number("processors", 5),
        Column::number("submitted after", 5),
        Column::number("old wait", 9).shown_if(has_two),
        Column::number(wait, 9),
        Column::number("difference", 9).shown_if(has_two),
    ];
    let table = Table::new(columns, order.len(), move |row| {
        let (job, start) = order[row];
        let change = (start - job.start) as f64;
        cells![
            job.id,
            job.entity,
            job.queue,
            job.processors as usize,
            time_after(job.submit, first),
            Cell::Duration((job.start - job.submit) as f64),
            Cell::Duration((start - job.submit) as f64),
            Cell::Written(Time.change(change), Some(change)),
        ]
    });
    Section::new("jobs").on_page().prose(what).table(table)
}

/// The values with which jobs start: which value one of such a size and walltime needs.
pub(crate) fn start_values_section<'a>(
    heading: &str,
    report: &'a SimulationReport<'a>,
) -> Section<'a> {
    let columns = [
        Column::id("processors", 9),
        Column::text("walltime", 8),
        Column::number("jobs", 7),
        Column::number("p10", 8),
        Column::number("median", 9),
    ];
    let mut rows = Vec::new();
    for class in &report.results.statistics.values_at_start {
        rows.push(cells![
            &*class.size,
            &*class.walltime,
            class.jobs,
            Cell::significant(class.p10),
            Cell::significant(class.median),
        ]);
    }
    let table = Table::from_rows(columns, rows);
    Section::new(heading).in_full().table(table)
}
