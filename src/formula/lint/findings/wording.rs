//! The words that several findings share.

use crate::formula::lint::findings::Case;
use crate::formula::lint::findings::trial::Attempt;
use crate::formula::lint::ranges::Bound;
use crate::formula::syntax::NodeId;
use crate::python::Value;
use crate::schema::{InputType, Origin};

/// A longer part is shortened in a message; its place shows it whole.
const LONGEST: usize = 48;
/// More inputs than this explain nothing.
const MOST_INPUTS: usize = 3;

impl Case<'_> {
    /// The part in back-ticks, shortened where it is long.
    pub(super) fn quoted(&self, node: NodeId) -> String {
        let mut text = String::new();
        for word in self.text(node).split_whitespace() {
            text += if text.is_empty() { "" } else { " " };
            text += word;
            if text.len() > LONGEST * 4 {
                break;
            }
        }
        if text.chars().count() <= LONGEST {
            return format!("`{text}`");
        }
        let start: String = text.chars().take(LONGEST - 1).collect();
        format!("`{start}…`")
    }

    /// `a` is 0 and `b` is 3: what the inputs of these names are in a job that shows it.
    pub(super) fn circumstances(&self, attempt: &Attempt, part: NodeId) -> Option<String> {
        let inputs = self.inputs(part);
        let values = self.trial.circumstances(attempt, &inputs);
        let words: Vec<String> = values.iter().map(|(name, value)| format!("`{name}` is {}", plain(value))).collect();
        (1..=MOST_INPUTS).contains(&words.len()).then(|| words.join(" and "))
    }

    /// Why an input is 0, in words.
    pub(super) fn why_zero(&self, name: &str) -> &'static str {
        match name {
            "fairshare_perc" | "fair_share_perc" => "0 for an entity without shares",
            "fairshare_tree_usage" => "0 for an entity without usage",
            "fairshare_factor" => "0 for an entity without shares, or far above its share",
            "eligible_time" => "0 for a job that has not waited yet",
            "queue_priority" => "0 in a queue without a priority",
            "job_priority" => "0 for a job without a priority",
            "ncpus" => "0 for a job that asks for no cpus",
            "accrue_type" => "0 for a job that accrues nothing yet",
            _ => match self.schema.entry(name).map(|entry| entry.origin) {
                Some(Origin::Special) => "may be 0",
                _ => "0 for a job that does not request it",
            },
        }
    }

    /// The least value above 0 that fits an input, as it is written, where no job has less than 0.
    pub(super) fn least_above_zero(&self, name: &str) -> Option<&'static str> {
        let entry = self.schema.entry(name)?;
        let from_zero = self.ranges.of(name, self.schema).least() >= 0.0;
        match (name, entry.input_type) {
            // nobody divides by a priority to turn the order round below 0
            ("queue_priority" | "job_priority", _) => Some("1"),
            _ if !from_zero => None,
            (_, InputType::Ratio) => Some("1e-6"),
            (_, InputType::Float) => None,
            _ => Some("1"),
        }
    }
}

/// A number without the `.0` of a float.
fn plain(value: &Value) -> String {
    match value {
        Value::Float(number) => Bound(*number).to_string(),
        other => other.repr(),
    }
}
