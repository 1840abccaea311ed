//! The queues of a server: their priorities, and what their attributes and those of the server say of
//! jobs.
//!
//! In: the objects of `qstat -Qf` or of a listing of `qmgr`. Out: [`Queues`].

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::schema::{InputType, Schema};
use jsf_json::JsonScalar;

use crate::amounts;
use crate::files::objects::{Attribute, ObjectKind, Objects};
use crate::files::run_limits::{LimitsByQueue, whole_amount};
use crate::files::server::{DEFAULT_PARTITION, boolean};

/// The queues with their attributes, and the resources in the attributes of the queues and the
/// server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queues {
    /// The place of each queue in the document.
    positions: BTreeMap<Box<str>, usize>,
    /// The attributes of each queue as they are written, `LIST.RESOURCE` for an amount; those of
    /// the server under an empty name.
    attributes: BTreeMap<Box<str>, BTreeMap<Box<str>, Box<str>>>,
    /// The resources that the attributes name, declared or not, with the types inferred from their
    /// amounts.
    seen: BTreeMap<Box<str>, InputType>,
    /// The run limits.
    pub limits: LimitsByQueue,
}

/// The lists of amounts of resources.
const RESOURCE_LISTS: [&str; 5] = [
    "resources_default",
    "default_chunk",
    "resources_max",
    "resources_min",
    "resources_available",
];

impl Queues {
    /// The queues of a document, and the attributes of its server.
    ///
    /// # Errors
    /// The document is invalid JSON, or has a priority that is not a whole number.
    pub fn read(source_name: &str, objects: &Objects<'_>) -> Result<Self, String> {
        if let Some(reason) = &objects.json_error {
            return Err(format!("`{source_name}` is not valid JSON {reason}"));
        }
        let mut queues = Self::default();
        for object in &objects.objects {
            let queue = match object.kind {
                ObjectKind::Server => "",
                ObjectKind::Queue if !object.name.is_empty() => &object.name,
                _ => continue,
            };
            // a listing of `qmgr` may set attributes of a queue in several places; its first one is
            // its place
            if !queue.is_empty() && !queues.contains(queue) {
                let position = queues.positions.len();
                queues.positions.insert(queue.into(), position);
            }
            for attribute in &object.attributes {
                queues
                    .set(queue, attribute)
                    .map_err(|fault| format!("`{source_name}`: {fault}"))?;
            }
        }
        Ok(queues)
    }

    /// Whether no queue is known.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Adds what another document has and this one does not. If a queue is known here, no other
    /// queue is added.
    pub fn add(&mut self, other: Self) {
        if self.is_empty() {
            self.positions = other.positions;
        }
        for (queue, attributes) in other.attributes {
            if !queue.is_empty() && !self.contains(&queue) {
                continue;
            }
            let known = self.attributes.entry(queue).or_default();
            for (name, value) in attributes {
                known.entry(name).or_insert(value);
            }
        }
        for (name, kind) in other.seen {
            self.seen.entry(name).or_insert(kind);
        }
        self.limits.add(other.limits);
    }

    /// The resources of which every new job has more than 0 unless it requests 0: those with a
    /// default above 0 in the server, or in every queue that is not a routing queue.
    pub fn defaulted_resources(&self) -> Vec<String> {
        let mut queues = self.execution_queues();
        let mut found = BTreeSet::new();
        if let Some(first) = queues.next() {
            found = self.positive_defaults(first);
        }
        for queue in queues {
            // a new job may be in any of the queues, so that only what all of them give is certain
            found = &found & &self.positive_defaults(queue);
        }
        found.extend(self.positive_defaults(""));
        found.into_iter().map(str::to_owned).collect()
    }

    /// The resources with a default above 0 in a queue, or with an empty name in the server.
    fn positive_defaults(&self, queue: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        for (name, amount) in self.attributes.get(queue).into_iter().flatten() {
            if let Some(("resources_default" | "default_chunk", resource)) = name.split_once('.')
                && is_positive(amount)
            {
                found.insert(resource);
            }
        }
        found
    }

    /// Whether a queue or the server has a default, a limit or an available amount of a resource.
    pub fn lists_resources(&self) -> bool {
        !self.seen.is_empty()
    }

    /// The priority of a queue; `None` if it has none (the formula then sees 0) or is unknown.
    pub fn priority(&self, queue: &str) -> Option<i64> {
        self.attribute(queue, "Priority")?.parse().ok()
    }

    /// The priority of each queue that has one.
    pub fn priorities(&self) -> BTreeMap<String, i64> {
        let queues = self.iter();
        let known = queues.filter_map(|(name, priority)| Some((name.to_owned(), priority?)));
        known.collect()
    }

    /// Whether the document contains the queue.
    pub fn contains(&self, queue: &str) -> bool {
        self.positions.contains_key(queue)
    }

    /// Whether a queue passes its jobs on to other queues.
    pub fn is_route(&self, queue: &str) -> bool {
        let kind = self.attribute(queue, "queue_type").unwrap_or_default();
        kind.starts_with(['r', 'R'])
    }

    /// The partition of a queue, whose jobs belong to the scheduler with this partition; `None` for
    /// the default scheduler.
    pub fn partition(&self, queue: &str) -> Option<&str> {
        match self.attribute(queue, "partition")? {
            "" | DEFAULT_PARTITION => None,
            partition => Some(partition),
        }
    }

    /// The resources whose values make placement sets (`node_group_key`): those of a queue, else
    /// those of the server.
    pub fn node_group_key(&self, queue: &str) -> Option<&str> {
        self.attribute_or_of_server(queue, "node_group_key")
    }

    /// How many jobs of a queue are reserved a place, or with an empty name how many of the server,
    /// if it is set.
    pub fn backfill_depth(&self, queue: &str) -> Option<u32> {
        self.attribute(queue, "backfill_depth")?.parse().ok()
    }

    /// Whether jobs of a queue are started. The server's default is no, so that this is the answer
    /// for a queue without the attribute in a document where another queue has it.
    pub fn is_started(&self, queue: &str) -> bool {
        self.is_true(queue, "started")
    }

    /// Whether a queue accepts jobs; what is true of [`is_started`](Self::is_started) is true here.
    pub fn is_enabled(&self, queue: &str) -> bool {
        self.is_true(queue, "enabled")
    }

    fn is_true(&self, queue: &str, name: &str) -> bool {
        match self.attribute(queue, name).and_then(boolean) {
            Some(is_true) => is_true,
            // a document that has it for no queue is an excerpt, and says nothing of it
            None if self.contains(queue) => {
                let mut all = self.attributes.values();
                !all.any(|attributes| attributes.contains_key(name))
            }
            None => true,
        }
    }

    /// The resources that a suspended job gives back, with commas between them
    /// (`restrict_res_to_release_on_suspend`); `None`: all.
    pub fn released_on_suspend(&self) -> Option<&str> {
        let listed = self.attribute("", "restrict_res_to_release_on_suspend");
        listed.filter(|listed| !listed.is_empty())
    }

    /// The queue of a job that names none.
    pub fn default_queue(&self) -> Option<&str> {
        self.attribute("", "default_queue")
    }

    /// The most that a job of a queue may request of a resource (`resources_max`), as it is
    /// written: the limit of the queue, else that of the server.
    pub fn maximum(&self, queue: &str, resource: &str) -> Option<&str> {
        self.attribute_or_of_server(queue, &format!("resources_max.{resource}"))
    }

    /// The least that a job of a queue may request of a resource (`resources_min`), found as
    /// [`maximum`](Self::maximum) is.
    pub fn minimum(&self, queue: &str, resource: &str) -> Option<&str> {
        self.attribute_or_of_server(queue, &format!("resources_min.{resource}"))
    }

    /// What a job of a queue has of a resource that it does not request, as it is written: the
    /// default of the queue, that of the server, the most of the queue, else the most of the
    /// server.
    pub fn default_amount(&self, queue: &str, resource: &str) -> Option<&str> {
        let default = self.resources_default(queue, resource);
        // as in the server's `set_resc_deflt`, which takes the maxima after all defaults
        default.or_else(|| self.maximum(queue, resource))
    }

    /// The default of a queue for a resource, else that of the server, as it is written.
    pub fn resources_default(&self, queue: &str, resource: &str) -> Option<&str> {
        self.attribute_or_of_server(queue, &format!("resources_default.{resource}"))
    }

    /// The queues whose jobs the scheduler gets, in the order of the document.
    pub fn execution_queues(&self) -> impl Iterator<Item = &str> {
        let mut queues: Vec<&str> = self.positions.keys().map(|name| &**name).collect();
        queues.retain(|queue| !self.is_route(queue));
        queues.sort_by_key(|queue| self.position(queue));
        queues.into_iter()
    }

    /// What the jobs of a queue together may use of a resource (`resources_available`), or with an
    /// empty name all jobs of the server; a size in kb.
    pub fn available(&self, queue: &str, resource: &str, kind: Option<InputType>) -> Option<i64> {
        let amount = self.attribute(queue, &format!("resources_available.{resource}"))?;
        whole_amount(amount, kind)
    }

    /// The resources in `resources_available` of the server and the queues, each once.
    pub fn available_resources(&self) -> BTreeSet<&str> {
        let names = self.attributes.values().flat_map(BTreeMap::keys);
        let found = names.filter_map(|name| name.strip_prefix("resources_available."));
        found.collect()
    }

    fn attribute(&self, queue: &str, name: &str) -> Option<&str> {
        Some(self.attributes.get(queue)?.get(name)?)
    }

    fn attribute_or_of_server(&self, queue: &str, name: &str) -> Option<&str> {
        let own = self.attribute(queue, name);
        own.or_else(|| self.attribute("", name))
    }

    /// The position of the queue in the document, which is the server's order of queues.
    pub fn position(&self, queue: &str) -> Option<usize> {
        self.positions.get(queue).copied()
    }

    /// The queues with their priorities, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<i64>)> + Clone {
        let names = self.positions.keys();
        names.map(|name| (&**name, self.priority(name)))
    }

    /// Adds to `schema` the resources in the attributes of the queues and the server that it does
    /// not contain, with the types inferred from their amounts.
    pub fn add_seen_to(&self, schema: &mut Schema) {
        for (name, &kind) in &self.seen {
            schema.add_seen(name, kind);
        }
    }

    fn set(&mut self, queue: &str, attribute: &Attribute<'_>) -> Result<(), String> {
        let name = attribute.full_name();
        let value = &attribute.value;
        let text = value.text().unwrap_or_default();
        if !queue.is_empty()
            && name == "Priority"
            && !value.is_null()
            // a priority that counted as 0 would move all jobs of the queue without a word
            && text.parse::<i64>().is_err()
        {
            let found = value.found();
            return Err(format!(
                "the `Priority` of queue `{queue}` is {found}, expected a whole number"
            ));
        }
        let known = self.attributes.entry(queue.into()).or_default();
        if value.is_null() {
            known.remove(&*name);
        } else if let Some(text) = value.text() {
            known.insert(name.into(), text.into());
            if let Some(resource) = &attribute.resource
                && RESOURCE_LISTS.contains(&&*attribute.name)
            {
                self.add_seen(resource, text, matches!(value, JsonScalar::Number(_)));
            }
        }
        self.limits.read(queue, attribute);
        Ok(())
    }

    fn add_seen(&mut self, resource: &str, amount: &str, is_number: bool) {
        let kind = amounts::inferred_type(amount, is_number);
        let known = self.seen.entry(resource.into()).or_insert(kind);
        let numbers = [InputType::Count, InputType::Float];
        if *known != kind {
            *known = if numbers.contains(known) && numbers.contains(&kind) {
                InputType::Float
            } else {
                InputType::Text
            };
        }
    }
}

fn is_positive(amount: &str) -> bool {
    // right in every notation of an amount: `0kb`, `00:00:00`, `0.5`
    !amount.starts_with('-') && amount.contains(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::objects::Objects;

    #[test]
    fn reads_every_format() {
        let expected = [("high", Some(100)), ("low", Some(-50)), ("workq", None)];
        for text in [
            "Queue: workq\n    queue_type = Execution\n    Priority_x = 3\n\nQueue: high\n    Priority = 100\n\nQueue: low\n    Priority = -50\n",
            "{\"pbs_version\":\"1\",\"Queue\":{\"workq\":{\"enabled\":\"True\"},\"high\":{\"Priority\":100},\"low\":{\"Priority\":\"-50\"}}}",
            "#\ncreate queue workq\ncreate queue high\nset queue high Priority = 100\r\ncreate queue low\nset queue low Priority = -50\nset server x = 1\n",
            "Queue workq\n    queue_type = Execution\nQueue high\n    Priority = 100\nQueue low\n    Priority = -50\n",
            "Queue: workq|queue_type=Execution\nQueue: high|Priority=100|enabled=True\nQueue: low|Priority=-50\n",
        ] {
            let queues = Queues::read("queues", &Objects::read(text)).unwrap();
            assert_eq!(queues.iter().collect::<Vec<_>>(), expected, "{text}");
            assert_eq!(
                ["workq", "high", "low"].map(|name| queues.position(name)),
                [Some(0), Some(1), Some(2)]
            );
        }
    }

    #[test]
    fn defaults_above_0_are_known() {
        let json = r#"{"Server":{"vm":{"resources_default":{"ncpus":1,"mem":"0kb"},"default_chunk":{"mpiprocs":"2"}}}}"#;
        let text = "Server: vm\n    resources_default.ncpus = 1\n    resources_default.mem = 0kb\n    default_chunk.mpiprocs = 2\n";
        let dsv = "Server: vm|resources_default.ncpus=1|resources_default.mem=0kb|default_chunk.mpiprocs=2\n";
        let qmgr = "set server resources_default.ncpus = 1\nset server resources_default.mem = 0kb\nset server default_chunk.mpiprocs = 2\n";
        for document in [json, text, dsv, qmgr] {
            assert_eq!(
                Queues::read("s", &Objects::read(document))
                    .unwrap()
                    .defaulted_resources(),
                ["mpiprocs", "ncpus"],
                "{document}"
            );
        }
        let queues = "Queue: in\n    queue_type = Route\nQueue: a\n    resources_default.x = 1\n    resources_default.y = 1\nQueue: b\n    resources_default.x = 2\n";
        assert_eq!(
            Queues::read("q", &Objects::read(queues))
                .unwrap()
                .defaulted_resources(),
            ["x"]
        );
    }

    #[test]
    fn the_maximum_of_a_queue_replaces_that_of_the_server() {
        let text = "Server: vm\n    resources_max.ncpus = 64\n    resources_max.mem = 8gb\nQueue: a\n    resources_max.ncpus = 8\n";
        let queues = Queues::read("s", &Objects::read(text)).unwrap();
        assert_eq!(
            [("a", "ncpus"), ("b", "ncpus"), ("a", "mem")]
                .map(|(queue, resource)| queues.maximum(queue, resource)),
            [Some("8"), Some("64"), Some("8gb")]
        );
        assert_eq!(queues.maximum("a", "ngpus"), None);
    }

    #[test]
    fn what_a_cycle_needs() {
        let json = r#"{"Server":{"vm":{"backfill_depth":3,"default_queue":"q","resources_max":{"walltime":"48:00:00"}}},
            "Queue":{"q":{"started":"True","enabled":"True","backfill_depth":"0","resources_default":{"walltime":"01:00:00"}},
            "r":{"started":"False","enabled":"True","resources_available":{"ncpus":8}},"s":{"enabled":"False"}}}"#;
        let qmgr = "create queue q\nset queue q started = True\nset queue q enabled = True\nset queue q backfill_depth = 0\n\
            set queue q resources_default.walltime = 01:00:00\ncreate queue r\nset queue r started = False\n\
            set queue r enabled = True\nset queue r resources_available.ncpus = 8\ncreate queue s\nset queue s enabled = False\n\
            set server backfill_depth = 3\nset server default_queue = q\nset server resources_max.walltime = 48:00:00\n";
        let text = "Server: vm\n    backfill_depth = 3\n    default_queue = q\n    resources_max.walltime = 48:00:00\n\
            Queue: q\n    started = True\n    enabled = True\n    backfill_depth = 0\n    resources_default.walltime = 01:00:00\n\
            Queue: r\n    started = False\n    enabled = True\n    resources_available.ncpus = 8\nQueue: s\n    enabled = False\n";
        for document in [json, qmgr, text] {
            let queues = Queues::read("s", &Objects::read(document)).unwrap();
            assert_eq!(
                ["", "q", "r"].map(|queue| queues.backfill_depth(queue)),
                [Some(3), Some(0), None],
                "{document}"
            );
            // a queue that the document does not have may be a new one
            assert_eq!(
                ["q", "r", "s", "new"].map(|queue| queues.is_started(queue)),
                [true, false, false, true]
            );
            assert_eq!(
                ["q", "r", "s", "new"].map(|queue| queues.is_enabled(queue)),
                [true, true, false, true]
            );
            assert_eq!(queues.default_queue(), Some("q"));
            let walltimes = ["q", "r"].map(|queue| queues.default_amount(queue, "walltime"));
            assert_eq!(walltimes, [Some("01:00:00"), Some("48:00:00")]);
            assert_eq!(
                ["q", "r"].map(|queue| queues.available(queue, "ncpus", Some(InputType::Count))),
                [None, Some(8)]
            );
        }
        let short = Queues::read("q", &Objects::read("Queue: q\n    Priority = 1\n")).unwrap();
        assert!(short.is_started("q") && short.is_enabled("q"));
    }

    #[test]
    fn invalid_documents_are_errors() {
        for (text, message) in [
            (
                "{\"Queue\":{\"a\":{\"Priority\":\"high\"}}}",
                "queue `a` is the string \"high\"",
            ),
            ("{\"Queue\":{\"a\":", "line 1"),
        ] {
            let error = Queues::read("q.txt", &Objects::read(text))
                .unwrap_err()
                .to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn undeclared_resources_have_inferred_types() {
        let text = "Queue: a\n    resources_default.score = 5\n    resources_max.disk = 5gb\n    resources_default.note = hello\n\
                    Queue: b\n    resources_default.score = 0.5\n    resources_max.ncpus = 3\n";
        let mut schema = Schema::openpbs();
        Queues::read("q", &Objects::read(text))
            .unwrap()
            .add_seen_to(&mut schema);
        assert_eq!(
            ["score", "disk", "note", "ncpus"].map(|name| schema.entry(name).unwrap().input_type),
            [
                InputType::Float,
                InputType::Size,
                InputType::Text,
                InputType::Count
            ]
        );
    }
}
