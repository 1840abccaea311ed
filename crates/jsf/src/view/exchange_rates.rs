//! What inputs are worth in time of waiting, in one line.

use jsf_openpbs::check::ExchangeRate;

use crate::view::words::{five_digits, waiting_time};

/// What the line is about.
pub(crate) const WORTH: &str = "worth in waiting";
/// The resource by which others are measured too.
const CORES: &str = "ncpus";
/// The most rates that are told.
const MAX_RATES: usize = 8;

/// The rates, those that hold for every job first; `place` says where the others hold. Empty if
/// there are none.
pub(crate) fn rates_line(rates: &[ExchangeRate], place: &str) -> String {
    let (mut cores, mut constant, mut others) = (None, Vec::new(), Vec::new());
    for rate in rates {
        if !rate.is_constant {
            others.push(words(rate, None));
        } else if *rate.name == *CORES {
            cores = Some(rate.wait);
        }
    }
    for rate in rates {
        if rate.is_constant {
            constant.push(words(rate, cores));
        }
    }
    constant.truncate(MAX_RATES);
    others.truncate(MAX_RATES - constant.len());
    let more = rates.len() - constant.len() - others.len();
    let mut parts = constant;
    if !others.is_empty() {
        parts.push(format!("not constant, {place}: {}", others.join("; ")));
    }
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    parts.join("; ")
}

/// An amount and what it is worth; `cores` is what a processor is worth.
fn words(rate: &ExchangeRate, cores: Option<f64>) -> String {
    let name = &rate.name;
    let amount = match (rate.unit, rate.amount) {
        (Some("s"), _) => format!("1 h of `{name}`"),
        (Some("kb"), _) => format!("1 GiB of `{name}`"),
        (_, 1.0) => format!("1 `{name}`"),
        (_, amount) => format!("{amount} of `{name}`"),
    };
    let mut words = format!("{amount} = {}", signed_time(rate.wait));
    if let Some(cores) = cores
        && cores != 0.0
        && rate.unit.is_none()
        && rate.amount == 1.0
        && **name != *CORES
    {
        words += &format!(" = {} `{CORES}`", five_digits(rate.wait / cores));
    }
    words
}

/// A time with its sign, in seconds below a minute.
fn signed_time(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    let magnitude = seconds.abs();
    match magnitude {
        ..60.0 => format!("{sign}{} s", five_digits(magnitude)),
        _ => format!("{sign}{}", waiting_time(magnitude.round() as i64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(
        name: &str,
        amount: f64,
        unit: Option<&'static str>,
        wait: f64,
        is_constant: bool,
    ) -> ExchangeRate {
        ExchangeRate {
            name: name.into(),
            amount,
            unit,
            wait,
            is_constant,
        }
    }

    #[test]
    fn units_signs_and_cores_are_named() {
        let rates = [
            rate("walltime", 3600.0, Some("s"), -7200.0, false),
            rate("ncpus", 1.0, None, 36.0, true),
            rate("ngpus", 1.0, None, 1152.0, true),
            rate("fairshare_factor", 0.1, None, 302_400.0, true),
            rate("mem", 1_048_576.0, Some("kb"), 0.5, true),
        ];
        assert_eq!(
            rates_line(&rates, "at this job"),
            "1 `ncpus` = 36 s; 1 `ngpus` = 19 min 12 s = 32 `ncpus`; 0.1 of `fairshare_factor` = 3 d 12 h; 1 GiB of `mem` = 0.5 s; \
             not constant, at this job: 1 h of `walltime` = -2 h"
        );
        assert_eq!(rates_line(&[], "at this job"), "");
    }
}
