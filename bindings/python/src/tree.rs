//! `ShareTree`: a fair-share tree of the caller's own.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{
    Member, NodeId, NodeKind, OpenPbs, Policy, ShareTree as Tree, Shares, TreeBuilder, TreeError,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::{self, counted, number, one_of, texts, whole};
use crate::ranked::list_of;
use crate::table::{Table, TableBuilder};

const ROOT: &str = "root";
/// The shares that a C `int` keeps, as in the daemons.
const SHARES: RangeInclusive<i64> = 0..=i32::MAX as i64;

/// A fair-share tree of one's own, with OpenPBS's policy: groups and entities with shares, which
/// are charged for what they use. With `least_usage` every node begins with a usage of 1, below
/// which it never decays, as in OpenPBS's scheduler.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct ShareTree {
    state: Mutex<State>,
}

/// The nodes and their usage. The tree is built when its shares are asked for, so that many members
/// are added in linear time.
struct State {
    builder: TreeBuilder,
    least_usage: bool,
    /// The place of the parent of each node; of the root its own.
    parents: Vec<usize>,
    /// The usage of each node. Where none falls below the least usage, that of a group is not the
    /// sum of its members'.
    usage: Vec<f64>,
}

impl State {
    fn new(least_usage: bool) -> Self {
        let root = if least_usage {
            IntervalDecay::FLOOR
        } else {
            0.0
        };
        Self {
            builder: TreeBuilder::new(ROOT),
            least_usage,
            parents: vec![0],
            usage: vec![root],
        }
    }

    fn find(&self, name: &str) -> PyResult<usize> {
        let found = self.builder.find(name).map(NodeId::index);
        found.ok_or_else(|| PyKeyError::new_err(format!("`{name}` is not in the tree")))
    }

    /// Begins with the least usage, or as the scheduler does that reads the usage of a node from
    /// its file: this replaces the least usage, and is added to the groups above it.
    fn add(&mut self, parent: &str, member: Member, usage: f64) -> Result<(), TreeError> {
        let above = self.builder.find(parent);
        // for its check of the usage
        self.builder.add_under(parent, member.usage(usage))?;
        let begins = if self.least_usage && usage == 0.0 {
            IntervalDecay::FLOOR
        } else {
            0.0
        };
        self.parents.push(above.map_or(0, NodeId::index));
        self.usage.push(begins);
        self.add_usage(self.usage.len() - 1, usage);
        Ok(())
    }

    fn charge(&mut self, name: &str, amount: f64) -> PyResult<()> {
        let node = self.find(name)?;
        let error =
            |error: fn(String, f64) -> TreeError| tree_error(&error(name.to_owned(), amount));
        if !(0.0..f64::INFINITY).contains(&amount) {
            return Err(error(|name, amount| TreeError::BadCharge { name, amount }));
        }
        if self
            .with_those_above(node)
            .any(|node| self.usage[node] + amount == f64::INFINITY)
        {
            return Err(error(|name, amount| TreeError::UsageOverflow {
                name,
                amount,
            }));
        }
        self.add_usage(node, amount);
        Ok(())
    }

    fn add_usage(&mut self, node: usize, amount: f64) {
        let mut at = node;
        self.usage[at] += amount;
        while at != 0 {
            at = self.parents[at];
            self.usage[at] += amount;
        }
    }

    fn with_those_above(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&node| (node != 0).then(|| self.parents[node]))
    }

    fn decay(&mut self, factor: f64) {
        let interval = IntervalDecay::new(factor as f32, 1);
        for usage in &mut self.usage {
            *usage = if self.least_usage {
                interval.step(*usage)
            } else {
                *usage * factor
            };
        }
    }

    fn tree(&self) -> Tree {
        let mut tree = self.builder.clone().finish();
        tree.nodes()
            .for_each(|node| tree.set_usage(node, self.usage[node.index()]));
        tree
    }
}

#[pymethods]
impl ShareTree {
    #[new]
    #[pyo3(signature = (*, least_usage = false))]
    fn new(least_usage: bool) -> Self {
        Self {
            state: Mutex::new(State::new(least_usage)),
        }
    }

    /// Adds an entity, or a group, under a group; the root is `root`. `usage` is what it has used
    /// before.
    #[pyo3(signature = (parent, name, *, shares = 1, group = false, usage = None))]
    fn add(
        &self,
        parent: &str,
        name: &str,
        shares: i128,
        group: bool,
        usage: Option<f64>,
    ) -> PyResult<()> {
        let shares = whole("shares", shares, &SHARES)?;
        let member = if group {
            Member::group(name)
        } else {
            Member::entity(name)
        };
        let added = self
            .locked()
            .add(parent, member.shares(shares), usage.unwrap_or(0.0));
        added.map_err(|error| tree_error(&error))
    }

    /// Adds to the usage of a node, and so to that of the groups above it; or of many: their names
    /// and amounts as columns.
    fn charge(&self, name: &Bound<'_, PyAny>, amount: &Bound<'_, PyAny>) -> PyResult<()> {
        let charges = match name.cast::<PyString>() {
            Ok(name) => vec![(name.extract()?, number("`amount`", amount)?)],
            Err(_) => charges(name, amount)?,
        };
        let mut state = self.locked();
        // one is charged or not
        let before = (charges.len() > 1).then(|| state.usage.clone());
        let charged = charges
            .iter()
            .try_for_each(|(name, amount)| state.charge(name, *amount));
        if let (Err(_), Some(before)) = (&charged, before) {
            state.usage = before;
        }
        charged
    }

    /// Multiplies every usage by a factor.
    fn decay(&self, factor: f64) -> PyResult<()> {
        if !(0.0..=1.0).contains(&factor) {
            return Err(PyValueError::new_err(format!(
                "the factor is {factor}, expected a number from 0 to 1"
            )));
        }
        self.locked().decay(factor);
        Ok(())
    }

    /// The numbers of these nodes, by default of all: name, path, kind, shares, perc, usage,
    /// tree_usage and factor. `numbers` are exact, or those of openpbs, whose scheduler passes six
    /// decimals to a formula.
    #[pyo3(signature = (names = None, *, numbers = "exact"))]
    fn shares(
        &self,
        py: Python<'_>,
        names: Option<&Bound<'_, PyAny>>,
        numbers: &str,
    ) -> PyResult<Table> {
        let is_printed = one_of("numbers", numbers, &[("exact", false), ("openpbs", true)])?;
        let names = names.map(|names| texts("names", names)).transpose()?;
        py.detach(|| {
            let state = self.locked();
            let places = match names {
                Some(names) => names
                    .iter()
                    .map(|name| state.find(name))
                    .collect::<PyResult<_>>()?,
                None => (0..state.usage.len()).collect::<Vec<usize>>(),
            };
            let tree = state.tree();
            let nodes: Vec<NodeId> = places
                .into_iter()
                .filter_map(|place| tree.node(place))
                .collect();
            share_table(&tree, &nodes, is_printed)
        })
    }

    fn __len__(&self) -> usize {
        self.locked().usage.len()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>()
            .is_ok_and(|name| self.locked().find(&name).is_ok())
    }

    fn __repr__(&self) -> String {
        format!("<ShareTree of {} nodes>", self.__len__())
    }
}

impl ShareTree {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names of nodes and the amounts for which they are charged, from two columns.
fn charges(names: &Bound<'_, PyAny>, amounts: &Bound<'_, PyAny>) -> PyResult<Vec<(String, f64)>> {
    let names = argument::row_texts(
        "name",
        list_of("`name`: expected a name or a column of names", names)?,
    )?;
    let amounts = argument::numbers(
        "amount",
        list_of("`amount`: expected a column, as `name` is one", amounts)?,
    )?;
    if names.len() != amounts.len() {
        let message = format!(
            "`amount` has {}, `name` has {}",
            counted(amounts.len(), "row"),
            names.len()
        );
        return Err(PyValueError::new_err(message));
    }
    Ok(names.into_iter().zip(amounts).collect())
}

fn share_table(tree: &Tree, nodes: &[NodeId], is_printed: bool) -> PyResult<Table> {
    let assessed = OpenPbs.assess(tree);
    let numbers = nodes.iter().map(|&node| assessed.get(node));
    let numbers: Vec<_> = numbers
        .map(|of| of.map(|of| if is_printed { of.printed() } else { of }))
        .collect();
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
    columns.floats(
        "perc",
        numbers.iter().map(|of| of.map(|of| of.fairshare_perc)),
    );
    columns.floats("usage", nodes().map(|node| Some(tree.usage(node))));
    columns.floats(
        "tree_usage",
        numbers
            .iter()
            .map(|of| of.map(|of| of.fairshare_tree_usage)),
    );
    columns.floats(
        "factor",
        numbers.iter().map(|of| of.map(|of| of.fairshare_factor)),
    );
    columns.finish(&[], "{}".to_owned())
}

fn tree_error(error: &TreeError) -> PyErr {
    let message = error.to_string();
    PyValueError::new_err(match error {
        // as Python writes it, not with 309 digits
        TreeError::BadCharge { amount, .. } | TreeError::UsageOverflow { amount, .. } => message
            .replacen(
                &format!("charge {amount} "),
                &format!("charge {amount:?} "),
                1,
            ),
        _ => message,
    })
}
