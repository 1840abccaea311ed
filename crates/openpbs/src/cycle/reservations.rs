//! The jobs that are promised a start in a cycle, and what is left beside them.

use std::ops::Range;

use super::limits::Counts;
use super::machine::{Machine, Placement, PlannedEnd, change, holds, lower};
use super::{Cycle, CycleJob};

/// The jobs that are promised a start.
#[derive(Debug, Clone, Default)]
pub struct Reservations {
    /// In the order in which they were made.
    jobs: Vec<Reserved>,
    /// Their starts and ends in order, each with its time, whether it is a start, and the index of
    /// the job. Of those at the same time the ends come first.
    events: Vec<(i64, bool, usize)>,
}

#[derive(Debug, Clone)]
struct Reserved {
    job: u32,
    start: i64,
    placement: Placement,
    /// What is free, pool by pool, once it has started.
    free: Vec<i64>,
}

/// A change of what is free.
struct Event<'e> {
    time: i64,
    is_start: bool,
    job: u32,
    placement: &'e Placement,
}

impl Event<'_> {
    /// How often its job holds from then on what it asks for, compared with before.
    fn held(&self) -> i64 {
        if self.is_start { 1 } else { -1 }
    }
}

impl Reservations {
    /// The advance reservations of a machine, which are promised their starts before any job is.
    pub fn new(machine: &Machine) -> Self {
        let mut made = Self::default();
        for (index, reservation) in machine.advance.iter().enumerate() {
            let start = reservation.start;
            let mut free = machine.free.to_vec();
            for running in &machine.ends {
                if running.time <= start {
                    change(&mut free, machine.amounts, &running.placement, 1);
                }
            }
            // those before it that have not ended, and itself
            for taken in &machine.advance[..=index] {
                if taken.end > start {
                    change(&mut free, machine.amounts, &taken.placement, -1);
                }
            }
            let placement = reservation.placement.clone();
            made.push(reservation.job, start..reservation.end, placement, free);
        }
        made.events.sort_unstable();
        made
    }

    fn push(&mut self, job: u32, time: Range<i64>, placement: Placement, free: Vec<i64>) {
        for (time, is_start) in [(time.start, true), (time.end, false)] {
            self.events.push((time, is_start, self.jobs.len()));
        }
        self.jobs.push(Reserved {
            job,
            start: time.start,
            placement,
            free,
        });
    }

    /// The first start that is promised, and what is free of the first amount beside that job then,
    /// on a machine that is one count.
    pub fn first(&self) -> Option<(i64, i64)> {
        let starts = self.jobs.iter();
        starts.map(|job| (job.start, job.free[0])).min()
    }

    /// The reserved jobs that start between two times.
    fn starting_within(&self, from: i64, to: i64) -> impl Iterator<Item = &Reserved> {
        let jobs = self.jobs.iter();
        jobs.filter(move |reserved| from < reserved.start && reserved.start < to)
    }

    /// Where a job that starts at a time, with this much free then, is placed so that it leaves the
    /// reserved jobs their places (section 3): it fits at its start and at the start of each of
    /// them during its walltime. A suspended job goes on where it was. The error is the first of
    /// the reserved jobs that it would delay; `None` if it does not even fit at its start.
    pub fn place(
        &self,
        cycle: &Cycle<'_>,
        index: u32,
        job: &CycleJob<'_>,
        at: i64,
        free: &[i64],
    ) -> Result<Placement, Option<u32>> {
        let (machine, request) = (&*cycle.machine, &job.request);
        let end = at + job.walltime;
        if let Some(suspended) = cycle.suspended.get(&index) {
            let taken = machine.taken(&suspended.released);
            if !holds(free, &taken) {
                return Err(None);
            }
            for reserved in self.starting_within(at, end) {
                if !holds(&reserved.free, &taken) {
                    return Err(Some(reserved.job));
                }
            }
            return Ok(suspended.released.clone());
        }
        let mut placement = machine.place(free, request).ok_or(None)?;
        let mut available = Vec::new();
        for reserved in self.starting_within(at, end) {
            if available.is_empty() {
                available.extend_from_slice(free);
            }
            if lower(&mut available, &reserved.free) {
                let placed = machine.place(&available, request);
                placement = placed.ok_or(Some(reserved.job))?;
            }
        }
        Ok(placement)
    }

    /// Adds what a job holds until its end to what is free at the starts before it, or with -1 takes
    /// it away.
    pub fn change(&mut self, machine: &Machine, held: &Placement, end: i64, sign: i64) {
        for reserved in &mut self.jobs {
            if reserved.start < end {
                change(&mut reserved.free, machine.amounts, held, sign);
            }
        }
    }

    /// The first limit that a job would pass if it ran from a time on, at which this much is used:
    /// the most that is used during its walltime counts (section 6).
    pub fn passed_limit(
        &self,
        cycle: &Cycle<'_>,
        job: &CycleJob<'_>,
        at: i64,
        used: &Counts,
    ) -> Option<usize> {
        if cycle.limits.is_empty() {
            return None;
        }
        let end = at + job.walltime;
        let is_within = |time: i64| at < time && time < end;
        if !self.jobs.iter().any(|reserved| is_within(reserved.start)) {
            return cycle.limits.passed(used, job);
        }
        let mut now = used.clone();
        let mut most = used.clone();
        for event in self.events(cycle.machine) {
            if is_within(event.time) {
                let job = cycle.jobs.job(event.job);
                now.add(&cycle.limits.limits, &job, event.held());
                most.max(&now);
            }
        }
        cycle.limits.passed(&most, job)
    }

    /// Promises a job a start (section 4): the first time at which it fits, as far as the walltimes
    /// tell. Returns that time, or `None` if it never fits.
    pub fn add(cycle: &mut Cycle<'_>, index: u32, job: &CycleJob<'_>) -> Option<i64> {
        let reservations = &cycle.reservations;
        let (start, placement, mut free) = reservations.estimate(cycle, index, job)?;
        // from then on a suspended job counts with its whole walltime
        let end = start + cycle.jobs.job(index).walltime;
        let (machine, made) = (&*cycle.machine, &mut cycle.reservations);
        change(&mut free, machine.amounts, &placement, -1);
        for other in &mut made.jobs {
            if (start..end).contains(&other.start) {
                change(&mut other.free, machine.amounts, &placement, -1);
            }
        }
        made.push(index, start..end, placement, free);
        made.events.sort_unstable();
        Some(start)
    }

    /// When a job can start, where, and what is free then.
    fn estimate(
        &self,
        cycle: &Cycle<'_>,
        index: u32,
        job: &CycleJob<'_>,
    ) -> Option<(i64, Placement, Vec<i64>)> {
        let machine = &*cycle.machine;
        let mut free = machine.free.to_vec();
        let mut used = cycle.limits.running.clone();
        let mut events = self.events(machine).peekable();
        let changes = cycle.rules.times.changes_after(cycle.now);
        let mut changes = changes.into_iter().peekable();
        loop {
            let first = match (events.peek(), changes.peek()) {
                (Some(event), Some(&change)) => event.time.min(change),
                (Some(event), None) => event.time,
                (None, change) => *change?,
            };
            let window_end = window_end(first, cycle.rules.window);
            let mut last = first;
            let mut has_end = false;
            while let Some(event) = events.next_if(|event| event.time <= window_end) {
                last = event.time;
                has_end |= !event.is_start;
                let job = cycle.jobs.job(event.job);
                change(&mut free, machine.amounts, event.placement, -event.held());
                used.add(&cycle.limits.limits, &job, event.held());
            }
            while let Some(change) = changes.next_if(|&change| change <= window_end) {
                last = last.max(change);
                has_end = true;
            }
            if !has_end || !cycle.rules.times.allow(job, last) {
                continue;
            }
            if let Ok(placement) = self.place(cycle, index, job, last, &free)
                && self.passed_limit(cycle, job, last, &used).is_none()
            {
                return Some((last, placement, free));
            }
        }
    }

    /// The ends of the running jobs, and the starts and ends of the reserved ones, in order.
    fn events<'e>(&'e self, machine: &'e Machine) -> impl Iterator<Item = Event<'e>> {
        let mut ends = machine.ends.iter().peekable();
        let mut reserved = self.events.iter().peekable();
        std::iter::from_fn(move || {
            if let Some(end) = ends.peek()
                && reserved.peek().is_none_or(|event| end.time <= event.0)
            {
                let PlannedEnd {
                    time,
                    job,
                    placement,
                } = ends.next()?;
                return Some(Event {
                    time: *time,
                    is_start: false,
                    job: *job,
                    placement,
                });
            }
            let &(time, is_start, index) = reserved.next()?;
            let Reserved { job, placement, .. } = &self.jobs[index];
            Some(Event {
                time,
                is_start,
                job: *job,
                placement,
            })
        })
    }
}

/// The end of the window of events that begins at a time: the ends of jobs in it are taken
/// together.
fn window_end(begin: i64, window: i64) -> i64 {
    match window {
        0 => begin,
        _ => (begin.div_euclid(window) + 1) * window,
    }
}
