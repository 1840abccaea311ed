//! What the site has and a cycle or a simulation does without.

use jsf_site::LeftOut;

use crate::view::words::count;

/// The part of the jobs that something must concern so that a headline names it.
const HEADLINE_PART: usize = 10;

/// All of it, in words; empty if there is nothing.
pub fn without_words(left_out: &[LeftOut]) -> String {
    let mut parts = Vec::new();
    for one in left_out {
        parts.push(format!("{} ({})", one.what, count(one.jobs, "job")));
    }
    parts.join("; ")
}

/// What concerns more than a tenth of so many jobs, for a headline; `None` if nothing does.
pub(crate) fn without_most(left_out: &[LeftOut], jobs: usize) -> Option<String> {
    let mut names = Vec::new();
    for one in left_out {
        if one.jobs * HEADLINE_PART > jobs {
            names.push(&*one.what);
        }
    }
    (!names.is_empty()).then(|| names.join(" and "))
}
