//! The warden: launches the agent, owns the seccomp listener, holds loaded images, writes the journal.
//!
//! Invariant: an image leaves its exec stop only after its record is in the journal. Refuses to judge: it knows no shell,
//! no class and no rule; it asks the supervisor and carries out what it is told.
//!
//! A call's way through the files: `intake` (taken, looked up, attached, let go) → `loading` (read and asked about) →
//! `settle` (recorded; released, held or ended), with `gate` calling each step and `upkeep` looking after what is held.

mod adopting;
mod again;
mod answers;
mod arguments;
mod asked;
mod call;
mod called;
mod calls;
mod capture;
mod courtesy;
mod devices;
mod elf;
mod ending;
mod errand;
mod fence;
mod gate;
mod head;
mod hold;
mod images;
mod incall;
mod intake;
mod kin;
mod launch;
mod layers;
mod leftover;
mod link;
mod loading;
mod lookup;
pub mod nested;
mod plan;
mod poller;
pub mod probe;
mod reaper;
mod recording;
mod records;
mod repeat;
mod room;
mod settle;
mod shim;
mod signals;
mod snapshot;
mod stack;
mod stopping;
mod times;
mod trust;
mod upkeep;
mod waiting;
mod wake;
mod watch;

pub use fence::Writable;
pub use plan::{Plan, RunError, User};

use crate::journal::{self, Journal};
use crate::sys::{notify, own_memory, process, procfs::Procfs, random};
use gate::Gate;
use stayexec_protocol::ask::Form;
use stayexec_protocol::{Enlist, Mode};
use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Instant;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the plan's command behind the gate and gives its exit status: 128+n for a signal. Must be called while the
/// process has one thread.
///
/// # Errors
/// Whatever keeps the gate from standing; nothing of the command has run then.
pub fn run(plan: &Plan) -> Result<u8, RunError> {
    let step = |step| move |cause| RunError::Step { step, cause };
    let started = process::file_clock();
    let run = plan.run;
    let key = journal::load_or_make_key(&plan.key_path).map_err(step("make the journal's key"))?;
    let path = plan.journal_dir.join(format!("{}.journal", uuid::Uuid::from_bytes(run)));
    let mut journal = Journal::create(&path, key).map_err(step("create the journal"))?;
    // Each held image costs a descriptor. The agent gets the limit that we were given.
    let given = process::raise_descriptor_limit().map_err(step("raise the limit of descriptors"))?;
    process::set_dumpable(false).map_err(step("hide the warden from its own user's programs"))?;
    let form = if plan.require == Mode::Preload { Form::Alone } else { Form::Beside };
    let shim = if form == Form::Alone { Some(laid_alone(plan)?) } else { laid(plan) };
    let entries = shim.as_ref().map(|shim| shim.entries(preload(plan).as_deref(), form));
    let launched = launch::launch(plan, &plan.program, given, entries)?;
    if plan.require == Mode::Verify {
        launched.try_attaching().map_err(|e| RunError::Unsupported(unattachable(&e)))?;
    }
    let (beside, alone) = match (shim, form) {
        (Some(shim), Form::Alone) => (None, Some(shim::Alone::listen(shim, launched.pid).map_err(step("listen for the shim"))?)),
        (shim, _) => (shim.and_then(|shim| shim.listen(launched.pid).map_err(|e| left_out(&e)).ok()), None),
    };
    let wake = Arc::new(wake::Wake::new().map_err(step("make a wake-up descriptor"))?);
    let introduction = introduction(plan, run, started).map_err(step("make a secret for the run"))?;
    let (link, lines) = link::Link::open(plan.address.clone(), introduction, Arc::clone(&wake))?;
    lines.iter().for_each(|line| say(&escaped(line)));
    if process::has_capability(process::CAP_SYS_ADMIN) {
        process::own_mount_namespace().map_err(step("take a mount namespace of the warden's own"))?;
    }
    let procfs = Arc::new(Procfs::open().map_err(step("open a procfs of the warden's own"))?);
    let agent = procfs.process(launched.pid).map_err(step("find the launched process"))?;
    let reaper = agent.stat().map_err(step("find the launched process's parent"))?.parent;
    let view = trust::View::take(&agent, started).map_err(step("take a view of the files"))?;
    journal.append(&records::started(plan, run, plan.require)).map_err(step("write the journal"))?;
    if let Some(listener) = &launched.listener {
        notify::prefer_caller_cpu(listener.as_fd());
    }
    let mut gate = Gate {
        mode: plan.require,
        holds_calls: plan.holds_calls,
        agent: launched.pid,
        reaper,
        stopping: None,
        beside,
        alone,
        silent: HashSet::new(),
        launched: false,
        key,
        listener: launched.listener,
        procfs,
        heads: Arc::default(),
        view: Arc::new(view),
        poller: poller::Poller::new().map_err(step("make a poller"))?,
        signals: signals::Signals::open().map_err(step("read signals"))?,
        news: launched.news,
        link,
        errands: errand::Errands::new(Arc::clone(&wake)),
        wake,
        journal,
        repeats: repeat::Repeats::default(),
        refusals: again::Refusals::default(),
        calls: calls::Calls::default(),
        images: images::Images::default(),
        moving: Vec::new(),
        watch: watch::Watch::start(launched.pid).map_err(step("start the watch over the gate"))?,
        next_call: 0,
        next_sweep: Instant::now(),
        waiting: waiting::Waiting::default(),
        writing: false,
        no_new_privs: !process::has_capability(process::CAP_SYS_ADMIN),
        explained: false,
        unrecorded: false,
    };
    if form == Form::Alone {
        // The shim sees what the launched program starts, and never the launch itself.
        gate.ask_for_launch(plan, launched.go);
    } else {
        launched.go.go().map_err(step("start the agent"))?;
    }
    // The way here took room that the gate, which stays for hours, has no use for.
    own_memory::trim_heap();
    own_memory::let_go_of_code();
    gate.run().map(exit_status).map_err(step("keep the gate"))
}

/// The shim's library, where the program takes it. It judges nothing, so a run goes on without.
fn laid(plan: &Plan) -> Option<shim::Shim> {
    if !plan.shim || !shim::takes_shim(&plan.program) {
        return None;
    }
    room::Room::make(&plan.rooms, plan.run, plan.user.is_some()).and_then(shim::Shim::lay).map_err(|e| left_out(&e)).ok()
}

/// The shim's library, where it is the whole gate.
fn laid_alone(plan: &Plan) -> Result<shim::Shim, RunError> {
    if !shim::takes_shim(&plan.program) {
        let line = format!(
            "{} cannot load the preload library (it is static, set-user-ID or of another width), which would be the whole gate",
            plan.program.display()
        );
        return Err(RunError::Unsupported(line));
    }
    let laid = room::Room::make(&plan.rooms, plan.run, plan.user.is_some()).and_then(shim::Shim::lay);
    laid.map_err(|cause| RunError::Step { step: "write the preload library", cause })
}

fn left_out(error: &io::Error) {
    say(&format!("warning: the shim is left out, so the agent's own lines are not shown: {error}"));
}

fn unattachable(error: &io::Error) -> String {
    format!(
        "cannot attach to what it starts, so nothing can be verified: ptrace: {error}; `stayexec doctor` says what to change, and \
         --require seccomp runs with less"
    )
}

/// The value of LD_PRELOAD that the program would have.
fn preload(plan: &Plan) -> Option<Vec<u8>> {
    plan.launch_environment().into_iter().find(|(name, _)| name == "LD_PRELOAD").map(|(_, value)| value.as_bytes().to_vec())
}

fn introduction(plan: &Plan, run: [u8; 16], started: i64) -> io::Result<Enlist> {
    let variables = plan.launch_environment();
    let environment = variables.iter().map(|(key, value)| [key.as_bytes(), b"=", value.as_bytes()].concat()).collect();
    let secret = random::bytes()?;
    Ok(Enlist {
        run,
        config: plan.config.clone(),
        warden: std::process::id(),
        started,
        argv: plan.command.iter().map(|a| a.as_bytes().to_vec()).collect(),
        cwd: std::env::current_dir().map(|d| d.as_os_str().as_bytes().to_vec()).unwrap_or_default(),
        environment,
        secret,
        kept: Vec::new(),
    })
}

/// The shell's way to put a wait status into a byte.
fn exit_status(status: i32) -> u8 {
    let code = if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) };
    u8::try_from(code).unwrap_or(crate::exit_code::GATE_FAILED)
}

/// One line for the person, on the warden's standard error.
fn say(line: &str) {
    let _ = io::Write::write_all(&mut io::stderr(), format!("stayexec: {line}\n").as_bytes());
}

/// Text from the tree as it may be shown: one line, no controls.
fn escaped(text: &[u8]) -> String {
    String::from_utf8_lossy(text)
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect()
}
