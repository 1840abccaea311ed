//! The tables of the entities, groups, queues and sizes of the jobs, of a comparison or of one
//! ranking.

use job_sort_formula::rank::{Comparison, GroupChange, OldNew};

use crate::view::document::{Cell, Column, RowLimit, Section, Table};

/// The most groups in text: of more, the first and the last half of this number are shown.
const MAX_GROUPS: usize = 20;

/// The tables that have names, each in a section. A ranking that is compared with itself has no
/// columns for what changes.
pub(crate) fn group_sections(comparison: &Comparison, is_one_ranking: bool) -> Vec<Section<'_>> {
    let size = comparison.size_input.unwrap_or_default();
    let tables = [
        ("entities", "entity", &comparison.entities),
        ("groups", "group", &comparison.groups),
        ("queues", "queue", &comparison.queues),
        ("sizes of the jobs", size, &comparison.sizes),
    ];
    let all = comparison.considered.old.max(comparison.considered.new);
    let sides: &[Side] = if is_one_ranking { &SIDES[1..] } else { &SIDES };
    let shown = tables
        .into_iter()
        .filter(|(_, _, changes)| changes.iter().any(|change| !change.name.is_empty()));
    let mut note = note(comparison, is_one_ranking);
    let sections = shown.map(|(heading, column, changes)| {
        Section::new(heading)
            .prose(std::mem::take(&mut note))
            .table(table(column, changes, all, sides))
    });
    sections.collect()
}

fn note(comparison: &Comparison, is_one_ranking: bool) -> &'static str {
    if is_one_ranking {
        ""
    } else if comparison
        .entities
        .iter()
        .any(|change| change.perc.is_some())
    {
        "Gained are the places of a job on average; the share is that in the fair-share tree."
    } else {
        "Gained are the places of a job on average."
    }
}

/// One of the sides of a comparison: its name, and how its value is taken from a change.
struct Side {
    name: &'static str,
    mean: fn(OldNew<f64>) -> f64,
    count: fn(OldNew<usize>) -> usize,
}

const SIDES: [Side; 2] = [
    Side {
        name: "old ",
        mean: |mean| mean.old,
        count: |count| count.old,
    },
    Side {
        name: "new ",
        mean: |mean| mean.new,
        count: |count| count.new,
    },
];

fn table<'a>(
    column: &str,
    changes: &'a [GroupChange],
    all: usize,
    sides: &'static [Side],
) -> Table<'a> {
    let is_one = sides.len() == 1;
    let tops = changes.first().map(|change| change.top).unwrap_or_default();
    let has_shares = changes.iter().any(|change| change.perc.is_some());
    let mut table = Table::of(in_order(changes, is_one))
        .column(Column::text(column, 9), |change| Cell::text(name(change)))
        .column(Column::number("jobs", 6), |change| Cell::Count(change.jobs));
    for side in sides {
        let column = Column::number(heading(sides, side, "mean rank"), 8);
        table = table.column(column, |change| {
            Cell::decimals(change.mean_rank().map(side.mean), 1)
        });
    }
    table = table.column_if(!is_one, Column::number("gained", 9).with_bar(), |change| {
        Cell::Gained(change.gain())
    });
    // the number of jobs among the first ones says nothing if all jobs are among them
    for (index, (first, _)) in tops
        .into_iter()
        .enumerate()
        .filter(|(_, (first, _))| *first < all)
    {
        for side in sides {
            let column = Column::number(
                heading(sides, side, &format!("in first {first}")),
                5 - index as u8,
            );
            table = table.column(column, move |change| {
                Cell::Count((side.count)(change.top[index].1))
            });
        }
    }
    let table = table
        .column_if(has_shares, Column::number("share", 3), |change| {
            Cell::share(change.perc)
        })
        .table();
    table.limit(RowLimit::Ends(MAX_GROUPS))
}

/// The groups whose jobs gain most first, or of one ranking those whose jobs are first.
fn in_order(changes: &[GroupChange], is_one: bool) -> Vec<&GroupChange> {
    let mut order: Vec<&GroupChange> = changes.iter().collect();
    let mean = |change: &GroupChange| change.mean_rank().map_or(f64::INFINITY, |mean| mean.new);
    if is_one {
        order.sort_by(|one, other| mean(one).total_cmp(&mean(other)));
    } else {
        order.sort_by(|one, other| other.gain().total_cmp(&one.gain()));
    }
    order
}

/// A heading with the name of its side, if there are two.
fn heading(sides: &[Side], side: &Side, what: &str) -> String {
    let name = if sides.len() == 1 { "" } else { side.name };
    format!("{name}{what}")
}

fn name(change: &GroupChange) -> String {
    if change.path.is_empty() {
        change.name.clone()
    } else {
        change.path.join("/")
    }
}
