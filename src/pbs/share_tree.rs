//! The daemon's fair-share tree, from its three files and the entities of the jobs it has seen.

use std::collections::HashSet;

pub use crate::fairshare::policy::Rules;
use crate::fairshare::policy::pbs::Pp718;
use crate::fairshare::{
    Assessed, EntityShares, FairShare, Member, NodeId, ShareTree, TreeBuilder, TreeError, TreeShares,
};
use crate::pbs::daemon_policy::SchedulerShares;
use crate::pbs::files::resource_group::{ResourceGroup, TREE_ROOT, UNKNOWN_GROUP};
use crate::pbs::files::usage::{MIN_USAGE, UsageFile, UsageRecord};

/// The cgroup of the group `unknown`.
const UNKNOWN_CGROUP: i32 = 1;
/// The cgroup of an entity that no line speaks of.
const NO_CGROUP: i32 = -1;

/// Makes a [`PbsTree`]: the lines of `resource_group`, what `usage` says, `unknown_shares`, and the jobs' entities.
#[derive(Debug, Clone)]
pub struct PbsTreeBuilder<'a> {
    lines: &'a ResourceGroup,
    usage: Option<&'a UsageFile>,
    unknown_shares: i32,
    rules: Rules,
    entities: Vec<String>,
    kept_above: Vec<(String, f64)>,
}

impl<'a> PbsTreeBuilder<'a> {
    /// A tree of these lines, with no usage, no `unknown_shares` and the daemon's rules.
    pub fn new(lines: &'a ResourceGroup) -> Self {
        Self {
            lines,
            usage: None,
            unknown_shares: 0,
            rules: Rules::Scheduler,
            entities: Vec::new(),
            kept_above: Vec::new(),
        }
    }

    /// Charges what the usage file says.
    #[must_use]
    pub fn usage(self, usage: &'a UsageFile) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Allots shares to the group `unknown`, see `SchedConfig::unknown_shares`.
    #[must_use]
    pub fn unknown_shares(self, unknown_shares: i32) -> Self {
        Self { unknown_shares, ..self }
    }

    /// Chooses whose rules turn the tree into numbers: the daemon's are [`SchedulerShares`] and a usage of 1 for
    /// whoever has used nothing, the documented ones [`Pp718`] and usage as it was recorded.
    #[must_use]
    pub fn rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// Adds the entities of jobs. Each one that is not in the tree yet joins the group `unknown` and thins the shares
    /// of the others there. A job without an entity counts as one of the name `""`, as it does for the daemon.
    #[must_use]
    pub fn with_entities<S: Into<String>>(mut self, entities: impl IntoIterator<Item = S>) -> Self {
        self.entities.extend(entities.into_iter().map(Into::into));
        self
    }

    /// Adds usage that a group (or the root) has of its own, which no file of OpenPBS can say.
    #[must_use]
    pub fn usage_of_group(mut self, group: impl Into<String>, usage: f64) -> Self {
        self.kept_above.push((group.into(), usage));
        self
    }

    /// The tree with its numbers.
    ///
    /// # Errors
    /// [`TreeError::TooLarge`].
    pub fn build(self) -> Result<PbsTree, TreeError> {
        let mut nursery = Nursery::plant(self.lines, self.unknown_shares)?;
        let records = self.usage.map_or(&[][..], |usage| &usage.records);
        let charges = records.iter().map(|record| nursery.charge(record)).collect::<Result<Vec<_>, _>>()?;
        for entity in &self.entities {
            nursery.find_or_add(entity)?;
        }
        let Nursery { builder, cgroups, unknown, .. } = nursery;
        let mut tree = builder.finish();
        match self.rules {
            Rules::Scheduler => charge_as_the_daemon(&mut tree, &charges),
            Rules::Documented => charge_as_documented(&mut tree, &charges),
        }
        for (group, usage) in &self.kept_above {
            if let Some(node) = tree.find(group) {
                tree.charge(node, *usage);
            }
        }
        let assessed = match self.rules {
            Rules::Scheduler => Assessed::new(tree, &SchedulerShares),
            Rules::Documented => Assessed::new(tree, &Pp718),
        };
        Ok(PbsTree { assessed, cgroups, unknown })
    }
}

/// A record of the usage file that found its node.
#[derive(Debug, Clone, Copy)]
struct Charge {
    node: NodeId,
    usage: f64,
    /// Whether the node had no children when the record was read: only then do those above hear of it.
    is_leaf: bool,
}

/// A tree under construction.
struct Nursery<'a> {
    builder: TreeBuilder,
    cgroups: Vec<i32>,
    unknown: NodeId,
    has_strangers: bool,
    parents: HashSet<&'a str>,
}

impl<'a> Nursery<'a> {
    /// The group `unknown` first, then the lines.
    fn plant(lines: &'a ResourceGroup, unknown_shares: i32) -> Result<Self, TreeError> {
        let mut builder = TreeBuilder::new(TREE_ROOT).lenient();
        let unknown = builder.add(builder.root(), Member::group(UNKNOWN_GROUP).shares(unknown_shares.into()))?;
        let parents: HashSet<&str> = lines.lines.iter().map(|line| line.parent.as_str()).collect();
        let mut cgroups = vec![0, UNKNOWN_CGROUP];
        for line in &lines.lines {
            let name = line.name.as_str();
            let member = if parents.contains(name) { Member::group(name) } else { Member::entity(name) };
            builder.add_under(&line.parent, member.shares(line.shares.into()))?;
            cgroups.push(line.cgroup);
        }
        Ok(Self { builder, cgroups, unknown, has_strangers: false, parents })
    }

    /// The node of that name, or a new one among the unknown: one share each.
    fn find_or_add(&mut self, entity: &str) -> Result<NodeId, TreeError> {
        if let Some(node) = self.builder.find(entity) {
            return Ok(node);
        }
        self.has_strangers = true;
        self.cgroups.push(NO_CGROUP);
        self.builder.add(self.unknown, Member::entity(entity).shares(1))
    }

    fn charge(&mut self, record: &UsageRecord) -> Result<Charge, TreeError> {
        let node = self.find_or_add(&record.entity)?;
        let is_parent = node == self.builder.root()
            || (node == self.unknown && self.has_strangers)
            || self.parents.contains(record.entity.as_str());
        Ok(Charge { node, usage: record.usage, is_leaf: !is_parent })
    }
}

/// Every node starts at [`MIN_USAGE`]. A record says what its own node's usage is, and is added to those above if
/// the node is a leaf: so a second record of an entity replaces the first there, and adds to it above.
/// Every sum is taken in the order of the records, as the daemon takes it, for the sake of its last bit; that costs
/// records times depth: 16 s for 100,000 records on the rungs of a chain of 100,000 groups, 1 s for a million under
/// a thousand groups.
fn charge_as_the_daemon(tree: &mut ShareTree, charges: &[Charge]) {
    for node in tree.nodes() {
        tree.set_usage(node, MIN_USAGE);
    }
    for charge in charges {
        tree.set_usage(charge.node, charge.usage);
        if charge.is_leaf {
            tree.add_above(charge.node, charge.usage);
        }
    }
}

/// An entity's last record holds, and groups have what their entities have.
fn charge_as_documented(tree: &mut ShareTree, charges: &[Charge]) {
    let mut seen = HashSet::new();
    for charge in charges.iter().rev() {
        if tree.children(charge.node).is_empty() && seen.insert(charge.node) {
            tree.charge(charge.node, charge.usage);
        }
    }
}

/// The daemon's tree and the numbers of everybody in it.
#[derive(Debug, Clone)]
pub struct PbsTree {
    assessed: Assessed,
    cgroups: Vec<i32>,
    unknown: NodeId,
}

impl PbsTree {
    /// The tree. Children stand in file order; the daemon holds and shows them the other way round.
    pub fn tree(&self) -> &ShareTree {
        self.assessed.tree()
    }

    /// The numbers of every node, not yet [cut to six decimals](crate::pbs::fairshare_format).
    pub fn shares(&self) -> &TreeShares {
        self.assessed.shares()
    }

    /// The group that takes the entities that no line speaks of.
    pub fn unknown(&self) -> NodeId {
        self.unknown
    }

    /// The node's number in `resource_group`: 0 for the root, 1 for `unknown`, -1 for whoever is unknown.
    pub fn cgroup(&self, node: NodeId) -> i32 {
        self.cgroups[node.index()]
    }

    /// Every node in the daemon's order: a group before its children, siblings in reverse file order.
    pub fn daemon_order(&self) -> impl Iterator<Item = NodeId> + '_ {
        let mut waiting = vec![self.tree().root()];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend_from_slice(self.tree().children(node));
            Some(node)
        })
    }
}

impl FairShare for PbsTree {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.tree().find(entity).and_then(|node| self.shares().of(node))
    }
}
