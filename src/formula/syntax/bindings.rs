//! Which `:=` Python refuses because of what a comprehension binds.
//!
//! A whole tree enters, the first `:=` that CPython's symbol table turns down leaves. That table is filled part by
//! part, and a conflict shows only where its second half comes by: `:=` may not take a name that a comprehension
//! around it already loops with, nor may a comprehension loop with a name that `:=` took in that very scope before.
//! So the order of the parts decides, and it is CPython's (`Python/symtable.c`, 3.11).

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Span;
use crate::formula::syntax::{Construct, Expr, NodeId, NodeKind, Scope, SyntaxError, SyntaxErrorKind};

/// Refuses a tree with a `:=` that Python refuses.
pub(super) fn check(expr: &Expr) -> Result<(), SyntaxError> {
    let is_assignment =
        |kind: &NodeKind| matches!(kind, NodeKind::Foreign { construct: Construct::AssignmentExpression, .. });
    let has_loop = expr.scopes().any(|(_, scope)| matches!(scope, Scope::Comprehension { .. }));
    if !has_loop || !expr.nodes().iter().any(|node| is_assignment(&node.kind)) {
        return Ok(());
    }
    let mut table = Table { expr, levels: vec![Level::default()] };
    let mut steps = vec![Step::Visit(expr.root())];
    while let Some(step) = steps.pop() {
        let from = steps.len();
        table.take(step, &mut steps).map_err(|span| SyntaxError::new(SyntaxErrorKind::MisplacedAssignment, span))?;
        // what is to come first must lie on top
        steps[from..].reverse();
    }
    Ok(())
}

/// What is yet to be done, so that a deep tree needs no deep stack.
#[derive(Clone, Copy)]
enum Step {
    Visit(NodeId),
    Enter {
        is_comprehension: bool,
    },
    Leave,
    /// Whether what follows is a target of a loop.
    Target(bool),
    /// Whether what follows is what a loop goes through.
    Iterable(bool),
}

/// The formula itself, a lambda or a comprehension.
#[derive(Default)]
struct Level<'e> {
    is_comprehension: bool,
    in_target: bool,
    /// How many loops go through what stands here; in a lambda or a comprehension there, these count too.
    iterables: usize,
    /// The names in targets, be they only the base of an item.
    looped: BTreeSet<&'e str>,
    /// The names that `:=` took here, and where.
    assigned: BTreeMap<&'e str, Span>,
}

struct Table<'e> {
    expr: &'e Expr,
    /// The innermost last.
    levels: Vec<Level<'e>>,
}

impl<'e> Table<'e> {
    /// Takes one step; those that it leads to come in their order behind the others.
    fn take(&mut self, step: Step, steps: &mut Vec<Step>) -> Result<(), Span> {
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        match step {
            Step::Visit(id) => return self.visit(id, steps),
            Step::Target(is_one) => level.in_target = is_one,
            Step::Iterable(true) => level.iterables += 1,
            Step::Iterable(false) => level.iterables -= 1,
            Step::Enter { is_comprehension } => {
                let iterables = level.iterables;
                self.levels.push(Level { is_comprehension, iterables, ..Level::default() });
            }
            Step::Leave => drop(self.levels.pop()),
        }
        Ok(())
    }

    fn visit(&mut self, id: NodeId, steps: &mut Vec<Step>) -> Result<(), Span> {
        let node = self.expr.node(id);
        match (&node.kind, self.expr.scope(id)) {
            (NodeKind::Name(name), _) => self.name(name)?,
            (_, Some(scope)) => open(scope, steps),
            (NodeKind::Foreign { construct: Construct::AssignmentExpression, parts }, _) => {
                if let Some(NodeKind::Name(name)) = parts.first().map(|&target| &self.expr.node(target).kind) {
                    self.assignment(name, node.span)?;
                }
                steps.extend(parts.iter().copied().map(Step::Visit));
            }
            (kind, None) => steps.extend(kind.children().into_iter().map(Step::Visit)),
        }
        Ok(())
    }

    fn name(&mut self, name: &'e str) -> Result<(), Span> {
        let Some(level) = self.levels.last_mut().filter(|level| level.in_target) else { return Ok(()) };
        level.looped.insert(name);
        level.assigned.get(name).map_or(Ok(()), |&span| Err(span))
    }

    fn assignment(&mut self, name: &'e str, span: Span) -> Result<(), Span> {
        let mut around = self.levels.iter().rev().take_while(|level| level.is_comprehension);
        if around.any(|level| level.looped.contains(name)) {
            return Err(span);
        }
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        if level.iterables > 0 || (level.is_comprehension && level.in_target) {
            return Err(span);
        }
        if level.is_comprehension {
            level.assigned.insert(name, span);
        }
        Ok(())
    }
}

/// The parts of a lambda or a comprehension, in CPython's order: what the first loop goes through stands outside.
fn open(scope: &Scope, steps: &mut Vec<Step>) {
    let visit = |nodes: &[NodeId], steps: &mut Vec<Step>| steps.extend(nodes.iter().copied().map(Step::Visit));
    match scope {
        Scope::Lambda { parameters, body } => {
            steps.extend(parameters.iter().filter_map(|parameter| parameter.default).map(Step::Visit));
            steps.extend([Step::Enter { is_comprehension: false }, Step::Visit(*body)]);
        }
        Scope::Comprehension { items, clauses, .. } => {
            for (index, clause) in clauses.iter().enumerate() {
                let iterable = [Step::Iterable(true), Step::Visit(clause.iterable), Step::Iterable(false)];
                if index == 0 {
                    steps.extend(iterable);
                    steps.push(Step::Enter { is_comprehension: true });
                }
                steps.push(Step::Target(true));
                visit(&clause.targets, steps);
                steps.push(Step::Target(false));
                if index > 0 {
                    steps.extend(iterable);
                }
                visit(&clause.conditions, steps);
            }
            visit(items, steps);
        }
    }
    steps.push(Step::Leave);
}
