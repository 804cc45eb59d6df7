//! A run inside a run: the outer gate stays, and the inner run only tightens it.
//!
//! Whether there is an outer gate is found out by starting this program as `stayexec within`, which every gate that judges
//! loaded images denies: only such a gate makes an image that was started end with 126 before its first instruction.
//! Invariant: the answer is the kernel's and the outer warden's own; no variable, name or file in the tree can give it. The
//! inner run marks itself by a filter, which nobody below can take off.
//! Refuses to join any other gate: there the inner run does not start.

use super::{RunError, Writable};
use crate::exit_code;
use crate::sys::{filter, process};
use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The verb that an outer gate denies.
pub const WITHIN: &str = "within";
/// The variable with which a start declares the tier of all that comes from it. It only tightens.
pub const TIER: &str = "STAYEXEC_TIER_WITHIN";

/// Whether a gate of ours that judges loaded images is around this process.
pub fn is_within() -> bool {
    if !process::is_filtered() {
        return false;
    }
    let mut probe = Command::new("/proc/self/exe");
    probe.arg0("stayexec").arg(WITHIN).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.code() == Some(i32::from(exit_code::NOT_EXECUTABLE)))
}

/// A run to be made inside another.
#[derive(Debug)]
pub struct Inside<'a> {
    /// Where the command's first word was found.
    pub program: &'a Path,
    /// The command.
    pub command: &'a [OsString],
    /// Its tier.
    pub tier: &'a str,
    /// What it may write to.
    pub writable: &'a Writable,
    /// A folder that goes with it.
    pub temporary: Option<&'a Path>,
    /// Variables that it gets.
    pub environment: Vec<(OsString, OsString)>,
}

/// Becomes the command, confined as told, with one filter more than before, and declares its tier. Returns only with an
/// error.
pub fn join(inside: Inside<'_>) -> RunError {
    let Inside { program, command, tier, writable, temporary, environment: more } = inside;
    let step = |step| move |cause| RunError::Step { step, cause };
    let privileged = process::has_capability(process::CAP_SYS_ADMIN);
    // The confined run itself could not remove it.
    let cleaning = temporary.map_or(Ok(()), super::leftover::remove_after_this);
    let confined = cleaning.map_err(step("look after the run's temporary folder")).and_then(|()| {
        super::fence::raise(writable, privileged).map_err(step("confine the run"))?;
        if !privileged {
            process::set_no_new_privs().map_err(step("set no_new_privs"))?;
        }
        filter::add_layer().map_err(step("mark the run's processes"))
    });
    if let Err(error) = confined {
        return error;
    }
    let own = more.into_iter().chain([(TIER.into(), tier.into())]).collect::<Vec<(OsString, OsString)>>();
    let kept = std::env::vars_os().filter(|(name, _)| !own.iter().any(|(added, _)| added == name)).collect::<Vec<_>>();
    let variables = kept.into_iter().chain(own);
    let entry = |(name, value): (OsString, OsString)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat());
    let words = |word: &OsString| CString::new(word.as_bytes());
    let made = variables.map(entry).collect::<Result<Vec<_>, _>>().and_then(|environment| {
        let argv = command.iter().map(words).collect::<Result<Vec<_>, _>>()?;
        Ok((CString::new(program.as_os_str().as_bytes())?, argv, environment))
    });
    match made {
        Ok((program_name, argv, environment)) => {
            process::reset_broken_pipe();
            RunError::NotExecutable(program.display().to_string(), process::execute(&program_name, &argv, &environment))
        }
        Err(e) => RunError::Step { step: "prepare the command line", cause: io::Error::other(e) },
    }
}
