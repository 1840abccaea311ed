//! What a simulation makes of its log: what it leaves out, cuts and assumes.

use jsf_simulate::{LeftOutReason, Workload};

use crate::commands::simulate::SimulationAnswer;
use crate::view::document::Fact;
use crate::view::words::{count, moment, percent, significant};

/// Times before this one, of 1973, are those of a clock that begins with its log.
const LEAST_EPOCH: i64 = 100_000_000;

/// What is left out of a log, and which requested times are assumed, each under its heading;
/// `too_large` is how many jobs are larger than the machine.
pub(crate) fn left_out_and_assumed(
    workload: &Workload,
    too_large: usize,
) -> Vec<(&'static str, String)> {
    let left_out = workload
        .faults()
        .summary([(too_large, "larger than the machine")]);
    let mut told = Vec::new();
    for (heading, text) in [
        ("log", cut_by_end(workload)),
        ("left out", left_out),
        ("walltime", workload.assumed_walltimes.in_words()),
    ] {
        told.extend(text.map(|text| (heading, text)));
    }
    told
}

/// What is made of the log, a line each.
pub(crate) fn log_facts(answer: &SimulationAnswer<'_>) -> Vec<Fact> {
    // without backfilling, a job that never fits would hold back all others for ever
    let too_large = answer.simulated.schedule.too_large.len();
    let mut facts = Vec::new();
    for (heading, text) in left_out_and_assumed(answer.workload, too_large) {
        facts.push(Fact::new(heading, text));
    }
    let cut = answer.cut();
    if cut.jobs > 0 {
        let part = cut.core_seconds as f64 / cut.all_core_seconds.max(1) as f64;
        let text = format!(
            "{} at the requested time, by {} core hours ({})",
            count(cut.jobs, "run"),
            significant(cut.core_seconds as f64 / 3600.0),
            percent(part)
        );
        facts.push(Fact::new("cut", text));
    }
    facts
}

/// That a log is cut by the end of its jobs, and how many are left out for it; `None` for one that
/// is complete.
fn cut_by_end(workload: &Workload) -> Option<String> {
    let from = moment_of_log(workload.complete_from?);
    let jobs = count(workload.faults().of(LeftOutReason::Incomplete), "job");
    Some(format!(
        "cut by the end of its jobs, and complete from {from} on, its first end; {jobs} submitted before left out, as others of that \
         time are missing (--from TIME)"
    ))
}

/// What is to be said about a log; with what was left out and assumed, where no document has it.
pub(crate) fn log_messages(workload: &Workload, has_counts: bool) -> Vec<String> {
    let mut messages = [&*workload.faults().messages(), &*workload.notes].concat();
    if has_counts {
        for (heading, text) in left_out_and_assumed(workload, 0) {
            messages.push(format!("{heading}: {text}"));
        }
    }
    messages
}

/// A time of the log's clock, which need not begin in 1970.
fn moment_of_log(seconds: i64) -> String {
    if seconds < LEAST_EPOCH {
        format!("second {seconds} of its clock")
    } else {
        moment(seconds)
    }
}
