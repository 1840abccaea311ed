//! Writes a tree and a policy's numbers as `sshare -a -l` prints them.

use std::cmp::Ordering;
use std::fmt::Write as _;

use job_sort_formula::diagnostic::is_control;
use job_sort_formula::fairshare::{NodeId, NodeKind, ShareTree, Shares};

/// The numbers of one association; `None` is a blank column.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SshareRow {
    /// The shares; blank for the root.
    pub raw_shares: Option<Shares>,
    /// The fraction of its siblings' shares (fair tree), or of all shares (other policies), 0..=1.
    pub norm_shares: Option<f64>,
    /// The usage of the association and of all associations in it, in TRES-seconds; printed without decimals.
    pub raw_usage: Option<f64>,
    /// The fraction of all usage, 0..=1; blank for the root.
    pub norm_usage: Option<f64>,
    /// The usage that counts against the association under the policy.
    pub effective_usage: Option<f64>,
    /// The factor, 0..=1.
    pub fairshare: Option<f64>,
    /// Shares divided by usage among the siblings; fair tree only, and blank for `FairShare=parent`.
    pub level_fs: Option<f64>,
}

/// How cells are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// In columns, without an option.
    #[default]
    Columns,
    /// With `|` between the cells, as with `-P`.
    Piped,
    /// With `|` after every cell, as with `-p`.
    PipedToEnd,
}

/// The order in which siblings are printed, users before sub-accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// By name (22.05).
    Name,
    /// By lineage, the path of names, in which `/` is a character: `a-b` before `a` (26.11).
    #[default]
    Lineage,
}

/// The columns and the layout.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SshareStyle {
    /// How cells are separated.
    pub layout: Layout,
    /// The order in which siblings are printed.
    pub order: RowOrder,
    /// Whether there is a column `Partition`, as with `-m`; without it the associations of a user for different
    /// partitions look the same.
    pub partition: bool,
    /// Whether there is a column `LevelFS`, as there is under fair tree.
    pub level_fs: bool,
    /// The content of the last column of every row, `TRESRunMins`; `None` omits that column and `GrpTRESMins`.
    pub tres_run_mins: Option<String>,
}

/// The largest indentation: no tree of Slurm is deeper, and it bounds the size of the text.
const MAX_INDENT: usize = 1000;

/// Prints the tree with a header and one row per association.
///
/// `rows` are in the order of [`ShareTree::nodes`]; an association without a row has blank columns.
///
/// ```
/// use job_sort_formula::fairshare::{Member, TreeBuilder};
/// use jsf_slurm::sshare_text::{Layout, SshareRow, SshareStyle, format_sshare};
///
/// let mut builder = TreeBuilder::new("root");
/// builder.add_under("root", Member::group("a"))?;
/// let rows = [SshareRow::default(), SshareRow { norm_shares: Some(0.5), ..SshareRow::default() }];
/// let style = SshareStyle { layout: Layout::Piped, ..SshareStyle::default() };
/// let text = format_sshare(&builder.finish(), &rows, &style);
/// assert_eq!(text.lines().last(), Some(" a|||0.500000||||"));
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
pub fn format_sshare(tree: &ShareTree, rows: &[SshareRow], style: &SshareStyle) -> String {
    let columns = shown_columns(style);
    let mut text = String::new();
    push_row(&mut text, style.layout, columns.iter().map(|column| column.cell(column.name)));
    if style.layout == Layout::Columns {
        push_row(&mut text, style.layout, columns.iter().map(|column| "-".repeat(column.width)));
    }
    let mut stack = vec![(tree.root(), 0)];
    while let Some((node, depth)) = stack.pop() {
        let blank = SshareRow::default();
        let row = rows.get(node.index()).unwrap_or(&blank);
        let cells = columns.iter().map(|column| column.content(tree, node, depth, row, style));
        push_row(&mut text, style.layout, cells);
        let mut below = tree.children(node).to_vec();
        below.sort_by(|&a, &b| compare_siblings(tree, style.order, a, b));
        stack.extend(below.into_iter().rev().map(|child| (child, depth + 1)));
    }
    text
}

#[derive(Debug, Clone, Copy)]
enum Content {
    Account,
    User,
    Partition,
    Shares,
    Float(fn(&SshareRow) -> Option<f64>),
    Usage,
    Nothing,
    RunMins,
}

struct Column {
    name: &'static str,
    width: usize,
    layout: Layout,
    content: Content,
}

fn shown_columns(style: &SshareStyle) -> Vec<Column> {
    let has_limits = style.tres_run_mins.is_some();
    let all = [
        ("Account", 20, Content::Account, true),
        ("User", 10, Content::User, true),
        ("Partition", 12, Content::Partition, style.partition),
        ("RawShares", 10, Content::Shares, true),
        ("NormShares", 11, Content::Float(|row| row.norm_shares), true),
        ("RawUsage", 11, Content::Usage, true),
        ("NormUsage", 11, Content::Float(|row| row.norm_usage), true),
        ("EffectvUsage", 13, Content::Float(|row| row.effective_usage), true),
        ("FairShare", 10, Content::Float(|row| row.fairshare), true),
        ("LevelFS", 10, Content::Float(|row| row.level_fs), style.level_fs),
        ("GrpTRESMins", 30, Content::Nothing, has_limits),
        ("TRESRunMins", 30, Content::RunMins, has_limits),
    ];
    let shown = all.into_iter().filter(|(.., is_shown)| *is_shown);
    shown.map(|(name, width, content, _)| Column { name, width, layout: style.layout, content }).collect()
}

impl Column {
    fn content(&self, tree: &ShareTree, node: NodeId, depth: usize, row: &SshareRow, style: &SshareStyle) -> String {
        match self.content {
            Content::Account => {
                let account = match (tree.kind(node), tree.parent(node)) {
                    (NodeKind::Entity, Some(parent)) => parent,
                    _ => node,
                };
                self.cell(&(" ".repeat(depth.min(MAX_INDENT)) + &shown(tree.name(account))))
            }
            Content::User if tree.kind(node) == NodeKind::Entity => self.cell(&shown(tree.base_name(node))),
            Content::Partition => self.cell(&shown(tree.partition(node).unwrap_or_default())),
            Content::User | Content::Nothing => self.cell(""),
            Content::Shares => self.cell(&match row.raw_shares {
                None => String::new(),
                Some(Shares::Parent) => "parent".to_owned(),
                Some(Shares::Count(count)) => count.to_string(),
            }),
            // an integer that is wider than its column is not cut
            Content::Usage => {
                let text = row.raw_usage.map_or_else(String::new, |usage| (usage as u64).to_string());
                if self.layout == Layout::Columns { format!("{text:>0$}", self.width) } else { text }
            }
            Content::Float(number) => self.float_cell(number(row)),
            Content::RunMins => self.cell(style.tres_run_mins.as_deref().unwrap_or_default()),
        }
    }

    fn float_cell(&self, value: Option<f64>) -> String {
        let text = value.map_or_else(String::new, format_float);
        match value {
            Some(value) if self.layout == Layout::Columns && text.len() > self.width => {
                format_scientific(value, self.width)
            }
            _ => self.cell(&text),
        }
    }

    /// The text at the column's width: cut with a `+`, or padded with blanks.
    fn cell(&self, text: &str) -> String {
        if self.layout != Layout::Columns {
            return text.to_owned();
        }
        let mut text = text.to_owned();
        if text.len() > self.width {
            let end = (0..self.width).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            text.truncate(end);
            text.push('+');
        }
        let blanks = " ".repeat(self.width.saturating_sub(text.len()));
        if matches!(self.content, Content::Account) { text + &blanks } else { blanks + &text }
    }
}

fn push_row(text: &mut String, layout: Layout, cells: impl Iterator<Item = String>) {
    for (index, cell) in cells.enumerate() {
        // writing to a string cannot fail
        let _ = match layout {
            Layout::Columns => write!(text, "{cell} "),
            Layout::PipedToEnd => write!(text, "{cell}|"),
            Layout::Piped if index == 0 => write!(text, "{cell}"),
            Layout::Piped => write!(text, "|{cell}"),
        };
    }
    text.push('\n');
}

/// A name without control characters.
fn shown(name: &str) -> String {
    name.chars().map(|c| if is_control(c) { '?' } else { c }).collect()
}

/// Users before accounts, then by name or lineage. The associations of a user for different partitions keep the tree's
/// order under [`RowOrder::Name`] and are sorted by partition under [`RowOrder::Lineage`].
fn compare_siblings(tree: &ShareTree, order: RowOrder, a: NodeId, b: NodeId) -> Ordering {
    let by_kind = (tree.kind(a) != NodeKind::Entity).cmp(&(tree.kind(b) != NodeKind::Entity));
    by_kind.then_with(|| sort_bytes(tree, order, a).cmp(sort_bytes(tree, order, b)))
}

fn sort_bytes(tree: &ShareTree, order: RowOrder, node: NodeId) -> impl Iterator<Item = u8> {
    let [end, partition] = match order {
        RowOrder::Name => ["", ""],
        RowOrder::Lineage => ["/", tree.partition(node).unwrap_or_default()],
    };
    tree.base_name(node).bytes().chain(end.bytes()).chain(partition.bytes())
}

/// The daemon's values for "no number" and "infinite" in 32 and in 64 bits, which are printed as blanks.
const BLANK: [f64; 3] = [4_294_967_294.0, 4_294_967_295.0, 18_446_744_073_709_551_615.0];

/// `%f`, or nothing for a [`BLANK`] number.
fn format_float(value: f64) -> String {
    match value {
        _ if BLANK.contains(&value) => String::new(),
        _ if value.is_nan() => if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned(),
        _ => format!("{value:.6}"),
    }
}

/// `%e` with as many digits as fit into the width.
fn format_scientific(value: f64, width: usize) -> String {
    let excess = scientific(value, width).len().saturating_sub(width);
    format!("{:>width$}", scientific(value, width.saturating_sub(excess)))
}

/// `%e` with this number of digits after the point.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_sort_formula::fairshare::{Member, TreeBuilder};

    #[test]
    fn partitions_have_a_column_of_their_own() {
        let mut builder = TreeBuilder::new("root").naming(job_sort_formula::fairshare::Naming::PerGroup);
        for member in [
            Member::entity("ann").partition("gpu"),
            Member::entity("ann1"),
            Member::entity("ann"),
            Member::entity("ann").partition("cpu"),
        ] {
            builder.add_under("root", member).expect("room");
        }
        let tree = builder.finish();
        let [by_lineage, by_name] = [(RowOrder::Lineage, true), (RowOrder::Name, false)].map(|(order, partition)| {
            let style = SshareStyle { layout: Layout::Piped, order, partition, ..SshareStyle::default() };
            let text = format_sshare(&tree, &[], &style);
            text.lines().map(|line| line.split('|').take(3).collect::<Vec<_>>().join("|")).collect::<Vec<_>>()
        });
        assert_eq!(by_lineage[0], "Account|User|Partition");
        assert_eq!(by_lineage[2..], [" root|ann|", " root|ann|cpu", " root|ann|gpu", " root|ann1|"]);
        assert_eq!(by_name[2..], [" root|ann|", " root|ann|", " root|ann|", " root|ann1|"]);
    }

    #[test]
    fn a_text_wider_than_its_column_is_cut_and_an_integer_moves_the_rest() {
        let mut builder = TreeBuilder::new("root");
        let bank = builder.add_under("root", Member::group("a-bank-with-a-very-long-name")).expect("room");
        builder.add(bank, Member::entity("a-user-with-one")).expect("room");
        let tree = builder.finish();
        let wide = SshareRow { raw_usage: Some(1_000_000_000_000_017.9), level_fs: Some(1e15), ..SshareRow::default() };
        let style = SshareStyle { level_fs: true, ..SshareStyle::default() };
        let text = format_sshare(&tree, &[wide, wide, SshareRow::default()], &style);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert!(rows[0].contains(" 1000000000000017 ") && rows[0].ends_with(" 1.0000e+15 "), "{}", rows[0]);
        assert_eq!(&rows[1][..21], " a-bank-with-a-very+ ");
        assert_eq!(&rows[2][..32], "  a-bank-with-a-ver+ a-user-wi+ ");
    }

    #[test]
    fn numbers_are_printed_as_in_c() {
        assert_eq!(format_float(0.396_039_603_960_396_06), "0.396040");
        assert_eq!(format_float(f64::INFINITY), "inf");
        assert_eq!(format_float(18_446_744_073_709_551_615.0), "");
        assert_eq!(format_scientific(1e15, 10), "1.0000e+15");
        assert_eq!(format_scientific(123_456_789.0, 10), "1.2346e+08");
        assert_eq!(format_scientific(-1.5e200, 11), "-1.500e+200");
    }
}
