//! A simulated queue as a page, under one formula or under two.

use std::cmp::Reverse;
use std::io::{self, Write};

use job_sort_formula::rank::OldNew;
use jsf_simulate::{Difference, EntityUse, GroupDifference, GroupStatistics, Period, Summary};
use serde_json::Value;

use super::compare::{marked_formulas, shared_rules};
use super::wait_charts::{self, Course, WaitStrip};
use super::{Bar, Cell, Page, Section, Table, facts, findings_section, formula_section, grouped, sentence_pieces};
use crate::simulated_change::{self, SimulatedChangeReport};
use crate::simulation::{self, SimulationReport, fairness_note, fairness_words, validation_lines};
use crate::terminal::printable;
use crate::waiting_time;

/// The most groups of a chart: those whose waits change most, or with most processor time.
const MAX_STRIPS: usize = 20;
const OF_WAITS: &str = "A box holds the middle half of the waits, its mark is the median, its point the mean; the line ends where 95 % \
     of the jobs have started.";
const SIDES: [(&str, &str); 4] = [
    ("same", "old formula"),
    ("up", "new formula, shorter mean wait"),
    ("down", "new formula, longer mean wait"),
    (class(1.0, false), "pale: may be chance"),
];

/// The class of a change of a wait: the colour of a loss for a longer one, paler if that may be chance.
const fn class(change: f64, is_significant: bool) -> &'static str {
    match (change > 0.0, is_significant) {
        (true, true) => "down",
        (true, false) => "down density-2",
        (false, true) => "up",
        (false, false) => "up density-2",
    }
}

/// The headings of the tables of classes of jobs, and of their first columns.
const CLASSES: [(&str, &str); 5] = [
    ("Entities", "entity"),
    ("Groups", "group"),
    ("Queues", "queue"),
    ("Sizes of the jobs", "processors"),
    ("Run times of the jobs", "run time"),
];

/// A simulated queue as a page for a browser.
#[derive(Debug, Clone, Copy, Default)]
pub struct SimulationHtml<'a> {
    /// The command line, which the page shows.
    pub command: &'a str,
    /// The findings about the formulas, as they are drawn in a terminal.
    pub findings: &'a [String],
}

impl SimulationHtml<'_> {
    /// Writes the page of one formula.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, report: &SimulationReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let statistics = report.statistics;
        let mut sections = vec![formula_section(report.formula)];
        sections.extend(findings_section(self.findings));
        sections.push(Section::new("All jobs").table(summary_table(&[report])));
        for (heading, groups) in [("group", &statistics.groups), ("entity", &statistics.entities)] {
            let strips =
                |group: &'_ GroupStatistics| (shown_name(&group.name).to_owned(), vec![("up", "", group.wait)]);
            let mut order: Vec<&GroupStatistics> = groups.iter().collect();
            if order.len() > MAX_STRIPS {
                order.sort_by_key(|group| Reverse(group.core_seconds));
            }
            sections.extend(waits_section(heading, groups.len(), order.into_iter().map(strips), &[]));
        }
        sections.extend(over_time(&[("up", "", report)]));
        let classes =
            [&statistics.entities, &statistics.groups, &statistics.queues, &statistics.sizes, &statistics.lengths];
        for ((heading, column), groups) in CLASSES.into_iter().zip(classes) {
            if groups.iter().any(|group| !group.name.is_empty()) {
                sections.push(Section::new(heading).table(group_table(column, groups)));
            }
        }
        sections.extend(shares_section(&[report]));
        sections.push(jobs(report));
        let mut rules: Vec<(&str, String)> = report.rules.to_vec();
        rules.extend(report.fairness.map(|fairness| ("shares", fairness_words(fairness))));
        rules.extend(report.validation.iter().flat_map(|validation| validation_lines(validation)));
        self.page("Simulation of a queue", &simulation::sentence(&statistics.summary), &rules, sections).write(out)
    }

    /// Writes the page of two formulas.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_change(&self, report: &SimulatedChangeReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let OldNew { old, new } = report.sides;
        let difference = report.difference;
        let mut sections = vec![marked_formulas(OldNew { old: old.formula, new: new.formula })];
        sections.extend(findings_section(self.findings));
        sections.push(Section::new("All jobs").table(summary_table(&[old, new])));
        for (heading, groups, sides) in [
            ("group", &difference.groups, [&old.statistics.groups, &new.statistics.groups]),
            ("entity", &difference.entities, [&old.statistics.entities, &new.statistics.entities]),
        ] {
            let mut order: Vec<&GroupDifference> = groups.iter().collect();
            if order.len() > MAX_STRIPS {
                order.sort_by(|one, other| {
                    let change = |group: &GroupDifference| group.wait.difference().abs();
                    change(other).total_cmp(&change(one))
                });
            }
            sections.extend(waits_section(
                heading,
                groups.len(),
                order.into_iter().map(|group| strips(group, sides)),
                &SIDES,
            ));
        }
        sections.extend(over_time(&[("same", "old formula", old), ("up", "new formula", new)]));
        let classes =
            [&difference.entities, &difference.groups, &difference.queues, &difference.sizes, &difference.lengths];
        let mut note = interval_note(difference);
        for ((heading, column), groups) in CLASSES.into_iter().zip(classes) {
            if groups.iter().any(|group| !group.name.is_empty()) {
                let section = Section::new(heading).note(std::mem::take(&mut note));
                sections.push(section.table(difference_table(column, groups)));
            }
        }
        sections.extend(shares_section(&[old, new]));
        sections.push(changed_jobs(old, new));
        let mut rules = shared_rules(OldNew { old: old.rules, new: new.rules });
        if let (Some(old), Some(new)) = (old.fairness, new.fairness) {
            rules.push(("shares", format!("old: {}", fairness_words(old))));
            rules.push(("shares", format!("new: {}", fairness_words(new))));
        }
        let title = "Simulation of a queue under two formulas";
        self.page(title, &simulated_change::sentence(difference), &rules, sections).write(out)
    }

    fn page(&self, title: &str, headline: &str, rules: &[(&str, String)], sections: Vec<Section>) -> Page {
        Page {
            kind: "jsf simulate",
            title: title.to_owned(),
            headline: sentence_pieces(headline),
            facts: facts(rules),
            command: printable(self.command).into_owned(),
            sections,
        }
    }
}

fn shown_name(name: &str) -> &str {
    if name.is_empty() { "–" } else { name }
}

/// How a quantity of all jobs is shown.
#[derive(Clone, Copy)]
enum Quantity {
    Time,
    Number,
    Percent,
}

impl Quantity {
    fn cell(self, value: f64) -> Cell {
        match self {
            Self::Time => Cell::time(value),
            Self::Number => Cell::decimals(Some(value), 1),
            Self::Percent => Cell::percent(Some(value)),
        }
    }

    /// A difference, with its sign.
    fn change(self, change: f64) -> Cell {
        let amount = match self {
            Self::Time => return Cell::longer(change, false),
            Self::Number => self.cell(change.abs()).text,
            Self::Percent => format!("{:.1} points", change.abs() * 100.0),
        };
        let sign = if change > 0.0 {
            "+"
        } else if change < 0.0 {
            "−"
        } else {
            ""
        };
        Cell::number(format!("{sign}{amount}"), change)
    }
}

/// The numbers of all jobs, with a column for each side and the difference of two.
fn summary_table(sides: &[&SimulationReport<'_>]) -> Table {
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
    let headings: &[&str] =
        if sides.len() == 2 { &["measure", "#old", "#new", "#difference"] } else { &["measure", "#value"] };
    let row = |(name, quantity, value): (&str, Quantity, Value)| {
        let values: Vec<f64> = sides.iter().map(|side| value(&side.statistics.summary)).collect();
        let mut cells = vec![Cell::prose(name)];
        cells.extend(values.iter().map(|value| quantity.cell(*value)));
        if let [old, new] = values[..] {
            cells.push(quantity.change(new - old));
        }
        cells
    };
    Table::new(headings, quantities.into_iter().map(row))
}

/// The distributions of the waits of some groups; no section for fewer than two.
fn waits_section(
    what: &str,
    count: usize,
    groups: impl Iterator<Item = (String, Vec<WaitStrip>)>,
    legend: &[(&'static str, &str)],
) -> Option<Section> {
    let groups: Vec<(String, Vec<WaitStrip>)> = groups.take(MAX_STRIPS).collect();
    if groups.len() < 2 {
        return None;
    }
    let borrowed: Vec<(&str, Vec<WaitStrip>)> = groups.iter().map(|(name, strips)| (&**name, strips.clone())).collect();
    let omitted = match count - groups.len() {
        0 => String::new(),
        more if legend.is_empty() => format!(" {more} with less processor time are not drawn."),
        more => format!(" {more} whose waits change less are not drawn."),
    };
    let section = Section::new(format!("Waits by {what}")).note(format!("{OF_WAITS}{omitted}"));
    Some(section.chart(wait_charts::waits(&borrowed), legend))
}

/// The waits of a group under both formulas.
fn strips(group: &GroupDifference, sides: [&Vec<GroupStatistics>; 2]) -> (String, Vec<WaitStrip>) {
    let find =
        |groups: &[GroupStatistics]| groups.iter().find(|known| known.name == group.name).map(|known| known.wait);
    let class = class(group.wait.difference(), group.wait.is_significant());
    let [old, new] = sides.map(|side| find(side));
    let strips = [old.map(|waits| ("same", "old: ", waits)), new.map(|waits| (class, "new: ", waits))];
    (shown_name(&group.name).to_owned(), strips.into_iter().flatten().collect())
}

/// How much of the machine is in use over time, and how many jobs wait.
fn over_time(sides: &[(&'static str, &'static str, &SimulationReport<'_>)]) -> Vec<Section> {
    let course = |value: fn(&Period) -> f64| -> Vec<Course> {
        let of_side = |(class, name, report): &(&'static str, &'static str, &SimulationReport<'_>)| {
            let periods = report.statistics.periods.iter().filter(|period| period.seconds > 0);
            (*class, *name, periods.map(|period| (period.start, period.seconds, value(period))).collect())
        };
        sides.iter().map(of_side).collect()
    };
    let (used, queue) = (course(|period| period.utilisation * 100.0), course(|period| period.mean_queue));
    if used.iter().all(|(.., periods)| periods.is_empty()) {
        return Vec::new();
    }
    let legend: Vec<(&'static str, &str)> = match sides {
        [_] => Vec::new(),
        _ => sides.iter().map(|(class, name, _)| (*class, *name)).collect(),
    };
    let longest = queue.iter().flat_map(|(.., periods)| periods).map(|(.., jobs)| *jobs).fold(0.0, f64::max);
    let tables = sides.iter().map(|(_, name, report)| {
        let heading = if name.is_empty() { "Periods".to_owned() } else { format!("Periods, {name}") };
        Section { summary: "The periods as a table".to_owned(), ..Section::new(heading) }.table(period_table(report))
    });
    let charts = [
        Section::new("Use of the machine over time").chart(
            wait_charts::course(&used, "%", 100.0, "How many per cent of the processors are in use over time"),
            &legend,
        ),
        Section::new("Waiting jobs over time")
            .chart(wait_charts::course(&queue, "jobs", longest, "How many jobs wait over time"), &legend),
    ];
    charts.into_iter().chain(tables).collect()
}

fn period_table(report: &SimulationReport<'_>) -> Table {
    let headings = [
        "#begins after",
        "#lasts",
        "#jobs submitted",
        "#mean wait",
        "#mean bounded slowdown",
        "#utilisation",
        "#waiting jobs",
    ];
    let first = report.first_submission();
    let row = |period: &Period| {
        vec![
            Cell::number(waiting_time(period.start - first), period.start),
            Cell::time(period.seconds as f64),
            Cell::count(Some(period.submitted)),
            period.mean_wait.map_or_else(|| Cell::number("–", Value::Null), Cell::time),
            Cell::decimals(period.mean_bounded_slowdown, 1),
            Cell::percent(Some(period.utilisation)),
            Cell::decimals(Some(period.mean_queue), 1),
        ]
    };
    Table::new(&headings, report.statistics.periods.iter().map(row))
}

/// The numbers of the entities, groups, queues or classes under one formula.
fn group_table(column: &str, groups: &[GroupStatistics]) -> Table {
    let headings =
        [column, "#jobs", "#core hours", "#mean wait", "#median", "#95 %", "#longest", "#mean bounded slowdown"];
    let row = |group: &GroupStatistics| {
        let seconds = group.core_seconds as f64;
        vec![
            Cell::text(&group.name),
            Cell::count(Some(group.jobs)),
            Cell::number(grouped(&format!("{:.1}", seconds / 3600.0)), seconds),
            Cell::time(group.wait.mean),
            Cell::time(group.wait.median),
            Cell::time(group.wait.p95),
            Cell::time(group.wait.max),
            Cell::decimals(Some(group.mean_bounded_slowdown), 1),
        ]
    };
    Table::new(&headings, groups.iter().map(row))
}

fn interval_note(difference: &Difference) -> String {
    format!(
        "The interval contains the difference with a confidence of 95 %: a bootstrap over {} blocks of {}. A difference whose \
         interval contains 0 may be chance.",
        difference.blocks,
        waiting_time(difference.block_seconds)
    )
}

/// How the waits of the entities, groups, queues or classes change.
fn difference_table(column: &str, groups: &[GroupDifference]) -> Table {
    let headings = [
        column,
        "#jobs",
        "#old mean wait",
        "#new mean wait",
        "#difference",
        "#interval from",
        "#interval to",
        "more than chance",
    ];
    let largest = groups.iter().map(|group| group.wait.difference().abs()).fold(0.0, f64::max);
    let row = |group: &GroupDifference| {
        let (wait, change) = (group.wait, group.wait.difference());
        let bar = Bar { class: class(change, wait.is_significant()), ..Bar::new(change, largest, true) };
        vec![
            Cell::text(&group.name),
            Cell::count(Some(group.jobs)),
            Cell::time(wait.old),
            Cell::time(wait.new),
            Cell { bar: Some(bar), ..Cell::longer(change, wait.is_significant()) },
            Cell::longer(wait.low, false),
            Cell::longer(wait.high, false),
            Cell::prose(if wait.is_significant() { "yes" } else { "no" }),
        ]
    };
    Table::new(&headings, groups.iter().map(row))
}

/// What each entity uses of what its share promises.
fn shares_section(sides: &[&SimulationReport<'_>]) -> Option<Section> {
    let uses: Vec<&[EntityUse]> = sides.iter().filter_map(|side| Some(&*side.fairness?.entities)).collect();
    let first = sides.first()?.fairness?;
    let names: &[&str] = if uses.len() == 2 { &["old ", "new "] } else { &[""] };
    let mut headings = vec!["entity".to_owned(), "#share".to_owned()];
    for name in names {
        headings.extend(["core hours promised", "used", "used of promised"].map(|part| format!("#{name}{part}")));
    }
    let hours = |amount: f64| Cell::number(grouped(&format!("{:.1}", amount / 3600.0)), amount);
    let row = |index: usize| {
        let EntityUse { name, perc, .. } = &first.entities[index];
        let mut cells = vec![Cell::text(name), Cell::percent(*perc)];
        for used in uses.iter().filter_map(|entities| entities.get(index)) {
            cells.extend([hours(used.promised), hours(used.used), Cell::percent(used.ratio())]);
        }
        cells
    };
    let table = Table::new(&headings, (0..first.entities.len()).map(row));
    Some(Section::new("Use against shares").note(fairness_note(first)).table(table))
}

/// The jobs that wait longest.
fn jobs(report: &SimulationReport<'_>) -> Section {
    let mut order: Vec<_> = report.jobs().map(|(_, job)| job).collect();
    order.sort_by_key(|job| Reverse(job.start - job.submit));
    let headings = ["job", "entity", "queue", "#processors", "#submitted after", "#wait"];
    let first = order.iter().map(|job| job.submit).min().unwrap_or(0);
    let row = |job: &simulation::JobLine<'_>| {
        vec![
            Cell::text(job.id),
            Cell::text(job.entity),
            Cell::text(job.queue),
            Cell::count(Some(job.processors as usize)),
            Cell::number(waiting_time(job.submit - first), job.submit),
            Cell::time((job.start - job.submit) as f64),
        ]
    };
    Section::new("Jobs").note("Those that wait longest first.").table(Table::new(&headings, order.iter().map(row)))
}

/// The jobs whose waits change most.
fn changed_jobs(old: &SimulationReport<'_>, new: &SimulationReport<'_>) -> Section {
    let both = old.jobs().filter_map(|(index, job)| {
        let new_start = new.schedule.start(index)?;
        Some((job, new_start))
    });
    let mut order: Vec<_> = both.collect();
    let key = |(job, new_start): &(simulation::JobLine<'_>, i64)| Reverse((new_start - job.start).abs());
    order.sort_by_key(key);
    let headings =
        ["job", "entity", "queue", "#processors", "#submitted after", "#old wait", "#new wait", "#difference"];
    let first = order.iter().map(|(job, _)| job.submit).min().unwrap_or(0);
    let row = |(job, new_start): &(simulation::JobLine<'_>, i64)| {
        vec![
            Cell::text(job.id),
            Cell::text(job.entity),
            Cell::text(job.queue),
            Cell::count(Some(job.processors as usize)),
            Cell::number(waiting_time(job.submit - first), job.submit),
            Cell::time((job.start - job.submit) as f64),
            Cell::time((new_start - job.submit) as f64),
            Cell::longer((new_start - job.start) as f64, true),
        ]
    };
    let section = Section::new("Jobs").note("Those whose waits change most first.");
    section.table(Table::new(&headings, order.iter().map(row)))
}
