//! Every finding's code: how bad it is unless something says otherwise, its title, and its page.

use std::fmt;

use crate::diagnostic::Severity;

/// A kind of finding.
///
/// ```
/// use job_sort_formula::diagnostic::{Code, Severity};
///
/// let code = Code::find("jsf201").unwrap();
/// assert_eq!((code.name, code.severity), ("JSF201", Severity::Error));
/// assert!(code.page.starts_with("# JSF201: "));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// `JSF` and three digits. It never changes and is never used again.
    pub name: &'static str,
    /// How bad such a finding is, at least.
    pub severity: Severity,
    /// What is found, in a few words.
    pub title: &'static str,
    /// The page, in Markdown: what it does, why it matters, an example, what to use instead.
    pub page: &'static str,
}

/// Writes the registry from one list.
macro_rules! codes {
    ($($name:literal $severity:ident $title:literal,)*) => {
        const ALL: &[Code] = &[$(Code {
            name: $name,
            severity: Severity::$severity,
            title: $title,
            page: include_str!(concat!("pages/", $name, ".md")),
        },)*];
    };
}

codes! {
    "JSF101" Error "the text is no expression",
    "JSF102" Error "an operator of another language",
    "JSF103" Error "beyond the limits",
    "JSF104" Error "valid Python, but no arithmetic",
    "JSF105" Error "a statement: accepted, then an error for every job",
    "JSF106" Error "text that breaks the scheduler's script",
    "JSF201" Error "a name that OpenPBS does not know",
    "JSF202" Error "a resource that is not numeric",
    "JSF203" Warning "a deprecated name",
    "JSF204" Warning "a resource hidden by a name of Python's",
    "JSF205" Error "a resource that hides a function",
    "JSF206" Error "a name in the wrong case",
    "JSF207" Error "a name of OpenPBS's own scripts",
    "JSF208" Error "a function behind the name of its module",
    "JSF301" Error "jobs of the queue that fail",
    "JSF302" Error "jobs of the queue whose result kills the scheduler",
    "JSF303" Warning "a division by zero",
    "JSF304" Warning "outside a function's domain",
    "JSF305" Warning "an overflow",
    "JSF306" Warning "a power that is a complex number",
    "JSF307" Warning "operands that the operator does not take",
    "JSF308" Error "an error for every job",
    "JSF309" Warning "an integer that takes the machine's memory",
    "JSF310" Error "too deep for Python's compiler",
    "JSF401" Error "a result that is no number kills the scheduler",
    "JSF402" Warning "an error in the first evaluation kills the scheduler",
    "JSF403" Error "an assignment that outlives its job",
    "JSF404" Error "access to the interpreter: this runs as root",
    "JSF405" Warning "an integer too large for a double kills the scheduler",
    "JSF501" Warning "a fair-share number that is printed as 0",
    "JSF502" Warning "an amount that reaches the formula as 0",
    "JSF503" Warning "a term that never changes the value",
    "JSF504" Warning "ties that only the scheduler's precision makes",
    "JSF505" Note "an integer beyond 2^53 meets a float",
    "JSF601" Warning "the formula favours heavy users",
    "JSF602" Warning "the formula holds waiting jobs back",
    "JSF603" Warning "eligible_time is used, but does not accrue",
    "JSF604" Note "another setting orders jobs beside the formula",
    "JSF605" Warning "a threshold that no job passes, or every job",
    "JSF606" Warning "a slip of units",
    "JSF607" Warning "the formula gives every job the same value",
    "JSF608" Warning "a branch that is never taken",
    "JSF609" Warning "a comparison with always the same outcome",
    "JSF610" Error "`,` as decimal point",
    "JSF611" Error "`%` as per cent",
    "JSF612" Warning "`^` as power",
    "JSF613" Error "a number is called",
    "JSF614" Error "a unit in the formula",
}

impl Code {
    /// Every code, in ascending order.
    pub fn all() -> &'static [Self] {
        ALL
    }

    /// The code of that name, in any case.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|code| code.name.eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADINGS: [&str; 4] = ["## What it does", "## Why it matters", "## Example", "## Use instead"];

    #[test]
    fn every_page_has_the_same_headings() {
        for code in ALL {
            let headings: Vec<&str> = code.page.lines().filter(|line| line.starts_with('#')).collect();
            let title = format!("# {}: {}", code.name, code.title);
            assert_eq!(headings.first(), Some(&&*title));
            assert_eq!(headings[1..], HEADINGS, "{code}");
            assert!(code.page.lines().all(|line| line.len() <= 120 || line.starts_with("{\"")), "{code} is too wide");
        }
    }

    #[test]
    fn codes_ascend_and_each_is_found() {
        assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(ALL.iter().all(|code| Code::find(&code.name.to_lowercase()) == Some(code)));
        assert_eq!(Code::find("JSF999"), None);
    }
}
