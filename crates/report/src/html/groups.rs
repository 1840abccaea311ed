//! The tables of the entities, groups, queues and sizes of the jobs, of a comparison or of one ranking.

use job_sort_formula::rank::{Comparison, GroupChange, OldNew};

use super::{Bar, Cell, Section, Table};

/// The tables that have names, each in a section. A ranking that is compared with itself has no columns for what changes.
pub(super) fn group_sections(comparison: &Comparison, is_one_ranking: bool) -> Vec<Section> {
    let size = comparison.size_input.unwrap_or_default();
    let tables = [
        ("Entities", "entity", &comparison.entities),
        ("Groups", "group", &comparison.groups),
        ("Queues", "queue", &comparison.queues),
        ("Sizes of the jobs", size, &comparison.sizes),
    ];
    let is_named = |changes: &[GroupChange]| changes.iter().any(|change| !change.name.is_empty());
    // it is no news how many jobs are among the first ones if those are all
    let all = comparison.considered.old.max(comparison.considered.new);
    let sides = if is_one_ranking { &SIDES[1..] } else { &SIDES };
    let shown = tables.into_iter().filter(|(_, _, changes)| is_named(changes));
    let note = match (is_one_ranking, comparison.entities.iter().any(|change| change.perc.is_some())) {
        (false, true) => "Places won are those of all jobs together; the share is that in the fair-share tree.",
        (false, false) => "Places won are those of all jobs together.",
        (true, _) => "",
    };
    let section = |(index, (heading, column, changes)): (usize, (&str, &str, &Vec<GroupChange>))| {
        let note = if index == 0 { note } else { "" };
        Section::new(heading).note(note).table(table(column, changes, all, sides))
    };
    shown.enumerate().map(section).collect()
}

/// One of the sides of a comparison: its name, and how its value is taken from a change.
struct Side {
    name: &'static str,
    mean: fn(OldNew<f64>) -> f64,
    count: fn(OldNew<usize>) -> usize,
}

const SIDES: [Side; 2] = [
    Side { name: "old ", mean: |mean| mean.old, count: |count| count.old },
    Side { name: "new ", mean: |mean| mean.new, count: |count| count.new },
];

fn table(column: &str, changes: &[GroupChange], all: usize, sides: &[Side]) -> Table {
    let is_one = sides.len() == 1;
    let name = |side: &Side| if is_one { "" } else { side.name };
    let mut headings = vec![column.to_owned(), "#jobs".to_owned()];
    headings.extend(sides.iter().map(|side| format!("#{}mean rank", name(side))));
    headings.extend((!is_one).then(|| "#places won".to_owned()));
    let tops = changes.first().map(|change| change.top).unwrap_or_default();
    for (first, _) in tops.iter().filter(|(first, _)| *first < all) {
        headings.extend(sides.iter().map(|side| format!("#{}in first {first}", name(side))));
    }
    let has_shares = changes.iter().any(|change| change.perc.is_some());
    headings.extend(has_shares.then(|| "#share".to_owned()));
    let largest = changes.iter().map(|change| change.won().unsigned_abs()).max().unwrap_or(0) as f64;
    let row = |change: &GroupChange| {
        let name = if change.path.is_empty() { change.name.clone() } else { change.path.join("/") };
        let mut cells = vec![Cell::text(&name), Cell::count(Some(change.jobs))];
        cells.extend(sides.iter().map(|side| Cell::decimals(change.mean_rank().map(side.mean), 1)));
        let bar = || Some(Bar::new(change.won() as f64, largest, true));
        cells.extend((!is_one).then(|| Cell { bar: bar(), ..Cell::places(Some(change.won())) }));
        for (_, counts) in change.top.iter().filter(|(first, _)| *first < all) {
            cells.extend(sides.iter().map(|side| Cell::count(Some((side.count)(*counts)))));
        }
        cells.extend(has_shares.then(|| Cell::percent(change.perc)));
        cells
    };
    Table::new(&headings, changes.iter().map(row))
}
