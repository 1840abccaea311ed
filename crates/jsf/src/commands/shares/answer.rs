//! A fair-share tree with the numbers that policies compute for its nodes; with assumed usage, the numbers before and after,
//! and the places that jobs gain.

use std::collections::BTreeMap;

use job_sort_formula::fairshare::{AssessedTree, AssociationShares, NodeId, NodeKind, ShareTable, ShareTree, Shares};
use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{Comparison, GroupChange};
use jsf_site::UsageChange;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::commands::shares::view::shares_document;
use crate::view::document::Document;

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
    pub settings: Option<&'a Map<String, Value>>,
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
    pub(crate) fn before(&self) -> Option<Self> {
        let before = self.assumed?.before;
        Some(Self { tree: before.tree(), shares: before.shares(), assumed: None, ..*self })
    }
}

/// A tree under one policy or several.
#[derive(Debug, Clone, Copy)]
pub struct SharesReport<'a> {
    /// The policies in the order in which they are asked for.
    pub views: &'a [PolicyView<'a>],
    /// The same in the order in which people see them.
    pub shown: &'a [PolicyView<'a>],
    /// A line for each policy.
    pub policies: &'a [String],
    /// The unit of usage.
    pub usage_unit: &'a str,
}

impl Answer for SharesReport<'_> {
    fn document(&self) -> Document<'_> {
        shares_document(self)
    }
}

/// One document, or a list of them under `policies`.
impl Serialize for SharesReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.views {
            [only] => SharesJsonDocument(only).serialize(serializer),
            all => {
                let documents: Vec<SharesJsonDocument<'_>> = all.iter().map(SharesJsonDocument).collect();
                BTreeMap::from([("policies", documents)]).serialize(serializer)
            }
        }
    }
}

/// The document of one policy, whose nodes are written one after the other.
struct SharesJsonDocument<'a>(&'a PolicyView<'a>);

impl Serialize for SharesJsonDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(view) = *self;
        let depths = depths(view.tree);
        let mut members: BTreeMap<&str, Member<'_>> = BTreeMap::from([("policy", Member::Value(json!(view.name)))]);
        members.extend(
            view.settings.into_iter().flatten().map(|(name, value)| (name.as_str(), Member::Value(value.clone()))),
        );
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
/// `path_omitted` counts the others: without a limit, a chain of nodes takes the square of its length.
const MAX_PATH: usize = 100;

/// The depth of every node, by its index: 0 for the root.
pub(crate) fn depths(tree: &ShareTree) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        depths.push(tree.parent(node).and_then(|parent| depths.get(parent.index())).map_or(0, |above| above + 1));
    }
    depths
}

/// The last names of the path of a node, at most `most`.
pub(crate) fn end_of_path(tree: &ShareTree, node: NodeId, most: usize) -> Vec<&str> {
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
pub(crate) fn entities_in_both(places: &Comparison) -> impl Iterator<Item = &GroupChange> {
    places.entities.iter().filter(|entity| entity.jobs > 0)
}

/// A node whose numbers the assumed usage changes.
pub(crate) struct Change {
    pub(crate) node: NodeId,
    /// Every quantity of the policy: its name, its value before and after.
    pub(crate) quantities: Vec<(&'static str, Value, Value)>,
}

impl Change {
    fn object(&self, view: &PolicyView<'_>, depths: &[u32]) -> Value {
        let mut fields = identity(view, self.node, Some(depths));
        for (name, before, after) in &self.quantities {
            for (column, value) in
                [("before", before.clone()), ("after", after.clone()), ("difference", json!(difference(before, after)))]
            {
                fields.entry(column).or_insert_with(|| json!({}))[name] = value;
            }
        }
        Value::Object(fields)
    }
}

/// The nodes with a number that differs, with all their numbers but the shares, which are given.
pub(crate) fn changes(view: &PolicyView<'_>) -> impl Iterator<Item = Change> {
    let changes = view.nodes.iter().filter_map(|&node| {
        let pairs = numbers(&view.before()?, node).into_iter().zip(numbers(view, node));
        let quantities = pairs.map(|((name, first), (_, second))| (name, first, second));
        let computed =
            quantities.filter(|(name, ..)| !matches!(*name, "shares" | "raw_shares" | "perc" | "norm_shares"));
        Some(Change { node, quantities: computed.collect() })
    });
    changes.filter(|change| change.quantities.iter().any(|(_, first, second)| first != second))
}

/// The second number minus the first; `None` if either is missing or infinite.
pub(crate) fn difference(first: &Value, second: &Value) -> Option<f64> {
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
pub(crate) fn numbers(view: &PolicyView<'_>, node: NodeId) -> Vec<(&'static str, Value)> {
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

pub(crate) fn association(view: &PolicyView<'_>, node: NodeId) -> AssociationShares {
    let association = view.shares.association(node).unwrap_or_default();
    match view.has_factors {
        true => association,
        false => AssociationShares { fairshare: None, tickets: None, ..association },
    }
}

pub(crate) fn shares(shares: Shares) -> Value {
    match shares {
        Shares::Count(count) => json!(count),
        Shares::Parent => json!("parent"),
    }
}

pub(crate) fn number(value: Option<f64>) -> Value {
    match value {
        None => Value::Null,
        Some(value) if value.is_finite() => json!(value),
        Some(value) if value.is_nan() => json!("nan"),
        Some(value) => json!(if value > 0.0 { "inf" } else { "-inf" }),
    }
}
