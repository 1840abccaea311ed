//! Memory that goes round: no block allocates once the first has been through.

use crate::formula::program::columnar::LANES;

/// Rows of lanes and of bytes that nobody uses at the moment.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    lanes: Vec<Vec<f64>>,
    bytes: Vec<Vec<u8>>,
}

impl Scratch {
    /// So many lanes, of any content.
    pub(super) fn lanes(&mut self, count: usize) -> Vec<f64> {
        let mut lanes = self.lanes.pop().unwrap_or_else(|| Vec::with_capacity(LANES));
        lanes.resize(count, 0.0);
        lanes
    }

    /// So many bytes, of any content.
    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = self.bytes.pop().unwrap_or_else(|| Vec::with_capacity(LANES));
        bytes.resize(count, 0);
        bytes
    }

    pub(super) fn give_lanes(&mut self, lanes: Vec<f64>) {
        self.lanes.push(lanes);
    }

    pub(super) fn give_bytes(&mut self, bytes: Vec<u8>) {
        self.bytes.push(bytes);
    }
}
