//! Calls of functions on lanes.

use crate::formula::program::columnar::loops::Arm;
use crate::formula::program::columnar::vector::{Entry, Kind, KindArm, Kinds, Lent, Operand, Vector};
use crate::formula::program::columnar::{AllMarked, Columnar, loops};
use crate::python::MAX_EXACT_FLOAT;
use crate::python::vector_math::VectorMath;
use crate::python::{Arithmetic, Function, Python, Value};

impl<'i> Columnar<'_, 'i> {
    /// `callee(positional…, keyword=…)`; all of it lies on the stack, the callee first.
    pub(super) fn call(&mut self, positional: usize, keywords: &[Box<str>]) -> Result<(), AllMarked> {
        let count = 1 + positional + keywords.len();
        let base = self.stack.len().checked_sub(count).ok_or(AllMarked)?;
        let mut stack = std::mem::take(&mut self.stack);
        let result = self.called(&stack[base..], keywords);
        stack.drain(base..).for_each(|entry| entry.recycle(&mut self.scratch));
        self.stack = stack;
        match result {
            Some(entry) => self.stack.push(entry),
            None => self.fail()?,
        }
        Ok(())
    }

    /// `None` when it fails everywhere.
    fn called(&mut self, entries: &[Entry<'i>], keywords: &[Box<str>]) -> Option<Entry<'i>> {
        let (callee, arguments) = entries.split_first()?;
        let Entry::Scalar(callee) = callee else { return None };
        if let Value::Function(function) = callee
            && keywords.is_empty()
            && let Some(vector) = self.vectorised_call(*function, arguments)
        {
            return Some(Entry::Vector(vector));
        }
        let (positional, named) = arguments.split_at(arguments.len().checked_sub(keywords.len())?);
        let call = |python: &Python, value: &dyn Fn(&Entry<'i>) -> Value| {
            let positional: Vec<_> = positional.iter().map(value).collect();
            let named: Vec<_> = keywords.iter().map(|name| &**name).zip(named.iter().map(value)).collect();
            python.call(callee, &positional, &named)
        };
        if arguments.iter().all(|argument| argument.scalar().is_some()) {
            return call(&self.python, &|entry| entry.scalar().unwrap_or(Value::None)).ok().map(Entry::Scalar);
        }
        Some(Entry::Vector(self.lane_by_lane(|python, lane| call(python, &|entry| entry.value(lane)))))
    }

    /// The functions that have a loop of their own; `None` of any other, or of arguments that it does not cover.
    fn vectorised_call(&mut self, function: Function, arguments: &[Entry<'i>]) -> Option<Vector<'i>> {
        if arguments.iter().all(|argument| argument.scalar().is_some()) {
            return None;
        }
        match (function, arguments) {
            (Function::Max, [_, _, ..]) => self.extreme(arguments, |item, best| item > best),
            (Function::Min, [_, _, ..]) => self.extreme(arguments, |item, best| item < best),
            (Function::Max, [Entry::Sequence { items, .. }]) => self.extreme(items, |item, best| item > best),
            (Function::Min, [Entry::Sequence { items, .. }]) => self.extreme(items, |item, best| item < best),
            (Function::Pow, [x, y]) => Some(self.power_of_floats(x.operand()?.arm, y.operand()?.arm)),
            (_, [x]) => self.call_of_one(function, x.operand()?),
            _ => None,
        }
    }

    fn call_of_one(&mut self, function: Function, x: Operand<'_>) -> Option<Vector<'i>> {
        let zero = Operand { arm: Arm::Same(0.0), kinds: KindArm::All(Kind::Int), most: 0.0 };
        Some(match function {
            Function::Abs if x.kinds.is_all(Kind::Float) => self.floats(x.arm, f64::abs),
            Function::Abs => self.ring(zero, x, x.most, |_, x| x.abs()),
            Function::Fabs => self.floats(x.arm, f64::abs),
            Function::Float => self.floats(x.arm, |x| x),
            Function::Sqrt => self.finite(x.arm, f64::sqrt),
            Function::Exp => self.library(x.arm, |lanes, x, out| lanes.exp(x, out)),
            Function::Exp2 => self.library(x.arm, |lanes, x, out| lanes.exp2(x, out)),
            Function::Log => self.library(x.arm, |lanes, x, out| lanes.ln(x, out)),
            Function::Log2 => self.library(x.arm, |_, x, out| each(x, out, f64::log2)),
            Function::Log10 => self.library(x.arm, |_, x, out| each(x, out, f64::log10)),
            Function::Floor => self.integers(x.arm, f64::floor),
            Function::Ceil => self.integers(x.arm, f64::ceil),
            Function::Trunc | Function::Int => self.integers(x.arm, f64::trunc),
            Function::Round => self.integers(x.arm, f64::round_ties_even),
            _ => return None,
        })
    }

    /// A function whose errors all come out infinite or NaN, and that is an instruction of the processor.
    fn finite(&mut self, x: Arm<'_>, f: impl Fn(f64) -> f64 + Copy) -> Vector<'i> {
        let vector = self.floats(x, f);
        self.mark_unless_finite(vector.lanes.as_slice());
        vector
    }

    /// The same of a function of the C library.
    fn library(&mut self, x: Arm<'_>, f: impl Fn(VectorMath, &[f64], &mut [f64])) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        match x {
            Arm::Each(x) => f(VectorMath::new(), x, &mut lanes),
            Arm::Same(x) => {
                let mut one = [0.0];
                f(VectorMath::new(), &[x], &mut one);
                lanes.fill(one[0]);
            }
        }
        self.mark_unless_finite(&lanes);
        Vector { lanes: Lent::Own(lanes), kinds: Kinds::All(Kind::Float), most: MAX_EXACT_FLOAT }
    }

    /// A rounding to an integer; what has none, or too large a one, is marked.
    fn integers(&mut self, x: Arm<'_>, round: impl Fn(f64) -> f64 + Copy) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        let fails = |r: f64| r.is_nan() || r.abs() >= MAX_EXACT_FLOAT;
        if loops::zip(x, Arm::Same(0.0), &mut lanes, move |x, _| round(x) + 0.0, |_, _, r| fails(r)) {
            self.mark_where(Arm::Each(&lanes), Arm::Same(0.0), |r, _| fails(r));
        }
        Vector { lanes: Lent::Own(lanes), kinds: Kinds::All(Kind::Int), most: MAX_EXACT_FLOAT }
    }

    /// `max` and `min`: the first item to which no later one is preferred.
    fn extreme(&mut self, items: &[Entry<'i>], is_better: impl Fn(f64, f64) -> bool + Copy) -> Option<Vector<'i>> {
        let (first, rest) = items.split_first()?;
        let mut best: Option<Vector<'i>> = None;
        for item in rest {
            let next = {
                let best = match &best {
                    Some(best) => best.operand(),
                    None => first.operand()?,
                };
                self.better(item.operand()?, best, is_better)
            };
            if let Some(old) = best.replace(next) {
                Entry::Vector(old).recycle(&mut self.scratch);
            }
        }
        best
    }

    fn better(
        &mut self,
        item: Operand<'_>,
        best: Operand<'_>,
        is_better: impl Fn(f64, f64) -> bool + Copy,
    ) -> Vector<'i> {
        let mut lanes = self.scratch.lanes(self.rows);
        let f = move |item: f64, best: f64| if is_better(item, best) { item } else { best };
        loops::zip(item.arm, best.arm, &mut lanes, f, |_, _, _| false);
        let kinds = self.chosen_kinds(item.kinds, best.kinds, |mask| loops::test(item.arm, best.arm, mask, is_better));
        Vector { lanes: Lent::Own(lanes), kinds, most: item.most.max(best.most) }
    }
}

/// A function that has no vector form, lane by lane.
fn each(x: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64) {
    out.iter_mut().zip(x).for_each(|(out, &x)| *out = f(x));
}
