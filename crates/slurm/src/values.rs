//! The values that Slurm's tools print: their forms, so that a value of another form is named
//! instead of being taken for none, and amounts of trackable resources (TRES),
//! `cpu=16,mem=62.50G,gres/gpu=4`.

use jsf_json::clipped;

use crate::jobs::{TimeLimit, parse_time};

/// The largest `nice` that Slurm accepts, and without its sign the smallest.
const MAX_NICE: i64 = 2_147_483_645;

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Whole,
    Count,
    /// A priority, also as a part of the largest one, which `squeue` prints under the same name.
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
    fn accepts(self, text: &str) -> bool {
        let has_digit = text.contains(|c: char| c.is_ascii_digit());
        match self {
            Self::Whole => text.parse::<i64>().is_ok(),
            Self::Count => text.parse::<u32>().is_ok(),
            Self::Priority => {
                text.parse::<u32>().is_ok() || matches!(text.parse::<f64>(), Ok(0.0..=1.0))
            }
            Self::Nice => nice(text).is_some(),
            Self::Number => text.parse::<f64>().is_ok_and(f64::is_finite),
            Self::Processors => processors(text).is_some(),
            // words such as `Unknown` mean that there is no value
            Self::Time => !has_digit || parse_time(text).is_some(),
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

    /// What is said of a value of another form: the key, what has the value, and the value.
    pub fn fault(self, key: &str, of: &str, value: &str) -> Option<String> {
        if self.accepts(value) {
            return None;
        }
        let (value, expected) = (clipped(value), self.expected());
        Some(format!(
            "`{key}` of {of} is `{value}`, expected {expected}; it is not used"
        ))
    }
}

/// `nice`, if Slurm accepts it.
pub fn nice(text: &str) -> Option<i64> {
    accepted_nice(text.parse().ok()?)
}

/// A number, if Slurm accepts it as `nice`.
pub fn accepted_nice(number: i64) -> Option<i64> {
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
    pub(crate) fn unreadable_part(text: &str) -> Option<&str> {
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
    fn a_value_of_another_form_is_named() {
        for (form, good, bad) in [
            (Form::Count, "4294967295", "1e30"),
            (Form::Priority, "0.01333", "1.5"),
            (Form::Nice, "-2147483645", "-99999999999"),
            (Form::Processors, "4-8", "99999999999999999999"),
            (Form::Processors, "2K", "many"),
            (Form::Time, "Unknown", "27.11.2026"),
            (Form::Time, "2026-11-27T08:54:58", "2026-11-27T08:54:99"),
            (Form::Limit, "Partition_Limit", "5 days"),
            (Form::Memory, "1500M", "1500Q"),
            (Form::Amounts, "cpu=1,mem=2G", "cpu=one"),
        ] {
            assert_eq!(form.fault("K", "job `1`", good), None, "{good}");
            let said = form.fault("K", "job `1`", bad);
            let start = format!("`K` of job `1` is `{bad}`, expected ");
            assert!(said.is_some_and(|said| said.starts_with(&start)), "{bad}");
        }
        assert_eq!(processors("2K"), Some(2048));
    }
}
