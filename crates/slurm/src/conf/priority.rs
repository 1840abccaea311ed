//! The settings of the plugin `priority/multifactor`.

use crate::conf::settings::{is_infinite, parse_minutes, stored_seconds};

/// The weight of a trackable resource (TRES).
#[derive(Debug, Clone, PartialEq)]
pub struct TresWeight {
    /// The resource in lower case, such as `cpu` or `gres/gpu`.
    pub name: String,
    /// The weight of the whole resource of a partition, or of one unit of it (of one MB of memory)
    /// under `NO_NORMAL_TRES`.
    pub weight: f64,
}

/// The settings of the multifactor priority.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PrioritySettings {
    /// `PriorityMaxAge` in seconds: the age with the factor 1. Slurm's default: 7 days.
    pub max_age: u32,
    /// `PriorityWeightAge`
    pub weight_age: u32,
    /// `PriorityWeightAssoc`
    pub weight_assoc: u32,
    /// `PriorityWeightFairshare`
    pub weight_fairshare: u32,
    /// `PriorityWeightJobSize`
    pub weight_job_size: u32,
    /// `PriorityWeightPartition`
    pub weight_partition: u32,
    /// `PriorityWeightQOS`
    pub weight_qos: u32,
    /// `PriorityWeightTRES`, in the order in which Slurm adds: that of the ids of the resources.
    pub weight_tres: Vec<TresWeight>,
    /// `PriorityFavorSmall`
    pub favor_small: bool,
    /// `PriorityFlags=SMALL_RELATIVE_TO_TIME`
    pub relative_to_time: bool,
    /// `PriorityFlags=NO_NORMAL_ASSOC`
    pub raw_assoc: bool,
    /// `PriorityFlags=NO_NORMAL_PART`
    pub raw_partition: bool,
    /// `PriorityFlags=NO_NORMAL_QOS`
    pub raw_qos: bool,
    /// `PriorityFlags=NO_NORMAL_TRES`
    pub raw_tres: bool,
    /// `PriorityFlags=INCR_ONLY`
    pub increases_only: bool,
}

/// The resources with fixed ids, in the order of these.
const FIXED_TRES: [&str; 8] = [
    "cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages",
];

impl PrioritySettings {
    /// Interprets one setting; another key is ignored.
    ///
    /// # Errors
    /// What is expected instead of the value.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        match key {
            "PriorityWeightAge" => self.weight_age = weight(value)?,
            "PriorityWeightAssoc" => self.weight_assoc = weight(value)?,
            "PriorityWeightFairshare" => self.weight_fairshare = weight(value)?,
            "PriorityWeightJobSize" => self.weight_job_size = weight(value)?,
            "PriorityWeightPartition" => self.weight_partition = weight(value)?,
            "PriorityWeightQOS" => self.weight_qos = weight(value)?,
            "PriorityWeightTRES" => {
                let weights: Option<Vec<TresWeight>> = value.split(',').map(tres_weight).collect();
                self.weight_tres =
                    weights.ok_or("a list such as `CPU=1000,Mem=2000,GRES/gpu=3000`")?;
            }
            "PriorityMaxAge" => {
                self.max_age = stored_seconds(parse_minutes(value).ok_or("a time such as `7-0`")?);
            }
            "PriorityFavorSmall" => {
                self.favor_small = match value.to_ascii_lowercase().as_str() {
                    "yes" | "up" | "true" | "1" => true,
                    "no" | "down" | "false" | "0" => false,
                    _ => return Err("`YES` or `NO`"),
                }
            }
            "PriorityFlags" => self.set_flags(&value.to_ascii_uppercase()),
            _ => {}
        }
        Ok(())
    }

    /// The daemon searches the whole text for each flag.
    fn set_flags(&mut self, text: &str) {
        let all = text.contains("NO_NORMAL_ALL");
        self.raw_assoc = all || text.contains("NO_NORMAL_ASSOC");
        self.raw_partition = all || text.contains("NO_NORMAL_PART");
        self.raw_qos = all || text.contains("NO_NORMAL_QOS");
        self.raw_tres = all || text.contains("NO_NORMAL_TRES");
        self.relative_to_time = text.contains("SMALL_RELATIVE_TO_TIME");
        self.increases_only = text.contains("INCR_ONLY");
    }

    /// Brings the weights of resources into the order of the resources' ids: the fixed ones, then
    /// those of `AccountingStorageTRES`. Returns whether one of them is something else.
    pub(super) fn sort_tres(&mut self, accounting_storage_tres: &str) -> bool {
        let listed = accounting_storage_tres.to_ascii_lowercase();
        let mut order = FIXED_TRES.to_vec();
        order.extend(listed.split(',').map(str::trim));
        self.weight_tres.sort_by_key(|tres| {
            let position = order.iter().position(|name| *name == tres.name);
            position.unwrap_or(usize::MAX)
        });
        for TresWeight { name, .. } in &self.weight_tres {
            // a file of some settings may leave the list to another one
            let is_of_other_file = listed.is_empty() && name.contains('/');
            if !order.contains(&name.as_str()) && !is_of_other_file {
                return true;
            }
        }
        false
    }
}

/// An unsigned number of 32 bits.
fn weight(text: &str) -> Result<u32, &'static str> {
    if is_infinite(text) {
        return Ok(u32::MAX);
    }
    text.parse().or(Err("a whole number from 0 to 4294967295"))
}

/// Parses `Mem=10G`: a unit divides the weight, as ten points for each G are 10/1024 for each MB.
fn tres_weight(text: &str) -> Option<TresWeight> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim().to_ascii_lowercase();
    let value = value.trim();
    let (number, unit) = match value.strip_suffix(|c: char| c.is_ascii_alphabetic()) {
        Some(number) => (number, &value[number.len()..]),
        None => (value, ""),
    };
    let is_memory = matches!(name.as_str(), "mem" | "vmem") || name.starts_with("bb/");
    let mut exponent = " KMGTPEZY".find(&unit.to_ascii_uppercase())? as i32;
    if is_memory && !unit.is_empty() {
        // memory is counted in MB
        exponent -= 2;
    }
    let weight: f64 = number.parse().ok()?;
    weight.is_finite().then_some(TresWeight {
        name,
        weight: weight / 1024_f64.powi(exponent),
    })
}
