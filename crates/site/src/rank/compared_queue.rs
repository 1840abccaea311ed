//! Two rankings of the jobs of a site: by two formulas, be it under another tree, policy, settings or
//! threshold, or with other usage; and by one formula after another, such as while a number in it is
//! moved, for which the jobs are read again only if one needs an input that none before it needed.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use job_sort_formula::diagnostic::Message;
use job_sort_formula::fairshare::AssessedTree;
use job_sort_formula::rank::{ComparedRanking, Comparison, OldNew, SIZES, SummandAgreement};
use job_sort_formula::schema::FairshareInput;
use job_sort_formula::{Formula, JobTable};
use jsf_openpbs::check::Checked;
use jsf_openpbs::order::NotConsidered;

use crate::formulas::submitted;
use crate::site_jobs::ColumnsRequest;
use crate::{JobsToRank, RankedQueue, SharesRequest, Site, SiteError, SiteJobs};

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
            // without a tree, the shares that the jobs bring along say how fair a ranking is
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
        let threshold = self.threshold();
        let mut before = self.rank_assuming(read.clone(), &request.as_it_is(), threshold)?;
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
        let tree = queue.pbs_tree();
        let threshold = self.threshold();
        let ordered = self.score_and_order(&program, &queue.table, tree, threshold);
        queue.rules = self.rules(&program, &queue.table, tree);
        queue.program = program;
        // it was compiled from the program before
        queue.aging = OnceLock::new();
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
