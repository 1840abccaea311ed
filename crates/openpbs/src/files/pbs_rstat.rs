//! The advance, standing and maintenance reservations of a server.
//!
//! In: the objects of `pbs_rstat -f`. Out: [`ListedReservation`]s.
//!
//! Source: the attributes in `pbs_resv_attributes(7B)`, and those recorded in `tests/golden/cycles`.

use job_sort_formula::Schema;

use crate::amounts::AmountSource;
use crate::files::objects::{Object, ObjectKind, Objects};
use crate::job_attributes::PlacedChunk;
use crate::times::seconds_of_ctime;

/// A reservation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedReservation {
    /// Its id, such as `R123.srv`.
    pub id: Box<str>,
    /// The queue of its jobs.
    pub queue: Box<str>,
    /// Whether the scheduler has given it nodes.
    pub is_confirmed: bool,
    /// Whether it has begun.
    pub is_running: bool,
    /// When it starts, in seconds on the clock of the host of `pbs_rstat`, as if that were in UTC;
    /// of a standing reservation, the next occurrence.
    pub start: i64,
    /// When it ends.
    pub end: i64,
    /// Whether nobody else may use its nodes (`place=excl` or `exclhost`).
    pub is_exclusive: bool,
    /// How many occurrences of a standing reservation follow this one.
    pub later_occurrences: u32,
    /// What it has on each node, node by node.
    pub nodes: Vec<PlacedChunk>,
}

/// The reservations that are not over. `pbs_rstat` prints nothing if there are no reservations.
///
/// # Errors
/// A reservation with nodes does not say when it starts and ends.
///
/// ```
/// use jsf_openpbs::files::objects::Objects;
/// use jsf_openpbs::files::pbs_rstat::read_reservations;
///
/// let text = "Resv ID: R1.srv\nreserve_state = RESV_CONFIRMED\nreserve_start = Fri Nov 27 12:00:00 2026\n\
///     reserve_end = Fri Nov 27 13:00:00 2026\nqueue = R1\nresv_nodes = (a:ncpus=4)+(b:ncpus=8)\n";
/// let reservations = read_reservations("rstat.txt", &Objects::read(text))?;
/// assert_eq!((&*reservations[0].queue, reservations[0].nodes.len()), ("R1", 2));
/// # Ok::<(), String>(())
/// ```
pub fn read_reservations(
    source_name: &str,
    objects: &Objects<'_>,
) -> Result<Vec<ListedReservation>, String> {
    let mut listed = Vec::new();
    for object in objects.of(ObjectKind::Reservation) {
        let state = object.get("reserve_state").unwrap_or_default();
        let state = state.strip_prefix("RESV_").unwrap_or(state);
        if !matches!(state, "FINISHED" | "BEING_DELETED" | "DELETED") {
            let reservation = reservation(object, state);
            listed.push(reservation.map_err(|fault| format!("`{source_name}`: {fault}"))?);
        }
    }
    Ok(listed)
}

fn reservation(object: &Object<'_>, state: &str) -> Result<ListedReservation, String> {
    let nodes = object.get("resv_nodes").unwrap_or_default();
    let nodes = PlacedChunk::read_all(nodes, AmountSource::Server, &Schema::openpbs());
    let is_confirmed = !nodes.is_empty() && state != "UNCONFIRMED";
    let mut attributes = object.attributes.iter();
    let place = attributes.find(|attribute| attribute.full_name() == "Resource_List.place");
    let place = place.and_then(|place| place.value.text());
    let mut words = place.unwrap_or_default().split(':');
    // the server names the queue of a reservation after it
    let own_queue = object.name.split('.').next();
    Ok(ListedReservation {
        id: Box::from(&*object.name),
        queue: object.get("queue").or(own_queue).unwrap_or_default().into(),
        is_confirmed,
        is_running: matches!(state, "RUNNING" | "TIME_TO_RUN" | "DELETING_JOBS"),
        start: time(object, "reserve_start", is_confirmed)?,
        end: time(object, "reserve_end", is_confirmed)?,
        is_exclusive: words.any(|word| matches!(word, "excl" | "exclhost")),
        later_occurrences: number(object, "reserve_count")
            .saturating_sub(number(object, "reserve_index")),
        nodes,
    })
}

/// When a reservation begins or ends; one without nodes holds nothing, whenever it is.
fn time(object: &Object<'_>, attribute: &str, is_confirmed: bool) -> Result<i64, String> {
    match object.get(attribute).and_then(seconds_of_ctime) {
        Some(time) => Ok(time),
        None if !is_confirmed => Ok(0),
        None => Err(format!(
            "the reservation `{}` has no `{attribute}` that is a time",
            object.name
        )),
    }
}

fn number(object: &Object<'_>, attribute: &str) -> u32 {
    let value = object.get(attribute).unwrap_or_default();
    value.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: &str =
        "reserve_start = Fri Nov 27 12:00:00 2026\nreserve_end = Fri Nov 27 13:00:00 2026\n";

    #[test]
    fn what_is_reserved_on_each_node_is_read() {
        let text = format!(
            "Resv ID: S7.srv\nReserve_Name = a = b\nreserve_state = RESV_RUNNING\n{TIMES}reserve_count = 5\nreserve_index = 2\n\
             Resource_List.place = scatter:excl\nresv_nodes = (a:ncpus=4:mem=1gb+b:ncpus=2)+(c[0]:ncpus=1:fast=True)\n\n\
             Resv ID: R8.srv\nreserve_state = RESV_UNCONFIRMED\nqueue = R8\n\nResv ID: R9.srv\nreserve_state = RESV_FINISHED\n"
        );
        let reservations = read_reservations("r", &Objects::read(&text)).unwrap();
        let [standing, unconfirmed] = &reservations[..] else {
            panic!("{reservations:?}")
        };
        assert_eq!(
            (&*standing.id, &*standing.queue, standing.later_occurrences),
            ("S7.srv", "S7", 3)
        );
        assert!(standing.is_running && standing.is_confirmed && standing.is_exclusive);
        assert_eq!(standing.end - standing.start, 3600);
        let nodes: Vec<(&str, usize)> = standing
            .nodes
            .iter()
            .map(|node| (&*node.node, node.amounts.len()))
            .collect();
        assert_eq!(nodes, [("a", 2), ("b", 1), ("c[0]", 1)]);
        assert_eq!(standing.nodes[0].amounts["mem"], 1 << 20);
        assert!(!unconfirmed.is_confirmed && unconfirmed.nodes.is_empty());
    }

    #[test]
    fn no_output_is_no_reservation_and_one_without_times_is_an_error() {
        assert_eq!(read_reservations("r", &Objects::read("\n")), Ok(Vec::new()));
        let text = "Resv ID: R1.srv\nreserve_state = RESV_CONFIRMED\nreserve_start = soon\nresv_nodes = (a:ncpus=4)\n";
        let error = read_reservations("r", &Objects::read(text))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "`r`: the reservation `R1.srv` has no `reserve_start` that is a time"
        );
    }
}
