//! Columns of powers, exponentials and logarithms against the C library called lane by lane.
//!
//! `cargo bench --bench lanes`
//!
//! Columns of 4,096 doubles, which stay in the cache. The library is called with arguments hidden
//! from the compiler, which else puts other functions for a base of 2 and a small exponent.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use job_sort_formula::python::vector_math::VectorMath;

const LENGTH: usize = 4096;

/// Evenly between two ends, in an order that no branch predictor learns at once (SplitMix64).
fn column(seed: u64, low: f64, high: f64) -> Vec<f64> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..LENGTH).map(|_| low + (high - low) * draw()).collect()
}

fn pair(
    criterion: &mut Criterion,
    name: &str,
    lanes: impl Fn(&mut [f64]),
    library: impl Fn(usize) -> f64,
) {
    let mut out = vec![0.0; LENGTH];
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(LENGTH as u64));
    group.bench_function("lanes", |bencher| {
        bencher.iter(|| lanes(black_box(&mut out)))
    });
    group.bench_function("library", |bencher| {
        bencher.iter(|| {
            for (at, out) in out.iter_mut().enumerate() {
                *out = library(at);
            }
            black_box(&mut out);
        })
    });
    group.finish();
}

fn lanes_and_library(criterion: &mut Criterion) {
    let lanes = VectorMath::new();
    let x = column(1, 0.0, 1000.0);
    let y = column(2, -10.0, 10.0);
    let power = |base: f64, exponent: f64| black_box(base).powf(black_box(exponent));
    pair(
        criterion,
        "2^y",
        |out| lanes.pow_scalar_base(2.0, &y, out),
        |at| power(2.0, y[at]),
    );
    pair(
        criterion,
        "x^y",
        |out| lanes.pow(&x, &y, out),
        |at| power(x[at], y[at]),
    );
    pair(
        criterion,
        "x^1.7",
        |out| lanes.pow_scalar_exponent(&x, 1.7, out),
        |at| power(x[at], 1.7),
    );
    pair(
        criterion,
        "x^3",
        |out| lanes.pow_scalar_exponent(&x, 3.0, out),
        |at| power(x[at], 3.0),
    );
    pair(
        criterion,
        "x^0.5",
        |out| lanes.pow_scalar_exponent(&x, 0.5, out),
        |at| power(x[at], 0.5),
    );
    pair(
        criterion,
        "x^-1",
        |out| lanes.pow_scalar_exponent(&x, -1.0, out),
        |at| power(x[at], -1.0),
    );
    pair(criterion, "exp", |out| lanes.exp(&y, out), |at| y[at].exp());
    pair(criterion, "ln", |out| lanes.ln(&x, out), |at| x[at].ln());
}

criterion_group!(benches, lanes_and_library);
criterion_main!(benches);
