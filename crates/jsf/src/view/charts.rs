//! The charts of the pages, in three kinds: lines on two axes, intervals in rows, and slopes
//! between two orders.
//!
//! They are SVG without styles of its own: the classes of the page give the colours, so that a
//! chart follows light and dark.

use std::borrow::Cow;
use std::fmt::Write as _;

use job_sort_formula::rank::JobMove;
use jsf_simulate::{Distribution, MeanChange};

use crate::view::document::{Chart, Legend};
use crate::view::words::{
    duration, grouped, grouped_number, printable, signed_duration, without_zeros,
};

/// What a chart says to those who do not see it, beside its name.
const DESCRIPTION: &str = "The table below has the same numbers.";

/// A chart for either width of a screen.
fn in_both_layouts(name: &str, legend: Legend, draw: impl Fn(Layout) -> Svg) -> Chart {
    Chart {
        wide: draw(Layout::Wide).finish(name),
        narrow: draw(Layout::Narrow).finish(name),
        legend,
        summary: "",
    }
}

/// The edges of the chart.
const LEFT: f64 = 76.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 220.0;
const RIGHT: f64 = 24.0;
/// The room for the names of lines on the right.
const NAMES: f64 = 180.0;

/// A chart with two axes and what is between them.
pub(crate) struct Plot {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<StepLine>,
}

/// An axis.
#[derive(Clone)]
pub(crate) struct Axis {
    /// The values on the left and on the right, or at the bottom and at the top.
    pub(crate) range: [f64; 2],
    pub(crate) caption: String,
    /// Whether only whole numbers are labelled.
    pub(crate) is_whole: bool,
}

/// A line of steps.
pub(crate) struct StepLine {
    pub(crate) class: String,
    pub(crate) name: String,
    /// Whether its name is beside the chart.
    pub(crate) is_named: bool,
    /// Where each step begins and ends, and its value.
    pub(crate) steps: Vec<[f64; 3]>,
}

impl Axis {
    /// An axis of whole numbers.
    pub(crate) fn whole(range: [f64; 2], caption: impl Into<String>) -> Self {
        Self {
            range,
            caption: caption.into(),
            is_whole: true,
        }
    }

    /// An axis of time in a fitting unit, and the seconds of that unit.
    pub(crate) fn time(seconds: f64, since: &str) -> (Self, f64) {
        let (unit, name) = match seconds {
            ..7200.0 => (60.0, "minutes"),
            ..172_800.0 => (3600.0, "hours"),
            _ => (86_400.0, "days"),
        };
        (
            Self::whole([0.0, seconds / unit], format!("{name} {since}")),
            unit,
        )
    }

    /// The round numbers on the axis, about so many.
    fn ticks(&self, most: f64) -> Vec<f64> {
        let [from, to] = self.range;
        let (low, high) = (from.min(to), from.max(to));
        let span = high - low;
        let mut ticks = Vec::new();
        if !span.is_finite() || span <= 0.0 {
            if low.is_finite() {
                ticks.push(low);
            }
            return ticks;
        }
        let mut step = step(span, most);
        if self.is_whole {
            step = step.max(1.0);
        }
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        for index in first..=last {
            ticks.push(index as f64 * step);
        }
        ticks
    }
}

impl Plot {
    pub(crate) fn chart(&self, name: &str, legend: Legend) -> Chart {
        in_both_layouts(name, legend, |layout| self.draw(layout))
    }

    pub(crate) fn draw(&self, layout: Layout) -> Svg {
        let has_names = self.lines.iter().any(|line| line.is_named);
        let right = layout.width() - if has_names { NAMES } else { RIGHT };
        let x = |value: f64| LEFT + (right - LEFT) * place_between(self.x.range, value);
        let y = |value: f64| BOTTOM - (BOTTOM - TOP) * place_between(self.y.range, value);
        let mut svg = Svg::new(layout.width(), BOTTOM + 44.0);
        for tick in self.y.ticks(5.0) {
            svg.line((LEFT, y(tick)), (right, y(tick)), "grid");
            svg.text(
                (LEFT - 8.0, y(tick) + 4.0),
                "end",
                "axis",
                &short_number(tick),
            );
        }
        for tick in self.x.ticks(layout.either(10.0, 5.0)) {
            svg.line((x(tick), BOTTOM), (x(tick), BOTTOM + 5.0), "frame");
            svg.text(
                (x(tick), BOTTOM + 18.0),
                "middle",
                "axis",
                &short_number(tick),
            );
        }
        svg.line((LEFT, BOTTOM), (right, BOTTOM), "frame");
        svg.text(
            ((LEFT + right) / 2.0, BOTTOM + 38.0),
            "middle",
            "axis",
            &self.x.caption,
        );
        svg.text((LEFT - 8.0, TOP - 16.0), "end", "axis", &self.y.caption);
        for (index, line) in self.lines.iter().enumerate() {
            let steps = line.steps.iter();
            let steps = steps.map(|[from, to, value]| (x(*from), x(*to), y(*value)));
            svg.path(&steps_path(steps), &line.class, &line.name);
            if line.is_named {
                let place = (right + 12.0, TOP + 18.0 * index as f64);
                svg.text(place, "start", &line.class, &line.name);
            }
        }
        svg
    }
}

/// Where a value is between two ends, 0..=1.
pub(crate) fn place_between([from, to]: [f64; 2], value: f64) -> f64 {
    let place = (value - from) / (to - from);
    // in a range of one value, which is no length, it is in the middle
    if place.is_finite() {
        place.clamp(0.0, 1.0)
    } else {
        0.5
    }
}

/// A number of an axis in few characters.
fn short_number(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-3..1e6).contains(&magnitude) {
        return format!("{number:.1e}");
    }
    grouped(without_zeros(&format!("{number:.3}")))
}

/// The most jobs whose moves are drawn as lines; of more, a table counts where they go.
pub(crate) const MAX_SLOPES: usize = 60;

/// A job: its name, and its places.
pub(crate) struct Slope {
    pub(crate) name: String,
    pub(crate) job: JobMove,
}

/// The chart of a wide screen. A phone has no room for names on both sides; there a table takes its
/// place.
pub(crate) fn chart(slopes: &[Slope], name: &str) -> Chart {
    Chart {
        wide: draw(slopes).finish(name),
        narrow: String::new(),
        legend: &[
            ("up", "gains places"),
            ("down", "loses places"),
            ("same", "keeps its place"),
        ],
        summary: "",
    }
}

/// A line for each job; one that a side does not consider has a short line.
fn draw(slopes: &[Slope]) -> Svg {
    const ROW: f64 = 17.0;
    const TOP: f64 = 40.0;
    const WIDEST_NAME: f64 = 300.0;
    /// Between a name and the line of its job, where its rank is.
    const RANK: f64 = 42.0;
    const STUB: f64 = 26.0;
    let (mut longest, mut most) = (0, 0);
    for Slope { name, job } in slopes {
        longest = longest.max(name.chars().count());
        most = most.max(job.old.max(job.new).unwrap_or(0));
    }
    let names = (longest as f64 * LETTER + 8.0).clamp(80.0, WIDEST_NAME);
    let width = Layout::Wide.width();
    let mut svg = Svg::new(width, TOP + ROW * most as f64);
    let (left, right) = (names, width - names);
    let (from, to) = (left + RANK, right - RANK);
    svg.text((left, 18.0), "end", "axis strong", "old order");
    svg.text((right, 18.0), "start", "axis strong", "new order");
    for Slope { name, job } in slopes {
        let title = format!("{name}: {} → {}", place(job.old), place(job.new));
        let [old_y, new_y] =
            [job.old, job.new].map(|rank| rank.map(|rank| TOP + ROW * (rank - 1) as f64));
        let commands = match (old_y, new_y) {
            (Some(start), Some(end)) => {
                let middle = width / 2.0;
                format!(
                    "M{from:.1} {start:.1}C{middle:.1} {start:.1} {middle:.1} {end:.1} {to:.1} {end:.1}"
                )
            }
            (Some(y), None) => format!("M{from:.1} {y:.1}h{STUB}"),
            (None, Some(y)) => format!("M{to:.1} {y:.1}h-{STUB}"),
            (None, None) => continue,
        };
        svg.path(&commands, direction(job), &title);
        let old = (job.old, left, old_y, "end", 1.0);
        let new = (job.new, right, new_y, "start", -1.0);
        for (rank, x, y, anchor, sign) in [old, new] {
            if let Some(y) = y {
                svg.text((x, y + 4.0), anchor, "label", &fitting(name, names - 8.0));
                svg.text((x + sign * 22.0, y + 4.0), "middle", "axis", &place(rank));
            }
        }
    }
    svg
}

fn place(rank: Option<usize>) -> String {
    rank.map_or_else(|| "not considered".to_owned(), grouped_number)
}

fn direction(job: &JobMove) -> &'static str {
    match job.moved() {
        Some(1..) => "up",
        Some(0) => "same",
        Some(_) => "down",
        // to be considered at all is a gain, whatever the place
        None if job.new.is_some() => "up",
        None => "down",
    }
}

/// The rows and their axis.
pub(crate) struct Intervals<'a> {
    /// Where a value is on the axis: 0 on the left, 1 on the right.
    pub(crate) place: Box<dyn Fn(f64) -> f64 + 'a>,
    /// The values that have a line and a label, ascending.
    pub(crate) ticks: Vec<(f64, String)>,
    /// The headings of the words at the end of the rows.
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Row<'a>>,
}

/// A row: marks, of which the last one is on top, and a line.
pub(crate) struct Row<'a> {
    /// Empty for a further row of the same thing.
    pub(crate) name: Cow<'a, str>,
    /// Its ends, and its class.
    pub(crate) line: Option<([f64; 2], &'static str)>,
    /// Their values and classes.
    pub(crate) marks: Vec<(f64, &'static str)>,
    /// What is shown while the pointer is over a mark.
    pub(crate) title: String,
    /// As many as there are columns.
    pub(crate) words: Vec<String>,
}

impl Intervals<'_> {
    pub(crate) fn chart(&self, name: &str, legend: Legend) -> Chart {
        in_both_layouts(name, legend, |layout| self.draw(layout))
    }

    fn draw(&self, layout: Layout) -> Svg {
        const TOP: f64 = 48.0;
        const COLUMN: f64 = 84.0;
        /// The room of the label of a tick.
        const LABEL: f64 = 50.0;
        let row_height = layout.either(20.0, 38.0);
        let width = layout.width();
        let words = width - COLUMN * self.columns.len() as f64;
        let lengths = self.rows.iter().map(|row| row.name.chars().count());
        let longest = lengths.max().unwrap_or(0);
        let left = layout.either((longest as f64 * LETTER + 28.0).clamp(80.0, 260.0), 40.0);
        let right = layout.either(words - 24.0, width - 40.0);
        let x = |value: f64| left + (right - left) * (self.place)(value);
        let bottom = TOP + row_height * self.rows.len() as f64;
        let mut svg = Svg::new(width, bottom + 8.0);
        let mut free = f64::NEG_INFINITY;
        for (value, label) in &self.ticks {
            let class = if *value == 0.0 { "frame" } else { "grid" };
            svg.line((x(*value), TOP - 8.0), (x(*value), bottom), class);
            // a label that would overlap the one before is left out
            if x(*value) >= free {
                svg.text((x(*value), TOP - 14.0), "middle", "axis", label);
                free = x(*value) + LABEL;
            }
        }
        let ends = |index: usize| words + COLUMN * (index + 1) as f64 - 4.0;
        for (index, heading) in self.columns.iter().enumerate() {
            svg.text(
                (ends(index), layout.either(TOP - 14.0, 14.0)),
                "end",
                "axis",
                heading,
            );
        }
        for (index, row) in self.rows.iter().enumerate() {
            let top = TOP + row_height * index as f64;
            let y = top + layout.either(0.5 * row_height, 27.0);
            let text = layout.either(y + 4.0, top + 13.0);
            let beside = (left - 12.0, "end", left - 28.0);
            let (x_of_name, anchor, room) = layout.either(beside, (4.0, "start", words));
            let name = fitting(&row.name, room);
            svg.text((x_of_name, text), anchor, "label", &name);
            if let Some(([from, to], class)) = row.line {
                svg.line((x(from), y), (x(to), y), class);
            }
            for (value, class) in &row.marks {
                svg.circle((x(*value), y), 4.5, class, &row.title);
            }
            for (index, words) in row.words.iter().enumerate() {
                svg.text((ends(index), text), "end", "label", words);
            }
        }
        svg
    }
}

/// The meaning of the marks of a [`forest`].
const FOREST_LEGEND: Legend = &[
    ("up", "shorter, more than chance"),
    ("down", "longer, more than chance"),
    ("hollow up", "shorter, may be chance"),
    ("hollow down", "longer, may be chance"),
];
/// The meaning of the marks of two sides.
pub(crate) const SIDES_LEGEND: Legend = &[("old", "old formula"), ("new", "new formula")];
/// The meaning of the marks of the [`spreads`] of one side.
const SPREAD_LEGEND_OF_ONE: Legend = &[
    ("new", "half of the jobs have started"),
    ("hollow new", "95 % have started"),
];

/// How the mean wait of each group changes, with its interval: a filled mark is more than chance, a
/// hollow one may be chance.
pub(crate) fn forest(what: &str, groups: &[(&str, MeanChange)]) -> Chart {
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
    let tick = time_step(most - least, MAX_TICKS);
    // a tick on either side of 0, so that the axis has a length where nothing changes
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
        columns: vec!["change"],
        rows,
    };
    let name = format!("How the mean wait changes by {what}");
    intervals.chart(&name, FOREST_LEGEND)
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
const TICKS: [f64; 9] = [
    0.0,
    60.0,
    600.0,
    3600.0,
    21_600.0,
    86_400.0,
    604_800.0,
    2_592_000.0,
    31_536_000.0,
];

/// The waits of each group within which half and 95 % of the jobs have started: under two formulas
/// a line from the old to the new wait for either, under one a line between both. The axis is
/// logarithmic beyond a minute, so that a wait of seconds and one of days are both seen.
pub(crate) fn spreads(what: &str, groups: &[(&str, Vec<Distribution>)]) -> Chart {
    // where no job waits, an axis that ends at 0 would have no length
    let mut most: f64 = 60.0;
    let mut legend = SPREAD_LEGEND_OF_ONE;
    let mut rows = Vec::new();
    for (name, sides) in groups {
        if sides.len() > 1 {
            legend = SIDES_LEGEND;
        }
        for waits in sides {
            most = most.max(waits.p95.max(waits.median));
        }
        rows.extend(spread_rows(name, sides));
    }
    let mut ticks = Vec::new();
    for wait in TICKS {
        if wait <= most {
            ticks.push((wait, duration(wait)));
        }
    }
    let intervals = Intervals {
        // a wait of 0 has no logarithm, but a place on this axis
        place: Box::new(move |wait| (wait / 60.0).ln_1p() / (most / 60.0).ln_1p()),
        ticks,
        columns: vec!["of the jobs"],
        rows,
    };
    let name = format!("The waits of half and of 95 % of the jobs by {what}");
    intervals.chart(&name, legend)
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

/// The layout of a chart: a browser scales it to the width of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Names are beside the marks.
    Wide,
    /// Names are above the marks: a phone shows it at its own size.
    Narrow,
}

impl Layout {
    /// The width of the chart in its own units.
    fn width(self) -> f64 {
        // a phone of 400 pixels leaves 376 beside the padding of the page: labels keep their size
        self.either(900.0, 376.0)
    }

    /// What the layout needs of two measures or numbers.
    fn either<T>(self, wide: T, narrow: T) -> T {
        if self == Self::Wide { wide } else { narrow }
    }
}

/// About the width of a letter of a label.
const LETTER: f64 = 7.0;

/// A chart while it is drawn.
pub(crate) struct Svg {
    body: String,
    width: f64,
    height: f64,
}

impl Svg {
    fn new(width: f64, height: f64) -> Self {
        Self {
            body: String::new(),
            width,
            height,
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let (x1, y1) = from;
        let (x2, y2) = to;
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"
        );
    }

    /// `title` is shown while the pointer is over it.
    fn circle(&mut self, centre: (f64, f64), radius: f64, class: &str, title: &str) {
        let (x, y) = centre;
        self.body += &format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" class=\"{class}\">{}</circle>",
            title_element(title)
        );
    }

    /// `commands` are those of a path's `d`.
    fn path(&mut self, commands: &str, class: &str, title: &str) {
        self.body += &format!(
            "<path d=\"{commands}\" class=\"{class}\">{}</path>",
            title_element(title)
        );
    }

    /// `anchor` is the part of the text that is at the position: `start`, `middle` or `end`.
    fn text(&mut self, at: (f64, f64), anchor: &str, class: &str, text: &str) {
        let (x, y) = at;
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>",
            escaped(text)
        );
    }

    /// The chart, with a name and a description for those who do not see it.
    fn finish(self, name: &str) -> String {
        self.element("", "", name, DESCRIPTION)
    }

    /// The chart as a document of its own, with its styles.
    pub(crate) fn document(self, style: &str, name: &str, description: &str) -> String {
        // unlike an element of a page, a file needs the namespace
        let own =
            " xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"12\"";
        self.element(own, &format!("<style>{style}</style>"), name, description)
    }

    fn element(self, attributes: &str, style: &str, name: &str, description: &str) -> String {
        format!(
            "<svg{attributes} viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><desc>{}</desc>{style}{}</svg>",
            self.width,
            self.height,
            escaped(name),
            escaped(description),
            self.body
        )
    }
}

fn title_element(title: &str) -> String {
    if title.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escaped(title))
    }
}

/// Text from outside in HTML or in the value of an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML has no noncharacters
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// The text, cut so that it fits a width of the chart.
fn fitting(text: &str, width: f64) -> String {
    // an escape is longer than its character
    let text = &*printable(text);
    let letters = (width / LETTER).max(0.0) as usize;
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let kept = text.chars().take(letters.saturating_sub(1));
    if letters < 2 {
        String::new()
    } else {
        kept.chain(['…']).collect()
    }
}

/// The commands of a path of steps: where each begins and ends, and its height. Where one does not
/// begin at the end of the one before, the path has a gap.
fn steps_path(steps: impl Iterator<Item = (f64, f64, f64)>) -> String {
    let mut commands = String::new();
    let mut end = f64::NAN;
    for (from, to, y) in steps {
        let _ = if end == from {
            write!(commands, "V{y:.1}")
        } else {
            write!(commands, "M{from:.1} {y:.1}")
        };
        let _ = write!(commands, "H{to:.1}");
        end = to;
    }
    commands
}

/// A step of 1, 2 or 5 times a power of ten, of which at most `count` cover `span`.
fn step(span: f64, count: f64) -> f64 {
    // the part of the smallest spans is 0, and a step of 0 would make ticks without end
    let least = (span / count).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_an_axis_are_round() {
        let axis = |from: f64, to: f64, is_whole: bool| Axis {
            range: [from, to],
            caption: String::new(),
            is_whole,
        };
        assert_eq!(
            axis(0.0, 10.0, true).ticks(5.0),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(axis(33.0, 1.0, true).ticks(5.0), [10.0, 20.0, 30.0]);
        assert_eq!(axis(0.0, 2.0, true).ticks(5.0), [0.0, 1.0, 2.0]);
        assert_eq!(axis(1.0, 1.0, false).ticks(5.0), [1.0]);
        for range in [
            [f64::INFINITY, f64::NEG_INFINITY],
            [0.0, f64::INFINITY],
            [f64::NAN, 1.0],
        ] {
            assert!(
                axis(range[0], range[1], false).ticks(5.0).len() < 2,
                "{range:?}"
            );
        }
        assert_eq!(
            [0.0, 1234.5, 2e9].map(short_number),
            ["0", "1234.5", "2.0e9"]
        );
    }

    #[test]
    fn a_line_goes_on_until_it_has_a_gap() {
        let steps = vec![
            [100.0, 160.0, 0.5],
            [160.0, 190.0, 2.0],
            [200.0, 300.0, 1.0],
        ];
        let line = StepLine {
            class: "new".to_owned(),
            name: "new".to_owned(),
            is_named: false,
            steps,
        };
        let [x, y] = [[100.0, 300.0], [0.0, 2.0]].map(|range| Axis::whole(range, ""));
        let chart = Plot {
            x,
            y,
            lines: vec![line],
        }
        .draw(Layout::Wide)
        .finish("");
        assert!(
            chart.contains("M76.0 172.0H316.0V28.0H436.0M476.0 124.0H876.0"),
            "{chart}"
        );
    }

    #[test]
    fn jobs_that_one_side_does_not_consider_have_a_short_line() {
        let jobs = [(0, Some(1), Some(2)), (1, None, Some(1)), (2, None, None)];
        let slopes = jobs.map(|(row, old, new)| Slope {
            name: format!("{row}.vm"),
            job: JobMove { row, old, new },
        });
        let chart = draw(&slopes).finish("");
        assert_eq!(chart.matches("<path").count(), 2);
        assert!(
            chart.contains("0.vm: 1 → 2")
                && chart.contains("1.vm: not considered → 1")
                && !chart.contains("2.vm")
        );
    }

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
        let Chart {
            wide: chart,
            narrow,
            ..
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

    #[test]
    fn text_from_outside_stays_text() {
        let mut svg = Svg::new(900.0, 10.0);
        svg.text(
            (1.0, 2.0),
            "end",
            "label",
            "</text><script>alert('1')</script>\u{202e}\u{1b}",
        );
        svg.circle((0.0, 0.0), 1.0, "bar", "\"><b>&");
        let chart = svg.finish("a \"quoted\" <title>");
        assert!(
            !chart.contains("<script>") && !chart.contains("<b>") && !chart.contains("\u{202e}")
        );
        assert!(chart.contains(r"\u{202e}\x1b") && chart.contains("&quot;&gt;&lt;b&gt;&amp;"));
        assert!(chart.contains("aria-label=\"a &quot;quoted&quot; &lt;title&gt;\""));
    }

    #[test]
    fn steps_are_round_and_few() {
        for (span, count, expected) in [
            (10.0, 10.0, 1.0),
            (33.0, 20.0, 2.0),
            (41.0, 10.0, 5.0),
            (0.07, 10.0, 0.01),
        ] {
            assert!(
                (step(span, count) - expected).abs() < 1e-12,
                "{span} {count}"
            );
        }
        assert_eq!(fitting("alice@example", LETTER * 6.0), "alice…");
        assert_eq!(
            (fitting("bob", 100.0), fitting("bob", 3.0)),
            ("bob".to_owned(), String::new())
        );
    }
}
