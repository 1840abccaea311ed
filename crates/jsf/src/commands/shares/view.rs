//! A fair-share tree for people: a table of its nodes with the numbers of one policy, or the
//! factors of several side by side; with assumed usage, what changes, and the places that jobs
//! gain; and a chart of the usage of each entity beside its share.

use std::iter;

use job_sort_formula::fairshare::{AssessedTree, NodeId, NodeKind, ShareTree};
use job_sort_formula::rank::JobMove;
use jsf_openpbs::files::fairshare_files::UNKNOWN_GROUP;
use jsf_openpbs::pbs_tree::MIN_USAGE;
use jsf_site::ComparedQueue;
use serde_json::Value;

use crate::asked_formula::AskedFormula;
use crate::commands::shares::{
    Change, PolicyView, SharesAnswer, depths, difference, end_of_path, excess, share_part, shares,
    usage_part,
};
use crate::view::charts::{Intervals, Row};
use crate::view::document::{
    Cell, Chart, Column, Document, Fact, MAX_LEVELS, Section, Table, branches, cells,
};
use crate::view::groups::{group_sections, move_cells, move_columns};
use crate::view::words::{
    capitalised, first_few, grouped, grouped_count, grouped_number, percent, signed_significant,
    significant,
};

/// A tree of at most so many nodes is on the first screen; of a larger one the entities farthest
/// from their shares are.
const SMALL_TREE: usize = 12;
/// How many entities over their shares, and how many under them, the first screen has.
const MOST_OF_EACH: usize = 5;
/// How many entities are named in a line.
const MOST_NAMED: usize = 5;
/// A smaller part of a whole is written as 0.
const LEAST_SHOWN: f64 = 5e-7;

impl SharesAnswer {
    /// What people see of it.
    pub(super) fn shown(&self) -> Document<'_> {
        let mut views = self.views(true);
        views.sort_by_key(|view| self.is_of_others && view.is_pbs());
        let is_one = views.len() == 1;
        let mut document = Document {
            command: "jsf shares",
            title: "Fair share".to_owned(),
            headline: String::new(),
            facts: Vec::new(),
            sections: Vec::new(),
            read_on: "",
        };
        let Some(first) = views.first() else {
            return document;
        };
        let mut policies = Fact::with_lines("policy", Vec::new());
        for view in &views {
            policies.lines.push(view.policy.description.clone());
        }
        document.facts.push(policies.in_full_if(!is_one));
        document.headline = headline(self, first);
        let is_assumed = first.policy.before.is_some();
        let is_brief =
            !is_assumed && total_usage(first.tree()) > 0.0 && first.nodes.len() > SMALL_TREE;
        let unit = Fact::new("usage", format!("in {}", first.policy.usage_unit));
        document.facts.push(unit.in_full_if(is_brief));
        let sections = &mut document.sections;
        sections.push(tree_section(first.assessed));
        if is_assumed {
            sections.extend(views.iter().filter_map(changes_section));
            if let Some((given, queue)) = &self.places {
                sections.extend(places_sections(given, queue));
            }
        } else {
            document.facts.extend(entity_facts(first));
            if is_brief {
                sections.extend(over_and_under_section(&views));
            }
            sections.push(nodes_section(&views).in_full_if(is_brief));
        }
        if is_assumed || !is_one {
            for view in &views {
                let section = Section::new(format!("shares under {}", view.name())).on_page();
                sections.push(section.table(shares_table(view, true)));
            }
        }
        document
    }
}

/// What the assumed usage changes, or the entities that are farthest from their shares.
fn headline(answer: &SharesAnswer, view: &PolicyView<'_>) -> String {
    if let Some(before) = view.before() {
        return assumed_headline(answer, view, &before);
    }
    let entities = entities_by_excess(view.assessed, view.nodes.clone());
    // in OpenPBS the usage of every node begins at 1
    let least = if view.is_pbs() { MIN_USAGE } else { 0.0 };
    if total_usage(view.tree()) <= least {
        return "No entity has any usage.".to_owned();
    }
    let [Some(&first), Some(&last)] = [entities.first(), entities.last()] else {
        return "The tree has no entities.".to_owned();
    };
    let (mut of, mut farthest) = (String::new(), "");
    if entities.len() > 1 {
        of = format!("Of {} entities ", grouped_number(entities.len()));
        farthest = " farthest";
    }
    let mut clauses = Vec::new();
    for (node, side, is_so) in [
        (first, "over", excess(view.assessed, first) > 0.0),
        (last, "under", excess(view.assessed, last) < 0.0),
    ] {
        if is_so {
            clauses.push(format!(
                "`{}` is{farthest} {side} its share ({} of the usage, {} of the shares)",
                shown_name(view.tree(), node),
                percent(usage_part(view.assessed, node)),
                percent(share_part(view.assessed, node))
            ));
        }
    }
    if clauses.is_empty() {
        clauses.push("the usage is as the shares are".to_owned());
    }
    capitalised(&format!("{of}{}.", clauses.join(", ")))
}

/// Who gains and who loses most by the assumed usage, and how many jobs move.
fn assumed_headline(
    answer: &SharesAnswer,
    view: &PolicyView<'_>,
    before: &PolicyView<'_>,
) -> String {
    let mut changed = Vec::new();
    for node in entities(view) {
        if let (Some(old), Some(new)) = (before.factor(node), view.factor(node)) {
            changed.push((node, old, new));
        }
    }
    changed.sort_by(|one, other| (other.2 - other.1).total_cmp(&(one.2 - one.1)));
    let mut told = Vec::new();
    if let Some(&(node, old, new)) = changed.first()
        && new > old
    {
        told.push((node, old, new, "gains most"));
    }
    if let Some(&(node, old, new)) = changed.last()
        && new < old
    {
        told.push((node, old, new, "loses most"));
    }
    let mut clauses = Vec::new();
    for (node, old, new, verb) in told {
        let name = shown_name(view.tree(), node);
        let [old, new] = [old, new].map(significant);
        // what looks equal is no change
        if old != new {
            clauses.push(format!("`{name}` {verb} (factor {old} → {new})"));
        }
    }
    if clauses.is_empty() {
        clauses.push("no factor is known to change".to_owned());
    }
    if let Some((_, queue)) = &answer.places {
        let moved = grouped_number(moved_jobs(queue).len());
        let all = grouped_count(queue.comparison.moves().len(), "job");
        clauses.push(format!("{moved} of {all} moved"));
    }
    let assumed = grouped(&view.policy.assumed);
    format!("If {assumed}: {}.", clauses.join(", "))
}

fn moved_jobs(queue: &ComparedQueue) -> Vec<JobMove> {
    let mut moves = Vec::from_iter(queue.comparison.moves());
    moves.retain(|job| job.old != job.new);
    moves
}

/// The entities that use something without shares, and those without a line in the tree: the
/// scheduler puts them into the group `unknown`.
fn entity_facts(view: &PolicyView<'_>) -> Vec<Fact> {
    let tree = view.tree();
    let mut entities = entities(view);
    entities.retain(|&node| usage_part(view.assessed, node) > 0.0);
    entities.sort_by(|&one, &other| tree.usage(other).total_cmp(&tree.usage(one)));
    let (mut without_shares, mut without_line) = (Vec::new(), Vec::new());
    for node in entities {
        let name = shown_name(tree, node);
        if share_part(view.assessed, node) <= 0.0 {
            let used = percent(usage_part(view.assessed, node));
            without_shares.push(format!("{name} {used} of the usage"));
        }
        if view.is_pbs() && group(tree, node) == Some(UNKNOWN_GROUP) {
            without_line.push(format!("{name} (group `{UNKNOWN_GROUP}`)"));
        }
    }
    let mut facts = Vec::new();
    for (heading, texts) in [
        ("without shares", without_shares),
        ("no line in the tree", without_line),
    ] {
        if !texts.is_empty() {
            let names = first_few(texts, MOST_NAMED);
            facts.push(Fact::new(heading, names));
        }
    }
    facts
}

/// The name of the group of a node.
fn group(tree: &ShareTree, node: NodeId) -> Option<&str> {
    Some(tree.name(tree.parent(node)?))
}

/// The entities among the nodes that are shown.
fn entities(view: &PolicyView<'_>) -> Vec<NodeId> {
    let mut nodes = view.nodes.clone();
    nodes.retain(|&node| view.tree().kind(node) == NodeKind::Entity);
    nodes
}

/// The entities that use most more than their shares, and those that use most less, in this order.
fn over_and_under_section<'a>(views: &[PolicyView<'a>]) -> Option<Section<'a>> {
    let first = views.first()?;
    let entities = entities_by_excess(first.assessed, first.nodes.clone());
    let over = farthest_with_shares(first.assessed, entities, MOST_OF_EACH);
    if over.is_empty() {
        return None;
    }
    let mut columns = vec![
        Column::text("entity", 9),
        Column::text("group", 3),
        Column::number("share", 8),
        Column::number("part of usage", 8),
        Column::number("points", 8),
    ];
    let mut factors = Vec::new();
    for view in views {
        if view.policy.has_factors {
            let heading = match views.len() {
                1 if view.is_pbs() => "factor",
                1 => "fairshare",
                _ => view.name(),
            };
            columns.push(Column::number(heading, 7));
            factors.push(Factors::new(first, view));
        }
    }
    let mut rows = Vec::new();
    for node in over {
        let points = excess(first.assessed, node) * 100.0;
        let mut cells = cells![
            shown_name(first.tree(), node),
            group(first.tree(), node),
            Cell::Share(share_part(first.assessed, node)),
            Cell::Share(usage_part(first.assessed, node)),
            Cell::Written(signed_significant(points), Some(points)),
        ];
        cells.extend(factors.iter().map(|factors| factors.cell(node)));
        rows.push(cells);
    }
    let mut table = Table::from_rows(columns, rows);
    table.names_dropped = views.len() > 1;
    let section = Section::new("farthest over and under their shares").in_text();
    Some(section.table(table))
}

/// The factors of the nodes of one tree under a policy, whose tree may differ.
struct Factors<'v> {
    view: &'v PolicyView<'v>,
    /// The node of its tree with the path of each node, by index.
    nodes: Vec<Option<NodeId>>,
}

impl<'v> Factors<'v> {
    fn new(first: &PolicyView<'_>, view: &'v PolicyView<'v>) -> Self {
        let nodes = counterparts(first.tree(), view.tree());
        Self { view, nodes }
    }

    fn cell(&self, node: NodeId) -> Cell<'static> {
        let node = self.nodes[node.index()];
        match node.and_then(|node| self.view.factor(node)) {
            Some(factor) => Cell::significant(factor),
            None => Cell::Missing,
        }
    }
}

/// The entities whose usage is farthest from their shares as a chart, and the tree as a table.
pub(crate) fn tree_section(assessed: &AssessedTree) -> Section<'_> {
    let mut section = Section::new("fair-share tree").on_page();
    let entities = farthest_entities(assessed);
    if !entities.is_empty() {
        section = section
            .prose(
                "The entities without shares (40 at most), and those farthest above and farthest below their shares \
                 (15 at most of each).",
            )
            .chart(move || draw(assessed, &entities));
    }
    section.table(parts_table(assessed).folded("The tree as a table"))
}

fn total_usage(tree: &ShareTree) -> f64 {
    tree.usage(tree.root())
}

/// The share of each node, and its part of the usage.
fn parts_table(assessed: &AssessedTree) -> Table<'_> {
    let tree = assessed.tree();
    let depths = depths(tree);
    let columns = [
        Column::name("name", 9),
        Column::number("share", 8),
        Column::number("part of the usage", 8),
        Column::number("usage / share", 8),
    ];
    Table::new(columns, tree.depth_first(), move |&node| {
        let shares = assessed.shares().get(node);
        let used = usage_part(assessed, node);
        cells![
            node_cell(tree, depths[node.index()], String::new(), node),
            shares.map(|shares| Cell::Share(shares.fairshare_perc)),
            Cell::Share(used),
            match share_part(assessed, node) {
                share if share > 0.0 => Cell::Decimals(used / share, 2),
                _ => Cell::Missing,
            },
        ]
    })
}

/// The name of a node.
fn node_cell(tree: &ShareTree, depth: usize, lines: String, node: NodeId) -> Cell<'_> {
    Cell::Node {
        lines,
        depth,
        text: shown_name(tree, node).into(),
        is_code: false,
    }
}

/// The names of the nodes that are shown, with the lines between them.
fn name_cells<'a>(view: &PolicyView<'a>) -> Vec<Cell<'a>> {
    let mut depths = Vec::new();
    for node in &view.nodes {
        depths.push(view.depths[node.index()]);
    }
    let mut cells = Vec::new();
    for (&node, lines) in iter::zip(&view.nodes, branches(&depths)) {
        cells.push(node_cell(view.tree(), depths[cells.len()], lines, node));
    }
    cells
}

/// The name of a node: the jobs that have no entity are charged to a node without one.
fn shown_name(tree: &ShareTree, node: NodeId) -> &str {
    match tree.name(node) {
        "" => "(no entity)",
        name => name,
    }
}

/// The nodes with the numbers of the only policy, or with the factors of all of them.
fn nodes_section<'a>(views: &[PolicyView<'a>]) -> Section<'a> {
    let first = &views[0];
    let table = match views {
        [only] => shares_table(only, true),
        _ => factors_table(first, views),
    };
    Section::new("shares").table(table)
}

/// A row for each node, with the numbers that JSON has, as far as some node has them, and perhaps
/// its part of all usage.
pub(crate) fn shares_table<'a>(view: &PolicyView<'a>, has_part: bool) -> Table<'a> {
    // all numbers at once, as they decide which columns are shown
    let mut rows = Vec::new();
    for (&node, name) in iter::zip(&view.nodes, name_cells(view)) {
        rows.push((node, name, view.numbers(node)));
    }
    let mut columns = vec![
        Column::name("name", 9),
        Column::number("part of usage", 7).shown_if(has_part),
    ];
    if let Some((.., numbers)) = rows.first() {
        for (index, &(heading, _)) in numbers.iter().enumerate() {
            // factors that are not known have a column that says so
            let is_unknown = matches!(heading, "fairshare" | "tickets") && !view.policy.has_factors;
            let is_used = is_unknown || rows.iter().any(|(.., row)| !row[index].1.is_null());
            columns.push(Column::number(heading, importance(heading)).shown_if(is_used));
        }
    }
    let assessed = view.assessed;
    Table::new(columns, rows, move |(node, name, numbers)| {
        let part = Cell::Share(usage_part(assessed, *node));
        let mut cells = vec![name.clone(), part];
        cells.extend(numbers.iter().map(|(_, value)| number_cell(value)));
        cells
    })
}

fn number_cell(value: &Value) -> Cell<'static> {
    match value {
        Value::Null => Cell::Missing,
        _ => Cell::Written(shown_number(value), value.as_f64()),
    }
}

/// The factors of several policies side by side.
fn factors_table<'a>(first: &PolicyView<'a>, views: &[PolicyView<'a>]) -> Table<'a> {
    let tree = first.tree();
    let mut columns = vec![
        Column::name("name", 9),
        Column::number("shares", 6),
        Column::number("usage", 7),
    ];
    let mut factors = Vec::new();
    for view in views {
        columns.push(Column::number(view.name(), 6));
        factors.push(Factors::new(first, view));
    }
    let mut rows = Vec::new();
    for (&node, name) in iter::zip(&first.nodes, name_cells(first)) {
        let mut cells = cells![
            name,
            number_cell(&shares(tree.shares(node))),
            Cell::significant(tree.usage(node)),
        ];
        cells.extend(factors.iter().map(|factors| factors.cell(node)));
        rows.push(cells);
    }
    Table::from_rows(columns, rows)
}

/// The importance of a column of numbers.
fn importance(heading: &str) -> u8 {
    match heading {
        "factor" | "fairshare" | "tickets" => 8,
        "usage" | "raw_usage" => 7,
        "shares" | "raw_shares" => 6,
        "perc" | "norm_shares" | "level_fs" => 5,
        "tree_usage" | "effective_usage" => 4,
        _ => 3,
    }
}

/// What the assumed usage changes: a line for each quantity of a node that differs.
fn changes_section<'a>(view: &PolicyView<'a>) -> Option<Section<'a>> {
    let mut changes = Vec::from_iter(view.changes());
    changes.sort_by(|left, right| effect(right).total_cmp(&effect(left)));
    let mut rows = Vec::new();
    for Change { node, quantities } in &changes {
        let mut name = short_path(view.tree(), *node);
        for (quantity, before, after) in quantities {
            let [old, new] = [before, after].map(shown_number);
            // what looks equal is no change
            if old != new {
                let by = difference(before, after);
                rows.push(vec![
                    Cell::prose(std::mem::take(&mut name)),
                    Cell::prose(*quantity),
                    Cell::Written(old, before.as_f64()),
                    Cell::Written(new, after.as_f64()),
                    Cell::Written(by.map(signed_significant).unwrap_or_default(), by),
                ]);
            }
        }
    }
    if rows.is_empty() {
        return None;
    }
    let columns = [
        Column::name("name", 9),
        Column::name("quantity", 9),
        Column::number("before", 6),
        Column::number("after", 8),
        Column::number("difference", 7),
    ];
    let section = Section::new(format!("what changes under {}", view.name()));
    Some(section.table(Table::from_rows(columns, rows)))
}

/// The last names of the path of a node.
fn short_path(tree: &ShareTree, node: NodeId) -> String {
    let path = end_of_path(tree, node, MAX_LEVELS);
    if path.is_empty() {
        tree.name(node).to_owned()
    } else {
        path.join("/")
    }
}

/// How much the factor of a node changes.
fn effect(change: &Change) -> f64 {
    for (name, before, after) in &change.quantities {
        if matches!(*name, "factor" | "fairshare") {
            return difference(before, after).unwrap_or(0.0).abs();
        }
    }
    0.0
}

/// The places of the jobs of each entity, and then the jobs that move.
fn places_sections<'a>(given: &AskedFormula, queue: &'a ComparedQueue) -> Vec<Section<'a>> {
    let mut sections =
        vec![Section::new("places").prose(format!("by `{}`", given.text().trim_end()))];
    let moved = moved_jobs(queue);
    if !moved.is_empty() {
        sections.extend(group_sections(&queue.comparison, false).into_iter().next());
        let jobs = Table::new(move_columns(), moved, |job| move_cells(queue.table(), job));
        sections.push(Section::new("places of jobs").table(jobs).in_full());
    }
    sections
}

/// A number with three significant digits, or the word for it; an empty text for null.
fn shown_number(value: &Value) -> String {
    match (value, value.as_f64()) {
        (Value::Null, _) => String::new(),
        (Value::String(text), _) => text.clone(),
        (_, Some(small)) if small.abs() < LEAST_SHOWN => "0".to_owned(),
        (_, Some(number)) => significant(number),
        (other, None) => other.to_string(),
    }
}

/// The node of another tree that has the path of each node, by index.
fn counterparts(tree: &ShareTree, other: &ShareTree) -> Vec<Option<NodeId>> {
    let mut found: Vec<Option<NodeId>> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        let Some(parent) = tree.parent(node) else {
            found.push(Some(other.root()));
            continue;
        };
        let above = found[parent.index()];
        found.push(above.and_then(|above| other.find_in(above, tree.name(node))));
    }
    found
}

/// The most entities that are drawn of those above, and of those below their shares.
const MAX_SIDE: usize = 15;
/// The most entities without shares that are drawn.
const MAX_WITHOUT: usize = 40;
/// A smaller part is drawn as 0.
const SMALLEST: f64 = 1e-5;

/// The entities without shares, and those farthest above and farthest below their shares, in this
/// order.
fn farthest_entities(assessed: &AssessedTree) -> Vec<NodeId> {
    let tree = assessed.tree();
    let entities = entities_by_excess(assessed, tree.nodes().collect());
    let mut without = entities.clone();
    without.retain(|&node| share_part(assessed, node) <= 0.0);
    without.truncate(MAX_WITHOUT);
    without.extend(farthest_with_shares(assessed, entities, MAX_SIDE));
    without
}

/// The entities among nodes, those that use most more than their shares first.
fn entities_by_excess(assessed: &AssessedTree, mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.retain(|&node| assessed.tree().kind(node) == NodeKind::Entity);
    nodes.sort_by(|&one, &other| excess(assessed, other).total_cmp(&excess(assessed, one)));
    nodes
}

/// Of entities in this order those with shares: so many above their shares, and so many below.
fn farthest_with_shares(
    assessed: &AssessedTree,
    mut entities: Vec<NodeId>,
    most: usize,
) -> Vec<NodeId> {
    entities.retain(|&node| share_part(assessed, node) > 0.0);
    let above = entities.partition_point(|&node| excess(assessed, node) > 0.0);
    let mut below = entities.split_off(above);
    entities.truncate(most);
    entities.extend(below.split_off(below.len().saturating_sub(most)));
    entities
}

fn draw(assessed: &AssessedTree, entities: &[NodeId]) -> Chart {
    let mut least: f64 = 1.0;
    let mut rows = Vec::new();
    for &node in entities {
        let name = shown_name(assessed.tree(), node);
        let [share, used] = [share_part(assessed, node), usage_part(assessed, node)];
        for part in [share, used] {
            // one entity that hardly uses anything would stretch the axis over many powers of ten
            if part >= SMALLEST {
                least = least.min(part);
            }
        }
        let mut words = vec![percent(share), percent(used)];
        if share <= 0.0 {
            "none".clone_into(&mut words[0]);
        }
        rows.push(Row {
            name: name.into(),
            line: Some(([share, used], "between")),
            marks: vec![(share, "old"), (used, "new")],
            title: format!("{name}: share {}, part of the usage {}", words[0], words[1]),
            words,
        });
    }
    // the power of ten at which the axis begins; not 1 itself, as `place` divides by the power
    let first = (least.log10().floor() as i32).min(-1);
    let mut ticks = vec![(0.0, "0".to_owned())];
    for power in first..=0 {
        let part = 10f64.powi(power);
        ticks.push((part, percent_of_axis(part)));
    }
    let intervals = Intervals {
        place: Box::new(move |part| place(part, first)),
        ticks,
        columns: vec!["share", "usage"],
        rows,
    };
    let name = "Each entity's share of the machine, and its part of the usage";
    intervals.chart(name, &[("old", "share"), ("new", "part of the usage")])
}

/// Where a part is on a logarithmic axis that begins at a power of ten, with 0 left of it.
fn place(part: f64, first: i32) -> f64 {
    /// Between 0 and the beginning of the axis, a part of its length.
    const GAP: f64 = 0.1;
    if part < SMALLEST {
        return 0.0;
    }
    GAP + (1.0 - GAP) * (1.0 - part.log10() / f64::from(first)).clamp(0.0, 1.0)
}

/// A power of ten in percent.
fn percent_of_axis(part: f64) -> String {
    let decimals = (-(part * 100.0).log10().round()).max(0.0) as usize;
    format!("{:.decimals$} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use job_sort_formula::fairshare::{AssessedTree, FairTree, Member, PolicyRules, TreeBuilder};
    use jsf_site::{PolicyName, PolicyShares, UsageChange};
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::answers::Answer;
    use crate::commands::shares::{AssumedUsage, SharesQuestion};
    use crate::view::document::terminal::TerminalStyle;

    /// The lines of the tables, as they are and with a charge, in a terminal of this width.
    fn drawn(width: usize) -> [String; 2] {
        let mut builder = TreeBuilder::new("root");
        let group = builder
            .add(builder.root(), Member::group("group1").shares(40))
            .unwrap();
        let bob = builder
            .add(group, Member::entity("Bob").shares(50).usage(1e6))
            .unwrap();
        builder
            .add(group, Member::entity("Cathy").shares(50))
            .unwrap();
        let tree = builder.finish();
        let mut charged = tree.clone();
        charged.charge(bob, 1e6).expect("a usage");
        let [before, after] = [tree, charged]
            .map(|tree| AssessedTree::new(tree, &FairTree::new(PolicyRules::Scheduler)));
        let changes = [UsageChange::Charge {
            name: "Bob".to_owned(),
            amount: 1e6,
        }];
        [None, Some(before)].map(|before| {
            let policy = PolicyShares {
                policy: PolicyName::FairTree,
                assessed: after.clone(),
                before,
                has_factors: true,
                description: String::new(),
                settings: jsf_site::PolicySettings::default(),
                assumed: String::new(),
                usage_unit: "s".to_owned(),
                notes: Vec::new(),
            };
            let mut text = Vec::new();
            let answer = SharesAnswer {
                question: SharesQuestion {
                    assumed: AssumedUsage {
                        changes: changes.to_vec(),
                    },
                    ..SharesQuestion::default()
                },
                is_of_others: false,
                policies: vec![policy],
                places: None,
            };
            let document = answer.document();
            TerminalStyle {
                table_width: width,
                ..TerminalStyle::default()
            }
            .write(&document, &mut text)
            .unwrap();
            let text = String::from_utf8(text).unwrap();
            text.lines()
                .skip_while(|line| !line.starts_with("name "))
                .map(|line| format!("{line}\n"))
                .collect()
        })
    }

    #[test]
    fn tables_drop_columns_until_they_fit() {
        let [tree, changes] = drawn(usize::MAX);
        assert!(tree.contains("norm_shares") && changes.contains("before"));
        // no column for numbers that the policy does not have
        assert!(!tree.contains("tickets"), "{tree}");
        for width in 40..100 {
            for text in drawn(width) {
                let rows = text
                    .lines()
                    .take_while(|line| !line.is_empty() && !line.starts_with("columns left out"));
                let widest = rows.map(UnicodeWidthStr::width).max();
                assert!(widest <= Some(width), "{width}: {text}");
                assert!(
                    text.contains("Bob") && (text.contains("fairshare") || text.contains("after")),
                    "{text}"
                );
            }
        }
        let [tree, changes] = drawn(50);
        assert!(
            tree.contains("columns left out: raw_shares, norm_shares, "),
            "{tree}"
        );
        assert!(
            changes.contains("columns left out: before; --wide shows all"),
            "{changes}"
        );
    }

    #[test]
    fn entities_without_shares_are_always_drawn() {
        let mut builder = TreeBuilder::new("root");
        for index in 0..100u32 {
            let usage = f64::from(index * 20);
            builder
                .add(
                    builder.root(),
                    Member::entity(format!("u{index}")).shares(10).usage(usage),
                )
                .unwrap();
        }
        builder
            .add(
                builder.root(),
                Member::entity("none").shares(0).usage(5000.0),
            )
            .unwrap();
        builder
            .add(builder.root(), Member::entity("idle").shares(0))
            .unwrap();
        let tree = AssessedTree::new(builder.finish(), &FairTree::new(PolicyRules::Scheduler));
        let entities = farthest_entities(&tree);
        let names: Vec<&str> = entities
            .iter()
            .map(|&node| tree.tree().name(node))
            .collect();
        assert_eq!(names.len(), 32);
        assert_eq!(
            (names[0], names[1], names[2], names[31]),
            ("none", "idle", "u99", "u0")
        );
        let Chart {
            wide: chart,
            narrow,
            ..
        } = draw(&tree, &entities);
        assert_eq!(narrow.matches("<circle").count(), 64);
        assert_eq!(chart.matches("<circle").count(), 64);
        assert!(chart.contains("none: share none, part of the usage ") && !chart.contains("NaN"));
    }

    #[test]
    fn the_axis_has_whole_percentages() {
        assert_eq!(
            [1.0, 0.1, 0.01, 0.001].map(percent_of_axis),
            ["100 %", "10 %", "1 %", "0.1 %"]
        );
    }
}
