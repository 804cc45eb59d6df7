//! Whole runs on a real gate, as far as the supervisor is concerned.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Makes itself the reaper of orphans, as the first process of a container is, and becomes the command.
const REAPER: &str = "import ctypes,os,sys; ctypes.CDLL(None).prctl(36,1,0,0,0); os.execv(sys.argv[1], sys.argv[1:])";

fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    for (name, folder) in [("HOME", "home"), ("XDG_RUNTIME_DIR", "runtime"), ("XDG_STATE_HOME", "state")] {
        command.env(name, dir.join(folder));
    }
    command
}

fn folders() -> Result<tempfile::TempDir> {
    let dir = tempfile::tempdir()?;
    for name in ["home", "runtime", "state"] {
        std::fs::create_dir(dir.path().join(name))?;
    }
    Ok(dir)
}

/// State, parent and command line of every process.
fn processes() -> Vec<(i32, char, i32, String)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries
        .filter_map(|path| {
            let stat = std::fs::read_to_string(path.join("stat")).ok()?;
            let mut rest = stat.rsplit_once(") ")?.1.split(' ');
            let (state, parent) = (rest.next()?.chars().next()?, rest.next()?.parse().ok()?);
            let line = std::fs::read(path.join("cmdline")).ok()?;
            Some((path.file_name()?.to_str()?.parse().ok()?, state, parent, String::from_utf8_lossy(&line).into_owned()))
        })
        .collect()
}

#[test]
fn a_supervisor_that_died_leaves_no_zombie_to_a_warden_that_is_init() -> Result<()> {
    let dir = folders()?;
    let text = "while read line; do /bin/ls / >/dev/null; echo ran $line $?; done";
    let words = ["run", "--tier", "readonly", "--origin", "unattended", "--", "bash", "-c", text];
    let mut child = command("python3", dir.path()).args(["-c", REAPER, env!("CARGO_BIN_EXE_stayexec")]).args(words).spawn()?;
    let (mut to, from) = (child.stdin.take().ok_or("no input")?, child.stdout.take().ok_or("no output")?);
    let mut from = BufReader::new(from);
    let folder = dir.path().join("runtime/stayexec").display().to_string();
    let mut seen = Vec::new();
    for round in 0..4 {
        writeln!(to, "{round}")?;
        let mut line = String::new();
        from.read_line(&mut line)?;
        assert_eq!(line, format!("ran {round} 0\n"));
        let supervisor = processes().into_iter().find(|(.., line)| line.contains("--started") && line.contains(&folder));
        let (pid, _, parent, _) = supervisor.ok_or("no supervisor")?;
        assert_eq!(parent, child.id().cast_signed(), "it was not reparented to the warden");
        assert!(!seen.contains(&pid), "the same supervisor");
        seen.push(pid);
        if round < 3 {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL)?;
        }
    }
    let zombies: Vec<_> =
        processes().into_iter().filter(|(_, state, parent, _)| *state == 'Z' && *parent == child.id().cast_signed()).collect();
    assert!(zombies.is_empty(), "{zombies:?}");
    drop(to);
    assert_eq!(child.wait()?.code(), Some(0));
    end(seen.last().copied());
    Ok(())
}

/// Ends the supervisor that would stay for a minute.
fn end(pid: Option<i32>) {
    if let Some(pid) = pid {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
    }
}

#[test]
fn a_run_that_fails_for_denials_says_so_and_keeps_other_statuses() -> Result<()> {
    let dir = folders()?;
    for (text, options, code, said) in [
        ("mkdir a; true", &["--fail-on-denied"][..], 1, "1 command was denied"),
        ("mkdir a; mkdir b; true", &["--fail-on-denied"], 1, "2 commands were denied"),
        ("mkdir a; exit 7", &["--fail-on-denied"], 7, ""),
        ("ls / >/dev/null", &["--fail-on-denied"], 0, ""),
        ("mkdir a; true", &[], 0, ""),
    ] {
        let mut run = command(env!("CARGO_BIN_EXE_stayexec"), dir.path());
        run.args(["run", "--tier", "readonly", "--origin", "unattended"]).args(options).args(["--", "bash", "-c", text]);
        let output = run.stderr(Stdio::piped()).output()?;
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}: {err}");
        assert!(err.contains(said) && (said.is_empty() != err.contains("history")), "{text}: {err}");
    }
    let folder = dir.path().join("runtime/stayexec").display().to_string();
    end(processes().into_iter().find(|(.., line)| line.contains("--started") && line.contains(&folder)).map(|(pid, ..)| pid));
    Ok(())
}
