//! The nodes and partitions that `slurm.conf` describes, a line for each or for several.

use std::collections::HashMap;

use crate::conf::settings::split_settings;
use crate::form::Form;
use crate::host_list::expand;
use crate::records::Record;

/// The settings of nodes and partitions on which priorities depend.
const FORMS: [(&str, Form); 12] = [
    ("PriorityJobFactor", Form::Count),
    ("PriorityTier", Form::Count),
    ("Priority", Form::Count),
    ("MaxTime", Form::Limit),
    ("CPUs", Form::Count),
    ("Procs", Form::Count),
    ("Boards", Form::Count),
    ("Sockets", Form::Count),
    ("SocketsPerBoard", Form::Count),
    ("CoresPerSocket", Form::Count),
    ("ThreadsPerCore", Form::Count),
    ("CoreSpecCount", Form::Count),
];

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
    ///
    /// # Errors
    /// A value of another form than the one of its key: the key, the value, and what is expected.
    pub(super) fn add_line(
        &mut self,
        text: &str,
        line: usize,
    ) -> Result<(), (&'static str, String, &'static str)> {
        let mut settings = split_settings(text).into_iter().flatten();
        let Some((kind, names)) = settings.next() else {
            return Ok(());
        };
        let kind = kind.to_ascii_lowercase();
        let objects = match kind.as_str() {
            "nodename" => &mut self.nodes,
            "partitionname" => &mut self.partitions,
            _ => return Ok(()),
        };
        let mut record = self.defaults.get(&kind).cloned().unwrap_or_default();
        for (key, value) in settings {
            record.set(key, value, line);
        }
        let wrong = FORMS.into_iter().find_map(|(key, form)| {
            let value = record.get(key)?;
            let is_wrong = form.fault(key, "", value).is_some();
            is_wrong.then(|| (key, value.to_owned(), form.expected()))
        });
        if names.eq_ignore_ascii_case("DEFAULT") {
            self.defaults.insert(kind, record);
            return wrong.map_or(Ok(()), Err);
        }
        for name in expand(names) {
            let mut object = record.clone();
            object.set(&kind, &name, line);
            objects.push(object);
        }
        wrong.map_or(Ok(()), Err)
    }
}
