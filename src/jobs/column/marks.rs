//! A yes or no for every row of a block, at no cost while all rows agree.

use crate::jobs::column::BLOCK_ROWS;

/// The words that hold the bits of a block.
const WORDS: usize = BLOCK_ROWS / 64;

/// A growing row of bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    len: u16,
    ones: u16,
    /// Only there once two rows differ.
    words: Option<Box<[u64; WORDS]>>,
}

impl Marks {
    #[inline]
    pub(super) fn push(&mut self, mark: bool) {
        self.push_many(mark, 1);
    }

    /// Appends the same mark for so many rows.
    #[inline]
    pub(super) fn push_many(&mut self, mark: bool, count: usize) {
        let agrees = if mark { self.ones == self.len } else { self.ones == 0 };
        if !agrees || self.words.is_some() {
            self.write(mark, count);
        }
        self.len += count as u16;
        self.ones += if mark { count as u16 } else { 0 };
    }

    #[cold]
    fn write(&mut self, mark: bool, count: usize) {
        let (len, all) = (usize::from(self.len), self.ones > 0 && self.ones == self.len);
        let words = self.words.get_or_insert_with(|| {
            let mut words = Box::new([0; WORDS]);
            (0..len).filter(|_| all).for_each(|row| words[row / 64] |= 1 << (row % 64));
            words
        });
        (len..len + count).filter(|_| mark).for_each(|row| words[row / 64] |= 1 << (row % 64));
    }

    #[inline]
    pub(super) fn at(&self, row: usize) -> bool {
        match &self.words {
            None => self.ones > 0 && row < usize::from(self.len),
            Some(words) => words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1),
        }
    }

    /// Whether every row is marked.
    pub(super) fn is_all(&self) -> bool {
        self.ones == self.len
    }

    /// Whether no row is marked.
    pub(super) fn is_none(&self) -> bool {
        self.ones == 0
    }

    /// The bits, where rows differ.
    pub(super) fn words(&self) -> Option<&[u64]> {
        self.words.as_ref().map(|words| &words[..])
    }
}
