//! The queue of Slurm: its priority as a formula, and its jobs as native NDJSON.

use std::collections::{HashMap, HashSet};

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Message, Need, limit_each_kind};
use job_sort_formula::fairshare::Release;
use job_sort_formula::formula::program::Program;
use job_sort_formula::schema::Schema;
use jsf_ingest::FileKind;
use jsf_openpbs::words::counted;
use jsf_slurm::SlurmDocument;
use jsf_slurm::conf::{PrioritySettings, SlurmConf};
use jsf_slurm::jobs::{SlurmJob, SlurmJobs};
use jsf_slurm::priority::{AGE, Cluster, NamedInput, PriorityTerm, Sprio};

use crate::opening::in_file;
use crate::opening::role::unexpected;
use crate::slurm::native_job::Clock;
use crate::{FileSource, FormulaText, Role, Site, SiteError, SiteFiles};

/// The longest document of jobs of Slurm that is read, in bytes.
const MAX_JOBS: u64 = 4 << 30;

const JOBS: &str = "`squeue --json`, `scontrol show job`, or `squeue -O` with a header and `|` between the columns";

/// The priority of a site of Slurm, and its jobs.
#[derive(Debug)]
pub struct SlurmQueue {
    /// The priority as a formula.
    pub text: FormulaText,
    /// The same, as it is printed.
    formula: String,
    /// Its summands, with their columns in `sprio -l`.
    terms: Vec<PriorityTerm>,
    /// The jobs as native NDJSON; `None` if they are those of a log.
    pub jobs: Option<FileSource>,
    /// When the priorities are computed, in seconds since 1970 on the clock of the jobs.
    pub at: Option<i64>,
    /// What the priority of a job depends on.
    pub settings: PrioritySettings,
    pub cluster: Cluster,
    /// The priorities of pending jobs that `squeue` prints.
    pub totals: HashMap<String, u32>,
    pub sprio: Sprio,
    /// The names of the site's files by their roles.
    pub files: HashMap<Role, String>,
    /// `PriorityCalcPeriod` in seconds.
    pub calc_period: u32,
    /// The jobs that represent tasks of an array, by the names that `squeue` prints.
    array_tasks: HashMap<String, String>,
    /// The files that name their clusters.
    pub clusters: Vec<(String, String)>,
    /// The jobs that have ended: the number and the state of each.
    ended: HashMap<String, String>,
    /// The warnings about jobs, for answers that rank them.
    pub of_jobs: Vec<Message>,
    /// The pending jobs whose age grows.
    pub aging: HashSet<String>,
    /// `ACCOUNT/USER` of the pending jobs that are not held, in the order of the jobs' numbers.
    pub pending_users: Vec<String>,
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
    /// Reads the jobs and what their priority depends on; `None` if the jobs are not Slurm's. `at`
    /// is the time at which the priorities are computed, in seconds since 1970.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(
        files: &SiteFiles,
        conf: Option<&SlurmConf>,
        at: Option<i64>,
    ) -> Result<Option<Self>, SiteError> {
        let Some(queue) = queue_of_slurm(files)? else {
            let is_of_log = files.has_jobs_of_log && !files.has(Role::Queue);
            return match conf {
                Some(conf) if is_of_log && !files.are_of_openpbs() => {
                    let mut warnings = Vec::new();
                    let cluster = read_cluster(files, conf, &mut warnings)?;
                    let sprio = Sprio::default();
                    Ok(Some(Self::new(files, conf, cluster, sprio, &[], warnings)?))
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
        let cluster = read_cluster(files, conf, &mut warnings)?;
        let sprio = read_sprio(files, &mut warnings)?;
        let clock = Clock::new(at, &read.jobs, conf, &sprio, files);
        let mut queue = Self::new(files, conf, cluster, sprio, &read.jobs, warnings)?;
        queue.at = Some(clock.now);
        queue.release = read.version.as_deref().and_then(Release::from_version);
        queue.ended = read.ended;
        let mut jobs = read.jobs.iter();
        if let Some(job) = jobs.find(|job| !job.cluster.is_empty()) {
            queue.clusters.push((name.clone(), job.cluster.clone()));
        }
        queue.warn_of_clock(&clock, &read.jobs);
        queue.warn_of_jobs(&read.jobs);
        let mut lines = Vec::new();
        for job in &read.jobs {
            if let Some(from) = job.accrues_from
                && from <= clock.of(job)
                && job.is_pending()
                && !is_direct(job, &queue.sprio)
            {
                queue.aging.insert(job.id.clone());
            }
            serde_json::to_writer(&mut lines, &queue.native_job(job, &clock))?;
            lines.push(b'\n');
            if let Some(priority) = job.priority
                && job.is_pending()
                && !job.is_held()
            {
                queue.totals.insert(job.id.clone(), priority);
            }
        }
        if let Some(source) = files.first(Role::Associations) {
            for cluster in &queue.cluster.clusters_of_associations {
                queue.clusters.push((source.name(), cluster.clone()));
            }
        }
        queue.jobs = Some(FileSource::Bytes {
            name,
            bytes: lines.into(),
        });
        Ok(Some(queue))
    }

    /// The priority of these jobs; of those of a log there are none.
    fn new(
        files: &SiteFiles,
        conf: &SlurmConf,
        cluster: Cluster,
        sprio: Sprio,
        jobs: &[SlurmJob],
        warnings: Vec<Message>,
    ) -> Result<Self, SiteError> {
        let has_direct = jobs.iter().any(|job| is_direct(job, &sprio));
        let formula = conf.priority.formula(has_direct);
        let mut text = FormulaText::new(formula)?;
        text.origin = match files.first(Role::SlurmConf) {
            Some(source) => source.name(),
            None => "Slurm's defaults".to_owned(),
        };
        let mut queue = Self {
            formula: Formula::parse(&text.text)?.to_string(),
            text,
            terms: conf.priority.terms(),
            jobs: None,
            at: None,
            settings: conf.priority.clone(),
            cluster,
            totals: HashMap::new(),
            sprio,
            files: HashMap::new(),
            calc_period: conf.calc_period,
            array_tasks: array_tasks(jobs),
            clusters: Vec::new(),
            ended: HashMap::new(),
            of_jobs: Vec::new(),
            aging: HashSet::new(),
            pending_users: pending_users(jobs),
            release: None,
            warnings,
        };
        for (role, source) in files.sources() {
            queue.files.entry(role).or_insert_with(|| source.name());
        }
        queue.warn_of_missing(conf, files);
        Ok(queue)
    }

    /// Adds the names of the priority's inputs.
    pub fn add_names_to(&self, schema: &mut Schema) {
        let inputs = self.terms.iter().map(|term| term.formula.as_str());
        schema.add_slurm(inputs.filter(|input| input.starts_with("tres_")));
    }

    /// A formula for later times; `None` if it does not read the age of a job, or an age does not
    /// grow.
    pub fn aging_formula(&self, formula: &Formula, schema: &Schema) -> Option<AgingFormula> {
        let max_age = self.settings.max_age;
        let expr = formula.expr();
        let mut ages = Vec::new();
        for (_, node) in expr.iter() {
            if node.name() == Some(AGE) {
                ages.push(node.span.start as usize..node.span.end as usize);
            }
        }
        if ages.is_empty() || max_age == 0 {
            return None;
        }
        ages.sort_unstable_by_key(|span| span.start);
        let mut text = expr.text().to_owned();
        for span in ages.into_iter().rev() {
            text.replace_range(span, "min(1.0, age_factor)");
        }
        let program = Formula::parse(&text).ok()?.compile(schema).ok()?;
        Some(AgingFormula { program, max_age })
    }

    /// Whether a formula is the priority.
    pub fn is_priority(&self, formula: &Formula) -> bool {
        formula.to_string() == self.formula
    }

    /// The columns of `sprio -l`: the name and the formula of each.
    pub fn columns(&self) -> Vec<(String, Formula)> {
        let mut columns = Vec::new();
        for term in &self.terms {
            if let Ok(formula) = Formula::parse(&term.formula) {
                columns.push((term.column.clone(), formula));
            }
        }
        columns
    }

    fn warn_of_missing(&mut self, conf: &SlurmConf, files: &SiteFiles) {
        for (setting, command) in conf.priority.missing(&self.cluster) {
            self.warnings.push(
                format!("{setting} is not 0, and what it weighs is not known and taken as 0: give what `{command}` prints in the site's folder").into(),
            );
        }
        if conf.priority.weight_fairshare > 0 && !files.has(Role::Tree) {
            self.warnings.push(
                "PriorityWeightFairshare is not 0, and what it weighs is not known: give what \
                 `sshare -a -l -P` prints in the site's folder (`sshare.txt`)"
                    .into(),
            );
        }
        let raw = &conf.priority;
        if conf.is_printed && raw.raw_assoc && raw.raw_partition && raw.raw_qos && raw.raw_tres {
            self.warnings.push(
                "`scontrol show config` prints NO_NORMAL_ALL before 23.02 for each of NO_NORMAL_ASSOC, NO_NORMAL_PART, \
                 NO_NORMAL_QOS and NO_NORMAL_TRES: give slurm.conf, which says which of them are set"
                    .into(),
            );
        }
    }

    /// Warns of a time of the priorities that is not certain.
    fn warn_of_clock(&mut self, clock: &Clock, jobs: &[SlurmJob]) {
        if clock.ages_are_of_others {
            let unfit = "the ages that `sprio` prints do not fit PriorityMaxAge, as those of other settings: when the \
                         priorities are computed does not follow from them";
            self.warnings.push(unfit.into());
        }
        let has_age = jobs.iter().any(|job| job.accrues_from.is_some());
        if clock.is_guessed && has_age && self.settings.weight_age > 0 {
            self.warnings.push(Message::asking(
                "when the priorities are computed is not known, and the last submission is taken: ",
                [Need::Moment],
            ));
        }
    }

    /// Warns of what the formula cannot say of single jobs.
    fn warn_of_jobs(&mut self, jobs: &[SlurmJob]) {
        let (mut direct, mut of_several, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for job in jobs {
            if !job.is_pending() {
                continue;
            }
            if is_direct(job, &self.sprio) {
                direct.push(&job.id);
            }
            if job.partition.contains(',') {
                of_several.push(&job.id);
            }
            if !job.is_held() && is_waiting(job) {
                waiting.push(&job.id);
            }
        }
        for (ids, one, several, what) in [
            (
                direct,
                "has",
                "have",
                "a priority that was set directly, which no weight changes",
            ),
            (
                of_several,
                "names",
                "name",
                "several partitions, of which the first counts",
            ),
            (
                waiting,
                "waits",
                "wait",
                "for another job or for a time: Slurm starts none of them before, and they are ranked",
            ),
        ] {
            let warning = match ids.as_slice() {
                [] => continue,
                [id] => format!("`{id}` {one} {what}"),
                [first, ..] => {
                    format!("{} jobs {several} {what} (first `{first}`)", ids.len())
                }
            };
            self.of_jobs.push(warning.into());
        }
        self.warn_of_inputs_of_no_file(jobs);
        if self.settings.increases_only {
            self.of_jobs.push(
                "under PriorityFlags=INCR_ONLY a priority does not fall, which is not followed here: `squeue` may print greater ones"
                    .into(),
            );
        }
    }

    /// Warns of jobs whose partition, QOS or association is in no file, so that their factor is 0.
    fn warn_of_inputs_of_no_file(&mut self, jobs: &[SlurmJob]) {
        for (input, role) in [
            (NamedInput::Partition, Role::Partitions),
            (NamedInput::Qos, Role::Qos),
            (NamedInput::Association, Role::Associations),
        ] {
            let files = &self.files;
            let file = files.get(&role).or(files.get(&Role::SlurmConf));
            let file = file.map_or("", String::as_str);
            let mut unknown = Vec::new();
            for job in jobs {
                if job.is_pending()
                    && let Some(name) = self.settings.unknown_input(input, job, &self.cluster)
                {
                    unknown.push((&job.id, name));
                }
            }
            if let Some((id, name)) = unknown.first() {
                let jobs = counted(unknown.len(), "job", "jobs");
                let their = if unknown.len() == 1 { "its" } else { "their" };
                self.of_jobs.push(
                    format!("the {input} of {jobs} is not in `{file}`, and {their} factor is taken as 0 (first `{id}`: `{name}`)").into(),
                );
            }
        }
    }

    /// The number of a job that `squeue` prints as a task of an array.
    fn job_of_task<'a>(&'a self, task: &'a str) -> Option<&'a str> {
        if let Some(own) = self.array_tasks.get(task) {
            return Some(own);
        }
        // the tasks that wait are one job, with the number of the array
        let (array, _) = task.split_once('_')?;
        let mut jobs = self.array_tasks.values();
        if jobs.any(|job| job == array) {
            Some(array)
        } else {
            None
        }
    }
}

/// The document of the jobs, if it is one of Slurm.
fn queue_of_slurm(files: &SiteFiles) -> Result<Option<&FileSource>, SiteError> {
    let Some(queue) = files.first(Role::Queue) else {
        return Ok(None);
    };
    if !queue.can_be_opened_again() {
        return Ok(None);
    }
    let kind = queue.opened()?.kind;
    if kind == FileKind::Slurm(SlurmDocument::Jobs) {
        return Ok(Some(queue));
    }
    if is_named_as_of_slurm(&queue.name()) && !FileKind::JOBS.contains(&kind) {
        return Err(unexpected(kind, &queue.name(), kind.description(), JOBS));
    }
    Ok(None)
}

/// What `sprio` printed, in one or more files.
fn read_sprio(files: &SiteFiles, warnings: &mut Vec<Message>) -> Result<Sprio, SiteError> {
    let mut sprio = Sprio::default();
    for source in files.all(Role::Sprio) {
        let name = source.name();
        let problems = sprio.add(&source.read_text(Role::Sprio)?);
        warnings.extend(limit_each_kind(in_file(&name, problems)));
    }
    Ok(sprio)
}

/// The jobs that represent tasks of an array, by the names that `squeue` prints.
fn array_tasks(jobs: &[SlurmJob]) -> HashMap<String, String> {
    let mut tasks = HashMap::new();
    for job in jobs {
        if let Some(task) = &job.array_task {
            tasks.insert(task.clone(), job.id.clone());
        }
    }
    tasks
}

/// Whether a file has one of the names that Slurm's documents of jobs have.
fn is_named_as_of_slurm(path: &str) -> bool {
    let name = path.rsplit(['/', ' ']).next().unwrap_or_default();
    name.starts_with("squeue") || name.starts_with("scontrol_show_job")
}

/// The files that name their cluster differ in it: `named` has the files and their clusters.
pub fn different_clusters(named: &[(String, String)]) -> Option<Message> {
    let (file, cluster) = named.first()?;
    // a file of several clusters has this one too
    let mut with_cluster = Vec::new();
    for (file, of) in named {
        if of.eq_ignore_ascii_case(cluster) {
            with_cluster.push(file);
        }
    }
    let mut named = named.iter();
    let (other_file, other) = named.find(|(file, _)| !with_cluster.contains(&file))?;
    let found = format!(
        "`{file}` is of the cluster `{cluster}` and `{other_file}` of `{other}`: priorities follow from the files of one cluster; \
         collect them again (`jsf capture`)"
    );
    Some(found.into())
}

/// The users whose shares slurmctld asks for in its first cycle, in the order in which it does.
fn pending_users(jobs: &[SlurmJob]) -> Vec<String> {
    let mut pending = Vec::new();
    for job in jobs {
        if job.is_pending() && !job.is_held() {
            pending.push((number(job), format!("{}/{}", job.account, job.user)));
        }
    }
    pending.sort_by_key(|(number, _)| *number);
    let (_, users): (Vec<Option<u64>>, Vec<String>) = pending.into_iter().unzip();
    users
}

/// The number of a job, without the index of its task.
pub fn number(job: &SlurmJob) -> Option<u64> {
    let mut parts = job.id.split(|c: char| !c.is_ascii_digit());
    parts.next()?.parse().ok()
}

/// Whether the scheduler does not start a job yet.
fn is_waiting(job: &SlurmJob) -> bool {
    matches!(
        job.reason.as_str(),
        "Dependency" | "BeginTime" | "DependencyNeverSatisfied"
    )
}

/// Whether the priority of a job was set directly, as far as `sprio` says.
pub fn is_direct(job: &SlurmJob, sprio: &Sprio) -> bool {
    matches!(sprio.row(&job.id), Some(row) if row.is_direct)
}

impl Site {
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
        let file = slurm.files.get(&Role::Queue)?;
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

/// The name and the text of the file of a role.
fn read_first(files: &SiteFiles, role: Role) -> Result<Option<(String, String)>, SiteError> {
    let Some(source) = files.first(role) else {
        return Ok(None);
    };
    Ok(Some((source.name(), source.read_text(role)?)))
}

/// Reads what the priority depends on beside the jobs.
fn read_cluster(
    files: &SiteFiles,
    conf: &SlurmConf,
    warnings: &mut Vec<Message>,
) -> Result<Cluster, SiteError> {
    let mut cluster = Cluster::from_conf(conf);
    let mut problems = Vec::new();
    if let Some((name, text)) = read_first(files, Role::SlurmNodes)? {
        problems.extend(cluster.add_nodes(&name, &text, conf));
    }
    if let Some((name, text)) = read_first(files, Role::Partitions)? {
        let of_conf = cluster.job_factors();
        problems.extend(cluster.add_partitions(&name, &text));
        let printed = cluster.job_factors();
        let mut differing = Vec::new();
        for (partition, factor) in &of_conf {
            if let Some(used) = printed.get(partition)
                && used != factor
            {
                differing.push(format!(
                    "PriorityJobFactor is {factor} for `{partition}` in the settings and {used} in `{name}`, which counts"
                ));
            }
        }
        match differing.as_slice() {
            [] => {}
            [only] => warnings.push(only.clone().into()),
            [first, others @ ..] => {
                warnings.push(format!("{first}; {} more differ", others.len()).into());
            }
        }
    }
    if let Some((name, text)) = read_first(files, Role::Qos)? {
        problems.extend(cluster.add_qos(&name, &text)?);
    }
    if let Some((name, text)) = read_first(files, Role::Associations)? {
        let of_cluster = conf.cluster.as_deref();
        let read = cluster.add_associations(&name, &text, of_cluster);
        problems.extend(read?);
    }
    warnings.extend(limit_each_kind(problems.into_iter().map(Message::from)));
    Ok(cluster)
}
