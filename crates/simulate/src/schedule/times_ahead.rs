//! Prime time and dedicated time along a simulation, of which a cycle sees the next changes only.

use std::ops::Range;

use jsf_openpbs::cycle::Times;

/// How many changes, and how many dedicated times, a cycle sees.
const AHEAD: usize = 64;

/// The changes that no cycle has seen yet.
#[derive(Debug, Default)]
pub(crate) struct TimesAhead {
    changes: std::vec::IntoIter<i64>,
    dedicated: std::vec::IntoIter<Range<i64>>,
}

impl TimesAhead {
    /// Leaves the first changes to the times of the first cycle.
    pub(crate) fn new(times: &mut Times) -> Self {
        let changes = &mut times.prime_changes;
        let changes = changes.split_off(AHEAD.min(changes.len()));
        let dedicated = &mut times.dedicated;
        let dedicated = dedicated.split_off(AHEAD.min(dedicated.len()));
        Self {
            changes: changes.into_iter(),
            dedicated: dedicated.into_iter(),
        }
    }

    /// Takes from the times what is over, and adds as much of what follows. Returns whether it has
    /// become prime time, or has ceased to be it.
    pub(crate) fn advance(&mut self, times: &mut Times, now: i64) -> bool {
        let was_prime = times.begins_in_prime;
        loop {
            let over = times.prime_changes.partition_point(|&change| change <= now);
            times.prime_changes.drain(..over);
            times.begins_in_prime ^= !over.is_multiple_of(2);
            times.prime_changes.extend(self.changes.by_ref().take(over));
            if over == 0 {
                break;
            }
        }
        times.dedicated.retain(|time| time.end > now);
        while times.dedicated.len() < AHEAD
            && let Some(next) = self.dedicated.next()
        {
            times.dedicated.extend((next.end > now).then_some(next));
        }
        was_prime != times.begins_in_prime
    }
}
