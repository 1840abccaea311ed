//! A run of entries whose values are small integers. If their keys are those of the previous object, the integers are
//! read without a look-up of each key. An integer that is the same in every object becomes part of the text that is
//! expected before the next one.

use crate::json_scanner::PADDING;
use crate::swar::small_integer_in;

/// The most integers in a run.
pub(super) const MAX_FIELDS: usize = 32;
/// How many times a run may end early or be empty before it is predicted again.
const MAX_MISSES: u8 = 64;
/// The same for a run that was never predicted: the first objects show which keys come.
const INITIAL_MISSES: u8 = 2;
/// The number of objects in which an integer must be the same before it becomes part of the expected text.
const CONSTANT_OBJECTS: u8 = 24;

/// The number of bytes that are compared at a time.
const GROUP: usize = 16;
/// The most groups of bytes before an integer.
const GROUPS: usize = 6;
/// The greatest length of the text before an integer.
const MAX_LENGTH: usize = GROUP * GROUPS - 1;
/// The number of bytes that are loaded for a field, with its integer. The padding after the text is at least as long.
const WINDOW: usize = MAX_LENGTH + 9;
const _: () = assert!(WINDOW <= PADDING);

/// An integer of a run, and the text before it.
#[derive(Debug)]
pub(super) struct IntegerField {
    /// The text before the integer, and a mask of its bytes.
    groups: [u128; GROUPS],
    masks: [u128; GROUPS],
    len: usize,
    /// The constant integers in that text, each with its column.
    constants: Vec<(usize, u32)>,
    /// The column that the integer fills; `usize::MAX` if it fills none.
    column: usize,
    /// The index of the key prefix before the integer.
    prefix: u32,
    /// Whether the integer was the same in every observed object.
    constant: Constant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Constant {
    Unknown,
    Is(u32),
    Varies,
}

impl IntegerField {
    /// A field of `text` and an integer; `None` if the text is too long.
    pub(super) fn new(text: &[u8], column: Option<usize>, prefix: u32) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let mut bytes = [0; GROUP * GROUPS];
        bytes[..text.len()].copy_from_slice(text);
        let mut mask = [0; GROUP * GROUPS];
        mask[..text.len()].fill(0xff);
        Some(Self {
            groups: groups(&bytes),
            masks: groups(&mask),
            len: text.len(),
            constants: Vec::new(),
            column: column.unwrap_or(usize::MAX),
            prefix,
            constant: Constant::Unknown,
        })
    }

    /// The text before the integer.
    fn text(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.groups.iter().flat_map(|group| group.to_le_bytes()).collect();
        bytes.truncate(self.len);
        bytes
    }

    /// Joins this field, if its integer is constant, with the next one; `None` if their text is too long.
    fn join(&self, next: &Self) -> Option<Self> {
        let Constant::Is(number) = self.constant else { return None };
        let text = [self.text(), number.to_string().into_bytes(), next.text()].concat();
        let mut joined = Self::new(&text, Some(next.column), next.prefix)?;
        joined.constants = [&self.constants[..], &[(self.column, number)], &next.constants].concat();
        joined.constant = next.constant;
        Some(joined)
    }

    /// Records the integer of an object.
    fn observe(&mut self, number: u32) {
        self.constant = match self.constant {
            Constant::Unknown => Constant::Is(number),
            Constant::Is(same) if same == number => Constant::Is(number),
            _ => Constant::Varies,
        };
    }

    /// Reads the text and the integer at this position; returns the integer and where it ends.
    #[inline(always)]
    fn read(&self, bytes: &[u8], at: usize) -> Option<(u32, usize)> {
        let window: &[u8; WINDOW] = bytes.get(at..)?.first_chunk()?;
        for (index, group) in groups(window).iter().enumerate() {
            if (group ^ self.groups[index]) & self.masks[index] != 0 {
                return None;
            }
            if self.len <= GROUP * (index + 1) {
                break;
            }
        }
        // `min` does not change the index, but removes the bounds check.
        let word = window[self.len.min(MAX_LENGTH)..].first_chunk()?;
        let (number, length) = small_integer_in(u64::from_le_bytes(*word))?;
        Some((number, at + self.len + length))
    }
}

/// The bytes in groups.
#[inline(always)]
fn groups<const N: usize>(bytes: &[u8; N]) -> [u128; GROUPS] {
    let (chunks, _) = bytes.as_chunks();
    std::array::from_fn(|index| u128::from_le_bytes(chunks[index]))
}

/// The fields that are expected one after another.
#[derive(Debug)]
pub(super) struct IntegerRun {
    fields: Vec<IntegerField>,
    misses_left: u8,
    /// How many more objects are observed to find the constant integers.
    objects_to_observe: u8,
}

impl IntegerRun {
    pub(super) fn new() -> Self {
        Self { fields: Vec::new(), misses_left: INITIAL_MISSES, objects_to_observe: 0 }
    }

    /// Replaces the expected fields.
    pub(super) fn predict(&mut self, fields: Vec<IntegerField>) {
        *self = Self { fields, misses_left: MAX_MISSES, objects_to_observe: CONSTANT_OBJECTS };
    }

    /// Reads fields as long as they are as expected, and passes each integer with its column to `put`. Returns the prefix
    /// of the last field, and where the field ends.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        mut put: impl FnMut(usize, u32),
    ) -> Option<(u32, usize)> {
        if self.objects_to_observe > 0 {
            self.observe(bytes, at);
        }
        let mut done = 0;
        for field in &self.fields {
            let Some((number, end)) = field.read(bytes, at) else { break };
            field.constants.iter().for_each(|&(column, number)| put(column, number));
            put(field.column, number);
            at = end;
            done += 1;
        }
        if done == 0 || done < self.fields.len() {
            self.misses_left = self.misses_left.saturating_sub(1);
        }
        let last = self.fields.get(done.checked_sub(1)?)?;
        Some((last.prefix, at))
    }

    /// Records the integers of an object. After the last object to observe, fields with a constant integer are joined
    /// with the next field.
    #[cold]
    fn observe(&mut self, bytes: &[u8], mut at: usize) {
        for field in &mut self.fields {
            let Some((number, end)) = field.read(bytes, at) else { break };
            field.observe(number);
            at = end;
        }
        self.objects_to_observe -= 1;
        if self.objects_to_observe == 0 {
            let mut fields: Vec<IntegerField> = Vec::new();
            for next in self.fields.drain(..) {
                let joined = fields.last().and_then(|last| last.join(&next));
                match (joined, fields.last_mut()) {
                    (Some(joined), Some(last)) => *last = joined,
                    _ => fields.push(next),
                }
            }
            self.fields = fields;
        }
    }

    /// Whether the fields should be predicted again.
    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.misses_left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that expects these texts before its integers, with the prefixes 0, 1, 2, …
    fn predicted(texts: &[&str], column: Option<usize>) -> IntegerRun {
        let mut run = IntegerRun::new();
        let fields = texts.iter().zip(0..);
        run.predict(fields.map(|(text, prefix)| IntegerField::new(text.as_bytes(), column, prefix).unwrap()).collect());
        run
    }

    /// The prefix of the last integer, and the integers.
    fn read(run: &mut IntegerRun, text: &str) -> (Option<u32>, Vec<u32>) {
        let mut numbers = Vec::new();
        let last = run.read(&[text.as_bytes(), &[0; WINDOW]].concat(), 0, |_, number| numbers.push(number));
        (last.map(|(prefix, _)| prefix), numbers)
    }

    #[test]
    fn a_run_ends_at_the_first_difference() {
        let texts = ["{\"a\":", ",\n     \"more_than_sixteen\": ", ",\n               \"more_than_thirty_two\": "];
        let whole = texts.join("3") + "3}";
        assert_eq!(read(&mut predicted(&texts, None), &whole), (Some(2), vec![3, 3, 3]));
        for (index, letter) in whole.char_indices().filter(|(_, letter)| !letter.is_numeric()) {
            let other = format!("{}~{}", &whole[..index], &whole[index + 1..]);
            let (_, numbers) = read(&mut predicted(&texts, None), &other);
            assert!(numbers.len() < 3 || letter == '}', "{other}");
        }
        assert_eq!(read(&mut predicted(&texts, None), &whole.replace("3}", "x}")), (Some(1), vec![3, 3]));
        assert!(IntegerField::new(&[b'x'; MAX_LENGTH + 1], None, 0).is_none());
    }

    #[test]
    fn a_constant_integer_is_expected() {
        let texts = [",\"a\":", ",\"bb\":", ",\"ccc\":", ",\"dddd\":"];
        let mut run = predicted(&texts, Some(9));
        for turn in 1..=2 * u32::from(CONSTANT_OBJECTS) {
            let text = format!(",\"a\":0,\"bb\":{turn},\"ccc\":100000,\"dddd\":7}}");
            assert_eq!(read(&mut run, &text), (Some(3), vec![0, turn, 100_000, 7]));
            assert_eq!(run.fields.len(), if turn < u32::from(CONSTANT_OBJECTS) { 4 } else { 2 });
        }
        for (numbers, prefix, expected) in [
            (["0", "5", "100000", "8"], Some(3), vec![0, 5, 100_000, 8]),
            // Nothing is read from the first difference on.
            (["0", "5", "100001", "7"], Some(1), vec![0, 5]),
            (["0", "5", "1000000", "7"], Some(1), vec![0, 5]),
            (["00", "5", "100000", "7"], None, vec![]),
        ] {
            let text: String = texts.iter().zip(numbers).map(|(text, number)| text.to_string() + number).collect();
            assert_eq!(read(&mut run, &(text + "}")), (prefix, expected));
            assert_eq!(run.fields.len(), 2);
        }
    }
}
