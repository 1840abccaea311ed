//! `Site`: a scheduler's files, about which the commands of `jsf` answer.

use std::path::PathBuf;

use job_sort_formula::Schema;
use job_sort_formula::schema::Origin;
use jsf::answers::AnswerError;
use jsf::requests::AskedSite;
use jsf_openpbs::check::SiteFacts;
use jsf_site::{Site as OpenedSite, SiteError, SiteFiles, SiteOptions};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::exceptions::{in_python, site_error, syntax_error, worded};
use crate::formula_class::not_arithmetic;

/// A site that is open: its server, queues, resources, scheduler settings, fair-share tree and jobs.
#[pyclass(frozen, module = "job_sort_formula._native")]
pub struct Site {
    site: OpenedSite,
}

#[pymethods]
impl Site {
    /// Opens a folder or an archive; without a path there are no files. `options` are JSON.
    #[new]
    fn new(py: Python<'_>, path: Option<PathBuf>, options: &str) -> PyResult<Self> {
        let options: SiteOptions = serde_json::from_str(options).map_err(json_error)?;
        let site = py.detach(|| {
            let files = match path {
                Some(path) => SiteFiles::open(&path)?,
                None => SiteFiles::default(),
            };
            OpenedSite::from_files(files, options)
        });
        Ok(Self {
            site: site.map_err(site_error)?,
        })
    }

    /// The formula in force.
    #[getter]
    fn formula(&self) -> PyResult<String> {
        Ok(self.site.formula_text().map_err(site_error)?.text)
    }

    /// The version of Python that the server embeds.
    #[getter]
    fn python(&self) -> String {
        self.site.python().0.to_string()
    }

    /// The resources that the site's files declare and a formula can use, with their types.
    #[getter]
    fn resources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let resources = PyDict::new(py);
        for (name, entry) in self.site.schema().iter() {
            // `Formula(…, resources=site.resources)` would refuse the others
            let is_usable = Schema::empty().add(name, entry.input_type).is_ok();
            if entry.origin == Origin::Site && is_usable {
                resources.set_item(name, entry.input_type.pbs_type())?;
            }
        }
        Ok(resources)
    }

    /// What is doubtful about the files, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        worded(&self.site.warnings())
    }

    /// What a command answers to a request, both as JSON.
    fn run(&self, py: Python<'_>, command: &str, request: &str) -> PyResult<String> {
        let request = serde_json::from_str(request).map_err(json_error)?;
        let asked = AskedSite {
            site: &self.site,
            worded: in_python,
            is_interrupted: || Python::attach(|py| py.check_signals().is_err()),
        };
        py.detach(|| asked.answer(command, request))
            .map_err(|error| self.error(py, error))
    }
}

impl Site {
    fn error(&self, py: Python<'_>, error: AnswerError) -> PyErr {
        match error {
            AnswerError::Question(message) => PyValueError::new_err(message.worded(in_python)),
            AnswerError::Site(error) => site_error(error),
            AnswerError::Syntax(source, finding) => syntax_error(&source.text, &finding),
            AnswerError::Unusable(source, findings) => {
                let schema = self.site.schema();
                let submitted = source.submitted(self.site.numbers());
                match submitted.formula().map(|parsed| parsed.compile(schema)) {
                    Ok(Err(error)) => {
                        not_arithmetic(py, &source.text, &error, schema, &SiteFacts::default())
                    }
                    _ => match findings.first() {
                        Some(found) => PyValueError::new_err(found.message.to_string()),
                        None => site_error(SiteError::NotArithmetic),
                    },
                }
            }
            AnswerError::Interrupted => PyKeyboardInterrupt::new_err(()),
        }
    }
}

/// An error of JSON that nobody has written, and that therefore has no line and column.
fn json_error(error: serde_json::Error) -> PyErr {
    let text = error.to_string();
    let message = text.split(" at line ").next();
    PyValueError::new_err(message.unwrap_or_default().to_owned())
}
