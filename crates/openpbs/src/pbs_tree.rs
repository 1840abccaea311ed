//! The daemon's fair-share tree: the shares and usage of its nodes, their order, and the comparison
//! of two entities, which `pbsfs -c` prints and the scheduler orders jobs by.
//!
//! In: a [`TreeDocument`], which [`ResourceGroup::document`](crate::files::fairshare_files::ResourceGroup::document)
//! makes of the files of `sched_priv`, and the entities of the jobs. Out: a [`PbsTree`]. The comparison is held to
//! recordings in `tests/golden/openpbs`: every `pbsfs -c` of `pbsfs/cases.jsonl`, and the orders under
//! `fair_share` of `evaluate/orders.jsonl`.

use std::cmp::Ordering;
use std::collections::HashSet;

use job_sort_formula::ShareTree;
use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::tree_document::TreeDocument;
use job_sort_formula::fairshare::{
    AssessedTree, DocumentedOpenPbs, EntityShares, FairShare, Member, NodeId, OpenPbs, Policy,
    PolicyRules, ShareTable, Shares, TreeBuilder, TreeError,
};

use crate::files::fairshare_files::{TREE_ROOT, UNKNOWN_CGROUP, UNKNOWN_GROUP};

/// The usage of an entity that has used nothing, and the least usage that decay leaves.
pub const MIN_USAGE: f64 = IntervalDecay::FLOOR;

/// The daemon's tree and the shares of its nodes.
#[derive(Debug, Clone)]
pub struct PbsTree {
    /// The tree with its shares.
    pub assessed: AssessedTree,
    cgroups: Vec<i32>,
    /// The group of the entities that are not in `resource_group`.
    pub unknown: NodeId,
}

impl PbsTree {
    /// The tree. Children are in the order of `resource_group`; the daemon keeps and shows them in
    /// reverse.
    pub fn tree(&self) -> &ShareTree {
        self.assessed.tree()
    }

    /// Whether nothing has run yet: the usage of every node is 1, as without a file `usage`.
    pub fn is_unused(&self) -> bool {
        let tree = self.tree();
        tree.nodes().all(|node| tree.usage(node) == 1.0)
    }

    /// The shares of every node at full precision; the formula gets them
    /// [printed with six decimals](crate::amounts::printed_fairshare).
    pub fn shares(&self) -> &ShareTable {
        self.assessed.shares()
    }

    /// The tree without the shares of its nodes.
    pub fn into_tree(self) -> ShareTree {
        self.assessed.into_tree()
    }

    /// Replaces the usage by that of `tree`, which must have the same nodes, and computes the
    /// shares again by `policy`.
    pub fn with_usage_of(self, tree: ShareTree, policy: &dyn Policy) -> Self {
        Self {
            assessed: AssessedTree::new(tree, policy),
            ..self
        }
    }

    /// The id that `pbsfs` shows for a node (OpenPBS's `cgroup`, not a control group of the
    /// kernel): that of its line in `resource_group`, or 0 for the root, 1 for `unknown` and -1 for
    /// an entity that only the jobs or the usage name.
    pub fn cgroup(&self, node: NodeId) -> i32 {
        self.cgroups[node.index()]
    }

    /// Every node in the daemon's order: a group before its children, siblings in reverse order of
    /// `resource_group`.
    pub fn daemon_order(&self) -> impl Iterator<Item = NodeId> + '_ {
        let mut waiting = vec![self.tree().root()];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend_from_slice(self.tree().children(node));
            Some(node)
        })
    }

    /// Compares two nodes as `pbsfs -c` does. `Less` means that `left` has the higher priority,
    /// that is, less usage for its percentage.
    pub fn compare(&self, left: NodeId, right: NodeId) -> Ordering {
        self.path(left).compare(&self.path(right))
    }

    /// The path to a node.
    pub(super) fn path(&self, node: NodeId) -> SharePath {
        SharePath::from_root(self.tree(), node, |node| {
            let shares = self.shares().get(node);
            let perc = shares.map_or(0.0, |shares| shares.fairshare_perc);
            (perc, self.tree().usage(node))
        })
    }
}

impl FairShare for PbsTree {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.shares().get(self.tree().find(entity)?)
    }
}

/// The paths of entities, by their indices; those beyond the list are equal to all others.
#[derive(Debug, Clone, Default)]
pub struct SharePaths(pub Vec<SharePath>);

impl SharePaths {
    /// Compares two entities: `Less` sorts first.
    pub fn compare(&self, left: usize, right: usize) -> Ordering {
        match (self.0.get(left), self.0.get(right)) {
            (Some(left), Some(right)) => left.compare(right),
            _ => Ordering::Equal,
        }
    }

    /// Charges usage to an entity and the groups above it. Returns whether that can change the
    /// order.
    pub fn charge(&mut self, entity: usize, usage: f64) -> bool {
        if usage == 0.0 {
            return false;
        }
        let Some(charged) = self.0.get(entity).cloned() else {
            return false;
        };
        for path in &mut self.0 {
            path.charge(&charged, usage);
        }
        true
    }
}

/// The nodes from just below the root down to an entity, each with its percentage and its usage.
#[derive(Debug, Clone, Default)]
pub struct SharePath(Vec<Step>);

#[derive(Debug, Clone, Copy)]
struct Step {
    node: NodeId,
    perc: f64,
    usage: f64,
}

impl SharePath {
    /// The path to a node of a tree. `numbers` are the percentage and the usage of a node.
    pub fn from_root(
        tree: &ShareTree,
        node: NodeId,
        numbers: impl Fn(NodeId) -> (f64, f64),
    ) -> Self {
        let mut steps = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next
            && node != tree.root()
        {
            let (perc, usage) = numbers(node);
            steps.push(Step { node, perc, usage });
            next = tree.parent(node);
        }
        steps.reverse();
        Self(steps)
    }

    /// Adds usage to the nodes that this path has in common with another one.
    fn charge(&mut self, other: &Self, usage: f64) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            if own.node != other.node {
                break;
            }
            own.usage += usage;
        }
    }

    /// `Less` sorts first. From the root downwards, the first pair of different nodes that does not
    /// tie decides. A pair whose percentages are both 0 or less ends the comparison as a tie. If no
    /// pair decides before the shorter path ends, the paths are equal, so a group ties with all its
    /// descendants.
    fn compare(&self, other: &Self) -> Ordering {
        for (left, right) in self.0.iter().zip(&other.0) {
            if left.node == right.node {
                continue;
            }
            let order = match (left.perc <= 0.0, right.perc <= 0.0) {
                (true, true) => return Ordering::Equal,
                // the guards let a percentage of NaN through to the last arm, where it ties
                (true, false) if right.perc > 0.0 => Some(Ordering::Greater),
                (false, true) if left.perc > 0.0 => Some(Ordering::Less),
                _ => (left.usage / left.perc).partial_cmp(&(right.usage / right.perc)),
            };
            if let Some(decided) = order
                && decided.is_ne()
            {
                return decided;
            }
        }
        Ordering::Equal
    }
}

/// The cgroup of an entity that is not in the document, and so is added to the group `unknown`.
const NO_CGROUP: i32 = -1;
/// The cgroup of the first node of a document without cgroups.
const FIRST_CGROUP: i32 = 10;

impl PbsTree {
    /// The tree that OpenPBS would have if its files expressed this document: charges the usage and
    /// computes the shares. The daemon's rules are [`OpenPbs`] and a usage of 1 for an entity
    /// without usage, the documented ones [`DocumentedOpenPbs`] and usage as it was recorded.
    ///
    /// `entities` are those of jobs. One that is not in the tree joins the group `unknown`, with
    /// one share. A job without an entity counts as one of the entity `""`, as in the daemon.
    ///
    /// # Errors
    /// OpenPBS's files cannot express the document, or it has more nodes than a tree can have.
    pub fn build(
        document: &TreeDocument,
        rules: PolicyRules,
        entities: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, TreeError> {
        let mut assembler = PbsTreeAssembler::new(document)?;
        let mut charges = Vec::new();
        for (node, &id) in document.nodes.iter().zip(&assembler.ids) {
            if let Some(usage) = node.usage
                && !assembler.has_children[id.index()]
            {
                charges.push(assembler.charge(id, usage));
            }
        }
        for record in &document.records {
            let node = assembler.find_or_add(&record.entity)?;
            charges.push(assembler.charge(node, record.usage));
        }
        for entity in entities {
            assembler.find_or_add(entity.as_ref())?;
        }
        let (ids, has_children) = (assembler.ids, assembler.has_children);
        let mut tree = assembler.builder.finish();
        match rules {
            PolicyRules::Scheduler => charge_as_the_daemon(&mut tree, &charges),
            PolicyRules::Documented => charge_as_documented(&mut tree, &charges),
        }
        for (node, &id) in document.nodes.iter().zip(&ids) {
            if let Some(usage) = node.usage
                && has_children[id.index()]
            {
                // after the records, each of which replaces the usage of its node
                tree.add_usage(id, usage);
            }
        }
        if document.usage != 0.0 {
            tree.add_usage(tree.root(), document.usage);
        }
        let assessed = match rules {
            PolicyRules::Scheduler => AssessedTree::new(tree, &OpenPbs),
            PolicyRules::Documented => AssessedTree::new(tree, &DocumentedOpenPbs),
        };
        Ok(Self {
            assessed,
            cgroups: assembler.cgroups,
            unknown: assembler.unknown,
        })
    }
}

/// A usage and the node that it is charged to.
#[derive(Debug, Clone, Copy)]
struct Charge {
    node: NodeId,
    usage: f64,
    /// Whether the node had no children when the record was read: only then is the usage added to
    /// the nodes above.
    is_leaf: bool,
}

/// A tree under construction.
struct PbsTreeAssembler {
    builder: TreeBuilder,
    cgroups: Vec<i32>,
    unknown: NodeId,
    /// The node of every node of the document.
    ids: Vec<NodeId>,
    /// By [`NodeId::index`], for the nodes of the document, the root and `unknown`.
    has_children: Vec<bool>,
}

impl PbsTreeAssembler {
    /// Adds the group `unknown` first, then the nodes of the document.
    fn new(document: &TreeDocument) -> Result<Self, TreeError> {
        let unknown_shares = document.unknown_shares.unwrap_or(0);
        let unknown_shares = shares_in_32_bits("unknown_shares", unknown_shares)?;
        let mut builder = TreeBuilder::new(TREE_ROOT).lenient();
        let unknown = builder.add(
            builder.root(),
            Member::group(UNKNOWN_GROUP).shares(unknown_shares.into()),
        )?;
        let nodes = document.nodes.iter();
        let parents: HashSet<usize> = nodes.filter_map(|node| node.parent).collect();
        let mut ids = Vec::with_capacity(document.nodes.len());
        // of the root and of `unknown`, the first two nodes of the builder, by whose ids both lists
        // go
        let mut cgroups = vec![0, UNKNOWN_CGROUP];
        let mut has_children = vec![true, false];
        for (index, node) in document.nodes.iter().enumerate() {
            let is_parent = parents.contains(&index);
            // the group `unknown` of a `resource_group`, which the builder has already
            if node.parent.is_none()
                && node.name == UNKNOWN_GROUP
                && node.cgroup == Some(UNKNOWN_CGROUP)
            {
                has_children[unknown.index()] = is_parent;
                ids.push(unknown);
                continue;
            }
            let name = node.full_name();
            // the daemon takes any number from a line of `resource_group`, which has a cgroup;
            // other documents are checked
            if node.cgroup.is_none() {
                node.shares.check(&name)?;
            }
            let shares = match node.shares {
                Shares::Count(shares) => shares_in_32_bits(&name, shares)?,
                Shares::Parent => {
                    return Err(TreeError::Invalid(format!(
                        "`{name}` has the shares of its parent, which OpenPBS's policy does not support: give it a number of \
                         shares"
                    )));
                }
            };
            let member = if is_parent {
                Member::group(name)
            } else {
                Member::entity(name)
            };
            let parent = node.parent.and_then(|parent| ids.get(parent));
            let parent = parent.copied().unwrap_or(builder.root());
            let added = builder.add(parent, member.shares(shares.into()));
            ids.push(added.map_err(explain_duplicate)?);
            let numbered = FIRST_CGROUP.saturating_add(index as i32);
            cgroups.push(node.cgroup.unwrap_or(numbered));
            has_children.push(is_parent);
        }
        Ok(Self {
            builder,
            cgroups,
            unknown,
            ids,
            has_children,
        })
    }

    /// Finds the node of that name, or adds it to the group `unknown` with one share.
    fn find_or_add(&mut self, entity: &str) -> Result<NodeId, TreeError> {
        if let Some(node) = self.builder.find(entity) {
            return Ok(node);
        }
        self.has_children[self.unknown.index()] = true;
        self.has_children.push(false);
        self.cgroups.push(NO_CGROUP);
        self.builder
            .add(self.unknown, Member::entity(entity).shares(1))
    }

    fn charge(&self, node: NodeId, usage: f64) -> Charge {
        Charge {
            node,
            usage,
            is_leaf: !self.has_children[node.index()],
        }
    }
}

/// A line of `resource_group` has 32 bits for a number of shares.
fn shares_in_32_bits(name: &str, shares: i64) -> Result<i32, TreeError> {
    let fault =
        format!("`{name}` has {shares} shares, expected a number from -2147483648 to 2147483647");
    i32::try_from(shares).map_err(|_| TreeError::Invalid(fault))
}

fn explain_duplicate(error: TreeError) -> TreeError {
    match error {
        TreeError::DuplicateName { name, .. } if name != UNKNOWN_GROUP => {
            TreeError::Invalid(format!(
                "`{name}` is in the tree twice, where OpenPBS's policy identifies a node by its name alone: rename one, or \
                 choose another policy"
            ))
        }
        other => other,
    }
}

/// Every node starts at [`MIN_USAGE`]. A record sets the usage of its own node and, for a leaf, is
/// added to the nodes above: so a second record of an entity replaces the first there, and adds to
/// it above. Every sum is computed in the order of the records, as in the daemon, which decides its
/// last bit. The cost is records times depth: 16 s for 100,000 records in a chain of 100,000
/// groups, 1 s for a million records in a thousand groups.
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

/// Charges the last record of every entity; earlier records of the same entity are ignored. A group
/// gets the usage of its entities.
fn charge_as_documented(tree: &mut ShareTree, charges: &[Charge]) {
    let mut seen = HashSet::new();
    for charge in charges.iter().rev() {
        if tree.children(charge.node).is_empty() && seen.insert(charge.node) {
            tree.add_usage(charge.node, charge.usage);
        }
    }
}

#[cfg(test)]
mod tests {
    use job_sort_formula::fairshare::FairShare;
    use jsf_ingest::native_tree::read_tree;

    use super::*;

    const PP718: &str = r#"{"children":[{"name":"group1","shares":40,"children":[{"name":"Bob","shares":50,"usage":100},
        {"name":"Cathy","shares":50,"usage":100}]},{"name":"group2","shares":60,"children":[{"name":"Suzy","shares":60},
        {"name":"Scott","shares":40,"usage":1000}]}]}"#;

    #[test]
    fn the_documents_example_under_both_rules() {
        for (rules, expected) in [
            (PolicyRules::Documented, ["0.648420", "0.381859"]),
            (PolicyRules::Scheduler, ["0.647718", "0.381553"]),
        ] {
            let tree = read_tree("tree.json", PP718.as_bytes()).unwrap();
            let tree = PbsTree::build(&tree, rules, ["Bob"]).unwrap();
            let factors =
                ["Bob", "Suzy"].map(|entity| tree.shares_of(entity).unwrap().fairshare_factor);
            assert_eq!(factors.map(|factor| format!("{factor:.6}")), expected);
        }
    }

    #[test]
    fn what_the_files_cannot_express_is_an_error() {
        for (text, expected) in [
            (
                r#"{"children":[{"name":"a","shares":1},{"name":"a","shares":1}]}"#,
                "`a` is in the tree twice, where OpenPBS's policy identifies a node by its name alone: rename one, \
                 or choose another policy",
            ),
            (
                r#"{"children":[{"name":"a","shares":"parent"}]}"#,
                "`a` has the shares of its parent, which OpenPBS's policy does not support: give it a number of \
                 shares",
            ),
            (
                r#"{"children":[{"name":"g","children":[{"name":"a","shares":-2}]}]}"#,
                "`a` has negative shares, -2",
            ),
        ] {
            let document = read_tree("t", text.as_bytes()).unwrap();
            let refused = PbsTree::build(&document, PolicyRules::Scheduler, ["x"]).unwrap_err();
            assert_eq!(refused.to_string(), expected);
        }
    }
}
