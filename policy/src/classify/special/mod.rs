//! Programs whose arguments need more than a table: handlers named by `special` in their entries.
//!
//! A handler returns true when it has judged everything; false lets the table go on after it.

mod asked;
mod builtins;
mod interpreter;
mod more;
mod shells;
mod tables;
mod texts;
mod wrappers;

pub(super) use wrappers::env_words;

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
        "unset" => builtins::unset(judge, &call, scope, out),
        "setter" => builtins::setter(judge, &call, scope, out),
        "less" => more::less(&call, out),
        "env" => wrappers::env(judge, &call, scope, out),
        "xargs" => wrappers::xargs(judge, &call, scope, out),
        "parallel" => wrappers::parallel(judge, &call, scope, out),
        "ldso" => wrappers::linker(judge, &call, scope, out),
        "busybox" => wrappers::applet(judge, &call, scope, out),
        "interpreter" => interpreter::judge(judge, &call, scope, out),
        "awk" => texts::awk(judge, &call, scope, out),
        "sed" => texts::sed(judge, &call, scope, out),
        "sql" => texts::sql(judge, &call, scope, out),
        "git" => tables::git(judge, &call, scope, out),
        "git-config" => tables::git_config(&call, out),
        "checkout" => tables::checkout(&call, out),
        "push" => tables::push(&call, out),
        "command" => more::command(&call, out),
        "git-list" => more::listing(judge, &call, scope, out),
        "apply" => more::apply(&call, out),
        "restore" => more::restore(&call, out),
        "clean" => more::clean(&call, out),
        "reflog" => more::reflog(&call, out),
        "lookup" => asked::lookup(&call, out),
        "local" => asked::local(&call, out),
        "sinks" => asked::sinks(&call),
        "printed" => asked::printed(&call, out),
        "pictures" => asked::pictures(&call, out),
        "rustc" => asked::rustc(&call, out),
        "query" => more::query(judge, &call, scope, out),
        "ip" => more::ip(judge, &call, scope, out),
        "sysctl" => more::sysctl(&call, out),
        "cloud" => more::cloud(&call, out),
        "tar" => tables::tar(judge, &call, scope, out),
        "dd" => tables::dd(judge, &call, out),
        "rsync" => tables::remote_copy(judge, &call, scope, out),
        "chmod" => tables::recursive(judge, &call, scope, out),
        _ => {
            out.raise_unknown(handler);
            false
        }
    }
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
