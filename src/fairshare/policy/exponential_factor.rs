//! `F = 2^(-U / S / d)`: the factor of the classic and the depth-oblivious policy, which differ in
//! the effective usage `U` alone. `S` are the normalised shares, `d` is `FairShareDampeningFactor`.

use crate::fairshare::policy::association::round_trip;
use crate::fairshare::policy::slurm_model::SlurmModel;
use crate::fairshare::policy::{EntityShares, Release, ShareTable};
use crate::fairshare::x87::Extended;

/// The settings of the factor, and the release of Slurm whose `sshare` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExponentialFactor {
    pub(super) release: Release,
    dampening: u16,
}

impl Default for ExponentialFactor {
    fn default() -> Self {
        Self {
            release: Release::default(),
            dampening: 1,
        }
    }
}

impl ExponentialFactor {
    pub(super) fn with_release(self, release: Release) -> Self {
        Self { release, ..self }
    }

    /// With this `FairShareDampeningFactor`; 0 counts as 1.
    pub(super) fn with_dampening(self, dampening: u16) -> Self {
        Self {
            dampening: dampening.max(1),
            ..self
        }
    }

    /// The documents' factor of a ratio `U / S`, in double precision; 0 without shares.
    pub(super) fn documented(self, ratio: f64, norm_shares: f64) -> f64 {
        if norm_shares > 0.0 {
            libm::exp2(-(ratio / f64::from(self.dampening)))
        } else {
            0.0
        }
    }

    /// Computes the numbers of every node as the daemon does, from its normalised shares and
    /// effective usage.
    pub(super) fn table(
        self,
        model: &SlurmModel,
        norm_shares: &[f64],
        effective: &[Extended],
    ) -> ShareTable {
        let mut table = ShareTable::with_capacity(effective.len());
        for node in 0..effective.len() {
            let source = model.job_node(node);
            let exponent = self.exponent(effective[source], norm_shares[source]);
            let factor = power_of_half(exponent);
            let effective_usage = effective[node].to_f64();
            let mut association = model.association(node, norm_shares[node]);
            association.effective_usage = Some(effective_usage);
            if model.is_user(node) {
                association.fairshare = Some(factor);
            }
            association = association.as_received();
            if self.release == Release::V22_05 {
                // the client recomputes it from the numbers that it received, and ignores
                // `FairShare=parent`
                let received = Extended::from(round_trip(effective_usage));
                let received_exponent = self.exponent(received, round_trip(norm_shares[node]));
                // the round trip rarely changes the exponent, and the power is what takes time
                association.fairshare = Some(if received_exponent == exponent {
                    factor
                } else {
                    power_of_half(received_exponent)
                });
            }
            let entity = EntityShares::from_policy(norm_shares[node], effective_usage, factor);
            table.push(entity, association);
        }
        table
    }

    /// The exponent `U / S / d`; `None` without shares, where the factor is 0.
    fn exponent(self, effective_usage: Extended, norm_shares: f64) -> Option<f64> {
        if norm_shares.is_nan() || norm_shares <= 0.0 {
            return None;
        }
        let ratio = effective_usage / Extended::from(norm_shares);
        // a division by 1 changes nothing, and takes time in this arithmetic
        let dampened = if self.dampening == 1 {
            ratio
        } else {
            ratio / Extended::from(u32::from(self.dampening))
        };
        Some(dampened.to_f64())
    }
}

fn power_of_half(exponent: Option<f64>) -> f64 {
    match exponent {
        // libm's, not the C library's: the same on every platform
        Some(exponent) => libm::exp2(-exponent),
        None => 0.0,
    }
}
