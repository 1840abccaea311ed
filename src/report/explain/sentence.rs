//! Why a job has its place, in one sentence.

use crate::fairshare::NodeId;
use crate::pbs::number_format;
use crate::python::Value;
use crate::rank::ScoreError;
use crate::rank::explain::{Influence, nearest_double};
use crate::report::explain::ExplainReport;
use crate::schema::FairshareInput;
use crate::site::{Explanation, PolicyName};

/// Why a job has its place, in one sentence.
pub(super) fn sentence(report: &ExplainReport<'_>, job: &Explanation) -> String {
    let id = report.table().id(job.row);
    let place = match job.rank {
        Some(rank) => format!("`{id}` is {} of {}", ordinal(rank), report.considered()),
        None => {
            format!("`{id}` is not considered: {}", report.excluded(job).map(|(_, reason)| reason).unwrap_or_default())
        }
    };
    match (&job.result, job.rank) {
        (None, _) => place,
        (Some(Err(error)), _) => {
            format!("{place}{} {}", if job.rank.is_some() { ":" } else { ";" }, failure(report, job, error))
        }
        (Some(Ok(_)), None) => {
            let value = job.score.map(number_format::logged).unwrap_or_default();
            format!("{place}; its value is {value}")
        }
        (Some(Ok(_)), Some(rank)) => match reasons(report, job, rank) {
            Some(reasons) => format!("{place}: {reasons}"),
            None => place,
        },
    }
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
        (None, None) => return tied(report, job),
    })
}

/// What decides between jobs of equal value.
fn tied(report: &ExplainReport<'_>, job: &Explanation) -> Option<String> {
    let nearest = job.above.first().or(job.below.first())?;
    let other = report.table().id(nearest.row);
    Some(format!(
        "its inputs are those of the median job, and its nearest neighbour is `{other}` (decided by {})",
        nearest.reason
    ))
}

/// An influence in words.
fn words(report: &ExplainReport<'_>, job: &Explanation, influence: &Influence) -> String {
    let helps = influence.effect > 0.0;
    let name = influence.inputs.first().map_or("", String::as_str);
    if FairshareInput::from_name(name).is_some() {
        return fairshare_words(report, job).unwrap_or_else(|| plain_words(influence));
    }
    match (name, influence.values.first().and_then(nearest_double)) {
        ("eligible_time", Some(waited)) => waiting_words(report, job, waited, helps),
        ("queue_priority", Some(priority)) => {
            format!("its queue `{}` has priority {priority}", report.table().queue(job.row))
        }
        _ => plain_words(influence),
    }
}

fn plain_words(influence: &Influence) -> String {
    let text = |values: &[Value]| values.iter().map(Value::repr).collect::<Vec<_>>().join(", ");
    let names = influence.inputs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let (values, medians) = (text(&influence.values), text(&influence.medians));
    let effect = number_format::logged(influence.effect.abs());
    let verb = if influence.effect > 0.0 { "gains" } else { "loses" };
    format!("it {verb} {effect} by {names} = {values} (the median is {medians})")
}

fn waiting_words(report: &ExplainReport<'_>, job: &Explanation, waited: f64, helps: bool) -> String {
    let order = report.queue.ranking.order();
    let Some(column) = report.table().column("eligible_time") else { return String::new() };
    let longer = order.iter().filter(|&&row| row != job.row && column.nearest_double(row) >= waited).count();
    let duration = duration(waited);
    match (helps, longer) {
        (true, 0) => format!("it waits longest ({duration})"),
        (true, _) => {
            format!("it has waited {duration}, longer than {} of the {} jobs", order.len() - 1 - longer, order.len())
        }
        (false, _) => format!("it has waited only {duration}, less than {longer} of the {} jobs", order.len()),
    }
}

/// The usage of the entity against its share.
fn fairshare_words(report: &ExplainReport<'_>, job: &Explanation) -> Option<String> {
    let shares = report.explanations.shares.as_ref()?;
    let node: NodeId = *job.path.last()?;
    let entity = report.table().entity(job.row);
    let numbers = shares.assessed.shares().get(node)?;
    let factor = numbers.fairshare_factor;
    let (usage, share) = match shares.policy {
        PolicyName::Pbs => (numbers.fairshare_tree_usage, numbers.fairshare_perc),
        _ => {
            let association = shares.assessed.shares().association(node)?;
            (association.effective_usage?, association.norm_shares?)
        }
    };
    let used = match usage / share {
        _ if share <= 0.0 => "has no share".to_owned(),
        ratio if ratio < 0.005 => "has used almost nothing of its share".to_owned(),
        ratio if ratio < 0.95 => format!("has used only {:.0} % of its share", ratio * 100.0),
        ratio if ratio < 1.05 => "has used its share".to_owned(),
        ratio if (1.95..2.05).contains(&ratio) => "has used twice its share".to_owned(),
        ratio => format!("has used {} times its share", short(ratio)),
    };
    Some(format!("`{entity}` {used} (factor {factor:.2})"))
}

/// A number with at most one decimal.
fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// `3 d 4 h`, `3 h 20 min`, `5 min 2 s`, `9 s`.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let parts = [(whole / 86_400, "d"), (whole / 3600 % 24, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")];
    let mut shown = parts.iter().skip_while(|(count, _)| *count == 0).take(2).filter(|(count, _)| *count > 0);
    let Some((count, unit)) = shown.next() else { return "0 s".to_owned() };
    shown.fold(format!("{count} {unit}"), |text, (count, unit)| format!("{text} {count} {unit}"))
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
        for (seconds, words) in
            [(0.0, "0 s"), (59.0, "59 s"), (3600.0, "1 h"), (12_000.0, "3 h 20 min"), (86_401.0, "1 d")]
        {
            assert_eq!(duration(seconds), words);
        }
        assert_eq!((short(2.0), short(3.24)), ("2".to_owned(), "3.2".to_owned()));
    }
}
