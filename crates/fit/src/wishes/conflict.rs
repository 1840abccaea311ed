//! A smallest set of wishes that no constants satisfy together: without any one of them, the others can be satisfied.

use std::collections::{HashMap, VecDeque};

use super::Wish;
use super::halfspace::{Condition, Halfspace};
use super::linear_program::{Bounds, deepest, is_feasible};

/// The indices of such wishes, ascending; empty if all can be satisfied. `conditions` has the condition of each wish; without
/// them, only a circle of wishes is known not to be satisfiable.
pub(super) fn smallest_conflict(wishes: &[Wish], conditions: Option<&[Condition]>, bounds: &Bounds) -> Vec<usize> {
    let is_unmet = |condition: &Condition| matches!(condition, Condition::Unmet);
    if let Some(index) = conditions.and_then(|conditions| conditions.iter().position(is_unmet)) {
        return vec![index];
    }
    let mut circle = shortest_circle(wishes);
    circle.sort_unstable();
    let Some(conditions) = conditions else { return circle };
    let candidates = if circle.is_empty() { binding(conditions, bounds) } else { circle };
    minimal(candidates, wishes, conditions, bounds)
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

/// Leaves out each wish without which the others still cannot be satisfied.
fn minimal(mut conflict: Vec<usize>, wishes: &[Wish], conditions: &[Condition], bounds: &Bounds) -> Vec<usize> {
    let mut tried = 0;
    while tried < conflict.len() {
        let mut others = conflict.clone();
        others.remove(tried);
        let others_wish: Vec<Wish> = others.iter().map(|&index| wishes[index]).collect();
        let is_conflict =
            !shortest_circle(&others_wish).is_empty() || !is_feasible(&halfspaces(&others, conditions), bounds);
        if is_conflict {
            conflict = others;
        } else {
            tried += 1;
        }
    }
    conflict
}

fn halfspaces<'c>(indices: &[usize], conditions: &'c [Condition]) -> Vec<&'c Halfspace> {
    indices.iter().flat_map(|&index| conditions[index].halfspaces()).collect()
}

/// The indices of the wishes of a shortest circle: each one's lower job is the next one's upper job. Empty if there is none.
fn shortest_circle(wishes: &[Wish]) -> Vec<usize> {
    let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
    wishes.iter().enumerate().for_each(|(index, wish)| below.entry(wish.above).or_default().push(index));
    let candidates = on_circles(wishes);
    let circles = candidates.into_iter().filter_map(|index| circle_through(index, wishes, &below));
    circles.min_by_key(Vec::len).unwrap_or_default()
}

/// The wishes that may belong to a circle: none of their jobs is only above or only below others.
fn on_circles(wishes: &[Wish]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..wishes.len()).collect();
    loop {
        let above: std::collections::HashSet<usize> = kept.iter().map(|&index| wishes[index].above).collect();
        let below: std::collections::HashSet<usize> = kept.iter().map(|&index| wishes[index].below).collect();
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
