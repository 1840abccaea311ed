//! From the document to a tree of OpenPBS's.

use thiserror::Error;

use crate::fairshare::tree_document::{NodeKind, NodeShares, TreeDocument, TreeNode};
use crate::fairshare::{Kind, Member, Naming, NodeId, ShareTree, Shares, TreeBuilder, TreeError};
use crate::pbs::files::resource_group::{GroupLine, ResourceGroup, TREE_ROOT};
use crate::pbs::files::usage::{UsageFile, UsageRecord};
use crate::pbs::share_tree::{PbsTree, PbsTreeBuilder, Rules};

/// A document that is no tree of OpenPBS's.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PlantError {
    /// `"shares":"parent"`, which OpenPBS does not have.
    #[error("`{0}` has the shares of its parent, which OpenPBS's policy does not know: give it a number")]
    SharesOfParent(String),
    /// A number of shares that no line of `resource_group` can hold.
    #[error("`{name}` has {shares} shares, expected a number from -2147483648 to 2147483647")]
    Shares {
        /// The node.
        name: String,
        /// Its shares.
        shares: i64,
    },
    /// A name that the tree has already.
    #[error(
        "`{0}` stands in the tree twice, where OpenPBS's policy knows everybody by name alone: \
         rename one, or choose another policy"
    )]
    Duplicate(String),
    /// The tree cannot be built.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

impl TreeDocument {
    /// The tree as OpenPBS would hold it if its files said the same, with the entities of these jobs.
    ///
    /// # Errors
    /// [`PlantError`] for what OpenPBS's files cannot say.
    pub fn plant<S: Into<String>>(
        &self,
        rules: Rules,
        entities: impl IntoIterator<Item = S>,
    ) -> Result<PbsTree, PlantError> {
        let lines = ResourceGroup { lines: self.lines()?, rejected: Vec::new() };
        let usage = UsageFile { records: self.records(), ..UsageFile::default() };
        let unknown_shares = self.unknown_shares.unwrap_or(0);
        let unknown_shares = i32::try_from(unknown_shares)
            .map_err(|_| PlantError::Shares { name: "unknown_shares".into(), shares: unknown_shares })?;
        let builder = PbsTreeBuilder::new(&lines).usage(&usage).unknown_shares(unknown_shares).rules(rules);
        let groups = self.nodes.iter().enumerate().filter(|(index, _)| self.is_group(*index));
        let own = groups.filter_map(|(_, node)| Some((node.name.as_str(), node.usage?)));
        let own = own.chain((self.usage != 0.0).then_some((TREE_ROOT, self.usage)));
        let builder = own.fold(builder, |builder, (name, usage)| builder.usage_of_group(name, usage));
        Ok(builder.with_entities(entities).build()?)
    }

    /// The tree as it stands, for any policy. Names of accounts are unique, those of users in their account.
    ///
    /// # Errors
    /// [`TreeError`]: a name twice, negative shares, usage that is no number.
    pub fn share_tree(&self) -> Result<ShareTree, TreeError> {
        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        builder.charge(builder.root(), self.usage)?;
        let mut ids: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let member = match node.kind {
                NodeKind::Account => Member::group(&*node.name),
                NodeKind::User => Member::entity(&*node.name).partition(node.partition.as_deref().unwrap_or_default()),
            };
            let member = match node.shares {
                NodeShares::Count(shares) => member.shares(shares),
                NodeShares::Parent => member.shares_of_parent(),
            };
            let parent = node.parent.and_then(|parent| ids.get(parent).copied()).unwrap_or(builder.root());
            ids.push(builder.add(parent, member.usage(node.usage.unwrap_or(0.0)))?);
        }
        Ok(builder.finish())
    }

    /// A tree as a document. An entity without usage is one whose usage is not known.
    pub fn of(tree: &ShareTree) -> Self {
        let mut document = Self { usage: tree.own_usage(tree.root()), ..Self::default() };
        let mut waiting: Vec<(NodeId, Option<usize>)> =
            tree.children(tree.root()).iter().rev().map(|&child| (child, None)).collect();
        while let Some((id, parent)) = waiting.pop() {
            let (shares, usage) = (tree.shares(id), tree.own_usage(id));
            document.nodes.push(TreeNode {
                name: tree.name_alone(id).to_owned(),
                parent,
                partition: tree.partition(id).map(str::to_owned),
                shares: match shares {
                    Shares::Count(count) => NodeShares::Count(count),
                    Shares::Parent => NodeShares::Parent,
                },
                usage: (usage != 0.0).then_some(usage),
                kind: if tree.kind(id) == Kind::Entity { NodeKind::User } else { NodeKind::Account },
            });
            let here = document.nodes.len() - 1;
            waiting.extend(tree.children(id).iter().rev().map(|&child| (child, Some(here))));
        }
        document
    }

    fn lines(&self) -> Result<Vec<GroupLine>, PlantError> {
        let mut names = std::collections::HashSet::from([TREE_ROOT.to_owned()]);
        let lines = self.nodes.iter().enumerate().map(|(index, node)| {
            let shares = match node.shares {
                NodeShares::Count(shares) => shares,
                NodeShares::Parent => return Err(PlantError::SharesOfParent(node.full_name())),
            };
            let name = node.full_name();
            if !names.insert(name.clone()) {
                return Err(PlantError::Duplicate(name));
            }
            let too_many = |_| PlantError::Shares { name: node.full_name(), shares };
            let parent = node.parent.and_then(|parent| self.nodes.get(parent));
            Ok(GroupLine {
                name,
                cgroup: index as i32 + 10,
                parent: parent.map_or_else(|| TREE_ROOT.to_owned(), |parent| parent.name.clone()),
                shares: i32::try_from(shares).map_err(too_many)?,
                line: index + 1,
            })
        });
        lines.collect()
    }

    fn records(&self) -> Vec<UsageRecord> {
        let entities = self.nodes.iter().enumerate().filter(|(index, _)| !self.is_group(*index));
        let records = entities
            .filter_map(|(offset, node)| Some(UsageRecord { entity: node.full_name(), usage: node.usage?, offset }));
        records.collect()
    }

    /// Whether anything hangs below the node. Children stand right behind their parent.
    fn is_group(&self, index: usize) -> bool {
        self.nodes.get(index + 1).is_some_and(|next| next.parent == Some(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::FairShare;
    use crate::fairshare::tree_document::read_tree;

    const PP718: &str = r#"{"children":[{"name":"group1","shares":40,"children":[{"name":"Bob","shares":50,"usage":100},
        {"name":"Cathy","shares":50,"usage":100}]},{"name":"group2","shares":60,"children":[{"name":"Suzy","shares":60},
        {"name":"Scott","shares":40,"usage":1000}]}]}"#;

    fn factor(rules: Rules, entity: &str) -> String {
        let tree = read_tree("tree.json", PP718.as_bytes()).unwrap().plant(rules, ["Bob"]).unwrap();
        format!("{:.6}", tree.shares_of(entity).unwrap().fairshare_factor)
    }

    #[test]
    fn the_documents_example_under_both_rules() {
        assert_eq!(
            (factor(Rules::Documented, "Bob"), factor(Rules::Documented, "Suzy")),
            ("0.648420".into(), "0.381859".into())
        );
        assert_eq!(
            (factor(Rules::Scheduler, "Bob"), factor(Rules::Scheduler, "Suzy")),
            ("0.647718".into(), "0.381553".into())
        );
    }

    #[test]
    fn what_the_files_cannot_say_is_an_error() {
        let plant = |text: &str| read_tree("t", text.as_bytes()).unwrap().plant(Rules::Scheduler, ["x"]).unwrap_err();
        let twice = r#"{"children":[{"name":"a","shares":1},{"name":"a","shares":1}]}"#;
        assert_eq!(plant(twice), PlantError::Duplicate("a".into()));
        let parent = r#"{"children":[{"name":"a","shares":"parent"}]}"#;
        assert_eq!(plant(parent), PlantError::SharesOfParent("a".into()));
    }
}
