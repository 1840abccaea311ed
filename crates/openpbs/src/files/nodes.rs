//! The nodes of a server with what each has.
//!
//! In: the objects of `pbsnodes -av`, or of `print node @default` or `list node @default` of
//! `qmgr`. Out: [`Nodes`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use job_sort_formula::schema::{InputType, Schema};
use jsf_json::clipped;
use serde::de::IgnoredAny;

use crate::files::objects::{Attribute, ObjectKind, Objects, key_and_value, last};
use crate::files::run_limits::whole_amount;
use crate::files::server::boolean;

/// The nodes (vnodes) of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nodes {
    /// In the order of the document, which is the server's order.
    pub nodes: Vec<Node>,
    /// When the document was written, in seconds since 1970, if it says so.
    pub timestamp: Option<i64>,
    /// The attributes in the document that limit which jobs run on a node, and that are not read.
    pub other_attributes: BTreeSet<Box<str>>,
}

/// One node (vnode).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: Box<str>,
    /// Its host: several nodes may be parts of one.
    pub host: Box<str>,
    /// The numbers in `resources_available`: sizes in kb, durations in seconds. `mem` is rounded
    /// down to megabytes, as by the scheduler.
    pub amounts: BTreeMap<Box<str>, i64>,
    /// The numbers in `resources_assigned`: what jobs and reservations have of it now.
    pub assigned: BTreeMap<Box<str>, i64>,
    /// The only queue whose jobs run on it.
    pub queue: Option<Box<str>>,
    /// The partition of the scheduler that it belongs to; `None` for the default one.
    pub partition: Option<Box<str>>,
    /// Whether jobs may run on it, now or once those on it have ended.
    pub is_usable: bool,
    /// Whether jobs may run on it but for a reservation that has it for itself.
    pub is_resv_exclusive: bool,
    /// The reservations that have it, now or later (`resv`).
    pub reservations: Vec<Box<str>>,
    /// Who has it for itself (`sharing`), such as `default_excl`; empty if the document does not
    /// say.
    pub sharing: Box<str>,
    /// Its `Priority`.
    pub priority: i64,
    /// All of `resources_available`, as it is written.
    pub values: BTreeMap<Box<str>, Box<str>>,
    /// The jobs on it, each once.
    pub jobs: Vec<Box<str>>,
}

/// The attributes that limit which jobs run on a node, and that are found and not read.
const OTHER_ATTRIBUTES: [&str; 5] = [
    "max_running",
    "max_user_run",
    "max_group_run",
    "no_multinode_jobs",
    "provision_enable",
];

impl Nodes {
    /// The nodes of a document. Of JSON that is not valid, as several versions of pbsnodes print
    /// it, one attribute is read from each line.
    ///
    /// # Errors
    /// The document contains no node, an amount of a resource that OpenPBS defines is not a number,
    /// or JSON is damaged where it counts.
    ///
    /// ```
    /// use jsf_openpbs::files::nodes::Nodes;
    /// use jsf_openpbs::files::objects::Objects;
    ///
    /// let text = "vn1\n     state = free\n     resources_available.ncpus = 4\n     resources_available.mem = 1gb\n";
    /// let nodes = Nodes::read("pbsnodes.txt", &Objects::read(text))?;
    /// assert_eq!((nodes.total("ncpus"), nodes.total("mem")), (4, 1_048_576));
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(source_name: &str, objects: &Objects<'_>) -> Result<Self, String> {
        Self::of_document(objects).map_err(|fault| format!("`{source_name}`{fault}"))
    }

    fn of_document(objects: &Objects<'_>) -> Result<Self, String> {
        let mut nodes = Self::default();
        let schema = Schema::openpbs();
        match &objects.json_error {
            None => nodes.add(objects, &schema)?,
            Some(reason) => {
                let mended = mended(objects.text, |name, resource| {
                    is_needed(name, resource, &schema)
                })?;
                let mended = mended.unwrap_or_default();
                let objects = Objects::read(&mended);
                if !objects.has(ObjectKind::Node) {
                    return Err(format!(" is not valid JSON {reason}"));
                }
                nodes.add(&objects, &schema)?;
            }
        }
        if nodes.nodes.is_empty() {
            return Err(" contains no node, expected `pbsnodes -av` as text or JSON, or `qmgr -c 'print node @default'`".to_owned());
        }
        Ok(nodes)
    }

    fn add(&mut self, objects: &Objects<'_>, schema: &Schema) -> Result<(), String> {
        if let Some(timestamp) = last(&objects.attributes, "timestamp")
            && let Some(time) = timestamp.value.text()
        {
            self.timestamp = time.parse().ok();
        }
        let mut positions: HashMap<&str, usize> = HashMap::new();
        for object in objects.of(ObjectKind::Node) {
            let position = *positions.entry(&object.name).or_insert(self.nodes.len());
            if position == self.nodes.len() {
                self.nodes.push(Node {
                    name: Box::from(&*object.name),
                    host: Box::from(&*object.name),
                    is_usable: true,
                    ..Node::default()
                });
            }
            for attribute in &object.attributes {
                let Some(value) = attribute.value.text() else {
                    continue;
                };
                if OTHER_ATTRIBUTES.contains(&&*attribute.name) {
                    self.other_attributes.insert(Box::from(&*attribute.name));
                }
                self.nodes[position].set(attribute, value, schema)?;
            }
        }
        Ok(())
    }

    /// What the usable nodes have of a resource together.
    pub fn total(&self, resource: &str) -> i64 {
        let mut total: i64 = 0;
        for node in &self.nodes {
            if node.is_usable {
                total = total.saturating_add(*node.amounts.get(resource).unwrap_or(&0));
            }
        }
        total
    }
}

/// Whether a node cannot do without an attribute that its document has.
fn is_needed(name: &str, resource: Option<&str>, schema: &Schema) -> bool {
    match (name, resource) {
        // a resource that OpenPBS does not declare may be an amount that jobs wait for
        ("resources_available", Some(resource)) => schema
            .entry(resource)
            .is_none_or(|entry| entry.input_type.is_numeric()),
        (name, None) => matches!(
            name,
            "state" | "queue" | "partition" | "sharing" | "jobs" | "resv"
        ),
        _ => false,
    }
}

/// The scheduler rounds the memory of a node down to megabytes.
const KB_OF_A_MEGABYTE: i64 = 1024;

impl Node {
    /// Whether a chunk may run on it that asks for a value of a resource that is not an amount. An
    /// unset boolean is false; of the values of a `string_array` one is enough.
    pub fn matches(&self, resource: &str, asked: &str, kind: Option<InputType>) -> bool {
        let value = self.values.get(resource);
        match (resource, boolean(asked)) {
            // as the scheduler compares hosts (`CMP_CASELESS`)
            ("host", _) => self.host.eq_ignore_ascii_case(asked),
            ("vnode", _) => *self.name == *asked,
            (_, Some(asked)) if kind != Some(InputType::Text) => {
                let is_true = value.and_then(|value| boolean(value));
                is_true.unwrap_or(false) == asked
            }
            _ => value.is_some_and(|value| value.split(',').any(|value| value.trim() == asked)),
        }
    }

    fn set(
        &mut self,
        attribute: &Attribute<'_>,
        value: &str,
        schema: &Schema,
    ) -> Result<(), String> {
        match (&*attribute.name, attribute.resource.as_deref()) {
            ("resources_available", Some(resource)) => {
                if let Some(amount) = self.amount(resource, value, schema)? {
                    let unit = if resource == "mem" {
                        KB_OF_A_MEGABYTE
                    } else {
                        1
                    };
                    self.amounts.insert(resource.into(), amount - amount % unit);
                }
                self.values.insert(resource.into(), value.into());
                if resource == "host" {
                    self.host = value.into();
                }
            }
            ("resources_assigned", Some(resource)) => {
                if let Some(amount) = self.amount(resource, value, schema)? {
                    self.assigned.insert(resource.into(), amount);
                }
            }
            ("state", None) => {
                self.is_usable = is_usable(value);
                // the removed state leaves an empty one in the list, which is no state that hinders
                // jobs
                self.is_resv_exclusive =
                    !self.is_usable && is_usable(&value.replace("resv-exclusive", ""));
            }
            ("queue", None) => self.queue = Some(value.into()),
            ("partition", None) => self.partition = Some(value.into()),
            ("sharing", None) => self.sharing = value.into(),
            ("Priority", None) => self.priority = value.parse().unwrap_or(0),
            ("jobs", None) => {
                for entry in value.split(',') {
                    self.add_job(entry);
                }
            }
            ("resv", None) => {
                for id in value.split(',') {
                    self.reservations.push(id.trim().into());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The number of an amount; `None` for a string, and for `@NODE`, by which nodes share what one
    /// of them has.
    fn amount(&self, resource: &str, value: &str, schema: &Schema) -> Result<Option<i64>, String> {
        let kind = schema.input_type(resource);
        let amount = whole_amount(value, kind);
        let is_number = matches!(
            kind,
            Some(InputType::Count | InputType::Size | InputType::Duration)
        );
        if amount.is_none() && is_number && !value.starts_with('@') {
            return Err(format!(
                ": the node `{}` has the amount `{}` of {resource}, expected a whole number",
                self.name,
                clipped(value)
            ));
        }
        Ok(amount)
    }

    fn add_job(&mut self, entry: &str) {
        let id = job_id(entry);
        // the entries of a job follow each other
        if !id.is_empty() && self.jobs.last().map(|last| &**last) != Some(id) {
            self.jobs.push(id.into());
        }
    }
}

/// Whether jobs may run on a node with these states. One that is full becomes free when its jobs
/// end; but a reservation may keep it, and a node that is `busy` has a load that PBS did not cause.
fn is_usable(state: &str) -> bool {
    state.split(',').all(|state| {
        matches!(
            state.trim(),
            "" | "free" | "job-busy" | "job-exclusive" | "job-sharing"
        )
    })
}

/// The id in an entry of `jobs`: `12.vm/0`, or `0/12.vm` as older versions print it.
fn job_id(entry: &str) -> &str {
    let entry = entry.trim();
    match entry.split_once('/') {
        Some((slot, id)) if slot.bytes().all(|byte| byte.is_ascii_digit()) && id.contains('.') => {
            id
        }
        Some((id, _)) => id,
        None => entry,
    }
}

/// The nodes of JSON that is not valid, as several versions of pbsnodes print it, without the lines
/// whose values cannot be read. `is_needed` says of which attributes, and resources in them, the value
/// must be readable. `None` if not every object is closed at the end.
fn mended(
    text: &str,
    is_needed: impl Fn(&str, Option<&str>) -> bool,
) -> Result<Option<String>, String> {
    let mut mended = "{".to_owned();
    // the keys of the objects that are open
    let mut path = Vec::new();
    let mut is_inside_string = false;
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim().trim_end_matches(',').trim_end();
        let mut is_damaged = false;
        if let Some((key, value)) = key_and_value(line) {
            if value == "{" || serde_json::from_str::<IgnoredAny>(value).is_ok() {
                if !mended.ends_with('{') {
                    mended.push(',');
                }
                mended.push_str(line);
            } else {
                is_damaged = match path[..] {
                    ["nodes", _] => is_needed(key, None),
                    ["nodes", _, list] => is_needed(list, Some(key)),
                    _ => false,
                };
            }
            if value == "{" {
                path.push(key);
            }
            // pbsnodes may print the line ends of a value, such as those of a comment, as they are
            is_inside_string =
                value.starts_with('"') && (value.len() == 1 || !value.ends_with('"'));
        } else if is_inside_string {
            is_inside_string = !line.ends_with('"');
        } else if line.bytes().all(|byte| byte == b'}') {
            for _ in 0..line.len().min(path.len()) {
                path.pop();
                mended.push('}');
            }
        } else {
            // the outermost object has no key
            is_damaged = line != "{" || !path.is_empty();
        }
        if is_damaged {
            let line = clipped(line);
            return Err(format!(
                " is not valid JSON, and line {number} cannot be read: `{line}`"
            ));
        }
    }
    mended.push('}');
    Ok(path.is_empty().then_some(mended))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{
	"timestamp":	1795199076,
	"nodes":	{
		"b1":	{
			"state":	"job-busy",
			"queue":	"gpu",
			"sharing":	"default_excl",
			"resv":	"R1.srv, S2.srv",
			"comment":	"a \u0041",
			"jobs":	["12.vm/0", "12.vm/1", "13[4].vm/2"],
			"resources_available":	{
				"host":	"b",
				"mem":	"1048577kb",
				"ncpus":	4,
				"Qlist":	"a,b",
				"ngpus":	"@b0",
				"licence":	2
			},
			"resources_assigned":	{
				"ncpus":	4
			}
		},
		"a":	{
			"state":	"offline,job-busy",
			"partition":	"p1",
			"max_running":	3,
			"resources_available":	{
				"ncpus":	8
			}
		}
	}
}
"#;
    const TEXT: &str = "$ pbsnodes -av\nb1\n     state = job-busy\n     queue = gpu\n     sharing = default_excl\n     \
        resv = R1.srv, S2.srv\n     comment = a A\n     jobs = 12.vm/0, 12.vm/1, 13[4].vm/2\n     resources_available.host = b\n     \
        resources_available.mem = 1048577kb\n     resources_available.ncpus = 4\n     resources_available.Qlist = a,b\n     \
        resources_available.ngpus = @b0\n     resources_available.licence = 2\n     resources_assigned.ncpus = 4\n     \
        last_used_time = Fri Nov 20 18:05:02 2026\n\na\n     state = offline,job-busy\n     partition = p1\n     \
        max_running = 3\n     resources_available.ncpus = 8\n\n";
    const DSV: &str = "Name=b1|state=job-busy|queue=gpu|sharing=default_excl|resv=R1.srv,S2.srv|comment=a A|jobs=12.vm/0,12.vm/1,13[4].vm/2|\
        resources_available.host=b|resources_available.mem=1048577kb|resources_available.ncpus=4|\
        resources_available.Qlist=a,b|resources_available.ngpus=@b0|resources_available.licence=2|\
        resources_assigned.ncpus=4\nName=a|state=offline,job-busy|partition=p1|max_running=3|resources_available.ncpus=8\n";
    const PRINTED: &str = "#\n# Create nodes and set their properties.\n#\ncreate node b1 Mom=b\nset node b1 state = job-busy\n\
        set node b1 queue = gpu\nset node b1 sharing = default_excl\nset node b1 resv = \"R1.srv, S2.srv\"\nset node b1 jobs = \"12.vm/0, 12.vm/1, 13[4].vm/2\"\n\
        set node b1 resources_available.host = b\nset node b1 resources_available.mem = 1048577kb\n\
        set node b1 resources_available.ncpus = 4\nset node b1 resources_available.Qlist = \"a,b\"\n\
        set node b1 resources_available.ngpus = @b0\nset node b1 resources_available.licence = 2\n\
        set node b1 resources_assigned.ncpus = 4\ncreate node a\nset node a state = \"offline,job-busy\"\n\
        set node a partition = p1\nset node a max_running = 3\nset node a resources_available.ncpus = 8\n";

    fn amounts<const N: usize>(amounts: [(&str, i64); N]) -> BTreeMap<Box<str>, i64> {
        amounts
            .into_iter()
            .map(|(name, amount)| (name.into(), amount))
            .collect()
    }

    fn values(values: &[(&str, &str)]) -> BTreeMap<Box<str>, Box<str>> {
        values
            .iter()
            .map(|&(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn expected() -> [Node; 2] {
        let given = [
            ("host", "b"),
            ("mem", "1048577kb"),
            ("ncpus", "4"),
            ("Qlist", "a,b"),
            ("ngpus", "@b0"),
            ("licence", "2"),
        ];
        [
            Node {
                name: "b1".into(),
                host: "b".into(),
                amounts: amounts([("mem", 1_048_576), ("ncpus", 4), ("licence", 2)]),
                assigned: amounts([("ncpus", 4)]),
                queue: Some("gpu".into()),
                partition: None,
                is_usable: true,
                sharing: "default_excl".into(),
                priority: 0,
                values: values(&given),
                jobs: vec!["12.vm".into(), "13[4].vm".into()],
                is_resv_exclusive: false,
                reservations: vec!["R1.srv".into(), "S2.srv".into()],
            },
            Node {
                name: "a".into(),
                host: "a".into(),
                amounts: amounts([("ncpus", 8)]),
                values: values(&[("ncpus", "8")]),
                partition: Some("p1".into()),
                ..Node::default()
            },
        ]
    }

    #[test]
    fn an_unset_boolean_is_false_and_one_value_of_a_list_is_enough() {
        let text = "n\n     Priority = -3\n     resources_available.host = H1\n     resources_available.fast = True\n     \
            resources_available.slow = False\n     resources_available.colors = red, blue\n     \
            resources_available.rack = 4\n";
        let nodes = Nodes::read("nodes", &Objects::read(text)).unwrap();
        let node = &nodes.nodes[0];
        assert_eq!(node.priority, -3);
        for (resource, asked, kind, expected) in [
            ("fast", "True", Some(InputType::Bool), true),
            ("fast", "false", Some(InputType::Bool), false),
            ("slow", "True", Some(InputType::Bool), false),
            ("slow", "False", Some(InputType::Bool), true),
            ("unset", "True", None, false),
            ("unset", "False", None, true),
            ("unset", "False", Some(InputType::Text), false),
            ("colors", "blue", Some(InputType::Text), true),
            ("colors", "Blue", Some(InputType::Text), false),
            ("colors", "red,blue", Some(InputType::Text), false),
            ("rack", "4", Some(InputType::Text), true),
            // the names of hosts are compared without case
            ("host", "h1", Some(InputType::Text), true),
            ("vnode", "n", Some(InputType::Text), true),
            ("vnode", "N", Some(InputType::Text), false),
        ] {
            assert_eq!(
                node.matches(resource, asked, kind),
                expected,
                "{resource}={asked}"
            );
        }
    }

    #[test]
    fn reads_every_format() {
        let list = PRINTED
            .replace("set node b1 ", "    ")
            .replace("set node a ", "    ")
            .replace("create node b1 Mom=b", "Node b1");
        let list = list.replace("create node a", "\nNode a");
        for document in [JSON, TEXT, DSV, PRINTED, &list, &TEXT.replace('\n', "\r\n")] {
            let nodes = Nodes::read("nodes", &Objects::read(document)).unwrap();
            assert_eq!(nodes.nodes, expected(), "{document}");
            assert_eq!((nodes.total("ncpus"), nodes.total("ngpus")), (4, 0));
            assert_eq!(
                nodes
                    .other_attributes
                    .iter()
                    .map(|name| &**name)
                    .collect::<Vec<_>>(),
                ["max_running"]
            );
        }
        assert_eq!(
            Nodes::read("nodes", &Objects::read(JSON))
                .unwrap()
                .timestamp,
            Some(1_795_199_076)
        );
    }

    #[test]
    fn damaged_json_is_read_line_by_line() {
        let whole: Vec<Node> = expected().into();
        for (from, to) in [
            ("a \\u0041", "say \"hello\""),
            ("a \\u0041", "first\nsecond: {\n\"third\""),
            ("a \\u0041", "C:\\Users"),
            ("\"a \\u0041\"", "00123"),
            ("\"licence\":\t2\n", "\"licence\":\t2,\n"),
        ] {
            let damaged = JSON.replace(from, to);
            assert!(serde_json::from_str::<serde_json::Value>(&damaged).is_err());
            let nodes = Nodes::read("nodes", &Objects::read(&damaged)).unwrap();
            assert_eq!(nodes.nodes, whole, "{damaged}");
            assert_eq!(nodes.timestamp, Some(1_795_199_076));
        }
    }

    #[test]
    fn what_counts_is_never_left_out() {
        let cut = &JSON[..JSON.len() - 40];
        let amount = JSON.replace("\"ncpus\":\t8", "\"ncpus\":\t08");
        let state = JSON.replace("\"offline,job-busy\"", "\"off\"line\"");
        let text = TEXT.replace("ncpus = 8", "ncpus = eight");
        for (document, message) in [
            ("", "contains no node"),
            ("{\"nodes\":{}}", "contains no node"),
            ("{\"Queue\":{\"a\":{}}}", "contains no node"),
            (cut, "`n` is not valid JSON, and line 27 cannot be read"),
            (
                JSON.split_inclusive("\"a\"").next().unwrap(),
                "`n` is not valid JSON, and line",
            ),
            (
                JSON.trim_end_matches(['}', '\n', '\t']),
                "`n` is not valid JSON at line ",
            ),
            (&*amount, "line 28 cannot be read: `\"ncpus\":\t08`"),
            (&*state, "cannot be read: `\"state\":"),
            (&*text, "the node `a` has the amount `eight` of ncpus"),
            ("\u{0}{ rubbish", "contains no node"),
        ] {
            let error = Nodes::read("n", &Objects::read(document))
                .unwrap_err()
                .to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn the_recorded_document_is_read() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/golden/openpbs/qstat/pbsnodes_a.json"
        );
        let nodes = Nodes::read(
            "pbsnodes_a.json",
            &Objects::read(&std::fs::read_to_string(path).unwrap()),
        )
        .unwrap();
        let [node] = &nodes.nodes[..] else {
            panic!("{nodes:?}")
        };
        assert_eq!((&*node.name, node.is_usable), ("vm", false));
        assert_eq!(node.amounts, amounts([("mem", 1 << 20), ("ncpus", 4)]));
        assert_eq!(
            (nodes.total("ncpus"), nodes.timestamp),
            (0, Some(1_795_199_076))
        );
    }

    #[test]
    fn states_that_end_with_the_jobs_are_usable() {
        for (state, expected) in [
            ("free", true),
            ("job-busy", true),
            ("job-exclusive", true),
            ("busy", false),
            ("job-exclusive,resv-exclusive", false),
            ("state-unknown,down", false),
            ("offline", false),
            ("Stale", false),
            ("maintenance", false),
            ("wait-provisioning", false),
        ] {
            assert_eq!(is_usable(state), expected, "{state}");
        }
    }

    #[test]
    fn jobs_are_named_in_either_order() {
        assert_eq!(
            ["12.vm/0", "0/12.vm", "12[3].vm/1*2", "12"].map(job_id),
            ["12.vm", "12.vm", "12[3].vm", "12"]
        );
    }
}
