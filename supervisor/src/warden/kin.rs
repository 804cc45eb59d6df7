//! Whom a process descends from, and what descends from it, as the kernel tells.
//!
//! Invariant: a process is named by pid and start time. Refuses to walk without end: what is beyond a bound is not followed.

use crate::sys::procfs::Procfs;
use stayexec_protocol::Process;

/// The ancestors of a process, nearest first, up to and including `last`.
pub fn ancestry(procfs: &Procfs, mut pid: i32, last: i32) -> Vec<Process> {
    let mut chain = Vec::new();
    // A chain longer than this is a fork bomb's; what is beyond is not needed to name the agent.
    while pid > 1 && chain.len() < 64 {
        let Ok(stat) = procfs.process(pid).and_then(|p| p.stat()) else { break };
        chain.push(Process { pid: pid as u32, start: stat.start, name: stat.name });
        if pid == last {
            break;
        }
        pid = stat.parent;
    }
    chain
}

/// The descendants that a process has at this moment; `None` where they are too many, or cannot be told.
pub fn descendants(procfs: &Procfs, pid: i32) -> Option<Vec<Process>> {
    const MOST: usize = 64;
    let (mut found, mut above) = (Vec::new(), vec![pid]);
    while let Some(parent) = above.pop() {
        for child in procfs.children(parent).ok()? {
            // One that has ended meanwhile starts nothing.
            let Ok(stat) = procfs.process(child).and_then(|process| process.stat()) else { continue };
            if found.len() == MOST {
                return None;
            }
            found.push(Process { pid: child as u32, start: stat.start, name: stat.name });
            above.push(child);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn our_own_ancestors_end_at_the_one_asked_for() -> io::Result<()> {
        let procfs = Procfs::open()?;
        let own = std::process::id() as i32;
        let chain = ancestry(&procfs, own, own);
        assert_eq!(chain.iter().map(|p| p.pid as i32).collect::<Vec<_>>(), [own]);
        assert!(ancestry(&procfs, own, -1).len() > 1);
        Ok(())
    }
}
