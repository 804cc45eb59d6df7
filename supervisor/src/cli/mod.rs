//! The command line: what each verb is told, and who carries it out.
//!
//! Invariant: parsing stops at the first word of a command, with or without `--`: its options are never taken for ours.
//! Refuses unknown options and verbs with status 2.

mod advice;
mod arguments;
mod changes;
mod classify;
mod confine;
mod context;
mod doctor;
mod history;
mod launcher;
mod print;
mod questions;
mod remote;
mod rules;
mod run;
mod search;
mod serve;
mod show;
mod tree;
mod user;
mod web;
mod wrap;

use crate::error::Failure;
use crate::exit_code;
use arguments::{Approve, ConfigVerb, Deny, History, Judging, Later, Listing, Pending, Rules, Run, Serve, Stop, Web, Wrap};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::{self, Write};

/// Holds a coding agent's commands until they are judged.
#[derive(Debug, Parser)]
#[command(name = "stayexec", version)]
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
    Pending(Pending),
    /// Let the command of a question run, once or for longer
    Approve(Approve),
    /// Refuse the command of a question, with a line for the agent
    Deny(Deny),
    /// Put a question off: its card goes away, and it stays open until its deadline
    Later(Later),
    /// End a run and everything in it
    Stop(Stop),
    /// Look at and change the rules and remembered approvals of a workspace
    #[command(subcommand)]
    Rules(Rules),
    /// Open the page for the browser: prints its address and returns
    Web(Web),
    /// Print the token for HTTP
    Token(Listing),
    /// List what was judged in this workspace
    History(History),
    /// Say what holds on this machine, and what to change
    Doctor(Listing),
    /// Have agents started behind the gate by their own names
    #[command(subcommand)]
    Wrap(Wrap),
    /// Tells a run inside a run that there is no gate around it: a gate denies this
    #[command(hide = true)]
    Within,
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigVerb),
}

/// Carries out a command line and gives the exit status.
///
/// # Errors
/// Any [`Failure`].
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<u8, Failure> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return help(&error),
        Err(error) if error.use_stderr() => return Err(usage(&error)),
        Err(help) => return print::text(&help.render().to_string()).map(|()| exit_code::OK),
    };
    match cli.verb {
        Verb::Run(arguments) => run::run(&arguments.options, &arguments.command),
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
        Verb::Web(arguments) => web::open(&arguments),
        Verb::Token(arguments) => web::token(&arguments),
        Verb::History(arguments) => history::run(&arguments),
        Verb::Within => Ok(exit_code::BLOCKED),
        Verb::Doctor(arguments) => doctor::run(&arguments),
        Verb::Wrap(Wrap::Install(install)) => wrap::install(&install, &wrap::given(Cli::command(), &arguments)),
        Verb::Wrap(Wrap::Remove { all, names }) => wrap::remove(&names, all),
        Verb::Wrap(Wrap::Status(arguments)) => wrap::status(arguments.json),
        Verb::Wrap(Wrap::Run(arguments)) => wrap::run(&arguments),
        Verb::Config(ConfigVerb::Show { origin, json, workspace }) => show::run(origin, json, workspace),
    }
}

/// A verb is missing: which there are, on standard error.
fn help(error: &clap::Error) -> Result<u8, Failure> {
    // There is nobody to tell where that fails.
    let _ = io::stderr().write_all(error.render().to_string().as_bytes());
    Err(Failure::Said(exit_code::USAGE))
}

/// One line: what is wrong, and where to read more.
fn usage(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let said: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let line = said.join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    match tip {
        Some(tip) => Failure::Usage(format!("{line} ({tip})")),
        None => Failure::Usage(format!("{line}; see stayexec --help")),
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
        for words in [&["run"][..], &["run", "--bogus", "ls"], &["run", "--tier", "x", "ls"], &["frob"], &["check", "--jsonl", "ls"]] {
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
