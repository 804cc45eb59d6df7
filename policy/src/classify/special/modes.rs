//! Programs whose words say whether they look or change, where neither options nor the first word do: partitions,
//! firewalls, charts, simulations, toolchains.
//!
//! Each returns true only when what it saw is harmless as a whole, or raises and leaves the rest to the table.

use super::super::args::Arg;
use super::super::judge::{Judge, Raise, Scope, part};
use super::super::payload::deeper;
use super::super::vet::vet;
use super::{Call, raise};
use crate::{CommandClass, Part};

/// `parted DEVICE print`: commands follow the device, and without one it takes them from its input.
pub(super) fn parted(call: &Call<'_>, out: &mut Part) -> bool {
    const WORDS: &[&str] =
        &["print", "p", "unit", "free", "all", "devices", "list", "s", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB", "%"];
    let vetted = vet(call.entry, call.args);
    let mut words = vetted.operands.iter().skip(1).map(|&at| &call.args[at]);
    let prints = words.clone().any(|word| matches!(word.full(), Some("print" | "p")));
    let only = words.all(|word| word.full().is_some_and(|word| WORDS.contains(&word)));
    if !(prints && only && vetted.findings.is_empty()) {
        raise(out, call, CommandClass::Destructive, "parted that does not print");
    }
    true
}

/// `nft list …`: its words are joined and read as text, in which `;` begins another command.
pub(super) fn nft(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let plain = |arg: &Arg| {
        arg.full().is_some_and(|word| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        })
    };
    let lists = vetted.operands.first().is_some_and(|&at| call.args[at].full() == Some("list"));
    let only = vetted.operands.iter().all(|&at| plain(&call.args[at]));
    if !(vetted.findings.is_empty() && (vetted.info || lists && only)) {
        raise(out, call, CommandClass::Destructive, "nft that does not list");
    }
    true
}

/// A chart that is no file here is fetched from where charts are kept.
pub(super) fn chart(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let path = call.name.ends_with("lint") || call.name.ends_with("verify");
    let local = |arg: &Arg| {
        let begins = ["./", "../", "/"].iter().any(|dir| arg.head().starts_with(dir));
        // Without a slash there is no repository in it.
        let plain = arg.full().is_some_and(|name| !name.contains('/'));
        path && arg.known > 0 || begins || plain || arg.full().is_some_and(|name| name.ends_with(".tgz"))
    };
    let fetched = call.args.iter().any(|arg| arg.text.contains("://")) || !vetted.operands.last().is_none_or(|&at| local(&call.args[at]));
    if fetched {
        raise(out, call, CommandClass::Network, "a chart of another host");
    }
    false
}

/// What stands behind an `@` is a host, a version that a host is asked for, or a file with further options.
pub(super) fn at_host(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let mut operands = vetted.operands.iter().map(|&at| &call.args[at]);
    // A package by its version is fetched and built; what follows it is the program's.
    if call.name == "go run" {
        if operands.next().is_some_and(|first| first.text.contains('@')) {
            raise(out, call, CommandClass::Install, "runs a package of another host");
        }
    } else if operands.any(|arg| arg.text.contains('@')) {
        raise(out, call, CommandClass::Network, "asks another host");
    }
    false
}

/// Formats by their names, and not by the path of a program.
pub(super) fn formats(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let option = |name: &str| ["-t", "-f", "-r", "-w"].contains(&name);
    let program = |arg: &Arg| arg.is_open() || arg.text.contains(['.', '/']);
    let long = |name: &str| name.len() > 2 && ["--to", "--from", "--read", "--write"].iter().any(|full| full.starts_with(name));
    if vetted.taken.iter().any(|taken| (option(&taken.option) || long(&taken.option)) && program(&taken.value)) {
        raise(out, call, CommandClass::Write, "a format that may be a program");
    }
    false
}

/// `apt-get -s install X` says what would be done.
pub(super) fn simulated(call: &Call<'_>, _out: &mut Part) -> bool {
    const VERBS: &[&str] = &["install", "upgrade", "dist-upgrade", "full-upgrade", "reinstall", "remove", "purge", "autoremove"];
    let vetted = vet(call.entry, call.args);
    let Some((&at, _)) = vetted.operands.split_first() else { return false };
    let Some(verb) = call.args[at].full().filter(|verb| VERBS.contains(verb)) else { return false };
    let Some(sub) = call.entry.subcommand(verb) else { return false };
    let below = vet(sub, &call.args[at + 1..]);
    let asked = |flags: &super::super::vet::Vetted| {
        ["-s", "--simulate", "--dry-run", "--just-print", "--no-act"].iter().any(|flag| flags.has(flag))
    };
    vetted.findings.is_empty() && below.findings.is_empty() && (asked(&vetted) || asked(&below))
}

/// A toolchain in front, `+nightly`: one that rustup has, by its name.
pub(super) fn cargo(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let Some((first, rest)) = call.args.split_first() else { return false };
    let name = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    if !first.full().and_then(|text| text.strip_prefix('+')).is_some_and(name) {
        return false;
    }
    judge.entry(call.entry, call.name, rest, &deeper(scope), out);
    true
}

/// `cargo fmt -- --check`: what stands behind the dashes is rustfmt's, and so is its own `--check`.
pub(super) fn cargo_fmt(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let behind = vetted.dashes.map_or(&[][..], |at| &call.args[at + 1..]);
    let own = vetted.has("--check").then(|| Arg::closed("--check"));
    let words: Vec<Arg> = own.into_iter().chain(behind.iter().cloned()).collect();
    if !vetted.findings.is_empty() || !words.iter().any(|arg| arg.full() == Some("--check")) {
        return false;
    }
    let mut child = part(judge.text(&words));
    judge.named("rustfmt", &words, &deeper(scope), &mut child);
    out.add(child, judge.explain);
    true
}
