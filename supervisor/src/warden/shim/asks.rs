//! What the shim tells beside the floor, until the start that it belongs to is there.
//!
//! A shim that tells does not wait, so all that it had to say is in its socket before its call reaches the kernel. Hence
//! the socket is read when the floor reports a call, and at no other time: however much is told, it wakes nobody.
//! Invariant: bounded in connections, bytes and asks; what is beyond is dropped, the oldest first. Refuses whatever is no
//! hello and no ask of this version.

use crate::sys::procfs::Procfs;
use crate::sys::socket;
use stayexec_protocol::Asked;
use stayexec_protocol::ask::{OwnedAsk, Voice, flag, length};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Connections that the kernel keeps until they are taken; of one more, the shim drops what it had to say.
const BACKLOG: i32 = 64;
/// Most connections that have not said all yet.
const OPEN: usize = 64;
/// Most asks whose start has not come yet.
const WAITING: usize = 64;
/// Longest frame, in bytes. The shim tells no more than 64 KiB beside the floor.
const LONGEST: usize = 80 << 10;

/// The socket, and what came over it.
#[derive(Debug)]
pub struct Asks {
    listener: OwnedFd,
    open: VecDeque<Conversation>,
    waiting: VecDeque<Waiting>,
}

/// A connection that has not said all yet.
#[derive(Debug)]
pub struct Conversation {
    stream: UnixStream,
    /// The process that speaks.
    pub pid: i32,
    said: Vec<u8>,
}

/// An ask without its start.
#[derive(Debug)]
struct Waiting {
    pid: i32,
    ask: OwnedAsk,
    site: Vec<u8>,
}

/// What was heard so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// A whole frame, of so many bytes.
    Whole(usize),
    /// More may come.
    NotAll,
    /// Nothing that is understood.
    Nonsense,
}

impl Asks {
    /// Listens at `path`.
    ///
    /// # Errors
    /// As [`socket::listen_at`].
    pub fn listen(path: &Path) -> io::Result<Self> {
        Ok(Self { listener: socket::listen_at(path, BACKLOG)?, open: VecDeque::new(), waiting: VecDeque::new() })
    }

    /// Reads everything that is there.
    pub fn drain(&mut self, procfs: &Procfs) {
        for _ in 0..BACKLOG {
            let Ok((stream, pid)) = socket::accept(&self.listener) else { break };
            push(&mut self.open, OPEN, Conversation::new(stream, pid));
        }
        for _ in 0..self.open.len() {
            let Some(mut conversation) = self.open.pop_front() else { break };
            let heard = conversation.hear(LONGEST);
            if heard == Heard::NotAll {
                self.open.push_back(conversation);
                continue;
            }
            let Some(ask) = conversation.told(heard) else { continue };
            let site = site(procfs, conversation.pid, ask.head.site);
            // A call that did not become a start is over when its process makes the next.
            let replaces = ask.head.entry.replaces();
            self.waiting.retain(|other| other.pid != conversation.pid || !(replaces && other.ask.head.entry.replaces()));
            push(&mut self.waiting, WAITING, Waiting { pid: conversation.pid, ask, site });
        }
    }

    /// What was told of the start of `argv` in process `pid`, a child of `parent`.
    pub fn claim(&mut self, pid: i32, parent: i32, argv: &[Vec<u8>]) -> Option<Asked> {
        let fits = |waiting: &Waiting| {
            let caller = if waiting.ask.head.entry.replaces() { pid } else { parent };
            waiting.pid == caller && fits(&waiting.ask, argv)
        };
        let at = self.waiting.iter().position(fits)?;
        let Waiting { ask, site, .. } = self.waiting.remove(at)?;
        Some(Asked { function: ask.head.entry.as_str().into(), target: ask.target, site })
    }
}

impl Conversation {
    /// One that has just begun.
    pub fn new(stream: UnixStream, pid: i32) -> Self {
        Self { stream, pid, said: Vec::new() }
    }

    /// Bytes that were heard.
    pub fn length(&self) -> usize {
        self.said.len()
    }

    /// What to wait on.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// The connection.
    pub fn into_stream(self) -> UnixStream {
        self.stream
    }

    /// The body of a whole frame.
    pub fn body(&self, frame: usize) -> Option<&[u8]> {
        self.said.get(4..frame)
    }

    /// Reads what is there, of a frame of no more than `longest` bytes.
    pub fn hear(&mut self, longest: usize) -> Heard {
        let mut piece = [0; 16 << 10];
        loop {
            let stated = self.said.first_chunk().map(|prefix| length(*prefix).map_or(usize::MAX, |n| n.saturating_add(4)));
            match stated {
                Some(whole) if whole > longest => return Heard::Nonsense,
                Some(whole) if self.said.len() >= whole => return Heard::Whole(whole),
                _ => {}
            }
            match self.stream.read(&mut piece) {
                Ok(0) => return Heard::Nonsense,
                Ok(n) => self.said.extend_from_slice(&piece[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Heard::NotAll,
                Err(_) => return Heard::Nonsense,
            }
        }
    }

    /// The ask, where it is one that nobody waits for.
    fn told(&self, heard: Heard) -> Option<OwnedAsk> {
        let Heard::Whole(frame) = heard else { return None };
        match Voice::read(self.body(frame)?) {
            Ok(Voice::Ask(ask)) if ask.head.flags & flag::WAITS == 0 => Some(OwnedAsk { environment: Vec::new(), ..ask.into() }),
            _ => None,
        }
    }
}

fn push<T>(queue: &mut VecDeque<T>, most: usize, item: T) {
    if queue.len() >= most {
        queue.pop_front();
    }
    queue.push_back(item);
}

/// Whether a start with this vector can come from this call. A script's interpreter stands before the caller's words.
fn fits(ask: &OwnedAsk, argv: &[Vec<u8>]) -> bool {
    if ask.head.entry.takes_line() {
        return argv.len() >= 3 && (ask.head.flags & flag::CUT != 0 || argv.last() == Some(&ask.target));
    }
    let told = ask.argv.get(1..).unwrap_or_default();
    if ask.head.flags & flag::CUT != 0 { argv.len() > told.len() } else { argv.ends_with(told) }
}

/// The place of an address: the mapped file and the offset in it, for whoever knows where that is in the source.
fn site(procfs: &Procfs, pid: i32, address: u64) -> Vec<u8> {
    let region = procfs.process(pid).and_then(|process| process.region(address)).ok().flatten();
    match region {
        Some(region) if !region.path.is_empty() => {
            [&region.path[..], format!("+{:#x}", address - region.start + region.offset).as_bytes()].concat()
        }
        _ => format!("{address:#x}").into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stayexec_protocol::ask::{Entry, Form, Head, Hello};
    use std::io::Write;

    fn frame(entry: Entry, target: &str, argv: &[&str]) -> Vec<u8> {
        let mut pieces = Vec::new();
        for word in [target, ""].into_iter().chain(argv.iter().copied()) {
            pieces.extend_from_slice(&(word.len() as u32).to_le_bytes());
            pieces.extend_from_slice(word.as_bytes());
        }
        let head = Head { entry, flags: 0, descriptor: -1, site: 1, arguments: argv.len() as u32, variables: 0 };
        [&head.to_bytes(pieces.len()).unwrap_or([0; 32])[..], &pieces].concat()
    }

    fn words(words: &[&str]) -> Vec<Vec<u8>> {
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    struct Bench {
        dir: tempfile::TempDir,
        asks: Asks,
        procfs: Procfs,
    }

    impl Bench {
        fn new() -> io::Result<Self> {
            let dir = tempfile::tempdir()?;
            Ok(Self { asks: Asks::listen(&dir.path().join("ask"))?, procfs: Procfs::open()?, dir })
        }

        fn tell(&self, bytes: &[u8]) -> io::Result<UnixStream> {
            let mut stream = UnixStream::connect(self.dir.path().join("ask"))?;
            stream.write_all(bytes)?;
            Ok(stream)
        }
    }

    #[test]
    fn an_ask_goes_to_the_start_of_its_own_process_or_of_its_child() -> io::Result<()> {
        let own = std::process::id() as i32;
        let mut bench = Bench::new()?;
        drop(bench.tell(&Hello { form: Form::Beside, hooks: 1 }.to_frame())?);
        drop(bench.tell(&frame(Entry::System, "rm -r build; make", &[]))?);
        drop(bench.tell(&frame(Entry::Execvp, "ls", &["ls", "-l"]))?);
        bench.asks.drain(&bench.procfs);
        let line = words(&["sh", "-c", "rm -r build; make"]);
        assert_eq!(bench.asks.claim(own + 1, own + 1, &line), None, "of another process");
        let asked = bench.asks.claim(own + 1, own, &line);
        assert_eq!(asked.map(|a| (a.function, a.target)), Some((b"system".to_vec(), b"rm -r build; make".to_vec())));
        assert_eq!(bench.asks.claim(own + 1, own, &line), None, "told once, said once");
        assert_eq!(bench.asks.claim(own, 1, &words(&["ls", "-a"])), None);
        let script = words(&["/bin/sh", "/usr/bin/ls", "-l"]);
        assert_eq!(bench.asks.claim(own, 1, &script).map(|a| a.function), Some(b"execvp".to_vec()));
        Ok(())
    }

    #[test]
    fn what_comes_in_pieces_is_waited_for_and_what_is_no_ask_is_dropped() -> io::Result<()> {
        let own = std::process::id() as i32;
        let mut bench = Bench::new()?;
        let whole = frame(Entry::PosixSpawn, "/bin/ls", &["ls"]);
        let (head, tail) = whole.split_at(20);
        let mut slow = bench.tell(head)?;
        drop(bench.tell(b"\xff\xff\xff\xff")?);
        drop(bench.tell(b"GET / HTTP/1.1\r\n\r\n")?);
        bench.asks.drain(&bench.procfs);
        assert_eq!((bench.asks.open.len(), bench.asks.waiting.len()), (1, 0));
        slow.write_all(tail)?;
        bench.asks.drain(&bench.procfs);
        assert!(bench.asks.open.is_empty());
        assert!(bench.asks.claim(0, own, &words(&["ls"])).is_some());
        Ok(())
    }

    #[test]
    fn a_flood_is_bounded() -> io::Result<()> {
        let mut bench = Bench::new()?;
        let mut kept = Vec::new();
        for _ in 0..4 {
            for n in 0..BACKLOG {
                let bytes = if n % 2 == 0 { frame(Entry::System, "x", &[]) } else { vec![9, 0] };
                kept.push(bench.tell(&bytes)?);
            }
            bench.asks.drain(&bench.procfs);
        }
        assert!(bench.asks.open.len() <= OPEN && bench.asks.waiting.len() <= WAITING);
        Ok(())
    }
}
