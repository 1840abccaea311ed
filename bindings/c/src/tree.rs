//! Fair-share trees: read from documents, assessed by a policy, charged and decayed.

use std::ffi::{CString, c_char};
use std::ptr;

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{
    Classic, DepthOblivious, EntityShares, FairTree, NodeId, OpenPbs, Policy, PolicyRules, Release,
    ShareTable, ShareTree, WeightedWalk,
};
use jsf_openpbs::number_format::fairshare;
use jsf_site::{FileSource, PolicyName, Role, SharesRequest, Site, SiteFiles, SiteOptions};

use crate::argument::{
    NUL_TERMINATED, addresses, any_overlap, array_out, borrow, borrow_mut, bytes, free, name_at,
    optional_array_out, out, text,
};
use crate::error::{answered, c_text, created, guarded, jsf_error, jsf_status, lines, site_error};

/// A fair-share tree with its usage, and the numbers that a policy computes from it. Its nodes are
/// numbered from 0, the root, which is called `root`, or `TREEROOT` under the policy `pbs`, which
/// also has a group `unknown`, for entities that are not in the documents. Entities that come or
/// go, and other shares, are another document. The numbers are computed when the tree is read, and
/// by `jsf_tree_update`. Any number of threads may read a tree at the same time; a call that
/// charges, decays or updates it needs it alone. Free it with `jsf_tree_free`.
#[allow(non_camel_case_types)]
pub struct jsf_tree {
    /// The names of the nodes.
    names: Vec<CString>,
    tree: ShareTree,
    shares: ShareTable,
    warnings: CString,
    policy: Box<dyn Policy>,
    is_openpbs: bool,
}

/// The fair-share numbers of an entity, as a formula sees them.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy, Default)]
pub struct jsf_shares {
    /// `fairshare_perc`: the fraction of the whole machine that the entity's shares give it, 0 to
    /// 1.
    pub perc: f64,
    /// `fairshare_tree_usage`: the usage that counts against the entity, weighted by the usage of
    /// the groups above it, 0 to 1.
    pub tree_usage: f64,
    /// `fairshare_factor`: 0 to 1, higher the further usage is below the shares.
    pub factor: f64,
}

impl From<EntityShares> for jsf_shares {
    fn from(shares: EntityShares) -> Self {
        Self {
            perc: shares.fairshare_perc,
            tree_usage: shares.fairshare_tree_usage,
            factor: shares.fairshare_factor,
        }
    }
}

impl jsf_tree {
    /// Reads the tree of these files and assesses it.
    fn read(files: SiteFiles, policy: PolicyName) -> Result<Self, jsf_error> {
        let site = Site::from_files(
            files,
            SiteOptions {
                policy: Some(policy),
                ..SiteOptions::default()
            },
        );
        let site = site.map_err(|error| site_error(&error))?;
        let request = SharesRequest {
            policies: vec![policy],
            ..SharesRequest::default()
        };
        let Some(of_policy) = site
            .shares(&request)
            .map_err(|error| site_error(&error))?
            .pop()
        else {
            return Err(jsf_error::new(
                jsf_status::Internal,
                "no policy was applied",
            ));
        };
        let release = of_policy
            .settings
            .get("release")
            .and_then(|release| Release::from_version(release.as_str()?));
        let warnings = lines(site.warnings().iter().chain(&of_policy.notes));
        let in_force = build_policy(policy, release.unwrap_or_default())?;
        let tree = of_policy.assessed.into_tree();
        let names = tree.nodes().map(|node| c_text(tree.name(node))).collect();
        let shares = in_force.assess(&tree);
        Ok(Self {
            names,
            tree,
            shares,
            warnings,
            policy: in_force,
            is_openpbs: policy == PolicyName::Pbs,
        })
    }

    fn node(&self, index: usize) -> Result<NodeId, jsf_error> {
        let count = self.tree.len();
        let message = || format!("the tree has {count} nodes, but none at {index}");
        self.tree
            .node(index)
            .ok_or_else(|| jsf_error::argument(message()))
    }

    fn check_count(&self, count: usize) -> Result<(), jsf_error> {
        let expected = self.names.len();
        let message = || format!("`count` is {count}, expected {expected}, the number of nodes");
        (count == expected)
            .then_some(())
            .ok_or_else(|| jsf_error::argument(message()))
    }

    fn resolve(&self, name: &str) -> Result<NodeId, jsf_error> {
        self.tree.resolve(name).ok_or_else(|| {
            let message = match self.tree.candidates(name).len() {
                0 => format!("the tree has no `{name}`"),
                _ => format!("the tree has several `{name}`: write `GROUP/{name}`"),
            };
            jsf_error::new(jsf_status::NotFound, message)
        })
    }
}

/// The policy under the rules of the daemons.
fn build_policy(name: PolicyName, release: Release) -> Result<Box<dyn Policy>, jsf_error> {
    let rules = PolicyRules::Scheduler;
    Ok(match name {
        PolicyName::Pbs => Box::new(OpenPbs),
        PolicyName::Classic => Box::new(Classic::new(rules).release(release)),
        PolicyName::DepthOblivious => Box::new(DepthOblivious::new(rules).release(release)),
        PolicyName::FairTree => Box::new(FairTree::new(rules).release(release)),
        PolicyName::WeightedWalk => Box::new(WeightedWalk),
        _ => return Err(no_policy(name.as_str())),
    })
}

/// Ticket-based fair share is not among the policies, because it depends on which entities have
/// waiting jobs.
fn no_policy(name: &str) -> jsf_error {
    let expected = "expected `pbs`, `classic`, `depth-oblivious`, `fair-tree` or `weighted-walk`";
    jsf_error::argument(format!(
        "`{name}` is not a policy of this function, {expected}"
    ))
}

fn file(name: &str, bytes: &[u8]) -> FileSource {
    FileSource::Bytes {
        name: name.to_owned(),
        bytes: bytes.into(),
    }
}

/// Reads a tree from a document: native JSON, such as
/// `{"children":[{"name":"physics","shares":40,"children":[{"name":"ann","shares":1,"usage":3600}]}]}`,
/// or what Slurm's `sshare -a -l -P`, `sshare -a --json` or `sacctmgr dump` print. `policy` is
/// `pbs`, `classic`, `depth-oblivious`, `fair-tree` or `weighted-walk`, ended by a NUL. Shares have
/// no unit; usage has the unit of the document. On success `*tree` is to be freed with
/// `jsf_tree_free`; read `jsf_tree_warnings` then.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8`; `*tree` is null then.
/// Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_read(
    document: *const c_char,
    document_length: usize,
    policy: *const c_char,
    tree: *mut *mut jsf_tree,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or texts of these lengths
        let (document, policy) = unsafe {
            (
                text(document, document_length, "document")?,
                text(policy, NUL_TERMINATED, "policy")?,
            )
        };
        let policy: PolicyName = policy.parse().map_err(|_| no_policy(policy))?;
        let files = SiteFiles::default().with(Role::Tree, file("document", document.as_bytes()));
        jsf_tree::read(files, policy)
    };
    // SAFETY: the caller passes null or pointers to handles
    unsafe { created(tree, "tree", error, work) }
}

/// Reads OpenPBS's tree from the contents of the files in `sched_priv`: `resource_group`, the
/// binary file `usage`, and `sched_config`, for `unknown_shares`. The last two may be null with
/// length 0. The policy is OpenPBS's. On success `*tree` is to be freed with `jsf_tree_free`; read
/// `jsf_tree_warnings` then, which has the lines that the scheduler skips.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_ARGUMENT`; `*tree` is null then. Any thread may call
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_read_pbs(
    resource_group: *const c_char,
    resource_group_length: usize,
    usage: *const c_char,
    usage_length: usize,
    sched_config: *const c_char,
    sched_config_length: usize,
    tree: *mut *mut jsf_tree,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or contents of these lengths
        let (resource_group, usage, sched_config) = unsafe {
            (
                bytes(resource_group, resource_group_length, "resource_group")?,
                bytes(usage, usage_length, "usage")?,
                bytes(sched_config, sched_config_length, "sched_config")?,
            )
        };
        let mut files =
            SiteFiles::default().with(Role::ResourceGroup, file("resource_group", resource_group));
        for (role, name, bytes) in [
            (Role::Usage, "usage", usage),
            (Role::SchedConfig, "sched_config", sched_config),
        ] {
            if !bytes.is_empty() {
                files = files.with(role, file(name, bytes));
            }
        }
        jsf_tree::read(files, PolicyName::Pbs)
    };
    // SAFETY: the caller passes null or pointers to handles
    unsafe { created(tree, "tree", error, work) }
}

/// What was wrong or missing in the documents: sentences, each ended by a newline, and a NUL at the
/// end; empty if there is nothing. It belongs to the tree and lives as long. Null if `tree` is
/// null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_warnings(tree: *const jsf_tree) -> *const c_char {
    answered(ptr::null(), || {
        // SAFETY: the caller passes null or a tree of this library
        Ok(unsafe { borrow(tree, "tree") }?.warnings.as_ptr())
    })
}

/// The number of nodes, the root and the groups included; 0 if `tree` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_count(tree: *const jsf_tree) -> usize {
    // SAFETY: the caller passes null or a tree of this library
    answered(0, || Ok(unsafe { borrow(tree, "tree") }?.names.len()))
}

/// The name of a node, from 0, the root; null beyond the last one. It is UTF-8, ends with a NUL,
/// belongs to the tree and lives as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_name(tree: *const jsf_tree, node: usize) -> *const c_char {
    answered(ptr::null(), || {
        // SAFETY: the caller passes null or a tree of this library
        Ok(name_at(&unsafe { borrow(tree, "tree") }?.names, node))
    })
}

/// Finds the node of an entity or a group by its name, or by `GROUP/NAME` if several have the name,
/// which the policy `pbs` does not allow. `*node` can be the index of an entity in a column of
/// `JSF_KIND_BY_ENTITY` whose `entity_values` are from `jsf_tree_shares_of_all`.
///
/// Errors: `JSF_STATUS_NOT_FOUND`, `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8`; `*node` is not written
/// then. OpenPBS counts an entity that is not in its files to the group `unknown`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_find(
    tree: *const jsf_tree,
    name: *const c_char,
    name_length: usize,
    node: *mut u32,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library, a text and a number
        let (tree, name, node) = unsafe {
            (
                borrow(tree, "tree")?,
                text(name, name_length, "name")?,
                out(node, "node")?,
            )
        };
        node.write(tree.resolve(name)?.index() as u32);
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// The numbers of an entity or a group, which is found as `jsf_tree_find` does, as of the last
/// `jsf_tree_update`, or as of the reading of the tree.
///
/// Errors: those of `jsf_tree_find`; `*shares` is not written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_shares(
    tree: *const jsf_tree,
    name: *const c_char,
    name_length: usize,
    shares: *mut jsf_shares,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library, a text and a structure
        let (tree, name, shares) = unsafe {
            (
                borrow(tree, "tree")?,
                text(name, name_length, "name")?,
                out(shares, "shares")?,
            )
        };
        shares.write(
            tree.shares
                .get(tree.resolve(name)?)
                .unwrap_or_default()
                .into(),
        );
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Writes the numbers of all nodes, as `jsf_tree_shares` has them, into arrays of `count` doubles,
/// where `count` is `jsf_tree_count`. An array that is not wanted may be null. The arrays must not
/// overlap.
///
/// Errors: `JSF_STATUS_ARGUMENT`; nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_shares_of_all(
    tree: *const jsf_tree,
    perc: *mut f64,
    tree_usage: *mut f64,
    factor: *mut f64,
    count: usize,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow(tree, "tree") }?;
        // SAFETY: the caller passes null or arrays of this length, which do not overlap
        let arrays = unsafe {
            [
                optional_array_out(perc, count, "perc")?,
                optional_array_out(tree_usage, count, "tree_usage")?,
                optional_array_out(factor, count, "factor")?,
            ]
        };
        if any_overlap(&arrays.each_ref().map(|array| addresses(array))) {
            return Err(jsf_error::argument(
                "`perc`, `tree_usage` and `factor` overlap",
            ));
        }
        tree.check_count(count)?;
        for (column, array) in arrays.into_iter().enumerate() {
            for (number, node) in array.iter_mut().zip(tree.tree.nodes()) {
                let shares = tree.shares.get(node).unwrap_or_default();
                number.write(
                    [
                        shares.fairshare_perc,
                        shares.fairshare_tree_usage,
                        shares.fairshare_factor,
                    ][column],
                );
            }
        }
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Writes the usage of all nodes, in the unit of the tree's documents, into an array of `count`
/// doubles, where `count` is `jsf_tree_count`. The usage of a group includes that of the nodes
/// below it. It is as of now, charges and decay included.
///
/// Errors: `JSF_STATUS_ARGUMENT`; nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_usage_of_all(
    tree: *const jsf_tree,
    usage: *mut f64,
    count: usize,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow(tree, "tree") }?;
        tree.check_count(count)?;
        // SAFETY: the caller passes null or an array of this length
        let usage = unsafe { array_out(usage, count, "usage") }?;
        tree.tree
            .nodes()
            .zip(usage)
            .for_each(|(node, usage)| usage.write(tree.tree.usage(node)));
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Adds usage to a node, such as the CPU seconds of a job that ended, and so to the groups above
/// it. `amount` is finite and at least 0, in the unit of the tree's documents. The numbers follow
/// with `jsf_tree_update`. The call takes time in proportion to the depth of the node.
///
/// Errors: `JSF_STATUS_ARGUMENT` if there is no such node, if `amount` is negative, infinite or
/// NaN, or if the usage of the node or of one above it would be infinite; nothing is changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_charge(
    tree: *mut jsf_tree,
    node: u32,
    amount: f64,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow_mut(tree, "tree") }?;
        let node = tree.node(node as usize)?;
        tree.tree
            .charge(node, amount)
            .map_err(|error| jsf_error::argument(error.to_string()))
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Multiplies all usage by `factor`, 0 to 1: one step of decay. Under the policy `pbs` no usage
/// falls below 1, as in OpenPBS, which keeps the factor as a `float`. The numbers follow with
/// `jsf_tree_update`.
///
/// Errors: `JSF_STATUS_ARGUMENT`; nothing is changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_decay(
    tree: *mut jsf_tree,
    factor: f64,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow_mut(tree, "tree") }?;
        if !(0.0..=1.0).contains(&factor) {
            return Err(jsf_error::argument(format!(
                "the factor of decay is {factor}, expected a number from 0 to 1"
            )));
        }
        if !tree.is_openpbs {
            return tree
                .tree
                .decay(factor)
                .map_err(|error| jsf_error::argument(error.to_string()));
        }
        let decay = IntervalDecay::new(factor as f32, 1);
        tree.tree.decay_with(|usage| decay.step(usage));
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Computes the numbers of all nodes again, from the shares and the usage as they are now: once per
/// scheduling cycle, after the charges.
///
/// Errors: `JSF_STATUS_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_update(
    tree: *mut jsf_tree,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow_mut(tree, "tree") }?;
        tree.shares = tree.policy.assess(&tree.tree);
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Frees a tree. Null is ignored. No thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_free(tree: *mut jsf_tree) {
    // SAFETY: the caller passes null or a tree of this library that was not freed
    unsafe { free(tree) }
}

/// A fair-share number as OpenPBS passes it to the formula: printed with six decimals and read
/// again. A scheduler that wants OpenPBS's scores to the bit passes its shares through this; one
/// that wants all bits does not.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_round_share(share: f64) -> f64 {
    answered(share, || Ok(fairshare(share)))
}
