//! The values that Slurm's tools and files write.
//!
//! A value of another form than is expected is named instead of being taken for none ([`Form`]).
//! Times are a moment ([`parse_time`]), a length ([`parse_minutes`]), and how long a job may run
//! ([`TimeLimit`]). Amounts of trackable resources (TRES) are `cpu=16,mem=62.50G,gres/gpu=4`
//! ([`TresAmounts`]).

use jsf_json::{numbers, seconds_of_date_and_time};

/// How long a job may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeLimit {
    /// The job has none of its own: that of its partition.
    #[default]
    OfPartition,
    /// `UNLIMITED`
    Unlimited,
    /// So many minutes.
    Minutes(u32),
}

impl TimeLimit {
    /// Parses what Slurm's tools print, such as `1-00:00:00` or `UNLIMITED`.
    pub fn parse(text: &str) -> Self {
        match text {
            // before 23.02, JSON has the greatest number
            "UNLIMITED" | "INFINITE" | "4294967295" => Self::Unlimited,
            // `squeue` prints `30:00` for half an hour, where `slurm.conf` has minutes before seconds
            // too, and `1:00:00` for an hour
            _ => match parse_minutes(text).map(u32::try_from) {
                Some(Ok(minutes)) => Self::Minutes(minutes),
                _ => Self::OfPartition,
            },
        }
    }
}

/// Seconds since 1970 of `2026-11-27T08:54:58`, on the clock of the document; `None` for words such
/// as `Unknown` and `N/A`.
pub fn parse_time(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let seconds = seconds_of_date_and_time(numbers(date, '-')?, numbers(time, ':')?);
    seconds.filter(|seconds| *seconds >= 0)
}

/// The daemon's value for an infinite time, in minutes.
const INFINITE: i64 = -1;

/// Parses a time into minutes, rounded up; `None` if the text is not a time.
///
/// `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` or
/// `days-hours:minutes:seconds`.
pub fn parse_minutes(text: &str) -> Option<i64> {
    if text == "-1" || is_infinite(text) {
        return Some(INFINITE);
    }
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(short_number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<i64> = rest.split(':').map(short_number).collect::<Option<_>>()?;
    let seconds = match (days, parts.as_slice()) {
        (None, &[minutes]) => minutes * 60,
        (None, &[minutes, seconds]) => minutes * 60 + seconds,
        (None, &[hours, minutes, seconds]) => (hours * 60 + minutes) * 60 + seconds,
        (Some(days), &[hours]) => (days * 24 + hours) * 3600,
        (Some(days), &[hours, minutes]) => ((days * 24 + hours) * 60 + minutes) * 60,
        (Some(days), &[hours, minutes, seconds]) => {
            ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        }
        _ => return None,
    };
    Some((seconds + 59) / 60)
}

/// A number of minutes as the daemon keeps it, in unsigned 32-bit seconds: an infinite time becomes
/// 136 years.
pub fn stored_seconds(minutes: i64) -> u32 {
    if minutes < 0 {
        (minutes * 60) as u32
    } else {
        u32::try_from(minutes * 60).unwrap_or(u32::MAX)
    }
}

/// Whether a text is one of the words for a number without a bound.
pub fn is_infinite(text: &str) -> bool {
    text.eq_ignore_ascii_case("infinite") || text.eq_ignore_ascii_case("unlimited")
}

/// A number of at most nine digits.
fn short_number(text: &str) -> Option<i64> {
    if text.len() > 9 || text.contains(|c: char| !c.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The largest `nice` that Slurm accepts, and without its sign the smallest.
const MAX_NICE: i64 = 2_147_483_645;

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Whole,
    Count,
    /// A count; another column of `squeue` has it as a part of the largest priority.
    Priority,
    Nice,
    Number,
    Processors,
    Time,
    Limit,
    Memory,
    Amounts,
}

impl Form {
    pub fn accepts(self, text: &str) -> bool {
        let has_digit = text.contains(|c: char| c.is_ascii_digit());
        match self {
            Self::Whole => text.parse::<i64>().is_ok(),
            Self::Count => text.parse::<u32>().is_ok(),
            Self::Priority => {
                let is_part = text.contains('.') && text.parse().is_ok_and(|part: f64| part <= 1.0);
                is_part || Self::Count.accepts(text)
            }
            Self::Nice => nice(text).is_some(),
            Self::Number => text.parse::<f64>().is_ok_and(f64::is_finite),
            Self::Processors => processors(text).is_some(),
            // words such as `Unknown` mean that there is no value
            Self::Time => !has_digit || parse_time(text).is_some() || text.parse::<i64>().is_ok(),
            Self::Limit => !has_digit || TimeLimit::parse(text) != TimeLimit::OfPartition,
            Self::Memory => parse_amount(text, true).is_some(),
            Self::Amounts => TresAmounts::unreadable_part(text).is_none(),
        }
    }

    pub fn expected(self) -> &'static str {
        match self {
            Self::Whole => "a whole number",
            Self::Count | Self::Priority | Self::Processors => {
                "a whole number from 0 to 4294967295"
            }
            Self::Nice => "a whole number from -2147483645 to 2147483645",
            Self::Number => "a number",
            Self::Time => "a time such as `2026-11-27T08:54:58`",
            Self::Limit => "a time such as `1-00:00:00`, or `UNLIMITED`",
            Self::Memory => "an amount of memory such as `4G`",
            Self::Amounts => "amounts such as `cpu=4,mem=8G`",
        }
    }
}

/// `nice`, if Slurm accepts it.
pub fn nice(text: &str) -> Option<i64> {
    let number = text.parse().ok()?;
    (-MAX_NICE..=MAX_NICE).contains(&number).then_some(number)
}

/// A number of processors: a pending job may have a range, `4-8`, and multiples of 1024 are printed
/// as `2K`.
pub fn processors(text: &str) -> Option<u32> {
    let count = parse_amount(text.split('-').next()?, false)?;
    (count.fract() == 0.0 && count <= f64::from(u32::MAX)).then_some(count as u32)
}

/// Amounts by their names in lower case; memory is in MB.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TresAmounts(pub(crate) Vec<(String, f64)>);

impl TresAmounts {
    /// Parses a list; a part that is not an amount is left out, and of several of one name the first
    /// one counts.
    pub fn parse(text: &str) -> Self {
        Self(text.split(',').filter_map(part).collect())
    }

    /// The first part of a list that is not an amount.
    fn unreadable_part(text: &str) -> Option<&str> {
        let mut parts = text.split(',');
        parts.find(|text| !text.trim().is_empty() && part(text).is_none())
    }

    /// The amount of a resource.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        let (_, amount) = self.0.iter().find(|(known, _)| known == name)?;
        Some(*amount)
    }

    /// Replaces the memory, which is printed with two decimals of its unit, by the exact number of
    /// MB, if that is printed as this.
    pub(crate) fn refine_memory(&mut self, megabytes: f64) {
        let mut amounts = self.0.iter_mut();
        if let Some((_, printed)) = amounts.find(|(name, _)| name == "mem")
            // half of the second decimal, and a little for the arithmetic
            && (*printed - megabytes).abs() <= 0.006 * unit_of(*printed)
        {
            *printed = megabytes;
        }
    }
}

/// The name and the amount of a part of a list.
fn part(text: &str) -> Option<(String, f64)> {
    let (name, amount) = text.split_once('=')?;
    let name = name.trim().to_ascii_lowercase();
    let is_memory = matches!(name.as_str(), "mem" | "vmem");
    Some((name, parse_amount(amount.trim(), is_memory)?))
}

/// The unit in which so many MB are printed, in MB.
fn unit_of(megabytes: f64) -> f64 {
    let mut unit = 1.0;
    while megabytes >= unit * 1024.0 {
        unit *= 1024.0;
    }
    unit
}

/// A number with a unit in powers of 1024, of which M counts 1 for memory.
pub fn parse_amount(text: &str, is_memory: bool) -> Option<f64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let steps = match text[number.len()..].chars().next() {
        None if is_memory => 2,
        None => 0,
        Some(unit) => " KMGTPE".find(unit.to_ascii_uppercase())? as i32,
    };
    let scale = 1024_f64.powi(if is_memory { steps - 2 } else { steps });
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        assert_eq!(parse_time("1970-01-01T00:00:00"), Some(0));
        assert_eq!(parse_time("2026-11-27T08:54:58"), Some(1_795_769_698));
        assert_eq!(parse_time("2024-02-29T00:00:01"), Some(1_709_164_801));
        assert_eq!(parse_time("Unknown"), None);
    }

    #[test]
    fn limits_are_minutes() {
        assert_eq!(TimeLimit::parse("5:00"), TimeLimit::Minutes(5));
        assert_eq!(TimeLimit::parse("1-00:00:00"), TimeLimit::Minutes(1440));
        assert_eq!(TimeLimit::parse("00:05:00"), TimeLimit::Minutes(5));
        assert_eq!(TimeLimit::parse("UNLIMITED"), TimeLimit::Unlimited);
        assert_eq!(TimeLimit::parse("Partition_Limit"), TimeLimit::OfPartition);
    }

    #[test]
    fn every_form_of_a_length_is_read() {
        for (text, expected) in [
            ("0", Some(0)),
            ("10", Some(10)),
            ("10:01", Some(11)),
            ("1:00:00", Some(60)),
            ("7-0", Some(10_080)),
            ("1-2:3", Some(1563)),
            ("1-2:3:1", Some(1564)),
            ("INFINITE", Some(-1)),
            ("-1", Some(-1)),
            ("", None),
            ("a", None),
            ("1:2:3:4", None),
            ("-2", None),
            ("1.5", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_minutes(text), expected, "{text}");
        }
    }

    #[test]
    fn memory_is_counted_in_megabytes() {
        let amounts = TresAmounts::parse("cpu=16,mem=62.50G,node=1,GRES/gpu=4,billing=1K,x");
        assert_eq!(amounts.get("mem"), Some(64_000.0));
        assert_eq!(amounts.get("gres/gpu"), Some(4.0));
        assert_eq!(amounts.get("billing"), Some(1024.0));
        assert_eq!(amounts.get("x"), None);
        assert_eq!(parse_amount("2048K", true), Some(2.0));
        assert_eq!(parse_amount("nan", false), None);
    }

    #[test]
    fn each_form_has_its_values() {
        for (form, good, bad) in [
            (Form::Count, "4294967295", "1e30"),
            (Form::Nice, "-2147483645", "-99999999999"),
            (Form::Nice, "2147483645", "4294967295"),
            (Form::Processors, "4-8", "99999999999999999999"),
            (Form::Processors, "2K", "many"),
            (Form::Time, "Unknown", "27.11.2026"),
            (Form::Time, "2026-11-27T08:54:58", "2026-11-27T08:54:99"),
            (Form::Limit, "Partition_Limit", "5 days"),
            (Form::Memory, "1500M", "1500Q"),
            (Form::Amounts, "cpu=1,mem=2G", "cpu=one"),
        ] {
            assert!(form.accepts(good) && !form.accepts(bad), "{good} {bad}");
        }
        assert_eq!(processors("2K"), Some(2048));
    }
}
