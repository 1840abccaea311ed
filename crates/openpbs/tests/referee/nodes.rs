//! The value of every sub-expression that is evaluated, and the sum of the terms, in Python and
//! here.

use job_sort_formula::rank::explain;
use job_sort_formula::{ErrorKind, Formula, Program, Schema, Value};
use jsf_testing::random::formulas::{INTEGERS, NUMBERS, Writer, schema};
use jsf_testing::random::{self, Generator, written};
use jsf_testing::recorded::{self, Record, RecordedJob, RecordedSite};
use jsf_testing::{golden, setting};

use crate::formulas::comparison::INEXACT;
use crate::python::Script;

/// A formula that Python evaluates for some jobs, with the sub-expressions that are found here.
struct Question {
    text: String,
    jobs: Vec<usize>,
    /// By job.
    nodes: Vec<String>,
    /// By job: the sum of the terms as a formula, and its value.
    sums: Vec<Option<(String, String)>>,
}

impl Question {
    /// `None` if the program is not comparable: its last digits or the identity of a NaN would
    /// matter.
    fn new(text: &str, program: &Program, jobs: &[(usize, Vec<Value>)]) -> Option<Self> {
        let expr = program.expr();
        let names = expr.nodes().iter().map(|node| node.span.slice(expr.text()));
        if names
            .into_iter()
            .any(|name| INEXACT.iter().any(|function| function.name() == name))
            || program.refused().is_some()
        {
            return None;
        }
        let mut question = Self {
            text: text.to_owned(),
            jobs: Vec::new(),
            nodes: Vec::new(),
            sums: Vec::new(),
        };
        for (index, inputs) in jobs {
            let trace = program.trace(inputs);
            if trace
                .result
                .as_ref()
                .is_err_and(|error| matches!(error.kind(), ErrorKind::Limit | ErrorKind::Complex))
            {
                continue;
            }
            let nodes = explain::nodes(program, &trace);
            // limits apply to the sum of the terms
            let sum = Formula::parse(text).ok()?.sum_under_limits();
            let sum = nodes.iter().find(|node| node.span == sum);
            let value = sum.map(|node| written(&node.value));
            let nodes: Vec<String> = nodes
                .iter()
                .map(|node| {
                    format!(
                        "{}:{}={}",
                        node.span.start,
                        node.span.end,
                        written(&node.value)
                    )
                })
                .collect();
            let terms: Vec<String> = program
                .terms(&trace)
                .iter()
                .map(|term| literal(&term.value))
                .collect();
            question.jobs.push(*index);
            question.nodes.push(nodes.join(";"));
            let sum = value.filter(|_| trace.result.is_ok());
            question
                .sums
                .push(sum.map(|value| (terms.join("+"), value)));
        }
        Some(question)
    }
}

/// A literal in brackets. Python limits the digits of a decimal literal, but not of a hexadecimal
/// one.
fn literal(value: &Value) -> String {
    match value {
        Value::Big(integer) => format!("({integer:#x})"),
        value => format!("({})", value.repr()),
    }
}

/// Asks Python, and returns how many evaluations and how many sums of several terms are equal.
fn compare(python: &Script, sums: &Script, jobs: &str, questions: &[Question]) -> (usize, usize) {
    let line = |text: &str, jobs: &[usize]| {
        format!(
            "[\"formula\",{},{jobs:?}]\n",
            serde_json::to_string(text).expect("a string")
        )
    };
    let mut asked = format!("[\"jobs\",{jobs}]\n");
    asked.extend(
        questions
            .iter()
            .map(|question| line(&question.text, &question.jobs)),
    );
    let mut answers = python.run(&[], asked).into_iter();
    let (mut equal, mut wrong) = (0, Vec::new());
    for question in questions {
        for (job, ours) in question.jobs.iter().zip(&question.nodes) {
            match answers.next().expect("Python answers every question") {
                skipped if skipped == "skipped" => {}
                theirs if theirs == *ours => equal += 1,
                // the `ast` of older versions has no ends of expressions
                theirs if python.version.minor() < 8 && theirs == sorted_values(ours) => equal += 1,
                theirs => wrong.push(format!(
                    "{:?}, job {job}:\n  Python {theirs}\n  here   {ours}",
                    question.text
                )),
            }
        }
    }
    assert!(answers.next().is_none());
    let several: Vec<(&Question, &(String, String))> = questions
        .iter()
        .flat_map(|question| {
            question
                .sums
                .iter()
                .flatten()
                .map(move |sum| (question, sum))
        })
        .filter(|(_, (sum, _))| sum.contains("+("))
        .collect();
    let asked = std::iter::once("[\"jobs\",[{}]]\n".to_owned());
    let asked: String = asked
        .chain(several.iter().map(|(_, (sum, _))| line(sum, &[0])))
        .collect();
    let answers = sums.run(&[], asked);
    assert_eq!(answers.len(), several.len() * 2, "Python adds all terms");
    for ((question, (sum, ours)), theirs) in several.iter().zip(answers.chunks(2)) {
        if theirs[1] != *ours {
            wrong.push(format!(
                "{:?}: {sum} is {} in Python, the formula {ours}",
                question.text, theirs[1]
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    (equal, several.len())
}

/// The values of a list of sub-expressions, without their places.
fn sorted_values(nodes: &str) -> String {
    let mut values: Vec<_> = nodes
        .split(';')
        .filter_map(|node| node.split_once('='))
        .map(|(_, value)| value)
        .collect();
    values.sort_unstable();
    values.join(";")
}

fn random_job(random: &mut Generator) -> Vec<(&'static str, Value)> {
    let integers = INTEGERS.map(|name| (name, random.below(24) as i64 - 4));
    let mut job: Vec<(&'static str, Value)> = integers
        .into_iter()
        .map(|(name, value)| (name, Value::Int(value)))
        .collect();
    job.extend(NUMBERS.map(|name| (name, Value::Float(random.moderate()))));
    job
}

fn jobs_json(jobs: &[Vec<(String, Value)>]) -> String {
    let job = |job: &Vec<(String, Value)>| {
        let fields = job.iter().map(|(name, value)| match value {
            Value::Float(value) => format!("\"{name}\":\"D{:016x}\"", value.to_bits()),
            other => format!("\"{name}\":\"{}\"", written(other)),
        });
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    };
    format!("[{}]", jobs.iter().map(job).collect::<Vec<_>>().join(","))
}

fn inputs(program: &Program, job: &[(String, Value)]) -> Vec<Value> {
    let input = |name: &str| {
        job.iter()
            .find(|(known, _)| known == name)
            .map_or(Value::Int(0), |(_, value)| value.clone())
    };
    program.inputs().iter().map(|name| input(name)).collect()
}

/// Whether the identity of a NaN could matter: Python compares the items of sequences by identity
/// first.
fn compares_sequences(program: &Program) -> bool {
    use job_sort_formula::formula::syntax::ExprKind;
    let has = |is_kind: fn(&ExprKind) -> bool| {
        program
            .expr()
            .nodes()
            .iter()
            .any(|node| is_kind(&node.kind))
    };
    has(|kind| matches!(kind, ExprKind::Comparison { .. }))
        && has(|kind| matches!(kind, ExprKind::Tuple(_) | ExprKind::List(_)))
}

/// Calls of what Python's `ast` has as constants, and of a name.
const CALLS: [&str; 5] = [
    "(True)(ncpus)",
    "(False)(())/-ncpus",
    "1 + ( None)(2)",
    "(ncpus)(3)",
    "(7)(ncpus)",
];

#[test]
fn sub_expressions_of_random_formulas_have_pythons_values() {
    for (python, sums) in Script::find_all("nodes.py")
        .iter()
        .zip(&Script::find_all("formulas.py"))
    {
        compare_random_formulas(python, sums);
    }
}

fn compare_random_formulas(python: &Script, sums: &Script) {
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
    let schema: Schema = schema().with_python(python.version);
    let jobs: Vec<Vec<(String, Value)>> = (0..64)
        .map(|_| {
            random_job(&mut random)
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()
        })
        .collect();
    let mut questions = Vec::new();
    for number in 0..python.cases(20_000) / 4 {
        let text = match CALLS.get(number as usize) {
            Some(text) => (*text).to_owned(),
            None => {
                let tokens = Writer::formula(&mut random).tokens;
                random::text(&tokens, &mut random)
            }
        };
        let Ok(formula) = Formula::parse(&text) else {
            continue;
        };
        let Ok(program) = formula.compile(&schema) else {
            continue;
        };
        if compares_sequences(&program) {
            continue;
        }
        let chosen: Vec<(usize, Vec<Value>)> = (0..4)
            .map(|_| random.below(64) as usize)
            .map(|index| (index, inputs(&program, &jobs[index])))
            .collect();
        questions.extend(Question::new(&text, &program, &chosen));
    }
    let (equal, sums) = compare(python, sums, &jobs_json(&jobs), &questions);
    eprintln!(
        "Python {}: {equal} evaluations with equal sub-expressions, {sums} equal sums",
        python.version
    );
    assert!(
        equal > questions.len() && sums > questions.len() / 20,
        "{equal} {sums} of {}",
        questions.len()
    );
}

#[test]
fn sub_expressions_of_recorded_formulas_have_pythons_values() {
    for (python, sums) in Script::find_all("nodes.py")
        .iter()
        .zip(&Script::find_all("formulas.py"))
    {
        compare_recorded_formulas(python, sums);
    }
}

fn compare_recorded_formulas(python: &Script, sums: &Script) {
    let site = RecordedSite::open();
    let schema = site.schema.with_python(python.version);
    let recorded: Vec<RecordedJob> = golden::lines("openpbs/bulk/jobs.jsonl.gz");
    let job = |job: &RecordedJob| {
        let inputs = job.scheduler_inputs.as_ref()?;
        Some(
            inputs
                .iter()
                .map(|(name, repr)| (name.clone(), recorded::number(repr)))
                .collect::<Vec<_>>(),
        )
    };
    let jobs: Vec<Vec<(String, Value)>> = recorded.iter().filter_map(job).collect();
    let records: Vec<Record> = golden::lines("openpbs/bulk/evaluate.jsonl.gz");
    let (mut questions, mut formulas) = (Vec::new(), 0);
    for record in &records {
        let Ok(formula) = Formula::parse(&record.formula) else {
            continue;
        };
        let Ok(program) = formula.compile(&schema) else {
            continue;
        };
        let chosen: Vec<(usize, Vec<Value>)> = jobs
            .iter()
            .enumerate()
            .map(|(index, job)| (index, inputs(&program, job)))
            .collect();
        let question = Question::new(&record.formula, &program, &chosen);
        formulas += usize::from(question.is_some());
        questions.extend(question);
    }
    let (equal, sums) = compare(python, sums, &jobs_json(&jobs), &questions);
    eprintln!(
        "Python {}: {formulas} of {} formulas, {} jobs: {equal} evaluations, {sums} sums",
        python.version,
        records.len(),
        jobs.len()
    );
    assert!(
        equal >= 7665 && sums >= 2555,
        "only {equal} evaluations and {sums} sums"
    );
    assert!(
        formulas * 10 > records.len() * 9 && equal >= formulas * jobs.len() * 9 / 10 && sums > 0
    );
}
