//! Shells in tmux and over ssh: a gated one behaves as one without the gate.

use anyhow::{Context, Result};
use stayexec_tests::{Outcome, Scene, cannot_run, full, until, within};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

/// A tmux server of the scene's own, which ends with the test.
struct Tmux<'s>(&'s Scene);

impl Tmux<'_> {
    fn ask(&self, words: &[&str]) -> Result<Outcome> {
        let socket = self.0.path("tmp/tmux").display().to_string();
        self.0.ungated_launch(["tmux", "-f", "/dev/null", "-S", &socket]).words(words).env("TERM", "xterm").finish()
    }

    /// The screen's lines, once it shows `text`.
    fn shows(&self, text: &str) -> Result<String> {
        let screen = || self.ask(&["capture-pane", "-p"]).map(|outcome| outcome.out()).unwrap_or_default();
        let found = until(text, LIMIT, || Some(screen()).filter(|screen| screen.contains(text)));
        found.with_context(screen)
    }

    fn types(&self, keys: &[&str]) -> Result<()> {
        self.ask(&[&["send-keys"], keys].concat())?.expect_code(0);
        Ok(())
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ = self.ask(&["kill-server"]);
    }
}

/// What a session of an interactive shell shows in the end, and its status.
fn session(shell: &[&str], scene: &Scene) -> Result<(String, String)> {
    let tmux = Tmux(scene);
    let start = ["new-session", "-d", "-x", "80", "-y", "24", "-e", "PS1=ready> ", ";", "set-option", "-w", "remain-on-exit", "on", ";"];
    // tmux at times forgets the status of a pane that has ended.
    let told = ["respawn-pane", "-k", "sh", "-c", "\"$@\"; echo ended with $?.", "sh"];
    tmux.ask(&[&start[..], &told, shell].concat())?.expect_code(0);
    tmux.shows("ready>")?;
    tmux.types(&["stty size; test -t 0 && echo a terminal", "Enter"])?;
    tmux.shows("\na terminal")?;
    tmux.types(&["sleep 1001", "Enter"])?;
    within("the sleep", || scene.processes().iter().any(|process| process.line == "sleep 1001"))?;
    tmux.types(&["C-c"])?;
    tmux.types(&["echo status $?; sleep 1002 & jobs; kill %1; wait", "Enter"])?;
    tmux.shows("Terminated")?;
    tmux.types(&["clear; printf 'a%sb\\n' $((40 + 2)); trap 'echo size changed' WINCH", "Enter"])?;
    tmux.shows("a42b")?;
    tmux.ask(&["resize-window", "-x", "60", "-y", "20"])?.expect_code(0);
    tmux.types(&["stty size", "Enter"])?;
    let shown = tmux.shows("20 60\nready>")?;
    tmux.types(&["exit 5", "Enter"])?;
    let last = tmux.shows("ended with")?;
    let status = last.lines().find_map(|line| line.strip_prefix("ended with ")).unwrap_or_default().to_owned();
    Ok((shown, status))
}

#[test]
fn a_shell_in_tmux() -> Result<()> {
    let scene = Scene::new()?;
    if scene.ungated(["sh", "-c", "command -v tmux"])?.code() != 0 {
        cannot_run("tmux is not installed");
        return Ok(());
    }
    let shell = ["bash", "--norc", "-i"];
    let ungated = session(&shell, &Scene::new()?)?;
    let stayexec = scene.binary().display().to_string();
    let gated = session(&[&[stayexec.as_str(), "run", "--tier=full", "--origin=unattended", "--"][..], &shell].concat(), &scene)?;
    assert_eq!(gated, ungated);
    assert_eq!(gated.1, "5.");
    Ok(())
}

/// An ssh server on a free port of loopback, with keys of its own.
struct Ssh<'s> {
    scene: &'s Scene,
    server: Child,
    port: u16,
}

impl<'s> Ssh<'s> {
    fn start(scene: &'s Scene) -> Result<Self> {
        let folder = scene.path("tmp");
        for key in ["host", "user"] {
            let path = folder.join(key).display().to_string();
            scene.ungated(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &path])?.expect_code(0);
        }
        std::fs::create_dir_all("/run/sshd")?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let options = [
            format!("HostKey {}", folder.join("host").display()),
            format!("AuthorizedKeysFile {}", folder.join("user.pub").display()),
            format!("PidFile {}", folder.join("pid").display()),
            format!("ListenAddress 127.0.0.1:{port}"),
            "StrictModes no".into(),
            "PermitRootLogin prohibit-password".into(),
            "UsePAM no".into(),
            "PrintLastLog no".into(),
            "PrintMotd no".into(),
        ];
        let words = options.iter().flat_map(|option| ["-o", option.as_str()]);
        let server = Command::new("/usr/sbin/sshd").args(["-D", "-e", "-f", "/dev/null"]).args(words).stderr(Stdio::null()).spawn()?;
        let ssh = Self { scene, server, port };
        within("the ssh server", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok())?;
        Ok(ssh)
    }

    /// The client's words.
    fn client(&self) -> Vec<String> {
        let folder = self.scene.path("tmp");
        let options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "BatchMode=yes"];
        let mut words = vec!["ssh".to_owned(), "-F".into(), "/dev/null".into(), "-i".into(), folder.join("user").display().to_string()];
        words.extend(options.iter().flat_map(|option| ["-o".to_owned(), (*option).to_owned()]));
        words.extend(["-p".to_owned(), self.port.to_string(), "127.0.0.1".to_owned()]);
        words
    }
}

impl Drop for Ssh<'_> {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_shell_over_ssh() -> Result<()> {
    if !full() {
        return Ok(());
    }
    let scene = Scene::new()?;
    if !scene.is_root() || !std::path::Path::new("/usr/sbin/sshd").exists() {
        cannot_run("openssh-server is not installed, or the tests do not run as root");
        return Ok(());
    }
    let ssh = Ssh::start(&scene)?;
    let folders: String = scene.environment().iter().map(|(name, value)| format!("export {name}={}; ", value.display())).collect();
    let text = "cd $HOME; echo out; echo err >&2; cat; printf x%.0s $(seq 20000) | wc -c; false; echo $?; exit 9";
    let bash = format!("bash -c '{}'", text.replace('\'', r"'\''"));
    let stayexec = format!("{} run --tier=full --origin=unattended -- ", scene.binary().display());
    let remote = |prefix: &str, terminal: &[&str]| {
        let launch = scene.ungated_launch(ssh.client().iter().map(String::as_str).chain(terminal.iter().copied()));
        launch.words([format!("{folders}{prefix}{bash}")]).input(stayexec_tests::Input::Text(b"typed\n\x04".to_vec())).finish()
    };
    for terminal in [&["-T"][..], &["-tt"]] {
        let (gated, ungated) = (remote(&stayexec, terminal)?, remote("", terminal)?);
        gated.expect_code(9);
        assert_eq!((gated.out(), gated.err(), gated.code()), (ungated.out(), ungated.err(), ungated.code()), "{terminal:?}");
    }
    // And from inside a gate to the other side, which is no part of the tree.
    scene.configure("[matrix.full]\nnetwork = \"allow\"\n")?;
    let words: Vec<String> = ssh.client().into_iter().chain(["echo there; exit 3".to_owned()]).collect();
    let script = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let outcome = scene.run().tier("full").origin("unattended").command(["bash", "-c", &format!("{script}; echo status $?")]).finish()?;
    outcome.expect_code(0).expect_line("status 3").expect_line("there");
    Ok(())
}
