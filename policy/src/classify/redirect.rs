//! Redirections: where a command reads from and writes to, and what it finds on its input.

use std::rc::Rc;

use super::args::{self, Arg};
use super::collected::Reach;
use super::judge::{Feed, Raise, Scope, part};
use super::paths;
use super::vet::Finding;
use super::walk::{Walk, opaque};
use crate::shell::{Piece, Redir, RedirKind, Word};
use crate::{CommandClass, Part};

impl Walk<'_, '_> {
    /// A finding about a redirection, shown as a part of its own.
    fn note(&self, finding: Option<Finding>, target: &Arg, into: &mut Part) {
        let Some(finding) = finding else { return };
        if target.full().is_some_and(|path| self.judge.own_files.is_sink(path, self.judge.home)) {
            return;
        }
        if self.judge.explain {
            let mut child = part(self.judge.text(std::slice::from_ref(target)));
            child.raise(finding.clone());
            into.parts.push(child);
        }
        into.raise(finding);
    }

    pub fn redirections(&self, redirs: &[Redir], scope: &mut Scope<'_>, into: &mut Part) {
        for redir in redirs {
            let outer = scope.clone();
            self.substitutions(&redir.target, &outer, into);
            let target = args::single(&redir.target, scope.vars);
            if !matches!(redir.kind, RedirKind::Input | RedirKind::HereString) {
                self.judge.descriptor(&Arg { text: super::lexical(&target.text), ..target.clone() });
                self.judge.descriptor(&target);
            }
            match redir.kind {
                RedirKind::Output => {
                    self.judge.collect_arg(">", &target, Reach::File);
                    self.note(paths::write(&target), &target, into);
                }
                RedirKind::Duplicate if is_descriptor(&target) => {
                    if target.text.starts_with('0') || scope.feed.fed {
                        continue;
                    }
                }
                RedirKind::Duplicate => {
                    self.judge.collect_arg(">", &target, Reach::File);
                    self.note(paths::write(&target), &target, into);
                    scope.feed = Feed { fed: true, ..Feed::default() };
                }
                RedirKind::Input => {
                    self.judge.collect_arg("<", &target, Reach::File);
                    self.note(paths::read(&target), &target, into);
                    self.note(self.printed_path(&redir.target, &target), &target, into);
                    let download = redir.target.pieces.iter().any(|piece| matches!(piece, Piece::Process { .. }))
                        && into.class >= CommandClass::Network;
                    scope.feed = Feed { fed: true, download, said: self.said_in(redir, &outer), ..Feed::default() };
                }
                RedirKind::HereString => {
                    let (text, said) = (target.full().map(Rc::from), self.said_in(redir, &outer));
                    scope.feed = Feed { text, fed: true, download: into.class >= CommandClass::Network, said, ..Feed::default() };
                }
                RedirKind::Heredoc(slot) => {
                    let Some(body) = self.script.heredocs.get(slot) else {
                        into.raise(opaque("a here-document without its body", false));
                        continue;
                    };
                    self.substitutions(body, &outer, into);
                    let body = args::single(body, scope.vars);
                    let (text, said) = (body.full().map(Rc::from), self.said_in(redir, &outer));
                    scope.feed = Feed { text, fed: true, download: into.class >= CommandClass::Network, said, ..Feed::default() };
                }
            }
        }
    }
}

impl Walk<'_, '_> {
    /// A path that a command prints, or made of several unknown parts, may be one of /dev/tcp.
    fn printed_path(&self, word: &Word, target: &Arg) -> Option<Finding> {
        let first = word.pieces.iter().find(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty()));
        let printed = matches!(first, Some(Piece::Command { .. }));
        let parts = target.text.matches(args::UNKNOWN).count();
        (printed || target.known == 0 && parts > 1 && !target.home).then(|| opaque("reads a file that is only known when it runs", false))
    }
}

fn is_descriptor(target: &Arg) -> bool {
    target.full().is_some_and(|text| {
        let digits = text.strip_suffix('-').unwrap_or(text);
        digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
