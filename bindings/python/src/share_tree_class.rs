//! `ShareTree`: a fair-share tree of the caller's own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use job_sort_formula::fairshare::{
    Member, NodeId, NodeKind, OpenPbs, Policy, ShareTree as Tree, Shares, TreeBuilder, TreeError,
};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

const ROOT: &str = "root";
/// The most shares that a C `int` keeps, as in the daemons.
const MAX_SHARES: i64 = i32::MAX as i64;

/// A member of a tree: its parent, its name, its shares, whether it is a group, and its own usage.
type PickledMember = (String, String, i64, bool, f64);

/// A fair-share tree of one's own, with OpenPBS's policy: groups and entities with shares, which
/// are charged for what they use.
#[pyclass(frozen, subclass, module = "job_sort_formula._native")]
pub struct ShareTree {
    state: Mutex<State>,
}

/// The members, the root among them. The tree is built when its shares are asked for, so that many
/// members are added in linear time.
struct State {
    builder: TreeBuilder,
    members: Vec<PickledMember>,
}

impl State {
    fn find(&self, name: &str) -> PyResult<NodeId> {
        match self.builder.find(name) {
            Some(node) => Ok(node),
            None => Err(PyKeyError::new_err(format!("`{name}` is not in the tree"))),
        }
    }

    fn add(&mut self, added: PickledMember) -> PyResult<()> {
        let (parent, name, shares, is_group, _) = &added;
        let member = if *is_group {
            Member::group(name.as_str())
        } else {
            Member::entity(name.as_str())
        };
        let added_to = self.builder.add_under(parent, member.shares(*shares));
        added_to.map_err(tree_error)?;
        self.members.push(added);
        Ok(())
    }

    fn tree(&self) -> PyResult<Tree> {
        let mut tree = self.builder.clone().finish();
        let nodes: Vec<NodeId> = tree.nodes().collect();
        for (node, (.., usage)) in nodes.into_iter().zip(&self.members) {
            tree.charge(node, *usage).map_err(tree_error)?;
        }
        Ok(tree)
    }
}

#[pymethods]
impl ShareTree {
    #[new]
    fn new() -> Self {
        let state = State {
            builder: TreeBuilder::new(ROOT),
            members: vec![(String::new(), ROOT.to_owned(), 1, true, 0.0)],
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// Adds an entity, or a group, under a group; the root is `root`.
    // an `i128`, so that shares beyond 64 bits are refused with their name too
    #[pyo3(signature = (parent, name, *, shares = 1, group = false))]
    fn add(&self, parent: &str, name: &str, shares: i128, group: bool) -> PyResult<()> {
        match i64::try_from(shares) {
            Ok(shares @ 0..=MAX_SHARES) => {
                let added = (parent.to_owned(), name.to_owned(), shares, group, 0.0);
                self.locked().add(added)
            }
            _ => Err(PyValueError::new_err(format!(
                "the shares of `{name}` are not a whole number from 0 to {MAX_SHARES}"
            ))),
        }
    }

    /// Adds to the usage of a node, and so to that of the groups above it.
    fn charge(&self, name: &str, amount: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(amount) = amount.extract::<f64>() else {
            let given = amount.repr()?;
            let message = format!("`amount` is {given}, expected a number");
            return Err(PyTypeError::new_err(message));
        };
        let mut state = self.locked();
        let node = state.find(name)?.index();
        let usage = &mut state.members[node].4;
        let sum = *usage + amount;
        if !(0.0..f64::INFINITY).contains(&amount) || sum.is_infinite() {
            return Err(PyValueError::new_err(format!(
                "cannot charge {amount:?} to `{name}`: expected a finite amount, 0 or more"
            )));
        }
        *usage = sum;
        Ok(())
    }

    /// Multiplies every usage by a factor.
    fn decay(&self, factor: f64) -> PyResult<()> {
        if !(0.0..=1.0).contains(&factor) {
            return Err(PyValueError::new_err(format!(
                "the factor is {factor}, expected a number from 0 to 1"
            )));
        }
        for (.., usage) in &mut self.locked().members {
            *usage *= factor;
        }
        Ok(())
    }

    /// The numbers of these nodes, by default of all, as columns.
    #[pyo3(signature = (names = None))]
    fn shares<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let state = self.locked();
        let tree = state.tree()?;
        let Some(names) = names else {
            return share_columns(py, &tree, tree.nodes().collect());
        };
        let mut nodes = Vec::new();
        for name in &names {
            nodes.push(state.find(name)?);
        }
        share_columns(py, &tree, nodes)
    }

    fn __len__(&self) -> usize {
        self.locked().members.len()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        match name.extract::<String>() {
            Ok(name) => self.locked().builder.find(&name).is_some(),
            Err(_) => false,
        }
    }

    fn __repr__(&self) -> String {
        format!("<ShareTree of {} nodes>", self.__len__())
    }

    fn __getstate__(&self) -> Vec<PickledMember> {
        self.locked().members.clone()
    }

    fn __setstate__(&self, members: Vec<PickledMember>) -> PyResult<()> {
        let mut state = self.locked();
        for (place, member) in members.into_iter().enumerate() {
            // the root is there already
            if place == 0 {
                state.members[0] = member;
            } else {
                state.add(member)?;
            }
        }
        Ok(())
    }
}

impl ShareTree {
    fn locked(&self) -> MutexGuard<'_, State> {
        // a panic leaves no half of a change: each call checks before it writes
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn share_columns<'py>(
    py: Python<'py>,
    tree: &Tree,
    nodes: Vec<NodeId>,
) -> PyResult<Bound<'py, PyDict>> {
    let numbers = OpenPbs.assess(tree);
    let numbers = || nodes.iter().map(|&node| numbers.get(node));
    let each = || nodes.iter().copied();
    let kinds = each().map(|node| match tree.kind(node) {
        NodeKind::Root => "root",
        NodeKind::Group => "group",
        NodeKind::Entity => "entity",
    });
    let shares = each().map(|node| match tree.shares(node) {
        Shares::Count(count) => Some(count),
        Shares::Parent => None,
    });
    let percs = numbers().map(|numbers| Some(numbers?.fairshare_perc));
    let tree_usages = numbers().map(|numbers| Some(numbers?.fairshare_tree_usage));
    let factors = numbers().map(|numbers| Some(numbers?.fairshare_factor));
    let columns = PyDict::new(py);
    columns.set_item("name", Vec::from_iter(each().map(|node| tree.name(node))))?;
    columns.set_item("path", Vec::from_iter(each().map(|node| tree.path(node))))?;
    columns.set_item("kind", Vec::from_iter(kinds))?;
    columns.set_item("shares", Vec::from_iter(shares))?;
    columns.set_item("perc", Vec::from_iter(percs))?;
    columns.set_item("usage", Vec::from_iter(each().map(|node| tree.usage(node))))?;
    columns.set_item("tree_usage", Vec::from_iter(tree_usages))?;
    columns.set_item("factor", Vec::from_iter(factors))?;
    Ok(columns)
}

fn tree_error(error: TreeError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
