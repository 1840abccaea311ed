//! Fair-share trees and policies.

mod pbs_properties;
mod pbs_trees;
mod policy_properties;
mod trees;
