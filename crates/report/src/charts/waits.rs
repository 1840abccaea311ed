//! The charts of a simulation: the waits of each group of jobs, and the use of the machine and the queue over time.

use std::fmt::Write as _;

use jsf_simulate::Distribution;

use super::svg::{Anchor, LETTER, Svg, WIDTH, fitting, step};
use super::{LEFT, y_axis, y_of};
use crate::words::{grouped, seconds};

/// The waits of a group on one side: a class, the name of the side in a title, and the distribution.
pub(crate) type WaitStrip = (&'static str, &'static str, Distribution);

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

/// The waits of each group as a box from the quarter to three quarters of the jobs, with a line to 95 %, a mark at the median
/// and a point at the mean. The axis is logarithmic beyond a minute.
pub(crate) fn waits(groups: &[(&str, Vec<WaitStrip>)]) -> String {
    const STRIP: f64 = 11.0;
    const GAP: f64 = 10.0;
    const TOP: f64 = 30.0;
    let longest = groups.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let left = (longest as f64 * LETTER + 14.0).clamp(60.0, 220.0);
    let strips = groups.iter().flat_map(|(_, strips)| strips);
    let most = strips.map(|(.., waits)| waits.p95.max(waits.mean)).fold(60.0, f64::max);
    let heights = groups.iter().map(|(_, strips)| strips.len() as f64 * STRIP + GAP);
    let bottom = TOP + heights.sum::<f64>();
    let mut svg = Svg::new(bottom + 8.0);
    for (wait, label) in TICKS.into_iter().filter(|(wait, _)| *wait <= most) {
        let x = x_of_wait(wait, most, left);
        svg.line((x, TOP - 8.0), (x, bottom), "grid");
        svg.text((x, TOP - 14.0), Anchor::Middle, "axis", label);
    }
    let mut top = TOP;
    for (name, strips) in groups {
        let middle = top + strips.len() as f64 * STRIP / 2.0;
        svg.text((left - 10.0, middle + 4.0), Anchor::End, "label", &fitting(name, left - 14.0));
        for (index, (class, side, waits)) in strips.iter().enumerate() {
            let y = top + index as f64 * STRIP;
            let Distribution { mean, p25, median, p75, p95, .. } = *waits;
            let [low, half, high, within] = [p25, median, p75, p95].map(seconds);
            let title = format!(
                "{name}, {side}a quarter of the jobs wait up to {low}, half up to {half}, three quarters up to {high}, 95 % up to \
                 {within}; mean {}",
                seconds(mean)
            );
            let centre = y + STRIP / 2.0;
            let [mean, p25, median, p75, p95] = [mean, p25, median, p75, p95].map(|wait| x_of_wait(wait, most, left));
            svg.line((p75, centre), (p95, centre), class);
            svg.rect((p25, y + 1.0), ((p75 - p25).max(2.0), STRIP - 2.0), class, &title);
            svg.line((median, y), (median, y + STRIP), "median");
            svg.circle((mean, centre), 3.0, "mean", &title);
        }
        top += strips.len() as f64 * STRIP + GAP;
    }
    svg.finish("How long the jobs of each group wait; the tables below have the numbers")
}

/// Where a wait is on the axis, which begins at `left` and ends after the longest wait.
fn x_of_wait(wait: f64, most: f64, left: f64) -> f64 {
    left + (WIDTH - 24.0 - left) * (wait / 60.0).ln_1p() / (most / 60.0).ln_1p()
}

/// A course of time on one side: a class, the name of the side in a title, and the beginning, the length and the value of each
/// period.
pub(crate) type Course = (&'static str, &'static str, Vec<(i64, i64, f64)>);

/// Values over time as steps. `unit` is written above the axis.
pub(crate) fn course(courses: &[Course], unit: &str, most: f64, description: &str) -> String {
    let bottom = 200.0;
    let right = WIDTH - 20.0;
    let periods = courses.iter().flat_map(|(.., periods)| periods);
    let begin = periods.clone().map(|(start, ..)| *start).min().unwrap_or(0);
    let end = periods.map(|(start, length, _)| start + length).max().unwrap_or(begin);
    let span = ((end - begin) as f64).max(1.0);
    let most = most.max(1.0);
    let mut svg = Svg::new(bottom + 44.0);
    y_axis(&mut svg, most, bottom, unit);
    let (unit_length, unit_name) = match span {
        ..7200.0 => (60.0, "minutes"),
        ..172_800.0 => (3600.0, "hours"),
        _ => (86_400.0, "days"),
    };
    let labels = step(span / unit_length, 10.0).max(1.0);
    let mut at = 0.0;
    while at * unit_length <= span {
        let place = LEFT + (right - LEFT) * at * unit_length / span;
        svg.line((place, bottom), (place, bottom + 5.0), "frame");
        svg.text((place, bottom + 18.0), Anchor::Middle, "axis", &grouped(&format!("{at}")));
        at += labels;
    }
    svg.line((LEFT, bottom), (right, bottom), "frame");
    let caption = format!("{unit_name} since the first submission");
    svg.text(((LEFT + right) / 2.0, bottom + 38.0), Anchor::Middle, "axis", &caption);
    for (class, side, periods) in courses {
        let mut commands = String::new();
        for (start, length, value) in periods {
            let [from, to] = [*start, start + length].map(|time| LEFT + (right - LEFT) * (time - begin) as f64 / span);
            let y = y_of(value / most, bottom);
            let _ = match commands.is_empty() {
                true => write!(commands, "M{from:.1} {y:.1}"),
                false => write!(commands, "V{y:.1}"),
            };
            let _ = write!(commands, "H{to:.1}");
        }
        svg.path(&commands, class, side);
    }
    svg.finish(description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_side_of_a_group_has_its_box() {
        let [old, new] = [0.0, 90_000.0].map(|mean| Distribution {
            mean,
            median: mean,
            p75: mean,
            p95: 2.0 * mean,
            ..Distribution::default()
        });
        let groups = [("a", vec![("same", "old: ", old), ("up", "new: ", new)]), ("b", vec![])];
        let chart = waits(&groups);
        assert_eq!((chart.matches("<rect").count(), chart.matches("<circle").count()), (2, 2));
        assert!(chart.contains(">1 d</text>") && !chart.contains(">7 d</text>") && !chart.contains("NaN"));
        assert!(waits(&[]).starts_with("<svg"));
    }

    #[test]
    fn a_course_of_time_is_one_line() {
        let chart =
            course(&[("up", "new", vec![(100, 60, 0.5), (160, 30, 2.0)]), ("same", "old", vec![])], "jobs", 2.0, "d");
        assert!(chart.contains("M60.0 157.0H") && chart.contains("V28.0H880.0") && !chart.contains("NaN"), "{chart}");
        assert!(chart.contains("minutes since the first submission"));
    }
}
