//! A search without derivatives: CMA-ES with restarts.
//!
//! In: a function that evaluates points of the unit cube, all points of a generation at once, so
//! that it may do so in parallel. Its scores may be of any ordered type; a smaller one is better.
//! Out: nothing but the calls, as the function keeps what it needs. Equal seeds give equal points,
//! whatever the number of threads.

pub mod cma_es;
mod space;

pub use space::Space;
pub(crate) use space::value_at;

use std::ops::ControlFlow;

/// A function that evaluates the points of a generation in their order, or ends the search.
pub type Evaluate<'a, S, E> = dyn FnMut(&[Vec<f64>]) -> ControlFlow<E, Vec<S>> + 'a;
