//! A stretch of small whole numbers, one after the other under the same keys as the last time: read without asking at
//! each what it means.

use super::scan::PADDING;
use super::words::small_in;

/// The most numbers in a course.
pub(super) const MOST_STEPS: usize = 32;
/// How often a course may end early, or be empty, before it is laid anew.
const PATIENCE: u8 = 64;
/// The same of a course that was never laid: the first objects are yet to show what comes.
const FIRST_PATIENCE: u8 = 2;

/// How many bytes are compared together.
const GROUP: usize = 16;
/// How many of them stand before a number at most.
const GROUPS: usize = 4;
/// The longest bytes before a number.
const LONGEST: usize = GROUP * GROUPS - 1;
/// How many bytes are looked at for a step, with the number: behind every place of a text there is so much padding.
const WINDOW: usize = LONGEST + 9;
const _: () = assert!(WINDOW <= PADDING);

/// A number of a course, and what stands before it.
#[derive(Debug)]
pub(super) struct Step {
    /// What stands before it, and which of the bytes count.
    groups: [u128; GROUPS],
    masks: [u128; GROUPS],
    len: usize,
    /// The column that it fills; one that there is not if it fills none.
    column: usize,
    /// The lead before it.
    lead: u32,
}

impl Step {
    /// A step over `text` and a number, unless the text is too long.
    pub(super) fn new(text: &[u8], column: Option<usize>, lead: u32) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let (mut bytes, mut mask) = ([0; GROUP * GROUPS], [0; GROUP * GROUPS]);
        bytes[..text.len()].copy_from_slice(text);
        mask[..text.len()].fill(0xff);
        let (groups, masks) = (groups(&bytes), groups(&mask));
        Some(Self { groups, masks, len: text.len(), column: column.unwrap_or(usize::MAX), lead })
    }

    /// The number that stands there with all before it, and where it ends.
    #[inline(always)]
    fn number(&self, bytes: &[u8], at: usize) -> Option<(u32, usize)> {
        let window: &[u8; WINDOW] = bytes.get(at..)?.first_chunk()?;
        for (index, group) in groups(window).iter().enumerate() {
            if (group ^ self.groups[index]) & self.masks[index] != 0 {
                return None;
            }
            if self.len <= GROUP * (index + 1) {
                break;
            }
        }
        // What is masked off is 0: it spares a look at whether the number is in the window.
        let word = window[self.len & LONGEST..].first_chunk()?;
        let (number, length) = small_in(u64::from_le_bytes(*word))?;
        Some((number, at + self.len + length))
    }
}

/// The first groups of these bytes.
#[inline(always)]
fn groups<const N: usize>(bytes: &[u8; N]) -> [u128; GROUPS] {
    let (chunks, _) = bytes.as_chunks();
    std::array::from_fn(|index| u128::from_le_bytes(chunks[index]))
}

/// Numbers that are expected one after the other.
#[derive(Debug)]
pub(super) struct Course {
    steps: Vec<Step>,
    patience: u8,
}

impl Course {
    pub(super) fn new() -> Self {
        Self { steps: Vec::new(), patience: FIRST_PATIENCE }
    }

    /// Lays the course anew.
    pub(super) fn lay(&mut self, steps: Vec<Step>) {
        *self = Self { steps, patience: PATIENCE };
    }

    /// Reads numbers as long as they come as expected: `put` gets each with its column. Gives the lead before the last
    /// one and where it ends.
    #[inline(always)]
    pub(super) fn run(&mut self, bytes: &[u8], mut at: usize, mut put: impl FnMut(usize, u32)) -> Option<(u32, usize)> {
        let mut done = 0;
        for step in &self.steps {
            let Some((number, end)) = step.number(bytes, at) else { break };
            put(step.column, number);
            (at, done) = (end, done + 1);
        }
        if done == 0 || done < self.steps.len() {
            self.patience = self.patience.saturating_sub(1);
        }
        let last = self.steps.get(done.checked_sub(1)?)?;
        Some((last.lead, at))
    }

    /// Whether the course is to be laid anew.
    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.patience == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_ends_where_it_is_left() {
        let texts = ["{\"a\":", ",\n     \"more_than_sixteen\": ", ",\n               \"more_than_thirty_two\": "];
        let mut course = Course::new();
        course.lay(texts.iter().zip(5..).map(|(text, lead)| Step::new(text.as_bytes(), None, lead).unwrap()).collect());
        let whole = texts.join("3") + "3}";
        let mut run = |text: &str| {
            let mut numbers = Vec::new();
            let last = course.run(&[text.as_bytes(), &[0; WINDOW]].concat(), 0, |_, number| numbers.push(number));
            (last.map(|(lead, _)| lead), numbers.len())
        };
        assert_eq!(run(&whole), (Some(7), 3));
        for (index, letter) in whole.char_indices().filter(|(_, letter)| !letter.is_numeric()) {
            let other = format!("{}~{}", &whole[..index], &whole[index + 1..]);
            assert!(run(&other).1 < 3 || letter == '}', "{other}");
        }
        assert_eq!(run(&whole.replace("3}", "x}")), (Some(6), 2));
        assert!(Step::new(&[b'x'; LONGEST + 1], None, 0).is_none());
    }
}
