//! `env`: assignments, then a command; and the text of `-S`, which is split and stands in its place.

use super::super::args::Arg;
use super::super::judge::{Judge, Raise, Scope};
use super::super::payload::{deeper, split_assignment};
use super::super::vet::{Finding, vet};
use super::Call;
use super::wrappers::options;
use crate::knowledge::{Entry, Opt, Value};
use crate::{CommandClass, Part, ReasonCode};

/// `env [options] [NAME=value]… [command]`, with `-S TEXT` split and put in its place.
pub(super) fn env(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let args = split_text(call, out);
    let call = &Call { args: &args, ..*call };
    let words = command(judge, call, scope, out);
    if words.is_empty() {
        return true;
    }
    let mut child = judge.external(&words, &deeper(scope));
    for taken in vet(call.entry, call.args).taken.iter().filter(|taken| matches!(taken.option.as_str(), "-a" | "--argv0")) {
        judge.renamed(&words, &taken.value, &deeper(scope), &mut child);
    }
    out.add(child, judge.explain);
    true
}

/// The command that `env` starts; its options and assignments raise.
pub(in crate::classify) fn env_words(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> Vec<Arg> {
    let args = split_text(call, out);
    command(judge, &Call { args: &args, ..*call }, scope, out)
}

fn command(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> Vec<Arg> {
    let vetted = options(judge, call, out);
    let mut words: Vec<Arg> = vetted.operands.iter().map(|&at| call.args[at].clone()).collect();
    let mut skip = 0;
    for word in &words {
        if word.full() != Some("-") {
            let Some((name, value)) = split_assignment(word) else { break };
            if let Some(found) = judge.assignment(&name, &value, scope) {
                out.raise(found);
            }
        }
        skip += 1;
    }
    words.drain(..skip);
    words
}

/// The arguments of `env` with the text of `-S` split, in its place: options may stand in it, and nothing behind it is one.
fn split_text(call: &Call<'_>, out: &mut Part) -> Vec<Arg> {
    let mut args = call.args.to_vec();
    for _ in 0..4 {
        let Some((at, before, text, behind)) = split_option(call.entry, &args) else { return args };
        if text.is_open() || text.text.contains(['\'', '"', '\\', '$', '#']) {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::Opaque, "text that env splits by rules of its own"));
        }
        let words = text.text.split_whitespace().map(|word| Arg::closed(word.trim_matches(['\'', '"'])));
        args = args[..at].iter().cloned().chain(before).chain(words).chain(args[behind..].iter().cloned()).collect();
    }
    out.raise(Finding::new(CommandClass::Write, ReasonCode::Opaque, "text that env splits again and again"));
    args
}

/// The first `-S TEXT`: where it stands, the flags in front of it in the same word, the text, and where the rest begins.
fn split_option(entry: &Entry, args: &[Arg]) -> Option<(usize, Option<Arg>, Arg, usize)> {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-') && !matches!(arg.text.as_str(), "-" | "--")) {
        if arg.text.starts_with("--") {
            let (name, value) = arg.text.split_once('=').map_or((arg.text.as_str(), None), |(name, value)| (name, Some(value)));
            let (full, option) = entry.long(name).unwrap_or((name, Opt::FLAG));
            let attached = value.map(|value| arg.with(value.to_owned(), arg.known.saturating_sub(arg.text.len() - value.len())));
            let behind = at + 1 + usize::from(attached.is_none() && option.value == Value::Required);
            if full == "--split-string" {
                let text = attached.or_else(|| args.get(at + 1).cloned()).unwrap_or_default();
                return Some((at, None, text, behind.min(args.len())));
            }
            at = behind;
            continue;
        }
        let valued = |letter: char| entry.short(letter).is_some_and(|option| option.value == Value::Required);
        let end = arg.text.char_indices().skip(1).find(|(_, letter)| valued(*letter));
        let Some((offset, letter)) = end else {
            at += 1;
            continue;
        };
        let rest = &arg.text[offset + letter.len_utf8()..];
        let behind = (at + 1 + usize::from(rest.is_empty())).min(args.len());
        if letter == 'S' {
            let attached = (!rest.is_empty()).then(|| arg.with(rest.to_owned(), arg.known.saturating_sub(offset + 1)));
            let text = attached.or_else(|| args.get(at + 1).cloned()).unwrap_or_default();
            let flags = (offset > 1).then(|| Arg::closed(&arg.text[..offset]));
            return Some((at, flags, text, behind));
        }
        at = behind;
    }
    None
}
