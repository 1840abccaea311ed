//! The codes of findings, each with its severity, its title and its page.

use std::fmt;

use crate::diagnostic::Severity;

/// The code of a kind of finding.
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
    /// `JSF` and three digits. A code does not change and is not reused.
    pub name: &'static str,
    /// The least severity of such a finding.
    pub severity: Severity,
    /// The greatest severity of such a finding, unless `--deny` makes it an error.
    pub most_severe: Severity,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// The page, in Markdown, with four headings: what it does, why it matters, example, use instead.
    pub page: &'static str,
}

/// The last of one or two severities.
const fn greatest(severities: &[Severity]) -> Severity {
    severities[severities.len() - 1]
}

/// Builds the table of codes.
macro_rules! codes {
    ($($name:literal $severity:ident $(to $most:ident)? $title:literal,)*) => {
        const ALL: &[Code] = &[$(Code {
            name: $name,
            severity: Severity::$severity,
            most_severe: greatest(&[Severity::$severity $(, Severity::$most)?]),
            title: $title,
            page: include_str!(concat!("pages/", $name, ".md")),
        },)*];
    };
}

codes! {
    "JSF101" Error "invalid syntax",
    "JSF102" Error "an operator that Python does not have",
    "JSF103" Error "a formula beyond the limits",
    "JSF104" Error "valid Python, but not arithmetic",
    "JSF105" Error "a statement instead of an expression",
    "JSF106" Error "text that breaks the scheduler's script",
    "JSF107" Warning "lines that PBS leaves out",
    "JSF108" Error "text that qmgr does not pass on",
    "JSF201" Error "an unknown name",
    "JSF202" Error "a resource that is not numeric",
    "JSF203" Warning "a deprecated name",
    "JSF204" Warning "a resource hidden by a Python name",
    "JSF205" Error "a resource that hides a function",
    "JSF206" Error "a name in the wrong case",
    "JSF207" Error "a variable of OpenPBS's scripts",
    "JSF208" Error "a function with the prefix of its module",
    "JSF209" Warning "a formula that only some versions of Python take",
    "JSF210" Note to Warning "a value that depends on the version of Python",
    "JSF301" Error "jobs in the queue for which the formula fails",
    "JSF302" Error "jobs in the queue whose result crashes the scheduler",
    "JSF303" Warning to Error "a division by zero",
    "JSF304" Warning to Error "an argument outside a function's domain",
    "JSF305" Warning to Error "an overflow",
    "JSF306" Warning to Error "a power that is a complex number",
    "JSF307" Warning to Error "operands of an unsupported type",
    "JSF308" Error "an error for every job",
    "JSF309" Warning to Error "an integer of millions of digits",
    "JSF310" Error "a formula that may be too deep for Python",
    "JSF311" Error "jobs in the queue whose value jsf cannot tell",
    "JSF401" Error "a result that is not a number crashes the scheduler",
    "JSF402" Note to Error "an error in the first evaluation crashes the scheduler",
    "JSF403" Error "an assignment that outlives the job",
    "JSF404" Error "access to the interpreter, which runs as root",
    "JSF405" Warning to Error "an integer too large for a double crashes the scheduler",
    "JSF406" Warning "a defect of this version of OpenPBS",
    "JSF501" Warning "a fair-share number that is printed as 0",
    "JSF502" Warning "an amount that reaches the formula as 0",
    "JSF503" Warning "a term too small to change the value",
    "JSF504" Warning "ties caused by the scheduler's precision",
    "JSF505" Note "an integer beyond 2^53 combined with a float",
    "JSF601" Warning "the formula favors heavy users",
    "JSF602" Warning "the formula delays waiting jobs",
    "JSF603" Warning "eligible_time is used, but does not accrue",
    "JSF604" Note "another setting that orders jobs",
    "JSF605" Warning to Error "a threshold that no job or every job passes",
    "JSF606" Warning "a number in the wrong unit",
    "JSF607" Note to Warning "the same value for every job",
    "JSF608" Warning "a branch that is never taken",
    "JSF609" Warning "a comparison with only one outcome",
    "JSF610" Error "a decimal comma",
    "JSF611" Error "a percent sign",
    "JSF612" Warning to Error "`^` instead of `**`",
    "JSF613" Error "a number that is called",
    "JSF614" Error "a unit in the formula",
    "JSF615" Warning "a resource that no job in the queue has",
    "JSF616" Warning "one value for all jobs in the queue",
    "JSF617" Warning "a formula that was tried on no job",
    "JSF618" Warning "a summand too small to decide the order",
    "JSF619" Warning "jobs without a resource that new ones get by default",
    "JSF620" Warning "running jobs without a walltime",
    "JSF621" Warning "fewer jobs than the server counts",
    "JSF622" Warning "jobs that the default threshold excludes",
    "JSF623" Warning "a resource with the name of an input of the scheduler",
}

impl Code {
    /// Every code, in ascending order.
    pub fn all() -> &'static [Self] {
        ALL
    }

    /// The code with this name, in any case.
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
