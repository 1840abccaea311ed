use job_sort_formula::rank::{OnError, ScorePrecision, WorkBudget};
use job_sort_formula::{Formula, Schema, Value};

use super::*;

fn unlimited() -> WorkBudget {
    WorkBudget::new(u64::MAX)
}

#[test]
fn scores_of_steps_equal_those_of_the_interpreter() {
    let schema = Schema::openpbs();
    let program = Formula::parse("fairshare_factor * 100 + ncpus")
        .unwrap()
        .compile(&schema)
        .unwrap();
    let rules = Scoring {
        program: &program,
        schema: &schema,
        precision: ScorePrecision::Float32,
        on_error: OnError::ZeroLikePbs,
    };
    let sweep = Sweep::new(
        rules,
        vec![Value::Float(0.123_456), Value::Int(4)],
        "fairshare_factor",
        1e6,
    );
    assert_eq!(sweep.input(1).unwrap().repr(), "0.123457");
    for (step, score) in (-500..=5000).zip(sweep.scores(-500..=5000, &mut unlimited()).unwrap()) {
        let value = program
            .evaluate(&[sweep.input(step).unwrap(), Value::Int(4)])
            .unwrap();
        let Value::Float(value) = value else {
            panic!("{value:?}")
        };
        assert_eq!(f64::from(value as f32), score);
    }
}

#[test]
fn an_integer_of_more_than_64_bits_does_not_vary() {
    let schema = Schema::openpbs();
    let formula = Formula::parse("eligible_time - 2 ** 70").unwrap();
    let program = formula.compile(&schema).unwrap();
    let rules = Scoring {
        program: &program,
        schema: &schema,
        precision: ScorePrecision::Double,
        on_error: OnError::ZeroLikePbs,
    };
    let large = Value::from(num_bigint::BigInt::from(1) << 70);
    let sweep = Sweep::new(rules, vec![large], "eligible_time", 1.0);
    assert_eq!(
        (sweep.steps_until(0.0, 1e30), sweep.input(5).is_none()),
        (0, true)
    );
    assert_eq!(sweep.scores(0..=2, &mut unlimited()), Some(vec![0.0; 3]));
}

#[test]
fn a_formula_that_fails_for_every_job_has_the_value_of_the_error() {
    let schema = Schema::openpbs();
    let bounds = |text: &str, on_error| {
        let formula = Formula::parse(text).expect("a formula");
        let program = formula.compile(&schema).expect("a program");
        let rules = Scoring {
            program: &program,
            schema: &schema,
            precision: ScorePrecision::Float32,
            on_error,
        };
        let inputs = vec![Value::Int(60); program.inputs().len()];
        let sweep = Sweep::new(rules, inputs, "eligible_time", 1.0);
        let found = sweep.enclosure(0..=1_000_000, &mut WorkBudget::new(1 << 20));
        found.map(|found| (found.least, found.most))
    };
    let zero = Some((0.0, 0.0));
    assert_eq!(bounds("a * eligible_time", OnError::ZeroLikePbs), zero);
    assert_eq!(bounds("eligible_time / 0", OnError::ZeroLikePbs), zero);
    let last = Some((f64::NEG_INFINITY, f64::NEG_INFINITY));
    assert_eq!(bounds("a * eligible_time", OnError::Null), last);
    // it may fail, and a complex number is no exception
    assert_eq!(
        bounds("1 / (eligible_time - 70)", OnError::ZeroLikePbs),
        None
    );
    assert_eq!(
        bounds("(-1) ** 0.5 + 0 * eligible_time", OnError::ZeroLikePbs),
        None
    );
}
