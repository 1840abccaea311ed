//! What the server answers to a formula, and what is found in it when it is tried on the jobs of the
//! site's queue.

use job_sort_formula::diagnostic::{Code, Message, Need};
use job_sort_formula::rank::explain::medians;
use job_sort_formula::rank::{ScorePrecision, WorkBudget};
use job_sort_formula::schema::InputType;
use job_sort_formula::{Diagnostic, JobTable, Program, Schema, Value};
use jsf_openpbs::FormulaSubmission;
use jsf_openpbs::check::{Checked, ExchangeRate, ScoredQueue, SiteFacts, exchange_rates};

use crate::formulas::submitted;
use crate::site_jobs::ColumnsRequest;
use crate::site_tree::SiteTree;
use crate::{FileSource, RankedQueue, Role, Site, SiteError, SiteJobs};

/// The most work of the exchange rates, in units of a [`WorkBudget`]: a twentieth of a second.
pub(crate) const RATES_WORK: u64 = 50_000_000;

impl Site {
    /// Checks a formula: the server's answer, and the result for every job of the queue, if there
    /// is one. Without the fair-share tree that the formula needs, or if the queue is empty or
    /// missing in the site's folder, a finding says that it was tried on none.
    ///
    /// # Errors
    /// The jobs or the tree cannot be read.
    pub fn check(&self, submitted: &FormulaSubmission) -> Result<Checked, SiteError> {
        self.check_with(submitted, self.request(&[]).document)
    }

    /// Checks a formula as [`check`](Self::check) does, with the jobs that wait beside those of a
    /// log, if the files were [opened](crate::SiteFiles::for_workload) for one and there are any.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub fn check_with_queue(
        &self,
        submitted: &FormulaSubmission,
    ) -> Result<Option<Checked>, SiteError> {
        let Some(queue) = &self.files.queue_beside_log else {
            return Ok(None);
        };
        queue.check(Role::Queue)?;
        Ok(Some(self.check_with(submitted, Some(queue))?))
    }

    fn check_with(
        &self,
        submitted: &FormulaSubmission,
        queue: Option<&FileSource>,
    ) -> Result<Checked, SiteError> {
        let (Ok(formula), Some(source)) = (submitted.formula(), queue) else {
            let mut checked = self.checked_unranked(submitted, &self.schema);
            if self.files.root.is_some() && self.files.lacks_queue() {
                checked
                    .findings
                    .extend(untried(submitted, "the site has no jobs (`qstat -f`)"));
            }
            return Ok(checked);
        };
        let names = formula.names();
        let request = ColumnsRequest {
            document: queue,
            ..self.request(&names).again()
        };
        let mut read = self.read_for_formula(formula, &request)?;
        let jobs = &mut read.jobs;
        for name in self.guessed_types(submitted, &jobs.table, &jobs.schema) {
            jobs.warnings.push(guessed_type(&name));
        }
        let is_empty = jobs.table.is_empty();
        let mut missing = None;
        if let Some(program) = &read.program
            && self.tree.is_none()
        {
            // a finding and no error: what the server answers does not depend on the shares
            missing = self.require_own_shares(program.inputs(), &jobs.table).err();
        }
        let mut checked = if read.program.is_some() && missing.is_none() {
            let ranked = self.rank_read_jobs(read)?;
            let rates = self.rates(&ranked.program, &ranked.schema, Some(&ranked));
            let checked = self.check_ranked(submitted, &ranked);
            Checked {
                rates,
                warnings: ranked.warnings,
                ..checked
            }
        } else {
            let SiteJobs {
                table,
                schema,
                warnings,
                ..
            } = read.jobs;
            Checked {
                guessed_types: self.guessed_types(submitted, &table, &schema),
                warnings,
                ..self.checked_unranked(submitted, &schema)
            }
        };
        if let Some(missing) = missing {
            let reason = missing.to_string();
            checked.findings.extend(untried(submitted, &reason));
        } else if is_empty {
            let reason = format!("`{}` has no job", source.name());
            checked.findings.extend(untried(submitted, &reason));
        }
        Ok(checked)
    }

    /// Checks the text of a formula as [`check`](Self::check) does, with the numbers of this site,
    /// and of the site of a log as [`check_with_queue`](Self::check_with_queue) does if there are
    /// jobs that wait.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub fn check_text(&self, text: &str) -> Result<Checked, SiteError> {
        let submitted = submitted(text, self.options.numbers);
        match self.check_with_queue(&submitted)? {
            Some(checked) => Ok(checked),
            None => self.check(&submitted),
        }
    }

    /// Checks a formula that has ranked the queue, as [`check`](Self::check) does but for the
    /// exchange rates.
    pub fn check_ranked(&self, submitted: &FormulaSubmission, queue: &RankedQueue) -> Checked {
        let scored = ScoredQueue {
            table: &queue.table,
            ranking: &queue.ranking,
            not_considered: &queue.not_considered,
            precision: self.precision(),
            tree: queue.pbs_tree(),
        };
        Checked {
            guessed_types: self.guessed_types(submitted, &queue.table, &queue.schema),
            ..self.checked(submitted, &queue.schema, Some(scored))
        }
    }

    /// Checks a formula that has ranked no jobs.
    fn checked_unranked(&self, submitted: &FormulaSubmission, schema: &Schema) -> Checked {
        let mut checked = self.checked(submitted, schema, None);
        if let Ok(formula) = submitted.formula()
            && let Ok(program) = formula.compile(schema)
        {
            checked.rates = self.rates(&program, schema, None);
        }
        checked
    }

    /// Checks a formula that may have ranked jobs.
    fn checked(
        &self,
        submitted: &FormulaSubmission,
        schema: &Schema,
        queue: Option<ScoredQueue<'_>>,
    ) -> Checked {
        let table = queue.map(|queue| queue.table);
        let mut constants = Vec::new();
        if let Ok(formula) = submitted.formula() {
            for name in formula.names() {
                if let Some(amounts) = self.site_constant(name, schema, table) {
                    constants.push((name, amounts));
                }
            }
        }
        let facts = SiteFacts {
            queue,
            config: Some(&self.config),
            server: Some(&self.server),
            threshold: self.threshold(),
            defaulted: &self.queues.defaulted_resources(),
            queues: Some(&self.queues),
            hidden: &self.hidden,
            constants: &constants,
            python_source: self.python.source.as_deref(),
            runs_slurm: self.slurm.is_some()
                || self.tree.as_ref().is_some_and(SiteTree::is_of_slurm),
        };
        Checked::new(submitted, schema, &facts)
    }

    /// What inputs are worth in time of waiting, but for those that the site alone decides.
    fn rates(
        &self,
        program: &Program,
        schema: &Schema,
        queue: Option<&RankedQueue>,
    ) -> Vec<ExchangeRate> {
        // the rates are computed in Python's numbers
        if self.precision() == ScorePrecision::Decimal {
            return Vec::new();
        }
        let table = queue.map(|queue| &queue.table);
        let considered = queue.filter(|queue| !queue.ranking.order().is_empty());
        let inputs = match considered {
            Some(queue) => medians(program, &queue.table, queue.ranking.order()),
            None => {
                let names = program.inputs().iter();
                names.map(|name| plain_value(schema, name)).collect()
            }
        };
        let mut rates = exchange_rates(program, schema, &inputs, &mut WorkBudget::new(RATES_WORK));
        rates.retain(|rate| {
            // without a considered job, only a rate that is the same for all jobs means something
            let is_known = considered.is_some() || rate.is_constant;
            is_known && self.site_constant(&rate.name, schema, table).is_none()
        });
        rates
    }

    /// The names of a formula that no document declares and that are numbers by the amounts of the
    /// jobs only: a string can have such amounts too.
    fn guessed_types(
        &self,
        submitted: &FormulaSubmission,
        table: &JobTable,
        schema: &Schema,
    ) -> Vec<String> {
        let mut guessed = Vec::new();
        let Ok(formula) = submitted.formula() else {
            return guessed;
        };
        let names = formula.names();
        for (name, _) in table.undeclared() {
            let is_declared = self.schema.entry(name).is_some();
            if names.contains(&name) && !is_declared && schema.is_numeric(name) {
                guessed.push(name.to_owned());
            }
        }
        guessed
    }
}

/// The finding that a formula was tried on no job.
fn untried(submitted: &FormulaSubmission, reason: &str) -> Vec<Diagnostic> {
    let Ok(formula) = submitted.formula() else {
        return Vec::new();
    };
    let message = format!("the formula was tried on no job: {reason}");
    let found = Diagnostic::new(Code::TriedOnNoJob, message, formula.expr().span());
    submitted.in_source([found])
}

/// A value at which rates that hold for every job are measured.
fn plain_value(schema: &Schema, name: &str) -> Value {
    match schema.input_type(name) {
        Some(InputType::Ratio) => Value::Float(0.5),
        Some(InputType::Duration) => Value::Int(3600),
        // a gibibyte, as sizes are in kb
        Some(InputType::Size) => Value::Int(1 << 20),
        _ => Value::Int(1),
    }
}

/// A warning about a name whose type is known from the jobs only.
fn guessed_type(name: &str) -> Message {
    let guess = format!(
        "no document declares `{name}`, whose amounts are numbers: qmgr refuses the formula if it is a string, so "
    );
    Message::asking(guess, [Need::ResourceType, Need::Resources])
}
