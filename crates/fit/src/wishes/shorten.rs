//! Constants with few digits, and how far each may vary.

use job_sort_formula::formula::TemplateConstant;

/// The digits to begin with, and those that distinguish every double.
const FEW_DIGITS: usize = 2;
const ALL_DIGITS: usize = 17;
/// The equal parts of what is between a constant and an end of its range, at which it is tried.
const EQUAL_PARTS: u32 = 16;
/// How far inside of the range that is good a constant stays, as a part of it.
const INSIDE: f64 = 0.1;
/// How often an interval is halved to find where the range of a constant ends.
const HALVINGS: usize = 20;

/// Whether constants meet what is to be kept.
type IsGood<'a> = dyn FnMut(&[f64]) -> bool + 'a;

/// Each constant as it begins, if that is good beside the others.
pub(super) fn with_starts(
    values: &[f64],
    constants: &[TemplateConstant],
    is_good: &mut IsGood<'_>,
) -> Vec<f64> {
    let mut found = values.to_vec();
    for (index, constant) in constants.iter().enumerate() {
        try_value(&mut found, index, constant.start, is_good);
    }
    found
}

/// Each constant that does not begin so a little inside of the values that are good, at the end
/// where it begins.
pub(super) fn inside(
    values: &[f64],
    constants: &[TemplateConstant],
    is_good: &mut IsGood<'_>,
) -> Vec<f64> {
    let mut found = values.to_vec();
    for (index, constant) in constants
        .iter()
        .enumerate()
        .filter(|(index, one)| values[*index] != one.start)
    {
        let (low, high) = range_of(index, &found, constant, is_good);
        let [near, far] = if constant.start <= low {
            [low, high]
        } else {
            [high, low]
        };
        let value = near + INSIDE * (far - near);
        try_value(
            &mut found,
            index,
            if constant.is_int {
                value.round()
            } else {
                value
            },
            is_good,
        );
    }
    found
}

/// Each constant with as few digits as are good.
pub(super) fn shortened(
    exact: &[f64],
    constants: &[TemplateConstant],
    is_good: &mut IsGood<'_>,
) -> Vec<f64> {
    // all with so many digits first: one after the other they may leave each other no room
    let rounded = |digits: usize| -> Vec<f64> {
        exact
            .iter()
            .zip(constants)
            .map(|(value, constant)| to_digits(*value, digits, constant))
            .collect()
    };
    let shorter = (FEW_DIGITS..ALL_DIGITS)
        .map(rounded)
        .find(|values| is_good(values));
    let mut found = shorter.unwrap_or_else(|| exact.to_vec());
    for (index, constant) in constants.iter().enumerate() {
        let mut candidates =
            (FEW_DIGITS..ALL_DIGITS).map(|digits| to_digits(exact[index], digits, constant));
        candidates.find(|value| try_value(&mut found, index, *value, is_good));
    }
    found
}

/// Gives a constant another value if that is good, and says whether it has it.
fn try_value(values: &mut [f64], index: usize, value: f64, is_good: &mut IsGood<'_>) -> bool {
    let before = std::mem::replace(&mut values[index], value);
    let is_kept = before == value || is_good(values);
    if !is_kept {
        values[index] = before;
    }
    is_kept
}

fn to_digits(value: f64, digits: usize, constant: &TemplateConstant) -> f64 {
    if value == constant.start || constant.is_int {
        return value;
    }
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    rounded.clamp(constant.low, constant.high)
}

/// The least and the greatest value of a constant up to which those that were tried are good, the
/// others being as they are.
pub(super) fn range_of(
    index: usize,
    values: &[f64],
    constant: &TemplateConstant,
    is_good: &mut IsGood<'_>,
) -> (f64, f64) {
    let mut is_good_at = |value: f64| {
        let mut changed = values.to_vec();
        changed[index] = value;
        is_good(&changed)
    };
    let low = farthest(
        values[index],
        constant.low,
        constant.is_int,
        &mut is_good_at,
    );
    let high = farthest(
        values[index],
        constant.high,
        constant.is_int,
        &mut is_good_at,
    );
    (low, high)
}

/// The value that is farthest from the present one toward an end, among those up to which all that
/// were tried at equal distances are good.
fn farthest(value: f64, end: f64, is_int: bool, is_good: &mut dyn FnMut(f64) -> bool) -> f64 {
    let at = |part: f64| {
        let value = value + part * (end - value);
        if is_int { value.round() } else { value }
    };
    let parts = (1..=EQUAL_PARTS).map(|part| f64::from(part) / f64::from(EQUAL_PARTS));
    let Some(mut bad) = parts.into_iter().find(|part| !is_good(at(*part))) else {
        return end;
    };
    let mut good = bad - 1.0 / f64::from(EQUAL_PARTS);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(good, bad);
        if is_good(at(middle)) {
            good = middle
        } else {
            bad = middle
        }
    }
    let found = at(good);
    // with three digits, toward the value
    let short: f64 = format!("{found:.2e}").parse().unwrap_or(found);
    let is_between = short >= value.min(found) && short <= value.max(found);
    if is_between && !is_int { short } else { found }
}
