//! Templates: what is filled in is a formula that means the number, and each mistake is named at
//! its place.

use job_sort_formula::formula::Template;
use job_sort_formula::{Formula, Schema, Value};
use jsf_testing::random::Generator;
use jsf_testing::random::formulas::Writer;

fn filled(template: &str, values: &[f64]) -> String {
    let template = Template::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"));
    let text = template.fill(values);
    Formula::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    text
}

#[test]
fn the_constants_are_those_of_the_text() {
    let text = "{fs=100:0..500}*fairshare_factor + {age=1e0:1e-3..+50.:log}*eligible_time/{h=3600:1..86400:log:int}";
    let template = Template::parse(text).expect("a template");
    let seen: Vec<_> = template
        .constants()
        .iter()
        .map(|c| (&*c.name, c.start, c.low, c.high, c.is_log, c.is_int))
        .collect();
    assert_eq!(
        seen,
        [
            ("fs", 100.0, 0.0, 500.0, false, false),
            ("age", 1.0, 0.001, 50.0, true, false),
            ("h", 3600.0, 1.0, 86400.0, true, true),
        ]
    );
    assert_eq!(template.constants()[0].span.slice(text), "{fs=100:0..500}");
    assert_eq!(
        template.expr().to_string(),
        "fs * fairshare_factor + age * eligible_time / h"
    );
}

#[test]
fn a_number_is_filled_in_so_that_it_means_itself() {
    for (template, value, text) in [
        ("{a=1:-5..5}**2", -2.0, "(-2)**2"),
        ("2-{a=1:-5..5}", -0.5, "2-(-0.5)"),
        ("ncpus*{a=1:0..5}", 0.1, "ncpus*0.1"),
        ("ncpus*{a=\\\n1:\\\n0..5}", 0.1, "ncpus*0.1"),
        ("ncpus*{a=1:0..5}", -0.0, "ncpus*0"),
        ("ncpus*{ a = 1 : 0 .. 5 : int }", 2.4, "ncpus*2"),
        ("ncpus*{a=1:0..1e20}", 1e17, "ncpus*1e+17"),
        ("ncpus*{a=1:0..1e20}", 1e16, "ncpus*10000000000000000"),
        ("ncpus if not{a=1:0..5}else 2", 3.0, "ncpus if not 3 else 2"),
        ("ncpus**{a=1:0..2} + {a}", 1.5, "ncpus**1.5 + 1.5"),
        ("{a} + ncpus*{a=1:0..2}", 1.5, "1.5 + ncpus*1.5"),
        (
            "max(\n {a=1:0..5 # the first\n}, # {b}\n ncpus)",
            2.0,
            "max(\n 2, # {b}\n ncpus)",
        ),
        (
            "1 if ncpus > {a=4:1..64:int} else 0",
            8.0,
            "1 if ncpus > 8 else 0",
        ),
        (
            "log({a=1:1e-3..5:log}*mem) # {not=here}",
            1e-3,
            "log(0.001*mem) # {not=here}",
        ),
    ] {
        assert_eq!(filled(template, &[value]), text);
    }
}

#[test]
fn a_mistake_is_named_at_its_place() {
    for (template, at, message) in [
        ("ncpus*2", "ncpus*2", "the template has no constant to find"),
        ("{a=1:5..0}*2", "5..0", "the range `5..0` does not ascend"),
        ("{a=1:1..1}*2", "1..1", "the range `1..1` does not ascend"),
        (
            "{a=9:0..5}*2",
            "9",
            "the start 9 is outside of the range `0..5`",
        ),
        (
            "{a=1:0..5:log}",
            "0..5",
            "the range `0..5` has no logarithms",
        ),
        ("{a=1:0..5.5:int}", "0..5.5", "5.5 is not a whole number"),
        ("{a=1.5:0..5:int}", "1.5", "1.5 is not a whole number"),
        ("{a=1:0..5:lin}", "lin", "`:lin` is not known here"),
        ("{a=1:0..5:log:log}", "log", "`:log` is not known here"),
        ("{a=1}*2", "{a=1}", "the constant `a` has no range"),
        ("{a=1:5}*2", "5", "`5` is not a range"),
        ("{a=:0..5}*2", "", "a number is missing"),
        ("{a=1:..5}*2", "", "a number is missing"),
        ("{a=x:0..5}*2", "x", "`x` is not a number"),
        ("{a=1:0..inf}*2", "inf", "`inf` is not a number"),
        (
            "{a=1:0..1e999}*2",
            "1e999",
            "`1e999` is too large for a number",
        ),
        (
            "{a=1:0..2}*{a=1:0..2}",
            "{a=1:0..2}",
            "the constant `a` is declared twice",
        ),
        ("{a=1:0..2}*{b}", "{b}", "the constant `b` has no range"),
        (
            "{ncpus=1:0..2}*ncpus",
            "ncpus",
            "`ncpus` is both a constant and an input of the formula",
        ),
        (
            "{max=1:0..2}*ncpus",
            "{max=1:0..2}",
            "`max` is a name of Python, which no constant can have",
        ),
        (
            "{e=1:0..2}*ncpus",
            "{e=1:0..2}",
            "`e` is a name of Python, which no constant can have",
        ),
        (
            "max(1, {a=1:0..2}=3)",
            "max(1, {a=1:0..2}=3)",
            "a number cannot stand where a constant does: the target of an assignment must be a name",
        ),
        (
            "{a=1:0..2}*",
            "",
            "expected a number, a name or `(`, found the end of the formula",
        ),
    ] {
        let error = Template::parse(template).expect_err(template);
        assert_eq!(error.to_string(), message, "{template}");
        assert_eq!(error.span().slice(template), at, "{template}");
        assert!(
            template.contains("found") || error.diagnostic().help.is_some() || at.is_empty(),
            "{template}"
        );
    }
}

#[test]
fn constants_are_at_most_twenty() {
    let many = |count: usize| {
        (0..count)
            .map(|index| format!("{{c{index}=1:0..2}}"))
            .collect::<Vec<_>>()
            .join("+")
    };
    assert_eq!(
        Template::parse(&many(20))
            .expect("a template")
            .constants()
            .len(),
        20
    );
    assert_eq!(
        Template::parse(&many(21)).unwrap_err().to_string(),
        "a template has at most 20 constants"
    );
    let long = format!("{{a=1:0..2}}{}", "+{a}".repeat(3000));
    assert!(
        Template::parse(&long).is_err(),
        "what is filled in may be too long"
    );
}

#[test]
fn a_formula_is_no_template_and_sets_stay_sets() {
    for text in [
        "{fs=100:0..500}*ncpus",
        "max({a=1}, 2)",
        "ncpus + {x=1:2..3:log} # note",
    ] {
        let found = Formula::parse(text).unwrap_err().diagnostic();
        assert!(
            found
                .message
                .starts_with("this is a template, not a formula"),
            "{}",
            found.message
        );
        assert!(found.help.expect("help").to_string().contains("`jsf fit`"));
        assert!(found.span.slice(text).starts_with('{'));
    }
    for text in [
        "ncpus in {1, 2}",
        "len({ncpus})",
        "{'a': 1}",
        "{x for x in (1, 2)}",
        "{}",
        "{a==1}",
        "{(a := 1)}",
    ] {
        assert!(Formula::parse(text).is_ok(), "{text}");
    }
}

/// Replaces numbers of random formulas by constants with the same start: the filled template has
/// the formula's value.
#[test]
fn a_template_at_its_start_is_the_formula() {
    let schema = Schema::openpbs();
    let mut templates = 0;
    for seed in 0..600 {
        let mut random = Generator(seed);
        let tokens = Writer::formula(&mut random).tokens;
        let mut count = 0;
        let constants: Vec<String> = tokens
            .iter()
            .map(|token| match token.parse::<u32>() {
                Ok(number) if token.len() < 6 && count < 20 && !token.starts_with('0') => {
                    count += 1;
                    format!("{{k{count}={number}:-1e6..1e6}}")
                }
                _ => token.to_string(),
            })
            .collect();
        let (plain, text) = (tokens.join(" "), constants.join(" "));
        let (Ok(formula), true) = (Formula::parse(&plain), count > 0) else {
            continue;
        };
        let template = Template::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let starts: Vec<f64> = template
            .constants()
            .iter()
            .map(|constant| constant.start)
            .collect();
        let filled = Formula::parse(&template.fill(&starts)).expect("a formula");
        assert_eq!(filled.to_string(), formula.to_string());
        templates += 1;
        let (Ok(one), Ok(other)) = (formula.compile(&schema), filled.compile(&schema)) else {
            continue;
        };
        let inputs: Vec<Value> = (1..).take(one.inputs().len()).map(Value::Int).collect();
        let values = [one.evaluate(&inputs), other.evaluate(&inputs)]
            .map(|value| format!("{:?}", value.map(|v| v.repr())));
        assert_eq!(values[0], values[1], "{plain}");
    }
    assert!(templates > 150, "{templates} templates");
}

#[test]
fn a_place_in_braces_is_a_set_and_no_place() {
    for (text, filled) in [
        ("{{a}}*ncpus + {a=1:0..2}", "{2}*ncpus + 2"),
        ("{{a=1:0..2}}*ncpus", "{2}*ncpus"),
        ("{ {a} }*{a=1:0..2}", "{ 2 }*2"),
    ] {
        let template = Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(template.fill(&[2.0]), filled);
    }
}
