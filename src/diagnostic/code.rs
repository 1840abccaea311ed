//! The codes of findings, each with its severity, its title and its page; and lint levels, which
//! name codes: findings that are denied become errors, findings that are allowed are dropped, and a
//! selection drops all findings but its own.

use std::fmt;

use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::diagnostic::{Diagnostic, Severity};

/// Defines the enumeration and its table from one list. A second severity is the greatest, unless
/// `--deny` makes it an error.
macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $(to $most:ident)? $title:literal,)*) => {
        /// The code of a kind of finding.
        ///
        /// ```
        /// use job_sort_formula::diagnostic::{Code, Severity};
        ///
        /// let code = Code::find("jsf201").unwrap();
        /// assert_eq!((code, code.name(), code.severity()), (Code::UnknownName, "JSF201", Severity::Error));
        /// assert!(code.page().starts_with("# JSF201: "));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!($name, ": ", $title)] $variant,)*
        }

        impl Code {
            /// Every code, in ascending order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// `JSF` and three digits. A code does not change and is not reused.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The least severity of such a finding.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// The greatest severity of such a finding, unless `--deny` makes it an error.
            pub fn most_severe(self) -> Severity {
                match self { $($(Self::$variant => Severity::$most,)?)* _ => self.severity() }
            }

            /// What is wrong, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// The page, in Markdown, with four headings: what it does, why it matters, example,
            /// use instead.
            pub fn page(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!("pages/", $name, ".md")),)* }
            }
        }
    };
}

codes! {
    InvalidSyntax "JSF101" Error "invalid syntax",
    ForeignOperator "JSF102" Error "an operator that Python does not have",
    BeyondLimits "JSF103" Error "a formula beyond the limits",
    NotArithmetic "JSF104" Error "valid Python, but not arithmetic",
    Statement "JSF105" Error "a statement instead of an expression",
    BreaksScript "JSF106" Error "text that breaks the scheduler's script",
    LinesLeftOut "JSF107" Warning "lines that PBS leaves out",
    NotPassedOn "JSF108" Error "text that qmgr does not pass on",
    UnknownName "JSF201" Error "an unknown name",
    NotNumeric "JSF202" Error "a resource that is not numeric",
    DeprecatedName "JSF203" Warning "a deprecated name",
    HiddenResource "JSF204" Warning "a resource hidden by a Python name",
    HiddenFunction "JSF205" Error "a resource that hides a function",
    WrongCase "JSF206" Error "a name in the wrong case",
    ScriptVariable "JSF207" Error "a variable of OpenPBS's scripts",
    ModulePrefix "JSF208" Error "a function with the prefix of its module",
    NewerPython "JSF209" Warning "a formula that only some versions of Python take",
    VersionDependentValue "JSF210" Note to Warning "a value that depends on the version of Python",
    FailingJobs "JSF301" Error "jobs in the queue for which the formula fails",
    CrashingJobs "JSF302" Error "jobs in the queue whose result crashes the scheduler",
    DivisionByZero "JSF303" Warning to Error "a division by zero",
    OutsideDomain "JSF304" Warning to Error "an argument outside a function's domain",
    Overflow "JSF305" Warning to Error "an overflow",
    ComplexPower "JSF306" Warning to Error "a power that is a complex number",
    UnsupportedType "JSF307" Warning to Error "operands of an unsupported type",
    AlwaysFails "JSF308" Error "an error for every job",
    HugeInteger "JSF309" Warning to Error "an integer of millions of digits",
    TooDeep "JSF310" Error "a formula that may be too deep for Python",
    UnknownValues "JSF311" Error "jobs in the queue whose value jsf cannot tell",
    NotANumber "JSF401" Error "a result that is not a number crashes the scheduler",
    FirstEvaluation "JSF402" Note to Error "an error in the first evaluation crashes the scheduler",
    Assignment "JSF403" Error "an assignment that outlives the job",
    InterpreterAccess "JSF404" Error "access to the interpreter, which runs as root",
    TooLargeForDouble "JSF405" Warning to Error "an integer too large for a double crashes the scheduler",
    DefectOfVersion "JSF406" Warning "a defect of this version of OpenPBS",
    TruncatedShare "JSF501" Warning "a fair-share number that is printed as 0",
    TruncatedAmount "JSF502" Warning "an amount that reaches the formula as 0",
    AbsorbedTerm "JSF503" Warning "a term too small to change the value",
    RoundingTies "JSF504" Warning "ties caused by the scheduler's precision",
    InexactInteger "JSF505" Note "an integer beyond 2^53 combined with a float",
    FavorsHeavyUsers "JSF601" Warning "the formula favors heavy users",
    DelaysWaitingJobs "JSF602" Warning "the formula delays waiting jobs",
    NoEligibleTime "JSF603" Warning "eligible_time is used, but does not accrue",
    OtherOrdering "JSF604" Note "another setting that orders jobs",
    UselessThreshold "JSF605" Warning to Error "a threshold that no job or every job passes",
    WrongUnit "JSF606" Warning "a number in the wrong unit",
    ConstantValue "JSF607" Note to Warning "the same value for every job",
    DeadBranch "JSF608" Warning "a branch that is never taken",
    ConstantComparison "JSF609" Warning "a comparison with only one outcome",
    DecimalComma "JSF610" Error "a decimal comma",
    PercentSign "JSF611" Error "a percent sign",
    CaretForPower "JSF612" Warning to Error "`^` instead of `**`",
    CalledNumber "JSF613" Error "a number that is called",
    UnitInFormula "JSF614" Error "a unit in the formula",
    UnusedResource "JSF615" Warning "a resource that no job in the queue has",
    OneValueForAll "JSF616" Warning "one value for all jobs in the queue",
    TriedOnNoJob "JSF617" Warning "a formula that was tried on no job",
    IdleSummand "JSF618" Warning "a summand too small to decide the order",
    LacksDefault "JSF619" Warning "jobs without a resource that new ones get by default",
    NoWalltime "JSF620" Warning "running jobs without a walltime",
    MissingJobs "JSF621" Warning "fewer jobs than the server counts",
    UnderDefaultThreshold "JSF622" Warning "jobs that the default threshold excludes",
    ResourceNamedAsInput "JSF623" Warning "a resource with the name of an input of the scheduler",
}

impl Code {
    /// The code with this name, in any case.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Equality with the name, for programs that know it.
impl PartialEq<&str> for Code {
    fn eq(&self, name: &&str) -> bool {
        self.name() == *name
    }
}

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
    // these letters at least: an empty word, as after a comma, begins every code
    let is_known = prefix.starts_with("JSF") && names.any(|name| name.starts_with(&prefix));
    is_known.then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;

    const HEADINGS: [&str; 4] = [
        "## What it does",
        "## Why it matters",
        "## Example",
        "## Use instead",
    ];

    #[test]
    fn every_page_has_the_same_headings() {
        for code in Code::ALL {
            let headings: Vec<&str> = code
                .page()
                .lines()
                .filter(|line| line.starts_with('#'))
                .collect();
            let title = format!("# {}: {}", code.name(), code.title());
            assert_eq!(headings.first(), Some(&&*title));
            assert_eq!(headings[1..], HEADINGS, "{code}");
            assert!(
                code.page()
                    .lines()
                    .all(|line| line.len() <= 120 || line.starts_with("{\"")),
                "{code} is too wide"
            );
        }
    }

    #[test]
    fn codes_ascend_and_each_is_found() {
        assert!(
            Code::ALL
                .windows(2)
                .all(|pair| pair[0].name() < pair[1].name())
        );
        assert!(
            Code::ALL
                .iter()
                .all(|code| Code::find(&code.name().to_lowercase()) == Some(*code))
        );
        assert_eq!(Code::find("JSF999"), None);
    }

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
