//! The names of a formula for people.

use crate::commands::names::answer::{Name, Names};
use crate::view::document::{Cell, Document, Section, Table};

impl Names {
    pub(super) fn names_document(&self) -> Document<'_> {
        let table = names_table(&self.names, "where it comes from", |name| name.origin);
        let mut sections = vec![Section::new("names").table(table)];
        if !self.unusable.is_empty() {
            let table = names_table(&self.unusable, "why", |name| {
                name.unusable.unwrap_or_default()
            });
            sections.push(
                Section::new("resources that no formula can use")
                    .in_full()
                    .table(table),
            );
        }
        Document {
            command: "jsf names",
            title: "Names of a formula".to_owned(),
            headline: format!(
                "A formula may use {} names; resources that none can use: {}.",
                self.names.len(),
                self.unusable.len()
            ),
            facts: Vec::new(),
            sections,
            read_on: "",
        }
    }
}

/// Names with their kinds and units, and what else is said of each.
fn names_table<'a>(
    names: &'a [Name],
    heading: &str,
    remark: fn(&Name) -> &'static str,
) -> Table<'a> {
    let has_since = names.iter().any(|name| name.since.is_some());
    Table::of(names)
        .name("name", 9, |name| &*name.name)
        .text("kind", 7, |name| name.kind)
        .text("unit", 7, |name| Cell::prose(name.unit.unwrap_or_default()))
        .text("since", 6, |name| {
            Cell::prose(
                name.since
                    .map(|since| since.to_string())
                    .unwrap_or_default(),
            )
        })
        .shown_if(has_since)
        .wrapped(heading, 8, move |name| remark(name))
        .into()
}
