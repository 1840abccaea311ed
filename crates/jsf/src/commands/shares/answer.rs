//! A fair-share tree with the numbers that policies compute for its nodes; with assumed usage, the
//! numbers before and after, and the places that jobs gain.

use std::collections::BTreeMap;

use job_sort_formula::fairshare::{
    AssessedTree, AssociationShares, NodeId, NodeKind, ShareTable, ShareTree, Shares,
};
use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::Comparison;
use jsf_site::{PolicyName, PolicyShares, UsageChange};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::commands::shares::view::shares_document;
use crate::view::document::Document;

/// Nodes of a tree with the numbers of a policy.
#[derive(Debug, Clone, Copy)]
pub struct PolicyView<'a> {
    /// The policy.
    pub policy: &'a PolicyShares,
    /// The nodes to show, parents first.
    pub nodes: &'a [NodeId],
    /// The tree with the usage that is assumed, or without it.
    assessed: &'a AssessedTree,
}

impl<'a> PolicyView<'a> {
    /// The view of these nodes with the usage that is assumed.
    pub fn new(policy: &'a PolicyShares, nodes: &'a [NodeId]) -> Self {
        Self {
            policy,
            nodes,
            assessed: &policy.assessed,
        }
    }

    /// The view of the tree as it is; `None` if no usage is assumed.
    pub(crate) fn before(&self) -> Option<Self> {
        let assessed = self.policy.before.as_ref()?;
        Some(Self { assessed, ..*self })
    }

    pub(crate) fn name(&self) -> &'static str {
        self.policy.policy.as_str()
    }

    pub(crate) fn tree(&self) -> &'a ShareTree {
        self.assessed.tree()
    }

    pub(crate) fn shares(&self) -> &'a ShareTable {
        self.assessed.shares()
    }

    /// Whether the policy is OpenPBS's, whose numbers differ from those of Slurm.
    pub(crate) fn is_pbs(&self) -> bool {
        self.policy.policy == PolicyName::Pbs
    }
}

/// A tree under one policy or several.
#[derive(Debug, Clone, Copy)]
pub struct SharesReport<'a> {
    /// The policies in the order in which they are asked for.
    pub views: &'a [PolicyView<'a>],
    /// The same in the order in which people see them.
    pub shown: &'a [PolicyView<'a>],
    /// The assumed changes of the usage, in their order.
    pub changes: &'a [UsageChange],
    /// The formula that gives the jobs their places, and the places before and after these changes.
    pub places: Option<(&'a str, &'a JobTable, &'a Comparison)>,
}

impl Answer for SharesReport<'_> {
    fn document(&self) -> Document<'_> {
        shares_document(self)
    }
}

/// One document, or a list of them under `policies`.
impl Serialize for SharesReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut policies = Vec::new();
        for view in self.views {
            policies.push(PolicyNumbers::new(view, self));
        }
        match &policies[..] {
            [only] => only.serialize(serializer),
            all => BTreeMap::from([("policies", all)]).serialize(serializer),
        }
    }
}

/// The document of one policy. The nodes are serialised one by one: of a chain of nodes, all paths
/// together take the square of its length.
#[derive(Serialize)]
struct PolicyNumbers<'a> {
    policy: &'a str,
    #[serde(flatten)]
    settings: &'a Map<String, Value>,
    #[serde(serialize_with = "serialize_nodes")]
    nodes: &'a PolicyView<'a>,
    #[serde(flatten)]
    assumed: Option<AssumedNumbers<'a>>,
}

/// What the assumed usage changes.
#[derive(Serialize)]
struct AssumedNumbers<'a> {
    assumed: Assumptions<'a>,
    #[serde(serialize_with = "serialize_changes")]
    changes: &'a PolicyView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Places<'a>>,
}

/// The time by which all usage decays in all, in seconds, and the charges in their order.
#[derive(Default, Serialize)]
struct Assumptions<'a> {
    decay: Option<u64>,
    charges: Vec<&'a UsageChange>,
}

#[derive(Serialize)]
struct Places<'a> {
    formula: &'a str,
    jobs: Vec<Place<'a>>,
    entities: Vec<PlacesWon<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    before: Option<usize>,
    after: Option<usize>,
    won: Option<i64>,
}

#[derive(Serialize)]
struct PlacesWon<'a> {
    name: &'a str,
    jobs: usize,
    won: i64,
}

impl<'a> PolicyNumbers<'a> {
    fn new(view: &'a PolicyView<'a>, report: &SharesReport<'a>) -> Self {
        let assumed = view.policy.before.is_some().then(|| AssumedNumbers {
            assumed: Assumptions::new(report.changes),
            changes: view,
            places: report
                .places
                .map(|(formula, table, places)| Places::new(formula, table, places)),
        });
        Self {
            policy: view.name(),
            settings: &view.policy.settings,
            nodes: view,
            assumed,
        }
    }
}

fn serialize_nodes<S: Serializer>(view: &PolicyView<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let depths = depths(view.tree());
    let nodes = view.nodes.iter();
    serializer.collect_seq(nodes.map(|&node| NodeNumbers::new(view, node, Some(&depths))))
}

fn serialize_changes<S: Serializer>(
    view: &PolicyView<'_>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let depths = depths(view.tree());
    serializer.collect_seq(changes(view).map(|change| ChangedNode::new(view, change, &depths)))
}

impl<'a> Assumptions<'a> {
    fn new(changes: &'a [UsageChange]) -> Self {
        let mut assumptions = Self::default();
        for change in changes {
            match change {
                UsageChange::Decay(seconds) => {
                    let before = assumptions.decay.unwrap_or(0);
                    assumptions.decay = Some(before.saturating_add(*seconds));
                }
                UsageChange::Charge { .. } => assumptions.charges.push(change),
            }
        }
        assumptions
    }
}

impl<'a> Places<'a> {
    fn new(formula: &'a str, table: &'a JobTable, places: &'a Comparison) -> Self {
        let jobs = places.moves().map(|job| Place {
            id: table.id(job.row),
            entity: table.entity(job.row),
            queue: table.queue(job.row),
            before: job.old,
            after: job.new,
            won: job.moved(),
        });
        let entities = places
            .entities
            .iter()
            .filter(|one| one.jobs > 0)
            .map(|one| PlacesWon {
                name: &one.name,
                jobs: one.jobs,
                won: one.won(),
            });
        Self {
            formula,
            jobs: jobs.collect(),
            entities: entities.collect(),
        }
    }
}

/// The longest path of a node that is written in JSON, in names. Of a longer one the last names are
/// written, and `path_omitted` counts the others: without a limit, a chain of nodes takes the
/// square of its length.
const MAX_PATH: usize = 100;

/// The depth of every node, by its index: 0 for the root.
pub(crate) fn depths(tree: &ShareTree) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        depths.push(
            tree.parent(node)
                .and_then(|parent| depths.get(parent.index()))
                .map_or(0, |above| above + 1),
        );
    }
    depths
}

/// The last names of the path of a node, at most `most`.
pub(crate) fn end_of_path(tree: &ShareTree, node: NodeId, most: usize) -> Vec<&str> {
    let on_path = std::iter::once(node)
        .chain(tree.ancestors(node))
        .filter(|&node| tree.parent(node).is_some());
    let mut path: Vec<&str> = on_path.take(most).map(|node| tree.name(node)).collect();
    path.reverse();
    path
}

/// A node whose numbers the assumed usage changes.
pub(crate) struct Change {
    pub(crate) node: NodeId,
    /// Every quantity of the policy: its name, its value before and after.
    pub(crate) quantities: Vec<(&'static str, Value, Value)>,
}

/// The nodes with a number that differs, with all their numbers but the shares, which are given.
pub(crate) fn changes(view: &PolicyView<'_>) -> impl Iterator<Item = Change> {
    let changes = view.nodes.iter().filter_map(|&node| {
        let pairs = numbers(&view.before()?, node)
            .into_iter()
            .zip(numbers(view, node));
        let quantities = pairs.map(|((name, first), (_, second))| (name, first, second));
        let computed = quantities.filter(|(name, ..)| {
            !matches!(*name, "shares" | "raw_shares" | "perc" | "norm_shares")
        });
        Some(Change {
            node,
            quantities: computed.collect(),
        })
    });
    changes.filter(|change| {
        change
            .quantities
            .iter()
            .any(|(_, first, second)| first != second)
    })
}

/// The second number minus the first; `None` if either is missing or infinite.
pub(crate) fn difference(first: &Value, second: &Value) -> Option<f64> {
    Some(second.as_f64()? - first.as_f64()?)
}

/// A node and its numbers.
#[derive(Serialize)]
pub(crate) struct NodeNumbers<'a> {
    #[serde(flatten)]
    node: NodeIdentity<'a>,
    #[serde(flatten)]
    numbers: BTreeMap<&'static str, Value>,
}

/// A node, and every number of it before, after and the difference.
#[derive(Serialize)]
struct ChangedNode<'a> {
    #[serde(flatten)]
    node: NodeIdentity<'a>,
    before: BTreeMap<&'static str, Value>,
    after: BTreeMap<&'static str, Value>,
    difference: BTreeMap<&'static str, Option<f64>>,
}

/// What identifies a node.
#[derive(Serialize)]
struct NodeIdentity<'a> {
    name: &'a str,
    path: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_omitted: Option<usize>,
    kind: &'static str,
    /// Only of an association with a partition.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<&'a str>,
}

impl<'a> NodeNumbers<'a> {
    pub(crate) fn new(view: &PolicyView<'a>, node: NodeId, depths: Option<&[u32]>) -> Self {
        let numbers = numbers(view, node).into_iter().collect();
        Self {
            node: NodeIdentity::new(view, node, depths),
            numbers,
        }
    }
}

impl<'a> ChangedNode<'a> {
    fn new(view: &PolicyView<'a>, change: Change, depths: &[u32]) -> Self {
        let node = NodeIdentity::new(view, change.node, Some(depths));
        let mut changed = Self {
            node,
            before: BTreeMap::new(),
            after: BTreeMap::new(),
            difference: BTreeMap::new(),
        };
        for (name, before, after) in change.quantities {
            changed.difference.insert(name, difference(&before, &after));
            changed.before.insert(name, before);
            changed.after.insert(name, after);
        }
        changed
    }
}

impl<'a> NodeIdentity<'a> {
    /// The depths of all nodes need not be given; to count one takes as long as it is.
    fn new(view: &PolicyView<'a>, node: NodeId, depths: Option<&[u32]>) -> Self {
        let tree = view.tree();
        let known = depths.and_then(|depths| depths.get(node.index()).copied());
        let depth = known.map_or_else(|| tree.ancestors(node).count(), |depth| depth as usize);
        let partition = tree.partition(node);
        Self {
            name: tree.name(node),
            path: end_of_path(tree, node, MAX_PATH),
            path_omitted: (depth > MAX_PATH).then(|| depth - MAX_PATH),
            kind: kind(view, node),
            user: partition.map(|_| tree.base_name(node)),
            partition,
        }
    }
}

/// What a node is: OpenPBS's entities are the users of Slurm.
fn kind(view: &PolicyView<'_>, node: NodeId) -> &'static str {
    match view.tree().kind(node) {
        NodeKind::Entity if view.is_pbs() => "entity",
        NodeKind::Entity => "user",
        _ => "account",
    }
}

/// The quantities of the policy for a node, the shares first.
pub(crate) fn numbers(view: &PolicyView<'_>, node: NodeId) -> Vec<(&'static str, Value)> {
    if view.is_pbs() {
        pbs_fields(view, node)
    } else {
        slurm_fields(&association(view, node))
    }
}

fn pbs_fields(view: &PolicyView<'_>, node: NodeId) -> Vec<(&'static str, Value)> {
    let numbers = view.shares().get(node).unwrap_or_default();
    vec![
        ("shares", shares(view.tree().shares(node))),
        ("perc", number(Some(numbers.fairshare_perc))),
        ("usage", number(Some(view.tree().usage(node)))),
        ("tree_usage", number(Some(numbers.fairshare_tree_usage))),
        ("factor", number(Some(numbers.fairshare_factor))),
    ]
}

fn slurm_fields(association: &AssociationShares) -> Vec<(&'static str, Value)> {
    vec![
        (
            "raw_shares",
            association.raw_shares.map_or(Value::Null, shares),
        ),
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
    let association = view.shares().association(node).unwrap_or_default();
    if view.policy.has_factors {
        return association;
    }
    AssociationShares {
        fairshare: None,
        tickets: None,
        ..association
    }
}

pub(crate) fn shares(shares: Shares) -> Value {
    match shares {
        Shares::Count(count) => count.into(),
        Shares::Parent => "parent".into(),
    }
}

/// A number that is not finite is a word, which JSON has no number for.
fn number(value: Option<f64>) -> Value {
    match value {
        None => Value::Null,
        Some(f64::INFINITY) => "inf".into(),
        Some(f64::NEG_INFINITY) => "-inf".into(),
        Some(value) if value.is_nan() => "nan".into(),
        Some(value) => value.into(),
    }
}
