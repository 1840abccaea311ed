//! Backfilling: the jobs that are promised a start, and what may start beside them without a delay of
//! any of them.

use std::ops::Range;

use super::limits::Counts;
use super::machine::{Event, Machine, Placement, change, lower};
use super::{Cycle, CycleState};

/// The jobs that are promised a start.
#[derive(Debug, Clone, Default)]
pub(super) struct Reservations {
    /// In the order in which they were made.
    pub(super) jobs: Vec<Reserved>,
    /// Their starts and ends in order. Of those at the same time the ends come first.
    events: Vec<Event>,
}

#[derive(Debug, Clone)]
pub(super) struct Reserved {
    job: u32,
    pub(super) start: i64,
    /// What is free, pool by pool, once it has started.
    pub(super) free: Vec<i64>,
}

impl Reservations {
    /// The advance reservations of a machine, which are promised their starts before any job is.
    pub(super) fn new(machine: &Machine) -> Self {
        let mut made = Self::default();
        for reservation in &machine.advance {
            let mut free = machine.free.to_vec();
            let events = made.events(machine);
            for event in events.take_while(|event| event.time <= reservation.start) {
                change(&mut free, machine.amounts, &event.placement, -event.held());
            }
            change(&mut free, machine.amounts, &reservation.placement, -1);
            let time = reservation.start..reservation.end;
            made.push(reservation.job, time, &reservation.placement, free);
        }
        made
    }

    fn push(&mut self, job: u32, time: Range<i64>, placement: &Placement, free: Vec<i64>) {
        for (time, is_start) in [(time.start, true), (time.end, false)] {
            self.events.push(Event {
                time,
                is_start,
                job,
                placement: placement.clone(),
            });
        }
        self.events
            .sort_by_key(|event| (event.time, event.is_start));
        self.jobs.push(Reserved {
            job,
            start: time.start,
            free,
        });
    }

    /// Where a job that starts at a time, with this much free then, is placed so that it leaves the
    /// reserved jobs their places (section 3): it fits at its start and at the start of each of
    /// them during its walltime. The error is the first of the reserved jobs that it would delay;
    /// `None` if it does not even fit at its start.
    pub(super) fn place(
        &self,
        cycle: &Cycle<'_>,
        index: u32,
        at: i64,
        free: &[i64],
    ) -> Result<Placement, Option<u32>> {
        let end = cycle.end_of(index, at);
        let mut placement = cycle.fit(index, free).ok_or(None)?;
        // the starts are enough: between two of them jobs only end, and give back
        let mut available = Vec::new();
        for reserved in &self.jobs {
            if !(at < reserved.start && reserved.start < end) {
                continue;
            }
            if available.is_empty() {
                available.extend_from_slice(free);
            }
            if lower(&mut available, &reserved.free) {
                let fit = cycle.fit(index, &available);
                placement = fit.ok_or(Some(reserved.job))?;
            }
        }
        Ok(placement)
    }

    /// Adds what a job holds until its end to what is free at the starts before it, or with -1 takes
    /// it away.
    pub(super) fn change(&mut self, machine: &Machine, held: &Placement, end: i64, sign: i64) {
        for reserved in &mut self.jobs {
            if reserved.start < end {
                change(&mut reserved.free, machine.amounts, held, sign);
            }
        }
    }

    /// The first limit that a job would pass if it ran from a time on, at which this much is used:
    /// the most that is used during its walltime counts (section 6).
    pub(super) fn passed_limit(
        &self,
        cycle: &Cycle<'_>,
        index: u32,
        at: i64,
        used: &Counts,
    ) -> Option<usize> {
        let limits = &cycle.state.limits;
        if limits.is_empty() {
            return None;
        }
        let job = cycle.job(index);
        let end = cycle.end_of(index, at);
        let is_within = |time: i64| at < time && time < end;
        if !self.jobs.iter().any(|reserved| is_within(reserved.start)) {
            return limits.passed(used, job);
        }
        let mut now = used.clone();
        let mut most = used.clone();
        for event in self.events(&cycle.state.machine) {
            if is_within(event.time) {
                let reserved = cycle.job(event.job);
                now.add(&limits.limits, reserved, event.held());
                most.max(&now);
            }
        }
        limits.passed(&most, job)
    }

    /// Promises a job a start (section 4): the first time at which it fits, as far as the walltimes
    /// tell. Returns that time, or `None` if it never fits.
    pub(super) fn add(cycle: &mut Cycle<'_>, index: u32) -> Option<i64> {
        let reservations = &cycle.reservations;
        let (start, placement, mut free) = reservations.estimate(cycle, index)?;
        // from then on a suspended job counts with its whole walltime
        let end = start.saturating_add(cycle.job(index).walltime);
        let amounts = cycle.state.machine.amounts;
        let made = &mut cycle.reservations;
        change(&mut free, amounts, &placement, -1);
        for other in &mut made.jobs {
            if (start..end).contains(&other.start) {
                change(&mut other.free, amounts, &placement, -1);
            }
        }
        made.push(index, start..end, &placement, free);
        Some(start)
    }

    /// When a job can start, where, and what is free then.
    fn estimate(&self, cycle: &Cycle<'_>, index: u32) -> Option<(i64, Placement, Vec<i64>)> {
        let CycleState {
            machine, limits, ..
        } = &*cycle.state;
        let times = &cycle.rules.times;
        let queue = cycle.job(index).queue;
        let mut free = machine.free.to_vec();
        let mut used = limits.running.clone();
        let mut events = self.events(machine).peekable();
        let mut changes = times.changes_after(cycle.now).into_iter().peekable();
        loop {
            let event = events.peek().map(|event| event.time);
            let first = event.into_iter().chain(changes.peek().copied()).min()?;
            let window_end = window_end(first, cycle.rules.window);
            let mut last = first;
            let mut frees_something = false;
            while let Some(event) = events.next_if(|event| event.time <= window_end) {
                last = event.time;
                frees_something |= !event.is_start;
                let job = cycle.job(event.job);
                change(&mut free, machine.amounts, &event.placement, -event.held());
                used.add(&limits.limits, job, event.held());
            }
            while let Some(change) = changes.next_if(|&change| change <= window_end) {
                last = last.max(change);
                frees_something = true;
            }
            // a window in which jobs only start frees nothing
            if !frees_something || !times.allow(queue, last..cycle.end_of(index, last)) {
                continue;
            }
            if let Ok(placement) = self.place(cycle, index, last, &free)
                && self.passed_limit(cycle, index, last, &used).is_none()
            {
                return Some((last, placement, free));
            }
        }
    }

    /// The ends of the running jobs, and the starts and ends of the reserved ones, in order.
    fn events<'e>(&'e self, machine: &'e Machine) -> impl Iterator<Item = &'e Event> {
        let mut ends = machine.ends.iter().peekable();
        let mut reserved = self.events.iter().peekable();
        std::iter::from_fn(move || match (ends.peek(), reserved.peek()) {
            // at one time ends come before starts (section 3)
            (Some(end), Some(event)) if event.time < end.time => reserved.next(),
            (Some(_), _) => ends.next(),
            (None, _) => reserved.next(),
        })
    }
}

/// The end of the window of events that begins at a time: the ends of jobs in it are taken
/// together.
fn window_end(begin: i64, window: i64) -> i64 {
    match window {
        0 => begin,
        // to the next multiple in Unix time, which is in the window (section 4)
        _ => (begin.div_euclid(window) + 1).saturating_mul(window),
    }
}
