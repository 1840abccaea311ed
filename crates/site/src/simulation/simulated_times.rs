//! Prime time and dedicated time along the log of a simulation.

use job_sort_formula::diagnostic::Message;
use jsf_ingest::Clock;
use jsf_openpbs::cycle::Times;
use jsf_simulate::Workload;

use crate::next_cycle::LeftOut;
use crate::next_cycle::reserved_nodes::Reservations;
use crate::opening::role::Role;
use crate::{Site, SiteError};

/// Times before this one, of 1973, are those of a clock that begins with its log.
const LEAST_EPOCH: i64 = 100_000_000;
/// For how long after the last submission prime time is known, in days.
const DAYS_AFTER: i64 = 366;

impl Site {
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
        let clock = Clock::from_samples(workload.clock_samples());
        if is_known {
            let reservations = Reservations::read(self, &clock, first)?;
            let mut confirmed = reservations.confirmed.iter();
            if confirmed.any(|reservation| reservation.start <= last) {
                let what = "reservations (`pbs_rstat -f`)".to_owned();
                left_out.push(LeftOut { what, jobs });
            }
        }
        let has_times = self.files.has(Role::DedicatedTime)
            || self.files.has(Role::Holidays) && depends_on_prime;
        if !is_known || !has_times {
            return Ok((Times::default(), left_out));
        }
        let config = &self.config;
        if config.node_sort_key.prime != config.node_sort_key.non_prime {
            let what = "node_sort_key outside prime time".to_owned();
            left_out.push(LeftOut { what, jobs });
        }
        if config.preemptive_sched.prime != config.preemptive_sched.non_prime {
            let what = "preemptive_sched outside prime time".to_owned();
            left_out.push(LeftOut { what, jobs });
        }
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
