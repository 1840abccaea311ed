//! What the policies of Slurm have in common: the numbers that `sshare` shows for an association (an
//! account, or a user in an account), the associations as the daemons hold them, with shares as
//! stored and usage in `long double`, and the orders in which the daemons visit a tree.
//!
//! An association competes in the list of its *fair-share parent*: the nearest node above that is
//! not `FairShare=parent`. So the list of an account with `FairShare=parent` is empty, and its
//! users and accounts are in the list of the account above, next to it.
//!
//! `F = 2^(-U / S / d)` is the factor of the classic and the depth-oblivious policy, which differ in
//! the effective usage `U` alone. `S` are the normalised shares, `d` is `FairShareDampeningFactor`.

use serde::{Deserialize, Serialize};

use crate::fairshare::policy::{EntityShares, ShareTable};
use crate::fairshare::x87::Extended;
use crate::fairshare::{NodeId, NodeKind, NodeLists, ShareTree, Shares};

/// The rules by which a policy computes the numbers of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum PolicyRules {
    /// What the daemon does.
    #[default]
    Scheduler,
    /// What the published document says.
    Documented,
}

/// The releases of Slurm that behave alike, named after the one that was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Release {
    /// 22.05, and every release before 23.11: siblings are in the order of the input, users before
    /// accounts. `sshare` recomputes the factor of the classic policy from the numbers that it
    /// receives, for users and accounts alike.
    #[serde(rename = "22.05")]
    V22_05,
    /// 26.11, and every release from 23.11 on: siblings are ordered by their lineage: their names
    /// with `/` behind them, compared as bytes, so that `a-b` (`a-b/`) is before `a` (`a/`).
    /// `sshare` shows the factor that jobs get, for users only.
    #[default]
    #[serde(rename = "26.11")]
    V26_11,
}

impl Release {
    /// The release, such as `22.05`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V22_05 => "22.05",
            Self::V26_11 => "26.11",
        }
    }

    /// Reads a version such as `22.05.8` or `26.11.0-0rc1`, as `sshare --json` gives it under
    /// `meta`.
    ///
    /// Only the behaviour of 22.05 and 26.11 was recorded. Other releases are assigned to one of
    /// them by the release notes: the order by lineage came with 23.11, whose database replaced
    /// `lft` and `rgt` by `lineage`.
    ///
    /// ```
    /// use job_sort_formula::fairshare::Release;
    ///
    /// assert_eq!(Release::from_version("22.05.8"), Some(Release::V22_05));
    /// assert_eq!(Release::from_version("24.05.1"), Some(Release::V26_11));
    /// assert_eq!(Release::from_version("next"), None);
    /// ```
    pub fn from_version(version: &str) -> Option<Self> {
        const FIRST_WITH_LINEAGE: (u32, u32) = (23, 11);
        // a release candidate, `26.11.0-0rc1`, has a `-` after its third number
        let mut numbers = version.split(['.', '-']).map(str::parse);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
            return None;
        };
        Some(if (major, minor) < FIRST_WITH_LINEAGE {
            Self::V22_05
        } else {
            Self::V26_11
        })
    }
}

/// The columns of `sshare -l` for a node. `None` is a blank column, or a number that the policy
/// does not have.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AssociationShares {
    /// Its shares as the policy reads them; `None` for the root.
    pub raw_shares: Option<Shares>,
    /// Under fair tree its fraction of the shares of its siblings, under the other policies of the
    /// machine, 0..=1.
    pub norm_shares: Option<f64>,
    /// Its usage and that of all nodes below it, in the site's unit (Slurm: TRES-seconds).
    pub raw_usage: Option<f64>,
    /// Its fraction of all usage, 0..=1.
    pub norm_usage: Option<f64>,
    /// The usage that the policy compares with its shares: with a part of that of its siblings or
    /// groups, as the policy defines it.
    pub effective_usage: Option<f64>,
    /// Fair tree: its shares divided by its usage among its siblings, 0 to infinity, 1 if both are
    /// equal. flux-accounting: its weight, computed the same way.
    pub level_fs: Option<f64>,
    /// The factor that is shown for it, 0..=1, higher the further its usage is below its shares.
    /// The factor of its jobs is
    /// [`fairshare_factor`](crate::fairshare::policy::EntityShares::fairshare_factor), which may
    /// differ.
    pub fairshare: Option<f64>,
    /// Ticket-based: its tickets, `None` if it has no pending job. An integer of at most 4294967295
    /// under the daemon's rules, any number of at least 0 under the document's.
    pub tickets: Option<f64>,
}

impl AssociationShares {
    /// A node's shares and usage.
    pub(super) fn new(
        shares: Option<Shares>,
        raw_usage: f64,
        norm_shares: f64,
        norm_usage: Option<f64>,
    ) -> Self {
        Self {
            raw_shares: shares,
            norm_shares: Some(norm_shares),
            raw_usage: Some(raw_usage),
            norm_usage,
            ..Self::default()
        }
    }

    /// The numbers as `sshare` receives them: the daemon sends them multiplied by a million, which
    /// may change the last bit. `raw_usage` is an integer to the daemon and does not change.
    pub(super) fn as_received(self) -> Self {
        Self {
            norm_shares: self.norm_shares.map(round_trip),
            norm_usage: self.norm_usage.map(round_trip),
            effective_usage: self.effective_usage.map(round_trip),
            level_fs: self.level_fs.map(round_trip),
            fairshare: self.fairshare.map(round_trip),
            ..self
        }
    }
}

/// A number multiplied and divided by a million, see [`AssociationShares::as_received`], or the
/// number itself if that is not finite.
fn round_trip(number: f64) -> f64 {
    const SCALE: f64 = 1e6;
    let received = number * SCALE / SCALE;
    if received.is_finite() {
        received
    } else {
        number
    }
}

/// The shares that Slurm's accounting stores for a number given to `sacctmgr` (`FairShare=`): a
/// negative number becomes the default of 1. Another one is truncated to 32 bits; then 2147483647
/// means `parent`, and what is larger becomes 1. Under [`PolicyRules::Scheduler`], the shares of
/// every tree are converted so.
///
/// Recorded in `tests/golden/slurm/fairshare_values_2205.txt`.
pub fn stored_shares(given: i64) -> Shares {
    match given as u32 {
        // before the truncation, since `as` makes a negative number a large one
        _ if given < 0 => Shares::Count(1),
        FS_USE_PARENT => Shares::Parent,
        too_large if too_large > FS_USE_PARENT => Shares::Count(1),
        count => Shares::Count(count.into()),
    }
}

/// The count that means `parent`.
const FS_USE_PARENT: u32 = i32::MAX as u32;

/// The daemons' value for a number that is not known: 4294967294.
pub(super) const NO_VAL: u32 = 0xffff_fffe;
/// The most fractions that are multiplied for all nodes of a tree. Where that is not enough for a
/// node, its normalised shares are its parent's times its own fraction, and the last bit may differ
/// from the daemons', which multiply from the leaf up at any depth.
// without a limit, a chain of n accounts would take n² products: this many take about 0.1 s
const MAX_PRODUCTS: usize = 1 << 26;
/// The depth up to which all products of any tree are computed.
const MIN_DEPTH: usize = 256;

/// The associations, one column for each number, by [`NodeId::index`].
pub(super) struct SlurmModel<'a> {
    tree: &'a ShareTree,
    /// [`FS_USE_PARENT`] for `FairShare=parent`.
    shares: Vec<u32>,
    above: Vec<u32>,
    /// The sum of the shares in the list of each node, in 32 bits: it wraps.
    list_shares: Vec<u32>,
    usage: Vec<Extended>,
    /// The fractions of all usage.
    norm_usage: Vec<Extended>,
}

impl<'a> SlurmModel<'a> {
    pub(super) fn new(tree: &'a ShareTree) -> Self {
        let usage = usage_of(tree);
        let mut model = Self {
            tree,
            shares: Vec::with_capacity(tree.len()),
            above: Vec::with_capacity(tree.len()),
            list_shares: vec![0; tree.len()],
            norm_usage: norm_usage_of(&usage),
            usage,
        };
        for node in tree.nodes() {
            model.shares.push(as_stored(tree.shares(node)));
            let above =
                fair_share_parent(tree, node, &model.above, |parent| model.uses_parent(parent));
            model.above.push(above);
            if node != tree.root() && !model.uses_parent(node.index()) {
                let sum = &mut model.list_shares[above as usize];
                *sum = sum.wrapping_add(model.shares[node.index()]);
            }
        }
        model
    }

    /// Whether the association is `FairShare=parent`. The root's shares have no meaning.
    pub(super) fn uses_parent(&self, node: usize) -> bool {
        node != 0 && self.shares[node] == FS_USE_PARENT
    }

    pub(super) fn is_user(&self, node: usize) -> bool {
        self.tree.kind(NodeId(node as u32)) == NodeKind::Entity
    }

    /// The fair-share parent; the root's is the root.
    pub(super) fn above(&self, node: usize) -> usize {
        self.above[node] as usize
    }

    /// The association whose numbers a job of this one gets: the fair-share parent under
    /// `FairShare=parent`.
    pub(super) fn job_node(&self, node: usize) -> usize {
        if self.uses_parent(node) {
            self.above(node)
        } else {
            node
        }
    }

    /// The sum of the shares in the list that the node is in.
    pub(super) fn level_shares(&self, node: usize) -> u32 {
        self.list_shares[self.above(node)]
    }

    pub(super) fn shares(&self, node: usize) -> u32 {
        self.shares[node]
    }

    /// The node's fraction of its level's shares, 0 where they sum to 0.
    pub(super) fn fraction(&self, node: usize) -> f64 {
        match self.level_shares(node) {
            0 => 0.0,
            sum => f64::from(self.shares[node]) / f64::from(sum),
        }
    }

    pub(super) fn usage(&self, node: usize) -> Extended {
        self.usage[node]
    }

    /// The fraction of all usage, at most 1.
    pub(super) fn norm_usage(&self, node: usize) -> Extended {
        self.norm_usage[node]
    }

    /// The normalised shares of every policy but fair tree: the product of the fractions from the
    /// node up to the first level, multiplied in that order, which decides the last bit.
    pub(super) fn norm_shares(&self) -> Vec<f64> {
        let mut norm_shares: Vec<f64> = Vec::with_capacity(self.shares.len());
        for node in 0..self.shares.len() {
            norm_shares.push(match node {
                0 => 1.0,
                _ if self.uses_parent(node) => norm_shares[self.above(node)],
                _ => self.product_upwards(node, &norm_shares),
            });
        }
        norm_shares
    }

    fn product_upwards(&self, node: usize, norm_shares: &[f64]) -> f64 {
        let mut product = self.fraction(node);
        let mut at = self.parent(node);
        for _ in 0..MIN_DEPTH.max(MAX_PRODUCTS / self.shares.len()) {
            if at == 0 {
                return product;
            }
            if !self.uses_parent(at) {
                product *= self.fraction(at);
            }
            at = self.parent(at);
        }
        self.fraction(node) * norm_shares[self.parent(node)]
    }

    /// The node above; the root's is the root.
    fn parent(&self, node: usize) -> usize {
        let parent = self.tree.parent(NodeId(node as u32));
        parent.map_or(0, NodeId::index)
    }

    /// What every policy shows for the node. The root's normalised usage is blank.
    pub(super) fn association(&self, node: usize, norm_shares: f64) -> AssociationShares {
        let usage = self.usage[node].to_f64();
        if node == 0 {
            return AssociationShares::new(None, usage, norm_shares, None);
        }
        let shares = match self.shares[node] {
            FS_USE_PARENT => Shares::Parent,
            count => Shares::Count(count.into()),
        };
        let norm_usage = self.norm_usage(node).to_f64();
        AssociationShares::new(Some(shares), usage, norm_shares, Some(norm_usage))
    }

    /// The node's row under a policy with these numbers of it; only users have a factor that is
    /// shown.
    pub(super) fn row(
        &self,
        node: usize,
        norm_shares: f64,
        effective_usage: f64,
        factor: f64,
    ) -> (EntityShares, AssociationShares) {
        let association = AssociationShares {
            effective_usage: Some(effective_usage),
            fairshare: self.is_user(node).then_some(factor),
            ..self.association(node, norm_shares)
        };
        let entity = EntityShares::from_policy(norm_shares, effective_usage, factor);
        (entity, association)
    }

    /// The lists of all nodes.
    pub(super) fn lists(&self, release: Release) -> NodeLists {
        sibling_lists(self.tree, release, &self.above)
    }
}

/// The nearest node above that is not `FairShare=parent`, from those of the nodes before this one.
pub(super) fn fair_share_parent(
    tree: &ShareTree,
    node: NodeId,
    above: &[u32],
    uses_parent: impl Fn(usize) -> bool,
) -> u32 {
    match tree.parent(node) {
        Some(parent) if parent != tree.root() && uses_parent(parent.index()) => {
            above[parent.index()]
        }
        Some(parent) => parent.0,
        None => 0,
    }
}

fn as_stored(shares: Shares) -> u32 {
    match shares {
        Shares::Parent => FS_USE_PARENT,
        Shares::Count(count) => match stored_shares(count) {
            Shares::Parent => FS_USE_PARENT,
            // it fits: `stored_shares` returns less than `FS_USE_PARENT`
            Shares::Count(count) => count as u32,
        },
    }
}

/// Usage summed from the last node up with the daemons' precision, or the usage that was set.
fn usage_of(tree: &ShareTree) -> Vec<Extended> {
    let mut usage = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        usage.push(if tree.is_summed() {
            from_state_file(tree.own_usage(node))
        } else {
            // a usage that was set is not the sum of others, and is taken as it is
            Extended::from(tree.usage(node))
        });
    }
    if !tree.is_summed() {
        return usage;
    }
    for node in tree.nodes().rev() {
        if let Some(parent) = tree.parent(node) {
            let below = usage[node.index()];
            let sum = &mut usage[parent.index()];
            *sum = *sum + below;
        }
    }
    usage
}

fn norm_usage_of(usage: &[Extended]) -> Vec<Extended> {
    let whole = usage[0];
    let mut fractions = Vec::with_capacity(usage.len());
    for &own in usage {
        let is_unused = own.is_zero() || whole.is_zero();
        fractions.push(if is_unused {
            Extended::ZERO
        } else {
            // usage that was set, not summed, may be more than the root's
            Extended::one().min(own / whole)
        });
    }
    fractions
}

/// A usage as the daemon reads it: its state file has six decimals, which a `double` mostly cannot
/// represent.
fn from_state_file(usage: f64) -> Extended {
    const DECIMALS: f64 = 1e6;
    let millionths = (usage * DECIMALS).round();
    // 2^53: beyond it, the product with a million is not exact; the quotient tells whether six
    // decimals are all that the usage had
    if millionths.abs() < (1u64 << f64::MANTISSA_DIGITS) as f64 && millionths / DECIMALS == usage {
        Extended::from(millionths) / Extended::from(DECIMALS)
    } else {
        Extended::from(usage)
    }
}

/// The owner of a node that is a member of no list.
pub(super) const NO_LIST: u32 = u32::MAX;

/// For every node, the associations whose fair-share parent it is, in the daemon's order: the node
/// owns the list, the associations are its members. The fair-share parent is the parent in the
/// tree, or an account above it if that has the shares `parent`. `owners` has, for each node, the
/// owner of the list that the node is a member of, or [`NO_LIST`].
pub(super) fn sibling_lists(tree: &ShareTree, release: Release, owners: &[u32]) -> NodeLists {
    let mut lists: NodeLists = vec![Vec::new(); tree.len()];
    for node in daemon_order(tree, release) {
        let owner = owners[node.index()];
        if node != tree.root() && owner != NO_LIST {
            lists[owner as usize].push(node);
        }
    }
    lists
}

/// Every node in the order of the daemon's list of associations, see [`Release`].
pub(super) fn daemon_order(tree: &ShareTree, release: Release) -> Vec<NodeId> {
    depth_first(tree, |_, accounts| {
        if release == Release::V26_11 {
            accounts.sort_by(|&a, &b| lineage_component(tree, a).cmp(lineage_component(tree, b)));
        }
    })
}

/// Every node in the order of the rows of `sshare -a`.
pub(super) fn request_order(tree: &ShareTree, release: Release) -> Vec<NodeId> {
    depth_first(tree, |users, accounts| {
        // stable: the associations of a user with partitions stay in the order of the tree
        users.sort_by_key(|&user| tree.base_name(user));
        // 22.05 compares the names by `strcmp`, 26.11 the lineages
        match release {
            Release::V22_05 => accounts.sort_by_key(|&account| tree.name(account)),
            Release::V26_11 => accounts
                .sort_by(|&a, &b| lineage_component(tree, a).cmp(lineage_component(tree, b))),
        }
    })
}

/// Every node in depth-first order: an account, its users, then each of its accounts with all nodes
/// below. `sort` may reorder the users and the accounts of one account, which else are in the order
/// of the tree. An entity is a user here.
fn depth_first(tree: &ShareTree, sort: impl Fn(&mut [NodeId], &mut [NodeId])) -> Vec<NodeId> {
    let mut order = Vec::with_capacity(tree.len());
    let mut stack = vec![tree.root()];
    let mut users = Vec::new();
    let mut accounts = Vec::new();
    while let Some(node) = stack.pop() {
        order.push(node);
        for &child in tree.children(node) {
            if tree.kind(child) == NodeKind::Entity {
                users.push(child)
            } else {
                accounts.push(child)
            }
        }
        sort(&mut users, &mut accounts);
        order.append(&mut users);
        // reversed, because the last is popped first
        stack.extend(accounts.drain(..).rev());
    }
    order
}

/// The component of the account in the `lineage` that Slurm stores for the associations below it,
/// such as `physics/`.
fn lineage_component(tree: &ShareTree, account: NodeId) -> impl Iterator<Item = u8> + '_ {
    tree.name(account).bytes().chain(*b"/")
}

/// The settings of the factor, and the release of Slurm whose `sshare` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExponentialFactor {
    pub(super) release: Release,
    pub(super) dampening: u16,
}

impl Default for ExponentialFactor {
    fn default() -> Self {
        Self {
            release: Release::default(),
            dampening: 1,
        }
    }
}

impl ExponentialFactor {
    /// With this `FairShareDampeningFactor`; 0 counts as 1.
    pub(super) fn with_dampening(self, dampening: u16) -> Self {
        Self {
            dampening: dampening.max(1),
            ..self
        }
    }

    /// The documents' factor of a ratio `U / S`, in double precision; 0 without shares.
    pub(super) fn documented(self, ratio: f64, norm_shares: f64) -> f64 {
        if norm_shares > 0.0 {
            libm::exp2(-(ratio / f64::from(self.dampening)))
        } else {
            0.0
        }
    }

    /// Computes the numbers of every node as the daemon does, from its normalised shares and
    /// effective usage.
    pub(super) fn table(
        self,
        model: &SlurmModel,
        norm_shares: &[f64],
        effective: &[Extended],
    ) -> ShareTable {
        let mut table = ShareTable::with_capacity(effective.len());
        for node in 0..effective.len() {
            let source = model.job_node(node);
            let exponent = self.exponent(effective[source], norm_shares[source]);
            let factor = power_of_half(exponent);
            let effective_usage = effective[node].to_f64();
            let (entity, association) = model.row(node, norm_shares[node], effective_usage, factor);
            let mut association = association.as_received();
            if self.release == Release::V22_05 {
                // the client recomputes it from the numbers that it received, and ignores
                // `FairShare=parent`
                let received = Extended::from(round_trip(effective_usage));
                let received_exponent = self.exponent(received, round_trip(norm_shares[node]));
                association.fairshare = Some(power_of_half(received_exponent));
            }
            table.push((entity, association));
        }
        table
    }

    /// The exponent `U / S / d`; `None` without shares, where the factor is 0.
    fn exponent(self, effective_usage: Extended, norm_shares: f64) -> Option<f64> {
        if norm_shares.is_nan() || norm_shares <= 0.0 {
            return None;
        }
        let ratio = effective_usage / Extended::from(norm_shares);
        Some((ratio / Extended::from(u32::from(self.dampening))).to_f64())
    }
}

fn power_of_half(exponent: Option<f64>) -> f64 {
    match exponent {
        // libm's, not the C library's: the same on every platform
        Some(exponent) => libm::exp2(-exponent),
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::{Member, TreeBuilder};

    #[test]
    fn usable_counts_are_kept() {
        for count in [0, 1, 2_147_483_646] {
            assert_eq!(stored_shares(count), Shares::Count(count));
        }
        assert_eq!(stored_shares((1 << 32) + 5), Shares::Count(5));
        assert_eq!(stored_shares(i64::MIN), Shares::Count(1));
    }

    /// The fractions are multiplied from the leaf up, as the daemons do, which decides the last bit.
    #[test]
    fn the_shares_of_a_deep_tree_are_a_product_from_the_leaf_up() {
        let mut builder = TreeBuilder::new("root");
        let mut account = builder.root();
        let mut fractions = Vec::new();
        for level in 0..400_i64 {
            let (own, others) = (900 + level % 7, 3 + level % 5);
            for (name, shares) in [("beside", others), ("account", own)] {
                let member = Member::group(format!("{name}{level}")).shares(shares);
                let node = builder.add(account, member).expect("sound");
                if name == "account" {
                    account = node;
                }
            }
            fractions.push(own as f64 / (own + others) as f64);
        }
        let tree = builder.finish();
        let leaf = SlurmModel::new(&tree).norm_shares()[account.index()];
        let upwards = fractions
            .iter()
            .rev()
            .fold(1.0, |product, fraction| product * fraction);
        assert_eq!(leaf, upwards);
        assert_ne!(leaf, fractions.iter().product::<f64>());
    }
}
