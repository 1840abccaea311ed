//! The context of a formula: what is known of names, the jobs, and the fair-share tree.

use std::path::{Path, PathBuf};

use job_sort_formula::fairshare::Assessed;
use job_sort_formula::ingest::options::ReadOptions;
use job_sort_formula::jobs::Problems;
use job_sort_formula::pbs::files::queues::Queues;
use job_sort_formula::pbs::files::resources::add_resources;
use job_sort_formula::pbs::files::sched_config::{ByTime, SchedConfig};
use job_sort_formula::pbs::files::server::ServerSettings;
use job_sort_formula::pbs::order::{Order, Ordered};
use job_sort_formula::pbs::resource_amount::Numbers;
use job_sort_formula::pbs::share_tree::PbsTree;
use job_sort_formula::rank::{Keep, OnError, first_without_shares, score, supply};
use job_sort_formula::schema::FairshareInput;
use job_sort_formula::{Formula, JobTable, Program, Ranking, Schema};

use super::args::{NumbersName, OnErrorName, PolicyName, SiteArgs};
use super::formula::{MOST_OF_A_FILE, read_bytes, read_text};
use super::policy::Choice;
use super::queue::Queue;
use super::tree::{Tree, waiting_nodes, why_not};
use super::{CliError, remark};

/// The most remarks on single jobs that are shown.
const MOST_REMARKS: usize = 10;

/// What is known before the formula is.
pub(super) struct Site<'a> {
    arguments: &'a SiteArgs,
    pub schema: Schema,
    queues: Queues,
    pub config: SchedConfig,
    pub server: ServerSettings,
    pub queue: Queue,
}

impl<'a> Site<'a> {
    /// Reads everything but the jobs and the tree.
    pub(super) fn read(arguments: &'a SiteArgs) -> Result<Self, CliError> {
        if let Some(folder) = &arguments.sched_priv
            && let Err(error) = folder.read_dir()
        {
            return Err(CliError::read(folder, error));
        }
        let mut schema = Schema::openpbs();
        if let Some(path) = &arguments.resources {
            for problem in add_resources(&name_of(path), &read_text(path, MOST_OF_A_FILE)?, &mut schema) {
                remark("warning", problem);
            }
        }
        let queues = match &arguments.queues {
            Some(path) => {
                let text = read_text(path, MOST_OF_A_FILE)?;
                Queues::read(&name_of(path), &text).map_err(CliError::content)?
            }
            None => Queues::none(),
        };
        queues.add_seen_to(&mut schema);
        let config = match in_sched_priv(arguments.sched_config.as_ref(), arguments, "sched_config") {
            Some(path) => SchedConfig::parse(&read_bytes(&path, MOST_OF_A_FILE)?),
            None => formula_alone(),
        };
        for warning in &config.warnings {
            remark("warning", format_args!("sched_config: {warning}"));
        }
        let server = match &arguments.server {
            Some(path) => ServerSettings::read(&read_text(path, MOST_OF_A_FILE)?),
            None => ServerSettings::default(),
        };
        Ok(Self { arguments, schema, queues, config, server, queue: Queue::default() })
    }

    /// Reads the jobs, with a column for every name in the formula. Names that only the jobs know join the schema.
    pub(super) fn read_queue(&mut self, formula: &Formula) -> Result<Option<JobTable>, CliError> {
        let Some(path) = &self.arguments.queue else { return Ok(None) };
        let is_first = !self.queue.was_read;
        let source_name = name_of(path);
        let mut needed = formula.names();
        needed.extend(Order::new(&self.config, &self.queues).columns());
        let options = ReadOptions {
            source_name: &source_name,
            needed: &needed,
            schema: &self.schema,
            numbers: self.numbers(),
            entity: self.config.fairshare_entity,
            queues: &self.queues,
        };
        let read = self.queue.read(path, &options)?;
        if is_first {
            remark_on(&read.problems, &source_name);
        }
        for (name, kind) in read.table.undeclared() {
            self.schema.add_seen(name, kind);
        }
        Ok(Some(read.table))
    }

    /// Fills in the fair-share numbers of the jobs, and gives the tree that they come from.
    pub(super) fn supply_shares(&self, program: &Program, table: &mut JobTable) -> Result<Option<PbsTree>, CliError> {
        let needs_shares = program.inputs().iter().any(|input| FairshareInput::from_name(input).is_some());
        if !needs_shares && !self.config.fair_share.prime {
            return Ok(None);
        }
        let (choice, numbers) = (Choice::read(self.arguments)?, self.numbers());
        let mut tree = None;
        match (choice.name, Tree::read(self.arguments, &self.config)?) {
            (PolicyName::All, _) => return Err(CliError::usage("a ranking needs one policy, not `all` of them")),
            (_, None) => self.nothing_is_missing(program, table)?,
            (PolicyName::Pbs, Some(read)) => {
                let entities = table.entities().iter().map(|entity| entity.to_string());
                let planted = read.pbs(choice.rules, entities)?;
                supply(table, &planted, |ratio| numbers.fairshare(ratio));
                tree = Some(planted);
            }
            (name, Some(read)) => {
                let shares = read.share_tree()?;
                let waiting = waiting_nodes(table, &shares);
                let assessed = Assessed::new(shares, &choice.policy(name, &waiting, read.release()));
                let unknown = supply(table, &assessed, |ratio| numbers.fairshare(ratio));
                for entity in unknown.iter().take(MOST_REMARKS) {
                    let why = why_not(assessed.tree(), entity);
                    remark("warning", format_args!("{why}; the jobs of `{entity}` get 0"));
                }
                if let Some(more) = unknown.len().checked_sub(MOST_REMARKS).filter(|&more| more > 0) {
                    remark("warning", format_args!("and {more} more entities, whose jobs get 0"));
                }
            }
        }
        Ok(tree)
    }

    /// Without a tree every job must carry the numbers that the formula needs.
    fn nothing_is_missing(&self, program: &Program, table: &JobTable) -> Result<(), CliError> {
        match first_without_shares(table, program.inputs()) {
            Some((job, name)) => Err(CliError::usage(format!(
                "the formula needs `{name}`, but nothing says what it is for job `{job}`: give --sched-priv DIR or \
                 --tree FILE"
            ))),
            None => Ok(()),
        }
    }

    /// Scores the jobs and puts them into the scheduler's order, of which the first `most` are given.
    pub(super) fn rank(
        &self,
        program: &Program,
        table: &JobTable,
        tree: Option<&PbsTree>,
        threshold: Option<f64>,
        most: usize,
    ) -> Ordered {
        let scores = score(program, table, self.keep(), self.on_error());
        if self.keep() == Keep::Decimal {
            return Ordered { ranking: Ranking::of_scores(scores, table), passed_over: Vec::new() };
        }
        let mut order = Order::new(&self.config, &self.queues).most(most);
        if let Some(tree) = tree {
            order = order.tree(tree);
        }
        if let Some(threshold) = threshold {
            order = order.threshold(threshold);
        }
        order.rank(scores, table)
    }

    fn numbers(&self) -> Numbers {
        match self.arguments.numbers {
            NumbersName::Openpbs => Numbers::OpenPbs,
            NumbersName::Exact => Numbers::Exact,
            NumbersName::Decimal => Numbers::Decimal,
        }
    }

    pub(super) fn keep(&self) -> Keep {
        match self.arguments.numbers {
            NumbersName::Openpbs => Keep::Float32,
            NumbersName::Exact => Keep::Double,
            NumbersName::Decimal => Keep::Decimal,
        }
    }

    fn on_error(&self) -> OnError {
        match self.arguments.on_error {
            OnErrorName::Zero => OnError::ZeroLikePbs,
            OnErrorName::Fail => OnError::Fail,
            OnErrorName::Null => OnError::Null,
        }
    }
}

/// Says what is wrong with the jobs, the first of it in full.
fn remark_on(problems: &Problems, source_name: &str) {
    for problem in problems.listed().iter().take(MOST_REMARKS) {
        remark("warning", format_args!("`{source_name}`: {problem}"));
    }
    if problems.total() > MOST_REMARKS {
        let more = problems.total() - MOST_REMARKS;
        remark("warning", format_args!("`{source_name}`: and {more} more"));
    }
}

/// Without a sched_config nothing but the formula orders the jobs.
fn formula_alone() -> SchedConfig {
    SchedConfig { by_queue: ByTime::always(false), preemptive_sched: ByTime::always(false), ..SchedConfig::default() }
}

/// The file of that name: given by itself, or in the scheduler's folder if it is there.
pub(super) fn in_sched_priv(own: Option<&PathBuf>, arguments: &SiteArgs, name: &str) -> Option<PathBuf> {
    own.cloned().or_else(|| {
        let path = arguments.sched_priv.as_ref()?.join(name);
        path.exists().then_some(path)
    })
}

pub(super) fn name_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}
