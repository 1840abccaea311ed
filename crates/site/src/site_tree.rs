//! The fair-share tree of a site: read from whichever of its files contain one, and its nodes by their
//! names.

use std::collections::{BTreeSet, HashSet};

use job_sort_formula::ShareTree;
use job_sort_formula::fairshare::tree_document::TreeDocument;
use job_sort_formula::fairshare::{NodeId, NodeKind, Policy, PolicyRules, WeightedWalk};
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};
use jsf_ingest::FileKind;
use jsf_ingest::native_tree::{read_flux_tree, read_tree};
use jsf_json::clipped;
use jsf_openpbs::pbs_tree::MIN_USAGE;
use jsf_openpbs::{PbsTree, ResourceGroup, SchedConfig, UsageFile};
use jsf_slurm::associations::TreeFormat;
use jsf_words::{counted, first_few_quoted};

use crate::files::file_source::Content;
use crate::warnings::{FileWarnings, in_file};
use crate::{FileSource, PolicyName, Role, SiteError, SiteFiles};

/// A tree as its files describe it, before a policy is applied.
#[derive(Debug)]
pub struct SiteTree {
    pub document: TreeDocument,
    /// The name of the tree's file; `None` for OpenPBS's files.
    source_name: Option<String>,
    /// The scheduler other than OpenPBS that the tree's file is from, where the file is not native.
    pub origin: Option<TreeOrigin>,
    /// The column `FairShare` of `sshare`, by node of the document; empty for a tree without it, or
    /// without some of its rows.
    printed_fairshare: Vec<Option<f64>>,
    /// The cluster, if the tree's file names it.
    cluster: Option<String>,
}

/// The scheduler other than OpenPBS that a tree's file is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeOrigin {
    Slurm {
        /// Whether it was printed under fair tree, where that can be told.
        is_fair_tree: Option<bool>,
    },
    FluxAccounting,
}

impl SiteTree {
    /// Reads the tree, if the site has one, and appends the problems of its files to `warnings`.
    pub fn read(
        files: &SiteFiles,
        config: &SchedConfig,
        warnings: &mut FileWarnings,
    ) -> Result<Option<Self>, SiteError> {
        let groups = files.first(Role::ResourceGroup);
        let usage = files.first(Role::Usage);
        if let Some(source) = files.first(Role::Tree) {
            // files of another kind are refused, although their content is not used
            let mut unused = FileWarnings::default();
            if let Some(groups) = groups {
                read_resource_group(groups, &mut unused)?;
            }
            if let Some(usage) = usage {
                read_usage(usage, &mut unused)?;
            }
            return Ok(Some(read_document(source, warnings)?));
        }
        let Some(source) = groups else {
            return Ok(None);
        };
        let lines = read_resource_group(source, warnings)?;
        let usage = match usage {
            Some(source) => read_usage(source, warnings)?,
            None => {
                warnings.push(format!(
                    "`{}` is given without the file `usage`: the usage of every entity is 1, as if nothing had run",
                    source.name()
                ));
                UsageFile::default()
            }
        };
        if let Some(warning) = foreign_usage(&lines, &usage) {
            warnings.push(warning);
        }
        let document = lines.document(Some(&usage), config.unknown_shares);
        Ok(Some(Self::of_document(document, None)))
    }

    /// A tree that no other scheduler printed.
    fn of_document(document: TreeDocument, source_name: Option<String>) -> Self {
        Self {
            document,
            source_name,
            origin: None,
            printed_fairshare: Vec::new(),
            cluster: None,
        }
    }

    /// The tree that OpenPBS's scheduler has after it has seen jobs of these entities.
    pub fn pbs_tree(
        &self,
        rules: PolicyRules,
        entities: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<PbsTree, SiteError> {
        let built = PbsTree::build(&self.document, rules, entities);
        let tree = built.map_err(|error| self.error(&error))?;
        // only the scheduler computes with infinite usage, and only with that in its own files
        if !(self.is_of_openpbs() && rules == PolicyRules::Scheduler) {
            self.require_finite_usage(tree.tree())?;
        }
        Ok(tree)
    }

    /// The tree that OpenPBS's scheduler has, as in [`pbs_tree`](Self::pbs_tree), after `change`
    /// has changed every usage in its files. An entity whose usage is then 1 has no record. `None`
    /// if it cannot be built.
    pub fn pbs_tree_with_usage(
        &self,
        rules: PolicyRules,
        entities: impl IntoIterator<Item = impl AsRef<str>>,
        change: impl Fn(f64) -> f64,
    ) -> Option<PbsTree> {
        let mut document = self.document.clone();
        for record in &mut document.records {
            record.usage = change(record.usage);
        }
        document.records.retain(|record| record.usage != MIN_USAGE);
        for node in &mut document.nodes {
            node.usage = node.usage.map(&change);
        }
        PbsTree::build(&document, rules, entities).ok()
    }

    /// The tree's file and its cluster, if the file names it.
    pub fn cluster(&self) -> Option<(String, String)> {
        Some((self.source_name.clone()?, self.cluster.clone()?))
    }

    /// Whether the tree is from OpenPBS's files.
    pub fn is_of_openpbs(&self) -> bool {
        self.source_name.is_none()
    }

    /// Whether the tree's file is from Slurm.
    pub fn is_of_slurm(&self) -> bool {
        matches!(self.origin, Some(TreeOrigin::Slurm { .. }))
    }

    /// The column `FairShare` of the tree's file: the name of the file, and the factor of each node
    /// below the root, in the order of the document; `None` without such a column.
    pub fn printed_fairshare(&self) -> Option<(&str, &[Option<f64>])> {
        if self.printed_fairshare.iter().all(Option::is_none) {
            return None;
        }
        Some((self.source_name.as_deref()?, &self.printed_fairshare))
    }

    /// The tree without entities of jobs, for any policy. A tree of OpenPBS's files has the group
    /// `unknown`.
    pub fn share_tree(&self) -> Result<ShareTree, SiteError> {
        if self.is_of_openpbs() {
            return Ok(self.pbs_tree(PolicyRules::Documented, [""; 0])?.into_tree());
        }
        let tree = self.document.share_tree();
        let tree = tree.map_err(|error| self.error(&error))?;
        self.require_finite_usage(&tree)?;
        Ok(tree)
    }

    /// The tree for a policy. That of OpenPBS gives every one of these entities a node.
    pub fn tree_for(
        &self,
        policy: PolicyName,
        rules: PolicyRules,
        entities: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<ShareTree, SiteError> {
        match policy {
            PolicyName::Pbs => Ok(self.pbs_tree(rules, entities)?.into_tree()),
            _ => self.share_tree(),
        }
    }

    /// Refuses usage whose sum no double can hold: every part of it would be 0.
    fn require_finite_usage(&self, tree: &ShareTree) -> Result<(), SiteError> {
        if tree.usage(tree.root()).is_finite() {
            return Ok(());
        }
        let mut error = "the sum of all usage is beyond the range of a double".to_owned();
        if self.is_of_openpbs() {
            error += ", with which only OpenPBS's scheduler computes";
        }
        Err(self.error(&error))
    }

    fn error(&self, error: &dyn std::fmt::Display) -> SiteError {
        match &self.source_name {
            Some(name) => SiteError::content(format!("`{name}`: {error}")),
            None => SiteError::content(error),
        }
    }
}

fn read_document(source: &FileSource, warnings: &mut FileWarnings) -> Result<SiteTree, SiteError> {
    let Content { bytes, kind } = source.read_expected(Role::Tree)?;
    let name = source.name();
    let is_of_flux = kind == FileKind::FluxTree;
    // the reader of a native tree says which key another JSON document has wrong
    if is_of_flux || matches!(kind, FileKind::NativeTree | FileKind::Json) {
        let read = if is_of_flux {
            read_flux_tree
        } else {
            read_tree
        };
        let mut document = read(&name, &bytes)?;
        if is_of_flux {
            let differences = take_usage_of_banks(&mut document);
            warnings.extend(in_file(&name, differences));
        }
        let unknown = document.unknown_keys.iter();
        let unknown = unknown.map(|key| format!("unknown key `{key}` is ignored"));
        warnings.extend(in_file(&name, unknown));
        let repeated = document.repeated_keys.iter();
        let repeated = repeated.map(|(key, path)| {
            format!("{path} has `{key}` more than once; the last one counts, and all `children`")
        });
        warnings.extend_unless_strict(in_file(&name, repeated))?;
        let mut tree = SiteTree::of_document(document, Some(name));
        if is_of_flux {
            tree.origin = Some(TreeOrigin::FluxAccounting);
        }
        return Ok(tree);
    }
    let associations = jsf_slurm::read_tree(&name, &bytes)?;
    warnings.refuse_if_strict(in_file(&name, &associations.duplicate))?;
    warnings.extend(in_file(&name, &associations.warnings));
    if !associations.usage_known && associations.format != TreeFormat::Sshare {
        warnings.push(format!(
            "`{name}`: what `sacctmgr` prints has no usage, so every usage is 0; `sshare -a -l -P` has it"
        ));
    }
    Ok(SiteTree {
        document: associations.document,
        source_name: Some(name),
        origin: Some(TreeOrigin::Slurm {
            is_fair_tree: associations.is_fair_tree,
        }),
        printed_fairshare: associations.printed_fairshare,
        cluster: associations.cluster,
    })
}

/// Takes off the usage of the banks, which is that of all below them, and says where it is not what
/// flux-accounting sums up.
fn take_usage_of_banks(document: &mut TreeDocument) -> Vec<String> {
    /// What the rounding of a long sum may change.
    const PRECISION: f64 = 1e-6;
    let mut stated = vec![(0, std::mem::take(&mut document.usage))];
    for (index, node) in (1..).zip(&mut document.nodes) {
        if node.kind != NodeKind::Entity
            && let Some(usage) = node.usage.take()
        {
            stated.push((index, usage));
        }
    }
    // a tree that cannot be built is refused where it is used
    let Ok(tree) = document.share_tree() else {
        return Vec::new();
    };
    let shares = WeightedWalk.assess(&tree);
    let sums: Vec<_> = tree.nodes().map(|node| shares.association(node)).collect();
    let mut differing = Vec::new();
    for (index, usage) in stated {
        let sum = sums[index].and_then(|sum| sum.raw_usage).unwrap_or(0.0);
        if (usage - sum).abs() > PRECISION * sum.max(1.0) {
            let name = match index {
                0 => &document.root,
                _ => &document.nodes[index - 1].name,
            };
            differing.push(format!(
                "the bank `{}` has the usage {usage}, but those below it have {sum}, which counts",
                clipped(name)
            ));
        }
    }
    differing
}

fn read_resource_group(
    source: &FileSource,
    warnings: &mut FileWarnings,
) -> Result<ResourceGroup, SiteError> {
    let Content { bytes, kind } = source.read_unless_binary(Role::ResourceGroup)?;
    let lines = ResourceGroup::parse(&bytes);
    let name = source.name();
    // the root alone: none of the lines is valid
    if lines.nodes.len() == 1 && !lines.rejected.is_empty() || kind != FileKind::Text {
        Role::ResourceGroup.require(kind, &name, &bytes)?;
    }
    if !lines.rejected.is_empty() && bytes.windows(2).any(|pair| pair == b"\r\n") {
        warnings.push(format!(
            "`{name}` has Windows line ends, whose `\\r` the scheduler reads as part of the last field: remove them (`dos2unix`)"
        ));
    }
    let (repeated, others): (Vec<_>, Vec<_>) =
        lines.rejected.iter().partition(|line| line.is_repeated);
    warnings.extend_unless_strict(in_file(&name, repeated))?;
    let others = others.into_iter().map(ToString::to_string);
    warnings.extend(in_file(&name, others.chain(lines.remarks.clone())));
    if lines.not_listed > 0 {
        let lines = counted(lines.not_listed, "more line is", "more lines are");
        warnings.push(format!("`{name}`: {lines} not valid"));
    }
    Ok(lines)
}

/// A warning if no entity of the usage is in the tree.
fn foreign_usage(groups: &ResourceGroup, usage: &UsageFile) -> Option<String> {
    let first = usage.records.first()?;
    // the first one is the root
    let (_, nodes) = groups.nodes.split_first()?;
    if nodes.is_empty() {
        return None;
    }
    let names: HashSet<&str> = nodes.iter().map(|node| &*node.name).collect();
    let mut records = usage.records.iter();
    if records.any(|record| names.contains(&*record.entity)) {
        return None;
    }
    Some(format!(
        "the tree has none of the {} entities of the usage (first `{}`): are `usage` and `resource_group` of one site?",
        usage.records.len(),
        first.entity
    ))
}

fn read_usage(source: &FileSource, warnings: &mut FileWarnings) -> Result<UsageFile, SiteError> {
    let usage = UsageFile::parse(&source.read_expected(Role::Usage)?.bytes);
    let (bad, others): (Vec<_>, Vec<_>) = usage.faults.iter().partition(|fault| fault.is_of_usage);
    let name = source.name();
    warnings.extend(in_file(&name, others));
    warnings.extend_unless_strict(in_file(&name, bad))?;
    warnings.extend_unless_strict(in_file(&name, &usage.implausible))?;
    let mut entities = HashSet::new();
    let mut repeated = BTreeSet::new();
    for record in &usage.records {
        if !entities.insert(&record.entity) {
            repeated.insert(&record.entity);
        }
    }
    let repeated = repeated.into_iter().map(|entity| {
        format!("`{entity}` has more than one record; the last one counts for it, and all of them for its groups")
    });
    warnings.extend_unless_strict(in_file(&name, repeated))?;
    if usage.records.is_empty() && usage.faults.is_empty() {
        warnings.push(format!(
            "`{name}` has no record: the usage of every entity is 1, as if nothing had run"
        ));
    }
    Ok(usage)
}

/// Finds the node that a name denotes, see [`ShareTree::resolve`].
pub fn find_node(tree: &ShareTree, name: &str) -> Result<NodeId, SiteError> {
    let node = tree.resolve(name);
    node.ok_or_else(|| SiteError::Missing(explain_unresolved(tree, name).into()))
}

/// Why a name denotes no node, and what to write instead.
pub fn explain_unresolved(tree: &ShareTree, name: &str) -> String {
    let user_at = name.rfind('/').map_or(0, |at| at + 1);
    let (above, user) = name.split_at(user_at);
    let mut several = tree.candidates(name);
    if several.is_empty() {
        several = tree.nodes_with_partition();
        several.retain(|node| {
            let full = format!("{above}{}", tree.name(*node));
            tree.base_name(*node) == user && tree.candidates(&full).contains(node)
        });
    }
    if !several.is_empty() {
        let several = listed(tree, &several);
        return format!("the tree has several `{name}`, write one of {several}");
    }
    let names = tree.nodes().map(|node| tree.name(node)).take(MAX_COMPARED);
    format!("the tree has no `{name}`{}", did_you_mean(user, names))
}

/// The full names of a few nodes.
fn listed(tree: &ShareTree, nodes: &[NodeId]) -> String {
    const MAX_NAMES: usize = 4;
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    let names = nodes.into_iter().map(|node| full_name(tree, node));
    first_few_quoted(names, MAX_NAMES)
}

/// `ACCOUNT/USER` for a user, the path for an account: unique in the tree.
pub fn full_name(tree: &ShareTree, node: NodeId) -> String {
    match (tree.kind(node), tree.parent(node)) {
        (NodeKind::Entity, Some(account)) => format!("{}/{}", tree.name(account), tree.name(node)),
        _ => tree.path(node).join("/"),
    }
}
