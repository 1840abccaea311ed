//! Amounts of trackable resources (TRES): `cpu=16,mem=62.50G,gres/gpu=4`.

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
}
