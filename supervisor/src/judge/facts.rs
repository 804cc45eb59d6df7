//! An event in the words of the policy.
//!
//! Invariant: only what the warden read goes into a judgement; nothing is looked up here. A text that the kernel cannot
//! load is judged as what happens to it: a shell reads it.

use super::session::Session;
use stayexec_policy::forbidden::Operands;
use stayexec_policy::remember::Shape;
use stayexec_policy::{Assessment, CommandClass, Exec, FileFacts, Part, Places, Script, Stdin};
use stayexec_protocol::{Event, Stage};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The operand that has to be read before this event can be judged: the script of a shell or an interpreter.
pub fn unread_script(session: &Session, event: &Event) -> Option<Vec<u8>> {
    (event.script.is_none() && event.stage != Stage::Text).then(|| assess(session, event).wants).flatten()
}

/// What the classifier says of an event.
pub fn assess(session: &Session, event: &Event) -> Assessment {
    let words = shell_words(event);
    session.policy.classify_argv(&exec(session, event, words.as_deref()), &session.places())
}

/// The parts of an event.
pub fn explain(session: &Session, event: &Event) -> Part {
    let words = shell_words(event);
    session.policy.explain_argv(&exec(session, event, words.as_deref()), &session.places())
}

/// What of an event can be remembered, up to a class.
pub fn shape(session: &Session, event: &Event, class: CommandClass) -> Option<Shape> {
    let words = shell_words(event);
    Shape::of(&session.policy, &exec(session, event, words.as_deref()), &session.places(), class)
}

/// Whether the loaded file is what its name says.
pub fn trusted(session: &Session, event: &Event) -> bool {
    let words = shell_words(event);
    exec(session, event, words.as_deref()).file.trusted(&session.places())
}

/// What an event would open.
pub fn operands(session: &Session, event: &Event) -> Operands {
    let words = shell_words(event);
    let mut operands = Operands::of_exec(&session.policy, &exec(session, event, words.as_deref()), &session.places());
    if let Some(path) = started_launcher(session, event) {
        operands.opened.retain(|operand| operand.path != path);
    }
    operands
}

/// A launcher that this event starts as a program. It lies among the gate's own files, which nothing may open; but whoever
/// comes upon it in PATH is to get the real program.
fn started_launcher(session: &Session, event: &Event) -> Option<PathBuf> {
    let script = event.script.as_ref().filter(|script| !script.operand && script.same_view)?;
    let resolved = Path::new(OsStr::from_bytes(&script.resolved));
    let launcher = resolved.parent() == Some(&session.frozen.places.launchers.path());
    launcher.then(|| Path::new(OsStr::from_bytes(&event.cwd)).join(OsStr::from_bytes(&script.path)))
}

/// A shell, as the caller of a text without `#!` starts it.
const SHELL: &[u8] = b"/bin/sh";

fn shell_words(event: &Event) -> Option<Vec<Vec<u8>>> {
    (event.stage == Stage::Text).then(|| {
        let path = event.script.as_ref().map_or(&event.executable.path, |script| &script.path);
        [SHELL.to_vec(), path.clone()].into_iter().chain(event.argv.iter().skip(1).cloned()).collect()
    })
}

fn exec<'a>(session: &'a Session, event: &'a Event, words: Option<&'a [Vec<u8>]>) -> Exec<'a> {
    let file = &event.executable;
    let loaded = FileFacts {
        path: &file.path,
        root_owned: file.root_owned,
        chain_root_owned: file.chain_root_owned,
        unchanged: file.unchanged,
        same_view: file.same_view,
        linker_trusted: file.linker_trusted,
    };
    let shell = FileFacts { path: SHELL, root_owned: true, chain_root_owned: true, unchanged: true, same_view: true, linker_trusted: true };
    Exec {
        argv: words.unwrap_or(&event.argv),
        environment: &event.environment,
        baseline: &session.baseline,
        cwd: &event.cwd,
        file: if words.is_some() { shell } else { loaded },
        script: event.script.as_ref().map(|script| Script {
            path: &script.path,
            text: script.text.as_deref(),
            operand: script.operand,
            file: FileFacts {
                path: &script.resolved,
                root_owned: script.root_owned,
                chain_root_owned: script.chain_root_owned,
                unchanged: script.unchanged,
                same_view: script.same_view,
                linker_trusted: true,
            },
            // The kernel's choice by `#!`, unless it is an operand that was looked at, or the text that was called.
            interpreted_by_kernel: event.stage != Stage::Text && !script.operand,
        }),
        stdin: match event.stdin {
            stayexec_protocol::Stdin::Unknown => Stdin::Unknown,
            stayexec_protocol::Stdin::Terminal => Stdin::Terminal,
            stayexec_protocol::Stdin::Null => Stdin::Null,
            stayexec_protocol::Stdin::File => Stdin::File,
            stayexec_protocol::Stdin::Pipe => Stdin::Pipe,
            stayexec_protocol::Stdin::Socket => Stdin::Socket,
        },
    }
}

impl Session {
    /// Whom a name can be believed in this run.
    pub fn places(&self) -> Places<'_> {
        Places {
            launch_path: &self.launch_path,
            trust_dirs: &self.trust_dirs,
            workspace: self.frozen.places.workspace.bytes(),
            temp: &self.temp,
            home: self.frozen.places.home.bytes(),
            own_files: stayexec_policy::OwnFiles::default(),
        }
    }
}
