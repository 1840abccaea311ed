//! A smallest set of wishes that no constants satisfy together: without any one of them, the others can be satisfied.

use std::collections::{HashMap, HashSet, VecDeque};

use super::Wish;
use super::halfspace::{Condition, Halfspace};
use super::linear_program::{Bounds, deepest, is_feasible};

/// A longer circle is not searched for a part of it that the template cannot satisfy.
const MAX_REDUCED: usize = 200;
/// Of how many wishes the shortest circle is looked for.
const MAX_TRIED: usize = 500;

/// The indices of such wishes, ascending; empty if all can be satisfied. `conditions` has the condition of each wish.
pub(super) fn smallest_conflict(wishes: &[Wish], conditions: &[Condition], bounds: &Bounds) -> Vec<usize> {
    if let Some(index) = conditions.iter().position(|condition| matches!(condition, Condition::Unmet)) {
        return vec![index];
    }
    let circle = shortest_circle(wishes);
    if circle.len() > MAX_REDUCED {
        return circle;
    }
    let candidates = if circle.is_empty() { binding(conditions, bounds) } else { circle };
    if candidates.is_empty() {
        return candidates;
    }
    let mut conflict = reduced(&[], &candidates, &mut |indices| {
        let wishes: Vec<Wish> = indices.iter().map(|&index| wishes[index]).collect();
        !on_circles(&wishes).is_empty() || !is_feasible(&halfspaces(indices, conditions), bounds)
    });
    conflict.sort_unstable();
    conflict
}

/// Wishes that cannot be satisfied together, though perhaps not all of them are needed for that.
fn binding(conditions: &[Condition], bounds: &Bounds) -> Vec<usize> {
    let all: Vec<usize> = (0..conditions.len()).collect();
    let planes = halfspaces(&all, conditions);
    if is_feasible(&planes, bounds) {
        return Vec::new();
    }
    let owners: Vec<usize> =
        all.iter().flat_map(|&index| conditions[index].halfspaces().iter().map(move |_| index)).collect();
    // where all planes count alike, those that meet at the deepest point are a conflict, or contain one
    let deepest = deepest(&planes, bounds, false);
    let mut binding: Vec<usize> =
        deepest.iter().flat_map(|deepest| deepest.binding.iter().map(|&plane| owners[plane])).collect();
    binding.dedup();
    if is_feasible(&halfspaces(&binding, conditions), bounds) { all } else { binding }
}

/// Of the candidates, which are a conflict together with the background, those that are needed for that. Source: U. Junker,
/// "QuickXplain: preferred explanations and relaxations for over-constrained problems", 2004.
pub(super) fn reduced(
    background: &[usize],
    candidates: &[usize],
    is_conflict: &mut dyn FnMut(&[usize]) -> bool,
) -> Vec<usize> {
    needed(background, !background.is_empty(), candidates, is_conflict)
}

/// `is_new` says that the background has grown, so that it may be a conflict itself.
fn needed(
    background: &[usize],
    is_new: bool,
    candidates: &[usize],
    is_conflict: &mut dyn FnMut(&[usize]) -> bool,
) -> Vec<usize> {
    if is_new && is_conflict(background) {
        return Vec::new();
    }
    if candidates.len() <= 1 {
        return candidates.to_vec();
    }
    let (left, right) = candidates.split_at(candidates.len() / 2);
    let of_right = needed(&[background, left].concat(), true, right, is_conflict);
    let of_left = needed(&[background, &of_right].concat(), !of_right.is_empty(), left, is_conflict);
    [of_left, of_right].concat()
}

fn halfspaces<'c>(indices: &[usize], conditions: &'c [Condition]) -> Vec<&'c Halfspace> {
    indices.iter().flat_map(|&index| conditions[index].halfspaces()).collect()
}

/// The indices of the wishes of a shortest circle, ascending: the lower job of each is the upper job of another one. Empty without
/// a circle.
pub(super) fn shortest_circle(wishes: &[Wish]) -> Vec<usize> {
    let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
    wishes.iter().enumerate().for_each(|(index, wish)| below.entry(wish.above).or_default().push(index));
    let candidates = on_circles(wishes);
    let circles = candidates.into_iter().take(MAX_TRIED).filter_map(|index| circle_through(index, wishes, &below));
    let mut circle = circles.min_by_key(Vec::len).unwrap_or_default();
    circle.sort_unstable();
    circle
}

/// The wishes on circles, and those between two circles: none of their jobs is only above or only below others. There are none if
/// there is no circle.
fn on_circles(wishes: &[Wish]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..wishes.len()).collect();
    loop {
        let above: HashSet<usize> = kept.iter().map(|&index| wishes[index].above).collect();
        let below: HashSet<usize> = kept.iter().map(|&index| wishes[index].below).collect();
        let count = kept.len();
        kept.retain(|&index| below.contains(&wishes[index].above) && above.contains(&wishes[index].below));
        if kept.len() == count {
            return kept;
        }
    }
}

/// The shortest circle through a wish.
fn circle_through(first: usize, wishes: &[Wish], below: &HashMap<usize, Vec<usize>>) -> Option<Vec<usize>> {
    let mut reached_by: HashMap<usize, usize> = HashMap::from([(wishes[first].below, first)]);
    let mut queue = VecDeque::from([wishes[first].below]);
    while let Some(job) = queue.pop_front() {
        for &index in below.get(&job).into_iter().flatten() {
            let next = wishes[index].below;
            if next == wishes[first].above {
                return Some(path_to(index, first, wishes, &reached_by));
            }
            reached_by.entry(next).or_insert_with(|| {
                queue.push_back(next);
                index
            });
        }
    }
    None
}

/// The wishes from the first one to the last one.
fn path_to(last: usize, first: usize, wishes: &[Wish], reached_by: &HashMap<usize, usize>) -> Vec<usize> {
    let mut path = vec![last];
    while let Some(&index) = path.last()
        && index != first
    {
        path.push(reached_by[&wishes[index].above]);
    }
    path
}
