//! What a name measures, and which values it can have.

/// What a name measures and in which unit it reaches the formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A whole number without a unit (PBS type `long`).
    Count,
    /// An amount of memory or disk, in kb (PBS type `size`).
    Size,
    /// A time span, in seconds (PBS types `time` and `duration`).
    Duration,
    /// A number that may have decimals (PBS type `float`).
    Float,
    /// A share or factor between 0 and 1.
    Ratio,
    /// A truth value (PBS type `boolean`): no formula may use it.
    Bool,
    /// A string or a list of strings (PBS types `string` and `string_array`): no formula may use it.
    Text,
}

impl Kind {
    /// Whether a formula may compute with it; the server answers 15125 to the others.
    pub fn is_numeric(self) -> bool {
        !matches!(self, Self::Bool | Self::Text)
    }

    /// The unit in words, or `None` for a plain number.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Size => Some("kb"),
            Self::Duration => Some("s"),
            _ => None,
        }
    }

    /// The kind behind a PBS type name as written in `resourcedef` or `qmgr` (any case), if there is such a type.
    pub fn from_pbs_type(text: &str) -> Option<Self> {
        const TYPES: [(&str, Kind); 9] = [
            ("long", Kind::Count),
            ("short", Kind::Count),
            ("ll", Kind::Count),
            ("size", Kind::Size),
            ("float", Kind::Float),
            ("duration", Kind::Duration),
            ("boolean", Kind::Bool),
            ("string", Kind::Text),
            ("string_array", Kind::Text),
        ];
        TYPES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|&(_, kind)| kind)
    }

    /// The values that a resource of this kind has when OpenPBS itself defines it.
    pub fn range(self) -> Range {
        match self {
            Self::Ratio => Range { least: 0.0, most: 1.0 },
            Self::Count | Self::Size | Self::Duration => Range { least: 0.0, most: f64::INFINITY },
            Self::Float | Self::Bool | Self::Text => Range::ANY,
        }
    }
}

/// The least and the greatest value of a name, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub most: f64,
}

impl Range {
    /// No bound on either side.
    pub const ANY: Self = Self { least: f64::NEG_INFINITY, most: f64::INFINITY };

    /// Whether `x` lies within.
    pub fn contains(self, x: f64) -> bool {
        self.least <= x && x <= self.most
    }
}
