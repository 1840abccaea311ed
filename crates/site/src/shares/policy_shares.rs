//! The fair-share tree of a site under one or more policies, as it is or with assumed usage and
//! decay.

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::decay::{HalfLife, IntervalDecay};
use job_sort_formula::fairshare::{AssessedTree, NodeId, NodeKind, ShareTree};
use job_sort_formula::formula::Formula;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::words::counted;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::jobs::job_warnings::jobs_without_entity;
use crate::shares::policy_selection::clock;
use crate::shares::site_tree::{SiteTree, active_nodes, explain_unresolved, find_node};
use crate::{ComparedQueue, PolicyName, Role, Site, SiteError};

/// A change of the usage in a tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum UsageChange {
    /// All usage decays by this much time, in seconds.
    Decay(u64),
    /// Usage is added to an entity.
    Charge {
        /// The entity.
        name: String,
        /// The usage, in the units of the tree.
        amount: f64,
    },
}

/// The policies to apply to a fair-share tree, and the changes to assume first.
#[derive(Debug, Clone, Default)]
pub struct SharesRequest {
    /// The policies to apply; none: the one in force.
    pub policies: Vec<PolicyName>,
    /// The entities with pending jobs, for the ticket-based policy; none: those of the queue, if
    /// there is one.
    pub active: Vec<String>,
    /// The changes of the usage before the policies are applied, in their order.
    pub changes: Vec<UsageChange>,
}

impl SharesRequest {
    /// Whether a usage is assumed that differs from the site's.
    pub fn assumes_usage(&self) -> bool {
        !self.changes.is_empty()
    }
}

/// The result of one policy.
#[derive(Debug)]
pub struct PolicyShares {
    /// The policy.
    pub policy: PolicyName,
    /// The tree and each node's numbers.
    pub assessed: AssessedTree,
    /// The same without the charges and the decay of the request; `None` if it has neither.
    pub before: Option<AssessedTree>,
    /// Whether the policy has a factor: the ticket-based one has none if no entity is known to have
    /// pending jobs.
    pub has_factors: bool,
    /// The policy, whose rules it follows and how usage decays under it, in a few words; where it
    /// was not asked for, also where it comes from.
    pub description: String,
    /// Its settings in force: the release of Slurm, the dampening factor, the half-life in seconds
    /// (0: no decay), or OpenPBS's decay factor and the time between two decays in seconds.
    pub settings: Map<String, Value>,
    /// The changes of the usage that the request assumes, in words and in their order.
    pub assumed: String,
    /// The unit of the usage in the tree.
    pub usage_unit: String,
    /// What the numbers leave out, one sentence each; those of the first policy begin with the
    /// warnings about the jobs.
    pub notes: Vec<Message>,
}

impl PolicyShares {
    /// Why a name denotes no node of the tree: it has none, or several. `None` if it denotes one.
    /// To look for similar names compares all names of the tree.
    pub fn unresolved(&self, name: &str, with_similar: bool) -> Option<String> {
        let tree = self.assessed.tree();
        if tree.resolve(name).is_some() {
            return None;
        }
        if with_similar || !tree.candidates(name).is_empty() {
            return Some(explain_unresolved(tree, name));
        }
        Some(format!("the tree has no `{name}`"))
    }

    /// The nodes of these names with all below them, or those of the whole tree if no name is
    /// given, depth first; `with_paths` adds the nodes above them. A name that denotes no node is
    /// left out.
    pub fn nodes(&self, names: &[String], with_paths: bool) -> Vec<NodeId> {
        let tree = self.assessed.tree();
        let mut is_shown = vec![names.is_empty(); tree.len()];
        let mut is_above = vec![false; tree.len()];
        for name in names {
            let Some(node) = tree.resolve(name) else {
                continue;
            };
            is_shown[node.index()] = true;
            if with_paths {
                for above in tree.ancestors(node) {
                    if is_above[above.index()] {
                        break;
                    }
                    is_above[above.index()] = true;
                }
            }
        }
        // parents come before their children
        for node in tree.nodes() {
            if let Some(above) = tree.parent(node) {
                is_shown[node.index()] |= is_shown[above.index()];
            }
        }
        let mut nodes = tree.depth_first();
        nodes.retain(|node| is_shown[node.index()] || is_above[node.index()]);
        nodes
    }

    /// The node of the entity of a job.
    pub fn node(&self, entity: &str) -> Option<NodeId> {
        let tree = self.assessed.tree();
        if self.policy == PolicyName::Pbs {
            tree.find(entity)
        } else {
            tree.resolve(entity)
        }
    }

    /// The nodes from the root of the tree to a node.
    pub fn path(&self, node: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = self.assessed.tree().ancestors(node).collect();
        path.reverse();
        path.push(node);
        path
    }
}

impl Site {
    /// The tree as its files describe it, without a policy.
    ///
    /// # Errors
    /// The site has no tree, or its files cannot be read.
    pub fn share_tree(&self) -> Result<ShareTree, SiteError> {
        self.required_tree()?.share_tree()
    }

    /// Applies policies to the fair-share tree.
    ///
    /// ```
    /// use jsf_site::{PolicyName, SharesRequest, Site};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let site = Site::open("examples/site/sched_priv")?;
    /// let shares = site.shares(&SharesRequest { policies: vec![PolicyName::FairTree], ..Default::default() })?;
    /// assert_eq!(shares[0].description, "fair-tree, as in Slurm 26.11 (default), half-life 7-00:00:00 (default)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The site has no tree, its files cannot be read, or the tree has no node of a given name.
    pub fn shares(&self, request: &SharesRequest) -> Result<Vec<PolicyShares>, SiteError> {
        let tree = self.required_tree()?;
        let (table, mut notes) = self.queue_table()?;
        let in_force = [self.policy.name];
        let policies = if request.policies.is_empty() {
            &in_force[..]
        } else {
            &request.policies
        };
        let mut shares = Vec::new();
        let mut refusal = None;
        for &policy in policies {
            match self.policy_shares(policy, tree, &table, request) {
                Ok(one) => shares.push(one),
                // a tree of one scheduler may not suit the policies of another
                Err(error) => {
                    let before = format!("no numbers of the policy `{}`: ", policy.as_str());
                    notes.push(error.message().after(before));
                    refusal.get_or_insert(error);
                }
            }
        }
        if shares.is_empty()
            && let Some(error) = refusal
        {
            return Err(error);
        }
        if let Some(first) = shares.first_mut() {
            for change in &request.changes {
                if let UsageChange::Charge { name, .. } = change {
                    notes.extend(self.charged_group(first.assessed.tree(), name));
                }
            }
            first.notes.splice(..0, notes);
        }
        Ok(shares)
    }

    pub(crate) fn policy_shares(
        &self,
        policy: PolicyName,
        tree: &SiteTree,
        table: &JobTable,
        request: &SharesRequest,
    ) -> Result<PolicyShares, SiteError> {
        let mut tree = self.tree_under(policy, tree, table)?;
        let mut as_it_is = None;
        if request.assumes_usage() {
            as_it_is = Some(tree.clone());
            self.assume_usage(&mut tree, policy, request)?;
        }
        let mut notes: Vec<Message> = Vec::new();
        for change in &request.changes {
            if let UsageChange::Decay(seconds) = change {
                notes.extend(self.no_decay(policy, *seconds).map(Message::from));
            }
        }
        notes.dedup();
        let has_factors = policy != PolicyName::TicketBased
            || !request.active.is_empty()
            || self.files.has(Role::Queue);
        if !has_factors {
            notes.push(Message::asking(
                "ticket-based gives tickets to the entities with pending jobs, and none are known: ",
                [Need::Queue, Need::ActiveEntities],
            ));
        }
        if policy == PolicyName::WeightedWalk {
            notes.extend(users_beside_groups(&tree));
        }
        let active = active_nodes(request, table, &tree)?;
        let rules = self.policy.build_policy(policy, &active);
        let before = as_it_is.map(|tree| AssessedTree::new(tree, &*rules));
        let description = if request.policies.is_empty() {
            self.policy.in_force(&self.config)
        } else {
            self.policy.described(policy, &self.config)
        };
        Ok(PolicyShares {
            policy,
            assessed: AssessedTree::new(tree, &*rules),
            before,
            has_factors,
            description,
            settings: self.policy_settings(policy),
            assumed: self.describe_assumptions(policy, request),
            usage_unit: self.usage_unit(),
            notes,
        })
    }

    /// Ranks the queue by a formula, as it is and with the usage that the request assumes.
    ///
    /// # Errors
    /// As for [`rank`](Self::rank) and [`shares`](Self::shares).
    pub fn places(
        &self,
        formula: &Formula,
        request: &SharesRequest,
    ) -> Result<ComparedQueue, SiteError> {
        let names = formula.names();
        let mut read = self.read_for_formula(formula, &self.request(&names).again())?;
        let program = read.program.as_ref().ok_or(SiteError::NotArithmetic)?;
        let mut inputs = program.inputs().iter();
        if !inputs.any(|input| FairshareInput::from_name(input).is_some()) {
            read.jobs.warnings.push(
                "the formula does not use fair share, so its values do not depend on usage".into(),
            );
        }
        let as_it_is = SharesRequest {
            changes: Vec::new(),
            ..request.clone()
        };
        let threshold = self.threshold();
        let mut before = self.rank_assuming(read.clone(), &as_it_is, threshold)?;
        let mut after = self.rank_assuming(read, request, threshold)?;
        // the shares and their groups are in the tree that is shown, and not compared once more
        (before.tree, after.tree) = (None, None);
        before.warnings.clear();
        Ok(ComparedQueue::new(before, after))
    }

    /// Changes the usage of a tree as the request assumes.
    pub(crate) fn assume_usage(
        &self,
        tree: &mut ShareTree,
        policy: PolicyName,
        request: &SharesRequest,
    ) -> Result<(), SiteError> {
        for change in &request.changes {
            match change {
                UsageChange::Decay(seconds) => self.decay(tree, policy, *seconds),
                UsageChange::Charge { name, amount } => {
                    let node = find_node(tree, name)?;
                    tree.charge(node, *amount).map_err(SiteError::content)?;
                }
            }
        }
        Ok(())
    }

    /// A note on a charge of a group or an account, which no job makes.
    fn charged_group(&self, tree: &ShareTree, name: &str) -> Option<Message> {
        if tree.kind(tree.resolve(name)?) == NodeKind::Entity {
            return None;
        }
        let (kind, member) = if self.policy.name == PolicyName::Pbs {
            ("a group", "entity")
        } else {
            ("an account", "user")
        };
        let message = format!(
            "`{name}` is {kind}: the charge is added to its own usage, and those in it keep theirs; to charge as a job \
             does, name one {member}"
        );
        Some(message.into())
    }

    /// Why nothing decays in a time, if that is so.
    fn no_decay(&self, policy: PolicyName, seconds: u64) -> Option<String> {
        let period = self.config.fairshare_decay_time;
        match policy {
            PolicyName::Pbs if period == 0 => {
                Some("nothing decays: `fairshare_decay_time` is 0".to_owned())
            }
            PolicyName::Pbs if self.decay_by_periods().intervals(seconds) == 0 => Some(format!(
                "nothing decays: OpenPBS decays usage in whole periods of {} (`fairshare_decay_time`), and {} is less than \
                 one",
                clock(period),
                clock(seconds)
            )),
            PolicyName::Pbs => None,
            _ if self.policy.conf.decay_half_life == 0 => {
                Some("nothing decays: `PriorityDecayHalfLife` is 0".to_owned())
            }
            _ => None,
        }
    }

    /// The assumed usage in words.
    fn describe_assumptions(&self, policy: PolicyName, request: &SharesRequest) -> String {
        let mut described = Vec::new();
        for change in &request.changes {
            described.push(match change {
                UsageChange::Decay(seconds) => self.describe_decay(policy, *seconds),
                UsageChange::Charge { name, amount } => format!("{name} is charged {amount}"),
            });
        }
        described.join(", then ")
    }

    fn describe_decay(&self, policy: PolicyName, seconds: u64) -> String {
        if policy != PolicyName::Pbs {
            return format!("usage decays for {}", clock(seconds));
        }
        let periods = self.decay_by_periods().intervals(seconds);
        let noun = if periods == 1 { "period" } else { "periods" };
        let period = clock(self.config.fairshare_decay_time);
        format!("usage decays by {periods} {noun} of {period}")
    }

    /// Decays all usage: by whole intervals under OpenPBS's policy, by `slurm.conf`'s half-life
    /// under every other.
    fn decay(&self, tree: &mut ShareTree, policy: PolicyName, seconds: u64) {
        if policy == PolicyName::Pbs {
            let decay = self.decay_by_periods();
            tree.decay_with(|usage| decay.decayed(usage, seconds));
        } else {
            let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
            let factor = HalfLife::new(self.policy.conf.decay_half_life).factor(seconds);
            // a factor of a half-life is from 0 to 1
            let _ = tree.decay(factor);
        }
    }

    /// How usage decays under OpenPBS's policy.
    pub(crate) fn decay_by_periods(&self) -> IntervalDecay {
        let factor = self.config.fairshare_decay_factor;
        IntervalDecay::new(factor, self.config.fairshare_decay_time)
    }

    fn required_tree(&self) -> Result<&SiteTree, SiteError> {
        let tree = self.tree.as_ref();
        tree.ok_or_else(|| SiteError::missing("no tree: ", Need::Tree))
    }

    /// The jobs of the queue, none without one, and the warnings about them.
    fn queue_table(&self) -> Result<(JobTable, Vec<Message>), SiteError> {
        if !self.files.has(Role::Queue) {
            return Ok((JobTable::default(), Vec::new()));
        }
        let mut jobs = self.read_columns(&self.request(&[]).again())?;
        let missing = jobs_without_entity(&jobs.table, self.config.fairshare_entity);
        jobs.warnings.extend(missing);
        Ok((jobs.table, jobs.warnings))
    }
}

/// A note on the users that the weighted walk ignores: those beside a group.
fn users_beside_groups(tree: &ShareTree) -> Option<Message> {
    let mut has_groups = vec![false; tree.len()];
    for node in tree.nodes() {
        if let Some(parent) = tree.parent(node)
            && tree.kind(node) != NodeKind::Entity
        {
            has_groups[parent.index()] = true;
        }
    }
    let mut beside = Vec::new();
    for node in tree.nodes() {
        if let Some(parent) = tree.parent(node)
            && tree.kind(node) == NodeKind::Entity
            && has_groups[parent.index()]
        {
            beside.push((node, parent));
        }
    }
    let (first, parent) = *beside.first()?;
    let others = match beside.len() - 1 {
        0 => String::new(),
        others => format!(" and {}", counted(others, "more user", "more users")),
    };
    let message = format!(
        "weighted-walk leaves out `{}` of `{}`{others}: a user beside a group has the factor 0.5, and the usage counts \
         nowhere",
        tree.name(first),
        tree.name(parent)
    );
    Some(message.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_sort_formula::fairshare::{Member, TreeBuilder};

    /// The note, with the groups beside a user found by a search of all siblings.
    fn plain_users_beside_groups(tree: &ShareTree) -> Vec<&str> {
        let users = tree
            .nodes()
            .filter(|&node| tree.kind(node) == NodeKind::Entity);
        let beside = users.filter(|&user| {
            let siblings = tree
                .parent(user)
                .map(|parent| tree.children(parent))
                .unwrap_or_default();
            siblings
                .iter()
                .any(|&sibling| tree.kind(sibling) != NodeKind::Entity)
        });
        beside.map(|user| tree.name(user)).collect()
    }

    #[test]
    fn users_beside_groups_are_counted() {
        let mut bits = 1_u64;
        for _ in 0..300 {
            let mut builder = TreeBuilder::new("root");
            let mut groups = vec![builder.root()];
            for number in 0..12 {
                bits = bits
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let parent = groups[(bits >> 40) as usize % groups.len()];
                let is_group = bits >> 33 & 3 == 0;
                let name = format!("n{number}");
                let member = if is_group {
                    Member::group(name)
                } else {
                    Member::entity(name)
                };
                let node = builder.add(parent, member).expect("sound");
                groups.extend(is_group.then_some(node));
            }
            let tree = builder.finish();
            let beside = plain_users_beside_groups(&tree);
            let note = users_beside_groups(&tree);
            let Some(first) = beside.first() else {
                assert_eq!(note, None);
                continue;
            };
            let note = note.expect("a note").to_string();
            assert!(
                note.starts_with(&format!("weighted-walk leaves out `{first}` of ")),
                "{note}"
            );
            let others = format!(
                " and {}: ",
                counted(beside.len() - 1, "more user", "more users")
            );
            assert_eq!(
                note.contains(&others),
                beside.len() > 1,
                "{note} {beside:?}"
            );
        }
    }

    #[test]
    fn a_hundred_thousand_users_beside_a_group_are_not_compared_with_each_other() {
        let mut builder = TreeBuilder::new("root");
        for user in 0..100_000 {
            builder
                .add(builder.root(), Member::entity(format!("u{user}")))
                .expect("sound");
        }
        builder
            .add(builder.root(), Member::group("bank"))
            .expect("sound");
        let note = users_beside_groups(&builder.finish())
            .expect("a note")
            .to_string();
        assert!(
            note.contains("`u0` of `root` and 99999 more users"),
            "{note}"
        );
    }
}
