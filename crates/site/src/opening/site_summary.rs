//! What is known of a site, and what is missing, in a few lines.

use job_sort_formula::diagnostic::is_control;
use jsf_openpbs::wall_clock::seconds_of_date;

use crate::opening::file_source::FileSource;
use crate::opening::role::{ExpectedAt, MissingFile, ROLES, Role};
use crate::opening::site_files::SiteFiles;

impl SiteFiles {
    /// What there is and what is missing, in one line.
    pub fn headline(&self) -> String {
        let found: Vec<&str> = self.found().into_iter().map(|(label, _)| label).collect();
        let missing: Vec<&str> = self.missing().map(|file| file.what).collect();
        let mut line = format!("{} {}", self.place(), found.join(", "));
        if !missing.is_empty() {
            line += &format!("; missing: {}", missing.join(", "));
        }
        line
    }

    /// Where the files were found, and when the snapshot was taken.
    fn place(&self) -> String {
        let mut place = "found".to_owned();
        if let Some(root) = &self.root {
            place += &format!(" in `{}`", FileSource::from(root).name());
        }
        place += &self.first(Role::Time).and_then(taken).unwrap_or_default();
        place + ":"
    }

    /// One line for each heading with its files, one for the server's Python, and one for each
    /// missing file with its consequence. A missing usage file is not among them: the site itself
    /// warns of it.
    pub(crate) fn summary(&self, python: String) -> Vec<String> {
        let mut lines = vec![self.place()];
        let mut found = self.found();
        found.push(("python", python));
        let widths = found.iter().map(|(label, _)| label.len());
        let width = widths.max().unwrap_or_default();
        for (label, names) in found {
            lines.push(format!("  {label:width$}  {names}"));
        }
        for file in self.missing() {
            lines.push(format!("missing: {}: {}", file.what, file.consequence));
        }
        lines
    }

    /// Each heading for which there are files, and the names of the files.
    fn found(&self) -> Vec<(&'static str, String)> {
        let mut all: Vec<(&'static str, Vec<&FileSource>)> = Vec::new();
        for (role, source) in self.sources() {
            let heading = role.files().heading;
            match all.last_mut() {
                _ if heading.is_empty() => {}
                Some((last, sources)) if *last == heading => sources.push(source),
                _ => all.push((heading, vec![source])),
            }
        }
        let all = all.into_iter();
        all.map(|(heading, sources)| (heading, self.list_names(&sources)))
            .collect()
    }

    /// The names of files, relative to the folder or the archive; a folder that they share is named
    /// once.
    fn list_names(&self, sources: &[&FileSource]) -> String {
        let root = self.root.as_ref();
        let root = root.map_or_else(String::new, |root| FileSource::from(root).name());
        let names = sources.iter().map(|source| {
            let name = source.name();
            let inside = name.strip_prefix(&*root).filter(|_| !root.is_empty());
            let inside =
                inside.and_then(|rest| rest.strip_prefix(": ").or_else(|| rest.strip_prefix('/')));
            inside
                .or_else(|| name.strip_prefix(&*root).filter(|_| root.ends_with('/')))
                .unwrap_or(&name)
                .to_owned()
        });
        let names: Vec<String> = names.collect();
        let shared = names[0].rfind('/').map_or("", |end| &names[0][..=end]);
        let inside = names.iter().map(|name| name.strip_prefix(shared));
        match inside.collect::<Option<Vec<&str>>>() {
            Some(inside) if inside.len() > 1 && !shared.is_empty() => {
                format!("{shared}: {}", inside.join(", "))
            }
            _ => names.join(", "),
        }
    }

    /// When the jobs of the folder or the archive were collected, in seconds since 1970, if its
    /// file of the time says so.
    pub(crate) fn jobs_taken_at(&self) -> Option<i64> {
        let root = FileSource::from(self.root.as_ref()?).name();
        if !self.first(Role::Queue)?.name().starts_with(&root) {
            return None;
        }
        let text = self.first(Role::Time)?.read_text(Role::Time).ok()?;
        seconds_of_date(text.lines().next()?)
    }

    /// Whether there are neither jobs that wait nor those of a log.
    pub(crate) fn lacks_queue(&self) -> bool {
        !self.has(Role::Queue) && !self.has_jobs_of_log
    }

    /// The files that are expected and missing. A site of Slurm is not expected to have OpenPBS's
    /// files.
    fn missing(&self) -> impl Iterator<Item = &'static MissingFile> {
        let absent = ROLES.iter().filter(|files| !self.has(files.role));
        let expected = absent.filter(|files| files.role != Role::Queue || self.lacks_queue());
        let absent = expected.filter_map(|files| files.missing.as_ref());
        absent.filter(|file| match file.expected {
            ExpectedAt::EverySite => true,
            ExpectedAt::OpenPbs => !self.has(Role::Tree) && !self.has(Role::SlurmConf),
            ExpectedAt::SitesWith(role) => self.has(role),
        })
    }
}

/// When the snapshot was taken, if its file is a short line.
fn taken(source: &FileSource) -> Option<String> {
    let text = source.read_text(Role::Time).ok()?;
    let line = text.lines().next()?.trim();
    let is_short = !line.is_empty() && line.len() < 64;
    (is_short && !line.contains(is_control)).then(|| format!(", taken {line}"))
}
