//! The decay of past usage, by OpenPBS and by Slurm.
//!
//! [`ShareTree::charge`](crate::fairshare::ShareTree::charge) adds new usage;
//! [`ShareTree::decay`](crate::fairshare::ShareTree::decay) decays a whole tree, and
//! [`ShareTree::decay_with`](crate::fairshare::ShareTree::decay_with) does so with OpenPBS's floor.
//! Slurm's `PriorityUsageResetPeriod` is a decay by 0.

use crate::fairshare::x87::{self, Extended};

/// The most steps that are computed one by one, as the daemons do. All further steps are computed
/// as one power.
// bounds the time of a decay over years in steps of a second
const MAX_STEPS: u64 = 1_000_000;

/// OpenPBS: every interval, usage is multiplied by a factor and never falls below
/// [`FLOOR`](Self::FLOOR).
///
/// Recorded in `tests/golden/openpbs/pbsfs`, cases 70 to 73 and 93.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalDecay {
    factor: f32,
    seconds: u64,
}

impl IntervalDecay {
    /// The least usage after a decay.
    pub const FLOOR: f64 = 1.0;

    /// `fairshare_decay_factor`, a C `float` in 0..1, and `fairshare_decay_time` in seconds. The
    /// factor is not checked, as OpenPBS does not check it either.
    pub fn new(factor: f32, seconds: u64) -> Self {
        Self { factor, seconds }
    }

    /// A usage after one interval.
    pub fn step(&self, usage: f64) -> f64 {
        floored(usage * f64::from(self.factor))
    }

    /// The number of whole intervals in a time, 0 if the interval is 0. The caller keeps the
    /// remainder for the next call. OpenPBS's scheduler decays in the first cycle at which more
    /// than an interval has passed, so that a cycle at its very end decays one interval less: give
    /// it one second less for that.
    pub fn intervals(&self, seconds: u64) -> u64 {
        seconds.checked_div(self.seconds).unwrap_or(0)
    }

    /// A usage after a time in seconds. The first million intervals are rounded as the daemon
    /// rounds them.
    pub fn decayed(&self, usage: f64, seconds: u64) -> f64 {
        let intervals = self.intervals(seconds);
        let stepped = (0..intervals.min(MAX_STEPS)).fold(usage, |usage, _| self.step(usage));
        // a C `float` below 1 is at most 1 - 2^-24, so that 2^32 steps leave less than the floor
        let further_steps = u32::try_from(intervals.saturating_sub(MAX_STEPS)).unwrap_or(u32::MAX);
        if further_steps == 0 {
            stepped
        } else {
            floored(stepped * x87::power(self.factor.into(), further_steps))
        }
    }
}

/// The usage, and at least the floor, as OpenPBS's `decay_fairshare_tree`.
fn floored(usage: f64) -> f64 {
    // `f64::max` would replace a NaN by the floor
    if usage < IntervalDecay::FLOOR {
        IntervalDecay::FLOOR
    } else {
        usage
    }
}

/// Slurm: each second removes `0.693 / half-life` of the usage, 0.693 for the logarithm of 2. So
/// the usage is halved a little early or late: for a half-life of 600 s, after 599.78 s.
///
/// `PriorityCalcPeriod`, the length of a step, is not in the formula. Recorded in
/// `tests/golden/slurm/decay_trace`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfLife {
    per_second: f64,
}

impl HalfLife {
    /// `PriorityDecayHalfLife` in seconds; 0 means no decay, for sites that reset usage instead.
    pub fn new(seconds: u32) -> Self {
        Self {
            per_second: if seconds == 0 {
                1.0
            } else {
                1.0 - 0.693 / f64::from(seconds)
            },
        }
    }

    /// The factor of a step in whole seconds, never 0.
    pub fn factor(&self, seconds: u32) -> f64 {
        // priority/multifactor raises a factor that underflows to `DBL_MIN`
        x87::power(self.per_second, seconds).max(f64::MIN_POSITIVE)
    }

    /// A usage after a step in whole seconds. The usages of users, accounts and the root decay
    /// separately, so that an account's may differ from the sum of its users' in the last bit.
    pub fn step(&self, usage: Extended, seconds: u32) -> Extended {
        usage * Extended::from(self.factor(seconds))
    }

    /// A usage after a time in seconds, in steps of `period` seconds (`PriorityCalcPeriod`), the
    /// last one shorter. The first million steps are rounded as the daemon rounds them.
    pub fn decayed(&self, usage: Extended, seconds: u32, period: u32) -> Extended {
        // a period of 0 would divide by 0, and none is longer than the time itself
        let period = period.clamp(1, seconds.max(1));
        let steps = (seconds / period).min(MAX_STEPS as u32);
        let factor = Extended::from(self.factor(period));
        let stepped = (0..steps).fold(usage, |usage, _| usage * factor);
        // not negative, as `steps` is at most the quotient; holds all beyond the limit
        let last_step = seconds - steps * period;
        if last_step == 0 {
            stepped
        } else {
            self.step(stepped, last_step)
        }
    }

    /// The charge of a job that ran during the last `seconds` of a step with this billing TRES: all
    /// of it decays from the beginning of these seconds.
    pub fn charge(&self, seconds: u32, billing: f64) -> f64 {
        f64::from(seconds) * self.factor(seconds) * billing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openpbs_counts_whole_intervals_and_keeps_a_floor() {
        let daily = IntervalDecay::new(0.5, 86400);
        assert_eq!(daily.decayed(100.0, 86399), 100.0);
        assert_eq!(daily.decayed(100.0, 3 * 86400 + 5), 12.5);
        assert_eq!(daily.decayed(100.0, u64::MAX), 1.0);
        assert!(
            IntervalDecay::new(0.5, 1)
                .decayed(f64::NAN, 2_000_000)
                .is_nan()
        );
        assert_eq!(IntervalDecay::new(0.5, 0).decayed(100.0, 5), 100.0);
        assert_eq!(
            IntervalDecay::new(0.1, 1).step(20.0),
            20.0 * f64::from(0.1f32)
        );
    }

    /// The table in `decay_trace/README.txt`.
    #[test]
    fn slurm_halves_usage_a_little_early_or_late() {
        for (half_life, factor, after_300, after_it) in [
            (
                300,
                "0.997690000000000",
                "0.499672872449799",
                "0.499672872450",
            ),
            (
                600,
                "0.998845000000000",
                "0.707017219280996",
                "0.499873348360",
            ),
            (
                3600,
                "0.999807500000000",
                "0.943880642225624",
                "0.500040236993",
            ),
            (
                86400,
                "0.999991979166667",
                "0.997596633071970",
                "0.500072205878",
            ),
            (
                604_800,
                "0.999998854166667",
                "0.999656308878391",
                "0.500073397153",
            ),
            (
                1_209_600,
                "0.999999427083333",
                "0.999828139720436",
                "0.500073496425",
            ),
        ] {
            let decay = HalfLife::new(half_life);
            assert_eq!(format!("{:.15}", decay.per_second), factor);
            assert_eq!(format!("{:.15}", decay.factor(300)), after_300);
            assert_eq!(format!("{:.12}", decay.factor(half_life)), after_it);
        }
        assert_eq!(HalfLife::new(0).factor(1000), 1.0);
        assert_eq!(HalfLife::new(1).factor(u32::MAX), f64::MIN_POSITIVE);
        assert_eq!(HalfLife::new(7).factor(0), 1.0);
    }

    #[test]
    fn slurm_in_steps() {
        let decay = HalfLife::new(600);
        let usage = Extended::from(2e11);
        let twice = decay.step(decay.step(usage, 60), 60);
        assert_eq!(decay.decayed(usage, 120, 60), twice);
        assert_eq!(decay.decayed(usage, 150, 60), decay.step(twice, 30));
        assert_eq!(decay.decayed(usage, 0, 0), usage);
        assert_eq!(HalfLife::new(0).decayed(usage, u32::MAX, 1), usage);
        let long = HalfLife::new(u32::MAX).decayed(usage, u32::MAX, 1) / usage;
        assert!((long.to_f64() - 0.500_073_5).abs() < 1e-6);
        // one cpu for 10 s in a step of 60, half-life 20 min: recorded as 9.603700
        let decay = HalfLife::new(1200);
        let charged = Extended::from(decay.charge(10, 1.0));
        assert_eq!(
            format!("{:.6}", decay.step(charged, 60).to_f64()),
            "9.603700"
        );
    }
}
