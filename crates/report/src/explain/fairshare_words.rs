//! What fair share does to the place of a job, in words.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

use job_sort_formula::fairshare::NodeId;
use job_sort_formula::jobs::InputOrigin;
use job_sort_formula::schema::FairshareInput;
use jsf_site::{Against, Cause, Explanation, PolicyName, PolicyShares};

use crate::explain::ExplainReport;
use crate::explain::sentence::{counted, listed, moves, side, significant};

/// The multiples of a share that count as on target.
const ON_TARGET: Range<f64> = 0.95..1.05;
/// The most siblings, and the most levels, that are named with their numbers.
const MAX_SIBLINGS: usize = 3;
const MAX_LEVELS: usize = 2;

/// What the fair-share numbers of a job do to its place, and what they are called. `None` if they do not come from the tree.
pub(super) fn fairshare_words(
    report: &ExplainReport<'_>,
    job: &Explanation,
    cause: &Cause,
) -> Option<(String, &'static str)> {
    let shares = report.explanations.shares.as_ref()?;
    let node = *job.path.last()?;
    let numbers = shares.assessed.shares().get(node)?;
    let is_of_tree = |name: &String| {
        job.inputs.iter().any(|input| input.name == *name && input.origin == InputOrigin::FairShareTree)
    };
    if !cause.inputs.iter().all(is_of_tree) {
        return None;
    }
    let has = |wanted| cause.inputs.iter().any(|name| FairshareInput::from_name(name) == Some(wanted));
    let (has_factor, has_perc) = (has(FairshareInput::Factor), has(FairshareInput::Perc));
    let has_usage = has_factor || has(FairshareInput::TreeUsage);
    let entity = report.table().entity(job.row);
    let compare = |input| Comparison::new(report, shares, job, cause, input);
    let percent = |part: f64| short(part * 100.0);
    if report.explanations.lacks_usage || !has_usage {
        let unknown = if report.explanations.lacks_usage { "the usage is unknown, and " } else { "" };
        let (share, comparison) = (percent(numbers.fairshare_perc), compare(FairshareInput::Perc));
        return Some((format!("{unknown}`{entity}` has a share of {share} %{comparison}"), "the share"));
    }
    if !has_factor && !has_perc {
        let (usage, comparison) = (percent(numbers.fairshare_tree_usage), compare(FairshareInput::TreeUsage));
        return Some((format!("the usage that counts for `{entity}` is {usage} % of all{comparison}"), "the usage"));
    }
    let comparison = compare(FairshareInput::Factor);
    let special = match shares.policy {
        PolicyName::FairTree | PolicyName::WeightedWalk if has_factor => level_words(shares, &job.path, &comparison),
        PolicyName::TicketBased if has_factor => tickets_words(shares, node, entity),
        _ => None,
    };
    let words = special.unwrap_or_else(|| usage_words(shares, node, entity));
    let factor = match numbers.fairshare_factor {
        small if small < 0.005 => significant(small),
        factor => format!("{factor:.2}"),
    };
    Some((format!("{words} (factor {factor}{comparison})"), "that"))
}

/// How a number of the entity of a job compares with that of others.
struct Comparison {
    is_higher: bool,
    /// The entities on the other side of it, of the jobs that the cause moves the job past.
    entities: BTreeSet<NodeId>,
    /// How many jobs are on the other side, and where they are; empty if there are none.
    those: String,
}

impl Comparison {
    fn new(
        report: &ExplainReport<'_>,
        shares: &PolicyShares,
        job: &Explanation,
        cause: &Cause,
        input: FairshareInput,
    ) -> Self {
        // the formula gets six decimals
        let number = |node: NodeId| {
            let numbers = shares.assessed.shares().get(node)?;
            let number = match input {
                FairshareInput::Perc => numbers.fairshare_perc,
                FairshareInput::TreeUsage => numbers.fairshare_tree_usage,
                FairshareInput::Factor => numbers.fairshare_factor,
            };
            Some((number * 1e6).round())
        };
        let own = job.path.last().and_then(|&node| number(node));
        let order = report.queue.ranking.order();
        let rows: Vec<(usize, bool)> = match cause.against {
            Against::Median => order.iter().map(|&row| (row, true)).collect(),
            _ => cause.others.iter().filter_map(|other| Some((other.row?, moves(cause, other)))).collect(),
        };
        let compared = rows.iter().filter_map(|&(row, moves)| {
            let node = shares.node(report.table().entity(row))?;
            Some((node, moves, number(node).partial_cmp(&own)?))
        });
        let compared: Vec<(NodeId, bool, Ordering)> = compared.collect();
        let count = |side| compared.iter().filter(|(_, moves, order)| *moves && *order == side).count();
        let is_higher = count(Ordering::Less) >= count(Ordering::Greater);
        let other_side = if is_higher { Ordering::Less } else { Ordering::Greater };
        let beyond = || compared.iter().filter(|(.., order)| *order == other_side);
        let those = match (beyond().count(), side(cause)) {
            (0, _) => String::new(),
            (count, Some(side)) => counted(count, rows.len(), side),
            (count, None) => format!("{count} of the {} jobs", rows.len()),
        };
        let entities = beyond().filter(|(_, moves, _)| *moves).map(|(node, ..)| *node).collect();
        Self { is_higher, entities, those }
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.those.as_str(), self.is_higher) {
            ("", _) => Ok(()),
            (those, true) => write!(out, ", higher than that of {those}"),
            (those, false) => write!(out, ", lower than that of {those}"),
        }
    }
}

/// The usage of an entity against its share, both as parts of the whole tree: its own, and the one that counts.
fn usage_words(shares: &PolicyShares, node: NodeId, entity: &str) -> String {
    let tree = shares.assessed.tree();
    let Some((own, effective)) = usage_by_share(shares, node) else { return format!("`{entity}` has no share") };
    let group = if shares.policy == PolicyName::Pbs { "group" } else { "account" };
    let above = tree.parent(node).filter(|&above| above != tree.root());
    let above = above.and_then(|above| Some((tree.name(above), usage_by_share(shares, above)?.0)));
    let side = |ratio: f64| (ratio >= ON_TARGET.start, ratio >= ON_TARGET.end);
    match above {
        _ if multiple(own) == multiple(effective) => format!("`{entity}` has used {}", of_share(own)),
        Some((name, usage)) if side(own) != side(effective) && side(usage) == side(effective) => format!(
            "`{entity}` itself has used {}; its {group} `{name}` has used {}, which counts for `{entity}` too",
            of_share(own),
            of_share(usage)
        ),
        _ => {
            format!("`{entity}` has used {}, {} with what counts from its {group}s", of_share(own), multiple(effective))
        }
    }
}

/// The usage of the members of a node alone, and the one that counts with that of the groups above, both divided by its
/// share: 1 on target. `None` without shares.
fn usage_by_share(shares: &PolicyShares, node: NodeId) -> Option<(f64, f64)> {
    let (tree, numbers) = (shares.assessed.tree(), shares.assessed.shares());
    let found = numbers.get(node)?;
    let own = match numbers.association(node) {
        Some(association) => association.norm_usage.unwrap_or(0.0),
        None => tree.usage(node) / tree.usage(tree.root()),
    };
    let ratio = |usage: f64| if usage.is_finite() { usage / found.fairshare_perc } else { 0.0 };
    (found.fairshare_perc > 0.0).then(|| (ratio(own), ratio(found.fairshare_tree_usage)))
}

/// `2.4 times`, `40 %`.
fn multiple(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.005 => "almost nothing".to_owned(),
        ratio if ratio < ON_TARGET.end => format!("{:.0} %", ratio * 100.0),
        ratio if (1.95..2.05).contains(&ratio) => "twice".to_owned(),
        ratio => format!("{} times", short(ratio)),
    }
}

/// `2.4 times its share`, `only 40 % of its share`, `its share`.
fn of_share(ratio: f64) -> String {
    match multiple(ratio) {
        _ if ON_TARGET.contains(&ratio) => "its share".to_owned(),
        multiple if multiple.ends_with('%') => format!("only {multiple} of its share"),
        multiple if ratio < ON_TARGET.start => format!("{multiple} of its share"),
        multiple => format!("{multiple} its share"),
    }
}

/// The part of all tickets that an entity gets.
fn tickets_words(shares: &PolicyShares, node: NodeId, entity: &str) -> Option<String> {
    let tickets = |node: NodeId| shares.assessed.shares().association(node)?.tickets;
    let part = tickets(node)? / tickets(shares.assessed.tree().root())?;
    Some(format!("`{entity}` gets {} % of all tickets", short(part * 100.0)))
}

/// The levels of the tree at which the path of an entity parts from those of the others that it is compared with. There
/// these policies decide: by the shares of each sibling divided by its usage, both as parts of those of the siblings.
fn level_words(shares: &PolicyShares, path: &[NodeId], comparison: &Comparison) -> Option<String> {
    let level = |node: NodeId| shares.assessed.shares().association(node)?.level_fs;
    // the members of a `FairShare=parent` account compete in the level above; a user with it is before all others
    let competing = |path: Vec<NodeId>| -> Vec<NodeId> {
        let last = path.last().copied();
        path.into_iter().filter(|&node| level(node).is_some() || Some(node) == last).collect()
    };
    let level = |node: NodeId| level(node).unwrap_or(f64::INFINITY);
    let own_path = competing(path.to_vec());
    let mut siblings = vec![BTreeSet::new(); own_path.len()];
    for &entity in &comparison.entities {
        let other_path = competing(shares.path(entity));
        let mut pairs = own_path.iter().zip(other_path).enumerate();
        if let Some((depth, (&own, other))) = pairs.find(|(_, (own, other))| *own != other)
            && if comparison.is_higher { level(own) >= level(other) } else { level(own) <= level(other) }
        {
            siblings[depth].insert(other);
        }
    }
    let levels = own_path.iter().zip(siblings).filter(|(_, others)| !others.is_empty()).take(MAX_LEVELS);
    let words: Vec<String> = levels
        .map(|(&own, others)| {
            let others = others.into_iter().map(|other| (shares.assessed.tree().name(other), level(other)));
            let whose = node_words(shares, own, path);
            sibling_words(shares.policy, &whose, level(own), others.collect(), comparison.is_higher)
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", and "))
}

/// A node on the path to an entity.
fn node_words(shares: &PolicyShares, node: NodeId, path: &[NodeId]) -> String {
    let name = |node: NodeId| shares.assessed.tree().name(node);
    match path {
        [.., entity] if *entity == node => format!("`{}`", name(node)),
        [.., account, entity] if *account == node => format!("`{}`, the account of `{}`,", name(node), name(*entity)),
        [.., entity] => format!("`{}`, an account above `{}`,", name(node), name(*entity)),
        [] => String::new(),
    }
}

/// `anna has LevelFS 0.71, less than geo with 1.20 and edu with 4.00`, the nearest first.
fn sibling_words(policy: PolicyName, whose: &str, own: f64, mut others: Vec<(&str, f64)>, is_higher: bool) -> String {
    others.sort_by(|(_, left), (_, right)| if is_higher { right.total_cmp(left) } else { left.total_cmp(right) });
    let two_decimals = |level: f64| format!("{level:.2}");
    let needs_digits = |level: f64| level < 0.095 || level != own && two_decimals(level) == two_decimals(own);
    let is_exact = needs_digits(own) || others.iter().any(|(_, level)| needs_digits(*level));
    let shown = |level: f64| match level {
        f64::INFINITY => "infinity".to_owned(),
        level if is_exact => significant(level),
        level => two_decimals(level),
    };
    let than = match (is_higher, others.iter().any(|(_, level)| *level == own)) {
        (true, false) => "more than",
        (true, true) => "no less than",
        (false, false) => "less than",
        (false, true) => "no more than",
    };
    let named = others.iter().take(MAX_SIBLINGS).map(|(name, level)| format!("`{name}` with {}", shown(*level)));
    let more = others.len().saturating_sub(MAX_SIBLINGS);
    let others: Vec<String> = named.chain((more > 0).then(|| format!("{more} more"))).collect();
    let number = if policy == PolicyName::FairTree { "LevelFS" } else { "the weight" };
    format!("{whose} has {number} {}, {than} {}", shown(own), listed(&others))
}

/// A number with at most one decimal.
fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
