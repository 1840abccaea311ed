//! What the commands that rank a queue have in common: the site is opened, the formula read from
//! the arguments, a file or the site, the jobs ranked, and those selected that are shown.

use std::collections::HashSet;
use std::path::Path;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::fairshare::{NodeId, ShareTree};
use job_sort_formula::jobs::{FoundJobs, UnknownJob};
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};
use job_sort_formula::{Formula, JobTable};
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::check::FAILURE_CODES;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{FormulaText, JobsToRank, RankRequest, RankedQueue, Rule, Site, SiteError};

use crate::cli::args::{FilterArgs, FormulaArgs, FormulaOptions, JobArgs, QueueArgs};
use crate::cli::messages::{
    Progress, WIDTH, Warnings, draw, draw_all, in_options, print_message, warn, warn_all,
};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::site::STDIN;
use crate::view::findings::{draw_finding, limit_each_code, more_findings};
use crate::view::words::{clock_time, count, printable_lines};

/// The most names that an error repeats, and for which similar ones are looked for.
pub(crate) const MAX_UNKNOWN: usize = 10;

/// The site and the formula of a command that ranks its queue.
pub(crate) struct OpenedQueue {
    pub(crate) site: Site,
    pub(crate) given: GivenFormula,
    pub(crate) formula: Formula,
}

impl OpenedQueue {
    /// Opens the site and reads the formula, then says what was found there; of a formula that does
    /// not parse only its finding is shown.
    pub(crate) fn open(
        arguments: &QueueArgs,
        is_document: bool,
    ) -> Result<(Self, Warnings), CliError> {
        let site = arguments.open()?;
        let source = read_formula(&arguments.formula, Some(&site))?;
        let given = GivenFormula::new(source, site.numbers());
        let formula = given.parsed()?.clone();
        arguments.site.show(&site, is_document);
        let mut warnings = Warnings::new(is_document);
        warnings.add_site(&site, &site.warnings_for(&formula.names()));
        let opened = Self {
            site,
            given,
            formula,
        };
        Ok((opened, warnings))
    }

    /// Reads the jobs, and shows what is found in them and in the formula: the findings of this
    /// severity at least, and all if the formula is not arithmetic.
    ///
    /// # Errors
    /// The jobs cannot be read, or the formula is not arithmetic.
    pub(crate) fn read_jobs(
        &self,
        request: &RankRequest<'_>,
        least_drawn: Option<Severity>,
        warnings: &mut Warnings,
    ) -> Result<JobsToRank, CliError> {
        let progress = Progress::start("reading the jobs");
        let mut read = self.site.read_jobs_to_rank(request)?;
        drop(progress);
        warnings.show(&std::mem::take(&mut read.jobs.warnings));
        let is_arithmetic = read.program.is_some();
        let mut drawn = read.findings.clone();
        drawn.retain(|found| !is_arithmetic || least_drawn.is_some_and(|it| found.severity >= it));
        self.given.draw(drawn);
        if is_arithmetic {
            Ok(read)
        } else {
            Err(CliError::Findings)
        }
    }

    /// Ranks the jobs.
    pub(crate) fn rank(
        &self,
        read: JobsToRank,
        warnings: &mut Warnings,
    ) -> Result<RankedQueue, CliError> {
        let progress = Progress::start("ranking the jobs");
        let mut queue = self.site.rank_read_jobs(read)?;
        drop(progress);
        if let Some(at) = self.site.priorities_at() {
            queue.rules.push(Rule::new("ages at", clock_time(at)));
        }
        warnings.show(&queue.warnings);
        Ok(queue)
    }

    /// The rows of jobs, each once, in the order in which they are given; none if none is. Warns of
    /// those that do not exist.
    ///
    /// # Errors
    /// None of them exists.
    pub(crate) fn find_or_warn(
        &self,
        named: &JobArgs,
        table: &JobTable,
    ) -> Result<Vec<usize>, CliError> {
        let given = job_ids(&named.job, &self.site);
        let FoundJobs { rows, unmatched } = table.find_all_jobs(&given);
        let is_one = unmatched.len() == 1;
        let unmatched = unknown_job_sentences(&unmatched, is_one, &self.site, table);
        if rows.is_empty() && !given.is_empty() {
            return Err(unknown_jobs_error(unmatched).into());
        }
        warn_all(&unmatched);
        warn_of_job_id(self.given.text(), &named.job, table);
        Ok(rows)
    }
}

/// Warns if the formula is the number of a job, which was to be one more `--job`.
fn warn_of_job_id(formula: &str, given: &[String], table: &JobTable) {
    let formula = formula.trim();
    if !given.is_empty()
        && formula.bytes().all(|byte| byte.is_ascii_digit())
        && table.find_jobs(formula).is_ok()
    {
        let jobs = given.join(",");
        warn(format_args!(
            "`{formula}` is taken as the formula, and a job has this number; for both: --job {jobs},{formula}"
        ));
    }
}

/// Checks the formula of a command that does not rank with it: draws the errors with which it
/// cannot work, and warns of the jobs for which it fails.
pub(crate) fn check_and_report(site: &Site, given: &GivenFormula) -> Result<Outcome, CliError> {
    let checked = site.check(&given.submitted)?;
    let mut errors = checked.findings;
    errors
        .retain(|found| found.severity == Severity::Error && !FAILURE_CODES.contains(&found.code));
    draw_all(&given.source, &errors);
    if !errors.is_empty() {
        return Ok(Outcome::Findings);
    }
    if let Some(jobs) = checked.jobs
        && jobs.errors > 0
    {
        warn(format_args!(
            "the formula fails for {} of {} jobs; `jsf check` says why",
            jobs.errors, jobs.total
        ));
    }
    Ok(Outcome::Fine)
}

/// Takes the formula from the argument or the file, else from the site; `-` is standard input.
pub(crate) fn read_formula(
    arguments: &FormulaArgs,
    site: Option<&Site>,
) -> Result<FormulaText, CliError> {
    let FormulaOptions { text: option, file } = arguments.options;
    match (&arguments.formula, &arguments.formula_file, site) {
        // a file, or standard input, is one of the site's since `SiteArgs::open`, which reads it once
        (Some(text), _, Some(site)) if text == STDIN => Ok(site.formula_text()?),
        (Some(text), ..) if text == STDIN => Ok(FormulaText::read(Path::new(STDIN))?),
        (Some(text), ..) if looks_like_an_option(text) => {
            let hint = if text.starts_with("--formula") {
                "give the formula by itself, in single quotes, or the file of it with -f"
            } else {
                "a formula cannot begin with `--` here, put it into brackets"
            };
            Err(CliError::usage(format!(
                "unexpected argument `{text}`: no such option; {hint}"
            )))
        }
        // the text of an option is often the output of another command, which has failed then
        (Some(text), ..) if option.starts_with("--") && text.trim().is_empty() => Err(
            CliError::usage(format!("the formula of {option} is empty: give its text")),
        ),
        (Some(text), ..) => {
            if names_a_file(text) {
                print_message(
                    "help",
                    format_args!("a file `{text}` exists; to read the formula from it, use {file}"),
                );
            } else if looks_like_a_path(text) {
                print_message(
                    "help",
                    format_args!(
                        "`{text}` is read as a formula; {file} reads one from a file, but no such file exists"
                    ),
                );
            }
            let formula = FormulaText::new(text)?;
            Ok(FormulaText {
                origin: option.to_owned(),
                ..formula
            })
        }
        (None, Some(_), Some(site)) => Ok(site.formula_text()?),
        (None, Some(path), None) => Ok(FormulaText::read(path)?),
        (None, None, Some(site)) => Ok(site.formula_text()?),
        (None, None, None) => {
            let message = "no formula: give its text, -f FILE, or - for standard input";
            Err(SiteError::Missing(message.into()).into())
        }
    }
}

/// A formula that was given: its text with the source, and as Python reads it.
pub(crate) struct GivenFormula {
    pub(crate) source: FormulaText,
    pub(crate) submitted: FormulaSubmission,
}

impl GivenFormula {
    pub(crate) fn new(source: FormulaText, numbers: NumberMode) -> Self {
        Self {
            submitted: source.submitted(numbers),
            source,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.source.text
    }

    /// The formula, if it parses; else the finding is drawn. So is the finding on lines that PBS
    /// leaves out.
    pub(crate) fn parsed(&self) -> Result<&Formula, CliError> {
        if let Some(found) = self.submitted.lines_left_out() {
            draw(&self.source, &found);
        }
        match self.submitted.formula() {
            Ok(formula) => Ok(formula),
            Err(refusal) => {
                draw(&self.source, &refusal.finding);
                Err(CliError::Findings)
            }
        }
    }

    /// Draws findings on the parsed formula under the text that was submitted.
    pub(crate) fn draw(&self, findings: impl IntoIterator<Item = Diagnostic>) {
        draw_all(&self.source, &self.in_source(findings));
    }

    /// Draws findings on the submitted text as a page shows them, without notes: of each code the
    /// first ten, then how many more there are.
    pub(crate) fn drawn_on_page(&self, findings: &[Diagnostic]) -> Vec<String> {
        let findings = findings.iter();
        let (shown, others) = limit_each_code(findings.filter(|it| it.severity != Severity::Note));
        let mut drawn = Vec::new();
        for found in shown {
            let found = found.clone().worded(in_options);
            drawn.push(draw_finding(&self.source, &found, false, Some(WIDTH)));
        }
        for (code, count) in others {
            drawn.push(more_findings(count, code));
        }
        drawn
    }

    /// Findings on the parsed formula as findings on the submitted text.
    pub(crate) fn in_source(
        &self,
        findings: impl IntoIterator<Item = Diagnostic>,
    ) -> Vec<Diagnostic> {
        let mut placed = Vec::new();
        for found in findings {
            placed.push(self.submitted.in_source(found));
        }
        placed
    }
}

/// The text of a formula without characters that a terminal could obey: blanks become spaces,
/// others are escaped.
///
/// # Errors
/// What is printed would be another formula.
pub(crate) fn printable_formula(
    source: &FormulaText,
    text: &str,
    formula: &Formula,
    numbers: NumberMode,
) -> Result<String, CliError> {
    let spaced = text.replace("\r\n", "\n").replace(['\r', '\x0c'], " ");
    let printed = printable_lines(&spaced);
    let read = source.clone().with_text(printed.as_ref().to_owned());
    if let Ok(read) = read.submitted(numbers).formula()
        && read.to_string() == formula.to_string()
    {
        return Ok(printed.into_owned());
    }
    Err(CliError::usage(
        "the formula cannot be printed: it has control characters, or is too long with its spaces",
    ))
}

/// Whether a formula is a misspelled option rather than a formula with two signs.
pub(crate) fn looks_like_an_option(formula: &str) -> bool {
    let name = formula.strip_prefix("--").unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether a formula is probably the path of a file that does not exist.
fn looks_like_a_path(formula: &str) -> bool {
    let extension = Path::new(formula).extension().unwrap_or_default();
    let is_of_a_file = matches!(
        extension.to_str(),
        Some("txt" | "json" | "conf" | "cfg" | "py" | "formula" | "gz")
    );
    is_of_a_file && !formula.contains(char::is_whitespace)
}

/// Whether a formula is also the path of a file, which is probably what was meant.
fn names_a_file(formula: &str) -> bool {
    Path::new(formula).is_file()
}

impl FilterArgs {
    /// The filter of an answer.
    pub(crate) fn filter(&self) -> JobFilter<'_> {
        JobFilter {
            jobs: &self.jobs.job,
            entities: &self.entities.entity,
            queues: &self.queue_name,
        }
    }
}

/// The rows of the jobs to show, in their order. Warns of what matches no job.
///
/// # Errors
/// None of the jobs, entities and queues of the filter exists.
pub(crate) fn select_rows_or_warn(
    filter: JobFilter<'_>,
    rows: Vec<usize>,
    site: &Site,
    table: &JobTable,
) -> Result<Vec<usize>, CliError> {
    if filter.is_empty() {
        return Ok(rows);
    }
    let tree = match filter.entities {
        [] => None,
        _ => site.tree_of_jobs(table)?,
    };
    let jobs = job_ids(filter.jobs, site);
    let filter = JobFilter {
        jobs: &jobs,
        ..filter
    };
    let filtered = filter.select(rows, table, tree.as_ref());
    let is_one = filtered.unknown_jobs.len() + filtered.unmatched.len() == 1;
    let mut unmatched = unknown_job_sentences(&filtered.unknown_jobs, is_one, site, table);
    unmatched.extend(filtered.unmatched);
    if !filtered.has_known && !filter.queues.iter().any(|name| site.has_queue(name)) {
        return Err(unknown_jobs_error(unmatched).into());
    }
    warn_all(&unmatched);
    Ok(filtered.rows)
}

/// The ids as the jobs of the site have them.
fn job_ids(given: &[String], site: &Site) -> Vec<String> {
    given.iter().map(|id| site.job_id(id).to_owned()).collect()
}

/// What is said of ids that no job has: that the job has ended, or how jobs are called. `is_one`:
/// nothing else that was asked for is missing.
fn unknown_job_sentences(
    unknown: &[UnknownJob],
    is_one: bool,
    site: &Site,
    table: &JobTable,
) -> Vec<String> {
    let mut sentences = Vec::new();
    for job in unknown {
        let mut sentence = job.to_string();
        if let Some(ended) = site.ended_job(&job.id) {
            sentence = ended;
        } else if is_one && job.similar.is_empty() && !table.is_empty() {
            let jobs = count(table.len(), "job");
            sentence += &format!("; there are {jobs}, such as `{}`", table.id(0));
        }
        sentences.push(sentence);
    }
    sentences
}

/// The error if nothing that is asked for exists.
pub(crate) fn unknown_jobs_error(mut unknown: Vec<String>) -> SiteError {
    let more = unknown.len().saturating_sub(MAX_UNKNOWN);
    unknown.truncate(MAX_UNKNOWN);
    if more > 0 {
        unknown.push(format!("and {}", count(more, "more name")));
    }
    SiteError::Missing(unknown.join("; ").into())
}

/// What is said if each filter by itself matches a job, and no job matches them all.
pub(crate) const NO_MATCH: &str = "no job matches all of the filters";

/// The jobs to show; an empty list does not restrict them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JobFilter<'a> {
    /// The ids, with or without the server: `12` or `12.vm`.
    pub(crate) jobs: &'a [String],
    /// The fair-share entities, or groups, which mean all entities in them.
    pub(crate) entities: &'a [String],
    /// The queues.
    pub(crate) queues: &'a [String],
}

/// The rows that a filter leaves.
#[derive(Debug, Clone)]
struct Filtered {
    /// The rows, in their order.
    rows: Vec<usize>,
    /// The ids that no job has.
    unknown_jobs: Vec<UnknownJob>,
    /// What else matches no job, and which names are similar, one sentence each.
    unmatched: Vec<String>,
    /// Whether a job, an entity or a queue of the filter exists, in the table or in the tree.
    has_known: bool,
}

impl JobFilter<'_> {
    /// Whether all jobs are shown.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.entities.is_empty() && self.queues.is_empty()
    }

    /// Keeps the rows of the jobs to show; `tree` contains the groups.
    fn select(&self, mut rows: Vec<usize>, table: &JobTable, tree: Option<&ShareTree>) -> Filtered {
        let FoundJobs {
            rows: found,
            unmatched: unknown_jobs,
        } = table.find_all_jobs(self.jobs);
        let mut unmatched = Vec::new();
        let mut has_known = !found.is_empty();
        if !self.entities.is_empty() {
            let (wanted, is_known) =
                select_entities(self.entities, &rows, table, tree, &mut unmatched);
            has_known |= is_known;
            rows.retain(|&row| wanted[table.entity_index(row)]);
        }
        if !self.queues.is_empty() {
            let queues = table.queues().iter().map(|queue| &**queue);
            let known: HashSet<&str> = queues.clone().collect();
            let wanted: HashSet<&str> = self.queues.iter().map(String::as_str).collect();
            let mut unknown = 0;
            for name in self.queues {
                if known.contains(name.as_str()) {
                    has_known = true;
                } else {
                    let similar = did_you_mean(name, known_names(unknown, queues.clone()));
                    unmatched.push(format!("no job is in queue `{name}`{similar}"));
                    unknown += 1;
                }
            }
            rows.retain(|&row| wanted.contains(table.queue(row)));
        }
        if !self.jobs.is_empty() {
            let found = HashSet::<usize>::from_iter(found);
            rows.retain(|row| found.contains(row));
        }
        let all_match = unknown_jobs.is_empty() && unmatched.is_empty();
        if rows.is_empty() && all_match && !self.is_empty() && !table.is_empty() {
            unmatched.push(NO_MATCH.to_owned());
        }
        Filtered {
            rows,
            unknown_jobs,
            unmatched,
            has_known,
        }
    }
}

/// Whether each entity of the table has one of the names, or is in a group of such a name; and
/// whether any of the names exists. Names that match no row are added to `unmatched`.
fn select_entities(
    names: &[String],
    rows: &[usize],
    table: &JobTable,
    tree: Option<&ShareTree>,
    unmatched: &mut Vec<String>,
) -> (Vec<bool>, bool) {
    let entities = table.entities();
    let known: HashSet<&str> = entities.iter().map(AsRef::as_ref).collect();
    // the entities that have rows, and the nodes that these are or are below
    let mut with_rows: HashSet<&str> = HashSet::new();
    with_rows.extend(rows.iter().map(|&row| table.entity(row)));
    let mut nodes_with_rows: HashSet<NodeId> = HashSet::new();
    for entity in &with_rows {
        nodes_with_rows.extend(paths_of(entity, tree));
    }
    let mut wanted: HashSet<&str> = HashSet::new();
    let mut wanted_nodes: HashSet<NodeId> = HashSet::new();
    let mut has_known = false;
    let mut unknown = 0;
    for name in names {
        if !wanted.insert(name) {
            continue;
        }
        let named = match tree {
            Some(tree) => tree.candidates(name),
            None => Vec::new(),
        };
        wanted_nodes.extend(&named);
        has_known |= known.contains(&**name) || !named.is_empty();
        if with_rows.contains(&**name) || named.iter().any(|node| nodes_with_rows.contains(node)) {
            continue;
        }
        if !named.is_empty() {
            unmatched.push(format!(
                "no job belongs to `{name}`, which is in the fair-share tree"
            ));
            continue;
        }
        let nodes = tree.into_iter().flat_map(node_names);
        let known = entities.iter().map(AsRef::as_ref).chain(nodes);
        let similar = did_you_mean(name, known_names(unknown, known));
        unmatched.push(format!(
            "no job belongs to an entity or a group `{name}`{similar}"
        ));
        unknown += 1;
    }
    let mut is_wanted = Vec::new();
    for entity in entities {
        let mut path = paths_of(entity, tree).into_iter();
        let is_below = path.any(|node| wanted_nodes.contains(&node));
        is_wanted.push(is_below || wanted.contains(&**entity));
    }
    (is_wanted, has_known)
}

fn node_names(tree: &ShareTree) -> impl Iterator<Item = &str> {
    tree.nodes().map(|node| tree.name(node))
}

/// The nodes that an entity may be, and those above them.
fn paths_of(entity: &str, tree: Option<&ShareTree>) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    if let Some(tree) = tree {
        for node in tree.candidates(entity) {
            nodes.push(node);
            nodes.extend(tree.ancestors(node));
        }
    }
    nodes
}

/// The most unknown names for which similar ones are searched: each search compares all names.
const MAX_SUGGESTED: usize = 3;

/// The names that are compared with an unknown one, before which `number` others were unknown.
fn known_names<'a>(
    number: usize,
    names: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = &'a str> {
    let is_compared = number < MAX_SUGGESTED;
    let most = if is_compared { MAX_COMPARED } else { 0 };
    names.take(most)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use job_sort_formula::fairshare::{Member, Naming, TreeBuilder};
    use job_sort_formula::jobs::Job;

    use super::*;

    /// Whether an entity has the name or is in a group of it, found by comparing it with every
    /// group.
    fn is_named(entity: &str, name: &str, tree: &ShareTree) -> bool {
        let groups = tree.candidates(name);
        let nodes = tree
            .candidates(entity)
            .into_iter()
            .flat_map(|node| iter::once(node).chain(tree.ancestors(node)));
        entity == name || nodes.into_iter().any(|node| groups.contains(&node))
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, below: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % below
        }

        fn names(&mut self, count: usize) -> Vec<String> {
            let names = (0..count).map(|_| match self.below(4) {
                0 => format!("n{}/n{}", self.below(8), self.below(8)),
                _ => format!("n{}", self.below(10)),
            });
            names.collect()
        }
    }

    fn table(entities: &[String]) -> (JobTable, Vec<usize>) {
        let mut table = JobTable::new([""; 0]);
        for (row, entity) in entities.iter().enumerate() {
            table
                .push(
                    &Job {
                        id: &format!("{row}.vm"),
                        entity,
                        ..Job::default()
                    },
                    &[],
                )
                .expect("a new id");
        }
        (table, (0..entities.len()).collect())
    }

    #[test]
    fn many_names_select_as_each_by_itself() {
        let mut random = Random(1);
        for _ in 0..200 {
            let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
            let mut groups = vec![builder.root()];
            for _ in 0..15 {
                let parent = groups[random.below(groups.len())];
                let name = format!("n{}", random.below(8));
                if random.below(2) == 0 {
                    groups.extend(builder.add(parent, Member::group(name)));
                } else {
                    // a group may have the name already
                    let _ = builder.add(parent, Member::entity(name));
                }
            }
            let tree = builder.finish();
            let entities = random.names(6);
            let names = random.names(4);
            let (table, mut rows) = table(&entities);
            rows.retain(|_| random.below(4) > 0);
            let filter = JobFilter {
                entities: &names,
                ..JobFilter::default()
            };
            let Filtered {
                rows: found,
                unmatched,
                has_known,
                ..
            } = filter.select(rows.clone(), &table, Some(&tree));
            let wanted = rows.iter().copied().filter(|row| {
                names
                    .iter()
                    .any(|name| is_named(table.entity(*row), name, &tree))
            });
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{names:?}");
            let without_jobs: HashSet<&String> = names
                .iter()
                .filter(|name| {
                    rows.iter()
                        .all(|row| !is_named(table.entity(*row), name, &tree))
                })
                .collect();
            assert_eq!(unmatched.len(), without_jobs.len(), "{unmatched:?}");
            let exist = names
                .iter()
                .any(|name| entities.contains(name) || !tree.candidates(name).is_empty());
            assert_eq!(has_known, exist, "{names:?}");
            for name in without_jobs {
                assert!(
                    unmatched
                        .iter()
                        .any(|one| one.contains(&format!("`{name}`"))),
                    "{name}: {unmatched:?}"
                );
            }
        }
    }

    #[test]
    fn tens_of_thousands_of_names_are_not_compared_with_every_entity() {
        let names: Vec<String> = (0..80_000).map(|number| format!("u{number}")).collect();
        let mut builder = TreeBuilder::new("root");
        for name in &names[..60_000] {
            builder
                .add(builder.root(), Member::entity(name.clone()))
                .expect("sound");
        }
        let tree = builder.finish();
        let (table, rows) = table(&names[..50_000]);
        let filter = JobFilter {
            entities: &names[40_000..],
            ..JobFilter::default()
        };
        let Filtered {
            rows, unmatched, ..
        } = filter.select(rows, &table, Some(&tree));
        assert_eq!((rows.len(), unmatched.len()), (10_000, 30_000));
        assert!(
            unmatched[0].ends_with("which is in the fair-share tree"),
            "{}",
            unmatched[0]
        );
    }
}
