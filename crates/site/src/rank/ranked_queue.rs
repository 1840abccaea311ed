//! The jobs of a site in the scheduler's order: the jobs with what a formula needs, and their ranking
//! by it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use job_sort_formula::diagnostic::Message;
use job_sort_formula::fairshare::AssessedTree;
use job_sort_formula::rank::{
    Ranking, ScorePrecision, SummandAgreement, score, summand_agreements,
};
use job_sort_formula::{Formula, JobTable, Program, Schema};
use jsf_openpbs::PbsTree;
use jsf_openpbs::order::{NotConsidered, Ordered};

use crate::printed_numbers::Agreement;
use crate::rank::rules::Rule;
use crate::shares::AppliedTree;
use crate::site_jobs::ColumnsRequest;
use crate::slurm_queue::AgingFormula;
use crate::{SharesRequest, Site, SiteError, SiteJobs};

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
    /// The formula for later times, if it reads the age of Slurm's jobs; compiled for the first answer
    /// about them.
    pub(crate) aging: OnceLock<Option<AgingFormula>>,
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
        // another formula or an assumed usage is meant to give other values than Slurm printed
        if let Some(slurm) = &self.slurm
            && read.is_slurm_priority
            && !assumed.assumes_usage()
        {
            agreement = slurm.agreement(&table, &ranking);
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
            aging: OnceLock::new(),
            contradiction,
        })
    }

    /// Scores the jobs and sorts them in the scheduler's order.
    pub(crate) fn score_and_order(
        &self,
        program: &Program,
        table: &JobTable,
        tree: Option<&PbsTree>,
        threshold: Option<f64>,
    ) -> Ordered {
        let scores = score(program, table, self.precision(), self.options.on_error);
        if self.precision() == ScorePrecision::Decimal {
            // compared exactly; the scheduler's order would compare the nearest doubles
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
