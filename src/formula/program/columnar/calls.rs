//! Function calls on lanes.

use std::convert::identity;

use crate::formula::program::columnar::kernels::{Operand, is_inexact, is_not_finite, never};
use crate::formula::program::columnar::lanes::{Entry, FLOATS, LANES, LaneType, LaneTypes};
use crate::formula::program::columnar::{Run, kernels};
use crate::python::vector_math::VectorMath;
use crate::python::{Arithmetic, Function, Python, Raised, Value};

impl Run<'_, '_> {
    /// `callee(positional…, keyword=…)`; the callee and the arguments are on the stack, the callee
    /// first. The result takes the place of the callee.
    pub(super) fn call(&mut self, positional: usize, keywords: &[Box<str>]) -> Option<()> {
        let callee = self.index_of_top(1 + positional + keywords.len())?;
        let Some(function) = self.stack[callee].scalar().cloned() else {
            // lanes hold numbers, which cannot be called
            return self.replace_by_lanes(callee, None);
        };
        if let Some(values) = self.scalars(callee + 1) {
            let result = call(&self.python, &function, &values, keywords);
            return self.replace_by_scalar(callee, result);
        }
        let mut types = None;
        if let Value::Function(function) = function
            && keywords.is_empty()
        {
            types = self.call_kernel(function, callee);
        }
        if types.is_none() {
            types = Some(self.each_lane(callee, |run, lane| {
                let mut values = Vec::with_capacity(run.stack.len() - callee - 1);
                for index in callee + 1..run.stack.len() {
                    values.push(run.value(index, lane));
                }
                call(&run.lane_python, &function, &values, keywords)
            }));
        }
        self.replace_by_lanes(callee, types)
    }

    /// Calls the kernel of a function; `None` if the function has no kernel for these arguments.
    fn call_kernel(&mut self, function: Function, callee: usize) -> Option<LaneTypes> {
        let x = callee + 1;
        match (function, self.stack.len() - x) {
            // with one argument, `max` and `min` take the items of a sequence, which no lane holds
            (Function::Max, 2..) => self.extremum(callee, f64::gt),
            (Function::Min, 2..) => self.extremum(callee, f64::lt),
            (Function::Pow, 2) => self.float_power(callee, x, x + 1),
            (_, 1) => self.call_unary(function, callee, x),
            _ => None,
        }
    }

    fn call_unary(&mut self, function: Function, out: usize, x: usize) -> Option<LaneTypes> {
        match function {
            Function::Abs => self.arithmetic(out, x, x, |x, _| x.abs()),
            Function::Fabs => self.float_map(out, x, f64::abs),
            Function::Float => self.float_map(out, x, identity),
            Function::Sqrt => self.finite_map(out, x, f64::sqrt),
            Function::Exp => self.finite_function(out, x, VectorMath::exp),
            Function::Log => self.finite_function(out, x, VectorMath::ln),
            Function::Exp2 => self.finite_map(out, x, f64::exp2),
            Function::Log2 => self.finite_map(out, x, f64::log2),
            Function::Log10 => self.finite_map(out, x, f64::log10),
            Function::Floor => self.rounding(out, x, f64::floor),
            Function::Ceil => self.rounding(out, x, f64::ceil),
            Function::Trunc | Function::Int => self.rounding(out, x, f64::trunc),
            Function::Round => self.rounding(out, x, f64::round_ties_even),
            _ => None,
        }
    }

    /// A function whose results are all floats.
    fn float_map(
        &mut self,
        out: usize,
        x: usize,
        f: impl Fn(f64) -> f64 + Copy,
    ) -> Option<LaneTypes> {
        self.map(out, x, f)?;
        Some(FLOATS)
    }

    /// A function whose errors all give infinities or NaN.
    fn finite_map(
        &mut self,
        out: usize,
        x: usize,
        f: impl Fn(f64) -> f64 + Copy,
    ) -> Option<LaneTypes> {
        self.map(out, x, f)?;
        self.fall_back_where(out, is_not_finite);
        Some(FLOATS)
    }

    /// A function of the C library whose errors all give infinities or NaN, of all lanes at once.
    fn finite_function(
        &mut self,
        out: usize,
        x: usize,
        f: impl FnOnce(VectorMath, &[f64], &mut [f64]),
    ) -> Option<LaneTypes> {
        self.compute(out, |run, numbers| {
            // always: a call with nothing but scalars is computed before
            if let Operand::Each(x) = run.operand(x) {
                f(VectorMath::new(), x, numbers);
            }
        })?;
        self.fall_back_where(out, is_not_finite);
        Some(FLOATS)
    }

    /// A rounding to an integer; lanes without a result below 2^53 fall back.
    fn rounding(
        &mut self,
        out: usize,
        x: usize,
        round: impl Fn(f64) -> f64 + Copy,
    ) -> Option<LaneTypes> {
        // an integer has no negative zero
        self.map(out, x, move |x| round(x) + 0.0)?;
        self.fall_back_where(out, is_inexact);
        Some(LaneTypes::All(LaneType::Int))
    }

    /// `max` and `min`: the first item to which no later item is preferred.
    fn extremum(
        &mut self,
        callee: usize,
        is_better: impl Fn(&f64, &f64) -> bool + Copy,
    ) -> Option<LaneTypes> {
        let first = callee + 1;
        // nothing changes unless lanes hold all items
        for item in first..self.stack.len() {
            self.types(item)?;
        }
        let mut types = self.types(first)?;
        let mut best = first;
        for next in first + 1..self.stack.len() {
            let next_types = self.types(next)?;
            if types != next_types || types == LaneTypes::Each {
                types = self.select_types(callee, (best, types), (next, next_types), is_better)?;
            }
            let choose = move |best, item| if is_better(&item, &best) { item } else { best };
            self.zip(callee, best, next, choose, never)?;
            self.stack[callee] = Entry::Lanes(types);
            best = callee;
        }
        Some(types)
    }

    /// The types of the item where it is better, of the best in the other lanes, as those of the
    /// lanes at `out`.
    fn select_types(
        &mut self,
        out: usize,
        (best, types): (usize, LaneTypes),
        (item, item_types): (usize, LaneTypes),
        is_better: impl Fn(&f64, &f64) -> bool + Copy,
    ) -> Option<LaneTypes> {
        let mut mask = [false; LANES];
        kernels::compare(
            &mut mask[..self.rows],
            self.operand(item),
            self.operand(best),
            is_better,
        );
        self.lanes[best].set_each(types);
        self.lanes[item].set_each(item_types);
        let mut types = self.lanes[best].types;
        kernels::select_types(&mask, &mut types, &self.lanes[item].types);
        self.lanes[out].types = types;
        Some(LaneTypes::Each)
    }
}

/// Calls a function; the last values are those of the keywords.
fn call(
    python: &Python,
    function: &Value,
    values: &[Value],
    keywords: &[Box<str>],
) -> Result<Value, Raised> {
    let (positional, named) = values.split_at(values.len() - keywords.len());
    let mut keyword_arguments = Vec::with_capacity(named.len());
    for (name, value) in keywords.iter().zip(named) {
        keyword_arguments.push((&**name, value.clone()));
    }
    python.call(function, positional, &keyword_arguments)
}
