//! Nelder and Mead's search for a minimum without derivatives, in the unit cube.
//!
//! The steps depend on the number of coordinates, as F. Gao and L. Han propose: "Implementing the Nelder-Mead simplex algorithm
//! with adaptive parameters", Computational Optimization and Applications 51, 2012.

/// The size of a simplex at which the search ends.
const SMALLEST: f64 = 1e-7;

/// Searches from a point with steps of this size. `evaluate` returns `None` to end the search.
pub(super) fn search(start: &[f64], step: f64, evaluate: &mut dyn FnMut(&[f64]) -> Option<f64>) -> Option<()> {
    let axes = start.len();
    let (contract, shrink) = (0.75 - 0.5 / axes as f64, 1.0 - 1.0 / (axes.max(2)) as f64);
    let expand = 1.0 + 2.0 / axes as f64;
    let mut simplex: Vec<(f64, Vec<f64>)> = Vec::with_capacity(axes + 1);
    for corner in 0..=axes {
        let mut point = start.to_vec();
        if let Some(place) = corner.checked_sub(1).map(|axis| &mut point[axis]) {
            *place += if *place + step <= 1.0 { step } else { -step };
        }
        simplex.push((evaluate(&point)?, point));
    }
    loop {
        simplex.sort_by(|left, right| left.0.total_cmp(&right.0));
        if size(&simplex) < SMALLEST {
            return Some(());
        }
        let (worst, _) = simplex[axes];
        let (second_worst, _) = simplex[axes.saturating_sub(1)];
        let (best, _) = simplex[0];
        let reflected = moved(&simplex, 1.0);
        let loss = evaluate(&reflected)?;
        let replacement = if loss < best {
            let expanded = moved(&simplex, expand);
            let farther = evaluate(&expanded)?;
            Some(if farther < loss { (farther, expanded) } else { (loss, reflected) })
        } else if loss < second_worst {
            Some((loss, reflected))
        } else {
            let contracted = moved(&simplex, if loss < worst { contract } else { -contract });
            let nearer = evaluate(&contracted)?;
            (nearer < loss.min(worst)).then_some((nearer, contracted))
        };
        match replacement {
            Some(replacement) => simplex[axes] = replacement,
            None => {
                let (_, best) = simplex[0].clone();
                for (loss, point) in &mut simplex[1..] {
                    point
                        .iter_mut()
                        .zip(&best)
                        .for_each(|(place, best)| *place = best + shrink * 0.75 * (*place - best));
                    *loss = evaluate(point)?;
                }
            }
        }
    }
}

/// The worst point moved through the center of the others: 1 reflects it.
fn moved(simplex: &[(f64, Vec<f64>)], factor: f64) -> Vec<f64> {
    let Some(((_, worst), others)) = simplex.split_last() else { return Vec::new() };
    let center = |axis: usize| others.iter().map(|(_, point)| point[axis]).sum::<f64>() / others.len() as f64;
    let places = worst.iter().enumerate().map(|(axis, place)| (center(axis), place));
    places.map(|(center, place)| (center + factor * (center - place)).clamp(0.0, 1.0)).collect()
}

/// The largest distance of a corner from the first one along an axis.
fn size(simplex: &[(f64, Vec<f64>)]) -> f64 {
    let Some(((_, first), others)) = simplex.split_first() else { return 0.0 };
    let distances =
        others.iter().flat_map(|(_, point)| point.iter().zip(first).map(|(one, other)| (one - other).abs()));
    distances.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimum(axes: usize, loss: impl Fn(&[f64]) -> f64) -> (f64, usize) {
        let (mut least, mut evaluations) = (f64::INFINITY, 0);
        search(&vec![0.2; axes], 0.2, &mut |point| {
            evaluations += 1;
            least = least.min(loss(point));
            (evaluations < 5000).then(|| loss(point))
        });
        (least, evaluations)
    }

    #[test]
    fn the_minima_of_usual_functions_are_found() {
        for axes in 1..=5 {
            let (least, evaluations) =
                minimum(axes, |point| point.iter().map(|place| (place - 0.7).powi(2)).sum::<f64>());
            assert!(least < 1e-10, "{axes} axes: {least} after {evaluations}");
        }
        let rosenbrock = |point: &[f64]| {
            let [x, y] = [point[0] * 4.0 - 2.0, point[1] * 4.0 - 2.0];
            100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2)
        };
        assert!(minimum(2, rosenbrock).0 < 1e-8);
        assert!(minimum(1, |point| (point[0] - 1.0).abs()).0 < 1e-6, "at the end of the range");
    }
}
