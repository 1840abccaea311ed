//! Tests eight bytes of text at once, as a 64-bit word whose lowest byte comes first (SIMD within a register).

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A word with the same byte eight times.
#[inline(always)]
pub(super) const fn splat(byte: u8) -> u64 {
    LOW * byte as u64
}

/// The high bit of each byte that is not ASCII.
#[inline(always)]
pub(super) fn non_ascii(word: u64) -> u64 {
    word & HIGH
}

/// The integer of one to seven digits at this position, and where it ends.
#[inline(always)]
pub(super) fn small_integer_at(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    small_integer_in(word).map(|(small, length)| (small, at + length))
}

/// The integer of one to seven digits at the start of the word, and its number of digits. `None` for an integer with a
/// leading zero, with more digits, or with a fraction or an exponent.
#[inline(always)]
pub(super) fn small_integer_in(word: u64) -> Option<(u32, usize)> {
    let digits = word ^ splat(b'0');
    let others = (digits.wrapping_add(LOW * 0x76) | digits) & HIGH;
    let count = others.trailing_zeros() as usize / 8;
    // One test, since a branch on the first digit alone is often mispredicted.
    let has_leading_zero = (digits & 0xff) | (others & 0x8000) == 0;
    if count.is_multiple_of(8) || has_leading_zero {
        return None;
    }
    if matches!((word >> (8 * count)) as u8, b'.' | b'e' | b'E') {
        return None;
    }
    Some((parse_digits(digits << (64 - 8 * count)), count))
}

/// The index of the first quote, backslash or control character; 16 without one.
#[inline(always)]
pub(super) fn first_special_in(bytes: &[u8; 16]) -> usize {
    // The minimum is 0 at such a byte.
    let special = bytes.map(|byte| (byte ^ b'"').min(byte ^ b'\\').min(byte.saturating_sub(b' ' - 1)));
    let special = special.map(|least| if least == 0 { 0xff } else { 0 });
    u128::from_le_bytes(special).trailing_zeros() as usize / 8
}

/// The high bit of the first byte that is a quote, a backslash or a control character; the bits above it are undefined.
#[inline(always)]
pub(super) fn special(word: u64) -> u64 {
    let controls = word.wrapping_sub(splat(b' ')) & !word;
    (zeros(word ^ splat(b'"')) | zeros(word ^ splat(b'\\')) | controls) & HIGH
}

/// The high bit of each byte is 1 at the first byte that is zero, 0 below it, and undefined above it.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word
}

/// Converts eight digits to an integer. The first digit is in the lowest byte.
#[inline(always)]
fn parse_digits(digits: u64) -> u32 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let upper = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let lower = (pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32));
    (upper.wrapping_add(lower) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_is_found() {
        for at in 0..16 {
            for byte in 0..=u8::MAX {
                let mut bytes = [b'x'; 16];
                bytes[15] = b'"';
                bytes[at] = byte;
                let is_special = byte < b' ' || byte == b'"' || byte == b'\\';
                let expected = if is_special { at } else { 15 + usize::from(at == 15) };
                assert_eq!(first_special_in(&bytes), expected, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn a_small_integer_is_valid_json() {
        for (text, expected) in [
            ("0,000000", Some((0, 1))),
            ("00,00000", None),
            ("01,00000", None),
            ("10,00000", Some((10, 2))),
            ("1234567}", Some((1_234_567, 7))),
            ("12345678", None),
            ("0.500000", None),
            ("7e100000", None),
            ("-1,00000", None),
            ("\u{7f}1,00000", None),
            ("9\u{80},00000", Some((9, 1))),
        ] {
            let word = u64::from_le_bytes(*text.as_bytes().first_chunk().unwrap());
            assert_eq!(small_integer_in(word), expected, "{text}");
        }
    }
}
