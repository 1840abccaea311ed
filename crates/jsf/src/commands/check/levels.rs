//! What `--deny`, `--allow` and `--select` make of findings: those that are denied become errors, those
//! that are allowed are dropped, and a selection drops all but its own.

use job_sort_formula::diagnostic::{Code, Diagnostic, Severity};

/// The prefix of the codes of syntax errors. A formula with one has no other findings.
const SYNTAX: &str = "JSF1";
/// The selector for all findings that are warnings.
const WARNINGS: &str = "warnings";

/// The findings that are denied, allowed and selected. Each is given as a code, as a prefix of
/// codes such as `JSF6`, or as `warnings`. Where a finding is both denied and allowed, the longer
/// code or prefix wins.
pub(super) struct Levels {
    denied: Vec<String>,
    allowed: Vec<String>,
    selected: Vec<String>,
}

impl Levels {
    /// Parses the three lists; an element can contain several codes, separated by commas. An empty
    /// selection selects everything.
    ///
    /// # Errors
    /// If a code is unknown, or is both denied and allowed.
    pub(super) fn new(
        denied: &[String],
        allowed: &[String],
        selected: &[String],
    ) -> Result<Self, String> {
        let levels = Self {
            denied: selectors(denied)?,
            allowed: selectors(allowed)?,
            selected: selectors(selected)?,
        };
        for selector in &levels.denied {
            if levels.allowed.contains(selector) {
                return Err(format!("`{selector}` is both denied and allowed"));
            }
        }
        Ok(levels)
    }

    /// Makes the denied findings errors, and drops the allowed ones and those that are not
    /// selected. A formula that cannot be parsed is reported whatever is selected.
    pub(super) fn apply(&self, findings: &mut Vec<Diagnostic>) {
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

fn selectors(lists: &[String]) -> Result<Vec<String>, String> {
    let mut selectors = Vec::new();
    for word in lists.iter().flat_map(|list| list.split(',')) {
        let word = word.trim();
        selectors.push(selector(word).ok_or_else(|| {
            format!("`{word}` is not a known code, a prefix of codes, or `warnings`")
        })?);
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
    // these letters at least: an empty word, as after a comma, begins every code
    let is_known = prefix.starts_with("JSF") && names.any(|name| name.starts_with(&prefix));
    is_known.then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_sort_formula::diagnostic::Span;

    fn levels(denied: &[&str], allowed: &[&str], selected: &[&str]) -> Result<Levels, String> {
        let [denied, allowed, selected] = [denied, allowed, selected]
            .map(|list| Vec::from_iter(list.iter().map(ToString::to_string)));
        Levels::new(&denied, &allowed, &selected)
    }

    fn left(denied: &[&str], allowed: &[&str], selected: &[&str]) -> Vec<(&'static str, Severity)> {
        let codes = ["JSF203", "JSF504", "JSF605", "JSF604", "JSF101"]
            .map(|name| Code::find(name).unwrap());
        let mut findings = Vec::from(codes.map(|code| Diagnostic::new(code, "", Span::default())));
        levels(denied, allowed, selected)
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
        let both = levels(&["JSF203"], &["jsf203"], &[]).err();
        assert_eq!(both.as_deref(), Some("`JSF203` is both denied and allowed"));
        for unknown in ["", "J", "JSF999"] {
            let expected =
                format!("`{unknown}` is not a known code, a prefix of codes, or `warnings`");
            assert_eq!(levels(&[unknown], &[], &[]).err(), Some(expected));
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
