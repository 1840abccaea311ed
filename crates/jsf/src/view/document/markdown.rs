//! A document as Markdown, for a mail or a ticket: the dialect of GitHub, with escaped text from
//! outside.

use std::io::{self, Write};
use std::iter;

use crate::view::document::terminal::text_of;
use crate::view::document::{Block, Column, Document, DrawingStyle, Fact, Fit, Medium, Table};
use crate::view::words::{capitalised, printable, printable_lines};

/// The most rows of a table in full.
const MAX_ROWS: usize = 1000;
/// The most rows of a table for a ticket.
const TICKET_ROWS: usize = 10;
/// The number of characters in a line of a drawing.
const DRAWING_WIDTH: usize = 100;

/// Writes a document, what is on its first screen or in full; its last line names `command_line`.
///
/// # Errors
/// `out` cannot be written.
pub fn write_markdown(
    document: &Document<'_>,
    command_line: &str,
    is_full: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "### {}\n", sentence(&document.title))?;
    writeln!(out, "**{}**", sentence(&document.headline))?;
    let mut facts = Vec::from_iter(&document.facts);
    facts.retain(|fact| is_full || !fact.is_in_full);
    if !facts.is_empty() {
        writeln!(out)?;
        write_facts(&facts, out)?;
    }
    let most = if is_full { MAX_ROWS } else { TICKET_ROWS };
    for section in document.text_sections() {
        if section.is_in_full && !is_full {
            continue;
        }
        let heading = section.text_heading();
        if !heading.is_empty() {
            writeln!(out, "\n#### {}", sentence(&capitalised(heading)))?;
        }
        for block in &section.blocks {
            write_block(block, most, out)?;
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, "\n<sub>jsf {version}: {}</sub>", code(command_line))
}

fn write_block(block: &Block<'_>, most: usize, out: &mut dyn Write) -> io::Result<()> {
    match block {
        Block::Prose(text) => writeln!(out, "\n{}", sentence(text)),
        Block::List(items) => {
            writeln!(out)?;
            for item in items {
                writeln!(out, "- {}", sentence(item))?;
            }
            Ok(())
        }
        Block::Drawn(drawing) => write_fenced(
            &drawing(DrawingStyle {
                coloured: false,
                width: DRAWING_WIDTH,
            }),
            out,
        ),
        Block::Table(table) => write_table(table, most, out),
        Block::Formulas(_) | Block::Chart(_) => Ok(()),
    }
}

fn write_facts(facts: &[&Fact], out: &mut dyn Write) -> io::Result<()> {
    for Fact { heading, lines, .. } in facts {
        let mut shown = Vec::new();
        for line in lines {
            shown.push(line_of_fact(heading, line));
        }
        // an item of a list is one paragraph, in which Markdown joins lines
        let shown = shown.join("<br>");
        match heading.as_str() {
            "" => writeln!(out, "- {shown}")?,
            _ => writeln!(out, "- **{}:** {shown}", sentence(heading))?,
        }
    }
    Ok(())
}

/// A line of a fact; that of a formula is code.
fn line_of_fact(heading: &str, line: &str) -> String {
    let line = line.trim_end();
    match line.split_once(": ") {
        _ if heading != "formula" => sentence(line),
        Some((side @ ("old" | "new"), formula)) => format!("{side}: {}", code(formula)),
        _ => code(line),
    }
}

/// Writes text with lines of its own.
fn write_fenced(text: &str, out: &mut dyn Write) -> io::Result<()> {
    // a fence is longer than any that the text contains
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    writeln!(
        out,
        "\n{fence}text\n{}\n{fence}",
        printable_lines(text.trim_end())
    )
}

fn write_table(table: &Table<'_>, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let limit = table.limit.at_most(most);
    let (mut headings, mut rules) = (Vec::new(), Vec::new());
    let columns = table.columns_on(Medium::Text);
    for column in &columns {
        headings.push(sentence(&column.heading));
        let is_number = column.fit == Fit::Number;
        rules.push(if is_number { "--:" } else { "---" });
    }
    writeln!(out, "\n| {} |", headings.join(" | "))?;
    writeln!(out, "| {} |", rules.join(" | "))?;
    for row in limit.rows(table.len()) {
        let mut cells = Vec::new();
        for (column, cell) in iter::zip(&columns, table.row_on(Medium::Text, row)) {
            cells.push(cell_of(column, &text_of(&cell)));
        }
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    match limit.left_out(table.len()) {
        Some(left_out) => writeln!(out, "\n{}", sentence(&left_out)),
        None => Ok(()),
    }
}

fn cell_of(column: &Column, text: &str) -> String {
    match column.fit {
        Fit::Code if !text.is_empty() => code(text),
        Fit::Code | Fit::Number | Fit::Text { .. } | Fit::Wrapped => sentence(text),
    }
}

/// A sentence, in which back-ticks mark names.
fn sentence(text: &str) -> String {
    let mut marked = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            marked += &code(part);
        } else {
            marked += &escaped(&printable(part));
        }
    }
    marked
}

/// Text from outside as code. A vertical bar would end a cell, and in code a backslash does not
/// escape it elsewhere.
fn code(text: &str) -> String {
    let shown = printable(text);
    if shown.contains(['`', '|']) {
        format!("<code>{}</code>", escaped(&shown))
    } else if shown.is_empty() {
        String::new()
    } else {
        format!("`{shown}`")
    }
}

/// The text with what Markdown and HTML would take for marks escaped.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '|' => shown.push_str("&#124;"),
            '`' => shown.push_str("&#96;"),
            '\\' | '*' | '_' | '[' | ']' | '#' | '~' => shown.extend(['\\', character]),
            // GitHub would notify a user of that name
            '@' => shown.push_str("&#64;"),
            _ => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::document::{Cell, RowLimit, Section};

    #[test]
    fn text_from_outside_is_shown_as_it_is() {
        for (text, expected) in [
            ("`a_b` of `<b>`", "`a_b` of `<b>`"),
            (
                "a*b <i> @all [x](y) \u{1b}[2J",
                r"a\*b &lt;i&gt; &#64;all \[x\](y) \\x1b\[2J",
            ),
            ("`a|b`", "<code>a&#124;b</code>"),
        ] {
            assert_eq!(sentence(text), expected);
        }
    }

    #[test]
    fn a_document_has_a_headline_facts_and_tables() {
        let columns = vec![
            Column::number("rank", 9),
            Column::id("job", 9),
            Column::code("term", 9),
        ];
        let rows = [("12.vm", "a|b"), ("13.vm", "c")];
        let table = Table::new(columns, vec![0, 1], move |&row| {
            vec![
                Cell::Count(row + 1),
                rows[row].0.into(),
                Cell::Code(rows[row].1.into()),
            ]
        });
        let document = Document {
            command: "jsf rank",
            title: "ranking".to_owned(),
            headline: "`12.vm` is first.".to_owned(),
            facts: vec![Fact::new("formula", "a*b\n"), Fact::new("policy", "pbs")],
            sections: vec![Section::new("jobs").table(table.limit(RowLimit::First(1)))],
            read_on: "",
        };
        let mut out = Vec::new();
        write_markdown(&document, "jsf rank 'a`b'", true, &mut out).unwrap();
        let expected = format!(
            "### ranking\n\n**`12.vm` is first.**\n\n- **formula:** `a*b`\n- **policy:** pbs\n\n#### Jobs\n\n\
             | rank | job | term |\n| --: | --- | --- |\n| 1 | 12.vm | <code>a&#124;b</code> |\n\n\
             and 1 more; --format json has all\n\n<sub>jsf {}: <code>jsf rank 'a&#96;b'</code></sub>\n",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_fence_is_longer_than_those_in_the_text() {
        let mut out = Vec::new();
        write_fenced("```\nx", &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\n````text\n```\nx\n````\n"
        );
    }
}
