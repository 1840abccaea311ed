//! The part of the usage of each entity beside its share of the machine.

use job_sort_formula::fairshare::{AssessedTree, NodeKind};

use crate::commands::shares::answer::{share_part, usage_part};
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

/// An entity: its share of the machine, and its part of the usage, both from 0 to 1.
pub(crate) struct Entity<'a> {
    name: &'a str,
    share: f64,
    used: f64,
}

/// The entities without shares, and those farthest above and farthest below their shares, in this
/// order.
pub(crate) fn farthest_entities(assessed: &AssessedTree) -> Vec<Entity<'_>> {
    let tree = assessed.tree();
    let (mut without, mut above) = (Vec::new(), Vec::new());
    for node in tree.nodes() {
        if tree.kind(node) == NodeKind::Entity {
            let entity = Entity {
                name: shown_name(tree, node),
                share: share_part(assessed, node),
                used: usage_part(assessed, node),
            };
            if entity.share > 0.0 {
                above.push(entity);
            } else {
                without.push(entity);
            }
        }
    }
    without.sort_by(|one, other| other.used.total_cmp(&one.used));
    without.truncate(MAX_WITHOUT);
    above.sort_by(|one, other| (other.used - other.share).total_cmp(&(one.used - one.share)));
    let mut below = above.split_off(above.partition_point(|entity| entity.used > entity.share));
    above.truncate(MAX_SIDE);
    without.extend(above);
    without.extend(below.split_off(below.len().saturating_sub(MAX_SIDE)));
    without
}

pub(crate) fn draw(entities: &[Entity<'_>]) -> ChartSvg {
    let mut least: f64 = 1.0;
    for entity in entities {
        for part in [entity.share, entity.used] {
            if part >= SMALLEST {
                least = least.min(part);
            }
        }
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
        rows: entities.iter().map(Entity::row).collect(),
    };
    intervals.chart("Each entity's share of the machine, and its part of the usage")
}

impl Entity<'_> {
    fn row(&self) -> Row<'_> {
        let Self { name, share, used } = *self;
        let words = [
            if share > 0.0 {
                percent(share)
            } else {
                "none".to_owned()
            },
            percent(used),
        ];
        Row {
            name: name.into(),
            line: Some(([share, used], "between")),
            marks: vec![(share, "old"), (used, "new")],
            title: format!("{name}: share {}, part of the usage {}", words[0], words[1]),
            words: words.into(),
        }
    }
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
        let names: Vec<&str> = entities.iter().map(|entity| entity.name).collect();
        assert_eq!(names.len(), 32);
        assert_eq!(
            (names[0], names[1], names[2], names[31]),
            ("none", "idle", "u99", "u0")
        );
        let ChartSvg {
            wide: chart,
            narrow,
        } = draw(&entities);
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
