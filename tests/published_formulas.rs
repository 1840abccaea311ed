//! The formulas that sites, papers, tests and simulators have published, each with its expected
//! result.

use std::collections::BTreeMap;

use job_sort_formula::diagnostic::Code;
use job_sort_formula::formula::program::CompileError;
use job_sort_formula::formula::syntax::Construct;
use job_sort_formula::schema::InputType;
use job_sort_formula::{ErrorKind, Formula, Schema, Value};
use jsf_testing::golden;
use serde::Deserialize;

#[derive(Deserialize)]
struct Published {
    formula: String,
    kind: String,
    needs: Needs,
}

#[derive(Deserialize)]
struct Needs {
    variables: Vec<String>,
}

/// The expected result of a formula.
#[derive(Debug, PartialEq)]
enum Answer {
    /// Python's `repr` of the value on [`INPUTS`], computed by Python itself.
    Is(String),
    Raises(ErrorKind, String),
    /// An operator of another language, and the one of Python.
    Lookalike(String, String),
    Outside(Construct),
    Unknown(String),
}

/// Names and their values, as Python prints them.
type Inputs = &'static [(&'static str, &'static str)];

/// A value for every name in the formulas: a job with 16 cpus and 2 GB, and numbers as the sites
/// publish them.
const INPUTS: Inputs = &[
    ("eligible_time", "5400"),
    ("walltime", "3600"),
    ("mem", "2097152"),
    ("ncpus", "16"),
    ("ngpus", "2"),
    ("nodect", "4"),
    ("cput", "100"),
    ("queue_priority", "100"),
    ("job_priority", "0"),
    ("fairshare_perc", "0.36"),
    ("fair_share_perc", "0.36"),
    ("fairshare_tree_usage", "0.500416"),
    ("fairshare_factor", "0.381553"),
    ("base_score", "51"),
    ("score_boost", "-3"),
    ("enable_wfp", "1"),
    ("wfp_factor", "100000"),
    ("project_priority", "2"),
    ("total_cpus", "560"),
    ("enable_backfill", "1"),
    ("backfill_max", "50"),
    ("backfill_factor", "84600"),
    ("enable_fifo", "1"),
    ("fifo_factor", "1800"),
    ("paws", "1.5"),
    ("bias", "-0.25"),
    ("sbu_rate", "4.06"),
    ("admin_priority", "10"),
    ("fairshare_priority", "150000"),
    ("foo", "-1.5"),
    ("foo1", "20"),
    ("A", "0.1"),
    ("spec", "6.5"),
    ("PE", "8"),
    ("QUEUED_TIMESTAMP", "1684000000"),
    ("WALLTIME_SECONDS", "3600"),
    ("eligible_s", "5400"),
    ("eligible_h", "1.5"),
    ("nodes", "128"),
    ("total_nodes", "560"),
    ("base", "51"),
    ("aging_rate", "0.01"),
    ("wait", "5400"),
    ("target_share", "0.36"),
    ("delivered_share", "0.25"),
    ("budget_damp", "0.8"),
];

/// The start of each formula and its expected result, in the order of the file.
fn answers() -> Vec<(&'static str, Answer)> {
    let is = |value: &str| Answer::Is(value.into());
    vec![
        (
            "base_score + score_boost + (enable_wfp * wfp",
            is("51.067963385117636"),
        ),
        (
            "(48 * fairshare_factor) + ((6 * fairshare_fa",
            is("199.67949144955216"),
        ),
        ("queue_priority + (0.005 * ncpus)", is("102.8300012")),
        (
            "queue_priority+(0.005\\*ncpus)",
            Answer::Lookalike("\\*".into(), "*".into()),
        ),
        ("eligible_time", is("5400")),
        (
            "fairshare_factor * 1e9 + (job_priority",
            is("482028002.3391374"),
        ),
        (
            "fairshare_factor * 1e9 + (job_priority",
            Answer::Outside(Construct::Attribute),
        ),
        (
            "queue_priority + (nodect + walltime/3600 + (eligible_time/3600*100",
            is("125.5"),
        ),
        (
            "queue_priority + (nodect + walltime/3600 + eligible_time",
            is("110.65"),
        ),
        (
            "queue_priority + (nodect + walltime/3600 + (eligible_time/3600*10)",
            is("112.0"),
        ),
        ("1000*queue_priority", is("100150.00625")),
        ("300*(eligible_time/86400)", is("18.75")),
        ("pow(2,-(fairshare_tree_usage", is("0.38155304772933757")),
        (
            "\"pow(2,-(fairshare_tree_usage",
            Answer::Outside(Construct::String),
        ),
        ("2**-(fairshare_tree_usage", is("0.38155304772933757")),
        (
            "2^-(fairshare_tree_usage",
            Answer::Raises(
                ErrorKind::Type,
                "unsupported operand type(s) for ^: 'int' and 'float'".into(),
            ),
        ),
        ("pow(2,(fairshare_tree_usage", is("2.620867546337542")),
        ("queue_priority", is("100")),
        ("fairshare_factor", is("0.381553")),
        ("fairshare_tree_usage", is("0.500416")),
        ("fairshare_perc", is("0.36")),
        ("fair_share_perc", is("0.36")),
        (
            "fair_share_factor",
            Answer::Unknown("fair_share_factor".into()),
        ),
        ("fairshare_factor + (walltime/ncpus)", is("225.381553")),
        (
            "\"fairshare_factor + (walltime/ncpus)\"",
            Answer::Outside(Construct::String),
        ),
        (
            "ceil(fabs(-ncpus*(mem/100.00)*sqrt(walltime)))",
            is("20132660"),
        ),
        ("ncpus", is("16")),
        ("ncpus + mem", is("2097168")),
        ("1*walltime", is("3600")),
        ("2*walltime", is("7200")),
        ("foo", is("-1.5")),
        ("20 + A * eligible_time", is("560.0")),
        ("ncpus + mem/1024", is("2064.0")),
        ("2*QUEUED_TIMESTAMP", is("3368003600")),
        ("1*QUEUED_TIMESTAMP", is("1684003600")),
        (
            "base_score + score_boost + enable_wfp * project",
            is("49.6971326443769"),
        ),
        ("nodes * 1e6 + eligible_s", is("128005400.0")),
        ("base + aging_rate*wait", is("105.0")),
        ("base + 3*aging_rate*wait", is("213.0")),
        ("base + aging_rate*wait - 0.002*nodes", is("104.744")),
        ("base + aging_rate*wait + 0.001*nodes", is("105.128")),
        (
            "base + aging_rate*wait + 5*log(nodes)",
            is("129.2601513195981"),
        ),
        ("base + aging_rate*wait + 30*(target_share", is("108.3")),
        ("(base + aging_rate*wait) * budget_damp", is("84.0")),
        (
            "base + aging_rate*wait + 20*(target_share",
            is("104.77398486804019"),
        ),
        ("cput", is("100")),
        ("ncpus*walltime", is("57600")),
        ("ncpus", is("16")),
        ("ncpus*100", is("1600")),
        ("ceil(fabs(-ncpus*(foo1/100.00)*sqrt(100)))", is("32")),
        ("sbu_rate*walltime", is("14615.999999999998")),
        ("spec*walltime*PE", is("187200.0")),
    ]
}

fn published() -> Vec<Published> {
    golden::lines("formulas.jsonl")
}

/// The names where the formula is used: a simulator has only names of its own; on a server the
/// names that OpenPBS does not have are resources of the site.
fn schema(published: &Published) -> Schema {
    let is_simulator = published.kind.starts_with("simulator");
    let mut schema = if is_simulator {
        Schema::empty()
    } else {
        Schema::openpbs()
    };
    let known: BTreeMap<_, _> = INPUTS.iter().copied().collect();
    for name in published
        .needs
        .variables
        .iter()
        .filter(|name| known.contains_key(name.as_str()))
    {
        // OpenPBS defines some of them
        let _ = schema.add(name, InputType::Float);
    }
    schema
}

fn number(text: &str) -> Value {
    text.parse()
        .map_or_else(|_| Value::Float(text.parse().unwrap()), Value::Int)
}

fn answer(formula: &str, schema: &Schema, inputs: &[(&str, &str)]) -> Answer {
    let parsed = match Formula::parse(formula).map_err(|error| error.diagnostic()) {
        Ok(parsed) => parsed,
        Err(found) if found.code == Code::ForeignOperator => {
            let written = found.message.split('`').nth(1).expect("the operator");
            let fix = found.fix.expect("the operator of Python");
            return Answer::Lookalike(written.to_owned(), fix.replacement);
        }
        Err(other) => panic!("{formula}: {other:?}"),
    };
    let program = match parsed.compile(schema) {
        Ok(program) => program,
        Err(CompileError::Construct { construct, .. }) => return Answer::Outside(construct),
        Err(other) => panic!("{formula}: {other}"),
    };
    if let Some((name, _)) = program.undefined().first() {
        return Answer::Unknown(name.to_string());
    }
    let value = |name: &str| {
        inputs
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| number(text))
            .unwrap()
    };
    let values: Vec<Value> = program.inputs().iter().map(|name| value(name)).collect();
    match program.evaluate(&values) {
        Ok(value) => Answer::Is(value.repr()),
        Err(error) => Answer::Raises(error.kind(), error.text().to_owned()),
    }
}

#[test]
fn published_formulas_give_the_expected_results() {
    let (published, answers) = (published(), answers());
    assert_eq!((published.len(), answers.len()), (52, 52));
    for (published, (start, expected)) in published.iter().zip(answers) {
        assert!(
            published.formula.starts_with(start),
            "{} is not {start}",
            published.formula
        );
        assert_eq!(
            answer(&published.formula, &schema(published), INPUTS),
            expected,
            "{}",
            published.formula
        );
    }
}

/// The variables of each formula are those that the file lists.
#[test]
fn published_formulas_have_the_listed_variables() {
    for published in published() {
        let Ok(program) =
            Formula::parse(&published.formula).map(|formula| formula.compile(&schema(&published)))
        else {
            continue;
        };
        let Ok(program) = program else { continue };
        let mut ours: Vec<&str> = program.inputs().iter().map(|name| &**name).collect();
        ours.extend(program.undefined().iter().map(|(name, _)| &**name));
        ours.sort_unstable();
        let functions = ["ceil", "fabs", "sqrt"];
        let theirs = published
            .needs
            .variables
            .iter()
            .map(String::as_str)
            .filter(|name| !functions.contains(name));
        assert_eq!(ours, theirs.collect::<Vec<_>>(), "{}", published.formula);
    }
}

/// The results that are published with the formulas.
#[test]
fn results_are_the_published_ones() {
    const PP_718: &str = "pow(2,-(fairshare_tree_usage/fairshare_perc))";
    const SMOKE: &str = "ceil(fabs(-ncpus*(mem/100.00)*sqrt(walltime)))";
    let cases: [(&str, Inputs, f64); 6] = [
        (
            PP_718,
            &[
                ("fairshare_perc", "0.36"),
                ("fairshare_tree_usage", "0.500416"),
            ],
            0.3816,
        ),
        (
            PP_718,
            &[
                ("fairshare_perc", "0.24"),
                ("fairshare_tree_usage", "0.832973"),
            ],
            0.0902,
        ),
        (
            PP_718,
            &[
                ("fairshare_perc", "0.2"),
                ("fairshare_tree_usage", "0.125312"),
            ],
            0.6477,
        ),
        (
            SMOKE,
            &[("ncpus", "1"), ("mem", "300"), ("walltime", "4")],
            6.0,
        ),
        (
            SMOKE,
            &[("ncpus", "1"), ("mem", "350"), ("walltime", "4")],
            7.0,
        ),
        ("ncpus + mem", &[("ncpus", "2"), ("mem", "100")], 102.0),
    ];
    for (formula, inputs, expected) in cases {
        let Answer::Is(value) = answer(formula, &Schema::openpbs(), inputs) else {
            panic!("{formula}")
        };
        let rounded = (value.parse::<f64>().unwrap() * 1e4).round() / 1e4;
        assert_eq!(rounded, expected, "{formula} {inputs:?}");
    }
}
