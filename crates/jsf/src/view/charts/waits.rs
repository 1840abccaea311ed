//! The charts of the waits of each group of jobs.

use std::borrow::Cow;

use jsf_simulate::{Distribution, MeanChange};

use crate::view::charts::intervals::{Intervals, Row};
use crate::view::charts::svg::step;
use crate::view::document::ChartSvg;
use crate::view::words::{duration, signed_duration};

/// The meaning of the marks of a [`forest`].
pub(crate) const FOREST_LEGEND: [(&str, &str); 4] = [
    ("up", "shorter, more than chance"),
    ("down", "longer, more than chance"),
    ("hollow up", "shorter, may be chance"),
    ("hollow down", "longer, may be chance"),
];
/// The meaning of the marks of the [`spreads`] of two sides.
pub(crate) const SPREAD_LEGEND: [(&str, &str); 2] =
    [("old", "old formula"), ("new", "new formula")];
/// The meaning of the marks of the [`spreads`] of one side.
pub(crate) const SPREAD_LEGEND_OF_ONE: [(&str, &str); 2] = [
    ("new", "half of the jobs have started"),
    ("hollow new", "95 % have started"),
];

/// How the mean wait of each group changes, with its interval: a filled mark is more than chance, a
/// hollow one may be chance.
pub(crate) fn forest(what: &str, groups: &[(&str, MeanChange)]) -> ChartSvg {
    // the axis has 0, and begins and ends at labelled changes
    let [mut least, mut most] = [0.0, 0.0];
    let mut rows = Vec::new();
    for (name, change) in groups {
        let ends = change.interval().into_iter().flatten();
        for end in ends.chain([change.difference()]) {
            [least, most] = [f64::min(least, end), f64::max(most, end)];
        }
        rows.push(change_row(name, change));
    }
    let tick = time_step((most - least).max(1.0), MAX_TICKS);
    let low = (least / tick).floor().min(-1.0) * tick;
    let high = (most / tick).ceil().max(1.0) * tick;
    let mut ticks = Vec::new();
    for index in 0..=((high - low) / tick).round() as usize {
        let change = low + tick * index as f64;
        ticks.push((change, signed_duration(change)));
    }
    let intervals = Intervals {
        place: Box::new(move |change| (change - low) / (high - low)),
        ticks,
        directions: ["← shorter waits", "longer waits →"],
        columns: vec!["change"],
        rows,
    };
    intervals.chart(&format!("How the mean wait changes by {what}"))
}

fn change_row<'a>(name: &'a str, change: &MeanChange) -> Row<'a> {
    let difference = change.difference();
    let by = signed_duration(difference);
    let is_longer = difference > 0.0;
    let class = match (change.is_significant(), is_longer) {
        (true, true) => "down",
        (true, false) => "up",
        (false, true) => "hollow down",
        (false, false) => "hollow up",
    };
    let mut title = format!("{name}: {by}");
    if let Some([low, high]) = change.interval().map(|ends| ends.map(signed_duration)) {
        title += &format!(" ({low} to {high})");
    }
    let side = if is_longer { "down" } else { "up" };
    Row {
        name: name.into(),
        line: change.interval().map(|ends| (ends, side)),
        marks: vec![(difference, class)],
        title,
        words: vec![by],
    }
}

/// A step of a round time, of which at most `count` cover `span` seconds.
fn time_step(span: f64, count: f64) -> f64 {
    const STEPS: [f64; 15] = [
        1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0,
        86_400.0, 172_800.0, 432_000.0,
    ];
    let known = STEPS.into_iter().find(|step| span / step <= count);
    known.unwrap_or_else(|| 86_400.0 * step(span / 86_400.0, count))
}

/// The most labelled steps between the ends of a change.
const MAX_TICKS: f64 = 5.0;
/// The waits that are labelled, in seconds.
const TICKS: [(f64, &str); 9] = [
    (0.0, "0"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3600.0, "1 h"),
    (21_600.0, "6 h"),
    (86_400.0, "1 d"),
    (604_800.0, "7 d"),
    (2_592_000.0, "30 d"),
    (31_536_000.0, "365 d"),
];

/// The waits of each group within which half and 95 % of the jobs have started: under two formulas
/// a line from the old to the new wait for either, under one a line between both. The axis is
/// logarithmic beyond a minute.
pub(crate) fn spreads(what: &str, groups: &[(&str, Vec<Distribution>)]) -> ChartSvg {
    let mut most: f64 = 60.0;
    let mut rows = Vec::new();
    for (name, sides) in groups {
        for waits in sides {
            most = most.max(waits.p95.max(waits.median));
        }
        rows.extend(spread_rows(name, sides));
    }
    let mut ticks = Vec::new();
    for (wait, label) in TICKS {
        if wait <= most {
            ticks.push((wait, label.to_owned()));
        }
    }
    let intervals = Intervals {
        place: Box::new(move |wait| (wait / 60.0).ln_1p() / (most / 60.0).ln_1p()),
        ticks,
        directions: ["", ""],
        columns: vec!["of the jobs"],
        rows,
    };
    intervals.chart(&format!(
        "The waits of half and of 95 % of the jobs by {what}"
    ))
}

fn spread_rows<'a>(name: &'a str, sides: &[Distribution]) -> Vec<Row<'a>> {
    let row = |shown, which: &str, marks: [(f64, &'static str); 2]| Row {
        name: Cow::Borrowed(shown),
        line: Some((marks.map(|(wait, _)| wait), "between")),
        marks: marks.into(),
        title: format!(
            "{name}: {which} of the jobs wait up to {} → {}",
            duration(marks[0].0),
            duration(marks[1].0)
        ),
        words: vec![which.to_owned()],
    };
    match sides {
        [old, new] => vec![
            row(name, "half", [(old.median, "old"), (new.median, "new")]),
            row("", "95 %", [(old.p95, "old"), (new.p95, "new")]),
        ],
        [only] => vec![row(
            name,
            "half, 95 %",
            [(only.median, "new"), (only.p95, "hollow new")],
        )],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_chance_is_hollow() {
        let change = |new: f64, low: f64, high: f64, jobs: usize| MeanChange {
            old: 0.0,
            new,
            low,
            high,
            jobs,
            blocks: 28,
            users: 40,
            level: 0.05,
        };
        let groups = [
            ("sure", change(-7200.0, -9000.0, -60.0, 100)),
            ("unsure", change(3600.0, -600.0, 8000.0, 100)),
            ("few", change(3600.0, 600.0, 8000.0, 5)),
        ];
        let ChartSvg {
            wide: chart,
            narrow,
        } = forest("queue", &groups);
        assert_eq!(narrow.matches("<circle").count(), 3);
        assert!(
            chart.contains("class=\"up\"><title>sure: -2 h (-2 h 30 min to -1 min)<"),
            "{chart}"
        );
        assert!(
            chart.contains("class=\"hollow down\"><title>unsure: +1 h (-10 min to "),
            "{chart}"
        );
        assert!(
            chart.contains("class=\"hollow down\"><title>few: +1 h<"),
            "{chart}"
        );
        assert!(
            chart.contains(">-2 h</text>")
                && chart.contains("class=\"frame\"")
                && !chart.contains("NaN")
        );
        assert!(
            forest("queue", &[("none", MeanChange::default())])
                .wide
                .contains("none: 0")
        );
    }

    #[test]
    fn every_side_of_a_group_has_its_dots() {
        let [old, new] = [0.0, 90_000.0].map(|median| Distribution {
            median,
            p95: 2.0 * median,
            ..Distribution::default()
        });
        let chart = spreads("group", &[("a", vec![old, new]), ("b", vec![])]).wide;
        assert_eq!(
            (
                chart.matches("class=\"old\"").count(),
                chart.matches("class=\"new\"").count()
            ),
            (2, 2)
        );
        assert!(
            chart.contains(">1 d</text>")
                && !chart.contains(">7 d</text>")
                && !chart.contains("NaN")
        );
        let chart = spreads("group", &[("a", vec![new])]).wide;
        assert_eq!(
            (
                chart.matches("class=\"hollow new\"").count(),
                chart.matches("class=\"new\"").count()
            ),
            (1, 1)
        );
    }

    #[test]
    fn times_of_an_axis_are_round() {
        for (span, expected) in [
            (1.0, 1.0),
            (30.0, 5.0),
            (7000.0, 1800.0),
            (200_000.0, 43_200.0),
            (6e7, 8.64e6),
        ] {
            assert_eq!(time_step(span, 7.0), expected, "{span}");
        }
    }
}
