//! What is known of a site, and what is missing, in a few lines.

use job_sort_formula::diagnostic::is_control;
use jsf_openpbs::amounts::seconds_of_date;

use crate::opening::role::{ExpectedAt, MissingFile, ROLES};
use crate::{FileSource, Role, SiteFiles};

impl SiteFiles {
    /// What there is and what is missing, in one line.
    pub fn headline(&self) -> String {
        let (labels, _): (Vec<&str>, Vec<String>) = self.found().into_iter().unzip();
        let mut line = format!("{} {}", self.place(), labels.join(", "));
        let mut before = "; missing: ";
        for file in self.missing() {
            line += before;
            line += file.what;
            before = ", ";
        }
        line
    }

    /// Where the files were found, and when the snapshot was taken.
    fn place(&self) -> String {
        let mut place = "found".to_owned();
        if let Some(root) = &self.root {
            place += &format!(" in `{}`", FileSource::from(root).name());
        }
        if let Some(source) = self.first(Role::Time)
            && let Some(taken) = taken(source)
        {
            place += &taken;
        }
        place + ":"
    }

    /// One line for each heading with its files, one for the server's Python, and one for each
    /// missing file with its consequence. A missing usage file is not among them: the site itself
    /// warns of it.
    pub(crate) fn summary(&self, python: String) -> Vec<String> {
        let mut lines = vec![self.place()];
        let mut found = self.found();
        found.push(("python", python));
        let mut width = 0;
        for (label, _) in &found {
            width = width.max(label.len());
        }
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
        let mut found = Vec::new();
        for (heading, sources) in all {
            found.push((heading, self.list_names(&sources)));
        }
        found
    }

    /// The names of files, relative to the folder or the archive; a folder that they share is named
    /// once.
    fn list_names(&self, sources: &[&FileSource]) -> String {
        let mut names = Vec::new();
        for source in sources {
            let name = source.name();
            names.push(match &self.root {
                Some(root) => inside(&FileSource::from(root).name(), &name).to_owned(),
                None => name,
            });
        }
        let shared = match names[0].rfind('/') {
            Some(end) if names.len() > 1 => &names[0][..=end],
            _ => return names.join(", "),
        };
        let mut in_shared = Vec::new();
        for name in &names {
            in_shared.extend(name.strip_prefix(shared));
        }
        if in_shared.len() == names.len() {
            format!("{shared}: {}", in_shared.join(", "))
        } else {
            names.join(", ")
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
    fn missing(&self) -> Vec<&'static MissingFile> {
        let mut missing = Vec::new();
        for files in &ROLES {
            if self.has(files.role) || files.role == Role::Queue && !self.lacks_queue() {
                continue;
            }
            let Some(file) = &files.missing else {
                continue;
            };
            let is_expected = match file.expected {
                ExpectedAt::EverySite => true,
                ExpectedAt::OpenPbs => !self.has(Role::Tree) && !self.has(Role::SlurmConf),
                ExpectedAt::SitesWith(role) => self.has(role),
            };
            if is_expected {
                missing.push(file);
            }
        }
        missing
    }
}

/// When the snapshot was taken, if its file is a short line.
fn taken(source: &FileSource) -> Option<String> {
    let text = source.read_text(Role::Time).ok()?;
    let line = text.lines().next()?.trim();
    let is_short = !line.is_empty() && line.len() < 64;
    if !is_short || line.contains(is_control) {
        return None;
    }
    Some(format!(", taken {line}"))
}

/// The name of a file in a folder or an archive, relative to that.
fn inside<'n>(root: &str, name: &'n str) -> &'n str {
    let Some(rest) = name.strip_prefix(root) else {
        return name;
    };
    if let Some(inside) = rest.strip_prefix(": ").or(rest.strip_prefix('/')) {
        return inside;
    }
    if root.ends_with('/') { rest } else { name }
}
