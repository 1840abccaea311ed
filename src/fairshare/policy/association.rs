//! The numbers that `sshare` shows for an association (an account, or a user in an account), and
//! the rules and the release of Slurm by which a policy computes them.

use serde::{Deserialize, Serialize};

use crate::fairshare::Shares;

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
pub(super) fn round_trip(number: f64) -> f64 {
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
pub(super) const FS_USE_PARENT: u32 = i32::MAX as u32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usable_counts_are_kept() {
        for count in [0, 1, 2_147_483_646] {
            assert_eq!(stored_shares(count), Shares::Count(count));
        }
        assert_eq!(stored_shares((1 << 32) + 5), Shares::Count(5));
        assert_eq!(stored_shares(i64::MIN), Shares::Count(1));
    }
}
