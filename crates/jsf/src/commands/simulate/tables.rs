//! The tables of a simulation: the numbers of all jobs, those of the classes of jobs, of the
//! periods, of use against shares, and of single jobs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use job_sort_formula::rank::OldNew;
use jsf_simulate::{
    ByKind, Difference, EntityUse, GroupStatistics, MeanChange, Period, Statistics, Summary,
};

use crate::commands::simulate::answer::{JobLine, SimulationReport};
use crate::commands::simulate::change_answer::{Compared, ComparedGroup};
use crate::commands::simulate::charts::{with_changes, with_course, with_spreads};
use crate::commands::simulate::effect_in_words::interval_in_words;
use crate::view::document::{Cell, Column, RowLimit, Section, Table, star, text_of};
use crate::view::words::{
    count, duration, grouped_count, grouped_number, percent, signed_rough_duration,
    signed_significant, significant, waiting_time,
};

/// The heading of a column of intervals.
const INTERVAL: &str = "new - old (95 %)";
/// Text shows at most so many groups: half as many that lose and that gain most.
const MAX_GROUPS: usize = 20;

/// How a quantity of all jobs is shown.
#[derive(Clone, Copy)]
enum Quantity {
    Time,
    Number,
    Percent,
}

use Quantity::{Number, Percent, Time};

/// A quantity of all jobs.
type Measure = (&'static str, Quantity, fn(&Summary) -> f64);

/// The measures of the first screen.
const FIRST: [Measure; 6] = [
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
];
const FURTHER: [Measure; 7] = [
    ("started within an hour", Number, |all| {
        all.started_within_hour as f64
    }),
    ("median wait", Time, |all| all.wait.median),
    ("95 % of the waits", Time, |all| all.wait.p95),
    ("mean bounded slowdown", Number, |all| {
        all.bounded_slowdown.mean
    }),
    ("utilisation", Percent, |all| all.utilisation),
    ("jobs in the queue", Number, |all| all.mean_queue),
    ("first submission to last end", Time, |all| {
        all.makespan as f64
    }),
];

impl Quantity {
    fn cell(self, value: f64) -> Cell<'static> {
        match self {
            Self::Time => Cell::Duration(value),
            Self::Number => Cell::significant(value),
            Self::Percent => Cell::Share(value),
        }
    }

    /// A difference, with its sign.
    fn change(self, change: f64) -> Cell<'static> {
        match self {
            Self::Time => Cell::Longer(change, false),
            Self::Number => Cell::Written(signed_significant(change), Some(change)),
            Self::Percent => Cell::Written(
                format!("{} points", signed_significant(change * 100.0)),
                Some(change),
            ),
        }
    }

    /// The end of an interval; there is none of a part.
    fn end(self) -> fn(f64) -> String {
        match self {
            Self::Time => signed_rough_duration,
            Self::Number | Self::Percent => signed_significant,
        }
    }

    /// A row: the name, a value for each side, and of two sides the difference and its interval.
    /// Where the sides start different jobs, no difference is one of the formulas.
    fn row(
        self,
        name: &'static str,
        values: &[Option<f64>],
        change: Option<&MeanChange>,
        is_compared: bool,
    ) -> Vec<Cell<'static>> {
        let mut cells = vec![name.into()];
        cells.extend(
            values
                .iter()
                .map(|value| value.map_or(Cell::Missing, |value| self.cell(value))),
        );
        match *values {
            [Some(old), Some(new)] if is_compared => {
                let shown = self.change(new - old);
                let mark = star(change.is_some_and(MeanChange::is_significant));
                cells.push(Cell::Written(text_of(&shown) + mark, shown.number()));
                cells.push(
                    change.map_or(Cell::prose(""), |change| interval_cell(change, self.end())),
                );
            }
            [_, _] => cells.extend([Cell::Missing, Cell::Missing]),
            _ => {}
        }
        cells
    }
}

/// A number of jobs, with the digits of a long one in groups as those of every other number.
fn count_cell(count: usize) -> Cell<'static> {
    Cell::Written(grouped_number(count), Some(count as f64))
}

/// The interval of a change.
fn interval_cell(change: &MeanChange, words: fn(f64) -> String) -> Cell<'static> {
    interval_in_words(change, words).into()
}

/// The numbers of all jobs, of which some are on the first screen.
pub(crate) fn all_jobs_sections<'a>(
    sides: &[&SimulationReport<'_>],
    difference: Option<&Difference>,
) -> [Section<'a>; 3] {
    let is_compared = difference.is_none_or(Difference::is_of_same_jobs);
    let started: Vec<usize> = sides
        .iter()
        .map(|side| side.statistics.summary.jobs)
        .collect();
    let heading = if is_compared {
        let jobs = started.iter().min().copied().unwrap_or(0);
        let stars = difference.filter(|difference| has_star(difference));
        let note = stars.map_or("", |_| " (* more than chance)");
        format!("all {}{note}", grouped_count(jobs, "job"))
    } else {
        let started: Vec<String> = started.iter().map(grouped_number).collect();
        format!("of the jobs that start ({})", started.join(" → "))
    };
    let table = |heading: &str, rows| Table::from_rows(columns(heading, sides.len()), rows);
    let first = || table(&heading, measure_rows(&FIRST, sides, difference));
    let mut further = measure_rows(&FURTHER, sides, difference);
    further.extend(fairness_rows(sides, is_compared));
    [
        Section::new("").in_text().table(first()),
        Section::new("all jobs").on_page().table(first()),
        Section::new("further numbers")
            .in_full()
            .prose(difference.map_or_else(String::new, interval_note))
            .table(table("all jobs", further)),
    ]
}

/// Whether a change on the first screen is more than chance.
fn has_star(difference: &Difference) -> bool {
    let sizes = difference.classes.sizes.iter().map(|group| &group.wait);
    sizes
        .chain([&difference.wait, &difference.wait_per_core_hour])
        .any(MeanChange::is_significant)
}

/// The columns of the numbers of all jobs under one formula or two.
fn columns(heading: &str, sides: usize) -> Vec<Column> {
    let mut columns = vec![Column::name(heading, 9)];
    if sides == 1 {
        columns.push(Column::number("value", 8));
    } else {
        columns.extend([
            Column::number("old", 8),
            Column::number("new", 8),
            Column::number("difference", 7),
            Column::number(INTERVAL, 2),
        ]);
    }
    columns
}

fn measure_rows(
    measures: &[Measure],
    sides: &[&SimulationReport<'_>],
    difference: Option<&Difference>,
) -> Vec<Vec<Cell<'static>>> {
    let is_compared = difference.is_none_or(Difference::is_of_same_jobs);
    let changes = difference.iter().flat_map(|difference| difference.means());
    let changes: BTreeMap<&str, &MeanChange> = changes.collect();
    let mut rows = Vec::with_capacity(measures.len());
    for (name, quantity, value) in measures {
        let summaries = sides.iter().map(|side| &side.statistics.summary);
        let values: Vec<Option<f64>> = summaries
            .map(|summary| summary.if_any(value(summary)))
            .collect();
        let change = changes.get(name).copied();
        rows.push(quantity.row(name, &values, change, is_compared));
    }
    rows
}

/// How close the use is to the shares.
fn fairness_rows(sides: &[&SimulationReport<'_>], is_compared: bool) -> Vec<Vec<Cell<'static>>> {
    let uses: Vec<_> = sides
        .iter()
        .filter_map(|side| side.fairness.as_ref())
        .collect();
    if uses.is_empty() {
        return Vec::new();
    }
    let jain: Vec<Option<f64>> = uses.iter().map(|uses| uses.jain).collect();
    let hoover: Vec<Option<f64>> = uses.iter().map(|uses| Some(uses.hoover)).collect();
    vec![
        Number.row("Jain's index of shares", &jain, None, is_compared),
        Percent.row("used by others (Hoover)", &hoover, None, is_compared),
    ]
}

/// The heading of the classes of sizes on a page; text has them on its first screen.
const SIZES: &str = "sizes of the jobs";
/// The heading of the classes of run times.
const LENGTHS: &str = "run times of the jobs";

/// The kinds of classes in the order in which they are shown, each with the headings of its section
/// and of the column of its names.
fn shown<T>(classes: ByKind<T>) -> [(&'static str, &'static str, T); 5] {
    [
        (SIZES, "processors", classes.sizes),
        ("entities", "entity", classes.entities),
        ("groups", "group", classes.groups),
        ("queues", "queue", classes.queues),
        (LENGTHS, "run time", classes.lengths),
    ]
}

/// The classes of jobs of a simulation under one formula.
pub(crate) fn class_sections<'a>(report: &'a SimulationReport<'a>) -> Vec<Section<'a>> {
    let Statistics {
        summary, classes, ..
    } = &report.statistics;
    if summary.jobs == 0 {
        return Vec::new();
    }
    let all = summary.core_seconds;
    let mut sections = Vec::new();
    for (heading, column, groups) in shown(classes.each_ref().into()) {
        let mut groups: Vec<&GroupStatistics> = groups.iter().collect();
        if ![SIZES, LENGTHS].contains(&heading) {
            // those that wait longest first
            groups.sort_by(|one, other| other.wait.mean.total_cmp(&one.wait.mean));
        }
        let table = || group_table(column, groups.clone(), all);
        let waits = groups.iter().map(|group| (&*group.name, group.wait));
        let names = groups.iter().map(|group| &*group.name);
        let section = with_spreads(Section::new(heading), column, waits);
        sections.extend(class_section(section, names, table));
    }
    sections
}

/// The section of some classes with their table; the sizes are on the first screen, and classes
/// without names are not shown.
fn class_section<'a, 'n>(
    section: Section<'a>,
    mut names: impl Iterator<Item = &'n str>,
    table: impl Fn() -> Table<'a>,
) -> Vec<Section<'a>> {
    if names.all(str::is_empty) {
        return Vec::new();
    }
    let is_of_sizes = section.heading == SIZES;
    let section = section.table(table().folded("The numbers as a table"));
    if is_of_sizes {
        return vec![Section::new("").in_text().table(table()), section.on_page()];
    }
    vec![section.in_full()]
}

/// The numbers of the entities, groups, queues or classes under one formula. `all` is the core
/// seconds of all jobs.
fn group_table<'a>(column: &str, groups: Vec<&'a GroupStatistics>, all: u128) -> Table<'a> {
    Table::of(groups)
        .id(column, 9, |group| &*group.name)
        .number("jobs", 7, |group| count_cell(group.jobs))
        .number("core hours", 6, move |group| {
            part_of_core_hours(group.core_seconds, all)
        })
        .number("mean wait", 8, |group| Cell::Duration(group.wait.mean))
        .number("median", 4, |group| Cell::Duration(group.wait.median))
        .number("p95", 8, |group| Cell::Duration(group.wait.p95))
        .number("within 1 h", 5, |group| Cell::Share(group.within_hour))
        .number("longest", 3, |group| Cell::Duration(group.wait.max))
        .number("mean bounded slowdown", 2, |group| {
            Cell::significant(group.mean_bounded_slowdown)
        })
        .limit(RowLimit::Ends(MAX_GROUPS))
}

/// The classes of jobs of a simulation under two formulas; those whose waits grow most first where
/// they have no order.
pub(crate) fn difference_sections(compared: &Compared) -> Vec<Section<'_>> {
    let all = compared.schedules.core_seconds;
    let mut sections = Vec::new();
    for (heading, column, groups) in shown(compared.classes.each_ref().into()) {
        let section = Section::new(heading);
        let section = with_changes(section, column, compared.schedules.wait, groups);
        let names = groups.iter().map(|group| &*group.change.name);
        sections.extend(class_section(section, names, || {
            difference_table(column, groups, all)
        }));
    }
    sections
}

fn interval_note(difference: &Difference) -> String {
    format!(
        "The interval contains the difference, new - old, with a confidence of 95 %, by how much it varies between {} of {} and \
         between users; there is none for fewer than 20 jobs or six blocks. A star (*) marks what is more than chance among the \
         means of all jobs, or among all classes, entities, groups and queues; jobs of fewer than six users have none.",
        count(difference.blocks, "block"),
        duration(difference.block_seconds as f64)
    )
}

/// How the waits of the entities, groups, queues or classes change. `all` is the core seconds of
/// all jobs.
fn difference_table<'a>(column: &str, groups: &'a [ComparedGroup], all: u128) -> Table<'a> {
    // the headline is about those with a star
    let starred = (0..groups.len())
        .filter(|&row| groups[row].change.wait.is_significant())
        .collect();
    Table::of(groups)
        .id(column, 9, |group| &*group.change.name)
        .number("jobs", 6, |group| count_cell(group.change.jobs))
        .number("core hours", 5, move |group| {
            part_of_core_hours(group.change.core_seconds, all)
        })
        .number("old wait", 8, |group| Cell::Duration(group.change.wait.old))
        .number("new wait", 8, |group| Cell::Duration(group.change.wait.new))
        .number("difference", 7, |group| {
            let wait = &group.change.wait;
            Cell::Starred(wait.difference(), wait.is_significant())
        })
        .with_bar()
        .number(INTERVAL, 3, |group| {
            interval_cell(&group.change.wait, signed_rough_duration)
        })
        .number("median", 1, |group| {
            old_to_new(group.median_wait.map(|wait| Cell::Duration(wait.0)))
        })
        .number("p95", 2, |group| {
            old_to_new(group.p95_wait.map(|wait| Cell::Duration(wait.0)))
        })
        .number("within 1 h", 4, |group| {
            old_to_new(group.within_hour.map(Cell::Share))
        })
        .limit(RowLimit::Ends(MAX_GROUPS))
        .keeping(starred)
}

/// The cells of both sides in one, sorted by the new one.
fn old_to_new(OldNew { old, new }: OldNew<Cell<'_>>) -> Cell<'static> {
    Cell::Written(
        format!("{} → {}", text_of(&old), text_of(&new)),
        new.number(),
    )
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

/// How waits, the use of the machine and the queue change over time, with the sides beside each
/// other.
pub(crate) fn periods_section<'a>(sides: &[&'a SimulationReport<'a>]) -> Section<'a> {
    let section = with_course(Section::new("over time").in_full(), sides);
    // the periods of both sides begin alike; only one side may last longer
    let all = sides.iter().map(|side| &*side.statistics.coarse_periods);
    let longest: &[Period] = all.max_by_key(|periods| periods.len()).unwrap_or(&[]);
    let length = |periods: &[Period]| periods.first().map(|period| period.seconds);
    let is_alike =
        |side: &&SimulationReport<'_>| length(&side.statistics.coarse_periods) == length(longest);
    if longest.len() < 2 || !sides.iter().all(is_alike) {
        return section;
    }
    let first = longest[0].start;
    let mut table = Table::of(longest.iter().enumerate())
        .number("from", 9, move |(_, period)| {
            time_after(period.start, first)
        })
        .number("jobs submitted", 5, |(_, period)| {
            count_cell(period.submitted)
        });
    for (side, name) in sides.iter().zip(side_names(sides.len())) {
        let period = |index: usize| side.statistics.coarse_periods.get(index);
        table = table
            .number(format!("{name}mean wait"), 8, move |(index, _)| {
                period(*index)
                    .and_then(|period| period.mean_wait)
                    .map(Cell::Duration)
            })
            .number(format!("{name}utilisation"), 7, move |(index, _)| {
                period(*index).map(|period| Cell::Share(period.utilisation))
            })
            .number(format!("{name}jobs waiting"), 6, move |(index, _)| {
                period(*index).map(|period| Cell::significant(period.mean_queue))
            });
    }
    section.table(table)
}

/// The prefixes of the headings of each side; empty for a single side.
fn side_names(sides: usize) -> &'static [&'static str] {
    if sides == 2 { &["old ", "new "] } else { &[""] }
}

/// How long after the first submission something is.
fn time_after(time: i64, first: i64) -> Cell<'static> {
    Cell::Written(waiting_time(time - first), Some(time as f64))
}

/// What each entity uses of what its share promises, those that are farthest from it first.
pub(crate) fn shares_section<'a>(sides: &[&'a SimulationReport<'a>]) -> Option<Section<'a>> {
    let uses: Vec<&'a [EntityUse]> = sides
        .iter()
        .filter_map(|side| Some(&*side.fairness.as_ref()?.entities))
        .collect();
    let first = *uses.first()?;
    let misplaced = |index: usize| {
        let of_entity = uses.iter().filter_map(|entities| entities.get(index));
        of_entity
            .map(|used| (used.used - used.promised).abs())
            .fold(0.0, f64::max)
    };
    let mut order: Vec<usize> = (0..first.len()).collect();
    order.sort_by(|&one, &other| misplaced(other).total_cmp(&misplaced(one)));
    let mut table = Table::of(order)
        .id("entity", 9, |&index| &*first[index].name)
        .number("share", 8, |&index| first[index].perc.map(Cell::Share));
    for (&entities, side) in uses.iter().zip(side_names(sides.len())) {
        table = table
            .number(format!("{side}core hours promised"), 5, |&index| {
                core_hours(entities[index].promised)
            })
            .number(format!("{side}used"), 6, |&index| {
                core_hours(entities[index].used)
            })
            .number(format!("{side}used of promised"), 7, |&index| {
                entities[index].ratio().map(Cell::Share)
            });
    }
    let table = table.limit(RowLimit::First(MAX_GROUPS));
    Some(
        Section::new("use against shares")
            .in_full()
            .prose(FAIRNESS)
            .table(table),
    )
}

/// What the numbers about shares mean.
const FAIRNESS: &str = "In each period, the processor time that is used is promised to the entities in proportion to their shares, but to none \
                        more than its jobs ask for; what is left over is promised to those without shares, in equal parts. The table \
                        has the sums over all periods, and Jain's index is of them: 1 if all use the same part of what they are promised. \
                        The Hoover index is the part of the processor time that, period by period, others use than those to whom it is \
                        promised.";

/// The jobs with their waits: those that wait longest first, of two formulas those whose waits
/// change most.
pub(crate) fn jobs_section<'a>(
    report: &'a SimulationReport<'a>,
    new: Option<&'a SimulationReport<'a>>,
) -> Section<'a> {
    let mut order: Vec<(JobLine<'a>, i64)> = Vec::new();
    for (index, job) in report.jobs.started() {
        let start = new.map_or(Some(job.start), |new| new.jobs.schedule.start(index));
        order.extend(start.map(|start| (job, start)));
    }
    order.sort_by_key(|(job, start)| {
        Reverse(match new {
            Some(_) => (start - job.start).abs(),
            None => start - job.submit,
        })
    });
    let first = report.jobs.workload.begin(0);
    let has_two = new.is_some();
    let table = Table::of(order)
        .id("job", 9, |(job, _)| job.id)
        .text("entity", 6, |(job, _)| job.entity)
        .text("queue", 3, |(job, _)| job.queue)
        .number("processors", 5, |(job, _)| job.processors as usize)
        .number("submitted after", 5, move |(job, _)| {
            time_after(job.submit, first)
        })
        .number("old wait", 9, |(job, _)| {
            Cell::Duration((job.start - job.submit) as f64)
        })
        .shown_if(has_two)
        .number(
            if has_two { "new wait" } else { "wait" },
            9,
            |(job, start)| Cell::Duration((start - job.submit) as f64),
        )
        .number("difference", 9, |(job, start)| {
            Cell::Longer((start - job.start) as f64, true)
        })
        .shown_if(has_two);
    Section::new("jobs")
        .on_page()
        .prose(if has_two {
            "Those whose waits change most first."
        } else {
            "Those that wait longest first."
        })
        .table(table)
}

/// The values with which jobs start: which value one of such a size and walltime needs.
pub(crate) fn start_values_section<'a>(
    heading: &str,
    report: &'a SimulationReport<'a>,
) -> Section<'a> {
    let table = Table::of(&report.statistics.values_at_start)
        .id("processors", 9, |class| &*class.size)
        .text("walltime", 8, |class| &*class.walltime)
        .number("jobs", 7, |class| class.jobs)
        .number("p10", 8, |class| Cell::significant(class.p10))
        .number("median", 9, |class| Cell::significant(class.median));
    Section::new(heading).in_full().table(table)
}
