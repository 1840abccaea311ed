//! What the server answers when a formula is set, and what `qmgr` refuses before, compared with
//! recorded answers.

use job_sort_formula::Schema;
use jsf_openpbs::server_validation::{AnsweredBy, Uncertainty, Validation, validate};
use jsf_testing::{golden, recorded};
use serde::Deserialize;

use crate::scheduler_results;

/// A formula and the answer of the server.
#[derive(Deserialize)]
struct Record {
    n: u32,
    formula: String,
    accepted: bool,
    code: u32,
    message: Option<String>,
    /// `None` where the formula was not set through `qmgr`.
    qmgr_verdict: Option<String>,
}

fn differences(record: &Record, ours: &Validation) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |is_right: bool, theirs: String| {
        if !is_right {
            wrong.push(format!(
                "#{} {:.80}: {ours:?}, recorded {theirs}",
                record.n, record.formula
            ));
        }
    };
    if ours.accepted.is_some() {
        let theirs = (
            Some(record.accepted),
            Some(record.code),
            record.message.as_deref().unwrap_or(""),
        );
        check(
            (ours.accepted, ours.code, ours.message) == theirs,
            format!("{theirs:?}"),
        );
    }
    match (record.qmgr_verdict.as_deref(), ours.by) {
        (None, _) => {}
        (Some("rejected"), None) if ours.accepted.is_none() => {}
        (Some("qmgr_parse_error"), by) => {
            check(by == Some(AnsweredBy::Qmgr), "a refusal by qmgr".into())
        }
        (Some("rejected"), by) => check(
            by == Some(AnsweredBy::Server),
            "a refusal by the server".into(),
        ),
        (Some(other), by) => {
            let is_by_server = by == ours.accepted.map(|_| AnsweredBy::Server);
            check(is_by_server && other == "accepted", other.into());
        }
    }
    wrong
}

/// Our answer is the recorded one. For a formula outside the language of numbers it may be
/// `cannot tell`.
#[test]
fn answers_are_those_of_the_server() {
    let schema = recorded::schema();
    let records: Vec<Record> = golden::lines("openpbs/validate.jsonl");
    let (mut wrong, mut equal, mut untold) = (Vec::new(), 0, Vec::new());
    for record in &records {
        let ours = validate(&record.formula, &schema);
        let differences = differences(record, &ours);
        if !differences.is_empty() {
            wrong.extend(differences);
        } else if ours.accepted.is_some() {
            equal += 1;
        } else if ours.uncertainty.is_some() {
            untold.push(&record.formula);
        } else {
            wrong.push(format!(
                "#{} {:.80}: {:?}",
                record.n, record.formula, ours.uncertainty
            ));
        }
    }
    println!(
        "{equal} of {} recorded answers are equal, {} cannot be told, {} are wrong",
        records.len(),
        untold.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        (equal, untold.len(), records.len()),
        (339, 55, 394),
        "{untold:#?}"
    );
}

#[derive(Deserialize)]
struct Formula {
    formula: String,
}

/// The server had accepted every formula that the scheduler evaluated.
#[test]
fn evaluated_formulas_are_accepted() {
    let schema = recorded::schema();
    let (mut accepted, mut untold) = (0, 0);
    for file in [
        "openpbs/evaluate/evaluate.jsonl.gz",
        "openpbs/bulk/evaluate.jsonl.gz",
    ] {
        for Formula { formula } in golden::lines(file) {
            match validate(&formula, &schema).accepted {
                Some(true) => accepted += 1,
                None => untold += 1,
                Some(false) => panic!("{formula:.80} is refused"),
            }
        }
    }
    assert_eq!((accepted, untold), (250, 48));
}

/// Resources of a site with a name that Python or the server's script uses.
#[test]
fn resources_with_taken_names_are_answered_as_by_the_server() {
    let mut untold = 0;
    for clash in scheduler_results::name_clashes() {
        let mut schema = Schema::openpbs();
        scheduler_results::declare(&clash.resource, &mut schema);
        for tried in &clash.formulas {
            let ours = validate(&tried.formula, &schema);
            let theirs = (
                Some(tried.set.code),
                tried.set.message.as_deref().unwrap_or(""),
            );
            if ours.accepted.is_none() {
                untold += 1;
            } else {
                let ours = (ours.code, ours.message);
                assert_eq!(ours, theirs, "{}: {}", clash.resource, tried.formula);
            }
        }
    }
    assert_eq!(untold, 2);
}

/// PolicyRules of CPython that no record shows. `tests/referee/validation.py` gives the same
/// answers.
#[test]
fn rules_without_a_record_are_those_of_cpython() {
    let schema = recorded::schema();
    let cases: [(&str, u32); 27] = [
        // `except … as e` in the script deletes `math.e` before the second execution
        ("e + 1/0", 15125),
        ("1/0 + e", 0),
        ("e - 1", 0),
        // `ans` exists, and in the second execution it has the value of the first
        ("ans == 0 or nosuch", 15125),
        ("ans and nosuch", 0),
        // an indentation cannot follow `ans=`
        ("\u{c} 1", 0),
        ("\u{c} nosuch", 15124),
        // quotes and escapes: in the server's script, single quotes enclose the formula
        (r"\x6ecpus", 0),
        (r"\x6ecpu", 15124),
        (r"\x4", 15011),
        (r"\ud800", 0),
        ("1 \\* 2", 15123),
        ("1\r+1", 15011),
        ("100 if queue == 'long' else 0", 15011),
        // an unknown name that is evaluated before anything can fail
        ("10 * ncpus + (100 if queue else 0)", 15124),
        ("user", 15124),
        ("(ncpus - 2)**0.5 * 3 + nosuch", 15124),
        ("sqrt(ncpus - 2) + nosuch", 0),
        ("exec_vnode", 15125),
        ("ncpus + exec_host", 15125),
        ("sum([ncpus, nosuch])", 15124),
        ("max((1, 2), key=abs) < 1 < nosuch", 0),
        ("(max)(1, 2, key=nosuch)", 15124),
        ("ncpus(nosuch)", 15124),
        ("x + (1/0)", 15124),
        ("async", 15123),
        // what is too deep for the compiler is no syntax error
        (&format!("{}ncpus", "-".repeat(5000)), 0),
    ];
    for (formula, code) in cases {
        assert_eq!(validate(formula, &schema).code, Some(code), "{formula:.80}");
    }
}

/// What would need more than names and arithmetic.
#[test]
fn uncertain_answers_have_a_reason() {
    let schema = recorded::schema();
    let cases = [
        ("ncpus''", Uncertainty::ScriptChanged),
        (r"\N{DIGIT ONE}", Uncertainty::Escape),
        (r"1\n2", Uncertainty::Escape),
        ("f\"{nosuch}\"", Uncertainty::NonArithmetic),
        ("lambda: (yield)", Uncertainty::NonArithmetic),
        ("1; del mem", Uncertainty::Statement),
        ("1 ;; 2", Uncertainty::Statement),
        ("x = 5", Uncertainty::Statement),
        ("=ncpus", Uncertainty::Statement),
        ("ncpus += 1", Uncertainty::Statement),
        (&format!("{}nosuch", "-".repeat(5000)), Uncertainty::Size),
        ("eval(\"nosuch\")", Uncertainty::NonArithmetic),
        ("\"\" or nosuch", Uncertainty::NonArithmetic),
        ("[nosuch for x in ()]", Uncertainty::NonArithmetic),
        ("[x for x in", Uncertainty::NonArithmetic),
        ("(lambda x, x: 1)", Uncertainty::NonArithmetic),
        ("(x := 1) + x", Uncertainty::NonArithmetic),
        ("{1, nosuch}", Uncertainty::NonArithmetic),
        ("[1, 2][nosuch]", Uncertainty::NonArithmetic),
        ("(1).real", Uncertainty::NonArithmetic),
        ("ncpus is nosuch", Uncertainty::NonArithmetic),
        ("3j", Uncertainty::NonArithmetic),
        ("str(nosuch)", Uncertainty::NonArithmetic),
        ("(-1)**0.5 and nosuch", Uncertainty::Limit),
        ("(int | float) and nosuch", Uncertainty::Limit),
        ("10**10**10 and nosuch", Uncertainty::Limit),
    ];
    for (formula, uncertainty) in cases {
        let answer = validate(formula, &schema);
        assert_eq!(
            (answer.accepted, answer.uncertainty),
            (None, Some(uncertainty)),
            "{formula:.80}"
        );
    }
}

#[test]
fn only_the_first_line_is_validated() {
    let answer = |text: &str| validate(text, &Schema::openpbs());
    assert_eq!(answer("ncpus\nnosuch"), answer("ncpus"));
    assert_eq!(answer("ncpus\0&"), answer("ncpus"));
    assert_eq!(answer("nosuch\n"), answer("nosuch"));
    assert_eq!(answer("\n1").code, Some(15011));
    assert_eq!(answer("").code, Some(0));
    assert_eq!(answer(" ").code, Some(15123));
}

#[test]
fn answers_name_qmgr_or_the_server() {
    let by = |text: &str| validate(text, &Schema::openpbs()).by;
    assert_eq!(by("ncpus"), Some(AnsweredBy::Server));
    assert_eq!(by("str(ncpus)"), None);
    assert_eq!(by("ncpus +"), Some(AnsweredBy::Server));
    assert_eq!(by("ncpus & 1"), Some(AnsweredBy::Qmgr));
    assert_eq!(by("𝐧𝐜𝐩𝐮𝐬"), Some(AnsweredBy::Qmgr));
    assert_eq!(by("len(\"a\") + len('b')"), Some(AnsweredBy::Qmgr));
}
