//! Skips objects that the formula does not need. Their keys are predicted to be those of the previous job.

use crate::byte_pattern::BytePattern;
use crate::json_scanner::Scanner;

/// The most objects of a job whose keys are remembered.
const MAX_OBJECTS: usize = 16;
/// The most keys of an object that are remembered.
const MAX_KEYS: usize = 256;
/// The greatest length of a remembered key with the bytes before and after it.
const MAX_LENGTH: usize = 256;

/// For each skipped object of the previous job, the bytes before each of its values.
#[derive(Debug, Default)]
pub(super) struct ObjectSkipper {
    objects: Vec<Vec<BytePattern>>,
    /// The next object of the job.
    next: usize,
}

impl ObjectSkipper {
    /// Begins the next job.
    #[inline]
    pub(super) fn start(&mut self) {
        self.next = 0;
    }

    /// Skips a value, which must be valid JSON.
    #[inline]
    pub(super) fn skip(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        if scanner.peek() != b'{' || self.next == MAX_OBJECTS {
            return scanner.skip_value();
        }
        if self.next == self.objects.len() {
            self.objects.push(Vec::new());
        }
        self.next += 1;
        skip_object(self.objects.get_mut(self.next - 1)?, scanner)
    }
}

fn skip_object(expected: &mut Vec<BytePattern>, scanner: &mut Scanner<'_>) -> Option<()> {
    scanner.take(b'{')?;
    for number in 0.. {
        match expected.get(number).and_then(|pattern| pattern.end_at(scanner.bytes(), scanner.at)) {
            Some(end) => scanner.at = end,
            None => {
                let start = scanner.at;
                scanner.space();
                if scanner.take(b'}').is_some() {
                    break;
                }
                if number > 0 {
                    scanner.take(b',')?;
                    scanner.space();
                }
                scanner.skip_key()?;
                remember(expected, number, scanner.bytes().get(start..scanner.at)?);
            }
        }
        scanner.skip_value()?;
    }
    Some(())
}

/// Remembers the bytes before a value.
fn remember(expected: &mut Vec<BytePattern>, number: usize, bytes: &[u8]) {
    if bytes.len() > MAX_LENGTH {
        return;
    }
    if let Some(other) = expected.get_mut(number) {
        *other = BytePattern::new(bytes);
    } else if number == expected.len() && number < MAX_KEYS {
        expected.push(BytePattern::new(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_scanner::PADDING;

    #[test]
    fn the_prediction_does_not_change_the_result() {
        let long = format!(r#"{{"{}":1}}"#, "x".repeat(MAX_LENGTH));
        let texts = [
            (r#"{"A":"b","C":{"A":[1,{}]},"D":null}"#, true),
            (r#"{"A":"b", "C":"\u00e9\"","D":-1.5e3 }"#, true),
            (r#"{ }"#, true),
            (r#"{}"#, true),
            (r#"{"D":1}"#, true),
            (r#"{"A":"b",}"#, false),
            (r#"{,"A":"b"}"#, false),
            (r#"{"A":"b","C"}"#, false),
            (r#"{"A":"b""C":1}"#, false),
            (r#"{"A":"b","C":01}"#, false),
            (r#"{"A":"b","C":"\x"}"#, false),
            (r#"{"A":"b""#, false),
            (&long, true),
        ];
        let mut skipper = ObjectSkipper::default();
        for turn in 0..3 {
            for (text, is_json) in texts {
                let padded = [text.as_bytes(), &[0; PADDING]].concat();
                let (mut scanner, mut reference) =
                    (Scanner::new(&padded, text.len()), Scanner::new(&padded, text.len()));
                skipper.start();
                assert_eq!(skipper.skip(&mut scanner).is_some(), is_json, "{text}, turn {turn}");
                assert_eq!(reference.skip_value().is_some(), is_json, "{text}");
                assert!(!is_json || scanner.at == text.len());
            }
        }
    }
}
