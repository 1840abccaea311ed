//! The jobs of a site in the scheduler's order, why each has its place, and when or by what it has
//! another one.
//!
//! In: one formula, two, or one after another. Out: the jobs with what the formula needs, and their
//! ranking; its comparison with another one, be it under another tree, policy, settings or threshold,
//! or with other usage; the reasons for places, and places over time. For formulas that follow one
//! another, such as while a number in one is moved, the jobs are read again only if one needs an input
//! that none before it needed.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::diagnostic::Message;
use job_sort_formula::fairshare::AssessedTree;
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::program::Program;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{
    ComparedRanking, Comparison, OldNew, Ranking, SIZES, ScorePrecision, SummandAgreement, score,
    summand_agreements,
};
use job_sort_formula::schema::{FairshareInput, Origin, Schema};
use jsf_openpbs::amounts::{NumberMode, server_float};
use jsf_openpbs::check::Checked;
use jsf_openpbs::files::sched_priv::SortKey;
use jsf_openpbs::order::{Criterion, NO_THRESHOLD, NotConsidered, Order, Ordered};
use jsf_openpbs::pbs_tree::PbsTree;
use serde::Serializer;

use crate::formulas::submitted;
use crate::printed_priorities::Agreement;
use crate::site_jobs::ColumnsRequest;
use crate::site_tree::AppliedTree;
use crate::slurm_queue::AgingFormula;
use crate::{PolicyName, SharesRequest, Site, SiteError, SiteJobs};

pub use explanation::{
    Against, Cause, ExplainOptions, ExplainedInput, Explanation, Explanations, Influence,
    Neighbour, OtherValues, RankReached, TermDifference,
};
pub use race::{
    JobTrajectory, Means, Overtaking, Reached, SmallestChange, SmallestChanges, Trajectory,
    TrajectoryPoint, Wait,
};

mod explanation;
mod race;
mod sweep;

/// A formula by which the jobs of a site are ranked, with the options of the ranking.
pub struct RankRequest<'a> {
    /// The formula.
    pub formula: &'a Formula,
    /// Whether it is recorded where the inputs of the jobs come from, which [`Site::explain`]
    /// shows.
    pub record_origins: bool,
    /// Further formulas whose inputs are read, such as [`Site::sprio_columns`].
    pub further: &'a [(String, Formula)],
    /// Whether the fair-share tree is applied though neither the formula nor the order needs it.
    pub applies_tree: bool,
}

impl<'a> From<&'a Formula> for RankRequest<'a> {
    fn from(formula: &'a Formula) -> Self {
        Self {
            formula,
            record_origins: false,
            further: &[],
            applies_tree: false,
        }
    }
}

/// The jobs of a site with the columns that a formula needs, and the formula compiled for them.
#[derive(Debug, Clone)]
pub struct JobsToRank {
    /// The jobs.
    pub jobs: SiteJobs,
    /// The formula, compiled for the names of the jobs; `None` if it is not arithmetic.
    pub program: Option<Program>,
    /// Whether the fair-share tree is applied though neither the formula nor the order needs it: a
    /// comparison shows how fair its rankings are.
    applies_tree: bool,
    /// Whether the formula is Slurm's priority at this site.
    is_slurm_priority: bool,
}

impl JobsToRank {
    /// Jobs to be ranked by a formula.
    pub(crate) fn new(formula: &Formula, jobs: SiteJobs, applies_tree: bool) -> Self {
        Self {
            program: formula.compile(&jobs.schema).ok(),
            applies_tree,
            is_slurm_priority: false,
            jobs,
        }
    }
}

/// A rule that a ranking follows, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it is about, in a word or two.
    pub heading: &'static str,
    /// What it says.
    pub text: String,
    /// Whether it belongs beside the answer, as a policy does that is not OpenPBS's.
    pub is_notable: bool,
}

impl Rule {
    /// A rule that is looked up rather than read.
    pub fn new(heading: &'static str, text: impl Into<String>) -> Self {
        Self {
            heading,
            text: text.into(),
            is_notable: false,
        }
    }

    /// The rule beside the answer, if this holds.
    pub(crate) fn notable_if(self, is_notable: bool) -> Self {
        Self { is_notable, ..self }
    }
}

/// Writes rules as an object, each text under its heading.
pub fn by_heading<S: Serializer>(rules: &[Rule], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(rules.iter().map(|rule| (rule.heading, &rule.text)))
}

/// The jobs of a site, ranked by a formula.
#[derive(Debug)]
pub struct RankedQueue {
    /// The jobs.
    pub table: JobTable,
    /// The names that the formula may use: the site's, and those that only its jobs contain.
    pub schema: Schema,
    /// Their scores, and the rows that the scheduler considers, best first.
    pub ranking: Ranking,
    /// The waiting rows that the scheduler does not consider, and why.
    pub not_considered: Vec<(usize, NotConsidered)>,
    /// The formula, compiled for this site.
    pub program: Program,
    /// The fair-share tree under the policy in force, where the formula, the order or a comparison
    /// needs it.
    pub(crate) tree: Option<AppliedTree>,
    /// The rules that the ranking follows, for people: a heading and a text each.
    pub rules: Vec<Rule>,
    /// The warnings, one sentence each: those about the jobs, then those about the inputs of the
    /// formula.
    pub warnings: Vec<Message>,
    /// Whether the formula is Slurm's priority.
    pub is_slurm_priority: bool,
    /// The formula for later times, if it reads the age of Slurm's jobs.
    pub(crate) aging: Option<AgingFormula>,
    /// That the values are much different from those that Slurm printed, in one sentence.
    pub contradiction: Option<String>,
}

impl RankedQueue {
    /// OpenPBS's fair-share tree, if it is applied.
    pub fn pbs_tree(&self) -> Option<&PbsTree> {
        self.tree.as_ref()?.pbs()
    }

    /// The fair-share tree with the numbers of its nodes, if it is applied.
    pub fn assessed_tree(&self) -> Option<&AssessedTree> {
        self.tree.as_ref().map(AppliedTree::assessed)
    }

    /// What each summand of the formula decides of the order.
    pub fn decides(&self) -> Vec<SummandAgreement> {
        summand_agreements(&self.program, &self.schema, &self.table, &self.ranking)
    }

    /// Why a waiting job is not considered, if the order says so.
    pub fn reason_against(&self, row: usize) -> Option<NotConsidered> {
        let mut not_considered = self.not_considered.iter();
        let (_, reason) = not_considered.find(|(other, _)| *other == row)?;
        Some(*reason)
    }

    /// Requires a value of each job.
    ///
    /// # Errors
    /// A job fails under [`OnError::Fail`](job_sort_formula::rank::OnError::Fail).
    pub fn require_values(&self) -> Result<(), SiteError> {
        match self.ranking.failure() {
            Some((row, error)) => Err(SiteError::content(format!(
                "the formula fails for {} of the jobs, first for `{}`: {error}",
                self.ranking.error_count(),
                self.table.id(row)
            ))),
            None => Ok(()),
        }
    }
}

impl Site {
    /// Ranks the queue by a formula, as the scheduler does. The request may be the formula alone.
    ///
    /// # Errors
    /// The jobs or the tree cannot be read, the formula is not arithmetic, or a job fails under
    /// [`OnError::Fail`](job_sort_formula::rank::OnError::Fail).
    pub fn rank<'a>(&self, request: impl Into<RankRequest<'a>>) -> Result<RankedQueue, SiteError> {
        let request = request.into();
        let ranked = self.rank_read_jobs(self.read_jobs_to_rank(&request)?)?;
        ranked.require_values()?;
        Ok(ranked)
    }

    /// The first half of [`rank`](Self::rank): reads the jobs with the columns that the formula
    /// needs and compiles the formula.
    ///
    /// # Errors
    /// The jobs cannot be read.
    pub fn read_jobs_to_rank(&self, request: &RankRequest<'_>) -> Result<JobsToRank, SiteError> {
        let mut names = request.formula.names();
        for (_, formula) in request.further {
            names.extend(formula.names());
        }
        let columns = ColumnsRequest {
            record_origins: request.record_origins,
            ..self.request(&names)
        };
        let mut read = self.read_for_formula(request.formula, &columns)?;
        read.applies_tree = request.applies_tree;
        Ok(read)
    }

    /// The columns of `sprio`, the name and the formula of each, if a formula is Slurm's priority at
    /// this site.
    pub fn sprio_columns(&self, formula: &Formula) -> Vec<(String, Formula)> {
        match &self.slurm {
            Some(slurm) if slurm.is_priority(formula.expr()) => slurm.columns(),
            _ => Vec::new(),
        }
    }

    /// Reads the jobs with the columns of a request, which names those of the formula, to rank them
    /// all.
    pub(crate) fn read_for_formula(
        &self,
        formula: &Formula,
        request: &ColumnsRequest<'_>,
    ) -> Result<JobsToRank, SiteError> {
        let mut read = JobsToRank::new(formula, self.read_columns(request)?, false);
        if let Some(slurm) = &self.slurm {
            read.is_slurm_priority = slurm.is_priority(formula.expr());
        }
        Ok(read)
    }

    /// The second half of [`rank`](Self::rank): ranks the jobs, also if one fails under
    /// [`OnError::Fail`](job_sort_formula::rank::OnError::Fail).
    ///
    /// # Errors
    /// The tree cannot be read, or the formula is not arithmetic.
    pub fn rank_read_jobs(&self, read: JobsToRank) -> Result<RankedQueue, SiteError> {
        self.rank_assuming(read, &SharesRequest::default(), self.threshold())
    }

    /// Ranks jobs with the usage that a request assumes, by a threshold.
    pub(crate) fn rank_assuming(
        &self,
        read: JobsToRank,
        assumed: &SharesRequest,
        threshold: Option<f64>,
    ) -> Result<RankedQueue, SiteError> {
        let SiteJobs {
            mut table,
            schema,
            mut warnings,
            ..
        } = read.jobs;
        let program = read.program.ok_or(SiteError::NotArithmetic)?;
        let inputs = program.inputs();
        let tree = self.fill_shares(
            inputs,
            &mut table,
            assumed,
            read.applies_tree,
            &mut warnings,
        )?;
        let pbs_tree = tree.as_ref().and_then(AppliedTree::pbs);
        let Ordered {
            ranking,
            not_considered,
        } = self.score_and_order(&program, &table, pbs_tree, threshold);
        let mut rules = self.rules(&program, &table, pbs_tree);
        let mut contradiction = None;
        let mut agreement = None;
        let mut aging = None;
        if let Some(slurm) = &self.slurm {
            aging = slurm.aging_formula(&program, &schema);
            if read.is_slurm_priority && !assumed.assumes_usage() {
                agreement = slurm.agreement(&table, &ranking);
            }
        }
        match agreement {
            Some(Agreement::Contradiction { text, headline }) => {
                // it puts all that follows in doubt
                warnings.insert(0, text.into());
                contradiction = headline;
            }
            Some(Agreement::Equal(text)) => {
                rules.push(Rule::new("priorities", text).notable_if(true));
            }
            None => {}
        }
        Ok(RankedQueue {
            table,
            schema,
            ranking,
            not_considered,
            program,
            tree,
            rules,
            warnings,
            is_slurm_priority: read.is_slurm_priority,
            aging,
            contradiction,
        })
    }

    /// The version of Python as one of the rules; `None` if it is only
    /// assumed.
    pub fn python_rule(&self) -> Option<Rule> {
        self.python.source.as_ref()?;
        Some(Rule::new("python", self.python_in_words()))
    }

    fn rules(&self, program: &Program, table: &JobTable, tree: Option<&PbsTree>) -> Vec<Rule> {
        let mut rules = Vec::new();
        if self.needs_shares(program.inputs()) && self.tree.is_some() {
            let policy = Rule::new("policy", self.policy.in_words(None, &self.config));
            rules.push(policy.notable_if(self.policy.name != PolicyName::Pbs));
        }
        rules.push(Rule::new("order", self.order_in_words(table, tree, true)));
        if let Some(threshold) = self.threshold() {
            rules.push(Rule::new("threshold", threshold.to_string()));
        }
        rules.extend(self.python_rule());
        rules
    }

    /// What orders the jobs, in words.
    pub(crate) fn order_in_words(
        &self,
        table: &JobTable,
        tree: Option<&PbsTree>,
        has_formula: bool,
    ) -> String {
        let mut order = Vec::new();
        for (criterion, words) in self.criteria(table, tree) {
            if has_formula || criterion != Criterion::Value {
                order.push(words);
            }
        }
        order.join(", then ")
    }

    /// The criteria by which the jobs are ordered, the first one first, with words for each.
    pub(crate) fn criteria(
        &self,
        table: &JobTable,
        tree: Option<&PbsTree>,
    ) -> Vec<(Criterion, String)> {
        if self.precision() == ScorePrecision::Decimal {
            return vec![
                (Criterion::Value, "value of the formula, in decimals".into()),
                (Criterion::Submission, "order of submission".into()),
            ];
        }
        let order = self.order_rules(tree, None);
        let mut criteria = order.criteria();
        criteria.retain(|(criterion, _)| match criterion {
            Criterion::SortKey(number) => {
                self.is_known_key(&self.config.job_sort_key.prime[number - 1], table)
            }
            _ => true,
        });
        criteria
    }

    /// Whether the scheduler sorts by a `job_sort_key`: by a resource, or by one of its special
    /// names.
    pub(crate) fn is_known_key(&self, key: &SortKey, table: &JobTable) -> bool {
        let origin = self.schema.origin(&key.name);
        let is_resource = !matches!(origin, None | Some(Origin::Special));
        key.is_special() || is_resource || table.undeclared().any(|(name, _)| name == key.name)
    }

    /// `job_sort_formula_threshold`: the one given, else the server's.
    pub fn threshold(&self) -> Option<f64> {
        self.options
            .threshold
            .or(self.server.job_sort_formula_threshold())
    }

    /// The precision in which values are kept and compared.
    pub(crate) fn precision(&self) -> ScorePrecision {
        match self.options.numbers {
            NumberMode::OpenPbs => ScorePrecision::Float32,
            NumberMode::Exact => ScorePrecision::Double,
            NumberMode::Decimal => ScorePrecision::Decimal,
        }
    }

    /// The rules by which the scheduler orders the jobs.
    pub(crate) fn order_rules<'a>(
        &'a self,
        tree: Option<&'a PbsTree>,
        threshold: Option<f64>,
    ) -> Order<'a> {
        Order {
            config: &self.config,
            queues: &self.queues,
            tree,
            threshold: threshold.map_or(NO_THRESHOLD, server_float),
        }
    }

    /// Scores the jobs and sorts them in the scheduler's order.
    fn score_and_order(
        &self,
        program: &Program,
        table: &JobTable,
        tree: Option<&PbsTree>,
        threshold: Option<f64>,
    ) -> Ordered {
        let scores = score(program, table, self.precision(), self.options.on_error);
        if self.precision() == ScorePrecision::Decimal {
            return order_decimals(Ranking::from_scores(scores, table), threshold);
        }
        self.order_rules(tree, threshold).order(scores, table)
    }
}

/// Applies the threshold to a ranking in decimals.
fn order_decimals(mut ranking: Ranking, threshold: Option<f64>) -> Ordered {
    let mut under = BTreeMap::new();
    for &row in ranking.order() {
        if let (Some(threshold), Some(score)) = (threshold, ranking.score(row)) {
            let has_error = score.unrounded.is_err();
            if let Some(reason) = NotConsidered::by_threshold(score.value, threshold, has_error) {
                under.insert(row, reason);
            }
        }
    }
    ranking.retain(|row| !under.contains_key(&row));
    Ordered {
        ranking,
        not_considered: under.into_iter().collect(),
    }
}

/// The jobs of a site under two rankings.
#[derive(Debug)]
pub struct ComparedQueue {
    /// Either ranking, with the same jobs in the same rows.
    pub sides: OldNew<RankedQueue>,
    /// What changes.
    pub comparison: Comparison,
    /// The warnings, one sentence each: those about the jobs, then those about the inputs of the
    /// formulas.
    pub warnings: Vec<Message>,
}

impl Site {
    /// Compares the ranking of this site's jobs by one formula with the ranking of the same jobs by
    /// another formula, under the tree, the policy, the settings and the threshold of another
    /// site, or of this one. The jobs and their inputs are read as this site describes them.
    ///
    /// ```
    /// use job_sort_formula::Formula;
    /// use job_sort_formula::rank::OldNew;
    /// use jsf_site::Site;
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let site = Site::open("examples/site")?;
    /// let old = Formula::parse("ncpus")?;
    /// let new = Formula::parse("-ncpus")?;
    /// let compared = site.compare(OldNew::new(&old, &new), &site)?;
    /// assert_eq!((compared.comparison.jobs, compared.comparison.tau_b), (33, Some(-1.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`rank`](Self::rank); or the new site's entity gives it other jobs.
    pub fn compare(
        &self,
        formulas: OldNew<&Formula>,
        new: &Self,
    ) -> Result<ComparedQueue, SiteError> {
        let compared = self.compare_read_jobs(self.read_for_comparison(formulas, new)?, new)?;
        compared.sides.old.require_values()?;
        compared.sides.new.require_values()?;
        Ok(compared)
    }

    /// The second half of [`compare`](Self::compare): ranks the jobs twice, also if one fails under
    /// [`OnError::Fail`](job_sort_formula::rank::OnError::Fail).
    ///
    /// # Errors
    /// A formula is not arithmetic, or the tree cannot be read.
    pub fn compare_read_jobs(
        &self,
        jobs: OldNew<JobsToRank>,
        new: &Self,
    ) -> Result<ComparedQueue, SiteError> {
        Ok(ComparedQueue::new(
            self.rank_read_jobs(jobs.old)?,
            new.rank_read_jobs(jobs.new)?,
        ))
    }

    /// The first half of [`compare`](Self::compare): reads the jobs with the columns that both
    /// formulas need, and finds what is to be said of their texts.
    ///
    /// # Errors
    /// The jobs cannot be read, or the new site's entity gives it other jobs.
    pub fn read_for_comparison(
        &self,
        formulas: OldNew<&Formula>,
        new: &Self,
    ) -> Result<OldNew<JobsToRank>, SiteError> {
        new.require_start_of_slurm()?;
        let mut names = [
            formulas.old.names(),
            formulas.new.names(),
            new.order_columns(),
            SIZES.to_vec(),
        ]
        .concat();
        if self.tree.is_none() || new.tree.is_none() {
            names.push("fairshare_perc");
        }
        // both formulas are meant for one server, which knows the names of both
        let mut schema = self.schema.clone();
        for (name, entry) in new.schema.iter() {
            if schema.entry(name).is_none() {
                schema.add_listed(name, entry.input_type);
            }
        }
        let own_entity = self.config.fairshare_entity;
        let new_entity = new.config.fairshare_entity;
        // other settings of Slurm give other inputs
        let has_other_inputs = match (&self.slurm, &new.slurm) {
            (Some(own), Some(others)) => own.jobs != others.jobs,
            _ => false,
        };
        let is_read_again = own_entity != new_entity || has_other_inputs;
        let request = ColumnsRequest {
            schema: Some(&schema),
            again: is_read_again,
            ..self.request(&names)
        };
        let jobs = self.read_columns(&request)?;
        // the warnings about the same jobs are said once
        let mut new_jobs = SiteJobs {
            warnings: Vec::new(),
            ..jobs.clone()
        };
        if is_read_again {
            // the document of a site of Slurm has the inputs by its own settings
            let reader = if has_other_inputs { new } else { self };
            let request = ColumnsRequest {
                document: reader.request(&names).document,
                entity: new_entity,
                ..request
            };
            new_jobs.table = reader.read_columns(&request)?.table;
            if !has_same_ids(&jobs.table, &new_jobs.table) {
                return Err(SiteError::content(format!(
                    "the jobs with `{own_entity}` are not those with `{new_entity}`"
                )));
            }
        }
        Ok(OldNew::new(
            JobsToRank::new(formulas.old, jobs, true),
            JobsToRank::new(formulas.new, new_jobs, true),
        ))
    }

    /// Ranks the queue by a formula, as it is and with the usage that the request assumes.
    ///
    /// # Errors
    /// As for [`rank`](Self::rank) and [`shares`](Self::shares).
    pub fn places(
        &self,
        formula: &Formula,
        request: &SharesRequest,
    ) -> Result<ComparedQueue, SiteError> {
        let names = formula.names();
        let mut read = self.read_for_formula(formula, &self.request(&names).again())?;
        let program = read.program.as_ref().ok_or(SiteError::NotArithmetic)?;
        let mut inputs = program.inputs().iter();
        if !inputs.any(|input| FairshareInput::from_name(input).is_some()) {
            read.jobs.warnings.push(
                "the formula does not use fair share, so its values do not depend on usage".into(),
            );
        }
        let as_it_is = SharesRequest {
            changes: Vec::new(),
            ..request.clone()
        };
        let threshold = self.threshold();
        let mut before = self.rank_assuming(read.clone(), &as_it_is, threshold)?;
        let mut after = self.rank_assuming(read, request, threshold)?;
        // the shares and their groups are in the tree that is shown, and not compared once more
        (before.tree, after.tree) = (None, None);
        before.warnings.clear();
        Ok(ComparedQueue::new(before, after))
    }

    /// Ranks the jobs of a queue again by a formula that reads no other inputs, such as the same
    /// one with other numbers. The jobs are not read again; a job that fails has the value of
    /// [`OnError`](job_sort_formula::rank::OnError).
    ///
    /// # Errors
    /// The formula is not arithmetic.
    pub fn rank_again(&self, queue: &mut RankedQueue, formula: &Formula) -> Result<(), SiteError> {
        let program = formula.compile(&queue.schema)?;
        if let Some(slurm) = &self.slurm {
            queue.aging = slurm.aging_formula(&program, &queue.schema);
        }
        let tree = queue.pbs_tree();
        let threshold = self.threshold();
        let ordered = self.score_and_order(&program, &queue.table, tree, threshold);
        queue.rules = self.rules(&program, &queue.table, tree);
        queue.program = program;
        queue.ranking = ordered.ranking;
        queue.not_considered = ordered.not_considered;
        Ok(())
    }
}

fn has_same_ids(old: &JobTable, new: &JobTable) -> bool {
    old.len() == new.len() && (0..old.len()).all(|row| old.id(row) == new.id(row))
}

impl ComparedQueue {
    /// Compares two rankings of the same jobs.
    pub(crate) fn new(old: RankedQueue, new: RankedQueue) -> Self {
        let mut warnings = old.warnings.clone();
        for warning in &new.warnings {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        Self {
            comparison: Comparison::new(&old.compared(), &new.compared()),
            sides: OldNew::new(old, new),
            warnings,
        }
    }

    /// The jobs, with the inputs of the new side.
    pub fn table(&self) -> &JobTable {
        &self.sides.new.table
    }

    /// What each summand of either formula decides of its order of the jobs.
    pub fn decides(&self) -> OldNew<Vec<SummandAgreement>> {
        self.sides.as_ref().map(RankedQueue::decides)
    }
}

impl RankedQueue {
    /// The ranking as it is compared with another one, or with itself.
    pub fn compared(&self) -> ComparedRanking<'_> {
        let mut under_threshold = Vec::new();
        for (row, reason) in &self.not_considered {
            if matches!(reason, NotConsidered::UnderThreshold { .. }) {
                under_threshold.push(*row as u32);
            }
        }
        under_threshold.sort_unstable();
        ComparedRanking {
            table: &self.table,
            ranking: &self.ranking,
            under_threshold,
            tree: self.assessed_tree(),
        }
    }
}

/// A site whose queue is ranked by one formula after another.
#[derive(Debug)]
pub struct WhatIf {
    site: Site,
    in_force: String,
    jobs: Option<HeldJobs>,
}

/// The jobs, with the columns that all formulas so far need.
#[derive(Debug)]
struct HeldJobs {
    names: BTreeSet<String>,
    queue: ComparedQueue,
    /// The text of the formula that ranks the new side.
    formula: String,
}

impl WhatIf {
    /// A site without a ranking. `in_force` is the formula with which the others are compared.
    pub fn new(site: Site, in_force: impl Into<String>) -> Self {
        Self {
            site,
            in_force: in_force.into(),
            jobs: None,
        }
    }

    /// The site.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The formula with which the others are compared.
    pub fn in_force(&self) -> &str {
        &self.in_force
    }

    /// Compares with another formula from now on. The next ranking reads the jobs again.
    pub fn set_in_force(&mut self, formula: impl Into<String>) {
        self.in_force = formula.into();
        self.jobs = None;
    }

    /// The last ranking and its comparison with the formula in force, if a formula was ranked.
    pub fn queue(&self) -> Option<&ComparedQueue> {
        Some(&self.jobs.as_ref()?.queue)
    }

    /// The last formula that was ranked.
    pub fn formula(&self) -> Option<&str> {
        Some(&self.jobs.as_ref()?.formula)
    }

    /// The tree with the numbers that the ranking has, if the site has one.
    pub fn tree(&self) -> Option<&AssessedTree> {
        self.queue()?.sides.new.assessed_tree()
    }

    /// Ranks the queue by a formula and compares the ranking with that of the formula in force. If
    /// this fails, the last ranking is kept.
    ///
    /// # Errors
    /// The text is not an arithmetic formula, or as for [`Site::compare`].
    pub fn rank(&mut self, text: &str) -> Result<&ComparedQueue, SiteError> {
        let submitted = submitted(text, self.site.options.numbers);
        let formula = submitted
            .formula()
            .map_err(|refusal| SiteError::content(&refusal.finding.message))?;
        let needed = formula.names();
        let held = self
            .jobs
            .take_if(|jobs| needed.iter().all(|name| jobs.names.contains(*name)));
        let (jobs, ranked) = match held {
            Some(mut jobs) => {
                let queue = &mut jobs.queue;
                let ranked = self.site.rank_again(&mut queue.sides.new, formula);
                if ranked.is_ok() {
                    let OldNew { old, new } = &queue.sides;
                    queue.comparison = Comparison::new(&old.compared(), &new.compared());
                }
                (jobs, ranked)
            }
            None => (self.read(formula)?, Ok(())),
        };
        let jobs = self.jobs.insert(jobs);
        ranked?;
        text.clone_into(&mut jobs.formula);
        Ok(&jobs.queue)
    }

    /// Checks a formula as [`Site::check`] does. The jobs are not read again if the formula is the
    /// one that was ranked last.
    ///
    /// # Errors
    /// As for [`Site::check`].
    pub fn check(&self, text: &str) -> Result<Checked, SiteError> {
        let submitted = submitted(text, self.site.options.numbers);
        match &self.jobs {
            Some(jobs) if jobs.formula == text => {
                Ok(self.site.check_ranked(&submitted, &jobs.queue.sides.new))
            }
            _ => self.site.check(&submitted),
        }
    }

    /// Reads the jobs with the columns that this formula, the one in force and the formulas before
    /// need, and ranks them.
    fn read(&self, formula: &Formula) -> Result<HeldJobs, SiteError> {
        let site = &self.site;
        let in_force = submitted(&self.in_force, site.options.numbers);
        let old = in_force
            .formula()
            .map_err(|refusal| unusable(&refusal.finding.message))?;
        let mut names = BTreeSet::from(SIZES);
        if let Some(before) = &self.jobs {
            names.extend(before.names.iter().map(String::as_str));
        }
        names.extend(old.names());
        names.extend(formula.names());
        if site.tree.is_none() {
            names.insert("fairshare_perc");
        }
        let needed: Vec<&str> = names.iter().copied().collect();
        let jobs = site.read_columns(&site.request(&needed).again())?;
        let old = JobsToRank::new(old, jobs.clone(), true);
        if old.program.is_none() {
            return Err(unusable("it is not arithmetic"));
        }
        let new = JobsToRank::new(formula, jobs, true);
        let queue = ComparedQueue::new(site.rank_read_jobs(old)?, site.rank_read_jobs(new)?);
        let names = names.into_iter().map(str::to_owned).collect();
        Ok(HeldJobs {
            names,
            queue,
            formula: String::new(),
        })
    }
}

fn unusable(reason: &str) -> SiteError {
    SiteError::content(format!(
        "the formula to compare with cannot be ranked: {reason}"
    ))
}
