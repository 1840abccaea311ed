//! `jsf page`: its arguments, and what it does.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use jsf_openpbs::qmgr_command::object_or_server;
use jsf_site::{SiteError, is_stdin};

use crate::answers::GivenFormula;
use crate::cli::args::{QueueArgs, check_and_report, read_formula};
use crate::cli::messages::answered;
use crate::cli::output::{CliError, Outcome, PageFile};
use crate::cli::site::require_one_reader;
use crate::commands::page::WhatIfPage;

/// `jsf page`
#[derive(Debug, Args)]
#[command(after_help = "\
The page is one file, which works without a network and sends nothing. It holds what the files say about the server, the
queues, the scheduler and the fair-share tree, and of each job its id, entity, queue, state, place in the order of submission
and the numbers that a formula can use. Other files can be dropped onto it.

Examples:
  jsf page --site examples/site --out page.html
  jsf page 'eligible_time / 3600 + ncpus' --site examples/site \\
      --out page.html
  jsf page -f examples/formulas/alcf.txt --site examples/site --out page.html")]
pub struct PageArgs {
    /// The formula that the page begins with, and the queue that it ranks.
    #[command(flatten)]
    queue: QueueArgs,
    /// The file to write; - is standard output
    #[arg(long, short_alias = 'o', value_name = "FILE.html")]
    out: PathBuf,
}

/// The WebAssembly module of the page, if this build has it.
#[cfg(page_module)]
const MODULE: Option<&[u8]> = Some(include_bytes!(env!("JSF_PAGE_MODULE")));
#[cfg(not(page_module))]
const MODULE: Option<&[u8]> = None;

impl PageArgs {
    /// `jsf page`
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let Some(module) = MODULE else {
            return Err(CliError::usage(
                "this build of jsf cannot write the page, which needs a WebAssembly module: released binaries have it; from the \
             sources, `bindings/wasm/build.sh` builds it and says how to build a jsf that carries it",
            ));
        };
        let PageArgs {
            queue:
                QueueArgs {
                    formula,
                    site: given,
                    threshold,
                },
            out: path,
        } = self;
        require_one_reader(&[], given, &[("the formula", formula.file())])?;
        // without the given formula, which is compared with that of the site
        let site = given.open(None, *threshold)?;
        let is_given = formula.is_given();
        let in_force = match site.formula_text() {
            Ok(in_force) => Some(in_force),
            // the page then compares with the first formula that can be ranked
            Err(SiteError::Missing(_)) if is_given => None,
            Err(error) => return Err(error.into()),
        };
        let formula_file = &formula.formula_file;
        let formula = match &in_force {
            Some(in_force) if !is_given => in_force.clone(),
            _ => read_formula(formula, None)?,
        };
        given.show(&site, true);
        let (bundle, _) = answered("reading the jobs", false, |warnings, _| {
            warnings.add(site.warnings());
            let bundle = site.to_bundle()?;
            warnings.add(bundle.warnings.clone());
            Ok(bundle)
        })?;
        let formula = GivenFormula::new(formula, given.numbers);
        let outcome = check_and_report(&site, &formula)?;
        let page = WhatIfPage {
            formula: formula.text().trim_end(),
            in_force: in_force.as_ref().map(|in_force| in_force.text.trim_end()),
            object: &object_or_server(in_force.as_ref().map_or("", |in_force| &in_force.before)),
            warnings: &bundle.warnings,
            bundle: &bundle.bytes,
            module,
        };
        if is_stdin(path) {
            page.write(out)?
        } else {
            let file = PageFile {
                path,
                sites: vec![&site],
                read_files: formula_file.iter().collect(),
            };
            // before the page is made, which takes longer than to refuse its name
            file.require_replaceable()?;
            let mut bytes = Vec::new();
            page.write(&mut bytes)?;
            file.write(&bytes)?
        }
        Ok(outcome)
    }
}
