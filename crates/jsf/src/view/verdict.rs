//! The verdict on a formula, in a sentence with which every command begins.

use jsf_openpbs::check::{CRASH_CODES, Checked, Verdict};

use crate::view::words::{capitalised, part_of_jobs};

/// What becomes of a formula at a site of Slurm.
pub(crate) const NO_FORMULA_IN_SLURM: &str = "Slurm computes priorities from weights; `jsf translate --to slurm` gives those that order as another formula does";

/// The verdict as a sentence about `subject`, such as `the new formula`; `None` for a formula that
/// works.
pub(crate) fn verdict_sentence(checked: &Checked, subject: &str) -> Option<String> {
    Some(match checked.verdict {
        Verdict::Works => return None,
        Verdict::Refused => format!("qmgr refuses {subject}: {}.", refusal(checked)),
        Verdict::Crashes => {
            let mut why = String::new();
            let mut findings = checked.findings.iter();
            if let Some(crash) = findings.find(|found| CRASH_CODES.contains(&found.code)) {
                why = format!(": {}", crash.message);
            }
            capitalised(&format!("{subject} crashes the scheduler{why}."))
        }
        Verdict::CrashesAtStart { jobs, kind } => capitalised(&format!(
            "{subject} fails for {} ({kind}) and would crash the scheduler at its next start.",
            part_of_jobs(jobs, jobs)
        )),
        Verdict::Fails {
            failing,
            evaluated,
            kind,
            consequence,
            can_crash,
        } => {
            let jobs = part_of_jobs(failing, evaluated);
            let crash = if can_crash {
                ", and can crash the scheduler at its next start"
            } else {
                ""
            };
            capitalised(&format!(
                "{subject} fails for {jobs} ({kind}), {consequence}{crash}."
            ))
        }
        Verdict::Ties { jobs } => capitalised(&format!(
            "{subject} orders nothing: {} have the same value.",
            part_of_jobs(jobs, jobs)
        )),
    })
}

/// Whether a formula orders jobs, as far as it is known: without that, ranks and waits say nothing of
/// it.
pub(crate) fn has_effect(checked: Option<&Checked>) -> bool {
    checked.is_none_or(|checked| checked.verdict.has_effect())
}

/// Why the server or qmgr refuses a formula, in the words of the first finding that says so.
fn refusal(checked: &Checked) -> String {
    match checked.errors().next() {
        Some(error) => error.message.to_string(),
        None => checked.validation.message.to_owned(),
    }
}
