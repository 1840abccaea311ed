//! Tries one formula after another on the jobs of a site, each compared with the formula in force.
//!
//! In: a site, the formula in force, and the texts of other formulas. Out: a [`ComparedQueue`] and
//! what `check` finds. The jobs are read again only if a formula needs an input that none before it
//! needed, so a number in a formula can be moved while the ranking follows.

use std::collections::BTreeSet;

use job_sort_formula::fairshare::AssessedTree;
use job_sort_formula::formula::Formula;
use job_sort_formula::rank::SIZES;
use jsf_openpbs::check::Checked;

use crate::formulas::formula_text::submitted;
use crate::{ComparedQueue, JobsToRank, Site, SiteError};

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
        let submitted = submitted(text, self.site.rules.numbers);
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
                    queue.compare_again();
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
        let submitted = submitted(text, self.site.rules.numbers);
        match &self.jobs {
            Some(jobs) if jobs.formula == text => {
                let queue = &jobs.queue.sides.new;
                let mut checked = self.site.check_ranked(&submitted, queue);
                if let Ok(formula) = submitted.formula() {
                    checked.guessed_types =
                        self.site
                            .guessed_types(formula, &queue.table, &queue.schema);
                }
                Ok(checked)
            }
            _ => self.site.check(&submitted),
        }
    }

    /// Reads the jobs with the columns that this formula, the one in force and the formulas before
    /// need, and ranks them.
    fn read(&self, formula: &Formula) -> Result<HeldJobs, SiteError> {
        let site = &self.site;
        let in_force = submitted(&self.in_force, site.rules.numbers);
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
        let old = JobsToRank::compared(old, jobs.clone());
        if old.program.is_none() {
            return Err(unusable("it is not arithmetic"));
        }
        let new = JobsToRank::compared(formula, jobs);
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
