//! Programs that only look at what is theirs to look at: local files, pictures by their ending, their own standard output.
//!
//! Each raises what goes beyond that and leaves options and operands to the table.

use super::super::args::{Arg, UNKNOWN};
use super::super::judge::{Judge, Raise};
use super::super::vet::vet;
use super::{Call, raise};
use crate::{CommandClass, Part};

/// Operands, and values of options that name a file.
fn files_of(call: &Call<'_>) -> Vec<Arg> {
    let vetted = vet(call.entry, call.args);
    let values = vetted.taken.iter().filter(|taken| taken.role == crate::knowledge::Role::File).map(|taken| taken.value.clone());
    vetted.operands.iter().map(|&at| call.args[at].clone()).chain(values).collect()
}

/// An address, or a word with a protocol of its own, is no local file.
pub(super) fn local(call: &Call<'_>, out: &mut Part) -> bool {
    if files_of(call).iter().any(|arg| arg.text.contains(':') || (arg.is_open() && arg.known == 0 && arg.free)) {
        raise(out, call, CommandClass::Network, "reads from another host");
    }
    false
}

/// `ffmpeg -i FILE` says what the file is; with `-f null -` it is decoded, and thrown away.
pub(super) fn ffmpeg(judge: &Judge<'_>, call: &Call<'_>, out: &mut Part) -> bool {
    let mut words = call.args.iter().map(|arg| arg.full().unwrap_or_default()).filter(|word| !matches!(*word, "-hide_banner" | "-nostdin"));
    // The last word is what it writes, unless that is what it reads.
    if let [.., before, last] = call.args
        && before.full() != Some("-i")
        && let Some(finding) = super::super::paths::changed(last)
    {
        out.raise_at(finding, call.entry.at);
    }
    let (Some("-i"), Some(file)) = (words.next(), words.next()) else { return false };
    let rest: Vec<&str> = words.collect();
    if file.contains(':') {
        raise(out, call, CommandClass::Network, "reads from another host");
        return false;
    }
    let local = !file.is_empty() && !file.starts_with(['-', '@', '|']);
    if local {
        judge.collect_path(call.name, file);
    }
    local && matches!(rest[..], [] | ["-f", "null", "-" | "/dev/null"])
}

/// Databases of names that other hosts answer for; this host knows its own.
pub(super) fn lookup(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let mut operands = vetted.operands.iter().map(|&at| &call.args[at]);
    let Some(database) = operands.next() else { return false };
    let asks = database.full().is_none_or(|name| name.contains("host") || name.contains("net"));
    if database.shifts {
        raise(out, call, CommandClass::Network, "asks other hosts for a name");
    }
    let own = |arg: &Arg| matches!(arg.full(), Some("localhost" | "127.0.0.1" | "::1"));
    if asks && operands.any(|arg| !own(arg)) {
        raise(out, call, CommandClass::Network, "asks other hosts for a name");
    }
    false
}

/// Copies to devices that keep nothing, or to its own output.
pub(super) fn sinks(call: &Call<'_>) -> bool {
    let vetted = vet(call.entry, call.args);
    let nowhere = |arg: &Arg| arg.full().is_some_and(super::super::is_sink);
    vetted.findings.is_empty() && vetted.operands.iter().all(|&at| nowhere(&call.args[at]))
}

/// The second operand is the output: only the standard one is harmless.
pub(super) fn printed(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let to_itself = matches!(vetted.operands[..], [_, at] if call.args[at].full() == Some("-"))
        || (call.name == "tesseract" && matches!(vetted.operands[..], [_, at] if call.args[at].full() == Some("stdout")));
    if !to_itself && !vetted.info {
        raise(out, call, CommandClass::Write, "writes beside its input");
    }
    false
}

/// Files whose ending is that of a picture, without a coder in front.
pub(super) fn pictures(call: &Call<'_>, out: &mut Part) -> bool {
    const ENDINGS: &[&str] = &[".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico", ".avif", ".heic", ".PNG", ".JPG"];
    let picture = |arg: &Arg| {
        ENDINGS.iter().any(|ending| arg.text.ends_with(ending)) && !arg.text.contains(':') && !arg.text.starts_with(['@', '|', UNKNOWN])
    };
    if !files_of(call).iter().all(picture) {
        raise(out, call, CommandClass::Write, "a file that may be more than a picture");
    }
    false
}

/// `--print KIND=FILE` writes.
pub(super) fn rustc(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    const ENDING: &[&str] = &[
        "file-names",
        "sysroot",
        "target-libdir",
        "cfg",
        "check-cfg",
        "crate-name",
        "target-list",
        "target-cpus",
        "target-features",
        "relocation-models",
        "code-models",
        "tls-models",
        "target-spec-json",
        "split-debuginfo",
        "stack-protector-strategies",
        "deployment-target",
        "host-tuple",
        "calling-conventions",
    ];
    if matches!(call.args, [option, value] if matches!(option.full(), Some("-C" | "-W" | "-Z")) && value.full() == Some("help")) {
        return true;
    }
    let prints = |option: &str| option.len() > 3 && "--print".starts_with(option);
    if vetted.taken.iter().any(|taken| prints(&taken.option) && (taken.value.is_open() || taken.value.text.contains('='))) {
        raise(out, call, CommandClass::Write, "prints to a file");
        return false;
    }
    // Having printed one of these it ends, whatever else it is given.
    let ends = vetted.taken.iter().any(|taken| prints(&taken.option) && taken.value.full().is_some_and(|kind| ENDING.contains(&kind)));
    ends && vetted.findings.is_empty()
}

/// Operands that are names, and no files, which are programs themselves.
pub(super) fn named(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let mut operands = vetted.operands.iter().map(|&at| &call.args[at]);
    if operands.any(|arg| arg.text.contains(['/', '~', UNKNOWN]) || arg.text.ends_with(".rb")) {
        raise(out, call, CommandClass::Write, "a file that is a program");
    }
    false
}

/// A history of builds is listed, or changed by a verb.
pub(super) fn history(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    match vetted.operands.first().and_then(|&at| call.args[at].full()) {
        Some("rm") => raise(out, call, CommandClass::Destructive, "deletes records of builds"),
        Some("import" | "export" | "open" | "trace") => raise(out, call, CommandClass::Write, "changes records of builds"),
        _ => {}
    }
    false
}

fn is_here(arg: &Arg) -> bool {
    arg.head().starts_with(['.', '/', '~']) || arg.home || arg.text.ends_with(".tgz")
}

/// A folder, or a repository of another host.
pub(super) fn beside(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let elsewhere = |arg: &Arg| {
        let first = arg.text.split('/').next().unwrap_or_default();
        !is_here(arg) && (arg.text.contains([':', '@']) || arg.text.contains("//") || first.contains('.'))
    };
    if vetted.operands.iter().any(|&at| elsewhere(&call.args[at])) {
        raise(out, call, CommandClass::Network, "a folder of another host");
    }
    false
}

/// `@FILE` holds options, and one of them loads code.
pub(super) fn response(call: &Call<'_>, out: &mut Part) -> bool {
    if call.args.iter().any(|arg| arg.text.starts_with('@')) {
        raise(out, call, CommandClass::Write, "options that come from a file");
    }
    false
}

/// A pattern with a call of a program in it.
pub(super) fn callout(call: &Call<'_>, out: &mut Part) -> bool {
    if call.args.iter().any(|arg| arg.text.contains("(?C") || arg.free) {
        raise(out, call, CommandClass::Write, "a pattern that may call a program");
    }
    false
}
