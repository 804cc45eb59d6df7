//! Where a write goes: nowhere, to a file, below a system directory, or over the network.

use super::args::Arg;
use super::vet::Finding;
use crate::{CommandClass, ReasonCode};

const SYSTEM: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/boot",
    "/dev",
    "/proc",
    "/sys",
    "/efi",
    "/root/.ssh",
    "/var/spool/cron",
];

/// The path without `//`, `/./` and `/x/../`.
pub(crate) fn lexical(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.last().is_some_and(|last| *last != "..") {
                    parts.pop();
                } else if !absolute {
                    parts.push("..");
                }
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

/// A path below a system directory; with `self` for the directory itself.
pub(crate) fn is_system(path: &str) -> bool {
    let path = lexical(path);
    let path = path.strip_prefix("/proc/self/root").or_else(|| path.strip_prefix("/proc/thread-self/root")).unwrap_or(&path);
    if path == "/dev/shm" || path.starts_with("/dev/shm/") || path.starts_with("/dev/pts/") {
        return false;
    }
    path.is_empty()
        || path == "/"
        || SYSTEM.iter().any(|dir| path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Devices to which a write changes nothing.
pub(crate) fn is_sink(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero" | "/dev/full")
        || path
            .strip_prefix("/dev/fd/")
            .or_else(|| path.strip_prefix("/proc/self/fd/"))
            .is_some_and(|fd| fd.starts_with(|c: char| matches!(c, '1'..='9')) && fd.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(crate) fn is_socket(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// It is a connection, or may be one when what is not known of it is.
fn may_be_socket(target: &Arg) -> bool {
    let begins = |socket: &str| target.is_open() && target.known > 0 && socket.starts_with(target.head());
    // The beginning is unknown, or the home directory of somebody: that may be /dev, or the root.
    let rest = || ["tcp/", "udp/"].iter().any(|part| target.text.contains(part));
    let led = target.is_open() && (target.known == 0 || target.head() == "/") || target.text.starts_with('~');
    led && rest() || is_socket(&lexical(target.head())) || is_socket(target.head()) || begins("/dev/tcp/") || begins("/dev/udp/")
}

/// A write to this target.
pub(crate) fn write(target: &Arg) -> Option<Finding> {
    if may_be_socket(target) {
        return Some(Finding::new(CommandClass::Network, ReasonCode::Redirection, "a connection through /dev/tcp"));
    }
    if let Some(path) = target.full()
        && is_sink(path)
    {
        return None;
    }
    if target.head().starts_with('/') && is_system(target.head()) && target.head().len() > 1 {
        return Some(Finding::new(CommandClass::Destructive, ReasonCode::SystemPath, format!("writes to {}", target.head())));
    }
    Some(Finding::new(CommandClass::Write, ReasonCode::Redirection, "writes to a file"))
}

/// A file that is changed where it lies: below a system directory that cannot be taken back.
pub(crate) fn changed(target: &Arg) -> Option<Finding> {
    let head = target.head();
    let whole = head == "/" || head == "/*";
    ((whole || (head.len() > 1 && head.starts_with('/'))) && is_system(head) && !is_sink(&target.text))
        .then(|| Finding::new(CommandClass::Destructive, ReasonCode::SystemPath, format!("changes {head}")))
}

/// A read from this target.
pub(crate) fn read(target: &Arg) -> Option<Finding> {
    if target.is_open() && (target.altered || target.known == 0 && (target.risky || target.outside)) {
        return Some(Finding::new(CommandClass::Write, ReasonCode::Redirection, "reads a file that is only known when it runs"));
    }
    may_be_socket(target).then(|| Finding::new(CommandClass::Network, ReasonCode::Redirection, "a connection through /dev/tcp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> CommandClass {
        write(&Arg::closed(text)).map_or(CommandClass::Read, |finding| finding.class)
    }

    #[test]
    fn targets() {
        assert_eq!(class("/dev/null"), CommandClass::Read);
        assert_eq!(class("/dev/nullx"), CommandClass::Destructive);
        assert_eq!(class("/dev/fd/2"), CommandClass::Read);
        assert_eq!(class("out.txt"), CommandClass::Write);
        assert_eq!(class("/etc/passwd"), CommandClass::Destructive);
        assert_eq!(class("/tmp/../etc//passwd"), CommandClass::Destructive);
        assert_eq!(class("/proc/self/root/etc/passwd"), CommandClass::Destructive);
        assert_eq!(class("/etcetera"), CommandClass::Write);
        assert_eq!(class("/dev/tcp/10.0.0.1/80"), CommandClass::Network);
        assert_eq!(class("/dev/shm/x"), CommandClass::Write);
    }
}
