//! Constants that meet wishes about the order of a queue, for people.

use jsf_fit::wishes::WishFit;

use crate::commands::fit::answer::WishFitReport;
use crate::commands::fit::goals_view::{chosen_values, within_in_words};
use crate::view::document::{Column, Document, Fact, Section, Table, cells};
use crate::view::words::significant;

impl<'a> WishFitReport<'a> {
    pub(super) fn wishes_document(&self) -> Document<'a> {
        let fit = self.fit;
        let search = format!("a search (seed {}, {} rankings)", fit.seed, fit.evaluations);
        let mut facts = vec![
            Fact::new("template", self.template.trim_end()).in_full(),
            Fact::new("formula", fit.formula.trim_end()),
            Fact::new("found by", search).in_full(),
        ];
        if !fit.is_complete {
            facts.push(Fact::new("interrupted", "the best so far"));
        }
        let mut sections = vec![constants_section(fit), self.to_set.section()];
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
        let mut sentences = vec![headline(fit)];
        sentences.extend(self.to_set.warning());
        Document {
            command: "jsf fit",
            title: "Weights for a job_sort_formula".to_owned(),
            headline: sentences.join(" "),
            facts,
            sections,
            read_on: "jsf compare --new F --site DIR",
        }
    }
}

fn headline(fit: &WishFit) -> String {
    let wishes = &fit.wishes;
    let conflict = match wishes.conflict.len() {
        0 => String::new(),
        pairs => format!(" {pairs} of them exclude each other."),
    };
    let deviation = match wishes.mean_deviation {
        Some(deviation) => format!(
            " The values differ from the scores by {} on average.",
            significant(deviation)
        ),
        None => String::new(),
    };
    format!(
        "{} meets {} of {} wishes.{conflict}{deviation}",
        chosen_values(&fit.parameters),
        wishes.met,
        wishes.total
    )
}

fn constants_section(fit: &WishFit) -> Section<'_> {
    let columns = [
        Column::text("constant", 8),
        Column::number("value", 5),
        Column::text("the same wishes are met from", 10),
    ];
    let mut rows = Vec::new();
    for parameter in &fit.parameters {
        let value = parameter.value.to_string();
        rows.push(cells![&*parameter.name, value, within_in_words(parameter)]);
    }
    Section::new("constants").table(Table::from_rows(columns, rows))
}
