//! The result of a command for people: one document, which is rendered for a terminal, as Markdown
//! or as a page.
//!
//! In: sentences, facts, charts, and tables of typed cells, whose types decide how they are written
//! in every format. Out: text, by [`terminal`], [`markdown`] and [`page`]. In sentences, back-ticks
//! mark names.

use std::borrow::Cow;
use std::iter;
use std::rc::Rc;

use job_sort_formula::Value;
use job_sort_formula::rank::OldNew;
use jsf_openpbs::amounts;

use crate::view::words::{
    duration, grouped, percent, signed_duration, signed_significant, significant,
};

pub mod markdown;
pub mod page;
pub mod terminal;

/// The result of a command for people.
pub struct Document<'a> {
    /// The name of the command.
    pub command: &'static str,
    /// What the document is, in a few words.
    pub title: String,
    /// The answer, in one sentence.
    pub headline: String,
    /// The rules behind the answer, and its numbers.
    pub facts: Vec<Fact>,
    /// The tables and charts, with their notes.
    pub sections: Vec<Section<'a>>,
    /// Which other command or option says more, such as `jsf explain --job ID`; it may be empty.
    pub read_on: &'static str,
}

impl<'a> Document<'a> {
    /// The sections that a terminal and Markdown show: those that have more than charts.
    fn text_sections(&self) -> impl Iterator<Item = &Section<'a>> {
        self.sections.iter().filter(|section| section.is_in_text())
    }
}

/// A rule or a number: a heading, and a text in one or more lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is.
    pub heading: String,
    /// Its text.
    pub lines: Vec<String>,
    /// Whether it is shown in full only, and not on the first screen.
    pub is_in_full: bool,
}

/// A part of a document.
pub struct Section<'a> {
    /// The heading; it may be empty.
    pub heading: String,
    /// Where it is shown.
    medium: Medium,
    /// Whether it is shown in full only, and not on the first screen, which is all that text shows
    /// by default.
    is_in_full: bool,
    /// A line in its place where the first screen has no room; it may be empty.
    brief: String,
    /// What it contains, in this order.
    pub blocks: Vec<Block<'a>>,
}

/// Where a part of a document is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Medium {
    /// Everywhere.
    All,
    /// On a page only: what can be searched, sorted and scrolled there.
    Page,
    /// In a terminal and in Markdown only: an excerpt of what a page shows in full.
    Text,
}

/// A piece of a section.
pub enum Block<'a> {
    /// A paragraph.
    Prose(String),
    /// Sentences, one below the other.
    List(Vec<String>),
    /// A formula, or two and what differs between them, which only a page shows: text has them as
    /// facts.
    Formulas(OldNew<String>),
    /// Text with lines of its own, made when it is shown, such as a finding drawn on the formula.
    Drawn(Box<dyn Fn(DrawingStyle) -> String + 'a>),
    /// A table.
    Table(Table<'a>),
    /// A chart, which only a page shows, and which is drawn when it is shown.
    Chart(Box<dyn Fn() -> Chart + 'a>),
}

/// How text with lines of its own is drawn.
#[derive(Debug, Clone, Copy)]
pub struct DrawingStyle {
    /// Whether to use a terminal's colours.
    pub coloured: bool,
    /// The number of characters in a line; `usize::MAX`: as many as needed.
    pub width: usize,
}

/// A chart as an SVG element for either width of a screen.
#[derive(Debug, Clone)]
pub struct Chart {
    /// For a screen as wide as a page.
    pub wide: String,
    /// For a phone; empty if the table that follows takes its place there.
    pub narrow: String,
    /// What its marks mean.
    pub legend: Legend,
    /// What opens the chart; empty for a chart that is always open.
    pub summary: &'static str,
}

/// The classes of marks, and the meaning of each.
pub type Legend = &'static [(&'static str, &'static str)];

impl<'a> Section<'a> {
    /// The heading in text, where it is left out above a column with the same heading.
    fn text_heading(&self) -> &str {
        match self.first_heading() {
            Some(first) if first == self.heading => "",
            _ => &self.heading,
        }
    }

    /// The heading of the first column of its first table.
    fn first_heading(&self) -> Option<&str> {
        let mut blocks = self.blocks.iter();
        let table = blocks.find_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })?;
        Some(&table.columns_on(Medium::Text).first()?.heading)
    }

    fn is_in_text(&self) -> bool {
        let mut blocks = self.blocks.iter();
        self.medium != Medium::Page && !blocks.all(|block| matches!(block, Block::Chart(_)))
    }

    /// A section of the first screen, without content.
    pub fn new(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            medium: Medium::All,
            is_in_full: false,
            brief: String::new(),
            blocks: Vec::new(),
        }
    }

    /// The section with a line that replaces it where there is no room.
    pub fn in_brief(mut self, line: String) -> Self {
        self.brief = line;
        self
    }

    /// The section in full only.
    pub fn in_full(self) -> Self {
        self.in_full_if(true)
    }

    /// The section in full only, if this holds.
    pub fn in_full_if(mut self, is_in_full: bool) -> Self {
        self.is_in_full |= is_in_full;
        self
    }

    /// The section on a page only.
    pub fn on_page(mut self) -> Self {
        self.medium = Medium::Page;
        self
    }

    /// The section in a terminal and in Markdown only.
    pub fn in_text(mut self) -> Self {
        self.medium = Medium::Text;
        self
    }

    /// The section with a paragraph; an empty one is left out.
    pub fn prose(self, text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() {
            self
        } else {
            self.block(Block::Prose(text))
        }
    }

    /// The section with a list of sentences; an empty one is left out.
    pub fn list(self, items: Vec<String>) -> Self {
        if items.is_empty() {
            self
        } else {
            self.block(Block::List(items))
        }
    }

    /// The section with a table.
    pub fn table(self, table: Table<'a>) -> Self {
        self.block(Block::Table(table))
    }

    /// The section with a chart.
    pub fn chart(self, draw: impl Fn() -> Chart + 'a) -> Self {
        self.block(Block::Chart(Box::new(draw)))
    }

    /// The section with a further block.
    fn block(mut self, block: Block<'a>) -> Self {
        self.blocks.push(block);
        self
    }

    /// The formula, or both formulas.
    pub fn formulas(old: &str, new: &str) -> Self {
        let formulas = OldNew::new(old.trim_end().to_owned(), new.trim_end().to_owned());
        let heading = if formulas.old == formulas.new {
            "formula"
        } else {
            "formulas"
        };
        Self::new(heading)
            .on_page()
            .block(Block::Formulas(formulas))
    }

    /// The section with text that has lines of its own.
    pub fn draw(self, draw: impl Fn(DrawingStyle) -> String + 'a) -> Self {
        self.block(Block::Drawn(Box::new(draw)))
    }
}

impl Fact {
    /// A fact of one line, on the first screen.
    pub fn new(heading: &str, text: impl Into<String>) -> Self {
        Self::with_lines(heading, vec![text.into()])
    }

    /// A fact of several lines, on the first screen.
    pub fn with_lines(heading: &str, lines: Vec<String>) -> Self {
        Self {
            heading: heading.to_owned(),
            lines,
            is_in_full: false,
        }
    }

    /// The fact in full only.
    pub fn in_full(self) -> Self {
        self.in_full_if(true)
    }

    /// The fact in full only, if this holds.
    pub fn in_full_if(mut self, is_in_full: bool) -> Self {
        self.is_in_full |= is_in_full;
        self
    }

    /// The facts of two sides: once where both are equal, else each with the name of its side.
    pub fn of_sides(old: &[Self], new: &[Self]) -> Vec<Self> {
        let mut facts = Vec::new();
        for fact in old {
            facts.push(merged(Some(fact), find(new, &fact.heading)));
        }
        for fact in new {
            if find(old, &fact.heading).is_none() {
                facts.push(merged(None, Some(fact)));
            }
        }
        facts
    }
}

fn find<'f>(facts: &'f [Fact], heading: &str) -> Option<&'f Fact> {
    facts.iter().find(|fact| fact.heading == heading)
}

/// The fact that one or both sides have.
fn merged(old: Option<&Fact>, new: Option<&Fact>) -> Fact {
    if let (Some(fact), true) = (old, old == new) {
        return fact.clone();
    }
    // on the first screen if either side has it there
    let mut merged = Fact::with_lines("", Vec::new()).in_full();
    for (side, fact) in [("old", old), ("new", new)] {
        let Some(fact) = fact else {
            merged.lines.push(format!("{side}: none"));
            continue;
        };
        for line in &fact.lines {
            merged.lines.push(format!("{side}: {line}"));
        }
        merged.heading.clone_from(&fact.heading);
        merged.is_in_full &= fact.is_in_full;
    }
    merged
}

/// The most characters of a value of Python, which itself prints as many digits of an integer.
const MAX_VALUE: usize = 4300;

/// A table, whose rows are made when they are shown: of a million jobs, a page needs a thousand.
#[derive(Clone)]
pub struct Table<'a> {
    /// The columns.
    columns: Vec<Column>,
    /// Which rows text shows.
    limit: RowLimit,
    /// What opens the table on a page; empty for a table that is always open.
    summary: &'static str,
    /// The row that is kept where text leaves out others; those nearest to it are kept longest.
    pub(crate) focus: Option<usize>,
    /// The rows that the first screen keeps as long as there are others.
    pub(crate) kept: Vec<usize>,
    /// How many of the first rows decide the widths of the columns.
    pub(crate) measured: usize,
    /// Whether the first screen names the columns that do not fit.
    pub(crate) names_dropped: bool,
    len: usize,
    // shared, as text and a page may have the same table
    row: Rc<dyn Fn(usize) -> Vec<Cell<'a>> + 'a>,
}

/// Which rows a terminal and Markdown show; a page shows more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLimit {
    /// All.
    All,
    /// The first ones.
    First(usize),
    /// Half of this number from either end.
    Ends(usize),
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    heading: String,
    fit: Fit,
    /// Of the columns that do not fit, those of the lowest importance are dropped first.
    importance: u8,
    has_bar: bool,
    medium: Medium,
    is_shown: bool,
}

/// How the cells of a column are aligned and fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Aligned to the right, never cut.
    Number,
    /// Aligned to the left, cut if it is too long.
    Text {
        /// The least width.
        min: usize,
    },
    /// A part of a formula: aligned to the left, its middle left out if it is too long.
    Code,
    /// The last column, wrapped if it is too long.
    Wrapped,
}

/// The importance of the columns that decide an order: they are dropped last.
pub const DECIDES: u8 = u8::MAX;

/// A column of names is not made narrower than this.
const MIN_TEXT: usize = 8;
/// A column of ids is not made narrower than this: the index that tells one subjob of an array from
/// another follows the number of the job.
const MIN_ID: usize = 16;
/// A column of a tree's names, with the lines that join them, is not made narrower than this.
const MIN_TREE_NAME: usize = 32;

/// A cell of a table.
#[derive(Debug, Clone)]
pub enum Cell<'a> {
    /// No value, though other rows may have one.
    Missing,
    /// A text; an empty one is shown as [`Cell::Missing`] is.
    Text(Cow<'a, str>),
    /// A text that may be empty, such as a remark.
    Prose(Cow<'a, str>),
    /// A part of a formula.
    Code(Cow<'a, str>),
    /// A node of a tree, such as a group or a part of a formula.
    Node {
        /// The lines that join it to the node above.
        lines: String,
        /// How many nodes are above it.
        depth: usize,
        /// Its text.
        text: Cow<'a, str>,
        /// Whether it is a part of a formula.
        is_code: bool,
    },
    /// A whole number.
    Count(usize),
    /// A number with so many decimals.
    Decimals(f64, usize),
    /// A value that jobs are compared by, with the digits that OpenPBS logs.
    Score(f64),
    /// A value of Python.
    Python(Cow<'a, Value>),
    /// A number that is already written, and its value.
    Written(String, Option<f64>),
    /// A time in seconds.
    Duration(f64),
    /// A part of a whole, from 0 to 1.
    Share(f64),
    /// A number of places that are won.
    Places(i64),
    /// How many places a job wins on average.
    Gained(f64),
    /// How much longer a time is, in seconds, and whether that is more than chance, which a star
    /// marks.
    Longer(f64, bool),
}

/// Whether a change is good or bad for the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Neutral,
    Better,
    Worse,
}

/// The deepest level that is drawn: else the lines of a chain of nodes take the square of its
/// length.
pub(crate) const MAX_LEVELS: usize = 40;

/// The lines before the name of each node, from the depths of the nodes in depth-first order.
/// Deeper nodes than those of the last level are drawn on that level.
pub(crate) fn branches(depths: &[usize]) -> Vec<String> {
    // whether a later node continues the line of a level
    let mut continues = [false; MAX_LEVELS + 1];
    let mut branches = Vec::with_capacity(depths.len());
    // from the end, since a line goes on only if a later node is on its level
    for depth in depths.iter().rev() {
        let level = (*depth).min(MAX_LEVELS);
        let mut lines: String = (1..level)
            .map(|above| if continues[above] { "│  " } else { "   " })
            .collect();
        if level > 0 {
            lines.push_str(if continues[level] {
                "├─ "
            } else {
                "└─ "
            });
        }
        branches.push(lines);
        continues[level] = true;
        // deeper nodes behind this one are below it, and continue no line before it
        continues[level + 1..].fill(false);
    }
    branches.reverse();
    branches
}

impl<'a> Table<'a> {
    /// A table with a row for each item; `row` makes its cells, one for each column.
    pub fn new<T: 'a>(
        columns: impl Into<Vec<Column>>,
        items: Vec<T>,
        row: impl Fn(&T) -> Vec<Cell<'a>> + 'a,
    ) -> Self {
        Self {
            columns: columns.into(),
            limit: RowLimit::All,
            summary: "",
            focus: None,
            kept: Vec::new(),
            measured: usize::MAX,
            names_dropped: false,
            len: items.len(),
            row: Rc::new(move |index| row(&items[index])),
        }
    }

    /// A table of rows that exist.
    pub fn from_rows(columns: impl Into<Vec<Column>>, rows: Vec<Vec<Cell<'a>>>) -> Self {
        Self::new(columns, rows, Vec::clone)
    }

    /// The table of which text shows only some rows.
    pub fn limit(mut self, limit: RowLimit) -> Self {
        self.limit = limit;
        self
    }

    /// The table that is closed on a page; `summary` opens it.
    pub fn folded(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// The number of rows.
    fn len(&self) -> usize {
        self.len
    }

    /// The columns that are shown on a page, or in text.
    fn columns_on(&self, medium: Medium) -> Vec<&Column> {
        let mut columns = Vec::from_iter(&self.columns);
        columns.retain(|column| column.is_on(medium));
        columns
    }

    /// The cells of a row in these columns.
    fn row_on(&self, medium: Medium, index: usize) -> Vec<Cell<'a>> {
        let row = (self.row)(index);
        debug_assert_eq!(row.len(), self.columns.len(), "a cell for each column");
        let mut cells = Vec::new();
        for (column, cell) in iter::zip(&self.columns, row) {
            if column.is_on(medium) {
                cells.push(cell);
            }
        }
        cells
    }
}

/// The cells of a row, from whatever a cell can be made of.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => { vec![$($crate::view::document::Cell::from($cell)),*] };
}

pub(crate) use cells;

impl RowLimit {
    /// The rows that are shown: those before the first returned index, and those from the second
    /// one on.
    pub(crate) fn shown_ends(self, len: usize) -> (usize, usize) {
        match self {
            Self::First(most) if most < len => (most, len),
            Self::Ends(most) if most < len => (most / 2, len - most / 2),
            _ => (len, len),
        }
    }

    /// The limit, and at most so many rows.
    fn at_most(self, rows: usize) -> Self {
        match self {
            Self::All => Self::First(rows),
            Self::First(most) => Self::First(most.min(rows)),
            Self::Ends(most) => Self::Ends(most.min(rows)),
        }
    }

    /// The rows that are shown of so many.
    fn rows(self, len: usize) -> Vec<usize> {
        let (first, last) = self.shown_ends(len);
        (0..first).chain(last..len).collect()
    }

    /// The note on the rows that are left out; `None` if all are shown.
    fn left_out(self, len: usize) -> Option<String> {
        let (first, last) = self.shown_ends(len);
        let hidden = last - first;
        match self {
            _ if hidden == 0 => None,
            Self::Ends(_) => Some(format!(
                "{hidden} rows in the middle are left out; --format json has all"
            )),
            _ => Some(format!("and {hidden} more; --format json has all")),
        }
    }
}

impl Column {
    fn new(heading: impl Into<String>, fit: Fit, importance: u8) -> Self {
        Self {
            heading: heading.into(),
            fit,
            importance,
            has_bar: false,
            medium: Medium::All,
            is_shown: true,
        }
    }

    fn is_on(&self, medium: Medium) -> bool {
        self.is_shown && (self.medium == medium || self.medium == Medium::All)
    }

    /// A column of numbers, which are never cut.
    pub fn number(heading: impl Into<String>, importance: u8) -> Self {
        Self::new(heading, Fit::Number, importance)
    }

    /// A column of texts.
    pub fn text(heading: impl Into<String>, importance: u8) -> Self {
        Self::new(heading, Fit::Text { min: MIN_TEXT }, importance)
    }

    /// A column of ids.
    pub fn id(heading: impl Into<String>, importance: u8) -> Self {
        Self::new(heading, Fit::Text { min: MIN_ID }, importance)
    }

    /// A column of parts of a formula.
    pub fn code(heading: impl Into<String>, importance: u8) -> Self {
        Self::new(heading, Fit::Code, importance)
    }

    /// A column of the names of a tree.
    pub fn name(heading: impl Into<String>, importance: u8) -> Self {
        Self::new(heading, Fit::Text { min: MIN_TREE_NAME }, importance)
    }

    /// The last column, of sentences.
    pub fn wrapped(heading: impl Into<String>, importance: u8) -> Self {
        Self::new(heading, Fit::Wrapped, importance)
    }

    /// The column with a bar beside each number on a page.
    pub fn with_bar(mut self) -> Self {
        self.has_bar = true;
        self
    }

    /// The column on a page only.
    pub fn on_page(mut self) -> Self {
        self.medium = Medium::Page;
        self
    }

    /// The column, unless this does not hold: then its cells are left out too.
    pub fn shown_if(mut self, is_shown: bool) -> Self {
        self.is_shown = is_shown;
        self
    }
}

/// What follows a number in a column with stars: without one, blanks keep the numbers below each
/// other.
pub(crate) fn star(has_star: bool) -> &'static str {
    if has_star { " *" } else { "  " }
}

/// A value as the scheduler logs it. A value that is no float32 was not rounded as the scheduler
/// does, and is shown with all digits that tell it from another double.
pub(crate) fn score_in_words(score: f64) -> String {
    if !score.is_finite() || f64::from(score as f32) == score {
        return amounts::logged(score);
    }
    let text = Value::Float(score).repr();
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<usize> for Cell<'_> {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl From<Value> for Cell<'_> {
    fn from(value: Value) -> Self {
        Self::Python(Cow::Owned(value))
    }
}

impl<'a> From<&'a Value> for Cell<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Python(Cow::Borrowed(value))
    }
}

/// No value is [`Cell::Missing`].
impl<'a, C: Into<Cell<'a>>> From<Option<C>> for Cell<'a> {
    fn from(cell: Option<C>) -> Self {
        cell.map_or(Self::Missing, Into::into)
    }
}

impl<'a> Cell<'a> {
    /// A text that may be empty.
    pub fn prose(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Prose(text.into())
    }

    /// A number of which three significant digits are shown.
    pub fn significant(number: f64) -> Self {
        Self::Written(significant(number), Some(number))
    }

    /// The cell as it is written; `None` where a reader sees a dash.
    fn written(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Missing => return None,
            Self::Text(text) if text.is_empty() => return None,
            Self::Text(text) | Self::Prose(text) | Self::Code(text) | Self::Node { text, .. } => {
                Cow::Borrowed(&**text)
            }
            Self::Count(count) => Cow::Owned(count.to_string()),
            Self::Decimals(number, decimals) => Cow::Owned(format!("{number:.decimals$}")),
            Self::Score(score) => Cow::Owned(score_in_words(*score)),
            Self::Python(value) => Cow::Owned(value.repr_within(MAX_VALUE)),
            Self::Written(text, _) => Cow::Borrowed(text),
            Self::Duration(time) => Cow::Owned(duration(*time)),
            Self::Share(part) => Cow::Owned(percent(*part)),
            Self::Places(0) => Cow::Borrowed("0"),
            Self::Places(places) => Cow::Owned(format!("{places:+}")),
            Self::Gained(places) => Cow::Owned(signed_significant(*places)),
            Self::Longer(time, has_star) => Cow::Owned(signed_duration(*time) + star(*has_star)),
        })
    }

    /// The cell with the digits of long numbers in groups.
    fn grouped(&self) -> Option<Cow<'_, str>> {
        let shown = self.written()?;
        Some(match self {
            Self::Count(_) | Self::Decimals(..) | Self::Written(..) | Self::Places(_) => {
                Cow::Owned(grouped(&shown))
            }
            // a score and a value of Python keep the digits that OpenPBS logs and Python prints
            _ => shown,
        })
    }

    /// The number by which a column is sorted.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(*count as f64),
            Self::Decimals(number, _)
            | Self::Score(number)
            | Self::Duration(number)
            | Self::Share(number)
            | Self::Gained(number)
            | Self::Longer(number, _) => Some(*number),
            Self::Python(value) => value.to_f64(),
            Self::Written(_, number) => *number,
            Self::Places(places) => Some(*places as f64),
            Self::Missing | Self::Text(_) | Self::Prose(_) | Self::Code(_) | Self::Node { .. } => {
                None
            }
        }
        .filter(|number| number.is_finite())
    }

    /// Whether the cell says how much something changes.
    fn is_change(&self) -> bool {
        matches!(self, Self::Places(_) | Self::Gained(_) | Self::Longer(..))
    }

    fn tone(&self) -> Tone {
        match self {
            Self::Places(1..) => Tone::Better,
            Self::Places(..=-1) => Tone::Worse,
            Self::Gained(places) if *places > 0.0 => Tone::Better,
            Self::Gained(places) if *places < 0.0 => Tone::Worse,
            // what is shown as 0 is neither
            Self::Longer(time, true) if time.round() > 0.0 => Tone::Worse,
            Self::Longer(time, true) if time.round() < 0.0 => Tone::Better,
            _ => Tone::Neutral,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_two_sides_are_told_apart_where_they_differ() {
        let old =
            [("policy", "pbs"), ("decay", "24 h")].map(|(heading, text)| Fact::new(heading, text));
        let new = [("policy", "classic"), ("decay", "24 h"), ("damping", "1")]
            .map(|(heading, text)| Fact::new(heading, text));
        let facts = Fact::of_sides(&old, &new);
        let shown: Vec<_> = facts
            .iter()
            .map(|fact| (fact.heading.as_str(), fact.lines.join("; ")))
            .collect();
        let expected = [
            ("policy", "old: pbs; new: classic"),
            ("decay", "24 h"),
            ("damping", "old: none; new: 1"),
        ];
        assert_eq!(
            shown,
            expected.map(|(heading, text)| (heading, text.to_owned()))
        );
    }
}
