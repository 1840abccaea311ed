//! A fair-share tree with the numbers that policies compute for its nodes, as an indented table or as JSON.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Map, Value, json};

use super::terminal::printable;
use crate::fairshare::{AssociationShares, NodeId, NodeKind, ShareTree, Shares, TreeShares};

/// The numbers of one policy.
#[derive(Debug, Clone, Copy)]
pub struct PolicyView<'a> {
    /// The name of the policy.
    pub name: &'a str,
    /// The tree under this policy.
    pub tree: &'a ShareTree,
    /// Its numbers.
    pub shares: &'a TreeShares,
    /// Whether the policy is OpenPBS's, whose numbers differ from those of Slurm.
    pub is_pbs: bool,
    /// Whether its factors are known.
    pub has_factors: bool,
    /// The nodes to show, parents first.
    pub nodes: &'a [NodeId],
}

/// Writes the views as JSON: one document, or a list of them under `policies`.
///
/// # Errors
/// `out` cannot be written.
pub fn write_json(views: &[PolicyView<'_>], out: &mut dyn Write) -> io::Result<()> {
    let documents: Vec<Value> = views.iter().map(document).collect();
    match documents.as_slice() {
        [only] => serde_json::to_writer_pretty(&mut *out, only)?,
        all => serde_json::to_writer_pretty(&mut *out, &json!({ "policies": all }))?,
    }
    out.write_all(b"\n")
}

fn document(view: &PolicyView<'_>) -> Value {
    let nodes: Vec<Value> = view.nodes.iter().map(|&node| Value::Object(fields(view, node))).collect();
    json!({ "policy": view.name, "nodes": nodes })
}

fn fields(view: &PolicyView<'_>, node: NodeId) -> Map<String, Value> {
    let tree = view.tree;
    let mut fields = Map::new();
    let path: Vec<&str> = tree.path(node);
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
    let own = if view.is_pbs { pbs_fields(view, node) } else { slurm_fields(&association(view, node)) };
    fields.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
    fields
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

/// Draws the tree, with the numbers of one policy or, for several, their factors side by side, below a line for each
/// policy. `usage_unit` is the unit of usage.
///
/// # Errors
/// `out` cannot be written.
pub fn write_human(
    views: &[PolicyView<'_>],
    policies: &[String],
    usage_unit: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(first) = views.first() else { return Ok(()) };
    for policy in policies {
        writeln!(out, "policy:    {policy}")?;
    }
    writeln!(out, "units:     {}", units(views, usage_unit))?;
    writeln!(out)?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["name", "shares"].map(str::to_owned).into_iter().chain(headings(views)));
    let branches = Branches::new(first.tree, first.nodes);
    for &node in first.nodes {
        let name = format!("{}{}", branches.before(node), printable(first.tree.name(node)));
        let allotted =
            if first.tree.parent(node).is_some() { plain(&shares(first.tree.shares(node))) } else { String::new() };
        let cells = cells(views, node);
        table.add_row([name, allotted].into_iter().chain(cells));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if index == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// What the columns are measured in.
fn units(views: &[PolicyView<'_>], usage_unit: &str) -> String {
    match views {
        [one] if one.is_pbs => format!("usage in {usage_unit}; perc, tree_usage and factor from 0 to 1"),
        [_] => format!(
            "raw_usage in {usage_unit}; norm_shares, norm_usage, effective_usage and fairshare from 0 to 1; level_fs is \
             shares by usage, 1 on target; tickets are counted"
        ),
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

fn cells(views: &[PolicyView<'_>], node: NodeId) -> Vec<String> {
    let fields = |view: &PolicyView<'_>| match view.is_pbs {
        true => pbs_fields(view, node),
        false => slurm_fields(&association(view, node)),
    };
    match views {
        [one] => fields(one).iter().skip(1).map(|(name, value)| cell(one, name, value)).collect(),
        [first, ..] => {
            let path = first.tree.path(node);
            let factors = views.iter().map(|view| plain(&number(factor(view, &path))));
            std::iter::once(amount(first.tree.usage(node))).chain(factors).collect()
        }
        [] => Vec::new(),
    }
}

fn cell(view: &PolicyView<'_>, name: &str, value: &Value) -> String {
    match (name, value.as_f64()) {
        ("fairshare" | "tickets", None) if !view.has_factors => "-".to_owned(),
        ("usage" | "raw_usage" | "tickets", Some(usage)) => amount(usage),
        _ => plain(value),
    }
}

/// The factor of a node's jobs, or the number that the policy computes for an account. The policies' trees may differ, so
/// the node is looked up by its path.
fn factor(view: &PolicyView<'_>, path: &[&str]) -> Option<f64> {
    if !view.has_factors {
        return None;
    }
    let node = path.iter().copied().try_fold(view.tree.root(), |above, name| view.tree.find_in(above, name))?;
    if view.is_pbs || view.tree.kind(node) == NodeKind::Entity {
        return view.shares.get(node).map(|shares| shares.fairshare_factor);
    }
    association(view, node).fairshare
}

/// An amount with at most two decimals.
fn amount(value: f64) -> String {
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

    fn before(&self, node: NodeId) -> String {
        let Some(parent) = self.tree.parent(node) else { return String::new() };
        let is_last = |parent: NodeId, node: NodeId| self.last.get(&parent) == Some(&node);
        let mut parts = vec![if is_last(parent, node) { "└─ " } else { "├─ " }];
        let mut below = parent;
        while let Some(above) = self.tree.parent(below) {
            parts.push(if is_last(above, below) { "   " } else { "│  " });
            below = above;
        }
        parts.into_iter().rev().collect()
    }
}
