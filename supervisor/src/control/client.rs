//! The client's side: wardens and faces.
//!
//! Invariant: a connection that is handed out is greeted: same protocol, same program version, same user, not confined.
//! Refuses to try again for ever: a supervisor that cannot be started is reported.

use super::connection::{Connection, ControlError};
use super::{Address, Baseline, PROGRAM_VERSION, start};
use stayexec_protocol::{Message, VERSION};
use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long a supervisor may take to greet.
const GREETING: Duration = Duration::from_secs(10);
/// How often a supervisor that ends just as it is reached is sought again.
const ATTEMPTS: usize = 5;

/// Connects to the supervisor at `address`.
///
/// # Errors
/// [`ControlError::Absent`] where none listens; the others as they are named.
pub fn connect(address: &Address) -> Result<Connection, ControlError> {
    let socket = match address.socket() {
        Ok(socket) => socket,
        // Without the folder nobody can have bound its name.
        Err(ControlError::Step { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => return Err(ControlError::Absent),
        Err(e) => return Err(e),
    };
    let stream = match UnixStream::connect_addr(&socket) {
        Ok(stream) => stream,
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => return Err(ControlError::Absent),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            return Err(ControlError::Refused("a process inside a gated tree cannot reach the supervisor".into()));
        }
        Err(cause) => return Err(ControlError::Step { step: "connect to the supervisor", cause }),
    };
    Baseline::take().check_server(&stream)?;
    stream.set_read_timeout(Some(GREETING)).map_err(ControlError::step("set a timeout"))?;
    let mut connection = Connection::new(stream);
    let hello = Message::Hello(VERSION, PROGRAM_VERSION.into());
    let greeted = connection.ask(&hello).map_err(|e| match e {
        // One of another build has made room, or one that nobody needed has ended.
        ControlError::Closed => ControlError::Absent,
        other => other,
    });
    match greeted? {
        Message::Welcome(VERSION, version) if version == PROGRAM_VERSION.as_bytes() => {}
        Message::Welcome(_, version) => return Err(ControlError::Refused(mismatch(&version))),
        _ => return Err(ControlError::Refused("the supervisor greets with something that is no greeting".into())),
    }
    connection.share().set_read_timeout(None).map_err(ControlError::step("set a timeout"))?;
    Ok(connection)
}

/// Connects to the supervisor at `address`, which is started where none listens.
///
/// # Errors
/// As [`connect`], and what kept the supervisor from starting.
pub fn connect_or_start(address: &Address) -> Result<Connection, ControlError> {
    let mut last = ControlError::Absent;
    for _ in 0..ATTEMPTS {
        match connect(address) {
            // One that ends a minute after its last run may do so between our connect and its greeting.
            Err(e @ (ControlError::Absent | ControlError::Closed)) => last = e,
            Err(ControlError::Step { step, cause }) if cause.kind() == io::ErrorKind::ConnectionReset => {
                last = ControlError::Step { step, cause };
            }
            other => return other,
        }
        start::start(address)?;
    }
    Err(last)
}

/// The line for two versions that do not fit.
pub(super) fn mismatch(other: &[u8]) -> String {
    let other = String::from_utf8_lossy(other);
    let other: String = other.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
    format!("stayexec {PROGRAM_VERSION} and stayexec {other} do not work together; end the runs of the other one first")
}
