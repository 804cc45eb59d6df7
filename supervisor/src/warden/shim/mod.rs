//! The shim beside the floor: what it is given, and what it tells (docs/preload.md).
//!
//! Invariant: it adds words to a start that the floor judges, and nothing else: no verdict depends on it, and of its
//! variables neither the judge nor a child of the agent sees anything. Refuses to vouch for a library that has changed:
//! its variables are then judged as any others.

mod alone;
mod asks;
mod loader;

pub use alone::{Alone, Asking, reply};
pub use loader::takes_shim;

use super::room::Room;
use crate::sys::path;
use crate::sys::procfs::Procfs;
use asks::Asks;
use stayexec_protocol::ask::{ADDRESS_VARIABLE, FORM_VARIABLE, Form, LIBRARY_NAME};
use stayexec_protocol::{Asked, Event, FileId};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

/// The variable in which the loader finds libraries to take in first.
const PRELOAD: &[u8] = b"LD_PRELOAD=";

/// The shim's library and address, in a run's own folder.
#[derive(Debug)]
pub struct Shim {
    room: Room,
    /// Path of the library.
    library: Vec<u8>,
    /// The library as it was written.
    identity: FileId,
    /// The variable with the address.
    address: Vec<u8>,
}

impl Shim {
    /// Writes the library into `room`.
    ///
    /// # Errors
    /// Whatever open(2) and write(2) say; InvalidInput where a path is longer than the shim takes.
    pub fn lay(room: Room) -> io::Result<Self> {
        let path = room.path(LIBRARY_NAME);
        if path.as_os_str().len() > 1024 || room.path(SOCKET).as_os_str().len() > 107 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o444).open(&path)?;
        io::Write::write_all(&mut file, stayexec_preload::LIBRARY)?;
        // Whatever the umask says.
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444))?;
        drop(file);
        let library = path.as_os_str().as_bytes().to_vec();
        let identity = path::status_here(&library)?.id;
        let address = [ADDRESS_VARIABLE.as_bytes(), b"=", room.path(SOCKET).as_os_str().as_bytes()].concat();
        Ok(Self { room, library, identity, address })
    }

    /// The entries that the launched program's environment gets, beside what it has: the process is not known yet, so the
    /// form is for `process` to complete.
    pub fn entries(&self, preload: Option<&[u8]>, form: Form) -> Entries {
        let others = preload.filter(|list| !list.is_empty()).map(|list| [b":", list].concat()).unwrap_or_default();
        Entries {
            preload: [PRELOAD, &self.library, &others].concat(),
            address: self.address.clone(),
            form: format!("{FORM_VARIABLE}={}", form.as_str()).into_bytes(),
            beside: form == Form::Beside,
        }
    }

    /// Listens at the address.
    ///
    /// # Errors
    /// Those of bind(2) and listen(2).
    pub fn listen(self, agent: i32) -> io::Result<Beside> {
        let asks = Asks::listen(&self.room.path(SOCKET))?;
        let form = format!("{FORM_VARIABLE}={}:{agent}", Form::Beside.as_str()).into_bytes();
        Ok(Beside { form, shim: self, asks })
    }

    /// Takes the variables, with this form, out of an environment.
    fn leave(&self, form: &[u8], environment: &mut Vec<Vec<u8>>) {
        // Beside the floor, nearly no environment has them.
        if !environment.contains(&self.address) || !environment.iter().any(|entry| entry == form) || !self.is_unchanged() {
            return;
        }
        environment.retain_mut(|entry| {
            if *entry == self.address || *entry == form {
                return false;
            }
            let behind = entry.strip_prefix(PRELOAD).and_then(|list| list.strip_prefix(&self.library[..]));
            match behind {
                Some([]) => false,
                Some([b':', others @ ..]) => {
                    *entry = [PRELOAD, others].concat();
                    true
                }
                _ => true,
            }
        });
    }

    fn is_unchanged(&self) -> bool {
        path::status_here(&self.library).is_ok_and(|now| now.id == self.identity)
    }
}

/// Name of the socket in the run's folder.
const SOCKET: &str = "ask";

/// The variables of one program.
#[derive(Debug, Clone)]
pub struct Entries {
    preload: Vec<u8>,
    address: Vec<u8>,
    form: Vec<u8>,
    beside: bool,
}

impl Entries {
    /// Puts them into the environment of process `pid`.
    pub fn put(&self, environment: &mut Vec<Vec<u8>>, pid: u32) {
        let own = [ADDRESS_VARIABLE, FORM_VARIABLE].map(|name| [name.as_bytes(), b"="].concat());
        environment.retain(|entry| !own.iter().any(|name| entry.starts_with(name)));
        // In the place of what it had: programs that print their environment print it in order.
        match environment.iter_mut().find(|entry| entry.starts_with(PRELOAD)) {
            Some(entry) => *entry = self.preload.clone(),
            None => environment.push(self.preload.clone()),
        }
        let form = if self.beside { [&self.form[..], format!(":{pid}").as_bytes()].concat() } else { self.form.clone() };
        environment.extend([self.address.clone(), form.clone()]);
        if self.beside && !self.preload.contains(&b':') {
            // So that an even number of entries goes again, and no trace is left: see the shim's `environment::leave`.
            environment.push(form);
        }
    }
}

/// The shim of a run whose floor judges.
#[derive(Debug)]
pub struct Beside {
    shim: Shim,
    form: Vec<u8>,
    asks: Asks,
}

impl Beside {
    /// Takes in what the shim has told: before a call is looked at, for what was told of it is there by then.
    pub fn listen(&mut self, procfs: &Procfs) {
        self.asks.drain(procfs);
    }

    /// What was told of the call behind `event`, whose parent is `parent`.
    pub fn told(&mut self, event: &Event, parent: i32) -> Option<Asked> {
        self.asks.claim(event.process.pid as i32, parent, &event.argv)
    }

    /// Takes the shim's variables out of an environment, as the shim itself does before the program's first instruction.
    pub fn leave(&self, environment: &mut Vec<Vec<u8>>) {
        self.shim.leave(&self.form, environment);
    }
}

/// The environment as the judge is told it.
pub fn leave(beside: Option<&Beside>, environment: &mut Vec<Vec<u8>>) {
    if let Some(beside) = beside {
        beside.leave(environment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> Vec<Vec<u8>> {
        entries.iter().map(|entry| entry.as_bytes().to_vec()).collect()
    }

    #[test]
    fn what_is_put_in_is_taken_out_again_and_only_while_the_library_is_the_one() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let shim = Shim::lay(Room::make(dir.path(), [7; 16], false)?)?;
        let library = shim.room.path(LIBRARY_NAME);
        for others in [None, Some("/a.so:/b.so")] {
            let mut before = list(&["A=1", "PATH=/bin"]);
            before.extend(others.map(|others| [PRELOAD, others.as_bytes()].concat()));
            let mut with = before.clone();
            shim.entries(others.map(str::as_bytes), Form::Beside).put(&mut with, 42);
            assert_eq!(with.len() - before.len(), if others.is_some() { 2 } else { 4 }, "an even number goes again: {with:?}");
            shim.leave(b"STAYEXEC_SHIM=beside:42", &mut with);
            assert_eq!(with, before);
        }
        let mut with = list(&["A=1"]);
        shim.entries(None, Form::Beside).put(&mut with, 42);
        let beside = shim.listen(42)?;
        std::fs::remove_file(&library)?;
        std::fs::write(&library, "other")?;
        let mut judged = with.clone();
        beside.leave(&mut judged);
        assert_eq!(judged, with);
        Ok(())
    }

    #[test]
    fn alone_names_no_process() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let shim = Shim::lay(Room::make(dir.path(), [7; 16], false)?)?;
        let mut with = list(&["STAYEXEC_SHIM=beside"]);
        shim.entries(None, Form::Alone).put(&mut with, 42);
        assert!(with.contains(&b"STAYEXEC_SHIM=alone".to_vec()) && with.len() == 3, "{with:?}");
        Ok(())
    }
}
