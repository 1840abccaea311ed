//! The values in a scheduler's log against those that are computed for a queue, for people.

use jsf_openpbs::replay::{Cause, CauseKind, Difference, NotCaptured, Replay};

use crate::view::document::{Cell, Document, Fact, Section, Table};
use crate::view::words::{capitalised, count, grouped_count, grouped_number, waiting_time};

/// The most differences that the text lists, the unexplained ones first. JSON lists those that the
/// comparison has kept, and counts the others.
const MAX_SHOWN: usize = 10;
/// The most causes that the text lists.
const MAX_CAUSES: usize = 5;

/// The document of a comparison: the answer, the causes that many differences have in common, and
/// the differences. `python` is the version of Python with what says so.
pub(super) fn replay_document<'a>(replay: &'a Replay, formula: &str, python: &str) -> Document<'a> {
    let mut sections = Vec::new();
    if !replay.causes.is_empty() {
        let causes = causes(replay).into_iter();
        sections.push(causes.fold(Section::new("causes"), Section::prose));
    }
    if !replay.different.is_empty() {
        sections.push(differences(replay));
    }
    Document {
        command: "jsf replay",
        title: "A scheduler's log against the values here".to_owned(),
        headline: capitalised(&headline(replay)) + ".",
        facts: vec![
            Fact::new("formula", formula.trim_end()),
            Fact::new("python", python),
        ],
        sections,
        read_on: "",
    }
}

/// A row for each difference: first those that nothing explains.
fn differences(replay: &Replay) -> Section<'_> {
    let (explained, unexplained): (Vec<_>, Vec<_>) = replay
        .different
        .iter()
        .partition(|different| !different.explanations.is_empty());
    let all = unexplained.into_iter().chain(explained);
    let shown: Vec<&Difference> = all.take(MAX_SHOWN).collect();
    let more = replay.differing() - shown.len().min(replay.differing());
    let table = Table::of(shown)
        .number("line", 7, |different| {
            Cell::Written(different.line.to_string(), None)
        })
        .id("job", 9, |different| &*different.job)
        .number("logged", 8, |different| &*different.logged)
        .number("here", 8, |different| {
            different.ours.as_deref().unwrap_or("no value")
        })
        .wrapped("why", 9, |different| why(different));
    let section = Section::new("differences").table(table);
    if more == 0 {
        return section;
    }
    let more = grouped_number(more);
    section.prose(format!("and {more} more; `--format json` lists more"))
}

fn why(different: &Difference) -> String {
    match (different.why(), &different.remark) {
        (Some(why), _) => why,
        (None, Some(remark)) => format!("nothing explains it: {remark}"),
        (None, None) => "nothing explains it".to_owned(),
    }
}

/// The answer, in one sentence.
pub(super) fn headline(replay: &Replay) -> String {
    let compared = replay.lines - replay.unknown_jobs;
    if compared == 0 {
        return "nothing was compared: no job of the log is in the queue".to_owned();
    }
    let all = grouped_count(compared, "logged value");
    let mut parts = vec![format!("equal: {} of {all}", grouped_number(replay.equal))];
    if replay.differing() > 0 {
        parts.push(format!("different: {}", grouped_number(replay.differing())));
        let unexplained = format!("unexplained: {}", grouped_number(replay.unexplained));
        let missing = replay.causes.iter().find_map(|cause| match &cause.kind {
            CauseKind::NotCaptured(missing) => Some(missing),
            _ => None,
        });
        parts.push(match missing {
            Some(missing) => format!("{unexplained} ({missing}, so nothing was verified)"),
            None => unexplained,
        });
    }
    let others = [
        (replay.damaged, "damaged lines"),
        (replay.unknown_jobs, "of jobs that are not in the queue"),
    ];
    for (number, what) in others {
        if number > 0 {
            parts.push(format!("{what}: {}", grouped_number(number)));
        }
    }
    parts.join("; ")
}

/// The causes that many differences have in common, and advice on each.
fn causes(replay: &Replay) -> Vec<String> {
    let mut lines = Vec::new();
    for cause in replay.causes.iter().take(MAX_CAUSES) {
        lines.push(format!(
            "{}: {}",
            count(cause.lines, "line"),
            sentence(cause)
        ));
        lines.extend(advice(cause, replay).map(|advice| format!("  help: {advice}")));
    }
    if replay.causes.len() > MAX_CAUSES {
        lines.push(format!(
            "and {} more",
            count(replay.causes.len() - MAX_CAUSES, "cause")
        ));
    }
    lines
}

/// What the values have in common.
pub(super) fn sentence(cause: &Cause) -> String {
    match &cause.kind {
        CauseKind::Formula { origin, text } => {
            format!(
                "the formula in the log is not the one compared here, but that of {origin}: `{text}`"
            )
        }
        CauseKind::EligibleTime => moment(cause.seconds.unwrap_or_default()),
        CauseKind::Decayed(times) => {
            let (captured, more) = if *times > 0 {
                ("before", "more")
            } else {
                ("after", "less")
            };
            let often = count(times.unsigned_abs() as usize, "time");
            format!("captured {captured} the log: all usage in the log has decayed {often} {more}")
        }
        CauseKind::NotWaiting => "the job is not evaluated now".to_owned(),
        CauseKind::NotCaptured(missing) => format!("nothing was verified, because {missing}"),
        CauseKind::NotANumber => "the logged text is not a number".to_owned(),
        CauseKind::Nothing => {
            "no other formula of the site and no other moment gives the values".to_owned()
        }
    }
}

/// When the queue was captured, by the changes of `eligible_time` in seconds: the least and the
/// greatest.
fn moment((least, most): (i64, i64)) -> String {
    let [low, high] = [least, most].map(|seconds| waiting_time(seconds.saturating_abs()));
    if least == most {
        format!("captured {high} {} the log", side(most))
    } else {
        format!(
            "captured between {low} {} and {high} {} the cycles of the log",
            side(least),
            side(most)
        )
    }
}

fn side(seconds: i64) -> &'static str {
    if seconds > 0 { "before" } else { "after" }
}

/// What to do about it.
pub(super) fn advice(cause: &Cause, replay: &Replay) -> Option<String> {
    let differ_mostly = 2 * cause.lines > replay.lines - replay.unknown_jobs;
    Some(match &cause.kind {
        CauseKind::NotCaptured(NotCaptured::Usage) => {
            "copy `sched_priv/usage`, which only root can read, at the moment of the cycle, and compare again".to_owned()
        }
        CauseKind::NotCaptured(NotCaptured::Queues) => {
            "save the output of `qstat -Qf -F json`, and compare again".to_owned()
        }
        CauseKind::NotCaptured(NotCaptured::EligibleTime) => {
            "save the output of `qstat -f -F json` of the moment of the cycle, and compare again".to_owned()
        }
        CauseKind::Nothing if differ_mostly => {
            "probably the log has another formula, or the files are of another moment. The scheduler's log does not name \
             its formula, the server's does (`grep 'job_sort_formula = ' server_logs/*`): compare with that one; or \
             capture again during a cycle, with `usage`"
                .to_owned()
        }
        _ => return None,
    })
}
