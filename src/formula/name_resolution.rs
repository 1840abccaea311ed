//! What a name means, in the order in which OpenPBS's scheduler looks it up.

use crate::python::{Function, Value, constant};
use crate::schema::Schema;

/// The meaning of a name.
#[derive(Debug, Clone)]
pub enum Meaning {
    /// A value that never changes: `pi`, `True`, a function.
    Constant(Value),
    /// An input of the job.
    Input,
    /// A builtin of Python's that computes no number.
    Foreign,
    /// Nothing: Python raises `NameError`.
    Undefined,
}

impl Meaning {
    /// Looks a name up: the words `True False None __debug__`, then `math`, then the numeric names of the schema, then
    /// Python's builtins (OpenPBS: locals, globals, builtins).
    pub fn of(name: &str, schema: &Schema) -> Self {
        // a variable of the scheduler's own script, which hides a site's resource of that name
        if name == "ex" && schema.is_numeric(name) {
            return Self::Constant(Value::None);
        }
        Self::resolve(name, |name| schema.is_numeric(name))
    }

    /// Looks a name up in the same order, with other inputs than the numeric names of a schema.
    pub(crate) fn resolve(name: &str, is_input: impl Fn(&str) -> bool) -> Self {
        match name {
            "True" | "__debug__" => return Self::Constant(Value::Bool(true)),
            "False" => return Self::Constant(Value::Bool(false)),
            "None" => return Self::Constant(Value::None),
            _ => {}
        }
        if let Some(value) = constant(name) {
            return Self::Constant(value);
        }
        let function = Function::from_name(name);
        match function {
            Some(function) if function.is_math() => Self::Constant(Value::Function(function)),
            _ if is_input(name) => Self::Input,
            Some(function) => Self::Constant(Value::Function(function)),
            None if is_foreign_builtin(name) => Self::Foreign,
            None => Self::Undefined,
        }
    }

    /// Whether Python has a builtin of this name, which a resource of the same name hides.
    pub fn is_builtin(name: &str) -> bool {
        let function = Function::from_name(name);
        function.map_or_else(|| is_foreign_builtin(name), |function| !function.is_math())
    }
}

fn is_foreign_builtin(name: &str) -> bool {
    FOREIGN_BUILTINS.binary_search_by_key(&(name.len(), name), |builtin| (builtin.len(), builtin)).is_ok()
}

/// Names of Python 3.11 without a module that are no arithmetic, and those that every module has, the short ones
/// first: a search seldom has to look further than at the length.
const FOREIGN_BUILTINS: &[&str] = &[
    "id",
    "bin",
    "chr",
    "dir",
    "hex",
    "map",
    "oct",
    "ord",
    "set",
    "str",
    "zip",
    "dict",
    "eval",
    "exec",
    "hash",
    "iter",
    "list",
    "next",
    "open",
    "repr",
    "type",
    "vars",
    "aiter",
    "anext",
    "ascii",
    "bytes",
    "input",
    "print",
    "range",
    "slice",
    "super",
    "tuple",
    "filter",
    "format",
    "locals",
    "object",
    "sorted",
    "IOError",
    "OSError",
    "Warning",
    "__doc__",
    "compile",
    "complex",
    "delattr",
    "getattr",
    "globals",
    "hasattr",
    "setattr",
    "EOFError",
    "Ellipsis",
    "KeyError",
    "TabError",
    "__name__",
    "__spec__",
    "callable",
    "property",
    "reversed",
    "Exception",
    "NameError",
    "TypeError",
    "bytearray",
    "enumerate",
    "frozenset",
    "IndexError",
    "SystemExit",
    "ValueError",
    "__import__",
    "__loader__",
    "breakpoint",
    "isinstance",
    "issubclass",
    "memoryview",
    "BufferError",
    "ImportError",
    "LookupError",
    "MemoryError",
    "SyntaxError",
    "SystemError",
    "UserWarning",
    "__package__",
    "classmethod",
    "BytesWarning",
    "RuntimeError",
    "TimeoutError",
    "UnicodeError",
    "__builtins__",
    "staticmethod",
    "BaseException",
    "FutureWarning",
    "GeneratorExit",
    "ImportWarning",
    "OverflowError",
    "StopIteration",
    "SyntaxWarning",
    "AssertionError",
    "AttributeError",
    "ExceptionGroup",
    "NotImplemented",
    "RecursionError",
    "ReferenceError",
    "RuntimeWarning",
    "UnicodeWarning",
    "ArithmeticError",
    "BlockingIOError",
    "BrokenPipeError",
    "ConnectionError",
    "EncodingWarning",
    "FileExistsError",
    "PermissionError",
    "ResourceWarning",
    "__annotations__",
    "__build_class__",
    "EnvironmentError",
    "IndentationError",
    "InterruptedError",
    "ChildProcessError",
    "FileNotFoundError",
    "IsADirectoryError",
    "KeyboardInterrupt",
    "UnboundLocalError",
    "ZeroDivisionError",
    "BaseExceptionGroup",
    "DeprecationWarning",
    "FloatingPointError",
    "NotADirectoryError",
    "ProcessLookupError",
    "StopAsyncIteration",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "ModuleNotFoundError",
    "NotImplementedError",
    "ConnectionResetError",
    "UnicodeTranslateError",
    "ConnectionAbortedError",
    "ConnectionRefusedError",
    "PendingDeprecationWarning",
];

#[cfg(test)]
mod tests {
    #[test]
    fn every_foreign_builtin_is_found() {
        assert!(super::FOREIGN_BUILTINS.is_sorted_by_key(|builtin| (builtin.len(), *builtin)));
        assert!(super::FOREIGN_BUILTINS.iter().all(|builtin| super::is_foreign_builtin(builtin)));
    }
}
