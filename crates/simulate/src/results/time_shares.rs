//! How much of intervals of time lies in each of some periods.

/// Distributes intervals of time to periods.
pub struct TimeShares {
    origin: i64,
    length: i64,
    /// What lies in a part of the period.
    parts: Vec<f64>,
    /// By how much the amount of whole periods changes from the period before.
    changes: Vec<f64>,
}

impl TimeShares {
    pub fn new(origin: i64, length: i64, count: usize) -> Self {
        Self {
            origin,
            length,
            parts: vec![0.0; count],
            changes: vec![0.0; count + 1],
        }
    }

    pub fn add(&mut self, from: i64, to: i64, weight: f64) {
        let period = |time: i64| ((time - self.origin) / self.length) as usize;
        let (first, last) = (period(from), period(to));
        if first == last {
            self.parts[first] += (to - from) as f64 * weight;
            return;
        }
        let start_of = |period: usize| self.origin + period as i64 * self.length;
        self.parts[first] += (start_of(first + 1) - from) as f64 * weight;
        self.parts[last] += (to - start_of(last)) as f64 * weight;
        self.changes[first + 1] += weight;
        self.changes[last] -= weight;
    }

    pub fn finish(mut self) -> Vec<f64> {
        let mut weight = 0.0;
        for (part, change) in self.parts.iter_mut().zip(&self.changes) {
            weight += change;
            *part += weight * self.length as f64;
        }
        self.parts
    }
}
