//! Why a job has its place, in one sentence.

use std::collections::{HashMap, HashSet};

use job_sort_formula::jobs::{JobState, JobTable};
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::nearest_double;
use job_sort_formula::rank::{Consequence, ScoreError};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::number_format;
use jsf_openpbs::order::{Criterion, NotConsidered};
use jsf_site::{Against, Cause, Explanation, OtherValues};

use crate::commands::explain::answer::ExplainReport;
use crate::commands::explain::fairshare_words::fairshare_words;
use crate::view::printable::excerpt;
use crate::view::words::{
    count, five_digits, grouped_number, listed, ordinal, other_jobs_have, quoted, waiting_time,
};

/// The most characters of a term that is quoted.
const MAX_TERM: usize = 40;
/// The most characters of a part of the formula that is quoted where nothing else names it.
const MAX_QUOTED: usize = 120;

/// Why a job has its place, in one sentence.
pub(crate) fn sentence(report: &ExplainReport<'_>, job: &Explanation) -> String {
    let id = report.table().id(job.row);
    let place = match (job.rank, report.excluded(job)) {
        (Some(rank), _) => format!(
            "`{id}` is {} of {}",
            ordinal(rank),
            grouped_number(report.considered())
        ),
        (None, Some(("state", _))) if report.table().exclusion(job.row).is_none() => {
            let state = report.table().state(job.row);
            format!(
                "`{id}` is not considered: its state is {} ({})",
                state.letter(),
                state_words(state)
            )
        }
        (None, Some((_, reason))) => format!("`{id}` is not considered: {reason}"),
        (None, None) => format!("`{id}` is not considered"),
    };
    let separator = if job.rank.is_some() { ": " } else { "; " };
    let reasons = match (&job.result, job.rank) {
        (None, _) => None,
        (Some(Err(error)), _) => Some(failure(report, job, error)),
        (Some(Ok(_)), None)
            if matches!(
                job.not_considered,
                Some(NotConsidered::UnderThreshold { .. })
            ) =>
        {
            None
        }
        (Some(Ok(_)), None) => job
            .score
            .map(|score| format!("its value is {}", number_format::logged(score))),
        (Some(Ok(_)), Some(_)) if job.score.is_some_and(f64::is_nan) => Some(not_a_number(job)),
        (Some(Ok(_)), Some(rank)) => reasons(report, job, rank),
    };
    reasons.map_or_else(
        || place.clone(),
        |reasons| format!("{place}{separator}{reasons}"),
    )
}

/// The value of a job that is only described, and what the formula reads of it.
pub fn described_words(table: &JobTable, job: &Explanation) -> String {
    let inputs = job.inputs.iter().filter_map(|input| {
        let unit = input
            .unit
            .map(|unit| format!(" {unit}"))
            .unwrap_or_default();
        Some(format!(
            "`{}` {}{unit}",
            input.name,
            input.value.as_ref()?.repr()
        ))
    });
    let inputs: Vec<String> = inputs.collect();
    let value = job.score.map_or_else(
        || "no value".to_owned(),
        |score| format!("value {}", number_format::logged(score)),
    );
    let with = if inputs.is_empty() {
        String::new()
    } else {
        format!(" with {}", listed(&inputs))
    };
    format!(
        "{value}{with}, if it is submitted now to `{}`",
        table.queue(job.row)
    )
}

/// What a state means for the job.
pub(crate) fn state_words(state: JobState) -> &'static str {
    match state {
        JobState::Queued => "queued",
        JobState::Held => "held",
        JobState::Waiting => "waiting for its start time",
        JobState::Running => "running",
        JobState::Exiting => "exiting",
        JobState::Suspended => "suspended",
        JobState::Parked => "suspended because its workstation is in use",
        JobState::Begun => "an array that has begun",
        JobState::Transit => "being moved to another location",
        JobState::Moved => "moved to another server",
        JobState::Finished | JobState::Expired => "finished",
        JobState::Completed => "completed",
        JobState::Unknown => "unknown",
    }
}

fn failure(report: &ExplainReport<'_>, job: &Explanation, error: &ScoreError) -> String {
    let text = excerpt(
        error.span().slice(report.queue.program.expr().text()),
        MAX_QUOTED,
    );
    let value = match job.score {
        Some(f64::NEG_INFINITY) => ", so it has no value and comes last".to_owned(),
        Some(score) if error.consequence() == Consequence::Unknown => {
            format!("; jsf gives it the value {}", number_format::logged(score))
        }
        Some(score) => format!(", so its value is {}", number_format::logged(score)),
        None => String::new(),
    };
    let others = match job.same_error.len() {
        0 => String::new(),
        count => format!("; {} the same error", other_jobs_have(count)),
    };
    let crash = if error.crashes_the_scheduler() {
        ", and OpenPBS's scheduler crashes"
    } else {
        ""
    };
    format!("`{text}` fails with \"{error}\"{value}{crash}{others}")
}

/// The scheduler's comparison of a NaN, and the inputs from which it comes.
fn not_a_number(job: &Explanation) -> String {
    let nan = job
        .inputs
        .iter()
        .filter(|input| matches!(input.value, Some(Value::Float(float)) if float.is_nan()));
    let inputs: Vec<&str> = nan.map(|input| input.name.as_str()).collect();
    let cause = match inputs.as_slice() {
        [] => String::new(),
        [one] => format!(", as its `{one}` is"),
        several => format!(", as its {} are", quoted(several.iter().copied())),
    };
    format!(
        "its value is not a number{cause}, and the scheduler takes such a value to be equal to every other"
    )
}

/// What helps the job most, and what costs it most. A job of the worse half of the queue is
/// compared with the jobs just ahead, and what costs it comes first; a job of the better half with
/// the median, else with the jobs just behind, and what helps it comes first. The term by which the
/// jobs just ahead are ahead is named too, unless one of its inputs is.
fn reasons(report: &ExplainReport<'_>, job: &Explanation, rank: usize) -> Option<String> {
    let is_ahead = rank * 2 <= report.considered() || rank == 1;
    let compared: &[Against] = if is_ahead {
        &[Against::Median, Against::Behind]
    } else {
        &[Against::Ahead]
    };
    let found = compared.iter().find_map(|&against| {
        let main = find_cause(job, against, !is_ahead)?;
        let other = find_cause(job, against, is_ahead).filter(|cause| is_of_most(cause));
        let named: Vec<&str> = [Some(main), other]
            .into_iter()
            .flatten()
            .flat_map(|cause| &cause.inputs)
            .map(String::as_str)
            .collect();
        let term = term_words(job, &named);
        let main = words(report, job, main)?;
        let other = other.and_then(|other| words(report, job, other));
        Some(match (other, term) {
            (None, None) => main,
            (Some(other), None) if is_ahead => format!("{main}, but {other}"),
            (None, Some(term)) if is_ahead => format!("{main}, but {term}"),
            (Some(other), Some(term)) if is_ahead => format!("{main}, but {other}, and {term}"),
            (Some(other), None) => format!("{main}, although {other}"),
            (None, Some(term)) => format!("{main}, and {term}"),
            (Some(other), Some(term)) => format!("{main}, and {term}, although {other}"),
        })
    });
    found.or_else(|| without_cause(report, job, is_ahead))
}

fn find_cause(job: &Explanation, against: Against, costs: bool) -> Option<&Cause> {
    job.causes
        .iter()
        .find(|cause| cause.against == against && (cause.gained > 0) == costs)
}

/// The term by which the jobs just ahead are ahead, if it has other inputs than fair-share numbers,
/// and none of those that are named already.
fn term_words(job: &Explanation, named: &[&str]) -> Option<String> {
    let mut by_text: HashMap<&str, Vec<f64>> = HashMap::new();
    for neighbour in &job.above {
        let mut seen = HashSet::new();
        for term in neighbour
            .differences
            .iter()
            .filter(|term| seen.insert(&*term.text))
        {
            let difference = term.nearest_double().filter(|double| !double.is_nan());
            by_text.entry(&term.text).or_default().extend(difference);
        }
    }
    let terms = job.terms.iter().filter(|_| job.terms.len() > 1);
    let terms = terms.map(|term| {
        (
            &*term.text,
            by_text.get(&*term.text).cloned().unwrap_or_default(),
        )
    });
    let (text, differences) = terms.min_by(|(_, left), (_, right)| {
        left.iter()
            .sum::<f64>()
            .total_cmp(&right.iter().sum::<f64>())
    })?;
    let words: HashSet<&str> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .collect();
    let inputs: Vec<&str> = job
        .inputs
        .iter()
        .map(|input| input.name.as_str())
        .filter(|name| words.contains(name) && FairshareInput::from_name(name).is_none())
        .collect();
    let less: Vec<f64> = differences
        .into_iter()
        .filter(|difference| *difference < 0.0)
        .collect();
    if less.is_empty() || inputs.is_empty() || inputs.iter().any(|name| named.contains(name)) {
        return None;
    }
    let most = five_digits(less.iter().copied().fold(0.0, f64::min).abs());
    let up_to = if less.len() == 1 { "" } else { "up to " };
    let those = counted(less.len(), job.above.len(), "ahead");
    let term = if text.len() <= MAX_TERM {
        format!("`{text}`")
    } else {
        format!("term with {}", quoted(inputs))
    };
    Some(format!(
        "its {term} is {up_to}{most} less than that of {those}"
    ))
}

/// Whether the values of more than half of the compared jobs move the job in the direction of the
/// total.
fn is_of_most(cause: &Cause) -> bool {
    cause
        .others
        .iter()
        .filter(|other| moves(cause, other))
        .count()
        * 2
        > cause.others.len()
}

/// What decides where no single input moves the job.
fn without_cause(report: &ExplainReport<'_>, job: &Explanation, is_ahead: bool) -> Option<String> {
    let others = tied(report, job);
    if others > 0 && others + 1 == report.considered() {
        let decides = job
            .above
            .first()
            .or(job.below.first())
            .map(|one| one.reason.as_str())?;
        return Some(format!(
            "all jobs have the same value; the {decides} decides"
        ));
    }
    let (near, side) = if is_ahead {
        (job.below.first(), "behind")
    } else {
        (job.above.first(), "ahead")
    };
    let near = near?;
    let other = report.table().id(near.row);
    if near.decided_by != Some(Criterion::Value) {
        let same = match others {
            0 => String::new(),
            count => format!("{} the same value; ", other_jobs_have(count)),
        };
        return Some(format!("{same}`{other}` is just {side} by {}", near.reason));
    }
    let (term, difference) = near.differences.iter().find_map(|term| {
        let difference = term.nearest_double()?;
        let decides = if is_ahead {
            difference > 0.0
        } else {
            difference < 0.0
        };
        decides.then_some((&term.text, difference))
    })?;
    let amount = five_digits(difference.abs());
    let more = if is_ahead { "more" } else { "less" };
    let term = excerpt(term, MAX_QUOTED);
    Some(format!(
        "its `{term}` is {amount} {more} than that of `{other}`, the job just {side}"
    ))
}

/// The number of other considered jobs with the same value.
pub(crate) fn tied(report: &ExplainReport<'_>, job: &Explanation) -> usize {
    let value = report.value(job.row);
    report
        .queue
        .ranking
        .order()
        .iter()
        .filter(|&&row| row != job.row && report.value(row) == value)
        .count()
}

/// How many of the jobs just ahead or behind.
pub(crate) fn counted(count: usize, all: usize, side: &str) -> String {
    match (count, all) {
        (1, 1) => format!("the job just {side}"),
        (2, 2) => format!("both jobs just {side}"),
        (count, all) if count == all => format!("all {all} jobs just {side}"),
        (count, all) => format!("{count} of the {all} jobs just {side}"),
    }
}

/// On which side of a job the jobs are that a cause compares it with; `None` for the median.
pub(crate) fn side(cause: &Cause) -> Option<&'static str> {
    match cause.against {
        Against::Median => None,
        Against::Ahead => Some("ahead"),
        Against::Behind => Some("behind"),
    }
}

/// Whether the values of another job would move a job in the direction of the total.
pub(crate) fn moves(cause: &Cause, other: &OtherValues) -> bool {
    if cause.gained > 0 {
        other.effect > 0.0
    } else {
        other.effect < 0.0
    }
}

/// A cause in words.
fn words(report: &ExplainReport<'_>, job: &Explanation, cause: &Cause) -> Option<String> {
    let costs = cause.gained > 0;
    let name = cause.inputs.first()?.as_str();
    let is_fairshare = FairshareInput::from_name(name).is_some();
    let shares = if is_fairshare {
        fairshare_words(report, job, cause)
    } else {
        None
    };
    let own = cause.values.first().and_then(nearest_double);
    // the words for longer and shorter are wrong where a formula prefers the jobs that wait less
    let is_rising = cause.others.iter().all(|other| {
        let other_value = other.values.first().and_then(nearest_double);
        other_value.partial_cmp(&own) == other.effect.partial_cmp(&0.0)
    });
    let inputs = quoted(cause.inputs.iter().map(String::as_str));
    let (words, what) = match (name, own) {
        _ if shares.is_some() => shares?,
        ("eligible_time", Some(waited)) if is_rising => (
            waiting_words(report, job, waited, cause),
            "the waiting time",
        ),
        ("queue_priority", Some(priority)) if is_rising => {
            let queue = report.table().queue(job.row);
            let than = those(cause).unwrap_or_else(|| "the median of the queue".to_owned());
            let side = if costs { "lower" } else { "higher" };
            (
                format!("its queue `{queue}` has priority {priority}, {side} than {than}"),
                "the priority",
            )
        }
        _ => (plain_words(job, cause, &inputs), inputs.as_str()),
    };
    let best = with_best(report, cause, what, is_fairshare);
    Some(match (words.strip_suffix(')'), best) {
        (_, None) => words,
        // there are numbers in brackets already
        (Some(words), Some(best)) => format!("{words}; {best})"),
        (None, Some(best)) => format!("{words} ({best})"),
    })
}

/// The compared jobs whose values of an input are on the other side of a job's.
fn those(cause: &Cause) -> Option<String> {
    let count = cause
        .others
        .iter()
        .filter(|other| moves(cause, other))
        .count();
    Some(counted(count, cause.others.len(), side(cause)?))
}

/// The rank that the best of the compared values would give to a job that they cost places.
fn with_best(
    report: &ExplainReport<'_>,
    cause: &Cause,
    what: &str,
    is_fairshare: bool,
) -> Option<String> {
    let best = cause
        .others
        .iter()
        .min_by_key(|other| other.rank)
        .filter(|_| cause.gained > 0)?;
    let row = best.row?;
    let whose = if is_fairshare {
        report.table().entity(row)
    } else {
        report.table().id(row)
    };
    Some(format!(
        "with {what} of `{whose}` it would be {}",
        ordinal(best.rank)
    ))
}

fn plain_words(job: &Explanation, cause: &Cause, names: &str) -> String {
    let values = with_units(job, cause, &cause.values);
    let verb = if cause.gained > 0 { "costs" } else { "gains" };
    match (those(cause), cause.others.first()) {
        (None, Some(medians)) => {
            let places = count(cause.gained.unsigned_abs() as usize, "place");
            format!(
                "its {names} of {values} {verb} {places} against the median of the queue ({})",
                with_units(job, cause, &medians.values)
            )
        }
        (those, _) => {
            let effect = cause
                .others
                .iter()
                .map(|other| other.effect.abs())
                .filter(|effect| *effect > 0.0);
            let least = effect.clone().fold(f64::INFINITY, f64::min);
            let most = effect.fold(0.0, f64::max);
            let amount = match (five_digits(least), five_digits(most)) {
                (least, most) if least == most => most,
                (_, most) => format!("up to {most}"),
            };
            format!(
                "its {names} of {values} {verb} {amount} against {}",
                those.unwrap_or_default()
            )
        }
    }
}

/// The values of the inputs of a cause, with their units.
fn with_units(job: &Explanation, cause: &Cause, values: &[Value]) -> String {
    let texts = cause.inputs.iter().zip(values).map(|(name, value)| {
        match job
            .inputs
            .iter()
            .find(|input| input.name == *name)
            .and_then(|input| input.unit)
        {
            Some(unit) => format!("{} {unit}", value.repr()),
            None => value.repr(),
        }
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn waiting_words(
    report: &ExplainReport<'_>,
    job: &Explanation,
    waited: f64,
    cause: &Cause,
) -> String {
    let costs = cause.gained > 0;
    let time = waiting_time(waited.max(0.0) as i64);
    if let Some(those) = those(cause) {
        let than = if costs {
            format!("only {time}, less")
        } else {
            format!("{time}, longer")
        };
        return format!("it has waited {than} than {those}");
    }
    let order = report.queue.ranking.order();
    let Some(column) = report.table().column("eligible_time") else {
        return String::new();
    };
    let longer = order
        .iter()
        .filter(|&&row| row != job.row && column.nearest_double(row) >= waited)
        .count();
    match (costs, longer) {
        (false, 0) => format!("it waits longest ({time})"),
        (false, _) => {
            format!(
                "it has waited {time}, longer than {} of the {} jobs",
                order.len() - 1 - longer,
                order.len()
            )
        }
        (true, _) => format!(
            "it has waited only {time}, less than {longer} of the {} jobs",
            order.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words() {
        for (number, words) in [
            (1, "1st"),
            (2, "2nd"),
            (3, "3rd"),
            (4, "4th"),
            (11, "11th"),
            (112, "112th"),
            (121, "121st"),
        ] {
            assert_eq!(ordinal(number), words);
        }
    }
}
