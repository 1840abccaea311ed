//! JSON objects entry by entry, without a tree: what is not wanted is skipped unparsed, and a value of another
//! shape than expected is reported instead of ending the document.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A value that stands alone: a number as it is spelled, a text, or something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token<'d> {
    /// A number, as it is spelled.
    Number(&'d str),
    /// A text.
    Text(Cow<'d, str>),
    /// Neither; the words say what it is.
    Other(&'static str),
}

impl<'d> Token<'d> {
    /// The token of a value; `null` is none at all.
    pub(crate) fn of(raw: &'d RawValue) -> Option<Self> {
        let text = raw.get();
        Some(match text.as_bytes().first() {
            Some(b'"') => match plain(text) {
                Some(plain) => Self::Text(Cow::Borrowed(plain)),
                None => {
                    serde_json::from_str(text).map_or(Self::Other("a broken text"), |text| Self::Text(Cow::Owned(text)))
                }
            },
            Some(b'n') | None => return None,
            Some(b't' | b'f') => Self::Other("a truth value"),
            Some(b'{') => Self::Other("an object"),
            Some(b'[') => Self::Other("a list"),
            Some(_) => Self::Number(text),
        })
    }

    /// The token as a text: a number as it is spelled.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Number(text) => Some(text),
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// What the token is, for a message.
    pub(crate) fn found(&self) -> String {
        match self {
            Self::Number(text) => format!("the number {}", clipped(text)),
            Self::Text(text) => format!("the text \"{}\"", clipped(text)),
            Self::Other(words) => (*words).to_owned(),
        }
    }
}

/// The inside of a quoted text that has no escapes.
fn plain(quoted: &str) -> Option<&str> {
    let inside = quoted.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains('\\')).then_some(inside)
}

/// At most sixty characters of a text, for a message.
pub(crate) fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The value of an entry, to be taken as something or skipped.
pub(crate) trait Entry<'d> {
    /// Takes the value as it is spelled.
    fn raw(self) -> Result<&'d RawValue, Self::Error>;
    /// Takes the value as an object and hands on its entries.
    fn object<F: ObjectReader<'d>>(self, reader: F) -> Result<Shape, Self::Error>;
    /// Takes the value as a list and hands on its items as they are spelled.
    fn list(self, each: impl FnMut(&'d RawValue)) -> Result<Shape, Self::Error>;
    /// Skips the value.
    fn skip(self) -> Result<(), Self::Error>;
    /// What goes wrong.
    type Error: Error;
}

/// Reads the entries of one object.
pub(crate) trait ObjectReader<'d> {
    /// Reads one entry: exactly one of its methods is to be called.
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error>;
}

impl<'d, R: ObjectReader<'d>> ObjectReader<'d> for &mut R {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        (**self).entry(key, value)
    }
}

/// Whether a value was the object or list that it was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It was.
    Taken,
    /// It was something else; the words say what.
    Other(&'static str),
}

/// Reads a whole text as one object.
pub(crate) fn read_object<'d>(text: &'d str, reader: impl ObjectReader<'d>) -> Result<Shape, serde_json::Error> {
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

/// What a visitor answers to a value that is neither an object nor a list.
macro_rules! other_shapes {
    () => {
        fn visit_bool<E: Error>(self, _: bool) -> Result<Shape, E> {
            Ok(Shape::Other("a truth value"))
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
            Ok(Shape::Other("a text"))
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
        Ok(Shape::Taken)
    }

    fn visit_seq<S: SeqAccess<'d>>(self, mut list: S) -> Result<Shape, S::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Shape::Other("a list"))
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
        f.write_str("a list")
    }

    fn visit_seq<S: SeqAccess<'d>>(mut self, mut list: S) -> Result<Shape, S::Error> {
        while let Some(item) = list.next_element()? {
            (self.0)(item);
        }
        Ok(Shape::Taken)
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

/// The bytes as text; what is not UTF-8 is replaced.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    // Checking first is several times faster than looking for what to replace.
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The bytes behind a byte order mark, if there is one.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
