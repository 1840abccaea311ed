use crate::json_scanner::*;

/// Random sequences of JSON fragments, valid and invalid.
fn texts() -> impl Iterator<Item = Vec<u8>> {
    const PIECES: [&[u8]; 44] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\"a\"",
        b"\"\"",
        b"\"b\\n\"",
        b"\"\\u00e9\"",
        b"\"\\u00g9\"",
        b"\"\\",
        b"\"",
        b"0",
        b"-0",
        b"01",
        b"1",
        b"12345678",
        b"1234567",
        b"1.5",
        b"1.",
        b".5",
        b"1e5",
        b"1E+",
        b"1e-400",
        b"-",
        b"+1",
        b"true",
        b"false",
        b"null",
        b"nul",
        b" ",
        b"\n",
        b"\t",
        b"\r",
        b"\x0b",
        b"\0",
        b"\x01",
        b"\x7f",
        b"\"\x1f\"",
        "\"é\"".as_bytes(),
        "é".as_bytes(),
        b"        ",
        b"\"a somewhat longer text, with (eight) bytes\"",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        let mut text = Vec::new();
        let mut open = Vec::new();
        // Mostly a fragment that may come next, so that many texts are valid.
        for _ in 0..roll(&mut state, 12) {
            match roll(&mut state, 8) {
                0 => text.extend_from_slice(PIECES[roll(&mut state, PIECES.len())]),
                1 => {
                    text.extend_from_slice(b"{\"k\" : ");
                    open.push(b'}');
                }
                2 => {
                    text.push(b'[');
                    open.push(b']');
                }
                3 => text.extend(open.pop()),
                4 => text.extend_from_slice(if open.last() == Some(&b'}') { b",\"l\":" } else { b" ,\n" }),
                _ => {
                    let scalars = [6, 7, 8, 9, 13, 14, 16, 17, 19, 22, 24, 27, 29, 40];
                    text.extend_from_slice(PIECES[scalars[roll(&mut state, scalars.len())]]);
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
fn is_value(text: &[u8]) -> bool {
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
        let expected = serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok();
        assert_eq!(is_value(&text), expected, "{}", String::from_utf8_lossy(&text));
        valid += usize::from(expected);
    }
    assert!(valid > 10_000, "{valid}");
}

#[test]
fn deep_nesting_is_not_read() {
    for (depth, is_read) in [(64, true), (65, false)] {
        let nested = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(is_value(nested.as_bytes()), is_read);
    }
}

#[test]
fn small_integers_are_read() {
    for number in (0..2000).chain((2000..9_999_999).step_by(977)) {
        let text = format!("{number},          ");
        assert_eq!(Scanner::new(text.as_bytes()).small(), Some(number));
    }
    for text in ["12345678", "01", "1.5", "1e5", "1E5", "-1", "", "x"] {
        let text = format!("{text},          ");
        assert_eq!(Scanner::new(text.as_bytes()).small(), None, "{text}");
    }
}
