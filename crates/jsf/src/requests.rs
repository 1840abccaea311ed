//! Whole questions about a site, for programs: the name of a command and its request as JSON enter,
//! the command's answer as JSON leaves.
//!
//! A library prints nothing, so `warnings` of an answer also has what the command writes to
//! standard error.

use std::path::Path;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Diagnostic, Message, Need, Severity};
use job_sort_formula::rank::{OldNew, SEARCH_WORK, SummandAgreement};
use jsf_openpbs::check::{Checked, FAILURE_CODES};
use jsf_openpbs::resource_amount::NumberMode;
use jsf_site::{
    CompareRequest, CycleRequest, ExplainOptions, FormulaText, PolicyName, RankRequest,
    RankedQueue, SharesRequest, Site, SiteError, SiteFiles, SiteOptions,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::answer::{Answer, write_json};
use crate::commands::compare::answer::{CompareReport, compared_rows};
use crate::commands::compare::view::ListedJobs;
use crate::commands::cycle::answer::CycleReport;
use crate::commands::explain::answer::ExplainReport;
use crate::commands::rank::answer::RankReport;
use crate::commands::shares::answer::{PolicyView, SharesReport};
use crate::commands::trajectory::answer::{MAX_FOLLOWED, TrajectoryReport};
use crate::ranked_row::RankedRow;

/// Why a question has no answer.
#[derive(Debug)]
pub enum RunError {
    /// The request does not say what is asked, or asks for something that there is not.
    Request(String),
    /// The files of the site cannot be used, or something is missing.
    Site(SiteError),
    /// A formula does not parse: its text, and what is wrong.
    Syntax(String, Box<Diagnostic>),
    /// A formula is Python but not arithmetic: its text, and what it parses to.
    NotArithmetic(String, Box<Formula>),
}

impl From<SiteError> for RunError {
    fn from(error: SiteError) -> Self {
        Self::Site(error)
    }
}

/// A site of which questions are asked.
#[derive(Debug, Clone, Copy)]
pub struct AskedSite<'a> {
    /// The site.
    pub site: &'a Site,
    /// How numbers reach a formula.
    pub numbers: NumberMode,
    /// How the caller gives what a message asks for.
    pub worded: fn(Need) -> String,
}

/// Answers a question about the site that the request names: `site` is its path, and `options`, if
/// they are there, are [`SiteOptions`]. The other members are those of the command.
///
/// # Errors
/// The request is wrong, the site cannot be used, or the formula cannot be ranked.
pub fn run(command: &str, request: &str, worded: fn(Need) -> String) -> Result<String, RunError> {
    let request: Value =
        serde_json::from_str(request).map_err(|error| RunError::Request(error.to_string()))?;
    let mut request: Map<String, Value> = read(request)?;
    let path: String = read(request.remove("site").unwrap_or_default())?;
    let options: SiteOptions = request
        .remove("options")
        .map(read)
        .transpose()?
        .unwrap_or_default();
    let site = Site::from_files(SiteFiles::open(Path::new(&path))?, options)?;
    AskedSite {
        site: &site,
        numbers: options.numbers,
        worded,
    }
    .answer(command, request.into())
}

fn read<T: DeserializeOwned>(request: Value) -> Result<T, RunError> {
    serde_json::from_value(request).map_err(|error| RunError::Request(error.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RankAsked {
    /// Absent: the formula in force.
    formula: Option<String>,
    /// Whether each job has the inputs of the formula.
    #[serde(default)]
    inputs: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckAsked {
    formula: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainAsked {
    formula: Option<String>,
    jobs: Vec<String>,
    /// The rank for which the wait is looked for.
    to: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrajectoryAsked {
    formula: Option<String>,
    jobs: Vec<String>,
    hours: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareAsked {
    old: Option<String>,
    new: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SharesAsked {
    /// Absent: the policy in force.
    policy: Option<PolicyName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CycleAsked {
    formula: Option<String>,
    #[serde(default)]
    jobs: Vec<String>,
    processors: Option<u32>,
}

/// A formula, and where it comes from.
struct Asked {
    source: FormulaText,
    parsed: Formula,
}

/// A ranked queue, for who reads its columns rather than its JSON.
#[derive(Debug)]
pub struct AnsweredRank {
    /// The formula's text.
    pub formula: String,
    /// The queue.
    pub queue: RankedQueue,
    /// What is doubtful about the site, the formula and the ranking.
    pub warnings: Vec<String>,
}

impl AnsweredRank {
    /// The ranking with these rows, inputs and decisions of the summands.
    pub fn report<'a>(
        &'a self,
        rows: &'a [RankedRow],
        inputs: &'a [&'a str],
        decides: &'a [SummandAgreement],
    ) -> RankReport<'a> {
        RankReport {
            formula: &self.formula,
            queue: &self.queue,
            not_considered: self.queue.not_considered.iter().copied().collect(),
            rows,
            inputs,
            terms: None,
            rules: &[],
            decides,
            checked: None,
            page: None,
        }
    }
}

impl AskedSite<'_> {
    /// Answers a question about this site.
    ///
    /// # Errors
    /// The request is wrong, or the formula cannot be ranked.
    pub fn answer(&self, command: &str, request: Value) -> Result<String, RunError> {
        match command {
            "rank" => self.rank(&read(request)?),
            "check" => self.check(&read(request)?),
            "explain" => self.explain(&read(request)?),
            "trajectory" => self.trajectory(&read(request)?),
            "compare" => self.compare(&read(request)?),
            "shares" => self.shares(&read(request)?),
            "cycle" => self.cycle(read(request)?),
            _ => Err(RunError::Request(format!(
                "`{command}` is no command that is run here, expected `rank`, `check`, `explain`, `trajectory`, \
                 `compare`, `shares` or `cycle`"
            ))),
        }
    }

    fn rank(&self, asked: &RankAsked) -> Result<String, RunError> {
        let ranked = self.rank_queue(asked.formula.as_deref())?;
        let names = ranked.queue.program.inputs().iter();
        let inputs: Vec<&str> = names.map(|name| &**name).filter(|_| asked.inputs).collect();
        let rows = RankedRow::all(&ranked.queue.ranking);
        json_of(
            &ranked.report(&rows, &inputs, &ranked.queue.decides()),
            &ranked.warnings,
        )
    }

    /// Ranks the queue under a formula; `None`: the one in force.
    ///
    /// # Errors
    /// The formula cannot be ranked.
    pub fn rank_queue(&self, formula: Option<&str>) -> Result<AnsweredRank, RunError> {
        let formula = self.formula(formula)?;
        let queue = self.ranked(&formula, false)?;
        let submitted = formula.source.submitted(self.numbers);
        let checked = self.site.check_ranked(&submitted, &queue);
        let found = self
            .doubts_of(&queue)
            .into_iter()
            .chain(doubts(failures(&checked)));
        Ok(AnsweredRank {
            warnings: self.warnings(found),
            formula: formula.source.text,
            queue,
        })
    }

    fn check(&self, asked: &CheckAsked) -> Result<String, RunError> {
        let source = self.text(asked.formula.as_deref())?;
        let mut checked = self.site.check(&source.submitted(self.numbers))?;
        checked.findings = checked
            .findings
            .into_iter()
            .map(|found| found.worded(self.worded))
            .collect();
        serde_json::to_string(&checked.document(&source.text))
            .map_err(|error| RunError::Request(error.to_string()))
    }

    fn explain(&self, asked: &ExplainAsked) -> Result<String, RunError> {
        let formula = self.formula(asked.formula.as_deref())?;
        let queue = self.ranked(&formula, true)?;
        let considered = queue.ranking.order().len();
        if let Some(rank) = asked.to.filter(|rank| !(1..=considered).contains(rank)) {
            return Err(RunError::Request(format!(
                "there is no rank {rank}: {considered} jobs are considered"
            )));
        }
        let options = ExplainOptions {
            to: asked.to,
            ..ExplainOptions::default()
        };
        let explanations =
            self.site
                .explain(&queue, &rows(self.site, &queue, &asked.jobs)?, &options)?;
        let decides = queue.decides();
        let report = ExplainReport {
            formula: &formula.source.text,
            queue: &queue,
            explanations: &explanations,
            rules: &queue.rules,
            checked: None,
            decides: &decides,
            preemption: &[],
            usage_unit: &explanations.usage_unit,
        };
        self.written(&report, self.doubts_of(&queue))
    }

    fn trajectory(&self, asked: &TrajectoryAsked) -> Result<String, RunError> {
        if self.numbers == NumberMode::Decimal {
            return Err(RunError::Request(
                "a trajectory computes with doubles, not with decimals".to_owned(),
            ));
        }
        let seconds = asked.hours * 3600.0;
        if !(60.0..=f64::from(MAX_FOLLOWED)).contains(&seconds) {
            return Err(RunError::Request(format!(
                "`hours` is {}, expected from a minute to 8784",
                asked.hours
            )));
        }
        let formula = self.formula(asked.formula.as_deref())?;
        let queue = self.ranked(&formula, false)?;
        let mut rows = rows(self.site, &queue, &asked.jobs)?;
        rows.sort_unstable();
        rows.dedup();
        let trajectory = self
            .site
            .trajectory(&queue, &rows, seconds.round() as i64, SEARCH_WORK);
        let report = TrajectoryReport {
            formula: &formula.source.text,
            table: &queue.table,
            considered: queue.ranking.order().len(),
            trajectory: &trajectory,
            rules: &[],
        };
        self.written(&report, self.doubts_of(&queue))
    }

    fn compare(&self, asked: &CompareAsked) -> Result<String, RunError> {
        let formulas = OldNew {
            old: self.formula(asked.old.as_deref())?,
            new: self.formula(asked.new.as_deref())?,
        };
        let request = CompareRequest::new(&formulas.old.parsed, &formulas.new.parsed);
        let compared = match self.site.compare(request) {
            Err(SiteError::NotArithmetic) => {
                return Err(self.not_arithmetic([formulas.old, formulas.new]));
            }
            compared => compared?,
        };
        let submitted = formulas
            .as_ref()
            .map(|formula| formula.source.submitted(self.numbers));
        let checked = self
            .site
            .check_compared(self.site, submitted.as_ref(), &compared);
        let found = compared.findings.old.iter().chain(&compared.findings.new);
        let found = doubts(
            found
                .chain(failures(&checked.old))
                .chain(failures(&checked.new)),
        );
        let decides = compared.decides();
        let report = CompareReport {
            formulas: OldNew {
                old: &formulas.old.source.text,
                new: &formulas.new.source.text,
            },
            table: &compared.table,
            rankings: OldNew {
                old: &compared.sides.old.ranking,
                new: &compared.sides.new.ranking,
            },
            comparison: &compared.comparison,
            rows: &compared_rows(&compared.comparison),
            rules: OldNew {
                old: &compared.sides.old.rules,
                new: &compared.sides.new.rules,
            },
            decides: OldNew {
                old: &decides.old,
                new: &decides.new,
            },
            checked: OldNew::default(),
            listed: ListedJobs::default(),
            page: None,
        };
        let sides = [&compared.sides.old, &compared.sides.new];
        let names = sides.map(|side| side.program.inputs()).concat();
        let of_site = self.site.warnings_for(&names).into_iter();
        let of_jobs = compared.warnings.iter().cloned();
        self.written(&report, of_site.chain(of_jobs).chain(found))
    }

    fn shares(&self, asked: &SharesAsked) -> Result<String, RunError> {
        let policies = asked.policy.into_iter().collect();
        let shares = self.site.shares(&SharesRequest {
            policies,
            ..SharesRequest::default()
        })?;
        let nodes: Vec<_> = shares.iter().map(|one| one.nodes(&[], false)).collect();
        let views = shares.iter().zip(&nodes);
        let views: Vec<PolicyView<'_>> = views
            .map(|(one, nodes)| PolicyView::new(one, nodes))
            .collect();
        let report = SharesReport {
            views: &views,
            shown: &views,
            changes: &[],
            places: None,
        };
        self.written(
            &report,
            shares.iter().flat_map(|one| one.notes.iter().cloned()),
        )
    }

    fn cycle(&self, asked: CycleAsked) -> Result<String, RunError> {
        let is_asked = asked.formula.is_some() || self.site.formula_text().is_ok();
        let formula = is_asked
            .then(|| self.formula(asked.formula.as_deref()))
            .transpose()?;
        let parsed = formula.as_ref().map(|formula| &formula.parsed);
        let CycleAsked {
            jobs, processors, ..
        } = asked;
        let request = CycleRequest {
            formula: parsed,
            processors,
            asked: jobs,
            ..CycleRequest::default()
        };
        let cycle = match self.site.cycle(&request) {
            Err(SiteError::NotArithmetic) => return Err(self.not_arithmetic(formula)),
            cycle => cycle?,
        };
        let text = formula.as_ref().map(|formula| &*formula.source.text);
        let report = CycleReport {
            formula: text,
            cycle: &cycle,
            jobs: &[],
            entities: &[],
            checked: None,
        };
        let found = doubts(&cycle.findings)
            .into_iter()
            .chain(cycle.warnings.iter().cloned());
        self.written(
            &report,
            found.chain(cycle.unknown.iter().cloned().map(Message::from)),
        )
    }

    /// The formula that is asked about, else the one in force, as the site has it.
    fn text(&self, formula: Option<&str>) -> Result<FormulaText, RunError> {
        Ok(formula.map_or_else(|| self.site.formula_text(), FormulaText::new)?)
    }

    fn formula(&self, formula: Option<&str>) -> Result<Asked, RunError> {
        let source = self.text(formula)?;
        let parsed = match source.submitted(self.numbers).formula() {
            Ok(parsed) => parsed.clone(),
            Err(refusal) => {
                return Err(RunError::Syntax(
                    source.text.clone(),
                    refusal.finding.clone(),
                ));
            }
        };
        Ok(Asked { source, parsed })
    }

    fn ranked(&self, formula: &Asked, record_origins: bool) -> Result<RankedQueue, RunError> {
        match self.site.rank(RankRequest {
            record_origins,
            ..RankRequest::from(&formula.parsed)
        }) {
            Err(SiteError::NotArithmetic) => Err(RunError::NotArithmetic(
                formula.source.text.clone(),
                Box::new(formula.parsed.clone()),
            )),
            ranked => Ok(ranked?),
        }
    }

    /// The error of the formula that cannot be compiled for the site.
    fn not_arithmetic(&self, formulas: impl IntoIterator<Item = Asked>) -> RunError {
        let refused = formulas
            .into_iter()
            .find(|formula| formula.parsed.compile(self.site.schema()).is_err());
        refused.map_or(RunError::Site(SiteError::NotArithmetic), |formula| {
            RunError::NotArithmetic(formula.source.text, Box::new(formula.parsed))
        })
    }

    fn doubts_of(&self, queue: &RankedQueue) -> Vec<Message> {
        let mut all = self.site.warnings_for(queue.program.inputs());
        all.extend(doubts(&queue.findings));
        all.extend(queue.warnings.iter().cloned());
        all
    }

    /// The JSON of an answer, with the warnings about the site and these.
    fn written(
        &self,
        answer: &impl Answer,
        others: impl IntoIterator<Item = Message>,
    ) -> Result<String, RunError> {
        json_of(answer, &self.warnings(others))
    }

    /// The warnings about the site and these, each once.
    fn warnings(&self, others: impl IntoIterator<Item = Message>) -> Vec<String> {
        let mut warnings: Vec<String> = Vec::new();
        for warning in self.site.warnings().into_iter().chain(others) {
            let warning = warning.worded(self.worded);
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}

fn json_of(answer: &impl Answer, warnings: &[String]) -> Result<String, RunError> {
    let mut json = Vec::new();
    write_json(answer, warnings, &mut json)
        .map_err(|error| RunError::Request(error.to_string()))?;
    String::from_utf8(json).map_err(|error| RunError::Request(error.to_string()))
}

/// The rows of these jobs.
fn rows(site: &Site, queue: &RankedQueue, jobs: &[String]) -> Result<Vec<usize>, RunError> {
    let mut rows = Vec::new();
    for job in jobs {
        rows.extend(
            queue
                .table
                .find_jobs(site.job_id(job))
                .map_err(RunError::Request)?,
        );
    }
    Ok(rows)
}

/// What the jobs of the queue show of a formula: that it fails for them, and what this does to the
/// scheduler.
fn failures(checked: &Checked) -> impl Iterator<Item = &Diagnostic> {
    checked
        .findings
        .iter()
        .filter(|found| FAILURE_CODES.contains(&found.code))
}

/// What findings give reason to doubt, one sentence each.
pub fn doubts<'f>(findings: impl IntoIterator<Item = &'f Diagnostic>) -> Vec<Message> {
    let findings = findings
        .into_iter()
        .filter(|found| found.severity != Severity::Note);
    findings
        .map(|found| advice(found).after(format!("{}: {}", found.code, found.message)))
        .collect()
}

/// What a finding advises, after a semicolon.
pub fn advice(found: &Diagnostic) -> Message {
    let label = if found.label.is_empty() {
        String::new()
    } else {
        format!("; {}", found.label)
    };
    match &found.help {
        Some(help) => help.clone().after(label + "; "),
        None => label.into(),
    }
}
