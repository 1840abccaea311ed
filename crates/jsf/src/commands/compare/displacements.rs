//! How many jobs gain or lose how many places.

use crate::view::charts::plot::{Axis, Bar, Marks, Plot};
use crate::view::charts::svg::step;
use crate::view::charts::{Figure, Kind};
use crate::view::document::ChartSvg;
use crate::view::words::{grouped, grouped_count};

/// The most bars on one side.
const MAX_BARS: f64 = 20.0;
/// The least number of bars for which there is room on one side, so that few are not as wide as the
/// page.
const MIN_BARS: f64 = 6.0;

/// How many jobs move how far. Each bar spans so many places; none contains 0, which is between two
/// of them.
pub(crate) struct Displacements {
    width: i64,
    /// The jobs that lose places, from those that lose most, then the jobs that gain some.
    bars: Vec<usize>,
}

impl Displacements {
    pub(crate) fn new(moves: &[i64]) -> Self {
        let largest = moves
            .iter()
            .map(|moved| moved.unsigned_abs())
            .max()
            .unwrap_or(0) as f64;
        let width = step(largest.max(1.0), MAX_BARS).max(1.0) as i64;
        let reach = ((largest / width as f64).ceil() as i64).max(1);
        let mut bars = vec![0usize; (2 * reach) as usize];
        for moved in moves.iter().filter(|moved| **moved != 0) {
            let bar = if *moved > 0 {
                (moved - 1) / width
            } else {
                (moved + 1) / width - 1
            };
            bars[(bar + reach) as usize] += 1;
        }
        Self { width, bars }
    }

    fn reach(&self) -> i64 {
        self.bars.len() as i64 / 2
    }

    /// The bars: the fewest and the most places that its jobs gain, negative if they lose some, and
    /// the number of jobs.
    pub(crate) fn bars(&self) -> impl Iterator<Item = (i64, i64, usize)> {
        self.bars
            .iter()
            .enumerate()
            .map(|(index, &count)| match index as i64 - self.reach() {
                bar @ 0.. => (bar * self.width + 1, (bar + 1) * self.width, count),
                bar => (bar * self.width, (bar + 1) * self.width - 1, count),
            })
    }

    pub(crate) fn draw(&self) -> ChartSvg {
        let bars = self
            .bars()
            .filter(|(.., jobs)| *jobs > 0)
            .map(|(low, high, jobs)| Bar {
                // the space between two bars belongs to none
                ends: if low > 0 {
                    [(low - 1) as f64, high as f64]
                } else {
                    [low as f64, (high + 1) as f64]
                },
                height: jobs as f64,
                class: if low > 0 { "up" } else { "down" },
                title: format!(
                    "{}: {}",
                    places_words(low, high),
                    grouped_count(jobs, "job")
                ),
            });
        let reach = (self.reach() as f64).max(MIN_BARS) * self.width as f64;
        let most = self.bars.iter().copied().max().unwrap_or(0).max(1) as f64;
        let x = Axis::whole(
            [-reach, reach],
            "places: lost on the left, won on the right",
        );
        let plot = Plot {
            x,
            y: Axis::whole([0.0, most], "jobs"),
            marks: Marks::Bars(bars.collect()),
        };
        Figure {
            name: "How many jobs gain or lose how many places".to_owned(),
            kind: Kind::Plot(plot),
        }
        .draw()
    }
}

/// `3 places up`, `11 to 20 places down`.
pub(crate) fn places_words(low: i64, high: i64) -> String {
    let [near, far] = if low > 0 { [low, high] } else { [-high, -low] };
    let span = if near == far {
        near.to_string()
    } else {
        format!("{near} to {far}")
    };
    let noun = if far == 1 { "place" } else { "places" };
    grouped(&format!(
        "{span} {noun} {}",
        if low > 0 { "up" } else { "down" }
    ))
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
            let displacements = Displacements::new(&moves);
            for (low, high, count) in displacements.bars() {
                assert!(low * high > 0 && low <= high, "{low} to {high}");
                assert_eq!(
                    count,
                    moves
                        .iter()
                        .filter(|moved| (low..=high).contains(*moved))
                        .count(),
                    "{low} to {high}"
                );
            }
            let counted: usize = displacements.bars().map(|(.., count)| count).sum();
            assert_eq!(counted, moves.iter().filter(|moved| **moved != 0).count());
            assert_eq!(
                displacements.draw().wide.matches("<rect").count(),
                displacements.bars().filter(|bar| bar.2 > 0).count()
            );
        }
        assert_eq!(
            (places_words(-20, -11), places_words(1, 1)),
            ("11 to 20 places down".into(), "1 place up".into())
        );
    }
}
