//! What is known of a site and what is missing, in one line or in a few: its files by their headings,
//! the moment of a snapshot, and what follows from a missing file.

use job_sort_formula::diagnostic::is_control;
use jsf_openpbs::times::seconds_of_date;

use crate::files::file_role::ROLES;
use crate::{FileSource, Role, Site, SiteFiles};

impl Site {
    /// The version of Python, and in parentheses what says so, or that it is assumed.
    pub fn python_in_words(&self) -> String {
        let source = self.python.source.as_deref();
        let source = source.unwrap_or("assumed, as no file says it");
        format!("{} ({source})", self.python.version)
    }

    /// What there is and what follows from what is missing: a line for each kind of file, with the
    /// files, one for the server's Python, and one for each missing file.
    pub fn summary(&self) -> Vec<String> {
        self.files.summary(self.python_in_words())
    }
}

impl SiteFiles {
    /// What there is and what is missing, in one line.
    pub fn headline(&self) -> String {
        let found: Vec<&str> = self.found().iter().map(|(heading, _)| *heading).collect();
        let missing: Vec<&str> = self.missing().iter().map(|(file, _)| *file).collect();
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
        let width = found.iter().map(|(label, _)| label.len()).max();
        let width = width.unwrap_or_default();
        for (label, names) in found {
            lines.push(format!("  {label:width$}  {names}"));
        }
        for (file, consequence) in self.missing() {
            lines.push(format!("missing: {file}: {consequence}"));
        }
        lines
    }

    /// Each heading for which there are files, and the names of the files, relative to the folder or the
    /// archive.
    fn found(&self) -> Vec<(&'static str, String)> {
        let root = self.root.as_ref().map(|root| FileSource::from(root).name());
        let mut found: Vec<(&'static str, String)> = Vec::new();
        for (role, source) in self.sources() {
            let name = source.name();
            let name = inside(root.as_deref(), &name);
            let heading = role.files().heading;
            match found.last_mut() {
                _ if heading.is_empty() => {}
                Some((last, names)) if *last == heading => *names += &format!(", {name}"),
                _ => found.push((heading, name.to_owned())),
            }
        }
        found
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
    fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let missing = ROLES
            .iter()
            .filter(|files| !self.has(files.role) && files.role.is_expected(self));
        missing.filter_map(|files| files.missing).collect()
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

/// The name of a file in a folder or an archive, if it was found there, relative to that.
fn inside<'n>(root: Option<&str>, name: &'n str) -> &'n str {
    let Some(root) = root else { return name };
    let Some(rest) = name.strip_prefix(root) else {
        return name;
    };
    match rest.strip_prefix(": ").or(rest.strip_prefix('/')) {
        Some(inside) => inside,
        None if root.ends_with('/') => rest,
        None => name,
    }
}
