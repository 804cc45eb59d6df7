//! Reading a loaded image into an event.
//!
//! Invariant: argument vector and environment come from the image's own stack, everything else from the warden's procfs
//! and its own look at the files. Refuses to leave a gap: what cannot be read is an error, and the image is denied.

use super::elf;
use super::images::Runs;
use super::lookup::{self, TEXT_LIMIT};
use super::stack;
use super::trust::View;
use crate::sys::arch::Registers;
use crate::sys::path::{self, Lookup};
use crate::sys::procfs::{ProcessDir, Procfs};
use stayexec_protocol::{Event, Executable, Process, Script, Stage, Stdin};
use std::io;
use std::os::fd::OwnedFd;

/// A stopped image and what the kernel put into it.
#[derive(Debug)]
pub struct Image {
    /// The event; its ancestry is added when the judge is asked.
    pub event: Event,
    /// Parent's pid.
    pub parent: i32,
    /// Registers at the stop.
    pub registers: Registers,
    /// The path that was executed, as it was given.
    executed: Vec<u8>,
    /// It has the root and mount namespace of the run.
    here: bool,
    /// Its file gives it another user's rights, and it has not got them.
    pub(super) unprivileged: bool,
    /// What its process ran before.
    pub(super) before: Runs,
}

/// Deepest chain of scripts that the kernel follows (BINPRM_MAX_RECURSION is 4 rewrites).
const CHAIN: usize = 5;

/// Reads the image of `pid`, which waits at its exec stop: everything that is in memory.
///
/// # Errors
/// Whatever kept a part from being read.
pub fn image(procfs: &Procfs, view: &View, pid: i32, call: u64, launch: bool) -> io::Result<Image> {
    let process = procfs.process(pid)?;
    let registers = Registers::read(pid)?;
    let initial = stack::read(pid, registers.sp(), registers.width())?;
    let here = view.is_here(&process);
    let (executable, set_user) = view.executable(&process, registers.ip(), here)?;
    let unprivileged = set_user.is_some_and(|owner| owner != initial.euid);
    let stat = process.stat()?;
    let filters = view.layers.above(&process, &initial.environment)?;
    let event = Event {
        call,
        stage: Stage::Loaded,
        launch,
        process: Process { pid: pid as u32, start: stat.start, name: stat.name },
        ancestry: vec![],
        elders: None,
        agent: None,
        uid: initial.uid,
        euid: initial.euid,
        executable,
        argv: initial.argv,
        environment: initial.environment,
        cwd: process.link_text("cwd")?,
        root: if here { b"/".to_vec() } else { process.link_text("root")? },
        script: None,
        stdin: standard_input(&process),
        asked: None,
        filters,
    };
    Ok(Image { event, parent: stat.parent, registers, executed: initial.executed, here, unprivileged, before: Runs::Other })
}

/// Adds what has to be read from files: the place of the executable, and the script that it was loaded for. With `quick`
/// nothing that may have to be waited for is touched.
///
/// # Errors
/// WouldBlock where a `quick` look is not enough; whatever else kept a part from being read.
pub fn complete(procfs: &Procfs, view: &View, image: &mut Image, quick: bool) -> io::Result<()> {
    let process = procfs.process(image.event.process.pid as i32)?;
    let dev = image.event.executable.id.dev;
    if !view.devices.is_known(dev) {
        if quick {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        view.devices.learn(&process.follow("exe")?, dev);
    }
    view.placed(&mut image.event.executable, image.here);
    // A script at the image's own path would be its own interpreter, which the kernel refuses.
    if !(image.here && image.executed == image.event.executable.path) {
        image.event.script = behind(procfs, view, &process, image, quick)?;
    }
    Ok(())
}

/// A text that its caller would interpret by itself, as an event; the caller waits in its call.
///
/// # Errors
/// Whatever kept a part from being read.
pub fn text(
    (procfs, view): (&Procfs, &View),
    request: &lookup::Request,
    script: Script,
    argv: Vec<Vec<u8>>,
    call: u64,
    launch: bool,
) -> io::Result<Event> {
    let process = procfs.process(request.tid)?;
    let stat = process.stat()?;
    let (uid, euid) = users(&process)?;
    Ok(Event {
        call,
        stage: Stage::Text,
        launch,
        process: Process { pid: request.tid as u32, start: stat.start, name: stat.name },
        ancestry: vec![],
        elders: None,
        agent: None,
        uid,
        euid,
        executable: Executable {
            path: script.path.clone(),
            id: script.id.clone(),
            root_owned: false,
            chain_root_owned: false,
            unchanged: false,
            same_view: false,
            linker_trusted: false,
            dated: false,
        },
        argv,
        environment: Vec::new(),
        cwd: process.link_text("cwd")?,
        root: process.link_text("root")?,
        script: Some(script),
        stdin: standard_input(&process),
        asked: None,
        filters: view.layers.above(&process, &[])?,
    })
}

/// Real and effective user id of a process.
///
/// # Errors
/// InvalidData where they are not understood; ENOENT, ESRCH.
pub fn users(process: &ProcessDir) -> io::Result<(u32, u32)> {
    let ids = process.status_field("Uid")?;
    let mut ids = ids.split_ascii_whitespace().filter_map(|id| id.parse().ok());
    ids.next().zip(ids.next()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The script that the image, an interpreter, was loaded for.
///
/// The kernel loads the executed file itself, or what its `#!` line names, or what the `#!` line of that names. The
/// interpreter reads the last script of this chain.
fn behind(procfs: &Procfs, view: &View, process: &ProcessDir, image: &Image, quick: bool) -> io::Result<Option<Script>> {
    let executable = &image.event.executable;
    let mut path = image.executed.clone();
    let mut last: Option<Script> = None;
    for _ in 0..CHAIN {
        let file = match find(view, process, &path, quick) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Err(e),
            Err(_) => break,
            Ok(file) => file,
        };
        let status = path::status(&file)?;
        if (status.id.dev, status.id.ino) == (executable.id.dev, executable.id.ino) {
            return Ok(last);
        }
        if !status.is(libc::S_IFREG) {
            break;
        }
        let script = view.vouched(procfs, lookup::script(procfs, &file, &path), &file, image.here);
        let Some((next, _)) = script.text.as_deref().and_then(elf::interpreter) else { break };
        path = next;
        last = Some(script);
    }
    // A memfd or an unlinked file is its own image although no path leads to it.
    if last.is_none() && is_own_image(process, &image.executed, executable) {
        return Ok(None);
    }
    // The chain does not end at the image: somebody swapped a file, or binfmt_misc chose the interpreter.
    Ok(Some(Script::unreadable(image.executed.clone(), false)))
}

/// Opens a file as the image would find it. With `quick`, only if neither the way to it nor its content is waited for.
///
/// # Errors
/// WouldBlock where a `quick` look is not enough; those of path resolution.
pub fn find(view: &View, process: &ProcessDir, path: &[u8], quick: bool) -> io::Result<OwnedFd> {
    let file = lookup::resolve(&view.devices, process, path, "cwd", Lookup { in_root: true, cached: quick, ..Lookup::default() })?;
    let dev = path::status(&file)?.id.dev;
    if quick && !view.devices.is_quick(dev) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    if !view.devices.is_known(dev) {
        view.devices.learn(&file, dev);
    }
    Ok(file)
}

/// A script named by `path`, as the process would find it now.
///
/// # Errors
/// WouldBlock where a `quick` look is not enough. What cannot be found or read is a script of which nothing is known.
pub fn script_at(procfs: &Procfs, view: &View, pid: i32, path: &[u8], operand: bool, quick: bool) -> io::Result<Script> {
    let unreadable = Script::unreadable(path.to_vec(), operand);
    let Ok(process) = procfs.process(pid) else { return Ok(unreadable) };
    match find(view, &process, path, quick) {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Err(e),
        Err(_) => Ok(unreadable),
        Ok(file) => {
            let script = view.vouched(procfs, lookup::script(procfs, &file, path), &file, view.is_here(&process));
            Ok(Script { operand, ..script })
        }
    }
}

fn is_own_image(process: &ProcessDir, executed: &[u8], executable: &Executable) -> bool {
    let through_descriptor = executed.starts_with(b"/dev/fd/") || executed.starts_with(b"/proc/self/fd/");
    // The descriptor may have been closed by the exec. A script behind a close-on-exec descriptor is refused by the kernel
    // (execveat(2)), so what was loaded this way is a program.
    let gone = std::str::from_utf8(executed)
        .ok()
        .and_then(|p| p.rsplit('/').next())
        .is_some_and(|n| process.follow_status(&format!("fd/{n}")).is_err());
    (through_descriptor && gone) || executable.path.ends_with(b" (deleted)")
}

/// What a process has as its standard input.
pub fn standard_input(process: &ProcessDir) -> Stdin {
    let Ok(status) = process.follow_status("fd/0") else { return Stdin::Unknown };
    match (status.mode & libc::S_IFMT, status.device) {
        (libc::S_IFREG, _) => Stdin::File,
        (libc::S_IFIFO, _) => Stdin::Pipe,
        (libc::S_IFSOCK, _) => Stdin::Socket,
        // Numbers of character devices: Documentation/admin-guide/devices.txt.
        (libc::S_IFCHR, (1, 3)) => Stdin::Null,
        (libc::S_IFCHR, (4 | 5 | 136..=143, _)) => Stdin::Terminal,
        _ => Stdin::Unknown,
    }
}

/// Whether the standard error of a process is a terminal, by its name: no file system is asked.
pub(super) fn errs_on_terminal(procfs: &Procfs, pid: i32) -> bool {
    let name = procfs.process(pid).and_then(|process| process.link_text("fd/2")).unwrap_or_default();
    name.starts_with(b"/dev/pts/") || name.starts_with(b"/dev/tty")
}

const _: () = assert!(TEXT_LIMIT < stayexec_protocol::FRAME_LIMIT as u64);
