//! Warnings of one kind are listed a few times and then counted, so that a wrong file does not fill
//! a terminal.

use std::collections::HashMap;

/// The most messages of one kind that are listed.
const MAX_OF_A_KIND: usize = 10;
/// The most kinds of messages that are told apart; text from outside can look like new ones.
const MAX_KINDS: usize = 100;

/// The first ten messages of each kind, and a last one that says how many more there are.
pub fn limit_each_kind<M: ToString + From<String>>(
    messages: impl IntoIterator<Item = M>,
) -> Vec<M> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut kept = Vec::new();
    let mut more = 0_usize;
    for message in messages {
        let kind = kind(&message.to_string());
        let is_known = counts.contains_key(&kind);
        let is_listed = (is_known || counts.len() < MAX_KINDS) && {
            let count = counts.entry(kind).or_default();
            *count += 1;
            *count <= MAX_OF_A_KIND
        };
        if is_listed {
            kept.push(message)
        } else {
            more += 1
        }
    }
    if more > 0 {
        let kind = if more == 1 {
            "this kind"
        } else {
            "these kinds"
        };
        kept.push(format!("and {more} more of {kind}").into());
    }
    kept
}

/// The kind of a message: its text without what is quoted, and without numbers.
fn kind(message: &str) -> String {
    // what is in back-ticks differs from message to message of one kind
    let mut kind: String = message.split('`').step_by(2).collect();
    kind.retain(|character| !character.is_ascii_digit());
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> impl Iterator<Item = String> {
        (0..count).map(|line| format!("line {line}: `x{line}` is not known"))
    }

    #[test]
    fn ten_of_a_kind_are_listed() {
        let kept = limit_each_kind(lines(2000).chain(["another".to_owned()]));
        assert_eq!(kept.len(), 12);
        assert_eq!(kept[10..], ["another", "and 1990 more of these kinds"]);
        assert_eq!(limit_each_kind(lines(10)).len(), 10);
        assert_eq!(
            limit_each_kind(lines(11)).last().map(String::as_str),
            Some("and 1 more of this kind")
        );
    }

    #[test]
    fn text_from_outside_makes_no_end_of_kinds() {
        let names = (0..5000_usize).map(|number| {
            let letters = "z".repeat(number.to_string().len());
            format!("`a`{letters}{}`b`", "y".repeat(number))
        });
        let kept = limit_each_kind(names);
        assert!(kept.len() <= MAX_KINDS + 1, "{}", kept.len());
    }
}
