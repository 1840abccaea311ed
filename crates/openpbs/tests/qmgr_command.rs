//! The command that sets a formula: the shell passes the directive to `qmgr`, and `qmgr` reads the
//! formula from it.

use std::process::Command;

use jsf_openpbs::qmgr_command::{set_command_for, set_directive};
use jsf_testing::golden;
use proptest::prelude::*;
use serde::Deserialize;

/// A value and the rest of the directive, by the rules that the recorded directives show: of `"`
/// and `'` the one that comes first quotes, and the other is then an ordinary character; an
/// unquoted blank or comma ends the value.
fn value(text: &str) -> Result<(String, &str), &'static str> {
    let (mut read, mut quote, mut quoting) = (String::new(), None, false);
    for (at, character) in text.char_indices() {
        let is_blank = matches!(character, ' ' | '\t'..='\r');
        if !(is_blank || character.is_ascii_graphic()) || character == '&' {
            return Err("no such character");
        }
        if quoting && quote == Some(character) {
            quoting = false;
        } else if quoting {
            read.push(character);
        } else if matches!(character, '"' | '\'') && quote.is_none_or(|quote| quote == character) {
            (quote, quoting) = (Some(character), true);
        } else if is_blank || character == ',' {
            return Ok((read, &text[at..]));
        } else {
            read.push(character);
        }
    }
    if quoting {
        Err("no closing quote")
    } else {
        Ok((read, ""))
    }
}

/// The formula that `qmgr` reads from a directive; `None` where it reports a syntax error.
fn qmgr_reads(directive: &str) -> Option<String> {
    let text = directive
        .strip_prefix("set server job_sort_formula")?
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let (formula, rest) = if text.is_empty() {
        return None;
    } else {
        value(text).ok()?
    };
    // after a comma follows another attribute with its operator
    let rest = rest.trim_start();
    let is_whole = rest.is_empty()
        || rest
            .strip_prefix(',')
            .is_some_and(|rest| rest.contains('='));
    is_whole.then_some(formula)
}

#[derive(Deserialize)]
struct Directive {
    phase: String,
    #[serde(default)]
    cmd: String,
    rc: Option<i32>,
    /// The content of the scheduler's file, which may have been read before the directive took
    /// effect.
    sched_formula_file: Option<String>,
}

/// `qmgr`'s exit code for a directive that it does not understand.
const SYNTAX_ERROR: i32 = 4;

#[test]
fn directives_are_read_as_recorded() {
    let records: Vec<Directive> = golden::lines("openpbs/evaluate/extra.jsonl");
    let records: Vec<_> = records
        .iter()
        .filter(|record| record.phase == "D_qmgr_syntax")
        .collect();
    let mut set = 0;
    for (index, record) in records.iter().enumerate() {
        if !record.cmd.starts_with("set server")
            || record.cmd.contains("+=")
            || record.cmd.contains("-=")
        {
            continue;
        }
        let read = qmgr_reads(&record.cmd);
        assert_eq!(
            read.is_none(),
            record.rc == Some(SYNTAX_ERROR),
            "{}",
            record.cmd
        );
        if let (Some(read), Some(0)) = (read, record.rc) {
            let file = |record: &&&Directive| record.sched_formula_file.clone().unwrap_or_default();
            let next = records
                .get(index..)
                .into_iter()
                .flatten()
                .take(2)
                .map(|record| file(&record));
            let line = format!("### PBS INTERNAL FILE DO NOT MODIFY ###\n{read}\n");
            set += usize::from(next.into_iter().any(|file| file == line));
        }
    }
    assert_eq!((records.len(), set), (24, 5));
}

#[derive(Deserialize)]
struct Recorded {
    formula: String,
    qmgr: Option<Tried>,
}

#[derive(Deserialize)]
struct Tried {
    quoting: Option<String>,
    rc: i32,
}

#[test]
fn recorded_formulas_get_the_recorded_quotes() {
    let records: Vec<Recorded> = golden::lines("openpbs/validate.jsonl");
    let mut tried = 0;
    for (formula, record) in records
        .iter()
        .filter_map(|record| Some((&record.formula, record.qmgr.as_ref()?)))
    {
        let Some(quote) = &record.quoting else {
            continue;
        };
        let directive = format!("set server job_sort_formula={quote}{formula}{quote}");
        assert_eq!(
            qmgr_reads(&directive).is_none(),
            record.rc == SYNTAX_ERROR,
            "{formula:.80}"
        );
        match set_directive("server", formula) {
            Ok(ours) => assert_eq!(ours, directive.replace('\n', "")),
            Err(_) => assert!(
                record.rc == SYNTAX_ERROR || formula.contains('\n'),
                "{formula:.80}"
            ),
        }
        tried += 1;
    }
    assert_eq!(tried, 391);
}

/// The argument that `qmgr -c` gets from the shell.
fn through_the_shell(command: &str) -> String {
    let script = format!("qmgr() {{ [ \"$1\" = -c ] && printf '%s.' \"$2\"; }}\n{command}");
    let output = Command::new("sh")
        .args(["-c", &script])
        .output()
        .expect("a shell");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{command}"
    );
    let text = String::from_utf8(output.stdout).expect("text");
    text.strip_suffix('.').expect("one argument").to_owned()
}

fn check(formula: &str) {
    let Ok(command) = set_command_for("server", formula) else {
        return;
    };
    let directive = through_the_shell(&command);
    assert_eq!(directive, set_directive("server", formula).unwrap());
    assert_eq!(
        qmgr_reads(&directive).as_deref(),
        Some(formula),
        "{command}"
    );
}

#[test]
fn the_shell_passes_the_directive_unchanged() {
    let formulas = [
        "ncpus * 2",
        "",
        " ",
        "a 'b' c",
        "'",
        "\"",
        "$HOME `id` $(id) \\ \\\\ !! #",
        "*",
        "~",
        "a;b|c<d>e(f)",
        "%s\\n",
        "\tx\r\u{b}\u{c}",
        "-c",
        "\\'",
        "\\\"",
        "''",
        "'''",
        "\"\"",
    ];
    formulas.into_iter().for_each(check);
    let records: Vec<Recorded> = golden::lines("openpbs/validate.jsonl");
    records
        .iter()
        .map(|record| &*record.formula)
        .filter(|formula| !formula.contains('\n'))
        .for_each(check);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_texts_pass_unchanged(formula in "[ -~\t]{0,30}|['\"\\\\$`! &]{0,8}") {
        check(&formula);
    }
}
