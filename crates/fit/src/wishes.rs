//! Finds the constants of a template that put the jobs of a queue into a wished order.
//!
//! In: a site, a template and [`Wishes`]. Out: a [`WishFit`] with a formula whose constants have few digits. What it calls met
//! is met in the order in which [`Site::rank`](jsf_site::Site::rank) puts the jobs, by float32 values, `job_sort_key`, threshold and submission.
//!
//! | the template | the wishes | how |
//! |---|---|---|
//! | affine in its constants | an order | the largest margin and, with enough of it, nearest to where the constants begin, by two linear programs: exact, also in that no constants meet all wishes |
//! | affine in its constants | scores | least absolute deviations, by linear programming |
//! | other | either | CMA-ES, a search without derivatives, with restarts; then the neighbours of integers, and back toward where the constants begin |
//!
//! Scores are fitted by absolute deviations and not by squares, as they are given by people: one wrong score changes the
//! constants hardly at all, and where more than half of the scores follow the formula exactly, its constants are found.

mod affine;
mod conflict;
mod fit;
mod halfspace;
mod linear_program;
mod order_fit;
mod read;
mod result;
mod rounding;
mod score_fit;
mod search_fit;
mod wished_queue;

use std::fmt;

use job_sort_formula::diagnostic::Message;
use jsf_site::SiteError;
use thiserror::Error;

pub use fit::{WishOptions, WishProgress, fit_wishes};
pub use read::Wishes;
pub use result::{FittedParameter, WishFit, WishesMet};

/// Wishes that cannot be read, or that do not fit to the queue.
#[derive(Debug, Error)]
pub enum WishError {
    /// A wish is wrong.
    #[error("{place}{message}")]
    Wish {
        /// Where it is written.
        place: Place,
        /// What is wrong.
        message: String,
    },
    /// The queue cannot be ranked.
    #[error(transparent)]
    Site(#[from] SiteError),
}

impl WishError {
    fn at(place: &Place, message: impl Into<String>) -> Self {
        Self::Wish { place: place.clone(), message: message.into() }
    }

    /// The error with what it asks for.
    pub fn message(&self) -> Message {
        match self {
            Self::Site(error) => error.message(),
            wish => wish.to_string().into(),
        }
    }
}

/// Where a wish is written. It is shown before a message, or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    document: String,
    /// The line, counted from 1; 0 for a wish that is not from a document.
    line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => Ok(()),
            line => write!(f, "{}:{line}: ", self.document),
        }
    }
}

/// A wish about two rows of a table: `above` is ranked before the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wish {
    above: usize,
    below: usize,
}
