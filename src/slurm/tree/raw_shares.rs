//! What Slurm makes of a share count, however odd; recorded in `tests/golden/slurm/fairshare_values_2205.txt`.

use crate::fairshare::Shares;

/// The share count that means `FairShare=parent`, also when it is typed as a number.
pub const PARENT_SHARES: u32 = 0x7fff_ffff;
/// The largest number of shares; the next one is [`PARENT_SHARES`].
pub const MOST_SHARES: u32 = PARENT_SHARES - 1;

/// A share count as Slurm takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TakenShares {
    pub(super) shares: Shares,
    /// Whether it is what the text says.
    pub(super) as_written: bool,
}

/// Reads `parent` or a number; `None` for a text that `sacctmgr` refuses.
///
/// The number ends at the first character that is no digit (`1.5` is 1), but a zero must stand alone (`0x10` is
/// refused). Below zero means "cleared", which is the default.
pub(super) fn shares_of_text(text: &str) -> Option<TakenShares> {
    if text.eq_ignore_ascii_case("parent") {
        return Some(TakenShares { shares: Shares::Parent, as_written: true });
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let whole = unsigned
        .bytes()
        .take(digits)
        .fold(0i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    let ends_there = digits == unsigned.len() && digits > 0;
    if whole == 0 && !ends_there {
        return None;
    }
    let taken = shares_of_number(if text.starts_with('-') { -whole } else { whole });
    Some(TakenShares { as_written: taken.as_written && ends_there, ..taken })
}

/// The count that the database holds in the end: cut to 32 bits, and its column is a signed one.
pub(super) fn shares_of_number(number: i64) -> TakenShares {
    const DEFAULT: i64 = 1;
    let shares = match number as u32 {
        _ if number < 0 => Shares::Count(DEFAULT),
        PARENT_SHARES => Shares::Parent,
        count if count > PARENT_SHARES => Shares::Count(DEFAULT),
        count => Shares::Count(i64::from(count)),
    };
    let as_written = match shares {
        Shares::Count(count) => count == number,
        Shares::Parent => number == i64::from(PARENT_SHARES),
    };
    TakenShares { shares, as_written }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_values_are_taken_as_recorded() {
        let count = |count, as_written| Some(TakenShares { shares: Shares::Count(count), as_written });
        let parent = |as_written| Some(TakenShares { shares: Shares::Parent, as_written });
        for (text, taken) in [
            ("0", count(0, true)),
            ("2147483646", count(2_147_483_646, true)),
            ("parent", parent(true)),
            ("PARENT", parent(true)),
            ("2147483647", parent(true)),
            ("-1", count(1, false)),
            ("-7", count(1, false)),
            ("2147483648", count(1, false)),
            ("3000000000", count(1, false)),
            ("4294967295", count(1, false)),
            ("4294967296", count(0, false)),
            ("99999999999999999999", count(1, false)),
            ("1.5", count(1, false)),
            ("+5", count(5, true)),
            ("12abc", count(12, false)),
            ("0x10", None),
            ("0.5", None),
            ("nan", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(shares_of_text(text), taken, "{text}");
        }
    }
}
