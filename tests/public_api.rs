//! What an embedding scheduler relies on: types that cross threads, and one program for many of them.

use std::thread;

use job_sort_formula::pbs::share_tree::PbsTree;
use job_sort_formula::{Formula, JobTable, Program, Ranking, Schema, Value};

fn crosses_threads<T: Send + Sync>() {}

#[test]
fn the_five_types_cross_threads() {
    crosses_threads::<Formula>();
    crosses_threads::<Schema>();
    crosses_threads::<Program>();
    crosses_threads::<JobTable>();
    crosses_threads::<Ranking>();
    crosses_threads::<PbsTree>();
}

#[test]
fn one_program_runs_on_many_threads() {
    let formula: Formula = "sqrt(ncpus) + eligible_time // 3600".parse().expect("a formula");
    let program = formula.compile(&Schema::openpbs()).expect("a program");
    let one = |ncpus: i64| program.evaluate(&[Value::Int(ncpus), Value::Int(7200)]).expect("a value").repr();
    thread::scope(|scope| {
        let threads: Vec<_> = (1..5).map(|n| scope.spawn(move || one(n * n))).collect();
        let values: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        assert_eq!(values, ["3.0", "4.0", "5.0", "6.0"]);
    });
}
