//! Wishes as conditions on the constants.
//!
//! A constant is here a coordinate from 0 to 1, its place in its range, so that constants of any size can be compared.

use job_sort_formula::formula::TemplateConstant;

use super::Wish;
use super::affine::{Affine, AffineValues};
use super::wished_queue::Dependence;

/// Coefficients that differ by less than this part of themselves are equal but for rounding.
const ROUNDING: f64 = 1e-13;

/// What a wish demands of the constants.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    /// Nothing: it is met by all.
    Met,
    /// It is met by none.
    Unmet,
    /// It is met inside of all these planes.
    Inside(Vec<Halfspace>),
}

/// `direction · point + offset > least`, where `direction` has the length 1: the left side is the distance from the plane.
#[derive(Debug, Clone)]
pub(super) struct Halfspace {
    pub(super) direction: Vec<f64>,
    pub(super) offset: f64,
    /// What two values must differ by so that the scheduler tells them apart.
    pub(super) least: f64,
    /// Whether the plane itself is outside: there both jobs have the same value.
    pub(super) is_strict: bool,
    /// How much the difference of the values grows with the distance.
    slope: f64,
}

impl Condition {
    /// The condition of a wish. A job that is wished above another one must also exceed the threshold.
    pub(super) fn new(
        wish: Wish,
        dependence: Dependence,
        values: &AffineValues,
        threshold: f64,
        constants: &[TemplateConstant],
    ) -> Self {
        let (above, below) = (values.row(wish.above), values.row(wish.below));
        let order = match dependence {
            Dependence::Fixed(true) => Self::Met,
            Dependence::Fixed(false) => Self::Unmet,
            Dependence::Greater => Self::difference(above, below, true, constants),
            Dependence::AtLeast => Self::difference(above, below, false, constants),
        };
        let limit = Affine { free: threshold, coefficients: vec![0.0; constants.len()] };
        order.and(Self::difference(above, &limit, true, constants))
    }

    /// The condition that a value is greater than another one, or at least as great.
    fn difference(greater: &Affine, less: &Affine, is_strict: bool, constants: &[TemplateConstant]) -> Self {
        let mut offset = greater.free - less.free;
        let mut direction = Vec::with_capacity(constants.len());
        for (constant, (left, right)) in constants.iter().zip(greater.coefficients.iter().zip(&less.coefficients)) {
            let is_equal = (left - right).abs() <= ROUNDING * left.abs().max(right.abs());
            let difference = if is_equal { 0.0 } else { left - right };
            offset += difference * constant.low;
            direction.push(difference * (constant.high - constant.low));
        }
        let least = offset + direction.iter().map(|part| part.min(0.0)).sum::<f64>();
        let greatest = offset + direction.iter().map(|part| part.max(0.0)).sum::<f64>();
        let slope = direction.iter().map(|part| part * part).sum::<f64>().sqrt();
        match is_strict {
            true if greatest <= 0.0 => return Self::Unmet,
            false if greatest < 0.0 => return Self::Unmet,
            // far from where it is not
            _ if slope == 0.0 || least > slope => return Self::Met,
            _ => {}
        }
        direction.iter_mut().for_each(|part| *part /= slope);
        Self::Inside(vec![Halfspace { direction, offset: offset / slope, least: 0.0, is_strict, slope }])
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unmet, _) | (_, Self::Unmet) => Self::Unmet,
            (Self::Met, condition) | (condition, Self::Met) => condition,
            (Self::Inside(one), Self::Inside(other)) => Self::Inside([one, other].concat()),
        }
    }

    /// The planes inside of which it is met.
    pub(super) fn halfspaces(&self) -> &[Halfspace] {
        match self {
            Self::Inside(halfspaces) => halfspaces,
            _ => &[],
        }
    }
}

impl Halfspace {
    /// The distance from the plane on which the wish just holds; negative on the wrong side.
    pub(super) fn margin(&self, point: &[f64]) -> f64 {
        let along: f64 = self.direction.iter().zip(point).map(|(part, place)| part * place).sum();
        along + self.offset - self.least
    }

    /// Demands a difference of the values of at least this.
    pub(super) fn demand(&mut self, difference: f64) {
        if self.is_strict {
            self.least = difference / self.slope;
        }
    }
}
