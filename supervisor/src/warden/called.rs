//! A call as an event, from what its caller has said: what the kernel would load for it, as far as can be told before.
//!
//! The file is looked at as the kernel would find it, `#!` lines are followed, and the argument vector becomes the one that
//! the interpreter would get. Invariant: nothing here is what was loaded: whoever shares the caller's memory or its folders
//! can change it afterwards. Refuses a file that no exec could load.

use super::capture::{self, find};
use super::elf::{self, HEAD, Kind};
use super::lookup::{self, Request};
use super::trust::View;
use crate::sys::path;
use crate::sys::procfs::Procfs;
use stayexec_protocol::{Event, Executable, Process, Script, Stage};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// Deepest chain of `#!` lines that the kernel follows.
const CHAIN: usize = 5;

/// A call and what its caller says.
#[derive(Debug, Clone)]
pub struct Said {
    /// Number of the call.
    pub call: u64,
    /// The calling process.
    pub pid: i32,
    /// Whether it is the launched program.
    pub launch: bool,
    /// The file that is asked for.
    pub request: Request,
    /// Argument vector.
    pub argv: Vec<Vec<u8>>,
    /// Environment.
    pub environment: Vec<Vec<u8>>,
}

/// What the kernel would load.
struct Image {
    executable: Executable,
    script: Option<Script>,
    argv: Vec<Vec<u8>>,
}

/// The event of a call. With `quick` nothing that may have to be waited for is touched.
///
/// # Errors
/// WouldBlock where a `quick` look is not enough; ENOEXEC for what the kernel would not load; whatever else kept a part
/// from being read.
pub fn event(procfs: &Procfs, view: &View, said: &Said, quick: bool) -> io::Result<Event> {
    let process = procfs.process(said.pid)?;
    let here = view.is_here(&process);
    let stat = process.stat()?;
    let (uid, euid) = capture::users(&process)?;
    let Image { executable, script, argv } = image(procfs, view, said, here, quick)?;
    Ok(Event {
        call: said.call,
        stage: Stage::Called,
        launch: said.launch,
        process: Process { pid: said.pid as u32, start: stat.start, name: stat.name },
        ancestry: vec![],
        elders: None,
        agent: None,
        uid,
        euid,
        executable,
        argv,
        environment: said.environment.clone(),
        cwd: process.link_text("cwd")?,
        root: if here { b"/".to_vec() } else { process.link_text("root")? },
        script,
        stdin: capture::standard_input(&process),
        asked: None,
        filters: view.layers.above(&process, &said.environment)?,
    })
}

fn image(procfs: &Procfs, view: &View, said: &Said, here: bool, quick: bool) -> io::Result<Image> {
    let process = procfs.process(said.pid)?;
    let mut argv = said.argv.clone();
    if argv.is_empty() {
        // Linux starts nothing without a name (execve(2)).
        argv.push(Vec::new());
    }
    let mut named = named(&said.request);
    let mut file = lookup::locate(procfs, &view.devices, &said.request, quick).map_err(|e| blocking(e, quick))?;
    let mut script = None;
    for _ in 0..CHAIN {
        let status = path::status(&file)?;
        if !status.is(libc::S_IFREG) || status.mode & 0o111 == 0 {
            return Err(io::Error::from_raw_os_error(libc::EACCES));
        }
        if quick && !view.devices.is_quick(status.id.dev) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if !view.devices.is_known(status.id.dev) {
            view.devices.learn(&file, status.id.dev);
        }
        let (head, kind) = head_of(procfs, &file)?;
        let Some((interpreter, argument)) = elf::interpreter(&head) else {
            if !head.starts_with(b"\x7fELF") {
                return Err(io::Error::from_raw_os_error(libc::ENOEXEC));
            }
            let loader = match kind {
                Kind::Static => Ok(None),
                Kind::Dynamic(path) => match find(view, &process, &path, quick) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Err(e),
                    found => found.map(Some).map_err(drop),
                },
                Kind::Other => Err(()),
            };
            let executable = view.executable_before(procfs, &process, &file, loader, here)?;
            return Ok(Image { executable, script, argv });
        };
        // The kernel puts interpreter, its argument and the script's path in the place of the caller's first word.
        script = Some(view.vouched(procfs, lookup::script(procfs, &file, &named), &file, here));
        argv.splice(..1, [interpreter.clone()].into_iter().chain(argument).chain([named]));
        named = interpreter;
        file = find(view, &process, &named, quick)?;
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// The path that the kernel hands an interpreter for the file of a call.
fn named(request: &Request) -> Vec<u8> {
    let below = |number: i32| format!("/dev/fd/{number}").into_bytes();
    match request.base {
        Some(number) if request.path.is_empty() => below(number),
        Some(number) if !request.path.starts_with(b"/") => [&below(number), &b"/"[..], &request.path].concat(),
        _ => request.path.clone(),
    }
}

fn blocking(error: io::Error, quick: bool) -> io::Error {
    if quick && error.raw_os_error() == Some(libc::EAGAIN) { io::ErrorKind::WouldBlock.into() } else { error }
}

fn head_of(procfs: &Procfs, file: &OwnedFd) -> io::Result<(Vec<u8>, Kind)> {
    // A program that may be executed and not read has no head that anybody could look at: nothing is known of its loader.
    let Ok(file) = lookup::reopen(procfs, file) else { return Ok((b"\x7fELF".to_vec(), Kind::Other)) };
    let mut head = vec![0; HEAD];
    let n = file.read_at(&mut head, 0)?;
    head.truncate(n);
    let kind = elf::kind(&file, &head);
    Ok((head, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event_of(path: &str, argv: &[&str]) -> io::Result<Event> {
        let procfs = Procfs::open()?;
        let pid = std::process::id() as i32;
        let view = View::take(&procfs.process(pid)?, crate::sys::process::file_clock())?;
        let request = Request { tid: pid, path: path.into(), base: None, no_follow: false };
        let argv = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
        event(&procfs, &view, &Said { call: 1, pid, launch: false, request, argv, environment: vec![] }, false)
    }

    #[test]
    fn a_script_becomes_what_its_interpreter_gets() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let name = |n: &str| dir.path().join(n).to_string_lossy().into_owned();
        std::fs::write(name("script"), "#!/bin/sh -e\necho\n")?;
        std::fs::write(name("outer"), format!("#!{}\n", name("script")))?;
        for name in [name("script"), name("outer")] {
            std::fs::set_permissions(name, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        }
        let event = event_of(&name("script"), &["x", "a"])?;
        assert_eq!(event.argv, ["/bin/sh", "-e", &name("script"), "a"].map(|w| w.as_bytes().to_vec()));
        assert_eq!(event.script.map(|s| (s.path, s.operand)), Some((name("script").into_bytes(), false)));
        let event = event_of(&name("outer"), &["x", "a"])?;
        assert_eq!(event.argv, ["/bin/sh", "-e", &name("script"), &name("outer"), "a"].map(|w| w.as_bytes().to_vec()));
        Ok(())
    }

    #[test]
    fn a_program_is_known_by_its_file_and_its_loader() -> io::Result<()> {
        let event = event_of("/bin/ls", &["ls", "-l"])?;
        let file = &event.executable;
        assert!(file.root_owned && file.chain_root_owned && file.same_view && file.linker_trusted, "{file:?}");
        assert_eq!((event.stage, event.argv.len(), event.script), (Stage::Called, 2, None));
        assert!(event_of("/dev/null", &["x"]).is_err() && event_of("/etc/hostname", &["x"]).is_err());
        Ok(())
    }
}
