//! What a scheduling cycle needs of a job beside its row in the table.
//!
//! In: the attributes of the jobs of a document, from whichever format. Out: [`CycleJobs`], a
//! [`QueuedJob`] for each row of the table.

use std::collections::BTreeMap;

use job_sort_formula::schema::Schema;
use jsf_json::JsonScalar;
use jsf_openpbs::chunks::{Chunk, PlacedChunk};
use jsf_openpbs::entity::{EntityAttributes, FairshareEntity};
use jsf_openpbs::resource_amount::{AmountSource, whole_amount};
use jsf_openpbs::wall_clock::{Time, seconds_of_ctime};

use crate::attribute_values::{integer, seconds};
use crate::job_key::SpecialInput;
use crate::known_names::KnownNames;
use crate::options::ReadOptions;
use crate::parsed_job::ParsedJob;

/// The jobs of a document as a scheduling cycle sees them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CycleJobs {
    /// One for each row of the table, in its order.
    pub jobs: Vec<QueuedJob>,
    /// When the document was written, in seconds since 1970, if it says so.
    pub timestamp: Option<i64>,
    /// Whether the times of running jobs are certain: qstat prints them on the clock of its host.
    /// Its distance from UTC is found by jobs that have both such a time and one in UTC; else UTC
    /// is assumed.
    pub is_time_zone_known: bool,
    /// The clock of qstat's host.
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
    pub texts: Vec<(Box<str>, Box<str>)>,
    /// When it was started, in seconds since 1970.
    pub stime: Option<i64>,
    /// The seconds it has run (`resources_used.walltime`), as far as its host has reported.
    pub used_walltime: Option<i64>,
    /// Whether it may be requeued (`Rerunable`).
    pub is_rerunable: bool,
    /// Whether it was started before (`run_count`).
    pub has_run: bool,
    /// When it entered its queue, in seconds since 1970.
    pub qtime: Option<i64>,
    /// When it became eligible to run, in seconds since 1970.
    pub etime: Option<i64>,
    /// The microsecond in which it entered its queue, or whatever the document gives instead, by
    /// which ties are broken.
    pub queue_rank: Option<i64>,
    /// 0 initial, 1 ineligible, 2 eligible, 3 running, 4 over.
    pub accrue_type: Option<u8>,
    /// The seconds for which it was eligible.
    pub eligible_time: Option<i64>,
    /// The subjobs of an array that were not started; `None` for any other job.
    pub queued_subjobs: Option<ArrayIndices>,
    /// All subjobs of an array (`array_indices_submitted`), if the document says.
    pub submitted_subjobs: Option<ArrayIndices>,
    /// How many subjobs of an array run or are ending.
    pub running_subjobs: u32,
    /// How many subjobs of an array may run at a time.
    pub max_run_subjobs: Option<u32>,
    /// Whether it may be reserved a place (`topjob_ineligible`).
    pub is_topjob_eligible: bool,
    /// The letters of the holds: `u`, `o`, `s`, `p`.
    pub hold_types: Box<str>,
    /// When the scheduler last expected to start it, in seconds since 1970.
    pub estimated_start: Option<i64>,
    /// What it has on each node if it runs (`exec_vnode`).
    pub placed: Vec<PlacedChunk>,
}

/// The indices of subjobs, such as `0-9:3,12`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArrayIndices {
    /// First, last and step.
    ranges: Vec<(u32, u32, u32)>,
}

impl ArrayIndices {
    /// Reads indices, without what follows `%`; an empty text and `-` are none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split('%').next().unwrap_or_default().trim();
        if matches!(text, "" | "-") {
            return Some(Self::default());
        }
        let ranges: Option<Vec<_>> = text
            .split(',')
            .map(|range| parse_range(range.trim()))
            .collect();
        Some(Self { ranges: ranges? })
    }

    /// The indices from 0 to a number.
    fn first(count: u32) -> Self {
        Self {
            ranges: count
                .checked_sub(1)
                .map(|last| (0, last, 1))
                .into_iter()
                .collect(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.ranges
            .iter()
            .map(|&(first, last, step)| u64::from((last - first) / step) + 1)
            .sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The place of an index among them, from 0.
    pub fn position(&self, index: u32) -> Option<usize> {
        let mut before = 0;
        for &(first, last, step) in &self.ranges {
            if (first..=last).contains(&index) && (index - first).is_multiple_of(step) {
                return Some(before + ((index - first) / step) as usize);
            }
            before += ((last - first) / step) as usize + 1;
        }
        None
    }

    /// The indices, in the order of the text, which PBS writes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.ranges
            .iter()
            .flat_map(|&(first, last, step)| (first..=last).step_by(step as usize))
    }
}

/// Reads `4`, `0-9` or `0-9:3`.
fn parse_range(range: &str) -> Option<(u32, u32, u32)> {
    let (range, step) = range.split_once(':').unwrap_or((range, "1"));
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last, step) = (first.parse().ok()?, last.parse().ok()?, step.parse().ok()?);
    (first <= last && step > 0).then_some((first, last, step))
}

/// The attributes that only a scheduling cycle needs, in `qstat -f` or native JSON; that of a list
/// has the name of the list before it. The second name is the one by which it is found.
const KEYS: [(&str, &str); 23] = [
    ("user", "user"),
    ("euser", "user"),
    ("group", "group"),
    ("egroup", "group"),
    ("project", "project"),
    ("stime", "stime"),
    ("qtime", "qtime"),
    ("etime", "etime"),
    ("resources_used.walltime", "used_walltime"),
    ("Hold_Types", "Hold_Types"),
    ("topjob_ineligible", "topjob_ineligible"),
    ("array_state_count", "array_state_count"),
    ("array_indices_remaining", "array_indices_remaining"),
    ("array_indices_submitted", "array_indices_submitted"),
    ("max_run_subjobs", "max_run_subjobs"),
    ("Rerunable", "Rerunable"),
    ("run_count", "run_count"),
    ("estimated.start_time", "estimated_start"),
    ("estimated_start", "estimated_start"),
    ("place", "place"),
    ("select", "select"),
    ("schedselect", "schedselect"),
    ("exec_vnode", "exec_vnode"),
];

/// An attribute that only a scheduling cycle needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CycleKey(&'static str);

impl CycleKey {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let (_, key) = KEYS.iter().find(|(known, _)| *known == name)?;
        Some(Self(key))
    }

    /// Whether the attribute of this name is an object with attributes of a cycle.
    pub(super) fn is_list(name: &str) -> bool {
        matches!(name, "estimated" | "resources_used")
    }

    /// Whether the value is a name, which qstat may print without quotes.
    pub(super) fn is_name(self) -> bool {
        matches!(self.0, "user" | "group" | "project")
    }
}

/// The times of a job, as the document gives them.
#[derive(Debug, Clone, Copy, Default)]
struct JobTimes {
    started: Option<Time>,
    queued: Option<Time>,
    eligible: Option<Time>,
    estimated_start: Option<Time>,
}

/// Collects the jobs of a document.
#[derive(Debug, Default)]
pub(super) struct CycleJobsBuilder {
    pub(super) timestamp: Option<i64>,
    jobs: Vec<QueuedJob>,
    times: Vec<JobTimes>,
}

/// A job, and its times, whose clock only all jobs together show.
#[derive(Debug)]
pub(super) struct CycleJob {
    job: QueuedJob,
    times: JobTimes,
}

impl CycleJob {
    pub(super) fn new(
        job: &ParsedJob<'_>,
        names: &KnownNames,
        id: &str,
        entity: &str,
        source: AmountSource,
        options: &ReadOptions<'_>,
    ) -> Self {
        let reader = AttributeReader {
            job,
            names,
            source,
            schema: options.schema,
        };
        let has_user = options.entity == FairshareEntity::User;
        Self {
            job: QueuedJob {
                entity: entity.into(),
                ..reader.job(id, if has_user { entity } else { "" })
            },
            times: JobTimes {
                started: reader.time("stime"),
                queued: reader.time("qtime"),
                eligible: reader.time("etime"),
                estimated_start: reader.time("estimated_start"),
            },
        }
    }
}

impl CycleJobsBuilder {
    pub(super) fn push(&mut self, job: CycleJob) {
        self.jobs.push(job.job);
        self.times.push(job.times);
    }

    pub(super) fn finish(mut self) -> CycleJobs {
        let clock = Clock::new(&self.jobs, &self.times, self.timestamp);
        let mut is_certain = clock.is_known();
        is_certain |= self
            .times
            .iter()
            .all(|times| !matches!(times.started, Some(Time::Wall(_))));
        for (job, times) in self.jobs.iter_mut().zip(&self.times) {
            job.stime = times.started.map(|time| clock.utc(time));
            job.qtime = times.queued.map(|time| clock.utc(time));
            job.etime = times.eligible.map(|time| clock.utc(time));
            job.estimated_start = times.estimated_start.map(|time| clock.utc(time));
        }
        CycleJobs {
            jobs: self.jobs,
            timestamp: self.timestamp,
            is_time_zone_known: is_certain,
            clock,
        }
    }
}

/// The distance of the clock of qstat's host from UTC, which changes with daylight saving time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clock {
    /// Times on the clock, each with its distance from UTC at that time in seconds, in ascending
    /// order.
    samples: Vec<(i64, i64)>,
}

/// Time zones are multiples of this from UTC, in seconds.
const QUARTER: i64 = 15 * 60;
/// No time zone is further from UTC, in seconds.
const MAX_DISTANCE: i64 = 14 * 3600;

impl Clock {
    fn new(jobs: &[QueuedJob], times: &[JobTimes], timestamp: Option<i64>) -> Self {
        // the server takes both when the job enters its queue
        let samples = jobs
            .iter()
            .zip(times)
            .filter_map(|(job, times)| match times.queued {
                Some(Time::Wall(queued)) => {
                    let distance = queued - job.queue_rank? / 1_000_000;
                    let nearest = (distance + QUARTER / 2).div_euclid(QUARTER) * QUARTER;
                    let is_zone = nearest.abs() <= MAX_DISTANCE && (distance - nearest).abs() <= 2;
                    is_zone.then_some((queued, nearest))
                }
                _ => None,
            });
        let mut samples: Vec<(i64, i64)> = samples.collect();
        samples.sort_unstable();
        if samples.is_empty() {
            let sample = timestamp.and_then(|timestamp| sample_of_running(jobs, times, timestamp));
            samples.extend(sample);
        }
        Self { samples }
    }

    /// The clock by times on it, each with the time in seconds since 1970 when it showed about that.
    pub fn from_samples(samples: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let samples = samples.into_iter().map(|(wall, utc)| {
            let distance = wall - utc;
            (wall, (distance + QUARTER / 2).div_euclid(QUARTER) * QUARTER)
        });
        let mut samples: Vec<(i64, i64)> = samples
            .filter(|(_, distance)| distance.abs() <= MAX_DISTANCE)
            .collect();
        samples.sort_unstable();
        Self { samples }
    }

    /// Whether the distance is known; else it is taken to be 0.
    pub fn is_known(&self) -> bool {
        !self.samples.is_empty()
    }

    /// A time in seconds since 1970.
    pub fn utc(&self, time: Time) -> i64 {
        match time {
            Time::Utc(seconds) => seconds,
            Time::Wall(wall) => self.utc_of_wall(wall),
        }
    }

    /// A time on the clock in seconds since 1970, by the distance from UTC that is known for the
    /// nearest time.
    pub fn utc_of_wall(&self, wall: i64) -> i64 {
        wall - self.distance(wall)
    }

    /// What the clock shows at a time in seconds since 1970.
    pub fn wall_of_utc(&self, utc: i64) -> i64 {
        utc + self.distance(utc + self.distance(utc))
    }

    fn distance(&self, wall: i64) -> i64 {
        let after = self.samples.partition_point(|&(sample, _)| sample < wall);
        let nearest = self.samples[after.saturating_sub(1)..].iter().take(2);
        nearest
            .min_by_key(|(sample, _)| sample.abs_diff(wall))
            .map_or(0, |&(_, distance)| distance)
    }
}

/// The distance from UTC by the running jobs: what they have used is up to a few minutes old.
fn sample_of_running(jobs: &[QueuedJob], times: &[JobTimes], timestamp: i64) -> Option<(i64, i64)> {
    let mut latest = None;
    for (job, times) in jobs.iter().zip(times) {
        if let (Some(Time::Wall(started)), Some(used)) = (times.started, job.used_walltime) {
            latest = latest.max(started.checked_add(used));
        }
    }
    let latest = latest?;
    let distance = latest
        .checked_sub(timestamp)?
        .checked_add(QUARTER - 1)?
        .div_euclid(QUARTER)
        * QUARTER;
    (distance.abs() <= MAX_DISTANCE).then_some((latest, distance))
}

/// Reads the attributes of one job.
struct AttributeReader<'r, 'd> {
    job: &'r ParsedJob<'d>,
    names: &'r KnownNames,
    source: AmountSource,
    schema: &'r Schema,
}

impl AttributeReader<'_, '_> {
    /// The job without its times and its entity.
    fn job(&self, id: &str, entity_user: &str) -> QueuedJob {
        let amounts = self.amounts();
        let chunks = self.chunks();
        let of_chunks = || total(&chunks, "ncpus");
        QueuedJob {
            id: id.into(),
            state: self
                .job
                .state
                .as_ref()
                .and_then(|state| state.text()?.chars().next())
                .unwrap_or('Q'),
            queue: self.job.queue.as_ref().into(),
            user: self.user(entity_user),
            group: self.text("group").unwrap_or(&self.job.group).into(),
            project: self.text("project").unwrap_or_default().into(),
            ncpus: amounts.get("ncpus").copied().or_else(of_chunks),
            chunks,
            place: self
                .resource("place")
                .or(self.text("place"))
                .unwrap_or_default()
                .into(),
            walltime: amounts.get("walltime").copied(),
            amounts,
            texts: self.texts(),
            used_walltime: self.scalar("used_walltime").and_then(seconds),
            has_run: self.scalar("run_count").and_then(integer) > Some(0),
            is_rerunable: self.text("Rerunable").is_none_or(is_true),
            queue_rank: self.job.queued_at.as_ref().and_then(integer),
            accrue_type: self
                .special(SpecialInput::AccrueType)
                .and_then(integer)
                .and_then(|kind| kind.try_into().ok()),
            eligible_time: self.special(SpecialInput::EligibleTime).and_then(seconds),
            queued_subjobs: self.queued_subjobs(),
            submitted_subjobs: self
                .text("array_indices_submitted")
                .and_then(ArrayIndices::parse),
            max_run_subjobs: self.max_run_subjobs(),
            running_subjobs: ["Running:", "Exiting:"]
                .into_iter()
                .fold(0, |sum: u32, state| {
                    sum.saturating_add(self.subjobs_in(state).unwrap_or(0))
                }),
            is_topjob_eligible: !self.text("topjob_ineligible").is_some_and(is_true),
            hold_types: self
                .text("Hold_Types")
                .filter(|holds| *holds != "n")
                .unwrap_or_default()
                .into(),
            placed: self.placed(),
            ..QueuedJob::default()
        }
    }

    fn scalar(&self, key: &str) -> Option<&JsonScalar<'_>> {
        self.job
            .cycle
            .iter()
            .rev()
            .find(|(given, _)| given.0 == key)
            .map(|(_, scalar)| scalar)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.scalar(key)?.text()
    }

    fn resource(&self, name: &str) -> Option<&str> {
        let index = self.names.find(name)?;
        self.job
            .resources
            .iter()
            .rev()
            .find(|(given, _)| *given == index)?
            .1
            .text()
    }

    fn special(&self, input: SpecialInput) -> Option<&JsonScalar<'_>> {
        self.job
            .special
            .iter()
            .find(|(given, _)| *given == input)
            .map(|(_, scalar)| scalar)
    }

    fn time(&self, key: &str) -> Option<Time> {
        let scalar = self.scalar(key)?;
        let wall = || scalar.text().and_then(seconds_of_ctime).map(Time::Wall);
        integer(scalar).map(Time::Utc).or_else(wall)
    }

    fn user(&self, entity_user: &str) -> Box<str> {
        let attributes = EntityAttributes {
            user: &self.job.user,
            submitter: &self.job.owner,
            ..EntityAttributes::default()
        };
        let user = FairshareEntity::User.entity_of(attributes);
        let user = self.text("user").unwrap_or(&user);
        if user.is_empty() {
            entity_user.into()
        } else {
            user.into()
        }
    }

    /// The requests for resources; ready-made inputs of a formula count where there is no request.
    fn amounts(&self) -> BTreeMap<Box<str>, i64> {
        let mut amounts = BTreeMap::new();
        for &(index, ref scalar) in &self.job.inputs {
            let name = self.names.name(index);
            if SpecialInput::from_name(name).is_none() {
                amounts.extend(integer(scalar).map(|amount| (name.into(), amount)));
            }
        }
        for &(index, ref scalar) in &self.job.resources {
            let name = self.names.name(index);
            let text = scalar.text();
            let kind = self.names.get(index).declared;
            let amount = text.and_then(|text| whole_amount(text, kind, self.source));
            amounts.extend(amount.map(|amount| (name.into(), amount)));
        }
        amounts
    }

    fn texts(&self) -> Vec<(Box<str>, Box<str>)> {
        let mut texts = Vec::new();
        for &(index, ref scalar) in &self.job.resources {
            let name = self.names.name(index);
            let is_kept = self.names.get(index).is_skipped
                && !matches!(name, "select" | "schedselect" | "place" | "exec_vnode");
            let text = scalar.text().filter(|_| is_kept);
            texts.extend(text.map(|text| (name.into(), text.into())));
        }
        texts
    }

    fn chunks(&self) -> Vec<Chunk> {
        let given = [
            self.text("schedselect"),
            self.resource("select"),
            self.text("select"),
        ];
        let Some(select) = given.into_iter().flatten().next() else {
            return Vec::new();
        };
        Chunk::read_select(select, self.source, self.schema)
    }

    /// `exec_vnode` is also the name of a resource that OpenPBS declares.
    fn placed(&self) -> Vec<PlacedChunk> {
        let text = self.text("exec_vnode").or(self.resource("exec_vnode"));
        PlacedChunk::read_all(text.unwrap_or_default(), self.source, self.schema)
    }

    /// The subjobs that were not started, if the job is an array; by their number alone, they are
    /// those from 0.
    fn queued_subjobs(&self) -> Option<ArrayIndices> {
        if let Some(indices) = self
            .text("array_indices_remaining")
            .and_then(ArrayIndices::parse)
        {
            return Some(indices);
        }
        self.subjobs_in("Queued:").map(ArrayIndices::first)
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
        states
            .find_map(|text| text.strip_prefix(state))?
            .parse()
            .ok()
    }
}

/// What all chunks together have of a resource, if any has it.
fn total(chunks: &[Chunk], resource: &str) -> Option<i64> {
    let amounts = chunks.iter().flat_map(|chunk| {
        let of_one = chunk.amounts.iter().filter(|(name, _)| **name == *resource);
        of_one.map(|(_, amount)| amount.saturating_mul(chunk.count.into()))
    });
    amounts.reduce(i64::saturating_add)
}

fn is_true(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "true" | "t" | "y" | "1")
}

#[cfg(test)]
mod tests;
