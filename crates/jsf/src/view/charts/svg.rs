//! The charts of a page, as SVG without styles of its own: the classes of the page give the
//! colours, so that a chart follows light and dark.

use std::fmt::Write as _;

use crate::view::printable::printable;

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
    pub(crate) fn width(self) -> f64 {
        self.either(900.0, 376.0)
    }

    /// What the layout needs of two measures or numbers.
    pub(crate) fn either<T>(self, wide: T, narrow: T) -> T {
        if self == Self::Wide { wide } else { narrow }
    }
}

/// About the width of a letter of a label.
pub(crate) const LETTER: f64 = 7.0;

/// A chart while it is drawn.
pub(crate) struct Svg {
    body: String,
    width: f64,
    height: f64,
}

/// The end of a text that is at its position.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self {
            body: String::new(),
            width,
            height,
        }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let (x1, y1) = from;
        let (x2, y2) = to;
        let _ = write!(
            self.body,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"
        );
    }

    /// `title` is shown while the pointer is over it.
    pub(crate) fn circle(&mut self, centre: (f64, f64), radius: f64, class: &str, title: &str) {
        let (x, y) = centre;
        let _ = write!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" class=\"{class}\">{}</circle>",
            title_element(title)
        );
    }

    /// `commands` are those of a path's `d`.
    pub(crate) fn path(&mut self, commands: &str, class: &str, title: &str) {
        let _ = write!(
            self.body,
            "<path d=\"{commands}\" class=\"{class}\">{}</path>",
            title_element(title)
        );
    }

    pub(crate) fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let (x, y) = at;
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>",
            escaped(text)
        );
    }

    /// The chart, with a name and a description for those who do not see it.
    pub(crate) fn finish(self, name: &str, description: &str) -> String {
        self.element("", "", name, description)
    }

    /// The chart as a document of its own, with its styles.
    pub(crate) fn document(self, style: &str, name: &str, description: &str) -> String {
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
pub(crate) fn fitting(text: &str, width: f64) -> String {
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
pub(crate) fn steps_path(steps: impl Iterator<Item = (f64, f64, f64)>) -> String {
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
pub(crate) fn step(span: f64, count: f64) -> f64 {
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
    fn text_from_outside_stays_text() {
        let mut svg = Svg::new(900.0, 10.0);
        svg.text(
            (1.0, 2.0),
            Anchor::End,
            "label",
            "</text><script>alert('1')</script>\u{202e}\u{1b}",
        );
        svg.circle((0.0, 0.0), 1.0, "bar", "\"><b>&");
        let chart = svg.finish("a \"quoted\" <title>", "d");
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
