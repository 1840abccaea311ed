//! What a name means, in the order in which OpenPBS's scheduler looks it up.

use crate::formula::number::{Function, Value, constant};
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
    /// Looks a name up: the words `True False None`, then `math`, then the numeric names of the schema, then
    /// Python's builtins (OpenPBS: locals, globals, builtins).
    pub fn of(name: &str, schema: &Schema) -> Self {
        match name {
            "True" => return Self::Constant(Value::Bool(true)),
            "False" => return Self::Constant(Value::Bool(false)),
            "None" => return Self::Constant(Value::None),
            // a variable of the scheduler's own script, which hides a site's resource of that name
            "ex" if schema.is_numeric(name) => return Self::Constant(Value::None),
            _ => {}
        }
        if let Some(value) = constant(name) {
            return Self::Constant(value);
        }
        let function = Function::from_name(name);
        match function {
            Some(function) if function.is_math() => Self::Constant(Value::Function(function)),
            _ if schema.is_numeric(name) => Self::Input,
            Some(function) => Self::Constant(Value::Function(function)),
            None if FOREIGN_BUILTINS.contains(&name) => Self::Foreign,
            None => Self::Undefined,
        }
    }

    /// Whether Python has a builtin of this name, which a resource of the same name hides.
    pub fn is_builtin(name: &str) -> bool {
        let function = Function::from_name(name);
        function.map_or_else(|| FOREIGN_BUILTINS.contains(&name), |function| !function.is_math())
    }
}

/// Names of Python 3.11 without a module that are no arithmetic, and those that every module has.
const FOREIGN_BUILTINS: &[&str] = &[
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "Ellipsis",
    "EncodingWarning",
    "EnvironmentError",
    "Exception",
    "ExceptionGroup",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "IOError",
    "ImportError",
    "ImportWarning",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
    "__build_class__",
    "__builtins__",
    "__debug__",
    "__doc__",
    "__import__",
    "__loader__",
    "__name__",
    "__package__",
    "__spec__",
    "aiter",
    "anext",
    "ascii",
    "bin",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "enumerate",
    "eval",
    "exec",
    "filter",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "hex",
    "id",
    "input",
    "isinstance",
    "issubclass",
    "iter",
    "list",
    "locals",
    "map",
    "memoryview",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    "__annotations__",
];
