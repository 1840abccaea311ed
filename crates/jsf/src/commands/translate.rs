//! `jsf translate`: a formula in the terms of the other scheduler.

use std::io::Write;

use clap::{Args, ValueEnum};
use job_sort_formula::diagnostic::Severity;
use jsf_lint::lint;
use jsf_site::{LargestJob, SiteError, Translation};
use serde::Serialize;

use crate::answers::Answer;
use crate::asked_formula::AskedFormula;
use crate::cli::formula::{FormulaArgs, read_formula};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::AnswerArgs;
use crate::cli::site::SiteArgs;
use crate::view::document::{Cell, Column, Document, Fact, Section, Table, cells};
use crate::view::facts::{WORTH, rates_line};
use crate::view::words::{count, grouped, significant};

/// `jsf translate`
#[derive(Debug, Args)]
#[command(after_help = "\
To Slurm: a formula that adds multiples of the time of waiting (which may end at a limit), of the job's size (nodect, ncpus, \
mem, ngpus), of queue_priority and of the fair share (fairshare_factor, or 2**-(fairshare_tree_usage/fairshare_perc)). \
Each other part is named with the reason. To PBS: Slurm's priority as slurm.conf sets it, or a formula with its names \
(`jsf names --site`), with the resources that the site must define. With jobs, both say how far the two orders agree \
(tau-b: 1 for the same order).

Examples:
  jsf translate 'fairshare_factor*500 + min(99, eligible_time/3600)' \\
      --to slurm --site examples/site
  jsf translate --to pbs --site examples/slurm")]
pub struct TranslateArgs {
    /// The formula.
    #[command(flatten)]
    formula: FormulaArgs,
    /// The scheduler that gets it
    #[arg(long, value_enum, value_name = "SCHEDULER")]
    to: Scheduler,
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

/// A scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scheduler {
    /// Slurm's multifactor priority
    Slurm,
    /// PBS's job_sort_formula
    Pbs,
}

impl TranslateArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let site = self.site.open(self.formula.file(), None)?;
        self.site.show(&site, self.answer.format.is_document());
        let source = match read_formula(&self.formula, Some(&site)) {
            // a site of Slurm has its priority instead of a formula
            Err(CliError::Site(SiteError::Missing(_))) if self.to == Scheduler::Pbs => {
                site.slurm_priority()?
            }
            read => read?,
        };
        let given = AskedFormula::new(source, site.numbers());
        let formula = given.parsed()?;
        let mut errors = lint(formula.expr(), site.schema());
        errors.retain(|found| found.severity == Severity::Error);
        let outcome = Outcome::fine_if(errors.is_empty());
        given.draw(errors);
        let translated = self.answer.answered("translating", |warnings, _| {
            warnings.add_site(&site, &formula.names());
            Ok(TranslateAnswer {
                to: self.to,
                source: given.text().trim_end(),
                translation: match self.to {
                    Scheduler::Slurm => site.translate_to_slurm(formula)?,
                    Scheduler::Pbs => site.translate_to_pbs(formula)?,
                },
            })
        })?;
        translated.write(out)?;
        Ok(outcome)
    }
}

/// What the command answers.
#[derive(Serialize)]
struct TranslateAnswer<'a> {
    #[serde(skip)]
    to: Scheduler,
    /// The formula.
    source: &'a str,
    #[serde(flatten)]
    translation: Translation,
}

impl Answer for TranslateAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let translation = &self.translation;
        let mut facts = vec![Fact::new("formula", self.source)];
        facts.push(Fact::new("becomes", &*translation.formula).in_full());
        facts.extend(translation.largest_job.and_then(largest_job));
        let rates = rates_line(&translation.worth, "at one of each");
        if !rates.is_empty() {
            facts.push(Fact::new(WORTH, rates));
        }
        let what = match self.to {
            Scheduler::Slurm => "slurm.conf",
            Scheduler::Pbs => "commands of qmgr",
        };
        let mut rows = Vec::new();
        for part in &translation.not_expressed {
            rows.push(cells![&*part.text, Cell::Missing, Cell::prose(&*part.why)]);
        }
        for part in &translation.parts {
            let note = Cell::prose(&*part.note);
            rows.push(cells![&*part.text, &*part.becomes, note]);
        }
        let columns = [
            Column::code("part", 9),
            Column::code("becomes", 8),
            Column::wrapped("note", 7),
        ];
        let table = Table::from_rows(columns, rows);
        let sections = vec![
            Section::new(what).list(translation.settings.clone()),
            Section::new("what becomes of it").table(table),
        ];
        Document {
            command: "jsf translate",
            title: "A formula for another scheduler".to_owned(),
            headline: self.headline(),
            facts,
            sections,
            read_on: "jsf compare for the places of single jobs",
        }
    }
}

impl TranslateAnswer<'_> {
    /// How much is carried over, and how far the orders agree.
    fn headline(&self) -> String {
        let Translation {
            parts,
            not_expressed,
            agreement,
            ..
        } = &self.translation;
        let carried = parts.len();
        let all = carried + not_expressed.len();
        let agreement = match agreement {
            None => "without jobs, nothing says how far the orders agree".to_owned(),
            Some(agreement) => match agreement.tau_b {
                Some(tau_b) => format!(
                    "the orders of {} agree with tau-b {tau_b:.3}",
                    count(agreement.jobs, "job")
                ),
                None => "one of the two gives all jobs the same value".to_owned(),
            },
        };
        format!("Parts of the formula carried over: {carried} of {all}; {agreement}.")
    }
}

/// What the size of the largest job is worth, if large jobs are preferred.
fn largest_job(LargestJob { nodes, cpus, wait }: LargestJob) -> Option<Fact> {
    let hours = significant(wait / 3600.0);
    let size = grouped(&format!("a job of {nodes} nodes and {cpus} processors"));
    let fact = Fact::new("largest", format!("{size} counts {hours} h of waiting"));
    if wait > 0.0 { Some(fact) } else { None }
}
