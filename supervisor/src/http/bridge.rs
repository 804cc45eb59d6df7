//! Between the thread that serves HTTP and the judge.
//!
//! Invariant: whoever asks waits, the judge does not: a question to it is queued or refused at once, and its reply goes
//! into a slot that somebody may have left. Refuses to queue more than a fixed number of questions.

use crate::judge::RpcError;
use crossbeam_channel::{Sender, TrySendError};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the judge may take: it waits for a disk, sometimes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Through what a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// A program with the token.
    Http,
    /// The page, with a session.
    Web,
}

impl Face {
    /// The word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Web => "web",
        }
    }
}

/// What is asked of the judge.
#[derive(Debug)]
pub enum Call {
    /// One method, by its full name.
    Method(String, Value),
    /// A JSON-RPC request or batch, as it came.
    Raw(Vec<u8>),
}

/// The judge's reply: JSON text; of a raw request it is the whole response, empty where there is none.
pub type Reply = Result<String, RpcError>;

/// A question to the judge.
#[derive(Debug)]
pub struct Ask {
    /// What.
    pub call: Call,
    /// For whom.
    pub face: Face,
    /// Where the reply goes.
    pub reply: oneshot::Sender<Reply>,
}

/// What the judge announces after each change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct News {
    /// Grows with each change of the open questions.
    pub revision: u64,
    /// How many are open.
    pub pending: usize,
}

/// The way to the judge.
#[derive(Debug, Clone)]
pub struct Bridge(pub(super) Sender<Ask>);

impl Bridge {
    /// Asks, and waits for the reply.
    ///
    /// # Errors
    /// What the judge says, or that it has no time.
    pub async fn ask(&self, face: Face, call: Call) -> Reply {
        let busy = || RpcError::busy("the supervisor has too much to do; try again");
        let (reply, answer) = oneshot::channel();
        match self.0.try_send(Ask { call, face, reply }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(busy()),
            Err(TrySendError::Disconnected(_)) => return Err(RpcError::busy("the supervisor ends")),
        }
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(_)) => Err(RpcError::busy("the supervisor ends")),
            Err(_) => Err(busy()),
        }
    }
}
