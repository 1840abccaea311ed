//! Polynomials of doubles, as trees (Estrin's scheme): their chain of steps is half as long as Horner's.

/// `c[0] + c[1] x + … + c[3] x³`.
#[inline(always)]
fn four(x: f64, square: f64, c: [f64; 4]) -> f64 {
    square.mul_add(x.mul_add(c[3], c[2]), x.mul_add(c[1], c[0]))
}

/// `c[0] + c[1] x + … + c[5] x⁵`.
#[inline(always)]
pub(super) fn six(x: f64, [c0, c1, c2, c3, c4, c5]: [f64; 6]) -> f64 {
    let square = x * x;
    (square * square).mul_add(x.mul_add(c5, c4), four(x, square, [c0, c1, c2, c3]))
}

/// `c[0] + c[1] x + … + c[7] x⁷`.
#[inline(always)]
pub(super) fn eight(x: f64, [c0, c1, c2, c3, c4, c5, c6, c7]: [f64; 8]) -> f64 {
    let square = x * x;
    (square * square).mul_add(four(x, square, [c4, c5, c6, c7]), four(x, square, [c0, c1, c2, c3]))
}

/// `c[0] + c[1] x + … + c[8] x⁸`.
#[inline(always)]
pub(super) fn nine(x: f64, [c0, c1, c2, c3, c4, c5, c6, c7, c8]: [f64; 9]) -> f64 {
    let square = x * x;
    let fourth = square * square;
    let upper = fourth.mul_add(c8, four(x, square, [c4, c5, c6, c7]));
    fourth.mul_add(upper, four(x, square, [c0, c1, c2, c3]))
}
