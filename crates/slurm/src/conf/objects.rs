//! The nodes and partitions that `slurm.conf` describes, a line for each or for several.

use std::collections::HashMap;

use crate::conf::settings::split_settings;
use crate::host_list::expand;
use crate::records::Record;

/// The nodes and partitions of `slurm.conf`, with what their lines for `DEFAULT` give them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfObjects {
    /// One record for each node, by the key `NodeName`.
    pub(crate) nodes: Vec<Record>,
    /// One record for each partition, by the key `PartitionName`.
    pub(crate) partitions: Vec<Record>,
    /// What the lines for `DEFAULT` give, by the first key in lower case.
    defaults: HashMap<String, Record>,
}

impl ConfObjects {
    /// Adds the objects of a line. Those that are neither nodes nor partitions are not kept.
    pub(super) fn add_line(&mut self, text: &str) {
        let mut settings = split_settings(text).filter_map(Result::ok);
        let Some((kind, names)) = settings.next() else {
            return;
        };
        let kind = kind.to_ascii_lowercase();
        let objects = match kind.as_str() {
            "nodename" => &mut self.nodes,
            "partitionname" => &mut self.partitions,
            _ => return,
        };
        let mut record = self.defaults.get(&kind).cloned().unwrap_or_default();
        for (key, value) in settings {
            record.set(key, value);
        }
        if names.eq_ignore_ascii_case("DEFAULT") {
            self.defaults.insert(kind, record);
            return;
        }
        for name in expand(names) {
            let mut object = record.clone();
            object.set(&kind, &name);
            objects.push(object);
        }
    }
}
