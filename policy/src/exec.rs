//! What the caller knows about one program start: the facts that a judgement may use.
//!
//! This crate opens nothing itself; every fact about a file arrives here, read by whoever holds the image.

use crate::OwnFiles;

/// One exec as the kernel loaded it.
#[derive(Debug, Clone, Copy)]
pub struct Exec<'a> {
    /// The argument vector, raw.
    pub argv: &'a [Vec<u8>],
    /// `KEY=VALUE` entries.
    pub environment: &'a [Vec<u8>],
    /// The environment of the run at launch.
    pub baseline: &'a [Vec<u8>],
    /// The working directory.
    pub cwd: &'a [u8],
    /// The file that was loaded.
    pub file: FileFacts<'a>,
    /// The file behind `#!`, a text without `#!` that the caller will interpret, or the operand that
    /// [`Assessment::wants`](crate::Assessment::wants) asked for.
    pub script: Option<Script<'a>>,
    /// What the image will find on descriptor 0.
    pub stdin: Stdin,
}

/// Facts about the executable of an image.
#[derive(Debug, Clone, Copy)]
pub struct FileFacts<'a> {
    /// Resolved path.
    pub path: &'a [u8],
    /// Owned by root and not writable by others.
    pub root_owned: bool,
    /// Every directory above it likewise.
    pub chain_root_owned: bool,
    /// Its ctime is earlier than the start of the run.
    pub unchanged: bool,
    /// The path leads to this very inode in the judge's own mount namespace and root.
    pub same_view: bool,
    /// ELF interpreter and `/etc/ld.so.preload` are trusted likewise (true for static images).
    pub linker_trusted: bool,
}

/// A text that an interpreter will run.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// Its path as the interpreter was told it: a word of `argv`.
    pub path: &'a [u8],
    /// Its text; `None`: unreadable or too long.
    pub text: Option<&'a [u8]>,
    /// It was named on the command line and looked at because the judgement wanted it; otherwise the kernel chose it.
    pub operand: bool,
    /// The kernel itself chose the interpreter (`#!`), so `argv` holds the script's path as an operand.
    pub interpreted_by_kernel: bool,
    /// Facts about the script's own file: its resolved path, and whether that can be believed (`linker_trusted`: true).
    pub file: FileFacts<'a>,
}

/// What descriptor 0 is. A shell without operand reads its text from there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stdin {
    /// A terminal.
    Terminal,
    /// `/dev/null`, or closed.
    Null,
    /// A regular file.
    File,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// Not known.
    #[default]
    Unknown,
}

/// The places of a run that decide whom a name can be believed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Places<'a> {
    /// The directories of PATH at launch.
    pub launch_path: &'a [Vec<u8>],
    /// `[trust] dirs`.
    pub trust_dirs: &'a [Vec<u8>],
    /// The workspace; nothing below it is believed.
    pub workspace: &'a [u8],
    /// Directories for temporary files; nothing below them is believed.
    pub temp: &'a [Vec<u8>],
    /// The home directory of the run's user.
    pub home: &'a [u8],
    /// Files that the agent keeps for the lines in which it wraps each command.
    pub own_files: OwnFiles<'a>,
}

/// What a launcher in a directory of PATH starts was installed with it: the directory's end, and below the same home the
/// folder with one directory a version, and where the programs lie in that.
const INSTALLED: &[(&str, &str, &str)] = &[
    ("/.cargo/bin", "/.rustup/toolchains/*", "/bin"),
    ("/.pyenv/shims", "/.pyenv/versions/*", "/bin"),
    ("/.pyenv/shims", "/.pyenv/libexec", ""),
    ("/.pyenv/bin", "/.pyenv/libexec", ""),
    ("/.pyenv/shims", "/.pyenv/pyenv.d/exec/pip-rehash", ""),
    ("/.rbenv/shims", "/.rbenv/versions/*", "/bin"),
    ("/.rbenv/shims", "/.rbenv/libexec", ""),
    ("/.rbenv/bin", "/.rbenv/libexec", ""),
    ("/.nodenv/shims", "/.nodenv/versions/*", "/bin"),
    ("/.nodenv/shims", "/.nodenv/libexec", ""),
    ("/.nodenv/bin", "/.nodenv/libexec", ""),
    ("/.volta/bin", "/.volta/tools/image/node/*", "/bin"),
];

/// `parent` is such a directory for `dir`.
fn installed_with(parent: &[u8], dir: &[u8]) -> bool {
    INSTALLED.iter().any(|(end, folder, programs)| {
        let below = dir.strip_suffix(end.as_bytes()).and_then(|home| parent.strip_prefix(home));
        below.is_some_and(|below| match folder.strip_suffix('*') {
            Some(folder) => below
                .strip_prefix(folder.as_bytes())
                .and_then(|rest| rest.strip_suffix(programs.as_bytes()))
                .is_some_and(|version| !version.is_empty() && !version.contains(&b'/')),
            None => below == folder.as_bytes(),
        })
    })
}

/// `path` is `dir` or lies below it, component by component.
pub(crate) fn below(path: &[u8], dir: &[u8]) -> bool {
    let dir = dir.strip_suffix(b"/").unwrap_or(dir);
    if dir.is_empty() {
        return false;
    }
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

impl FileFacts<'_> {
    /// The name of this file is that of the program: it is where programs are installed, and nobody in the run put it there.
    #[must_use]
    pub fn trusted(&self, places: &Places<'_>) -> bool {
        let placed = (self.root_owned && self.chain_root_owned) || self.in_launch_path(places) || self.in_trusted_dir(places);
        let outside = !below(self.path, places.workspace) && !places.temp.iter().any(|dir| below(self.path, dir));
        placed && outside && self.unchanged && self.same_view && self.linker_trusted && self.path.starts_with(b"/")
    }

    /// It lies where programs are called from, and not among data that only has a program's name.
    pub(crate) fn among_programs(&self, places: &Places<'_>) -> bool {
        let parent = self.parent();
        let last = parent.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        matches!(last, b"bin" | b"sbin" | b"git-core") || self.in_launch_path(places) || self.in_trusted_dir(places)
    }

    fn parent(&self) -> &[u8] {
        self.path.iter().rposition(|&byte| byte == b'/').map_or(&b""[..], |at| &self.path[..at.max(1)])
    }

    fn in_launch_path(&self, places: &Places<'_>) -> bool {
        let parent = self.parent();
        let dirs = || places.launch_path.iter().map(|dir| dir.strip_suffix(b"/").unwrap_or(dir));
        !parent.is_empty() && dirs().any(|dir| dir == parent || installed_with(parent, dir))
    }

    fn in_trusted_dir(&self, places: &Places<'_>) -> bool {
        places.trust_dirs.iter().any(|dir| below(self.path, dir))
    }

    /// Last component of the path.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.path.iter().rposition(|&byte| byte == b'/').map_or(self.path, |at| &self.path[at + 1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &[u8]) -> FileFacts<'_> {
        FileFacts { path, root_owned: true, chain_root_owned: true, unchanged: true, same_view: true, linker_trusted: true }
    }

    #[test]
    fn trust_needs_every_fact() {
        let path = [b"/home/dev/.cargo/bin".to_vec()];
        let temp = [b"/tmp".to_vec()];
        let places = Places { launch_path: &path, workspace: b"/home/dev/proj", temp: &temp, ..Places::default() };
        assert!(file(b"/usr/bin/ls").trusted(&places));
        assert!(!FileFacts { unchanged: false, ..file(b"/usr/bin/ls") }.trusted(&places));
        assert!(!FileFacts { same_view: false, ..file(b"/usr/bin/ls") }.trusted(&places));
        assert!(!FileFacts { linker_trusted: false, ..file(b"/usr/bin/ls") }.trusted(&places));
        assert!(!FileFacts { root_owned: false, ..file(b"/opt/x/ls") }.trusted(&places));
        assert!(FileFacts { root_owned: false, ..file(b"/home/dev/.cargo/bin/rg") }.trusted(&places));
        assert!(!FileFacts { root_owned: false, ..file(b"/home/dev/.cargo/bin/x/rg") }.trusted(&places));
        assert!(!file(b"/home/dev/proj/ls").trusted(&places));
        assert!(!file(b"/tmp/ls").trusted(&places));
        assert!(file(b"/tmpfoo/ls").trusted(&places));
        assert!(!file(b"ls").trusted(&places));
        let of_dev = |path| FileFacts { root_owned: false, ..file(path) };
        assert!(of_dev(b"/home/dev/.rustup/toolchains/stable/bin/cargo").trusted(&places));
        assert!(!of_dev(b"/home/dev/.rustup/toolchains/stable/lib/bin/cargo").trusted(&places));
        assert!(!of_dev(b"/home/dev/.rustup/toolchains/bin/cargo").trusted(&places));
        assert!(!of_dev(b"/home/x/.rustup/toolchains/stable/bin/cargo").trusted(&places));
        assert!(!of_dev(b"/home/dev/.pyenv/versions/3.12/bin/python3").trusted(&places));
    }
}
