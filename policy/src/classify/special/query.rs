//! Programs that ask or change by their mode: databases of packages, tables of jobs, keys and partitions, packed files.
//!
//! Invariant: without an option that only asks they are at least Write.

use super::super::judge::{Judge, Raise, Scope};
use super::super::vet::vet;
use super::{Call, raise};
use crate::{CommandClass, Part, ReasonCode};

/// Package databases: Read with an option that asks, Write without one.
pub(super) fn query(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let asks: &[&str] = match call.name {
        "rpm" => &["-q", "--query", "-V", "--verify", "-K", "--checksig"],
        "pacman" | "yay" | "paru" => &["-Q", "--query", "-F", "--files", "-T", "--deptest"],
        "nix-env" => &["-q", "--query", "--list-generations"],
        "crontab" => &["-l"],
        "ssh-keygen" => &["-l", "-B", "-F"],
        "fdisk" | "sfdisk" | "parted" => &["-l", "--list", "-d", "--dump", "-J", "--json", "-F", "--list-free"],
        "gzip" | "bzip2" | "xz" | "lzma" | "zstd" | "gunzip" | "bunzip2" | "unxz" | "unlzma" | "unzstd" => {
            &["-c", "--stdout", "-l", "--list", "-t", "--test"]
        }
        "unzip" => &["-l", "-v", "-Z", "-t", "-z", "-p", "-c"],
        _ => &[
            "-l",
            "-L",
            "-s",
            "-S",
            "-p",
            "-W",
            "-c",
            "-I",
            "-C",
            "-V",
            "--list",
            "--listfiles",
            "--status",
            "--search",
            "--print-avail",
            "--show",
            "--contents",
            "--info",
            "--get-selections",
            "--print-architecture",
            "--print-foreign-architectures",
            "--audit",
            "--verify",
            "--compare-versions",
            "-f",
            "--field",
        ],
    };
    let called = |flags: &[&str]| {
        vetted.flags.iter().any(|flag| flags.contains(&flag.as_str()))
            || vetted.taken.iter().any(|taken| flags.contains(&taken.option.as_str()))
    };
    // The last mode wins: one that only asks counts alone. What unpacks to the output leaves the file alone in any case.
    let packer = matches!(call.name, "gzip" | "bzip2" | "xz" | "lzma" | "zstd" | "gunzip" | "bunzip2" | "unxz" | "unlzma" | "unzstd");
    let changes = packer
        && !called(&["-c", "--stdout"])
        && called(&["-d", "-z", "--decompress", "--uncompress", "--compress", "-f", "--force", "-k", "--keep", "--rm"]);
    let mixed = packer && called(&["-c", "--stdout"]) && called(&["-t", "-l", "--test", "--list"]);
    // Without a file it is a filter, from its input to its output.
    // A word may be the value of an option to one of them and a file to another.
    let filter = packer && call.args.iter().all(|arg| arg.head().starts_with('-')) && !vetted.has("-r") && !vetted.has("--recursive");
    let asking = (called(asks) && !changes && !mixed) || filter;
    let searching = matches!(call.name, "pacman" | "yay" | "paru")
        && vetted.has("-S")
        && called(&["-s", "-i", "-l", "-g", "-p"])
        && !called(&["-y", "-u", "-w", "--refresh"]);
    let info = matches!(call.name, "rpm" | "nix-env") && asking;
    for finding in &vetted.findings {
        let mode_letter = finding.class == CommandClass::Install
            && finding.code == ReasonCode::RaisingOption
            && (info || searching)
            && finding.reason.len() == "option -x".len();
        if !mode_letter {
            out.raise_at(finding.clone(), call.entry.at);
        }
    }
    let _ = (judge, scope);
    for taken in vetted.taken.iter().filter(|taken| taken.role == crate::knowledge::Role::Sink) {
        if let Some(finding) = super::super::paths::write(&taken.value) {
            out.raise_at(finding, call.entry.at);
        }
    }
    if call.name == "ssh-keygen" && !asking {
        let file = vetted.value(&["-f"]).and_then(super::super::paths::changed);
        file.into_iter().for_each(|finding| out.raise_at(finding, call.entry.at));
    }
    if packer && !asking {
        for finding in vetted.operands.iter().filter_map(|&at| super::super::paths::changed(&call.args[at])) {
            out.raise_at(finding, call.entry.at);
        }
    }
    if matches!(call.name, "pacman" | "yay" | "paru" | "pamac") && vetted.has("-S") && called(&["-c", "--clean"]) {
        raise(out, call, CommandClass::Destructive, "drops packages that were kept");
    }
    if vetted.operands.iter().any(|&at| super::super::effect::is_address(&call.args[at])) {
        raise(out, call, CommandClass::Network, "reads from another host");
    }
    if !asking && !searching && !vetted.info {
        raise(out, call, call.entry.class.max(CommandClass::Write), "without an option that only asks");
    }
    if matches!(call.name, "yay" | "paru") && (searching || called(&["-u", "--upgrades"])) {
        raise(out, call, CommandClass::Network, "searches another host");
    }
    true
}
