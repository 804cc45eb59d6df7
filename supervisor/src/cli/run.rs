//! `run`: from a command line to a plan, and the plan to the warden.
//!
//! Invariant: whatever can be found wrong is found before anything of the command starts.

use super::arguments::RunOptions;
use super::confine::Confinement;
use super::user::Agent;
use super::{changes, context, search};
use crate::config::{self, Frozen, Hold, Permission, Require, Settings, Surroundings};
use crate::error::{Failure, say};
use crate::exit_code;
use crate::journal;
use crate::warden::{self, Plan};
use stayexec_protocol::{Decision, Mode, Reason, Record};
use std::ffi::OsString;
use std::path::Path;
use uuid::Uuid;

/// Variables that switch prompts off.
const GATE: [&str; 2] = ["STAYEXEC_APPROVAL_GATE", "OPENHUMAN_APPROVAL_GATE"];

/// Runs the command behind the gate.
pub fn run(options: &RunOptions, command: &[OsString]) -> Result<u8, Failure> {
    let around = Surroundings::current()?;
    let overrides = options.overrides();
    let agent = options.user.as_deref().map(|name| Agent::named(name, around.uid)).transpose()?;
    let mut settings = config::load(&overrides, &around)?;
    if let Some(agent) = &agent {
        // Whose credentials are in reach, and where the agent keeps its own.
        settings.home.clone_from(&agent.home);
    }
    let gate_off = gate_off(&settings, &around);
    observable(&settings, options.observe)?;
    let confinement = Confinement::of(options, command, &settings, around.uid, agent.as_ref().map(|agent| &agent.user))?;
    if warden::nested::is_within() {
        let tier = settings.tier.value.to_string();
        say(&format!("inside another run, whose gate stays: this one only tightens it, to the tier {tier}"));
        let name = command.first().map(OsString::as_os_str).unwrap_or_default();
        let program = search::program(name, around.variable("PATH"))?;
        let inside = warden::nested::Inside {
            program: &program,
            command,
            tier: &tier,
            writable: &confinement.writable,
            temporary: confinement.temporary.as_deref(),
            environment: confinement.environment(),
        };
        return Err(warden::nested::join(inside).into());
    }
    let plan = plan(command, &settings, &around, &confinement, gate_off, options.observe)?;
    let plan = Plan { shim: !options.no_shim, ..plan };
    let plan = match agent {
        Some(agent) => as_user(plan, &agent),
        None => plan,
    };
    announce(gate_off, options.observe);
    announce_changes(&settings, &around);
    warn_of_mode(&settings);
    let status = warden::run(&plan)?;
    let fail_on_denied = options.fail_on_denied || options.preset.is_some_and(config::Preset::fail_on_denied);
    if fail_on_denied && status == exit_code::OK { denied(&plan) } else { Ok(status) }
}

/// The same plan for another user: what its tree has to find lies where that user can find it.
fn as_user(mut plan: Plan, agent: &Agent) -> Plan {
    plan.environment.extend(agent.environment());
    Plan { user: Some(agent.user.clone()), taken: Agent::taken(), rooms: SHARED.into(), ..plan }
}

/// Where the rooms of runs lie that another user has to enter; root's own.
const SHARED: &str = "/run/stayexec";

/// The plan for a command under these settings; makes the folders that it names.
pub(super) fn plan(
    command: &[OsString],
    settings: &Settings,
    around: &Surroundings,
    confinement: &Confinement,
    gate_off: bool,
    observe: bool,
) -> Result<Plan, Failure> {
    let name = command.first().map(OsString::as_os_str).unwrap_or_default();
    let path = around.variable("PATH");
    let program = search::program(name, path)?;
    let mut environment = confinement.environment();
    // Inside the gate a launcher has nothing to do.
    if let Some(path) = path.and_then(|path| search::without(path, &settings.directories.launchers())) {
        environment.push(("PATH".into(), path));
    }
    settings.directories.make(around.uid)?;
    let state = context::workspace_state(&settings.directories, &settings.workspace);
    let journal_dir = config::journals(&state);
    config::make_private(&state, around.uid)?;
    config::make_private(&journal_dir, around.uid)?;
    let mut frozen = Frozen::of(settings, gate_off, observe);
    frozen.notify = config::outward(&around.managed, Some(&settings.directories.config_file()))?.notify;
    // A supervisor would refuse it later; here nothing has started.
    frozen.matrix()?;
    Ok(Plan {
        run: Uuid::now_v7().into_bytes(),
        program,
        command: command.to_vec(),
        config: frozen.to_json()?,
        address: context::address(&settings.directories),
        journal_dir,
        key_path: settings.directories.key(),
        workspace: settings.workspace.clone(),
        writable: confinement.writable.clone(),
        temporary: confinement.temporary.clone(),
        environment,
        tier: frozen.tier.to_string(),
        origin: word(&frozen.origin),
        require: match frozen.require {
            Require::Verify => Mode::Verify,
            Require::Seccomp => Mode::Seccomp,
            Require::Preload => Mode::Preload,
        },
        holds_calls: frozen.hold == Hold::Call,
        shim: true,
        user: None,
        taken: Vec::new(),
        rooms: settings.directories.runtime.join("runs"),
    })
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Whether the person switched prompts off, and may.
fn gate_off(settings: &Settings, around: &Surroundings) -> bool {
    let off = |name: &&&str| around.variable(name).is_some_and(|value| value == "0" || value.eq_ignore_ascii_case("false"));
    let Some(name) = GATE.iter().find(off) else { return false };
    if settings.gate_off.value == Permission::Forbid {
        say(&format!("{name} is ignored: {} forbids it", settings.gate_off.source));
        return false;
    }
    true
}

fn observable(settings: &Settings, observe: bool) -> Result<(), Failure> {
    if observe && settings.observe.value == Permission::Forbid {
        return Err(Failure::Usage(format!("--observe: {} forbids it", settings.observe.source)));
    }
    Ok(())
}

/// Less than the full gate is never had unnoticed.
fn warn_of_mode(settings: &Settings) {
    let asked = &settings.require;
    let weakness = match asked.value {
        Require::Verify => return,
        Require::Seccomp => "commands are judged by what their callers say, which can change before they are loaded",
        Require::Preload => "only programs that load the preload library ask; static ones and raw system calls pass by it",
    };
    say(&format!("warning: require = {} ({}): {weakness}; its rows are marked unverified", word(&asked.value), asked.source));
}

fn announce(gate_off: bool, observe: bool) {
    if observe {
        say("warning: this run only observes: nothing is asked and nothing is refused");
    } else if gate_off {
        say("warning: prompts are switched off by the environment: what would be asked about runs, blocks stay");
    }
}

fn announce_changes(settings: &Settings, around: &Surroundings) {
    match changes::note(settings, around, &context::workspace_state(&settings.directories, &settings.workspace)) {
        Ok(changed) if changed.is_empty() => {}
        Ok(changed) => say(&format!("changed since the last run here: {}", changed.join(", "))),
        // The run itself will say that its state cannot be written.
        Err(_) => {}
    }
}

/// The status of a run that has to fail where anything was denied.
fn denied(plan: &Plan) -> Result<u8, Failure> {
    let path = plan.journal_dir.join(format!("{}.journal", Uuid::from_bytes(plan.run)));
    let count = count_denied(&path).map_err(|e| Failure::Journal(path.display().to_string(), e))?;
    if count == 0 {
        return Ok(exit_code::OK);
    }
    say(&format!("{count} command{} denied; `stayexec history` lists them", if count == 1 { " was" } else { "s were" }));
    Ok(exit_code::BLOCKED)
}

fn count_denied(path: &Path) -> Result<usize, journal::JournalError> {
    let mut count = 0;
    for record in journal::read(path, None)? {
        match record?.1 {
            // The question of a run inside this one, which no command asks.
            Record::Judged(judged) if judged.reason == Reason::Own => {}
            Record::Judged(judged) if judged.decision == Decision::Deny => count += 1,
            Record::Answered(answered) if answered.decision == Decision::Deny => count += 1,
            _ => {}
        }
    }
    Ok(count)
}
