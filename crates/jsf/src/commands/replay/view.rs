//! The values in a scheduler's log against those that are computed for a queue, for people.

use jsf_openpbs::replay::{Cause, CauseKind, Difference, NotCaptured, Replay};

use crate::view::document::{Cell, Column, Document, Fact, Section, Table};

use crate::view::words::{capitalised, count, grouped_number, waiting_time};

/// The most differences that the text lists, the unexplained ones first. JSON lists those that the
/// comparison has kept, and counts the others.
const MAX_SHOWN: usize = 10;
/// The most causes that the text lists.
const MAX_CAUSES: usize = 5;

/// The document of a comparison: the answer, the causes that many differences have in common, and
/// the differences. `python` is the version of Python with what says so.
pub(super) fn replay_document<'a>(
    replay: &'a Replay,
    formula: &str,
    python: String,
) -> Document<'a> {
    let compared = "the logged digits with those of the value that the formula gives here";
    let facts = vec![
        Fact::new("formula", formula.trim_end()),
        Fact::new("python", python),
        Fact::new("compared", compared).in_full(),
        counts(replay),
    ];
    let causes = causes(replay)
        .into_iter()
        .fold(Section::new("causes"), Section::prose);
    let sections = [causes, differences(replay)]
        .into_iter()
        .filter(|section| !section.blocks.is_empty());
    Document {
        command: "jsf replay",
        title: "A scheduler's log against the values here".to_owned(),
        headline: capitalised(&headline(replay)) + ".",
        facts,
        sections: sections.collect(),
        read_on: "",
    }
}

/// A row for each difference: first those that nothing explains.
fn differences<'a>(replay: &'a Replay) -> Section<'a> {
    let (explained, unexplained): (Vec<_>, Vec<_>) = replay
        .different
        .iter()
        .partition(|different| !different.explanations.is_empty());
    let shown: Vec<&Difference> = unexplained
        .into_iter()
        .chain(explained)
        .take(MAX_SHOWN)
        .collect();
    let section = Section::new("differences");
    if shown.is_empty() {
        return section;
    }
    let table = Table::of(shown)
        .column(Column::number("line", 7), |different| {
            Cell::Written(different.line.to_string(), None)
        })
        .column(Column::id("job", 9), |different| {
            Cell::text(&*different.job)
        })
        .column(Column::number("logged", 8), |different| {
            Cell::text(&*different.logged)
        })
        .column(Column::number("here", 8), |different| {
            different
                .ours
                .as_deref()
                .map_or(Cell::prose("no value"), Cell::text)
        })
        .column(Column::wrapped("why", 9), |different| {
            Cell::prose(why(different))
        });
    let section = section.table(table.table());
    match replay.differing().saturating_sub(MAX_SHOWN) {
        0 => section,
        more => section.prose(format!(
            "and {} more; `--format json` lists more",
            grouped_number(more)
        )),
    }
}

fn why(different: &Difference) -> String {
    match (different.why(), &different.remark) {
        (Some(why), _) => why,
        (None, Some(remark)) => format!("nothing explains it: {remark}"),
        (None, None) => "nothing explains it".to_owned(),
    }
}

/// How many values are equal, different, and not compared.
fn counts(replay: &Replay) -> Fact {
    let different = replay.differing();
    let mut counts = format!(
        "{}: {} equal, {different} different",
        count(replay.lines, "value"),
        replay.equal
    );
    if different > 0 {
        counts += &format!(
            " ({} explained, {} not)",
            different - replay.unexplained,
            replay.unexplained
        );
    }
    if replay.damaged > 0 {
        counts += &format!(", {} damaged", count(replay.damaged, "line"));
    }
    Fact::new(
        "logged",
        format!(
            "{counts}, {} of jobs that are not in the queue",
            replay.unknown_jobs
        ),
    )
}

/// The answer, in one sentence.
pub(super) fn headline(replay: &Replay) -> String {
    let compared = replay.lines - replay.unknown_jobs;
    let unexplained = replay.unexplained;
    let differing = replay.differing();
    let equal = match (compared, replay.equal) {
        (0, _) => return "nothing was compared: no job of the log is in the queue".to_owned(),
        (1, 1) => "the logged value is equal to the one that is computed here".to_owned(),
        (1, _) => "the logged value differs".to_owned(),
        (all, equal) if all == equal => {
            format!("all {all} logged values are equal to those that are computed here")
        }
        (all, 0) => format!("none of the {all} logged values is equal"),
        (all, 1) => format!("1 of {all} logged values is equal"),
        (all, equal) => format!("{equal} of {all} logged values are equal"),
    };
    let explained = match (unexplained, differing) {
        (_, 0) => String::new(),
        (0, 1) => "; the difference is explained".to_owned(),
        (0, all) => format!("; the {all} differences are explained"),
        (_, 1) => "; nothing explains the difference".to_owned(),
        (some, all) if some == all => format!("; nothing explains the {all} differences"),
        (some, all) => format!("; nothing explains {some} of the {all} differences"),
    };
    let missing = replay.causes.iter().find_map(|cause| match cause.kind {
        CauseKind::NotCaptured(missing) => Some(format!(": {missing}, so nothing was verified")),
        _ => None,
    });
    let unknown = match replay.unknown_jobs {
        0 => String::new(),
        1 => "; 1 value is of a job that is not in the queue".to_owned(),
        many => format!("; {many} values are of jobs that are not in the queue"),
    };
    equal + &explained + &missing.unwrap_or_default() + &unknown
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
            let count = times.unsigned_abs();
            let (captured, more) = if *times > 0 {
                ("before", "more")
            } else {
                ("after", "less")
            };
            let often = if count == 1 {
                "once".to_owned()
            } else {
                format!("{count} times")
            };
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
        let place = if most > 0 { "before" } else { "after" };
        format!("captured {high} {place} the log")
    } else if least > 0 {
        format!("captured {low} to {high} before the cycles of the log")
    } else if most < 0 {
        format!("captured {high} to {low} after the cycles of the log")
    } else {
        format!("captured during the log: up to {low} after and {high} before its cycles")
    }
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
