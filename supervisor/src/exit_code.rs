//! Exit statuses. The one place where they are given numbers.

/// Everything went well; `check`: it would run.
pub const OK: u8 = 0;
/// `check`: it would be refused.
pub const BLOCKED: u8 = 1;
/// The command line or its input is wrong.
pub const USAGE: u8 = 2;
/// `check`: it would be asked about.
pub const PROMPT: u8 = 3;
/// No question has this id.
pub const UNKNOWN_ID: u8 = 4;
/// The question was answered already.
pub const ANSWERED_ID: u8 = 5;
/// The question expired.
pub const EXPIRED_ID: u8 = 6;
/// The gate itself failed; nothing was let through.
pub const GATE_FAILED: u8 = 125;
/// The program was found and cannot be executed; also the status of a denied image.
pub const NOT_EXECUTABLE: u8 = 126;
/// The program is not there.
pub const NOT_FOUND: u8 = 127;
