//! Processes, as /proc shows them.
//!
//! A process belongs to a folder when its program, working directory, root, command line or environment lies in it: a scene's
//! processes carry the scene's folder in all of these. Invariant: a signal goes only to a process that belongs.

use crate::sys;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// One process.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// Its state, as ps shows it: `Z` is a zombie.
    pub state: char,
    /// Process group.
    pub group: u32,
    /// Foreground process group of its terminal.
    pub foreground: i32,
    /// Its arguments, joined by spaces.
    pub line: String,
}

impl Process {
    /// The process `pid`, unless it is gone.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let words: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = line.split(|b| *b == 0).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ");
        Some(Self {
            pid,
            state: words.first()?.chars().next()?,
            parent: words.get(1)?.parse().ok()?,
            group: words.get(2)?.parse().ok()?,
            foreground: words.get(5)?.parse().ok()?,
            line: line.trim_end().to_owned(),
        })
    }

    /// All processes.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).filter_map(Self::of).collect()
    }

    /// Its program's file.
    #[must_use]
    pub fn program(&self) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/exe", self.pid)).ok()
    }

    /// Whether `signal` waits for it.
    #[must_use]
    pub fn awaits(&self, signal: nix::sys::signal::Signal) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let masks = status.lines().filter_map(|l| l.strip_prefix("SigPnd:").or_else(|| l.strip_prefix("ShdPnd:")));
        masks.filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok()).any(|mask| mask >> (signal as i32 - 1) & 1 == 1)
    }

    /// Sends it `signal` if it still belongs to `folder`.
    pub fn signal(&self, folder: &Path, signal: nix::sys::signal::Signal) {
        if let Ok(fd) = sys::pidfd(self.pid)
            && belongs(self.pid, folder)
        {
            let _ = sys::send(&fd, signal as i32);
        }
    }
}

fn belongs(pid: u32, folder: &Path) -> bool {
    let under = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).is_ok_and(|p| p.starts_with(folder));
    let names = |name: &str| fs::read(format!("/proc/{pid}/{name}")).is_ok_and(|text| holds(&text, folder.as_os_str().as_bytes()));
    pid != std::process::id() && (under("exe") || under("cwd") || under("root") || names("environ") || names("cmdline"))
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|w| w == part)
}

/// The processes that belong to `folder`, and the zombies that are their children.
#[must_use]
pub fn owned_by(folder: &Path) -> Vec<Process> {
    let all = Process::all();
    let own: Vec<u32> = all.iter().map(|p| p.pid).filter(|pid| belongs(*pid, folder)).collect();
    all.into_iter().filter(|p| own.contains(&p.pid) || (p.state == 'Z' && own.contains(&p.parent))).collect()
}

/// How many descriptors the process has open; 0 for one that is gone.
#[must_use]
pub fn fds(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Its resident memory; 0 for one that is gone.
#[must_use]
pub fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
