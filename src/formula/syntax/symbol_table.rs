//! The check of `:=` against the names that a comprehension binds.
//!
//! A whole tree enters; the first `:=` that CPython's symbol table refuses leaves. CPython fills that table in the order
//! of the text and reports a conflict when its second half is added: `:=` must not bind a name that a comprehension
//! around it already iterates with, nor may a comprehension iterate with a name that `:=` bound earlier in the same
//! scope. So the order of the parts matters, and it is CPython's (`Python/symtable.c`, 3.11). Since 3.12 a comprehension
//! iterates only with names that it assigns to, itself or by `:=`, which assigns after its value: "What's New in Python
//! 3.12", gh-100581.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Span;
use crate::formula::syntax::{Construct, Expr, ExprId, ExprKind, Scope, SyntaxError, SyntaxErrorKind};
use crate::python::PythonVersion;

/// # Errors
/// A `:=` that CPython refuses.
pub(super) fn check(expr: &Expr, python: PythonVersion) -> Result<(), SyntaxError> {
    let is_assignment =
        |kind: &ExprKind| matches!(kind, ExprKind::Unsupported { construct: Construct::AssignmentExpression, .. });
    let has_loop = expr.scopes().any(|(_, scope)| matches!(scope, Scope::Comprehension { .. }));
    if !has_loop || !expr.nodes().iter().any(|node| is_assignment(&node.kind)) {
        return Ok(());
    }
    let loads_are_targets = python < PythonVersion::V3_12;
    let mut table = SymbolTable { expr, loads_are_targets, scopes: vec![OpenScope::default()] };
    let mut steps = vec![Step::Visit(expr.root())];
    while let Some(step) = steps.pop() {
        let from = steps.len();
        table.step(step, &mut steps).map_err(|span| SyntaxError::new(SyntaxErrorKind::MisplacedAssignment, span))?;
        // the first step of a node must be on top of the stack
        steps[from..].reverse();
    }
    Ok(())
}

/// The work that remains, kept on the heap so that a deep tree needs no deep stack.
#[derive(Clone, Copy)]
enum Step {
    Visit(ExprId),
    Enter {
        is_comprehension: bool,
    },
    Leave,
    /// The target of a `:=` whose value was visited.
    Assigned(ExprId),
    /// Whether the following nodes are targets of a loop.
    Target(bool),
    /// Whether the following nodes are the base and the index of an item, or of an attribute, that a loop assigns to.
    Load(bool),
    /// Whether the following nodes are the iterable of a loop.
    Iterable(bool),
}

/// The formula itself, a lambda or a comprehension.
#[derive(Default)]
struct OpenScope<'e> {
    is_comprehension: bool,
    in_target: bool,
    /// The number of items and attributes around the present node of a target.
    loads: usize,
    /// The number of iterables around the present node, including those around the scope itself.
    iterables: usize,
    /// The names in targets; before 3.12 including those of items and attributes.
    targets: BTreeSet<&'e str>,
    /// Since 3.12, the names of items and attributes in targets: they are targets once `:=` has assigned to them here.
    loaded: BTreeSet<&'e str>,
    /// The names that `:=` binds here, with their spans.
    bound: BTreeMap<&'e str, Span>,
    /// Those to which `:=` has assigned.
    assigned: BTreeSet<&'e str>,
}

impl OpenScope<'_> {
    fn iterates_with(&self, name: &str) -> bool {
        self.targets.contains(name) || self.loaded.contains(name) && self.assigned.contains(name)
    }
}

struct SymbolTable<'e> {
    expr: &'e Expr,
    loads_are_targets: bool,
    /// The innermost last.
    scopes: Vec<OpenScope<'e>>,
}

impl<'e> SymbolTable<'e> {
    /// Does one step; appends the steps that follow from it, in their order.
    fn step(&mut self, step: Step, steps: &mut Vec<Step>) -> Result<(), Span> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        match step {
            Step::Visit(id) => return self.visit(id, steps),
            Step::Target(is_one) => scope.in_target = is_one,
            Step::Load(true) => scope.loads += 1,
            Step::Load(false) => scope.loads -= 1,
            Step::Iterable(true) => scope.iterables += 1,
            Step::Iterable(false) => scope.iterables -= 1,
            Step::Enter { is_comprehension } => {
                let iterables = scope.iterables;
                self.scopes.push(OpenScope { is_comprehension, iterables, ..OpenScope::default() });
            }
            Step::Leave => drop(self.scopes.pop()),
            Step::Assigned(target) => {
                if let ExprKind::Name(name) = &self.expr.node(target).kind {
                    scope.assigned.insert(name);
                }
            }
        }
        Ok(())
    }

    fn visit(&mut self, id: ExprId, steps: &mut Vec<Step>) -> Result<(), Span> {
        let node = self.expr.node(id);
        match (&node.kind, self.expr.scope(id)) {
            (ExprKind::Name(name), _) => self.name(name)?,
            (_, Some(scope)) => push_scope(scope, steps),
            (ExprKind::Unsupported { construct: Construct::AssignmentExpression, parts }, _) => {
                if let Some(ExprKind::Name(name)) = parts.first().map(|&target| &self.expr.node(target).kind) {
                    self.assignment(name, node.span)?;
                }
                steps.extend(parts.iter().copied().map(Step::Visit));
                steps.extend(parts.first().copied().map(Step::Assigned));
            }
            (ExprKind::Unsupported { construct: Construct::Attribute | Construct::Subscript, parts }, _) => {
                steps.push(Step::Load(true));
                steps.extend(parts.iter().copied().map(Step::Visit));
                steps.push(Step::Load(false));
            }
            (kind, None) => steps.extend(kind.children().into_iter().map(Step::Visit)),
        }
        Ok(())
    }

    fn name(&mut self, name: &'e str) -> Result<(), Span> {
        let Some(scope) = self.scopes.last_mut().filter(|scope| scope.in_target) else { return Ok(()) };
        let is_target = self.loads_are_targets || scope.loads == 0;
        if is_target { &mut scope.targets } else { &mut scope.loaded }.insert(name);
        scope.bound.get(name).map_or(Ok(()), |&span| Err(span))
    }

    fn assignment(&mut self, name: &'e str, span: Span) -> Result<(), Span> {
        let mut around = self.scopes.iter().rev().take_while(|scope| scope.is_comprehension);
        if around.any(|scope| scope.iterates_with(name)) {
            return Err(span);
        }
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if scope.iterables > 0 || (scope.is_comprehension && scope.in_target) {
            return Err(span);
        }
        if scope.is_comprehension {
            scope.bound.insert(name, span);
        }
        Ok(())
    }
}

/// The steps of a lambda or a comprehension in CPython's order: the first iterable belongs to the scope around it.
fn push_scope(scope: &Scope, steps: &mut Vec<Step>) {
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
                steps.extend(clause.targets.iter().copied().map(Step::Visit));
                steps.push(Step::Target(false));
                if index > 0 {
                    steps.extend(iterable);
                }
                steps.extend(clause.conditions.iter().copied().map(Step::Visit));
            }
            steps.extend(items.iter().copied().map(Step::Visit));
        }
    }
    steps.push(Step::Leave);
}
