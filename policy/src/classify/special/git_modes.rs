//! Subcommands of Git that list or change, by their options: branches, files, patches, pushes.

use super::super::judge::{Judge, Raise, Scope};
use super::super::vet::{Finding, vet};
use super::{Call, raise};
use crate::{CommandClass, Part, ReasonCode};

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
    // `-d --force` is `-D`.
    if !tag && (vetted.has("-d") || vetted.has("--delete")) && (vetted.has("-f") || vetted.has("--force")) {
        raise(out, call, CommandClass::Destructive, "git branch that deletes what is not merged");
    }
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

/// Endings of files that no branch has.
const ENDINGS: &[&str] = &[
    "c", "cc", "cpp", "cs", "css", "go", "h", "hpp", "html", "java", "js", "json", "jsx", "kt", "lock", "md", "php", "pl", "proto", "py",
    "rb", "rs", "scss", "sh", "sql", "swift", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
];

/// `git checkout`: a branch is Write, files are overwritten without a way back.
pub(super) fn checkout(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    out.raise_at(Finding::new(CommandClass::Write, ReasonCode::Known, "git checkout"), call.entry.at);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    let creates = vetted.taken.iter().any(|taken| matches!(taken.option.as_str(), "-b" | "-B" | "--orphan"));
    // A path, by its look: of a name alone nobody can say whether it is a branch.
    let path = |text: &str| {
        let ending = text
            .rsplit_once('/')
            .map_or(text, |(_, last)| last)
            .rsplit_once('.')
            .map(|(stem, ending)| (!stem.is_empty()).then_some(ending));
        ["./", "../", ":"].iter().any(|begin| text.starts_with(begin)) || ending.flatten().is_some_and(|ending| ENDINGS.contains(&ending))
    };
    let files = vetted.dashes.is_some()
        || ["--ours", "--theirs"].iter().any(|flag| vetted.has(flag))
        || (!creates && vetted.operands.iter().any(|&at| path(&call.args[at].text) || call.args[at].text.contains('*')))
        || vetted.operands.iter().any(|&at| matches!(call.args[at].full(), Some("." | "./")))
        || (vetted.operands.len() > 1 && !creates);
    if files {
        out.raise_at(
            Finding::new(CommandClass::Destructive, ReasonCode::Operand, "git checkout of files drops their changes"),
            call.entry.at,
        );
    }
    true
}

/// `git push +ref` and `git push remote :ref` force and delete.
pub(super) fn push(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    for &at in vetted.operands.iter().skip(1) {
        if call.args[at].head().starts_with(['+', ':']) {
            out.raise_at(Finding::new(CommandClass::Destructive, ReasonCode::Operand, "git push that forces or deletes"), call.entry.at);
        }
    }
    false
}
