//! What a scheduling cycle needs of a job beside its row in the table.
//!
//! In: the attributes of the jobs of a document, from whichever format. Out: [`CycleJobs`], a
//! [`QueuedJob`] for each row of the table.

use std::collections::BTreeMap;

use jsf_json::JsonScalar;
use jsf_openpbs::amounts::whole_amount;
use jsf_openpbs::files::server::boolean;
use jsf_openpbs::job_attributes::PlacedChunk;
use jsf_openpbs::times::seconds_of_ctime;
use jsf_openpbs::{AmountSource, ArrayIndices, Chunk, EntityAttributes, FairshareEntity, Time};

use crate::ReadOptions;
use crate::attributes::{JobKey, KnownName, NameIndex, ParsedJob, SpecialInput, integer, seconds};
use crate::clock::Clock;

/// The jobs of a document as a scheduling cycle sees them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CycleJobs {
    /// One for each row of the table, in its order.
    pub jobs: Vec<QueuedJob>,
    /// When the document was written, in seconds since 1970, if it says so.
    pub timestamp: Option<i64>,
    /// The clock of qstat's host. Its distance from UTC is found by jobs that have both a time on it
    /// and one in UTC; else UTC is assumed.
    pub clock: Clock,
}

/// A job as a scheduling cycle sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueuedJob {
    /// Its id.
    pub id: Box<str>,
    /// Its state, a letter as qstat prints it; `Q` without one.
    pub state: char,
    /// Its queue.
    pub queue: Box<str>,
    /// `euser`, else the user in `Job_Owner`; in native JSON `user`, else the entity if that is the
    /// user.
    pub user: Box<str>,
    /// `egroup`
    pub group: Box<str>,
    /// `project`
    pub project: Box<str>,
    /// The fair-share entity.
    pub entity: Box<str>,
    /// The processors it requests, all chunks together; `None` if the document does not say.
    pub ncpus: Option<i64>,
    /// The chunks of `schedselect`, which contains the defaults of the server, else of `select`.
    pub chunks: Vec<Chunk>,
    /// How its chunks are placed (`place`); empty if the document does not say.
    pub place: Box<str>,
    /// The seconds it may run.
    pub walltime: Option<i64>,
    /// What it requests of each resource in all: whole amounts, sizes in kb, durations in seconds.
    pub amounts: BTreeMap<Box<str>, i64>,
    /// What it requests of resources whose values are not numbers, but for `select` and `place`.
    pub texts: BTreeMap<Box<str>, Box<str>>,
    /// When it was started.
    pub stime: Option<Time>,
    /// The seconds it has run (`resources_used.walltime`), as far as its host has reported.
    pub used_walltime: Option<i64>,
    /// Whether it may be requeued (`Rerunable`).
    pub is_rerunable: bool,
    /// Whether it was started before (`run_count`).
    pub has_run: bool,
    /// When it entered its queue.
    pub qtime: Option<Time>,
    /// When it became eligible to run.
    pub etime: Option<Time>,
    /// The microsecond in which it entered its queue, or whatever the document gives instead, by
    /// which ties are broken.
    pub queue_rank: Option<i64>,
    /// 0 initial, 1 ineligible, 2 eligible, 3 running, 4 over.
    pub accrue_type: Option<u8>,
    /// The seconds for which it was eligible.
    pub eligible_time: Option<i64>,
    /// The subjobs of an array that were not started; `None` for any other job.
    pub queued_subjobs: Option<ArrayIndices>,
    /// Whether the document lists these, and does not only count them.
    pub are_queued_subjobs_listed: bool,
    /// All subjobs of an array, if the document names them.
    pub submitted_subjobs: Option<ArrayIndices>,
    /// How many subjobs of an array run or are ending.
    pub running_subjobs: u32,
    /// How many subjobs of an array may run at a time.
    pub max_run_subjobs: Option<u32>,
    /// Whether it may be reserved a place (`topjob_ineligible`).
    pub is_topjob_eligible: bool,
    /// What it has on each node if it runs (`exec_vnode`).
    pub placed: Vec<PlacedChunk>,
}

impl CycleJobs {
    pub(super) fn new(jobs: Vec<QueuedJob>, timestamp: Option<i64>) -> Self {
        Self {
            clock: Clock::new(&jobs, timestamp),
            jobs,
            timestamp,
        }
    }

    /// When a job was started, in seconds since 1970.
    pub fn start(&self, job: &QueuedJob) -> Option<i64> {
        Some(self.clock.utc(job.stime?))
    }
}

impl QueuedJob {
    /// The job of an entity; `names` are those of its resources.
    pub(super) fn new(
        job: &ParsedJob<'_>,
        entity: &str,
        names: &[KnownName],
        source: AmountSource,
        options: &ReadOptions<'_>,
    ) -> Self {
        let reader = AttributeReader {
            job,
            names,
            source,
            options,
        };
        let mut job = reader.job();
        job.entity = entity.into();
        if job.user.is_empty() && options.entity == FairshareEntity::User {
            job.user = entity.into();
        }
        job
    }
}

/// Reads the attributes of one job.
struct AttributeReader<'r, 'd> {
    job: &'r ParsedJob<'d>,
    names: &'r [KnownName],
    source: AmountSource,
    options: &'r ReadOptions<'r>,
}

impl AttributeReader<'_, '_> {
    /// The job without its entity.
    fn job(&self) -> QueuedJob {
        let job = self.job;
        let (source, schema) = (self.source, self.options.schema);
        let attributes = EntityAttributes {
            user: job.text(JobKey::User),
            submitter: job.text(JobKey::Owner),
            ..EntityAttributes::default()
        };
        let user = FairshareEntity::User.entity_of(attributes);
        let amounts = self.amounts();
        let select = self.text("schedselect").or_else(|| self.resource("select"));
        let chunks = match select.or_else(|| self.text("select")) {
            Some(select) => Chunk::read_select(select, source, schema),
            None => Vec::new(),
        };
        let place = self.resource("place").or_else(|| self.text("place"));
        // `exec_vnode` is also the name of a resource that OpenPBS declares
        let placed = self
            .text("exec_vnode")
            .or_else(|| self.resource("exec_vnode"));
        let running = self.subjobs_in("Running:").unwrap_or(0);
        let ending = self.subjobs_in("Exiting:").unwrap_or(0);
        let accrue_type = self.special(SpecialInput::AccrueType).and_then(integer);
        QueuedJob {
            id: job.id().into(),
            state: job.text(JobKey::State).chars().next().unwrap_or('Q'),
            queue: job.text(JobKey::Queue).into(),
            user: self.text("user").unwrap_or(&user).into(),
            group: self.text("group").unwrap_or(job.text(JobKey::Group)).into(),
            project: self.text("project").unwrap_or_default().into(),
            ncpus: match amounts.get("ncpus") {
                Some(ncpus) => Some(*ncpus),
                None => total(&chunks, "ncpus"),
            },
            chunks,
            place: place.unwrap_or_default().into(),
            walltime: amounts.get("walltime").copied(),
            amounts,
            texts: self.texts(),
            stime: self.time("stime"),
            qtime: self.time("qtime"),
            etime: self.time("etime"),
            used_walltime: self.scalar("used_walltime").and_then(seconds),
            has_run: self.scalar("run_count").and_then(integer) > Some(0),
            is_rerunable: self.text("Rerunable").is_none_or(is_true),
            queue_rank: job.get(JobKey::QueuedAt).and_then(integer),
            accrue_type: accrue_type.and_then(|kind| kind.try_into().ok()),
            eligible_time: self.special(SpecialInput::EligibleTime).and_then(seconds),
            are_queued_subjobs_listed: self.listed_subjobs().is_some(),
            queued_subjobs: self.queued_subjobs(),
            submitted_subjobs: self
                .text("array_indices_submitted")
                .and_then(ArrayIndices::parse),
            max_run_subjobs: self.max_run_subjobs(),
            // a subjob that is ending holds what it has until the server has heard of its end
            running_subjobs: running.saturating_add(ending),
            is_topjob_eligible: !self.text("topjob_ineligible").is_some_and(is_true),
            placed: PlacedChunk::read_all(placed.unwrap_or_default(), source, schema),
            ..QueuedJob::default()
        }
    }

    fn scalar(&self, key: &'static str) -> Option<&JsonScalar<'_>> {
        self.job.get(JobKey::Cycle(key))
    }

    fn text(&self, key: &'static str) -> Option<&str> {
        self.scalar(key)?.text()
    }

    fn resource(&self, name: &str) -> Option<&str> {
        // of a key that is given again the last value counts
        let mut last_first = self.job.resources.iter().rev();
        let (_, scalar) = last_first.find(|(index, _)| *self.name(*index).name == *name)?;
        scalar.text()
    }

    fn name(&self, index: NameIndex) -> &KnownName {
        &self.names[index as usize]
    }

    fn special(&self, input: SpecialInput) -> Option<&JsonScalar<'_>> {
        self.job.get(JobKey::Special(input))
    }

    fn time(&self, key: &'static str) -> Option<Time> {
        let scalar = self.scalar(key)?;
        match integer(scalar) {
            // native JSON has seconds since 1970, qstat the clock of its host
            Some(seconds) => Some(Time::Utc(seconds)),
            None => Some(Time::Wall(seconds_of_ctime(scalar.text()?)?)),
        }
    }

    /// The requests for resources; ready-made inputs of a formula count where there is no request.
    fn amounts(&self) -> BTreeMap<Box<str>, i64> {
        let mut amounts = BTreeMap::new();
        for &(index, ref scalar) in &self.job.inputs {
            let name = &self.name(index).name;
            if SpecialInput::from_name(name).is_none()
                && let Some(amount) = integer(scalar)
            {
                amounts.insert(name.clone(), amount);
            }
        }
        for &(index, ref scalar) in &self.job.resources {
            let KnownName { name, declared, .. } = self.name(index);
            if let Some(text) = scalar.text()
                && let Some(amount) = whole_amount(text, *declared, self.source)
            {
                amounts.insert(name.clone(), amount);
            }
        }
        amounts
    }

    fn texts(&self) -> BTreeMap<Box<str>, Box<str>> {
        let mut texts = BTreeMap::new();
        for &(index, ref scalar) in &self.job.resources {
            let name = self.name(index);
            let is_placement = matches!(
                &*name.name,
                "select" | "schedselect" | "place" | "exec_vnode"
            );
            if let Some(text) = scalar.text()
                // numbers are among the amounts
                && name.is_skipped
                && !is_placement
            {
                texts.insert(name.name.clone(), text.into());
            }
        }
        texts
    }

    /// The subjobs that were not started, if the job is an array; by their number alone, they are
    /// those from 0.
    fn queued_subjobs(&self) -> Option<ArrayIndices> {
        match self.listed_subjobs() {
            Some(indices) => Some(indices),
            None => Some(ArrayIndices::first(self.subjobs_in("Queued:")?)),
        }
    }

    fn listed_subjobs(&self) -> Option<ArrayIndices> {
        ArrayIndices::parse(self.text("array_indices_remaining")?)
    }

    /// How many subjobs may run at a time: `max_run_subjobs`, else what follows `%` as in
    /// `qsub -J 0-159%20`.
    fn max_run_subjobs(&self) -> Option<u32> {
        if let Some(given) = self.scalar("max_run_subjobs").and_then(integer) {
            return given.try_into().ok();
        }
        let (_, most) = self.text("array_indices_submitted")?.split_once('%')?;
        most.trim().parse().ok()
    }

    /// The number of subjobs after a state such as `Running:`.
    fn subjobs_in(&self, state: &str) -> Option<u32> {
        let mut states = self.text("array_state_count")?.split_whitespace();
        let count = states.find_map(|text| text.strip_prefix(state))?;
        count.parse().ok()
    }
}

/// What all chunks together have of a resource, if any has it.
fn total(chunks: &[Chunk], resource: &str) -> Option<i64> {
    let mut total: Option<i64> = None;
    for chunk in chunks {
        if let Some(amount) = chunk.amounts.get(resource) {
            let of_chunks = amount.saturating_mul(chunk.count.into());
            total = Some(total.unwrap_or(0).saturating_add(of_chunks));
        }
    }
    total
}

fn is_true(text: &str) -> bool {
    boolean(text) == Some(true)
}

#[cfg(test)]
mod tests {
    use job_sort_formula::schema::Schema;

    use super::*;
    use crate::{ParsedJobs, read_jobs};

    fn read_whole(document: &str) -> ParsedJobs {
        let schema = Schema::openpbs();
        let options = ReadOptions {
            cycle_jobs: true,
            strict: false,
            ..ReadOptions::new(&schema, &[])
        };
        let read = read_jobs(document.as_bytes(), &options).unwrap();
        assert_eq!(
            read.table.len(),
            read.cycle_jobs.as_ref().unwrap().jobs.len()
        );
        read
    }

    fn read(document: &str) -> CycleJobs {
        read_whole(document).cycle_jobs.unwrap()
    }

    fn recorded(name: &str) -> String {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/golden/openpbs/qstat/"
        );
        std::fs::read_to_string(format!("{folder}{name}")).unwrap()
    }

    fn find<'j>(jobs: &'j CycleJobs, id: &str) -> &'j QueuedJob {
        jobs.jobs.iter().find(|job| *job.id == *id).unwrap()
    }

    fn amounts(amounts: &[(&str, i64)]) -> BTreeMap<Box<str>, i64> {
        amounts
            .iter()
            .map(|(name, amount)| ((*name).into(), *amount))
            .collect()
    }

    #[test]
    fn every_recorded_format_gives_the_same_jobs() {
        let json = read(&recorded("qstat_f.json"));
        assert_eq!(
            (json.timestamp, json.clock.is_known(), json.jobs.len()),
            (Some(1_795_199_073), true, 59)
        );
        for name in ["qstat_f.txt", "qstat_f_w.txt", "qstat_f.dsv"] {
            let other = read(&recorded(name));
            for (job, expected) in other.jobs.iter().zip(&json.jobs) {
                // the jobs went on waiting between the calls of qstat
                assert!(
                    job.eligible_time
                        .unwrap()
                        .abs_diff(expected.eligible_time.unwrap())
                        < 5,
                    "{name}"
                );
                assert_eq!(
                    QueuedJob {
                        eligible_time: expected.eligible_time,
                        ..exact(job)
                    },
                    exact(expected),
                    "{name}"
                );
            }
            assert_eq!((other.jobs.len(), other.timestamp), (59, None), "{name}");
        }
        let array = find(&json, "50[].vm");
        let indices = array.queued_subjobs.as_ref().unwrap();
        assert_eq!(
            (indices.len(), indices.iter().collect::<Vec<_>>()),
            (4, vec![0, 1, 2, 3])
        );
        assert_eq!(
            (array.ncpus, array.state, &*array.place),
            (Some(5), 'Q', "free")
        );
        let first = find(&json, "0.vm");
        assert_eq!(
            (&*first.user, &*first.group, &*first.project),
            ("root", "root", "_pbs_project_default")
        );
        assert_eq!(
            (
                utc(&json, first.qtime),
                utc(&json, first.etime),
                first.stime
            ),
            (Some(1_795_197_902), Some(1_795_197_902), None)
        );
        assert_eq!(
            (first.queue_rank, first.accrue_type, first.eligible_time),
            (Some(1_795_197_902_290_033), Some(1), Some(37))
        );
        assert_eq!(
            (first.walltime, first.ncpus, first.queued_subjobs.clone()),
            (None, Some(1), None)
        );
        assert!(first.is_topjob_eligible);
        let chunks = json.jobs.iter().find(|job| job.chunks.len() == 2).unwrap();
        assert_eq!(
            chunks.chunks,
            [
                Chunk {
                    count: 2,
                    amounts: amounts(&[("ncpus", 1), ("mem", 512 << 10)]),
                    others: Vec::new()
                },
                Chunk {
                    count: 1,
                    amounts: amounts(&[("ncpus", 3), ("mem", 2 << 20)]),
                    others: Vec::new()
                }
            ]
        );
        let walltimes = json
            .jobs
            .iter()
            .filter(|job| job.walltime.is_some())
            .count();
        assert!(walltimes > 3, "{walltimes}");
    }

    fn utc(jobs: &CycleJobs, time: Option<Time>) -> Option<i64> {
        time.map(|time| jobs.clock.utc(time))
    }

    /// The job without the amounts of which JSON has not all digits.
    fn exact(job: &QueuedJob) -> QueuedJob {
        let mut job = job.clone();
        job.amounts.retain(|_, amount| *amount < 1 << 52);
        job
    }

    /// A running job and a waiting one, as qstat prints them on a clock 5:30 hours before UTC.
    const RUNNING: &str = r#"{
	"timestamp":	1795199073,
	"Jobs":	{
		"1.vm":	{
			"job_state":	"R",
			"queue":	"workq",
			"euser":	"ada",
			"egroup":	"chem",
			"project":	"p",
			"qtime":	"Fri Nov 20 23:35:02 2026",
			"queue_rank":	1795197902290033,
			"stime":	"Fri Nov 20 23:40:02 2026",
			"exec_vnode":	"(vn1:ncpus=4:mem=1048576kb)+(vn2:ncpus=1+vn3:ncpus=2)",
			"Resource_List":	{
				"ncpus":	7,
				"select":	"1:ncpus=4:mem=1gb:host=\"a+b\"+ncpus=3",
				"walltime":	"01:00:00"
			},
			"resources_used":	{
				"ncpus":	7,
				"walltime":	"00:14:10"
			},
			"accrue_type":	3
		},
		"2.vm":	{
			"job_state":	"Q",
			"queue":	"workq",
			"Job_Owner":	"bob@vm",
			"qtime":	"Fri Nov 20 23:35:05 2026",
			"queue_rank":	1795197905290033,
			"topjob_ineligible":	"True",
			"estimated":	{
				"exec_vnode":	"(vn9:ncpus=1)",
				"start_time":	"Sat Nov 21 00:40:02 2026"
			},
			"Resource_List":	{
				"select":	"2:ncpus=2"
			}
		}
	}
}
"#;

    fn check_running(jobs: &CycleJobs) {
        let [running, waiting] = &jobs.jobs[..] else {
            panic!("{jobs:?}")
        };
        assert!(jobs.clock.is_known());
        assert_eq!(
            (jobs.start(running), utc(jobs, running.qtime)),
            (Some(1_795_198_202), Some(1_795_197_902))
        );
        assert_eq!(
            (running.state, running.walltime, running.accrue_type),
            ('R', Some(3600), Some(3))
        );
        assert_eq!(
            (
                &*running.user,
                &*running.group,
                &*running.project,
                &*running.entity
            ),
            ("ada", "chem", "p", "ada")
        );
        let placed: Vec<_> = running
            .placed
            .iter()
            .map(|part| (&*part.node, part.amounts.clone()))
            .collect();
        assert_eq!(
            placed,
            [
                ("vn1", amounts(&[("ncpus", 4), ("mem", 1 << 20)])),
                ("vn2", amounts(&[("ncpus", 1)])),
                ("vn3", amounts(&[("ncpus", 2)]))
            ]
        );
        assert_eq!(running.chunks[0].others, [("host".into(), "a+b".into())]);
        assert_eq!(
            running.chunks[1],
            Chunk {
                count: 1,
                amounts: amounts(&[("ncpus", 3)]),
                others: Vec::new()
            }
        );
        assert_eq!(
            (&*waiting.user, waiting.ncpus, waiting.is_topjob_eligible),
            ("bob", Some(4), false)
        );
    }

    #[test]
    fn a_running_job_is_read_on_the_clock_of_its_host() {
        let jobs = read(RUNNING);
        assert_eq!(jobs.timestamp, Some(1_795_199_073));
        check_running(&jobs);
        for utc in [0, 1_795_199_073] {
            assert_eq!(jobs.clock.utc_of_wall(jobs.clock.wall_of_utc(utc)), utc);
        }
        assert_ne!(jobs.clock.wall_of_utc(1_795_199_073), 1_795_199_073);
        let text = "Job Id: 1.vm\n    job_state = R\n    queue = workq\n    euser = ada\n    egroup = chem\n    project = p\n    \
        qtime = Fri Nov 20 23:35:02 2026\n    queue_rank = 1795197902290033\n    stime = Fri Nov 20 23:40:02 2026\n    \
        exec_vnode = (vn1:ncpus=4:mem=1048576kb)+(vn2:ncpus=1+\n\tvn3:ncpus=2)\n    Resource_List.ncpus = 7\n    \
        Resource_List.select = 1:ncpus=4:mem=1gb:host=\"a+b\"+ncpus=3\n    Resource_List.walltime = 01:00:00\n    \
        resources_used.walltime = 00:14:10\n    accrue_type = 3\n\nJob Id: 2.vm\n    job_state = Q\n    queue = workq\n    \
        Job_Owner = bob@vm\n    qtime = Fri Nov 20 23:35:05 2026\n    queue_rank = 1795197905290033\n    \
        topjob_ineligible = True\n    estimated.start_time = Sat Nov 21 00:40:02 2026\n    Resource_List.select = 2:ncpus=2\n\n";
        check_running(&read(text));
    }

    #[test]
    fn damaged_json_gives_the_same_jobs() {
        for (from, to) in [
            ("\"01:00:00\"\n\t\t\t},", "\"01:00:00\"\n\t\t\t}"),
            ("\"R\",", "\"R\",\n\t\t\t\"comment\":\t\"say \"hello\"\","),
            ("\"egroup\"", "\"x\":\t00012,\n\t\t\t\"egroup\""),
        ] {
            let damaged = RUNNING.replace(from, to);
            assert!(serde_json::from_str::<serde_json::Value>(&damaged).is_err());
            let jobs = read(&damaged);
            assert_eq!(jobs.timestamp, Some(1_795_199_073));
            check_running(&jobs);
        }
        // a time that cannot be read is never replaced
        let read =
            read_whole(&RUNNING.replace("\"Fri Nov 20 23:40:02 2026\"", "\"Fri \"Nov\" 20\""));
        assert_eq!((read.table.len(), read.problems.skipped()), (1, 1));
    }

    #[test]
    fn without_ranks_the_running_jobs_tell_the_time_zone() {
        let hidden = RUNNING.replace("queue_rank", "hidden_rank");
        check_running(&read(&hidden));
        let unknown = read(&hidden.replace("resources_used", "hidden_used"));
        assert_eq!(
            (unknown.clock.is_known(), unknown.start(&unknown.jobs[0])),
            (false, Some(1_795_218_002))
        );
    }

    #[test]
    fn daylight_saving_time_applies_to_the_times_near_it() {
        // 25 October 2026, 01:00 UTC: from 2 hours before UTC to 1
        let job = |id: u32, queued: &str, rank: i64, started: &str| {
            format!(
                "Job Id: {id}.vm\n    job_state = R\n    qtime = {queued}\n    queue_rank = {rank}000000\n    stime = {started}\n    Resource_List.ncpus = 1\n\n"
            )
        };
        let summer = job(
            1,
            "Sat Oct 24 12:00:00 2026",
            1_792_836_000,
            "Sat Oct 24 13:00:00 2026",
        );
        let winter = job(
            2,
            "Mon Oct 26 12:00:00 2026",
            1_793_012_400,
            "Mon Oct 26 13:00:00 2026",
        );
        let jobs = read(&(summer + &winter));
        assert_eq!(
            [0, 1].map(|job| jobs.start(&jobs.jobs[job])),
            [Some(1_792_839_600), Some(1_793_016_000)]
        );
    }

    #[test]
    fn native_json_may_have_the_attributes() {
        let job = r#"{"id":"1","entity":"ada","group":"g","project":"p","queue":"workq","state":"R","stime":1000,"accrue_type":3,
        "eligible_time":"00:01:00","resources":{"ncpus":4,"mem":"4gb","walltime":"01:00:00","licence":2.5},"select":"2:ncpus=2"}"#;
        let array = r#"{"id":"2[]","user":"bob","array_state_count":"Queued:3 Running:1","inputs":{"ncpus":2,"walltime":60}}"#;
        let native = format!("{{\"timestamp\":1100,\"jobs\":[{job},{array}]}}");
        let ndjson = format!("{}\n{array}\n", job.replace('\n', " "));
        for (document, timestamp) in [(native, Some(1100)), (ndjson, None)] {
            let whole = read_whole(&document);
            assert!(whole.problems.is_empty(), "{:?}", whole.problems.listed());
            let jobs = whole.cycle_jobs.unwrap();
            assert_eq!(jobs.timestamp, timestamp);
            let [running, array] = &jobs.jobs[..] else {
                panic!("{document}")
            };
            assert_eq!(
                (&*running.user, &*running.group, &*running.project),
                ("ada", "g", "p")
            );
            assert_eq!(
                (running.stime, running.walltime, running.ncpus),
                (Some(Time::Utc(1000)), Some(3600), Some(4))
            );
            assert_eq!(
                (
                    running.chunks.len(),
                    running.accrue_type,
                    running.eligible_time
                ),
                (1, Some(3), Some(60))
            );
            assert_eq!(
                running
                    .amounts
                    .keys()
                    .map(|name| &**name)
                    .collect::<Vec<_>>(),
                ["mem", "ncpus", "walltime"]
            );
            assert_eq!(
                (&*array.user, array.state, array.ncpus, array.walltime),
                ("bob", 'Q', Some(2), Some(60))
            );
            assert_eq!(
                array
                    .queued_subjobs
                    .as_ref()
                    .unwrap()
                    .iter()
                    .collect::<Vec<_>>(),
                [0, 1, 2]
            );
        }
    }

    #[test]
    fn indices_of_arrays() {
        let indices = ArrayIndices::parse("0-9:3,12, 20-21").unwrap();
        assert_eq!(
            (indices.iter().collect::<Vec<_>>(), indices.len()),
            (vec![0, 3, 6, 9, 12, 20, 21], 7)
        );
        assert_eq!(ArrayIndices::parse("0-4294967295").unwrap().len(), 1 << 32);
        assert!(ArrayIndices::parse("-").unwrap().is_empty() && ArrayIndices::first(0).is_empty());
        for text in ["a", "3-1", "1-2:0", "1,,2", "4294967296"] {
            assert_eq!(ArrayIndices::parse(text), None, "{text}");
        }
    }

    #[test]
    fn rows_stay_those_of_the_table() {
        let twice = RUNNING.replace("\"2.vm\"", "\"1.vm\"");
        assert_eq!(read(&twice).jobs.len(), 1);
        let document = recorded("qstat_f.json");
        let schema = Schema::openpbs();
        let options = ReadOptions::new(&schema, &["ncpus", "eligible_time"]);
        let fast = read_jobs(document.as_bytes(), &options).unwrap();
        let slow = read_jobs(
            document.as_bytes(),
            &ReadOptions {
                cycle_jobs: true,
                ..options
            },
        )
        .unwrap();
        assert!(fast.cycle_jobs.is_none());
        let rows = slow.cycle_jobs.unwrap().jobs;
        for (row, job) in rows.iter().enumerate() {
            assert_eq!(
                (fast.table.id(row), fast.table.entity(row)),
                (&*job.id, &*job.entity)
            );
            assert_eq!(
                fast.table.column("ncpus").unwrap().nearest_double(row),
                job.ncpus.unwrap_or(0) as f64
            );
        }
    }
}
