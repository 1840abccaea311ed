//! The functions of the C library whose bits Python's `math` has: those of glibc, which runs the schedulers.
//!
//! On Linux with glibc they are the platform's own. Elsewhere the exponentials, powers and logarithms are computed as glibc
//! does; the others are the platform's, see [`may_differ`].

#[cfg(any(test, not(all(target_os = "linux", target_env = "gnu"))))]
mod glibc;
#[cfg(any(test, not(all(target_os = "linux", target_env = "gnu"))))]
mod tables;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub use glibc::{cosh, exp, exp2, ln, log2, log10, pow, tanh};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use platform::{cosh, exp, exp2, ln, log2, log10, pow, tanh};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod platform {
    macro_rules! functions {
        ($($name:ident: $method:ident),*) => {
            $(#[inline(always)]
            pub fn $name(x: f64) -> f64 {
                x.$method()
            })*
        };
    }
    functions!(cosh: cosh, exp: exp, exp2: exp2, ln: ln, log2: log2, log10: log10, tanh: tanh);

    #[inline(always)]
    pub fn pow(x: f64, y: f64) -> f64 {
        x.powf(y)
    }
}

/// How often the last place of a function of `math` differs from glibc's in this build, in words; `None` if it never does.
pub fn may_differ(function: &str) -> Option<&'static str> {
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        return None;
    }
    Some(match function {
        "log" | "log2" | "log10" | "acosh" | "asinh" => "for about one value in 10,000, and one in 1,000 near 1",
        "log1p" | "atanh" | "expm1" | "sinh" | "cosh" | "tanh" => "for about one value in 1,000",
        "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "atan2" | "hypot" | "dist" => "for one value in 10 to 30",
        "gamma" | "lgamma" | "erf" | "erfc" => "for about one value in 1,000",
        _ => return None,
    })
}
