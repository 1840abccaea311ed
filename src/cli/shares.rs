//! `jsf shares`

use std::io::Write;

use job_sort_formula::Formula;
use job_sort_formula::fairshare::decay::{HalfLife, IntervalDecay};
use job_sort_formula::fairshare::{Assessed, NodeId, ShareTree};
use job_sort_formula::pbs::files::resource_group_written::resource_group_written;
use job_sort_formula::report::shares::{PolicyView, write_human, write_json};
use job_sort_formula::slurm::AssociationTree;
use job_sort_formula::slurm::load_file::load_file;

use super::args::{PolicyName, SharesArgs, SharesFormatName};
use super::policy::Choice;
use super::site::Site;
use super::tree::{Tree, find, waits};
use super::{CliError, Outcome, remark};

pub(super) fn run(arguments: &SharesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let mut site = Site::read(&arguments.site)?;
    let choice = Choice::read(&arguments.site)?;
    let read = Tree::read(&arguments.site, &site.config)?;
    let read = read.ok_or_else(|| CliError::usage("no tree: give --sched-priv DIR or --tree FILE"))?;
    if matches!(arguments.format, SharesFormatName::Sacctmgr | SharesFormatName::ResourceGroup) {
        return export(&read.share_tree()?, arguments.format, out);
    }
    let queue = waiting_entities(&mut site)?;
    let mut assessed = Vec::new();
    for name in choice.names() {
        let entities = queue.iter().map(|(entity, _)| entity.clone());
        let mut tree = match name {
            PolicyName::Pbs => read.pbs(choice.rules, entities)?.tree().clone(),
            _ => read.share_tree()?,
        };
        change(&mut tree, name, arguments, &site, &choice)?;
        let waiting = active(&tree, arguments, &queue)?;
        assessed.push((name, Assessed::new(tree, &choice.policy(name, &waiting, read.release()))));
    }
    let shown: Vec<Vec<NodeId>> =
        assessed.iter().map(|(_, one)| nodes(one.tree(), arguments)).collect::<Result<_, _>>()?;
    let views: Vec<PolicyView<'_>> = assessed
        .iter()
        .zip(&shown)
        .map(|((name, one), nodes)| PolicyView {
            name: name.word(),
            tree: one.tree(),
            shares: one.shares(),
            is_pbs: *name == PolicyName::Pbs,
            nodes,
        })
        .collect();
    match arguments.format {
        SharesFormatName::Json => write_json(&views, out)?,
        _ => write_human(&views, out)?,
    }
    Ok(Outcome::Fine)
}

/// Writes the tree as the other scheduler's file, and says what is lost on the way.
fn export(tree: &ShareTree, format: SharesFormatName, out: &mut impl Write) -> Result<Outcome, CliError> {
    if format == SharesFormatName::ResourceGroup {
        let written = resource_group_written(tree);
        written.losses.iter().for_each(|loss| remark("warning", loss));
        out.write_all(written.text.as_ref())?;
    } else {
        let written = load_file(&AssociationTree::of(tree), "cluster");
        written.losses.iter().for_each(|loss| remark("warning", loss));
        out.write_all(written.text.as_ref())?;
    }
    Ok(Outcome::Fine)
}

/// The entities that the queue names, and whether a job of theirs waits.
fn waiting_entities(site: &mut Site<'_>) -> Result<Vec<(String, bool)>, CliError> {
    let nothing = Formula::parse("0").map_err(CliError::content)?;
    let Some(table) = site.read_queue(&nothing)? else { return Ok(Vec::new()) };
    let mut entities: Vec<(String, bool)> = table.entities().iter().map(|entity| (entity.to_string(), false)).collect();
    for row in (0..table.len()).filter(|&row| waits(&table, row)) {
        entities[table.entity_index(row)].1 = true;
    }
    Ok(entities)
}

/// What `--decay` and `--charge` ask: what if.
fn change(
    tree: &mut ShareTree,
    name: PolicyName,
    arguments: &SharesArgs,
    site: &Site<'_>,
    choice: &Choice,
) -> Result<(), CliError> {
    if let Some(seconds) = arguments.decay {
        if name == PolicyName::Pbs {
            let decay = IntervalDecay::new(site.config.fairshare_decay_factor, site.config.fairshare_decay_time);
            tree.decay_with(|usage| decay.decayed(usage, seconds));
        } else {
            let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
            tree.decay(HalfLife::new(choice.conf.decay_half_life).factor(seconds));
        }
    }
    for charge in &arguments.charge {
        let node = find(tree, &charge.name)?;
        tree.charge(node, charge.amount);
    }
    Ok(())
}

fn active(tree: &ShareTree, arguments: &SharesArgs, queue: &[(String, bool)]) -> Result<Vec<NodeId>, CliError> {
    if !arguments.active.is_empty() {
        return arguments.active.iter().map(|name| find(tree, name)).collect();
    }
    let waiting = queue.iter().filter(|(_, waits)| *waits);
    Ok(waiting.filter_map(|(entity, _)| find(tree, entity).ok()).collect())
}

/// The nodes to show: all, depth first in the tree's order, or one entity and those above it.
fn nodes(tree: &ShareTree, arguments: &SharesArgs) -> Result<Vec<NodeId>, CliError> {
    if let Some(name) = &arguments.entity {
        let node = find(tree, name)?;
        let mut path: Vec<NodeId> = tree.ancestors(node).collect();
        path.reverse();
        path.retain(|&above| above != node);
        path.push(node);
        return Ok(if arguments.format == SharesFormatName::Json { vec![node] } else { path });
    }
    let mut shown = Vec::with_capacity(tree.len());
    let mut waiting = vec![tree.root()];
    while let Some(node) = waiting.pop() {
        shown.push(node);
        waiting.extend(tree.children(node).iter().rev());
    }
    Ok(shown)
}
