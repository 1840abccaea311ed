//! Whether every name of a formula has a value wherever it is evaluated, by Python's rules of scopes.
//!
//! The server accepts such a formula whatever it computes. A lambda and a comprehension have names of their own; they look
//! other names up among the resources and the builtins, not among the script's variables. What `:=` assigns may have no
//! value yet, or be local to a lambda, so this module does not decide a formula that reads such a name.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use job_sort_formula::formula::lint::{attribute_of, is_dangerous_attribute, is_dangerous_builtin};
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::syntax::{Clause, Construct, Expr, ExprId, ExprKind, Scope};
use job_sort_formula::python::PythonVersion;

use crate::qmgr_validation::passes::DECISIVE_VARIABLES;
use crate::qmgr_validation::statements::{Statement, Target};

/// Whether a pass of the server's script with these resources can raise no `NameError` and cannot change the script.
pub(super) fn are_all_bound(
    statements: &[Statement],
    python: PythonVersion,
    is_resource: &dyn Fn(&str) -> bool,
) -> bool {
    let exprs = || statements.iter().flat_map(Statement::exprs);
    let reassigned: BTreeSet<&str> = exprs().flat_map(|expr| names_of_assignment_expressions(expr)).collect();
    if reassigned.iter().any(|name| DECISIVE_VARIABLES.contains(name)) {
        return false;
    }
    let mut assigned = BTreeSet::new();
    statements.iter().all(|statement| match statement {
        Statement::Pass => true,
        Statement::Augmented { .. } => false,
        Statement::Assignment { targets, value } => {
            let is_bound = Analysis::new(value, python, is_resource, &assigned, &reassigned).visit_all();
            let names: Option<Vec<&str>> = targets.iter().map(Target::name).collect();
            let Some(names) = names else { return false };
            let is_decisive = names.iter().any(|name| DECISIVE_VARIABLES.contains(name));
            assigned.extend(names);
            is_bound && !is_decisive
        }
    })
}

/// A lambda, or a comprehension after one of its clauses.
struct Frame<'e> {
    parent: usize,
    /// The local names, each with the clause that assigns it first; 0 for parameters.
    names: Rc<BTreeMap<&'e str, usize>>,
    /// The last clause whose targets have values.
    clause: usize,
}

struct Analysis<'e> {
    expr: &'e Expr,
    python: PythonVersion,
    is_resource: &'e dyn Fn(&str) -> bool,
    /// The names that earlier statements assign.
    assigned: &'e BTreeSet<&'e str>,
    /// The names that `:=` assigns anywhere in the formula.
    reassigned: &'e BTreeSet<&'e str>,
    /// The first is the formula itself.
    frames: Vec<Frame<'e>>,
    /// Nodes that are still to be visited, with their frames.
    open: Vec<(ExprId, usize)>,
}

impl<'e> Analysis<'e> {
    fn new(
        expr: &'e Expr,
        python: PythonVersion,
        is_resource: &'e dyn Fn(&str) -> bool,
        assigned: &'e BTreeSet<&'e str>,
        reassigned: &'e BTreeSet<&'e str>,
    ) -> Self {
        let module = Frame { parent: 0, names: Rc::default(), clause: 0 };
        let open = vec![(expr.root(), 0)];
        Self { expr, python, is_resource, assigned, reassigned, frames: vec![module], open }
    }

    /// Visits every node that may be evaluated; whether each name among them has a value.
    fn visit_all(mut self) -> bool {
        while let Some((id, frame)) = self.open.pop() {
            if !self.visit(id, frame) {
                return false;
            }
        }
        true
    }

    /// Whether nothing in the node itself can raise a `NameError`; its parts are added to `open`.
    fn visit(&mut self, id: ExprId, frame: usize) -> bool {
        let node = self.expr.node(id);
        match (&node.kind, self.expr.scope(id)) {
            (ExprKind::Name(name), _) => return self.is_bound(name, frame),
            (_, Some(Scope::Lambda { parameters, body })) => {
                let defaults = parameters.iter().filter_map(|parameter| parameter.default);
                self.open.extend(defaults.map(|default| (default, frame)));
                let names = parameters.iter().map(|parameter| (&*parameter.name, 0)).collect();
                self.frames.push(Frame { parent: frame, names: Rc::new(names), clause: 0 });
                self.open.push((*body, self.frames.len() - 1));
            }
            (_, Some(Scope::Comprehension { items, clauses, .. })) => return self.comprehension(items, clauses, frame),
            (ExprKind::Unsupported { construct: Construct::AssignmentExpression, parts }, _) => {
                self.open.extend(parts.iter().skip(1).map(|&part| (part, frame)));
            }
            (ExprKind::Unsupported { construct: Construct::Attribute, parts }, _) => {
                self.open.extend(parts.iter().map(|&part| (part, frame)));
                return attribute_of(self.expr, node).is_some_and(|(_, name)| !is_dangerous_attribute(name));
            }
            (kind, _) => self.open.extend(kind.children().into_iter().map(|child| (child, frame))),
        }
        true
    }

    /// The targets of a clause have values in its conditions, in the clauses after it and in the items.
    fn comprehension(&mut self, items: &[ExprId], clauses: &'e [Clause], frame: usize) -> bool {
        let mut names = BTreeMap::new();
        for (index, clause) in clauses.iter().enumerate() {
            let Some(targets) = self.targets(clause).filter(|_| !clause.is_async) else { return false };
            for name in targets {
                names.entry(name).or_insert(index);
            }
        }
        let names = Rc::new(names);
        let mut inner = frame;
        for (index, clause) in clauses.iter().enumerate() {
            self.open.push((clause.iterable, inner));
            self.frames.push(Frame { parent: frame, names: Rc::clone(&names), clause: index });
            inner = self.frames.len() - 1;
            self.open.extend(clause.conditions.iter().map(|&condition| (condition, inner)));
        }
        self.open.extend(items.iter().map(|&item| (item, inner)));
        true
    }

    /// The names that a clause assigns; `None` if it assigns to anything else.
    fn targets(&self, clause: &Clause) -> Option<Vec<&'e str>> {
        let mut names = Vec::new();
        let mut open = clause.targets.to_vec();
        while let Some(id) = open.pop() {
            match &self.expr.node(id).kind {
                ExprKind::Name(name) => names.push(&**name),
                ExprKind::Unsupported { construct: Construct::Attribute | Construct::Subscript, .. } => return None,
                kind => open.extend(kind.children()),
            }
        }
        Some(names)
    }

    fn is_bound(&self, name: &str, frame: usize) -> bool {
        if self.reassigned.contains(name) {
            return false;
        }
        let mut at = frame;
        while at > 0 {
            let frame = &self.frames[at];
            if let Some(clause) = frame.names.get(name) {
                return *clause <= frame.clause;
            }
            at = frame.parent;
        }
        if matches!(name, "True" | "False" | "None" | "__debug__") {
            return true;
        }
        if is_dangerous_builtin(name) {
            return false;
        }
        if (self.is_resource)(name) || Resolution::is_builtin(name, self.python) {
            return true;
        }
        let is_script_variable = self.assigned.contains(name) || matches!(name, "ans" | "errnum" | "errmsg");
        // an exception in the first pass deletes `e`
        let is_math =
            name != "e" && !matches!(Resolution::resolve(name, self.python, |_| false), Resolution::Undefined);
        frame == 0 && (is_script_variable || is_math)
    }
}

/// The names that a formula assigns with `:=` in a comprehension outside a lambda. They are global: wherever the server's
/// script reads or assigns them, Python looks among the resources and the builtins, not among the script's variables.
pub(super) fn global_names(expr: &Expr) -> Vec<&str> {
    let mut names = Vec::new();
    let mut open = vec![(expr.root(), false)];
    while let Some((id, in_comprehension)) = open.pop() {
        let node = expr.node(id);
        match (&node.kind, expr.scope(id)) {
            (_, Some(Scope::Lambda { parameters, .. })) => {
                let defaults = parameters.iter().filter_map(|parameter| parameter.default);
                open.extend(defaults.map(|default| (default, in_comprehension)));
            }
            (kind, scope) => {
                names.extend(name_of_assignment_expression(expr, kind).filter(|_| in_comprehension));
                let is_inside = in_comprehension || scope.is_some();
                open.extend(kind.children().into_iter().map(|child| (child, is_inside)));
            }
        }
    }
    names
}

fn names_of_assignment_expressions(expr: &Expr) -> impl Iterator<Item = &str> {
    expr.nodes().iter().filter_map(|node| name_of_assignment_expression(expr, &node.kind))
}

fn name_of_assignment_expression<'e>(expr: &'e Expr, kind: &ExprKind) -> Option<&'e str> {
    let ExprKind::Unsupported { construct: Construct::AssignmentExpression, parts } = kind else { return None };
    match &expr.node(*parts.first()?).kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
