//! Every function that a formula can call, by name.

use crate::python::Value;

/// Writes the enumeration and its name table from one list.
macro_rules! functions {
    (math { $($math:ident $math_name:literal,)* } builtin { $($builtin:ident $builtin_name:literal,)* }) => {
        /// A function of Python's `math` module or one of its builtins.
        ///
        /// `pow` is `math.pow`: the scheduler imports everything from `math`, which hides the builtin.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Function {
            $(#[doc = concat!("`math.", $math_name, "`")] $math,)*
            $(#[doc = concat!("the builtin `", $builtin_name, "`")] $builtin,)*
        }

        impl Function {
            /// All of them, `math` first.
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
        Fabs "fabs", Factorial "factorial", Floor "floor", Fmod "fmod", Frexp "frexp", Fsum "fsum",
        Gamma "gamma", Gcd "gcd", Hypot "hypot", Isclose "isclose", Isfinite "isfinite", Isinf "isinf",
        Isnan "isnan", Isqrt "isqrt", Lcm "lcm", Ldexp "ldexp", Lgamma "lgamma", Log "log", Log10 "log10",
        Log1p "log1p", Log2 "log2", Modf "modf", Nextafter "nextafter", Perm "perm", Pow "pow", Prod "prod",
        Radians "radians", Remainder "remainder", Sin "sin", Sinh "sinh", Sqrt "sqrt", Tan "tan",
        Tanh "tanh", Trunc "trunc", Ulp "ulp",
    }
    builtin {
        Abs "abs", All "all", Any "any", Bool "bool", Divmod "divmod", Float "float", Int "int", Len "len",
        Max "max", Min "min", Round "round", Sum "sum",
    }
}

impl Function {
    /// Whether Python counts it among the types: `int`, `float`, `bool`.
    pub fn is_type(self) -> bool {
        matches!(self, Self::Int | Self::Float | Self::Bool)
    }

    /// The name with its module, as some of Python's messages have it: `math.sqrt`, `abs`.
    pub(super) fn qualified(self) -> String {
        let module = if self.is_math() { "math." } else { "" };
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
