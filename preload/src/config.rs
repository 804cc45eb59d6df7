//! What the shim was told when it was loaded.
//!
//! Invariant: written once, by [`crate::start`], before the program's first instruction; hooks only read it. It is a copy: a
//! program that changes its environment later, or paints its name over it, changes nothing here. Refuses what does not fit
//! (a cut address would lead elsewhere): the form then is alone, and nobody can be asked.

use crate::sys;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use stayexec_protocol::ask::{ADDRESS_VARIABLE, FORM_VARIABLE, Form, LIBRARY_NAME};

/// Longest path of the library that can be put back into an environment.
pub const LIBRARY_MAX: usize = 1024;
/// Longest address: `sun_path` of a `struct sockaddr_un`.
const ADDRESS_MAX: usize = 108;

/// Where to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// Nobody can be asked.
    Nowhere,
    /// A `struct sockaddr_un` of so many bytes.
    Path([u8; 2 + ADDRESS_MAX], usize),
    /// A descriptor that was inherited.
    Inherited(i32),
}

/// A `NAME=value` with its terminating null, to be put into an environment.
#[derive(Debug)]
pub struct Variable<const N: usize> {
    text: [u8; N],
    length: usize,
}

impl<const N: usize> Variable<N> {
    const fn empty() -> Self {
        Self { text: [0; N], length: 0 }
    }

    fn of(name: &str, value: &[u8]) -> Option<Self> {
        let mut variable = Self::empty();
        let parts = [name.as_bytes(), b"=", value];
        let mut places = variable.text.iter_mut();
        for byte in parts.into_iter().flatten() {
            *places.next()? = *byte;
        }
        // The terminating null has to fit too.
        places.next()?;
        variable.length = parts.iter().fold(0, |n, part| part.len().saturating_add(n));
        Some(variable)
    }

    /// The entry without its null; nothing where there is none to put in.
    pub fn bytes(&self) -> &[u8] {
        self.text.get(..self.length).unwrap_or(&[])
    }
}

/// All of it.
#[derive(Debug)]
pub struct Config {
    /// What the shim is to this process; nothing where it was loaded without an address, or is meant for another process.
    pub form: Option<Form>,
    /// The process that it was loaded into.
    pub process: u32,
    /// Where to ask.
    pub address: Address,
    /// `STAYEXEC_ASK=…`.
    pub ask: Variable<{ 16 + ADDRESS_MAX }>,
    /// `STAYEXEC_SHIM=alone`, or `beside:` and the process.
    pub shim: Variable<32>,
    /// `LD_PRELOAD=` and the library's path; nothing where LD_PRELOAD did not load it.
    pub library: Variable<{ 12 + LIBRARY_MAX }>,
}

impl Config {
    const fn inert() -> Self {
        Self {
            form: None,
            process: 0,
            address: Address::Nowhere,
            ask: Variable::empty(),
            shim: Variable::empty(),
            library: Variable::empty(),
        }
    }

    /// From the values of the three variables. A form that is not exactly `beside`, or `beside:` and a process, is alone, the
    /// stricter.
    pub fn of(address: Option<&[u8]>, form: Option<&[u8]>, preload: Option<&[u8]>, process: u32) -> Self {
        if address.is_none() && form.is_none() {
            return Self::inert();
        }
        let told = address.unwrap_or(&[]);
        let beside = form.and_then(|word| word.strip_prefix(Form::Beside.as_str().as_bytes())).and_then(meant_for);
        let mut word = [0; 20];
        let word = if beside.is_some() { own_word(process, &mut word) } else { Form::Alone.as_str().as_bytes() };
        let library = preload.and_then(|list| entries(list).find(|entry| is_library(entry)));
        Self {
            form: match beside {
                None => Some(Form::Alone),
                Some(meant) if meant == 0 || meant == process => Some(Form::Beside),
                Some(_) => None,
            },
            process,
            address: parse(told),
            ask: Variable::of(ADDRESS_VARIABLE, told).unwrap_or(Variable::empty()),
            shim: Variable::of(FORM_VARIABLE, word).unwrap_or(Variable::empty()),
            library: library.and_then(|path| Variable::of("LD_PRELOAD", path)).unwrap_or(Variable::empty()),
        }
    }

    /// Whether the shim's variables leave the environment of this process: everywhere but alone.
    pub fn leaves(&self) -> bool {
        self.form != Some(Form::Alone)
    }

    /// Whether a call that replaces the calling process takes the shim along: the agent may be started by a chain of programs
    /// that each become the next (`#!/usr/bin/env node`), and a child is another process.
    pub fn stays(&self) -> bool {
        self.form == Some(Form::Beside) && sys::process() == self.process
    }
}

/// The process that `beside` is meant for, from what follows the word; 0 is any.
fn meant_for(rest: &[u8]) -> Option<u32> {
    match rest.split_first() {
        None => Some(0),
        Some((b':', digits)) => core::str::from_utf8(digits).ok()?.parse().ok().filter(|process| *process > 0),
        Some(_) => None,
    }
}

/// `beside:` and the process.
fn own_word(process: u32, to: &mut [u8; 20]) -> &[u8] {
    let mut digits = [0_u8; 10];
    let mut rest = process;
    let mut count = 0_usize;
    for place in digits.iter_mut().rev() {
        *place = b'0'.saturating_add(u8::try_from(rest.rem_euclid(10)).unwrap_or(0));
        rest = rest.div_euclid(10);
        count = count.saturating_add(1);
        if rest == 0 {
            break;
        }
    }
    let used = digits.get(digits.len().saturating_sub(count)..).unwrap_or_default();
    let mut length = 0_usize;
    for (place, byte) in to.iter_mut().zip(Form::Beside.as_str().as_bytes().iter().chain(b":").chain(used)) {
        *place = *byte;
        length = length.saturating_add(1);
    }
    to.get(..length).unwrap_or_default()
}

/// The entries of a value of LD_PRELOAD.
pub fn entries(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|b| *b == b':' || *b == b' ').filter(|entry| !entry.is_empty())
}

/// Whether an entry of LD_PRELOAD is this library.
pub fn is_library(entry: &[u8]) -> bool {
    entry.strip_suffix(LIBRARY_NAME.as_bytes()).is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
}

fn parse(told: &[u8]) -> Address {
    if let Some(digits) = told.strip_prefix(b"fd:") {
        let number = core::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).filter(|n| *n >= 0);
        return number.map_or(Address::Nowhere, Address::Inherited);
    }
    let mut address = [0; 2 + ADDRESS_MAX];
    let mut places = address.iter_mut();
    for byte in 1_u16.to_ne_bytes().iter().chain(told) {
        match places.next() {
            Some(place) => *place = *byte,
            None => return Address::Nowhere,
        }
    }
    // A full sun_path needs no terminating null; a shorter one has it from the zeroes.
    if told.starts_with(b"/") { Address::Path(address, told.len().saturating_add(2)) } else { Address::Nowhere }
}

struct Slot(UnsafeCell<Config>);

// SAFETY: written once before READY is set, only read afterwards.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(Config::inert()));
static READY: AtomicBool = AtomicBool::new(false);

/// Keeps `config` for the life of the process.
///
/// # Safety
/// Called while the loader initialises the process: one thread, and no other call.
pub unsafe fn keep(config: Config) {
    // SAFETY: nobody reads before READY is set, and the caller's promise.
    unsafe { *SLOT.0.get() = config };
    READY.store(true, Ordering::Release);
}

/// What was kept, if anything yet.
pub fn kept() -> Option<&'static Config> {
    // SAFETY: READY was set after the only write.
    READY.load(Ordering::Acquire).then(|| unsafe { &*SLOT.0.get() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_word_it_is_inert() {
        assert_eq!(Config::of(None, None, Some(b"/x/libstayexec_preload.so"), 1).form, None);
    }

    #[test]
    fn what_is_not_beside_is_alone() {
        let form = |form: Option<&[u8]>| Config::of(Some(b"/s"), form, None, 7).form;
        assert_eq!(form(Some(b"beside")), Some(Form::Beside));
        assert_eq!(form(Some(b"beside:7")), Some(Form::Beside));
        assert_eq!(form(Some(b"beside:8")), None);
        for other in
            [None, Some(&b""[..]), Some(b"alone"), Some(b"besides"), Some(b"beside:"), Some(b"beside:0"), Some(b"beside:x"), Some(b"off")]
        {
            assert_eq!(form(other), Some(Form::Alone));
        }
        assert_eq!(Config::of(None, Some(b"alone"), None, 1).address, Address::Nowhere);
    }

    #[test]
    fn the_word_names_the_process() {
        for process in [1, 9, 10, 4_194_304, u32::MAX] {
            let config = Config::of(Some(b"/s"), Some(b"beside"), None, process);
            assert_eq!(config.shim.bytes(), format!("STAYEXEC_SHIM=beside:{process}").as_bytes());
        }
        assert_eq!(Config::of(Some(b"/s"), None, None, 5).shim.bytes(), b"STAYEXEC_SHIM=alone");
    }

    #[test]
    fn addresses() {
        assert_eq!(parse(b"fd:7"), Address::Inherited(7));
        for bad in [&b""[..], b"fd:", b"fd:-1", b"fd:x", b"fd:99999999999", b"relative", &[b'/'; 109]] {
            assert_eq!(parse(bad), Address::Nowhere, "{bad:?}");
        }
        let Address::Path(bytes, length) = parse(&[b'/'; 108]) else { panic!() };
        assert_eq!((bytes[0], bytes[1], length), (1, 0, 110));
    }

    #[test]
    fn the_library_is_known_by_its_name() {
        let library = |list: &[u8]| Config::of(Some(b"/s"), None, Some(list), 1).library.bytes().to_vec();
        assert_eq!(library(b"/a.so: /r/libstayexec_preload.so:/b.so"), b"LD_PRELOAD=/r/libstayexec_preload.so");
        assert_eq!(library(b"/r/notlibstayexec_preload.so"), b"");
        let long = [&[b'/'; LIBRARY_MAX][..], LIBRARY_NAME.as_bytes()].concat();
        assert_eq!(library(&long), b"");
    }

    #[test]
    fn a_variable_keeps_its_null() {
        assert!(Variable::<4>::of("A", b"b").is_some());
        assert!(Variable::<3>::of("A", b"b").is_none());
    }
}
