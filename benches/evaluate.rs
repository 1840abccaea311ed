//! The two executors: row by row against columns, and what jobs with an error cost.
//!
//! `cargo bench --bench evaluate`
//!
//! 65,536 jobs on one thread. `failing` puts an error into one job of a hundred: a division by
//! zero, a logarithm of zero. The columns leave such jobs to the executor of rows, whose time is
//! counted here as it is in `rank::score`, and so the powers of `large integers`, which are beyond
//! 2^53.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use job_sort_formula::Program;
use job_sort_formula::formula::program::{ColumnarExecutor, LANES};
use job_sort_formula::jobs::Column;
use job_sort_formula::python::{Python, Value};
use queues::{ALCF, Draws, PP718};

const QUT: &str = include_str!("../examples/formulas/qut.txt");
const JOBS: usize = 65_536;

/// The same inputs twice, as each executor takes them.
struct Queue {
    rows: Vec<Value>,
    columns: Vec<Column>,
}

impl Queue {
    /// `broken` is the name that gets a zero in one job of a hundred.
    fn new(program: &Program, broken: Option<&str>) -> Self {
        let names = program.inputs();
        let (mut draws, mut rows) = (Draws(1), Vec::with_capacity(JOBS * names.len()));
        for _ in 0..JOBS {
            let breaks = draws.below(100) == 0;
            for name in names {
                let drawn = queues::input(name, &mut draws);
                let value = if breaks && broken == Some(&**name) {
                    Value::Float(0.0)
                } else {
                    drawn
                };
                rows.push(value);
            }
        }
        let columns = (0..names.len()).map(|index| {
            let values = rows.iter().skip(index).step_by(names.len());
            values.cloned().map(Ok).collect()
        });
        let columns = columns.collect();
        Self { rows, columns }
    }

    /// How many jobs have a value.
    fn by_rows(&self, program: &Program) -> usize {
        let mut evaluator = program.interpreter(Python::new());
        let rows = self.rows.chunks(program.inputs().len());
        rows.filter(|row| black_box(evaluator.evaluate(row)).is_ok())
            .count()
    }

    fn by_columns(&self, program: &Program) -> usize {
        let (mut executor, mut evaluator) = (
            ColumnarExecutor::default(),
            program.interpreter(Python::new()),
        );
        let (mut row, mut values) = (Vec::new(), 0);
        for start in (0..JOBS).step_by(LANES) {
            let input = |slot: usize| Some(self.columns.get(slot)?.view(start, LANES));
            let outcome = black_box(executor.evaluate(program, &input, LANES));
            values += LANES;
            for lane in outcome.fallback_lanes() {
                row.clear();
                row.extend(self.columns.iter().map(|column| column.value(start + lane)));
                values -= usize::from(black_box(evaluator.evaluate(&row)).is_err());
            }
        }
        values
    }
}

fn executors(criterion: &mut Criterion) {
    // without its guard, QUT's logarithm fails where there is nothing left to a user
    let unguarded = QUT.replace("max(fairshare_factor, 1e-7)", "fairshare_factor");
    for (name, text, broken) in [
        ("pp718", PP718, None),
        ("alcf", ALCF, None),
        ("qut", QUT, None),
        ("large integers", "eligible_time**4/walltime**3*ncpus", None),
        ("pp718 failing", PP718, Some("fairshare_perc")),
        ("alcf failing", ALCF, Some("total_cpus")),
        ("qut failing", &unguarded, Some("fairshare_factor")),
    ] {
        let program = queues::compile(text);
        let queue = Queue::new(&program, broken);
        assert_eq!(queue.by_rows(&program), queue.by_columns(&program));
        assert_eq!(broken.is_some(), queue.by_rows(&program) < JOBS);
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(JOBS as u64));
        group.bench_function("rows", |bencher| bencher.iter(|| queue.by_rows(&program)));
        group.bench_function("columns", |bencher| {
            bencher.iter(|| queue.by_columns(&program))
        });
        group.finish();
    }
}

criterion_group!(benches, executors);
criterion_main!(benches);
