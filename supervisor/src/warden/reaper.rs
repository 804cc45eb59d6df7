//! The agent's parent: a small process between warden and agent.
//!
//! Orphans of the tree become its children, so they stay below the warden (Yama lets a tracer attach to its descendants
//! alone), and it can wait for any child cheaply, which the warden, as the tracer of thousands, cannot. Invariant: it
//! tells every stop and the end of the launched process, and lives until no child is left or the warden is gone. Refuses
//! signals: all are blocked.

use super::leftover;
use crate::sys::process::{self, Fork};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::parent_id;
use std::path::Path;

/// What the reaper tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// The launched process was stopped by this signal.
    Stopped(i32),
    /// It was continued.
    Continued,
    /// It ended with this wait status.
    Ended(i32),
}

const PID: u8 = 0;
const STATUS: u8 = 1;

/// Forks the child and reaps until nothing is left. The folder goes with the launched process where no warden is left to
/// remove it.
pub fn live(mut reports: UnixStream, temporary: Option<&Path>, child: impl FnOnce()) -> ! {
    let failed = i32::from(crate::exit_code::GATE_FAILED);
    if process::become_subreaper().is_err() {
        process::exit_now(failed);
    }
    let warden = parent_id() as i32;
    let pid = match process::fork() {
        Ok(Fork::Child) => {
            drop(reports);
            child();
            process::exit_now(failed);
        }
        Ok(Fork::Parent(pid)) => {
            // With it goes our copy of the child's socket: the warden notices a child that dies.
            drop(child);
            pid
        }
        Err(_) => process::exit_now(failed),
    };
    if tell(&mut reports, PID, pid).is_err() {
        process::exit_now(failed);
    }
    // Descriptors of the caller would keep a pipe open that its reader waits to see closed.
    process::close_all_but(reports.as_raw_fd());
    loop {
        match process::wait_any() {
            Ok(Some((who, status))) if who == pid => {
                // The warden stops and goes on with the agent, for the shell that waits for it. Whoever sees both in their
                // order does it: a warden that stopped itself could miss the news that ends its stop.
                let ended = !libc::WIFSTOPPED(status) && !libc::WIFCONTINUED(status);
                let there = parent_id() as i32 == warden;
                if there && !ended {
                    let _ = process::kill(warden, if libc::WIFSTOPPED(status) { libc::SIGSTOP } else { libc::SIGCONT });
                }
                if tell(&mut reports, STATUS, status).is_err() && ended {
                    // The warden was killed.
                    temporary.inspect(|folder| leftover::remove(folder));
                    process::exit_now(0);
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => {
                if let Some(folder) = temporary {
                    // It says nothing: this is its end. One that ends in order has removed the folder by then.
                    let _ = reports.read(&mut [0]);
                    leftover::remove(folder);
                }
                process::exit_now(0)
            }
            Err(_) => {}
        }
    }
}

fn tell(reports: &mut UnixStream, kind: u8, value: i32) -> io::Result<()> {
    let mut message = [kind, 0, 0, 0, 0];
    message[1..].copy_from_slice(&value.to_le_bytes());
    reports.write_all(&message)
}

fn hear(news: &mut UnixStream) -> io::Result<(u8, i32)> {
    let mut message = [0; 5];
    news.read_exact(&mut message)?;
    let [kind, value @ ..] = message;
    Ok((kind, i32::from_le_bytes(value)))
}

/// The first message: the pid of the launch child.
///
/// # Errors
/// UnexpectedEof where the reaper died; InvalidData for any other message.
pub fn first_pid(news: &mut UnixStream) -> io::Result<i32> {
    match hear(news)? {
        (PID, pid) => Ok(pid),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The next message. Blocks until there is one.
///
/// # Errors
/// As [`first_pid`].
pub fn next(news: &mut UnixStream) -> io::Result<News> {
    match hear(news)? {
        (STATUS, status) if libc::WIFSTOPPED(status) => Ok(News::Stopped(libc::WSTOPSIG(status))),
        (STATUS, status) if libc::WIFCONTINUED(status) => Ok(News::Continued),
        (STATUS, status) => Ok(News::Ended(status)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
