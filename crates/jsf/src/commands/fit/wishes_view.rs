//! Constants that meet wishes about the order of a queue, for people.

use jsf_fit::wishes::WishFit;

use crate::commands::fit::answer::WishFitReport;
use crate::commands::fit::goals_view::{chosen_values, constants_table};
use crate::view::document::{Column, Document, Fact, Section, Table, cells};
use crate::view::words::significant;

impl WishFitReport<'_> {
    pub(super) fn wishes_document(&self) -> Document<'_> {
        let fit = &self.fit;
        let search = format!("a search (seed {}, {} rankings)", fit.seed, fit.evaluations);
        let mut facts = vec![
            Fact::new("template", self.template.trim_end()).in_full(),
            Fact::new("formula", fit.formula.trim_end()),
            Fact::new("found by", search).in_full(),
        ];
        if !fit.is_complete {
            facts.push(Fact::new("interrupted", "the best so far"));
        }
        let constants = constants_table(&fit.parameters, "the same wishes are met from");
        let mut sections = vec![
            Section::new("constants").table(constants),
            self.to_set.section(),
        ];
        for (heading, pairs) in [
            ("wishes that contradict each other", &fit.wishes.conflict),
            (
                "wishes not met together with the others",
                &fit.wishes.violated,
            ),
        ] {
            let mut rows = Vec::new();
            for (above, below) in pairs {
                rows.push(cells![&**above, &**below]);
            }
            if !rows.is_empty() {
                let table = Table::from_rows([Column::id("job", 9), Column::id("before", 9)], rows);
                sections.push(Section::new(heading).table(table));
            }
        }
        Document {
            command: "jsf fit",
            title: "Weights for a job_sort_formula".to_owned(),
            headline: headline(fit, self.to_set.warning()),
            facts,
            sections,
            read_on: "jsf compare --new F --site DIR",
        }
    }
}

fn headline(fit: &WishFit, warning: Option<String>) -> String {
    let wishes = &fit.wishes;
    let mut sentences = vec![format!(
        "{} meets {} of {} wishes.",
        chosen_values(&fit.parameters),
        wishes.met,
        wishes.total
    )];
    if !wishes.conflict.is_empty() {
        sentences.push(format!(
            "{} of them exclude each other.",
            wishes.conflict.len()
        ));
    }
    if let Some(deviation) = wishes.mean_deviation {
        sentences.push(format!(
            "The values differ from the scores by {} on average.",
            significant(deviation)
        ));
    }
    sentences.extend(warning);
    sentences.join(" ")
}
