//! The result of a command for people: one document, which is rendered for a terminal, as Markdown
//! or as a page.
//!
//! In: sentences, facts, tables of typed cells, charts. Out: text, by [`TerminalStyle`],
//! [`write_markdown`] and [`write_page`]. In sentences, back-ticks mark names.

mod markdown;
mod page;
mod screen;
mod table;
mod terminal;

use job_sort_formula::rank::OldNew;

pub use crate::view::document::markdown::write_markdown;
pub use crate::view::document::page::{GENERATOR, write_page};
pub(crate) use crate::view::document::page::{
    SCRIPT, STYLE, base64, content_hash, page_facts, page_sections, sentence_pieces, write_template,
};
pub use crate::view::document::table::{Cell, Column, DECIDES, RowLimit, Table};
pub(crate) use crate::view::document::table::{cells, score_in_words, star};
pub use crate::view::document::terminal::TerminalStyle;
pub(crate) use crate::view::document::terminal::{text_of, wrapped};

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
    pub medium: Medium,
    /// Whether it is shown in full only, and not on the first screen, which is all that text shows
    /// by default.
    pub is_in_full: bool,
    /// A line in its place where the first screen has no room; it may be empty.
    pub brief: String,
    /// What it contains, in this order.
    pub blocks: Vec<Block<'a>>,
}

/// Where a part of a document is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
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
    /// A formula, or two and what differs between them.
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
    /// The number of characters in a line; `None`: as many as needed.
    pub width: Option<usize>,
}

/// An SVG element for either width of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartSvg {
    /// For a screen as wide as a page.
    pub wide: String,
    /// For a phone; empty if the table that follows takes its place there.
    pub narrow: String,
}

/// A chart as SVG, and what its marks mean.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The SVG elements.
    pub svg: ChartSvg,
    /// A class and its meaning each.
    pub legend: Vec<(&'static str, &'static str)>,
    /// What opens the chart; empty for a chart that is always open.
    pub summary: &'static str,
}

impl Chart {
    /// A chart that is always shown.
    pub fn new(svg: ChartSvg, legend: &[(&'static str, &'static str)]) -> Self {
        Self {
            svg,
            legend: legend.to_vec(),
            summary: "",
        }
    }
}

impl Block<'_> {
    fn is_chart(&self) -> bool {
        matches!(self, Self::Chart(_))
    }
}

impl<'a> Section<'a> {
    fn is_in_text(&self) -> bool {
        self.medium != Medium::Page && !self.blocks.iter().all(Block::is_chart)
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
    pub fn block(mut self, block: Block<'a>) -> Self {
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

    /// Findings as they are drawn without colours, which a command shows on standard error too;
    /// `None` if there are none.
    pub fn findings(drawn: &'a [String]) -> Option<Self> {
        Self::findings_under("findings", drawn)
    }

    /// The findings of two formulas under headings that say whose they are. Those of one formula on
    /// both sides are given as the new one's.
    pub fn findings_of_sides(formulas: OldNew<&str>, drawn: OldNew<&'a [String]>) -> Vec<Self> {
        let is_one = formulas.old == formulas.new && drawn.old.is_empty();
        let of_new = if is_one {
            "findings"
        } else {
            "findings: new formula"
        };
        let mut sections = Vec::new();
        sections.extend(Self::findings_under("findings: old formula", drawn.old));
        sections.extend(Self::findings_under(of_new, drawn.new));
        sections
    }

    fn findings_under(heading: &str, drawn: &'a [String]) -> Option<Self> {
        if drawn.is_empty() {
            return None;
        }
        let mut section = Self::new(heading).on_page();
        for finding in drawn {
            section = section.draw(|_| finding.clone());
        }
        Some(section)
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
