//! `jsf shares`

use std::io::Write;

use job_sort_formula::Site;
use job_sort_formula::fairshare::NodeId;
use job_sort_formula::fairshare::tree_document::TreeDocument;
use job_sort_formula::report::shares::{PolicyView, write_human, write_json};
use job_sort_formula::site::{PolicyName, PolicyShares, SharesRequest};
use job_sort_formula::slurm::load_file::load_file;

use super::args::{PolicyArg, SharesArgs, SharesFormatName};
use super::{CliError, Outcome, show_site, warn, warn_all};

pub(super) fn run(arguments: &SharesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = arguments.site.open_for_shares()?;
    show_site(&arguments.site, &site, arguments.format == SharesFormatName::Human);
    warn_all(site.warnings());
    if matches!(arguments.format, SharesFormatName::Sacctmgr | SharesFormatName::ResourceGroup) {
        return export(&site, arguments.format, out);
    }
    let policies = if arguments.site.policy == Some(PolicyArg::All) { PolicyName::ALL.to_vec() } else { Vec::new() };
    let request = SharesRequest {
        policies,
        active: arguments.active.clone(),
        charges: arguments.charge.iter().map(|charge| (charge.name.clone(), charge.amount)).collect(),
        decay: arguments.decay,
    };
    let shares = site.shares(&request)?;
    shares.iter().flat_map(|one| &one.notes).for_each(warn);
    let shown: Vec<Vec<NodeId>> = shares.iter().map(|one| nodes(one, arguments)).collect::<Result<_, _>>()?;
    let views = shares.iter().zip(&shown).map(|(one, nodes)| PolicyView {
        name: one.policy.as_str(),
        tree: one.assessed.tree(),
        shares: one.assessed.shares(),
        is_pbs: one.policy == PolicyName::Pbs,
        has_factors: one.has_factors,
        nodes,
    });
    let views: Vec<PolicyView<'_>> = views.collect();
    match arguments.format {
        SharesFormatName::Json => write_json(&views, out)?,
        _ => {
            let policies: Vec<String> = match shares.as_slice() {
                [_] if arguments.site.policy != Some(PolicyArg::All) => vec![site.described_policy(None)],
                all => all.iter().map(|one| site.described_policy(Some(one.policy))).collect(),
            };
            write_human(&views, &policies, &site.usage_unit(), out)?;
        }
    }
    Ok(Outcome::Fine)
}

/// The nodes to show: the whole tree, or one entity, in a table together with its path.
fn nodes(shares: &PolicyShares, arguments: &SharesArgs) -> Result<Vec<NodeId>, CliError> {
    let mut nodes = shares.nodes(arguments.entity.as_deref())?;
    if arguments.entity.is_some() && arguments.format == SharesFormatName::Json {
        nodes.drain(..nodes.len() - 1);
    }
    Ok(nodes)
}

/// Writes the tree as a scheduler's file, and warns of what the file does not preserve.
fn export(site: &Site, format: SharesFormatName, out: &mut impl Write) -> Result<Outcome, CliError> {
    if format == SharesFormatName::ResourceGroup {
        let written = site.resource_group()?;
        written.losses.iter().for_each(warn);
        out.write_all(written.text.as_ref())?;
    } else {
        let written = load_file(&TreeDocument::from_tree(&site.share_tree()?), "cluster");
        written.losses.iter().for_each(warn);
        out.write_all(written.text.as_ref())?;
    }
    Ok(Outcome::Fine)
}
