//! The two passes of the server's script, and the answer that the server derives from them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::program::{Program, compiles};
use job_sort_formula::formula::syntax::{Construct, Expr, ExprKind};
use job_sort_formula::python::{ErrorKind, Value};
use job_sort_formula::schema::Schema;

use crate::qmgr_validation::bound_names;
use crate::qmgr_validation::operands::{Operand, OperandArithmetic};
use crate::qmgr_validation::statements::{Statement, Target};
use crate::qmgr_validation::{Uncertainty, Validation};

/// Variables of the server's script on which its answer depends.
pub(super) const DECISIVE_VARIABLES: [&str; 7] =
    ["errnum", "exec", "locals", "globals2", "SyntaxError", "NameError", "Exception"];

/// The server's answer to statements that Python parses.
pub(super) fn answer(statements: &[Statement], schema: &Schema) -> Result<Validation, Uncertainty> {
    let compiled: Vec<Option<bool>> =
        statements.iter().flat_map(Statement::exprs).map(|expr| compiles(expr, schema.python())).collect();
    // too deep for CPython's compiler, which raises no `SyntaxError`
    if compiled.contains(&Some(false))
        || bound_names::are_all_bound(statements, schema.python(), &|name| schema.is_numeric(name))
    {
        return Ok(Validation::ACCEPTED);
    }
    if compiled.contains(&None) {
        return Err(Uncertainty::Size);
    }
    let mut pass = Pass::first(schema, statements);
    match pass.execute(statements) {
        Err(Stop::NameError) => return Ok(Validation::INVALID_KEYWORD),
        Err(Stop::Unknown(uncertainty)) => {
            if !bound_names::are_all_bound(statements, schema.python(), &|name| schema.entry(name).is_some())
                || reads_e(statements)
            {
                return Err(uncertainty);
            }
            pass.begin_second_with_unknown_values(statements);
        }
        Err(Stop::OtherException) => pass.begin_second(true),
        Ok(()) => pass.begin_second(false),
    }
    match pass.execute(statements) {
        Err(Stop::NameError) => Ok(Validation::INVALID_RESOURCE_TYPE),
        Err(Stop::Unknown(uncertainty)) => Err(uncertainty),
        Ok(()) | Err(Stop::OtherException) => Ok(Validation::ACCEPTED),
    }
}

/// Whether the formula reads `e`, which an exception in the first pass deletes.
fn reads_e(statements: &[Statement]) -> bool {
    let exprs = statements.iter().flat_map(Statement::exprs);
    exprs.flat_map(|expr| expr.nodes()).any(|node| matches!(&node.kind, ExprKind::Name(name) if **name == *"e"))
}

/// Why an execution stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    NameError,
    /// An exception that the server ignores.
    OtherException,
    Unknown(Uncertainty),
}

/// One execution of the formula in the server's script.
struct Pass<'s> {
    schema: &'s Schema,
    is_first: bool,
    /// The script's own variables that are not part of `math`, and those that the formula assigns.
    variables: BTreeMap<Box<str>, Operand>,
    /// The names that are no variables of the script, since `:=` assigns them in a comprehension.
    globals: BTreeSet<&'s str>,
    /// Whether `math.e` is deleted: the script's `except … as e` deletes that name.
    e_is_deleted: bool,
}

impl<'s> Pass<'s> {
    fn first(schema: &'s Schema, statements: &'s [Statement]) -> Self {
        let exprs = statements.iter().flat_map(Statement::exprs);
        let globals: BTreeSet<&str> = exprs.flat_map(|expr| bound_names::global_names(expr)).collect();
        let variables = [
            ("ans".into(), Operand::Known(Value::Int(0))),
            ("errnum".into(), Operand::Known(Value::Int(0))),
            ("errmsg".into(), Operand::Opaque),
            ("globals1".into(), Operand::Opaque),
            ("globals2".into(), Operand::Opaque),
        ];
        let mut pass = Self { schema, is_first: true, variables: variables.into(), globals, e_is_deleted: false };
        pass.forget_globals();
        pass
    }

    /// Each pass begins with globals of its own: the resources and the builtins.
    fn forget_globals(&mut self) {
        self.variables.retain(|name, _| !self.globals.contains(&**name));
    }

    fn begin_second(&mut self, has_raised: bool) {
        self.is_first = false;
        self.forget_globals();
        if has_raised {
            self.e_is_deleted = true;
            self.variables.remove("e");
        }
    }

    /// Begins the second pass when all that is known of the first is that it raises no `NameError`.
    fn begin_second_with_unknown_values(&mut self, statements: &[Statement]) {
        self.begin_second(false);
        for statement in statements {
            if let Statement::Assignment { targets, .. } = statement {
                let names = targets.iter().filter_map(Target::name).filter(|name| !self.globals.contains(name));
                self.variables.extend(names.map(|name| (name.into(), Operand::Opaque)));
            }
        }
    }

    fn execute(&mut self, statements: &[Statement]) -> Result<(), Stop> {
        for statement in statements {
            match statement {
                Statement::Pass => {}
                Statement::Assignment { targets, value } => {
                    let value = self.evaluate(value)?;
                    for target in targets {
                        let name = target.name().filter(|name| !DECISIVE_VARIABLES.contains(name));
                        let name = name.ok_or(Stop::Unknown(Uncertainty::Statement))?;
                        self.variables.insert(name.into(), value.clone());
                    }
                }
                Statement::Augmented { target, value } => {
                    self.evaluate(target)?;
                    self.evaluate(value)?;
                    return Err(Stop::Unknown(Uncertainty::Statement));
                }
            }
        }
        Ok(())
    }

    fn evaluate(&self, expr: &Arc<Expr>) -> Result<Operand, Stop> {
        let program = Program::compile_python(Arc::clone(expr), self.schema.python(), &|name| self.resolve(name))
            .map_err(|_| Stop::Unknown(Uncertainty::NonArithmetic))?;
        let inputs: Vec<Operand> = program.inputs().iter().map(|name| self.input(name)).collect();
        let mut evaluator = program.interpreter(OperandArithmetic::default());
        let result = evaluator.evaluate(&inputs);
        if let Some(uncertainty) = evaluator.arithmetic().uncertainty() {
            return Err(Stop::Unknown(uncertainty));
        }
        result.map_err(|error| match error.kind() {
            ErrorKind::Name => Stop::NameError,
            _ => Stop::OtherException,
        })
    }

    fn is_resource(&self, name: &str) -> bool {
        if self.is_first { self.schema.entry(name).is_some() } else { self.schema.is_numeric(name) }
    }

    /// The script's variables, among which is `math`, come before the resources, and the builtins come last.
    fn resolve(&self, name: &str) -> Resolution {
        match name {
            _ if self.variables.contains_key(name) => Resolution::Input,
            _ if self.globals.contains(name) => {
                let exists = self.is_resource(name) || Resolution::is_builtin(name, self.schema.python());
                if exists { Resolution::Input } else { Resolution::Undefined }
            }
            "e" if self.e_is_deleted && self.is_resource(name) => Resolution::Input,
            "e" if self.e_is_deleted => Resolution::Undefined,
            _ => Resolution::resolve(name, self.schema.python(), |name| self.is_resource(name)),
        }
    }

    /// Every resource is 1.
    fn input(&self, name: &str) -> Operand {
        match self.variables.get(name) {
            Some(value) => value.clone(),
            None if self.is_resource(name) => Operand::Known(Value::Int(1)),
            None if name == Construct::Imaginary.description() => Operand::Complex,
            None => Operand::Opaque,
        }
    }
}
