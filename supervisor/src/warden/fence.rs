//! The fence around the tree: Landlock (landlock(7)), set up by the launch child on itself and inherited by all below.
//!
//! Two things end at it: signals and abstract sockets of the tree (scoping, Linux 6.12), always, so that nobody in the tree
//! reaches warden or supervisor; and, where the run is confined, every write outside the named folders. Invariant: a fence
//! cannot be taken down again. Refuses to leave out a part that was asked for: a kernel that cannot confine does not start
//! a confined run.

use landlock::{ABI, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope};
use std::io;
use std::path::{Path, PathBuf};

/// What a tree may write to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writable {
    /// Whatever its user may.
    Everything,
    /// These folders, and the devices that every program writes to.
    Below(Vec<PathBuf>),
}

/// Devices that writing to changes nothing.
const DEVICES: [&str; 8] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];

/// The rights whose use a confined tree has only below its folders. Version 5 of the interface added device controls, which
/// terminals need everywhere, so they are left alone.
const RIGHTS: ABI = ABI::V4;

/// Confines the calling process and all that come from it.
///
/// # Errors
/// Where the kernel refuses, or does not know, what was asked for.
pub fn raise(writable: &Writable, privileged: bool) -> io::Result<()> {
    let mut ruleset = Ruleset::default().scope(Scope::AbstractUnixSocket | Scope::Signal).map_err(io::Error::other)?;
    if let Writable::Below(_) = writable {
        ruleset = ruleset.handle_access(AccessFs::from_write(RIGHTS)).map_err(io::Error::other)?;
    }
    let Ok(mut created) = ruleset.create() else { return without_landlock(writable) };
    if let Writable::Below(folders) = writable {
        for folder in folders {
            created = allow(created, folder)?;
        }
        for device in DEVICES {
            created = allow(created, Path::new(device))?;
        }
    }
    let status = created.no_new_privs(!privileged).restrict_self().map_err(io::Error::other)?;
    match (writable, status.ruleset) {
        (Writable::Below(_), landlock::RulesetStatus::NotEnforced) => without_landlock(writable),
        _ => Ok(()),
    }
}

/// Scoping is not there on older kernels, and the supervisor looks at its peers itself; a confined run needs the real thing.
fn without_landlock(writable: &Writable) -> io::Result<()> {
    match writable {
        Writable::Everything => Ok(()),
        Writable::Below(_) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
    }
}

/// A folder that is not there cannot be written to either.
fn allow(ruleset: RulesetCreated, path: &Path) -> io::Result<RulesetCreated> {
    let Ok(fd) = PathFd::new(path) else { return Ok(ruleset) };
    let all = AccessFs::from_write(RIGHTS);
    let rights = if path.is_dir() { all } else { all & AccessFs::from_file(RIGHTS) };
    ruleset.add_rule(PathBeneath::new(fd, rights)).map_err(io::Error::other)
}
