//! Which host a client is told to talk to: by an option, an address, or a string of settings.
//!
//! Invariant: what is not certainly this machine is another host, and a client that reads is then Network: what it asks carries
//! whatever the command puts into it.

use super::args::Arg;
use super::judge::{Judge, Raise};
use super::vet::{Finding, vet};
use crate::knowledge::Entry;
use crate::{CommandClass, Part, ReasonCode};

impl Judge<'_> {
    /// Raises where the entry's options for hosts, or an address among its operands, name another one.
    pub fn reaches(&self, entry: &Entry, args: &[Arg], out: &mut Part) {
        if entry.hosts.is_empty() || out.class >= CommandClass::Network {
            return;
        }
        let vetted = vet(entry, args);
        let named = vetted.taken.iter().filter(|taken| entry.hosts.iter().any(|option| **option == *taken.option));
        let remote = named.map(|taken| (&taken.value, taken.option.starts_with("-h") || taken.option.starts_with("--host"))).any(is_remote)
            || vetted.operands.iter().any(|&at| is_remote((&args[at], false)));
        if remote {
            out.raise_at(Finding::new(CommandClass::Network, ReasonCode::Operand, "talks to another host"), entry.at);
        }
    }
}

/// Whether a value names another host; `plain`: it is a host's name, and not an address or settings that may hold one.
fn is_remote((value, plain): (&Arg, bool)) -> bool {
    let Some(text) = value.full() else { return plain || value.known == 0 || value.text.contains("://") || value.text.contains("host") };
    if plain {
        return !is_local(text);
    }
    if let Some((_, rest)) = text.split_once("://") {
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = if host.starts_with('[') { host } else { host.split(':').next().unwrap_or_default() };
        return !is_local(host) || settings(rest).any(|host| !is_local(host));
    }
    settings(text).any(|host| !is_local(host))
}

/// The hosts of `host=… hostaddr=…`, also behind `?` and `&`.
fn settings(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '?' | '&' | ';')).filter_map(|setting| {
        let (name, value) = setting.split_once('=')?;
        matches!(name, "host" | "hostaddr" | "service" | "servicefile").then_some(value.trim_matches('\''))
    })
}

/// This machine, by a name or an address of its own, or a socket in a folder.
fn is_local(host: &str) -> bool {
    matches!(host, "" | "localhost" | "127.0.0.1" | "::1" | "[::1]" | ".") || host.starts_with(['/', '@']) || host.starts_with("%2F")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_in_all_forms() {
        for (text, plain) in [("h", true), ("127.0.0.1.evil.example", true), ("postgres://h/x", false), ("postgres://a:b@h:5/x", false)] {
            assert!(is_remote((&Arg::closed(text), plain)), "{text}");
        }
        for text in ["host=h dbname=x", "dbname=x hostaddr=10.0.0.1", "postgres:///x?host=h", "postgres://localhost@h/x", "service=s"] {
            assert!(is_remote((&Arg::closed(text), false)), "{text}");
        }
        for (text, plain) in [("localhost", true), ("/run/postgresql", true), ("postgres:///x", false), ("redis://localhost:6379/0", false)]
        {
            assert!(!is_remote((&Arg::closed(text), plain)), "{text}");
        }
        assert!(!is_remote((&Arg::closed("app_test"), false)) && !is_remote((&Arg::closed("host=/tmp dbname=x"), false)));
        assert!(is_remote((&Arg::open(false), true)) && is_remote((&Arg::open(false), false)));
    }
}
