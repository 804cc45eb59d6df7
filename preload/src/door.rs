//! The way to whoever answers: a connection for one conversation.
//!
//! Invariant: a connection belongs to one hello or one ask, so that callers that share an inherited descriptor never read
//! each other's replies. Refuses to wait beside the floor.

use crate::config::Address;
use crate::sys::{self, Descriptor, ENOTSOCK, Errno};

/// How long a hello may wait for a server that does not accept.
const HELLO_SECONDS: i64 = 2;

/// Opens a connection; one that waits, if `waits`.
pub fn open(address: &Address, waits: bool) -> Result<Descriptor, Errno> {
    match address {
        Address::Nowhere => Err(Errno(ENOTSOCK)),
        Address::Path(bytes, length) => {
            let socket = sys::socket(waits)?;
            sys::connect(&socket, bytes.get(..*length).unwrap_or(bytes))?;
            Ok(socket)
        }
        Address::Inherited(channel) => {
            let (ours, theirs) = sys::socket_pair(waits)?;
            sys::pass(*channel, &theirs, waits)?;
            Ok(ours)
        }
    }
}

/// Opens a connection for a hello: a silent server delays a program's start by no more than [`HELLO_SECONDS`].
pub fn open_for_hello(address: &Address, waits: bool) -> Result<Descriptor, Errno> {
    let Address::Path(bytes, length) = address else { return open(address, waits) };
    let socket = sys::socket(waits)?;
    if waits {
        sys::limit_sending(&socket, HELLO_SECONDS)?;
    }
    sys::connect(&socket, bytes.get(..*length).unwrap_or(bytes))?;
    Ok(socket)
}
