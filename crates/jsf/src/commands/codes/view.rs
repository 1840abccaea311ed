//! The kinds of findings for people.

use crate::commands::codes::answer::{Codes, FindingKind};
use crate::view::document::{Document, Section, Table};
use crate::view::verdict::severity_word;

impl Codes {
    pub(super) fn codes_document(&self) -> Document<'_> {
        let severity =
            |kind: &FindingKind| match [kind.severity, kind.most_severe].map(severity_word) {
                [one, other] if one == other => one.to_owned(),
                [least, most] => format!("{least} or {most}"),
            };
        let table = Table::of(&self.codes)
            .text("code", 9, |kind| kind.code.name())
            .text("severity", 7, move |kind| severity(kind))
            .wrapped("what it finds", 8, |kind| kind.title);
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
