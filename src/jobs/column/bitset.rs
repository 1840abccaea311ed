//! A bit for every row of a block. While all bits are equal, none is stored.

use std::ops::Range;

/// The number of rows in a block. All blocks of a column but the last are full.
pub const BLOCK_ROWS: usize = 4096;

/// How many words hold the bits of a block.
const WORDS: usize = BLOCK_ROWS / 64;

/// A growing list of at most [`BLOCK_ROWS`] bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Bitset {
    len: u16,
    ones: u16,
    /// The bits, from the first one on that differs from those before it.
    words: Option<Box<[u64; WORDS]>>,
}

impl Bitset {
    /// The same bit `count` times.
    pub(super) fn repeated(bit: bool, count: usize) -> Self {
        let len = count as u16;
        Self { len, ones: if bit { len } else { 0 }, words: None }
    }

    #[inline]
    pub(super) fn push(&mut self, bit: bool) {
        let Some(words) = &mut self.words else { return self.push_repeated(bit, 1) };
        words[usize::from(self.len) / 64] |= u64::from(bit) << (self.len % 64);
        self.len += 1;
        self.ones += u16::from(bit);
    }

    /// Appends the same bit `count` times.
    #[inline]
    pub(super) fn push_repeated(&mut self, bit: bool, count: usize) {
        let stays_uniform = if bit { self.ones == self.len } else { self.ones == 0 };
        if !stays_uniform || self.words.is_some() {
            self.write(bit, count);
        }
        self.len += count as u16;
        self.ones += if bit { count as u16 } else { 0 };
    }

    /// Appends bits of another list.
    pub(super) fn extend_from(&mut self, other: &Self, runs: &[Range<usize>]) {
        if other.is_all_ones() || other.is_all_zeros() {
            self.push_repeated(other.is_all_ones(), runs.iter().map(Range::len).sum());
        } else {
            runs.iter().cloned().flatten().for_each(|row| self.push(other.get(row)));
        }
    }

    /// The bits of ascending runs of rows.
    pub(super) fn retained(&self, runs: &[Range<usize>]) -> Self {
        let mut retained = Self::default();
        retained.extend_from(self, runs);
        retained
    }

    /// Changes the bit of a row.
    pub(super) fn set(&mut self, row: usize, bit: bool) {
        if row >= usize::from(self.len) || self.get(row) == bit {
            return;
        }
        self.write(bit, 0);
        if let Some(words) = &mut self.words {
            words[row / 64] ^= 1 << (row % 64);
        }
        self.ones = if bit { self.ones + 1 } else { self.ones - 1 };
    }

    #[cold]
    fn write(&mut self, bit: bool, count: usize) {
        let len = usize::from(self.len);
        let are_ones = self.ones > 0 && self.ones == self.len;
        let words = self.words.get_or_insert_with(|| {
            let mut words = Box::new([0; WORDS]);
            (0..len).filter(|_| are_ones).for_each(|row| words[row / 64] |= 1 << (row % 64));
            words
        });
        (len..len + count).filter(|_| bit).for_each(|row| words[row / 64] |= 1 << (row % 64));
    }

    /// The bit of a row; `false` if there is no such row.
    #[inline]
    pub(super) fn get(&self, row: usize) -> bool {
        match &self.words {
            None => self.ones > 0 && row < usize::from(self.len),
            Some(words) => words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1),
        }
    }

    /// Whether every bit is set.
    pub(super) fn is_all_ones(&self) -> bool {
        self.ones == self.len
    }

    /// Whether no bit is set.
    pub(super) fn is_all_zeros(&self) -> bool {
        self.ones == 0
    }

    /// The bits, unless all are equal and none is stored.
    pub(super) fn words(&self) -> Option<&[u64]> {
        self.words.as_ref().map(|words| &words[..])
    }
}
