//! What a page shows of a document, and in which order: the answer first, then what it rests on.

use crate::view::document::{Block, Medium, Section, WARNINGS};

/// The table that is the answer of a comparison, by the heading of its first column.
const ANSWER: &str = "who gains and loses";
/// The sections of a comparison that come first, in this order.
const FIRST_OF_COMPARISON: [&str; 8] = [
    WARNINGS,
    ANSWER,
    "what decides",
    "every job's place",
    "from where to where",
    "formula",
    "formulas",
    "findings",
];
/// The sections of a simulation that come after the tables and charts of waits, in this order.
const LAST_OF_SIMULATION: [&str; 3] = [
    "use of the machine and waiting jobs over time",
    "use against shares",
    "jobs",
];

/// The sections that a page shows, in its order.
pub(crate) fn in_order<'s, 'a>(command: &str, sections: &'s [Section<'a>]) -> Vec<&'s Section<'a>> {
    let mut shown: Vec<&Section<'a>> = sections
        .iter()
        .filter(|section| heading_on_page(section).is_some())
        .collect();
    shown.sort_by_key(|section| {
        let heading = heading_on_page(section).unwrap_or_default();
        match command {
            "jsf compare" => {
                place_in(&FIRST_OF_COMPARISON, heading).unwrap_or(FIRST_OF_COMPARISON.len())
            }
            "jsf simulate" => place_in(&LAST_OF_SIMULATION, heading).map_or(0, |place| place + 1),
            _ => 0,
        }
    });
    shown
}

fn place_in(headings: &[&str], heading: &str) -> Option<usize> {
    headings.iter().position(|known| *known == heading)
}

/// The heading of a section on a page; `None` for a section that only text has. An answer without a
/// heading in text has one.
pub(crate) fn heading_on_page<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    let is_answer = section.blocks.iter().any(|block| match block {
        Block::Table(table) => table
            .columns
            .first()
            .is_some_and(|column| column.heading == ANSWER),
        _ => false,
    });
    match section.medium {
        _ if is_answer => Some(ANSWER),
        Medium::Text => None,
        Medium::All | Medium::Page => Some(&section.heading),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::document::table::{Column, Table};

    #[test]
    fn a_page_begins_with_the_answer() {
        let answer = Table::from_rows(vec![Column::text(ANSWER, 9)], []);
        let sections = [
            Section::new("formulas").on_page(),
            Section::new("").in_text().table(answer),
            Section::new("jobs that gain places").in_text(),
            Section::new("jobs").on_page(),
            Section::new("use of the machine and waiting jobs over time"),
            Section::new("entities"),
        ];
        let headings = |command: &str| {
            let shown = in_order(command, &sections).into_iter();
            shown
                .map(|section| heading_on_page(section).unwrap())
                .collect::<Vec<_>>()
        };
        let over_time = "use of the machine and waiting jobs over time";
        assert_eq!(
            headings("jsf compare"),
            [ANSWER, "formulas", "jobs", over_time, "entities"]
        );
        assert_eq!(
            headings("jsf simulate"),
            ["formulas", ANSWER, "entities", over_time, "jobs"]
        );
        assert_eq!(
            headings("jsf rank"),
            ["formulas", ANSWER, "jobs", over_time, "entities"]
        );
    }
}
