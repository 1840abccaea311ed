//! The entities, groups, queues and sizes of jobs with their ranks, and single jobs that move: the
//! tables of one ranking, or of two that are compared.

use std::cmp::Ordering;

use job_sort_formula::JobTable;
use job_sort_formula::rank::{Comparison, GroupChange, JobMove, OldNew};

use crate::view::document::{Cell, Column, DECIDES, RowLimit, Section, Table, cells};

/// The most groups in text: of more, the first and the last half of this number are shown.
const MAX_GROUPS: usize = 20;

/// The tables that have names, each in a section. A ranking that is compared with itself has no
/// columns for what changes.
pub(crate) fn group_sections(comparison: &Comparison, is_one_ranking: bool) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    for (heading, column, changes) in [
        ("entities", "entity", &comparison.entities),
        ("groups", "group", &comparison.groups),
        ("queues", "queue", &comparison.queues),
        (
            "sizes of the jobs",
            comparison.size_input.unwrap_or_default(),
            &comparison.sizes,
        ),
    ] {
        // jobs without entities, groups or a size are one group without a name
        if changes.iter().all(|change| change.name.is_empty()) {
            continue;
        }
        let mut groups = Vec::new();
        for change in changes {
            // the heading says which kind it is
            groups.push(("", change));
        }
        groups.sort_by(if is_one_ranking { by_rank } else { by_gain });
        let table = group_table(column, groups, comparison, is_one_ranking);
        sections.push(Section::new(heading).table(table));
    }
    sections
}

/// A group with its kind, which is written before its name.
pub(crate) type KindOfGroup<'a> = (&'static str, &'a GroupChange);

/// A row for each group.
pub(crate) fn group_table<'a>(
    column: &str,
    groups: Vec<KindOfGroup<'a>>,
    comparison: &Comparison,
    is_one_ranking: bool,
) -> Table<'a> {
    let all = comparison.considered.old.max(comparison.considered.new);
    let has_shares = groups.iter().any(|(_, change)| change.perc.is_some());
    // all groups count the same first jobs
    let tops = match groups.first() {
        Some((_, change)) => change.top,
        None => [(0, OldNew::default()); 2],
    };
    let is_change = !is_one_ranking;
    let new = if is_change { "new " } else { "" };
    let mut columns = vec![
        Column::text(column, 9),
        Column::number("jobs", 6),
        Column::number("old mean rank", 8).shown_if(is_change),
        Column::number(format!("{new}mean rank"), 8),
        Column::number("gained", 9).with_bar().shown_if(is_change),
    ];
    let mut importance = 5;
    for (first, _) in tops {
        // the number of jobs among the first ones says nothing if all jobs are among them
        let is_shown = first < all;
        let old = Column::number(format!("old in first {first}"), importance - 1);
        columns.push(old.shown_if(is_shown && is_change));
        let new = Column::number(format!("{new}in first {first}"), importance);
        columns.push(new.shown_if(is_shown));
        importance -= 1;
    }
    columns.push(Column::number("share", 3).shown_if(has_shares));
    // of many groups few are shown
    Table::new(columns, groups, group_cells).limit(RowLimit::Ends(MAX_GROUPS))
}

fn group_cells<'a>(group: &KindOfGroup<'_>) -> Vec<Cell<'a>> {
    let (_, change) = group;
    let (mut old_mean, mut new_mean) = (Cell::Missing, Cell::Missing);
    if let Some(mean) = change.mean_rank() {
        old_mean = Cell::Decimals(mean.old, 1);
        new_mean = Cell::Decimals(mean.new, 1);
    }
    let mut cells = cells![
        group_name(group),
        change.jobs,
        old_mean,
        new_mean,
        Cell::Gained(change.gain()),
    ];
    for (_, jobs) in change.top {
        cells.extend(cells![jobs.old, jobs.new]);
    }
    cells.push(change.perc.map(Cell::Share).into());
    cells
}

/// The groups whose jobs are first come first.
fn by_rank((_, one): &KindOfGroup<'_>, (_, other): &KindOfGroup<'_>) -> Ordering {
    new_rank(one).total_cmp(&new_rank(other))
}

fn new_rank(change: &GroupChange) -> f64 {
    match change.mean_rank() {
        Some(mean) => mean.new,
        None => f64::INFINITY,
    }
}

/// The groups whose jobs gain most places come first.
pub(crate) fn by_gain((_, one): &KindOfGroup<'_>, (_, other): &KindOfGroup<'_>) -> Ordering {
    other.gain().total_cmp(&one.gain())
}

/// The name of a group with its kind, and with its path in the tree if it has one.
pub(crate) fn group_name((kind, change): &KindOfGroup<'_>) -> String {
    if change.path.is_empty() {
        format!("{kind}{}", change.name)
    } else {
        format!("{kind}{}", change.path.join("/"))
    }
}

/// The columns of jobs with their old and new ranks.
pub(crate) fn move_columns() -> Vec<Column> {
    vec![
        Column::id("job", DECIDES),
        Column::text("entity", 6),
        Column::text("queue", 3),
        Column::number("old rank", 8),
        Column::number("new rank", 8),
        Column::number("moved", 9),
    ]
}

/// The cells of these columns.
pub(crate) fn move_cells<'a>(table: &'a JobTable, job: &JobMove) -> Vec<Cell<'a>> {
    cells![
        table.id(job.row),
        table.entity(job.row),
        table.queue(job.row),
        job.old,
        job.new,
        job.moved().map(Cell::Places),
    ]
}
