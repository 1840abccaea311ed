//! The constants of a formula as points of the unit cube.

use job_sort_formula::formula::syntax::TemplateConstant;

/// The values that a constant may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The value to begin with.
    pub start: f64,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
    /// Whether equal ratios are equally far apart; both ends are above 0.
    pub is_log: bool,
    /// Whether only integers are meant.
    pub is_int: bool,
}

/// The constants of a formula, and the cube in which they are searched.
///
/// If a formula is a sum in which each term has one constant as a factor, a common factor of all
/// constants does not change the order of the jobs. Then each ray from the origin is one point: the
/// farthest one within the ranges.
#[derive(Debug, Clone)]
pub struct Space {
    ranges: Vec<Range>,
    is_scale_free: bool,
}

impl Space {
    /// The space of these constants. `is_scale_free` says that a common factor does not change the
    /// order of the jobs; it is ignored where a constant is an integer, which has no multiples of
    /// every size.
    pub fn new(ranges: Vec<Range>, is_scale_free: bool) -> Self {
        let is_scale_free = is_scale_free && ranges.iter().all(|range| !range.is_int);
        Self {
            ranges,
            is_scale_free,
        }
    }

    /// The constants.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// The constants at a point of the cube.
    pub fn values(&self, point: &[f64]) -> Vec<f64> {
        let values = self
            .ranges
            .iter()
            .zip(point)
            .map(|(range, place)| range.value(*place))
            .collect();
        self.canonical(values)
    }

    /// The point of the cube at which the constants have these values.
    pub fn point(&self, values: &[f64]) -> Vec<f64> {
        let values = self.canonical(values.to_vec());
        self.ranges
            .iter()
            .zip(values)
            .map(|(range, value)| range.place(value))
            .collect()
    }

    /// The values to begin with.
    pub fn start(&self) -> Vec<f64> {
        self.ranges.iter().map(|range| range.start).collect()
    }

    /// How far values are from those to begin with, in parts of their ranges.
    pub fn distance_to_start(&self, values: &[f64]) -> f64 {
        let start = self.point(&self.start());
        let squares = self
            .point(values)
            .into_iter()
            .zip(start)
            .map(|(place, start)| (place - start).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// The same order of the jobs with constants that people compare with those to begin with: the
    /// first constant that may have its first value has it.
    pub fn rescaled_to_start(&self, values: &[f64]) -> Vec<f64> {
        if !self.is_scale_free {
            return values.to_vec();
        }
        let factors = self
            .ranges
            .iter()
            .zip(values)
            .map(|(range, value)| range.start / value);
        let rescaled = factors
            .filter(|factor| factor.is_finite() && *factor > 0.0)
            .map(|factor| scaled(values, factor));
        rescaled
            .into_iter()
            .find(|values| self.contains(values))
            .unwrap_or_else(|| values.to_vec())
    }

    /// The nearest values within the ranges.
    pub fn clamped(&self, values: &[f64]) -> Vec<f64> {
        self.ranges
            .iter()
            .zip(values)
            .map(|(range, value)| value.clamp(range.low, range.high))
            .collect()
    }

    fn contains(&self, values: &[f64]) -> bool {
        self.clamped(values) == values
    }

    /// The farthest point of the ray, if a common factor does not matter.
    fn canonical(&self, values: Vec<f64>) -> Vec<f64> {
        if !self.is_scale_free {
            return values;
        }
        let end = |(range, value): (&Range, &f64)| {
            if *value > 0.0 {
                range.high / value
            } else {
                range.low / value
            }
        };
        let is_moved = |(_, value): &(&Range, &f64)| **value != 0.0;
        let factor = self
            .ranges
            .iter()
            .zip(&values)
            .filter(is_moved)
            .map(end)
            .fold(f64::INFINITY, f64::min);
        if factor.is_finite() && factor > 0.0 {
            self.clamped(&scaled(&values, factor))
        } else {
            values
        }
    }
}

impl From<&TemplateConstant> for Range {
    fn from(constant: &TemplateConstant) -> Self {
        let &TemplateConstant {
            start,
            low,
            high,
            is_log,
            is_int,
            ..
        } = constant;
        Self {
            start,
            low,
            high,
            is_log,
            is_int,
        }
    }
}

impl Range {
    /// The value at a place, 0..=1.
    pub(crate) fn value(&self, place: f64) -> f64 {
        let value = match (self.is_log, self.is_int) {
            (true, _) => libm::exp(
                libm::log(self.low) + place * (libm::log(self.high) - libm::log(self.low)),
            ),
            // each integer has an equal part of the range
            (false, true) => self.low + (place * (self.high - self.low + 1.0)).floor(),
            (false, false) => self.low + place * (self.high - self.low),
        };
        let value = if self.is_int { value.round() } else { value };
        value.clamp(self.low, self.high)
    }

    /// The place of a value, 0..=1.
    fn place(&self, value: f64) -> f64 {
        let place = match (self.is_log, self.is_int) {
            (true, _) => {
                (libm::log(value) - libm::log(self.low))
                    / (libm::log(self.high) - libm::log(self.low))
            }
            (false, true) => (value - self.low + 0.5) / (self.high - self.low + 1.0),
            (false, false) => (value - self.low) / (self.high - self.low),
        };
        // a range of one value has one place
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHT: Range = Range {
        start: 100.0,
        low: 0.0,
        high: 500.0,
        is_log: false,
        is_int: false,
    };
    const AGE: Range = Range {
        start: 1.0,
        low: 0.0,
        high: 50.0,
        is_log: false,
        is_int: false,
    };
    const LOG: Range = Range {
        start: 1.0,
        low: 0.01,
        high: 100.0,
        is_log: true,
        is_int: false,
    };
    const INT: Range = Range {
        start: 3.0,
        low: 1.0,
        high: 4.0,
        is_log: false,
        is_int: true,
    };

    fn is_near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(one, other)| (one - other).abs() < 1e-9)
    }

    #[test]
    fn points_and_values_are_inverse() {
        let space = Space::new(vec![WEIGHT, LOG, INT], false);
        assert!(is_near(&space.values(&[0.2, 0.5, 0.6]), &[100.0, 1.0, 3.0]));
        assert!(is_near(
            &space.point(&[100.0, 1.0, 3.0]),
            &[0.2, 0.5, 0.625]
        ));
        assert_eq!(space.values(&[0.0; 3]), [0.0, 0.01, 1.0]);
        assert_eq!(space.values(&[1.0; 3]), [500.0, 100.0, 4.0]);
        assert_eq!(space.distance_to_start(&space.start()), 0.0);
    }

    #[test]
    fn a_common_factor_is_the_largest() {
        let space = Space::new(vec![WEIGHT, AGE], true);
        assert_eq!(space.values(&[0.2, 0.1]), [500.0, 25.0]);
        assert_eq!(space.values(&[0.0, 0.1]), [0.0, 50.0]);
        assert!(is_near(
            &space.point(&[10.0, 0.5]),
            &space.point(&[100.0, 5.0])
        ));
        assert_eq!(space.rescaled_to_start(&[500.0, 25.0]), [100.0, 5.0]);
        assert_eq!(space.rescaled_to_start(&[0.0, 50.0]), [0.0, 1.0]);
    }

    #[test]
    fn a_common_factor_matters_beside_integers() {
        assert_eq!(
            Space::new(vec![INT, INT], true).values(&[0.1, 0.6]),
            [1.0, 3.0]
        );
        let space = Space::new(vec![WEIGHT, AGE, LOG], true);
        assert!(is_near(
            &space.values(&[0.1, 0.1, 0.5]),
            &[500.0, 50.0, 10.0]
        ));
    }
}
