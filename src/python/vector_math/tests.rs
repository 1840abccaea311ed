//! VectorMath against the C library, bit for bit, on every level that this machine has.
//!
//! `LANES_CASES` says how many random cases each test tries, `LANES_SEED` where to begin. A wide run:
//! `LANES_CASES=100000000 cargo test --release lanes -- --nocapture`.

use crate::python::vector_math::certainty::PUBLISHED;
use crate::python::vector_math::exponential::{Exp, Exp2};
use crate::python::vector_math::logarithm::Ln;
use crate::python::vector_math::power::{Power, PowerOfBase, ToPower};
use crate::python::vector_math::small_powers::{Cube, Fourth, Reciprocal, Root, Square};
use crate::python::vector_math::stretch::{Kernel, apply};
use crate::python::vector_math::*;
use crate::simd::{Level, has_fused_multiply_add};
use std::array::from_fn;
use std::hint::black_box;

/// One more than a stretch and a block, so that each batch ends in a part of one.
const BATCH: usize = 4096 + 65;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The level in use, and those below it that this machine has too: with narrower vectors, and without fused
/// multiply-add.
fn levels() -> Vec<Level> {
    let widest = Level::new();
    let mut levels = vec![widest];
    #[cfg(target_arch = "x86_64")]
    levels.extend(
        [widest.as_avx512().map(|_| widest.as_avx2().map(Level::Avx2)), Some(widest.as_sse2().map(Level::Sse2))]
            .into_iter()
            .flatten()
            .flatten(),
    );
    levels
}

/// Numbers that no one chose (Steele, Lea and Flood's SplitMix64).
struct Draws(u64);

impl Draws {
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
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn any(&mut self) -> f64 {
        f64::from_bits(self.bits())
    }

    fn integer(&mut self, low: i64, high: i64) -> f64 {
        (low + self.below((high - low + 1) as u64) as i64) as f64
    }

    /// Evenly over the orders of magnitude.
    fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.between(low, high))
    }

    /// 1 and a little more or less, down to the last bit.
    fn near_one(&mut self) -> f64 {
        let distance = 2f64.powf(self.between(-53.0, -3.0));
        if self.below(2) == 0 { 1.0 + distance } else { 1.0 - distance }
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
            // results of any size from bases close to 1
            0 => [self.near_one(), self.magnitude(0.0, 17.0)],
            // results of any size from any base
            1 => {
                let base = f64::from_bits(self.below(0x7ff << 52)).max(f64::MIN_POSITIVE);
                [base, self.between(-745.0, 710.0) / base.ln()]
            }
            _ => [self.base(), self.exponent()],
        }
    }

    /// An argument of `exp` or, `times` ln 2 smaller, of `exp2`.
    fn exponential(&mut self, times: f64) -> f64 {
        match self.below(8) {
            0 => self.any(),
            1 => self.integer(-1100, 1100),
            2 => self.magnitude(-20.0, 0.0),
            3 => -self.magnitude(-20.0, 0.0),
            4 => self.between(-1.0, 1.0),
            _ => self.between(-760.0, 760.0) * times,
        }
    }
}

fn cases() -> u64 {
    setting("LANES_CASES", 100_000)
}

/// Compares `kernel` with `library` on every level, `cases` times or a few more, and tells what was found.
fn compare<K: Kernel<N>, const N: usize>(
    name: &str,
    cases: u64,
    kernel: &K,
    library: impl Fn([f64; N]) -> f64,
    mut draw: impl FnMut(&mut Draws) -> [f64; N],
) {
    let seed = setting("LANES_SEED", 0x15f);
    let mut draws = Draws(name.bytes().fold(seed, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))));
    let levels = levels();
    let mut asked = vec![0; levels.len()];
    let mut tried = 0;
    let (mut inputs, mut wanted, mut got) = ([[0.0; BATCH]; N], [0.0; BATCH], [0.0; BATCH]);
    while tried < cases {
        for at in 0..BATCH {
            let arguments = draw(&mut draws);
            for n in 0..N {
                inputs[n][at] = arguments[n];
            }
            wanted[at] = library(arguments);
        }
        for (level, asked) in levels.iter().zip(&mut asked) {
            *asked += apply(*level, kernel, inputs.each_ref().map(|input| &input[..]), &mut got);
            for at in 0..BATCH {
                let arguments: [f64; N] = from_fn(|n| inputs[n][at]);
                let (got, wanted) = (got[at], wanted[at]);
                assert!(got.to_bits() == wanted.to_bits(), "{name}{arguments:?} on {level:?}: {got:e}, not {wanted:e}");
            }
        }
        tried += BATCH as u64;
    }
    for (level, asked) in levels.iter().zip(asked) {
        println!("{name} on {level:?}: {tried} alike, {:.2} % by the library", asked as f64 / tried as f64 * 100.0);
    }
}

fn powf([base, exponent]: [f64; 2]) -> f64 {
    black_box(base).powf(black_box(exponent))
}

#[test]
fn power_of_columns() {
    compare("pow", cases(), &Power, powf, Draws::power);
}

#[test]
fn power_of_columns_at_everyday_sizes() {
    let draw = |draws: &mut Draws| [draws.magnitude(-10.0, 10.0), draws.between(-10.0, 10.0)];
    compare("everyday pow", cases(), &Power, powf, draw);
}

#[test]
fn powers_of_two() {
    let draw = |draws: &mut Draws| [draws.between(-1100.0, 1100.0)];
    compare("2^y", cases(), &PowerOfBase::new(2.0), |[y]| powf([2.0, y]), draw);
}

#[test]
fn powers_of_two_at_everyday_sizes() {
    let draw = |draws: &mut Draws| [draws.between(-20.0, 20.0)];
    compare("everyday 2^y", cases(), &PowerOfBase::new(2.0), |[y]| powf([2.0, y]), draw);
}

#[test]
fn powers_of_other_numbers() {
    for base in [0.5, 10.0, 1.0, 1e-5, 1.0 + f64::EPSILON, 0.999, 1e300, 5e-324, 0.0, -0.0, -2.0, f64::NAN] {
        compare(
            &format!("{base:e}^y"),
            cases() / 12,
            &PowerOfBase::new(base),
            |[y]| powf([base, y]),
            |draws| [draws.exponent()],
        );
    }
}

#[test]
fn powers_to_one_number() {
    for exponent in [0.0, -0.0, 1.0, 1.5, -2.0, 5.0, 0.25, 1e-3, 100.0, 1e9, f64::INFINITY, f64::NAN] {
        compare(
            &format!("x^{exponent:e}"),
            cases() / 12,
            &ToPower::new(exponent),
            |[x]| powf([x, exponent]),
            |draws| [draws.base()],
        );
    }
}

#[test]
fn small_powers() {
    compare("x^2", cases(), &Square, |[x]| powf([x, 2.0]), |draws| [draws.base()]);
    compare("x^3", cases(), &Cube, |[x]| powf([x, 3.0]), |draws| [draws.base()]);
    compare("x^4", cases(), &Fourth, |[x]| powf([x, 4.0]), |draws| [draws.base()]);
    compare("x^0.5", cases(), &Root, |[x]| powf([x, 0.5]), |draws| [draws.base()]);
    compare("x^-1", cases(), &Reciprocal, |[x]| powf([x, -1.0]), |draws| [draws.base()]);
}

#[test]
fn exponentials() {
    compare("exp", cases(), &Exp, |[x]| black_box(x).exp(), |draws| [draws.exponential(1.0)]);
    compare("exp2", cases(), &Exp2, |[x]| black_box(x).exp2(), |draws| [draws.exponential(1.45)]);
}

#[test]
fn logarithms() {
    compare("ln", cases(), &Ln, |[x]| black_box(x).ln(), |draws| [draws.base()]);
}

/// Every pair of these: exact results, results in the middle of two doubles, and what is no ordinary number.
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
    let values: Vec<f64> = magnitudes.into_iter().chain([f64::NAN]).flat_map(|x| [x, -x]).collect();
    for level in levels() {
        let lanes = VectorMath { level };
        let mut got = vec![0.0; values.len()];
        let same = |name: &str, got: &[f64], wanted: &dyn Fn(f64) -> f64| {
            for (x, got) in values.iter().zip(got) {
                let wanted = wanted(black_box(*x));
                assert!(got.to_bits() == wanted.to_bits(), "{name} of {x:e} on {level:?}: {got:e}, not {wanted:e}");
            }
        };
        lanes.exp(&values, &mut got);
        same("exp", &got, &f64::exp);
        lanes.exp2(&values, &mut got);
        same("exp2", &got, &f64::exp2);
        lanes.ln(&values, &mut got);
        same("ln", &got, &f64::ln);
        for &other in &values {
            lanes.pow_scalar_base(other, &values, &mut got);
            same(&format!("{other:e} to the power"), &got, &|x| powf([other, x]));
            lanes.pow_scalar_exponent(&values, other, &mut got);
            same(&format!("power to {other:e}"), &got, &|x| powf([x, other]));
            lanes.pow(&values, &vec![other; values.len()], &mut got);
            same(&format!("power, column of {other:e},"), &got, &|x| powf([x, other]));
        }
    }
}

#[test]
fn slices_of_any_length() {
    let values: [f64; 1200] = from_fn(|at| 1.0 + at as f64 / 7.0);
    for level in levels() {
        let lanes = VectorMath { level };
        for length in (0..140).chain([511, 512, 513, 1024, 1100]) {
            let mut out = [-1.0; 1200];
            // the shortest slice decides, whichever it is
            match length % 3 {
                0 => lanes.pow(&values[..length], &values, &mut out),
                1 => lanes.pow(&values, &values[..length], &mut out),
                _ => lanes.pow(&values, &values, &mut out[..length]),
            }
            for (at, out) in out.iter().enumerate() {
                let wanted = if at < length { powf([values[at]; 2]) } else { -1.0 };
                assert_eq!(out.to_bits(), wanted.to_bits(), "lane {at} of {length} on {level:?}");
            }
        }
    }
}

/// Else every other test would hold though nothing were computed here.
#[test]
fn few_lanes_ask_the_library() {
    let mut draws = Draws(1);
    let x: Vec<f64> = (0..100_000).map(|_| draws.magnitude(-3.0, 6.0)).collect();
    let y: Vec<f64> = (0..100_000).map(|_| draws.between(-10.0, 10.0)).collect();
    let mut out = vec![0.0; 100_000];
    for level in levels().into_iter().filter(|level| PUBLISHED && has_fused_multiply_add(*level)) {
        let few = |name: &str, asked: usize| {
            println!("{name} on {level:?}: {:.2} % by the library", asked as f64 / 1e3);
            assert!(asked < 6_000, "{name} on {level:?}: {asked} of 100000");
        };
        few("pow", apply(level, &Power, [&x, &y], &mut out));
        few("2^y", apply(level, &PowerOfBase::new(2.0), [&y], &mut out));
        few("x^3", apply(level, &Cube, [&x], &mut out));
        few("x^0.5", apply(level, &Root, [&x], &mut out));
        few("exp", apply(level, &Exp, [&y], &mut out));
        few("exp2", apply(level, &Exp2, [&y], &mut out));
        few("ln", apply(level, &Ln, [&x], &mut out));
    }
}
