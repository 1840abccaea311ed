//! Carries a formula over between the schedulers: to the weights of Slurm's priority, or from them
//! to a formula of PBS.

mod to_pbs;
mod to_slurm;

use job_sort_formula::formula::Formula;
use job_sort_formula::formula::program::Program;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::nearest_double;
use job_sort_formula::rank::{SIZES, WorkBudget};
use job_sort_formula::schema::Schema;
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::check::{ExchangeRate, exchange_rates};
use serde::Serialize;

use crate::{CompareRequest, Role, Site, SiteError};

/// The work of the exchange rates, see [`WorkBudget`].
const RATES_WORK: u64 = 1 << 24;

/// A formula in the terms of the other scheduler.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Translation {
    /// The lines to set there: of `slurm.conf`, or commands of `qmgr`.
    pub settings: Vec<String>,
    /// The translated formula in the names of PBS, as which `settings` order the jobs.
    pub formula: String,
    /// The parts of the formula that are carried over.
    pub parts: Vec<TranslatedPart>,
    /// The parts that are not.
    pub not_expressed: Vec<UntranslatedPart>,
    /// What the inputs of the translated formula are worth in time of waiting.
    pub worth: Vec<ExchangeRate>,
    /// What the largest job is worth in time of waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_job: Option<LargestJob>,
    /// How far the orders of the jobs agree; `None` without jobs.
    pub agreement: Option<OrderAgreement>,
}

impl Translation {
    /// Adds a part: what it becomes and what differs, or why it is not carried over.
    fn add(&mut self, text: String, result: Result<(String, String), String>) {
        match result {
            Ok((becomes, note)) => self.parts.push(TranslatedPart {
                text,
                becomes,
                note,
            }),
            Err(why) => self.not_expressed.push(UntranslatedPart { text, why }),
        }
    }
}

/// A part of a formula that is carried over.
#[derive(Debug, Clone, Serialize)]
pub struct TranslatedPart {
    /// The part, as its formula has it.
    pub text: String,
    /// What it becomes.
    pub becomes: String,
    /// What differs; empty if nothing does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A part of a formula that the other scheduler cannot express.
#[derive(Debug, Clone, Serialize)]
pub struct UntranslatedPart {
    /// The part, as its formula has it.
    pub text: String,
    /// Why.
    pub why: String,
}

/// The largest job, and the wait that is worth as much as its size.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LargestJob {
    /// Its nodes.
    pub nodes: f64,
    /// Its processors.
    pub cpus: f64,
    /// The time of waiting, in seconds.
    pub wait: f64,
}

/// How far two orders of the waiting jobs agree.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OrderAgreement {
    /// The number of jobs.
    pub jobs: usize,
    /// Kendall's tau-b, 1 for the same order and -1 for the reverse one; `None` if one of the two
    /// gives all jobs the same value.
    pub tau_b: Option<f64>,
}

/// The size of a machine or of its largest job: nodes and processors.
type Size = (f64, f64);

impl Site {
    /// The weights of Slurm that order the jobs as a formula of PBS does, as far as it is a sum of
    /// the time of waiting, the size of the job, the priority of its queue and its fair share.
    ///
    /// # Errors
    /// The formula is not arithmetic, or the jobs cannot be read.
    pub fn translate_to_slurm(&self, formula: &Formula) -> Result<Translation, SiteError> {
        let program = formula.compile(&self.schema)?;
        let mut priorities: Vec<(&str, i64)> = Vec::new();
        for queue in self.queues.execution_queues() {
            if let Some(priority) = self.queues.priority(queue) {
                priorities.push((queue, priority));
            }
        }
        let mut translation = to_slurm::translate(&program, &priorities);
        let mut parts = translation.parts.iter();
        if self.files.has(Role::SchedConfig)
            && parts.any(|part| part.becomes == to_slurm::FAIRSHARE)
        {
            translation.settings.push(to_slurm::half_life(
                self.config.fairshare_decay_time,
                self.config.fairshare_decay_factor.into(),
            ));
        }
        self.compared(formula, translation, self.largest_job()?)
    }

    /// The formula of PBS that orders the jobs as one with the names of Slurm's priority does, such
    /// as this site's own.
    ///
    /// # Errors
    /// The site has no `slurm.conf`, or the jobs cannot be read.
    pub fn translate_to_pbs(&self, formula: &Formula) -> Result<Translation, SiteError> {
        let cluster = self.slurm_cluster()?;
        let translation = to_pbs::translate(formula, &self.policy.conf, &cluster);
        self.compared(formula, translation, cluster.size())
    }

    /// Adds what the translated formula is worth, and how far it agrees on the queue at hand.
    fn compared(
        &self,
        formula: &Formula,
        mut translation: Translation,
        largest: Option<Size>,
    ) -> Result<Translation, SiteError> {
        let translated = Formula::parse(&translation.formula)?;
        if let Ok(program) = translated.compile(&self.schema) {
            let inputs = vec![Value::Int(1); program.inputs().len()];
            let mut budget = WorkBudget::new(RATES_WORK);
            translation.worth = exchange_rates(&program, &self.schema, &inputs, &mut budget);
            if let Some(size) = largest {
                translation.largest_job = worth_of_size(&program, &self.schema, size);
            }
        }
        if self.files.has(Role::Queue) {
            // Slurm computes with doubles, which OpenPBS's numbers would round
            let mut rules = self.rules;
            rules.numbers = NumberMode::Exact;
            let exact = Self::from_files(self.files.clone(), rules)?;
            let compared = self.compare(CompareRequest {
                old: formula,
                new_site: Some(&exact),
                new: &translated,
            })?;
            translation.agreement = Some(OrderAgreement {
                jobs: compared.comparison.jobs,
                tau_b: compared.comparison.tau_b,
            });
        }
        Ok(translation)
    }

    /// The nodes and processors of the machine, else those of the largest job of the queue.
    fn largest_job(&self) -> Result<Option<Size>, SiteError> {
        if let Some(nodes) = self.nodes()? {
            return Ok(Some((
                nodes.nodes.len() as f64,
                nodes.total("ncpus") as f64,
            )));
        }
        if !self.files.has(Role::Queue) {
            return Ok(None);
        }
        let jobs = self.read_columns(&self.request(&SIZES).again())?.table;
        Ok(most(&jobs, "nodect").zip(most(&jobs, "ncpus")))
    }
}

/// The largest value of an input that jobs have.
fn most(jobs: &JobTable, name: &str) -> Option<f64> {
    let column = jobs.column(name)?;
    let values = (0..jobs.len()).filter_map(|row| nearest_double(&column.value(row)));
    values.reduce(f64::max)
}

/// The wait that is worth as much as the nodes and processors of a job; `None` if waiting gains
/// nothing.
fn worth_of_size(program: &Program, schema: &Schema, (nodes, cpus): Size) -> Option<LargestJob> {
    let value = |size: Size, waited: f64| {
        let inputs = program.inputs().iter().map(|name| match &**name {
            "nodect" => Value::Float(size.0),
            "ncpus" => Value::Float(size.1),
            "eligible_time" => Value::Float(waited),
            "walltime" => Value::Int(3600),
            _ => Value::Int(i64::from(schema.is_numeric(name))),
        });
        nearest_double(&program.evaluate(&inputs.collect::<Vec<_>>()).ok()?)
    };
    const HOUR: f64 = 3600.0;
    let per_second = (value((0.0, 0.0), HOUR)? - value((0.0, 0.0), 0.0)?) / HOUR;
    let of_size = value((nodes, cpus), 0.0)? - value((0.0, 0.0), 0.0)?;
    let wait = of_size / per_second;
    if per_second > 0.0 && of_size != 0.0 {
        Some(LargestJob { nodes, cpus, wait })
    } else {
        None
    }
}
