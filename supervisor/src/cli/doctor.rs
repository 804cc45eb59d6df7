//! `doctor`: what holds on this machine, and what exactly to change.
//!
//! Invariant: each check says what it found; one that failed says what to do. Refuses to guess from version numbers what
//! can be tried out.

use super::arguments::Listing;
use super::confine::Confinement;
use super::{advice, context, print};
use crate::config::{self, Overrides, Surroundings};
use crate::control::{self, ControlError, PROGRAM_VERSION};
use crate::error::Failure;
use crate::exit_code;
use crate::sys::peer::landlock_abi;
use crate::warden::probe::probe;
use serde::Serialize;
use stayexec_protocol::Mode;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Ok,
    Warning,
    Failed,
}

#[derive(Debug, Serialize)]
struct Check {
    check: &'static str,
    health: Health,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, health: Health::Ok, found: found.into(), advice: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, health: Health::Warning, found: found.into(), advice: Some(advice.into()) }
    }

    fn failed(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, health: Health::Failed, found: found.into(), advice: Some(advice.into()) }
    }
}

/// Variables of programs that can type into a terminal.
const MULTIPLEXERS: [&str; 5] = ["TMUX", "STY", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ZELLIJ"];

/// Prints every check; the status is 125 where one failed.
pub fn run(arguments: &Listing) -> Result<u8, Failure> {
    let around = Surroundings::current()?;
    let mut checks = vec![
        Check::ok("version", PROGRAM_VERSION),
        kernel(),
        user(&around),
        landlock(),
        folders(&around),
        configuration(&around),
        supervisor(),
        multiplexer(&around),
    ];
    checks.extend(modes(&around));
    if arguments.json {
        print::json(&checks)?;
    } else {
        checks.iter().try_for_each(line)?;
    }
    let failed = checks.iter().any(|check| check.health == Health::Failed);
    Ok(if failed { exit_code::GATE_FAILED } else { exit_code::OK })
}

fn line(check: &Check) -> Result<(), Failure> {
    let mark = match check.health {
        Health::Ok => "ok",
        Health::Warning => "warning",
        Health::Failed => "FAILED",
    };
    let advice = check.advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
    print::line(&format!("{mark:8}{:14}{}{advice}", check.check, check.found))
}

fn kernel() -> Check {
    let name = nix::sys::utsname::uname().map(|name| name.release().to_string_lossy().into_owned());
    let Ok(release) = name else { return Check::failed("kernel", "unknown", "uname(2) has to work") };
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < (5, 19) {
        return Check::warning("kernel", release, "from 5.19 on a signal does not make the kernel ask a second time");
    }
    Check::ok("kernel", release)
}

fn user(around: &Surroundings) -> Check {
    match around.uid {
        0 => Check::ok("user", "root"),
        uid => Check::ok("user", format!("{uid}; sudo inside a run fails unless this user has CAP_SYS_ADMIN")),
    }
}

/// What is left without scopes.
const NO_SCOPES: &str = "from Linux 6.12 on the kernel keeps a tree from the gate's socket and signals; before, the supervisor refuses \
    peers that carry more seccomp filters than itself, and a tree of the same user can kill it";
const MISSING: &str = "boot with landlock in the lsm= list; in a container, --security-opt seccomp=PROFILE with a profile that allows \
    landlock_create_ruleset, landlock_add_rule and landlock_restrict_self";

fn landlock() -> Check {
    match landlock_abi() {
        Some(abi) if abi >= 6 => Check::ok("landlock", format!("ABI {abi}: the gate is out of a tree's reach")),
        Some(abi) => Check::warning("landlock", format!("ABI {abi}, without scopes"), NO_SCOPES),
        None => Check::warning("landlock", "missing: no scopes, no --confine", MISSING),
    }
}

fn folders(around: &Surroundings) -> Check {
    let made = config::Directories::resolve(around).and_then(|own| own.make(around.uid).map(|()| own));
    match made {
        Ok(own) => Check::ok("folders", format!("state {}, runtime {}", own.state.display(), own.runtime.display())),
        Err(e) => Check::failed("folders", e.to_string(), "no run can start"),
    }
}

fn configuration(around: &Surroundings) -> Check {
    match config::load(&Overrides::default(), around) {
        Ok(settings) => Check::ok("configuration", format!("tier {} ({})", settings.tier.value, settings.tier.source)),
        Err(e) => Check::failed("configuration", e.to_string(), "no run can start"),
    }
}

fn supervisor() -> Check {
    let reached = context::here().map(|(_, own)| control::connect(&context::address(&own)));
    match reached {
        Ok(Ok(_)) => Check::ok("supervisor", "running"),
        Ok(Err(ControlError::Absent)) => Check::ok("supervisor", "not running; a run starts it"),
        Ok(Err(e)) => Check::failed("supervisor", e.to_string(), "no run can start"),
        Err(e) => Check::failed("supervisor", e.to_string(), "no run can start"),
    }
}

/// Uses each mode of the gate once; last, since it leaves this process with its signals blocked.
fn modes(around: &Surroundings) -> Vec<Check> {
    let settings = config::load(&Overrides::default(), around);
    let plan = settings
        .map_err(Failure::from)
        .and_then(|own| super::run::plan(&["true".into()], &own, around, &Confinement::none(), false, false));
    let Ok(plan) = plan else { return vec![Check::failed("verify", "not tried", "folders and configuration come first")] };
    let probe = probe(&plan);
    let one = |check, mode, holds: &str| match probe.missing(mode) {
        None => Check::ok(check, format!("holds: {holds}")),
        Some((step, why)) => {
            let (found, advice) = (format!("does not hold: {step}: {why}"), advice::on(step));
            // What every run requires unless it is told otherwise.
            if mode == Mode::Verify { Check::failed(check, found, advice) } else { Check::warning(check, found, advice) }
        }
    };
    vec![
        one("verify", Mode::Verify, "images are judged after loading"),
        one("seccomp", Mode::Seccomp, "calls can be judged by what they say (--require seccomp)"),
        one("preload", Mode::Preload, "programs can be asked by the shim alone (--require preload)"),
    ]
}

fn multiplexer(around: &Surroundings) -> Check {
    let found: Vec<_> = MULTIPLEXERS.into_iter().filter(|name| around.variable(name).is_some()).collect();
    if found.is_empty() {
        return Check::ok("terminal", "no multiplexer");
    }
    let advice = "whoever reaches its socket can type in this terminal; answer from another one";
    Check::warning("terminal", format!("inside a multiplexer ({})", found.join(", ")), advice)
}
