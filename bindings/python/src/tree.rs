//! `ShareTree`: a fair-share tree of the caller's own.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{
    Member, NodeId, NodeKind, OpenPbs, Policy, ShareTree as Tree, Shares, TreeBuilder, TreeError,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::argument::{self, counted, number, whole};
use crate::ranked::list_of;
use crate::site::{texts, unknown};
use crate::table::{Table, TableBuilder};

const ROOT: &str = "root";
/// A smaller charge is lost in the largest double, so that it makes no usage infinite, which only a built tree refuses.
const LARGE_CHARGE: f64 = 1e291;
/// The shares that a C `int` keeps, as in the daemons.
const SHARES: RangeInclusive<i64> = 0..=i32::MAX as i64;

/// A node of a pickled tree: the place of its parent, its name, its shares, whether it is a group, its own usage and its usage.
type PickledNode = (usize, String, i64, bool, f64, f64);

/// The nodes, and the usage of each where none falls below the least usage.
type Pickled = (Vec<PickledNode>, Option<Vec<f64>>);

/// A fair-share tree of one's own, with OpenPBS's policy: groups and entities with shares, which are charged for what they use.
/// With `least_usage` every node begins with a usage of 1, below which it never decays, as in OpenPBS's scheduler.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct ShareTree {
    state: Mutex<State>,
}

struct State {
    nodes: Nodes,
    least_usage: Option<LeastUsage>,
}

/// The tree is built when its shares are asked for, so that many members are added in linear time.
enum Nodes {
    Building(TreeBuilder),
    Built(Tree),
}

/// The usage of every node where none falls below the scheduler's least usage: that of a group is not the sum of its members'.
#[derive(Default, Clone, PartialEq)]
struct LeastUsage {
    /// The place of the parent of each node; of the root its own.
    parents: Vec<usize>,
    usage: Vec<f64>,
}

impl LeastUsage {
    /// Begins with the least usage, or as the scheduler does that reads the usage of a node from its file: this replaces the least
    /// usage, and is added to the groups above it.
    fn add(&mut self, parent: usize, usage: Option<f64>) {
        self.parents.push(parent);
        self.usage.push(usage.unwrap_or(IntervalDecay::FLOOR));
        self.add_above(self.usage.len() - 1, usage.unwrap_or(0.0));
    }

    fn charge(&mut self, node: usize, amount: f64) {
        self.usage[node] += amount;
        self.add_above(node, amount);
    }

    fn add_above(&mut self, node: usize, amount: f64) {
        let mut below = node;
        while below != 0 {
            below = self.parents[below];
            self.usage[below] += amount;
        }
    }

    fn decay(&mut self, factor: f64) {
        let decay = IntervalDecay::new(factor as f32, 1);
        self.usage.iter_mut().for_each(|usage| *usage = decay.step(*usage));
    }
}

impl State {
    fn new(least_usage: bool) -> Self {
        let least_usage = least_usage.then(|| {
            let mut root_only = LeastUsage::default();
            root_only.add(0, None);
            root_only
        });
        Self { nodes: Nodes::Building(TreeBuilder::new(ROOT)), least_usage }
    }

    fn add(&mut self, parent: &str, member: Member, usage: Option<f64>) -> Result<(), TreeError> {
        let builder = self.nodes.builder();
        let above = builder.find(parent);
        builder.add_under(parent, member.usage(usage.unwrap_or(0.0)))?;
        if let (Some(least_usage), Some(above)) = (&mut self.least_usage, above) {
            least_usage.add(above.index(), usage.filter(|&usage| usage > 0.0));
        }
        Ok(())
    }

    fn charge(&mut self, node: NodeId, amount: f64) -> Result<(), TreeError> {
        match &mut self.nodes {
            Nodes::Building(builder) if amount < LARGE_CHARGE => builder.charge(node, amount)?,
            nodes => nodes.tree().charge(node, amount)?,
        }
        if let Some(least_usage) = &mut self.least_usage {
            least_usage.charge(node.index(), amount);
        }
        Ok(())
    }

    fn decay(&mut self, factor: f64) -> Result<(), TreeError> {
        match &mut self.least_usage {
            Some(least_usage) => least_usage.decay(factor),
            None => return self.nodes.tree().decay(factor),
        }
        Ok(())
    }

    /// The tree with the usage that its nodes have.
    fn tree(&mut self) -> &Tree {
        let tree = self.nodes.tree();
        if let Some(LeastUsage { usage, .. }) = &self.least_usage {
            tree.nodes().for_each(|node| tree.set_usage(node, usage[node.index()]));
        }
        tree
    }

    /// What makes the same tree.
    fn pickled(&mut self) -> Pickled {
        let least_usage = self.least_usage.as_ref().map(|least| least.usage.clone());
        let tree = self.tree();
        let pickled = |node: NodeId| -> PickledNode {
            let parent = tree.parent(node).map_or(0, NodeId::index);
            let is_group = tree.kind(node) != NodeKind::Entity;
            let shares = tree.shares(node).count();
            (parent, tree.name(node).to_owned(), shares, is_group, tree.own_usage(node), tree.usage(node))
        };
        (tree.nodes().map(pickled).collect(), least_usage)
    }
}

impl Nodes {
    fn builder(&mut self) -> &mut TreeBuilder {
        if let Self::Built(tree) = self {
            *self = Self::Building(std::mem::replace(tree, TreeBuilder::new(ROOT).finish()).into_builder());
        }
        match self {
            Self::Building(builder) => builder,
            Self::Built(_) => unreachable!("it is being built"),
        }
    }

    fn tree(&mut self) -> &mut Tree {
        if let Self::Building(builder) = self {
            *self = Self::Built(std::mem::replace(builder, TreeBuilder::new(ROOT)).finish());
        }
        match self {
            Self::Built(tree) => tree,
            Self::Building(_) => unreachable!("it is built"),
        }
    }

    fn find(&self, name: &str) -> PyResult<NodeId> {
        let found = match self {
            Self::Building(builder) => builder.find(name),
            Self::Built(tree) => tree.find(name),
        };
        found.ok_or_else(|| PyKeyError::new_err(format!("`{name}` is not in the tree")))
    }
}

#[pymethods]
impl ShareTree {
    #[new]
    #[pyo3(signature = (*, least_usage = false))]
    fn new(least_usage: bool) -> Self {
        Self { state: Mutex::new(State::new(least_usage)) }
    }

    /// Adds an entity, or a group, under a group; the root is `root`. `usage` is what it has used before.
    #[pyo3(signature = (parent, name, *, shares = 1, group = false, usage = None))]
    fn add(&self, parent: &str, name: &str, shares: i128, group: bool, usage: Option<f64>) -> PyResult<()> {
        let shares = whole("shares", shares, &SHARES)?;
        let member = if group { Member::group(name) } else { Member::entity(name) };
        self.locked().add(parent, member.shares(shares), usage).map_err(|error| tree_error(&error))
    }

    /// Adds to the usage of a node, and so to that of the groups above it; or of many: their names and amounts as columns.
    fn charge(&self, name: &Bound<'_, PyAny>, amount: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(name) = name.cast::<PyString>() {
            let (name, amount): (String, f64) = (name.extract()?, number("`amount`", amount)?);
            let mut state = self.locked();
            let node = state.nodes.find(&name)?;
            return state.charge(node, amount).map_err(|error| tree_error(&error));
        }
        let charges = charges(name, amount)?;
        let mut state = self.locked();
        let charged = charges.iter().map(|(name, amount)| Ok((state.nodes.find(name)?, *amount)));
        let charged = charged.collect::<PyResult<Vec<(NodeId, f64)>>>()?;
        if let Some((name, amount)) = charges.into_iter().find(|(_, amount)| !(0.0..f64::INFINITY).contains(amount)) {
            return Err(tree_error(&TreeError::BadCharge { name, amount }));
        }
        let mut charged = charged.into_iter();
        charged.try_for_each(|(node, amount)| state.charge(node, amount)).map_err(|error| tree_error(&error))
    }

    /// Multiplies every usage by a factor.
    fn decay(&self, factor: f64) -> PyResult<()> {
        if !(0.0..=1.0).contains(&factor) {
            return Err(PyValueError::new_err(format!("the factor is {factor}, expected a number from 0 to 1")));
        }
        self.locked().decay(factor).map_err(|error| tree_error(&error))
    }

    /// The numbers of these nodes, by default of all: name, path, kind, shares, perc, usage, tree_usage and factor. `numbers` are
    /// exact, or those of openpbs, whose scheduler passes six decimals to a formula.
    #[pyo3(signature = (names = None, *, numbers = "exact"))]
    fn shares(&self, py: Python<'_>, names: Option<&Bound<'_, PyAny>>, numbers: &str) -> PyResult<Table> {
        let is_printed = match numbers {
            "exact" => false,
            "openpbs" => true,
            other => return Err(unknown("numbers", other, "`exact` or `openpbs`")),
        };
        let names = names.map(|names| texts("names", names)).transpose()?;
        py.detach(|| {
            let mut state = self.locked();
            state.tree();
            let nodes = names.map(|names| names.iter().map(|name| state.nodes.find(name)).collect::<PyResult<_>>());
            let nodes: Option<Vec<NodeId>> = nodes.transpose()?;
            let tree = state.tree();
            share_table(tree, &nodes.unwrap_or_else(|| tree.nodes().collect()), is_printed)
        })
    }

    fn __len__(&self) -> usize {
        self.locked().nodes.tree().len()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>().is_ok_and(|name| self.locked().nodes.find(&name).is_ok())
    }

    /// Whether the other tree has the same nodes with the same shares and usage.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let mine = self.locked().pickled();
            mine == other.get().locked().pickled()
        })
    }

    fn __repr__(&self) -> String {
        format!("<ShareTree of {} nodes>", self.__len__())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let pickled = self.locked().pickled();
        (py.get_type::<Self>().getattr("_restore")?, pickled).into_pyobject(py)
    }

    #[staticmethod]
    #[pyo3(signature = (nodes, least_usage = None))]
    fn _restore(nodes: Vec<PickledNode>, least_usage: Option<Vec<f64>>) -> PyResult<Self> {
        let damaged = || PyValueError::new_err("the pickled tree is damaged");
        let mut builder = TreeBuilder::new(ROOT);
        let mut ids: Vec<NodeId> = vec![builder.root()];
        for (parent, name, shares, is_group, own_usage, _) in nodes.iter().skip(1) {
            let member = if *is_group { Member::group(&**name) } else { Member::entity(&**name) };
            let parent = *ids.get(*parent).ok_or_else(damaged)?;
            let added = builder.add(parent, member.shares(*shares).usage(*own_usage));
            ids.push(added.map_err(|error| tree_error(&error))?);
        }
        if let Some((.., own_usage, _)) = nodes.first() {
            builder.charge(ids[0], *own_usage).map_err(|error| tree_error(&error))?;
        }
        let mut tree = builder.finish();
        for (node, (.., usage)) in ids.into_iter().zip(&nodes) {
            // sums in another order differ in their last digits
            if tree.usage(node) != *usage {
                tree.set_usage(node, *usage);
            }
        }
        if least_usage.as_ref().is_some_and(|usage| usage.len() != tree.len()) {
            return Err(damaged());
        }
        let parents = tree.nodes().map(|node| tree.parent(node).map_or(0, NodeId::index)).collect();
        let least_usage = least_usage.map(|usage| LeastUsage { parents, usage });
        Ok(Self { state: Mutex::new(State { nodes: Nodes::Built(tree), least_usage }) })
    }
}

impl ShareTree {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names of nodes and the amounts for which they are charged, from two columns.
fn charges(names: &Bound<'_, PyAny>, amounts: &Bound<'_, PyAny>) -> PyResult<Vec<(String, f64)>> {
    let names = argument::texts("name", list_of("`name`: expected a name or a column of names", names)?)?;
    let amounts = argument::numbers("amount", list_of("`amount`: expected a column, as `name` is one", amounts)?)?;
    if names.len() != amounts.len() {
        let message = format!("`amount` has {}, `name` has {}", counted(amounts.len(), "row"), names.len());
        return Err(PyValueError::new_err(message));
    }
    Ok(names.into_iter().zip(amounts).collect())
}

fn share_table(tree: &Tree, nodes: &[NodeId], is_printed: bool) -> PyResult<Table> {
    let assessed = OpenPbs.assess(tree);
    let numbers = nodes.iter().map(|&node| assessed.get(node));
    let numbers: Vec<_> = numbers.map(|of| of.map(|of| if is_printed { of.printed() } else { of })).collect();
    let kind = |node: NodeId| match tree.kind(node) {
        NodeKind::Root => "root",
        NodeKind::Group => "group",
        NodeKind::Entity => "entity",
    };
    let shares = |node: NodeId| match tree.shares(node) {
        Shares::Count(count) => Some(count),
        Shares::Parent => None,
    };
    let nodes = || nodes.iter().copied();
    let mut columns = TableBuilder::default();
    columns.texts("name", nodes().map(|node| Some(tree.name(node))));
    columns.paths("path", nodes().map(|node| tree.path(node)));
    columns.texts("kind", nodes().map(|node| Some(kind(node))));
    columns.integers("shares", nodes().map(shares));
    columns.floats("perc", numbers.iter().map(|of| of.map(|of| of.fairshare_perc)));
    columns.floats("usage", nodes().map(|node| Some(tree.usage(node))));
    columns.floats("tree_usage", numbers.iter().map(|of| of.map(|of| of.fairshare_tree_usage)));
    columns.floats("factor", numbers.iter().map(|of| of.map(|of| of.fairshare_factor)));
    columns.finish(&[], "{}".to_owned())
}

fn tree_error(error: &TreeError) -> PyErr {
    let message = error.to_string();
    PyValueError::new_err(match error {
        // as Python writes it, not with 309 digits
        TreeError::BadCharge { amount, .. } | TreeError::UsageOverflow { amount, .. } => {
            message.replacen(&format!("charge {amount} "), &format!("charge {amount:?} "), 1)
        }
        _ => message,
    })
}
