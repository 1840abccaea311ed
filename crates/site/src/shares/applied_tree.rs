//! The fair-share tree under the policy in force, with the entities of the jobs, and the numbers
//! that it gives them.

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::{AssessedTree, ShareTree};
use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{fill_fairshare, missing_fairshare_input};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::share_tree::PbsTree;

use crate::jobs::job_warnings::{extend_limited, jobs_without_entity, unknown_entities};
use crate::shares::site_tree::{SiteTree, active_nodes, explain_unresolved};
use crate::{PolicyName, SharesRequest, Site, SiteError};

/// A fair-share tree under the policy in force.
#[derive(Debug)]
pub enum AppliedTree {
    /// OpenPBS's.
    Pbs(PbsTree),
    /// A tree under a policy of Slurm, or flux-accounting's.
    Slurm(AssessedTree),
}

impl AppliedTree {
    /// OpenPBS's tree, if it is one.
    pub fn pbs(&self) -> Option<&PbsTree> {
        match self {
            Self::Pbs(tree) => Some(tree),
            Self::Slurm(_) => None,
        }
    }

    /// The tree with its numbers.
    pub fn assessed(&self) -> &AssessedTree {
        match self {
            Self::Pbs(tree) => &tree.assessed,
            Self::Slurm(assessed) => assessed,
        }
    }
}

impl Site {
    /// Whether a formula with these inputs, or the order of the jobs, depends on fair share.
    pub(crate) fn needs_shares(&self, inputs: &[impl AsRef<str>]) -> bool {
        let mut keys = self.config.job_sort_key.prime.iter();
        let mut inputs = inputs.iter();
        self.config.fair_share.prime
            || keys.any(|key| key.name == "fair_share_perc")
            || inputs.any(|input| FairshareInput::from_name(input.as_ref()).is_some())
    }

    /// Fills in the fair-share numbers of the jobs, if they are needed, or in any case those of which
    /// the table has columns. Returns the tree if it is applied.
    pub(crate) fn fill_shares(
        &self,
        inputs: &[Box<str>],
        table: &mut JobTable,
        assumed: &SharesRequest,
        in_any_case: bool,
        warnings: &mut Vec<Message>,
    ) -> Result<Option<AppliedTree>, SiteError> {
        let mut is_needed = self.needs_shares(inputs);
        if !is_needed && !in_any_case {
            return Ok(None);
        }
        for (name, _) in FairshareInput::NAMES {
            is_needed |= table.column(name).is_some();
        }
        let tree = self.applied_tree(table, assumed)?;
        match &tree {
            _ if !is_needed => {}
            Some(tree) => self.fill_from(tree, table, warnings),
            None => self.require_own_shares(inputs, table)?,
        }
        Ok(tree)
    }

    /// The fair-share tree, with the entities of these jobs, under the policy in force; `None` if
    /// the site has none.
    fn applied_tree(
        &self,
        table: &JobTable,
        assumed: &SharesRequest,
    ) -> Result<Option<AppliedTree>, SiteError> {
        let Some(tree) = &self.tree else {
            return Ok(None);
        };
        Ok(Some(match self.policy.name {
            PolicyName::Pbs => {
                let entities = table.entities().iter().map(|entity| &**entity);
                let mut tree = tree.pbs_tree(self.policy.rules, entities)?;
                if assumed.assumes_usage() {
                    let mut changed = tree.tree().clone();
                    self.assume_usage(&mut changed, PolicyName::Pbs, assumed)?;
                    tree = tree
                        .with_usage_of(changed, &*self.policy.build_policy(PolicyName::Pbs, &[]));
                }
                AppliedTree::Pbs(tree)
            }
            name => {
                let mut shares = tree.share_tree()?;
                self.assume_usage(&mut shares, name, assumed)?;
                let active = active_nodes(assumed, table, &shares)?;
                AppliedTree::Slurm(AssessedTree::new(
                    shares,
                    &*self.policy.build_policy(name, &active),
                ))
            }
        }))
    }

    /// Fills in the fair-share numbers of a tree.
    fn fill_from(&self, tree: &AppliedTree, table: &mut JobTable, warnings: &mut Vec<Message>) {
        let numbers = self.rules.numbers;
        warnings.extend(jobs_without_entity(table, self.config.fairshare_entity));
        match tree {
            AppliedTree::Pbs(tree) => {
                warnings.extend(unknown_entities(table, tree));
                fill_fairshare(table, tree, |ratio| numbers.fairshare(ratio));
            }
            AppliedTree::Slurm(assessed) => {
                let unknown = fill_fairshare(table, assessed, |ratio| numbers.fairshare(ratio));
                let all = unknown.iter().map(|entity| {
                    format!(
                        "the jobs of `{entity}` get 0: {}",
                        explain_unresolved(assessed.tree(), entity)
                    )
                });
                extend_limited(warnings, all, "more entities, whose jobs get 0");
            }
        }
    }

    /// The fair-share tree with the entities of these jobs, to look up which group an entity
    /// belongs to; `None` if the site has no tree.
    ///
    /// # Errors
    /// The tree cannot be built.
    pub fn tree_of_jobs(&self, table: &JobTable) -> Result<Option<ShareTree>, SiteError> {
        let Some(tree) = &self.tree else {
            return Ok(None);
        };
        self.tree_under(self.policy.name, tree, table).map(Some)
    }

    /// A tree for a policy. That of OpenPBS gives every entity of these jobs a node.
    pub(crate) fn tree_under(
        &self,
        policy: PolicyName,
        tree: &SiteTree,
        table: &JobTable,
    ) -> Result<ShareTree, SiteError> {
        if policy != PolicyName::Pbs {
            return tree.share_tree();
        }
        let entities = table.entities().iter().map(|entity| &**entity);
        Ok(tree.pbs_tree(self.policy.rules, entities)?.into_tree())
    }

    /// Without a tree, every job must contain the fair-share numbers that the formula needs.
    pub(crate) fn require_own_shares(
        &self,
        inputs: &[Box<str>],
        table: &JobTable,
    ) -> Result<(), SiteError> {
        let Some((job, name)) = missing_fairshare_input(table, inputs) else {
            return Ok(());
        };
        let missing = format!("the formula needs `{name}`, which job `{job}` does not have: ");
        let need = match self.slurm {
            Some(_) => Need::Sshare,
            None => Need::Tree,
        };
        Err(SiteError::missing(missing, need))
    }
}
