//! What is doubtful about the files of a site, one sentence each: about the files as such, the order
//! of the jobs, or the shares.

use job_sort_formula::diagnostic::{Message, limit_each_kind};

use crate::{Role, Site, SiteError, SiteFiles};

/// The most warnings of one kind that are shown; the others are counted.
pub const MAX_WARNINGS: usize = 10;

/// What is doubtful about the files of a site.
#[derive(Debug, Default)]
pub struct SiteWarnings {
    pub of_files: FileWarnings,
    /// Those about the order of the jobs and its settings.
    pub of_order: FileWarnings,
    pub of_shares: FileWarnings,
}

impl SiteWarnings {
    pub fn new(is_strict: bool) -> Self {
        Self {
            of_files: FileWarnings::new(is_strict),
            of_order: FileWarnings::new(is_strict),
            of_shares: FileWarnings::new(is_strict),
        }
    }
}

impl Site {
    /// Warns about the files as such, and about those that are not used.
    ///
    /// # Errors
    /// A file is there more than once, if the rules of the site are strict.
    pub(crate) fn warn_of_files(&mut self, files: &SiteFiles) -> Result<(), SiteError> {
        let warnings = &mut self.warnings.of_files;
        for warning in &files.warnings {
            warnings.push(&**warning);
        }
        // only a scheduling cycle needs these, so that other commands do not fail
        for (role, what) in [
            (Role::Nodes, "nodes"),
            (Role::Reservations, "reservations"),
            (Role::Holidays, "holidays"),
            (Role::DedicatedTime, "dedicated times"),
        ] {
            if let Some(source) = files.first(role)
                && let Err(error) = source.check(role)
            {
                warnings.push(format!("the {what} are not used: {error}"));
            }
        }
        warnings.extend_unless_strict(files.repeated.iter().cloned())
    }

    /// The warnings about the files that were read when the site was opened, one sentence each;
    /// without those about jobs.
    pub fn warnings(&self) -> Vec<Message> {
        [
            self.warnings.of_files.all.clone(),
            self.warnings_of_shares(),
        ]
        .concat()
    }

    /// The warnings that say why values and places under a formula with these names may be wrong:
    /// those about the order of the jobs and its settings, and those about fair share where the
    /// formula or the order uses it.
    pub fn warnings_for(&self, names: &[impl AsRef<str>]) -> Vec<Message> {
        let mut warnings = self.warnings.of_order.all.clone();
        if let Some(slurm) = &self.slurm {
            warnings.extend_from_slice(&slurm.of_jobs);
        }
        if self.needs_shares(names) {
            warnings.extend_from_slice(&self.warnings.of_shares.all);
        }
        warnings
    }

    /// The warnings that say why shares may be wrong.
    pub fn warnings_of_shares(&self) -> Vec<Message> {
        [&*self.warnings.of_order.all, &self.warnings.of_shares.all].concat()
    }
}

/// Sentences about the files that are read.
#[derive(Debug, Default)]
pub struct FileWarnings {
    /// Whether the rules of the site are strict.
    is_strict: bool,
    pub all: Vec<Message>,
}

impl FileWarnings {
    pub fn new(is_strict: bool) -> Self {
        Self {
            is_strict,
            all: Vec::new(),
        }
    }

    pub fn push(&mut self, message: impl Into<Message>) {
        self.all.push(message.into());
    }

    /// Adds a few messages of each kind.
    pub fn extend(&mut self, messages: impl IntoIterator<Item = impl Into<Message>>) {
        let messages = messages.into_iter().map(Into::into);
        self.all.extend(limit_each_kind::<Message>(messages));
    }

    /// Adds a few messages of each kind about what is refused where the rules are strict, such as
    /// what a file gives twice.
    ///
    /// # Errors
    /// The first of them, if the rules are strict.
    pub fn extend_unless_strict(
        &mut self,
        messages: impl IntoIterator<Item = impl Into<Message>>,
    ) -> Result<(), SiteError> {
        let messages: Vec<Message> = messages.into_iter().map(Into::into).collect();
        self.refuse_if_strict(messages.first().cloned())?;
        self.extend(messages);
        Ok(())
    }

    /// Refuses what a message is about where the rules are strict.
    ///
    /// # Errors
    /// The first message, if the rules are strict.
    pub fn refuse_if_strict(
        &self,
        messages: impl IntoIterator<Item = Message>,
    ) -> Result<(), SiteError> {
        match messages.into_iter().next() {
            Some(first) if self.is_strict => Err(SiteError::Content(first)),
            _ => Ok(()),
        }
    }
}

/// A few messages of each kind about a file.
pub fn in_file(name: &str, messages: impl IntoIterator<Item = impl ToString>) -> Vec<Message> {
    let messages = messages.into_iter().map(|message| message.to_string());
    let mut in_file = Vec::new();
    // limited here, so that the line that says how many more there are names the file, too
    for message in limit_each_kind(messages) {
        in_file.push(format!("`{name}`: {message}").into());
    }
    in_file
}
