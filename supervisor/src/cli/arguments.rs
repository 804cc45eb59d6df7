//! What each verb can be told.
//!
//! Invariant: an option that has a meaning in the configuration is parsed by the configuration's own type. Refuses two
//! options that say different things about the same.

mod wrap;

pub(super) use wrap::{LauncherName, Wrap, WrapInstall, WrapRun};

use super::questions;
use crate::config::{Deadline, Hold, Origin, Overrides, Preset, Require};
use clap::{Args, Subcommand};
use stayexec_policy::{CommandClass, GateDecision, Tier};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) options: RunOptions,
    /// The command
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

/// What a run can be told besides its command.
#[derive(Debug, Args)]
pub(super) struct RunOptions {
    /// What runs unasked: readonly, supervised or full [default: supervised, or what the configuration says]
    #[arg(long)]
    pub(super) tier: Option<Tier>,
    /// Who is there to answer [default: interactive, or what the configuration says]
    #[arg(long)]
    pub(super) origin: Option<Origin>,
    /// How long a question waits before it is denied, as 90s or 2h [default: 10m, or what the configuration says]
    #[arg(long)]
    pub(super) deadline: Option<Deadline>,
    /// The mode of the gate: verify judges what was loaded; less has to be asked for
    #[arg(long)]
    pub(super) require: Option<Require>,
    /// Where a start waits for its answer: loaded (image), or in the call, where no timer of the agent's runs
    #[arg(long)]
    pub(super) hold: Option<Hold>,
    /// Run the command as this user, out of whose reach the gate's own files are; from root alone
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
    /// The folder that the run is about [default: the nearest one above with .git or .stayexec.toml]
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    /// A named set of options
    #[arg(long)]
    pub(super) preset: Option<Preset>,
    /// Let the tree write below the workspace, its own temporary folder and the agent's state folders alone; without a word: on
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "on", value_name = "on|off")]
    pub(super) confine: Option<Switch>,
    /// One more folder that a confined tree may write to
    #[arg(long, value_name = "DIR")]
    pub(super) writable: Vec<PathBuf>,
    /// Leave the library out that tells which line of the agent's own made a call
    #[arg(long)]
    pub(super) no_shim: bool,
    /// Record only: ask and refuse nothing
    #[arg(long)]
    pub(super) observe: bool,
    /// Exit with 1 where the command succeeds and something was denied
    #[arg(long)]
    pub(super) fail_on_denied: bool,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

impl RunOptions {
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            tier: self.tier,
            origin: self.origin,
            deadline: self.deadline,
            require: self.require,
            hold: self.hold,
            workspace: self.workspace.clone(),
            preset: self.preset,
            observe: self.observe,
            fail_on_denied: self.fail_on_denied,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// The runtime folder, where it is not that of the environment
    #[arg(long, hide = true)]
    pub(super) runtime_dir: Option<PathBuf>,
    /// The state folder, where it is not that of the environment
    #[arg(long, hide = true)]
    pub(super) state_dir: Option<PathBuf>,
    /// The user's configuration file, where it is not that of the environment
    #[arg(long, hide = true)]
    pub(super) config: Option<PathBuf>,
    /// Started by a run
    #[arg(long, hide = true)]
    pub(super) started: bool,
    /// Seconds without a peer after which a started supervisor ends
    #[arg(long, hide = true, default_value_t = 60)]
    pub(super) linger: u64,
}

#[derive(Debug, Args)]
pub(super) struct Judging {
    /// The tier to decide by: readonly, supervised or full
    #[arg(long)]
    pub(super) tier: Option<Tier>,
    /// The folder whose configuration counts
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    /// Take it for at least this: read, write, network, install or destructive
    #[arg(long, value_name = "CLASS")]
    pub(super) declare: Option<CommandClass>,
    /// Show the parts, each with its class and reason
    #[arg(long)]
    pub(super) explain: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Read a JSON object a line, `{"command": "…"}` or `{"argv": […]}`, and answer each with one
    #[arg(long, conflicts_with_all = ["explain", "json", "command"])]
    pub(super) jsonl: bool,
    /// One word is shell text, several are an argument vector, none is standard input
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(super) struct Listing {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Pending {
    /// List the questions that agents have given up: an approval counts when the same command is run again
    #[arg(long)]
    pub(super) abandoned: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Web {
    /// Where to listen, where it is not on yet: a loopback address, as 127.0.0.1:8000
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<std::net::SocketAddr>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Approve {
    /// The id that `pending` shows, or its last characters
    pub(super) id: String,
    /// Remember it in this workspace, as `pending --json` shows in always_rule
    #[arg(long, conflicts_with_all = ["run", "for_time"])]
    pub(super) always: bool,
    /// Remember it in this run
    #[arg(long, conflicts_with = "for_time")]
    pub(super) run: bool,
    /// Remember it for a time of whole minutes, as 10m
    #[arg(long = "for", value_name = "TIME", value_parser = whole_minutes)]
    pub(super) for_time: Option<u64>,
}

fn whole_minutes(text: &str) -> Result<u64, String> {
    let seconds = text.parse::<Deadline>().map_err(|e| e.to_string())?.duration().as_secs();
    if seconds % 60 == 0 && seconds <= 24 * 60 * 60 { Ok(seconds / 60) } else { Err("give whole minutes up to a day, as 5m or 2h".into()) }
}

impl Approve {
    pub(super) fn decision(&self) -> questions::Decision {
        match self.for_time {
            Some(minutes) => questions::Decision::For(minutes),
            None if self.always => questions::Decision::Named("AlwaysApprove"),
            None if self.run => questions::Decision::Named("ApproveForRun"),
            None => questions::Decision::Named("ApproveOnce"),
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct Later {
    /// The id that `pending` shows, or its last characters
    pub(super) id: String,
}

#[derive(Debug, Args)]
pub(super) struct Stop {
    /// The id of the run, or its last characters
    pub(super) run: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum Rules {
    /// List what the configuration, added rules and remembered approvals say
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The folder, where it is not this one
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
    },
    /// Add a rule, effective at once
    Add {
        /// allow, prompt or block
        #[arg(long)]
        decision: GateDecision,
        /// A line for the agent
        #[arg(long)]
        message: Option<String>,
        /// The folder, where it is not this one
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// The leading words of the command
        #[arg(required = true, trailing_var_arg = true, value_name = "WORD")]
        words: Vec<String>,
    },
    /// Remove a rule or a remembered approval
    Remove {
        /// The folder, where it is not this one
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// The id that `rules list` shows, or its last characters
        id: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct Deny {
    /// The id that `pending` shows, or its last characters
    pub(super) id: String,
    /// A line for the agent
    #[arg(long, default_value = "")]
    pub(super) note: String,
}

#[derive(Debug, Args)]
pub(super) struct History {
    /// Of all workspaces
    #[arg(long)]
    pub(super) all: bool,
    /// The folder, where it is not this one
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    /// Print a JSON object a line
    #[arg(long)]
    pub(super) json: bool,
    /// Wait for more
    #[arg(short, long)]
    pub(super) follow: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigVerb {
    /// Print the resolved configuration
    Show {
        /// Print where each value comes from
        #[arg(long)]
        origin: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The folder whose configuration counts
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
    },
}
