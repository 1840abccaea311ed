//! What a site makes of findings: codes that it does not stand for, and codes that it does not mind.

use thiserror::Error;

use crate::diagnostic::{Code, Diagnostic, Severity};

/// The codes that were denied or allowed.
///
/// ```
/// use job_sort_formula::diagnostic::Levels;
///
/// assert!(Levels::new(&["JSF203,JSF504"], &["jsf604"]).is_ok());
/// assert_eq!(Levels::new(&["JSF999"], &[]).unwrap_err().to_string(), "`JSF999` is no code of a finding");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Levels {
    denied: Vec<&'static Code>,
    allowed: Vec<&'static Code>,
}

/// What was asked of the findings cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LevelsError {
    /// There is no such code.
    #[error("`{0}` is no code of a finding")]
    Unknown(String),
    /// The code is in both lists.
    #[error("`{0}` is both denied and allowed")]
    Both(&'static str),
}

impl Levels {
    /// Reads two lists of codes; each entry may name several, divided by commas.
    ///
    /// # Errors
    /// A word is no code, or a code is in both lists.
    pub fn new<S: AsRef<str>>(denied: &[S], allowed: &[S]) -> Result<Self, LevelsError> {
        let levels = Self { denied: codes(denied)?, allowed: codes(allowed)? };
        match levels.denied.iter().find(|code| levels.allowed.contains(code)) {
            Some(code) => Err(LevelsError::Both(code.name)),
            None => Ok(levels),
        }
    }

    /// Makes errors of the findings that are denied, and drops those that are allowed.
    pub fn apply(&self, findings: &mut Vec<Diagnostic>) {
        let names = |codes: &[&Code], found: &Diagnostic| codes.iter().any(|code| code.name == found.code);
        findings.retain(|found| !names(&self.allowed, found));
        for found in findings.iter_mut().filter(|found| names(&self.denied, found)) {
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
    fn denied_is_an_error_and_allowed_is_gone() {
        let warning = |code| Diagnostic::warning(code, "", Span::default());
        let mut findings = vec![warning("JSF203"), warning("JSF504"), warning("JSF605")];
        Levels::new(&["jsf203"], &["JSF504 , JSF604"]).unwrap().apply(&mut findings);
        let left: Vec<_> = findings.iter().map(|found| (found.code, found.severity)).collect();
        assert_eq!(left, [("JSF203", Severity::Error), ("JSF605", Severity::Warning)]);
        assert_eq!(Levels::new(&["JSF203"], &["jsf203"]).unwrap_err(), LevelsError::Both("JSF203"));
        assert_eq!(Levels::new(&[""], &[]).unwrap_err(), LevelsError::Unknown(String::new()));
    }
}
