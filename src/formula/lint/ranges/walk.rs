//! Through the tree in the order in which Python evaluates it, with a stack of our own instead of recursion.
//!
//! On the way into a branch, what was tested is assumed: in `a / b if b > 0 else 0` the divisor is above 0. What is
//! assumed of a part holds for every part that is written alike, until the branch ends.

use std::collections::HashMap;

use crate::formula::lint::ranges::facts::{Fact, Facts};
use crate::formula::lint::ranges::functions::Argument;
use crate::formula::lint::ranges::inputs::Ranges;
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Values;
use crate::formula::lint::ranges::{arithmetic, fold, functions, sameness};
use crate::formula::name_resolution::Meaning;
use crate::formula::program::literal;
use crate::formula::syntax::{Expr, Keyword, NodeId, NodeKind};
use crate::python::{BooleanOperator, ErrorKind, Raised, Value};
use crate::schema::Schema;

/// What is still to be done, last first.
pub(super) enum Task {
    Visit(NodeId),
    /// All children are known.
    Finish(NodeId),
    /// So many operands of a chain of comparisons are known, with the truth so far.
    Chain(NodeId, usize, Mark),
    /// So many operands of `and` or `or` are known, with what they may have decided.
    Boolean(NodeId, usize, Values, Mark),
    /// The condition is known.
    Branch(NodeId),
    Enter(NodeId, bool, bool),
    Leave(Mark),
}

/// Where to go back to when a branch ends.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    assumed: usize,
    pub(super) conditional: bool,
}

pub(super) struct Walk<'e> {
    pub(super) expr: &'e Expr,
    schema: &'e Schema,
    ranges: &'e Ranges,
    /// The class of each part: those that are written alike share one.
    pub(super) classes: Vec<u32>,
    pub(super) facts: Facts,
    pub(super) tasks: Vec<Task>,
    /// What is assumed of each class.
    pub(super) assumed: HashMap<u32, Values>,
    /// What was assumed before, to go back to.
    pub(super) before: Vec<(u32, Option<Values>)>,
    pub(super) conditional: bool,
}

/// What stands in the parentheses.
pub(in crate::formula::lint) fn inside(expr: &Expr, mut node: NodeId) -> NodeId {
    while let NodeKind::Parenthesised(inner) = expr.node(node).kind {
        node = inner;
    }
    node
}

/// The facts of a whole tree.
pub(super) fn walk(expr: &Expr, schema: &Schema, ranges: &Ranges) -> Facts {
    let count = expr.nodes().len();
    let facts = Facts { all: vec![Fact::UNREACHED; count], constants: vec![None; count] };
    let mut walk = Walk {
        expr,
        schema,
        ranges,
        classes: sameness::classes(expr),
        facts,
        tasks: vec![Task::Visit(expr.root())],
        assumed: HashMap::new(),
        before: Vec::new(),
        conditional: false,
    };
    while let Some(task) = walk.tasks.pop() {
        walk.step(task);
    }
    walk.facts
}

impl Walk<'_> {
    fn step(&mut self, task: Task) {
        match task {
            Task::Visit(node) => self.visit(node),
            Task::Finish(node) => self.finish(node),
            Task::Chain(node, known, mark) => self.chain(node, known, mark),
            Task::Boolean(node, known, decided, mark) => self.boolean(node, known, decided, mark),
            Task::Branch(node) => self.branch(node),
            Task::Enter(condition, holds, conditional) => {
                self.conditional |= conditional;
                self.assume(condition, holds);
            }
            Task::Leave(mark) => self.leave(mark),
        }
    }

    fn visit(&mut self, id: NodeId) {
        let mark = self.mark();
        match &self.expr.node(id).kind {
            NodeKind::Comparison { operands, .. } => {
                self.tasks.push(Task::Chain(id, 2, mark));
                self.tasks.extend(operands.iter().take(2).rev().map(|&operand| Task::Visit(operand)));
            }
            NodeKind::Boolean { operands, .. } => {
                self.tasks.push(Task::Boolean(id, 1, Values::NEVER, mark));
                self.tasks.extend(operands.first().map(|&operand| Task::Visit(operand)));
            }
            NodeKind::Conditional { condition, .. } => {
                self.tasks.extend([Task::Branch(id), Task::Visit(*condition)]);
            }
            kind => {
                self.tasks.push(Task::Finish(id));
                self.tasks.extend(kind.children().into_iter().rev().map(Task::Visit));
            }
        }
    }

    fn mark(&self) -> Mark {
        Mark { assumed: self.before.len(), conditional: self.conditional }
    }

    pub(super) fn leave(&mut self, mark: Mark) {
        self.conditional = mark.conditional;
        for (class, values) in self.before.drain(mark.assumed..).rev() {
            match values {
                Some(values) => self.assumed.insert(class, values),
                None => self.assumed.remove(&class),
            };
        }
    }

    pub(super) fn values(&self, node: NodeId) -> Values {
        self.facts.of(node).values
    }

    /// Notes what a node gives.
    pub(super) fn set(&mut self, node: NodeId, outcome: Outcome) {
        let class = self.classes.get(node.index());
        let assumed = class.and_then(|class| self.assumed.get(class));
        let narrowed = assumed.map_or(outcome.values, |assumed| outcome.values.and(*assumed));
        // contradictions only arise where no job gets to
        let values = if narrowed.is_never() { outcome.values } else { narrowed };
        self.facts.all[node.index()] =
            Fact { values, errors: outcome.errors, reached: true, conditional: self.conditional };
    }

    /// Notes what a node gives, by what it was computed to be if it was.
    fn set_folded(
        &mut self,
        node: NodeId,
        folded: Option<Result<Value, Raised>>,
        otherwise: impl FnOnce(&Self) -> Outcome,
    ) {
        let outcome = match folded {
            Some(Ok(value)) => {
                let outcome = Outcome::fine(Values::just(&value));
                self.facts.constants[node.index()] = fold::is_kept(&value).then_some(value);
                outcome
            }
            Some(Err(raised)) => Outcome::fails(raised.kind),
            None => otherwise(self),
        };
        self.set(node, outcome);
    }

    fn finish(&mut self, id: NodeId) {
        let expr = self.expr;
        let constant = |walk: &Self, node: NodeId| walk.facts.constant(node).cloned();
        match &expr.node(id).kind {
            NodeKind::Literal { kind, text } => {
                self.set_folded(id, Some(literal::value(*kind, text)), |_| Outcome::UNKNOWN);
            }
            NodeKind::Name(name) => self.name(id, name),
            NodeKind::Unary { op, operand } => {
                let folded = fold::unary(*op, constant(self, *operand).as_ref());
                self.set_folded(id, folded, |walk| arithmetic::unary(*op, walk.values(*operand)));
            }
            NodeKind::Binary { op, left, right } => {
                let folded = fold::binary(*op, constant(self, *left).as_ref(), constant(self, *right).as_ref());
                self.set_folded(id, folded, |walk| arithmetic::binary(*op, walk.values(*left), walk.values(*right)));
            }
            NodeKind::Call { callee, positional, keywords } => self.call(id, *callee, positional, keywords),
            NodeKind::Parenthesised(inner) => {
                let folded = constant(self, *inner).map(Ok);
                self.set_folded(id, folded, |walk| Outcome::fine(walk.values(*inner)));
            }
            NodeKind::Conditional { then, otherwise, .. } => {
                let values = [then, otherwise].map(|&branch| self.values(branch));
                self.set(id, Outcome::fine(values[0].or(values[1])));
            }
            NodeKind::Tuple { items, .. } => self.display(id, items, crate::formula::lint::ranges::Kinds::TUPLE),
            NodeKind::List(items) => self.display(id, items, crate::formula::lint::ranges::Kinds::LIST),
            _ => self.set(id, Outcome::UNKNOWN),
        }
    }

    fn display(&mut self, id: NodeId, items: &[NodeId], kind: crate::formula::lint::ranges::Kinds) {
        let items: Vec<Values> = items.iter().map(|&item| self.values(item)).collect();
        self.set(id, Outcome::fine(Values::others(kind)).unless_never(&items));
    }

    fn name(&mut self, id: NodeId, name: &str) {
        match Meaning::of(name, self.schema) {
            Meaning::Constant(value) => self.set_folded(id, Some(Ok(value)), |_| Outcome::UNKNOWN),
            Meaning::Input => self.set(id, Outcome::fine(self.ranges.of(name, self.schema))),
            Meaning::Foreign => self.set(id, Outcome::UNKNOWN),
            Meaning::Undefined => self.set(id, Outcome::fails(ErrorKind::Name)),
        }
    }

    fn call(&mut self, id: NodeId, callee: NodeId, positional: &[NodeId], keywords: &[Keyword]) {
        let values = positional.iter().chain(keywords.iter().map(|keyword| &keyword.value));
        let values: Vec<Values> = values.map(|&argument| self.values(argument)).collect();
        let outcome = match self.facts.function(callee) {
            _ if self.values(callee).is_never() => Outcome::NEVER,
            Some(function) => {
                let constants: Vec<_> = positional.iter().map(|&argument| self.facts.constant(argument)).collect();
                if let Some(folded) = fold::call(function, &constants).filter(|_| keywords.is_empty()) {
                    return self.set_folded(id, Some(folded), |_| Outcome::UNKNOWN);
                }
                let arguments: Vec<_> = positional.iter().map(|&argument| self.argument(argument)).collect();
                functions::call(function, &arguments, keywords.len())
            }
            None if self.values(callee).kinds().meets(crate::formula::lint::ranges::Kinds::FUNCTION) => {
                Outcome::UNKNOWN
            }
            None => Outcome::fails(ErrorKind::Type),
        };
        self.set(id, outcome.unless_never(&values));
    }

    fn argument(&self, node: NodeId) -> Argument {
        let items = match &self.expr.node(inside(self.expr, node)).kind {
            NodeKind::Tuple { items, .. } | NodeKind::List(items) => {
                Some(items.iter().map(|&item| self.values(item)).collect())
            }
            _ => None,
        };
        Argument { values: self.values(node), items }
    }

    fn boolean(&mut self, id: NodeId, known: usize, decided: Values, mark: Mark) {
        let expr = self.expr;
        let NodeKind::Boolean { op, operands } = &expr.node(id).kind else { return };
        let last = operands[known - 1];
        let values = self.values(last);
        let goes_on_if = *op == BooleanOperator::And;
        let truth = values.truth();
        let goes_on = if goes_on_if { truth.may_hold } else { truth.may_fail };
        if known == operands.len() || !goes_on {
            self.leave(mark);
            return self.set(id, Outcome::fine(decided.or(values)));
        }
        let exits = values.that_are(!goes_on_if);
        self.conditional |= !exits.is_never();
        self.assume(last, goes_on_if);
        self.tasks.extend([Task::Boolean(id, known + 1, decided.or(exits), mark), Task::Visit(operands[known])]);
    }

    fn branch(&mut self, id: NodeId) {
        let NodeKind::Conditional { then, condition, otherwise } = self.expr.node(id).kind else { return };
        let truth = self.values(condition).truth();
        let either = truth.may_hold && truth.may_fail;
        let mark = self.mark();
        self.tasks.push(Task::Finish(id));
        for (branch, holds, is_taken) in [(otherwise, false, truth.may_fail), (then, true, truth.may_hold)] {
            if is_taken {
                self.tasks.extend([Task::Leave(mark), Task::Visit(branch), Task::Enter(condition, holds, either)]);
            }
        }
    }
}
