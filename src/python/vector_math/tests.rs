//! The vector functions against the C library, bit for bit, at every SIMD level of this machine.
//!
//! `LANES_CASES` sets the number of random cases of each test, `LANES_SEED` the seed. A wide run:
//! `LANES_CASES=100000000 cargo test --release vector_math -- --nocapture`.

use crate::python::MAX_EXACT_FLOAT;
use crate::python::vector_math::{
    Cube, Exp, HAS_PUBLISHED_BOUNDS, Kernel, Ln, Power, PowerOfBase, Square, ToPower, apply, *,
};
use crate::simd::{Level, has_fused_multiply_add};
use std::array::from_fn;
use std::hint::black_box;

/// Not a multiple of a block, so that the last block is partial.
const BATCH: usize = 4096 + 65;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// The level in use, and the lower levels of this machine: with narrower vectors, and without fused
/// multiply-add.
fn levels() -> Vec<Level> {
    let widest = Level::new();
    let mut levels = vec![widest];
    #[cfg(target_arch = "x86_64")]
    levels.extend(
        [
            widest
                .as_avx512()
                .map(|_| widest.as_avx2().map(Level::Avx2)),
            Some(widest.as_sse2().map(Level::Sse2)),
        ]
        .into_iter()
        .flatten()
        .flatten(),
    );
    levels
}

/// Random numbers: SplitMix64 (Steele, Lea and Flood).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.bits() % count
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / MAX_EXACT_FLOAT)
    }

    fn any(&mut self) -> f64 {
        f64::from_bits(self.bits())
    }

    fn integer(&mut self, low: i64, high: i64) -> f64 {
        (low + self.below((high - low + 1) as u64) as i64) as f64
    }

    /// Uniform in the decimal logarithm.
    fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.between(low, high))
    }

    /// Close to 1, down to a difference in the last bit.
    fn near_one(&mut self) -> f64 {
        let distance = 2f64.powf(self.between(-53.0, -3.0));
        if self.below(2) == 0 {
            1.0 + distance
        } else {
            1.0 - distance
        }
    }

    fn base(&mut self) -> f64 {
        match self.below(8) {
            0 => self.any(),
            1 => self.near_one(),
            2 => self.integer(-20, 1000),
            3 => f64::from_bits(self.below(1 << 53)),
            _ => self.magnitude(-10.0, 10.0),
        }
    }

    fn exponent(&mut self) -> f64 {
        match self.below(8) {
            0 => self.any(),
            1 => self.integer(-40, 40),
            2 => self.integer(-40, 40) / 4.0,
            3 => self.magnitude(-20.0, 0.0),
            _ => self.between(-10.0, 10.0),
        }
    }

    fn power(&mut self) -> [f64; 2] {
        match self.below(8) {
            // results of any magnitude from bases close to 1
            0 => [self.near_one(), self.magnitude(0.0, 17.0)],
            // results of any magnitude from any base
            1 => {
                let base = f64::from_bits(self.below(0x7ff << 52)).max(f64::MIN_POSITIVE);
                [base, self.between(-745.0, 710.0) / base.ln()]
            }
            _ => [self.base(), self.exponent()],
        }
    }

    /// An argument of `exp`.
    fn exponential(&mut self) -> f64 {
        match self.below(8) {
            0 => self.any(),
            1 => self.integer(-1100, 1100),
            2 => self.magnitude(-20.0, 0.0),
            3 => -self.magnitude(-20.0, 0.0),
            4 => self.between(-1.0, 1.0),
            _ => self.between(-760.0, 760.0),
        }
    }
}

fn cases() -> u64 {
    setting("LANES_CASES", 100_000)
}

/// Compares `kernel` with `library` at every level, for at least `cases` cases, and prints the
/// counts.
fn compare<K: Kernel<N>, const N: usize>(
    name: &str,
    cases: u64,
    kernel: &K,
    library: impl Fn([f64; N]) -> f64,
    mut draw: impl FnMut(&mut Random) -> [f64; N],
) {
    let seed = setting("LANES_SEED", 0x15f);
    let mut random = Random(name.bytes().fold(seed, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(u64::from(byte))
    }));
    let levels = levels();
    let mut by_library = vec![0; levels.len()];
    let mut tried = 0;
    let mut inputs = [[0.0; BATCH]; N];
    let mut wanted = [0.0; BATCH];
    let mut got = [0.0; BATCH];
    while tried < cases {
        for at in 0..BATCH {
            let arguments = draw(&mut random);
            for n in 0..N {
                inputs[n][at] = arguments[n];
            }
            wanted[at] = library(arguments);
        }
        for (level, by_library) in levels.iter().zip(&mut by_library) {
            *by_library += apply(
                *level,
                kernel,
                inputs.each_ref().map(|input| &input[..]),
                &mut got,
            );
            for at in 0..BATCH {
                let arguments: [f64; N] = from_fn(|n| inputs[n][at]);
                let got = got[at];
                let wanted = wanted[at];
                assert!(
                    got.to_bits() == wanted.to_bits(),
                    "{name}{arguments:?} on {level:?}: {got:e}, not {wanted:e}"
                );
            }
        }
        tried += BATCH as u64;
    }
    for (level, by_library) in levels.iter().zip(by_library) {
        println!(
            "{name} on {level:?}: {tried} alike, {:.2} % by the library",
            by_library as f64 / tried as f64 * 100.0
        );
    }
}

fn powf([base, exponent]: [f64; 2]) -> f64 {
    black_box(base).powf(black_box(exponent))
}

#[test]
fn power_of_columns() {
    compare("pow", cases(), &Power, powf, Random::power);
}

#[test]
fn power_of_columns_of_ordinary_size() {
    compare("ordinary pow", cases(), &Power, powf, |random| {
        [random.magnitude(-10.0, 10.0), random.between(-10.0, 10.0)]
    });
}

#[test]
fn powers_of_two() {
    compare(
        "2^y",
        cases(),
        &PowerOfBase::new(2.0),
        |[y]| powf([2.0, y]),
        |random| [random.between(-1100.0, 1100.0)],
    );
}

#[test]
fn powers_of_two_of_ordinary_size() {
    compare(
        "ordinary 2^y",
        cases(),
        &PowerOfBase::new(2.0),
        |[y]| powf([2.0, y]),
        |random| [random.between(-20.0, 20.0)],
    );
}

#[test]
fn powers_of_other_numbers() {
    for base in [
        0.5,
        10.0,
        1.0,
        1e-5,
        1.0 + f64::EPSILON,
        0.999,
        1e300,
        5e-324,
        0.0,
        -0.0,
        -2.0,
        f64::NAN,
    ] {
        compare(
            &format!("{base:e}^y"),
            cases() / 12,
            &PowerOfBase::new(base),
            |[y]| powf([base, y]),
            |random| [random.exponent()],
        );
    }
}

#[test]
fn powers_to_one_number() {
    for exponent in [
        0.0,
        -0.0,
        1.0,
        1.5,
        -2.0,
        5.0,
        0.25,
        1e-3,
        100.0,
        1e9,
        f64::INFINITY,
        f64::NAN,
    ] {
        compare(
            &format!("x^{exponent:e}"),
            cases() / 12,
            &ToPower { exponent },
            |[x]| powf([x, exponent]),
            |random| [random.base()],
        );
    }
}

#[test]
fn small_powers() {
    compare(
        "x^2",
        cases(),
        &Square,
        |[x]| powf([x, 2.0]),
        |random| [random.base()],
    );
    compare(
        "x^3",
        cases(),
        &Cube,
        |[x]| powf([x, 3.0]),
        |random| [random.base()],
    );
}

#[test]
fn exponentials() {
    compare(
        "exp",
        cases(),
        &Exp,
        |[x]| black_box(x).exp(),
        |random| [random.exponential()],
    );
}

#[test]
fn logarithms() {
    compare(
        "ln",
        cases(),
        &Ln,
        |[x]| black_box(x).ln(),
        |random| [random.base()],
    );
}

/// Every pair of these: exact results, midpoints between two doubles, and special values.
#[test]
fn chosen_values() {
    let magnitudes = [
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        1e-300,
        1e-17,
        0.25,
        0.5,
        1.0 - f64::EPSILON / 2.0,
        1.0,
        1.0 + f64::EPSILON,
        1.5,
        2.0,
        3.0,
        4.0,
        5.0,
        9.0,
        10.0,
        34.0,
        53.0,
        94_906_267.0,
        134_217_729.0,
        708.0,
        709.782_712_893_384,
        710.0,
        745.2,
        1022.0,
        1023.5,
        1024.0,
        1074.0,
        9_007_199_254_740_993.0,
        1e17,
        1e154,
        1e300,
        f64::MAX,
        f64::INFINITY,
    ];
    let values: Vec<f64> = magnitudes
        .into_iter()
        .chain([f64::NAN])
        .flat_map(|x| [x, -x])
        .collect();
    for level in levels() {
        let math = VectorMath { level };
        let mut got = vec![0.0; values.len()];
        math.exp(&values, &mut got);
        assert_same(&format!("exp on {level:?}"), &values, &got, f64::exp);
        math.ln(&values, &mut got);
        assert_same(&format!("ln on {level:?}"), &values, &got, f64::ln);
        for &other in &values {
            math.pow_scalar_base(other, &values, &mut got);
            assert_same(
                &format!("{other:e} to the power on {level:?}"),
                &values,
                &got,
                |x| powf([other, x]),
            );
            math.pow_scalar_exponent(&values, other, &mut got);
            assert_same(
                &format!("power to {other:e} on {level:?}"),
                &values,
                &got,
                |x| powf([x, other]),
            );
            math.pow(&values, &vec![other; values.len()], &mut got);
            assert_same(
                &format!("power, column of {other:e}, on {level:?}"),
                &values,
                &got,
                |x| powf([x, other]),
            );
        }
    }
}

fn assert_same(name: &str, values: &[f64], got: &[f64], wanted: impl Fn(f64) -> f64) {
    for (x, got) in values.iter().zip(got) {
        let wanted = wanted(black_box(*x));
        assert!(
            got.to_bits() == wanted.to_bits(),
            "{name}: for {x:e}: {got:e}, not {wanted:e}"
        );
    }
}

#[test]
fn slices_of_any_length() {
    let values: [f64; 1200] = from_fn(|at| 1.0 + at as f64 / 7.0);
    for level in levels() {
        let math = VectorMath { level };
        for length in (0..140).chain([511, 512, 513, 1024, 1100]) {
            let mut out = [-1.0; 1200];
            // The shortest slice decides, whichever it is.
            match length % 3 {
                0 => math.pow(&values[..length], &values, &mut out),
                1 => math.pow(&values, &values[..length], &mut out),
                _ => math.pow(&values, &values, &mut out[..length]),
            }
            for (at, out) in out.iter().enumerate() {
                let wanted = if at < length {
                    powf([values[at]; 2])
                } else {
                    -1.0
                };
                assert_eq!(
                    out.to_bits(),
                    wanted.to_bits(),
                    "row {at} of {length} on {level:?}"
                );
            }
        }
    }
}

/// Without this, the other tests would pass if the library computed every row.
#[test]
fn few_rows_call_the_library() {
    let mut random = Random(1);
    let x: Vec<f64> = (0..100_000).map(|_| random.magnitude(-3.0, 6.0)).collect();
    let y: Vec<f64> = (0..100_000).map(|_| random.between(-10.0, 10.0)).collect();
    let mut out = vec![0.0; 100_000];
    for level in levels()
        .into_iter()
        .filter(|level| HAS_PUBLISHED_BOUNDS && has_fused_multiply_add(*level))
    {
        for (name, by_library) in [
            ("pow", apply(level, &Power, [&x, &y], &mut out)),
            ("2^y", apply(level, &PowerOfBase::new(2.0), [&y], &mut out)),
            ("x^3", apply(level, &Cube, [&x], &mut out)),
            ("exp", apply(level, &Exp, [&y], &mut out)),
            ("ln", apply(level, &Ln, [&x], &mut out)),
        ] {
            println!(
                "{name} on {level:?}: {:.2} % by the library",
                by_library as f64 / 1e3
            );
            assert!(
                by_library < 6_000,
                "{name} on {level:?}: {by_library} of 100000"
            );
        }
    }
}
