//! The order of scores, and what is printed of many errors.

use job_sort_formula::rank::{OnError, ScorePrecision, score, top_rows};
use job_sort_formula::{Formula, Job, JobTable, Ranking, Schema, Value};
use jsf_testing::random::Generator;

#[test]
fn rows_without_a_table_are_ordered_as_those_of_a_table() {
    let program = Formula::parse("ncpus / 7")
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    let mut random = Generator(7);
    for rows in [0, 1, 50, 3000] {
        let mut table = JobTable::new(["ncpus"]);
        let times: Vec<i64> = (0..rows).map(|_| random.below(500) as i64).collect();
        for (row, &time) in times.iter().enumerate() {
            let job = Job {
                id: &row.to_string(),
                queued_at: Some(time),
                ..Job::default()
            };
            table
                .push(&job, &[Ok(Value::Int((1 << 26) + random.below(20) as i64))])
                .unwrap();
        }
        for precision in [ScorePrecision::Float32, ScorePrecision::Double] {
            let scores = score(&program, &table, ScorePrecision::Double, OnError::Null).values();
            let ranking = Ranking::new(&program, &table, precision, OnError::Null);
            assert_eq!(
                top_rows(&scores, Some(&times), precision, usize::MAX),
                ranking.order()
            );
            assert_eq!(
                top_rows(&scores, Some(&times), precision, 9),
                ranking.order()[..rows.min(9)]
            );
        }
    }
}
