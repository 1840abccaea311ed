//! A tree and a policy's numbers as `sshare -a -l` prints them.

mod number;

use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::fairshare::{Kind, NodeId, ShareTree, Shares};
use number::{float, scientific};

/// The numbers of one association; `None` leaves the column blank.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SshareRow {
    /// What it is allotted; blank for the root.
    pub raw_shares: Option<Shares>,
    /// The part of its siblings' shares (fair tree), or of all (the other policies).
    pub norm_shares: Option<f64>,
    /// The usage of it and of all below it; printed without its fraction.
    pub raw_usage: Option<f64>,
    /// The part of all usage; blank for the root.
    pub norm_usage: Option<f64>,
    /// What the policy makes of the usage.
    pub effective_usage: Option<f64>,
    /// The factor, 0..=1.
    pub fairshare: Option<f64>,
    /// Shares by usage among the siblings; under fair tree alone, and blank for `FairShare=parent`.
    pub level_fs: Option<f64>,
}

/// How the cells are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// In columns, as without an option.
    #[default]
    Columns,
    /// With `|` between the cells, as with `-P`.
    Piped,
    /// With `|` behind every cell, as with `-p`.
    PipedToTheEnd,
}

/// In which order siblings are printed; users stand before sub-accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// By name (22.05).
    Name,
    /// By the path of names, in which `/` counts, so that `a-b` stands before `a` (26.11).
    #[default]
    Lineage,
}

/// What to print.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SshareStyle {
    /// How the cells are set apart.
    pub layout: Layout,
    /// In which order siblings are printed.
    pub order: RowOrder,
    /// Whether there is a column `Partition`, as with `-m`; without it the associations that a user has for single
    /// partitions look alike.
    pub partition: bool,
    /// Whether there is a column `LevelFS`, as there is under fair tree.
    pub level_fs: bool,
    /// What every row has in its last column, `TRESRunMins`; `None` leaves out that column and `GrpTRESMins`.
    pub tres_run_mins: Option<String>,
}

/// The deepest level that is indented by its depth: no tree of Slurm's is deeper, and the text stays bounded.
const DEEPEST: usize = 1000;

/// Prints the tree, one row per association, with a header.
///
/// `rows` are in the order of [`ShareTree::nodes`]; an association without a row has blanks.
///
/// ```
/// use job_sort_formula::fairshare::{Member, TreeBuilder};
/// use job_sort_formula::slurm::sshare_text::{Layout, SshareRow, SshareStyle, sshare_text};
///
/// let mut builder = TreeBuilder::new("root");
/// builder.add_under("root", Member::group("a"))?;
/// let rows = [SshareRow::default(), SshareRow { norm_shares: Some(0.5), ..SshareRow::default() }];
/// let style = SshareStyle { layout: Layout::Piped, ..SshareStyle::default() };
/// let text = sshare_text(&builder.finish(), &rows, &style);
/// assert_eq!(text.lines().last(), Some(" a|||0.500000||||"));
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
pub fn sshare_text(tree: &ShareTree, rows: &[SshareRow], style: &SshareStyle) -> String {
    let columns = columns(style);
    let mut text = String::new();
    push_row(&mut text, style.layout, columns.iter().map(|column| column.cell(column.name)));
    if style.layout == Layout::Columns {
        push_row(&mut text, style.layout, columns.iter().map(|column| "-".repeat(column.width)));
    }
    let mut waiting = vec![(tree.root(), 0)];
    while let Some((node, depth)) = waiting.pop() {
        let blank = SshareRow::default();
        let row = rows.get(node.index()).unwrap_or(&blank);
        let cells = columns.iter().map(|column| column.of(tree, node, depth, row, style));
        push_row(&mut text, style.layout, cells);
        let mut below = tree.children(node).to_vec();
        below.sort_by(|&a, &b| order(tree, style.order, a, b));
        waiting.extend(below.into_iter().rev().map(|child| (child, depth + 1)));
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

fn columns(style: &SshareStyle) -> Vec<Column> {
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
    let wanted = all.into_iter().filter(|(.., wanted)| *wanted);
    wanted.map(|(name, width, content, _)| Column { name, width, layout: style.layout, content }).collect()
}

impl Column {
    fn of(&self, tree: &ShareTree, node: NodeId, depth: usize, row: &SshareRow, style: &SshareStyle) -> String {
        match self.content {
            Content::Account => {
                let account = match (tree.kind(node), tree.parent(node)) {
                    (Kind::Entity, Some(parent)) => parent,
                    _ => node,
                };
                self.cell(&(" ".repeat(depth.min(DEEPEST)) + &shown(tree.name(account))))
            }
            Content::User if tree.kind(node) == Kind::Entity => self.cell(&shown(tree.name_alone(node))),
            Content::Partition => self.cell(&shown(tree.partition(node).unwrap_or_default())),
            Content::User | Content::Nothing => self.cell(""),
            Content::Shares => self.cell(&match row.raw_shares {
                None => String::new(),
                Some(Shares::Parent) => "parent".to_owned(),
                Some(Shares::Count(count)) => count.to_string(),
            }),
            // a number that is wider than its column is not cut
            Content::Usage => {
                let text = row.raw_usage.map_or_else(String::new, |usage| (usage as u64).to_string());
                if self.layout == Layout::Columns { format!("{text:>0$}", self.width) } else { text }
            }
            Content::Float(number) => self.float(number(row)),
            Content::RunMins => self.cell(style.tres_run_mins.as_deref().unwrap_or_default()),
        }
    }

    fn float(&self, value: Option<f64>) -> String {
        let text = value.map_or_else(String::new, float);
        match value {
            Some(value) if self.layout == Layout::Columns && text.len() > self.width => scientific(value, self.width),
            _ => self.cell(&text),
        }
    }

    /// The text at the column's width: cut with a `+`, or filled with blanks.
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
            Layout::PipedToTheEnd => write!(text, "{cell}|"),
            Layout::Piped if index == 0 => write!(text, "{cell}"),
            Layout::Piped => write!(text, "|{cell}"),
        };
    }
    text.push('\n');
}

/// A name that cannot break the line.
fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Users before accounts, and by name. The associations that a user has for single partitions stay in the tree's order
/// where only names count, and go by partition where paths do.
fn order(tree: &ShareTree, order: RowOrder, a: NodeId, b: NodeId) -> Ordering {
    let is_account = |node| tree.kind(node) != Kind::Entity;
    let bytes = |node| {
        let [end, partition] = match order {
            RowOrder::Name => ["", ""],
            RowOrder::Lineage => ["/", tree.partition(node).unwrap_or_default()],
        };
        tree.name_alone(node).bytes().chain(end.bytes()).chain(partition.bytes())
    };
    is_account(a).cmp(&is_account(b)).then_with(|| bytes(a).cmp(bytes(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::{Member, TreeBuilder};

    #[test]
    fn partitions_have_a_column_of_their_own() {
        let mut builder = TreeBuilder::new("root").naming(crate::fairshare::Naming::PerGroup);
        for member in [
            Member::entity("ann").partition("gpu"),
            Member::entity("ann1"),
            Member::entity("ann"),
            Member::entity("ann").partition("cpu"),
        ] {
            builder.add_under("root", member).expect("room");
        }
        let tree = builder.finish();
        let text = |order, partition| {
            let style = SshareStyle { layout: Layout::Piped, order, partition, ..SshareStyle::default() };
            let text = sshare_text(&tree, &[], &style);
            text.lines().map(|line| line.split('|').take(3).collect::<Vec<_>>().join("|")).collect::<Vec<_>>()
        };
        let by_lineage = text(RowOrder::Lineage, true);
        let rows = [" root|ann|", " root|ann|cpu", " root|ann|gpu", " root|ann1|"];
        assert_eq!(by_lineage[0], "Account|User|Partition");
        assert_eq!(by_lineage[2..], rows);
        let by_name = text(RowOrder::Name, false);
        assert_eq!(by_name[2..], [" root|ann|", " root|ann|", " root|ann|", " root|ann1|"]);
    }

    #[test]
    fn what_is_wider_than_its_column_is_cut_or_pushes_the_rest() {
        let mut builder = TreeBuilder::new("root");
        let bank = builder.add_under("root", Member::group("a-bank-with-a-very-long-name")).expect("room");
        builder.add(bank, Member::entity("a-user-with-one")).expect("room");
        let tree = builder.finish();
        let wide = SshareRow { raw_usage: Some(1_000_000_000_000_017.9), level_fs: Some(1e15), ..SshareRow::default() };
        let style = SshareStyle { level_fs: true, ..SshareStyle::default() };
        let text = sshare_text(&tree, &[wide, wide, SshareRow::default()], &style);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert!(rows[0].contains(" 1000000000000017 ") && rows[0].ends_with(" 1.0000e+15 "), "{}", rows[0]);
        assert_eq!(&rows[1][..21], " a-bank-with-a-very+ ");
        assert_eq!(&rows[2][..32], "  a-bank-with-a-ver+ a-user-wi+ ");
    }
}
