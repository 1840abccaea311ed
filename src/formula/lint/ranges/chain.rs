//! Chains of comparisons: `a < b < c` comes to `c` only where `a < b`.

use crate::formula::lint::ranges::facts::Fact;
use crate::formula::lint::ranges::kinds::Errors;
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Truth;
use crate::formula::lint::ranges::walk::{Mark, Task, Walk};
use crate::formula::lint::ranges::{arithmetic, compare, fold};
use crate::formula::syntax::{NodeId, NodeKind};
use crate::python::ComparisonOperator;

impl Walk<'_> {
    /// Goes on after so many operands.
    pub(super) fn chain(&mut self, id: NodeId, known: usize, mark: Mark) {
        let expr = self.expr;
        let NodeKind::Comparison { operators, operands } = &expr.node(id).kind else { return };
        let (a, b, op) = (operands[known - 2], operands[known - 1], operators[known - 2]);
        let (truth, errors) = self.link(op, a, b);
        let so_far = *self.facts.of(id);
        let fails = so_far.values.may_be_zero() || truth.may_fail;
        let goes_on = known < operands.len() && truth.may_hold;
        let holds = truth.may_hold && known == operands.len();
        let values = arithmetic::truth_values(holds, fails);
        let errors = errors.or(if so_far.reached { so_far.errors } else { errors });
        self.facts.all[id.index()] = Fact { values, errors, reached: true, conditional: mark.conditional };
        if goes_on {
            self.conditional |= truth.may_fail;
            self.tasks.extend([Task::Chain(id, known + 1, mark), Task::Visit(operands[known])]);
        } else {
            self.leave(mark);
            self.set(id, Outcome { values, errors });
        }
    }

    fn link(&self, op: ComparisonOperator, a: NodeId, b: NodeId) -> (Truth, Errors) {
        match fold::compare(op, self.facts.constant(a), self.facts.constant(b)) {
            Some(Ok(holds)) => (Truth { may_hold: holds, may_fail: !holds }, Errors::NONE),
            Some(Err(raised)) => (Truth { may_hold: false, may_fail: false }, Errors::just(raised.kind)),
            None => compare::link(op, self.values(a), self.values(b)),
        }
    }
}
