//! What is known of a site, and what is missing, in a few lines.

use job_sort_formula::diagnostic::is_control;

use super::file_kind;
use super::files::SiteFiles;
use super::source::FileSource;

impl SiteFiles {
    /// What there is and what is missing, in one line.
    pub fn headline(&self) -> String {
        let missing: Vec<&str> = self.missing().into_iter().map(|(file, _)| file).collect();
        let missing = if missing.is_empty() { String::new() } else { format!("; missing: {}", missing.join(", ")) };
        let found: Vec<&str> = self.found().into_iter().map(|(label, _)| label).collect();
        format!("{} {}{missing}", self.place(), found.join(", "))
    }

    /// Where the files were found, and when the snapshot was taken.
    fn place(&self) -> String {
        let place = self.root.as_ref().map(|root| format!(" in `{}`", FileSource::from(root).name()));
        let taken = self.taken.as_ref().and_then(taken).unwrap_or_default();
        format!("found{}{taken}:", place.unwrap_or_default())
    }

    /// One line for each purpose with its files, and one for each missing file with its consequence. A missing usage file
    /// is not among them: the site itself warns of it.
    pub fn summary(&self) -> Vec<String> {
        let mut lines = vec![self.place()];
        let found = self.found();
        let width = found.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
        lines.extend(found.into_iter().map(|(label, names)| format!("  {label:width$}  {names}")));
        lines.extend(self.missing().into_iter().map(|(file, consequence)| format!("missing: {file}: {consequence}")));
        lines
    }

    /// Each purpose for which there are files, and the names of the files.
    fn found(&self) -> Vec<(&'static str, String)> {
        let scheduler = [&self.resource_group, &self.usage, &self.sched_config, &self.sched_formula];
        let all = [
            ("jobs", self.queue.iter().collect()),
            ("server", self.server.iter().collect()),
            ("queues", self.queues.iter().collect()),
            ("resources", self.resources.iter().collect()),
            ("scheduler", scheduler.into_iter().flatten().collect()),
            ("tree", self.tree.iter().collect()),
            ("Slurm", self.slurm_conf.iter().collect::<Vec<_>>()),
        ];
        let present = all.into_iter().filter(|(_, sources)| !sources.is_empty());
        present.map(|(label, sources)| (label, self.list_names(&sources))).collect()
    }

    /// The names of files, relative to the folder or the archive; a folder that they share is named once.
    fn list_names(&self, sources: &[&FileSource]) -> String {
        let root = self.root.as_ref().map(|root| FileSource::from(root).name()).unwrap_or_default();
        let relative = |source: &&FileSource| {
            let name = source.name();
            let inside = name.strip_prefix(&*root).filter(|_| !root.is_empty());
            let inside = inside.and_then(|rest| rest.strip_prefix(": ").or_else(|| rest.strip_prefix('/')));
            inside.or_else(|| name.strip_prefix(&*root).filter(|_| root.ends_with('/'))).unwrap_or(&name).to_owned()
        };
        let names: Vec<String> = sources.iter().map(relative).collect();
        let shared = names[0].rfind('/').map_or("", |end| &names[0][..=end]);
        match names.iter().map(|name| name.strip_prefix(shared)).collect::<Option<Vec<&str>>>() {
            Some(inside) if inside.len() > 1 && !shared.is_empty() => format!("{shared}: {}", inside.join(", ")),
            _ => names.join(", "),
        }
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
                "only the formula orders the jobs, and the defaults are assumed for unknown_shares, fairshare_usage_res, the \
                 decay and the fair-share entity",
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

/// When the snapshot was taken, if its file is a short line.
fn taken(source: &FileSource) -> Option<String> {
    let text = source.read_text(&file_kind::CAPTURE_TIME).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty() && line.len() < 64 && !line.contains(is_control)).then(|| format!(", taken {line}"))
}
