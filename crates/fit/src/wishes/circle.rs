//! Wishes that contradict each other: job A before B, B before C, and C before A.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use super::Wish;

/// Of how many wishes the shortest circle is looked for.
const MAX_TRIED: usize = 500;

/// The indices of the wishes of a shortest circle, ascending: the lower job of each is the upper
/// job of another one. Empty without a circle.
pub fn shortest_circle(wishes: &[Wish]) -> Vec<usize> {
    let mut by_above: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, wish) in wishes.iter().enumerate() {
        by_above.entry(wish.above).or_default().push(index);
    }
    let mut shortest: Vec<usize> = Vec::new();
    for first in near_circles(wishes).into_iter().take(MAX_TRIED) {
        if let Some(circle) = circle_through(first, wishes, &by_above)
            && (shortest.is_empty() || circle.len() < shortest.len())
        {
            shortest = circle;
        }
    }
    shortest.sort_unstable();
    shortest
}

/// The wishes on circles, and those between two circles: none of their jobs is only above or only
/// below others.
fn near_circles(wishes: &[Wish]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..wishes.len()).collect();
    loop {
        let mut above = HashSet::new();
        let mut below = HashSet::new();
        for &index in &kept {
            above.insert(wishes[index].above);
            below.insert(wishes[index].below);
        }
        let count = kept.len();
        kept.retain(|&index| {
            below.contains(&wishes[index].above) && above.contains(&wishes[index].below)
        });
        if kept.len() == count {
            return kept;
        }
    }
}

/// The shortest circle through a wish.
fn circle_through(
    first: usize,
    wishes: &[Wish],
    by_above: &HashMap<usize, Vec<usize>>,
) -> Option<Vec<usize>> {
    let mut reached_by: HashMap<usize, usize> = HashMap::from([(wishes[first].below, first)]);
    let mut jobs = VecDeque::from([wishes[first].below]);
    while let Some(job) = jobs.pop_front() {
        for &index in by_above.get(&job).into_iter().flatten() {
            let next = wishes[index].below;
            if next == wishes[first].above {
                let mut circle = vec![index];
                let mut last = index;
                while last != first {
                    last = reached_by[&wishes[last].above];
                    circle.push(last);
                }
                return Some(circle);
            }
            if let Entry::Vacant(entry) = reached_by.entry(next) {
                entry.insert(index);
                jobs.push_back(next);
            }
        }
    }
    None
}
