//! What a simulation makes of its log: what it leaves out, cuts and assumes.

use jsf_simulate::{LeftOutReason, Workload};

use crate::commands::simulate::SimulationAnswer;
use crate::view::document::Fact;
use crate::view::words::{count, moment, percent, significant};

/// Times before this one, of 1973, are those of a clock that begins with its log.
const LEAST_EPOCH: i64 = 100_000_000;

/// What is made of the log, a line each.
pub(crate) fn log_facts(answer: &SimulationAnswer<'_>) -> Vec<Fact> {
    let workload = answer.workload;
    let too_large = (
        answer.simulated.schedule.too_large.len(),
        "larger than the machine",
    );
    let cut = answer.cut();
    let part = cut.core_seconds as f64 / cut.all_core_seconds.max(1) as f64;
    let cut_runs = format!(
        "{} at the requested time, by {} core hours ({})",
        count(cut.jobs, "run"),
        significant(cut.core_seconds as f64 / 3600.0),
        percent(part)
    );
    let texts = [
        ("log", cut_by_end(workload)),
        ("left out", workload.faults().summary([too_large])),
        ("cut", Some(cut_runs).filter(|_| cut.jobs > 0)),
        ("walltime", workload.assumed_walltimes.in_words()),
    ];
    texts
        .into_iter()
        .filter_map(|(heading, text)| Some(Fact::new(heading, text?)))
        .collect()
}

/// That a log is cut by the end of its jobs, and how many are left out for it; `None` for one that
/// is complete.
pub(crate) fn cut_by_end(workload: &Workload) -> Option<String> {
    let from = moment_of_log(workload.complete_from?);
    let jobs = count(workload.faults().of(LeftOutReason::Incomplete), "job");
    Some(format!(
        "cut by the end of its jobs, and complete from {from} on, its first end; {jobs} submitted before left out, as others of that \
         time are missing (--from TIME)"
    ))
}

/// What is left out of a log, and which requested times are assumed, a sentence each.
pub fn left_out_and_assumed(workload: &Workload) -> impl Iterator<Item = String> {
    let left_out = workload.faults().summary([]);
    let assumed = workload.assumed_walltimes.in_words();
    [
        ("left out of the log", left_out),
        ("requested times that the log does not say", assumed),
    ]
    .into_iter()
    .filter_map(|(heading, text)| Some(format!("{heading}: {}", text?)))
}

/// What is to be said about a log; with counts of what was left out and assumed, where no document
/// has them.
#[cfg(feature = "command")]
pub(crate) fn log_messages(workload: &Workload, has_counts: bool) -> Vec<String> {
    let mut messages = [&*workload.faults().messages(), &*workload.notes].concat();
    if has_counts {
        messages.extend(cut_by_end(workload).map(|cut| format!("the log is {cut}")));
        messages.extend(left_out_and_assumed(workload));
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
