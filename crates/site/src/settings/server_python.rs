//! Which Python the server embeds, and what says so.

use job_sort_formula::diagnostic::is_control;
use job_sort_formula::python::PythonVersion;
use jsf_json::clipped;
use jsf_openpbs::files::python_version::{python_of_system, version_in};
use jsf_openpbs::files::server::PbsVersion;

use crate::opening::file_warnings::FileWarnings;
use crate::{Role, Rule, Site, SiteError, SiteFiles};

/// The version of Python that the server embeds, and what says so.
#[derive(Debug, Clone, Default)]
pub struct ServerPython {
    pub version: PythonVersion,
    /// The words of an option, the name of a file or that of a system; `None`: nothing says it, and
    /// the version is the default.
    pub source: Option<String>,
}

impl ServerPython {
    /// The version that is given, else what the site's files say, else the default.
    ///
    /// # Errors
    /// The file that should say it cannot be read.
    pub fn find(
        given: Option<PythonVersion>,
        files: &SiteFiles,
        pbs: Option<PbsVersion>,
        warnings: &mut FileWarnings,
    ) -> Result<Self, SiteError> {
        if let Some(version) = given {
            return Ok(Self {
                version,
                source: Some("given".to_owned()),
            });
        }
        if let Some(source) = files.first(Role::Python) {
            let text = source.read_text(Role::Python)?;
            match version_in(&text) {
                Some(version) => return Ok(Self { version, source: Some(source.file_name()) }),
                None => warnings.push(format!(
                    "`{}` contains `{}`, expected a version of Python from {} to {}, such as `Python 3.9.18`; it is not used",
                    source.name(),
                    clipped(text.trim()),
                    PythonVersion::OLDEST,
                    PythonVersion::NEWEST
                )),
            }
        }
        if let Some(source) = files.first(Role::System) {
            let system = source.read_text(Role::System)?;
            let known = pbs.and_then(|pbs| python_of_system(&system, pbs));
            if let Some((version, name)) = known
                && !name.contains(is_control)
            {
                let source = Some(format!("that of {name}"));
                return Ok(Self { version, source });
            }
        }
        Ok(Self::default())
    }
}

impl Site {
    /// The version of Python that the server embeds, and what says so: `None` if it is only
    /// assumed.
    pub fn python(&self) -> (PythonVersion, Option<String>) {
        (self.python.version, self.python.source.clone())
    }

    /// The version of Python as one of the rules; `None` if it is only
    /// assumed.
    pub fn python_rule(&self) -> Option<Rule> {
        self.python.source.as_ref()?;
        Some(Rule::new("python", self.python_in_words()))
    }

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
