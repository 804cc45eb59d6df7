//! Git's configuration: `git -c KEY=VALUE`, where some keys name programs, and `git config`.
//!
//! Invariant: a key that is not listed is Write, unless its value is a mere switch.

use super::super::judge::{Feed, Judge, Raise, Scope};
use super::super::vet::{Finding, vet};
use super::Call;
use crate::{CommandClass, Part, ReasonCode};

/// `git -c key=value`: some keys name programs.
pub(super) fn git(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    for taken in &vetted.taken {
        if !matches!(taken.option.as_str(), "-c" | "--config-env") {
            continue;
        }
        let raised = match taken.value.full() {
            None => {
                let key = taken.value.head().split('=').next().unwrap_or_default();
                !(taken.value.head().contains('=') && key_is_harmless(key))
            }
            Some(text) => {
                let (key, value) = text.split_once('=').unwrap_or((text, "true"));
                if key_is_harmless(key) || value.is_empty() {
                    false
                } else if key_is_command(key) {
                    let inner = judge.text_part(value.trim_start_matches('!'), Some(scope.vars), scope.level + 1, &Feed::default());
                    if inner.class > CommandClass::Read {
                        out.raise(Finding::new(inner.class, ReasonCode::RaisingOption, format!("git -c {key} names a command")));
                    }
                    false
                } else {
                    // Nothing, and the empty file, name no program.
                    let none = matches!(value, "" | "/dev/null") || (value == "false" && key.eq_ignore_ascii_case("core.fsmonitor"));
                    !none && (!is_switch(value) || names_a_file(key))
                }
            }
        };
        if raised || taken.option == "--config-env" {
            out.raise_at(
                Finding::new(CommandClass::Write, ReasonCode::RaisingOption, "git -c with a key that may run a program"),
                call.entry.at,
            );
        }
    }
    false
}

/// Keys whose value is a path or a program, so that `1` and `true` are names of files too.
fn names_a_file(key: &str) -> bool {
    const ENDS: &[&str] = &[
        "path",
        "program",
        "cmd",
        "command",
        "helper",
        "textconv",
        "process",
        "clean",
        "smudge",
        "driver",
        "file",
        "dir",
        "fsmonitor",
        "askpass",
        "proxy",
        "template",
        "tool",
    ];
    let key = key.to_ascii_lowercase();
    ENDS.iter().any(|end| key.ends_with(end))
}

/// Values that name no program.
fn is_switch(value: &str) -> bool {
    matches!(value, "true" | "false" | "0" | "1" | "yes" | "no" | "never" | "always" | "auto" | "on" | "off" | "/dev/null")
        || value.bytes().all(|byte| byte.is_ascii_digit())
}

fn key_is_command(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    matches!(
        key.as_str(),
        "core.pager"
            | "core.editor"
            | "core.askpass"
            | "core.alternaterefscommand"
            | "sequence.editor"
            | "core.sshcommand"
            | "diff.external"
    ) || key.starts_with("pager.")
}

fn key_is_harmless(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let prefixes = [
        "color.",
        "advice.",
        "user.",
        "column.",
        "log.",
        "format.",
        "grep.",
        "status.",
        "blame.",
        "i18n.",
        "safe.",
        "protocol.",
        "feature.",
        "index.",
        "pack.",
    ];
    prefixes.iter().any(|prefix| key.starts_with(prefix))
        || matches!(
            key.as_str(),
            "core.quotepath"
                | "core.autocrlf"
                | "core.abbrev"
                | "core.longpaths"
                | "core.symlinks"
                | "core.filemode"
                | "core.ignorecase"
                | "core.precomposeunicode"
                | "core.safecrlf"
                | "core.eol"
                | "core.preloadindex"
                | "diff.renames"
                | "diff.algorithm"
                | "diff.noprefix"
                | "diff.mnemonicprefix"
                | "diff.context"
                | "diff.colormoved"
                | "diff.submodule"
                | "diff.autorefreshindex"
                | "submodule.recurse"
                | "gc.auto"
                | "maintenance.auto"
                | "merge.conflictstyle"
                | "init.defaultbranch"
        )
}

/// `git config`: reading or writing by options and number of operands.
pub(super) fn git_config(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    let getter = vetted.flags.iter().any(|flag| flag.starts_with("--get") || matches!(flag.as_str(), "--list" | "-l"))
        || vetted.taken.iter().any(|taken| taken.option.starts_with("--get"));
    let first = vetted.operands.first().and_then(|&at| call.args[at].full());
    let reads = getter
        || matches!(first, Some("get" | "list"))
        || (vetted.operands.len() == 1 && !matches!(first, Some("set" | "unset" | "edit" | "rename-section" | "remove-section")));
    if !reads || vetted.operands.iter().any(|&at| call.args[at].free || call.args[at].shifts) {
        out.raise_at(Finding::new(CommandClass::Write, ReasonCode::Operand, "git config that writes"), call.entry.at);
    }
    true
}
