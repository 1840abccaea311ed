//! A fair-share tree for people: a table of its nodes with the numbers of one policy, or the factors of several side by side;
//! with assumed usage, what changes, and the places that jobs gain.

use std::collections::HashMap;

use job_sort_formula::fairshare::{NodeId, NodeKind, ShareTable, ShareTree};
use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::MAX_EXACT_FLOAT;
use job_sort_formula::rank::{Comparison, JobMove};
use serde_json::Value;

use crate::charts::shares::{Dots, LEGEND};
use crate::document::{Cell, Chart, Column, Document, Fact, Section, Table};
use crate::shares::{
    PolicyView, association, changes, depths, difference, end_of_path, entities_in_both, number, numbers, shares,
};
use crate::words::grouped;

/// The policies of a document, and the unit of their usage.
#[derive(Debug, Clone, Copy)]
pub struct SharesHead<'a> {
    /// A line for each policy.
    pub policies: &'a [String],
    /// The unit of usage.
    pub usage_unit: &'a str,
}

/// The document of a tree under one policy or several.
pub fn shares_document<'a>(views: &[PolicyView<'a>], head: &SharesHead<'_>) -> Document<'a> {
    let mut facts = Fact::list(head.policies.iter().map(|policy| ("policy", policy.clone())));
    facts.push(Fact::new("units", units(views, head.usage_unit)));
    let mut sections = Vec::new();
    if let Some(first) = views.first() {
        let is_one = views.len() == 1;
        facts.extend(first.assumed.filter(|_| is_one).map(|assumed| Fact::new("assumed", assumed.described)));
        sections.push(tree_section(first.tree, first.shares));
        match first.assumed {
            Some(_) => sections.extend(views.iter().flat_map(|view| changes_sections(*view, is_one))),
            None => sections.extend(nodes_sections(views)),
        }
        sections.extend(first.assumed.and_then(|assumed| assumed.places).into_iter().flat_map(places_sections));
        let shown = views.iter().filter(|_| first.assumed.is_some() || !is_one);
        sections.extend(shown.map(|view| {
            let heading = if is_one { "shares".to_owned() } else { format!("shares under {}", view.name) };
            Section::new(heading).on_page().table(shares_table(*view))
        }));
    }
    let headline = views.first().map_or_else(String::new, headline);
    Document { command: "jsf shares", title: "Fair share".to_owned(), headline, facts, sections, read_on: "" }
}

/// The number of entities, and the one whose usage exceeds its share most.
fn headline(view: &PolicyView<'_>) -> String {
    let tree = view.tree;
    let entities: Vec<NodeId> = tree.nodes().filter(|&node| tree.kind(node) == NodeKind::Entity).collect();
    let most = entities.iter().copied().max_by(|&left, &right| excess(view, left).total_cmp(&excess(view, right)));
    let mut headline =
        format!("The tree has {} entit{}", entities.len(), if entities.len() == 1 { "y" } else { "ies" });
    match most.filter(|&node| excess(view, node) > 0.0) {
        Some(node) => {
            headline += &format!(
                "; `{}` is farthest above its share: {:.1} % of the usage, {:.1} % of the shares.",
                tree.name(node),
                usage_part(tree, node) * 100.0,
                share_part(view.shares, node) * 100.0
            );
        }
        None => headline += ".",
    }
    headline
}

/// How much more of the machine a node has used than its share.
fn excess(view: &PolicyView<'_>, node: NodeId) -> f64 {
    usage_part(view.tree, node) - share_part(view.shares, node)
}

/// The entities whose usage is farthest from their shares as a chart, and the tree as a table.
pub(super) fn tree_section<'a>(tree: &'a ShareTree, shares: &'a ShareTable) -> Section<'a> {
    let dots = Dots::new(tree, shares);
    let note = match dots.omitted() {
        0 => "Those farthest above their shares come first; entities without shares are on top.".to_owned(),
        omitted => format!(
            "The entities without shares, and the 15 farthest above and the 15 farthest below their shares; {} {} not drawn.",
            grouped(&omitted.to_string()),
            if omitted == 1 { "other is" } else { "others are" }
        ),
    };
    let section = Section::new("fair-share tree").on_page();
    let section = match dots.is_empty() {
        true => section,
        false => section.prose(note).chart(move || Chart::new(dots.draw(), &LEGEND)),
    };
    section.table(parts_table(tree, shares).folded("The tree as a table"))
}

/// The part of the machine that is a node's share.
fn share_part(shares: &ShareTable, node: NodeId) -> f64 {
    shares.get(node).map_or(0.0, |shares| shares.fairshare_perc)
}

/// The part of all usage that is a node's, or is below it.
fn usage_part(tree: &ShareTree, node: NodeId) -> f64 {
    let total = tree.usage(tree.root());
    if total > 0.0 { tree.usage(node) / total } else { 0.0 }
}

/// The share of each node, and its part of the usage.
fn parts_table<'a>(tree: &'a ShareTree, shares: &'a ShareTable) -> Table<'a> {
    let columns = vec![
        Column::name("name", 9),
        Column::number("share", 8),
        Column::number("part of the usage", 8),
        Column::number("usage / share", 8),
    ];
    let depths = depths(tree);
    let nodes = tree.depth_first();
    Table::new(columns, tree.len(), move |index| {
        let node = nodes[index];
        let share = shares.get(node).map(|shares| shares.fairshare_perc);
        let used = usage_part(tree, node);
        let ratio = share.filter(|share| *share > 0.0).map(|share| used / share);
        let name = node_cell(tree, depths[node.index()] as usize, String::new(), node);
        vec![name, Cell::share(share), Cell::Share(used), Cell::decimals(ratio, 2)]
    })
}

/// The name of a node.
fn node_cell(tree: &ShareTree, depth: usize, lines: String, node: NodeId) -> Cell<'_> {
    // the jobs that have no entity are charged to a node without a name
    let text = match tree.name(node) {
        "" => "(no entity)".into(),
        name => name.into(),
    };
    Cell::Node { lines, depth, text, is_code: false }
}

/// The nodes with the numbers of the only policy, or with the factors of all of them.
fn nodes_sections<'a>(views: &[PolicyView<'a>]) -> Vec<Section<'a>> {
    let Some(first) = views.first() else { return Vec::new() };
    let table = match views {
        [only] => shares_table(*only),
        _ => factors_table(views),
    };
    vec![Section::new("shares").table(table).prose(deep_nodes(*first))]
}

/// The note on the nodes that are drawn above their own level.
fn deep_nodes(view: PolicyView<'_>) -> String {
    let deep = view.nodes.iter().filter(|&&node| view.tree.ancestors(node).nth(MAX_DRAWN_DEPTH).is_some());
    match deep.count() {
        0 => String::new(),
        1 => format!("1 node is more than {MAX_DRAWN_DEPTH} levels deep, and is drawn on that level"),
        deep => format!("{deep} nodes are more than {MAX_DRAWN_DEPTH} levels deep, and are drawn on that level"),
    }
}

/// A row for each node, with the numbers that JSON has, as far as some node has them.
pub(super) fn shares_table(view: PolicyView<'_>) -> Table<'_> {
    let names: Vec<&str> = match view.nodes.first() {
        Some(&node) => numbers(&view, node).into_iter().map(|(name, _)| name).collect(),
        None => Vec::new(),
    };
    // factors that are not known have a column that says so
    let mut is_used: Vec<bool> =
        names.iter().map(|name| matches!(*name, "fairshare" | "tickets") && !view.has_factors).collect();
    for &node in view.nodes {
        let values = numbers(&view, node).into_iter().map(|(_, value)| !value.is_null());
        is_used.iter_mut().zip(values).for_each(|(is_used, has_number)| *is_used |= has_number);
        if is_used.iter().all(|is_used| *is_used) {
            break;
        }
    }
    let used = names.iter().zip(&is_used).filter(|(_, is_used)| **is_used);
    let columns = used.map(|(name, _)| Column::number(*name, importance(name)));
    let columns: Vec<Column> = std::iter::once(Column::name("name", 9)).chain(columns).collect();
    let branches = Branches::new(view.tree, view.nodes);
    let depths = depths(view.tree);
    Table::new(columns, view.nodes.len(), move |index| {
        let node = view.nodes[index];
        let name = node_cell(view.tree, depths[node.index()] as usize, branches.prefix(node), node);
        let used = numbers(&view, node).into_iter().zip(&is_used).filter(|(_, is_used)| **is_used);
        let cells = used.map(|((name, value), _)| number_cell(name, &value));
        std::iter::once(name).chain(cells).collect()
    })
}

fn number_cell(name: &str, value: &Value) -> Cell<'static> {
    match value {
        Value::Null => Cell::Missing,
        _ => Cell::Written(shown_number(name, value), value.as_f64()),
    }
}

/// The factors of several policies side by side.
fn factors_table<'a>(views: &[PolicyView<'a>]) -> Table<'a> {
    let views = views.to_vec();
    let first = views[0];
    let counterparts: Vec<_> = views.iter().map(|view| counterparts(first.tree, view.tree)).collect();
    let factors = views.iter().map(|view| Column::number(view.name, importance(view.name)));
    let given = [Column::name("name", 9), Column::number("shares", 6), Column::number("usage", 7)];
    let columns = given.into_iter().chain(factors).collect();
    let branches = Branches::new(first.tree, first.nodes);
    let depths = depths(first.tree);
    Table::new(columns, first.nodes.len(), move |index| {
        let node = first.nodes[index];
        let name = node_cell(first.tree, depths[node.index()] as usize, branches.prefix(node), node);
        let allotted = number_cell("shares", &shares(first.tree.shares(node)));
        let usage = first.tree.usage(node);
        let factors = views.iter().zip(&counterparts).map(|(view, nodes)| {
            let counterpart = nodes.get(node.index()).copied().flatten();
            let value = number(factor(view, counterpart));
            number_cell("factor", &value)
        });
        [name, allotted, Cell::Written(amount(usage), Some(usage))].into_iter().chain(factors).collect()
    })
}

/// The importance of a column of numbers.
fn importance(heading: &str) -> u8 {
    match heading {
        "factor" | "fairshare" | "tickets" => 8,
        "usage" | "raw_usage" => 7,
        "shares" | "raw_shares" => 6,
        "tree_usage" | "effective_usage" | "level_fs" => 5,
        "perc" | "norm_shares" => 4,
        "norm_usage" => 3,
        // the factor of one of several policies
        _ => 6,
    }
}

/// What the assumed usage changes: a line for each quantity of a node that differs.
fn changes_sections<'a>(view: PolicyView<'a>, is_one: bool) -> Vec<Section<'a>> {
    let mut rows = Vec::new();
    let mut changed = 0;
    for change in changes(&view) {
        changed += 1;
        let mut name = short_path(view.tree, change.node);
        for (quantity, first, second) in change.quantities.iter().filter(|(_, first, second)| first != second) {
            let shown = [first, second].map(|value| shown_number(quantity, value));
            if shown[0] == shown[1] {
                continue;
            }
            let by = difference(first, second);
            let [before, after] = shown;
            rows.push(vec![
                Cell::prose(std::mem::take(&mut name)),
                Cell::prose(*quantity),
                Cell::Written(before, first.as_f64()),
                Cell::Written(after, second.as_f64()),
                Cell::Written(by.map_or_else(String::new, |by| signed(quantity, by)), by),
            ]);
        }
    }
    let columns = vec![
        Column::name("name", 9),
        Column::name("quantity", 9),
        Column::number("before", 6),
        Column::number("after", 8),
        Column::number("difference", 7),
    ];
    let heading = match view.assumed.filter(|_| !is_one) {
        Some(assumed) => format!("{}: {}", view.name, assumed.described),
        None => "what changes".to_owned(),
    };
    let section =
        Section::new(heading).prose(format!("{changed} of the {} entities and groups shown change", view.nodes.len()));
    vec![if rows.is_empty() { section } else { section.table(Table::from_rows(columns, rows)) }]
}

/// The last names of the path of a node.
fn short_path(tree: &ShareTree, node: NodeId) -> String {
    let path = end_of_path(tree, node, MAX_DRAWN_DEPTH + 1);
    match path.get(path.len().saturating_sub(MAX_DRAWN_DEPTH)..) {
        Some([]) | None => tree.name(node).to_owned(),
        Some(end) if end.len() < path.len() => format!("…/{}", end.join("/")),
        Some(all) => all.join("/"),
    }
}

/// A difference with its sign.
fn signed(quantity: &str, by: f64) -> String {
    let text = match quantity {
        "usage" | "raw_usage" | "tickets" => amount(by),
        _ => format!("{by:.6}"),
    };
    if by > 0.0 { format!("+{text}") } else { text }
}

/// The jobs that gain or lose places, and then their entities.
fn places_sections<'a>((formula, table, places): (&'a str, &'a JobTable, &'a Comparison)) -> Vec<Section<'a>> {
    let moved: Vec<JobMove> = places.moves().filter(|job| job.old != job.new).collect();
    let count = format!("{} of {} considered jobs change their place", moved.len(), places.moves().len());
    let section = Section::new("places").prose(format!("by `{}`: {count}", formula.trim_end()));
    if moved.is_empty() {
        return vec![section];
    }
    let jobs = moved.into_iter().map(|job| {
        vec![
            Cell::text(table.id(job.row)),
            Cell::text(table.entity(job.row)),
            Cell::count(job.old),
            Cell::count(job.new),
            job.moved().map_or(Cell::Missing, Cell::Places),
        ]
    });
    let entities = entities_in_both(places)
        .map(|one| vec![Cell::text(&*one.name), Cell::Count(one.jobs), Cell::Places(one.won())]);
    let columns = vec![Column::name("entity", 9), Column::number("jobs", 7), Column::number("places won", 8)];
    let place_columns = vec![
        Column::id("job", 9),
        Column::text("entity", 5),
        Column::number("before", 8),
        Column::number("after", 8),
        Column::number("places won", 7),
    ];
    let section = section.table(Table::from_rows(place_columns, jobs));
    vec![section, Section::new("places of entities").table(Table::from_rows(columns, entities))]
}

/// What the columns are measured in.
fn units(views: &[PolicyView<'_>], usage_unit: &str) -> String {
    match views {
        [one] if one.is_pbs => format!("usage in {usage_unit}; perc, tree_usage and factor from 0 to 1"),
        [one] => {
            let has_level_fs = one.nodes.iter().any(|&node| association(one, node).level_fs.is_some());
            let has_tickets = one.nodes.iter().any(|&node| association(one, node).tickets.is_some());
            let level_fs = if has_level_fs {
                "; level_fs is shares divided by usage, among the siblings, 1 on target"
            } else {
                ""
            };
            let tickets = if has_tickets { "; tickets are counted" } else { "" };
            format!(
                "raw_usage in {usage_unit}; norm_shares, norm_usage, effective_usage and fairshare from 0 to \
                 1{level_fs}{tickets}"
            )
        }
        _ => format!("usage in {usage_unit}; factors from 0 to 1"),
    }
}

fn shown_number(name: &str, value: &Value) -> String {
    match (name, value.as_f64()) {
        ("usage" | "raw_usage" | "tickets", Some(usage)) => amount(usage),
        _ => plain(value),
    }
}

/// The node of another tree that has the path of each node, by index: the trees of several policies may differ.
fn counterparts(tree: &ShareTree, other: &ShareTree) -> Vec<Option<NodeId>> {
    let mut found: Vec<Option<NodeId>> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        found.push(match tree.parent(node) {
            None => Some(other.root()),
            Some(parent) => found[parent.index()].and_then(|above| other.find_in(above, tree.name(node))),
        });
    }
    found
}

/// The factor of a node's jobs, or the number that the policy computes for an account.
fn factor(view: &PolicyView<'_>, node: Option<NodeId>) -> Option<f64> {
    if !view.has_factors {
        return None;
    }
    let node = node?;
    if view.is_pbs || view.tree.kind(node) == NodeKind::Entity {
        return view.shares.get(node).map(|shares| shares.fairshare_factor);
    }
    association(view, node).fairshare
}

/// An amount with at most two decimals, or all its digits in scientific notation where doubles are no longer exact.
fn amount(value: f64) -> String {
    if value.is_finite() && value.abs() >= MAX_EXACT_FLOAT {
        return format!("{value:e}");
    }
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An integer as it is, another number with six decimals; an empty text for null.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if !number.is_i64() && !number.is_u64() => format!("{float:.6}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The deepest level that is drawn: without a limit, the lines of a chain of nodes take the square of its length.
const MAX_DRAWN_DEPTH: usize = 40;

/// The lines that join a node to its parent.
struct Branches<'a> {
    tree: &'a ShareTree,
    /// The last node shown of each parent's children, by parent.
    last: HashMap<NodeId, NodeId>,
}

impl<'a> Branches<'a> {
    fn new(tree: &'a ShareTree, nodes: &[NodeId]) -> Self {
        let shown = nodes.iter().filter_map(|&node| Some((tree.parent(node)?, node)));
        Self { tree, last: shown.collect() }
    }

    /// The lines to draw before the name of a node.
    fn prefix(&self, node: NodeId) -> String {
        let Some(parent) = self.tree.parent(node) else { return String::new() };
        let mut parts = vec![if self.is_last(parent, node) { "└─ " } else { "├─ " }];
        let mut below = parent;
        while let Some(above) = self.tree.parent(below)
            && parts.len() < MAX_DRAWN_DEPTH
        {
            parts.push(if self.is_last(above, below) { "   " } else { "│  " });
            below = above;
        }
        parts.into_iter().rev().collect()
    }

    fn is_last(&self, parent: NodeId, node: NodeId) -> bool {
        self.last.get(&parent) == Some(&node)
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use job_sort_formula::fairshare::{AssessedTree, FairTree, Member, PolicyRules, TreeBuilder};
    use jsf_site::UsageChange;

    use super::*;
    use crate::document::TerminalStyle;
    use crate::shares::Assumed;

    /// The lines of the tables, as they are and with a charge, in a terminal of this width.
    fn drawn(width: Option<usize>) -> [String; 2] {
        let mut builder = TreeBuilder::new("root");
        let group = builder.add(builder.root(), Member::group("group1").shares(40)).unwrap();
        let bob = builder.add(group, Member::entity("Bob").shares(50).usage(1e6)).unwrap();
        builder.add(group, Member::entity("Cathy").shares(50)).unwrap();
        let tree = builder.finish();
        let mut charged = tree.clone();
        charged.charge(bob, 1e6).expect("a usage");
        let [before, after] =
            [tree, charged].map(|tree| AssessedTree::new(tree, &FairTree::new(PolicyRules::Scheduler)));
        let nodes: Vec<NodeId> = after.tree().nodes().collect();
        let changes = [UsageChange::Charge { name: "Bob".to_owned(), amount: 1e6 }];
        let assumed = Assumed { before: &before, changes: &changes, described: "", places: None };
        [None, Some(assumed)].map(|assumed| {
            let view = PolicyView {
                name: "fair-tree",
                tree: after.tree(),
                shares: after.shares(),
                is_pbs: false,
                has_factors: true,
                nodes: &nodes,
                settings: None,
                assumed,
            };
            let mut text = Vec::new();
            let document = shares_document(&[view], &SharesHead { policies: &[], usage_unit: "s" });
            TerminalStyle { table_width: width, ..TerminalStyle::default() }.write(&document, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            text.lines().skip_while(|line| !line.starts_with("name ")).map(|line| format!("{line}\n")).collect()
        })
    }

    #[test]
    fn tables_drop_columns_until_they_fit() {
        let [tree, changes] = drawn(None);
        assert!(tree.contains("norm_shares") && changes.contains("before"));
        // no column for numbers that the policy does not have
        assert!(!tree.contains("tickets"), "{tree}");
        for width in 40..100 {
            for text in drawn(Some(width)) {
                let rows = text.lines().take_while(|line| !line.is_empty() && !line.starts_with("columns left out"));
                let widest = rows.map(UnicodeWidthStr::width).max();
                assert!(widest <= Some(width), "{width}: {text}");
                assert!(text.contains("Bob") && (text.contains("fairshare") || text.contains("after")), "{text}");
            }
        }
        let [tree, changes] = drawn(Some(50));
        assert!(tree.contains("columns left out: norm_shares, "), "{tree}");
        assert!(changes.contains("columns left out: before; --wide shows all"), "{changes}");
    }
}
