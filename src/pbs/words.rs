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
    if count == 0 || count == 8 || (count > 1 && digits & 0xff == 0) {
        return None;
    }
    if matches!((word >> (8 * count)) as u8, b'.' | b'e' | b'E') {
        return None;
    }
    Some((number_of(digits << (64 - 8 * count)), count))
}

/// Whether none of these bytes is a quote, a backslash or a control character.
#[inline(always)]
pub(super) fn is_free(bytes: &[u8; 16]) -> bool {
    let stop = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    !bytes.iter().fold(false, |any, &byte| any | stop(byte))
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
