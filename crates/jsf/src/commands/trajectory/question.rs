//! What is asked of a trajectory.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

#[cfg(feature = "command")]
use jsf_openpbs::amounts::parse_duration;

use crate::job_filter::NamedJobs;

/// The longest time to follow jobs, in seconds: a leap year.
const MAX_FOLLOWED: u32 = 8784 * 3600;

/// Which jobs are followed, and for how long.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "command", derive(clap::Args))]
pub struct TrajectoryQuestion {
    /// The jobs.
    #[serde(flatten)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub jobs: NamedJobs,
    /// How long to follow the jobs
    ///
    /// A number of hours, such as 72 or 0.5, or a duration, such as 15m, 7d or 1-12:00:00; from a
    /// minute to a year (8784 hours)
    // in seconds
    #[serde(deserialize_with = "seconds_of_hours")]
    #[cfg_attr(feature = "command", arg(long, value_name = "H", default_value = "24", value_parser = followed_seconds, allow_negative_numbers = true))]
    pub hours: u32,
    /// The most work of following the jobs.
    #[serde(skip)]
    #[cfg_attr(feature = "command", arg(skip))]
    pub work: Option<u64>,
}

fn seconds_of_hours<'de, D: Deserializer<'de>>(given: D) -> Result<u32, D::Error> {
    let hours = f64::deserialize(given)?;
    let seconds = hours * 3600.0;
    if (60.0..=f64::from(MAX_FOLLOWED)).contains(&seconds) {
        return Ok(seconds.round() as u32);
    }
    let why = format!("`hours` is {hours}, expected from a minute to 8784");
    Err(D::Error::custom(why))
}

/// Parses how long jobs are followed, into seconds. A number is one of hours, unlike in other
/// durations.
#[cfg(feature = "command")]
fn followed_seconds(text: &str) -> Result<u32, String> {
    let is_decimal = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = match text.parse::<f64>() {
        // `1e3` and `inf` are numbers for Rust, and no hours
        Ok(hours) if is_decimal => (hours * 3600.0).round() as u64,
        _ => parse_duration(text).map_err(|_| {
            "expected a number of hours, such as 24 or 0.5, or a duration, such as 90m, 7d or 1-12:00:00".to_owned()
        })?,
    };
    match u32::try_from(seconds) {
        Ok(seconds @ 60..=MAX_FOLLOWED) => Ok(seconds),
        _ => Err("expected at least a minute and at most a year (8784 hours)".to_owned()),
    }
}

#[cfg(all(test, feature = "command"))]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_of_hours_and_a_duration_has_its_unit() {
        for (text, seconds) in [
            ("24", 86_400),
            ("0.5", 1800),
            (".5", 1800),
            ("8784", MAX_FOLLOWED),
            ("7d", 604_800),
            ("366d", MAX_FOLLOWED),
            ("90m", 5400),
            ("60s", 60),
            ("1-12:00:00", 129_600),
            ("72:00:00", 259_200),
        ] {
            assert_eq!(followed_seconds(text), Ok(seconds), "{text}");
        }
        for text in [
            "0",
            "0.01",
            "59s",
            "8785",
            "367d",
            "99999999999999999999999",
            "53w",
        ] {
            assert_eq!(
                followed_seconds(text),
                Err("expected at least a minute and at most a year (8784 hours)".to_owned()),
                "{text}"
            );
        }
        for text in ["", ".", "-1", "1e3", "inf", "NaN", "soon", "1.5d", "1.2.3"] {
            let error = followed_seconds(text).expect_err(text);
            assert!(
                error.starts_with("expected a number of hours"),
                "{text}: {error}"
            );
        }
    }
}
