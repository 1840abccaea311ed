//! The values in a scheduler's log against those that are computed for a queue, as text or as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::pbs::replay::{Difference, Explanation, Replay};
use crate::report::terminal::printable;

/// How many differences the text lists at most. JSON lists those that the comparison has kept, and counts the others.
const MAX_SHOWN: usize = 50;

/// Writes the comparison of the values of `formula` as one JSON document.
///
/// # Errors
/// `out` cannot be written.
pub fn write_json(replay: &Replay, formula: &str, out: &mut dyn Write) -> io::Result<()> {
    let different: Vec<Value> = replay.different.iter().map(difference).collect();
    let document = json!({
        "formula": formula,
        "lines": replay.lines,
        "equal": replay.equal,
        "different": different,
        "not_listed": replay.not_listed,
        "unexplained": replay.unexplained,
        "unknown_jobs": replay.unknown_jobs,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

fn difference(different: &Difference) -> Value {
    let mut fields = json!({
        "line": different.line,
        "job": different.job,
        "logged": different.logged,
        "ours": different.ours,
        "why": different.why(),
        "explanations": different.explanations.iter().map(explanation).collect::<Vec<_>>(),
    });
    if let Some(remark) = &different.remark {
        fields["remark"] = remark.clone().into();
    }
    fields
}

fn explanation(explanation: &Explanation) -> Value {
    let mut fields = match explanation {
        Explanation::Digits => json!({"kind": "digits"}),
        Explanation::Undeclared(name) => json!({"kind": "undeclared", "input": name}),
        Explanation::EligibleTime(seconds) => {
            json!({"kind": "eligible_time", "input": "eligible_time", "seconds": seconds})
        }
        Explanation::Decayed(times) => json!({"kind": "decay", "times": times}),
        Explanation::Usage { entity, ours, logged } => {
            json!({"kind": "usage", "entity": entity, "ours": ours, "logged": logged})
        }
        Explanation::Input { name, ours, logged } => {
            json!({"kind": "input", "input": name, "ours": ours, "logged": logged})
        }
        Explanation::NotWaiting(_) => json!({"kind": "state"}),
    };
    fields["why"] = explanation.to_string().into();
    fields
}

/// Writes the comparison as text: the formula, one line for each difference, then the counts.
///
/// # Errors
/// `out` cannot be written.
pub fn write_human(replay: &Replay, formula: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "formula:   {}", printable(formula.trim_end()))?;
    writeln!(out, "compared:  the logged digits with those of the value that the formula gives here\n")?;
    for different in replay.different.iter().take(MAX_SHOWN) {
        let Difference { line, job, logged, ours, .. } = different;
        let ours = ours.as_deref().unwrap_or("no value");
        let why = match (different.why(), &different.remark) {
            (Some(why), _) => why,
            (None, Some(remark)) => format!("nothing explains it: {remark}"),
            (None, None) => "nothing explains it".to_owned(),
        };
        let (job, logged) = (printable(job), printable(logged));
        writeln!(out, "line {line}: {job}: logged {logged}, here {ours}: {}", printable(&why))?;
    }
    let different = replay.different.len() + replay.not_listed;
    if different > MAX_SHOWN {
        writeln!(out, "and {} more; `--format json` lists more", different - MAX_SHOWN)?;
    }
    let values = if replay.lines == 1 { "value" } else { "values" };
    write!(out, "{} logged {values}: {} equal, {different} different", replay.lines, replay.equal)?;
    if different > 0 {
        write!(out, " ({} explained, {} not)", different - replay.unexplained, replay.unexplained)?;
    }
    writeln!(out, ", {} of jobs that are not in the queue", replay.unknown_jobs)
}
