//! A buffer that appends short strings to a long text.

/// The number of bytes that are collected before they are appended to the text.
const CAPACITY: usize = 2048;
/// A string of at most this many bytes is short.
const SHORT: usize = 32;

/// Collects strings for the end of a text. A short string is copied in one or two steps of a fixed size, which is faster
/// than a call that copies a variable number of bytes.
pub(super) struct ByteBuffer<'t> {
    text: &'t mut Vec<u8>,
    bytes: [u8; CAPACITY],
    end: usize,
}

impl<'t> ByteBuffer<'t> {
    /// A buffer for the end of this text. Only [`ByteBuffer::finish`] appends all of it.
    pub(super) fn new(text: &'t mut Vec<u8>) -> Self {
        Self { text, bytes: [0; CAPACITY], end: 0 }
    }

    #[inline]
    pub(super) fn push_str(&mut self, string: &str) {
        self.push_bytes(string.as_bytes());
    }

    #[inline]
    pub(super) fn push_bytes(&mut self, string: &[u8]) {
        let len = string.len();
        if len > SHORT {
            self.flush();
            return self.text.extend_from_slice(string);
        }
        let target = match self.bytes.get_mut(self.end..self.end + SHORT) {
            Some(target) => target,
            None => self.flush(),
        };
        match len {
            16.. => copy_both_ends::<16>(string, target),
            8.. => copy_both_ends::<8>(string, target),
            4.. => copy_both_ends::<4>(string, target),
            _ => target.iter_mut().zip(string).for_each(|(slot, &byte)| *slot = byte),
        }
        self.end += len;
    }

    #[inline]
    pub(super) fn push_byte(&mut self, byte: u8) {
        let target = match self.bytes.get_mut(self.end..) {
            Some(target) if !target.is_empty() => target,
            _ => self.flush(),
        };
        target[0] = byte;
        self.end += 1;
    }

    #[inline]
    pub(super) fn push_number(&mut self, number: u64) {
        self.push_str(itoa::Buffer::new().format(number));
    }

    #[cold]
    fn flush(&mut self) -> &mut [u8] {
        self.text.extend_from_slice(&self.bytes[..self.end]);
        self.end = 0;
        &mut self.bytes
    }

    pub(super) fn finish(mut self) {
        self.flush();
    }
}

/// Copies a string of `N` to `2 * N` bytes.
#[inline]
fn copy_both_ends<const N: usize>(string: &[u8], target: &mut [u8]) {
    if let (Some(first), Some(last)) = (string.first_chunk::<N>(), string.last_chunk::<N>()) {
        target[..N].copy_from_slice(first);
        target[string.len() - N..string.len()].copy_from_slice(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_every_length_follow_each_other() {
        let letters: String = (0..CAPACITY + 100).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
        for step in [1, 7, 31] {
            let (mut text, mut expected) = (b"before".to_vec(), String::from("before"));
            let mut buffer = ByteBuffer::new(&mut text);
            for len in (0..CAPACITY + 100).step_by(step).chain(0..40).chain((0..9000).map(|at| at % 37)) {
                buffer.push_str(&letters[..len]);
                buffer.push_byte(b',');
                expected.push_str(&letters[..len]);
                expected.push(',');
            }
            buffer.finish();
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }
}
