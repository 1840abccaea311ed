//! Ranks a site's jobs by a formula, and checks a formula against them.

use std::collections::HashMap;
use std::mem;

use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::fairshare::{AssessedTree, ShareTree};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::program::Program;
use job_sort_formula::jobs::{Exclusion, JobTable, Problems};
use job_sort_formula::rank::{OnError, Ranking, Score, ScorePrecision, fill_fairshare, missing_fairshare_input, score};
use job_sort_formula::schema::{FairshareInput, Origin, Schema};
use jsf_ingest::ReadOptions;
use jsf_json::clipped;
use jsf_openpbs::check::{Checked, ScoredQueue, SiteFacts};
use jsf_openpbs::entity::FairshareEntity;
use jsf_openpbs::files::sched_config::SortKey;
use jsf_openpbs::order::{Criterion, NotConsidered, Order, Ordered};
use jsf_openpbs::resource_amount::NumberMode;
use jsf_openpbs::share_tree::PbsTree;
use jsf_openpbs::submission::FormulaSubmission;

use super::role::Role;
use super::source::FileSource;
use super::tree::{explain_unresolved, find_node, pending_nodes};
use super::{PolicyName, SharesRequest, Site, SiteError};

/// The most warnings of one kind that are shown; the others are counted.
const MAX_WARNINGS: usize = 10;

/// The jobs of a site, with the columns that one formula needs.
#[derive(Debug)]
pub struct SiteJobs {
    /// The jobs, with a column for every name of the formula.
    pub table: JobTable,
    /// The names that a formula may use: the site's, and those that only its jobs contain.
    pub schema: Schema,
    /// The problems of single jobs, one sentence each.
    pub warnings: Vec<String>,
}

/// The jobs of a site, ranked by a formula.
#[derive(Debug)]
pub struct RankedQueue {
    /// The jobs.
    pub table: JobTable,
    /// Their scores, and the rows that the scheduler considers, best first.
    pub ranking: Ranking,
    /// The waiting rows that the scheduler does not consider, and why.
    pub not_considered: Vec<(usize, NotConsidered)>,
    /// The formula, compiled for this site.
    pub program: Program,
    /// OpenPBS's fair-share tree, where the formula or the order needs it.
    pub tree: Option<PbsTree>,
    /// The warnings about the inputs of the formula, one sentence each.
    pub warnings: Vec<String>,
}

/// What is read of the jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnsRequest<'a> {
    /// The names, each of which gets a column.
    pub names: &'a [&'a str],
    /// The types of the names.
    pub schema: &'a Schema,
    /// What names the entity of a job.
    pub entity: FairshareEntity,
    /// Whether the jobs may be read once more.
    pub again: bool,
    /// Whether to record where the inputs come from.
    pub record_origins: bool,
}

/// A fair-share tree under the policy in force.
#[derive(Debug)]
pub(super) enum AppliedTree {
    /// OpenPBS's.
    Pbs(PbsTree),
    /// A tree under a policy of Slurm, or flux-accounting's.
    Slurm(AssessedTree),
}

impl AppliedTree {
    /// The tree with its numbers.
    pub(super) fn assessed(&self) -> &AssessedTree {
        match self {
            Self::Pbs(tree) => tree.assessed(),
            Self::Slurm(assessed) => assessed,
        }
    }

    /// OpenPBS's tree.
    pub(super) fn pbs(&self) -> Option<&PbsTree> {
        match self {
            Self::Pbs(tree) => Some(tree),
            Self::Slurm(_) => None,
        }
    }
}

impl Site {
    /// Reads the jobs, with a column for every name in the formula and for every key that orders the queue.
    ///
    /// # Errors
    /// The site has no job document, or it cannot be read. A problem of a single job is a warning.
    pub fn jobs(&self, formula: &Formula) -> Result<SiteJobs, SiteError> {
        self.read_jobs(formula, false)
    }

    /// Reads the jobs, with a column for each of these names and for every key that orders the queue.
    ///
    /// # Errors
    /// As for [`jobs`](Self::jobs).
    pub fn jobs_with_inputs(&self, names: &[&str]) -> Result<SiteJobs, SiteError> {
        self.read_columns(&self.request(names))
    }

    /// Ranks the queue by a formula, as the scheduler does.
    ///
    /// # Errors
    /// The jobs or the tree cannot be read, the formula is not arithmetic, or a job fails under [`OnError::Fail`].
    pub fn rank(&self, formula: &Formula) -> Result<RankedQueue, SiteError> {
        let jobs = self.jobs(formula)?;
        let program = formula.compile(&jobs.schema).map_err(|_| SiteError::NotArithmetic)?;
        let mut warnings = jobs.warnings;
        let mut ranked = self.rank_jobs(program, jobs.table, usize::MAX)?;
        warnings.append(&mut ranked.warnings);
        ranked.warnings = warnings;
        match ranked.ranking.failure() {
            Some((row, error)) => Err(SiteError::JobFailed {
                job: ranked.table.id(row).to_owned(),
                error: error.to_string(),
                count: ranked.ranking.error_count(),
            }),
            None => Ok(ranked),
        }
    }

    /// Ranks jobs that were read by [`jobs`](Self::jobs); only the first `limit` ranks are determined.
    ///
    /// # Errors
    /// The tree cannot be read, or neither it nor the jobs have the fair-share numbers that the formula needs.
    pub fn rank_jobs(&self, program: Program, table: JobTable, limit: usize) -> Result<RankedQueue, SiteError> {
        self.rank_assuming(program, table, limit, &SharesRequest::default())
    }

    /// The same with the usage that a request assumes.
    pub(super) fn rank_assuming(
        &self,
        program: Program,
        mut table: JobTable,
        limit: usize,
        assumed: &SharesRequest,
    ) -> Result<RankedQueue, SiteError> {
        let mut warnings = Vec::new();
        let tree = self.fill_shares(program.inputs(), &mut table, assumed, &mut warnings)?;
        let Ordered { ranking, not_considered } = self.order(&program, &table, tree.as_ref(), self.threshold(), limit);
        Ok(RankedQueue { table, ranking, not_considered, program, tree, warnings })
    }

    /// The rules that a ranking follows, for people: a heading and a text each.
    pub fn rules_of(&self, ranked: &RankedQueue) -> Vec<(&'static str, String)> {
        self.rules(&ranked.program, &ranked.table, ranked.tree.as_ref())
    }

    pub(super) fn rules(
        &self,
        program: &Program,
        table: &JobTable,
        tree: Option<&PbsTree>,
    ) -> Vec<(&'static str, String)> {
        let mut rules = Vec::new();
        if self.needs_shares(program.inputs()) && self.tree.is_some() {
            rules.push(("policy:", self.policy.in_force(&self.config)));
        }
        let criteria: Vec<String> = self.criteria(table, tree).into_iter().map(|(_, words)| words).collect();
        rules.push(("order:", criteria.join(", then ")));
        if let Some(threshold) = self.threshold() {
            rules.push(("threshold:", threshold.to_string()));
        }
        rules
    }

    /// The criteria by which the jobs are ordered, the first one first, with words for each.
    pub(super) fn criteria(&self, table: &JobTable, tree: Option<&PbsTree>) -> Vec<(Criterion, String)> {
        match self.precision() {
            ScorePrecision::Decimal => vec![
                (Criterion::Value, "value of the formula, in decimals".to_owned()),
                (Criterion::Submission, "order of submission".to_owned()),
            ],
            _ => {
                let order = self.order_rules(tree, None);
                let mut criteria = order.criteria();
                criteria.retain(|(criterion, _)| match criterion {
                    Criterion::SortKey(number) => self.is_known_key(&order.job_sort_keys()[number - 1], table),
                    _ => true,
                });
                criteria
            }
        }
    }

    /// Whether the scheduler sorts by a `job_sort_key`: by a resource, or by one of its special names.
    fn is_known_key(&self, key: &SortKey, table: &JobTable) -> bool {
        let is_resource = |name: &str| self.schema.entry(name).is_some_and(|entry| entry.origin != Origin::Special);
        key.is_special() || is_resource(&key.name) || table.undeclared().any(|(name, _)| name == key.name)
    }

    /// A warning for each `job_sort_key` by which nothing is sorted.
    fn unknown_sort_keys(&self, table: &JobTable) -> Vec<String> {
        let order = Order::new(&self.config, &self.queues);
        let unknown = order.job_sort_keys().iter().filter(|key| !self.is_known_key(key, table));
        let warning = |key: &SortKey| {
            let name = clipped(&key.name);
            let reason = match self.schema.entry(&key.name) {
                Some(_) => format!("`{name}` is for formulas and is not a resource"),
                None => format!("no document declares a resource `{name}`, and no job has it"),
            };
            format!(
                "`job_sort_key` `{name}` decides nothing: {reason}; for a name that is not a resource the scheduler takes 0 for \
                 every job, without a message"
            )
        };
        unknown.map(warning).collect()
    }

    /// The fair-share tree with the entities of these jobs, to look up which group an entity belongs to; `None` if the
    /// site has no tree.
    ///
    /// # Errors
    /// The tree cannot be built.
    pub fn tree_of_jobs(&self, table: &JobTable) -> Result<Option<ShareTree>, SiteError> {
        let entities = || table.entities().iter().map(|entity| &**entity);
        match (&self.tree, self.policy.name) {
            (None, _) => Ok(None),
            (Some(tree), PolicyName::Pbs) => Ok(Some(tree.pbs_tree(self.policy.rules, entities())?.into_tree())),
            (Some(tree), _) => tree.share_tree().map(Some),
        }
    }

    /// Whether a document of the site describes a queue of this name.
    pub fn has_queue(&self, name: &str) -> bool {
        self.queues.contains(name)
    }

    /// `job_sort_formula_threshold`: the one given, else the server's.
    pub(super) fn threshold(&self) -> Option<f64> {
        self.rules.threshold.or(self.server.job_sort_formula_threshold)
    }

    /// Checks a formula: the server's answer, and the result for every job of the queue, if there is one. Without the
    /// fair-share tree that the formula needs, or without jobs, a finding says that it was tried on none.
    ///
    /// # Errors
    /// The jobs or the tree cannot be read.
    pub fn check(&self, submitted: &FormulaSubmission<'_>) -> Result<Checked, SiteError> {
        let (mut ranked, mut schema, mut warnings, mut guessed_types) = (None, None, Vec::new(), Vec::new());
        let mut untried = None;
        let threshold = self.threshold();
        if let Ok(formula) = submitted.formula()
            && self.files.has(Role::Queue)
        {
            let mut jobs = self.read_jobs(formula, true)?;
            warnings = mem::take(&mut jobs.warnings);
            if jobs.table.is_empty() {
                untried = Some(format!("`{}` has no job", self.queue_name()));
            }
            guessed_types = self.guessed_types(formula, &jobs.table, &jobs.schema);
            let warning = |name: &String| {
                format!(
                    "`{name}` is declared by no document: it is taken for a number because the jobs' amounts are numbers; \
                     qmgr refuses the formula if it is a string, so declare its type, or give the output of \
                     `qmgr -c 'print resource'`"
                )
            };
            warnings.extend(guessed_types.iter().map(warning));
            if let Ok(program) = formula.compile(&jobs.schema) {
                let assumed = SharesRequest::default();
                match require_own_shares(program.inputs(), &jobs.table) {
                    Err(missing) if self.tree.is_none() => untried = Some(missing.to_string()),
                    _ => {
                        let tree = self.fill_shares(program.inputs(), &mut jobs.table, &assumed, &mut warnings)?;
                        let ordered = self.order(&program, &jobs.table, tree.as_ref(), threshold, usize::MAX);
                        ranked = Some((jobs.table, ordered, tree));
                    }
                }
            }
            schema = Some(jobs.schema);
        }
        let queue =
            ranked.as_ref().map(|(table, ordered, _)| ScoredQueue { table, ordered, precision: self.precision() });
        let tree = ranked.as_ref().and_then(|(_, _, tree)| tree.as_ref());
        let mut checked = self.checked(submitted, schema.as_ref().unwrap_or(&self.schema), queue, tree);
        checked.warnings = warnings;
        checked.guessed_types = guessed_types;
        if let (Some(reason), Ok(formula)) = (untried, submitted.formula()) {
            let (expr, message) = (formula.expr(), format!("the formula was tried on no job: {reason}"));
            let found = Diagnostic::warning("JSF617", message, expr.node(expr.root()).span);
            checked.findings.push(submitted.in_source(found));
        }
        Ok(checked)
    }

    /// Checks a formula against jobs that it has ranked, if there are any.
    pub(super) fn checked(
        &self,
        submitted: &FormulaSubmission<'_>,
        schema: &Schema,
        queue: Option<ScoredQueue<'_>>,
        tree: Option<&PbsTree>,
    ) -> Checked {
        let (config, server, threshold) = (Some(&self.config), self.server, self.threshold());
        let defaulted = self.queues.defaulted_resources();
        let has_tree_of_slurm = self.tree.as_ref().is_some_and(|tree| tree.slurm_origin().is_some());
        let defaulted = &defaulted;
        let facts = SiteFacts { queue, tree, config, server, threshold, defaulted, has_tree_of_slurm };
        Checked::new(submitted, schema, &facts)
    }

    /// The names of a formula that no document declares and that are numbers by the amounts of the jobs only: a string can
    /// have such amounts too.
    pub(super) fn guessed_types(&self, formula: &Formula, table: &JobTable, schema: &Schema) -> Vec<String> {
        let names = formula.names();
        let guessed = table.undeclared().map(|(name, _)| name);
        let is_guess =
            |name: &&str| names.contains(name) && self.schema.entry(name).is_none() && schema.is_numeric(name);
        guessed.filter(is_guess).map(str::to_owned).collect()
    }

    pub(super) fn queue_name(&self) -> String {
        self.files.first(Role::Queue).map(FileSource::name).unwrap_or_default()
    }

    /// The findings about the text of a formula and its names, without evaluating it.
    pub fn lint(&self, formula: &Formula, jobs: &SiteJobs) -> Vec<Diagnostic> {
        job_sort_formula::formula::lint::lint(formula.expr(), &jobs.schema)
    }

    /// The precision in which values are kept and compared.
    pub fn precision(&self) -> ScorePrecision {
        match self.rules.numbers {
            NumberMode::OpenPbs => ScorePrecision::Float32,
            NumberMode::Exact => ScorePrecision::Double,
            NumberMode::Decimal => ScorePrecision::Decimal,
        }
    }

    pub(super) fn read_jobs(&self, formula: &Formula, again: bool) -> Result<SiteJobs, SiteError> {
        self.read_columns(&ColumnsRequest { again, ..self.request(&formula.names()) })
    }

    /// A request for a column for each of these names, as the site declares them.
    pub(super) fn request<'a>(&'a self, names: &'a [&'a str]) -> ColumnsRequest<'a> {
        let (schema, entity) = (&self.schema, self.config.fairshare_entity);
        ColumnsRequest { names, schema, entity, again: false, record_origins: false }
    }

    /// Reads the jobs with the columns of a request, and a column for every key that orders the queue.
    pub(super) fn read_columns(&self, request: &ColumnsRequest<'_>) -> Result<SiteJobs, SiteError> {
        let &ColumnsRequest { names, schema, entity, again, record_origins } = request;
        let Some(source) = self.files.first(Role::Queue) else {
            let message = "no jobs: give a queue, as `qstat -f` prints it (JSON, dsv or text), native JSON or NDJSON";
            return Err(SiteError::Missing(message.into()));
        };
        let source_name = source.name();
        let mut needed = names.to_vec();
        needed.extend(self.order_columns());
        let options = ReadOptions {
            source_name: &source_name,
            needed: &needed,
            schema,
            numbers: self.rules.numbers,
            entity,
            queue_priorities: &self.queues.priorities(),
            strict: self.rules.strict,
            record_origins,
        };
        let mut read = self.jobs.read(source, &options, again)?;
        if read.table.is_empty()
            && let Some(first) = read.problems.listed().iter().find(|one| one.problem.skips_the_job())
        {
            let skipped = read.problems.skipped();
            return Err(SiteError::content(format!(
                "`{source_name}`: none of its {skipped} jobs can be read: {first}"
            )));
        }
        let mut schema = schema.clone();
        for (name, kind) in read.table.undeclared() {
            schema.add_seen(name, kind);
        }
        let mut warnings: Vec<String> = read.notes.iter().map(|note| format!("`{source_name}`: {note}")).collect();
        warnings.extend(job_warnings(&read.problems, &source_name));
        warnings.extend(self.exclude_other_partitions(&mut read.table));
        warnings.extend(self.unknown_sort_keys(&read.table));
        warnings.extend(invalid_jobs(&read.table, &source_name));
        if names.contains(&"queue_priority") {
            warnings.extend(self.unknown_queue_priority(&read.table));
        }
        if names.contains(&"eligible_time") {
            warnings.extend(missing_eligible_time(&read.table, &source_name));
        }
        Ok(SiteJobs { table: read.table, schema, warnings })
    }

    /// Excludes the jobs of other schedulers, and says how many there are.
    fn exclude_other_partitions(&self, table: &mut JobTable) -> Option<String> {
        let of_queue = |queue: &str| self.queues.partition(queue).map(str::to_owned);
        let partitions: Vec<Option<String>> = table.queues().iter().map(|queue| of_queue(queue)).collect();
        let others = (0..table.len()).filter(|&row| partitions[table.queue_index(row)] != self.partition);
        let others: Vec<usize> = others.collect();
        let first = others.first().map(|&row| table.queue(row).to_owned())?;
        for &row in &others {
            let partition = partitions[table.queue_index(row)].clone();
            table.exclude(row, Exclusion::Partition { partition });
        }
        let (jobs, are) = match others.len() {
            1 => ("1 job belongs".to_owned(), "is"),
            count => (format!("{count} jobs belong"), "are"),
        };
        Some(format!(
            "{jobs} to another scheduler, because of the partition of the queue (first `{first}`), and {are} not ranked"
        ))
    }

    /// The columns for the keys that order the queue.
    pub(super) fn order_columns(&self) -> Vec<&str> {
        Order::new(&self.config, &self.queues).columns()
    }

    /// A warning if no job has a `queue_priority` because no document of the queues was given.
    fn unknown_queue_priority(&self, table: &JobTable) -> Option<String> {
        let column = table.column("queue_priority")?;
        let is_unknown = self.queues.is_empty()
            && (0..table.len()).any(|row| !table.queue(row).is_empty())
            && (0..table.len()).all(|row| column.nearest_double(row) == 0.0);
        let message = "`queue_priority` is 0 for every job, because no document lists the queues: give the output \
                       of `qstat -Qf`";
        is_unknown.then(|| message.to_owned())
    }

    /// Whether a formula with these inputs, or the order of the jobs, depends on fair share.
    pub(super) fn needs_shares(&self, inputs: &[Box<str>]) -> bool {
        let is_key = |key: &SortKey| key.name == "fair_share_perc";
        self.config.fair_share.prime
            || self.config.job_sort_key.prime.iter().any(is_key)
            || inputs.iter().any(|input| FairshareInput::from_name(input).is_some())
    }

    /// Fills in the fair-share numbers of the jobs, if they are needed. Returns OpenPBS's tree if the numbers come from it.
    fn fill_shares(
        &self,
        inputs: &[Box<str>],
        table: &mut JobTable,
        assumed: &SharesRequest,
        warnings: &mut Vec<String>,
    ) -> Result<Option<PbsTree>, SiteError> {
        if !self.needs_shares(inputs) {
            return Ok(None);
        }
        match self.applied_tree(table, assumed)? {
            None => require_own_shares(inputs, table).map(|()| None),
            Some(tree) => {
                self.fill_from(&tree, table, warnings);
                Ok(match tree {
                    AppliedTree::Pbs(tree) => Some(tree),
                    AppliedTree::Slurm(_) => None,
                })
            }
        }
    }

    /// The fair-share tree, with the entities of these jobs, under the policy in force; `None` if the site has none.
    pub(super) fn applied_tree(
        &self,
        table: &JobTable,
        assumed: &SharesRequest,
    ) -> Result<Option<AppliedTree>, SiteError> {
        let Some(tree) = &self.tree else { return Ok(None) };
        Ok(Some(match self.policy.name {
            PolicyName::Pbs => {
                let entities = table.entities().iter().map(|entity| &**entity);
                let mut tree = tree.pbs_tree(self.policy.rules, entities)?;
                if assumed.assumes_usage() {
                    let mut changed = tree.tree().clone();
                    self.assume_usage(&mut changed, PolicyName::Pbs, assumed)?;
                    tree = tree.with_usage_of(changed, &*self.policy.build_policy(PolicyName::Pbs, &[]));
                }
                AppliedTree::Pbs(tree)
            }
            name => {
                let mut shares = tree.share_tree()?;
                self.assume_usage(&mut shares, name, assumed)?;
                let active = match assumed.active.as_slice() {
                    [] => pending_nodes(table, &shares),
                    given => given.iter().map(|name| find_node(&shares, name)).collect::<Result<_, _>>()?,
                };
                AppliedTree::Slurm(AssessedTree::new(shares, &self.policy.build_policy(name, &active)))
            }
        }))
    }

    /// Fills in the fair-share numbers of a tree.
    pub(super) fn fill_from(&self, tree: &AppliedTree, table: &mut JobTable, warnings: &mut Vec<String>) {
        let numbers = self.rules.numbers;
        warnings.extend(jobs_without_entity(table, self.config.fairshare_entity));
        match tree {
            AppliedTree::Pbs(tree) => {
                warnings.extend(unknown_entities(table, tree));
                fill_fairshare(table, tree, |ratio| numbers.fairshare(ratio));
            }
            AppliedTree::Slurm(assessed) => {
                let unknown = fill_fairshare(table, assessed, |ratio| numbers.fairshare(ratio));
                let all = unknown.iter().map(|entity| {
                    format!("{}; the jobs of `{entity}` get 0", explain_unresolved(assessed.tree(), entity))
                });
                extend_limited(warnings, all, "more entities, whose jobs get 0");
            }
        }
    }

    /// The rules by which the scheduler orders the jobs.
    pub(super) fn order_rules<'a>(&'a self, tree: Option<&'a PbsTree>, threshold: Option<f64>) -> Order<'a> {
        let mut order = Order::new(&self.config, &self.queues);
        if let Some(tree) = tree {
            order = order.tree(tree);
        }
        if let Some(threshold) = threshold {
            order = order.threshold(threshold);
        }
        order
    }

    /// Scores the jobs and sorts them in the scheduler's order.
    pub(super) fn order(
        &self,
        program: &Program,
        table: &JobTable,
        tree: Option<&PbsTree>,
        threshold: Option<f64>,
        limit: usize,
    ) -> Ordered {
        let scores = score(program, table, self.precision(), self.rules.on_error);
        if self.precision() == ScorePrecision::Decimal {
            return self.order_decimals(Ranking::from_scores(scores, table), threshold);
        }
        self.order_rules(tree, threshold).limit(limit).rank(scores, table)
    }
}

impl Site {
    /// Applies the threshold to a ranking in decimals. It does not apply to a job whose error is ranked below every value.
    fn order_decimals(&self, mut ranking: Ranking, threshold: Option<f64>) -> Ordered {
        let is_last = |score: &Score<'_>| score.unrounded.is_err() && self.rules.on_error == OnError::Null;
        let under = |row: usize| {
            let threshold = threshold?;
            let score = ranking.score(row).filter(|score| score.value <= threshold && !is_last(score))?;
            Some((row, NotConsidered::UnderThreshold { value: score.value, threshold }))
        };
        let mut considered = ranking.order().to_vec();
        considered.sort_unstable();
        let not_considered: Vec<(usize, NotConsidered)> = considered.into_iter().filter_map(under).collect();
        ranking.retain(|row| not_considered.binary_search_by_key(&row, |(under, _)| *under).is_err());
        Ordered { ranking, not_considered }
    }
}

/// Without a tree, every job must contain the fair-share numbers that the formula needs.
pub(super) fn require_own_shares(inputs: &[Box<str>], table: &JobTable) -> Result<(), SiteError> {
    match missing_fairshare_input(table, inputs) {
        Some((job, name)) => Err(SiteError::Missing(format!(
            "the formula needs `{name}`, which job `{job}` does not have: give the scheduler's `sched_priv` or a tree"
        ))),
        None => Ok(()),
    }
}

/// The first problems of each kind, how many more there are, and how many jobs are skipped.
fn job_warnings(problems: &Problems, source_name: &str) -> Vec<String> {
    let mut counts = HashMap::new();
    let mut warnings = Vec::new();
    for found in problems.listed() {
        let count = counts.entry(mem::discriminant(&found.problem)).or_insert(0_usize);
        *count += 1;
        if *count <= MAX_WARNINGS {
            warnings.push(format!("`{source_name}`: {found}"));
        }
    }
    if problems.total() > warnings.len() {
        warnings
            .push(format!("`{source_name}`: and {} more problems of these kinds", problems.total() - warnings.len()));
    }
    if problems.skipped() > 0 {
        let skipped = problems.skipped();
        let jobs = if skipped == 1 { "job is" } else { "jobs are" };
        warnings.push(format!("`{source_name}`: {skipped} {jobs} skipped"));
    }
    warnings
}

/// Says which jobs the scheduler ignores because it cannot read an amount of theirs.
fn invalid_jobs(table: &JobTable, source_name: &str) -> Vec<String> {
    let warning = |row: u32| {
        let exclusion = table.exclusion(row as usize)?;
        let is_invalid = matches!(exclusion, Exclusion::Invalid { .. });
        is_invalid.then(|| format!("`{source_name}`: job `{}`: {exclusion}", table.id(row as usize)))
    };
    let all: Vec<String> = table.excluded_rows().filter_map(warning).collect();
    let mut warnings = Vec::new();
    extend_limited(&mut warnings, all.into_iter(), "more jobs that the scheduler ignores as invalid");
    warnings
}

/// Says how many of the jobs that wait lack the `eligible_time` that the formula reads.
fn missing_eligible_time(table: &JobTable, source_name: &str) -> Option<String> {
    let column = table.column("eligible_time")?;
    let waiting = || (0..table.len()).filter(|&row| table.is_considered(row));
    let (count, missing) = (waiting().count(), waiting().filter(|&row| !column.is_set(row)).count());
    match missing {
        0 => None,
        _ if missing == count => Some(format!(
            "`{source_name}`: no job that waits has `eligible_time`, so it is 0 for each of them: the server records it only \
             with `eligible_time_enable = True`"
        )),
        _ => Some(format!(
            "`{source_name}`: {missing} of {count} jobs that wait have no `eligible_time`: it is 0 for them"
        )),
    }
}

/// Says how many jobs lack what `fairshare_entity` asks for.
pub(super) fn jobs_without_entity(table: &JobTable, entity: FairshareEntity) -> Option<String> {
    let lacks_entity = |&row: &usize| {
        let name = table.entity(row);
        name.is_empty() || (entity == FairshareEntity::GroupUser && name.starts_with(':'))
    };
    let count = (0..table.len()).filter(lacks_entity).count();
    (count > 0).then(|| {
        format!(
            "`{entity}`, the fair-share entity (`fairshare_entity` in `sched_config`), is missing in {count} of {} jobs, \
             which count as unknown entities",
            table.len()
        )
    })
}

/// Says that the tree has a line for no entity of the queue.
fn unknown_entities(table: &JobTable, tree: &PbsTree) -> Option<String> {
    let named = || table.entities().iter().filter(|entity| !entity.is_empty());
    let is_unknown = |entity: &str| {
        let node = tree.tree().find(entity);
        node.is_none_or(|node| tree.tree().parent(node) == Some(tree.unknown()))
    };
    let first = named().next()?;
    named().all(|entity| is_unknown(entity)).then(|| {
        format!(
            "the tree has no entity of the queue (number of entities: {}, the first is `{first}`); all of them are in the group \
             `unknown` (is `fairshare_entity` right, and is the `resource_group` of this site?)",
            named().count()
        )
    })
}

/// Appends the first warnings of one kind, and how many more there are.
fn extend_limited(warnings: &mut Vec<String>, mut all: impl ExactSizeIterator<Item = String>, more: &str) {
    warnings.extend(all.by_ref().take(MAX_WARNINGS));
    if all.len() > 0 {
        warnings.push(format!("and {} {more}", all.len()));
    }
}
