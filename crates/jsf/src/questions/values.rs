//! The values of options and of requests: their parsers, and what each expects.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jsf_openpbs::times::{parse_duration, seconds_of_date};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Parses a name in a list, which blanks may surround.
pub(crate) fn listed_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("expected a name before and after each comma".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// A number within a range, which `expected` describes.
pub(crate) fn number_within<T: FromStr + PartialOrd>(
    text: &str,
    range: RangeInclusive<T>,
    expected: impl Display,
) -> Result<T, String> {
    match text.parse() {
        // no range contains a NaN, which Rust reads as a number too
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("expected {expected}")),
    }
}

/// Parses the number of jobs to show.
pub(crate) fn number_of_jobs(text: &str) -> Result<usize, String> {
    let expected = "the number of jobs to show, such as 10";
    number_within(text, 0..=usize::MAX, expected)
}

/// Parses the seed of random numbers.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let expected = format!("a whole number from 0 to {}, such as 1", u64::MAX);
    number_within(text, 0..=u64::MAX, expected)
}

/// Parses a number of processors.
pub(crate) fn processors(text: &str) -> Result<NonZeroU32, String> {
    // a larger type tells a number out of range from what is no number
    let Ok(number) = text.parse::<i128>() else {
        return Err("expected a number of processors, such as 128".to_owned());
    };
    match text.parse() {
        Ok(processors) => Ok(processors),
        Err(_) if number < 1 => Err("`--processors` must be at least 1".to_owned()),
        Err(_) => Err(format!("`--processors` must be at most {}", u32::MAX)),
    }
}

/// Parses the factor of a decay.
pub(crate) fn decay_factor(text: &str) -> Result<f64, String> {
    number_within(text, 0.0..=1.0, "a number from 0 to 1, such as 0.5")
}

/// Parses a time in seconds since 1970 or in ISO 8601.
pub(crate) fn moment(text: &str) -> Result<i64, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    // before the other one, which would ignore an offset such as +01:00
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_second());
    }
    if let Ok(time) = text.parse::<DateTime>()
        && let Ok(time) = time.to_zoned(TimeZone::UTC)
    {
        return Ok(time.timestamp().as_second());
    }
    let expected = "expected seconds since 1970 or a time such as 2026-11-23T04:29:58Z, or what `date -u` prints";
    Ok(seconds_of_date(text).ok_or(expected)?)
}

/// A number of seconds, or a duration such as `24h`.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(given: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(given)? {
        Value::String(text) => parse_duration(&text).map(Some).map_err(D::Error::custom),
        number => serde_json::from_value(number).map_err(D::Error::custom),
    }
}
