//! A tree as a `resource_group` file, so that a site can move.

use std::collections::HashMap;
use std::fmt::Write as _;

use thiserror::Error;

use crate::fairshare::unique_names::{UniqueNames, truncated};
use crate::fairshare::{NodeId, NodeKind, ShareTree, Shares};
use crate::pbs::files::resource_group::{TREE_ROOT, UNKNOWN_GROUP};

/// The longest name that is written, in bytes: two of them fit on a line that the daemon reads in one piece.
const LONGEST: usize = 100;
/// The first number of a group; the daemon has the ones below for itself.
const FIRST_CGROUP: usize = 10;

/// A file and what it does not carry over.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WrittenGroups {
    /// The file.
    pub text: String,
    /// What is lost, or is not as it was.
    pub losses: Vec<GroupLoss>,
}

/// Something that a `resource_group` file does not carry over.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GroupLoss {
    /// `FairShare=parent`, which OpenPBS does not have.
    #[error("`{name}` stands in for `{parent}`, which OpenPBS does not know: it gets 1 share")]
    SharesOfParent {
        /// The node.
        name: String,
        /// Its parent.
        parent: String,
    },
    /// A name that the file cannot hold, or holds already.
    #[error("`{name}` in `{parent}` becomes `{written}`, which no job's entity is called")]
    Renamed {
        /// The name.
        name: String,
        /// Its parent's.
        parent: String,
        /// What is written.
        written: String,
    },
    /// Shares beyond 32 bits.
    #[error("`{name}` has {shares} shares, of which the file holds {written}")]
    Shares {
        /// The node.
        name: String,
        /// Its shares.
        shares: i64,
        /// What is written.
        written: i32,
    },
    /// Siblings with more shares than the daemon can add up.
    #[error("the members of `{0}` have more than 2147483647 shares together, which OpenPBS's sum does not hold")]
    SharesOverflow(String),
    /// The group that the daemon has of itself.
    #[error("`unknown` is OpenPBS's own group: its {0} shares are for `unknown_shares` in sched_config")]
    UnknownGroup(i64),
    /// The usage, which is in a file of its own.
    #[error("the usage of {} is left behind: it belongs in the file `usage`", nodes(*.0))]
    Usage(usize),
}

fn nodes(count: usize) -> String {
    if count == 1 { "one node".to_owned() } else { format!("{count} nodes") }
}

/// Writes one line per node below the root, parents first.
///
/// ```
/// use job_sort_formula::fairshare::{Member, TreeBuilder};
/// use job_sort_formula::pbs::files::resource_group_written::resource_group_written;
///
/// let mut builder = TreeBuilder::new("root");
/// let group = builder.add(builder.root(), Member::group("group1").shares(40))?;
/// builder.add(group, Member::entity("Bob").shares(50))?;
/// let written = resource_group_written(&builder.finish());
/// assert_eq!(written.text, "group1\t10\troot\t40\nBob\t11\tgroup1\t50\n");
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
pub fn resource_group_written(tree: &ShareTree) -> WrittenGroups {
    let mut file = WrittenGroups::default();
    let names = names(tree, &mut file.losses);
    let name = |node: NodeId| names.get(&node).map_or("root", String::as_str);
    for (index, node) in tree.nodes().skip(1).enumerate() {
        let parent = tree.parent(node).unwrap_or(tree.root());
        let shares = shares(tree, node, parent, &mut file.losses);
        if is_unknown_group(tree, node) {
            file.losses.push(GroupLoss::UnknownGroup(i64::from(shares)));
            continue;
        }
        // writing to a string cannot fail
        let _ = writeln!(file.text, "{}\t{}\t{}\t{shares}", name(node), FIRST_CGROUP + index, name(parent));
    }
    for node in tree.nodes() {
        let sum = tree.children(node).iter().map(|&child| i128::from(tree.shares(child).count())).sum::<i128>();
        if sum > i128::from(i32::MAX) {
            file.losses.push(GroupLoss::SharesOverflow(tree.name(node).to_owned()));
        }
    }
    let used = tree.nodes().filter(|&node| tree.own_usage(node) != 0.0).count();
    if used > 0 {
        file.losses.push(GroupLoss::Usage(used));
    }
    file
}

fn shares(tree: &ShareTree, node: NodeId, parent: NodeId, losses: &mut Vec<GroupLoss>) -> i32 {
    let name = tree.name(node).to_owned();
    match tree.shares(node) {
        Shares::Parent => {
            losses.push(GroupLoss::SharesOfParent { name, parent: tree.name(parent).to_owned() });
            1
        }
        Shares::Count(shares) => i32::try_from(shares).unwrap_or_else(|_| {
            let written = if shares < 0 { i32::MIN } else { i32::MAX };
            losses.push(GroupLoss::Shares { name, shares, written });
            written
        }),
    }
}

/// A name for every node below the root, all different.
fn names(tree: &ShareTree, losses: &mut Vec<GroupLoss>) -> HashMap<NodeId, String> {
    let mut taken = UniqueNames::new(str::to_owned, LONGEST);
    for reserved in [TREE_ROOT, UNKNOWN_GROUP, "root"] {
        taken.take("", reserved);
    }
    let mut has_root = false;
    let mut names = HashMap::new();
    for node in tree.nodes().skip(1) {
        let given = tree.name(node);
        let parent = tree.parent(node).map_or(tree.name(tree.root()), |parent| tree.name(parent));
        // only as a parent does `root` mean the top
        let is_root = given == "root" && tree.children(node).is_empty() && !has_root;
        has_root |= is_root;
        let plain = fit(given);
        let is_free = is_root || is_unknown_group(tree, node) || taken.take("", &plain);
        let name = if is_free { plain } else { taken.claim("", &fit(&format!("{parent}/{given}"))) };
        if name != given {
            let (given, parent, written) = (given.to_owned(), parent.to_owned(), name.clone());
            losses.push(GroupLoss::Renamed { name: given, parent, written });
        }
        names.insert(node, name);
    }
    names
}

/// The name without what would end it or make the line a comment: such a character becomes `_`.
fn fit(name: &str) -> String {
    let held = |(at, c): (usize, char)| {
        let breaks = c.is_whitespace() || c.is_control() || (at == 0 && matches!(c, '#' | '*'));
        if breaks { '_' } else { c }
    };
    let name: String = name.char_indices().map(held).collect();
    if name.is_empty() { "_".to_owned() } else { truncated(&name, LONGEST).to_owned() }
}

fn is_unknown_group(tree: &ShareTree, node: NodeId) -> bool {
    let is_at_the_top = tree.parent(node) == Some(tree.root());
    is_at_the_top && tree.kind(node) == NodeKind::Group && tree.name(node) == UNKNOWN_GROUP
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::{Member, Naming, TreeBuilder};
    use crate::pbs::files::resource_group::ResourceGroup;

    #[test]
    fn what_the_file_cannot_hold_is_written_otherwise_and_said() {
        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        let top = builder.root();
        let a = builder.add(top, Member::group("a").shares(3_000_000_000)).expect("room");
        let b = builder.add(top, Member::group("#b b")).expect("room");
        builder.add(top, Member::group("unknown").shares(9)).expect("room");
        builder.add(top, Member::entity("root")).expect("room");
        builder.add(a, Member::entity("ann").usage(5.0)).expect("room");
        builder.add(b, Member::entity("ann").shares_of_parent()).expect("room");
        let written = resource_group_written(&builder.finish());
        assert_eq!(
            written.text,
            "a\t10\troot\t2147483647\n_b_b\t11\troot\t1\nroot\t13\troot\t1\nann\t14\ta\t1\n#b_b/ann\t15\t_b_b\t1\n"
                .replace("#b_b", "_b_b")
        );
        let told: Vec<String> = written.losses.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "`#b b` in `root` becomes `_b_b`, which no job's entity is called",
                "`ann` in `#b b` becomes `_b_b/ann`, which no job's entity is called",
                "`a` has 3000000000 shares, of which the file holds 2147483647",
                "`unknown` is OpenPBS's own group: its 9 shares are for `unknown_shares` in sched_config",
                "`ann` stands in for `#b b`, which OpenPBS does not know: it gets 1 share",
                "the members of `root` have more than 2147483647 shares together, which OpenPBS's sum does not hold",
                "the usage of one node is left behind: it belongs in the file `usage`",
            ]
        );
        let read = ResourceGroup::parse(written.text.as_bytes());
        assert_eq!((read.lines.len(), read.rejected), (5, Vec::new()));
    }
}
