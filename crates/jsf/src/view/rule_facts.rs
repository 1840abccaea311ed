//! The rules that a ranking follows, as facts of its document.

use jsf_site::Rule;

use crate::view::document::Fact;

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
