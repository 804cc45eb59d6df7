//! An event in the words of the policy.
//!
//! Invariant: only what the warden read goes into a judgement; nothing is looked up here. A text that the kernel cannot
//! load is judged as what happens to it: a shell reads it.

use super::agent::{Layer, Reading};
use super::session::Session;
use stayexec_policy::forbidden::Operands;
use stayexec_policy::remember::Shape;
use stayexec_policy::{
    Assessment, ClassifySettings, CommandClass, Exec, FileFacts, OwnFiles, Part, Places, ReasonCode, Script, SecurityPolicy, Stdin,
};
use stayexec_protocol::{Event, Stage};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The operand that has to be read before this event can be judged: the script of a shell or an interpreter, or what an
/// agent's own line sources.
pub fn unread_script(session: &Session, event: &Event, reading: &Reading) -> Option<Vec<u8>> {
    if event.script.is_some() || event.stage == Stage::Text {
        return None;
    }
    reading.source.clone().or_else(|| assess(session, event, reading).wants)
}

/// What the classifier says of an event.
pub fn assess(session: &Session, event: &Event, reading: &Reading) -> Assessment {
    let told = classify(session, &session.policy, reading.told(event), &Reading { called: reading.called.clone(), ..Reading::PLAIN });
    let worse = |one: Assessment, other: Assessment| if other.class > one.class { other } else { one };
    let own = match (&reading.layer, &reading.rest) {
        (Layer::Command(_), _) => worse(told, classify(session, &around_policy(session), event, reading)),
        // A line that it has a shell run for itself.
        (_, Some(rest)) => classify(session, &around_policy(session), rest, reading),
        (_, None) => return told,
    };
    match sourced(session, event, reading) {
        Some((class, reason)) if class > own.class => Assessment { class, reason, code: ReasonCode::InterpreterText, entry: None, ..own },
        _ => own,
    }
}

/// The class of a line around the model's command, without the command.
pub fn around(session: &Session, reading: &Reading) -> Option<CommandClass> {
    // What its environment makes of the line is judged with the command.
    let rest = Event { environment: Vec::new(), ..reading.rest.as_deref()?.clone() };
    Some(classify(session, &around_policy(session), &rest, reading).class)
}

/// The policy for what an agent wraps around a command: a person's stricter settings are for the command.
fn around_policy(session: &Session) -> SecurityPolicy {
    session.policy.clone().with_classify(ClassifySettings::default())
}

/// Whether the line sources a file that is not as the agent wrote it: what runs is then not what a person is told of.
pub fn sources_unbelieved(session: &Session, event: &Event, reading: &Reading) -> bool {
    let file = |path: &Vec<u8>| event.script.as_ref().filter(|script| script.path == *path);
    let believed = |path| file(path).is_some_and(|file| session.agents.snapshots.believes(file));
    reading.source.as_ref().is_some_and(|path| !believed(path))
}

/// What a file that the line sources makes of it, where it is not as the agent wrote it.
fn sourced(session: &Session, event: &Event, reading: &Reading) -> Option<(CommandClass, String)> {
    let path = reading.source.as_ref().filter(|_| sources_unbelieved(session, event, reading))?;
    let file = event.script.as_ref().filter(|script| script.path == *path);
    let shown = super::text::word(path);
    let text = file.and_then(|file| std::str::from_utf8(file.text.as_ref()?).ok());
    Some(match text {
        Some(text) => (session.policy.classify_command(text), format!("sources {shown}, which a command could have written")),
        None => (CommandClass::Write, format!("sources {shown}, which could not be read")),
    })
}

fn classify(session: &Session, policy: &SecurityPolicy, event: &Event, reading: &Reading) -> Assessment {
    let words = shell_words(event);
    let sources = reading.source.as_slice();
    let own_files = OwnFiles { sources, sinks: &reading.sinks };
    policy.classify_argv(&exec(session, event, words.as_deref(), reading), &Places { own_files, ..session.places() })
}

/// The parts of an event.
pub fn explain(session: &Session, event: &Event) -> Part {
    let words = shell_words(event);
    session.policy.explain_argv(&exec(session, event, words.as_deref(), &Reading::PLAIN), &session.places())
}

/// What of an event can be remembered, up to a class.
pub fn shape(session: &Session, event: &Event, class: CommandClass) -> Option<Shape> {
    let words = shell_words(event);
    Shape::of(&session.policy, &exec(session, event, words.as_deref(), &Reading::PLAIN), &session.places(), class)
}

/// Whether the loaded file is what its name says.
pub fn trusted(session: &Session, event: &Event) -> bool {
    let words = shell_words(event);
    exec(session, event, words.as_deref(), &Reading::PLAIN).file.trusted(&session.places())
}

/// What an event would open.
pub fn operands(session: &Session, event: &Event, reading: &Reading) -> Operands {
    let words = shell_words(event);
    let mut operands = Operands::of_exec(&session.policy, &exec(session, event, words.as_deref(), reading), &session.places());
    if let Some(path) = started_launcher(session, event) {
        operands.opened.retain(|operand| operand.path != path);
    }
    operands
}

/// The name of the program that an event starts, or of its script, where the file is what it is called.
pub fn believed_name(session: &Session, event: &Event) -> Option<Vec<u8>> {
    let plain = Reading::PLAIN;
    let start = exec(session, event, None, &plain);
    if !start.file.trusted(&session.places()) {
        return None;
    }
    match start.script.filter(|script| !script.operand) {
        Some(script) => script.file.trusted(&session.places()).then(|| script.file.name().to_vec()),
        None => Some(start.file.name().to_vec()),
    }
}

/// The command that a script is which can be believed, by its file's name: `npm test` for `node /usr/bin/npm test`.
pub fn script_command(session: &Session, event: &Event) -> Option<Vec<String>> {
    let plain = Reading::PLAIN;
    let script = exec(session, event, None, &plain).script.filter(|script| script.file.trusted(&session.places()))?;
    let at = event.argv.iter().position(|word| *word == script.path)?;
    // An option in front of it would have the interpreter do something besides; and `env` goes by PATH.
    let between = event.argv.get(1..at)?;
    let launch_path = || event.environment.iter().filter(|entry| entry.starts_with(b"PATH=")).all(|entry| session.baseline.contains(entry));
    if between.len() > 1 || between.iter().any(|word| word.starts_with(b"-") || word.contains(&b'=')) || (at > 1 && !launch_path()) {
        return None;
    }
    let name = std::str::from_utf8(script.file.name()).ok()?;
    let name = name.strip_suffix("-cli.js").or_else(|| name.strip_suffix(".js")).unwrap_or(name).to_owned();
    let rest = event.argv[at + 1..].iter().map(|word| String::from_utf8(word.clone()).ok());
    std::iter::once(Some(name)).chain(rest).collect()
}

/// Whether there is knowledge about the program that an event starts.
pub fn is_known(session: &Session, event: &Event) -> bool {
    let name = event.executable.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    std::str::from_utf8(name).is_ok_and(|name| session.policy.knowledge().knows(name))
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

fn exec<'a>(session: &'a Session, event: &'a Event, words: Option<&'a [Vec<u8>]>, reading: &'a Reading) -> Exec<'a> {
    let file = &event.executable;
    let loaded = FileFacts {
        path: &file.path,
        root_owned: file.root_owned,
        chain_root_owned: file.chain_root_owned,
        unchanged: file.unchanged,
        same_view: file.same_view,
        linker_trusted: file.linker_trusted,
    };
    // The agent's own binary, which a person started: here it is the program that it is called.
    let loaded = match &reading.called {
        Some(path) => FileFacts { path, root_owned: true, chain_root_owned: true, ..loaded },
        None => loaded,
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
            own_files: OwnFiles::default(),
        }
    }
}
