//! What the site has and a cycle or a simulation does without.

use jsf_site::LeftOut;

use crate::view::words::count;

/// The part of the jobs that something must concern so that a headline names it.
const HEADLINE_PART: usize = 10;

/// All of it, in words; empty if there is nothing.
pub fn without_words(left_out: &[LeftOut]) -> String {
    let parts = left_out
        .iter()
        .map(|one| format!("{} ({})", one.what, count(one.jobs, "job")));
    parts.collect::<Vec<_>>().join("; ")
}

/// What concerns more than a tenth of so many jobs, for a headline; `None` if nothing does.
pub(crate) fn without_most(left_out: &[LeftOut], jobs: usize) -> Option<String> {
    let concerned = left_out
        .iter()
        .filter(|one| one.jobs * HEADLINE_PART > jobs);
    let names: Vec<&str> = concerned.map(|one| &*one.what).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}
