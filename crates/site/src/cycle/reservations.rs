//! The advance reservations of a site, as a cycle keeps places for them, and whose jobs these are for.

use std::collections::BTreeMap;

use jsf_ingest::Clock;
use jsf_openpbs::Objects;
use jsf_openpbs::files::nodes::Node;
use jsf_openpbs::files::pbs_rstat::{ListedReservation, read_reservations};

use crate::{Role, Site, SiteError};

/// The most reservations that a cycle keeps places for, the first ones by their starts.
const MAX_RESERVATIONS: usize = 500;

/// The reservations of a cycle. Their times are in seconds since 1970.
#[derive(Default)]
pub struct Reservations {
    /// Those that have nodes, by their starts.
    pub confirmed: Vec<ListedReservation>,
    /// The ids of those that have none yet, by their queues.
    pub unconfirmed: BTreeMap<Box<str>, Box<str>>,
    /// How many confirmed ones are not looked at.
    pub beyond: usize,
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
                end = end.max(at.saturating_add(1));
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
}
