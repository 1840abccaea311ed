//! The rules that a ranking follows: in which precision values are kept, from which threshold on a job
//! counts, and what orders the jobs; and the same in words.

use job_sort_formula::rank::ScorePrecision;
use job_sort_formula::schema::Origin;
use job_sort_formula::{JobTable, Program};
use jsf_openpbs::PbsTree;
use jsf_openpbs::amounts::{NumberMode, server_float};
use jsf_openpbs::files::sched_config::SortKey;
use jsf_openpbs::order::{Criterion, NO_THRESHOLD, Order};
use serde::Serializer;

use crate::{PolicyName, Site};

/// A rule that a ranking follows, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it is about, in a word or two.
    pub heading: &'static str,
    /// What it says.
    pub text: String,
    /// Whether it belongs beside the answer, as a policy does that is not OpenPBS's.
    pub is_notable: bool,
}

impl Rule {
    /// A rule that is looked up rather than read.
    pub fn new(heading: &'static str, text: impl Into<String>) -> Self {
        Self {
            heading,
            text: text.into(),
            is_notable: false,
        }
    }

    /// The rule beside the answer, if this holds.
    pub(crate) fn notable_if(self, is_notable: bool) -> Self {
        Self { is_notable, ..self }
    }
}

/// Writes rules as an object, each text under its heading.
pub fn by_heading<S: Serializer>(rules: &[Rule], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(rules.iter().map(|rule| (rule.heading, &rule.text)))
}

impl Site {
    /// The version of Python as one of the rules; `None` if it is only
    /// assumed.
    pub fn python_rule(&self) -> Option<Rule> {
        self.python.source.as_ref()?;
        Some(Rule::new("python", self.python_in_words()))
    }

    /// The rules of a ranking.
    pub(crate) fn rules(
        &self,
        program: &Program,
        table: &JobTable,
        tree: Option<&PbsTree>,
    ) -> Vec<Rule> {
        let mut rules = Vec::new();
        if self.needs_shares(program.inputs()) && self.tree.is_some() {
            let policy = Rule::new("policy", self.policy.in_words(None, &self.config));
            rules.push(policy.notable_if(self.policy.name != PolicyName::Pbs));
        }
        rules.push(Rule::new("order", self.order_in_words(table, tree, true)));
        if let Some(threshold) = self.threshold() {
            rules.push(Rule::new("threshold", threshold.to_string()));
        }
        rules.extend(self.python_rule());
        rules
    }

    /// What orders the jobs, in words.
    pub(crate) fn order_in_words(
        &self,
        table: &JobTable,
        tree: Option<&PbsTree>,
        has_formula: bool,
    ) -> String {
        let mut order = Vec::new();
        for (criterion, words) in self.criteria(table, tree) {
            if has_formula || criterion != Criterion::Value {
                order.push(words);
            }
        }
        order.join(", then ")
    }

    /// The criteria by which the jobs are ordered, the first one first, with words for each.
    pub(crate) fn criteria(
        &self,
        table: &JobTable,
        tree: Option<&PbsTree>,
    ) -> Vec<(Criterion, String)> {
        if self.precision() == ScorePrecision::Decimal {
            return vec![
                (Criterion::Value, "value of the formula, in decimals".into()),
                (Criterion::Submission, "order of submission".into()),
            ];
        }
        let order = self.order_rules(tree, None);
        let mut criteria = order.criteria();
        criteria.retain(|(criterion, _)| match criterion {
            Criterion::SortKey(number) => {
                self.is_known_key(&self.config.job_sort_key.prime[number - 1], table)
            }
            _ => true,
        });
        criteria
    }

    /// Whether the scheduler sorts by a `job_sort_key`: by a resource, or by one of its special
    /// names.
    pub(crate) fn is_known_key(&self, key: &SortKey, table: &JobTable) -> bool {
        let origin = self.schema.origin(&key.name);
        let is_resource = !matches!(origin, None | Some(Origin::Special));
        key.is_special() || is_resource || table.undeclared().any(|(name, _)| name == key.name)
    }

    /// `job_sort_formula_threshold`: the one given, else the server's.
    pub fn threshold(&self) -> Option<f64> {
        self.options
            .threshold
            .or(self.server.job_sort_formula_threshold())
    }

    /// The precision in which values are kept and compared.
    pub(crate) fn precision(&self) -> ScorePrecision {
        match self.options.numbers {
            NumberMode::OpenPbs => ScorePrecision::Float32,
            NumberMode::Exact => ScorePrecision::Double,
            NumberMode::Decimal => ScorePrecision::Decimal,
        }
    }

    /// The rules by which the scheduler orders the jobs.
    pub(crate) fn order_rules<'a>(
        &'a self,
        tree: Option<&'a PbsTree>,
        threshold: Option<f64>,
    ) -> Order<'a> {
        Order {
            config: &self.config,
            queues: &self.queues,
            tree,
            threshold: threshold.map_or(NO_THRESHOLD, server_float),
        }
    }
}
