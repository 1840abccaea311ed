//! A fair-share tree for people: a table of its nodes with the numbers of one policy, or the
//! factors of several side by side; with assumed usage, what changes, and the places that jobs
//! gain.

use std::cmp::Ordering;

use job_sort_formula::fairshare::{NodeId, NodeKind, ShareTable, ShareTree};
use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{Comparison, JobMove, OldNew};
use jsf_openpbs::files::resource_group::UNKNOWN_GROUP;
use jsf_openpbs::files::usage::MIN_USAGE;
use jsf_site::UsageChange;
use serde_json::Value;

use crate::commands::shares::answer::{
    Assumed, Change, PolicyView, SharesReport, association, changes, depths, difference,
    end_of_path, entities_in_both, numbers, shares,
};
use crate::commands::shares::chart::{Dots, LEGEND};
use crate::view::branches::{MAX_LEVELS, branches};
use crate::view::document::{Cell, Chart, Column, Document, Fact, Section, Table};
use crate::view::words::{
    count, first_names, grouped, grouped_number, percent, signed_significant, significant,
};

/// A tree of at most so many nodes is on the first screen; of a larger one the entities farthest
/// from their shares are.
const SMALL_TREE: usize = 12;
/// How many entities over their shares, and how many under them, the first screen has.
const MOST_OF_EACH: usize = 5;
/// How many entities without shares are named before the tables.
const MOST_NAMED: usize = 5;

/// The document of a tree under one policy or several.
pub(crate) fn shares_document<'a>(report: &SharesReport<'a>) -> Document<'a> {
    let views = report.shown;
    let mut facts = Fact::list(
        report
            .policies
            .iter()
            .map(|policy| ("policy", policy.clone())),
    );
    facts.push(Fact::new("units", units(views, report.usage_unit)));
    let mut sections = Vec::new();
    if let Some(first) = views.first() {
        let is_one = views.len() == 1;
        let has_usage = first.tree.usage(first.tree.root()) > 0.0;
        let is_brief = first.assumed.is_some() || (has_usage && first.nodes.len() > SMALL_TREE);
        let is_shown = |fact: &Fact| is_one && (!is_brief || fact.heading == "policy");
        facts = facts
            .into_iter()
            .map(|fact| {
                if is_shown(&fact) {
                    fact
                } else {
                    fact.in_full()
                }
            })
            .collect();
        facts.extend(
            first
                .assumed
                .filter(|_| is_one)
                .map(|assumed| assumed_fact(first, &assumed)),
        );
        sections.push(tree_section(first.tree, first.shares));
        match first.assumed {
            Some(_) => sections.extend(views.iter().map(|view| changes_section(*view, is_one))),
            None => {
                facts.extend(without_shares_fact(first));
                facts.extend(without_line_fact(first));
                sections.extend(over_and_under_section(views).filter(|_| is_brief));
                sections.push(nodes_section(views).in_full_if(is_brief));
                sections.extend(without_shares_section(first));
            }
        }
        sections.extend(
            first
                .assumed
                .and_then(|assumed| assumed.places)
                .into_iter()
                .flat_map(places_sections),
        );
        let shown = views.iter().filter(|_| first.assumed.is_some() || !is_one);
        sections.extend(shown.map(|view| {
            let heading = if is_one {
                "shares".to_owned()
            } else {
                format!("shares under {}", view.name)
            };
            Section::new(heading)
                .on_page()
                .table(shares_table(*view, true))
        }));
    }
    let headline = views.first().map_or_else(String::new, headline);
    Document {
        command: "jsf shares",
        title: "Fair share".to_owned(),
        headline,
        facts,
        sections,
        read_on: "",
    }
}

/// The entities that are farthest from their shares, or what the assumed usage changes.
fn headline(view: &PolicyView<'_>) -> String {
    let assumed = view
        .assumed
        .and_then(|assumed| assumed_headline(view, &assumed));
    let entities = shown_entities(view);
    let is_part = view.nodes.len() < view.tree.len();
    assumed.unwrap_or_else(|| match entities.as_slice() {
        [] => "The tree has no entities.".to_owned(),
        [one] if is_part => {
            let factor = factor(view, Some(*one))
                .map(|factor| format!("; its factor is {}", significant(factor)));
            let (name, share) = (view.tree.name(*one), percent(share_part(view.shares, *one)));
            let used = percent(usage_part(view.tree, *one));
            format!(
                "`{name}` has {share} of the shares, and {used} of the usage{}.",
                factor.unwrap_or_default()
            )
        }
        several => {
            let number = grouped_number(several.len());
            let among = match (is_part, several.len()) {
                (true, _) => format!("the {number} entities shown"),
                (false, 1) => "1 entity".to_owned(),
                (false, _) => format!("{number} entities"),
            };
            farthest(view, several, &format!("Of {among}"))
        }
    })
}

/// Which of the entities use most more than their shares, and which most less.
fn farthest(view: &PolicyView<'_>, entities: &[NodeId], subject: &str) -> String {
    let least = if view.is_pbs { MIN_USAGE } else { 0.0 };
    if view.tree.usage(view.tree.root()) <= least {
        return format!("{subject} none has any usage.");
    }
    let by_excess =
        |left: &&NodeId, right: &&NodeId| excess(view, **left).total_cmp(&excess(view, **right));
    let parts = |node: NodeId| {
        let share = percent(share_part(view.shares, node));
        let line = if has_no_line(view, node) {
            "; it has no line in the tree"
        } else {
            ""
        };
        format!(
            "({} of the usage, {share} of the shares{line})",
            percent(usage_part(view.tree, node))
        )
    };
    // of those that are equally far, the first one
    let over = entities
        .iter()
        .rev()
        .max_by(by_excess)
        .filter(|&&node| excess(view, node) > 0.0);
    let under = entities
        .iter()
        .min_by(by_excess)
        .filter(|&&node| excess(view, node) < 0.0);
    let over = over.map(|&node| {
        format!(
            "`{}` is farthest over its share {}",
            view.tree.name(node),
            parts(node)
        )
    });
    let under = under.map(|&node| {
        format!(
            "`{}` is farthest under it {}",
            view.tree.name(node),
            parts(node)
        )
    });
    match (over, under) {
        (Some(over), Some(under)) => format!("{subject} {over}, {under}."),
        (Some(over), None) => format!("{subject} {over}."),
        (None, _) => format!("{subject} none is over its share."),
    }
}

/// Who gains and who loses most by the assumed usage, and how many jobs change their place; `None`
/// if no factor is known.
fn assumed_headline(view: &PolicyView<'_>, assumed: &Assumed<'_>) -> Option<String> {
    let before = view.before()?;
    let changes = shown_entities(view).into_iter().filter_map(|node| {
        let (old, new) = (factor(&before, Some(node))?, factor(view, Some(node))?);
        Some((node, OldNew { old, new }))
    });
    let mut changes: Vec<(NodeId, OldNew<f64>)> = changes.collect();
    changes
        .sort_by(|(_, left), (_, right)| (right.new - right.old).total_cmp(&(left.new - left.old)));
    let words = |verb: &str, is_most: bool, node: NodeId, factor: OldNew<f64>| {
        let most = if is_most && changes.len() > 1 {
            " most"
        } else {
            ""
        };
        let [old, new] = [factor.old, factor.new].map(significant);
        format!(
            "`{}` {verb}{most} (factor {old} to {new})",
            shown_name(view.tree, node)
        )
    };
    // what looks equal is no change
    let is_seen = |factor: OldNew<f64>| significant(factor.old) != significant(factor.new);
    let gains = *changes.first()?;
    let loses = *changes.last()?;
    let charged = charged_entity(view, assumed)
        .and_then(|node| changes.iter().find(|(known, _)| *known == node).copied());
    let is_other = |node: NodeId| charged.is_none_or(|(charged, _)| charged != node);
    let of_charged = charged.map(|(node, factor)| match factor.new.total_cmp(&factor.old) {
        Ordering::Greater => words("gains", node == gains.0, node, factor),
        Ordering::Less => words("loses", node == loses.0, node, factor),
        Ordering::Equal => format!("`{}` keeps its factor", shown_name(view.tree, node)),
    });
    let gains = (gains.1.new > gains.1.old && is_seen(gains.1) && is_other(gains.0))
        .then(|| words("gains", true, gains.0, gains.1));
    let loses = (loses.1.new < loses.1.old && is_seen(loses.1) && is_other(loses.0))
        .then(|| words("loses", true, loses.0, loses.1));
    let mut clauses: Vec<String> = of_charged.into_iter().chain(gains).chain(loses).collect();
    if clauses.is_empty() {
        clauses.push("no factor changes".to_owned());
    }
    clauses.extend(assumed.places.map(|(.., places)| moved_jobs(places)));
    Some(format!(
        "If {}: {}.",
        grouped(assumed.described),
        clauses.join(", ")
    ))
}

/// The entity to which the last assumed charge is made, by its name or its path.
fn charged_entity(view: &PolicyView<'_>, assumed: &Assumed<'_>) -> Option<NodeId> {
    let name = assumed
        .changes
        .iter()
        .rev()
        .find_map(|change| match change {
            UsageChange::Charge { name, .. } => Some(name),
            UsageChange::Decay(_) => None,
        })?;
    let is_charged =
        |node: &NodeId| view.tree.name(*node) == name || short_path(view.tree, *node) == *name;
    shown_entities(view).into_iter().find(is_charged)
}

/// How many jobs change their place.
fn moved_jobs(places: &Comparison) -> String {
    let moved = places.moves().filter(|job| job.old != job.new).count();
    let [moves, all] = [moved, places.moves().len()].map(grouped_number);
    match moved {
        0 => "and no job changes its place".to_owned(),
        1 => format!("and 1 of {all} jobs changes its place"),
        _ => format!("and {moves} of {all} jobs change their place"),
    }
}

/// What is assumed, which the headline says already if it can tell what that changes.
fn assumed_fact(view: &PolicyView<'_>, assumed: &Assumed<'_>) -> Fact {
    let fact = Fact::new("assumed", grouped(assumed.described));
    if view.has_factors {
        fact.in_full()
    } else {
        fact
    }
}

/// The entities among the nodes that are shown.
fn shown_entities(view: &PolicyView<'_>) -> Vec<NodeId> {
    view.nodes
        .iter()
        .copied()
        .filter(|&node| view.tree.kind(node) == NodeKind::Entity)
        .collect()
}

/// The entities that use most more than their shares, and those that use most less, in this order.
fn over_and_under_section<'a>(views: &[PolicyView<'a>]) -> Option<Section<'a>> {
    let first = *views.first()?;
    let mut entities = shown_entities(&first);
    entities.retain(|&node| share_part(first.shares, node) > 0.0);
    entities.sort_by(|&left, &right| excess(&first, right).total_cmp(&excess(&first, left)));
    let over = entities
        .iter()
        .take_while(|&&node| excess(&first, node) > 0.0)
        .take(MOST_OF_EACH);
    let under = entities
        .iter()
        .rev()
        .take_while(|&&node| excess(&first, node) < 0.0)
        .take(MOST_OF_EACH);
    let under: Vec<NodeId> = under.copied().collect();
    let shown: Vec<NodeId> = over.copied().chain(under.into_iter().rev()).collect();
    let section = Section::new("farthest over and under their shares").in_text();
    (!shown.is_empty())
        .then(|| section.table(entities_table(views, shown).naming_dropped(views.len() > 1)))
}

/// Entities with their shares, their parts of the usage, and their factors under each policy.
fn entities_table<'a>(views: &[PolicyView<'a>], entities: Vec<NodeId>) -> Table<'a> {
    let first = views[0];
    let ratio_of =
        move |node: NodeId| match (share_part(first.shares, node), usage_part(first.tree, node)) {
            (share, used) if share > 0.0 => ratio(used / share),
            _ => Cell::Missing,
        };
    let mut table = Table::of(entities)
        .column(Column::text("entity", 9), move |&node| {
            Cell::text(shown_name(first.tree, node))
        })
        .column(Column::text("group", 3), move |&node| {
            Cell::text(
                first
                    .tree
                    .parent(node)
                    .map_or("", |parent| first.tree.name(parent)),
            )
        })
        .column(Column::number("share", 8), move |&node| {
            Cell::Share(share_part(first.shares, node))
        })
        .column(Column::number("part of usage", 8), move |&node| {
            Cell::Share(usage_part(first.tree, node))
        })
        .column(Column::number("points", 8), move |&node| {
            points(excess(&first, node))
        })
        .column(Column::number("usage / share", 5), move |&node| {
            ratio_of(node)
        });
    let known: Vec<&PolicyView<'a>> = views.iter().filter(|view| view.has_factors).collect();
    for view in &known {
        let column = match known.len() {
            1 if view.is_pbs => Column::number("factor", 7),
            1 => Column::number("fairshare", 7),
            _ => Column::number(view.name, 6),
        };
        table = table.column(column, factor_cell(first, **view));
    }
    table.table()
}

/// The factor of a node of the first tree under a policy, whose tree may differ.
fn factor_cell<'a>(
    first: PolicyView<'a>,
    view: PolicyView<'a>,
) -> impl Fn(&NodeId) -> Cell<'a> + Sync + 'a {
    let nodes = counterparts(first.tree, view.tree);
    move |node| factor(&view, nodes[node.index()]).map_or(Cell::Missing, Cell::significant)
}

/// A difference between two parts of a whole, in percentage points.
fn points(difference: f64) -> Cell<'static> {
    let points = difference * 100.0;
    Cell::Written(signed_significant(points), Some(points))
}

/// How many times its share an entity uses; next to nothing is written as 0.
fn ratio(ratio: f64) -> Cell<'static> {
    if ratio < 0.0005 {
        Cell::Written("0".to_owned(), Some(ratio))
    } else {
        Cell::significant(ratio)
    }
}

/// The entities without shares that use something, those that use most first.
fn without_shares(view: &PolicyView<'_>) -> Vec<NodeId> {
    let mut entities = shown_entities(view);
    entities
        .retain(|&node| share_part(view.shares, node) <= 0.0 && usage_part(view.tree, node) > 0.0);
    entities.sort_by(|&left, &right| view.tree.usage(right).total_cmp(&view.tree.usage(left)));
    entities
}

/// The entities without shares, and what they use.
fn without_shares_fact(view: &PolicyView<'_>) -> Option<Fact> {
    let entities = without_shares(view);
    let (named, others) = entities.split_at(entities.len().min(MOST_NAMED));
    let used = |node: &NodeId| {
        format!(
            "{} {}",
            view.tree.name(*node),
            percent(usage_part(view.tree, *node))
        )
    };
    let mut texts: Vec<String> = named.iter().map(used).collect();
    if !others.is_empty() {
        let used: f64 = others.iter().map(|&node| usage_part(view.tree, node)).sum();
        texts.push(format!(
            "{} more {}",
            grouped_number(others.len()),
            percent(used)
        ));
    }
    (!texts.is_empty()).then(|| {
        Fact::new(
            "without shares",
            format!("{} of the usage", texts.join(", ")),
        )
    })
}

/// The entities that use something, but have no line in the tree: the scheduler puts them into the
/// group `unknown`.
fn without_line_fact(view: &PolicyView<'_>) -> Option<Fact> {
    let mut entities = shown_entities(view);
    entities.retain(|&node| has_no_line(view, node) && view.tree.usage(node) > 0.0);
    let names = entities.iter().map(|&node| shown_name(view.tree, node));
    let names = first_names(names, MOST_NAMED);
    (!names.is_empty()).then(|| {
        Fact::new(
            "no line in the tree",
            format!("{names} (group `{UNKNOWN_GROUP}`)"),
        )
    })
}

/// Whether an entity is in the group into which the scheduler puts those that the tree does not
/// name.
fn has_no_line(view: &PolicyView<'_>, node: NodeId) -> bool {
    let parent = view.tree.parent(node);
    view.is_pbs && parent.is_some_and(|parent| view.tree.name(parent) == UNKNOWN_GROUP)
}

/// All entities without shares, if some are not named before the tables.
fn without_shares_section<'a>(view: &PolicyView<'a>) -> Option<Section<'a>> {
    let entities = without_shares(view);
    let section = Section::new("entities without shares").in_text().in_full();
    (entities.len() > MOST_NAMED).then(|| section.table(entities_table(&[*view], entities)))
}

/// How much more of the machine a node has used than its share.
fn excess(view: &PolicyView<'_>, node: NodeId) -> f64 {
    usage_part(view.tree, node) - share_part(view.shares, node)
}

/// The entities whose usage is farthest from their shares as a chart, and the tree as a table.
pub(crate) fn tree_section<'a>(tree: &'a ShareTree, shares: &'a ShareTable) -> Section<'a> {
    let dots = Dots::new(tree, shares);
    let note = match dots.omitted() {
        0 => "Those farthest above their shares come first; entities without shares are on top."
            .to_owned(),
        omitted => format!(
            "The entities without shares, and the 15 farthest above and the 15 farthest below their shares; {} {} not drawn.",
            grouped_number(omitted),
            if omitted == 1 {
                "other is"
            } else {
                "others are"
            }
        ),
    };
    let section = Section::new("fair-share tree").on_page();
    let section = if dots.is_empty() {
        section
    } else {
        section
            .prose(note)
            .chart(move || Chart::new(dots.draw(), &LEGEND))
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
    if total > 0.0 {
        tree.usage(node) / total
    } else {
        0.0
    }
}

/// The share of each node, and its part of the usage.
fn parts_table<'a>(tree: &'a ShareTree, shares: &'a ShareTable) -> Table<'a> {
    let depths = depths(tree);
    let share = |node: NodeId| shares.get(node).map(|shares| shares.fairshare_perc);
    Table::of(tree.depth_first())
        .column(Column::name("name", 9), move |&node| {
            node_cell(tree, depths[node.index()] as usize, String::new(), node)
        })
        .column(Column::number("share", 8), move |&node| {
            Cell::share(share(node))
        })
        .column(Column::number("part of the usage", 8), move |&node| {
            Cell::Share(usage_part(tree, node))
        })
        .column(Column::number("usage / share", 8), move |&node| {
            let share = share(node).filter(|share| *share > 0.0);
            Cell::decimals(share.map(|share| usage_part(tree, node) / share), 2)
        })
        .table()
}

/// The depths of the nodes that are shown.
fn depths_of(view: PolicyView<'_>) -> Vec<usize> {
    let depths = depths(view.tree);
    view.nodes
        .iter()
        .map(|node| depths[node.index()] as usize)
        .collect()
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

/// The name of a node: the jobs that have no entity are charged to a node without one.
fn shown_name(tree: &ShareTree, node: NodeId) -> &str {
    match tree.name(node) {
        "" => "(no entity)",
        name => name,
    }
}

/// The nodes with the numbers of the only policy, or with the factors of all of them.
fn nodes_section<'a>(views: &[PolicyView<'a>]) -> Section<'a> {
    let table = match views {
        [only] => shares_table(*only, true),
        _ => factors_table(views),
    };
    Section::new("shares")
        .table(table)
        .prose(deep_nodes(views[0]))
}

/// The note on the nodes that are drawn above their own level.
fn deep_nodes(view: PolicyView<'_>) -> String {
    let deep = view
        .nodes
        .iter()
        .filter(|&&node| view.tree.ancestors(node).nth(MAX_LEVELS).is_some());
    match deep.count() {
        0 => String::new(),
        deep => format!(
            "deeper than {MAX_LEVELS} levels, and drawn on that level: {}",
            count(deep, "node")
        ),
    }
}

/// A row for each node, with the numbers that JSON has, as far as some node has them, and perhaps
/// its part of all usage.
pub(crate) fn shares_table(view: PolicyView<'_>, has_part: bool) -> Table<'_> {
    let names: Vec<&str> = match view.nodes.first() {
        Some(&node) => numbers(&view, node)
            .into_iter()
            .map(|(name, _)| name)
            .collect(),
        None => Vec::new(),
    };
    let is_used = |(index, name): (usize, &&str)| {
        // factors that are not known have a column that says so
        let is_unknown = matches!(*name, "fairshare" | "tickets") && !view.has_factors;
        is_unknown
            || view
                .nodes
                .iter()
                .any(|&node| !numbers(&view, node)[index].1.is_null())
    };
    let is_used: Vec<bool> = names.iter().enumerate().map(is_used).collect();
    let used = names.iter().zip(&is_used).filter(|(_, is_used)| **is_used);
    let columns = used.map(|(name, _)| Column::number(*name, importance(name)));
    let mut columns: Vec<Column> = std::iter::once(Column::name("name", 9))
        .chain(columns)
        .collect();
    // beside the shares
    let part = columns
        .iter()
        .rposition(|column| SHARES.contains(&column.heading.as_str()))
        .unwrap_or(0)
        + 1;
    if has_part {
        columns.insert(part, Column::number("part of usage", 7));
    }
    let depths = depths_of(view);
    let branches = branches(&depths);
    Table::new(columns, view.nodes.len(), move |index| {
        let node = view.nodes[index];
        let name = node_cell(view.tree, depths[index], branches[index].clone(), node);
        let used = numbers(&view, node)
            .into_iter()
            .zip(&is_used)
            .filter(|(_, is_used)| **is_used);
        let cells = used.map(|((_, value), _)| number_cell(&value));
        let mut cells: Vec<Cell<'_>> = std::iter::once(name).chain(cells).collect();
        if has_part {
            cells.insert(part, Cell::Share(usage_part(view.tree, node)));
        }
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
fn factors_table<'a>(views: &[PolicyView<'a>]) -> Table<'a> {
    let first = views[0];
    let depths = depths_of(first);
    let lines = branches(&depths);
    let rows = first
        .nodes
        .iter()
        .copied()
        .zip(depths.into_iter().zip(lines));
    let mut table = Table::of(rows)
        .column(Column::name("name", 9), move |(node, (depth, lines))| {
            node_cell(first.tree, *depth, lines.clone(), *node)
        })
        .column(Column::number("shares", 6), move |(node, _)| {
            number_cell(&shares(first.tree.shares(*node)))
        })
        .column(Column::number("usage", 7), move |(node, _)| {
            Cell::significant(first.tree.usage(*node))
        });
    for view in views {
        let cell = factor_cell(first, *view);
        table = table.column(
            Column::number(view.name, importance(view.name)),
            move |(node, _)| cell(node),
        );
    }
    table.table()
}

/// The columns of shares, which are followed by the part of the usage.
const SHARES: [&str; 4] = ["shares", "perc", "raw_shares", "norm_shares"];

/// The importance of a column of numbers.
fn importance(heading: &str) -> u8 {
    match heading {
        "factor" | "fairshare" | "tickets" => 8,
        "usage" | "raw_usage" => 7,
        "shares" | "raw_shares" => 6,
        "perc" | "norm_shares" | "level_fs" => 5,
        "tree_usage" | "effective_usage" => 4,
        "norm_usage" => 3,
        // the factor of one of several policies
        _ => 6,
    }
}

/// What the assumed usage changes: a line for each quantity of a node that differs.
fn changes_section<'a>(view: PolicyView<'a>, is_one: bool) -> Section<'a> {
    let mut rows = Vec::new();
    let mut changed = 0;
    let mut nodes: Vec<Change> = changes(&view).collect();
    nodes.sort_by(|left, right| effect(right).total_cmp(&effect(left)));
    for change in nodes {
        changed += 1;
        let mut name = short_path(view.tree, change.node);
        for (quantity, first, second) in change
            .quantities
            .iter()
            .filter(|(_, first, second)| first != second)
        {
            let shown = [first, second].map(shown_number);
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
                Cell::Written(by.map_or_else(String::new, signed_significant), by),
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
    let section = Section::new(heading).prose(format!(
        "{changed} of the {} entities and groups shown change",
        view.nodes.len()
    ));
    if rows.is_empty() {
        section
    } else {
        section.table(Table::from_rows(columns, rows))
    }
}

/// The last names of the path of a node.
fn short_path(tree: &ShareTree, node: NodeId) -> String {
    let path = end_of_path(tree, node, MAX_LEVELS + 1);
    match path.get(path.len().saturating_sub(MAX_LEVELS)..) {
        Some([]) | None => tree.name(node).to_owned(),
        Some(end) if end.len() < path.len() => format!("…/{}", end.join("/")),
        Some(all) => all.join("/"),
    }
}

/// How much the factor of a node changes.
fn effect(change: &Change) -> f64 {
    let factor = change
        .quantities
        .iter()
        .find(|(name, ..)| matches!(*name, "factor" | "fairshare"));
    factor
        .and_then(|(_, first, second)| difference(first, second))
        .map_or(0.0, f64::abs)
}

/// The jobs that gain or lose places, and then their entities.
fn places_sections<'a>(
    (formula, table, places): (&'a str, &'a JobTable, &'a Comparison),
) -> Vec<Section<'a>> {
    let moved: Vec<JobMove> = places.moves().filter(|job| job.old != job.new).collect();
    let count = format!(
        "{} of {} considered jobs change their place",
        moved.len(),
        places.moves().len()
    );
    let section = Section::new("places").prose(format!("by `{}`: {count}", formula.trim_end()));
    if moved.is_empty() {
        return vec![section];
    }
    let entities = Table::of(entities_in_both(places))
        .column(Column::name("entity", 9), |one| Cell::text(&*one.name))
        .column(Column::number("jobs", 7), |one| Cell::Count(one.jobs))
        .column(Column::number("places won", 8), |one| {
            Cell::Places(one.won())
        });
    let jobs = Table::of(moved)
        .column(Column::id("job", 9), |job| Cell::text(table.id(job.row)))
        .column(Column::text("entity", 5), |job| {
            Cell::text(table.entity(job.row))
        })
        .column(Column::number("before", 8), |job| Cell::count(job.old))
        .column(Column::number("after", 8), |job| Cell::count(job.new))
        .column(Column::number("places won", 7), |job| {
            job.moved().map_or(Cell::Missing, Cell::Places)
        });
    vec![
        Section::new("places of entities").table(entities.table()),
        section.table(jobs.table()).in_full(),
    ]
}

/// What the columns are measured in.
fn units(views: &[PolicyView<'_>], usage_unit: &str) -> String {
    match views {
        [one] if one.is_pbs => {
            format!("usage in {usage_unit}; perc, tree_usage and factor from 0 to 1")
        }
        [one] => {
            let has_level_fs = one
                .nodes
                .iter()
                .any(|&node| association(one, node).level_fs.is_some());
            let has_tickets = one
                .nodes
                .iter()
                .any(|&node| association(one, node).tickets.is_some());
            let level_fs = if has_level_fs {
                "; level_fs is shares divided by usage, among the siblings, 1 on target"
            } else {
                ""
            };
            let tickets = if has_tickets {
                "; tickets are counted"
            } else {
                ""
            };
            format!(
                "raw_usage in {usage_unit}; norm_shares, norm_usage, effective_usage and fairshare from 0 to \
                 1{level_fs}{tickets}"
            )
        }
        _ => format!("usage in {usage_unit}; factors from 0 to 1"),
    }
}

/// A smaller part of a whole is written as 0.
const LEAST_SHOWN: f64 = 5e-7;

/// A number with three significant digits, or the word for it; an empty text for null.
fn shown_number(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(small) if small.abs() < LEAST_SHOWN => "0".to_owned(),
            Some(number) => significant(number),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The node of another tree that has the path of each node, by index: the trees of several policies
/// may differ.
fn counterparts(tree: &ShareTree, other: &ShareTree) -> Vec<Option<NodeId>> {
    let mut found: Vec<Option<NodeId>> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        found.push(match tree.parent(node) {
            None => Some(other.root()),
            Some(parent) => {
                found[parent.index()].and_then(|above| other.find_in(above, tree.name(node)))
            }
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

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::view::document::TerminalStyle;
    use job_sort_formula::fairshare::{AssessedTree, FairTree, Member, PolicyRules, TreeBuilder};

    /// The lines of the tables, as they are and with a charge, in a terminal of this width.
    fn drawn(width: Option<usize>) -> [String; 2] {
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
        let nodes: Vec<NodeId> = after.tree().nodes().collect();
        let changes = [UsageChange::Charge {
            name: "Bob".to_owned(),
            amount: 1e6,
        }];
        let assumed = Assumed {
            before: &before,
            changes: &changes,
            described: "",
            places: None,
        };
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
            let views = [view];
            let report = SharesReport {
                views: &views,
                shown: &views,
                policies: &[],
                usage_unit: "s",
            };
            let document = shares_document(&report);
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
        let [tree, changes] = drawn(None);
        assert!(tree.contains("norm_shares") && changes.contains("before"));
        // no column for numbers that the policy does not have
        assert!(!tree.contains("tickets"), "{tree}");
        for width in 40..100 {
            for text in drawn(Some(width)) {
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
        let [tree, changes] = drawn(Some(50));
        assert!(
            tree.contains("columns left out: raw_shares, norm_shares, "),
            "{tree}"
        );
        assert!(
            changes.contains("columns left out: before; --wide shows all"),
            "{changes}"
        );
    }
}
