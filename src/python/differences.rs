//! What versions of Python compute differently: each difference has a name and its source.
//!
//! Which functions exist and which arguments they take is in the table of [`Function`](crate::python::Function).

use crate::python::PythonVersion;

impl PythonVersion {
    /// Whether `sum` compensates the rounding errors of floats. "What's New in Python 3.12", "Other Language Changes":
    /// "`sum()` now uses Neumaier summation to improve accuracy".
    pub(super) fn compensates_sums(self) -> bool {
        self >= Self::V3_12
    }

    /// Whether `factorial` takes a float without a fraction. "What's New in Python 3.10", "Removed": it was deprecated
    /// in 3.9 and raises a `TypeError` since.
    pub(crate) fn has_factorials_of_floats(self) -> bool {
        self < Self::V3_10
    }

    /// Whether `key=None` of `max` and `min` means no key. The documentation of `max`: "Changed in version 3.8: The key can
    /// be None."
    pub(super) fn has_none_as_a_key(self) -> bool {
        self >= Self::V3_8
    }

    /// How `hypot` and `dist` round.
    pub(super) fn norm(self) -> Norm {
        match self {
            _ if self < Self::V3_8 => Norm::Library,
            _ if self < Self::V3_10 => Norm::Compensated,
            _ => Norm::Accurate,
        }
    }

    /// Whether `erf` and `erfc` are those of the C library. Issue 26121 in the change log of Python 3.7.
    pub(super) fn has_library_erf(self) -> bool {
        self >= Self::V3_7
    }

    /// Whether an error of the second of two doubles hides that of the first. Before Argument Clinic converted these
    /// functions of `math` (issue 20185 in the change log of Python 3.7), both were converted before the check.
    pub(super) fn raises_the_second_error(self) -> bool {
        self < Self::V3_7
    }

    /// Whether a shift by more than 63 bits can tell is an `OverflowError`, whatever is shifted. Issue 27145 in the change log of
    /// Python 3.7.
    pub(super) fn limits_shift_counts(self) -> bool {
        self < Self::V3_7
    }

    /// Whether a literal of more than 4300 decimal digits is refused. "What's New in Python 3.11", "Integer/string conversion
    /// length limitation", also in 3.7.14, 3.8.14, 3.9.14 and 3.10.7, not in 3.6.
    pub(crate) fn limits_decimal_digits(self) -> bool {
        self >= Self::V3_7
    }
}

/// How the length of a vector is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Norm {
    /// By the C library's `hypot`, for two coordinates only.
    Library,
    /// With the rounding errors of the sum, but not those of the squares. "What's New in Python 3.8", "math": any number of
    /// coordinates.
    Compensated,
    /// Nearly correctly rounded. "What's New in Python 3.10", the documentation of `hypot`: "Improved the algorithm's
    /// accuracy so that the maximum error is under 1 ulp".
    Accurate,
}
