//! What the shim was told when it was loaded.
//!
//! Invariant: written once, by [`crate::start`], before the program's first instruction; hooks only read it. It is a copy: a
//! program that changes its environment later, or paints its name over it, changes nothing here. Refuses what does not fit
//! (a cut address would lead elsewhere): the form then is alone, and nobody can be asked.

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
    /// What the shim is to this process; nothing where it was loaded without an address.
    pub form: Option<Form>,
    /// Where to ask.
    pub address: Address,
    /// `STAYEXEC_ASK=…`.
    pub ask: Variable<{ 16 + ADDRESS_MAX }>,
    /// `STAYEXEC_SHIM=alone`.
    pub shim: Variable<24>,
    /// `LD_PRELOAD=` and the library's path; nothing where LD_PRELOAD did not load it.
    pub library: Variable<{ 12 + LIBRARY_MAX }>,
}

impl Config {
    const fn inert() -> Self {
        Self { form: None, address: Address::Nowhere, ask: Variable::empty(), shim: Variable::empty(), library: Variable::empty() }
    }

    /// From the values of the three variables. A form that is not exactly `beside` is alone, the stricter.
    pub fn of(address: Option<&[u8]>, form: Option<&[u8]>, preload: Option<&[u8]>) -> Self {
        if address.is_none() && form.is_none() {
            return Self::inert();
        }
        let told = address.unwrap_or(&[]);
        let beside = form == Some(Form::Beside.as_str().as_bytes());
        let library = preload.and_then(|list| entries(list).find(|entry| is_library(entry)));
        Self {
            form: Some(if beside { Form::Beside } else { Form::Alone }),
            address: parse(told),
            ask: Variable::of(ADDRESS_VARIABLE, told).unwrap_or(Variable::empty()),
            shim: Variable::of(FORM_VARIABLE, Form::Alone.as_str().as_bytes()).unwrap_or(Variable::empty()),
            library: library.and_then(|path| Variable::of("LD_PRELOAD", path)).unwrap_or(Variable::empty()),
        }
    }
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
        assert_eq!(Config::of(None, None, Some(b"/x/libstayexec_preload.so")).form, None);
    }

    #[test]
    fn what_is_not_beside_is_alone() {
        let form = |form: Option<&[u8]>| Config::of(Some(b"/s"), form, None).form;
        assert_eq!(form(Some(b"beside")), Some(Form::Beside));
        for other in [None, Some(&b""[..]), Some(b"alone"), Some(b"besides"), Some(b"off")] {
            assert_eq!(form(other), Some(Form::Alone));
        }
        assert_eq!(Config::of(None, Some(b"alone"), None).address, Address::Nowhere);
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
        let library = |list: &[u8]| Config::of(Some(b"/s"), None, Some(list)).library.bytes().to_vec();
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
