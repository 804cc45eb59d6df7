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
        let hosts = authority.rsplit('@').next().unwrap_or_default();
        let host = |part: &str| if part.starts_with('[') { part.to_owned() } else { part.split(':').next().unwrap_or_default().to_owned() };
        // A name of a setting may be spelled with `%`.
        return hosts.split(',').any(|part| !is_local(&host(part))) || rest.contains('%') || sets_remote(rest);
    }
    sets_remote(text)
}

/// `host=… hostaddr=…`, also behind `?` and `&`, with blanks around the sign, and of several hosts.
fn sets_remote(text: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" =", "=").replace("= ", "=");
    text.split([' ', '?', '&', ';'])
        .filter_map(|setting| setting.split_once('='))
        .any(|(name, value)| matches!(name, "host" | "hostaddr" | "service" | "servicefile") && !is_local(value.trim_matches('\'')))
}

/// This machine, by a name or an address of its own, or a socket in a folder; of several, each.
fn is_local(hosts: &str) -> bool {
    let own = |host: &str| matches!(host, "" | "localhost" | "127.0.0.1" | "::1" | "[::1]" | ".") || host.starts_with(['/', '@']);
    hosts.split(',').all(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_in_all_forms() {
        for (text, plain) in [("h", true), ("127.0.0.1.evil.example", true), ("postgres://h/x", false), ("postgres://a:b@h:5/x", false)] {
            assert!(is_remote((&Arg::closed(text), plain)), "{text}");
        }
        for text in [
            "host=h dbname=x",
            "dbname=x hostaddr=10.0.0.1",
            "postgres:///x?host=h",
            "postgres://localhost@h/x",
            "service=s",
            "host = h",
            "host=/tmp,h",
            "postgres://localhost:1,h:2/x",
            "postgres:///x?ho%73t=h",
        ] {
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
