//! Runs a workload through time: from event to event, which are the submissions and the ends of
//! jobs, with one scheduling cycle at each.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use job_sort_formula::Program;
use job_sort_formula::rank::ColumnError;
use jsf_openpbs::cycle::{
    Cycle, CycleEvent, CycleJob, CycleRules, CycleState, Machine, PreemptionMethod, Request,
};

use super::simulation_rules::SimulationRules;
use super::tree_usage::Fairshare;
use super::waiting_jobs::WaitingJobs;
use super::{NOT_STARTED, Preemptions, Schedule, sum_of};
use crate::workload::{Workload, WorkloadJob};

/// Stands for a time that does not come.
const NEVER: i64 = i64::MAX;
/// The number of events between two calls of [`Observer::progress`].
const EVENTS_BETWEEN_REPORTS: u64 = 64;

/// Follows a simulation.
pub trait Observer {
    /// Is called now and then with the number of jobs that have started; may end the simulation.
    fn progress(&mut self, _started: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Something happens in a cycle on this machine.
    fn happened(&mut self, _now: i64, _event: CycleEvent, _machine: &Machine) {}
}

impl Observer for () {}

/// A function that only asks whether to go on.
impl<F: FnMut(usize) -> ControlFlow<()>> Observer for F {
    fn progress(&mut self, started: usize) -> ControlFlow<()> {
        self(started)
    }
}

/// Simulates a workload: at each submission and each end of a job one cycle of the scheduler orders
/// the waiting jobs and starts what may start, as [`Cycle`] does.
///
/// A job gets the inputs `ncpus` (its processors), `walltime`, `eligible_time` (the time since its
/// submission, without that for which it was not eligible) and, with a tree, the fair-share numbers
/// of its entity; all other inputs are what the log says, else 0. Of jobs with equal values the one
/// that was submitted first comes first, then the one with the lower id.
///
/// A job that asks for more than there is can never start, and could block all jobs behind it for
/// ever. It is left out ([`Schedule::too_large`]): it neither waits, nor is its submission an
/// event.
///
/// # Errors
/// The formula needs an input that cannot be given to it.
pub fn simulate(
    program: &Program,
    workload: &Workload,
    mut rules: SimulationRules,
    mut fairshare: Option<Fairshare>,
    observer: &mut dyn Observer,
) -> Result<Schedule, ColumnError> {
    let mut jobs = std::mem::take(&mut rules.jobs);
    let state = std::mem::take(&mut rules.state);
    let rules = &rules;
    let count = workload.jobs().len();
    let too_large = too_large(&jobs, &state.machine);
    if let (Some(fairshare), Some(first)) = (&mut fairshare, workload.jobs().first()) {
        // nothing ran before
        fairshare.time = first.submit;
        for (job, of_log) in jobs.iter_mut().zip(workload.jobs()) {
            job.charge = fairshare.measure.requested(of_log);
        }
    }
    let mut inputs = program.inputs().iter();
    let reads_eligible_time = inputs.any(|name| **name == *"eligible_time");
    let preempts = rules.preempts();
    let notes_eligible = rules.has_accrual
        && reads_eligible_time
        && (state.limits.has_personal() || rules.threshold.is_some() || preempts);
    let has_accrual = notes_eligible || reads_eligible_time && preempts;
    let mut cycle = rules.cycle.clone();
    // a site's documents have what is left of a walltime only as the hosts have reported it
    cycle.levels.knows_ends = true;
    let mut simulation = Simulation {
        now: 0,
        rules,
        cycle,
        preempts,
        notes_eligible,
        state,
        ends: BTreeSet::new(),
        running: Vec::new(),
        waiting: WaitingJobs::new(program, workload, rules, has_accrual, &too_large)?,
        fairshare,
        started: 0,
        schedule: Schedule {
            starts: vec![NOT_STARTED; count],
            start_values: vec![f64::NAN; count],
            preemptions: preempts.then(Preemptions::default),
            too_large,
            ..Schedule::default()
        },
        workload: workload.jobs(),
        jobs,
    };
    simulation.run(observer)?;
    Ok(simulation.schedule)
}

struct Simulation<'a> {
    workload: &'a [WorkloadJob],
    /// The same jobs. A suspended one has what is left of its walltime.
    jobs: Vec<CycleJob>,
    rules: &'a SimulationRules,
    /// The rules of the next cycle.
    cycle: CycleRules,
    /// Whether jobs that run may give way, now or at another time.
    preempts: bool,
    /// Whether it is noted which waiting jobs are eligible.
    notes_eligible: bool,
    now: i64,
    state: CycleState,
    /// When the running jobs end.
    ends: BTreeSet<(i64, u32)>,
    /// The running jobs in the order in which they started.
    running: Vec<u32>,
    waiting: WaitingJobs<'a>,
    fairshare: Option<Fairshare>,
    started: usize,
    schedule: Schedule,
}

impl Simulation<'_> {
    fn run(&mut self, observer: &mut dyn Observer) -> Result<(), ColumnError> {
        // the submission of a job that is left out is no event: nothing may depend on it
        let mut submissions: Vec<usize> = (0..self.workload.len()).collect();
        let too_large = &self.schedule.too_large;
        submissions.retain(|job| too_large.binary_search(job).is_err());
        let mut submissions = submissions.into_iter().peekable();
        for event in 1_u64.. {
            let mut now = self.next_change().unwrap_or(NEVER);
            if let Some(&job) = submissions.peek() {
                now = now.min(self.workload[job].submit);
            }
            if let Some((end, _)) = self.ends.first() {
                now = now.min(*end);
            }
            if now == NEVER {
                break;
            }
            self.now = now;
            self.change_settings();
            if let Some(fairshare) = &mut self.fairshare {
                fairshare.advance(now, self.workload, &self.running);
            }
            while let Some(&(end, job)) = self.ends.first()
                && end == now
            {
                self.ends.pop_first();
                self.end(job);
            }
            while let Some(job) = submissions.next_if(|&job| self.workload[job].submit == now) {
                self.waiting.push(job as u32);
            }
            // one cycle for all events of a second: OpenPBS's server too asks for one after a pass
            // over all that it has received
            self.cycle(observer)?;
            if event % EVENTS_BETWEEN_REPORTS == 0 && observer.progress(self.started).is_break() {
                return Ok(());
            }
        }
        self.schedule.is_complete = true;
        Ok(())
    }

    /// When other jobs may start than now, if some wait.
    fn next_change(&self) -> Option<i64> {
        let change = self.cycle.times.next_change(self.now);
        change.filter(|_| self.waiting.has_waiting())
    }

    /// Takes the settings of prime time, or those of the time outside it.
    fn change_settings(&mut self) {
        let Some(non_prime) = &self.rules.non_prime else {
            return;
        };
        if self.cycle.times.is_prime_at(self.now) {
            self.cycle.strict_ordering = self.rules.cycle.strict_ordering;
            self.cycle.levels.is_preemptive = self.rules.cycle.levels.is_preemptive;
            self.waiting.set_order(&self.rules.order);
        } else {
            self.cycle.strict_ordering = non_prime.strict_ordering;
            self.cycle.levels.is_preemptive = non_prime.is_preemptive;
            self.waiting.set_order(&non_prime.order);
        }
    }

    /// Frees what a job holds.
    fn end(&mut self, index: u32) {
        self.state.machine.end(index);
        self.state.limits.end(&self.jobs[index as usize]);
        if self.preempts {
            self.jobs[index as usize].started = None;
            self.waiting.remove(index);
        }
        self.running.retain(|&job| job != index);
    }

    /// One cycle of the scheduler. Where no waiting job fits, nothing is evaluated: no order could
    /// start one.
    fn cycle(&mut self, observer: &mut dyn Observer) -> Result<(), ColumnError> {
        let preempts = self.preempts;
        let decides_all = preempts || self.waiting.has_accrual;
        if !decides_all && !self.waiting.has_job_of(self.state.machine.free(0)) {
            return Ok(());
        }
        self.waiting
            .evaluate(self.now, self.fairshare.as_mut(), &mut self.schedule.errors)?;
        let paths = self
            .waiting
            .sort(&mut self.jobs, preempts, self.fairshare.as_ref());
        let mut cycle = Cycle::new(self.now, &self.cycle, &mut self.state, &self.jobs);
        let events = self.waiting.decide(&mut cycle, &self.jobs, paths);
        let mut waiting = Vec::new();
        for event in events {
            observer.happened(self.now, event, &self.state.machine);
            match event {
                CycleEvent::Starts(job) => self.start(job),
                CycleEvent::GivesWay(job, method) => self.give_way(job, method),
                CycleEvent::Waits {
                    job, is_eligible, ..
                } if self.notes_eligible => waiting.push((job, is_eligible)),
                CycleEvent::Waits { .. } | CycleEvent::Reserved { .. } => {}
            }
        }
        // as in a cycle of the site, whose documents do not tell when jobs gave way
        self.state.preempted.clear();
        for (&job, suspended) in &self.state.suspended {
            self.jobs[job as usize].walltime = suspended.left;
            self.state.preempted.insert(job, i64::MIN);
        }
        if self.notes_eligible {
            self.waiting.set_eligible(self.now, &waiting);
        }
        Ok(())
    }

    /// Notes that a running job gives way, whose place the cycle has freed.
    fn give_way(&mut self, job: u32, method: PreemptionMethod) {
        // few jobs give way, so that the set need not find one of its members
        self.ends.retain(|(_, other)| *other != job);
        self.running.retain(|&other| other != job);
        self.jobs[job as usize].started = None;
        let counts = self.schedule.preemptions.get_or_insert_default();
        if method == PreemptionMethod::Suspend {
            counts.suspended += 1;
            let pauses = self.schedule.pauses.entry(job).or_default();
            pauses.push((self.now, self.now));
            return self.waiting.set_running(job, false, self.now);
        }
        // what it has run is lost: it starts from its beginning, or never again
        let start = std::mem::replace(&mut self.schedule.starts[job as usize], NOT_STARTED);
        let pauses = self.schedule.pauses.remove(&job).unwrap_or_default();
        let lost = (self.now - start - sum_of(&pauses)).unsigned_abs();
        let processors = self.workload[job as usize].processors;
        counts.lost_core_seconds += u128::from(processors) * u128::from(lost);
        self.schedule.start_values[job as usize] = f64::NAN;
        self.started -= 1;
        if method == PreemptionMethod::Requeue {
            counts.requeued += 1;
            self.waiting.set_running(job, false, self.now);
        } else {
            counts.deleted += 1;
            self.schedule.deleted.push(job as usize);
            self.waiting.remove(job);
        }
    }

    /// Notes the start of a job, which the cycle has placed on the machine.
    fn start(&mut self, job: u32) {
        let start = &mut self.schedule.starts[job as usize];
        let mut paused = 0;
        if let Some(pauses) = self.schedule.pauses.get_mut(&job)
            && let Some((_, to)) = pauses.last_mut()
        {
            *to = self.now;
            paused = sum_of(pauses);
        } else {
            *start = self.now;
            self.schedule.start_values[job as usize] = self.waiting.value(job);
            self.started += 1;
        }
        let of_log = &self.workload[job as usize];
        self.ends.insert((*start + of_log.duration() + paused, job));
        self.jobs[job as usize].walltime = of_log.walltime;
        if self.preempts {
            self.jobs[job as usize].started = Some(self.schedule.starts[job as usize]);
            self.waiting.set_running(job, true, self.now);
        } else {
            self.waiting.remove(job);
        }
        self.running.push(job);
    }
}

/// The jobs that a machine has no room for.
fn too_large(jobs: &[CycleJob], machine: &Machine) -> Vec<usize> {
    let mut fits: HashMap<&Request, bool> = HashMap::new();
    let mut too_large = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let request = &*job.request;
        let fits = fits.entry(request);
        if !*fits.or_insert_with(|| machine.can_ever_run(request)) {
            too_large.push(index);
        }
    }
    too_large
}
