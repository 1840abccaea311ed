//! The functions that a formula can call: their names, their parameters, and Python's `TypeError`
//! for a wrong call.
//!
//! CPython has one wording of these errors for each way in which it declares a function.

use crate::python::{PythonVersion, Raised, Value};

/// Defines the enumeration and its name table from one list.
macro_rules! functions {
    (math { $($math:ident $math_name:literal,)* } builtin { $($builtin:ident $builtin_name:literal,)* }) => {
        /// A function of Python's `math` module or one of its builtins.
        ///
        /// `pow` is `math.pow`: the scheduler imports everything from `math`, which hides the
        /// builtin.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Function {
            $(#[doc = concat!("`math.", $math_name, "`")] $math,)*
            $(#[doc = concat!("the builtin `", $builtin_name, "`")] $builtin,)*
        }

        impl Function {
            /// All functions, those of `math` first.
            pub const ALL: &'static [Self] = &[$(Self::$math,)* $(Self::$builtin,)*];

            /// The function of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($math_name => Some(Self::$math),)*
                    $($builtin_name => Some(Self::$builtin),)*
                    _ => None,
                }
            }

            /// The name that a formula calls it by.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$math => $math_name,)*
                    $(Self::$builtin => $builtin_name,)*
                }
            }

            /// Whether it comes from the `math` module.
            pub fn is_math(self) -> bool {
                matches!(self, $(Self::$math)|*)
            }
        }
    };
}

functions! {
    math {
        Acos "acos", Acosh "acosh", Asin "asin", Asinh "asinh", Atan "atan", Atan2 "atan2", Atanh "atanh",
        Cbrt "cbrt", Ceil "ceil", Comb "comb", Copysign "copysign", Cos "cos", Cosh "cosh",
        Degrees "degrees", Dist "dist", Erf "erf", Erfc "erfc", Exp "exp", Exp2 "exp2", Expm1 "expm1",
        Fabs "fabs", Factorial "factorial", Floor "floor", Fma "fma", Fmod "fmod", Frexp "frexp", Fsum "fsum",
        Gamma "gamma", Gcd "gcd", Hypot "hypot", Isclose "isclose", Isfinite "isfinite", Isinf "isinf",
        Isnan "isnan", Isqrt "isqrt", Lcm "lcm", Ldexp "ldexp", Lgamma "lgamma", Log "log", Log10 "log10",
        Log1p "log1p", Log2 "log2", Modf "modf", Nextafter "nextafter", Perm "perm", Pow "pow", Prod "prod",
        Radians "radians", Remainder "remainder", Sin "sin", Sinh "sinh", Sqrt "sqrt",
        Sumprod "sumprod", Tan "tan", Tanh "tanh", Trunc "trunc", Ulp "ulp",
    }
    builtin {
        Abs "abs", All "all", Any "any", Bool "bool", Divmod "divmod", Float "float", Int "int", Len "len",
        Max "max", Min "min", Round "round", Sum "sum",
    }
}

impl Function {
    /// Whether a version of Python takes so many positional arguments, and keywords with these
    /// names, whatever their values are.
    pub fn takes(self, python: PythonVersion, positional: usize, keywords: &[&str]) -> bool {
        let keywords: Vec<_> = keywords.iter().map(|&name| (name, ())).collect();
        bind(self, python, &vec![(); positional], &keywords).is_ok()
    }

    /// Whether it is a type in Python: `int`, `float`, `bool`.
    pub fn is_type(self) -> bool {
        matches!(self, Self::Int | Self::Float | Self::Bool)
    }

    /// The name with its module, as some error messages have it: `math.sqrt`, `abs`.
    fn qualified(self, python: PythonVersion) -> String {
        let module = if self.is_math() && python.names_modules() {
            "math."
        } else {
            ""
        };
        format!("{module}{}", self.name())
    }
}

/// The constant of the `math` module with this name: `e`, `pi`, `tau`, `inf`, `nan`.
pub fn constant(name: &str) -> Option<Value> {
    let value = match name {
        "e" => std::f64::consts::E,
        "pi" => std::f64::consts::PI,
        "tau" => std::f64::consts::TAU,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => return None,
    };
    Some(Value::Float(value))
}

/// How a function is declared, which decides how it takes arguments and how its errors read.
#[derive(Debug, Clone, Copy)]
enum Signature {
    /// One positional argument.
    One,
    /// At least the first and at most the second number of positional arguments, no keywords.
    Between(usize, usize),
    /// `log`, whose errors read differently.
    Logarithm,
    /// Any number of positional arguments, no keywords.
    Any,
    /// Named parameters.
    Named(Parameters),
    /// `min` and `max`: one or more positional arguments, and the keywords `key` and `default`.
    Extreme,
}

/// The parameters of a function that takes keywords.
#[derive(Debug, Clone, Copy)]
struct Parameters {
    /// The names in order; empty for a positional-only parameter.
    names: &'static [&'static str],
    /// The smallest number of positional arguments.
    min_positional: usize,
    /// The largest number of positional arguments.
    max_positional: usize,
    /// The number of required arguments.
    required: usize,
}

/// One way in which a function is declared, and the first version that has it.
type Form = (PythonVersion, Signature);

/// `bool(x)` and `float(x)`.
const CONVERSION: Parameters = Parameters::new(&["x"], 0, 1, 0);
/// `int(x, base)`.
const INT_BY_NAME: Parameters = Parameters::new(&["x", "base"], 0, 2, 0);
/// `nextafter(x, y, /, *, steps)`.
const NEXTAFTER: Parameters = Parameters::new(&["", "", "steps"], 2, 2, 2);
const INT: Parameters = Parameters::new(&["", "base"], 0, 2, 0);
const ROUND: Parameters = Parameters::new(&["number", "ndigits"], 0, 2, 1);
const SUM: Parameters = Parameters::new(&["", "start"], 1, 2, 1);
// fewer positional arguments than names: the rest, such as `start`, is taken by keyword alone
const PROD: Parameters = Parameters::new(&["", "start"], 1, 1, 1);
const ISCLOSE: Parameters = Parameters::new(&["a", "b", "rel_tol", "abs_tol"], 0, 2, 2);

impl Parameters {
    /// The names, the smallest and the largest number of positional arguments, and the number of
    /// required ones.
    const fn new(
        names: &'static [&'static str],
        least: usize,
        most: usize,
        required: usize,
    ) -> Self {
        Self {
            names,
            min_positional: least,
            max_positional: most,
            required,
        }
    }
}

/// The arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a, V> {
    /// The positional ones.
    pub(super) values: &'a [V],
    /// Those of the parameters, in their order, and `None` if not given; of a function that takes
    /// any number of positional arguments the `key` and the `default`.
    pub(super) slots: [Option<&'a V>; 4],
}

impl Function {
    /// The table of the functions: how each is declared, and since which version, the newest form
    /// first.
    ///
    /// Source: "New in version" and "Changed in version" in the documentation of `math` and of the
    /// builtins, and for the keywords of `bool`, `float` and `int` "Changes in the Python API" in
    /// "What's New in Python 3.7". The issues are those of CPython's change log.
    fn forms(self) -> &'static [Form] {
        use PythonVersion as P;
        use Signature as S;
        match self {
            // gh-73468
            Self::Fma => &[(P::V3_13, S::Between(3, 3))],
            // gh-100485
            Self::Sumprod => &[(P::V3_12, S::Between(2, 2))],
            // bpo-44357, bpo-45917
            Self::Cbrt | Self::Exp2 => &[(P::V3_11, S::One)],
            // bpo-39479, bpo-39648
            Self::Lcm => &[(P::V3_9, S::Any)],
            // bpo-39310
            Self::Ulp => &[(P::V3_9, S::One)],
            // `steps`: gh-94906; bpo-39288
            Self::Nextafter => &[(P::V3_12, S::Named(NEXTAFTER)), (P::V3_9, S::Between(2, 2))],
            // bpo-39648
            Self::Gcd => &[(P::V3_9, S::Any), (P::OLDEST, S::Between(2, 2))],
            // bpo-35431, bpo-33089
            Self::Comb | Self::Dist => &[(P::V3_8, S::Between(2, 2))],
            // bpo-36887
            Self::Isqrt => &[(P::V3_8, S::One)],
            // bpo-37128, bpo-37178
            Self::Perm => &[(P::V3_8, S::Between(1, 2))],
            // bpo-35606
            Self::Prod => &[(P::V3_8, S::Named(PROD))],
            // bpo-33089
            Self::Hypot => &[(P::V3_8, S::Any), (P::OLDEST, S::Between(2, 2))],
            // bpo-34637
            Self::Sum => &[(P::V3_8, S::Named(SUM)), (P::OLDEST, S::Between(1, 2))],
            // bpo-29962
            Self::Remainder => &[(P::V3_7, S::Between(2, 2))],
            // bpo-29695
            Self::Bool | Self::Float => &[
                (P::V3_7, S::Between(0, 1)),
                (P::OLDEST, S::Named(CONVERSION)),
            ],
            Self::Int => &[(P::V3_7, S::Named(INT)), (P::OLDEST, S::Named(INT_BY_NAME))],
            Self::Atan2 | Self::Copysign | Self::Divmod | Self::Fmod | Self::Ldexp | Self::Pow => {
                &[(P::OLDEST, S::Between(2, 2))]
            }
            Self::Log => &[(P::OLDEST, S::Logarithm)],
            Self::Round => &[(P::OLDEST, S::Named(ROUND))],
            Self::Isclose => &[(P::OLDEST, S::Named(ISCLOSE))],
            Self::Max | Self::Min => &[(P::OLDEST, S::Extreme)],
            _ => &[(P::OLDEST, S::One)],
        }
    }

    /// The function of this name in this version of Python.
    pub fn from_name_in(name: &str, python: PythonVersion) -> Option<Self> {
        let function = Self::from_name(name)?;
        function.exists_in(python).then_some(function)
    }

    /// The first version of Python that has the function.
    pub fn since(self) -> PythonVersion {
        match self.forms() {
            [.., (since, _)] => *since,
            [] => PythonVersion::OLDEST,
        }
    }

    /// Whether this version of Python has the function.
    pub fn exists_in(self, python: PythonVersion) -> bool {
        self.since() <= python
    }

    /// How the function is declared in a version; where it does not exist, as in the first that has
    /// it.
    #[inline]
    fn signature(self, python: PythonVersion) -> Signature {
        let mut found = Signature::One;
        for (since, signature) in self.forms() {
            found = *signature;
            if *since <= python {
                break;
            }
        }
        found
    }

    /// The smallest and the largest number of arguments, positional or named; `None` if there is no
    /// largest.
    pub fn arity(self, python: PythonVersion) -> (usize, Option<usize>) {
        match self.signature(python) {
            Signature::One => (1, Some(1)),
            Signature::Between(least, most) => (least, Some(most)),
            Signature::Logarithm => (1, Some(2)),
            Signature::Any => (0, None),
            Signature::Named(parameters) => (parameters.required, Some(parameters.names.len())),
            Signature::Extreme => (1, None),
        }
    }

    /// The names of the parameters that may be given as keywords.
    pub fn keywords(self, python: PythonVersion) -> Vec<&'static str> {
        match self.signature(python) {
            Signature::Named(parameters) => {
                let mut keywords = parameters.names.to_vec();
                // a parameter that is positional only has no name
                keywords.retain(|keyword| !keyword.is_empty());
                keywords
            }
            Signature::Extreme => vec!["key", "default"],
            _ => Vec::new(),
        }
    }
}

/// Binds the arguments of a call to the function's parameters.
///
/// # Errors
/// `TypeError`, with CPython's text for this function.
#[inline]
pub(crate) fn bind<'a, V>(
    function: Function,
    python: PythonVersion,
    positional: &'a [V],
    keywords: &'a [(&str, V)],
) -> Result<Arguments<'a, V>, Raised> {
    let signature = function.signature(python);
    match signature {
        Signature::Named(parameters) => {
            return bind_named(function, parameters, positional, keywords);
        }
        Signature::Extreme => return bind_extreme(function, positional, keywords),
        _ if !keywords.is_empty() => return Err(takes_no_keywords(function, python)),
        _ => {}
    }
    if let Some(text) = count_error(function, python, positional.len()) {
        return Err(Raised::type_error(text));
    }
    let mut slots = [None; 4];
    for (slot, value) in slots.iter_mut().zip(positional) {
        *slot = Some(value);
    }
    Ok(Arguments {
        values: positional,
        slots,
    })
}

fn takes_no_keywords(function: Function, python: PythonVersion) -> Raised {
    let is_unqualified = function == Function::Log && !python.names_the_module_of_log();
    let name = if is_unqualified {
        "log".to_owned()
    } else {
        function.qualified(python)
    };
    Raised::type_error(format!("{name}() takes no keyword arguments"))
}

/// Python's error text for a wrong number of positional arguments.
fn count_error(function: Function, python: PythonVersion, given: usize) -> Option<String> {
    let name = function.name();
    match function.signature(python) {
        Signature::One if given != 1 => Some(format!(
            "{}() takes exactly one argument ({given} given)",
            function.qualified(python)
        )),
        Signature::Between(least, most)
            if least == most && given != most && !python.names_the_expected_count() =>
        {
            Some(format!(
                "{name}() takes exactly {most} arguments ({given} given)"
            ))
        }
        // without the module, unlike the text of `One`: CPython's `_PyArg_CheckPositional` gets the
        // bare name
        Signature::Between(least, most) if given < least || given > most => {
            let (bound, count) = match (least == most, given < least) {
                (true, _) => ("", most),
                (false, true) => ("at least ", least),
                (false, false) => ("at most ", most),
            };
            Some(format!(
                "{name} expected {bound}{count} argument{}, got {given}",
                plural(count)
            ))
        }
        Signature::Logarithm if !(1..=2).contains(&given) => {
            Some("math.log requires 1 to 2 arguments".to_owned())
        }
        _ => None,
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn bind_named<'a, V>(
    function: Function,
    parameters: Parameters,
    positional: &'a [V],
    keywords: &'a [(&str, V)],
) -> Result<Arguments<'a, V>, Raised> {
    let name = function.name();
    check_counts(name, parameters, positional.len(), keywords.len())?;
    // `isclose` has the most parameters
    let mut slots = [None; 4];
    // the order of the checks is CPython's (getargs.c): counts, missing arguments, names
    for (index, (slot, parameter)) in slots.iter_mut().zip(parameters.names).enumerate() {
        *slot = match positional.get(index) {
            Some(value) => Some(value),
            None => keyword_argument(keywords, parameter),
        };
        if slot.is_none() && index < parameters.required {
            let place = index + 1;
            return Err(Raised::type_error(format!(
                "{name}() missing required argument '{parameter}' (pos {place})"
            )));
        }
    }
    check_names(name, parameters, positional.len(), keywords)?;
    Ok(Arguments {
        values: positional,
        slots,
    })
}

fn check_counts(
    name: &str,
    parameters: Parameters,
    given: usize,
    keywords: usize,
) -> Result<(), Raised> {
    let Parameters {
        names,
        min_positional: least,
        max_positional: most,
        ..
    } = parameters;
    let total = given + keywords;
    if total > names.len() {
        // getargs.c says `keyword` only where nothing is given by position
        let kind = if given == 0 { "keyword " } else { "" };
        let count = names.len();
        let s = plural(count);
        return Err(Raised::type_error(format!(
            "{name}() takes at most {count} {kind}argument{s} ({total} given)"
        )));
    }
    if given < least || given > most {
        let bound = if given < least && least < most {
            "at least"
        } else if given > most && parameters.required < most {
            "at most"
        } else {
            "exactly"
        };
        let count = if given < least { least } else { most };
        let s = plural(count);
        return Err(Raised::type_error(format!(
            "{name}() takes {bound} {count} positional argument{s} ({given} given)"
        )));
    }
    Ok(())
}

/// Refuses a keyword that names no parameter, or a parameter that is also given by position.
fn check_names<V>(
    name: &str,
    parameters: Parameters,
    given: usize,
    keywords: &[(&str, V)],
) -> Result<(), Raised> {
    // never more: `check_counts` comes first
    let filled = parameters.names.get(..given).unwrap_or(parameters.names);
    for (parameter, place) in filled.iter().zip(1..) {
        if !parameter.is_empty() && keyword_argument(keywords, parameter).is_some() {
            return Err(Raised::type_error(format!(
                "argument for {name}() given by name ('{parameter}') and position ({place})"
            )));
        }
    }
    for (keyword, _) in keywords {
        if keyword.is_empty() || !parameters.names.contains(keyword) {
            return Err(invalid_keyword(name, keyword));
        }
    }
    Ok(())
}

fn invalid_keyword(name: &str, keyword: &str) -> Raised {
    Raised::type_error(format!(
        "'{keyword}' is an invalid keyword argument for {name}()"
    ))
}

fn bind_extreme<'a, V>(
    function: Function,
    values: &'a [V],
    keywords: &'a [(&str, V)],
) -> Result<Arguments<'a, V>, Raised> {
    let name = function.name();
    // the order of the checks is that of `min_max` in bltinmodule.c
    if values.is_empty() {
        return Err(Raised::type_error(format!(
            "{name} expected at least 1 argument, got 0"
        )));
    }
    if keywords.len() > 2 {
        let given = keywords.len();
        return Err(Raised::type_error(format!(
            "{name}() takes at most 2 keyword arguments ({given} given)"
        )));
    }
    for (keyword, _) in keywords {
        if !matches!(*keyword, "key" | "default") {
            return Err(invalid_keyword(name, keyword));
        }
    }
    let default = keyword_argument(keywords, "default");
    if default.is_some() && values.len() > 1 {
        return Err(Raised::type_error(format!(
            "Cannot specify a default for {name}() with multiple positional arguments"
        )));
    }
    let key = keyword_argument(keywords, "key");
    Ok(Arguments {
        values,
        slots: [key, default, None, None],
    })
}

/// The arguments that a wrong call of `isclose` has converted when it is found to be wrong, in
/// versions that convert while they bind: those of the parameters before the one that is wrong.
pub(super) fn converted_before_error<'a, V>(
    python: PythonVersion,
    positional: &'a [V],
    keywords: &'a [(&str, V)],
) -> Vec<&'a V> {
    let Parameters {
        names,
        max_positional: most,
        required,
        ..
    } = ISCLOSE;
    let given = positional.len();
    if given + keywords.len() > names.len() || (given > most && !python.counts_while_binding()) {
        return Vec::new();
    }
    let mut converted = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let by_name = keyword_argument(keywords, name);
        match positional.get(index) {
            Some(_) if index == most || (by_name.is_some() && python.counts_while_binding()) => {
                break;
            }
            None if by_name.is_none() && index < required => break,
            argument => converted.extend(argument.or(by_name)),
        }
    }
    converted
}

fn keyword_argument<'a, V>(keywords: &'a [(&str, V)], name: &str) -> Option<&'a V> {
    let (_, value) = keywords.iter().find(|(keyword, _)| *keyword == name)?;
    Some(value)
}
