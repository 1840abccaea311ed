//! Sizes in the syntax of PBS, such as `4gb` or `16kw`, converted to kb as the scheduler converts
//! them.

use thiserror::Error;

/// A size that the scheduler cannot read; it ignores the job.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SizeError {
    /// The text is not a size.
    #[error(
        "`{0}` is not a size, expected a whole number with `b`, `kb`, `mb`, `gb` or `tb`, such as `4gb`"
    )]
    NotASize(String),
    /// The server accepts petabytes, but the scheduler cannot read them.
    #[error("the scheduler cannot read petabytes: `{0}`; write it in `tb`")]
    Petabytes(String),
}

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
/// # Errors
/// The text is not a size, or it is in petabytes, which the server accepts and the scheduler does
/// not.
///
/// ```
/// use jsf_openpbs::size::kilobytes;
///
/// assert_eq!(kilobytes("4gb"), Ok(4.0 * 1024.0 * 1024.0));
/// assert_eq!(kilobytes("1025b"), Ok(2.0));
/// assert_eq!(kilobytes("16kw"), Ok(128.0));
/// ```
pub fn kilobytes(text: &str) -> Result<f64, SizeError> {
    let Some((amount, unit)) = split_unit(text).filter(|&(amount, _)| amount < MAX_AMOUNT) else {
        return Err(SizeError::NotASize(text.to_owned()));
    };
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => return Ok((amount / 1024.0).ceil()),
        "w" => return Ok(amount),
        "kb" => 1.0,
        "mb" => MEGA,
        "gb" => GIGA,
        "tb" => TERA,
        "kw" => WORD,
        "mw" => MEGA * WORD,
        "gw" => GIGA * WORD,
        "tw" => TERA * WORD,
        "pb" | "pw" => return Err(SizeError::Petabytes(text.to_owned())),
        _ => return Err(SizeError::NotASize(text.to_owned())),
    };
    Ok(amount * factor)
}

/// Whether a text is a size with a unit: digits, then one of the units, including `pb`.
pub fn is_size_with_unit(text: &str) -> bool {
    split_unit(text).is_some_and(|(_, unit)| !unit.is_empty())
        && !matches!(kilobytes(text), Err(SizeError::NotASize(_)))
}

/// The leading digits as a number, and the rest; `None` if the text does not begin with a digit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    Some((digits.parse().ok()?, unit))
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
            assert_eq!(kilobytes(text), Ok(kb), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        assert_eq!(
            kilobytes("3pb"),
            Err(SizeError::Petabytes("3pb".to_owned()))
        );
        for text in [
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
            assert!(
                matches!(kilobytes(text), Err(SizeError::NotASize(_))),
                "{text}"
            );
        }
        assert!(
            is_size_with_unit("3pb")
                && is_size_with_unit("1b")
                && !is_size_with_unit("10")
                && !is_size_with_unit("b")
        );
    }
}
