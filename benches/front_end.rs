//! How long it takes to parse a formula, and to compile it.
//!
//! `cargo bench --bench front_end`
//!
//! The formulas are those of three sites, one as long as a formula may be, and one with a keyword
//! argument. `benches/peers/compile.py` holds the same work against CPython's `compile`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use job_sort_formula::formula::syntax::MAX_LENGTH;
use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Schema};

const PP718: &str = include_str!("../examples/formulas/pp718.txt");
const ALCF: &str = include_str!("../examples/formulas/alcf.txt");
const QUT: &str = include_str!("../examples/formulas/qut.txt");
const KEYWORD: &str = "max(eligible_time, walltime, key=abs) / 3600 + 1000 * fairshare_factor";

/// The sum of so many copies of a formula as fit.
fn longest(of: &str) -> String {
    vec![of; MAX_LENGTH / (of.len() + " + ".len())].join(" + ")
}

/// The names of OpenPBS, and those that the sites added.
fn schema() -> Schema {
    let mut schema = Schema::openpbs();
    for name in Formula::parse(ALCF.trim()).expect("a formula").names() {
        // OpenPBS defines some of them
        let _ = schema.add(name, InputType::Float);
    }
    schema.add("ngpus", InputType::Count).expect("a name");
    schema
}

fn front_end(criterion: &mut Criterion) {
    let schema = schema();
    let long = longest(QUT.trim());
    for (name, text) in [
        ("pp718", PP718.trim()),
        ("alcf", ALCF.trim()),
        ("qut", QUT.trim()),
        ("64 KiB", &long),
        ("keyword", KEYWORD),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("parse", |bencher| {
            bencher.iter(|| Formula::parse(black_box(text)))
        });
        let formula = Formula::parse(text).expect("a formula");
        group.bench_function("compile", |bencher| {
            bencher.iter(|| black_box(&formula).compile(&schema))
        });
        group.finish();
    }
}

criterion_group!(benches, front_end);
criterion_main!(benches);
