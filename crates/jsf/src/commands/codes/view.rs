//! The kinds of findings for people.

use crate::commands::codes::answer::{Codes, FindingKind};
use crate::view::document::{Cell, Column, Document, Section, Table};
use crate::view::verdict::severity_word;

impl Codes {
    pub(super) fn codes_document(&self) -> Document<'_> {
        let severity =
            |kind: &FindingKind| match [kind.severity, kind.most_severe].map(severity_word) {
                [one, other] if one == other => one.to_owned(),
                [least, most] => format!("{least} or {most}"),
            };
        let table = Table::of(&self.codes)
            .column(Column::text("code", 9), |kind| Cell::text(kind.code.name()))
            .column(Column::text("severity", 7), move |kind| {
                Cell::text(severity(kind))
            })
            .column(Column::wrapped("what it finds", 8), |kind| {
                Cell::text(kind.title)
            })
            .table();
        Document {
            command: "jsf codes",
            title: "Kinds of findings".to_owned(),
            headline: format!(
                "There are {} kinds of findings; jsf codes CODE explains one.",
                self.codes.len()
            ),
            facts: Vec::new(),
            sections: vec![Section::new("kinds").table(table)],
            read_on: "",
        }
    }
}
