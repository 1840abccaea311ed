//! A long text of short pieces.

/// How much is gathered before it is appended to the text.
const ROOM: usize = 2048;
/// A piece of at most this many bytes is short.
const SHORT: usize = 32;

/// Gathers pieces for a text. A short piece is copied in one or two steps of a fixed size, which takes less time than to
/// ask how many bytes it has and call for a copy of that many.
pub(super) struct Pieces<'t> {
    text: &'t mut Vec<u8>,
    gathered: [u8; ROOM],
    end: usize,
}

impl<'t> Pieces<'t> {
    /// For the end of this text; what is not [finished](Pieces::finish) is not there.
    pub(super) fn of(text: &'t mut Vec<u8>) -> Self {
        Self { text, gathered: [0; ROOM], end: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, piece: &str) {
        let (piece, len) = (piece.as_bytes(), piece.len());
        if len > SHORT {
            return self.push_long(piece);
        }
        let room = match self.gathered.get_mut(self.end..self.end + SHORT) {
            Some(room) => room,
            None => self.begin_anew(),
        };
        match len {
            16.. => copy_both_ends::<16>(piece, room),
            8.. => copy_both_ends::<8>(piece, room),
            4.. => copy_both_ends::<4>(piece, room),
            _ => room.iter_mut().zip(piece).for_each(|(room, &byte)| *room = byte),
        }
        self.end += len;
    }

    #[inline]
    pub(super) fn push_byte(&mut self, byte: u8) {
        let room = match self.gathered.get_mut(self.end..) {
            Some(room) if !room.is_empty() => room,
            _ => self.begin_anew(),
        };
        room[0] = byte;
        self.end += 1;
    }

    /// Appends the digits of a number.
    #[inline]
    pub(super) fn push_number(&mut self, number: u64) {
        if number >= EIGHT_DIGITS {
            return self.push(itoa::Buffer::new().format(number));
        }
        let digits = eight_digits(number);
        // a number has one digit at least
        self.push_digits(digits, 8 - (digits.trailing_zeros() / 8).min(7));
    }

    /// Appends so many digits of a number, zeros in front of it.
    #[inline]
    pub(super) fn push_places(&mut self, number: u64, places: u32) {
        self.push_digits(eight_digits(number % EIGHT_DIGITS), places.min(8));
    }

    /// Appends the last so many of eight digits.
    #[inline]
    fn push_digits(&mut self, digits: u64, count: u32) {
        let room = match self.gathered.get_mut(self.end..self.end + 8) {
            Some(room) => room,
            None => self.begin_anew(),
        };
        let letters = digits | u64::from_le_bytes([b'0'; 8]);
        room[..8].copy_from_slice(&letters.checked_shr(64 - 8 * count).unwrap_or(0).to_le_bytes());
        self.end += count as usize;
    }

    #[cold]
    fn push_long(&mut self, piece: &[u8]) {
        self.begin_anew();
        self.text.extend_from_slice(piece);
    }

    #[cold]
    fn begin_anew(&mut self) -> &mut [u8] {
        self.text.extend_from_slice(&self.gathered[..self.end]);
        self.end = 0;
        &mut self.gathered
    }

    pub(super) fn finish(mut self) {
        self.begin_anew();
    }
}

/// From this number on there are more than eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;

/// The eight digits of a number, a byte each, the first one lowest: halves of four digits, then pairs, then single ones
/// side by side in one word.
#[inline]
fn eight_digits(number: u64) -> u64 {
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x7f_0000_007f;
    let pairs = hundreds | ((halves - 100 * hundreds) << 16);
    let tens = ((pairs * 103) >> 10) & 0x0f_000f_000f_000f;
    tens | ((pairs - 10 * tens) << 8)
}

/// Copies a piece of `N` to twice as many bytes.
#[inline]
fn copy_both_ends<const N: usize>(piece: &[u8], room: &mut [u8]) {
    if let (Some(first), Some(last)) = (piece.first_chunk::<N>(), piece.last_chunk::<N>()) {
        room[..N].copy_from_slice(first);
        room[piece.len() - N..piece.len()].copy_from_slice(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_all_digits() {
        let spread = (0..100_000).map(|at| at * 104_729 % EIGHT_DIGITS);
        for number in spread.chain(0..10_100).chain([9_999_999, 99_999_999, EIGHT_DIGITS, u64::MAX]) {
            let mut text = Vec::new();
            let mut pieces = Pieces::of(&mut text);
            pieces.push_number(number);
            for places in 0..=4 {
                pieces.push_places(number % 10_000, places);
            }
            pieces.finish();
            let last = format!("{:04}", number % 10_000);
            let expected = format!("{number}{}{}{}{last}", &last[3..], &last[2..], &last[1..]);
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }

    #[test]
    fn pieces_of_every_length_follow_each_other() {
        let letters: String = (0..ROOM + 100).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
        for step in [1, 7, 31] {
            let (mut text, mut expected) = (b"before".to_vec(), String::from("before"));
            let mut pieces = Pieces::of(&mut text);
            for len in (0..ROOM + 100).step_by(step).chain(0..40).chain((0..9000).map(|at| at % 37)) {
                pieces.push(&letters[..len]);
                pieces.push_byte(b',');
                expected.push_str(&letters[..len]);
                expected.push(',');
            }
            pieces.finish();
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }
}
