//! How the chunks of a job are placed (`place`): on which hosts and vnodes together, and beside
//! which other jobs.

/// How the chunks of a job are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Arrangement {
    /// `free`: wherever they fit.
    #[default]
    Free,
    /// `pack`: all on one host.
    Pack,
    /// `scatter`: each on a host of its own.
    Scatter,
    /// `vscatter`: each on a vnode of its own.
    Vscatter,
}

/// What a job says of other jobs on its vnodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Exclusive {
    /// Nothing: the vnodes decide.
    #[default]
    Unsaid,
    /// `shared`
    Shared,
    /// `excl`: none may be there.
    Vnode,
    /// `exclhost`: none may be on the whole host.
    Host,
}

/// What a vnode says of several jobs on it (`sharing`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// `default_shared`: the job decides.
    #[default]
    DefaultShared,
    /// `default_excl`: exclusive unless the job says `shared`.
    DefaultExcl,
    /// `default_exclhost`
    DefaultExclhost,
    /// `force_excl`: always exclusive.
    ForceExcl,
    /// `force_exclhost`
    ForceExclhost,
    /// `ignore_excl`: never exclusive.
    IgnoreExcl,
}

/// What a job has for itself where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alone {
    No,
    OnVnode,
    OnHost,
}

/// How a job is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Placing {
    /// How its chunks are spread.
    pub arrangement: Arrangement,
    /// What it says of other jobs.
    pub exclusive: Exclusive,
    /// The placement sets of which one has to hold it, by their index in the machine.
    pub sets: Option<u32>,
}

impl Placing {
    /// Reads the words of `place`, which colons separate; `group=` is not read.
    pub fn from_words(place: &str) -> Self {
        let mut placing = Self::default();
        for word in place.split(':') {
            match word {
                "pack" => placing.arrangement = Arrangement::Pack,
                "scatter" => placing.arrangement = Arrangement::Scatter,
                "vscatter" => placing.arrangement = Arrangement::Vscatter,
                "shared" => placing.exclusive = Exclusive::Shared,
                "excl" => placing.exclusive = Exclusive::Vnode,
                "exclhost" => placing.exclusive = Exclusive::Host,
                _ => {}
            }
        }
        placing
    }
}

impl Sharing {
    /// Reads the value of `sharing`; one that is not known is the default.
    pub fn from_name(name: &str) -> Self {
        match name {
            "default_excl" => Self::DefaultExcl,
            "default_exclhost" => Self::DefaultExclhost,
            "force_excl" => Self::ForceExcl,
            "force_exclhost" => Self::ForceExclhost,
            "ignore_excl" => Self::IgnoreExcl,
            _ => Self::DefaultShared,
        }
    }

    /// What a job has for itself on such a vnode.
    pub(super) fn alone(self, exclusive: Exclusive) -> Alone {
        match (self, exclusive) {
            (Self::IgnoreExcl, _) => Alone::No,
            (Self::ForceExclhost, _)
            | (Self::DefaultExclhost, Exclusive::Unsaid)
            | (_, Exclusive::Host) => Alone::OnHost,
            (Self::ForceExcl, _)
            | (Self::DefaultExcl, Exclusive::Unsaid)
            | (_, Exclusive::Vnode) => Alone::OnVnode,
            (_, Exclusive::Unsaid | Exclusive::Shared) => Alone::No,
        }
    }
}

/// A key by which pools are ordered before each job is placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOrder {
    /// What is compared.
    pub value: PoolValue,
    /// Whether the largest value is first.
    pub is_high_first: bool,
}

/// A number of each pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolValue {
    /// The same at all times, pool by pool.
    Fixed(Vec<i64>),
    /// What is free of an amount, by its index.
    Unused(usize),
    /// What jobs hold of an amount, by its index.
    Assigned(usize),
}

/// Placement sets: the vnodes with the same value of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacementSets {
    /// Set by set, the smallest first: whether each pool belongs to it.
    pub sets: Vec<Vec<bool>>,
    /// Whether a job that is larger than every set may run on all nodes (`do_not_span_psets` is
    /// not set).
    pub may_span: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vnode_can_force_what_a_job_has_for_itself() {
        for (sharing, place, alone) in [
            ("", "free", Alone::No),
            ("default_shared", "scatter:excl", Alone::OnVnode),
            ("default_excl", "pack", Alone::OnVnode),
            ("default_excl", "pack:shared", Alone::No),
            ("default_exclhost", "free", Alone::OnHost),
            ("default_exclhost", "free:shared", Alone::No),
            ("force_excl", "shared", Alone::OnVnode),
            ("force_excl", "exclhost", Alone::OnHost),
            ("force_exclhost", "shared", Alone::OnHost),
            ("ignore_excl", "excl", Alone::No),
        ] {
            let exclusive = Placing::from_words(place).exclusive;
            assert_eq!(
                Sharing::from_name(sharing).alone(exclusive),
                alone,
                "{sharing} {place}"
            );
        }
        let placing = Placing::from_words("vscatter:exclhost:group=switch");
        assert_eq!(placing.arrangement, Arrangement::Vscatter);
    }
}
