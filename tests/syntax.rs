//! Properties of the parser on any text: no panic, spans within the text, limits that give an
//! error, stable printing.

use std::mem::{Discriminant, discriminant};

use job_sort_formula::formula::syntax::{
    ExprId, ExprKind, MAX_LENGTH, MAX_NESTING, SyntaxErrorKind,
};
use job_sort_formula::{ErrorKind, EvalError, Formula, PythonVersion, Value};
use jsf_testing::random::formulas::schema;
use jsf_testing::random::{CONSTRUCTS, Generator, any_text, written};
use proptest::collection::vec;
use proptest::prelude::*;

/// The size of a stack on which every text can be parsed, in bytes.
const SMALL_STACK: usize = 256 * 1024;

/// The result with all its bits, with 3 as the value of every input.
fn outcome(formula: &Formula) -> String {
    let Ok(program) = formula.compile(&schema()) else {
        return "foreign".into();
    };
    let inputs: Vec<_> = program.inputs().iter().map(|_| Value::Int(3)).collect();
    match program.evaluate(&inputs) {
        Ok(value) => written(&value),
        Err(error) => {
            let place = format!("{}..{}", error.span().start, error.span().end);
            assert!(
                is_within(formula.text(), error.span()),
                "an error at {place} of {:?}",
                formula.text()
            );
            error.to_string()
        }
    }
}

fn is_within(text: &str, span: job_sort_formula::diagnostic::Span) -> bool {
    text.get(span.start as usize..span.end as usize).is_some()
}

/// Parses a text and checks all spans.
fn parse_and_check(text: &str) -> Option<Formula> {
    match Formula::parse(text) {
        Ok(formula) => {
            for node in formula.expr().nodes() {
                assert!(
                    is_within(text, node.span),
                    "a node at {:?} of {text:?}",
                    node.span
                );
            }
            Some(formula)
        }
        Err(error) => {
            assert!(
                is_within(text, error.span()),
                "an error at {:?} of {text:?}",
                error.span()
            );
            assert!(!error.to_string().is_empty());
            let diagnostic = error.diagnostic();
            assert!(
                is_within(text, diagnostic.span),
                "a finding at {:?} of {text:?}",
                diagnostic.span
            );
            None
        }
    }
}

/// The kind and the children of every node.
fn shape(formula: &Formula) -> Vec<(Discriminant<ExprKind>, Vec<ExprId>)> {
    formula
        .expr()
        .nodes()
        .iter()
        .map(|node| (discriminant(&node.kind), node.kind.children()))
        .collect()
}

fn assert_stable(text: &str) {
    let Some(formula) = parse_and_check(text) else {
        return;
    };
    let printed = formula.to_string();
    let again = match Formula::parse(&printed) {
        Ok(again) => again,
        Err(error) => panic!("{text:?} is printed as {printed:?}, where {error}"),
    };
    assert_eq!(again.to_string(), printed, "what is printed of {text:?}");
    assert_eq!(
        shape(&again),
        shape(&formula),
        "the tree of {text:?} and of {printed:?}"
    );
    let with_comments = formula.with_comments();
    let again_with_comments = Formula::parse(&with_comments).map(|formula| formula.with_comments());
    assert_eq!(
        again_with_comments.as_ref(),
        Ok(&with_comments),
        "what is printed of {text:?} with comments"
    );
    assert_eq!(
        outcome(&again),
        outcome(&formula),
        "the value of {text:?} and of {printed:?}"
    );
}

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(SMALL_STACK)
        .spawn(work);
    thread.expect("a thread").join().expect("no panic");
}

fn raised(text: &str) -> EvalError {
    let program = Formula::parse(text)
        .expect("a formula")
        .compile(&schema())
        .expect("arithmetic");
    program.evaluate(&[]).expect_err("an error")
}

/// Tokens of the grammar.
const TOKENS: [&str; 50] = [
    "(", ")", "[", "]", "{", "}", ",", ":", ":=", "=", "==", "!", "?", "<", ">", "**", "*", "/",
    "//", "-", "+", "~", "%", "@", "&", "|", "^", "if", "else", "not", "in", "is", "and", "or",
    "lambda", "for", "async", ".", "...", "1", "0x1f", "1e5", "2j", "x", "é", "'s'", "\"", "\\",
    "\n", "# c\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_is_stable(seed in any::<u64>()) {
        assert_stable(&any_text(&mut Generator(seed)));
    }

    #[test]
    fn random_text_does_not_panic(text in any::<String>()) {
        assert_stable(&text);
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        assert_stable(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_ascii_does_not_panic(text in "[ -~\n]{0,40}") {
        assert_stable(&text);
    }

    #[test]
    fn random_tokens_do_not_panic(tokens in vec(prop::sample::select(&TOKENS[..]), 0..40), spaced in any::<bool>()) {
        assert_stable(&tokens.join(if spaced { " " } else { "" }));
    }

    #[test]
    fn random_nesting_does_not_panic(tokens in vec(prop::sample::select(&["(", "[", "{", "f(", "x[", "-", "lambda:"][..]), 0..260)) {
        let closing = tokens.iter().rev().filter_map(|token| match token.chars().last() {
            Some('(') => Some(')'),
            Some('[') => Some(']'),
            Some('{') => Some('}'),
            _ => None,
        });
        assert_stable(&format!("{}1{}", tokens.concat(), closing.collect::<String>()));
        assert_stable(&tokens.concat());
    }
}

#[test]
fn constructs_are_printed_stably() {
    for text in CONSTRUCTS.lines() {
        assert_stable(text);
        assert_stable(&format!("[{text} # a comment\n]"));
        assert_stable(&format!("f({text}\\\n)"));
    }
}

/// Up to a nesting that is parsed on any stack, and beyond.
#[test]
fn nested_formulas_are_parsed_on_a_small_stack() {
    on_a_small_stack(|| {
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("{", "}"),
            ("abs(", ")"),
            ("x[1:", "]"),
            ("f(*", ")"),
            ("f(k=not -", ")"),
            ("1 if (", ") else 2"),
            ("(x := ", ")"),
            ("[y for y in (", ")]"),
            ("lambda a=", ": 1"),
            ("lambda: (", ")"),
        ] {
            for levels in 1..=30 {
                let text = format!("{}1{}", open.repeat(levels), close.repeat(levels));
                assert!(Formula::parse(&text).is_ok(), "{text}");
            }
        }
    });
}

#[test]
fn large_formulas_are_parsed_on_a_small_stack() {
    on_a_small_stack(|| {
        let deep = |open: &str, close: &str| {
            format!("{}1{}", open.repeat(MAX_NESTING), close.repeat(MAX_NESTING))
        };
        let sum = vec!["1"; 10_000].join("+");
        let choices = "1 if x else ".repeat(1000) + "0";
        for text in [
            deep("(", ")"),
            deep("abs(", ")"),
            deep("[", "]"),
            deep("max(1, -", ")"),
            "-".repeat(5000) + "1",
            "not ".repeat(5000) + "1",
            "2**".repeat(5000) + "1",
            "x<".repeat(5000) + "1",
            "x and not ".repeat(5000) + "1",
            choices,
            sum,
            format!("max({}1)", "1,".repeat(20_000)),
            format!("[{}]", "(1),".repeat(10_000)),
            "(((((".to_owned() + &"1+(2)*".repeat(5000) + "3)))))",
        ] {
            let formula = Formula::parse(&text).expect("a formula");
            let program = formula.compile(&schema()).expect("arithmetic");
            let inputs: Vec<_> = program.inputs().iter().map(|_| Value::Int(1)).collect();
            let _ = program.evaluate(&inputs);
        }
    });
}

#[test]
fn too_large_formulas_are_errors_on_a_small_stack() {
    on_a_small_stack(|| {
        let kind = |text: String| Formula::parse(&text).expect_err("too large").kind();
        let deeper = MAX_NESTING + 1;
        assert_eq!(
            kind(format!("{}1{}", "(".repeat(deeper), ")".repeat(deeper))),
            SyntaxErrorKind::TooDeep
        );
        assert_eq!(kind("[(".repeat(deeper)), SyntaxErrorKind::TooDeep);
        assert_eq!(
            kind("lambda:".repeat(deeper) + "1"),
            SyntaxErrorKind::TooDeep
        );
        assert_eq!(kind("1?".repeat(deeper) + "1"), SyntaxErrorKind::TooDeep);
        assert_eq!(
            kind("1+".repeat(MAX_LENGTH / 2) + "1"),
            SyntaxErrorKind::TooLong
        );
        assert!(Formula::parse(&("1+".repeat(MAX_LENGTH / 2 - 1) + "11")).is_ok());
        // the limit is within a character
        for long in ["€".repeat(30_000), format!("1{}", "😀".repeat(20_000))] {
            let error = Formula::parse(&long).unwrap_err();
            assert_eq!(
                (error.kind(), &long[error.span().range()]),
                (SyntaxErrorKind::TooLong, "")
            );
        }
    });
}

/// A grammar that backtracks would take exponential time for one of these.
#[test]
fn texts_that_invite_backtracking_are_parsed_in_time() {
    on_a_small_stack(|| {
        let brackets = [
            "(",
            "[",
            "{",
            "f(",
            "x[",
            "([",
            "{(",
            "(x,",
            "[x for x in (",
            "{1:(",
            "f(a=(",
            "f(*(",
            "f(**(",
        ];
        let endings = [
            "",
            "1",
            "x for x in y",
            "x,",
            "lambda: 1",
            "x := 1",
            "*x",
            "1 if x",
            "1:2",
            "'",
            "not",
            "x is y",
        ];
        for bracket in brackets {
            let times = MAX_NESTING / bracket.matches(['(', '[', '{']).count();
            for ending in endings {
                let open = bracket.repeat(times) + ending;
                let closed = open.chars().rev().filter_map(|bracket| match bracket {
                    '(' => Some(')'),
                    '[' => Some(']'),
                    '{' => Some('}'),
                    _ => None,
                });
                parse_and_check(&(open.clone() + &closed.collect::<String>()));
                parse_and_check(&open);
            }
        }
        for (chain, times) in [
            ("a ? b : ", MAX_NESTING),
            ("a?", MAX_NESTING),
            ("lambda: ", MAX_NESTING),
            ("lambda a=", MAX_NESTING),
            ("not ", 4000),
            ("x not ", 2500),
            ("a if ", 2500),
            ("a if b else ", 1250),
            ("x.", 7500),
            ("x()", 5000),
            ("x[1]", 4000),
            ("1 ", 7500),
            ("'' ", 5000),
            ("x := ", 2500),
            ("* ", 7500),
            ("0", 15000),
            ("0_", 7500),
            ("1e", 7500),
            ("\\\n", 7500),
            ("# c\n", 2500),
            ("\n", 15000),
            ("'", 15000),
            ("'''", 5000),
            ("\u{feff}", 5000),
        ] {
            let chain = chain.repeat(times);
            for ending in ["", "1", " : 1", "x"] {
                parse_and_check(&(chain.clone() + ending));
            }
            parse_and_check(&format!("({chain}1)"));
        }
    });
}

#[test]
fn integers_beyond_the_limit_are_errors() {
    for text in [
        "9**9**9",
        "-9**9**9**9",
        "2**131072",
        "1<<10**10",
        "1 << (1 << 40)",
        "factorial(10**9)",
        "comb(10**9, 10**8)",
        "perm(10**9, 10**8)",
        "prod([3**50000] * 50)",
        "[1]*10**9",
        "(1,)*10**6",
        "round(10**400, -10**9) + 2**10**9",
        "pow(2, 10) + 2**(2**40)",
    ] {
        assert_eq!(raised(text).kind(), ErrorKind::Limit, "{text}");
    }
    assert!(Formula::parse("2**131071").is_ok_and(|formula| outcome(&formula).starts_with('8')));
}

#[test]
fn long_literals_give_the_error_of_cpython() {
    let text = "Exceeds the limit (4300 digits) for integer string conversion: value has 4301 digits; use \
                sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal for huge integer literals to \
                avoid decimal conversion limits. (<string>, line 1)";
    let refused = raised(&"9".repeat(4301));
    assert_eq!((refused.kind(), refused.text()), (ErrorKind::Syntax, text));
    assert_eq!(
        raised(&format!("1 + {}", "9_".repeat(4300) + "9")).text(),
        text
    );
    assert!(
        outcome(&Formula::parse(&"9".repeat(4300)).expect("a formula"))
            .starts_with(|digit: char| digit.is_ascii_hexdigit())
    );
    assert!(
        outcome(&Formula::parse(&format!("0x{}", "f".repeat(5000))).expect("a formula"))
            .starts_with("fff")
    );
}

/// The comparison with CPython tries more shapes than these.
#[test]
fn formulas_that_cpython_may_not_compile_are_errors() {
    let sum = |terms: usize| vec!["1"; terms].join("+");
    assert_eq!(
        outcome(&Formula::parse(&sum(2900)).expect("a formula")),
        format!("{:x}", 2900)
    );
    for deep in [sum(2995), "-".repeat(5976) + "1"] {
        assert_eq!(raised(&deep).kind(), ErrorKind::Limit);
    }
    let brackets = |levels: usize| "(".repeat(levels) + "1" + &")".repeat(levels);
    for (levels, minor, is_refused) in [(80, 6, false), (100, 8, true), (200, 9, false)] {
        let python = PythonVersion::new(minor).expect("a version");
        let formula = Formula::parse_for(&brackets(levels), python).expect("a formula");
        let program = formula
            .compile(&schema().with_python(python))
            .expect("arithmetic");
        assert_eq!(
            program.refused().is_some(),
            is_refused,
            "{levels} in {python}"
        );
    }
}

#[test]
fn arguments_are_printed_in_their_order() {
    for text in [
        "any(start=1e5, **0b101)",
        "f(a=1, *x, b=2, **y, c=3)",
        "f(1, *x, 2, a=1, **y)",
        "f(g(a=1, **x), *y, b=h(c=2, *z))",
    ] {
        let unspaced = text.replace(", ", ",");
        assert_eq!(
            Formula::parse(&unspaced)
                .map(|formula| formula.to_string())
                .as_deref(),
            Ok(text)
        );
    }
}

#[test]
fn blanks_and_comments_in_what_is_not_arithmetic_become_one_space() {
    for (text, printed) in [
        ("x[\x0c1]", "x[ 1]"),
        ("x[ \t\x0c\r\n1 # c\n]+ 1", "x[ 1 ] + 1"),
        ("(lambda\x0c a : \\\n a)", "(lambda a : a)"),
        ("[y\x0cfor y in'a\x0c b'  '#']", "[y for y in'a\x0c b' '#']"),
        ("1\x0c.real\x0c+\x0c2", "1 .real + 2"),
    ] {
        assert_eq!(
            Formula::parse(text)
                .map(|formula| formula.to_string())
                .as_deref(),
            Ok(printed),
            "{text:?}"
        );
    }
}
