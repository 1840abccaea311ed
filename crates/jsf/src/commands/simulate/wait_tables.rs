//! The tables of a simulation: the numbers of all jobs, those of the classes of jobs, of the
//! periods, of use against shares, and of single jobs; and its charts, of
//! how waits change, how they spread, and what happens over time.

use std::cmp::Reverse;
use std::iter;

use job_sort_formula::rank::OldNew;
use jsf_simulate::{
    ByKind, Difference, Distribution, EntityUse, GroupStatistics, MeanChange, Period, Statistics,
    Whole,
};

use crate::commands::simulate::simulated_log::{Compared, ComparedGroup, SimulatedSide};
use crate::commands::simulate::view::interval_in_words;
use crate::commands::simulate::{JobLine, SimulationAnswer};
use crate::view::charts::{self, Axis, Plot, SIDES_LEGEND, StepLine};
use crate::view::document::terminal::text_of;
use crate::view::document::{Cell, Chart, Column, Legend, RowLimit, Section, Table, cells, star};
use crate::view::words::{
    grouped_number, percent, signed_duration, signed_points, signed_rough_duration,
    signed_significant, significant, waiting_time,
};

/// The heading of a column of intervals.
const INTERVAL: &str = "new - old (95 %)";
/// Text shows at most so many groups: half as many that lose and that gain most.
const MAX_GROUPS: usize = 20;

/// The number of quantities on the first screen.
const FIRST_QUANTITIES: usize = 5;

/// The quantities of all jobs, of which the first ones are those of the first screen, and how close
/// the use is to the shares.
fn quantities(side: &SimulatedSide) -> Vec<(&'static str, Cell<'static>)> {
    let all = &side.statistics.summary;
    let mut quantities = vec![
        ("mean wait", Cell::Duration(all.wait.mean)),
        (
            "mean wait per core hour",
            Cell::Duration(all.wait_per_core_hour),
        ),
        ("waited over 1 d", count_cell(all.waited_over_day)),
        ("waited over 7 d", count_cell(all.waited_over_week)),
        ("longest wait", Cell::Duration(all.wait.max)),
        (
            "started within a minute",
            count_cell(all.started_within_minute),
        ),
        (
            "started within an hour",
            count_cell(all.started_within_hour),
        ),
        ("median wait", Cell::Duration(all.wait.median)),
        ("95 % of the waits", Cell::Duration(all.wait.p95)),
        (
            "mean bounded slowdown",
            Cell::significant(all.bounded_slowdown.mean),
        ),
        ("utilisation", Cell::Share(all.utilisation)),
        ("jobs in the queue", Cell::significant(all.mean_queue)),
        (
            "first submission to last end",
            Cell::Duration(all.makespan as f64),
        ),
        ("jobs that start", count_cell(all.jobs)),
    ];
    // without a job there is no mean
    if all.jobs == 0 {
        for (_, value) in &mut quantities {
            *value = Cell::Missing;
        }
    }
    if let Some(fairness) = &side.statistics.fairness {
        quantities.extend([
            (
                "Jain's index of shares",
                fairness.jain.map(Cell::significant).into(),
            ),
            ("used by others (Hoover)", Cell::Share(fairness.hoover)),
        ]);
    }
    quantities
}

/// The difference of two values with its sign, and a star if it is more than chance; and its
/// interval, if it is one of means.
fn change_cells(old: &Cell<'_>, new: &Cell<'_>, mean: Option<&MeanChange>) -> [Cell<'static>; 2] {
    let [Some(before), Some(after)] = [old, new].map(Cell::number) else {
        return [Cell::Missing, Cell::Missing];
    };
    let [words, end]: [fn(f64) -> String; 2] = match new {
        Cell::Duration(_) => [signed_duration, signed_rough_duration],
        Cell::Share(_) => [signed_points; 2],
        _ => [signed_significant; 2],
    };
    let change = after - before;
    let has_star = mean.is_some_and(MeanChange::is_significant);
    let interval = match mean {
        Some(mean) => interval_cell(mean, end),
        None => Cell::prose(""),
    };
    [
        Cell::Written(words(change) + star(has_star), Some(change)),
        interval,
    ]
}

/// A number of jobs, with the digits of a long one in groups as those of every other number.
fn count_cell(count: usize) -> Cell<'static> {
    Cell::Written(grouped_number(count), Some(count as f64))
}

/// The interval of a change.
fn interval_cell(change: &MeanChange, words: fn(f64) -> String) -> Cell<'static> {
    interval_in_words(change, words).into()
}

/// The numbers of all jobs, of which the first ones are on the first screen.
pub(crate) fn all_jobs_section<'a>(
    sides: &[&SimulatedSide],
    difference: Option<&Difference>,
) -> Section<'a> {
    // a side on which jobs never start has shorter waits for it
    let is_compared = difference.is_none_or(Difference::is_of_same_jobs);
    let heading = if difference.is_some() && is_compared {
        "all jobs (* more than chance)"
    } else {
        "all jobs"
    };
    let mut columns = vec![Column::name(heading, 9)];
    if sides.len() == 1 {
        columns.push(Column::number("value", 8));
    } else {
        columns.extend([
            Column::number("old", 8),
            Column::number("new", 8),
            Column::number("difference", 7),
            Column::number(INTERVAL, 2),
        ]);
    }
    let of_sides: Vec<_> = sides.iter().map(|side| quantities(side)).collect();
    let mut rows = Vec::new();
    for (index, &(name, _)) in of_sides.iter().take(1).flatten().enumerate() {
        let mut cells = cells![name];
        for quantities in &of_sides {
            cells.push(quantities.get(index).map(|(_, value)| value.clone()).into());
        }
        if let [_, old, new] = &cells[..] {
            let mut means = difference.into_iter().flat_map(Difference::means);
            let mean = means
                .find(|(mean, _)| *mean == name)
                .map(|(_, change)| change);
            let changes = if is_compared {
                change_cells(old, new, mean)
            } else {
                // where the sides start different jobs, no difference is one of the formulas
                [Cell::Missing, Cell::Missing]
            };
            cells.extend(changes);
        }
        rows.push(cells);
    }
    let table = Table::from_rows(columns, rows);
    Section::new(heading).table(table.limit(RowLimit::First(FIRST_QUANTITIES)))
}

/// The heading of the classes of sizes, which are on the first screen.
const SIZES: &str = "processors";
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
pub(crate) fn class_sections(side: &SimulatedSide) -> Vec<Section<'_>> {
    let Statistics {
        summary, classes, ..
    } = &side.statistics;
    let mut sections = Vec::new();
    for (heading, column, groups) in shown(classes.each_ref().into()) {
        // classes without names are not shown
        if summary.jobs == 0 || groups.iter().all(|group| group.name.is_empty()) {
            continue;
        }
        let mut groups = Vec::from_iter(groups);
        if ![SIZES, LENGTHS].contains(&heading) {
            // those that wait longest first
            groups.sort_by(|one, other| other.wait.mean.total_cmp(&one.wait.mean));
        }
        let section = with_spreads(Section::new(heading), column, &groups);
        let table = group_table(column, groups, summary.core_seconds);
        sections.push(with_table(section, table));
    }
    sections
}

/// The section of some classes with their table; the sizes are on the first screen.
fn with_table<'a>(section: Section<'a>, table: Table<'a>) -> Section<'a> {
    let is_in_full = section.heading != SIZES;
    section
        .table(table.folded("The numbers as a table"))
        .in_full_if(is_in_full)
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
    let table = Table::new(columns, groups, move |group| {
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
    table.limit(RowLimit::Ends(MAX_GROUPS))
}

/// The classes of jobs of a simulation under two formulas; those whose waits grow most first where
/// they have no order.
pub(crate) fn difference_sections(compared: &Compared) -> Vec<Section<'_>> {
    let Difference {
        wait, core_seconds, ..
    } = compared.schedules;
    let mut sections = Vec::new();
    for (heading, column, groups) in shown(compared.classes.each_ref().into()) {
        // classes without names are not shown
        if groups.iter().all(|group| group.change.name.is_empty()) {
            continue;
        }
        let section = with_changes(Section::new(heading), column, wait, groups);
        let table = difference_table(column, groups, core_seconds);
        sections.push(with_table(section, table));
    }
    sections
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
    let mut starred = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        if group.change.wait.is_significant() {
            starred.push(index);
        }
    }
    let table = Table::new(columns, Vec::from_iter(groups), move |group| {
        let change = &group.change;
        let wait = &change.wait;
        cells![
            &*change.name,
            count_cell(change.jobs),
            part_of_core_hours(change.core_seconds, all),
            Cell::Duration(wait.old),
            Cell::Duration(wait.new),
            Cell::Longer(wait.difference(), wait.is_significant()),
            interval_cell(wait, signed_rough_duration),
            old_to_new_wait(group.median_wait),
            old_to_new_wait(group.p95_wait),
            old_to_new(group.within_hour.map(Cell::Share)),
        ]
    });
    // those whose waits grow most are first, and those whose waits fall most last
    let mut table = table.limit(RowLimit::Ends(MAX_GROUPS));
    table.kept = starred;
    table
}

fn old_to_new_wait(OldNew { old, new }: OldNew<Whole>) -> Cell<'static> {
    old_to_new(OldNew::new(old.0, new.0).map(Cell::Duration))
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
pub(crate) fn periods_section<'a>(sides: &[&SimulatedSide]) -> Section<'a> {
    let section = with_course(Section::new("over time").in_full(), sides);
    // the periods of both sides begin alike; only one side may last longer
    let mut longest: &[Period] = &[];
    let mut lengths = Vec::new();
    for side in sides {
        let periods = &side.statistics.coarse_periods;
        lengths.push(periods.first().map(|period| period.seconds));
        if periods.len() >= longest.len() {
            longest = periods;
        }
    }
    lengths.dedup();
    // periods of different lengths cannot be beside each other
    if longest.len() < 2 || lengths.len() > 1 {
        return section;
    }
    let mut columns = vec![
        Column::number("from", 9),
        Column::number("jobs submitted", 5),
    ];
    let headings = [("mean wait", 8), ("utilisation", 7), ("jobs waiting", 6)];
    columns.extend(side_columns(sides.len(), headings));
    let mut rows = Vec::new();
    for (index, period) in longest.iter().enumerate() {
        let mut cells = cells![
            time_after(period.start, longest[0].start),
            count_cell(period.submitted),
        ];
        for side in sides {
            match side.statistics.coarse_periods.get(index) {
                Some(period) => cells.extend(cells![
                    period.mean_wait.map(Cell::Duration),
                    Cell::Share(period.utilisation),
                    Cell::significant(period.mean_queue),
                ]),
                None => cells.extend([Cell::Missing, Cell::Missing, Cell::Missing]),
            }
        }
        rows.push(cells);
    }
    section.table(Table::from_rows(columns, rows))
}

/// The same columns of numbers for each side.
fn side_columns(sides: usize, headings: [(&str, u8); 3]) -> Vec<Column> {
    let names: &[&str] = if sides == 2 { &["old ", "new "] } else { &[""] };
    let mut columns = Vec::new();
    for name in names {
        for (heading, importance) in headings {
            columns.push(Column::number(format!("{name}{heading}"), importance));
        }
    }
    columns
}

/// How long after the first submission something is.
fn time_after(time: i64, first: i64) -> Cell<'static> {
    Cell::Written(waiting_time(time - first), Some(time as f64))
}

/// What each entity uses of what its share promises, those that are farthest from it first.
pub(crate) fn shares_section<'a>(sides: &[&'a SimulatedSide]) -> Option<Section<'a>> {
    let mut uses = Vec::new();
    for side in sides {
        if let Some(fairness) = &side.statistics.fairness {
            uses.push(&*fairness.entities);
        }
    }
    let first = *uses.first()?;
    let mut columns = vec![Column::id("entity", 9), Column::number("share", 8)];
    let headings = [
        ("core hours promised", 5),
        ("used", 6),
        ("used of promised", 7),
    ];
    columns.extend(side_columns(uses.len(), headings));
    let mut order: Vec<usize> = (0..first.len()).collect();
    order.sort_by(|&one, &other| misplaced(&uses, other).total_cmp(&misplaced(&uses, one)));
    let mut rows = Vec::new();
    for index in order {
        let entity = &first[index];
        let mut cells = cells![&*entity.name, entity.perc.map(Cell::Share)];
        for entities in &uses {
            let entity = &entities[index];
            cells.extend(cells![
                core_hours(entity.promised),
                core_hours(entity.used),
                entity.ratio().map(Cell::Share),
            ]);
        }
        rows.push(cells);
    }
    // by the distance in either direction, so that the last ones are those nearest to their shares
    let table = Table::from_rows(columns, rows).limit(RowLimit::First(MAX_GROUPS));
    Some(Section::new("use against shares").in_full().table(table))
}

/// How far an entity is from what is promised to it, on the side where that is farthest.
fn misplaced(uses: &[&[EntityUse]], index: usize) -> f64 {
    let mut farthest: f64 = 0.0;
    for entities in uses {
        if let Some(entity) = entities.get(index) {
            farthest = farthest.max((entity.used - entity.promised).abs());
        }
    }
    farthest
}

/// The jobs with their waits: those that wait longest first, of two formulas those whose waits
/// change most.
pub(crate) fn jobs_section<'a>(answer: &'a SimulationAnswer<'_>) -> Section<'a> {
    let has_two = answer.change.is_some();
    let mut order: Vec<(JobLine<'a>, i64)> = Vec::new();
    for (index, job) in answer.started(answer.first()) {
        let start = answer.new.simulated.schedule.start(index);
        order.extend(start.map(|start| (job, start)));
    }
    order.sort_by_key(|(job, start)| {
        let before = if has_two { job.start } else { job.submit };
        Reverse((start - before).abs())
    });
    let first = answer.log.workload.begin(0);
    let wait = if has_two { "new wait" } else { "wait" };
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
    let table = Table::new(columns, order, move |(job, start)| {
        cells![
            job.id,
            job.entity,
            job.queue,
            job.processors as usize,
            time_after(job.submit, first),
            Cell::Duration((job.start - job.submit) as f64),
            Cell::Duration((start - job.submit) as f64),
            Cell::Longer((start - job.start) as f64, false),
        ]
    });
    Section::new("jobs").on_page().table(table)
}

/// The values with which jobs start: which value one of such a size and walltime needs.
pub(crate) fn start_values_section(side: &SimulatedSide) -> Section<'_> {
    let columns = [
        Column::id("processors", 9),
        Column::text("walltime", 8),
        Column::number("jobs", 7),
        Column::number("p10", 8),
        Column::number("median", 9),
    ];
    let classes = Vec::from_iter(&side.statistics.values_at_start);
    let table = Table::new(columns, classes, |class| {
        cells![
            &*class.size,
            &*class.walltime,
            class.jobs,
            Cell::significant(class.p10),
            Cell::significant(class.median),
        ]
    });
    Section::new("values at the start").in_full().table(table)
}

/// The most groups of a chart.
const MAX_DRAWN: usize = 20;

/// The section with charts of how the waits of all jobs and of some groups change: the mean, and
/// the waits of half and of 95 % of the jobs.
fn with_changes<'a>(
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
        .chart(move || charts::forest(what, &changes))
        .chart(move || Chart {
            summary: "How long half, and 95 % of the jobs wait at most, as a chart",
            ..charts::spreads(what, &spreads)
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
fn with_spreads<'a>(
    section: Section<'a>,
    what: &'a str,
    groups: &[&'a GroupStatistics],
) -> Section<'a> {
    let mut rows = Vec::new();
    for group in groups.iter().take(MAX_DRAWN) {
        rows.push((shown_name(&group.name), vec![group.wait]));
    }
    section.chart(move || charts::spreads(what, &rows))
}

/// The section with charts of how much of the machine is in use over time, and how many jobs wait,
/// under one formula or under the old and the new one.
fn with_course<'a>(section: Section<'a>, sides: &[&SimulatedSide]) -> Section<'a> {
    // where nobody waits, the line is at 0, and not in the middle of a range of one value
    let mut longest: f64 = 1.0;
    let (mut begin, mut end) = (i64::MAX, i64::MIN);
    for side in sides {
        for period in &side.statistics.periods {
            longest = longest.max(period.mean_queue);
            begin = begin.min(period.start);
            end = end.max(period.start + period.seconds);
        }
    }
    // without a period, the end is before the beginning
    let (x, second) = Axis::time(
        (end.saturating_sub(begin) as f64).max(1.0),
        "since the first submission",
    );
    let (names, legend): (_, Legend) = if sides.len() == 1 {
        (&[("new", "")][..], &[])
    } else {
        (SIDES_LEGEND, SIDES_LEGEND)
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
        .chart(move || used.chart(used_name, legend))
        .chart(move || waiting.chart("How many jobs wait over time", legend))
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
