//! Lint levels: codes that are denied, whose findings become errors, and codes that are allowed, whose findings are
//! dropped.

use thiserror::Error;

use crate::diagnostic::{Code, Diagnostic, Severity};

/// The codes that are denied and those that are allowed.
///
/// ```
/// use job_sort_formula::diagnostic::Levels;
///
/// assert!(Levels::new(&["JSF203,JSF504"], &["jsf604"]).is_ok());
/// assert_eq!(Levels::new(&["JSF999"], &[]).unwrap_err().to_string(), "`JSF999` is not a known code");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Levels {
    denied: Vec<&'static Code>,
    allowed: Vec<&'static Code>,
}

/// The lists of codes are invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LevelsError {
    /// A code is unknown.
    #[error("`{0}` is not a known code")]
    Unknown(String),
    /// A code is in both lists.
    #[error("`{0}` is both denied and allowed")]
    Both(&'static str),
}

impl Levels {
    /// Parses the two lists; an element can contain several codes, separated by commas.
    ///
    /// # Errors
    /// If a code is unknown or is in both lists.
    pub fn new<S: AsRef<str>>(denied: &[S], allowed: &[S]) -> Result<Self, LevelsError> {
        let levels = Self { denied: codes(denied)?, allowed: codes(allowed)? };
        match levels.denied.iter().find(|code| levels.allowed.contains(code)) {
            Some(code) => Err(LevelsError::Both(code.name)),
            None => Ok(levels),
        }
    }

    /// Makes the denied findings errors, and drops the allowed ones.
    pub fn apply(&self, findings: &mut Vec<Diagnostic>) {
        let contains = |codes: &[&Code], found: &Diagnostic| codes.iter().any(|code| code.name == found.code);
        findings.retain(|found| !contains(&self.allowed, found));
        for found in findings.iter_mut().filter(|found| contains(&self.denied, found)) {
            found.severity = Severity::Error;
        }
    }
}

fn codes<S: AsRef<str>>(lists: &[S]) -> Result<Vec<&'static Code>, LevelsError> {
    let words = lists.iter().flat_map(|list| list.as_ref().split(',')).map(str::trim);
    words.map(|word| Code::find(word).ok_or_else(|| LevelsError::Unknown(word.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;

    #[test]
    fn denied_findings_are_errors_and_allowed_ones_are_dropped() {
        let warning = |code| Diagnostic::warning(code, "", Span::default());
        let mut findings = vec![warning("JSF203"), warning("JSF504"), warning("JSF605")];
        Levels::new(&["jsf203"], &["JSF504 , JSF604"]).unwrap().apply(&mut findings);
        let left: Vec<_> = findings.iter().map(|found| (found.code, found.severity)).collect();
        assert_eq!(left, [("JSF203", Severity::Error), ("JSF605", Severity::Warning)]);
        assert_eq!(Levels::new(&["JSF203"], &["jsf203"]).unwrap_err(), LevelsError::Both("JSF203"));
        assert_eq!(Levels::new(&[""], &[]).unwrap_err(), LevelsError::Unknown(String::new()));
    }
}
