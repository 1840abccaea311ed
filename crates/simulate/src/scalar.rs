//! A value in JSON that is a text or a number, as logs have them in any of the forms that programs
//! write.

use std::borrow::Cow;
use std::fmt;

use job_sort_formula::python::MAX_EXACT_INT;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, a number, or neither.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Scalar<'a> {
    /// `null`, or no such key.
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Integer(i128),
    /// A number with a fraction or an exponent.
    Decimal(f64),
    /// Anything else, as a word.
    Other(&'static str),
}

impl Scalar<'_> {
    /// The number, if it is a whole one: `4`, also as `4.0`, which programs write for a column of
    /// floats.
    pub(super) fn integer(&self) -> Option<i64> {
        match *self {
            Self::Integer(number) => number.try_into().ok(),
            Self::Decimal(number) => Some(number as i64)
                .filter(|whole| *whole as f64 == number && whole.abs() <= MAX_EXACT_INT),
            _ => None,
        }
    }
}

/// The value as in JSON.
impl fmt::Display for Scalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("null"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Integer(number) => number.fmt(f),
            Self::Decimal(number) => write!(f, "{number:?}"),
            Self::Other(word) => f.write_str(word),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Absent)
    }

    fn visit_bool<E>(self, is_true: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Other(if is_true { "true" } else { "false" }))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Decimal(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other("[…]"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other("{…}"))
    }
}
