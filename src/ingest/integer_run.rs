//! A stretch of small whole numbers, one after the other under the same keys as the last time: read without asking at
//! each what it means. A number that is the same in one object after the other becomes part of the text that is
//! expected before the next.

use crate::ingest::json_scanner::PADDING;
use crate::ingest::swar::small_integer_in;

/// The most numbers in a course.
pub(super) const MOST_STEPS: usize = 32;
/// How often a course may end early, or be empty, before it is laid anew.
const PATIENCE: u8 = 64;
/// The same of a course that was never laid: the first objects are yet to show what comes.
const FIRST_PATIENCE: u8 = 2;
/// In how many objects a number has to be the same until it is expected to be.
const TRIAL: u8 = 24;

/// How many bytes are compared together.
const GROUP: usize = 16;
/// How many of them stand before a number at most.
const GROUPS: usize = 6;
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
    /// The numbers in that text, and the columns that they fill.
    within: Vec<(usize, u32)>,
    /// The column that it fills; one that there is not if it fills none.
    column: usize,
    /// The lead before it.
    lead: u32,
    /// The number, as long as it was the same in every object of the trial.
    constant: Constant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Constant {
    Unknown,
    Is(u32),
    Varies,
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
        let (within, constant) = (Vec::new(), Constant::Unknown);
        Some(Self { groups, masks, len: text.len(), within, column: column.unwrap_or(usize::MAX), lead, constant })
    }

    /// What stands before the number.
    fn text(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.groups.iter().flat_map(|group| group.to_le_bytes()).collect();
        bytes.truncate(self.len);
        bytes
    }

    /// One step over this number, which is always the same, and the next one, unless there is too much before that.
    fn with(&self, next: &Self) -> Option<Self> {
        let Constant::Is(number) = self.constant else { return None };
        let text = [self.text(), number.to_string().into_bytes(), next.text()].concat();
        let mut both = Self::new(&text, Some(next.column), next.lead)?;
        both.within = [&self.within[..], &[(self.column, number)], &next.within].concat();
        both.constant = next.constant;
        Some(both)
    }

    /// Looks whether the number is the same again.
    fn compare(&mut self, number: u32) {
        self.constant = match self.constant {
            Constant::Unknown => Constant::Is(number),
            Constant::Is(same) if same == number => Constant::Is(number),
            _ => Constant::Varies,
        };
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
        // The least changes nothing: it spares a look at whether the number is in the window.
        let word = window[self.len.min(LONGEST)..].first_chunk()?;
        let (number, length) = small_integer_in(u64::from_le_bytes(*word))?;
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
    /// For how many more objects it is seen which numbers are always the same.
    trial: u8,
}

impl Course {
    pub(super) fn new() -> Self {
        Self { steps: Vec::new(), patience: FIRST_PATIENCE, trial: 0 }
    }

    /// Lays the course anew.
    pub(super) fn lay(&mut self, steps: Vec<Step>) {
        *self = Self { steps, patience: PATIENCE, trial: TRIAL };
    }

    /// Reads numbers as long as they come as expected: `put` gets each with its column. Gives the lead before the last
    /// one and where it ends.
    #[inline(always)]
    pub(super) fn run(&mut self, bytes: &[u8], mut at: usize, mut put: impl FnMut(usize, u32)) -> Option<(u32, usize)> {
        if self.trial > 0 {
            self.try_out(bytes, at);
        }
        let mut done = 0;
        for step in &self.steps {
            let Some((number, end)) = step.number(bytes, at) else { break };
            step.within.iter().for_each(|&(column, number)| put(column, number));
            put(step.column, number);
            (at, done) = (end, done + 1);
        }
        if done == 0 || done < self.steps.len() {
            self.patience = self.patience.saturating_sub(1);
        }
        let last = self.steps.get(done.checked_sub(1)?)?;
        Some((last.lead, at))
    }

    /// Sees which numbers are the same as before. At the end of the trial each that always was is expected from then
    /// on.
    #[cold]
    fn try_out(&mut self, bytes: &[u8], mut at: usize) {
        for step in &mut self.steps {
            let Some((number, end)) = step.number(bytes, at) else { break };
            step.compare(number);
            at = end;
        }
        self.trial -= 1;
        if self.trial == 0 {
            let mut steps: Vec<Step> = Vec::new();
            for next in self.steps.drain(..) {
                let both = steps.last().and_then(|last| last.with(&next));
                match (both, steps.last_mut()) {
                    (Some(both), Some(last)) => *last = both,
                    _ => steps.push(next),
                }
            }
            self.steps = steps;
        }
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
        let whole = texts.join("3") + "3}";
        let run = |text: &str| {
            let mut course = Course::new();
            let steps = texts.iter().zip(5..).map(|(text, lead)| Step::new(text.as_bytes(), None, lead).unwrap());
            course.lay(steps.collect());
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

    #[test]
    fn a_number_that_is_always_the_same_is_expected() {
        let texts = [",\"a\":", ",\"bb\":", ",\"ccc\":", ",\"dddd\":"];
        let mut course = Course::new();
        course.lay(
            texts.iter().zip(0..).map(|(text, lead)| Step::new(text.as_bytes(), Some(9), lead).unwrap()).collect(),
        );
        let mut run = |numbers: [&str; 4]| {
            let text: String = texts.iter().zip(numbers).map(|(text, number)| text.to_string() + number).collect();
            let mut found = Vec::new();
            let last = course.run(&[text.as_bytes(), b"}", &[0; WINDOW]].concat(), 0, |_, number| found.push(number));
            (last.map(|(lead, _)| lead), found, course.steps.len())
        };
        for turn in 1..=2 * u32::from(TRIAL) {
            let varying = turn.to_string();
            let expected = vec![0, turn, 100_000, 7];
            let steps = if turn < u32::from(TRIAL) { 4 } else { 2 };
            assert_eq!(run(["0", &varying, "100000", "7"]), (Some(3), expected, steps));
        }
        assert_eq!(run(["0", "5", "100000", "8"]), (Some(3), vec![0, 5, 100_000, 8], 2));
        // from the first number that differs on nothing is read here
        assert_eq!(run(["0", "5", "100001", "7"]), (Some(1), vec![0, 5], 2));
        assert_eq!(run(["0", "5", "1000000", "7"]), (Some(1), vec![0, 5], 2));
        assert_eq!(run(["00", "5", "100000", "7"]), (None, vec![], 2));
    }
}
