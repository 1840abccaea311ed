//! The rules of a simulation in words, which are shown above its tables.

use job_sort_formula::fairshare::PolicyRules;
use jsf_simulate::{Decay, Preemptions};
use jsf_site::{PolicyName, SimulatedQueue, Site};

use crate::commands::simulate::judged_log::JudgedLog;
use crate::commands::simulate::site_of_log::has_tree;
use crate::view::document::Fact;
use crate::view::rule_facts::facts_of;
use crate::view::rule_facts::without_words;
use crate::view::words::{count, significant, waiting_time};

/// The rules of a simulation under a formula, of which those that make it believable are on the first
/// screen, and the machine unless its size was given.
pub(crate) fn rules_in_words(
    site: &Site,
    rules: PolicyRules,
    log: &JudgedLog,
    formula: &str,
    simulated: &SimulatedQueue,
) -> Vec<Fact> {
    let machine = Fact::new("machine", machine_in_words(simulated));
    let mut facts = vec![
        Fact::new("formula", formula.trim_end()),
        machine.in_full_if(simulated.processors.are_given()),
    ];
    if has_tree(site.files()) {
        let whose = match rules {
            PolicyRules::Documented => "the published document",
            PolicyRules::Scheduler => "the daemon",
        };
        let decay = simulated
            .decay
            .map_or_else(|| "usage does not decay".to_owned(), decay_in_words);
        let policy = site.policy();
        let text = format!(
            "policy {} by the rules of {whose} (--rules); {decay}",
            policy.as_str()
        );
        facts.push(Fact::new("fair share", text).in_full_if(policy == PolicyName::Pbs));
    }
    if log.warm_up > 0 {
        facts.push(Fact::new("warm-up", warm_up_in_words(log)));
    }
    facts.extend(facts_of(&Vec::from_iter(site.python_rule())));
    if !simulated.left_out.is_empty() {
        facts.push(Fact::new("without", without_words(&simulated.left_out)).in_full());
    }
    if let Some(preemptions) = &simulated.schedule.preemptions {
        facts.push(Fact::new("preemption", preemptions_in_words(preemptions)));
    }
    if !simulated.limits.is_empty() {
        facts.push(
            Fact::new(
                "limits",
                format!("running jobs of {}", simulated.limits.join(", ")),
            )
            .in_full(),
        );
    }
    facts
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
