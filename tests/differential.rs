//! Whole formulas against their referee, the `python3` on this machine.
//!
//! Random formulas over the whole language, each evaluated for random jobs: values equal in type and bits, errors in
//! kind and text, and what Python does not compile is refused here. `JSF_REFEREE_CASES` says how many evaluations to
//! try, `JSF_REFEREE_SEED` where to begin. Without a Python 3.11 there is no referee, and the test says so and passes.

#[path = "referee/blanks.rs"]
mod blanks;
#[allow(dead_code, reason = "shared with the test of single operations")]
#[path = "referee/cases.rs"]
mod cases;
#[path = "referee/formulas.rs"]
mod formulas;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::process::{Command, Stdio};

use cases::{Generator, written};
use formulas::{INTEGERS, NUMBERS, Writer};
use job_sort_formula::formula::number::{ErrorKind, Function, Python, Raised, Value};
use job_sort_formula::formula::syntax::{MAX_NESTING, NodeKind, SyntaxErrorKind};
use job_sort_formula::schema::Kind;
use job_sort_formula::{Formula, Schema};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/referee/formulas.py");

const CONSTRUCTS: &str = include_str!("referee/constructs.txt");

/// How many jobs there are to choose from, and for how many of them each formula is evaluated.
const JOBS: usize = 64;
const JOBS_OF_A_FORMULA: usize = 8;

/// How many formulas one process of Python is given.
const BATCH: usize = 10_000;

/// Functions that the C library computes otherwise than this crate, by a unit or two in the last place.
const INEXACT: [Function; 4] = [Function::Erf, Function::Erfc, Function::Hypot, Function::Dist];

/// How far a formula that calls them may be off, relatively.
const TOLERANCE: f64 = 1e-9;

type Job = Vec<(&'static str, Value)>;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn has_referee() -> bool {
    let output = Command::new("python3").args([SCRIPT, "--version"]).output();
    output.is_ok_and(|output| output.stdout.starts_with(b"3.11\n"))
}

/// What Python answers to these questions.
fn ask(questions: String) -> Vec<String> {
    let mut child = Command::new("python3")
        .arg(SCRIPT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = child.wait_with_output().expect("python3 ends");
    writer.join().expect("no panic").expect("python3 reads all");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

fn schema() -> Schema {
    let mut schema = Schema::empty();
    for name in INTEGERS.iter().chain(&NUMBERS) {
        schema.add(name, Kind::Float);
    }
    schema
}

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
        job.push((name, if let Value::Bool(value) = value { Value::Int(i64::from(value)) } else { value }));
    }
    job
}

fn described(job: &Job) -> String {
    let fields = job.iter().map(|(name, value)| match value {
        Value::Float(value) => format!("\"{name}\":\"D{:016x}\"", value.to_bits()),
        other => format!("\"{name}\":\"{}\"", written(other)),
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// What this crate makes of a text.
enum Verdict {
    /// Python does not compile it: no syntax, or too deep for its compiler.
    Refused(Raised),
    /// Python compiles it, and that is all there is to know.
    Foreign,
    /// The value for each of these jobs.
    Computed(Vec<(usize, Result<Value, Raised>)>),
}

/// A text with the verdict of this crate.
struct Question {
    text: String,
    /// Whether it calls one of [`INEXACT`].
    inexact: bool,
    /// Whether it compares and has sequences: a nan that was computed is another object than any in a sequence,
    /// but values have no identity here.
    by_identity: bool,
    verdict: Verdict,
}

impl Question {
    fn new(text: String, indices: &[usize], jobs: &[Job], schema: &Schema, tally: &mut Tally) -> Option<Self> {
        let formula = match Formula::parse(&text) {
            Ok(formula) => formula,
            Err(error) => {
                assert!(text.get(error.span.start as usize..error.span.end as usize).is_some(), "span in {text:?}");
                if matches!(error.kind, SyntaxErrorKind::TooLong | SyntaxErrorKind::TooDeep) {
                    return None;
                }
                let verdict = Verdict::Refused(Raised::new(ErrorKind::Syntax, error.to_string()));
                return Some(Self { text, inexact: false, by_identity: false, verdict });
            }
        };
        let inexact = formula.names().iter().any(|name| INEXACT.iter().any(|function| function.name() == *name));
        let nodes = || formula.expr().nodes().iter();
        let by_identity = nodes().any(|node| matches!(node.kind, NodeKind::Comparison { .. }))
            && nodes().any(|node| matches!(node.kind, NodeKind::Tuple { .. } | NodeKind::List(_)));
        let Ok(program) = formula.compile(schema) else {
            return Some(Self { text, inexact, by_identity, verdict: Verdict::Foreign });
        };
        if let Some(raised) = program.refused() {
            return Some(Self { text, inexact, by_identity, verdict: Verdict::Refused(raised.clone()) });
        }
        let mut evaluator = program.evaluator(Python::new());
        let mut results = Vec::new();
        for &index in indices {
            let input =
                |name: &str| jobs[index].iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
            let inputs: Vec<_> = program.inputs().iter().map(|name| input(name).expect("an input")).collect();
            match evaluator.evaluate(&inputs) {
                Err(error) if error.raised.kind == ErrorKind::Limit => tally.beyond_limits += 1,
                result => results.push((index, result.map_err(|error| error.raised))),
            }
        }
        Some(Self { text, inexact, by_identity, verdict: Verdict::Computed(results) })
    }

    fn written(&self) -> String {
        let indices: Vec<_> = match &self.verdict {
            Verdict::Computed(results) => results.iter().map(|(index, _)| index.to_string()).collect(),
            _ => Vec::new(),
        };
        let text = serde_json::to_string(&self.text).expect("a string");
        format!("[\"formula\",{text},[{}]]\n", indices.join(","))
    }
}

#[derive(Default)]
struct Tally {
    formulas: usize,
    refused: usize,
    foreign: usize,
    values: usize,
    errors: BTreeMap<ErrorKind, usize>,
    complex: usize,
    near: usize,
    inexact: usize,
    by_identity: usize,
    endless: usize,
    beyond_limits: usize,
    different: usize,
    wrong: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: usize = self.errors.values().sum();
        write!(
            f,
            "{} formulas ({} refused by both, {} foreign), {} evaluations: {} the same value, {errors} the same error \
             {:?}, {} complex, {} near, {} beside an inexact function, {} by the \
             identity of a nan, {} without end; besides {} beyond the limits; {} \
             wrong",
            self.formulas,
            self.refused,
            self.foreign,
            self.values
                + errors
                + self.complex
                + self.near
                + self.inexact
                + self.by_identity
                + self.endless
                + self.different,
            self.values,
            self.errors,
            self.complex,
            self.near,
            self.inexact,
            self.by_identity,
            self.endless,
            self.beyond_limits,
            self.different,
        )
    }
}

impl Tally {
    fn wrong(&mut self, question: &Question, job: Option<&Job>, theirs: &str, ours: &str) {
        self.different += 1;
        if self.wrong.len() >= 100 {
            return;
        }
        let named = |(name, _): &&(&str, Value)| question.text.contains(name);
        let job = job
            .map(|job| job.iter().filter(named).map(|(name, value)| format!("{name} = {value}, ")).collect::<String>());
        let job = job.unwrap_or_default();
        self.wrong.push(format!("{:?}\n    {job}\n    Python: {theirs}\n    here:   {ours}", question.text));
    }

    /// Compares the answers to one question; gives how many of them there were.
    fn judge(&mut self, question: &Question, answers: &[String], jobs: &[Job]) -> usize {
        self.formulas += 1;
        let compiled = &*answers[0];
        match &question.verdict {
            Verdict::Refused(ours) if compiled.starts_with(ours.kind.exception()) => self.refused += 1,
            // Python's parser may be exhausted before it comes to the slip.
            Verdict::Refused(ours) if ours.kind == ErrorKind::Syntax && compiled == "MemoryError: " => {
                self.refused += 1
            }
            Verdict::Refused(ours) => self.wrong(question, None, compiled, &ours.to_string()),
            _ if compiled != "ok" => self.wrong(question, None, compiled, "ok"),
            Verdict::Foreign => self.foreign += 1,
            Verdict::Computed(results) => {
                for ((index, ours), theirs) in results.iter().zip(&answers[1..]) {
                    self.compare(question, &jobs[*index], ours, theirs);
                }
            }
        }
        match (&question.verdict, compiled) {
            (Verdict::Computed(results), "ok") => 1 + results.len(),
            _ => 1,
        }
    }

    fn compare(&mut self, question: &Question, job: &Job, ours: &Result<Value, Raised>, theirs: &str) {
        let text = match ours {
            Ok(value) => written(value),
            Err(raised) => raised.to_string(),
        };
        match ours {
            _ if theirs.starts_with("Endless") => self.endless += 1,
            Ok(_) if text == theirs => self.values += 1,
            Err(raised) if text == theirs => *self.errors.entry(raised.kind).or_default() += 1,
            Err(raised) if raised.kind == ErrorKind::Complex => self.complex += 1,
            Ok(Value::Float(value)) if question.inexact && is_near(*value, theirs) => self.near += 1,
            _ if question.inexact => self.inexact += 1,
            _ if question.by_identity && may_be_nan(&question.text, job) => self.by_identity += 1,
            _ => self.wrong(question, Some(job), theirs, &text),
        }
    }
}

fn may_be_nan(text: &str, job: &Job) -> bool {
    let is_finite = |value: &Value| !matches!(value, Value::Float(value) if !value.is_finite());
    ["nan", "inf", "1e400"].iter().any(|name| text.contains(name))
        || job.iter().any(|(name, value)| text.contains(name) && !is_finite(value))
}

/// One of the constructs without strings, in which slips are for the tokenizer to judge.
fn construct(random: &mut Generator) -> &'static str {
    let texts: Vec<_> = CONSTRUCTS.lines().filter(|text| !text.contains(['\'', '"'])).collect();
    random.pick(&texts)
}

fn is_near(ours: f64, theirs: &str) -> bool {
    let bits = theirs.strip_prefix('D').and_then(|bits| u64::from_str_radix(bits, 16).ok());
    bits.map(f64::from_bits).is_some_and(|theirs| (ours - theirs).abs() <= TOLERANCE * ours.abs())
}

#[test]
fn formulas_are_pythons() {
    if !has_referee() {
        eprintln!("no python3 of version 3.11 on this machine: the formulas go without their referee");
        return;
    }
    let mut left = setting("JSF_REFEREE_CASES", 20_000) as usize / JOBS_OF_A_FORMULA;
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
    let schema = schema();
    let mut tally = Tally::default();
    while left > 0 {
        let jobs: Vec<Job> = (0..JOBS).map(|_| job(&mut random)).collect();
        let mut questions = Vec::new();
        for _ in 0..left.min(BATCH) {
            let foreign = random.below(30) == 0;
            let mut tokens = match foreign {
                true => blanks::tokens(construct(&mut random)),
                false => Writer::formula(&mut random).tokens,
            };
            if random.below(if foreign { 2 } else { 6 }) == 0 {
                blanks::slip(&mut tokens, &mut random);
            }
            let mut text = blanks::text(&tokens, &mut random);
            if random.below(25) == 0 {
                blanks::misspell(&mut text, &mut random);
            }
            let indices: Vec<_> = (0..JOBS_OF_A_FORMULA).map(|_| random.below(JOBS as u64) as usize).collect();
            questions.extend(Question::new(text, &indices, &jobs, &schema, &mut tally));
        }
        let described: Vec<_> = jobs.iter().map(described).collect();
        let mut asked = format!("[\"jobs\",[{}]]\n", described.join(","));
        asked.extend(questions.iter().map(Question::written));
        let answers = ask(asked);
        let mut at = 0;
        for question in &questions {
            at += tally.judge(question, &answers[at..], &jobs);
        }
        assert_eq!(at, answers.len(), "Python answers every question");
        left = left.saturating_sub(BATCH);
    }
    eprintln!("{tally}");
    assert!(tally.wrong.is_empty(), "{tally}\n{}", tally.wrong.join("\n"));
}

/// What may stand around a formula, and how many levels of brackets it adds.
const SHELLS: [(&str, &str, usize); 22] = [
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

/// A formula so deep that Python may not compile it.
fn deep(random: &mut Generator) -> String {
    let (mut text, mut level) = ("1".to_owned(), 0);
    for _ in 0..=random.below(12) {
        let (open, close, brackets) = random.pick(&SHELLS);
        let most = if brackets == 0 { random.pick(&[3, 100, 1000, 2990]) } else { random.pick(&[3, 20, 150]) };
        let times = match brackets {
            0 => 1 + random.below(most) as usize,
            _ => (1 + random.below(most) as usize).min(MAX_NESTING - level),
        };
        level += brackets * times;
        // A conditional may not stand just anywhere, but it may stand in brackets.
        if brackets == 0 && level < MAX_NESTING && !text.ends_with(')') {
            text = format!("({text})");
            level += 1;
        }
        text = open.repeat(times) + &text + &close.repeat(times);
    }
    text
}

#[test]
fn depths_are_pythons() {
    if !has_referee() {
        return;
    }
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
    let mut tally = Tally::default();
    let texts = (0..setting("JSF_REFEREE_CASES", 20_000) / 100).map(|_| deep(&mut random));
    let questions: Vec<_> = texts.filter_map(|text| Question::new(text, &[], &[], &schema(), &mut tally)).collect();
    let answers = ask(questions.iter().map(Question::written).collect());
    assert_eq!(questions.len(), answers.len(), "Python answers every question");
    for (question, answer) in questions.iter().zip(answers) {
        tally.judge(question, &[answer], &[]);
    }
    eprintln!("{tally}");
    assert!(tally.wrong.is_empty(), "{tally}\n{}", tally.wrong.join("\n"));
}

/// The constructs of Python's expressions, right and wrong, that no random text would find.
///
/// Not among them, because they are known to differ: what stands in the braces of an f-string and in `\\N{…}` is not
/// looked into, and `yield` in a lambda is refused.
#[test]
fn constructs_are_pythons() {
    if !has_referee() {
        return;
    }
    let mut tally = Tally::default();
    let questions: Vec<_> =
        CONSTRUCTS.lines().filter_map(|text| Question::new(text.into(), &[], &[], &schema(), &mut tally)).collect();
    let answers = ask(questions.iter().map(Question::written).collect());
    assert_eq!(questions.len(), answers.len(), "Python answers every question");
    for (question, answer) in questions.iter().zip(answers) {
        tally.judge(question, &[answer], &[]);
    }
    assert!(tally.wrong.is_empty(), "{tally}\n{}", tally.wrong.join("\n"));
}
