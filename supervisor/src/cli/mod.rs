//! The command line: what each verb is told, and who carries it out.
//!
//! Invariant: parsing stops at the first word of a command, with or without `--`: its options are never taken for ours.
//! Refuses unknown options and verbs with status 2.

mod classify;
mod context;
mod doctor;
mod history;
mod print;
mod questions;
mod remote;
mod rules;
mod run;
mod serve;
mod show;

use crate::config::{Deadline, Origin, Overrides, Preset, Require};
use crate::error::Failure;
use crate::exit_code;
use clap::{Args, Parser, Subcommand};
use stayexec_policy::{CommandClass, GateDecision, Tier};
use std::ffi::OsString;
use std::path::PathBuf;

/// Holds a coding agent's commands until they are judged.
#[derive(Debug, Parser)]
#[command(name = "stayexec", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run a command behind the gate and exit with its status
    Run(Run),
    /// Serve judgements to runs; `run` starts this by itself
    Serve(Serve),
    /// Class and decision of a command, by the matrix of a tier alone
    Classify(Judging),
    /// Class and decision of a command in this workspace: exit 0 allow, 1 block, 3 prompt
    Check(Judging),
    /// List the open questions of all runs
    Pending(Listing),
    /// Let the command of a question run
    Approve(Approve),
    /// Refuse the command of a question
    Deny(Deny),
    /// Let the card of a question go; the question stays open
    Later(Later),
    /// End a run and everything in it
    Stop(Stop),
    /// Look at and change the rules and remembered approvals of a workspace
    #[command(subcommand)]
    Rules(Rules),
    /// List what was judged in this workspace
    History(History),
    /// Say what holds on this machine, and what to change
    Doctor(Listing),
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigVerb),
}

#[derive(Debug, Args)]
struct Run {
    /// readonly, supervised or full
    #[arg(long)]
    tier: Option<Tier>,
    /// Who is there to answer
    #[arg(long)]
    origin: Option<Origin>,
    /// How long a question waits, as 90s or 10m
    #[arg(long)]
    deadline: Option<Deadline>,
    /// The least mode to run in
    #[arg(long)]
    require: Option<Require>,
    /// The folder that the run is about
    #[arg(long)]
    workspace: Option<PathBuf>,
    /// A named set of options
    #[arg(long)]
    preset: Option<Preset>,
    /// Record only: ask and refuse nothing
    #[arg(long)]
    observe: bool,
    /// Exit with 1 where the command succeeds and something was denied
    #[arg(long)]
    fail_on_denied: bool,
    /// The command
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Run {
    fn overrides(&self) -> Overrides {
        Overrides {
            tier: self.tier,
            origin: self.origin,
            deadline: self.deadline,
            require: self.require,
            workspace: self.workspace.clone(),
            preset: self.preset,
            observe: self.observe,
            fail_on_denied: self.fail_on_denied,
        }
    }
}

#[derive(Debug, Args)]
struct Serve {
    /// The runtime folder, where it is not that of the environment
    #[arg(long, hide = true)]
    runtime_dir: Option<PathBuf>,
    /// The state folder, where it is not that of the environment
    #[arg(long, hide = true)]
    state_dir: Option<PathBuf>,
    /// Started by a run
    #[arg(long, hide = true)]
    started: bool,
    /// Seconds without a peer after which a started supervisor ends
    #[arg(long, hide = true, default_value_t = 60)]
    linger: u64,
}

#[derive(Debug, Args)]
struct Judging {
    /// readonly, supervised or full
    #[arg(long)]
    tier: Option<Tier>,
    /// The folder whose configuration counts
    #[arg(long)]
    workspace: Option<PathBuf>,
    /// A class that the caller declares; it only raises
    #[arg(long, value_name = "CLASS")]
    declare: Option<CommandClass>,
    /// Show the parts, each with its class and reason
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Read a JSON object a line, `{"command": "…"}` or `{"argv": […]}`, and answer each with one
    #[arg(long, conflicts_with_all = ["explain", "json", "command"])]
    jsonl: bool,
    /// One word is shell text, several are an argument vector, none is standard input
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Listing {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Approve {
    /// The id, or its last characters
    id: String,
    /// Remember it in this workspace, as `pending --json` shows in always_rule
    #[arg(long, conflicts_with_all = ["run", "for_time"])]
    always: bool,
    /// Remember it in this run
    #[arg(long, conflicts_with = "for_time")]
    run: bool,
    /// Remember it for a time, as 10m
    #[arg(long = "for", value_name = "TIME")]
    for_time: Option<Deadline>,
}

impl Approve {
    fn decision(&self) -> questions::Decision {
        match self.for_time {
            Some(time) => questions::Decision::For(time.duration().as_secs().div_ceil(60)),
            None if self.always => questions::Decision::Named("AlwaysApprove"),
            None if self.run => questions::Decision::Named("ApproveForRun"),
            None => questions::Decision::Named("ApproveOnce"),
        }
    }
}

#[derive(Debug, Args)]
struct Later {
    /// The id, or its last characters
    id: String,
}

#[derive(Debug, Args)]
struct Stop {
    /// The id of the run, or its last characters
    run: String,
}

#[derive(Debug, Subcommand)]
enum Rules {
    /// List what the configuration, added rules and remembered approvals say
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The folder, where it is not this one
        #[arg(long)]
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
        #[arg(long)]
        workspace: Option<PathBuf>,
        /// The leading words of the command
        #[arg(required = true, trailing_var_arg = true, value_name = "WORD")]
        words: Vec<String>,
    },
    /// Remove a rule or a remembered approval
    Remove {
        /// The folder, where it is not this one
        #[arg(long)]
        workspace: Option<PathBuf>,
        /// The id, or its last characters
        id: String,
    },
}

#[derive(Debug, Args)]
struct Deny {
    /// The id, or its last characters
    id: String,
    /// A line for the agent
    #[arg(long, default_value = "")]
    note: String,
}

#[derive(Debug, Args)]
struct History {
    /// Of all workspaces
    #[arg(long)]
    all: bool,
    /// The folder, where it is not this one
    #[arg(long)]
    workspace: Option<PathBuf>,
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
    /// Wait for more
    #[arg(short, long)]
    follow: bool,
}

#[derive(Debug, Subcommand)]
enum ConfigVerb {
    /// Print the resolved configuration
    Show {
        /// Print where each value comes from
        #[arg(long)]
        origin: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The folder whose configuration counts
        #[arg(long)]
        workspace: Option<PathBuf>,
    },
}

/// Carries out a command line and gives the exit status.
///
/// # Errors
/// Any [`Failure`].
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<u8, Failure> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return Err(usage(&error)),
        Err(help) => return print::text(&help.render().to_string()).map(|()| exit_code::OK),
    };
    match cli.verb {
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Serve(arguments) => serve::run(&arguments),
        Verb::Classify(arguments) => classify::run(&arguments, classify::Scope::Tier),
        Verb::Check(arguments) => classify::run(&arguments, classify::Scope::Workspace),
        Verb::Pending(arguments) => questions::pending(&arguments),
        Verb::Approve(arguments) => questions::decide(&arguments.id, arguments.decision(), ""),
        Verb::Deny(arguments) => questions::decide(&arguments.id, questions::Decision::Named("Deny"), &arguments.note),
        Verb::Later(arguments) => questions::decide(&arguments.id, questions::Decision::Named("AskLater"), ""),
        Verb::Stop(arguments) => questions::stop(&arguments.run),
        Verb::Rules(Rules::List { json, workspace }) => rules::list(json, workspace),
        Verb::Rules(Rules::Add { decision, message, workspace, words }) => rules::add(&words, decision, message, workspace),
        Verb::Rules(Rules::Remove { workspace, id }) => rules::remove(&id, workspace),
        Verb::History(arguments) => history::run(&arguments),
        Verb::Doctor(arguments) => doctor::run(&arguments),
        Verb::Config(ConfigVerb::Show { origin, json, workspace }) => show::run(origin, json, workspace),
    }
}

/// One line: what is wrong, and where to read more.
fn usage(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let said: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let line = said.join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    match (line, tip) {
        ("", _) => Failure::Usage("this needs a verb; see stayexec --help".into()),
        (line, Some(tip)) => Failure::Usage(format!("{line} ({tip})")),
        (line, None) => Failure::Usage(format!("{line}; see stayexec --help")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Verb, String> {
        let words = std::iter::once("stayexec").chain(words.iter().copied()).map(OsString::from);
        Cli::try_parse_from(words).map(|cli| cli.verb).map_err(|e| usage(&e).to_string())
    }

    fn command(words: &[&str]) -> Vec<String> {
        match parsed(words) {
            Ok(Verb::Run(run)) => run.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            other => vec![format!("{other:?}")],
        }
    }

    #[test]
    fn parsing_stops_at_the_command() {
        assert_eq!(command(&["run", "ls", "--tier", "full"]), ["ls", "--tier", "full"]);
        assert_eq!(command(&["run", "--tier", "full", "--", "ls", "--help"]), ["ls", "--help"]);
        assert_eq!(command(&["run", "--tier", "full", "sh", "--", "x"]), ["sh", "--", "x"]);
        assert_eq!(command(&["run", "--", "--odd"]), ["--odd"]);
    }

    #[test]
    fn mistakes_are_one_line() {
        for words in [&["run"][..], &["run", "--bogus", "ls"], &["run", "--tier", "x", "ls"], &["frob"], &[], &["check", "--jsonl", "ls"]] {
            let line = parsed(words).err().unwrap_or_default();
            assert!(!line.is_empty() && !line.contains('\n'), "{words:?}: {line}");
        }
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
