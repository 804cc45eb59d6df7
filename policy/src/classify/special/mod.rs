//! Programs whose arguments need more than a table: handlers named by `special` in their entries.
//!
//! A handler returns true when it has judged everything; false lets the table go on after it.

mod asked;
mod assignment;
mod builtins;
mod compiler;
mod env;
mod files;
mod git;
mod git_modes;
mod interpreter;
mod modes;
mod options;
mod query;
mod shells;
mod texts;
mod words;
mod wrappers;

pub(super) use assignment::obeyed_by_zsh;
pub(super) use env::env_words;
pub(super) use shells::STANDARD_INPUT;

use super::args::Arg;
use super::judge::{Judge, Scope};
use crate::Part;
use crate::knowledge::Entry;

/// One call of a program that has a handler.
pub(super) struct Call<'c> {
    pub entry: &'c Entry,
    pub name: &'c str,
    pub args: &'c [Arg],
}

pub(super) fn judge(judge: &Judge<'_>, handler: &str, entry: &Entry, name: &str, args: &[Arg], scope: &Scope<'_>, out: &mut Part) -> bool {
    let call = Call { entry, name, args };
    match handler {
        "shell" => shells::shell(judge, &call, scope, out),
        "eval" => shells::eval(judge, &call, scope, out),
        "source" => shells::source(judge, &call, scope, out),
        "trap" => shells::trap(judge, &call, scope, out),
        "alias" => shells::alias(&call, out),
        "declare" => builtins::declare(judge, &call, scope, out),
        "subscript" => builtins::subscripts(judge, &call, scope, out),
        "options" => options::set(judge, &call, scope, out),
        "unset" => builtins::unset(judge, &call, scope, out),
        "setter" => builtins::setter(judge, &call, scope, out),
        "less" => words::less(&call, out),
        "env" => env::env(judge, &call, scope, out),
        "xargs" => wrappers::xargs(judge, &call, scope, out),
        "parallel" => wrappers::parallel(judge, &call, scope, out),
        "ldso" => wrappers::linker(judge, &call, scope, out),
        "busybox" => wrappers::applet(judge, &call, scope, out),
        "interpreter" => interpreter::judge(judge, &call, scope, out),
        "awk" => texts::awk(judge, &call, scope, out),
        "dc" => texts::dc(&call, scope, out),
        "sed" => texts::sed(judge, &call, scope, out),
        "sql" => texts::sql(judge, &call, scope, out),
        "git" => git::git(judge, &call, scope, out),
        "git-config" => git::git_config(&call, out),
        "checkout" => git_modes::checkout(&call, out),
        "push" => git_modes::push(&call, out),
        "command" => words::command(&call, out),
        "git-list" => git_modes::listing(judge, &call, scope, out),
        "apply" => git_modes::apply(&call, out),
        "restore" => git_modes::restore(&call, out),
        "clean" => git_modes::clean(&call, out),
        "reflog" => git_modes::reflog(&call, out),
        "lookup" => asked::lookup(&call, out),
        "ffmpeg" => asked::ffmpeg(judge, &call, out),
        "local" => asked::local(&call, out),
        "sinks" => asked::sinks(&call),
        "printed" => asked::printed(&call, out),
        "pictures" => asked::pictures(&call, out),
        "rustc" => modes::cargo(judge, &call, scope, out) || asked::rustc(&call, out),
        "parted" => modes::parted(&call, out),
        "nft" => modes::nft(&call, out),
        "chart" => modes::chart(&call, out),
        "at-host" => modes::at_host(&call, out),
        "formats" => modes::formats(&call, out),
        "simulated" => modes::simulated(&call, out),
        "cargo" => modes::cargo(judge, &call, scope, out),
        "cargo-fmt" => modes::cargo_fmt(judge, &call, scope, out),
        "compiler" => compiler::judge(judge, &call, out),
        "iw" => words::iw(&call, out),
        "forge" => words::forge(&call, out),
        "named" => asked::named(&call, out),
        "history" => asked::history(&call, out),
        "beside" => asked::beside(&call, out),
        "response" => asked::response(&call, out),
        "callout" => asked::callout(&call, out),
        "query" => query::query(judge, &call, scope, out),
        "ip" => words::ip(judge, &call, scope, out),
        "sysctl" => words::sysctl(&call, out),
        "cloud" => words::cloud(&call, out),
        "fed" => texts::fed(judge, scope, out),
        "lines" => texts::lines(judge, &call, scope, out),
        "tar" => files::tar(judge, &call, scope, out),
        "dd" => files::dd(judge, &call, out),
        "rsync" => files::remote_copy(judge, &call, scope, out),
        "chmod" => files::recursive(judge, &call, scope, out),
        _ => {
            out.raise_unknown(handler);
            false
        }
    }
}

/// Handlers that gather themselves what their programs would open. Of all others every word that may be a path counts.
pub(super) fn gathers(handler: &str) -> bool {
    const GATHER: &[&str] = &[
        "shell",
        "eval",
        "source",
        "trap",
        "alias",
        "declare",
        "subscript",
        "unset",
        "setter",
        "env",
        "xargs",
        "parallel",
        "ldso",
        "busybox",
        "interpreter",
        "awk",
        "sed",
        "git",
        "tar",
        "dd",
    ];
    GATHER.contains(&handler)
}

/// What the operands of a program make of it.
fn raise(out: &mut Part, call: &Call<'_>, class: crate::CommandClass, reason: &'static str) {
    use super::judge::Raise;
    out.raise_at(super::vet::Finding::new(class, crate::ReasonCode::Operand, reason), call.entry.at);
}

trait UnknownHandler {
    fn raise_unknown(&mut self, handler: &str);
}

impl UnknownHandler for Part {
    fn raise_unknown(&mut self, handler: &str) {
        use super::judge::Raise;
        let reason = format!("no handler is called {handler}");
        self.raise(super::vet::Finding::new(crate::CommandClass::Write, crate::ReasonCode::Opaque, reason));
    }
}
