//! `jsf replay`: the values in a scheduler's log against those that are computed for a queue.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use job_sort_formula::PythonVersion;
use job_sort_formula::diagnostic::{Message, Need};
use jsf_openpbs::log_comparison::{Cause, CauseKind, Difference, NotCaptured, Replay};
use jsf_site::{FileSource, Site};
use serde::{Serialize, Serializer};

use crate::answers::{Answer, AnswerError, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::{FormulaArgs, check_and_report, open_with_formula},
    outcome::{CliError, Outcome},
    output::AnswerArgs,
    site::{SiteArgs, require_one_reader},
};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table, cells};
use crate::view::words::{capitalised, count, grouped_count, grouped_number, waiting_time};

/// `jsf replay`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(after_help = "\
Lines such as `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` have the value that the scheduler computed for a job. Its \
digits are compared with those that OpenPBS would log for the value of this job of --queue. For the differences of a cycle, \
jsf tries three explanations: another formula of the site's files, or of the server's log in LOG; another eligible_time, because \
the queue was captured at another moment; usage that has decayed more or less often. Each must give more than half of the \
differing values.

Exit code 1: a difference is unexplained, or no job of the log is in the queue.

Examples:
  jsf replay examples/site/sched.log --sched-priv examples/site/sched_priv \\
      --queue examples/site/qstat.json
  jsf replay examples/site/sched.log --site examples/site
  jsf replay examples/site/sched.log --site examples/site --format json")]
pub struct ReplayArgs {
    /// The log of pbs_sched; - is standard input
    ///
    /// Plain or compressed (.gz, .zst)
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The formula.
    #[command(flatten)]
    formula: FormulaArgs,
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

#[cfg(feature = "command")]
impl ReplayArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let formula = ("the formula", self.formula.file());
        let log = ("the log", Some(&*self.log));
        require_one_reader(&[], &self.site, &[formula, log])?;
        let (site, given) = open_with_formula(&self.site, &self.formula, None, self.answer.format)?;
        given.parsed()?;
        let outcome = check_and_report(&site, &given)?;
        let log = FileSource::from(&*self.log);
        let output = self
            .answer
            .answered("comparing the values", |warnings, _| {
                ReplayAnswer::new(&site, given, log, warnings)
            })?;
        output.write(out)?;
        let replay = &output.answer.replay;
        if replay.unexplained > 0 || replay.is_empty() {
            return Ok(Outcome::Findings);
        }
        Ok(outcome)
    }
}

/// The values in a log against those of a formula.
#[derive(Debug)]
pub struct ReplayAnswer {
    /// The formula.
    pub given: AskedFormula,
    /// The version of Python that computes it.
    python: PythonVersion,
    /// The same with what says so, for people.
    python_in_words: String,
    /// The comparison.
    pub(crate) replay: Replay,
}

impl ReplayAnswer {
    /// Compares the values in a log with those for the queue of a site.
    ///
    /// # Errors
    /// The log or the jobs cannot be read, or the formula is not arithmetic.
    pub fn new(
        site: &Site,
        given: AskedFormula,
        log: FileSource,
        warnings: &mut Warnings,
    ) -> Result<Self, AnswerError> {
        let formula = given.parsed()?;
        warnings.add(site.warnings());
        let compared = site.replay(log, formula);
        let compared = compared.map_err(|error| given.refused(error, site))?;
        warnings.add(compared.warnings);
        if compared.replay.is_empty() {
            warnings.add([Message::asking(
                "nothing was compared, so nothing is proved: with the jobs that were waiting when the log was written, ",
                [Need::Queue],
            )]);
        }
        Ok(Self {
            given,
            python: site.python().0,
            python_in_words: site.python_in_words(),
            replay: compared.replay,
        })
    }
}

impl Serialize for ReplayAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut causes = Vec::new();
        for cause in &self.replay.causes {
            let formula = match &cause.kind {
                CauseKind::Formula { text, .. } => Some(object! { formula: text }),
                _ => None,
            };
            causes.push(object! {
                kind: cause.kind.name(),
                lines: cause.lines,
                explains: cause.kind.explains(),
                why: sentence(cause),
                #[serde(flatten)]
                seconds: cause.seconds.map(|seconds| object! { seconds }),
                #[serde(flatten)]
                formula,
                #[serde(flatten)]
                advice: advice(cause, &self.replay).map(|advice| object! { advice }),
            });
        }
        let answer = object! {
            formula: self.given.text(),
            python: self.python,
            #[serde(flatten)]
            replay: &self.replay,
            summary: headline(&self.replay),
            causes,
        };
        answer.serialize(serializer)
    }
}

impl Answer for ReplayAnswer {
    fn document(&self) -> Document<'_> {
        let replay = &self.replay;
        let mut sections = Vec::new();
        if !replay.causes.is_empty() {
            let mut section = Section::new("causes");
            for line in causes(replay) {
                section = section.prose(line);
            }
            sections.push(section);
        }
        if !replay.different.is_empty() {
            sections.push(differences(replay));
        }
        Document {
            command: "jsf replay",
            title: "A scheduler's log against the values here".to_owned(),
            headline: capitalised(&headline(replay)) + ".",
            facts: vec![
                Fact::new("formula", self.given.text().trim_end()),
                Fact::new("python", &*self.python_in_words),
            ],
            sections,
            read_on: "",
        }
    }
}

/// The most differences that the text lists, the unexplained ones first. JSON lists those that the
/// comparison has kept, and counts the others.
const MAX_SHOWN: usize = 10;
/// The most causes that the text lists.
const MAX_CAUSES: usize = 5;

/// A row for each difference: first those that nothing explains.
fn differences(replay: &Replay) -> Section<'_> {
    let mut shown = Vec::from_iter(&replay.different);
    // stable, so that either kind stays in the order of the log
    shown.sort_by_key(|different| !different.explanations.is_empty());
    shown.truncate(MAX_SHOWN);
    let columns = [
        Column::number("line", 7),
        Column::id("job", 9),
        Column::number("logged", 8),
        Column::number("here", 8),
        Column::wrapped("why", 9),
    ];
    let more = replay.differing().saturating_sub(shown.len());
    let table = Table::new(columns, shown, |different| {
        cells![
            Cell::Written(different.line.to_string(), None),
            &*different.job,
            &*different.logged,
            different.ours.as_deref().unwrap_or("no value"),
            Cell::prose(why(different)),
        ]
    });
    let mut section = Section::new("differences").table(table);
    if more > 0 {
        let more = grouped_number(more);
        section = section.prose(format!("and {more} more; `--format json` lists more"));
    }
    section
}

fn why(different: &Difference) -> String {
    match (&different.why, &different.remark) {
        (Some(why), _) => why.clone(),
        (None, Some(remark)) => format!("nothing explains it: {remark}"),
        (None, None) => "nothing explains it".to_owned(),
    }
}

/// The answer, in one sentence.
fn headline(replay: &Replay) -> String {
    let compared = replay.lines - replay.unknown_jobs;
    if compared == 0 {
        return "nothing was compared: no job of the log is in the queue".to_owned();
    }
    let all = grouped_count(compared, "logged value");
    let mut parts = vec![format!("equal: {} of {all}", grouped_number(replay.equal))];
    if replay.differing() > 0 {
        parts.push(format!("different: {}", grouped_number(replay.differing())));
        let mut unexplained = format!("unexplained: {}", grouped_number(replay.unexplained));
        for cause in &replay.causes {
            if let CauseKind::NotCaptured(missing) = &cause.kind {
                unexplained += &format!(" ({missing}, so nothing was verified)");
                break;
            }
        }
        parts.push(unexplained);
    }
    let others = [
        (replay.damaged, "damaged lines"),
        (replay.unknown_jobs, "of jobs that are not in the queue"),
    ];
    for (number, what) in others {
        if number > 0 {
            parts.push(format!("{what}: {}", grouped_number(number)));
        }
    }
    parts.join("; ")
}

/// The causes that many differences have in common, and advice on each.
fn causes(replay: &Replay) -> Vec<String> {
    let mut lines = Vec::new();
    for cause in replay.causes.iter().take(MAX_CAUSES) {
        lines.push(format!(
            "{}: {}",
            count(cause.lines, "line"),
            sentence(cause)
        ));
        if let Some(advice) = advice(cause, replay) {
            lines.push(format!("  help: {advice}"));
        }
    }
    let more = replay.causes.len().saturating_sub(MAX_CAUSES);
    if more > 0 {
        lines.push(format!("and {}", count(more, "more cause")));
    }
    lines
}

/// What the values have in common.
fn sentence(cause: &Cause) -> String {
    match &cause.kind {
        CauseKind::Formula { origin, text } => {
            format!(
                "the formula in the log is not the one compared here, but that of {origin}: `{text}`"
            )
        }
        CauseKind::EligibleTime => moment(cause.seconds.unwrap_or_default()),
        CauseKind::Decayed(times) => {
            let (captured, more) = if *times > 0 {
                ("before", "more")
            } else {
                ("after", "less")
            };
            let often = count(times.unsigned_abs() as usize, "time");
            format!("captured {captured} the log: all usage in the log has decayed {often} {more}")
        }
        CauseKind::NotWaiting => "the job is not evaluated now".to_owned(),
        CauseKind::NotCaptured(missing) => format!("nothing was verified, because {missing}"),
        CauseKind::NotANumber => "the logged text is not a number".to_owned(),
        CauseKind::Nothing => {
            "no other formula of the site and no other moment gives the values".to_owned()
        }
    }
}

/// When the queue was captured, by the changes of `eligible_time` in seconds: the least and the
/// greatest.
fn moment((least, most): (i64, i64)) -> String {
    let [low, high] = [least, most].map(|seconds| {
        let side = if seconds > 0 { "before" } else { "after" };
        format!("{} {side}", waiting_time(seconds.saturating_abs()))
    });
    if least == most {
        format!("captured {high} the log")
    } else {
        format!("captured between {low} and {high} the cycles of the log")
    }
}

/// What to do about it.
fn advice(cause: &Cause, replay: &Replay) -> Option<String> {
    let differ_mostly = 2 * cause.lines > replay.lines - replay.unknown_jobs;
    let what = match &cause.kind {
        CauseKind::NotCaptured(NotCaptured::Usage) => {
            "`sched_priv/usage`, which only root can read,"
        }
        CauseKind::NotCaptured(NotCaptured::Queues) => "the output of `qstat -Qf -F json`",
        CauseKind::NotCaptured(NotCaptured::EligibleTime) => "the output of `qstat -f -F json`",
        // another formula would change most of the values
        CauseKind::Nothing if differ_mostly => {
            return Some(
                "probably the log has another formula, or the files are of another moment. The scheduler's log does not name \
                 its formula, the server's does (`grep 'job_sort_formula = ' server_logs/*`): compare with that one; or \
                 capture again during a cycle, with `usage`"
                    .to_owned(),
            );
        }
        _ => return None,
    };
    Some(format!(
        "copy {what} at the moment of the cycle, and compare again"
    ))
}
