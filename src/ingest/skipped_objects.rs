//! Objects that nobody needs, passed over: their keys are mostly those of the job before.

use crate::ingest::byte_pattern::Literal;
use crate::ingest::json_scanner::Scanner;

/// The most objects of a job whose keys are remembered.
const MOST_OBJECTS: usize = 16;
/// The most keys of an object that are remembered.
const MOST_KEYS: usize = 256;
/// The longest bytes of a key that are remembered.
const LONGEST: usize = 256;

/// What stood before each value of the idle objects of the last job.
#[derive(Debug, Default)]
pub(super) struct Idle {
    objects: Vec<Vec<Literal>>,
    /// The next object of the job.
    next: usize,
}

impl Idle {
    /// Begins with a job.
    #[inline]
    pub(super) fn start(&mut self) {
        self.next = 0;
    }

    /// Passes over a value, and holds it to the rules of JSON.
    #[inline]
    pub(super) fn pass(&mut self, scan: &mut Scanner<'_>) -> Option<()> {
        if scan.peek() != b'{' || self.next == MOST_OBJECTS {
            return scan.skip_value();
        }
        if self.next == self.objects.len() {
            self.objects.push(Vec::new());
        }
        self.next += 1;
        pass_object(self.objects.get_mut(self.next - 1)?, scan)
    }
}

fn pass_object(expected: &mut Vec<Literal>, scan: &mut Scanner<'_>) -> Option<()> {
    scan.take(b'{')?;
    for number in 0.. {
        match expected.get(number).and_then(|literal| literal.end_at(scan.bytes(), scan.at)) {
            Some(end) => scan.at = end,
            None => {
                let start = scan.at;
                scan.space();
                if scan.take(b'}').is_some() {
                    break;
                }
                if number > 0 {
                    scan.take(b',')?;
                    scan.space();
                }
                scan.skip_key()?;
                expect(expected, number, scan.bytes().get(start..scan.at)?);
            }
        }
        scan.skip_value()?;
    }
    Some(())
}

/// Remembers what stands before a value.
fn expect(expected: &mut Vec<Literal>, number: usize, bytes: &[u8]) {
    let (known, is_short) = (expected.len(), bytes.len() <= LONGEST);
    match expected.get_mut(number) {
        Some(other) if is_short => *other = Literal::new(bytes),
        None if is_short && number == known && number < MOST_KEYS => expected.push(Literal::new(bytes)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::json_scanner::PADDING;

    #[test]
    fn what_is_remembered_changes_nothing() {
        let long = format!(r#"{{"{}":1}}"#, "x".repeat(LONGEST));
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
        let mut idle = Idle::default();
        for turn in 0..3 {
            for (text, is_json) in texts {
                let padded = [text.as_bytes(), &[0; PADDING]].concat();
                let (mut scan, mut judge) = (Scanner::new(&padded, text.len()), Scanner::new(&padded, text.len()));
                idle.start();
                assert_eq!(idle.pass(&mut scan).is_some(), is_json, "{text}, turn {turn}");
                assert_eq!(judge.skip_value().is_some(), is_json, "{text}");
                assert!(!is_json || scan.at == text.len());
            }
        }
    }
}
