//! Programs whose class hangs on a mode: querying or changing, listing or creating.

use super::super::judge::{Judge, Raise, Scope};
use super::super::payload::deeper;
use super::super::vet::{Finding, vet};
use super::Call;
use crate::{CommandClass, Part, ReasonCode};

fn raise(out: &mut Part, call: &Call<'_>, class: CommandClass, reason: &'static str) {
    out.raise_at(Finding::new(class, ReasonCode::Operand, reason), call.entry.at);
}

/// `command -v NAME` only looks; otherwise, and where what follows has options of its own, the rest is run.
pub(super) fn command(call: &Call<'_>, _out: &mut Part) -> bool {
    let options = call.args.iter().map_while(|arg| arg.full().filter(|text| text.starts_with('-') && text.len() > 1 && *text != "--"));
    let looks = options.clone().any(|text| text[1..].chars().all(|c| matches!(c, 'v' | 'V' | 'p')) && text.contains(['v', 'V']));
    looks && !call.args[options.count()..].iter().any(|arg| arg.text.starts_with('-') && arg.text.len() > 2)
}

/// `git branch`, `git tag`: names are listed with an option that asks for it, created without.
pub(super) fn listing(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let lists = [
        "--list",
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "-n",
        "-l",
        "--verify",
        "-a",
        "-r",
        "--all",
        "--remotes",
    ];
    let tag = call.entry.short('s').is_some();
    let asked = vetted
        .flags
        .iter()
        .map(String::as_str)
        .chain(vetted.taken.iter().map(|taken| taken.option.as_str()))
        .any(|flag| lists.contains(&flag) || (flag == "-v" && tag));
    if !asked {
        return false;
    }
    for finding in vetted.findings {
        out.raise_at(finding, call.entry.at);
    }
    let _ = (judge, scope);
    true
}

/// `git restore --staged` only changes the index.
pub(super) fn restore(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let staged = vetted.flags.iter().any(|flag| flag == "-S" || (flag.len() > 4 && "--staged".starts_with(flag.as_str())));
    if !staged {
        return false;
    }
    raise(out, call, CommandClass::Write, "git restore --staged");
    for finding in vetted.findings {
        out.raise_at(finding, call.entry.at);
    }
    true
}

/// `git apply --check` and its kin only say what would be done.
pub(super) fn apply(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let looks = ["--check", "--stat", "--numstat", "--summary"].iter().any(|flag| vetted.has(flag));
    for finding in vetted.findings {
        out.raise_at(finding, call.entry.at);
    }
    if !looks {
        raise(out, call, CommandClass::Write, "git apply");
    }
    true
}

/// `git clean` without `-n` may delete where the configuration does not require force.
pub(super) fn clean(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    if !(vetted.has("-n") || vetted.flags.iter().any(|flag| flag.len() > 3 && "--dry-run".starts_with(flag.as_str()))) {
        raise(out, call, CommandClass::Write, "git clean without --dry-run");
    }
    false
}

pub(super) fn reflog(call: &Call<'_>, out: &mut Part) -> bool {
    match call.args.iter().find(|arg| !arg.text.starts_with('-')).and_then(|arg| arg.full()) {
        Some("expire" | "delete" | "drop" | "write") => raise(out, call, CommandClass::Destructive, "git reflog that deletes"),
        _ => {
            if call.args.first().is_some_and(|arg| arg.is_open() && arg.known == 0) {
                raise(out, call, CommandClass::Write, "git reflog with a word that is only known when it runs");
            }
        }
    }
    false
}

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
    let asking = called(asks) && !changes && !mixed;
    let searching = matches!(call.name, "pacman" | "yay" | "paru")
        && vetted.has("-S")
        && called(&["-s", "-i", "-l", "-g", "-p"])
        && !called(&["-y", "-u", "-w", "--refresh"]);
    let info = matches!(call.name, "rpm" | "nix-env") && asking;
    for finding in &vetted.findings {
        let mode_letter = finding.code == ReasonCode::RaisingOption && (info || searching) && finding.reason.len() == "option -x".len();
        if !mode_letter {
            out.raise_at(finding.clone(), call.entry.at);
        }
    }
    let _ = (judge, scope);
    if !asking && !searching && !vetted.info {
        raise(out, call, call.entry.class.max(CommandClass::Write), "without an option that only asks");
    }
    if searching && matches!(call.name, "yay" | "paru") {
        raise(out, call, CommandClass::Network, "searches another host");
    }
    true
}

/// `less +COMMAND`: a command of the pager, of which some run programs.
pub(super) fn less(call: &Call<'_>, out: &mut Part) -> bool {
    for arg in call.args.iter().filter(|arg| arg.text.starts_with('+')) {
        let rest = arg.text.trim_start_matches('+');
        let harmless = rest.bytes().all(|byte| byte.is_ascii_digit())
            || matches!(rest, "F" | "G" | "g")
            || (rest.starts_with('/') && !rest.contains(['\n', '!', '|']));
        if !harmless {
            raise(out, call, CommandClass::Write, "a command for the pager");
        }
    }
    false
}

/// `ip [options] OBJECT [show …]`, and `ip netns exec NAME COMMAND`.
pub(super) fn ip(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    let words: Vec<_> = vetted.operands.iter().map(|&at| &call.args[at]).collect();
    let object = words.first().and_then(|arg| arg.full()).unwrap_or_default();
    if object.starts_with('n')
        && let Some(at) = words.iter().position(|arg| arg.full() == Some("exec"))
    {
        let payload: Vec<_> = words.iter().skip(at + 2).map(|arg| (*arg).clone()).collect();
        let child = judge.external(&payload, &deeper(scope));
        out.add(child, judge.explain);
        raise(out, call, CommandClass::Write, "ip netns exec");
        return true;
    }
    let known = [
        "a",
        "addr",
        "address",
        "l",
        "link",
        "r",
        "route",
        "n",
        "neigh",
        "neighbour",
        "neighbor",
        "rule",
        "ru",
        "netns",
        "tunnel",
        "maddr",
        "mroute",
        "ntable",
        "vrf",
        "tcp_metrics",
        "monitor",
    ];
    let shows = matches!(
        words.get(1).map(|arg| arg.full().unwrap_or_default()),
        None | Some("show" | "list" | "ls" | "sh" | "get" | "lst" | "help")
    );
    if !(object.is_empty() || (known.contains(&object) && shows)) {
        raise(out, call, CommandClass::Write, "changes the network of this machine");
    }
    true
}

/// `sysctl name=value` writes.
pub(super) fn sysctl(call: &Call<'_>, out: &mut Part) -> bool {
    if call.args.iter().any(|arg| arg.text.contains('=') && !arg.text.starts_with("--pattern")) {
        raise(out, call, CommandClass::Write, "sets a kernel parameter");
    }
    false
}

/// Verbs that destroy, in a command line of a cloud service.
pub(super) fn cloud(call: &Call<'_>, out: &mut Part) -> bool {
    let verb = |word: &str| {
        ["delete", "terminate", "destroy", "purge", "remove", "deregister", "wipe", "drop"]
            .iter()
            .any(|bad| word == *bad || (word.starts_with(bad) && word[bad.len()..].starts_with('-')))
            || matches!(word, "rm" | "rb" | "del")
    };
    if call.args.iter().filter(|arg| !arg.text.starts_with('-')).any(|arg| verb(arg.head())) {
        raise(out, call, CommandClass::Destructive, "deletes something in the cloud");
    } else if !matches!(call.args, [only] if matches!(only.full(), Some("--version" | "version" | "help"))) && !call.args.is_empty() {
        raise(out, call, CommandClass::Network, "talks to a cloud service");
    }
    true
}
