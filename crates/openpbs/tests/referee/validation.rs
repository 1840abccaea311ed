//! What the server answers to a formula, on formulas that nobody would write.

use std::collections::BTreeMap;
use std::io::Write;

use job_sort_formula::schema::Origin;
use job_sort_formula::{Formula, PythonVersion, Schema};
use jsf_openpbs::server_validation::{Uncertainty, Validation, validate};
use jsf_testing::{golden, recorded, setting};
use proptest::prelude::*;
use serde::Deserialize;

use crate::python::Script;

#[derive(Deserialize)]
struct Record {
    formula: String,
    code: u32,
}

/// The resources of the recorded server, and short formulas that were set on it.
fn site(schema: &Schema, records: &[Record]) -> tempfile::NamedTempFile {
    let resources = schema
        .iter()
        .filter(|(_, entry)| entry.origin != Origin::Special);
    let all: Vec<_> = resources.map(|(name, _)| name).collect();
    let numeric: Vec<_> = all.iter().filter(|name| schema.is_numeric(name)).collect();
    let formulas: Vec<_> = records
        .iter()
        .map(|record| &record.formula)
        .filter(|formula| formula.len() < 200)
        .collect();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let site = serde_json::json!({ "all": all, "numeric": numeric, "formulas": formulas });
    file.write_all(site.to_string().as_bytes()).unwrap();
    file
}

/// The answers of the script: a formula and its code, or no code if the server itself would end.
fn answers(script: &Script, arguments: &[&str], formulas: &[&str]) -> Vec<(String, Option<u32>)> {
    let lines = formulas
        .iter()
        .map(|formula| {
            serde_json::to_string(formula).expect("a string")
                + "
"
        })
        .collect();
    let answers = script.run(arguments, lines);
    answers
        .iter()
        .map(|line| serde_json::from_str(line).expect("an answer"))
        .collect()
}

/// Whether the formula is nothing but arithmetic, of which everything can be told.
fn is_arithmetic(formula: &str, schema: &Schema) -> bool {
    let is_plain = !formula.contains(['\\', '\'', '"']);
    is_plain && Formula::parse(formula).is_ok_and(|formula| formula.compile(schema).is_ok())
}

#[test]
fn the_referee_says_what_the_server_said() {
    let Some(script) = Script::find("validation.py") else {
        return;
    };
    let records: Vec<Record> = golden::lines("openpbs/validate.jsonl");
    let file = site(&recorded::schema(), &records);
    let formulas: Vec<_> = records.iter().map(|record| &*record.formula).collect();
    let answers = answers(&script, &[file.path().to_str().unwrap()], &formulas);
    assert_eq!(answers.len(), records.len());
    assert!(records.len() >= 394, "only {} formulas", records.len());
    for (record, (formula, code)) in records.iter().zip(answers) {
        assert_eq!(code, Some(record.code), "{formula:.80}");
    }
}

#[test]
fn no_verdict_is_wrong() {
    let wrong: Vec<String> = Script::find_all("validation.py")
        .iter()
        .flat_map(wrong_verdicts)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(60)]
    );
}

/// The verdicts that are not those of a server with this Python.
fn wrong_verdicts(script: &Script) -> Vec<String> {
    let version = script.version;
    let schema = recorded::schema().with_python(version);
    let records: Vec<Record> = golden::lines("openpbs/validate.jsonl");
    let file = site(&schema, &records);
    let seed = setting("JSF_REFEREE_SEED", 1).to_string();
    let cases = script.cases(4000).to_string();
    let answers = answers(script, &[file.path().to_str().unwrap(), &seed, &cases], &[]);
    let (mut wrong, mut untold, mut reasons) = (Vec::new(), 0, BTreeMap::new());
    for (formula, code) in &answers {
        let ours = validate(formula, &schema);
        match ours.accepted {
            None if is_arithmetic(formula, &schema) => {
                wrong.push(format!("{version} {formula:?}: untold, not {code:?}"));
            }
            None => {
                untold += 1;
                *reasons
                    .entry(format!("{:?}", ours.uncertainty))
                    .or_insert(0) += 1;
            }
            Some(_) if ours.code != *code => {
                wrong.push(format!(
                    "{version} {formula:?}: {:?}, not {code:?}",
                    ours.code
                ));
            }
            Some(accepted) => assert_eq!(accepted, ours.code == Some(0)),
        }
    }
    println!(
        "Python {version}: {} formulas, {untold} untold: {reasons:?}, {} wrong",
        answers.len(),
        wrong.len()
    );
    // most of these formulas are about lambdas, comprehensions and strings
    assert!(
        untold * 3 < answers.len() * 2,
        "{untold} of {} untold",
        answers.len()
    );
    wrong.sort_by_key(String::len);
    wrong
}

/// Texts written by habit, by mistake or in other languages: each has an answer, except those
/// outside the language of numbers.
#[test]
fn what_a_site_might_write() {
    let wrong: Vec<String> = Script::find_all("validation.py")
        .iter()
        .flat_map(wrong_odd_verdicts)
        .collect();
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}

/// Which verdicts on odd and on recorded formulas are not those of a server with this Python.
fn wrong_odd_verdicts(script: &Script) -> Vec<String> {
    let version = script.version;
    let schema = recorded::schema().with_python(version);
    let file = site(&schema, &[]);
    let records: Vec<Record> = golden::lines("openpbs/validate.jsonl");
    let odd: Vec<&str> = include_str!("odd.txt").lines().collect();
    let formulas: Vec<&str> = odd
        .iter()
        .copied()
        .chain(records.iter().map(|record| &*record.formula))
        .collect();
    let answers = answers(script, &[file.path().to_str().unwrap()], &formulas);
    assert_eq!(answers.len(), formulas.len());
    let (mut wrong, mut untold) = (Vec::new(), 0);
    for (index, (formula, code)) in answers.iter().enumerate() {
        let Validation {
            code: ours,
            uncertainty,
            ..
        } = validate(formula, &schema);
        let is_too_deep = version < PythonVersion::V3_9 && uncertainty == Some(Uncertainty::Size);
        untold += usize::from(ours.is_none() && index >= odd.len() && !is_too_deep);
        if ours != *code && ours.is_some() {
            wrong.push(format!("{version} {formula:.200}: {ours:?}, not {code:?}"));
        }
    }
    eprintln!(
        "Python {version}: {} formulas, {untold} of {} recorded ones untold",
        answers.len(),
        records.len()
    );
    // those that are not arithmetic, as in `tests/qmgr_validation.rs`
    assert!(untold <= 55, "{untold} formulas are untold");
    wrong
}

/// Depths up to the limits of the parsers; depths that people write have an answer.
#[test]
fn no_verdict_on_a_deep_formula_is_wrong() {
    for script in Script::find_all("validation.py") {
        let version = script.version;
        let schema = recorded::schema().with_python(version);
        let file = site(&schema, &[]);
        let formulas = deep_formulas();
        let texts: Vec<&str> = formulas.iter().map(|(formula, _)| &**formula).collect();
        let answers = answers(&script, &[file.path().to_str().unwrap()], &texts);
        assert_eq!(answers.len(), formulas.len());
        let (mut wrong, mut untold) = (Vec::new(), 0);
        for ((formula, code), (_, times)) in answers.iter().zip(&formulas) {
            let ours = validate(formula, &schema).code;
            untold += usize::from(ours.is_none());
            if ours != *code && (ours.is_some() || *times <= TOLD_DEPTH) {
                wrong.push(format!(
                    "{version} {} {formula:.400?}: {ours:?}, not {code:?}",
                    formula.len()
                ));
            }
        }
        println!(
            "Python {version}: {} formulas, {untold} untold, {} wrong",
            answers.len(),
            wrong.len()
        );
        assert!(
            wrong.is_empty(),
            "{} wrong: {:#?}",
            wrong.len(),
            &wrong[..wrong.len().min(10)]
        );
    }
}

/// Up to this depth every formula has an answer.
const TOLD_DEPTH: usize = 50;

/// Formulas with an unknown name at some depth.
fn deep_formulas() -> Vec<(String, usize)> {
    const AROUND: [(&str, &str); 9] = [
        ("(", ")"),
        ("(1, ", ")"),
        ("[", "]"),
        ("abs(", ")"),
        ("max(1, ", ")"),
        ("max(", ", 1)"),
        ("round(1, ndigits=", ")"),
        ("2 ** (", ")"),
        ("-(1 if ncpus else ", ")"),
    ];
    const INSIDE: [&str; 8] = [
        "nosuch",
        "nosuch + 1",
        "-nosuch",
        "not nosuch",
        "2 ** nosuch",
        "(nosuch,)",
        "abs(nosuch)",
        "1 if 0 else nosuch",
    ];
    let mut formulas = Vec::new();
    for (index, (before, behind)) in AROUND.into_iter().enumerate() {
        let (other_before, other_behind) = AROUND[(index + 4) % AROUND.len()];
        for inside in INSIDE {
            for times in [10, 30, 50, 70, 80, 84, 86, 88, 90, 92, 94, 98, 100] {
                formulas.push((
                    format!("{}{inside}{}", before.repeat(times), behind.repeat(times)),
                    times,
                ));
                let (outer, inner) = (times / 2, times - times / 2);
                let text = format!(
                    "{}{}{inside}{}{}",
                    before.repeat(outer),
                    other_before.repeat(inner),
                    other_behind.repeat(inner),
                    behind.repeat(outer)
                );
                formulas.push((text, times));
            }
        }
    }
    formulas
}

/// Formulas that go down as deep as CPython's compiler does, in every way there is.
#[test]
fn nothing_is_too_deep() {
    let schema = recorded::schema();
    let deep = |before: &str, inside: &str, behind: &str, times: usize| {
        format!("{}{inside}{}", before.repeat(times), behind.repeat(times))
    };
    for times in [30, 190, 2900, 4000, 20_000] {
        for formula in [
            deep("-", "\"a\"", "", times),
            deep("not ", "nosuch", "", times),
            deep("1 if \"a\".x else ", "nosuch", "", times),
            deep("", "\"a\"", ".x", times),
            deep("", "\"a\"", "[0]", times),
            deep("", "print", "()", times),
            deep("\"a\".b or ", "nosuch", "", times),
            deep("\"a\".b < ", "nosuch", "", times),
            deep("", "\"a\".b", " is nosuch", times),
            deep("2**", "\"a\".b", "", times),
            deep("", "[x for x in \"a\".b", " if x", times) + "]",
            deep("", "[x for x in \"a\".b", " for x in x", times) + "]",
        ] {
            validate(&formula, &schema);
        }
    }
    for formula in [
        deep("(lambda:", "nosuch", ")()", 90),
        deep("[x for x in ", "nosuch", "]", 190),
        deep("(lambda x:", "x", ")(1)", 90),
        deep("[", "lambda:nosuch", "]", 190),
        deep("eval(", "\"1\"", ")", 190),
    ] {
        validate(&formula, &schema);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,30}|[-a-f0-9 (){}\\[\\].,:;='\"\\\\#xnurN\n\r\t]{0,40}") {
        validate(&text, &Schema::openpbs());
    }
}
