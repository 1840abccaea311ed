//! Name resolution, in the order in which OpenPBS's scheduler looks names up.

use crate::formula::syntax::is_identifier;
use crate::python::{Function, PythonVersion, Value, constant};
use crate::schema::{InputType, NameError, Schema};

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
    /// Resolves a name: the words `True False None __debug__`, then `math`, then the numeric names
    /// of the schema, then Python's builtins (OpenPBS: locals, globals, builtins).
    pub fn from_schema(name: &str, schema: &Schema) -> Self {
        // without such a resource, the server refuses the name as unknown
        if name == SCRIPT_VARIABLE && schema.is_numeric(name) {
            return Self::Constant(Value::None);
        }
        Self::resolve(name, schema.python(), |name| schema.is_numeric(name))
    }

    /// Resolves a name in the same order, with other inputs than the numeric names of a schema.
    pub fn resolve(name: &str, python: PythonVersion, is_input: impl Fn(&str) -> bool) -> Self {
        match name {
            // `__debug__` is a constant of CPython's compiler, true unless it runs with `-O`
            "True" | "__debug__" => return Self::Constant(Value::Bool(true)),
            "False" => return Self::Constant(Value::Bool(false)),
            "None" => return Self::Constant(Value::None),
            _ => {}
        }
        if let Some(value) = constant(name) {
            return Self::Constant(value);
        }
        let function = Function::from_name_in(name, python);
        match function {
            Some(function) if function.is_math() => Self::Constant(Value::Function(function)),
            _ if is_input(name) => Self::Input,
            Some(function) => Self::Constant(Value::Function(function)),
            None if is_unsupported_builtin(name, python) => Self::UnsupportedBuiltin,
            None => Self::Undefined,
        }
    }

    /// Whether the scheduler's Python gives the name another meaning than that of a resource,
    /// whatever a site declares.
    pub fn is_hidden(name: &str, python: PythonVersion) -> bool {
        name == SCRIPT_VARIABLE || !matches!(Self::resolve(name, python, |_| true), Self::Input)
    }

    /// Whether the name is a builtin of Python, which a resource of the same name shadows.
    pub fn is_builtin(name: &str, python: PythonVersion) -> bool {
        match Function::from_name_in(name, python) {
            Some(function) => !function.is_math(),
            None => is_unsupported_builtin(name, python),
        }
    }
}

/// A variable of the scheduler's script, which shadows a resource of that name.
const SCRIPT_VARIABLE: &str = "ex";

impl Schema {
    /// Adds a resource that a site defines. A name that was added before gets the new type. What a
    /// server's own documents list is read by the crate `jsf-site`, which takes and reports names
    /// that no formula can use.
    ///
    /// ```
    /// use job_sort_formula::Schema;
    /// use job_sort_formula::schema::{InputType, NameError};
    ///
    /// let mut schema = Schema::openpbs();
    /// assert_eq!(schema.add("gpus", InputType::Count), Ok(()));
    /// assert_eq!(schema.add("my-gpu", InputType::Count), Err(NameError::NotAName("my-gpu".into())));
    /// assert_eq!(schema.add("sin", InputType::Float), Err(NameError::Hidden("sin".into())));
    /// ```
    ///
    /// # Errors
    /// [`NameError`] if no formula could use the name as this resource; the schema is then
    /// unchanged.
    pub fn add(&mut self, name: &str, input_type: InputType) -> Result<(), NameError> {
        match name {
            "" => Err(NameError::Empty),
            _ if !is_identifier(name) => Err(NameError::NotAName(name.to_owned())),
            _ if Resolution::is_hidden(name, self.python()) => {
                Err(NameError::Hidden(name.to_owned()))
            }
            _ if !self.add_listed(name, input_type) => {
                Err(NameError::DefinedByOpenPbs(name.to_owned()))
            }
            _ => Ok(()),
        }
    }
}

fn is_unsupported_builtin(name: &str, python: PythonVersion) -> bool {
    is_listed(UNSUPPORTED_BUILTINS, name)
        && LATER_BUILTINS
            .iter()
            .all(|(later, since)| *later != name || *since <= python)
}

/// Whether a text of several words has this one.
pub fn is_listed(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|listed| listed == word)
}

/// The builtins that are not arithmetic and that not all versions have. Source: the builtins of
/// each version, and the change log of Python 3.14, which adds none.
const LATER_BUILTINS: [(&str, PythonVersion); 8] = [
    ("breakpoint", PythonVersion::V3_7),
    ("aiter", PythonVersion::V3_10),
    ("anext", PythonVersion::V3_10),
    ("EncodingWarning", PythonVersion::V3_10),
    ("ExceptionGroup", PythonVersion::V3_11),
    ("BaseExceptionGroup", PythonVersion::V3_11),
    ("PythonFinalizationError", PythonVersion::V3_13),
    ("_IncompleteInputError", PythonVersion::V3_13),
];

/// The builtins of any version of Python that are not arithmetic, and the names that every module
/// has.
const UNSUPPORTED_BUILTINS: &str = "__annotations__ __build_class__ __builtins__ __doc__ __import__ __loader__ __name__ __package__ __spec__ \
     _IncompleteInputError aiter anext ArithmeticError ascii AssertionError AttributeError BaseException \
     BaseExceptionGroup bin BlockingIOError breakpoint BrokenPipeError BufferError bytearray bytes BytesWarning \
     callable ChildProcessError chr classmethod compile complex ConnectionAbortedError ConnectionError \
     ConnectionRefusedError ConnectionResetError delattr DeprecationWarning dict dir Ellipsis EncodingWarning \
     enumerate EnvironmentError EOFError eval Exception ExceptionGroup exec FileExistsError FileNotFoundError filter \
     FloatingPointError format frozenset FutureWarning GeneratorExit getattr globals hasattr hash hex id ImportError \
     ImportWarning IndentationError IndexError input InterruptedError IOError IsADirectoryError isinstance \
     issubclass iter KeyboardInterrupt KeyError list locals LookupError map MemoryError memoryview \
     ModuleNotFoundError NameError next NotADirectoryError NotImplemented NotImplementedError object oct open ord \
     OSError OverflowError PendingDeprecationWarning PermissionError print ProcessLookupError property \
     PythonFinalizationError range RecursionError ReferenceError repr ResourceWarning reversed RuntimeError \
     RuntimeWarning set setattr slice sorted staticmethod StopAsyncIteration StopIteration str super SyntaxError \
     SyntaxWarning SystemError SystemExit TabError TimeoutError tuple type TypeError UnboundLocalError \
     UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError \
     vars Warning ZeroDivisionError zip";

#[cfg(test)]
mod tests {
    use crate::schema::{InputType, NameError, Schema};

    #[test]
    fn a_resource_that_no_formula_could_use_is_refused() {
        let mut schema = Schema::openpbs();
        let known = schema.len();
        let not_a_name = [
            "my-gpu", "x y", " x", "x ", "(x)", "x.y", "1x", "lambda", "x#", "x\n", "\u{fb01}",
        ];
        let hidden = [
            "sin", "e", "pi", "log", "gamma", "pow", "inf", "True", "None", "ex",
        ];
        let of_openpbs = ["mem", "place", "eligible_time", "fair_share_perc"];
        assert_eq!(schema.add("", InputType::Float), Err(NameError::Empty));
        for name in not_a_name {
            assert_eq!(
                schema.add(name, InputType::Float),
                Err(NameError::NotAName(name.to_owned()))
            );
        }
        for name in hidden {
            assert_eq!(
                schema.add(name, InputType::Float),
                Err(NameError::Hidden(name.to_owned()))
            );
        }
        for name in of_openpbs {
            assert_eq!(
                schema.add(name, InputType::Float),
                Err(NameError::DefinedByOpenPbs(name.to_owned()))
            );
        }
        assert_eq!(schema.len(), known);
        for name in [
            "max",
            "len",
            "ans",
            "math",
            "_x1",
            "gr\u{f6}\u{df}e",
            "GPUS",
        ] {
            assert_eq!(schema.add(name, InputType::Text), Ok(()), "{name}");
            assert_eq!(schema.add(name, InputType::Float), Ok(()), "{name}");
            assert!(
                matches!(
                    super::Resolution::from_schema(name, &schema),
                    super::Resolution::Input
                ),
                "{name}"
            );
        }
    }
}
