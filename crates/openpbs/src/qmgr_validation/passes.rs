//! The two passes of the server's script, and the answer that the server derives from them.

use std::sync::Arc;

use job_sort_formula::PythonVersion;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::program::Program;
use job_sort_formula::formula::syntax::{Expr, ExprKind};
use job_sort_formula::python::{ErrorKind, KnownOrType, Python, Value, WithComplex};
use job_sort_formula::schema::Schema;

use super::{Uncertainty, Validation};

/// The server's answer to an expression that Python parses.
pub(super) fn answer(expr: &Arc<Expr>, schema: &Schema) -> Result<Validation, Uncertainty> {
    let mut pass = Pass {
        schema,
        is_first: true,
        ans: KnownOrType::Known(Value::Int(0)),
        e_is_deleted: false,
    };
    let refused = pass.compile(expr)?.refused().map(|raised| raised.kind);
    // the parser up to 3.8 answers some formulas that are too deep as if they were no Python
    if refused == Some(ErrorKind::Limit) && schema.python() < PythonVersion::V3_9 {
        return Err(Uncertainty::Size);
    }
    if has_every_name(expr, schema) {
        return Ok(Validation::ACCEPTED);
    }
    if refused.is_some() {
        return Err(Uncertainty::Size);
    }
    match pass.execute(expr)? {
        Outcome::NameError => return Ok(Validation::INVALID_KEYWORD),
        Outcome::OtherException => pass.e_is_deleted = true,
        Outcome::Value(value) => pass.ans = value,
    }
    pass.is_first = false;
    match pass.execute(expr)? {
        Outcome::NameError => Ok(Validation::INVALID_RESOURCE_TYPE),
        Outcome::Value(_) | Outcome::OtherException => Ok(Validation::ACCEPTED),
    }
}

/// Whether every name has a value in both passes, so that nothing can raise a `NameError`. An
/// exception in the first pass deletes `e`.
fn has_every_name(expr: &Expr, schema: &Schema) -> bool {
    for node in expr.nodes() {
        if let ExprKind::Name(name) = &node.kind {
            let resolution =
                Resolution::resolve(name, schema.python(), |name| schema.is_numeric(name));
            if **name == *"e" || !matches!(resolution, Resolution::Constant(_) | Resolution::Input)
            {
                return false;
            }
        }
    }
    true
}

/// How an execution ends.
enum Outcome {
    Value(KnownOrType<Value>),
    NameError,
    /// An exception that the server ignores.
    OtherException,
}

/// One execution of the formula in the server's script.
struct Pass<'s> {
    schema: &'s Schema,
    is_first: bool,
    /// The script's variable to which the formula is assigned.
    ans: KnownOrType<Value>,
    /// Whether the script's `except … as e` has deleted `math.e`.
    e_is_deleted: bool,
}

impl Pass<'_> {
    fn execute(&self, expr: &Arc<Expr>) -> Result<Outcome, Uncertainty> {
        let program = self.compile(expr)?;
        let mut inputs = Vec::new();
        for name in program.inputs() {
            inputs.push(self.input(name));
        }
        let mut interpreter = program.interpreter(WithComplex(Python::new()));
        match interpreter.evaluate(&inputs) {
            Ok(value) => Ok(Outcome::Value(value)),
            Err(error) => match error.kind() {
                ErrorKind::Name => Ok(Outcome::NameError),
                ErrorKind::Limit | ErrorKind::Complex => Err(Uncertainty::Limit),
                _ => Ok(Outcome::OtherException),
            },
        }
    }

    fn compile(&self, expr: &Arc<Expr>) -> Result<Program, Uncertainty> {
        let resolve = |name: &str| self.resolve(name);
        Program::compile_with(Arc::clone(expr), self.schema.python(), &resolve)
            .map_err(|_| Uncertainty::NonArithmetic)
    }

    /// The script's variables, among which is `math`, come before the resources, and the builtins
    /// come last.
    fn resolve(&self, name: &str) -> Resolution {
        match name {
            "ans" | "errnum" | "errmsg" | "globals1" | "globals2" => Resolution::Input,
            "e" if self.e_is_deleted && self.is_resource(name) => Resolution::Input,
            "e" if self.e_is_deleted => Resolution::Undefined,
            _ => Resolution::resolve(name, self.schema.python(), |name| self.is_resource(name)),
        }
    }

    fn is_resource(&self, name: &str) -> bool {
        if self.is_first {
            self.schema.entry(name).is_some()
        } else {
            self.schema.is_numeric(name)
        }
    }

    /// Every resource is 1.
    fn input(&self, name: &str) -> KnownOrType<Value> {
        match name {
            "ans" => self.ans.clone(),
            "errnum" => KnownOrType::Known(Value::Int(0)),
            "errmsg" => KnownOrType::Type("str"),
            "globals1" | "globals2" => KnownOrType::Type("dict"),
            _ => KnownOrType::Known(Value::Int(1)),
        }
    }
}
