//! What a call may look like, and Python's `TypeError` when it does not.
//!
//! CPython words these errors in a few families, one for each way its functions are declared.

use crate::python::{Function, Raised, Value};

/// How a function takes its arguments, and so how it complains.
#[derive(Debug, Clone, Copy)]
enum Signature {
    /// One positional argument.
    One,
    /// So many positional arguments, no keywords.
    Between(usize, usize),
    /// `log`, which has words of its own.
    Logarithm,
    /// Any number of positional arguments, no keywords.
    Any,
    /// Parameters with names.
    Named(Parameters),
    /// `min` and `max`: any number but none, with `key` and `default`.
    Extreme,
}

/// Parameters that may be given by name.
#[derive(Debug, Clone, Copy)]
struct Parameters {
    /// In order; the positional-only ones are nameless.
    names: &'static [&'static str],
    /// How many must come by position.
    least: usize,
    /// How many may come by position.
    most: usize,
    /// How many must come at all.
    required: usize,
}

const INT: Parameters = Parameters { names: &["", "base"], least: 0, most: 2, required: 0 };
const ROUND: Parameters = Parameters { names: &["number", "ndigits"], least: 0, most: 2, required: 1 };
const SUM: Parameters = Parameters { names: &["", "start"], least: 1, most: 2, required: 1 };
const PROD: Parameters = Parameters { names: &["", "start"], least: 1, most: 1, required: 1 };
const ISCLOSE: Parameters = Parameters { names: &["a", "b", "rel_tol", "abs_tol"], least: 0, most: 2, required: 2 };

/// The arguments of one call, each at its parameter's place.
#[derive(Debug)]
pub(super) enum Arguments<'a, V> {
    /// Only positional ones, of an allowed number.
    Positional(&'a [V]),
    /// Those of a function with named parameters.
    Named([Option<&'a V>; 4]),
    /// Those of `min` and `max`.
    Extreme { values: &'a [V], key: Option<&'a V>, default: Option<&'a V> },
}

impl Function {
    fn signature(self) -> Signature {
        match self {
            Self::Atan2
            | Self::Comb
            | Self::Copysign
            | Self::Dist
            | Self::Divmod
            | Self::Fmod
            | Self::Ldexp
            | Self::Nextafter
            | Self::Pow
            | Self::Remainder => Signature::Between(2, 2),
            Self::Perm => Signature::Between(1, 2),
            Self::Bool | Self::Float => Signature::Between(0, 1),
            Self::Log => Signature::Logarithm,
            Self::Gcd | Self::Hypot | Self::Lcm => Signature::Any,
            Self::Int => Signature::Named(INT),
            Self::Round => Signature::Named(ROUND),
            Self::Sum => Signature::Named(SUM),
            Self::Prod => Signature::Named(PROD),
            Self::Isclose => Signature::Named(ISCLOSE),
            Self::Max | Self::Min => Signature::Extreme,
            _ => Signature::One,
        }
    }

    /// The least and the most arguments, by position or by name, and no most where there is none.
    pub fn arity(self) -> (usize, Option<usize>) {
        match self.signature() {
            Signature::One => (1, Some(1)),
            Signature::Between(least, most) => (least, Some(most)),
            Signature::Logarithm => (1, Some(2)),
            Signature::Any => (0, None),
            Signature::Named(parameters) => (parameters.required, Some(parameters.names.len())),
            Signature::Extreme => (1, None),
        }
    }

    /// The names of the parameters that may be given as keywords.
    pub fn keywords(self) -> &'static [&'static str] {
        match self.signature() {
            Signature::Named(parameters) => match parameters.names {
                ["", rest @ ..] => rest,
                all => all,
            },
            Signature::Extreme => &["key", "default"],
            _ => &[],
        }
    }
}

/// Sorts the arguments of a call by parameter.
///
/// # Errors
/// `TypeError` in the words that Python has for this function.
#[inline]
pub(super) fn bind<'a, V>(
    function: Function,
    positional: &'a [V],
    keywords: &'a [(&str, V)],
) -> Result<Arguments<'a, V>, Raised> {
    let signature = function.signature();
    match signature {
        Signature::Named(parameters) => named(function, parameters, positional, keywords).map(Arguments::Named),
        Signature::Extreme => extreme(function, positional, keywords),
        _ if !keywords.is_empty() => Err(takes_no_keywords(function)),
        _ => match miscounted(function, signature, positional.len()) {
            Some(text) => Err(Raised::type_error(text)),
            None => Ok(Arguments::Positional(positional)),
        },
    }
}

fn takes_no_keywords(function: Function) -> Raised {
    let name = if function == Function::Log { "log".to_owned() } else { function.qualified() };
    Raised::type_error(format!("{name}() takes no keyword arguments"))
}

/// What Python says of this many positional arguments; nothing if they are right.
fn miscounted(function: Function, signature: Signature, given: usize) -> Option<String> {
    let name = function.name();
    match signature {
        Signature::One if given != 1 => {
            Some(format!("{}() takes exactly one argument ({given} given)", function.qualified()))
        }
        Signature::Between(least, most) if given < least || given > most => {
            let (bound, count) = match (least == most, given < least) {
                (true, _) => ("", most),
                (false, true) => ("at least ", least),
                (false, false) => ("at most ", most),
            };
            Some(format!("{name} expected {bound}{count} argument{}, got {given}", plural(count)))
        }
        Signature::Logarithm if !(1..=2).contains(&given) => Some("math.log requires 1 to 2 arguments".to_owned()),
        _ => None,
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn named<'a, V>(
    function: Function,
    parameters: Parameters,
    positional: &'a [V],
    keywords: &'a [(&str, V)],
) -> Result<[Option<&'a V>; 4], Raised> {
    let name = function.name();
    check_counts(name, parameters, positional.len(), keywords.len())?;
    let mut slots = [None; 4];
    for (index, (slot, parameter)) in slots.iter_mut().zip(parameters.names).enumerate() {
        let by_name = || keywords.iter().find(|(keyword, _)| keyword == parameter).map(|(_, value)| value);
        *slot = positional.get(index).or_else(by_name);
        if slot.is_none() && index < parameters.required {
            let place = index + 1;
            return Err(Raised::type_error(format!("{name}() missing required argument '{parameter}' (pos {place})")));
        }
    }
    check_names(name, parameters, positional.len(), keywords)?;
    Ok(slots)
}

fn check_counts(name: &str, parameters: Parameters, given: usize, keywords: usize) -> Result<(), Raised> {
    let Parameters { names, least, most, .. } = parameters;
    let total = given + keywords;
    if total > names.len() {
        let kind = if given == 0 { "keyword " } else { "" };
        let (count, s) = (names.len(), plural(names.len()));
        return Err(Raised::type_error(format!("{name}() takes at most {count} {kind}argument{s} ({total} given)")));
    }
    if given < least || given > most {
        let bound = match given < least {
            true if least < most => "at least",
            false if parameters.required < most => "at most",
            _ => "exactly",
        };
        let count = if given < least { least } else { most };
        let s = plural(count);
        return Err(Raised::type_error(format!(
            "{name}() takes {bound} {count} positional argument{s} ({given} given)"
        )));
    }
    Ok(())
}

/// Refuses keywords that name no parameter, or one that a position has filled.
fn check_names<V>(name: &str, parameters: Parameters, given: usize, keywords: &[(&str, V)]) -> Result<(), Raised> {
    let filled = parameters.names.get(..given).unwrap_or(parameters.names);
    let twice = |parameter: &str| !parameter.is_empty() && keywords.iter().any(|(keyword, _)| *keyword == parameter);
    if let Some(place) = filled.iter().position(|parameter| twice(parameter)) {
        let (parameter, place) = (filled[place], place + 1);
        return Err(Raised::type_error(format!(
            "argument for {name}() given by name ('{parameter}') and position ({place})"
        )));
    }
    let is_known = |keyword: &str| !keyword.is_empty() && parameters.names.contains(&keyword);
    match keywords.iter().find(|(keyword, _)| !is_known(keyword)) {
        Some((keyword, _)) => Err(invalid_keyword(name, keyword)),
        None => Ok(()),
    }
}

fn invalid_keyword(name: &str, keyword: &str) -> Raised {
    Raised::type_error(format!("'{keyword}' is an invalid keyword argument for {name}()"))
}

fn extreme<'a, V>(function: Function, values: &'a [V], keywords: &'a [(&str, V)]) -> Result<Arguments<'a, V>, Raised> {
    let name = function.name();
    if values.is_empty() {
        return Err(Raised::type_error(format!("{name} expected at least 1 argument, got 0")));
    }
    if keywords.len() > 2 {
        let given = keywords.len();
        return Err(Raised::type_error(format!("{name}() takes at most 2 keyword arguments ({given} given)")));
    }
    if let Some((keyword, _)) = keywords.iter().find(|(keyword, _)| !matches!(*keyword, "key" | "default")) {
        return Err(invalid_keyword(name, keyword));
    }
    let named = |wanted: &str| keywords.iter().find(|(keyword, _)| *keyword == wanted).map(|(_, value)| value);
    let (key, default) = (named("key"), named("default"));
    if default.is_some() && values.len() > 1 {
        return Err(Raised::type_error(format!(
            "Cannot specify a default for {name}() with multiple positional arguments"
        )));
    }
    Ok(Arguments::Extreme { values, key, default })
}

impl Value {
    /// As a double, for a function of the `math` module.
    ///
    /// # Errors
    /// `TypeError` of what is no number, `OverflowError` of an integer beyond the largest double.
    #[inline]
    pub(super) fn real(&self) -> Result<f64, Raised> {
        match self.number() {
            Some(number) => number.to_float(),
            None => Err(Raised::type_error(format!("must be real number, not {}", self.type_name()))),
        }
    }

    /// As an integer, for a function that takes no other number.
    ///
    /// # Errors
    /// `TypeError` of what is no integer.
    pub(super) fn index(&self) -> Result<crate::python::value::Integer<'_>, Raised> {
        self.integer().ok_or_else(|| {
            Raised::type_error(format!("'{}' object cannot be interpreted as an integer", self.type_name()))
        })
    }

    /// Its items, for a function that goes through them.
    ///
    /// # Errors
    /// `TypeError` of what is neither a tuple nor a list.
    pub(super) fn iterate(&self) -> Result<&[Self], Raised> {
        match self.items() {
            Some(items) => Ok(items),
            None => Err(Raised::type_error(format!("'{}' object is not iterable", self.type_name()))),
        }
    }
}
