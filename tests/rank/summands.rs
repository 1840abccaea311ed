//! The summands of a formula as formulas of their own.

use job_sort_formula::rank::{OnError, ScorePrecision, summand_agreements};
use job_sort_formula::{Formula, Job, JobTable, Ranking, Schema, Value};

/// A summand is a part of the tree that was parsed: the longest formula, which its brackets would
/// make too long, is one too.
#[test]
fn summands_are_evaluated_as_parts_of_the_formula() {
    const LONGEST: usize = 64 << 10;
    let filled = format!("max(ncpus,{}2)", " ".repeat(LONGEST - "max(ncpus,2)".len()));
    for (text, expected) in [
        (filled.as_str(), vec![(2.0, 19.0, Some(true))]),
        (
            "ncpus * 10 - (mem - 3) ** 2",
            vec![(10.0, 190.0, Some(false)), (-484.0, -16.0, Some(true))],
        ),
        ("2 + ncpus", vec![(2.0, 2.0, None), (1.0, 19.0, Some(true))]),
    ] {
        let formula = Formula::parse(text).expect("a formula");
        let schema = Schema::openpbs();
        let program = formula.compile(&schema).expect("a program");
        let mut table = JobTable::new(["ncpus", "mem"]);
        for row in 0..21_i64 {
            let id = format!("{row}.vm");
            let inputs = [Ok(Value::Int(row)), Ok(Value::Int(-row))];
            table
                .push(
                    &Job {
                        id: &id,
                        ..Job::default()
                    },
                    &inputs,
                )
                .expect("a new id");
        }
        let ranking = Ranking::new(
            &program,
            &table,
            ScorePrecision::Double,
            OnError::ZeroLikePbs,
        );
        let summands = summand_agreements(&program, &schema, &table, &ranking);
        let found: Vec<_> = summands
            .iter()
            .map(|summand| (summand.low, summand.high, summand.tau.map(|tau| tau > 0.0)))
            .collect();
        assert_eq!(found, expected, "{}", &text[..20.min(text.len())]);
    }
}
