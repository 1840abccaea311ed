//! `jsf pbsfs`: what `pbsfs` prints, without root and without a server.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use jsf_openpbs::pbsfs::{InvalidArguments, PbsfsError, Request, SchedPriv, answer};
use jsf_openpbs::{ResourceGroup, SchedConfig, UsageFile};
use jsf_site::{FileSource, Role, SiteError, SiteFiles};

use crate::cli::messages::{print_message, warn};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::site::GivenSite;
use crate::view::words::printable_lines;

/// `jsf pbsfs`
#[derive(Debug, Args)]
#[command(after_help = "\
Requests of pbsfs (the last one wins; -I NAME may be added):
  -p                  print the fair-share tree as a table (the default)
  -t                  print the tree, indented
  -g ENTITY           print one entity or group, and its path
  -c ENTITY1 ENTITY2  print which of the two has the higher fair-share priority

-s, -d and -e, which change the usage, are refused: jsf does not write a scheduler's files.
Without --sched-priv and --site the folder is that of the site in JSF_SITE, else $PBS_HOME/sched_priv.

Exit codes: 0 success, 1 an error that pbsfs reports, 2 a file that cannot be read, or -s, -d or -e.

Examples:
  jsf pbsfs --sched-priv examples/site/sched_priv -p
  jsf pbsfs -t --sched-priv examples/site/sched_priv")]
pub struct PbsfsArgs {
    /// The scheduler's folder sched_priv
    ///
    /// The folder with resource_group, usage and sched_config; may be given among the arguments too
    #[arg(long, value_name = "DIR")]
    sched_priv: Option<PathBuf>,
    /// The site whose sched_priv it is
    ///
    /// As for `jsf rank`; may be given among the arguments too
    #[arg(long, value_name = "PATH", conflicts_with = "sched_priv")]
    site: Option<PathBuf>,
    /// The arguments of pbsfs
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    arguments: Vec<OsString>,
}

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 256 << 20;
/// The scheduler's files and their names.
const FILES: [(Role, &str); 3] = [
    (Role::ResourceGroup, "resource_group"),
    (Role::Usage, "usage"),
    (Role::SchedConfig, "sched_config"),
];
/// The name of the program in messages.
const PROGRAM: &[u8] = b"pbsfs";
/// The configuration file of PBS.
const PBS_CONF: &str = "/etc/pbs.conf";
/// The default of `PBS_HOME`.
const PBS_HOME: &str = "/var/spool/pbs";

impl PbsfsArgs {
    pub(crate) fn run(&self) -> Result<Outcome, CliError> {
        // behind the first argument of pbsfs clap takes everything for another one
        let (rest, folder) = split_option(&self.arguments, "--sched-priv")?;
        let (rest, site) = split_option(&rest, "--site")?;
        let folder = folder.or(self.sched_priv.clone());
        let site = site.or(self.site.clone());
        if folder.is_some() && site.is_some() {
            return Err(CliError::usage("give either --sched-priv or --site"));
        }
        let rest: Vec<&[u8]> = rest.iter().map(|rest| rest.as_encoded_bytes()).collect();
        let parsed = match Request::parse(PROGRAM, &rest) {
            Ok(parsed) => parsed,
            Err(InvalidArguments::Usage(stderr)) => {
                write_stderr(&stderr);
                return Ok(Outcome::Findings);
            }
            Err(InvalidArguments::Changes(letter)) => {
                return Err(CliError::usage(format!(
                    "jsf does not write a scheduler's files: `pbsfs -{letter}` of OpenPBS changes the usage"
                )));
            }
        };
        write_stderr(&parsed.stderr);
        let files = match (folder, GivenSite::find(site.as_deref()), parsed.scheduler) {
            (Some(folder), ..) => files_of(&folder)?,
            (None, Some(site), scheduler) => files_of_site(&site, scheduler.as_deref())?,
            (None, None, None) => files_of(&default_folder())?,
            (None, None, Some(_)) => {
                write_stderr(b"Can't connect to the server\n");
                print_message("help", "give the scheduler's folder with --sched-priv DIR");
                return Ok(Outcome::Findings);
            }
        };
        respond(&parsed.request, &read(&files)?)
    }
}

/// The files of a scheduler's folder.
fn files_of(folder: &Path) -> Result<SiteFiles, CliError> {
    // pbsfs changes its folder to it, which fails for a file too
    if let Err(error) = fs::metadata(folder.join(".")) {
        write_stderr(format!("Unable to access fairshare data: {}\n", reason(&error)).as_bytes());
        let path = folder.to_owned();
        return Err(SiteError::Read { path, error }.into());
    }
    let mut files = SiteFiles::default();
    for (role, name) in FILES {
        files = files.with(role, folder.join(name));
    }
    Ok(files)
}

/// The files of a site's scheduler: the default one, or the one that `-I` names.
fn files_of_site(site: &GivenSite, scheduler: Option<&[u8]>) -> Result<SiteFiles, CliError> {
    let files = site.open()?;
    let path = site.path.display();
    let Some(first) = FILES.into_iter().find_map(|(role, _)| files.first(role)) else {
        return Err(CliError::content(format_args!(
            "{}`{path}` has no file of a `sched_priv`",
            site.prefix()
        )));
    };
    let files = match (first, scheduler) {
        (FileSource::Path(file), name) => {
            let mut folder = file.parent().unwrap_or(Path::new("")).to_owned();
            if let Some(name) = name {
                let name = String::from_utf8_lossy(name);
                folder.set_file_name(format!("sched_priv_{name}"));
            }
            files_of(&folder)?
        }
        (_, None) => files,
        (_, Some(_)) => return Err(CliError::usage("-I needs a folder: unpack the archive")),
    };
    if !site.prefix().is_empty() {
        print_message("site", format_args!("{}`{path}`", site.prefix()));
    }
    Ok(files)
}

/// Prints the answer.
fn respond(request: &Request, files: &SchedPriv) -> Result<Outcome, CliError> {
    // all of it at once: a character that is cut at the end of a buffer would be replaced
    let mut text = Vec::new();
    let answer = match answer(request, files, &mut text) {
        Ok(answer) => answer,
        Err(PbsfsError::Tree(error)) => return Err(CliError::content(error)),
        Err(PbsfsError::Output(error)) => return Err(error.into()),
    };
    write_escaped(io::stdout().lock(), &text)?;
    write_stderr(&answer.stderr);
    Ok(Outcome::fine_if(answer.code == 0))
}

/// Reads the scheduler's files. Without a `resource_group` nothing can be answered.
fn read(files: &SiteFiles) -> Result<SchedPriv, CliError> {
    let config = match read_file(files, Role::SchedConfig) {
        Ok(bytes) => SchedConfig::parse(&bytes),
        Err(error) if is_missing(&error) => {
            warn(format_args!("{error}; the scheduler's defaults apply"));
            SchedConfig::default()
        }
        Err(error) => return Err(error.into()),
    };
    let lines = ResourceGroup::parse(&read_file(files, Role::ResourceGroup)?);
    let usage = match read_file(files, Role::Usage) {
        Ok(bytes) => Some(UsageFile::parse(&bytes)),
        Err(error) if is_missing(&error) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(SchedPriv {
        lines,
        config,
        usage,
    })
}

fn read_file(files: &SiteFiles, role: Role) -> Result<Vec<u8>, SiteError> {
    let Some(source) = files.first(role) else {
        let known = FILES.iter().find(|(known, _)| *known == role);
        return Err(SiteError::Read {
            path: known.map_or("", |(_, name)| name).into(),
            error: ErrorKind::NotFound.into(),
        });
    };
    if let FileSource::Path(path) = source
        && fs::metadata(path).is_ok_and(|found| !found.is_file())
    {
        let message = format!("`{}` is not a file", path.display());
        return Err(SiteError::Content(message.into()));
    }
    source.read_up_to(MAX_FILE)
}

/// Whether a file does not exist. One that exists and cannot be read is never taken for missing.
fn is_missing(error: &SiteError) -> bool {
    matches!(error, SiteError::Read { error, .. } if error.kind() == ErrorKind::NotFound)
}

/// Removes an option with a path from the arguments, wherever it occurs before `--`.
fn split_option(
    arguments: &[OsString],
    option: &str,
) -> Result<(Vec<OsString>, Option<PathBuf>), CliError> {
    let mut rest = Vec::new();
    let mut folder = None;
    let mut arguments = arguments.iter().cloned();
    let assigned = format!("{option}=");
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            rest.push(argument);
            rest.extend(arguments);
            break;
        } else if argument == option {
            folder = arguments.next().map(PathBuf::from);
            if folder.is_none() {
                return Err(CliError::usage(format!("{option} needs a path")));
            }
        } else if let Some(path) = argument.as_bytes().strip_prefix(assigned.as_bytes()) {
            folder = Some(OsStr::from_bytes(path).into());
        } else {
            rest.push(argument);
        }
    }
    Ok((rest, folder))
}

/// The folder that `pbsfs` reads: `sched_priv` in the `PBS_HOME` of the environment or of
/// `pbs.conf`.
fn default_folder() -> PathBuf {
    let home = variable("PBS_HOME").or_else(home_in_conf);
    Path::new(&home.unwrap_or(PBS_HOME.into())).join("sched_priv")
}

/// `PBS_HOME` in `pbs.conf`.
fn home_in_conf() -> Option<OsString> {
    let path = variable("PBS_CONF_FILE").unwrap_or(PBS_CONF.into());
    let conf = fs::read_to_string(path).ok()?;
    // of several lines the last one counts
    let mut lines = conf.lines().rev();
    let home = lines.find_map(|line| line.trim().strip_prefix("PBS_HOME="))?;
    Some(home.trim().into())
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Writes to standard error what `pbsfs` writes there, so without the `jsf:` of other messages.
fn write_stderr(bytes: &[u8]) {
    let _ = write_escaped(io::stderr().lock(), bytes);
}

/// Passes on the bytes that `pbsfs` prints; to a terminal, its control characters are escaped.
fn write_escaped(mut out: impl Write + IsTerminal, bytes: &[u8]) -> io::Result<()> {
    if out.is_terminal() {
        out.write_all(printable_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
    } else {
        out.write_all(bytes)?;
    }
    out.flush()
}

/// The system's message for an error, without its number.
fn reason(error: &io::Error) -> String {
    let message = error.to_string();
    let end = message.find(" (os error").unwrap_or(message.len());
    message[..end].to_owned()
}
