//! A site of Slurm: its priority as a formula, and its jobs with the inputs of this formula.
//!
//! In: `slurm.conf`, the jobs, and what Slurm's tools print of partitions, nodes, qualities of
//! service, associations and priorities. Out: a formula; the jobs as native NDJSON, which the rest
//! of the site reads like any other document of jobs, of the queue or only described; when
//! slurmctld computed the priorities, which decides the ages; and how far the computed priorities
//! are those that `squeue` prints, with the input that differs by the components of `sprio`.

use std::collections::{BTreeMap, HashMap, HashSet};

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Message, Need, limit_each_kind};
use job_sort_formula::fairshare::Release;
use job_sort_formula::formula::program::Program;
use job_sort_formula::formula::syntax::Expr;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::Ranking;
use job_sort_formula::schema::Schema;
use job_sort_formula::schema::suggestions::did_you_mean;
use jsf_ingest::FileKind;
use jsf_json::clipped;
use jsf_openpbs::amounts::{kilobytes, parse_duration};
use jsf_slurm::SlurmDocument;
use jsf_slurm::conf::{PrioritySettings, SlurmConf};
use jsf_slurm::jobs::{SlurmJob, SlurmJobs, TresAmounts};
use jsf_slurm::priority::{AGE, Cluster, NamedInput, Sprio};
use jsf_slurm::times::TimeLimit;
use jsf_words::count;
use serde_json::{Value, json};

use crate::formulas::with_names;
use crate::role::unexpected;
use crate::site_files::in_file;
use crate::{DescribedJob, FileSource, FormulaText, Role, Site, SiteError, SiteFiles};

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
    /// When the priorities are computed, in seconds since 1970 on the clock of the jobs.
    pub at: Option<i64>,
    /// What the priority of a job depends on.
    pub settings: PrioritySettings,
    pub cluster: Cluster,
    /// The priorities of pending jobs that `squeue` prints.
    pub totals: HashMap<String, u32>,
    pub sprio: Sprio,
    files: SiteFiles,
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
            if let Some(task) = &job.array_task {
                queue.array_tasks.insert(task.clone(), job.id.clone());
            }
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
        let mut text = FormulaText::new(conf.priority.formula(has_direct))?;
        text.origin = match files.first(Role::SlurmConf) {
            Some(source) => source.name(),
            None => "Slurm's defaults".to_owned(),
        };
        let mut queue = Self {
            text,
            settings: conf.priority.clone(),
            cluster,
            sprio,
            files: files.clone(),
            calc_period: conf.calc_period,
            pending_users: pending_users(jobs),
            warnings,
            ..Self::default()
        };
        queue.warn_of_missing(conf);
        Ok(queue)
    }

    /// Adds the names of the priority's inputs.
    pub fn add_names_to(&self, schema: &mut Schema) {
        let terms = self.settings.terms();
        let inputs = terms.iter().map(|term| term.formula.as_str());
        schema.add_slurm(inputs.filter(|input| input.starts_with("tres_")));
    }

    /// A formula for later times; `None` if it does not read the age of a job, or an age does not
    /// grow.
    pub fn aging_formula(&self, program: &Program, schema: &Schema) -> Option<AgingFormula> {
        let max_age = self.settings.max_age;
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
        own.is_ok_and(|own| own.to_string() == expr.to_string())
    }

    /// The columns of `sprio -l`: the name and the formula of each.
    pub fn columns(&self) -> Vec<(String, Formula)> {
        let mut columns = Vec::new();
        for term in self.settings.terms() {
            if let Ok(formula) = Formula::parse(&term.formula) {
                columns.push((term.column, formula));
            }
        }
        columns
    }

    fn warn_of_missing(&mut self, conf: &SlurmConf) {
        for (setting, command) in conf.priority.missing(&self.cluster) {
            self.warnings.push(
                format!("{setting} is not 0, and what it weighs is taken as 0: add what `{command}` prints to the site's folder").into(),
            );
        }
        if conf.priority.weight_fairshare > 0 && !self.files.has(Role::Tree) {
            self.warnings.push(
                "PriorityWeightFairshare is not 0, and what it weighs is not known: add `sshare.txt` (`sshare -a -l -P`) to the site's folder"
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
            let unfit = "the ages in `sprio` do not fit PriorityMaxAge: when the priorities are computed does not follow from them";
            self.warnings.push(unfit.into());
        }
        let has_age = jobs.iter().any(|job| job.accrues_from.is_some());
        if clock.is_guessed && has_age && self.settings.weight_age > 0 {
            self.warnings.push(Message::asking(
                "when the priorities are computed is not known: at the last submission; ",
                [Need::Moment],
            ));
        }
    }

    /// Warns of what the formula cannot say of single jobs.
    fn warn_of_jobs(&mut self, jobs: &[SlurmJob]) {
        self.of_jobs.extend(concerning(
            "a priority that was set directly, which no weight changes",
            jobs,
            |job| is_direct(job, &self.sprio),
        ));
        self.of_jobs.extend(concerning(
            "several partitions, of which the first counts",
            jobs,
            |job| job.partition.contains(','),
        ));
        self.of_jobs.extend(concerning(
            "a wait for another job or for a time, before which Slurm does not start the job",
            jobs,
            |job| !job.is_held() && is_waiting(job),
        ));
        for (input, role) in [
            (NamedInput::Partition, Role::Partitions),
            (NamedInput::Qos, Role::Qos),
            (NamedInput::Association, Role::Associations),
        ] {
            let files = &self.files;
            let file = files.first(role).or(files.first(Role::SlurmConf));
            let file = file.map(FileSource::name).unwrap_or_default();
            let (settings, cluster) = (&self.settings, &self.cluster);
            let mut pending = jobs.iter().filter(|job| job.is_pending());
            if let Some(name) = pending.find_map(|job| settings.unknown_input(input, job, cluster))
            {
                let what = format!(
                    "the {input} is not in `{file}`, such as `{name}`, and its factor is taken as 0"
                );
                self.of_jobs.extend(concerning(&what, jobs, |job| {
                    settings.unknown_input(input, job, cluster).is_some()
                }));
            }
        }
        if self.settings.increases_only {
            self.of_jobs.push(
                "PriorityFlags=INCR_ONLY is not followed here: `squeue` may print greater priorities"
                    .into(),
            );
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
        jobs.any(|job| job == array).then_some(array)
    }
}

/// A warning about those of the pending jobs that something concerns.
fn concerning(
    what: &str,
    jobs: &[SlurmJob],
    concerns: impl Fn(&SlurmJob) -> bool,
) -> Option<Message> {
    let mut concerned = Vec::new();
    for job in jobs {
        if job.is_pending() && concerns(job) {
            concerned.push(&job.id);
        }
    }
    let first = concerned.first()?;
    let jobs = count(concerned.len(), "job");
    Some(format!("{what}: {jobs} (first `{first}`)").into())
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
        let configured = cluster.job_factors();
        problems.extend(cluster.add_partitions(&name, &text));
        let printed = cluster.job_factors();
        for (partition, factor) in &configured {
            if let Some(used) = printed.get(partition)
                && used != factor
            {
                problems.push(format!(
                    "PriorityJobFactor is {factor} for `{partition}` in the settings and {used} in `{name}`, which counts"
                ));
            }
        }
    }
    if let Some((name, text)) = read_first(files, Role::Qos)? {
        problems.extend(cluster.add_qos(&name, &text)?);
    }
    if let Some((name, text)) = read_first(files, Role::Associations)? {
        let cluster_name = conf.cluster.as_deref();
        let read = cluster.add_associations(&name, &text, cluster_name);
        problems.extend(read?);
    }
    warnings.extend(limit_each_kind(problems.into_iter().map(Message::from)));
    Ok(cluster)
}

impl SlurmQueue {
    /// A job as native JSON.
    fn native_job(&self, job: &SlurmJob, clock: &Clock) -> Value {
        let now = clock.of(job);
        let inputs = self.cluster.priority_inputs(job, &self.settings, now);
        let mut inputs = BTreeMap::from_iter(inputs);
        if let Some(row) = self.sprio.row(&job.id) {
            inputs.insert("site_factor".to_owned(), row.site as f64);
        }
        let direct = if is_direct(job, &self.sprio) {
            job.priority
        } else {
            None
        };
        // slurmctld keeps such a priority as it is, whatever the factors are
        if direct.is_some() {
            inputs.insert("fairshare_factor".to_owned(), 0.0);
            for number in inputs.values_mut() {
                *number = 0.0;
            }
        }
        inputs.insert("direct_priority".to_owned(), direct.map_or(0.0, f64::from));
        inputs.insert("ngpus".to_owned(), job.gpus());
        let priorities = self.cluster.priorities_of(job);
        let [.., (_, job_factor)] = priorities;
        for (name, number) in priorities {
            inputs.insert(name.to_owned(), number);
        }
        let state = if job.is_held() {
            "H"
        } else if job.is_pending() {
            "Q"
        } else {
            "R"
        };
        let mut native = json!({
            "id": job.id,
            "entity": format!("{}/{}", job.account, job.user),
            "queue": job.first_partition(),
            "state": state,
            // of equal priorities, the smaller number is first
            "queued_at": number(job),
            "eligible_time": job.accrues_from.map_or(0, |from| (now - from).max(0)),
            "queue_priority": job_factor as i64,
            "ncpus": job.cpus,
            "nodect": job.nodes(),
            "mem": format!("{}mb", job.memory().round()),
            "inputs": inputs,
        });
        if let TimeLimit::Minutes(minutes) = job.time_limit {
            native["walltime"] = (u64::from(minutes) * 60).into();
        }
        native
    }

    /// A job that would be submitted now, as native JSON, by what its user asks for. What is no
    /// request, such as a factor, replaces the number that follows from the requests.
    ///
    /// # Errors
    /// There is no such partition or QOS, or a value is not an amount.
    pub fn described(&self, described: &DescribedJob, partition: &str) -> Result<Value, SiteError> {
        require_known("partition", partition, &self.cluster.job_factors())?;
        let entity = &described.entity;
        let (account, user) = entity.split_once('/').unwrap_or(("", entity));
        let now = self.at.unwrap_or_default();
        let mut job = SlurmJob {
            account: account.to_owned(),
            user: user.to_owned(),
            partition: partition.to_owned(),
            qos: "normal".to_owned(),
            state: "PENDING".to_owned(),
            submitted: Some(now),
            accrues_from: Some(now),
            cpus: 1,
            ..SlurmJob::default()
        };
        let mut tres = vec!["node=1".to_owned()];
        let mut others = Vec::new();
        for (name, value) in &described.inputs {
            let wrong = SiteError::content(format!(
                "`{name}` is `{}`, expected a number, or an amount such as `4gb`",
                clipped(value)
            ));
            match name.as_str() {
                "qos" => {
                    require_known("QOS", value, &self.cluster.qos_priorities())?;
                    job.qos.clone_from(value);
                }
                "ncpus" => job.cpus = value.parse().or(Err(wrong))?,
                "nodect" => tres[0] = format!("node={value}"),
                "ngpus" => tres.push(format!("gres/gpu={value}")),
                "nice" => job.nice = value.parse().or(Err(wrong))?,
                "mem" => tres.push(format!("mem={}K", kilobytes(value).ok_or(wrong)?)),
                "walltime" => {
                    let seconds = parse_duration(value)?;
                    let minutes = u32::try_from(seconds.div_ceil(60)).or(Err(wrong))?;
                    job.time_limit = TimeLimit::Minutes(minutes);
                }
                "eligible_time" => {
                    let waited = parse_duration(value)?;
                    let waited = i64::try_from(waited).or(Err(wrong))?;
                    job.accrues_from = Some(now.saturating_sub(waited));
                }
                _ => others.push((name, value.parse::<f64>().or(Err(wrong))?)),
            }
        }
        tres.push(format!("cpu={}", job.cpus));
        job.tres = TresAmounts::parse(&tres.join(","));
        let mut native = self.native_job(&job, &Clock::known(now));
        for (name, number) in others {
            native["inputs"][name] = number.into();
        }
        Ok(native)
    }
}

/// Refuses a name that the site does not list, if it lists any.
fn require_known(what: &str, name: &str, known: &BTreeMap<String, u32>) -> Result<(), SiteError> {
    if known.is_empty() || known.contains_key(name) {
        return Ok(());
    }
    let similar = did_you_mean(name, known.keys().map(String::as_str));
    Err(SiteError::content(format!(
        "no {what} is called `{}`{similar}",
        clipped(name)
    )))
}

/// When the priorities are computed.
#[derive(Default)]
pub struct Clock {
    pub now: i64,
    is_guessed: bool,
    /// Whether the ages in `sprio` are not those by `PriorityMaxAge`.
    ages_are_of_others: bool,
    /// The times of single jobs that the daemon computed at another time.
    of_jobs: HashMap<String, i64>,
}

impl Clock {
    pub fn known(now: i64) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// The time that was asked for; else that of the daemon's calculation, which follows from the
    /// ages in `sprio`; else that of the collected files; else the latest one of the jobs.
    pub fn new(
        at: Option<i64>,
        jobs: &[SlurmJob],
        conf: &SlurmConf,
        sprio: &Sprio,
        files: &SiteFiles,
    ) -> Self {
        if let Some(at) = at {
            return Self::known(at);
        }
        let mut clock = Self::known(0);
        let mut ages: Vec<(&SlurmJob, (i64, i64))> = Vec::new();
        for job in jobs {
            if job.is_pending()
                && let Some(from) = job.accrues_from
                && let Some(between) = sprio.calculated_between(&job.id, from, &conf.priority)
            {
                ages.push((job, between));
            }
        }
        let common = most_common(&ages);
        let (mut agreeing, mut differing) = (0, 0);
        for (job, (first, last)) in ages {
            let agrees = matches!(common, Some(now) if (first..=last).contains(&now));
            if !agrees {
                clock.of_jobs.insert(job.id.clone(), middle(first, last));
            }
            // what is open at one end says little
            if first > i64::MIN && last < i64::MAX {
                agreeing += usize::from(agrees);
                differing += usize::from(!agrees);
            }
        }
        // under another PriorityMaxAge nearly each job has a time of its own
        clock.ages_are_of_others = differing > 1 && differing > agreeing;
        if clock.ages_are_of_others {
            clock.of_jobs.clear();
        }
        if let Some(now) = common
            && !clock.ages_are_of_others
        {
            clock.now = now;
        } else if let Some(now) = files.jobs_taken_at() {
            clock.now = now;
        } else {
            let mut latest = None;
            for job in jobs {
                latest = latest.max(job.submitted).max(job.accrues_from);
            }
            clock.now = latest.unwrap_or(0);
            clock.is_guessed = true;
        }
        clock
    }

    pub fn of(&self, job: &SlurmJob) -> i64 {
        self.of_jobs.get(&job.id).copied().unwrap_or(self.now)
    }
}

/// The middle of the times that most intervals contain.
fn most_common(intervals: &[(&SlurmJob, (i64, i64))]) -> Option<i64> {
    let mut ends: Vec<(i64, i32)> = Vec::new();
    for &(_, (first, last)) in intervals {
        ends.extend([(first, -1), (last, 1)]);
    }
    // of equal times, beginnings come first
    ends.sort_unstable();
    let (mut count, mut most, mut best) = (0, 0, None);
    for pair in 0..ends.len() {
        let (time, end) = ends[pair];
        count -= end;
        if count > most {
            let until = ends.get(pair + 1).map_or(time, |(next, _)| *next);
            (most, best) = (count, Some(middle(time, until)));
        }
    }
    best
}

/// A time of an interval that may be open at one end.
fn middle(first: i64, last: i64) -> i64 {
    match (first, last) {
        (i64::MIN, last) => last,
        (first, i64::MAX) => first,
        (first, last) => first + (last - first) / 2,
    }
}

/// From this part of the larger one on, a difference of two totals is no matter of time.
const LARGE: f64 = 0.1;
/// The fair-share points change by so much of their weight in a while.
const PART_OF_A_WHILE: f64 = 0.01;

/// How the computed totals compare with the printed ones.
#[derive(Debug)]
pub enum Agreement {
    /// Those of so many jobs are equal; the text names the file.
    Equal(String),
    /// Some differ.
    Contradiction {
        text: String,
        /// In a few words, if the difference is so large that it changes the order.
        headline: Option<String>,
    },
}

struct Difference {
    row: usize,
    printed: f64,
    computed: f64,
}

impl Difference {
    fn amount(&self) -> f64 {
        (self.printed - self.computed).abs()
    }

    fn is_large(&self) -> bool {
        self.amount() > LARGE * self.printed.max(self.computed)
    }
}

impl SlurmQueue {
    /// Compares the printed totals with those of a ranking by Slurm's priority; `None` if none is
    /// printed.
    pub fn agreement(&self, table: &JobTable, ranking: &Ranking) -> Option<Agreement> {
        let mut compared = 0;
        let mut different = Vec::new();
        for &row in ranking.order() {
            if let Some(&printed) = self.totals.get(table.id(row))
                && let Some(score) = ranking.score(row)
            {
                compared += 1;
                let (printed, computed) = (f64::from(printed), score.value);
                if printed != computed {
                    different.push(Difference {
                        row,
                        printed,
                        computed,
                    });
                }
            }
        }
        let queue = self.name(Role::Queue);
        let large = different.iter().find(|difference| difference.is_large());
        let Some(example) = large.or(different.first()) else {
            if compared == 0 {
                return None;
            }
            let text = format!("all {compared} are those that {queue} prints");
            return Some(Agreement::Equal(text));
        };
        let example_words = format!(
            "`{}`: printed {}, computed {}",
            table.id(example.row),
            example.printed,
            example.computed
        );
        let reason = self.reason(&different, table);
        let mut headline = None;
        if large.is_some() {
            headline = Some(format!(
                "The computed priorities are not those that {queue} prints (such as {example_words})."
            ));
        }
        Some(Agreement::Contradiction {
            text: format!(
                "the priority that {queue} prints differs from the computed one for {} of {compared} jobs, such as \
                 {example_words}; {reason}",
                different.len(),
            ),
            headline,
        })
    }

    /// Why the totals differ, as far as the components say.
    fn reason(&self, different: &[Difference], table: &JobTable) -> String {
        let settings = &self.settings;
        let components = self.different_components(different, table);
        let of_a_while = |column: &str| match column {
            "AGE" => {
                let part = f64::from(self.calc_period) / f64::from(settings.max_age.max(1));
                1.0 + f64::from(settings.weight_age) * part
            }
            "FAIRSHARE" => 1.0 + f64::from(settings.weight_fairshare) * PART_OF_A_WHILE,
            _ => 0.0,
        };
        let is_of_time = if components.is_empty() {
            let most = of_a_while("AGE") + of_a_while("FAIRSHARE");
            different.iter().all(|one| one.amount() <= most)
        } else {
            components
                .iter()
                .all(|(column, found)| found.iter().all(|one| one.amount() <= of_a_while(column)))
        };
        if is_of_time {
            return "slurmctld computes the age and the fair share every PriorityCalcPeriod and at a change of the job, and \
                    the files are of different moments"
                .to_owned();
        }
        if components.is_empty() {
            return "give what `sprio -l` prints (`sprio_l.txt`), which shows the component that differs".to_owned();
        }
        let mut words = Vec::new();
        for (column, found) in &components {
            let first = &found[0];
            let jobs = count(found.len(), "job");
            words.push(format!(
                "{column} differs for {jobs} (`{}`: printed {}, computed {}), which follows from {}",
                table.id(first.row),
                first.printed,
                first.computed,
                self.origin(column)
            ));
        }
        format!(
            "by {} {}; check whether these are of one cluster and as they were when slurmctld computed the priorities",
            self.name(Role::Sprio),
            words.join(", ")
        )
    }

    /// The components that differ, with the jobs for which they do.
    fn different_components(
        &self,
        different: &[Difference],
        table: &JobTable,
    ) -> Vec<(&'static str, Vec<Difference>)> {
        let mut found = Vec::new();
        for (column, weight, input) in self.settings.components() {
            let values = table.column(input);
            // the points of each resource are rounded, not their sum
            let rounding = 0.5 * self.settings.weight_tres.len() as f64;
            let tolerated = if column == "TRES" { rounding } else { 0.0 };
            let mut differing_jobs = Vec::new();
            for &Difference { row, .. } in different {
                let Some(sprio) = self.sprio.row(table.id(row)) else {
                    continue;
                };
                let Some(printed) = sprio.component(table.queue(row), column) else {
                    continue;
                };
                if sprio.is_direct {
                    continue;
                }
                let value = values.map_or(0.0, |values| values.nearest_double(row));
                let found = Difference {
                    row,
                    printed,
                    // as C prints it with `%.0f`
                    computed: (weight * value).round_ties_even(),
                };
                if found.amount() > tolerated {
                    differing_jobs.push(found);
                }
            }
            if !differing_jobs.is_empty() {
                found.push((column, differing_jobs));
            }
        }
        found
    }

    /// The files from which a component comes.
    fn origin(&self, column: &str) -> String {
        let role = match column {
            "ASSOC" => Role::Associations,
            "FAIRSHARE" => Role::Tree,
            "JOBSIZE" => Role::SlurmNodes,
            "PARTITION" | "TRES" => Role::Partitions,
            "QOS" => Role::Qos,
            _ => Role::Queue,
        };
        format!("{} and {}", self.name(Role::SlurmConf), self.name(role))
    }

    /// The name of a file, or of the one that is missing.
    fn name(&self, role: Role) -> String {
        match self.files.first(role) {
            Some(source) => format!("`{}`", source.name()),
            None => {
                let usual = role.files().names().next().unwrap_or_default();
                format!("`{usual}`, which is missing")
            }
        }
    }
}
