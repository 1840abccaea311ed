//! A fair-share tree as a page, with the numbers of one policy or of several.

use std::io::{self, Write};

use serde_json::Value;

use super::charts::{USAGE_LEGEND, icicle};
use super::{Cell, Fact, Page, Section, Table};
use crate::fairshare::{NodeId, NodeKind, ShareTable, ShareTree};
use crate::report::shares::{PolicyView, SharesHead, depths, numbers, shown_number};
use crate::report::terminal::printable;

/// The deepest level whose names are moved to the right of the level above.
const MAX_INDENT: u32 = 4;

/// Writes the page of a fair-share tree.
///
/// # Errors
/// `out` cannot be written.
pub fn write_shares(views: &[PolicyView<'_>], head: &SharesHead<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = views.first() else { return Ok(()) };
    let mut facts = vec![Fact { heading: "usage in".to_owned(), text: head.usage_unit.to_owned() }];
    let policies = head.policies.iter().map(|policy| Fact { heading: "policy".to_owned(), text: policy.clone() });
    facts.extend(policies);
    if let Some(assumed) = &first.assumed {
        facts.push(Fact { heading: "assumed".to_owned(), text: printable(assumed.described).into_owned() });
    }
    let mut sections = vec![icicle_section(first.tree, first.shares)];
    sections.extend(views.iter().map(|view| {
        let heading = if views.len() > 1 { format!("Shares under {}", view.name) } else { "Shares".to_owned() };
        Section::new(heading).table(shares_table(view))
    }));
    Page { kind: "jsf shares", title: "Fair share".to_owned(), headline: headline(first), facts, sections }.write(out)
}

/// How many entities there are, and which use the most of the machine against their shares.
fn headline(view: &PolicyView<'_>) -> String {
    let tree = view.tree;
    let total = tree.usage(tree.root());
    let entities: Vec<NodeId> = tree.nodes().filter(|&node| tree.kind(node) == NodeKind::Entity).collect();
    let parts = |node: NodeId| {
        let perc = view.shares.get(node).map_or(0.0, |shares| shares.fairshare_perc);
        (if total > 0.0 { tree.usage(node) / total } else { 0.0 }, perc)
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
                printable(tree.name(node)),
                used * 100.0,
                perc * 100.0
            );
        }
        None => headline += ".",
    }
    headline
}

/// The tree as a chart.
pub(super) fn icicle_section(tree: &ShareTree, shares: &ShareTable) -> Section {
    Section::new("Fair-share tree")
        .note(
            "The wider a node, the larger its share of the machine. The colour compares its part of the usage with that share.",
        )
        .chart(icicle(tree, shares), &USAGE_LEGEND)
}

/// A row for each node, with the numbers that JSON has.
pub(super) fn shares_table(view: &PolicyView<'_>) -> Table {
    let names: Vec<&str> =
        view.nodes.first().map_or_else(Vec::new, |&node| numbers(view, node).iter().map(|(name, _)| *name).collect());
    let headings: Vec<String> =
        std::iter::once("name".to_owned()).chain(names.iter().map(|name| format!("#{name}"))).collect();
    let depths = depths(view.tree);
    let row = |&node: &NodeId| {
        let depth = depths[node.index()].min(MAX_INDENT);
        let name = Cell { class: format!("depth-{depth}"), ..Cell::text(view.tree.name(node)) };
        let number = |(name, value): (&str, Value)| {
            let text = if value.is_null() { "–".to_owned() } else { shown_number(view, name, &value) };
            Cell::number(text, if value.is_number() { value } else { Value::Null })
        };
        std::iter::once(name).chain(numbers(view, node).into_iter().map(number)).collect()
    };
    Table::new(&headings, view.nodes.iter().map(row))
}
