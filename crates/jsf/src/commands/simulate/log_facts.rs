//! What a simulation makes of its log, for people: what is left out, which runs are cut, and which
//! requested times are assumed.

use jsf_simulate::{LeftOutReason, Workload};

use crate::commands::simulate::answer::{CutRuns, SimulationReport};
use crate::view::document::Fact;
use crate::view::words::{count, moment, percent, significant};

/// Times before this one, of 1973, are those of a clock that begins with its log.
const LEAST_EPOCH: i64 = 100_000_000;

/// What is made of the log, a line each.
pub(crate) fn log_facts(report: &SimulationReport<'_>) -> Vec<Fact> {
    let workload = report.workload;
    let too_large = (
        report.simulated.schedule.too_large.len(),
        "larger than the machine",
    );
    let cut = CutRuns::of(report);
    let part = cut.core_seconds as f64 / cut.all_core_seconds.max(1) as f64;
    let cut_runs = format!(
        "{} at the requested time, by {} core hours ({})",
        count(cut.jobs, "run"),
        significant(cut.core_seconds as f64 / 3600.0),
        percent(part)
    );
    let mut facts = Vec::new();
    for (heading, text) in [
        ("log", cut_by_end(workload)),
        ("left out", workload.faults().summary([too_large])),
        ("cut", (cut.jobs > 0).then_some(cut_runs)),
        ("walltime", workload.assumed_walltimes.in_words()),
    ] {
        facts.extend(text.map(|text| Fact::new(heading, text)));
    }
    facts
}

/// What is to be said about a log; with counts of what was left out and assumed, where no document
/// has them.
#[cfg(feature = "command")]
pub(crate) fn messages(workload: &Workload, has_counts: bool) -> Vec<String> {
    let mut messages = [&*workload.faults().messages(), &*workload.notes].concat();
    if has_counts {
        messages.extend(cut_by_end(workload).map(|cut| format!("the log is {cut}")));
        messages.extend(left_out_and_assumed(workload));
    }
    messages
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

/// What is left out of a log, and which requested times are assumed, a sentence each.
pub fn left_out_and_assumed(workload: &Workload) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(left_out) = workload.faults().summary([]) {
        sentences.push(format!("left out of the log: {left_out}"));
    }
    if let Some(assumed) = workload.assumed_walltimes.in_words() {
        sentences.push(format!(
            "requested times that the log does not say: {assumed}"
        ));
    }
    sentences
}

/// A time of the log's clock, which need not begin in 1970.
fn moment_of_log(seconds: i64) -> String {
    if seconds < LEAST_EPOCH {
        format!("second {seconds} of its clock")
    } else {
        moment(seconds)
    }
}
