//! Sets of Python types, and sets of error kinds.

use crate::python::{ErrorKind, Value};

/// The set of the Python types that a value can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TypeSet(u8);

impl TypeSet {
    /// No type: there is no value.
    pub const EMPTY: Self = Self(0);
    /// `int`, of any size.
    pub const INT: Self = Self(1);
    /// `float`.
    pub const FLOAT: Self = Self(2);
    /// `bool`, which computes as 0 or 1.
    pub const BOOL: Self = Self(4);
    /// `None`.
    pub const NONE: Self = Self(8);
    /// `tuple`.
    pub const TUPLE: Self = Self(16);
    /// `list`.
    pub const LIST: Self = Self(32);
    /// A function that is not called.
    pub const FUNCTION: Self = Self(64);
    /// `int` and `bool`, which compute exactly.
    pub const INTEGRAL: Self = Self(5);
    /// `int`, `float` and `bool`.
    pub const NUMBER: Self = Self(7);
    /// `tuple` and `list`.
    pub const SEQUENCE: Self = Self(48);
    /// Every type.
    pub const ANY: Self = Self(127);

    /// The union.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The intersection.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The difference: the types that are not in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The types of `+x`, which makes an `int` of a `bool`.
    pub(super) fn promoted(self) -> Self {
        let types = self.without(Self::BOOL);
        if self.intersects(Self::BOOL) { types.or(Self::INT) } else { types }
    }

    /// Whether the sets have a type in common.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every type is in `other`.
    pub const fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The type of a value.
    pub fn from_value(value: &Value) -> Self {
        match value {
            Value::None => Self::NONE,
            Value::Bool(_) => Self::BOOL,
            Value::Int(_) | Value::Big(_) => Self::INT,
            Value::Float(_) => Self::FLOAT,
            Value::Tuple(_) => Self::TUPLE,
            Value::List(_) => Self::LIST,
            Value::Function(_) => Self::FUNCTION,
        }
    }

    /// The name of each type in the set, for messages.
    pub fn names(self) -> Vec<&'static str> {
        const NAMES: [(TypeSet, &str); 7] = [
            (TypeSet::BOOL, "a bool"),
            (TypeSet::INT, "an int"),
            (TypeSet::FLOAT, "a float"),
            (TypeSet::NONE, "`None`"),
            (TypeSet::TUPLE, "a tuple"),
            (TypeSet::LIST, "a list"),
            (TypeSet::FUNCTION, "a function"),
        ];
        NAMES.iter().filter(|(types, _)| self.intersects(*types)).map(|&(_, name)| name).collect()
    }
}

/// The set of the kinds of error that an operation can raise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ErrorSet(u16);

/// Every kind, in the order of its bit.
const ALL: [ErrorKind; 9] = [
    ErrorKind::ZeroDivision,
    ErrorKind::Value,
    ErrorKind::Overflow,
    ErrorKind::Type,
    ErrorKind::Name,
    ErrorKind::Syntax,
    ErrorKind::Complex,
    ErrorKind::Limit,
    ErrorKind::Decimal,
];

impl ErrorSet {
    /// No error.
    pub const EMPTY: Self = Self(0);
    /// Every kind of error.
    pub const ANY: Self = Self((1 << ALL.len()) - 1);

    /// A single kind.
    pub fn from_kind(kind: ErrorKind) -> Self {
        Self(ALL.iter().position(|&known| known == kind).map_or(0, |bit| 1 << bit))
    }

    /// A single kind if `condition` is true, else the empty set.
    pub fn when(condition: bool, kind: ErrorKind) -> Self {
        if condition { Self::from_kind(kind) } else { Self::EMPTY }
    }

    /// The union.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `kind` is in the set.
    pub fn contains(self, kind: ErrorKind) -> bool {
        self.0 & Self::from_kind(kind).0 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The kinds in the set.
    pub fn iter(self) -> impl Iterator<Item = ErrorKind> {
        ALL.into_iter().filter(move |&kind| self.contains(kind))
    }
}
