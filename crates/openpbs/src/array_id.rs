//! The ids of arrays, such as `12[].vm`, and of their subjobs, such as `12[3].vm`, and the indices of
//! subjobs.

/// Whether an id is that of an array.
pub fn is_array(id: &str) -> bool {
    id.split('.').next().unwrap_or_default().ends_with("[]")
}

/// The id of the array of a subjob, and the index of the subjob; `None` for an id of another job.
///
/// ```
/// use jsf_openpbs::array_id::array_and_index;
///
/// assert_eq!(array_and_index("12[3].vm"), Some(("12[].vm".to_owned(), 3)));
/// assert_eq!(array_and_index("12[].vm"), None);
/// ```
pub fn array_and_index(id: &str) -> Option<(String, u32)> {
    let (number, rest) = id.split_once('[')?;
    let (index, server) = rest.split_once(']')?;
    Some((format!("{number}[]{server}"), index.parse().ok()?))
}

/// The indices of subjobs, such as `0-9:3,12`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArrayIndices {
    /// First, last and step.
    ranges: Vec<(u32, u32, u32)>,
}

impl ArrayIndices {
    /// Reads indices, without what follows `%`; an empty text and `-` are none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split('%').next().unwrap_or_default().trim();
        if matches!(text, "" | "-") {
            return Some(Self::default());
        }
        let mut ranges = Vec::new();
        for range in text.split(',') {
            ranges.push(parse_range(range.trim())?);
        }
        Some(Self { ranges })
    }

    /// So many indices from 0 on.
    pub fn first(count: u32) -> Self {
        let mut ranges = Vec::new();
        if count > 0 {
            ranges.push((0, count - 1, 1));
        }
        Self { ranges }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        let mut count = 0;
        for (first, last, step) in &self.ranges {
            count += u64::from((last - first) / step) + 1;
        }
        count
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The place of an index among them, from 0.
    pub fn position(&self, index: u32) -> Option<usize> {
        let mut before = 0;
        for &(first, last, step) in &self.ranges {
            if (first..=last).contains(&index) && (index - first).is_multiple_of(step) {
                return Some(before + ((index - first) / step) as usize);
            }
            before += ((last - first) / step) as usize + 1;
        }
        None
    }

    /// The indices, in the order of the text, which PBS writes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let ranges = self.ranges.iter();
        ranges.flat_map(|&(first, last, step)| (first..=last).step_by(step as usize))
    }
}

/// Reads `4`, `0-9` or `0-9:3`.
fn parse_range(range: &str) -> Option<(u32, u32, u32)> {
    let (range, step) = range.split_once(':').unwrap_or((range, "1"));
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last, step) = (first.parse().ok()?, last.parse().ok()?, step.parse().ok()?);
    if first > last || step == 0 {
        return None;
    }
    Some((first, last, step))
}
