//! The jobs of a site of Slurm, with its priority as a formula and the inputs of this formula.
//!
//! In: `slurm.conf`, the jobs, and what Slurm's tools print of partitions, nodes, qualities of
//! service, associations and priorities. Out: a formula, and the jobs as native NDJSON, which the
//! rest of the site reads like any other document of jobs. What becomes of them by the rules of Slurm
//! is said by `jsf_slurm`.

use std::collections::HashMap;

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::Release;
use job_sort_formula::formula::syntax::Expr;
use job_sort_formula::{Formula, Program, Schema, Value};
use jsf_ingest::{FileKind, NativeJob};
use jsf_json::clipped;
use jsf_openpbs::NumberMode;
use jsf_slurm::priority::TresWeight;
use jsf_slurm::slurm_jobs::SlurmJobs;
use jsf_slurm::sprio::{CalculationTime, Sprio};
use jsf_slurm::{
    AGE, Cluster, Factor, PrioritySettings, SlurmConf, SlurmDocument, SlurmJob, TimeLimit,
};

use crate::files::file_role::unexpected;
use crate::formulas::with_names;
use crate::site_tree::SiteTree;
use crate::warnings::in_file;
use crate::{FileSource, FormulaText, Role, Site, SiteError, SiteFiles};

/// The longest document of jobs of Slurm that is read, in bytes.
const MAX_JOBS: u64 = 4 << 30;

const JOBS: &str = "`squeue --json`, `scontrol show job`, or `squeue -O` with a header and `|` between the columns";

/// The priority of a site of Slurm, and its jobs.
#[derive(Debug, Default)]
pub struct SlurmQueue {
    /// The priority as a formula.
    pub text: FormulaText,
    /// The jobs as native NDJSON; `None` if they are those of a log.
    pub jobs: Option<FileSource>,
    /// When the priorities are computed; `None` for the jobs of a log.
    pub at: Option<CalculationTime>,
    /// What the priority of a job depends on.
    pub cluster: Cluster,
    pub sprio: Sprio,
    files: SiteFiles,
    by_id: HashMap<String, SlurmJob>,
    /// The files that name their clusters.
    pub clusters: Vec<(String, String)>,
    /// The jobs that have ended: the number and the state of each.
    ended: HashMap<String, String>,
    /// The warnings about jobs, for answers that rank them.
    pub of_jobs: Vec<Message>,
    /// The release that printed the jobs.
    pub release: Option<Release>,
    pub warnings: Vec<Message>,
}

/// A formula that is evaluated for later times, in which the age of a job has reached its greatest
/// at 1.
#[derive(Debug, Clone)]
pub struct AgingFormula {
    pub program: Program,
    /// The time in which an age grows from 0 to 1, in seconds.
    pub max_age: u32,
}

impl SlurmQueue {
    /// Reads the jobs, whose document is of the given kind, and what their priority depends on; `None`
    /// if the jobs are not Slurm's. `at` is the time at which the priorities are computed, in seconds
    /// since 1970.
    ///
    /// # Errors
    /// A file cannot be read.
    fn read(
        files: &SiteFiles,
        kind: Option<FileKind>,
        conf: Option<&SlurmConf>,
        at: Option<i64>,
    ) -> Result<Option<Self>, SiteError> {
        let Some(queue) = queue_of_slurm(files, kind)? else {
            let is_of_log = files.has_jobs_of_log && !files.has(Role::Queue);
            return match conf {
                Some(conf) if is_of_log && !files.are_of_openpbs() => {
                    Self::new(files, conf, None, Vec::new()).map(Some)
                }
                _ => Ok(None),
            };
        };
        let name = queue.name();
        let text = String::from_utf8_lossy(&queue.read_up_to(MAX_JOBS)?).into_owned();
        let read = SlurmJobs::read(&name, &text)?;
        drop(text);
        let default = SlurmConf::default();
        let mut warnings: Vec<Message> = read.warnings.into_iter().map(Message::from).collect();
        if conf.is_none() {
            let missing = "the weights of Slurm's priority are not known, and each is taken as 0: ";
            warnings.push(Message::asking(missing, [Need::SlurmConf]));
        }
        let conf = conf.unwrap_or(&default);
        let mut queue = Self::new(files, conf, Some(&read.jobs), warnings)?;
        let time = match at {
            Some(at) => CalculationTime::known(at),
            None => {
                let collected = files.jobs_taken_at();
                CalculationTime::find(&read.jobs, queue.settings(), &queue.sprio, collected)
            }
        };
        queue.release = read.version.as_deref().and_then(Release::from_version);
        queue.ended = read.ended;
        queue.warn_of_time(&time, &read.jobs);
        queue.warn_of_jobs(&read.jobs);
        let mut lines = Vec::new();
        for job in &read.jobs {
            serde_json::to_writer(&mut lines, &queue.native_job(job, &time))?;
            lines.push(b'\n');
        }
        let mut jobs = read.jobs.iter();
        if let Some(job) = jobs.find(|job| !job.cluster.is_empty()) {
            queue.clusters.push((name.clone(), job.cluster.clone()));
        }
        if let Some(source) = files.first(Role::Associations) {
            for cluster in &queue.cluster.clusters_of_associations {
                queue.clusters.push((source.name(), cluster.clone()));
            }
        }
        for job in read.jobs {
            queue.by_id.insert(job.id.clone(), job);
        }
        queue.at = Some(time);
        queue.jobs = Some(FileSource::Bytes {
            name,
            bytes: lines.into(),
        });
        Ok(Some(queue))
    }

    /// The priority of these jobs; `None` for those of a log.
    fn new(
        files: &SiteFiles,
        conf: &SlurmConf,
        jobs: Option<&[SlurmJob]>,
        mut warnings: Vec<Message>,
    ) -> Result<Self, SiteError> {
        let cluster = read_cluster(files, conf, &mut warnings)?;
        let mut sprio = Sprio::default();
        let mut has_direct = false;
        if let Some(jobs) = jobs {
            sprio = read_sprio(files, &mut warnings)?;
            has_direct = jobs.iter().any(|job| sprio.is_direct(&job.id));
        }
        let mut text = FormulaText::new(conf.priority.formula(has_direct))?;
        text.origin = match files.first(Role::SlurmConf) {
            Some(source) => source.name(),
            None => "Slurm's defaults".to_owned(),
        };
        let mut queue = Self {
            text,
            cluster,
            sprio,
            files: files.clone(),
            warnings,
            ..Self::default()
        };
        queue.warn_of_missing();
        Ok(queue)
    }

    /// The settings of the priority.
    pub fn settings(&self) -> &PrioritySettings {
        &self.cluster.conf.priority
    }

    /// The priority that `squeue` prints of a pending job that is not held.
    pub fn printed_total(&self, job: &str) -> Option<u32> {
        let job = self.by_id.get(job)?;
        if job.is_waiting_for_start() {
            job.priority
        } else {
            None
        }
    }

    /// Whether the age of a job grows.
    pub fn is_aging(&self, job: &str) -> bool {
        let (Some(job), Some(time)) = (self.by_id.get(job), &self.at) else {
            return false;
        };
        let accrues = job.accrues_from.is_some_and(|from| from <= time.of(job));
        accrues && job.is_pending() && !self.sprio.is_direct(&job.id)
    }

    /// `ACCOUNT/USER` of the pending jobs that are not held, whose shares slurmctld asks for in its
    /// first cycle, in the order in which it does: that of the jobs' numbers.
    pub fn pending_users(&self) -> Vec<String> {
        let mut pending = Vec::new();
        for job in self.by_id.values() {
            if job.is_waiting_for_start() {
                pending.push(job);
            }
        }
        pending.sort_by_key(|job| (job.number(), &job.id));
        pending.into_iter().map(SlurmJob::entity).collect()
    }

    /// Adds the names of the priority's inputs.
    pub fn add_names_to(&self, schema: &mut Schema) {
        let weights = self.settings().weight_tres.iter();
        let inputs: Vec<String> = weights.map(TresWeight::input).collect();
        schema.add_slurm(inputs.iter().map(String::as_str));
    }

    /// A formula for later times; `None` if it does not read the age of a job, or an age does not
    /// grow.
    pub fn aging_formula(&self, program: &Program, schema: &Schema) -> Option<AgingFormula> {
        let max_age = self.settings().max_age;
        if max_age == 0 || program.slot(AGE).is_none() {
            return None;
        }
        let expr = program.expr();
        let text = with_names(expr, expr.span(), |name| {
            (name == AGE).then(|| "min(1.0, age_factor)".to_owned())
        });
        let program = Formula::parse(&text).ok()?.compile(schema).ok()?;
        Some(AgingFormula { program, max_age })
    }

    /// Whether a formula is the priority.
    pub fn is_priority(&self, expr: &Expr) -> bool {
        let own = Formula::parse(&self.text.text);
        // written with normalised spaces, so that those that were typed do not count
        own.is_ok_and(|own| own.to_string() == expr.to_string())
    }

    /// The columns of `sprio -l`: the name and the formula of each.
    pub fn columns(&self) -> Vec<(String, Formula)> {
        let mut columns = Vec::new();
        for (column, term) in self.settings().terms() {
            if let Ok(formula) = Formula::parse(&term) {
                columns.push((column, formula));
            }
        }
        columns
    }

    fn warn(&mut self, text: impl Into<Message>) {
        self.warnings.push(text.into());
    }

    fn warn_of_missing(&mut self) {
        for (setting, command) in self.cluster.missing() {
            self.warn(format!(
                "{setting} is not 0, and what it weighs is taken as 0: add what `{command}` prints to the site's folder"
            ));
        }
        if self.settings().weight(Factor::Fairshare) > 0 && !self.files.has(Role::Tree) {
            self.warn("PriorityWeightFairshare is not 0, and what it weighs is not known: add `sshare.txt` (`sshare -a -l -P`) to the site's folder");
        }
        let settings = self.settings();
        let mut raw = [Factor::Assoc, Factor::Partition, Factor::Qos].into_iter();
        let is_raw = settings.raw_tres && raw.all(|factor| settings.is_raw(factor));
        if is_raw && self.cluster.conf.is_printed {
            self.warn(
                "`scontrol show config` prints NO_NORMAL_ALL before 23.02 for each of NO_NORMAL_ASSOC, NO_NORMAL_PART, \
                 NO_NORMAL_QOS and NO_NORMAL_TRES: give slurm.conf, which says which of them are set",
            );
        }
    }

    /// Warns of a time of the priorities that is not certain.
    fn warn_of_time(&mut self, time: &CalculationTime, jobs: &[SlurmJob]) {
        if time.ages_are_of_others {
            self.warn("the ages in `sprio` do not fit PriorityMaxAge: when the priorities are computed does not follow from them");
        }
        let has_age = jobs.iter().any(|job| job.accrues_from.is_some());
        if time.is_guessed && has_age && self.settings().weight(Factor::Age) > 0 {
            self.warn(Message::asking(
                "when the priorities are computed is not known: at the last submission; ",
                [Need::Moment],
            ));
        }
    }

    /// Warns of what the formula cannot say of single jobs.
    fn warn_of_jobs(&mut self, jobs: &[SlurmJob]) {
        let mut pending: Vec<&SlurmJob> = jobs.iter().collect();
        pending.retain(|job| job.is_pending());
        let mut said = vec![
            concerning(
                "a priority that was set directly, which no weight changes",
                &pending,
                |job| self.sprio.is_direct(&job.id),
            ),
            concerning(
                "several partitions, of which the first counts",
                &pending,
                |job| job.partition.contains(','),
            ),
            concerning(
                "a dependency or a begin time, before which Slurm does not start it",
                &pending,
                |job| !job.is_held() && job.is_dependent(),
            ),
        ];
        for (factor, what, role) in [
            (Factor::Partition, "partition", Role::Partitions),
            (Factor::Qos, "QOS", Role::Qos),
            (Factor::Assoc, "association", Role::Associations),
        ] {
            let files = &self.files;
            let file = files.first(role).or(files.first(Role::SlurmConf));
            let file = file.map(FileSource::name).unwrap_or_default();
            let unknown = |job: &SlurmJob| self.cluster.unknown_name(factor, job);
            if let Some(name) = pending.iter().find_map(|job| unknown(job)) {
                let what = format!(
                    "a {what} that is not in `{file}`, such as `{name}`, and its factor is taken as 0"
                );
                said.push(concerning(&what, &pending, |job| unknown(job).is_some()));
            }
        }
        self.of_jobs.extend(said.into_iter().flatten());
        if self.settings().increases_only {
            self.of_jobs.push(
                "PriorityFlags=INCR_ONLY is not followed here: `squeue` may print greater priorities"
                    .into(),
            );
        }
    }

    /// The number of a job that `squeue` prints as a task of an array.
    fn job_of_task<'a>(&'a self, task: &'a str) -> Option<&'a str> {
        let mut jobs = self.by_id.values();
        if let Some(job) = jobs.find(|job| job.array_task.as_deref() == Some(task)) {
            return Some(&job.id);
        }
        // the tasks that wait are one job, with the number of the array
        let (array, _) = task.split_once('_')?;
        let job = self.by_id.get(array)?;
        job.array_task.is_some().then_some(array)
    }

    /// The name of a file, or of the one that is missing.
    pub fn file_name(&self, role: Role) -> String {
        match self.files.first(role) {
            Some(source) => format!("`{}`", source.name()),
            None => {
                let usual = role.files().names().next().unwrap_or_default();
                format!("`{usual}`, which is missing")
            }
        }
    }
}

/// A warning about those of the pending jobs that have something.
fn concerning(
    what: &str,
    pending: &[&SlurmJob],
    concerns: impl Fn(&SlurmJob) -> bool,
) -> Option<Message> {
    let mut concerned = pending.iter().filter(|job| concerns(job));
    let first = &concerned.next()?.id;
    let jobs = match concerned.count() {
        0 => format!("job `{first}` has"),
        others => format!("{} jobs (first `{first}`) have", others + 1),
    };
    Some(format!("{jobs} {what}").into())
}

/// The document of the jobs, if it is one of Slurm; `kind` is `None` for what can be read only once.
fn queue_of_slurm(
    files: &SiteFiles,
    kind: Option<FileKind>,
) -> Result<Option<&FileSource>, SiteError> {
    let (Some(queue), Some(kind)) = (files.first(Role::Queue), kind) else {
        return Ok(None);
    };
    if kind == FileKind::Slurm(SlurmDocument::Jobs) {
        return Ok(Some(queue));
    }
    let name = queue.name();
    if is_named_as_of_slurm(&name) && !FileKind::JOBS.contains(&kind) {
        return Err(unexpected(kind, &name, &queue.opened()?.head, JOBS));
    }
    Ok(None)
}

/// What `sprio` printed, in one or more files.
fn read_sprio(files: &SiteFiles, warnings: &mut Vec<Message>) -> Result<Sprio, SiteError> {
    let mut sprio = Sprio::default();
    for source in files.all(Role::Sprio) {
        let name = source.name();
        let problems = sprio.add(&source.read_text(Role::Sprio)?);
        warnings.extend(in_file(&name, problems));
    }
    Ok(sprio)
}

/// Whether a file has one of the names that Slurm's documents of jobs have.
fn is_named_as_of_slurm(path: &str) -> bool {
    let name = path.rsplit(['/', ' ']).next().unwrap_or_default();
    name.starts_with("squeue") || name.starts_with("scontrol_show_job")
}

impl Site {
    /// Reads `slurm.conf`, and the jobs if they are Slurm's. The priority, with its names, is then the
    /// formula in force, unless a document of OpenPBS has one.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn read_slurm(
        &mut self,
        files: &SiteFiles,
        kind_of_jobs: Option<FileKind>,
    ) -> Result<Option<SlurmConf>, SiteError> {
        let mut conf = None;
        if let Some(source) = files.first(Role::SlurmConf) {
            conf = Some(source.read_slurm_conf()?);
        }
        self.slurm = SlurmQueue::read(files, kind_of_jobs, conf.as_ref(), self.options.at)?;
        let has_jobs = files.has(Role::Queue);
        let in_force = &mut self.formulas.in_force;
        if let Some(slurm) = &self.slurm {
            slurm.add_names_to(&mut self.schema);
            in_force.get_or_insert(Ok(slurm.text.clone()));
            self.warnings
                .of_order
                .all
                .extend_from_slice(&slurm.warnings);
        } else if let Some(conf) = &conf
            && !has_jobs
            && !conf.priority.is_without_weights()
        {
            self.schema.add_slurm([]);
            in_force.get_or_insert(Ok(FormulaText::new(conf.priority.formula(false))?));
        }
        if let Some(conf) = &conf {
            self.warnings.of_shares.extend(conf.warnings.clone());
        }
        // slurmctld computes with doubles
        let has_conf_alone = conf.is_some() && !has_jobs && !files.are_of_openpbs();
        if self.options.numbers == NumberMode::OpenPbs && (self.slurm.is_some() || has_conf_alone) {
            self.options.numbers = NumberMode::Exact;
        }
        Ok(conf)
    }

    /// Warns if the files that name their cluster differ in it.
    pub(crate) fn warn_of_clusters(&mut self, files: &SiteFiles) {
        let mut named: Vec<(String, String)> = Vec::new();
        if let Some(source) = files.first(Role::SlurmConf)
            && let Some(cluster) = self.policy.conf.value("ClusterName")
        {
            named.push((source.name(), cluster.to_owned()));
        }
        if let Some(slurm) = &self.slurm {
            named.extend_from_slice(&slurm.clusters);
        }
        named.extend(self.tree.as_ref().and_then(SiteTree::cluster));
        let Some((file, cluster)) = named.first() else {
            return;
        };
        // a file of several clusters has this one too
        let mut with_cluster = Vec::new();
        for (file, of) in &named {
            if of.eq_ignore_ascii_case(cluster) {
                with_cluster.push(file);
            }
        }
        let mut others = named.iter();
        if let Some((other_file, other)) = others.find(|(file, _)| !with_cluster.contains(&file)) {
            self.warnings.of_order.push(format!(
                "`{file}` is of the cluster `{cluster}` and `{other_file}` of `{other}`: priorities follow from the files of one cluster; \
                 collect them again (`jsf capture`)"
            ));
        }
    }

    /// The id of a job in a document, where it is given as `squeue` prints the tasks of an array.
    pub fn job_id<'a>(&'a self, given: &'a str) -> &'a str {
        match &self.slurm {
            Some(slurm) => slurm.job_of_task(given).unwrap_or(given),
            None => given,
        }
    }

    /// What is said of a job that its document lists as ended.
    pub fn ended_job(&self, id: &str) -> Option<String> {
        let slurm = self.slurm.as_ref()?;
        let state = slurm.ended.get(id)?;
        let file = slurm.files.first(Role::Queue)?.name();
        Some(format!(
            "job `{id}` is in `{file}` with the state {state} and does not wait"
        ))
    }

    /// Jobs are not ranked by settings with which slurmctld does not start.
    pub(crate) fn require_start_of_slurm(&self) -> Result<(), SiteError> {
        let conf = &self.policy.conf;
        conf.require_start().map_err(SiteError::content)
    }

    /// Slurm's priority with the weights of `slurm.conf`, as a formula.
    ///
    /// # Errors
    /// The site has no `slurm.conf`.
    pub fn slurm_priority(&self) -> Result<FormulaText, SiteError> {
        if !self.files.has(Role::SlurmConf) {
            return Err(SiteError::missing(
                "no formula and no weights of Slurm: ",
                Need::SlurmConf,
            ));
        }
        FormulaText::new(self.policy.conf.priority.formula(false))
    }

    /// What Slurm's priority depends on beside the jobs.
    pub(crate) fn slurm_cluster(&self) -> Result<Cluster, SiteError> {
        if !self.files.has(Role::SlurmConf) {
            return Err(SiteError::missing("no weights of Slurm: ", Need::SlurmConf));
        }
        read_cluster(&self.files, &self.policy.conf, &mut Vec::new())
    }
}

/// Reads what the priority depends on beside the jobs.
fn read_cluster(
    files: &SiteFiles,
    conf: &SlurmConf,
    warnings: &mut Vec<Message>,
) -> Result<Cluster, SiteError> {
    let mut cluster = Cluster::new(conf.clone());
    for (role, document) in [
        (Role::SlurmNodes, SlurmDocument::Nodes),
        (Role::Partitions, SlurmDocument::Partitions),
        (Role::Qos, SlurmDocument::Qos),
        (Role::Associations, SlurmDocument::Associations),
    ] {
        if let Some(source) = files.first(role) {
            let name = source.name();
            let problems = cluster.add(document, &source.read_text(role)?);
            let problems = problems.map_err(|fault| format!("`{}`: {fault}", clipped(&name)))?;
            warnings.extend(in_file(&name, problems));
        }
    }
    Ok(cluster)
}

impl SlurmQueue {
    /// A job as native JSON.
    pub fn native_job(&self, job: &SlurmJob, time: &CalculationTime) -> NativeJob<'static> {
        let now = time.of(job);
        let mut direct = None;
        if self.sprio.is_direct(&job.id) {
            direct = job.priority;
        }
        let mut numbers = self.cluster.priority_inputs(job, now);
        if let Some(factor) = self.sprio.site_factor(&job.id) {
            numbers.push(("site_factor".to_owned(), factor));
        }
        // slurmctld keeps such a priority as it is, whatever the factors are
        if direct.is_some() {
            // as an input of the job, which the tree does not replace
            numbers.push((Factor::Fairshare.input().to_owned(), 0.0));
            for (_, number) in &mut numbers {
                *number = 0.0;
            }
        }
        let priorities = self.cluster.priorities_of(job);
        let [.., (_, job_factor)] = priorities;
        let others = [
            ("direct_priority", direct.map_or(0.0, f64::from)),
            ("ngpus", job.gpus()),
        ];
        for (name, number) in others.into_iter().chain(priorities) {
            numbers.push((name.to_owned(), number));
        }
        let mut native = NativeJob {
            id: job.id.clone().into(),
            entity: job.entity().into(),
            queue: job.first_partition().to_owned().into(),
            state: if job.is_held() {
                "H"
            } else if job.is_pending() {
                "Q"
            } else {
                "R"
            },
            // of equal priorities, the smaller number is first
            queued_at: job.number(),
            ..NativeJob::default()
        };
        for (name, number) in numbers {
            native.add_input(name, &Value::Float(number));
        }
        let waited = job.accrues_from.map_or(0, |from| (now - from).max(0));
        native.attributes.insert("eligible_time", waited.into());
        native
            .attributes
            .insert("queue_priority", (job_factor as i64).into());
        let resources = &mut native.resources;
        resources.insert("ncpus".into(), job.cpus.into());
        resources.insert("nodect".into(), job.nodes().into());
        resources.insert("mem".into(), format!("{}mb", job.memory().round()).into());
        if let TimeLimit::Minutes(minutes) = job.time_limit {
            resources.insert("walltime".into(), (u64::from(minutes) * 60).into());
        }
        native
    }
}
