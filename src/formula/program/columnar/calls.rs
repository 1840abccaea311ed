//! Function calls on lanes.

use crate::formula::program::columnar::kernels::Broadcast;
use crate::formula::program::columnar::vector::{Entry, LaneType, LaneTypes, Operand, Vector};
use crate::formula::program::columnar::{AllLanesFallBack, ColumnarExecutor, kernels};
use crate::python::vector_math::VectorMath;
use crate::python::{Arithmetic, Function, MAX_EXACT_FLOAT, Python, Raised, Value};

impl<'i> ColumnarExecutor<'_, 'i> {
    /// `callee(positional…, keyword=…)`; the callee and the arguments are on the stack, the callee first.
    pub(super) fn call(&mut self, positional: usize, keywords: &[Box<str>]) -> Result<(), AllLanesFallBack> {
        let count = 1 + positional + keywords.len();
        let base = self.stack.len().checked_sub(count).ok_or(AllLanesFallBack)?;
        let mut stack = std::mem::take(&mut self.stack);
        let result = self.call_entries(&stack[base..], keywords);
        stack.drain(base..).for_each(|entry| entry.recycle(&mut self.scratch));
        self.stack = stack;
        match result {
            Some(entry) => self.stack.push(entry),
            None => self.fail_active_lanes()?,
        }
        Ok(())
    }

    /// `None` if it fails in every lane.
    fn call_entries(&mut self, entries: &[Entry<'i>], keywords: &[Box<str>]) -> Option<Entry<'i>> {
        let (callee, arguments) = entries.split_first()?;
        let Entry::Scalar(callee) = callee else { return None };
        if let Value::Function(function) = callee
            && keywords.is_empty()
            && let Some(vector) = self.call_kernel(*function, arguments)
        {
            return Some(Entry::Vector(vector));
        }
        let (positional, named) = arguments.split_at(arguments.len().checked_sub(keywords.len())?);
        if arguments.iter().all(|argument| argument.scalar().is_some()) {
            return call_lane(&self.python, callee, positional, named, keywords, 0).ok().map(Entry::Scalar);
        }
        Some(Entry::Vector(self.each_lane(|python, lane| call_lane(python, callee, positional, named, keywords, lane))))
    }

    /// Calls the kernel of a function; `None` if the function has no kernel for these arguments.
    fn call_kernel(&mut self, function: Function, arguments: &[Entry<'i>]) -> Option<Vector<'i>> {
        if arguments.iter().all(|argument| argument.scalar().is_some()) {
            return None;
        }
        match (function, arguments) {
            (Function::Max, [_, _, ..]) => self.extremum(arguments, |item, best| item > best),
            (Function::Min, [_, _, ..]) => self.extremum(arguments, |item, best| item < best),
            (Function::Max, [Entry::Sequence { items, .. }]) => self.extremum(items, |item, best| item > best),
            (Function::Min, [Entry::Sequence { items, .. }]) => self.extremum(items, |item, best| item < best),
            (Function::Pow, [x, y]) => Some(self.float_power(x.operand()?.lanes, y.operand()?.lanes)),
            (_, [x]) => self.call_unary(function, x.operand()?),
            _ => None,
        }
    }

    fn call_unary(&mut self, function: Function, x: Operand<'_>) -> Option<Vector<'i>> {
        Some(match function {
            Function::Abs if x.types.is_all(LaneType::Float) => self.float_function(x.lanes, f64::abs),
            Function::Abs if x.is_large() && x.types.is_integer() => {
                self.large_integers(Operand::ZERO, x, |_, x| x.magnitude())
            }
            Function::Abs if x.is_large() => return None,
            Function::Abs => self.integer_preserving(Operand::ZERO, x, x.bound, |_, x| x.abs(), |_, x| x.magnitude()),
            Function::Fabs => self.float_function(x.lanes, f64::abs),
            Function::Float => self.float_function(x.lanes, |x| x),
            Function::Sqrt => self.finite_function(x.lanes, f64::sqrt),
            Function::Exp => self.library_function(x.lanes, |math, x, out| math.exp(x, out)),
            Function::Exp2 => self.library_function(x.lanes, |math, x, out| math.exp2(x, out)),
            Function::Log => self.library_function(x.lanes, |math, x, out| math.ln(x, out)),
            Function::Log2 => self.library_function(x.lanes, |_, x, out| map_lanes(x, out, f64::log2)),
            Function::Log10 => self.library_function(x.lanes, |_, x, out| map_lanes(x, out, f64::log10)),
            Function::Floor => self.rounding_function(x.lanes, f64::floor),
            Function::Ceil => self.rounding_function(x.lanes, f64::ceil),
            Function::Trunc | Function::Int => self.rounding_function(x.lanes, f64::trunc),
            Function::Round => self.rounding_function(x.lanes, f64::round_ties_even),
            _ => return None,
        })
    }

    /// A function that is an instruction of the processor and whose errors all give infinities or NaN.
    fn finite_function(&mut self, x: Broadcast<'_>, f: impl Fn(f64) -> f64 + Copy) -> Vector<'i> {
        let vector = self.float_function(x, f);
        self.fall_back_unless_finite(vector.lanes.as_slice());
        vector
    }

    /// A function of the C library whose errors all give infinities or NaN.
    fn library_function(&mut self, x: Broadcast<'_>, f: impl Fn(VectorMath, &[f64], &mut [f64])) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        match x {
            Broadcast::Each(x) => f(VectorMath::new(), x, &mut lanes),
            Broadcast::Same(x) => {
                let mut one = [0.0];
                f(VectorMath::new(), &[x], &mut one);
                lanes.fill(one[0]);
            }
        }
        self.fall_back_unless_finite(&lanes);
        Vector::from_floats(lanes)
    }

    /// A rounding to an integer; lanes without a result below 2^53 fall back.
    fn rounding_function(&mut self, x: Broadcast<'_>, round: impl Fn(f64) -> f64 + Copy) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        if kernels::zip(x, Broadcast::Same(0.0), &mut lanes, move |x, _| round(x) + 0.0, |_, _, r| is_inexact(r)) {
            self.fall_back_where(Broadcast::Each(&lanes), Broadcast::Same(0.0), |r, _| is_inexact(r));
        }
        Vector::new(lanes, LaneTypes::All(LaneType::Int), MAX_EXACT_FLOAT)
    }

    /// `max` and `min`: the first item to which no later item is preferred.
    fn extremum(&mut self, items: &[Entry<'i>], is_better: impl Fn(f64, f64) -> bool + Copy) -> Option<Vector<'i>> {
        let (first, rest) = items.split_first()?;
        let mut best: Option<Vector<'i>> = None;
        for item in rest {
            let next = {
                let best = match &best {
                    Some(best) => best.operand(),
                    None => first.operand()?,
                };
                self.preferred(item.operand()?, best, is_better)
            };
            if let Some(old) = best.replace(next) {
                Entry::Vector(old).recycle(&mut self.scratch);
            }
        }
        best
    }

    fn preferred(
        &mut self,
        item: Operand<'_>,
        best: Operand<'_>,
        is_better: impl Fn(f64, f64) -> bool + Copy,
    ) -> Vector<'i> {
        if item.is_large() || best.is_large() {
            return self.large_preferred(item, best, is_better);
        }
        let mut lanes = self.scratch.lanes(self.rows);
        kernels::zip(
            item.lanes,
            best.lanes,
            &mut lanes,
            move |item, best| if is_better(item, best) { item } else { best },
            |_, _, _| false,
        );
        let types =
            self.select_types(item.types, best.types, |mask| kernels::test(item.lanes, best.lanes, mask, is_better));
        Vector::new(lanes, types, item.bound.max(best.bound))
    }
}

/// Calls a function with the arguments of one lane.
fn call_lane(
    python: &Python,
    callee: &Value,
    positional: &[Entry<'_>],
    named: &[Entry<'_>],
    keywords: &[Box<str>],
    lane: usize,
) -> Result<Value, Raised> {
    let positional: Vec<_> = positional.iter().map(|entry| entry.value(lane)).collect();
    let named: Vec<_> = keywords.iter().map(|name| &**name).zip(named.iter().map(|entry| entry.value(lane))).collect();
    python.call(callee, &positional, &named)
}

/// Whether a double may not represent this integer exactly.
#[inline(always)]
fn is_inexact(integer: f64) -> bool {
    integer.is_nan() || integer.abs() >= MAX_EXACT_FLOAT
}

/// Applies a function without a vector form to each lane.
fn map_lanes(x: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64) {
    out.iter_mut().zip(x).for_each(|(out, &x)| *out = f(x));
}
