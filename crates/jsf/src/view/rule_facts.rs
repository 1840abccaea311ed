//! The rules that a ranking or a simulation follows, as facts of its document.

use jsf_site::PolicyName;

use crate::view::document::Fact;

/// The formula and the rules of one ranking, of which the formula and a policy that is not
/// OpenPBS's are on the first screen.
pub(crate) fn rule_facts(formula: &str, rules: &[(&'static str, String)]) -> Vec<Fact> {
    let mut facts = vec![Fact::new("formula", formula.trim_end())];
    for fact in Fact::list(rules.iter().cloned()) {
        let is_first = fact.heading == "priorities" || is_policy_of_others(&fact);
        facts.push(fact.in_full_if(!is_first));
    }
    facts
}

/// Whether a fact names a fair-share policy that is not OpenPBS's.
pub(crate) fn is_policy_of_others(fact: &Fact) -> bool {
    let is_other = |word: &str| {
        word.parse()
            .is_ok_and(|policy: PolicyName| policy != PolicyName::Pbs)
    };
    let names_other = |line: &String| line.split([' ', ',']).any(is_other);
    matches!(&*fact.heading, "policy" | "fair share") && fact.lines.iter().any(names_other)
}
