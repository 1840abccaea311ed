//! Powers on lanes.

use crate::formula::program::columnar::loops::Arm;
use crate::formula::program::columnar::vector::{Kind, Kinds, Lent, Operand, Vector};
use crate::formula::program::columnar::{Columnar, loops};
use crate::python::MAX_EXACT_FLOAT;
use crate::python::vector_math::VectorMath;

impl<'i> Columnar<'_, 'i> {
    /// `x ** y`: an integer where both are integers and `y` is not negative, else a float.
    pub(super) fn power(&mut self, x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        if x.kinds.is_integer() && y.kinds.is_integer() {
            match y.arm {
                Arm::Same(2.0) => return self.ring(x, x, x.most * x.most, |x, y| x * y),
                Arm::Same(3.0) => return self.ring(x, x, x.most * x.most * x.most, |x, _| x * x * x),
                _ => {}
            }
        }
        let mut vector = self.power_of_floats(x.arm, y.arm);
        if !(x.kinds.is_all(Kind::Float) || y.kinds.is_all(Kind::Float)) {
            let mut kinds = self.common_kinds(x.kinds, y.kinds);
            let mut mask = self.scratch.bytes(self.rows);
            loops::test(y.arm, Arm::Same(0.0), &mut mask, |y, zero| y >= zero);
            loops::zip_into(&mut kinds, &mask, |kind, mask| kind & mask);
            self.scratch.give_bytes(mask);
            if let Lent::Own(lanes) = &mut vector.lanes {
                self.settle_integers(lanes, &kinds);
            }
            vector.kinds = Kinds::Each(kinds);
        }
        vector
    }

    /// The C library's power. Whatever comes out infinite or NaN is left to the scalar executor, which knows when
    /// that is an error: a power of zero, of a negative number, or one that is too large.
    pub(super) fn power_of_floats(&mut self, x: Arm<'_>, y: Arm<'_>) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        match (x, y) {
            (Arm::Each(x), Arm::Each(y)) => VectorMath::new().pow(x, y, &mut lanes),
            (Arm::Each(x), Arm::Same(y)) => VectorMath::new().pow_scalar_exponent(x, y, &mut lanes),
            (Arm::Same(x), Arm::Each(y)) => VectorMath::new().pow_scalar_base(x, y, &mut lanes),
            (Arm::Same(x), Arm::Same(y)) => lanes.fill(x.powf(y)),
        }
        self.mark_unless_finite(&lanes);
        Vector { lanes: Lent::Own(lanes), kinds: Kinds::All(Kind::Float), most: MAX_EXACT_FLOAT }
    }

    /// Marks infinite results and NaN.
    pub(super) fn mark_unless_finite(&mut self, lanes: &[f64]) {
        if loops::any(lanes, |x| !x.is_finite()) {
            self.mark_where(Arm::Each(lanes), Arm::Same(0.0), |x, _| !x.is_finite());
        }
    }
}
