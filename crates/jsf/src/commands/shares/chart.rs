//! The part of the usage of each entity beside its share of the machine.

use job_sort_formula::fairshare::{AssessedTree, NodeId, NodeKind};

use crate::commands::shares::answer::{excess, share_part, usage_part};
use crate::commands::shares::view::shown_name;
use crate::view::charts::intervals::{Intervals, Row};
use crate::view::document::ChartSvg;
use crate::view::words::percent;

/// The most entities that are drawn of those above, and of those below their shares.
const MAX_SIDE: usize = 15;
/// The most entities without shares that are drawn.
const MAX_WITHOUT: usize = 40;
/// A smaller part is drawn as 0.
const SMALLEST: f64 = 1e-5;

/// The meaning of the marks.
pub(crate) const LEGEND: [(&str, &str); 2] = [("old", "share"), ("new", "part of the usage")];

/// The entities without shares, and those farthest above and farthest below their shares, in this
/// order.
pub(crate) fn farthest_entities(assessed: &AssessedTree) -> Vec<NodeId> {
    let tree = assessed.tree();
    let entities = entities_by_excess(assessed, tree.nodes().collect());
    let mut without = entities.clone();
    without.retain(|&node| share_part(assessed, node) <= 0.0);
    without.truncate(MAX_WITHOUT);
    without.extend(farthest_with_shares(assessed, entities, MAX_SIDE));
    without
}

/// The entities among nodes, those that use most more than their shares first.
pub(crate) fn entities_by_excess(assessed: &AssessedTree, mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.retain(|&node| assessed.tree().kind(node) == NodeKind::Entity);
    nodes.sort_by(|&one, &other| excess(assessed, other).total_cmp(&excess(assessed, one)));
    nodes
}

/// Of entities in this order those with shares: so many above their shares, and so many below.
pub(crate) fn farthest_with_shares(
    assessed: &AssessedTree,
    mut entities: Vec<NodeId>,
    most: usize,
) -> Vec<NodeId> {
    entities.retain(|&node| share_part(assessed, node) > 0.0);
    let above = entities.partition_point(|&node| excess(assessed, node) > 0.0);
    let mut below = entities.split_off(above);
    entities.truncate(most);
    entities.extend(below.split_off(below.len().saturating_sub(most)));
    entities
}

pub(crate) fn draw(assessed: &AssessedTree, entities: &[NodeId]) -> ChartSvg {
    let mut least: f64 = 1.0;
    let mut rows = Vec::new();
    for &node in entities {
        let name = shown_name(assessed.tree(), node);
        let [share, used] = [share_part(assessed, node), usage_part(assessed, node)];
        for part in [share, used] {
            if part >= SMALLEST {
                least = least.min(part);
            }
        }
        let mut words = vec![percent(share), percent(used)];
        if share <= 0.0 {
            "none".clone_into(&mut words[0]);
        }
        rows.push(Row {
            name: name.into(),
            line: Some(([share, used], "between")),
            marks: vec![(share, "old"), (used, "new")],
            title: format!("{name}: share {}, part of the usage {}", words[0], words[1]),
            words,
        });
    }
    // the power of ten at which the axis begins
    let first = (least.log10().floor() as i32).min(-1);
    let mut ticks = vec![(0.0, "0".to_owned())];
    for power in first..=0 {
        let part = 10f64.powi(power);
        ticks.push((part, percent_of_axis(part)));
    }
    let intervals = Intervals {
        place: Box::new(move |part| place(part, first)),
        ticks,
        directions: ["", ""],
        columns: vec!["share", "usage"],
        rows,
    };
    intervals.chart("Each entity's share of the machine, and its part of the usage")
}

/// Where a part is on a logarithmic axis that begins at a power of ten, with 0 left of it.
fn place(part: f64, first: i32) -> f64 {
    /// Between 0 and the beginning of the axis, a part of its length.
    const GAP: f64 = 0.1;
    if part < SMALLEST {
        return 0.0;
    }
    GAP + (1.0 - GAP) * (1.0 - part.log10() / f64::from(first)).clamp(0.0, 1.0)
}

/// A power of ten in percent.
fn percent_of_axis(part: f64) -> String {
    let decimals = (-(part * 100.0).log10().round()).max(0.0) as usize;
    format!("{:.decimals$} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use job_sort_formula::fairshare::{FairTree, Member, PolicyRules, TreeBuilder};

    use super::*;

    #[test]
    fn entities_without_shares_are_always_drawn() {
        let mut builder = TreeBuilder::new("root");
        for index in 0..100u32 {
            let usage = f64::from(index * 20);
            builder
                .add(
                    builder.root(),
                    Member::entity(format!("u{index}")).shares(10).usage(usage),
                )
                .unwrap();
        }
        builder
            .add(
                builder.root(),
                Member::entity("none").shares(0).usage(5000.0),
            )
            .unwrap();
        builder
            .add(builder.root(), Member::entity("idle").shares(0))
            .unwrap();
        let tree = AssessedTree::new(builder.finish(), &FairTree::new(PolicyRules::Scheduler));
        let entities = farthest_entities(&tree);
        let names: Vec<&str> = entities
            .iter()
            .map(|&node| tree.tree().name(node))
            .collect();
        assert_eq!(names.len(), 32);
        assert_eq!(
            (names[0], names[1], names[2], names[31]),
            ("none", "idle", "u99", "u0")
        );
        let ChartSvg {
            wide: chart,
            narrow,
        } = draw(&tree, &entities);
        assert_eq!(narrow.matches("<circle").count(), 64);
        assert_eq!(chart.matches("<circle").count(), 64);
        assert!(chart.contains("none: share none, part of the usage ") && !chart.contains("NaN"));
    }

    #[test]
    fn the_axis_has_whole_percentages() {
        assert_eq!(
            [1.0, 0.1, 0.01, 0.001].map(percent_of_axis),
            ["100 %", "10 %", "1 %", "0.1 %"]
        );
    }
}
