//! The Sobol sequence: points that fill the unit cube evenly, however many of them there are.
//!
//! A seed moves all points by one digital shift, which keeps them as even.
//!
//! Source: S. Joe, F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", 2008; the direction numbers
//! are the first of their file `new-joe-kuo-6.21201`.

use std::ops::ControlFlow;

use jsf_simulate::Random;

use super::Evaluate;

/// The bits of a coordinate.
const BITS: usize = 32;
/// The points that are evaluated at once.
const BATCH: usize = 32;
/// Of each coordinate after the first: the coefficients of its primitive polynomial without the first and the last one, and the
/// initial direction numbers, of which there are as many as its degree.
const DIRECTIONS: [(u32, &[u32]); 9] = [
    (0, &[1]),
    (1, &[1, 3]),
    (1, &[1, 3, 1]),
    (2, &[1, 1, 1]),
    (1, &[1, 1, 3, 3]),
    (4, &[1, 3, 5, 13]),
    (2, &[1, 1, 5, 5, 17]),
    (4, &[1, 1, 5, 5, 5]),
    (7, &[1, 1, 7, 11, 19]),
];
/// The most coordinates.
pub const MAX_DIMENSIONS: usize = DIRECTIONS.len() + 1;

/// Evaluates so many points of a cube with at most [`MAX_DIMENSIONS`] coordinates.
pub fn search<S, E>(
    dimensions: usize,
    evaluations: usize,
    seed: u64,
    evaluate: &mut Evaluate<'_, S, E>,
) -> ControlFlow<E> {
    let mut points = Points::new(dimensions, seed);
    let mut left = evaluations;
    while left > 0 {
        let batch: Vec<Vec<f64>> = points.by_ref().take(left.min(BATCH)).collect();
        left -= batch.len();
        evaluate(&batch)?;
    }
    ControlFlow::Continue(())
}

/// The points of the sequence, without end.
#[derive(Debug, Clone)]
pub struct Points {
    directions: Vec<[u32; BITS]>,
    shifts: Vec<u32>,
    state: Vec<u32>,
    index: u32,
}

impl Points {
    /// The points that a seed gives in a cube with at most [`MAX_DIMENSIONS`] coordinates.
    pub fn new(dimensions: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let shifts = (0..dimensions).map(|_| random.next() as u32).collect();
        Self::shifted(shifts)
    }

    fn shifted(shifts: Vec<u32>) -> Self {
        let directions = (0..shifts.len()).map(directions).collect();
        Self { directions, state: vec![0; shifts.len()], shifts, index: 0 }
    }
}

impl Iterator for Points {
    type Item = Vec<f64>;

    /// The next point, by the bit in which two neighbours of the Gray code differ.
    fn next(&mut self) -> Option<Vec<f64>> {
        let moved = self.state.iter().zip(&self.shifts).map(|(state, shift)| state ^ shift);
        let point = moved.map(|bits| f64::from(bits) / (1_u64 << BITS) as f64).collect();
        let bit = self.index.trailing_ones() as usize % BITS;
        for (state, directions) in self.state.iter_mut().zip(&self.directions) {
            *state ^= directions[bit];
        }
        self.index = self.index.wrapping_add(1);
        Some(point)
    }
}

fn directions(dimension: usize) -> [u32; BITS] {
    let mut directions = [0; BITS];
    let Some(&(coefficients, initial)) = dimension.checked_sub(1).and_then(|index| DIRECTIONS.get(index)) else {
        (0..BITS).for_each(|bit| directions[bit] = 1 << (BITS - 1 - bit));
        return directions;
    };
    let degree = initial.len();
    for bit in 0..BITS {
        directions[bit] = match initial.get(bit) {
            Some(number) => number << (BITS - 1 - bit),
            None => {
                let before = directions[bit - degree];
                let own = (1..degree).filter(|term| coefficients >> (degree - 1 - term) & 1 == 1);
                own.fold(before ^ (before >> degree), |sum, term| sum ^ directions[bit - term])
            }
        };
    }
    directions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_points_are_those_that_are_published() {
        let expected = [
            [0.0, 0.0, 0.0],
            [0.5, 0.5, 0.5],
            [0.75, 0.25, 0.25],
            [0.25, 0.75, 0.75],
            [0.375, 0.375, 0.625],
            [0.875, 0.875, 0.125],
            [0.625, 0.125, 0.875],
            [0.125, 0.625, 0.375],
            [0.1875, 0.3125, 0.9375],
            [0.6875, 0.8125, 0.4375],
        ];
        let found: Vec<Vec<f64>> = Points::shifted(vec![0; 3]).take(10).collect();
        assert_eq!(found, expected);
    }

    /// Of the first `2^n` points, each of `2^n` equal parts of every coordinate has one, whatever the shift is.
    #[test]
    fn every_coordinate_is_filled_evenly() {
        for seed in 0..4 {
            let points: Vec<Vec<f64>> = Points::new(MAX_DIMENSIONS, seed).take(256).collect();
            for dimension in 0..MAX_DIMENSIONS {
                let mut parts: Vec<usize> = points.iter().map(|point| (point[dimension] * 256.0) as usize).collect();
                parts.sort_unstable();
                assert!(parts.iter().copied().eq(0..256), "seed {seed}, coordinate {dimension}");
            }
        }
    }

    /// Of the first 256 points of the first two coordinates, each of 16 times 16 equal squares has one.
    #[test]
    fn a_square_is_filled_evenly() {
        let cell = |point: Vec<f64>| (point[0] * 16.0) as usize * 16 + (point[1] * 16.0) as usize;
        let mut cells: Vec<usize> = Points::new(2, 7).take(256).map(cell).collect();
        cells.sort_unstable();
        assert!(cells.into_iter().eq(0..256));
    }
}
