//! Visits JSON objects entry by entry, without a tree. Values that are not needed are skipped, and
//! a value that is not of the expected type is reported instead of ending the document.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A value of JSON; a number is kept as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonScalar<'d> {
    /// The text of a number.
    Number(&'d str),
    /// A string.
    String(Cow<'d, str>),
    /// Any other value; the text describes it.
    Other(&'static str),
}

impl<'d> JsonScalar<'d> {
    /// The scalar of a value; `None` for `null`.
    pub fn from_raw(raw: &'d RawValue) -> Option<Self> {
        Self::from_text(raw.get())
    }

    /// The scalar of the text of a value, which is valid JSON; `None` for `null`.
    #[inline]
    pub fn from_text(text: &'d str) -> Option<Self> {
        Some(match text.as_bytes().first() {
            Some(b'"') => match unescaped(text) {
                Some(text) => Self::String(Cow::Borrowed(text)),
                None => serde_json::from_str(text)
                    .map_or(Self::Other("an invalid string"), |text| {
                        Self::String(Cow::Owned(text))
                    }),
            },
            Some(b'n') | None => return None,
            Some(b't' | b'f') => Self::Other("a boolean"),
            Some(b'{') => Self::Other("an object"),
            Some(b'[') => Self::Other("an array"),
            Some(_) => Self::Number(text),
        })
    }

    /// What an object collects for a value that is `null`.
    pub const NULL: Self = Self::Other("null");

    /// Whether the value is [`NULL`](Self::NULL).
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Other("null"))
    }

    /// The text of a number or a string.
    #[inline]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Number(text) => Some(text),
            Self::String(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// Describes the value for a message.
    pub fn found(&self) -> String {
        match self {
            Self::Number(text) => format!("the number {}", clipped(text)),
            Self::String(text) => format!("the string \"{}\"", clipped(text)),
            Self::Other(description) => (*description).to_owned(),
        }
    }
}

/// The contents of a quoted string without escapes.
fn unescaped(quoted: &str) -> Option<&str> {
    let inside = quoted.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains('\\')).then_some(inside)
}

/// At most sixty characters of a text, for a message.
pub fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The value of an entry. The reader calls exactly one of the methods.
pub trait Entry<'d> {
    /// Takes the value as JSON text.
    fn raw(self) -> Result<&'d RawValue, Self::Error>;
    /// Takes the value as an object, and passes on its entries.
    fn object<F: ObjectReader<'d>>(self, reader: F) -> Result<Shape, Self::Error>;
    /// Takes the value as an array, and passes on its items as JSON text.
    fn list(self, each: impl FnMut(&'d RawValue)) -> Result<Shape, Self::Error>;
    /// Skips the value.
    fn skip(self) -> Result<(), Self::Error>;
    /// The error of the parser.
    type Error: Error;
}

/// Reads the entries of one object.
pub trait ObjectReader<'d> {
    /// Reads one entry.
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error>;
}

impl<'d, R: ObjectReader<'d>> ObjectReader<'d> for &mut R {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        (**self).entry(key, value)
    }
}

/// Whether a value was the expected object or array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// It was.
    Expected,
    /// It was another value; the text describes it.
    Other(&'static str),
}

/// Reads a whole text as one object.
pub fn read_object<'d>(
    text: &'d str,
    reader: impl ObjectReader<'d>,
) -> Result<Shape, serde_json::Error> {
    let mut source = serde_json::Deserializer::from_str(text);
    let shape = ObjectSeed(reader).deserialize(&mut source)?;
    source.end()?;
    Ok(shape)
}

struct MapEntry<'a, M>(&'a mut M);

impl<'d, M: MapAccess<'d>> Entry<'d> for MapEntry<'_, M> {
    type Error = M::Error;

    fn raw(self) -> Result<&'d RawValue, M::Error> {
        self.0.next_value()
    }

    fn object<F: ObjectReader<'d>>(self, reader: F) -> Result<Shape, M::Error> {
        self.0.next_value_seed(ObjectSeed(reader))
    }

    fn list(self, each: impl FnMut(&'d RawValue)) -> Result<Shape, M::Error> {
        self.0.next_value_seed(ListSeed(each))
    }

    fn skip(self) -> Result<(), M::Error> {
        self.0.next_value::<IgnoredAny>().map(|_| ())
    }
}

/// The methods of a visitor for values that are neither objects nor arrays.
macro_rules! other_shapes {
    () => {
        fn visit_bool<E: Error>(self, _: bool) -> Result<Shape, E> {
            Ok(Shape::Other("a boolean"))
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<Shape, E> {
            Ok(Shape::Other("a number"))
        }

        fn visit_u64<E: Error>(self, _: u64) -> Result<Shape, E> {
            Ok(Shape::Other("a number"))
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<Shape, E> {
            Ok(Shape::Other("a number"))
        }

        fn visit_str<E: Error>(self, _: &str) -> Result<Shape, E> {
            Ok(Shape::Other("a string"))
        }

        fn visit_unit<E: Error>(self) -> Result<Shape, E> {
            Ok(Shape::Other("null"))
        }
    };
}

struct ObjectSeed<R>(R);

impl<'d, R: ObjectReader<'d>> DeserializeSeed<'d> for ObjectSeed<R> {
    type Value = Shape;

    fn deserialize<D: Deserializer<'d>>(self, source: D) -> Result<Shape, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'d, R: ObjectReader<'d>> Visitor<'d> for ObjectSeed<R> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'d>>(mut self, mut map: M) -> Result<Shape, M::Error> {
        while let Some(key) = map.next_key_seed(KeySeed)? {
            self.0.entry(key, MapEntry(&mut map))?;
        }
        Ok(Shape::Expected)
    }

    fn visit_seq<S: SeqAccess<'d>>(self, mut list: S) -> Result<Shape, S::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Shape::Other("an array"))
    }

    other_shapes!();
}

struct ListSeed<F>(F);

impl<'d, F: FnMut(&'d RawValue)> DeserializeSeed<'d> for ListSeed<F> {
    type Value = Shape;

    fn deserialize<D: Deserializer<'d>>(self, source: D) -> Result<Shape, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'d, F: FnMut(&'d RawValue)> Visitor<'d> for ListSeed<F> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'d>>(mut self, mut list: S) -> Result<Shape, S::Error> {
        while let Some(item) = list.next_element()? {
            (self.0)(item);
        }
        Ok(Shape::Expected)
    }

    fn visit_map<M: MapAccess<'d>>(self, mut map: M) -> Result<Shape, M::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Shape::Other("an object"))
    }

    other_shapes!();
}

struct KeySeed;

impl<'d> DeserializeSeed<'d> for KeySeed {
    type Value = Cow<'d, str>;

    fn deserialize<D: Deserializer<'d>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_str(self)
    }
}

impl<'d> Visitor<'d> for KeySeed {
    type Value = Cow<'d, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'d str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// The bytes as text. A byte that is not UTF-8 becomes U+FFFD and its two hexadecimal digits, so
/// that names that differ only in such bytes stay different.
pub fn decode_utf8(bytes: &[u8]) -> Cow<'_, str> {
    // Validating first is several times faster than searching for invalid bytes.
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // writing to a string cannot fail
            let _ = write!(text, "{}{byte:02x}", char::REPLACEMENT_CHARACTER);
        }
    }
    Cow::Owned(text)
}

/// The bytes without a byte order mark at their start.
pub fn strip_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
