//! The classifier: shell text, argument vectors and program starts to a class and the tree of parts it comes from.
//!
//! Invariants: the class is the maximum over everything that would run; what is not known or not understood is at least
//! Write; nothing recurses without a cap, and past a cap the answer is at least Write.

pub(crate) mod args;
mod collected;
mod counts;
mod effect;
mod evaluate;
mod exec;
mod finding;
mod gather;
mod hosts;
pub(crate) mod judge;
mod language;
mod lines;
mod numbers;
mod paths;
mod patterns;
mod payload;
mod pipeline;
mod program;
mod redirect;
mod said;
mod script;
mod simple;
mod special;
mod text;
mod vars;
mod vet;
mod walk;

use std::cell::RefCell;

use args::Arg;
use judge::{Feed, Judge, Raise, Scope, part};
use vars::Vars;
use vet::Finding;

use crate::{CommandClass, Part, ReasonCode, SecurityPolicy};

pub(crate) use collected::{Collected, Reach};
pub(crate) use exec::exec;
pub(crate) use paths::{is_sink, lexical};
pub(crate) use vet::vet;

/// A shell text.
pub(crate) fn command(policy: &SecurityPolicy, command: &str, explain: bool) -> Part {
    closed(policy, Judge::new(policy, explain).text_part(command, None, 0, &Feed::default()))
}

/// An argument vector, its first word taken for a name as in shell text.
pub(crate) fn words(policy: &SecurityPolicy, argv: &[String], explain: bool) -> Part {
    let judge = Judge::new(policy, explain);
    closed(policy, words_with(&judge, argv))
}

/// Nothing is Read by knowledge that is flawed.
fn closed(policy: &SecurityPolicy, mut out: Part) -> Part {
    if let Some(flaw) = policy.knowledge().flaw() {
        let reason = format!("the knowledge of this program is flawed: {flaw}");
        out.raise(Finding::new(CommandClass::Write, ReasonCode::UnknownProgram, reason));
    }
    out
}

fn words_with(judge: &Judge<'_>, argv: &[String]) -> Part {
    let args: Vec<Arg> = argv.iter().map(Arg::closed).collect();
    let (vars, functions) = (Vars::default(), RefCell::new(Vec::new()));
    let scope = Scope { vars: &vars, functions: &functions, level: 0, feed: Feed::default() };
    let mut out = part(judge.text(&args));
    let child = judge.command(&args, &scope);
    out.add(child, false);
    match out.parts.pop() {
        Some(child) => child,
        None => {
            if out.reason.is_empty() {
                out.reason = "only reads".into();
            }
            out
        }
    }
}

/// What a text would run and open.
pub(crate) fn collect_command(policy: &SecurityPolicy, command: &str) -> Collected {
    let judge = Judge { collected: Some(RefCell::default()), ..Judge::new(policy, false) };
    judge.text_part(command, None, 0, &Feed::default());
    judge.collected.map(RefCell::into_inner).unwrap_or_default().settled()
}

/// What a program start would run and open.
pub(crate) fn collect_exec(policy: &SecurityPolicy, start: &crate::Exec<'_>, places: &crate::Places<'_>) -> Collected {
    let judge = Judge { collected: Some(RefCell::default()), ..Judge::new(policy, false) };
    exec::judge(&judge, start, places);
    judge.collected.map(RefCell::into_inner).unwrap_or_default().settled()
}
