//! `ShareTree`: a fair-share tree of the caller's own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use job_sort_formula::fairshare::{
    Member, NodeId, NodeKind, OpenPbs, Policy, ShareTree as Tree, Shares, TreeBuilder, TreeError,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::table::{Table, TableBuilder};

const ROOT: &str = "root";

/// A node of a pickled tree: the place of its parent, its name, its shares, whether it is a group, its own usage and its usage.
type PickledNode = (usize, String, i64, bool, f64, f64);

/// A fair-share tree of one's own, with OpenPBS's policy: groups and entities with shares, which are charged for what they use.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct ShareTree {
    /// The tree is built when its shares are asked for, so that many members are added in linear time.
    tree: Mutex<State>,
}

enum State {
    Building(TreeBuilder),
    Built(Tree),
}

impl State {
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
    fn new() -> Self {
        Self { tree: Mutex::new(State::Building(TreeBuilder::new(ROOT))) }
    }

    /// Adds an entity, or a group, under a group; the root is `root`.
    #[pyo3(signature = (parent, name, *, shares = 1, group = false))]
    fn add(&self, parent: &str, name: &str, shares: i64, group: bool) -> PyResult<()> {
        let member = if group { Member::group(name) } else { Member::entity(name) };
        self.locked().builder().add_under(parent, member.shares(shares)).map(drop).map_err(|error| tree_error(&error))
    }

    /// Adds to the usage of a node, and so to that of the groups above it.
    fn charge(&self, name: &str, amount: f64) -> PyResult<()> {
        let mut state = self.locked();
        let node = state.find(name)?;
        let charged = match &mut *state {
            State::Building(builder) => builder.charge(node, amount),
            State::Built(tree) => tree.charge(node, amount),
        };
        charged.map_err(|error| tree_error(&error))
    }

    /// Multiplies every usage by a factor.
    fn decay(&self, factor: f64) -> PyResult<()> {
        if !(0.0..=1.0).contains(&factor) {
            return Err(PyValueError::new_err(format!("the factor is {factor}, expected a number from 0 to 1")));
        }
        self.locked().tree().decay(factor);
        Ok(())
    }

    /// The numbers of these nodes, by default of all: name, path, kind, shares, perc, usage, tree_usage and factor.
    #[pyo3(signature = (names = None))]
    fn shares(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<Table> {
        py.detach(|| {
            let mut state = self.locked();
            let tree = state.tree();
            let nodes: Vec<NodeId> = match names {
                None => tree.nodes().collect(),
                Some(_) if tree.len() == 1 && names.as_ref().is_some_and(Vec::is_empty) => Vec::new(),
                Some(names) => names.iter().map(|name| state.find(name)).collect::<PyResult<_>>()?,
            };
            share_table(state.tree(), &nodes)
        })
    }

    fn __len__(&self) -> usize {
        self.locked().tree().len()
    }

    fn __repr__(&self) -> String {
        format!("<ShareTree of {} nodes>", self.__len__())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut state = self.locked();
        let tree = state.tree();
        let pickled = |node: NodeId| -> PickledNode {
            let parent = tree.parent(node).map_or(0, NodeId::index);
            let is_group = tree.kind(node) != NodeKind::Entity;
            let shares = tree.shares(node).count();
            (parent, tree.name(node).to_owned(), shares, is_group, tree.own_usage(node), tree.usage(node))
        };
        let nodes: Vec<PickledNode> = tree.nodes().map(pickled).collect();
        (py.get_type::<Self>().getattr("_restore")?, (nodes,)).into_pyobject(py)
    }

    #[staticmethod]
    fn _restore(nodes: Vec<PickledNode>) -> PyResult<Self> {
        let mut builder = TreeBuilder::new(ROOT);
        let mut ids: Vec<NodeId> = vec![builder.root()];
        for (parent, name, shares, is_group, own_usage, _) in nodes.iter().skip(1) {
            let member = if *is_group { Member::group(&**name) } else { Member::entity(&**name) };
            let parent = *ids.get(*parent).ok_or_else(|| PyValueError::new_err("the pickled tree is damaged"))?;
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
        Ok(Self { tree: Mutex::new(State::Built(tree)) })
    }
}

impl ShareTree {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn share_table(tree: &Tree, nodes: &[NodeId]) -> PyResult<Table> {
    let assessed = OpenPbs.assess(tree);
    let numbers: Vec<_> = nodes.iter().map(|&node| assessed.get(node)).collect();
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
    PyValueError::new_err(error.to_string())
}
