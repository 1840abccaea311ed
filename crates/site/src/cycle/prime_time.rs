//! Prime time and dedicated time, at the moment of a cycle, after it and along a log, and the queues and
//! settings that depend on them.

use std::ops::Range;

use job_sort_formula::diagnostic::Message;
use jsf_ingest::Clock;
use jsf_openpbs::cycle::{QueueTime, Times};
use jsf_openpbs::files::holidays::{Holidays, dedicated_times};
use jsf_openpbs::files::sched_config::ByTime;
use jsf_simulate::Workload;

use crate::cycle::left_out::LeftOut;
use crate::cycle::reservations::Reservations;
use crate::warnings::in_file;
use crate::{Role, Site, SiteError};

/// How many dedicated times are looked at, the first ones that are not over.
const MAX_DEDICATED: usize = 500;

/// Times before this one, of 1973, are those of a clock that begins with its log.
const LEAST_EPOCH: i64 = 100_000_000;
/// For how long after the last submission prime time is known, in days.
const DAYS_AFTER: i64 = 366;

impl Site {
    /// The times from a moment on, without those of the queues, with so many changes between prime
    /// time and the time outside it.
    pub(crate) fn times(
        &self,
        clock: &Clock,
        at: i64,
        changes: usize,
        warnings: &mut Vec<Message>,
    ) -> Result<Times, SiteError> {
        let holidays = self.read_times(Role::Holidays, Holidays::read, warnings)?;
        let mut dedicated: Vec<Range<i64>> =
            self.read_times(Role::DedicatedTime, dedicated_times, warnings)?;
        for time in &mut dedicated {
            *time = clock.utc_of_wall(time.start)..clock.utc_of_wall(time.end);
        }
        dedicated.retain(|time| time.end > at);
        dedicated.truncate(MAX_DEDICATED);
        let wall = clock.wall_of_utc(at);
        let mut prime_changes = Vec::new();
        let mut last = wall;
        while prime_changes.len() < changes
            && let Some(next) = holidays.next_change(last)
        {
            prime_changes.push(clock.utc_of_wall(next));
            last = next;
        }
        let config = &self.config;
        let spill = config.prime_spill;
        Ok(Times {
            begins_in_prime: holidays.is_prime_at(wall),
            prime_changes,
            dedicated,
            queues: Vec::new(),
            backfill_prime: config.backfill_prime,
            prime_spill: ByTime {
                prime: i64::try_from(spill.prime).unwrap_or(i64::MAX),
                non_prime: i64::try_from(spill.non_prime).unwrap_or(i64::MAX),
            },
            are_ordinary_exempt: config.prime_exempt_anytime_queues,
        })
    }

    /// Reads one of the files of times; without it, the default.
    fn read_times<T: Default>(
        &self,
        role: Role,
        read: impl Fn(&[u8]) -> (T, Vec<String>),
        warnings: &mut Vec<Message>,
    ) -> Result<T, SiteError> {
        let Some(source) = self.files.first(role) else {
            return Ok(T::default());
        };
        let (times, unused) = read(&source.read_expected(role)?.bytes);
        let name = source.name();
        warnings.extend(in_file(&name, unused));
        Ok(times)
    }

    /// When the jobs of each queue run.
    pub(crate) fn queue_times(
        &self,
        queues: &[impl AsRef<str>],
        reservations: &Reservations,
    ) -> Vec<QueueTime> {
        let mut times = Vec::new();
        for queue in queues {
            let queue = queue.as_ref();
            let mut prefixes = self.prefixes().into_iter();
            times.push(if reservations.has_queue(queue) {
                QueueTime::Reservation
            } else if let Some((_, time, ..)) =
                prefixes.find(|(prefix, ..)| has_prefix(queue, prefix))
            {
                time
            } else {
                QueueTime::Ordinary
            });
        }
        times
    }

    /// The prefixes of the names of queues that have a time, with the file that says when this is, and
    /// its name.
    fn prefixes(&self) -> [(&str, QueueTime, Role, &str); 3] {
        let config = &self.config;
        [
            (
                &*config.primetime_prefix,
                QueueTime::Prime,
                Role::Holidays,
                "prime",
            ),
            (
                &*config.nonprimetime_prefix,
                QueueTime::NonPrime,
                Role::Holidays,
                "non-prime",
            ),
            (
                &*config.dedicated_prefix,
                QueueTime::Dedicated,
                Role::DedicatedTime,
                "dedicated",
            ),
        ]
    }

    /// What of the site depends on prime time and dedicated time, each with the file that says when
    /// these are. The queues are those with jobs, each with their number.
    pub(crate) fn uses_of_times(&self, queues: &[(&str, usize)]) -> Vec<(Role, LeftOut)> {
        let mut uses = Vec::new();
        for (prefix, _, role, of) in self.prefixes() {
            let mut jobs = 0;
            for (queue, count) in queues {
                if has_prefix(queue, prefix) {
                    jobs += count;
                }
            }
            let what = format!("queues of {of} time (`{prefix}`)");
            uses.push((role, LeftOut { what, jobs }));
        }
        let ByTime { prime, non_prime } = self.config.backfill_prime;
        if prime || non_prime {
            let what = "backfill_prime".to_owned();
            let jobs = queues.iter().map(|(_, jobs)| jobs).sum();
            uses.push((Role::Holidays, LeftOut { what, jobs }));
        }
        uses.retain(|(_, left_out)| left_out.jobs > 0);
        uses
    }

    /// Prime time and dedicated time along a workload, if its jobs depend on them, and what of them
    /// is left out because it is not known when these are.
    pub(crate) fn simulated_times(
        &self,
        workload: &Workload,
        queues: &[(&str, usize)],
        warnings: &mut Vec<String>,
    ) -> Result<(Times, Vec<LeftOut>), SiteError> {
        let (first, last) = match (workload.jobs().first(), workload.jobs().last()) {
            (Some(first), Some(last)) => (first.submit, last.submit),
            _ => (0, 0),
        };
        let is_known = first >= LEAST_EPOCH;
        let mut depends_on_prime = self.config.in_non_prime_time().is_some();
        let mut left_out = Vec::new();
        for (role, of_times) in self.uses_of_times(queues) {
            depends_on_prime |= role == Role::Holidays;
            if !is_known || !self.files.has(role) {
                left_out.push(of_times);
            }
        }
        let all = |what: &str| LeftOut {
            what: what.to_owned(),
            jobs: workload.jobs().len(),
        };
        let clock = Clock::from_samples(workload.clock_samples());
        if is_known {
            let reservations = Reservations::read(self, &clock, first)?;
            let mut confirmed = reservations.confirmed.iter();
            if confirmed.any(|reservation| reservation.start <= last) {
                left_out.push(all("reservations (`pbs_rstat -f`)"));
            }
        }
        let has_times = self.files.has(Role::DedicatedTime)
            || self.files.has(Role::Holidays) && depends_on_prime;
        if !is_known || !has_times {
            return Ok((Times::default(), left_out));
        }
        let config = &self.config;
        // the machine of a simulation is made once, with the keys of prime time
        if config.node_sort_key.prime != config.node_sort_key.non_prime {
            left_out.push(all("node_sort_key outside prime time"));
        }
        let mut messages: Vec<Message> = Vec::new();
        // the jobs that wait at the last submission are run to their ends
        /// Prime time begins and ends once a day; at midnight it may change again, because each
        /// day has times of its own.
        const CHANGES_A_DAY: usize = 3;
        let days = (last - first) / 86400 + DAYS_AFTER;
        let times = self.times(&clock, first, CHANGES_A_DAY * days as usize, &mut messages)?;
        warnings.extend(messages.iter().map(ToString::to_string));
        if !clock.is_known() {
            warnings.push(
                "the time zone of the log is not known and taken to be UTC: prime time and dedicated time may be off by hours"
                    .to_owned(),
            );
        }
        let queues = workload.queues();
        let times = Times {
            queues: self.queue_times(queues, &Reservations::default()),
            ..times
        };
        Ok((times, left_out))
    }
}

fn has_prefix(queue: &str, prefix: &str) -> bool {
    !prefix.is_empty() && queue.starts_with(prefix)
}
