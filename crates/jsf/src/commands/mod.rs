//! The commands: what is asked, what is answered, and how it is shown to people.

#[cfg(feature = "command")]
pub mod capture;
pub mod check;
#[cfg(feature = "command")]
pub mod codes;
pub mod compare;
pub mod cycle;
pub mod explain;
pub mod fit;
#[cfg(feature = "command")]
pub mod names;
pub mod page;
#[cfg(feature = "command")]
pub mod pbsfs;
pub mod rank;
pub mod replay;
pub mod shares;
pub mod simulate;
pub mod trajectory;
#[cfg(feature = "command")]
pub mod translate;
