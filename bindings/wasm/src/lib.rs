//! The WebAssembly module in the page that `jsf page` writes. A site and texts of formulas enter;
//! JSON and columns of numbers leave.
//!
//! The page's script writes what it passes into the buffer that [`input`] returns, calls a
//! function, and reads what [`output`] points to, [`output_length`] bytes of JSON. Every function
//! that can fail returns whether it did not; its output is then `{"error": "…"}`. No function takes
//! a pointer, and the module keeps what it returns until the next call, so there is nothing to free
//! and no unsafe code: the attribute only gives a function its name in the module.

use std::cell::RefCell;

use jsf::commands::page::{check_json, ranking_json};
use jsf_site::{Site, SiteError, WhatIf};
use serde_json::json;

/// What the module keeps between two calls.
#[derive(Default)]
struct Page {
    what_if: Option<WhatIf>,
    input: Vec<u8>,
    output: Vec<u8>,
    values: Vec<f64>,
    order: Vec<u32>,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
}

/// The buffer for what the next call gets, of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    PAGE.with_borrow_mut(|page| {
        page.input.clear();
        page.input.resize(length, 0);
        page.input.as_mut_ptr()
    })
}

/// The JSON of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    PAGE.with_borrow(|page| page.output.as_ptr())
}

/// The number of bytes of the JSON of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    PAGE.with_borrow(|page| page.output.len())
}

/// Opens the site that the input holds, a bundle. Its JSON has the formula of the site and the
/// warnings about its files.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> bool {
    answer(|page| {
        // taken, so that the bundle does not stay in memory beside the site
        let site = Site::from_bundle(&std::mem::take(&mut page.input))?;
        let formula = site.formula_text().ok().map(|formula| formula.text);
        let json =
            json!({"formula": formula, "warnings": site.warnings(), "files": site.summary()});
        page.what_if = Some(WhatIf::new(site, formula.unwrap_or_default()));
        Ok(json.to_string())
    })
}

/// Compares from now on with the formula that the input holds.
#[unsafe(no_mangle)]
pub extern "C" fn compare_with() -> bool {
    answer(|page| {
        let formula = page.text();
        page.what_if()?.set_in_force(formula);
        Ok("{}".to_owned())
    })
}

/// Ranks the queue by the formula that the input holds. Its JSON is that of [`ranking_json`] with
/// the first `count` jobs.
#[unsafe(no_mangle)]
pub extern "C" fn rank(count: usize, is_complete: bool) -> bool {
    answer(|page| {
        let formula = page.text();
        let what_if = page.what_if()?;
        what_if.rank(&formula)?;
        Ok(ranking_json(what_if, count, "", is_complete).unwrap_or_default())
    })
}

/// The last ranking again, with the first `count` jobs whose names contain the input.
#[unsafe(no_mangle)]
pub extern "C" fn show(count: usize, is_complete: bool) -> bool {
    answer(|page| {
        let search = page.text();
        let what_if = page.what_if()?;
        Ok(ranking_json(what_if, count, &search, is_complete).unwrap_or_default())
    })
}

/// Checks the formula that the input holds: the object that `qmgr` sets it of, a line break, and
/// the formula. Its JSON is that of [`check_json`].
#[unsafe(no_mangle)]
pub extern "C" fn check() -> bool {
    answer(|page| {
        let text = page.text();
        let (object, formula) = text.split_once('\n').unwrap_or(("server", &text));
        let checked = page.what_if()?.check(formula)?;
        Ok(check_json(formula, object, &checked).unwrap_or_default())
    })
}

/// The value of each job before it is rounded, in the order of the document; a NaN where the
/// formula has none.
#[unsafe(no_mangle)]
pub extern "C" fn values() -> *const f64 {
    PAGE.with_borrow_mut(|page| {
        page.values.clear();
        if let Some(queue) = page.what_if.as_ref().and_then(WhatIf::queue) {
            let scores = queue.sides.new.ranking.scores();
            for row in 0..scores.len() {
                let unrounded = scores.get(row).and_then(|score| score.unrounded.ok());
                let value = unrounded.and_then(|value| value.to_f64());
                page.values.push(value.unwrap_or(f64::NAN));
            }
        }
        page.values.as_ptr()
    })
}

/// The rows of the jobs that are considered, in their order.
#[unsafe(no_mangle)]
pub extern "C" fn order() -> *const u32 {
    PAGE.with_borrow_mut(|page| {
        let queue = page.what_if.as_ref().and_then(WhatIf::queue);
        let rows = queue.map_or(&[][..], |queue| queue.sides.new.ranking.order());
        page.order = rows.iter().map(|&row| row as u32).collect();
        page.order.as_ptr()
    })
}

/// The number of jobs.
#[unsafe(no_mangle)]
pub extern "C" fn job_count() -> usize {
    PAGE.with_borrow(|page| {
        page.what_if
            .as_ref()
            .and_then(WhatIf::queue)
            .map_or(0, |queue| queue.table().len())
    })
}

impl Page {
    fn text(&mut self) -> String {
        let bytes = std::mem::take(&mut self.input);
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    fn what_if(&mut self) -> Result<&mut WhatIf, SiteError> {
        self.what_if
            .as_mut()
            .ok_or_else(|| SiteError::Missing("no site is open".into()))
    }
}

/// Keeps the JSON that `call` makes, or its error.
fn answer(call: impl FnOnce(&mut Page) -> Result<String, SiteError>) -> bool {
    PAGE.with_borrow_mut(|page| {
        let result = call(page);
        let is_fine = result.is_ok();
        page.output = result
            .unwrap_or_else(|error| json!({"error": error.to_string()}).to_string())
            .into_bytes();
        is_fine
    })
}
