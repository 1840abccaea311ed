//! Lint levels: findings that are denied become errors, findings that are allowed are dropped, and
//! a selection drops all findings but its own.

use thiserror::Error;

use super::{Code, Diagnostic, Severity};

/// The prefix of the codes of syntax errors. A formula with one has no other findings.
const SYNTAX: &str = "JSF1";
/// The selector for all findings that are warnings.
const WARNINGS: &str = "warnings";

/// The findings that are denied, allowed and selected. Each is given as a code, as a prefix of
/// codes such as `JSF6`, or as `warnings`. Where a finding is both denied and allowed, the longer
/// code or prefix wins.
///
/// ```
/// use job_sort_formula::diagnostic::Levels;
///
/// assert!(Levels::new(&["JSF203,JSF504"], &["jsf604"], &[]).is_ok());
/// assert!(Levels::new(&["warnings"], &["JSF6"], &["JSF2", "JSF6"]).is_ok());
/// let unknown = Levels::new(&["JSF999"], &[], &[]).unwrap_err();
/// assert_eq!(unknown.to_string(), "`JSF999` is not a known code, a prefix of codes, or `warnings`");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Levels {
    denied: Vec<String>,
    allowed: Vec<String>,
    selected: Vec<String>,
}

/// The lists of codes are invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LevelsError {
    /// A code is unknown.
    #[error("`{0}` is not a known code, a prefix of codes, or `warnings`")]
    Unknown(String),
    /// A code is in both lists.
    #[error("`{0}` is both denied and allowed")]
    Both(String),
}

impl Levels {
    /// Parses the three lists; an element can contain several codes, separated by commas. An empty
    /// selection selects everything.
    ///
    /// # Errors
    /// If a code is unknown, or is both denied and allowed.
    pub fn new<S: AsRef<str>>(
        denied: &[S],
        allowed: &[S],
        selected: &[S],
    ) -> Result<Self, LevelsError> {
        let levels = Self {
            denied: selectors(denied)?,
            allowed: selectors(allowed)?,
            selected: selectors(selected)?,
        };
        for selector in &levels.denied {
            if levels.allowed.contains(selector) {
                return Err(LevelsError::Both(selector.clone()));
            }
        }
        Ok(levels)
    }

    /// Makes the denied findings errors, and drops the allowed ones and those that are not
    /// selected. A formula that cannot be parsed is reported whatever is selected.
    pub fn apply(&self, findings: &mut Vec<Diagnostic>) {
        // `None` is less than any length, and where both are equal, denying wins
        findings.retain(|found| {
            self.selects(found)
                && specificity(&self.allowed, found) <= specificity(&self.denied, found)
        });
        for found in findings {
            if specificity(&self.denied, found).is_some() {
                found.severity = Severity::Error;
            }
        }
    }

    fn selects(&self, found: &Diagnostic) -> bool {
        self.selected.is_empty()
            || found.code.name().starts_with(SYNTAX)
            || specificity(&self.selected, found).is_some()
    }
}

fn specificity(selectors: &[String], found: &Diagnostic) -> Option<usize> {
    let mut longest = None;
    for selector in selectors {
        let (matches, length) = if selector == WARNINGS {
            // every code and every prefix of codes is more specific
            (found.severity == Severity::Warning, 0)
        } else {
            (found.code.name().starts_with(&**selector), selector.len())
        };
        longest = longest.max(matches.then_some(length));
    }
    longest
}

fn selectors<S: AsRef<str>>(lists: &[S]) -> Result<Vec<String>, LevelsError> {
    let mut selectors = Vec::new();
    for list in lists {
        for word in list.as_ref().split(',').map(str::trim) {
            match selector(word) {
                Some(selector) => selectors.push(selector),
                None => return Err(LevelsError::Unknown(word.to_owned())),
            }
        }
    }
    Ok(selectors)
}

/// `warnings`, or a code or a prefix of codes in upper case.
fn selector(word: &str) -> Option<String> {
    if word.eq_ignore_ascii_case(WARNINGS) {
        return Some(WARNINGS.to_owned());
    }
    let prefix = word.to_ascii_uppercase();
    let mut names = Code::ALL.iter().map(|code| code.name());
    let is_known = prefix.starts_with("JSF") && names.any(|name| name.starts_with(&prefix));
    is_known.then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;

    fn left(denied: &[&str], allowed: &[&str], selected: &[&str]) -> Vec<(&'static str, Severity)> {
        let codes = ["JSF203", "JSF504", "JSF605", "JSF604", "JSF101"]
            .map(|name| Code::find(name).unwrap());
        let mut findings = Vec::from(codes.map(|code| Diagnostic::new(code, "", Span::default())));
        Levels::new(denied, allowed, selected)
            .unwrap()
            .apply(&mut findings);
        findings
            .iter()
            .map(|found| (found.code.name(), found.severity))
            .collect()
    }

    #[test]
    fn denied_findings_are_errors_and_allowed_ones_are_dropped() {
        use Severity::{Error, Note, Warning};
        let expected = [("JSF203", Error), ("JSF605", Warning), ("JSF101", Error)];
        assert_eq!(left(&["jsf203"], &["JSF504 , JSF604"], &[]), expected);
        let expected = [
            ("JSF203", Error),
            ("JSF504", Error),
            ("JSF605", Error),
            ("JSF604", Note),
            ("JSF101", Error),
        ];
        assert_eq!(left(&["warnings"], &[], &[]), expected);
        let both = Levels::new(&["JSF203"], &["jsf203"], &[]).unwrap_err();
        assert_eq!(both, LevelsError::Both("JSF203".into()));
        for unknown in ["", "J"] {
            assert_eq!(
                Levels::new(&[unknown], &[], &[]).unwrap_err(),
                LevelsError::Unknown(unknown.into())
            );
        }
    }

    #[test]
    fn the_longer_prefix_wins() {
        use Severity::Error;
        let allowed = ["JSF5", "JSF6"];
        assert_eq!(
            left(&["warnings"], &allowed, &[]),
            [("JSF203", Error), ("JSF101", Error)]
        );
        let expected = [("JSF203", Error), ("JSF604", Error), ("JSF101", Error)];
        assert_eq!(left(&["warnings", "JSF604"], &allowed, &[]), expected);
    }

    #[test]
    fn a_selection_keeps_what_it_names_and_syntax_errors() {
        let codes = left(&[], &["JSF604"], &["JSF6"])
            .into_iter()
            .map(|(code, _)| code);
        assert_eq!(codes.collect::<Vec<_>>(), ["JSF605", "JSF101"]);
    }
}
