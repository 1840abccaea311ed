//! `floor`, `ceil`, `trunc`, `int`, `round`.

use crate::formula::lint::ranges::kinds::Kinds;
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Values;
use crate::python::ErrorKind;

/// A function that makes an integer of any number.
pub(super) fn to_integer(x: Values, round: fn(f64) -> f64) -> Outcome {
    let number = x.numbers();
    let values = match number.bounds() {
        None => Values::NEVER,
        Some(bounds) if x.may_exceed_doubles() => Values::between(Kinds::INT, round(bounds.least), round(bounds.most)),
        // an infinity is an error
        Some(bounds) => {
            let (least, most) = (round(bounds.least), round(bounds.most));
            crate::formula::lint::ranges::arithmetic::bounded(Kinds::INT, least.max(f64::MIN), most.min(f64::MAX))
        }
    };
    Outcome::fine(values)
        .may_raise(ErrorKind::Type, !x.is_number())
        .may_raise(ErrorKind::Value, number.may_be_nan())
        .may_raise(ErrorKind::Overflow, number.may_be_infinite())
}

/// `round(x, digits)`: an integer stays one, a double moves by half a unit at most.
pub(super) fn to_digits(x: Values, digits: Values) -> Outcome {
    let number = x.numbers();
    let takes = Kinds::WHOLE.or(Kinds::NOTHING);
    let outcome = match (number.bounds(), digits.kinds().meets(takes)) {
        (Some(bounds), true) => {
            let unit = match digits.only() {
                Some(places) if digits.is_whole() => 10.0_f64.powf(-places) * 0.500_001,
                _ => f64::INFINITY,
            };
            let (least, most) = ((bounds.least - unit).next_down(), (bounds.most + unit).next_up());
            // rounding does not cross 0
            let least = if bounds.least >= 0.0 { least.max(0.0) } else { least };
            let most = if bounds.most <= 0.0 { most.min(0.0) } else { most };
            let whole = if number.kinds().meets(Kinds::WHOLE) { Kinds::INT } else { Kinds::NONE };
            let nothing = if digits.kinds().meets(Kinds::NOTHING) { Kinds::INT } else { Kinds::NONE };
            let kinds = whole.or(nothing).or(number.kinds().and(Kinds::FLOAT));
            Values::between(kinds, least, most).outward().or_nan(number.may_be_nan())
        }
        (None, true) => Values::NEVER.or_nan(number.may_be_nan()),
        (_, false) => Values::NEVER,
    };
    Outcome::fine(outcome)
        .may_raise(ErrorKind::Type, !x.is_number() || !digits.kinds().within(takes))
        .may_raise(ErrorKind::Overflow, x.most_size() > 1e300 || digits.least() < -300.0 || number.may_be_infinite())
        .may_raise(ErrorKind::Value, number.may_be_nan())
        .may_raise(ErrorKind::Limit, number.may_exceed_doubles())
}
