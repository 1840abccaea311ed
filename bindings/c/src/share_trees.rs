//! Fair-share trees: read from documents, and assessed by a policy.

use std::ffi::{CString, c_char};
use std::ptr;

use job_sort_formula::fairshare::{AssessedTree, EntityShares};
use jsf_openpbs::amounts::fairshare;
use jsf_site::{FileSource, PolicyName, Role, SharesRequest, Site, SiteFiles, SiteOptions};

use crate::argument::{NUL_TERMINATED, borrow, bytes, free, out, text};
use crate::error_handles::{answered, created, guarded, jsf_error, jsf_status, lines};

/// A fair-share tree with its usage, and the numbers that a policy computes from it. Under the policy
/// `pbs` it has a group `unknown`, for entities that are not in the documents. The numbers are computed
/// when the tree is read, and it is immutable: other entities, shares and usage are another
/// document. Any number of threads may use a tree at the same time. Free it with `jsf_tree_free`.
#[allow(non_camel_case_types)]
pub struct jsf_tree {
    assessed: AssessedTree,
    warnings: CString,
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
        if policy == PolicyName::TicketBased {
            return Err(no_policy(policy.as_str()));
        }
        let options = SiteOptions {
            policy: Some(policy),
            ..SiteOptions::default()
        };
        let site = Site::from_files(files, options)?;
        let shares = site.shares(&SharesRequest::default())?;
        let Some(shares) = shares.into_iter().next() else {
            return Err(jsf_error::new(
                jsf_status::Internal,
                "no policy was applied",
            ));
        };
        Ok(Self {
            warnings: lines(site.warnings().iter().chain(&shares.notes)),
            assessed: shares.assessed,
        })
    }

    fn shares(&self, name: &str) -> Result<EntityShares, jsf_error> {
        let tree = self.assessed.tree();
        let Some(node) = tree.resolve(name) else {
            let message = match tree.candidates(name).len() {
                0 => format!("the tree has no `{name}`"),
                _ => format!("the tree has several `{name}`: write `GROUP/{name}`"),
            };
            return Err(jsf_error::new(jsf_status::NotFound, message));
        };
        Ok(self.assessed.shares().get(node).unwrap_or_default())
    }
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
            // null with length 0 is no file
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

/// The numbers of an entity or a group, by its name, or by `GROUP/NAME` if several have the name,
/// which the policy `pbs` does not allow.
///
/// Errors: `JSF_STATUS_NOT_FOUND`, `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8`; `*shares` is not written
/// then. OpenPBS counts an entity that is not in its files to the group `unknown`.
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
        shares.write(tree.shares(name)?.into());
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
