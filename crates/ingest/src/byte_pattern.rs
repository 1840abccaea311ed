//! Tests whether a text continues with expected bytes, sixteen bytes at a time.

/// The number of bytes that are compared at a time.
const GROUP: usize = 16;

/// Bytes that are expected in a text.
#[derive(Debug, Clone)]
pub(super) struct BytePattern {
    /// The first sixteen bytes, and a mask of those that are compared.
    first: u128,
    mask: u128,
    /// The last sixteen bytes, if there are at least sixteen.
    last: u128,
    len: usize,
    /// The bytes between the first and the last sixteen.
    between: Box<[u8]>,
}

impl BytePattern {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let start = &bytes[..bytes.len().min(GROUP)];
        let mut first = [0; GROUP];
        first[..start.len()].copy_from_slice(start);
        let mut mask = [0; GROUP];
        mask[..start.len()].fill(0xff);
        Self {
            first: u128::from_le_bytes(first),
            mask: u128::from_le_bytes(mask),
            last: bytes.last_chunk().map_or(0, |last| u128::from_le_bytes(*last)),
            len: bytes.len(),
            between: bytes.get(GROUP..bytes.len().saturating_sub(GROUP)).unwrap_or_default().into(),
        }
    }

    /// The end of the bytes, if the text contains them at this position and at least [`GROUP`] bytes follow the position.
    #[inline(always)]
    pub(super) fn end_at(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let text = bytes.get(at..)?;
        let first = u128::from_le_bytes(*text.first_chunk()?);
        if (first ^ self.first) & self.mask != 0 || (self.len > GROUP && !self.rest_matches(text)) {
            return None;
        }
        Some(at + self.len)
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let first = self.first.to_le_bytes();
        let last = self.last.to_le_bytes();
        let tail = self.len.saturating_sub(GROUP).min(GROUP);
        [&first[..self.len.min(GROUP)], &self.between, &last[GROUP - tail..]].concat()
    }

    /// Whether the text contains the bytes after the first group.
    #[inline(always)]
    fn rest_matches(&self, text: &[u8]) -> bool {
        let rest = self.len - GROUP;
        let last = text.get(rest..).and_then(|last| last.first_chunk());
        last.is_some_and(|last| u128::from_le_bytes(*last) == self.last)
            && (rest <= GROUP || text[GROUP..rest] == *self.between)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        for len in 0..70 {
            let bytes: Vec<u8> = (1..=len).collect();
            let pattern = BytePattern::new(&bytes);
            let text = [&[0; 3], &bytes[..], &[0; GROUP]].concat();
            assert_eq!(pattern.end_at(&text, 3), Some(3 + bytes.len()));
            assert_eq!(pattern.bytes(), bytes);
            for at in 3..3 + bytes.len() {
                let mut other = text.clone();
                other[at] ^= 0x80;
                assert_eq!(pattern.end_at(&other, 3), None, "{len} bytes, {at}");
            }
            assert_eq!(pattern.end_at(&text[..text.len() - GROUP], 3 + bytes.len()), None);
        }
    }
}
