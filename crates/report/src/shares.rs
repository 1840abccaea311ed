//! A fair-share tree with the numbers that policies compute for its nodes, as an indented table or as JSON; with assumed
//! usage, the numbers before and after, and the places that jobs gain.

use std::collections::BTreeMap;
use std::io::{self, Write};

use job_sort_formula::fairshare::{AssessedTree, AssociationShares, NodeId, NodeKind, ShareTable, ShareTree, Shares};
use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::MAX_EXACT_FLOAT;
use job_sort_formula::rank::{Comparison, GroupChange};
use jsf_site::UsageChange;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::table::{Column, write_rows, write_table};
use super::terminal::printable;

/// The numbers of one policy.
#[derive(Debug, Clone, Copy)]
pub struct PolicyView<'a> {
    /// The name of the policy.
    pub name: &'a str,
    /// The tree under this policy.
    pub tree: &'a ShareTree,
    /// The shares that the policy computes for the nodes of the tree.
    pub shares: &'a ShareTable,
    /// Whether the policy is OpenPBS's, whose numbers differ from those of Slurm.
    pub is_pbs: bool,
    /// Whether the factors of the policy are known.
    pub has_factors: bool,
    /// The nodes to show, parents first.
    pub nodes: &'a [NodeId],
    /// The settings in force, which JSON has beside the policy.
    pub settings: &'a Map<String, Value>,
    /// The usage that is assumed; `None`: the tree is as its files describe it.
    pub assumed: Option<Assumed<'a>>,
}

/// The usage that is assumed, and the tree without it.
#[derive(Debug, Clone, Copy)]
pub struct Assumed<'a> {
    /// The tree as it is, with the same nodes.
    pub before: &'a AssessedTree,
    /// The changes of the usage, in their order.
    pub changes: &'a [UsageChange],
    /// The assumptions in words.
    pub described: &'a str,
    /// The formula that gives the jobs their places, and the places before and after.
    pub places: Option<(&'a str, &'a JobTable, &'a Comparison)>,
}

impl<'a> PolicyView<'a> {
    /// The view of the tree as it is.
    fn before(&self) -> Option<Self> {
        let before = self.assumed?.before;
        Some(Self { tree: before.tree(), shares: before.shares(), assumed: None, ..*self })
    }
}

/// The headings above a table of shares.
#[derive(Debug, Clone, Copy)]
pub struct SharesHead<'a> {
    /// A line for each policy.
    pub policies: &'a [String],
    /// The unit of usage.
    pub usage_unit: &'a str,
    /// The number of characters in a line; `None`: as many as needed.
    pub width: Option<usize>,
}

/// Writes the views as JSON: one document, or a list of them under `policies`.
///
/// # Errors
/// `out` cannot be written.
pub fn write_json(views: &[PolicyView<'_>], out: &mut dyn Write) -> io::Result<()> {
    match views {
        [only] => serde_json::to_writer_pretty(&mut *out, &Document(only))?,
        all => {
            let documents: Vec<Document<'_>> = all.iter().map(Document).collect();
            serde_json::to_writer_pretty(&mut *out, &BTreeMap::from([("policies", documents)]))?;
        }
    }
    out.write_all(b"\n")
}

/// The document of one policy, whose nodes are written one after the other.
struct Document<'a>(&'a PolicyView<'a>);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(view) = *self;
        let depths = depths(view.tree);
        let mut members: BTreeMap<&str, Member<'_>> = BTreeMap::from([("policy", Member::Value(json!(view.name)))]);
        members.extend(view.settings.iter().map(|(name, value)| (name.as_str(), Member::Value(value.clone()))));
        members.insert("nodes", Member::Nodes(view, &depths));
        if let Some(assumed) = &view.assumed {
            members.insert("assumed", Member::Value(assumed_object(assumed.changes)));
            members.insert("changes", Member::Changes(view, &depths));
            if let Some((formula, table, places)) = assumed.places {
                members.insert("places", Member::Value(places_object(formula, table, places)));
            }
        }
        serializer.collect_map(members)
    }
}

/// The time by which all usage decays in all, in seconds, and the charges in their order.
fn assumed_object(changes: &[UsageChange]) -> Value {
    let mut decay: Option<u64> = None;
    let mut charges = Vec::new();
    for change in changes {
        match change {
            UsageChange::Decay(seconds) => decay = Some(decay.unwrap_or(0).saturating_add(*seconds)),
            UsageChange::Charge { name, amount } => charges.push(json!({"name": name, "amount": amount})),
        }
    }
    json!({"decay": decay, "charges": charges})
}

/// What a document has under one key.
enum Member<'a> {
    Value(Value),
    Nodes(&'a PolicyView<'a>, &'a [u32]),
    Changes(&'a PolicyView<'a>, &'a [u32]),
}

impl Serialize for Member<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Nodes(view, depths) => serializer.collect_seq(view.nodes.iter().map(|&node| {
                let mut fields = identity(view, node, Some(depths));
                fields.extend(numbers(view, node).into_iter().map(|(name, value)| (name.to_owned(), value)));
                fields
            })),
            Self::Changes(view, depths) => serializer.collect_seq(changes(view).map(|one| one.object(view, depths))),
        }
    }
}

/// The longest path of a node that is written in JSON, in names. Of a longer one the last names are written, and
/// `path_omitted` counts the others: else a chain of nodes takes the square of its length.
const MAX_PATH: usize = 100;

/// The depth of every node, by its index: 0 for the root.
pub(super) fn depths(tree: &ShareTree) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        depths.push(tree.parent(node).and_then(|parent| depths.get(parent.index())).map_or(0, |above| above + 1));
    }
    depths
}

/// The last names of the path of a node, at most `most`.
fn end_of_path(tree: &ShareTree, node: NodeId, most: usize) -> Vec<&str> {
    let on_path = std::iter::once(node).chain(tree.ancestors(node)).filter(|&node| tree.parent(node).is_some());
    let mut path: Vec<&str> = on_path.take(most).map(|node| tree.name(node)).collect();
    path.reverse();
    path
}

fn places_object(formula: &str, table: &JobTable, places: &Comparison) -> Value {
    let jobs = places.moves().map(|job| {
        json!({
            "id": table.id(job.row),
            "entity": table.entity(job.row),
            "queue": table.queue(job.row),
            "before": job.old,
            "after": job.new,
            "won": job.moved(),
        })
    });
    let entities = entities_in_both(places).map(|one| json!({"name": one.name, "jobs": one.jobs, "won": one.won()}));
    json!({"formula": formula, "jobs": jobs.collect::<Vec<_>>(), "entities": entities.collect::<Vec<_>>()})
}

/// The entities with jobs that have a place before and after.
fn entities_in_both(places: &Comparison) -> impl Iterator<Item = &GroupChange> {
    places.entities.iter().filter(|entity| entity.jobs > 0)
}

/// A node whose numbers the assumed usage changes.
struct Change {
    node: NodeId,
    /// Every quantity of the policy: its name, its value before and after.
    quantities: Vec<(&'static str, Value, Value)>,
}

impl Change {
    fn object(&self, view: &PolicyView<'_>, depths: &[u32]) -> Value {
        let mut fields = identity(view, self.node, Some(depths));
        let side = |value: fn(&(&'static str, Value, Value)) -> Value| {
            self.quantities.iter().map(|one| (one.0.to_owned(), value(one))).collect::<Map<_, _>>()
        };
        fields.insert("before".to_owned(), side(|one| one.1.clone()).into());
        fields.insert("after".to_owned(), side(|one| one.2.clone()).into());
        fields.insert("difference".to_owned(), side(|one| json!(difference(&one.1, &one.2))).into());
        Value::Object(fields)
    }
}

/// The nodes with a number that differs, with all their numbers but the shares, which are given.
fn changes(view: &PolicyView<'_>) -> impl Iterator<Item = Change> {
    let is_given = |name: &str| matches!(name, "shares" | "raw_shares" | "perc" | "norm_shares");
    let change = move |(before, node): (PolicyView<'_>, NodeId)| {
        let pairs = numbers(&before, node).into_iter().zip(numbers(view, node));
        let quantities = pairs.map(|((name, first), (_, second))| (name, first, second));
        Change { node, quantities: quantities.filter(|(name, ..)| !is_given(name)).collect() }
    };
    let differs = |change: &Change| change.quantities.iter().any(|(_, first, second)| first != second);
    let nodes = view.nodes.iter().filter_map(|&node| Some((view.before()?, node)));
    nodes.map(change).filter(differs)
}

/// The second number minus the first; `None` if either is missing or infinite.
fn difference(first: &Value, second: &Value) -> Option<f64> {
    Some(second.as_f64()? - first.as_f64()?)
}

/// A node as a JSON object: its identity and its numbers.
pub fn fields(view: &PolicyView<'_>, node: NodeId) -> Map<String, Value> {
    let mut fields = identity(view, node, None);
    fields.extend(numbers(view, node).into_iter().map(|(name, value)| (name.to_owned(), value)));
    fields
}

/// The fields that identify a node. The depths of all nodes need not be given; to count one takes as long as it is.
fn identity(view: &PolicyView<'_>, node: NodeId, depths: Option<&[u32]>) -> Map<String, Value> {
    let tree = view.tree;
    let mut fields = Map::new();
    let known = depths.and_then(|depths| depths.get(node.index()).copied());
    let depth = known.map_or_else(|| tree.ancestors(node).count(), |depth| depth as usize);
    let path = end_of_path(tree, node, MAX_PATH);
    if depth > MAX_PATH {
        fields.insert("path_omitted".to_owned(), json!(depth - MAX_PATH));
    }
    let kind = match tree.kind(node) {
        NodeKind::Entity if view.is_pbs => "entity",
        NodeKind::Entity => "user",
        _ => "account",
    };
    for (name, value) in [("name", json!(tree.name(node))), ("path", json!(path)), ("kind", json!(kind))] {
        fields.insert(name.to_owned(), value);
    }
    if let Some(partition) = tree.partition(node) {
        let names = [("user", tree.base_name(node)), ("partition", partition)];
        fields.extend(names.map(|(key, name)| (key.to_owned(), json!(name))));
    }
    fields
}

/// The quantities of the policy for a node, the shares first.
pub(super) fn numbers(view: &PolicyView<'_>, node: NodeId) -> Vec<(&'static str, Value)> {
    if view.is_pbs { pbs_fields(view, node) } else { slurm_fields(&association(view, node)) }
}

fn pbs_fields(view: &PolicyView<'_>, node: NodeId) -> Vec<(&'static str, Value)> {
    let numbers = view.shares.get(node).unwrap_or_default();
    vec![
        ("shares", shares(view.tree.shares(node))),
        ("perc", number(Some(numbers.fairshare_perc))),
        ("usage", number(Some(view.tree.usage(node)))),
        ("tree_usage", number(Some(numbers.fairshare_tree_usage))),
        ("factor", number(Some(numbers.fairshare_factor))),
    ]
}

fn slurm_fields(association: &AssociationShares) -> Vec<(&'static str, Value)> {
    vec![
        ("raw_shares", association.raw_shares.map_or(Value::Null, shares)),
        ("norm_shares", number(association.norm_shares)),
        ("raw_usage", number(association.raw_usage)),
        ("norm_usage", number(association.norm_usage)),
        ("effective_usage", number(association.effective_usage)),
        ("level_fs", number(association.level_fs)),
        ("fairshare", number(association.fairshare)),
        ("tickets", number(association.tickets)),
    ]
}

fn association(view: &PolicyView<'_>, node: NodeId) -> AssociationShares {
    let association = view.shares.association(node).unwrap_or_default();
    match view.has_factors {
        true => association,
        false => AssociationShares { fairshare: None, tickets: None, ..association },
    }
}

fn shares(shares: Shares) -> Value {
    match shares {
        Shares::Count(count) => json!(count),
        Shares::Parent => json!("parent"),
    }
}

fn number(value: Option<f64>) -> Value {
    match value {
        None => Value::Null,
        Some(value) if value.is_finite() => json!(value),
        Some(value) if value.is_nan() => json!("nan"),
        Some(value) => json!(if value > 0.0 { "inf" } else { "-inf" }),
    }
}

/// Draws the tree, with the numbers of one policy or, for several, their factors side by side. With assumed usage it
/// lists what changes instead, and the places that jobs gain.
///
/// # Errors
/// `out` cannot be written.
pub fn write_human(views: &[PolicyView<'_>], head: &SharesHead<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = views.first() else { return Ok(()) };
    for policy in head.policies {
        writeln!(out, "policy:    {}", printable(policy))?;
    }
    writeln!(out, "units:     {}", printable(&units(views, head.usage_unit)))?;
    let Some(assumed) = &first.assumed else {
        writeln!(out)?;
        return write_tree(views, head, out);
    };
    if let [only] = views {
        writeln!(out, "assumed:   {}\n", printable(assumed.described))?;
        write_changes(only, head, out)?;
    } else {
        for view in views {
            let described = view.assumed.map_or("", |assumed| assumed.described);
            writeln!(out, "\n{}: {}\n", view.name, printable(described))?;
            write_changes(view, head, out)?;
        }
    }
    match assumed.places {
        Some((formula, table, places)) => write_places(formula, table, places, head, out),
        None => Ok(()),
    }
}

pub(super) fn write_tree(views: &[PolicyView<'_>], head: &SharesHead<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = views.first() else { return Ok(()) };
    let counterparts: Vec<_> = views.iter().map(|view| counterparts(first.tree, view.tree)).collect();
    let branches = Branches::new(first.tree, first.nodes);
    let row = |&node: &NodeId| {
        // the jobs that have no entity are charged to a node without a name
        let name = Some(first.tree.name(node)).filter(|name| !name.is_empty()).unwrap_or("(no entity)");
        let name = format!("{}{}", branches.prefix(node), printable(name));
        let allotted =
            if first.tree.parent(node).is_some() { plain(&shares(first.tree.shares(node))) } else { String::new() };
        [name, allotted].into_iter().chain(cells(views, &counterparts, node)).collect::<Vec<_>>()
    };
    let headings = ["name", "shares"].map(str::to_owned).into_iter().chain(headings(views));
    // a policy has no number in some columns
    let mut is_used = vec![false; headings.clone().count()];
    for cells in first.nodes.iter().map(row) {
        is_used.iter_mut().zip(&cells).for_each(|(is_used, cell)| *is_used |= !cell.is_empty());
        if is_used.iter().all(|is_used| *is_used) {
            break;
        }
    }
    let used_cells = |cells: Vec<String>| {
        let used = cells.into_iter().zip(&is_used).filter(|(_, is_used)| **is_used);
        used.map(|(cell, _)| cell).collect::<Vec<_>>()
    };
    let used = headings.zip(&is_used).filter(|(_, is_used)| **is_used).map(|(heading, _)| heading);
    let columns = used.map(|heading| match importance(&heading) {
        Some(importance) => Column::number(heading, importance),
        None => Column::name(heading, 9),
    });
    write_rows(columns.collect(), || first.nodes.iter().map(row).map(used_cells), head.width, out)?;
    match first.nodes.iter().filter(|&&node| first.tree.ancestors(node).nth(MAX_DRAWN_DEPTH).is_some()).count() {
        0 => Ok(()),
        1 => writeln!(out, "1 node is more than {MAX_DRAWN_DEPTH} levels deep, and is drawn on that level"),
        deep => writeln!(out, "{deep} nodes are more than {MAX_DRAWN_DEPTH} levels deep, and are drawn on that level"),
    }
}

/// The importance of a column of numbers; `None` for the column of names.
fn importance(heading: &str) -> Option<u8> {
    Some(match heading {
        "name" => return None,
        "factor" | "fairshare" | "tickets" => 8,
        "usage" | "raw_usage" => 7,
        "shares" => 6,
        "tree_usage" | "effective_usage" | "level_fs" => 5,
        "perc" | "norm_shares" => 4,
        "norm_usage" => 3,
        // the factor of one of several policies
        _ => 6,
    })
}

/// Lists what the assumed usage changes: a line for each quantity of a node that differs.
fn write_changes(view: &PolicyView<'_>, head: &SharesHead<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Vec::new();
    let mut changed = 0;
    for change in changes(view) {
        changed += 1;
        let path = end_of_path(view.tree, change.node, MAX_DRAWN_DEPTH + 1);
        let mut name = match path.get(path.len().saturating_sub(MAX_DRAWN_DEPTH)..) {
            Some([]) | None => view.tree.name(change.node).to_owned(),
            Some(end) if end.len() < path.len() => format!("…/{}", end.join("/")),
            Some(all) => all.join("/"),
        };
        for (quantity, first, second) in change.quantities.iter().filter(|(_, first, second)| first != second) {
            let difference = difference(first, second).map_or_else(String::new, |by| signed(quantity, by));
            let [first, second] = [first, second].map(|value| shown_number(view, quantity, value));
            if first == second {
                continue;
            }
            rows.push(vec![std::mem::take(&mut name), (*quantity).to_owned(), first, second, difference]);
        }
    }
    let columns = vec![
        Column::name("name", 9),
        Column::name("quantity", 9),
        Column::number("before", 6),
        Column::number("after", 8),
        Column::number("difference", 7),
    ];
    if !rows.is_empty() {
        write_table(columns, &rows, head.width, out)?;
        writeln!(out)?;
    }
    writeln!(out, "{changed} of the {} entities and groups shown change", view.nodes.len())
}

/// A difference with its sign.
fn signed(quantity: &str, by: f64) -> String {
    let text = match quantity {
        "usage" | "raw_usage" | "tickets" => amount(by),
        _ => format!("{by:.6}"),
    };
    if by > 0.0 { format!("+{text}") } else { text }
}

/// Lists the jobs that gain or lose places, and then their entities.
fn write_places(
    formula: &str,
    table: &JobTable,
    places: &Comparison,
    head: &SharesHead<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "\nplaces:    by {}", printable(formula.trim_end()))?;
    let or_dash = |place: Option<usize>| place.map_or_else(|| "-".to_owned(), |place| place.to_string());
    let named = |entity: &str| if entity.is_empty() { "-".to_owned() } else { entity.to_owned() };
    let won = |won: i64| if won > 0 { format!("+{won}") } else { won.to_string() };
    let moved: Vec<_> = places.moves().filter(|job| job.old != job.new).collect();
    if !moved.is_empty() {
        writeln!(out)?;
        let rows = moved.iter().map(|job| {
            vec![
                table.id(job.row).to_owned(),
                named(table.entity(job.row)),
                or_dash(job.old),
                or_dash(job.new),
                job.moved().map_or_else(|| "-".to_owned(), won),
            ]
        });
        write_table(place_columns(), &rows.collect::<Vec<_>>(), head.width, out)?;
        writeln!(out)?;
        let rows = entities_in_both(places).map(|one| vec![named(&one.name), one.jobs.to_string(), won(one.won())]);
        let columns = vec![Column::name("entity", 9), Column::number("jobs", 7), Column::number("places won", 8)];
        write_table(columns, &rows.collect::<Vec<_>>(), head.width, out)?;
        writeln!(out)?;
    }
    writeln!(out, "{} of {} considered jobs change their place", moved.len(), places.moves().len())
}

fn place_columns() -> Vec<Column> {
    vec![
        Column::id("job", 9),
        Column::text("entity", 5),
        Column::number("before", 8),
        Column::number("after", 8),
        Column::number("places won", 7),
    ]
}

/// What the columns are measured in.
fn units(views: &[PolicyView<'_>], usage_unit: &str) -> String {
    match views {
        [one] if one.is_pbs => format!("usage in {usage_unit}; perc, tree_usage and factor from 0 to 1"),
        [one] => {
            let has = |number: fn(&AssociationShares) -> Option<f64>| {
                one.nodes.iter().any(|&node| number(&association(one, node)).is_some())
            };
            let level_fs = if has(|numbers| numbers.level_fs) {
                "; level_fs is shares divided by usage, among the siblings, 1 on target"
            } else {
                ""
            };
            let tickets = if has(|numbers| numbers.tickets) { "; tickets are counted" } else { "" };
            format!(
                "raw_usage in {usage_unit}; norm_shares, norm_usage, effective_usage and fairshare from 0 to \
                 1{level_fs}{tickets}"
            )
        }
        _ => format!("usage in {usage_unit}; factors from 0 to 1"),
    }
}

fn headings(views: &[PolicyView<'_>]) -> Vec<String> {
    let names: &[&str] = match views {
        [one] if one.is_pbs => &["perc", "usage", "tree_usage", "factor"],
        [_] => &["norm_shares", "raw_usage", "norm_usage", "effective_usage", "level_fs", "fairshare", "tickets"],
        _ => return std::iter::once("usage").chain(views.iter().map(|view| view.name)).map(str::to_owned).collect(),
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn cells(views: &[PolicyView<'_>], counterparts: &[Vec<Option<NodeId>>], node: NodeId) -> Vec<String> {
    match views {
        [one] => numbers(one, node).iter().skip(1).map(|(name, value)| shown_number(one, name, value)).collect(),
        [first, ..] => {
            let in_view = |nodes: &Vec<Option<NodeId>>| nodes.get(node.index()).copied().flatten();
            let factors = views.iter().zip(counterparts);
            let factors = factors.map(|(view, nodes)| plain(&number(factor(view, in_view(nodes)))));
            std::iter::once(amount(first.tree.usage(node))).chain(factors).collect()
        }
        [] => Vec::new(),
    }
}

pub(super) fn shown_number(view: &PolicyView<'_>, name: &str, value: &Value) -> String {
    match (name, value.as_f64()) {
        ("fairshare" | "tickets", None) if !view.has_factors => "-".to_owned(),
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

/// The deepest level that is drawn: else the lines of a chain of nodes take the square of its length.
const MAX_DRAWN_DEPTH: usize = 40;

/// The lines that join a node to its parent.
struct Branches<'a> {
    tree: &'a ShareTree,
    /// The last node shown of each parent's children, by parent.
    last: std::collections::HashMap<NodeId, NodeId>,
}

impl<'a> Branches<'a> {
    fn new(tree: &'a ShareTree, nodes: &[NodeId]) -> Self {
        let shown = nodes.iter().filter_map(|&node| Some((tree.parent(node)?, node)));
        Self { tree, last: shown.collect() }
    }

    /// The lines to draw before the name of a node.
    fn prefix(&self, node: NodeId) -> String {
        let Some(parent) = self.tree.parent(node) else { return String::new() };
        let is_last = |parent: NodeId, node: NodeId| self.last.get(&parent) == Some(&node);
        let mut parts = vec![if is_last(parent, node) { "└─ " } else { "├─ " }];
        let mut below = parent;
        while let Some(above) = self.tree.parent(below)
            && parts.len() < MAX_DRAWN_DEPTH
        {
            parts.push(if is_last(above, below) { "   " } else { "│  " });
            below = above;
        }
        parts.into_iter().rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use job_sort_formula::fairshare::{FairTree, Member, Rules, TreeBuilder};

    /// The lines of the tables, as they are and with a charge, in a terminal of this width.
    fn drawn(width: Option<usize>) -> [String; 2] {
        let mut builder = TreeBuilder::new("root");
        let group = builder.add(builder.root(), Member::group("group1").shares(40)).unwrap();
        let bob = builder.add(group, Member::entity("Bob").shares(50).usage(1e6)).unwrap();
        builder.add(group, Member::entity("Cathy").shares(50)).unwrap();
        let tree = builder.finish();
        let mut charged = tree.clone();
        charged.charge(bob, 1e6).expect("a usage");
        let [before, after] = [tree, charged].map(|tree| AssessedTree::new(tree, &FairTree::new(Rules::Scheduler)));
        let nodes: Vec<NodeId> = after.tree().nodes().collect();
        let (changes, settings) = ([UsageChange::Charge { name: "Bob".to_owned(), amount: 1e6 }], Map::new());
        let assumed = Assumed { before: &before, changes: &changes, described: "", places: None };
        [None, Some(assumed)].map(|assumed| {
            let view = PolicyView {
                name: "fair-tree",
                tree: after.tree(),
                shares: after.shares(),
                is_pbs: false,
                has_factors: true,
                nodes: &nodes,
                settings: &settings,
                assumed,
            };
            let mut text = Vec::new();
            write_human(&[view], &SharesHead { policies: &[], usage_unit: "s", width }, &mut text).unwrap();
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
