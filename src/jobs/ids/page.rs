//! A page of concatenated ids.

use std::ops::Range;

use crate::jobs::BLOCK_ROWS;

/// The number of rows in a page.
pub(super) const PAGE_ROWS: usize = BLOCK_ROWS;

/// Up to [`PAGE_ROWS`] ids.
#[derive(Debug, Clone, Default)]
pub(super) struct Page {
    text: String,
    count: usize,
    ends: Ends,
}

/// Where the ids of a page end.
#[derive(Debug, Clone)]
enum Ends {
    /// All ids have this length, since the numbers of a server mostly have the same number of digits.
    Uniform(usize),
    Each(Vec<u32>),
}

impl Default for Ends {
    fn default() -> Self {
        Self::Uniform(0)
    }
}

impl Page {
    /// Creates an empty page with the capacity for ids as long as those of the previous page.
    pub(super) fn after(previous: Option<&Self>) -> Self {
        let text = String::with_capacity(previous.map_or(0, |previous| previous.text.len()));
        Self { text, ..Self::default() }
    }

    /// Removes all ids, and keeps the buffer of the text.
    pub(super) fn cleared(mut self) -> Self {
        self.text.clear();
        Self { text: self.text, ..Self::default() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The number of ids.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn id_at(&self, row: usize) -> Option<&str> {
        self.text.get(self.range(row)?)
    }

    pub(super) fn bytes_at(&self, row: usize) -> Option<&[u8]> {
        self.text.as_bytes().get(self.range(row)?)
    }

    /// Appends the ids of some rows of another page. They must fit the page.
    pub(super) fn extend_from(&mut self, other: &Self, rows: Range<usize>) {
        let start = other.range(rows.start).map_or(other.text.len(), |range| range.start);
        match (&mut self.ends, &other.ends) {
            (Ends::Uniform(length), Ends::Uniform(others)) if self.count == 0 || length == others => {
                *length = *others;
                self.text.push_str(&other.text[start..start + rows.len() * *others]);
                self.count += rows.len();
            }
            _ => {
                let ends = rows.clone().map(|row| other.range(row).map_or(other.text.len(), |range| range.end));
                self.extend(&other.text[start..], 0, &mut ends.map(|end| end - start));
            }
        }
    }

    /// The range of an id in the text.
    #[inline]
    fn range(&self, row: usize) -> Option<Range<usize>> {
        match &self.ends {
            Ends::Uniform(length) => (row < self.count).then(|| row * length..(row + 1) * length),
            Ends::Each(ends) => {
                let start = if row == 0 { 0 } else { *ends.get(row - 1)? };
                Some(start as usize..*ends.get(row)? as usize)
            }
        }
    }

    /// Appends as many ids as fit. `text` is concatenated ids, of which the first begins at `start` and each ends at one
    /// of `ends`. Returns the end of the last id that was appended.
    pub(super) fn extend(&mut self, text: &str, start: usize, ends: &mut impl Iterator<Item = usize>) -> usize {
        let length = self.text.len();
        let mut appended_end = start;
        for end in ends.take(PAGE_ROWS - self.count) {
            self.push_end(length + end - start);
            appended_end = end;
        }
        self.text.push_str(&text[start..appended_end]);
        appended_end
    }

    #[inline]
    fn push_end(&mut self, end: usize) {
        match &mut self.ends {
            Ends::Uniform(length) if self.count == 0 => *length = end,
            Ends::Uniform(length) if (self.count + 1) * *length == end => {}
            Ends::Uniform(length) => {
                let mut ends = Vec::with_capacity(PAGE_ROWS);
                ends.extend((1..=self.count).map(|count| (count * *length) as u32));
                ends.push(end as u32);
                self.ends = Ends::Each(ends);
            }
            Ends::Each(ends) => ends.push(end as u32),
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_length_and_of_many_are_found() {
        for ids in [vec![], vec!["", "a"], vec!["1.a", "2.a", "3.b"], vec!["8.a", "9.a", "10.a", "11.a", "9"]] {
            let ends =
                |ids: &[&str]| -> Vec<usize> { (1..=ids.len()).map(|count| ids[..count].concat().len()).collect() };
            for split in 0..=ids.len() {
                let (now, later) = ids.split_at(split);
                let mut page = Page::after(None);
                page.extend(&now.concat(), 0, &mut ends(now).into_iter());
                let text = format!("before{}", later.concat());
                page.extend(&text, 6, &mut ends(later).into_iter().map(|end| end + 6));
                let found: Vec<_> = (0..page.len()).filter_map(|row| page.id_at(row)).collect();
                assert_eq!(found, ids);
                assert_eq!((page.id_at(ids.len()), page.text()), (None, &*ids.concat()));
            }
        }
    }
}
