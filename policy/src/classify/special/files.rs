//! Programs that copy, pack and change files, whose operands say more than a table can.

use super::super::args::Arg;
use super::super::judge::{Judge, Raise, Scope};
use super::super::paths;
use super::super::vet::{Finding, vet};
use super::Call;
use crate::{CommandClass, Part, ReasonCode};

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
    // An archive that is made goes there as well, when that is its file. A snapshot is written beside, a list may name anything.
    let given = |options: &[&str]| vetted.value(options);
    let archives = given(&["-f", "--file"]).is_some_and(|file| file.full() == Some("-"))
        && vetted.taken.iter().filter(|taken| matches!(taken.option.as_str(), "-f" | "--file")).count() == 1
        && given(&["-g", "-T", "--files-from", "--listed-incremental"]).is_none();
    let made = archives && (vetted.has("-c") || vetted.has("--create"));
    if made {
        vetted.findings.retain(|finding| !matches!(&*finding.reason, "option -c" | "option --create"));
    }
    let remote = |file: &Arg| file.text.find(':').is_some_and(|colon| !file.text[..colon].contains('/'));
    if !vetted.has("--force-local")
        && vetted.taken.iter().any(|taken| matches!(taken.option.as_str(), "-f" | "--file") && remote(&taken.value))
    {
        out.raise_at(Finding::new(CommandClass::Network, ReasonCode::Operand, "an archive of another host"), call.entry.at);
    }
    judge.vetted(call.entry, call.name, &args, &vetted, scope, out);
    // What is taken out of an archive below a system directory stays there.
    let takes = ["-x", "--extract", "--get"].iter().any(|flag| vetted.has(flag));
    if takes && let Some(finding) = vetted.value(&["-C", "--directory"]).and_then(paths::changed) {
        out.raise_at(finding, call.entry.at);
    }
    let archive = vetted.value(&["-f", "--file"]);
    let remote = |arg: &Arg| arg.head().split('/').next().is_some_and(|first| first.contains(':'));
    if archive.is_some_and(remote) && !vetted.has("--force-local") {
        out.raise_at(Finding::new(CommandClass::Network, ReasonCode::Operand, "an archive of another host"), call.entry.at);
    }
    let lists = printed || made || vetted.has("-t") || vetted.has("--list") || vetted.info;
    if !lists && vetted.findings.iter().all(|finding| finding.class == CommandClass::Read) {
        out.raise_at(Finding::new(CommandClass::Write, ReasonCode::Known, "tar that does not list"), call.entry.at);
    }
    true
}

pub(super) fn dd(judge: &Judge<'_>, call: &Call<'_>, out: &mut Part) -> bool {
    for arg in call.args {
        let text = arg.head();
        judge.collect_words(call.name, std::slice::from_ref(arg));
        if text.starts_with("if=") {
            // It reads.
        } else if let Some(path) = text.strip_prefix("of=") {
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
