//! Constants with few digits, and how far each may vary.

use job_sort_formula::formula::TemplateConstant;

/// The digits to begin with.
const FEW_DIGITS: usize = 2;
/// The digits that distinguish every double.
const ALL_DIGITS: usize = 17;
/// A number that is smaller than this part of its range may be 0.
const NEARLY_ZERO: f64 = 1e-6;
/// How far inside of the range that is good a constant stays, as a part of it.
const INSIDE: f64 = 0.1;
/// The equal parts of what is between a constant and an end of its range, at which it is tried.
const EQUAL_PARTS: f64 = 16.0;
/// How often the first of them is halved for the places next to the constant.
const DOUBLINGS: i32 = 6;
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
    if value == constant.start {
        return value;
    }
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

/// The value that is farthest from the present one toward an end, among those up to which all that were tried are good: those near
/// to the present one at distances that double, and the others at equal ones.
fn farthest(value: f64, end: f64, is_int: bool, is_good: &mut dyn FnMut(f64) -> bool) -> f64 {
    let at = |part: f64| {
        let value = value + part * (end - value);
        if is_int { value.round() } else { value }
    };
    if value == end {
        return end;
    }
    let doubled = (0..DOUBLINGS).map(|power| (0.5_f64).powi(DOUBLINGS - power) / EQUAL_PARTS);
    let equal = (1..=EQUAL_PARTS as u32).map(|part| f64::from(part) / EQUAL_PARTS);
    let (mut good, mut bad) = (0.0, 1.0);
    let mut is_good_to_the_end = true;
    for part in doubled.chain(equal) {
        is_good_to_the_end = is_good(at(part));
        if !is_good_to_the_end {
            bad = part;
            break;
        }
        good = part;
    }
    if is_good_to_the_end {
        return end;
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

/// Moves each constant back toward where it begins: to it if that is good, else a little inside of the range that is good. With
/// `exactly`, only to it.
pub(super) fn near_start(
    values: &[f64],
    constants: &[TemplateConstant],
    exactly: bool,
    is_good: &mut dyn FnMut(&[f64]) -> bool,
) -> Vec<f64> {
    let mut near = values.to_vec();
    for index in 0..values.len() {
        if !starts_at(index, &mut near, constants, is_good) && !exactly {
            let mut moved = near.clone();
            moved[index] = toward_start(index, &near, constants, is_good);
            if is_good(&moved) {
                near = moved;
            }
        }
    }
    // the others may have made room
    (0..values.len()).for_each(|index| {
        starts_at(index, &mut near, constants, is_good);
    });
    near
}

/// Whether a constant may have the value that it begins with, which it then gets.
fn starts_at(
    index: usize,
    values: &mut [f64],
    constants: &[TemplateConstant],
    is_good: &mut dyn FnMut(&[f64]) -> bool,
) -> bool {
    let mut moved = values.to_vec();
    moved[index] = constants[index].start;
    let is_start = moved[index] == values[index] || is_good(&moved);
    if is_start {
        values.copy_from_slice(&moved);
    }
    is_start
}

/// The value in the range that is good, and not at its very end, that is nearest to where the constant begins.
fn toward_start(
    index: usize,
    values: &[f64],
    constants: &[TemplateConstant],
    is_good: &mut dyn FnMut(&[f64]) -> bool,
) -> f64 {
    let constant = &constants[index];
    let (low, high) = range_of(index, values, constants, is_good);
    let [near, far] = if constant.start <= low { [low, high] } else { [high, low] };
    let value = match constant.is_log {
        true => near * libm::pow(far / near, INSIDE),
        false => near + INSIDE * (far - near),
    };
    if constant.is_int { value.round() } else { value }
}
