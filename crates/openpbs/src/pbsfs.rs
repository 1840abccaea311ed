//! What `pbsfs` prints, byte for byte, without root privileges and without a server.
//!
//! In: the arguments ([`Request::parse`]) and the three files of `sched_priv` ([`SchedPriv`]). Out:
//! the bytes for standard output, and an [`Answer`]: the bytes for standard error and the exit
//! code. The requests that change the usage file are refused. Recorded in
//! `tests/golden/openpbs/pbsfs`; messages that no recorded case shows follow OpenPBS's published
//! sources and tests.

use std::cmp::Ordering;
use std::io::{self, Write};

use job_sort_formula::fairshare::{NodeId, PolicyRules, TreeError};
use thiserror::Error;

use crate::amounts::fixed;
use crate::c_text::{name_bytes, name_text};
use crate::files::fairshare_files::{ResourceGroup, UsageFile};
use crate::files::sched_config::SchedConfig;
use crate::pbs_tree::PbsTree;

/// The exit code of a request that failed.
const FAILED: u8 = 1;

/// The files of the scheduler's directory, `sched_priv`.
#[derive(Debug, Clone)]
pub struct SchedPriv {
    /// `resource_group`
    pub lines: ResourceGroup,
    /// `sched_config`; the defaults if the file does not exist.
    pub config: SchedConfig,
    /// `usage`; `None` if the file does not exist.
    pub usage: Option<UsageFile>,
}

/// The result of a call, besides its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The bytes for standard error.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub code: u8,
}

impl Answer {
    fn fail(&mut self, message: &[u8]) {
        self.stderr.extend_from_slice(message);
        self.code = FAILED;
    }
}

/// Why a request has no [`Answer`].
#[derive(Debug, Error)]
pub enum PbsfsError {
    /// The tree of the files is too large.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Standard output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Answers a request.
///
/// ```
/// use jsf_openpbs::pbsfs::{Request, SchedPriv, answer};
/// use jsf_openpbs::files::fairshare_files::ResourceGroup;
/// use jsf_openpbs::files::sched_config::SchedConfig;
///
/// let files = SchedPriv {
///     lines: ResourceGroup::parse(b"Bob 10 root 5\n"),
///     config: SchedConfig::default(),
///     usage: None,
/// };
/// let mut stdout = Vec::new();
/// let answer = answer(&Request::Outline, &files, &mut stdout)?;
/// assert_eq!(stdout, b" TREEROOT(0)\n     Bob(10)\n     unknown(1)\n");
/// assert_eq!(answer.stderr, b"Creating usage database for fairshare.\n");
/// # Ok::<(), jsf_openpbs::pbsfs::PbsfsError>(())
/// ```
///
/// # Errors
/// [`PbsfsError`]. What `pbsfs` itself reports as an error is part of the [`Answer`].
pub fn answer(
    request: &Request,
    files: &SchedPriv,
    stdout: &mut dyn Write,
) -> Result<Answer, PbsfsError> {
    let mut answer = Answer {
        stderr: file_messages(files),
        ..Answer::default()
    };
    let (usage, unknown_shares) = (files.usage.as_ref(), files.config.unknown_shares);
    let document = files.lines.document(usage, unknown_shares);
    // `pbsfs` knows no jobs, so that only the files make its tree
    let tree = PbsTree::build(&document, PolicyRules::Scheduler, [""; 0])?;
    let units = name_bytes(&files.config.fairshare_usage_res);
    match request {
        Request::Table => write_table(&tree, &units, stdout)?,
        Request::Outline => write_outline(&tree, stdout)?,
        Request::Entity(name) => {
            if let Some(node) = find_node(&tree, name, &mut answer) {
                write_entity(&tree, node, &units, stdout)?;
            }
        }
        Request::Compare(left, right) => {
            if let Some(left) = find_node(&tree, left, &mut answer)
                && let Some(right) = find_node(&tree, right, &mut answer)
            {
                write_comparison(&tree, left, right, stdout)?;
            }
        }
    }
    Ok(answer)
}

/// The messages about the files, which `pbsfs` prints first.
fn file_messages(files: &SchedPriv) -> Vec<u8> {
    let mut messages = Vec::new();
    for line in &files.lines.rejected {
        messages.extend_from_slice(&line.printed);
        messages.extend(format!("resgroup: error on line {}.\n", line.daemon_line).into_bytes());
    }
    if files.usage.is_none() {
        messages.extend_from_slice(b"Creating usage database for fairshare.\n");
    }
    messages
}

/// The node with the given name; if the tree has no such node, `answer` becomes a failure.
fn find_node(tree: &PbsTree, name: &[u8], answer: &mut Answer) -> Option<NodeId> {
    let node = tree.tree().find(&name_text(name));
    if node.is_none() {
        answer.fail(&[b"Fairshare Entity ", name, b" does not exist.\n"].concat());
    }
    node
}

/// One call of `pbsfs`. Names are bytes, as the shell passes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `-p`, or no option: prints the tree as a table.
    Table,
    /// `-t`: prints the tree, indented.
    Outline,
    /// `-g ENTITY`: prints one entity or group, and its path from the root.
    Entity(Vec<u8>),
    /// `-c ENTITY1 ENTITY2`: prints which of the two has the higher fair-share priority.
    Compare(Vec<u8>, Vec<u8>),
}

/// Valid arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// The call.
    pub request: Request,
    /// The scheduler named by `-I`, if it is not the default one.
    pub scheduler: Option<Vec<u8>>,
    /// The messages about invalid options, for standard error.
    pub stderr: Vec<u8>,
}

/// Arguments that are not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidArguments {
    /// Arguments that make `pbsfs` print its usage and fail: the messages, for standard error.
    Usage(Vec<u8>),
    /// `-s`, `-d` or `-e`, which change the usage file.
    Changes(char),
}

impl Request {
    /// Parses the arguments that follow the name of the program; `program` is the name that
    /// messages show. The last of several actions counts, `-I SCHEDULER` may accompany it, and an
    /// unknown option is reported and ignored.
    ///
    /// # Errors
    /// [`InvalidArguments`]: too many operands or too few, or a request that changes the usage file.
    pub fn parse(program: &[u8], arguments: &[&[u8]]) -> Result<Arguments, InvalidArguments> {
        let parsed = ParsedOptions::parse(program, arguments);
        let stderr = parsed.stderr;
        let mut action = b'p';
        let mut scheduler = None;
        for (letter, value) in parsed.options {
            match letter {
                // `--version` as the only argument prints the version before `getopt` is called
                b'-' => return Err(InvalidArguments::usage(stderr, "--version")),
                b'I' => scheduler = value.filter(|name| *name != b"default").map(<[u8]>::to_vec),
                _ => action = letter,
            }
        }
        let request = match (action, &parsed.operands[..]) {
            (b'p', []) => Ok(Self::Table),
            (b't', []) => Ok(Self::Outline),
            (b'g', [entity]) => Ok(Self::Entity(entity.to_vec())),
            (b'c', [left, right]) => Ok(Self::Compare(left.to_vec(), right.to_vec())),
            (b'p' | b't', _) => Err("-[ptdgcs] [-I sched_name]"),
            (b'g', _) => Err("[-I sched_name] -g <fairshare_entity>"),
            (b'c', _) => Err("[-I sched_name] -c <entity1> <entity2>"),
            _ => return Err(InvalidArguments::Changes(action.into())),
        };
        match request {
            Ok(request) => Ok(Arguments {
                request,
                scheduler,
                stderr,
            }),
            Err(usage) => Err(InvalidArguments::usage(stderr, usage)),
        }
    }
}

impl InvalidArguments {
    fn usage(stderr: Vec<u8>, usage: &str) -> Self {
        Self::Usage([&stderr[..], b"Usage: pbsfs ", usage.as_bytes(), b"\n"].concat())
    }
}

/// The arguments, split as glibc's `getopt` splits them: options anywhere between the operands, up
/// to `--`.
#[derive(Debug, Default, PartialEq, Eq)]
struct ParsedOptions<'a> {
    /// The options in the order given, with the argument of those that take one.
    options: Vec<(u8, Option<&'a [u8]>)>,
    /// The other arguments.
    operands: Vec<&'a [u8]>,
    /// What glibc's `getopt` reports of the options that it skips.
    stderr: Vec<u8>,
}

impl<'a> ParsedOptions<'a> {
    fn parse(program: &[u8], arguments: &[&'a [u8]]) -> Self {
        let mut parsed = Self::default();
        let mut rest = arguments.iter().copied();
        while let Some(argument) = rest.next() {
            match argument {
                b"--" => {
                    parsed.operands.extend(rest);
                    break;
                }
                [b'-', cluster @ ..] if !cluster.is_empty() => {
                    parsed.parse_cluster(program, cluster, &mut rest);
                }
                operand => parsed.operands.push(operand),
            }
        }
        parsed
    }

    fn skip(&mut self, program: &[u8], fault: &[u8], letter: u8) {
        let message = [program, b": ", fault, b" -- '", &[letter], b"'\n"];
        self.stderr.extend(message.concat());
    }

    /// Parses the options of one argument, such as `-sg` or `-Iname`.
    fn parse_cluster(
        &mut self,
        program: &[u8],
        cluster: &'a [u8],
        rest: &mut impl Iterator<Item = &'a [u8]>,
    ) {
        for (at, &letter) in cluster.iter().enumerate() {
            // `pbsfs` calls `getopt` with `sgptdceI:-:`
            if b"I-".contains(&letter) {
                let joined = Some(&cluster[at + 1..]).filter(|joined| !joined.is_empty());
                match joined.or_else(|| rest.next()) {
                    Some(value) => self.options.push((letter, Some(value))),
                    None => self.skip(program, b"option requires an argument", letter),
                }
                return;
            }
            if b"sgptdce".contains(&letter) {
                self.options.push((letter, None));
            } else {
                self.skip(program, b"invalid option", letter);
            }
        }
    }
}

/// What `pbsfs` prints for a number that is not set.
const UNSPECIFIED: i64 = -1;
/// The indentation of a child relative to its parent in `pbsfs -t`, in blanks.
const INDENT: usize = 5;

/// The numbers of a node that `pbsfs` prints.
struct NodeView {
    name: Vec<u8>,
    /// The parent's `cgroup`.
    resgroup: i64,
    cgroup: i32,
    shares: i64,
    usage: f64,
    perc: f32,
    tree_usage: f64,
}

impl NodeView {
    fn new(tree: &PbsTree, node: NodeId) -> Self {
        let mut view = Self {
            name: name_bytes(tree.tree().name(node)),
            resgroup: UNSPECIFIED,
            cgroup: tree.cgroup(node),
            shares: UNSPECIFIED,
            usage: tree.tree().usage(node),
            perc: 0.0,
            tree_usage: 0.0,
        };
        if let Some(shares) = tree.shares().get(node) {
            view.perc = shares.fairshare_perc as f32;
            view.tree_usage = shares.fairshare_tree_usage;
        }
        if let Some(parent) = tree.tree().parent(node) {
            view.resgroup = tree.cgroup(parent).into();
            view.shares = tree.tree().shares(node).count();
        }
        view
    }

    /// The quotient of usage and percentage, by which nodes are compared; -1 if the percentage is
    /// 0.
    fn usage_over_perc(&self) -> f64 {
        if self.perc == 0.0 {
            return -1.0;
        }
        let quotient = self.usage / f64::from(self.perc);
        // every NaN that arises on x86 has its sign bit set
        if quotient.is_nan() {
            f64::NAN.copysign(-1.0)
        } else {
            quotient
        }
    }

    /// `fairshare_perc` in percent, computed as a C `float`.
    fn percent(&self) -> f64 {
        f64::from(self.perc * 100.0)
    }
}

/// `pbsfs -p`: one line per node, groups before their children, siblings in reverse file order.
pub fn write_table(tree: &PbsTree, units: &[u8], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[b"Fairshare usage units are in: ", units, b"\n"].concat())?;
    for node in tree.daemon_order() {
        let view = NodeView::new(tree, node);
        out.write_all(&padded(&view.name))?;
        let (resgroup, cgroup, shares) = (view.resgroup, view.cgroup, view.shares);
        let usage = fixed(view.usage, 0);
        let percent = fixed(view.percent(), 3);
        writeln!(
            out,
            ": Grp: {resgroup:<5}  cgrp: {cgroup:<5}Shares: {shares:<6} Usage: {usage:<6} Perc: {percent:>6}%"
        )?;
    }
    Ok(())
}

/// `pbsfs -t`: one line per node, groups before their children, siblings in reverse file order. The
/// root is indented by one blank.
fn write_outline(tree: &PbsTree, out: &mut dyn Write) -> io::Result<()> {
    let mut depths = vec![0usize; tree.tree().len()];
    for node in tree.tree().nodes() {
        if let Some(parent) = tree.tree().parent(node) {
            depths[node.index()] = depths[parent.index()] + 1;
        }
    }
    for node in tree.daemon_order() {
        // `printf` pads a blank (`%*s`), which the root has too
        let indent = (depths[node.index()] * INDENT).max(1) as u64;
        io::copy(&mut io::Read::take(io::repeat(b' '), indent), out)?;
        out.write_all(&name_bytes(tree.tree().name(node)))?;
        writeln!(out, "({})", tree.cgroup(node))?;
    }
    Ok(())
}

/// `pbsfs -g`: the numbers of the node, then one line per node on the path from the root to it. The
/// root has no path.
fn write_entity(tree: &PbsTree, node: NodeId, units: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let view = NodeView::new(tree, node);
    let fields: [(&str, Vec<u8>); 8] = [
        ("fairshare entity: ", view.name.clone()),
        ("Resgroup\t\t: ", view.resgroup.to_string().into()),
        ("cresgroup\t\t: ", view.cgroup.to_string().into()),
        ("Shares\t\t\t: ", view.shares.to_string().into()),
        ("Percentage\t\t: ", (fixed(view.percent(), 6) + "%").into()),
        ("fairshare_tree_usage\t: ", fixed(view.tree_usage, 6).into()),
        (
            "usage\t\t\t: ",
            [fixed(view.usage, 0).as_bytes(), b" (", units, b")"].concat(),
        ),
        ("usage/perc\t\t: ", fixed(view.usage_over_perc(), 0).into()),
    ];
    for (label, value) in fields {
        out.write_all(&[label.as_bytes(), &value, b"\n"].concat())?;
    }
    out.write_all(b"Path from root: \n")?;
    let mut path: Vec<NodeId> = tree.tree().ancestors(node).collect();
    if !path.is_empty() {
        path.insert(0, node);
    }
    for node in path.into_iter().rev() {
        let view = NodeView::new(tree, node);
        out.write_all(&padded(&view.name))?;
        let usage = fixed(view.usage, 0);
        // `pbsfs` prints the fraction here, and not the percentage as above
        let perc = fixed(view.perc.into(), 3);
        let over_perc = fixed(view.usage_over_perc(), 0);
        writeln!(
            out,
            ": {:5} {usage:>10} / {perc:>5} = {over_perc}",
            view.cgroup
        )?;
    }
    Ok(())
}

/// `pbsfs -c`: the name of the node with the higher fair-share priority, or both names if they tie.
fn write_comparison(
    tree: &PbsTree,
    left: NodeId,
    right: NodeId,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = [left, right].map(|node| name_bytes(tree.tree().name(node)));
    let line = match tree.compare(left, right) {
        Ordering::Less => names[0].clone(),
        Ordering::Greater => names[1].clone(),
        Ordering::Equal => names.join(&b" == "[..]),
    };
    out.write_all(&[&line[..], b"\n"].concat())
}

/// `%-10s`, which counts bytes.
fn padded(name: &[u8]) -> Vec<u8> {
    let mut padded = name.to_vec();
    padded.resize(name.len().max(10), b' ');
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> Result<Request, InvalidArguments> {
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .map(|argument| argument.as_bytes())
            .collect();
        Request::parse(b"pbsfs", &arguments).map(|parsed| parsed.request)
    }

    #[test]
    fn the_last_action_counts() {
        assert_eq!(request(&[]), Ok(Request::Table));
        assert_eq!(request(&["-x"]), Ok(Request::Table));
        assert_eq!(request(&["-pt"]), Ok(Request::Outline));
        assert_eq!(
            request(&["Bob", "-p", "-g"]),
            Ok(Request::Entity(b"Bob".to_vec()))
        );
        assert_eq!(request(&["-s", "-p"]), Ok(Request::Table));
        assert_eq!(
            request(&["-d", "what", "ever"]),
            Err(InvalidArguments::Changes('d'))
        );
        assert_eq!(
            request(&["-I", "default", "-e"]),
            Err(InvalidArguments::Changes('e'))
        );
        assert_eq!(
            request(&["-s", "--", "Bob", "-5"]),
            Err(InvalidArguments::Changes('s'))
        );
        assert_eq!(
            request(&["-ps", "Bob"]),
            Err(InvalidArguments::Changes('s'))
        );
    }

    #[test]
    fn wrong_number_of_operands() {
        for (arguments, usage) in [
            (
                &["-t", "Bob"][..],
                "Usage: pbsfs -[ptdgcs] [-I sched_name]\n",
            ),
            (
                &["-g"],
                "Usage: pbsfs [-I sched_name] -g <fairshare_entity>\n",
            ),
            (
                &["-c", "a"],
                "Usage: pbsfs [-I sched_name] -c <entity1> <entity2>\n",
            ),
            (&["--help"], "Usage: pbsfs --version\n"),
        ] {
            let expected = InvalidArguments::Usage(usage.into());
            assert_eq!(request(arguments), Err(expected), "{arguments:?}");
        }
    }

    fn options<'a>(arguments: &[&'a str]) -> ParsedOptions<'a> {
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .map(|argument| argument.as_bytes())
            .collect();
        ParsedOptions::parse(b"pbsfs", &arguments)
    }

    #[test]
    fn options_may_follow_operands() {
        let parsed = options(&["Bob", "-sg", "-", "-Iname", "5", "-I", "other", "--", "-5"]);
        let expected: Vec<(u8, Option<&[u8]>)> = vec![
            (b's', None),
            (b'g', None),
            (b'I', Some(b"name")),
            (b'I', Some(b"other")),
        ];
        assert_eq!(parsed.options, expected);
        assert_eq!(parsed.operands, [&b"Bob"[..], b"-", b"5", b"-5"]);
        assert!(parsed.stderr.is_empty());
    }

    #[test]
    fn invalid_options_are_reported_and_skipped() {
        let parsed = options(&["-5s", "-I"]);
        assert_eq!(parsed.options, [(b's', None)]);
        assert_eq!(
            parsed.stderr,
            b"pbsfs: invalid option -- '5'\npbsfs: option requires an argument -- 'I'\n"
        );
    }
}
