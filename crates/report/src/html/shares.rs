//! A fair-share tree as a page, with the numbers of one policy or of several.

use std::io::{self, Write};

use job_sort_formula::fairshare::{NodeId, NodeKind, ShareTable, ShareTree};
use serde_json::Value;

use super::charts::{Icicle, USAGE_LEGEND, icicle, usage_part};
use super::{Cell, Page, Section, Table, facts, grouped, sentence_pieces};
use crate::shares::{PolicyView, SharesHead, depths, numbers, shown_number};
use crate::terminal::printable;

/// The deepest level whose names are moved to the right of the level above.
const MAX_INDENT: u32 = 4;

/// Writes the page of a fair-share tree. `command` is the command line, which the page shows.
///
/// # Errors
/// `out` cannot be written.
pub fn write_shares(
    views: &[PolicyView<'_>],
    head: &SharesHead<'_>,
    command: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(first) = views.first() else { return Ok(()) };
    let mut rules = vec![("usage in", head.usage_unit.to_owned())];
    rules.extend(head.policies.iter().map(|policy| ("policy", policy.clone())));
    rules.extend(first.assumed.as_ref().map(|assumed| ("assumed", assumed.described.to_owned())));
    let mut sections = vec![icicle_section(first.tree, first.shares)];
    sections.extend(views.iter().map(|view| {
        let heading = if views.len() > 1 { format!("Shares under {}", view.name) } else { "Shares".to_owned() };
        Section::new(heading).table(shares_table(view))
    }));
    Page {
        kind: "jsf shares",
        title: "Fair share".to_owned(),
        headline: sentence_pieces(&headline(first)),
        facts: facts(&rules),
        command: printable(command).into_owned(),
        sections,
    }
    .write(out)
}

/// How many entities there are, and which use the most of the machine against their shares.
fn headline(view: &PolicyView<'_>) -> String {
    let tree = view.tree;
    let entities: Vec<NodeId> = tree.nodes().filter(|&node| tree.kind(node) == NodeKind::Entity).collect();
    let parts = |node: NodeId| {
        let perc = view.shares.get(node).map_or(0.0, |shares| shares.fairshare_perc);
        (usage_part(tree, node), perc)
    };
    let excess = |node: NodeId| parts(node).0 - parts(node).1;
    let most = entities.iter().copied().max_by(|&left, &right| excess(left).total_cmp(&excess(right)));
    let mut headline =
        format!("The tree has {} entit{}", entities.len(), if entities.len() == 1 { "y" } else { "ies" });
    match most.filter(|&node| excess(node) > 0.0) {
        Some(node) => {
            let (used, perc) = parts(node);
            headline += &format!(
                "; `{}` is farthest above its share: {:.1} % of the usage, {:.1} % of the shares.",
                tree.name(node),
                used * 100.0,
                perc * 100.0
            );
        }
        None => headline += ".",
    }
    headline
}

/// The tree as a chart, and its numbers as a table.
pub(super) fn icicle_section(tree: &ShareTree, shares: &ShareTable) -> Section {
    let Icicle { chart, omitted } = icicle(tree, shares);
    let omitted = match omitted {
        0 => String::new(),
        1 => " 1 node without a visible share is not drawn.".to_owned(),
        more => format!(" {} nodes without a visible share are not drawn.", grouped(&more.to_string())),
    };
    let depths = depths(tree);
    let row = |node: NodeId| {
        let (share, used) = (shares.get(node).map(|shares| shares.fairshare_perc), usage_part(tree, node));
        let ratio = share.filter(|share| *share > 0.0).map(|share| used / share);
        let name = name_cell(tree, &depths, node);
        vec![name, Cell::percent(share), Cell::percent(Some(used)), Cell::decimals(ratio, 2)]
    };
    let headings = ["name", "#share", "#part of the usage", "#usage / share"];
    let table = Table::new(&headings, tree.depth_first().into_iter().map(row));
    let note = "The wider a node, the larger its share of the machine. The colour compares its part of the usage with that \
                share.";
    let section = Section::new("Fair-share tree").note(format!("{note}{omitted}")).chart(chart, &USAGE_LEGEND);
    Section { summary: "The tree as a table".to_owned(), ..section.table(table) }
}

fn name_cell(tree: &ShareTree, depths: &[u32], node: NodeId) -> Cell {
    let depth = depths[node.index()].min(MAX_INDENT);
    let cell = Cell::text(tree.name(node));
    Cell { class: format!("{} depth-{depth}", cell.class), ..cell }
}

/// A row for each node, with the numbers that JSON has.
pub(super) fn shares_table(view: &PolicyView<'_>) -> Table {
    let names: Vec<&str> =
        view.nodes.first().map_or_else(Vec::new, |&node| numbers(view, node).iter().map(|(name, _)| *name).collect());
    let headings: Vec<String> =
        std::iter::once("name".to_owned()).chain(names.iter().map(|name| format!("#{name}"))).collect();
    let depths = depths(view.tree);
    let row = |&node: &NodeId| {
        let name = name_cell(view.tree, &depths, node);
        let number = |(name, value): (&str, Value)| {
            let text = if value.is_null() { "–".to_owned() } else { grouped(&shown_number(view, name, &value)) };
            Cell::number(text, if value.is_number() { value } else { Value::Null })
        };
        std::iter::once(name).chain(numbers(view, node).into_iter().map(number)).collect()
    };
    Table::new(&headings, view.nodes.iter().map(row))
}
