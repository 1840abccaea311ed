//! Text in words of eight bytes, the first byte lowest: what is true of each byte, all at once.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Eight times the same byte.
#[inline(always)]
pub(super) const fn each(byte: u8) -> u64 {
    LOW * byte as u64
}

/// A high bit at each byte that is not ASCII.
#[inline(always)]
pub(super) fn beyond_ascii(word: u64) -> u64 {
    word & HIGH
}

/// The whole number of one to seven digits that stands there, and where it ends.
#[inline(always)]
pub(super) fn small_at(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    small_in(word).map(|(small, length)| (small, at + length))
}

/// The whole number of one to seven digits that these bytes begin with, and how many digits it has.
#[inline(always)]
pub(super) fn small_in(word: u64) -> Option<(u32, usize)> {
    let digits = word ^ each(b'0');
    let others = (digits.wrapping_add(LOW * 0x76) | digits) & HIGH;
    let count = others.trailing_zeros() as usize / 8;
    // A first digit is 0 or not as it likes: to ask for that alone would be a guess that often fails.
    let begins_with_0 = (digits & 0xff) | (others & 0x8000) == 0;
    if count.is_multiple_of(8) || begins_with_0 {
        return None;
    }
    if matches!((word >> (8 * count)) as u8, b'.' | b'e' | b'E') {
        return None;
    }
    Some((number_of(digits << (64 - 8 * count)), count))
}

/// Where the first quote, backslash or control character is in these bytes; their number if there is none.
#[inline(always)]
pub(super) fn stop_in(bytes: &[u8; 16]) -> usize {
    // The least of these is 0 at such a byte.
    let stops = bytes.map(|byte| (byte ^ b'"').min(byte ^ b'\\').min(byte.saturating_sub(b' ' - 1)));
    let stops = stops.map(|least| if least == 0 { 0xff } else { 0 });
    u128::from_le_bytes(stops).trailing_zeros() as usize / 8
}

/// A high bit at the first byte that is a quote, a backslash or a control character; bits above it mean nothing.
#[inline(always)]
pub(super) fn stops(word: u64) -> u64 {
    let zeros = |word: u64| word.wrapping_sub(LOW) & !word;
    let controls = word.wrapping_sub(each(b' ')) & !word;
    (zeros(word ^ each(b'"')) | zeros(word ^ each(b'\\')) | controls) & HIGH
}

/// The number whose eight digits these bytes are, the first digit in the lowest byte.
#[inline(always)]
fn number_of(digits: u64) -> u32 {
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
    fn the_first_stop_is_found() {
        for at in 0..16 {
            for byte in 0..=u8::MAX {
                let mut bytes = [b'x'; 16];
                (bytes[at], bytes[15]) = (byte, if at < 15 { b'"' } else { byte });
                let is_stop = byte < b' ' || byte == b'"' || byte == b'\\';
                let expected = if is_stop { at } else { 15 + usize::from(at == 15) };
                assert_eq!(stop_in(&bytes), expected, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn a_small_number_is_what_json_says() {
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
            assert_eq!(small_in(word), expected, "{text}");
        }
    }
}
