//! `wrap`: launchers, so that an agent's own name starts it behind the gate.
//!
//! Invariant: the real program is started behind exactly one gate; whether one is around the kernel says, and no variable
//! of the environment. Refuses to edit a shell's start-up files: it says which line to add to which.

use super::arguments::{LauncherName, RunOptions, WrapInstall, WrapRun};
use super::{context, launcher, print, search};
use crate::error::{Failure, say};
use crate::exit_code;
use crate::sys::filter;
use crate::warden::RunError;
use clap::parser::ValueSource;
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Counts how often a program led back to its own launcher.
const DEPTH: &str = "STAYEXEC_WRAP_DEPTH";
/// An agent that starts agents that start agents is not deeper; a program that starts its own launcher again is at once.
const DEEPEST: u32 = 16;

/// Puts launchers into their folder.
pub fn install(arguments: &WrapInstall, options: &[OsString]) -> Result<u8, Failure> {
    outside()?;
    let (around, directories) = context::here()?;
    let named = &arguments.options;
    if let Some(folder) = named.workspace.iter().chain(&named.writable).find(|folder| !folder.is_absolute()) {
        return Err(Failure::Usage(format!("{}: a launcher is started from anywhere; say an absolute path", folder.display())));
    }
    if options.iter().any(|word| word.to_str().is_none()) {
        return Err(Failure::Usage("an option of a launcher has to be UTF-8".into()));
    }
    crate::config::make_private(&directories.data, around.uid)?;
    let (folder, path, own) = (directories.launchers(), around.variable("PATH"), own_path(around.variable("PATH"))?);
    for name in arguments.names.iter().map(LauncherName::as_str) {
        let real = search::program(OsStr::new(name), path);
        let launcher = launcher::put(&folder, name, &launcher::text(&own, options, name), around.uid)?;
        match real {
            Ok(real) => print::line(&format!("{} starts {} behind the gate", launcher.display(), real.display()))?,
            Err(e) => print::line(&format!("{} starts nothing yet: {e}", launcher.display()))?,
        }
    }
    let led = |name: &LauncherName| search::first(OsStr::new(name.as_str()), path).is_some_and(|first| launcher::is_one(&first));
    if !arguments.names.iter().all(led) {
        advise(&folder, around.home().as_deref(), around.variable("SHELL"))?;
    }
    Ok(exit_code::OK)
}

/// What starts agents the next time is the person's to change.
fn outside() -> Result<(), Failure> {
    let refused = "launchers are not changed from inside a run; say it in a terminal of your own";
    if filter::is_around() { Err(Failure::Usage(refused.into())) } else { Ok(()) }
}

/// Which line to add to which file.
fn advise(folder: &Path, home: Option<&Path>, shell: Option<&OsStr>) -> Result<(), Failure> {
    let shown = match home.and_then(|home| folder.strip_prefix(home).ok()) {
        Some(rest) => format!("$HOME/{}", rest.display()),
        None => folder.display().to_string(),
    };
    let export = format!("export PATH=\"{shown}:$PATH\"");
    let (file, line) = match shell.map(Path::new).and_then(Path::file_name).and_then(OsStr::to_str) {
        Some("zsh") => ("~/.zshrc", export),
        Some("fish") => ("~/.config/fish/config.fish", format!("fish_add_path --path --move \"{shown}\"")),
        Some("bash") => ("~/.bashrc", export),
        _ => ("~/.profile", export),
    };
    print::line(&format!("PATH does not lead there first. Add this as the last line of {file}, and open a new terminal:\n    {line}"))
}

/// Takes launchers away.
pub fn remove(names: &[LauncherName], all: bool) -> Result<u8, Failure> {
    outside()?;
    let (_, directories) = context::here()?;
    let folder = directories.launchers();
    let every = || launcher::all(&folder).into_iter().map(|(name, _)| name).collect();
    let names: Vec<String> = if all { every() } else { names.iter().map(|name| name.as_str().to_owned()).collect() };
    names.iter().try_for_each(|name| launcher::take(&folder, name))?;
    Ok(exit_code::OK)
}

#[derive(Serialize)]
struct Row {
    name: String,
    launcher: PathBuf,
    /// What it starts; none where nothing else of its name is in PATH.
    program: Option<PathBuf>,
    options: String,
    /// The name leads to the launcher in this PATH.
    first: bool,
}

/// Lists the launchers.
pub fn status(json: bool) -> Result<u8, Failure> {
    let (around, directories) = context::here()?;
    let (folder, path) = (directories.launchers(), around.variable("PATH"));
    let row = |(name, launcher): (String, PathBuf)| Row {
        program: search::program(OsStr::new(&name), path).ok(),
        options: launcher::options(&launcher).unwrap_or_default(),
        first: search::first(OsStr::new(&name), path).is_some_and(|first| launcher::is_one(&first)),
        name,
        launcher,
    };
    let rows: Vec<Row> = launcher::all(&folder).into_iter().map(row).collect();
    if json {
        return print::json(&rows).map(|()| exit_code::OK);
    }
    if rows.is_empty() {
        say("no launcher is installed; `stayexec wrap install NAME` installs one");
        return Ok(exit_code::OK);
    }
    let cells = |row: &Row| {
        let program = row.program.as_ref().map_or_else(|| "not in PATH".to_owned(), |program| program.display().to_string());
        [row.name.clone(), if row.first { "yes" } else { "NO" }.into(), program, row.options.clone()]
    };
    print::table(["NAME", "FIRST IN PATH", "STARTS", "OPTIONS"], &rows.iter().map(cells).collect::<Vec<_>>())?;
    if !rows.iter().all(|row| row.first) {
        advise(&folder, around.home().as_deref(), around.variable("SHELL"))?;
    }
    Ok(exit_code::OK)
}

/// Starts the real program of a name: behind a gate, or as it is where one is around already.
pub fn run(arguments: &WrapRun) -> Result<u8, Failure> {
    if !filter::is_around() {
        return super::run::run(&arguments.options, &arguments.command);
    }
    let Some((name, words)) = arguments.command.split_first() else { return Err(Failure::Usage("wrap run needs a name".into())) };
    let program = search::program(name, std::env::var_os("PATH").as_deref())?;
    let depth = std::env::var(DEPTH).ok().and_then(|text| text.parse::<u32>().ok()).unwrap_or(0) + 1;
    if depth > DEEPEST {
        let line = format!("{} starts its own launcher again and again; have it start the real program by its path", program.display());
        return Err(Failure::Usage(line));
    }
    // The gate that is around judges it as any other start.
    let cause = Command::new(&program).arg0(name).args(words).env(DEPTH, depth.to_string()).exec();
    Err(RunError::NotExecutable(program.display().to_string(), cause).into())
}

/// The path to start stayexec by: as it stands in PATH, where an upgrade puts the next one, or else the file itself.
fn own_path(path: Option<&OsStr>) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(|cause| Failure::Step("find out which program this is", cause))?;
    let identity = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    let listed = search::first(OsStr::new("stayexec"), path).filter(|listed| listed.is_absolute() && identity(listed) == identity(&own));
    Ok(listed.unwrap_or(own))
}

/// The options of a run among the words of an installation, to be given again.
pub fn given(cli: clap::Command, words: &[OsString]) -> Vec<OsString> {
    let Ok(matches) = cli.try_get_matches_from(words) else { return Vec::new() };
    let installing = matches.subcommand_matches("wrap").and_then(|wrap| wrap.subcommand_matches("install"));
    let Some(installing) = installing else { return Vec::new() };
    let options = <RunOptions as clap::Args>::augment_args(clap::Command::new("run"));
    let said = |option: &&clap::Arg| installing.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
    let again = |option: &clap::Arg| {
        let flag = format!("--{}", option.get_long().unwrap_or_default());
        let values = installing.get_raw(option.get_id().as_str()).into_iter().flatten();
        let with = |value: &OsStr| [OsStr::new(&flag), OsStr::new("="), value].into_iter().collect();
        if option.get_action().takes_values() { values.map(with).collect() } else { vec![OsString::from(&flag)] }
    };
    options.get_arguments().filter(said).flat_map(again).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stayexec_policy::{CommandClass, SecurityPolicy};

    #[test]
    fn the_class_of_a_launchers_line_is_that_of_what_it_starts() {
        let options = <RunOptions as clap::Args>::augment_args(clap::Command::new("run"));
        for option in options.get_arguments().filter_map(|option| Some((option.get_long()?, option.get_action().takes_values()))) {
            let word = if option.1 { format!("--{}=x", option.0) } else { format!("--{}", option.0) };
            let line = |command: &str| format!("stayexec wrap run {word} -- {command}");
            let class = |command: &str| SecurityPolicy::default().classify_command(&line(command));
            assert_eq!((class("ls -l"), class("rm -r x")), (CommandClass::Read, CommandClass::Destructive), "{word}");
        }
    }
}
