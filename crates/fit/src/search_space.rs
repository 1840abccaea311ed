//! The constants of a template as points of the unit cube, in which they are searched. In some templates a
//! common factor of all constants multiplies the values, and their order stays: these have no scale.

use std::collections::HashSet;

use job_sort_formula::formula::syntax::{ExprId, ExprKind};
use job_sort_formula::formula::{Template, TemplateConstant};
use job_sort_formula::python::{BinaryOperator, UnaryOperator};
use jsf_site::Site;

/// The constants of a formula, and the cube in which they are searched.
///
/// If a formula is a sum in which each term has one constant as a factor, a common factor of all
/// constants does not change the order of the jobs. Then each ray from the origin is one point: the
/// farthest one within the ranges.
#[derive(Debug, Clone)]
pub struct Space {
    constants: Vec<TemplateConstant>,
    is_scale_free: bool,
}

impl Space {
    /// The space of these constants. `is_scale_free` says that a common factor does not change the
    /// order of the jobs; it is ignored where a constant is an integer, which has no multiples of
    /// every size.
    pub fn new(constants: Vec<TemplateConstant>, is_scale_free: bool) -> Self {
        let is_scale_free = is_scale_free && constants.iter().all(|constant| !constant.is_int);
        Self {
            constants,
            is_scale_free,
        }
    }

    /// The constants.
    pub fn constants(&self) -> &[TemplateConstant] {
        &self.constants
    }

    /// The constants at a point of the cube.
    pub fn values(&self, point: &[f64]) -> Vec<f64> {
        let mut values = Vec::new();
        for (constant, place) in self.constants.iter().zip(point) {
            values.push(value_at(constant, *place));
        }
        self.canonical(values)
    }

    /// The point of the cube at which the constants have these values.
    pub fn point(&self, values: &[f64]) -> Vec<f64> {
        let mut places = self.canonical(values.to_vec());
        for (constant, place) in self.constants.iter().zip(&mut places) {
            *place = place_of(constant, *place);
        }
        places
    }

    /// The values to begin with.
    pub fn start(&self) -> Vec<f64> {
        let constants = self.constants.iter();
        constants.map(|constant| constant.start).collect()
    }

    /// How far values are from those to begin with, in parts of their ranges.
    pub fn distance_to_start(&self, values: &[f64]) -> f64 {
        let start = self.point(&self.start());
        let mut sum = 0.0;
        for (place, start) in self.point(values).iter().zip(start) {
            sum += (place - start).powi(2);
        }
        sum.sqrt()
    }

    /// The same order of the jobs with constants that people compare with those to begin with: the
    /// first constant that may have its first value has it.
    pub fn rescaled_to_start(&self, values: &[f64]) -> Vec<f64> {
        if !self.is_scale_free {
            return values.to_vec();
        }
        for (range, value) in self.constants.iter().zip(values) {
            let factor = range.start / value;
            let rescaled = scaled(values, factor);
            // a factor below 0 would reverse the order
            if factor.is_finite() && factor > 0.0 && self.clamped(&rescaled) == rescaled {
                return rescaled;
            }
        }
        values.to_vec()
    }

    /// The nearest values within the ranges.
    pub fn clamped(&self, values: &[f64]) -> Vec<f64> {
        let mut clamped = values.to_vec();
        for (range, value) in self.constants.iter().zip(&mut clamped) {
            *value = value.clamp(range.low, range.high);
        }
        clamped
    }

    /// The farthest point of the ray, if a common factor does not matter.
    fn canonical(&self, values: Vec<f64>) -> Vec<f64> {
        if !self.is_scale_free {
            return values;
        }
        let mut factor = f64::INFINITY;
        for (range, &value) in self.constants.iter().zip(&values) {
            if value > 0.0 {
                factor = factor.min(range.high / value);
            } else if value < 0.0 {
                factor = factor.min(range.low / value);
            }
        }
        if factor.is_finite() && factor > 0.0 {
            // the rounding of the product may carry the largest value out of its range
            self.clamped(&scaled(&values, factor))
        } else {
            values
        }
    }
}

/// The value of a constant at a place of its range, 0..=1.
pub fn value_at(constant: &TemplateConstant, place: f64) -> f64 {
    let &TemplateConstant {
        low, high, is_int, ..
    } = constant;
    // libm's functions, so that equal seeds give equal constants on every platform
    let value = match (constant.is_log, is_int) {
        (true, _) => libm::exp(libm::log(low) + place * (libm::log(high) - libm::log(low))),
        // each integer has an equal part of the range
        (false, true) => low + (place * (high - low + 1.0)).floor(),
        (false, false) => low + place * (high - low),
    };
    let value = if is_int { value.round() } else { value };
    // place 1 gives an integer above `high`, and an exponential may be rounded beyond it
    value.clamp(low, high)
}

/// The place of a value in the range of a constant, 0..=1.
fn place_of(constant: &TemplateConstant, value: f64) -> f64 {
    let &TemplateConstant { low, high, .. } = constant;
    let place = match (constant.is_log, constant.is_int) {
        (true, _) => (libm::log(value) - libm::log(low)) / (libm::log(high) - libm::log(low)),
        // the middle of the part of the range that is the integer's
        (false, true) => (value - low + 0.5) / (high - low + 1.0),
        (false, false) => (value - low) / (high - low),
    };
    // a range of one value has one place
    if place.is_finite() {
        place.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

/// How the value of a part of a formula depends on a common factor of all constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scaling {
    /// It is 0, whatever the factor is.
    Zero,
    /// It does not depend on it.
    Fixed,
    /// It is multiplied by it.
    Scaled,
    /// It depends on it in another way.
    Other,
}

/// Whether a common factor of all constants of a template does not change the order of the jobs of
/// a site: it multiplies the value of every job, as far as the tree shows it, and there is no
/// threshold.
pub fn is_scale_free(template: &Template, site: &Site) -> bool {
    site.threshold().is_none() && multiplies_values(template)
}

fn multiplies_values(template: &Template) -> bool {
    let expr = template.expr();
    let mut constants = HashSet::new();
    for constant in template.constants() {
        constants.insert(&*constant.name);
    }
    let mut scalings: Vec<Scaling> = Vec::new();
    for (_, node) in expr.iter() {
        let scaling = match &node.kind {
            ExprKind::Name(name) if constants.contains(&**name) => Scaling::Scaled,
            kind => scaling(kind, &scalings),
        };
        scalings.push(scaling);
    }
    scalings.last() == Some(&Scaling::Scaled)
}

/// The scaling of a node that is no constant; those of its children are known.
fn scaling(kind: &ExprKind, of_nodes: &[Scaling]) -> Scaling {
    let of = |id: ExprId| of_nodes[id.index()];
    match kind {
        ExprKind::Parenthesized(inner) => of(*inner),
        ExprKind::Unary {
            op: UnaryOperator::Plus | UnaryOperator::Minus,
            operand,
        } => of(*operand),
        ExprKind::Binary {
            op: BinaryOperator::Add | BinaryOperator::Subtract,
            left,
            right,
        } => either(of(*left), of(*right)),
        ExprKind::Binary {
            op: BinaryOperator::Multiply,
            left,
            right,
        } => match (of(*left), of(*right)) {
            (Scaling::Fixed, factor) | (factor, Scaling::Fixed) => factor,
            (Scaling::Zero, Scaling::Zero) => Scaling::Zero,
            _ => Scaling::Other,
        },
        ExprKind::Binary {
            op: BinaryOperator::Divide,
            left,
            right,
        } if of(*right) == Scaling::Fixed => of(*left),
        ExprKind::Conditional {
            then,
            condition,
            otherwise,
        } if of(*condition) == Scaling::Fixed => either(of(*then), of(*otherwise)),
        kind if kind
            .children()
            .iter()
            .all(|child| matches!(of(*child), Scaling::Fixed | Scaling::Zero)) =>
        {
            if is_zero(kind) {
                Scaling::Zero
            } else {
                Scaling::Fixed
            }
        }
        _ => Scaling::Other,
    }
}

/// The scaling of a sum, or of one of two parts.
fn either(one: Scaling, other: Scaling) -> Scaling {
    match (one, other) {
        (Scaling::Zero, scaling) | (scaling, Scaling::Zero) => scaling,
        (one, other) if one == other => one,
        _ => Scaling::Other,
    }
}

fn is_zero(kind: &ExprKind) -> bool {
    // `0x0` does not parse, and counts as any other number
    matches!(kind, ExprKind::Literal { text, .. } if text.parse() == Ok(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The space of some constants, which are written as in a template.
    fn space(constants: &[&str], is_scale_free: bool) -> Space {
        let named = constants.iter().enumerate();
        let text: Vec<String> = named
            .map(|(index, range)| format!("{{c{index}={range}}}"))
            .collect();
        let template = Template::parse(&text.join("+")).expect("a template");
        Space::new(template.constants().to_vec(), is_scale_free)
    }

    const WEIGHT: &str = "100:0..500";
    const AGE: &str = "1:0..50";
    const LOG: &str = "1:0.01..100:log";
    const INT: &str = "3:1..4:int";

    fn is_near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(one, other)| (one - other).abs() < 1e-9)
    }

    #[test]
    fn points_and_values_are_inverse() {
        let space = space(&[WEIGHT, LOG, INT], false);
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
        let space = space(&[WEIGHT, AGE], true);
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
        assert_eq!(space(&[INT, INT], true).values(&[0.1, 0.6]), [1.0, 3.0]);
        let space = space(&[WEIGHT, AGE, LOG], true);
        assert!(is_near(
            &space.values(&[0.1, 0.1, 0.5]),
            &[500.0, 50.0, 10.0]
        ));
    }

    #[test]
    fn sums_of_products_with_one_constant_each_have_no_scale() {
        for (text, expected) in [
            ("{a=1:0..9}*ncpus + {b=1:0..9}*eligible_time/3600", true),
            ("-({a=1:0..9}*ncpus) - ncpus*{b=1:0..9}/2", true),
            ("{a=1:0..9}*ncpus if ncpus > 4 else 0", true),
            ("{a=1:0..9}*ncpus + eligible_time", false),
            ("{a=1:0..9}*ncpus*{b=1:0..9}", false),
            ("ncpus**{a=1:0..9}", false),
            ("ncpus/{a=1:1..9}", false),
            ("{a=1:0..9}*ncpus if ncpus > {b=1:0..9} else 0", false),
            ("{a=1:0..9}*ncpus + {b=1:0..9}*sqrt(eligible_time)", true),
            ("sqrt({a=1:0..9}*ncpus)", false),
        ] {
            let template = Template::parse(text).unwrap();
            assert_eq!(multiplies_values(&template), expected, "{text}");
        }
    }
}
