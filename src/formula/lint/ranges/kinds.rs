//! Sets of Python's types, and sets of errors.

use crate::python::{ErrorKind, Value};

/// A set of the types that a value may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Kinds(u8);

impl Kinds {
    /// No type: there is no value.
    pub const NONE: Self = Self(0);
    /// `int`, of any size.
    pub const INT: Self = Self(1);
    /// `float`.
    pub const FLOAT: Self = Self(2);
    /// `bool`, which counts as 0 or 1.
    pub const BOOL: Self = Self(4);
    /// `None`.
    pub const NOTHING: Self = Self(8);
    /// `tuple`.
    pub const TUPLE: Self = Self(16);
    /// `list`.
    pub const LIST: Self = Self(32);
    /// A function that is named without being called.
    pub const FUNCTION: Self = Self(64);
    /// What computes exactly: `int` and `bool`.
    pub const WHOLE: Self = Self(5);
    /// `int`, `float` and `bool`.
    pub const NUMBER: Self = Self(7);
    /// `tuple` and `list`.
    pub const SEQUENCE: Self = Self(48);
    /// All of them.
    pub const ANY: Self = Self(127);

    /// The types in either.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The types in both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The types that are not in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the sets share a type.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every type is in `other`; true of no type.
    pub const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether there is no type.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The type of a value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::None => Self::NOTHING,
            Value::Bool(_) => Self::BOOL,
            Value::Int(_) | Value::Big(_) => Self::INT,
            Value::Float(_) => Self::FLOAT,
            Value::Tuple(_) => Self::TUPLE,
            Value::List(_) => Self::LIST,
            Value::Function(_) => Self::FUNCTION,
        }
    }

    /// Python's words for each type in the set.
    pub fn words(self) -> Vec<&'static str> {
        const WORDS: [(Kinds, &str); 7] = [
            (Kinds::BOOL, "a truth value"),
            (Kinds::INT, "an int"),
            (Kinds::FLOAT, "a float"),
            (Kinds::NOTHING, "`None`"),
            (Kinds::TUPLE, "a tuple"),
            (Kinds::LIST, "a list"),
            (Kinds::FUNCTION, "a function"),
        ];
        WORDS.iter().filter(|(kind, _)| self.meets(*kind)).map(|&(_, words)| words).collect()
    }
}

/// A set of kinds of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Errors(u16);

/// Every kind, in the order of its bit.
const ALL: [ErrorKind; 11] = [
    ErrorKind::ZeroDivision,
    ErrorKind::Value,
    ErrorKind::Overflow,
    ErrorKind::Type,
    ErrorKind::Name,
    ErrorKind::Recursion,
    ErrorKind::Memory,
    ErrorKind::Syntax,
    ErrorKind::Complex,
    ErrorKind::Limit,
    ErrorKind::Decimal,
];

impl Errors {
    /// No error.
    pub const NONE: Self = Self(0);
    /// Every error that an operation on numbers can raise.
    pub const ANY: Self = Self((1 << ALL.len()) - 1);

    /// Just this one.
    pub fn just(kind: ErrorKind) -> Self {
        Self(ALL.iter().position(|&known| known == kind).map_or(0, |bit| 1 << bit))
    }

    /// This one if it is so, else none.
    pub fn when(holds: bool, kind: ErrorKind) -> Self {
        if holds { Self::just(kind) } else { Self::NONE }
    }

    /// The errors in either.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it is in the set.
    pub fn contains(self, kind: ErrorKind) -> bool {
        self.0 & Self::just(kind).0 != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The errors, one after another.
    pub fn iter(self) -> impl Iterator<Item = ErrorKind> {
        ALL.into_iter().filter(move |&kind| self.contains(kind))
    }
}
