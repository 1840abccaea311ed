//! What an embedding program relies on: the list of public items and their methods, types that are
//! `Send` and `Sync`, and programs that threads share.

use std::path::Path;
use std::thread;

use job_sort_formula::{Formula, JobTable, Program, Ranking, Schema, Value};
use jsf_testing::public_items::assert_public_items;

fn assert_send_and_sync<T: Send + Sync>() {}

#[test]
fn the_main_types_are_send_and_sync() {
    assert_send_and_sync::<Formula>();
    assert_send_and_sync::<Schema>();
    assert_send_and_sync::<Program>();
    assert_send_and_sync::<JobTable>();
    assert_send_and_sync::<Ranking>();
}

fn assert_error<T: std::error::Error + Send + Sync + 'static>() {}

#[test]
fn every_error_is_an_error_of_the_standard_library() {
    assert_error::<job_sort_formula::SyntaxError>();
    assert_error::<job_sort_formula::EvalError>();
    assert_error::<job_sort_formula::formula::program::CompileError>();
    assert_error::<job_sort_formula::rank::ScoreError>();
    assert_error::<job_sort_formula::rank::ColumnError>();
    assert_error::<job_sort_formula::jobs::Problem>();
    assert_error::<job_sort_formula::jobs::TableError>();
    assert_error::<job_sort_formula::schema::NameError>();
    assert_error::<job_sort_formula::fairshare::TreeError>();
}

#[test]
fn threads_can_share_a_program() {
    let formula: Formula = "sqrt(ncpus) + eligible_time // 3600"
        .parse()
        .expect("a formula");
    let program = formula.compile(&Schema::openpbs()).expect("a program");
    let one = |ncpus: i64| {
        program
            .evaluate(&[Value::Int(ncpus), Value::Int(7200)])
            .expect("a value")
            .repr()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (1..5).map(|n| scope.spawn(move || one(n * n))).collect();
        let values: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect();
        assert_eq!(values, ["3.0", "4.0", "5.0", "6.0"]);
    });
}

/// The most public items that the library may have.
const MAX_PUBLIC_ITEMS: usize = 300;

#[test]
fn the_public_items_and_methods_are_those_of_the_list() {
    assert_public_items(Path::new(env!("CARGO_MANIFEST_DIR")), MAX_PUBLIC_ITEMS);
}
