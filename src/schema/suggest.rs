//! Nearest names: what someone who typed an unknown name may have meant.

/// Names longer than this are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 64;
const MOST_SUGGESTIONS: usize = 3;

/// The names among `known` within reach of `typed`, nearest first, equals in alphabetical order, at most three.
pub(super) fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = folded(typed);
    if typed.is_empty() || typed.len() > LONGEST {
        return Vec::new();
    }
    let reach = (typed.len() / 3).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = known
        .filter(|name| name.len() <= LONGEST)
        .map(|name| (distance(&typed, &folded(name)), name))
        .filter(|&(distance, _)| distance <= reach)
        .collect();
    near.sort_unstable();
    near.into_iter().take(MOST_SUGGESTIONS).map(|(_, name)| name).collect()
}

/// Lower case, and every separator the same: `eligible-time` is no slip away from `eligible_time`.
fn folded(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).map(|c| if c == '-' || c == '.' { '_' } else { c }).collect()
}

/// Damerau–Levenshtein distance (optimal string alignment): insertions, deletions, replacements and swaps of
/// neighbours each cost 1.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
