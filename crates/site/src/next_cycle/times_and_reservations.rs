//! Prime time and dedicated time at the moment of a cycle and after it, and along a log; and the
//! reservations of a site: what they hold of the nodes, and where their jobs run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use job_sort_formula::diagnostic::{Message, limit_each_kind};
use job_sort_formula::jobs::JobTable;
use jsf_ingest::Clock;
use jsf_openpbs::cycle::{QueueTime, Times};
use jsf_openpbs::files::nodes::{ListedReservation, Node, read_reservations};
use jsf_openpbs::files::objects::Objects;
use jsf_openpbs::files::sched_priv::{ByTime, Holidays, dedicated_times};
use jsf_simulate::Workload;

use crate::opening::in_file;
use crate::{LeftOut, Role, Site, SiteError};

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
        warnings.extend(limit_each_kind(in_file(&name, unused)));
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
        let jobs = workload.jobs().len();
        let mut of_all = Vec::new();
        let clock = Clock::from_samples(workload.clock_samples());
        if is_known {
            let reservations = Reservations::read(self, &clock, first)?;
            let mut confirmed = reservations.confirmed.iter();
            if confirmed.any(|reservation| reservation.start <= last) {
                of_all.push("reservations (`pbs_rstat -f`)");
            }
        }
        let has_times = self.files.has(Role::DedicatedTime)
            || self.files.has(Role::Holidays) && depends_on_prime;
        if !is_known || !has_times {
            left_out.extend(LeftOut::of_all_jobs(of_all, jobs));
            return Ok((Times::default(), left_out));
        }
        let config = &self.config;
        if config.node_sort_key.prime != config.node_sort_key.non_prime {
            of_all.push("node_sort_key outside prime time");
        }
        if config.preemptive_sched.prime != config.preemptive_sched.non_prime {
            of_all.push("preemptive_sched outside prime time");
        }
        left_out.extend(LeftOut::of_all_jobs(of_all, jobs));
        let mut messages: Vec<Message> = Vec::new();
        let days = (last - first) / 86400 + DAYS_AFTER;
        let times = self.times(&clock, first, 2 * days as usize, &mut messages)?;
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

/// The most reservations that a cycle keeps places for, the first ones by their starts.
const MAX_RESERVATIONS: usize = 500;

/// The reservations of a cycle. Their times are in seconds since 1970.
#[derive(Default)]
pub struct Reservations {
    /// Those that have nodes, by their starts.
    pub confirmed: Vec<ListedReservation>,
    /// The ids of those that have none yet, by their queues.
    unconfirmed: BTreeMap<Box<str>, Box<str>>,
    /// How many confirmed ones are not looked at.
    beyond: usize,
}

impl Reservations {
    /// Those of a site from a moment on.
    pub fn read(site: &Site, clock: &Clock, at: i64) -> Result<Self, SiteError> {
        let Some(source) = site.files.first(Role::Reservations) else {
            return Ok(Self::default());
        };
        let text = source.read_expected(Role::Reservations)?.into_text();
        let mut made = Self::default();
        for reservation in read_reservations(&source.name(), &Objects::read(&text))? {
            if !reservation.is_confirmed {
                made.unconfirmed.insert(reservation.queue, reservation.id);
                continue;
            }
            let mut start = clock.utc_of_wall(reservation.start);
            let mut end = clock.utc_of_wall(reservation.end);
            if reservation.is_running {
                start = start.min(at);
                // its jobs are being ended
                end = end.max(at + 1);
            }
            if end > at {
                made.confirmed.push(ListedReservation {
                    start,
                    end,
                    ..reservation
                });
            }
        }
        // a document may be given twice over
        made.confirmed
            .sort_by(|left, right| (left.start, &left.id).cmp(&(right.start, &right.id)));
        made.confirmed.dedup_by(|left, right| left.id == right.id);
        made.beyond = made.confirmed.len().saturating_sub(MAX_RESERVATIONS);
        made.confirmed.truncate(MAX_RESERVATIONS);
        Ok(made)
    }

    /// Why no job of a queue is looked at, if its reservation has not begun.
    pub fn not_begun(&self, queue: &str, at: i64) -> Option<String> {
        if let Some(id) = self.unconfirmed.get(queue) {
            return Some(format!("its reservation {id} is not confirmed"));
        }
        for reservation in &self.confirmed {
            if *reservation.queue == *queue && reservation.start > at {
                return Some(format!("its reservation {} has not begun", reservation.id));
            }
        }
        None
    }

    /// Whether a job of this queue belongs to a reservation.
    pub fn has_queue(&self, queue: &str) -> bool {
        let mut confirmed = self.confirmed.iter();
        self.unconfirmed.contains_key(queue) || confirmed.any(|one| *one.queue == *queue)
    }

    /// Whether a node is kept for one of them.
    pub fn have(&self, node: &Node) -> bool {
        let mut reserved = self.confirmed.iter().flat_map(|one| &one.nodes);
        reserved.any(|reserved| reserved.node == node.name)
    }

    /// What a cycle does without; `nodes` are those of its machine, none if it is one count.
    pub fn left_out(&self, table: &JobTable, nodes: &[Node]) -> Vec<LeftOut> {
        let all = table.considered_rows().count();
        let mut known: BTreeSet<&Box<str>> = self.unconfirmed.values().collect();
        let mut of_later = 0;
        for reservation in &self.confirmed {
            known.insert(&reservation.id);
            if reservation.later_occurrences > 0 {
                of_later = all;
            }
        }
        let is_idle = nodes.is_empty() && !self.confirmed.is_empty();
        let mut of_nodes = nodes.iter().flat_map(|node| &node.reservations);
        let mut of_unknown = 0;
        if is_idle || self.beyond > 0 || of_nodes.any(|id| !known.contains(id)) {
            of_unknown = all;
        } else {
            for row in table.considered_rows() {
                let queue = table.queue(row);
                of_unknown += usize::from(is_of_reservation(queue) && !self.has_queue(queue));
            }
        }
        LeftOut::of_some_jobs([
            ("reservations (`pbs_rstat -f`)", of_unknown),
            (
                "reservations that are not confirmed",
                if self.unconfirmed.is_empty() { 0 } else { all },
            ),
            ("later occurrences of standing reservations", of_later),
        ])
    }
}

/// Whether a queue has the name that the server gives to the queue of a reservation: `R`, `S` or
/// `M` and a number.
fn is_of_reservation(queue: &str) -> bool {
    let number = queue.strip_prefix(['R', 'S', 'M']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
