//! Formulas over the whole language, each evaluated for random jobs.
//!
//! Values are equal in type and bits, errors in kind and text, and a text that Python does not
//! compile is an error here.

pub mod comparison;

use comparison::{Job, Question, Tally};
use job_sort_formula::formula::syntax::{MAX_LENGTH, MAX_NESTING};
use job_sort_formula::rank::{ColumnScratch, Consequence, OnError, ScoreError};
use job_sort_formula::{Formula, PythonVersion, Schema, Value};
use jsf_testing::random::formulas::{INTEGERS, NUMBERS, Writer, schema};
use jsf_testing::random::{self, CONSTRUCTS, Generator, written};
use jsf_testing::setting;

use crate::python::Script;

/// What only some versions have, with comments and joined lines in it.
const CONSTRUCTS_ON_LINES: [&str; 8] = [
    "ncpus[# a '\n*mem]",
    "ncpus [\\\n*mem, 3]",
    "ncpus[(# a\n*mem, 3)]",
    "(lambda a, # b\n/: a)(1)",
    "(lambda a, \\\n/, b: a)(1, 2)",
    "(lambda a, b=(1,# c\n2)[0]: a)(1)",
    "ncpus[# a\nx := 1]",
    "{# a\nx := 1}",
];

const JOBS: usize = 64;
/// How many of the jobs each formula is evaluated for.
const JOBS_PER_FORMULA: usize = 8;

/// How many formulas one Python process evaluates.
const BATCH: usize = 10_000;

fn job(random: &mut Generator) -> Job {
    let mut job = Job::new();
    for name in INTEGERS {
        let value = match random.below(6) {
            0 => random.integer(),
            1 => Value::Int(random.below(100_000) as i64),
            _ => Value::Int(random.below(24) as i64 - 4),
        };
        job.push((name, value));
    }
    for name in NUMBERS {
        let value = match random.below(3) {
            0 => random.number(),
            1 => Value::Float(random.float()),
            _ => Value::Float(random.moderate()),
        };
        let value = match value {
            Value::Bool(value) => Value::Int(i64::from(value)),
            // the script has one nan object for all jobs, that of `math`
            Value::Float(value) if value.is_nan() => Value::Float(f64::NAN),
            other => other,
        };
        job.push((name, value));
    }
    job
}

fn job_json(job: &Job) -> String {
    let fields = job.iter().map(|(name, value)| match value {
        Value::Float(value) => format!("\"{name}\":\"D{:016x}\"", value.to_bits()),
        other => format!("\"{name}\":\"{}\"", written(other)),
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// One of the constructs without strings: mistakes in strings would test the tokenizer only.
fn construct(random: &mut Generator) -> &'static str {
    let texts: Vec<_> = CONSTRUCTS
        .lines()
        .filter(|text| !text.contains(['\'', '"']))
        .collect();
    random.pick(&texts)
}

/// Runs a comparison with every Python of this machine.
fn compare_all(compare: impl Fn(&Script, &mut Tally)) {
    let mut wrong = Vec::new();
    for python in Script::find_all("formulas.py") {
        let mut tally = Tally::default();
        tally.version = python.version;
        compare(&python, &mut tally);
        eprintln!("Python {}: {tally}", python.version);
        let of_version = tally
            .wrong
            .iter()
            .map(|wrong| format!("Python {}: {wrong}", python.version));
        // at once: the other versions take their time
        wrong.extend(of_version.inspect(|wrong| eprintln!("{wrong}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of the random formulas, on a server with this Python.
fn schema_of(python: &Script) -> Schema {
    schema().with_python(python.version)
}

#[test]
fn values_and_errors_of_formulas_are_those_of_python() {
    compare_all(compare_formulas);
}

fn compare_formulas(python: &Script, tally: &mut Tally) {
    let mut left = python.cases(20_000) as usize / JOBS_PER_FORMULA;
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
    let schema = schema_of(python);
    while left > 0 {
        let jobs: Vec<Job> = (0..JOBS).map(|_| job(&mut random)).collect();
        let mut questions = Vec::new();
        for _ in 0..left.min(BATCH) {
            let foreign = random.below(30) == 0;
            let mut tokens = if foreign {
                random::tokens(construct(&mut random))
            } else {
                Writer::formula(&mut random).tokens
            };
            if random.below(if foreign { 2 } else { 6 }) == 0 {
                random::mutate_tokens(&mut tokens, &mut random);
            }
            let mut text = random::text(&tokens, &mut random);
            if random.below(25) == 0 {
                random::mutate_character(&mut text, &mut random);
            }
            let indices: Vec<_> = (0..JOBS_PER_FORMULA)
                .map(|_| random.below(JOBS as u64) as usize)
                .collect();
            questions.extend(Question::new(text, &indices, &jobs, &schema, tally));
        }
        compare_questions(python, &questions, &jobs, tally);
        left = left.saturating_sub(BATCH);
    }
}

fn compare_questions(python: &Script, questions: &[Question], jobs: &[Job], tally: &mut Tally) {
    let jobs_json: Vec<_> = jobs.iter().map(job_json).collect();
    let mut asked = format!("[\"jobs\",[{}]]\n", jobs_json.join(","));
    asked.extend(questions.iter().map(Question::written));
    let answers = python.run(&[], asked);
    let mut at = 0;
    for question in questions {
        at += tally.compare(question, &answers[at..], jobs);
    }
    assert_eq!(at, answers.len(), "Python answers every question");
}

/// What is computed with a complex number, in place of `_`.
const COMPLEX_CONTEXTS: [&str; 31] = [
    "-_",
    "+_",
    "~_",
    "not _",
    "_ + 2",
    "1.5 - _",
    "_ * 10**400",
    "_ * (7 - 7)",
    "3 * _",
    "_ / 4",
    "_ / 0",
    "_ / 0.0",
    "2 / _",
    "_ // 2",
    "_ % 2",
    "_ ** 2",
    "_ & 1",
    "_ + (_)",
    "_ < 3",
    "2 >= _",
    "_ == 1",
    "_ and 3",
    "_ if 1 else 2",
    "1/0 if _ else 2",
    "abs(_)",
    "max(_, 1)",
    "(_, 1)",
    "[_]",
    "_ + log(0)",
    // arguments that not every version takes
    "_ + gcd()",
    "float(x=2) * _",
];

/// Powers of negative numbers, among them some that overflow or vanish.
const COMPLEX_POWERS: [&str; 6] = [
    "(-8)**0.5",
    "(-1)**0.5",
    "(-2.5)**-1.25",
    "(-1e300)**1.5",
    "(-1e-300)**1.5",
    "(-10**200)**1.75",
];

#[test]
fn complex_numbers_are_followed_as_in_python() {
    let wrong: Vec<String> = Script::find_all("formulas.py")
        .iter()
        .flat_map(wrong_complex_numbers)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn wrong_complex_numbers(python: &Script) -> Vec<String> {
    let schema = Schema::openpbs().with_python(python.version);
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
    let texts: Vec<String> = (0..python.cases(20_000) / 10)
        .map(|_| {
            let first = format!("({})", random.pick(&COMPLEX_POWERS));
            (0..=random.below(3)).fold(first, |text, _| {
                format!("({})", random.pick(&COMPLEX_CONTEXTS).replace('_', &text))
            })
        })
        .collect();
    let mut asked = "[\"jobs\",[{}]]\n".to_owned();
    asked.extend(
        texts
            .iter()
            .map(|text| format!("[\"formula\",\"{text}\",[0]]\n")),
    );
    let answers = python.run(&[], asked);
    assert_eq!(answers.len(), texts.len() * 2);
    let (mut crashes, mut exceptions, mut unknown, mut wrong) = (0, 0, 0, Vec::new());
    for (text, theirs) in texts.iter().zip(answers.chunks(2).map(|answer| &answer[1])) {
        let program = Formula::parse(text).unwrap().compile(&schema).unwrap();
        let (mut scores, mut errors) = ([0.0], Vec::new());
        program
            .score_columns(
                &[],
                OnError::ZeroLikePbs,
                &mut ColumnScratch::new(),
                &mut scores,
                &mut errors,
            )
            .unwrap();
        let [(_, error)] = errors.as_slice() else {
            panic!("{text}: {scores:?}")
        };
        let (is_same, score) = match (error.consequence(), error) {
            (Consequence::Crash, ScoreError::NotANumber { type_name, .. }) => {
                crashes += 1;
                let theirs = match theirs.as_bytes()[0] {
                    b'(' => "tuple",
                    b'[' => "list",
                    _ => theirs,
                };
                (theirs == *type_name, -1.0)
            }
            (Consequence::Zero, ScoreError::Raised(error)) => {
                exceptions += 1;
                // the texts are those of 3.11
                let is_default = python.version == PythonVersion::default();
                let has_same_kind = theirs.starts_with(error.kind().exception());
                (
                    error.to_string() == *theirs || (!is_default && has_same_kind),
                    0.0,
                )
            }
            _ => {
                unknown += 1;
                (
                    error
                        .to_string()
                        .ends_with("cannot tell what the scheduler makes of it"),
                    0.0,
                )
            }
        };
        if !is_same || scores != [score] {
            wrong.push(format!(
                "{text}: {error} ({}), Python {} {theirs}",
                scores[0], python.version
            ));
        }
    }
    eprintln!(
        "Python {}: {crashes} complex results, {exceptions} exceptions, {unknown} unknown",
        python.version
    );
    assert!(crashes.min(exceptions).min(unknown) > texts.len() / 15);
    wrong
}

/// What can enclose a formula, and how many levels of brackets it adds.
const ENCLOSURES: [(&str, &str, usize); 22] = [
    ("-", "", 0),
    ("(not ", ")", 1),
    ("2**", "", 0),
    ("1 if x else ", "", 0),
    ("", "()", 0),
    ("(", ")", 1),
    ("f(", ")", 1),
    ("f(1,", ")", 1),
    ("f(k=", ")", 1),
    ("f(", ",)", 1),
    ("[", "]", 1),
    ("[1,", "]", 1),
    ("[", ",]", 1),
    ("(1,", ")", 1),
    ("(", ",)", 1),
    ("(1 if ", " else 2)", 1),
    ("(a and ", ")", 1),
    ("(1<", ")", 1),
    ("(", "<1)", 1),
    ("(", "*2)", 1),
    ("(1+", ")", 1),
    ("(1 in ", ")", 1),
];

/// A formula that may be too deep for Python's compiler.
fn deep(random: &mut Generator) -> String {
    let (mut text, mut level) = ("1".to_owned(), 0);
    for _ in 0..=random.below(12) {
        let (open, close, brackets) = random.pick(&ENCLOSURES);
        let most = if brackets == 0 {
            random.pick(&[3, 100, 1000, 2990])
        } else {
            random.pick(&[3, 20, 150])
        };
        let times = match brackets {
            0 => 1 + random.below(most) as usize,
            _ => (1 + random.below(most) as usize).min(MAX_NESTING - level),
        };
        level += brackets * times;
        // a conditional is not allowed everywhere, but in brackets it is
        if brackets == 0 && level < MAX_NESTING && !text.ends_with(')') {
            text = format!("({text})");
            level += 1;
        }
        text = open.repeat(times) + &text + &close.repeat(times);
    }
    text
}

#[test]
fn what_is_not_too_deep_here_is_compiled_by_python() {
    compare_all(|python, tally| {
        let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
        let texts = (0..python.cases(20_000) / 100)
            .map(|_| deep(&mut random))
            .collect();
        compare_texts(python, texts, tally);
    });
}

/// What a chain of operators can end with.
const ENDS: [&str; 12] = [
    "1",
    "x",
    "1.5",
    "None",
    "()",
    "[]",
    "(x,)",
    "(1,)",
    "f()",
    "f(x,)",
    "[1, 2]",
    "not x in (1, 2)",
];

/// The deepest formula that is compiled here: a chain of operators in a few levels of brackets.
fn around_a_limit(random: &mut Generator, schema: &Schema) -> Vec<String> {
    let chains: Vec<_> = ENCLOSURES
        .into_iter()
        .filter(|(.., brackets)| *brackets == 0)
        .collect();
    let brackets: Vec<_> = ENCLOSURES
        .into_iter()
        .filter(|(.., brackets)| *brackets == 1)
        .collect();
    let (open, close, _) = random.pick(&chains);
    let mut inner = random.pick(&ENDS).to_owned();
    if inner.starts_with("not") || (random.below(2) == 0 && open != "1 if x else ") {
        inner = format!("({inner})");
    }
    let outer: Vec<_> = (0..random.below(4))
        .map(|_| (random.pick(&brackets), random.below(40) as usize))
        .collect();
    let text = |times: usize| {
        let mut chain = open.repeat(times) + &inner + &close.repeat(times);
        // a conditional is not allowed everywhere, but in brackets it is
        if open == "1 if x else " && !outer.is_empty() {
            chain = format!("({chain})");
        }
        let enclose = |text: String, ((open, close, _), times): &((&str, &str, usize), usize)| {
            open.repeat(*times) + &text + &close.repeat(*times)
        };
        outer.iter().fold(chain, enclose)
    };
    let is_refused = |times: usize| {
        let formula = Formula::parse_for(&text(times), schema.python()).expect("a formula");
        formula
            .compile(schema)
            .expect("arithmetic")
            .refused()
            .is_some()
    };
    let mut fits = 1;
    let mut refused = (MAX_LENGTH - text(0).len()) / (open.len() + close.len());
    if is_refused(fits) || !is_refused(refused) {
        return Vec::new();
    }
    while refused - fits > 1 {
        let middle = usize::midpoint(fits, refused);
        if is_refused(middle) {
            refused = middle
        } else {
            fits = middle
        }
    }
    vec![text(fits)]
}

#[test]
fn the_deepest_formulas_are_compiled_by_python() {
    compare_all(|python, tally| {
        let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
        let schema = schema_of(python);
        let texts = (0..python.cases(20_000) / 400)
            .flat_map(|_| around_a_limit(&mut random, &schema))
            .collect();
        compare_texts(python, texts, tally);
    });
}

/// Compares whether texts are compiled.
fn compare_texts(python: &Script, texts: Vec<String>, tally: &mut Tally) {
    let schema = schema_of(python);
    let questions: Vec<_> = texts
        .into_iter()
        .filter_map(|text| Question::new(text, &[], &[], &schema, tally))
        .collect();
    let answers = python.run(&[], questions.iter().map(Question::written).collect());
    assert_eq!(
        questions.len(),
        answers.len(),
        "Python answers every question"
    );
    for (question, answer) in questions.iter().zip(answers) {
        tally.compare(question, &[answer], &[]);
    }
}

/// The texts between the semicolons.
fn list(texts: &'static str) -> impl Iterator<Item = &'static str> {
    texts.split("; ")
}

/// Calls and operators that give a nan for one, in place of `_`.
const NAN_OF_ONE: &str = "acos(_); acosh(_); asin(_); asinh(_); atan(_); atanh(_); cbrt(_); cos(_); cosh(_); degrees(_); erf(_); \
    erfc(_); exp(_); exp2(_); expm1(_); fabs(_); gamma(_); lgamma(_); log(_); log10(_); log1p(_); log2(_); \
    radians(_); sin(_); sinh(_); sqrt(_); tan(_); tanh(_); ulp(_); abs(_); -_; +_; float(_); hypot(_); sum([_]); \
    sum([1, _]); fsum([_, 1]); prod([_, 2]); round(_, 2); ldexp(_, 2); log(_, 2); log(2, _); divmod(_, 2)[1]; \
    divmod(2, _)[0]; max(_, 1); min(1, _); pow(_, 2, None); _ - 1; 1 - _; 0 * _; 2**_; _**2; True * _";
/// The same of two, in place of `_` and `$`.
const NAN_OF_TWO: &str = "atan2(_, $); copysign(_, $); fmod(_, $); hypot(_, $); hypot(1, _, $); nextafter(_, $); pow(_, $); \
    remainder(_, $); dist([_], [$]); dist([_, 1], [$, 2]); _ + $; _ - $; _ * $; _ / $; _ % $; _ // $; _ ** $; \
    max(_, $); min(_, $); fma(_, $, 1); sumprod([_], [$]); fma(1, _, $)";
const NOT_NAN: [&str; 6] = ["1.5", "-2.0", "0.0", "-0.0", "inf", "-inf"];

/// `copysign` shows the sign of a nan. That of a sum of two nans depends on the order in which a
/// compiler adds them.
#[test]
fn signs_of_nans_are_those_of_python() {
    compare_all(|python, tally| {
        let schema = schema_of(python);
        let mut texts = Vec::new();
        for nan in ["nan", "(-nan)"] {
            texts.extend(list(NAN_OF_ONE).map(|text| text.replace('_', nan)));
            for text in list(NAN_OF_TWO) {
                let replaced = |x: &str, y: &str| text.replace('_', x).replace('$', y);
                for other in NOT_NAN {
                    texts.extend([replaced(nan, other), replaced(other, nan)]);
                }
                texts.push(replaced(nan, nan));
            }
        }
        let jobs = [Vec::new()];
        let questions = texts.into_iter().filter_map(|text| {
            Question::new(
                format!("copysign(1.0, {text})"),
                &[0],
                &jobs,
                &schema,
                tally,
            )
            .map(Question::exactly)
        });
        let questions: Vec<_> = questions.collect();
        compare_questions(python, &questions, &jobs, tally);
    });
}

/// What the tokenizer's rules about lines depend on.
const PARTS_OF_LINES: [&str; 11] = [
    " ", "\t", "\x0c", "\\\n", "\\\r\n", "\n", "\r", "#", "1", "(", ")",
];

#[test]
fn lines_are_continued_indented_and_left_out_as_by_python() {
    compare_all(|python, tally| {
        let mut random = Generator(setting("JSF_REFEREE_SEED", 20_261_123));
        let text = |random: &mut Generator| {
            let mut parts: Vec<&str> = (0..random.below(8))
                .map(|_| random.pick(&PARTS_OF_LINES))
                .collect();
            parts.insert(random.below(parts.len() as u64 + 1) as usize, "1");
            parts.concat()
        };
        let texts = (0..python.cases(20_000))
            .map(|_| text(&mut random))
            .collect();
        compare_texts(python, texts, tally);
    });
}

/// Constructs of Python's expressions, valid and invalid, that random texts would hardly contain.
///
/// What is not arithmetic is read here whether or not Python accepts it.
#[test]
fn constructs_are_accepted_or_refused_as_by_python() {
    compare_all(|python, tally| {
        let is_default = python.version == PythonVersion::default();
        let has_field = |text: &&str| text.contains("f'{");
        let texts = CONSTRUCTS
            .lines()
            .filter(|text| is_default || !has_field(text));
        compare_texts(
            python,
            texts
                .chain(CONSTRUCTS_ON_LINES)
                .map(str::to_owned)
                .collect(),
            tally,
        );
    });
}
