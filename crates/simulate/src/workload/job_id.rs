//! The order of job ids.

use std::cmp::Ordering;

/// Compares ids as people order them: numbers in them by their value, everything else by its bytes.
///
/// ```
/// use jsf_simulate::compare_ids;
///
/// let mut ids = ["10.vm", "9.vm", "9[10].vm", "9[2].vm", "b", "09.vm"];
/// ids.sort_by(|one, other| compare_ids(one, other));
/// assert_eq!(ids, ["09.vm", "9.vm", "9[2].vm", "9[10].vm", "10.vm", "b"]);
/// ```
pub fn compare_ids(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one.as_bytes(), other.as_bytes());
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        let ordering = if first.is_ascii_digit() && second.is_ascii_digit() {
            let (number, rest) = leading_number(left);
            let (other_number, other_rest) = leading_number(right);
            (left, right) = (rest, other_rest);
            (number.len(), number).cmp(&(other_number.len(), other_number))
        } else {
            (left, right) = (&left[1..], &right[1..]);
            first.cmp(second)
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    (left.len(), one).cmp(&(right.len(), other))
}

/// The digits at the start, without leading zeros, and what follows.
fn leading_number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    let (mut digits, rest) = text.split_at(end.unwrap_or(text.len()));
    while let [b'0', others @ ..] = digits {
        digits = others;
    }
    (digits, rest)
}
