//! The rules that a ranking, a cycle or a simulation follows, as facts of its document, and what of
//! the site it does without.

use jsf_site::{LeftOut, Rule};

use crate::view::document::Fact;
use crate::view::words::count;

/// The part of the jobs that something must concern so that a headline names it.
const HEADLINE_PART: usize = 10;

/// The formula and the rules of one ranking.
pub(crate) fn rule_facts(formula: &str, rules: &[Rule]) -> Vec<Fact> {
    let mut facts = vec![Fact::new("formula", formula.trim_end())];
    facts.extend(facts_of(rules));
    facts
}

/// The rules, of which those that belong beside the answer are on the first screen.
pub(crate) fn facts_of(rules: &[Rule]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for rule in rules {
        facts.push(Fact::new(rule.heading, &*rule.text).in_full_if(!rule.is_notable));
    }
    facts
}

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
