//! The kinds of findings for people.

use crate::commands::codes::answer::Codes;
use crate::view::document::{Cell, Column, Document, Section, Table};
use crate::view::verdict::severity_word;

impl Codes {
    pub(super) fn codes_document(&self) -> Document<'_> {
        let codes = &self.codes;
        let columns = vec![Column::text("code", 9), Column::text("severity", 7), Column::wrapped("what it finds", 8)];
        let table = Table::new(columns, codes.len(), move |index| {
            let kind = &codes[index];
            let severity = match [kind.severity, kind.most_severe].map(severity_word) {
                [one, other] if one == other => one.to_owned(),
                [least, most] => format!("{least} or {most}"),
            };
            vec![Cell::text(kind.code.name()), Cell::text(severity), Cell::text(kind.title)]
        });
        Document {
            command: "jsf codes",
            title: "Kinds of findings".to_owned(),
            headline: format!("There are {} kinds of findings; jsf codes CODE explains one.", codes.len()),
            facts: Vec::new(),
            sections: vec![Section::new("kinds").table(table)],
            read_on: "",
        }
    }
}
