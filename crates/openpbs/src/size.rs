//! Sizes in the syntax of PBS, such as `4gb` or `16kw`, converted to kb as the scheduler converts
//! them.

/// Bytes in a word.
const WORD: f64 = 8.0;
/// A number from this one on is rejected: far beyond the server's limit, and still finite in kb in
/// every unit.
const MAX_AMOUNT: f64 = 1e200;
/// A megabyte in kb.
const MEGA: f64 = 1024.0;
/// A gigabyte in kb.
const GIGA: f64 = 1024.0 * MEGA;
/// A terabyte in kb.
const TERA: f64 = 1024.0 * GIGA;

/// The number of kb in a size: a whole number with `b`, `kb`, `mb`, `gb` or `tb`, or with `kw`,
/// `mw`, … for words of 8 bytes, in any case. Bytes are rounded up to whole kb; a plain number is
/// in bytes.
///
/// The scheduler does not read `w` as a unit: `8w` is 8 kb, as recorded, not 64 bytes.
///
/// `None` for another text, and for petabytes, which the server accepts and the scheduler cannot
/// read: it then ignores the job.
///
/// ```
/// use jsf_openpbs::size::kilobytes;
///
/// assert_eq!(kilobytes("4gb"), Some(4.0 * 1024.0 * 1024.0));
/// assert_eq!(kilobytes("1025b"), Some(2.0));
/// assert_eq!(kilobytes("16kw"), Some(128.0));
/// ```
pub fn kilobytes(text: &str) -> Option<f64> {
    let (amount, unit) = split_unit(text)?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => return Some((amount / 1024.0).ceil()),
        "w" => return Some(amount),
        "kb" => 1.0,
        "mb" => MEGA,
        "gb" => GIGA,
        "tb" => TERA,
        "kw" => WORD,
        "mw" => MEGA * WORD,
        "gw" => GIGA * WORD,
        "tw" => TERA * WORD,
        _ => return None,
    };
    Some(amount * factor)
}

/// Whether a text is a size with a unit: digits, then one of the units, including `pb`.
pub fn is_size_with_unit(text: &str) -> bool {
    let Some((_, unit)) = split_unit(text) else {
        return false;
    };
    let is_in_petabytes = matches!(unit.to_ascii_lowercase().as_str(), "pb" | "pw");
    !unit.is_empty() && (is_in_petabytes || kilobytes(text).is_some())
}

/// The leading digits as a number, and the rest; `None` if the text does not begin with a digit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let amount = text[..text.len() - unit.len()].parse().ok()?;
    if amount < MAX_AMOUNT {
        Some((amount, unit))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_recorded() {
        for (text, kb) in [
            ("10b", 1.0),
            ("1023b", 1.0),
            ("1025b", 2.0),
            ("0b", 0.0),
            ("8w", 8.0),
            ("7gw", 58_720_256.0),
            ("5Kb", 5.0),
            ("999999tb", 1_073_740_750_258_176.0),
            ("123456789b", 120_564.0),
            ("10", 1.0),
        ] {
            assert_eq!(kilobytes(text), Some(kb), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "3pb",
            "",
            "gb",
            "-4gb",
            "4.5gb",
            "4gbb",
            "4xb",
            "4gx",
            "4bb",
            "4bw",
            "inf",
            "4 gb",
            "٤gb",
            &"9".repeat(400),
        ] {
            assert_eq!(kilobytes(text), None, "{text}");
        }
        assert!(
            is_size_with_unit("3pb")
                && is_size_with_unit("1b")
                && !is_size_with_unit("10")
                && !is_size_with_unit("b")
        );
    }
}
