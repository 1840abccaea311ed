//! The names in a tree: what a node is called, and which node a name means.

use std::iter;

use crate::fairshare::tree::{Kind, NodeId, ShareTree};

impl ShareTree {
    /// The node's name; of an association that is bound to a partition, `user:partition`.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// The one partition that a user's association is bound to; `None` if it is for all.
    pub fn partition(&self, node: NodeId) -> Option<&str> {
        self.partitions.get(&node).map(|partition| &**partition)
    }

    /// The node's name without its partition.
    pub fn name_alone(&self, node: NodeId) -> &str {
        let name = self.name(node);
        self.partition(node).map_or(name, |partition| &name[..name.len() - partition.len() - 1])
    }

    /// Every node that is bound to a partition, in the order of [`nodes`](Self::nodes).
    pub fn bound_to_partitions(&self) -> Vec<NodeId> {
        let mut bound: Vec<NodeId> = self.partitions.keys().copied().collect();
        bound.sort_unstable();
        bound
    }

    /// The names from just below the root down to the node; empty for the root.
    pub fn path(&self, node: NodeId) -> Vec<&str> {
        let mut path: Vec<&str> =
            iter::once(node).chain(self.ancestors(node)).filter(|id| id.0 != 0).map(|id| self.name(id)).collect();
        path.reverse();
        path
    }

    /// Every node of that name, the latest first. Only a tree named [`PerGroup`](crate::fairshare::Naming::PerGroup) has several.
    pub fn named(&self, name: &str) -> impl Iterator<Item = NodeId> + '_ {
        iter::successors(self.by_name.get(name).copied(), |id| self.nodes[id.index()].namesake)
    }

    /// The one node of that name; `None` when there is none or when the name alone does not tell which.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let mut found = self.named(name);
        found.next().filter(|_| found.next().is_none())
    }

    /// The node that a user means by `NAME`, or by `ACCOUNT/NAME` with as many accounts as it takes; `None` when there
    /// is none or when that does not tell which. Of several, the one entity among them is meant.
    ///
    /// ```
    /// use job_sort_formula::fairshare::{Member, Naming, TreeBuilder};
    ///
    /// let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
    /// let physics = builder.add_under("root", Member::group("physics"))?;
    /// let ann = builder.add(physics, Member::entity("ann"))?;
    /// let on_gpus = builder.add(physics, Member::entity("ann").partition("gpu"))?;
    /// let tree = builder.finish();
    /// assert_eq!([tree.meant_by("ann"), tree.meant_by("physics/ann:gpu")], [Some(ann), Some(on_gpus)]);
    /// assert_eq!((tree.name_alone(on_gpus), tree.partition(on_gpus)), ("ann", Some("gpu")));
    /// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
    /// ```
    pub fn meant_by(&self, name: &str) -> Option<NodeId> {
        let fitting = self.fitting(name);
        let mut entities = fitting.iter().filter(|&&node| self.kind(node) == Kind::Entity);
        match (entities.next(), entities.next(), fitting.as_slice()) {
            (Some(&one), None, _) | (None, _, &[one]) => Some(one),
            _ => None,
        }
    }

    /// Every node that [`meant_by`](Self::meant_by) may choose from.
    pub fn fitting(&self, name: &str) -> Vec<NodeId> {
        let whole: Vec<NodeId> = self.named(name).collect();
        match name.rsplit_once('/') {
            Some((above, last)) if whole.is_empty() => {
                let is_below = |node: &NodeId| {
                    let mut ancestors = self.ancestors(*node);
                    above.rsplit('/').all(|account| ancestors.next().is_some_and(|node| self.name(node) == account))
                };
                self.named(last).filter(is_below).collect()
            }
            _ => whole,
        }
    }

    /// The child of `group` that bears that name, the entity before the group if both do.
    pub fn find_in(&self, group: NodeId, name: &str) -> Option<NodeId> {
        self.named(name).filter(|&id| self.parent(id) == Some(group)).min_by_key(|&id| self.kind(id) != Kind::Entity)
    }
}
