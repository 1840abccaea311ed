//! Names that `sacctmgr load` can hold, each only once.

use std::collections::HashMap;

use crate::fairshare::unique_names::{UniqueNames, cut};
use crate::slurm::load_file::LoadLoss;
use crate::slurm::tree::{AssociationKind, AssociationTree};

/// The longest name that Slurm's database holds, in bytes.
const LONGEST: usize = 255;

/// The name without what would end it or the line, or start an option: such a character becomes `_`.
pub(super) fn written(name: &str) -> String {
    let text: String = name
        .trim()
        .chars()
        .map(|c| if c.is_control() || matches!(c, '\'' | '"' | '\\' | '#' | '=') { '_' } else { c })
        .collect();
    if text.is_empty() { "_".to_owned() } else { cut(&text, LONGEST).to_owned() }
}

/// What the accounts are called in the file.
pub(super) struct Accounts<'t> {
    written: HashMap<&'t str, String>,
}

impl<'t> Accounts<'t> {
    /// Slurm holds accounts in lower case, and calls the top `root`.
    pub(super) fn of(tree: &'t AssociationTree, losses: &mut Vec<LoadLoss>) -> Self {
        let mut names = HashMap::from([(tree.root.as_str(), "root".to_owned())]);
        let mut taken = UniqueNames::new(str::to_ascii_lowercase, LONGEST);
        taken.take("", "root");
        for node in tree.nodes.iter().filter(|node| node.kind == AssociationKind::Account) {
            if names.contains_key(node.name.as_str()) {
                continue;
            }
            let name = taken.claim("", &written(&node.name).to_ascii_lowercase());
            if name != node.name {
                let (parent, written) = (node.parent.clone(), name.clone());
                losses.push(LoadLoss::Renamed { name: node.name.clone(), parent, written });
            }
            names.insert(&node.name, name);
        }
        Self { written: names }
    }

    pub(super) fn written<'s>(&'s self, account: &'s str) -> &'s str {
        self.written.get(account).map_or(account, String::as_str)
    }
}

/// What the users are called in the file, and which account each has first.
pub(super) struct Users<'t> {
    renamed: HashMap<usize, String>,
    kept: HashMap<usize, &'t str>,
    default_account: HashMap<&'t str, &'t str>,
}

impl<'t> Users<'t> {
    /// Slurm may hold users in lower case, so no two of an account may differ by that alone.
    pub(super) fn of(tree: &'t AssociationTree, accounts: &Accounts<'_>, losses: &mut Vec<LoadLoss>) -> Self {
        let mut users = Self { renamed: HashMap::new(), kept: HashMap::new(), default_account: HashMap::new() };
        let mut taken = UniqueNames::new(str::to_ascii_lowercase, LONGEST);
        for (index, node) in tree.nodes.iter().enumerate().filter(|(_, node)| node.kind == AssociationKind::User) {
            let is_first = !users.default_account.contains_key(node.name.as_str());
            users.default_account.entry(&node.name).or_insert(&node.parent);
            let scope = format!("{}\0{}", accounts.written(&node.parent), node.partition);
            let name = taken.claim(&scope, &written(&node.name));
            if name == node.name {
                users.kept.insert(index, &node.name);
                if is_first && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    losses.push(LoadLoss::UserCase(name));
                }
            } else {
                let (parent, written) = (node.parent.clone(), name.clone());
                losses.push(LoadLoss::Renamed { name: node.name.clone(), parent, written });
                users.renamed.insert(index, name);
            }
        }
        users
    }

    pub(super) fn written(&self, index: usize) -> &str {
        let renamed = self.renamed.get(&index).map(String::as_str);
        renamed.or_else(|| self.kept.get(&index).copied()).unwrap_or_default()
    }

    pub(super) fn default_account(&self, user: &str) -> Option<&'t str> {
        self.default_account.get(user).copied()
    }
}
