//! Prime time and dedicated time at the moment of a cycle, and after it.

use std::ops::Range;

use job_sort_formula::diagnostic::{Message, limit_each_kind};
use jsf_ingest::Clock;
use jsf_openpbs::cycle::{QueueTime, Times};
use jsf_openpbs::files::dedicated_time;
use jsf_openpbs::files::holidays::Holidays;
use jsf_openpbs::files::sched_config::ByTime;

use crate::next_cycle::LeftOut;
use crate::next_cycle::reserved_nodes::Reservations;
use crate::opening::file_warnings::in_file;
use crate::opening::role::Role;
use crate::{Site, SiteError};

/// How many dedicated times are looked at, the first ones that are not over.
const MAX_DEDICATED: usize = 500;

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
            self.read_times(Role::DedicatedTime, dedicated_time::read, warnings)?;
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
        let unused = in_file(&name, unused).map(Message::from);
        warnings.extend(limit_each_kind(unused));
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
            } else if let Some((_, time)) = prefixes.find(|(prefix, _)| has_prefix(queue, prefix)) {
                time
            } else {
                QueueTime::Ordinary
            });
        }
        times
    }

    fn prefixes(&self) -> [(&str, QueueTime); 3] {
        let config = &self.config;
        [
            (&*config.primetime_prefix, QueueTime::Prime),
            (&*config.nonprimetime_prefix, QueueTime::NonPrime),
            (&*config.dedicated_prefix, QueueTime::Dedicated),
        ]
    }

    /// This site outside prime time, if other settings count then.
    pub(crate) fn in_non_prime_time(&self) -> Result<Option<Self>, SiteError> {
        let Some(config) = self.config.in_non_prime_time() else {
            return Ok(None);
        };
        let opened = Self::from_files(self.files.clone(), self.rules)?;
        Ok(Some(Self { config, ..opened }))
    }

    /// What of the site depends on prime time and dedicated time, each with the file that says when
    /// these are. The queues are those with jobs, each with their number.
    pub(crate) fn uses_of_times(&self, queues: &[(&str, usize)]) -> Vec<(Role, LeftOut)> {
        let mut uses = Vec::new();
        for (prefix, time) in self.prefixes() {
            let (role, of) = match time {
                QueueTime::Prime => (Role::Holidays, "prime"),
                QueueTime::NonPrime => (Role::Holidays, "non-prime"),
                _ => (Role::DedicatedTime, "dedicated"),
            };
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
}

fn has_prefix(queue: &str, prefix: &str) -> bool {
    !prefix.is_empty() && queue.starts_with(prefix)
}
