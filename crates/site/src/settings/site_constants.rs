//! The resources of which the site alone decides what a job has.

use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::nearest_double;
use job_sort_formula::schema::{Origin, Schema};
use jsf_openpbs::amounts::AmountSource;

use crate::Site;

impl Site {
    /// The amounts that the site gives to jobs of a resource that none of them requests, as far as
    /// they are known; `None` if jobs may request it.
    ///
    /// No user can request what the flags of a resource withhold. Of another resource of the site,
    /// every job must have what `resources_default` gives to it. What OpenPBS itself defines, such
    /// as `walltime`, is there to be requested.
    pub(crate) fn site_constant(
        &self,
        name: &str,
        schema: &Schema,
        table: Option<&JobTable>,
    ) -> Option<Vec<Value>> {
        let entry = schema.entry(name)?;
        if !matches!(entry.origin, Origin::Site | Origin::Seen) {
            return None;
        }
        let mut defaults = Vec::new();
        for queue in self.queues.execution_queues() {
            defaults.push(self.default_value(queue, name, schema));
        }
        if self.queues.is_empty() {
            defaults.push(self.default_value("", name, schema));
        }
        let has_default = defaults.iter().any(Option::is_some);
        let is_given = has_default
            && matches!(table, Some(table) if self.all_have_default(name, schema, table));
        if !(entry.is_withheld || is_given) {
            return None;
        }
        let mut amounts: Vec<Value> = Vec::new();
        if has_default {
            for default in defaults {
                amounts.push(default.unwrap_or(Value::Int(0)));
            }
        }
        if let Some(table) = table
            && let Some(column) = table.column(name)
        {
            for row in 0..column.len() {
                amounts.push(column.value(row));
            }
        }
        Some(amounts)
    }

    /// Whether there are jobs, and each of them either lacks the resource or has the default amount
    /// of its queue.
    fn all_have_default(&self, name: &str, schema: &Schema, table: &JobTable) -> bool {
        let Some(column) = table.column(name) else {
            return false;
        };
        let mut defaults = Vec::new();
        for queue in table.queues() {
            let default = self.default_value(queue, name, schema);
            defaults.push(default.as_ref().and_then(nearest_double));
        }
        for row in 0..table.len() {
            let own = Some(column.nearest_double(row));
            if column.is_set(row) && defaults[table.queue_index(row)] != own {
                return false;
            }
        }
        !column.is_empty()
    }

    /// What the formula sees of the default amount of a resource in a queue, or in the server.
    fn default_value(&self, queue: &str, name: &str, schema: &Schema) -> Option<Value> {
        let kind = schema.input_type(name);
        let text = self.queues.resources_default(queue, name)?;
        let numbers = self.rules.numbers;
        let amount = numbers.amount(text, kind, AmountSource::Server)?;
        Some(numbers.resource(amount))
    }
}
