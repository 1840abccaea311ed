//! What a real server answered when a formula was set, and what `qmgr` did on the way.

use crate::support;

use std::collections::BTreeMap;

use job_sort_formula::Schema;
use job_sort_formula::pbs::verdict::{RefusedBy, Verdict, verdict};
use job_sort_formula::schema::Kind;
use serde::Deserialize;

/// A formula, and what the server said to it.
#[derive(Deserialize)]
struct Record {
    n: u32,
    category: String,
    formula: String,
    accepted: bool,
    code: u32,
    message: Option<String>,
    /// Nothing where `qmgr` was not asked.
    qmgr_verdict: Option<String>,
}

/// Records of which nothing can be told, and why. So far everything can be told of all of them.
const UNTOLD: &[(u32, &str)] = &[];

/// Categories of which everything must be told.
const TOLD: [&str; 9] = ["arith", "compare", "ternary", "bool", "literal", "math", "names", "real", "resource_types"];

fn differences(record: &Record, ours: &Verdict) -> Vec<String> {
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
        (Some("qmgr_parse_error"), by) => check(by == Some(RefusedBy::Qmgr), "a refusal by qmgr".into()),
        (Some("rejected"), by) => check(by == Some(RefusedBy::Server), "a refusal by the server".into()),
        (Some(other), by) => check(by.is_none() && other == "accepted", other.into()),
    }
    wrong
}

#[test]
fn every_recorded_verdict() {
    let schema = support::schema();
    let records: Vec<Record> = support::lines("validate.jsonl");
    let reasons: BTreeMap<u32, &str> = UNTOLD.iter().copied().collect();
    let mut wrong = Vec::new();
    for record in &records {
        let ours = verdict(&record.formula, &schema);
        wrong.extend(differences(record, &ours));
        let is_listed = reasons.contains_key(&record.n);
        if ours.accepted.is_none() != is_listed || (is_listed && TOLD.contains(&&*record.category)) {
            wrong.push(format!("#{} {:.80}: untold {}, listed {is_listed}", record.n, record.formula, !is_listed));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(reasons.len() * 100 < records.len() * 8, "{} of {} untold", reasons.len(), records.len());
    assert_eq!(records.len(), 394);
}

#[derive(Deserialize)]
struct Formula {
    formula: String,
}

/// Every formula of these runs was set on that server first.
#[test]
fn what_the_scheduler_evaluated_was_accepted() {
    let schema = support::schema();
    let mut formulas = 0;
    for file in ["evaluate/evaluate.jsonl", "bulk/evaluate.jsonl.gz"] {
        for Formula { formula } in support::lines(file) {
            assert_eq!(verdict(&formula, &schema).accepted, Some(true), "{formula:.80}");
            formulas += 1;
        }
    }
    assert_eq!(formulas, 298);
}

#[derive(Deserialize)]
struct Clash {
    resource: String,
    #[serde(default)]
    formulas: Vec<Tried>,
}

#[derive(Deserialize)]
struct Tried {
    formula: String,
    set: Set,
}

#[derive(Deserialize)]
struct Set {
    rc: u32,
    msg: Option<String>,
}

/// A site's own resource whose name Python has already, or the server's script.
#[test]
fn resources_whose_names_are_taken() {
    let clashes: Vec<Clash> = support::lines("evaluate/name_clash.jsonl");
    let mut tried = 0;
    for clash in &clashes {
        let mut schema = Schema::openpbs();
        schema.add(&clash.resource, Kind::Count);
        for Tried { formula, set } in &clash.formulas {
            let ours = verdict(formula, &schema);
            let theirs = (Some(set.rc), set.msg.as_deref().unwrap_or(""));
            assert_eq!((ours.code, ours.message), theirs, "{}: {formula}", clash.resource);
            tried += 1;
        }
    }
    assert_eq!((clashes.len(), tried), (25, 46));
}

/// What no record shows, but CPython does; `tests/referee/validation.py` says the same of each.
#[test]
fn rules_without_a_record() {
    let schema = support::schema();
    let cases: [(&str, u32); 75] = [
        // the script's own `except … as e` takes `math.e` away before the second execution
        ("e + 1/0", 15125),
        ("1/0 + e", 0),
        ("e - 1", 0),
        // `ans` is there, and in the second execution it is what the first one left
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
        ("1; errnum = 3", 15125),
        ("ncpus += 1", 15123),
        ("1; del mem", 15124),
        // quotes and escapes, of which the server's script sees single quotes
        ("ncpus''", 0),
        ("ncpus' 'and nosuch", 15123),
        (r"1\n2", 0),
        (r"1\n 2", 15123),
        (r"\x6ecpus", 0),
        (r"\x6ecpu", 15124),
        (r"\x4", 15011),
        (r"\ud800", 0),
        ("1 \\* 2", 15123),
        ("1\r+1", 15011),
        // a comprehension and a lambda see neither `math` nor the script's variables
        ("sum(sqrt(x) for x in (1, 2))", 15124),
        ("[ans for x in (1,)]", 15124),
        ("[r_str for x in (1,)]", 15125),
        ("[nosuch for x in ()]", 0),
        ("(lambda x: x + y)(1)", 15124),
        ("lambda: nosuch", 0),
        ("(x := 1) + x", 0),
        ("x + (x := 1)", 15124),
        ("[x for x in (1, 2)][x]", 15124),
        // `:=` in a comprehension assigns outside of all comprehensions, if it is reached
        ("[[y := x for x in z] for z in ((1,),)] and y", 0),
        ("[[y := x for x in z] for z in ((),)] and y", 15124),
        ("[[y := x for x in z] for z in ()] or y", 15124),
        ("[[y := x for x in z] for z in ((),)] or y", 0),
        ("[[y := x for x in z] and y for z in ((1,), ())]", 0),
        ("[y for z in ((1,),) if [y := x for x in z]]", 0),
        ("[y for z in ((),) if [y := x for x in z]] and y", 0),
        ("[y for z in ((),) if not [y := x for x in z]]", 15124),
        ("y; [[y := x for x in z] for z in ((1,),)]", 15124),
        ("[[e := x for x in z] for z in ((),)] and e", 15124),
        ("[(lambda: [y := x for x in (1,)])() for z in (1,)] and y", 15124),
        ("(lambda: [[y := x for x in z] for z in ((1,),)] and y)()", 0),
        ("(lambda: [[y := x for x in z] for z in ((),)] and y)()", 15124),
        ("[(lambda a=(y := z): a)() for z in (1,)] and y", 0),
        ("e; [(lambda a=(e := z): a)() for z in (1,)]", 15124),
        // what a comprehension around it loops with cannot be assigned, where it is known by then
        ("[x := 1 for x in ()]", 15123),
        ("[[x := 1 for z in ()] for x in ()]", 15123),
        ("[[x := 1 for z in ()] for y in () if 1 for x in ()]", 15123),
        ("[[z for z in ()] for x in () if (x := 1)]", 15123),
        ("[1 for x in () if (y := 1) for y in ()]", 15123),
        ("[1 for x in () if [(y := 1) for z in ()] for y in ()]", 0),
        ("[y for x in (1,) if [(y := 1) for z in (1,)] for y in (2,)]", 0),
        ("[1 for x in (1,) if [(y := 1) + y for z in (1,)] for y in (y,)]", 15124),
        ("[1 for x in (1,) if [(y := 1) + y for z in (1,)] for w in (y,)]", 0),
        ("[(lambda: (x := 1)) for x in ()]", 0),
        ("[(lambda a=(x := 1): a) for x in ()]", 15123),
        // nor anything in what is looped through, or in a target
        ("[x for x in (y := ())]", 15123),
        ("[x for z in () for x in (y := ())]", 15123),
        ("[[1 for q in ()] for x in [(y := 1) for z in ()]]", 15123),
        ("[x for x in (lambda: (y := ()))()]", 15123),
        ("[1 for x[(y := 0)] in ()]", 15123),
        ("[1 for x[lambda a=y: a] in () if (y := 1)]", 15123),
        // an item is hashed before the next one is computed
        ("{y if y == [1] else nosuch for y in ([1], 2)} and nosuch", 0),
        // strings and what is in them
        ("f\"{nosuch}\"", 15124),
        ("\"\\\\x4\"", 15123),
        ("\"\" or nosuch", 15124),
        ("\"\"\" b\"^ rb\"a\"", 15123),
        ("eval(\"nosuch\")", 15124),
        ("eval(\"1+\")", 15123),
        // more than the compiler takes is no syntax error
        (&format!("{}nosuch", "-".repeat(5000)), 0),
    ];
    for (formula, code) in cases {
        assert_eq!(verdict(formula, &schema).code, Some(code), "{formula:.80}");
    }
}

#[test]
fn only_the_first_line_counts() {
    let answer = |text: &str| verdict(text, &Schema::openpbs());
    assert_eq!(answer("ncpus\nnosuch"), answer("ncpus"));
    assert_eq!(answer("ncpus\0&"), answer("ncpus"));
    assert_eq!(answer("nosuch\n"), answer("nosuch"));
    assert_eq!(answer("\n1").code, Some(15011));
    assert_eq!(answer("").code, Some(0));
    assert_eq!(answer(" ").code, Some(15123));
}

#[test]
fn who_refuses() {
    let by = |text: &str| verdict(text, &Schema::openpbs()).by;
    assert_eq!(by("ncpus"), None);
    assert_eq!(by("ncpus +"), Some(RefusedBy::Server));
    assert_eq!(by("ncpus & 1"), Some(RefusedBy::Qmgr));
    assert_eq!(by("𝐧𝐜𝐩𝐮𝐬"), Some(RefusedBy::Qmgr));
    assert_eq!(by("len(\"a\") + len('b')"), Some(RefusedBy::Qmgr));
}
