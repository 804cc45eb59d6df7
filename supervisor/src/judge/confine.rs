//! The supervisor confines itself: what it parses was written by hostile programs.
//!
//! Invariant: every thread that reads what a peer or a journal holds, or judges it, starts no program, looks into no other
//! process, and changes neither mounts nor the kernel: such a call fails with EPERM. Refuses to confine the first thread,
//! which does nothing but wait: peers count the filters of that one to tell a supervisor from a process inside a tree
//! (`control/peer.rs`).

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::io;

/// System calls that fail whatever their arguments are.
const REFUSED: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // It makes sockets past the rule for them.
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
];

/// The x32 numbers of what has one of its own there: execve, execveat, ptrace, process_vm_readv, process_vm_writev,
/// kexec_load.
#[cfg(target_arch = "x86_64")]
const X32: &[i64] = &[520, 545, 521, 539, 540, 528];
#[cfg(target_arch = "x86_64")]
const X32_BIT: i64 = 0x4000_0000;

/// SOCK_PACKET of packet(7): the older way to a packet socket.
const SOCK_PACKET: i32 = 10;

/// The bits of socket(2)'s second argument that are the type (SOCK_TYPE_MASK).
const TYPE: u64 = 0xf;

/// Confines the calling thread, and those that it starts from now on.
///
/// # Errors
/// What the kernel says; the thread is not confined then, and must not go on.
pub fn confine() -> io::Result<()> {
    apply_filter(&program()?).map_err(io::Error::other)
}

fn program() -> io::Result<BpfProgram> {
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|&number| (number, vec![])).collect();
    rules.insert(libc::SYS_socket, sockets()?);
    #[cfg(target_arch = "x86_64")]
    {
        let native: Vec<(i64, Vec<SeccompRule>)> = rules.iter().map(|(number, rules)| (number | X32_BIT, rules.clone())).collect();
        rules.extend(native.into_iter().chain(X32.iter().map(|number| (number | X32_BIT, vec![]))));
    }
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}

/// Packet and raw sockets.
fn sockets() -> io::Result<Vec<SeccompRule>> {
    let rule = |argument, operator, value: i32| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, u64::from(value.unsigned_abs()));
        SeccompRule::new(vec![condition.map_err(io::Error::other)?]).map_err(io::Error::other)
    };
    Ok(vec![
        rule(0, SeccompCmpOp::Eq, libc::AF_PACKET)?,
        rule(1, SeccompCmpOp::MaskedEq(TYPE), libc::SOCK_RAW)?,
        rule(1, SeccompCmpOp::MaskedEq(TYPE), SOCK_PACKET)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
    use std::process::Command;
    use std::thread;

    fn filters() -> Option<String> {
        let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
        status.lines().find(|line| line.starts_with("Seccomp_filters:")).map(str::to_owned)
    }

    #[test]
    fn a_confined_thread_and_its_threads_start_nothing() -> io::Result<()> {
        let before = filters();
        assert!(Command::new("/bin/true").status()?.success());
        let tried = thread::spawn(|| -> io::Result<_> {
            confine()?;
            let starts = || Command::new("/bin/true").status().map_err(|e| e.raw_os_error());
            let raw = |family, kind| socket(family, kind, SockFlag::SOCK_CLOEXEC, None::<SockProtocol>).map(drop);
            let below = thread::spawn(starts).join().map_err(|_| io::ErrorKind::Other)?;
            let plain = raw(AddressFamily::Unix, SockType::Stream);
            let sockets =
                [raw(AddressFamily::Inet, SockType::Raw), raw(AddressFamily::Packet, SockType::Datagram), nix::unistd::chroot("/")];
            Ok((starts(), below, plain, sockets))
        });
        let (own, below, plain, sockets) = tried.join().map_err(|_| io::ErrorKind::Other)??;
        assert_eq!((own.err(), below.err()), (Some(Some(libc::EPERM)), Some(Some(libc::EPERM))));
        assert_eq!(plain, Ok(()));
        assert_eq!(sockets, [Err(nix::Error::EPERM); 3]);
        assert_eq!(filters(), before, "other threads are as they were");
        assert!(Command::new("/bin/true").status()?.success());
        Ok(())
    }
}
