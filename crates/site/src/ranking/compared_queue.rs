//! Compares two rankings of a site's jobs: by two formulas, or under two trees, policies, settings
//! or thresholds.

use job_sort_formula::diagnostic::{Diagnostic, Message};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::lint::lint;
use job_sort_formula::formula::program::Program;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{
    ComparedRanking, Comparison, OldNew, Ranking, SIZES, SummandAgreement, summand_agreements,
};
use job_sort_formula::schema::Schema;
use jsf_openpbs::order::NotConsidered;

use crate::jobs::site_jobs::ColumnsRequest;
use crate::opening::role::Role;
use crate::ranking::ranked_queue::require_values;
use crate::shares::applied_tree::AppliedTree;
use crate::{RankedQueue, Rule, SharesRequest, Site, SiteError};

/// The files on which fair-share numbers depend.
const ROLES_OF_SHARES: [Role; 5] = [
    Role::Tree,
    Role::ResourceGroup,
    Role::Usage,
    Role::SchedConfig,
    Role::SlurmConf,
];

/// The jobs of a site, with the columns that both formulas of a comparison need.
#[derive(Debug)]
pub struct ComparedJobs {
    /// The jobs.
    pub table: JobTable,
    /// The same jobs with the entities of the new site, if those differ.
    pub(crate) new_table: Option<JobTable>,
    /// The names that the formulas may use: those that either site declares, and those that only
    /// the jobs contain.
    pub schema: Schema,
    /// The findings about the text of each formula and its names, without evaluating it.
    pub findings: OldNew<Vec<Diagnostic>>,
    /// The problems of single jobs, one sentence each.
    pub warnings: Vec<Message>,
}

/// Two rankings of the same jobs that are compared.
#[derive(Clone, Copy)]
pub struct CompareRequest<'a> {
    /// The old formula.
    pub old: &'a Formula,
    /// The site of the new side, whose tree, policy, settings and threshold count there; `None`:
    /// the same as that of the old side.
    pub new_site: Option<&'a Site>,
    /// The new formula.
    pub new: &'a Formula,
}

impl<'a> CompareRequest<'a> {
    /// Two formulas at the same site.
    pub fn new(old: &'a Formula, new: &'a Formula) -> Self {
        Self {
            old,
            new_site: None,
            new,
        }
    }
}

/// The jobs of a site under two rankings.
#[derive(Debug)]
pub struct ComparedQueue {
    /// The jobs, with the inputs of the new side.
    pub table: JobTable,
    /// The jobs with the inputs of the old side, where those differ.
    pub(crate) old_table: Option<JobTable>,
    /// The fair-share trees; where both sides have the same one, it is that of the new side.
    pub(crate) trees: OldNew<Option<AppliedTree>>,
    /// The names that the formulas may use: the site's, and those that only its jobs contain.
    pub schema: Schema,
    /// The findings about the text of each formula and its names.
    pub findings: OldNew<Vec<Diagnostic>>,
    /// Either ranking.
    pub sides: OldNew<ComparedSide>,
    /// What changes.
    pub comparison: Comparison,
    /// The warnings, one sentence each: those about the jobs, then those about the inputs of the
    /// formulas.
    pub warnings: Vec<Message>,
}

/// One of two rankings that are compared.
#[derive(Debug)]
pub struct ComparedSide {
    /// The scores, and the rows that the scheduler considers, best first.
    pub ranking: Ranking,
    /// The waiting rows that the scheduler does not consider, and why.
    pub not_considered: Vec<(usize, NotConsidered)>,
    /// The formula, compiled for the site.
    pub program: Program,
    /// The rules that the ranking follows, for people: a heading and a text each.
    pub rules: Vec<Rule>,
}

impl Site {
    /// Compares the ranking of this site's jobs by one formula with the ranking of the same jobs by
    /// another formula, under the tree, the policy, the `sched_config` and the threshold of another
    /// site, or of this one. The jobs and their inputs are read as this site describes them.
    ///
    /// ```
    /// use job_sort_formula::Formula;
    /// use jsf_site::{CompareRequest, Site};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let site = Site::open("examples/site")?;
    /// let old = Formula::parse("ncpus")?;
    /// let new = Formula::parse("-ncpus")?;
    /// let compared = site.compare(CompareRequest::new(&old, &new))?;
    /// assert_eq!((compared.comparison.jobs, compared.comparison.tau_b), (33, Some(-1.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`rank`](Self::rank); or the new site's entity gives it other jobs.
    pub fn compare(&self, request: CompareRequest<'_>) -> Result<ComparedQueue, SiteError> {
        let compared = self.compare_read_jobs(request, self.read_for_comparison(request)?)?;
        require_values(&compared.table, &compared.sides.old.ranking)?;
        require_values(&compared.table, &compared.sides.new.ranking)?;
        Ok(compared)
    }

    /// The second half of [`compare`](Self::compare): ranks the jobs twice, also if one fails under
    /// [`OnError::Fail`](job_sort_formula::rank::OnError::Fail).
    ///
    /// # Errors
    /// A formula is not arithmetic, or the tree cannot be read.
    pub fn compare_read_jobs(
        &self,
        request: CompareRequest<'_>,
        jobs: ComparedJobs,
    ) -> Result<ComparedQueue, SiteError> {
        let CompareRequest { old, new_site, new } = request;
        let old_program = old.compile(&jobs.schema)?;
        let new_program = new.compile(&jobs.schema)?;
        self.compare_jobs(old_program, new_site.unwrap_or(self), new_program, jobs)
    }

    /// The first half of [`compare`](Self::compare): reads the jobs with the columns that both
    /// formulas need, and finds what is to be said of their texts.
    ///
    /// # Errors
    /// The jobs cannot be read, or the new site's entity gives it other jobs.
    pub fn read_for_comparison(
        &self,
        request: CompareRequest<'_>,
    ) -> Result<ComparedJobs, SiteError> {
        let (formula, new_formula) = (request.old, request.new);
        let new = request.new_site.unwrap_or(self);
        new.require_start_of_slurm()?;
        let mut names = [
            formula.names(),
            new_formula.names(),
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
        let new_table = if is_read_again {
            // the document of a site of Slurm has the inputs by its own settings
            let reader = if has_other_inputs { new } else { self };
            let request = ColumnsRequest {
                document: reader.request(&names).document,
                entity: new_entity,
                ..request
            };
            Some(reader.read_columns(&request)?.table)
        } else {
            None
        };
        if let Some(new_table) = &new_table
            && !has_same_ids(&jobs.table, new_table)
        {
            return Err(SiteError::content(format!(
                "the jobs with `{own_entity}` are not those with `{new_entity}`"
            )));
        }
        Ok(ComparedJobs {
            findings: OldNew::new(
                lint(formula.expr(), &jobs.schema),
                lint(new_formula.expr(), &jobs.schema),
            ),
            table: jobs.table,
            new_table,
            schema: jobs.schema,
            warnings: jobs.warnings,
        })
    }

    /// Compares two rankings of jobs that were read for both.
    pub(crate) fn compare_jobs(
        &self,
        old_program: Program,
        new: &Self,
        new_program: Program,
        jobs: ComparedJobs,
    ) -> Result<ComparedQueue, SiteError> {
        let mut warnings = jobs.warnings;
        let has_one_table = jobs.new_table.is_none() && self.has_shares_of(new);
        let (mut table, mut old_table) = if has_one_table {
            (jobs.table, None)
        } else {
            let new_table = jobs.new_table.unwrap_or_else(|| jobs.table.clone());
            (new_table, Some(jobs.table))
        };
        let mut inputs = new_program.inputs().to_vec();
        let old_tree = match &mut old_table {
            Some(old_table) => {
                self.fill_for_comparison(old_program.inputs(), old_table, &mut warnings)?
            }
            None => {
                inputs.extend_from_slice(old_program.inputs());
                None
            }
        };
        let new_tree = new.fill_for_comparison(&inputs, &mut table, &mut warnings)?;
        let of_old = if has_one_table { &new_tree } else { &old_tree };
        let jobs_of_old = old_table.as_ref().unwrap_or(&table);
        let old_side = self.compared_side(old_program, jobs_of_old, of_old.as_ref());
        let new_side = new.compared_side(new_program, &table, new_tree.as_ref());
        let comparison = Comparison::new(
            &old_side.compared(jobs_of_old, of_old.as_ref()),
            &new_side.compared(&table, new_tree.as_ref()),
        );
        Ok(ComparedQueue {
            table,
            old_table,
            trees: OldNew::new(old_tree, new_tree),
            schema: jobs.schema,
            findings: jobs.findings,
            sides: OldNew::new(old_side, new_side),
            comparison,
            warnings,
        })
    }

    /// Whether another site gives every entity the same fair-share numbers.
    fn has_shares_of(&self, other: &Self) -> bool {
        let mut roles = ROLES_OF_SHARES.into_iter();
        let [own, others] = [self, other].map(|site| {
            let policy = &site.policy;
            (
                policy.name,
                policy.rules,
                policy.release,
                site.rules.numbers,
            )
        });
        std::ptr::eq(self, other)
            || own == others && roles.all(|role| self.files.all(role) == other.files.all(role))
    }

    /// Fills in the fair-share numbers of the jobs, if they are needed, and returns the tree in any
    /// case.
    fn fill_for_comparison(
        &self,
        inputs: &[Box<str>],
        table: &mut JobTable,
        warnings: &mut Vec<Message>,
    ) -> Result<Option<AppliedTree>, SiteError> {
        let tree = self.applied_tree(table, &SharesRequest::default())?;
        match &tree {
            _ if !self.needs_shares(inputs) => {}
            Some(tree) => self.fill_from(tree, table, warnings),
            None => self.require_own_shares(inputs, table)?,
        }
        Ok(tree)
    }

    pub(crate) fn compared_side(
        &self,
        program: Program,
        table: &JobTable,
        tree: Option<&AppliedTree>,
    ) -> ComparedSide {
        let tree = self.tree_for(&program, tree);
        let ordered = self.score_and_order(&program, table, tree, self.threshold(), usize::MAX);
        ComparedSide {
            ranking: ordered.ranking,
            not_considered: ordered.not_considered,
            rules: self.rules(&program, table, tree),
            program,
        }
    }
}

fn has_same_ids(old: &JobTable, new: &JobTable) -> bool {
    old.len() == new.len() && (0..old.len()).all(|row| old.id(row) == new.id(row))
}

impl ComparedQueue {
    /// Compares two rankings without a tree. The warnings are those of the new one.
    pub(crate) fn from_ranked(old: RankedQueue, new: RankedQueue) -> Self {
        let warnings = new.warnings.clone();
        let schema = new.schema.clone();
        let findings = OldNew::new(old.findings.clone(), new.findings.clone());
        let (old_table, old) = ComparedSide::from_ranked(old);
        let (table, new) = ComparedSide::from_ranked(new);
        let comparison =
            Comparison::new(&old.compared(&old_table, None), &new.compared(&table, None));
        Self {
            table,
            old_table: Some(old_table),
            trees: OldNew::new(None, None),
            schema,
            findings,
            sides: OldNew::new(old, new),
            comparison,
            warnings,
        }
    }

    /// The jobs with the inputs of either side.
    pub fn tables(&self) -> OldNew<&JobTable> {
        OldNew::new(self.old_table.as_ref().unwrap_or(&self.table), &self.table)
    }

    /// What each summand of either formula decides of its order of the jobs.
    pub fn decides(&self) -> OldNew<Vec<SummandAgreement>> {
        let OldNew { old, new } = self.tables();
        OldNew::new(
            self.sides.old.decides(&self.schema, old),
            self.sides.new.decides(&self.schema, new),
        )
    }
}

impl ComparedSide {
    fn decides(&self, schema: &Schema, table: &JobTable) -> Vec<SummandAgreement> {
        summand_agreements(&self.program, schema, table, &self.ranking)
    }

    fn from_ranked(queue: RankedQueue) -> (JobTable, Self) {
        let side = Self {
            ranking: queue.ranking,
            not_considered: queue.not_considered,
            program: queue.program,
            rules: queue.rules,
        };
        (queue.table, side)
    }

    /// The side as it is compared with the other one.
    pub(crate) fn compared<'a>(
        &'a self,
        table: &'a JobTable,
        tree: Option<&'a AppliedTree>,
    ) -> ComparedRanking<'a> {
        let mut under_threshold = Vec::new();
        for (row, reason) in &self.not_considered {
            if matches!(reason, NotConsidered::UnderThreshold { .. }) {
                under_threshold.push(*row as u32);
            }
        }
        under_threshold.sort_unstable();
        ComparedRanking {
            table,
            ranking: &self.ranking,
            under_threshold,
            tree: tree.map(AppliedTree::assessed),
        }
    }
}
