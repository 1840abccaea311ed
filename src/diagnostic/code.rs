//! The codes of findings, each with its severity, its title and its page.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::diagnostic::Severity;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
