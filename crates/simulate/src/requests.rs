//! What a job asks for, in the words of a log.

use super::left_out::Fault;

/// A number of processors. Nothing and 0 are none, and `kind` is what is wrong with a text that is no whole number.
pub(super) fn positive(text: &str, kind: &'static str) -> Result<Option<i64>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<i64>() {
        Ok(0) => Ok(None),
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(Fault::from(kind).found(text)),
    }
}
