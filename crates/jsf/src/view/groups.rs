//! The tables of the entities, groups, queues and sizes of the jobs, of a comparison or of one
//! ranking, and of the jobs that move.

use std::cmp::Ordering;

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{Comparison, GroupChange, JobMove};

use crate::view::document::{Cell, DECIDES, RowLimit, Rows, Section, Table};

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
        if changes.iter().any(|change| !change.name.is_empty()) {
            let mut rows: Vec<_> = changes.iter().map(|change| ("", change)).collect();
            rows.sort_by(if is_one_ranking { by_rank } else { by_gain });
            let table = group_table(column, rows, comparison, is_one_ranking);
            sections.push(Section::new(heading).table(table));
        }
    }
    sections
}

/// A group with its kind, which is written before its name.
pub(crate) type KindOfGroup<'a> = (&'static str, &'a GroupChange);

/// A row for each group.
pub(crate) fn group_table<'a>(
    column: &str,
    rows: Vec<KindOfGroup<'a>>,
    comparison: &Comparison,
    is_one_ranking: bool,
) -> Table<'a> {
    let all = comparison.considered.old.max(comparison.considered.new);
    let tops = rows
        .first()
        .map(|(_, change)| change.top)
        .unwrap_or_default();
    let has_shares = rows.iter().any(|(_, change)| change.perc.is_some());
    let is_change = !is_one_ranking;
    let new = if is_change { "new " } else { "" };
    let mut table = Table::of(rows)
        .text(column, 9, group_name)
        .number("jobs", 6, |(_, change)| change.jobs)
        .number("old mean rank", 8, |(_, change)| {
            change.mean_rank().map(|mean| Cell::Decimals(mean.old, 1))
        })
        .shown_if(is_change)
        .number(format!("{new}mean rank"), 8, |(_, change)| {
            change.mean_rank().map(|mean| Cell::Decimals(mean.new, 1))
        })
        .number("gained", 9, |(_, change)| Cell::Gained(change.gain()))
        .with_bar()
        .shown_if(is_change);
    for (index, (first, _)) in tops.into_iter().enumerate() {
        // the number of jobs among the first ones says nothing if all jobs are among them
        if first < all {
            let importance = 5 - index as u8;
            table = table
                .number(
                    format!("old in first {first}"),
                    importance - 1,
                    move |(_, change)| change.top[index].1.old,
                )
                .shown_if(is_change)
                .number(
                    format!("{new}in first {first}"),
                    importance,
                    move |(_, change)| change.top[index].1.new,
                );
        }
    }
    table
        .number("share", 3, |(_, change)| change.perc.map(Cell::Share))
        .shown_if(has_shares)
        .limit(RowLimit::Ends(MAX_GROUPS))
}

/// The groups whose jobs are first come first.
fn by_rank((_, one): &KindOfGroup<'_>, (_, other): &KindOfGroup<'_>) -> Ordering {
    let rank = |change: &GroupChange| change.mean_rank().map_or(f64::INFINITY, |mean| mean.new);
    rank(one).total_cmp(&rank(other))
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

/// Jobs with their old and new ranks.
pub(crate) fn moves_table<'a>(table: &'a JobTable, moves: Vec<JobMove>) -> Rows<'a, JobMove> {
    Table::of(moves)
        .id("job", DECIDES, |job| table.id(job.row))
        .text("entity", 6, |job| table.entity(job.row))
        .text("queue", 3, |job| table.queue(job.row))
        .number("old rank", 8, |job| job.old)
        .number("new rank", 8, |job| job.new)
        .number("moved", 9, |job| job.moved().map(Cell::Places))
}
