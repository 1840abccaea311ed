//! A simulated queue for people, under one formula or under two: the answer, the numbers of all jobs, and those of the classes
//! of jobs.

use std::borrow::Cow;
use std::cmp::Reverse;

use job_sort_formula::rank::OldNew;
use jsf_simulate::{
    Difference, Distribution, EntityUse, Fairness, GroupDifference, GroupStatistics, MeanChange, Period, Summary,
    Validation,
};

use crate::charts::waits::{self, Course, FOREST_LEGEND, SPREAD_LEGEND, SPREAD_LEGEND_OF_ONE};
use crate::document::{Cell, Chart, Column, Document, Fact, RowLimit, Section, Table};
use crate::simulated_change::SimulatedChangeReport;
use crate::simulation::{JobLine, SimulationReport};
use crate::words::{count, seconds, signed_seconds, waiting_time};

/// Text shows at most so many groups: those with the most processor time, or half as many that lose and that gain most.
const MAX_GROUPS: usize = 20;
/// The most groups of a chart: those whose waits change most, or with most processor time.
const MAX_DRAWN: usize = 20;
const OF_SPREADS: &str = "How long half, and 95 % of the jobs wait at most.";

/// The headings of the tables of classes of jobs, and of their first columns.
const CLASSES: [(&str, &str); 5] = [
    ("entities", "entity"),
    ("groups", "group"),
    ("queues", "queue"),
    ("sizes of the jobs", "processors"),
    ("run times of the jobs", "run time"),
];

/// The document of a simulation under one formula. `findings` are those about the formula, as they are drawn in a terminal.
pub fn simulation_document<'a>(report: SimulationReport<'a>, findings: &'a [String]) -> Document<'a> {
    let statistics = report.statistics;
    let mut sections = vec![Section::formulas(report.formula, report.formula)];
    sections.extend(Section::findings(findings));
    sections.push(Section::new("all jobs").table(summary_table(&[report])));
    sections.extend(over_time(&[("new", "", report)]));
    let classes = CLASSES.into_iter().zip(classes_of(report));
    let named = classes.filter(|(_, groups)| groups.iter().any(|group| !group.name.is_empty()));
    sections.extend(named.map(|((heading, column), groups)| {
        let table = group_table(column, groups).folded("The numbers as a table");
        with_spreads(Section::new(heading), column, groups).table(table)
    }));
    sections.extend(periods_section(&[report]));
    sections.extend(shares_section(&[report]));
    sections.push(longest_waits(report));
    let mut facts = Fact::list(report.rules.iter().cloned());
    facts.extend(report.fairness.map(|fairness| Fact::new("shares", fairness_words(fairness))));
    facts.extend(report.validation.map(validation_fact));
    Document {
        command: "jsf simulate",
        title: "Simulation of a queue".to_owned(),
        headline: sentence(&statistics.summary),
        facts,
        sections,
        read_on: "",
    }
}

/// The document of a simulation under two formulas. `findings` are those about the formulas, as they are drawn in a terminal.
pub fn simulated_change_document<'a>(report: SimulatedChangeReport<'a>, findings: &'a [String]) -> Document<'a> {
    let OldNew { old, new } = *report.sides;
    let difference = report.difference;
    let mut sections = vec![Section::formulas(old.formula, new.formula)];
    sections.extend(Section::findings(findings));
    sections.push(Section::new("all jobs").table(summary_table(&[old, new])));
    let classes =
        [&difference.entities, &difference.groups, &difference.queues, &difference.sizes, &difference.lengths];
    let mut note = interval_note(difference);
    let sides = classes_of(old).into_iter().zip(classes_of(new));
    for (((heading, column), groups), (old, new)) in CLASSES.into_iter().zip(classes).zip(sides) {
        if groups.iter().any(|group| !group.name.is_empty()) {
            let section = Section::new(heading).prose(std::mem::take(&mut note));
            let section = with_forest(section, column, difference.wait, groups);
            let section = section.table(difference_table(column, groups).folded("The differences as a table"));
            sections.push(section);
            sections.push(spreads_of_sides(column, groups, OldNew { old, new }));
        }
    }
    sections.extend(over_time(&[("old", "old formula", old), ("new", "new formula", new)]));
    sections.extend(periods_section(&[old, new]));
    sections.extend(shares_section(&[old, new]));
    sections.push(largest_changes(old, new));
    let mut facts = Fact::of_sides(OldNew { old: old.rules, new: new.rules });
    if let (Some(old), Some(new)) = (old.fairness, new.fairness) {
        let sides = [("old", old), ("new", new)];
        let lines = sides.map(|(side, fairness)| format!("{side}: {}", fairness_words(fairness)));
        facts.push(Fact::with_lines("shares", lines.into()));
    }
    Document {
        command: "jsf simulate",
        title: "Simulation of a queue under two formulas".to_owned(),
        headline: change_sentence(difference),
        facts,
        sections,
        read_on: "",
    }
}

/// The entities, groups, queues, sizes and run times of a side.
fn classes_of(report: SimulationReport<'_>) -> [&[GroupStatistics]; 5] {
    let statistics = report.statistics;
    [&statistics.entities, &statistics.groups, &statistics.queues, &statistics.sizes, &statistics.lengths]
}

/// The answer for one formula, in one sentence.
fn sentence(summary: &Summary) -> String {
    if summary.jobs == 0 {
        return "No job started.".to_owned();
    }
    format!(
        "{} in {}: {} {} on average, and {} {:.1} % of the machine.",
        count(summary.jobs, "job"),
        waiting_time(summary.makespan),
        if summary.jobs == 1 { "it waits" } else { "they wait" },
        seconds(summary.wait.mean),
        if summary.jobs == 1 { "holds" } else { "hold" },
        100.0 * summary.utilisation
    )
}

/// The answer for two formulas, in one sentence.
fn change_sentence(difference: &Difference) -> String {
    if difference.jobs == 0 {
        return "No job starts under both formulas.".to_owned();
    }
    let Difference { jobs, longer, shorter, wait, .. } = difference;
    let amount = seconds(wait.difference().abs());
    let mut sentence = match wait.difference() {
        0.0 => format!("{} wait as long under both formulas on average", count(*jobs, "job")),
        change => format!(
            "{} wait {amount} {} on average under the new formula{}",
            count(*jobs, "job"),
            if change > 0.0 { "longer" } else { "less" },
            if wait.is_significant() { "" } else { ", which may be chance" }
        ),
    };
    sentence += &format!(": {longer} longer, {shorter} less, {} alike", jobs - longer - shorter);
    let hurt = [(&difference.entities, "entities", "`", "`"), (&difference.sizes, "sizes of jobs", "", " processors")];
    let hurt = hurt.into_iter().filter_map(|(groups, what, before, after)| {
        let longer = groups.iter().filter(|group| group.wait.low > 0.0);
        let count = longer.clone().count();
        let most = longer.max_by(|one, other| one.wait.difference().total_cmp(&other.wait.difference()))?;
        let amount = seconds(most.wait.difference());
        Some(format!("{count} of {} {what}, most {before}{}{after} ({amount} more)", groups.len(), most.name))
    });
    let hurt: Vec<String> = hurt.collect();
    if !hurt.is_empty() {
        sentence += &format!(". More than chance would explain, it hurts {}", hurt.join(", and "));
    }
    sentence + "."
}

/// How close the use is to the shares, in words.
fn fairness_words(fairness: &Fairness) -> String {
    let jain = fairness.jain.map_or_else(String::new, |jain| format!("Jain's index {jain:.2} (1 is even), "));
    format!("{jain}{:.1} % of the processor time goes to others than promised (Hoover)", fairness.hoover * 100.0)
}

/// How far the waits are from those in the log.
fn validation_fact(validation: &Validation) -> Fact {
    let Validation { jobs, equal, recorded_mean, simulated_mean, median_error, p95_error, rank_correlation } =
        validation;
    let means = [*recorded_mean, *simulated_mean].map(seconds);
    let errors = [*median_error, *p95_error].map(seconds);
    let mut lines = vec![
        format!("{equal} of {} start at the recorded second", count(*jobs, "job")),
        format!("mean wait {} recorded, {} simulated", means[0], means[1]),
        format!("error of a wait: median {}, 95 % within {}", errors[0], errors[1]),
    ];
    lines.extend(rank_correlation.map(|tau| format!("rank correlation of the waits (tau-b) {tau:.2}")));
    Fact::with_lines("against the log", lines)
}

/// How far the waits under the old formula are from those in the log, in one sentence.
pub fn validation_sentence(validation: &Validation) -> String {
    let Validation { jobs, equal, recorded_mean, simulated_mean, rank_correlation, .. } = validation;
    if equal == jobs {
        return "under the old formula all jobs start at the recorded second".to_owned();
    }
    let means = [*recorded_mean, *simulated_mean].map(seconds);
    let tau = rank_correlation.map_or_else(String::new, |tau| format!(", rank correlation (tau-b) {tau:.2}"));
    format!(
        "under the old formula {equal} of {} start at the recorded second; mean wait {} recorded, {} simulated{tau} (--validate \
         tells more)",
        count(*jobs, "job"),
        means[0],
        means[1]
    )
}

fn shown_name(name: &str) -> &str {
    if name.is_empty() { "–" } else { name }
}

/// The groups, those with the most processor time first if there are many.
fn by_processor_time(groups: &[GroupStatistics]) -> Vec<&GroupStatistics> {
    let mut order: Vec<&GroupStatistics> = groups.iter().collect();
    if order.len() > MAX_GROUPS {
        order.sort_by_key(|group| Reverse(group.core_seconds));
    }
    order
}

/// How a quantity of all jobs is shown.
#[derive(Clone, Copy)]
enum Quantity {
    Time,
    Number,
    Percent,
}

impl Quantity {
    fn cell(self, value: f64) -> Cell<'static> {
        match self {
            Self::Time => Cell::Duration(value),
            Self::Number => Cell::Decimals(value, 1),
            Self::Percent => percent(Some(value)),
        }
    }

    /// A difference, with its sign.
    fn change(self, change: f64) -> Cell<'static> {
        match self {
            Self::Time => Cell::Longer(change, false),
            Self::Number => Cell::Written(format!("{change:+.1}"), Some(change)),
            Self::Percent => Cell::Written(format!("{:+.1} points", change * 100.0), Some(change)),
        }
    }
}

/// A part of a whole.
fn percent(part: Option<f64>) -> Cell<'static> {
    part.map_or(Cell::Missing, |part| Cell::Written(format!("{:.1} %", part * 100.0), Some(part)))
}

/// The numbers of all jobs, with a column for each side and the difference of two.
fn summary_table<'a>(sides: &[SimulationReport<'a>]) -> Table<'a> {
    type Value = fn(&Summary) -> f64;
    let quantities: [(&str, Quantity, Value); 8] = [
        ("mean wait", Quantity::Time, |summary| summary.wait.mean),
        ("median wait", Quantity::Time, |summary| summary.wait.median),
        ("95 % of the waits", Quantity::Time, |summary| summary.wait.p95),
        ("longest wait", Quantity::Time, |summary| summary.wait.max),
        ("mean bounded slowdown", Quantity::Number, |summary| summary.bounded_slowdown.mean),
        ("utilisation", Quantity::Percent, |summary| summary.utilisation),
        ("jobs in the queue", Quantity::Number, |summary| summary.mean_queue),
        ("first submission to last end", Quantity::Time, |summary| summary.makespan as f64),
    ];
    let of_summary = quantities.into_iter().map(|(name, quantity, value)| {
        let values: Vec<f64> = sides.iter().map(|side| value(&side.statistics.summary)).collect();
        let mut cells = vec![Cell::prose(name)];
        cells.extend(values.iter().map(|value| quantity.cell(*value)));
        if let [old, new] = values[..] {
            cells.push(quantity.change(new - old));
        }
        cells
    });
    let of_fairness = match sides {
        [SimulationReport { fairness: Some(old), .. }, SimulationReport { fairness: Some(new), .. }] => {
            fairness_rows(old, new)
        }
        _ => Vec::new(),
    };
    let headings: &[&str] = if sides.len() == 2 { &["old", "new", "difference"] } else { &["value"] };
    let columns = headings.iter().map(|heading| Column::number(*heading, 5));
    let columns = std::iter::once(Column::name("measure", 9)).chain(columns).collect();
    Table::from_rows(columns, of_summary.chain(of_fairness))
}

/// How close the use is to the shares on both sides.
fn fairness_rows(old: &Fairness, new: &Fairness) -> Vec<Vec<Cell<'static>>> {
    let mut rows = Vec::new();
    if let (Some(old), Some(new)) = (old.jain, new.jain) {
        let change = Cell::Written(format!("{:+.2}", new - old), Some(new - old));
        rows.push(vec![Cell::prose("Jain's index of shares"), Cell::Decimals(old, 2), Cell::Decimals(new, 2), change]);
    }
    let hoover = Quantity::Percent;
    rows.push(vec![
        Cell::prose("used by others (Hoover)"),
        hoover.cell(old.hoover),
        hoover.cell(new.hoover),
        hoover.change(new.hoover - old.hoover),
    ]);
    rows
}

/// The section with a chart of how the mean waits of all jobs and of some groups change.
fn with_forest<'a>(section: Section<'a>, what: &'a str, all: MeanChange, groups: &'a [GroupDifference]) -> Section<'a> {
    section.chart(move || {
        let of_groups = most_changed(groups).map(|group| (shown_name(&group.name), group.wait));
        let rows: Vec<_> = std::iter::once(("all jobs", all)).chain(of_groups).collect();
        Chart::new(waits::forest(what, &rows), &FOREST_LEGEND)
    })
}

/// The groups, or of many those at both ends, where the waits change most.
fn most_changed(groups: &[GroupDifference]) -> impl Iterator<Item = &GroupDifference> {
    let (first, last) = RowLimit::Ends(MAX_DRAWN).shown(groups.len());
    groups[..first].iter().chain(&groups[last..])
}

/// The waits of half and of 95 % of the jobs under both formulas.
fn spreads_of_sides<'a>(
    what: &'a str,
    groups: &'a [GroupDifference],
    sides: OldNew<&'a [GroupStatistics]>,
) -> Section<'a> {
    let rows: Vec<_> = most_changed(groups)
        .filter_map(|group| Some((shown_name(&group.name), [waits_of(sides.old, group)?, waits_of(sides.new, group)?])))
        .collect();
    let headings = ["half, old", "half, new", "95 %, old", "95 %, new"].map(|heading| Column::number(heading, 5));
    let columns = std::iter::once(Column::id(what, 9)).chain(headings).collect();
    let cells = rows.clone().into_iter().map(|(name, [old, new])| {
        let waits = [old.median, new.median, old.p95, new.p95].map(Cell::Duration);
        std::iter::once(Cell::text(name)).chain(waits).collect()
    });
    let table = Table::from_rows(columns, cells).folded("The waits as a table");
    let section = Section::new(format!("waits by {what}")).on_page();
    let section = section.prose(OF_SPREADS).chart(move || {
        let groups: Vec<_> = rows.iter().map(|(name, sides)| (*name, sides.to_vec())).collect();
        Chart::new(waits::spreads(what, &groups), &SPREAD_LEGEND)
    });
    section.table(table)
}

fn waits_of(groups: &[GroupStatistics], group: &GroupDifference) -> Option<Distribution> {
    groups.iter().find(|known| known.name == group.name).map(|known| known.wait)
}

/// The section with a chart of the waits of half and of 95 % of the jobs of the groups with most processor time.
fn with_spreads<'a>(section: Section<'a>, what: &'a str, groups: &'a [GroupStatistics]) -> Section<'a> {
    section.chart(move || {
        let order = by_processor_time(groups).into_iter().take(MAX_DRAWN);
        let rows: Vec<_> = order.map(|group| (shown_name(&group.name), vec![group.wait])).collect();
        Chart::new(waits::spreads(what, &rows), &SPREAD_LEGEND_OF_ONE)
    })
}

/// A side of a chart: its class, its name, and its report.
type ChartSide<'a> = (&'static str, &'static str, SimulationReport<'a>);

/// How much of the machine is in use over time, and how many jobs wait.
fn over_time<'a>(sides: &[ChartSide<'a>]) -> Option<Section<'a>> {
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

fn period_table(report: SimulationReport<'_>) -> Table<'_> {
    let headings = [
        "begins after",
        "lasts",
        "jobs submitted",
        "mean wait",
        "mean bounded slowdown",
        "utilisation",
        "waiting jobs",
    ];
    let first = report.first_submission();
    let rows = report.statistics.periods.iter().map(|period| {
        vec![
            Cell::Written(waiting_time(period.start - first), Some(period.start as f64)),
            Cell::Duration(period.seconds as f64),
            Cell::Count(period.submitted),
            period.mean_wait.map_or(Cell::Missing, Cell::Duration),
            Cell::decimals(period.mean_bounded_slowdown, 1),
            percent(Some(period.utilisation)),
            Cell::Decimals(period.mean_queue, 1),
        ]
    });
    let columns = headings.map(|heading| Column::number(heading, 5)).into();
    Table::from_rows(columns, rows)
}

/// How waits, the use of the machine and the queue change over time, in a few periods, with the sides beside each other.
fn periods_section<'a>(sides: &[SimulationReport<'a>]) -> Option<Section<'a>> {
    // the periods of both sides begin alike; only one side may last longer
    let longest = sides.iter().map(coarse_periods).max_by_key(|periods| periods.len())?;
    let mut lengths = sides.iter().map(|side| coarse_periods(side).first().map(|period| period.seconds));
    let length = lengths.next()?;
    if longest.len() < 2 || lengths.any(|other| other != length) {
        return None;
    }
    let first = sides[0].first_submission();
    let rows = longest.iter().enumerate().map(|(index, period)| {
        let begin = period.start - first;
        let of_sides = sides.iter().flat_map(|side| period_cells(coarse_periods(side).get(index)));
        let given = [Cell::Written(waiting_time(begin), Some(begin as f64)), Cell::Count(period.submitted)];
        given.into_iter().chain(of_sides).collect()
    });
    let mut columns = vec![Column::number("from", 9), Column::number("jobs submitted", 5)];
    for side in side_names(sides) {
        columns.push(Column::number(format!("{side}mean wait"), 8));
        columns.push(Column::number(format!("{side}utilisation"), 7));
        columns.push(Column::number(format!("{side}jobs waiting"), 6));
    }
    Some(Section::new("over time").in_text().table(Table::from_rows(columns, rows)))
}

fn coarse_periods<'r>(side: &'r SimulationReport<'_>) -> &'r [Period] {
    &side.statistics.coarse_periods
}

fn period_cells(period: Option<&Period>) -> [Cell<'static>; 3] {
    match period {
        Some(period) => [
            period.mean_wait.map_or(Cell::Missing, Cell::Duration),
            percent(Some(period.utilisation)),
            Cell::Decimals(period.mean_queue, 1),
        ],
        None => [Cell::Missing, Cell::Missing, Cell::Missing],
    }
}

/// The prefixes of the headings of each side; empty for a single side.
fn side_names(sides: &[SimulationReport<'_>]) -> &'static [&'static str] {
    if sides.len() == 2 { &["old ", "new "] } else { &[""] }
}

/// The numbers of the entities, groups, queues or classes under one formula.
fn group_table<'a>(column: &str, groups: &'a [GroupStatistics]) -> Table<'a> {
    let columns = vec![
        Column::id(column, 9),
        Column::number("jobs", 8),
        Column::number("core hours", 4),
        Column::number("mean wait", 7),
        Column::number("median", 6),
        Column::number("95 %", 5),
        Column::number("longest", 3),
        Column::number("mean bounded slowdown", 2),
    ];
    let order = by_processor_time(groups);
    let table = Table::new(columns, groups.len(), move |index| {
        let group = order[index];
        let [mean, median, p95, max] =
            [group.wait.mean, group.wait.median, group.wait.p95, group.wait.max].map(Cell::Duration);
        let slowdown = Cell::Decimals(group.mean_bounded_slowdown, 1);
        let hours = hours(group.core_seconds as f64);
        vec![name_cell(&group.name), Cell::Count(group.jobs), hours, mean, median, p95, max, slowdown]
    });
    table.limit(RowLimit::First(MAX_GROUPS))
}

fn name_cell(name: &str) -> Cell<'_> {
    Cell::text(Cow::Borrowed(name))
}

/// Core hours, from core seconds.
fn hours(core_seconds: f64) -> Cell<'static> {
    Cell::Written(format!("{:.1}", core_seconds / 3600.0), Some(core_seconds))
}

fn interval_note(difference: &Difference) -> String {
    format!(
        "The interval contains the difference with a confidence of 95 %: a bootstrap over {} of {}. A * marks those that do not \
         contain 0.",
        count(difference.blocks, "block"),
        waiting_time(difference.block_seconds)
    )
}

/// How the waits of the entities, groups, queues or classes change.
fn difference_table<'a>(column: &str, groups: &'a [GroupDifference]) -> Table<'a> {
    let columns = vec![
        Column::id(column, 9),
        Column::number("jobs", 4),
        Column::number("old mean wait", 6),
        Column::number("new mean wait", 6),
        Column::number("difference", 8).with_bar(),
        Column::number("interval", 7),
        Column::text("*", 7),
    ];
    let table = Table::new(columns, groups.len(), |index| {
        let GroupDifference { name, jobs, wait } = &groups[index];
        let interval = format!("{} to {}", signed_seconds(wait.low), signed_seconds(wait.high));
        vec![
            name_cell(name),
            Cell::Count(*jobs),
            Cell::Duration(wait.old),
            Cell::Duration(wait.new),
            Cell::Longer(wait.difference(), wait.is_significant()),
            Cell::Written(interval, None),
            Cell::prose(if wait.is_significant() { "*" } else { "" }),
        ]
    });
    table.limit(RowLimit::Ends(MAX_GROUPS))
}

/// The use of each entity against what its share promises; of many, those with the largest difference first.
fn shares_section<'a>(sides: &[SimulationReport<'a>]) -> Option<Section<'a>> {
    let first = sides.first()?.fairness?;
    let uses: Vec<&'a [EntityUse]> = sides.iter().filter_map(|side| Some(&*side.fairness?.entities)).collect();
    let mut order: Vec<usize> = (0..first.entities.len()).collect();
    if order.len() > MAX_GROUPS {
        order.sort_by(|&one, &other| misplaced(&uses, other).total_cmp(&misplaced(&uses, one)));
    }
    let mut columns = vec![Column::id("entity", 9), Column::number("share", 8)];
    for side in side_names(sides) {
        columns.push(Column::number(format!("{side}core hours promised"), 5));
        columns.push(Column::number(format!("{side}used"), 6));
        columns.push(Column::number(format!("{side}used of promised"), 7));
    }
    let rows = order.into_iter().map(|index| {
        let EntityUse { name, perc, .. } = &first.entities[index];
        let mut cells = vec![name_cell(name), percent(*perc)];
        for used in uses.iter().filter_map(|entities| entities.get(index)) {
            cells.extend([hours(used.promised), hours(used.used), percent(used.ratio())]);
        }
        cells
    });
    let table = Table::from_rows(columns, rows).limit(RowLimit::First(MAX_GROUPS));
    Some(Section::new("use against shares").prose(fairness_note(first)).table(table))
}

/// What the numbers about shares mean.
fn fairness_note(fairness: &Fairness) -> String {
    format!(
        "In each period of {}, the processor time that is used is promised to the entities in proportion to their shares, but to none \
         more than its jobs ask for. Jain's index is 1 if all use the same part of what they are promised, and 1/n if one of n uses \
         everything; the Hoover index is the part of the processor time that others use than those to whom it is promised.",
        waiting_time(fairness.block_seconds)
    )
}

/// The difference between what an entity uses and what it is promised, on the side where it is larger.
fn misplaced(uses: &[&[EntityUse]], index: usize) -> f64 {
    let of_entity = uses.iter().filter_map(|entities| entities.get(index));
    of_entity.map(|used| (used.used - used.promised).abs()).fold(0.0, f64::max)
}

/// The jobs that wait longest.
fn longest_waits(report: SimulationReport<'_>) -> Section<'_> {
    let mut order: Vec<JobLine<'_>> = report.jobs().map(|(_, job)| job).collect();
    order.sort_by_key(|job| Reverse(job.start - job.submit));
    let first = order.iter().map(|job| job.submit).min().unwrap_or(0);
    let columns = job_columns().into_iter().chain([Column::number("wait", 9)]).collect();
    let table = Table::new(columns, order.len(), move |index| {
        let job = &order[index];
        let wait = Cell::Duration((job.start - job.submit) as f64);
        job_cells(job, first).into_iter().chain([wait]).collect()
    });
    Section::new("jobs").on_page().prose("Those that wait longest first.").table(table)
}

/// The jobs whose waits change most.
fn largest_changes<'a>(old: SimulationReport<'a>, new: SimulationReport<'a>) -> Section<'a> {
    let both = old.jobs().filter_map(|(index, job)| Some((job, new.schedule.start(index)?)));
    let mut order: Vec<(JobLine<'a>, i64)> = both.collect();
    order.sort_by_key(|(job, new_start)| Reverse((new_start - job.start).abs()));
    let first = order.iter().map(|(job, _)| job.submit).min().unwrap_or(0);
    let changes = ["old wait", "new wait", "difference"].map(|heading| Column::number(heading, 9));
    let columns = job_columns().into_iter().chain(changes).collect();
    let table = Table::new(columns, order.len(), move |index| {
        let (job, new_start) = &order[index];
        let waits = [job.start - job.submit, new_start - job.submit].map(|wait| Cell::Duration(wait as f64));
        let change = Cell::Longer((new_start - job.start) as f64, true);
        job_cells(job, first).into_iter().chain(waits).chain([change]).collect()
    });
    Section::new("jobs").on_page().prose("Those whose waits change most first.").table(table)
}

fn job_columns() -> [Column; 5] {
    [
        Column::id("job", 9),
        Column::text("entity", 6),
        Column::text("queue", 3),
        Column::number("processors", 5),
        Column::number("submitted after", 5),
    ]
}

/// A job, and how long after the first one it was submitted.
fn job_cells<'a>(job: &JobLine<'a>, first: i64) -> [Cell<'a>; 5] {
    [
        Cell::text(job.id),
        Cell::text(job.entity),
        Cell::text(job.queue),
        Cell::Count(job.processors as usize),
        Cell::Written(waiting_time(job.submit - first), Some(job.submit as f64)),
    ]
}
