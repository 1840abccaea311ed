//! The abstract interpreter: evaluates a formula with value sets, in Python's order of evaluation.
//!
//! It uses a stack of tasks instead of recursion, whose depth the formula would determine. In a branch, the values are
//! refined by the condition of the branch.

use std::collections::HashMap;

use crate::formula::lint::ranges::facts::{Fact, Facts, OperationResult};
use crate::formula::lint::ranges::functions::{self, Argument};
use crate::formula::lint::ranges::input_ranges::Ranges;
use crate::formula::lint::ranges::refinement::{refined, swapped, value_numbers};
use crate::formula::lint::ranges::type_set::{ErrorSet, TypeSet};
use crate::formula::lint::ranges::value_set::{Truth, ValueSet};
use crate::formula::lint::ranges::{constant_folding, operators};
use crate::formula::name_resolution::Resolution;
use crate::formula::program::literal_value;
use crate::formula::syntax::{Expr, ExprId, ExprKind, Keyword};
use crate::python::{BooleanOperator, ComparisonOperator, ErrorKind, Raised, UnaryOperator, Value};
use crate::schema::Schema;

/// A task on the stack.
enum Task {
    Visit(ExprId),
    /// Evaluates a node whose operands are known.
    Finish(ExprId),
    /// Continues a chain of comparisons whose first `known` operands are known.
    Chain {
        node: ExprId,
        known: usize,
        scope: Scope,
    },
    /// Continues `and` or `or`, whose first `known` operands are known. `decided` are the values of these operands for
    /// which the others are not evaluated.
    Boolean {
        node: ExprId,
        known: usize,
        decided: ValueSet,
        scope: Scope,
    },
    /// Evaluates the branches of a conditional whose condition is known.
    Branch(ExprId),
    /// Begins a branch in which the condition is true (`holds`) or false.
    Enter {
        condition: ExprId,
        holds: bool,
        conditional: bool,
    },
    /// Ends a branch.
    Leave(Scope),
}

/// The state that is restored when a branch ends.
#[derive(Clone, Copy)]
struct Scope {
    /// The length of [`AbstractInterpreter::overwritten`].
    overwritten: usize,
    conditional: bool,
}

/// An interpreter that computes with value sets instead of values.
pub(super) struct AbstractInterpreter<'e> {
    expr: &'e Expr,
    schema: &'e Schema,
    ranges: &'e Ranges,
    /// The value number of each node.
    value_numbers: Vec<u32>,
    facts: Facts,
    tasks: Vec<Task>,
    /// The values assumed in the current branch, by value number.
    assumed: HashMap<u32, ValueSet>,
    /// The assumptions that were overwritten, to be restored when the branch ends.
    overwritten: Vec<(u32, Option<ValueSet>)>,
    conditional: bool,
}

impl<'e> AbstractInterpreter<'e> {
    pub(super) fn new(expr: &'e Expr, schema: &'e Schema, ranges: &'e Ranges) -> Self {
        let count = expr.nodes().len();
        Self {
            expr,
            schema,
            ranges,
            value_numbers: value_numbers(expr),
            facts: Facts { all: vec![Fact::UNREACHABLE; count], constants: vec![None; count], steps: 0 },
            tasks: vec![Task::Visit(expr.root())],
            assumed: HashMap::new(),
            overwritten: Vec::new(),
            conditional: false,
        }
    }

    /// Interprets the formula.
    pub(super) fn run(mut self) -> Facts {
        while let Some(task) = self.tasks.pop() {
            self.facts.steps += 1;
            self.step(task);
        }
        self.facts
    }

    fn step(&mut self, task: Task) {
        match task {
            Task::Visit(node) => self.visit(node),
            Task::Finish(node) => self.finish(node),
            Task::Chain { node, known, scope } => self.chain(node, known, scope),
            Task::Boolean { node, known, decided, scope } => self.boolean(node, known, decided, scope),
            Task::Branch(node) => self.branch(node),
            Task::Enter { condition, holds, conditional } => {
                self.conditional |= conditional;
                self.assume(condition, holds);
            }
            Task::Leave(scope) => self.leave(scope),
        }
    }

    fn visit(&mut self, id: ExprId) {
        let scope = self.scope();
        match &self.expr.node(id).kind {
            ExprKind::Comparison { operands, .. } => {
                self.tasks.push(Task::Chain { node: id, known: 2, scope });
                self.tasks.extend(operands.iter().take(2).rev().map(|&operand| Task::Visit(operand)));
            }
            ExprKind::Boolean { operands, .. } => {
                self.tasks.push(Task::Boolean { node: id, known: 1, decided: ValueSet::EMPTY, scope });
                self.tasks.extend(operands.first().map(|&operand| Task::Visit(operand)));
            }
            ExprKind::Conditional { condition, .. } => {
                self.tasks.extend([Task::Branch(id), Task::Visit(*condition)]);
            }
            kind => {
                self.tasks.push(Task::Finish(id));
                self.tasks.extend(kind.children().into_iter().rev().map(Task::Visit));
            }
        }
    }

    fn scope(&self) -> Scope {
        Scope { overwritten: self.overwritten.len(), conditional: self.conditional }
    }

    fn leave(&mut self, scope: Scope) {
        self.conditional = scope.conditional;
        for (number, values) in self.overwritten.drain(scope.overwritten..).rev() {
            match values {
                Some(values) => self.assumed.insert(number, values),
                None => self.assumed.remove(&number),
            };
        }
    }

    fn values(&self, node: ExprId) -> ValueSet {
        self.facts.at(node).values
    }

    /// Records the outcome of a node.
    fn set(&mut self, node: ExprId, outcome: OperationResult) {
        let number = self.value_numbers.get(node.index());
        let assumed = number.and_then(|number| self.assumed.get(number));
        let narrowed = assumed.map_or(outcome.values, |assumed| outcome.values.and(*assumed));
        // an assumption can contradict the values only if no job takes this branch
        let values = if narrowed.is_empty() { outcome.values } else { narrowed };
        self.facts.all[node.index()] =
            Fact { values, errors: outcome.errors, reachable: true, conditional: self.conditional };
    }

    /// Records the outcome of a node: the constant that it was folded to, or else `otherwise`.
    fn set_folded(
        &mut self,
        node: ExprId,
        folded: Option<Result<Value, Raised>>,
        otherwise: impl FnOnce(&Self) -> OperationResult,
    ) {
        let outcome = match folded {
            Some(Ok(value)) => {
                let outcome = OperationResult::ok(ValueSet::from_value(&value));
                self.facts.constants[node.index()] = constant_folding::is_small(&value).then_some(value);
                outcome
            }
            Some(Err(raised)) => OperationResult::error(raised.kind),
            None => otherwise(self),
        };
        self.set(node, outcome);
    }

    fn finish(&mut self, id: ExprId) {
        let expr = self.expr;
        match &expr.node(id).kind {
            ExprKind::Literal { kind, text } => {
                self.set_folded(id, Some(literal_value(*kind, text, self.schema.python())), |_| {
                    OperationResult::UNKNOWN
                });
            }
            ExprKind::Name(name) => self.name(id, name),
            ExprKind::Unary { op, operand } => {
                let folded = constant_folding::unary(*op, self.facts.constant(*operand));
                self.set_folded(id, folded, |this| operators::unary(*op, this.values(*operand)));
            }
            ExprKind::Binary { op, left, right } => {
                let folded = constant_folding::binary(*op, self.facts.constant(*left), self.facts.constant(*right));
                self.set_folded(id, folded, |this| operators::binary(*op, this.values(*left), this.values(*right)));
            }
            ExprKind::Call { callee, positional, keywords } => self.call(id, *callee, positional, keywords),
            ExprKind::Parenthesized(inner) => {
                let folded = self.facts.constant(*inner).cloned().map(Ok);
                self.set_folded(id, folded, |this| OperationResult::ok(this.values(*inner)));
            }
            ExprKind::Conditional { then, otherwise, .. } => {
                let values = [then, otherwise].map(|&branch| self.values(branch));
                self.set(id, OperationResult::ok(values[0].or(values[1])));
            }
            ExprKind::Tuple { items, .. } => self.sequence(id, items, TypeSet::TUPLE),
            ExprKind::List(items) => self.sequence(id, items, TypeSet::LIST),
            _ => self.set(id, OperationResult::UNKNOWN),
        }
    }

    fn sequence(&mut self, id: ExprId, items: &[ExprId], types: TypeSet) {
        let items: Vec<ValueSet> = items.iter().map(|&item| self.values(item)).collect();
        self.set(id, OperationResult::ok(ValueSet::non_numbers(types)).unless_empty(&items));
    }

    fn name(&mut self, id: ExprId, name: &str) {
        match Resolution::from_schema(name, self.schema) {
            Resolution::Constant(value) => self.set_folded(id, Some(Ok(value)), |_| OperationResult::UNKNOWN),
            Resolution::Input => self.set(id, OperationResult::ok(self.ranges.values(name, self.schema))),
            Resolution::UnsupportedBuiltin => self.set(id, OperationResult::UNKNOWN),
            Resolution::Undefined => self.set(id, OperationResult::error(ErrorKind::Name)),
        }
    }

    fn call(&mut self, id: ExprId, callee: ExprId, positional: &[ExprId], keywords: &[Keyword]) {
        let values = positional.iter().chain(keywords.iter().map(|keyword| &keyword.value));
        let values: Vec<ValueSet> = values.map(|&argument| self.values(argument)).collect();
        let outcome = match self.facts.function(callee) {
            _ if self.values(callee).is_empty() => OperationResult::EMPTY,
            Some(function) => {
                let constants: Vec<_> = positional.iter().map(|&argument| self.facts.constant(argument)).collect();
                if let Some(folded) =
                    constant_folding::call(function, self.schema.python(), &constants).filter(|_| keywords.is_empty())
                {
                    return self.set_folded(id, Some(folded), |_| OperationResult::UNKNOWN);
                }
                let arguments: Vec<_> = positional.iter().map(|&argument| self.argument(argument)).collect();
                let keywords: Vec<(&str, ValueSet)> =
                    keywords.iter().map(|keyword| (&*keyword.name, self.values(keyword.value))).collect();
                functions::call(function, self.schema.python(), &arguments, &keywords)
            }
            None if self.values(callee).types().intersects(TypeSet::FUNCTION) => OperationResult::UNKNOWN,
            None => OperationResult::error(ErrorKind::Type),
        };
        self.set(id, outcome.unless_empty(&values));
    }

    fn argument(&self, node: ExprId) -> Argument {
        let items = match &self.expr.node(self.expr.without_parentheses(node)).kind {
            ExprKind::Tuple { items, .. } | ExprKind::List(items) => {
                Some(items.iter().map(|&item| self.values(item)).collect())
            }
            _ => None,
        };
        Argument { values: self.values(node), items }
    }

    fn boolean(&mut self, id: ExprId, known: usize, decided: ValueSet, scope: Scope) {
        let expr = self.expr;
        let ExprKind::Boolean { op, operands } = &expr.node(id).kind else { return };
        let last = operands[known - 1];
        let values = self.values(last);
        let continues_if = *op == BooleanOperator::And;
        let truth = values.truth();
        let may_continue = if continues_if { truth.may_be_true } else { truth.may_be_false };
        if known == operands.len() || !may_continue {
            self.leave(scope);
            return self.set(id, OperationResult::ok(decided.or(values)));
        }
        let exits = values.with_truth(!continues_if);
        self.conditional |= !exits.is_empty();
        self.assume(last, continues_if);
        self.tasks.extend([
            Task::Boolean { node: id, known: known + 1, decided: decided.or(exits), scope },
            Task::Visit(operands[known]),
        ]);
    }

    fn branch(&mut self, id: ExprId) {
        let ExprKind::Conditional { then, condition, otherwise } = self.expr.node(id).kind else { return };
        let truth = self.values(condition).truth();
        let is_undecided = truth.may_be_true && truth.may_be_false;
        let scope = self.scope();
        self.tasks.push(Task::Finish(id));
        for (branch, holds, is_taken) in [(otherwise, false, truth.may_be_false), (then, true, truth.may_be_true)] {
            if is_taken {
                self.tasks.extend([
                    Task::Leave(scope),
                    Task::Visit(branch),
                    Task::Enter { condition, holds, conditional: is_undecided },
                ]);
            }
        }
    }

    /// Continues `a < b < c`, which evaluates `c` only if `a < b`, after the first operands.
    fn chain(&mut self, id: ExprId, known: usize, scope: Scope) {
        let expr = self.expr;
        let ExprKind::Comparison { operators, operands } = &expr.node(id).kind else { return };
        let (truth, errors) = self.comparison(operators[known - 2], operands[known - 2], operands[known - 1]);
        let so_far = *self.facts.at(id);
        let fails = so_far.values.may_be_zero() || truth.may_be_false;
        let may_continue = known < operands.len() && truth.may_be_true;
        let holds = truth.may_be_true && known == operands.len();
        let values = operators::truth_values(Truth { may_be_true: holds, may_be_false: fails });
        let errors = errors.or(if so_far.reachable { so_far.errors } else { errors });
        self.facts.all[id.index()] = Fact { values, errors, reachable: true, conditional: scope.conditional };
        if may_continue {
            self.conditional |= truth.may_be_false;
            self.tasks.extend([Task::Chain { node: id, known: known + 1, scope }, Task::Visit(operands[known])]);
        } else {
            self.leave(scope);
            self.set(id, OperationResult { values, errors });
        }
    }

    fn comparison(&self, op: ComparisonOperator, a: ExprId, b: ExprId) -> (Truth, ErrorSet) {
        match constant_folding::compare(op, self.facts.constant(a), self.facts.constant(b)) {
            Some(Ok(holds)) => (Truth { may_be_true: holds, may_be_false: !holds }, ErrorSet::EMPTY),
            Some(Err(raised)) => (Truth { may_be_true: false, may_be_false: false }, ErrorSet::from_kind(raised.kind)),
            None => operators::comparison(op, self.values(a), self.values(b)),
        }
    }
}

/// What is assumed in the current branch.
impl AbstractInterpreter<'_> {
    /// Narrows the expressions that a condition tests to the values for which it is true, or false without `holds`.
    fn assume(&mut self, condition: ExprId, holds: bool) {
        let expr = self.expr;
        let mut conditions = vec![(condition, holds)];
        while let Some((node, holds)) = conditions.pop() {
            self.facts.steps += 1;
            match &expr.node(node).kind {
                ExprKind::Parenthesized(inner) => conditions.push((*inner, holds)),
                ExprKind::Unary { op: UnaryOperator::Not, operand } => conditions.push((*operand, !holds)),
                ExprKind::Boolean { op, operands } if (*op == BooleanOperator::And) == holds => {
                    conditions.extend(operands.iter().map(|&operand| (operand, holds)));
                }
                ExprKind::Comparison { operators, operands } if holds || operators.len() == 1 => {
                    for (&op, pair) in operators.iter().zip(operands.windows(2)) {
                        let left = self.current(pair[0]);
                        let right = self.current(pair[1]);
                        self.narrow(pair[0], refined(op, left, right, holds));
                        self.narrow(pair[1], refined(swapped(op), right, left, holds));
                    }
                }
                ExprKind::Comparison { .. } | ExprKind::Boolean { .. } => {}
                _ => self.narrow(node, self.current(node).with_truth(holds)),
            }
        }
    }

    /// The values of an expression under the conditions assumed so far.
    fn current(&self, node: ExprId) -> ValueSet {
        let values = self.values(node);
        let assumed = self.value_numbers.get(node.index()).and_then(|number| self.assumed.get(number));
        assumed.map_or(values, |assumed| values.and(*assumed))
    }

    fn narrow(&mut self, node: ExprId, values: ValueSet) {
        self.facts.steps += 1;
        if let Some(&number) = self.value_numbers.get(node.index())
            && !values.is_empty()
        {
            self.overwritten.push((number, self.assumed.insert(number, values)));
        }
    }
}
