//! A stub of whoever answers.
//!
//! Every connection carries one hello or one ask. The kernel tells who asks (SO_PEERCRED), as a real gate would have it.

use stayexec_protocol::ask::{ADDRESS_VARIABLE, Entry, FORM_VARIABLE, Form, Hello, LIBRARY_NAME, OwnedAsk, Reply, Voice, length};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What the gate heard, and from which process.
#[derive(Debug, Clone)]
pub enum Heard {
    Hello(u32, Hello),
    Ask(u32, OwnedAsk),
    Garbage,
}

type Verdict = dyn Fn(&OwnedAsk) -> Option<String> + Send + Sync;

/// A gate and its folder.
pub struct Gate {
    folder: tempfile::TempDir,
    form: Form,
    heard: Arc<Mutex<Vec<Heard>>>,
    /// The end that programs inherit, where they cannot connect.
    inherited: Option<OwnedFd>,
}

impl Gate {
    /// A gate that lets everything go on.
    #[must_use]
    pub fn open(form: Form) -> Self {
        Self::judging(form, |_| None)
    }

    /// A gate that refuses what `verdict` has a line for.
    #[must_use]
    pub fn judging(form: Form, verdict: impl Fn(&OwnedAsk) -> Option<String> + Send + Sync + 'static) -> Self {
        let gate = Self::absent(form);
        let listener = UnixListener::bind(gate.socket()).expect("bind");
        let (heard, verdict): (_, Arc<Verdict>) = (gate.heard.clone(), Arc::new(verdict));
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                serve(connection, heard.clone(), verdict.clone());
            }
        });
        gate
    }

    /// The same over a descriptor that programs inherit.
    #[must_use]
    pub fn inherited(form: Form, verdict: impl Fn(&OwnedAsk) -> Option<String> + Send + Sync + 'static) -> Self {
        let mut gate = Self::absent(form);
        let (ours, theirs) = seqpacket();
        gate.inherited = Some(theirs);
        let (heard, verdict): (_, Arc<Verdict>) = (gate.heard.clone(), Arc::new(verdict));
        std::thread::spawn(move || {
            while let Some(connection) = passed(&ours) {
                serve(connection, heard.clone(), verdict.clone());
            }
        });
        gate
    }

    /// Nobody listens.
    #[must_use]
    pub fn absent(form: Form) -> Self {
        let folder = tempfile::tempdir().expect("make a folder");
        std::fs::write(folder.path().join(LIBRARY_NAME), stayexec_preload::LIBRARY).expect("write the library");
        Self { folder, form, heard: Arc::default(), inherited: None }
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder().join("ask")
    }

    #[must_use]
    pub fn library(&self) -> PathBuf {
        self.folder().join(LIBRARY_NAME)
    }

    /// A command of which the shim is part.
    #[must_use]
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", self.library()).env(FORM_VARIABLE, self.form.as_str()).env(ADDRESS_VARIABLE, self.socket());
        if let Some(fd) = &self.inherited {
            let fd = fd.as_raw_fd();
            command.env(ADDRESS_VARIABLE, "fd:77");
            // SAFETY: dup2 only, between fork and exec.
            unsafe { command.pre_exec(move || if libc::dup2(fd, 77) == 77 { Ok(()) } else { Err(std::io::Error::last_os_error()) }) };
        }
        command
    }

    /// Everything heard so far.
    #[must_use]
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("no panic while locked").clone()
    }

    /// The asks heard so far.
    #[must_use]
    pub fn asks(&self) -> Vec<OwnedAsk> {
        self.heard().into_iter().filter_map(|h| if let Heard::Ask(_, ask) = h { Some(ask) } else { None }).collect()
    }

    /// The hellos heard so far.
    #[must_use]
    pub fn hellos(&self) -> Vec<Hello> {
        self.heard().into_iter().filter_map(|h| if let Heard::Hello(_, hello) = h { Some(hello) } else { None }).collect()
    }

    /// Asserts that so many hellos and asks come, and no more have. Beside the floor nobody waits until they are heard.
    #[track_caller]
    pub fn expect(&self, hellos: usize, asks: usize) {
        let end = Instant::now() + Duration::from_secs(10);
        while (self.hellos().len() < hellos || self.asks().len() < asks) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(2));
        }
        let garbage = self.heard().iter().filter(|h| matches!(h, Heard::Garbage)).count();
        let counts = (self.hellos().len(), self.asks().len(), garbage);
        assert_eq!(counts, (hellos, asks, 0), "hellos, asks, garbage; {:?}", self.targets());
    }

    /// The first ask at `entry`; waits for it, since beside the floor nobody waits for the gate.
    #[track_caller]
    #[must_use]
    pub fn ask_at(&self, entry: Entry) -> OwnedAsk {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(ask) = self.asks().into_iter().find(|ask| ask.head.entry == entry) {
                return ask;
            }
            assert!(Instant::now() < end, "no ask at {}: {:?}", entry.as_str(), self.targets());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The targets of all asks.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        self.asks().iter().map(|ask| String::from_utf8_lossy(&ask.target).into_owned()).collect()
    }
}

fn serve(mut connection: UnixStream, heard: Arc<Mutex<Vec<Heard>>>, verdict: Arc<Verdict>) {
    std::thread::spawn(move || {
        let pid = peer(&connection);
        let mut prefix = [0; 4];
        let mut body = Vec::new();
        let whole = connection.read_exact(&mut prefix).ok().and_then(|()| length(prefix).ok()).is_some_and(|n| {
            body.resize(n, 0);
            connection.read_exact(&mut body).is_ok()
        });
        let voice = if whole { Voice::read(&body).ok() } else { None };
        let (told, reply) = match voice {
            Some(Voice::Hello(hello)) => (Heard::Hello(pid, hello), None),
            Some(Voice::Ask(ask)) => {
                let ask = OwnedAsk::from(ask);
                let line = verdict(&ask);
                let reply = line.as_ref().map_or(Reply::GoOn, |line| Reply::Refused(line.as_bytes())).to_frame();
                (Heard::Ask(pid, ask), Some(reply))
            }
            None => (Heard::Garbage, None),
        };
        heard.lock().expect("no panic while locked").push(told);
        if let Some(reply) = reply {
            let _ = connection.write_all(&reply);
        }
    });
}

fn peer(connection: &UnixStream) -> u32 {
    // SAFETY: plain old data, filled by the kernel.
    let mut credentials: libc::ucred = unsafe { std::mem::zeroed() };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    let to = (&raw mut credentials).cast();
    // SAFETY: the buffer is a ucred of this size.
    unsafe { libc::getsockopt(connection.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, to, &raw mut size) };
    credentials.pid as u32
}

fn seqpacket() -> (OwnedFd, OwnedFd) {
    let mut pair: [RawFd; 2] = [0; 2];
    // SAFETY: two descriptors for the kernel to fill in.
    let made = unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr()) };
    assert_eq!(made, 0);
    // SAFETY: fresh descriptors.
    unsafe { (OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1])) }
}

/// The next connection that came over the inherited descriptor.
fn passed(channel: &OwnedFd) -> Option<UnixStream> {
    let mut word = [0_u8; 1];
    let mut piece = libc::iovec { iov_base: word.as_mut_ptr().cast(), iov_len: 1 };
    let mut control = [0_u64; 8];
    // SAFETY: plain old data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    // SAFETY: the message names buffers that live here.
    let n = unsafe { libc::recvmsg(channel.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    if n != 1 {
        return None;
    }
    // SAFETY: the kernel filled the control buffer.
    let fd = unsafe {
        let first = libc::CMSG_FIRSTHDR(&raw const message);
        (!first.is_null()).then(|| std::ptr::read_unaligned(libc::CMSG_DATA(first).cast::<RawFd>()))
    }?;
    // SAFETY: a fresh descriptor.
    Some(unsafe { UnixStream::from_raw_fd(fd) })
}
