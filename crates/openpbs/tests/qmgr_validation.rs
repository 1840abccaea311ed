//! What the server answers when a formula is set, and what `qmgr` refuses before, compared with recorded answers.

use job_sort_formula::Schema;
use jsf_openpbs::qmgr_validation::{AnsweredBy, Uncertainty, Validation, validate};
use jsf_testing::{golden, recorded};
use serde::Deserialize;

/// A formula and the answer of the server.
#[derive(Deserialize)]
struct Record {
    n: u32,
    category: String,
    formula: String,
    accepted: bool,
    code: u32,
    message: Option<String>,
    /// `None` where the formula was not set through `qmgr`.
    qmgr_verdict: Option<String>,
}

/// Records whose answer depends on more than names and arithmetic, and why.
const UNTOLD: [(u32, &str, Uncertainty); 6] = [
    (359, "type(1)", Uncertainty::NonArithmetic),
    (364, "eval(str(1))", Uncertainty::NonArithmetic),
    (367, "vars()", Uncertainty::NonArithmetic),
    (368, "locals()", Uncertainty::NonArithmetic),
    (458, "f\"{ncpus}\"", Uncertainty::StringSyntax),
    (470, "''", Uncertainty::ScriptChanged),
];

/// Categories in which no answer may be uncertain.
const TOLD: [&str; 9] = ["arith", "compare", "ternary", "bool", "literal", "math", "names", "real", "resource_types"];

fn differences(record: &Record, ours: &Validation) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |is_right: bool, theirs: String| {
        if !is_right {
            wrong.push(format!("#{} {:.80}: {ours:?}, recorded {theirs}", record.n, record.formula));
        }
    };
    if ours.accepted.is_some() {
        let theirs = (Some(record.accepted), Some(record.code), record.message.as_deref().unwrap_or(""));
        check((ours.accepted, ours.code, ours.message) == theirs, format!("{theirs:?}"));
    }
    match (record.qmgr_verdict.as_deref(), ours.by) {
        (None, _) => {}
        (Some("rejected"), None) if ours.accepted.is_none() => {}
        (Some("qmgr_parse_error"), by) => check(by == Some(AnsweredBy::Qmgr), "a refusal by qmgr".into()),
        (Some("rejected"), by) => check(by == Some(AnsweredBy::Server), "a refusal by the server".into()),
        (Some(other), by) => {
            let is_by_server = by == ours.accepted.map(|_| AnsweredBy::Server);
            check(is_by_server && other == "accepted", other.into());
        }
    }
    wrong
}

#[test]
fn answers_are_those_of_the_server() {
    let schema = recorded::schema();
    let records: Vec<Record> = golden::lines("openpbs/validate.jsonl");
    let mut wrong = Vec::new();
    for record in &records {
        let ours = validate(&record.formula, &schema);
        wrong.extend(differences(record, &ours));
        let listed = UNTOLD.iter().find(|(n, ..)| *n == record.n).map(|(.., uncertainty)| *uncertainty);
        if ours.uncertainty != listed || (listed.is_some() && TOLD.contains(&&*record.category)) {
            wrong.push(format!("#{} {:.80}: {:?}, listed {listed:?}", record.n, record.formula, ours.uncertainty));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(records.len(), 394);
}

#[derive(Deserialize)]
struct Formula {
    formula: String,
}

/// The server had accepted every formula that the scheduler evaluated.
#[test]
fn evaluated_formulas_are_accepted() {
    let schema = recorded::schema();
    let mut formulas = 0;
    for file in ["openpbs/evaluate/evaluate.jsonl", "openpbs/bulk/evaluate.jsonl.gz"] {
        for Formula { formula } in golden::lines(file) {
            let accepted = validate(&formula, &schema).accepted;
            let is_listed = UNTOLD.iter().any(|(_, untold, _)| *untold == formula);
            assert!(accepted == Some(true) || (accepted.is_none() && is_listed), "{formula:.80}: {accepted:?}");
            formulas += 1;
        }
    }
    assert_eq!(formulas, 298);
}

/// Resources of a site with a name that Python or the server's script uses.
#[test]
fn resources_with_taken_names_are_answered_as_by_the_server() {
    for clash in recorded::name_clashes() {
        let mut schema = Schema::openpbs();
        recorded::declare(&clash.resource, &mut schema);
        for tried in &clash.formulas {
            let ours = validate(&tried.formula, &schema);
            let theirs = (Some(tried.set.code), tried.set.message.as_deref().unwrap_or(""));
            assert_eq!((ours.code, ours.message), theirs, "{}: {}", clash.resource, tried.formula);
        }
    }
}

/// PolicyRules of CPython that no record shows. `tests/referee/validation.py` gives the same answers.
#[test]
fn rules_without_a_record_are_those_of_cpython() {
    let schema = recorded::schema();
    let cases: [(&str, u32); 58] = [
        // `except … as e` in the script deletes `math.e` before the second execution
        ("e + 1/0", 15125),
        ("1/0 + e", 0),
        ("e - 1", 0),
        // `ans` exists, and in the second execution it has the value of the first
        ("ans == 0 or nosuch", 15125),
        ("ans and nosuch", 0),
        // statements
        ("=ncpus", 0),
        ("=nosuch", 15124),
        ("==1", 15123),
        ("x = 5; x", 0),
        ("1; x", 15124),
        ("1;;2", 15123),
        ("1; return 2", 15123),
        ("*(1, 2),#", 0),
        ("ncpus += 1", 15123),
        // quotes and escapes: in the server's script, single quotes enclose the formula
        (r"1\n2", 0),
        (r"1\n 2", 15123),
        // a form feed sets the indentation back to 0
        ("1\\n\u{c}2", 0),
        ("1\\n \u{c}2", 0),
        ("1\\n\u{c} 2", 15123),
        ("\u{c} 1\\n2", 0),
        ("\u{c} nosuch\\n2", 15124),
        (r"\x6ecpus", 0),
        (r"\x6ecpu", 15124),
        (r"\x4", 15011),
        (r"\ud800", 0),
        ("1 \\* 2", 15123),
        ("1\r+1", 15011),
        // comprehensions and lambdas see neither `math` nor the variables of the script
        ("lambda: nosuch", 0),
        ("x + (x := 1)", 15124),
        // `:=` in a comprehension assigns in the scope around all comprehensions
        ("y; [[y := x for x in z] for z in ((1,),)]", 15124),
        // `:=` cannot assign the target of an enclosing comprehension that the compiler has already seen
        ("[x := 1 for x in ()]", 15123),
        ("[[x := 1 for z in ()] for x in ()]", 15123),
        ("[[x := 1 for z in ()] for y in () if 1 for x in ()]", 15123),
        ("[[z for z in ()] for x in () if (x := 1)]", 15123),
        ("[1 for x in () if (y := 1) for y in ()]", 15123),
        ("[1 for x in () if [(y := 1) for z in ()] for y in ()]", 0),
        ("[(lambda: (x := 1)) for x in ()]", 0),
        ("[(lambda a=(x := 1): a) for x in ()]", 15123),
        // nor can it assign anything in an iterable or in a target
        ("[x for x in (y := ())]", 15123),
        ("[x for z in () for x in (y := ())]", 15123),
        ("[[1 for q in ()] for x in [(y := 1) for z in ()]]", 15123),
        ("[x for x in (lambda: (y := ()))()]", 15123),
        ("[1 for x[(y := 0)] in ()]", 15123),
        ("[1 for x[lambda a=y: a] in () if (y := 1)]", 15123),
        // strings
        ("\"\\\\x4\"", 15123),
        ("\"\"\" b\"^ rb\"a\"", 15123),
        // an unknown name that is evaluated before anything can fail
        ("10 * ncpus + (100 if queue == \"long\" else 0)", 15124),
        ("math.sqrt(ncpus)", 15124),
        ("str(user)", 15124),
        ("str(r_str)", 15125),
        ("(ncpus - 2)**0.5 * 3 + nosuch", 15124),
        ("x = \"a\"; len(x)", 0),
        ("exec_vnode", 15125),
        ("ncpus + exec_host", 15125),
        ("ncpus.real + \"a\".upper()", 0),
        ("[x * y for x in (1, 2) for y in (3,) if x]", 0),
        ("(lambda x, y=ncpus: x + y)(1)", 0),
        // what is too deep for the compiler is not a syntax error
        (&format!("{}nosuch", "-".repeat(5000)), 0),
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
        ("f\"{nosuch}\"", Uncertainty::StringSyntax),
        ("lambda: (yield)", Uncertainty::Await),
        ("1; del mem", Uncertainty::Statement),
        ("1; errnum = 3", Uncertainty::Statement),
        (&"1;".repeat(100), Uncertainty::Size),
        ("eval(\"nosuch\")", Uncertainty::NonArithmetic),
        ("\"\" or nosuch", Uncertainty::NonArithmetic),
        ("[nosuch for x in ()]", Uncertainty::NonArithmetic),
        ("(lambda: sqrt(2))()", Uncertainty::NonArithmetic),
        ("(x := 1) + x", Uncertainty::NonArithmetic),
        ("10**10**10 and nosuch", Uncertainty::Limit),
    ];
    for (formula, uncertainty) in cases {
        let answer = validate(formula, &schema);
        assert_eq!((answer.accepted, answer.uncertainty), (None, Some(uncertainty)), "{formula:.80}");
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
    assert_eq!(by("str(ncpus) and nosuch"), None);
    assert_eq!(by("ncpus +"), Some(AnsweredBy::Server));
    assert_eq!(by("ncpus & 1"), Some(AnsweredBy::Qmgr));
    assert_eq!(by("𝐧𝐜𝐩𝐮𝐬"), Some(AnsweredBy::Qmgr));
    assert_eq!(by("len(\"a\") + len('b')"), Some(AnsweredBy::Qmgr));
}
