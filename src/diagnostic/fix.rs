//! Fixes, put into the text that they mend.

use crate::diagnostic::{Applicability, Diagnostic, Fix};

/// The text with every [safe](Applicability::Safe) fix applied, the last place first; of two that overlap the later
/// one waits. `None` if there is none.
///
/// ```
/// use job_sort_formula::diagnostic::{Applicability, Diagnostic, Fix, with_safe_fixes};
/// use job_sort_formula::diagnostic::Span;
///
/// let fix = Fix { span: Span::new(0, 5), replacement: "ncpus".into(), applicability: Applicability::Safe };
/// let found = Diagnostic::error("JSF206", "the name is `ncpus`", Span::new(0, 5)).with_fix(fix);
/// assert_eq!(with_safe_fixes("NCPUS * 2", &[found]).as_deref(), Some("ncpus * 2"));
/// ```
pub fn with_safe_fixes(text: &str, findings: &[Diagnostic]) -> Option<String> {
    let is_safe = |fix: &&Fix| fix.applicability == Applicability::Safe && text.get(fix.span.range()).is_some();
    let mut fixes: Vec<&Fix> = findings.iter().filter_map(|found| found.fix.as_ref()).filter(is_safe).collect();
    fixes.sort_by_key(|fix| fix.span);
    let mut free_from = 0;
    fixes.retain(|fix| {
        let fits = fix.span.start >= free_from;
        free_from = if fits { fix.span.end.max(fix.span.start + 1) } else { free_from };
        fits
    });
    if fixes.is_empty() {
        return None;
    }
    let mut fixed = text.to_owned();
    for fix in fixes.iter().rev() {
        fixed.replace_range(fix.span.range(), &fix.replacement);
    }
    Some(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;

    fn found(start: usize, end: usize, replacement: &str, applicability: Applicability) -> Diagnostic {
        let span = Span::new(start, end);
        let fix = Fix { span, replacement: replacement.into(), applicability };
        Diagnostic::error("JSF201", "", span).with_fix(fix)
    }

    #[test]
    fn only_safe_fixes_and_none_twice() {
        let safe = Applicability::Safe;
        let findings = [
            found(4, 5, "dd", safe),
            found(0, 1, "aa", safe),
            found(0, 3, "never", safe),
            found(2, 3, "x", Applicability::Unsafe),
            found(90, 99, "outside", safe),
            Diagnostic::error("JSF101", "", Span::new(0, 1)),
        ];
        assert_eq!(with_safe_fixes("a+b+d", &findings).as_deref(), Some("aa+b+dd"));
        assert_eq!(with_safe_fixes("a+b", &findings[3..]), None);
    }
}
