//! What a condition says of the parts that it tests.

use crate::formula::lint::ranges::compare;
use crate::formula::lint::ranges::values::Values;
use crate::formula::lint::ranges::walk::Walk;
use crate::formula::syntax::{NodeId, NodeKind};
use crate::python::{BooleanOperator, UnaryOperator};

impl Walk<'_> {
    /// Narrows what a condition tests to where it holds or fails.
    pub(super) fn assume(&mut self, condition: NodeId, holds: bool) {
        let expr = self.expr;
        let mut conditions = vec![(condition, holds)];
        while let Some((node, holds)) = conditions.pop() {
            match &expr.node(node).kind {
                NodeKind::Parenthesised(inner) => conditions.push((*inner, holds)),
                NodeKind::Unary { op: UnaryOperator::Not, operand } => conditions.push((*operand, !holds)),
                NodeKind::Boolean { op, operands } if (*op == BooleanOperator::And) == holds => {
                    conditions.extend(operands.iter().map(|&operand| (operand, holds)));
                }
                NodeKind::Comparison { operators, operands } if holds || operators.len() == 1 => {
                    for (index, &op) in operators.iter().enumerate() {
                        let (a, b) = (operands[index], operands[index + 1]);
                        let (x, y) = (self.current(a), self.current(b));
                        self.narrow(a, compare::refined(op, x, y, holds));
                        self.narrow(b, compare::refined(compare::turned(op), y, x, holds));
                    }
                }
                NodeKind::Comparison { .. } | NodeKind::Boolean { .. } => {}
                _ => self.narrow(node, self.current(node).that_are(holds)),
            }
        }
    }

    /// What a part can be by now.
    fn current(&self, node: NodeId) -> Values {
        let values = self.values(node);
        let assumed = self.classes.get(node.index()).and_then(|class| self.assumed.get(class));
        assumed.map_or(values, |assumed| values.and(*assumed))
    }

    fn narrow(&mut self, node: NodeId, values: Values) {
        if let Some(&class) = self.classes.get(node.index())
            && !values.is_never()
        {
            self.before.push((class, self.assumed.insert(class, values)));
        }
    }
}
