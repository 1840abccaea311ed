//! A polynomial of doubles.

/// `c[0] + c[1] x + c[2] x² + …`, even and odd powers apart: a chain half as long as Horner's for one product more.
#[inline(always)]
pub(super) fn polynomial<const N: usize>(x: f64, c: &[f64; N]) -> f64 {
    let square = x * x;
    let mut sums = [0.0; 2];
    for (i, c) in c.iter().enumerate().rev() {
        // the leading two are taken as they are: times zero would be a product too many
        let sum = &mut sums[i % 2];
        *sum = if i + 2 < N { square.mul_add(*sum, *c) } else { *c };
    }
    x.mul_add(sums[1], sums[0])
}
