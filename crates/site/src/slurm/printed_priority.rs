//! Compares the computed priorities with those that `squeue` prints, and says by the components that
//! `sprio` prints which input of the priority differs.

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::Ranking;
use jsf_openpbs::words::counted;

use super::slurm_queue::SlurmQueue;
use crate::Role;

/// From this part of the larger one on, a difference of two totals is no matter of time.
const LARGE: f64 = 0.1;
/// The fair-share points change by so much of their weight in a while.
const PART_OF_A_WHILE: f64 = 0.01;

/// How the computed totals compare with the printed ones.
#[derive(Debug)]
pub enum Agreement {
    /// Those of so many jobs are equal; the text names the file.
    Equal(String),
    /// Some differ.
    Contradiction {
        text: String,
        /// In a few words, if the difference is so large that it changes the order.
        headline: Option<String>,
    },
}

struct Difference {
    row: usize,
    printed: f64,
    computed: f64,
}

impl Difference {
    fn amount(&self) -> f64 {
        (self.printed - self.computed).abs()
    }

    fn is_large(&self) -> bool {
        self.amount() > LARGE * self.printed.max(self.computed)
    }
}

impl SlurmQueue {
    /// Compares the printed totals with those of a ranking by Slurm's priority; `None` if none is
    /// printed.
    pub fn agreement(&self, table: &JobTable, ranking: &Ranking) -> Option<Agreement> {
        let mut compared = 0;
        let mut different = Vec::new();
        for &row in ranking.order() {
            if let Some(&printed) = self.totals.get(table.id(row))
                && let Some(score) = ranking.score(row)
            {
                compared += 1;
                let (printed, computed) = (f64::from(printed), score.value);
                if printed != computed {
                    different.push(Difference {
                        row,
                        printed,
                        computed,
                    });
                }
            }
        }
        let queue = self.name(Role::Queue);
        let large = different.iter().find(|difference| difference.is_large());
        let Some(example) = large.or(different.first()) else {
            if compared == 0 {
                return None;
            }
            let text = format!("all {compared} are those that {queue} prints");
            return Some(Agreement::Equal(text));
        };
        let example_words = format!(
            "`{}`: printed {}, computed {}",
            table.id(example.row),
            example.printed,
            example.computed
        );
        let reason = self.reason(&different, table);
        let mut headline = None;
        if large.is_some() {
            headline = Some(format!(
                "The computed priorities are not those that {queue} prints (such as {example_words})."
            ));
        }
        Some(Agreement::Contradiction {
            text: format!(
                "the priority that {queue} prints differs from the computed one for {} of {compared} jobs, such as \
                 {example_words}; {reason}",
                different.len(),
            ),
            headline,
        })
    }

    /// Why the totals differ, as far as the components say.
    fn reason(&self, different: &[Difference], table: &JobTable) -> String {
        let settings = &self.settings;
        let components = self.different_components(different, table);
        let of_a_while = |column: &str| match column {
            "AGE" => {
                let part = f64::from(self.calc_period) / f64::from(settings.max_age.max(1));
                1.0 + f64::from(settings.weight_age) * part
            }
            "FAIRSHARE" => 1.0 + f64::from(settings.weight_fairshare) * PART_OF_A_WHILE,
            _ => 0.0,
        };
        let mut has_components = false;
        for one in different {
            if let Some(row) = self.sprio.row(table.id(one.row)) {
                has_components |= row.component(table.queue(one.row), "AGE").is_some();
            }
        }
        let is_of_time = if has_components {
            components
                .iter()
                .all(|(column, found)| found.iter().all(|one| one.amount() <= of_a_while(column)))
        } else {
            let most = of_a_while("AGE") + of_a_while("FAIRSHARE");
            different.iter().all(|one| one.amount() <= most)
        };
        if is_of_time {
            return "slurmctld computes the age and the fair share every PriorityCalcPeriod and at a change of the job, and \
                    the files are of different moments"
                .to_owned();
        }
        if components.is_empty() {
            return "give what `sprio -l` prints (`sprio_l.txt`), which shows the component that differs".to_owned();
        }
        let mut words = Vec::new();
        for (column, found) in &components {
            let first = &found[0];
            let jobs = counted(found.len(), "job", "jobs");
            words.push(format!(
                "{column} differs for {jobs} (`{}`: printed {}, computed {}), which comes from {}",
                table.id(first.row),
                first.printed,
                first.computed,
                self.origin(column)
            ));
        }
        format!(
            "by {} {}; check whether these are of one cluster and as they were when slurmctld computed the priorities",
            self.name(Role::Sprio),
            words.join(", ")
        )
    }

    /// The components that differ, with the jobs for which they do.
    fn different_components(
        &self,
        different: &[Difference],
        table: &JobTable,
    ) -> Vec<(&'static str, Vec<Difference>)> {
        let mut found = Vec::new();
        for (column, weight, input) in self.settings.components() {
            let values = table.column(input);
            // the points of each resource are rounded, not their sum
            let rounding = 0.5 * self.settings.weight_tres.len() as f64;
            let tolerated = if column == "TRES" { rounding } else { 0.0 };
            let mut of_jobs = Vec::new();
            for &Difference { row, .. } in different {
                let Some(sprio) = self.sprio.row(table.id(row)) else {
                    continue;
                };
                let Some(printed) = sprio.component(table.queue(row), column) else {
                    continue;
                };
                if sprio.is_direct {
                    continue;
                }
                let value = values.map_or(0.0, |values| values.nearest_double(row));
                let found = Difference {
                    row,
                    printed,
                    computed: (weight * value).round_ties_even(),
                };
                if found.amount() > tolerated {
                    of_jobs.push(found);
                }
            }
            if !of_jobs.is_empty() {
                found.push((column, of_jobs));
            }
        }
        found
    }

    /// The settings and the file from which a component comes.
    fn origin(&self, column: &str) -> String {
        let (settings, role, what) = match column {
            "AGE" => (
                "PriorityWeightAge and PriorityMaxAge",
                Role::Queue,
                "the time from which the age counts",
            ),
            "ASSOC" => (
                "PriorityWeightAssoc",
                Role::Associations,
                "the priorities of the associations",
            ),
            "FAIRSHARE" => (
                "PriorityWeightFairshare",
                Role::Tree,
                "the shares and usage",
            ),
            "JOBSIZE" => (
                "PriorityWeightJobSize and PriorityFavorSmall",
                Role::SlurmNodes,
                "the nodes",
            ),
            "PARTITION" => (
                "PriorityWeightPartition",
                Role::Partitions,
                "PriorityJobFactor",
            ),
            "QOS" => ("PriorityWeightQOS", Role::Qos, "the priorities of the QOS"),
            "TRES" => (
                "PriorityWeightTRES",
                Role::Partitions,
                "the TRES of the partitions",
            ),
            _ => return format!("`nice` in {}", self.name(Role::Queue)),
        };
        format!(
            "{settings} in {} and {what} in {}",
            self.name(Role::SlurmConf),
            self.name(role)
        )
    }

    /// The name of a file, or of the one that is missing.
    fn name(&self, role: Role) -> String {
        match self.files.get(&role) {
            Some(name) => format!("`{name}`"),
            None => {
                let usual = role.files().names().next().unwrap_or_default();
                format!("`{usual}`, which is missing")
            }
        }
    }
}
