//! `round` in base ten.

use num_bigint::BigInt;
use rust_decimal::{Decimal, RoundingStrategy};

use crate::python::Raised;
use crate::python::decimal::operate::rounded;
use crate::python::decimal::scaled;
use crate::python::decimal::value::DecimalValue;

/// More digits before the point than this no decimal has.
const MOST_PLACES: u32 = 30;

/// `round(number, ndigits=None)`, half to even.
pub(super) fn round(x: &DecimalValue, digits: Option<&DecimalValue>) -> Result<DecimalValue, Raised> {
    let Some(value) = x.decimal() else {
        return Err(Raised::type_error(format!("type {} doesn't define __round__ method", x.type_name())));
    };
    let digits = match digits {
        None | Some(DecimalValue::None) => Decimal::ZERO,
        Some(digits) => match digits.decimal() {
            Some(whole) if whole.is_integer() => whole,
            _ => {
                let name = digits.type_name();
                return Err(Raised::type_error(format!("'{name}' object cannot be interpreted as an integer")));
            }
        },
    };
    match i64::try_from(digits) {
        Ok(places @ ..0) => to_tens(value, places.unsigned_abs()).map(DecimalValue::Decimal),
        Ok(decimals @ 0..=28) => {
            Ok(value.round_dp_with_strategy(decimals as u32, RoundingStrategy::MidpointNearestEven).into())
        }
        Ok(_) => Ok(value.into()),
        Err(_) => Ok(if digits.is_sign_negative() { Decimal::ZERO } else { value }.into()),
    }
}

/// To the nearest multiple of `10^places`.
fn to_tens(value: Decimal, places: u64) -> Result<Decimal, Raised> {
    let Some(places) = u32::try_from(places).ok().filter(|places| *places <= MOST_PLACES) else {
        return Ok(Decimal::ZERO);
    };
    let unit = scaled::power_of_ten(places + value.scale());
    let multiple = scaled::divide_to_nearest(&BigInt::from(value.mantissa()), &unit);
    rounded(&multiple, -i64::from(places))
}
