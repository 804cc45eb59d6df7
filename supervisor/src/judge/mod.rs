//! The judgement: what becomes of each program start, and who is asked.
//!
//! One thread owns all of it: runs, open questions, their answers. Invariant: a verdict is reached by the steps of
//! [`judgement`] in their order, and the first that decides is its reason. Refuses to fail open: an event that cannot be
//! judged is denied, and a judge that dies leaves every call with its warden, held.

mod agent;
mod answering;
mod asking;
mod belief;
mod check;
mod confine;
mod environment;
mod facts;
mod following;
mod forbidden;
mod grants;
mod index;
mod judgement;
mod kept;
mod known;
mod launch;
mod leads;
mod notify;
mod question;
mod questions;
mod raising;
mod remembered;
mod rpc;
mod rpc_http;
mod rpc_questions;
mod rpc_rules;
mod rules;
mod runs;
mod serve;
mod session;
mod store;
mod supervisor;
mod text;
mod tickets;
mod verdicts;
mod way;
mod within;
mod workspaces;

pub use check::{Checked, Input, check};
pub use known::Known;
pub use question::{Answering, Choice, Question, QuestionError};
pub use rpc::RpcError;
pub use rules::line as rule_line;
pub use serve::{Options, ServeError, serve};
pub use text::{word as shown_bytes, word_of_text as shown};
