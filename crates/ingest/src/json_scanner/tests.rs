use crate::json_scanner::*;

/// Random sequences of JSON fragments, valid and invalid.
fn texts() -> impl Iterator<Item = String> {
    const PIECES: [&str; 44] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"\"",
        "\"b\\n\"",
        "\"\\u00e9\"",
        "\"\\u00g9\"",
        "\"\\",
        "\"",
        "0",
        "-0",
        "01",
        "1",
        "12345678",
        "1234567",
        "1.5",
        "1.",
        ".5",
        "1e5",
        "1E+",
        "1e-400",
        "-",
        "+1",
        "true",
        "false",
        "null",
        "nul",
        " ",
        "\n",
        "\t",
        "\r",
        "\x0b",
        "\0",
        "\x01",
        "\x7f",
        "\"\x1f\"",
        "\"é\"",
        "é",
        "        ",
        "\"a somewhat longer text, with (eight) bytes\"",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        let mut text = String::new();
        let mut open = Vec::new();
        // Mostly a fragment that may come next, so that many texts are valid.
        for _ in 0..roll(&mut state, 12) {
            match roll(&mut state, 8) {
                0 => text.push_str(PIECES[roll(&mut state, PIECES.len())]),
                1 => {
                    text.push_str("{\"k\" : ");
                    open.push('}');
                }
                2 => {
                    text.push('[');
                    open.push(']');
                }
                3 => text.extend(open.pop()),
                4 => text.push_str(if open.last() == Some(&'}') {
                    ",\"l\":"
                } else {
                    " ,\n"
                }),
                _ => {
                    let scalars = [6, 7, 8, 9, 13, 14, 16, 17, 19, 22, 24, 27, 29, 40];
                    text.push_str(PIECES[scalars[roll(&mut state, scalars.len())]]);
                }
            }
        }
        text.extend(open.iter().rev());
        text
    })
}

/// A random number below `sides`.
fn roll(state: &mut u64, sides: usize) -> usize {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % sides
}

/// Whether the scanner skips the whole text as one value.
fn is_value(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.space();
    let skipped = scanner.skip_value();
    scanner.space();
    skipped.is_some() && scanner.at == text.len()
}

#[test]
fn what_is_skipped_is_valid_json() {
    let mut valid = 0;
    for text in texts().take(200_000) {
        let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        assert_eq!(is_value(&text), expected, "{text}");
        valid += usize::from(expected);
    }
    assert!(valid > 10_000, "{valid}");
}

#[test]
fn nesting_may_be_deep() {
    let depth = 10_000;
    assert!(is_value(&("[".repeat(depth) + &"]".repeat(depth))));
    assert!(!is_value(&("[".repeat(depth) + &"]".repeat(depth - 1))));
}

/// The lengths of the keys of an object of numbers.
fn read(keys: &mut ObjectKeys<usize>, text: &str) -> Option<Vec<usize>> {
    let mut scanner = Scanner::new(text);
    scanner.take(b'{')?;
    let mut found = Vec::new();
    keys.begin();
    while let Next::Value(length, _) = keys.next(&mut scanner, str::len)? {
        scanner.skip_value()?;
        found.push(length);
    }
    Some(found)
}

#[test]
fn keys_are_separated_by_commas() {
    let mut keys = ObjectKeys::new();
    for (text, expected) in [
        (r#"{"a":1,"bb":2}"#, Some(vec![1, 2])),
        (r#"{"bb":2,"a":1}"#, Some(vec![2, 1])),
        (r#"{"a":1,"bb" : 2, "a":3 }"#, Some(vec![1, 2, 1])),
        (r#"{"\u0061":1,"bb":2}"#, Some(vec![1, 2])),
        ("{}", Some(vec![])),
        (r#"{"a":1,}"#, None),
        (r#"{,"a":1}"#, None),
        (r#"{"a":1"bb":2}"#, None),
        (r#"{"\ud800":1}"#, None),
    ] {
        assert_eq!(read(&mut keys, text), expected, "{text}");
    }
}

#[test]
fn more_keys_than_are_remembered_are_read() {
    let mut keys = ObjectKeys::new();
    let entries: Vec<_> = (0..MAX_KEYS + 10)
        .map(|number| format!("\"{number:05}\":1"))
        .collect();
    let text = format!("{{{}}}", entries.join(","));
    assert_eq!(read(&mut keys, &text), Some(vec![5; MAX_KEYS + 10]));
}
