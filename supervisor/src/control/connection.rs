//! One end of a connection: whole frames in, whole frames out, blocking.
//!
//! Invariant: a frame's bytes are kept only as they arrive; a stated length reserves nothing. Refuses a frame over its
//! limit by its header, and everything after a frame that cannot be understood.

use stayexec_protocol::{FRAME_LIMIT, Message, WireError};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Why there is no connection, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A system call failed.
    #[error("cannot {step}: {cause}")]
    Step {
        /// What was being done, as an infinitive.
        step: &'static str,
        /// Why it failed.
        cause: io::Error,
    },
    /// The other side said no.
    #[error("{0}")]
    Refused(String),
    /// Nothing listens at the address.
    #[error("no supervisor is running")]
    Absent,
    /// The other side sent something that is no message.
    #[error("the other side of the control socket cannot be understood: {0}")]
    Frame(#[from] WireError),
    /// The connection ended where a message was awaited.
    #[error("the supervisor closed the connection")]
    Closed,
}

impl ControlError {
    /// For `map_err`: names the step that failed.
    pub fn step(step: &'static str) -> impl Fn(io::Error) -> Self {
        move |cause| Self::Step { step, cause }
    }
}

/// A connection. Clones share the socket, not what was read from it.
#[derive(Debug)]
pub struct Connection {
    stream: Arc<UnixStream>,
    buffer: Vec<u8>,
    limit: usize,
}

impl Connection {
    /// Takes a connected stream.
    pub fn new(stream: UnixStream) -> Self {
        Self { stream: Arc::new(stream), buffer: Vec::new(), limit: FRAME_LIMIT }
    }

    /// Accepts no frame longer than `limit` from here on.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit.min(FRAME_LIMIT);
    }

    /// The socket, for a second thread.
    pub fn share(&self) -> Arc<UnixStream> {
        Arc::clone(&self.stream)
    }

    /// The socket alone. Nothing is lost by it after a greeting: a supervisor speaks only when spoken to.
    ///
    /// # Errors
    /// Where the socket is shared and cannot be duplicated.
    pub fn into_stream(self) -> Result<UnixStream, ControlError> {
        match Arc::try_unwrap(self.stream) {
            Ok(stream) => Ok(stream),
            Err(shared) => shared.try_clone().map_err(ControlError::step("duplicate the control socket")),
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// [`ControlError::Frame`] where it is too long, [`ControlError::Step`] where the socket refuses.
    pub fn send(&mut self, message: &Message) -> Result<(), ControlError> {
        send(&self.stream, message)
    }

    /// The next message; `None` at the end of the connection.
    ///
    /// # Errors
    /// [`ControlError::Frame`] and [`ControlError::Step`]; the connection cannot be used after one.
    pub fn recv(&mut self) -> Result<Option<Message>, ControlError> {
        let mut piece = vec![0; 64 << 10];
        loop {
            if let Some(head) = self.buffer.first_chunk::<4>()
                && u32::from_le_bytes(*head) as usize > self.limit
            {
                return Err(WireError::TooLong.into());
            }
            if let Some(message) = Message::take_frame(&mut self.buffer)? {
                return Ok(Some(message));
            }
            match (&*self.stream).read(&mut piece) {
                Ok(0) if self.buffer.is_empty() => return Ok(None),
                Ok(0) => return Err(WireError::Short.into()),
                Ok(n) => self.buffer.extend_from_slice(&piece[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(ControlError::Step { step: "read from the control socket", cause: e }),
            }
        }
    }

    /// Sends a message and waits for the one that answers it.
    ///
    /// # Errors
    /// As [`Connection::send`] and [`Connection::recv`]; [`ControlError::Closed`] and [`ControlError::Refused`].
    pub fn ask(&mut self, message: &Message) -> Result<Message, ControlError> {
        // Whoever refuses closes at once: our own message may fail, and its reason is there to be read all the same.
        let sent = self.send(message);
        match self.recv() {
            Ok(Some(Message::Refused(line))) => Err(ControlError::Refused(String::from_utf8_lossy(&line).into_owned())),
            Ok(Some(reply)) => sent.map(|()| reply),
            Ok(None) => Err(ControlError::Closed),
            Err(e) => Err(sent.err().unwrap_or(e)),
        }
    }
}

/// Sends one message on a shared socket.
pub(super) fn send(stream: &UnixStream, message: &Message) -> Result<(), ControlError> {
    let frame = message.to_frame()?;
    let mut stream = stream;
    stream.write_all(&frame).map_err(ControlError::step("write to the control socket"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Result<(Connection, UnixStream), ControlError> {
        let (one, two) = UnixStream::pair().map_err(ControlError::step("make a pair"))?;
        Ok((Connection::new(one), two))
    }

    #[test]
    fn messages_come_over_and_the_end_is_no_error() -> Result<(), ControlError> {
        let (mut one, two) = pair()?;
        let mut two = Connection::new(two);
        two.send(&Message::Stop)?;
        two.send(&Message::End(7))?;
        drop(two);
        assert_eq!(one.recv()?, Some(Message::Stop));
        assert_eq!(one.recv()?, Some(Message::End(7)));
        assert_eq!(one.recv()?, None);
        Ok(())
    }

    #[test]
    fn a_frame_over_the_limit_and_a_torn_one_end_the_connection() -> Result<(), ControlError> {
        let (mut one, two) = pair()?;
        one.set_limit(16);
        (&two).write_all(&17u32.to_le_bytes()).map_err(ControlError::step("write"))?;
        assert!(matches!(one.recv(), Err(ControlError::Frame(WireError::TooLong))));
        let (mut one, two) = pair()?;
        (&two).write_all(&[9, 0, 0]).map_err(ControlError::step("write"))?;
        drop(two);
        assert!(matches!(one.recv(), Err(ControlError::Frame(WireError::Short))));
        Ok(())
    }
}
