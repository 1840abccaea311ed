//! What Slurm's tools have printed against what is computed: the column `FairShare` of `sshare`, with
//! the release or policy that computes it, and the priorities of `squeue`, with the input that differs
//! by the components of `sprio`.

use std::collections::HashMap;

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::{AssociationShares, NodeId, PolicyRules, Release};
use job_sort_formula::{JobTable, Ranking, ShareTree};
use jsf_slurm::Factor;
use jsf_words::count;

use crate::policy::PolicySelection;
use crate::site_tree::{SiteTree, TreeOrigin, full_name};
use crate::slurm_queue::SlurmQueue;
use crate::{PolicyName, Role, Site};

/// The largest error of a number that the daemon sent and `sshare` printed with six decimals.
const PRINTED_PRECISION: f64 = 1.5e-6;
/// The usage by which the total and an association's own may differ from the printed ones, which
/// have no decimals.
const USAGE_PRECISION: f64 = 4.0;

/// The policies of the daemons that print the column.
const POLICIES: [PolicyName; 3] = [
    PolicyName::FairTree,
    PolicyName::Classic,
    PolicyName::DepthOblivious,
];

impl Site {
    /// Compares the column `FairShare` of `sshare` with the factors of the policy in force. Warns if
    /// they differ, with the release or the policy that computes the printed ones, if there is one.
    pub(crate) fn compare_printed_fairshare(&mut self) {
        let Some(tree) = &self.tree else {
            return;
        };
        if let Some(slurm) = &self.slurm {
            follow_first_cycle(tree, &mut self.policy, &slurm.pending_users());
        }
        let difference = difference_to_printed(tree, &self.policy);
        self.warnings.of_shares.all.extend(difference);
    }
}

/// A warning if the printed factors are not those of the policy in force. Nothing is compared under
/// documented rules, under a policy that prints no such column, or if the document was printed under
/// fair tree and the policy is another, or the reverse.
fn difference_to_printed(tree: &SiteTree, policy: &PolicySelection) -> Option<Message> {
    let (source_name, printed) = tree.printed_fairshare()?;
    let TreeOrigin::Slurm { is_fair_tree } = tree.origin? else {
        return None;
    };
    if policy.rules == PolicyRules::Documented
        || !POLICIES.contains(&policy.name)
        || is_fair_tree == Some(policy.name != PolicyName::FairTree)
    {
        return None;
    }
    let shares = tree.share_tree().ok()?;
    let (all, differing) = compare(&shares, printed, policy, (policy.name, policy.release));
    let (node, printed_first, computed) = *differing.first()?;
    let advice = match find_reproducing(&shares, printed, policy) {
        Some((policy, release)) => Message::asking(
            "",
            [Need::PolicyOfRelease(policy.as_str(), release.as_str())],
        ),
        None => {
            "other settings of Slurm, such as `FairShareDampeningFactor`, may have been in force"
                .into()
        }
    };
    let difference = format!(
        "`{source_name}`: the column FairShare differs from what {} of Slurm {} computes for {} of {all} \
         associations, such as `{}`: printed {printed_first:.6}, computed {computed:.6}; ",
        policy.name.as_str(),
        policy.release.as_str(),
        differing.len(),
        full_name(&shares, node)
    );
    Some(advice.after(difference))
}

/// Whether the printed factors are those of the first cycle of slurmctld under `depth-oblivious`, in
/// which they depend on the order of the pending jobs; `users` are those of these jobs. The policy
/// then follows them.
fn follow_first_cycle(tree: &SiteTree, policy: &mut PolicySelection, users: &[String]) {
    if policy.name != PolicyName::DepthOblivious || policy.rules != PolicyRules::Scheduler {
        return;
    }
    let Some((_, printed)) = tree.printed_fairshare() else {
        return;
    };
    let Ok(shares) = tree.share_tree() else {
        return;
    };
    let in_force = (policy.name, policy.release);
    let (_, settled) = compare(&shares, printed, policy, in_force);
    if settled.is_empty() {
        return;
    }
    let by_name = shares.nodes().map(|node| (full_name(&shares, node), node));
    let nodes: HashMap<String, NodeId> = by_name.collect();
    let requested = users.iter().filter_map(|user| nodes.get(user));
    let requested = requested.copied().collect();
    policy.first_cycle = Some(requested);
    let (_, first_cycle) = compare(&shares, printed, policy, in_force);
    if first_cycle.len() >= settled.len() {
        policy.first_cycle = None;
    }
}

/// Searches the release or the policy under which every factor is as printed, and returns both.
fn find_reproducing(
    tree: &ShareTree,
    printed: &[Option<f64>],
    policy: &PolicySelection,
) -> Option<(PolicyName, Release)> {
    let releases = [Release::V22_05, Release::V26_11];
    let candidates = POLICIES.map(|name| releases.map(|release| (name, release)));
    let mut candidates = candidates.concat();
    // another release is likelier than another policy
    candidates.sort_by_key(|&(name, release)| (name != policy.name, release != policy.release));
    // the first one is in force, and differs
    for &candidate in &candidates[1..] {
        let (compared, differences) = compare(tree, printed, policy, candidate);
        if differences.is_empty() && compared > 0 {
            return Some(candidate);
        }
    }
    None
}

/// The number of factors that can be compared, and those that differ: each with its node, as it is
/// printed and as it is computed.
fn compare(
    tree: &ShareTree,
    printed: &[Option<f64>],
    policy: &PolicySelection,
    (name, release): (PolicyName, Release),
) -> (usize, Vec<(NodeId, f64, f64)>) {
    let shares = policy.build_policy_for(name, release, &[]).assess(tree);
    let total = tree.usage(tree.root());
    let mut compared = 0;
    let mut differences = Vec::new();
    // `printed` begins below the root
    for (node, printed) in tree.nodes().skip(1).zip(printed) {
        let (Some(printed), Some(association)) = (*printed, shares.association(node)) else {
            continue;
        };
        let Some(computed) = association.fairshare else {
            continue;
        };
        compared += 1;
        if (computed - printed).abs() > tolerance(&association, computed, total, name) {
            differences.push((node, printed, computed));
        }
    }
    (compared, differences)
}

/// The largest difference that printing explains: that of the factor's six decimals, and, for a
/// factor of the form `2^-(usage/shares)`, that of a usage without decimals. The ranks of fair tree
/// are whole numbers.
fn tolerance(association: &AssociationShares, factor: f64, total: f64, name: PolicyName) -> f64 {
    let shares = association.norm_shares.unwrap_or(0.0);
    if name == PolicyName::FairTree || total <= 0.0 || shares <= 0.0 {
        return PRINTED_PRECISION;
    }
    PRINTED_PRECISION + factor * std::f64::consts::LN_2 * USAGE_PRECISION / (total * shares)
}

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

#[derive(Clone, Copy)]
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

    fn words(&self, table: &JobTable) -> String {
        format!(
            "`{}`: printed {}, computed {}",
            table.id(self.row),
            self.printed,
            self.computed
        )
    }
}

/// The jobs in which a number differs.
#[derive(Default)]
struct Differing {
    jobs: usize,
    first: Option<Difference>,
    largest: f64,
}

impl Differing {
    fn add(&mut self, difference: Difference) {
        self.jobs += 1;
        self.first.get_or_insert(difference);
        self.largest = self.largest.max(difference.amount());
    }
}

/// A component of the priority, and the jobs in which it differs.
struct Component {
    column: &'static str,
    /// What the input of the formula is multiplied by.
    weight: f64,
    input: &'static str,
    /// What rounding explains.
    tolerance: f64,
    /// By how many points it may change between two calculations.
    of_a_while: f64,
    /// The file from which it comes, beside the settings.
    role: Role,
    differing: Differing,
}

impl Component {
    fn new(column: &'static str, weight: f64, input: &'static str, role: Role) -> Self {
        Self {
            column,
            weight,
            input,
            tolerance: 0.0,
            of_a_while: 0.0,
            role,
            differing: Differing::default(),
        }
    }
}

impl SlurmQueue {
    /// Compares the printed totals with those of a ranking by Slurm's priority; `None` if none is
    /// printed.
    pub fn agreement(&self, table: &JobTable, ranking: &Ranking) -> Option<Agreement> {
        let mut compared = 0;
        let mut totals = Differing::default();
        let mut large = None;
        let mut components = self.components();
        for &row in ranking.order() {
            let id = table.id(row);
            let (Some(printed), Some(score)) = (self.printed_total(id), ranking.score(row)) else {
                continue;
            };
            compared += 1;
            let total = Difference {
                row,
                printed: f64::from(printed),
                computed: score.value,
            };
            if total.amount() == 0.0 {
                continue;
            }
            totals.add(total);
            if total.is_large() {
                large.get_or_insert(total);
            }
            if self.sprio.is_direct(id) {
                continue;
            }
            for component in &mut components {
                self.compare_component(component, table, row);
            }
        }
        let queue = self.file_name(Role::Queue);
        let Some(example) = large.or(totals.first) else {
            let text = format!("all {compared} are those that {queue} prints");
            return (compared > 0).then_some(Agreement::Equal(text));
        };
        let example = example.words(table);
        Some(Agreement::Contradiction {
            text: format!(
                "the priority that {queue} prints differs from the computed one for {} of {compared} jobs, such as \
                 {example}; {}",
                totals.jobs,
                self.reason(&totals, components, table)
            ),
            headline: large.map(|_| {
                format!(
                    "The computed priorities are not those that {queue} prints (such as {example})."
                )
            }),
        })
    }

    /// The components that `sprio -l` prints, but for the site's factor.
    fn components(&self) -> Vec<Component> {
        let settings = self.settings();
        let mut components = Vec::new();
        for factor in Factor::ALL {
            let weight = f64::from(settings.weight(factor));
            let period = f64::from(self.cluster.conf.calc_period);
            let (of_a_while, role) = match factor {
                Factor::Age => {
                    let part = period / f64::from(settings.max_age.max(1));
                    (1.0 + weight * part, Role::Queue)
                }
                Factor::Assoc => (0.0, Role::Associations),
                Factor::Fairshare => (1.0 + weight * PART_OF_A_WHILE, Role::Tree),
                Factor::JobSize => (0.0, Role::SlurmNodes),
                Factor::Partition => (0.0, Role::Partitions),
                Factor::Qos => (0.0, Role::Qos),
            };
            components.push(Component {
                of_a_while,
                ..Component::new(factor.column(), weight, factor.input(), role)
            });
        }
        components.push(Component::new("NICE", 1.0, "nice", Role::Queue));
        components.push(Component {
            // the points of each resource are rounded, not their sum
            tolerance: 0.5 * settings.weight_tres.len() as f64,
            ..Component::new("TRES", 1.0, "tres_points", Role::Partitions)
        });
        components
    }

    fn compare_component(&self, component: &mut Component, table: &JobTable, row: usize) {
        let printed = self
            .sprio
            .component(table.id(row), table.queue(row), component.column);
        let Some(printed) = printed else { return };
        let mut value = 0.0;
        if let Some(values) = table.column(component.input) {
            value = values.nearest_double(row);
        }
        let difference = Difference {
            row,
            printed,
            // as C prints it with `%.0f`
            computed: (component.weight * value).round_ties_even(),
        };
        if difference.amount() > component.tolerance {
            component.differing.add(difference);
        }
    }

    /// Why the totals differ, as far as the components say.
    fn reason(
        &self,
        totals: &Differing,
        mut components: Vec<Component>,
        table: &JobTable,
    ) -> String {
        let of_a_while: f64 = components.iter().map(|one| one.of_a_while).sum();
        components.retain(|component| component.differing.jobs > 0);
        let has_components = totals.first.as_ref().is_some_and(|first| {
            let (job, partition) = (table.id(first.row), table.queue(first.row));
            self.sprio.component(job, partition, "AGE").is_some()
        });
        let mut all = components.iter();
        let is_of_time = if has_components {
            // if none differs, the total was printed at another time than they
            all.all(|one| one.differing.largest <= one.of_a_while)
        } else {
            totals.largest <= of_a_while
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
        for Component {
            column,
            role,
            differing,
            ..
        } in components
        {
            if let Some(first) = &differing.first {
                words.push(format!(
                    "{column} differs for {} ({}), which follows from {} and {}",
                    count(differing.jobs, "job"),
                    first.words(table),
                    self.file_name(Role::SlurmConf),
                    self.file_name(role)
                ));
            }
        }
        format!(
            "by {} {}; check whether these are of one cluster and as they were when slurmctld computed the priorities",
            self.file_name(Role::Sprio),
            words.join(", ")
        )
    }
}
