//! Constants with few digits, and how far each may vary.

use job_sort_formula::formula::TemplateConstant;

/// The digits to begin with.
const FEW_DIGITS: usize = 2;
/// The digits that distinguish every double.
const ALL_DIGITS: usize = 17;
/// A number that is smaller than this part of its range may be 0.
const NEARLY_ZERO: f64 = 1e-6;
/// How often an interval is halved to find where the range of a constant ends.
const HALVINGS: usize = 16;

/// The constants with as few digits as are good enough; those that were found if no others are.
pub(super) fn with_few_digits(
    values: &[f64],
    constants: &[TemplateConstant],
    is_good: &mut dyn FnMut(&[f64]) -> bool,
) -> Vec<f64> {
    let rounded = |digits: usize| -> Vec<f64> {
        values.iter().zip(constants).map(|(value, constant)| to_digits(*value, digits, constant)).collect()
    };
    let Some(digits) = (FEW_DIGITS..ALL_DIGITS).find(|digits| is_good(&rounded(*digits))) else {
        return values.to_vec();
    };
    let mut shortened = rounded(digits);
    for index in 0..values.len() {
        for fewer in FEW_DIGITS..digits {
            let mut shorter = shortened.clone();
            shorter[index] = to_digits(values[index], fewer, &constants[index]);
            if shorter[index] == shortened[index] || is_good(&shorter) {
                shortened = shorter;
                break;
            }
        }
    }
    shortened
}

fn to_digits(value: f64, digits: usize, constant: &TemplateConstant) -> f64 {
    let is_nearly_zero = value.abs() < NEARLY_ZERO * (constant.high - constant.low);
    let value = if is_nearly_zero && !constant.is_log && digits < ALL_DIGITS / 2 { 0.0 } else { value };
    let value = if constant.is_int { value.round() } else { value };
    let rounded = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let rounded: f64 = if constant.is_int { rounded.round() } else { rounded };
    rounded.clamp(constant.low, constant.high)
}

/// The least and the greatest value of a constant up to which the values from the present one on are good, the others being as
/// they are.
pub(super) fn range_of(
    index: usize,
    values: &[f64],
    constants: &[TemplateConstant],
    is_good: &mut dyn FnMut(&[f64]) -> bool,
) -> (f64, f64) {
    let constant = &constants[index];
    let mut is_good_at = |value: f64| {
        let mut changed = values.to_vec();
        changed[index] = value;
        is_good(&changed)
    };
    let low = farthest(values[index], constant.low, constant.is_int, &mut is_good_at);
    let high = farthest(values[index], constant.high, constant.is_int, &mut is_good_at);
    (low, high)
}

/// The value that is farthest from the present one toward an end, among those up to which all that were tried are good.
fn farthest(value: f64, end: f64, is_int: bool, is_good: &mut dyn FnMut(f64) -> bool) -> f64 {
    let at = |part: f64| {
        let value = value + part * (end - value);
        if is_int { value.round() } else { value }
    };
    if value == end || is_good(end) && [0.25, 0.5, 0.75].into_iter().all(|part| is_good(at(part))) {
        return end;
    }
    let (mut good, mut bad) = (0.0, 1.0);
    let mut part = 1.0 / 1024.0;
    while part < bad {
        match is_good(at(part)) {
            true => good = part,
            false => bad = part,
        }
        part *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = (good + bad) / 2.0;
        match is_good(at(middle)) {
            true => good = middle,
            false => bad = middle,
        }
    }
    let found = at(good);
    // with three digits, toward the value
    let short: f64 = format!("{found:.2e}").parse().unwrap_or(found);
    let is_between = short >= value.min(found) && short <= value.max(found);
    if is_between && !is_int { short } else { found }
}

/// Moves each constant to the middle of its range, so that few digits are enough.
pub(super) fn centered(
    values: &[f64],
    constants: &[TemplateConstant],
    is_good: &mut dyn FnMut(&[f64]) -> bool,
) -> Vec<f64> {
    let mut centered = values.to_vec();
    for (index, constant) in constants.iter().enumerate() {
        let (low, high) = range_of(index, &centered, constants, is_good);
        let mut moved = centered.clone();
        moved[index] = if constant.is_log { (low * high).sqrt() } else { (low + high) / 2.0 };
        if is_good(&moved) {
            centered = moved;
        }
    }
    centered
}
