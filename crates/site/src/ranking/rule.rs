//! The rules that a ranking follows, for people.

use serde::Serializer;

/// A rule that a ranking follows, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it is about, in a word or two.
    pub heading: &'static str,
    /// What it says.
    pub text: String,
    /// Whether it belongs beside the answer, as a policy does that is not OpenPBS's.
    pub is_notable: bool,
}

impl Rule {
    /// A rule that is looked up rather than read.
    pub fn new(heading: &'static str, text: impl Into<String>) -> Self {
        Self {
            heading,
            text: text.into(),
            is_notable: false,
        }
    }

    /// The rule beside the answer, if this holds.
    pub(crate) fn notable_if(self, is_notable: bool) -> Self {
        Self { is_notable, ..self }
    }
}

/// Writes rules as an object, each text under its heading.
pub fn by_heading<S: Serializer>(rules: &[Rule], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(rules.iter().map(|rule| (rule.heading, &rule.text)))
}
