//! A node of the tree as `pbsfs` shows it, and how C prints its numbers.

use crate::fairshare::NodeId;
use crate::pbs::c_string::name_bytes;
use crate::pbs::share_tree::PbsTree;

/// What `pbsfs` has for a number that nobody gave.
const UNSPECIFIED: i64 = -1;

/// A node's numbers.
pub(super) struct Vertex {
    pub(super) name: Vec<u8>,
    /// The parent's `cgroup`.
    pub(super) resgroup: i64,
    pub(super) cgroup: i32,
    pub(super) shares: i64,
    pub(super) usage: f64,
    pub(super) perc: f32,
    pub(super) tree_usage: f64,
}

impl Vertex {
    pub(super) fn of(tree: &PbsTree, node: NodeId) -> Self {
        let (perc, tree_usage) = tree
            .shares()
            .get(node)
            .map_or((0.0, 0.0), |shares| (shares.fairshare_perc as f32, shares.fairshare_tree_usage));
        let parent = tree.tree().parent(node);
        Self {
            name: name_bytes(tree.tree().name(node)),
            resgroup: parent.map_or(UNSPECIFIED, |parent| tree.cgroup(parent).into()),
            cgroup: tree.cgroup(node),
            shares: parent.map_or(UNSPECIFIED, |_| tree.tree().shares(node).count()),
            usage: tree.tree().usage(node),
            perc,
            tree_usage,
        }
    }

    /// What decides who deserves more; -1 where the percentage is 0.
    pub(super) fn usage_over_perc(&self) -> f64 {
        if self.perc == 0.0 {
            return -1.0;
        }
        let quotient = self.usage / f64::from(self.perc);
        // every NaN that arises on x86 has its sign bit set
        if quotient.is_nan() { f64::NAN.copysign(-1.0) } else { quotient }
    }

    /// The percentage in percent, a C `float`.
    pub(super) fn percent(&self) -> f64 {
        f64::from(self.perc * 100.0)
    }
}

/// `%.*f`
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, true) => "-nan".to_owned(),
        (true, false) => "nan".to_owned(),
        (false, _) => format!("{value:.decimals$}"),
    }
}

/// `%-10s`, which counts bytes.
pub(super) fn padded(name: &[u8]) -> Vec<u8> {
    let mut padded = name.to_vec();
    padded.resize(name.len().max(10), b' ');
    padded
}
