//! The tables of the entities, groups, queues and sizes of the jobs, of a comparison or of one
//! ranking.

use std::cmp::Ordering;

use job_sort_formula::rank::{Comparison, GroupChange};

use crate::view::document::{Cell, Column, RowLimit, Section, Table};

/// The most groups in text: of more, the first and the last half of this number are shown.
const MAX_GROUPS: usize = 20;

/// The tables that have names, each in a section. A ranking that is compared with itself has no
/// columns for what changes.
pub(crate) fn group_sections(comparison: &Comparison, is_one_ranking: bool) -> Vec<Section<'_>> {
    let all = comparison.considered.old.max(comparison.considered.new);
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
            let mut rows: Vec<&GroupChange> = changes.iter().collect();
            rows.sort_by(if is_one_ranking { by_rank } else { by_gain });
            let table = group_table(column, rows, all, is_one_ranking);
            sections.push(Section::new(heading).table(table));
        }
    }
    sections
}

fn group_table<'a>(
    column: &str,
    rows: Vec<&'a GroupChange>,
    all: usize,
    is_one_ranking: bool,
) -> Table<'a> {
    let tops = rows.first().map(|change| change.top).unwrap_or_default();
    let has_shares = rows.iter().any(|change| change.perc.is_some());
    let is_change = !is_one_ranking;
    let new = if is_change { "new " } else { "" };
    let mut table = Table::of(rows)
        .column(Column::text(column, 9), |change| {
            Cell::text(group_name(change))
        })
        .column(Column::number("jobs", 6), |change| Cell::Count(change.jobs))
        .column_if(is_change, Column::number("old mean rank", 8), |change| {
            Cell::decimals(change.mean_rank().map(|mean| mean.old), 1)
        })
        .column(Column::number(format!("{new}mean rank"), 8), |change| {
            Cell::decimals(change.mean_rank().map(|mean| mean.new), 1)
        })
        .column_if(
            is_change,
            Column::number("gained", 9).with_bar(),
            |change| Cell::Gained(change.gain()),
        );
    for (index, (first, _)) in tops.into_iter().enumerate() {
        // the number of jobs among the first ones says nothing if all jobs are among them
        if first < all {
            let column =
                |side: &str| Column::number(format!("{side}in first {first}"), 5 - index as u8);
            table = table
                .column_if(is_change, column("old "), move |change| {
                    Cell::Count(change.top[index].1.old)
                })
                .column(column(new), move |change| {
                    Cell::Count(change.top[index].1.new)
                });
        }
    }
    table
        .column_if(has_shares, Column::number("share", 3), |change| {
            Cell::share(change.perc)
        })
        .table()
        .limit(RowLimit::Ends(MAX_GROUPS))
}

/// The groups whose jobs are first come first.
fn by_rank(one: &&GroupChange, other: &&GroupChange) -> Ordering {
    let rank = |change: &GroupChange| change.mean_rank().map_or(f64::INFINITY, |mean| mean.new);
    rank(one).total_cmp(&rank(other))
}

/// The groups whose jobs gain most places come first.
pub(crate) fn by_gain(one: &&GroupChange, other: &&GroupChange) -> Ordering {
    other.gain().total_cmp(&one.gain())
}

/// The name of a group, with its path in the tree if it has one.
pub(crate) fn group_name(change: &GroupChange) -> String {
    if change.path.is_empty() {
        change.name.clone()
    } else {
        change.path.join("/")
    }
}
