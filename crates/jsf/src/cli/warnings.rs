//! The warnings about what an answer is computed from: those that say why it may be wrong are a
//! part of it.

use job_sort_formula::diagnostic::{Message, limit_each_kind};
use jsf_site::Site;

use crate::cli::document::is_on_screen;
use crate::cli::need::with_options;
use crate::cli::warn;

/// Warnings, each of them once: of each kind the first ten, then how many more there are. Standard
/// error has those of the answer too, unless a terminal shows the answer: a person reads them once.
pub(crate) struct Warnings {
    /// Whether those of the answer are left to it.
    are_left: bool,
    /// Those that standard error has.
    shown: Vec<String>,
    of_answer: Vec<String>,
}

impl Warnings {
    /// No warnings yet. `is_for_people`: people read the answer.
    pub(crate) fn new(is_for_people: bool) -> Self {
        Self {
            are_left: is_for_people && is_on_screen(),
            shown: Vec::new(),
            of_answer: Vec::new(),
        }
    }

    /// Adds the warnings about the files of a site, of which these belong to the answer.
    pub(crate) fn add_site(&mut self, site: &Site, of_answer: &[Message]) {
        let mut others = site.warnings();
        others.retain(|warning| !of_answer.contains(warning));
        self.show(&others);
        self.add(of_answer);
    }

    /// Shows warnings that do not belong to the answer.
    pub(crate) fn show<M: Clone + Into<Message>>(&mut self, messages: &[M]) {
        self.show_lines(lines(messages));
    }

    /// Adds warnings that belong to the answer.
    pub(crate) fn add<M: Clone + Into<Message>>(&mut self, messages: &[M]) {
        let mut lines = lines(messages);
        if !self.are_left {
            self.show_lines(lines.clone());
        }
        lines.retain(|line| !self.of_answer.contains(line));
        self.of_answer.extend(lines);
    }

    fn show_lines(&mut self, mut lines: Vec<String>) {
        lines.retain(|line| !self.shown.contains(line));
        lines.iter().for_each(warn);
        self.shown.extend(lines);
    }

    /// The lines of the answer.
    pub(crate) fn into_answer(mut self) -> Vec<String> {
        std::mem::take(&mut self.of_answer)
    }
}

impl Drop for Warnings {
    /// Without an answer, standard error alone can have them.
    fn drop(&mut self) {
        if self.are_left {
            self.of_answer.iter().for_each(warn);
        }
    }
}

fn lines<M: Clone + Into<Message>>(messages: &[M]) -> Vec<String> {
    limit_each_kind(
        messages
            .iter()
            .map(|message| with_options(&message.clone().into())),
    )
}
