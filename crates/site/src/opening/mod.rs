//! Opening a site: which files it has, and their bytes.
//!
//! In: the path of a folder or an archive, or single files with their roles; a site as one block of
//! bytes. Out: [`SiteFiles`](site_files::SiteFiles), each of which is read within limits,
//! decompressed and checked for the content of its role.

pub mod archive;
pub mod bundle;
pub mod compression;
pub mod file_source;
pub mod layout;
pub mod role;
pub mod site_files;
pub mod site_summary;

use std::fmt::Display;

use job_sort_formula::diagnostic::{Message, limit_each_kind};

use crate::SiteError;

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
        let mut messages = messages.into_iter();
        if self.is_strict
            && let Some(first) = messages.next()
        {
            return Err(SiteError::Content(first.into()));
        }
        self.extend(messages);
        Ok(())
    }
}

/// The messages about a file.
pub fn in_file(
    name: &str,
    messages: impl IntoIterator<Item = impl Display>,
) -> impl Iterator<Item = Message> {
    messages
        .into_iter()
        .map(move |message| format!("`{name}`: {message}").into())
}
