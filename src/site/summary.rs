//! What is known of a site, and what is missing, in a few lines.

use super::files::SiteFiles;
use super::source::FileSource;

impl SiteFiles {
    /// The files that are there, and what follows from each that is missing, one line each. A missing usage file is a
    /// warning of the site itself.
    pub fn summary(&self) -> Vec<String> {
        let mut lines = vec![self.found()];
        lines.extend(self.missing().into_iter().map(|(file, consequence)| format!("missing: {file}: {consequence}")));
        lines
    }

    fn found(&self) -> String {
        let one = |label: &str, source: &Option<FileSource>| source.as_ref().map(|source| listed(label, [source]));
        let all = |label: &str, sources: &[FileSource]| (!sources.is_empty()).then(|| listed(label, sources));
        let parts = [
            self.taken.as_ref().and_then(taken),
            one("jobs", &self.queue),
            all("server", &self.server),
            all("queues", &self.queues),
            all("resources", &self.resources),
            one("shares", &self.resource_group),
            one("usage", &self.usage),
            one("settings", &self.sched_config),
            one("formula", &self.sched_formula),
            one("tree", &self.tree),
            one("Slurm's settings", &self.slurm_conf),
        ];
        format!("found: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    /// Each missing file, and its consequence. A site of Slurm is not expected to have OpenPBS's files.
    fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let is_slurm = self.tree.is_some() || self.slurm_conf.is_some();
        let expected = [
            (true, self.queue.is_some(), "the jobs", "a formula is checked, but nothing can be ranked"),
            (
                !is_slurm,
                !self.server.is_empty(),
                "the server (`qstat -Bf`)",
                "its defaults, its threshold and `eligible_time_enable` are not known",
            ),
            (!is_slurm, !self.queues.is_empty(), "the queues (`qstat -Qf`)", "`queue_priority` is 0 for every job"),
            (
                !is_slurm,
                !self.resources.is_empty(),
                "the resources (`resourcedef`, `qmgr -c 'print resource'`)",
                "a resource of the site is known only where a job, a queue or the server lists it",
            ),
            (!is_slurm, self.resource_group.is_some(), "`sched_priv/resource_group`", "there is no fair-share tree"),
            (
                !is_slurm,
                self.sched_config.is_some(),
                "`sched_priv/sched_config`",
                "only the formula orders the jobs, and the fair-share entity is the user",
            ),
            (
                self.slurm_conf.is_some(),
                self.tree.is_some(),
                "Slurm's tree (`sshare -a -l -P`, `sshare -a --json`)",
                "there are no shares",
            ),
            (
                self.tree.is_some(),
                self.slurm_conf.is_some(),
                "`slurm.conf`",
                "Slurm's defaults apply: fair tree, a half-life of 7 days",
            ),
        ];
        expected
            .into_iter()
            .filter(|(is_expected, is_there, ..)| *is_expected && !*is_there)
            .map(|(_, _, file, consequence)| (file, consequence))
            .collect()
    }
}

fn listed<'s>(label: &str, sources: impl IntoIterator<Item = &'s FileSource>) -> String {
    let names: Vec<String> = sources.into_iter().map(|source| format!("`{}`", source.name())).collect();
    format!("{label} {}", names.join(" "))
}

/// When the snapshot was taken, if its file is a short line.
fn taken(source: &FileSource) -> Option<String> {
    let text = source.read_text().ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty() && line.len() < 64 && !line.contains(char::is_control)).then(|| format!("taken {line}"))
}
