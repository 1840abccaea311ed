//! Constants that meet wishes about the order of a queue, for people.

use jsf_fit::wishes::WishFit;

use crate::commands::fit::answer::WishFitReport;
use crate::commands::fit::goals_view::{obstacle_section, qmgr_section};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table};
use crate::view::words::{count, significant};

/// The most wishes of the conflict that the headline names.
const MAX_NAMED: usize = 3;

impl<'a> WishFitReport<'a> {
    pub(super) fn wishes_document(&self) -> Document<'a> {
        let fit = self.fit;
        let mut facts = vec![
            Fact::new("template", self.template.trim_end()).in_full(),
            Fact::new("formula", fit.formula.trim_end()),
            Fact::new(
                "found by",
                format!("a search (seed {}, {} rankings)", fit.seed, fit.evaluations),
            )
            .in_full(),
        ];
        if !fit.is_complete {
            facts.push(Fact::new("interrupted", "the best so far"));
        }
        let sections = [constants_section(fit)]
            .into_iter()
            .chain(std::iter::once(self.setting_section()))
            .chain(pairs_section(
                "wishes that contradict each other",
                &fit.wishes.conflict,
            ))
            .chain(pairs_section(
                "wishes not met together with the others",
                &fit.wishes.violated,
            ));
        Document {
            command: "jsf fit",
            title: "Weights for a job_sort_formula".to_owned(),
            headline: [Some(headline(fit)), self.to_set.warning()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            facts,
            sections: sections.collect(),
            read_on: "jsf compare --new F --site DIR",
        }
    }

    /// The command that sets the formula, or what prevents it.
    fn setting_section(&self) -> Section<'a> {
        let to_set = self.to_set;
        match &to_set.obstacle {
            Some(obstacle) => obstacle_section(obstacle, to_set),
            None => qmgr_section(to_set.command.as_deref().unwrap_or_default()),
        }
    }
}

fn headline(fit: &WishFit) -> String {
    let chosen: Vec<String> = fit
        .parameters
        .iter()
        .map(|parameter| format!("{} = {}", parameter.name, parameter.value))
        .collect();
    let chosen = chosen.join(", ");
    let wishes = &fit.wishes;
    let deviation = fit.mean_deviation.map(|deviation| {
        format!(
            " The values differ from the scores by {} on average.",
            significant(deviation)
        )
    });
    let deviation = deviation.unwrap_or_default();
    if fit.is_feasible {
        let all = if wishes.total == 1 {
            "the wish".to_owned()
        } else {
            format!(
                "all {}",
                count(wishes.total, "wish").replace("wishs", "wishes")
            )
        };
        return format!("{chosen} meets {all}.{deviation}");
    }
    let conflict = match wishes.conflict.len() {
        0 => String::new(),
        1..=MAX_NAMED => {
            let named: Vec<String> = wishes
                .conflict
                .iter()
                .map(|(above, below)| format!("`{above}` before `{below}`"))
                .collect();
            format!(" These exclude each other: {}.", named.join(", "))
        }
        many => format!(" {many} of them exclude each other."),
    };
    format!(
        "{chosen} meets {} of {} wishes.{conflict}{deviation}",
        wishes.met, wishes.total
    )
}

fn constants_section(fit: &WishFit) -> Section<'_> {
    let table = Table::of(&fit.parameters)
        .column(Column::text("constant", 8), |parameter| {
            Cell::text(&*parameter.name)
        })
        .column(Column::number("value", 5), |parameter| {
            Cell::prose(parameter.value.to_string())
        })
        .column(
            Column::text("the same wishes are met from", 10),
            |parameter| {
                Cell::prose(format!(
                    "{} to {}",
                    significant(parameter.low),
                    significant(parameter.high)
                ))
            },
        )
        .table();
    Section::new("constants").table(table)
}

fn pairs_section<'a>(heading: &str, pairs: &'a [(String, String)]) -> Option<Section<'a>> {
    let table = Table::of(pairs)
        .column(Column::id("job", 9), |(above, _)| Cell::text(&**above))
        .column(Column::id("before", 9), |(_, below)| Cell::text(&**below))
        .table();
    (!pairs.is_empty()).then(|| Section::new(heading).table(table))
}
