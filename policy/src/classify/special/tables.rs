//! Programs that need one rule more than a table can say.

use super::super::args::Arg;
use super::super::judge::{Feed, Judge, Raise, Scope};
use super::super::paths;
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
                    !is_switch(value)
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
    if !reads || vetted.operands.iter().any(|&at| call.args[at].free) {
        out.raise_at(Finding::new(CommandClass::Write, ReasonCode::Operand, "git config that writes"), call.entry.at);
    }
    true
}

/// `git checkout`: a branch is Write, files are overwritten without a way back.
pub(super) fn checkout(call: &Call<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    out.raise_at(Finding::new(CommandClass::Write, ReasonCode::Known, "git checkout"), call.entry.at);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    let creates = vetted.taken.iter().any(|taken| matches!(taken.option.as_str(), "-b" | "-B" | "--orphan"));
    let files = vetted.dashes.is_some()
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

/// `tar xzf …`: the first word may be options without their dash.
pub(super) fn tar(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let mut args: Vec<Arg> = call.args.to_vec();
    if let Some(first) = args.first_mut()
        && first.known > 0
        && !first.text.starts_with('-')
        && first.head().bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        // In the old form the values of the letters follow in their order; only the last may have one when they are bundled.
        let letters = first.text.clone();
        let valued = |letter: char| call.entry.short(letter).is_some_and(|option| option.value == crate::knowledge::Value::Required);
        let mut rewritten: Vec<Arg> =
            letters.chars().filter(|letter| !valued(*letter)).map(|letter| Arg::closed(format!("-{letter}"))).collect();
        let mut rest = args[1..].iter().cloned();
        for letter in letters.chars().filter(|letter| valued(*letter)) {
            rewritten.push(Arg::closed(format!("-{letter}")));
            rewritten.extend(rest.next());
        }
        rewritten.extend(rest);
        args = rewritten;
    }
    let mut vetted = vet(call.entry, &args);
    // What is taken out goes to the standard output, and nowhere else.
    let printed = (vetted.has("-O") || vetted.has("--to-stdout")) && (vetted.has("-x") || vetted.has("--extract") || vetted.has("--get"));
    if printed {
        vetted.findings.retain(|finding| !matches!(&*finding.reason, "option -x" | "option --extract" | "option --get"));
    }
    judge.vetted(call.entry, call.name, &args, &vetted, scope, out);
    let lists = printed || vetted.has("-t") || vetted.has("--list") || vetted.info;
    if !lists && vetted.findings.iter().all(|finding| finding.class == CommandClass::Read) {
        out.raise_at(Finding::new(CommandClass::Write, ReasonCode::Known, "tar that does not list"), call.entry.at);
    }
    true
}

pub(super) fn dd(judge: &Judge<'_>, call: &Call<'_>, out: &mut Part) -> bool {
    for arg in call.args {
        let text = arg.head();
        if let Some(path) = text.strip_prefix("if=") {
            judge.collect_path(call.name, path);
        } else if let Some(path) = text.strip_prefix("of=") {
            judge.collect_path(call.name, path);
            if !(arg.full().is_some() && paths::is_sink(path)) {
                out.raise_at(Finding::new(CommandClass::Destructive, ReasonCode::Operand, "dd writes over its target"), call.entry.at);
            }
        } else if arg.is_open() && arg.known == 0 {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::UnknownOperand, "an operand that is only known when it runs"));
        } else if !["bs=", "ibs=", "obs=", "cbs=", "count=", "skip=", "seek=", "conv=", "iflag=", "oflag=", "status=", "iseek=", "oseek="]
            .iter()
            .any(|known| text.starts_with(known))
        {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::UnlistedOption, "an operand that is not known to be harmless"));
        }
    }
    true
}

/// rsync, scp: with a host they are Network.
pub(super) fn remote_copy(_judge: &Judge<'_>, call: &Call<'_>, _scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let remote = vetted.operands.iter().any(|&at| {
        let text = call.args[at].head();
        text.starts_with("rsync://") || text.find(':').is_some_and(|colon| !text[..colon].contains('/'))
    });
    if remote {
        out.raise_at(Finding::new(CommandClass::Network, ReasonCode::Operand, "copies from or to another host"), call.entry.at);
    }
    false
}

/// `chmod -R`, `chown -R` on the root or the home directory cannot be taken back.
pub(super) fn recursive(_judge: &Judge<'_>, call: &Call<'_>, _scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let recursive = vetted.has("-R") || vetted.has("--recursive");
    let broad = vetted.operands.iter().skip(1).any(|&at| matches!(call.args[at].text.trim_end_matches(['/', '*']), "" | "~" | "$HOME"));
    if recursive && broad {
        out.raise_at(Finding::new(CommandClass::Destructive, ReasonCode::Operand, "changes every file"), call.entry.at);
    }
    false
}
