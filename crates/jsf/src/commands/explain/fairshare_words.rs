//! What fair share does to the place of a job, in words.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

use job_sort_formula::fairshare::NodeId;
use job_sort_formula::jobs::InputOrigin;
use job_sort_formula::rank::fairshare_number;
use job_sort_formula::schema::FairshareInput;
use jsf_site::{Against, Cause, Explanation, PolicyName, PolicyShares};

use crate::commands::explain::answer::ExplainReport;
use crate::commands::explain::sentence::{counted, moves, side};
use crate::view::words::{five_digits, listed};

/// The multiples of a share that count as on target.
const ON_TARGET: Range<f64> = 0.95..1.05;
/// The most siblings, and the most levels, that are named with their numbers.
const MAX_SIBLINGS: usize = 3;
const MAX_LEVELS: usize = 2;

/// What the fair-share numbers of a job do to its place, and what they are called. `None` if they
/// do not come from the tree.
pub(crate) fn fairshare_words(
    report: &ExplainReport<'_>,
    job: &Explanation,
    cause: &Cause,
) -> Option<(String, &'static str)> {
    let shares = report.explanations.shares.as_ref()?;
    let node = *job.path.last()?;
    let numbers = shares.assessed.shares().get(node)?;
    let is_from_tree = cause.inputs.iter().all(|name| {
        job.inputs
            .iter()
            .any(|input| input.name == *name && input.origin == InputOrigin::FairShareTree)
    });
    if !is_from_tree {
        return None;
    }
    let read: Vec<FairshareInput> = cause
        .inputs
        .iter()
        .filter_map(|name| FairshareInput::from_name(name))
        .collect();
    let has_factor = read.contains(&FairshareInput::Factor);
    let entity = report.table().entity(job.row);
    if report.explanations.lacks_usage || !(has_factor || read.contains(&FairshareInput::TreeUsage))
    {
        let unknown = if report.explanations.lacks_usage {
            "the usage is unknown, and "
        } else {
            ""
        };
        let share = percent(numbers.fairshare_perc);
        let comparison = Comparison::new(report, shares, job, cause, FairshareInput::Perc);
        return Some((
            format!("{unknown}`{entity}` has a share of {share} %{comparison}"),
            "the share",
        ));
    }
    if !has_factor && !read.contains(&FairshareInput::Perc) {
        let usage = percent(numbers.fairshare_tree_usage);
        let comparison = Comparison::new(report, shares, job, cause, FairshareInput::TreeUsage);
        return Some((
            format!("the usage that counts for `{entity}` is {usage} % of all{comparison}"),
            "the usage",
        ));
    }
    let comparison = Comparison::new(report, shares, job, cause, FairshareInput::Factor);
    let special = match shares.policy {
        PolicyName::FairTree | PolicyName::WeightedWalk if has_factor => {
            level_words(shares, &job.path, &comparison)
        }
        PolicyName::TicketBased if has_factor => tickets_words(shares, node, entity),
        _ => None,
    };
    let words = special.unwrap_or_else(|| usage_words(shares, node, entity));
    let factor = match numbers.fairshare_factor {
        small if small < 0.005 => five_digits(small),
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
        let own = job
            .path
            .last()
            .and_then(|&node| millionths(shares, node, input));
        let order = report.queue.ranking.order();
        let rows: Vec<(usize, bool)> = match cause.against {
            Against::Median => order.iter().map(|&row| (row, true)).collect(),
            _ => cause
                .others
                .iter()
                .filter_map(|other| Some((other.row?, moves(cause, other))))
                .collect(),
        };
        let compared = rows.iter().filter_map(|&(row, moves)| {
            let node = shares.node(report.table().entity(row))?;
            Some((
                node,
                moves,
                millionths(shares, node, input).partial_cmp(&own)?,
            ))
        });
        let compared: Vec<(NodeId, bool, Ordering)> = compared.collect();
        let moving = compared.iter().filter(|(_, moves, _)| *moves);
        let lower = moving.clone().filter(|(.., order)| order.is_lt()).count();
        let is_higher = lower >= moving.filter(|(.., order)| order.is_gt()).count();
        let other_side = if is_higher {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        let beyond = compared.iter().filter(|(.., order)| *order == other_side);
        let those = match (beyond.clone().count(), side(cause)) {
            (0, _) => String::new(),
            (count, Some(side)) => counted(count, rows.len(), side),
            (count, None) => format!("{count} of the {} jobs", rows.len()),
        };
        let entities = beyond
            .filter(|(_, moves, _)| *moves)
            .map(|(node, ..)| *node)
            .collect();
        Self {
            is_higher,
            entities,
            those,
        }
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

/// A number of a node in millionths, because a formula gets six decimals.
fn millionths(shares: &PolicyShares, node: NodeId, input: FairshareInput) -> Option<f64> {
    let numbers = shares.assessed.shares().get(node)?;
    Some((fairshare_number(input, &numbers) * 1e6).round())
}

/// The usage of an entity against its share, both as parts of the whole tree: its own, and the one
/// that counts.
fn usage_words(shares: &PolicyShares, node: NodeId, entity: &str) -> String {
    let tree = shares.assessed.tree();
    let Some((own, effective)) = usage_by_share(shares, node) else {
        return format!("`{entity}` has no share");
    };
    let group = if shares.policy == PolicyName::Pbs {
        "group"
    } else {
        "account"
    };
    let above = tree.parent(node).filter(|&above| above != tree.root());
    let above = above.and_then(|above| Some((tree.name(above), usage_by_share(shares, above)?.0)));
    match above {
        _ if multiple(own) == multiple(effective) => {
            format!("`{entity}` has used {}", of_share(own))
        }
        Some((name, usage))
            if on_target(own) != on_target(effective)
                && on_target(usage) == on_target(effective) =>
        {
            format!(
                "`{entity}` itself has used {}; its {group} `{name}` has used {}, which counts for `{entity}` too",
                of_share(own),
                of_share(usage)
            )
        }
        _ => {
            format!(
                "`{entity}` has used {}, {} with what counts from its {group}s",
                of_share(own),
                multiple(effective)
            )
        }
    }
}

/// The usage of the members of a node alone, and the one that counts with that of the groups above,
/// both divided by its share: 1 on target. `None` without shares.
fn usage_by_share(shares: &PolicyShares, node: NodeId) -> Option<(f64, f64)> {
    let tree = shares.assessed.tree();
    let numbers = shares.assessed.shares();
    let found = numbers.get(node)?;
    let own = match numbers.association(node) {
        Some(association) => association.norm_usage.unwrap_or(0.0),
        None => tree.usage(node) / tree.usage(tree.root()),
    };
    let [own, effective] = [own, found.fairshare_tree_usage].map(|usage| {
        if usage.is_finite() {
            usage / found.fairshare_perc
        } else {
            0.0
        }
    });
    (found.fairshare_perc > 0.0).then_some((own, effective))
}

/// Whether a multiple of a share is below the target, on it or above.
fn on_target(ratio: f64) -> Ordering {
    if ON_TARGET.contains(&ratio) {
        Ordering::Equal
    } else {
        ratio.total_cmp(&ON_TARGET.start)
    }
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
    let numbers = shares.assessed.shares();
    let all = numbers
        .association(shares.assessed.tree().root())?
        .tickets?;
    Some(format!(
        "`{entity}` gets {} % of all tickets",
        percent(numbers.association(node)?.tickets? / all)
    ))
}

/// The levels of the tree at which the path of an entity leaves those of the others that it is
/// compared with. The policies compare the siblings there, by the shares of each divided by its
/// usage, both as parts of those of all siblings.
fn level_words(shares: &PolicyShares, path: &[NodeId], comparison: &Comparison) -> Option<String> {
    let own_path = competing(shares, path);
    let mut siblings = vec![BTreeSet::new(); own_path.len()];
    for &entity in &comparison.entities {
        let other_path = competing(shares, &shares.path(entity));
        let mut pairs = own_path.iter().zip(other_path).enumerate();
        if let Some((depth, (&own, other))) = pairs.find(|(_, (own, other))| *own != other)
            && let [higher, lower] = if comparison.is_higher {
                [own, other]
            } else {
                [other, own]
            }
            && level(shares, higher) >= level(shares, lower)
        {
            siblings[depth].insert(other);
        }
    }
    let levels = own_path
        .iter()
        .zip(siblings)
        .filter(|(_, others)| !others.is_empty())
        .take(MAX_LEVELS);
    let words: Vec<String> = levels
        .map(|(&own, others)| {
            let others = others
                .into_iter()
                .map(|other| (shares.assessed.tree().name(other), level(shares, other)));
            let whose = node_words(shares, own, path);
            sibling_words(
                shares.policy,
                &whose,
                level(shares, own),
                others.collect(),
                comparison.is_higher,
            )
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", and "))
}

/// The nodes of a path that compete with their siblings. The members of a `FairShare=parent`
/// account compete in the level above; a user with it precedes all others.
fn competing(shares: &PolicyShares, path: &[NodeId]) -> Vec<NodeId> {
    let nodes = path.iter().copied();
    nodes
        .filter(|&node| level_fs(shares, node).is_some() || path.last() == Some(&node))
        .collect()
}

fn level(shares: &PolicyShares, node: NodeId) -> f64 {
    level_fs(shares, node).unwrap_or(f64::INFINITY)
}

fn level_fs(shares: &PolicyShares, node: NodeId) -> Option<f64> {
    shares.assessed.shares().association(node)?.level_fs
}

/// A node on the path to an entity.
fn node_words(shares: &PolicyShares, node: NodeId, path: &[NodeId]) -> String {
    let tree = shares.assessed.tree();
    let name = tree.name(node);
    match path {
        [.., entity] if *entity == node => format!("`{name}`"),
        [.., account, entity] if *account == node => {
            format!("`{name}`, the account of `{}`,", tree.name(*entity))
        }
        [.., entity] => format!("`{name}`, an account above `{}`,", tree.name(*entity)),
        [] => String::new(),
    }
}

/// `anna has LevelFS 0.71, less than geo with 1.20 and edu with 4.00`, the nearest first.
fn sibling_words(
    policy: PolicyName,
    whose: &str,
    own: f64,
    mut others: Vec<(&str, f64)>,
    is_higher: bool,
) -> String {
    others.sort_by(|(_, left), (_, right)| {
        if is_higher {
            right.total_cmp(left)
        } else {
            left.total_cmp(right)
        }
    });
    let is_exact =
        needs_digits(own, own) || others.iter().any(|(_, level)| needs_digits(*level, own));
    let than = match (is_higher, others.iter().any(|(_, level)| *level == own)) {
        (true, false) => "more than",
        (true, true) => "no less than",
        (false, false) => "less than",
        (false, true) => "no more than",
    };
    let named = others
        .iter()
        .take(MAX_SIBLINGS)
        .map(|(name, level)| format!("`{name}` with {}", shown_level(*level, is_exact)));
    let more = others.len().saturating_sub(MAX_SIBLINGS);
    let others: Vec<String> = named
        .chain((more > 0).then(|| format!("{more} more")))
        .collect();
    let number = if policy == PolicyName::FairTree {
        "LevelFS"
    } else {
        "the weight"
    };
    format!(
        "{whose} has {number} {}, {than} {}",
        shown_level(own, is_exact),
        listed(&others)
    )
}

/// Whether two decimals do not show a level, or do not distinguish it from another one.
fn needs_digits(level: f64, other: f64) -> bool {
    level < 0.095 || level != other && format!("{level:.2}") == format!("{other:.2}")
}

fn shown_level(level: f64, is_exact: bool) -> String {
    match level {
        f64::INFINITY => "infinity".to_owned(),
        level if is_exact => five_digits(level),
        level => format!("{level:.2}"),
    }
}

/// A part of a whole in per cent.
fn percent(part: f64) -> String {
    short(part * 100.0)
}

/// A number with at most one decimal.
fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
