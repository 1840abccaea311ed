//! How many jobs gain or lose how many places.

use std::collections::BTreeMap;

use crate::view::charts::svg::step;
use crate::view::words::{grouped_count, grouped_number};

/// The most bars on one side.
const MAX_BARS: f64 = 20.0;

/// The jobs that move so many places, in the same direction.
pub(crate) struct Displacement {
    /// The fewest places.
    near: u64,
    /// The most places.
    far: u64,
    is_up: bool,
    pub(crate) jobs: usize,
}

impl Displacement {
    /// `3 places up`, `11 to 20 places down`.
    pub(crate) fn words(&self) -> String {
        let way = if self.is_up { "up" } else { "down" };
        let places = grouped_count(self.far as usize, "place");
        if self.near == self.far {
            format!("{places} {way}")
        } else {
            format!("{} to {places} {way}", grouped_number(self.near))
        }
    }
}

/// The jobs that move, from those that lose most to those that gain most.
pub(crate) fn displacements(moves: &[i64]) -> Vec<Displacement> {
    let largest = moves.iter().map(|moved| moved.unsigned_abs()).max();
    let width = step(largest.unwrap_or(0).max(1) as f64, MAX_BARS).max(1.0) as u64;
    let mut bars: BTreeMap<i64, usize> = BTreeMap::new();
    for moved in moves.iter().filter(|moved| **moved != 0) {
        let bar = moved.unsigned_abs().div_ceil(width) as i64 * moved.signum();
        *bars.entry(bar).or_default() += 1;
    }
    let mut displacements = Vec::new();
    for (bar, jobs) in bars {
        let far = bar.unsigned_abs() * width;
        displacements.push(Displacement {
            near: far - width + 1,
            far,
            is_up: bar > 0,
            jobs,
        });
    }
    displacements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_that_moves_is_counted_in_one_bar() {
        for moves in [
            vec![0],
            vec![-1, 0, 1],
            vec![-33, 40, 7, 7, 0],
            (-500..500).collect::<Vec<i64>>(),
        ] {
            let bars = displacements(&moves);
            for bar in &bars {
                let is_inside = |moved: &&i64| {
                    (**moved > 0) == bar.is_up
                        && (bar.near..=bar.far).contains(&moved.unsigned_abs())
                };
                assert!(bar.near > 0 && bar.near <= bar.far, "{}", bar.words());
                assert_eq!(
                    bar.jobs,
                    moves.iter().filter(is_inside).count(),
                    "{}",
                    bar.words()
                );
            }
            let counted: usize = bars.iter().map(|bar| bar.jobs).sum();
            assert_eq!(counted, moves.iter().filter(|moved| **moved != 0).count());
        }
    }
}
