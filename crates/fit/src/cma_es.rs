//! The evolution strategy with covariance matrix adaptation, with restarts by a population twice as
//! large, over the points of the unit cube.
//!
//! The strategy only compares scores, so that they may be of any ordered type: here, goals come before
//! an objective. The crate `cmaes` takes numbers alone. Points outside the cube are reflected at its
//! faces.
//!
//! Sources: N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016; A. Auger, N. Hansen, "A
//! Restart CMA Evolution Strategy With Increasing Population Size", 2005.

use std::ops::ControlFlow;

use jsf_simulate::Random;

/// A function that evaluates the points of a generation in their order, so that it may do so in
/// parallel, or ends the search.
type Evaluate<'a, S, E> = dyn FnMut(&[Vec<f64>]) -> ControlFlow<E, Vec<S>> + 'a;

/// The standard deviation of the first points of a search of the whole cube, in parts of it.
pub const FIRST_SIGMA: f64 = 0.3;
/// Beyond this ratio of its longest to its shortest axis, squared, a distribution has degenerated.
// the bound of the tutorial's termination criteria
const MAX_CONDITION: f64 = 1e14;
/// The sweeps after which a symmetric matrix is diagonal.
const SWEEPS: usize = 30;

/// How to search. Equal seeds give equal points, whatever the number of threads.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The most points.
    pub evaluations: usize,
    /// A run ends when its points differ by less than this part of the cube.
    pub tolerance: f64,
    /// Another seed gives other points.
    pub seed: u64,
    /// The standard deviation of the first points, in parts of the cube.
    pub sigma: f64,
}

/// Searches from a point of the cube on. Each run after the first begins at a random point.
pub fn search<S: Ord + Clone, E>(
    start: &[f64],
    settings: &Settings,
    evaluate: &mut Evaluate<'_, S, E>,
) -> ControlFlow<E> {
    let dimensions = start.len();
    let mut random = Random(settings.seed);
    // the tutorial's default; libm's logarithm, so that equal seeds give equal points on every
    // platform
    let mut population = 4 + (3.0 * libm::log(dimensions as f64)) as usize;
    let mut left = settings.evaluations;
    let mut mean = start.to_vec();
    while left > 0 {
        let mut run = Run::new(mean, population, settings.sigma);
        while left > 0 && !run.has_converged(settings.tolerance) {
            left = left.saturating_sub(run.advance(left, &mut random, evaluate)?);
        }
        // the factor of Auger and Hansen: a larger population searches more globally
        population *= 2;
        mean = (0..dimensions).map(|_| random.uniform()).collect();
    }
    ControlFlow::Continue(())
}

/// The constants of a run, which depend on the number of coordinates and the size of the
/// population.
struct Strategy {
    /// Of the best half of the population, from the best one on; they add up to 1.
    weights: Vec<f64>,
    /// The number of points that an equally weighted mean would have for the same variance.
    effective: f64,
    sigma_rate: f64,
    sigma_damping: f64,
    path_rate: f64,
    rank_one_rate: f64,
    rank_mu_rate: f64,
    /// The expected length of a normally distributed vector.
    expected_length: f64,
}

impl Strategy {
    fn new(dimensions: usize, population: usize) -> Self {
        let n = dimensions as f64;
        let parents = population / 2;
        let middle = libm::log((population as f64 + 1.0) / 2.0);
        let mut weights = Vec::new();
        for place in 1..=parents {
            // of the better half alone: the weights below 0 that the tutorial gives to the worse
            // one are left out
            weights.push(middle - libm::log(place as f64));
        }
        let sum: f64 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= sum;
        }
        let effective = 1.0 / dot(&weights, &weights);
        let sigma_rate = (effective + 2.0) / (n + effective + 5.0);
        let rank_one_rate = 2.0 / ((n + 1.3).powi(2) + effective);
        let rank_mu_rate =
            2.0 * (effective - 2.0 + 1.0 / effective) / ((n + 2.0).powi(2) + effective);
        Self {
            weights,
            effective,
            sigma_rate,
            sigma_damping: 1.0
                + sigma_rate
                + 2.0 * (((effective - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0),
            path_rate: (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n),
            rank_one_rate,
            // so that the part of the old covariance that is kept is not negative
            rank_mu_rate: rank_mu_rate.min(1.0 - rank_one_rate),
            expected_length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

/// The distribution of the points of a run.
struct Run<S> {
    strategy: Strategy,
    population: usize,
    mean: Vec<f64>,
    sigma: f64,
    sigma_path: Vec<f64>,
    path: Vec<f64>,
    covariance: Matrix,
    /// The axes of the covariance, as columns, and the standard deviations along them.
    axes: Matrix,
    deviations: Vec<f64>,
    generations: usize,
    best: Option<S>,
    since_improved: usize,
    is_flat: bool,
}

type Matrix = Vec<Vec<f64>>;

impl<S: Ord + Clone> Run<S> {
    fn new(mean: Vec<f64>, population: usize, sigma: f64) -> Self {
        let dimensions = mean.len();
        Self {
            strategy: Strategy::new(dimensions, population),
            population,
            mean,
            sigma,
            sigma_path: vec![0.0; dimensions],
            path: vec![0.0; dimensions],
            covariance: identity(dimensions),
            axes: identity(dimensions),
            deviations: vec![1.0; dimensions],
            generations: 0,
            best: None,
            since_improved: 0,
            is_flat: false,
        }
    }

    /// Whether further points of this run would show nothing new.
    fn has_converged(&self, tolerance: f64) -> bool {
        let (mut shortest, mut longest) = (f64::INFINITY, 0.0_f64);
        for &deviation in &self.deviations {
            shortest = shortest.min(deviation);
            longest = longest.max(deviation);
        }
        let patience = 20 + 30 * self.mean.len() / self.population;
        self.is_flat
            || self.sigma * longest < tolerance
            || self.since_improved > patience
            // the deviations are the roots of the variances, whose ratio is bounded
            || (longest / shortest).powi(2) > MAX_CONDITION
    }

    /// Evaluates a generation of at most `most` points, and moves the distribution to its best
    /// ones. Returns their number.
    fn advance<E>(
        &mut self,
        most: usize,
        random: &mut Random,
        evaluate: &mut Evaluate<'_, S, E>,
    ) -> ControlFlow<E, usize> {
        let count = self.population.min(most);
        let mut steps = Vec::new();
        let mut points = Vec::new();
        for _ in 0..count {
            let mut step = self.step(random);
            if self.generations == 0 && steps.is_empty() {
                // so that the point to begin with is one of them
                step.fill(0.0);
            }
            points.push(self.point(&step));
            steps.push(step);
        }
        let scores = evaluate(&points)?;
        let mut scored: Vec<(S, Vec<f64>)> = scores.into_iter().zip(steps).collect();
        scored.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.note_best(&scored);
        // an incomplete generation moves nothing: the weights are those of a whole one
        if count == self.population {
            self.adapt(&scored);
        }
        ControlFlow::Continue(count)
    }

    /// A random step from the mean, in units of sigma.
    fn step(&self, random: &mut Random) -> Vec<f64> {
        let mut along = self.deviations.clone();
        for deviation in &mut along {
            *deviation *= random.normal();
        }
        product(&self.axes, &along)
    }

    fn point(&self, step: &[f64]) -> Vec<f64> {
        let mut point = self.mean.clone();
        for (place, step) in point.iter_mut().zip(step) {
            // only the place that is evaluated is reflected: the steps stay normally distributed
            *place = reflected(*place + self.sigma * step);
        }
        point
    }

    /// Keeps the best score of a generation, whose best step is the first.
    fn note_best(&mut self, scored: &[(S, Vec<f64>)]) {
        let [Some((first, _)), Some((last, _))] = [scored.first(), scored.last()] else {
            return;
        };
        // equal scores show no direction in which to move
        self.is_flat = scored.len() > 1 && first == last;
        match &self.best {
            Some(best) if first >= best => self.since_improved += 1,
            _ => {
                self.best = Some(first.clone());
                self.since_improved = 0;
            }
        }
    }

    /// Moves the distribution to the steps of a generation, the best one first.
    fn adapt(&mut self, scored: &[(S, Vec<f64>)]) {
        let Strategy {
            effective,
            sigma_rate,
            sigma_damping,
            path_rate,
            rank_one_rate,
            rank_mu_rate,
            ..
        } = self.strategy;
        let dimensions = self.mean.len();
        let mut mean_step = vec![0.0; dimensions];
        for (weight, (_, step)) in self.strategy.weights.iter().zip(scored) {
            for (sum, step) in mean_step.iter_mut().zip(step) {
                *sum += weight * step;
            }
        }
        for (mean, step) in self.mean.iter_mut().zip(&mean_step) {
            *mean += self.sigma * step;
        }
        self.generations += 1;

        // the step without the covariance (`C^(-1/2)` in the tutorial), so that its length can be
        // compared with the expected one
        let mut along = vec![0.0; dimensions];
        for (row, step) in self.axes.iter().zip(&mean_step) {
            for (sum, place) in along.iter_mut().zip(row) {
                *sum += place * step;
            }
        }
        for (step, deviation) in along.iter_mut().zip(&self.deviations) {
            // never by 0: a run with such an axis has converged, because of `MAX_CONDITION`
            *step /= deviation;
        }
        let whitened = product(&self.axes, &along);
        let gain = (sigma_rate * (2.0 - sigma_rate) * effective).sqrt();
        follow(&mut self.sigma_path, sigma_rate, gain, &whitened);
        let length = dot(&self.sigma_path, &self.sigma_path).sqrt();
        let ratio = length / self.strategy.expected_length;
        // corrects for the path's beginning at 0, which keeps it short in the first generations
        let start_up = (1.0 - libm::pow(1.0 - sigma_rate, 2.0 * self.generations as f64)).sqrt();
        // the tutorial's `h_sigma`: a longer path shows that sigma is too small, for which the axes
        // are not to make up
        let is_short = ratio / start_up < 1.4 + 2.0 / (dimensions as f64 + 1.0);
        let gain = if is_short {
            (path_rate * (2.0 - path_rate) * effective).sqrt()
        } else {
            0.0
        };
        follow(&mut self.path, path_rate, gain, &mean_step);
        self.sigma *= libm::exp((ratio - 1.0) * sigma_rate / sigma_damping);

        // the tutorial's `delta`: the variance that a path without its step lacks
        let lost = if is_short {
            0.0
        } else {
            rank_one_rate * path_rate * (2.0 - path_rate)
        };
        let kept = 1.0 - rank_one_rate - rank_mu_rate + lost;
        for row in 0..dimensions {
            for column in 0..=row {
                let mut weighted_sum = 0.0;
                for (weight, (_, step)) in self.strategy.weights.iter().zip(scored) {
                    weighted_sum += weight * step[row] * step[column];
                }
                let value = kept * self.covariance[row][column]
                    + rank_one_rate * self.path[row] * self.path[column]
                    + rank_mu_rate * weighted_sum;
                self.covariance[row][column] = value;
                self.covariance[column][row] = value;
            }
        }
        // in each generation: a template has at most 20 constants
        (self.deviations, self.axes) = eigen(self.covariance.clone());
        for variance in &mut self.deviations {
            // rounding can make the least variance negative
            *variance = variance.max(0.0).sqrt();
        }
    }
}

/// A place on the line, reflected at 0 and 1 until it lies between them.
fn reflected(place: f64) -> f64 {
    let place = place.rem_euclid(2.0);
    if place > 1.0 { 2.0 - place } else { place }
}

/// Lets a path decay, and adds a step to it.
fn follow(path: &mut [f64], rate: f64, gain: f64, step: &[f64]) {
    for (path, step) in path.iter_mut().zip(step) {
        *path = (1.0 - rate) * *path + gain * step;
    }
}

fn identity(dimensions: usize) -> Matrix {
    let mut identity = vec![vec![0.0; dimensions]; dimensions];
    for (index, row) in identity.iter_mut().enumerate() {
        row[index] = 1.0;
    }
    identity
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (one, other) in left.iter().zip(right) {
        sum += one * other;
    }
    sum
}

fn product(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, vector)).collect()
}

/// The eigenvalues of a symmetric matrix, and its eigenvectors as columns, by Jacobi's rotations.
fn eigen(mut matrix: Matrix) -> (Vec<f64>, Matrix) {
    let dimensions = matrix.len();
    let mut vectors = identity(dimensions);
    for _ in 0..SWEEPS {
        let mut is_diagonal = true;
        for row in 0..dimensions {
            for column in row + 1..dimensions {
                // relative to the diagonal, since variances may differ by up to `MAX_CONDITION`
                let scale = (matrix[row][row] * matrix[column][column]).abs().sqrt();
                if matrix[row][column].abs() > f64::EPSILON * scale {
                    is_diagonal = false;
                    rotate(&mut matrix, &mut vectors, row, column);
                }
            }
        }
        if is_diagonal {
            break;
        }
    }
    (
        (0..dimensions).map(|index| matrix[index][index]).collect(),
        vectors,
    )
}

/// Makes an element of a symmetric matrix 0.
fn rotate(matrix: &mut Matrix, vectors: &mut Matrix, row: usize, column: usize) {
    let theta = (matrix[column][column] - matrix[row][row]) / (2.0 * matrix[row][column]);
    // the smaller of the two roots, a rotation by at most 45 degrees, for which the sweeps converge
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    let turned = |one: f64, other: f64| (cosine * one - sine * other, sine * one + cosine * other);
    // the columns of both matrices; the rows of the first one follow
    for line in matrix.iter_mut().chain(vectors) {
        (line[row], line[column]) = turned(line[row], line[column]);
    }
    let (above, below) = matrix.split_at_mut(column);
    for (one, other) in above[row].iter_mut().zip(&mut below[0]) {
        (*one, *other) = turned(*one, *other);
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Number(f64);

    impl Eq for Number {}

    impl PartialOrd for Number {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for Number {
        fn cmp(&self, other: &Self) -> Ordering {
            self.0.total_cmp(&other.0)
        }
    }

    /// The least value that is found, and the number of points.
    fn least(
        function: fn(&[f64]) -> f64,
        dimensions: usize,
        evaluations: usize,
        seed: u64,
    ) -> (f64, usize) {
        let mut least = f64::INFINITY;
        let mut count = 0;
        let mut evaluate = |points: &[Vec<f64>]| {
            let values: Vec<f64> = points.iter().map(|point| function(point)).collect();
            assert!(
                points
                    .iter()
                    .flatten()
                    .all(|place| (0.0..=1.0).contains(place))
            );
            least = values.iter().copied().fold(least, f64::min);
            count += points.len();
            ControlFlow::<(), _>::Continue(values.into_iter().map(Number).collect())
        };
        let settings = Settings {
            evaluations,
            tolerance: 1e-12,
            seed,
            sigma: FIRST_SIGMA,
        };
        let ended = search(&vec![0.9; dimensions], &settings, &mut evaluate);
        assert!(ended.is_continue());
        (least, count)
    }

    fn sphere(point: &[f64]) -> f64 {
        point.iter().map(|place| (place - 0.3).powi(2)).sum()
    }

    fn ellipsoid(point: &[f64]) -> f64 {
        let last = (point.len() - 1) as f64;
        let terms = point.iter().zip(0_i32..);
        terms
            .map(|(place, index)| libm::pow(1e6, f64::from(index) / last) * (place - 0.3).powi(2))
            .sum()
    }

    /// Between -2 and 2; the least value is at 1.
    fn rosenbrock(point: &[f64]) -> f64 {
        let moved: Vec<f64> = point.iter().map(|place| 4.0 * place - 2.0).collect();
        moved
            .windows(2)
            .map(|pair| 100.0 * (pair[1] - pair[0].powi(2)).powi(2) + (1.0 - pair[0]).powi(2))
            .sum()
    }

    /// Between -5 and 5, with the least value a little beside the middle.
    fn rastrigin(point: &[f64]) -> f64 {
        let moved = point.iter().map(|place| 10.0 * (place - 0.45));
        moved
            .map(|x| 10.0 + x * x - 10.0 * libm::cos(std::f64::consts::TAU * x))
            .sum()
    }

    #[test]
    fn the_least_value_of_the_usual_functions_is_found() {
        for seed in 1..=5 {
            assert!(
                least(sphere, 5, 1500, seed).0 < 1e-12,
                "sphere, seed {seed}"
            );
            assert!(
                least(ellipsoid, 5, 8000, seed).0 < 1e-10,
                "ellipsoid, seed {seed}"
            );
            assert!(
                least(rosenbrock, 4, 8000, seed).0 < 1e-10,
                "Rosenbrock, seed {seed}"
            );
            // has a thousand local minima: restarts find the global one
            assert!(
                least(rastrigin, 3, 24_000, seed).0 < 1e-10,
                "Rastrigin, seed {seed}"
            );
        }
    }

    #[test]
    fn no_more_points_are_evaluated_than_allowed() {
        for evaluations in [0, 1, 5, 100] {
            assert_eq!(least(sphere, 3, evaluations, 1).1, evaluations);
        }
        // all scores are equal: each run ends, and the search does too
        assert_eq!(least(|_| 1.0, 3, 500, 1).1, 500);
        assert_eq!(least(sphere, 1, 300, 1).1, 300);
    }

    #[test]
    fn the_first_point_is_the_one_to_begin_with_and_a_search_can_end_there() {
        let mut first = Vec::new();
        let mut evaluate = |points: &[Vec<f64>]| {
            first = points[0].clone();
            ControlFlow::<&str, Vec<Number>>::Break("enough")
        };
        let settings = Settings {
            evaluations: 10,
            tolerance: 1e-3,
            seed: 1,
            sigma: FIRST_SIGMA,
        };
        assert_eq!(
            search(&[0.25, 0.5], &settings, &mut evaluate),
            ControlFlow::Break("enough")
        );
        assert_eq!(first, [0.25, 0.5]);
    }

    #[test]
    fn axes_and_variances_are_those_of_the_matrix() {
        let matrix = vec![
            vec![4.0, 1.0, 0.5],
            vec![1.0, 3.0, -1.0],
            vec![0.5, -1.0, 2.0],
        ];
        let (values, vectors) = eigen(matrix.clone());
        for (column, value) in values.iter().enumerate() {
            let vector: Vec<f64> = vectors.iter().map(|row| row[column]).collect();
            let found = product(&matrix, &vector);
            assert!(
                found
                    .iter()
                    .zip(&vector)
                    .all(|(found, place)| (found - value * place).abs() < 1e-12)
            );
        }
    }
}
