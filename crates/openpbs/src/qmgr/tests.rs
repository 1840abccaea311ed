use super::*;

const DIRECTIVE: &str = "set server job_sort_formula=";

/// The value that `qmgr` reads from a directive, by the recorded rules.
fn read_back(value: &str) -> Option<String> {
    let mut read = String::new();
    let mut quote = None;
    let mut quoting = false;
    for character in value.trim_start().chars() {
        if !is_accepted(character) {
            return None;
        }
        match character {
            _ if quoting && quote == Some(character) => quoting = false,
            _ if quoting => read.push(character),
            '"' | '\'' if quote.is_none_or(|quote| quote == character) => {
                quote = Some(character);
                quoting = true;
            }
            ',' => return None,
            blank if blank.is_ascii_whitespace() || blank == '\u{b}' => return None,
            _ => read.push(character),
        }
    }
    (!quoting).then_some(read)
}

fn value_of(directive: &str) -> &str {
    directive.strip_prefix(DIRECTIVE).unwrap()
}

#[test]
fn qmgr_reads_back_the_quoted_value() {
    let blanks = "\t1\u{c}+\u{b}1\r ";
    for formula in [
        "ncpus",
        "",
        "a, b # c; d",
        "len(\"abc\")",
        "len('abc')",
        r"1\t+'\'",
        "x!=1 and $y `z`",
        blanks,
    ] {
        let directive = set_directive("server", formula).unwrap();
        assert_eq!(
            read_back(value_of(&directive)).as_deref(),
            Some(formula),
            "{directive}"
        );
    }
}

#[test]
fn values_that_qmgr_rejects() {
    let long = "1".repeat(MAX_ARGUMENT_BYTES);
    for (formula, message, start, end) in [
        ("ncpus & 1", "qmgr does not accept `&`", 6, 7),
        ("ncpus \u{2013} 1", "qmgr does not accept `\u{2013}`", 6, 9),
        ("1\u{7f}", r"qmgr does not accept `\u{7f}`", 1, 2),
        ("1\0", r"qmgr does not accept `\u{0}`", 1, 2),
        ("\"a\"'b'", "qmgr accepts a value with", 3, 4),
        ("1\n+1", "OpenPBS keeps only the first line", 1, 2),
        (&long, "the directive is longer", 0, MAX_ARGUMENT_BYTES),
    ] {
        let refused = set_command_for("server", formula).unwrap_err();
        assert_eq!(refused.span, Span::new(start, end), "{formula:.80?}");
        assert!(refused.to_string().starts_with(message), "{refused}");
    }
    assert_eq!(
        set_command_for("server", "ncpus\n"),
        set_command_for("server", "ncpus")
    );
    for (formula, shown) in [
        ("é", "`é` (U+00E9)"),
        ("1\u{7f}", r"`\u{7f}`"),
        ("1\u{a0}", r"`\u{a0}`"),
        ("1 & 2", "`&`"),
    ] {
        let refused = set_command_for("server", formula).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("qmgr does not accept {shown} in a value, quoted or not")
        );
    }
}

#[test]
fn the_shell_does_not_change_the_directive() {
    assert_eq!(
        set_command_for("server", "a'b").unwrap(),
        r#"qmgr -c 'set server job_sort_formula="a'\''b"'"#
    );
    assert_eq!(
        set_command_for("server", "a\"b").unwrap(),
        r#"qmgr -c 'set server job_sort_formula='\''a"b'\'''"#
    );
}
