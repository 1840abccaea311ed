//! The advance reservations of a site: what they hold of the nodes, and whose jobs they are for.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::jobs::JobTable;
use jsf_ingest::Clock;
use jsf_openpbs::files::nodes::{ListedReservation, Node, read_reservations};
use jsf_openpbs::files::objects::Objects;

use crate::{LeftOut, Role, Site, SiteError};

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

    /// What a cycle does without; `nodes` are those of its machine, none if it is one count.
    pub fn left_out(&self, table: &JobTable, nodes: &[Node]) -> Vec<LeftOut> {
        let all = table.considered_rows().count();
        let mut known: BTreeSet<&Box<str>> = self.unconfirmed.values().collect();
        let mut later = 0;
        for reservation in &self.confirmed {
            known.insert(&reservation.id);
            if reservation.later_occurrences > 0 {
                later = all;
            }
        }
        let is_idle = nodes.is_empty() && !self.confirmed.is_empty();
        let mut node_reservations = nodes.iter().flat_map(|node| &node.reservations);
        let mut unknown = 0;
        if is_idle || self.beyond > 0 || node_reservations.any(|id| !known.contains(id)) {
            unknown = all;
        } else {
            for row in table.considered_rows() {
                let queue = table.queue(row);
                unknown += usize::from(is_of_reservation(queue) && !self.has_queue(queue));
            }
        }
        LeftOut::of_some_jobs([
            ("reservations (`pbs_rstat -f`)", unknown),
            (
                "reservations that are not confirmed",
                if self.unconfirmed.is_empty() { 0 } else { all },
            ),
            ("later occurrences of standing reservations", later),
        ])
    }
}

/// Whether a queue has the name that the server gives to the queue of a reservation: `R`, `S` or
/// `M` and a number.
fn is_of_reservation(queue: &str) -> bool {
    let number = queue.strip_prefix(['R', 'S', 'M']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
