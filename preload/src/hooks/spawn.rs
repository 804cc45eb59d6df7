//! posix_spawn and posix_spawnp: the error is the value, errno and `*pid` stay as they are.

use super::{hook, judge};
use crate::asking::Question;
use crate::real::{self, Opaque, Pid};
use crate::sys;
use crate::text::{Text, Vector};
use core::ffi::c_int;
use stayexec_protocol::ask::Entry;

hook! {
    /// posix_spawn(3).
    unsafe fn posix_spawn(pid: Pid, path: Text, actions: Opaque, attributes: Opaque, argv: Vector, envp: Vector) -> c_int = 6 => on_posix_spawn
}
hook! {
    /// posix_spawnp(3).
    unsafe fn posix_spawnp(pid: Pid, file: Text, actions: Opaque, attributes: Opaque, argv: Vector, envp: Vector) -> c_int = 6 => on_posix_spawnp
}

type Real = unsafe extern "C" fn(Pid, Text, Opaque, Opaque, Vector, Vector) -> c_int;

/// The arguments of a call.
struct Spawn {
    pid: Pid,
    target: Text,
    actions: Opaque,
    attributes: Opaque,
    argv: Vector,
    envp: Vector,
}

impl Spawn {
    /// # Safety
    /// As posix_spawn(3).
    unsafe fn judged(&self, entry: Entry, site: usize, real: Option<Real>) -> c_int {
        let question = Question {
            entry,
            site,
            target: self.target,
            argv: self.argv,
            environment: self.envp,
            descriptor: -1,
            actions: !self.actions.is_null(),
        };
        let go = |envp| match real {
            // SAFETY: the caller's promise.
            Some(real) => unsafe { real(self.pid, self.target, self.actions, self.attributes, self.argv, envp) },
            None => sys::ENOSYS,
        };
        // SAFETY: the caller's promise.
        unsafe { judge(&question, |errno| errno, go) }
    }
}

unsafe extern "C" fn on_posix_spawn(
    pid: Pid,
    target: Text,
    actions: Opaque,
    attributes: Opaque,
    argv: Vector,
    envp: Vector,
    site: usize,
) -> c_int {
    let call = Spawn { pid, target, actions, attributes, argv, envp };
    // SAFETY: the caller's words.
    unsafe { call.judged(Entry::PosixSpawn, site, real::posix_spawn()) }
}

unsafe extern "C" fn on_posix_spawnp(
    pid: Pid,
    target: Text,
    actions: Opaque,
    attributes: Opaque,
    argv: Vector,
    envp: Vector,
    site: usize,
) -> c_int {
    let call = Spawn { pid, target, actions, attributes, argv, envp };
    // SAFETY: the caller's words.
    unsafe { call.judged(Entry::PosixSpawnp, site, real::posix_spawnp()) }
}
