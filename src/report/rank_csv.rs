//! A ranking as CSV: a header and one line per job.

use std::io::{self, Write};

use super::{RankFormat, RankReport};
use crate::formula::number::Value;
use crate::pbs::digits;

/// Comma-separated values after RFC 4180.
#[derive(Debug, Clone, Copy)]
pub struct Csv;

impl RankFormat for Csv {
    fn write(&self, report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let header = ["rank", "id", "entity", "queue", "score", "exact", "logged", "error", "considered"];
        writer.write_record(header.iter().chain(report.inputs))?;
        for line in report.lines() {
            let table = report.table;
            let score = line.score.as_ref().map(|score| Value::Float(score.kept).repr()).unwrap_or_default();
            let fields = [
                line.rank.map(|rank| rank.to_string()).unwrap_or_default(),
                table.id(line.row).to_owned(),
                table.entity(line.row).to_owned(),
                table.queue(line.row).to_owned(),
                score,
                line.exact().map(ToString::to_string).unwrap_or_default(),
                line.score.as_ref().map(|score| digits::logged(score.kept)).unwrap_or_default(),
                line.error().map(ToString::to_string).unwrap_or_default(),
                line.is_considered().to_string(),
            ];
            let inputs =
                report.inputs.iter().map(|name| table.column(name).map(|column| column.value(line.row).repr()));
            writer.write_record(fields.into_iter().chain(inputs.map(Option::unwrap_or_default)))?;
        }
        writer.flush()
    }
}
