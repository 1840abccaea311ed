//! The entries of JSON objects, without a tree: a value that is not of the expected type can be
//! reported instead of ending the document. And how an object is written, key by key: [`object!`];
//! the bytes of a document as text; and its dates.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use jiff::civil::Date;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
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
    /// The scalar of the text of a value, which is valid JSON.
    #[inline]
    pub fn from_text(text: &'d str) -> Self {
        match text.as_bytes().first() {
            Some(b'"') => match unescaped(text) {
                Some(text) => Self::String(Cow::Borrowed(text)),
                None => serde_json::from_str(text)
                    .map_or(Self::Other("an invalid string"), |text| {
                        Self::String(Cow::Owned(text))
                    }),
            },
            Some(b'n') | None => Self::NULL,
            Some(b't' | b'f') => Self::Other("a boolean"),
            Some(b'{') => Self::OBJECT,
            Some(b'[') => Self::Other("an array"),
            Some(_) => Self::Number(text),
        }
    }

    /// The value `null`.
    pub const NULL: Self = Self::Other("null");
    /// Any object.
    pub const OBJECT: Self = Self::Other("an object");

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

    /// The type of the value, for a message.
    pub fn shape(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Other(description) => description,
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

/// An entry of an object: its key, and its value as JSON text.
pub type Entry<'d> = (Cow<'d, str>, &'d RawValue);

/// The entries of a text in their order, repeated keys included; none if it is not an object.
///
/// # Errors
/// The text is an object and not valid JSON.
pub fn entries(text: &str) -> Result<Vec<Entry<'_>>, serde_json::Error> {
    if !text.trim_start().starts_with('{') {
        return Ok(Vec::new());
    }
    serde_json::from_str(text).map(|Entries(entries)| entries)
}

/// Why and where a text is not valid JSON, in words that follow this, and what to do about a text that
/// ends too early. Lines count from 1, and columns in bytes from 1; the start of a line is column 0.
pub fn json_fault(text: &str, error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let reason = reason(error);
    let mut fault = format!("at line {line}, column {column}: {reason}");
    if error.is_eof() {
        return fault + "; the document is cut off, write it again";
    }
    // of control characters it is said already
    if !reason.contains("found")
        && let Some(line) = text.lines().nth(line.saturating_sub(1))
        && let Some(rest) = line.get(column.saturating_sub(1)..)
        && !rest.is_empty()
    {
        let found: String = rest.chars().take(MAX_FOUND).collect();
        fault += &format!(", found `{found}`");
    }
    fault
}

/// The most characters that an error shows of what it found.
const MAX_FOUND: usize = 20;

/// The message of an error without its place.
pub fn reason(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    text.truncate(text.find(" at line ").unwrap_or(text.len()));
    text
}

#[derive(Deserialize)]
struct Key<'d>(#[serde(borrow)] Cow<'d, str>);

struct Entries<'d>(Vec<Entry<'d>>);

impl<'d> Deserialize<'d> for Entries<'d> {
    fn deserialize<D: Deserializer<'d>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_map(Self(Vec::new()))
    }
}

impl<'d> Visitor<'d> for Entries<'d> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'d>>(mut self, mut map: M) -> Result<Self, M::Error> {
        while let Some((Key(key), value)) = map.next_entry()? {
            self.0.push((key, value));
        }
        Ok(self)
    }
}

/// An object of JSON with these keys, in this order; a key without a value has that of the variable
/// of its name. Attributes of serde may precede a key: an object that is flattened adds its keys,
/// and none if it is missing. The crate that writes it needs `serde`, and has to allow types with
/// the names of keys (`non_camel_case_types`).
#[macro_export]
macro_rules! object {
    ($($(#[$attribute:meta])* $key:ident $(: $value:expr)?),* $(,)?) => {{
        #[derive(serde::Serialize)]
        struct Object<$($key),*> {
            $($(#[$attribute])* $key: $key),*
        }
        Object { $($key $(: $value)?),* }
    }};
}

/// The bytes as text. A byte that is not UTF-8 becomes U+FFFD and its two hexadecimal digits, so
/// that names that differ only in such bytes stay different.
pub fn decode_utf8(bytes: &[u8]) -> Cow<'_, str> {
    decode_with("\u{fffd}", bytes)
}

/// The bytes as text. A byte that is not UTF-8 becomes a mark and its two hexadecimal digits.
pub fn decode_with<'b>(mark: &str, bytes: &'b [u8]) -> Cow<'b, str> {
    // Validating first is several times faster than searching for invalid bytes.
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // writing to a string cannot fail
            let _ = write!(text, "{mark}{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// The bytes without a byte order mark at their start.
pub fn strip_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The seconds since 1970 of a date, the year first, and a time of the day on a clock in UTC;
/// `None` if there is no such date or time.
pub fn seconds_of_date_and_time(date: [i64; 3], time: [i64; 3]) -> Option<i64> {
    let [year @ 1900..10_000, month, day] = date else {
        return None;
    };
    // 60 is a leap second
    let [hour @ 0..24, minute @ 0..60, second @ 0..=60] = time else {
        return None;
    };
    let [month, day] = [month, day].map(|number| i8::try_from(number).unwrap_or(0));
    let day = Date::new(year as i16, month, day).ok()?;
    // not by a timestamp, which ends before 9999-12-31, the usual date for ever
    let midnight = day.duration_since(Date::constant(1970, 1, 1)).as_secs();
    Some(midnight + (hour * 60 + minute) * 60 + second)
}

/// The whole numbers between separators, such as those of `2026-11-27`; `None` if there are not so
/// many.
pub fn numbers<const COUNT: usize>(text: &str, separator: char) -> Option<[i64; COUNT]> {
    let numbers: Result<Vec<i64>, _> = text.split(separator).map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}
