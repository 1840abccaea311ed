//! The part of the usage of each entity beside its share of the machine.

use job_sort_formula::fairshare::{NodeKind, ShareTable, ShareTree};

use crate::view::charts::svg::{Anchor, LETTER, Layout, Svg, drawn, fitting};
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
struct Entity<'a> {
    name: &'a str,
    share: f64,
    used: f64,
}

/// The entities that are drawn, those that are farthest above their shares first, and how many are not.
pub(crate) struct Dots<'a> {
    shown: Vec<Entity<'a>>,
    omitted: usize,
}

impl<'a> Dots<'a> {
    /// The entities without shares, and those farthest above and farthest below their shares.
    pub(crate) fn new(tree: &'a ShareTree, shares: &ShareTable) -> Self {
        let total = tree.usage(tree.root());
        let entities = tree.nodes().filter(|&node| tree.kind(node) == NodeKind::Entity).map(|node| Entity {
            // the jobs that have no entity are charged to a node without a name
            name: if tree.name(node).is_empty() { "(no entity)" } else { tree.name(node) },
            share: shares.get(node).map_or(0.0, |shares| shares.fairshare_perc),
            used: if total > 0.0 { tree.usage(node) / total } else { 0.0 },
        });
        let (mut without, mut others): (Vec<_>, Vec<_>) = entities.partition(|entity| entity.share <= 0.0);
        let all = without.len() + others.len();
        without.sort_by(|one, other| other.used.total_cmp(&one.used));
        without.truncate(MAX_WITHOUT);
        others.sort_by(|one, other| (other.used - other.share).total_cmp(&(one.used - one.share)));
        let above = others.iter().filter(|entity| entity.used > entity.share).count().min(MAX_SIDE);
        let below = others.iter().filter(|entity| entity.used <= entity.share).count().min(MAX_SIDE);
        others.drain(above..others.len() - below);
        without.extend(others);
        Self { omitted: all - without.len(), shown: without }
    }

    /// Whether there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The number of entities that are not drawn.
    pub(crate) fn omitted(&self) -> usize {
        self.omitted
    }

    pub(crate) fn draw(&self) -> ChartSvg {
        drawn(|layout| self.draw_in(layout))
    }

    fn draw_in(&self, layout: Layout) -> String {
        const TOP: f64 = 48.0;
        /// The columns of numbers on the right.
        const COLUMN: f64 = 74.0;
        let row = layout.either(20.0, 38.0);
        let width = layout.width();
        let numbers = width - 2.0 * COLUMN - 16.0;
        let longest = self.shown.iter().map(|entity| entity.name.chars().count()).max().unwrap_or(0);
        let left = layout.either((longest as f64 * LETTER + 28.0).clamp(80.0, 260.0), 12.0);
        let right = layout.either(numbers, width - 24.0);
        let bottom = TOP + row * self.shown.len() as f64;
        let mut svg = Svg::new(width, bottom + 6.0);
        let parts = self.shown.iter().flat_map(|entity| [entity.share, entity.used]);
        let axis = PartAxis::new(parts, left, right);
        svg.text((left, TOP - 14.0), Anchor::Middle, "axis", "0");
        svg.line((left, TOP - 8.0), (left, bottom), "grid");
        for part in axis.ticks() {
            svg.line((axis.x(part), TOP - 8.0), (axis.x(part), bottom), "grid");
            svg.text((axis.x(part), TOP - 14.0), Anchor::Middle, "axis", &percent_of_axis(part));
        }
        let heading = layout.either(TOP - 14.0, 14.0);
        svg.text((width - COLUMN - 4.0, heading), Anchor::End, "axis", "share");
        svg.text((width - 4.0, heading), Anchor::End, "axis", "usage");
        for (index, entity) in self.shown.iter().enumerate() {
            let top = TOP + row * index as f64;
            let y = top + layout.either(0.5 * row, 26.0);
            let words = layout.either(y + 4.0, top + 12.0);
            let [share, used] = [entity.share, entity.used].map(percent);
            let share = if entity.share > 0.0 { share } else { "none".to_owned() };
            let title = format!("{}: share {share}, part of the usage {used}", entity.name);
            match layout {
                Layout::Wide => {
                    svg.text((left - 12.0, words), Anchor::End, "label", &fitting(entity.name, left - 28.0));
                }
                Layout::Narrow => svg.text((4.0, words), Anchor::Start, "label", &fitting(entity.name, numbers)),
            }
            svg.line((axis.x(entity.share), y), (axis.x(entity.used), y), "between");
            svg.circle((axis.x(entity.share), y), 5.0, "old", &title);
            svg.circle((axis.x(entity.used), y), 4.5, "new", &title);
            svg.text((width - COLUMN - 4.0, words), Anchor::End, "axis", &share);
            svg.text((width - 4.0, words), Anchor::End, "label", &used);
        }
        let name = "Each entity's share of the machine, and its part of the usage";
        svg.finish(name, "Two dots for each entity on a logarithmic axis. The table below has the same numbers.")
    }
}

/// A logarithmic axis for parts of a whole, with 0 left of it.
struct PartAxis {
    /// The power of ten at which the axis begins.
    first: i32,
    left: f64,
    right: f64,
}

impl PartAxis {
    fn new(parts: impl Iterator<Item = f64>, left: f64, right: f64) -> Self {
        let least = parts.filter(|part| *part >= SMALLEST).fold(1.0, f64::min);
        Self { first: (least.log10().floor() as i32).min(-1), left, right }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.first..=0).map(|power| 10f64.powi(power))
    }

    fn x(&self, part: f64) -> f64 {
        /// Between 0 and the beginning of the axis, a part of its length.
        const GAP: f64 = 0.1;
        if part < SMALLEST {
            return self.left;
        }
        let place = (1.0 - part.log10() / f64::from(self.first)).clamp(0.0, 1.0);
        self.left + (self.right - self.left) * (GAP + (1.0 - GAP) * place)
    }
}

/// A power of ten in percent.
fn percent_of_axis(part: f64) -> String {
    let decimals = (-(part * 100.0).log10().round()).max(0.0) as usize;
    format!("{:.decimals$} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use job_sort_formula::fairshare::{AssessedTree, FairTree, Member, PolicyRules, TreeBuilder};

    use super::*;

    #[test]
    fn entities_without_shares_are_always_drawn() {
        let mut builder = TreeBuilder::new("root");
        for index in 0..100u32 {
            let usage = f64::from(index * 20);
            builder.add(builder.root(), Member::entity(format!("u{index}")).shares(10).usage(usage)).unwrap();
        }
        builder.add(builder.root(), Member::entity("none").shares(0).usage(5000.0)).unwrap();
        builder.add(builder.root(), Member::entity("idle").shares(0)).unwrap();
        let tree = AssessedTree::new(builder.finish(), &FairTree::new(PolicyRules::Scheduler));
        let dots = Dots::new(tree.tree(), tree.shares());
        let names: Vec<&str> = dots.shown.iter().map(|entity| entity.name).collect();
        assert_eq!((names.len(), dots.omitted()), (32, 70));
        assert_eq!((names[0], names[1], names[2], names[31]), ("none", "idle", "u99", "u0"));
        let ChartSvg { wide: chart, narrow } = dots.draw();
        assert_eq!(narrow.matches("<circle").count(), 64);
        assert_eq!(chart.matches("<circle").count(), 64);
        assert!(chart.contains("none: share none, part of the usage ") && !chart.contains("NaN"));
    }

    #[test]
    fn the_axis_has_whole_percentages() {
        assert_eq!([1.0, 0.1, 0.01, 0.001].map(percent_of_axis), ["100 %", "10 %", "1 %", "0.1 %"]);
    }
}
