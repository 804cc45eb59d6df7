//! A supervisor in folders of its own, and wardens and commands that talk to it.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use serde_json::{Value, json};
use stayexec::config::{Frozen, Overrides, Surroundings, load};
use stayexec::control::{Address, Connection, ControlError, connect};
use stayexec_protocol::{Enlist, Event, Executable, FileId, Message, Process, Stage, Stdin, Verdict};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use uuid::Uuid;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A supervisor in folders of its own, ended with the test.
pub struct Supervisor {
    pub dir: tempfile::TempDir,
    pub address: Address,
    pub child: Child,
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Supervisor {
    pub fn start() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let make = |name: &str| -> Result<std::path::PathBuf> {
            use std::os::unix::fs::DirBuilderExt;
            let path = dir.path().join(name).join("stayexec");
            std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&path)?;
            Ok(path)
        };
        let address = Address { runtime_dir: make("runtime")?, state_dir: make("state")?, config: None };
        let child = Self::serve(&address).stderr(Stdio::null()).spawn()?;
        let supervisor = Self { dir, address, child };
        supervisor.await_socket()?;
        Ok(supervisor)
    }

    pub fn serve(address: &Address) -> Command {
        // As users get it, where that was built: its size counts.
        let built = std::env::var_os("STAYEXEC_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_stayexec").into());
        let mut command = Command::new(built);
        command.arg("serve").arg("--runtime-dir").arg(&address.runtime_dir).arg("--state-dir").arg(&address.state_dir);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Tries until it answers: the kernel's scheduler is what is waited for.
    pub fn await_socket(&self) -> Result<()> {
        for _ in 0..5_000 {
            match connect(&self.address) {
                Err(ControlError::Absent) => std::thread::yield_now(),
                Err(e) => return Err(e.into()),
                Ok(_) => return Ok(()),
            }
            let _ = crossbeam_channel::never::<()>().recv_timeout(std::time::Duration::from_millis(2));
        }
        Err("the supervisor does not answer".into())
    }

    /// The command, as a person in these folders would call it.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stayexec"));
        command.args(words).env_clear().stdin(Stdio::null()).current_dir(self.dir.path()).env("PATH", "/usr/bin:/bin");
        for (name, folder) in [("HOME", "home"), ("XDG_RUNTIME_DIR", "runtime"), ("XDG_STATE_HOME", "state")] {
            command.env(name, self.dir.path().join(folder));
        }
        command
    }

    /// Status, standard output and standard error of the command.
    pub fn run(&self, words: &[&str]) -> Result<(Option<i32>, String, String)> {
        let output = self.command(words).output()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((output.status.code(), text(output.stdout), text(output.stderr)))
    }

    pub fn raw(&self) -> Result<Connection> {
        Ok(Connection::new(UnixStream::connect_addr(&self.address.socket()?)?))
    }

    pub fn warden(&self) -> Result<Connection> {
        self.warden_with(&Overrides::default(), Uuid::now_v7())
    }

    /// A warden of a run with these options.
    pub fn warden_with(&self, options: &Overrides, run: Uuid) -> Result<Connection> {
        let around = Surroundings::with(Path::new("/"), Path::new("/nowhere"), &[("HOME", "/home/dev")]);
        let config = Frozen::of(&load(options, &around)?, false, false).to_json()?;
        let mut warden = connect(&self.address)?;
        let enlist = Enlist {
            run: run.into_bytes(),
            config,
            warden: 1,
            started: 0,
            argv: vec![b"agent".to_vec()],
            cwd: b"/".to_vec(),
            environment: vec![b"PATH=/usr/bin".to_vec()],
            secret: [9; 32],
            kept: Vec::new(),
        };
        assert!(matches!(warden.ask(&Message::Enlist(enlist))?, Message::Enlisted(..)));
        Ok(warden)
    }

    pub fn call(&self, method: &str, params: &Value) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        match connect(&self.address)?.ask(&Message::Request(request.to_string().into_bytes()))? {
            Message::Reply(reply) => Ok(serde_json::from_slice(&reply)?),
            other => Err(format!("{other:?}").into()),
        }
    }
}

pub fn event(call: u64) -> Event {
    Event {
        call,
        stage: Stage::Loaded,
        launch: false,
        process: Process { pid: 10, start: 20 + call, name: b"x".to_vec() },
        ancestry: vec![],
        elders: Some(vec![]),
        agent: None,
        uid: 0,
        euid: 0,
        executable: Executable {
            path: b"/usr/bin/frobnicate".to_vec(),
            id: FileId { dev: 1, ino: 2, size: 3, ctime: 4 },
            root_owned: true,
            chain_root_owned: true,
            unchanged: true,
            same_view: true,
            linker_trusted: true,
            dated: true,
        },
        argv: vec![b"frobnicate".to_vec(), call.to_string().into_bytes()],
        environment: vec![],
        cwd: b"/".to_vec(),
        root: b"/".to_vec(),
        script: None,
        stdin: Stdin::Null,
        asked: None,
        filters: 0,
    }
}

pub fn judged(warden: &mut Connection, call: u64) -> Result<Verdict> {
    judged_as(warden, event(call))
}

pub fn judged_as(warden: &mut Connection, event: Event) -> Result<Verdict> {
    match warden.ask(&Message::Judge(event))? {
        Message::Verdict(verdict) => Ok(verdict),
        other => Err(format!("{other:?}").into()),
    }
}

/// A start of a known program, which can be remembered.
pub fn touch(call: u64) -> Event {
    let executable = Executable { path: b"/usr/bin/touch".to_vec(), ..event(call).executable };
    Event { executable, argv: vec![b"touch".to_vec(), call.to_string().into_bytes()], ..event(call) }
}

/// A shell that reads its input, of which nothing can be remembered.
pub fn shell(call: u64) -> Event {
    let executable = Executable { path: b"/usr/bin/bash".to_vec(), ..event(call).executable };
    Event { executable, argv: vec![b"bash".to_vec()], ..event(call) }
}

pub fn id_of(verdict: &Verdict) -> Result<String> {
    Ok(Uuid::from_bytes(verdict.question.ok_or("no question")?).to_string())
}
