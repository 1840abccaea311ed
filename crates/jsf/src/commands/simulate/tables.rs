//! The tables of a simulation: the numbers of all jobs, those of the classes of jobs, of the
//! periods, and use against shares.

use std::borrow::Cow;

use job_sort_formula::rank::OldNew;
use jsf_simulate::{
    Classes, Difference, EntityUse, Fairness, GroupStatistics, MeanChange, Period, Statistics,
    Summary,
};

use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change::{ComparedGroup, compared_groups};
use crate::commands::simulate::charts::{with_forest, with_spreads, with_spreads_of_sides};
use crate::view::document::{Cell, Column, RowLimit, Section, Table, star, text_of};
use crate::view::words::{
    count, duration, grouped_count, grouped_number, percent, signed_rough_duration,
    signed_significant, significant, waiting_time,
};

/// The heading of a column of intervals.
const INTERVAL: &str = "new - old (95 %)";
/// The headings of the wait of half of the jobs, of that of 95 %, and of the part of the jobs that
/// start within an hour.
const WAITS: [&str; 3] = ["median", "p95", "within 1 h"];
/// Text shows at most so many groups: half as many that lose and that gain most.
const MAX_GROUPS: usize = 20;

/// How a quantity of all jobs is shown.
#[derive(Clone, Copy)]
enum Quantity {
    Time,
    Number,
    Count,
    Percent,
}

/// A quantity of all jobs.
struct Measure {
    name: &'static str,
    quantity: Quantity,
    value: fn(&Summary) -> f64,
    /// A second number in the same cell.
    other: Option<fn(&Summary) -> f64>,
    /// Its change, where that has an interval.
    change: Option<fn(&Difference) -> &MeanChange>,
}

impl Measure {
    const fn new(name: &'static str, quantity: Quantity, value: fn(&Summary) -> f64) -> Self {
        Self {
            name,
            quantity,
            value,
            other: None,
            change: None,
        }
    }

    const fn with_interval(self, change: fn(&Difference) -> &MeanChange) -> Self {
        Self {
            change: Some(change),
            ..self
        }
    }
}

const MEAN_WAIT: Measure = Measure::new("mean wait", Quantity::Time, |summary| summary.wait.mean)
    .with_interval(|change| &change.wait);
const WAIT_OF_CORE_HOURS: Measure =
    Measure::new("mean wait per core hour", Quantity::Time, |summary| {
        summary.wait_per_core_hour
    })
    .with_interval(|change| &change.wait_per_core_hour);
const WITHIN_MINUTE: Measure =
    Measure::new("started within a minute", Quantity::Count, |summary| {
        summary.started_within_minute as f64
    });
const OVER_DAY: Measure = Measure::new("waited over 1 d", Quantity::Count, |summary| {
    summary.waited_over_day as f64
});
const OVER_WEEK: Measure = Measure::new("waited over 7 d", Quantity::Count, |summary| {
    summary.waited_over_week as f64
});
const OVER_DAYS: Measure = Measure {
    other: Some(|summary| summary.waited_over_week as f64),
    ..Measure::new("waited over 1 d / over 7 d", Quantity::Count, |summary| {
        summary.waited_over_day as f64
    })
};
const LONGEST: Measure = Measure::new("longest wait", Quantity::Time, |summary| summary.wait.max);
const FURTHER: [Measure; 7] = [
    Measure::new("started within an hour", Quantity::Count, |summary| {
        summary.started_within_hour as f64
    }),
    Measure::new("median wait", Quantity::Time, |summary| summary.wait.median),
    Measure::new("95 % of the waits", Quantity::Time, |summary| {
        summary.wait.p95
    }),
    Measure::new("mean bounded slowdown", Quantity::Number, |summary| {
        summary.bounded_slowdown.mean
    })
    .with_interval(|change| &change.bounded_slowdown),
    Measure::new("utilisation", Quantity::Percent, |summary| {
        summary.utilisation
    }),
    Measure::new("jobs in the queue", Quantity::Number, |summary| {
        summary.mean_queue
    }),
    Measure::new("first submission to last end", Quantity::Time, |summary| {
        summary.makespan as f64
    }),
];

impl Quantity {
    fn cell(self, value: f64) -> Cell<'static> {
        match self {
            Self::Time => Cell::Duration(value),
            Self::Number => Cell::significant(value),
            Self::Count => count_cell(value as usize),
            Self::Percent => percent_cell(Some(value)),
        }
    }

    /// A difference, with its sign.
    fn change(self, change: f64) -> Cell<'static> {
        match self {
            Self::Time => Cell::Longer(change, false),
            Self::Number | Self::Count => Cell::Written(signed_significant(change), Some(change)),
            Self::Percent => Cell::Written(
                format!("{} points", signed_significant(change * 100.0)),
                Some(change),
            ),
        }
    }

    /// The end of an interval.
    fn end(self, end: f64) -> String {
        match self {
            Self::Time => signed_rough_duration(end),
            Self::Number | Self::Count => signed_significant(end),
            Self::Percent => format!("{} points", signed_significant(end * 100.0)),
        }
    }
}

/// A number of jobs, with the digits of a long one in groups as those of every other number.
fn count_cell(count: usize) -> Cell<'static> {
    Cell::Written(grouped_number(count), Some(count as f64))
}

/// A part of a whole.
pub(crate) fn percent_cell(part: Option<f64>) -> Cell<'static> {
    part.map_or(Cell::Missing, |part| {
        Cell::Written(percent(part), Some(part))
    })
}

/// The numbers of all jobs: those of the first screen, the others in text, and all of them on a
/// page.
pub(crate) fn all_jobs_sections<'a>(
    sides: &[SimulationReport<'a>],
    difference: Option<&Difference>,
) -> Vec<Section<'a>> {
    let first = [
        MEAN_WAIT,
        WAIT_OF_CORE_HOURS,
        WITHIN_MINUTE,
        OVER_DAYS,
        LONGEST,
    ];
    let all = [
        MEAN_WAIT,
        WAIT_OF_CORE_HOURS,
        WITHIN_MINUTE,
        OVER_DAY,
        OVER_WEEK,
        LONGEST,
    ];
    let shares = || fairness_rows(sides);
    let further = all_jobs_table(&FURTHER, shares(), sides, difference);
    let on_page: Vec<Measure> = all.into_iter().chain(FURTHER).collect();
    vec![
        Section::new("")
            .in_text()
            .table(all_jobs_table(&first, Vec::new(), sides, difference)),
        Section::new("further numbers")
            .in_text()
            .in_full()
            .table(further),
        Section::new("all jobs").on_page().table(all_jobs_table(
            &on_page,
            shares(),
            sides,
            difference,
        )),
    ]
}

/// Measures of all jobs, and further rows.
fn all_jobs_table<'a>(
    measures: &[Measure],
    further: Vec<Vec<Cell<'static>>>,
    sides: &[SimulationReport<'_>],
    difference: Option<&Difference>,
) -> Table<'a> {
    // where the sides start different jobs, no difference is one of the formulas
    let is_compared = difference.is_none_or(Difference::is_of_same_jobs);
    let started: Vec<usize> = sides
        .iter()
        .map(|side| side.statistics.summary.jobs)
        .collect();
    let heading = match started.iter().min() {
        _ if !is_compared => {
            let started: Vec<String> = started.iter().map(grouped_number).collect();
            format!("of the jobs that start ({})", started.join(" → "))
        }
        Some(1) => "the one job".to_owned(),
        jobs => format!("all {}", grouped_count(jobs.copied().unwrap_or(0), "job")),
    };
    let changes = measures
        .iter()
        .filter_map(|measure| Some(measure.change?(difference?)));
    let has_star = is_compared && changes.into_iter().any(MeanChange::is_significant);
    let is_first = measures
        .first()
        .is_some_and(|measure| measure.name == MEAN_WAIT.name);
    let explains_star = has_star
        || is_compared
            && is_first
            && difference.is_some_and(|difference| has_star_of(&difference.sizes));
    let heading = if explains_star {
        format!("{heading} (* more than chance)")
    } else {
        heading
    };
    let mut columns = vec![Column::name(heading, 9)];
    match difference {
        None => columns.push(Column::number("value", 8)),
        Some(_) => columns.extend([
            Column::number("old", 8),
            Column::number("new", 8),
            Column::number("difference", 7),
            Column::number(INTERVAL, 2),
        ]),
    }
    let rows = measures
        .iter()
        .map(|measure| measure_row(measure, has_star, sides, difference));
    Table::from_rows(columns, rows.chain(further))
}

fn measure_row(
    measure: &Measure,
    has_star: bool,
    sides: &[SimulationReport<'_>],
    difference: Option<&Difference>,
) -> Vec<Cell<'static>> {
    let Measure {
        name,
        quantity,
        value,
        other,
        change,
    } = measure;
    let summaries: Vec<&Summary> = sides.iter().map(|side| &side.statistics.summary).collect();
    let mut cells = vec![Cell::prose(*name)];
    cells.extend(summaries.iter().map(|summary| match summary.jobs {
        0 => Cell::Missing,
        _ => pair(
            quantity.cell(value(summary)),
            other.map(|other| quantity.cell(other(summary))),
        ),
    }));
    if difference.is_some_and(|difference| !difference.is_of_same_jobs()) {
        cells.extend([Cell::Missing, Cell::Missing]);
    } else if let ([old, new], Some(difference)) = (&summaries[..], difference) {
        let change_of = |value: &fn(&Summary) -> f64| quantity.change(value(new) - value(old));
        let is_significant = change.is_some_and(|change| change(difference).is_significant());
        let shown = pair(change_of(value), other.as_ref().map(change_of));
        cells.push(if has_star {
            starred(&shown, is_significant)
        } else {
            shown
        });
        cells.push(match change {
            Some(change) => interval_cell(change(difference), |end| quantity.end(end)),
            None => Cell::prose(""),
        });
    }
    cells
}

/// A cell, or two in one.
fn pair(first: Cell<'static>, second: Option<Cell<'static>>) -> Cell<'static> {
    match second {
        Some(second) => Cell::Written(format!("{} / {}", text_of(&first), text_of(&second)), None),
        None => first,
    }
}

/// A cell of a column with stars.
fn starred(cell: &Cell<'_>, is_significant: bool) -> Cell<'static> {
    Cell::Written(text_of(cell) + star(is_significant), cell.number())
}

/// How close the use is to the shares on both sides.
fn fairness_rows(sides: &[SimulationReport<'_>]) -> Vec<Vec<Cell<'static>>> {
    let [
        SimulationReport {
            fairness: Some(old),
            ..
        },
        SimulationReport {
            fairness: Some(new),
            ..
        },
    ] = sides
    else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    if let (Some(old), Some(new)) = (old.jain, new.jain) {
        let change = Cell::Written(format!("{:+.2}", new - old), Some(new - old));
        let [before, after] = [old, new].map(|jain| Cell::Decimals(jain, 2));
        rows.push(vec![
            Cell::prose("Jain's index of shares"),
            before,
            after,
            change,
            Cell::prose(""),
        ]);
    }
    let hoover = Quantity::Percent;
    rows.push(vec![
        Cell::prose("used by others (Hoover)"),
        hoover.cell(old.hoover),
        hoover.cell(new.hoover),
        hoover.change(new.hoover - old.hoover),
        Cell::prose(""),
    ]);
    rows
}

/// Whether a change of some classes is more than chance.
fn has_star_of(classes: &Classes) -> bool {
    classes
        .groups
        .iter()
        .any(|group| group.wait.is_significant())
}

/// The interval of a change.
fn interval_cell(change: &MeanChange, words: impl Fn(f64) -> String) -> Cell<'static> {
    match change.interval() {
        Some([low, high]) => Cell::prose(format!("{} to {}", words(low), words(high))),
        None => Cell::Missing,
    }
}

/// The classes of jobs of a simulation under one formula.
pub(crate) fn class_sections(statistics: &Statistics) -> Vec<Section<'_>> {
    if statistics.sizes.is_empty() {
        return Vec::new();
    }
    let all = statistics.summary.core_seconds;
    let sizes = |column| group_table(column, &statistics.sizes, all);
    let mut sections = vec![
        Section::new("").in_text().table(sizes("processors")),
        with_spreads(
            Section::new("sizes of the jobs"),
            "processors",
            statistics.sizes.iter().collect(),
        )
        .table(sizes("processors").folded("The numbers as a table"))
        .on_page(),
    ];
    let classes = [
        ("entities", "entity", by_wait(&statistics.entities)),
        ("groups", "group", by_wait(&statistics.groups)),
        ("queues", "queue", by_wait(&statistics.queues)),
        (
            "run times of the jobs",
            "run time",
            statistics.lengths.iter().collect(),
        ),
    ];
    let named = classes
        .into_iter()
        .filter(|(.., groups)| groups.iter().any(|group| !group.name.is_empty()));
    for (heading, column, groups) in named {
        let table =
            group_table(column, groups.iter().copied(), all).folded("The numbers as a table");
        sections.push(
            with_spreads(Section::new(heading), column, groups)
                .table(table)
                .in_full(),
        );
    }
    sections
}

/// The groups, those that wait longest first.
fn by_wait(groups: &[GroupStatistics]) -> Vec<&GroupStatistics> {
    let mut order: Vec<&GroupStatistics> = groups.iter().collect();
    order.sort_by(|one, other| other.wait.mean.total_cmp(&one.wait.mean));
    order
}

/// The numbers of the entities, groups, queues or classes under one formula. `all` is the core
/// seconds of all jobs.
fn group_table<'a>(
    column: &str,
    groups: impl IntoIterator<Item = &'a GroupStatistics>,
    all: u128,
) -> Table<'a> {
    Table::of(groups)
        .column(Column::id(column, 9), |group| name_cell(&group.name))
        .column(Column::number("jobs", 7), |group| count_cell(group.jobs))
        .column(Column::number("core hours", 6), move |group| {
            part_of_core_hours(group.core_seconds, all)
        })
        .column(Column::number("mean wait", 8), |group| {
            Cell::Duration(group.wait.mean)
        })
        .column(Column::number(WAITS[0], 4), |group| {
            Cell::Duration(group.wait.median)
        })
        .column(Column::number(WAITS[1], 8), |group| {
            Cell::Duration(group.wait.p95)
        })
        .column(Column::number(WAITS[2], 5), |group| {
            percent_cell(Some(group.within_hour))
        })
        .column(Column::number("longest", 3), |group| {
            Cell::Duration(group.wait.max)
        })
        .column(Column::number("mean bounded slowdown", 2), |group| {
            Cell::significant(group.mean_bounded_slowdown)
        })
        .table()
        .limit(RowLimit::Ends(MAX_GROUPS))
}

/// The classes of jobs of a simulation under two formulas; those whose waits grow most first where
/// they have no order.
pub(crate) fn difference_sections<'a>(
    difference: &'a Difference,
    sides: OldNew<&'a Statistics>,
) -> Vec<Section<'a>> {
    let all = difference.core_seconds;
    let note = interval_note(difference);
    let mut sections = Vec::new();
    let classes = [
        (
            "sizes of the jobs",
            "processors",
            &difference.sizes,
            sides.map(|side| &*side.sizes),
        ),
        (
            "entities",
            "entity",
            &difference.entities,
            sides.map(|side| &*side.entities),
        ),
        (
            "groups",
            "group",
            &difference.groups,
            sides.map(|side| &*side.groups),
        ),
        (
            "queues",
            "queue",
            &difference.queues,
            sides.map(|side| &*side.queues),
        ),
        (
            "run times of the jobs",
            "run time",
            &difference.lengths,
            sides.map(|side| &*side.lengths),
        ),
    ];
    let named = classes
        .into_iter()
        .filter(|(_, _, classes, _)| classes.groups.iter().any(|group| !group.name.is_empty()));
    for (heading, column, classes, sides) in named {
        let groups = compared_groups(classes, sides);
        let mut section = Section::new(heading).in_full();
        // text has the sizes on its first screen
        if column == "processors" {
            // the headline is about those with a star
            let starred = (0..groups.len())
                .filter(|&row| groups[row].change.wait.is_significant())
                .collect();
            let table = difference_table(column, has_star_of(classes), groups.clone(), all)
                .keeping(starred);
            sections.push(Section::new("").in_text().table(table));
            sections.push(Section::new("").in_text().in_full().prose(note.clone()));
            section = section.on_page().prose(note.clone());
        }
        let section = with_forest(section, column, difference.wait, &groups);
        let section = with_spreads_of_sides(section, column, &groups);
        let table = difference_table(column, has_star_of(classes), groups, all)
            .folded("The numbers as a table");
        sections.push(section.table(table));
    }
    sections
}

fn interval_note(difference: &Difference) -> String {
    format!(
        "Waits are means; half of the jobs wait at most the median, and 95 % at most p95. The interval contains the difference, new - old, with a confidence of 95 %, by how much it varies between \
         {} of {} and between users. Fewer than 20 jobs, or jobs from fewer than six blocks, have none. A star marks what is more than chance among the \
         means of all jobs, or among all classes, entities, groups and queues; jobs of fewer than six users have none.",
        count(difference.blocks, "block"),
        duration(difference.block_seconds as f64)
    )
}

/// How the waits of the entities, groups, queues or classes change. `all` is the core seconds of
/// all jobs.
fn difference_table<'a>(
    column: &str,
    has_star: bool,
    groups: Vec<ComparedGroup<'a>>,
    all: u128,
) -> Table<'a> {
    let difference = move |wait: &MeanChange| {
        if has_star {
            Cell::Starred(wait.difference(), wait.is_significant())
        } else {
            Cell::Longer(wait.difference(), false)
        }
    };
    Table::of(groups)
        .column(Column::id(column, 9), |group| name_cell(&group.change.name))
        .column(Column::number("jobs", 6), |group| {
            count_cell(group.change.jobs)
        })
        .column(Column::number("core hours", 5), move |group| {
            part_of_core_hours(group.change.core_seconds, all)
        })
        .column(Column::number("old wait", 8), |group| {
            Cell::Duration(group.change.wait.old)
        })
        .column(Column::number("new wait", 8), |group| {
            Cell::Duration(group.change.wait.new)
        })
        .column(Column::number("difference", 7).with_bar(), move |group| {
            difference(&group.change.wait)
        })
        .column(Column::number(INTERVAL, 3), |group| {
            interval_cell(&group.change.wait, signed_rough_duration)
        })
        .column(Column::number(WAITS[0], 1), |group| {
            old_to_new(group.sides.map(|side| Cell::Duration(side.wait.median)))
        })
        .column(Column::number(WAITS[1], 2), |group| {
            old_to_new(group.sides.map(|side| Cell::Duration(side.wait.p95)))
        })
        .column(Column::number(WAITS[2], 4), |group| {
            old_to_new(group.sides.map(|side| percent_cell(Some(side.within_hour))))
        })
        .table()
        .limit(RowLimit::Ends(MAX_GROUPS))
}

/// The cells of both sides in one, sorted by the new one.
fn old_to_new(sides: OldNew<Cell<'_>>) -> Cell<'static> {
    let OldNew { old, new } = sides;
    Cell::Written(
        format!("{} → {}", text_of(&old), text_of(&new)),
        new.number(),
    )
}

fn name_cell(name: &str) -> Cell<'_> {
    Cell::text(Cow::Borrowed(name))
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

/// How long after the first submission something is.
pub(crate) fn time_after(time: i64, first: i64) -> Cell<'static> {
    Cell::Written(waiting_time(time - first), Some(time as f64))
}

pub(crate) fn period_table(report: SimulationReport<'_>) -> Table<'_> {
    let first = report.first_submission();
    let column = |heading| Column::number(heading, 5);
    Table::of(&report.statistics.periods)
        .column(column("begins after"), move |period| {
            time_after(period.start, first)
        })
        .column(column("lasts"), |period| {
            Cell::Duration(period.seconds as f64)
        })
        .column(column("jobs submitted"), |period| {
            count_cell(period.submitted)
        })
        .column(column("mean wait"), |period| {
            period.mean_wait.map_or(Cell::Missing, Cell::Duration)
        })
        .column(column("mean bounded slowdown"), |period| {
            period
                .mean_bounded_slowdown
                .map_or(Cell::Missing, Cell::significant)
        })
        .column(column("utilisation"), |period| {
            percent_cell(Some(period.utilisation))
        })
        .column(column("waiting jobs"), |period| {
            Cell::significant(period.mean_queue)
        })
        .table()
}

/// How waits, the use of the machine and the queue change over time, in a few periods, with the
/// sides beside each other.
pub(crate) fn periods_section<'a>(sides: &[SimulationReport<'a>]) -> Option<Section<'a>> {
    // the periods of both sides begin alike; only one side may last longer
    let longest = sides
        .iter()
        .map(coarse_periods)
        .max_by_key(|periods| periods.len())?;
    let mut lengths = sides
        .iter()
        .map(|side| coarse_periods(side).first().map(|period| period.seconds));
    let length = lengths.next()?;
    if longest.len() < 2 || lengths.any(|other| other != length) {
        return None;
    }
    let first = sides[0].first_submission();
    let mut table = Table::of(longest.iter().enumerate())
        .column(Column::number("from", 9), move |(_, period)| {
            time_after(period.start - first, 0)
        })
        .column(Column::number("jobs submitted", 5), |(_, period)| {
            count_cell(period.submitted)
        });
    for (side, name) in sides.iter().zip(side_names(sides)) {
        let periods: &'a [Period] = &side.statistics.coarse_periods;
        let cell = move |index: usize, cell: fn(&Period) -> Cell<'static>| {
            periods.get(index).map_or(Cell::Missing, cell)
        };
        table = table
            .column(
                Column::number(format!("{name}mean wait"), 8),
                move |(index, _)| {
                    cell(*index, |period| {
                        period.mean_wait.map_or(Cell::Missing, Cell::Duration)
                    })
                },
            )
            .column(
                Column::number(format!("{name}utilisation"), 7),
                move |(index, _)| cell(*index, |period| percent_cell(Some(period.utilisation))),
            )
            .column(
                Column::number(format!("{name}jobs waiting"), 6),
                move |(index, _)| cell(*index, |period| Cell::significant(period.mean_queue)),
            );
    }
    Some(Section::new("over time").in_text().table(table.table()))
}

fn coarse_periods<'a>(side: &SimulationReport<'a>) -> &'a [Period] {
    &side.statistics.coarse_periods
}

/// The prefixes of the headings of each side; empty for a single side.
fn side_names(sides: &[SimulationReport<'_>]) -> &'static [&'static str] {
    if sides.len() == 2 {
        &["old ", "new "]
    } else {
        &[""]
    }
}

/// What each entity uses of what its share promises; of many, those that are farthest from it
/// first.
pub(crate) fn shares_section<'a>(sides: &[SimulationReport<'a>]) -> Option<Section<'a>> {
    let first = sides.first()?.fairness?;
    let uses: Vec<&'a [EntityUse]> = sides
        .iter()
        .filter_map(|side| Some(&*side.fairness?.entities))
        .collect();
    let mut order: Vec<usize> = (0..first.entities.len()).collect();
    if order.len() > MAX_GROUPS {
        order.sort_by(|&one, &other| misplaced(&uses, other).total_cmp(&misplaced(&uses, one)));
    }
    let mut table = Table::of(order)
        .column(Column::id("entity", 9), |&index| {
            name_cell(&first.entities[index].name)
        })
        .column(Column::number("share", 8), |&index| {
            percent_cell(first.entities[index].perc)
        });
    for (&entities, side) in uses.iter().zip(side_names(sides)) {
        let cell = move |index: usize, cell: fn(&EntityUse) -> Cell<'static>| {
            entities.get(index).map_or(Cell::Missing, cell)
        };
        table = table
            .column(
                Column::number(format!("{side}core hours promised"), 5),
                move |&index| cell(index, |used| core_hours(used.promised)),
            )
            .column(Column::number(format!("{side}used"), 6), move |&index| {
                cell(index, |used| core_hours(used.used))
            })
            .column(
                Column::number(format!("{side}used of promised"), 7),
                move |&index| cell(index, |used| percent_cell(used.ratio())),
            );
    }
    let table = table.table().limit(RowLimit::First(MAX_GROUPS));
    Some(
        Section::new("use against shares")
            .prose(fairness_note(first))
            .table(table),
    )
}

/// How far an entity is from what it is promised, on the side where that is farther.
fn misplaced(uses: &[&[EntityUse]], index: usize) -> f64 {
    let of_entity = uses.iter().filter_map(|entities| entities.get(index));
    of_entity
        .map(|used| (used.used - used.promised).abs())
        .fold(0.0, f64::max)
}

/// What the numbers about shares mean.
fn fairness_note(fairness: &Fairness) -> String {
    format!(
        "In each period of {}, the processor time that is used is promised to the entities in proportion to their shares, but to none \
         more than its jobs ask for; what is left over is promised to those without shares, in equal parts. The table has the sums over all \
         periods, and Jain's index is of them: it is 1 if all use the same part of what they are promised, and 1/n if one of n uses everything. \
         The Hoover index is the part of the processor time that, period by period, others use than those to whom it is promised: what one \
         gets too much in one period and too little in the next counts in both there, and is even in the sums.",
        waiting_time(fairness.block_seconds)
    )
}
