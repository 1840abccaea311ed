//! Which Python evaluates a formula, and what versions of it compute differently: OpenPBS embeds the
//! one of the system that it is built on.
//!
//! Each difference has a name and its source. Which functions exist and which arguments they take is
//! in the table of [`Function`]. Issues are numbered as in CPython's change log: `bpo-…` at
//! bugs.python.org, `gh-…` at github.com/python/cpython.

use std::fmt;
use std::hint::black_box;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::python::{Function, Raised};

/// A minor version of CPython 3. They are ordered, the oldest first.
///
/// ```
/// use job_sort_formula::python::PythonVersion;
///
/// let version: PythonVersion = "3.9".parse()?;
/// assert_eq!((version.to_string().as_str(), version < PythonVersion::default()), ("3.9", true));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PythonVersion {
    minor: u8,
}

impl PythonVersion {
    /// The oldest version that is known, of Red Hat 8 and SLES 15.
    pub const OLDEST: Self = Self { minor: 6 };
    /// The newest version that is known.
    pub const NEWEST: Self = Self { minor: 14 };

    /// Python 3.7.
    pub const V3_7: Self = Self { minor: 7 };
    /// Python 3.8.
    pub const V3_8: Self = Self { minor: 8 };
    /// Python 3.9.
    pub const V3_9: Self = Self { minor: 9 };
    /// Python 3.10.
    pub const V3_10: Self = Self { minor: 10 };
    /// Python 3.11.
    pub const V3_11: Self = Self { minor: 11 };
    /// Python 3.12.
    pub const V3_12: Self = Self { minor: 12 };
    /// Python 3.13.
    pub const V3_13: Self = Self { minor: 13 };
    /// Python 3.14.
    pub const V3_14: Self = Self { minor: 14 };

    /// Python 3 with this minor version; `None` if it is not known.
    pub const fn new(minor: u8) -> Option<Self> {
        if Self::OLDEST.minor <= minor && minor <= Self::NEWEST.minor {
            Some(Self { minor })
        } else {
            None
        }
    }

    /// The minor version: 11 for Python 3.11.
    pub const fn minor(self) -> u8 {
        self.minor
    }

    /// All known versions, the oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (Self::OLDEST.minor..=Self::NEWEST.minor).map(|minor| Self { minor })
    }
}

impl Default for PythonVersion {
    /// 3.11, where nothing says which one it is.
    fn default() -> Self {
        // the version whose error texts are compared to the letter as well
        Self { minor: 11 }
    }
}

impl fmt::Display for PythonVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "3.{}", self.minor)
    }
}

impl FromStr for PythonVersion {
    type Err = String;

    /// Reads `3.9`; a third number, as in `3.9.18`, is left out.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.trim().split('.');
        let minor = match (parts.next(), parts.next()) {
            (Some("3"), Some(minor)) => minor.parse().ok().and_then(Self::new),
            _ => None,
        };
        minor.ok_or_else(|| {
            format!(
                "expected a version of Python from {} to {}, such as 3.9",
                Self::OLDEST,
                Self::NEWEST
            )
        })
    }
}

impl Serialize for PythonVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PythonVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl PythonVersion {
    /// Whether `sum` compensates the rounding errors of floats. "What's New in Python 3.12", "Other
    /// Language Changes": "`sum()` now uses Neumaier summation to improve accuracy and
    /// commutativity when summing floats or mixed ints and floats" (gh-100425).
    pub(crate) fn compensates_sums(self) -> bool {
        self >= Self::V3_12
    }

    /// Whether `sum` compensates the rounding errors of the integers among floats too, and converts
    /// them to doubles whatever their size. The change log of Python 3.14.0 alpha 1 (gh-122234).
    pub(super) fn compensates_integers_in_sums(self) -> bool {
        self >= Self::V3_14
    }

    /// Whether `factorial` takes a float without a fraction. The documentation of `math.factorial`:
    /// "Changed in version 3.10: Floats with integral values (like 5.0) are no longer accepted"
    /// (bpo-37999); deprecated in 3.9 (bpo-37315).
    pub(crate) fn has_factorials_of_floats(self) -> bool {
        self < Self::V3_10
    }

    /// Whether `key=None` of `max` and `min` means no key. The documentation of `max`: "Changed in
    /// version 3.8: The key can be None" (bpo-34149).
    pub(super) fn has_none_as_a_key(self) -> bool {
        self >= Self::V3_8
    }

    /// Whether `pow(0.0, -inf)` of `math` is infinite instead of a domain error. The documentation
    /// of `math.pow`: "Changed in version 3.11: The special cases `pow(0.0, -inf)` and
    /// `pow(-0.0, -inf)` were changed to return inf" (bpo-44339).
    pub(super) fn has_infinite_power_of_zero(self) -> bool {
        self >= Self::V3_11
    }

    /// The nan that `atan2`, `hypot` and `dist` give if an argument is one. Up to 3.10 it is an
    /// infinity times zero, with the sign of the processor's (negative on x86-64), which `copysign`
    /// shows; observed with CPython 3.6 to 3.13.
    pub(super) fn nan(self) -> f64 {
        if self >= Self::V3_11 {
            f64::NAN
        } else {
            // computed at run time, because the compiler's own nan has another sign
            black_box(f64::INFINITY) * 0.0
        }
    }

    /// How `hypot` and `dist` round.
    pub(super) fn norm(self) -> Norm {
        match self {
            _ if self < Self::V3_8 => Norm::Library,
            _ if self < Self::V3_10 => Norm::Compensated,
            _ => Norm::Accurate,
        }
    }

    /// Whether `erf` and `erfc` are those of the C library. "What's New in Python 3.7",
    /// "Optimizations" (bpo-26121).
    pub(super) fn has_library_erf(self) -> bool {
        self >= Self::V3_7
    }

    /// Whether an error of the second of two doubles hides that of the first. Before Argument
    /// Clinic converted the functions of `math` for Python 3.7 (bpo-20186), both were converted
    /// before the check.
    pub(super) fn raises_the_second_error(self) -> bool {
        self < Self::V3_7
    }

    /// Whether a shift by more than 63 bits can tell is an `OverflowError`, whatever is shifted.
    /// The change log of Python 3.7.0 alpha 1: "Shift operation now has less opportunity to raise
    /// OverflowError" (bpo-29816).
    pub(super) fn limits_shift_counts(self) -> bool {
        self < Self::V3_7
    }

    /// Whether a call has at most 255 arguments. "What's New in Python 3.7", "Other Language
    /// Changes": "More than 255 arguments can now be passed to a function".
    pub(crate) fn limits_arguments(self) -> bool {
        self < Self::V3_7
    }

    /// Whether the errors of functions of `math` name the module. Since the vectorcall convention
    /// of 3.9.
    pub(super) fn names_modules(self) -> bool {
        self >= Self::V3_9
    }

    /// The same for `log`, which has that convention since 3.12.
    pub(super) fn names_the_module_of_log(self) -> bool {
        self >= Self::V3_12
    }

    /// Whether a function of two or more arguments says how many it expected. Before, it says how
    /// many it takes.
    pub(super) fn names_the_expected_count(self) -> bool {
        self >= Self::V3_8
    }

    /// Whether a literal of more than 4300 decimal digits is refused. "What's New in Python 3.11",
    /// "Other CPython Implementation Changes" (gh-95778), also in 3.7.14, 3.8.14, 3.9.14 and
    /// 3.10.7, not in 3.6.
    pub(crate) fn limits_decimal_digits(self) -> bool {
        self >= Self::V3_7
    }
}

impl PythonVersion {
    /// Which of the blanks around a backslash before the first token of a line indent the line.
    pub(crate) fn indentation_of_continued_lines(self) -> ContinuedIndentation {
        match self {
            _ if self < Self::V3_9 => ContinuedIndentation::First,
            _ if self < Self::V3_10 => ContinuedIndentation::None,
            _ => ContinuedIndentation::Any,
        }
    }

    /// Whether a line with nothing but backslashes that continue it, blanks and a comment is a line
    /// of its own, which is not left out. The change log of Python 3.9.0 beta 4: "Fix a bug where a
    /// line with only a line continuation character is not considered a blank line at tokenizer
    /// level" (bpo-40847).
    pub(crate) fn keeps_blank_continued_lines(self) -> bool {
        self < Self::V3_9
    }

    /// Whether the arguments of `isclose` are converted one after the other while they are bound to
    /// its parameters, so that an error of the first of them hides a wrong call. Its Argument
    /// Clinic declaration, `double`, is parsed at once since 3.8 (bpo-36127).
    pub(super) fn converts_while_binding(self) -> bool {
        self < Self::V3_8
    }

    /// The same, with an argument given by name and position and with too many positional ones
    /// known only at their place. Before Argument Clinic converted `math` for Python 3.7
    /// (bpo-20186).
    pub(super) fn counts_while_binding(self) -> bool {
        self < Self::V3_7
    }
}

/// Which blanks indent a line that backslashes continue before its first token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContinuedIndentation {
    /// Those before the first backslash, even of a line without a token.
    First,
    /// None.
    None,
    /// All: the change log of Python 3.10.2 (bpo-46091).
    Any,
}

/// The texts of errors that differ from those of 3.11, by their beginnings: the first and the last
/// minor version, the text of 3.11, and what it is there. Read off the sources of CPython.
const OTHER_TEXTS: [(u8, u8, &str, &str); 12] = [
    (
        6,
        10,
        "integer modulo by zero",
        "integer division or modulo by zero",
    ),
    (6, 8, "float floor division by zero", "float divmod()"),
    (13, 14, "float modulo", "float modulo by zero"),
    (
        6,
        9,
        "float() argument must be a string or a real number,",
        "float() argument must be a string or a number,",
    ),
    (
        6,
        9,
        "int() argument must be a string, a bytes-like object or a real number,",
        "int() argument must be a string, a bytes-like object or a number,",
    ),
    (
        6,
        7,
        "max expected at least 1 argument,",
        "max expected 1 arguments,",
    ),
    (
        6,
        7,
        "min expected at least 1 argument,",
        "min expected 1 arguments,",
    ),
    (
        8,
        8,
        "max expected at least 1 argument,",
        "max expected 1 argument,",
    ),
    (
        8,
        8,
        "min expected at least 1 argument,",
        "min expected 1 argument,",
    ),
    (
        6,
        7,
        "bool expected at most 1 argument,",
        "bool expected at most 1 arguments,",
    ),
    (
        6,
        7,
        "float expected at most 1 argument,",
        "float expected at most 1 arguments,",
    ),
    (
        6,
        7,
        "sum expected at least 1 argument,",
        "sum expected at least 1 arguments,",
    ),
];

impl Raised {
    /// The same error with the text of this version, where it is known to differ.
    #[cold]
    pub(super) fn worded_for(mut self, python: PythonVersion) -> Self {
        let mut others = OTHER_TEXTS
            .iter()
            .filter(|(first, last, ..)| (*first..=*last).contains(&python.minor()));
        let found = others.find_map(|(.., text, other)| {
            Some(format!("{other}{}", self.text.strip_prefix(text)?))
        });
        if let Some(text) = found {
            self.text = text.into();
        }
        self
    }
}

/// How the length of a vector is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Norm {
    /// By the C library's `hypot`, for two coordinates only.
    Library,
    /// With the rounding errors of the sum, but not those of the squares. "What's New in Python
    /// 3.8", "math": any number of coordinates, and `dist` (bpo-33089); the sum in bpo-34376.
    Compensated,
    /// Nearly correctly rounded. The documentation of `math.hypot`: "Changed in version 3.10:
    /// Improved the algorithm's accuracy so that the maximum error is under 1 ulp" (bpo-41513).
    Accurate,
}

impl Function {
    /// The versions since which the function gives another value for the same arguments than
    /// before, for some of them.
    pub fn changed_in(self) -> &'static [PythonVersion] {
        use PythonVersion as P;
        match self {
            Self::Sum => &[P::V3_12, P::V3_14],
            Self::Hypot | Self::Dist => &[P::V3_8, P::V3_10],
            Self::Erf | Self::Erfc => &[P::V3_7],
            Self::Factorial | Self::Perm => &[P::V3_10],
            Self::Max | Self::Min => &[P::V3_8],
            Self::Pow => &[P::V3_11],
            _ => &[],
        }
    }

    /// What gives the value of a newer function in every version, and where it differs, in words.
    pub fn alternative_in_every_version(self) -> Option<&'static str> {
        match self {
            Self::Cbrt => Some(
                "`x ** (1/3)` exists in every version: for x from 0 it is the same up to the last digit, below 0 it is complex",
            ),
            Self::Exp2 => {
                Some("`2.0 ** x` exists in every version and is the same up to the last digit")
            }
            Self::Lcm => Some(
                "`a * b // gcd(a, b)` exists in every version: for a and b above 0 it is the same",
            ),
            _ => None,
        }
    }
}
