//! Name resolution, in the order in which OpenPBS's scheduler looks names up.

use crate::python::{Function, Value, constant};
use crate::schema::Schema;

/// What a name refers to.
#[derive(Debug, Clone)]
pub enum Resolution {
    /// A constant: `pi`, `True`, a function.
    Constant(Value),
    /// A numeric input of the job.
    Input,
    /// A builtin of Python that is not arithmetic.
    UnsupportedBuiltin,
    /// Nothing; Python raises `NameError`.
    Undefined,
}

impl Resolution {
    /// Resolves a name: the words `True False None __debug__`, then `math`, then the numeric names of the schema, then
    /// Python's builtins (OpenPBS: locals, globals, builtins).
    pub fn from_schema(name: &str, schema: &Schema) -> Self {
        // a variable of the scheduler's script, which shadows a resource of that name
        if name == "ex" && schema.is_numeric(name) {
            return Self::Constant(Value::None);
        }
        Self::resolve(name, |name| schema.is_numeric(name))
    }

    /// Resolves a name in the same order, with other inputs than the numeric names of a schema.
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
            None if is_unsupported_builtin(name) => Self::UnsupportedBuiltin,
            None => Self::Undefined,
        }
    }

    /// Whether the name is a builtin of Python, which a resource of the same name shadows.
    pub fn is_builtin(name: &str) -> bool {
        let function = Function::from_name(name);
        function.map_or_else(|| is_unsupported_builtin(name), |function| !function.is_math())
    }
}

fn is_unsupported_builtin(name: &str) -> bool {
    UNSUPPORTED_BUILTINS.binary_search_by_key(&(name.len(), name), |builtin| (builtin.len(), builtin)).is_ok()
}

/// The builtins of Python 3.11 that are not arithmetic, and the names that every module has, sorted by length and then
/// by name: most searches end at the length.
const UNSUPPORTED_BUILTINS: &[&str] = &[
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
    fn every_unsupported_builtin_is_found() {
        assert!(super::UNSUPPORTED_BUILTINS.is_sorted_by_key(|builtin| (builtin.len(), *builtin)));
        assert!(super::UNSUPPORTED_BUILTINS.iter().all(|builtin| super::is_unsupported_builtin(builtin)));
    }
}
