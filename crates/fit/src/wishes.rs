//! Finds the constants of a template that put the jobs of a queue into a wished order.
//!
//! In: a site, a template and [`Wishes`]. Out: a [`WishFit`] with a formula whose constants have
//! few digits. What it calls met is met in the order in which [`Site::rank`](jsf_site::Site::rank)
//! puts the jobs, by float32 values, `job_sort_key`, threshold and submission.
//!
//! The constants are searched by CMA-ES with restarts, and then shortened as long as no wish is
//! lost.
//!
//! Scores are fitted by absolute deviations and not by squares, as they are given by people: one
//! wrong score changes the constants hardly at all, and where more than half of the scores follow
//! the formula exactly, its constants are found.

mod circle;
mod fit_wishes;
mod shorten;
mod wish_fit;
mod wish_list;
mod wish_search;
mod wished_queue;

use std::fmt;

use job_sort_formula::diagnostic::Message;
use jsf_site::SiteError;
use thiserror::Error;

pub use fit_wishes::{WishOptions, WishProgress, fit_wishes};
pub use wish_fit::{WishFit, WishesMet};
pub use wish_list::Wishes;

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
        Self::Wish {
            place: place.clone(),
            message: message.into(),
        }
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Wish {
    above: usize,
    below: usize,
}
