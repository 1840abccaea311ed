//! Which Python evaluates a formula: OpenPBS embeds the one of the system that it is built on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
