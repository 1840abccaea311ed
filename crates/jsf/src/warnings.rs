//! What is doubtful about the answer to a question about a site.
//!
//! Nothing is printed here: a command line shows warnings on standard error, and a program finds
//! them under `warnings` of the answer.

use job_sort_formula::diagnostic::{Diagnostic, Message, Severity};
use jsf_openpbs::check::{Checked, FAILURE_CODES};
use jsf_site::Site;

/// The warnings about the files of a site and what is computed from them.
#[derive(Debug, Default)]
pub struct Warnings {
    /// Those that say nothing against the answer, such as about files that it does not need.
    pub beside: Vec<Message>,
    /// Those that belong to the answer: pasted elsewhere without them, it would say nothing of a
    /// missing usage.
    pub of_answer: Vec<Message>,
}

impl Warnings {
    /// Adds those about the files of a site, of which those about these inputs belong to the answer.
    pub(crate) fn add_site(&mut self, site: &Site, inputs: &[impl AsRef<str>]) {
        self.add_files(site, site.warnings_for(inputs));
    }

    /// Adds those about the files of a site, of which those about shares belong to the answer.
    pub(crate) fn add_site_of_shares(&mut self, site: &Site) {
        self.add_files(site, site.warnings_of_shares());
    }

    fn add_files(&mut self, site: &Site, of_answer: Vec<Message>) {
        let mut others = site.warnings();
        others.retain(|warning| !of_answer.contains(warning));
        self.beside.extend(others);
        self.of_answer.extend(of_answer);
    }

    /// Adds warnings that say nothing against the answer.
    pub(crate) fn add<M: Into<Message>>(&mut self, warnings: impl IntoIterator<Item = M>) {
        self.beside.extend(warnings.into_iter().map(Into::into));
    }

    /// Adds what findings give reason to doubt, one sentence each, for a program.
    pub(crate) fn doubt<'f>(&mut self, findings: impl IntoIterator<Item = &'f Diagnostic>) {
        for found in findings {
            if found.severity != Severity::Note {
                let sentence = format!("{}: {}", found.code, found.message);
                self.beside.push(advice(found).after(sentence));
            }
        }
    }
}

/// What the jobs of the queue show of a formula: that it fails for them, and what this does to the
/// scheduler.
pub(crate) fn failures(checked: &Checked) -> impl Iterator<Item = &Diagnostic> {
    let findings = checked.findings.iter();
    findings.filter(|found| FAILURE_CODES.contains(&found.code))
}

/// What a finding advises, after a semicolon.
pub fn advice(found: &Diagnostic) -> Message {
    let mut label = String::new();
    if !found.label.is_empty() {
        label = format!("; {}", found.label);
    }
    match &found.help {
        Some(help) => help.clone().after(label + "; "),
        None => label.into(),
    }
}
