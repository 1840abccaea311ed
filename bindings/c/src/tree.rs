//! Fair-share trees: read from documents, assessed by a policy, charged and decayed.

use std::ffi::{CString, c_char};
use std::mem;
use std::ptr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{
    Classic, DepthOblivious, EntityShares, FairTree, Member, NodeId, NodeKind, OpenPbs, Policy, PolicyRules, Release,
    ShareTable, ShareTree, Shares, TreeBuilder, WeightedWalk,
};
use jsf_openpbs::files::resource_group::UNKNOWN_GROUP;
use jsf_openpbs::files::usage::MIN_USAGE;
use jsf_openpbs::number_format::fairshare;
use jsf_site::Site;
use jsf_site::{FileSource, PolicyName, Role, SharesRequest, SiteFiles, SiteOptions};

use crate::argument::{
    NUL_TERMINATED, addresses, any_overlap, array, array_out, borrow, bytes, free, optional_array_out, out,
    required_text, text,
};
use crate::error::{answered, c_text, guarded, jsf_error, jsf_status, lines, site_error};

/// A fair-share tree with its usage, and the numbers that a policy computes from it. Several threads may use it; a call that
/// changes it waits until the others are done. Its nodes are numbered from 0, the root; only `jsf_tree_remove` changes the number
/// of a node. The root is called `root`, or `TREEROOT` under the policy `pbs`, which also has a group `unknown`, for entities that
/// are not in the documents. The fair-share numbers are computed when the tree is read, by `jsf_tree_update`, and once when they are
/// asked for after nodes were added or removed. Free it with `jsf_tree_free`.
#[allow(non_camel_case_types)]
pub struct jsf_tree {
    state: RwLock<Assessed>,
    warnings: CString,
    policy: Box<dyn Policy + Send + Sync>,
    is_openpbs: bool,
}

struct Assessed {
    /// The names of the nodes.
    names: Vec<CString>,
    /// Without the nodes of `growing`.
    tree: ShareTree,
    /// `None` unless nodes were added since the tree was used last.
    growing: Option<Growing>,
    /// `None` after nodes were added or removed.
    shares: Option<ShareTable>,
}

/// A tree to which nodes are added.
#[derive(Clone)]
struct Growing {
    builder: TreeBuilder,
    nodes: Vec<NodeId>,
}

/// The fair-share numbers of an entity, as a formula sees them.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy, Default)]
pub struct jsf_shares {
    /// `fairshare_perc`: the fraction of the whole machine that the entity's shares give it, 0 to 1.
    pub perc: f64,
    /// `fairshare_tree_usage`: the usage that counts against the entity, weighted by the usage of the groups above it, 0 to 1.
    pub tree_usage: f64,
    /// `fairshare_factor`: 0 to 1, higher the further usage is below the shares.
    pub factor: f64,
}

/// A node that `jsf_tree_add_many` adds, or `jsf_tree_member` reads.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy)]
pub struct jsf_member {
    /// The name, in UTF-8, ended by a NUL.
    pub name: *const c_char,
    /// Its shares, at least 0 and without a unit. OpenPBS keeps 32 bits. Under `classic`, `depth-oblivious` and `fair-tree` they are
    /// kept as in Slurm: in 32 bits, of which 2147483647 is `FairShare=parent`, and larger ones become 1.
    pub shares: i64,
    /// The number of the node above it; 0 is the root. The root itself has 0.
    pub parent: u32,
    /// Whether it is a group, and else an entity.
    pub is_group: bool,
}

/// A node to be added.
struct NewNode<'a> {
    parent: u32,
    name: &'a str,
    is_group: bool,
    shares: i64,
}

impl NewNode<'_> {
    fn member(&self, is_openpbs: bool) -> Result<Member, jsf_error> {
        let Self { name, is_group, shares, .. } = *self;
        if name.is_empty() || name.contains('\0') {
            return Err(jsf_error::argument("`name` is empty or contains a NUL"));
        }
        check_shares(name, shares, is_openpbs)?;
        Ok(if is_group { Member::group(name) } else { Member::entity(name) }.shares(shares))
    }
}

/// Checks what the tree does not.
fn check_shares(name: &str, shares: i64, is_openpbs: bool) -> Result<(), jsf_error> {
    let message = || format!("`{name}` has {shares} shares, which OpenPBS cannot keep in 32 bits");
    let is_kept = !is_openpbs || i32::try_from(shares).is_ok();
    is_kept.then_some(()).ok_or_else(|| jsf_error::argument(message()))
}

impl From<EntityShares> for jsf_shares {
    fn from(shares: EntityShares) -> Self {
        Self { perc: shares.fairshare_perc, tree_usage: shares.fairshare_tree_usage, factor: shares.fairshare_factor }
    }
}

impl jsf_tree {
    /// Reads the tree of these files and assesses it.
    fn read(files: SiteFiles, policy: PolicyName) -> Result<Self, jsf_error> {
        let site = Site::from_files(files, SiteOptions { policy: Some(policy), ..SiteOptions::default() });
        let site = site.map_err(|error| site_error(&error))?;
        let request = SharesRequest { policies: vec![policy], ..SharesRequest::default() };
        let Some(of_policy) = site.shares(&request).map_err(|error| site_error(&error))?.pop() else {
            return Err(jsf_error::new(jsf_status::Internal, "no policy was applied"));
        };
        let release = of_policy.settings.get("release").and_then(|release| Release::from_version(release.as_str()?));
        let warnings = lines(site.warnings().iter().chain(&of_policy.notes));
        let policy_in_force = build_policy(policy, release.unwrap_or_default())?;
        let tree = of_policy.assessed.into_tree();
        let names = tree.nodes().map(|node| c_text(tree.name(node))).collect();
        let shares = Some(policy_in_force.assess(&tree));
        let is_openpbs = policy == PolicyName::Pbs;
        let state = RwLock::new(Assessed { names, tree, growing: None, shares });
        Ok(Self { state, warnings, policy: policy_in_force, is_openpbs })
    }

    /// The state, in which only the names are up to date after nodes were added.
    fn names(&self) -> RwLockReadGuard<'_, Assessed> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> RwLockReadGuard<'_, Assessed> {
        loop {
            let state = self.names();
            if state.growing.is_none() {
                return state;
            }
            drop(state);
            drop(self.state_mut());
        }
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, Assessed> {
        let mut state = self.growing_state();
        if let Some(growing) = state.growing.take() {
            let kept: Vec<NodeId> = state.tree.nodes().collect();
            self.replace(&mut state, growing.builder.finish(), &kept);
        }
        state
    }

    fn growing_state(&self) -> RwLockWriteGuard<'_, Assessed> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds nodes, and returns the number of the first one.
    fn add(&self, added: &[NewNode<'_>]) -> Result<u32, jsf_error> {
        let mut state = self.growing_state();
        let mut growing = state.growing.take().unwrap_or_else(|| Growing::new(&state.tree));
        // one node is added or not
        let before = (added.len() > 1).then(|| growing.clone());
        let result = added.iter().try_for_each(|node| growing.add(node, self.is_openpbs));
        if result.is_err() {
            growing = before.unwrap_or(growing);
        }
        state.growing = (growing.nodes.len() > state.tree.len()).then_some(growing);
        result?;
        let first = state.names.len() as u32;
        state.names.extend(added.iter().map(|node| c_text(node.name)));
        Ok(first)
    }

    /// Replaces the tree by another one, whose first nodes are the nodes `kept` of the old one.
    fn replace(&self, state: &mut Assessed, tree: ShareTree, kept: &[NodeId]) {
        let old = mem::replace(&mut state.tree, tree);
        if self.is_openpbs {
            charge_as_when_read(&mut state.tree, kept.iter().map(|&node| old.usage(node)));
        }
        state.shares = None;
    }

    /// The numbers of the nodes, in their order. They are computed here if nodes were added or removed.
    fn with_shares<R>(&self, read: impl FnOnce(&Assessed, &ShareTable) -> R) -> R {
        let state = self.state();
        if let Some(shares) = &state.shares {
            return read(&state, shares);
        }
        drop(state);
        let state = &mut *self.state_mut();
        let shares = state.shares.take().unwrap_or_else(|| self.policy.assess(&state.tree));
        let result = read(state, &shares);
        state.shares = Some(shares);
        result
    }
}

impl Growing {
    fn new(tree: &ShareTree) -> Self {
        Self { builder: tree.clone().into_builder(), nodes: tree.nodes().collect() }
    }

    fn add(&mut self, node: &NewNode<'_>, is_openpbs: bool) -> Result<(), jsf_error> {
        let member = node.member(is_openpbs)?;
        let parent = node.parent as usize;
        let parent = *self.nodes.get(parent).ok_or_else(|| no_node(self.nodes.len(), parent))?;
        self.nodes.push(self.builder.add(parent, member).map_err(|error| jsf_error::argument(error.to_string()))?);
        Ok(())
    }
}

/// Gives the nodes their usage as the scheduler does when it reads its files: every node starts at 1, and the usage of an
/// entity is added to the groups above it.
fn charge_as_when_read(tree: &mut ShareTree, usages: impl Iterator<Item = f64>) {
    tree.nodes().for_each(|node| tree.set_usage(node, MIN_USAGE));
    for (node, usage) in tree.nodes().zip(usages).filter(|&(_, usage)| usage != MIN_USAGE) {
        if tree.children(node).is_empty() {
            tree.set_usage(node, usage);
            tree.add_above(node, usage);
        }
    }
}

/// The policy under the rules of the daemons.
fn build_policy(name: PolicyName, release: Release) -> Result<Box<dyn Policy + Send + Sync>, jsf_error> {
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

/// Ticket-based fair share is not among the policies, because it depends on which entities have waiting jobs.
fn no_policy(name: &str) -> jsf_error {
    let expected = "expected `pbs`, `classic`, `depth-oblivious`, `fair-tree` or `weighted-walk`";
    jsf_error::argument(format!("`{name}` is not a policy of this function, {expected}"))
}

/// The shares as Slurm keeps them.
fn number_of_shares(shares: Shares) -> i64 {
    match shares {
        Shares::Count(count) => count,
        Shares::Parent => i64::from(i32::MAX),
    }
}

fn no_node(count: usize, index: usize) -> jsf_error {
    jsf_error::argument(format!("the tree has {count} nodes, but none at {index}"))
}

fn file(name: &str, bytes: &[u8]) -> FileSource {
    FileSource::Bytes { name: name.to_owned(), bytes: bytes.into() }
}

impl Assessed {
    fn node(&self, index: usize) -> Result<NodeId, jsf_error> {
        self.tree.node(index).ok_or_else(|| no_node(self.tree.len(), index))
    }

    fn check_count(&self, count: usize) -> Result<(), jsf_error> {
        let expected = self.names.len();
        let message = || format!("`count` is {count}, expected {expected}, the number of nodes");
        (count == expected).then_some(()).ok_or_else(|| jsf_error::argument(message()))
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

/// A tree with nothing but its root, and under the policy `pbs` the group `unknown`, which has no shares, as without `unknown_shares` in the
/// `sched_config`; an empty tree in which it has 10 is that of `jsf_tree_read_pbs("", 0, NULL, 0, "unknown_shares: 10\n", 19, ...)`. `policy` is as for `jsf_tree_read`. On success
/// `*tree` is to be freed with `jsf_tree_free`.
///
/// Errors: `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8`; `*tree` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_new(
    policy: *const c_char,
    tree: *mut *mut jsf_tree,
    error: *mut *mut jsf_error,
) -> jsf_status {
    const EMPTY: &str = r#"{"children":[]}"#;
    // SAFETY: as the caller of this function promises
    unsafe { jsf_tree_read(EMPTY.as_ptr().cast(), EMPTY.len(), policy, tree, error) }
}

/// Reads a tree from a document: native JSON, such as
/// `{"children":[{"name":"physics","shares":40,"children":[{"name":"ann","shares":1,"usage":3600}]}]}`, or what Slurm's
/// `sshare -a -l -P`, `sshare -a --json` or `sacctmgr dump` print. `policy` is `pbs`, `classic`, `depth-oblivious`, `fair-tree`
/// or `weighted-walk`, ended by a NUL. Shares have no unit; usage has the unit of the document. On success `*tree` is to be
/// freed with `jsf_tree_free`; read `jsf_tree_warnings` then.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8`; `*tree` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_read(
    document: *const c_char,
    document_length: usize,
    policy: *const c_char,
    tree: *mut *mut jsf_tree,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a pointer to a handle
        let out = unsafe { out(tree, "tree") }?;
        out.write(ptr::null_mut());
        // SAFETY: the caller passes null or texts of these lengths
        let (document, policy) =
            unsafe { (text(document, document_length, "document")?, text(policy, NUL_TERMINATED, "policy")?) };
        let policy: PolicyName = policy.parse().map_err(|_| no_policy(policy))?;
        let files = SiteFiles::default().with(Role::Tree, file("document", document.as_bytes()));
        out.write(Box::into_raw(Box::new(jsf_tree::read(files, policy)?)));
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Reads OpenPBS's tree from the contents of the files in `sched_priv`: `resource_group`, the binary file `usage`, and
/// `sched_config`, for `unknown_shares`. The last two may be null with length 0. The policy is OpenPBS's. On success `*tree` is
/// to be freed with `jsf_tree_free`; read `jsf_tree_warnings` then, which has the lines that the scheduler skips.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_ARGUMENT`; `*tree` is null then. Any thread may call it.
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
        // SAFETY: the caller passes null or a pointer to a handle
        let out = unsafe { out(tree, "tree") }?;
        out.write(ptr::null_mut());
        // SAFETY: the caller passes null or contents of these lengths
        let (resource_group, usage, sched_config) = unsafe {
            (
                bytes(resource_group, resource_group_length, "resource_group")?,
                bytes(usage, usage_length, "usage")?,
                bytes(sched_config, sched_config_length, "sched_config")?,
            )
        };
        let mut files = SiteFiles::default().with(Role::ResourceGroup, file("resource_group", resource_group));
        for (role, name, bytes) in [(Role::Usage, "usage", usage), (Role::SchedConfig, "sched_config", sched_config)] {
            if !bytes.is_empty() {
                files = files.with(role, file(name, bytes));
            }
        }
        out.write(Box::into_raw(Box::new(jsf_tree::read(files, PolicyName::Pbs)?)));
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// What was wrong or missing in the documents: sentences, each ended by a newline, and a NUL at the end; empty if there is
/// nothing. It belongs to the tree and lives as long. Null if `tree` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_warnings(tree: *const jsf_tree) -> *const c_char {
    // SAFETY: the caller passes null or a tree of this library
    answered(ptr::null(), || Ok(unsafe { borrow(tree, "tree") }?.warnings.as_ptr()))
}

/// The number of nodes, the root and the groups included; 0 if `tree` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_count(tree: *const jsf_tree) -> usize {
    // SAFETY: the caller passes null or a tree of this library
    answered(0, || Ok(unsafe { borrow(tree, "tree") }?.names().names.len()))
}

/// The name of a node, from 0, the root; null beyond the last one. It is UTF-8, ends with a NUL, belongs to the tree and lives
/// until its node is removed or the tree is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_name(tree: *const jsf_tree, node: usize) -> *const c_char {
    let name = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow(tree, "tree") }?;
        Ok(tree.names().names.get(node).map_or(ptr::null(), |name| name.as_ptr()))
    };
    answered(ptr::null(), name)
}

/// Writes the name, the shares and the parent of a node, and whether it is a group, to `*member`. The root is a group whose shares
/// have no meaning. The name belongs to the tree and lives as that of `jsf_tree_name`.
///
/// Errors: `JSF_STATUS_ARGUMENT` beyond the last node; `*member` is not written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_member(
    tree: *const jsf_tree,
    node: u32,
    member: *mut jsf_member,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library, and a structure
        let (tree, member) = unsafe { (borrow(tree, "tree")?, out(member, "member")?) };
        let state = tree.state();
        let node = state.node(node as usize)?;
        member.write(jsf_member {
            name: state.names[node.index()].as_ptr(),
            shares: number_of_shares(state.tree.shares(node)),
            parent: state.tree.parent(node).map_or(0, NodeId::index) as u32,
            is_group: state.tree.kind(node) != NodeKind::Entity,
        });
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Finds the node of an entity or a group by its name, or by `GROUP/NAME` if several have the name, which the policy `pbs` does
/// not allow. `*node` can be the index of an entity in a column of `JSF_KIND_BY_ENTITY` whose `entity_values` are from
/// `jsf_tree_shares_of_all`.
///
/// Errors: `JSF_STATUS_NOT_FOUND`, `JSF_STATUS_ARGUMENT`, `JSF_STATUS_UTF8`; `*node` is not written then. OpenPBS counts an entity
/// that is not in its files to the group `unknown`.
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
        let (tree, name, node) =
            unsafe { (borrow(tree, "tree")?, text(name, name_length, "name")?, out(node, "node")?) };
        node.write(tree.state().resolve(name)?.index() as u32);
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// The numbers of an entity or a group, which is found as `jsf_tree_find` does, as of the last `jsf_tree_update`, or as of the
/// reading of the tree.
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
        let (tree, name, shares) =
            unsafe { (borrow(tree, "tree")?, text(name, name_length, "name")?, out(shares, "shares")?) };
        let found = tree.with_shares(|state, table| Ok(table.get(state.resolve(name)?).unwrap_or_default()))?;
        shares.write(found.into());
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Writes the numbers of all nodes, as `jsf_tree_shares` has them, into arrays of `count` doubles, where `count` is
/// `jsf_tree_count`. An array that is not wanted may be null. The arrays must not overlap.
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
            return Err(jsf_error::argument("`perc`, `tree_usage` and `factor` overlap"));
        }
        tree.with_shares(|state, table| {
            state.check_count(count)?;
            for (column, array) in arrays.into_iter().enumerate() {
                for (number, node) in array.iter_mut().zip(state.tree.nodes()) {
                    let shares = table.get(node).unwrap_or_default();
                    number.write([shares.fairshare_perc, shares.fairshare_tree_usage, shares.fairshare_factor][column]);
                }
            }
            Ok(())
        })
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Writes the usage of all nodes, in the unit of the tree's documents, into an array of `count` doubles, where `count` is
/// `jsf_tree_count`. The usage of a group includes that of the nodes below it. It is as of now, charges and decay included.
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
        let state = tree.state();
        state.check_count(count)?;
        // SAFETY: the caller passes null or an array of this length
        let usage = unsafe { array_out(usage, count, "usage") }?;
        state.tree.nodes().zip(usage).for_each(|(node, usage)| usage.write(state.tree.usage(node)));
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Adds an entity, or a group if `is_group`, with these shares and no usage under the node `parent`. `*node` becomes its number;
/// the other nodes keep theirs. The fair-share numbers are computed again when they are next asked for; under the policy `pbs` the
/// usage of groups is, as when OpenPBS reads its files, 1 and the usage of their entities. The first call after one that uses more
/// of the tree than names and their count takes time in proportion to the tree, as each call of `jsf_tree_add_many` does.
///
/// Errors: `JSF_STATUS_ARGUMENT` if `parent` is an entity, if the name is empty or already in the tree (under the policy `pbs`;
/// else in the group), or if the shares are negative, or beyond 32 bits under the policy `pbs`; `JSF_STATUS_UTF8`. Nothing is changed
/// then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_add(
    tree: *mut jsf_tree,
    parent: u32,
    name: *const c_char,
    name_length: usize,
    is_group: bool,
    shares: i64,
    node: *mut u32,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library, a text and a number
        let (tree, name, node) =
            unsafe { (borrow(tree, "tree")?, required_text(name, name_length, "name")?, out(node, "node")?) };
        node.write(tree.add(&[NewNode { parent, name, is_group, shares }])?);
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Adds `count` nodes as `jsf_tree_add` adds one. `*first` becomes the number of the first one; the others have the numbers after
/// it, in their order. The parent of a node may be one that is earlier in `members`: its number follows from `jsf_tree_count`
/// before the call.
///
/// Errors: those of `jsf_tree_add`, also if two of the members have the same name; nothing is changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_add_many(
    tree: *mut jsf_tree,
    members: *const jsf_member,
    count: usize,
    first: *mut u32,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library, and an array of this length
        let (tree, members) = unsafe { (borrow(tree, "tree")?, array(members, count, "members")?) };
        let mut added = Vec::with_capacity(count);
        for member in members {
            // SAFETY: the name ends with a NUL
            let name = unsafe { required_text(member.name, NUL_TERMINATED, "name") }?;
            added.push(NewNode { parent: member.parent, name, is_group: member.is_group, shares: member.shares });
        }
        // SAFETY: the caller passes null or a pointer to a number
        let first = unsafe { out(first, "first") }?;
        first.write(tree.add(&added)?);
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Removes a node and all nodes below it, with their usage. The numbers of the nodes after them become smaller: look them up
/// again with `jsf_tree_find`. What is computed again, and when, is as for `jsf_tree_add`.
///
/// Errors: `JSF_STATUS_ARGUMENT`, also for the root, and for the group `unknown` of the policy `pbs`; nothing is changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_remove(tree: *mut jsf_tree, node: u32, error: *mut *mut jsf_error) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow(tree, "tree") }?;
        let mut state = tree.state_mut();
        let node = state.node(node as usize)?;
        if tree.is_openpbs && state.tree.name(node) == UNKNOWN_GROUP {
            return Err(jsf_error::argument("OpenPBS cannot be without the group `unknown`"));
        }
        let mut builder = state.tree.clone().into_builder();
        builder.remove(node).map_err(|error| jsf_error::argument(error.to_string()))?;
        let is_kept = |&other: &NodeId| other != node && !state.tree.ancestors(other).any(|above| above == node);
        let kept: Vec<NodeId> = state.tree.nodes().filter(is_kept).collect();
        let mut names = mem::take(&mut state.names);
        state.names = kept.iter().map(|node| mem::take(&mut names[node.index()])).collect();
        tree.replace(&mut state, builder.finish(), &kept);
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Changes the shares of a node, to what `shares` of a `jsf_member` can be. The numbers follow with `jsf_tree_update`.
///
/// Errors: `JSF_STATUS_ARGUMENT` if there is no such node, if it is the root, which has no shares, or if the shares are negative, or
/// beyond 32 bits under the policy `pbs`; nothing is changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_set_shares(
    tree: *mut jsf_tree,
    node: u32,
    shares: i64,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow(tree, "tree") }?;
        let mut state = tree.state_mut();
        let node = state.node(node as usize)?;
        if node == state.tree.root() {
            return Err(jsf_error::argument("the root of the tree has no shares"));
        }
        check_shares(state.tree.name(node), shares, tree.is_openpbs)?;
        state.tree.set_shares(node, Shares::Count(shares)).map_err(|error| jsf_error::argument(error.to_string()))
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Adds usage to a node, such as the CPU seconds of a job that ended, and so to the groups above it. `amount` is finite and at
/// least 0, in the unit of the tree's documents. The numbers follow with `jsf_tree_update`. The call takes time in proportion to the
/// depth of the node.
///
/// Errors: `JSF_STATUS_ARGUMENT` if there is no such node, if `amount` is negative, infinite or NaN, or if the usage of the node or of
/// one above it would be infinite; nothing is changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_charge(
    tree: *mut jsf_tree,
    node: u32,
    amount: f64,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow(tree, "tree") }?;
        let mut state = tree.state_mut();
        let node = state.node(node as usize)?;
        state.tree.charge(node, amount).map_err(|error| jsf_error::argument(error.to_string()))
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Multiplies all usage by `factor`, 0 to 1: one step of decay. Under the policy `pbs` no usage falls below 1, as in OpenPBS,
/// which keeps the factor as a `float`. The numbers follow with `jsf_tree_update`.
///
/// Errors: `JSF_STATUS_ARGUMENT`; nothing is changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_decay(tree: *mut jsf_tree, factor: f64, error: *mut *mut jsf_error) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow(tree, "tree") }?;
        if !(0.0..=1.0).contains(&factor) {
            return Err(jsf_error::argument(format!("the factor of decay is {factor}, expected a number from 0 to 1")));
        }
        let mut state = tree.state_mut();
        if tree.is_openpbs {
            let decay = IntervalDecay::new(factor as f32, 1);
            state.tree.decay_with(|usage| decay.step(usage));
        } else {
            state.tree.decay(factor).map_err(|error| jsf_error::argument(error.to_string()))?;
        }
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// Computes the numbers of all nodes again, from the shares and the usage as they are now: once per scheduling cycle, after the
/// charges.
///
/// Errors: `JSF_STATUS_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_tree_update(tree: *mut jsf_tree, error: *mut *mut jsf_error) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a tree of this library
        let tree = unsafe { borrow(tree, "tree") }?;
        let mut state = tree.state_mut();
        state.shares = Some(tree.policy.assess(&state.tree));
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

/// A fair-share number as OpenPBS passes it to the formula: printed with six decimals and read again. A scheduler that wants
/// OpenPBS's scores to the bit passes its shares through this; one that wants all bits does not.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_round_share(share: f64) -> f64 {
    answered(share, || Ok(fairshare(share)))
}
