//! The rules of a simulation in words, which are shown above its tables.

use job_sort_formula::fairshare::PolicyRules;
use jsf_simulate::{Decay, Preemptions};
use jsf_site::{SimulatedQueue, Site};

use crate::commands::simulate::judged_log::JudgedLog;
use crate::commands::simulate::site_of_log::has_tree;
use crate::view::without::without_words;
use crate::view::words::{count, significant, waiting_time};

/// The rules of a simulation under a formula: a heading and a text each.
pub(crate) fn rules_in_words(
    site: &Site,
    rules: PolicyRules,
    log: &JudgedLog,
    formula: &str,
    simulated: &SimulatedQueue,
) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("formula", formula.trim_end().to_owned()),
        ("machine", machine_in_words(simulated)),
    ];
    if has_tree(site.files()) {
        let whose = match rules {
            PolicyRules::Documented => "the published document",
            PolicyRules::Scheduler => "the daemon",
        };
        let decay = simulated
            .decay
            .map_or_else(|| "usage does not decay".to_owned(), decay_in_words);
        let policy = site.policy().as_str();
        lines.push((
            "fair share",
            format!("policy {policy} by the rules of {whose} (--rules); {decay}"),
        ));
    }
    if log.warm_up > 0 {
        lines.push(("warm-up", warm_up_in_words(log)));
    }
    lines.extend(site.python_rule());
    if !simulated.left_out.is_empty() {
        lines.push(("without", without_words(&simulated.left_out)));
    }
    if let Some(preemptions) = &simulated.schedule.preemptions {
        lines.push(("preemption", preemptions_in_words(preemptions)));
    }
    if !simulated.limits.is_empty() {
        lines.push(("limits", simulated.limits.join("; ")));
    }
    lines
}

/// How often jobs gave way, and what was lost by it.
fn preemptions_in_words(preemptions: &Preemptions) -> String {
    let Preemptions {
        suspended,
        requeued,
        deleted,
        lost_core_seconds,
    } = preemptions;
    let hours = significant(*lost_core_seconds as f64 / 3600.0);
    format!(
        "jobs suspended {suspended} times, requeued {requeued}, deleted {deleted}; {hours} core hours lost"
    )
}

/// The size of the machine with where it is from, and what a cycle starts.
fn machine_in_words(simulated: &SimulatedQueue) -> String {
    let processors = count(simulated.processors.total as usize, "processor");
    let source = if simulated.processors.are_given() {
        String::new()
    } else {
        let source = simulated.processors.source_in_words();
        format!(" {source} (--processors)")
    };
    let placed = match simulated.placed {
        0 => String::new(),
        placed => format!(", chunks of {} on hosts", count(placed, "job")),
    };
    format!("{processors}{source}{placed}, {}", simulated.backfilling)
}

/// Which of the first jobs do not count.
fn warm_up_in_words(log: &JudgedLog) -> String {
    let reason = if log.is_until_decay {
        ", until usage decays"
    } else {
        ""
    };
    let first = log.workload.jobs().first().map_or(0, |job| job.submit);
    let jobs = log.workload.count_before(first.saturating_add(log.warm_up));
    format!(
        "{jobs} jobs of the first {} are left out{reason} (--warm-up)",
        waiting_time(log.warm_up)
    )
}

/// How usage decays; in steps that take less than half of it, also the time in which half of it is
/// left.
fn decay_in_words(decay: Decay) -> String {
    let every = waiting_time(i64::try_from(decay.period).unwrap_or(i64::MAX));
    let factor = (decay.factor * 1e6).round() / 1e6;
    let half_life =
        half_life(decay).map(|seconds| format!(" (half-life {})", waiting_time(seconds)));
    format!(
        "usage decays by the factor {factor} every {every}{}",
        half_life.unwrap_or_default()
    )
}

/// The time in which steps of a decay leave half of the usage, in seconds, rounded to minutes or
/// hours; `None` if the first one does.
fn half_life(Decay { period, factor }: Decay) -> Option<i64> {
    let steps = (factor > 0.5 && factor < 1.0).then(|| 0.5_f64.ln() / factor.ln())?;
    let seconds = period as f64 * steps;
    let unit = if seconds < 86_400.0 { 60.0 } else { 3600.0 };
    Some(((seconds / unit).round() * unit) as i64)
}
