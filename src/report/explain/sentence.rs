//! Why a job has its place, in one sentence.

use std::ops::Range;

use crate::fairshare::NodeId;
use crate::pbs::number_format;
use crate::python::Value;
use crate::rank::ScoreError;
use crate::rank::explain::{Influence, nearest_double};
use crate::report::explain::ExplainReport;
use crate::report::waiting_time;
use crate::schema::FairshareInput;
use crate::site::{Explanation, PolicyName, PolicyShares};

/// The multiples of a share that count as on target.
const ON_TARGET: Range<f64> = 0.95..1.05;

/// Why a job has its place, in one sentence.
pub(super) fn sentence(report: &ExplainReport<'_>, job: &Explanation) -> String {
    let id = report.table().id(job.row);
    let place = match (job.rank, report.excluded(job)) {
        (Some(rank), _) => format!("`{id}` is {} of {}", ordinal(rank), report.considered()),
        (None, Some((_, reason))) => match reason.strip_prefix("not considered ") {
            Some(state) => format!("`{id}` is not considered {state}"),
            None => format!("`{id}` is not considered: {reason}"),
        },
        (None, None) => format!("`{id}` is not considered"),
    };
    let separator = if job.rank.is_some() { ": " } else { "; " };
    let reasons = match (&job.result, job.rank) {
        (None, _) => None,
        (Some(Err(error)), _) => Some(failure(report, job, error)),
        (Some(Ok(_)), None) => job.score.map(|score| format!("its value is {}", number_format::logged(score))),
        (Some(Ok(_)), Some(rank)) => reasons(report, job, rank),
    };
    reasons.map_or_else(|| place.clone(), |reasons| format!("{place}{separator}{reasons}"))
}

fn failure(report: &ExplainReport<'_>, job: &Explanation, error: &ScoreError) -> String {
    let text = error.span().slice(report.queue.program.expr().text());
    let value =
        job.score.map(|score| format!(", so its value is {}", number_format::logged(score))).unwrap_or_default();
    let others = match job.same_error.len() {
        0 => String::new(),
        1 => "; 1 other job has the same error".to_owned(),
        count => format!("; {count} other jobs have the same error"),
    };
    format!("`{text}` fails with \"{error}\"{value}{others}")
}

/// What helps the job most, and what costs it most.
fn reasons(report: &ExplainReport<'_>, job: &Explanation, rank: usize) -> Option<String> {
    let helps = job.influences.iter().find(|influence| influence.effect > 0.0);
    let costs = job.influences.iter().find(|influence| influence.effect < 0.0);
    let is_ahead = rank * 2 <= report.considered();
    let words = |influence: &Influence| words(report, job, influence);
    Some(match (helps.map(words), costs.map(words)) {
        (Some(helps), Some(costs)) if is_ahead => format!("{helps}, but {costs}"),
        (Some(helps), Some(costs)) => format!("{costs}, although {helps}"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => return without_effect(report, job),
    })
}

/// What decides where no input differs from the median in its effect.
fn without_effect(report: &ExplainReport<'_>, job: &Explanation) -> Option<String> {
    let uses_shares = job.influences.iter().any(is_fairshare);
    let usage = fairshare_words(report, job, None).filter(|_| uses_shares);
    usage.or_else(|| {
        let others = tied(report, job);
        let nearest = job.above.first().or(job.below.first()).filter(|_| others > 0)?;
        let jobs = if others == 1 { "1 other job has".to_owned() } else { format!("{others} other jobs have") };
        Some(format!("{jobs} the same value, and {} decides between them", nearest.reason))
    })
}

/// The number of other considered jobs with the same value.
pub(super) fn tied(report: &ExplainReport<'_>, job: &Explanation) -> usize {
    let ranking = &report.queue.ranking;
    let value = |row: usize| ranking.score(row).map(|score| score.value);
    ranking.order().iter().filter(|&&row| row != job.row && value(row) == value(job.row)).count()
}

fn is_fairshare(influence: &Influence) -> bool {
    influence.inputs.first().is_some_and(|name| FairshareInput::from_name(name).is_some())
}

/// An influence in words.
fn words(report: &ExplainReport<'_>, job: &Explanation, influence: &Influence) -> String {
    let helps = influence.effect > 0.0;
    let name = influence.inputs.first().map_or("", String::as_str);
    if is_fairshare(influence) {
        return fairshare_words(report, job, Some(influence.effect)).unwrap_or_else(|| plain_words(job, influence));
    }
    match (name, influence.values.first().and_then(nearest_double)) {
        ("eligible_time", Some(waited)) => waiting_words(report, job, waited, helps),
        ("queue_priority", Some(priority)) => {
            format!("its queue `{}` has priority {priority}", report.table().queue(job.row))
        }
        _ => plain_words(job, influence),
    }
}

fn plain_words(job: &Explanation, influence: &Influence) -> String {
    let unit = |name: &String| job.inputs.iter().find(|input| input.name == *name).and_then(|input| input.unit);
    let listed = |values: &[Value]| {
        let with_unit = |(name, value): (&String, &Value)| match unit(name) {
            Some(unit) => format!("{} {unit}", value.repr()),
            None => value.repr(),
        };
        influence.inputs.iter().zip(values).map(with_unit).collect::<Vec<_>>().join(", ")
    };
    let names = influence.inputs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let (values, medians) = (listed(&influence.values), listed(&influence.medians));
    let effect = significant(influence.effect.abs());
    let verb = if influence.effect > 0.0 { "gains" } else { "costs" };
    format!("its {names} of {values} {verb} {effect} against the median of the queue ({medians})")
}

/// A number with at most five significant digits.
pub(super) fn significant(number: f64) -> String {
    if number == 0.0 || !number.is_finite() || number.abs() >= 1e9 || number.abs() < 1e-4 {
        return if number == 0.0 { "0".to_owned() } else { format!("{number:.4e}") };
    }
    let decimals = (4 - number.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn waiting_words(report: &ExplainReport<'_>, job: &Explanation, waited: f64, helps: bool) -> String {
    let order = report.queue.ranking.order();
    let Some(column) = report.table().column("eligible_time") else { return String::new() };
    let longer = order.iter().filter(|&&row| row != job.row && column.nearest_double(row) >= waited).count();
    let time = waiting_time(waited.max(0.0) as i64);
    match (helps, longer) {
        (true, 0) => format!("it waits longest ({time})"),
        (true, _) => {
            format!("it has waited {time}, longer than {} of the {} jobs", order.len() - 1 - longer, order.len())
        }
        (false, _) => format!("it has waited only {time}, less than {longer} of the {} jobs", order.len()),
    }
}

/// The usage of a node of the tree against its share: 1 on target.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// The usage of its members alone.
    own: f64,
    /// The usage that counts, with that of the groups above.
    effective: f64,
}

impl Usage {
    fn new(shares: &PolicyShares, node: NodeId) -> Option<Self> {
        let (tree, numbers) = (shares.assessed.tree(), shares.assessed.shares());
        let (own, effective, share) = if shares.policy == PolicyName::Pbs {
            let found = numbers.get(node)?;
            let own = tree.usage(node) / tree.usage(tree.root());
            (own, found.fairshare_tree_usage, found.fairshare_perc)
        } else {
            let association = numbers.association(node)?;
            (association.norm_usage?, association.effective_usage?, association.norm_shares?)
        };
        let ratio = |usage: f64| if usage.is_finite() { usage / share } else { 0.0 };
        (share > 0.0).then(|| Self { own: ratio(own), effective: ratio(effective) })
    }
}

/// `twice its share`, `only 40 % of its share`.
fn multiple(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.005 => "almost nothing of its share".to_owned(),
        ratio if ratio < ON_TARGET.start => format!("only {:.0} % of its share", ratio * 100.0),
        ratio if ratio < ON_TARGET.end => "its share".to_owned(),
        ratio if (1.95..2.05).contains(&ratio) => "twice its share".to_owned(),
        ratio => format!("{} times its share", short(ratio)),
    }
}

/// The usage of the entity against its share; the effect against the median is given, if there is one.
fn fairshare_words(report: &ExplainReport<'_>, job: &Explanation, effect: Option<f64>) -> Option<String> {
    let shares = report.explanations.shares.as_ref()?;
    let node: NodeId = *job.path.last()?;
    let entity = report.table().entity(job.row);
    let factor = shares.assessed.shares().get(node)?.fairshare_factor;
    let Some(usage) = Usage::new(shares, node) else {
        return Some(format!("`{entity}` has no share (factor {factor:.2})"));
    };
    let side = |ratio: f64| (ratio >= ON_TARGET.start, ratio >= ON_TARGET.end);
    let group = shares.assessed.tree().parent(node).filter(|&group| group != shares.assessed.tree().root());
    let group = group.and_then(|group| Some((shares.assessed.tree().name(group), Usage::new(shares, group)?)));
    let words = match group {
        _ if side(usage.own) == side(usage.effective) => format!("`{entity}` has used {}", multiple(usage.own)),
        Some((name, above)) if side(above.own) == side(usage.effective) && !ON_TARGET.contains(&usage.effective) => {
            format!(
                "`{name}`, the group of `{entity}`, has used {}, which counts for `{entity}` too",
                multiple(above.own)
            )
        }
        _ => format!("the usage that counts for `{entity}` is {}", multiple(usage.effective)),
    };
    let comparison = match effect {
        Some(effect) if effect > 0.0 && usage.effective >= ON_TARGET.start => ", less than most",
        Some(effect) if effect < 0.0 && usage.effective < ON_TARGET.end => ", more than most",
        _ => "",
    };
    Some(format!("{words}{comparison} (factor {factor:.2})"))
}

/// A number with at most one decimal.
fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// `1st`, `2nd`, `11th`.
fn ordinal(number: usize) -> String {
    let suffix = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words() {
        for (number, words) in
            [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (112, "112th"), (121, "121st")]
        {
            assert_eq!(ordinal(number), words);
        }
        for (number, words) in
            [(0.0, "0"), (-0.15351376, "-0.15351"), (20000.0, "20000"), (1.5e-7, "1.5000e-7"), (12.5, "12.5")]
        {
            assert_eq!(significant(number), words);
        }
        assert_eq!((short(2.0), short(3.24)), ("2".to_owned(), "3.2".to_owned()));
    }
}
