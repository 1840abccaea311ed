//! `jsf compare`: what is asked, and two rankings of one queue: for programs as JSON and as CSV.

#[cfg(feature = "command")]
pub(crate) mod sides;
pub(crate) mod view;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{Arg, Args};
use job_sort_formula::Value;
use job_sort_formula::rank::{Comparison, GroupChange, OldNew, Ranking, Transitions};
use jsf_openpbs::check::Checked;
use jsf_site::{ComparedQueue, RankedQueue, Site};
use serde::{Deserialize, Serialize, Serializer};

use crate::answers::{Answer, AnswerError, Each, Format, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::{FormulaArgs, FormulaOptions, TwoFormulas},
    messages::print_message,
    outcome::{CliError, Outcome},
    output::{AnswerArgs, CsvArgs, Output, formats},
    page_file::ReportArgs,
    site::{PolicyArg, SiteArgs, threshold},
};
use crate::csv::{CsvText, CsvWriter, guarded_names};
use crate::questions::named_jobs::{
    JobFilter, NamedEntities, NamedJobs, NamedQueues, selected_rows,
};
use crate::questions::values::number_of_jobs;
use crate::view::document::Document;
use crate::view::words::count;

/// Which jobs of the compared rankings are listed.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct CompareQuestion {
    /// List only the first N jobs of the new order
    ///
    /// In a table the N that gain and the N that lose most places
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    pub top: Option<usize>,
    /// The jobs to list.
    #[serde(flatten)]
    #[command(flatten)]
    jobs: NamedJobs,
    /// Whose jobs are listed.
    #[serde(flatten)]
    #[command(flatten)]
    entities: NamedEntities,
    /// The queues whose jobs are listed.
    #[serde(flatten)]
    #[command(flatten)]
    queues: NamedQueues,
}

impl CompareQuestion {
    /// The jobs to list, whether they move or not.
    fn filter(&self) -> JobFilter<'_> {
        JobFilter {
            jobs: &self.jobs.job,
            entities: &self.entities.entity,
            queues: &self.queues.queue_name,
        }
    }
}

/// `jsf compare`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(
    after_help = "\
The same jobs are ranked by the old formula, tree, policy, sched_config and threshold, and by the new ones. What neither side \
gives comes from the site. If only one formula is given, the other is the site's. If the sides differ in something else, --old \
alone is that of both; so is --new if the site has none. Without any formula, two trees or policies are compared by fairshare_factor.

moved is the old rank minus the new one; tau-b is 1 for the same order, 0 for no relation, -1 for the reverse one. Only jobs \
that both formulas consider count. docs/commands.md has the other numbers.

Exit code 1: a formula is invalid or fails for every job, or a job of the first N changes its place under --fail-on-change N.

Examples:
  jsf compare --new 'fairshare_factor * 100 + eligible_time / 3600' \\
      --site examples/site
  jsf compare --old-file examples/formulas/pp718.txt --new ncpus --format csv \\
      --queue examples/site/qstat.json --sched-priv examples/site/sched_priv
  jsf compare --new-threshold 0.5 --site examples/site --fail-on-change 20",
    mut_args(of_comparison)
)]
pub struct CompareArgs {
    /// The formulas.
    #[command(flatten)]
    sides: TwoFormulas,
    /// The old fair-share tree
    ///
    /// As for --tree, or a resource_group
    #[arg(long, value_name = "FILE")]
    old_tree: Option<PathBuf>,
    /// The new fair-share tree
    ///
    /// As for --tree, or a resource_group
    #[arg(long, value_name = "FILE")]
    new_tree: Option<PathBuf>,
    /// The old fair-share policy, as for --policy
    #[arg(long, value_name = "POLICY")]
    old_policy: Option<PolicyArg>,
    /// The new fair-share policy, as for --policy
    #[arg(long, value_name = "POLICY")]
    new_policy: Option<PolicyArg>,
    /// The old sched_config, as for --sched-config
    #[arg(long, value_name = "FILE")]
    old_sched_config: Option<PathBuf>,
    /// The new sched_config, as for --sched-config
    #[arg(long, value_name = "FILE")]
    new_sched_config: Option<PathBuf>,
    /// The old slurm.conf: its policy and weights
    #[arg(long, value_name = "FILE")]
    old_slurm_conf: Option<PathBuf>,
    /// The new slurm.conf: its policy and weights
    ///
    /// Slurm's priority with its weights is the new formula, if none is given
    #[arg(long, value_name = "FILE")]
    new_slurm_conf: Option<PathBuf>,
    /// The old job_sort_formula_threshold
    ///
    /// A job whose value is at most X does not run
    // the alias is the former name
    #[arg(long, alias = "threshold-old", value_name = "X", allow_hyphen_values = true, value_parser = threshold)]
    old_threshold: Option<f64>,
    /// The new job_sort_formula_threshold
    // the alias is the former name
    #[arg(long, alias = "threshold-new", value_name = "X", allow_hyphen_values = true, value_parser = threshold)]
    new_threshold: Option<f64>,
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// Exit with 1 if one of the first N jobs moves
    ///
    /// A job that is among the first N of either order, and changes its place
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    fail_on_change: Option<usize>,
    /// The jobs to list.
    #[command(flatten)]
    question: CompareQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// How CSV is written.
    #[command(flatten)]
    csv: CsvArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

/// An argument of several commands as a comparison has it. `mut_arg` would move it behind the others.
#[cfg(feature = "command")]
fn of_comparison(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "format" => argument.value_parser(formats(&[Format::Csv])),
        _ => argument,
    }
}

#[cfg(feature = "command")]
impl CompareArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let mut formulas = self.sides.formulas();
        self.require_one_file(&formulas)?;
        let is_new_given = formulas.new.is_given();
        if self.has_own_rules() && !is_new_given {
            formulas.new = FormulaArgs {
                options: FormulaOptions::NEW,
                ..formulas.old.clone()
            };
        }
        let (old_site, other_site) = self.open_sites(&formulas)?;
        let sites = OldNew::new(&old_site, other_site.as_ref().unwrap_or(&old_site));
        let mut sources = self.read_formulas(&formulas, sites)?;
        // another slurm.conf has another priority
        if self.new_slurm_conf.is_some()
            && !is_new_given
            && sites.new.priorities_at().is_some()
            && let Some(priority) = sites.new.formula_in_force()
        {
            sources.new = priority;
        }
        self.site.note_ignored_files();
        self.site.show(sites.old, self.answer.format.is_document());
        let given = sources.map(|source| AskedFormula::new(source, old_site.numbers()));
        let question = self.question.clone();
        let compared = self.answer.answered("ranking the jobs", |warnings, _| {
            CompareAnswer::new(sites, given, question, warnings)
        })?;
        let page_sites = vec![sites.old, sites.new];
        let output = Output {
            has_asked_rows: self.question.top.is_some(),
            csv_texts: self.csv.texts(),
            page_file: self.report.page_file(page_sites, self.sides.files()),
            ..compared
        };
        let outcome = output.write_ranking(self.site.on_error, out)?;
        match self.fail_on_change {
            Some(first) if report_changes(&output.answer.compared, first) => Ok(Outcome::Findings),
            _ => Ok(outcome),
        }
    }
}

/// Says for `--fail-on-change` how many of the first jobs change their place, or that this cannot
/// be told; returns whether it said something.
#[cfg(feature = "command")]
fn report_changes(compared: &ComparedQueue, first: usize) -> bool {
    let changes = compared.comparison.changed_among_first(first);
    if changes > 0 {
        let jobs = count(changes, "job");
        print_message(
            "error",
            format_args!("{jobs} among the first {first} of either order moved"),
        );
        return true;
    }
    // no change is shown, and none can be ruled out
    let is_undecided = compared.comparison.moves().next().is_none();
    if is_undecided {
        let message =
            "no job is considered under either formula, so --fail-on-change cannot be answered";
        print_message("error", message);
    }
    is_undecided
}

/// A comparison, ready to be written.
pub struct CompareAnswer<'a> {
    sites: OldNew<&'a Site>,
    /// Whether both sides are the same formula at the same site.
    is_one: bool,
    question: CompareQuestion,
    /// The formulas.
    given: OldNew<AskedFormula>,
    /// The jobs under both rankings, and what changes.
    pub compared: ComparedQueue,
    /// The rows to list: those of the new order come first, then those of jobs that are considered
    /// only under the old ranking.
    rows: Vec<usize>,
    /// Made when it is asked for: programs do without it.
    checked: OnceLock<OldNew<Checked>>,
}

impl<'a> CompareAnswer<'a> {
    /// Ranks the queue of the old site by the old formula, and by the new formula under the rules of
    /// the new site.
    ///
    /// # Errors
    /// The jobs cannot be read, a formula is not arithmetic, or none of the jobs to list exists.
    pub fn new(
        sites: OldNew<&'a Site>,
        given: OldNew<AskedFormula>,
        question: CompareQuestion,
        warnings: &mut Warnings,
    ) -> Result<Self, AnswerError> {
        let formulas = OldNew::new(given.old.parsed()?, given.new.parsed()?);
        let names = [formulas.old.names(), formulas.new.names()].concat();
        let mut inputs_of = vec![sites.old];
        if !std::ptr::eq(sites.old, sites.new) {
            inputs_of.push(sites.new);
        }
        for site in inputs_of {
            warnings.add_site(site, &names);
        }
        let mut jobs = sites.old.read_for_comparison(formulas, sites.new)?;
        warnings.add(std::mem::take(&mut jobs.old.jobs.warnings));
        for (read, given) in [(&jobs.old, &given.old), (&jobs.new, &given.new)] {
            given.require_arithmetic(read)?;
        }
        let compared = sites.old.compare_read_jobs(jobs, sites.new)?;
        warnings.add(compared.warnings.clone());
        let rows = selected_rows(
            question.filter(),
            compared_rows(&compared.comparison),
            sites.new,
            compared.table(),
            warnings,
        )?;
        Ok(Self {
            is_one: std::ptr::eq(sites.old, sites.new) && given.old.text() == given.new.text(),
            question,
            given,
            compared,
            rows,
            checked: OnceLock::new(),
            sites,
        })
    }

    /// What becomes of the formulas.
    pub(crate) fn checked(&self) -> &OldNew<Checked> {
        self.checked.get_or_init(|| {
            let (sites, given, ranked) = (&self.sites, &self.given, &self.compared.sides);
            OldNew {
                old: sites.old.check_ranked(&given.old.submitted, &ranked.old),
                new: sites.new.check_ranked(&given.new.submitted, &ranked.new),
            }
        })
    }

    /// The rows that programs get.
    fn listed(&self) -> impl Iterator<Item = &usize> {
        let most = self.question.top.unwrap_or(usize::MAX);
        self.rows.iter().take(most)
    }

    /// A job; its ranks count from 1, and are null where it is not considered. A score is null if
    /// it is not finite.
    fn job(&self, row: usize) -> impl Serialize {
        let table = self.compared.table();
        let job = self.compared.comparison.job(row);
        let scores = scores(&self.compared, row);
        object! {
            id: table.id(row),
            entity: table.entity(row),
            queue: table.queue(row),
            old_rank: job.old,
            new_rank: job.new,
            old_score: scores.old,
            new_score: scores.new,
            moved: job.moved(),
        }
    }

    /// The ids of the jobs that start and stop doing something.
    fn start_stop(&self, transitions: &Transitions) -> impl Serialize {
        let Transitions { start, stop } = transitions;
        object! { start: ids(&self.compared, start), stop: ids(&self.compared, stop) }
    }
}

impl Serialize for CompareAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ComparedQueue {
            comparison, sides, ..
        } = &self.compared;
        let answer = object! {
            old: side(&self.given.old, &sides.old),
            new: side(&self.given.new, &sides.new),
            jobs: Each(|| self.listed().map(|&row| self.job(row))),
            #[serde(flatten)]
            numbers: numbers(&self.compared),
            changes: object! {
                considered: self.start_stop(&comparison.being_considered),
                failing: self.start_stop(&comparison.failing),
                passing: self.start_stop(&comparison.passing),
            },
            entities: groups(&comparison.entities),
            groups: groups(&comparison.groups),
            queues: groups(&comparison.queues),
            sizes: groups(&comparison.sizes),
            decides: self.compared.decides(),
        };
        answer.serialize(serializer)
    }
}

impl Answer for CompareAnswer<'_> {
    fn rankings(&self) -> Vec<(&AskedFormula, &RankedQueue)> {
        let OldNew { old, new } = &self.compared.sides;
        let mut rankings = vec![(&self.given.old, old), (&self.given.new, new)];
        if self.is_one {
            rankings.truncate(1);
        }
        rankings
    }

    fn shows_findings(&self) -> bool {
        true
    }

    fn document(&self) -> Document<'_> {
        self.shown()
    }

    /// Writes comma-separated values as in RFC 4180: a header, and a line for each job.
    fn write_as(&self, _format: Format, texts: CsvText, out: &mut dyn Write) -> io::Result<()> {
        let header = "id,entity,queue,old_rank,new_rank,old_score,new_score,moved";
        let mut csv = CsvWriter::new(header, out)?;
        let table = self.compared.table();
        for &row in self.listed() {
            let names = [table.id(row), table.entity(row), table.queue(row)];
            let names = guarded_names(names, texts);
            let job = self.compared.comparison.job(row);
            let OldNew { old, new } = scores(&self.compared, row).map(finite_score);
            csv.write((names, job.old, job.new, old, new, job.moved()))?;
        }
        csv.finish()
    }
}

/// The numbers that concern the whole queue.
pub(crate) fn numbers(compared: &ComparedQueue) -> impl Serialize {
    let comparison = &compared.comparison;
    let rankings = compared.sides.as_ref().map(|side| &side.ranking);
    object! {
        summary: object! {
            #[serde(flatten)]
            comparison,
            moved: comparison.moved(),
            evaluated: rankings.map(|ranking| ranking.scores().count()),
            ties: rankings.map(Ranking::ties),
        },
        fairness: object! {
            #[serde(flatten)]
            sides: comparison.fairness,
            first: comparison.first,
        },
    }
}

fn ids<'c>(compared: &'c ComparedQueue, rows: &[u32]) -> Vec<&'c str> {
    let ids = rows.iter().map(|&row| compared.table().id(row as usize));
    ids.collect()
}

/// The scores of a row; `None` for a side on which the job is excluded.
fn scores(compared: &ComparedQueue, row: usize) -> OldNew<Option<f64>> {
    let sides = compared.sides.as_ref();
    sides.map(|side| Some(side.ranking.score(row)?.value))
}

/// A formula, and its rules by heading.
fn side(given: &AskedFormula, queue: &RankedQueue) -> impl Serialize {
    let mut rules = BTreeMap::new();
    for rule in &queue.rules {
        rules.insert(rule.heading, rule.text.clone());
    }
    object! { formula: given.text(), rules }
}

fn groups(changes: &[GroupChange]) -> Vec<impl Serialize> {
    let mut groups = Vec::new();
    for change in changes {
        let mean = change.mean_rank();
        groups.push(object! {
            #[serde(flatten)]
            change,
            old_mean_rank: mean.map(|mean| mean.old),
            new_mean_rank: mean.map(|mean| mean.new),
            won: change.won(),
        });
    }
    groups
}

/// The rows that a comparison lists: the new order, then the jobs that are considered only under
/// the old ranking.
pub fn compared_rows(comparison: &Comparison) -> Vec<usize> {
    comparison.moves().map(|job| job.row).collect()
}

fn finite_score(score: Option<f64>) -> Option<String> {
    match score {
        Some(score) if score.is_finite() => Some(Value::Float(score).repr()),
        _ => None,
    }
}
