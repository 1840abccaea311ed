//! Constants that meet wishes about the order of a queue, for people.

use jsf_fit::wishes::WishFit;

use crate::commands::fit::answer::WishFitReport;
use crate::commands::fit::goals_view::{chosen_values, within_in_words};
use crate::view::document::{Document, Fact, Section, Table};
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
        let pairs = [
            ("wishes that contradict each other", &fit.wishes.conflict),
            (
                "wishes not met together with the others",
                &fit.wishes.violated,
            ),
        ];
        for (heading, pairs) in pairs.into_iter().filter(|(_, pairs)| !pairs.is_empty()) {
            let table = Table::of(pairs).id("job", 9, |(above, _)| &**above).id(
                "before",
                9,
                |(_, below)| &**below,
            );
            sections.push(Section::new(heading).table(table));
        }
        let warning = self.to_set.warning();
        Document {
            command: "jsf fit",
            title: "Weights for a job_sort_formula".to_owned(),
            headline: [vec![headline(fit)], Vec::from_iter(warning)]
                .concat()
                .join(" "),
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
    let deviation = wishes.mean_deviation.map(significant);
    let deviation = deviation.map_or_else(String::new, |deviation| {
        format!(" The values differ from the scores by {deviation} on average.")
    });
    format!(
        "{} meets {} of {} wishes.{conflict}{deviation}",
        chosen_values(&fit.parameters),
        wishes.met,
        wishes.total
    )
}

fn constants_section(fit: &WishFit) -> Section<'_> {
    let table = Table::of(&fit.parameters)
        .text("constant", 8, |parameter| &*parameter.name)
        .number("value", 5, |parameter| parameter.value.to_string())
        .text("the same wishes are met from", 10, |parameter| {
            within_in_words(parameter)
        });
    Section::new("constants").table(table)
}
