//! The multifactor priority: its settings, and the formula that follows from them. The rules are
//! those of Slurm 22.05, as recorded in `tests/golden/slurm-priority`.

use crate::values::{is_infinite, parse_minutes, stored_seconds};

/// The input that grows while a job waits.
pub const AGE: &str = "age_factor";

/// A factor that has a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    Age,
    Assoc,
    Fairshare,
    JobSize,
    Partition,
    Qos,
}

impl Factor {
    /// In the order in which Slurm adds them: a sum of doubles depends on it.
    pub const ALL: [Self; 6] = [
        Self::Age,
        Self::Assoc,
        Self::Fairshare,
        Self::JobSize,
        Self::Partition,
        Self::Qos,
    ];

    /// The column of `sprio -l`, the setting of the weight, and the input of the formula.
    fn names(self) -> [&'static str; 3] {
        match self {
            Self::Age => ["AGE", "PriorityWeightAge", AGE],
            Self::Assoc => ["ASSOC", "PriorityWeightAssoc", "assoc_factor"],
            Self::Fairshare => ["FAIRSHARE", "PriorityWeightFairshare", "fairshare_factor"],
            Self::JobSize => ["JOBSIZE", "PriorityWeightJobSize", "size_factor"],
            Self::Partition => ["PARTITION", "PriorityWeightPartition", "partition_factor"],
            Self::Qos => ["QOS", "PriorityWeightQOS", "qos_factor"],
        }
    }

    /// The column of `sprio -l`.
    pub fn column(self) -> &'static str {
        self.names()[0]
    }

    /// The setting of its weight.
    pub fn setting(self) -> &'static str {
        self.names()[1]
    }

    /// Its name in the formula.
    pub fn input(self) -> &'static str {
        self.names()[2]
    }
}

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
    /// The weights in the order of [`Factor::ALL`].
    pub weights: [u32; Factor::ALL.len()],
    /// `PriorityWeightTRES`, in the order in which Slurm adds: that of the ids of the resources.
    pub weight_tres: Vec<TresWeight>,
    /// `PriorityFavorSmall`
    pub favor_small: bool,
    /// `PriorityFlags=SMALL_RELATIVE_TO_TIME`
    pub relative_to_time: bool,
    /// `PriorityFlags=NO_NORMAL_ASSOC`, `NO_NORMAL_PART` and `NO_NORMAL_QOS`: the factors that are not
    /// divided by the largest number, in the order of [`Factor::ALL`].
    pub raw: [bool; Factor::ALL.len()],
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
    /// The weight of a factor.
    pub fn weight(&self, factor: Factor) -> u32 {
        self.weights[factor as usize]
    }

    /// Whether a factor is the number behind it, instead of its part of the largest one.
    pub fn is_raw(&self, factor: Factor) -> bool {
        self.raw[factor as usize]
    }

    /// Interprets one setting; another key is ignored.
    ///
    /// # Errors
    /// What is expected instead of the value.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        if let Some(factor) = Factor::ALL.into_iter().find(|one| one.setting() == key) {
            self.weights[factor as usize] = weight(value)?;
            return Ok(());
        }
        match key {
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
            _ => {}
        }
        Ok(())
    }

    /// The priority as a formula, with the weights of this site; what has the weight 0 is left out.
    /// Slurm adds doubles in this order and cuts the sum off once. With `has_direct`, jobs whose
    /// priority was set directly have it as `direct_priority`, and 0 for all else.
    ///
    /// ```
    /// use jsf_slurm::slurm_conf::SlurmConf;
    ///
    /// let conf = SlurmConf::parse("slurm.conf", b"PriorityWeightAge=1000\nPriorityWeightTRES=cpu=5\n", None);
    /// let formula = "min(4294967295, max(1, floor(1000*age_factor + tres_points + site_factor - nice)))";
    /// assert_eq!(conf.priority.formula(false), formula);
    /// ```
    pub fn formula(&self, has_direct: bool) -> String {
        let mut sum = Vec::new();
        for factor in Factor::ALL {
            sum.extend(self.term(factor));
        }
        if !self.weight_tres.is_empty() {
            sum.push("tres_points".to_owned());
        }
        sum.push("site_factor - nice".to_owned());
        if has_direct {
            sum.push("direct_priority".to_owned());
        }
        // Slurm truncates the bounded sum, which is at least 1, so that this is its floor
        format!("min(4294967295, max(1, floor({})))", sum.join(" + "))
    }

    /// The weighted factor; `None` if its weight is 0.
    fn term(&self, factor: Factor) -> Option<String> {
        match self.weight(factor) {
            0 => None,
            weight => Some(format!("{weight}*{}", factor.input())),
        }
    }

    /// The columns of `sprio -l` with their summands as formulas, each of which it rounds to a whole
    /// number.
    pub fn terms(&self) -> Vec<(String, String)> {
        let mut terms = vec![("SITE".to_owned(), "site_factor".to_owned())];
        for factor in Factor::ALL {
            if let Some(term) = self.term(factor) {
                terms.push((factor.column().to_owned(), term));
            }
        }
        terms.push(("NICE".to_owned(), "nice".to_owned()));
        for tres in &self.weight_tres {
            terms.push((tres.name.clone(), tres.input()));
        }
        terms
    }

    /// Whether nothing but the site's factor and `nice` decides the priority.
    pub fn is_without_weights(&self) -> bool {
        self.weights.iter().all(|weight| *weight == 0) && self.weight_tres.is_empty()
    }

    /// The daemon searches the whole text for each flag.
    pub(crate) fn set_flags(&mut self, text: &str) {
        let all = text.contains("NO_NORMAL_ALL");
        for (factor, flag) in [
            (Factor::Assoc, "NO_NORMAL_ASSOC"),
            (Factor::Partition, "NO_NORMAL_PART"),
            (Factor::Qos, "NO_NORMAL_QOS"),
        ] {
            self.raw[factor as usize] = all || text.contains(flag);
        }
        self.raw_tres = all || text.contains("NO_NORMAL_TRES");
        self.relative_to_time = text.contains("SMALL_RELATIVE_TO_TIME");
        self.increases_only = text.contains("INCR_ONLY");
    }

    /// Brings the weights of resources into the order of the resources' ids: the fixed ones, then
    /// those of `AccountingStorageTRES`, in lower case. Returns whether one of them is something
    /// else.
    pub(crate) fn sort_tres(&mut self, listed: &str) -> bool {
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

impl TresWeight {
    /// The name of the weighted resource as an input of a formula: `tres_gres_gpu` for `gres/gpu`.
    pub fn input(&self) -> String {
        let name = self.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        format!("tres_{name}")
    }
}

/// The factor of an age in seconds.
pub fn age_factor(age: i64, max_age: u32) -> f64 {
    // slurmctld has 32 bits without a sign for it; an age that begins later is 0
    match u32::try_from(age.max(0)) {
        Ok(age) if age < max_age => f64::from(age) / f64::from(max_age),
        _ => 1.0,
    }
}
